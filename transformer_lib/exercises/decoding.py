"""One step of writing: the best token, the best hypotheses, what a step may keep.  Lesson 16."""

import math

import torch
import torch.nn.functional as F

from transformer_lib.exercises.checking.machinery import Exercise

_T, _F = True, False


def _steps():
    torch.manual_seed(16)
    logits = torch.rand(4, 5) - 3
    logits[[0, 1, 2, 3], [3, 1, 4, 3]] = torch.tensor([-1.5, -1.5, -1.5, 5.0])
    return [
        (
            torch.tensor([[0.0, 3.0, 1.0, 2.0], [1.0, 0.0, 2.0, 5.0], [1.0, 0.0, 4.0, 2.0]]),
            torch.tensor([_F, _F, _T]),
            3,
            0,
        ),
        (torch.tensor([[0.3, 0.2, 0.0]]), torch.tensor([_F]), 2, 0),  # padding, and still open
        (torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([_T]), 2, 1),  # it would say <eos> again
        (
            torch.tensor([[-1.0, -3.0, -2.0], [-5.0, -4.0, -4.5], [-6.0, -5.5, -5.8]]),
            torch.tensor([_T, _F, _F]),
            1,
            2,
        ),
        (logits, torch.tensor([_F, _T, _F, _T]), 3, 2),
    ]


greedy_step = Exercise(
    sections=("16 Greedy: the best word, again and again",),
    task="One step of greedy search for a batch. `logits` (rows, vocab) belong to the next token; `finished` "
    "(rows,) is True for a row that has said `eos_id` in an earlier step. Return two tensors (rows,). First "
    "the next ids, integers: the token with the largest logit, but `pad_id` for a row that had finished. "
    "Then who has finished now: a row that had, and one that says `eos_id` in this step, and no other (an "
    "open row may say `pad_id`). Leave both inputs as they are.",
    cases=_steps,
    hints=(
        "Each row chooses for itself among the tokens, so the largest logit is looked for along the last "
        "axis. It is not the logit that is wanted, but which token has it: `argmax(dim=-1)` gives its id.",
        "A row that had finished must not go on talking. `ids.masked_fill(finished, pad_id)` makes a copy in "
        "which `pad_id` stands wherever `finished` is True.",
        "Finished is a row that had finished, or one that says `eos_id` now. For all rows at once *or* is "
        "written `|`; the brackets are needed, since `|` binds more tightly than `==`: "
        "`finished | (ids == eos_id)`.",
    ),
    passed="No softmax was needed. Why not?",
    gaps=("logits.argmax(dim=-1)", "finished, pad_id", "finished | (ids == eos_id)"),
)


@greedy_step.solution
def my_greedy_step(logits, finished, eos_id, pad_id):
    # Each row chooses for itself: which token has the largest logit? Its id, and not its logit.
    best = logits.argmax(dim=-1)  # (rows,)
    # A row that had finished says padding, whatever its logits say.
    ids = best.masked_fill(finished, pad_id)  # (rows,)
    # Finished is who had finished, or who says <eos> now. `|` makes a new tensor.
    now = finished | (ids == eos_id)  # (rows,)
    return ids, now


@greedy_step.solution
def _(logits, finished, eos_id, pad_id):
    best = logits.log_softmax(dim=-1).max(dim=-1).indices
    ids = torch.where(finished, pad_id, best)
    return ids, torch.logical_or(finished, best == eos_id)


greedy_step.edits("""
best.masked_fill(finished, pad_id) → best
    In yours, rows that had finished go on talking. What they say must be `pad_id`, whatever their logits.
best.masked_fill(finished, pad_id) → best.masked_fill(finished, eos_id)
    In yours, finished rows say `eos_id` again and again. After the first they should say `pad_id`.
best.masked_fill(finished, pad_id) → best.masked_fill(finished, 0)
    In yours, finished rows say 0. The id of padding is `pad_id`, and it need not be 0.
best.masked_fill(finished, pad_id) → best.masked_fill(~finished, pad_id)
    It is the wrong way round: your open rows say `pad_id`, and those that had finished go on talking.
best.masked_fill(finished, pad_id) → best * ~finished + pad_id
    You add `pad_id` to the ids of the open rows too. It stands *in place of* the id, and only where `finished` is True:
    `masked_fill` or `torch.where`.
return ids, now → return ids[~finished], now
return ids, now → return ids[~finished], now[~finished]
    The rows that had finished are gone from your ids. All rows stay, and they say `pad_id`.
ids = best.masked_fill(finished, pad_id) → ids = best.masked_fill(finished | (best == eos_id), pad_id)
return ids, now → return ids.masked_fill(now, pad_id), now
    In yours, a row that says `eos_id` now has its `eos_id` painted over. It counts: pad those that had finished
    *before*.
finished | (ids == eos_id) → ids == eos_id
finished | (ids == eos_id) → best == eos_id
    In your second result a row that had finished is open again. Finished is who had finished, *or* who says `eos_id`
    now.
finished | (ids == eos_id) → (ids == eos_id) | (ids == pad_id)
    In your second result a row has finished if it says `pad_id` or `eos_id`. But an open row may say `pad_id` by
    itself: who had finished is written in `finished`.
finished | (ids == eos_id) → finished
    Your second result is `finished` as it was. Who says `eos_id` in this step has finished now.
finished | (ids == eos_id) → finished & (ids == eos_id)
finished | (ids == eos_id) → finished & (best == eos_id)
    In your second result a row has finished only if it had finished *and* says `eos_id` now (so it is with `&`). Either
    is enough: `|`.
finished | (ids == eos_id) → finished ^ (best == eos_id)
    In your second result a row that had finished is open again where its logits would say `eos_id` once more: `^` and
    `!=` are False where both hold. Either is enough, or both: `|`.
finished | (ids == eos_id) → finished | ids == eos_id
    You compare `finished | ids` with `eos_id`: without brackets that is what `finished | ids == eos_id` means, since
    `|` binds more tightly than `==`. Brackets: `finished | (ids == eos_id)`.
finished | (ids == eos_id) → finished or (ids == eos_id)
finished | (ids == eos_id) → finished and (ids == eos_id)
best = logits.argmax(dim=-1) → if finished: return pad_id, finished ⏎ best = logits.argmax(dim=-1)
    You use `or`, `and`, `not` or `if`: they ask for one truth value, and a batch has one for each row. For all rows
    at once: `finished | (ids == eos_id)` and `masked_fill` or `torch.where`.
finished | (ids == eos_id) → finished | (ids == pad_id)
    In your second result a row has finished when it says `pad_id`. What ends a row is `eos_id`.
finished | (ids == eos_id) → (finished | (ids == eos_id)).all()
finished | (ids == eos_id) → (finished | (ids == eos_id)).any()
finished | (ids == eos_id) → bool((finished | (ids == eos_id)).all())
finished | (ids == eos_id) → bool((finished | (ids == eos_id)).any())
    Your second result is one truth value for the whole batch: each row has its own.
finished | (ids == eos_id) → finished | (eos_id in ids)
finished | (ids == eos_id) → finished | (eos_id in best)
    You ask whether *some* row says `eos_id`: with `in` or `any()` one row finishes all. Each is compared for itself:
    `ids == eos_id`.
return ids, now → return ids, now.nonzero()
return ids, now → return ids, now.nonzero()[:, 0]
    Your second result has the numbers of the rows that have finished. A truth value for each row is wanted: leave out
    `nonzero` and `where`.
now = finished | (ids == eos_id) → finished |= ids == eos_id ⏎ now = finished
    You change the caller's `finished`: `|=` and `finished[...] =` write into it. `finished | …` makes a new tensor.
logits.argmax(dim=-1) → logits.index_fill(-1, torch.tensor([pad_id]), -math.inf).argmax(dim=-1)
    In yours an open row never says `pad_id`. It may, where that has the largest logit: change no logit.
finished, pad_id) → finished, eos_id) ; (ids == eos_id) → (ids == pad_id)
    In yours `eos_id` and `pad_id` are exchanged. A row that says `eos_id` should be finished by it, and say `pad_id`
    from then on.
dim=-1 → dim=0
    Your `argmax` runs over the rows: it names a row for each token. Over the last axis, `dim=-1`, it names a token for
    each row.
argmax(dim=-1) → argmax()
    Your `argmax` has no axis, so it looks through the whole table as if it were one long row. Each row has a largest
    logit of its own: `dim=-1`.
argmax(dim=-1) → argmax(dim=-1, keepdim=True)
argmax(dim=-1) → argmax(dim=-1, keepdim=True) ; finished, pad → finished[:, None], pad
argmax(dim=-1) → argmax(dim=-1, keepdim=True) ; finished, pad → finished[:, None], pad ; finished | → finished[None].T |
    Your ids are a column, (rows, 1): so it is with `keepdim=True`, and with `topk(1)`. Both results are (rows,).
logits.argmax(dim=-1) → logits.softmax(dim=0).argmax(dim=-1)
    Your softmax runs over the rows, so a row's choice depends on what the others are. No softmax is needed here.
logits.argmax(dim=-1) → logits.argmin(dim=-1)
    You take the smallest logit: `argmin`, or a minus before the logits. The largest: `argmax`.
finished, pad_id → finished == pad_id, pad_id
    You compare `finished` with `pad_id`. It holds truth values and no ids: where it is True, the row had finished.
logits.argmax(dim=-1) → logits.max(dim=-1).values
logits.argmax(dim=-1) → logits.max(dim=-1).values ; (ids == eos_id) → (logits.argmax(dim=-1) == eos_id)
logits.argmax(dim=-1) → logits.softmax(dim=-1).max(dim=-1).values
    You take the largest logits or probabilities. The next ids say which tokens have them: `argmax`.
logits.argmax(dim=-1) → logits.max(dim=-1)
best = logits.argmax(dim=-1) → best = logits.max(dim=-1) ⏎ best[finished] = pad_id
logits.argmax(dim=-1) → logits.max(dim=-1) ; best.masked_fill(finished, pad_id) → torch.where(finished, pad_id, best)
    You take for ids all that `max(dim=-1)` gives: two things, the largest logits and which tokens have them. The ids
    are the second: `.indices`, or `argmax`.
return ids, now → return ids
return ids, now → return now
    You return one of the two. The next step must know who has finished too: return both, the ids first.
return ids, now → return now, ids
    You return the two in the wrong order: the next ids should come first, then who has finished.
return ids, now → return ids.tolist(), now.tolist()
return ids, now → return ids.tolist(), now
    You return lists: two tensors are wanted.
""")


