"""The soft look-up, and how widely it spreads its weights. Lesson 01."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _shelf():
    torch.manual_seed(3)
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    values = torch.tensor([[6.0, 0.0], [0.0, 6.0], [3.0, 9.0]])
    paper = torch.tensor([1.0, 2.0]), keys, values, 2.0
    one_key = (
        torch.tensor([1.0, -1.0]),
        torch.tensor([[0.0, 2.0]]),
        torch.tensor([[3.0, 4.0, 5.0]]),
        0.5,
    )
    near = torch.tensor([[37.0, 1.0], [37.0, 2.0], [36.0, 2.0]])
    cold = torch.tensor([1.0, 0.5]), near, values, 0.25  # scores of 150, 152 and 148
    square = torch.randn(3), torch.randn(3, 3), torch.randn(3, 3), 3.0
    all_differ = torch.randn(3), torch.randn(5, 3), torch.randn(5, 2), 0.5
    return [paper, one_key, cold, square, all_differ]


def _one_value(place, query, keys, values, temperature=1.0):
    scores = (keys @ query / temperature).tolist()
    weights = torch.tensor(scores).softmax(dim=0).tolist()
    parts = zip(weights, values[:, *place].tolist(), strict=True)
    mixed = " + ".join(f"{w:.3g}·{v:.3g}" for w, v in parts)
    return (
        f"The scores, over the temperature {temperature:g}: {', '.join(f'{s:.3g}' for s in scores)}. "
        f"The entry that is marked: {mixed}."
        if place
        else f"The scores: {', '.join(f'{s:.3g}' for s in scores)}. The right answer: {mixed}."
    )


look_up = Exercise(
    sections=("01 Query, key, value", "01 Hard or soft?"),
    task="Look a query up softly. Score it against each key with a dot product, divide the scores by the "
    "temperature, make weights of them with softmax, and mix the rows of values. query (d,), keys (n, d), "
    "values (n, v) and a number to (v,). It must also work where a low temperature makes scores of 150.",
    cases=_shelf,
    hints=(
        "There are three steps: one score for each key, one weight for each key, and one mixture of the rows "
        "of values.",
        "The score of a key is its dot product with the query: multiply entry by entry and add up. In "
        "`keys @ query` each row of keys meets the query, so it holds all n scores at once, (n,).",
        "A high temperature is to make the weights more alike, so it divides the scores before the softmax. "
        "There is one axis of keys, so it is `.softmax(dim=0)`. A row of weights (n,) times a table (n, v) is "
        "again a product with `@`, with the weights on the left.",
    ),
    passed="Very cold it is a hard look-up, very hot an average.",
    without=("attention", "Attention", "look_up"),
    gaps=("keys @ query", "scores / temperature", "dim=0", "weights @ values"),
    how=_one_value,
)


@look_up.solution
def my_look_up(query, keys, values, temperature):
    # One score for each key: the dot product of its row with the query.
    scores = keys @ query  # (n,)
    # A high temperature brings the scores, and so the weights, closer together.
    scores = scores / temperature  # (n,)
    # One weight for each key: positive, and together 1.
    weights = scores.softmax(dim=0)  # (n,)
    # Each row of values counts as much as its weight says.
    return weights @ values  # (v,)


@look_up.solution
def _(query, keys, values, temperature):
    scores = (keys * query).sum(dim=1) / temperature
    strength = torch.exp(scores - scores.max())
    return (strength[:, None] * values).sum(dim=0) / strength.sum()


_SCORES = """\
scores = keys @ query → scores = query @ keys
    query and keys do not line up this way round. `keys @ query` is one score for each key.
scores = keys @ query → scores = keys @ query / query.norm()
    You also divide by the length of the query. The score is the dot product as it is.
scores = keys @ query → scores = keys @ query / keys.norm(dim=1)
    You also divide by the length of each key. The score is the dot product as it is.
scores = keys @ query → scores = torch.cosine_similarity(keys, query[None])
    Your score is the cosine, the dot product over the lengths of query and key. Here it is the dot product itself.
scores = keys @ query → scores = -(keys - query).norm(dim=1)
    You score by the distance of query and key. Here the score is their dot product, `keys @ query`.
