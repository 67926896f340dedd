"""Weights and mixtures, the two steps that every attention ends in. Lesson 00."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _scores():
    torch.manual_seed(1)
    paper = torch.tensor([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0]])
    one_row, single = torch.tensor([[2.0, 0.0, 1.0]]), torch.tensor([0.0, 88.0, 90.0])
    apart = torch.tensor([[1.0, 3.0], [-300.0, -302.0]])
    wide = torch.tensor([0.0, 150.0, -150.0, 3.0])
    loud = torch.tensor([[100.0, 101.0, 99.0], [1000.0, 999.0, 1001.0]])
    square, cube = 2 * torch.randn(3, 3), 2 * torch.randn(3, 3, 3)
    all_differ = 2 * torch.randn(2, 3, 5)
    return [(x,) for x in (paper, one_row, single, apart, wide, loud, square, cube, all_differ)]


def _one_weight(place, scores):
    *row, i = place
    row = scores[*row]
    off = row.max().item() if row.abs().max() > 80 else 0.0
    powers = [f"e^{x - off:.3g}" for x in row.tolist()]
    without = f", with {off:g} taken off every score of the row" if off else ""
    return f"The entry that is marked: {powers[i]} / ({' + '.join(powers)}){without}."


softmax = Exercise(
    sections=("00 Softmax: from scores to weights",),
    task="Weights from scores: e to the power of each score, divided by the sum of these powers along the last "
    "axis. `scores` has any number of axes, and the weights have the same shape. It must also work at scores "
    "of 1000, must leave `scores` as they are, and must not call softmax.",
    cases=_scores,
    hints=(
        "A weight must be positive, and the weights of a row must add up to 1. e to the power of a score is "
        "always positive. Divided by the sum of its row, it becomes a weight. But e to the power of 1000 does "
        "not fit into a number. Subtracting the same number from all scores of a row changes no weight: which "
        "number keeps every power at 1 or below?",
        "The largest score of the row. `scores.max(dim=-1, keepdim=True)` looks for it along the last axis. It "
        "gives two things, the largest scores and the positions where they stand; the scores are in `.values`. "
        "Without `keepdim=True` the last axis would be gone: of (2, 3) scores (2,) would be left, and (2, 3) − "
        "(2,) does not line up. With it (2, 1) is left, and each row gets its own number subtracted.",
        "So there are three lines: the largest score of each row, `.exp()` of the difference, and each power "
        "divided by `.sum(dim=-1, keepdim=True)`, which keeps its axis for the same reason.",
    ),
    passed="It also survives scores of 1000, which the formula as written does not.",
    without=("softmax",),
    gaps=("scores - largest", "powers.sum(dim=-1, keepdim=True)", "dim=-1, keepdim=True"),
    how=_one_weight,
)


@softmax.solution
def my_softmax(scores):
    # One number off a whole row changes no weight. The largest off, and no power is above e⁰ = 1.
    largest = scores.max(dim=-1, keepdim=True).values  # (..., 1)
    # e to the power of a score is always positive.
    powers = (scores - largest).exp()  # (..., n)
    # Each is divided by the sum of its own row, so a row adds up to 1.
    return powers / powers.sum(dim=-1, keepdim=True)  # (..., n)


@softmax.solution
def _(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


_SHIFTS = """\
(scores - largest).exp() → scores.exp() - largest
    You subtract the largest score from the power. Subtract it from the score, before `.exp()`.
(scores - largest).exp() → scores.exp() - largest.exp()
(scores - largest).exp() → scores.exp() - scores.exp().max()
    You subtract the largest power from the powers. Subtract the largest score from the scores, before `.exp()`.
(scores - largest).exp() → scores.exp() / largest.exp()
    At large scores this fails: the powers become infinite before you divide them by the largest. Subtract the
    largest score from the scores, before `.exp()`.
scores - largest → scores.sub_(largest)
    The call changed its input `scores`: `-=` and functions whose name ends with an underscore,
    such as `sub_`, write into it. `scores - largest` makes a new tensor.
scores - largest → scores + largest
    You add the largest score, so the powers become larger still and overflow. Subtract it.
scores - largest → largest - scores
scores - largest → -scores
    You put a minus in front of `scores`, so the smallest score gets the largest weight: it is `scores - largest`.
scores - largest → scores / largest
scores - largest → scores / scores.max()
    You divide by the largest score. That changes how far the scores of a row are apart, and with it the weights.
    Subtract it: then they stay as far apart as they were.
scores - largest → scores / scores.abs().max()
    You divide by the largest absolute value of a score. That changes how far the scores are apart, and with it
    the weights. Subtract the largest score: then they stay as far apart as they were.
