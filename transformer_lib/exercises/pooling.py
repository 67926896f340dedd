"""Pooling by distance. Lesson 02."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise

_POOLINGS = (
    "nadaraya_watson",
    "kernel_weights",
    "gaussian",
    "KernelRegression",
    "average_pooling",
)


def _points():
    twins = torch.tensor([2.0, 1.0, 2.0])  # points of equal value: the i-th alone is left out
    rows = [5.0, 8.0, 6.0], [4.0, 7.0], [0.5, 2.0, -1.0, 4.0], [0.0, 1.0, 4.0, 9.0, 16.0]
    return [*((torch.tensor(row),) for row in rows), (twins,)]


leave_one_out = Exercise(
    sections=("02 Learn the width",),
    task="Row i: all points but the i-th, in their order, also where two points are equal. (n,) to (n, n − 1).",
    cases=_points,
    hints=(
        "For one i it is `torch.cat([points[:i], points[i + 1 :]])`: all before the i-th, then all behind it. A "
        "list of these rows becomes a table with `torch.stack`.",
        "Without a loop: repeat the points n times, `points.expand(n, n)`. In row i of this table the i-th has "
        "to go, so keep what is not on the diagonal. `torch.eye(n, dtype=torch.bool)` is True on the diagonal, "
        "and `~` turns it round.",
        "A mask in brackets, `table[mask]`, picks the entries where it is True, row by row, into one long row "
        "of n(n − 1). `.reshape(n, n - 1)` cuts that into rows.",
    ),
    passed="Leave y out with the same function, and each y stays with its x.",
    without=("leave_one_out",),
    gaps=("points.expand(n, n)", "~torch.eye(n, dtype=torch.bool)", "n, n - 1"),
)


@leave_one_out.solution
def my_leave_one_out(points):
    n = len(points)
    # The points n times, one copy a row.
    rows = points.expand(n, n)  # (n, n)
    # Row i keeps all but its i-th point: True everywhere but on the diagonal.
    others = ~torch.eye(n, dtype=torch.bool)  # (n, n)
    # A mask picks its entries into one long row, which is cut into n rows again.
    return rows[others].reshape(n, n - 1)  # (n, n − 1)


@leave_one_out.solution
def _(points):
    return torch.stack([torch.cat([points[:i], points[i + 1 :]]) for i in range(len(points))])


leave_one_out.edits("""
rows[others].reshape(n, n - 1) → rows
    Nothing is left out: row i still holds point i.
~torch.eye(n, dtype=torch.bool) → points != points[:, None]
rows[others].reshape(n, n - 1) → torch.stack([points[points != points[i]] for i in range(n)])
    You compare the points themselves, so every point equal to the i-th is left out with it. Compare their positions:
    `torch.arange(len(points)) != i`.
~torch.eye(n, dtype=torch.bool) → torch.arange(n) != (points == points[:, None]).int().argmax(1)[:, None]
    You find the point by its value, so of several equal points the first is left out. Leave it out by its position:
    `range(len(points))` counts them.
n = len(points) → n = 50
    50 is the lesson's number of points. Here it is `len(points)`.
rows[others].reshape(n, n - 1) → points[:-1].expand(n, n - 1)
    Every row leaves out the last point. Row i leaves out the i-th.
rows[others].reshape(n, n - 1) → points[1:].expand(n, n - 1)
    Every row leaves out the first point. Row i leaves out the i-th.
rows[others].reshape(n, n - 1) → rows * others
    Point i is set to 0, not left out. A key at 0 still has a weight: the row must be shorter.
rows[others].reshape(n, n - 1) → torch.where(others, rows, torch.nan)
rows[others].reshape(n, n - 1) → torch.where(others, rows, float("-inf"))
    Point i is replaced, not left out. The row must be shorter, n − 1 points.
~torch.eye → torch.eye ; rows[others].reshape(n, n - 1) → rows[others]
~torch.eye → torch.eye
~torch.eye → torch.eye ; n, n - 1 → n, -1
    You kept the diagonal and dropped the rest. Turn the mask round with `~`.
