"""A scene as a picture, as a chart that steps, and as JSON: three renderings of the same marks."""

import base64
import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

import altair as alt
import pandas as pd

from transformer_lib.show.drawings.marks import GROUND, INK, Path, Text, marks, plain, text_width
from transformer_lib.show.drawings.scene import Scene
from transformer_lib.show.pictures import moving

FAINT = 0.2  # what a step does not light
BELOW = 40  # pixels for the sentence of a step


@dataclass(frozen=True)
class Drawing:
    """A scene as the output of a cell: an SVG picture on its own white ground, with alt text.

    JupyterLab shows no bare SVG of a notebook that it does not trust, hence the <img> beside it.
    """

    scene: Scene

    def svg(self) -> str:
        """The picture: the same bytes each time."""
        return svg(self.scene)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        picture, alt_text = self.svg(), self.scene.alt()
        data = base64.b64encode(picture.encode()).decode()
        source = f'src="data:image/svg+xml;base64,{data}"'
        return {
            "image/svg+xml": picture,
            "text/html": f'<img alt="{html.escape(alt_text)}" {source}>',
            "text/plain": alt_text,
        }


def svg(scene: Scene) -> str:
    """A scene as SVG, for any viewer."""
    width, height = plain(scene.width), plain(scene.height)
    told = [
        f"<title>{html.escape(scene.title)}</title>",
        f"<desc>{html.escape(scene.alt())}</desc>",
    ]
    return _picture(width, height, [*told, _ground(width, height), *map(_element, marks(scene))])


def _ground(width: str, height: str) -> str:
    return f'<path d="M0,0H{width}V{height}H0Z" fill="{GROUND}"/>'


