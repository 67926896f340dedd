"""One mask from ids, and a row that may attend to nothing.  Lesson 12."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise

_T, _F = True, False


def _sentences():
    paper = torch.tensor([[5, 7, 0], [0, 4, 6]])  # padding behind, and in front
    one = torch.tensor([[7, 2, 0, 0]])
    square = torch.tensor(
        [[0, 4, 9], [5, 9, 9], [9, 3, 2]]
    )  # here 9 is the padding and 0 is a token
    nothing = torch.tensor([[0, 4, 6, 9], [9, 9, 9, 9]])
    both = torch.tensor([[0, 0, 4, 6, 2], [3, 8, 7, 5, 2], [6, 2, 0, 0, 0]])
    return [(paper, 0), (one, 0), (square, 9), (nothing, 9), (both, 0)]


def _one_cell(place, ids, pad_id):
    if len(place) != 4 or place[1] or max(place[2:]) >= ids.size(1):
        return ""
    sentence, _, query, key = place
    order = "is not later than" if key <= query else "comes after"
    token = "is the padding" if ids[sentence, key] == pad_id else "is a token"
    return (
        f"The entry that is marked: key {key} {order} query {query}, and the id there, "
        f"{ids[sentence, key]}, {token}."
    )


causal_and_padding = Exercise(
    sections=(
        "12 Two reasons to mask out a key",
        "12 Two roads to a causal mask",
    ),
    task="ids (B, T), padded with `pad_id` behind or in front, to one boolean mask (B, 1, T, T), True = may "
    "attend: a query may attend to itself and to what came before, but to no padding. Rows of padding "
    "follow the same rule; a row that may attend to nothing is False throughout. `pad_id` may be any id.",
    cases=_sentences,
    hints=(
        "There are two reasons not to attend, so make two masks. The causal one, key ≤ query, needs only "
        "the length, and is the same for all sentences. The other one, `ids != pad_id`, needs the ids, and "
        "is the same for all queries, also for a query that is padding itself.",
        "The second is (B, T), and its T are keys. `[:, None, None, :]` gives it an axis of length 1 for "
        "the heads and one for the queries, (B, 1, 1, T). Along an axis of length 1 it is repeated when it "
        "meets the other mask.",
        "`torch.ones(T, T, dtype=torch.bool).tril()` keeps the lower triangle, with its diagonal. A key "
        "must pass both masks, and `&` says so entry by entry.",
    ),
    passed="With padding in front some rows may attend to nothing. What should softmax make of them?",
    gaps=(
        "torch.ones(length, length, dtype=torch.bool).tril()",
        "(ids != pad_id)[:, None, None, :]",
        "causal & real",
    ),
    how=_one_cell,
)


@causal_and_padding.solution
def my_mask(ids, pad_id):
    length = ids.size(1)
    # Causal: query i may attend to key j if j <= i. It is the same for all sentences.
    causal = torch.ones(length, length, dtype=torch.bool).tril()  # (queries, keys)
    # Padding is masked out as a key, for all heads and all queries: two axes of length 1.
    real = (ids != pad_id)[:, None, None, :]  # (B, 1, 1, keys)
    # A key has to pass both.
    return causal & real  # (B, 1, queries, keys)


@causal_and_padding.solution
def _(ids, pad_id):
    batch, time = ids.shape
    mask = torch.zeros(batch, 1, time, time, dtype=torch.bool)
    for b in range(batch):
        for query in range(time):
            for key in range(query + 1):
                mask[b, 0, query, key] = bool(ids[b, key] != pad_id)
    return mask


causal_and_padding.edits("""
return causal & real → return real.expand(-1, -1, length, -1)
return causal & real → return real
return causal & real → return real & real.mT
    The triangle is missing: padding alone is masked out, and a query may attend to what comes after it.
return causal & real → return causal.expand(len(ids), 1, -1, -1)
return causal & real → return causal
return causal & real → return causal[None, None]
    This is the triangle alone. Padding is not masked out yet, and each sentence has its own.
causal & real → causal & real | torch.eye(length, dtype=torch.bool)
    You let every query attend to itself, also where it is padding. A key that is padding is masked out for all.
causal & real → causal | real
    `|`, like `+`, lets through what *one* of the two allows. A key must pass both: `&`.
causal & real → causal | ~real
causal & real → causal | ~real.mT
    In yours `|` opens what `ids == pad_id` says, the padding. A key must pass both: `causal & (ids != pad_id)`, with
    the axes of each.
