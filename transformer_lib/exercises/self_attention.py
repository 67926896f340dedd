"""A sequence that attends to itself, and how far its words are from each other. Lesson 08."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _one_head():
    torch.manual_seed(8)
    paper = (
        torch.tensor([[1.0, 0], [1, 1]]),
        torch.tensor([[1.0, 1, 0, 0], [0, 1, 1, 0]]),
        torch.tensor([[1.0, 1, 0, 0], [0, 0, 2, 2]]),
        torch.tensor([[1.0], [10]]),
    )
    loud = torch.eye(2), torch.tensor([[100.0], [-100]]), torch.tensor([[1.0], [2]])
    square = (torch.randn(3, 3) for _ in range(4))
    return [
        paper,
        (*loud, torch.tensor([[1.0, 0, 2], [3, 1, 0]])),
        (torch.randn(1, 3), torch.randn(3, 2), torch.randn(3, 2), torch.randn(3, 4)),
        tuple(square),
        (torch.randn(5, 4), torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 2)),
        (torch.randn(3, 6), torch.randn(6, 2), torch.randn(6, 2), torch.randn(6, 5)),
    ]


def _mixed(weights, values, scores):
    """One entry of the output in one line of arithmetic."""
    terms = (f"{a:.3g}·{v:.3g}" for a, v in zip(weights, values, strict=True))
    given = ", ".join(f"{s:.3g}" for s in scores)
    return f"The entry that is marked: {' + '.join(terms)}, with the weights softmax({given})."


def _one_entry(place, X, W_q, W_k, W_v):
    token, entry = place
    scores = X[token] @ W_q @ (X @ W_k).T / math.sqrt(W_q.size(1))
    return _mixed(scores.softmax(dim=0), X @ W_v[:, entry], scores)


one_head = Exercise(
    sections=("08 Three roles, three matrices",),
    task="Self-attention of one sentence X (tokens, d), every token to every token, with W_q and W_k (d, d_k) "
    "and W_v (d, d_v): the output (tokens, d_v). Scores are divided by √d_k. They may be around 100.",
    cases=_one_head,
    hints=(
        "Every token plays three parts. It asks (its query), it is found (its key), and it contributes (its "
        "value). So X is multiplied by three matrices, and all three products have one row for each token.",
        "Every query meets every key: `q @ k.T` has a row for each query and a column for each key. `.T` is "
        "needed because a matrix product takes rows of the left side and columns of the right side. A score "
        "adds up d_k products, so it is divided by the root of d_k, which is `q.size(-1)`.",
        "A softmax along each row (`dim=-1`) makes weights of the scores. Row i of the weights then mixes the "
        "rows of the values: again a matrix product.",
    ),
    passed="Where in your code does a row wait for another row? Nowhere.",
    without=("MultiHeadAttention", "MultiheadAttention", "multi_head_attention"),
    gaps=("X @ W_q", "X @ W_k", "X @ W_v", "q @ k.T", "q.size(-1)", "dim=-1", "weights @ v"),
    how=_one_entry,
)


@one_head.solution
def my_self_attention(X, W_q, W_k, W_v):
    # Three parts for every token: what it asks, what it is found by, what it contributes.
    q = X @ W_q  # (tokens, d_k)
    k = X @ W_k  # (tokens, d_k)
    v = X @ W_v  # (tokens, d_v)
    # Row i: the query of token i with the keys of all tokens.
    scores = q @ k.T  # (tokens, tokens)
    # A score is a sum of d_k products. The root of d_k keeps its size.
    scores = scores / math.sqrt(q.size(-1))  # (tokens, tokens)
    # Each row adds up to 1 over the keys, the last axis.
    weights = scores.softmax(dim=-1)  # (tokens, tokens)
    # Row i mixes the values of all tokens with the weights of token i.
    return weights @ v  # (tokens, d_v)


@one_head.solution
def _(X, W_q, W_k, W_v):
    rows = []
    for x in X:
        scores = torch.stack([(x @ W_q) @ (other @ W_k) for other in X])
        weights = (scores / W_q.size(1) ** 0.5).softmax(dim=0)
        rows.append(sum(w * (other @ W_v) for w, other in zip(weights, X, strict=True)))
    return torch.stack(rows)


one_head.edits("""
scores / math.sqrt(q.size(-1)) → scores
    The scores are not divided by √d_k.
scores / math → scores * math
    The scores are multiplied by √d_k. They are to be divided by it.
