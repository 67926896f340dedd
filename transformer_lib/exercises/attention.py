"""Scaled dot-product attention. Lesson 04."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.masks import masked_softmax

_T, _F = True, False

scale = Exercise(
    sections=(
        "04 Divide by √d",
        "04 How large is a dot product?",
    ),
    task="The entries of q and k are independent, with mean 0 and standard deviation `std`. By what "
    "number must q·k, over d entries, be divided so that its variance is 1?",
    cases=lambda: [(4, 3.0), (64, 1.0), (5, 1.0), (9, 2.0), (100, 0.5)],
    hints=(
        "Go step by step. The variance of one entry is std². For two independent numbers with mean 0, the "
        "variance of their product is the product of their variances.",
        "q·k is a sum of d such products. They are independent, so their variances add up: d times that "
        "of one.",
        "Divided by c, a number varies c² times less. So c² must be the variance, and c is its root.",
    ),
    passed="With std = 1 it is √d. Trained queries and keys need not have std 1.",
    tolerance=1e-6,
    gaps=("std**2 * std**2", "d * of_one", "math.sqrt(of_sum)"),
)


@scale.solution
def my_scale(d, std):
    # One product: the variance of q_i is std², that of k_i too, and the two are multiplied.
    of_one = std**2 * std**2
    # The sum of d independent products: their variances add up.
    of_sum = d * of_one
    # Divided by c, a number varies c² times less. So c is the root.
    return math.sqrt(of_sum)


@scale.solution
def _(d, std):
    return float(torch.full((d,), std**4).sum().sqrt())


scale.edits("""
std**2 * std**2 → 1
    Right for std = 1. The spread of the entries counts as well: what if std is 3?
std**2 * std**2 → std**2
    Yours grows with std; it should grow with std². Each product has a factor from q and one from k, and
    both spread by std.
std**2 * std**2 → std
    std is the root of a variance: the variance of an entry is std², and it comes twice, from q and from k.
std**2 * std**2 → std**2 + std**2
    You add the variances of q_i and k_i. The two are multiplied with each other, so their variances are
    multiplied as well; only the d products are added.
d * of_one → of_one
    This is for one product alone. q·k is a sum of d of them: where does d come in?
math.sqrt(of_sum) → d
    This would be the variance for std = 1. Divide by the root of the variance, and std counts too.
math.sqrt(of_sum) → of_one * math.sqrt(d)
    Take the root of all of the variance, of std⁴ too.
math.sqrt(of_sum) → of_sum
    This is the variance. To make it 1 you divide by its root, the standard deviation.
d * of_one → d**2 * of_one
    You divide by d. The sum of d independent terms spreads like √d, not like d.
math.sqrt(of_sum) → std * d
    Two things: the sum of d independent terms spreads like √d, not like d; and std comes twice, from q
    and from k.
math.sqrt(of_sum) → torch.sqrt(of_sum)
    `torch.sqrt` wants a tensor, and yours is a number of Python: `math.sqrt`.
math.sqrt(of_sum) → 1 / math.sqrt(of_sum)
    You give the factor to multiply by. Asked is what to divide by: 1 divided by yours.
math.sqrt(of_sum) → math.sqrt(d) / std**2
math.sqrt(of_sum) → math.sqrt(d) / std
    Larger entries make larger scores, so more has to be divided by: std belongs into the product, not
    below the line.
