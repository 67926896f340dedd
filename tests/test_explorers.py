import html
import math
import re

import altair as alt
import pytest
import torch
import vl_convert

from transformer_lib.explorers import (
    KERNEL_EXPRESSIONS,
    attention_explorer,
    bandwidth_explorer,
    heads_explorer,
    mask_explorer,
    position_explorer,
    scale_explorer,
    schedule_explorer,
    stages_explorer,
    temperature_explorer,
)
from transformer_lib.masks import causal_mask, length_mask
from transformer_lib.pooling import boxcar, epanechnikov, gaussian, nadaraya_watson, triangular
from transformer_lib.positions import sinusoid_table
from transformer_lib.training import paper_peak, warmup_inverse_sqrt
from transformer_lib.translation import AttentionMap

SOURCE, TARGET = ["i", "'m", "home"], ["je", "suis", "chez", "moi"]


def maps():
    for kind, queries, keys in (("encoder", SOURCE, SOURCE), ("cross", TARGET, SOURCE)):
        for layer in range(2):
            for head in range(3):
                weights = torch.rand(len(queries), len(keys)).softmax(-1)
                yield AttentionMap(kind, layer, head, queries, keys, weights)


def test_the_explorer_holds_every_head_and_selects_by_named_parameters():
    every = list(maps())
    spec = attention_explorer(every).to_dict()
    assert {p["name"] for p in spec["params"]} == {"tokens", "kind", "layer", "head"}
    (rows,) = spec["datasets"].values()
    assert len(rows) == 12
    row = next(r for r in rows if (r["kind"], r["layer"], r["head"]) == ("cross", 1, 2))
    assert torch.tensor(row["w"]).unflatten(0, (4, 3)) == pytest.approx(every[-1].weights, abs=1e-4)
    tokens = next(p["value"] for p in spec["params"] if p["name"] == "tokens")
    assert tokens["cross"] == {"queries": TARGET, "keys": SOURCE}


def test_charts_travel_as_the_type_jupyterlab_draws_offline_with_a_picture_and_words():
    bundle, metadata = alt.renderers.get()(attention_explorer(list(maps())).to_dict())
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "image/png", "text/plain"}
    assert "v5" in bundle["application/vnd.vegalite.v5+json"]["$schema"]
    assert "12 heads to choose from" in bundle["text/plain"]
    assert metadata["image/png"]["alt"] == bundle["text/plain"]


def svg_of(chart, **params):
    """The picture after moving the sliders, as the browser computes it."""
    spec = chart.to_dict()
    for param in spec["params"]:
        if param["name"] in params:
            param["value"] = params.pop(param["name"])
    assert not params, f"no such slider: {params}"
    return html.unescape(vl_convert.vegalite_to_svg(spec))


def drawn(chart, **params):
    """What each mark says of itself (its ARIA label)."""
    labels = re.findall('aria-label="([^"]*)"', svg_of(chart, **params))
    marks = (re.findall(r"([^;:]+): ([^;]+)", label) for label in labels if "axis" not in label)
    return [{name.strip(): value for name, value in mark} for mark in marks if mark]


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("temperature", [0.25, 1.0, 4.0])
def test_the_temperature_slider_computes_the_softmax(temperature):
    scores = torch.tensor([1.5, -0.5, 0.75])
    marks = drawn(temperature_explorer(scores, SOURCE), temperature=temperature)
    shares = {m["key"]: number(m["share"]) for m in marks if "share" in m}
    assert [shares[k] for k in SOURCE] == pytest.approx(
        (scores / temperature).softmax(0).tolist(), abs=1e-6
    )


@pytest.mark.parametrize("kernel", [gaussian, boxcar, triangular, epanechnikov])
def test_the_width_slider_computes_the_pooling(kernel):
    keys, values = torch.tensor([0.0, 1.0, 2.5, 4.0]), torch.tensor([1.0, -1.0, 3.0, 0.5])
    queries = torch.linspace(0, 4, 9)
    chart = bandwidth_explorer(keys, values, queries, torch.zeros(9))
    marks = drawn(chart, width=1.25, kernel=kernel.__name__)
    weights = [number(m["weight (root scale)"]) for m in marks if "key" in m]
    pooled = nadaraya_watson(queries, keys, values, kernel, width=1.25)
    assert torch.tensor(weights).view(9, 4) @ values == pytest.approx(pooled, abs=1e-4)
    curve = [m for m in marks if "pooled" in m]
    assert number(curve[0]["pooled"]) == pytest.approx(pooled[0].item(), abs=1e-3)
    (error,) = [m for m in marks if "mean squared distance to the true curve" in str(m)]
    assert f"{pooled.square().mean():.3f}" in str(error)


def test_every_kernel_of_the_library_can_be_selected():
    known = {kernel.__name__ for kernel in (gaussian, boxcar, triangular, epanechnikov)}
    assert set(KERNEL_EXPRESSIONS) == known


