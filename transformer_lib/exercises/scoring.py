"""Scores, and which of them count. Lesson 03."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise

_T, _F = True, False


def _masked():
    torch.manual_seed(6)
    scores = torch.randn(2, 3, 5)
    lengths = torch.arange(5) < torch.tensor([2, 4])[:, None, None]
    blind = torch.tensor([[_T, _F], [_F, _F]])  # row 1 may attend to nothing
    alone = torch.tensor([[1.0, 3.0]]), torch.tensor([[_F, _F]])  # nor may the only row
    loud = torch.tensor([[0.0, 1.0, 200.0], [102.0, 90.0, 101.0]])  # masked out 200, allowed 102
    return [
        (
            torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]),
            torch.tensor([[_T, _T, _F], [_T, _F, _T]]),
        ),
        (torch.tensor([[1.0, 2.0], [0.0, 3.0]]), blind),
        alone,
        (loud, torch.tensor([[_T, _T, _F], [_T, _F, _T]])),
        (torch.tensor([[[1.0, 0.0, 2.0]]]), torch.tensor([[[_T, _T, _F]]])),
        (torch.randn(2, 2, 2), torch.tensor([[[_T, _F], [_T, _T]], [[_F, _T], [_T, _T]]])),
        (scores, lengths.expand(2, 3, 5)),
        (scores - 60, lengths.expand(2, 3, 5)),
    ]


def _one_weight(place, scores, mask):
    *row, _ = place
    if not mask[*row].any():
        return "The mask allows nothing in this row, so all its weights are 0."
    if not mask[place]:
        return "A key that the mask does not allow has weight 0."
    kept = [f"e^{x:g}" for x, allowed in zip(scores[*row], mask[*row], strict=True) if allowed]
    return f"The entry that is marked: e^{scores[place]:g} / ({' + '.join(kept)}), over the allowed keys alone."


masked_softmax = Exercise(
    sections=(
        "03 A row that may attend to nothing",
        "03 Lengths become masks",
    ),
    task="Weights over the keys that `mask` allows (True = may attend), 0 elsewhere, and all 0 where "
    "a row may attend to nothing. (..., queries, keys) and (..., queries, keys) to (..., queries, keys).",
    cases=_masked,
    hints=(
        "Softmax takes e to the power of each score and divides by the sum of the row. A key that is "
        "masked out has to add 0 to that sum. For which score is e to its power exactly 0?",
        'For minus infinity. `scores.masked_fill(~mask, float("-inf"))` puts it where the mask is '
        "False (`~` turns True and False round), and then comes softmax over the last axis, the keys.",
        "A row in which everything is masked out has the sum 0, and 0 / 0 is NaN. Such a row attends to "
        "nothing, so fill once more, after the softmax: `.masked_fill(~mask, 0.0)`.",
    ),
    passed="A masked-out score of 200 did not disturb it either.",
    without=("masked_softmax", "attention_weights"),
    gaps=('~mask, float("-inf")', "dim=-1", "~mask, 0.0"),
    how=_one_weight,
)


@masked_softmax.solution
def my_masked_softmax(scores, mask):
    # In place of a score that is masked out stands −∞, because e to its power is 0.
    scores = scores.masked_fill(~mask, float("-inf"))  # (..., queries, keys)
    # Softmax over the keys, the last axis: each row adds up to 1.
    weights = scores.softmax(dim=-1)  # (..., queries, keys)
    # A row of nothing but −∞ came out as 0 / 0, which is NaN. It attends to nothing: 0.
    return weights.masked_fill(~mask, 0.0)  # (..., queries, keys)


@masked_softmax.solution
def _(scores, mask):
    largest = torch.where(mask, scores, -1e30).amax(dim=-1, keepdim=True)  # of the allowed ones
    kept = torch.where(mask, scores - largest, -1e30).exp() * mask
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)


masked_softmax.edits("""
.masked_fill(~mask, 0.0) →
    In yours the row that may attend to nothing is NaN, and NaN spreads to every parameter. It must be 0.
