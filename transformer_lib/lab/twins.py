"""torch.nn's modules with our weights: the independent witness of lessons, checks and tests."""

import warnings

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.layers import AddNorm, DecoderLayer, EncoderLayer
from transformer_lib.masks import Mask, causal_mask
from transformer_lib.transformer import Transformer


def attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """`nn.MultiheadAttention` with these weights. Its boolean masks mean the opposite of ours."""
    d_model = ours.q_proj.in_features
    bias = ours.q_proj.bias is not None
    twin = nn.MultiheadAttention(
        d_model, ours.num_heads, batch_first=True, bias=bias, dtype=ours.q_proj.weight.dtype
    )
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        twin.out_proj.weight.copy_(ours.out_proj.weight)
        if bias:
            twin.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
            twin.out_proj.bias.copy_(ours.out_proj.bias)
    return twin


def encoder_layer(ours: EncoderLayer) -> nn.TransformerEncoderLayer:
    """`nn.TransformerEncoderLayer` with these weights, without dropout."""
    twin = nn.TransformerEncoderLayer(**_sizes(ours))
    twin.self_attn.load_state_dict(attention(ours.self_attn).state_dict())
    return _copy_the_rest(ours, twin, ("norm1", "norm2"))


def decoder_layer(ours: DecoderLayer) -> nn.TransformerDecoderLayer:
    """`nn.TransformerDecoderLayer` with these weights, without dropout."""
    twin = nn.TransformerDecoderLayer(**_sizes(ours))
    twin.self_attn.load_state_dict(attention(ours.self_attn).state_dict())
    twin.multihead_attn.load_state_dict(attention(ours.cross_attn).state_dict())
    return _copy_the_rest(ours, twin, ("norm1", "norm2", "norm3"))


def transformer(ours: Transformer) -> nn.Transformer:
    """`nn.Transformer` with the weights of our layers: without embeddings, positions, generator."""
    config = ours.config
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="enable_nested_tensor")
        twin = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            dropout=0.0,
            norm_first=config.norm_first,
            batch_first=True,
            dtype=ours.generator.weight.dtype,
        )
    for i in range(config.num_layers):
        twin.encoder.layers[i].load_state_dict(encoder_layer(ours.encoder.layers[i]).state_dict())
        twin.decoder.layers[i].load_state_dict(decoder_layer(ours.decoder.layers[i]).state_dict())
    for side in ("encoder", "decoder"):
        if config.norm_first:
            getattr(twin, side).norm.load_state_dict(getattr(ours, side).norm.state_dict())
        else:
            # torch always ends in a norm; the paper's post-norm stack does not
            getattr(twin, side).norm = None
    return twin


def transformer_logits(
    ours: Transformer,
    src: Int[Tensor, "batch source"],
    tgt_in: Int[Tensor, "batch target"],
    src_mask: Mask | None = None,
    tgt_mask: Mask | None = None,
) -> Float[Tensor, "batch target vocab"]:
    """The logits of `nn.Transformer`, between our embeddings and our generator."""
    hidden = [None if mask is None else ~mask[:, 0, 0] for mask in (src_mask, tgt_mask)]
    out = transformer(ours)(
        ours.encoder.positions(ours.encoder.embedding(src)),
        ours.decoder.positions(ours.decoder.embedding(tgt_in)),
        tgt_mask=~causal_mask(tgt_in.size(1)),
        src_key_padding_mask=hidden[0],
        memory_key_padding_mask=hidden[0],
        tgt_key_padding_mask=hidden[1],
    )
    return ours.generator(out)


def _sizes(layer) -> dict:
    return {
        "d_model": layer.self_attn.q_proj.in_features,
        "nhead": layer.self_attn.num_heads,
        "dim_feedforward": layer.feed_forward.up_proj.out_features,
        "dropout": 0.0,
        "norm_first": layer.add_norm1.norm_first,
        "batch_first": True,
        "dtype": layer.self_attn.q_proj.weight.dtype,
    }


def _copy_the_rest(ours, twin, norms):
    twin.linear1.load_state_dict(ours.feed_forward.up_proj.state_dict())
    twin.linear2.load_state_dict(ours.feed_forward.down_proj.state_dict())
    for name in norms:
        add_norm: AddNorm = getattr(ours, f"add_{name[:-1]}{name[-1]}")
        getattr(twin, name).load_state_dict(add_norm.norm.state_dict())
    return twin