@pytest.mark.parametrize("scaled", [False, True])
def test_the_width_of_scores_and_their_softmax_follow_the_switch(scaled):
    dots = {d: torch.randn(60) * math.sqrt(d) for d in (1, 4, 16)}
    rows = {d: torch.randn(5) * math.sqrt(d) for d in (1, 4, 16)}
    marks = drawn(scale_explorer(dots, rows), power=2, scaled=scaled)
    factor = 4 if scaled else 1
    shares = [number(m["share"]) for m in marks if "share" in m]
    assert shares == pytest.approx((rows[16] / factor).softmax(0).tolist(), abs=1e-3)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_histogram_counts_the_scores_that_the_switch_shows(scaled):
    dots = {d: torch.full((10,), 3.0 * d) for d in (1, 4, 16)}
    rows = {d: torch.zeros(5) for d in (1, 4, 16)}
    marks = drawn(scale_explorer(dots, rows), power=2, scaled=scaled)
    (bar,) = [m for m in marks if "pairs" in m]
    assert number(bar["pairs"]) == 10
    assert number(bar["score"].split(" ")[0]) == (12 if scaled else 48)


def test_the_explorer_draws_the_head_that_is_selected_queries_down():
    every = list(maps())
    marks = drawn(attention_explorer(every), kind="cross", layer=1, head=2)
    drawn_cells = {(m["query"], m["key"]): number(m["weight"]) for m in marks if "query" in m}
    wanted = next(m for m in every if (m.kind, m.layer, m.head) == ("cross", 1, 2))
    for i, query in enumerate(TARGET):
        for j, key in enumerate(SOURCE):
            assert drawn_cells[query, key] == pytest.approx(wanted.weights[i, j].item(), abs=1e-3)


def test_every_head_is_drawn_with_its_own_weights_and_one_selection_links_them():
    weights = torch.rand(2, 4, 3).softmax(-1)
    chart = heads_explorer(weights, TARGET, SOURCE)
    cells = {
        (m["query"], m["key"], int(m["head"])): number(m["weight"])
        for m in drawn(chart)
        if "query" in m
    }
    assert len(cells) == 24
    assert cells["chez", "home", 1] == pytest.approx(weights[1, 2, 2].item(), abs=1e-3)
    names = [p["name"] for p in chart.to_dict()["params"]]
    assert names.count("pointed") == 1, "one selection for all heads"


@pytest.mark.parametrize(("first", "power"), [(4, 4), (1, 2)])
def test_the_position_sliders_compute_the_table(first, power):
    assert "dimensions 4 to 7 of 8" in position_explorer(8, 12).to_dict()["description"]
    marks = drawn(position_explorer(8, 12), first=first, power=power)
    time, j = torch.arange(12), torch.arange(8)
    angle = time[:, None] / (10**power) ** (2 * (j // 2) / 8)
    table = torch.where(j % 2 == 0, angle.sin(), angle.cos())
    if power == 4:
        assert table == pytest.approx(sinusoid_table(12, 8), abs=1e-5)
    products = [m for m in marks if "dot product" in m]
    begins = [m for m in marks if "code" in m]
    assert number(products[0]["dot product"]) == pytest.approx(4)
    assert {m["name"]: number(m["code"]) for m in begins} == {
        f"dimension {n}, {'cosine' if n % 2 else 'sine'}": float(n % 2)
        for n in range(first, first + 4)
    }


@pytest.mark.parametrize(("causal", "padded"), [(True, False), (False, True), (True, True)])
def test_the_mask_switches_compute_the_masks(causal, padded):
    marks = drawn(mask_explorer(5), causal=causal, padded=padded, real=3)
    seen = torch.zeros(5, 5, dtype=torch.bool)
    cells = [m for m in marks if "query" in m]
    assert len(cells) == 25
    for cell in cells:
        seen[int(cell["query"]), int(cell["key"])] = cell["may"] == "may look"
    wanted = torch.ones(5, 5, dtype=torch.bool)
    wanted &= causal_mask(5) if causal else True
    wanted &= length_mask(torch.tensor(3), 5) if padded else True
    assert torch.equal(seen, wanted)


@pytest.mark.parametrize("warmup", [10, 40])
def test_the_warm_up_slider_computes_the_papers_schedule(warmup):
    chart = schedule_explorer([16, 64], 40)
    assert "line for 8 steps" in chart.to_dict()["description"]
    svg_marks = drawn(chart, warmup=warmup)
    first = {m["d_model"]: number(m["learning rate"]) for m in svg_marks if "d_model" in m}
    for d_model, rate in first.items():
        peak = paper_peak(int(d_model), warmup)
        assert rate == pytest.approx(warmup_inverse_sqrt(1, peak=peak, warmup=warmup), rel=0.06)
    assert len(first) == 2


def test_the_stage_slider_says_what_happens_there():
    stages = [("ids", (2, 5), "words as numbers"), ("embedding", (2, 5, 8), "numbers as vectors")]
    for n, (_, _, says) in enumerate(stages):
        texts = re.findall(">([^<]+)</text>", svg_of(stages_explorer(stages), stage=n))
        assert says in texts
        assert stages[1 - n][2] not in texts
        assert "(2, 5, 8)" in texts
    with pytest.raises(ValueError, match="no stages"):
        stages_explorer([])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="d_model=3, but four"):
        position_explorer(3, 10)
    with pytest.raises(ValueError, match="d_model=7 is odd"):
        position_explorer(7, 10)
    with pytest.raises(ValueError, match=r"\(2, 4, 3\) for 3 queries and 4 keys"):
        heads_explorer(torch.rand(2, 4, 3), SOURCE, TARGET)
    with pytest.raises(ValueError, match="3 scores, but 4 keys"):
        temperature_explorer(torch.zeros(3), TARGET)
    with pytest.raises(ValueError, match="powers of four"):
        scale_explorer({2: torch.zeros(3)}, {2: torch.zeros(3)})
