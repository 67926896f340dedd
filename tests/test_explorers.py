import html
import math
import re

import matplotlib as mpl
import pytest
import torch
import vl_convert

mpl.use("agg")

from transformer_lib.decoding import keep_top_k, keep_top_p
from transformer_lib.masks import causal_mask, length_mask, masked_softmax
from transformer_lib.pooling import boxcar, epanechnikov, gaussian, nadaraya_watson, triangular
from transformer_lib.positions import sinusoid_table
from transformer_lib.schedules import paper_peak, warmup_inverse_sqrt
from transformer_lib.show import plotting
from transformer_lib.show.explorers import (
    KERNEL_EXPRESSIONS,
    AttentionMap,
    attention_explorer,
    bandwidth_explorer,
    decoding_explorer,
    heads_explorer,
    mask_explorer,
    padding_explorer,
    position_explorer,
    sampling_explorer,
    scale_explorer,
    schedule_explorer,
    temperature_explorer,
    weights_explorer,
)

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


def test_a_chart_keeps_its_colours_on_a_dark_page():
    """Colours of a page's theme lose to those that a chart's own config sets."""
    chart = temperature_explorer(torch.zeros(4), TARGET)
    spec, bundle = chart.to_dict(), chart._repr_mimebundle_()[0]
    config = bundle["application/vnd.vegalite.v5+json"]["config"]
    assert config["background"] == "white"
    assert config["style"]["guide-label"]["fill"] == config["title"]["color"] == "#000"
    assert config["axis"]["labelFontSize"] == spec["config"]["axis"]["labelFontSize"]
    assert config["axis"]["domainColor"] == "#888"


def test_charts_travel_as_the_type_jupyterlab_draws_offline_with_a_picture_and_words():
    bundle, metadata = attention_explorer(list(maps()))._repr_mimebundle_()
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


@pytest.mark.parametrize("added", [0, 1000])
def test_the_sliders_of_the_scores_compute_the_softmax_and_what_is_added_to_all_cancels(added):
    chart = weights_explorer(torch.tensor([1.5, -0.5, 0.75]), SOURCE)
    marks = drawn(chart, score_1=4.0, added=added)
    weights = {m["key"]: number(m["weight"]) for m in marks if "weight" in m}
    wanted = torch.tensor([1.5, 4.0, 0.75]).softmax(0).tolist()
    assert [weights[k] for k in SOURCE] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("temperature", [0.25, 1.0, 4.0])
def test_the_temperature_slider_computes_the_softmax(temperature):
    scores = torch.tensor([1.5, -0.5, 0.75])
    marks = drawn(temperature_explorer(scores, SOURCE), temperature=temperature)
    weights = {m["key"]: number(m["after softmax"]) for m in marks if "after softmax" in m}
    assert [weights[k] for k in SOURCE] == pytest.approx(
        (scores / temperature).softmax(0).tolist(), abs=1e-6
    )


@pytest.mark.parametrize("real", [2, 3])
def test_the_slider_of_real_tokens_hides_the_others_in_each_way(real):
    scores, seen = torch.tensor([0.5, 1.5, -1.0]), torch.arange(3) < real
    chart = padding_explorer(scores, ["home", "pad", "pad"], real=3)
    wanted = {
        "score −∞": masked_softmax(scores[None], seen[None])[0],
        "score 0": (scores * seen).softmax(0),
        "weight 0 afterwards": scores.softmax(0) * seen,
    }
    for way, weights in wanted.items():
        marks = drawn(chart, real=real, way=way)
        found = {int(m["place"]): number(m["weight"]) for m in marks if "place" in m}
        assert [found[n] for n in range(3)] == pytest.approx(weights.tolist(), abs=1e-3)
        assert f"sum of the weights: {weights.sum():.2f}" in svg_of(chart, real=real, way=way)


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
@pytest.mark.parametrize("power", [0, 1, 2])
def test_the_row_of_shares_is_of_one_query_cut_to_the_width(power, scaled):
    query, keys = torch.randn(16), torch.randn(7, 16)
    marks = drawn(scale_explorer(query, keys), power=power, scaled=scaled)
    d = 4**power
    scores = torch.stack([query[:d].dot(key[:d]) for key in keys[:5]])
    wanted = (scores / (math.sqrt(d) if scaled else 1)).softmax(0)
    weights = {m["key"]: number(m["weight"]) for m in marks if "weight" in m}
    assert [weights[key] for key in "01234"] == pytest.approx(wanted.tolist(), abs=1e-3)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_histogram_counts_all_keys_of_the_query_with_the_scores_that_the_switch_shows(scaled):
    marks = drawn(scale_explorer(torch.full((16,), 3.0), torch.ones(10, 16)), scaled=scaled)
    (bar,) = [m for m in marks if "keys" in m]
    assert number(bar["keys"]) == 10
    assert number(bar["score"].split(" ")[0]) == (12 if scaled else 48)


