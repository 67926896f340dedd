"""Charts that move: Altair, in the page, without a kernel and without a network.

What a slider changes is computed in the browser, from the numbers stored in the chart. Lessons 00
to 04, 06, 07, 09, 10, 12 to 16.
"""

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd
from jaxtyping import Float
from torch import Tensor

from transformer_lib.base.listening import AttentionMap
from transformer_lib.show.pictures import moving, strongest_keys
from transformer_lib.show.plotting import ASIDE, COLORS, HEAT_COLORS

KERNEL_EXPRESSIONS = {
    "gaussian": "exp(-datum.u * datum.u / 2)",
    "boxcar": "abs(datum.u) <= 1 ? 1 : 0",
    "triangular": "max(0, 1 - abs(datum.u))",
    "epanechnikov": "max(0, 1 - datum.u * datum.u)",
}
WEIGHT = alt.Color("weight:Q", scale=alt.Scale(range=HEAT_COLORS, domain=[0, 1]), title="weight")
BIG = {"labelFontSize": 14, "titleFontSize": 13}


def _softmax_in_words(scores: Float[Tensor, " key"], keys: Sequence[str]) -> str:
    """What softmax(scores) gives each key, for the description; refuses scores of other keys."""
    if len(scores) != len(keys):
        raise ValueError(f"{len(scores)} scores, but {len(keys)} keys")
    weights = zip(keys, scores.softmax(dim=0).tolist(), strict=True)
    return ", ".join(f"{key} {weight:.2f}" for key, weight in weights)


def _with_numbers(bars: alt.Chart, height: str) -> alt.LayerChart:
    """Bars, and above each the number it stands for."""
    numbers = bars.mark_text(dy=-8, fontSize=14)
    return bars.mark_bar(color=COLORS[0]) + numbers.encode(
        text=alt.Text(f"{height}:Q", format=".2f")
    )


@moving
def weights_explorer(
    scores: Float[Tensor, " key"], keys: Sequence[str], title: str = "Weights of these scores"
) -> alt.LayerChart:
    """Bars of softmax(scores) with a slider for each score, and one for all of them at once."""
    weights = _softmax_in_words(scores, keys)
    sliders = [
        alt.param(
            name=f"score_{i}",
            value=round(score, 2),
            bind=alt.binding_range(min=-8, max=8, step=0.5, name=f"score of {key} "),
        )
        for i, (key, score) in enumerate(zip(keys, scores.tolist(), strict=True))
    ]
    to_all = alt.binding_range(min=0, max=1000, step=10, name="added to all ")
    added = alt.param(name="added", value=0, bind=to_all)
    chosen = f"[{', '.join(slider.name for slider in sliders)}]"
    bars = (
        alt.Chart(pd.DataFrame({"key": keys, "i": range(len(keys))}), title=title)
        .transform_calculate(score=f"{chosen}[datum.i] + added")
        .transform_joinaggregate(largest="max(score)")
        .transform_calculate(e="exp(datum.score - datum.largest)")
        .transform_joinaggregate(total="sum(e)")
        .transform_calculate(weight="datum.e / datum.total")
        .encode(
            x=alt.X("key:N", sort=list(keys), title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1]), title="weight"),
            tooltip=["key:N", "score:Q", alt.Tooltip("weight:Q", format=".3f")],
        )
        .properties(width=420, height=220)
    )
    return (
        _with_numbers(bars, "weight")
        .add_params(*sliders, added)
        .properties(
            description=f"{title}. With a slider for every score, and one that adds to all: {weights}."
        )
        .configure_axis(**BIG)
    )


