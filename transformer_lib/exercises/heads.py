"""Into heads, and back. Lesson 09."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _widths():
    torch.manual_seed(13)
    return [(torch.randn(2, 5, 12), 4), (torch.randn(3, 4, 10), 2)]


split = Exercise(
    task="Cut the width of x (batch, time, d_model) into heads: (batch, heads, time, d_head). Head 0 "
    "gets the first d_head entries of every token, head 1 the next, and so on.",
    cases=_widths,
    hints=(
        "Two steps: cut the last axis in two, then bring the axis of the heads to the front.",
        "`x.unflatten(-1, (num_heads, -1))` is (batch, time, heads, d_head). Which two axes must "
        "change places?",
        "Axes 1 and 2: `.transpose(1, 2)`.",
    ),
    passed="No number was computed and none lost. With `unflatten` and `transpose` none is even moved: "
    "they only say where to read.",
)


@split.solution
def my_split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@split.solution
def _(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@split.mistake(
    "The shape is right, the numbers are in the wrong places: you cut the sentence into pieces, not "
    "the width. Cut the last axis alone, then exchange two axes."
)
def _(x, num_heads):
    batch, time, d_model = x.shape
    return x.reshape(batch, num_heads, time, d_model // num_heads)


@split.mistake(
    "The width is cut, but the heads still stand behind the time: exchange axes 1 and 2."
)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))


@split.mistake(
    "Your head 0 takes every num_heads-th entry. It should take the first d_head in a row: the axis "
    "of the heads comes before that of the entries, (num_heads, d_head)."
)
def _(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


@split.mistake("You made heads of width num_heads. num_heads says how many there are.")
def _(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).transpose(1, 2)


@split.mistake(
    "The last two axes are exchanged: within a head a row is a token, (time, d_head). Attention "
    "turns the keys round by itself."
)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).permute(0, 2, 3, 1)


_TURNED = (
    "You turned the width to the front and cut afterwards: then the numbers of one token are no "
    "longer side by side. Cut first, exchange afterwards."
)


@split.mistake(_TURNED)
def _(x, num_heads):
    batch, time, d_model = x.shape
    return x.transpose(1, 2).reshape(batch, num_heads, time, d_model // num_heads)


@split.mistake(_TURNED)
def _(x, num_heads):
    batch, time, d_model = x.shape
    return x.transpose(1, 2).view(batch, num_heads, time, d_model // num_heads)


@split.mistake(
    "The width is cut, but you exchanged axes 2 and 3. The heads stand on axis 2 and belong on axis 1: "
    "exchange 1 and 2."
)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(2, 3)


@split.mistake(
    "The width is cut, but you exchanged axes 1 and 3. The heads stand on axis 2 and belong on axis 1: "
    "exchange 1 and 2."
)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 3)


_STACKED = (
    "The pieces are right, but their axis stands in front of the batch. `torch.stack(..., dim=1)` "
    "puts it behind."
)


@split.mistake(_STACKED)
def _(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1))


@split.mistake(_STACKED)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).permute(2, 0, 1, 3)


_PIECES = "The pieces are right; now one tensor: `torch.stack(pieces, dim=1)`."


@split.mistake(_PIECES)
def _(x, num_heads):
    return x.chunk(num_heads, dim=-1)


@split.mistake(_PIECES)
def _(x, num_heads):
    return list(x.chunk(num_heads, dim=-1))


@split.mistake(
    "You folded the heads into the batch, as d2l does: (batch · heads, time, d_head). Here they "
    "keep an axis of their own."
)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)


_FLOAT = "`/` gives a float, 3.0, and a width must be whole: use `//`."


@split.mistake(_FLOAT)
def _(x, num_heads):
    batch, time, d_model = x.shape
    return x.view(batch, time, num_heads, d_model / num_heads).transpose(1, 2)


@split.mistake(_FLOAT)
def _(x, num_heads):
    batch, time, d_model = x.shape
    return x.reshape(batch, time, num_heads, d_model / num_heads).transpose(1, 2)


@split.mistake(_FLOAT)
def _(x, num_heads):
    return x.unflatten(-1, (num_heads, x.size(-1) / num_heads)).transpose(1, 2)


@split.mistake("This cuts the batch or the time. The heads share the width, the last axis.")
def _(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=1), dim=1)


def _outputs():
    torch.manual_seed(14)
    return [(torch.randn(2, 4, 5, 3),), (torch.randn(3, 2, 4, 5),)]


join = Exercise(
    task="Put the outputs of the heads, z (batch, heads, time, d_head), side by side: "
    "(batch, time, d_model), head 0 first. The way back from `split`.",
    cases=_outputs,
    hints=(
        "The steps of `split`, in the other order.",
        "First the axes: a token must have its heads beside each other, (batch, time, heads, d_head).",
        "`z.transpose(1, 2)`, and then one axis of the last two: `.flatten(2)`.",
    ),
    passed="d_model was not given: it is heads · d_head.",
)


@join.solution
def my_join(z):
    return z.transpose(1, 2).flatten(2)


@join.solution
def _(z):
    return torch.cat(z.unbind(dim=1), dim=-1)


_UNTURNED = (
    "The shape is right, the numbers are in the wrong places: without `transpose` a row takes its "
    "numbers from several tokens, not from one token of every head. First the axes, then the shape."
)


@join.mistake(_UNTURNED)
def _(z):
    batch, heads, time, d_head = z.shape
    return z.reshape(batch, time, heads * d_head)


@join.mistake("The tokens have their heads side by side now. Make one axis of the last two.")
def _(z):
    return z.transpose(1, 2)


@join.mistake(
    "`transpose` moves no number, it only reads in another order, and `view` cannot follow that "
    "order. `reshape` or `flatten` can: they copy where they must."
)
def _(z):
    batch, heads, time, d_head = z.shape
    return z.transpose(1, 2).view(batch, time, heads * d_head)


@join.mistake(
    "You average the heads. Then nobody can tell any more which head said what: put them side by "
    "side."
)
def _(z):
    return z.mean(dim=1)


@join.mistake("You add the heads up. They stand side by side; W_O adds them, each in its own way.")
def _(z):
    return z.sum(dim=1)


@join.mistake(
    "The heads alternate: entry 0 of head 0, entry 0 of head 1, … All entries of head 0 come first."
)
def _(z):
    return z.permute(0, 2, 3, 1).flatten(2)


@join.mistake(
    "You put the heads one behind the other along the time: side by side is the last axis."
)
def _(z):
    return z.flatten(1, 2)


@join.mistake("You laid time and entries of one head side by side. First exchange axes 1 and 2.")
def _(z):
    return z.flatten(2)


@join.mistake(
    "The axes are exchanged, but you joined time and heads. The last two axes become one: `.flatten(2)`."
)
def _(z):
    return z.transpose(1, 2).flatten(1, 2)