def test_the_words_of_the_widths_say_how_the_largest_share_goes():
    query, keys = torch.ones(16), torch.randn(6, 16)
    told = scale_explorer(query, keys).to_dict()["description"]
    largest = [keys[:5, :d].sum(1).softmax(0).max() for d in (1, 4, 16)]
    assert ", ".join(f"{share:.2f}" for share in largest) + "; divided" in told


def test_the_explorer_draws_the_head_that_is_selected_queries_down():
    every = list(maps())
    marks = drawn(attention_explorer(every), kind="cross", layer=1, head=2)
    drawn_cells = {(m["query"], m["key"]): number(m["weight"]) for m in marks if "query" in m}
    wanted = next(m for m in every if (m.kind, m.layer, m.head) == ("cross", 1, 2))
    for i, query in enumerate(TARGET):
        for j, key in enumerate(SOURCE):
            assert drawn_cells[query, key] == pytest.approx(wanted.weights[i, j].item(), abs=1e-3)


@pytest.mark.parametrize("step", [0, 2, 3])
def test_the_step_slider_lights_its_row_and_says_the_words_so_far(step):
    twice = ["je", "suis", "je", "là"]  # a word may stand in two rows
    weights = torch.cat([torch.rand(4, 2).softmax(-1), torch.full((4, 1), 0.001)], dim=1)
    found = AttentionMap("cross", 0, 0, twice, SOURCE, weights)
    svg = svg_of(decoding_explorer(found), step=step)
    cells = re.findall(r'aria-label="([^"]*weight: [^"]*)"[^>]*opacity="([\d.]+)"', svg)
    assert [opacity == "1" for _, opacity in cells] == [False] * 3 * step + [True] * 3
    drawn_weights = [number(re.search("weight: ([^;]+)", told)[1]) for told, _ in cells]
    wanted = found.weights[: step + 1].flatten().tolist()
    assert drawn_weights == pytest.approx(wanted, abs=1e-3)
    texts = re.findall(">([^<]+)</text>", svg)
    assert [f"{weight:.2f}" for weight in found.weights[step, :2].tolist()] == [
        text for text in texts if re.fullmatch(r"0\.\d\d", text)
    ]
    assert " ".join(["said so far:", *twice[:step]]) + f"  →  {twice[step]}" in texts
    assert sum(text in twice for text in texts) == step + 1


def test_what_a_step_reads_stands_before_what_it_says():
    found = AttentionMap("cross", 0, 0, ["je", "suis"], SOURCE, torch.rand(2, 3).softmax(-1))
    texts = re.findall(
        ">([^<]+)</text>", svg_of(decoding_explorer(found, reads=["va", "je"]), step=1)
    )
    assert {"je → suis", "va → je", "said so far: je  →  suis"} <= set(texts)


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