scores - largest → scores.clamp(max=80)
scores - largest → scores.clamp(-80, 80)
scores - largest → scores.clamp(max=88)
scores - largest → scores.clamp(max=50)
    You cut large scores off at a limit. Scores above it then all count the same, such as 88 and 90. Subtract the
    largest score of the row: that keeps every power at 1 or below and changes no weight.
"""

softmax.edits(f"""
sum(dim=-1, keepdim=True) → sum()
    All your weights together add up to 1. Each row should add up to 1 by itself: sum along the last axis, `dim=-1`.
sum(dim=-1, keepdim=True) → sum(dim=0)
sum(dim=-1, keepdim=True) → sum(dim=-2, keepdim=True)
scores.max(dim=-1, keepdim=True) → scores.max(dim=0, keepdim=True) ; sum(dim=-1, keepdim=True) → sum(dim=0)
    Your weights add up to 1 over another axis. Each row needs a sum of its own: along the last axis,
    `dim=-1`. (Python's `sum` goes along the first one.)
sum(dim=-1, keepdim=True) → sum(dim=1, keepdim=True)
scores.max(dim=-1, keepdim=True) → scores.max(dim=1, keepdim=True)
dim=-1 → dim=1
powers / powers.sum(dim=-1, keepdim=True) → torch.stack([row / row.sum() for row in powers])
powers / powers.sum(dim=-1, keepdim=True) → torch.stack([row / sum(row) for row in powers])
powers / powers.sum(dim=-1, keepdim=True) → torch.stack([(r - max(r)).exp() / sum((r - max(r)).exp()) for r in scores])
    `dim=1`, or a loop over the rows, finds the last axis of a table alone: with three axes it takes another,
    and a single row has no such axis. `dim=-1` is the last axis of them all.
scores - largest → scores
scores - largest → scores.double()
scores - largest → scores ; keepdim=True)  # (..., n) → keepdim=True)).nan_to_num() ; return powers → return (powers
scores - largest → scores ; keepdim=True)  # (..., n) → keepdim=True) + 1e-9) ; return powers / → return powers / (
    At large scores this fails: in 32 bits e to the power of 90 is infinite and e to the power of −200 is 0, and
    neither makes a weight. So first subtract the largest score of the row.
return powers / → return scores.exp() /
    The largest score is subtracted below the line alone, in the sum. It must be subtracted above the line as well.
return powers / powers.sum → return powers / scores.exp().sum
    The largest score is subtracted above the line alone. It must be subtracted below it as well, in the sum.
scores.max(dim=-1, keepdim=True).values → scores.max()
    You subtract the largest score of the whole table. In a row far below it all powers become 0, and 0 / 0
    is NaN: take the largest of each row, `dim=-1, keepdim=True`.
.values →
    `max` along an axis gives two things, the largest scores and where they stand. The scores are in
    `.values`; `amax` gives them alone. (With either, `keepdim=True` keeps the axis.)
.values → .indices
.max(dim=-1, keepdim=True).values → .max(dim=-1).indices
    You subtract the position of the largest score (`[1]`, `.indices`, `argmax`), not the score: it is in
    `.values`, and `[0]` is the same.
max(dim=-1, keepdim=True) → max(dim=-1)
sum(dim=-1, keepdim=True) → sum(dim=-1)
dim=-1, keepdim=True → dim=-1
powers / powers.sum(dim=-1, keepdim=True) → (scores - scores.logsumexp(dim=-1)).exp()
    The largest score, or the sum, has lost its axis, so it does not line up with the rows: (2, 3) has become (2,).
    `keepdim=True` keeps it, (2, 1). (After `max` along an axis the scores are in `.values`.)
max(dim=-1, keepdim=True).values → max(dim=-1).values[:, None]
sum(dim=-1, keepdim=True) → sum(dim=-1)[:, None]
max(dim=-1, keepdim=True).values → max(dim=-1).values[:, None] ; sum(dim=-1, keepdim=True) → sum(dim=-1)[:, None]
    `[:, None]` (or `unsqueeze(1)`) always puts the new axis second. In a table that is the last; with more
    axes, or only one, it is not. `keepdim=True` keeps it where it was.
scores.max(dim=-1, keepdim=True).values → max(scores)
    Python's `max` compares whole rows of a table with each other. torch's goes along an axis:
    `scores.max(dim=-1, keepdim=True).values`.
(scores - largest).exp() → __import__("math").exp(scores - largest)
    `math.exp` takes a single number. For a whole tensor it is `.exp()`.
powers / powers.sum(dim=-1, keepdim=True) → powers
    These powers of e are not weights yet: divide each by the sum of its row.
scores - largest → scores ; powers / powers.sum(dim=-1, keepdim=True) → powers
    e to the power of a score is not a weight yet: divide each by the sum of its row. And of 1000 it is
    infinite: first subtract the largest score of the row.
