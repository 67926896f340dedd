"""The Transformer, whole: embedding and positions, encoder, decoder, generator. Lesson 13.

Encoder and decoder are checkpoints on the way: what is wrong is named where it is made.
"""

import math
from dataclasses import replace

import torch
from torch import nn

from transformer_lib import transformer
from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.model import Written
from transformer_lib.exercises.own.mine import mine
from transformer_lib.lab import twins
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.transformer import TransformerConfig


def _sentences():
    torch.manual_seed(12)
    paper = (
        torch.tensor([1, 0]),
        torch.tensor([2, 1]),
        torch.tensor([[1.0, 0, 0, 1], [0, 1, 0, 2]]),
        torch.tensor([[0.0, 0, 1, 1], [2, 0, 0, 0], [0, 1, 1, 0]]),
        torch.tensor([[0.0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]]),
        [
            Written("(x): 2·x", lambda x: 2 * x),
            Written("(x): x + (row 0 of x)", lambda x: x + x[:1]),
        ],
        [
            Written("(y, memory): y + (last row of memory)", lambda y, memory: y + memory[-1:]),
            Written("(y, memory): 3·y − (row 0 of memory)", lambda y, memory: 3 * y - memory[:1]),
        ],
    )

    def drawn(source, target, words, other, d_model):
        tables = [torch.randn(n, d_model) for n in (words, other, 6)]
        low = [Written("tanh", torch.tanh), Written("running sum", lambda x: x.cumsum(0) / 2)]
        high = [
            Written(f"attention, {n}", lambda y, m, n=n: y + (n * y @ m.T).softmax(1) @ m)
            for n in (1, 2, 3)
        ]
        return torch.randint(words, (source,)), torch.randint(other, (target,)), *tables, low, high

    return [paper, drawn(3, 3, 3, 3, 3), drawn(2, 4, 5, 6, 3), drawn(4, 1, 3, 2, 5)]


transformer_for_one = Exercise(
    sections=(
        "13 Stack the layers",
        "13 From ids to vectors",
        "13 Which memory does a decoder layer read?",
    ),
    task="The way through a Transformer for one sentence. `src` (source,) and `tgt_in` (target,) are ids, E "
    "(source words, d_model) and W (target words, d_model) the tables, P (positions, d_model) the codes. "
    "On both sides a row is multiplied by √d_model, and then the code of its position is added. `encoder` is a list "
    "of functions of (x), `decoder` one of functions of (y, memory). W serves on the way in and, turned, on the way "
    "out. Return the logits (target, target words).",
    cases=_sentences,
    hints=(
        "Both sides begin alike: an id picks a row of its table, the row is multiplied by √d_model, and then the "
        "code of its position is added, row 0 of P for the first token, whatever its id is.",
        "A stack hands on: what one layer returns, the next one reads, so write `x = layer(x)` in a loop. What the "
        "last layer of the encoder returns is the memory, and every layer of the decoder reads that one memory.",
        "A logit compares a row of y with a row of W. For all words at once that is `y @ W.T`.",
    ),
    passed="In the class each of these lines becomes a part, and there is a batch in front.",
    gaps=(
        "math.sqrt(E.size(1))",
        "E[src] * root",
        "W[tgt_in] * root",
        "layer(y, memory)",
        "y @ W.T",
    ),
)


@transformer_for_one.solution
def my_transformer_for_one(src, tgt_in, E, W, P, encoder, decoder):
    root = math.sqrt(E.size(1))  # √d_model
    # A word's row of the table, made larger; then the code of its position, the first rows of P.
    x = E[src] * root + P[: len(src)]  # (source, d_model)
    for layer in encoder:
        x = layer(x)  # (source, d_model)
    memory = x  # what the last layer returns
    y = W[tgt_in] * root + P[: len(tgt_in)]  # (target, d_model)
    for layer in decoder:
        # The target's rows are handed on from layer to layer; the memory stays as it is.
        y = layer(y, memory)  # (target, d_model)
    # Every row of y is compared with every row of W.
    return y @ W.T  # (target, target words)


@transformer_for_one.solution
def _(src, tgt_in, E, W, P, encoder, decoder):
    def embedded(ids, table):
        rows = (table[i] * len(table[i]) ** 0.5 + P[t] for t, i in enumerate(ids))
        return torch.stack(list(rows))

    memory, hidden = embedded(src, E), embedded(tgt_in, W)
    for layer in encoder:
        memory = layer(memory)
    for layer in decoder:
        hidden = layer(hidden, memory)
    return torch.nn.functional.linear(hidden, W)


