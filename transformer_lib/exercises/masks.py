"""One mask from ids, and a row that may see nothing.  Lesson 12."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _sentences():
    behind = torch.tensor([[5, 3, 8, 4, 2], [7, 2, 0, 0, 0], [6, 9, 2, 0, 0]])
    other = torch.tensor([[0, 4, 6, 9], [5, 0, 9, 9]])  # here 9 is the padding and 0 is a word
    in_front = torch.tensor([[0, 0, 4, 6, 5, 2], [3, 8, 7, 4, 9, 2]])
    return [(behind, 0), (other, 9), (in_front, 0)]


causal_and_padding = Exercise(
    task="ids (B, T), padded with `pad_id`, to one boolean mask (B, 1, T, T), True = may look: a query "
    "sees the real tokens among itself and what came before.",
    cases=_sentences,
    hints=(
        "Two masks. The triangle needs T alone and is the same for all sentences; the other one is "
        "`ids != pad_id`.",
        "Give the second one axes for heads and queries: `[:, None, None, :]` makes it (B, 1, 1, T).",
        "`torch.ones(T, T, dtype=torch.bool).tril()`, and `&` joins the two.",
    ),
    passed="With padding in front some rows are empty. What should softmax make of them?",
)


def _triangle(ids, diagonal=0):
    return torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).tril(diagonal)


@causal_and_padding.solution
def my_mask(ids, pad_id):
    T = ids.size(1)
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    real = (ids != pad_id)[:, None, None, :]
    return causal & real


@causal_and_padding.solution
def _(ids, pad_id):
    batch, time = ids.shape
    mask = torch.zeros(batch, 1, time, time, dtype=torch.bool)
    for b in range(batch):
        for query in range(time):
            for key in range(query + 1):
                mask[b, 0, query, key] = bool(ids[b, key] != pad_id)
    return mask


@causal_and_padding.mistake("Every key is real or not: this is the padding mask alone.")
def _(ids, pad_id):
    return (ids != pad_id)[:, None, None, :].expand(-1, 1, ids.size(1), -1)


@causal_and_padding.mistake(
    "This is the padding mask alone, with one row for all queries. The triangle is missing."
)
def _(ids, pad_id):
    return (ids != pad_id)[:, None, None, :]


@causal_and_padding.mistake("This is the triangle alone: padding is still seen.")
def _(ids, pad_id):
    return _triangle(ids).expand(len(ids), 1, -1, -1)


@causal_and_padding.mistake(
    "This is the triangle alone, one for all sentences. Padding is still seen."
)
def _(ids, pad_id):
    return _triangle(ids)


@causal_and_padding.mistake(
    "`|` lets through what *one* of the two allows. A key must pass both: `&`."
)
def _(ids, pad_id):
    return _triangle(ids) | (ids != pad_id)[:, None, None, :]


_TURNED = "True means *may look* here, in all of it. Yours says what is hidden: turn it with `~`."


@causal_and_padding.mistake(_TURNED)
def _(ids, pad_id):
    return ~(_triangle(ids) & (ids != pad_id)[:, None, None, :])


@causal_and_padding.mistake(_TURNED)
def _(ids, pad_id):
    return ~_triangle(ids) & (ids == pad_id)[:, None, None, :]


@causal_and_padding.mistake("Your padding is the wrong way round: the real tokens are hidden.")
def _(ids, pad_id):
    return _triangle(ids) & (ids == pad_id)[:, None, None, :]


_FUTURE = "Your triangle lies the wrong way: a query sees itself and what comes *after* it."


@causal_and_padding.mistake(_FUTURE)
def _(ids, pad_id):
    return _triangle(ids).T & (ids != pad_id)[:, None, None, :]


@causal_and_padding.mistake(
    "A query does not see itself: your triangle lacks the diagonal, and the first row is empty."
)
def _(ids, pad_id):
    return _triangle(ids, -1) & (ids != pad_id)[:, None, None, :]


@causal_and_padding.mistake("Each query sees one word too many, the next one.")
def _(ids, pad_id):
    return _triangle(ids, 1) & (ids != pad_id)[:, None, None, :]


@causal_and_padding.mistake(
    "You hide rows: padding asks nothing, but is still seen by the words behind it. Padding is "
    "hidden as a *key*, on the last axis."
)
def _(ids, pad_id):
    return _triangle(ids) & (ids != pad_id)[:, None, :, None]


@causal_and_padding.mistake(
    "You hide padding as key *and* as query. The rows of padding may stay: nobody reads them, and an "
    "empty row is a risk."
)
def _(ids, pad_id):
    real = ids != pad_id
    return _triangle(ids) & real[:, None, None, :] & real[:, None, :, None]


@causal_and_padding.mistake("The axis of the heads is missing: (B, 1, T, T), not (B, T, T).")
def _(ids, pad_id):
    return _triangle(ids) & (ids != pad_id)[:, None, :]


@causal_and_padding.mistake(
    "You compare with 0, but the padding is `pad_id`, and in one case 0 is a word."
)
def _(ids, pad_id):
    return _triangle(ids) & (ids != 0)[:, None, None, :]


@causal_and_padding.mistake(
    "You count the real tokens and hide the end. In one case the padding stands in front: compare "
    "each id."
)
def _(ids, pad_id):
    real = torch.arange(ids.size(1)) < (ids != pad_id).sum(dim=1, keepdim=True)
    return _triangle(ids) & real[:, None, None, :]


@causal_and_padding.mistake(
    "`(B, T)` and `(T, T)` do not line up: torch compares sizes from the right, so sentences meet "
    "queries. Make the padding mask (B, 1, 1, T)."
)
def _(ids, pad_id):
    return _triangle(ids) & (ids != pad_id)


@causal_and_padding.mistake("Right, but as numbers. A mask is boolean: `dtype=torch.bool`.")
def _(ids, pad_id):
    return (_triangle(ids) & (ids != pad_id)[:, None, None, :]).int()


@causal_and_padding.mistake("Right, but as numbers. A mask is boolean: `dtype=torch.bool`.")
def _(ids, pad_id):
    return (_triangle(ids) & (ids != pad_id)[:, None, None, :]).float()


def _rows():
    torch.manual_seed(21)
    some = torch.tensor([[True, True, False, True], [False] * 4, [False, True, True, False]])
    first = torch.randn(3, 4), some, torch.randn(3, 4)
    masks = torch.rand(2, 3, 5) > 0.4
    masks[1, 2] = masks[0, 0] = False
    second = torch.randn(2, 3, 5), masks, torch.randn(2, 3, 5)
    return [(s.requires_grad_(), mask, upstream) for s, mask, upstream in (first, second)]


empty_rows = Exercise(
    task="Scores (…, q, k) that ask for a gradient, a mask (True = may look) in which a row may be "
    "empty, and `upstream`, the gradient that arrives at the weights. Return the weights, 0 "
    "where hidden, and the gradient that arrives at the scores, finite everywhere.",
    cases=_rows,
    hints=(
        "−∞ before the softmax makes hidden weights 0; an empty row becomes NaN. What heals its "
        "*value*? And does the gradient still pass through the NaN?",
        "Two fills: `masked_fill(~mask, float('-inf'))` before the softmax, `masked_fill(~mask, 0.0)` "
        "after it. A filled cell no longer depends on its score.",
        "`(gradient,) = torch.autograd.grad(weights, scores, upstream)`, then `return weights, "
        "gradient`.",
    ),
    passed="The gradient of a row is α (g − Σ αg), and of an empty row: nothing. (If you mended it with "
    "`nan_to_num`: inside a model nobody does that between the softmax and W_Q.)",
)


@empty_rows.solution
def my_empty_rows(scores, mask, upstream):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    weights = weights.masked_fill(~mask, 0.0)
    (gradient,) = torch.autograd.grad(weights, scores, upstream)
    return weights, gradient


@empty_rows.solution
def _(scores, mask, upstream):
    kept = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    total = kept.sum(dim=-1, keepdim=True)
    weights = kept / total.where(total > 0, 1.0)
    pull = (weights * upstream).sum(dim=-1, keepdim=True)
    return weights, weights * (upstream - pull)


def _both(weights, scores, upstream):
    return weights, torch.autograd.grad(weights, scores, upstream)[0]


@empty_rows.mistake(
    "An empty row is NaN, as softmax computes −∞ − (−∞). Fill it with 0 after the softmax "
    "(multiplying does not heal it: NaN · 0 is NaN)."
)
def _(scores, mask, upstream):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return _both(weights, scores, upstream)


_AVERAGE = (
    "Your empty row is the average of what is hidden: with a finite fill all its scores are equal."
)


@empty_rows.mistake(_AVERAGE)
def _(scores, mask, upstream):
    return _both(scores.masked_fill(~mask, -1e9).softmax(dim=-1), scores, upstream)


@empty_rows.mistake(_AVERAGE)
def _(scores, mask, upstream):
    return _both((scores + torch.where(mask, 0.0, -1e9)).softmax(dim=-1), scores, upstream)


@empty_rows.mistake(
    "You *added* −1000. On an empty row the same number is added everywhere, and softmax does not "
    "see it: the row looks at hidden keys as if there were no mask."
)
def _(scores, mask, upstream):
    return _both((scores + torch.where(mask, 0.0, -1e3)).softmax(dim=-1), scores, upstream)


_HEALED = (
    "The weights are right, the gradient is NaN. You *added* −∞: the sum still depends on the score, "
    "and hands the NaN of the empty row down to it. `masked_fill` cuts that road."
)


@empty_rows.mistake(_HEALED)
def _(scores, mask, upstream):
    hidden = scores + torch.where(mask, 0.0, float("-inf"))
    return _both(hidden.softmax(dim=-1).nan_to_num(), scores, upstream)


@empty_rows.mistake(
    "An empty row is NaN, in its weights and in its gradient: you *added* −∞, or divided by a sum "
    "that is 0. `masked_fill` before the softmax saves the gradient, a second one behind it the "
    "weights."
)
def _(scores, mask, upstream):
    hidden = scores + torch.where(mask, 0.0, float("-inf"))
    return _both(hidden.softmax(dim=-1), scores, upstream)


@empty_rows.mistake(
    "A score of 0 is not an impossible key: e⁰ = 1. Hidden scores become −∞ before the softmax."
)
def _(scores, mask, upstream):
    return _both((scores * mask).softmax(dim=-1), scores, upstream)


@empty_rows.mistake(
    "Hidden weights are 0, but the rows no longer add up to 1: hide before the softmax, not after it."
)
def _(scores, mask, upstream):
    return _both(scores.softmax(dim=-1) * mask, scores, upstream)


@empty_rows.mistake("Your mask is the wrong way round: True means that the query may look.")
def _(scores, mask, upstream):
    weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1).masked_fill(mask, 0.0)
    return _both(weights, scores, upstream)


@empty_rows.mistake("The softmax goes over the last axis, the keys.")
def _(scores, mask, upstream):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-2).masked_fill(~mask, 0.0)
    return _both(weights, scores, upstream)


@empty_rows.mistake("The weights are right; the gradient is missing. Return both, in this order.")
def _(scores, mask, upstream):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


@empty_rows.mistake(
    "`upstream` is not used: yours is the gradient of the sum of all weights, and that sum is the "
    "same whatever the scores: its gradient is 0 but for rounding."
)
def _(scores, mask, upstream):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)
    return _both(weights, scores, torch.ones_like(weights))


@empty_rows.mistake(
    "`torch.autograd.grad` gives a tuple; its only entry is the gradient: `(gradient,) = …`."
)
def _(scores, mask, upstream):
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights, torch.autograd.grad(weights, scores, upstream)
