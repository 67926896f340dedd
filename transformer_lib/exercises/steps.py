"""One step of a recurrent decoder: plain, Bahdanau's, and Luong's. Lessons 05 to 07."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _ends(n):
    """A cell and a readout for paper, of which both give n entries."""

    def cell(input, state):
        return state + 2 * input[..., :n] - input[..., -n:]

    def readout(input):
        return input[..., :n] - input[..., n : 2 * n] + 2 * input[..., -n:]

    cell.__doc__ = (
        f"state + 2 · the first {n} entries of its input − the last {n} (they may overlap)."
    )
    readout.__doc__ = (
        f"the first {n} entries of its input − the next {n} + 2 · the last {n} (they may overlap)."
    )
    cell.__qualname__, readout.__qualname__ = "cell", "readout"  # as errors call them
    return cell, readout


def _cell(width, states):
    """Something that reads an input of that width and moves a state on, as a GRU cell does."""
    into, back = torch.randn(width, states) / 2, torch.randn(states, states)

    def cell(input, state):
        """tanh(input @ A + state @ B) / 2 + state / 2, with random matrices A and B."""
        return torch.tanh(input @ into + state @ back) / 2 + state / 2

    return cell


def _readout(width, words):
    into = torch.randn(width, words) / 2

    def readout(input):
        """input @ A, with a random matrix A."""
        return torch.matmul(input, into)

    return readout


def _plain():
    torch.manual_seed(5)
    x, state = torch.tensor([[1.0, 0, 1], [0, 1, 0]]), torch.tensor([[1.0, 2.0], [1.0, 0.0]])
    context = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    cases = [(x, state, context, _ends(2)[0], _ends(3)[1])]
    for batch, words, states in ((1, 3, 3), (3, 4, 5), (2, 2, 2)):
        cell, readout = _cell(words + states, states), _readout(2 * states + words, words)
        x, state = torch.randn(batch, words), torch.randn(batch, states)
        cases.append((x, state, torch.randn(batch, states), cell, readout))
    return cases


_CELL = """
[x, context] → [context, x]
    You give the cell `context` and then x. Its weights expect the word first: x, then `context`.
[x, context] → [x]
    Your cell reads the word alone. `context` is missing: it stands behind x in the cell's input.
[x, context] → [context]
    Your cell reads `context` alone. The word is missing: x stands in front of it in the cell's input.
[x, context] → [x, state]
    You put the old state where `context` belongs.
[x, context] → [x, context, state]
    The old state is part of the cell's input in yours. It is given to `cell` by itself, as its second argument.
