"""Draw the chart of speed, notebooks/images/speed.svg, from data/bench.json and data/rivals.json.

`make bench JSON=data/bench.json` measures the first on a quiet machine; the second was measured once.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

from transformer_lib.show.plotting import COLORS, STYLE

ROOT = Path(__file__).parents[2]
OURS, TORCH = "transformer_lib", "torch.nn.Transformer"
PANELS = {  # a title, and a row of the bench over a table of the rivals
    "training step: time\n(less is better)": (
        "training step, mid: time over that of torch.nn.Transformer",
        "training step: seconds over torch's",
    ),
    "greedy, one sentence:\ntokens/s (more is better)": (
        "greedy, B = 1, 256 steps: tokens/s over those of re-decoding",
        "greedy, B = 1, 256 steps: tokens a second",
    ),
    "greedy, 32 sentences:\ntokens/s (more is better)": (
        "greedy, B = 32, 64 steps: tokens/s over those of re-decoding",
        "greedy, B = 32, 64 steps: tokens a second",
    ),
}


def figures() -> dict[str, dict[str, float]]:
    """Panel by panel what each library takes or makes, where torch.nn.Transformer's is 1."""
    bench, rivals = (
        json.loads((ROOT / "data" / f"{name}.json").read_text("utf-8"))
        for name in ("bench", "rivals")
    )
    ours = {row["what"]: row["median"] for row in bench["rows"]}
    found = {}
    for title, (row, table) in PANELS.items():
        theirs = {TORCH: 1.0} | rivals[table]
        found[title] = {OURS: ours[row]} | {n: x / theirs[TORCH] for n, x in theirs.items()}
    return found


def draw(path: Path) -> None:
    found = figures()
    names = list(dict.fromkeys(name for panel in found.values() for name in panel))[::-1]
    with plt.rc_context(STYLE | {"svg.fonttype": "none", "svg.hashsalt": "speed"}):
        fig, axs = plt.subplots(1, len(found), figsize=(11, 4), sharey=True, layout="constrained")
        for ax, (title, panel) in zip(axs, found.items(), strict=True):
            for name, ratio in panel.items():
                color = COLORS[0] if name == OURS else "#b8b8b8"
                bar = ax.barh(names.index(name), ratio, color=color, height=0.7)
                ax.bar_label(bar, [f"{ratio:.2f} ×" if ratio < 2 else f"{ratio:.1f} ×"], padding=4)
            ax.set_title(title)
            ax.set_yticks(range(len(names)), names)
            ax.set_xlim(0, 1.35 * max(panel.values()))
            ax.set_xticks([])
            ax.tick_params(length=0)
            ax.spines[["left", "bottom"]].set_visible(False)
        fig.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(ROOT / "notebooks" / "images" / "speed.svg")
