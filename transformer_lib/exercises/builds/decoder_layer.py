"""The decoder layer, whole, and once for one sentence. Lesson 12."""

import torch
from torch import nn

from transformer_lib import layers
from transformer_lib.exercises.builds.encoder_layer import (
    FORGETS_RATE,
    NO_Y,
    RESULT,
    Alone,
    drops_sums_alone,
    newborn,
    read,
    scale,
    square,
)
from transformer_lib.exercises.checking.classes import UNSTEADY, Build, Case
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.own.mine import mine
from transformer_lib.lab import twins
from transformer_lib.layers import AddNorm, PositionwiseFeedForward
from transformer_lib.masks import causal_mask


def _sum_before(y):
    """gives each token the sum of those before it, without itself."""
    return y.cumsum(dim=0) - y


def _sum_across(y, memory):
    """gives each token of y its own first entry times the sum of the memory."""
    return y[:, :1] * memory.sum(dim=0)


def _one_sentence():
    torch.manual_seed(12)
    small = torch.tensor([[1.0, 0.0, 2.0], [3.0, 1.0, 1.0]]), torch.tensor([[0.0, 1.0, 1.0]])
    drawn = [
        (torch.randn(t, d), torch.randn(s, d)) for t, s, d in ((1, 1, 3), (3, 3, 3), (2, 4, 5))
    ]
    return [(*pair, _sum_before, _sum_across, square, scale) for pair in (small, *drawn)]


decoder_layer_for_one = Exercise(
    sections=(
        "12 One layer, three sublayers",
        "12 Who asks, who answers?",
    ),
    task="One post-norm decoder layer for one sentence: x (target, d_model) and the encoder's output, memory "
    "(source, d_model), to (target, d_model). `attend_back(y)` is causal by itself, `attend_across(y, "
    "memory)` lets y ask and the memory answer, `think(y)` and `norm(y)` take each token by itself; all are "
    "given, and what they return is as large as y. `norm` serves three times here.",
    cases=_one_sentence,
    hints=(
        "It is the encoder layer with one sublayer more, in the middle. Each of the three has the form that "
        "you know: add what the sublayer says to what it reads, and norm the sum.",
        "In the middle the target asks and the memory answers, so the target comes first: "
        "`attend_across(y, memory)`, where y is what came out of the first Add & Norm. What is added to the "
        "answer is that same y. The memory itself is neither added to nor normed.",
    ),
    passed="In the build `attend_back` becomes `lambda y: self.self_attn(y, y, y, mask)`, and "
    "`attend_across` becomes `lambda y: self.cross_attn(y, memory, memory, memory_mask)`.",
    gaps=(
        "x + attend_back(x)",
        "back + attend_across(back, memory)",
        "norm(across + think(across))",
    ),
)


@decoder_layer_for_one.solution
def my_decoder_layer_for_one(x, memory, attend_back, attend_across, think, norm):
    # Each target token hears those before it. Add, then norm.
    back = norm(x + attend_back(x))  # (target, d_model)
    # What comes out of that asks, and the memory answers. The memory stays as it is.
    across = norm(back + attend_across(back, memory))  # (target, d_model)
    # Each by itself.
    return norm(across + think(across))  # (target, d_model)


@decoder_layer_for_one.solution
def _(x, memory, attend_back, attend_across, think, norm):
    for sublayer in (attend_back, lambda y: attend_across(y, memory), think):
        x = norm(sublayer(x) + x)
    return x


