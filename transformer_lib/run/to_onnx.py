"""A Transformer as ONNX: one graph from token ids to logits, for whatever runs such graphs.

The graph is what training sees, the whole target at once: a search by it reads all again at every
step.
"""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.optional import needed
from transformer_lib.base.tokens import PAD_ID
from transformer_lib.batching import Example, make_batch
from transformer_lib.checkpoints import AnyVocabulary
from transformer_lib.masks import padding_mask
from transformer_lib.transformer import Transformer

PROGRAM = '''\
"""Translates lines by onnxruntime, without torch:  python translate.py < lines.txt"""

import json
from pathlib import Path

import numpy as np
import onnxruntime

from transformer_lib.base.lines import opened, serve
from transformer_lib.base.tokens import BOS_ID, EOS_ID, PAD_ID
from transformer_lib.corpus import vocabulary_from_json

HERE = Path(__file__).parent
stored = json.loads((HERE / "vocabularies.json").read_text(encoding="utf-8"))
source, target = map(vocabulary_from_json, stored)
engine = opened(onnxruntime.InferenceSession, HERE / "model.onnx")


def translate(sentences):
    rows = [[*source.encode(sentence)[: $max_len - 1], EOS_ID] for sentence in sentences]
    src = np.full((len(rows), max(map(len, rows))), PAD_ID, dtype=np.int64)
    for ids, row in zip(src, rows, strict=True):
        ids[: len(row)] = row
    tgt_in = np.full((len(rows), 1), BOS_ID, dtype=np.int64)
    while tgt_in.shape[1] <= $longest and not (tgt_in == EOS_ID).any(axis=1).all():
        (logits,) = engine.run(["logits"], {"src": src, "tgt_in": tgt_in})
        logits[:, -1, [PAD_ID, BOS_ID]] = -np.inf
        tgt_in = np.column_stack((tgt_in, logits[:, -1].argmax(axis=-1)))
    said = [target.decode(ids) for ids in tgt_in]
    return [text if len(row) > 1 else "" for text, row in zip(said, rows, strict=True)]


if __name__ == "__main__":
    serve(translate, source)
'''


class FromIds(nn.Module):
    """The model with its mask: what is <pad> in the source is not looked at."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model

    def forward(
        self, src: Int[Tensor, "batch source"], tgt_in: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab"]:
        return self.model(src, tgt_in, padding_mask(src, PAD_ID))


def write(
    model: Transformer, vocabularies: tuple[AnyVocabulary, AnyVocabulary], folder: Path
) -> None:
    """Write `model.onnx` into `folder`: (src, tgt_in) -> logits, of any batch and any lengths.

    A sentence has at most the model's `max_len` tokens.
    """
    for package in ("onnx", "onnxscript", "onnxruntime"):  # torch's exporter has the first two
        _needed(package)
    batch = torch.export.Dim("batch", max=2**31 - 1)  # torch 2.6 wants a bound
    lengths = {"max": model.config.max_len}
    sides = {
        "src": torch.ones(2, 3, dtype=torch.long),
        "tgt_in": torch.ones(2, 4, dtype=torch.long),
    }
    with _quiet():
        torch.onnx.export(
            FromIds(model).eval(),
            tuple(sides.values()),
            folder / "model.onnx",
            input_names=list(sides),
            output_names=["logits"],
            dynamic_shapes={
                side: {0: batch, 1: torch.export.Dim(f"{side}_len", **lengths)} for side in sides
            },
            dynamo=True,
            external_data=False,
            verbose=False,
        )


@torch.no_grad()
def difference(model: Transformer, folder: Path, examples: Sequence[Example]) -> float:
    """The largest between a logit of the graph and ours, on the examples as one padded batch."""
    batch = make_batch(examples)
    session = _needed("onnxruntime").InferenceSession(folder / "model.onnx")
    given = {"src": batch.src.numpy(), "tgt_in": batch.tgt_in.numpy()}
    (theirs,) = session.run(["logits"], given)
    ours = model(batch.src, batch.tgt_in, batch.src_mask)
    return (torch.from_numpy(theirs) - ours).abs().max().item()


def _needed(package: str) -> ModuleType:
    return needed(package, "export --to onnx")


@contextmanager
def _quiet() -> Iterator[None]:
    """A block in which the exporter keeps to itself what it does not use."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