~torch.eye(n, dtype=torch.bool) → ~torch.eye(n)
    `~` turns truth values round, and `torch.eye(n)` holds numbers. With `dtype=torch.bool` it is a mask.
.reshape(n, n - 1) →
    The right points, in one long row. Cut it into n rows with `reshape(n, n - 1)`.
.reshape(n, n - 1) → .reshape(n - 1, n)
    You cut the long row in the wrong places: there are n rows of n − 1 points, `reshape(n, n - 1)`.
rows[others].reshape(n, n - 1) → torch.stack([points.roll(-i)[1:] for i in range(n)])
    The right points in each row, but in another order: keep the order in which `points` has them.
points.expand(n, n) → points[:, None].expand(n, n)
    Your row i repeats point i alone. The points go along the rows: `points.expand(n, n)`.
rows[others].reshape(n, n - 1) → torch.stack([torch.cat([points[:i], points[i + 2 :]]) for i in range(n)])
rows[others].reshape(n, n - 1) → torch.stack([torch.cat([points[: i - 1], points[i:]]) for i in range(n)])
rows[others].reshape(n, n - 1) → torch.stack([torch.cat([points[: i - 1], points[i + 1 :]]) for i in range(n)])
    You cut at the wrong position. All before the i-th are `points[:i]`, all behind it `points[i + 1 :]`.
rows[others].reshape(n, n - 1) → points[torch.arange(n) != 0]
    That is one row. Every point is left out once, so there are n rows.
""")


def _distances():
    paper = torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0, 3.0]), 2.0
    one_query = torch.tensor([1.0]), torch.tensor([0.5, 1.5, 2.5]), 1.25
    square = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([0.5, 2.0, 2.5]), 1.5
    all_differ = torch.linspace(0, 3, 4), torch.linspace(0.2, 3.4, 6), 0.8
    return [paper, one_query, square, all_differ]


def _one_kernel(place, queries, keys, width):
    i, j = place
    all_u = [(queries[i].item() - key) / width for key in keys.tolist()]
    kernel = [max(0.0, 1 - u * u) for u in all_u]
    return (
        f"The entry that is marked has u = {all_u[j]:.3g} and K(u) = {kernel[j]:.3g}, so it is "
        f"{kernel[j]:.3g} / ({' + '.join(f'{k:.3g}' for k in kernel)})."
    )


epanechnikov_weights = Exercise(
    sections=("02 Near points count more",),
    task="Weights from the kernel K(u) = max(0, 1 − u²) with u = (query − key)/width: queries (q,), keys (k,) and a "
    "number to (q, k), each row adding up to 1. Every query has a key within reach.",
    cases=_distances,
    hints=(
        "Every query meets every key. `queries[:, None]` is a column, (q, 1): `[:, None]` gives it a second "
        "axis of length 1. A column minus a row, (q, 1) − (k,), is a table of all differences, (q, k).",
        "Divide by the width before you square. Beyond u = 1 the parabola goes below 0, but the kernel stays "
        "at 0: `clamp(min=0)`.",
        "Divide each row by its sum. `sum(dim=1, keepdim=True)` keeps its axis, (q, 1), so that each row meets "
        "its own sum.",
    ),
    passed="The factor ¾ of the textbooks cancels here, as every constant does.",
    without=("epanechnikov", "kernel_weights", "nadaraya_watson"),
    gaps=("queries[:, None] - keys", "1 - u**2", "k.sum(dim=1, keepdim=True)"),
    how=_one_kernel,
)


@epanechnikov_weights.solution
def my_epanechnikov_weights(queries, keys, width):
    # A column minus a row: every query meets every key.
    u = (queries[:, None] - keys) / width  # (q, k)
    # The parabola, and 0 where it would be negative: beyond the width a key does not count.
    k = (1 - u**2).clamp(min=0)  # (q, k)
    # Each row is divided by its own sum.
    return k / k.sum(dim=1, keepdim=True)  # (q, k)


@epanechnikov_weights.solution
def _(queries, keys, width):
    u = (queries.reshape(-1, 1) - keys.reshape(1, -1)).abs() / width
    k = torch.where(u < 1, 0.75 * (1 - u) * (1 + u), torch.zeros(()))
    return torch.nn.functional.normalize(k, p=1, dim=1)


epanechnikov_weights.edits("""
.clamp(min=0) →
    Beyond u = 1 yours goes on with 1 − u², which is negative. The kernel is 0 there: far keys have weight 0.
