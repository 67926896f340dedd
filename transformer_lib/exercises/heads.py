"""Into heads, and back. Lesson 09."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _widths():
    torch.manual_seed(13)
    return [
        (torch.arange(12.0).view(1, 2, 6), 2),
        (torch.arange(16.0).view(2, 2, 4), 2),
        (torch.randn(3, 2, 6), 2),
        (torch.randn(2, 4, 3), 3),
        (torch.randn(2, 5, 12), 4),
    ]


def _taken_from(place, x, num_heads):
    if len(place) != 4:
        return ""
    _, head, token, entry = place
    d_head = x.size(-1) // num_heads
    return (
        f"The entry that is marked: head {head} has the entries {head * d_head} to "
        f"{(head + 1) * d_head - 1} of every token (d_head = {d_head}), so it is entry "
        f"{head * d_head + entry} of token {token}."
    )


split = Exercise(
    sections=("09 Split: cut the width, not the sentence",),
    task="Cut the width of x (batch, tokens, d_model) into heads: (batch, heads, tokens, d_head), where "
    "d_head is d_model / num_heads. Head 0 gets the first d_head entries of every token, head 1 the next, "
    "and so on.",
    cases=_widths,
    hints=(
        "A head attends with all tokens, but with a part of their width. So the width is what is cut, the "
        "last axis, and then the new axis of the heads goes in front of the tokens.",
        "`x.unflatten(-1, (num_heads, -1))` cuts the last axis in two, (batch, tokens, heads, d_head); the "
        "−1 in the brackets stands for the d_head that is left. `x.view(batch, tokens, num_heads, d_head)` "
        "does the same.",
        "Of the four axes, heads are number 2 and tokens number 1, counted from 0. `.transpose(1, 2)` "
        "exchanges them.",
    ),
    passed="No number was computed and none lost. With `unflatten` and `transpose` none is even moved: "
    "they only say where to read.",
    without=("transpose_qkv",),
    gaps=("num_heads, -1", "x.transpose(1, 2)"),
    how=_taken_from,
)


@split.solution
def my_split(x, num_heads):
    # Cut the last axis alone: head 0 gets the first d_head entries of a token, head 1 the next.
    x = x.unflatten(-1, (num_heads, -1))  # (batch, tokens, heads, d_head)
    # Attention works on the last two axes, so the heads go in front of the tokens.
    return x.transpose(1, 2)  # (batch, heads, tokens, d_head)


@split.solution
def _(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


split.edits("""
x.unflatten(-1, (num_heads, -1)) → x ; x.transpose(1, 2) → x.reshape(len(x), num_heads, x.size(1), -1)
    The numbers are at the wrong places: you cut the sentence into pieces, not the width. Cut the last axis
    alone, then exchange two axes.
return x.transpose(1, 2) → return x
    The width is cut, but the heads still stand behind the tokens: exchange axes 1 and 2.
(num_heads, -1) → (-1, num_heads) ; x.transpose(1, 2) → x.permute(0, 3, 1, 2)
    Your head 0 takes every num_heads-th entry. It should take the first d_head in a row: the axis of the
    heads comes before that of the entries, (num_heads, d_head).
(num_heads, -1) → (-1, num_heads)
    You made heads of width num_heads. num_heads says how many there are.
x.transpose(1, 2) → x.permute(0, 2, 3, 1)
    The last two axes are exchanged: within a head a row is a token, (tokens, d_head). Attention turns the
    keys round by itself.
x.unflatten(-1, (num_heads, -1)) → x.transpose(1, 2) ; x.transpose(1, 2) → x.reshape(len(x), num_heads, x.size(2), -1)
x.unflatten(-1, (num_heads, -1)) → x.transpose(1, 2) ; x.transpose(1, 2) → x.view(len(x), num_heads, x.size(2), -1)
    You turned the width to the front and cut afterwards: then the entries of one token are no longer side
    by side. Cut first, exchange afterwards.
x.transpose(1, 2) → x.transpose(2, 3)
    The width is cut, but you exchanged axes 2 and 3. The heads stand on axis 2 and belong on axis 1:
    exchange 1 and 2.
