"""Every drawing: legible, the same bytes each time, and true to the module that it draws."""

import base64
import html
import inspect
import json
import math
import os
import re
import subprocess
import sys
from itertools import permutations
from xml.etree import ElementTree

import pytest
import torch
import vl_convert
from matplotlib.colors import to_rgb

from transformer_lib.attention import MultiHeadAttention, record_attention
from transformer_lib.decoding import accept_or_redraw
from transformer_lib.exercises import exercises
from transformer_lib.exercises.builds import Transformer
from transformer_lib.exercises.builds.whole import MyDecoder, MyEncoder, MyTransformer
from transformer_lib.exercises.own.parts import PARTS, built_in
from transformer_lib.experts import Experts
from transformer_lib.gpt import GPT, Block, GroupedAttention, SwiGLU
from transformer_lib.layers import DecoderLayer, EncoderLayer, PositionwiseFeedForward
from transformer_lib.masks import causal_mask, window_mask
from transformer_lib.positions import RotaryHalves, RotaryPositions, SinusoidalPositions
from transformer_lib.publish.lessons import find_lessons
from transformer_lib.show import drawings
from transformer_lib.show.drawings.heads import head_weights
from transformer_lib.show.drawings.marks import Path, Text, marks, thousands
from transformer_lib.show.drawings.marks import number as written_as
from transformer_lib.show.drawings.routing import HEARD
from transformer_lib.show.drawings.scene import Arrow, Box, Label, Operation, Shape, Vector
from transformer_lib.transformer import TransformerConfig, make_model

TOKENS = ["i", "'m", "home", "."]
GUESTS = ["Ada", "Ben", "Cy", "Dot", "Eve", "Fay"]
X = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1], [0, 0, 0, 1]])
GATED = torch.tensor(  # old state, from the input, from the state, reset gate, update gate
    [[0.5, 0.8, 0.7, -0.6], [1, 0.5, 0.2, 2], [-0.4, 1, 3, 0.3], [1, 1, 0, 0.5], [1, 0, 0, 0.5]]
)
NETWORK = (  # W1, b1, W2
    torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]]),
    torch.tensor([-1.0, -3, 0.5]),
    torch.tensor([[0.0, 2, 0, 0], [2, 0, 0, 0], [0, 0, -1, 1]]),
)
HOME = [("i", 10), ("'m", 76), ("home", 115), (".", 4), ("<eos>", 2)]
WRITTEN = [("je", 10), ("suis", 29), ("maison", 86), (".", 4), ("<eos>", 2)]
SRC, TGT = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[1, 9, 10, 11, 12]])


def model(**options):
    torch.manual_seed(0)
    return make_model(31, 37, **{"d_model": 24, "num_heads": 2, "d_ff": 40, **options})


def whole(**options):
    return drawings.transformer(
        model(**options), SRC, TGT, TOKENS, ["<bos>", "je", "suis", "chez", "moi"]
    )


def layer(side, *widths, **options):
    part = getattr(model(**options), side).layers[0]
    return getattr(drawings, f"{side}_layer")(part, *(torch.randn(1, n, 24) for n in widths))


def heads(d_model=12, num_heads=2):
    torch.manual_seed(0)
    return drawings.multi_head_attention(
        MultiHeadAttention(d_model, num_heads), torch.randn(1, 4, d_model)
    )


BEAM = {
    ("je",): (0.6, "kept"),
    ("me",): (0.4, "kept"),
    ("je", "suis"): (0.55, "kept"),
    ("je", "vais"): (0.05, "dropped"),
    ("me", "<eos>"): (0.3, "finished"),
    ("je", "suis", "<eos>"): (0.5, "finished"),
}
SCENES = {
    "00": drawings.route,
    "00, a row": lambda: drawings.broadcasting(X, torch.tensor([100.0, 200, 300, 400])),
    "00, a column": lambda: drawings.broadcasting(X[:1], torch.tensor([[1.0], [2], [3]])),
    "01, desk": drawings.desk,
    "01": lambda: drawings.soft_lookup(X[2], X, X[:, :2], TOKENS, "home"),
    "01, labelled": lambda: drawings.soft_lookup(
        X[2, :3], X[:, :3], X[:, :2], TOKENS, "home", ["red", "read", "drink"], ["pages", "sips"]
    ),
    "02": lambda: drawings.pooling(2.0, torch.tensor([0.0, 1, 5]), torch.tensor([10.0, 20, 40])),
    "02, tokens": lambda: drawings.pooling(1.0, torch.arange(4.0), X[:, 0], TOKENS),
    "03": lambda: drawings.scoring(X[2], X, X, torch.tensor([True, True, True, False]), TOKENS),
    "03, masks": lambda: drawings.mask_grids(
        {
            "one row": torch.tensor([[[True, False]], [[True, True]]]),
            "two": torch.ones(2, 3, 2) > 0,
        },
        TOKENS[:3],
        TOKENS[:2],
    ),
    "03, additive": drawings.additive_path,
    "03, road": lambda: drawings.road_map(*[("a step", "what it gives")] * 7),
    "04": lambda: drawings.scaled_attention(X, X, X[:, :3], TOKENS, TOKENS, 2),
    "05": lambda: drawings.one_vector(TOKENS, ["je", "suis", "chez", "moi", "."]),
    "05, GRU": lambda: drawings.gru_cell(*GATED, ["kept", "updated", "fresh", "mixed"]),
    "06": lambda: drawings.bahdanau_step(TOKENS),
    "07": lambda: drawings.luong_step(TOKENS),
    "07, the query": drawings.query_before_or_after,
    "07, window": lambda: drawings.moving_window(
        [0, 1, 1.5, 9], 1, TOKENS, TOKENS, {(0, 0), (3, 1)}
    ),
    "07, wide window": lambda: drawings.moving_window([2], 5, TOKENS, ["maison"]),
    "06 beside 07": lambda: drawings.beside("Two steps", SCENES["06"](), SCENES["07"]()),
    "08": lambda: drawings.self_attention(X, X[:, :2], X[:, 1:3], X[:, 1:], TOKENS, 1),
    "08, three layers": drawings.three_layers,
    "08, narrow": lambda: drawings.three_layers(5, 3),
    "08, a circle": drawings.circle_of_three,
    "08, two layers": drawings.two_layers_ask,
    "09": heads,
    "09, four heads": lambda: heads(128, 4),
    "09, reshape": lambda: drawings.reshapes(TOKENS[:3], 2, 2),
    "09, five steps": lambda: drawings.five_steps(1, 4, 2, 2),
    "09, memory": lambda: drawings.in_memory(TOKENS, 2, 2),
    "09, guests": lambda: drawings.round_table(GUESTS, asks=[0]),
    "09, cut": lambda: drawings.beside(
        "Cut", drawings.round_table(GUESTS, 3), drawings.round_table(GUESTS, 6)
    ),
    "09, W_O": lambda: drawings.sum_of_heads(X[:2, :2], X),
    "10": lambda: drawings.clock_hands(16, 5),
    "10, sum": lambda: drawings.added_positions(X, TOKENS),
    "10, turned": lambda: drawings.turned_arrows((1, 0), (0, 1), [(0, 0), (2, 1), (5, 4), (1, 2)]),
    "10, layouts": lambda: drawings.two_layouts(8),
    "10, narrow layouts": lambda: drawings.two_layouts(4, follow=0),
    "10, loud words": lambda: drawings.word_beside_code(32, 32**0.5),
    "11, post": lambda: layer("encoder", 4, norm_first=False),
    "11, pre": lambda: layer("encoder", 4, norm_first=True),
    "11, both": lambda: drawings.beside("Both", SCENES["11, post"](), SCENES["11, pre"]()),
    "11, the stream": drawings.norms_on_the_stream,
    "11, patterns": lambda: drawings.looks_and_writes(X[1], *NETWORK, "'m"),
    "12": lambda: layer("decoder", 5, 4),
    "12, cross": lambda: drawings.cross_attention_step(TOKENS),
    "12, two lives": lambda: drawings.two_lives(["<bos>", "je", "suis"], ["je", "suis", "<eos>"]),
    "12, waiting": lambda: drawings.what_waits(["<bos>", "je", "suis"], ["je", "suis", "<eos>"]),
    "12, three layers wait": lambda: drawings.what_waits(["<bos>", "va"], ["va", "<eos>"], 3),
    "13": whole,
    "13, post": lambda: whole(norm_first=False, num_layers=3),
    "13, the classes": drawings.class_tree,
    "14": lambda: drawings.training_loop(SRC, TGT, 37),
    "14, faults": lambda: drawings.faults(model(num_layers=1), SRC, TGT),
    "15": lambda: drawings.sentence_to_score(HOME, WRITTEN, ["je", "suis", "chez", "moi", "."]),
    "15, too long": lambda: drawings.sentence_to_score(HOME, [*WRITTEN[:2], *WRITTEN], ["je"] * 3),
    "15, letters": lambda: drawings.shared_letters("fermera", "fermeras"),
    "15, letters apart": lambda: drawings.shared_letters("va", "pomme", longest=2),
    "16, the tree": lambda: drawings.search_tree({("je",): (0.6, "open"), ("me",): (0.4, "open")}),
    "16, a beam": lambda: drawings.search_tree(BEAM, "A beam of 2"),
    "16, the cache": lambda: drawings.growing_cache(
        ["<bos>", "je", "suis"], ["je", "suis", "<eos>"]
    ),
    "16, a round": lambda: drawings.round_of_guesses(
        "je", ["suis", "chez", "moi", "."], ["suis", "rentré", ".", ".", "<eos>"]
    ),
    "16, all right": lambda: drawings.round_of_guesses("je", ["suis", "là"], ["suis", "là", "."]),
    "16, accepted": lambda: drawings.accepted_and_redrawn(
        ["rouge", "vert", "bleu"], [0.5, 0.2, 0.3], [0.1, 0.8, 0.1]
    ),
    "16, accepted as they are": lambda: drawings.accepted_and_redrawn(
        ["va", "allez", "venez"], [0.5, 0.5, 0], [0.5, 0.2, 0.3]
    ),
    "17": lambda: drawings.shared_update([7, 8, 10, 11, 12]),
    "17, long rows": lambda: drawings.shared_update([5, 9, 18]),
    "17, fetched": lambda: drawings.what_is_fetched(2048, 32, 64),
    "18": drawings.families,
    "18, today": drawings.today_beside_2017,
    "18, shared keys": drawings.shared_keys,
    "18, shared keys, narrow": lambda: drawings.shared_keys(4, 4, 16),
    "18, router": drawings.router,
    "18, router, three of four": lambda: drawings.router(
        {"je": (0.5, 0.2, 0.2, 0.1), "suis": (0.1, 0.1, 0.2, 0.6)}, 3
    ),
    "18, gate": drawings.gate,
    "18, gate, four entries": lambda: drawings.gate(X[1, :3], X[1:], -X[1:], X[:, :3]),
    "18, bytes": lambda: drawings.bytes_kept([("Llama 2 7B", 524_288), ("ours", 1_024)]),
    "19": lambda: drawings.route(built_in()),
    "19, asked twice": lambda: drawings.asked_twice(["je", "suis", "chez", "moi"], "toi"),
    "19, two tokens": lambda: drawings.asked_twice(["va", "!"], "?"),
}
SCENE = pytest.mark.parametrize("make", SCENES.values(), ids=SCENES)