.max(dim=-1, keepdim=True).values → .mean(dim=-1, keepdim=True)
    You subtract the mean of the row. A score far above it can still overflow: subtract the largest of the row.
.max(dim=-1, keepdim=True) → .min(dim=-1, keepdim=True)
    You subtract the smallest score of the row. The largest can still overflow: subtract the largest of the row.
scores - largest → scores - 1000
    You subtract one fixed number from all rows. In a row far below it all powers become 0, and 0 / 0 is NaN:
    subtract the largest score of the row.
{_SHIFTS}(scores - largest).exp() → scores
(scores - largest).exp() → scores - largest
(scores - largest).exp() → (scores - scores.min(dim=-1, keepdim=True).values)
    You divide the scores themselves. They can be negative: take e to the power of each first.
powers / powers.sum(dim=-1, keepdim=True) → scores - scores.logsumexp(dim=-1, keepdim=True)
powers / powers.sum(dim=-1, keepdim=True) → scores - scores.exp().sum(dim=-1, keepdim=True).log()
    These are the logarithms of the weights. One `exp` is missing.
""")


def _one_row():
    rows = (
        [1.0, 2.0, 0.0],
        [0.0, 1.0],
        [-1000.0, 1000.0, -999.0, 0.0],
        [-200.0, -201.0],
        [0.0, 88.0, 90.0],
    )
    return [(torch.tensor(row),) for row in rows]


softmax_for_one = Exercise(
    sections=("00 Softmax: from scores to weights",),
    task="The weights of one row: `scores` (n,) to weights (n,) that add up to 1, also at scores of 1000 "
    "and −1000, without calling softmax.",
    cases=_one_row,
    hints=(
        "Take e to the power of each score, `.exp()`, because that is always positive. Then divide each power "
        "by the sum of all, so that they add up to 1.",
        "e to the power of 100 does not fit into a 32-bit number. Subtracting the same number from all scores changes "
        "no weight, so subtract the largest, `scores.max()`, before you take e to their power.",
    ),
    passed="A table has many rows, and each needs its own largest score and its own sum.",
    without=("softmax",),
    gaps=("scores - largest", "powers.sum()"),
    how=_one_weight,
)


@softmax_for_one.solution
def my_softmax_for_one(scores):
    # One number off all scores changes no weight. The largest off, and no power is above e⁰ = 1.
    largest = scores.max()  # ()
    # e to the power of a score is always positive.
    powers = (scores - largest).exp()  # (n,)
    # Divided by their sum they add up to 1.
    return powers / powers.sum()  # (n,)


@softmax_for_one.solution
def _(scores):
    return 1 / (scores - scores[:, None]).exp().sum(dim=1)


softmax_for_one.edits(f"""
scores - largest → scores
(scores - largest).exp() → scores.double().exp()
scores - largest → scores ; powers / powers.sum() → (powers / powers.sum()).nan_to_num()
scores - largest → scores ; powers / powers.sum() → powers / (powers.sum() + 1e-9)
    At large scores this fails: in 32 bits e to the power of 90 is infinite and e to the power of −200 is 0, and
    neither makes a weight. So first subtract the largest score.
scores.max() → scores.min()
    You subtract the smallest score. The largest can still overflow: subtract the largest, `scores.max()`.
scores.max() → scores.mean()
    You subtract the mean. A score far above it can still overflow: subtract the largest, `scores.max()`.
scores.max() → scores.argmax()
    You subtract the position of the largest score, `argmax`. The score itself is `scores.max()`.
scores - largest → scores - 1000
    You subtract a fixed number. Where all scores are far below it, all powers become 0, and 0 / 0 is NaN:
    subtract the largest score.
scores.max() → scores.max(dim=0)
    `max` along an axis gives two things, the largest score and its position. `scores.max()` gives the score
    alone.
{_SHIFTS}return powers / → return scores.exp() /
    The largest score is subtracted below the line alone, in the sum. It must be subtracted above the line as well.
powers.sum() → scores.exp().sum()
    The largest score is subtracted above the line alone. It must be subtracted below it as well, in the sum.
powers / powers.sum() → powers
    These powers of e do not add up to 1: divide each by the sum of all.
powers.sum() → powers.mean()
    You divide by the mean, so yours add up to n. Divided by the sum they add up to 1.
powers.sum() → powers.sum(dim=1)
    `scores` has one axis, and it is counted from 0: `dim=0`, or no `dim` at all.
(scores - largest).exp() → scores
(scores - largest).exp() → scores - largest
(scores - largest).exp() → (scores - scores.min())
    You divide the scores themselves. They can be negative: take e to the power of each first.
