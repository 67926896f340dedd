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

Why one glance is not enough, shown on two guests.

**You will be able to**
- say what one glance loses,
- split a tensor into heads.

**Time:** 34 minutes in class · 35 alone · 5 going deeper. **Before:** [lesson 04](04_scaled_dot_product.ipynb)."""
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
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return new_notebook(
        cells=[*core(), *going_deeper()], metadata={"kernelspec": kernel, "course": {"edition": 3}}
    )


def core():
    yield told(TITLE, "slide")
    yield ran("import torch\n\ngifts = torch.eye(2)", tags=["setup"])
    yield ran('recall("09")', {"text/html": "<p>three questions</p>", "text/plain": "three"})
    yield note(4, "**Ask.** Who remembers the root of d?")
    yield told("## Two guests", "slide")
    yield ran(
        "two_heads()",
        {"image/svg+xml": SVG, "text/plain": ALT},
        place="fragment",
        tags=["hide-input"],
    )
    yield told(
        "[Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762) give every guest two glances."
    )
    yield told(
        "**Predict first.** How much does one glance lose, shared fairly between two guests?",
        "fragment",
    )
    yield ran(
        "# what one glance loses\nglance = gifts.mean(dim=0)\nprint(f'lost: {1 - glance[0]:.2f}')",
        "lost: 0.50\n",
        place="fragment",
        tags=["hide-input"],
        jupyter=dict(FOLDED),
    )
    yield ran("# the same by the formula\nassert glance[0] == 0.5", jupyter=dict(FOLDED))
    yield told(
        "<details><summary>What it shows</summary>\n\nHalf of each gift is **lost**.\n\n</details>"
    )
    yield told("Why it must be so is [proved below](#Going-deeper:-a-bound,-proved).")
    yield note(
        9,
        "**Ask.** Let them vote.\n\n**Goes wrong.** They add both halves.\n\n**Skip if late.** The drawing.",
    )
    yield told("## Break it: equal heads", "slide")
    yield ran("explorer()", chart(), place="fragment", tags=["hide-input"])
    yield note(6, "**Ask.** What will the slider change?")
    yield told("## Exercise: into heads\n\n*5 min · ●○○*", "slide")
    yield from exercise("heads.split", "my_split(x, num_heads)")
    yield note(4, "**Goes wrong.** A transpose is forgotten.")
    yield told("## Build: side by side again\n\n*10 min · ●●○*", "slide")
    yield from exercise("heads.join", "my_join(z)")
    yield note(8, "**Goes wrong.** The heads come out mixed.\n\n**Skip if late.** All of it.")
    yield told("## What people get wrong", "slide")
    yield told(
        "**“Heads split the embedding.”** [Alammar (2018)](https://github.com/jalammar) draws it so."
    )
    yield ran("print(gifts.shape)", "torch.Size([2, 2])\n")
    yield note(1, "**Ask.** Who believed it?")
    yield told("## What you now know", "slide")
    yield told("**Explain it to a friend.** Why do two glances know more than one?")
    yield told("| term | 中文 |\n|---|---|\n| head | 注意力头 |")
    yield note(2, "**Model answer.** Two unknowns need two equations.")
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