transformer_for_one.edits("""
root = math.sqrt(E.size(1)) → root = 1
    The factor √d_model is missing: the rows of both tables are multiplied by it.
E[src] * root → E[src]
    The factor √d_model is missing on the source's side: the rows of both tables are multiplied by it.
W[tgt_in] * root → W[tgt_in]
    The factor √d_model is missing on the target's side: the rows of both tables are multiplied by it.
root = math.sqrt(E.size(1)) → root = 1 / math.sqrt(E.size(1))
    You divide by √d_model. The rows of both tables are multiplied by it.
root = math.sqrt(E.size(1)) → root = E.size(1)
    You multiply by d_model. The factor is its root, √d_model.
root = math.sqrt(E.size(1)) → root = math.sqrt(len(E))
root = math.sqrt(E.size(1)) → root = math.sqrt(len(W))
E[src] * root → E[src] * math.sqrt(len(E)) ; W[tgt_in] * root → W[tgt_in] * math.sqrt(len(W))
E[src] * root → E[src] * math.sqrt(len(E))
W[tgt_in] * root → W[tgt_in] * math.sqrt(len(W))
    You multiply by the root of the number of words, the rows of a table. d_model is the length of a row, `E.size(1)`.
root = math.sqrt(E.size(1)) → root = math.sqrt(len(src))
E[src] * root → E[src] * math.sqrt(len(src)) ; W[tgt_in] * root → W[tgt_in] * math.sqrt(len(tgt_in))
    You multiply by the root of the number of tokens. d_model is the length of a row, `E.size(1)`.
root + P[: len(src)] → root + P[: len(src)] * root ; root + P[: len(tgt_in)] → root + P[: len(tgt_in)] * root
root + P[: len(src)] → root + P[: len(src)] * root
root + P[: len(tgt_in)] → root + P[: len(tgt_in)] * root
    You multiply a sum. The row of the table alone gets the √d_model, the code of the position does not.
+ P[: len(src)] →
    The encoder has no positions in yours. Each side adds the codes to its rows.
+ P[: len(tgt_in)] →
    The decoder has no positions in yours. Each side adds the codes to its rows.
+ P[: len(src)] → ; + P[: len(tgt_in)] →
    There are no positions in yours: encoder and decoder each add the codes to their rows.
root + P[: len(src)] → root * P[: len(src)] ; root + P[: len(tgt_in)] → root * P[: len(tgt_in)]
    You multiply by the codes of the positions. They are added.
P[: len(src)] → P ; P[: len(tgt_in)] → P
P[: len(tgt_in)] → P[: len(src)]
    P has a row for every position that there could be. You need as many as the sentence has tokens, on each side
    its own: `P[: len(src)]`, `P[: len(tgt_in)]`.
P[: len(src)] → P[len(src)] ; P[: len(tgt_in)] → P[len(tgt_in)]
    `P[n]` is one row of P, which you add to every token. The first n rows are `P[:n]`, one for each token.
x = layer(x) → x = layer(x + P[: len(src)]) ; layer(y, → layer(y + P[: len(tgt_in)],
+ P[: len(src)] → ; layer(x) → layer(x + P[: len(src)]) ; + P[: len(tgt_in)] → ; layer(y, → layer(y + P[: len(tgt_in)],
    You add the codes in front of every layer. They come in once, before the first one.
P[: len(src)] → P[1 : len(src) + 1] ; P[: len(tgt_in)] → P[1 : len(tgt_in) + 1]
    Your positions begin at 1. The first token stands at position 0.
P[: len(src)] → P[src] ; P[: len(tgt_in)] → P[tgt_in]
    You look up the codes by the ids. A code says where a token stands: the first token gets row 0 of P, whatever its
    id is.
in encoder → in [encoder]
in decoder → in [decoder]
    `encoder` and `decoder` are lists of functions, and a list cannot be called. Take the functions out one by one, in
    a loop: `for layer in encoder:`.
in encoder → in [] ; memory = x → e = [*encoder] ; layer(y, memory) → layer(y, x := e.pop(0)(x))
in encoder → in [] ; memory = x → e = [*encoder] ; decoder: → decoder[:2]: ; (y, memory) → (y, x := e.pop(0)(x))
    Layer i of your decoder reads layer i of the encoder. All of them read the same memory, what the *last* layer of
    the encoder has returned: let the encoder run to its end first.
x = layer(x) → layer(x)
    Nothing that your encoder's layers return comes to the decoder. Assign it, `x = layer(x)`: the next layer reads
    it, and the memory is x behind the loop, not in front of it.
in encoder → in encoder[:1]
    Of your encoder only the first layer works. All of them do, one after the other: `for layer in encoder:`.
y = layer(y, memory) → layer(y, memory)
    In the decoder you lose what a layer returns. Assign it, `y = layer(y, memory)`: the next layer reads it.
x = layer(x) → x = layer(E[src] * root + P[: len(src)])
    The last layer of your encoder reads the embeddings. It should read what the layer before it has returned: write
    `x = layer(x)`, in a loop over all of them.
y = layer(y, memory) → y = layer(W[tgt_in] * root + P[: len(tgt_in)], memory)
    The last layer of your decoder reads the embeddings. It should read what the layer before it has returned: write
    `y = layer(y, memory)`, in a loop over all of them.
= layer(x) → = layer(E[src] * root + P[: len(src)]) ; layer(y, → layer(W[tgt_in] * root + P[: len(tgt_in)],
    On both sides the last layer reads the embeddings. It should read what the layer before it has returned: write
    `x = layer(x)`, in a loop over all of them.
y = layer(y, memory) → y = layer(y, y)
    Your decoder never reads the memory. The second argument of each of its layers is what the encoder has returned.
y = layer(y, memory) → y = memory = layer(y, memory)
y = layer(y, memory) → memory = layer(y, memory) ; y @ W.T → memory @ W.T
    You write over the memory: the second decoder layer reads the output of the first one in its place. Every
    layer reads the same memory.
in encoder → in encoder[::-1]
    Your encoder's layers run from the last to the first.
in decoder → in decoder[::-1]
    Your decoder's layers run from the last to the first.
layer(y, memory) → layer(memory, y)
y = layer(y, memory) → memory = layer(memory, y) ; y @ W.T → memory @ W.T
    You exchange the two arguments of a decoder layer: first the target's rows, then the memory.
y @ W.T → y @ W
    W is to be turned: a logit is the product of a row of y and a row of W, and `@` takes columns.
y @ W.T → y @ E.T
W[tgt_in] → E[tgt_in]
    You use E on the target's side. E is the source's table; the target's words have their rows in W.
y @ W.T → (y @ W.T).softmax(dim=-1)
    There is a softmax in yours. Logits come before it.
y @ W.T → (y @ W.T).argmax(dim=-1)
    You pick a word at every position. The logits themselves are wanted, one for each word.
y @ W.T → y[-1] @ W.T
    You take the last position alone. Every position gets its logits, (target, target words).
y @ W.T → y @ W.T * root
y @ W.T → y @ W.T / root
    On the way out there is no √d_model. It belongs to the way in alone.
y @ W.T → memory @ W.T
    You compare the memory with the rows of W. The logits are those of y, which the decoder has made.
y = layer(y, memory) → return layer(y, memory) @ W.T
    Of your decoder only the first layer works. All of them do, one after the other: `for layer in decoder:`, with the
    `return` behind the loop.
y @ W.T → y
    These are vectors. The logits are still to come: each vector is compared with every row of W.
""")


SIZES = {"d_model": 4, "num_heads": 2, "d_ff": 3, "num_layers": 1, "max_len": 12, "dropout": 0.0}
PRE, TWO = {"norm_first": True}, {"num_layers": 2}


LONG = 11  # tokens: more than either vocabulary has words


def _ids(batch, length):
    return torch.randint(1, 5, (batch, length))


def _mask(ids, sentence):
    """Its padding and one token more, so that no mask made of the ids is the same."""
    mask = padding_mask(ids, 0)
    mask[sentence, ..., -1] = False
    return mask


