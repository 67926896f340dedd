"""Every drawing: legible, the same bytes each time, and true to the module that it draws."""

import base64
import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import torch
import vl_convert

from transformer_lib import drawings
from transformer_lib.attention import MultiHeadAttention, record_attention
from transformer_lib.drawings.heads import head_weights
from transformer_lib.drawings.marks import Path, Text, marks
from transformer_lib.drawings.scene import Arrow, Box, Frame, Label, Operation, Vector
from transformer_lib.transformer import make_model

TOKENS = ["i", "'m", "home", "."]
X = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1], [0, 0, 0, 1]])
SRC, TGT = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[1, 9, 10, 11, 12]])


def model(**options):
    torch.manual_seed(0)
    return make_model(31, 37, **{"d_model": 24, "num_heads": 2, "d_ff": 40, **options})


def whole(**options):
    return drawings.transformer(model(**options), SRC, TGT, TOKENS, ["<bos>", "je", "suis", "chez", "moi"])


def layer(side, *widths, **options):
    part = getattr(model(**options), side).layers[0]
    return getattr(drawings, f"{side}_layer")(part, *(torch.randn(1, n, 24) for n in widths))


def heads(d_model=12, num_heads=2):
    torch.manual_seed(0)
    return drawings.multi_head_attention(MultiHeadAttention(d_model, num_heads), torch.randn(1, 4, d_model))


SCENES = {
    "01": lambda: drawings.soft_lookup(X[2], X, X[:, :2], TOKENS, "home"),
    "02": lambda: drawings.pooling(2.0, torch.tensor([0.0, 1, 5]), torch.tensor([10.0, 20, 40])),
    "03": lambda: drawings.scoring(X[2], X, X, torch.tensor([True, True, True, False]), TOKENS),
    "04": lambda: drawings.scaled_attention(X, X, X[:, :3], TOKENS, TOKENS, 2),
    "09": heads,
    "09, four heads": lambda: heads(128, 4),
    "09, reshape": lambda: drawings.reshapes(TOKENS[:3], 2, 2),
    "09, W_O": lambda: drawings.sum_of_heads(X[:2, :2], X),
    "11, post": lambda: layer("encoder", 4, norm_first=False),
    "11, pre": lambda: layer("encoder", 4, norm_first=True),
    "12": lambda: layer("decoder", 5, 4),
    "13": whole,
    "13, post": lambda: whole(norm_first=False, num_layers=3),
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
        assert (left >= 0, top >= 0, right <= scene.width, bottom <= scene.height) == (True,) * 4, one
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
            crossed = [t for t in texts(scene) if not isinstance(parts[t.part], Box | Operation | Vector) and meet(lane, t.extent())]
            assert crossed == [], line.name
