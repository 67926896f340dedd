"""Teacher forcing and masking: what a model reads, must say, and is charged for. Lessons 05, 18."""

from collections import Counter

import torch

from transformer_lib.exercises.checking.machinery import Exercise

_T, _F = True, False


def _read_at(place, target, bos):
    row, step = place
    if step == 0:
        return f"The entry that is marked: at step 0 every sentence reads bos, {bos}."
    word = target[row, step - 1]
    return f"The entry that is marked: step {step} reads what step {step - 1} had to say, {word}."


shift = Exercise(
    sections=("05 What does the decoder read?",),
    task="`target` (batch, length) holds ids that end in eos, 2, and are padded with 0. Return what the "
    "decoder reads: the id `bos` in front of every sentence, the last column gone. The shape stays (batch, "
    "length), the ids stay integers, and `target` itself is not changed.",
    cases=lambda: [
        (torch.tensor([[5, 4, 2], [6, 2, 0]]), 1),
        (torch.tensor([[4, 5, 6, 2]]), 3),
        (torch.tensor([[5, 2, 0], [4, 7, 2], [2, 0, 0]]), 3),
        (torch.tensor([[7, 8, 9, 6, 2], [5, 2, 0, 0, 0], [6, 4, 2, 0, 0]]), 1),
        (torch.tensor([[9, 2, 0, 0], [8, 4, 5, 2]]), 3),
    ],
    hints=(
        "At step 0 the decoder has nothing to read but bos. At step 1 it reads the token that it had to say "
        "at step 0, and so on. So every token moves one step to the right, and bos fills the gap in front.",
        "The last column is never read, because no step comes after it. `target[:, :-1]` takes all rows, "
        "and all columns but the last.",
        "A column of bos has the shape (batch, 1), as `target[:, :1]` has. `torch.full_like` makes a tensor "
        "of the shape and the type of another and fills it with one number. `torch.cat` along `dim=1` then "
        "lays the column and the rest side by side.",
    ),
    passed="Step t reads the tokens before t, and must say token t.",
    without=("shift_right",),
    gaps=("target[:, :1], bos", "target[:, :-1]", "[first, rest], dim=1"),
    how=_read_at,
)


@shift.solution
def my_shift(target, bos):
    # Every sentence begins with bos: a column of it, integers as the target's own.
    first = torch.full_like(target[:, :1], bos)  # (batch, 1)
    # The last column is read by no step, because none comes after it.
    rest = target[:, :-1]  # (batch, length - 1)
    # Side by side: the steps are axis 1.
    return torch.cat([first, rest], dim=1)  # (batch, length)


@shift.solution
def _(target, bos):
    read = target.roll(1, dims=1)
    read[:, 0] = bos
    return read


