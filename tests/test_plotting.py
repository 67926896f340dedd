import base64
import re
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
import torch

mpl.use("agg")

from transformer_lib.show import pictures, plotting
from transformer_lib.show.plotting import (
    compare_attention,
    compare_signed,
    plot_attention,
    plot_curves,
    plot_descents,
    plot_grids,
    plot_lookup,
)

SOURCE, TARGET = ["i", "'m", "home"], ["je", "suis", "chez", "moi"]


@pytest.fixture
def shown(monkeypatch):
    figures = []
    monkeypatch.setattr(
        plotting, "show_figure", lambda figure, description: figures.append((figure, description))
    )
    return figures


def test_a_figure_is_shown_as_vectors_with_its_words_untouched(monkeypatch):
    displayed = []
    monkeypatch.setattr(pictures, "get_ipython", lambda: True)
    monkeypatch.setattr(pictures, "display", lambda data, raw: displayed.append(data))
    for _ in range(2):
        plot_attention(torch.eye(3), SOURCE, SOURCE, "loss 0.12345 <")
    first, again = displayed
    assert first == again, "nothing of the moment is stored"
    assert first["text/plain"].startswith("loss 0.12345 <")
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', first["text/html"])
    root = ElementTree.fromstring(base64.b64decode(data))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"loss 0.12345 <", "home", "1"} <= set(texts)
    image, _ = root.iter("{http://www.w3.org/2000/svg}image")
    assert (image.get("width"), image.get("height")) == ("3", "3"), "a pixel a cell"


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


def test_few_places_on_a_logarithmic_axis_are_named_in_plain_numbers(shown):
    plot_curves({"a": ([1, 2, 16], [3, 4, 5])}, x="beam size", y="BLEU", log_x=True)
    ((figure, _),) = shown
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "2", "16"]
    assert not len(axis.get_xticks(minor=True))


def test_curves_are_told_apart_by_more_than_colour(shown):
    plot_curves({"a": ([1, 2], [3, 4]), "b": ([1, 2], [4, 3])}, x="step", y="loss")
    first, second = shown[0][0].axes[0].lines
    assert first.get_marker() != second.get_marker()
    assert first.get_color() != second.get_color()
    assert (
        shown[0][1]
        == "loss: loss against step. a: from 3 at 1 to 4 at 2; b: from 4 at 1 to 3 at 2."
    )


def test_dense_curves_are_told_apart_by_stroke(shown):
    xs = list(range(50))
    plot_curves({"a": (xs, xs), "b": (xs, xs)}, x="step", y="loss")
    first, second = shown[0][0].axes[0].lines
    assert first.get_linestyle() != second.get_linestyle()


def test_the_numbers_stand_in_their_cells(shown):
    weights = torch.tensor([[0.75, 0.25], [0.1, 0.9], [0.5, 0.5]])
    plot_attention(weights, ["a", "b", "c"], ["x", "y"])
    written = {t.get_position(): t.get_text() for t in shown[0][0].axes[0].texts}
    assert written[(1, 0)] == "0.25"
    assert written[(0, 1)] == "0.10"
    assert "c to x and y 0.50" in shown[0][1]


def test_a_lookup_is_drawn_with_the_widest_line_at_the_largest_share(shown):
    plot_lookup("q", ["a", "b"], torch.tensor([0.2, 0.8]), ["1", "2"], "1.8")
    lines = [line for line in shown[0][0].axes[0].lines if line.get_linestyle() == "-"]
    widths = {line.get_ydata()[-1]: line.get_linewidth() for line in lines[:1] + lines[2:3]}
    assert widths[0] > widths[1], "b is the lower of the two"
    assert "to a 0.20, b 0.80. Output: 1.8." in shown[0][1]
    with pytest.raises(ValueError, match="2 keys, 1 values and 2 weights"):
        plot_lookup("q", ["a", "b"], torch.tensor([0.2, 0.8]), ["1"], "1.8")


def test_a_spread_is_drawn_as_bars(shown):
    plot_curves({"a": ([1, 2], [3, 4])}, x="x", y="y", spread={"a": [0.5, 0.25]})
    (bars,) = shown[0][0].axes[0].collections
    assert [s[:, 1].tolist() for s in bars.get_segments()] == [[2.5, 3.5], [3.75, 4.25]]


def test_maps_side_by_side_share_one_scale_and_many_keys_a_root_scale(shown):
    names = [str(i) for i in range(25)]
    narrow, wide = torch.eye(25), torch.full((25, 25), 0.04)
    compare_attention({"narrow": narrow, "wide": wide}, names, names)
    figure, description = shown[0]
    left, right = (axes.images[0] for axes in figure.axes[:2])
    assert left.norm is right.norm
    assert left.get_clim() == (0, 1)
    assert left.norm(0.04) == pytest.approx(0.2)
    assert "narrow. Strongest key of some queries: 0 to 0 1.00" in description