math.sqrt(q.size(-1)) → math.sqrt(X.size(1))
    You divide by the root of the width of X. A score is a sum of d_k products: √d_k, the width of the queries.
math.sqrt(q.size(-1)) → math.sqrt(v.size(-1))
    You divide by the root of d_v, the width of the values. A score is a sum of d_k products: √d_k.
math.sqrt(q.size(-1)) → math.sqrt(len(X))
    You divide by the root of the number of tokens. A score is a sum of d_k products: √d_k.
math.sqrt(q.size(-1)) → q.size(-1)
    In yours the scores are divided by d_k in all. Either the root is missing, or you divide by √d_k twice.
math.sqrt(q.size(-1)) → int(math.sqrt(q.size(-1)))
scores / math → scores // math
    A fraction is cut off in yours, as `int` and `//` do. Divide by √d_k as it is: `/ math.sqrt(d_k)`.
math.sqrt(q.size(-1)) → q.size(-1) / 2
    You divide by d_k and by 2, as `/ d_k ** 1/2` does: powers come before division. Write `** 0.5`, or
    `math.sqrt`.
math.sqrt(q.size(-1)) → len(X)
math.sqrt(q.size(-1)) → X.size(1)
math.sqrt(q.size(-1)) → q.size(-1) ** 2
math.sqrt(q.size(-1)) → math.sqrt(q.numel())
math.sqrt(q.size(-1)) → math.sqrt(2)
math.sqrt(q.size(-1)) → math.sqrt(3)
    You divide by another number. A score is a sum of d_k products, where d_k is the width of the queries: √d_k.
math.sqrt(q.size(-1)) → torch.sqrt(q.size(-1))
    `torch.sqrt` takes a tensor, and a size is a plain number: `math.sqrt`, or `** 0.5`.
X @ W_q → X ; X @ W_k → X ; q.size(-1) → W_q.size(-1)
X @ W_q → X ; X @ W_k → X
    W_q and W_k are not used: your scores are those of the tokens themselves. First `X @ W_q` and `X @ W_k`,
    then the product of the two.
dim=-1 → dim=0
    Your columns add up to 1, not your rows. Each query spreads its weights over the keys, so the softmax
    runs over the last axis.
scores.softmax(dim=-1) → scores.flatten().softmax(dim=0).view(len(X), len(X))
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum()
    All your weights together add up to 1. Each row adds up to 1 by itself: softmax over the last axis.
X @ W_q → X @ W_k ; X @ W_k → X @ W_q
    Queries and keys are exchanged: row i of the scores belongs to the query of token i, `q @ k.T`.
X @ W_k → X @ W_q
X @ W_q → X @ W_k
    Queries and keys come from one matrix. W_q makes the queries, W_k the keys.
X @ W_k → X @ W_v ; X @ W_v → X @ W_k
    Keys and values are exchanged. Queries are compared with the keys, and the values are mixed.
X @ W_q → X @ W_v
X @ W_k → X @ W_v
    The values stand in the scores. Those compare queries with keys, X W_q and X W_k.
X @ W_v → X
    You mix the tokens themselves. What is mixed are the values, X W_v.
weights @ v → weights @ k
    You mix the keys. The weights come from them, the output from the values.
weights @ v → weights @ q
    You mix the queries. The weights come from them, the output from the values.
weights @ v → v[weights.argmax(dim=-1)]
    Each token takes the value of one token alone, the one of the largest weight. The output mixes all
    values: `weights @ v`.
weights @ v → weights[:, -1:] * v[-1]
    Each output is the value of the last token alone, times its weight. In a loop `=` overwrites what came
    before; the sum needs `+=`.
weights @ v → (weights @ v).softmax(dim=-1)
    There is a softmax behind the output. It belongs to the scores alone.
weights @ v → v
    These are the values as they are, as if each token attended to itself alone. The weights have to mix them.
weights @ v → weights
    These are the weights. They still have to mix the values.
scores.softmax(dim=-1) → scores
    There is no softmax: scores can be negative and do not add up to 1.