float("-inf") → -1e9 ; .masked_fill(~mask, 0.0) →
float("-inf") → -1e4 ; .masked_fill(~mask, 0.0) →
    In yours the row that may attend to nothing gives every key the same weight. With any finite fill all
    scores of that row are equal: fill its weights with 0 after the softmax.
~mask, 0.0 → ~mask.any(), 0.0
float("-inf") → -1e9 ; ~mask, 0.0 → ~mask.any(), 0.0
    You ask whether the whole mask allows nothing, as in `if not mask.any()`. One row may attend to nothing
    while others attend: `mask.any(dim=-1, keepdim=True)` asks each row.
~mask → mask
~mask, float("-inf") → mask, float("-inf")
~mask, float("-inf") → mask, float("-inf") ; .masked_fill(~mask, 0.0) →
~mask, float("-inf") → mask, -1e9 ; .masked_fill(~mask, 0.0) →
~mask, float("-inf") → mask, float("-inf") ; ~mask, 0.0 → ~mask.any(dim=-1, keepdim=True), 0.0
    Your mask is the wrong way round: True means that the query may attend to that key.
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * -1e3 ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * -1e4 ; .masked_fill(~mask, 0.0) →
    You add a large negative number to the scores that are masked out. They sink, but keep their
    differences: the row that may attend to nothing spreads its weights over them. Put −∞ in their place.
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf")
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf") ; .masked_fill(~mask, 0.0) →
    0 · ∞ is NaN, so −∞ times a mask spoils the allowed scores too. Choose with `masked_fill` or
    `torch.where`, and do not multiply.
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
scores.softmax(dim=-1) → (scores.exp() / scores.exp().sum(dim=-1, keepdim=True)).nan_to_num()
    e to the power of a score around 100 does not fit into a 32-bit number. Fill the scores that are masked out
    with −∞ and leave the rest to `softmax`, which takes off the largest score first.
dim=-1 → dim=-2
dim=-1 → dim=-2 ; .masked_fill(~mask, 0.0) →
dim=-1 → dim=-2 ; ~mask, 0.0 → ~mask.any(dim=-1, keepdim=True), 0.0
    Your weights add up to 1 over the queries: softmax goes over the last axis, the keys.
dim=-1 → dim=0
dim=-1 → dim=1
dim=-1 → dim=1 ; .masked_fill(~mask, 0.0) →
dim=-1 → dim=1 ; ~mask, 0.0 → ~mask.any(dim=-1, keepdim=True), 0.0
    You count the axis of softmax from the front: `dim=1` is the keys' axis in a table, `dim=2` with one
    axis of batches before it. The keys are always the last axis, `dim=-1`.
scores.masked_fill(~mask, float("-inf")) → scores
    The weights that are masked out are 0, but the rows no longer add up to 1: those scores took part in
    the softmax. Mask the scores before it.
scores.masked_fill(~mask, float("-inf")) → scores * mask
float("-inf") → 0.0 ; .masked_fill(~mask, 0.0) →
float("-inf") → 1e-9 ; ~mask, 0.0 → ~mask.any(dim=-1, keepdim=True), 0.0
float("-inf") → 0.0 ; ~mask, 0.0 → ~mask.any(), 0.0
    In yours a score that is masked out becomes 0 or nearly 0 (1e-9 is tiny; −1e9 is far below 0). e⁰ = 1, so the key
    stays in the sum of its row. A score that is masked out must be −∞ before the softmax.
scores.masked_fill(~mask, float("-inf")) → scores.masked_fill_(~mask, float("-inf"))
    The caller's scores are changed: `masked_fill_` and `scores[...] =` write
    into them. `masked_fill` without the underscore makes a copy.
scores.masked_fill(~mask, float("-inf")) → scores ; ~mask, 0.0 → ~mask, float("-inf")
    You set the weights that are masked out to −∞. It is the score that becomes −∞, before the softmax;
    the weight then comes out as 0.
return weights.masked_fill(~mask, 0.0) → return scores
    These are scores: those that are masked out are −∞, and the softmax is still to come.
