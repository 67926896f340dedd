"""How well a decoder looks back, and the window it looks through. Lessons 06, 07."""

import math

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _links():
    gold = {(0, 0), (1, 1), (2, 1), (4, 3)}
    return [
        ({(0, 0), (2, 1), (4, 2)}, gold),  # the source of the last is right, its target is not
        ({(0, 0), (1, 2), (1, 1), (2, 1), (3, 0), (2, 3)}, gold),  # more found than gold
        ({(0, 1), (1, 0)}, {(1, 1), (0, 1), (2, 2)}),  # turned round, one of them is another
        (gold, gold),
        ({(5, 0)}, gold),
    ]


error_rate = Exercise(
    sections=("06 How good is the alignment?",),
    task="Alignment error rate of found links against gold links, both sets of (source, target) pairs: 1 − 2 · (links "
    "in both) / (number found + number gold). A link is right if source and target are. Neither set is empty, and "
    "neither may be changed. Return a number.",
    cases=_links,
    hints=(
        "A link is a pair, and Python compares pairs as a whole: `found & gold` is the set of the links that are in "
        "both. (`and` is another thing: it gives one of the two sets back.)",
        "`len` counts the links of a set. Below the line stands a sum, so it needs brackets of its own. All links "
        "found and no other must give 0; none right must give 1.",
    ),
    passed="It punishes what was missed and what was made up.",
    tolerance=1e-6,
    without=("alignment_error_rate",),
    gaps=("found & gold", "len(found) + len(gold)"),
)


@error_rate.solution
def my_error_rate(found, gold):
    # A link is right if it is in both sets, with its source and its target.
    right = len(found & gold)
    # Each right link is counted twice below the line, in found and in gold.
    links = len(found) + len(gold)
    # So 2 · right / links is 1 if all are right, and the rate is then 0.
    return 1 - 2 * right / links


@error_rate.solution
def _(found, gold):
    hits = sum(link in gold for link in found)
    return (len(found) + len(gold) - 2 * hits) / (len(found) + len(gold))