shift.edits("""
return torch.cat([first, rest], dim=1) → return target
    The decoder reads the very token that it must say. It would learn to copy its input, and could not
    write a word on its own.
return torch.cat([first, rest], dim=1) → return torch.cat([target[:, 1:], torch.zeros_like(first)], dim=1)
return torch.cat([first, rest], dim=1) → return target[:, 1:]
return torch.cat([first, rest], dim=1) → return target.roll(-1, dims=1)
    You shifted left: each sentence lost its first token, and no bos was put in. Shift right, so that a step
    reads what the step before had to say.
[first, rest] → [target[:, 1:], first]
    You shifted left, and bos stands at the end. It goes in front, and it is the last column that goes.
[first, rest] → [rest, first]
[first, rest] → [target, first]
    bos stands at the end. The decoder reads it at step 0, so it goes in front.
[first, rest] → [first, target]
    bos is in front, but the last column is still there, so the shape has grown: drop that column.
[first, rest] → [first, target[:, 1:]]
    bos replaced the first token. It goes in front of it, and the last column goes.
return torch.cat([first, rest], dim=1) → return target.roll(1, dims=1)
return torch.cat([first, rest], dim=1) → return target.roll(1)
    `roll` brings what falls off at the end in again at the front. There must be bos.
target[:, :1], bos → target[:1], bos ; target[:, :-1] → target[:-1] ; dim=1 → dim=0
return torch.cat([first, rest], dim=1) → return target.roll(1, dims=0)
    You shifted the sentences, each into the row below. A row is a sentence: shift along axis 1.
return torch.cat([first, rest], dim=1) → return rest
    The last column is gone, as it should be, but no bos was put in front.
rest = target[:, :-1] → rest = target[:, :-1].masked_fill(target[:, :-1] == 2, 0)
    You took the eos out of the short sentences. It is the last column that goes, not the last token of each
    sentence: what is said after eos is padding, and costs nothing.
bos) → bos, dtype=torch.float)
    You return floats, as `torch.ones` and `torch.zeros` make them unless told
    otherwise. `nn.Embedding` refuses floats: let the column of bos have the type of `target`.
torch.full_like(target[:, :1], bos) → torch.ones_like(target[:, :1])
torch.full_like(target[:, :1], bos) → torch.ones(len(target), 1)
    In front stands 1, whatever bos is: use the `bos` that is given. (`torch.ones` alone would make floats,
    too, and `nn.Embedding` refuses them.)
torch.full_like(target[:, :1], bos) → torch.zeros_like(target[:, :1])
torch.full_like(target[:, :1], bos) → torch.zeros(len(target), 1)
    In front stands 0, which is padding. There must be `bos`.
torch.full_like(target[:, :1], bos) → target[:, :1]
    The first token stands there twice. In front of it goes `bos`.
torch.full_like(target[:, :1], bos) → bos
torch.full_like(target[:, :1], bos) → [bos]
torch.full_like(target[:, :1], bos) → torch.tensor(bos)
torch.full_like(target[:, :1], bos) → torch.tensor([bos])
torch.full_like(target[:, :1], bos) → torch.tensor([[bos]])
torch.full_like(target[:, :1], bos) → torch.tensor([[bos], [bos]])
torch.full_like(target[:, :1], bos) → torch.full((target.size(1), 1), bos)
    `torch.cat` joins tensors and repeats nothing: bos is needed once for every sentence, as a column of the
    shape (batch, 1).
[first, rest], dim=1 → [first, rest]
    `torch.cat` joins along axis 0 unless told otherwise, and puts one below the other. bos goes beside the
    sentences: `dim=1`.
return torch.cat → target[:, 1:], target[:, 0] = rest.clone(), bos ⏎ return target ⏎ torch.cat
    The caller's `target` is changed, and the model would be charged for what it
    read. Write into a `target.clone()`, or join two pieces.
return torch.cat → target[:, 1:] = rest ⏎ target[:, 0] = bos ⏎ return target ⏎ torch.cat
first = → x = target.clone() ⏎ x[:, 1:] = x[:, :-1] ⏎ x[:, 0] = bos ⏎ return x ⏎ first =
    You write into a tensor while you read from it: each column takes over what has just been written into
    the one before. Read from `target` and write into a `target.clone()`.
first = → x = target.clone() ⏎ x[:, 1:] = x[:, :1] ⏎ x[:, 0] = bos ⏎ return x ⏎ first =
    In yours every step but step 0 reads the first word of the sentence. A loop that copies each column into the next
    does that, because it reads what it has just overwritten: read from `target`, and write into a copy.
first = → target[:, 1:] = target[:, :1].clone() ⏎ target[:, 0] = bos ⏎ return target ⏎ first =
    You write into `target` itself while you read from it, so every step but step 0 reads the first word, and the
    caller's ids are gone. Read from `target`, and write into a copy.
return torch.cat([first, rest], dim=1) → return torch.full_like(target, bos)
    In yours every step reads bos. A loop that copies each column into the next, after bos was put in front, does that:
    it reads what it has just overwritten. Read from `target`, and write into a copy.
return torch.cat → target[:, 0] = bos ⏎ return target ⏎ torch.cat
    You wrote bos over the first token, and into the caller's `target`. It goes in front of the first token,
    in a new tensor, and the last column goes.
""")