scores.softmax(dim=-1) → scores.exp()
scores.softmax(dim=-1) → scores.relu()
scores.softmax(dim=-1) → scores.sigmoid()
    Each of your weights is made of its own score alone, so the rows do not add up to 1. Softmax takes e to the
    power of each score and divides by the sum of the row.
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum(dim=-1)
scores.softmax(dim=-1) → (e := (scores - scores.max()).exp()) / e.sum(dim=-1)
scores.softmax(dim=-1) → (scores - scores.amax(dim=-1)).softmax(dim=-1)
scores.softmax(dim=-1) → (e := (scores - scores.amax(dim=-1)).exp()) / e.sum(dim=-1, keepdim=True)
scores.softmax(dim=-1) → scores.exp() ; weights @ v → weights @ v / weights.sum(dim=-1)
    Each row is to meet its own sum, or its own largest score, but these stand in one row and meet the columns:
    `keepdim=True` lets them stand below each other.
scores.softmax(dim=-1) → scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    On paper this is right. But e to the power of a score around 100 does not fit into a 32-bit number, and infinity
    divided by infinity is NaN. `softmax` takes off the largest score of each row first.
scores.softmax(dim=-1) → (e := (scores - scores.max()).exp()) / e.sum(dim=-1, keepdim=True)
    You take off the largest score of the whole table. A row that lies far below it becomes 0 / 0: take off the
    largest of each row, `scores.amax(dim=-1, keepdim=True)`.
X @ W_q → X @ W_q.T ; X @ W_k → X @ W_k.T ; X @ W_v → X @ W_v.T
    Your matrices stand the other way round, as `nn.Linear` stores them. Here W_q is (d, d_k), and the queries
    are `X @ W_q`.
X @ → X.T @
X @ W_q → W_q @ X
X @ W_k → W_k @ X
X @ W_v → W_v @ X
X @ W_q → W_q @ X ; X @ W_k → W_k @ X ; X @ W_v → W_v @ X
X @ W_q → W_q.T @ X ; X @ W_k → W_k.T @ X ; X @ W_v → W_v.T @ X
    The matrix stands on the wrong side, or X is turned. The tokens are the rows of X, so it is `X @ W_q`.
X @ → X *
    `*` multiplies entry by entry. A matrix product is written with `@`.
q @ k.T → q @ k
    A `.T` is missing: queries and keys are both (tokens, d_k), and `q @ k` cannot multiply them as rows with
    rows. With `q @ k.T` row i holds the scores of token i with all tokens.
q @ k.T → q @ k.transpose(1, 2)
    A table has the axes 0 and 1, and no axis 2: `k.T` exchanges the two, and the last one is `dim=-1`.
q @ k.T → q @ X @ W_k.T
    Without brackets Python multiplies from left to right. The keys are one table, which is turned as a whole:
    `(X @ W_k).T`.
q @ k.T → q.T @ k
q @ k.T → q.T @ k ; weights @ v → v @ weights
q @ k.T → q.T @ k ; weights @ v → weights @ v.T
    The `.T` stands at the queries: `q.T @ k` compares entries, (d_k, d_k). Tokens are compared by `q @ k.T`,
    (tokens, tokens).
q @ k.T → q * k
q @ k.T → (q * k).sum(dim=-1)
    `q * k` multiplies entry by entry, each token with itself alone. Every query meets every key in `q @ k.T`.
weights @ v → weights.T @ v
weights @ v → v @ weights
weights @ v → weights * v
    The weights meet the values wrongly. Row i holds the weights of token i and mixes the rows of the values:
    `weights @ v`, without a `.T`.
math.sqrt(q.size(-1)) → 1 ; scores.softmax(dim=-1) → scores.softmax(dim=-1) / math.sqrt(len(q[0]))
    You divide by √d_k after the softmax, so your rows no longer add up to 1. The root belongs to the scores.
weights @ v → weights @ v + v
weights @ v → X + weights @ v
    The token itself, or its value, is added to the output. Its weight for itself counts it already. (x plus
    attention is the layer of lesson 11.)
scores / math → torch.triu(torch.full_like(scores, -math.inf), 1) + scores / math
    In yours a token attends only to itself and those before it: you put in a causal mask. Here every token attends to
    all tokens.
scores / math → torch.triu(torch.full_like(scores, -math.inf)) + scores / math
    In yours a token attends only to those before it. Here every token attends to all tokens, itself among them.
scores / math → torch.tril(torch.full_like(scores, -math.inf), -1) + scores / math
    In yours a token attends only to itself and those after it. Here every token attends to all tokens.
scores / math → torch.tril(torch.full_like(scores, -math.inf)) + scores / math
    In yours a token attends only to those after it. Here every token attends to all tokens, itself among them.
