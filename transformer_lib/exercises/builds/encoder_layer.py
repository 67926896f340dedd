"""The encoder layer, whole, and once for one sentence. Lesson 11."""

import torch
from torch import nn

from transformer_lib import layers
from transformer_lib.exercises.checking.classes import TOO_MANY, UNSTEADY, Build, Case, dropping
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.own.mine import mine
from transformer_lib.lab import twins


def square(y):
    """squares every entry."""
    return y * y


def scale(y):
    """divides every row by 1 + the size of its largest entry."""
    return y / (1 + y.abs().amax(dim=-1, keepdim=True))


def _first_twice(y):
    """gives each token twice the first token."""
    return 2 * y[:1].expand_as(y)


def _one_sentence():
    torch.manual_seed(11)
    small = torch.tensor([[1.0, 0.0, 2.0], [3.0, 1.0, 1.0]])
    sentences = small, torch.randn(1, 3), torch.randn(3, 3), torch.randn(4, 2)
    return [(x, _first_twice, square, scale) for x in sentences]


encoder_layer_for_one = Exercise(
    sections=(
        "11 Add & Norm, in two ways",
        "11 Who hears whom?",
    ),
    task="One post-norm encoder layer for one sentence: x (tokens, d_model) to (tokens, d_model). `attend`, "
    "`think` and `norm` are given, functions of one tensor that keep its shape; `norm` serves twice here.",
    cases=_one_sentence,
    hints=(
        "A sublayer only says what is to be added. So what `attend` says of x is added to x, and what "
        "comes out of that is normed: `norm(x + …)`.",
        "The second half has the same form, with `think` in the place of `attend`. It goes on from what came "
        "out of the first half, no longer from the x that came in.",
    ),
    passed="In the build `attend` becomes `lambda y: self.self_attn(y, y, y, mask)`, `think` becomes "
    "`self.feed_forward`, and each half has a norm of its own.",
    gaps=("x + attend(x)", "norm(heard + think(heard))"),
)


@encoder_layer_for_one.solution
def my_encoder_layer_for_one(x, attend, think, norm):
    # The tokens hear each other. What attention says is added to x, and then comes the norm.
    heard = norm(x + attend(x))  # (tokens, d_model)
    # Each token by itself, from there on: again add, then norm.
    return norm(heard + think(heard))  # (tokens, d_model)


@encoder_layer_for_one.solution
def _(x, attend, think, norm):
    for sublayer in (attend, think):
        x = norm(sublayer(x) + x)
    return x