causal & real → causal ^ real
causal & real → causal == real
    You ask where the two masks agree, or differ. A key must pass both: `&`.
causal & real → torch.arange(length) <= (torch.arange(length)[:, None] & real)
causal & real → causal & ids[:, None, None, :] != pad_id
    `&` binds more tightly than `<=`, `==` and `!=`: put the comparison into brackets.
causal & real → ~(causal & real)
causal & real → ~causal & ~real
causal & real → ~causal | ~real
    True means *may attend* here, in all of the mask. Yours says what is masked out: turn it round with `~`.
!= → ==
    Your padding is the wrong way round: yours masks out the tokens, and keeps the padding.
.tril() → .triu()
    Your triangle lies the wrong way: a query may attend to itself and to what comes *after* it.
.tril() → .triu(1)
causal & real → ~causal & real
    Your triangle is True in the future: a query may attend only to what comes *after* it. True means may
    attend, so it belongs on the diagonal and below.
.tril() → .tril(-1)
causal & real → ~causal.mT & real
    A query may not attend to itself in yours: the triangle lacks the diagonal, and its first row is empty.
.tril() → .tril(1)
    A query may attend to one token too many in yours, the next one.
[:, None, None, :] → [:, None, :, None]
    You mask out rows: the padding does not ask, but the tokens behind it may still attend to it. Padding is
    masked out as a *key*, on the last axis.
causal & real → causal & real & real.mT
    You mask out padding as key *and* as query. Its rows follow the same rule as all others: nobody reads
    them, and an empty row is a risk.
causal & real → causal & (real | ~real.mT)
causal & real → causal & real | ~real.mT
    In the rows of padding yours opens keys that are masked out for the others. These rows follow the same rule: a key
    that is padding is masked out for every query, and so is what comes later.
causal & real → real.tril().expand(-1, -1, length, -1)
causal & real → real.tril()
    `tril` goes over rows and columns, and a padding mask has one row: of it the first key alone is left. The triangle
    is a mask of its own, (T, T), and `&` joins the two.
[:, None, None, :] → [:, None, :]
[:, None, None, :] → [:, None]
    The axis of the heads is missing: (B, 1, T, T), not (B, T, T).
[:, None, None, :] →
[:, None, None, :] → [None, None]
[:, None, None, :] → ; causal & real → causal.expand(len(ids), 1, -1, -1) & real
    Sentences meet queries in yours, since torch compares sizes from the right: (B, T) against (T, T). Make
    the padding mask (B, 1, 1, T), `[:, None, None, :]`.
[:, None, None, :] → [..., None]
    Your padding mask is (B, T, 1): its T are queries, so you mask out rows, and the axis of the heads is missing.
    Padding is masked out as a *key*, `[:, None, None, :]`.
[:, None, None, :] → [:, :, None, None]
    Your padding mask is (B, T, 1, 1): its T stands where the heads belong. Keys are the last axis,
    `[:, None, None, :]`.
causal & real → (causal & real).mT
    Queries and keys have changed places in yours: the finished mask is transposed. A row is a query, a column
    is a key.
causal & real → (ids[:, None, None, :] <= ids[:, None, :, None]) & real
causal & real → (ids[:, None, None, :] < ids[:, None, :, None]) & real
    You compare *ids* to see what comes later. An id says which token it is, and its position says when it comes.
causal & real → (causal & real) | ~(causal & real).any(dim=-1, keepdim=True)
causal & real → torch.where((causal & real).any(dim=-1, keepdim=True), causal & real, causal)
    You open the rows that may attend to nothing. Here they stay False throughout: what such a row should give
    is decided later, in the softmax.
return causal & real → return causal, real
return causal & real → return causal, ids != pad_id
    You return the two masks side by side. Join them to one: a key must pass both, `&`.
!= pad_id → != 0
!= pad_id → > 0
!= pad_id → .bool()
    You compare with 0, but the padding is `pad_id`, and in one case 0 is a token.
!= pad_id → > pad_id
!= pad_id → < pad_id
    You ask whether the id is larger or smaller than `pad_id`. Padding is what *equals* it: `!=`.