scores / math → torch.diag(torch.full((len(X),), -math.inf)) + scores / math
    In yours a token attends to all tokens but itself. Here every token attends to all tokens, itself among them.
scores.softmax → scores.clamp(max=50).softmax
scores.softmax → scores.clamp(-50, 50).softmax
    Large scores become equal in yours: you cut them off. `softmax` takes off the largest one of each row first, so it
    bears them as they are.
weights @ v → (weights @ v).sum(dim=0)
weights @ v → (weights @ v).mean(dim=0)
    You return one vector for the whole sentence. Every token has an output of its own, (tokens, d_v).
""")


def _one_query():
    sentences = zip((1, 0, 0, 2, 2, 1), _one_head(), strict=True)
    return [(X[token], X, *matrices) for token, (X, *matrices) in sentences]


def _entry_for_one(place, x, X, W_q, W_k, W_v):
    scores = x @ W_q @ (X @ W_k).T / math.sqrt(len(W_q[0]))
    return _mixed(scores.softmax(dim=0), X @ W_v[:, place[0]], scores)


one_head_for_one = Exercise(
    sections=("08 Three roles, three matrices",),
    task="The same for one token: x (d,), which is one row of the sentence X (tokens, d), attends to all tokens "
    "of X. W_q and W_k are (d, d_k), W_v is (d, d_v). Its output (d_v,).",
    cases=_one_query,
    hints=(
        "The token x makes the query, `x @ W_q`. All tokens of the sentence make keys and values, so there it "
        "is X that is multiplied.",
        "`k @ q` compares every key with the query and gives one score for each token. The scores are divided "
        "by the root of d_k, the number of entries of q, and softmax makes weights of them.",
        "The output is the sum of all values, each times its weight: `weights @ v`.",
    ),
    passed="For all tokens at once the queries become a table, one row for each, and nothing else changes.",
    without=one_head.without,
    gaps=("x @ W_q", "X @ W_k", "X @ W_v", "k @ q", "weights @ v"),
    how=_entry_for_one,
)


@one_head_for_one.solution
def my_one_head_for_one(x, X, W_q, W_k, W_v):
    # The token asks with one query, and all tokens of its sentence answer.
    q = x @ W_q  # (d_k,)
    k = X @ W_k  # (tokens, d_k)
    v = X @ W_v  # (tokens, d_v)
    # One score for each token, divided by the root of d_k.
    scores = k @ q / math.sqrt(len(q))  # (tokens,)
    weights = scores.softmax(dim=0)  # (tokens,)
    # The values, each times its weight, added up.
    return weights @ v  # (d_v,)


@one_head_for_one.solution
def _(x, X, W_q, W_k, W_v):
    scores = torch.stack([(x @ W_q) @ (token @ W_k) for token in X]) / W_q.size(1) ** 0.5
    return sum(w * (token @ W_v) for w, token in zip(scores.softmax(dim=0), X, strict=True))


one_head_for_one.edits("""
 / math.sqrt(len(q)) →
    The scores are not divided by √d_k.
k @ q / math → k @ q * math
    The scores are multiplied by √d_k. They are to be divided by it.
k @ q / math.sqrt(len(q)) → k @ q ; scores.softmax(dim=0) → scores.softmax(dim=0) / math.sqrt(len(q))
    You divide by √d_k after the softmax, so your weights no longer add up to 1. The root belongs to the scores.
math.sqrt(len(q)) → len(q)
    In yours the scores are divided by d_k in all. Either the root is missing, or you divide by √d_k twice.
math.sqrt(len(q)) → int(math.sqrt(len(q)))
k @ q / math → k @ q // math
    A fraction is cut off in yours, as `int` and `//` do. Divide by √d_k as it is: `/ math.sqrt(d_k)`.
math.sqrt(len(q)) → len(q) / 2
    You divide by d_k and by 2, as `/ d_k ** 1/2` does: powers come before division. Write `** 0.5`, or
    `math.sqrt`.
math.sqrt(len(q)) → torch.sqrt(len(q))
    `torch.sqrt` takes a tensor, and a length is a plain number: `math.sqrt`, or `** 0.5`.
math.sqrt(len(q)) → math.sqrt(len(x))
math.sqrt(len(q)) → math.sqrt(len(X))
math.sqrt(len(q)) → math.sqrt(v.size(1))
    You divide by the root of another length. Each score is a sum over the d_k entries of the query: √d_k.
