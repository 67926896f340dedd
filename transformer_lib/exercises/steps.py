"""One step of a recurrent decoder: plain, Bahdanau's, and Luong's. Lessons 05 to 07."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _cell(width, states):
    """Something that reads an input of that width and moves a state on, as a GRU cell does."""
    into, back = torch.randn(width, states) / 2, torch.randn(states, states)

    def cell(x, state):
        return torch.tanh(x @ into + state @ back) / 2 + state / 2

    return cell


def _readout(width, words):
    out = torch.randn(width, words) / 2
    return lambda x: x @ out


def _plain():
    torch.manual_seed(5)
    cases = []
    for batch, words, states in ((2, 3, 4), (5, 6, 2)):
        cell, readout = _cell(words + states, states), _readout(2 * states + words, words)
        x, state = torch.randn(batch, words), torch.randn(batch, states)
        cases.append((x, state, torch.randn(batch, states), cell, readout))
    return cases


gru_step = Exercise(
    task="One step of a decoder without attention. x (batch, d_model) is the embedded word, state and context "
    "(batch, d_hidden) the decoder's state and the encoder's last one. `cell(input, state)` gives the next "
    "state; its input is x and context, side by side. `readout` makes of next state, context and x, side by "
    "side, what tanh then bounds. Return that and the next state.",
    cases=_plain,
    hints=(
        "Two lines and a `return`: first the state moves on, then the output is read off.",
        "Side by side: `torch.cat([x, context], dim=-1)`.",
        "`state = cell(torch.cat([x, context], dim=-1), state)`, then `torch.tanh(readout(torch.cat([state, "
        "context, x], dim=-1)))`.",
    ),
    passed="`context` is the same at every step: all that this decoder knows of the source.",
)


@gru_step.solution
def my_gru_step(x, state, context, cell, readout):
    state = cell(torch.cat([x, context], dim=-1), state)
    out = torch.tanh(readout(torch.cat([state, context, x], dim=-1)))
    return out, state


@gru_step.solution
def _(x, state, context, cell, readout):
    after = cell(torch.hstack((x, context)), state)
    raw = readout(torch.hstack((after, context, x)))
    return (raw.exp() - (-raw).exp()) / (raw.exp() + (-raw).exp()), after


def _gru(x, state, context, cell, readout):
    after = cell(torch.cat([x, context], dim=-1), state)
    return torch.tanh(readout(torch.cat([after, context, x], dim=-1))), after


@gru_step.mistake("The output is read off the old state. First the state moves on.")
def _(x, state, context, cell, readout):
    _, after = _gru(x, state, context, cell, readout)
    return torch.tanh(readout(torch.cat([state, context, x], dim=-1))), after


@gru_step.mistake(
    "The output is right. But you return the old state: the next step would start over."
)
def _(x, state, context, cell, readout):
    return _gru(x, state, context, cell, readout)[0], state


@gru_step.mistake(
    "The cell reads context and x in this order. x comes first, as its weights expect."
)
def _(x, state, context, cell, readout):
    after = cell(torch.cat([context, x], dim=-1), state)
    return torch.tanh(readout(torch.cat([after, context, x], dim=-1))), after


@gru_step.mistake("The readout gets state, x, context. The order is state, context, x.")
def _(x, state, context, cell, readout):
    _, after = _gru(x, state, context, cell, readout)
    return torch.tanh(readout(torch.cat([after, x, context], dim=-1))), after


@gru_step.mistake("The readout gets x, state, context. The order is state, context, x.")
def _(x, state, context, cell, readout):
    _, after = _gru(x, state, context, cell, readout)
    return torch.tanh(readout(torch.cat([x, after, context], dim=-1))), after


@gru_step.mistake("The tanh of the output is missing.")
def _(x, state, context, cell, readout):
    _, after = _gru(x, state, context, cell, readout)
    return readout(torch.cat([after, context, x], dim=-1)), after


@gru_step.mistake("You return the output twice. The second thing is the next state.")
def _(x, state, context, cell, readout):
    return (_gru(x, state, context, cell, readout)[0],) * 2


@gru_step.mistake("Return two things: the output, and then the next state.")
def _(x, state, context, cell, readout):
    return _gru(x, state, context, cell, readout)[0]


@gru_step.mistake("Both are right, but the output comes first and then the state.")
def _(x, state, context, cell, readout):
    return _gru(x, state, context, cell, readout)[::-1]


_OF_ITS_LAST_LINES = gru_step.mistakes.copy()  # which the step of lesson 06 shares


@gru_step.mistake("State and context are exchanged: the state is what moves on, the context stays.")
def _(x, state, context, cell, readout):
    return _gru(x, context, state, cell, readout)


def _looking_back():
    torch.manual_seed(12)
    cases = []
    for batch, source, words, states, memory, width in ((2, 5, 3, 4, 7, 6), (4, 3, 2, 6, 5, 7)):
        cell = _cell(words + memory, states)
        readout = _readout(states + memory + words, words)
        x, state = torch.randn(batch, words), torch.randn(batch, states)
        h = torch.randn(batch, source, memory)
        weights = (torch.randn(width, states), torch.randn(width, memory), torch.randn(width))
        cases.append((x, state, h, cell, readout, *weights))
    return cases


bahdanau_step = Exercise(
    task="Lesson 05's step, but now the context is looked up, anew at every step. x (batch, d_model) is the "
    "embedded word, state (batch, d_hidden) the decoder's, h (batch, source, d_memory) the encoder's states, W_q "
    "(width, d_hidden), W_k (width, d_memory), w_v (width,). Score every h_i with w_vᵀ tanh(W_q s + W_k h_i), s "
    "being the state *before* the step; make shares of the scores, and with them the context (batch, d_memory). "
    "Then go on as before with `cell` and `readout`. Return the output and the next state.",
    cases=_looking_back,
    hints=(
        "Three new lines above those of lesson 05: scores (batch, source), shares (batch, source), context "
        "(batch, d_memory).",
        "`scores = torch.tanh((state @ W_q.T)[:, None] + h @ W_k.T) @ w_v`. Along which axis do the shares sum "
        "to 1?",
        "`context = (scores.softmax(dim=-1)[:, None] @ h)[:, 0]`, and then your two lines of lesson 05.",
    ),
    passed="The context is a result, not a parameter: another state gives another context.",
)


@bahdanau_step.solution
def my_bahdanau_step(x, state, h, cell, readout, W_q, W_k, w_v):
    scores = torch.tanh((state @ W_q.T)[:, None] + h @ W_k.T) @ w_v
    context = (scores.softmax(dim=-1)[:, None] @ h)[:, 0]
    state = cell(torch.cat([x, context], dim=-1), state)
    out = torch.tanh(readout(torch.cat([state, context, x], dim=-1)))
    return out, state


@bahdanau_step.solution
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    contexts = []
    for s, states in zip(state, h, strict=True):
        scores = torch.stack([w_v @ torch.tanh(W_q @ s + W_k @ h_i) for h_i in states])
        shares = scores.exp() / scores.exp().sum()
        contexts.append(sum(share * h_i for share, h_i in zip(shares, states, strict=True)))
    return _gru(x, state, torch.stack(contexts), cell, readout)


def _scores(state, h, W_q, W_k, w_v):
    return torch.tanh((state @ W_q.T)[:, None] + h @ W_k.T) @ w_v


def _mixed(scores, h, dim=-1):
    return (scores.softmax(dim=dim)[:, None] @ h)[:, 0]


@bahdanau_step.mistake(
    "You ask with the state after the step. Bahdanau asks with the one before: the context is what the cell "
    "reads."
)
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    first = _mixed(_scores(state, h, W_q, W_k, w_v), h)
    after = cell(torch.cat([x, first], dim=-1), state)
    context = _mixed(_scores(after, h, W_q, W_k, w_v), h)
    return torch.tanh(readout(torch.cat([after, context, x], dim=-1))), after


@bahdanau_step.mistake("There is no softmax: scores are not shares.")
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    context = (_scores(state, h, W_q, W_k, w_v)[:, None] @ h)[:, 0]
    return _gru(x, state, context, cell, readout)


@bahdanau_step.mistake(
    "Your shares sum to 1 over the sentences of the batch: softmax over the source, the last axis."
)
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    context = _mixed(_scores(state, h, W_q, W_k, w_v), h, dim=0)
    return _gru(x, state, context, cell, readout)


@bahdanau_step.mistake("The tanh of the scores is missing. Without it s shifts all scores alike.")
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    scores = ((state @ W_q.T)[:, None] + h @ W_k.T) @ w_v
    return _gru(x, state, _mixed(scores, h), cell, readout)


@bahdanau_step.mistake("The state plays no part in your scores: every step would look alike.")
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    scores = torch.tanh(h @ W_k.T) @ w_v
    return _gru(x, state, _mixed(scores, h), cell, readout)


@bahdanau_step.mistake("You took the best encoder state alone. The context is a mixture of all.")
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    best = _scores(state, h, W_q, W_k, w_v).argmax(dim=-1)
    return _gru(x, state, h[torch.arange(len(h)), best], cell, readout)


@bahdanau_step.mistake(
    "The context is the mean of the encoder states. The shares should weigh them."
)
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    return _gru(x, state, h.mean(dim=1), cell, readout)


@bahdanau_step.mistake("This is the context. The step goes on: cell, readout, tanh.")
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    return _mixed(_scores(state, h, W_q, W_k, w_v), h)


@bahdanau_step.mistake("You scale the scores by √d. The additive score has no scale.")
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    scores = _scores(state, h, W_q, W_k, w_v) / len(w_v) ** 0.5
    return _gru(x, state, _mixed(scores, h), cell, readout)


@bahdanau_step.mistake(
    "The context is the encoder's last state, as in lesson 05. Here it is looked up in all of them."
)
def _(x, state, h, cell, readout, W_q, W_k, w_v):
    return _gru(x, state, h[:, -1], cell, readout)


def _with_context(mistake):
    """The same mistake of lesson 05, made behind the right context."""

    def answer(x, state, h, cell, readout, W_q, W_k, w_v):
        context = _mixed(_scores(state, h, W_q, W_k, w_v), h)
        return mistake(x, state, context, cell, readout)

    return answer


for _message, _mistake in _OF_ITS_LAST_LINES:
    bahdanau_step.mistake(_message)(_with_context(_mistake))


def _feeding():
    torch.manual_seed(7)
    cases = []
    for batch, source, words, states, memory, width in ((2, 5, 3, 4, 7, 6), (4, 3, 2, 6, 5, 7)):
        cell = _cell(words + width, states)
        x, state, fed = (torch.randn(batch, n) for n in (words, states, width))
        h = torch.randn(batch, source, memory)
        W, W_c = torch.randn(states, memory) / 2, torch.randn(width, memory + states) / 2
        cases.append((x, state, fed, h, cell, W, W_c))
    return cases


luong_step = Exercise(
    task="Your step once more, in Luong's order. x (batch, d_model) is the embedded word, state (batch, d_hidden), fed "
    "(batch, width) the h̃ of the step before, h (batch, source, d_memory) the encoder's states, W (d_hidden, "
    "d_memory), W_c (width, d_memory + d_hidden). First `cell` reads x and fed, side by side, and gives the next "
    "state s. Then score every h_i with sᵀ W h_i, mix the context c, and make h̃ = tanh(W_c [c; s]). Return h̃ "
    "and the state.",
    cases=_feeding,
    hints=(
        "Order: the state moves, then it asks. Shapes: scores (batch, source), context (batch, d_memory).",
        "`state = cell(torch.cat([x, fed], dim=-1), state)`, and all scores at once: `(h @ (state @ W)[..., "
        "None])[..., 0]`.",
        "`context = (scores.softmax(dim=-1)[:, None] @ h)[:, 0]`, then `torch.tanh(torch.cat([context, state], "
        "dim=-1) @ W_c.T)`.",
    ),
    passed="Bahdanau asks with the state before the step, Luong with the one after it.",
)


@luong_step.solution
def my_luong_step(x, state, fed, h, cell, W, W_c):
    state = cell(torch.cat([x, fed], dim=-1), state)
    scores = (h @ (state @ W)[..., None])[..., 0]
    context = (scores.softmax(dim=-1)[:, None] @ h)[:, 0]
    return torch.tanh(torch.cat([context, state], dim=-1) @ W_c.T), state


@luong_step.solution
def _(x, state, fed, h, cell, W, W_c):
    state = cell(torch.hstack((x, fed)), state)
    said = []
    for s, states in zip(state, h, strict=True):
        scores = torch.stack([s @ W @ h_i for h_i in states])
        shares = scores.exp() / scores.exp().sum()
        context = sum(share * h_i for share, h_i in zip(shares, states, strict=True))
        said.append(torch.tanh(W_c[:, : len(context)] @ context + W_c[:, len(context) :] @ s))
    return torch.stack(said), state


def _moved(x, state, fed, cell):
    return cell(torch.cat([x, fed], dim=-1), state)


def _products(state, h, W):
    return (h @ (state @ W)[..., None])[..., 0]


def _h_tilde(context, state, W_c):
    return torch.tanh(torch.cat([context, state], dim=-1) @ W_c.T)


@luong_step.mistake(
    "You ask with the state before the step: that is Bahdanau's order. Here the state moves first."
)
def _(x, state, fed, h, cell, W, W_c):
    after = _moved(x, state, fed, cell)
    return _h_tilde(_mixed(_products(state, h, W), h), after, W_c), after


@luong_step.mistake("h̃ is made of the context and the old state. [c; s] wants the new one.")
def _(x, state, fed, h, cell, W, W_c):
    after = _moved(x, state, fed, cell)
    return _h_tilde(_mixed(_products(after, h, W), h), state, W_c), after


@luong_step.mistake("The order in [c; s] is context first, then state.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return _h_tilde(state, _mixed(_products(state, h, W), h), W_c), state


@luong_step.mistake("The tanh of h̃ is missing.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    context = _mixed(_products(state, h, W), h)
    return torch.cat([context, state], dim=-1) @ W_c.T, state


@luong_step.mistake("There is no softmax: scores are not shares.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return _h_tilde((_products(state, h, W)[:, None] @ h)[:, 0], state, W_c), state


@luong_step.mistake(
    "Your shares sum to 1 over the sentences of the batch: softmax over the source, the last axis."
)
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return _h_tilde(_mixed(_products(state, h, W), h, dim=0), state, W_c), state


@luong_step.mistake("This is the context. It still has to meet the state: h̃ = tanh(W_c [c; s]).")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return _mixed(_products(state, h, W), h), state


@luong_step.mistake("You put a tanh around the scores. This score is a product alone, sᵀ W h.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return _h_tilde(_mixed(torch.tanh(_products(state, h, W)), h), state, W_c), state


@luong_step.mistake("You scale the scores by √d. Luong's general score has no scale.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    scores = _products(state, h, W) / state.size(-1) ** 0.5
    return _h_tilde(_mixed(scores, h), state, W_c), state


@luong_step.mistake("The cell reads fed and x in this order. x comes first, as its weights expect.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(fed, state, x, cell)
    return _h_tilde(_mixed(_products(state, h, W), h), state, W_c), state


@luong_step.mistake("h̃ is right. But you return the old state: the next step would start over.")
def _(x, state, fed, h, cell, W, W_c):
    after = _moved(x, state, fed, cell)
    return _h_tilde(_mixed(_products(after, h, W), h), after, W_c), state


@luong_step.mistake(
    "You return h̃ twice. The second thing is the state, which the next step's cell moves on."
)
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    h_tilde = _h_tilde(_mixed(_products(state, h, W), h), state, W_c)
    return h_tilde, h_tilde


@luong_step.mistake("Return two things: h̃, and then the state.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return _h_tilde(_mixed(_products(state, h, W), h), state, W_c)


@luong_step.mistake("Both are right, but h̃ comes first and then the state.")
def _(x, state, fed, h, cell, W, W_c):
    state = _moved(x, state, fed, cell)
    return state, _h_tilde(_mixed(_products(state, h, W), h), state, W_c)
