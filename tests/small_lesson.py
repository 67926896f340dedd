"""A lesson, as small as the rules allow: it keeps them all."""

import base64
import copy
from functools import cache

import altair
import vl_convert
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 120">'
    '<rect width="320" height="120" fill="#fff"/>'
    '<rect x="20" y="40" width="110" height="40" rx="6" fill="#d7e8f5" stroke="#00578a"/>'
    '<rect x="190" y="40" width="110" height="40" rx="6" fill="#fbe3d3" stroke="#b35900"/>'
    '<path d="M130 60H190" stroke="#1b1f24"/>'
    '<text x="75" y="65" text-anchor="middle" font-family="sans-serif">head 0</text>'
    '<text x="245" y="65" text-anchor="middle" font-family="sans-serif">head 1</text></svg>'
)
ALT = "Two boxes side by side, head 0 and head 1, joined by a line."
TITLE = """# 09 · Two heads

Why one head is not enough, shown on two guests.

**You will be able to**
- say what one head loses,
- split a tensor into heads.

**Time:** 38 minutes in class · 38 alone, in two sittings · 5 going deeper. **Before:**
[lesson 04](04_scaled_dot_product.ipynb)."""
ROAD = "The road map of this lesson. In the order of the data: 1 guests what is lost; 2 equal heads no better."
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
FOLDED = {"source_hidden": True, "outputs_hidden": True}


def told(text, place="notes", **metadata):
    """A cell of markdown, in its place on the slides."""
    return new_markdown_cell(text, metadata={"slideshow": {"slide_type": place}, **metadata})


def ran(source, *outputs, place="skip", **metadata):
    """A cell of code with its outputs: texts, or data."""
    made = [
        new_output("stream", text=out) if isinstance(out, str) else new_output("display_data", out)
        for out in outputs
    ]
    metadata = {"slideshow": {"slide_type": place}, **metadata}
    return new_code_cell(source, outputs=made, metadata=metadata)


def note(minutes, text):
    summary = f"<details><summary>For the instructor · {minutes} min</summary>"
    return told(f"{summary}\n\n{text}\n\n</details>", tags=["instructor"])


def chart():
    """The data of a chart with a slider, as JupyterLab stores it; whoever asks may spoil it."""
    return copy.deepcopy(_chart())


@cache
def _chart():
    size = altair.param(name="size", value=60, bind=altair.binding_range(min=20, max=200))
    points = altair.Data(values=[{"head": 0, "lost": 0.5}, {"head": 1, "lost": 0.1}])
    drawn = altair.Chart(points).mark_point().encode(x="head:Q", y="lost:Q", size=altair.value(60))
    spec = drawn.encode(size=altair.value(altair.expr(size.name))).add_params(size).to_dict()
    picture = vl_convert.vegalite_to_png(spec, scale=1.5)
    mime = "application/vnd.vegalite.v5+json"
    return {mime: spec, "image/png": base64.b64encode(picture).decode()}


def exercise(name, function):
    yield ran(
        f"def {function}:\n    # your code in place of the dots\n    ...",
        place="skip",
        tags=["exercise"],
    )
    yield ran(f'check("{name}", {function.partition("(")[0]})', tags=["check"])


def small_lesson():
    """A notebook of all that DESIGN asks of a core, and of two sections that go deeper."""
    return new_notebook(cells=[*core(), *going_deeper()], metadata={"kernelspec": KERNEL})