scores = keys @ query → scores = -((keys - query) ** 2).sum(dim=1)
    You score by the squared distance of query and key. Here the score is their dot product, `keys @ query`.
scores = keys @ query → scores = torch.dot(keys, query)
    `torch.dot` multiplies two rows. All keys at once meet the query in `keys @ query`.
dim=0 → dim=1
    `dim=1` is a second axis. The scores have one, the keys, and it is counted from 0: `softmax(dim=0)`.
"""

look_up.edits(f"""
scores / temperature → scores * temperature
    Your temperature works the wrong way round: a high one must make the weights more equal, so it divides
    the scores.
scores / temperature → scores
    Your temperature changes no weight. Do you use it? It must divide the scores, before `exp` or `softmax`. (If it
    divides all the exponentials, it cancels, because it divides their sum as well.)
scores / temperature → scores ; softmax(dim=0) → softmax(dim=0) / temperature
    The temperature divides the weights, or what they have mixed. It belongs inside the softmax, on the scores.
scores / temperature → scores / temperature**2
    You divide by the square of the temperature: it counts twice where query and keys are each divided by it.
    Divide the scores by it, once.
scores / temperature → scores / temperature**0.5
    You divide by the root of the temperature. Divide the scores by the temperature itself.
scores / temperature → scores ; softmax(dim=0) → softmax(dim=0) ** (1 / temperature)
scores / temperature → scores ; softmax(dim=0) → softmax(dim=0) ** temperature
    You take the weights to a power, and then they no longer add up to 1. The temperature divides the scores,
    before the softmax.
keys @ query → keys @ query / len(query) ** 0.5
    You divided by √d as well. That number comes in lesson 04; here the temperature alone divides the scores.
{_SCORES}scores = keys @ query → scores = keys * query
scores = keys @ query → scores = (keys * query).sum(dim=0)
scores = keys @ query → scores = (keys * query).sum()
scores = keys @ query → scores = keys * query ; dim=0 → dim=1
    There is to be one score for each key, the sum of its own d products: `(keys * query).sum(dim=1)`, or
    `keys @ query`. `keys * query` alone leaves d numbers for each key; a sum without `dim=1` mixes the keys.
scores.softmax(dim=0) → scores / temperature
    The scores are used as they are. They are not weights before the softmax.
scores.softmax(dim=0) → scores / scores.sum()
scores.softmax(dim=0) → scores / (keys @ query).sum()
    You divided the scores by their sum. A score may be negative: softmax takes e to the power of each first.
scores.softmax(dim=0) → scores.exp()
    e to the power of a score is not a weight yet: divide by the sum of all. `softmax` does both.
scores.softmax(dim=0) → scores.exp() / scores.exp().sum()
    At a low temperature the scores are large, and e to the power of 100 does not fit into 32 bits. Leave it to
    `softmax`, which first subtracts the largest score.
weights @ values → values[weights.argmax()]
    This is the hard look-up: it takes the best key's value and drops the others.
weights @ values → weights[:, None] * values
    Each row of values has its weight. Now add them up over the keys: one row is wanted.
weights @ values → (weights[:, None] * values).mean(dim=0)
    You took the mean. The weights add up to 1 already, so the weighted rows are only added.
weights @ values → (weights[:, None] * values).sum()
weights @ values → (weights[:, None] * values).sum(dim=1)
    You add up over the wrong axis. The sum goes over the keys, axis 0, and each column of values keeps its
    own.
weights @ values → weights * values
weights @ values → (weights * values).sum(dim=0)
    The weights are (n,) and the values (n, v): `*` does not line them up. `weights @ values` multiplies and
    adds up.
weights @ values → values @ weights
    values and weights do not line up this way round. `weights @ values` mixes the rows.
weights @ values → weights @ keys
    The weights mixed the keys. A key is what a thing is found by; mix the values.
return weights @ values → return weights
    You returned the weights. They still have to mix the values.
