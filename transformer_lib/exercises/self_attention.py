"""A sequence that attends to itself, and how far its words are from each other. Lesson 08."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _one_head():
    torch.manual_seed(8)
    return [
        (torch.randn(5, 4), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 2)),
        (torch.randn(3, 6), torch.randn(6, 2), torch.randn(6, 2), torch.randn(6, 5)),
    ]


one_head = Exercise(
    task="Self-attention of one sequence X (n, d), with W_q and W_k (d, d_k) and W_v (d, d_v): "
    "the output (n, d_v).",
    cases=_one_head,
    hints=(
        "Three products first: queries, keys and values, all of them from X.",
        "Then scaled dot-product attention, as in lesson 04. The scale is that of the queries: the "
        "number of columns of W_q.",
        "`scores = q @ k.T / math.sqrt(q.size(-1))`, a softmax along each row, and then the values.",
    ),
    passed="Where in your code does a row wait for another row? Nowhere.",
)


@one_head.solution
def my_self_attention(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    scores = q @ k.T / math.sqrt(q.size(-1))
    return scores.softmax(dim=-1) @ v


@one_head.solution
def _(X, W_q, W_k, W_v):
    rows = []
    for x in X:
        scores = torch.stack([(x @ W_q) @ (other @ W_k) for other in X])
        shares = (scores / W_q.size(1) ** 0.5).softmax(dim=0)
        rows.append(sum(share * (other @ W_v) for share, other in zip(shares, X, strict=True)))
    return torch.stack(rows)


@one_head.mistake("The scores are not divided by √d_k.")
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake(
    "You divide by the root of the width of X. The scores are sums over d_k entries: the width "
    "of the queries."
)
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / math.sqrt(X.size(1))).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake(
    "You divide by the root of d_v, the width of the values. The scores are sums over the entries of "
    "queries and keys: √d_k."
)
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / math.sqrt(W_v.size(1))).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake("You divide by d_k. Take its root.")
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / W_q.size(1)).softmax(dim=-1) @ (X @ W_v)


_UNPROJECTED = (
    "W_q and W_k are not used: your scores are those of the tokens themselves. First `X @ W_q` and "
    "`X @ W_k`, then the product of the two."
)


@one_head.mistake(_UNPROJECTED)
def _(X, W_q, W_k, W_v):
    return (X @ X.T / math.sqrt(X.size(1))).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake(_UNPROJECTED)
def _(X, W_q, W_k, W_v):
    return (X @ X.T / math.sqrt(W_q.size(1))).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake("You divide by the root of the number of tokens. The scale is √d_k.")
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / math.sqrt(len(X))).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake(
    "Your columns add up to 1, not your rows: each query shares out its own glance, so the softmax "
    "runs over the keys, the last axis."
)
def _(X, W_q, W_k, W_v):
    scores = X @ W_q @ (X @ W_k).T / math.sqrt(W_q.size(1))
    return scores.softmax(dim=0) @ (X @ W_v)


@one_head.mistake("Queries and keys are exchanged: row i must belong to the query of token i.")
def _(X, W_q, W_k, W_v):
    scores = X @ W_k @ (X @ W_q).T / math.sqrt(W_q.size(1))
    return scores.softmax(dim=-1) @ (X @ W_v)


@one_head.mistake("Queries and keys come from one matrix. W_k has a task of its own.")
def _(X, W_q, W_k, W_v):
    q = X @ W_q
    return (q @ q.T / math.sqrt(q.size(1))).softmax(dim=-1) @ (X @ W_v)


@one_head.mistake("You mix the tokens themselves. What is mixed are the values, X W_v.")
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / math.sqrt(W_q.size(1))).softmax(dim=-1) @ X


@one_head.mistake("You mix the keys. The weights come from them, the result from the values.")
def _(X, W_q, W_k, W_v):
    k = X @ W_k
    return (X @ W_q @ k.T / math.sqrt(W_q.size(1))).softmax(dim=-1) @ k


@one_head.mistake("These are the weights. They still have to mix the values.")
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / math.sqrt(W_q.size(1))).softmax(dim=-1)


@one_head.mistake("There is no softmax: scores can be negative and do not add up to 1.")
def _(X, W_q, W_k, W_v):
    return (X @ W_q @ (X @ W_k).T / math.sqrt(W_q.size(1))) @ (X @ W_v)


@one_head.mistake(
    "Your matrices stand the other way round, as `nn.Linear` stores them. Here W_q is (d, d_k), "
    "and the queries are `X @ W_q`."
)
def _(X, W_q, W_k, W_v):
    q, k, v = X @ W_q.T, X @ W_k.T, X @ W_v.T
    return (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


@one_head.mistake(
    "A `.T` is missing: queries and keys are both (n, d_k), and `q @ k` cannot multiply them. With "
    "`q @ k.T` row i holds the scores of token i with all n."
)
def _(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    return (q @ k / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


@one_head.mistake(
    "The `.T` stands at the queries: `q.T @ k` compares entries, (d_k, d_k). Tokens are compared by "
    "`q @ k.T`, (n, n)."
)
def _(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    return (q.T @ k / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


@one_head.mistake(
    "`q * k` multiplies entry by entry, each token with itself. Every query meets every key in "
    "`q @ k.T`, (n, n)."
)
def _(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    return (q * k / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


@one_head.mistake(
    "You mix by the columns of the weights. Row i holds the shares of token i: `weights @ v`, "
    "without a `.T`."
)
def _(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    return (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1).T @ v


@one_head.mistake(
    "You divide by √d_k after the softmax, so your rows no longer add up to 1. The root belongs to "
    "the scores."
)
def _(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    return (q @ k.T).softmax(dim=-1) / math.sqrt(q.size(-1)) @ v


def _ways():
    return [
        ("attention", 33, 3),
        ("attention", 2, 5),
        ("recurrent", 33, 3),
        ("recurrent", 8, 5),
        ("causal", 33, 3),
        ("causal", 12, 5),
        ("causal", 10, 4),
        ("causal", 9, 3),
        ("causal", 6, 5),
        ("centred", 33, 3),
        ("centred", 12, 5),
        ("centred", 13, 5),
        ("centred", 4, 9),
    ]


path_length = Exercise(
    task="How many moves does it take to bring a signal from the first of n ≥ 2 tokens to the last? "
    'A move is one layer for "attention" and for convolutions of width k, "causal" (looks back '
    'only) and "centred" (k odd), and one step for a "recurrent" layer.',
    cases=_ways,
    hints=(
        "The way from the first token to the last is n − 1 positions long. How many of them does "
        "one move cover?",
        "A causal convolution of width 3 hears the token itself and the two before it: it covers "
        "k − 1 = 2. A centred one covers (k − 1)/2 to each side.",
        "Attention covers any distance in 1 move, a recurrent step covers 1 position. For the "
        "convolutions divide n − 1 by what a layer covers, and round up: `math.ceil`.",
    ),
    passed="One of the four does not depend on n.",
    tolerance=1e-6,
)


@path_length.solution
def my_path_length(kind, n, k):
    if kind == "attention":
        return 1
    covered = {"recurrent": 1, "causal": k - 1, "centred": (k - 1) // 2}[kind]
    return math.ceil((n - 1) / covered)


@path_length.solution
def _(kind, n, k):
    reached, moves = 0, 0  # how far the signal has come from position 0
    while reached < n - 1:
        reached += {"attention": n, "recurrent": 1, "causal": k - 1, "centred": k // 2}[kind]
        moves += 1
    return moves


def _but(**wrong):
    """The solution, with another rule for some kinds."""
    return lambda kind, n, k: wrong[kind](n, k) if kind in wrong else my_path_length(kind, n, k)


path_length.mistake(
    "Attention does not go from neighbour to neighbour: one layer links any two tokens, however long "
    "the sentence is."
)(_but(attention=lambda n, k: n - 1))

path_length.mistake(
    "For attention one layer is enough, whatever n is. It is not the n of the others."
)(_but(attention=lambda n, k: n))

path_length.mistake(
    "The recurrent layer is one layer, but its signal goes from state to state: each step covers one "
    "position."
)(_but(recurrent=lambda n, k: 1))

path_length.mistake(
    "Between n tokens there are n − 1 steps, as between n fence posts there are n − 1 gaps. Look at "
    "the recurrent layer."
)(_but(recurrent=lambda n, k: n))

path_length.mistake(
    "You count n tokens where the way is only n − 1 positions long, in each of the three: between n "
    "fence posts there are n − 1 gaps."
)(
    _but(
        recurrent=lambda n, k: n,
        causal=lambda n, k: math.ceil(n / (k - 1)),
        centred=lambda n, k: math.ceil(2 * n / (k - 1)),
    )
)

_SLIPS = (  # what is said, the causal convolution's moves and the centred one's
    (
        "A layer covers k − 1 positions, that is right. But the way is n − 1 positions long, not n.",
        lambda n, k: math.ceil(n / (k - 1)),
        lambda n, k: math.ceil(2 * n / (k - 1)),
    ),
    (
        "A window of width k covers k − 1 positions, since one of its k places is the token itself.",
        lambda n, k: math.ceil((n - 1) / k),
        lambda n, k: math.ceil(2 * (n - 1) / k),
    ),
    (
        "n/k is the order of growth. Count exactly: n − 1 positions, k − 1 at a move.",
        lambda n, k: math.ceil(n / k),
        lambda n, k: math.ceil(2 * n / k),
    ),
    (
        "You round down: the rest of the way, however short, needs a layer of its own. Round up.",
        lambda n, k: (n - 1) // (k - 1),
        lambda n, k: 2 * (n - 1) // (k - 1),
    ),
    (
        "A number of moves is whole: round up with `math.ceil`.",
        lambda n, k: (n - 1) / (k - 1),
        lambda n, k: 2 * (n - 1) / (k - 1),
    ),
)

for _said, _causal, _centred in _SLIPS:
    path_length.mistake(_said)(_but(causal=_causal, centred=_centred))
    path_length.mistake(f"Look at the causal convolution, the other three are right. {_said}")(
        _but(causal=_causal)
    )
    path_length.mistake(f"Look at the centred convolution, the other three are right. {_said}")(
        _but(centred=_centred)
    )

path_length.mistake(
    "n/k is the order of growth. Count exactly, in all three: n − 1 positions, k − 1 at a move."
)(
    _but(
        recurrent=lambda n, k: n,
        causal=lambda n, k: math.ceil(n / k),
        centred=lambda n, k: math.ceil(2 * n / k),
    )
)

_EXCHANGED = (
    "Causal and centred are exchanged: a causal window looks back over k − 1 positions, a centred one "
    "over (k − 1)/2 to each side."
)

path_length.mistake(_EXCHANGED)(
    _but(
        causal=lambda n, k: math.ceil(2 * (n - 1) / (k - 1)),
        centred=lambda n, k: math.ceil((n - 1) / (k - 1)),
    )
)

path_length.mistake(_EXCHANGED)(
    _but(
        causal=lambda n, k: math.ceil((n - 1) / ((k - 1) // 2)),
        centred=lambda n, k: math.ceil((n - 1) / (k - 1)),
    )
)

path_length.mistake(
    "A centred window looks to both sides, so it covers (k − 1)/2 positions in each direction, half "
    "of what a causal one covers."
)(_but(centred=lambda n, k: math.ceil((n - 1) / (k - 1))))

path_length.mistake(
    "You round up before you double: divide n − 1 by (k − 1)/2, and round up once, at the end."
)(_but(centred=lambda n, k: 2 * math.ceil((n - 1) / (k - 1))))

_HALF = (
    "Two things are missing. A window of width k covers k − 1 positions, since one of its k places is "
    "the token itself; and a centred one covers only half of them to each side."
)

path_length.mistake(_HALF)(
    _but(causal=lambda n, k: math.ceil((n - 1) / k), centred=lambda n, k: math.ceil((n - 1) / k))
)

path_length.mistake(_HALF)(
    _but(causal=lambda n, k: math.ceil(n / k), centred=lambda n, k: math.ceil(n / k))
)
