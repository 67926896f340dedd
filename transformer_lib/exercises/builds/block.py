"""The block of today's models, whole, and once for one sentence. Lesson 18."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import gpt
from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.model import Written
from transformer_lib.exercises.own.mine import mine
from transformer_lib.positions import RelativePositions, RotaryHalves, RotaryPositions


def _one_sentence():
    torch.manual_seed(17)
    paper = (
        torch.tensor([[1.0, 7.0], [5.0, -5.0]]),
        Written("(y): y + the number of the row", lambda y: y + torch.arange(len(y))[:, None]),
        Written("(query, key, value): query + 2·key + 4·value", lambda q, k, v: q + 2 * k + 4 * v),
        Written("(y): y², entry by entry", torch.square),
    )

    def drawn(tokens, d_model):
        up, down = torch.randn(5, d_model), torch.randn(d_model, 5)
        return (
            torch.randn(tokens, d_model) + 1,
            Written("rotary positions", lambda y: RotaryPositions(d_model, 9).turn(y)),
            Written("causal attention of query, key, value", _causal),
            Written("a network", lambda y: F.relu(y @ up.T) @ down.T),
        )

    return [paper, drawn(4, 4), drawn(3, 6), drawn(1, 2)]


def _causal(query, key, value):
    return F.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=True)[0]


block_for_one = Exercise(
    sections=(
        "18 A norm with less in it",
        "18 Today's block, whole",
    ),
    task="The wires of the block for one sentence, x (tokens, d_model) to (tokens, d_model). `turn` of (y) turns each "
    "row by its position, `attend` is a function of (query, key, value), `think` one of (y). In front of each of the "
    "two stands an RMSNorm without weights, to be written by hand: a row divided by the root of the mean of its "
    "squares. Around each there is a residual. Query and key are turned, the value is not.",
    cases=_one_sentence,
    hints=(
        "RMSNorm makes rows equally long and leaves their direction. Square the entries, take the mean of each row, "
        "and of that the root. `keepdim=True` keeps an axis of length 1, (tokens, 1), so that each row is divided by "
        "its own number.",
        "Pre-norm means that the stream itself is never normed: a sublayer reads norm(x), and what it returns is "
        "added to x as it was. The second sublayer does the same with the sum.",
        "Without projections query, key and value are all the normed x. The query and the key go through `turn` "
        "first; the value is what a token contributes, and that should not depend on where it stands.",
    ),
    passed='In the block both are your own parts: `mine("GroupedAttention")`, which projects, splits and turns by '
    'itself, and `mine("SwiGLU")`.',
    without=("rms_norm", "RMSNorm"),
    gaps=(
        "x.square().mean(dim=-1, keepdim=True)",
        "mean_square.sqrt()",
        "attend(turn(y), turn(y), y)",
        "think(norm(h))",
    ),
)


@block_for_one.solution
def my_block_for_one(x, turn, attend, think):
    def norm(x):
        # One number for each row; keepdim leaves it an axis of length 1.
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (tokens, 1)
        return x / mean_square.sqrt()  # (tokens, d_model)

    # The norm is for what the sublayer reads. What comes out is added to x itself.
    y = norm(x)  # (tokens, d_model)
    # Positions are for the scores: query and key are turned, the value is not.
    h = x + attend(turn(y), turn(y), y)  # (tokens, d_model)
    # The same once more, with the sum.
    return h + think(norm(h))  # (tokens, d_model)


@block_for_one.solution
def _(x, turn, attend, think):
    def sublayer(x, function):
        return x + function(F.normalize(x, dim=-1) * x.size(-1) ** 0.5)

    x = sublayer(x, lambda y: attend(turn(y), turn(y), y))
    return sublayer(x, think)


block_for_one.edits("""
turn(y), turn(y), y → y, y, y
    You turn nothing: query and key should each go through `turn`.
turn(y), turn(y), y → turn(y), turn(y), turn(y)
    You turn the value too. What a token contributes should not depend on where it stands.
turn(y), turn(y), y → turn(y), y, y
turn(y), turn(y), y → y, turn(y), y
    You turn only one of query and key. Their product knows the distance if both are.
turn(y), turn(y), y → y, turn(y), turn(y)
turn(y), turn(y), y → turn(y), y, turn(y)
    You turn the value, and only one of query and key. The order is query, key, value: turn the first two, and leave
    the last one.
