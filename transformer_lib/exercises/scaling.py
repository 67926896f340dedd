"""Batches of similar length, and what each process' loss weighs.  Lesson 17."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise

bucket_batches = Exercise(
    sections=("17 Similar lengths together",),
    task="Batches with little padding: groups of indices into `lengths`, the shortest sentences first. A "
    "batch is padded to its longest sentence, so it takes number × longest positions, and these may be at "
    "most `max_tokens`. Fill each batch as far as this allows, then begin the next. Of two sentences of one "
    "length the earlier comes first; every index, counted from 0, is there once. A sentence longer than "
    "`max_tokens` gets a batch of its own. No batch is empty, and where there are no sentences, there is no "
    "batch: `[]`. Return a list of lists, and leave `lengths` as it is.",
    cases=lambda: [
        ([4, 1, 6, 3], 8),
        ([], 8),
        ([9], 8),
        ([2], 2),
        ([3, 3, 3], 6),
        ([9, 2, 12], 8),
        ([1, 2, 1, 3, 2, 1, 2], 4),
        ([5, 2, 4, 1, 3], 10),
        ([7, 3, 5, 2, 9, 4], 12),
        ([5, 8, 2, 3, 6, 1, 4, 7, 10], 10),
    ],
    hints=(
        "Two steps. First put the indices, not the lengths, into the order of the lengths: "
        "`sorted(indices, key=f)` sorts by what the function f says of each, and leaves equal ones in their "
        "order. Then take one index after the other.",
        "Since the sentences come shortest first, the new one is always the longest of its batch. With it "
        "the batch has one row more, and every row is as long as the new sentence: its length times the "
        "new number of rows.",
        "Ask before you append: if there is no batch yet, or the newest would grow beyond `max_tokens`, "
        "put an empty list behind `batches`. Then, in either case, append the index to the newest, "
        "`batches[-1]`. So no list stays empty.",
    ),
    passed="Short sentences make batches of many rows. Which order should training see the batches in? And "
    "why does the library's `TokenBatches` refuse a sentence that is longer than `max_tokens`?",
    gaps=(
        "range(len(lengths)), key=lambda i: lengths[i]",
        "longest * (len(batches[-1]) + 1)",
    ),
)


@bucket_batches.solution
def my_bucket_batches(lengths, max_tokens):
    # The indices in the order of their lengths; equal ones stay in their order.
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    batches = []
    for i in order:
        longest = lengths[i]  # since the sentences come shortest first
        # With it the newest batch has one row more, and all rows are padded to it.
        if not batches or longest * (len(batches[-1]) + 1) > max_tokens:
            batches.append([])  # it does not fit, or there is no batch yet
        batches[-1].append(i)
    return batches


@bucket_batches.solution
def _(lengths, max_tokens):
    order = torch.tensor(lengths).argsort(stable=True).tolist()
    batches = []
    while order:
        fit = [n for n in range(1, len(order) + 1) if lengths[order[n - 1]] * n <= max_tokens]
        size = max(fit, default=1)
        batches.append(order[:size])
        order = order[size:]
    return batches


bucket_batches.edits("""
sorted(range(len(lengths)), key=lambda i: lengths[i]) → range(len(lengths))
    You take the sentences as they come, and count with the newest alone. Sort first: then the newest is the
    longest of its batch.
i: l → i: 0 * l ; or longest → or max(lengths[j] for j in [*batches[-1], i])
    You take the sentences as they come. A long one then pads the short ones beside it: sort first.
longest * (len(batches[-1]) + 1) → sum(lengths[j] for j in [*batches[-1], i])
    You add up the real lengths. The batch is a rectangle: number × longest, padding included.
or longest → or lengths[batches[-1][-1]]
    Some of your batches are too large: the new sentence is the longest, and the whole batch is padded to
    it. You still count with the longest before it.
(len(batches[-1]) + 1) → len(batches[-1])
    Your batches end one sentence too late: you count their rows without the new sentence.
(len(batches[-1]) + 1) → len(batches[-1]) + 1
    In yours brackets are missing: in `n * len(batch) + 1` only one position is added, and not a whole row.
