"""The soft look-up, and how widely it looks. Lesson 01."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _shelf():
    torch.manual_seed(3)
    query, keys, values = torch.randn(3), torch.randn(5, 3), torch.randn(5, 2)
    return [(query, keys, values, 1.0), (query, keys, values, 0.5), (query, keys, values, 3.0)]


look_up = Exercise(
    task="Look a query up softly: match it with each key, divide by the temperature, make shares, "
    "mix the values.",
    cases=_shelf,
    hints=(
        "Three steps: one score a key, one share a key, one mixture.",
        "`keys @ query` holds all five matches at once.",
        "`shares = (keys @ query / temperature).softmax(dim=0)`, and then mix the rows of `values`.",
    ),
    passed="Very cold it is a hard look-up, very hot an average.",
)


@look_up.solution
def my_look_up(query, keys, values, temperature):
    shares = (keys @ query / temperature).softmax(dim=0)
    return shares @ values


@look_up.solution
def _(query, keys, values, temperature):
    strength = torch.exp((keys * query).sum(dim=1) / temperature)
    return (strength[:, None] * values).sum(dim=0) / strength.sum()


@look_up.mistake(
    "Your temperature works the wrong way round: a high one must make the shares more equal, so it "
    "divides the scores."
)
def _(query, keys, values, temperature):
    return (keys @ query * temperature).softmax(dim=0) @ values


@look_up.mistake("Your temperature has no effect. It divides the scores, before the exponential.")
def _(query, keys, values, temperature):
    return (keys @ query).softmax(dim=0) @ values


@look_up.mistake("This is the hard look-up: it takes the best key's value and drops the others.")
def _(query, keys, values, temperature):
    return values[(keys @ query).argmax()]


@look_up.mistake("The matches are used as they are. They are not shares before the softmax.")
def _(query, keys, values, temperature):
    return (keys @ query / temperature) @ values


@look_up.mistake(
    "The temperature divides the shares. It belongs inside the softmax, on the scores."
)
def _(query, keys, values, temperature):
    return ((keys @ query).softmax(dim=0) / temperature) @ values


@look_up.mistake("query and keys do not line up this way round. `keys @ query` is one score a key.")
def _(query, keys, values, temperature):
    return (query @ keys / temperature).softmax(dim=0) @ values


@look_up.mistake(
    "You divided the matches by their sum. A match may be negative: take e to each one first, as "
    "softmax does."
)
def _(query, keys, values, temperature):
    matches = keys @ query / temperature
    return (matches / matches.sum()) @ values


@look_up.mistake("e to a match is no share yet: divide by the sum of all five.")
def _(query, keys, values, temperature):
    return torch.exp(keys @ query / temperature) @ values


@look_up.mistake(
    "You divided by √d as well. That number comes in lesson 04; here the temperature alone divides "
    "the scores."
)
def _(query, keys, values, temperature):
    return (keys @ query / temperature / len(query) ** 0.5).softmax(dim=0) @ values


@look_up.mistake("Each value has its share. Now add them up over the keys: one row is asked.")
def _(query, keys, values, temperature):
    return (keys @ query / temperature).softmax(dim=0)[:, None] * values


_HALVED = (
    "You took the mean. The shares add up to 1 already, so the weighted values are just added."
)


@look_up.mistake(_HALVED)
def _(query, keys, values, temperature):
    return ((keys @ query / temperature).softmax(dim=0)[:, None] * values).mean(dim=0)


@look_up.mistake(
    "`keys * query` is not a score yet: each key still has a number for every feature. Add them up, "
    "or write `keys @ query`."
)
def _(query, keys, values, temperature):
    return (keys * query / temperature).softmax(dim=0) @ values


@look_up.mistake("The matches have one axis, the keys: softmax runs over dim 0.")
def _(query, keys, values, temperature):
    return (keys @ query / temperature).softmax(dim=1) @ values


@look_up.mistake(
    "The shares are (n,) and the values (n, v): `*` does not line them up. `shares @ values` "
    "multiplies and adds up."
)
def _(query, keys, values, temperature):
    return (keys @ query / temperature).softmax(dim=0) * values


@look_up.mistake(
    "values and shares do not line up this way round. `shares @ values` mixes the rows."
)
def _(query, keys, values, temperature):
    return values @ (keys @ query / temperature).softmax(dim=0)


@look_up.mistake("The shares mixed the keys. A key is what a thing is found by; mix the values.")
def _(query, keys, values, temperature):
    return (keys @ query / temperature).softmax(dim=0) @ keys


@look_up.mistake("You returned the shares. They still have to mix the values.")
def _(query, keys, values, temperature):
    return (keys @ query / temperature).softmax(dim=0)


def _rows():
    torch.manual_seed(4)
    certain = torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    return [((2 * torch.randn(3, 4)).softmax(-1),), (certain,)]


entropy = Exercise(
    task="How spread is each row? Entropy in nats: minus the sum of weight times log weight.",
    cases=_rows,
    hints=(
        "One number a row: the sum runs over the keys, the last axis.",
        "0 times log 0 counts as 0, but the computer says NaN. `torch.special.entr` or "
        "`clamp` or `xlogy` help.",
    ),
    passed="e to the entropy says among how many keys the row hesitates.",
)


@entropy.solution
def my_entropy(weights):
    return -torch.special.xlogy(weights, weights).sum(dim=-1)


@entropy.solution
def _(weights):
    return -(weights * weights.clamp(min=1e-30).log()).sum(dim=-1)


@entropy.mistake(
    "Right where all weights are positive. At weight 0 the computer says 0 · log 0 = NaN; it must "
    "count as 0."
)
def _(weights):
    return -(weights * weights.log()).sum(dim=-1)


_SIGN = "Your entropy is negative. Logarithms of weights are: a minus sign is missing."


@entropy.mistake(_SIGN)
def _(weights):
    return torch.special.xlogy(weights, weights).sum(dim=-1)


@entropy.mistake(_SIGN)
def _(weights):
    return (weights * weights.log()).sum(dim=-1)


_BITS = "This is in bits. With the natural logarithm it is in nats."


@entropy.mistake(_BITS)
def _(weights):
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / torch.log(torch.tensor(2.0))


@entropy.mistake(_BITS)
def _(weights):
    return -(weights * weights.log2()).sum(dim=-1)


@entropy.mistake("This is e to the entropy, the number of keys. Asked is the entropy itself.")
def _(weights):
    return torch.special.entr(weights).sum(dim=-1).exp()


@entropy.mistake("You added everything up to one number. Each row has its own entropy.")
def _(weights):
    return -torch.special.xlogy(weights, weights).sum()


@entropy.mistake("The sum runs over the queries. Add over the keys, the last axis.")
def _(weights):
    return -torch.special.xlogy(weights, weights).sum(dim=0)
