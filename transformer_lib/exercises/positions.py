"""Codes that say where a token stands, and the turn from one to another. Lesson 10."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise

sinusoids = Exercise(
    task="The table of sinusoidal codes, (max_len, d_model): P[t, 2i] = sin(t / 10000^(2i/d)), "
    "P[t, 2i+1] = cos of the same angle. With an odd d_model the last sine has no cosine.",
    cases=lambda: [(7, 6), (3, 8), (30, 4), (6, 5)],
    hints=(
        "Positions go down, (max_len, 1), pairs go across, (pairs,): together they make a table "
        "of angles.",
        "`torch.arange(0, d_model, 2)` is 2i for every pair, also when d_model is odd.",
        "Fill an empty table: `P[:, 0::2]` takes the sines, `P[:, 1::2]` the cosines. With an odd "
        "d_model there is one cosine fewer: `d_model // 2`.",
    ),
    passed="Which entries would change, if max_len were twice as large?",
)


@sinusoids.solution
def my_sinusoids(max_len, d_model):
    t = torch.arange(max_len)[:, None]
    angle = t / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    P = torch.empty(max_len, d_model)
    P[:, 0::2] = angle.sin()
    P[:, 1::2] = angle.cos()[:, : d_model // 2]
    return P


@sinusoids.solution
def _(max_len, d_model):
    def entry(t, j):
        angle = t / 10000 ** ((j - j % 2) / d_model)
        return math.cos(angle) if j % 2 else math.sin(angle)

    return torch.tensor([[entry(t, j) for j in range(d_model)] for t in range(max_len)])


def _table(max_len, d_model, angle, even=torch.sin, odd=torch.cos):
    """The table that `angle(t, j)` gives, with j the dimension."""
    t, j = torch.arange(max_len)[:, None], torch.arange(d_model)
    turn = angle(t, j)
    return torch.where(j % 2 == 0, even(turn), odd(turn))


_ODD = (
    "Right while d_model is even. With an odd one there is a cosine too many for the table: keep "
    "the first `d_model // 2` of them."
)


@sinusoids.mistake(_ODD)
def _(max_len, d_model):
    angle = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    P = torch.zeros(max_len, d_model)
    P[:, 0::2] = angle.sin()
    P[:, 1::2] = angle.cos()
    return P


@sinusoids.mistake(_ODD)
def _(max_len, d_model):
    angle = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


@sinusoids.mistake(
    "Places and pairs stand along one axis. Places go down: `torch.arange(max_len)[:, None]`."
)
def _(max_len, d_model):
    return torch.arange(max_len) / 10000 ** (torch.arange(0, d_model, 2) / d_model)


@sinusoids.mistake(
    "Right while d_model is even. With an odd one a sine is missing at the end: count the pairs "
    "with `torch.arange(0, d_model, 2)`, which also has the last, single one."
)
def _(max_len, d_model):
    pairs = torch.arange(d_model // 2)
    angle = torch.arange(max_len)[:, None] / 10000 ** (2 * pairs / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


@sinusoids.mistake(
    "Every dimension has a speed of its own. i counts pairs: dimensions 2i and 2i + 1 share the "
    "exponent 2i/d."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / 10000 ** (j / d_model))


@sinusoids.mistake(
    "You put the number of the dimension where i stands. i counts pairs, so dimension 2 belongs to "
    "i = 1: the exponent is 2i/d = 2/d."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / 10000 ** (2 * j / d_model))


@sinusoids.mistake(
    "Your exponent is i/d; the formula has 2i/d. So pair i is too fast by the factor 10000^(i/d)."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / 10000 ** (j // 2 / d_model))


@sinusoids.mistake(
    "Your exponent is 4i/d: the 2 has come in twice. `torch.arange(0, d_model, 2)` is 2i already."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / 10000 ** (4 * (j // 2) / d_model))


@sinusoids.mistake(
    "`10000 ** a / d_model` is (10000^a) / d_model: powers come before division. Put the whole "
    "exponent, 2i/d, in brackets."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / (10000.0 ** (2 * (j // 2)) / d_model))


@sinusoids.mistake(
    "`t / 10000 ** a / d_model` is t / 10000^a, divided by d_model: powers come first. Put the whole "
    "exponent, 2i/d, in brackets."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / 10000.0 ** (2 * (j // 2)) / d_model)


@sinusoids.mistake("The sines belong to the even dimensions, the cosines to the odd ones.")
def _(max_len, d_model):
    return _table(
        max_len, d_model, lambda t, j: t / 10000 ** (2 * (j // 2) / d_model), torch.cos, torch.sin
    )


@sinusoids.mistake(
    "The even *dimensions* are sines and the odd ones cosines, at every position. You chose by the "
    "position."
)
def _(max_len, d_model):
    t, j = torch.arange(max_len)[:, None], torch.arange(d_model)
    angle = t / 10000 ** (2 * (j // 2) / d_model)
    return torch.where(t % 2 == 0, angle.sin(), angle.cos())


@sinusoids.mistake(
    "All sines stand first, then all cosines. That code serves as well, and some models use it; "
    "asked is the paper's order, in which the two of a pair are neighbours."
)
def _(max_len, d_model):
    angle = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat((angle.sin(), angle.cos()), dim=1)[:, :d_model]


@sinusoids.mistake("Positions start at 0. Your first row is that of position 1.")
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: (t + 1) / 10000 ** (2 * (j // 2) / d_model))


@sinusoids.mistake(
    "You multiply by 10000^(2i/d). The angle is t divided by it: later pairs slow down."
)
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t * 10000 ** (2 * (j // 2) / d_model))


@sinusoids.mistake("There are sines only. Of each pair, the odd dimension is a cosine.")
def _(max_len, d_model):
    return _table(
        max_len, d_model, lambda t, j: t / 10000 ** (2 * (j // 2) / d_model), odd=torch.sin
    )


@sinusoids.mistake("Your table lies on its side: a row is a position, a column a dimension.")
def _(max_len, d_model):
    return _table(max_len, d_model, lambda t, j: t / 10000 ** (2 * (j // 2) / d_model)).T


rotation = Exercise(
    task="The matrix R (d_model, d_model), d_model even, for which R @ P[t] is P[t + k] at every "
    "position t. k may be negative.",
    cases=lambda: [(3, 6), (-2, 4), (10, 8)],
    hints=(
        "Each pair turns by itself: R has a 2 × 2 block on the diagonal for each pair, and zeros "
        "elsewhere.",
        "The pair stands as (sin, cos), and sin(a + b) = cos b · sin a + sin b · cos a. That is "
        "the first row of a block, with b the angle of k.",
        "Block i is [[cos b, sin b], [−sin b, cos b]] with b = k / 10000^(2i/d). "
        "`torch.block_diag` puts the blocks together.",
    ),
    passed="t is nowhere in it. What is R.T @ R, and what is R.T?",
)


def _blocks(k, d_model, block, angle=None):
    angle = angle or (lambda i: k / 10000 ** (2 * i / d_model))
    return torch.block_diag(
        *(torch.tensor(block(math.sin(angle(i)), math.cos(angle(i)))) for i in range(d_model // 2))
    )


def _right(sin, cos):
    return [[cos, sin], [-sin, cos]]


@rotation.solution
def my_rotation(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        b = k / 10000 ** (2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]]))
    return torch.block_diag(*blocks)


@rotation.solution
def _(k, d_model):
    R = torch.zeros(d_model, d_model)
    for j in range(0, d_model, 2):
        b = k / 10000 ** (j / d_model)
        R[j, j] = R[j + 1, j + 1] = math.cos(b)
        R[j, j + 1], R[j + 1, j] = math.sin(b), -math.sin(b)
    return R


@rotation.mistake(
    "Yours turns the other way: it gives the code of t − k. Here the sine is the first of a pair, "
    "so the minus stands in the lower row."
)
def _(k, d_model):
    return _blocks(k, d_model, lambda sin, cos: [[cos, -sin], [sin, cos]])


@rotation.mistake("All your pairs turn by the angle k. Pair i turns by k / 10000^(2i/d).")
def _(k, d_model):
    return _blocks(k, d_model, _right, lambda i: k)


@rotation.mistake(
    "Your exponent is i/d; the formula has 2i/d. So pair i is too fast by the factor 10000^(i/d)."
)
def _(k, d_model):
    return _blocks(k, d_model, _right, lambda i: k / 10000 ** (i / d_model))


@rotation.mistake(
    "Your exponent is 4i/d: the 2 has come in twice. If your numbers go 0, 2, 4, … they are 2i already."
)
def _(k, d_model):
    return _blocks(k, d_model, _right, lambda i: k / 10000 ** (4 * i / d_model))


@rotation.mistake("The angle is k divided by 10000^(2i/d), not multiplied by it.")
def _(k, d_model):
    return _blocks(k, d_model, _right, lambda i: k * 10000 ** (2 * i / d_model))


@rotation.mistake("k is not used. Your angles are those of a shift by one position.")
def _(k, d_model):
    return _blocks(k, d_model, _right, lambda i: 1 / 10000 ** (2 * i / d_model))


@rotation.mistake(
    "Both off-diagonal entries have the same sign. Check at angle 0 to 90°: (sin, cos) = (0, 1) "
    "must become (1, 0), and (1, 0) must become (0, −1)."
)
def _(k, d_model):
    return _blocks(k, d_model, lambda sin, cos: [[cos, sin], [sin, cos]])


@rotation.mistake(
    "Sine and cosine have changed places in your blocks. For k = 0 it must be the unit matrix."
)
def _(k, d_model):
    return _blocks(k, d_model, lambda sin, cos: [[sin, cos], [-cos, sin]])


@rotation.mistake(
    "Your matrix is for codes with all sines first and all cosines after. In ours the two of a pair "
    "are neighbours, so each block is 2 × 2 on the diagonal."
)
def _(k, d_model):
    b = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    sin, cos = b.sin().diag(), b.cos().diag()
    return torch.cat((torch.cat((cos, sin), dim=1), torch.cat((-sin, cos), dim=1)))


@rotation.mistake(
    "These are the blocks, one behind the other. `torch.block_diag(*blocks)` puts them on a diagonal."
)
def _(k, d_model):
    b = k / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack((b.cos(), b.sin(), -b.sin(), b.cos()), dim=-1).view(-1, 2, 2)


@rotation.mistake(
    "This is the block of the first pair alone. There are d_model / 2 of them, each with its own angle."
)
def _(k, d_model):
    return torch.tensor(_right(math.sin(k), math.cos(k)))