error_rate.edits("""
return 1 - → return
    This is a score, for which more is better. An error rate is 1 minus it.
1 - 2 * right / links → 1 - right / len(found)
1 - 2 * right / links → len(found - gold) / len(found)
    You divide by the links found alone: a model that finds a single link, a right one, looks perfect.
1 - 2 * right / links → 1 - right / len(gold)
    You divide by the gold links alone: a model that links everything looks perfect.
1 - 2 * right / links → 1 - 2 * right / len(found)
1 - 2 * right / links → max(0, 1 - 2 * right / len(found))
    Below the line you have the found links alone. The gold links belong there too: |found| + |gold|. As it is, the
    rate can fall below 0.
1 - 2 * right / links → 1 - 2 * right / len(gold)
1 - 2 * right / links → max(0, 1 - 2 * right / len(gold))
    Below the line you have the gold links alone. The found links belong there too: |found| + |gold|. As it is, the
    rate can fall below 0.
1 - 2 * right / links → right / len(found)
    This is precision, the part of the found links that is right: more is better. The rate is 1 minus
    2 · |found ∩ gold| over |found| + |gold|.
1 - 2 * right / links → right / len(gold)
    This is recall, the part of the gold links that was found: more is better. The rate is 1 minus
    2 · |found ∩ gold| over |found| + |gold|.
1 - 2 * right / links → 1 - 2 * right
    You do not divide. Below the line stand all links, |found| + |gold|.
1 - 2 * right / links → 1 - right / (2 * links)
    The factor 2 stands above the line: 2 · |found ∩ gold| over |found| + |gold|. With every link right you must get 0.
1 - 2 * right / links → len(found - gold) / links
1 - 2 * right / links → 2 * len(found - gold) / links
1 - 2 * right / links → len(gold - found) / links
    You count the links of one set that are not in the other. Those missing from the other side count as well. Begin
    with the links in both, `found & gold`.
1 - 2 * right / links → round(1 - 2 * right / links)
    You round. A rate is a number between 0 and 1.
1 - 2 * right / links → 1 - right // links
    `//` leaves out what is behind the point, and a factor 2 is missing above the line.
1 - 2 * right / links → 2 * (1 - right / links)
1 - 2 * right / links → 2 * (1 - 2 * right / links)
    The factor 2 belongs to the links in both alone: 1 − 2 · |found ∩ gold| over |found| + |gold|.
1 - 2 * right / links → 1 - right / max(len(found), len(gold))
1 - 2 * right / links → 1 - right / min(len(found), len(gold))
1 - 2 * right / links → 1 - 2 * right / max(len(found), len(gold))
    Below the line you take the larger or the smaller number of links. Both numbers count: the sum of the two.
2 * right → right
1 - 2 * right / links → 1 - 2 * right / (2 * links)
    A factor 2 is missing above the line, or there is one below it that cancels it: each right link is counted twice
    below it. With every link right you must get 0.
1 - 2 * right / links → 1 - right / len(found | gold)
    This is 1 minus the share of common links in all links. The rate counts the common links twice, above the line and
    below: 2 · |found ∩ gold| over |found| + |gold|.
1 - 2 * right / links → right / len(found | gold)
    This is the share of common links in all links, for which more is better. The rate is 1 minus
    2 · |found ∩ gold| over |found| + |gold|.
len(found) + len(gold) → len(found | gold)
    You divide by the links in either set, `found | gold`, in which the common links count once. Above the line they
    count twice, so they must below: |found| + |gold|.
1 - 2 * right / links → 1 - 2 * right / len(found) + len(gold)
1 - 2 * right / links → 1 - (2 * right / len(found) + len(gold))
    Brackets are missing: you divide by the number found alone, and then add the number of gold links.
1 - 2 * right / links → (1 - 2 * right) / links
    Your brackets are around too much: only 2 · (links in both) is divided, and the result is then taken from 1.
1 - 2 * right / links → 100 * (1 - 2 * right / links)
    A rate lies between 0 and 1. Yours counts in hundredths.
1 - 2 * right / links → len(found ^ gold) / len(gold)
1 - 2 * right / links → len(found ^ gold) / len(found)
    You divide the links that are in one set only by the number of links in a single set. Divide by the sum of both
    numbers.
/ links → // links
1 - 2 * right / links → 1 - (found == gold)
    Yours can only be 0 or 1: `//` leaves out what is behind the point, and `==` asks whether all links are right. A
    rate counts the links in both, and needs `/`.
return 1 - 2 * right / links → return links - 2 * right
    You count the links that are only in one of the sets. A rate is still to be divided by the number of all links.
found & gold → found and gold
    `found and gold` is not what the two have in common: Python gives the second set back. In common is `found & gold`.
found & gold → found | gold
1 - 2 * right / links → 2 * right / links - 1
    Yours is minus the rate. Either you count the links in either set, `found | gold`, where those in both, `found &
    gold`, are wanted; or what is to be taken away stands in front.
found & gold → found ^ gold
found & gold → found - gold
found & gold → gold - found
    You count links that are not in both sets. Those in both are `found & gold`.
right = len(found & gold) → right = found & gold
len(found) + len(gold) → len(found + gold)
    A set is no number. `len` counts the links of a set, and numbers are added: `len(found) + len(gold)`.
len(found) + len(gold) → len(found) * len(gold)
    Below the line you multiply the two numbers of links. They are added.
1 - 2 * right / links → 1 - (right / len(found) + right / len(gold)) / 2
    You average precision and recall. The rate divides all right links, counted twice, by all links.
found & gold → {i for i, j in found} & {i for i, j in gold}
found & gold → {j for i, j in found} & {j for i, j in gold}
found & gold → [i for i, j in found if i in {i for i, j in gold}]
found & gold → [j for i, j in found if j in {j for i, j in gold}]
found & gold → [i for i, j in found if any(i == a or j == b for a, b in gold)]
    You compare one half of each link, its source or its target. A link is right if both halves are.
right = → found, gold = {i for i, j in found}, {i for i, j in gold} ⏎ right =
right = → found, gold = {j for i, j in found}, {j for i, j in gold} ⏎ right =
    You compare source or target positions alone. What is counted is links: a pair is right if both halves are.
found & gold → {(j, i) for i, j in found} & gold
found & gold → found & {(j, i) for i, j in gold}
    You turn the links of one set round. Both have the source first, so compare them as they are.
right = len(found & gold) → right = sum(a == b for a, b in zip(sorted(found), sorted(gold)))
right = len(found & gold) → right = sum(a == b for a, b in zip(found, gold))
    You compare the first link with the first and the second with the second. A set has no order: a link is right if it
    is anywhere in `gold`.
right = len(found & gold) → right = found == gold
    `==` asks whether the two sets are equal as a whole. Count the links that are in both: `found & gold`.
right = len(found & gold) → found &= gold ⏎ right = len(found)
return → found &= gold ⏎ return
    You change the caller's set: `found &= gold` takes links out of `found` itself. Give what is in both a name of its
    own.
""")