""")


def _many_queries():
    torch.manual_seed(4)
    paper = (
        torch.tensor([[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, -1.0], [0.0, 2.0, 1.0, 1.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]),
    )
    one = (  # divided by √4 the scores are 0, 1 and 2; column 0 gives what the weights add up to
        torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
        torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]),
    )
    loud = one[0][None] * 200, one[1][None], one[2][None]  # the same with 0, 200 and 400
    largest = torch.tensor([[_T, _T, _F]])  # is masked out
    twos = torch.randn(3, 2, 2, 2).unbind()
    blind = torch.tensor([[[_T, _T], [_F, _F]], [[_F, _T], [_T, _T]]])  # a row without a key
    shapes = (2, 4, 5), (2, 3, 5), (2, 3, 6)
    differ = [torch.randn(shape) for shape in shapes]
    lengths = torch.arange(3) < torch.tensor([1, 2])[:, None, None]
    heads = torch.randn(2, 2, 1, 3), torch.randn(2, 2, 4, 3), torch.randn(2, 2, 4, 1)
    return [
        paper,
        tuple(table[None] for table in paper),
        (*one, largest),
        (one[0].repeat(2, 1), *one[1:], torch.tensor([[_F, _F, _F], [_T, _T, _F]])),
        (*paper, torch.tensor([[_T, _T, _F], [_F, _T, _T]])),
        (torch.randn(1, 2, 3), torch.randn(1, 4, 3), torch.randn(1, 4, 2)),
        twos,
        (*twos, blind),
        loud,
        (*loud, largest[None]),
        tuple(differ),
        (*differ, lengths.expand(2, 4, 3)),
        heads,
        (*heads, torch.tensor([_T, _F, _T, _T]).expand(2, 2, 1, 4)),
    ]


def _one_output(place, query, key, value, mask=None):
    if len(place) != query.dim():
        return ""
    *batch, row, column = place
    scores = (query @ key.mT / math.sqrt(query.size(-1)))[*batch, row]
    may = None if mask is None else mask[*batch, row]
    allowed = scores if may is None else scores[may]
    if not len(allowed):
        return "The query of the marked entry may attend to nothing, so all its weights are 0."
    weights = masked_softmax(scores, may)
    terms = (f"{w:.3g}·{v:.3g}" for w, v in zip(weights, value[*batch, :, column], strict=True))
    return (
        f"The entry that is marked: {' + '.join(terms)}. The weights come from the "
        f"{'' if may is None else 'allowed '}scores {', '.join(f'{score:.3g}' for score in allowed)}, "
        f"which are already divided by √{query.size(-1)}."
    )


def _filled(scores, mask, fill=float("-inf")):
    """What the edits begin with that do not call `masked_softmax`."""
    return scores if mask is None else scores.masked_fill(~mask, fill)


def _afterwards(scores, mask, least=0.0):
    weights = scores.softmax(dim=-1) * (1 if mask is None else mask)
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=least)


scaled_dot_product_attention = Exercise(
    sections=("04 The formula, in four steps",),
    task="Scaled dot-product attention, whole: query (..., queries, d), key (..., keys, d) and value "
    "(..., keys, width) to the outputs (..., queries, width). `mask` (..., queries, keys) is True where a "
    "query may attend, None without a mask. A row that may attend to nothing gives the output 0. Write the "
    "four steps yourself: no attention of torch or of the library may be called.",
    cases=_many_queries,
    hints=(
        "There are four steps: score, scale, softmax, sum. Write the shape behind each. Axes may stand in "
        "front, for the sentences of a batch, so count every axis from the end.",
        "`key.mT` exchanges the last two axes, so that in `query @ key.mT` each query meets each key. A "
        "score is a sum of d products, and d is the last axis: divide by the root of `query.size(-1)`.",
        "`masked_softmax(scores, mask)` of lesson 03 makes weights of the scores, also where the mask is "
        "None. Each row of weights then adds up the rows of `value`: that is one more matrix product.",
    ),
    passed="Sentences and heads are axes in front, so this function serves to the end of the course.",
    without=("attention", "Attention", "attend"),
    gaps=(
        "query @ key.mT",
        "query.size(-1)",
        "masked_softmax(scores, mask)",
        "weights @ value",
    ),
    how=_one_output,
)


@scaled_dot_product_attention.solution
def my_scaled_dot_product_attention(query, key, value, mask=None):
    # Each query meets each key. `.mT` exchanges the last two axes, whatever stands in front.
    scores = query @ key.mT  # (..., queries, keys)
    # A score is a sum of d products, and such a sum spreads like √d.
    scores = scores / math.sqrt(query.size(-1))  # (..., queries, keys)
    # Each row becomes weights that add up to 1; where the mask is False, the weight is 0.
    weights = masked_softmax(scores, mask)  # (..., queries, keys)
    # Each output is the sum of all values, each times its weight.
    return weights @ value  # (..., queries, width)


@scaled_dot_product_attention.solution
def _(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query * query.size(-1) ** -0.5, key)
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
    return torch.einsum("...qk,...kv->...qv", scores.softmax(dim=-1).nan_to_num(0.0), value)


scaled_dot_product_attention.edits("""
scores / math.sqrt(query.size(-1)) → scores
    Scale: the scores are not divided by √d.
math.sqrt(query.size(-1)) → query.size(-1)
    Scale: you divide by d. A sum of d products spreads like √d, so divide by the root.
scores / math → scores * math
    Scale: you multiply by √d. Wide vectors have large scores already: divide.
scores / math.sqrt(query.size(-1)) → scores ; weights @ value → weights @ value / math.sqrt(query.size(-1))
    Scale: √d divides what comes behind the softmax. It belongs on the scores, before the softmax.