encoder_layer_for_one.edits("""
x + attend(x) → attend(x)
    The first half has no residual in yours: x is added to what `attend` says.
heard + think(heard) → think(heard)
    The second half has no residual in yours: what `think` reads is added to what it says.
x + attend(x) → attend(x) ; heard + think(heard) → think(heard)
    Neither half has a residual in yours: what a sublayer reads is added to what it says.
x + attend(x) → attend(x) + attend(x)
heard + think(heard) → think(heard) + think(heard)
x + attend(x) → attend(x) + attend(x) ; heard + think(heard) → think(heard) + think(heard)
    You put what a sublayer says in the place of what it reads, and then add it to itself. In each half what the
    sublayer reads is added, as it came.
norm(heard + think(heard)) → norm(x + think(attend(x)))
    You add x once, at the end. In each half what the sublayer reads is added to what it says, and the sum is normed.
heard + think(heard) → x + think(heard)
    Your second half adds the layer's x. It adds what came out of the first half, which `think` reads too.
think(heard) → think(x)
    In yours `think` reads the layer's x. It reads what came out of the first half.
think(heard) → think(attend(x))
    In yours `think` reads what `attend` says, bare. It reads what came out of the first half, `norm(x + attend(x))`.
heard + think(heard) → attend(x) + think(heard)
    Your second half adds what `attend` says, bare. It adds what came out of the first half, `norm(x + attend(x))`.
norm(x + attend(x)) → x + attend(x)
    The first half ends without a norm in yours: its sum is normed before the second half goes on from it.
norm(heard + think(heard)) → heard + think(heard)
    The second half ends without a norm in yours: its sum is normed too.
norm(x + attend(x)) → x + attend(x) ; norm(heard + think(heard)) → heard + think(heard)
    Neither half ends in a norm in yours: each of the two sums is normed.
norm(x + attend(x)) → x + attend(x) ; think(heard) → think(norm(heard))
    Your second half adds to the first sum as it was before its norm. `norm(x + attend(x))` is what `think` reads, and
    what is added to its answer.
norm(x + attend(x)) → x + attend(x) ; heard + think(heard) → norm(heard) + think(heard)
    In yours `think` reads the first sum as it was before its norm. It reads `norm(x + attend(x))`.
norm(x + attend(x)) → x + attend(x) ; norm(heard + think(heard)) → heard + think(norm(heard))
    Your norm stands before `think` alone. It belongs behind both sums.
norm(x + attend(x)) → x + attend(norm(x))
    Your first half is pre-norm: `attend` reads the norm of x, and nothing norms the sum.
norm(heard + think(heard)) → heard + think(norm(heard))
    Your second half is pre-norm: `think` reads a norm once more, and nothing norms the sum.
norm(x + attend(x)) → x + attend(norm(x)) ; think(heard) → think(norm(heard))
    That is pre-norm with one norm more at the end. Asked is post-norm: a sublayer reads what is there as it is, and
    each of the two sums is normed.
attend(x) → attend(norm(x))
    You norm x for `attend` as well. It reads x as it is; the norm comes behind the sum.
think(heard) → think(norm(heard))
    You norm once more for `think`. It reads what came out of the first half as it is.
norm(x + → x + norm( ; norm(heard + → heard + norm(
norm(x + → x + norm(
norm(heard + → heard + norm(
    You norm what a sublayer says. The norm is of the sum.
norm(x + → (norm(x) + ; norm(heard + → (norm(heard) +
norm(x + → (norm(x) +
norm(heard + → (norm(heard) +
    You norm x and then add. First add, then norm the sum.
norm(x + attend(x)) → x + attend(norm(x)) ; norm(heard + think(heard)) → heard + think(norm(heard))
    That is pre-norm, a right layer, but not the one that is asked for: here the norm comes last.
attend(x) → think(x) ; think(heard) → attend(heard)
    `think` comes first in yours. Attention does: the tokens hear each other, then each thinks by itself.
heard + think(heard) → x + think(x)
    What `attend` says never reaches the result. The second half goes on from what came out of the first.
norm(heard + think(heard)) → norm(x + attend(x) + think(x))
    Both sublayers read the x that came in. The second goes on from what came out of the first half.
return norm(heard + think(heard)) → return heard
    `think` is missing: that is the first half.
attend(x) → attend
think(heard) → think
norm(x + attend(x)) → norm(attend + think)
    `attend` and `think` are functions, and a function cannot be added: call it, `attend(x)`.
norm(x + attend(x)) → x + norm(attend)(x)
    You norm a sublayer, and it is a function. It is called, and the sum is normed: `norm(x + attend(x))`.
norm(x + attend(x)) → norm(x, attend(x)) ; norm(heard + think → norm(heard, think
    `norm` takes one tensor, the sum: `norm(x + …)`.
norm(x + attend(x)) → norm(x.add_(attend(x)))
    The caller's x has changed: `+=` writes into it. `x = x + …` makes a new tensor.
""")


def _cases():
    torch.manual_seed(11)
    small = torch.tensor([[[1.0, 0.0, 2.0, -1.0], [3.0, 0.0, 1.0, 1.0]]])
    first = torch.tensor([[[[True, False]]]])  # the second token is padding
    square, x, y = torch.randn(3, 3, 6), torch.randn(2, 5, 12), torch.randn(3, 4, 10)
    lengths = (torch.arange(3) < torch.tensor([3, 1, 2])[:, None])[:, None, None, :]
    padding = (torch.arange(5) < torch.tensor([3, 5])[:, None])[:, None, None, :]
    blind = torch.ones(3, 1, 4, 4, dtype=torch.bool)
    blind[1, 0, 2] = False
    post, pre = ({"dropout": 0.0, "norm_first": first} for first in (False, True))
    half, tiny, even, wide, narrow = {"dropout": 0.5}, (4, 2, 3), (6, 3, 6), (12, 3, 17), (10, 2, 7)
    return [
        Case("post-norm", tiny, post, (small,)),
        Case("with a padding mask", tiny, post, (small, first)),
        Case("pre-norm", tiny, pre, (small,)),
        Case("post-norm, with a padding mask, all sizes equal", even, post, (square, lengths)),
        Case("pre-norm, with a padding mask, all sizes equal", even, pre, (square, lengths)),
        Case("post-norm, in another size", wide, post, (x, padding)),
        Case("with a row that may attend to nothing", narrow, pre, (y, blind)),
        Case("in train() without dropout", narrow, pre, (y,), training=True),
        Case("in eval() with dropout=0.5", narrow, half, (y,)),
        Case("in train() with dropout=0.5", narrow, half, (y,), training=True, random=True),
        Case("in train() with dropout=1", tiny, {"dropout": 1.0}, (small,), training=True),
    ]