x.transpose(1, 2) → x.transpose(1, 3)
    The width is cut, but you exchanged axes 1 and 3. The heads stand on axis 2 and belong on axis 1:
    exchange 1 and 2.
x.transpose(1, 2) → x.transpose(0, 2)
    The width is cut, but you exchanged axes 0 and 2. The batch stays in front: exchange heads and tokens,
    1 and 2.
x.transpose(1, 2) → x.permute(2, 0, 1, 3)
    The axis of the heads stands in front of the batch in yours. `torch.stack(..., dim=1)` puts it
    behind, and so does `.transpose(1, 2)` after a cut of the last axis.
return x.transpose(1, 2) → return list(x.unbind(2))
return x.transpose(1, 2) → return x.unbind(2)
    The pieces are right; now one tensor: `torch.stack(pieces, dim=1)`.
x.transpose(1, 2) → x.transpose(1, 2).flatten(0, 1)
    You folded the heads into the batch, as d2l does: (batch · heads, tokens, d_head). Here they keep an
    axis of their own.
x.unflatten(-1, (num_heads, -1)) → x ; x.transpose(1, 2) → x.reshape(len(x) * num_heads, x.size(1), -1)
    You cut the sentence into pieces, and folded them into the batch. Cut the last axis alone; the heads
    keep an axis of their own.
x.transpose(1, 2) → torch.cat(x.unbind(2))
x.transpose(1, 2) → torch.cat(x.unbind(2), dim=1)
    `cat` lays the pieces behind each other, along the batch or the tokens. `stack` gives
    them an axis of their own: `torch.stack(pieces, dim=1)`.
