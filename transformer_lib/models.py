"""The one table of models: from a name to its class, its configuration and its sizes."""

import dataclasses
from typing import NamedTuple

from torch import nn

from transformer_lib.recurrent import BahdanauSeq2Seq, LuongSeq2Seq, PlainSeq2Seq
from transformer_lib.recurrent_parts import RecurrentConfig
from transformer_lib.transformer import PRESETS, Transformer, TransformerConfig


class Kind(NamedTuple):
    """What a name of `MODELS` stands for: `model(config(source words, target words, **sizes))`."""

    model: type[nn.Module]
    config: type
    sizes: dict


# In the order of the lessons. All have as many parameters as the tiny Transformer, within 1 %.
MODELS = {
    "gru": Kind(PlainSeq2Seq, RecurrentConfig, {"d_hidden": 286}),
    "bahdanau": Kind(BahdanauSeq2Seq, RecurrentConfig, {"d_hidden": 272}),
    "luong-dot": Kind(LuongSeq2Seq, RecurrentConfig, {"score": "dot", "d_hidden": 268}),
    "luong-general": Kind(LuongSeq2Seq, RecurrentConfig, {"score": "general", "d_hidden": 256}),
    "luong-concat": Kind(LuongSeq2Seq, RecurrentConfig, {"score": "concat", "d_hidden": 246}),
    "luong-local-m": Kind(LuongSeq2Seq, RecurrentConfig, {"local": "monotonic", "d_hidden": 256}),
    "luong-local-p": Kind(LuongSeq2Seq, RecurrentConfig, {"local": "predictive", "d_hidden": 252}),
    "transformer": Kind(
        Transformer, TransformerConfig, PRESETS["tiny"] | {"tie_weights": "target"}
    ),
}
RECURRENT = tuple(name for name, kind in MODELS.items() if kind.config is RecurrentConfig)


def create_model(name: str, src_vocab_size: int, tgt_vocab_size: int, **overrides) -> nn.Module:
    """A freshly initialised model of that name, as large as the others of `MODELS`.

    `overrides` are fields of its configuration: `create_model("gru", 500, 600, dropout=0.3)`.
    """
    if name not in MODELS:
        raise ValueError(f"model={name!r} is none of {', '.join(MODELS)}")
    model, config, sizes = MODELS[name]
    return model(config(src_vocab_size, tgt_vocab_size, **{**sizes, **overrides}))


def describe_model(model: nn.Module) -> dict:
    """The name and the configuration from which `restore_model` makes one of the same shape.

    Variants of one class share the first name; their configurations tell them apart.
    """
    name = next((n for n, kind in MODELS.items() if type(model) is kind.model), None)
    if name is None:
        raise ValueError(f"{type(model).__name__} is no class of models.MODELS")
    return {"model": name, "config": dataclasses.asdict(model.config)}


def restore_model(model: str, config: dict) -> nn.Module:
    """A model of the shape that `describe_model` described, with fresh weights."""
    kind = MODELS["luong-general" if model == "luong" else model]  # version 0.1 wrote "luong"
    return kind.model(kind.config(**config))
