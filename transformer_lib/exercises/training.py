"""What a model is trained against, and how fast: label smoothing, warm-up.  Lesson 14."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _guesses():
    torch.manual_seed(14)
    halves = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) * math.log(2)  # ¼ ½ ¼ and ¼ ¼ ½
    return [
        (halves, torch.tensor([1, 0]), 0.2, 0),
        (2 * torch.randn(1, 4), torch.tensor([3]), 0.1, 0),
        (torch.randn(3, 3), torch.tensor([2, 0, 1]), 0.5, 1),
        (torch.randn(4, 3), torch.tensor([1, 2, 2, 1]), 0.4, 0),
        (torch.tensor([[0.0, 100.0, -100.0]]), torch.tensor([2]), 0.2, 0),
        (torch.randn(3, 5), torch.tensor([4, 1, 0]), 0.0, 0),
        (torch.randn(7, 4), torch.tensor([1, 0, 2, 2, 3, 1, 3]), 0.5, 3),
        (2 * torch.randn(6, 5), torch.tensor([2, 4, 1, 3, 0, 0]), 0.2, 0),
    ]


def _one_loss(place, logits, targets, smoothing, pad_id):
    real = [t for t, target in enumerate(targets.tolist()) if target != pad_id]
    if place or len(real) > 2 or logits.size(1) > 5:
        return ""
    minus = -logits.log_softmax(dim=-1)
    terms = []
    for t in real:
        others = [f"{x:.2f}" for i, x in enumerate(minus[t]) if i != pad_id]
        even = f"{smoothing:g}·({' + '.join(others)})/{len(others)}"
        terms.append(f"{1 - smoothing:g}·{minus[t, targets[t]]:.2f} + {even}")
    total = " + ".join(terms)
    return f"With −log p of each entry: {f'({total}) / {len(real)}' if len(real) > 1 else total}."


smoothed_loss = Exercise(
    sections=("14 Nearly sure",),
    task="Cross-entropy with label smoothing, in nats. `logits` (tokens, vocab); `targets` (tokens,), "
    "whole numbers. A target that is `pad_id` is padding: its row counts nowhere. For each other row the "
    "wanted distribution gives 1 − smoothing to the target, and besides spreads `smoothing` evenly over "
    "all entries but `pad_id`, the target among them. Return the mean over the real tokens, a tensor "
    "without axes. Logits may be as large as 100. Write it without `F.cross_entropy` and `F.kl_div`.",
    cases=_guesses,
    hints=(
        "First drop the rows whose target is `pad_id`: a mask as an index, `logits[targets != pad_id]`, "
        "keeps the rows at which it is True. Then `log_softmax` over the last axis turns each row into "
        "log-probabilities.",
        "The loss has two parts. The first is the log-probability of the target. `log_p.gather(1, index)` "
        "picks one entry of each row, but its index needs as many axes as log_p: `targets[:, None]` makes "
        "(tokens, 1) of (tokens,), and `.squeeze(1)` takes the axis of length 1 off the result.",
        "The second part needs no target: it is the mean of a row without the entry of `pad_id`, that is "
        "the row's sum less that entry, divided by vocab − 1. Weigh the two parts with 1 − smoothing and "
        "smoothing, average over the tokens, and turn the sign.",
    ),
    passed="It cannot reach 0 any more, unless smoothing is 0. What is the smallest value?",
    without=("cross_entropy", "kl_div"),
    gaps=(
        "targets != pad_id",
        "logits.log_softmax(dim=-1)",
        "targets[:, None]",
        "log_p.sum(dim=-1) - log_p[:, pad_id]",
        "logits.size(1) - 1",
        "(1 - smoothing) * of_target + smoothing * of_all",
    ),
    how=_one_loss,
)


@smoothed_loss.solution
def my_smoothed_loss(logits, targets, smoothing, pad_id):
    # Padding counts nowhere: keep the rows whose target is a real token.
    real = targets != pad_id  # (tokens,)
    logits, targets = logits[real], targets[real]  # (real, vocab), (real,)
    # Each row becomes a distribution over the vocabulary, in logarithms.
    log_p = logits.log_softmax(dim=-1)  # (real, vocab)
    # The usual part: of each row the entry of its target.
    of_target = log_p.gather(1, targets[:, None]).squeeze(1)  # (real,)
    # The even part: the mean over all entries but that of padding, which is never an answer.
    others = log_p.sum(dim=-1) - log_p[:, pad_id]  # (real,)
    of_all = others / (logits.size(1) - 1)  # (real,)
    # A loss is large where the log-probability is small, hence the minus.
    both = (1 - smoothing) * of_target + smoothing * of_all  # (real,)
    return -both.mean()  # one number


def _wanted(logits, targets, smoothing, pad_id):
    """The distribution that is asked for, a row a target; `pad_id` gets nothing."""
    wanted = torch.full_like(logits, smoothing / (logits.size(1) - 1))
    wanted[range(len(targets)), targets] += 1 - smoothing
    wanted[:, pad_id] = 0
    return wanted


@smoothed_loss.solution
def _(logits, targets, smoothing, pad_id):
    wanted = _wanted(logits, targets, smoothing, pad_id)
    real = (targets != pad_id).float()
    losses = logits.logsumexp(dim=-1) - (wanted * logits).sum(dim=-1)
    return (losses * real).sum() / real.sum()


smoothed_loss.edits("""
real = targets != pad_id → real = targets == targets
    In yours padding counts in the mean. Drop the rows whose target is `pad_id` before you average.