scores.masked_fill(~mask, float("-inf")) → scores ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores ; ~mask, 0.0 → ~mask.any(dim=-1, keepdim=True), 0.0
    Your mask changes no score: in a row that may attend to anything each key has its full weight.
""")


def _one_row():
    row = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([_T, _F, _T])
    nothing = torch.tensor([1.0, 3.0]), torch.tensor([_F, _F])
    loud = torch.tensor([5.0, 1.0, 200.0, 4.0]), torch.tensor([_T, _T, _F, _T])
    high = torch.tensor([102.0, 90.0, 101.0]), torch.tensor([_T, _F, _T])
    return [row, nothing, loud, high]


masked_softmax_for_one = Exercise(
    sections=(
        "03 A row that may attend to nothing",
        "03 Lengths become masks",
    ),
    task="The same for one query: `scores` (keys,) and `mask` (keys,) to weights (keys,).",
    cases=_one_row,
    hints=(
        "First the scores that are masked out become minus infinity, because e to its power is 0.",
        '`scores.masked_fill(~mask, float("-inf")).softmax(dim=0)`: with one axis the last axis is the '
        "first. What comes out where nothing is allowed?",
    ),
    passed="For a whole table of queries nothing changes but the axis: the last one, `dim=-1`.",
    without=("masked_softmax", "attention_weights"),
    gaps=('~mask, float("-inf")', "~mask, 0.0"),
    how=_one_weight,
)


@masked_softmax_for_one.solution
def my_masked_softmax_for_one(scores, mask):
    # In place of a score that is masked out stands −∞, because e to its power is 0.
    scores = scores.masked_fill(~mask, float("-inf"))  # (keys,)
    weights = scores.softmax(dim=0)  # (keys,)
    # Where nothing is allowed, 0 / 0 came out, which is NaN: 0 instead.
    return weights.masked_fill(~mask, 0.0)  # (keys,)


@masked_softmax_for_one.solution
def _(scores, mask):
    weights = torch.zeros(len(scores))
    if mask.any():
        weights[mask] = scores[mask].softmax(dim=0)
    return weights


masked_softmax_for_one.edits("""
.masked_fill(~mask, 0.0) →
    Where nothing is allowed yours comes to 0 / 0, and that is NaN. The weights must be 0 there.
float("-inf") → -1e9 ; .masked_fill(~mask, 0.0) →
    Where nothing is allowed your weights are all equal: with a finite fill all scores are equal. The weights
    must be 0 there.
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * -1e3 ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * -1e4 ; .masked_fill(~mask, 0.0) →
    You add a large negative number to the scores that are masked out. They sink, but keep their differences:
    where nothing is allowed, the weights spread over them. Put −∞ in their place.
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf")
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf") ; .masked_fill(~mask, 0.0) →
    0 · ∞ is NaN, so −∞ times a mask spoils the allowed scores too. Choose with `masked_fill` or
    `torch.where`, and do not multiply.
scores.softmax(dim=0) → scores.exp() / scores.exp().sum()
scores.softmax(dim=0) → (scores.exp() / scores.exp().sum()).nan_to_num()
    e to the power of a score around 100 does not fit into a 32-bit number. Fill the scores that are masked out
    with −∞ and leave the rest to `softmax`, which takes off the largest score first.
scores.masked_fill(~mask, float("-inf")) → scores ; ~mask, 0.0 → ~mask, float("-inf")
    You set the weights that are masked out to −∞. It is the score that becomes −∞, before the softmax;
    the weight then comes out as 0.
return weights.masked_fill(~mask, 0.0) → return scores
    These are scores: those that are masked out are −∞, and the softmax is still to come.
dim=0 → dim=1
    `dim=1` is a second axis. The scores have one, the keys, and it is counted from 0: `softmax(dim=0)`.
weights.masked_fill(~mask, 0.0) → torch.cat([weights[mask], 0.0 * mask[~mask]])
    You write the weights of the allowed keys into the first positions. Each weight belongs at the position of
    its key: `weights[mask] = …` puts it there.
