"""Scores, and which of them count. Lesson 03."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _masked():
    torch.manual_seed(6)
    scores = torch.randn(2, 3, 5)
    some = torch.arange(5) < torch.tensor([2, 4])[:, None, None]
    none = torch.ones(2, 3, 5, dtype=torch.bool)
    none[1, 2] = False
    loud = torch.tensor([[0.0, 1.0, 200.0], [102.0, 90.0, 101.0]])  # hidden 200; visible 102
    quiet = torch.tensor([[True, True, False], [True, False, True]])
    cases = [(scores, some.expand(2, 3, 5)), (scores, none)]
    return [*cases, (loud, quiet), (scores - 60, some.expand(2, 3, 5))]


masked_softmax = Exercise(
    task="Shares over the keys that `mask` allows (True = may look), 0 elsewhere, and all 0 where "
    "a row may see nothing. (..., q, k) and (..., q, k) to (..., q, k).",
    cases=_masked,
    hints=(
        "What must a score be, so that its exponential is exactly 0?",
        '`scores.masked_fill(~mask, float("-inf"))`, then softmax over the last axis.',
        "A row of nothing but −∞ comes out as NaN. Fill once more, after the softmax.",
    ),
    passed="Hidden scores of 200 did not disturb it either.",
)


@masked_softmax.solution
def my_masked_softmax(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


@masked_softmax.solution
def _(scores, mask):
    largest = torch.where(mask, scores, -1e30).amax(dim=-1, keepdim=True)  # of the visible ones
    kept = torch.where(mask, scores - largest, -1e30).exp() * mask
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@masked_softmax.mistake(
    "Right, but for the row that may see nothing: it is NaN, and NaN spreads to every parameter. "
    "It must be 0."
)
def _(scores, mask):
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


_UNIFORM = (
    "Right, but for the row that may see nothing: it gives every hidden key the same share. With "
    "any finite fill, all scores of that row are equal."
)


@masked_softmax.mistake(_UNIFORM)
def _(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1)


@masked_softmax.mistake(_UNIFORM)
def _(scores, mask):
    return scores.masked_fill(~mask, -1e6).softmax(dim=-1)


_INVERTED = "Your mask is the wrong way round: True means that the query may look."


@masked_softmax.mistake(_INVERTED)
def _(scores, mask):
    return scores.masked_fill(mask, float("-inf")).softmax(dim=-1)


@masked_softmax.mistake(_INVERTED)
def _(scores, mask):
    weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(mask, 0.0)


@masked_softmax.mistake(_INVERTED)
def _(scores, mask):
    return scores.masked_fill(mask, -1e9).softmax(dim=-1)


_ADDED = (
    "You add a large negative number to the hidden scores. They sink, but keep their differences: "
    "the row that may see nothing shares its glance among hidden keys. Put −∞ in their place."
)


@masked_softmax.mistake(_ADDED)
def _(scores, mask):
    return (scores + ~mask * -1e6).softmax(dim=-1)


@masked_softmax.mistake(_ADDED)
def _(scores, mask):
    return (scores + ~mask * -1e4).softmax(dim=-1)


@masked_softmax.mistake(_ADDED)
def _(scores, mask):
    return (scores + ~mask * -1e3).softmax(dim=-1)


@masked_softmax.mistake(
    "0 · ∞ is NaN, so −∞ times a mask spoils the visible scores too. Choose with `masked_fill` or "
    "`torch.where`, and do not multiply."
)
def _(scores, mask):
    return (scores + ~mask * float("-inf")).softmax(dim=-1)


_TOO_LARGE = (
    "The exponential of a score around 100 does not fit into a number. Fill the hidden scores with "
    "−∞ and leave the rest to `softmax`, which subtracts the largest first."
)


@masked_softmax.mistake(_TOO_LARGE)
def _(scores, mask):
    kept = scores.exp() * mask
    return (kept / kept.sum(dim=-1, keepdim=True)).nan_to_num()


@masked_softmax.mistake(_TOO_LARGE)
def _(scores, mask):
    kept = scores.exp() * mask
    return kept / kept.sum(dim=-1, keepdim=True)


_QUERIES = "Your weights add up to 1 over the queries: softmax goes over the last axis, the keys."


@masked_softmax.mistake(_QUERIES)
def _(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-2)
    return weights.masked_fill(~mask, 0.0)


@masked_softmax.mistake(_QUERIES)
def _(scores, mask):
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-2)


@masked_softmax.mistake(_QUERIES)
def _(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-2)


@masked_softmax.mistake(_QUERIES)
def _(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=0)
    return weights.masked_fill(~mask, 0.0)


@masked_softmax.mistake(_QUERIES)
def _(scores, mask):
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=0)


_DIM_1 = (
    "You count the axis from the front: `dim=1` is the keys' in a table, `dim=2` with one axis of "
    "batches before it. The keys are always the last axis, `dim=-1`."
)


@masked_softmax.mistake(_DIM_1)
def _(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=1)
    return weights.masked_fill(~mask, 0.0)


@masked_softmax.mistake(_DIM_1)
def _(scores, mask):
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=1)


@masked_softmax.mistake(_DIM_1)
def _(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=1)


@masked_softmax.mistake(_DIM_1)
def _(scores, mask):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=2)
    return weights.masked_fill(~mask, 0.0)


@masked_softmax.mistake(
    "The hidden keys are 0, but the rows no longer add up to 1: the hidden scores took part in the "
    "softmax. Hide them before it, or divide by what is left."
)
def _(scores, mask):
    return scores.softmax(dim=-1) * mask


@masked_softmax.mistake(
    "A score of 0 is not an impossible key: e⁰ = 1. Hidden scores must be −∞ before the softmax."
)
def _(scores, mask):
    return (scores * mask).softmax(dim=-1)


@masked_softmax.mistake(
    "The weights are right, but the caller's scores are changed: `masked_fill_` and `scores[...] =` "
    "write into them. `masked_fill` without the underscore makes a copy."
)
def _(scores, mask):
    weights = scores.masked_fill_(~mask, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


@masked_softmax.mistake(
    "You set the hidden weights to −∞. It is the hidden score that becomes −∞, before the softmax; "
    "the weight then comes out as 0."
)
def _(scores, mask):
    return scores.softmax(dim=-1).masked_fill(~mask, float("-inf"))


_AFTERWARDS = (
    "On paper this is right. But where a hidden score is far larger than the visible ones, these "
    "underflow to 0/0: hide before the softmax, not after it."
)


@masked_softmax.mistake(_AFTERWARDS)
def _(scores, mask):
    kept = scores.softmax(dim=-1) * mask
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-9)


@masked_softmax.mistake(_AFTERWARDS)
def _(scores, mask):
    kept = scores.softmax(dim=-1) * mask
    return kept / (kept.sum(dim=-1, keepdim=True) + 1e-9)


@masked_softmax.mistake(
    "Hiding after the softmax and dividing again is right on paper, and here it divides 0 by 0 "
    "twice: in the row that may see nothing, and where a hidden score is far larger than the "
    "visible ones. Hide before the softmax."
)
def _(scores, mask):
    kept = scores.softmax(dim=-1) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


@masked_softmax.mistake(
    "These are scores: the hidden ones are −∞, and the softmax is still to come."
)
def _(scores, mask):
    return scores.masked_fill(~mask, float("-inf"))


@masked_softmax.mistake("The mask is not used.")
def _(scores, mask):
    return scores.softmax(dim=-1)


def _projected():
    torch.manual_seed(7)
    shapes = (3, 4), (5, 2), (6, 4), (6, 2), (6,)
    return [tuple(torch.randn(shape) for shape in shapes)]


additive_score = Exercise(
    task="wᵥᵀ tanh(W_q q + W_k k) for every query and key: queries (3, 4), keys (5, 2), W_q (6, 4), "
    "W_k (6, 2), w_v (6,) to (3, 5).",
    cases=_projected,
    hints=(
        "`query @ W_q.T` is (3, 6) and `key @ W_k.T` is (5, 6). Every row of one must meet every "
        "row of the other.",
        "Give each an axis that the other has: (3, 1, 6) + (1, 5, 6) is (3, 5, 6).",
        "After the tanh, `@ w_v` turns the last axis into a number.",
    ),
    passed="Query and key had different widths. The dot product could not have compared them.",
)


@additive_score.solution
def my_additive_score(query, key, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q.T)[:, None] + (key @ W_k.T)[None])
    return hidden @ w_v


@additive_score.solution
def _(query, key, W_q, W_k, w_v):
    return torch.stack(
        [torch.stack([w_v @ torch.tanh(W_q @ q + W_k @ k) for k in key]) for q in query]
    )


@additive_score.mistake(
    "You have a vector for each pair, not a score. w_v is missing: it turns the hidden vector into "
    "a number."
)
def _(query, key, W_q, W_k, w_v):
    return torch.tanh((query @ W_q.T)[:, None] + (key @ W_k.T)[None])


@additive_score.mistake(
    "This is the formula for one query and one key. For all of them, the vectors stand in rows: "
    "`query @ W_q.T` is (3, 6), `key @ W_k.T` is (5, 6), and each needs an axis for the other."
)
def _(query, key, W_q, W_k, w_v):
    return w_v @ torch.tanh(W_q @ query + W_k @ key)


@additive_score.mistake("First add, then bend: one tanh, of the sum.")
def _(query, key, W_q, W_k, w_v):
    return (torch.tanh((query @ W_q.T)[:, None]) + torch.tanh(key @ W_k.T)) @ w_v


@additive_score.mistake("The numbers to be weighed are the last axis: `hidden @ w_v`.")
def _(query, key, W_q, W_k, w_v):
    return w_v @ torch.tanh((query @ W_q.T)[:, None] + key @ W_k.T)


@additive_score.mistake("These are weights. A score comes before the softmax.")
def _(query, key, W_q, W_k, w_v):
    return (torch.tanh((query @ W_q.T)[:, None] + (key @ W_k.T)[None]) @ w_v).softmax(dim=-1)


@additive_score.mistake("The tanh is missing. Without it the query shifts all scores alike.")
def _(query, key, W_q, W_k, w_v):
    return ((query @ W_q.T)[:, None] + (key @ W_k.T)[None]) @ w_v


@additive_score.mistake(
    "One axis too many: (3, 5, 1). With `w_v` as a vector, `hidden @ w_v` is (3, 5)."
)
def _(query, key, W_q, W_k, w_v):
    return torch.tanh((query @ W_q.T)[:, None] + (key @ W_k.T)[None]) @ w_v[:, None]


@additive_score.mistake("The tanh comes after w_v. It belongs on the hidden vector, before.")
def _(query, key, W_q, W_k, w_v):
    return torch.tanh(((query @ W_q.T)[:, None] + (key @ W_k.T)[None]) @ w_v)


@additive_score.mistake("Your rows are keys and your columns queries. Queries go down.")
def _(query, key, W_q, W_k, w_v):
    return torch.tanh((key @ W_k.T)[:, None] + (query @ W_q.T)[None]) @ w_v


@additive_score.mistake(
    "You multiplied the two projections. The score is called additive because they are added."
)
def _(query, key, W_q, W_k, w_v):
    return torch.tanh((query @ W_q.T)[:, None] * (key @ W_k.T)[None]) @ w_v


@additive_score.mistake(
    "3 queries and 5 keys do not line up: (3, 6) + (5, 6). Give each an axis of its own with "
    "`[:, None]` and `[None]`."
)
def _(query, key, W_q, W_k, w_v):
    return torch.tanh(query @ W_q.T + key @ W_k.T) @ w_v