targets != pad_id → targets == pad_id
    You keep the padding and drop the real tokens: the rows that count are those with `targets != pad_id`.
both.mean() → both.sum() / len(real)
    You divide by all tokens, padding included. Divide by the number of the real ones.
-both.mean() → -both.sum()
    You return the sum. Divide by the number of real tokens.
-both.mean() → -both.mean() / logits.size(1)
    You average over the vocabulary as well. The terms of one row are added up; the mean is over the tokens.
-both.mean() → -both
    You return a loss for each real token. Their mean is still missing.
- log_p[:, pad_id] → ; (logits.size(1) - 1) → logits.size(1)
    In yours `pad_id` gets a part of the smoothing, as in `F.cross_entropy(label_smoothing=…)`. A model should not
    learn to say padding now and then: leave that entry out, and spread `smoothing` over the vocab − 1 others,
    `smoothing / (vocab - 1)` each.
real = targets != pad_id → real = targets == targets ; - log_p[:, pad_id] → ; (logits.size(1) - 1) → logits.size(1)
    Yours is what `F.cross_entropy(…, label_smoothing=smoothing)` gives for all tokens: padding counts in its mean,
    and `pad_id` gets a part of the smoothing. `ignore_index=pad_id` mends the first, not the second.
both = ( → both = torch.log(( ; of_target + → of_target.exp() + ; smoothing * of_all → smoothing / (logits.size(1) - 1))
both = ( → both = torch.log(( ; of_target + → of_target.exp() + ; smoothing * of_all → smoothing / logits.size(1))
    You mix the model's probability with the even one. Smoothing mixes the target with it: the wanted distribution is
    mixed, and the model's logarithms are weighed with that.
- log_p[:, pad_id] →
(logits.size(1) - 1) → logits.size(1)
    Yours leaves `pad_id` out of the sum or out of the number, but not out of both. The even part is a mean over the
    entries without `pad_id`.
others / (logits.size(1) - 1) → (others - of_target) / (logits.size(1) - 2)
    Your smoothing leaves the target out. Here it is spread over all entries but `pad_id`, the target
    among them. (The Annotated Transformer leaves it out; then 1 − smoothing is all the target gets.)
others / (logits.size(1) - 1) → (others - of_target) / (logits.size(1) - 1)
    Your wanted distribution adds up to less than 1, because the target has lost its part of the smoothing. It
    should get 1 − smoothing and, besides, the same part as every other entry.
- log_p[:, pad_id] → - of_target
- log_p[:, pad_id] → - of_target ; (logits.size(1) - 1) → logits.size(1)
    Your smoothing goes to `pad_id`, and not to the target. It is the other way round: every entry gets a
    part but `pad_id`.
both = (1 - smoothing) * of_target + smoothing * of_all → both = of_target
    Yours is cross-entropy without smoothing.
(1 - smoothing) * of_target + smoothing * of_all → smoothing * of_target + (1 - smoothing) * of_all
    In yours the two weights are exchanged. The target should get 1 − smoothing, and the even part smoothing.
(1 - smoothing) * of_target → of_target
smoothing * of_all → of_all
    In yours one of the two parts is not weighed. The target's should have the weight 1 − smoothing, the even one the
    weight smoothing; together they make 1.
others / (logits.size(1) - 1) → others
others / (logits.size(1) - 1) → others - of_target
    Your even part is a sum over the entries. Divide it by how many there are without `pad_id`.
logits.log_softmax(dim=-1) → logits
    You use the logits as they are. Log-probabilities come from `log_softmax` over the last axis.
log_softmax → softmax
    You use probabilities where their logarithms belong: `log_softmax`.
logits.log_softmax(dim=-1) → logits.softmax(dim=-1).log()
logits.log_softmax(dim=-1) → (logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()
    Yours fails for large logits. Where they are 100 apart a probability underflows to 0 and its logarithm is −∞, and
    e¹⁰⁰ does not fit into a 32-bit number. `log_softmax` takes both steps at once, safely.
logits.log_softmax(dim=-1) → logits.softmax(dim=-1) ; -both.mean() → -both.log().mean()
    You mix the probabilities and take the logarithm of the mixture. Take it of each entry first: the
    logarithm of a mean is not the mean of the logarithms.
logits.log_softmax(dim=-1) → logits - logits[:, torch.arange(logits.size(1)) != pad_id].logsumexp(-1, keepdim=True)
    You take `pad_id` out of the softmax. It stays there: what the model gives to padding is lost to the
    others, and should cost it something.
smoothing * of_all → -smoothing * of_all
(1 - smoothing) * of_target + smoothing * of_all → (smoothing - 1) * of_target + smoothing * of_all
    In yours one of the two parts has the wrong sign. Add both log-probabilities, then turn the sign of the sum once.
log_softmax(dim=-1) → log_softmax(dim=0)
logits[real], targets → logits.log_softmax(dim=0)[real], targets ; logits.log_softmax(dim=-1) → logits
    Your softmax runs over the tokens. Each token has its own distribution: the last axis.
log_p.gather(1, targets[:, None]).squeeze(1) → log_p[:, targets]
    Your `log_p[:, targets]` picks every target in every row. Each row has one target: `gather`, or two indices side
    by side, `log_p[range(len(targets)), targets]`.
log_p[:, pad_id] → log_p[:, 0]
targets != pad_id → targets != 0
targets != pad_id → targets != 0 ; log_p[:, pad_id] → log_p[:, 0]
    0 counts as padding in yours, whatever `pad_id` says.
logits.log_softmax(dim=-1) → logits.log_softmax(dim=-1) / math.log(2)
logits.log_softmax(dim=-1) → logits.softmax(dim=-1).log2()
    Yours is in bits: a logarithm to the base 2. A nat is that of the natural logarithm, `log` or `log_softmax`.
-both.mean() → float(-both.mean())
    You return a Python number: `float` and `.item()` cut it off from the logits, and no gradient can flow back.
    Return the tensor.
""")


@smoothed_loss.mistake(
    "Yours is the Kullback-Leibler divergence. Cross-entropy is larger by the entropy of the wanted "
    "distribution, which you have subtracted."
)
def _(logits, targets, smoothing, pad_id):
    even = smoothing / (logits.size(1) - 1)
    wanted = torch.tensor([1 - smoothing + even, *[even] * (logits.size(1) - 2)])
    return my_smoothed_loss(logits, targets, smoothing, pad_id) - torch.special.entr(wanted).sum()


@smoothed_loss.mistake(
    "Padding counts in your mean. You give nothing to the entry of `pad_id`, but the rows whose target is "
    "`pad_id` still pay for the even part. Drop these rows before you average."
)
def _(logits, targets, smoothing, pad_id):
    wanted = _wanted(logits, targets, smoothing, pad_id)
    return -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1).mean()


@smoothed_loss.mistake(
    "The logarithm stands at the wrong distribution. Yours is −Σ p ln q; the loss weighs with the wanted "
    "distribution q and takes the logarithm of the model's p."
)
def _(logits, targets, smoothing, pad_id):
    wanted = _wanted(logits, targets, smoothing, pad_id)
    losses = -(logits.softmax(dim=-1) * wanted.clamp_min(1e-9).log()).sum(dim=-1)
    return losses[targets != pad_id].mean()


warmup = Exercise(
    sections=("14 Up first, then down",),
    task="The paper's learning rate at one step, a number: 1/√d_model times the smaller of two arms. One "
    "rises with the step, step/warmup^(3/2); one falls, 1/√step. They meet at step = warmup. `step` "
    "counts from 1; all three are whole numbers of at least 1.",
    cases=lambda: [
        (2, 16, 4),
        (16, 4, 4),
        (4, 25, 4),
        (9, 9, 9),
        (1, 256, 25),
        (50, 16, 200),
        (200, 64, 200),
        (800, 64, 200),
        (1000, 64, 200),
    ],
    hints=(
        "Early in training the rate shall rise, step by step; later it shall fall. Each is one arm of the "
        "formula. Write them on two lines, each with a name of its own.",
        "Before step `warmup` the rising arm is the smaller one, after it the falling one. So the formula "
        "needs no `if`: `min` takes the smaller of the two.",
        "The rising arm divides by warmup to the power of 3/2, written `warmup ** 1.5`. The smaller arm is "
        "then divided by the root of the width, `d_model ** 0.5`.",
    ),
    passed="The highest rate is 1/√(d_model · warmup). What happens to it if the warm-up is four times as "
    "long?",
    tolerance=1e-7,
    without=("warmup_inverse_sqrt",),
    gaps=("step / warmup**1.5", "1 / step**0.5", "min(rising, falling)", "smaller / d_model**0.5"),
)


@warmup.solution
def my_warmup(step, d_model, warmup):
    # Up in a line: each step adds the same.
    rising = step / warmup**1.5
    # Down, ever more slowly.
    falling = 1 / step**0.5
    # They meet at step = warmup, where both are 1/√warmup: before it the first is the smaller.
    smaller = min(rising, falling)
    # A wider model learns at a lower rate.
    return smaller / d_model**0.5


@warmup.solution
def _(step, d_model, warmup):
    peak = 1 / (d_model * warmup) ** 0.5
    if step < warmup:
        return peak * step / warmup
    return peak * (warmup / step) ** 0.5


_EXPONENT = (
    "In yours the 2 is no part of the exponent. Python takes the power first: `step**-1/2` is (step⁻¹)/2, "
    "and `warmup**3/2` is (warmup³)/2. Put the exponent into brackets, `warmup**(3/2)`, or write it as 1.5 "
    "or -0.5."
)
warmup.edits(f"""
min(rising, falling) → max(rising, falling)
    You take the larger of the two arms. The smaller one counts: `min`.
return smaller / d_model**0.5 → return rising / d_model**0.5, falling / d_model**0.5
return smaller / d_model**0.5 → return rising, falling
    You return both arms, as in the warm-up. Here one number is wanted: the smaller arm, divided by √d_model.
 / d_model**0.5 →
    In yours `d_model` is missing: divide the whole by its root.
/ d_model**0.5 → * d_model**0.5
    You multiply by √d_model. A wider model gets a lower rate: divide.
/ d_model**0.5 → / d_model
    You divide by d_model. It is its root.
falling = 1 / step**0.5 → falling = 1 / (step * d_model)**0.5 ; smaller / d_model**0.5 → smaller
rising = step / warmup**1.5 → rising = step / warmup**1.5 / d_model**0.5 ; smaller / d_model**0.5 → smaller
    In yours √d_model divides one of the two arms only. Take the smaller arm first, then divide it: in one line, put
    brackets behind `min`.
min(rising, falling) → rising
min(rising, falling) → min(rising, 1 / warmup**0.5)
    In yours the fall is missing: after step `warmup` the rate should go down as 1/√step.
min(rising, falling) → falling
    Yours falls from the first step on, and never rises. Is the rising arm missing? Or do you multiply by
    warmup^(3/2), where it divides? Then that arm is larger than the other at every step, and `min` never
    takes it.
/ warmup**1.5 → / warmup * math.sqrt(warmup)
    Your rising arm is step/√warmup. In `step / warmup * sqrt(warmup)` the root multiplies, since Python goes from left
    to right: put brackets round the product, or write `warmup ** 1.5`.
/ warmup**1.5 → / warmup
/ warmup**1.5 → / warmup**2
/ warmup**1.5 → / warmup**3
/ warmup**1.5 → / warmup**(2 / 3)
    Your two arms do not meet at `warmup`: the power of warmup is another one. The rising arm is
    step/warmup^(3/2), so that both are 1/√warmup there.
rising = step / warmup**1.5 → rising = step**0.5 / warmup**1.5
rising = step / warmup**1.5 → rising = (step / warmup) ** 1.5
    In your rising arm `step` has a power or a root. It stands there as it is: the rate rises in a line.
smaller = min(rising, falling) → smaller = min(step / warmup, (warmup / step) ** 0.5)
smaller = min(rising, falling) → smaller = step / warmup if step < warmup else falling
    Your rise ends at 1/√d_model, whatever the warm-up. It ends where the fall begins, at
    1/√(d_model · warmup).
smaller / d_model**0.5 → smaller / d_model / warmup**0.5
    Your highest rate is 1/(d_model · warmup). A root is missing: it is 1/√(d_model · warmup).
1 / step**0.5 → 1 / step
1 / step**0.5 → warmup**0.5 / step
    Your fall is as 1/step. It is slower: 1/√step.
falling = 1 / step**0.5 → falling = 1 / max(step - warmup, 1) ** 0.5
    Your fall counts its steps from `warmup` on. It counts all of them, from the first: 1/√step.
smaller = min(rising, falling) → smaller = rising if step <= warmup else 1 / warmup**0.5 / step**0.5
smaller = min(rising, falling) → smaller = rising if step <= warmup else warmup**0.5 / step**0.5
smaller = min(rising, falling) → smaller = min(step / warmup, 1 / step**0.5) / warmup**0.5
    Your falling arm has warmup in it. It is 1/√step for every warm-up, and so meets the rising one at
    step = warmup.
step / warmup**1.5 → (step + 1) / warmup**1.5 ; step**0.5 → (step + 1)**0.5
step / warmup**1.5 → (step - 1) / warmup**1.5 ; 1 / step**0.5 → 1 / max(step - 1, 1e-9)**0.5
    You add 1 to `step`, or subtract it. The first step is 1, not 0: leave `step` as it is.
warmup**1.5 → d_model**1.5 ; d_model**0.5 → warmup**0.5
step / warmup → warmup / step ; 1 / step → 1 / warmup
rising = step → rising = d_model ; 1 / step → 1 / d_model ; smaller / d_model → smaller / step
    In yours two of the three arguments are exchanged. The rising arm is step/warmup^(3/2), the falling one 1/√step,
    and the whole is divided by √d_model.
warmup**1.5 → warmup**3/2
warmup**1.5 → (warmup**3/2)
1 / step**0.5 → 1 / step/2
/ d_model**0.5 → / d_model/2
/ d_model**0.5 → / (d_model**1/2)
warmup**1.5 → warmup**3/2 ; 1 / step**0.5 → 1 / step/2
warmup**1.5 → warmup**3/2 ; / d_model**0.5 → / d_model/2
1 / step**0.5 → 1 / step/2 ; / d_model**0.5 → / d_model/2
warmup**1.5 → warmup**3/2 ; 1 / step**0.5 → 1 / step/2 ; / d_model**0.5 → / d_model/2
warmup**1.5 → (warmup**3/2) ; 1 / step**0.5 → 1 / (step/2) ; / d_model**0.5 → / (d_model/2)
    {_EXPONENT}
""")


warmup_for_one = Exercise(
    sections=("14 Up first, then down",),
    task="The two arms at one step, for a model of any width: return the rising one, step/warmup^(3/2), "
    "and the falling one, 1/√step, in this order, as a pair. Two numbers in, two numbers out.",
    cases=lambda: [(9, 4), (1, 4), (4, 4), (2, 25), (100, 25)],
    hints=(
        "A root is a power: √step is step to the power of ½, in Python `step ** 0.5`. And 3/2 is 1.5.",
        "The rising arm divides the step by warmup to the power of 1.5; the falling one divides 1 by the "
        "root of the step. A pair is written `return rising, falling`.",
    ),
    passed="At step 4 of a warm-up of 4 both were ½: there they meet. Which is the smaller before, which after?",
    tolerance=1e-6,
    gaps=("step / warmup**1.5", "1 / step**0.5"),
)


@warmup_for_one.solution
def my_warmup_for_one(step, warmup):
    # Up in a line: each step adds the same.
    rising = step / warmup**1.5
    # Down as 1/√step, which does not depend on warmup.
    falling = 1 / step**0.5
    return rising, falling


@warmup_for_one.solution
def _(step, warmup):
    return step / (warmup * math.sqrt(warmup)), math.sqrt(1 / step)


warmup_for_one.edits(f"""
step / warmup**1.5 → step * warmup**1.5
    You multiply by warmup^(3/2). The rising arm divides by it: a longer warm-up rises more slowly.
/ warmup**1.5 → / warmup * math.sqrt(warmup)
    Your rising arm is step/√warmup. In `step / warmup * sqrt(warmup)` the root multiplies, since Python goes from left
    to right: put brackets round the product, or write `warmup ** 1.5`.
/ warmup**1.5 → / warmup
/ warmup**1.5 → / warmup**2
/ warmup**1.5 → / warmup**3
/ warmup**1.5 → / warmup**(2 / 3)
    In your rising arm warmup has another power. It is 3/2, so that both arms are 1/√warmup at step = warmup.
1 / step**0.5 → 1 / step
    Your falling arm is 1/step. The root is missing: 1/√step.
1 / step**0.5 → step**0.5
1 / step**0.5 → -(step**0.5)
    In your falling arm √step is not divided into 1: `1 / step ** 0.5`, or `step ** -0.5`, with the minus in
    the exponent.
1 / step**0.5 → (warmup / step) ** 0.5
    Your falling arm has warmup in it. It is 1/√step for every warm-up.
step / warmup**1.5 → step**0.5 / warmup**1.5
step / warmup**1.5 → (step / warmup) ** 1.5
    In your rising arm `step` has a power or a root. It stands there as it is: the arm is a line.
return rising, falling → return falling, rising
    You return the two in the other order: the rising arm should come first.
step / warmup**1.5 → (step + 1) / warmup**1.5 ; step**0.5 → (step + 1)**0.5
    You add 1 to `step`. The first step is 1, not 0: leave `step` as it is.
1 / step**0.5 → 1 / max(step - warmup, 1) ** 0.5
    Your fall counts its steps from `warmup` on. It counts all of them, from the first: 1/√step.
return rising, falling → return min(rising, falling)
    You return the smaller of the two, which is the next exercise. Here both are wanted.
return rising, falling → return max(rising, falling)
return rising, falling → return rising
return rising, falling → return falling
    You return one number. Both arms are wanted: `return rising, falling`.
step / warmup → warmup / step ; 1 / step → 1 / warmup
    In yours `step` and `warmup` are exchanged.
1 / step → 1 / warmup
1 / step**0.5 → 1 / warmup**1.5
    Your falling arm does not fall: there is no step in it. It is 1/√step.
warmup**1.5 → warmup**3/2
warmup**1.5 → (warmup**3/2)
1 / step**0.5 → 1 / step/2
1 / step**0.5 → 1 / (step/2)
warmup**1.5 → warmup**3/2 ; 1 / step**0.5 → 1 / step/2
warmup**1.5 → (warmup**3/2) ; 1 / step**0.5 → 1 / step/2
warmup**1.5 → (warmup**3/2) ; 1 / step**0.5 → 1 / (step/2)
    {_EXPONENT}
""")