@moving
def temperature_explorer(
    scores: Float[Tensor, " key"], keys: Sequence[str], title: str = "Softmax at a temperature"
) -> alt.LayerChart:
    """Bars of softmax(scores / temperature) with a slider for the temperature."""
    weights = _softmax_in_words(scores, keys)
    rows = pd.DataFrame({"key": keys, "below": (scores - scores.max()).tolist()})
    slider = alt.binding_range(min=0.05, max=5, step=0.05, name="temperature ")
    temperature = alt.param(name="temperature", value=1.0, bind=slider)
    bars = (
        alt.Chart(rows, title=title, width=420, height=260)
        .transform_calculate(e="exp(datum.below / temperature)")
        .transform_joinaggregate(total="sum(e)")
        .transform_calculate(weight="datum.e / datum.total")
        .encode(
            x=alt.X("key:N", sort=list(keys), title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1]), title="after softmax"),
            tooltip=["key:N", alt.Tooltip("weight:Q", format=".3f")],
        )
    )
    return (
        _with_numbers(bars, "weight")
        .add_params(temperature)
        .properties(
            description=f"{title}. With a slider from 0.05 to 5; at temperature 1: {weights}."
        )
        .configure_axis(**BIG)
    )


@moving
def padding_explorer(
    scores: Float[Tensor, " key"],
    keys: Sequence[str],
    real: int,
    title: str = "What the padding gets",
) -> alt.LayerChart:
    """Bars of the weights of one query, with a slider for the number of real tokens.

    The slider stands at `real`. A selector says how the others are hidden; the sum of all weights
    stands above the bars.
    """
    told = _softmax_in_words(scores, keys)
    if not 1 <= real <= len(keys):
        raise ValueError(f"real={real}, but of {len(keys)} keys 1 to {len(keys)} can be real")
    rows = pd.DataFrame({"n": range(len(keys)), "below": (scores - scores.max()).tolist()})
    ways = ["score −∞", "score 0", "weight 0 afterwards"]
    params = [
        alt.param(
            name="real",
            value=real,
            bind=alt.binding_range(min=1, max=len(keys), step=1, name="real tokens "),
        ),
        alt.param(
            name="way",
            value=ways[0],
            bind=alt.binding_select(options=ways, name="the others get "),
        ),
        alt.param(name="names", value=list(keys)),
    ]
    zero = math.exp(-scores.max().item())  # what a score of 0 becomes
    weighed = (
        alt.Chart(rows)
        .transform_calculate(hidden="datum.n >= real", own="exp(datum.below)")
        .transform_calculate(
            e=f"!datum.hidden ? datum.own : way == '{ways[0]}' ? 0 : way == '{ways[1]}' ? {zero} "
            ": datum.own"
        )
        .transform_joinaggregate(total="sum(e)")
        .transform_calculate(
            weight=f"datum.hidden && way == '{ways[2]}' ? 0 : datum.e / datum.total"
        )
    )
    bars = weighed.encode(
        x=alt.X("n:O", title=None, axis=alt.Axis(labelExpr="names[datum.value]", labelAngle=0)),
        y=alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1]), title="weight"),
        tooltip=[alt.Tooltip("n:O", title="place"), alt.Tooltip("weight:Q", format=".3f")],
    )
    added = (
        weighed.transform_aggregate(sum="sum(weight)")
        .transform_calculate(said="'sum of the weights: ' + format(datum.sum, '.2f')")
        .mark_text(align="left", fontSize=14)
        .encode(x=alt.value(8), y=alt.value(-8), text="said:N")
    )
    return (
        (_with_numbers(bars, "weight") + added)
        .add_params(*params)
        .properties(
            title=alt.TitleParams(title, offset=18),
            width=420,
            height=240,
            description=f"{title}: {told}, with nothing hidden. With a slider for the number of "
            f"real tokens and a selector for what the others get: {', '.join(ways)}.",
        )
        .configure_axis(**BIG)
    )


