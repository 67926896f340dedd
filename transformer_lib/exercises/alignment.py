"""How well a decoder looks back, and the window it looks through. Lessons 06, 07."""

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _links():
    gold = {(0, 0), (1, 1), (2, 1), (4, 3)}
    return [
        ({(0, 0), (2, 1), (3, 3)}, gold),
        ({(0, 0), (1, 1), (2, 1), (4, 3)}, gold),
        ({(5, 0)}, gold),
    ]


error_rate = Exercise(
    task="Alignment error rate of found links against gold links, both sets of (source, target) "
    "pairs: 1 − 2 · (links in both) / (number found + number gold).",
    cases=_links,
    hints=(
        "`found & gold` is the set of links in both.",
        "`len` counts them. All links found and no other must give 0, none right must give 1.",
    ),
    passed="It punishes what was missed and what was made up.",
    tolerance=1e-6,
)


@error_rate.solution
def my_error_rate(found, gold):
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


@error_rate.solution
def _(found, gold):
    hits = sum(link in gold for link in found)
    return (len(found) + len(gold) - 2 * hits) / (len(found) + len(gold))


@error_rate.mistake("This is a score, where 1 is good. An error rate is 1 minus it.")
def _(found, gold):
    return 2 * len(found & gold) / (len(found) + len(gold))


@error_rate.mistake(
    "You divide by the links found alone: a model that finds a single link, a right one, looks "
    "perfect."
)
def _(found, gold):
    return 1 - len(found & gold) / len(found)


@error_rate.mistake(
    "You divide by the gold links alone: a model that links everything looks perfect."
)
def _(found, gold):
    return 1 - len(found & gold) / len(gold)


@error_rate.mistake("A factor 2 is missing: with every link right you must get 0.")
def _(found, gold):
    return 1 - len(found & gold) / (len(found) + len(gold))


@error_rate.mistake(
    "You divide by the links in either set. Those in both count twice below the line."
)
def _(found, gold):
    return 1 - len(found & gold) / len(found | gold)


@error_rate.mistake(
    "Brackets are missing: you divide by the links found alone, and then add the gold ones."
)
def _(found, gold):
    return 1 - 2 * len(found & gold) / len(found) + len(gold)


@error_rate.mistake("A rate lies between 0 and 1. Yours counts in hundredths.")
def _(found, gold):
    return 100 * my_error_rate(found, gold)


@error_rate.mistake(
    "Precision and recall are both 0 here, and you divide 0 by 0. Count hits instead."
)
def _(found, gold):
    precision, recall = (len(found & gold) / len(links) for links in (found, gold))
    return 1 - 2 * precision * recall / (precision + recall)


def _windows():
    return [(torch.tensor([1.0, 4.0, 0.0]), 3, 8), (torch.tensor([2.5, 3.0]), 1, 5)]


window = Exercise(
    task="Which source positions may a local attention see? Centres (B,), a half width D, and the "
    "number of source positions n: a boolean mask (B, n), True where |position − centre| ≤ D.",
    cases=_windows,
    hints=(
        "The positions are `torch.arange(n)`, on the source axis.",
        "Give `centers` an axis: `positions - centers[:, None]` is (B, n).",
    ),
    passed="The window lies on the source. On the target axis it would say which words may look, "
    "not where.",
)


@window.solution
def my_window(centers, D, n):
    return (torch.arange(n) - centers[:, None]).abs() <= D


@window.solution
def _(centers, D, n):
    positions = torch.arange(n).expand(len(centers), n)
    return (positions >= centers[:, None] - D) & (positions <= centers[:, None] + D)


@window.mistake("The edges are missing: a position exactly D away still belongs to the window.")
def _(centers, D, n):
    return (torch.arange(n) - centers[:, None]).abs() < D


@window.mistake("Your window is D wide in all. It reaches D to the left and D to the right.")
def _(centers, D, n):
    return (torch.arange(n) - centers[:, None]).abs() <= D / 2


@window.mistake("You look back only. The window has two sides.")
def _(centers, D, n):
    distance = centers[:, None] - torch.arange(n)
    return (distance >= 0) & (distance <= D)


@window.mistake("The mask is the wrong way round: True means that the position may be seen.")
def _(centers, D, n):
    return (torch.arange(n) - centers[:, None]).abs() > D


@window.mistake("This is the Gaussian, a weight. The window itself is a mask: True or False.")
def _(centers, D, n):
    return torch.exp(-((torch.arange(n) - centers[:, None]) ** 2) / (2 * (D / 2) ** 2))


@window.mistake(
    "You put the step's own number where the source position belongs: a row then sees everything "
    "or nothing. The window lies on the source, 0 to n − 1."
)
def _(centers, D, n):
    steps = torch.arange(len(centers))
    return ((steps - centers).abs() <= D)[:, None].expand(-1, n)


_ROUNDED = "You rounded the centres. A centre of 2.5 with D = 1 holds two positions, 2 and 3."


@window.mistake(_ROUNDED)
def _(centers, D, n):
    return (torch.arange(n) - centers.round()[:, None]).abs() <= D


@window.mistake(_ROUNDED)
def _(centers, D, n):
    return (torch.arange(n) - (centers + 0.5).long()[:, None]).abs() <= D


_ONE_SIDED = "One side has no end: a distance counts without its sign, so take `abs()`."


@window.mistake(_ONE_SIDED)
def _(centers, D, n):
    return (torch.arange(n) - centers[:, None]) <= D


@window.mistake(_ONE_SIDED)
def _(centers, D, n):
    return (centers[:, None] - torch.arange(n)) <= D


@window.mistake("Your mask is (n, B). A row belongs to a centre: (B, n).")
def _(centers, D, n):
    return (torch.arange(n)[:, None] - centers).abs() <= D


@window.mistake("Your mask has three axes, as one for the scores of a batch. Here it is (B, n).")
def _(centers, D, n):
    return (torch.arange(n) - centers[:, None, None]).abs() <= D


@window.mistake(
    "You subtract centres from positions one by one. Give `centers` an axis, `centers[:, None]`: each "
    "centre meets every position."
)
def _(centers, D, n):
    return (torch.arange(n) - centers).abs() <= D


@window.mistake("You count the positions from 1. Here they are 0 to n − 1.")
def _(centers, D, n):
    return (torch.arange(1, n + 1) - centers[:, None]).abs() <= D


@window.mistake("The right places, but as numbers. A mask is boolean: leave out the last step.")
def _(centers, D, n):
    return ((torch.arange(n) - centers[:, None]).abs() <= D).int()