@error_rate.mistake(
    "Precision and recall may both be 0, and then you divide 0 by 0. Count links instead."
)
def _(found, gold):
    precision, recall = (len(found & gold) / len(links) for links in (found, gold))
    return 1 - 2 * precision * recall / (precision + recall)


def _windows():
    return [
        (torch.tensor([1.0, 2.5]), 1, 5),
        (torch.tensor([2.0]), 2, 6),  # a batch of one
        (torch.tensor([0.0, 1.0, 2.0]), 1, 3),  # as many centres as positions
        (torch.tensor([1.0, 4.0, 0.0, 8.5]), 3, 7),  # the last one stands behind the end
        (torch.tensor([3.0, 0.5, 9.0]), 0, 4),  # the centre alone, or nothing at all
        # Both edges before 0, or one at −0.5, or at 4.5: what is cut off leads into the sentence.
        (torch.tensor([-1.5, 5.5, 2.0, -3.0]), 1, 5),
    ]


def _one_position(place, centers, D, n):
    if len(place) != 2:
        return ""
    row, i = place
    away = abs(i - centers[row].item())
    sign = "≤" if away <= D else ">"
    return f"The entry that is marked: |{i} − {centers[row]:g}| = {away:g} {sign} {D}."


window = Exercise(
    sections=("07 A window on the source",),
    task="Which source positions may a local attention attend to? Centres (B,), a half width D, and the number of "
    "source positions n: a boolean mask (B, n), True where |position − centre| ≤ D. Positions are counted from 0. A "
    "centre need not be a whole number, and may stand outside the sentence, so that a row can be False everywhere.",
    cases=_windows,
    hints=(
        "The mask has a row for each centre and a column for each source position. The positions are 0, 1, …, n − 1: "
        "`torch.arange(n)`, (n,).",
        "Each centre meets every position. `centers[:, None]` gives the centres an axis of length 1 for the positions, "
        "(B, 1), and the difference of the two is then (B, n).",
        "A distance has no sign: `.abs()`. Compared with D, `<=`, it gives True and False, and that is the mask.",
    ),
    passed="The window lies on the source. On the target axis it would say which words may ask, and not what they "
    "may attend to.",
    without=("window_mask",),
    gaps=("torch.arange(n)", "positions - centers[:, None]", "distance <= D"),
    how=_one_position,
)


@window.solution
def my_window(centers, D, n):
    # The window lies on the source, whose positions are 0 to n − 1.
    positions = torch.arange(n)  # (n,)
    # Each centre meets every position: [:, None] makes room for them.
    distance = (positions - centers[:, None]).abs()  # (B, n)
    # A position exactly D away still belongs to the window.
    return distance <= D  # (B, n)


