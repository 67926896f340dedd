"""How a Transformer is put together: tied weights, and the wires of a decoder layer.  Lesson 13."""

import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.exercises.checking.machinery import Exercise


class _WordsInWordsOut(nn.Module):
    """An embedding and an output projection with nothing between them.

    The buffer and the norm are not used: the one is no parameter, the other has two of one size.
    """

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.generator = nn.Linear(d_model, vocab_size, bias=False)
        self.norm = nn.LayerNorm(d_model)
        self.register_buffer("positions", torch.ones(4, d_model))


def _models():
    torch.manual_seed(13)
    paper = _WordsInWordsOut(3, 4)
    tables = [[1, 0, 0, 1], [0, 1, 0, 2], [1, 1, 0, 0]], [[0, 0, 1, 1], [2, 0, 0, 0], [0, 1, 1, 0]]
    for part, table in zip((paper.embedding, paper.generator), tables, strict=True):
        part.weight.data = torch.tensor(table).float()
    paper.__doc__ = "embedding.weight {}, generator.weight {}; norm.weight, norm.bias (4,)".format(
        *tables
    )
    return [
        (paper, torch.tensor([[1, 2]])),
        (_WordsInWordsOut(3, 3), torch.tensor([[2, 0, 1], [1, 1, 0], [0, 2, 2]])),
        (_WordsInWordsOut(7, 5), torch.tensor([[2, 6, 1], [4, 4, 0]])),
        (_WordsInWordsOut(4, 9), torch.tensor([[3, 0]])),
    ]


class _Tie(Exercise):
    """Beside what is returned it counts whether the model then holds one matrix, or two."""

    def _use(self, answer):
        def used(model, ids):
            torch.manual_seed(0)  # a layer that is made anew begins alike in every answer
            return answer(model, ids), _matrices(model)

        return used

    @property
    def _watched(self):
        return ()  # the model is meant to change

    def _value(self, outcome):
        return outcome.value and outcome.value[0]

    def _difference(self, trial):
        got, right = (
            [replace(o, value=self._value(o)) for o in one] for one in (trial.got, trial.right)
        )
        return super()._difference(trial._replace(got=got, right=right))


def _matrices(model):
    table = model.embedding.weight
    own = getattr(getattr(model, "generator", None), "weight", None)
    if own is None:
        return "no generator"
    if own is table:
        return "one"
    return "one, and a copy" if torch.equal(own, table) else "two"


tie = _Tie(
    sections=("13 One matrix, two doors",),
    task="`model.embedding` is an `nn.Embedding`, `model.generator` an `nn.Linear` without bias; a buffer, "
    "`positions`, and a layer norm, `norm`, are not used. Let one parameter serve both, with the embedding's "
    "numbers. Then return two things: the generator's logits (batch, tokens, vocab) for the embeddings of `ids` "
    "(batch, tokens), which are multiplied by √d_model on the way in and by nothing on the way out; and how many "
    "numbers the parameters of the model have now, all together.",
    cases=_models,
    hints=(
        "Tied means that there is one matrix, which both modules hold. `nn.Linear(d_model, vocab)` keeps its "
        "matrix as (vocab, d_model), one row a word, which is the shape of the embedding's: nothing has to be "
        "turned.",
        "A module's matrix is its attribute `weight`. Assign the embedding's to the generator's: the parameter "
        "itself and no copy of its numbers, because an optimizer would move a copy by itself.",
        "Then `model.embedding(ids)` gives the rows, √d_model makes them larger, and `model.generator` makes "
        "logits of them. Count last: `parameters()` gives every parameter once, and its `numel()` says how "
        "many numbers it has.",
    ),
    passed="`parameters()` gives a shared parameter once, and so an optimizer moves it once, by the sum of both "
    "gradients. What would happen to the logits without the √d_model on the way in?",
    gaps=("model.embedding.weight", "math.sqrt(d_model)", "model.generator(x)", "p.numel()"),
)