@moving
def bandwidth_explorer(
    keys: Float[Tensor, " key"],
    values: Float[Tensor, " key"],
    queries: Float[Tensor, " query"],
    truth: Float[Tensor, " query"],
    title: str = "Kernel pooling",
) -> alt.HConcatChart:
    """The pooled curve and its weights, with a selector for the kernel and a slider for its width.

    `truth` is the curve to be found, at the queries; its mean squared distance stands in the chart.
    The darkest colour is for weights of 0.3 and more: few are larger.
    """
    grid = pd.DataFrame({"q": queries.tolist(), "truth": truth.tolist()}).round(4)
    points = pd.DataFrame({"x": keys.tolist(), "y": values.tolist()}).round(4)
    params = [
        alt.param(name="xs", value=points.x.tolist()),
        alt.param(name="ys", value=points.y.tolist()),
        alt.param(
            name="width",
            value=1.0,
            bind=alt.binding_range(min=0.05, max=3, step=0.05, name="width "),
        ),
        alt.param(
            name="kernel",
            value="gaussian",
            bind=alt.binding_select(options=list(KERNEL_EXPRESSIONS), name="kernel "),
        ),
    ]
    kernels = " : ".join(f"kernel == '{name}' ? {k}" for name, k in KERNEL_EXPRESSIONS.items())
    weighted = (
        alt.Chart(grid)
        .transform_calculate(x="xs", y="ys")
        .transform_flatten(["x", "y"])
        .transform_calculate(u="(datum.q - datum.x) / width")
        .transform_calculate(raw=f"{kernels} : 0")
        .transform_joinaggregate(total="sum(raw)", groupby=["q"])
        .transform_calculate(weight="datum.total > 0 ? datum.raw / datum.total : 0")
    )
    pooled = weighted.transform_calculate(part="datum.weight * datum.y").transform_aggregate(
        pooled="sum(part)", groupby=["q", "truth"]
    )
    color = alt.Color(
        "line:N",
        scale=alt.Scale(domain=["true curve", "pooling"], range=[COLORS[0], COLORS[2]]),
        legend=alt.Legend(title=None, orient="top-right", labelFontSize=13),
    )
    curve = (
        pooled.transform_calculate(line="'pooling'")
        .mark_line(strokeWidth=3)
        .encode(x="q:Q", y="pooled:Q", color=color)
    )
    true_curve = (
        alt.Chart(grid)
        .transform_calculate(line="'true curve'")
        .mark_line(strokeWidth=2)
        .encode(x=alt.X("q:Q", title="x"), y=alt.Y("truth:Q", title="y"), color=color)
    )
    dots = (
        alt.Chart(points).mark_circle(color="black", opacity=0.5, size=40).encode(x="x:Q", y="y:Q")
    )
    error = (
        pooled.transform_calculate(off="pow(datum.pooled - datum.truth, 2)")
        .transform_aggregate(error="mean(off)")
        .transform_calculate(
            text="'mean squared distance to the true curve: ' + format(datum.error, '.3f')"
        )
        .mark_text(align="left", fontSize=14)
        .encode(x=alt.value(8), y=alt.value(-6), text="text:N")
    )
    weights = weighted.mark_rect().encode(
        x=alt.X("x:O", title="keys, from small to large", axis=alt.Axis(labels=False, ticks=False)),
        y=alt.Y(
            "q:O", title="queries, from small to large", axis=alt.Axis(labels=False, ticks=False)
        ),
        color=alt.Color(
            "weight:Q",
            scale=alt.Scale(type="sqrt", range=HEAT_COLORS, domain=[0, 0.3], clamp=True),
            title="weight (root scale)",
        ),
        tooltip=[
            alt.Tooltip("q:Q", title="query"),
            alt.Tooltip("x:Q", title="key"),
            alt.Tooltip("weight:Q", format=".3f"),
        ],
    )
    left = (true_curve + dots + curve + error).properties(
        width=400, height=300, title=alt.TitleParams(title, offset=16)
    )
    return (
        alt.hconcat(left, weights.properties(width=300, height=300, title="Who looks at whom"))
        .resolve_scale(color="independent")
        .add_params(*params)
        .properties(
            description=f"{title}: {len(points)} points, the true curve, the pooled curve of a "
            f"gaussian kernel of width 1 and its {len(grid)} by {len(points)} weights, with a slider "
            "for the width and a selector for the kernel."
        )
        .configure_axis(**BIG)
    )


