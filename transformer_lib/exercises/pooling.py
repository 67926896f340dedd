"""Pooling by distance. Lesson 02."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _points():
    twins = torch.tensor([2.0, 1.0, 2.0])  # points, not values, are left out
    return [(torch.tensor([0.5, 2.0, -1.0, 4.0]),), (torch.arange(5.0).square(),), (twins,)]


leave_one_out = Exercise(
    task="Row i: all points but the i-th, in their order. (n,) to (n, n − 1).",
    cases=_points,
    hints=(
        "For one i it is `torch.cat([points[:i], points[i + 1 :]])`.",
        "All at once: repeat the points n times, and keep what is not on the diagonal.",
        "`points.expand(n, n)[~torch.eye(n, dtype=torch.bool)]` has n(n − 1) numbers in a row.",
    ),
    passed="Leave y out with the same function, and each y stays with its x.",
)


@leave_one_out.solution
def my_leave_one_out(points):
    n = len(points)
    return points.expand(n, n)[~torch.eye(n, dtype=torch.bool)].reshape(n, n - 1)


@leave_one_out.solution
def _(points):
    return torch.stack([torch.cat([points[:i], points[i + 1 :]]) for i in range(len(points))])


@leave_one_out.mistake("Nothing is left out: row i still holds point i.")
def _(points):
    return points.expand(len(points), len(points))


@leave_one_out.mistake(
    "You compare the points themselves, so equal points go together. Compare their places: "
    "`torch.arange(len(points)) != i`."
)
def _(points):
    return torch.stack([points[points != points[i]] for i in range(len(points))])


@leave_one_out.mistake("50 is the lesson's number of points. Here it is `len(points)`.")
def _(points):
    return torch.stack([points[torch.arange(50) != i] for i in range(50)])


@leave_one_out.mistake("Every row leaves out the last point. Row i leaves out the i-th.")
def _(points):
    return points[:-1].expand(len(points), len(points) - 1)


@leave_one_out.mistake(
    "Point i is set to 0, not left out. A key at 0 still draws weight: the row must be shorter."
)
def _(points):
    n = len(points)
    return points.expand(n, n) * (1 - torch.eye(n))


@leave_one_out.mistake("You kept the diagonal and dropped the rest. Turn the mask round with `~`.")
def _(points):
    n = len(points)
    return points.expand(n, n)[torch.eye(n, dtype=torch.bool)]


@leave_one_out.mistake(
    "The right numbers, in one long row. Cut it into n rows with `reshape(n, n - 1)`."
)
def _(points):
    n = len(points)
    return points.expand(n, n)[~torch.eye(n, dtype=torch.bool)]


@leave_one_out.mistake(
    "The right points in each row, but in another order. Keep theirs, or x and y may no longer "
    "belong together."
)
def _(points):
    return torch.stack([points.roll(-i)[1:] for i in range(len(points))])


def _distances():
    torch.manual_seed(5)
    queries, keys = torch.linspace(0, 3, 4), torch.linspace(0.2, 3.4, 6)
    return [(queries, keys, 1.5), (queries, keys, 0.8)]


epanechnikov_weights = Exercise(
    task="Weights from the kernel K(u) = max(0, 1 − u²) with u = (query − key)/width: "
    "(q,), (k,) to (q, k), each row adding up to 1.",
    cases=_distances,
    hints=(
        "All differences at once: `queries[:, None] - keys`.",
        "Beyond u = 1 the parabola goes below 0; the kernel does not. `clamp(min=0)`.",
        "Divide each row by its sum: `sum(dim=1, keepdim=True)`.",
    ),
    passed="The factor ¾ of the textbooks cancels here, as every constant does.",
)


@epanechnikov_weights.solution
def my_epanechnikov_weights(queries, keys, width):
    u = (queries[:, None] - keys) / width
    k = (1 - u**2).clamp(min=0)
    return k / k.sum(dim=1, keepdim=True)


@epanechnikov_weights.solution
def _(queries, keys, width):
    u = (queries.reshape(-1, 1) - keys.reshape(1, -1)).abs() / width
    k = torch.where(u < 1, 0.75 * (1 - u) * (1 + u), torch.zeros(()))
    return torch.nn.functional.normalize(k, p=1, dim=1)


@epanechnikov_weights.mistake(
    "Far keys get negative weights: beyond u = 1 the kernel is 0, not 1 − u²."
)
def _(queries, keys, width):
    k = 1 - ((queries[:, None] - keys) / width) ** 2
    return k / k.sum(dim=1, keepdim=True)


@epanechnikov_weights.mistake(
    "Your width works the wrong way round: a wider kernel reaches further, so it divides the "
    "difference."
)
def _(queries, keys, width):
    k = (1 - ((queries[:, None] - keys) * width) ** 2).clamp(min=0)
    return k / k.sum(dim=1, keepdim=True)


@epanechnikov_weights.mistake("The rows do not add up to 1: divide each by its sum.")
def _(queries, keys, width):
    return (1 - ((queries[:, None] - keys) / width) ** 2).clamp(min=0)


@epanechnikov_weights.mistake("All weights together add up to 1. Each row has its own sum.")
def _(queries, keys, width):
    k = (1 - ((queries[:, None] - keys) / width) ** 2).clamp(min=0)
    return k / k.sum()


@epanechnikov_weights.mistake("The sum has lost its axis: `k.sum(dim=1, keepdim=True)` keeps it.")
def _(queries, keys, width):
    k = (1 - ((queries[:, None] - keys) / width) ** 2).clamp(min=0)
    return k / k.sum(dim=1)


@epanechnikov_weights.mistake("Your weights add up to 1 over the queries. Sum over the keys.")
def _(queries, keys, width):
    k = (1 - ((queries[:, None] - keys) / width) ** 2).clamp(min=0)
    return k / k.sum(dim=0, keepdim=True)


@epanechnikov_weights.mistake("1 − |u| is the triangular kernel. Epanechnikov's has the square.")
def _(queries, keys, width):
    k = (1 - ((queries[:, None] - keys) / width).abs()).clamp(min=0)
    return k / k.sum(dim=1, keepdim=True)


@epanechnikov_weights.mistake("The width is not used: u is the difference divided by it.")
def _(queries, keys, width):
    k = (1 - (queries[:, None] - keys) ** 2).clamp(min=0)
    return k / k.sum(dim=1, keepdim=True)


def _points():
    torch.manual_seed(7)
    return [
        (torch.linspace(0, 3, 4), torch.linspace(0.2, 3.4, 6), torch.randn(6)),
        (torch.tensor([1.0, 60.0]), torch.tensor([0.0, 1.5, 59.0]), torch.randn(3)),
    ]


nadaraya_watson = Exercise(
    task="Nadaraya-Watson pooling with the Gaussian kernel of width 1: for every query the average of the "
    "values, each weighted by exp(−(query − key)²/2). (q,), (k,), (k,) to (q,).",
    cases=_points,
    hints=(
        "Three steps again: one score a pair, shares in each row, one mixture a row.",
        "exp(−u²/2) over its sum is a softmax: the scores are −(query − key)²/2.",
        "`scores = -((queries[:, None] - keys) ** 2) / 2`, a softmax over the keys, and `@ values`.",
    ),
    passed="Put q·k in the place of −(q − k)²/2, and it is the attention of lesson 04 without its scale.",
)


@nadaraya_watson.solution
def my_nadaraya_watson(queries, keys, values):
    scores = -((queries[:, None] - keys) ** 2) / 2
    weights = scores.softmax(dim=1)
    return weights @ values


@nadaraya_watson.solution
def _(queries, keys, values):
    kernel = torch.exp(-(torch.cdist(queries[:, None], keys[:, None]) ** 2) / 2)
    return (kernel * values).sum(dim=1) / kernel.sum(dim=1)


@nadaraya_watson.mistake(
    "Your weights do not add up to 1: divide each row by its sum, or take the softmax."
)
def _(queries, keys, values):
    return torch.exp(-((queries[:, None] - keys) ** 2) / 2) @ values


@nadaraya_watson.mistake(
    "Queries and keys do not line up. Every query meets every key: `queries[:, None] - keys`."
)
def _(queries, keys, values):
    return (-((queries - keys) ** 2) / 2).softmax(dim=-1) @ values


@nadaraya_watson.mistake("The sum has lost its axis: `k.sum(dim=1, keepdim=True)` keeps it.")
def _(queries, keys, values):
    k = torch.exp(-((queries[:, None] - keys) ** 2) / 2)
    return (k / k.sum(dim=1)) @ values


@nadaraya_watson.mistake("The weighted values still have to be added up, along each row.")
def _(queries, keys, values):
    return (-((queries[:, None] - keys) ** 2) / 2).softmax(dim=1) * values


@nadaraya_watson.mistake("The minus sign is missing: yours counts far keys most.")
def _(queries, keys, values):
    return (((queries[:, None] - keys) ** 2) / 2).softmax(dim=1) @ values


@nadaraya_watson.mistake("The half is missing: exp(−u²/2), not exp(−u²).")
def _(queries, keys, values):
    return (-((queries[:, None] - keys) ** 2)).softmax(dim=1) @ values


@nadaraya_watson.mistake("The square is missing: exp(−u²/2), not exp(−u/2).")
def _(queries, keys, values):
    return (-(queries[:, None] - keys) / 2).softmax(dim=1) @ values


@nadaraya_watson.mistake("Your softmax runs over the queries. In each row the keys share 1.")
def _(queries, keys, values):
    return (-((queries[:, None] - keys) ** 2) / 2).softmax(dim=0) @ values


@nadaraya_watson.mistake("These are the weights. They still have to mix the values.")
def _(queries, keys, values):
    return (-((queries[:, None] - keys) ** 2) / 2).softmax(dim=1)


@nadaraya_watson.mistake(
    "This is the value of the nearest key alone. Near keys count most, far ones a little."
)
def _(queries, keys, values):
    return values[(queries[:, None] - keys).abs().argmin(dim=1)]


@nadaraya_watson.mistake("These are mixtures of the keys. What is averaged are the values.")
def _(queries, keys, values):
    return (-((queries[:, None] - keys) ** 2) / 2).softmax(dim=1) @ keys


@nadaraya_watson.mistake(
    "All your weights together add up to 1. Each row has a sum of its own: "
    "`sum(dim=1, keepdim=True)`."
)
def _(queries, keys, values):
    kernel = torch.exp(-((queries[:, None] - keys) ** 2) / 2)
    return kernel / kernel.sum() @ values


@nadaraya_watson.mistake(
    "Your score is the product of query and key, as in lesson 01. Here it is minus half the square "
    "of their distance."
)
def _(queries, keys, values):
    return (queries[:, None] * keys).softmax(dim=1) @ values


@nadaraya_watson.mistake(
    "This is the average of all values, whatever the query. Near keys count more than far ones."
)
def _(queries, keys, values):
    return values.mean().expand(len(queries))