def _one_step():
    return [
        (torch.tensor([0.0, 3.0, 1.0, 2.0]), False, 3, 0),
        (torch.tensor([1.0, 0.0, 2.0, 5.0]), False, 3, 0),
        (torch.tensor([1.0, 0.0, 4.0, 2.0]), True, 3, 0),
        (torch.tensor([5.0, 1.0, 0.0]), False, 2, 0),
        (torch.tensor([0.0, 1.0, 2.0]), True, 2, 1),
        (torch.arange(40.0).roll(7) / 40, False, 2, 1),  # who draws does not draw the best
    ]


greedy_step_for_one = Exercise(
    sections=("16 Greedy: the best word, again and again",),
    task="The same for one sentence: `logits` (vocab,), and `finished` is True or False. Return two "
    "values: the next id, and whether the sentence has finished now.",
    cases=_one_step,
    hints=(
        "A sentence that had finished says `pad_id` and stays finished, so its logits need not be looked at.",
        "Otherwise `logits.argmax()` says which token has the largest logit. It is a tensor; `int(…)` makes "
        "a Python integer of it. The sentence has finished if this is `eos_id`.",
    ),
    passed="With a batch there is no `if`: `finished` has a truth value for each row.",
    gaps=("pad_id, True", "int(logits.argmax())", "best == eos_id"),
)


@greedy_step_for_one.solution
def my_greedy_step_for_one(logits, finished, eos_id, pad_id):
    # A sentence that had finished says padding, and stays finished.
    if finished:
        return pad_id, True
    # Else the token with the largest logit: its id, and not its logit.
    best = int(logits.argmax())
    now = best == eos_id
    return best, now


@greedy_step_for_one.solution
def _(logits, finished, eos_id, pad_id):
    token = pad_id if finished else logits.tolist().index(max(logits.tolist()))
    return token, finished or token == eos_id


greedy_step_for_one.edits("""
if finished: → if False:
pad_id, True → int(logits.argmax()), True
    In yours, a sentence that had finished goes on talking. It should say `pad_id`, whatever its logits, and stay
    finished.
if finished: → if not finished:
    It is the wrong way round: your open sentence says `pad_id`, and one that had finished goes on.
pad_id, True → 0, True
    In yours, a finished sentence says 0. The id of padding is `pad_id`, and it need not be 0.
pad_id, True → eos_id, True
    In yours, a finished sentence says `eos_id` again. After the first it should say `pad_id`.
pad_id, True → pad_id, False
    In yours, a sentence that had finished is open again. It should stay finished.
logits.argmax() → logits.max()
    You take the largest logit. The next id is which token has it: `argmax`.
best = int(logits.argmax()) → value, best = logits.max()
    You take two things from `max()`. Without an axis it gives the largest logit alone; which token has it, `argmax()`
    says.
int(logits.argmax()) → int(logits.argmin())
    You take the smallest logit: `argmin`, or a minus before the logits. The largest: `argmax`.
int(logits.argmax()) → logits.argmax()
best == eos_id → logits.argmax() == eos_id
    You return a tensor where a Python value is wanted. Make a Python integer of `argmax` first: `int(…)`.
best == eos_id → finished
    In yours, a sentence that says `eos_id` now is still open. It should have finished with that.
best == eos_id → best in (eos_id, pad_id)
    In yours, a sentence that says `pad_id` by itself has finished. It should be open: only `eos_id` ends a sentence.
best == eos_id → best == pad_id
    In yours, `pad_id` ends a sentence, and `eos_id` does not. It is `eos_id` that ends it.
best == eos_id → best == pad_id ; pad_id, True → eos_id, True
    In yours `eos_id` and `pad_id` are exchanged. A sentence that says `eos_id` should be finished by it, and say
    `pad_id` from then on.
best == eos_id → True
best == eos_id → bool(logits[eos_id] > 0)
    In yours, a sentence has finished that had not and does not say `eos_id`. One has finished that had, or that says
    `eos_id` now.
best == eos_id → bool(logits.max() == eos_id)
    You compare the largest *logit* with `eos_id`. Compare the id of the token that has it: `argmax`.
pad_id, True → pad_id, False ; best == eos_id → best != eos_id
    Your second value is the wrong way round: True for an open sentence. It says whether the sentence has *finished*.
return best, now → if now: return best, now
    In yours, an open sentence gets None: no `return` is reached. Return both values there too.
int(logits.argmax()) → int(logits.index_fill(0, torch.tensor([pad_id]), -math.inf).argmax())
    In yours an open sentence never says `pad_id`. It may, where that has the largest logit: change no logit.
now = best == eos_id → now = best == eos_id ⏎ if now: best = pad_id
    In yours, the `eos_id` that is said now is painted over. It counts: `pad_id` comes in the step after it.
return best, now → return best ; return pad_id, True → return pad_id
    You return the id alone. The next step must know whether the sentence has finished: return both.
return best, now → return now, best ; return pad_id, True → return True, pad_id
    You return the two in the wrong order: the id should come first.
""")


def _spreads():
    torch.manual_seed(19)
    return [
        # The logits that go are not 0 and not small: 0 for −∞ shows, and so does a sum below 1.
        (torch.tensor([[2.0, 1.0, -1.0], [-2.0, 1.0, 3.0]]), 2.0, 2),
        (torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2.0, 3),
        (torch.tensor([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0], [2.0, 6.0, 3.0]]), 2.0, 2),
        (torch.randn(2, 5), 1.0, 1),
        (torch.randn(2, 4), 0.5, 4),
        (torch.tensor([[100.0, 99.0, -50.0], [-101.0, -104.0, -102.0]]), 0.5, 2),
        (torch.randn(3, 6) - 2, 2.0, 4),
        (torch.tensor([[-1500.0, -1503.0, -1501.0]]), 1.0, 2),  # −1000 would be the largest
    ]


def _one_probability(place, logits, temperature, top_k):
    row = logits[place[:-1]]
    kept = sorted(row.tolist(), reverse=True)[:top_k]
    if row[place[-1]] < kept[-1]:
        return f"The entry that is marked: 0, since its logit is not among the {top_k} largest."
    terms = " + ".join(f"e^({x:.3g}/{temperature:g})" for x in kept)
    return f"The entry that is marked: e^({row[place[-1]]:.3g}/{temperature:g}) / ({terms})."


sampling_step = Exercise(
    sections=("16 Or by chance",),
    task="One step of sampling: the probabilities from which the next token is drawn. `logits` (rows, vocab) "
    "belong to the next token. Divide them by `temperature`, keep the `top_k` largest of each row, and return "
    "the probabilities (rows, vocab) that softmax makes of these; every other token has 0. No two logits of "
    "a row are equal. Write the cut yourself, without `keep_top_k`, and leave `logits` as they are.",
    cases=_spreads,
    hints=(
        "A token that is cut must get the probability 0, and the others must still add up to 1. Softmax does "
        "both if the logit that is cut is −∞, because e to that power is 0. So cut before the softmax.",
        "Which logits go? `logits.topk(top_k, dim=-1).values` has the `top_k` largest of each row, the "
        "largest first, so its last column is the smallest that stays. `[:, -1:]` takes this column and "
        "keeps the axis, (rows, 1), so that each row is compared with its own.",
        "`logits.masked_fill(logits < lowest, float('-inf'))` cuts all that is smaller. Then divide by the "
        "temperature, and softmax along the last axis.",
    ),
    passed="Now `torch.multinomial(…, 1)` draws. With `top_k=1` there is nothing left to chance.",
    without=("keep_top_k",),
    gaps=(
        "logits.topk(top_k, dim=-1).values[:, -1:]",
        'logits < lowest, float("-inf")',
        "kept / temperature",
    ),
    how=_one_probability,
)


@sampling_step.solution
def my_sampling_step(logits, temperature, top_k):
    # The smallest logit that stays, in each row: the last column, since `topk` sorts.
    lowest = logits.topk(top_k, dim=-1).values[:, -1:]  # (rows, 1)
    # In place of a smaller one stands −∞, because e to its power is 0.
    kept = logits.masked_fill(logits < lowest, float("-inf"))  # (rows, vocab)
    # Softmax comes last, so that each row adds up to 1.
    return (kept / temperature).softmax(dim=-1)  # (rows, vocab)


@sampling_step.solution
def _(logits, temperature, top_k):
    kept, ids = (logits / temperature).topk(top_k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, ids, kept.softmax(dim=-1))