(ids != pad_id)[ → ((ids != pad_id).cumsum(dim=1) > 0)[
    You mask out the padding in front and not the padding behind: compare each id with `pad_id`.
ids != pad_id → torch.arange(length) < (ids != pad_id).sum(dim=1, keepdim=True)
    You count the tokens and mask out the end. In one case the padding stands in front: compare each id.
length = ids.size(1) → length = ids.size(0)
length = ids.size(1) → length = len(ids)
    Your triangle is as large as the batch. It has a row and a column for each token: `ids.size(1)`.
, dtype=torch.bool →
    `torch.ones` gives numbers, and `&` joins truth values: `dtype=torch.bool`, or compare, `== 1`.
causal & real → (causal & real).int()
causal & real → (causal & real).float()
, dtype=torch.bool → , dtype=torch.int
causal & real → causal * real.int()
causal & real → causal.float() * real
    Your mask is made of numbers. It has to be boolean: `dtype=torch.bool`.
causal & real → torch.zeros(len(ids), 1, length, length).masked_fill(~(causal & real), float("-inf"))
causal & real → torch.zeros(len(ids), 1, length, length).masked_fill(~(causal & real), -1e9)
    Those are numbers to be added to scores. A mask is boolean, True = may attend; softmax fills in the −∞.
""")


def _rows():
    torch.manual_seed(21)
    paper = (
        torch.tensor([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0]]),
        torch.tensor([[_T, _T, _F], [_F, _F, _F]]),
        torch.tensor([[1.0, 0.0, 2.0], [1.0, 2.0, 1.0]]),
    )
    one = torch.randn(1, 2), torch.tensor([[_F, _F]]), torch.randn(1, 2)
    square = torch.tensor([[_T, _F, _T], [_T, _T, _F], [_F, _F, _F]])
    some = torch.tensor([[_T, _T, _F, _T], [_F] * 4, [_F, _T, _T, _F]])
    masks = torch.rand(2, 3, 5) > 0.4
    masks[1, 2] = masks[0, 0] = False
    drawn = [(torch.randn(m.shape), m, torch.randn(m.shape)) for m in (square, some, masks)]
    wild = (  # lesson 12: what is masked out is far larger than what is not
        torch.tensor(
            [[0.0, 1.0, 200.0], [100.0, 101.0, 0.0], [1500.0, 0.0, 1.0], [0.0, 200.0, 1.0]]
        ),
        torch.tensor([[_T, _T, _F], [_T, _T, _F], [_F, _T, _T], [_T, _F, _T]]),
        torch.tensor([[1.0, 0.0, 2.0], [1.0, 2.0, 1.0], [0.0, 1.0, 3.0], [1.0, 0.0, 0.0]]),
    )
    cases = (paper, one, *drawn, wild)
    return [(s.requires_grad_(), mask, upstream) for s, mask, upstream in cases]


empty_rows = Exercise(
    sections=(
        "12 Going deeper: a row that may attend to nothing",
        "03 A row that may attend to nothing",
    ),
    task="Scores (…, queries, keys) that ask for a gradient, a mask (True = may attend) in which a row may "
    "be empty, and `upstream`, the gradient that arrives at the weights, both of the same shape. Return the "
    "weights, 0 where masked out, and the gradient that arrives at the scores, finite everywhere. Scores may be "
    "large, also those that are masked out. Do it without `masked_softmax`.",
    cases=_rows,
    hints=(
        "−∞ in place of the scores that are masked out makes their weights 0. A row that may attend to "
        "nothing is then all −∞, and its softmax is NaN. What mends its *value*? And does the gradient "
        "still pass through the NaN?",
        "Fill twice: `masked_fill(~mask, float('-inf'))` before the softmax, and `masked_fill(~mask, 0.0)` "
        "after it. An entry that is filled no longer depends on what stood there, so its gradient is 0.",
        "`torch.autograd.grad(weights, scores, upstream)` gives a tuple with one gradient for each tensor "
        "that was asked about, here one: `(gradient,) = …` takes it out. Then return both.",
    ),
    passed="The gradient of a row is α (g − Σ αg), and of an empty row: nothing. (If you mended it with "
    "`nan_to_num`: inside a model nobody does that between the softmax and W_Q.)",
    without=("masked_softmax", "attention_weights"),
    gaps=(
        '~mask, float("-inf")',
        "filled.softmax(dim=-1)",
        "~mask, 0.0",
        "weights, scores, upstream",
    ),
)


@empty_rows.solution
def my_empty_rows(scores, mask, upstream):
    # In place of a score that is masked out stands −∞. What is filled has no gradient any more.
    filled = scores.masked_fill(~mask, float("-inf"))  # (..., queries, keys)
    weights = filled.softmax(dim=-1)  # (..., queries, keys)
    # An empty row came out as 0 / 0, NaN. It is filled too, and no NaN finds a way back.
    weights = weights.masked_fill(~mask, 0.0)  # (..., queries, keys)
    # grad gives a tuple, an entry for each tensor that is asked about.
    (gradient,) = torch.autograd.grad(weights, scores, upstream)
    return weights, gradient


@empty_rows.solution
def _(scores, mask, upstream):
    filled = scores.masked_fill(~mask, -1e9)
    kept = (filled - filled.amax(dim=-1, keepdim=True)).exp() * mask
    total = kept.sum(dim=-1, keepdim=True)
    weights = kept / total.where(total > 0, 1.0)
    pull = (weights * upstream).sum(dim=-1, keepdim=True)
    return weights, weights * (upstream - pull)


empty_rows.edits("""
.masked_fill(~mask, 0.0) →
weights.masked_fill(~mask, 0.0) → weights * mask
    In your empty row 0 is divided by 0, which is NaN. Fill it with 0 after the softmax
    (multiplying does not mend it: NaN · 0 is NaN).
float("-inf") → -1e9 ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores + torch.where(mask, 0.0, -1e9) ; .masked_fill(~mask, 0.0) →
    Your empty row is the average of what is masked out. A finite number in the place of its scores makes them all
    equal, and so does one that is added, if it is so large that nothing is left of them.
(~mask, float("-inf")) → (~mask & mask.any(-1, True), float("-inf")) ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores + torch.where(mask, 0.0, -1e3) ; .masked_fill(~mask, 0.0) →
    Your empty row attends to masked-out keys as if there were no mask. Its weights are to be 0: fill them after the
    softmax. (A number that is *added* everywhere in a row, such as −1000, changes nothing there.)
scores.masked_fill(~mask, float("-inf")) → scores + torch.where(mask, 0.0, float("-inf"))
(weights, scores, upstream) → (weights, filled, upstream)
    Your gradient is NaN, your weights are not: what mends an empty row behind its NaN leaves the way back to the
    scores open. So it is where −∞ is *added*, where 0 is divided by 0, and where the gradient is asked for at another
    tensor than `scores`. `masked_fill` before the softmax cuts that way.
scores.masked_fill(~mask, float("-inf")) → scores + torch.where(mask, 0.0, float("-inf")) ; .masked_fill(~mask, 0.0) →
    An empty row is NaN, in its weights and in its gradient: you *added* −∞, or divided by a sum that is 0.
    `masked_fill` before the softmax saves the gradient, a second one behind it the weights.
filled.softmax(dim=-1) → scores.softmax(-1) * mask ; s.masked_fill(~mask, 0.0) → s / weights.sum(-1, True)
filled.softmax(dim=-1) → scores.softmax(-1) * mask ; s.masked_fill(~mask, 0.0) → s / (weights.sum(-1, True) + 1e-9)
filled.softmax(dim=-1) → (filled - scores.max()).exp() ; .masked_fill(~mask, 0.0) → / (1e-9 + weights.sum(-1, True))
filled.s → scores.s ; =-1) → =-1) * mask ; s.masked_fill(~mask, 0.0) → s.div(weights.sum(-1, True)).nan_to_num()
    Where a score that is masked out is far larger than the open ones, yours leaves nothing of these: beside it they
    count as 0, and a sum of 0 is what you divide by (with an ε too, the weights are then wrong). Mask out first: −∞ in
    its place, before a softmax or a largest score is taken.