~mask, float("-inf") → mask, float("-inf")
~mask → mask
~mask, float("-inf") → mask, float("-inf") ; .masked_fill(~mask, 0.0) →
~mask, float("-inf") → mask, float("-inf") ; ~mask, 0.0 → ~mask.any(), 0.0
    Your mask is the wrong way round: True means that the query may attend to that key.
scores.masked_fill(~mask, float("-inf")) → scores
    The weights that are masked out are 0, but the rest no longer add up to 1: mask the scores before the
    softmax.
scores.masked_fill(~mask, float("-inf")) → scores * mask
float("-inf") → 0.0 ; .masked_fill(~mask, 0.0) →
float("-inf") → 1e-9 ; ~mask, 0.0 → ~mask.any(), 0.0
    In yours a score that is masked out becomes 0 or nearly 0 (1e-9 is tiny; −1e9 is far below 0). e⁰ = 1, so the key
    stays in the sum. A score that is masked out must be −∞ before the softmax.
scores.masked_fill(~mask, float("-inf")) → scores ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores ; ~mask, 0.0 → ~mask.any(), 0.0
    Your mask changes no score: where anything is allowed each key has its full weight.
scores.masked_fill(~mask, float("-inf")) → scores.masked_fill_(~mask, float("-inf"))
    The caller's scores are changed: `masked_fill_` and `scores[...] =` write
    into them. `masked_fill` without the underscore makes a copy.
scores.masked_fill(~mask, float("-inf")) → scores[mask]
scores.masked_fill(~mask, float("-inf")) → scores[mask] ; .masked_fill(~mask, 0.0) →
    You keep the allowed keys alone, so the row is shorter. A key that is masked out stays, with weight 0.
""")

_LATE = (
    "You mask after e has been taken to the power of the scores. Where a score that is masked out is far larger "
    "than the allowed ones, the allowed weights underflow to 0 / 0, or its power is infinite: put −∞ in the "
    "place of that score before the softmax."
)


def _masked_late(powers, ended):
    def answer(scores, mask):
        kept = powers(scores) * mask
        return ended(kept / kept.sum(dim=-1, keepdim=True), mask)

    return answer


for _ended in (
    lambda weights, mask: weights,
    lambda weights, mask: weights.nan_to_num(),
    lambda weights, mask: weights.masked_fill(~mask, 0.0),
    lambda weights, mask: weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0),
):
    for _exercise in (masked_softmax, masked_softmax_for_one):
        _exercise.mistake(_LATE)(_masked_late(lambda scores: scores.softmax(dim=-1), _ended))
        _exercise.mistake(_LATE)(_masked_late(torch.exp, _ended))


def _projected():
    torch.manual_seed(7)
    paper = (
        torch.tensor([[1.0, 0.0]]),
        torch.tensor([[1.0], [-1.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        torch.tensor([[1.0], [2.0]]),
        torch.tensor([1.0, 2.0]),
    )
    square = [torch.randn(3, 3) for _ in range(4)]
    shapes = (3, 4), (5, 2), (6, 4), (6, 2), (6,)
    return [paper, tuple(torch.randn(shape) for shape in shapes), (*square, torch.randn(3))]


def _one_score(place, query, key, W_q, W_k, w_v):
    if place:
        query, key = query[place[0]], key[place[1]]
    parts = zip(w_v, W_q @ query, W_k @ key, strict=True)
    terms = (f"{v:.3g}·tanh({a:.3g} + {b:.3g})" for v, a, b in parts)
    return f"{'The entry that is marked' if place else 'The right answer'}: {' + '.join(terms)}."


additive_score = Exercise(
    sections=("03 What if query and key differ in width?",),
    task="The additive score wᵥᵀ tanh(W_q q + W_k k) of every query with every key. query (queries, d_q), "
    "key (keys, d_k), W_q (width, d_q), W_k (width, d_k), w_v (width,) to (queries, keys).",
    cases=_projected,
    hints=(
        "Query and key may have different widths, so each is first multiplied by a matrix of its own, and "
        "both then have the same width. The formula has vectors as columns, W_q q; a table has them as "
        "rows, and there it is written `query @ W_q.T`.",
        "`query @ W_q.T` is (queries, width) and `key @ W_k.T` is (keys, width). Every row of one must "
        "meet every row of the other. `[:, None]` gives the first an axis of length 1 for the keys, "
        "(queries, 1, width), and `[None]` the second one for the queries, (1, keys, width). In the sum "
        "each is repeated along its axis of length 1: (queries, keys, width).",
        "Then the tanh, entry by entry, and `@ w_v`, which weighs the last axis and adds it up: "
        "(queries, keys).",
    ),
    passed="Query and key had different widths. The dot product could not have compared them.",
    without=("additive_score", "AdditiveAttention", "AdditiveScore"),
    gaps=("query @ W_q.T", "key @ W_k.T", "q[:, None] + k[None]", "hidden @ w_v"),
    how=_one_score,
)


@additive_score.solution
def my_additive_score(query, key, W_q, W_k, w_v):
    # Both get the same width. Vectors stand in rows, so W_q q becomes query @ W_q.T.
    q = query @ W_q.T  # (queries, width)
    k = key @ W_k.T  # (keys, width)
    # Each query meets each key: an axis of length 1 is repeated along the other's.
    hidden = torch.tanh(q[:, None] + k[None])  # (queries, keys, width)
    # w_v makes one number of each vector.
    return hidden @ w_v  # (queries, keys)


@additive_score.solution
def _(query, key, W_q, W_k, w_v):
    return torch.stack(
        [torch.stack([w_v @ torch.tanh(W_q @ q + W_k @ k) for k in key]) for q in query]
    )


additive_score.edits("""
return hidden @ w_v → return hidden
    You have a vector for each pair, not a score. w_v is missing: it turns the hidden vector into a number.
