"""Shares and mixtures, the two steps that every attention ends in. Lesson 00."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _scores():
    torch.manual_seed(1)
    small, apart = torch.randn(3, 4), torch.tensor([[0.0], [-500.0]]) + torch.randn(2, 5)
    wide = torch.tensor([[0.0, 150.0, -150.0, 3.0, 1.0]])
    single = torch.tensor([1.0, 2.0, 5.0]).log()
    return [(small,), (apart,), (1000 + torch.randn(2, 3, 5),), (wide,), (single,)]


softmax = Exercise(
    task="Turn the scores along the last axis into shares, without calling softmax.",
    cases=_scores,
    hints=(
        "Exponentials are positive. What must each of them be divided by?",
        "$e^{1000}$ does not fit into a number. Subtracting the same amount from all scores of a "
        "row changes nothing: which amount keeps every exponent at or below 0?",
        "`e = (scores - scores.max(dim=-1, keepdim=True).values).exp()`, and then divide.",
    ),
    passed="It also survives scores of 1000, which the formula as written does not.",
    without="softmax",
)


@softmax.solution
def my_softmax(scores):
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(dim=-1, keepdim=True)


@softmax.solution
def _(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


@softmax.mistake(
    "Right for small scores. At 1000 the exponential is infinite and the share is NaN: first "
    "subtract the largest score of the row."
)
def _(scores):
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@softmax.mistake(
    "You subtract the largest score of the whole table. A row far below it underflows to 0/0: take "
    "the largest of each row."
)
def _(scores):
    e = (scores - scores.max()).exp()
    return e / e.sum(dim=-1, keepdim=True)


_OTHER_AXIS = (
    "Your shares add up to 1 over another axis. Each row, that is the last axis, needs its own sum."
)


@softmax.mistake(_OTHER_AXIS)
def _(scores):
    return scores.softmax(dim=0)


@softmax.mistake(_OTHER_AXIS)
def _(scores):
    e = (scores - scores.max()).exp()
    return e / e.sum()


@softmax.mistake(_OTHER_AXIS)
def _(scores):
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return e / e.sum()


@softmax.mistake(_OTHER_AXIS)
def _(scores):
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(dim=0)


@softmax.mistake(_OTHER_AXIS)
def _(scores):
    return scores.exp() / scores.exp().sum()


@softmax.mistake(_OTHER_AXIS)
def _(scores):
    return scores.exp() / scores.exp().sum(dim=0)


_AXIS_ONE = (
    "`dim=1` is the last axis of a table, but not of a batch of tables, and a single row has none: "
    "`dim=-1` is the last axis of them all."
)


@softmax.mistake(_AXIS_ONE)
def _(scores):
    return scores.softmax(dim=1)


@softmax.mistake(_AXIS_ONE)
def _(scores):
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(dim=1, keepdim=True)


@softmax.mistake(_AXIS_ONE)
def _(scores):
    e = (scores - scores.max(dim=1, keepdim=True).values).exp()
    return e / e.sum(dim=-1, keepdim=True)


@softmax.mistake(_AXIS_ONE)
def _(scores):
    return scores.exp() / scores.exp().sum(dim=1, keepdim=True)


@softmax.mistake(
    "Along an axis `max` gives two things, the largest scores and where they stand. The scores are "
    "in `.values`; `amax` gives them alone."
)
def _(scores):
    e = (scores - scores.max(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=-1, keepdim=True)


@softmax.mistake(
    "The sum has lost its axis: `keepdim=True` keeps it. And at 1000 the exponential is infinite: subtract "
    "the largest score of the row first."
)
def _(scores):
    return scores.exp() / scores.exp().sum(dim=-1)


_NO_SUM = "Exponentials are no shares yet: divide each by the sum of its row."


@softmax.mistake(_NO_SUM)
def _(scores):
    return scores.exp()


@softmax.mistake(_NO_SUM)
def _(scores):
    return (scores - scores.amax(dim=-1, keepdim=True)).exp()


@softmax.mistake("`math.exp` takes a single number. For a whole tensor it is `scores.exp()`.")
def _(scores):
    return math.exp(scores)


@softmax.mistake(
    "You subtract the mean of the row. The largest exponent is then above 0 and can still overflow: "
    "subtract the largest score."
)
def _(scores):
    e = (scores - scores.mean(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=-1, keepdim=True)


@softmax.mistake(
    "You subtract the smallest score of the row. All exponents are then 0 or more, and they overflow "
    "as before: subtract the largest."
)
def _(scores):
    e = (scores - scores.min(dim=-1, keepdim=True).values).exp()
    return e / e.sum(dim=-1, keepdim=True)


@softmax.mistake(
    "The maximum or the sum has lost its axis and does not line up with the rows: "
    "`keepdim=True` keeps it."
)
def _(scores):
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(dim=-1)


@softmax.mistake("You divide the scores themselves. They can be negative: exponentiate first.")
def _(scores):
    return scores / scores.sum(dim=-1, keepdim=True)


@softmax.mistake("These are the logarithms of the shares. One `exp` is missing.")
def _(scores):
    return scores.log_softmax(dim=-1)


def _tables():
    torch.manual_seed(2)
    return [(torch.rand(2, 3, 4).softmax(-1), torch.randn(2, 4, 5))]


mix = Exercise(
    task="Each row of weights mixes the rows of its own table: (n, a, b), (n, b, c) to (n, a, c).",
    cases=_tables,
    hints=(
        "For one row of weights and one table: multiply each row of the table by its weight and "
        "add the rows up.",
        "That is a matrix product, once for each of the n tables.",
        "`@` does it for all n at once: `weights @ values`.",
    ),
    passed="This product is the last step of every attention in the series.",
)


@mix.solution
def my_mix(weights, values):
    return weights @ values


@mix.solution
def _(weights, values):
    return (weights[..., None] * values[:, None]).sum(dim=2)


@mix.mistake("Number by number (`*`, `+`) these shapes do not fit. A matrix product is `@`.")
def _(weights, values):
    return weights * values


@mix.mistake(
    "The order counts: weights first, `weights @ values`. Its rows meet the columns of values."
)
def _(weights, values):
    return values @ weights


@mix.mistake("All rows of weights mix the first table. Each of the n batches has its own.")
def _(weights, values):
    return weights @ values[0]


@mix.mistake(
    "You averaged after weighting. The weights already add up to 1, so the weighted rows are "
    "only added."
)
def _(weights, values):
    return (weights[..., None] * values[:, None]).mean(dim=2)


@mix.mistake("The n results were added up. They stay apart: the first axis remains.")
def _(weights, values):
    return torch.einsum("nab,nbc->ac", weights, values)