def _logits():
    torch.manual_seed(11)
    targets = torch.tensor([[5, 6, 2, 0], [4, 2, 0, 0], [3, 5, 4, 2]])
    same = [[4, 2, 0, 0, 0], [2, 0, 0, 0, 0], [4, 4, 2, 0, 0], [1, 3, 4, 3, 2], [4, 1, 3, 2, 0]]
    first = [[0.0, 0, 0, 0, 1, 2], [1, 0, 2, 0, 1, 0]]
    second = [[0.0, 0, 0, 1, 0, 2], [3, 1, 0, 0, 0, 1]]
    loud = torch.tensor([[[0.0, 0, 0, 1, 100, 0], [1, 99, 100, 0, 2, 0], [2, 0, 1, 0, 0, 0]]])
    return [
        (torch.tensor([first, second]), torch.tensor([[4, 2], [5, 0]])),
        (torch.randn(1, 3, 5), torch.tensor([[4, 2, 0]])),
        (loud, torch.tensor([[4, 2, 0]])),
        (
            torch.randn(5, 5, 5),
            torch.tensor(same),
        ),  # and an id above 3 everywhere, so that no answer divides by 0
        (torch.randn(2, 3, 5), torch.tensor([[4, 2, 0], [3, 1, 2]])),
        (torch.randn(3, 4, 7), targets),
        (3 * torch.randn(4, 12, 7), torch.randint(1, 7, (4, 12))),  # their product is 0 in 32 bits
    ]


def _one_loss(place, logits, targets):
    real = (targets != 0).nonzero().tolist()
    if len(real) > 3:
        return ""
    counted = (Counter(logits[*at].tolist()) for at in real)
    sums = (
        " + ".join(f"{n}·e^{x:.3g}" if n > 1 else f"e^{x:.3g}" for x, n in sorted(count.items()))
        for count in counted
    )
    costs = [
        f"ln(({total}) / e^{logits[*at, targets[*at]]:.3g})"
        for total, at in zip(sums, real, strict=True)
    ]
    return f"The mean of {len(real)} costs: ({' + '.join(costs)}) / {len(real)}."


loss = Exercise(
    sections=("05 What does a word cost?",),
    task="Mean cross-entropy in nats over the real tokens: logits (batch, length, vocabulary) and targets "
    "(batch, length), in which 0 is padding, to a tensor without axes. Every other id is real, eos too. "
    "Padding counts neither in the sum nor in the number of tokens. Logits may be around 100. Write it "
    "without torch's `cross_entropy`.",
    cases=_logits,
    hints=(
        "The cost of one token is minus the logarithm of the probability that the model gives to the right "
        "id. The mean is taken over the real tokens alone: `targets != 0` says which they are.",
        "`log_softmax` over the last axis gives the logarithm of every probability. e¹⁰⁰ does not fit into a "
        "number; `log_softmax` takes off the largest logit first.",
        "`gather` picks from each position the entry of the right id. Its index must have as many axes as "
        "the tensor it picks from: `targets[..., None]` has an axis of length 1 at the end, and `[..., 0]` "
        "takes that axis off again. A mask in square brackets, `x[mask]`, keeps the entries where it is True.",
    ),
    passed="e to this loss is the perplexity: among how many tokens the model hesitates.",
    without=("cross_entropy", "CrossEntropy"),
    gaps=("targets != 0", "logits.log_softmax(dim=-1)", "-1, targets[..., None]", "-right[real]"),
    how=_one_loss,
)


@loss.solution
def my_loss(logits, targets):
    # Nothing is said at padding, id 0, so it costs nothing.
    real = targets != 0  # (batch, length)
    # The tokens of the vocabulary compete at each position: softmax over the last axis.
    log_p = logits.log_softmax(dim=-1)  # (batch, length, vocabulary)
    # Of each position only the right id counts. gather wants an index with as many axes.
    right = log_p.gather(-1, targets[..., None])[..., 0]  # (batch, length)
    # Log-probabilities are negative, costs are positive. Padding is left out.
    costs = -right[real]  # (real tokens,)
    return costs.mean()


@loss.solution
def _(logits, targets):
    p = logits.double().exp() / logits.double().exp().sum(dim=-1, keepdim=True)
    right = [
        -p[i, t, word].log() for i, row in enumerate(targets) for t, word in enumerate(row) if word
    ]
    return (sum(right) / len(right)).float()


