"""Cells as HTML, by nbconvert's own filters, and pages by our templates.

Nothing in them points to a network.
"""

import base64
import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from html import unescape
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbconvert.filters import Highlight2HTML, ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from transformer_lib.base.optional import needed
from transformer_lib.publish.lessons import FOLD, NOTEBOOKS, slug

HERE = Path(__file__).parent
VEGALITE = "application/vnd.vegalite.v5+json"
SVG = "image/svg+xml"
VECTORS = re.compile(r'<img alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]+)"')
VEGALITE_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name, never fetched
LICENCES = ("reveal/LICENSE", "mathjax/LICENSE", "vega/LICENSE")


@dataclass(frozen=True)
class Piece:
    """A part of a cell's output: `kind` is text, figure, chart or markup.

    `plain` is what a text says, or of a picture its alt text; `size` is a picture's height and width
    in pixels, and `svg` makes the picture itself. `chart` is the specification of a chart.
    """

    kind: str
    html: Markup
    size: tuple[int, int] = (0, 0)
    plain: str = ""
    svg: Callable[[], str] | None = None
    chart: dict | None = None


def markdown(source: str) -> Markup:
    """Markdown as HTML; formulas stay as they are, for MathJax, and lessons link to pages."""
    before, *folds = FOLD.split(source)
    html = _markdown(before)
    for summary, body, after in zip(folds[::3], folds[1::3], folds[2::3], strict=True):
        html += Markup("<details><summary>{}</summary>{}</details>{}").format(
            Markup(summary), _markdown(body), _markdown(after)
        )
    return html


def _markdown(source: str) -> Markup:
    """Without folds, which nbconvert would close before what they fold."""
    renderer = IPythonRenderer(
        escape=False, exclude_anchor_links=True, embed_images=True, path=str(NOTEBOOKS)
    )
    html = MarkdownWithMath(renderer=renderer).render(source)
    html = re.sub(r'href="(\d\d_\w+)\.ipynb', r'href="\1.html', html)
    html = re.sub(r'href="((?:\d\d_\w+\.html)?)#([^"]+)"', _anchor, html)
    html = _marked(_without_empty_heads(html))
    # what lies outside of the lessons, such as ../README.md, is not published
    return Markup(re.sub(r'<a href="\.\./[^"]*">(.*?)</a>', r"\1", html))


def _marked(html: str) -> str:
    """What **Careful**, **In short** and the road map look like is for the style to say."""
    html = html.replace("<p><em>Road map:</em>", '<p class="road"><em>Road map:</em>')
    return re.sub(
        r"<blockquote>\s*<p><strong>(Careful|In short)\.",
        lambda found: f'<blockquote class="{slug(found[1])}"><p><strong>{found[1]}.',
        html,
    )


def _without_empty_heads(html: str) -> str:
    """The corner of a table heads nothing."""
    return html.replace("<th></th>", "<td></td>")


def _anchor(link: re.Match) -> str:
    """JupyterLab's address of a heading, #Going-deeper:-a-bound, as the page's own."""
    return f'href="{link[1]}#{slug(unquote(link[2]))}"'


def code(source: str) -> Markup:
    """Python, each token with the class that Pygments gives it."""
    return Markup(Highlight2HTML(pygments_lexer="python")(source))


def text(plain: str) -> Piece:
    """Printed text."""
    plain = plain.rstrip("\n")
    return Piece("text", Markup(f"<pre>{ansi2html(plain)}</pre>"), plain=plain)


def pieces(cell: NotebookNode) -> list[Piece]:
    """What a cell has put out, in order; texts that follow each other are one."""
    found = []
    for is_text, group in groupby(cell.get("outputs", []), lambda o: _plain(o) is not None):
        if is_text:
            found.append(text("\n".join(_plain(output).rstrip("\n") for output in group)))
        else:
            found += [_rich(output.data) for output in group]
    return found