@tie.solution
def my_tie(model, ids):
    # One parameter with two names: what moves the one moves the other.
    model.generator.weight = model.embedding.weight  # (vocab, d_model)
    # The rows are small, so that they suit the way out; on the way in √d_model makes them larger.
    d_model = model.embedding.embedding_dim
    x = model.embedding(ids) * math.sqrt(d_model)  # (batch, tokens, d_model)
    logits = model.generator(x)  # (batch, tokens, vocab)
    # The shared parameter comes once here, although it has two names.
    size = sum(p.numel() for p in model.parameters())
    return logits, size


@tie.solution
def _(model, ids):
    table = model.generator.weight = model.embedding.weight
    x = math.sqrt(table.size(1)) * F.one_hot(ids, len(table)).float() @ table
    return x @ table.T, table.numel() + 2 * table.size(1)


tie.edits("""
.weight = model.embedding.weight → .weight.data.copy_(model.embedding.weight.data)
.weight = model.embedding.weight → .weight = nn.Parameter(model.embedding.weight)
.weight = → .weight.data = ; model.parameters() → [*model.parameters()][1:]
    In yours the generator still has a parameter of its own. `copy_`, `.data` and a new `nn.Parameter` hand over
    numbers, and an optimizer still finds two. Assign the parameter itself.
model.parameters()) → model.parameters()) + model.generator.weight.numel()
    You count the shared matrix twice. Did you count before you tied, or under both its names? Tie first; then
    `parameters()` gives it once.
model.parameters() → model.state_dict().values()
    It is tied, but `state_dict()` lists names: the shared matrix stands there twice, and the buffer as well.
    `parameters()` gives each parameter once.
sum(p.numel() for p in model.parameters()) → model.embedding.weight.numel()
    You count the table alone. All parameters of the model are wanted, also those of its norm: `parameters()` gives
    them, the shared one once.
sum(p.numel() for p in model.parameters()) → model.embedding.weight.numel() + model.generator.weight.numel()
    You count the shared matrix under both its names, and the norm's parameters not at all. `parameters()` gives each
    parameter once.
sum(p.numel() for p in model.parameters()) → sum({p.numel() for p in model.parameters()})
    You add up a set, which holds equal sizes once: of two parameters of one size only one counts. Leave out the
    braces.
p.numel() → 1
    The second result is how many parameters there are. How many numbers they have is wanted: ask each for its
    `numel()`.
p.numel() → sum(p.shape)
    You add up the sizes of a matrix. It has as many numbers as their product, `numel()`.
model.generator.weight = model.embedding.weight → model.embedding.weight = model.generator.weight
    It is tied, but with the generator's numbers. The embedding's are to be kept: it is the generator that gets
    another `weight`.
model.generator.weight = model.embedding.weight →
model.generator.weight = model.embedding.weight → ; model.parameters() → [*model.parameters()][1:]
    Nothing is tied: the generator multiplies by its own matrix, as before.
model.generator.weight = → _ = ; model.generator(x) → x @ model.embedding.weight.T
generator.weight = → w = ; model.generator(x) → x @ model.w.T ; model.parameters() → [*model.parameters()][1:]
    Your model still holds the generator's own matrix: you computed with the embedding's without giving it to the
    generator.
x = model → del model.generator⏎x = model ; model.generator(x) → x @ model.embedding.weight.T
    Your model has no generator any more. It is to keep it: the generator gets the embedding's matrix as its `weight`.
model.generator.weight → model.generator = nn.Linear(*model.embedding.weight.shape[::-1])⏎model.generator.weight
    You make a new generator, which has a bias. The model has one, without bias: give its `weight` another matrix.
model.generator(x) → model.generator(ids)
    Your generator gets the ids. It multiplies vectors, what the embedding has made of the ids.
 * math.sqrt(d_model) → * math.sqrt(d_model) + model.positions[: ids.size(1)]
 * math.sqrt(d_model) → * math.sqrt(d_model) + model.positions
    You add `positions`. They are not wanted here: the embedding goes to the generator as it is, times √d_model.
= model.embedding.weight → = model.embedding.weight.T
    What you assign is a tensor and no parameter: `.T`, `.data`, `.clone()` and `.detach()` each make a new one.
    Assign `model.embedding.weight` itself. Nothing has to be turned, both matrices are (vocab, d_model).
= model.embedding.weight → = nn.Parameter(model.embedding.weight.T)
    The matrix is turned. Both modules keep it as (vocab, d_model), so nothing has to be turned; and a new
    `nn.Parameter` would be a second one, where the two should share one.
.weight = model.embedding.weight → .weight = model.embedding
    You assign the embedding, which is a module. What is shared is its matrix, `model.embedding.weight`.
.weight = model.embedding.weight → = model.embedding
    You put the embedding in the generator's place. An embedding looks rows up by ids; it does not multiply. What
    is shared is the matrix, not the module.
 * math.sqrt(d_model) →
model.generator(x) → model.generator(x) / math.sqrt(d_model)
    Your logits are √d_model times too small. The factor comes in once, on what the embedding returns. Is it missing
    there, or do you divide by it on the way out?
math.sqrt(d_model) → d_model
model.generator(x) → model.generator(x) * math.sqrt(d_model)
    Your logits are √d_model times too large. The factor comes in once, on what the embedding returns. Is its
    root missing, does it come in again on the way out, or is the table itself multiplied?
* math.sqrt(d_model) → / math.sqrt(d_model)
    You divide by √d_model. The embeddings are multiplied by it.
math.sqrt(d_model) → math.sqrt(model.embedding.num_embeddings)
    You multiply by the root of the number of words. d_model is the length of a row, `embedding_dim`.
math.sqrt(d_model) → math.sqrt(ids.size(1))
    You multiply by the root of the number of tokens. d_model is the length of a row, `embedding_dim`.
model.generator(x) → model.generator(x).softmax(dim=-1)
model.generator(x) → model.generator(x).log_softmax(dim=-1)
    There is a softmax in yours. Logits come before it; the loss takes it.
return logits, size → return logits
    You return the logits alone. Two things are wanted, them and how many numbers the parameters have:
    `return logits, size`.
model.generator(x) → x
    These are the embeddings. The generator still has to make logits of them.
""")


