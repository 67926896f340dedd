import altair as alt
import matplotlib as mpl
import pytest
import torch

mpl.use("agg")

from transformer_lib import plotting
from transformer_lib.plotting import attention_explorer, plot_attention, plot_curves
from transformer_lib.translation import AttentionMap

SOURCE, TARGET = ["i", "'m", "home"], ["je", "suis", "chez", "moi"]


@pytest.fixture
def shown(monkeypatch):
    figures = []
    monkeypatch.setattr(
        plotting, "_show", lambda figure, description: figures.append((figure, description))
    )
    return figures


def maps():
    for kind, queries, keys in (("encoder", SOURCE, SOURCE), ("cross", TARGET, SOURCE)):
        for layer in range(2):
            for head in range(3):
                weights = torch.rand(len(queries), len(keys)).softmax(-1)
                yield AttentionMap(kind, layer, head, queries, keys, weights)


def test_a_heat_map_has_queries_down_keys_across_and_one_scale(shown):
    weights = torch.tensor([[1.0, 0, 0], [0, 0.6, 0.4], [0, 0, 1], [0.2, 0.3, 0.5]])
    plot_attention(weights, TARGET, SOURCE, "Who looks where")
    ((figure, description),) = shown
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == TARGET
    assert [label.get_text() for label in axes.get_xticklabels()] == SOURCE
    assert axes.images[0].get_clim() == (0, 1)
    assert axes.get_ylim() == (3.5, -0.5), "the first query is on top"
    assert "suis to 'm 0.60" in description


def test_tokens_that_do_not_fit_the_weights_are_refused():
    with pytest.raises(ValueError, match=r"\(4, 3\) for 3 queries and 4 keys"):
        plot_attention(torch.rand(4, 3), SOURCE, TARGET)


def test_curves_are_told_apart_by_more_than_colour(shown):
    plot_curves({"a": ([1, 2], [3, 4]), "b": ([1, 2], [4, 3])}, x="step", y="loss")
    first, second = shown[0][0].axes[0].lines
    assert first.get_marker() != second.get_marker()
    assert first.get_color() != second.get_color()
    assert shown[0][1].startswith("loss: loss against step.")


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
