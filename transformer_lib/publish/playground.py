"""One page in which a sentence runs through the shipped model: `make playground`.

The weights stand in the page, and so does the forward pass (static/playground/model.js), which gives the library's
logits: no kernel, no server, no network.
"""

import base64
import json
from dataclasses import replace
from pathlib import Path

import torch
from matplotlib.colors import to_hex

from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import (
    BOS_ID,
    DATA,
    EOS_ID,
    Corpus,
    SentencePair,
    Vocabulary,
    load_corpus,
)
from transformer_lib.publish import render
from transformer_lib.show.drawings import layers
from transformer_lib.show.drawings.render import to_json
from transformer_lib.show.drawings.scene import Box, Part, Scene, Vector
from transformer_lib.show.plotting import HEAT_MAP
from transformer_lib.transformer import Transformer

MODEL = DATA / "models" / "lessons"
SCRIPTS = tuple(f"playground/{name}.js" for name in ("words", "model", "decoding", "playground"))
STYLES = ("tokens.css", "site/site.css", "playground/playground.css")
SHADES = 41


def write_playground(directory: Path, *, home: str = "", image: str = "") -> Path:
    """Writes the page to `directory` and returns its file.

    It links back to the page `home`; `image` is the address of its picture for previews.
    """
    model, source, target, _ = load_model(MODEL)
    corpus = load_corpus("lessons")
    data = page_data(model, (source, target), corpus)
    page = render.render(
        "playground.html.j2",
        home=home,
        image=image,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        sentences=len(corpus.train),
        styles=[render.static(name) for name in STYLES],
        data=json.dumps(data, ensure_ascii=False).replace("</", "<\\/"),
        scripts=[render.static(name) for name in SCRIPTS],
    )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "playground.html").write_text(page, encoding="utf-8")
    return directory / "playground.html"


def page_data(
    model: Transformer, vocabularies: tuple[Vocabulary, Vocabulary], corpus: Corpus
) -> dict:
    """All that the page knows: the model, its words, its drawing, and the held-out sentences."""
    config = model.config
    if not config.norm_first or config.positions != "sinusoidal":
        raise ValueError(
            f"static/playground/model.js is pre-norm with sinusoidal positions, and {MODEL.name} has "
            f"norm_first={config.norm_first}, positions={config.positions!r}"
        )
    (weights,) = MODEL.rglob("model.safetensors")
    return {
        "config": {name: getattr(config, name) for name in ("d_model", "num_heads", "num_layers")},
        "weights": base64.b64encode(weights.read_bytes()).decode(),
        "vocabularies": [vocabulary.to_json() for vocabulary in vocabularies],
        "scene": json.loads(to_json(drawing(model))),
        "shades": [to_hex(HEAT_MAP(i / (SHADES - 1))) for i in range(SHADES)],
        "known": [
            [split, pair.source, pair.target, links(pair)]
            for split in ("valid", "test")
            for pair in getattr(corpus, split)
        ],
    }


def links(pair: SentencePair) -> str:
    """The gold links as the corpus writes them, 0-0 1-2; none for a sentence without them."""
    return " ".join(f"{i}-{j}" for i, j in sorted(pair.alignment or ()))


def drawing(model: Transformer) -> Scene:
    """Lesson 13's drawing; ids stand in a box, since each sentence has as many as it has."""
    model.eval()
    scene = layers.transformer(model, torch.tensor([[EOS_ID]]), torch.tensor([[BOS_ID]]))
    return replace(scene, parts=tuple(map(_boxed, scene.parts)))


def _boxed(part: Part) -> Part:
    if not isinstance(part, Vector):
        return part
    return Box(part.name, part.x, part.y + 4, 110, 44, "ids", "token", "(1, 1)")