powers / powers.sum() → scores - scores.logsumexp(dim=0)
powers / powers.sum() → scores - scores.exp().sum().log()
    These are the logarithms of the weights. One `exp` is missing.
(scores - largest).exp() → __import__("math").exp(scores)
    `math.exp` takes a single number. For a whole tensor it is `.exp()`.
""")


def _tables():
    torch.manual_seed(2)
    paper = (
        torch.tensor([[[0.5, 0.5]], [[0.0, 1.0]]]),
        torch.tensor([[[2.0, 10.0], [4.0, 30.0]], [[6.0, 0.0], [8.0, 20.0]]]),
    )
    shapes = (
        ((1, 2, 3), (1, 3, 4)),
        ((3, 3, 3), (3, 3, 3)),
        ((2, 3, 4), (2, 4, 5)),
    )
    return [paper, *((torch.rand(a).softmax(-1), torch.randn(b)) for a, b in shapes)]


def _one_mixture(place, weights, values):
    n, row, column = place
    parts = zip(weights[n, row].tolist(), values[n, :, column].tolist(), strict=True)
    return f"The entry that is marked: {' + '.join(f'{w:.3g}·{v:.3g}' for w, v in parts)}."


mix = Exercise(
    sections=("00 Many matrix products at once",),
    task="Each row of weights adds up to 1 and mixes the rows of its own table: weights (n, a, b) and values "
    "(n, b, c) to (n, a, c).",
    cases=_tables,
    hints=(
        "For one row of weights and one table: multiply each row of the table by its weight, and add the rows "
        "up. That gives one row of the result.",
        "A table of weights does this row by row: that is a matrix product, (a, b) times (b, c) to (a, c). "
        "There are n such products, and the first axis counts them.",
        "`@` multiplies the last two axes and repeats it for each position of the first: all n products are "
        "one `@`, with the weights on its left.",
    ),
    passed="This product is the last step of every attention in the series.",
    gaps=("weights @ values",),
    how=_one_mixture,
)


@mix.solution
def my_mix(weights, values):
    # A row of weights meets each column of its table: n matrix products, (a, b) times (b, c).
    return weights @ values  # (n, a, c)


@mix.solution
def _(weights, values):
    return (weights[..., None] * values[:, None]).sum(dim=2)


mix.edits("""
weights @ values → weights * values
weights @ values → weights + values
    Number by number (`*`, `+`) these shapes do not fit, or give something else. A matrix product is `@`.
weights @ values → values @ weights
weights @ values → values.transpose(1, 2) @ weights
    The order counts: weights first, `weights @ values`. Its rows meet the columns of values.
weights @ values → weights @ values[0]
    All rows of weights mix the first table. Each of the n batches has its own.
weights @ values → weights[0] @ values
    The first table of weights mixes all tables of values. Each of the n has its own weights.
weights @ values → (weights[..., None] * values[:, None]).mean(dim=2)
    You averaged after weighting. The weights already add up to 1, so the weighted rows are only added.
weights @ values → torch.einsum("nab,nbc->ac", weights, values)
weights @ values → (weights @ values).mean(dim=0)
weights @ values → (weights @ values).sum()
    The n results were put together into one. They stay apart: the first axis remains.
weights @ values → weights @ values.transpose(1, 2)
weights @ values → weights @ values.permute(2, 1, 0)
weights @ values → weights.transpose(1, 2) @ values
weights @ values → weights.permute(2, 1, 0) @ values
    You turn rows into columns, and that is one turn too many (`.mT`, `.T`, `transpose`). A row of weights is as
    long as a column of values, so they meet as they are.
weights @ values → weights.softmax(dim=-1) @ values
    A softmax too many: these are weights already, and it makes them more even.
weights @ values → weights[0] @ values[0]
    That is one product, of the first weights and the first table. All n are wanted, (n, a, c).
weights @ values → weights[-1] @ values[-1]
    That is one product, of the last weights and the last table. (In a loop the others were written over.) All n
    are wanted, (n, a, c).
weights @ values → torch.cat([w @ v for w, v in zip(weights, values)])
    `torch.cat` joins the n products along an axis that they have. `torch.stack` gives them a new first axis.
weights @ values → (weights @ values).squeeze()
    `squeeze` takes off every axis of length 1: a batch of one, or a single row of weights, must keep its axis.
weights @ values → (weights[..., None] * values[:, None]).sum(dim=1)
weights @ values → (weights[..., None] * values[:, None]).sum(dim=-1)
    You add up over the wrong axis. (n, a, b, 1) times (n, 1, b, c) is (n, a, b, c), and the sum goes over b.
weights @ values → torch.mm(weights, values)
weights @ values → torch.dot(weights, values)
    `mm` multiplies two tables and `dot` two rows. Here are n products at once: `@`, or `torch.bmm`.
""")