def core():
    drawn = {"image/svg+xml": SVG, "text/plain": ALT}
    yield told(TITLE, "slide")
    yield ran(
        "import torch\n\ngifts = torch.eye(2)", tags=["setup"], jupyter={"source_hidden": True}
    )
    yield ran("two_heads()", drawn, place="subslide", tags=["hide-input"])
    yield told(
        "One head takes home one mixture. What does it lose when two guests bring a gift each?"
    )
    yield note(2, "**Ask.** What is lost?")
    yield told("## Before we start", "slide")
    yield ran('recall("09")', {"text/html": "<p>three questions</p>", "text/plain": "three"})
    yield ran(
        'Drawing(road_map(("guests", "what is lost"), ("equal heads", "no better")))',
        {"image/svg+xml": SVG, "text/plain": ROAD},
        place="subslide",
        tags=["hide-input"],
    )
    yield note(4, "**Ask.** Who remembers the root of d?")
    yield told("## Two guests\n\n*Road map:* **1 guests** · 2 equal heads", "slide")
    yield told(
        "[Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762) give every guest two heads."
    )
    yield told(
        "**Predict first.** How much does one head lose, shared fairly between two guests?",
        "fragment",
    )
    yield ran(
        "# what one head loses\nmixture = gifts.mean(dim=0)\nprint(f'lost: {1 - mixture[0]:.2f}')",
        "lost: 0.50\n",
        place="fragment",
        tags=["hide-input"],
        jupyter=dict(FOLDED),
    )
    yield ran("# the same by the formula\nassert mixture[0] == 0.5", jupyter=dict(FOLDED))
    yield told(
        "<details><summary>What it shows</summary>\n\nHalf of each gift is **lost**.\n\n</details>"
    )
    yield told(
        "> **Careful.** If you add both halves, you get a whole gift again, and it belongs to\n"
        "> nobody. Each half has its own guest."
    )
    yield told("Why it must be so is [proved below](#Going-deeper:-a-bound,-proved).")
    yield note(9, "**Ask.** Let them vote.\n\n**Skip if late.** The drawing.")
    yield told("## Pause: half of it", "slide")
    yield told("One head loses half of each gift. Next: what if both heads begin equal?")
    yield told(
        "## Break it: equal heads\n\n*Road map:* 1 guests · **2 equal heads**\n\n"
        "Two heads that start equal stay equal, with [three guests](#Going-deeper:-three-guests) too.",
        "slide",
    )
    yield ran("explorer()", chart(), place="fragment", tags=["hide-input"])
    yield told("> **In short.** Equal heads take home the same. So they begin apart.")
    yield note(6, "**Ask.** What will the slider change?")
    yield told("## Exercise: into heads\n\n*5 min · ●○○*", "slide")
    yield from exercise("heads.split", "my_split(x, num_heads)")
    yield note(4, "**Ask.** Which axis is cut?")
    yield told("## Build: side by side again\n\n*10 min · ●●○*", "slide")
    yield from exercise("heads.join", "my_join(z)")
    yield note(8, "**Ask.** What comes out mixed?\n\n**Skip if late.** All of it.")
    yield told("## What people get wrong", "slide")
    yield told(
        "**“Heads split the embedding.”** [Alammar (2018)](https://github.com/jalammar) draws it so."
    )
    yield ran("print(gifts.shape)", "torch.Size([2, 2])\n")
    yield note(1, "**Ask.** Who believed it?")
    yield told("## On one sheet", "slide")
    yield told("$$\\mathrm{lost} = 1 - \\tfrac{1}{2}$$")
    yield told("| name | shape | what it is |\n|---|---|---|\n| `gifts` | (2, 2) | a row a guest |")
    yield ran("halves = gifts.mean(dim=0)\nprint(1 - halves)", "tensor([0.5000, 0.5000])\n")
    yield told(
        "| term | what it means | 中文 |\n|---|---|---|\n"
        "| head | One of several attentions side by side. | 注意力头 |"
    )
    yield told("1. Both halves are added.\n2. The width is cut before the axes are exchanged.")
    yield note(2, "**Ask.** Which line would you forget?")
    yield told("## Explain it to a friend", "slide")
    yield told("Why do two heads know more than one?")
    yield told(
        "<details><summary>A model answer</summary>\n\nTwo unknowns need two equations.\n\n</details>"
    )
    yield note(2, "**Ask.** Let two of them try.")
    yield told("**Next:** [lesson 10](10_positional_encoding.ipynb).")


def going_deeper():
    deeper = {"tags": ["deeper"]}
    folded = {"jp-MarkdownHeadingCollapsed": True, **deeper}
    yield told("## Going deeper: a bound, proved\n\n*3 min · ●●○*", "slide", **folded)
    yield told(" ".join(["The sum of both shares is one."] * 30), **deeper)
    yield ran("bound = 1 - gifts.mean()\nprint(bound)", "tensor(0.5000)\n", **deeper)
    yield told("## Going deeper: three guests\n\n*2 min · ●●●*", "slide", **folded)
    yield told(" ".join(["Each guest is now told of two others."] * 12), **deeper)
    yield ran(
        "three = torch.eye(3)\nfor row in three:\n    print(row.sum())",
        "tensor(1.)\n" * 3,
        place="fragment",
        **deeper,
    )