def _of_the_encoder():
    torch.manual_seed(11)

    def case(about, batch, source, masked=False, training=False, random=False, **changes):
        src = _ids(batch, source)
        if masked:
            src[0, 1:] = 0
        mask = (_mask(src, -1),) * masked
        config = TransformerConfig(5, 7, **{**SIZES, **changes})
        return Case(about, (config,), {}, (src, *mask), training, random)

    return [
        case("post-norm", 1, 2),
        case("pre-norm, with two layers", 2, 3, **PRE, **TWO),
        case("with padding, with two layers", 3, 3, True, **TWO),
        case("with padding, pre-norm", 2, 5, True, **PRE),
        case("in train() without dropout", 2, LONG, training=True, **PRE),
        case("in eval() with dropout=0.5", 1, 2, dropout=0.5),
        case("in train() with dropout=0.5", 1, 2, dropout=0.5, training=True, random=True),
        case("in train() with dropout=1", 1, 2, dropout=1.0, training=True, **PRE),
    ]


def _of_the_decoder():
    torch.manual_seed(12)

    def case(about, shape, masks=0, training=False, random=False, **changes):
        batch, source, target = shape
        src, tgt = _ids(batch, source), _ids(batch, target)
        if masks:
            src[0, 1:], tgt[-1, 1:] = 0, 0
        memory = torch.randn(batch, source, 4)
        padding = (_mask(tgt, 0) if masks > 1 else None, _mask(src, -1))
        config = TransformerConfig(7, 5, **{**SIZES, **changes})
        return Case(
            about, (config,), {}, (tgt, memory, *padding[: 2 * bool(masks)]), training, random
        )

    return [
        case("post-norm", (1, 2, 2)),
        case("pre-norm, with two layers", (2, 5, 3), **PRE, **TWO),
        case("with padding in the source, with two layers", (3, 3, 3), 1, **TWO),
        case("with padding in both, equally long", (2, 3, 3), 2, **PRE),
        case("with padding in both", (2, 5, 3), 2, **PRE),
        case("in train() without dropout", (2, LONG, LONG), 1, training=True, **PRE),
        case("in eval() with dropout=0.5", (1, 2, 3), dropout=0.5),
        case("in train() with dropout=0.5", (1, 2, 3), dropout=0.5, training=True, random=True),
        case("in train() with dropout=1", (1, 2, 3), dropout=1.0, training=True, **PRE),
    ]


def _of_the_whole():
    torch.manual_seed(13)

    def case(about, shape, masks=0, words=7, training=False, random=False, **changes):
        batch, source, target = shape
        src, tgt = _ids(batch, source), _ids(batch, target)
        if masks:
            src[0, 1:], tgt[-1, 1:] = 0, 0
        padding = _mask(src, -1), _mask(tgt, 0)
        config = TransformerConfig(5, words, **{**SIZES, **changes})
        return Case(about, (config,), {}, (src, tgt, *padding[:masks]), training, random)

    return [
        case("post-norm", (1, 2, 2)),
        case("pre-norm, with two layers", (2, 3, 2), **PRE, **TWO),
        case("with padding in the source, with two layers", (3, 3, 3), 1, **TWO),
        case("with padding in both, equally long", (2, 3, 3), 2, **PRE),
        case("with padding in both", (2, 4, 3), 2, **PRE),
        case("with tie_weights='target'", (2, 2, 3), words=5, tie_weights="target"),
        case("with tie_weights='all'", (1, 3, 2), 1, words=5, tie_weights="all"),
        case("in train() without dropout", (2, LONG, LONG), 1, training=True, **PRE),
        case("in eval() with dropout=0.5", (1, 2, 3), dropout=0.5),
        case("in train() with dropout=0.5", (1, 2, 3), dropout=0.5, training=True, random=True),
        case("in train() with dropout=1", (1, 2, 3), dropout=1.0, training=True, **PRE),
    ]


def _twin(model, *inputs):
    """torch's logits, where nothing is dropped: the twin has no dropout."""
    dropped = model.training and model.config.dropout
    return None if dropped else twins.transformer_logits(model, *inputs)


def _hidden(mask):
    """torch's padding mask: one axis less, and True means the opposite."""
    return None if mask is None else ~mask[:, 0, 0]


def _encoder_by_torch(model, src, src_mask=None):
    """What torch's layers make of it, between our embedding and our norm."""
    if model.training and model.positions.dropout.p:
        return None
    x = model.positions(model.embedding(src))
    for layer in model.layers:
        x = twins.encoder_layer(layer)(x, src_key_padding_mask=_hidden(src_mask))
    return model.norm(x)


def _decoder_by_torch(model, tgt_in, memory, tgt_mask=None, src_mask=None):
    if model.training and model.positions.dropout.p:
        return None
    y = model.positions(model.embedding(tgt_in))
    masks = {
        "tgt_mask": ~causal_mask(tgt_in.size(1)),
        "tgt_key_padding_mask": _hidden(tgt_mask),
        "memory_key_padding_mask": _hidden(src_mask),
    }
    for layer in model.layers:
        y = twins.decoder_layer(layer)(y, memory, **masks)
    return model.norm(y)


def _sides(model):
    return [model.encoder, model.decoder] if hasattr(model, "encoder") else [model]


def _newborn(model, *given):
    """What is wrong with how it begins: the size of its entries, what it ties, what it drops.

    `given` is what it is called with beside ids.
    """
    config = TransformerConfig(999, 999, d_model=64, num_heads=1, d_ff=1, num_layers=1, dropout=0.5)
    large = type(model)(config)
    for side in _sides(large):  # times √d_model the entries should be about 1
        if not 0.7 < (size := 8 * side.embedding.weight.std()) < 1.5:
            return _OF_SIZE[bool(size > 1)].format(size)
    if hasattr(model, "encoder"):
        tied = type(model)(replace(config, tie_weights="all"))
        if tied.generator.weight is not tied.decoder.embedding.weight:
            return (
                "It computes rightly, but it is tied too late, in `forward`: an optimizer is made before, and finds "
                "two matrices. Tie in `__init__`."
            )
        if 8 * tied.generator.weight.std() < 0.7:
            return (
                "It computes rightly, but the tied matrix begins with the generator's numbers, which are smaller. Keep "
                "the table's: `self.generator.weight = self.decoder.embedding.weight`."
            )
    return _dropped(large, _ids(5, LONG), *given)


_OF_SIZE = {
    True: "It computes rightly, but its words begin too loud: `nn.Embedding` starts with variance 1, "
    "and √d comes on top. In its `__init__`: `nn.init.normal_(self.weight, std=d_model**-0.5)`.",
    False: "It computes rightly, but its words begin too quiet: the entries, times √d_model, are of the size {:.2f}, "
    "and should be about 1. In its `__init__`: `nn.init.normal_(self.weight, std=d_model**-0.5)`, and nothing may "
    "write over it later.",
}


