"""A Transformer as CTranslate2 reads it: the engine's own specification, filled with our weights.

The engine is for serving: it keeps what a decoder has read, searches by itself, and needs no torch.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lib.base.optional import needed
from transformer_lib.base.tokens import BOS_ID, EOS_ID, UNK_ID
from transformer_lib.batching import Example, make_batch
from transformer_lib.checkpoints import AnyVocabulary
from transformer_lib.layers import DecoderLayer, EncoderLayer
from transformer_lib.transformer import Decoder, Encoder, Transformer

PROGRAM = '''\
"""Translates lines by CTranslate2, without torch:  python translate.py < lines.txt"""

import json
from pathlib import Path

import ctranslate2

from transformer_lib.base.lines import opened, serve
from transformer_lib.corpus import vocabulary_from_json

HERE = Path(__file__).parent
stored = json.loads((HERE / "vocabularies.json").read_text(encoding="utf-8"))
source, target = map(vocabulary_from_json, stored)
engine = opened(ctranslate2.Translator, str(HERE))


def translate(sentences, beam_size=1):
    found = engine.translate_batch(
        [list(map(str, source.encode(sentence))) for sentence in sentences],  # ids are its tokens
        beam_size=beam_size,
        length_penalty=0,
        max_input_length=$max_len,  # <eos>, which the engine adds, included
        max_decoding_length=$longest,
        max_batch_size=256,
        suppress_sequences=[["0"], ["1"]],  # <pad> and <bos>
    )
    return [target.decode(map(int, one.hypotheses[0])) for one in found]


if __name__ == "__main__":
    serve(translate, source)
'''


def write(
    model: Transformer, vocabularies: tuple[AnyVocabulary, AnyVocabulary], folder: Path
) -> None:
    """Write the model into `folder`, as `ctranslate2.Translator` opens it.

    The engine knows a token by its text, and the pieces of bytes have none that is theirs alone, so
    its tokens are our ids, written as numbers. Raises ValueError for ALiBi, which the engine's
    encoder does not know.
    """
    specs, config = _engine().specs, model.config
    if config.positions == "alibi":
        raise ValueError(
            "CTranslate2's encoder has no positions=alibi: use --to onnx, which has, or train with "
            "other --positions"
        )
    kind = {"pre_norm": config.norm_first}
    if config.positions == "rotary":
        kind |= {"rotary_dim": 0, "rotary_interleave": True}  # all of a head, pairs side by side
    encoder, decoder = (
        spec(config.num_layers, config.num_heads, activation=specs.Activation.RELU, **kind)
        for spec in (specs.TransformerEncoderSpec, specs.TransformerDecoderSpec)
    )
    _stack(encoder, encoder.embeddings[0], model.encoder, config.max_len)
    _stack(decoder, decoder.embeddings, model.decoder, config.max_len)
    _linear(decoder.projection, model.generator)
    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.bos_token = spec.config.decoder_start_token = str(BOS_ID)
    spec.config.eos_token, spec.config.unk_token = str(EOS_ID), str(UNK_ID)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.encoder.layers[0].add_norm1.norm.eps
    source, target = (_written(range(len(vocabulary))) for vocabulary in vocabularies)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.validate()
    spec.optimize()  # tied weights are written once
    spec.save(str(folder))


@torch.no_grad()
def difference(model: Transformer, folder: Path, examples: Sequence[Example]) -> float:
    """The largest between the engine's log-probability of a target token and ours."""
    batch = make_batch(examples)
    log_probs = model(batch.src, batch.tgt_in, batch.src_mask).log_softmax(dim=-1)
    ours = log_probs.gather(-1, batch.tgt_out[..., None]).squeeze(-1)
    read, said = (
        [_written(ids[:-1]) for ids in side]  # it adds <eos> itself
        for side in zip(*examples, strict=True)
    )
    scored = _engine().Translator(str(folder)).score_batch(read, said)
    theirs = (torch.tensor(one.log_probs) for one in scored)
    pairs = zip(ours, theirs, strict=True)
    return max((row[: len(found)] - found).abs().max().item() for row, found in pairs)


def _written(ids: Iterable[int]) -> list[str]:
    """Ids as the engine's tokens."""
    return list(map(str, ids))


def _engine() -> ModuleType:
    return needed("ctranslate2", "export --to ctranslate2")


def _stack(spec: Any, embeddings: Any, stack: Encoder | Decoder, max_len: int) -> None:
    embeddings.weight = _array(stack.embedding.weight)
    if hasattr(spec, "position_encodings"):
        # Where nothing is added, zeros: without a table the engine makes sines of its own.
        nothing = torch.zeros(max_len, stack.embedding.embedding_dim)
        spec.position_encodings.encodings = _array(getattr(stack.positions, "table", nothing))
    for layer_spec, layer in zip(spec.layer, stack.layers, strict=True):
        _layer(layer_spec, layer)
    if hasattr(spec, "layer_norm"):
        _norm(spec.layer_norm, stack.norm)


def _layer(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    own, last = layer.self_attn, layer.add_norm2
    _linear(spec.self_attention.linear[0], own.q_proj, own.k_proj, own.v_proj)
    _linear(spec.self_attention.linear[1], own.out_proj)
    _norm(spec.self_attention.layer_norm, layer.add_norm1.norm)
    if isinstance(layer, DecoderLayer):
        cross, last = layer.cross_attn, layer.add_norm3
        _linear(spec.attention.linear[0], cross.q_proj)
        _linear(spec.attention.linear[1], cross.k_proj, cross.v_proj)
        _linear(spec.attention.linear[2], cross.out_proj)
        _norm(spec.attention.layer_norm, layer.add_norm2.norm)
    _linear(spec.ffn.linear_0, layer.feed_forward.up_proj)
    _linear(spec.ffn.linear_1, layer.feed_forward.down_proj)
    _norm(spec.ffn.layer_norm, last.norm)


def _linear(spec: Any, *layers: nn.Linear) -> None:
    """Layers of one input, which the engine computes as one."""
    spec.weight = np.concatenate([_array(layer.weight) for layer in layers])
    if layers[0].bias is not None:
        spec.bias = np.concatenate([_array(layer.bias) for layer in layers])


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _array(weights: Float[Tensor, "..."]) -> np.ndarray:
    return weights.detach().numpy()