loss.edits("""
[real] →
    Padding is counted: the model is taught to say padding, and short sentences pay.
costs.mean() → costs.sum() / targets.numel()
    Padding is left out of the sum, but you divide by all positions. The more padding, the smaller the
    loss: divide by the number of real tokens.
costs = -right[real] → costs = -right ; costs.mean() → costs.sum() / real.sum()
    You divide by the number of real tokens, but padding is still in the sum. Leave it out there too.
costs = -right[real] → costs = -(right * real).sum(dim=1) / real.sum(dim=1)
costs = -right[real] → costs = (-(right * real).sum(dim=1) / real.sum(dim=1))[real.any(dim=1)]
costs = -right[real] → costs = -(right * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
    You averaged each sentence first, and then the means. Tokens then do not count alike: one in a short sentence
    counts more. Average over all real tokens at once.
costs = -right[real] → costs = -(right * real).sum(dim=0) / real.sum(dim=0).clamp(min=1)
    You averaged each step over its sentences first, and then the means. Tokens then do not count alike: at a late
    step few are real, and each counts more. Average over all real tokens at once.
costs.mean() → costs.sum()
    This is the sum. Divide by the number of real tokens, or long batches weigh more.
costs.mean() → costs.sum() / len(targets)
costs.mean() → costs.sum() / targets.size(1)
    You divided by the number of sentences or by the length of the batch. Divide by the number of real tokens.
costs.mean() → costs.sum() / costs.count_nonzero()
    You count the costs that are not 0. A token of which the model is sure costs 0 and is real all the same:
    count where the targets are not 0.
costs = - → costs =
    Your loss is negative, as log-probabilities are: a minus sign is missing.
logits.log_softmax → logits.softmax(dim=-1).log_softmax
    There is a softmax too many. `log_softmax` takes the logits themselves and applies its own.
logits.log_softmax(dim=-1) → torch.cat([logits[..., :1], logits[..., 1:].log_softmax(dim=-1)], dim=-1)
    You leave <pad> out of the softmax. It is an id of the vocabulary like the others, and what probability the model
    gives to it, the right one lacks: the softmax goes over the whole last axis.
logits.log_softmax → logits.clamp(max=50).log_softmax
logits.log_softmax → logits.clamp(max=80).log_softmax
logits.log_softmax → logits.clamp(-50, 50).log_softmax
    Large logits become equal in yours: you cut them off. `log_softmax` takes off the largest one first, so it bears
    them as they are.
logits.log_softmax(dim=-1) → logits
logits.log_softmax(dim=-1) → logits.log()
    You took the logits as they are, or their logarithm. They are no probabilities yet: `log_softmax` first.
(dim=-1) → (dim=1)
    Your softmax runs over the steps. At each position the tokens of the vocabulary compete: the last axis.
(dim=-1) → (dim=0)
    Your softmax runs over the sentences. At each position the tokens of the vocabulary compete: the last axis.
-right[real] → -right[real].exp().mean().log()
    You took the mean of the probabilities, then its logarithm. Logarithm first: a token that was thought
    impossible must cost much, whatever the others were given.
-right[real] → -right[real].exp().prod().log() / real.sum() ; mean → sum
costs.mean() → -right[real].exp().prod().log() / real.sum()
    You multiply all probabilities before you take the logarithm. On paper that is the same, but the product of many
    small numbers is soon 0 for a computer, and its logarithm −∞. Logarithms first, then add them up.
-right[real] → -right[real].exp()
-right[real] → right[real].exp()
-right[real] → 1 - right[real].exp()
    The logarithm is missing: this is made of the mean probability. A cost is −ln p, which grows without limit
    when p goes to 0.
logits.log_softmax → 1 / torch.tensor(2.0).log() * logits.log_softmax
logits.log_softmax → 1 / torch.tensor(10.0).log() * logits.log_softmax
    Your logarithm has the base 2 or 10. The loss is measured with the natural one, `log`.
.mean() → .mean().exp()
    This is the perplexity, e to the loss. Asked is the loss itself.
log_p.gather(-1, targets[..., None])[..., 0] → log_p.amax(dim=-1)
    You took the probability of the most probable token. The cost is that of the right one, whose id stands
    in `targets`.
-right[real] → -(log_p.exp() * log_p).sum(dim=-1)[real]
    This is the entropy of the model's own distribution. It does not know the targets: the right id alone
    counts, −ln p.
targets != 0 → logits.argmax(dim=-1) != 0
    You asked the model which positions are padding. The targets know: `targets != 0`.
targets != 0 → targets == 0
    Your mask is the wrong way round: you charge for the padding, and for nothing else.
targets != 0 → targets > 2
targets != 0 → targets > 3
targets != 0 → targets > 1
targets != 0 → (targets != 0) & (targets != 2)
    You leave out other ids than 0, the padding. eos, 2, and every other id are real: the model must learn to end a
    sentence too.
costs.mean() → costs
costs.mean() → -right * real
costs.mean() → -right
    These are the costs one by one. Asked is one number, their mean over the real tokens.
-right[real] → -log_p[real]
-right[real] → -log_p[real].sum(dim=-1)
costs.mean() → costs.mean() / logits.size(-1)
    You averaged or added up over the whole vocabulary. A position has one cost, that of the right id: pick it
    with `gather`.
.gather(-1, targets[..., None])[..., 0] → [..., targets]
.gather(-1, targets[..., None])[..., 0] → [..., targets] ; -right[real] → -right * real / real.sum() ; mean → sum
.gather(-1, targets[..., None])[..., 0] → [..., targets[targets != 0]]
.gather(-1, targets[..., None])[..., 0] → [torch.arange(len(targets)), torch.arange(targets.size(1)), targets]
.gather(-1, targets[..., None])[..., 0] → [:, torch.arange(targets.size(1)), targets]
.gather(-1, targets[..., None])[..., 0] → [torch.arange(len(targets))[:, None], targets]
.gather(-1, targets[..., None])[..., 0] → [torch.arange(len(targets)), :, targets]
.gather(-1, targets[..., None])[..., 0] → [targets]
    Your index does not take from each position the entry of its own target: with `log_p[..., targets]` every
    position meets the targets of all. `gather` along the last axis takes from each its own.
-1, targets[..., None] → -1, targets
    `gather` wants an index with as many axes as the tensor it picks from: `targets[..., None]` has a third
    one, of length 1.
-1, targets[..., None] → 1, targets[..., None]
    You gather along another axis than the vocabulary. An id is a place in the last axis, −1.
[..., 0] → ; -right[real] → -(right * real) / real.sum() ; mean → sum
    After `gather` the axis of length 1 is still there, (batch, length, 1), and the mask (batch, length)
    meets the wrong axes. `[..., 0]` takes it off.
logits.log_softmax → (logits * real[..., None]).log_softmax ; [real] →
logits.log_softmax → (logits * real[..., None]).log_softmax ; -right[real] → -right / real.sum() ; mean → sum
    You set the logits of padding to 0. Equal logits cost ln V, not 0: leave padding out of the costs, and of
    their number.
-right[real] → -(right.exp() * real).log() / real.sum() ; mean → sum
    Yours is infinite wherever there is padding. If you multiply a probability by 0, its logarithm is −∞:
    pick out the real tokens with `x[real]` instead.
logits.log_softmax → logits.masked_fill(~real[..., None], -torch.inf).log_softmax ; [real] →
    Yours is NaN wherever there is padding. −∞ minus −∞ is NaN, and so is 0 times −∞: pick out the real
    tokens with `x[real]`, and neither multiply nor fill.
.mean() → .mean().item()
    You return a Python number, through which no gradient flows. Leave out `.item()`.
real = → logits, targets = logits[:, :-1], targets[:, 1:] ⏎ real =
real = → logits, targets = logits[:, 1:], targets[:, :-1] ⏎ real =
    You compare each position with the target of its neighbour. At position t of `targets` stands what position
    t must say: nothing is to be shifted here.
logits.log_softmax(dim=-1) → (logits.exp() / logits.exp().sum(dim=-1)).log()
    Each row of the vocabulary is to be divided by its own sum, but the sum has lost the last axis, and what
    is left meets other axes: `keepdim=True` keeps it as an axis of length 1. `log_softmax` does all this.
logits.log_softmax(dim=-1) → (logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()
logits.log_softmax(dim=-1) → logits - logits.exp().sum(dim=-1, keepdim=True).log()
    On paper this is right. But e¹⁰⁰ does not fit into a 32-bit number, so large logits give infinity or NaN.
    `log_softmax` takes off the largest logit first.
""")