""")


def _one_number_each():
    keys = torch.tensor([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
    some = torch.tensor([1.0, 2.0]), keys, torch.tensor([6.0, 4.0, 9.0])  # scores 1, −2 and 3
    square = (
        torch.tensor([1.0, -1.0]),
        torch.tensor([[1.0, 2.0], [0.0, 3.0]]),
        torch.tensor([4.0, -2.0]),
    )
    loud = torch.tensor([100.0, 50.0]), keys, torch.tensor([1.0, 2.0, 3.0])
    return [some, square, loud]


look_up_for_one = Exercise(
    sections=("01 Query, key, value",),
    task="The soft look-up of one number a key, without a temperature: query (d,), keys (n, d) and values (n,) to "
    "one number, a tensor of shape (). Scores may be as large as 150.",
    cases=_one_number_each,
    hints=(
        "First the score of each key, which is its dot product with the query. `keys @ query` holds all of "
        "them, (n,). Softmax over them, `.softmax(dim=0)`, makes the weights.",
        "Each value counts as much as its weight says: multiply the two entry by entry and add up.",
    ),
    passed="With a row of values for each key, `weights @ values` mixes the rows in the same way.",
    without=("attention", "Attention", "look_up"),
    gaps=("keys @ query", "weights * values"),
    how=_one_value,
)


@look_up_for_one.solution
def my_look_up_for_one(query, keys, values):
    # One score for each key: the dot product of its row with the query.
    scores = keys @ query  # (n,)
    # One weight for each key: positive, and together 1.
    weights = scores.softmax(dim=0)  # (n,)
    # Each value counts as much as its weight says.
    return (weights * values).sum()  # ()


@look_up_for_one.solution
def _(query, keys, values):
    return torch.softmax((keys * query).sum(dim=1), dim=0) @ values


look_up_for_one.edits(f"""
{_SCORES}scores = keys @ query → scores = keys * query
scores = keys @ query → scores = (keys * query).sum(dim=0)
scores = keys @ query → scores = (keys * query).sum()
scores = keys @ query → scores = keys * query ; weights * values → weights @ values
    There is to be one score for each key, the sum of its own d products: `(keys * query).sum(dim=1)`, or
    `keys @ query`. `keys * query` alone leaves d numbers for each key; a sum without `dim=1` mixes the keys.
keys @ query → keys @ query / len(query) ** 0.5
    You divided the scores by √d. That number comes in lesson 04; here the scores stay as they are.
scores.softmax(dim=0) → scores
    The scores are used as they are. They are not weights before the softmax.
scores.softmax(dim=0) → scores / scores.sum()
    You divided the scores by their sum. A score may be negative: softmax takes e to the power of each first.
scores.softmax(dim=0) → scores.exp()
    e to the power of a score is not a weight yet: divide by the sum of all. `softmax` does both.
scores.softmax(dim=0) → scores.exp() / scores.exp().sum()
    e to the power of 100 does not fit into 32 bits. Leave it to `softmax`, which first subtracts the largest score.
(weights * values).sum() → weights * values
(weights * values).sum() → weights[:, None] * values
    Each value has its weight. Now add them up: one number is wanted.
(weights * values).sum() → (weights * values).mean()
    You took the mean. The weights add up to 1 already, so the weighted values are only added.
(weights * values).sum() → values[weights.argmax()]
    This is the hard look-up: it takes the best key's value and drops the others.
(weights * values).sum() → weights @ keys
    The weights mixed the keys. A key is what a thing is found by; mix the values.
(weights * values).sum() → weights
    You returned the weights. They still have to mix the values.
