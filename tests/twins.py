"""torch.nn's modules with our weights: the independent reference of the tests."""

import copy

import torch
from torch import nn

from transformer_lib.lab.twins import attention, decoder_layer, encoder_layer, transformer

__all__ = ["assert_same_gradients", "attention", "decoder_layer", "encoder_layer", "transformer"]


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