sampling_step.edits("""
logits.masked_fill(logits < lowest, float("-inf")) → logits
    In yours no token is cut: all but the `top_k` largest of each row must have the probability 0.
(kept / temperature) → kept
kept / temperature).softmax(dim=-1) → F.normalize(kept.softmax(dim=-1) / temperature, p=1, dim=-1))
    The temperature has no effect in yours. Divide the logits by it, before the softmax: where it divides the
    probabilities, normalising them takes it out again.
kept / temperature → kept * temperature
    You multiply the logits by the temperature (a power of the probabilities does the same). Then cold is hot: a small
    temperature should sharpen, so divide.
(kept / temperature) → kept ; return → return 1 / temperature *
(kept / temperature) → kept ; return → return temperature *
    You divide (or multiply) the probabilities by the temperature, so they no longer add up to 1. It divides the logits,
    before the softmax.
softmax(dim=-1) → softmax(dim=-1).softmax(dim=-1)
kept / temperature → (logits / temperature).softmax(dim=-1) * (logits >= lowest)
kept / temperature → (logits / temperature).softmax(dim=-1).masked_fill(logits < lowest, -math.inf)
    You take the softmax of probabilities, which makes them more even. One softmax is enough, of the logits.
(kept / temperature).softmax(dim=-1) → (logits / temperature).softmax(dim=-1).masked_fill(logits < lowest, -math.inf)
    You set probabilities to −∞. It is the logits that become −∞, before the softmax; the probability is then 0.
kept / temperature → logits / temperature ; return → return (logits >= lowest) *
    In yours what is left adds up to less than 1: you cut after the softmax. Cut the logits (−∞), or divide each row
    by its sum.
float("-inf") → -1000.0
float("-inf") → -100.0
float("-inf") → -10.0
    You put a finite number in place of what is cut. Where the logits are as low as that, or lower, such a token is
    still drawn. −∞ is below every number.
float("-inf") → 0.0
    You set the other logits to 0, and e⁰ = 1 is a weight like any other: they still get a probability. Set them to
    −∞.
softmax(dim=-1) → softmax(dim=0)
softmax(dim=-1) → softmax(dim=0).nan_to_num()
float("-inf") → -1e9 ; softmax(dim=-1) → softmax(dim=0)
    Your softmax runs over the rows: for a token it adds up to 1 over the sentences (or is NaN where none keeps it).
    Over the last axis, `dim=-1`, each row adds up to 1.
(kept / temperature).softmax(dim=-1) → (kept / temperature).exp() / (kept / temperature).exp().sum(dim=-1, keepdim=True)
    You take e to the power of a logit around 100, which does not fit into a 32-bit number. `softmax` takes off the
    largest logit first.
topk(top_k, dim=-1) → topk(top_k, dim=-1, largest=False) ; logits < lowest → logits > lowest
    You keep the smallest logits. The `top_k` *largest* stay.
logits < lowest → logits <= logits.topk(top_k, dim=-1, largest=False).values[:, -1:]
    You cut the `top_k` smallest. It is the `top_k` largest that stay, however many others there are.
topk(top_k, dim=-1) → topk(top_k + 1, dim=-1) ; logits < lowest → logits <= lowest
    Yours fails where `top_k` is the whole vocabulary: you ask for one token more, and there is none. Cut what is
    smaller than the last one that stays.
logits < lowest → logits > lowest
logits < lowest → logits >= lowest
    You cut the largest logits: what is *smaller* than the last one that stays has to go, `<`.
logits < lowest → logits <= lowest
    In yours the token on the border falls out, and one is left too few. Cut only what is *smaller* than the border,
    `logits < lowest`: what equals it stays.
topk(top_k, dim=-1).values[:, -1:] → flatten().topk(top_k).values[-1]
    You keep the `top_k` largest of the whole table. Each row keeps `top_k` of its own: `topk(..., dim=-1)`.
topk(top_k, dim=-1).values[:, -1:] → topk(top_k, dim=-1).values.min()
    Your `min()` has no axis: it is the smallest of all rows, so that other rows keep too many. Each has its own.
[:, -1:] → [:, -1]
    Your border has lost its axis: (rows,) meets the columns, as if each token had a border of its own. Keep it a
    column, (rows, 1), with `[:, -1:]` or `keepdim=True`, and each row meets its own.
[:, -1:] → [-1:]
    Your `[-1:]` is the last row. The smallest that stays is the last *column*: `[:, -1:]`.
[:, -1:] → [:, :1]
    In yours only the largest stays: `topk` puts it first. The smallest that stays is the last: `[:, -1:]`.
values[:, -1:] → values[:, top_k:]
values[:, -1:] → values[:, top_k][:, None]
values[:, -1:] → values[:, top_k - 2 : top_k - 1]
topk(top_k, dim=-1).values[:, -1:] → sort(dim=-1, descending=True).values[:, top_k : top_k + 1]
    You are off by one. Columns are counted from 0, so the border, the last of `top_k`, is `[:, top_k - 1]`. Of what
    `topk` gives it is `[:, -1:]`.
topk(top_k, dim=-1).values[:, -1:] → sort(dim=-1).values[:, top_k - 1 : top_k]
topk(top_k, dim=-1).values[:, -1:] → sort(dim=-1).values[:, top_k : top_k + 1]
    Your `sort` puts the smallest first, so yours is not the border of the largest: `descending=True`, or `topk`.
topk(top_k, dim=-1) → topk(top_k, dim=0)
topk(top_k, dim=-1).values[:, -1:] → topk(top_k, dim=0).values[-1:]
    Your `topk` along axis 0 compares the rows with each other. Each row keeps its own largest: `dim=-1`.
values[:, -1:] → values
    You compare with all of the `top_k` largest. The border of a row is the last of them: `[:, -1:]`.
topk(top_k, dim=-1).values → topk(top_k, dim=-1)
    You compare with all that `topk` gives: two things, the largest logits and which tokens have them. The border is a
    logit: `.values`.
logits.masked_fill( → logits.masked_fill_(
kept = → logits /= temperature ⏎ lowest = lowest / temperature ⏎ kept = ; (kept / temperature) → kept
    You change the caller's `logits`: `/=`, `masked_fill_` and `logits[...] =` write into them. Work on a copy.
(kept / temperature).softmax(dim=-1) → (kept / temperature).topk(top_k, dim=-1).values.softmax(dim=-1)
(kept / temperature).softmax(dim=-1) → (logits / temperature).softmax(dim=-1).topk(top_k, dim=-1)
    You return `top_k` columns, the largest first. Each probability belongs in the column of its token, (rows, vocab),
    with 0 elsewhere.
(kept / temperature).softmax(dim=-1) → (kept / temperature).sort(dim=-1, descending=True).values.softmax(dim=-1)
    Your probabilities stand in the first columns, sorted. Each belongs in the column of its token: `scatter`, or cut
    with −∞ instead of sorting.
softmax(dim=-1) → log_softmax(dim=-1)
    You return logarithms. `multinomial` draws from probabilities: softmax, no log.
(kept / temperature).softmax(dim=-1) → kept / temperature
    You return logits. The probabilities are their softmax along the last axis.
softmax(dim=-1) → softmax(dim=-1).argmax(dim=-1)
softmax(dim=-1) → softmax(dim=-1).argmax(dim=-1, keepdim=True)
(kept / temperature).softmax(dim=-1) → logits.topk(top_k, dim=-1).indices
    You return tokens. Nothing is drawn here: return the probabilities of all tokens.
float("-inf") → float("inf")
    You put +∞ in place of what is cut, and ∞ − ∞ in the softmax is NaN. A token that is cut needs −∞: `float("-inf")`.
logits.masked_fill(logits < lowest, float("-inf")) → logits + (logits < lowest) * float("-inf")
    Your −∞ times a mask is NaN where the mask is False: 0 · ∞. Put it in with `masked_fill` or `torch.where`.
kept / temperature → kept / temperature**2
    You divide by the temperature twice. Once is enough.
logits.topk( → (logits / temperature).topk(
logits < lowest → logits / temperature < lowest
    On one side of your comparison the logits are divided by the temperature, on the other they are not. Divide both, or
    neither.
float("-inf") → 0.0 ; (kept / temperature).softmax(dim=-1) → kept / kept.sum(dim=-1, keepdim=True)
    You divide the logits by their sum. They may be below 0, and so may what you return: softmax makes probabilities of
    them.
(kept / temperature).softmax(dim=-1) → (kept / temperature).softmax(dim=-1)[logits >= lowest].view(-1, top_k)
    What is cut has no entry in what you return. Each token keeps its place, and one that is cut has the probability 0.
logits < lowest → torch.arange(logits.size(-1)) >= top_k
    You keep the first `top_k` tokens of the vocabulary. The logits are not sorted: those with the `top_k` largest stay.
logits < lowest → logits.argsort(dim=-1, descending=True) >= top_k
    You take what `argsort` gives for ranks. At place 0 it names the token that comes first; it does not say which rank
    token 0 has.
return (kept / temperature).softmax(dim=-1) → return torch.zeros_like(logits)
    Yours is 0 everywhere. If you use `scatter`: it makes a new tensor, so keep what it returns (or `scatter_`).
""")


_EVERY_ROW = (
    "Your `out[:, ids] = …` writes into these columns of *every* row. Each row has its own ids: "
    "`out.scatter(-1, ids, …)`."
)


@sampling_step.mistake(_EVERY_ROW)
def _(logits, temperature, top_k):
    kept, ids = (logits / temperature).topk(top_k, dim=-1)
    out = torch.zeros_like(logits)
    out[:, ids] = kept.softmax(dim=-1)
    return out


@sampling_step.mistake(_EVERY_ROW)
def _(logits, temperature, top_k):
    kept = torch.full_like(logits, -math.inf)
    ids = logits.topk(top_k, dim=-1).indices.flatten()
    kept[:, ids] = logits[:, ids]
    return (kept / temperature).softmax(dim=-1)


def _one_spread():
    cases = [(logits[0], temperature, top_k) for logits, temperature, top_k in _spreads()]
    return [*cases, (torch.tensor([-1.0, -3.0, -2.0]), 0.5, 2)]