[x, context] → [x + context]
[x, context] → x, context
cat([x, context] → stack([x, context]
cell(read, state) → cell([x, context], state)
    In yours x and `context` are not joined to one longer row. `torch.cat` takes a list of tensors and joins them,
    here along the last axis. A sum mixes them, a list alone is no tensor, and `torch.stack` makes a new axis.
cell(read, state) → cell(state, read)
    You exchanged the arguments of `cell`: it takes first its input, then the state.
cell(read, state) → cell(read)
    You call `cell` without the state: `cell(input, state)`. (torch's own GRU cell then begins from zeros, without a
    word.)
cell(read, state) → cell(x, state, context)
cell(read, state) → cell(x, context, state)
    You call `cell` with three things. It takes two, its input and the state: join what it reads before, with
    `torch.cat`.
cell(read, state) → cell(read, context)
    You give the cell `context` where the state belongs. The state is what moves on, `context` is only read.
[x, context] → [x * x.size(-1) ** 0.5, context]
    You multiply the x that the cell reads by √d_model. It is embedded already, and goes in as it is.
next_state = cell(read, state) → next_state = cell(read, cell(read, state))
    You call `cell` twice, so the state moves on by two steps. One call is one step.
next_state = cell(read, state) → next_state, _ = cell(read, state)
next_state = cell(read, state) → _, next_state = cell(read, state)
    You take two things from `cell`. It gives one, the next state. (`nn.GRU` gives two; a cell does one step, and its
    output is its state.)
next_state = cell(read, state) → next_state = torch.tanh(cell(read, state))
    In yours a tanh goes around the state. What `cell` gives is the next state as it is.
next_state = cell(read, state) → next_state = state + cell(read, state)
    You add the old state. What `cell` gives is the next state as it is; how much of the old one stays, it decides.
next_state = cell(read, state) → next_state = state.copy_(cell(read, state))
    You write into the caller's `state`, which changes there too. Give the next state a name of its own.
"""
_READ_AND_SAY = f"""
[next_state, context, x] → [state, context, x]
[next_state, context, x] → [state, x, context]
    In yours the output is read off the old state. First `cell` moves the state on, and the readout gets the new one.
[next_state, context, x] → [next_state, x, context]
[next_state, context, x] → [x, next_state, context]
[next_state, context, x] → [x, context, next_state]
[next_state, context, x] → [context, next_state, x]
[next_state, context, x] → [context, x, next_state]
    In yours the readout gets its three parts in another order than its weights expect. It is next state, context, x.
[next_state, context, x] → [next_state, state, x]
    You put the old state where `context` belongs.
read = → x = x * x.size(-1) ** 0.5 ⏎ read =
    You multiply x by √d_model. It is embedded already, and both the cell and the readout get it as it is.
[next_state, context, x] → [next_state, context, x * x.size(-1) ** 0.5]
    You multiply the x that the readout gets by √d_model. It is embedded already, and goes in as it is.
[next_state, context, x] → [cell(read, next_state), context, x]
    You call `cell` twice, and read the output off the second state, which is one step too far. One call is one step:
    the state that you return is also the one that the readout gets.
return out, next_state → return out, cell(read, next_state)
    You call `cell` once more for the state that you return, which is then one step too far. Return the state that the
    readout got.
[next_state, context, x] → [next_state, context]
[next_state, context, x] → [next_state, x]
[next_state, context, x] → [context, x]
[next_state, context, x] → [x, context]
torch.tanh(readout(joined)) → torch.tanh(torch.cat([readout(next_state), context, x], dim=-1))
[next_state, context, x] → [next_state]
[next_state, context, x] → [next_state, next_state, x]
    In yours something is left out of the readout's input. It gets all three: next state, context and x.
readout(joined) → readout([next_state, context, x])
readout(joined) → readout(next_state, context, x)
readout(joined) → readout(joined, next_state)
    You give `readout` a list, or several things. It takes one tensor: next state, context and x, joined with
    `torch.cat`.
[x, context] → [x, state] ; cell(read, state) → cell(read, context) ; [next_state, context, x] → [next_state, state, x]
cell(read, state) → cell(read, context) ; [next_state, context, x] → [state, next_state, x]
    You exchanged state and context. The state is what moves on, the context is only read.
[x, context] → [x, state] ; cell(read, state) → cell(read, context) ; [next_state, context, x] → [state, context, x]
    Two things: you exchanged state and context in the cell, and you read the output off the old state. The state is
    what moves on; the readout gets the new one.
torch.tanh(readout(joined)) → readout(joined)
    In yours the tanh of the output is missing: it comes after the readout.
torch.tanh(readout(joined)) → readout(torch.tanh(joined))
    In yours the tanh is taken before the readout. It bounds what the readout has made.
torch.tanh(readout(joined)) → readout(joined).softmax(dim=-1)
torch.tanh(readout(joined)) → readout(joined).sigmoid()
torch.tanh(readout(joined)) → readout(joined).relu()
torch.tanh(readout(joined)) → torch.tanh(readout(joined)).softmax(dim=-1)
    You bound the output with another function than tanh, or with one more. tanh alone is wanted. (The softmax belongs
    to the logits, which come later.)
torch.tanh(readout(joined)) → torch.tanh(joined)
torch.tanh(readout(joined)) → torch.tanh(next_state)
    In yours the readout is missing: the output is tanh of what `readout` makes of its three parts.
return out, next_state → return out, state
    You return the old state, so the next step would start where this one did. Return the state that `cell` has given.
return out, next_state → return out, context
    The second thing that you return is the context. It is the next state.
return out, next_state → return out, out
    You return the output twice. The second thing to return is the next state.
return out, next_state → return out
return out, next_state → return next_state
    You return one thing of two. The caller needs the output for the word, and the next state for the next step.
return out, next_state → return next_state, out
    You exchanged the two results: the output comes first, the next state second.
return out, next_state → return out, next_state, context
return out, next_state → return out, out, next_state
    You return three things. Two are wanted: the output, and then the next state.
{_CELL}"""
_JOINED_DOWN = """
[x, context], dim=-1 → [x, context], dim=0
[next_state, context, x], dim=-1 → [next_state, context, x], dim=0
    You join along axis 0, which counts the sentences, so that x and context stand below each other. Side by side
    is the last axis, `dim=-1`. (Without `dim`, `torch.cat` takes axis 0.)
"""

gru_step = Exercise(
    sections=(
        "05 One step of the decoder",
        "05 A state that remembers",
    ),
    task="One step of a decoder without attention. x (batch, d_model) is the embedded word, state (batch, d_hidden) "
    "the decoder's state, and context (batch, d_hidden) the encoder's last one. `cell(input, state)` gives the next "
    "state (batch, d_hidden); its input is x and context, side by side in this order. `readout(input)` gives (batch, "
    "d_model); its input is next state, context and x, side by side. The output is tanh of it. Return the output and "
    "the next state, two things.",
    cases=_plain,
    hints=(
        "Two things happen, and their order matters. First the cell moves the state on; then the output is read "
        "off the new state. The old state is needed by the cell alone.",
        "Side by side means that each sentence gets one longer row. `torch.cat([a, b], dim=-1)` takes a list of "
        "tensors and joins them along the last axis, because the first axis counts the sentences.",
        "So join x and context, and give this to `cell`, with the state as second argument. Then join the state "
        "that it gave, the context and x, give this to `readout`, and take the tanh. Return the output and the "
        "new state, with a comma between them.",
    ),
    passed="`context` is the same at every step: it is all that this decoder knows of the source.",
    without=("Decoder",),
    gaps=(
        "torch.cat([x, context], dim=-1)",
        "cell(read, state)",
        "[next_state, context, x]",
        "readout(joined)",
    ),
)


@gru_step.solution
def my_gru_step(x, state, context, cell, readout):
    # The cell reads the word and what is known of the source, side by side.
    read = torch.cat([x, context], dim=-1)  # (batch, d_model + d_hidden)
    # First the state moves on. The old one is not needed any more.
    next_state = cell(read, state)  # (batch, d_hidden)
    # The output is read off the new state, with context and word beside it.
    joined = torch.cat([next_state, context, x], dim=-1)  # (batch, 2 d_hidden + d_model)
    # tanh keeps every entry between −1 and 1.
    out = torch.tanh(readout(joined))  # (batch, d_model)
    return out, next_state


@gru_step.solution
def _(x, state, context, cell, readout):
    after = cell(torch.hstack((x, context)), state)
    raw = readout(torch.hstack((after, context, x)))
    return 2 * torch.sigmoid(2 * raw) - 1, after


gru_step.edits(_READ_AND_SAY + _JOINED_DOWN)


gru_step_for_one = Exercise(
    sections=(
        "05 One step of the decoder",
        "05 A state that remembers",
    ),
    task="One step of a decoder without attention, for one sentence and without a batch. x (d_model,) is the embedded "
    "word, state and context are (d_hidden,). `cell(input, state)` gives the next state; its input is x and context, "
    "joined in this order. `readout(input)` reads next state, context and x, joined. The output (d_model,) is tanh of "
    "what it gives. Return the output and the next state.",
    cases=lambda: [
        (*(tensor[0] for tensor in case[:3]), *case[3:]) for case in _plain() if len(case[0]) != 1
    ],
    hints=(
        "First the cell moves the state on, then the output is read off the new state.",
        "`torch.cat([a, b])` joins two vectors to one that is longer. The cell reads x and context joined; the "
        "readout gets next state, context and x joined, and tanh comes after it.",
    ),
    passed="In a batch axis 0 counts the sentences, so there you join along the last axis, `dim=-1`.",
    without=("Decoder",),
    gaps=("torch.cat([x, context])", "cell(read, state)", "[next_state, context, x]"),
)


@gru_step_for_one.solution
def my_gru_step_for_one(x, state, context, cell, readout):
    # The cell reads the word and what is known of the source, joined to one vector.
    read = torch.cat([x, context])  # (d_model + d_hidden,)
    next_state = cell(read, state)  # (d_hidden,)
    # The output is read off the new state, with context and word behind it.
    joined = torch.cat([next_state, context, x])  # (2 d_hidden + d_model,)
    out = torch.tanh(readout(joined))  # (d_model,)
    return out, next_state


@gru_step_for_one.solution
def _(x, state, context, cell, readout):
    outs, states = my_gru_step(x[None], state[None], context[None], cell, readout)
    return outs[0], states[0]


gru_step_for_one.edits(f"""
[x, context] → [x, context], dim=1
    You join along axis 1. A vector has one axis, axis 0, and `torch.cat` joins along it without being told.
{_READ_AND_SAY}""")


_SIZES = (  # batch, source, d_model, d_hidden, d_memory, width
    (1, 3, 3, 3, 3, 3),
    (3, 2, 6, 5, 4, 7),
    (2, 1, 3, 4, 5, 2),  # one source token
)


def _looking_back():
    torch.manual_seed(12)
    x, state = torch.tensor([[-1.0, 0.0], [0.0, -1.0]]), torch.tensor([[1.0, -1.0], [0.0, 1.0]])
    h = torch.tensor([[[0.0, -1.0], [-1.0, 0.0]], [[2.0, -1.0], [0.0, 0.0]]])
    W_q = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    W_k, w_v = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), torch.tensor([1.0, 2.0, -1.0])
    cases = [(x, state, h, *_ends(2), W_q, W_k, w_v)]
    for batch, source, words, states, memory, width in _SIZES:
        cell, readout = _cell(words + memory, states), _readout(states + memory + words, words)
        x, state = torch.randn(batch, words), torch.randn(batch, states)
        h, w_v = torch.randn(batch, source, memory), torch.randn(width)
        W_q, W_k = torch.randn(width, states), torch.randn(width, memory)
        cases.append((x, state, h, cell, readout, W_q, W_k, w_v))
    # All sizes 2, where a wrong axis gives numbers, and scores of 269 and 275, whose exp is no float.
    x, _, h, *rest = cases[0]
    W_q, W_k = torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    loud, state = torch.tensor([100.0, 200.0]), torch.tensor([[2.0, 1.0], [0.0, 1.0]])
    return [*cases, (x, state, h, *rest[:2], W_q, W_k, loud)]


_CLAMPED = """\
scores.softmax → scores.clamp(max=50).softmax
scores.softmax → scores.clamp(max=80).softmax
scores.softmax → scores.clamp(max=88).softmax
scores.softmax → scores.clamp(max=10).softmax
scores.softmax → scores.clamp(-50, 50).softmax
    Large scores become equal in yours: you cut them off. `softmax` takes off the largest one first, so it bears them
    as they are.
"""


bahdanau_step = Exercise(
    sections=(
        "06 Many sentences at once",
        "06 First look, then step",
    ),
    task="Lesson 05's step, but now the context is looked up, anew at every step. x (batch, d_model) is the embedded "
    "word, state (batch, d_hidden) the decoder's, h (batch, source, d_memory) the encoder's states, W_q (width, "
    "d_hidden), W_k (width, d_memory), w_v (width,). Score every h_i with w_vᵀ tanh(W_q s + W_k h_i), s being the "
    "state *before* the step. The softmax of the scores over the source gives the weights, and the context (batch, "
    "d_memory) is the sum of the h_i, each times its weight. (Scores may be as large as 300.) Then go on as in lesson "
    "05 with `cell` and `readout`. Return the output (batch, d_model) and the next state (batch, d_hidden).",
    cases=_looking_back,
    hints=(
        "The context has to be there before the cell can read it, so the look comes first, with the old state: scores "
        "(batch, source), weights (batch, source), context (batch, d_memory). What follows is your step of lesson 05, "
        "in which only the width of the context is another.",
        "`state @ W_q.T` has one row a sentence, (batch, width); `h @ W_k.T` has one row a source token, (batch, "
        "source, width). To add them, the state must be repeated for every source token. `[:, None]` gives it an "
        "axis of length 1 there, (batch, 1, width), and the sum repeats what has length 1. One tanh goes around "
        "the sum, and `@ w_v` makes one score of each vector.",
        "The weights of a sentence add up to 1 over its source tokens, the last axis. Then each sentence has one "
        "row of weights, (batch, 1, source), for its own (batch, source, d_memory): again `[:, None]`, and a matrix "
        "product mixes. Its result is (batch, 1, d_memory), and `[:, 0]` takes the axis of length 1 off.",
    ),
    passed="The context is a result, not a parameter: another state gives another context.",
    without=("Decoder", "AdditiveScore", "AdditiveAttention"),
    gaps=(
        "state @ W_q.T",
        "q[:, None] + k",
        "hidden @ w_v",
        "scores.softmax(dim=-1)",
        "weights[:, None] @ h",
        "[x, context]",
        "[next_state, context, x]",
    ),
)


@bahdanau_step.solution
def my_bahdanau_step(x, state, h, cell, readout, W_q, W_k, w_v):
    # The state before the step asks. Vectors stand in rows, so W_q s becomes state @ W_q.T.
    q = state @ W_q.T  # (batch, width)
    k = h @ W_k.T  # (batch, source, width)
    # The state of a sentence meets each of its source tokens: [:, None] makes room for them.
    hidden = torch.tanh(q[:, None] + k)  # (batch, source, width)
    # w_v makes one score of each vector.
    scores = hidden @ w_v  # (batch, source)
    # The weights of a sentence add up to 1 over its source tokens, the last axis.
    weights = scores.softmax(dim=-1)  # (batch, source)
    # Each encoder state times its weight, added up: one row of weights for each sentence's states.
    mixed = weights[:, None] @ h  # (batch, 1, d_memory)
    # The row's axis of length 1 goes again.
    context = mixed[:, 0]  # (batch, d_memory)
    # The rest is the step of lesson 05: the state moves on, and the output is read off.
    read = torch.cat([x, context], dim=-1)  # (batch, d_model + d_memory)
    next_state = cell(read, state)  # (batch, d_hidden)
    joined = torch.cat([next_state, context, x], dim=-1)  # (batch, d_hidden + d_memory + d_model)
    out = torch.tanh(readout(joined))  # (batch, d_model)
    return out, next_state


@bahdanau_step.solution
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    contexts = []
    for s, states in zip(state, h, strict=True):
        scores = torch.stack([w_v @ torch.tanh(W_q @ s + W_k @ h_i) for h_i in states])
        weights = (scores - scores.max()).exp()
        contexts.append((weights / weights.sum()) @ states)
    return my_gru_step(x, state, torch.stack(contexts), cell, readout)


_SQUEEZED = """
mixed[:, 0] → mixed.squeeze()
    `squeeze()` takes off every axis of length 1. For a batch of one that is the batch too, and for a source of one
    token the source. Name the axis that you mean, with `[:, 0]` or `squeeze(1)`.
"""
_TOO_MANY = """
    Your context has an axis too many: (batch, d_memory) is wanted. Are scores and weights (batch, source)? Then
    `weights[:, None] @ h` leaves an axis of length 1, which `[:, 0]` takes off; `weights[:, :, None] * h` is still to
    be summed over the source; and `weights @ h` gives every sentence's weights to every sentence's states.
"""
_MIXED = f"""
weights = scores.softmax(dim=-1) → weights = scores
    In yours there is no softmax: scores are not weights. The weights of a sentence are positive and add up to 1.
scores.softmax(dim=-1) → scores.softmax(dim=0)
    Your weights add up to 1 over the sentences of the batch. Softmax goes over the source, the last axis.
mixed[:, 0] → h.mean(dim=1)
    Your context is the mean of the encoder states: all weights of a sentence are equal in yours. The scores must
    decide.
mixed[:, 0] → h.sum(dim=1)
    All weights are 1 in yours, so the context is the plain sum of the encoder states. Do the scores have an axis
    of length 1 at the end, over which the softmax goes? It goes over the source.
mixed[:, 0] → (weights[:, :, None] * h).mean(dim=1)
    You take the mean where a sum is wanted. The weights add up to 1 already, so nothing is to be divided.
mixed[:, 0] → mixed{_TOO_MANY}"""
_MIXED_OTHERWISE = """
scores.softmax(dim=-1) → scores.flatten().softmax(dim=0).view_as(scores)
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum()
    In yours all weights of the batch together add up to 1. Each sentence's weights should by themselves: sum over the
    last axis alone.
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    You take e to the power of the scores as they are. e¹⁰⁰ does not fit into a 32-bit number, so large scores give ∞
    / ∞, which is NaN. `softmax` takes off the largest score first.
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum(dim=-1)
    Your sums are (batch,), and they meet the last axis, the source. `keepdim=True` leaves them an axis of length 1;
    or take `softmax`, which also bears large scores.
scores.softmax(dim=-1) → scores / scores.sum(dim=-1, keepdim=True)
    You divide the scores by their sum. A score may be negative; softmax takes e to its power before it divides.
scores.softmax(dim=-1) → scores.sigmoid()
    You take the sigmoid. It looks at each score by itself, and its results do not add up to 1. The weights are the
    softmax of the scores.
scores.softmax(dim=-1) → scores.softmax(dim=-1).softmax(dim=-1)
    In yours there are two softmaxes, one after the other. The second makes the weights nearly equal.
scores.softmax(dim=-1) → scores.log_softmax(dim=-1)
    Yours are the logarithms of the weights: `softmax`, not `log_softmax`.
mixed[:, 0] → h[:, -1]
mixed[:, 0] → h[:, 0]
    Your context is one encoder state, the last or the first. Here it is looked up in all of them, a weight for each.
mixed[:, 0] → h[torch.arange(len(h)), weights.argmax(dim=-1)]
    You take the encoder state with the largest score alone. The context is a mixture of all.
mixed[:, 0] → (weights[:, :, None] * h).sum(dim=-1)
    You add up along the last axis, the entries of one encoder state. The context is a sum over the source, axis 1.
mixed[:, 0] → (weights[:, :, None] * h).sum(dim=0)
    You add up over the sentences, axis 0. The context is a sum over the source, axis 1.
mixed[:, 0] → (weights[:, None] * h).sum(dim=1)
mixed[:, 0] → (weights * h).sum(dim=1)
    In your product a weight meets an entry of h, not a whole h_i. The weights need an axis of length 1 at the end,
    (batch, source, 1): `weights[:, :, None] * h`.
mixed[:, 0] → (weights[:, :, None] @ h)[:, 0]
    Your weights stand in a column, (batch, source, 1). In `@` a row meets columns, so they must be a row: `[:, None]`
    makes (batch, 1, source) of them.
mixed[:, 0] → (weights @ h)[:, 0]
mixed[:, 0] → (weights @ h).sum(dim=1)
mixed[:, 0] → (weights @ h).mean(dim=1)
    `weights @ h` gives every sentence's weights to every sentence's states. `[:, None]` makes one row of weights a
    sentence, (batch, 1, source), and then each meets its own states only.
"""

bahdanau_step.edits(f"""
state @ W_q.T → x @ W_q.T
    You ask with the word, x. The query is the decoder's state.
state @ W_q.T → state @ W_q
h @ W_k.T → h @ W_k
    In yours a matrix stands on the wrong side, or turned round. In the formula W_q s is a matrix times a column; here
    vectors stand in rows, and then the product is written `state @ W_q.T`, and `h @ W_k.T` likewise.
q[:, None] + k → q + k
    In yours an axis is missing: `state @ W_q.T` is (batch, width) and `h @ W_k.T` is (batch, source, width). `[:,
    None]` gives the first an axis of length 1 for the source. Without it source token 1 of every sentence meets the
    state of sentence 1, or torch complains about sizes.
q[:, None] + k → q[:, None] * k
    You multiply the two projections. They are added: tanh(W_q s + W_k h_i).
q[:, None] + k → q[:, None] - k
    You subtract one projection from the other. They are added: tanh(W_q s + W_k h_i).
torch.tanh(q[:, None] + k) → (q[:, None] + k)
    In yours the tanh of the scores is missing. Without it the state adds one number to all scores of a sentence, and
    a softmax does not see that.
torch.tanh(q[:, None] + k) → (torch.tanh(q[:, None]) + torch.tanh(k))
torch.tanh(q[:, None] + k) → torch.tanh(k)
    The state moves no weight in yours. One tanh, around the sum W_q s + W_k h_i: with a tanh for each, or without
    W_q s, all scores of a sentence move alike, and a softmax does not see that.
hidden @ w_v → torch.tanh((q[:, None] + k) @ w_v)
    In yours the tanh comes after w_v. It belongs on the vectors, before w_v makes scores of them.
hidden @ w_v → hidden.sum(dim=-1)
hidden @ w_v → hidden.mean(dim=-1)
    In yours w_v is missing: you add up the vectors as they are, or average them. w_v says how much each entry counts.
scores.softmax(dim=-1) → (scores / len(w_v) ** 0.5).softmax(dim=-1)
scores.softmax(dim=-1) → (scores / state.size(-1) ** 0.5).softmax(dim=-1)
scores.softmax(dim=-1) → (scores / h.size(-1) ** 0.5).softmax(dim=-1)
    You divide the scores by a root. The additive score has none: tanh bounds each of its
    terms, and √d belongs to the dot product (lesson 04).
mixed[:, 0] → (weights[:, None] @ k)[:, 0]
    You mix the projected states, W_k h_i. They are keys, for the scores alone; the values are the h_i.
[x, context] → [context, x]
    You give the cell `context` and then x. Its weights expect the word first: x, then `context`.
{_SQUEEZED}{_MIXED}""")
bahdanau_step.edits(f"""
joined = → e = ((next_state @ W_q.T)[:, None] + k).tanh() @ w_v ⏎ context = (e.softmax(1)[:, None] @ h)[:, 0] ⏎ joined =
    You look a second time, with the new state, for the readout. There is one look a step, and the readout gets the
    same context as the cell.
q[:, None] + k → q[:, None] + k.flatten(0, 1) ; weights[:, None] @ h → weights[:, None] @ h.flatten(0, 1)
    You lay the encoder states of all sentences into one long table, so that a sentence attends to those of the others
    too. Each attends to its own: keep the batch axis of h.
{_CLAMPED}q = state → q = cell(torch.cat([x, h[:, -1]], dim=-1), state) ; [x, context] → [x, h[:, -1]]
q = state → q = cell(torch.cat([x, state], dim=-1), state) ; [x, context] → [x, state]
    You ask with the state after the step. Bahdanau asks with the one before, because the context is what the cell
    reads.
state @ W_q.T → W_q @ state
state @ W_q.T → W_q @ state.T
h @ W_k.T → W_k @ h
state @ W_q.T → state @ W_q ; h @ W_k.T → h @ W_k
state @ W_q.T → W_q @ state ; h @ W_k.T → W_k @ h
    In yours a matrix stands on the wrong side, or turned round. In the formula W_q s is a matrix times a column; here
    vectors stand in rows, and then the product is written `state @ W_q.T`, and `h @ W_k.T` likewise.
state @ W_q.T → state
h @ W_k.T → h
    In yours one of the two is not projected. W_q makes a query of the state, and W_k makes keys of the h_i; both are
    then of one width.
state @ W_q.T → state @ W_k.T ; h @ W_k.T → h @ W_q.T
    You exchanged W_q and W_k: W_q belongs to the state, the query, and W_k to the h_i, the keys.
q[:, None] + k → q[:, :, None] + k
    Your new axis stands at the end, (batch, width, 1), where the width of the other is. The source is the axis in the
    middle: `[:, None]` gives (batch, 1, width).
torch.tanh(q[:, None] + k) → torch.relu(q[:, None] + k)
torch.tanh(q[:, None] + k) → torch.sigmoid(q[:, None] + k)
    You bend the sum with another function than tanh: tanh(W_q s + W_k h_i).
hidden @ w_v → (q[:, None] * k).sum(dim=-1)
hidden @ w_v → (h @ state[:, :, None])[:, :, 0]
    Yours is a dot product. The additive score is w_vᵀ tanh(W_q s + W_k h_i).
hidden @ w_v → w_v @ hidden
hidden @ w_v → (hidden * w_v).sum(dim=1)
    You weigh or add up another axis than the width, the last one: `hidden @ w_v`.
hidden @ w_v → hidden * w_v
hidden @ w_v → hidden * w_v ; mixed[:, 0] → (weights * h).sum(dim=1)
hidden @ w_v → hidden * w_v ; mixed[:, 0] → (scores.softmax(dim=1) * h).sum(dim=1)
    w_v weighs the entries in yours, but does not add them up: a score is one number for each source token. `@ w_v`
    does both.
hidden @ w_v → hidden ; mixed[:, 0] → (weights * h).sum(dim=1)
hidden @ w_v → hidden ; mixed[:, 0] → (scores.softmax(dim=1) * h).sum(dim=1)
    In yours w_v is missing, so you have a vector for every source token, not a score.
hidden @ w_v → hidden.softmax(dim=-1) @ w_v
    In yours a softmax goes over the width. It goes over the source, and the scores come before it.
hidden @ w_v → (hidden @ w_v[:, None]).squeeze()
hidden @ w_v → (hidden @ w_v[:, None]).squeeze() ; weights[:, None] @ h → torch.bmm(weights[:, None], h)
hidden @ w_v → (hidden @ w_v[:, None]).squeeze() ; mixed[:, 0] → (weights[..., None] * h).sum(dim=1)
hidden @ w_v → (hidden @ w_v[:, None]).squeeze() ; mixed[:, 0] → (weights[:, :, None] * h).sum(dim=1){_SQUEEZED}
return out, next_state → return context
return out, next_state → return context, weights
    You return the context. The step goes on: cell, readout, tanh.
return out, next_state → return out, next_state, weights
    You return three things. Two are wanted: the output, and then the next state.
{_MIXED_OTHERWISE}{_READ_AND_SAY}{_JOINED_DOWN}""")


def _one_context(place, state, h, W_q, W_k, w_v):
    weights = (torch.tanh(W_q @ state + h @ W_k.T) @ w_v).softmax(dim=0)
    terms = (f"{a:.3g}·({entry:.3g})" for a, entry in zip(weights, h[:, place[0]], strict=True))
    return (
        f"The entry that is marked: {' + '.join(terms)}, each weight times that entry of its h_i."
    )


bahdanau_step_for_one = Exercise(
    sections=(
        "06 One look, by hand",
        "06 First look, then step",
    ),
    task="The look alone, for one sentence and without a batch: state (d_hidden,), h (source, d_memory), W_q (width, "
    "d_hidden), W_k (width, d_memory), w_v (width,) to the context (d_memory,). The weights are the softmax of the "
    "scores w_vᵀ tanh(W_q s + W_k h_i), and the context is the sum of the h_i, each times its weight.",
    cases=lambda: [(case[1][0], case[2][0], *case[5:]) for case in _looking_back()[:3]],
    hints=(
        "The state is one vector, so W_q s is `W_q @ state`, (width,). The rows of h are the h_i; all W_k h_i "
        "at once are `h @ W_k.T`, (source, width). In the sum the vector is added to every row.",
        "Put one tanh around the sum. Then `@ w_v` makes a score of each row, (source,), softmax makes weights "
        "of the scores, and `weights @ h` adds up the rows of h, each times its weight.",
    ),
    passed="In a batch each sentence has a state of its own, and `state @ W_q.T` needs an axis for the source.",
    without=("Decoder", "AdditiveScore", "AdditiveAttention"),
    gaps=("W_q @ state", "h @ W_k.T", "torch.tanh(q + k)", "scores.softmax(dim=0)", "weights @ h"),
    how=_one_context,
)


@bahdanau_step_for_one.solution
def my_bahdanau_step_for_one(state, h, W_q, W_k, w_v):
    q = W_q @ state  # (width,)
    # The h_i stand in rows, so W_k h_i of all of them is h @ W_k.T.
    k = h @ W_k.T  # (source, width)
    # q is added to every row; w_v makes one score of each.
    scores = torch.tanh(q + k) @ w_v  # (source,)
    weights = scores.softmax(dim=0)  # (source,)
    # Each h_i times its weight, added up.
    return weights @ h  # (d_memory,)


@bahdanau_step_for_one.solution
def _(state, h, W_q, W_k, w_v):
    weights = torch.stack([(w_v @ torch.tanh(W_q @ state + W_k @ h_i)).exp() for h_i in h])
    return sum(a * h_i for a, h_i in zip(weights / weights.sum(), h, strict=True))


_WEIGHTS_FOR_ONE = """
scores.softmax(dim=0) → scores
    In yours there is no softmax: scores are not weights.
scores.softmax(dim=0) → scores / scores.sum()
    You divide the scores by their sum. A score may be negative; softmax takes e to its power before it divides.
scores.softmax(dim=0) → scores.exp()
    You take e to the power of the scores, but do not divide by the sum: the weights are to add up to 1.
scores.softmax(dim=0) → scores.sigmoid()
    You take the sigmoid. It looks at each score by itself, and its results do not add up to 1. The weights are the
    softmax of the scores.
scores.softmax(dim=0) → scores.softmax(dim=0).softmax(dim=0)
    In yours there are two softmaxes, one after the other. The second makes the weights nearly equal.
scores.softmax(dim=0) → scores.log_softmax(dim=0)
    Yours are the logarithms of the weights: `softmax`, not `log_softmax`.
weights @ h → h @ weights
weights @ h → (weights * h).sum(dim=0)
weights @ h → weights * h
    In your product a weight meets an entry of h. It belongs to a whole row, an h_i: `weights @ h`.
weights @ h → (weights[:, None] * h).sum(dim=1)
    You add up along axis 1, the entries of one h_i. The context is a sum over the source, axis 0.
weights @ h → (weights[:, None] * h).mean(dim=0)
    You take the mean where a sum is wanted: the weights add up to 1 already.
weights @ h → h.sum(dim=0)
    All weights are 1 in yours, so the context is the plain sum of the h_i. Do the scores have an axis of length 1 at
    the end, over which the softmax goes? It goes over the source.
weights @ h → h.mean(dim=0)
    Your context is the mean of the h_i. The weights must say how much each counts.
weights @ h → h[scores.argmax()]
    You take the h_i with the largest score alone. The context is a mixture of all.
weights @ h → h[-1]
    Your context is the last encoder state. Here it is looked up in all of them, a weight for each.
weights @ h → h[0]
    Your context is the first encoder state. Here it is looked up in all of them, a weight for each.
"""

bahdanau_step_for_one.edits(f"""
torch.tanh(q + k) → (q + k)
    In yours the tanh of the scores is missing. Without it the state adds one number to all scores, and a softmax does
    not see that.
torch.tanh(q + k) → (torch.tanh(q) + torch.tanh(k))
torch.tanh(q + k) → torch.tanh(k)
    The state moves no weight in yours. One tanh, around the sum W_q s + W_k h_i: with a tanh for each, or without
    W_q s, all scores move alike, and a softmax does not see that.
torch.tanh(q + k) @ w_v → torch.tanh((q + k) @ w_v)
    In yours the tanh comes after w_v. It belongs on the vectors, before w_v makes scores of them.
h @ W_k.T → h @ W_k
h @ W_k.T → W_k @ h
h @ W_k.T → (W_k @ h.T)
W_q @ state → state @ W_q
W_q @ state → W_q.T @ state
    In yours a `.T` is missing, or there is one too many. With one vector W_q s is `W_q @ state`; the h_i stand in
    rows, and for rows it is `h @ W_k.T`.
q + k → q[:, None] + k
    In yours there is an axis too many. In `q + k` the vector is added to every row of k as it is. `[:, None]` makes a
    column of it.
W_q @ state → W_k @ state ; h @ W_k.T → h @ W_q.T
    You exchanged W_q and W_k: W_q belongs to the state, W_k to the h_i.
torch.tanh(q + k) @ w_v → torch.tanh(q) + torch.tanh(k) @ w_v
    In yours only a part is multiplied by w_v, because `@` binds more tightly than `+`. One tanh, around the sum, and
    then `@ w_v`.
torch.tanh(q + k) @ w_v → h @ state
    Yours is a dot product. The additive score is w_vᵀ tanh(W_q s + W_k h_i).
q + k → q * k
    You multiply the two projections. They are added: tanh(W_q s + W_k h_i).
q + k → q - k
    You subtract one projection from the other. They are added: tanh(W_q s + W_k h_i).
torch.tanh(q + k) → torch.relu(q + k)
torch.tanh(q + k) → torch.sigmoid(q + k)
    You bend the sum with another function than tanh: tanh(W_q s + W_k h_i).
torch.tanh(q + k) @ w_v → torch.tanh(q + k).softmax(dim=-1) @ w_v
    In yours a softmax goes over the width. It goes over the source, and the scores come before it.
W_q @ state → state
h @ W_k.T → h
    In yours one of the two is not projected. W_q makes a query of the state, and W_k makes keys of the h_i; both are
    then of one width.
scores.softmax(dim=0) → (scores / len(w_v) ** 0.5).softmax(dim=0)
scores.softmax(dim=0) → (scores / len(state) ** 0.5).softmax(dim=0)
scores.softmax(dim=0) → (scores / h.size(-1) ** 0.5).softmax(dim=0)
    You divide the scores by a root. The additive score has none: tanh bounds each of its
    terms, and √d belongs to the dot product (lesson 04).
torch.tanh(q + k) @ w_v → torch.tanh(q + k).sum(dim=-1)
torch.tanh(q + k) @ w_v → torch.tanh(q + k).mean(dim=-1)
    In yours w_v is missing: it says how much each entry of the vectors counts.
torch.tanh(q + k) @ w_v → w_v @ torch.tanh(q + k)
    You put w_v on the left. The entries to be weighed are the last axis: `@ w_v`, with w_v on the right.
torch.tanh(q + k) @ w_v → torch.tanh(q + k) * w_v
torch.tanh(q + k) @ w_v → torch.tanh(q + k) * w_v ; softmax(dim=0) → softmax(dim=-1)
    In yours w_v weighs the entries, but they are not added up: a score is one number for each source token. `@ w_v`
    does both.
weights @ h → weights @ k
    You mix the projected states, W_k h_i. They serve the scores alone; the values are the h_i.
return weights @ h → return weights
    You return the weights. The context is the sum of the h_i, each times its weight.
return weights @ h → return weights[:, None] * h
    In yours the h_i are weighted, but not yet added up.
{_WEIGHTS_FOR_ONE}""")


def _feeding():
    torch.manual_seed(7)
    x, state = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    fed, W = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    h = torch.tensor([[[2.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]]])
    W_c = torch.tensor([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 1.0, -1.0]])
    loud = x, state, fed, h, _ends(2)[0], 50 * W, W_c  # all sizes 2: a wrong axis gives numbers
    x, state = torch.tensor([[1.0, 0, 0], [0, 1, 0]]), torch.tensor([[0.0, 1, 0], [1, 0, 1]])
    W = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    W_c = torch.tensor([[1.0, 0, -1, 0, 1], [0, 1, 1, -1, 0]])
    cases = [(x, state, fed, h, _ends(3)[0], W, W_c)]
    for batch, source, words, states, memory, width in _SIZES:
        cell = _cell(words + width, states)
        x, state, fed = (torch.randn(batch, n) for n in (words, states, width))
        h, W = torch.randn(batch, source, memory), torch.randn(states, memory) / 2
        cases.append((x, state, fed, h, cell, W, torch.randn(width, memory + states) / 2))
    return [*cases, loud]


luong_step = Exercise(
    sections=(
        "07 One step, all the way",
        "07 Three scores",
    ),
    task="Your step once more, in Luong's order. x (batch, d_model) is the embedded word, state (batch, d_hidden), fed "
    "(batch, width) the h̃ of the step before, h (batch, source, d_memory) the encoder's states, W (d_hidden, "
    "d_memory), W_c (width, d_memory + d_hidden). First `cell(input, state)` reads x and fed, side by side in this "
    "order, and gives the next state s (batch, d_hidden). Then score every h_i with sᵀ W h_i; the softmax of the "
    "scores over the source gives the weights. (Scores may be as large as 300.) The context c is the sum of the h_i, "
    "each times its weight, and h̃ = tanh(W_c [c; s]). Return h̃ (batch, width) and the next state.",
    cases=_feeding,
    hints=(
        "The order is what is new: the state moves first, and then the new state asks. So the first thing is to join "
        "x and fed and give them to `cell`, together with the old state, which is not needed after that.",
        "sᵀ W is the same for every h_i of a sentence: `next_state @ W`, (batch, d_memory). Each h_i of that sentence "
        "is multiplied by it. As a row, `[:, None] @ h.mT`, it has all scores, (batch, 1, source), and `[:, 0]` takes "
        "the axis of length 1 off. As a column, `h @ query[:, :, None]`, it has the same ones, (batch, source, 1), and "
        "then it is `[:, :, 0]`.",
        "Weights and context are those of lesson 06. Then join context and new state along the last axis, in this "
        "order. W_c stands on the left of a column in the formula; with vectors in rows it comes from the right, and "
        "transposed. Around it all goes a tanh.",
    ),
    passed="Bahdanau asks with the state before the step, Luong with the one after it.",
    without=("Decoder", "GeneralScore"),
    gaps=(
        "torch.cat([x, fed], dim=-1)",
        "next_state @ W",
        "h @ query[:, :, None]",
        "scores.softmax(dim=-1)",
        "weights[:, None] @ h",
        "[context, next_state]",
        "joined @ W_c.T",
    ),
)


@luong_step.solution
def my_luong_step(x, state, fed, h, cell, W, W_c):
    # The state moves first: the cell reads the word and the h̃ of the step before, side by side.
    read = torch.cat([x, fed], dim=-1)  # (batch, d_model + width)
    next_state = cell(read, state)  # (batch, d_hidden)
    # Then it asks. Of sᵀ W h_i the part sᵀ W is one row a sentence, the same for all of its h_i.
    query = next_state @ W  # (batch, d_memory)
    # As a column, (batch, d_memory, 1), it meets each h_i; the column's axis of length 1 then goes.
    column = h @ query[:, :, None]  # (batch, source, 1)
    scores = column[:, :, 0]  # (batch, source)
    # The weights of a sentence add up to 1 over its source tokens, the last axis.
    weights = scores.softmax(dim=-1)  # (batch, source)
    # Each encoder state times its weight, added up: one row of weights for each sentence's states.
    mixed = weights[:, None] @ h  # (batch, 1, d_memory)
    # The row's axis of length 1 goes again.
    context = mixed[:, 0]  # (batch, d_memory)
    # What was found and the state that asked make h̃. Vectors stand in rows, hence W_c.T.
    joined = torch.cat([context, next_state], dim=-1)  # (batch, d_memory + d_hidden)
    h_tilde = torch.tanh(joined @ W_c.T)  # (batch, width)
    return h_tilde, next_state


@luong_step.solution
def _(x, state, fed, h, cell, W, W_c):
    state = cell(torch.hstack((x, fed)), state)
    said = []
    for s, states in zip(state, h, strict=True):
        scores = torch.stack([s @ W @ h_i for h_i in states])
        weights = (scores - scores.max()).exp()
        context = (weights / weights.sum()) @ states
        said.append(torch.tanh(W_c[:, : len(context)] @ context + W_c[:, len(context) :] @ s))
    return torch.stack(said), state


_MOVE_AND_SAY = f"""{_CELL.replace("context", "fed")}
[x, fed] → [x, state] ; cell(read, state) → cell(read, fed)
    You exchanged state and fed. The state is what moves on; h̃ of the step before is only read.
next_state @ W → fed @ W
next_state @ W → x @ W
    You ask with something else than the state. The query is the next state, the one that `cell` gave.
[context, next_state] → [context]
[context, next_state] → [next_state]
[context, next_state] → [context + next_state]
[context, next_state] → [context, next_state, x]
[context, next_state] → [context, x]
[context, next_state] → [context, fed]
    In yours W_c gets something else than [c; s]: context and new state, joined to one longer row, and nothing more.
return h_tilde, next_state → return context, next_state
return h_tilde, next_state → return torch.tanh(context), next_state
    The first thing that you return is the context. It still has to meet the state: h̃ = tanh(W_c [c; s]).
return h_tilde, next_state → return h_tilde, h_tilde
return h_tilde, next_state → return next_state, next_state
    You return the same thing twice. The first is h̃, the second the state, which the next step's cell moves on.
return h_tilde, next_state → return h_tilde
return h_tilde, next_state → return next_state
    You return one thing of two: h̃, and then the next state.
return h_tilde, next_state → return h_tilde, next_state, weights
return h_tilde, next_state → return h_tilde, next_state, context
    You return three things. Two are wanted: h̃, and then the next state.
return h_tilde, next_state → return next_state, h_tilde
    You exchanged the two results: h̃ comes first, the next state second.
"""
_ASK_AND_MEET = """
next_state @ W → state @ W
    You ask with the state before the step: that is Bahdanau's order. In Luong's the state moves first, and the new
    one asks.
next_state @ W → cell(read, next_state) @ W
next_state @ W → cell(read, next_state) @ W ; [context, next_state] → [context, cell(read, next_state)]
    You call `cell` twice, and ask with the second state, which is one step too far. One call is one step: the state
    that you return is also the one that asks.
return h_tilde, next_state → return h_tilde, cell(read, next_state)
    You call `cell` once more for the state that you return, which is then one step too far. Return the state that
    asked.
next_state @ W → next_state
    In yours W is missing: that is the dot product, sᵀ h. The general score is sᵀ W h.
[context, next_state] → [context, state]
    Your h̃ is made of the context and the old state. [c; s] wants the new one.
[context, next_state] → [next_state, context]
    You put the state first. In [c; s] the context comes first, then the state. W_c expects it so.
return h_tilde, next_state → return h_tilde, state
    You return the old state, so the next step would start where this one did. Return the state that `cell` has given.
"""

luong_step.edits(f"""
next_state @ W → next_state @ W.T
    In yours W stands the wrong way round, or on the wrong side. In sᵀ W h_i the state comes from the left, so for
    states in rows it is `next_state @ W`, without a transpose.
joined @ W_c.T → joined @ W_c
    In yours W_c stands on the wrong side, or turned round. In the formula W_c [c; s] is a matrix times a column; here
    vectors stand in rows, and then the product is written `joined @ W_c.T`.
torch.tanh(joined @ W_c.T) → joined @ W_c.T
    In yours the tanh of h̃ is missing.
column[:, :, 0] → torch.tanh(column[:, :, 0])
    In yours a tanh goes around the scores. This score is a product alone, sᵀ W h.
scores.softmax(dim=-1) → (scores / h.size(-1) ** 0.5).softmax(dim=-1)
scores.softmax(dim=-1) → (scores / state.size(-1) ** 0.5).softmax(dim=-1)
    You divide the scores by a root. Luong's scores have no scale.
column[:, :, 0] → (query * h).sum(dim=-1)
column[:, :, 0] → h @ query
    In yours an axis is missing, or at another place: `next_state @ W` is (batch, d_memory), and it meets each source
    token of its sentence. `[:, None]` makes it (batch, 1, d_memory) for `*` and a sum; `h @` wants a column, (batch,
    d_memory, 1).
column[:, :, 0] → query @ h.flatten(0, 1).T ; weights[:, None] @ h → weights[:, None] @ h.flatten(0, 1)
    You lay the encoder states of all sentences into one long table, so that a sentence attends to those of the others
    too. Each attends to its own: keep the batch axis of h.
{_CLAMPED}mixed[:, 0] → (weights[:, None] @ (h @ W.T))[:, 0]
    You mix W h_i. W serves the scores alone; the values are the h_i.
{_ASK_AND_MEET}{_SQUEEZED}{_MIXED}""")
luong_step.edits(f"""
next_state @ W → W @ next_state
next_state @ W → W @ next_state.T
    In yours W stands the wrong way round, or on the wrong side. In sᵀ W h_i the state comes from the left, so for
    states in rows it is `next_state @ W`, without a transpose.
joined @ W_c.T → W_c @ joined
joined @ W_c.T → W_c @ joined.T
joined @ W_c.T → W_c.T @ joined
joined @ W_c.T → joined * W_c
    In yours W_c stands on the wrong side, or turned round. In the formula W_c [c; s] is a matrix times a column; here
    vectors stand in rows, and then the product is written `joined @ W_c.T`.
torch.tanh(joined @ W_c.T) → torch.tanh(joined) @ W_c.T
    In yours the tanh is taken before W_c. It goes around the product.
torch.tanh(joined @ W_c.T) → torch.tanh(joined)
    In yours W_c is missing: h̃ = tanh(W_c [c; s]).
torch.tanh(joined @ W_c.T) → (joined @ W_c.T).softmax(dim=-1)
torch.tanh(joined @ W_c.T) → (joined @ W_c.T).sigmoid()
torch.tanh(joined @ W_c.T) → (joined @ W_c.T).relu()
torch.tanh(joined @ W_c.T) → torch.tanh(joined @ W_c.T).softmax(dim=-1)
    You bound h̃ with another function than tanh, or with one more. tanh alone is wanted. (A softmax belongs to the
    logits, which come later.)
column[:, :, 0] → torch.tanh(query[:, None] + h).sum(dim=-1)
    You add query and encoder state: that is the additive score of lesson 06. Here they are multiplied, sᵀ W h.
column[:, :, 0] → (query[:, None] * h).mean(dim=-1)
    You take the mean of the products. A score is their sum.
column[:, :, 0] → (query[:, None] * h).sum(dim=1)
column[:, :, 0] → (query[:, None] @ h)[:, 0]
    You add up over the source. A score is the sum over the last axis, the entries of query and encoder state.
column[:, :, 0] → (query[:, None] * h) ; mixed[:, 0] → (scores.softmax(dim=1) * h).sum(dim=1)
column[:, :, 0] → (query[:, None] * h) ; mixed[:, 0] → (weights * h).sum(dim=1)
column[:, :, 0] → (query[:, None] * h)
    You multiply query and encoder state, but do not add up: a score is one number for each source token, the sum over
    the last axis.
column[:, :, 0] → (query[:, :, None] * h).sum(dim=-1)
column[:, :, 0] → h @ query[:, None]
column[:, :, 0] → h @ W.T @ next_state
column[:, :, 0] → next_state @ (W @ h)
column[:, :, 0] → next_state.T @ W @ h
    In yours an axis is missing, or at another place: `next_state @ W` is (batch, d_memory), and it meets each source
    token of its sentence. `[:, None]` makes it (batch, 1, d_memory) for `*` and a sum; `h @` wants a column, (batch,
    d_memory, 1).
column[:, :, 0] → h @ query.T
column[:, :, 0] → query @ h.T
    Every sentence's query meets every sentence's states in yours. Each has its own: `[:, :, None]` makes one column of
    each query, and then `h @` it. (And `.T` belongs to two axes; of three it turns all.)
column[:, :, 0] → (query @ h.mT)[:, 0]
column[:, :, 0] → h @ query[0]
    Every sentence is asked by the query of sentence 0 in yours. Without an axis for the source `query @ h.mT` takes the
    queries for one table that meets every sentence. `query[:, None] @ h.mT` gives each sentence its own, (batch, 1,
    source), and `[:, 0]` then takes the axis of length 1 off.
column[:, :, 0] → column
    In yours an axis of length 1 is left in the scores, (batch, source, 1). `[:, :, 0]` takes it off, and softmax then
    goes over the source.
column[:, :, 0] → query @ h.mT{_TOO_MANY}
column[:, :, 0] → column.squeeze()
column[:, :, 0] → column.squeeze() ; weights[:, None] @ h → torch.bmm(weights[:, None], h)
column[:, :, 0] → column.squeeze() ; mixed[:, 0] → (weights[:, :, None] * h).sum(dim=1)
column[:, :, 0] → column.squeeze() ; mixed[:, 0] → (weights[..., None] * h).sum(dim=1)
column[:, :, 0] → column.squeeze() ; mixed[:, 0] → mixed.squeeze(){_SQUEEZED}
[x, fed], dim=-1 → [x, fed], dim=0
[context, next_state], dim=-1 → [context, next_state], dim=0
    You join along axis 0, which counts the sentences. Side by side is the last axis, `dim=-1`. (Without `dim`,
    `torch.cat` takes axis 0.)
{_MIXED_OTHERWISE}{_MOVE_AND_SAY}""")


@luong_step.mistake(
    "This is the order of lesson 06: the old state asks, and the cell reads the context. Luong's cell reads `fed`, the "
    "h̃ of the step before; the new state asks after that."
)
def _(x, state, fed, h, cell, W, W_c):
    scores = (h @ (state @ W)[:, :, None])[:, :, 0]
    context = (scores.softmax(dim=-1)[:, None] @ h)[:, 0]
    next_state = cell(torch.cat([x, context], dim=-1), state)
    return torch.tanh(torch.cat([context, next_state], dim=-1) @ W_c.T), next_state


luong_step_for_one = Exercise(
    sections=(
        "07 One step, all the way",
        "07 Three scores",
    ),
    task="Luong's step for one sentence, without a batch: x (d_model,), state (d_hidden,), fed (width,), h (source, "
    "d_memory), W (d_hidden, d_memory), W_c (width, d_memory + d_hidden). `cell(input, state)` reads x and fed, joined "
    "in this order, and gives the next state s. The scores are sᵀ W h_i, their softmax the weights, the context c the "
    "sum of the h_i, each times its weight, and h̃ = tanh(W_c [c; s]). Return h̃ (width,) and s (d_hidden,).",
    cases=lambda: [(*(tensor[0] for tensor in case[:4]), *case[4:]) for case in _feeding()[:3]],
    hints=(
        "The state moves first: `cell` reads x and fed, joined by `torch.cat`, with the old state as its second "
        "argument. The new state s then asks.",
        "`s @ W` is a vector of d_memory entries. The rows of h are the h_i, so `h @` that vector has a score for "
        "each. After the softmax `weights @ h` adds up the rows of h, each times its weight.",
        "h̃ is tanh of W_c times one long vector: first the context, then the new state.",
    ),
    passed="In a batch each sentence has its own query and its own h: both products then need an axis more.",
    without=("Decoder", "GeneralScore"),
    gaps=("torch.cat([x, fed])", "next_state @ W", "h @ query", "weights @ h", "W_c @ joined"),
)


@luong_step_for_one.solution
def my_luong_step_for_one(x, state, fed, h, cell, W, W_c):
    # The state moves first: the cell reads the word and the h̃ of the step before.
    read = torch.cat([x, fed])  # (d_model + width,)
    next_state = cell(read, state)  # (d_hidden,)
    # Then the new state asks: sᵀ W h_i for every h_i, a row of h.
    query = next_state @ W  # (d_memory,)
    scores = h @ query  # (source,)
    weights = scores.softmax(dim=0)  # (source,)
    context = weights @ h  # (d_memory,)
    # What was found and the state that asked make h̃.
    joined = torch.cat([context, next_state])  # (d_memory + d_hidden,)
    h_tilde = torch.tanh(W_c @ joined)  # (width,)
    return h_tilde, next_state


@luong_step_for_one.solution
def _(x, state, fed, h, cell, W, W_c):
    one = (tensor[None] for tensor in (x, state, fed, h))
    h_tildes, states = my_luong_step(*one, cell, W, W_c)
    return h_tildes[0], states[0]


luong_step_for_one.edits(f"""
next_state @ W → W @ next_state
    In yours W stands the wrong way round, or on the wrong side. In sᵀ W h_i the state comes from the left:
    `next_state @ W`.
W_c @ joined → joined @ W_c
    You put W_c on the right. It stands on the left: `W_c @ joined`, a matrix times a vector.
h @ query → query @ h
    You put the query on the left. Each row of h meets it: `h @ query`, with h on the left.
torch.tanh(W_c @ joined) → W_c @ joined
    In yours the tanh of h̃ is missing.
torch.tanh(W_c @ joined) → W_c @ torch.tanh(joined)
    In yours the tanh is taken before W_c. It goes around the product.
torch.tanh(W_c @ joined) → torch.tanh(joined)
    In yours W_c is missing: h̃ = tanh(W_c [c; s]).
torch.tanh(W_c @ joined) → (W_c @ joined).softmax(dim=0)
torch.tanh(W_c @ joined) → (W_c @ joined).sigmoid()
torch.tanh(W_c @ joined) → (W_c @ joined).relu()
    You bound h̃ with another function than tanh. (A softmax belongs to the logits, which come later.)
scores.softmax(dim=0) → (scores / h.size(-1) ** 0.5).softmax(dim=0)
scores.softmax(dim=0) → (scores / len(state) ** 0.5).softmax(dim=0)
    You divide the scores by a root. Luong's scores have no scale.
scores = h @ query → scores = torch.tanh(query + h).sum(dim=-1)
    You add query and encoder state: that is the additive score of lesson 06. Here they are multiplied, sᵀ W h.
scores = h @ query → scores = (h * query).mean(dim=-1)
    You take the mean of the products. A score is their sum.
weights @ h → weights @ (h @ W.T)
    You mix W h_i. W serves the scores alone; the values are the h_i.
scores = h @ query → scores = torch.tanh(h @ query)
    In yours a tanh goes around the scores. This score is a product alone, sᵀ W h.
read = → c = (h @ (state @ W)).softmax(dim=0) @ h ⏎ read = ; [x, fed] → [x, c] ; [context, next_state] → [c, next_state]
    This is the order of lesson 06: the old state asks, and the cell reads the context. Luong's cell reads `fed`, the h̃
    of the step before; the new state asks after that.
{_WEIGHTS_FOR_ONE}{_ASK_AND_MEET}{_MOVE_AND_SAY}""")