decoder_layer_for_one.edits("""
s(back, memory) → s(memory, back)
back + attend_across(back, memory) → memory + attend_across(memory, back)
    The memory asks in yours. The target asks, so it comes first: `attend_across(y, memory)`.
attend_across(back, memory) → attend_across(x, memory)
    Your middle sublayer asks with the layer's x. The first Add & Norm has made a new one, `norm(x + attend_back(x))`:
    that asks the memory.
attend_across(back, memory) → attend_across(attend_back(x), memory)
    Your middle sublayer asks with what `attend_back` says, bare. The first Add & Norm makes of it
    `norm(x + attend_back(x))`: that asks the memory.
back + attend_across → attend_back(x) + attend_across
    You add the memory's answer to what `attend_back` says, bare. The first Add & Norm makes of it
    `norm(x + attend_back(x))`: to that the answer is added.
think(across) → think(attend_across(back, memory))
    In yours `think` reads the memory's answer, bare. It reads what came out of the middle Add & Norm.
back + attend_across → x + attend_across
    You add the memory's answer to the layer's x. The first Add & Norm has made a new one, `norm(x + attend_back(x))`:
    to that the answer is added.
back + attend_across(back, memory) → x + attend_across(x, memory)
    Your middle sublayer still reads the layer's x, so what `attend_back` says is lost. The first Add & Norm has made
    a new one, `norm(x + attend_back(x))`: that asks, and to that the answer is added.
, memory) → , norm(memory))
    You norm the memory. It stays as it is: the norm is of the target's sums alone.
attend_across(back, memory) → attend_across(back, back)
    The memory is never read in yours. The target asks it: `attend_across(y, memory)`.
attend_across(back, memory) → attend_across(back)
    `attend_across` wants two things, who asks and who answers: `attend_across(y, memory)`.
back + attend_across → memory + attend_across
    You add the memory to what it answered. What is added is what asked, the target.
x + attend_back → attend_back
    Around `attend_back` you have no residual: x is added to what it says.
back + attend_across → attend_across
    Around `attend_across` you have no residual: what asks is added to the memory's answer.
across + think → think
    Around `think` you have no residual: what it reads is added to what it says.
x + attend_back → attend_back ; back + attend_across → attend_across ; across + think → think
    None of your three sublayers has a residual. Each only says what is added to what it reads.
across + think(across) → x + think(across)
    You add what `think` says to the layer's x. It is added to what came out of the middle Add & Norm.
across + think(across) → back + think(across)
    You add what `think` says to what came out of the first Add & Norm. It is added to what came out of the middle one.
think(across) → think(x)
    In yours `think` reads the layer's x. It reads what came out of the middle Add & Norm.
think(across) → think(back)
    In yours `think` reads what came out of the first Add & Norm. It reads what came out of the middle one.
norm(x + attend_back(x)) → x + attend_back(x)
    Your first sum, with `attend_back`, is not normed. The middle sublayer goes on from its norm.
norm(back + attend_across(back, memory)) → back + attend_across(back, memory)
    Your middle sum, with `attend_across`, is not normed. The last sublayer goes on from its norm.
norm(across + think(across)) → across + think(across)
    Your last sum, with `think`, is not normed. The layer returns its norm.
norm(x + → (x + ; norm(back + → (back + ; norm(across + → (across +
    None of your three sums is normed. Each of them is, before the next sublayer goes on from it.
norm(x + → (x + ; attend_across(back → attend_across(norm(back)
    Your middle sublayer adds to the first sum as it was before its norm. `norm(x + attend_back(x))` is what asks, and
    what is added to the answer.
norm(back + → (back + ; think(across) → think(norm(across))
    Your last sublayer adds to the middle sum as it was before its norm. The norm of that sum is what `think` reads,
    and what is added to its answer.
norm(x + → (x + ; s(back → s(norm(back) ; norm(back + → (back + ; think(across) → think(norm(across))
    You carry the sums on as they were before their norms: the norms only reach the sublayers. Each norm is both what
    the next sublayer reads and what is added to its answer.
norm(x + attend_back(x)) → x + attend_back(norm(x))
    Your first sublayer is in pre-norm: `attend_back` reads the norm of x, and nothing norms the sum.
norm(back + attend_across(back, memory)) → back + attend_across(norm(back), memory)
    Your middle sublayer is in pre-norm: what asks is normed once more, and nothing norms the sum.
norm(across + think(across)) → across + think(norm(across))
    Your last sublayer is in pre-norm: what `think` reads is normed once more, and nothing norms the sum.
= norm( → = ( ; k(x) → k(norm(x)) ; s(back → s(norm(back) ; think(across) → think(norm(across))
    That is pre-norm with one norm more at the end. Asked is post-norm: a sublayer reads what is there as it is, and
    each of the three sums is normed.
attend_back(x) → attend_back(norm(x))
    You norm x for `attend_back` as well. It reads x as it is; the norm comes behind the sum.
attend_across(back → attend_across(norm(back)
    You norm once more for `attend_across`. What came out of the first Add & Norm asks as it is.
think(across) → think(norm(across))
    You norm once more for `think`. It reads what came out of the middle Add & Norm as it is.
norm(x + → x + norm( ; norm(back + → back + norm( ; norm(across + → across + norm(
norm(x + → x + norm(
norm(back + → back + norm(
norm(across + → across + norm(
    You norm what a sublayer says. The norm is of the sum.
norm(x + → (norm(x) + ; norm(back + → (norm(back) + ; norm(across + → (norm(across) +
norm(x + → (norm(x) +
norm(back + → (norm(back) +
norm(across + → (norm(across) +
    You norm what is read and then add. First add, then norm the sum.
= norm( → = ( ; k(x) → k(norm(x)) ; s(back → s(norm(back) ; norm(across + think(across)) → across + think(norm(across))
    That is pre-norm, a right layer, but not the one that is asked for: here the norm comes last.
attend_back(x) → attend_across(x, memory) ; attend_across(back, memory) → attend_back(back)
    The memory is asked first in yours. First each target token hears those before it.
attend_across(back, memory) → think(back) ; think(across) → attend_across(across, memory)
    `think` comes before the memory is asked. It is the last of the three.
norm(back + attend_across(back, memory)) → back
    In yours what `attend_across` says never reaches the result. `think` goes on from the sum of the two, normed.
norm(across + think(across)) → norm(x + think(x))
    Your last sublayer still reads the layer's x, so what the other two say is lost. It goes on from what came out of
    the middle Add & Norm.
return norm(across + think(across)) → return across
    In yours `think` is missing: you return what came out of the middle Add & Norm.
""")


