"""torch.nn's modules with our weights: the independent reference of the tests."""

import copy

import torch
from torch import nn

from transformer_lib.layers import AddNorm, DecoderLayer, EncoderLayer
from transformer_lib.transformer import Transformer


def attention(ours) -> nn.MultiheadAttention:
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
    twin = nn.TransformerEncoderLayer(**_sizes(ours))
    twin.self_attn.load_state_dict(attention(ours.self_attn).state_dict())
    return _copy_the_rest(ours, twin, ("norm1", "norm2"))


def decoder_layer(ours: DecoderLayer) -> nn.TransformerDecoderLayer:
    twin = nn.TransformerDecoderLayer(**_sizes(ours))
    twin.self_attn.load_state_dict(attention(ours.self_attn).state_dict())
    twin.multihead_attn.load_state_dict(attention(ours.cross_attn).state_dict())
    return _copy_the_rest(ours, twin, ("norm1", "norm2", "norm3"))


def transformer(ours: Transformer) -> nn.Transformer:
    config = ours.config
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
            getattr(
                twin, side
            ).norm = None  # torch always ends in a norm; the paper's post-norm stack does not
    return twin


def assert_same_gradients(ours: nn.Module, twin: nn.Module, make_twin) -> None:
    """Every parameter of `twin` has the gradient of ours: our gradients, laid out as torch's weights."""
    gradients = copy.deepcopy(ours)
    for copied, parameter in zip(gradients.parameters(), ours.parameters(), strict=True):
        copied.data = torch.zeros_like(copied) if parameter.grad is None else parameter.grad
    laid_out = dict(make_twin(gradients).named_parameters())
    for name, parameter in twin.named_parameters():
        torch.testing.assert_close(
            laid_out[name].data, parameter.grad, atol=1e-10, rtol=0, msg=name
        )


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
