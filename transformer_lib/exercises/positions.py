"""Codes that say where a token stands, and the turn from one to another. Lesson 10."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _clock(position, column, d_model):
    """One entry of a code in one line of arithmetic."""
    i, wave = column // 2, ("sin", "cos")[column % 2]
    angle = position / 10000 ** (2 * i / d_model)
    return f"{wave}({position} / 10000^({2 * i}/{d_model})) = {wave} {angle:.4g}"


def _one_angle(place, max_len, d_model):
    t, column = place
    return (
        f"The entry that is marked belongs to pair i = {column // 2}: {_clock(t, column, d_model)}."
    )


sinusoids = Exercise(
    sections=("10 Sines and cosines",),
    task="The table of sinusoidal codes, (max_len, d_model), positions counted from 0: P[t, 2i] = "
    "sin(t / 10000^(2i/d)), P[t, 2i+1] = cos of the same angle. With an odd d_model the last sine has no "
    "cosine.",
    cases=lambda: [(3, 4), (1, 6), (4, 4), (9, 2), (3, 6), (3, 3), (2, 5), (2, 8)],
    hints=(
        "Every position meets every pair, and each time there is one angle. Positions go down the table, pairs "
        "go across. `[:, None]` gives the row of positions an axis of length 1, (max_len, 1), so that they "
        "stand below each other; divided by a row of numbers, one for each pair, they make the whole table of "
        "angles.",
        "`torch.arange(0, d_model, 2)` counts 0, 2, 4, …: that is 2i for every pair, also for the last, single "
        "one where d_model is odd. The whole exponent, 2i/d, goes into brackets.",
        "Make an empty table. `P[:, 0::2]` are all its even columns, and take the sines; `P[:, 1::2]` are the "
        "odd ones, and take the cosines. Columns are counted from 0, so the last one of an odd d_model is even, a "
        "sine: there is one odd column fewer, `d_model // 2`.",
    ),
    passed="Which entries would change, if max_len were twice as large?",
    tolerance=5e-4,
    without=("sinusoid", "Sinusoidal", "PositionalEncoding"),
    gaps=(
        "torch.arange(max_len)[:, None]",
        "pair / d_model",
        "angle.sin()",
        "angle.cos()",
        "cosines[:, : d_model // 2]",
    ),
    how=_one_angle,
)


@sinusoids.solution
def my_sinusoids(max_len, d_model):
    # Positions stand below each other, so that each meets every pair.
    t = torch.arange(max_len)[:, None]  # (max_len, 1)
    # 2i for every pair, also for a last one that is single.
    pair = torch.arange(0, d_model, 2)  # (pairs,)
    # The further right a pair, the slower its angle grows.
    angle = t / 10000 ** (pair / d_model)  # (max_len, pairs)
    sines, cosines = angle.sin(), angle.cos()  # (max_len, pairs)
    P = torch.zeros(max_len, d_model)
    # The even columns are sines, the odd ones cosines. An odd width has one cosine fewer.
    P[:, 0::2] = sines
    P[:, 1::2] = cosines[:, : d_model // 2]
    return P  # (max_len, d_model)


@sinusoids.solution
def _(max_len, d_model):
    def entry(t, j):
        angle = t / 10000 ** ((j - j % 2) / d_model)
        return math.cos(angle) if j % 2 else math.sin(angle)

    return torch.tensor([[entry(t, j) for j in range(d_model)] for t in range(max_len)])


sinusoids.edits("""
[:, : d_model // 2] →
return P → return torch.stack((sines, cosines), dim=-1).flatten(1)
P[:, 1::2] → if d_model % 2: P[0, d_model] ⏎ P[:, 1::2]
    With an odd d_model you have a cosine too many for the table: keep the first `d_model // 2` of them.
= sines → = P[0, d_model]
    You write behind the last column. i counts pairs, from 0 to d/2 − 1, and pair i fills the columns 2i and
    2i + 1.
torch.arange(0, d_model, 2) → 2 * torch.arange(d_model // 2)
(0, d_model, 2) → (0, d_model - 1, 2) ; P = → return torch.stack((sines, cosines), dim=-1).flatten(1) ⏎ P =
P[:, 0::2] = sines → P[:, 0 : d_model - 1 : 2] = sines[:, : d_model // 2]
    With an odd d_model you leave out the last sine: count the pairs with `torch.arange(0, d_model, 2)`, which also
    has the last, single one.
pair / d_model → pair / (d_model - d_model % 2)
pair / d_model → pair / (d_model + d_model % 2)
    With an odd d_model you divide the exponent by an even width. It is 2i/d with d itself.
[:, : d_model // 2] → [:, d_model % 2 :]
return P → return torch.stack((sines, cosines), dim=-1).flatten(1)[:, d_model % 2 :]
    With an odd d_model you dropped something in front. It is the last cosine that has no column.
return P → if d_model % 2: P[:, -1] = cosines[:, -1] ⏎ return P
    With an odd d_model your last column is a cosine. Columns are counted from 0, so the last is an even one, a sine.
[:, None] →
[:, None] → [None]
    Positions and pairs lie along one axis. Positions go down, `torch.arange(max_len)[:, None]`, so that each
    meets every pair.
(0, d_model, 2) → (d_model) ; angle.sin(), angle.cos() → angle.sin()[:, 0::2], angle.cos()[:, 1::2]
    Every column has an angle of its own. i counts pairs: columns 2i and 2i + 1 share the exponent 2i/d.
(0, d_model, 2) → (0, 2 * d_model, 2) ; angle.sin(), angle.cos() → angle.sin()[:, 0::2], angle.cos()[:, 1::2]
    You put the number of the column where i stands. i counts pairs, so column 2 belongs to i = 1, and the
    exponent is 2i/d = 2/d.
(0, d_model, 2) → ((d_model + 1) // 2)
(0, d_model, 2) → (d_model // 2)
    Your exponent is i/d; the formula has 2i/d. So pair i turns too fast, by the factor 10000^(i/d).
pair / d_model → 2 * pair / d_model
pair / d_model → pair / (d_model // 2)
    Your exponent is 4i/d: the 2 has come in twice. `torch.arange(0, d_model, 2)` is 2i already, and i divided
    by half of d is 2i/d too.
10000 ** (pair / d_model) → 10000.0 ** pair / d_model
10000 ** (pair / d_model) → (10000.0 ** pair / d_model)
10000 ** (pair / d_model) → (10000 ** 2 * pair / d_model)
    Powers come before products and divisions: `10000 ** a / d_model` is (10000 ** a) / d_model. Put the whole
    exponent, 2i/d, in brackets.
10000 ** (pair / d_model) → 10000 ** 2 * pair / d_model
    All your angles are about 0, so every row is the code of position 0. `t / 10000 ** 2 * i / d` does this: powers
    come first. Put the whole exponent, 2i/d, in brackets.
pair / d_model → pair / max_len
    You divide the exponent by max_len. It is 2i/d, with d the width d_model.
torch.arange(max_len) → (torch.arange(max_len) / max_len)
    You divide the positions by max_len. Then the code of a position would depend on how long the table is.
10000 ** (pair / d_model) → 10000 ** (pair / d_model) * math.pi / 180
    Your angles are taken for degrees. Sine and cosine take radians: leave the angles as they are.
pair / d_model → pair // d_model
    Every pair has the angle t, as if the exponent were 0. (`//` rounds it down to 0.) It is 2i/d.
t / 10000 → t // 10000
    In all pairs but the first your angles are about 0. `//` rounds them down to whole numbers: divide with `/`. (An
    exponent without its brackets, as in `10000 ** 2 * i / d`, gives that as well.)
10000 → 1000
10000 → 100000
    Your base is another one. The formula has 10000.
t / 10000 → t * 10000
    You multiply by 10000^(2i/d), where the angle is t divided by it, so that later pairs turn more slowly.
    Written with `exp` and `log`, the exponent needs a minus.
torch.arange(max_len) → torch.ones(max_len)
    t is not used: every row is the code of position 1. Row t has the angles t / 10000^(2i/d).
angle.sin(), angle.cos() → angle.cos(), angle.sin()
    The sines belong to the even columns, the cosines to the odd ones. Yours are exchanged.
return P → angle = angle.repeat_interleave(2, 1)[:, :d_model] ⏎ return torch.where(t % 2 == 0, angle.sin(), angle.cos())
P[:, 0::2] → P[0::2] ; P[:, 1::2] → P[1::2]
    The even *columns* are sines and the odd ones cosines, at every position. You chose by the position.
return P → return torch.cat((sines, cosines), dim=1)[:, :d_model]
    All sines stand first, then all cosines. That code serves as well, and some models use it. Asked is the
    paper's order, in which the two of a pair are neighbours.
torch.arange(max_len) → torch.arange(1, max_len + 1)
    Positions are counted from 0. Your first row is that of position 1.
(0, d_model, 2) → (2, d_model + 2, 2)
    Pairs are counted from 0: the first one has the exponent 0 and the angle t. Yours begin with i = 1.
, angle.cos() → , angle.sin()
cosines[:, : d_model // 2] → 0
= angle.sin() → = angle.cos()
= sines → = 0
    There are sines only, or cosines only. Of each pair, the even column is a sine, the odd one a cosine.
return P → return torch.stack((sines, cosines)).reshape(max_len, -1)[:, :d_model]
return P → return torch.stack((sines, cosines)).reshape(max_len, d_model)
return P → return torch.stack((sines, cosines)).reshape(-1, d_model)[:max_len]
return P → return torch.stack((sines, cosines)).flatten()[: max_len * d_model].view(max_len, d_model)
    You stack sines and cosines along a new *first* axis, so the rows that you then cut hold several positions. Stack
    along the last, `torch.stack(…, dim=-1)`: the two of a pair become neighbours, and `.flatten(1)` makes rows of them.
return P → return P.T
    Your table lies on its side: a row is a position, a column an entry of its code.
return P → return P[None]
return P → return P[:, None]
    Your table has an axis of length 1 too many. Asked is (max_len, d_model), without a batch.
angle.sin() → math.sin(angle)
    `math.sin` takes one number. `torch.sin`, or `.sin()` behind a tensor, takes all of them.
""")


sinusoids_for_one = Exercise(
    sections=("10 Sines and cosines",),
    task="The code of one position, (d_model,): entry 2i is sin(position / 10000^(2i/d)), entry 2i+1 is cos of "
    "the same angle. With an odd d_model the last sine has no cosine.",
    cases=lambda: [(2, 4), (0, 6), (1, 2), (3, 6), (1, 3), (2, 5), (3, 8)],
    hints=(
        "First the angles, one for each pair. `torch.arange(0, d_model, 2)` counts 0, 2, 4, …, which is 2i for "
        "every pair. The whole exponent, 2i/d, goes into brackets.",
        "Make a vector of zeros and fill it: `code[0::2]` are its even entries, and take the sines; "
        "`code[1::2]` are the odd ones, and take the cosines.",
        "Entries are counted from 0, so the last one of an odd d_model is even, a sine. There is one odd entry fewer "
        "than there are angles: keep the first `d_model // 2` cosines.",
    ),
    passed="For a whole table the positions go down, and each meets every pair.",
    tolerance=sinusoids.tolerance,
    without=sinusoids.without,
    gaps=(
        "torch.arange(0, d_model, 2)",
        "pair / d_model",
        "angle.sin()",
        "angle.cos()",
        "cosines[: d_model // 2]",
    ),
    how=lambda place, position, d_model: (
        f"The entry that is marked: {_clock(position, place[0], d_model)}."
    ),
)


@sinusoids_for_one.solution
def my_sinusoids_for_one(position, d_model):
    # 2i for every pair, also for a last one that is single.
    pair = torch.arange(0, d_model, 2)  # (pairs,)
    angle = position / 10000 ** (pair / d_model)  # (pairs,)
    sines, cosines = angle.sin(), angle.cos()  # (pairs,)
    code = torch.zeros(d_model)
    # The even entries are sines, the odd ones cosines. An odd width has one cosine fewer.
    code[0::2] = sines
    code[1::2] = cosines[: d_model // 2]
    return code  # (d_model,)


@sinusoids_for_one.solution
def _(position, d_model):
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten()[:d_model]


sinusoids_for_one.edits("""
[: d_model // 2] →
return code → return torch.stack((sines, cosines), dim=-1).flatten()
    With an odd d_model you have a cosine too many: keep the first `d_model // 2`.
torch.arange(0, d_model, 2) → 2 * torch.arange(d_model // 2)
(0, d_model, 2) → (0, d_model - 1, 2) ; code = → return torch.stack((sines, cosines), dim=-1).flatten() ⏎ code =
code[0::2] = sines → code[0 : d_model - 1 : 2] = sines[: d_model // 2]
    With an odd d_model you leave out the last sine: `torch.arange(0, d_model, 2)` counts it too.
= sines → = code[d_model]
    You write behind the last entry. i counts pairs, from 0 to d/2 − 1, and pair i fills the entries 2i and 2i + 1.
pair / d_model → pair / (d_model - d_model % 2)
pair / d_model → pair / (d_model + d_model % 2)
    With an odd d_model you divide the exponent by an even width. It is 2i/d with d itself.
[: d_model // 2] → [d_model % 2 :]
return code → return torch.stack((sines, cosines), dim=-1).flatten()[d_model % 2 :]
    With an odd d_model you dropped something in front. It is the last cosine that has no entry.
return code → if d_model % 2: code[-1] = cosines[-1] ⏎ return code
    With an odd d_model your last entry is a cosine. Entries are counted from 0, so the last is an even one, a sine.
(0, d_model, 2) → ((d_model + 1) // 2)
    Your exponent is i/d; the formula has 2i/d.
pair / d_model → 2 * pair / d_model
pair / d_model → pair / (d_model // 2)
    Your exponent is 4i/d: the 2 has come in twice. `torch.arange(0, d_model, 2)` is 2i already, and i divided
    by half of d is 2i/d too.
(0, d_model, 2) → (d_model) ; angle.sin(), angle.cos() → angle.sin()[0::2], angle.cos()[1::2]
    Every entry has an angle of its own. i counts pairs: entries 2i and 2i + 1 share one angle.
(0, d_model, 2) → (0, 2 * d_model, 2) ; angle.sin(), angle.cos() → angle.sin()[0::2], angle.cos()[1::2]
    You put the number of the entry where i stands. i counts pairs, so entry 2 belongs to i = 1, and the exponent is
    2i/d = 2/d.
pair / d_model → pair // d_model
    Every pair has the position itself as its angle, as if the exponent were 0. (`//` rounds it down to 0.) It is 2i/d.
position / 10000 → position // 10000
    In all pairs but the first your angles are about 0. `//` rounds them down to whole numbers: divide with `/`. (An
    exponent without its brackets, as in `10000 ** 2 * i / d`, gives that as well.)
10000 ** (pair / d_model) → 10000 ** (pair / d_model) * math.pi / 180
    Your angles are taken for degrees. Sine and cosine take radians: leave the angles as they are.
position / 10000 → (position + 1) / 10000
    Yours is the code of the position after: positions are counted from 0, and `position` is taken as it is.
(0, d_model, 2) → (2, d_model + 2, 2)
    Pairs are counted from 0: the first one has the exponent 0. Yours begin with i = 1.
10000 ** (pair / d_model) → 10000.0 ** pair / d_model
10000 ** (pair / d_model) → (10000.0 ** pair / d_model)
10000 ** (pair / d_model) → (10000 ** 2 * pair / d_model)
    Powers come before products and divisions: put the whole exponent, 2i/d, in brackets.
10000 ** (pair / d_model) → 10000 ** 2 * pair / d_model
    All your angles are about 0, so yours is the code of position 0. `position / 10000 ** 2 * i / d` does this: powers
    come first. Put the whole exponent, 2i/d, in brackets.
position / 10000 → position * 10000
    You multiply by 10000^(2i/d). The angle is the position divided by it.
angle.sin(), angle.cos() → angle.cos(), angle.sin()
    The sines belong to the even entries, the cosines to the odd ones. Yours are exchanged.
return code → return torch.cat((sines, cosines))[:d_model]
    All sines stand first, then all cosines. Asked is the paper's order, in which the two of a pair are
    neighbours.
angle.cos() → angle.sin()
cosines[: d_model // 2] → 0
    There are sines only. Of each pair, the odd entry is a cosine.
= angle.sin() → = angle.cos()
= sines → = 0
    There are cosines only. Of each pair, the even entry is a sine.
return code → return code[None]
    Your code has an axis of length 1 too many. Asked is one row, (d_model,).
angle.sin() → math.sin(angle)
    `math.sin` takes one number. `torch.sin`, or `.sin()` behind a tensor, takes all of them.
return code → return torch.stack((sines, cosines), dim=-1)
    The sines and the cosines stand in two columns. Asked is one row, (d_model,): fill a vector, or `.flatten()`.
10000 → 1000
10000 → 100000
    Your base is another one. The formula has 10000.
""")


def _one_turn(place, k, d_model):
    row, column = place
    i = row // 2
    if column // 2 != i:
        return "The entry that is marked lies outside of the blocks: its row and its column are of two pairs."
    entry = "cos b" if row == column else "sin b" if row < column else "-sin b"
    angle = k / 10000 ** (2 * i / d_model)
    return f"The entry that is marked, of block {i}, is {entry} with b = {k} / 10000^({2 * i}/{d_model}) = {angle:.4g}."


rotation = Exercise(
    sections=(
        "10 Why a sine and a cosine?",
        "10 Turn queries and keys",
    ),
    task="The matrix R (d_model, d_model), d_model even, for which R @ P[t] is P[t + k] at every position t. P "
    "is the table of sinusoidal codes with the pairs in the order (sin, cos). k may be negative or 0.",
    cases=lambda: [(1, 4), (1, 2), (3, 6), (-2, 4), (0, 2), (4, 8)],
    hints=(
        "Each pair turns by itself: R has a 2 × 2 block on the diagonal for each pair, and zeros elsewhere.",
        "The pair stands as (sin a, cos a). sin(a + b) = cos b · sin a + sin b · cos a, where b is the angle of "
        "k positions: this gives the first row of a block, cos b and sin b. cos(a + b) = cos b · cos a − "
        "sin b · sin a gives the second.",
        "The angle of block i is k / 10000^(2i/d). `torch.block_diag` puts matrices on a diagonal; it wants them "
        "one by one, and the star in `torch.block_diag(*blocks)` hands over a list in this way.",
    ),
    passed="t is nowhere in it. What is R.T @ R, and what is R.T?",
    tolerance=5e-4,
    gaps=("d_model // 2", "2 * i / d_model", "[cos, sin], [-sin, cos]", "*blocks"),
    how=_one_turn,
)


@rotation.solution
def my_rotation(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        # Pair i has an angle of its own. A shift by k positions adds b to it.
        b = k / 10000 ** (2 * i / d_model)
        sin, cos = math.sin(b), math.cos(b)
        # The pair is (sin a, cos a). First row: sin(a + b), second row: cos(a + b).
        blocks.append(torch.tensor([[cos, sin], [-sin, cos]]))  # (2, 2)
    # No pair needs another: zeros outside of the blocks.
    return torch.block_diag(*blocks)  # (d_model, d_model)


@rotation.solution
def _(k, d_model):
    R = torch.zeros(d_model, d_model)
    for j in range(0, d_model, 2):
        b = k / 10000 ** (j / d_model)
        R[j, j] = R[j + 1, j + 1] = math.cos(b)
        R[j, j + 1], R[j + 1, j] = math.sin(b), -math.sin(b)
    return R


rotation.edits("""
[cos, sin], [-sin, cos] → [cos, -sin], [sin, cos]
    Yours turns the other way: it gives the code of t − k. Here the sine is the first of a pair, so the minus
    stands in the lower row. (A matrix found by least squares, for rows @ R, is to be transposed: R @ P[t] is asked.)
k / 10000 → abs(k) / 10000
    With a negative k yours turns forwards: take k with its sign.
(2 * i / d_model) → 0
    All your pairs turn by the angle k. Pair i turns by k / 10000^(2i/d).
2 * i / d_model → i / d_model
    Your exponent is i/d; the formula has 2i/d. So pair i turns too fast, by the factor 10000^(i/d).
2 * i / d_model → 4 * i / d_model
    Your exponent is 4i/d: the 2 has come in twice. If your numbers go 0, 2, 4, … they are 2i already, and i divided
    by half of d is 2i/d too.
10000 ** (2 * i / d_model) → 10000 ** 2 * i / d_model
    All your angles are about 0, so R is the unit matrix and nothing turns. `k / 10000 ** 2 * i / d` does this:
    powers come first. Put the whole exponent, 2i/d, in brackets.
10000 ** (2 * i / d_model) → 10000 ** (2 * i) / d_model
10000 ** (2 * i / d_model) → (10000 ** (2 * i) / d_model)
10000 ** (2 * i / d_model) → (10000 ** 2 * i / d_model)
    Powers come before products and divisions: put the whole exponent, 2i/d, in brackets.
range(d_model // 2) → range(1, d_model // 2 + 1)
    Pairs are counted from 0: the first one turns by the angle k. Yours begin with i = 1.
10000 → 1000
10000 → 100000
    Your base is another one. The formula has 10000.
k / 10000 → k * 10000
    The angle is k divided by 10000^(2i/d), not multiplied by it.
k / 10000 → 1 / 10000
    k is not used. Your angles are those of a shift by one position.
k / 10000 → k // 10000
    `//` rounds your angles down to whole numbers, 0 or less in all pairs but the first. Divide with `/`.
math.sin(b), math.cos(b) → math.sin(math.radians(b)), math.cos(math.radians(b))
math.sin(b), math.cos(b) → math.sin(math.degrees(b)), math.cos(math.degrees(b))
    `math.sin` takes its angle in radians, and that is what k / 10000^(2i/d) is: leave it as it is.
[cos, sin], [-sin, cos] → [cos, sin], [sin, cos]
[cos, sin], [-sin, cos] → [cos, -sin], [-sin, cos]
[cos, sin], [-sin, cos] → [cos, sin], [sin, -cos]
    The signs of a block do not fit together. Check with b = 90°: from the angle 0, (sin, cos) = (0, 1) must
    become (1, 0), and from 90°, (1, 0) must become (0, −1).
[cos, sin], [-sin, cos] → [sin, cos], [-cos, sin]
[cos, sin], [-sin, cos] → [sin, cos], [cos, sin]
[cos, sin], [-sin, cos] → [sin, -cos], [cos, sin]
[cos, sin], [-sin, cos] → [sin, cos], [cos, -sin]
    The sines stand on the diagonal of your blocks. For k = 0 it must be the unit matrix, and sin 0 is 0: the
    cosines stand there.
[cos, sin], [-sin, cos] → [cos, 0.0], [0.0, cos]
    Your blocks have the cosines alone. sin(a + b) needs the cosine of a too: sin b beside the diagonal.
[cos, sin], [-sin, cos] → [sin, 0.0], [0.0, cos]
    Your blocks have sin b and cos b on the diagonal and 0 beside it. Each row needs both: sin(a + b) =
    cos b · sin a + sin b · cos a.
torch.block_diag(*blocks) → torch.block_diag(*blocks)[(o := torch.arange(d_model).view(-1, 2).T.flatten())][:, o]
    Your matrix is for codes with all sines first and all cosines after. In ours the two of a pair are
    neighbours, so each block is 2 × 2 on the diagonal.
torch.block_diag(*blocks) → torch.stack(blocks)
torch.block_diag(*blocks) → torch.cat(blocks)
torch.block_diag(*blocks) → torch.cat(blocks, dim=1)
torch.block_diag(*blocks) → blocks
    These are the blocks, one behind the other. `torch.block_diag(*blocks)` puts them on a diagonal.
*blocks → blocks
    `torch.block_diag` wants the blocks one by one, not in a list. The star hands over what is in a list:
    `torch.block_diag(*blocks)`.
*blocks → blocks[0]
    This is the block of the first pair alone. There are d_model / 2 of them, each with its own angle.
range(d_model // 2) → range(d_model)
    Your matrix is twice too large: there is one block for each pair, d_model / 2 of them.
""")