def texts(scene):
    return [mark for mark in marks(scene) if isinstance(mark, Text)]


def meet(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@SCENE
def test_no_two_texts_overlap_and_all_stand_in_the_picture(make):
    scene = make()
    found = texts(scene)
    for i, one in enumerate(found):
        left, top, right, bottom = one.extent()
        assert (left >= 0, top >= 0, right <= scene.width, bottom <= scene.height) == (True,) * 4, (
            one
        )
        assert [other for other in found[:i] if meet(one.extent(), other.extent())] == [], one


@SCENE
def test_every_text_fits_in_its_box_and_is_large_enough(make):
    scene = make()
    parts = {part.name: part for part in scene.parts}
    assert len(parts) == len(scene.parts), "a name belongs to one part"
    for text in texts(scene):
        part = parts[text.part]
        assert text.size >= 13
        if isinstance(part, Box | Vector | Operation):
            left, top, right, bottom = text.extent()
            assert part.on("left")[0] <= left, text
            assert right <= part.on("right")[0], text
            assert part.on("top")[1] <= top, text
            assert bottom <= part.on("bottom")[1], text


@SCENE
def test_arrows_end_on_borders_and_cross_no_words(make):
    scene = make()
    parts = {part.name: part for part in scene.parts}
    for line in [part for part in scene.parts if isinstance(part, Arrow)]:
        for (x, y), name in ((line.points[0], line.source), (line.points[-1], line.target)):
            part = parts[name]
            across, down = abs(x - part.x) - part.width / 2, abs(y - part.y) - part.height / 2
            assert max(across, down) == pytest.approx(0, abs=1e-6), (line.name, name)
        for (x, y), (to_x, to_y) in zip(line.points, line.points[1:], strict=False):
            lane = min(x, to_x) - 1, min(y, to_y) - 1, max(x, to_x) + 1, max(y, to_y) + 1
            crossed = [
                t
                for t in texts(scene)
                if not isinstance(parts[t.part], Box | Operation | Vector)
                and meet(lane, t.extent())
            ]
            assert crossed == [], line.name


@SCENE
def test_every_step_lights_something_and_has_its_sentence(make):
    scene = make()
    for step in scene.steps:
        assert step.caption.endswith(".")
        for lit in step.lit:
            alone = drawings.Step((lit,), step.caption)
            assert any(alone.lights(part.name) for part in scene.parts), (lit, step.caption)


@pytest.mark.parametrize(("name", "both"), [("06", "06 beside 07"), ("11, post", "11, both")])
def test_side_by_side_a_step_lights_what_it_lit_alone(name, both):
    """Lines too, whose names are those of both their ends."""
    alone, beside = SCENES[name](), SCENES[both]()
    for step, same in zip(alone.steps, beside.steps, strict=False):
        lit = [part.name for part in alone.parts if step.lights(part.name)]
        assert len(lit) == sum(same.lights(part.name) for part in beside.parts), step.caption


@SCENE
def test_the_svg_is_well_formed_described_and_asks_for_nothing(make):
    scene = make()
    written = drawings.svg(scene)
    root = ElementTree.fromstring(written)
    assert root.get("role") == "img"
    title, desc, ground = list(root)[:3]
    assert (title.text, desc.text) == (scene.title, scene.alt())
    assert ground.get("fill") == "#ffffff"
    assert {child.tag.split("}")[1] for child in root} == {"title", "desc", "path", "text"}
    assert not re.search(r"href|<script|<style|url\(|@import|\bon\w+=", written)
    assert "http" not in written.replace("http://www.w3.org/2000/svg", "")
    assert len(written) < 60_000


@SCENE
def test_the_output_of_a_cell_is_a_picture_with_its_words(make):
    scene = make()
    bundle = drawings.Drawing(scene)._repr_mimebundle_()
    assert set(bundle) == {"image/svg+xml", "text/html", "text/plain"}
    assert bundle["image/svg+xml"] == drawings.svg(scene)
    (data,) = re.findall('src="data:image/svg\\+xml;base64,([^"]+)"', bundle["text/html"])
    assert base64.b64decode(data).decode() == drawings.svg(scene)
    (words,) = re.findall('alt="([^"]*)"', bundle["text/html"])
    assert html.unescape(words) == bundle["text/plain"] == scene.alt()


@SCENE
def test_json_holds_the_scene_and_its_marks(make):
    scene = make()
    read = json.loads(drawings.to_json(scene))
    assert [part["name"] for part in read["parts"]] == [part.name for part in scene.parts]
    assert [step["caption"] for step in read["steps"]] == [step.caption for step in scene.steps]
    paths = [mark["path"] for mark in read["marks"] if mark["kind"] == "path"]
    assert paths == [mark.path for mark in marks(scene) if isinstance(mark, Path)]


def test_the_sheet_shows_every_scene():
    scenes = {name: make() for name, make in SCENES.items()}
    root = ElementTree.fromstring(drawings.sheet(scenes))
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == len(scenes)


def lit_by_vega(scene, step):
    """The texts that stand out at a step, as Vega draws them."""
    spec = drawings.stepped(scene).to_dict()
    next(param for param in spec["params"] if param["name"] == "step")["value"] = step
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))
    found = root.iter("{http://www.w3.org/2000/svg}text")
    return [text.text for text in found if float(text.get("opacity", 1)) == 1]


def test_the_chart_has_the_same_marks_and_each_step_lights_its_own():
    scene = SCENES["04"]()
    spec = json.loads(json.dumps(drawings.stepped(scene).to_dict()))
    rows = [row for data in spec["datasets"].values() for row in data]
    drawn = [mark for mark in marks(scene) if isinstance(mark, Path)]
    assert sorted(row["path"] for row in rows if "path" in row) == sorted(m.path for m in drawn)
    every = sorted(text.text for text in texts(scene))
    assert sorted(lit_by_vega(scene, 0)) == sorted([*every, scene.title])
    asked = scene.steps[1]
    wanted = [text.text for text in texts(scene) if asked.lights(text.part)]
    assert sorted(lit_by_vega(scene, 2)) == sorted([*wanted, f"2  {asked.caption}"])


