"""One style for every figure: queries down, keys across, tokens on the axes, one colour scale from
0 to 1.

Every figure carries alt text made from its data. Charts that move are Altair and live in the page,
without a kernel and without a network.
"""

import base64
import copy
import html
import io
from collections.abc import Mapping, Sequence
from itertools import cycle

import altair as alt
import matplotlib.pyplot as plt
import pandas as pd
import vl_convert
from IPython import get_ipython
from IPython.display import display
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
)  # Okabe and Ito's, for all eyes
MARKERS = "osD^vPX"
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
    title: str = "",
) -> None:
    """A heat map of attention weights; the numbers stand in the cells where there is room for them."""
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} for {len(queries)} queries and {len(keys)} keys"
        )
    values = weights.detach().float().cpu().numpy()
    with plt.rc_context({**STYLE, "axes.spines.left": False, "axes.spines.bottom": False}):
        fig, ax = plt.subplots(
            figsize=(2.2 + 0.6 * len(keys), 1.2 + 0.5 * len(queries)), layout="constrained"
        )
        image = ax.imshow(values, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        ax.set_xticks(
            range(len(keys)), keys, rotation=0 if max(map(len, keys)) < 5 else 45, ha="center"
        )
        ax.set_yticks(range(len(queries)), queries)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.tick_params(length=0)
        ax.set_xlabel("keys")
        ax.set_ylabel("queries")
        ax.set_title(title)
        if values.size <= 80:
            for (row, column), value in zip(
                pd.MultiIndex.from_product(map(range, values.shape)), values.flat, strict=True
            ):
                color = "white" if value > 0.5 else "black"
                ax.text(
                    column, row, f"{value:.2f}", ha="center", va="center", fontsize=10, color=color
                )
        fig.colorbar(image, ax=ax, label="weight", shrink=0.9)
        _show(fig, f"{title or 'Attention weights'}. {_strongest(values, queries, keys)}")


def plot_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    title: str = "",
    log_y: bool = False,
) -> None:
    """Lines in one frame, told apart by colour and marker: `curves` maps a name to its x values and
    y values.
    """
    with plt.rc_context(STYLE):
        fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
        for (name, (xs, ys)), color, marker in zip(
            curves.items(), cycle(COLORS), cycle(MARKERS), strict=False
        ):
            dense = len(xs) > 40
            ax.plot(
                xs,
                ys,
                color=color,
                marker=None if dense else marker,
                linewidth=1.5 if dense else 2,
                label=name,
            )
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.set_title(title)
        if all(float(v).is_integer() for xs, _ in curves.values() for v in xs):
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if log_y:
            ax.set_yscale("log")
        if len(curves) > 1:
            ax.legend(frameon=False)
        named = "; ".join(f"{name} over {len(xs)} points" for name, (xs, _) in curves.items())
        _show(fig, f"{title or y}: {y} against {x}. {named}.")


def attention_explorer(maps: Sequence, title: str = "Attention") -> alt.Chart:
    """A chart of every head's weights with selectors for kind, layer and head; hover a cell to read
    its tokens.

    `maps` have kind, layer, head, queries, keys and weights, as `Translator.attention_maps` gives
    them.
    """
    rows = pd.DataFrame(
        {
            "kind": m.kind,
            "layer": m.layer,
            "head": m.head,
            "width": len(m.keys),
            "w": [round(v, 4) for v in m.weights.flatten().tolist()],
        }
        for m in maps
    )
    kinds = list(dict.fromkeys(rows.kind))
    shown = kinds[-1]
    tokens = alt.param(
        name="tokens", value={m.kind: {"queries": m.queries, "keys": m.keys} for m in maps}
    )
    selectors = [
        alt.param(name=name, value=value, bind=alt.binding_select(options=options, name=f"{name} "))
        for name, value, options in (
            ("kind", shown, kinds),
            ("layer", 0, sorted(int(v) for v in set(rows.layer))),
            ("head", 0, sorted(int(v) for v in set(rows["head"]))),
        )
    ]

    def axis(field: str, name: str, side: str) -> dict:
        return {
            "axis": alt.Axis(
                labelExpr=f"tokens[kind].{side}[datum.value]",
                title=name,
                labelAngle=0,
                orient="top",
            ),
            "shorthand": f"{field}:O",
        }

    across, down = axis("k", "keys", "keys"), axis("q", "queries", "queries")
    down["axis"].orient = "left"
    return (
        alt.Chart(rows, title=title, width=alt.Step(46), height=alt.Step(34))
        .add_params(tokens, *selectors)
        .transform_filter("datum.kind == kind && datum.layer == layer && datum.head == head")
        .transform_flatten(["w"])
        .transform_window(n="row_number()")
        .transform_calculate(
            q="floor((datum.n - 1) / datum.width)",
            k="(datum.n - 1) % datum.width",
        )
        .transform_calculate(
            query="tokens[kind].queries[datum.q]",
            key="tokens[kind].keys[datum.k]",
            weight="datum.w",
        )
        .mark_rect(stroke="#ddd")
        .encode(
            x=alt.X(**across),
            y=alt.Y(**down),
            color=alt.Color(
                "weight:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), title="weight"
            ),
            tooltip=["query:N", "key:N", alt.Tooltip("weight:Q", format=".3f")],
        )
        .properties(description=_describe(maps, shown, title))
        .configure_axis(labelFontSize=14, titleFontSize=13)
    )


def _describe(maps: Sequence, kind: str, title: str) -> str:
    first = next(m for m in maps if m.kind == kind)
    strongest = _strongest(first.weights.cpu().numpy(), first.queries, first.keys)
    return (
        f"{title}: {len(maps)} heads to choose from. "
        f"{kind} attention, layer {first.layer}, head {first.head}. {strongest}"
    )


def _strongest(values, queries: Sequence[str], keys: Sequence[str]) -> str:
    """For each query the key it looks at most, in words."""
    pairs = ", ".join(
        f"{q} to {keys[int(row.argmax())]} {row.max():.2f}"
        for q, row in zip(queries, values, strict=True)
    )
    return f"Strongest key of each query: {pairs}."


def _show(fig: Figure, description: str) -> None:
    """Show a figure once and close it: as an <img>, since a bare PNG loses its alt text in JupyterLab."""
    if get_ipython() is None:
        plt.show()
        return
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=110)
    plt.close(fig)
    data = base64.b64encode(buffer.getvalue()).decode()
    picture = f'<img alt="{html.escape(description)}" src="data:image/png;base64,{data}">'
    display({"text/html": picture, "text/plain": description}, raw=True)


def _vega_in_the_page(spec: dict, **_) -> tuple[dict, dict]:
    """The chart under the one Vega-Lite type that JupyterLab draws without a network, and a PNG for
    other viewers.
    """
    description = spec.get("description", "Chart")
    png = vl_convert.vegalite_to_png(
        {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v6.json"}, scale=1.5
    )
    spec = copy.deepcopy(spec)
    spec["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json"
    spec.setdefault("usermeta", {})["embedOptions"] = {"renderer": "svg", "actions": False}
    bundle = {
        "application/vnd.vegalite.v5+json": spec,
        "image/png": base64.b64encode(png).decode(),
        "text/plain": description,
    }
    return bundle, {"image/png": {"alt": description}}


alt.renderers.register("transformer_lib", _vega_in_the_page)
alt.renderers.enable("transformer_lib")