def _dropped(large, *given):
    """What is said if more than half of what the first layers read is 0, or any of the memory."""
    heard = []
    for side in _sides(large):
        side.layers[0].register_forward_pre_hook(lambda _, given: heard.append(given))
    large(*given)
    zeros = [[float((x == 0).float().mean()) for x in one if x is not None] for one in heard]
    if any(of_x > 0.6 for of_x, *_ in filter(None, zeros)):
        return "Dropout: it falls twice on the sum of row and code in yours. Once is enough."
    if any(of_memory > 0.1 for _, *rest in filter(None, zeros) for of_memory in rest):
        return "Dropout: the memory drops on its way to the decoder. The encoder has finished it; let it be."
    return None


PART = r"`((en|de)coder\.)?"
CURES = (  # what an error says, or what keeps the weights away, and what is said instead
    (
        PART + r"embedding\.weight` has the shape \([57], 4\)",
        "Embedding: these are the words of the other language. The encoder's table has `config.src_vocab_size` rows, "
        "the decoder's `config.tgt_vocab_size`.",
    ),
    (
        PART + r"embedding\.weight` has the shape \(4, [57]\)",
        "Embedding: the table is turned. `nn.Embedding` wants the number of words first, then d_model.",
    ),
    (
        r"generator\.weight` has the shape \(5, 4\)",
        "Generator: these are the words of the other language. It gives a logit for each of the "
        "`config.tgt_vocab_size` words.",
    ),
    (
        r"none for .*`((en|de)coder\.)?embedding`.* `((en|de)coder\.)?embedding\.\w+`",
        "Embedding: your class holds an `nn.Embedding`, so that its table has a longer name. Let your class be one: "
        "`class …(nn.Embedding)`, with `super().__init__(vocab_size, d_model)` and `super().forward(ids)`.",
    ),
    (
        PART + r"embedding\.\w+` drops",
        "Dropout: the rate in the embedding is a fixed one. Hand `config.dropout` on to it.",
    ),
    (
        rf"^{PART}norm`(, `decoder\.norm`|, `encoder\.norm`)* should not be|missing: {PART}norm`(, {PART}norm`)* \(",
        "Norms: the last norm belongs to pre-norm alone, because post-norm ends in one already: "
        "`nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()`.",
    ),
    (
        r"missing:.*cross_attn",
        'Layers: the decoder has encoder layers in yours, without cross-attention: `mine("DecoderLayer")`.',
    ),
    (
        r"cross_attn.*should not be",
        'Layers: the encoder has decoder layers in yours, with cross-attention: `mine("EncoderLayer")`.',
    ),
    (r"divisible", "Layers: the sizes of a layer come in the order (d_model, num_heads, d_ff)."),
    (
        r"unexpected keyword argument '(src_mask|mask)'",
        "Masks: a layer calls its masks by other names. Hand them over by their places, as the task says.",
    ),
    (
        r"Sequential\.forward\(\) takes",
        "Layers: an `nn.Sequential` hands on one thing alone, and each layer wants the mask as well. Take an "
        "`nn.ModuleList`, and call its layers in a loop.",
    ),
    (
        rf"size of tensor [ab] \({LONG}\)",
        "Positions: your table of codes is too short for a long sentence. Compute as many as the sentence has tokens, "
        "`ids.size(1)`, or keep `config.max_len` of them.",
    ),
    (
        r"size of tensor [ab] \(\d\d+\)",
        "Positions: your table of codes has a row for every position that there could be. A sentence needs as many as "
        "it has tokens: the first `ids.size(1)` of them.",
    ),
)

Encoder = Build(
    sections=("13 Stack the layers", "13 From ids to vectors"),
    task="The first checkpoint of the Transformer, the encoder: source ids (batch, source) in, the memory (batch, "
    "source, d_model) out. It is made with a `TransformerConfig` and called as `(src, src_mask=None)`. Its parts are "
    "`embedding`, an `nn.Embedding` for `config.src_vocab_size` words, whose rows begin with entries of about "
    '1/√d_model; `layers`, an `nn.ModuleList` of `config.num_layers` of `mine("EncoderLayer")`, made with '
    "`(d_model, num_heads, d_ff, dropout=…, norm_first=…)`; and `norm`, a last `nn.LayerNorm` where "
    "`config.norm_first`, else nothing that has weights. On the way in a row is multiplied by √d_model, then the code "
    'of its position is added (`mine("sinusoids")(length, d_model)`, not stored with the weights), then comes '
    "dropout. A layer is called as `(x, src_mask)`.",
    cases=_of_the_encoder,
    hints=(
        "Write two classes: the embedding, which looks rows up, makes them larger and adds the codes; and the "
        "encoder, which holds an embedding, the layers and the norm, and calls them one after the other.",
        "An embedding that inherits from `nn.Embedding` keeps the name `embedding.weight`; `super().forward(ids)` "
        "looks the rows up. The codes are (tokens, d_model), one for each token of the sentence; broadcasting repeats "
        "them for every sentence. Dropout falls on the sum of both.",
        "Hand `config.dropout` and `config.norm_first` on to every layer. A stack hands on: `x = layer(x, src_mask)` "
        "in a loop over `self.layers`, and `self.norm(x)` once, behind the loop: an `nn.LayerNorm` in pre-norm, else "
        "an `nn.Identity`.",
    ),
    passed="The embedding serves in the decoder as it is. Two lines of the decoder's `forward` will differ from this "
    "one's: which?",
    seconds=20.0,
    without=("TokenEmbedding.forward", "Encoder.forward"),
    gaps=(
        "math.sqrt(self.embedding_dim)",
        "rows + codes.to(rows)",
        "c.num_layers",
        "layer(x, src_mask)",
        "self.norm(x)",
    ),
    reference=transformer.Encoder,
    twin=_encoder_by_torch,
    newborn=_newborn,
    cures=CURES,
)

