"""Teacher forcing and masking: what a model reads, must say, and is charged for. Lessons 05, 18."""

import torch
import torch.nn.functional as F

from transformer_lib.exercises.checking.machinery import Exercise

shift = Exercise(
    task="`target` holds ids that end in eos, (B, T), padded with 0. Return what the decoder reads: "
    "bos in front, the last column gone, the same shape.",
    cases=lambda: [
        (torch.tensor([[7, 8, 9, 2], [5, 2, 0, 0], [6, 4, 2, 0]]), 1),
        (torch.tensor([[5, 2, 0], [4, 2, 0]]), 3),
    ],
    hints=(
        "At the first step the decoder has read nothing but bos; at the second, bos and the first "
        "word.",
        "All columns but the last are `target[:, :-1]`.",
        "`torch.full_like(target[:, :1], bos)` is a column of bos. `torch.cat([…, …], dim=1)` puts "
        "it in front.",
    ),
    passed="Position t reads the words before t, and must say word t.",
)


@shift.solution
def my_shift(target, bos):
    first = torch.full_like(target[:, :1], bos)
    return torch.cat([first, target[:, :-1]], dim=1)


@shift.solution
def _(target, bos):
    read = target.roll(1, dims=1)
    read[:, 0] = bos
    return read


@shift.mistake(
    "The decoder reads the very word it must say. It would learn to copy its input, and could not "
    "write a word on its own."
)
def _(target, bos):
    return target


@shift.mistake("The first column of the target is lost, and no bos was put in: you shifted left.")
def _(target, bos):
    return torch.cat([target[:, 1:], torch.zeros_like(target[:, :1])], dim=1)


@shift.mistake("bos is in front, but the last column is still there: drop it.")
def _(target, bos):
    return torch.cat([torch.full_like(target[:, :1], bos), target], dim=1)


@shift.mistake("bos replaced the first word. It goes in front of it, and the last column goes.")
def _(target, bos):
    read = target.clone()
    read[:, 0] = bos
    return read


@shift.mistake("The last word came round to the front. There must be bos.")
def _(target, bos):
    return target.roll(1, dims=1)


@shift.mistake(
    "You shifted the sentences, each into the row below. A row is a sentence: shift along dim=1."
)
def _(target, bos):
    return torch.cat([torch.full_like(target[:1], bos), target[:-1]])


@shift.mistake("The last column is gone, as it should be, but no bos was put in front.")
def _(target, bos):
    return target[:, :-1]


@shift.mistake(
    "You also took the eos out of the short sentences. Leave it: what the decoder says after it is "
    "padding, and is not charged."
)
def _(target, bos):
    first = torch.full_like(target[:, :1], bos)
    read = target[:, :-1]
    return torch.cat([first, torch.where(read == 2, 0, read)], dim=1)


def _logits():
    torch.manual_seed(11)
    targets = torch.tensor([[5, 6, 2, 0], [4, 2, 0, 0], [3, 5, 4, 2]])
    return [
        (torch.randn(3, 4, 7), targets),
        (torch.randn(2, 3, 5), torch.tensor([[4, 2, 0], [2, 0, 0]])),
    ]


loss = Exercise(
    task="Mean cross-entropy in nats over the real words: logits (B, T, V) and targets (B, T), in "
    "which 0 is padding. Padding counts neither in the sum nor in the number. Write it without "
    "torch's `cross_entropy`.",
    cases=_logits,
    without="cross_entropy",
    hints=(
        "The loss of one word is minus the log-probability of the right id: `log_softmax`, then "
        "`gather`.",
        "`real = targets != 0` says which positions count.",
        "`log_p = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]`, then the mean of "
        "`-log_p[real]`.",
    ),
    passed="e to this loss is the perplexity: among how many words the model hesitates.",
)


@loss.solution
def my_loss(logits, targets):
    real = targets != 0
    log_probs = logits.log_softmax(dim=-1)
    of_target = log_probs.gather(-1, targets[..., None])[..., 0]
    return -(of_target * real).sum() / real.sum()


@loss.solution
def _(logits, targets):
    p = logits.double().exp() / logits.double().exp().sum(dim=-1, keepdim=True)
    right = [
        -p[i, t, word].log() for i, row in enumerate(targets) for t, word in enumerate(row) if word
    ]
    return (sum(right) / len(right)).float()


@loss.mistake("Padding is counted: the model is taught to say padding, and short sentences pay.")
def _(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@loss.mistake(
    "Padding is left out of the sum, but you divide by all positions. The more padding, the "
    "smaller the loss: divide by the number of real words."
)
def _(logits, targets):
    losses = F.cross_entropy(logits.mT, targets, reduction="none")
    return (losses * (targets != 0)).mean()


@loss.mistake(
    "You averaged each sentence first, then the sentences. A word in a short sentence then counts "
    "more than one in a long sentence."
)
def _(logits, targets):
    real = targets != 0
    losses = F.cross_entropy(logits.mT, targets, reduction="none") * real
    return (losses.sum(dim=1) / real.sum(dim=1)).mean()


@loss.mistake("This is the sum. Divide by the number of real words, or long batches weigh more.")
def _(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0, reduction="sum")


@loss.mistake("Your loss is negative. Log-probabilities are: a minus sign is missing.")
def _(logits, targets):
    return -F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)


@loss.mistake("A softmax too many: cross_entropy takes logits and applies its own.")
def _(logits, targets):
    probabilities = logits.softmax(dim=-1)
    return F.cross_entropy(probabilities.flatten(0, 1), targets.flatten(), ignore_index=0)