def _cases():
    torch.manual_seed(12)
    small = torch.tensor([[[1.0, 0.0, 2.0, -1.0], [0.0, 3.0, 1.0, 1.0]]])
    source = torch.tensor([[[2.0, 1.0, 0.0, 1.0], [0.0, -1.0, 1.0, 2.0]]])
    first, second = torch.tensor([[[[True, False]]]]), torch.tensor([[[[False, True]]]])
    square, others = torch.randn(3, 3, 6), torch.randn(3, 3, 6)
    lengths = (torch.arange(3) < torch.tensor([3, 1, 2])[:, None])[:, None, None, :]
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    y, other = torch.randn(3, 4, 10), torch.randn(3, 6, 10)
    in_target = (torch.arange(5) < torch.tensor([3, 5])[:, None])[:, None, None, :]
    in_source = (torch.arange(7) < torch.tensor([7, 4])[:, None])[:, None, None, :]
    post, pre = ({"dropout": 0.0, "norm_first": first} for first in (False, True))
    half, tiny, even, wide, narrow = {"dropout": 0.5}, (4, 2, 3), (6, 3, 6), (12, 3, 17), (10, 2, 7)
    once = {"dropout": 1.0}
    return [
        Case("post-norm", tiny, post, (small, source)),
        Case("with padding in the target", tiny, post, (small, source, first)),
        Case("with a target mask, but no padding", tiny, post, (small, source, first | True)),
        Case("with padding in the source", tiny, post, (small, source, None, second)),
        Case("pre-norm", tiny, pre, (small, source)),
        Case("post-norm, padding in both", even, post, (square, others, lengths, lengths.flip(0))),
        Case("pre-norm, padding in both", even, pre, (square, others, lengths, lengths.flip(0))),
        Case(
            "with a longer source, padding in both", wide, post, (x, memory, in_target, in_source)
        ),
        Case("with a longer source, pre-norm", narrow, pre, (y, other)),
        Case("in train() without dropout", narrow, pre, (y, other), training=True),
        Case("in eval() with dropout=0.5", narrow, half, (y, other)),
        Case("in train() with dropout=0.5", narrow, half, (y, other), training=True, random=True),
        Case("in train() with dropout=1", tiny, once, (small, source), training=True),
    ]