x @ W_q → x @ W_k ; X @ W_k → X @ W_q
    Query and keys are exchanged: x makes the query with W_q, X makes the keys with W_k.
X @ W_k → X @ W_q
    The keys are made with W_q. They have a matrix of their own, W_k.
x @ W_q → x @ W_k
    The query is made with W_k. It has a matrix of its own, W_q.
x @ W_q → x ; X @ W_k → X ; len(q) → W_q.size(-1)
x @ W_q → x ; X @ W_k → X
    W_q and W_k are not used: your scores are those of the tokens themselves. First `x @ W_q` and `X @ W_k`, then the
    product of the two.
X @ W_k → X @ W_v ; X @ W_v → X @ W_k
    Keys and values are exchanged. The query is compared with the keys, and the values are mixed.
X @ W_v → X
    You mix the tokens themselves. What is mixed are the values, X W_v.
X @ W_v → X @ W_k
    You mix the keys. The weights come from them, the output from the values.
scores.softmax(dim=0) → scores
    There is no softmax: scores can be negative and do not add up to 1.
scores.softmax(dim=0) → scores.exp()
scores.softmax(dim=0) → scores.relu()
scores.softmax(dim=0) → scores.sigmoid()
    Each of your weights is made of its own score alone, so they do not add up to 1. Softmax takes e to the power of
    each score and divides by the sum.
scores.softmax(dim=0) → scores.clamp(max=50).softmax(dim=0)
    Large scores become equal in yours: you cut them off. `softmax` takes off the largest one first, so it bears them
    as they are.
return weights @ v → return weights
    These are the weights. They still have to mix the values.
weights @ v → v[weights.argmax()]
    You take the value with the largest weight alone. The output mixes all values: `weights @ v`.
weights @ v → weights[-1] * v[-1]
    Your output is the value of the last token alone, times its weight. In a loop `=` overwrites what came before; the
    sum needs `+=`.
weights @ v → (weights @ v).softmax(dim=0)
    There is a softmax behind the output. It belongs to the scores alone.
weights @ v → v.mean(dim=0)
    Your output is the mean of the values. The weights say how much each counts.
weights @ v → (weights[:, None] * v).mean(dim=0)
    You take the mean where a sum is wanted: the weights add up to 1 already.
weights @ v → x @ W_v + weights @ v
weights @ v → x + weights @ v
    The token itself, or its value, is added to the output. Its weight for itself counts it already. (x plus
    attention is the layer of lesson 11.)
weights @ v → v @ weights
weights @ v → weights * v
    Each value is multiplied by its weight, and then they are added up: `weights @ v`.
return weights @ v → return (X @ W_q @ k.T / math.sqrt(len(q))).softmax(dim=-1) @ v
    These are the outputs of all tokens. Asked is that of x alone: `x @ W_q` is the only query.
x @ W_q → W_q @ x
    The matrix stands on the wrong side: W_q is (d, d_k), so the query is `x @ W_q`.
k @ q → q @ k
    `q @ k` multiplies the query with the columns of k. Its rows are the keys: `k @ q`.
X @ W_k → x @ W_k ; k @ q → (k @ q)[None] ; X @ W_v → (x @ W_v)[None]
X @ W_k → x @ W_k
X @ W_k → x @ W_k ; X @ W_v → x @ W_v
    Your token attends to itself alone. Keys and values come from all tokens, X.
scores.softmax(dim=0) → scores.exp() / scores.exp().sum()
    On paper this is right, but e to the power of a score around 100 does not fit into a 32-bit number: `softmax`
    takes off the largest score first.