@window.solution
def _(centers, D, n):
    positions = torch.arange(n).expand(len(centers), n)
    return (positions >= centers[:, None] - D) & (positions <= centers[:, None] + D)


window.edits("""
distance <= D → distance < D
    The edges are missing: a position exactly D away still belongs to the window.
return distance <= D → away = positions - centers[:, None] ⏎ return (away >= -D) & (away < D)
return distance <= D → away = positions - centers[:, None] ⏎ return (away > -D) & (away <= D)
    One edge is missing: a position exactly D away belongs to the window, to the left and to the right.
distance <= D → distance <= D / 2
distance <= D → distance <= D // 2
    Your window is D wide in all. It reaches D to the left and D to the right.
distance <= D → distance <= 2 * D
    Your window reaches 2 D to each side. D is the half width already.
distance <= D → distance**2 <= D
    You compare the square of the distance with D. Take `abs()` of the difference, or compare with D².
return distance <= D → back = centers[:, None] - positions ⏎ return (back >= 0) & (back <= D)
return distance <= D → ahead = positions - centers[:, None] ⏎ return (ahead >= 0) & (ahead <= D)
    Your window has one side only. It reaches D to the left of the centre and D to the right.
(positions - centers[:, None]).abs() → positions - centers[:, None]
(positions - centers[:, None]).abs() → centers[:, None] - positions
    One side has no end: a distance counts without its sign, so take `abs()`.
distance <= D → distance > D
distance <= D → distance >= D
distance <= D → ~(distance < D)
    The mask is the wrong way round: True means that the position may be attended to.
distance <= D → distance == D
    You keep the two edges alone. Every position that is at most D away belongs to the window.
return distance <= D → return distance
    This is the distance. Compare it with D: the mask is True or False.
return distance <= D → return torch.exp(-(distance**2) / (2 * (D / 2) ** 2))
return distance <= D → return torch.exp(-(distance**2) / (2 * D**2))
    This is the Gaussian, a weight. The window itself is a mask: True or False.
return distance <= D → return torch.where(distance <= D, 0.0, float("-inf"))
    These are numbers to be added to scores. A mask is True where a position may be attended to, and False elsewhere.
return distance <= D → return (distance <= D).int()
return distance <= D → return (distance <= D).float()
    The right entries, but as numbers. A mask is boolean, as the comparison gives it: leave out the last step.
return distance <= D → return (distance <= D).nonzero()
return distance <= D → return [row.nonzero()[:, 0] for row in distance <= D]
return distance <= D → return [row.nonzero()[:, 0].tolist() for row in distance <= D]
    These are the positions inside. A mask has an entry for every position, True or False: what the comparison gives.
centers[:, None] → centers.round()[:, None]
centers[:, None] → (centers + 0.5).long()[:, None]
centers[:, None] → centers.long()[:, None]
centers[:, None] → centers.int()[:, None]
centers[:, None] → centers.ceil()[:, None]
distance <= D → (positions >= (centers - D).int()[:, None]) & (positions <= (centers + D).int()[:, None])
distance <= D → (positions >= (centers - D).floor()[:, None]) & (positions <= (centers + D).floor()[:, None])
distance <= D → (positions >= (centers - D).ceil()[:, None]) & (positions <= (centers + D).int()[:, None])
distance <= D → (positions >= (centers - D).floor()[:, None]) & (positions <= (centers + D).ceil()[:, None])
distance <= D → (positions >= (centers - D).ceil()[:, None]) & (positions <= (centers + D).ceil()[:, None])
distance <= D → (positions >= (centers - D).round()[:, None]) & (positions <= (centers + D).round()[:, None])
    Somewhere a fraction is cut off or rounded, at the centre or at an edge: a centre of 2.5 with D = 1 holds 2 and 3,
    and one of −1.5 holds nothing. (`int` cuts off towards 0.) Compare the distance |i − p| with D instead.
distance <= D → (positions >= (centers - D)[:, None]) & (positions < (centers + D).floor()[:, None])
    In yours the last position of the window is missing: a slice, like `range`, ends before its second number. Add 1 to
    it, or compare the distance |i − p| with D.
centers[:, None] → centers.clamp(0, n - 1)[:, None]
    You move a centre from outside the sentence to its end. It stays where it is, and its row may be empty.
positions - centers[:, None] → positions[:, None] - centers
    Your mask is (n, B). A row belongs to a centre: (B, n).
centers[:, None] → centers[:, None, None]
    Your mask has three axes, as one for the scores of a batch. Here it is (B, n).
positions - centers[:, None] → positions - centers
positions - centers[:, None] → positions - centers[None]
    You subtract centres from positions one by one. Give `centers` an axis, `centers[:, None]`: each centre meets every
    position.
torch.arange(n) → torch.arange(1, n + 1)
    You count the positions from 1. Here they are 0 to n − 1.
torch.arange(n) → torch.arange(n + 1)
torch.arange(n) → torch.arange(n - 1)
torch.arange(n) → torch.arange(1, n)
    Your row has one position too many or too few. `torch.arange(n)` counts 0 to n − 1, n in all.
torch.arange(n) → torch.arange(len(centers))
torch.arange(n) → torch.arange(D)
    The positions are those of the source, 0 to n − 1. Yours have another number.
return distance <= D → near = (torch.arange(len(centers)) - centers).abs() <= D ⏎ return near[:, None].expand(-1, n)
    You put the step's own number where the source position belongs: a row then is True or False as a whole. The window
    lies on the source, 0 to n − 1.
distance <= D → centers[:, None] - D <= positions <= centers[:, None] + D
distance <= D → (positions >= centers[:, None] - D) and (positions <= centers[:, None] + D)
    `a <= b <= c`, `and` and `not` want one truth value, and here are many. Compare twice and join with `&`, each
    comparison in brackets. (Turned round is `~`.)
distance <= D → positions >= centers[:, None] - D & positions <= centers[:, None] + D
    `&` binds more tightly than `<=`. Put each comparison into brackets: `(a >= b) & (a <= c)`.
distance <= D → (positions >= centers[:, None] - D) | (positions <= centers[:, None] + D)
    `|` means or, and every position is on one side of something. Both have to hold: `&`.
""")