def _twin(model, x, mask=None):
    if model.training and model.add_norm1.dropout.p:
        return None  # the twin has no dropout
    if mask is None:
        return twins.encoder_layer(model).train()(x)
    if not mask.any(dim=-1).all():
        return None  # torch gives NaN
    return twins.encoder_layer(model).train()(x, src_key_padding_mask=~mask[:, 0, 0])


_SUBLAYERS = ("self_attn", "cross_attn", "feed_forward")


def drops_sums_alone(kind):
    """A layer of the library without the dropout in its network, as it is asked for."""

    class Layer(kind):
        def __init__(self, *sizes, **options):
            super().__init__(*sizes, **options)
            self.feed_forward.dropout = nn.Identity()

    return Layer


def drops_twice(model):
    """What is said where an answer is dropped twice: at a rate of 0.5 half should stay."""
    twice = []
    for part in ("self_attn.out_proj", "cross_attn.out_proj", "feed_forward.down_proj"):
        if not hasattr(model, part.split(".")[0]):
            continue
        for norm_first in (False, True):
            layer = type(model)(64, 1, 1, dropout=0.5, norm_first=norm_first).train()
            for name, weights in layer.named_parameters():  # that part says 1, the others 0
                weights.data.fill_(float(name == f"{part}.bias" or name.endswith("norm.weight")))
            out = layer(*_given(layer, torch.zeros(50, 2, 64)))
            kept, name = (out > 0.01).float().mean(), part.split(".")[0]
            if kept < 0.4 and name not in twice:
                twice.append(name)
    if not twice:
        return None
    return (
        f"Dropout: it falls twice on what comes from {' and from '.join(f'`{name}`' for name in twice)}, so that too "
        "much is lost. Add & Norm drops already: no dropout of your own around or in a sublayer."
    )


def newborn(model):
    """Where an answer drops twice or in a sublayer, or another part where no rate is given."""
    return drops_twice(model) or _drops_within(model) or _usual_rate(model)


def _given(layer, x):
    """What a layer is called with: x, and x as its memory, where it attends to one."""
    return (x, x) if hasattr(layer, "cross_attn") else (x,)


def _drops_within(model):
    layer = type(model)(64, 1, 64, dropout=0.5).train()
    names = dropping(layer, *_given(layer, torch.randn(5, 4, 64)))
    name = next((name for name in names if name.startswith(_SUBLAYERS)), "")
    return TOO_MANY.format(name) if name else None


def _usual_rate(model):
    try:
        layer = type(model)(64, 1, 1, norm_first=True).train()
    except TypeError:  # it wants to be told; that is said where it is made so
        return None
    for name, weights in layer.named_parameters():  # the network says 1, all else 0
        weights.data.fill_(float(name == "feed_forward.down_proj.bias"))
    out = layer(*_given(layer, torch.zeros(50, 2, 64)))
    dropped = (out == 0).float().mean()
    if abs(dropped - 0.1) < 0.03:
        return None
    return "Dropout: the rate is to be 0.1 where nothing is said, `dropout=0.1`. Yours drops another part."