@moving
def scale_explorer(
    query: Float[Tensor, " width"],
    keys: Float[Tensor, "key width"],
    title: str = "Scores grow with the width",
) -> alt.HConcatChart:
    """A histogram of one query's scores, and the softmax of the first five of them.

    A slider sets the width d, a power of four: query and keys are cut to their first d entries, so
    that every width shows the same query and the same keys. A switch divides by √d.
    """
    widths = [4**n for n in range(16) if 4**n <= len(query)]
    if widths[-1:] != [len(query)]:
        raise ValueError(f"a query of width {len(query)}, which is no power of four")
    scores = {d: keys[:, :d] @ query[:d] for d in widths}
    every = [s.float() / by for d, s in scores.items() for by in (1, math.sqrt(d))]
    most = max(int(s.histc(60, -60, 60).max()) for s in every)
    table = pd.DataFrame(
        [{"d": d, "key": i, "s": s} for d in widths for i, s in enumerate(scores[d].tolist())]
    ).round(3)
    params = [
        alt.param(
            name="power",
            value=2,
            bind=alt.binding_range(min=0, max=len(widths) - 1, step=1, name="d = 4 to the power "),
        ),
        alt.param(name="scaled", value=False, bind=alt.binding_checkbox(name="divide by √d ")),
    ]
    title_of_d = alt.TitleParams(
        alt.expr(f"'One query, {len(keys)} keys, at d = ' + pow(4, power)")
    )
    chosen = (
        alt.Chart(table)
        .transform_filter("datum.d == pow(4, power)")
        .transform_calculate(score="scaled ? datum.s / sqrt(datum.d) : datum.s")
    )
    histogram = (
        chosen.mark_bar(color=ASIDE)
        .encode(
            x=alt.X(
                "score:Q",
                bin=alt.Bin(extent=[-60, 60], step=2),
                title="score",
                scale=alt.Scale(domain=[-60, 60]),
                axis=alt.Axis(values=list(range(-60, 61, 20))),
            ),
            y=alt.Y("count()", title="keys", scale=alt.Scale(domain=[0, most])),
        )
        .properties(title=title_of_d, width=380, height=260)
    )
    weights = (
        chosen.transform_filter("datum.key < 5")
        .transform_joinaggregate(top="max(score)")
        .transform_calculate(e="exp(datum.score - datum.top)")
        .transform_joinaggregate(total="sum(e)")
        .transform_calculate(weight="datum.e / datum.total")
        .mark_bar(color=COLORS[0])
        .encode(
            x=alt.X("key:O", title="key", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1]), title="weight"),
            tooltip=["key:O", alt.Tooltip("weight:Q", format=".3f")],
        )
        .properties(title="Softmax over its first five keys", width=300, height=260)
    )
    spreads = ", ".join(f"{scores[d].std():.1f} at d = {d}" for d in widths)
    plain, scaled = (
        ", ".join(f"{(scores[d][:5] / by(d)).softmax(dim=0).max():.2f}" for d in widths)
        for by in (lambda d: 1, math.sqrt)
    )
    return (
        alt.hconcat(histogram, weights)
        .add_params(*params)
        .properties(
            description=f"{title}. The scores of one query with {len(keys)} keys spread over "
            f"{spreads}. The largest of the first five weights is {plain}; divided by √d, {scaled}."
        )
        .configure_axis(**BIG)
    )