def _chosen():
    def case(ids, chosen, dice):
        ids, chosen = torch.tensor(ids), torch.tensor(chosen)
        others = 21 + torch.arange(ids.numel()).view(ids.shape)
        return ids, chosen, torch.tensor(dice, dtype=torch.float64), others

    return [
        case(
            [[5, 6, 7], [8, 2, 0]],
            [[_T, _T, _T], [_F, _F, _F]],
            [[0.5, 0.85, 0.95], [0.1, 0.85, 0.93]],
        ),
        case([[5, 6, 7, 8, 2]], [[_T, _T, _T, _T, _F]], [[0.8, 0.9, 0.79, 0.89, 0.1]]),
        case(
            [[5, 6, 2], [8, 9, 2], [7, 2, 0]],
            [[_T, _T, _F], [_T, _T, _F], [_T, _F, _F]],
            [[0.82, 0.1, 0.99], [0.95, 0.3, 0.88], [0.05, 0.86, 0.4]],
        ),
        case(
            [[5, 6, 7, 2], [8, 9, 2, 0], [4, 2, 0, 0]],
            [[_T, _T, _T, _F], [_F, _T, _T, _F], [_T, _T, _F, _F]],
            [[0.1, 0.95, 0.85, 0.97], [0.5, 0.8, 0.89, 0.3], [0.9, 0.79, 0.85, 0.2]],
        ),
    ]