longest * ( → longest + (
    You add number and longest. The size of a batch is their product: number × longest.
> max_tokens → >= max_tokens
    You refuse a batch of exactly `max_tokens` positions. It is allowed: “at most” is ≤.
(len(batches[-1]) + 1) → (len(batches[-1]) + 2)
    You count one row too many: with the new sentence the batch has one row more than before, not two.
longest * (len(batches[-1]) + 1) → len(batches[-1]) + 1
    You count sentences. A batch holds `max_tokens` positions, not `max_tokens` sentences: multiply by the longest.
batches = [] → batches = [[]] ; if not batches or longest → if longest
batches = [] → batches = [[]] ; if not batches or → if batches[-1] and
batches = [] → batches = [[]] if lengths else [] ; if not batches or longest → if longest
    Some of your batches are empty. No sentences give no batch, `[]`. And a sentence longer than
    `max_tokens` begins its batch like any other: before you begin a new one, ask whether the newest has
    anything in it.
range(len(lengths)), key → [i for i in range(len(lengths)) if lengths[i] <= max_tokens], key
    Sentences longer than `max_tokens` are missing in yours. Each gets a batch of its own.
return batches → return batches[:-1]
    In yours the last batch is missing: what is left over at the end is a batch too.
return batches → return [[lengths[i] for i in batch] for batch in batches]
    You return the lengths. Wanted are the indices: which sentence, not how long it is.
return batches → return [[(i, lengths[i]) for i in batch] for batch in batches]
return batches → return [[(lengths[i], i) for i in batch] for batch in batches]
    You return pairs of index and length. Wanted are the indices alone: lists of whole numbers.
return batches → return [[i + 1 for i in batch] for batch in batches]
    Your indices count from 1. The first sentence has the index 0.
return batches → return [tuple(batch) for batch in batches]
    Each of your groups is a tuple. A list of lists is wanted.
order = sorted(range(len(lengths)), key=lambda i: lengths[i]) → lengths = sorted(lengths) ⏎ order = range(len(lengths))
    You return places in the sorted order. Wanted are indices into `lengths` as it was given.
order = sorted(range(len(lengths)), key=lambda i: lengths[i]) → lengths.sort() ⏎ order = range(len(lengths))
    You sort `lengths` itself. What you return are then places in the sorted order, and the caller's list is
    another one. Sort the indices: `sorted(range(len(lengths)), key=…)`.
sorted(range(len(lengths)), key=lambda i: lengths[i]) → [lengths.index(n) for n in sorted(lengths)]
    Your `lengths.index(n)` finds the first sentence of length n. Where two are alike, the first is there twice and
    the second is lost.
lambda i: l → lambda i: -l ; or longest → or lengths[batches[-1][0]]
lambda i: lengths[i]) → lambda i: lengths[i])[::-1] ; or longest → or lengths[batches[-1][0]]
    In yours the longest come first. Such batches save padding too, but here the shortest begin, so that there is one
    answer.
lambda i: l → lambda i: -l
lambda i: lengths[i]) → lambda i: lengths[i])[::-1]
    In yours the longest come first, and you count with the newest, which is then the shortest of its batch. Sort
    upwards: then the newest is the longest.
lambda i: l → lambda i: -l ; or longest → or lengths[batches[-1][0]] ; return batches → return batches[::-1]
i: l → i: -l ; or longest → or lengths[batches[-1][0]] ; return batches → return [b[::-1] for b in batches[::-1]]
    You fill from the longest down and turn the list of batches round: then the short ones are not as full
    as may be. Fill from the shortest up.
range(len(lengths)), key → range(len(lengths))[::-1], key
    In yours, where two sentences are equally long, the later one comes first. Keep the order of equals: `sorted`
    does, if it gets the indices in theirs.
or longest * (len(batches[-1]) + 1) > max_tokens →
    In yours all sentences are in one batch. Begin a new one where the next does not fit.
return batches → return order
    You return the order of the sentences. It must still be cut into batches: a list of lists.
if not batches or → if True or
    In yours each sentence has a batch of its own. There is no padding, but as many steps as sentences.
