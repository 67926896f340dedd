"""Scaled dot-product attention. Lesson 04."""

import math

import torch

from transformer_lib.exercises.machinery import Exercise


def _one_query():
    torch.manual_seed(8)
    return [
        (torch.randn(4), torch.randn(5, 4), torch.randn(5, 3)),
        (torch.randn(9), torch.randn(2, 9), torch.randn(2, 6)),
    ]


one_query = Exercise(
    task="Attention for one query: q (d,), keys (n, d), values (n, v) to (v,).",
    cases=_one_query,
    hints=(
        "One score for each key, divided by √d. One share for each key. One mixture.",
        "d is the width of q, not the number of keys: `q.size(-1)` or `len(q)`.",
        "`shares = (keys @ q / len(q) ** 0.5).softmax(dim=0)`, and then mix the rows of `values`.",
    ),
    passed="Many queries at once only turn `keys @ q` into `q @ keys.T`.",
)


@one_query.solution
def my_attention(q, keys, values):
    scores = keys @ q / math.sqrt(len(q))
    return scores.softmax(dim=0) @ values


@one_query.solution
def _(q, keys, values):
    out = torch.nn.functional.scaled_dot_product_attention(q[None, None], keys[None], values[None])
    return out[0, 0]


@one_query.mistake("The scores are not divided by √d.")
def _(q, keys, values):
    return (keys @ q).softmax(dim=0) @ values


@one_query.mistake("You divide by d. Its root keeps the size of the scores; d makes them vanish.")
def _(q, keys, values):
    return (keys @ q / len(q)).softmax(dim=0) @ values


@one_query.mistake("You divide by the root of the number of keys. d is the width of the query.")
def _(q, keys, values):
    return (keys @ q / math.sqrt(len(keys))).softmax(dim=0) @ values


@one_query.mistake("You divide by the root of the width of the values. d is the width of q and k.")
def _(q, keys, values):
    return (keys @ q / math.sqrt(values.size(1))).softmax(dim=0) @ values


@one_query.mistake("√d divides the result. It belongs inside the softmax, on the scores.")
def _(q, keys, values):
    return (keys @ q).softmax(dim=0) @ values / math.sqrt(len(q))


@one_query.mistake("You multiply by √d. Wide vectors have large scores already: divide.")
def _(q, keys, values):
    return (keys @ q * math.sqrt(len(q))).softmax(dim=0) @ values


@one_query.mistake(
    "q and keys do not line up this way round. `keys @ q` is one score for each key."
)
def _(q, keys, values):
    return (q @ keys / math.sqrt(len(q))).softmax(dim=0) @ values


@one_query.mistake("These are the weights. Attention returns the values, mixed with them.")
def _(q, keys, values):
    return (keys @ q / math.sqrt(len(q))).softmax(dim=0)


@one_query.mistake("There is no softmax: scores can be negative and do not add up to 1.")
def _(q, keys, values):
    return (keys @ q / math.sqrt(len(q))) @ values


@one_query.mistake("You mix the keys. The weights come from the keys, the result from the values.")
def _(q, keys, values):
    return (keys @ q / math.sqrt(len(q))).softmax(dim=0) @ keys


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


@scale.mistake("This is the variance. To make it 1 you divide by its root, the spread.")
def _(d, std):
    return std**4 * d


@scale.mistake("You divide by d. The sum of d terms spreads like √d, not like d.")
def _(d, std):
    return std**2 * d


@scale.mistake("You give the factor to multiply with. Asked is what to divide by: one over it.")
def _(d, std):
    return 1 / (std**2 * math.sqrt(d))