math.sqrt(query.size(-1)) → (query.size(-1) * 2)
math.sqrt(query.size(-1)) → (query.size(-1) / 2)
    Scale: Python reads `d**1/2` as (d**1)/2, because a power binds more tightly than a division. Write
    `d**0.5`, or `math.sqrt(d)`.
math.sqrt(query → torch.sqrt(query
    Scale: `torch.sqrt` wants a tensor, and `query.size(-1)` is a number of Python: `math.sqrt`.
math.sqrt(query.size(-1)) → math.sqrt(key.size(-2))
math.sqrt(query.size(-1)) → math.sqrt(query.size(-2))
    Scale: you divide by the root of how many keys, or queries, there are. A score is a sum over the d entries
    of a query, its last axis: `query.size(-1)`.
math.sqrt(query.size(-1)) → math.sqrt(value.size(-1))
    Scale: you divide by the root of the width of the values. d is the width of query and key.
math.sqrt(query.size(-1)) → math.sqrt(query.size(1))
math.sqrt(query.size(-1)) → math.sqrt(key.size(1))
    Scale: axis 1 is d in a table, and something else where a batch stands in front. Count from the end:
    `query.size(-1)`.
math.sqrt(query.size(-1)) → math.sqrt(len(query))
math.sqrt(query.size(-1)) → math.sqrt(len(key))
    Scale: `len` gives the first axis, the number of rows or of sentences. d is the last one:
    `query.size(-1)`.
key.mT → key.transpose(1, 2)
query @ key.mT → torch.bmm(query, key.transpose(1, 2))
query @ key.mT → torch.bmm(query, key.mT)
scores = query @ key.mT → batch, n, d = query.shape ⏎ scores = query @ key.mT
    Axes: yours wants exactly one axis in front, a batch. There may be none, or two. Count from the end:
    `key.mT` or `transpose(-2, -1)`, `query.size(-1)`; and `@` takes any axes in front.
key.mT → key.permute(*range(key.ndim)[::-1])
    Score: `.T` turns all axes round, the batch too. `key.mT` exchanges the last two alone.
key.mT → key.transpose(0, 1)
key.mT → key.t()
scores = query @ key.mT → n, d = query.shape ⏎ scores = query @ key.mT
    Axes: yours wants a table, with no axis in front. There may be a batch, so count from the end: `key.mT`
    exchanges the last two axes, and d is `query.size(-1)`.
key.mT → key
    Score: in `query @ key` a row of the query meets a column of the keys. A key is a row: turn them first,
    `key.mT`.
query @ key.mT → key @ query.mT
    Score: your rows are keys and your columns queries. Each query has a row: `query @ key.mT`.
query @ key.mT → (query * key).sum(dim=-1)
    Score: `query * key` multiplies row 0 with row 0 and row 1 with row 1. Each query meets each key, and
    that is a matrix product: `query @ key.mT`.
key.mT → value.mT
    Score: you compare the queries with the values. Queries are compared with keys; values are added up.
query @ key.mT → query @ query.mT
query @ key.mT → key @ key.mT
    Score: you compare a tensor with itself. Each query meets each key: `query @ key.mT`.
masked_softmax(scores, mask) → masked_softmax(mask, scores)
    Mask: the scores come first: `masked_softmax(scores, mask)`.
masked_softmax(scores, mask) → masked_softmax(scores, None)
    Mask: yours is never used.
masked_softmax(scores, mask) → masked_softmax(scores, None if mask is None else ~mask)
masked_softmax(scores, mask) → _filled(scores, None if mask is None else ~mask).softmax(dim=-1)
masked_softmax(scores, mask) → _filled(scores, None if mask is None else ~mask, -1e9).softmax(dim=-1)
masked_softmax(scores, mask) → _filled(scores, None if mask is None else ~mask, 0.0).softmax(dim=-1)
    Mask: yours is the wrong way round. True means that the query may attend to that key.
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=-1)
    Mask: a row that may attend to nothing is NaN in yours. It must be 0, as `masked_softmax`
    of lesson 03 makes it.
masked_softmax(scores, mask) → _filled(scores, mask, -1e9).softmax(dim=-1)
masked_softmax(scores, mask) → _filled(scores, mask, -1e4).softmax(dim=-1)
    Mask: a row that may attend to nothing averages all values in yours, because with a finite
    fill all scores are equal. It must be 0, as `masked_softmax` makes it.
masked_softmax(scores, mask) → scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
masked_softmax(scores, mask) → scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).nan_to_num()
masked_softmax(scores, mask) → scores.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
    Mask: without a mask yours fails, because `mask` is then None. `masked_softmax` takes None too; else ask
    `if mask is not None` first.