longest * (len(batches[-1]) + 1) > max_tokens → longest != lengths[batches[-1][-1]]
    In yours only sentences of one length come together. Others may join as long as the rectangle fits.
return batches → n = max_tokens // max(lengths) ⏎ return [order[k : k + n] for k in range(0, len(order), n)]
return batches → n = max_tokens // max([1, *lengths]) or 1 ⏎ return [order[k : k + n] for k in range(0, len(order), n)]
    All your batches have as many sentences as fit of the longest. Where they are short, more fit.
there is no batch yet → ⏎ continue
batches = [] → batches = [[]] ; if not batches or → if ; there is no batch yet → ⏎ continue
batches = [] → batches = [[]] ; not batches or → batches[-1] and ; no batch yet → ⏎ continue
= [] → = [[]] ; not batches or → batches[-1] and ; yet → ⏎ continue ; return batches → return [*filter(None, batches)]
    In yours, a sentence that does not fit is lost: it must be the first of the next batch.
""")

_TOO_LATE = (
    "You append first and look at the size afterwards: by then the batch may have passed `max_tokens`. Ask "
    "first, with the new sentence in mind."
)


@bucket_batches.mistake(_TOO_LATE)
def _(lengths, max_tokens):
    batches = [[]]
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        batches[-1].append(i)
        if lengths[i] * len(batches[-1]) > max_tokens:
            batches.append([])
    return batches


@bucket_batches.mistake(_TOO_LATE)
def _(lengths, max_tokens):
    batches = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if not batches or lengths[batches[-1][-1]] * len(batches[-1]) >= max_tokens:
            batches.append([])
        batches[-1].append(i)
    return batches


_ONE_LIST = (
    "All your batches are one and the same list, and `clear()` empties it for all of them. Begin each batch "
    "with a new list, `[]`."
)


@bucket_batches.mistake(_ONE_LIST)
def _(lengths, max_tokens):
    batch, batches = [], []
    for group in my_bucket_batches(lengths, max_tokens):
        batch.clear()
        batch.extend(group)
        batches.append(batch)
    return batches


@bucket_batches.mistake(_ONE_LIST)
def _(lengths, max_tokens):
    batch, batches = [], []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and lengths[i] * (len(batch) + 1) > max_tokens:
            batches.append(batch)
            batch.clear()
        batch.append(i)
    return [*batches, batch]


bucket_batches_for_one = Exercise(
    sections=("17 Similar lengths together",),
    task="One batch and one more sentence. `batch` is a list of the lengths of its sentences, in any order "
    "and perhaps empty; `length` is that of the sentence that wants to join. How many positions would the "
    "batch take with it, padding included? A whole number.",
    cases=lambda: [([1, 3], 4), ([], 5), ([7], 1), ([2, 2, 2], 2), ([5, 2], 3), ([1, 4, 2, 3], 6)],
    hints=(
        "A batch is a rectangle: a row for each sentence, and every row as long as the longest. Draw the "
        "sentences of 1 and 3 tokens, and then one of 4 below them.",
        "With the new sentence there is one row more. The longest is the largest of all lengths, the new "
        "one among them: `max` takes a list, and `[*batch, length]` is the list with one more at its end.",
    ),
    passed="At most 8 positions were allowed in the lesson: does the 4 join 1 and 3? And if the sentences "
    "come shortest first, which of them is always the longest?",
    gaps=("len(batch) + 1", "[*batch, length]"),
)


@bucket_batches_for_one.solution
def my_bucket_batches_for_one(batch, length):
    # A row for each sentence, the new one among them.
    rows = len(batch) + 1
    # All rows are padded to the longest, which may be the new one.
    longest = max([*batch, length])
    return rows * longest


@bucket_batches_for_one.solution
def _(batch, length):
    real = sum(batch) + length
    longest = length
    for n in batch:
        longest = n if n > longest else longest
    padding = longest - length
    for n in batch:
        padding += longest - n
    return real + padding


bucket_batches_for_one.edits("""
return rows * longest → return sum(batch) + length
    You add up the real lengths. Padding takes positions too: rows × longest.