@pytest.mark.parametrize("name", ["04", "06 beside 07"])
def test_the_frames_of_a_stepped_drawing_light_what_vega_lights(name):
    scene = SCENES[name]()
    spec = json.loads(json.dumps(drawings.stepped(scene).to_dict()))
    assert drawings.is_stepped(spec)
    found = drawings.frames(spec)
    assert [sentence for sentence, _ in found] == [
        scene.title,
        *(step.caption for step in scene.steps),
    ]
    for n in (0, 2):
        root = ElementTree.fromstring(found[n][1])
        lit = [t.text for t in root if t.tag.endswith("text") and t.get("opacity") is None]
        said = f"{n}  {found[n][0]}" if n else found[n][0]
        assert sorted([*lit, said]) == sorted(lit_by_vega(scene, n))


def test_a_scene_without_steps_says_so():
    with pytest.raises(ValueError, match="has no steps"):
        drawings.stepped(SCENES["09, reshape"]())


DRAWN = """
import hashlib, torch
from transformer_lib.show import drawings
from transformer_lib.transformer import make_model
torch.manual_seed(0)
scene = drawings.transformer(make_model(9, 9, d_model=12, num_heads=3), torch.tensor([[1, 2]]), torch.tensor([[1]]))
look = drawings.scaled_attention(*torch.rand(3, 4, 5), list("abcd"), list("abcd"))
told = [f(s) for s in (scene, look) for f in (drawings.svg, drawings.to_json)]
told += [drawings.stepped(s).to_json() for s in (scene, look)]
print([hashlib.sha256(t.encode()).hexdigest() for t in told])
"""


def test_the_bytes_are_the_same_in_every_process(capsys):
    """In this one and in one whose sets and dictionaries have another order."""
    exec(DRAWN, {})
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    command, environment = [sys.executable, "-c", DRAWN], {**os.environ, "PYTHONHASHSEED": other}
    there = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert capsys.readouterr().out == there.stdout != ""


def boxes(scene):
    return {part.name: part for part in scene.parts if isinstance(part, Box)}


def heard(part, *inputs):
    """Name and shape of what each part puts out, in the order of the calls."""
    calls = []
    for name, module in part.named_modules():
        module.register_forward_hook(
            lambda _, __, out, name=name: calls.append((name, tuple(out.shape)))
        )
    part(*inputs)
    return calls


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_transformer_is_drawn_as_it_runs(norm_first):
    one = model(norm_first=norm_first, num_layers=3)
    drawn = list(boxes(drawings.transformer(one, SRC, TGT)).values())
    calls = heard(one.eval(), SRC, TGT)
    kinds = ("self_attn", "cross_attn", "feed_forward", "embedding", "positions", "generator")
    ran = [(name, str(shape)) for name, shape in calls if name.split(".")[-1] in kinds]
    seen = [(box.name, box.shape.removesuffix(" causal")) for box in drawn if box.name in dict(ran)]
    assert seen == ran
    norms = [name for name, _ in calls if name.endswith("norm") and "layers" in name]
    assert [box.name for box in drawn if box.name in norms] == norms


def test_where_the_norm_stands_is_the_modules_say():
    for first in (True, False):
        scene = whole(norm_first=first)
        streams = {p.x for p in scene.parts if isinstance(p, Operation) and p.sign == "+"}
        norms = [p for p in scene.parts if isinstance(p, Box) and ".add_norm" in p.name]
        assert len(norms) == 2 * 2 + 3 * 2
        assert all((norm.x in streams) != first for norm in norms)
        assert ("encoder.norm" in boxes(scene)) == first


def test_of_the_three_streams_the_norms_stand_on_one_beside_one_and_on_none():
    scene = drawings.norms_on_the_stream()
    parts = {part.name: part for part in scene.parts}
    for way, on_stream in {"none": None, "post": True, "pre": False}.items():
        norms = [part for name, part in parts.items() if name.startswith(f"{way}.norm")]
        boxes_of_way = [part for part in norms if isinstance(part, Box)]
        assert len(boxes_of_way) == (0 if on_stream is None else 2)
        assert all((norm.y == parts[f"{way}.x"].y) == on_stream for norm in boxes_of_way)
        lines = [p for p in parts.values() if isinstance(p, Arrow) and p.name.startswith(f"{way}.")]
        stream = [line for line in lines if line.role == "stream"]
        assert {y for line in stream for _, y in line.points} == {parts[f"{way}.x"].y}
        met, here = [], f"{way}.x"  # what one meets along the stream
        while here != f"{way}.output":
            (here,) = (line.target for line in stream if line.source == here)
            met.append(parts[here])
        assert sum(isinstance(p, Box) for p in met) == (3 if on_stream else 1)


@pytest.mark.parametrize("token", range(4))
def test_what_a_network_writes_in_the_drawing_is_what_the_library_writes(token):
    W1, b1, W2 = NETWORK
    network = PositionwiseFeedForward(4, 3)
    with torch.no_grad():
        for parameter, numbers in zip(
            network.parameters(), (W1.T, b1, W2.T, torch.zeros(4)), strict=True
        ):
            parameter.copy_(numbers)
        written = network(X[token])
    scene = drawings.looks_and_writes(X[token], *NETWORK, TOKENS[token])
    cells = {p.name: p.cells for p in scene.parts if isinstance(p, Vector)}
    assert cells["written"] == tuple(map(written_as, written.tolist()))
    kept = [cells[f"kept.{j}"][0] for j in range(3)]
    assert kept == [written_as(h) for h in (X[token] @ W1 + b1).relu().tolist()]


def test_positions_inside_attention_are_not_drawn_as_added():
    drawn = boxes(whole(positions="rotary"))
    assert not any(name.endswith("positions") for name in drawn)
    assert {"encoder.positions", "decoder.positions"} <= set(boxes(whole(positions="learned")))


def test_a_step_of_cross_attention_lights_the_way_from_the_memory():
    scene = whole()
    (step,) = (s for s in scene.steps if "decoder.layers.1.cross_attn" in s.lit)
    ways = [p.name for p in scene.parts if p.name.startswith("memory>") and step.lights(p.name)]
    assert ways == ["memory>decoder.layers.1.cross_attn"]


def test_the_stream_is_one_straight_line():
    scene = whole()
    lines = [p for p in scene.parts if isinstance(p, Arrow) and p.role == "stream"]
    xs = {x for line in lines for x, _ in line.points}
    assert len(xs) == 2, "one for the encoder, one for the decoder"


def test_every_decoder_layer_reads_the_memory():
    scene = whole(num_layers=3)
    fed = [p.target for p in scene.parts if isinstance(p, Arrow) and p.source == "memory"]
    assert fed == [f"decoder.layers.{i}.cross_attn" for i in range(3)]


def test_row_t_of_training_is_step_t_of_prediction():
    reads, says = ["<bos>", "je", "suis"], ["je", "suis", "<eos>"]
    parts = {part.name: part for part in drawings.two_lives(reads, says).parts}
    for t, word in enumerate(says):
        seen = [parts[f"{life}.{t}.seen"].cells for life in ("training", "prediction")]
        assert seen == [tuple(reads[: t + 1])] * 2
        assert {parts[f"{life}.{t}.word"].label for life in ("training", "prediction")} == {word}
    fed = [p for p in parts.values() if isinstance(p, Arrow) and p.source.endswith(".word")]
    assert [(p.source, p.target) for p in fed] == [
        ("prediction.0.word", "prediction.1.seen"),
        ("prediction.1.word", "prediction.2.seen"),
    ]


def test_asked_twice_compares_what_must_stay():
    tokens = ["je", "suis", "chez", "moi"]
    scene = drawings.asked_twice(tokens, "toi")
    parts = {part.name: part for part in scene.parts}
    for call, last in (("first", "moi"), ("second", "toi")):
        assert (*parts[f"{call}.kept"].cells, *parts[f"{call}.last"].cells) == (*tokens[:3], last)
        assert parts[f"{call}.answer"].cells == ("o0", "o1", "o2")
        assert parts[f"{call}.answer"].width == parts[f"{call}.kept"].width
    ends = {p.source for p in scene.parts if isinstance(p, Arrow) and p.target == "equal"}
    assert ends == {"first.answer", "second.answer"}
    with pytest.raises(ValueError, match="1 tokens"):
        drawings.asked_twice(["va"], "!")


