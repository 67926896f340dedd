"""One step of a recurrent decoder: without attention, and with Luong's. Lessons 05, 07."""

import torch

from transformer_lib.exercises.machinery import Exercise


def _decoder():
    torch.manual_seed(5)
    cases = []
    for batch, words, states in ((2, 3, 4), (5, 6, 2)):
        into, back = torch.randn(words + states, states), torch.randn(states, states)
        out = torch.randn(2 * states + words, words)
        x = torch.randn(batch, words)
        state, context = torch.randn(batch, states), torch.randn(batch, states)

        def cell(x, state, into=into, back=back):
            return torch.tanh(x @ into + state @ back) / 2 + state / 2

        def readout(x, out=out):
            return x @ out

        cases.append((x, state, context, cell, readout))
    return cases


gru_step = Exercise(
    task="One step of a decoder without attention. x (batch, words) is the embedded word, state and context "
    "(batch, states) the decoder's state and the encoder's last one. `cell(input, state)` gives the next "
    "state; its input is x and context, side by side. `readout` makes of next state, context and x, side by "
    "side, what tanh then bounds. Return that and the next state.",
    cases=_decoder,
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


@gru_step.mistake("The tanh of the output is missing.")
def _(x, state, context, cell, readout):
    _, after = _gru(x, state, context, cell, readout)
    return readout(torch.cat([after, context, x], dim=-1)), after


@gru_step.mistake("State and context are exchanged: the state is what moves on, the context stays.")
def _(x, state, context, cell, readout):
    return _gru(x, context, state, cell, readout)


@gru_step.mistake("Return two things: the output, and then the next state.")
def _(x, state, context, cell, readout):
    return _gru(x, state, context, cell, readout)[0]


@gru_step.mistake("Both are right, but the output comes first and then the state.")
def _(x, state, context, cell, readout):
    return _gru(x, state, context, cell, readout)[::-1]


def _step():
    torch.manual_seed(7)
    shapes = (4,), (5, 6), (4, 6), (3, 10)
    return [tuple(torch.randn(shape) for shape in shapes)]


luong_step = Exercise(
    task="One step of Luong's decoder, after the cell: state s (4,), encoder states h (5, 6), W (4, 6), W_c "
    "(3, 10). Score each encoder state with sᵀ W h_i, make shares of the scores, mix the context c (6,), "
    "and return h̃ = tanh(W_c [c; s]), (3,).",
    cases=_step,
    hints=(
        "Four results, one after the other: five scores, five shares, the context, h̃.",
        "All scores at once: `h @ (W.T @ s)`, or `h @ W.T @ s`.",
        "`context = scores.softmax(dim=0) @ h`, and `torch.tanh(W_c @ torch.cat([context, s]))`.",
    ),
    passed="Bahdanau asks with the state before the step, Luong with the one after it.",
)


@luong_step.solution
def my_luong_step(s, h, W, W_c):
    scores = h @ W.T @ s
    context = scores.softmax(dim=0) @ h
    return torch.tanh(W_c @ torch.cat([context, s]))


@luong_step.solution
def _(s, h, W, W_c):
    scores = torch.stack([s @ W @ state for state in h])
    shares = scores.exp() / scores.exp().sum()
    context = sum(share * state for share, state in zip(shares, h, strict=True))
    return torch.tanh(W_c[:, :6] @ context + W_c[:, 6:] @ s)


def _context(s, h, W):
    return (h @ W.T @ s).softmax(dim=0) @ h


@luong_step.mistake("The order in [c; s] is context first, then state.")
def _(s, h, W, W_c):
    return torch.tanh(W_c @ torch.cat([s, _context(s, h, W)]))


@luong_step.mistake("The tanh of h̃ is missing.")
def _(s, h, W, W_c):
    return W_c @ torch.cat([_context(s, h, W), s])


@luong_step.mistake("There is no softmax: scores are not shares.")
def _(s, h, W, W_c):
    return torch.tanh(W_c @ torch.cat([(h @ W.T @ s) @ h, s]))


@luong_step.mistake("This is the context. It still has to meet the state: h̃ = tanh(W_c [c; s]).")
def _(s, h, W, W_c):
    return _context(s, h, W)


@luong_step.mistake("These are the shares. They still have to mix the encoder states.")
def _(s, h, W, W_c):
    return (h @ W.T @ s).softmax(dim=0)


@luong_step.mistake("You put a tanh around the scores. This score is a product alone, sᵀ W h.")
def _(s, h, W, W_c):
    return torch.tanh(W_c @ torch.cat([torch.tanh(h @ W.T @ s).softmax(dim=0) @ h, s]))


@luong_step.mistake("You scale the scores by √d. Luong's general score has no scale.")
def _(s, h, W, W_c):
    return torch.tanh(W_c @ torch.cat([(h @ W.T @ s / len(s) ** 0.5).softmax(dim=0) @ h, s]))