return rows * longest → return rows * longest - sum(batch) - length
    You return the padding alone. Wanted are all positions of the rectangle: rows × longest.
len(batch) + 1 → len(batch)
    You count the rows without the new sentence: there is one more.
max([*batch, length]) → length
    You take the new sentence for the longest. Here the batch may hold a longer one.
max([*batch, length]) → max(length, max(batch))
    Yours fails for the empty batch, of which there is no largest. Put all lengths into one list, `[*batch, length]`,
    and take the largest of that.
max([*batch, length]) → max(batch)
max([*batch, length]) → max(batch, default=0)
    You take the longest of the batch as it was. The new sentence may be longer: then all are padded to it.
max([*batch, length]) → max(length, len(batch))
    You compare a length with a number of sentences. The longest is the largest of all lengths.
rows * longest → len(batch) * longest + 1
rows * longest → longest * len(batch) + 1 ; max([*batch, length]) → length
rows * longest → len(batch) + 1 * longest
    In yours brackets are missing: `*` comes before `+`, so one factor is multiplied by a part of the other alone.
rows * longest → rows + longest
    You add rows and longest. The area of a rectangle is a product: rows × longest.
return rows * longest → return longest
return rows * longest → return rows
    You return one side of the rectangle. Its area is rows × longest.
max([*batch, length]) → min([*batch, length])
    You take the shortest sentence. All rows are padded to the longest.
return rows * longest → return sum(batch) + longest
return rows * longest → return len(batch) * max(batch, default=0) + length
    You add the new sentence to a sum. It changes the whole batch: one row more, and perhaps longer rows.
""")


def _rows():
    return [
        (torch.tensor([[5, 2], [2, 0], [6, 2]]), 2, 0),
        (torch.tensor([[7, 8, 2]]), 2, 0),
        (torch.tensor([[5, 6, 2], [2, 0, 0], [7, 2, 0]]), 3, 0),
        (torch.tensor([[5, 6, 7], [4, 3, 3]]), 5, 3),
        (torch.tensor([[5, 6, 2, 0], [7, 2, 0, 0], [8, 9, 5, 2]]), 2, 0),
        (torch.tensor([[4, 2], [5, 2], [2, 0], [6, 2], [2, 0]]), 3, 0),
    ]


def _one_share(place, tgt_out, processes, pad_id):
    if len(place) != 1:
        return ""
    real = (tgt_out != pad_id).sum(dim=1).tolist()
    mine = range(place[0], len(real), processes)
    rows = f"the rows {', '.join(map(str, mine))}" if len(mine) else "no rows"
    own = " + ".join(str(real[i]) for i in mine) or "0"
    return f"Process {place[0]} takes {rows}. Real tokens: ({own}) of {sum(real)} in all."


process_shares = Exercise(
    sections=("17 Two processes, one model",),
    task="`tgt_out` (rows, time) holds ids, `pad_id` where a row is padded. Process p of `processes` takes "
    "the rows p, p + processes, p + 2 · processes, … and computes the mean loss over its real tokens, those "
    "that are not `pad_id`. By what must each of these means be multiplied, so that their sum is the mean "
    "over all real tokens of the batch? A tensor of floats (processes,); a process without rows gets 0.",
    cases=_rows,
    hints=(
        "A mean times its number of tokens is a sum again, and the sums of all processes can be added. By "
        "what must the whole sum be divided to become the mean over all?",
        "So process p gets the number of *its* real tokens, divided by the number of all. Its rows are a "
        "slice with a step: `tgt_out[p::processes]` begins at p and takes every processes-th row.",
        "`tgt_out != pad_id` is True at the real tokens, and the sum of a mask counts its Trues. "
        "`torch.stack` makes one tensor of a list with a number for each process.",
    ),
    passed="A process without rows gets 0. And if gradients are averaged instead of added, what is missing?",
    gaps=("tgt_out != pad_id", "real[p::processes].sum()", "tokens / real.sum()"),
    how=_one_share,
)


@process_shares.solution
def my_process_shares(tgt_out, processes, pad_id):
    # A mean counts the real tokens alone.
    real = tgt_out != pad_id  # (rows, time)
    # Rows are dealt like cards: p gets row p and then every processes-th.
    tokens = torch.stack([real[p::processes].sum() for p in range(processes)])  # (processes,)
    # A mean times its number is a sum; all sums together are divided by the number of all tokens.
    return tokens / real.sum()  # (processes,)


@process_shares.solution
def _(tgt_out, processes, pad_id):
    tokens = [0] * processes
    for row, ids in enumerate(tgt_out.tolist()):
        tokens[row % processes] += sum(i != pad_id for i in ids)
    return torch.tensor([n / sum(tokens) for n in tokens])


process_shares.edits("""
return tokens / real.sum() → return torch.full((processes,), 1 / processes)
    Your factors are all alike, which makes the mean of the means. A process with few tokens would count as much as
    one with many.
