"""What a model is trained against, and how fast: label smoothing, warm-up.  Lesson 14."""

import torch
import torch.nn.functional as F

from transformer_lib.exercises.checking.machinery import Exercise


def _guesses():
    torch.manual_seed(14)
    return [
        (2 * torch.randn(6, 5), torch.tensor([2, 4, 1, 3, 0, 0]), 0.2, 0),
        (torch.randn(7, 4), torch.tensor([1, 0, 2, 2, 3, 1, 3]), 0.5, 3),
        (torch.randn(3, 5), torch.tensor([4, 1, 0]), 0.0, 0),
    ]


smoothed_loss = Exercise(
    task="Cross-entropy with label smoothing, in nats, averaged over the real tokens. `logits` "
    "(tokens, vocab), `targets` (tokens,), some of which are `pad_id`: they do not count. Each real "
    "target gets the share 1 − smoothing, and smoothing is spread evenly over all entries but "
    "`pad_id`, the target among them.",
    cases=_guesses,
    hints=(
        "A loss of two parts: the usual one, and the mean of −log p over all entries that are not "
        "`pad_id`. The second needs no target.",
        "Keep the rows whose target is not `pad_id`. Then `log_softmax` over the last axis, `gather` "
        "for the first part.",
        "The mean over the entries: `(log_p.sum(dim=-1) - log_p[:, pad_id]) / (logits.size(1) - 1)`. "
        "Weigh the two with 1 − smoothing and smoothing, take the mean over the rows, turn the sign.",
    ),
    passed="It cannot reach 0 any more, unless smoothing is 0. What is the smallest value?",
)