sampling_step_for_one = Exercise(
    sections=("16 Or by chance",),
    task="The same for one row: `logits` (vocab,) to probabilities (vocab,). Leave `logits` as they are.",
    cases=_one_spread,
    hints=(
        "A logit that is cut becomes −∞: e to that power is 0, and the others together get the whole 1.",
        "`logits.topk(top_k).values` has the largest first, so `[-1]` is the smallest that stays. "
        "`logits.masked_fill(logits < lowest, float('-inf'))` cuts what is smaller; then divide by the "
        "temperature and take the softmax.",
    ),
    passed="In a table each row has a border of its own. It must stay a column, `[:, -1:]`, to meet its row.",
    without=("keep_top_k",),
    gaps=(
        "logits.topk(top_k).values[-1]",
        'logits < lowest, float("-inf")',
        "kept / temperature",
    ),
    how=_one_probability,
)


@sampling_step_for_one.solution
def my_sampling_step_for_one(logits, temperature, top_k):
    # The smallest logit that stays: the last, since `topk` sorts.
    lowest = logits.topk(top_k).values[-1]
    # In place of a smaller one stands −∞, because e to its power is 0.
    kept = logits.masked_fill(logits < lowest, float("-inf"))  # (vocab,)
    return (kept / temperature).softmax(dim=0)  # (vocab,)


@sampling_step_for_one.solution
def _(logits, temperature, top_k):
    kept, ids = logits.topk(top_k)
    probabilities = torch.zeros(len(logits))
    probabilities[ids] = (kept / temperature).softmax(dim=0)
    return probabilities


sampling_step_for_one.edits("""
logits.masked_fill(logits < lowest, float("-inf")) → logits
    In yours no token is cut: all but the `top_k` largest must have the probability 0.
(kept / temperature) → kept
kept / temperature).softmax(dim=0) → F.normalize(kept.softmax(dim=0) / temperature, p=1, dim=0))
    The temperature has no effect in yours. Divide the logits by it, before the softmax: where it divides the
    probabilities, normalising them takes it out again.
kept / temperature → kept * temperature
    You multiply the logits by the temperature (a power of the probabilities does the same). A small temperature should
    sharpen, so divide.
(kept / temperature).softmax(dim=0) → kept.softmax(dim=0) / temperature
    You divide the probabilities by the temperature, so they no longer add up to 1. Divide the logits.
kept / temperature → (logits / temperature).softmax(dim=0) * (logits >= lowest)
kept / temperature → (logits / temperature).softmax(dim=0).masked_fill(logits < lowest, -math.inf)
    You take the softmax of probabilities, which makes them more even. One softmax is enough, of the logits.
(kept / temperature).softmax(dim=0) → (logits / temperature).softmax(dim=0) * (logits >= lowest)
    In yours what is left adds up to less than 1: you cut after the softmax. Cut the logits (−∞), or divide by
    the sum of what is left.
float("-inf") → -1000.0
float("-inf") → -100.0
float("-inf") → -10.0
    You put a finite number in place of what is cut. Where the logits are as low as that, or lower, such a token is
    still drawn. −∞ is below every number.
float("-inf") → 0.0
    You set the other logits to 0, and e⁰ = 1 is a weight like any other: they still get a probability. Set them to
    −∞.
logits < lowest → logits <= lowest
    In yours the token on the border falls out, and one is left too few. Cut only what is *smaller* than the border,
    `logits < lowest`: what equals it stays.
logits < lowest → logits > lowest
logits < lowest → logits >= lowest
    You cut the largest logits: what is *smaller* than the last one that stays has to go, `<`.
values[-1] → values[0]
    In yours only the largest stays: `topk` puts it first. The smallest that stays is the last: `[-1]`.
topk(top_k).values[-1] → sort().values[top_k - 1]
topk(top_k).values[-1] → sort().values[top_k]
    Your `sort` puts the smallest first, so yours is not the border of the largest: `descending=True`, or `topk`.
logits.topk(top_k).values[-1] → logits.topk(top_k, largest=False).values[-1] ; logits < lowest → logits > lowest
    You keep the smallest logits. The `top_k` *largest* stay.
values[-1] → values[top_k - 2]
    You are off by one. Places are counted from 0, so the last of `top_k` is `[top_k - 1]`, or `[-1]`.
values[-1] → values
    You compare with all of the `top_k` largest. The border is the last of them: `[-1]`.
topk(top_k).values[-1] → topk(top_k)[-1]
topk(top_k).values[-1] → topk(top_k).indices[-1]
    You compare logits with places. Of the two things that `topk` gives the logits are the first: `.values[-1]`.
topk(top_k).values[-1] → sort(descending=True).values[top_k] ; logits < lowest → logits <= lowest
    Yours fails where `top_k` is the whole vocabulary: you ask for one token more, and there is none. The last that
    stays is `[top_k - 1]`, and only what is smaller goes.
(kept / temperature).softmax(dim=0) → (kept / temperature).exp() / (kept / temperature).exp().sum()
    You take e to the power of a logit around 100, which does not fit into a 32-bit number. `softmax` takes off the
    largest logit first.
values[-1] → values[top_k]
    You ask for one value too many: `topk` gives `top_k` of them, counted from 0. The last is `[top_k - 1]`, or
    `[-1]`.
(kept / temperature).softmax(dim=0) → kept / temperature
    You return logits. The probabilities are their softmax.
(kept / temperature).softmax(dim=0) → (kept / temperature).sort(descending=True).values.softmax(dim=0)
    Your probabilities are sorted. Each belongs in the place of its token.
logits.masked_fill( → logits.masked_fill_(
    You change the caller's `logits`. Work on a copy.
(kept / temperature).softmax(dim=0) → (kept / temperature).topk(top_k).values.softmax(dim=0)
    You return the probabilities of the `top_k` alone. Each belongs in the place of its token, with 0 elsewhere.
float("-inf") → float("inf")
    You put +∞ in place of what is cut, and ∞ − ∞ in the softmax is NaN. A token that is cut needs −∞: `float("-inf")`.
logits.masked_fill(logits < lowest, float("-inf")) → logits + (logits < lowest) * float("-inf")
    Your −∞ times a mask is NaN where the mask is False: 0 · ∞. Put it in with `masked_fill` or `torch.where`.
kept / temperature → kept / temperature**2
    You divide by the temperature twice. Once is enough.
logits < lowest → logits / temperature < lowest
logits.topk( → (logits / temperature).topk(
    On one side of your comparison the logits are divided by the temperature, on the other they are not. Divide both, or
    neither.
float("-inf") → 0.0 ; (kept / temperature).softmax(dim=0) → kept / kept.sum()
    You divide the logits by their sum. They may be below 0, and so may what you return: softmax makes probabilities of
    them.
(kept / temperature).softmax(dim=0) → (kept / temperature).softmax(dim=0)[logits >= lowest]
    What is cut has no entry in what you return. Each token keeps its place, and one that is cut has the probability 0.
logits < lowest → torch.arange(logits.size(-1)) >= top_k
    You keep the first `top_k` tokens of the vocabulary. The logits are not sorted: those with the `top_k` largest stay.
logits < lowest → logits.argsort(dim=0, descending=True) >= top_k
    You take what `argsort` gives for ranks. At place 0 it names the token that comes first; it does not say which rank
    token 0 has.
""")


def _beams():
    torch.manual_seed(17)
    return [
        (torch.tensor([0.2, 0.6]).log(), torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.6, 0.1]]).log()),
        (torch.tensor([-2.0]), torch.tensor([[0.1, 0.7, 0.2]]).log()),
        (torch.tensor([-1.0, -1.2, -1.5]), torch.randn(3, 3).log_softmax(dim=-1)),
        (torch.tensor([0.0, -30.0, -30.0]), torch.randn(3, 5).log_softmax(dim=-1)),
        (torch.tensor([-2.0, -2.1, -2.6, -3.0]), torch.randn(4, 5).log_softmax(dim=-1)),
        (torch.tensor([-1.0, -1.2, -1.5]), torch.randn(3, 7).log_softmax(dim=-1)),
    ]


beam_step = Exercise(
    sections=("16 Several beginnings at once",),
    task="One step of beam search for one sentence. `scores` (K,) are the log-probabilities of K hypotheses, "
    "`log_probs` (K, vocab) those of the next token after each. Return the K best continuations, the best "
    "first, as three tensors (K,): which hypothesis each one continues and with which token, as integers, "
    "and its new score, a log-probability. Leave both inputs as they are.",
    cases=_beams,
    hints=(
        "Every hypothesis may go on with every token, so there are K · vocab candidates: a table (K, vocab). "
        "A probability of one thing and then another is a product, so their logarithms are added. Each score "
        "belongs to a whole row of `log_probs`: `scores[:, None]` makes a column of the K scores, (K, 1), "
        "which is repeated along the row.",
        "The K best of the *whole* table are wanted, not the best of each row. `flatten()` writes the rows one "
        "behind the other, and `topk(K)` gives the K largest entries and their places, the largest first.",
        "In the flat table row 0 has the places 0 to vocab − 1, row 1 the next vocab of them. So the row of a "
        "place is `place // vocab`, and what remains, `place % vocab`, is the column.",
    ),
    passed="In one case all hypotheses but one had the score −30. A search begins like that, with −∞. Why?",
    gaps=(
        "scores[:, None] + log_probs",
        "total.flatten().topk(beams)",
        "place // vocab",
        "place % vocab",
    ),
)


@beam_step.solution
def my_beam_step(scores, log_probs):
    beams, vocab = log_probs.shape
    # Every hypothesis with every token: a score belongs to its whole row.
    total = scores[:, None] + log_probs  # (K, vocab)
    # The K best of the whole table, the rows written one behind the other.
    best, place = total.flatten().topk(beams)  # (K,) and (K,)
    # Each row takes up vocab places: how many rows are full, and what remains.
    parents = place // vocab  # (K,)
    tokens = place % vocab  # (K,)
    return parents, tokens, best


