"""Scaled dot-product attention. Lesson 04."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.masks import masked_softmax

scale = Exercise(
    task="The entries of q and k are independent, with mean 0 and standard deviation `std`. By what "
    "must q·k, over d entries, be divided so that its variance is 1?",
    cases=lambda: [(64, 1.0), (5, 1.0), (16, 3.0), (100, 0.5)],
    hints=(
        "The variance of one product of two independent numbers with mean 0 is the product of "
        "their variances.",
        "The variance of a sum of d independent terms is d times that of one.",
        "The variance of q·k is d · std² · std². Divide by its root.",
    ),
    passed="With std = 1 it is √d. Trained queries and keys need not have std 1.",
    tolerance=1e-6,
)


@scale.solution
def my_scale(d, std):
    return std**2 * math.sqrt(d)


@scale.solution
def _(d, std):
    return float(torch.full((d,), std**4).sum().sqrt())


@scale.mistake("Right for std = 1. The spread of the entries counts as well: what if std is 3?")
def _(d, std):
    return math.sqrt(d)


@scale.mistake("std counts twice: once from q and once from k.")
def _(d, std):
    return std * math.sqrt(d)


@scale.mistake(
    "This would be the variance for std = 1. Divide by the root of the variance, and std counts too."
)
def _(d, std):
    return d


@scale.mistake("Take the root of all of the variance, of std⁴ too.")
def _(d, std):
    return std**4 * math.sqrt(d)


@scale.mistake("This is the variance. To make it 1 you divide by its root, the spread.")
def _(d, std):
    return std**4 * d


@scale.mistake("You divide by d. The sum of d terms spreads like √d, not like d.")
def _(d, std):
    return std**2 * d


@scale.mistake("You give the factor to multiply with. Asked is what to divide by: one over it.")
def _(d, std):
    return 1 / (std**2 * math.sqrt(d))


def _many_queries():
    torch.manual_seed(4)
    query, key, value = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
    some = torch.arange(5) < torch.tensor([2, 4])[:, None, None]
    none = torch.ones(2, 3, 5, dtype=torch.bool)
    none[1, 2] = False
    flat = torch.randn(4, 9), torch.randn(2, 9), torch.randn(2, 3)
    return [
        (query, key, value),
        (query, key, value, some.expand(2, 3, 5)),
        (query, key, value, none),
        flat,
    ]


scaled_dot_product_attention = Exercise(
    task="Scaled dot-product attention, whole: query (..., q, d), key (..., k, d), value (..., k, v) to "
    "(..., q, v). `mask` (..., q, k) is True where a query may look; a row that may see nothing gives 0.",
    cases=_many_queries,
    hints=(
        "Three lines: the scores, the shares, the mixture. There may be axes in front: count from the end.",
        "`key.mT` exchanges the last two axes. d is `query.size(-1)`.",
        "`scores = query @ key.mT / math.sqrt(query.size(-1))`, `masked_softmax(scores, mask)` of lesson "
        "03, which takes `None` as well, and `@ value`.",
    ),
    passed="Batches and heads are axes in front, so this line serves to the end of the course.",
)


@scaled_dot_product_attention.solution
def my_scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = masked_softmax(scores, mask)
    return weights @ value


@scaled_dot_product_attention.solution
def _(query, key, value, mask=None):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)


def _attends(query, key, value, mask=None, scale=None, softmax=masked_softmax):
    scores = query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)
    return softmax(scores, mask) @ value


@scaled_dot_product_attention.mistake("The scores are not divided by √d.")
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=1.0)


@scaled_dot_product_attention.mistake("You divide by d. Its root keeps the size of the scores.")
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=1 / query.size(-1))


@scaled_dot_product_attention.mistake(
    "You divide by the root of the number of keys. d is the width, `query.size(-1)`."
)
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=key.size(-2) ** -0.5)


@scaled_dot_product_attention.mistake(
    "You divide by the root of the number of queries. d is the width of a query, the last axis."
)
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=query.size(-2) ** -0.5)


@scaled_dot_product_attention.mistake(
    "`transpose(1, 2)` is right with one axis in front only. Count from the end: `key.mT`, or "
    "`transpose(-2, -1)`."
)
def _(query, key, value, mask=None):
    scores = query @ key.transpose(1, 2) / math.sqrt(query.size(-1))
    return masked_softmax(scores, mask) @ value


@scaled_dot_product_attention.mistake("You multiply by √d. Wide vectors have large scores: divide.")
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=query.size(-1) ** 0.5)


@scaled_dot_product_attention.mistake(
    "√d divides the result. It belongs inside the softmax, on the scores."
)
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=1.0) / math.sqrt(query.size(-1))


@scaled_dot_product_attention.mistake(
    "You divide by the root of the width of the values. d is the width of query and key."
)
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, scale=value.size(-1) ** -0.5)


@scaled_dot_product_attention.mistake(
    "`.T` turns all axes round, the batch too. `key.mT` exchanges the last two alone."
)
def _(query, key, value, mask=None):
    return (
        masked_softmax(
            query @ key.permute(*range(key.ndim)[::-1]) / math.sqrt(query.size(-1)), mask
        )
        @ value
    )


@scaled_dot_product_attention.mistake(
    "`query @ key` does not line up: turn the keys first, `key.mT`, for a score of each pair."
)
def _(query, key, value, mask=None):
    return masked_softmax(query @ key / math.sqrt(query.size(-1)), mask) @ value


@scaled_dot_product_attention.mistake("The mask is never used.")
def _(query, key, value, mask=None):
    return _attends(query, key, value)


@scaled_dot_product_attention.mistake(
    "Your mask is the wrong way round: True means that the query may look."
)
def _(query, key, value, mask=None):
    return _attends(query, key, value, None if mask is None else ~mask)


@scaled_dot_product_attention.mistake(
    "Right, but for the row that may see nothing: it is NaN. It must be 0: `masked_softmax`."
)
def _(query, key, value, mask=None):
    def softmax(scores, mask):
        hidden = torch.zeros(()).bool() if mask is None else ~mask
        return scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)

    return _attends(query, key, value, mask, softmax=softmax)


@scaled_dot_product_attention.mistake(
    "Right, but for the row that may see nothing: it averages all values. It must be 0: `masked_softmax`."
)
def _(query, key, value, mask=None):
    def softmax(scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(dim=-1)

    return _attends(query, key, value, mask, softmax=softmax)


@scaled_dot_product_attention.mistake("There is no softmax: scores are not shares.")
def _(query, key, value, mask=None):
    return _attends(query, key, value, mask, softmax=lambda scores, mask: scores)


@scaled_dot_product_attention.mistake(
    "Your softmax runs over the queries. Over the keys, the last axis, the shares of a query add up to 1."
)
def _(query, key, value, mask=None):
    def softmax(scores, mask):
        return scores.masked_fill(
            torch.zeros(()).bool() if mask is None else ~mask, float("-inf")
        ).softmax(-2)

    return _attends(query, key, value, mask, softmax=softmax)


@scaled_dot_product_attention.mistake("These are the weights. They still have to mix the values.")
def _(query, key, value, mask=None):
    return masked_softmax(query @ key.mT / math.sqrt(query.size(-1)), mask)


@scaled_dot_product_attention.mistake(
    "`dim=1` is the keys only where no axis stands in front. Count from the end: `dim=-1`."
)
def _(query, key, value, mask=None):
    def softmax(scores, mask):
        hidden = torch.zeros(()).bool() if mask is None else ~mask
        return scores.masked_fill(hidden, float("-inf")).softmax(dim=1)

    return _attends(query, key, value, mask, softmax=softmax)


@scaled_dot_product_attention.mistake(
    "You hide after the softmax, so the shares that are left no longer add up to 1: hide before it."
)
def _(query, key, value, mask=None):
    def softmax(scores, mask):
        return scores.softmax(dim=-1) * (1 if mask is None else mask)

    return _attends(query, key, value, mask, softmax=softmax)


@scaled_dot_product_attention.mistake(
    "You mix the keys. The weights come from the keys, the result from the values."
)
def _(query, key, value, mask=None):
    return _attends(query, key, key, mask)