EncoderLayer = Build(
    sections=(
        "11 Add & Norm, in two ways",
        "11 Who hears whom?",
    ),
    task="An encoder layer: self-attention, then the feed-forward network, each with a residual, dropout "
    "on what it adds, and a layer norm: after the sum (post-norm), or before the sublayer (`norm_first`). "
    "Made with `dropout=0.1` and `norm_first=False` where nothing else is said; x (batch, tokens, d_model), "
    "`mask` broadcasts to (batch, heads, tokens, tokens), True = may attend. The parts are called "
    "`self_attn`, `add_norm1`, `feed_forward` (with `up_proj`, ReLU, `down_proj`), `add_norm2` (each with a "
    "`norm`).",
    cases=_cases,
    hints=(
        "Three small classes, because the two halves of the layer have one form. Add & Norm is given x and "
        "a function, the sublayer, and calls it itself: in pre-norm the norm has to come before it, so a "
        "result would come too late.",
        "Post-norm is `norm(x + dropout(sublayer(x)))`, pre-norm is `x + dropout(sublayer(norm(x)))`. "
        "Dropout falls on what is added in both, never on x itself.",
        "Attention wants query, key, value and mask, but Add & Norm calls a function of one argument. "
        "`lambda y: self.self_attn(y, y, y, mask)` is such a function: y is what Add & Norm hands to it. "
        "`self.feed_forward` is one already.",
    ),
    passed="It is the library's and `nn.TransformerEncoderLayer`, post-norm and pre-norm. On which line "
    "does a token hear of another?",
    without=("EncoderLayer", "EncoderBlock"),
    gaps=(
        "self.up_proj(x).relu()",
        "self.down_proj(hidden)",
        "x + self.dropout(sublayer(self.norm(x)))",
        "x + self.dropout(sublayer(x))",
        "self.self_attn(y, y, y, mask)",
        "self.add_norm2(heard, self.feed_forward)",
    ),
    reference=drops_sums_alone(layers.EncoderLayer),
    twin=_twin,
    newborn=newborn,
)


class MyFeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂ at every position alike."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_ff)
        self.down_proj = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.up_proj(x).relu()  # (batch, tokens, d_ff)
        return self.down_proj(hidden)  # (batch, tokens, d_model)


class MyAddNorm(nn.Module):
    """x and what a sublayer makes of it; the norm after the sum, or before the sublayer."""

    def __init__(self, d_model, *, dropout, norm_first):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            # Pre-norm: only the sublayer reads the norm. x itself goes past it.
            return x + self.dropout(sublayer(self.norm(x)))  # (batch, tokens, d_model)
        # Post-norm: the norm comes last, of the sum.
        return self.norm(x + self.dropout(sublayer(x)))  # (batch, tokens, d_model)


@EncoderLayer.solution
class MyEncoderLayer(nn.Module):
    """Every token hears the others, then thinks by itself."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = mine("MultiHeadAttention")(d_model, num_heads)
        self.add_norm1 = MyAddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = MyFeedForward(d_model, d_ff)
        self.add_norm2 = MyAddNorm(d_model, dropout=dropout, norm_first=norm_first)

    def forward(self, x, mask=None):
        # Everything here is (batch, tokens, d_model). add_norm1 hands y to the function: x in
        # post-norm, the norm of x in pre-norm.
        heard = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
        # The second half goes on from there. The network is a function of one argument already.
        return self.add_norm2(heard, self.feed_forward)


EncoderLayer.needs = (MyFeedForward, MyAddNorm)


@EncoderLayer.solution
class _InTwoOrders(MyEncoderLayer):
    def forward(self, x, mask=None):
        norm1, norm2, drop = self.add_norm1.norm, self.add_norm2.norm, self.add_norm1.dropout
        if self.add_norm1.norm_first:
            y = norm1(x)
            x = x + drop(self.self_attn(y, y, y, mask))
            return x + drop(self.feed_forward(norm2(x)))
        x = norm1(x + drop(self.self_attn(x, x, x, mask)))
        return norm2(x + drop(self.feed_forward(x)))


class Alone(layers.AddNorm):
    """An Add & Norm without the addition, for mistakes."""

    def forward(self, x, sublayer):
        if self.norm_first:
            return self.dropout(sublayer(self.norm(x)))
        return self.norm(self.dropout(sublayer(x)))


class AloneInPost(layers.AddNorm):
    """An Add & Norm that forgets the addition in post-norm, for mistakes."""

    def forward(self, x, sublayer):
        if self.norm_first:
            return super().forward(x, sublayer)
        return self.norm(self.dropout(sublayer(x)))


class BareInPost(layers.AddNorm):
    """As AloneInPost, without its dropout, for mistakes."""

    def forward(self, x, sublayer):
        return super().forward(x, sublayer) if self.norm_first else self.norm(sublayer(x))


class AloneInPre(layers.AddNorm):
    """An Add & Norm that forgets the addition in pre-norm, for mistakes."""

    def forward(self, x, sublayer):
        if self.norm_first:
            return self.dropout(sublayer(self.norm(x)))
        return super().forward(x, sublayer)


def in_post(make):
    """Makes an Add & Norm that is never told `norm_first`, for mistakes."""
    return lambda d_model, *, dropout, norm_first: make(d_model, dropout=dropout, norm_first=False)


def read(around, x):
    """What the sublayer in an Add & Norm reads of x, for mistakes."""
    return around.norm(x) if around.norm_first else x


RESULT = (
    "An Add & Norm is given a result in the place of a function. It calls the sublayer itself, on x or on "
    "the norm of x: give it a function, `lambda y: self.self_attn(y, y, y, mask)`."
)
FIRST = "Order: your feed-forward network comes first. Attention does, with `add_norm1`."
NO_Y = "An Add & Norm hands its sublayer a tensor, and your `lambda` takes none: `lambda y: …`, with y inside."
FORGETS_RATE = "Dropout: there is none in yours, or not in every sublayer. It falls on what each of them adds to x."

EncoderLayer.edits(f"""
(y, y, y, mask) → (y, y, y)
    Attention: in yours the mask never reaches it. Hand it on, `self.self_attn(y, y, y, mask)`.