@beam_step.solution
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    every = [
        (scores[parent] + log_probs[parent, token], parent, token)
        for parent in range(beams)
        for token in range(vocab)
    ]
    best = sorted(every, key=lambda found: found[0], reverse=True)[:beams]
    new_scores, parents, tokens = zip(*best, strict=True)
    return torch.tensor(parents), torch.tensor(tokens), torch.stack(new_scores)


beam_step.edits("""
total.flatten().topk(beams) → total.max(dim=-1) ; place // vocab → torch.arange(beams)
    You take the best token after each hypothesis. Then all K go on for ever, the weak ones too. The K best of the whole
    table: a good hypothesis may have two children, a weak one none.
total.flatten().topk(beams) → total.topk(beams, dim=-1)
total.flatten().topk(beams) → total.topk(beams) ; place // vocab → torch.arange(beams)[:, None].expand(beams, beams)
    You take the K best of each row, K times K of them. `topk` looks along the last axis, so first make one long row of
    the table: `total.flatten()`.
total.flatten() → total.topk(beams, dim=-1).values.flatten() ; // vocab → // beams ; % vocab → % beams
    You first keep the K best of each row. Then a column is a rank among these, and no token: look the token up in the
    `indices` that `topk` gives.
total.flatten().topk(beams) → total[scores.argmax()].topk(beams) ; place // vocab → scores.argmax().expand(beams)
    Only the best hypothesis goes on in yours. The others may have a better continuation: all of the table takes part.
total.flatten().topk(beams) → total[0].topk(beams)
    Only the first hypothesis goes on in yours. The others may have a better continuation: all of the table takes part.
total.flatten() → total.topk(beams).values.flatten() ; place % vocab → total.topk(beams).indices.flatten()[place]
    You first keep the K best of each row, so your flat table has K places for each: the hypothesis is `place // beams`.
scores[:, None] + log_probs → log_probs
    In yours the past is forgotten: `log_probs` is of the next token alone. Add the score of the hypothesis that it
    continues, before you choose.
scores[:, None] + log_probs → log_probs ; tokens, best → tokens, scores[parents] + best
scores[:, None] + log_probs → log_probs ; tokens, best → tokens, scores + best
    You add the scores after the choice. The choice itself must be made by the sum: a strong hypothesis may go on with a
    weak token.
scores[:, None] + log_probs → scores @ log_probs
    Your `@` multiplies and adds up over the hypotheses. Nothing is multiplied here: each score is added to its whole
    row.
scores[:, None] + log_probs → (scores.repeat(vocab) + log_probs.flatten()).view(beams, vocab)
    Your `repeat` writes all K scores one behind the other, but in the flat table a whole row belongs to one score. Make
    a column of the scores, `scores[:, None]`.
scores[:, None] + log_probs → scores[:, None] * log_probs
    You multiply. Probabilities are multiplied; their logarithms are added.
scores[:, None] + log_probs → scores + log_probs
    Your `scores + log_probs` lines up the K scores with the tokens. Each score belongs to a row: make a column of
    them first, `scores[:, None]`.
scores[:, None] + log_probs → scores[:, None].exp() + log_probs.exp()
scores[:, None] + log_probs → torch.logaddexp(scores[:, None], log_probs)
scores[:, None] + log_probs → scores[:, None] + log_probs.exp()
    You add probabilities: of one thing *and then* another it is the product. Their logarithms are added as they are,
    with `+` and without `exp` or softmax.
scores[:, None] + log_probs → scores[:, None] + log_probs.log()
    You take a logarithm once more: both are log-probabilities already, and the logarithm of a negative number is NaN.
parents = place // vocab → parents = place % vocab ; tokens = place % vocab → tokens = place // vocab
    In yours hypotheses and tokens are exchanged. A place is hypothesis · vocab + token, so `//` gives the hypothesis
    and `%` the token, and the hypothesis comes first.
place // vocab → place // beams ; place % vocab → place % beams
place // vocab → place // beams
place % vocab → place % beams
    You divide by K, the number of hypotheses. A row of the table is as long as the vocabulary: `// vocab` and `%
    vocab`.
beams, vocab = → vocab, beams =
    In yours K and the vocabulary are exchanged: `log_probs` is (K, vocab), first K.
place % vocab → place - vocab
place % vocab → place - parents
    You take something else off a place to get the token. What remains is place − hypothesis · vocab, and that is
    `place % vocab`.
place % vocab → place
place // vocab → place
    You return places in the flat table. Take them apart: the hypothesis is `place // vocab`, the token `place % vocab`.
place // vocab → place % vocab
place % vocab → place // vocab
    Hypotheses and tokens are the same in yours. The row of a place is `place // vocab`; what remains, `place % vocab`,
    is the column.
place // vocab → place / vocab
    With `/` you get broken numbers of hypotheses. The row is the whole part: `place // vocab`.
place // vocab → (place / vocab).round().long()
    You round, and up where a place lies in the second half of its row. The row is the whole part: `place // vocab`.
place % vocab → log_probs[parents].argmax(dim=-1)
    Your tokens are the likeliest after each hypothesis: one that is continued twice says the same both times. Take them
    from the places.
place // vocab → (place - 1) // vocab
place // vocab → place // vocab + 1
place % vocab → (place - 1) % vocab
place % vocab → place % vocab + 1
// vocab → // (vocab - 1) ; % vocab → % (vocab - 1)
// vocab → // (vocab + 1) ; % vocab → % (vocab + 1)
    You add 1 somewhere, or take it off. Rows, columns and places are counted from 0, and a row has vocab entries: add
    nothing, and take nothing off.
total.flatten() → total.T.flatten()
    You write the columns one behind the other. `total.flatten()` writes the rows, so that `place // vocab` is the row.
topk(beams) → topk(beams, largest=False)
    You return the K worst. The larger the log-probability, the better.
return parents, tokens, best → return parents.flip(0), tokens.flip(0), best.flip(0)
    You return the best last. It should come first.
parents = place → o = place.argsort() ⏎ best, place = best[o], place[o] ⏎ parents = place
parents = place → o = (place // vocab).argsort(stable=True) ⏎ best, place = best[o], place[o] ⏎ parents = place
    Your K best stand in the order of their hypotheses. They should stand in the order of their scores, the best first.
return parents, tokens, best → return parents, tokens, best.exp()
    Your new scores are probabilities: leave them logarithms.
return parents, tokens, best → return parents, tokens, best.log_softmax(dim=0)
    You normalise among the K that are kept. A score stays the log-probability of all that is written so far.
return parents, tokens, best → return parents, tokens, best + scores[parents]
return parents, tokens, best → return parents, tokens, best + scores
    In your new scores that of the hypothesis is added twice: it was in the table already.
return parents, tokens, best → return parents, tokens, log_probs[parents, tokens]
    Your new scores are those of the last tokens alone: the past counts too.
return parents, tokens, best → return parents, tokens, scores + log_probs[parents, tokens]
    In yours continuation i gets the score of hypothesis i. It belongs to the hypothesis that it continues:
    `scores[parents]`.
return parents, tokens, best → return parents, tokens, scores[parents]
    Your new scores are those of the hypotheses before this step: the token is missing.
return parents, tokens, best → return best, parents, tokens
    You return the scores first, as `topk` does. Asked for: which hypothesis, which token, and then the score.
return parents, tokens, best → return best, place
return parents, tokens, best → return place, best
    You return the scores and the places in the flat table. Take a place apart: `place // vocab` is the hypothesis,
    `place % vocab` the token.
return parents, tokens, best → return tokens, best
return parents, tokens, best → return parents, tokens
    You return two of the three: which hypothesis is continued, with which token, and the new score.
return parents, tokens, best → return torch.stack([parents, tokens, best])
return parents, tokens, best → return torch.stack([parents, tokens, best], dim=1)
    You return one tensor. Three side by side are wanted: `parents, tokens, best`.
return parents, tokens, best → return list(zip(parents.tolist(), tokens.tolist(), best.tolist()))
    You return a list of continuations. Three tensors side by side are wanted: `parents, tokens, best`.
return parents, tokens, best → return parents.tolist(), tokens.tolist(), best.tolist()
    You return lists: three tensors are wanted.
topk(beams) → topk(vocab)
topk(beams) → topk(2)
topk(beams) → topk(min(5, total.numel()))
    Yours gives another number of continuations than K, that of the hypotheses: as many as there are `scores`.
topk(beams) → max(dim=0)
    You return the best continuation alone. K are wanted: `topk`.
total.flatten().topk(beams) → total.topk(1) ; place // vocab → torch.arange(beams)
total.flatten().topk(beams) → total.max(dim=-1, keepdim=True) ; place // vocab → torch.arange(beams)
    You take the best token after each hypothesis, and as a column. The K best of the whole table: a good hypothesis may
    have two children, a weak one none.
best, place = total → best = place = total
    You take the two things that `topk` gives for one: they are the largest entries and their places,
    `best, place = …`.
total = scores[:, None] + log_probs → log_probs += scores[:, None] ⏎ total = log_probs
    You change the caller's `log_probs`: `+=` and `log_probs[...] =` write into them. `+` makes a new tensor.
""")


_SORTED = (
    "You take the best token after each hypothesis, and sort. The K best of the whole table: a good "
    "hypothesis may have two children, a weak one none."
)


@beam_step.mistake(_SORTED)
def _(scores, log_probs):
    best, tokens = (scores[:, None] + log_probs).max(dim=-1)
    best, parents = best.sort(descending=True)
    return parents, tokens[parents], best


@beam_step.mistake(_SORTED)
def _(scores, log_probs):
    best, tokens = log_probs.max(dim=-1)
    best, parents = (scores + best).sort(descending=True)
    return parents, tokens[parents], best