class Written:
    """A function that is shown as what it computes."""

    def __init__(self, text, function):
        self.__doc__, self.function = text, function

    def __call__(self, *given):
        return self.function(*given)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return self.__doc__


def _wires():
    paper = (
        torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]),
        torch.tensor([[[3.0, 1.0]]]),
        Written("(query, key, value): query + 2·(row 0 of key) − (row 0 of value)", _self),
        Written("(query, key, value): 3·query + (last row of key)·(last row of value)", _cross),
        Written("(x): x², entry by entry", torch.square),
        [Written(f"(x): x + {n}", lambda x, n=n: x + n) for n in (1, 10, 100)],
    )
    return [paper, _drawn(3, 3, 3, 3), _drawn(1, 5, 2, 4), _drawn(2, 4, 3, 5)]


def _self(query, key, value):
    return query + 2 * key[:, :1] - value[:, :1]


def _cross(query, key, value):
    return 3 * query + key[:, -1:] * value[:, -1:]


def _drawn(batch, source, target, width):
    torch.manual_seed(31)
    mixes = torch.randn(7, width, width) / 2
    norms = [
        Written("layer norm", lambda x, gain=gain: F.layer_norm(x, gain.shape, gain))
        for gain in torch.rand(3, width) + 0.5
    ]

    def attention(text, mixes, causal):
        def attend(query, key, value):
            q, k, v = query @ mixes[0], key @ mixes[1], value @ mixes[2]
            scores = q @ k.mT
            if causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
            return scores.softmax(dim=-1) @ v

        return Written(text, attend)

    return (
        torch.randn(batch, target, width),
        torch.randn(batch, source, width),
        attention("attention of query, key, value, causal", mixes[:3], True),
        attention("attention of query, key, value", mixes[3:6], False),
        Written("a network", lambda x: torch.tanh(x @ mixes[6]) + 0.5),
        norms,
    )