tgt_out != pad_id → tgt_out == tgt_out
    You count rows, or all their positions, which comes to the same. The means are over real tokens, and rows
    have different numbers of them.
/ real.sum() → / real.numel()
    In yours padding counts in the number of all. Divide by the real tokens of the batch; together the factors are 1.
real[p::processes] → real[-(-len(real) // processes) * p : -(-len(real) // processes) * (p + 1)]
real[p::processes] → real[len(real) // processes * p : len(real) // processes * (p + 1)]
real[p::processes] → real[p * processes : (p + 1) * processes]
real[p::processes] → real[p : p + processes]
[real[p::processes].sum() for p in range(processes)] → [part.sum() for part in real.chunk(processes)]
    Yours takes blocks of neighbouring rows. Here rows are dealt like cards: `tgt_out[p::processes]`.
torch.stack([real[p::processes].sum() for p in range(processes)]) → real.sum(dim=1)
    Yours has a number for each row. A process takes several rows, and their tokens are added up: one number
    for each process.
real[p::processes] → real[p]
    You count one row for each process. It takes row p and every processes-th after it: `real[p::processes]`.
real[p::processes] → real[:, p::processes]
    You deal out columns, so every process gets some words of every sentence. Rows come first:
    `tgt_out[p::processes]`.
real[p::processes] → real[p + 1 :: processes]
    Your processes count from 1. The first process is 0, and it begins with row 0.
real[p::processes] → real[p:processes]
real[p::processes] → real[p:]
real[p::processes] → real[::processes]
    Your slice takes other rows: process p begins at row p, and goes on in steps of `processes`:
    `real[p::processes]`, with two colons.
real[p::processes].sum() → real[p::processes].float().mean()
real[p::processes].sum() → real[p::processes].float().mean() ; tokens / real.sum() → tokens
    Yours asks how full each part is: its real tokens over its *own* positions. Count the real tokens, and
    divide by those of the whole batch.
range(processes)]) → range(min(processes, len(real)))])
    In yours the factor of a process without rows is missing. There are as many factors as processes, and that one is 0.
tokens / real.sum() → tokens / real.sum() / processes
    You divide by `processes` as well. The parts are added here, not averaged.
tokens / real.sum() → tokens / real.sum() * processes
    You multiply by `processes`, as where gradients are averaged over the processes. Here the parts are added: leave
    out the factor `processes`.
tokens / real.sum() → real.sum() / tokens
tokens / real.sum() → 1 / tokens
    Yours is the smaller, the more tokens a process has. More tokens must count for more: its own number
    stands above the line, the number of all below.
tokens / real.sum() → tokens
    You return the numbers of tokens. Divide by how many there are in all.
tokens / real.sum() → tokens // real.sum()
    Your `//` rounds down, and a part of the whole becomes 0. Divide with `/`.
tokens / real.sum() → tokens.float().softmax(dim=0)
    Your softmax makes the factors add up to 1, but it takes e to the power of each. Divide by the sum itself.
tgt_out != pad_id → tgt_out == pad_id
    You count the padding instead of the real tokens: `!=`, not `==`.
tgt_out != pad_id → tgt_out != 0
    In your count 0 is padding, whatever `pad_id` says.
real[p::processes].sum() → tgt_out[p::processes].sum()
    You add up the ids. A token counts as 1, whatever its id: add up the mask.
""")