masked_softmax(scores, mask) → masked_softmax(scores, mask if mask else None)
    Mask: `if mask:` asks for one truth value, and a mask has many: `if mask is not None:`.
mask=None → mask
    Mask: the function is also called without a mask, so give it a default: `mask=None`.
masked_softmax(scores, mask) → scores.softmax(dim=-1) * (1 if mask is None else mask)
    Mask: you set weights to 0 after the softmax, so the others no longer add up to 1. Mask the scores,
    before it.
masked_softmax(scores, mask) → _afterwards(scores, mask)
masked_softmax(scores, mask) → _afterwards(scores, mask, 1e-9)
    Mask: on paper this is right. But where a score that is masked out is far larger than the allowed ones,
    these underflow to 0 / 0: mask before the softmax, not after it.
masked_softmax(scores, mask) → _filled(scores, mask, 0.0).softmax(dim=-1)
masked_softmax(scores, mask) → (scores if mask is None else scores * mask).softmax(dim=-1)
    Mask: a score of 0 is not an impossible key, since e⁰ = 1. A score that is masked out is −∞.
masked_softmax(scores, mask) → (scores if mask is None else scores + mask).softmax(dim=-1)
    Mask: True counts as 1 in a sum, so you add 1 to the allowed scores. `masked_softmax(scores, mask)`
    takes the mask as it is.
masked_softmax(scores, mask) → (scores if mask is None else scores + ~mask * -1e4).softmax(dim=-1)
    Mask: you add a large negative number. The scores sink, but keep their differences: the row that may
    attend to nothing spreads its weights over them. `masked_softmax` makes them 0.
masked_softmax(scores, mask) → (scores if mask is None else scores + ~mask * float("-inf")).softmax(dim=-1)
    Mask: 0 · ∞ is NaN, so −∞ times a mask spoils the allowed scores too. Choose with `masked_fill` and do
    not multiply, or take `masked_softmax`.
masked_softmax(scores, mask) → _filled(scores.softmax(dim=-1), mask)
    Mask: you set weights to −∞. It is the score that becomes −∞, before the softmax; its weight then comes
    out as 0.
masked_softmax(scores, mask) → _filled(scores, mask)
masked_softmax(scores, mask) → scores
masked_softmax(scores, mask) → _filled(scores, mask, 0.0)
masked_softmax(scores, mask) → _filled(scores, mask, -1e9)
    Softmax: there is none. Scores are not weights.
masked_softmax(scores, mask) → _filled(scores, mask).sigmoid()
    Softmax: a sigmoid weighs each key by itself. The weights of a query have to add up to 1.
masked_softmax(scores, mask) → masked_softmax(scores, mask).softmax(dim=-1)
masked_softmax(scores, mask) → masked_softmax(scores.softmax(dim=-1), mask)
    Softmax: there are two, one after the other. `masked_softmax` takes scores and gives weights.
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=-2)
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=-2).nan_to_num()
masked_softmax(scores, mask) → masked_softmax(scores.mT, None if mask is None else mask.mT).mT
    Softmax: yours runs over the queries. Over the keys, the last axis, the weights of a query add up to 1.
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=1)
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=1).nan_to_num()
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=0)
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=0).nan_to_num()
    Softmax: you count its axis from the front, and there may stand a batch. The keys are always the last
    axis, `dim=-1`.
masked_softmax(scores, mask) → _filled(scores, mask).exp() / _filled(scores, mask).exp().sum(dim=-1, keepdim=True)
    Softmax: e to the power of a score around 100 does not fit into a 32-bit number. `softmax` takes off the largest
    score first; leave it to `masked_softmax`.
return weights @ value → return weights
    These are the weights. They still have to weigh the values: `weights @ value`.
return weights @ value → return scores
    These are the scores. Softmax and values are still to come.
weights @ value → weights * value
    Sum: `*` multiplies entry by entry. The weights of a query are a row that meets each column of the
    values: `weights @ value`.
weights @ value → weights @ key
weights @ value → weights @ query
    Sum: the weights come from queries and keys, but what they add up are the values: `weights @ value`.
weights @ value → weights @ value / key.size(-2)
weights @ value → (weights[..., None] * value).mean(dim=1)
    Sum: you take the mean of the weighted values, which divides by the number of keys once more. The weights
    add up to 1, so add up alone: `.sum`, or `weights @ value`.