.clamp(min=0) → .abs()
    Beyond u = 1 yours is the absolute value of 1 − u². The kernel is 0 there: far keys have weight 0.
.clamp(min=0) → ; k / k.sum(dim=1, keepdim=True) → (k / k.sum(dim=1, keepdim=True)).clamp(min=0)
    You divide by the sum first and cut off what is negative afterwards, so negative K of far keys are still in
    the sum. Cut them off before you divide by the sum.
.clamp(min=0) → ; k / k.sum(dim=1, keepdim=True) → k / k.sum(dim=1, keepdim=True) * (u.abs() < 1)
    You divide by the sum first and set the weights beyond u = 1 to 0 afterwards, so the negative K of those keys
    are still in the sum. Set K to 0 there before you divide by the sum.
/ width → * width
    Your width works the wrong way round: a wider kernel reaches further, so it divides the difference.
 / width →
    The width is not used: u is the difference divided by it.
1 - u**2 → 1 - u**2 * width
    You divide the squared difference by the width. First comes u = (query − key)/width, and then u², so the
    width is squared as well.
1 - u**2 → 1 - u**2 / width
    You divide by the width once more after squaring. It is in u = (query − key)/width already, and then comes u².
k / k.sum(dim=1, keepdim=True) → k
    The rows do not add up to 1: divide each by its sum.
sum(dim=1, keepdim=True) → sum()
    All weights together add up to 1. Each row has its own sum.
sum(dim=1, keepdim=True) → sum(dim=1)
    The sum has lost its axis: `k.sum(dim=1, keepdim=True)` keeps it, and each row meets its own sum.
sum(dim=1, keepdim=True) → sum(dim=0, keepdim=True)
    Your weights add up to 1 over the queries. Sum over the keys: `dim=1` if the queries go down, `dim=0` if the
    keys do.
1 - u**2 → 1 - u.abs()
    You take 1 − |u|, the triangular kernel. Epanechnikov's has the square.
1 - u**2 → 1 - u
    You do not square u. The kernel is 1 − u².
1 - u**2 → (1 - u) ** 2
    You subtract u before you square. It is 1 − u²: square u first, then subtract.
(1 - u**2).clamp(min=0) → (1 - u**2 > 0).float()
    Within the width all keys count the same in yours: that is the boxcar. The kernel is 1 − u².
(1 - u**2).clamp(min=0) → torch.exp(-(u**2) / 2)
    That is the Gaussian kernel, e^(−u²/2). Here it is max(0, 1 − u²).
k / k.sum(dim=1, keepdim=True) → k.softmax(dim=1)
    A softmax too many: the kernel is never negative, and e⁰ = 1 would give far keys a weight. Divide by the
    sum.
queries[:, None] - keys → queries - keys
    Queries and keys do not line up. Every query meets every key: `queries[:, None] - keys`.
queries[:, None] - keys → queries - keys[:, None]
    Your rows are keys and your columns queries. The queries go down: `queries[:, None]`.
(1 - u**2).clamp(min=0) → max(0, 1 - u**2)
(1 - u**2).clamp(min=0) → torch.max(0, 1 - u**2)
    `max(0, …)` compares two numbers, not a number and a table. For each entry by itself it is `.clamp(min=0)`.