hidden @ w_v → hidden.sum(dim=-1)
    w_v is missing: you add up the hidden vector, and w_v says how much each of its entries counts.
torch.tanh(q[:, None] + k[None]) → torch.tanh(q[:, None]) + torch.tanh(k[None])
    You take two tanh, one of each part. First add, then bend: one tanh, of the sum.
torch.tanh(q[:, None] + k[None]) → q[:, None] + k[None]
    The tanh is missing. Without it the query shifts all scores alike.
torch.tanh(q[:, None] + k[None]) → q[:, None] + k[None] ; hidden @ w_v → torch.tanh(hidden @ w_v)
    In yours the tanh comes after w_v. It belongs on the hidden vector, before w_v.
torch.tanh(q[:, None] + k[None]) → torch.relu(q[:, None] + k[None])
    That is a ReLU. The additive score bends with tanh.
hidden @ w_v → (hidden @ w_v).softmax(dim=-1)
    These are weights. A score comes before the softmax.
hidden @ w_v → w_v @ hidden
    `w_v @ hidden` does not weigh the last axis, and there are the entries to be weighed: `hidden @ w_v`.
q[:, None] + k[None] → q[:, None] * k[None]
    You multiply the two projections. The score is called additive because they are added.
q[:, None] + k[None] → q[:, None] - k[None]
q[:, None] + k[None] → k[None] - q[:, None]
    You subtract one projection from the other. The score is called additive because they are added.
q[:, None] + k[None] → q + k
    Each query must meet each key. `q + k` adds row 0 to row 0 and row 1 to row 1: give each an axis of
    its own, `[:, None]` and `[None]`.
q[:, None] + k[None] → q[None] + k[:, None]
    Your rows are keys and your columns queries. Queries go down.
query @ W_q.T → query @ W_k.T ; key @ W_k.T → key @ W_q.T
    You exchanged the two matrices. W_q belongs to the query and W_k to the key.
query @ W_q.T → query @ W_q
key @ W_k.T → key @ W_k
    A `.T` is missing. W_q q of the formula is a matrix times a column; with vectors in rows it is
    `query @ W_q.T`.