hide = Exercise(
    sections=("18 Hide words, not the future",),
    task="BERT's masking. `ids` (batch, length) are padded with 0; `chosen` (batch, length) is True for the "
    "tokens that are asked for. For a chosen token `dice` (batch, length) decides: below 0.8 the model reads "
    "3, the mark; from 0.8 to below 0.9 the id in `others` (batch, length); else the token itself. A token "
    "that is not chosen is read as it is. Return the pair (what is read, what must be said): what must be "
    "said is the right id where a token is chosen, and 0 elsewhere. Ids stay integers, and `ids` itself "
    "is not changed.",
    cases=_chosen,
    hints=(
        "Two tensors of the shape of `ids` are wanted. Begin with what must be said: it needs `chosen` "
        "alone, because every chosen token is asked for, whatever is read in its place.",
        "`torch.where(condition, a, b)` makes a new tensor that has the entry of a where the condition is "
        "True, and that of b elsewhere. Conditions are joined with `&`, and each comparison needs brackets "
        "of its own, because `&` binds more tightly than `<`.",
        "For what is read there are two conditions: chosen and below 0.8, and chosen and from 0.8 to below "
        "0.9. First put the ids of `others` where the second holds, then the mark where the first does.",
    ),
    passed="A token may be asked for that stands there to be read: the model cannot know which.",
    gaps=(
        "chosen & (dice < 0.8)",
        "(dice >= 0.8) & (dice < 0.9)",
        "swapped, others, ids",
        "chosen, ids, 0",
    ),
    draws="You draw numbers of your own. All that is drawn is given: `chosen` says which tokens are asked for, `dice` "
    "what is read in their place, and `others` which other ids. So the same call always gives the same.",
)


@hide.solution
def my_hide(ids, chosen, dice, others):
    # dice decides what becomes of the chosen tokens, and of no others.
    marked = chosen & (dice < 0.8)  # (batch, length)
    swapped = chosen & (dice >= 0.8) & (dice < 0.9)  # (batch, length)
    # What is neither swapped nor marked stays. torch.where makes a new tensor.
    reads = torch.where(swapped, others, ids)  # (batch, length)
    reads = torch.where(marked, 3, reads)  # (batch, length)
    # Every chosen token is asked for, whatever is read in its place.
    says = torch.where(chosen, ids, 0)  # (batch, length)
    return reads, says