def _picture(width: str, height: str, elements: Iterable[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif">'
    )
    return "\n".join([head, *elements, "</svg>"]) + "\n"


def _element(mark: Path | Text, faint: bool = False) -> str:
    opacity = f' opacity="{FAINT}"' if faint else ""
    if isinstance(mark, Text):
        weight = ' font-weight="bold"' if mark.bold else ""
        return (
            f'<text x="{plain(mark.x)}" y="{plain(mark.y)}" font-size="{mark.size}" '
            f'text-anchor="{mark.anchor}" fill="{mark.color}"{weight}{opacity}>'
            f"{html.escape(mark.text)}</text>"
        )
    place = f' transform="translate({plain(mark.x)} {plain(mark.y)})"' if mark.x or mark.y else ""
    dash = ' stroke-dasharray="6 4"' if mark.dashed else ""
    return (
        f'<path d="{mark.path}"{place} fill="{mark.fill}" stroke="{mark.stroke}" '
        f'stroke-width="{plain(mark.width)}"{dash}{opacity}/>'
    )


def sheet(scenes: Mapping[str, Scene], columns: int = 3, width: int = 460) -> str:
    """All scenes as thumbnails on one SVG, each under its name, to judge how they grow."""
    height, elements = width * 3 // 4, []
    for i, (name, scene) in enumerate(scenes.items()):
        x, y = i % columns * (width + 20) + 20, i // columns * (height + 50) + 40
        heading = html.escape(f"{name}  {scene.title}")
        elements.append(f'<text x="{x}" y="{y - 10}" font-size="18">{heading}</text>')
        place = f'x="{x}" y="{y}" width="{width}" height="{height}"'
        box = f'viewBox="0 0 {plain(scene.width)} {plain(scene.height)}"'
        elements.append(f"<svg {place} {box}>{''.join(map(_element, marks(scene)))}</svg>")
    size = columns * (width + 20) + 20, -(-len(scenes) // columns) * (height + 50) + 40
    told = html.escape("; ".join(f"{name}: {scene.title}" for name, scene in scenes.items()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" role="img" '
        f'font-family="sans-serif"><title>All drawings</title><desc>{told}</desc>'
        f'<path d="M0,0H{size[0]}V{size[1]}H0Z" fill="{GROUND}"/>{"".join(elements)}</svg>\n'
    )


@moving
def stepped(scene: Scene) -> alt.LayerChart:
    """A scene with a slider that lights its steps one after the other, each with its sentence.

    At 0 everything is lit. It moves in the page, without a kernel.
    """
    if not scene.steps:
        raise ValueError(f"{scene.title!r} has no steps; show it with Drawing(scene)")
    captions = [scene.title, *(f"{n}  {s.caption}" for n, s in enumerate(scene.steps, 1))]
    need = 24 + max(text_width(text, 17, bold=True) for text in captions[1:])
    scene = replace(scene, width=max(scene.width, need))  # else the picture jumps with the slider
    last = len(scene.steps)
    step = alt.param(
        name="step", value=0, bind=alt.binding_range(min=0, max=last, step=1, name="step ")
    )
    paths = [mark for mark in marks(scene) if isinstance(mark, Path)]
    texts = [mark for mark in marks(scene) if isinstance(mark, Text)]
    sentence = pd.DataFrame(
        {"n": range(last + 1), "text": captions, "x": 12, "y": scene.height + 20}
    )
    said = (
        alt.Chart(sentence)
        .transform_filter("datum.n == step")
        .mark_text(align="left", fontSize=17, fontWeight="bold", color=INK)
    )
    layers = [_outlines(scene, paths), *_words(scene, texts)]
    layers.append(said.encode(**_places(scene), text="text:N"))
    told = " ".join(f"{n}: {s.caption}" for n, s in enumerate(scene.steps, 1))
    return (
        alt.layer(*layers)
        .add_params(step)
        .properties(
            width=float(scene.width),
            height=float(scene.height + BELOW),
            background=GROUND,
            description=f"{scene.alt()} With a slider for the step. {told}",
        )
        .configure_view(stroke=None)
    )


def is_stepped(chart: dict) -> bool:
    """Whether `stepped` made the chart of this specification."""
    data = chart.get("layer", [{}])[0].get("data", {}).get("name")
    return any("lit" in row for row in chart.get("datasets", {}).get(data, []))


def frames(chart: dict) -> list[tuple[str, str]]:
    """What the slider of a stepped chart passes: at each stop its sentence, and the picture as SVG.

    At 0 it is the title, and everything is lit.
    """
    rows = [chart["datasets"][layer["data"]["name"]] for layer in chart["layer"]]
    outlines, *texts, said = rows
    found: list[tuple[Path | Text, list[int]]] = [(_path(row), row["lit"]) for row in outlines]
    for layer, some in zip(chart["layer"][1:-1], texts, strict=True):
        anchor = {"left": "start", "center": "middle", "right": "end"}[layer["mark"]["align"]]
        bold = layer["mark"]["fontWeight"] == "bold"
        found += [(_text(row, anchor, bold), row["lit"]) for row in some]
    width, height = plain(chart["width"]), plain(chart["height"] - BELOW)
    return [
        (
            row["text"].removeprefix(f"{row['n']}  "),
            _picture(
                width,
                height,
                [
                    _ground(width, height),
                    *(_element(mark, row["n"] > 0 and row["n"] not in lit) for mark, lit in found),
                ],
            ),
        )
        for row in said
    ]


def _path(row: dict) -> Path:
    look = {
        name: "none" if row[name] == "transparent" else row[name] for name in ("fill", "stroke")
    }
    return Path(row["part"], row["x"], row["y"], row["path"], **look, width=row["width"])


def _text(row: dict, anchor: str, bold: bool) -> Text:
    place = row["part"], row["x"], row["y"], row["text"]
    return Text(*place, row["size"], anchor, row["color"], bold)


def _places(scene: Scene) -> dict:
    """Where a mark stands: at its own x and y, in pixels."""
    across = alt.Scale(domain=[0, float(scene.width)], nice=False, zero=False)
    down = alt.Scale(domain=[float(scene.height) + BELOW, 0], nice=False, zero=False)
    return {
        "x": alt.X("x:Q", scale=across, axis=None),
        "y": alt.Y("y:Q", scale=down, axis=None),
    }


LIT = alt.condition("step == 0 || indexof(datum.lit, step) >= 0", alt.value(1), alt.value(FAINT))


def _rows(scene: Scene, found: list) -> pd.DataFrame:
    """A row a mark, with the numbers of the steps that light it."""
    rows = []
    for mark in found:
        lit = [n for n, step in enumerate(scene.steps, 1) if step.lights(mark.part)]
        rows.append({**asdict(mark), "x": _short(mark.x), "y": _short(mark.y), "lit": lit})
    return pd.DataFrame(rows)


def _short(number: float) -> float:
    return float(plain(number))


def _outlines(scene: Scene, paths: list[Path]) -> alt.Chart:
    rows = _rows(scene, paths).replace({"none": "transparent"})
    as_it_is = {"scale": None, "legend": None}
    return (
        alt.Chart(rows)
        .mark_point(size=4, opacity=1)  # of size 4 a path keeps its own pixels
        .encode(
            **_places(scene),
            shape=alt.Shape("path:N", **as_it_is),
            fill=alt.Fill("fill:N", **as_it_is),
            stroke=alt.Stroke("stroke:N", **as_it_is),
            strokeWidth=alt.StrokeWidth("width:Q", **as_it_is),
            opacity=LIT,
        )
    )


def _words(scene: Scene, texts: list[Text]) -> list[alt.Chart]:
    """The texts, one layer for each way to hang on a place."""
    rows, layers = _rows(scene, texts), []
    for (anchor, bold), some in rows.groupby(["anchor", "bold"], sort=True):
        align = {"start": "left", "middle": "center", "end": "right"}[anchor]
        weight = "bold" if bold else "normal"
        layers.append(
            alt.Chart(some.drop(columns=["anchor", "bold"]))
            .mark_text(align=align, baseline="alphabetic", fontWeight=weight, font="sans-serif")
            .encode(
                **_places(scene),
                text="text:N",
                size=alt.Size("size:Q", scale=None, legend=None),
                color=alt.Color("color:N", scale=None, legend=None),
                opacity=LIT,
            )
        )
    return layers


def to_json(scene: Scene) -> str:
    """A scene and its marks as JSON, for a page that draws them itself."""
    parts = [{"kind": type(part).__name__.lower(), **asdict(part)} for part in scene.parts]
    drawn = [{"kind": type(mark).__name__.lower(), **asdict(mark)} for mark in marks(scene)]
    found = {**asdict(scene), "alt": scene.alt(), "parts": parts, "marks": drawn}
    return json.dumps(_rounded(found), ensure_ascii=False)


def _rounded(found: object) -> object:
    if isinstance(found, dict):
        return {key: _rounded(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_rounded(value) for value in found]
    return round(found, 2) if isinstance(found, float) else found