@loss.mistake(
    "You gathered the logits as they are. They are no log-probabilities yet: `log_softmax` first."
)
def _(logits, targets):
    real = targets != 0
    return -(logits.gather(-1, targets[..., None])[..., 0] * real).sum() / real.sum()


@loss.mistake(
    "You divided by the number of sentences. A long sentence is then charged more than a short one "
    "for words just as good: divide by the real words."
)
def _(logits, targets):
    losses = F.cross_entropy(logits.mT, targets, reduction="none") * (targets != 0)
    return losses.sum() / len(targets)


@loss.mistake(
    "Your softmax runs over the steps, dim=1. Those that compete for one position are the V words: "
    "the last axis."
)
def _(logits, targets):
    real = targets != 0
    log_probs = logits.log_softmax(dim=1)
    return -(log_probs.gather(-1, targets[..., None])[..., 0] * real).sum() / real.sum()


@loss.mistake(
    "You took the mean of the probabilities, then its logarithm. Logarithm first: a word that was "
    "thought impossible must cost much, whatever the others were given."
)
def _(logits, targets):
    probabilities = logits.softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
    return -probabilities[targets != 0].mean().log()


def _chosen():
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 2], [11, 12, 13, 14, 2, 0, 0]])
    chosen = torch.tensor([[1, 0, 1, 1, 0, 1, 0], [0, 1, 1, 0, 0, 0, 0]]) == 1
    dice = torch.tensor(
        [[0.10, 0.95, 0.85, 0.97, 0.05, 0.80, 0.3], [0.2, 0.90, 0.79, 0.5, 0.85, 0.1, 0.92]]
    )
    others = torch.tensor([[21, 22, 23, 24, 25, 26, 27], [28, 29, 30, 31, 32, 33, 34]])
    return [(ids, chosen, dice, others), tuple(x[:, 1:4] for x in (ids, chosen, dice, others))]


hide = Exercise(
    task="BERT's masking. `ids` (B, T) are padded with 0; `chosen` (B, T) is True for the words that "
    "are asked for. For a chosen word `dice` (B, T) decides: below 0.8 the model reads 3, the mark; "
    "from 0.8 to below 0.9 the id of `others` (B, T); else the word itself. Return the pair (what "
    "is read, what must be said): what must be said is the right id where a word is chosen, and 0 "
    "elsewhere. `ids` stays as it is.",
    cases=_chosen,
    hints=(
        "Two tensors of the shape of `ids`. Start with what must be said: it needs `chosen` alone.",
        "`torch.where(condition, a, b)` takes a where the condition holds, and b elsewhere; "
        "conditions join with `&`.",
        "`marked = chosen & (dice < 0.8)` and `swapped = chosen & (dice >= 0.8) & (dice < 0.9)`.",
    ),
    passed="A word may be asked for that stands there to be read: the model cannot know which.",
)


@hide.solution
def my_hide(ids, chosen, dice, others):
    marked = chosen & (dice < 0.8)
    swapped = chosen & (dice >= 0.8) & (dice < 0.9)
    reads = torch.where(marked, 3, torch.where(swapped, others, ids))
    return reads, torch.where(chosen, ids, 0)


@hide.solution
def _(ids, chosen, dice, others):
    reads, says = ids.clone(), ids.clone()
    reads[chosen & (dice < 0.9)] = others[chosen & (dice < 0.9)]
    reads[chosen & (dice < 0.8)] = 3
    says[~chosen] = 0
    return reads, says


@hide.mistake(
    "Every chosen word became the mark. One in ten becomes another word, and one in ten stays."
)
def _(ids, chosen, dice, others):
    return torch.where(chosen, 3, ids), torch.where(chosen, ids, 0)


@hide.mistake(
    "Every word is asked for. Those that were not chosen can be read off: they teach to copy."
)
def _(ids, chosen, dice, others):
    return my_hide(ids, chosen, dice, others)[0], ids


@hide.mistake(
    "Only what became the mark is asked for. The swapped and the untouched words were chosen, too."
)
def _(ids, chosen, dice, others):
    reads = my_hide(ids, chosen, dice, others)[0]
    return reads, torch.where(chosen & (dice < 0.8), ids, 0)


@hide.mistake(
    "Only words that look different are asked for. The chosen ones that stayed are asked for, too."
)
def _(ids, chosen, dice, others):
    reads = my_hide(ids, chosen, dice, others)[0]
    return reads, torch.where(reads != ids, ids, 0)


@hide.mistake("`dice` decided for all words. It counts only where a word was chosen.")
def _(ids, chosen, dice, others):
    reads = torch.where(dice < 0.8, 3, torch.where(dice < 0.9, others, ids))
    return reads, torch.where(chosen, ids, 0)


@hide.mistake("What must be said is what is read. It should be the right id, that of `ids`.")
def _(ids, chosen, dice, others):
    reads = my_hide(ids, chosen, dice, others)[0]
    return reads, torch.where(chosen, reads, 0)


@hide.mistake("The swapped words are missing: from 0.8 to below 0.9 the id of `others` is read.")
def _(ids, chosen, dice, others):
    return torch.where(chosen & (dice < 0.8), 3, ids), torch.where(chosen, ids, 0)


@hide.mistake("The pair is the wrong way round: first what is read, then what must be said.")
def _(ids, chosen, dice, others):
    return my_hide(ids, chosen, dice, others)[::-1]