""")


def _ways():
    return [
        ("causal", 3, 3),
        ("centred", 3, 3),
        ("recurrent", 3, 3),
        ("attention", 3, 3),
        ("causal", 4, 3),
        ("centred", 4, 3),
        ("causal", 6, 3),
        ("attention", 33, 3),
        ("attention", 2, 5),
        ("recurrent", 33, 3),
        ("recurrent", 8, 5),
        ("causal", 33, 3),
        ("causal", 12, 5),
        ("causal", 10, 4),
        ("causal", 8, 4),
        ("causal", 9, 3),
        ("causal", 20, 3),
        ("causal", 6, 5),
        ("centred", 33, 3),
        ("centred", 12, 5),
        ("centred", 13, 5),
        ("centred", 14, 7),
        ("centred", 4, 9),
        ("centred", 6, 5),
    ]


path_length = Exercise(
    sections=("08 How far is it from one word to another?",),
    task="How many hand-overs does it take to bring a signal from the first of n ≥ 2 tokens to the last? A hand-over "
    'is one layer for `kind` "attention" and for convolutions of width k ≥ 3, "causal" (looks back only) and '
    '"centred" (k odd), and one step for a "recurrent" layer. A whole number.',
    cases=_ways,
    hints=(
        "The way from the first token to the last is n − 1 positions long, as there are n − 1 gaps between n "
        "fence posts. How many positions does one hand-over cover?",
        "A causal convolution of width 3 hears the token itself and the two before it: it covers k − 1 = 2. A "
        "centred one covers (k − 1)/2 to each side.",
        "Attention covers any distance in 1 hand-over, a recurrent step covers 1 position. For the convolutions "
        "divide n − 1 by what a layer covers, and round up, `math.ceil`, because a rest of the way needs a "
        "layer of its own.",
    ),
    passed="One of the four does not depend on n.",
    tolerance=1e-6,
    gaps=("(k - 1) // 2", "k - 1", "n - 1", "way / covered"),
)


@path_length.solution
def my_path_length(kind, n, k):
    # Attention: each token hears all others in one layer.
    if kind == "attention":
        return 1
    # From token 0 to token n - 1.
    way = n - 1
    # How many positions does one hand-over cover?
    if kind == "recurrent":
        covered = 1
    elif kind == "causal":
        covered = k - 1  # one of the k is the token itself
    else:
        covered = (k - 1) // 2  # half of them stand on the other side
    # A rest of the way, however short, needs a hand-over of its own.
    return math.ceil(way / covered)


@path_length.solution
def _(kind, n, k):
    reached, hand_overs = 0, 0  # how far the signal has come from position 0
    while reached < n - 1:
        reached += {"attention": n, "recurrent": 1, "causal": k - 1, "centred": k // 2}[kind]
        hand_overs += 1
    return hand_overs


path_length.edits("""
return 1 → return n - 1
return 1 → return n
return 1 → return 0
return 1 → return 2
return 1 → return math.ceil((n - 1) / (k - 1))
return 1 → return math.ceil(n / k)
    Attention takes one hand-over, whatever n and k are: it does not go from neighbour to neighbour, and one layer
    links any two tokens.
covered = 1 → return 1
covered = 1 → covered = k - 1
covered = 1 → covered = k
    In a recurrent layer the signal goes from state to state: each step covers one position, whatever k is.
covered = 1 → return n
    In a recurrent layer you count a step for each of the n tokens. The signal is handed on from token to token,
    and between n tokens there are n − 1 hand-overs.
way = n - 1 → way = n
covered = k - 1 → covered = k - 1 ⏎ way = n
covered = (k - 1) // 2 → covered = (k - 1) // 2 ⏎ way = n
covered = k - 1 → covered = k - 1 ⏎ way = n ; covered = (k - 1) // 2 → covered = (k - 1) // 2 ⏎ way = n
math.ceil(way / covered) → math.ceil(way / covered) + 1
covered = k - 1 → return math.ceil(way / (k - 1)) + 1
    You count one hand-over too many, at least where the hand-overs fit the way exactly. Between n fence posts there are
    n − 1 gaps: the way is n − 1 positions long. And `math.ceil` adds one only where a rest is left, `// … + 1`
    always.
covered = k - 1 → covered = k
    Your causal window reaches k positions back. One of its k tokens is the token itself, so it reaches k − 1.
covered = (k - 1) // 2 → covered = k / 2
    Your centred window reaches k/2 positions to each side. One of its k tokens is the token itself: it is half of the
    k − 1 others.
covered = k - 1 → covered = k ; covered = (k - 1) // 2 → covered = k / 2
    Both of your windows count the token itself. Of the k tokens k − 1 others are left: so far back reaches a causal
    one, and a centred one half of that to each side.
