"""Batches of similar length, and what each process' loss weighs.  Lesson 17."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise

bucket_batches = Exercise(
    task="Groups of indices into `lengths`, for batches with little padding: the shortest sentences "
    "first, as many in a batch as fit. A batch is padded to its longest sentence, and number × "
    "longest must be at most `max_tokens`. Of two sentences of the same length the earlier comes first. "
    "Every index once, no sentence longer than `max_tokens`. A list of lists.",
    cases=lambda: [
        ([7, 3, 5, 2, 9, 4], 12),
        ([4, 1, 6, 3], 8),
        ([5, 2, 4, 1, 3], 10),
        ([5, 8, 2, 3, 6, 1, 4, 7, 10], 10),
        ([2], 2),
        ([1, 2, 1, 3, 2, 1, 2], 4),
    ],
    hints=(
        "Two steps: the indices in the order of their lengths (`sorted` takes a `key`), then one batch "
        "after the other. When does a sentence not fit any more?",
        "Sorted upwards, the newest sentence is the longest of its batch: with it the batch takes "
        "`lengths[i] * (len(batch) + 1)` positions.",
        "`for i in sorted(range(len(lengths)), key=lengths.__getitem__)`: if there is no batch yet, or the "
        "newest one would be too large with i, begin a new one, `batches.append([])`; then "
        "`batches[-1].append(i)`.",
    ),
    passed="Short sentences make batches of many rows. Which order should training see the batches in?",
)


@bucket_batches.solution
def my_bucket_batches(lengths, max_tokens):
    batches = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if not batches or lengths[i] * (len(batches[-1]) + 1) > max_tokens:
            batches.append([])
        batches[-1].append(i)
    return batches


@bucket_batches.solution
def _(lengths, max_tokens):
    order = torch.tensor(lengths).argsort(stable=True).tolist()
    batches = []
    while order:
        size = max(n for n in range(1, len(order) + 1) if lengths[order[n - 1]] * n <= max_tokens)
        batches.append(order[:size])
        order = order[size:]
    return batches


def _filled(order, lengths, fits):
    """Batches in this order; `fits(batch, i)` says whether i may join."""
    batches = []
    for i in order:
        if not batches or not fits(batches[-1], i):
            batches.append([])
        batches[-1].append(i)
    return batches


def _by_length(lengths, **options):
    return sorted(range(len(lengths)), key=lambda i: lengths[i], **options)


@bucket_batches.mistake(
    "You take the sentences as they come. A long one then pads the short ones beside it: sort first."
)
def _(lengths, max_tokens):
    def fits(batch, i):
        return max(lengths[j] for j in [*batch, i]) * (len(batch) + 1) <= max_tokens

    return _filled(range(len(lengths)), lengths, fits)


@bucket_batches.mistake(
    "You take the sentences as they come, and count with the newest alone. Sort first: then the newest is the "
    "longest of its batch."
)
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[i] * (len(batch) + 1) <= max_tokens

    return _filled(range(len(lengths)), lengths, fits)


@bucket_batches.mistake(
    "You add up the real lengths. The batch is a rectangle: number × longest, padding included."
)
def _(lengths, max_tokens):
    def fits(batch, i):
        return sum(lengths[j] for j in [*batch, i]) <= max_tokens

    return _filled(_by_length(lengths), lengths, fits)


@bucket_batches.mistake(
    "Some of your batches are too large: the new sentence is the longest, and the whole batch is padded to it. "
    "You still count with the longest before it."
)
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[batch[-1]] * (len(batch) + 1) <= max_tokens

    return _filled(_by_length(lengths), lengths, fits)


@bucket_batches.mistake(
    "Your batches end one sentence too late: you look at the size before the new sentence, not with it."
)
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[i] * len(batch) <= max_tokens

    return _filled(_by_length(lengths), lengths, fits)


@bucket_batches.mistake(
    "The sentence that makes a batch too large is already in it when you look. Ask first, then append."
)
def _(lengths, max_tokens):
    batches = [[]]
    for i in _by_length(lengths):
        batches[-1].append(i)
        if lengths[i] * len(batches[-1]) > max_tokens:
            batches.append([])
    return batches


@bucket_batches.mistake(
    "You append first, and end the batch once it has reached `max_tokens`: by then it may have passed it. Ask first, "
    "with the new sentence in mind."
)
def _(lengths, max_tokens):
    batches = [[]]
    for i in _by_length(lengths):
        if batches[-1] and lengths[batches[-1][-1]] * len(batches[-1]) >= max_tokens:
            batches.append([])
        batches[-1].append(i)
    return batches


@bucket_batches.mistake("A batch of exactly `max_tokens` positions is allowed: “at most” is ≤.")
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[i] * (len(batch) + 1) < max_tokens

    return _filled(_by_length(lengths), lengths, fits)


@bucket_batches.mistake("The last batch is missing: what is left over at the end is a batch too.")
def _(lengths, max_tokens):
    return my_bucket_batches(lengths, max_tokens)[:-1]


@bucket_batches.mistake(
    "These are the lengths. Wanted are the indices: which sentence, not how long it is."
)
def _(lengths, max_tokens):
    return [[lengths[i] for i in batch] for batch in my_bucket_batches(lengths, max_tokens)]


@bucket_batches.mistake(
    "These are pairs of index and length. Wanted are the indices alone: lists of whole numbers."
)
def _(lengths, max_tokens):
    return [[(i, lengths[i]) for i in batch] for batch in my_bucket_batches(lengths, max_tokens)]


@bucket_batches.mistake(
    "These are places in the sorted order. Wanted are indices into `lengths` as it was given."
)
def _(lengths, max_tokens):
    return my_bucket_batches(sorted(lengths), max_tokens)


@bucket_batches.mistake(
    "You sorted `lengths` itself. What you return are then places in the sorted order, and your caller's list is "
    "another one. Sort the indices: `sorted(range(len(lengths)), key=…)`."
)
def _(lengths, max_tokens):
    lengths.sort()
    return my_bucket_batches(lengths, max_tokens)


@bucket_batches.mistake(
    "`lengths.index(n)` finds the first sentence of length n. Where two are alike, the first is there twice and the "
    "second is lost."
)
def _(lengths, max_tokens):
    order = [lengths.index(n) for n in sorted(lengths)]
    return _filled(order, lengths, lambda batch, i: lengths[i] * (len(batch) + 1) <= max_tokens)


LONGEST_FIRST = "The longest come first. Good batches too, but here the shortest begin, so that there is one answer."


@bucket_batches.mistake(LONGEST_FIRST)
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[batch[0]] * (len(batch) + 1) <= max_tokens

    return _filled(_by_length(lengths, reverse=True), lengths, fits)


@bucket_batches.mistake(LONGEST_FIRST)
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[batch[0]] * (len(batch) + 1) <= max_tokens

    return _filled(_by_length(lengths)[::-1], lengths, fits)


@bucket_batches.mistake(
    "You fill from the longest down and turn the list of batches round: then the short ones are not as full as may be. "
    "Fill from the shortest up."
)
def _(lengths, max_tokens):
    def fits(batch, i):
        return lengths[batch[0]] * (len(batch) + 1) <= max_tokens

    return _filled(_by_length(lengths, reverse=True), lengths, fits)[::-1]


@bucket_batches.mistake(
    "The batches are right, but where two sentences are equally long, the later one comes first. Keep the order "
    "of equals: `sorted` does."
)
def _(lengths, max_tokens):
    order = _by_length(lengths, reverse=True)[::-1]
    return _filled(order, lengths, lambda batch, i: lengths[i] * (len(batch) + 1) <= max_tokens)


@bucket_batches.mistake(
    "All sentences are in one batch. Begin a new one where the next does not fit."
)
def _(lengths, max_tokens):
    return [_by_length(lengths)]


@bucket_batches.mistake(
    "This is the order of the sentences. It must still be cut into batches: a list of lists."
)
def _(lengths, max_tokens):
    return _by_length(lengths)


@bucket_batches.mistake(
    "All your batches have as many sentences as fit of the longest. Where they are short, more fit."
)
def _(lengths, max_tokens):
    size, order = max_tokens // max(lengths), _by_length(lengths)
    return [order[n : n + size] for n in range(0, len(order), size)]


@bucket_batches.mistake(
    "A batch holds `max_tokens` positions, not `max_tokens` sentences: multiply by the longest."
)
def _(lengths, max_tokens):
    order = _by_length(lengths)
    return [order[n : n + max_tokens] for n in range(0, len(order), max_tokens)]


@bucket_batches.mistake(
    "Each sentence has a batch of its own. There is no padding, but as many steps as sentences."
)
def _(lengths, max_tokens):
    return [[i] for i in _by_length(lengths)]


@bucket_batches.mistake(
    "Where a sentence does not fit, it is lost: it must be the first of the next batch."
)
def _(lengths, max_tokens):
    batches = [[]]
    for i in _by_length(lengths):
        if lengths[i] * (len(batches[-1]) + 1) > max_tokens:
            batches.append([])
        else:
            batches[-1].append(i)
    return batches


def _rows():
    return [
        (torch.tensor([[5, 6, 2, 0], [7, 2, 0, 0], [8, 9, 5, 2]]), 2, 0),
        (torch.tensor([[4, 2], [5, 2], [2, 0], [6, 2], [2, 0]]), 3, 0),
        (torch.tensor([[5, 6, 7], [4, 3, 3]]), 5, 3),
    ]


process_shares = Exercise(
    task="Process p of `processes` takes the rows p, p + processes, p + 2 · processes, … of `tgt_out` "
    "(rows, time) and computes the mean loss over its real tokens, those that are not `pad_id`. What "
    "must each mean be multiplied by, so that the sum is the mean over all real tokens of the batch? A "
    "tensor (processes,).",
    cases=_rows,
    hints=(
        "A mean times its number is a sum. The sums add up; what must the whole sum be divided by?",
        "So the share of process p is the number of *its* real tokens over the number of all. Its rows are "
        "`tgt_out[p::processes]`.",
        "`real = tgt_out != pad_id`, then `torch.stack([real[p::processes].sum() for p in "
        "range(processes)]) / real.sum()`.",
    ),
    passed="A process without rows gets 0. And if gradients are averaged instead of added, what is missing?",
)


@process_shares.solution
def my_process_shares(tgt_out, processes, pad_id):
    real = tgt_out != pad_id
    mine = torch.stack([real[p::processes].sum() for p in range(processes)])
    return mine / real.sum()


@process_shares.solution
def _(tgt_out, processes, pad_id):
    tokens = [0] * processes
    for row, ids in enumerate(tgt_out.tolist()):
        tokens[row % processes] += sum(i != pad_id for i in ids)
    return torch.tensor([n / sum(tokens) for n in tokens])


@process_shares.mistake(
    "All alike: this is the mean of the means. A process with few tokens would count as much as one with many."
)
def _(tgt_out, processes, pad_id):
    return torch.full((processes,), 1 / processes)


@process_shares.mistake(
    "You count rows, or all their positions, which comes to the same. The means are over real tokens, and rows have "
    "different numbers of them."
)
def _(tgt_out, processes, pad_id):
    rows = torch.tensor([len(tgt_out[p::processes]) for p in range(processes)])
    return rows / len(tgt_out)


@process_shares.mistake(
    "Padding counts in the number of all. Divide by the real tokens of the batch; the shares add up to 1."
)
def _(tgt_out, processes, pad_id):
    return my_process_shares(tgt_out, processes, pad_id) * (tgt_out != pad_id).float().mean()


@process_shares.mistake(
    "Your shares go to blocks of neighbouring rows. Here rows are dealt like cards: p, p + processes, …"
)
def _(tgt_out, processes, pad_id):
    real = tgt_out != pad_id
    size = -(-len(tgt_out) // processes)
    return (
        torch.stack([real[p * size : (p + 1) * size].sum() for p in range(processes)]) / real.sum()
    )


@process_shares.mistake(
    "Your shares go to blocks of neighbouring rows. Here rows are dealt like cards: `tgt_out[p::processes]`."
)
def _(tgt_out, processes, pad_id):
    parts = (tgt_out != pad_id).chunk(processes)
    return torch.stack([part.sum() for part in parts]) / (tgt_out != pad_id).sum()


@process_shares.mistake(
    "You deal out columns, so every process gets some words of every sentence. Rows come first: "
    "`tgt_out[p::processes]`."
)
def _(tgt_out, processes, pad_id):
    real = tgt_out != pad_id
    return torch.stack([real[:, p::processes].sum() for p in range(processes)]) / real.sum()


@process_shares.mistake(
    "This says how full each part is: its real tokens over its *own* positions. Divide by the real tokens of the "
    "whole batch."
)
def _(tgt_out, processes, pad_id):
    real = (tgt_out != pad_id).float()
    return torch.stack([real[p::processes].mean() for p in range(processes)])


@process_shares.mistake(
    "Right but for a factor: you divide by `processes` as well. The parts are added here, not averaged."
)
def _(tgt_out, processes, pad_id):
    return my_process_shares(tgt_out, processes, pad_id) / processes


@process_shares.mistake(
    "These are the shares turned over: all tokens over a process' own. More tokens must count for more."
)
def _(tgt_out, processes, pad_id):
    return 1 / my_process_shares(tgt_out, processes, pad_id)


@process_shares.mistake("These are the numbers of tokens. Divide by how many there are in all.")
def _(tgt_out, processes, pad_id):
    return torch.stack([(tgt_out[p::processes] != pad_id).sum() for p in range(processes)])


@process_shares.mistake(
    "This is right where gradients are averaged over the processes. Here the parts are added: leave out the "
    "factor `processes`."
)
def _(tgt_out, processes, pad_id):
    return processes * my_process_shares(tgt_out, processes, pad_id)


@process_shares.mistake(
    "You weigh by 1 over the number of tokens. A process with more of them must count for more."
)
def _(tgt_out, processes, pad_id):
    mine = torch.stack([(tgt_out[p::processes] != pad_id).sum() for p in range(processes)])
    return 1 / mine


@process_shares.mistake("You count the padding instead of the real tokens: `!=`, not `==`.")
def _(tgt_out, processes, pad_id):
    pads = tgt_out == pad_id
    return torch.stack([pads[p::processes].sum() for p in range(processes)]) / pads.sum()


@process_shares.mistake("0 counts as padding in your count, whatever `pad_id` says.")
def _(tgt_out, processes, pad_id):
    return my_process_shares(tgt_out, processes, 0)