@beam_step.mistake(
    "In yours every token is taken once at most, after its best hypothesis. The K best of the whole table: "
    "two hypotheses may go on with the same token."
)
def _(scores, log_probs):
    best, parents = (scores[:, None] + log_probs).max(dim=0)
    best, tokens = best.topk(len(scores))
    return parents[tokens], tokens, best


def _one_beam():
    return [
        (-1.0, torch.tensor([0.1, 0.2, 0.7]).log(), 2),
        (-2.0, torch.tensor([0.3, 0.15, 0.05, 0.5]).log(), 2),
        (-0.5, torch.tensor([0.1, 0.3, 0.15, 0.45]).log(), 1),
        (-3.0, torch.tensor([0.15, 0.6, 0.25]).log(), 3),
    ]


beam_step_for_one = Exercise(
    sections=("16 Several beginnings at once",),
    task="The same for one hypothesis: its `score`, a number, the `log_probs` (vocab,) of the next token, and "
    "`beams`, how many continuations are wanted. Return its best ones, the best first, as two tensors "
    "(beams,): the tokens, as integers, and the new scores. Leave `log_probs` as they are.",
    cases=_one_beam,
    hints=(
        "The probability of one thing and then another is a product, so the log-probabilities are added: the "
        "score of a continuation is `score` plus that of its token.",
        "`topk(beams)` gives two things, the largest entries and their places, the largest first. A place is "
        "the token here.",
    ),
    passed="With K hypotheses the candidates are a table, and a place in it has to be taken apart.",
    gaps=("score + log_probs", "total.topk(beams)"),
)


@beam_step_for_one.solution
def my_beam_step_for_one(score, log_probs, beams):
    # Log-probabilities of one thing after another are added.
    total = score + log_probs  # (vocab,)
    # The largest, and at which places they stand: these are the tokens.
    best, tokens = total.topk(beams)  # (beams,) and (beams,)
    return tokens, best


@beam_step_for_one.solution
def _(score, log_probs, beams):
    tokens = log_probs.argsort(descending=True)[:beams]
    return tokens, log_probs[tokens] + score


beam_step_for_one.edits("""
score + log_probs → log_probs
    In yours the past is forgotten: add the score of the hypothesis.
score + log_probs → score * log_probs
score + log_probs → score * log_probs.exp()
total = score + log_probs → total = log_probs ; return tokens, best → return tokens, score * best
    You multiply. Probabilities are multiplied; their logarithms are added.
score + log_probs → math.exp(score) + log_probs.exp()
score + log_probs → score + log_probs.exp()
    You add probabilities. Of one thing and then another it is the logarithms that are added: no `exp`, no softmax.
score + log_probs → score + log_probs.log()
score + log_probs → math.log(score) + log_probs
    You take a logarithm once more: both are log-probabilities already, and a number below 0 has no logarithm.
topk(beams) → topk(beams, largest=False)
    You return the worst. The larger the log-probability, the better.
topk(beams) → sort(descending=True)
    You return all continuations. The best `beams` of them are wanted.
return tokens, best → return tokens.tolist(), best.tolist()
    You return lists: two tensors are wanted.
return tokens, best → return list(zip(tokens.tolist(), best.tolist()))
    You return a list of pairs. Two tensors side by side are wanted: `tokens, best`.
best, tokens = total.topk(beams) → tokens = torch.arange(beams) ⏎ best = total[:beams]
    You take the first tokens of the vocabulary. `log_probs` are not sorted: `topk` finds the best.
best, tokens = total.topk(beams) → tokens = total.topk(beams).indices.sort().values ⏎ best = total[tokens]
    Your best tokens stand in the order of their ids. They should stand in the order of their scores, the best first.
return tokens, best → return tokens, best.log_softmax(dim=0)
    You normalise among the continuations that are kept. A score stays the log-probability of all that is written so
    far.
return tokens, best → return tokens, best + score
    In your new scores that of the hypothesis is added twice.
topk(beams) → max(dim=0)
    You return the best continuation alone. `beams` are wanted: `topk`.
return tokens, best → return best, tokens
best, tokens = total.topk(beams) → return total.topk(beams)
    You return the scores first, as `topk` does. The tokens should come first.
return tokens, best → return tokens
    You return the tokens alone. The new scores are missing: the next step begins with them.
return tokens, best → return tokens, best.exp()
    Your new scores are probabilities: leave them logarithms.
return tokens, best → return tokens.flip(0), best.flip(0)
    You return the best last. It should come first.
total = score + log_probs → log_probs += score ⏎ total = log_probs
    You change the caller's `log_probs`: `+=` and `log_probs[...] =` write into them. Work on a copy.
""")


def _cached():
    torch.manual_seed(18)
    paper = ([2.0, 0.0, 2.0, 0.0], [1.0, 1.0, 0.0, 0.0], [4.0, 0.0, 2.0, 0.0])
    past = ([2.0, 1.0, 0.0, 1.0], [0.0, 4.0, 2.0, 0.0])
    loud = [torch.randn(1, 2, t, 1) * size for t, size in ((1, 30), (1, 9), (1, 1), (2, 9), (2, 1))]
    cases = [tuple(torch.tensor(row).view(1, 1, 1, 4) for row in (*paper, *past)), tuple(loud)]
    for batch, heads, time, d_head in ((2, 1, 0, 3), (2, 2, 2, 2), (2, 1, 3, 4), (3, 2, 5, 4)):
        new = [torch.randn(batch, heads, 1, d_head) for _ in range(3)]
        cases.append((*new, *(torch.randn(batch, heads, time, d_head) for _ in range(2))))
    return cases


cache_step = Exercise(
    sections=("16 Nothing twice",),
    task="One step of self-attention with a cache. `q`, `k`, `v` (batch, heads, 1, d_head) are the projections "
    "of the newest token, `past_k` and `past_v` (batch, heads, time, d_head) those of the tokens before; at "
    "the first step time is 0. Return three tensors: the output of attention for the newest token, which "
    "attends to all tokens, itself among them, (batch, heads, 1, d_head); then the keys and the values for "
    "the next step, (batch, heads, time + 1, d_head), the newest last. Leave all five as they are.",
    cases=_cached,
    hints=(
        "The newest token attends to itself as well, so first the cache grows by one: the newest key goes "
        "behind the earlier ones, along the axis of time.",
        "`torch.cat([past_k, k], dim=2)`, and the same for the values. Then one query meets all keys: "
        "`q @ keys.mT`, where `.mT` exchanges the last two axes.",
        "Then come the lines of lesson 04: divide by the root of d_head, softmax over the last axis, weights "
        "times values. No mask: which key would it mask out?",
    ),
    passed="One query, and no mask: what is in the cache is the past, and there is no future.",
    gaps=(
        "[past_k, k], dim=2",
        "[past_v, v], dim=2",
        "keys.mT / math.sqrt(q.size(-1))",
        "scores.softmax(dim=-1)",
    ),
)


@cache_step.solution
def my_cache_step(q, k, v, past_k, past_v):
    # The newest key and value go behind the earlier ones, along the axis of time.
    keys = torch.cat([past_k, k], dim=2)  # (batch, heads, time + 1, d_head)
    values = torch.cat([past_v, v], dim=2)  # (batch, heads, time + 1, d_head)
    # One query meets all keys, its own among them. None is later, so there is no mask.
    scores = q @ keys.mT / math.sqrt(q.size(-1))  # (batch, heads, 1, time + 1)
    weights = scores.softmax(dim=-1)  # (batch, heads, 1, time + 1)
    output = weights @ values  # (batch, heads, 1, d_head)
    return output, keys, values


@cache_step.solution
def _(q, k, v, past_k, past_v):
    keys, values = torch.cat((past_k, k), dim=-2), torch.cat((past_v, v), dim=-2)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