(1 - u**2).clamp(min=0) → torch.where(u < 1, 1 - u**2, 0.0)
(1 - u**2).clamp(min=0) → 1 - u.clamp(min=0) ** 2
    u is negative where the key is larger than the query, and that side goes wrong in yours. Clamp 1 − u², or
    compare `u.abs()` with 1.
""")


def _queries():
    torch.manual_seed(7)
    paper = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0, 3.0]), torch.tensor([1.0, 2.0, 4.0])
    one_query = torch.tensor([2.0]), torch.tensor([0.0, 1.0, 3.0]), torch.tensor([3.0, 0.0, 6.0])
    square = (
        torch.tensor([2.5, 0.0, 1.0]),
        torch.tensor([0.0, 2.0, 3.0]),
        torch.tensor([1.0, 5.0, 0.0]),
    )
    apart = torch.tensor([1.0, 60.0]), torch.tensor([0.0, 1.5, 59.0]), torch.tensor([2.0, 5.0, 7.0])
    all_differ = torch.linspace(0, 3, 4), torch.linspace(0.2, 3.4, 6), torch.randn(6)
    return [paper, one_query, square, apart, all_differ]


def _one_average(place, queries, keys, values):
    scores = [-((queries[place].item() - key) ** 2) / 2 for key in keys.tolist()]
    powers = [f"e^{score + 0.0:.3g}" for score in scores]  # not e^-0
    parts = zip(powers, values.tolist(), strict=True)
    mixed = " + ".join(f"{power}·{v:.3g}" for power, v in parts)
    return f"{'The entry that is marked' if place else 'The right answer'}: ({mixed}) / ({' + '.join(powers)})."


nadaraya_watson = Exercise(
    sections=(
        "02 A softmax in disguise",
        "02 Near points count more",
    ),
    task="Nadaraya-Watson pooling with the Gaussian kernel of width 1: for every query the average of the "
    "values, each weighted by exp(−(query − key)²/2). queries (q,), keys (k,) and values (k,) to (q,). Use no "
    "function of `transformer_lib.pooling`.",
    cases=_queries,
    hints=(
        "Three steps again: a score for each pair of query and key, weights in each row, one mixture a row.",
        "Every query meets every key. `queries[:, None]` is a column, (q, 1): `[:, None]` gives it a second "
        "axis of length 1. A column minus a row, (q, 1) − (k,), is a table of all differences, (q, k).",
        "exp(−u²/2) over its sum is a softmax, so the scores are −u²/2, and the softmax goes over the keys, "
        "which are axis 1. A table of weights times the values, with `@`, is one mixture a row.",
    ),
    passed="Put q·k in the place of −(q − k)²/2, and it is the attention of lesson 04 without its scale.",
    without=_POOLINGS,
    gaps=("queries[:, None] - keys", "-(distances**2) / 2", "dim=1", "weights @ values"),
    how=_one_average,
)


@nadaraya_watson.solution
def my_nadaraya_watson(queries, keys, values):
    # A column minus a row: every query meets every key.
    distances = queries[:, None] - keys  # (q, k)
    # The exponents of the kernel. The nearer the key, the higher its score; 0 is the highest.
    scores = -(distances**2) / 2  # (q, k)
    # e to the power of each, over the sum of the row: the keys are axis 1.
    weights = scores.softmax(dim=1)  # (q, k)
    # Each row of weights mixes the values.
    return weights @ values  # (q,)


@nadaraya_watson.solution
def _(queries, keys, values):
    kernel = torch.exp(-(torch.cdist(queries[:, None], keys[:, None]) ** 2) / 2)
    return (kernel * values).sum(dim=1) / kernel.sum(dim=1)


def _kernels(u: str, square: str) -> str:
    """What people write for the kernel; the solution has `u`, and its square as `square`."""
    return f"""\
-({square}) / 2 → {square} / 2
    The minus sign is missing, or the square takes it away: −(u²), not (−u)². Yours counts far keys most.