def test_a_weight_has_the_colour_that_matplotlib_gives_it_in_a_figure(monkeypatch):
    weights, figures = torch.tensor([[0.0, 0.5, 1.0]]), []
    monkeypatch.setattr(plotting, "show_figure", lambda figure, _: figures.append(figure))
    plotting.plot_attention(weights, ["je"], SOURCE)
    (row,) = figures[0].axes[0].images[0].to_rgba(weights.numpy(), bytes=True)[..., :3].tolist()
    svg = svg_of(heads_explorer(weights[None], ["je"], SOURCE))
    cells = re.findall(r'weight: [^"]*key: ([^;]+);[^>]* fill="rgb\(([^)]*)\)"', svg)
    drawn = {key: [int(part) for part in color.split(",")] for key, color in cells}
    for key, color in zip(SOURCE, row, strict=True):
        assert drawn[key] == pytest.approx(color, abs=1), "but for rounding"


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
        seen[int(cell["query"]), int(cell["key"])] = cell["may"] == "may attend"
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


SPREAD, SAID = torch.tensor([0.3, 0.05, 0.4, 0.1, 0.15]), ["bonjour", "allô", "salut", "soir", "ah"]


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [
        (1.0, 5, 1.0),
        (0.5, 5, 1.0),
        (2.0, 5, 1.0),
        (1.0, 2, 1.0),
        (1.0, 5, 0.7),
        (1.0, 5, 0.75),
        (2.0, 4, 0.6),
        (0.5, 3, 0.9),
        (1.0, 1, 0.05),
    ],
)
def test_the_sampling_sliders_compute_what_sample_draws_from(temperature, top_k, top_p):
    chart = sampling_explorer(SPREAD, SAID)
    marks = drawn(chart, temperature=temperature, top_k=top_k, top_p=top_p)
    logits = keep_top_k(SPREAD.log().double() / temperature, top_k)
    expected = keep_top_p(logits, top_p - 1e-6).softmax(-1)  # 0.4 + 0.3 reaches 0.7
    shown = {m["token"]: number(m["probability"]) for m in marks if "probability" in m}
    assert [shown[token] for token in SAID] == pytest.approx(expected.tolist(), abs=1e-6)
    before = {m["token"]: number(m["given"]) for m in marks if "given" in m}
    assert [before[token] for token in SAID] == pytest.approx(SPREAD.tolist())


@pytest.mark.parametrize(("top_p", "left"), [(0.05, 1), (0.5, 2), (0.75, 3), (1.0, 4)])
def test_the_sampling_sliders_keep_as_few_of_equally_probable_tokens_as_reach_p(top_p, left):
    marks = drawn(sampling_explorer(torch.full((4,), 0.25), SAID[:4]), top_p=top_p)
    shown = {m["token"]: number(m["probability"]) for m in marks if "probability" in m}
    assert sorted(shown.values()) == pytest.approx([0.0] * (4 - left) + [1 / left] * left)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="5 probabilities, but 2 tokens"):
        sampling_explorer(SPREAD, SAID[:2])
    with pytest.raises(ValueError, match="above 0"):
        sampling_explorer(torch.tensor([1.0, 0.0]), SAID[:2])
    with pytest.raises(ValueError, match="d_model=3, but four"):
        position_explorer(3, 10)
    with pytest.raises(ValueError, match="d_model=7 is odd"):
        position_explorer(7, 10)
    with pytest.raises(ValueError, match=r"\(2, 4, 3\) for 3 queries and 4 keys"):
        heads_explorer(torch.rand(2, 4, 3), SOURCE, TARGET)
    with pytest.raises(ValueError, match="3 scores, but 4 keys"):
        temperature_explorer(torch.zeros(3), TARGET)
    for width in (0, 8):
        with pytest.raises(ValueError, match=f"width {width}, which is no power of four"):
            scale_explorer(torch.zeros(width), torch.zeros(5, width))
    with pytest.raises(ValueError, match="3 scores, but 4 keys"):
        weights_explorer(torch.zeros(3), TARGET)
    with pytest.raises(ValueError, match="real=4, but of 3 keys 1 to 3 can be real"):
        padding_explorer(torch.zeros(3), SOURCE, real=4)