Decoder = Build(
    sections=("13 Which memory does a decoder layer read?", "13 Stack the layers"),
    task="The second checkpoint of the Transformer, the decoder: target ids (batch, target) and the memory (batch, "
    "source, d_model) in, what the generator reads (batch, target, d_model) out. It is made with a "
    "`TransformerConfig` and called as `(tgt_in, memory, tgt_mask=None, src_mask=None)`. Its parts are `embedding`, "
    "as in the encoder, for `config.tgt_vocab_size` words; `layers`, an `nn.ModuleList` of `config.num_layers` of "
    '`mine("DecoderLayer")`; and `norm`, as in the encoder. A layer is called as `(x, memory, tgt_mask, src_mask)` '
    "and is causal by itself: `tgt_mask` is for its self-attention, `src_mask` for its cross-attention.",
    cases=_of_the_decoder,
    hints=(
        "The decoder differs from the encoder in what comes in, in the kind of its layers and in how a layer is "
        "called, and in nothing else. The embedding is the same class.",
        "Every layer reads the same memory, so only one of a layer's two inputs is handed on from layer to layer.",
        "`y = layer(y, memory, tgt_mask, src_mask)` in a loop over `self.layers`, and `self.norm(y)` once, behind "
        "the loop.",
    ),
    passed="Two checkpoints are behind you. What is left for the third are the generator, the tied matrices, and two "
    "calls in the right order.",
    seconds=20.0,
    without=("TokenEmbedding.forward", "Decoder.forward"),
    gaps=(
        "math.sqrt(self.embedding_dim)",
        "rows + codes.to(rows)",
        "c.num_layers",
        "layer(y, memory, tgt_mask, src_mask)",
        "self.norm(y)",
    ),
    reference=transformer.Decoder,
    twin=_decoder_by_torch,
    newborn=lambda model: _newborn(model, torch.randn(5, LONG, 64)),
    cures=CURES,
)


Transformer = Build(
    sections=(
        "13 Stack the layers",
        "13 From ids to vectors",
        "13 Which memory does a decoder layer read?",
    ),
    task="The Transformer: source ids (batch, source) and target ids (batch, target) in, logits (batch, target, "
    "target words) out. It is made with a `TransformerConfig` and called as `(src, tgt_in, src_mask=None, "
    "tgt_mask=None)`. Its parts are `encoder`, `decoder` and `generator`. `encoder` and `decoder` each have "
    "`embedding` (an `nn.Embedding`, whose rows begin with entries of about 1/√d_model), `layers` (an "
    '`nn.ModuleList` of `config.num_layers` of `mine("EncoderLayer")` or `mine("DecoderLayer")`, made with '
    "`(d_model, num_heads, d_ff, dropout=…, norm_first=…)`) and `norm` (a last `nn.LayerNorm` where "
    "`config.norm_first`, else nothing that has weights). `generator` is an `nn.Linear` without bias. On the way in "
    'a row is multiplied by √d_model, then the code of its position is added (`mine("sinusoids")(length, '
    "d_model)`, not stored with the weights), then comes dropout. An encoder layer is called as `(x, src_mask)`, a "
    "decoder layer as `(x, memory, tgt_mask, src_mask)`; it is causal by itself. `config.tie_weights` says which "
    "matrices are one parameter: 'none'; 'target', the generator's and the decoder's table; 'all', the encoder's "
    "table too.",
    cases=_of_the_whole,
    hints=(
        "Write four classes, in the order in which the ids go through them: embedding with positions, encoder, "
        "decoder, and the whole, which holds an encoder, a decoder and a generator. Encoder and decoder differ in "
        "what comes in and in how a layer is called, and in nothing else.",
        "A stack hands on: `x = layer(x, src_mask)` in a loop over `self.layers`, and the norm once, behind the "
        "loop. Every decoder layer reads the same memory. Its `tgt_mask` is for its self-attention, over the target; "
        "`src_mask` is for its cross-attention, over the source.",
        "An embedding that inherits from `nn.Embedding` keeps the name `embedding.weight`; `super().forward(ids)` "
        "looks the rows up. A matrix is tied by assigning the parameter: `self.generator.weight = "
        "self.decoder.embedding.weight`, if `config.tie_weights` is 'target' or 'all'; with 'all' the encoder's "
        "embedding gets the same parameter.",
    ),
    passed="It computes as the library's and as `nn.Transformer`, with the weights of `make_model`, tied or "
    "not. You have built a Transformer.",
    seconds=20.0,
    without=("TokenEmbedding.forward", "Transformer.forward", "Encoder.forward", "Decoder.forward"),
    gaps=(
        "math.sqrt(self.embedding_dim)",
        "rows + codes.to(rows)",
        "c.num_layers",
        "layer(x, src_mask)",
        "layer(y, memory, tgt_mask, src_mask)",
        "self.norm(x)",
        "self.norm(y)",
        "self.decoder.embedding.weight",
        "self.encoder(src, src_mask)",
        "self.decoder(tgt_in, memory, tgt_mask, src_mask)",
    ),
    reference=transformer.Transformer,
    twin=_twin,
    newborn=lambda model: _newborn(model, _ids(5, LONG)),
    cures=CURES,
)


class MyEmbedding(nn.Embedding):
    """Ids in; out come their rows times √d_model, with the codes of their positions added."""

    def __init__(self, vocab_size, d_model, dropout):
        super().__init__(vocab_size, d_model)
        nn.init.normal_(self.weight, std=d_model**-0.5)  # times √d_model they are about 1
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids):
        rows = super().forward(ids) * math.sqrt(self.embedding_dim)  # (batch, tokens, d_model)
        codes = mine("sinusoids")(ids.size(1), self.embedding_dim)  # (tokens, d_model)
        # Broadcasting repeats the codes for every sentence of the batch.
        return self.dropout(rows + codes.to(rows))  # (batch, tokens, d_model)


def my_layers(name, c):
    """As many layers of that kind as the config says, each with weights of its own."""
    sizes = c.d_model, c.num_heads, c.d_ff
    options = {"dropout": c.dropout, "norm_first": c.norm_first}
    return nn.ModuleList(mine(name)(*sizes, **options) for _ in range(c.num_layers))


@Encoder.solution
class MyEncoder(nn.Module):
    """Source ids in, memory out. A pre-norm stack ends in a norm of its own."""

    def __init__(self, config):
        super().__init__()
        self.embedding = MyEmbedding(config.src_vocab_size, config.d_model, config.dropout)
        self.layers = my_layers("EncoderLayer", config)
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, src, src_mask=None):
        x = self.embedding(src)  # (batch, source, d_model)
        for layer in self.layers:
            x = layer(x, src_mask)  # (batch, source, d_model)
        return self.norm(x)


def _embedded(side, ids):
    rows = nn.functional.embedding(ids, side.embedding.weight)
    return side.positions(rows.size(-1) ** 0.5 * rows)


@Encoder.solution
class _(transformer.Encoder):
    """The library's parts, called by hand."""

    def forward(self, src, src_mask=None):
        steps = [_embedded(self, src)]
        for layer in self.layers:
            steps.append(layer(steps[-1], src_mask))
        return self.norm(steps[-1])