-({square}) / 2 → -({square})
    The half is missing: yours is exp(−u²), and it should be exp(−u²/2).
-({square}) / 2 → -(({u} / 2) ** 2)
    You halve the difference before you square it (or the square twice), so yours is exp(−u²/4). It should be
    exp(−u²/2).
-({square}) / 2 → -{u}.abs() / 2
    The square is missing: yours is exp(−|u|/2), and it should be exp(−u²/2).
-({square}) / 2 → -{u}.abs()
    The square and the half are missing: yours is exp(−|u|), and it should be exp(−u²/2).
-({square}) / 2 → -{u}
-({square}) / 2 → -{u} / 2
    You do not square the difference, so on one side of the query yours counts the far keys most. It should be
    exp(−u²/2).
scores.softmax → scores.exp().softmax
scores.softmax → (scores.exp() / (2 * torch.pi) ** 0.5).softmax
    One exp too many: softmax takes e to the power of the scores itself, and you give it the kernel. Give it
    −u²/2.
"""


nadaraya_watson.edits(f"""
scores.softmax(dim=1) → scores.exp()
scores.softmax(dim=1) → scores.exp() / (2 * torch.pi) ** 0.5
    Your weights do not add up to 1: divide each row by its sum, or take the softmax.
scores.softmax(dim=1) → scores.exp() / len(keys)
scores.softmax(dim=1) → scores.exp() / (2 * torch.pi) ** 0.5 / len(keys)
    You divide by the number of keys. The numbers that the kernel gives do not add up to that: divide by their sum.
queries[:, None] - keys → queries - keys
queries[:, None] - keys → queries - keys ; dim=1 → dim=0
queries[:, None] - keys → queries[:, None] - keys[:, None]
    Queries and keys do not line up. Every query meets every key: `queries[:, None] - keys`.
queries[:, None] - keys → queries - keys[:, None]
    Your rows are keys and your columns queries. The queries go down: `queries[:, None] - keys`.
scores.softmax(dim=1) → scores.softmax(dim=1).softmax(dim=1)
    You take the softmax twice. Once makes weights of the scores; a second time makes the weights more even.
scores.softmax(dim=1) → scores.exp() / scores.exp().sum(dim=1)
    The sum has lost its axis: `.sum(dim=1, keepdim=True)` keeps it, and each row meets its own sum.
scores.softmax(dim=1) → scores.exp() / scores.exp().sum()
    All your weights together add up to 1. Each row has a sum of its own: `sum(dim=1, keepdim=True)`.
dim=1 → dim=0
    Your weights add up to 1 over the queries. For each query the weights of the keys add up to 1: `dim=1` if the
    queries go down, `dim=0` if the keys do.
weights @ values → weights * values
    The weighted values still have to be added up, along each row.
weights @ values → (weights * values).sum()
weights @ values → (weights * values).sum(dim=0)
    You add up over the wrong axis. Each row, one query, has a sum of its own: `dim=1`.
weights @ values → (weights * values).mean(dim=1)
    You took the mean. The weights of a row add up to 1 already, so the weighted values are only added.
weights @ values → values @ weights
queries[:, None] - keys → keys[:, None] - queries ; dim=1 → dim=0
    The values meet the wrong axis of your weights. The queries go down, `queries[:, None] - keys`, and each
    row of weights meets the values, `weights @ values`.
{_kernels("distances", "distances**2")}return weights @ values → return weights
    These are the weights. They still have to mix the values.
return weights @ values → return values[distances.abs().argmin(dim=1)]
    This is the value of the nearest key alone. Near keys count most, far ones a little.
weights @ values → weights @ keys
    These are mixtures of the keys. What is averaged are the values.
queries[:, None] - keys → queries[:, None] - values
    You measure the distance to the values. The query is compared with the keys.
scores = -(distances**2) / 2 → scores = queries[:, None] * keys
    Your score is the product of query and key, as in lesson 01. Here it is minus half the square of their
    distance.
