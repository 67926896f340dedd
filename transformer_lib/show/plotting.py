"""One style for every figure: queries down, keys across, one colour scale from 0 to 1.

Tokens stand on the axes. Every figure carries alt text made from its data.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle

import matplotlib.pyplot as plt
from jaxtyping import Float, Int
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize, PowerNorm, to_hex
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from torch import Tensor

from transformer_lib.show.pictures import ends_of, extent_of, show_figure, strongest_keys

# Okabe and Ito's, for all eyes
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
STROKES = ("-", "--", "-.", ":")
# the colours of weights, in the figures and in the charts that move
HEAT_MAP = colormaps["Blues"]
HEAT_COLORS = [to_hex(color) for color in HEAT_MAP.resampled(3)(range(3))]  # at 0, 0.5 and 1
ASIDE = "#555555"  # of an axis' name, which stands between the title and the tokens
STYLE = {
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plot_attention(
    weights: Float[Tensor, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str = "Attention weights",
    *,
    axes: tuple[str, str] = ("queries", "keys"),
    top: float = 1.0,
) -> None:
    """A heat map of attention weights; the numbers stand in the cells where there is room for them.

    `axes` names what goes down and what goes across, should it be something else; `top` is where
    the scale ends.
    """
    compare_attention({title: weights}, queries, keys, axes=axes, top=top)


def compare_attention(
    maps: Mapping[str, Float[Tensor, "query key"]],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    axes: tuple[str, str] = ("queries", "keys"),
    top: float = 1.0,
) -> None:
    """Heat maps side by side under one scale from 0 to 1; `maps` gives each its title.

    With more than 20 keys most shares are small, and the colour grows with their root instead. Where
    none comes near 1, `top` ends the scale earlier, and its label says so.
    """
    largest = max(float(w.max()) for w in maps.values())
    if top < largest and top < 1:
        raise ValueError(f"top={top} is below the largest weight, {largest:.2f}")
    many = len(keys) > 20
    scale = PowerNorm(0.5, vmin=0, vmax=top) if many else Normalize(0, top)
    label = "weight (root scale)" if many else "weight"
    label += f", darkest at {top:g}" if top < 1 else ""
    told = (f"{title}. {strongest_keys(w, queries, keys)}" for title, w in maps.items())
    _heat_maps(maps, queries, keys, axes, scale, HEAT_MAP, label, told)


def compare_signed(
    maps: Mapping[str, Float[Tensor, "row column"]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    axes: tuple[str, str],
    label: str = "value",
) -> None:
    """Heat maps of numbers of either sign side by side, white at 0 under one scale.

    For codes, scores and matrices; `axes` names what goes down and what goes across. Where nothing
    is negative the scale begins at 0.
    """
    most = max(float(values.abs().max()) for values in maps.values())
    positive = all(bool((values >= 0).all()) for values in maps.values())
    scale, cmap = (Normalize(0, most), HEAT_MAP) if positive else (Normalize(-most, most), "RdBu")
    told = (
        f"{title}: {axes[0]} {rows[0]} to {rows[-1]} by {axes[1]} {columns[0]} to "
        f"{columns[-1]}, from {values.min():.2f} to {values.max():.2f}."
        for title, values in maps.items()
    )
    _heat_maps(maps, rows, columns, axes, scale, cmap, label, told)


def _heat_maps(
    maps: Mapping[str, Float[Tensor, "row column"]],
    rows: Sequence[str],
    columns: Sequence[str],
    axes: tuple[str, str],
    scale: Normalize,
    cmap: Colormap | str,
    label: str,
    told: Iterable[str],
) -> None:
    for title, values in maps.items():
        if values.shape != (len(rows), len(columns)):
            raise ValueError(
                f"{title}: values of shape {tuple(values.shape)} "
                f"for {len(rows)} {axes[0]} and {len(columns)} {axes[1]}"
            )
    many = len(columns) > 20
    cell = (0.1, 0.09) if many else (0.6, 0.5)
    names = 0.11 * max(0, max(map(len, rows)) - 12)  # inches for long ones
    across = 1.2 + names + len(maps) * (1.2 + cell[0] * len(columns))
    size = (across, 1.4 + cell[1] * len(rows))
    with plt.rc_context({**STYLE, "axes.spines.left": False, "axes.spines.bottom": False}):
        fig, frames = plt.subplots(
            1, len(maps), figsize=size, layout="constrained", sharey=True, squeeze=False
        )
        for ax, (title, values) in zip(frames[0], maps.items(), strict=True):
            shown = {"norm": scale, "cmap": cmap, "aspect": "auto", "interpolation": "none"}
            image = ax.imshow(values.detach().float().cpu().numpy(), **shown)
            _name_axes(ax, rows, columns)
            ax.set_xlabel(axes[1], color=ASIDE)
            ax.set_title(title, pad=12)
            if values.numel() <= 80 and not many:
                _write_numbers(ax, values, scale)
        frames[0, 0].set_ylabel(axes[0], color=ASIDE)
        fig.colorbar(image, ax=frames, label=label, shrink=0.9)
        show_figure(fig, " ".join(told))


def _name_axes(ax: Axes, queries: Sequence[str], keys: Sequence[str]) -> None:
    """Tokens on the axes, queries down and keys across; every tenth where there are many."""
    for axis, names in ((ax.xaxis, keys), (ax.yaxis, queries)):
        step = 10 if len(names) > 20 else 1
        axis.set_ticks(range(0, len(names), step), names[::step])
    ax.xaxis.tick_top()
    if len(keys) <= 20 and max(map(len, keys)) >= 5:
        plt.setp(ax.get_xticklabels(), rotation=35, ha="left", rotation_mode="anchor")
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)


def _write_numbers(ax: Axes, values: Float[Tensor, "row column"], scale: Normalize) -> None:
    places = 0 if bool((values == values.round()).all()) else 2
    for row, numbers in enumerate(values.tolist()):
        for column, number in enumerate(numbers):
            color = "white" if abs(number) > scale.vmax / 2 else "black"
            place = {"ha": "center", "va": "center", "fontsize": 11}
            text = f"{round(number, places) + 0.0:.{places}f}"
            ax.text(column, row, text, color=color, **place)


def plot_grids(
    grids: Mapping[str, Int[Tensor, "slice row column"]],
    owner: Callable[[int], int],
    owners: str = "head",
) -> None:
    """What a reshape does: each stage as its slices, with the number of every entry in its cell.

    The slices stand one below the other. A number keeps the colour of its owner, `owner(number)`,
    through all stages.
    """
    tall = max(len(g) * (g.size(1) + 0.6) for g in grids.values())
    wide = sum(g.size(2) + 1.5 for g in grids.values())
    with plt.rc_context(STYLE):
        fig, ax = plt.subplots(figsize=(0.5 * wide, 0.5 * tall + 1), layout="constrained")
        left = 0.0
        for title, grid in grids.items():
            ax.text(left + grid.size(2) / 2, -0.4, title, ha="center", va="bottom", fontsize=12)
            for number, (slice_, row, column) in zip(
                grid.flatten().tolist(), itertools.product(*map(range, grid.shape)), strict=True
            ):
                x, y = left + column, slice_ * (grid.size(1) + 0.6) + row
                color = COLORS[owner(number) % len(COLORS)]
                ax.add_patch(plt.Rectangle((x, y), 1, 1, color=color, alpha=0.35, lw=0))
                ax.text(x + 0.5, y + 0.5, str(number), ha="center", va="center", fontsize=11)
            left += grid.size(2) + 1.5
        ax.set(xlim=(-0.2, left - 1.3), ylim=(tall, -1.6), aspect="equal")
        ax.axis("off")
        found = sorted({owner(n) for g in grids.values() for n in g.flatten().tolist()})
        patches = [
            plt.Rectangle((0, 0), 1, 1, color=COLORS[o % len(COLORS)], alpha=0.35) for o in found
        ]
        names = [f"{owners} {o}" for o in found]
        fig.legend(patches, names, loc="outside lower center", ncols=len(found), frameon=False)
        told = (
            f"{' '.join(title.split())}: {len(g)} slices of {g.size(1)} rows and {g.size(2)} "
            f"columns, the first {g[0].tolist()}."
            for title, g in grids.items()
        )
        show_figure(fig, " ".join(told))


def plot_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    title: str = "",
    points: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    spread: Mapping[str, Sequence[float]] | None = None,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    """Lines in one frame, told apart by colour, stroke and marker.

    `curves` maps a name to its x values and y values. `points` are drawn as dots behind them,
    `spread` as bars of that size up and down.
    """
    with plt.rc_context(STYLE):
        fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
        for name, (xs, ys) in (points or {}).items():
            ax.plot(xs, ys, "o", color="#888888", markersize=5, label=name)
        for (name, (xs, ys)), color, marker, stroke in zip(
            curves.items(), cycle(COLORS), cycle(MARKERS), cycle(STROKES), strict=False
        ):
            look = {"color": color, "linewidth": 3 if stroke == ":" else 2, "label": name}
            look |= {"linestyle": stroke} if len(xs) > 40 else {"marker": marker}
            ax.plot(xs, ys, **look)
            if spread:
                ax.errorbar(xs, ys, yerr=spread[name], color=color, fmt="none", capsize=4)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.set_title(title)
        if all(float(v).is_integer() for xs, _ in curves.values() for v in xs):
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if log_x:
            ax.set_xscale("log")
            places = sorted({x for xs, _ in curves.values() for x in xs})
            if len(places) <= 8:
                ax.set_xticks(places, [f"{place:g}" for place in places])
                ax.minorticks_off()
        if log_y:
            ax.set_yscale("log")
        if len(curves) > 5:  # they leave no room for their names
            ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        elif len(curves) + len(points or {}) > 1:
            ax.legend(frameon=False)
        told = f"{ends_of(curves)}{extent_of(points or {})}".strip()
        show_figure(fig, f"{title or y}: {y} against {x}. {told}")


def plot_descents(
    loss: tuple[Sequence[float], Sequence[float]],
    descents: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x: str,
    y: str,
    title: str = "",
) -> None:
    """The steps of gradient descent on the curve of its loss, a frame for each descent.

    `loss` is the curve, x values and y values; a descent is the points at which it stood, (x, y).
    The first three points and the last are numbered, from 0, where there is room.
    """
    with plt.rc_context(STYLE):
        size = (4.2 * len(descents) + 0.6, 3.8)
        fig, frames = plt.subplots(
            1, len(descents), figsize=size, layout="constrained", sharey=True, squeeze=False
        )
        for ax, (name, stood) in zip(frames[0], descents.items(), strict=True):
            ax.plot(*loss, color=ASIDE, linewidth=2)
            xs, ys = zip(*stood, strict=True)
            ax.plot(xs, ys, "o-", color=COLORS[1], linewidth=1.2, markersize=6)
            ax.set(title=name, xlabel=x)
        frames[0, 0].set_ylabel(y)
        fig.draw_without_rendering()  # now it is known where on the picture a point lies
        for ax, stood in zip(frames[0], descents.values(), strict=True):
            for n in _apart(ax.transData.transform(stood), (0, 1, 2, len(stood) - 1)):
                ax.annotate(str(n), stood[n], (0, 8), textcoords="offset points", ha="center")
        told = (
            f"{name}: {x} goes {', '.join(f'{at:.2f}' for at, _ in stood[:4])}"
            f"{f' … {stood[-1][0]:.2f}' if len(stood) > 4 else ''}."
            for name, stood in descents.items()
        )
        curve = ends_of({f"curve of {y}": loss})
        show_figure(fig, " ".join([f"{title or y}.", curve, *told]))


def _apart(places: NDArray, wanted: Iterable[int]) -> list[int]:
    """Those of the wanted numbers whose places, in pixels, leave room for a number each."""
    kept: list[int] = []
    for n in wanted:
        if all(abs(places[n] - places[k]).max() > 14 for k in kept):
            kept.append(n)
    return kept


def plot_lookup(
    query: str,
    keys: Sequence[str],
    weights: Float[Tensor, " key"],
    values: Sequence[str],
    output: str,
    title: str = "Query, keys, values",
) -> None:
    """One soft look-up as a drawing: the wider a line, the larger the weight.

    The query meets the keys and gives them their weights, and each key's value flows into the output
    by its weight.
    """
    if not len(keys) == len(values) == len(weights):
        raise ValueError(f"{len(keys)} keys, {len(values)} values and {len(weights)} weights")
    each = weights.tolist()
    rows = [len(keys) - 1 - i for i in range(len(keys))]
    middle = (len(keys) - 1) / 2
    with plt.rc_context(STYLE):
        fig, ax = plt.subplots(figsize=(10, 1.5 + 0.6 * len(keys)), layout="constrained")
        for key, value, weight, y in zip(keys, values, each, rows, strict=True):
            line = {"color": COLORS[0], "linewidth": 0.5 + 9 * weight, "alpha": 0.3 + 0.6 * weight}
            ax.plot([0.4, 3.5], [middle, y], **line)
            ax.plot([6.0, 9.2], [y, middle], **line)
            ax.plot([4.1, 5.4], [y, y], color="#bbbbbb", linewidth=1, linestyle=":")
            ax.text(4.75, y, f"{weight:.2f}", ha="center", va="center", backgroundcolor="white")
            _box(ax, 3.5, y, key)
            _box(ax, 6.0, y, value)
        _box(ax, 0.4, middle, query)
        _box(ax, 9.2, middle, output)
        for x, name in (
            (0.4, "query"),
            (3.5, "keys"),
            (4.75, "weights"),
            (6.0, "values"),
            (9.2, "output"),
        ):
            ax.text(x, len(keys) - 0.3, name, ha="center", color="#555555")
        ax.set(xlim=(-0.6, 10.8), ylim=(-0.6, len(keys)), title=title)
        ax.axis("off")
        given = ", ".join(f"{k} {w:.2f}" for k, w in zip(keys, each, strict=True))
        show_figure(
            fig, f"{title}. The query {query} gives its weights to {given}. Output: {output}."
        )


def _box(ax: Axes, x: float, y: float, text: str) -> None:
    frame = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": "black"}
    ax.text(x, y, text, ha="center", va="center", bbox=frame)