filled.softmax(dim=-1) → scores.exp() * mask ; s.masked_fill(~mask, 0.0) → s / (weights.sum(-1, True) + 1e-9)
filled.softmax(dim=-1) → scores.exp() * mask ; weights.masked_fill(~mask, 0.0) → weights / weights.sum(-1, True)
filled.softmax(dim=-1) → filled.exp() ; weights.masked_fill(~mask, 0.0) → weights / (weights.sum(-1, True) + 1e-9)
filled.softmax(dim=-1) → filled.exp() ; weights.masked_fill(~mask, 0.0) → weights / weights.sum(-1, True)
    `exp` of a large score is ∞, and what is computed with ∞ is soon NaN. A softmax takes the largest open score of
    the row off first, which changes no weight.
scores.masked_fill(~mask, float("-inf")) → scores - 1000 * ~mask
    You *add* −1000, and a score of 1500 is still the largest then. Put −∞ in its place, `masked_fill`: it is less
    than any score.
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf")
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf") ; .masked_fill(~mask, 0.0) →
scores.masked_fill(~mask, float("-inf")) → scores + ~mask * float("-inf") ; s.masked_fill(~mask, 0.0) → s.nan_to_num()
scores.masked_fill(~mask, float("-inf")) → scores + mask * float("-inf")
scores.masked_fill(~mask, float("-inf")) → scores + mask * float("-inf") ; .masked_fill(~mask, 0.0) →
    0 · ∞ is NaN, so −∞ times a mask spoils the allowed scores too. Choose with `masked_fill` or
    `torch.where`, and do not multiply.