wire_decoder = Exercise(
    sections=("13 Which memory does a decoder layer read?",),
    task="The three sublayers of a decoder layer and their wires, post-norm: self-attention, cross-attention, "
    "feed-forward, in this order. `self_attention` (causal already) and `cross_attention` are functions of "
    "query, key, value; `feed_forward` of one tensor; `norms` holds three functions, norms[0] for the first "
    "sublayer, norms[1] for the second, norms[2] for the third. x (batch, target, width) and memory (batch, "
    "source, width) to (batch, target, width).",
    cases=_wires,
    hints=(
        "Post-norm means that what a sublayer returns is added to what went into it, and the sum is normed. "
        "What comes out goes into the next sublayer.",
        "In self-attention the target attends to itself, so query, key and value are all x. In cross-attention "
        "the target asks and the source answers: which of the three is the target's, and as it is when?",
        "The query of cross-attention is what the first sublayer has made of x; key and value are both the "
        "memory. The feed-forward network comes last, with a sum and a norm of its own.",
    ),
    passed="Of the seven arguments that the sublayers take, two are the memory, and in every layer it "
    "is the same one.",
    gaps=(
        "self_attention(x, x, x)",
        "x + own",
        "cross_attention(y, memory, memory)",
        "y + read",
        "feed_forward(z)",
        "z + new",
    ),
)


@wire_decoder.solution
def my_decoder_layer(x, memory, self_attention, cross_attention, feed_forward, norms):
    # The target attends to itself; what comes out is added to what went in, and the sum is normed.
    own = self_attention(x, x, x)  # (batch, target, width)
    y = norms[0](x + own)  # (batch, target, width)
    # The target asks, as it is now; the source answers, so keys and values are the memory.
    read = cross_attention(y, memory, memory)  # (batch, target, width)
    z = norms[1](y + read)  # (batch, target, width)
    # Each token goes through the network by itself.
    new = feed_forward(z)  # (batch, target, width)
    return norms[2](z + new)  # (batch, target, width)


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