def _twin(model, x, memory, tgt_mask=None, memory_mask=None):
    if model.training and model.add_norm1.dropout.p:
        return None  # the twin has no dropout
    return twins.decoder_layer(model).train()(
        x,
        memory,
        tgt_mask=~causal_mask(x.size(1)),
        tgt_key_padding_mask=None if tgt_mask is None else ~tgt_mask[:, 0, 0],
        memory_key_padding_mask=None if memory_mask is None else ~memory_mask[:, 0, 0],
    )


_DropsSumsAlone = drops_sums_alone(layers.DecoderLayer)

DecoderLayer = Build(
    sections=(
        "12 One layer, three sublayers",
        "12 Who asks, who answers?",
    ),
    task="A decoder layer: causal self-attention, attention to the memory, feed-forward, each in an Add & "
    "Norm, post-norm or pre-norm (`norm_first`), with dropout on what each of them adds. x (batch, target, "
    "d_model), memory (batch, source, d_model). `tgt_mask` and `memory_mask` mask out the padding of target "
    "and source, True = may attend; they broadcast to (batch, heads, queries, keys), and either may be "
    "missing. The layer is causal by itself, in train() and in eval(). Made with `dropout=0.1` and "
    "`norm_first=False` where nothing else is said. All positions count, those of the padding too, so `tgt_mask` "
    "matters also where the padding stands behind. The parts are called `self_attn`, `add_norm1`, "
    "`cross_attn`, `add_norm2`, `feed_forward`, `add_norm3`; `AddNorm` and `PositionwiseFeedForward` of "
    "`transformer_lib.layers` may serve.",
    cases=_cases,
    hints=(
        "It is an encoder layer with a third sublayer in the middle. There the target asks, so the query is "
        "y, which Add & Norm hands to the sublayer; the memory answers, so it gives the keys and the values.",
        "`causal_mask(x.size(1))` says who may attend to whom in time, and the layer makes it whatever it is "
        "given. `tgt_mask` comes on top where it is given: both must hold, so `&` joins them.",
        "Attention wants query, key, value and mask, and Add & Norm calls a function of one argument, so a "
        "`lambda y: …` stands between them. Its y is what the sublayer is to read: x in post-norm, the norm of x in "
        "pre-norm. The last sublayer, `self.feed_forward`, is such a function "
        "already: that line is the encoder layer's.",
    ),
    passed="It is the library's and `nn.TransformerDecoderLayer`, and no token attends to the future, in "
    "train() nor in eval().",
    without=("DecoderLayer", "DecoderBlock"),
    gaps=(
        "causal_mask(x.size(1), device=x.device)",
        "mask & tgt_mask",
        "self.self_attn(y, y, y, mask)",
        "self.cross_attn(y, memory, memory, memory_mask)",
        "self.add_norm3(across, self.feed_forward)",
    ),
    reference=_DropsSumsAlone,
    twin=_twin,
    newborn=newborn,
)