scores.masked_fill(~mask, float("-inf")) → scores * mask ; .masked_fill(~mask, 0.0) →
float("-inf") → 0.0 ; .masked_fill(~mask, 0.0) →
float("-inf") → 0.0
    A score of 0 is not an impossible key: e⁰ = 1. Scores that are masked out become −∞ before the softmax.
scores.masked_fill(~mask, float("-inf")) → scores
    Weights that are masked out are 0, but the rows no longer add up to 1: mask the scores, before the
    softmax.
scores.masked_fill(~mask, float("-inf")) → scores ; .masked_fill(~mask, 0.0) →
    The mask is not used.
(~mask, float("-inf")) → (~mask & mask.any(-2, True), float("-inf")) ; (~mask, 0.0) → (~mask.any(-2, True), 0.0)
(~mask, float("-inf")) → (~mask & mask.any(-2, True), float("-inf"))
(~mask, 0.0) → (~mask.any(-2, True), 0.0)
    You look for empty columns, which are keys that no query may attend to: `mask.any(dim=-2)` goes down over the
    queries. A row is empty where `mask.any(dim=-1, keepdim=True)` is False.
~mask → mask
    Your mask is the wrong way round: True means that the query may attend.
dim=-1 → dim=-2
dim=-1 → dim=0
    The softmax goes over the last axis, the keys.
return weights, gradient → return weights
    You return the weights alone; the gradient is missing. Return both, in this order.
return weights, gradient → return gradient
    You return the gradient alone; the weights are missing. Return both, the weights first.
(weights, scores, upstream) → (weights, scores, torch.ones_like(weights))
    `upstream` is not used: yours is the gradient of the sum of all weights, and that sum is the same
    whatever the scores: its gradient is 0 but for rounding.
(weights, scores, upstream) → (weights, scores)
    `upstream` is not used. The weights are many, and torch asks with which gradient each of them begins:
    `torch.autograd.grad(weights, scores, upstream)`.
(weights, scores, upstream) → (scores, weights, upstream)
    Weights and scores are exchanged: `grad` wants first what came out, then what it came from.
(gradient,) = → gradient =
    `torch.autograd.grad` gives a tuple; its only entry is the gradient: `(gradient,) = …`.
(gradient,) = torch.autograd.grad(weights, scores, upstream) → gradient = weights * upstream
    Your gradient counts each weight's own score alone. A weight depends on all scores of its row:
    α (g − Σ αg).
(gradient,) = torch.autograd.grad(weights, scores, upstream) → gradient = upstream * weights * (1 - weights)
    α (1 − α) is how a weight moves with its own score. It also moves with the others of its row:
    α (g − Σ αg).
(gradient,) = torch.autograd.grad(weights, scores, upstream) → gradient = scores.grad
    Nothing has run backwards yet, so `scores.grad` is None: `weights.backward(upstream)` comes before it,
    or `torch.autograd.grad`.
weights = weights.masked_fill(~mask, 0.0) → weights[~mask] = 0.0
weights = weights.masked_fill(~mask, 0.0) → weights.masked_fill_(~mask, 0.0)
    You write into the weights. Softmax keeps what it gave for the way back, so torch refuses:
    `masked_fill` without the underscore makes a new tensor.
scores.masked_fill(~mask, float("-inf")) → scores.masked_fill_(~mask, float("-inf"))
    You write into the scores, which ask for a gradient: torch refuses. `masked_fill` without the
    underscore makes a new tensor.
""")
