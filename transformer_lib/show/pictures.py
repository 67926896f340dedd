"""How a picture gets into the page, and the words for those who cannot see it.

A figure becomes an <img> with alt text. A chart that moves (Altair) lives in the page, without a
kernel and without a network.
"""

import base64
import copy
import functools
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import matplotlib.pyplot as plt
from IPython import get_ipython
from IPython.display import display
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor


def ends_of(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> str:
    """Where each curve starts and ends, in words: alt text."""
    told = (
        f"{name}: from {float(ys[0]):.2g} at {float(xs[0]):.3g} to {float(ys[-1]):.2g} at "
        f"{float(xs[-1]):.3g}"
        for name, (xs, ys) in curves.items()
    )
    return "; ".join(told) + "." * bool(curves)


def extent_of(points: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> str:
    """How many points each name has, and between which heights, in words: alt text."""
    return "".join(
        f" {name}: {len(xs)} points between {float(min(ys)):.2g} and {float(max(ys)):.2g}."
        for name, (xs, ys) in points.items()
    )


def strongest_keys(
    weights: Float[Tensor, "query key"], queries: Sequence[str], keys: Sequence[str]
) -> str:
    """For each query the key it looks at most, in words: alt text."""
    rows = list(zip(queries, weights.detach().float().tolist(), strict=True))
    shown = rows[:: max(1, len(rows) // 10)]
    pairs = ", ".join(f"{query} to {_strongest(row, keys)}" for query, row in shown)
    whose = "each query" if len(shown) == len(rows) else "some queries"
    return f"Strongest key of {whose}: {pairs}."


def _strongest(row: Sequence[float], keys: Sequence[str]) -> str:
    """The key with the largest share, all of them where several are equal, and that share."""
    best = [key for key, share in zip(keys, row, strict=True) if share > max(row) - 1e-5]
    named = " and ".join(best) if len(best) < 4 else f"{len(best)} keys alike"
    return f"{named} {max(row):.2f}"


def show_figure(fig: Figure, description: str) -> None:
    """Show a figure once and close it: as an <img> of vectors, sharp at every size.

    An output of its own type loses its alt text in JupyterLab.
    """
    if get_ipython() is None:
        plt.show()
        return
    data = base64.b64encode(_vectors(fig).encode()).decode()
    plt.close(fig)
    picture = f'<img alt="{html.escape(description)}" src="data:image/svg+xml;base64,{data}">'
    display({"text/html": picture, "text/plain": description}, raw=True)


def _vectors(fig: Figure) -> str:
    """The figure as SVG, the same at every run, to a hundredth of a point.

    Its letters are a font's: Verdana has the widths of DejaVu Sans, where that is missing.
    """
    buffer = io.StringIO()
    fonts = {"svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans", "Verdana"]}
    with plt.rc_context({**fonts, "svg.hashsalt": "figure"}):
        fig.savefig(buffer, format="svg", metadata={"Date": None})
    left_out = r'^.*?(?=<svg)|<!--.*?-->|<metadata>.*?</metadata>| transform="rotate\(-?0 .*?\)"'
    svg = re.sub(left_out, "", buffer.getvalue(), flags=re.S)
    rounded = re.sub(r"(\.\d\d)\d+(?=[^<>]*>)", r"\1", svg)  # in tags, not in what is written
    return re.sub(r"\s*\n\s*", " ", rounded).strip()


def _still(spec: dict) -> dict[str, str]:
    """The chart as it begins, as a PNG in 256 colours: a quarter of the bytes or less.

    There is none without vl-convert.
    """
    try:
        import vl_convert
    except ModuleNotFoundError:
        return {}
    from PIL import Image

    schema = "https://vega.github.io/schema/vega-lite/v6.json"
    png = vl_convert.vegalite_to_png({**spec, "$schema": schema}, scale=1.5)
    buffer = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(buffer, format="png", optimize=True)
    return {"image/png": base64.b64encode(buffer.getvalue()).decode()}


# Vega's own colours, said aloud: JupyterLab's dark theme changes the ground, not the marks on it.
LIGHT = {
    "title": {"color": "#000"},
    "style": {"guide-label": {"fill": "#000"}, "guide-title": {"fill": "#000"}},
    "axis": {"domainColor": "#888", "gridColor": "#ddd", "tickColor": "#888"},
    "view": {"stroke": "#ddd"},
}


def on_light(spec: dict) -> dict:
    """The chart on a white ground of its own, like every picture; what it sets itself stays."""
    own = spec.get("config", {})
    light = {key: {**value, **own.get(key, {})} for key, value in LIGHT.items()}
    return {**spec, "config": {"background": "white", **own, **light}}


class Moving:
    """A chart that moves, as a page draws it without a kernel and without a network.

    It goes under the one Vega-Lite type that JupyterLab draws offline; a PNG and words go with it
    for other viewers. In all else it is the `chart` of Altair, whose own settings stay as they are.
    """

    def __init__(self, chart: alt.TopLevelMixin):
        self.chart = chart

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.chart, name)
        return moving(found) if callable(found) else found

    def _repr_mimebundle_(self, **_) -> tuple[dict, dict]:
        spec = self.chart.to_dict(context={"pre_transform": False})
        description, still = spec.get("description", "Chart"), _still(spec)
        spec = copy.deepcopy(on_light(spec))
        spec["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json"
        spec.setdefault("usermeta", {})["embedOptions"] = {"renderer": "svg", "actions": False}
        bundle = {"application/vnd.vegalite.v5+json": spec, **still, "text/plain": description}
        return bundle, {kind: {"alt": description} for kind in still}


def moving(make: Callable[..., Any]) -> Callable[..., Any]:
    """`make`; if it gives a chart, then one that moves in the page."""

    @functools.wraps(make)
    def made(*args, **kwargs):
        found = make(*args, **kwargs)
        return Moving(found) if isinstance(found, alt.TopLevelMixin) else found

    return made