def test_small_weights_may_end_the_scale_earlier_and_it_says_so(shown):
    names = [str(i) for i in range(25)]
    plot_attention(torch.full((25, 25), 0.04), names, names, top=0.05)
    axes, bar = shown[0][0].axes
    assert axes.images[0].norm(0.05) == 1
    assert axes.images[0].norm(0.04) == pytest.approx(0.8**0.5)
    assert bar.get_ylabel() == "weight (root scale), darkest at 0.05"
    with pytest.raises(ValueError, match=r"top=0.05 is below the largest weight, 1.00"):
        plot_attention(torch.eye(25), names, names, top=0.05)


def test_numbers_of_either_sign_are_white_at_nought_under_one_scale(shown):
    one, other = torch.tensor([[0.5, -2.0, 0.0]]), torch.tensor([[1.0, 1.0, 0.25]])
    compare_signed({"one": one, "other": other}, ["a"], SOURCE, axes=("letter", "word"))
    ((figure, description),) = shown
    frames = [ax for ax in figure.axes if ax.images]
    limits = {ax.images[0].get_clim() for ax in frames if ax.get_title()}
    assert limits == {(-2.0, 2.0)}
    assert "one: letter a to a by word i to home, from -2.00 to 0.50." in description
    red, green, blue, _ = frames[0].images[0].to_rgba(one.numpy())[0, 2]
    assert min(red, green, blue) > 0.95, "nought is white"


def test_whole_numbers_are_written_whole_and_no_minus_stands_before_nought(shown):
    compare_signed({"one": torch.tensor([[1.0, 0.0, -1.0]])}, ["a"], SOURCE, axes=("a", "b"))
    compare_signed({"one": torch.tensor([[0.5, -0.001, -1.0]])}, ["a"], SOURCE, axes=("a", "b"))
    written = [[text.get_text() for text in figure.axes[0].texts] for figure, _ in shown]
    assert written == [["1", "0", "-1"], ["0.50", "0.00", "-1.00"]]


def test_numbers_of_one_sign_begin_at_nought(shown):
    compare_signed({"one": torch.tensor([[0.5, 2.0, 0.0]])}, ["a"], SOURCE, axes=("a", "b"))
    assert shown[0][0].axes[0].images[0].get_clim() == (0.0, 2.0)


def test_an_entry_keeps_its_number_and_colour_through_a_reshape(shown):
    x = torch.arange(12).view(1, 3, 4)
    split = x[0].view(3, 2, 2).transpose(0, 1)
    plot_grids({"before": x, "split": split}, owner=lambda number: number % 4 // 2)
    ((figure, description),) = shown
    axes = figure.axes[0]
    assert len(axes.patches) == 24
    written = {}
    cells = [text for text in axes.texts if text.get_text().isdigit()]
    for text, patch in zip(cells, axes.patches, strict=True):
        written.setdefault(int(text.get_text()), set()).add(patch.get_facecolor())
    assert sorted(written) == list(range(12))
    assert all(len(colors) == 1 for colors in written.values())
    assert written[0] == written[5] != written[2]
    assert "split: 2 slices of 3 rows and 2 columns, the first [[0, 1], [4, 5], [8, 9]]." in (
        description
    )


def test_a_descent_stands_on_the_curve_of_its_loss_and_numbers_stay_apart(shown):
    """Steps of 1.1 times the slope of w²: 1, −1.2, 1.44; small ones: 1, 0.998, 0.996, 0.994."""
    curve = [-2.0, 0.0, 2.0], [4.0, 0.0, 4.0]
    far = [(1.0, 1.0), (-1.2, 1.44), (1.44, 2.0736)]
    near = [(w, w * w) for w in (1.0, 0.998, 0.996, 0.994)]
    plot_descents(curve, {"far": far, "near": near}, x="w", y="loss", title="Two rates")
    figure, told = shown[0]
    for frame, stood in zip(figure.axes, (far, near), strict=True):
        valley, steps = frame.lines
        assert valley.get_xydata().tolist() == list(map(list, zip(*curve, strict=True)))
        assert steps.get_xydata().tolist() == list(map(list, stood))
    assert [[t.get_text() for t in frame.texts] for frame in figure.axes] == [
        ["0", "1", "2"],
        ["0"],
    ]
    assert "far: w goes 1.00, -1.20, 1.44." in told
    assert "near: w goes 1.00, 1.00, 1.00, 0.99." in told


def test_points_without_a_curve_are_told_without_one(shown):
    plot_curves({}, points={"points": ([0, 1], [2, 3])}, x="x", y="y", title="Two")
    assert shown[0][1] == "Two: y against x. points: 2 points between 2 and 3."