@DecoderLayer.solution
class MyDecoderLayer(nn.Module):
    """Every target token hears those before it, then the source, then works by itself."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = mine("MultiHeadAttention")(d_model, num_heads)
        self.add_norm1 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.cross_attn = mine("MultiHeadAttention")(d_model, num_heads)
        self.add_norm2 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff)
        self.add_norm3 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)

    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        # Who may attend to whom in time: always, whatever masks are given.
        mask = causal_mask(x.size(1), device=x.device)  # (target, target)
        if tgt_mask is not None:
            # With padding a key has to pass both.
            mask = mask & tgt_mask  # (batch, 1, target, target)
        # Each target token hears those before it. Here and below: (batch, target, d_model).
        back = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
        # The target asks, and the memory answers: it gives the keys and the values.
        across = self.add_norm2(back, lambda y: self.cross_attn(y, memory, memory, memory_mask))
        # Each by itself.
        return self.add_norm3(across, self.feed_forward)


@DecoderLayer.solution
class _InTwoOrders(_DropsSumsAlone):
    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        sublayers = (
            (self.add_norm1, lambda y: self.self_attn(y, y, y, tgt_mask, is_causal=True)),
            (self.add_norm2, lambda y: self.cross_attn(y, memory, memory, memory_mask)),
            (self.add_norm3, self.feed_forward),
        )
        for around, sublayer in sublayers:
            x = x + around.dropout(sublayer(read(around, x)))
            x = x if around.norm_first else around.norm(x)
        return x


class _AddsTheNorm(Alone):
    def forward(self, x, sublayer):
        if self.norm_first:
            return self.norm(x) + super().forward(x, sublayer)
        return self.norm(x + self.dropout(sublayer(x)))


DecoderLayer.edits(f"""
(y, y, y, mask) → (y, y, y, tgt_mask)
(y, y, y, mask) → (y, y, y)
    Self-attention: yours attends to the future. A decoder layer is causal by itself, whatever mask it is
    given.
(y, y, y, mask) → (y, y, y, None if tgt_mask is None else mask)
    Self-attention: yours is causal only where a `tgt_mask` is given; without one it attends to the future. Make the
    causal mask first, always, and join `tgt_mask` to it where there is one.
mask = mask & tgt_mask → mask = tgt_mask
    Self-attention: where `tgt_mask` is given, the causal mask is forgotten. Both must hold: `&`.
mask & tgt_mask → mask | tgt_mask
    Self-attention: `|`, like `+`, lets through what one of the two masks allows. A key must pass both: `&`.
mask = mask & tgt_mask → pass
    Self-attention: yours is causal, but `tgt_mask` is never used.
device=x.device) → device=x.device) | (not self.training)
    Self-attention: yours is causal in train() alone. In eval() it must be so too.
device=x.device) → device=x.device) | self.training
    Self-attention: yours is causal in eval() alone. In train() it must be so too, or the layer learns to read what
    comes next.
device=x.device) → device=x.device).mT
    Self-attention: your causal mask is turned round, so that a token attends to what comes after it.
mask = causal_mask( → mask = ~causal_mask(
    Self-attention: your causal mask is True in the future. True means *may attend*: take it without `~`.
device=x.device) → device=x.device).tril(-1)
    Self-attention: your diagonal is masked out. A token may attend to itself.
= causal_mask(x.size(1), device=x.device) → = torch.ones(x.size(1), x.size(1)).tril(1).bool()
    Self-attention: a token may attend to one token too many in yours, the next one.
causal_mask(x.size(1) → causal_mask(memory.size(1)
causal_mask(x.size(1) → causal_mask(x.size(0)
causal_mask(x.size(1) → causal_mask(x.size(-1)
    Self-attention: your causal mask has the size of another axis. It is as long as the target: `x.size(1)`.
if tgt_mask is not None → if True
    `tgt_mask` may be missing, and then it is None, which cannot be joined with a mask: `if tgt_mask is not
    None:` comes before.
(y, y, y, mask) → (y, y, y, ~mask)
    Self-attention: your mask is True where a token may not attend, as in torch's layers. Here True means may attend:
    hand over `~` of it.
mask & tgt_mask → mask & ~tgt_mask
memory_mask)) → None if memory_mask is None else ~memory_mask))
mask & tgt_mask → mask & ~tgt_mask ; memory_mask)) → None if memory_mask is None else ~memory_mask))
    Masks: a padding mask is turned round in yours. True means *may attend*: take it without `~`.