def _plain(output: NotebookNode) -> str | None:
    """What an output says in plain text; None where it has a richer form."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return output.data["text/plain"] if list(output.data) == ["text/plain"] else None


def _rich(data: NotebookNode) -> Piece:
    if VEGALITE in data:
        return chart(data[VEGALITE], data["image/png"])
    if "text/markdown" in data:
        return Piece("markup", markdown(data["text/markdown"]))
    if SVG in data:
        return drawing(data[SVG], data["text/plain"])
    if figure := VECTORS.search(data["text/html"]):
        return drawing(base64.b64decode(figure[2]).decode(), unescape(figure[1]))
    return Piece("markup", Markup(_without_empty_heads(data["text/html"])))


def chart(spec: dict, png: str) -> Piece:
    """A chart that charts.js draws in the page; the stored picture gives its size."""
    height, width = (side * 2 // 3 for side in _png_size(png))  # stored at one and a half
    picture = partial(needed("vl_convert", "a picture of a chart").vegalite_to_svg, spec)
    told = spec.get("description", "")
    return Piece("chart", living(spec), (height, width), told, picture, spec)


def living(spec: dict) -> Markup:
    """The specification of a chart, standing where charts.js will draw it."""
    source = json.dumps({**spec, "$schema": VEGALITE_SCHEMA}, ensure_ascii=False)
    return Markup('<div class="chart"><script type="application/json">{}</script></div>').format(
        Markup(source.replace("</", "<\\/"))
    )


def drawing(svg: str, alt: str) -> Piece:
    """A vector drawing as a picture of its own, in the size of its view box.

    So its styles and names meet nothing else's in the page.
    """
    box = re.search(r"""<svg[^>]*\bviewBox=["']([^"']+)["'][^>]*>""", svg)
    if not box:
        raise ValueError(f"a drawing needs a viewBox, and this has none: {svg[:80]!r}")
    pixels = 4 / 3 if 'pt"' in box[0] else 1  # in a point
    _, _, width, height = (round(float(s) * pixels) for s in box[1].replace(",", " ").split())
    return Piece("figure", image(svg, width, height, alt), (height, width), alt, lambda: svg)


def image(svg: str, width: int, height: int, alt: str) -> Markup:
    """An SVG as a picture of this size in the page."""
    return Markup('<img width="{}" height="{}" alt="{}" src="data:{};base64,{}">').format(
        width, height, alt, SVG, base64.b64encode(svg.encode()).decode()
    )


def _png_size(data: str) -> tuple[int, int]:
    width, height = struct.unpack(">II", base64.b64decode(data[:64])[16:24])
    return height, width


def vendored(name: str) -> str:
    """A file of others that is shipped with the project."""
    return (HERE / "vendor" / name).read_text(encoding="utf-8")


def static(name: str) -> str:
    """A style or script of ours."""
    return (HERE / "static" / name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """Vega, Vega-Lite and vega-embed in one script."""
    return needed("vl_convert", "a page with charts").javascript_bundle(vl_version="6.4")


def licences() -> str:
    """The licences of what others wrote, as they ask for."""
    return "\n\n".join(f"{name}\n\n{vendored(name)}" for name in LICENCES)


def render(template: str, **values: object) -> str:
    """A template with its values filled in."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"code": code, "inline": inline, "plain": plain}
    environment.globals |= {"script": _script, "style": _style}
    return environment


def inline(source: str) -> Markup:
    """Markdown of one line, without the paragraph around it."""
    return Markup(re.sub(r"^<p>(.*)</p>$", r"\1", str(markdown(source)).strip(), flags=re.S))


def _script(source: str) -> Markup:
    return Markup("<script>{}</script>").format(Markup(source.replace("</script", "<\\/script")))


def _style(source: str) -> Markup:
    return Markup(f"<style>\n{source}</style>")


def plain(source: str) -> str:
    """Markdown as words: for search, and for titles."""
    return markdown(source).striptags()