return weights @ values → return values.mean().expand(len(queries))
    This is the average of all values, whatever the query. Near keys count more than far ones.
""")


def _one_query():
    return [
        (torch.tensor(1.0), torch.tensor([0.0, 1.0, 3.0]), torch.tensor([1.0, 2.0, 4.0])),
        (torch.tensor(2.0), torch.tensor([0.0, 1.5]), torch.tensor([3.0, -1.0])),
        (
            torch.tensor(0.0),
            torch.tensor([1.0, -2.0, 3.0, 0.5]),
            torch.tensor([1.0, 5.0, 0.0, 2.0]),
        ),
    ]


nadaraya_watson_for_one = Exercise(
    sections=(
        "02 A softmax in disguise",
        "02 Near points count more",
    ),
    task="The same for one query: a number `query`, as a tensor of shape (), keys (k,) and values (k,) to one "
    "number, a tensor of shape ().",
    cases=_one_query,
    hints=(
        "`query - keys` holds the differences from all keys, (k,). The kernel exp(−u²/2) says how much each key "
        "counts.",
        "A kernel divided by the sum of all is a weight. That is the softmax of −u²/2, `.softmax(dim=0)`. Then "
        "multiply each weight by its value, and add up.",
    ),
    passed="With many queries the differences become a table, with a row for each query.",
    without=_POOLINGS,
    gaps=("-((query - keys) ** 2) / 2", "weights * values"),
    how=_one_average,
)


@nadaraya_watson_for_one.solution
def my_nadaraya_watson_for_one(query, keys, values):
    # The exponents of the kernel: the nearer the key, the higher its score.
    scores = -((query - keys) ** 2) / 2  # (k,)
    # e to the power of each, over the sum of all.
    weights = scores.softmax(dim=0)  # (k,)
    # Each value counts as much as its weight says.
    return (weights * values).sum()  # ()


@nadaraya_watson_for_one.solution
def _(query, keys, values):
    kernel = torch.exp(-(query - keys).square() / 2)
    return kernel @ values / kernel.sum()


nadaraya_watson_for_one.edits(f"""
{_kernels("(query - keys)", "(query - keys) ** 2")}-((query - keys) ** 2) / 2 → query * keys
    Your score is the product of query and key. Here it is minus half the square of their distance.
scores.softmax(dim=0) → scores.exp()
scores.softmax(dim=0) → scores.exp() / (2 * torch.pi) ** 0.5
    Your weights do not add up to 1: divide them by their sum, or take the softmax.
scores.softmax(dim=0) → scores.exp() / len(keys)
scores.softmax(dim=0) → scores.exp() / (2 * torch.pi) ** 0.5 / len(keys)
    You divide by the number of keys. The numbers that the kernel gives do not add up to that: divide by their sum.
scores.softmax(dim=0) → scores.softmax(dim=0).softmax(dim=0)
    You take the softmax twice. Once makes weights of the scores; a second time makes the weights more even.
query - keys → query - values
    You measure the distance to the values. The query is compared with the keys.
(weights * values).sum() → values.mean()
    This is the average of all values, whatever the query. Near keys count more than far ones.
scores.softmax(dim=0) → scores
    The scores are used as they are. Weights are e to the power of each, over the sum of all: the softmax.
(weights * values).sum() → weights * values
    The weighted values still have to be added up.
(weights * values).sum() → (weights * values).mean()
    You took the mean. The weights add up to 1 already, so the weighted values are only added.
(weights * values).sum() → (weights * keys).sum()
    This is a mixture of the keys. What is averaged are the values.
dim=0 → dim=1
query - keys → query[:, None] - keys
    There is one query, a number without axes, and one axis, the keys: `query - keys` and `dim=0`.
(weights * values).sum() → weights
    These are the weights. They still have to mix the values.
(weights * values).sum() → values[weights.argmax()]
    This is the value of the nearest key alone. Near keys count most, far ones a little.
""")
