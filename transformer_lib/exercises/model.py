"""How a Transformer is put together: tied weights, and the wires of a decoder layer.  Lesson 13."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.exercises.checking.machinery import Exercise


class _WordsInWordsOut(nn.Module):
    """An embedding and an output projection, with nothing between them."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.generator = nn.Linear(d_model, vocab_size, bias=False)


def _models():
    torch.manual_seed(13)
    return [
        (_WordsInWordsOut(7, 5), torch.tensor([[2, 6, 1], [4, 4, 0]])),
        (_WordsInWordsOut(4, 9), torch.tensor([[3, 0]])),
    ]


tie = Exercise(
    task="`model.embedding` is an `nn.Embedding`, `model.generator` an `nn.Linear` without bias. Let "
    "the embedding's matrix serve both. Return the logits for the embeddings of `ids`, scaled by "
    "√d_model on the way in alone, and the number of parameters that the model has now.",
    cases=_models,
    hints=(
        "`nn.Linear(d, V)` keeps its matrix as (V, d), the shape of the embedding's: nothing has to "
        "be turned.",
        "One parameter with two names: assign `model.embedding.weight` itself, not a copy of its "
        "numbers. d_model is `model.embedding.embedding_dim`.",
        "`model.generator.weight = model.embedding.weight`, then `model.generator(math.sqrt(d) * "
        "model.embedding(ids))`, and `numel()` of each of `model.parameters()`, added up.",
    ),
    passed="`parameters()` names a shared parameter once, and so an optimizer moves it once, by the "
    "sum of both gradients.",
)


def _run(model, ids, factor=math.sqrt):
    return model.generator(factor(model.embedding.embedding_dim) * model.embedding(ids))


def _size(model):
    return sum(p.numel() for p in model.parameters())


@tie.solution
def my_tie(model, ids):
    model.generator.weight = model.embedding.weight
    x = model.embedding(ids) * model.embedding.embedding_dim**0.5
    return model.generator(x), sum(p.numel() for p in model.parameters())


@tie.solution
def _(model, ids):
    table = model.embedding.weight
    model.generator = None
    x = math.sqrt(table.size(1)) * F.one_hot(ids, len(table)).float() @ table
    return x @ table.T, _size(model)


@tie.mistake(
    "The logits are right, but you have counted two matrices. Were the numbers copied? Then the first "
    "update parts them: assign the parameter itself. Or is one parameter counted under two names? "
    "`state_dict()` lists names, `parameters()` does not. Or did you count before you tied, or share "
    "only `.data`?"
)
def _(model, ids):
    model.generator.weight.data.copy_(model.embedding.weight.data)
    return _run(model, ids), _size(model)


@tie.mistake(
    "It is tied, but to the generator's matrix. The task asks for the embedding's to serve both: its "
    "numbers are the ones to keep."
)
def _(model, ids):
    model.embedding.weight = model.generator.weight
    return _run(model, ids), _size(model)


@tie.mistake("These are two matrices as before: nothing is tied yet.")
def _(model, ids):
    return _run(model, ids), _size(model)


@tie.mistake("The factor √d_model is missing: the embeddings go in as they stand in the table.")
def _(model, ids):
    model.generator.weight = model.embedding.weight
    return _run(model, ids, lambda d: 1.0), _size(model)


@tie.mistake(
    "Your logits are too large by √d_model: either you forgot the root, or the factor comes in twice, "
    "on the way in and on the way out. Scale what the embedding returns, and nothing else."
)
def _(model, ids):
    model.generator.weight = model.embedding.weight
    return _run(model, ids, float), _size(model)


@tie.mistake("You divide by √d_model. The embeddings are multiplied by it.")
def _(model, ids):
    model.generator.weight = model.embedding.weight
    return _run(model, ids, lambda d: d**-0.5), _size(model)


@tie.mistake(
    "The logits are right, but you have counted two matrices. Were the numbers copied? Then the first "
    "update parts them: assign the parameter itself. Or is one parameter counted under two names? "
    "`state_dict()` lists names, `parameters()` does not. Or did you count before you tied, or share "
    "only `.data`?"
)
def _(model, ids):
    model.generator.weight = model.embedding.weight
    return _run(model, ids), sum(p.numel() for p in model.state_dict().values())


@tie.mistake("Return two things: the logits, and the number of parameters.")
def _(model, ids):
    model.generator.weight = model.embedding.weight
    return _run(model, ids)


@tie.mistake("The second result is how many tensors there are. Ask each for its `numel()`.")
def _(model, ids):
    model.generator.weight = model.embedding.weight
    return _run(model, ids), len(list(model.parameters()))