cache_step.edits("""
q @ keys.mT → q @ past_k.mT ; weights @ values → weights @ past_v
    In yours, the newest token does not attend to itself: append its key and value first, then attend.
weights @ values → v
    In yours, the newest token attends to itself alone. Its query meets all keys, those of the past and its own.
weights @ values → (q @ past_k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ past_v + v
    You add two outputs, one of the past and one of the newest token. It is one softmax over all keys, so that the
    weights of all tokens together add up to 1.
scores.softmax → scores.masked_fill(torch.ones(2 * keys.shape[2:3]).tril() == 0, -math.inf).softmax
    Your causal mask has a row for each token, and so has your output. There is one query, and all keys are of its past:
    it needs no mask.
weights @ values → values[:, :, :1]
    In yours, the newest token attends to the first token alone. So it is with `is_causal=True`, which lines up the
    *first* query with the first key, and with a `tril` of one row. One query with its past needs no mask.
return output, keys, values → return output, past_k, past_v
return output, keys, values → return output, keys, past_v
return output, keys, values → return output, past_k, values
    You return the past as it was: the next step would not know this token. Return the grown keys and values.
return output, keys, values → return output, k, v
    You return the newest key and value alone: the next step would know no other token. Return the grown keys and
    values.
torch.cat([past_k, k], dim=2) → k ; torch.cat([past_v, v], dim=2) → v
    You do not use the past: you overwrite the cache with the newest key and value. Append them.
[past_k, k] → [past_k[:, :, 1:], k] ; [past_v, v] → [past_v[:, :, 1:], v]
[past_k, k] → [past_k[:, :, :-1], k] ; [past_v, v] → [past_v[:, :, :-1], v]
    Your cache does not grow: the newest token takes the place of an earlier one. Append it, and keep them all.
torch.cat([past_k, k], dim=2) → past_k + k ; torch.cat([past_v, v], dim=2) → past_v + v
torch.cat([past_k, k], dim=2) → past_k.add_(k) ; torch.cat([past_v, v], dim=2) → past_v.add_(v)
    You add the newest to every earlier one. Append it: `torch.cat` along the axis of time.
[past_k, k] → [k, past_k] ; [past_v, v] → [v, past_v]
    In yours, the newest stands in front. Attention knows no order, so the output does not show it; but the cache is a
    sequence: append behind.
[past_k, k] → [k, past_k]
[past_v, v] → [v, past_v]
    In yours, keys and values stand in different orders: one has the newest in front, the other behind. Append both
    behind.
dim=2 → dim=0
dim=2 → dim=1
dim=2 → dim=3
    You append along another axis. Of (batch, heads, time, d_head) it is the axis of time that grows: `dim=2`.
torch.cat([past_k, k], dim=2) → torch.cat(past_k, k, dim=2)
torch.cat([past_k, k], dim=2) → past_k + [k]
torch.cat([past_k, k], dim=2) → past_k.append(k)
torch.cat → torch.stack
    In yours, the two do not become one tensor with a longer axis of time. `torch.cat([past_k, k], dim=2)` takes one
    list of two tensors and makes it; `stack` would make a new axis.
[past_v, v] → [past_k, v]
[past_k, k] → [past_k, v]
[past_k, k] → [past_v, k]
[past_v, v] → [past_v, k]
[past_k, k] → [past_v, k] ; [past_v, v] → [past_k, v]
[past_k, k] → [past_k, v] ; [past_v, v] → [past_v, k]
    In yours, keys and values are mixed in a cache. There are two: `past_k` grows by `k`, `past_v` by `v`.
[past_k, k] → [past_k, k / math.sqrt(k.size(-1))] ; / math.sqrt(q.size(-1)) →
[past_k, k] → [past_k, k / math.sqrt(k.size(-1))]
    You divide the newest key by √d_head before you store it. The cache keeps it as it is, like the keys of the past;
    it is the scores, with all keys, that are divided.
[past_k, k], dim=2) → [past_k, k], dim=2) / math.sqrt(k.size(-1)) ; / math.sqrt(q.size(-1)) →
    You divide all keys by √d_head and return them so: the next step would divide the earlier ones again. Divide the
    scores, and return the keys as they are.
[past_k, k] → [past_k, q]
    You append the query to the keys. A query is used once and not kept; `past_k` grows by `k`.
q @ keys.mT → k @ keys.mT
    You compare the newest *key* with the keys. The query asks: `q @ keys.mT`.
q @ keys.mT → q @ values.mT ; weights @ values → weights @ keys
    In yours, keys and values are exchanged: compare the query with the keys, and weigh the values.
weights @ values → weights @ keys
q @ keys.mT → q @ values.mT
    In yours keys take the place of values, or values that of keys. Compare the query with the *keys*, and weigh the
    *values*.
keys.mT → keys
    Your `q @ keys` does not fit: both end in d_head. To get a score for each key, exchange the last two axes of the
    keys: `q @ keys.mT`.
keys.mT → keys.T
keys.mT → keys.transpose(1, 2)
    You exchange other axes: `.T` turns all four round. Only the last two are exchanged: `keys.mT`, or
    `keys.transpose(-2, -1)`.
 / math.sqrt(q.size(-1)) →
    You do not divide the scores by √d_head.
/ math.sqrt(q.size(-1)) → * math.sqrt(q.size(-1))
    You multiply the scores by √d_head. Divide them by it.
math.sqrt(q.size(-1)) → q.size(-1)
    You divide the scores by d_head, which is √d_head twice. Divide by the root, and once:
    `F.scaled_dot_product_attention` does it itself.
math.sqrt(q.size(-1)) → math.sqrt(keys.size(2))
math.sqrt(q.size(-1)) → math.sqrt(max(past_k.size(2), 1))
math.sqrt(q.size(-1)) → math.sqrt(past_k.size(2))
math.sqrt(q.size(-1)) → math.sqrt(q.size(1))
math.sqrt(q.size(-1)) → math.sqrt(len(q))
math.sqrt(q.size(-1)) → math.sqrt(q.size(1) * q.size(-1))
    You divide by the root of another size, as of the number of keys or of d_model. It is d_head, the width of a key in
    one head.
softmax(dim=-1) → softmax(dim=-2)
softmax(dim=-1) → softmax(dim=1)
softmax(dim=-1) → softmax(dim=0)
    Your softmax runs over another axis (over the one query, it gives each key the weight 1). Over the keys, the last
    axis, the weights add up to 1.
/ math.sqrt(q.size(-1)) → ; scores.softmax(dim=-1) → scores.softmax(dim=-1) / math.sqrt(q.size(-1))
    You divide the weights, so they no longer add up to 1. It is the scores that are divided by √d_head, before the
    softmax.
scores.softmax(dim=-1) → scores
    In yours the softmax is missing: scores are not weights.
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    You take e to the power of a large score, which does not fit into a 32-bit number. `softmax` takes off the
    largest one first.
output = weights @ values → output = (weights @ values)[:, :, 0]
output = weights @ values → output = (weights @ values).squeeze()
    An axis of length 1 is missing from your output: it should be (batch, heads, 1, d_head), with its one token.
output = weights @ values → output = (weights @ values).transpose(1, 2).flatten(2)
    You join the heads already. The output is wanted head by head, (batch, heads, 1, d_head).
return output, keys, values → return output
    You return the output alone. The next step needs the grown keys and values, too.
return output, keys, values → return keys, values
    You return no output: it should come first, then the keys and the values.
return output, keys, values → return output, values, keys
return output, keys, values → return keys, values, output
    You return the three in another order. Wanted are the output, then the keys, then the values.
return output, keys, values → return output, (keys, values)
    You return a pair within a pair. Three tensors side by side are wanted: `output, keys, values`.
scores.softmax → scores.index_fill(-1, torch.tensor([past_k.size(2)]), -math.inf).softmax
    Your mask closes the newest token's own key, and at the first step it leaves nothing. A token attends to itself:
    one query with its past needs no mask.
output = weights @ values → output = weights @ values if past_k.size(2) else torch.zeros_like(v)
    At the first step your output is 0. There the newest token attends to itself alone, and it needs no line of its own.
q @ keys.mT → q.squeeze(2) @ keys.mT
    You take the axis of the one token out of `q`, so that heads or sentences stand in its place. Leave all four axes.
weights @ values → weights * values
weights @ values → weights.mT * values
    You multiply weights and values entry by entry. Each value is weighed, and then all are added up over the keys: that
    is `weights @ values`.
output, keys, values → output, keys, torch.cat([past_v, output], dim=2)
    You store the output among the values. What is kept of the newest token are its projections, `k` and `v`.
return output, keys, values → return weights, keys, values
    You return the weights. The output is the mixture of the values: `weights @ values`.
weights @ values → weights @ values + q
weights @ values → weights @ values + v
    You add something to the mixture of the values. The residual connection belongs to the layer, around attention.
keys.mT / math.sqrt(q.size(-1)) → (keys.mT / math.sqrt(q.size(-1))).softmax(dim=-1) ; scores.softmax(dim=-1) → scores
    Your softmax goes over the keys before the query has met them. First the scores, `q @ keys.mT`, then their softmax.
keys = torch.cat([past_k, k], dim=2) → past_k[:, :, past_k.size(2)] = k[:, :, 0] ⏎ keys = past_k
    You write behind the last place, and there is none: a tensor does not grow by that. `torch.cat` makes a longer one.
""")