@Decoder.solution
class MyDecoder(nn.Module):
    """Target ids and the memory in, what the generator reads out."""

    def __init__(self, config):
        super().__init__()
        self.embedding = MyEmbedding(config.tgt_vocab_size, config.d_model, config.dropout)
        self.layers = my_layers("DecoderLayer", config)
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, tgt_in, memory, tgt_mask=None, src_mask=None):
        y = self.embedding(tgt_in)  # (batch, target, d_model)
        for layer in self.layers:  # all of them read one memory
            y = layer(y, memory, tgt_mask, src_mask)  # (batch, target, d_model)
        return self.norm(y)


@Decoder.solution
class _(transformer.Decoder):
    """The library's parts, called by hand."""

    def forward(self, tgt_in, memory, tgt_mask=None, src_mask=None):
        steps = [_embedded(self, tgt_in)]
        for layer in self.layers:
            steps.append(layer(steps[-1], memory, tgt_mask=tgt_mask, memory_mask=src_mask))
        return self.norm(steps[-1])


@Transformer.solution
class MyTransformer(nn.Module):
    """Source and target ids in, logits of every next target token out."""

    def __init__(self, config):
        super().__init__()
        self.encoder = MyEncoder(config)
        self.decoder = MyDecoder(config)
        self.generator = nn.Linear(config.d_model, config.tgt_vocab_size, bias=False)
        if config.tie_weights != "none":  # "none" is a text, and a text counts as True
            self.generator.weight = self.decoder.embedding.weight  # one parameter, two names
        if config.tie_weights == "all":
            self.encoder.embedding.weight = self.decoder.embedding.weight

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        memory = self.encoder(src, src_mask)  # (batch, source, d_model)
        hidden = self.decoder(tgt_in, memory, tgt_mask, src_mask)  # (batch, target, d_model)
        return self.generator(hidden)  # (batch, target, words)


Encoder.needs = Decoder.needs = (MyEmbedding, my_layers)
Transformer.needs = (MyEmbedding, my_layers, MyEncoder, MyDecoder)


@Transformer.solution
class _Parts(transformer.Transformer):
    """The library's parts, called by hand."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        steps = [_embedded(self.encoder, src)]
        for layer in self.encoder.layers:
            steps.append(layer(steps[-1], src_mask))
        y = _embedded(self.decoder, tgt_in)
        for i, layer in enumerate(self.decoder.layers):
            y = layer(y, self.memory(steps, i), tgt_mask, src_mask)
        return self.generator(self.decoder.norm(y))

    def memory(self, steps, i):
        return self.encoder.norm(steps[-1])


_STAIRCASE = (
    "Memory: decoder layer i reads encoder layer i in yours. All decoder layers read the output of the last "
    "encoder layer."
)


@Transformer.mistake(_STAIRCASE)
class _(_Parts):
    def memory(self, steps, i):
        return self.encoder.norm(steps[i + 1])


@Transformer.mistake(_STAIRCASE)
class _(_Parts):
    def memory(self, steps, i):
        return steps[i + 1]


OF_A_SIDE = """
 * math.sqrt(self.embedding_dim) →
    Embedding: the factor √d_model is missing. The row of a word is multiplied by it, before the code is added.
math.sqrt(self.embedding_dim) → self.embedding_dim
    Embedding: you multiply by d_model. The factor is its root, √d_model.
self.dropout(rows + codes.to(rows)) → super().forward(ids)
    Embedding: it looks rows up and does no more, like an `nn.Embedding`. Write a class on top of that: a row times
    √d_model, plus the code of its position, and dropout on the sum.
 * math.sqrt(self.embedding_dim) → ; rows + codes.to(rows) → (rows + codes.to(rows)) * math.sqrt(self.embedding_dim)
    Embedding: you multiply the sum of row and code by √d_model. The row alone is multiplied, before the sum.
rows + codes.to(rows) → rows
    Positions: there are none in yours, so it cannot know the order of the words.
"dropout": c.dropout → "dropout": 0.0 ; nn.Dropout(dropout) → nn.Dropout(0.0)
    Dropout: there is none in yours. `config.dropout` is its rate.
self.dropout(rows + codes.to(rows)) → rows + codes.to(rows)
    Dropout: the layers drop, but the sum of row and code does not.
"dropout": c.dropout → "dropout": 0.0
    Dropout: the sum of row and code drops, but the layers do not. Hand the rate on to them: `dropout=…`.
"""
OF_A_CHECKPOINT = (  # the whole is made of parts that have passed it
    OF_A_SIDE
    + """
* math.sqrt(self.embedding_dim) → / math.sqrt(self.embedding_dim)
    Embedding: you divide by √d_model. The row of a word is multiplied by it.
math.sqrt(self.embedding_dim) → math.sqrt(self.num_embeddings)
    Embedding: you multiply by the root of the number of words. d_model is the length of a row.
math.sqrt(self.embedding_dim) → math.sqrt(ids.size(1))
    Embedding: you multiply by the root of the number of tokens. d_model is the length of a row.
super().forward(ids) → self.weight(ids)
    Embedding: its `weight` is a table and no function. `super().forward(ids)` looks the rows up.
super().__init__(vocab_size, d_model) → super().__init__(vocab_size, d_model, padding_idx=0)
    Embedding: with `padding_idx` one row never learns. Leave it out: it is the masks that see to the padding.
ids.size(1) → ids.size(0)
ids.size(1) → ids.size(0) ; codes.to(rows) → codes.to(rows)[:, None]
codes.to(rows) → codes.to(rows)[:, None]
    Positions: yours count the sentences of the batch. A position counts the tokens in a sentence: `ids.size(1)`
    codes, and the last two axes of the sum, (tokens, d_model), fit as they are.
mine("sinusoids")(ids.size(1), self.embedding_dim) → mine("sinusoids")(99, self.embedding_dim)[ids]
    Positions: you look the codes up by the ids. A code says where a token stands: the first token gets row 0, whatever
    its id is.
ids.size(1) → ids.size(1) + 1 ; codes.to(rows) → codes.to(rows)[1:]
    Positions: yours count from 1. The first token stands at position 0.
rows + codes → rows * codes
    Positions: you multiply by the codes. They are added.
self.dropout(rows + codes.to(rows)) → self.dropout(rows) + codes.to(rows)
self.dropout(rows + codes.to(rows)) → rows + self.dropout(codes.to(rows))
    Dropout: it falls on one of the two, row or code, before they are added. It is meant for their sum.