def _wires():
    torch.manual_seed(31)
    cases = []
    for batch, source, target, width in ((2, 3, 4, 6), (1, 5, 2, 4)):
        mixes = torch.randn(7, width, width) / 2
        gains = torch.rand(3, width) + 0.5

        def attention(query, key, value, mixes, causal):
            q, k, v = query @ mixes[0], key @ mixes[1], value @ mixes[2]
            scores = q @ k.mT
            if causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
            return scores.softmax(dim=-1) @ v

        def self_attention(query, key, value, mixes=mixes[:3], attention=attention):
            return attention(query, key, value, mixes, causal=True)

        def cross_attention(query, key, value, mixes=mixes[3:6], attention=attention):
            return attention(query, key, value, mixes, causal=False)

        def feed_forward(x, mix=mixes[6]):
            return torch.tanh(x @ mix) + 0.5

        norms = [lambda x, gain=gain: F.layer_norm(x, gain.shape, gain) for gain in gains]
        x, memory = torch.randn(batch, target, width), torch.randn(batch, source, width)
        cases.append((x, memory, self_attention, cross_attention, feed_forward, norms))
    return cases


wire_decoder = Exercise(
    task="The three sublayers of a decoder layer and their wires, post-norm. `self_attention` (causal "
    "already) and `cross_attention` are functions of query, key, value; `feed_forward` of one "
    "tensor; `norms` holds three functions, one for each sublayer. x (batch, target, width), memory "
    "(batch, source, width).",
    cases=_wires,
    hints=(
        "Each sublayer: x becomes norm(x + sublayer(…)), with the x of that moment.",
        "Self-attention reads x in all three places. Who asks in cross-attention, and who answers?",
        "`x = norms[0](x + self_attention(x, x, x))`; cross-attention takes the new x as query and "
        "the memory as key and value; the feed-forward network comes last.",
    ),
    passed="Of the seven arguments that the sublayers take, two are the memory, and in every layer it "
    "is the same one.",
)


@wire_decoder.solution
def my_decoder_layer(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[1](x + cross_attention(x, memory, memory))
    return norms[2](x + feed_forward(x))


@wire_decoder.solution
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    sublayers = (
        lambda y: self_attention(y, y, y),
        lambda y: cross_attention(y, memory, memory),
        feed_forward,
    )
    for norm, sublayer in zip(norms, sublayers, strict=True):
        x = norm(sublayer(x) + x)
    return x


@wire_decoder.mistake(
    "The query of your cross-attention is what came into the layer. It is the output of this layer's "
    "own self-attention, after Add & Norm."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    y = norms[0](x + self_attention(x, x, x))
    y = norms[1](y + cross_attention(x, memory, memory))
    return norms[2](y + feed_forward(y))


@wire_decoder.mistake(
    "The memory asks and the target answers: turned round. The query comes from the decoder."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[1](x + cross_attention(memory, x, x))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake(
    "The values of your cross-attention are the target's, and do not fit keys from the memory. Keys "
    "and values come in pairs: both are the memory, and the query is x."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[1](x + cross_attention(x, memory, x))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake("The memory is never read: your cross-attention looks at the target itself.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[1](x + cross_attention(x, x, x))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake(
    "Cross-attention comes first in yours. A decoder layer first looks at what it has written, then "
    "at the source."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + cross_attention(x, memory, memory))
    x = norms[1](x + self_attention(x, x, x))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake("Self-attention reads the memory in yours. It reads the target, three times.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, memory, memory))
    x = norms[1](x + cross_attention(x, memory, memory))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake(
    "You add the x that came into the layer three times. Each residual adds what came into its own "
    "sublayer."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    y = norms[0](x + self_attention(x, x, x))
    y = norms[1](x + cross_attention(y, memory, memory))
    return norms[2](x + feed_forward(y))


@wire_decoder.mistake("The residuals are missing: x has to be added to each sublayer's answer.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](self_attention(x, x, x))
    x = norms[1](cross_attention(x, memory, memory))
    return norms[2](feed_forward(x))


@wire_decoder.mistake("The residual around cross-attention is missing.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[1](cross_attention(x, memory, memory))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake("The residual around the feed-forward network is missing.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[1](x + cross_attention(x, memory, memory))
    return norms[2](feed_forward(x))


@wire_decoder.mistake(
    "The two attentions are exchanged: yours looks back with `cross_attention`, which is not causal, and "
    "at the memory with `self_attention`, which is."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + cross_attention(x, x, x))
    x = norms[1](x + self_attention(x, memory, memory))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake("The norms are missing.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = x + self_attention(x, x, x)
    x = x + cross_attention(x, memory, memory)
    return x + feed_forward(x)


@wire_decoder.mistake("One norm serves all three sublayers in yours. Each has its own.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    x = norms[0](x + cross_attention(x, memory, memory))
    return norms[0](x + feed_forward(x))


@wire_decoder.mistake("This is pre-norm. Post-norm adds first and norms the sum.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    y = norms[0](x)
    x = x + self_attention(y, y, y)
    x = x + cross_attention(norms[1](x), memory, memory)
    return x + feed_forward(norms[2](x))


@wire_decoder.mistake("This is an encoder layer: cross-attention, the middle sublayer, is missing.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake("The feed-forward network, the last sublayer, is missing.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[0](x + self_attention(x, x, x))
    return norms[1](x + cross_attention(x, memory, memory))