y = norm(x) → x = turn(x) ⏎ y = norm(x) ; turn(y), turn(y), y → y, y, y
    You turn x itself, so that the value and the residual are turned too. Turn what attention gets as query and key.
y = norm(x) → y = norm(turn(x)) ; turn(y), turn(y), y → y, y, y
    You turn x in front of the norm, and so the value too. Norm first, then turn query and key.
turn(y), turn(y), y → turn(x), turn(x), x
turn(y), turn(y), y → turn(y), turn(x), x
turn(y), turn(y), y → turn(y), turn(y), x
turn(y), turn(y), y → turn(x), turn(x), y
turn(y), turn(y), y → turn(x), turn(y), y
turn(y), turn(y), y → turn(y), turn(x), y
    In yours attention reads x itself. Query, key and value are all to be made from norm(x).
turn(y), turn(y), y → norm(turn(x)), norm(turn(x)), y
    You turn before you norm. Norm first, then turn query and key.
turn(y), turn(y), y → turn(y)
attend(turn(y), turn(y), y) → attend((turn(y), turn(y), y))
turn(y), turn(y), y → y
    `attend` takes three things, query, key and value: `attend(turn(y), turn(y), y)`.
attend(turn(y), turn(y), y) → turn(attend(y, y, y))
    You turn what attention returns. Query and key are turned, before they meet.
think(norm(h)) → think(turn(norm(h)))
    You turn what `think` reads. It works on each token by itself; query and key alone are turned.