tgt_mask is not None → memory_mask is not None ; & tgt_mask → & memory_mask ; memory_mask)) → tgt_mask))
tgt_mask is not None → memory_mask is not None ; & tgt_mask → & memory_mask
memory_mask)) → tgt_mask))
(y, y, y, mask) → (y, y, y, memory_mask) ; memory_mask)) → tgt_mask))
    Masks: an attention is given the other's. `tgt_mask` is for self-attention, joined with the causal one;
    `memory_mask` is for cross-attention, where the keys are the memory's.
memory_mask)) → mask))
memory_mask)) → memory_mask, is_causal=True))
memory_mask)) → mask if memory_mask is None else mask & memory_mask))
    Cross-attention: it is causal in yours. The whole source is known, so no part of it is future: its mask
    is `memory_mask` alone.
, memory_mask)) → ))
    Cross-attention: `memory_mask` is never used, so the padding of the source is heard.
lambda y: self.cross_attn( → lambda y: y + self.cross_attn(
lambda y: self.self_attn( → lambda y: y + self.self_attn(
self.feed_forward) → lambda y: y + self.feed_forward(y))
    Residual: one of your sublayers adds what it reads to what it says, and Add & Norm adds it once more. The
    function says only what is added.
(across, self.feed_forward) → (across, lambda y: self.feed_forward(memory))
    Feed-forward: it reads the memory in yours. It reads the target, the `y` that `add_norm3` hands to it.
cross_attn = mine("MultiHeadAttention")(d_model, num_heads) → cross_attn = mine("MultiHeadAttention")(d_model, 1)
    Cross-attention: it has one head in yours. It has `num_heads`, as self-attention has.
(y, memory, memory, memory_mask) → (memory, y, y, memory_mask)
(y, memory, memory, memory_mask) → (memory, y, y)
(y, memory, memory, memory_mask) → (memory, y, y, tgt_mask)
(y, memory, memory, memory_mask) → (memory, memory, y, memory_mask)
(y, memory, memory, memory_mask) → (memory, memory, memory, memory_mask)
    Cross-attention: in yours the memory asks. The target asks, so the query is y, and the memory answers:
    it gives the keys and the values, `cross_attn(y, memory, memory, memory_mask)`.
(y, memory, memory, memory_mask) → (y, y, y, memory_mask)
(y, memory, memory, memory_mask) → (y, y, y)
(y, memory, memory, memory_mask) → (y, y, y, mask)
(y, memory, memory, memory_mask) → (y, memory, y, memory_mask)
(y, memory, memory, memory_mask) → (y, y, memory, memory_mask)
    Cross-attention: keys and values are not both the memory's. The target asks, with y, and the memory
    answers: `cross_attn(y, memory, memory, memory_mask)`.
(y, memory, memory, memory_mask) → (x, memory, memory, memory_mask)
(y, memory, memory, memory_mask) → (read(self.add_norm2, x), memory, memory, memory_mask)
    Cross-attention: its query is what came into the layer. It is what self-attention gave.
self.add_norm2(back, lambda y: self.cross_attn(y → self.add_norm2(x, lambda y: self.cross_attn(back
    Cross-attention: its answer is added to the x that came into the layer. It is added to what
    self-attention gave.
(back, lambda y: self.cross_attn(y, memory, memory → (memory, lambda y: self.cross_attn(back, y, y
(back, lambda y: self.cross_attn(y, memory, memory → (memory, lambda y: self.cross_attn(y, back, back
    Cross-attention: `add_norm2` is put around the memory, so the memory is carried on. The target is: what
    self-attention gave comes first, `add_norm2(x, …)`.
across = self.add_norm2( → memory = read(self.add_norm2, memory) ⏎ across = self.add_norm2(
across = self.add_norm2( → memory = self.add_norm2.norm(memory) ⏎ across = self.add_norm2(
across = self.add_norm2( → memory = self.add_norm1.norm(memory) ⏎ across = self.add_norm2(
    Cross-attention: you norm the memory as well. The norm is of the target alone; the encoder has normed the
    memory already.
(y, memory, memory, memory_mask) → (y, memory, memory_mask)
    Cross-attention wants query, key and value, and then the mask. The memory is key *and* value, so it stands there
    twice: `cross_attn(y, memory, memory, memory_mask)`.
(y, y, y, mask) → (y, memory, memory, mask)
(y, y, y, mask) → (y, memory, memory, memory_mask)
    Self-attention: its keys and values are the memory's in yours. It attends to the target alone: all three are y.
self.cross_attn(y → self.self_attn(y
self.self_attn(y, y → self.cross_attn(y, y
    One attention does the work of both in yours. `self_attn` and `cross_attn` have weights of their own.
self.self_attn(y, y → self.cross_attn(y, y ; self.cross_attn(y, memory → self.self_attn(y, memory
    The two attentions are exchanged: yours attends back with `cross_attn` and across with `self_attn`.
self.add_norm3(across → self.add_norm3(back
(back, lambda y: self.cross_attn(y, memory, memory, memory_mask)) → (back, torch.zeros_like)
(across, self.feed_forward) → (across, lambda y: self.feed_forward(back))
    Cross-attention: what it says never reaches the network, which has to go on from what `add_norm2` gives,
    `x = self.add_norm2(x, …)`.
self.add_norm2(back → self.add_norm2(x
(x, lambda y: self.self_attn(y, y, y, mask)) → (x, torch.zeros_like)
    Self-attention: what it says never reaches cross-attention. Keep it, `x = self.add_norm1(…)`, and go on
    from there.
return self.add_norm3(across, self.feed_forward) → return across
(across, self.feed_forward) → (across, torch.zeros_like)
    Feed-forward: the third sublayer is missing.
AddNorm( → Alone(
    Residual: x is not added to what the sublayers make of it.
self.add_norm1 = AddNorm → self.add_norm1 = Alone
self.add_norm2 = AddNorm → self.add_norm2 = Alone
self.add_norm3 = AddNorm → self.add_norm3 = Alone
    Residual: one of the three sublayers has none. What each of them says is added to what it reads.
AddNorm( → _AddsTheNorm(
    Pre-norm: what you carry past the sublayer is the norm of x. Carry x as it came; only the sublayer reads its norm.
norm_first=norm_first → norm_first=False
    `norm_first` changes nothing in yours: it is post-norm always. Is it handed on to each `AddNorm`?
add_norm1 = AddNorm(d_model, dropout=dropout, norm_first=norm_first → add_norm1 = AddNorm(d_model, dropout=dropout
    `add_norm1` is post-norm always in yours: `norm_first` is to be handed on to it too.
add_norm2 = AddNorm(d_model, dropout=dropout, norm_first=norm_first → add_norm2 = AddNorm(d_model, dropout=dropout
    `add_norm2` is post-norm always in yours: `norm_first` is to be handed on to it too.
add_norm3 = AddNorm(d_model, dropout=dropout, norm_first=norm_first → add_norm3 = AddNorm(d_model, dropout=dropout
    `add_norm3` is post-norm always in yours: `norm_first` is to be handed on to it too.
norm_first=norm_first → norm_first=True
    `norm_first` changes nothing in yours: it is pre-norm always.
dropout=0.1, norm_first=False → dropout=0.1, norm_first=True
    `norm_first` is True in yours where nothing is said. Post-norm is to be the default: `norm_first=False`.
norm_first=norm_first → norm_first=not norm_first
    `norm_first` is the wrong way round: when it is True, the norm comes before the sublayer.
(y, y, y, mask) → (x, x, x, mask)
self.cross_attn(y → self.cross_attn(back
(across, self.feed_forward) → (across, lambda y: self.feed_forward(across))
(y, y, y, mask) → (x, x, x, mask) ; self.cross_attn(y → self.cross_attn(back
(y, y, y → (x, x, x ; cross_attn(y → cross_attn(back ; , self.feed → , lambda y: self.feed ; ward) → ward(across))
    Pre-norm: a sublayer reads x itself. It has to read the norm of x. (A `lambda y: …` with `x` in it takes no notice
    of the y that it is given.)
(y, y, y, mask) → (y, x, x, mask)
    Pre-norm: in self-attention only your queries are normed; keys and values come from x itself. All three come from
    y, which is what `add_norm1` hands to it.
self.add_norm2(back → self.add_norm1(back ; self.add_norm3(across → self.add_norm1(across
self.add_norm2(back → self.add_norm1(back
self.add_norm2(back → self.add_norm1(back ; self.add_norm3(across → self.add_norm2(across
self.add_norm3(across → self.add_norm2(across
    Norm: one serves several sublayers in yours. Each of the three has its own gamma and beta.
lambda y: self.self_attn(y, y, y, mask) → self.self_attn(x, x, x, mask)
lambda y: self.cross_attn(y → self.cross_attn(back
(across, self.feed_forward) → (across, self.feed_forward(across))
    {RESULT}
lambda y: → lambda:
    {NO_Y}
lambda y: self.self_attn(y, y, y, mask) → self.self_attn
lambda y: self.cross_attn(y, memory, memory, memory_mask) → self.cross_attn
    An Add & Norm calls its sublayer with one tensor, and attention wants query, key, value and mask. Put a
    function of one argument around it: `lambda y: self.self_attn(y, y, y, mask)`.
(y, y, y, mask) → (y, y, y, mask)[0]
memory_mask)) → memory_mask)[0])
(y, y, y, mask) → (y, y, y, mask)[0] ; memory_mask)) → memory_mask)[0])
    Attention gives the output alone, no tuple: with `[0]` you take the first sentence for all of them.
dropout=dropout → dropout=0.0
self.add_norm1 = AddNorm(d_model, dropout=dropout → self.add_norm1 = AddNorm(d_model, dropout=0.0
self.add_norm2 = AddNorm(d_model, dropout=dropout → self.add_norm2 = AddNorm(d_model, dropout=0.0
self.add_norm3 = AddNorm(d_model, dropout=dropout → self.add_norm3 = AddNorm(d_model, dropout=0.0
    {FORGETS_RATE}
dropout=dropout → dropout=0.1
    {UNSTEADY[True]}
""")


@DecoderLayer.mistake(UNSTEADY[False])
class _(layers.DecoderLayer):
    def forward(self, *inputs):
        return super().train().forward(*inputs)


def _in_order(arounds, order):
    class Ordered(layers.DecoderLayer):
        def forward(self, x, memory, tgt_mask=None, memory_mask=None):
            sublayers = (
                lambda y: self.self_attn(y, y, y, tgt_mask, is_causal=True),
                lambda y: self.cross_attn(y, memory, memory, memory_mask),
                self.feed_forward,
            )
            for around, sublayer in zip(arounds, order, strict=True):
                x = getattr(self, f"add_norm{around}")(x, sublayers[sublayer - 1])
            return x

    return Ordered


for _sequence in ((1, 2, 3), (2, 1, 3)), ((2, 1, 3),) * 2, ((1, 2, 3), (1, 3, 2)), ((1, 3, 2),) * 2:
    DecoderLayer.mistake(
        "Order: first comes self-attention, then cross-attention, then the network, each in the Add & Norm "
        "of its number. Yours go in another order."
    )(_in_order(*_sequence))