weights @ value → (weights[..., None] * value).sum(dim=1)
weights @ value → (weights[..., None] * value[:, None]).sum(dim=2)
    Sum: yours fits one number of axes in front alone, none or a batch. There may be none, one or two, and
    `weights @ value` takes them all.
weights @ value → weights.mT @ value
weights @ value → value @ weights
    Sum: the weights of one query are a row, and it meets the column of the values: `weights @ value`.
""")


def _one_query():
    torch.manual_seed(5)
    paper = (
        torch.tensor([1.0, 1.0, 1.0, 1.0]),
        torch.tensor([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, -1.0], [0.0, 2.0, 1.0, 1.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]),
    )
    square = torch.randn(3), torch.randn(3, 3), torch.randn(3, 3)
    return [paper, square, (torch.randn(5), torch.randn(2, 5), torch.randn(2, 3))]


def _for_one(place, query, key, value):
    return _one_output((0, *place), query[None], key, value)


scaled_dot_product_attention_for_one = Exercise(
    sections=("04 The formula, in four steps",),
    task="The same for one query, without a mask: `query` (d,), `key` (keys, d) and `value` (keys, width) "
    "to the output (width,).",
    cases=_one_query,
    hints=(
        "The query meets each row of `key`. In `key @ query` every row of the matrix meets the vector: one "
        "score a key.",
        "Divide the scores by the root of d, the length of the query, and take their `softmax`: one weight "
        "a key. The output is the sum of the rows of `value`, each times its weight, `weights @ value`.",
    ),
    passed="With many queries each gets a row of scores. What then has to be turned, so that each query "
    "meets each key?",
    without=("attention", "Attention", "attend"),
    gaps=("key @ query", "len(query)", "scores.softmax(dim=0)", "weights @ value"),
    how=_for_one,
)


@scaled_dot_product_attention_for_one.solution
def my_scaled_dot_product_attention_for_one(query, key, value):
    # Each key, a row, meets the query.
    scores = key @ query  # (keys,)
    # A sum of d products spreads like √d.
    scores = scores / math.sqrt(len(query))  # (keys,)
    # The weights of the keys add up to 1.
    weights = scores.softmax(dim=0)  # (keys,)
    # The sum of all values, each times its weight.
    return weights @ value  # (width,)


@scaled_dot_product_attention_for_one.solution
def _(query, key, value):
    e = [math.exp(float(query @ k) / len(query) ** 0.5) for k in key]
    return sum(w * v for w, v in zip(e, value, strict=True)) / sum(e)


scaled_dot_product_attention_for_one.edits("""
scores / math.sqrt(len(query)) → scores
    Scale: the scores are not divided by √d.
math.sqrt(len(query)) → len(query)
    Scale: you divide by d. A sum of d products spreads like √d, so divide by the root.
scores / math → scores * math
    Scale: you multiply by √d. Wide vectors have large scores already: divide.
math.sqrt(len(query)) → math.sqrt(len(key))
    Scale: you divide by the root of the number of keys. d is the length of the query.
scores / math.sqrt(len(query)) → scores ; weights @ value → weights @ value / math.sqrt(len(query))
    Scale: √d divides what comes behind the softmax. It belongs on the scores, before the softmax.
key @ query → query @ key
    Score: in `query @ key` the query meets the columns. Each key is a row: `key @ query`, or
    `query @ key.T`.
key @ query → value @ query
    Score: you compare the query with the values. It is compared with the keys.
scores.softmax(dim=0) → scores
    Softmax: there is none. Scores are not weights.
return weights @ value → return weights
    These are the weights. They still have to weigh the values: `weights @ value`.
weights @ value → weights @ key
    Sum: the weights come from query and keys, but what they add up are the values.
weights @ value → weights * value
weights @ value → (weights * value).sum(dim=0)
    `weights * value` meets the columns of `value`, but a weight belongs to a whole row. `weights[:, None]`
    gives it an axis of length 1 for the columns; or write `weights @ value`, which adds up as well.
weights @ value → (weights[:, None] * value).sum(dim=1)
    Each value has its weight, but you add up the entries of one value. The sum goes over the keys, `dim=0`.
weights @ value → (weights[:, None] * value).mean(dim=0)
    Sum: you take the mean of the weighted values, which divides by the number of keys once more. The weights
    add up to 1, so add up alone: `.sum(dim=0)`, or `weights @ value`.
weights @ value → weights[:, None] * value
    Each value has its weight now. They are still to be added up, over the keys: `.sum(dim=0)`.
weights @ value → value @ weights
    Sum: in `value @ weights` the weights meet a row of `value`, the entries of one value. They belong to the
    keys, which go down: `weights @ value`.
""")