""")


def _rows():
    torch.manual_seed(4)
    paper = torch.tensor([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])
    certain = torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.2, 0.2, 0.6]])
    one_row = torch.tensor([[0.9, 0.1]])
    return [(x,) for x in (paper, certain, one_row, (2 * torch.randn(3, 4)).softmax(-1))]


def _one_entropy(place, weights):
    row = [f"{w:.3g}·ln {w:.3g}" for w in weights[*place].tolist() if w]
    return f"The entry that is marked: −({' + '.join(row)}). A weight of 0 counts as 0."


entropy = Exercise(
    sections=("01 A map is a table of weights",),
    task="How spread is each row? Entropy in nats: minus the sum of weight times its natural logarithm, where 0 "
    "times log 0 counts as 0. weights (n, k), each row adding up to 1, to (n,).",
    cases=_rows,
    hints=(
        "Each row has one entropy, so the sum goes over the keys, the last axis: (n, k) becomes (n,).",
        "A weight of 0 adds nothing, but the logarithm of 0 is minus infinity, and 0 times infinity is NaN. "
        "`torch.special.xlogy(w, w)` is w times log w, and 0 where w is 0. Or keep the weights a little above "
        "0 inside the logarithm with `clamp`.",
        "The logarithm of a weight is negative or 0, so the sum is too. A minus sign makes the entropy of it.",
    ),
    passed="e to the entropy says among how many keys the row hesitates.",
    without=("entropy",),
    gaps=("torch.special.xlogy(weights, weights)", "terms.sum(dim=-1)"),
    how=_one_entropy,
)


@entropy.solution
def my_entropy(weights):
    # Weight times its logarithm; xlogy knows that 0 · log 0 counts as 0.
    terms = torch.special.xlogy(weights, weights)  # (n, k)
    # Logarithms of weights are negative, so a minus sign; one sum for each row.
    return -terms.sum(dim=-1)  # (n,)


@entropy.solution
def _(weights):
    return -(weights * weights.clamp(min=1e-30).log()).sum(dim=-1)


entropy.edits("""
torch.special.xlogy(weights, weights) → weights * weights.log()
    At weight 0 the computer says 0 · log 0 = NaN; it must count as 0.
-terms → terms
    Your entropy is negative, because logarithms of weights are negative. A minus sign is missing.
torch.special.xlogy(weights, weights) → torch.special.xlogy(weights, weights) / 0.6931472
torch.special.xlogy(weights, weights) → weights * weights.log2()
    This is in bits. With the natural logarithm it is in nats.
return -terms.sum(dim=-1) → return (-terms.sum(dim=-1)).exp()
    This is e to the entropy, the number of keys. Wanted is the entropy itself.
sum(dim=-1) → sum()
    You added everything up to one number, and each row has its own entropy. (`weights[weights > 0]` puts the
    entries of all rows into one long row, so `dim=-1` adds up all of them.)
return -terms.sum(dim=-1) → return -terms.sum(dim=-1).mean()
    You averaged the rows into one number, and each row has its own entropy: (n,) is wanted.
torch.special.xlogy(weights, weights) → weights * weights.log_softmax(dim=-1)
    You take the softmax of the weights once more, inside the logarithm, as `cross_entropy` and `log_softmax` do.
    These are weights already: the logarithm is of the weight itself.
torch.special.xlogy(weights, weights) → weights.softmax(dim=-1) * weights.log_softmax(dim=-1)
    You take the softmax of the weights once more. These are weights already, and it makes them more even.
sum(dim=-1) → sum(dim=0)
    Your sum goes over the queries. Add over the keys, the last axis.
sum(dim=-1) → sum(dim=-1, keepdim=True)
    There is an axis of length 1 too many: (n, 1) in place of (n,). Leave out `keepdim`.
torch.special.xlogy(weights, weights) → weights * __import__("math").log(weights)
    `math.log` takes a single number. For a whole tensor it is `.log()`.
sum(dim=-1) → mean(dim=-1)
    You took the mean over the keys. Entropy is the sum: each logarithm is weighted by its weight already.
torch.special.xlogy(weights, weights) → weights.log()
torch.special.xlogy(weights, weights) → weights.clamp(min=1e-30).log()
    You add up the logarithms alone. Each is multiplied by its weight.
torch.special.xlogy(weights, weights) → weights * weights
    Where is the logarithm? Each weight is multiplied by its own logarithm, not by itself.
return -terms.sum(dim=-1) → return -terms.sum(dim=-1) / __import__("math").log(weights.size(-1))
    You divide by the largest entropy there can be, log k. Wanted is the entropy itself, in nats.
torch.special.xlogy(weights, weights) → weights * (1 + weights).log()
torch.special.xlogy(weights, weights) → weights * (weights + 0.01).log()
    What you add to the weight changes its logarithm: 0 must count as 0, and the rest must stay as it is.
""")