"""
)

OF_A_STACK = """
{x} = layer({x}, → {x} = self.layers[0]({x},
    Layers: one of them is run over and over. Each of `layers` has weights of its own.
{x} = layer({x}, → layer({x},
    Layers: in your {side} what a layer returns is lost. Assign it, `{x} = layer({x}, …)`: the next layer reads it.
{x} = layer({x}, → {x} = layer(self.embedding({ids}),
    Layers: in your {side} each of them reads the embeddings. It should read what the layer before it has returned.
{x} = layer({x}, {given}) → return self.norm(layer({x}, {given}))
    Layers: you return from within the loop, after its first layer. The `return` stands behind the loop, as far to
    the left as the `for`.
in self.layers → in reversed(self.layers)
    Layers: yours run from the last to the first.
return self.norm({x}) → return {x}
    Norms: in pre-norm the {side} ends in one, `norm`. Yours is never called.
return self.norm({x}) → return self.embedding.dropout(self.norm({x}))
    Dropout: it falls on what the {side} returns as well. The sum of row and code drops, and what is within the layers.
{x} = layer({x}, {given}) → {x} = self.norm(layer({x}, {given})) ; self.norm({x}) → {x}
{x} = layer({x}, {given}) → {x} = self.norm(layer({x}, {given}))
    Norms: the last norm is called inside the loop, after every layer. It comes once, behind the loop.
self.embedding({ids}) → self.norm(self.embedding({ids})) ; return self.norm({x}) → return {x}
    Norms: the last norm comes first in yours, before the layers. It comes behind them.
"""
Encoder.edits(
    OF_A_CHECKPOINT
    + """
, "norm_first": c.norm_first →
    Norms: layers are post-norm in yours, whatever the config says. Hand it on to them: `norm_first=config.norm_first`.
x = layer(x, src_mask) → x = layer(x)
    Encoder: `src_mask` never reaches its layers, so that padding is attended to.
x = layer(x, src_mask) → x, src_mask = layer(x, src_mask), None
    Encoder: `src_mask` reaches its first layer alone. Each of them gets it.
"""
    + OF_A_STACK.format(x="x", ids="src", side="encoder", given="src_mask")
)
Decoder.edits(
    OF_A_CHECKPOINT
    + """
, "norm_first": c.norm_first →
    Norms: layers are post-norm in yours, whatever the config says. Hand it on to them: `norm_first=config.norm_first`.
"""
    + OF_A_STACK.format(x="y", ids="tgt_in", side="decoder", given="memory, tgt_mask, src_mask")
    + """
y = layer(y, → y = memory = layer(y,
y = layer(y, → memory = layer(y, ; self.norm(y) → self.norm(memory)
    Memory: you write over it in the loop, so the second decoder layer reads the first one's output in its place.
layer(y, memory, → layer(y, self.norm(memory),
    Memory: you norm it. The encoder has finished it; the decoder only reads it.
layer(y, memory, → layer(y,
    Memory: it is missing in the call of a layer, (x, memory, tgt_mask, src_mask), and so each mask moves up by one.
layer(y, memory, → layer(y, y,
    Memory: it is never read. The second argument of every layer is what the encoder has returned.
self.embedding(tgt_in) → memory
    Decoder: it begins with the memory, and never reads `tgt_in`. Its first layer reads the embedding of the target.
layer(y, memory, → layer(y, self.embedding(memory),
    Decoder: its embedding gets the memory, and it wants ids. The memory is vectors already, for the layers alone.
y = layer(y, memory, → memory = layer(memory, y, ; self.norm(y) → self.norm(memory)
layer(y, memory, → layer(memory, y,
    Decoder: the arguments of a layer are exchanged. First comes the target, then the memory.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, tgt_mask)
    Decoder: `src_mask` never reaches its cross-attention, so that padding of the source is attended to.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, None, src_mask)
    Decoder: `tgt_mask` is never used.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory)
    Decoder: neither mask reaches its layers. `tgt_mask` is for their self-attention, `src_mask` for their
    cross-attention.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, src_mask, tgt_mask)
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, tgt_mask, tgt_mask)
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, src_mask)
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, src_mask, src_mask)
    Masks: they reach a decoder layer in the wrong places. Look at both calls: the decoder's own in `forward`, and the
    layer's, (x, memory, tgt_mask, src_mask). `tgt_mask` is for its self-attention, `src_mask` for its cross-attention.
"""
)
Transformer.edits(
    OF_A_SIDE
    + """
ids): → ids, p=0.5): ; math.sqrt(self.embedding_dim) → self.embedding_dim**p ; (src) → (src, 0)
ids): → ids, p=0.5): ; math.sqrt(self.embedding_dim) → self.embedding_dim**p ; (tgt_in) → (tgt_in, 0)
    Embedding: the factor √d_model is missing on one side. Encoder and decoder both multiply by it.
ids): → ids, p=1): ; codes.to(rows) → codes.to(rows) * p ; (src) → (src, 0)
    Positions: the encoder has none. Both sides add them.
ids): → ids, p=1): ; codes.to(rows) → codes.to(rows) * p ; (tgt_in) → (tgt_in, 0)
    Positions: the decoder has none. Both sides add them.
, "norm_first": c.norm_first →
c.norm_first} → c.norm_first and name == "EncoderLayer"}
c.norm_first} → c.norm_first and name == "DecoderLayer"}
    Norms: layers are post-norm in yours, whatever the config says. Hand it on to all of them, in the encoder and in
    the decoder: `norm_first=config.norm_first`.
x = layer(x, src_mask) → x = layer(x)
self.encoder(src, src_mask) → self.encoder(src, tgt_mask)
    Encoder: `src_mask` never reaches its layers, so that padding is attended to.
x = layer(x, → x = self.layers[0](x,
y = layer(y, → y = self.layers[0](y,
    Layers: one of them is run over and over. Each of `layers` has weights of its own.
x = layer(x, → layer(x,
    Layers: in your encoder what a layer returns is lost. Assign it, `x = layer(x, …)`: the next layer reads it.
y = layer(y, → layer(y,
    Layers: in your decoder what a layer returns is lost. Assign it, `y = layer(y, …)`: the next layer reads it.
x = layer(x, → x = layer(self.embedding(src),
    Layers: in your encoder each of them reads the embeddings. It should read what the layer before it has returned.
y = layer(y, → y = layer(self.embedding(tgt_in),
    Layers: in your decoder each of them reads the embeddings. It should read what the layer before it has returned.
x = layer(x, → x = layer(self.embedding(src), ; y = layer(y, → y = layer(self.embedding(tgt_in),
    Layers: on both sides each of them reads the embeddings. It should read what the layer before it has returned.
x = layer(x, src_mask) → return self.norm(layer(x, src_mask))
y = layer(y, memory, tgt_mask, src_mask) → return self.norm(layer(y, memory, tgt_mask, src_mask))
    Layers: you return from within the loop, after its first layer. The `return` stands behind the loop, as far to
    the left as the `for`.
in self.layers → in reversed(self.layers)
    Layers: yours run from the last to the first.
return self.norm(x) → return x
    Norms: in pre-norm the encoder ends in one, `encoder.norm`. Yours is never called.
return self.norm(y) → return y
    Norms: in pre-norm the decoder ends in one, `decoder.norm`. Yours is never called.
x = layer(x, src_mask) → x = self.norm(layer(x, src_mask)) ; self.norm(x) → x
x = layer(x, src_mask) → x = self.norm(layer(x, src_mask))
y = layer(y, memory, tgt_mask, src_mask) → y = self.norm(layer(y, memory, tgt_mask, src_mask)) ; self.norm(y) → y
y = layer(y, memory, tgt_mask, src_mask) → y = self.norm(layer(y, memory, tgt_mask, src_mask))
    Norms: the last norm is called inside the loop, after every layer. It comes once, behind the loop.
self.embedding(src) → self.norm(self.embedding(src)) ; return self.norm(x) → return x
self.embedding(tgt_in) → self.norm(self.embedding(tgt_in)) ; return self.norm(y) → return y
    Norms: the last norm comes first in yours, before the layers. It comes behind them.
y = layer(y, → y = memory = layer(y,
y = layer(y, → memory = layer(y, ; self.norm(y) → self.norm(memory)
    Memory: you write over it in the loop, so the second decoder layer reads the first one's output in its place.
layer(y, memory, → layer(memory, y,
    Decoder: the arguments of a layer are exchanged. First comes the target, then the memory.
self.encoder(src, src_mask) → self.encoder.embedding(src)
    Encoder: you call its embedding alone, so that its layers never run: `self.encoder(src, src_mask)`.
self.decoder(tgt_in, memory → self.decoder(tgt_in, self.encoder.norm(memory)
    Memory: you norm it again. The encoder has finished it; the decoder only reads it.
self.decoder(tgt_in, memory → self.decoder(src, memory
    Decoder: it gets the source's ids. Its embedding reads the target's, `tgt_in`.
layer(y, memory, → layer(y, y,
    Memory: it is never read. The second argument of every decoder layer is what the encoder has returned.
self.decoder(tgt_in, memory → self.decoder(memory, tgt_in
self.decoder(tgt_in, memory → self.decoder(tgt_in, src
    Decoder: ids and vectors are mixed up. Its embedding reads `tgt_in`; its layers read the memory, which is what the
    encoder has returned.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, tgt_mask)
    Decoder: `src_mask` never reaches its cross-attention, so that padding of the source is attended to.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, None, src_mask)
    Decoder: `tgt_mask` is never used.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory)
    Decoder: neither mask reaches its layers. `tgt_mask` is for their self-attention, `src_mask` for their
    cross-attention.
self.encoder(src, src_mask) → self.encoder(src, src_mask := padding_mask(src, 0))
memory, tgt_mask, src_mask) → memory, padding_mask(tgt_in, 0), src_mask)
    Masks: you make one yourself, in the place of the one that is handed over. Use the one that comes in.
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, src_mask, tgt_mask)
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, tgt_mask, tgt_mask)
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, src_mask)
layer(y, memory, tgt_mask, src_mask) → layer(y, memory, src_mask, src_mask)
    Masks: they reach a decoder layer in the wrong places. Look at both calls: the decoder's own in `forward`, and the
    layer's, (x, memory, tgt_mask, src_mask). `tgt_mask` is for its self-attention, `src_mask` for its cross-attention.
self.decoder(tgt_in, → self.decoder(tgt_in[:, :-1],
self.decoder(tgt_in, → self.decoder(tgt_in[:, 1:],
self.decoder(tgt_in, → self.decoder(nn.functional.pad(tgt_in[:, :-1], (1, 0), value=1),
self.decoder(tgt_in, → self.decoder(nn.functional.pad(tgt_in[:, :-1], (1, 0), value=2),
    Target: you shift it inside the model. `tgt_in` is shifted already; every position of it gets its logits.
self.generator(hidden) → self.generator(hidden).softmax(dim=-1)
self.generator(hidden) → self.generator(hidden).log_softmax(dim=-1)
    Generator: there is a softmax in yours. Logits go out; the loss takes the softmax.
self.generator(hidden) → self.generator(self.decoder.embedding.dropout(hidden))
    Dropout: it falls on what the decoder returns as well. The sum of row and code drops, and what is within the layers.
self.generator(hidden) → self.generator(hidden) * math.sqrt(hidden.size(-1))
self.generator(hidden) → self.generator(hidden) / math.sqrt(hidden.size(-1))
    Generator: on the way out there is no √d_model. It belongs to the way in alone.
self.generator(hidden) → hidden
    Generator: it is missing. These are the decoder's vectors; logits are still to be made of them.
self.generator(hidden) → self.generator(hidden[:, -1])
    Generator: you take the last position alone. Every position gets its logits, (batch, target, words).
self.generator(hidden) → self.generator(memory)
    Generator: it reads the memory. It makes logits of what the decoder has returned.
config.tie_weights != "none" → False ; config.tie_weights == "all" → False
    Tying: nothing is tied in yours. Matrices with equal numbers are still two: assign the parameter,
    `self.generator.weight = self.decoder.embedding.weight`. `config.tie_weights` is 'none', 'target' or 'all'.
self.generator.weight = self.decoder.embedding.weight → self.generator = self.decoder.embedding
    Tying: you put the embedding in the generator's place. It looks rows up and does not multiply: what is shared is the
    matrix, `self.generator.weight = self.decoder.embedding.weight`.
config.tie_weights != "none" → False
    Tying: the generator is never tied. Equal numbers do not make one matrix: assign the parameter,
    `self.generator.weight = self.decoder.embedding.weight`.
!= "none" → == "all"
    Tying: 'target', too, makes the generator's matrix the decoder's table, not 'all' alone.
!= "none" → == "target"
    Tying: with 'all' the generator is to be tied as well, as with 'target'; in yours only the two tables are one
    parameter then. (Equal numbers give equal logits: the first update parts them.)
config.tie_weights == "all" → False
    Tying: with `tie_weights='all'` the source's embedding is the same matrix too.
"""
)