def heard_by(layer, others, tgt):
    """Which inputs of a layer each of its outputs hears, by the gradient."""
    x = torch.randn(1, 4, 24, requires_grad=True)
    out = layer(x, *others) if tgt is None else layer(x, *others, tgt)
    rows = [torch.autograd.grad(out[0, t].sum(), x, retain_graph=True)[0][0] for t in range(4)]
    return [[bool(column.abs().max() > 0) for column in row] for row in rows]


@pytest.mark.parametrize("name", ["encoder", "decoder", "gpt", "bert"])
def test_the_grids_of_the_families_are_what_layers_do(name):
    torch.manual_seed(0)
    kind = DecoderLayer if name == "decoder" else EncoderLayer
    layer, others = kind(24, 2, 40, norm_first=True).eval(), []
    if name == "decoder":
        others = [torch.randn(1, 3, 24)]
    does = heard_by(layer, others, causal_mask(4) if name == "gpt" else None)
    rows = {p.name: p for p in drawings.families().parts if isinstance(p, Vector)}
    drawn = [rows[f"{name}.self_attn.row{i}"].shares for i in range(4)]
    assert [[share == 1 for share in row] for row in drawn] == does


def test_only_the_decoder_of_the_families_asks_a_memory():
    parts = drawings.families().parts
    fed = [p.target for p in parts if isinstance(p, Arrow) and p.source == "encoder.memory"]
    asking = [p.name for p in parts if isinstance(p, Box) and p.label == "cross_attn"]
    assert fed == asking == ["decoder.cross_attn"]


def has_biases(module):
    return any(name.endswith("bias") for name, _ in module.named_parameters())