def _filled(begin, end, each=False):
    """An answer that fills slices, or `each` entry in a loop that never asks if it is there."""

    def fill(centers, D, n):
        mask = torch.zeros(len(centers), n, dtype=torch.bool)
        for row, center in enumerate(centers.tolist()):
            first, behind = begin(center - D), end(center + D)
            for inside in range(first, behind) if each else [slice(first, behind)]:
                mask[row, inside] = True
        return mask

    return fill


def _from_0(edge):
    return lambda place: max(0, edge(place))


def _one_more(edge):
    return lambda place: edge(place) + 1


_CUTS = (math.ceil, math.floor), (int, int), (math.floor, math.floor), (math.floor, math.ceil)
for _begin, _end in _CUTS[1:]:
    window.mistake(
        "A slice, like `range`, ends before its second number, so the last position of the window is missing in yours. "
        "And a fraction is cut off or rounded: a centre of 2.5 with D = 1 holds 2 and 3. The comparison of the "
        "distance with D needs neither."
    )(_filled(_from_0(_begin), _from_0(_end)))
for _begin, _end in _CUTS:
    for _behind in (_end, _one_more(_end)):
        for _first in (_begin, _from_0(_begin)):
            window.mistake(
                "Your slice begins or ends below 0, and there Python counts from the end, so the window is another "
                "one, or empty. The comparison |position − centre| ≤ D needs no slice."
            )(_filled(_first, _behind))
        window.mistake(
            "Your loop also runs over positions below 0, where Python counts from the end, and beyond the last one. "
            "The comparison |position − centre| ≤ D needs no loop."
        )(_filled(_begin, _behind, each=True))