@moving
def attention_explorer(maps: Sequence[AttentionMap], title: str = "Attention") -> alt.Chart:
    """A chart of every head's weights, with selectors for kind, layer and head.

    Hover a cell to read its tokens. `Translator.attention_maps` gives the maps of a sentence.
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
            color=WEIGHT,
            tooltip=["query:N", "key:N", alt.Tooltip("weight:Q", format=".3f")],
        )
        .properties(description=_describe(maps, shown, title))
        .configure_axis(labelFontSize=14, titleFontSize=13)
    )


@moving
def decoding_explorer(
    found: AttentionMap, title: str = "One look back at every step", reads: Sequence[str] = ()
) -> alt.LayerChart:
    """The weights of a decoder's steps, with a slider that goes from step to step.

    The row of the step is lit and has its numbers, but for those that are next to 0; the rows before
    it are pale, those after it are not there yet. The words said so far stand above and, each at its row, on the left.
    With `reads`, the token that each step reads stands there too.
    """
    queries, keys = found.queries, found.keys
    rows = pd.DataFrame(
        {
            "t": t,
            "n": n,
            "query": query,
            "key": key,
            "weight": round(found.weights[t, n].item(), 4),
        }
        for t, query in enumerate(queries)
        for n, key in enumerate(keys)
    )
    words = pd.DataFrame(
        {
            "t": t,
            "name": f"{reads[t]} → {query}" if reads else query,
            "said": " ".join(["said so far:", *queries[:t]]) + f"  →  {query}",
        }
        for t, query in enumerate(queries)
    )
    params = [
        alt.param(
            name="step",
            value=len(queries) // 2,
            bind=alt.binding_range(min=0, max=len(queries) - 1, step=1, name="step "),
        ),
        alt.param(name="names", value=list(keys)),
    ]
    lit = "datum.t == step"
    down = alt.Y("t:O", axis=None, scale=alt.Scale(domain=list(range(len(queries)))))
    across = alt.X(
        "n:O",
        title=None,
        axis=alt.Axis(labelExpr="names[datum.value]", labelAngle=0, orient="top"),
    )
    map_so_far = alt.Chart(rows).transform_filter("datum.t <= step").encode(x=across, y=down)
    cells = map_so_far.mark_rect(stroke="#ddd").encode(
        color=WEIGHT,
        opacity=alt.condition(lit, alt.value(1), alt.value(0.35)),
        tooltip=["query:N", "key:N", alt.Tooltip("weight:Q", format=".3f")],
    )
    numbers = (
        map_so_far.transform_filter(f"{lit} && datum.weight >= 0.005")
        .mark_text(fontSize=14, aria=False)
        .encode(
            text=alt.Text("weight:Q", format=".2f"),
            color=alt.condition("datum.weight > 0.5", alt.value("white"), alt.value("black")),
        )
    )
    names = (
        alt.Chart(words)
        .transform_filter("datum.t <= step")
        .mark_text(align="right", fontSize=14, aria=False)
        .encode(x=alt.value(-8), y=down, text="name:N")
    )
    said = (
        alt.Chart(words)
        .transform_filter(lit)
        .mark_text(align="left", fontSize=15, fontWeight="bold", aria=False)
        .encode(x=alt.value(0), y=alt.value(-46), text="said:N")
    )
    first = strongest_keys(found.weights, queries, keys)
    return (
        (cells + numbers + names + said)
        .add_params(*params)
        .properties(
            title=alt.TitleParams(title, offset=34),
            width=alt.Step(62),
            height=alt.Step(34),
            description=f"{title}: {len(queries)} steps, and the words {', '.join(keys)} of the "
            f"source. {first} With a slider for the step.",
        )
        .configure_axis(**BIG)
    )


@moving
def heads_explorer(
    weights: Float[Tensor, "head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str = "Heads side by side",
) -> alt.Chart:
    """Every head's weights side by side, linked to one another.

    Point at a query in one head, and its row stands out in all of them.
    """
    if weights.shape[1:] != (len(queries), len(keys)):
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} for {len(queries)} queries and {len(keys)} keys"
        )
    rows = pd.DataFrame(
        {"head": head, "q": q, "k": k, "query": queries[q], "key": keys[k], "weight": round(w, 4)}
        for head, map_ in enumerate(weights.tolist())
        for q, row in enumerate(map_)
        for k, w in enumerate(row)
    )
    pointed = alt.selection_point(
        name="pointed", fields=["q"], on="pointerover", clear="pointerout"
    )
    names = alt.param(name="names", value={"queries": list(queries), "keys": list(keys)})

    def axis(side: str, **options) -> alt.Axis:
        return alt.Axis(labelExpr=f"names.{side}[datum.value]", title=None, **options)

    step = max(14, min(34, 600 // (len(weights) * len(keys))))  # so that they stay side by side
    told = (
        f"Head {head}: {strongest_keys(map_, queries, keys)}" for head, map_ in enumerate(weights)
    )
    return (
        alt.Chart(rows, title=title, width=alt.Step(step), height=alt.Step(30))
        .mark_rect(stroke="#ddd")
        .encode(
            column=alt.Column(
                "head:O",
                title=None,
                header=alt.Header(labelExpr="'head ' + datum.value", labelFontSize=14),
            ),
            x=alt.X("k:O", axis=axis("keys", orient="top", labelAngle=-40)),
            y=alt.Y("q:O", axis=axis("queries")),
            color=WEIGHT,
            opacity=alt.condition(pointed, alt.value(1.0), alt.value(0.25)),
            tooltip=["query:N", "key:N", "head:O", alt.Tooltip("weight:Q", format=".3f")],
        )
        .add_params(names, pointed)
        .properties(description=f"{title}. {' '.join(told)}")
        .configure_axis(labelFontSize=13)
    )


@moving
def position_explorer(
    d_model: int, max_len: int, title: str = "Sines and cosines"
) -> alt.HConcatChart:
    """Four neighbouring dimensions of the sinusoidal codes along the positions.

    One slider chooses the first of them, another the base. Beside them stands the dot product of
    the code of position 0 with that of every position.
    """
    if d_model < 4:
        raise ValueError(f"d_model={d_model}, but four dimensions are drawn")
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd: the chart draws pairs")
    first = min(4, d_model - 4)
    params = [
        alt.param(
            name="first",
            value=first,
            bind=alt.binding_range(min=0, max=d_model - 4, step=2, name="first dimension "),
        ),
        alt.param(
            name="power",
            value=4,
            bind=alt.binding_range(min=1, max=5, step=0.5, name="base = 10 to the power "),
        ),
    ]
    angle = f"datum.t / pow(pow(10, power), 2 * floor(datum.j / 2) / {d_model})"
    along = alt.Chart(alt.sequence(0, max_len - 1, 0.25, as_="t"), title=title)
    curves = (
        along.transform_calculate(js="[0, 1, 2, 3]")
        .transform_flatten(["js"])
        .transform_calculate(j="first + datum.js")
        .transform_calculate(angle=angle)
        .transform_calculate(code="datum.j % 2 == 0 ? sin(datum.angle) : cos(datum.angle)")
        .transform_calculate(
            name="'dimension ' + datum.j + (datum.j % 2 == 0 ? ', sine' : ', cosine')"
        )
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("t:Q", title="position t"),
            y=alt.Y("code:Q", scale=alt.Scale(domain=[-1, 1]), title="code"),
            color=alt.Color("name:N", scale=alt.Scale(range=list(COLORS[:4])), title=None),
            strokeDash=alt.StrokeDash("name:N", title=None),
        )
        .properties(width=430, height=260)
    )
    products = (
        alt.Chart(
            alt.sequence(0, max_len, 1, as_="t"), title="Dot product with the code of position 0"
        )
        .transform_calculate(js=f"sequence(0, {d_model}, 2)")
        .transform_flatten(["js"], as_=["j"])
        .transform_calculate(part=f"cos({angle})")
        .transform_aggregate(product="sum(part)", groupby=["t"])
        .mark_line(color=COLORS[0], strokeWidth=2.5)
        .encode(x=alt.X("t:Q", title="position t"), y=alt.Y("product:Q", title="dot product"))
        .properties(width=280, height=260)
    )
    return (
        alt.hconcat(curves, products)
        .add_params(*params)
        .properties(
            description=f"{title}: dimensions {first} to {first + 3} of {d_model}, at positions 0 to "
            f"{max_len - 1}, and the dot product of position 0 with every position, with sliders "
            "for the first dimension and for the base."
        )
        .configure_axis(**BIG)
        .configure_legend(labelFontSize=14, labelLimit=200)
    )


@moving
def mask_explorer(length: int, title: str = "Who may attend to whom") -> alt.Chart:
    """A square of queries and keys, with switches for the causal and the padding mask.

    A slider sets the number of real tokens. Both masks at once let through what each of them lets
    through.
    """
    params = [
        alt.param(name="causal", value=True, bind=alt.binding_checkbox(name="causal mask ")),
        alt.param(name="padded", value=False, bind=alt.binding_checkbox(name="padding mask ")),
        alt.param(
            name="real",
            value=max(1, 3 * length // 4),
            bind=alt.binding_range(min=0, max=length, step=1, name="real tokens "),
        ),
    ]
    return (
        alt.Chart(
            alt.sequence(0, length * length, as_="n"),
            title=title,
            width=alt.Step(19),
            height=alt.Step(19),
        )
        .transform_calculate(query=f"floor(datum.n / {length})", key=f"datum.n % {length}")
        .transform_calculate(
            may="(!causal || datum.key <= datum.query) && (!padded || datum.key < real)"
            " ? 'may attend' : 'may not'"
        )
        .mark_rect(stroke="white")
        .encode(
            x=alt.X("key:O", title="keys", axis=alt.Axis(orient="top", labelAngle=0)),
            y=alt.Y("query:O", title="queries"),
            color=alt.Color(
                "may:N",
                title=None,
                scale=alt.Scale(domain=["may attend", "may not"], range=[COLORS[0], "#e8e8e8"]),
            ),
            tooltip=["query:O", "key:O", "may:N"],
        )
        .add_params(*params)
        .properties(
            description=f"{title}: {length} queries by {length} keys, at first with the causal mask, "
            "a triangle: each query may attend to itself and to the keys before it. With switches for the "
            "causal and the padding mask and a slider for the number of real tokens."
        )
        .configure_axis(**BIG)
        .configure_legend(labelFontSize=14)
    )


@moving
def schedule_explorer(
    widths: Sequence[int], steps: int, title: str = "Learning rate with warm-up"
) -> alt.Chart:
    """The paper's learning rate for models of these widths, with a slider for the warm-up.

    The rate is min(step^-0.5, step · warmup^-1.5) / √d_model.
    """
    begin = steps // 5
    warmup = alt.param(
        name="warmup",
        value=begin,
        bind=alt.binding_range(
            min=steps // 40, max=steps, step=max(1, steps // 40), name="warm-up steps "
        ),
    )
    return (
        alt.Chart(alt.sequence(1, steps + 1, max(1, steps // 400), as_="step"), title=title)
        .transform_calculate(widths=str(list(widths)))
        .transform_flatten(["widths"], as_=["d_model"])
        .transform_calculate(
            rate="min(pow(datum.step, -0.5), datum.step * pow(warmup, -1.5)) / sqrt(datum.d_model)"
        )
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("step:Q", title="step"),
            y=alt.Y("rate:Q", title="learning rate", axis=alt.Axis(format=".1e")),
            color=alt.Color("d_model:N", scale=alt.Scale(range=list(COLORS[: len(widths)]))),
            strokeDash=alt.StrokeDash("d_model:N"),
        )
        .add_params(warmup)
        .properties(
            width=520,
            height=280,
            description=f"{title}: {steps} steps for d_model {', '.join(map(str, widths))}; up in a "
            f"line for {begin} steps, then down as one over the root of the step. The "
            "narrower the model, the higher. With a slider for the warm-up.",
        )
        .configure_axis(**BIG)
        .configure_legend(labelFontSize=14, titleFontSize=13)
    )


@moving
def sampling_explorer(
    probabilities: Float[Tensor, " token"],
    tokens: Sequence[str],
    title: str = "With which probability a token is drawn",
) -> alt.LayerChart:
    """Bars of the probabilities from which a token is drawn, with three sliders.

    Temperature, top-k and top-p work one after the other, as in `decoding.sample`; ticks stand
    where the bars were before.
    """
    if len(probabilities) != len(tokens):
        raise ValueError(f"{len(probabilities)} probabilities, but {len(tokens)} tokens")
    if not bool((probabilities > 0).all()):
        raise ValueError(f"every token needs a probability above 0: {probabilities.tolist()}")
    rows = pd.DataFrame({"token": tokens, "given": probabilities.tolist()})
    sliders = [
        ("temperature", 1.0, alt.binding_range(min=0.1, max=3, step=0.1, name="temperature ")),
        ("top_k", len(tokens), alt.binding_range(min=1, max=len(tokens), step=1, name="top-k ")),
        ("top_p", 1.0, alt.binding_range(min=0.05, max=1, step=0.05, name="top-p ")),
    ]
    bars = (
        alt.Chart(rows, title=title, width=460, height=260)
        .transform_calculate(cooled="pow(datum.given, 1 / temperature)")
        .transform_window(rank="row_number()", sort=[alt.SortField("cooled", order="descending")])
        .transform_calculate(left="datum.rank <= top_k ? datum.cooled : 0")
        .transform_joinaggregate(of_top_k="sum(left)")
        .transform_calculate(share="datum.left / datum.of_top_k")
        .transform_window(  # equally probable tokens one by one, not all at once
            reached="sum(share)",
            sort=[alt.SortField("cooled", order="descending")],
            ignorePeers=True,
        )
        # a hair, since 0.4 + 0.3 in the browser may lie beyond 0.7
        .transform_calculate(nucleus="datum.reached - datum.share < top_p - 1e-6 ? datum.share : 0")
        .transform_joinaggregate(of_top_p="sum(nucleus)")
        .transform_calculate(probability="datum.nucleus / datum.of_top_p")
        .encode(
            x=alt.X("token:N", sort=list(tokens), title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("probability:Q", scale=alt.Scale(domain=[0, 1]), title="probability"),
            tooltip=[
                "token:N",
                alt.Tooltip("probability:Q", format=".3f"),
                alt.Tooltip("given:Q", format=".3f", title="of the model"),
            ],
        )
    )
    numbers = bars.mark_text(dy=-8, fontSize=14).encode(
        text=alt.Text("probability:Q", format=".2f")
    )
    before = bars.mark_tick(color="black", thickness=2, width=36).encode(y="given:Q")
    told = ", ".join(
        f"{token} {p:.2f}" for token, p in zip(tokens, probabilities.tolist(), strict=True)
    )
    return (
        (bars.mark_bar(color=COLORS[0]) + before + numbers)
        .add_params(*(alt.param(name=n, value=v, bind=bind) for n, v, bind in sliders))
        .properties(
            description=f"{title}: {told}. With sliders for temperature, top-k and top-p; a tick on "
            "every bar marks the model's own probability."
        )
        .configure_axis(**BIG)
    )


def _describe(maps: Sequence[AttentionMap], kind: str, title: str) -> str:
    first = next(m for m in maps if m.kind == kind)
    strongest = strongest_keys(first.weights, first.queries, first.keys)
    return (
        f"{title}: {len(maps)} heads to choose from. "
        f"{kind} attention, layer {first.layer}, head {first.head}. {strongest}"
    )
