"""A lesson of the second edition, as small as its rules allow; it goes with the last of them."""

from nbformat.v4 import new_notebook
from rules.times import ESTIMATE
from small_lesson import (
    ALT,
    FOLDED,
    KERNEL,
    SVG,
    chart,
    exercise,
    going_deeper,
    note,
    ran,
    told,
)

TITLE = f"""# 09 · Two heads

Why one glance is not enough, shown on two guests.

**You will be able to**
- say what one glance loses,
- split a tensor into heads.

**Time:** 34 minutes in class · 35 alone · 5 going deeper. {ESTIMATE}
**Before:** [lesson 04](04_scaled_dot_product.ipynb)."""


def old_lesson():
    """A notebook of all that the second edition asked of a core, and of two sections that go deeper."""
    return new_notebook(cells=[*core(), *going_deeper()], metadata={"kernelspec": KERNEL})


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