covered = k - 1 → covered = k ⏎ way = n
covered = (k - 1) // 2 → covered = k / 2 ⏎ way = n
covered = k - 1 → covered = k ⏎ way = n ; covered = (k - 1) // 2 → covered = k / 2 ⏎ way = n
way = n - 1 → way = n ; covered = k - 1 → covered = k ; covered = (k - 1) // 2 → covered = k / 2
covered = k - 1 → covered = k ⏎ way = n ; covered = (k - 1) // 2 → covered = k ⏎ way = n
covered = (k - 1) // 2 → covered = k ⏎ way = n
way = n - 1 → way = n ; covered = k - 1 → covered = k ; covered = (k - 1) // 2 → covered = k
covered = k - 1 → return n // k
covered = k - 1 → return n // k + 1
covered = k - 1 → return n // k ; covered = (k - 1) // 2 → return n // k
covered = k - 1 → return n // k ; covered = (k - 1) // 2 → return 2 * n // k
    n/k is the order of growth. Count exactly: the way is n − 1 positions long, and a hand-over covers k − 1 of
    them, or half as many to each side.
math.ceil(way / covered) → way // covered
covered = k - 1 → return way // (k - 1)
covered = (k - 1) // 2 → return way // ((k - 1) // 2)
math.ceil(way / covered) → round(way / covered)
    You round down, or to the nearest. A rest of the way, however short, needs a layer of its own: round up,
    `math.ceil`.
math.ceil(way / covered) → way / covered
covered = k - 1 → return way / (k - 1)
covered = (k - 1) // 2 → return way / ((k - 1) // 2)
    A number of hand-overs is whole: round up with `math.ceil`.
covered = k - 1 → covered = (k - 1) // 2 ; covered = (k - 1) // 2 → covered = k - 1
covered = k - 1 → covered = (k - 1) / 2 ; covered = (k - 1) // 2 → covered = k - 1
covered = k - 1 → covered = k // 2 ; covered = (k - 1) // 2 → covered = k - 1
    Causal and centred are exchanged: a causal window looks back over k − 1 positions, a centred one over
    (k − 1)/2 to each side.
covered = (k - 1) // 2 → covered = k - 1
    A centred window looks to both sides, so it covers (k − 1)/2 positions in each direction, half of what a
    causal one covers.
covered = k - 1 → covered = (k - 1) // 2
covered = k - 1 → covered = (k - 1) / 2
covered = k - 1 → covered = k // 2
    A causal window looks back only, so all k − 1 positions lie on one side. You gave it half of them, as a
    centred one has.
covered = (k - 1) // 2 → return 2 * math.ceil(way / (k - 1))
covered = (k - 1) // 2 → return 2 * (way // (k - 1))
    You round before you double: divide n − 1 by (k − 1)/2, and round up once, at the end.
covered = (k - 1) // 2 → covered = (k + 1) // 2
    Half of a centred window, the token itself not counted, is (k − 1)/2. Yours counts it: (k + 1)/2.
covered = k - 1 → covered = k ; covered = (k - 1) // 2 → covered = k
covered = (k - 1) // 2 → covered = k
    Two things are missing at the centred one. A window of width k covers k − 1 positions, since one of its k
    tokens is the token itself; and a centred one covers only half of them to each side.
covered = k - 1 → return n - k
covered = k - 1 → return n - k + 1
covered = k - 1 → return n - k ; covered = (k - 1) // 2 → return n - k
covered = k - 1 → return n - k + 1 ; covered = (k - 1) // 2 → return n - k + 1
    n − k + 1 is how many windows of width k fit into n. Asked is how many layers the signal needs when each
    brings it k − 1 positions on, or half as many.
covered = k - 1 → return math.ceil(math.log(n, k))
covered = k - 1 → return math.ceil(math.log(n, k)) ; covered = (k - 1) // 2 → return math.ceil(math.log(n, k))
covered = k - 1 → return math.ceil(math.log2(n)) ; covered = (k - 1) // 2 → return math.ceil(math.log2(n))
    A logarithm is right for windows with holes that grow from layer to layer (dilated ones). Here every layer
    covers the same number of positions: divide.
covered = k - 1 → covered = way ; covered = (k - 1) // 2 → covered = way
covered = k - 1 → covered = 1 ; covered = (k - 1) // 2 → covered = 1
    One layer of a convolution brings the signal k − 1 positions on, or half as many to each side: neither one
    position alone nor at once to the end.
math.ceil(way / covered) → covered
covered = k - 1 → return k - 1 ; covered = (k - 1) // 2 → return (k - 1) // 2
    That is how many positions one hand-over covers. How many does the whole way take?
covered = (k - 1) // 2 → return None
covered = k - 1 → return None
    For a convolution yours returns None: none of its branches is for that name. Is it spelt as in the task,
    "causal" and "centred"?
""")