wire_decoder.edits("""
cross_attention(y, → cross_attention(x,
    The query of your cross-attention is what came into the layer. It is what this layer's own self-attention has
    made of it, after sum and norm.
(y, memory, memory) → (memory, y, y)
(y, memory, memory) → (memory, memory, y)
(y, memory, memory) → (memory, memory, memory)
(y, memory, memory) → (memory, y, y) ; y + read → memory + read
    The query of your cross-attention is the memory. It is the target that asks, and the source that answers: the
    query comes from the target, key and value are the memory.
(y, memory, memory) → (y, memory, y)
(y, memory, memory) → (y, y, memory)
    Of key and value in your cross-attention only one is the memory. They belong together: the weights that a key
    gets are for the value of the same token. Both are the memory.
(y, memory, memory) → (y, y, y)
    The memory is never read: in your cross-attention the target attends to itself.
(y, memory, memory) → (y, norms[1](memory), norms[1](memory))
    You norm the memory. The encoder has finished it; the decoder only reads it.
own = self → own = cross ; (x, x, x) → (x, memory, memory) ; read = cross → read = self ; y, memory, memory → y, y, y
    Cross-attention comes first in yours. Self-attention is the first sublayer: a token attends to the target
    before it asks the source.
self_attention(x, x, x) → self_attention(x, memory, memory)
self_attention(x, x, x) → self_attention(memory, memory, memory)
    Your self-attention reads the memory. Its query, key and value are the target, x.
own = self → own = cross ; read = cross → read = self
    The two attentions are exchanged: `self_attention` is the causal one, and belongs to the target alone.
y + read → x + read ; z + new → x + new
y + read → x + read
z + new → x + new
z + new → y + new
y + read → memory + read
    One of your sums adds something else: an earlier x, or the memory. Each sublayer's output is added to the x that
    went into that same sublayer.
cross_attention(y, → cross_attention(x, ; y + read → x + read ; z + new → x + new
cross_attention(y, → cross_attention(x, ; y + read → x + read ; feed_forward(z) → feed_forward(x) ; z + new → x + new
cross_attention(y, → cross_attention(x, ; z + new → x + new
x + own → x + own + cross_attention(x, memory, memory) ; z = norms[1](y + read) → z = y
    Your sublayers stand side by side: a later one reads or adds the x that came into the layer. Each works on what
    the one before it has made.
norms[0](x + own) → norms[0](x.add_(own))
    In yours `x += …` writes into the caller's x. `x = x + …` makes a new one.
norms[0](x + own) → norms(x + own)
    `norms` is a list of three functions: take one out, `norms[0](…)`, and call that.
norms[0] → norms[1] ; norms[1] → norms[2] ; norms[2] → norms[3]
    The norms are counted from 0: norms[0], norms[1], norms[2].
self_attention(x, x, x) → self_attention(x)
(y, memory, memory) → (y, memory)
    An attention wants three arguments here, query, key and value, also where two or all of them are the same.
x + own → own ; y + read → read ; z + new → new
    The residuals are missing: each sublayer's output has to be added to what went into it.
x + own → own
    The residual around self-attention is missing: its output is added to what went into it.
y + read → read
    The residual around cross-attention is missing: its output is added to what went into it.
z + new → new
    The residual around the feed-forward network is missing: its output is added to what went into it.
norms[0](x + own) → x + own ; norms[1](y + read) → y + read ; norms[2](z + new) → z + new
    The norms are missing: each sum goes through one.
norms[2](z + new) → z + new
norms[1](y + read) → y + read
norms[0](x + own) → x + own
norms[0](x + own) → x + own ; norms[1](y + read) → y + read
    Not every sum is normed in yours: each of the three goes through a norm of its own, the last one too.
norms[2](z + new) → new
    What you return is the network's output alone. It is still to be added to what went into it, and normed.
norms[1] → norms[0] ; norms[2] → norms[0]
    One norm serves all three sublayers in yours. Each has its own.
norms[0] → norms[2] ; norms[2] → norms[0]
norms[0] → norms[1] ; norms[1] → norms[0]
norms[1] → norms[2] ; norms[2] → norms[1]
    The norms are exchanged: norms[0] is for self-attention, norms[1] for cross-attention, norms[2] for the
    network.
norms[0](x + own) → x + norms[0](own) ; norms[1](y + read) → y + norms[1](read) ; norms[2](z + new) → z + norms[2](new)
norms[0](x + own) → norms[0](x) + own ; norms[1](y + read) → norms[1](y) + read ; norms[2](z + new) → norms[2](z) + new
    You norm one of the two before you add. Post-norm adds first and norms the sum.
norms[0]( → x + norms[0]( ; norms[1]( → y + norms[1]( ; norms[2]( → z + norms[2](
    You add what went in twice, within the norm and behind it. Post-norm adds it once, and norms the sum.
z = norms[1](y + read) → z = y
    This is an encoder layer: cross-attention, the second sublayer, is missing.
return norms[2](z + new) → return z
    The feed-forward network, the third sublayer, is missing.
y = norms[0](x + own) → y = x
    Self-attention, the first sublayer, is missing, or what it has made is read by nobody.
feed_forward(z) → feed_forward(y)
feed_forward(z) → feed_forward(x)
    Your feed-forward network reads an earlier x. It comes last, and reads what cross-attention and its norm have
    made.
""")


@wire_decoder.mistake(
    "Cross-attention comes first in yours, and with it norms[1]. Self-attention is the first sublayer: a token "
    "attends to the target before it asks the source."
)
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    x = norms[1](x + cross_attention(x, memory, memory))
    x = norms[0](x + self_attention(x, x, x))
    return norms[2](x + feed_forward(x))


@wire_decoder.mistake("This is pre-norm. Post-norm adds first and norms the sum.")
def _(x, memory, self_attention, cross_attention, feed_forward, norms):
    y = norms[0](x)
    x = x + self_attention(y, y, y)
    x = x + cross_attention(norms[1](x), memory, memory)
    return x + feed_forward(norms[2](x))