@hide.solution
def _(ids, chosen, dice, others):
    reads, says = ids.clone(), ids.clone()
    reads[chosen & (dice < 0.9)] = others[chosen & (dice < 0.9)]
    reads[chosen & (dice < 0.8)] = 3
    says[~chosen] = 0
    return reads, says


hide.edits("""
marked = chosen & (dice < 0.8) → marked = chosen
    Every chosen token became the mark. One in ten becomes another token, and one in ten stays.
says = torch.where(chosen, ids, 0) → says = ids
    Every token is asked for. Those that were not chosen can be read off: they teach the model to copy.
says = torch.where(chosen → says = torch.where(marked
says = torch.where(chosen → says = torch.where(marked | swapped
    In yours only what became the mark, or was changed, is asked for. Those that stay were chosen too, and all chosen
    tokens are asked for.
torch.where(chosen, ids, 0) → torch.where(chosen, 0, ids)
    What must be said is the wrong way round: the right id where a token is chosen, 0 elsewhere.
torch.where(chosen, ids, 0) → torch.where(chosen, reads, 0)
    What must be said is what is read. It should be the right id, that of `ids`.
ids, 0 → ids, -100
ids, 0 → ids, 3
ids, 0 → ids, -1
    Where nothing must be said stands another number than 0, the padding. (−100 is what torch's `cross_entropy`
    leaves out unless told otherwise.)
says = torch.where(chosen, ids, 0) → says = ids[chosen]
return reads, says → return reads[chosen], ids[chosen]
    You return the chosen tokens alone, in one row. Both must have the shape of `ids`.
marked = chosen & → marked = ; swapped = chosen & → swapped =
marked = chosen & → marked =
swapped = chosen & → swapped =
swapped = chosen & (dice >= 0.8) & (dice < 0.9) → swapped = dice < 0.9
    `dice` decided also where no token was chosen. It counts only where one was.
chosen & → ~chosen & ; where(chosen → where(~chosen
chosen & → ~chosen &
    `chosen` is the wrong way round: True are the tokens that are asked for.
marked = chosen & → marked = chosen |
chosen & → chosen |
    `|` means or. A token must be chosen and its dice below the limit: `&`.
torch.where(swapped, others, ids) → ids
marked = chosen & (dice < 0.8) → marked = chosen & (dice < 0.9)
    The ids of `others` are missing: from 0.8 to below 0.9 they are read.
torch.where(swapped, others, ids) → others
    The id of `others` stands wherever there is no mark. It is read only from 0.8 to below 0.9.
others, ids) → others, torch.where(chosen, 0, ids))
    The chosen tokens that should stay are read as 0. From 0.9 on the token itself is read.
torch.where(swapped → torch.where(chosen & (dice >= 0.8)
(dice < 0.8) → (dice < 0.9) ; (dice >= 0.8) & (dice < 0.9) → (dice >= 0.9)
(dice < 0.8) → (dice <= 0.9) ; (dice >= 0.8) & (dice < 0.9) → (dice > 0.9)
    Every chosen token is changed. From 0.9 on it stays as it is.
reads = torch.where(marked, 3, reads) → reads = torch.where(chosen & (dice < 0.9), others, reads)
    Below 0.8 stands the id of `others`, not the mark. If you wrote the mark first, the condition `dice < 0.9`
    has overwritten it: write the mark last, or say `dice >= 0.8` too.
where(swapped, others, ids) → where(marked, others, ids) ; where(marked, 3, reads) → where(swapped, 3, reads)
    The two intervals are exchanged: below 0.8 the mark is read, from 0.8 to below 0.9 the id of `others`.
(dice < 0.8) → (dice > 0.8)
(dice < 0.8) → (dice >= 0.8)
(dice < 0.8) → (dice > 0.8) ; where(swapped, others, ids) → where(chosen & (dice < 0.8), others, ids)
(dice < 0.8) → (dice > 0.8) ; (dice >= 0.8) & (dice < 0.9) → (dice > 0.9)
(dice < 0.8) → (dice > 0.8) & (dice <= 0.9) ; (dice >= 0.8) & (dice < 0.9) → (dice > 0.9)
(dice < 0.8) → (dice >= 0.8) & (dice < 0.9) ; (dice >= 0.8) & (dice < 0.9) → (dice >= 0.9)
(dice < 0.8) → (dice >= 0.9)
(dice < 0.8) → (dice > 0.9)
(dice < 0.8) → (dice > 0.8) ; where(swapped, others, ids) → where(chosen, others, ids)
    The mark stands above 0.8. It is read below 0.8, in eight of ten cases.
(dice < 0.8) → (dice <= 0.8)
(dice >= 0.8) → (dice > 0.8)
(dice < 0.9) → (dice <= 0.9)
    A limit belongs to what comes after it: from 0.8 on, 0.8 included, the id of `others` is read, and from 0.9
    on the token itself.
(dice < 0.8) → (dice >= 0.1) & (dice < 0.9) ; (dice >= 0.8) & (dice < 0.9) → (dice < 0.1)
(dice < 0.8) → (dice >= 0.2) ; (dice >= 0.8) & (dice < 0.9) → (dice >= 0.1) & (dice < 0.2)
(dice < 0.8) → (dice >= 0.2) ; (dice >= 0.8) & (dice < 0.9) → (dice < 0.1)
(dice >= 0.8) & (dice < 0.9) → (dice >= 0.9)
    As often as asked, but for other values of `dice`: below 0.8 the mark is read, from 0.8 to below 0.9 the
    id of `others`, from 0.9 on the token itself.
(dice < 0.8) → (dice < 0.15)
(dice < 0.8) → (dice < 0.1)
    The mark is read below 0.8, in eight of ten cases. How many tokens are asked for, `chosen` says already.
others, ids) → others, torch.where(chosen, ids, 0))
    Tokens that were not chosen are read as 0. They are read as they are.
where(marked, 3 → where(marked, 0
where(marked, 3 → where(marked, 103
    The mark is the id 3. Yours is another.
others, ids) → ids, others)
3, reads) → reads, 3)
    `torch.where(condition, a, b)` takes a where the condition is True. Yours has a and b exchanged.
reads = torch.where(swapped, others, ids) → reads = ids.clone() ⏎ reads[swapped] = others
    `reads[swapped]` are the swapped entries alone, and `others` has all of them. Take the same ones:
    `others[swapped]`.
return reads, says → return says, reads
    The pair is the wrong way round: first what is read, then what must be said.
return reads, says → return [reads, says]
return reads, says → return torch.stack([reads, says])
    A pair is wanted: return a tuple, `return a, b`.
return reads, says → return reads
return reads, says → return says
    That is one of the two, and it is right. Return both as a tuple: `return a, b`.
says = → ids[swapped], ids[marked] = others[swapped], 3 ⏎ reads = ids ⏎ says =
    You wrote into the caller's `ids`, and what must be said is taken from them, where the right ids are
    gone. Work on `ids.clone()`.
return reads, says → ids[swapped], ids[marked] = others[swapped], 3 ⏎ return ids, says
    The caller's `ids` are changed. Work on `ids.clone()`.
ids, 0 → ids, 0.0
3, reads → 3.0, reads
ids, 0 → ids, 0.0 ; 3, reads → 3.0, reads
    There are floats among your ids, and `nn.Embedding` refuses floats. Ids are
    integers: leave out `.float()`, and let `torch.zeros_like(ids)` make the zeros.
chosen & (dice < 0.8) → chosen & dice < 0.8
chosen & (dice < 0.8) → (dice < 0.8 & chosen)
    `&` binds more tightly than `<`, so `chosen & dice` comes first, and torch cannot join a mask and numbers. Put
    each comparison into brackets: `chosen & (dice < 0.8)`.
chosen & (dice < 0.8) → chosen and (dice < 0.8)
    `and`, and a chain as `0.8 <= dice < 0.9`, want one truth value, and here is one for every token. Join
    the conditions with `&`, each in brackets.
""")