""")


def _one_pair():
    torch.manual_seed(8)
    paper = (
        torch.tensor([1.0, 0.0]),
        torch.tensor([1.0]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        torch.tensor([[1.0], [2.0]]),
        torch.tensor([1.0, 2.0]),
    )
    square = torch.randn(3), torch.randn(3), torch.randn(3, 3), torch.randn(3, 3), torch.randn(3)
    return [paper, tuple(torch.randn(n) for n in ((4,), (2,), (6, 4), (6, 2), (6,))), square]


additive_score_for_one = Exercise(
    sections=("03 What if query and key differ in width?",),
    task="The additive score of one query (d_q,) with one key (d_k,): w_vᵀ tanh(W_q q + W_k k), one number as "
    "a tensor without axes. W_q (width, d_q), W_k (width, d_k), w_v (width,).",
    cases=_one_pair,
    hints=(
        "Query and key may have different widths. A matrix of its own brings each to the same width, and "
        "then the two can be added: `W_q @ query` and `W_k @ key`, both (width,).",
        "`torch.tanh` bends each entry of the sum. `w_v` says how much each entry counts: `w_v @ hidden` "
        "multiplies entry by entry and adds up.",
    ),
    passed="With all queries and keys at once each query has to meet each key. Which axis does that take?",
    without=("additive_score", "AdditiveAttention", "AdditiveScore"),
    gaps=("W_q @ query + W_k @ key", "w_v @ hidden"),
    how=_one_score,
)


@additive_score_for_one.solution
def my_additive_score_for_one(query, key, W_q, W_k, w_v):
    # Both are brought to the same width, added, and bent.
    hidden = torch.tanh(W_q @ query + W_k @ key)  # (width,)
    # w_v makes one number of the vector.
    return w_v @ hidden  # ()


@additive_score_for_one.solution
def _(query, key, W_q, W_k, w_v):
    q, k = (W_q * query).sum(dim=1), (W_k * key).sum(dim=1)
    return (w_v * (q + k).tanh()).sum()


additive_score_for_one.edits("""
return w_v @ hidden → return hidden
    You have a vector, not a score. w_v is missing: it turns the vector into a number.
w_v @ hidden → hidden.sum()
    w_v is missing: you add up the vector, and w_v says how much each of its entries counts.
w_v @ hidden → w_v * hidden
    You multiply entry by entry and do not add up. One number is wanted: `w_v @ hidden`.
torch.tanh(W_q @ query + W_k @ key) → torch.tanh(W_q @ query) + torch.tanh(W_k @ key)
    You take two tanh, one of each part. First add, then bend: one tanh, of the sum.
torch.tanh(W_q @ query + W_k @ key) → W_q @ query + W_k @ key
    The tanh is missing.
torch.tanh(W_q @ query + W_k @ key) → W_q @ query + W_k @ key ; w_v @ hidden → torch.tanh(w_v @ hidden)
    In yours the tanh comes after w_v. It belongs on the vector, before w_v.
torch.tanh(W_q @ query + W_k @ key) → torch.relu(W_q @ query + W_k @ key)
    That is a ReLU. The additive score bends with tanh.
W_q @ query + W_k @ key → (W_q @ query) * (W_k @ key)
    You multiply the two. The score is called additive because they are added.
W_q @ query + W_k @ key → W_q @ query - W_k @ key
W_q @ query + W_k @ key → W_k @ key - W_q @ query
    You subtract one from the other. The score is called additive because they are added.
W_q @ query + W_k @ key → W_k @ query + W_q @ key
    You exchanged the two matrices. W_q belongs to the query and W_k to the key.
w_v @ hidden → (w_v @ hidden).softmax(dim=-1)
    You take the softmax of the score, and of a single score it is always 1. A score comes before the softmax.
W_q @ query + W_k @ key → W_q.T @ query + W_k.T @ key
W_q @ query → W_q.T @ query
W_k @ key → W_k.T @ key
    There is a `.T` too many: with one vector the product is written as in the formula, `W_q @ query`.
w_v @ hidden → (w_v @ hidden)[None]
    One axis too many: the score of one pair is a tensor without axes.
""")