@cache_step.mistake(
    "You write into the past: an earlier token is overwritten, and the caller's cache is changed. "
    "`torch.cat` makes a longer one."
)
def _(q, k, v, past_k, past_v):
    past_k[:, :, -1:], past_v[:, :, -1:] = k, v
    weights = (q @ past_k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
    return weights @ past_v, past_k, past_v


def _guesses():
    torch.manual_seed(20)
    drawn = [
        torch.rand(5, 2).softmax(dim=0).T,
        *((2 * torch.randn(2, n)).softmax(-1) for n in (4, 7)),
    ]
    return [
        (torch.tensor([0.5, 0.2, 0.3]), torch.tensor([0.1, 0.8, 0.1]), 1),
        (torch.tensor([0.5, 0.2, 0.3]), torch.tensor([0.1, 0.8, 0.1]), 0),
        (torch.tensor([0.2, 0.2, 0.6]), torch.tensor([0.2, 0.5, 0.3]), 0),  # as likely to both
        (
            torch.tensor([0.0, 0.9, 0.1]),
            torch.tensor([0.3, 0.3, 0.4]),
            0,
        ),  # it would never say that
        (torch.tensor([0.0, 0.3, 0.7]), torch.tensor([0.0, 0.6, 0.4]), 1),  # nor would the draft
        *((p, q, guess) for p, q in drawn for guess in range(len(p))),
    ]


def _one_redraw(place, p, q, guess):
    if place[0] != 1 or len(p) > 5:
        return ""
    more = [f"{x:.3g}" for x in (p - q).clamp(min=0).tolist()]
    return f"The entry that is marked: {more[place[1]]} / ({' + '.join(more)})."


accept_or_redraw = Exercise(
    sections=("16 Guess, then check",),
    task="A draft has guessed a token: `guess`, an integer, drawn from the draft's probabilities `q` (vocab,). "
    "`p` (vocab,) are the model's. Return two things: the probability with which the guess is accepted, a number, "
    "and the probabilities (vocab,) from which another token is drawn in its place if it is refused. Guessed or "
    "redrawn, each token must come out with its probability in `p`. `q` is above 0 at the guess, and `p` and `q` are "
    "not the same. Leave both as they are.",
    cases=_guesses,
    hints=(
        "A token that the draft guesses too often must be refused sometimes; one that it guesses too rarely never. "
        "The draft guesses token i with probability q_i, and p_i is wanted. So accept with p_i / q_i, and with 1 "
        "where that is more than 1.",
        "A token that is guessed too rarely still lacks p_i − q_i. That is what the redraw makes up for: it may draw "
        "only such tokens, each as often as it lacks. Where p_i − q_i is negative, nothing is lacking: "
        "`(p - q).clamp(min=0)`.",
        "What the tokens lack adds up to less than 1. To draw from it, divide it by its sum.",
    ),
    passed="Add it up for one token: guessed and accepted, min(p, q); refused and redrawn, the rest of p.",
    without=("accept_or_redraw",),
    gaps=("float(p[guess] / q[guess]), 1.0", "(p - q).clamp(min=0)", "lacking.sum()"),
    how=_one_redraw,
)


@accept_or_redraw.solution
def my_accept_or_redraw(p, q, guess):
    # Guessed too often, it is refused sometimes; guessed too rarely, never.
    chance = min(float(p[guess] / q[guess]), 1.0)
    # What each token lacks if only guesses are accepted; nothing where q is the larger.
    lacking = (p - q).clamp(min=0)  # (vocab,)
    # Probabilities add up to 1.
    redraw = lacking / lacking.sum()  # (vocab,)
    return chance, redraw


@accept_or_redraw.solution
def _(p, q, guess):
    said = torch.minimum(p, q)  # guessed and accepted
    return said[guess] / q[guess], (p - said) / (1 - said.sum())


accept_or_redraw.edits("""
float(p[guess] / q[guess]) → float(q[guess] / p[guess])
    You divide q by p: so a guess that the model finds likely is refused, and one that it would never say is kept. It is
    p / q.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess])
    You accept with probability p. But the guess has come with probability q, and both together give q · p. With
    p / q they give p.
min(float(p[guess] / q[guess]), 1.0) → float(q[guess])
    You accept with probability q. That is how often the guess comes; how often it is kept must depend on p too: p / q.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess] > q[guess])
min(float(p[guess] / q[guess]), 1.0) → bool(p[guess] > q[guess])
    You accept only where p is larger than q. Then a token that the draft guesses too often is never said when it is
    guessed. It should be kept with probability p / q.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess] >= q[guess])
min(float(p[guess] / q[guess]), 1.0) → bool(p[guess] >= q[guess])
    In yours a guess is kept or dropped for certain. Where q is larger than p, it should be kept with probability
    p / q.
min(float(p[guess] / q[guess]), 1.0) → float(p.argmax() == guess)
    You accept the most likely token of p alone. That is greedy search; here each token should come as often as `p`
    says.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess] / q[guess])
    Your chance is above 1 where p is larger than q. A probability ends at 1: `min(…, 1.0)`.
min(float(p[guess] / q[guess]), 1.0) → max(float(p[guess] / q[guess]), 1.0)
    You take the larger of p / q and 1, which is never below 1. The smaller: `min`.
min(float(p[guess] / q[guess]), 1.0) → min(float(p[guess]), float(q[guess]))
    You accept with probability min(p, q). That is how often the token is to be guessed *and* accepted. It is guessed
    with probability q, so divide by q.
min(float(p[guess] / q[guess]), 1.0) → 1 - min(float(p[guess] / q[guess]), 1.0)
    You return the probability that the guess is refused. Asked for is that it is accepted.
min(float(p[guess] / q[guess]), 1.0) → max(float(p[guess] - q[guess]), 0.0)
    You accept with p − q. The difference is for the redraw; the chance is a quotient, p / q.
min(float(p[guess] / q[guess]), 1.0) → 1 - max(float(q[guess] - p[guess]), 0.0)
    You refuse with q − p. The chance is a quotient: a token that is guessed with probability q and kept with p / q
    comes with p.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess] / (p[guess] + q[guess]))
    You divide p by p + q. A token that is guessed with probability q comes with p only if it is kept with p / q.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess] * q[guess])
    You multiply p by q. The guess has come with probability q already: kept with p / q, it comes with p.
min(float(p[guess] / q[guess]), 1.0) → float(p[guess] / p.max())
    You divide by the largest entry of p. What counts is how often the draft guesses this token: p / q.
min(float(p[guess] / q[guess]), 1.0) → float(torch.minimum(p, q).sum())
    Yours is how often any guess is accepted, over all that the draft may guess. Asked for is the chance of this one.
min(float(p[guess] / q[guess]), 1.0) → min(p / q, 1.0)[guess]
(p - q).clamp(min=0) → max(p - q, 0)
    You give a whole tensor to Python's `max` or `min`, which asks for one truth value. For each entry it is `clamp`;
    and the guess has one number, `p[guess] / q[guess]`.
min(float(p[guess] / q[guess]), 1.0) → (p / q).clamp(max=1)
    You return the chance of every token. Asked for is that of the guess alone: `p[guess] / q[guess]`.
lacking = (p - q).clamp(min=0) → lacking = p
    You redraw from p. Then tokens that were accepted as guesses come again, and those that the draft likes come too
    often. Redraw from what is lacking: p − q, where that is above 0.
lacking = (p - q).clamp(min=0) → lacking = q
    You redraw from q, the draft's probabilities. The redraw makes up for what the draft guesses too rarely: p − q,
    where that is above 0.
lacking = (p - q).clamp(min=0) → lacking = p.clone() ⏎ lacking[guess] = 0
    You redraw from p without the guess. Other tokens that the draft guesses too often may then still be drawn, and
    too often. Redraw from p − q, where that is above 0.
lacking = (p - q).clamp(min=0) → lacking = q - p
    You take q − p with its negative entries. The redraw needs what is lacking, p − q, and 0 where that is negative.
lacking = (p - q).clamp(min=0) → lacking = (q - p).clamp(min=0)
    You redraw what the draft guesses too often, q − p. The redraw makes up for what it guesses too rarely: p − q.
(p - q).clamp(min=0) → (p - q)
    In yours the redraw has negative probabilities, and its sum is 0 but for rounding. Where p is below q, nothing is
    lacking: `(p - q).clamp(min=0)`.
(p - q).clamp(min=0) → (p - q).abs()
    You take the size of the difference, so that tokens with too large a q are drawn too. Where p − q is negative,
    nothing is lacking: 0.
(p - q).clamp(min=0) → (p / q).nan_to_num(0, 0)
(p - q).clamp(min=0) → (p / q).clamp(max=1).nan_to_num(0)
    You redraw by the quotient p / q. It says how often to accept. What is lacking is a difference, p − q.
(p - q).clamp(min=0) → (p > q).float()
    You redraw all tokens that lack something equally often. Each should be drawn as often as it lacks: p − q.
(p - q).clamp(min=0) → (p - chance * q).clamp(min=0)
    You take off q times the chance of this guess. Of each token min(p, q) is given by guesses already, whatever was
    guessed now: p − q is lacking, where that is above 0.
lacking = (p - q).clamp(min=0) → lacking = p.clone() ⏎ lacking[guess] = max(p[guess] - q[guess], 0)
    You take q off at the guess alone. The redraw is the same for every guess: p − q at each token, where that is above
    0.
(p - q).clamp(min=0) → torch.minimum(p, q)
    You redraw from min(p, q). That is what accepted guesses give already. Lacking is the rest, p − min(p, q).
(p - q).clamp(min=0) → torch.where(p > q, p, 0.0)
    You redraw from p wherever it is above q. Part of that is guessed and accepted already. What is lacking is p − q.
redraw = lacking / lacking.sum() → lacking[guess] = 0 ⏎ redraw = lacking / lacking.sum()
    You set the guess's own entry to 0. Where a guess can be refused, its entry is 0 by itself; the redraw is the same
    for every guess.
redraw = lacking / lacking.sum() → redraw = lacking
    Your redraw adds up to less than 1. To be probabilities, it must be divided by its sum.
redraw = lacking / lacking.sum() → redraw = lacking.softmax(dim=0)
redraw = lacking / lacking.sum() → redraw = (p - q).softmax(dim=0)
    Your softmax gives tokens a probability that should have 0, because e to any power is above 0. Divide by the sum.
return chance, redraw → return chance, redraw if chance < 1 else torch.zeros_like(p)
return chance, redraw → return chance, redraw if chance < 1 else None
return chance, redraw → return chance, redraw if chance < 1 else p
    Where the guess is accepted for certain, you return another redraw. It depends on `p` and `q` alone: return the same
    for every guess.
redraw = lacking / lacking.sum() → redraw = (1 - chance) * lacking / lacking.sum()
    You multiply the redraw by the probability that this guess is refused. It is drawn from only then, so its
    probabilities add up to 1.
redraw = lacking / lacking.sum() → redraw = lacking / lacking.max()
    You divide by the largest entry. Probabilities add up to 1: divide by the sum.
lacking / lacking.sum() → lacking / (1 - chance) if chance < 1 else lacking / lacking.sum()
    You divide by the probability that *this* guess is refused. The redraw is the same for every guess: divide by its
    own sum.
redraw = lacking / lacking.sum() → redraw = torch.eye(len(p))[lacking.argmax()]
redraw = lacking / lacking.sum() → redraw = int(lacking.argmax())
    You choose the token that is lacking most. Nothing is chosen here: return the probabilities to draw from.
return chance, redraw → return redraw, chance
    You return the two in the wrong order: the chance should come first.
return chance, redraw → return chance
    You return the chance alone. Where the guess is refused, something must be said: return what to draw from, too.
return chance, redraw → return redraw
    You return the redraw alone. The chance of the guess should come first.
return chance, redraw → return chance, redraw.tolist()
    Your redraw is a list: a tensor is wanted.
lacking = (p - q).clamp(min=0) → lacking = p.sub_(q).clamp_(min=0)
    You change the caller's `p`. `-=`, and functions whose name ends with `_`, write into it; `p - q` makes a new one.
""")