x.unflatten(-1, (num_heads, -1)) → x.unfold(-1, x.size(-1) // num_heads, 1)[:, :, :num_heads]
    Your pieces overlap: piece i begins at entry i. It begins at i · d_head, behind the piece before.
x.transpose(1, 2) → x.transpose(1, 2).squeeze()
x.transpose(1, 2) → x.transpose(1, 2).squeeze(0)
    An axis of length 1 is gone: `squeeze` takes away the batch where there is one sentence. It stays.
x = x.unflatten → tokens, width = x.shape ⏎ x = x.unflatten
    x has three axes: a batch stands in front of the tokens.
x.unflatten(-1, (num_heads, -1)) → x ; return x.transpose(1, 2) → return x
    You return x as it came. `x.unflatten(...)` and `x.transpose(...)` leave x as it is and return another tensor:
    put `x =` in front.
x.unflatten(-1, (num_heads, -1)) → x
    The width is not cut. `x.view(...)` and `x.unflatten(...)` leave x as it is and return another tensor: put
    `x =` in front.
x.transpose(1, 2) → x.transpose(1, 2).flip(1)
    The heads are in the opposite order: head 0 gets the first d_head entries.
(num_heads, -1) → (num_heads, x.size(-1) / num_heads)
x.unflatten(-1, (num_heads, -1)) → x.view(len(x), x.size(1), num_heads, x.size(-1) / num_heads)
x.unflatten(-1, (num_heads, -1)) → x.reshape(len(x), x.size(1), num_heads, x.size(-1) / num_heads)
    `/` gives a float, 3.0, and a width must be whole: use `//`.
x.unflatten(-1, (num_heads, -1)) → torch.stack(x.chunk(num_heads, dim=1), dim=2)
x.unflatten(-1 → x.unflatten(1 ; return x.transpose(1, 2) → return x
    This cuts the tokens. The heads share the width, the last axis.
x.unflatten(-1, (num_heads, -1)) → torch.stack(x.chunk(num_heads), dim=2)
    This cuts the batch: `chunk` without a `dim` cuts the first axis. The heads share the width, `dim=-1`.
x.unflatten(-1, (num_heads, -1)) → x.view(2, 5, 4, 3)
x.unflatten(-1, (num_heads, -1)) → x.view(1, 4, 2, 3)
    You wrote the sizes of the lesson's example as numbers. Take them from the arguments: `x.shape` and
    `num_heads`.
(num_heads, -1) → (2, -1)
(num_heads, -1) → (4, -1)
(num_heads, -1) → (4, 3)
(num_heads, -1) → (num_heads, 2)
(num_heads, -1) → (num_heads, 3)
x.unflatten(-1, (num_heads, -1)) → x.view(len(x), x.size(1), num_heads, 2)
x.unflatten(-1, (num_heads, -1)) → x.view(len(x), x.size(1), num_heads, 3)
    You wrote a number into the function. There are `num_heads` heads, and d_head is what is left for each:
    −1, or `d_model // num_heads`.
x.unflatten(-1, (num_heads, -1)) → x[:, :, None].expand(-1, -1, num_heads, -1)
x.unflatten(-1, (num_heads, -1)) → x[:, :, None]
    Every head has the whole width in yours. Each gets a part of its own, d_head entries.
x.transpose(1, 2) → x[:, :, 0]
x.transpose(1, 2) → x.transpose(1, 2)[:, :1]
    You return head 0 alone. All heads are wanted, on an axis of their own.
x.transpose(1, 2) → x.transpose(1, 2) / x.size(-1) ** 0.5
x.transpose(1, 2) → x.transpose(1, 2) / num_heads**0.5
    You divide the numbers. Cutting computes nothing; the root of d_head belongs
    to the scores.
""")


def _outputs():
    torch.manual_seed(14)
    return [
        (torch.arange(12.0).view(1, 2, 3, 2),),
        (torch.arange(16.0).view(2, 2, 2, 2),),
        (torch.randn(3, 2, 1, 4),),
        (torch.randn(2, 4, 1, 3),),
        (torch.randn(2, 4, 5, 3),),
    ]


def _laid(place, z):
    if len(place) != 3:
        return ""
    _, token, entry = place
    d_head = z.size(-1)
    return (
        f"The entry that is marked: the first {d_head} entries of a row come from head 0, the next from "
        f"head 1; so it is entry {entry % d_head} of token {token} in head {entry // d_head}."
    )


join = Exercise(
    sections=("09 Join: side by side again",),
    task="Put the outputs of the heads, z (batch, heads, tokens, d_head), side by side: "
    "(batch, tokens, d_model), head 0 first. d_model is heads · d_head. The way back from `split`.",
    cases=_outputs,
    hints=(
        "Take the steps of `split` in the other order. What was done last there is undone first.",
        "A token must have its heads side by side before two axes can become one, (batch, tokens, heads, "
        "d_head). `.transpose(1, 2)` exchanges heads and tokens.",
        "`.flatten(2)` makes one axis of axis 2 and all behind it. (`view` would refuse here: after an "
        "exchange the numbers no longer lie in memory in the order of the axes. `reshape` copies them.)",
    ),
    passed="d_model was not given: it is heads · d_head.",
    without=("transpose_output",),
    gaps=("z.transpose(1, 2)", "z.flatten(2)"),
    how=_laid,
)


@join.solution
def my_join(z):
    # A token shall have its heads side by side, so the tokens go in front of the heads.
    z = z.transpose(1, 2)  # (batch, tokens, heads, d_head)
    # The last two axes become one: all entries of head 0, then all of head 1, and so on.
    return z.flatten(2)  # (batch, tokens, d_model)


@join.solution
def _(z):
    return torch.cat(z.unbind(dim=1), dim=-1)


join.edits("""
z.transpose(1, 2) → z ; z.flatten(2) → z.reshape(len(z), z.size(2), -1)
    The numbers are at the wrong places: without `transpose` a row takes its numbers from several tokens, not
    from one token of every head. First the axes, then the shape.
z.transpose(1, 2) → z.transpose(0, 1)
z.transpose(1, 2) → z.permute(1, 0, 2, 3) ; z.flatten(2) → z.reshape(z.size(1), z.size(2), -1)
    Batch and heads are exchanged in yours. Heads and tokens are to be: axes 1 and 2.
z.transpose(1, 2) → z ; return z.flatten(2) → return z
    You return z as it came. `z.transpose(...)` and `z.flatten(...)` leave z as it is and return another tensor: put
    `z =` in front. (`squeeze` takes away an axis of length 1 alone.)
z.flatten(2) → z
    The tokens have their heads side by side now. Make one axis of the last two.
z.flatten(2) → z.view(len(z), z.size(1), -1)
z.flatten(2) → z.view(len(z), z.size(1), z.size(2) * z.size(3))
    `transpose` moves no number, it only reads in another order, and `view` cannot follow that order.
    `reshape` or `flatten` can: they copy where they must.
z.transpose(1, 2) → z.mean(dim=1)
    You average the heads. Then nobody can tell any more which head said what: put them side by side.
z.transpose(1, 2) → z.sum(dim=1)
    You add the heads up. They stand side by side; W_O adds them, each in its own way.
z.transpose(1, 2) → z.amax(dim=1)
    You keep the largest entry of the heads. All entries of all heads are wanted, side by side.
z.transpose(1, 2) → torch.cat(list(z), dim=-1) ; return z.flatten(2) → return z
z.transpose(1, 2) → torch.cat(list(z)) ; return z.flatten(2) → return z
z.transpose(1, 2) → torch.cat([z[i] for i in range(z.size(1))], dim=-1) ; return z.flatten(2) → return z
    `z[i]`, `list(z)` or a loop over z gives a sentence, since the batch is the first axis. The heads are axis 1:
    `z[:, i]`, or `z.unbind(dim=1)`.
z.transpose(1, 2) → z.transpose(1, 2)[:, :, :-1]
    The last head is missing. Does your loop end one too early?
z.transpose(1, 2) → torch.stack([z[:, 0], z[:, 1]], dim=2)
    You take two heads by their numbers. There may be one, or four: `z.unbind(dim=1)`, or exchange the axes.
return z.flatten(2) → return list(z.unbind(2))
return z.flatten(2) → return z.unbind(2)
    These are the heads one by one. Now lay them side by side: `torch.cat(heads, dim=-1)`.
z.transpose(1, 2) → z.permute(0, 2, 3, 1)
    The heads alternate: entry 0 of head 0, entry 0 of head 1, … All entries of head 0 come first.
z.transpose(1, 2) → z ; z.flatten(2) → z.flatten(1, 2)
    You put the heads one behind the other along the tokens: side by side is the last axis.
z.transpose(1, 2) → z
    You laid tokens and entries of one head side by side. First exchange axes 1 and 2.
z.flatten(2) → z.reshape(len(z), z.size(2), -1)
    The names of two axes are exchanged: z is (batch, heads, tokens, d_head) before `transpose(1, 2)`, and (batch,
    tokens, heads, d_head) after it. A row is a token.
z.flatten(2) → z.flatten(1, 2)
    The axes are exchanged, but you joined tokens and heads. The last two axes become one: `.flatten(2)`.
z.transpose(1, 2) → z.transpose(2, 3)
z.transpose(1, 2) → z.transpose(2, 3) ; z.flatten(2) → z.reshape(len(z), z.size(3), -1)
    You exchanged axes 2 and 3, tokens and entries. Heads and tokens are to be: axes 1 and 2.
z.transpose(1, 2) → z.transpose(1, 3)
    You exchanged axes 1 and 3, heads and entries. Heads and tokens are to be: axes 1 and 2.
z.transpose(1, 2) → z.flip(1).transpose(1, 2)
    The heads are in the opposite order: head 0 comes first in a row.
z.transpose(1, 2) → torch.cat(z.unbind(1))
    `cat` without a `dim` lays the heads behind each other along the batch. Side by side is the last axis:
    `dim=-1`.
z.flatten(2) → z.flatten(2).squeeze(0)
z.flatten(2) → z.flatten(2).squeeze()
z.flatten(2) → z.flatten(2)[0]
z.flatten(2) → z.flatten(2).flatten(0, 1)
z.transpose(1, 2) → z.squeeze(0).transpose(0, 1) ; z.flatten(2) → z.flatten(1)
    The axis of the batch is gone. It stays, also with length 1, and each sentence is joined by itself.
z.flatten(2) → z.flatten(1)
    You made one axis of tokens, heads and entries. The tokens keep theirs: `.flatten(2)`.
z.transpose(1, 2) → z[:, 0]
    This is head 0 alone. All heads of a token stand side by side.
return z.flatten(2) → return z.flatten(2) / z.size(2)
    You divide the numbers. Joining computes nothing.
z.flatten(2) → z.reshape(2, 5, 12)
z.flatten(2) → z.reshape(1, 4, 6)
    You wrote the sizes of the lesson's example as numbers. Take them from `z.shape`.
""")