def test_the_layer_of_today_is_the_block_of_the_library_and_that_of_2017_its_encoder_layer():
    """Where the norms stand, who has biases, and how many heads of keys there are."""
    parts = {part.name: part for part in drawings.today_beside_2017().parts}
    block = Block(8, 4, 2, 6, RotaryPositions(2, 5))
    layers_of = {"2017": EncoderLayer(8, 4, 6, norm_first=False), "today": block}
    for side, one in layers_of.items():
        on_stream = parts[f"{side}.embedding"].x
        norms = [parts[f"{side}.norm.{i}"] for i in (0, 1)]
        assert all((norm.x == on_stream) == (side == "2017") for norm in norms)
        said = parts[f"{side}.network.has"].text
        assert said == ("with biases" if has_biases(one.feed_forward) else "no biases")
        matrices = (p for p in parts.values() if isinstance(p, Box) and p.label.startswith("W"))
        drawn = {p.label for p in matrices if p.name.startswith(f"{side}.network.")}
        kept = {f"W_{n.removesuffix('_proj')}" for n, _ in one.feed_forward.named_children()}
        assert drawn == (kept if side == "today" else {"W1, b1", "W2, b2"})
    assert not has_biases(block)
    widths = [p.weight.size(0) for p in (block.attention.q_proj, block.attention.k_proj)]
    cells = [len(parts[f"today.{role}"].cells) for role in ("query", "key", "value")]
    assert cells == [width // block.attention.d_head for width in (*widths, widths[1])]
    norm = GPT(9, 8, [block]).norm
    assert parts["today.norm.top"].label == type(norm).__name__ == type(block.norm1).__name__
    assert "2017.norm.top" not in parts


def test_every_change_has_its_number_in_both_layers_and_its_step():
    scene = drawings.today_beside_2017()
    assert len(scene.steps) == 4
    for number, step in enumerate(scene.steps, 1):
        rings = [p for p in scene.parts if p.name.startswith(f"change.{number}.ring.")]
        assert {p.name.split(".")[3] for p in rings} == {"2017", "today"}
        shown = [p for p in scene.parts if isinstance(p, Vector) and p.label == "change"]
        assert {p.cells[0] for p in shown if step.lights(p.name)} == {str(number)}


@pytest.mark.parametrize(("num_heads", "shared", "d_head"), [(8, 2, 64), (6, 3, 16), (4, 4, 8)])
def test_a_head_of_queries_is_joined_to_the_keys_that_the_library_lets_it_read(
    num_heads, shared, d_head
):
    """Head h reads key head h // (H/G); what is kept is the size of the cache after one token."""
    scene = drawings.shared_keys(num_heads, shared, d_head)
    parts = {part.name: part for part in scene.parts}
    for name, kept in {"multi-head": num_heads, "grouped": shared, "multi-query": 1}.items():
        attention = GroupedAttention(8, num_heads, kept, RotaryPositions(d_head, 3), d_head=d_head)
        _, past = attention.step(torch.zeros(1, 1, 8), None)
        size = sum(part.numel() for part in past)
        assert parts[f"{name}.kept"].text == f"2 · {kept} · {d_head} = {thousands(size)}"
        for h in range(num_heads):
            line = parts[f"{name}.line.{h}"]
            ends = re.findall(r"(-?[\d.]+),(-?[\d.]+)", line.path)
            to = line.x + float(ends[1][0]), line.y + float(ends[1][1])
            key = parts[f"{name}.key.{h // (num_heads // kept)}"]
            assert to == pytest.approx(key.on("top"), abs=0.02)
        assert f"{name}.key.{kept}" not in parts
        assert f"{name}.value.{kept - 1}" in parts
    with pytest.raises(ValueError, match="not divisible by num_kv_heads=5"):
        drawings.shared_keys(num_heads, 5)


def test_a_bar_is_as_long_as_the_bytes_that_are_kept():
    rows = [("a", 524_288), ("b", 131_072), ("c", 1_024), ("d", 0)]
    parts = {part.name: part for part in drawings.bytes_kept(rows).parts}
    longest = parts["row.0.bar"].width
    for i, (_, size) in enumerate(rows):
        assert parts[f"row.{i}.bar"].width == pytest.approx(longest * size / 524_288)
    assert parts["row.0.bytes"].text == "524\u202f288"
    for none in ([], [("d", 0)]):
        with pytest.raises(ValueError, match="no bytes to draw"):
            drawings.bytes_kept(none)


@pytest.mark.parametrize(("n", "d", "rows"), [(8, 2, 4), (2048, 32, 64), (64, 16, 64)])
def test_the_entries_that_are_fetched_are_those_of_the_loop(n, d, rows):
    """Counted where the formula and the loop over blocks take and leave their tensors."""
    q, k, v = torch.zeros(3, n, d)
    scores = q @ k.T
    by_formula = q.numel() + k.numel() + 4 * scores.numel() + v.numel() + (scores @ v).numel()
    in_blocks = sum(
        block.numel() + k.numel() + v.numel() + (block @ k.T @ v).numel() for block in q.split(rows)
    )
    parts = {part.name: part for part in drawings.what_is_fetched(n, d, rows).parts}
    assert f"= {thousands(by_formula)} entries" in parts["formula.title"].text
    assert f"= {thousands(in_blocks)} entries" in parts["blocks.title"].text
    with pytest.raises(ValueError, match="not a multiple of rows=3"):
        drawings.what_is_fetched(n, d, 3)


@pytest.mark.parametrize("top_k", [1, 2])
def test_the_router_that_is_drawn_routes_as_the_library_does(top_k):
    """Token by token the same experts with the same weights; logarithms are its scores."""
    experts = Experts(len(HEARD), 4, 8, top_k)
    with torch.no_grad():
        experts.router.weight.copy_(torch.tensor(list(HEARD.values())).log().T)
        weights, chosen = experts.route(torch.eye(len(HEARD)))
    scene = drawings.router(HEARD, top_k)
    parts = {part.name: part for part in scene.parts}
    for t in range(len(HEARD)):
        found = dict(zip(chosen[t].tolist(), weights[t].tolist(), strict=True))
        drawn = {n for n in parts if n.startswith(f"token{t}.weight.")}
        assert drawn == {f"token{t}.weight.{e}" for e in found}
        for e, weight in found.items():
            assert parts[f"token{t}.weight.{e}"].cells == (written_as(round(weight, 6)),)
            assert {f"token{t}.asks.{e}", f"token{t}.chosen.{e}"} <= parts.keys()
            assert scene.steps[t].lights(f"expert.{e}")


def test_a_router_says_what_does_not_fit():
    for rows, top_k in (({}, 1), ({"i": (0.5, 0.5)}, 3), ({"i": (1.0,), "'m": (0.5, 0.5)}, 1)):
        with pytest.raises(ValueError, match="one probability for each of"):
            drawings.router(rows, top_k)
    one = drawings.router({"i": (0.4, 0.6)}, 1).steps[0].caption
    assert one == "“i”: 0.60 is the largest, and its expert has the weight 1."


@pytest.mark.parametrize("given", [(), (X[1, :3], X[1:], -X[1:], X[:, :3])])
def test_what_the_gated_network_makes_of_a_token_is_what_the_library_makes_of_it(given):
    defaults = inspect.signature(drawings.gate).parameters.values()
    x, W_gate, W_up, W_down = given or [parameter.default for parameter in defaults]
    network = SwiGLU(*W_gate.shape)
    with torch.no_grad():
        for parameter, numbers in zip(network.parameters(), (W_gate, W_up, W_down), strict=True):
            parameter.copy_(numbers.T)
        written = network(x)
        gate = torch.nn.functional.silu(network.gate_proj(x))
        shown = {"gate.swish": gate, "product": gate * network.up_proj(x), "down": written}
    cells = {p.name: p.cells for p in drawings.gate(*given).parts if isinstance(p, Vector)}
    for name, numbers in shown.items():
        assert cells[name] == tuple(map(written_as, numbers.tolist())), name


@pytest.mark.parametrize("make", [drawings.two_lives, drawings.what_waits])
def test_two_lives_need_a_word_for_every_step(make):
    with pytest.raises(ValueError, match="2 tokens to read and 1 to say"):
        make(["<bos>", "va"], ["va"])


def needs(scene, life):
    """What each box of a life needs, by the arrows that enter it."""
    found = {}
    for part in scene.parts:
        start, _, stop = part.name.partition(">")
        if stop and not stop.endswith(".tip"):
            start, stop = start.removeprefix(life), stop.removeprefix(life)
            if part.name.startswith(life):
                found.setdefault(stop, set()).add(start)
    return found


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("life", ["0.", "1."])
def test_the_moment_of_a_box_is_the_longest_way_to_it(life, layers):
    scene = drawings.what_waits(["<bos>", "je", "suis"], ["je", "suis", "<eos>"], layers)
    needed = needs(scene, life)

    def moment(name):  # boxes of layers on the longest way, without itself
        before = needed.get(name, ())
        return max((moment(b) + ("layer" in b) for b in before), default=0)

    boxes = [p for p in scene.parts if isinstance(p, Box) and p.name.startswith(f"{life}layer")]
    assert len(boxes) == 3 * layers
    for box in boxes:
        assert box.shape == f"moment {moment(box.name.removeprefix(life))}"


@pytest.mark.parametrize("life", ["0.", "1."])
def test_what_a_layer_needs_is_what_a_decoder_layer_hears(life):
    torch.manual_seed(0)
    layer = DecoderLayer(24, 2, 40, norm_first=True).eval()
    does = heard_by(layer, [torch.randn(1, 3, 24)], None)
    tokens = ["a", "b", "c", "d"]
    needed = needs(drawings.what_waits(tokens, tokens), life)
    drawn = [[f"layer.0.{j}" in needed[f"layer.1.{t}"] for j in range(4)] for t in range(4)]
    assert drawn == does


def test_in_prediction_alone_a_token_needs_the_word_said_before():
    scene = drawings.what_waits(["<bos>", "je", "suis"], ["je", "suis", "<eos>"])
    of_tokens = [
        {name: who for name, who in needs(scene, life).items() if name.startswith("reads")}
        for life in ("0.", "1.")
    ]
    assert of_tokens == [{}, {"reads.1": {"says.0"}, "reads.2": {"says.1"}}]


def moves_others(module, name):
    """Whether another input at position 3 changes what the module puts out at position 0."""
    torch.manual_seed(0)
    ids = name.endswith("embedding")
    x = torch.tensor([[1, 2, 3, 4]]) if ids else torch.randn(1, 4, 24)
    other = x.clone()
    other[:, 3] = 5 if ids else -x[:, 3]
    before, after = (module(*[y] * (3 if name.endswith("_attn") else 1)) for y in (x, other))
    return not torch.equal(before[:, 0], after[:, 0])


@pytest.mark.parametrize("written", [MyEncoder, MyDecoder, MyTransformer])
def test_the_tree_of_the_classes_is_that_of_the_solution_and_so_are_its_calls(written):
    """What hangs below a class are its attributes, and a call has the arguments of its `forward`."""
    drawn = {box.name: box for box in drawings.class_tree().parts if isinstance(box, Box)}
    name = {MyTransformer: "whole"}.get(written, written.__name__.removeprefix("My").lower())
    made = written(TransformerConfig(5, 5, 4, 2, 3, 1))
    children = [box.label for box in drawn.values() if box.name.rpartition(".")[0] == name]
    if written is MyTransformer:
        children = ["encoder", "decoder", "generator"]
    assert children == [child for child, _ in made.named_children()]
    asked = list(inspect.signature(written.forward).parameters)[1:]
    assert drawn[name].shape == f"({', '.join(asked)})"


def test_the_masks_of_the_tree_end_where_the_solution_sends_them():
    drawn = {box.name: box.shape for box in drawings.class_tree().parts if isinstance(box, Box)}
    calls = {side: drawn[f"{side}.layers"] for side in ("encoder", "decoder")}
    source = Transformer.source().replace("(y, ", "(x, ")
    assert all(call.removeprefix("each ") in source for call in calls.values())
    order = list(inspect.signature(DecoderLayer.forward).parameters)[1:5]
    assert order == ["x", "memory", "tgt_mask", "memory_mask"]
    assert drawn["decoder.layers.self_attn"] == "gets causal and tgt_mask"
    assert drawn["decoder.layers.cross_attn"] == "gets src_mask"


def test_the_boxes_say_truly_which_of_them_mix_positions():
    one = model().eval()
    drawn = boxes(drawings.transformer(one, SRC, TGT))
    marked = {name: box.mixes for name, box in drawn.items() if box.mixes is not None}
    assert marked.pop("softmax") is False
    assert len(marked) == 2 * 2 + 2 * 2 + 2 * 3 + 1
    assert marked == {name: moves_others(one.get_submodule(name), name) for name in marked}


def test_a_drawing_leaves_the_model_and_the_dice_as_they_were():
    one = model().train()
    before = torch.get_rng_state()
    drawings.transformer(one, SRC, TGT)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(part.training and not part._forward_hooks for part in one.modules())


def test_the_heads_weights_are_those_that_the_module_makes():
    torch.manual_seed(1)
    module, x = MultiHeadAttention(12, 3), torch.randn(1, 5, 12)
    with record_attention(module) as maps:
        module(x, x, x)
    torch.testing.assert_close(head_weights(module, x), maps[""][0][0])
    scene = drawings.multi_head_attention(module, x)
    drawn = [part.shares for part in scene.parts if isinstance(part, Vector) and part.shares]
    torch.testing.assert_close(torch.tensor(drawn), maps[""][0][0].flatten(0, 1))
    assert {"head0", "head1", "head2"} == {n.split(".")[0] for n in boxes(scene) if n[:4] == "head"}


@pytest.mark.parametrize("rows", [1, 3])
def test_the_grids_of_a_mask_show_what_torch_repeats_in_grey(rows):
    mask = torch.tensor([[True, False], [False, True]])[:, None].expand(2, rows, 2)
    scene = drawings.mask_grids({"lengths": mask}, TOKENS[:3], TOKENS[:2])
    drawn = {p.name.removeprefix("0."): p for p in scene.parts if isinstance(p, Vector)}
    for b, sentence in enumerate(mask.expand(2, 3, 2).tolist()):
        for i, allowed in enumerate(sentence):
            cells = drawn[f"row.{b}.{i}"]
            assert cells.cells == tuple("T" if may else "F" for may in allowed)
            assert (cells.role == "token") == (i >= rows)


@pytest.mark.parametrize("right", [torch.tensor([1.0, 2, 3]), torch.tensor([[4.0], [5]])])
def test_what_is_drawn_pale_is_what_torch_repeats(right):
    left = torch.tensor([[10.0, 20, 30], [40, 50, 60]])
    scene = drawings.broadcasting(left, right)
    for name, table in {"left": left, "right": right, "sum": left + right}.items():
        rows = [[], []]
        for part in scene.parts:
            if isinstance(part, Vector) and part.name.startswith(f"{name}."):
                rows[int(part.name.split(".")[1])] += map(int, part.cells)
        assert rows == table.expand(2, 3).tolist()
        own = [p for p in scene.parts if p.name.startswith(f"{name}.") and "row" in p.told()]
        assert sum(len(part.cells) for part in own) == table.numel()


def test_shapes_that_do_not_fit_are_torchs_error():
    with pytest.raises(RuntimeError, match="must match"):
        drawings.broadcasting(torch.ones(2, 3), torch.ones(2))


def test_only_the_cup_on_the_desk_has_a_colour():
    coloured = {m.part.split(".")[0] for m in marks(drawings.desk()) if m.part and not grey(m)}
    assert coloured == {"cup"}


def grey(mark):
    """Whether every colour of the mark has as much red as green and blue."""
    used = [mark.color] if isinstance(mark, Text) else [mark.fill, mark.stroke]
    return all(c == "none" or len(set(to_rgb(c))) == 1 for c in used)


def test_the_step_of_a_gru_is_torchs():
    """A gate of 0 or 1 is a sigmoid far out; the old state's part of the proposal is a bias."""
    old, from_input, from_state, reset, update = GATED
    cell = torch.nn.GRUCell(1, 4)
    for weight in cell.parameters():
        torch.nn.init.zeros_(weight)
    cell.bias_ih.data = torch.cat([reset.logit(1e-6), update.logit(1e-6), from_input])
    cell.bias_hh.data = torch.cat([torch.zeros(8), from_state])
    wanted = cell(torch.zeros(1, 1), old[None])[0]
    cells = {p.name: p.cells for p in SCENES["05, GRU"]().parts if isinstance(p, Vector)}
    drawn = torch.tensor([float(c.replace("−", "-")) for c in cells["new"]])
    torch.testing.assert_close(drawn, wanted, atol=0.0051, rtol=0)
    assert cells["new"][0] == cells["old"][0]


def test_the_look_up_shows_what_torch_computes():
    scene = SCENES["04"]()
    cells = {p.name: p.cells for p in scene.parts if isinstance(p, Vector)}
    found = torch.nn.functional.scaled_dot_product_attention(X, X, X[:, :3])
    drawn = [[float(c.replace("−", "-")) for c in cells[f"output.{i}"]] for i in range(4)]
    torch.testing.assert_close(torch.tensor(drawn), found, atol=0.0051, rtol=0)


def test_arrows_that_are_turned_have_the_librarys_products():
    """Of one pair, whose angular frequency is 1: `RotaryPositions` of width 2."""
    turn = RotaryPositions(2, 6).turn
    told = {p.name: p.text for p in SCENES["10, turned"]().parts if isinstance(p, Label)}
    for panel, (at_query, at_key) in enumerate([(0, 0), (2, 1), (5, 4), (1, 2)]):
        query, key = (
            turn(torch.tensor([[1.0, 0]]), at_query),
            turn(torch.tensor([[0.0, 1]]), at_key),
        )
        drawn = float(told[f"dial.{panel}.product"].split()[1].replace("−", "-"))
        assert drawn == pytest.approx((query @ key.T).item(), abs=0.0051)
        assert told[f"dial.{panel}.where"] == f"query at {at_query}, key at {at_key}"


def test_the_two_layouts_are_those_of_the_library():
    """An entry belongs to pair i if a step on turns it by the angular frequency of pair i."""
    cells = {p.name: p.cells for p in SCENES["10, layouts"]().parts if isinstance(p, Vector)}
    for name, rotary in {"neighbours": RotaryPositions, "halves": RotaryHalves}.items():
        cosines = torch.tensor([rotary(8, 2).turn(row[None], 1)[0] @ row for row in torch.eye(8)])
        for entry, cosine in enumerate(cosines.tolist()):
            pair = int(cells[f"{name}.{entry}"][0].split()[1])
            assert cosine == pytest.approx(math.cos(10000 ** (-2 * pair / 8)), abs=1e-6)


def test_bars_of_a_word_and_its_code_are_as_long_as_they_are():
    bars = {p.name: p.width for p in SCENES["10, loud words"]().parts if isinstance(p, Shape)}
    code = SinusoidalPositions(32, 1)(torch.zeros(1, 1, 32)).norm().item()
    ratios = [bars[f"bar.{line}.word"] / bars[f"bar.{line}.code"] for line in range(3)]
    assert ratios == pytest.approx([32**0.5 / code, 32 / code, 32 / code])
    assert bars["bar.0.word"] == pytest.approx(bars["bar.2.word"])


def test_the_parts_of_the_heads_sum_to_the_output_projection():
    scene = drawings.sum_of_heads(X[:2, :2], X)
    cells = {p.name: [float(c) for c in p.cells] for p in scene.parts if isinstance(p, Vector)}
    assert cells["total"] == (X[:2, :2].flatten() @ X).tolist()
    assert [a + b for a, b in zip(cells["part.0"], cells["part.1"], strict=True)] == cells["total"]


def test_the_wrong_reshape_names_what_it_mixes_up():
    scene = drawings.reshapes(TOKENS[:3], 2, 2)
    said = [part.text for part in scene.parts if "from" in getattr(part, "text", "")]
    assert said == ["'m: from i", "home: from 'm", "i: from 'm", "'m: from home"]
    right = [p.cells for p in scene.parts if isinstance(p, Vector) and p.name[:7] == "0.after"]
    wanted = torch.arange(12).view(1, 3, 2, 2).transpose(1, 2).reshape(6, 2)
    assert [[int(c) for c in cells] for cells in right] == wanted.tolist()


@pytest.mark.parametrize("current", range(5))
def test_of_the_five_steps_the_current_one_is_filled_and_the_shapes_are_those_of_the_run(current):
    scene = drawings.five_steps(current, 4, 2, 2)
    boxes = [part for part in scene.parts if isinstance(part, Box)]
    assert [box.name for box in boxes if box.role != "token"] == [f"step.{current}"]
    said = [part.text for part in scene.parts if part.name.endswith(".shape")]
    module, shapes = MultiHeadAttention(4, 2), [tuple(X[None].shape)]
    projected = module.q_proj(X[None])
    split = projected.unflatten(-1, (2, -1)).transpose(1, 2)
    attended = torch.nn.functional.scaled_dot_product_attention(split, split, split)
    joined = attended.transpose(1, 2).flatten(2)
    for made in (projected, split, attended, joined, module.out_proj(joined)):
        shapes.append(tuple(made.shape))
    assert said == [str(shape) for shape in shapes]


@pytest.mark.parametrize("follow", [0, 3])
def test_the_join_takes_its_numbers_from_where_they_lie_in_memory(follow):
    scene = drawings.in_memory(TOKENS, 2, 3, follow)
    strips = {
        name: [
            int(cell)
            for part in sorted(scene.parts, key=lambda part: part.x)
            if isinstance(part, Vector) and part.name.startswith(name)
            for cell in part.cells
        ]
        for name in ("memory", "joined")
    }
    z = torch.arange(24).view(1, 2, 4, 3)
    assert strips["memory"] == z.flatten().tolist()
    assert strips["joined"] == z.transpose(1, 2).flatten().tolist()
    ways = [part for part in scene.parts if isinstance(part, Arrow)]
    assert [(way.source, way.target) for way in ways] == [
        (f"memory.{h}.{follow}", f"joined.{h}.{follow}") for h in range(2)
    ]


@pytest.mark.parametrize("pieces", [1, 2, 3, 6])
def test_a_cut_table_keeps_the_links_that_the_wrong_reshape_keeps(pieces):
    """The numbers of a guest reach those who get some of them into the same head."""
    scene = drawings.round_table(GUESTS, pieces)
    owners = torch.arange(6)[:, None].expand(6, 12).reshape(pieces, -1)  # of each number, by heads
    together = {(a, b) for head in owners.tolist() for a in head for b in head}
    linked = [f"link.{i}" for i in range(6) if (i, (i + 1) % 6) in together]
    assert [part.name for part in scene.parts if part.name.startswith("link")] == linked
    told = [part.text for part in scene.parts if part.name == "lost"]
    cut = 2 * (6 - len(linked))
    assert told == [f"{cut} of 12 gifts are out of reach"] * (pieces > 1)


def test_who_asks_at_the_table_has_a_neighbour_on_each_side():
    parts = {part.name: part for part in SCENES["09, guests"]().parts}
    roles = {part.label: part.role for part in parts.values() if isinstance(part, Box)}
    assert [name for name, role in roles.items() if role == "query"] == ["Ada"]
    assert [name for name, role in roles.items() if role == "value"] == ["Ben", "Fay"]
    assert parts["side.5"].text == "left"
    assert parts["guest.5"].x < parts["guest.0"].x < parts["guest.1"].x  # she looks up to the table


def test_the_alt_text_names_the_parts_in_the_order_of_the_data():
    told = whole().alt()
    names = [
        "encoder ids 5",
        "embedding (1, 4, 24)",
        "self_attn",
        "memory (1, 4, 24)",
        "decoder ids 1",
    ]
    names += [
        "cross_attn (1, 5, 24)",
        "generator (1, 5, 37)",
        "softmax (1, 5, 37)",
        "probabilities",
    ]
    places = [told.index(name) for name in names]
    assert places == sorted(places)


def test_bahdanau_and_cross_attention_have_one_layout():
    """What both have stands at one place; cross-attention has the projections besides."""
    plain, projected = SCENES["06"](), SCENES["12, cross"]()
    own = {
        p.name: (p.y, p.label if isinstance(p, Box) else "")
        for p in plain.parts
        if isinstance(p, Vector)
    }
    other = {p.name: p for p in projected.parts}
    assert own
    assert all(other[name].y == y for name, (y, _) in own.items())
    extra = {n for n in boxes(projected) if n.endswith("_proj")}
    assert extra == {"q_proj", "k_proj", "v_proj", "out_proj"}
    assert not any(n.endswith("_proj") for n in boxes(plain))


@pytest.mark.parametrize(
    ("lesson", "letters"), [("06", "hheαh"), ("07", "hheαh"), ("12, cross", "mksαv")]
)
def test_a_row_of_the_look_up_has_the_letter_of_its_lesson(lesson, letters):
    parts = {part.name: part for part in SCENES[lesson]().parts}
    rows = [parts[name].cells for name in ("memory", "keys", "scores", "weights", "values")]
    assert "".join(cells[0][0] for cells in rows) == letters


@pytest.mark.parametrize(("lesson", "asks_after"), [("06", False), ("07", True)])
def test_bahdanau_asks_before_the_cell_and_luong_after_it(lesson, asks_after):
    """The state climbs: what comes later stands higher, at a smaller y."""
    parts = {part.name: part for part in SCENES[lesson]().parts}
    assert (parts["asks"].y < parts["gru"].y) == asks_after
    assert ("asks>moved" in parts) == asks_after  # Luong's state goes on as it is


def test_the_query_alone_is_strong_and_leaves_the_state_that_the_library_asks_with():
    """Bahdanau's s(t−1) and Luong's s(t); beside it the same boxes stand, but for the last."""
    scene = SCENES["07, the query"]()
    strong = [part for part in scene.parts if isinstance(part, Arrow) and part.strong]
    found = boxes(scene)
    assert [(found[line.source].label, line.role) for line in strong] == [
        ("state s(t−1)", "query"),
        ("state s(t)", "query"),
    ]
    assert [found[line.target].label for line in strong] == ["attention"] * 2
    labels = [{b.label for n, b in found.items() if n.startswith(side)} for side in ("0.", "1.")]
    assert labels[0] ^ labels[1] == {"readout", "h̃(t)"}
    assert scene.width <= 1000
    drawn = [mark for mark in marks(scene) if isinstance(mark, Path) and mark.fill == "none"]
    assert {mark.part for mark in drawn if mark.width > 4} == {line.name for line in strong}


def test_the_window_that_is_drawn_is_the_mask_of_the_library():
    centers, D = torch.tensor([0.0, 1, 1.5, 9]), 1
    mask = window_mask(centers, D, 4)[:, 0]
    cells = {p.name: p for p in SCENES["07, window"]().parts if isinstance(p, Vector)}
    left = cells["step.0.window"].on("left")[0]
    for t, allowed in enumerate(mask.tolist()):
        shaded = [False] * 4
        if part := cells.get(f"step.{t}.window"):
            start = round((part.on("left")[0] - left) / drawings.scene.CELL[0])
            shaded[start : start + len(part.cells)] = [True] * len(part.cells)
        assert shaded == allowed
    assert [t for t in range(4) if f"step.{t}.center" in cells] == [
        0,
        1,
    ]  # whole, and in the source


def test_a_row_of_the_window_has_its_dot_and_says_its_positions():
    scene = SCENES["07, window"]()
    dots = {p.name for p in scene.parts if isinstance(p, Vector) and "●" in p.cells}
    assert dots == {"step.0.center", "step.1.behind"}
    assert [step.caption for step in scene.steps] == [
        "Step 0: the centre is 0, and the window holds the positions 0 to 1.",
        "Step 1: the centre is 1, and the window holds the positions 0 to 2.",
        "Step 2: the centre is 1.50, and the window holds the positions 1 to 2.",
        "Step 3: the centre is 9, and the window holds no position.",
    ]
    one = drawings.moving_window([4], 1, TOKENS, ["moi"]).steps[0].caption
    assert one == "Step 0: the centre is 4, and the window holds position 3."
    assert "dot" not in SCENES["07, wide window"]().alt()


def test_what_is_coloured_in_two_layers_depends_on_the_last_word():
    """Two random layers read two sentences that differ in their last word."""
    torch.manual_seed(0)
    words = torch.randn(4, 6)
    other = torch.cat([words[:3], torch.randn(1, 6)])
    layers = torch.randn(2, 3, 6, 6) / 3

    def found(x):
        parts = {f"word.{i}": x[i] for i in range(4)}
        for n, (W_q, W_k, W_v) in enumerate(layers, 1):
            scores = (x[2] @ W_q) @ (x[:2] @ W_k).T
            parts |= {f"key{n}.{i}": x[i] @ W_k for i in (0, 1)}
            parts |= {f"query{n}": x[2] @ W_q, f"scores{n}": scores, f"value{n}": x[3] @ W_v}
            x = x + (x @ W_q @ (x @ W_k).T).softmax(dim=-1) @ x @ W_v
            parts |= {f"out.{i}": x[i] for i in range(3) if n == 1}
        return parts

    one, two = found(words), found(other)
    drawn = [part for part in SCENES["08, two layers"]().parts if isinstance(part, Box)]
    assert len(drawn) == 16
    for part in drawn:
        assert (part.role == "attention") != torch.equal(one[part.name], two[part.name]), part.name


def test_the_three_demands_of_the_circle_cannot_hold_together():
    scene = SCENES["08, a circle"]()
    demands = [p.shape.removeprefix("right if ") for p in scene.parts if isinstance(p, Box)]
    scores = [dict(zip(("rs", "sp", "rp"), order, strict=True)) for order in permutations(range(3))]
    met = [sum(s[d[:2]] > s[d[-2:]] for d in demands) for s in scores]
    assert len(demands) == 3
    assert max(met) == 2


@pytest.mark.parametrize(("name", "layers"), [("08, three layers", 3), ("08, narrow", 4)])
def test_a_convolution_is_drawn_as_far_from_the_end_as_its_links_are(name, layers):
    parts = {part.name: part for part in SCENES[name]().parts}
    (said,) = re.findall(r"after (\d+) layers", parts["0.says"].text)
    reached, links = {0}, re.findall(r"M(\d+),95L(\d+),15", parts["0.links"].path)
    pitch = max(int(x) for _, x in links) // (max(int(n[4:]) for n in parts if "0.x." in n))
    for _ in range(layers):
        assert max(reached) < max(int(x) for _, x in links) // pitch
        reached |= {int(to) // pitch for start, to in links if int(start) // pitch in reached}
    assert max(reached) == max(int(x) for _, x in links) // pitch
    assert int(said) == layers


def test_every_fault_stands_beside_the_part_that_it_names():
    scene = SCENES["14, faults"]()
    parts = {part.name: part for part in scene.parts}
    for number, step in enumerate(scene.steps[:-1], 1):
        where, badge = parts[step.lit[0]], parts[f"fault.{number}"]
        assert badge.label == parts[f"name.{number}"].label == str(number)
        assert abs(badge.x - where.x) <= where.width / 2 + badge.width
        assert abs(badge.y - where.y) <= where.height / 2 + badge.height / 2
    assert parts["decoder.layers.0.self_attn"].shape.endswith("causal")
    assert [part.label for part in scene.parts if part.name.startswith("fault.")] == list("1234567")


def test_the_list_of_faults_stands_above_the_encoder_and_beside_the_decoder():
    parts = {part.name: part for part in SCENES["14, faults"]().parts}
    named = [parts[f"name.{number}"] for number in range(1, 9)]
    assert max(badge.y + badge.height / 2 for badge in named) < parts["memory"].on("top")[1]
    words = [parts[f"{badge.name}.words"].text for badge in named]
    assert words[:5] == ["positions", "residual", "√d_head", "causal mask", "shift of the target"]
    assert words[5:] == ["padding mask", "norm", "warm-up (in the rate)"]


def test_the_loop_says_the_shapes_of_its_batch():
    scene = SCENES["14"]()
    assert "(1, 4)" in scene.steps[0].caption
    assert "(1, 5)" in scene.steps[0].caption
    assert any(getattr(part, "text", "") == "(1, 5, 37)" for part in scene.parts)


def test_two_processes_get_every_row_of_the_batch_once_and_say_their_tokens():
    lengths = [7, 8, 10, 11, 12]
    scene = SCENES["17"]()
    rows = {part.name: len(part.cells) for part in scene.parts if isinstance(part, Vector)}
    dealt = {name.split(".", 1)[1]: n for name, n in rows.items() if name.startswith("dealt.")}
    assert [dealt[f"{i % 2}.{i}"] for i in range(5)] == lengths
    assert all(rows[f"batch.{i}"] == n for i, n in enumerate(lengths))
    assert "process 0: 29 tokens" in scene.alt()
    assert "process 1: 19 tokens" in scene.alt()
    assert "29/48 · a + 19/48 · b" in scene.alt()


def test_two_processes_need_two_rows():
    with pytest.raises(ValueError, match="1 rows: two processes need two"):
        drawings.shared_update([7])


def test_a_line_that_is_neither_across_nor_down_is_refused():
    one, other = drawings.scene.fork("a", 0, 0), drawings.scene.fork("b", 30, 40)
    with pytest.raises(ValueError, match="neither across nor down; add the corner"):
        drawings.scene.arrow(one, other, (0, 0), (30, 40))


def test_the_route_leads_through_the_lessons_that_there_are():
    drawn = [box.lesson for box in boxes(drawings.route()).values()]
    assert drawn == [path.stem[:2] for path in find_lessons()]


def test_the_route_that_is_known_names_what_was_built_on_it():
    drawn = {box.lesson: box for box in boxes(drawings.route(built_in())).values()}
    assert built_in().keys() <= drawn.keys()
    assert all(PARTS[name].lesson == int(number) for number, name in built_in().items())
    for number, name in built_in().items():
        assert name.startswith(drawn[number].shape.removesuffix(" …"))
        assert drawn[number].label == boxes(drawings.route())[f"lesson.{number}"].label
    assert drawn["09"].shape == "MultiHeadAttention"
    assert drawn["16"].shape == "beam_step"


def test_the_score_in_the_drawing_is_the_one_that_the_exercise_asks_for():
    parts = {part.name: part for part in SCENES["15"]().parts}
    right = exercises()["metrics.bleu"].right(
        ["je", "suis", "maison", "."], ["je", "suis", "chez", "moi", "."]
    )
    assert parts["score"].shape.endswith(f"= {right:.2f}")
    judged = [parts[name].label for name in ("share of words", "share of pairs", "penalty")]
    assert judged == ["3 of 4", "1 of 3", "0.78"]


def test_a_run_counts_as_often_as_the_reference_has_it():
    parts = {part.name: part for part in SCENES["15, too long"]().parts}
    assert parts["share of words"].label == "2 of 6"  # je suis je suis maison . for je je je
    assert [parts[f"words.{i}"].role for i in range(4)] == ["weight", "wrong", "weight", "wrong"]
    assert parts["penalty"].label == "1.00"  # too long is not punished


def test_the_tree_stands_with_children_right_of_their_parent_and_no_two_in_one_place():
    scene = drawings.search_tree(BEAM)
    boxes = {part.name: part for part in scene.parts if isinstance(part, Box)}
    assert len({(box.x, box.y) for box in boxes.values()}) == len(BEAM) + 1
    for line in [part for part in scene.parts if isinstance(part, Arrow)]:
        parent, child = (boxes[name].name for name in (line.source, line.target))
        assert boxes[parent].x < boxes[child].x
        depth, words = child.split(".")
        before = words.rpartition("_")[0]
        assert parent == f"d{int(depth[1:]) - 1}.{before}", "it grew from what was said before"


def test_the_tree_tells_step_by_step_who_is_kept_and_in_the_end_the_best():
    captions = [step.caption for step in drawings.search_tree(BEAM).steps]
    assert captions == [
        "Kept: “je”, “me”.",
        "Kept: “je suis”, “me <eos>”; dropped: “je vais”.",
        "Kept: “je suis <eos>”.",
        "Found: “je suis <eos>”, 0.50.",
    ]


def test_a_beams_tree_has_the_products_and_says_who_was_dropped():
    shares = {
        ("je",): 0.6,
        ("je", "suis"): 0.5,
        ("je", "suis", "<eos>"): 1.0,
        ("je", "vais"): 0.5,
        ("me",): 0.4,
        ("me", "<eos>"): 1.0,
    }
    beams = [
        {(): 1.0},
        {("je",): 0.6, ("me",): 0.4},
        {("me", "<eos>"): 0.4, ("je", "suis"): 0.3},
        {("me", "<eos>"): 0.4, ("je", "suis", "<eos>"): 0.3},
    ]
    scene = drawings.beam_tree(shares, beams)
    told = {box.name: box.told() for box in scene.parts if isinstance(box, Box)}
    assert told == {
        "d0.": "<bos>",
        "d1.je": "je 0.60",
        "d2.je_suis": "suis 0.30",
        "d3.je_suis_eos": "<eos> 0.30",
        "d2.je_vais": "vais × 0.30",
        "d1.me": "me 0.40",
        "d2.me_eos": "<eos> 0.40",
    }
    assert scene.steps[-1].caption == "Found: “me <eos>”, 0.40."


def test_a_tree_that_cannot_be_drawn_says_why():
    with pytest.raises(ValueError, match="no beginnings"):
        drawings.search_tree({})
    with pytest.raises(ValueError, match="'je suis' is there"):
        drawings.search_tree({("je", "suis"): (0.5, "kept")})
    with pytest.raises(ValueError, match="'lost', and none of open"):
        drawings.search_tree({("je",): (0.5, "lost")})


def test_each_step_of_the_cache_adds_one_key_and_one_value_and_keeps_the_others():
    scene = drawings.growing_cache(["<bos>", "je", "suis"], ["je", "suis", "<eos>"])
    rows = {part.name: part.cells for part in scene.parts if isinstance(part, Vector)}
    for t in range(3):
        for kind, letter in (("keys", "k"), ("values", "v")):
            kept = rows.get(f"step{t}.{kind}", ())
            assert kept == tuple(f"{letter}{i}" for i in range(t))
            assert rows[f"step{t}.new {kind}"] == (f"{letter}{t}",)
    with pytest.raises(ValueError, match="3 tokens to read and 1 to say"):
        drawings.growing_cache(["<bos>", "je", "suis"], ["je"])


@pytest.mark.parametrize(
    ("guesses", "says", "kept"),
    [
        (["suis", "chez", "moi"], ["suis", "rentré", ".", "."], "suis rentré"),
        (["vais", "chez"], ["suis", "chez", "moi"], "suis"),
        (["suis", "là"], ["suis", "là", "."], "suis là ."),
    ],
)
def test_a_round_keeps_what_is_guessed_right_and_one_word_of_the_model(guesses, says, kept):
    scene = drawings.round_of_guesses("je", guesses, says)
    assert scene.steps[-1].caption.endswith(f"Kept: “{kept}”.")
    told = [
        part.shape
        for part in scene.parts
        if part.name.startswith("says.") and part.name[-1:].isdigit()
    ]
    looked_at = [shape for shape in told if shape != "not looked at"]
    assert len(looked_at) == len(kept.split())
    assert looked_at[:-1] == [f"= guess {i}" for i in range(len(looked_at) - 1)]
    with pytest.raises(ValueError, match="guesses want"):
        drawings.round_of_guesses("je", guesses, says[1:])


@pytest.mark.parametrize("name", ["16, accepted", "16, accepted as they are"])
def test_what_is_accepted_and_redrawn_is_the_models_and_as_much_as_is_refused(name):
    p, q = {
        "16, accepted": ([0.5, 0.2, 0.3], [0.1, 0.8, 0.1]),
        "16, accepted as they are": ([0.5, 0.5, 0.0], [0.5, 0.2, 0.3]),
    }[name]
    bars = {part.name: part for part in SCENES[name]().parts if isinstance(part, Vector)}

    def size(i, kind):
        bar = bars.get(f"word{i}.{kind}")
        assert bar is None or bar.cells == (f"{bar.width / 620:.2f}",)
        return bar.width / 620 if bar else 0

    for i, of_model in enumerate(p):
        assert size(i, "accepted") + size(i, "redrawn") == pytest.approx(of_model)
        assert size(i, "accepted") + size(i, "refused") == pytest.approx(q[i])
        chance, redraw = accept_or_redraw(torch.tensor(p), torch.tensor(q), torch.tensor(i))
        assert size(i, "accepted") == pytest.approx(q[i] * chance.item())
        refused = sum(size(j, "refused") for j in range(len(p)))
        assert size(i, "redrawn") == pytest.approx(refused * redraw[i].item())
    with pytest.raises(ValueError, match="one for each"):
        drawings.accepted_and_redrawn(["va"], p, q)