y = norm(x) → y = x ; x + attend( → norm(x + attend( ; turn(y), y) → turn(y), y)) ; h + think(norm( → norm(h + think(
    Your norms come behind the sums: that is post-norm. Here they stand in front, on what a sublayer reads.
think(norm(h)) → think(h)
    In yours the norm in front of `think` is missing.
think(norm(h)) → think(y)
think(norm(h)) → think(norm(x))
    Your `think` reads the old x. It should read the norm of the sum, with what attention has added.
h = x + → h = y + ; return h + → return norm(h) +
    You add to the normed stream, both times. The norm is for what a sublayer reads; what it returns is added to the
    stream as it was.
h = x + → h = y +
    You add what attention returns to norm(x). The norm is for what attention reads; what it returns is added to x
    itself.
return h + → return norm(h) +
    You add what `think` returns to the normed sum. The norm is for what `think` reads; what it returns is added to the
    sum as it was.
h = x + → h = ; return h + → return
    In yours both residuals are missing: what attention returns is to be added to x, what `think` returns to the sum.
h = x + → h =
    In yours the residual around attention is missing: what it returns is to be added to x.
return h + → return
    In yours the residual around `think` is missing: what it returns is to be added to the sum.
return h + → return x +
    You add the old x at the end, so what attention has added is lost.
return h + → return x + h +
    You add x once more at the end. It is in the sum already.
h = x + → h = x * ; return h + → return h *
h = x + → h = x *
return h + → return h *
    You multiply by what a sublayer returns. It is added: where it is 0, x goes on as it was.
think(norm(h)) → think(norm(h - x))
think(norm(h)) → think(h - x)
    Your `think` reads what attention says, bare. It should read the norm of the sum, with the x that went past.
return h + think(norm(h)) → return norm(h + think(norm(h)))
    There is a norm more at the end of yours. Nothing follows the last sum.
return h + think(norm(h)) → return h
    In yours `think` is missing: it is the second sublayer.
x + attend(turn(y), turn(y), y) → x
    In yours attention is missing: it is the first sublayer.
attend(turn(y), turn(y), y) → think(y) ; think(norm(h)) → attend(turn(norm(h)), turn(norm(h)), norm(h))
    Your `think` comes first. Attention should be the first sublayer.
y = norm(x) → y = x ; think(norm(h)) → think(h)
    You norm nothing. In front of each of the two stands an RMSNorm.
y = norm(x) → y = x ; attend(turn(y), turn(y), y) → norm(attend(turn(y), turn(y), y)) ; think(norm(h)) → norm(think(h))
    Your norms come behind the sublayers. They stand in front, on what a sublayer reads.
.mean(dim=-1, keepdim=True) → .sum(dim=-1, keepdim=True)
    You divide by the root of the sum of the squares. It is the root of their mean.
x / mean_square.sqrt() → x * mean_square.sqrt()
    You multiply by the root. A row is divided by it, so that all rows become equally long.
x.square().mean(dim=-1, keepdim=True) → x.mean(dim=-1, keepdim=True)
x.square().mean(dim=-1, keepdim=True) → x.mean(dim=-1, keepdim=True).square()
    You take the mean of the entries, in which their signs cancel. Square the entries first, then take the mean.
x.square().mean(dim=-1, keepdim=True) → x.abs().mean(dim=-1, keepdim=True).square()
    You divide by the mean size of the entries. It is the root of the mean of their squares.
x / mean_square.sqrt() → x / x.std(dim=-1, keepdim=True)
x / mean_square.sqrt() → x / x.std(dim=-1, keepdim=True, correction=0)
    You divide by the standard deviation, which takes the mean off first. RMSNorm takes the squares of the entries as
    they are.
x.square().mean(dim=-1, keepdim=True) → x.square().mean()
    Your norm divides all rows by one number. Each row has its own: the last axis, `dim=-1, keepdim=True`.
mean_square.sqrt() → mean_square
    In yours the root is missing: a row is to be divided by the root of the mean of its squares.
dim=-1 → dim=0
    Your norm goes over the tokens. Each row has its own: the last axis, `dim=-1`.
dim=-1, keepdim=True → dim=-1
    Your one number for each row, (tokens,), meets the columns. `keepdim=True` keeps it a column, (tokens, 1).
mean_square = → x = x - x.mean(dim=-1, keepdim=True) ⏎ mean_square =
x / mean_square.sqrt() → F.layer_norm(x, x.shape[-1:])
x / mean_square.sqrt() → (x - x.mean(dim=-1, keepdim=True)) / mean_square.sqrt()
x / mean_square.sqrt() → (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True)
    Yours is a layer norm: it takes the mean off first. RMSNorm only divides.
""")


def _cases():
    torch.manual_seed(18)
    paper = torch.tensor([[[1.0, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 2]]])
    norms = {"qk_norm": True}
    uses = [
        ("with two heads that share keys", (4, 2, 1, 3, RotaryPositions(2, 9)), {}, paper),
        (
            "with as many heads of keys as of queries, and as many tokens and sentences",
            (8, 2, 2, 8, RotaryHalves(4, 9)),
            {},
            torch.randn(2, 2, 8),
        ),
        (
            "with two heads of keys for six of queries",
            (12, 6, 2, 5, RotaryPositions(2, 9)),
            {},
            torch.randn(2, 3, 12),
        ),
        (
            "with positions that turn nothing",
            (6, 2, 1, 4, RelativePositions()),
            {},
            torch.randn(1, 4, 6),
        ),
        (
            "with norms on queries and keys",
            (8, 2, 1, 6, RotaryPositions(4, 9, base=100.0)),
            norms,
            torch.randn(1, 3, 8),
        ),
    ]
    cases = [Case(about, sizes, options, (x,)) for about, sizes, options, x in uses]
    last = (12, 3, 1, 7, RotaryHalves(4, 9)), norms, (torch.randn(2, 5, 12),)
    return [*cases, Case("in train(), with norms on queries and keys", *last, training=True)]


_MADE = (
    "Attention: it is made as `(d_model, num_heads, num_kv_heads, positions, qk_norm=qk_norm)`, with `qk_norm` by its "
    "name. The heads of queries come first; those of keys and values are never more. `d_ff` is the network's."
)
_NETWORK = "Feed-forward: the network is made as `(d_model, d_ff)`."
_HAND_ON = (
    "Attention: `qk_norm` does not reach it in yours. It is handed on by its name where the attention is made, "
    "`qk_norm=qk_norm`."
)
_UNASKED = (
    "Attention: it norms queries and keys in yours although that is not asked for. Hand on what the block is told, "
    "`qk_norm=qk_norm`."
)
_ALONE = (
    "Attention: it is called with x alone, `self.attention(…)`. It makes queries, keys and values of it, and it is "
    "causal and turns by itself."
)
_TURNED = (
    "Positions: you turn in the block. The attention turns its queries and keys by itself; the block only hands "
    "`positions` on where the attention is made."
)
_A_CLASS = (
    r'`self.\g<1>` has no weights in yours. `mine("…")` gives a class, and in `__init__` a sublayer is made of it, '
    'with its sizes in brackets behind: `mine("SwiGLU")(d_model, d_ff)`.'
)
_OLD = (
    'Attention: yours is that of lesson 09, with biases and without positions. Here `mine("GroupedAttention")` is '
    "wanted."
)
_CALL = (
    "A sublayer is called with what it reads, `self.attention(self.norm1(x))`, and what it returns is added to x. The "
    "module itself is no tensor."
)
_CURES = (
    (r"MultiHeadAttention\.__init__\(\)", _OLD),
    (r"is not divisible by num_kv_heads=|GroupedAttention\.__init__\(\)", _MADE),
    (r"^`attention\.[kv]_proj\.weight` has the shape", _MADE),
    (r"^`feed_forward\.\w+_proj\.weight` has the shape|SwiGLU\.__init__\(\)", _NETWORK),
    (
        r"^`norm[12]\.weight` has the shape .*$",
        r"\g<0> The norm is of a whole token: `nn.RMSNorm(d_model)`.",
    ),
    (r"^Weights are missing: `attention\.k_norm`, `attention\.q_norm`", _HAND_ON),
    (r"^`attention\.k_norm`, `attention\.q_norm` should not be there", _UNASKED),
    (r"^`attention\.k_proj`.* should have no bias", _OLD),
    (r"as child module '(\w+)'", _A_CLASS),
    (r"^Weights are missing: `(attention|feed_forward)\.(k_proj|down_proj)`", _A_CLASS),
    (r"(must be Tensor, not |'Tensor' and ')\w*(Attention|SwiGLU)", _CALL),
    (r"Attention\.forward\(\) (takes|got an unexpected)", _ALONE),
    (
        r"SwiGLU\.forward\(\) (takes|got an unexpected)",
        "Feed-forward: it is called with one tensor, the norm of the sum: `self.feed_forward(self.norm2(…))`.",
    ),
    (r"^input of width \d+ for d_head=\d+$", _TURNED),
    (
        r'Positions\] is missing the required "forward"',
        "Positions: `positions` is made already. Hand it on as it is, without brackets behind it.",
    ),
)

Block = Build(
    sections=("18 Today's block, whole", "18 A norm with less in it"),
    task="The block of today's models, x (batch, tokens, d_model) to the same shape: causal attention with shared "
    "heads, then the gated network, each with an RMSNorm of its own in front of it and a residual around it. It is "
    "made as `(d_model, num_heads, num_kv_heads, d_ff, positions, *, qk_norm=False)`. The parts are `norm1` and "
    "`norm2`, each an `nn.RMSNorm(d_model)`; `attention`, which is "
    '`mine("GroupedAttention")`, made as `(d_model, num_heads, num_kv_heads, positions, qk_norm=qk_norm)`; and '
    '`feed_forward`, which is `mine("SwiGLU")`, made as `(d_model, d_ff)`.',
    cases=_cases,
    hints=(
        "There are two sublayers, and one pattern for both: the sublayer reads the norm of x, and what it returns is "
        "added to x itself. That is the warm-up; only its functions are modules now.",
        "The attention projects, splits, turns and masks by itself: it is called with one tensor, the normed x. So "
        "`positions` and `qk_norm` are handed on where it is made, and in `forward` neither occurs.",
        "Two lines. The first keeps x plus what `self.attention` says of `self.norm1(x)`. The second has the same "
        "form with `norm2` and `feed_forward`, and begins with the sum that the first has kept.",
    ),
    passed="Given Llama's weights and `RotaryHalves`, it computes what a layer of Llama computes, and with `qk_norm` "
    "one of Qwen3. Which of its lines mixes positions?",
    without=("Block",),
    gaps=(
        "attention(d_model, num_heads, num_kv_heads, positions, qk_norm=qk_norm)",
        'mine("SwiGLU")(d_model, d_ff)',
        "self.attention(self.norm1(x))",
        "self.feed_forward(self.norm2(h))",
    ),
    reference=gpt.Block,
    twin=lambda model, x: None,
    cures=_CURES,
)


@Block.solution
class MyBlock(nn.Module):
    """Attention, then the network; a norm in front of each, and a residual around it."""

    def __init__(self, d_model, num_heads, num_kv_heads, d_ff, positions, *, qk_norm=False):
        super().__init__()
        # Each sublayer has a norm of its own in front.
        self.norm1 = nn.RMSNorm(d_model)
        # Positions act in the attention alone, so the block only hands them on.
        attention = mine("GroupedAttention")
        self.attention = attention(d_model, num_heads, num_kv_heads, positions, qk_norm=qk_norm)
        self.norm2 = nn.RMSNorm(d_model)
        self.feed_forward = mine("SwiGLU")(d_model, d_ff)

    def forward(self, x):
        # What a sublayer reads is normed; what it returns is added to the stream as it was.
        h = x + self.attention(self.norm1(x))  # (batch, tokens, d_model)
        # The same once more, with the sum.
        return h + self.feed_forward(self.norm2(h))  # (batch, tokens, d_model)


@Block.solution
class _ByHand(MyBlock):
    """RMSNorm written out, and the stream in one tensor."""

    def forward(self, x):
        for norm, part in ((self.norm1, self.attention), (self.norm2, self.feed_forward)):
            rows = norm.weight * x * x.square().mean(dim=-1, keepdim=True).rsqrt()
            x = part(rows) + x
        return x


Block.edits(f"""
self.feed_forward(self.norm2(h)) → self.feed_forward(self.norm2(x))
self.feed_forward(self.norm2(h)) → self.feed_forward(self.norm1(x))
    Feed-forward: yours reads the old x, so the two sublayers work side by side. It should read the sum, with what
    attention has added.
return h + self.feed_forward(self.norm2(h)) → return h
self.feed_forward(self.norm2(h)) → self.norm2(h)
    Feed-forward: in yours it is missing.
self.feed_forward(self.norm2(h)) → self.feed_forward(self.attention(self.norm1(x)))
self.feed_forward(self.norm2(h)) → self.feed_forward(self.norm2(self.attention(self.norm1(x))))
self.feed_forward(self.norm2(h)) → self.feed_forward(self.norm2(h - x))
    Feed-forward: yours reads what attention says, bare. It should read the norm of the sum, with the x that went past.
self.feed_forward(self.norm2(h)) → self.feed_forward(self.feed_forward(self.norm2(h)))
    Feed-forward: yours works twice. Once is enough.
x + self.attention(self.norm1(x)) → x
self.attention(self.norm1(x)) → self.norm1(x)
    Attention: in yours it is missing.
attention(self.norm1(x)) → feed_forward(self.norm2(x)) ; feed_forward(self.norm2(h)) → attention(self.norm1(h))
attention(self.norm1 → feed_forward(self.norm1 ; feed_forward(self.norm2 → attention(self.norm2
    Feed-forward comes first in yours. Attention should be the first sublayer.
h = x + → h = ; return h + → return
    Residual: you have neither of the two. What attention returns is to be added to x, and what feed-forward returns to
    the sum.
h = x + → h =
    Residual: in yours the one around attention is missing. What attention returns is to be added to x.
return h + → return
    Residual: in yours the one around feed-forward is missing. What feed-forward returns is to be added to what
    attention has left.
h = x + → h = x * ; return h + → return h *
h = x + → h = x *
return h + → return h *
    Residual: you multiply by what a sublayer returns. It is added to x: where it is 0, x goes on as it was.
return h + → return x +
    Residual: you add the old x at the end, so what attention has added is lost.
return h + → return x + h +
    Residual: you add x once more at the end. It is in the sum already.
h = x + → h = 2 *
return h + → return 2 *
h = x + → h = 2 * ; return h + → return 2 *
    Residual: you put what a sublayer says in the place of x, and then add it to itself. x as it came is what is added.
h = x + → h = self.norm1(x) + ; return h + → return self.norm2(h) +
h = x + → h = self.norm1(x) +
return h + → return self.norm2(h) +
h = x + self.attention(self.norm1(x)) → x = self.norm1(x) ⏎ h = x + self.attention(x)
    Norm: it stands on the stream in yours, so the residual adds the normed x. Only what a sublayer reads is normed: `x
    + attention(norm1(x))`, with the x as it was.
h = x → h = self.norm1(x ; (self.norm1(x)) → (x)) ; return h → return self.norm2(h ; (self.norm2(h)) → (h))
x + self.attention(self.norm1(x)) → self.norm1(x + self.attention(x))
h + self.feed_forward(self.norm2( → self.norm2(h + self.feed_forward(
    Norm: it comes behind the sum in yours, which is post-norm. It stands in front, on what the sublayer reads.
self.attention(self.norm1( → self.norm1(self.attention( ; self.feed_forward(self.norm2( → self.norm2(self.feed_forward(
self.attention(self.norm1(x)) → self.norm1(self.attention(x))
self.feed_forward(self.norm2(h)) → self.norm2(self.feed_forward(h))
    Norm: it comes behind the sublayer in yours. It stands in front, on what the sublayer reads.
x + self. → x + self.norm1(self. ; norm1(x)) → norm1(x))) ; h + self. → h + self.norm2(self. ; norm2(h)) → norm2(h)))
x + self. → x + self.norm2(self. ; norm1(x)) → norm1(x))) ; (self.norm2(h)) → (h)
self.attention(self.norm1(x)) → self.norm2(self.attention(self.norm1(x)))
    Norm: you norm what a sublayer says. Norms stand in front of the sublayers alone.
return h + self.feed_forward(self.norm2(h)) → return self.norm2(h + self.feed_forward(self.norm2(h)))
return h + self.feed_forward(self.norm2(h)) → return self.norm1(h + self.feed_forward(self.norm2(h)))
    Norm: there is one more at the end of your block. Nothing follows the last sum.
self.norm2(h) → self.norm1(h)
self.norm1(x) → self.norm2(x)
    Norm: one serves both sublayers in yours. Each has its own, `norm1` and `norm2`.
self.norm1(x) → self.norm2(x) ; self.norm2(h) → self.norm1(h)
    Norm: you have exchanged the two. `norm1` is for attention, `norm2` for feed-forward.
self.norm1(x) → F.rms_norm(x, x.shape[-1:]) ; self.norm2(h) → F.rms_norm(h, h.shape[-1:])
    Norm: yours has no weights. `norm1` and `norm2` are made in `__init__` with weights, which are learned: call them.
self.norm1(x) → x
    Norm: in yours the one in front of attention is missing.
self.norm2(h) → h
    Norm: in yours the one in front of feed-forward is missing.
self.norm1(x) → x ; self.norm2(h) → h
    Norm: you call neither of the two.
nn.RMSNorm(d_model) → nn.LayerNorm(d_model, bias=False)
norm2 = nn.RMSNorm(d_model) → norm2 = nn.LayerNorm(d_model, bias=False)
norm1 = nn.RMSNorm(d_model) → norm1 = nn.LayerNorm(d_model, bias=False)
    Norm: yours is a LayerNorm, which takes the mean off first. RMSNorm divides by the root of the mean square, and
    that is all: `nn.RMSNorm`.
(d_model, num_heads, num_kv_heads, positions → (d_model, num_kv_heads, num_heads, positions
(d_model, num_heads, num_kv_heads, positions → (d_model, num_heads, num_heads, positions
    {_MADE}
(d_model, d_ff) → (d_ff, d_model)
(d_model, d_ff) → (d_model, d_model)
(d_model, d_ff) → (d_model, 4 * d_model)
    {_NETWORK}
, qk_norm=qk_norm →
    {_HAND_ON}
qk_norm=qk_norm → qk_norm=True
qk_norm=qk_norm → qk_norm=not qk_norm
    {_UNASKED}
num_kv_heads, positions → num_kv_heads, RelativePositions()
    Positions: yours never reach the attention, so it turns nothing. Hand them on where it is made.
num_kv_heads, positions → num_kv_heads, RotaryPositions(d_model // num_heads, 9)
num_kv_heads, positions → num_kv_heads, RotaryHalves(d_model // num_heads, 9)
    Positions: you make positions of your own. Those that are given may have another layout or another base: hand
    `positions` on.
self.attention(self.norm1(x)) → self.attention(self.norm1(x), self.norm1(x), self.norm1(x))
    {_ALONE}
self.norm1(x) → self.attention.positions.turn(self.norm1(x))
h = x + → x = self.attention.positions.turn(x) ⏎ h = x +
    {_TURNED}
""")