(y, y, y, mask) → (y, y, y, mask, is_causal=True)
(y, y, y, mask) → (y, y, y, is_causal=True)
    Attention: yours is causal. In an encoder every token may attend to every other.
(y, y, y, mask) → (y, y, y, None if mask is None else ~mask)
    Attention: you hand over `~mask`, as torch's layers want it: there True means may not attend. Here True means
    may attend: hand the mask over as it is.
(y, y, y, mask) → (y, y, y, None if mask is None else mask[:, None, None])
    Mask: it broadcasts to (batch, heads, tokens, tokens) as it is. Hand it on unchanged.
(y, y, y, mask) → (y, y, y, mask)[0]
    Attention gives the output alone, no tuple: with `[0]` you take the first sentence for all of them.
x + self.dropout( → self.dropout(
    Residual: x is not added to what the sublayers make of it.
self.add_norm2 = MyAddNorm → self.add_norm2 = Alone
return self.add_norm2(heard, self.feed_forward) → return self.add_norm2.norm(self.feed_forward(heard))
self.add_norm2(heard, self.feed_forward) → self.add_norm2.norm(self.add_norm2.dropout(self.feed_forward(heard)))
return self.add_norm2(heard, self.feed_forward) → return self.feed_forward(self.add_norm2.norm(heard))
    Residual: there is none around the feed-forward network. What it says is added to what it reads, as
    with the attention.
return self.add_norm2(heard, self.feed_forward) → return self.feed_forward(heard)
    Add & Norm: there is none around the feed-forward network, neither residual nor norm. `add_norm2` calls the network
    itself: `self.add_norm2(x, self.feed_forward)`.
self.add_norm1 = MyAddNorm → self.add_norm1 = Alone
    Residual: there is none around the attention. What it says is added to x, as with the network.
self.add_norm2 = MyAddNorm → self.add_norm2 = AloneInPost
self.add_norm2 = MyAddNorm → self.add_norm2 = BareInPost
    Post-norm: there is no residual around the feed-forward network. The norm is of what it reads plus what it says.
self.add_norm1 = MyAddNorm → self.add_norm1 = AloneInPost
    Post-norm: there is no residual around the attention. The norm is of x plus what the attention says.
self.add_norm2 = MyAddNorm → self.add_norm2 = AloneInPre
    Pre-norm: there is no residual around the feed-forward network. What it says is added to what came out of the
    first half.
self.add_norm1 = MyAddNorm → self.add_norm1 = AloneInPre
    Pre-norm: there is no residual around the attention. What it says is added to x.
(heard, self.feed_forward) → (x, lambda y: self.feed_forward(read(self.add_norm2, heard)))
(heard, self.feed_forward) → (x, lambda y: self.feed_forward(heard))
    Residual: both sublayers add the x that came into the layer. The second adds what comes out of the
    first.
(heard, self.feed_forward) → (heard, lambda y: self.feed_forward(x))
(heard, self.feed_forward) → (heard, lambda y: self.feed_forward(read(self.add_norm2, x)))
    Feed-forward: it reads the x that came into the layer. It goes on from what comes out of the first
    half.
self.norm(x + self.dropout(sublayer(x))) → self.norm(2 * self.dropout(sublayer(x)))
    Post-norm: you put what the sublayer says in the place of x, and then add it to itself. x as it came is what is
    added.
x + self.dropout(sublayer(self.norm(x))) → 2 * self.dropout(sublayer(self.norm(x)))
    Pre-norm: you put what the sublayer says in the place of x, and then add it to itself. x as it came is what is
    added.
x + self.dropout( → 2 * self.dropout(
    In both orders you put what the sublayer says in the place of x, and then add it to itself. x as it came is what is
    added.
return x + → return self.norm(x) +
    Pre-norm: what you carry past the sublayer is the norm of x. Carry x as it came; only the sublayer reads its norm.
if self.norm_first → if False
    `norm_first` changes nothing in yours: it is post-norm always.
if self.norm_first → if True
    `norm_first` changes nothing in yours: it is pre-norm always.
self.add_norm1 = MyAddNorm( → self.add_norm1 = in_post(MyAddNorm)(
    `add_norm1` is post-norm always in yours: `norm_first` is to be handed on to it too.
self.add_norm2 = MyAddNorm( → self.add_norm2 = in_post(MyAddNorm)(
    `add_norm2` is post-norm always in yours: `norm_first` is to be handed on to it too.
dropout=0.1, norm_first=False → dropout=0.1, norm_first=True
    `norm_first` is True in yours where nothing is said. Post-norm is to be the default: `norm_first=False`.
if self.norm_first → if not self.norm_first
    `norm_first` is the wrong way round: when it is True, the norm comes before the sublayer.
self.norm(x + self.dropout(sublayer(x))) → self.norm(x) + self.dropout(sublayer(x))
    Post-norm: you add what the sublayer says to the normed x. First the sum, then the norm:
    `norm(x + …)`, not `norm(x) + …`.
self.norm(x + self.dropout(sublayer(x))) → x + self.norm(self.dropout(sublayer(x)))
self.norm(x + self.dropout(sublayer(x))) → x + self.dropout(self.norm(sublayer(x)))
    Post-norm: you norm what the sublayer says, and add it then. The norm is of the sum.
self.norm(x + self.dropout(sublayer(x))) → self.norm(x + self.dropout(sublayer(self.norm(x))))
    Post-norm: the sublayer reads the norm of x. It reads x as it is; the norm comes once, at the end.
self.norm(x + self.dropout(sublayer(x))) → x + self.dropout(sublayer(x))
    Post-norm: there is no norm. It comes last, of the sum.
sublayer(self.norm(x)) → sublayer(x)
sublayer(self.norm(x)) → sublayer(x) ; return x + → return self.norm(x) +
    Pre-norm: both sublayers read x itself. Each has to read the norm of x, `sublayer(norm(x))`: neither a result that
    is handed over nor a `lambda y: …` with x in it does.
(y, y, y, mask) → (x, x, x, mask)
    Pre-norm: the attention reads x itself. It has to read y, which `add_norm1` hands to it: the norm of x in pre-norm.
(heard, self.feed_forward) → (heard, lambda y: self.feed_forward(heard))
    Pre-norm: the feed-forward network reads x itself. It has to read y, which `add_norm2` hands to it: the norm of x in
    pre-norm. `self.add_norm2(x, self.feed_forward)`.
(y, y, y, mask) → (y, x, x, mask)
    Pre-norm: only your queries are normed; keys and values come from x itself. All three come from y, which is what
    `add_norm1` hands to the sublayer.
sublayer(self.norm(x)) → self.norm(sublayer(x))
    Pre-norm: you norm what the sublayer says. It has to read the norm, `sublayer(norm(x))`, so Add & Norm
    needs the sublayer as a function: a result comes too late.
return x + self.dropout(sublayer(self.norm(x))) → return self.norm(x + self.dropout(sublayer(self.norm(x))))
    Pre-norm: you norm twice. Nothing follows the sum.
sublayer(self.norm(x)) → sublayer(x) ; self.norm(x + self.dropout(sublayer(x))) → x + self.dropout(sublayer(x))
    Norm: there is none in yours, neither before the sublayers nor after the sums.
return self.add_norm2(heard, self.feed_forward) → return self.add_norm2.norm(self.add_norm2(heard, self.feed_forward))
    Norm: there is one more at the end of your layer. In pre-norm nothing follows the last sum, and in post-norm the
    norm of Add & Norm is the last.
self.norm(x + self.dropout(sublayer(x))) → nn.LayerNorm(x.size(-1))(x + self.dropout(sublayer(x)))
    Post-norm: the norm is made anew in every call, without what it has learned. Call `self.norm`.
sublayer(self.norm(x)) → sublayer(nn.LayerNorm(x.size(-1))(x))
    Pre-norm: the norm is made anew in every call, without what it has learned. Call `self.norm`.
nn.LayerNorm(d_model) → nn.LayerNorm(d_model, 1e-3)
nn.LayerNorm(d_model) → nn.LayerNorm(d_model, 1e-6)
nn.LayerNorm(d_model) → nn.LayerNorm(d_model, 1e-12)
    Norm: its eps is another one. `nn.LayerNorm(d_model)` has 1e-5, and so has the check.
self.add_norm2(heard → self.add_norm1(heard
self.add_norm1(x → self.add_norm2(x
    Norm: one serves both sublayers in yours. Each has its own gamma and beta.
lambda y: self.self_attn(y, y, y, mask) → self.self_attn(x, x, x, mask)
(heard, self.feed_forward) → (heard, self.feed_forward(heard))
    {RESULT}
lambda y: self.self_attn(y, y, y, mask) → self.self_attn
    `add_norm1` calls its sublayer with one tensor, and attention wants query, key, value and mask. Put a
    function of one argument around it: `lambda y: self.self_attn(y, y, y, mask)`.
lambda y: → lambda:
    {NO_Y}
self.add_norm2(heard → self.add_norm2(x
    Attention: what `add_norm1` gives never reaches the second half. Keep it, `x = self.add_norm1(…)`, and
    go on from there.
self.self_attn(y, y, y, mask) → self.feed_forward(y) ; self.feed_forward) → lambda y: self.self_attn(y, y, y, mask))
    {FIRST}
.relu() →
    Feed-forward: the ReLU between `up_proj` and `down_proj` is missing.
self.up_proj(x).relu() → nn.functional.gelu(self.up_proj(x))
self.up_proj(x).relu() → nn.functional.silu(self.up_proj(x))
self.up_proj(x).relu() → nn.functional.leaky_relu(self.up_proj(x))
self.up_proj(x).relu() → self.up_proj(x).sigmoid()
self.up_proj(x).relu() → self.up_proj(x).tanh()
    Feed-forward: that is another curve. The paper's layer, and this one, has a ReLU.
self.down_proj(hidden) → self.down_proj(hidden).relu()
    Feed-forward: there is a ReLU behind `down_proj` as well. What the network says may be negative.
self.down_proj(hidden) → x + self.down_proj(hidden)
    Feed-forward: it adds x, and `add_norm2` adds it again. The residual is the work of Add & Norm.
self.add_norm2(heard, self.feed_forward) → heard
(heard, self.feed_forward) → (heard, torch.zeros_like)
    Feed-forward: it is missing. After the attention every token still thinks by itself.
self.dropout = nn.Dropout(dropout) → self.dropout = lambda y: nn.functional.dropout(y, dropout)
    {UNSTEADY[False]}
nn.Dropout(dropout) → nn.Dropout(0.1)
nn.Dropout(dropout) → nn.Dropout()
    {UNSTEADY[True]}
nn.Dropout(dropout) → nn.Identity()
self.add_norm1 = MyAddNorm(d_model, dropout=dropout → self.add_norm1 = MyAddNorm(d_model, dropout=0.0
self.add_norm2 = MyAddNorm(d_model, dropout=dropout → self.add_norm2 = MyAddNorm(d_model, dropout=0.0
    {FORGETS_RATE}
x + self.dropout( → self.dropout(x +
    Dropout: it falls on the sum in yours, and so on the residual. It is meant for what the sublayer adds.
self.norm(x + self.dropout(sublayer(x))) → self.dropout(self.norm(x + sublayer(x)))
    Dropout: it falls on the output in post-norm, behind the norm. It is meant for what the sublayer adds.
self.dropout(sublayer( → sublayer(self.dropout(
    Dropout: it falls on what the sublayer reads. It is meant for what the sublayer adds.
""")


@EncoderLayer.mistake(FIRST)
class _(layers.EncoderLayer):
    def forward(self, x, mask=None):
        x = self.add_norm2(x, self.feed_forward)
        return self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