@smoothed_loss.solution
def my_smoothed_loss(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    log_p, targets = logits[real].log_softmax(dim=-1), targets[real]
    of_target = log_p.gather(1, targets[:, None]).squeeze(1)
    of_all = (log_p.sum(dim=-1) - log_p[:, pad_id]) / (logits.size(1) - 1)
    return -((1 - smoothing) * of_target + smoothing * of_all).mean()


def _against(logits, targets, pad_id, of_target, of_others):
    """Cross-entropy against rows of targets with these two shares."""
    wanted = torch.full_like(logits, of_others)
    wanted[:, pad_id] = 0
    wanted.scatter_(1, targets[:, None], of_target)
    real = targets != pad_id
    return F.cross_entropy(logits[real], wanted[real])


@smoothed_loss.solution
def _(logits, targets, smoothing, pad_id):
    even = smoothing / (logits.size(1) - 1)
    return _against(logits, targets, pad_id, 1 - smoothing + even, even)


@smoothed_loss.mistake(
    "Padding counts in your mean. Drop the rows whose target is `pad_id` before you average."
)
def _(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(dim=-1)
    of_target = log_p.gather(1, targets[:, None]).squeeze(1)
    of_all = (log_p.sum(dim=-1) - log_p[:, pad_id]) / (logits.size(1) - 1)
    return -((1 - smoothing) * of_target + smoothing * of_all).mean()


@smoothed_loss.mistake(
    "The sum is right, the number is not: you divide by all tokens, padding included."
)
def _(logits, targets, smoothing, pad_id):
    return (
        my_smoothed_loss(logits, targets, smoothing, pad_id)
        * (targets != pad_id).sum()
        / len(targets)
    )


@smoothed_loss.mistake("You return the sum. Divide by the number of real tokens.")
def _(logits, targets, smoothing, pad_id):
    return my_smoothed_loss(logits, targets, smoothing, pad_id) * (targets != pad_id).sum()


@smoothed_loss.mistake(
    "`pad_id` gets a share of the smoothing, as in `F.cross_entropy(label_smoothing=…)`. A model "
    "should not learn to say padding, now and then."
)
def _(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    return F.cross_entropy(logits[real], targets[real], label_smoothing=smoothing)


@smoothed_loss.mistake(
    "This is `F.cross_entropy(…, label_smoothing=smoothing)` on all tokens: padding counts in its mean, "
    "and `pad_id` gets a share of the smoothing. `ignore_index=pad_id` mends the first, not the second."
)
def _(logits, targets, smoothing, pad_id):
    return F.cross_entropy(logits, targets, label_smoothing=smoothing)


@smoothed_loss.mistake(
    "Your smoothing leaves the target out. Here it is spread over all entries but `pad_id`, the "
    "target among them. (The Annotated Transformer leaves it out; then 1 − smoothing is all the "
    "target gets.)"
)
def _(logits, targets, smoothing, pad_id):
    return _against(logits, targets, pad_id, 1 - smoothing, smoothing / (logits.size(1) - 2))


@smoothed_loss.mistake("This is cross-entropy without smoothing.")
def _(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    return F.cross_entropy(logits[real], targets[real])


@smoothed_loss.mistake(
    "The two shares are exchanged: the target gets 1 − smoothing, the even part gets smoothing."
)
def _(logits, targets, smoothing, pad_id):
    return my_smoothed_loss(logits, targets, 1 - smoothing, pad_id)


@smoothed_loss.mistake(
    "The even part is a sum over the entries. Divide it by how many there are without `pad_id`."
)
def _(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    log_p, targets = logits[real].log_softmax(dim=-1), targets[real]
    of_target = log_p.gather(1, targets[:, None]).squeeze(1)
    of_all = log_p.sum(dim=-1) - log_p[:, pad_id]
    return -((1 - smoothing) * of_target + smoothing * of_all).mean()


@smoothed_loss.mistake(
    "You use the logits as they are. Log-probabilities come from `log_softmax` over the last axis."
)
def _(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    logits, targets = logits[real], targets[real]
    of_target = logits.gather(1, targets[:, None]).squeeze(1)
    of_all = (logits.sum(dim=-1) - logits[:, pad_id]) / (logits.size(1) - 1)
    return -((1 - smoothing) * of_target + smoothing * of_all).mean()


@smoothed_loss.mistake("The sign is missing: a loss falls when the log-probability rises.")
def _(logits, targets, smoothing, pad_id):
    return -my_smoothed_loss(logits, targets, smoothing, pad_id)


@smoothed_loss.mistake(
    "Your softmax runs over the tokens. Each token has its own distribution: the last axis."
)
def _(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    log_p, targets = logits[real].log_softmax(dim=0), targets[real]
    of_target = log_p.gather(1, targets[:, None]).squeeze(1)
    of_all = (log_p.sum(dim=-1) - log_p[:, pad_id]) / (logits.size(1) - 1)
    return -((1 - smoothing) * of_target + smoothing * of_all).mean()


@smoothed_loss.mistake(
    "Your row of targets does not add up to 1: the target gets 1 − smoothing *and* its own part of "
    "the smoothing."
)
def _(logits, targets, smoothing, pad_id):
    return _against(logits, targets, pad_id, 1 - smoothing, smoothing / (logits.size(1) - 1))


@smoothed_loss.mistake(
    "This is the Kullback-Leibler divergence. Cross-entropy has the entropy of the targets on top."
)
def _(logits, targets, smoothing, pad_id):
    even = smoothing / (logits.size(1) - 1)
    shares = torch.tensor([1 - smoothing + even, *[even] * (logits.size(1) - 2)])
    return my_smoothed_loss(logits, targets, smoothing, pad_id) - torch.special.entr(shares).sum()


warmup = Exercise(
    task="The paper's learning rate at a step, counted from 1: up in a line until `warmup`, then down "
    "as 1/√step. For a wider model it is lower, as 1/√d_model. A number.",
    cases=lambda: [(50, 16, 200), (200, 64, 200), (800, 64, 200), (4, 100, 9), (1, 256, 25)],
    hints=(
        "Two curves, one that rises with the step and one that falls. Which of them counts at a step: "
        "the lower one.",
        "They must meet at `warmup`: the falling one is step^−½, the rising one step · warmup^−3/2.",
        "`d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)`.",
    ),
    passed="The highest rate is 1/√(d_model · warmup). What happens to it if the warm-up is four times as "
    "long?",
    tolerance=1e-7,
)


@warmup.solution
def my_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@warmup.solution
def _(step, d_model, warmup):
    peak = 1 / (d_model * warmup) ** 0.5
    if step < warmup:
        return peak * step / warmup
    return peak * (warmup / step) ** 0.5


@warmup.mistake("You take the higher of the two curves. The lower one counts: `min`.")
def _(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@warmup.mistake("`d_model` is missing: the whole is divided by its root.")
def _(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)


@warmup.mistake("You multiply by √d_model. A wider model gets a lower rate: divide.")
def _(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@warmup.mistake("You divide by d_model. It is its root.")
def _(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model


@warmup.mistake("The rise is there, the fall is not: after `warmup` the rate goes down as 1/√step.")
def _(step, d_model, warmup):
    return (d_model * warmup) ** -0.5 * min(1, step / warmup)


@warmup.mistake("The fall is there, the rise is not: no warm-up.")
def _(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5


@warmup.mistake(
    "Your two curves do not meet at `warmup`: the rising one is step · warmup^−3/2, so that both are "
    "warmup^−½ there."
)
def _(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@warmup.mistake(
    "Your highest rate is 1/√d_model, whatever the warm-up. It is 1/√(d_model · warmup)."
)
def _(step, d_model, warmup):
    return d_model**-0.5 * min(step / warmup, (warmup / step) ** 0.5)


@warmup.mistake("Your fall is as 1/step. It is slower: 1/√step.")
def _(step, d_model, warmup):
    return (d_model * warmup) ** -0.5 * min(step / warmup, warmup / step)


@warmup.mistake("You count the steps from 0. The first step is 1.")
def _(step, d_model, warmup):
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


@warmup.mistake(
    "Your two curves do not meet at `warmup`: the rising one is step · warmup^−3/2, so that both are "
    "warmup^−½ there."
)
def _(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


@warmup.mistake("The first step is 1, not 0: do not subtract.")
def _(step, d_model, warmup):
    before = step - 1
    return d_model**-0.5 * min(before**-0.5 if before else float("inf"), before * warmup**-1.5)
