"""What training makes small: cross-entropy per real token, smoothed where asked. Lesson 14."""

import inspect

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.tokens import PAD_ID
from transformer_lib.masks import Mask


def label_smoothed_cross_entropy(
    logits: Float[Tensor, "tokens vocab"],
    targets: Int[Tensor, " tokens"],
    smoothing: float,
    pad_id: int = PAD_ID,
) -> Float[Tensor, ""]:
    """Mean cross-entropy against smoothed targets, in nats per token.

    They are (1 − ε)·(the target) + ε·(uniform over the vocabulary without <pad>). (Szegedy et al.
    2016; Vaswani et al. 2017, section 5.4)
    """
    # Autocast on CPU would add up thousands of terms in bf16.
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if not smoothing:
        return F.cross_entropy(logits, targets)
    log_probs = logits.log_softmax(dim=-1)
    of_target = log_probs.gather(1, targets[:, None]).squeeze(1)
    of_pad = log_probs[:, pad_id]
    of_others = log_probs.sum(dim=1) - of_pad
    if of_pad.isneginf().any():  # a model that rules <pad> out; -inf - -inf is no number
        others = torch.arange(logits.size(1), device=logits.device) != pad_id
        of_others = log_probs[:, others].sum(dim=1)
    of_uniform = of_others / (logits.size(1) - 1)
    return -((1 - smoothing) * of_target + smoothing * of_uniform).mean()


def loss_on_batch(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    tgt_in: Int[Tensor, "batch target"],
    tgt_out: Int[Tensor, "batch target"],
    *,
    src_mask: Mask | None = None,
    pad_id: int = PAD_ID,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Mean loss per real target token, in nats.

    Padding counts neither in the sum nor in the number. A model that takes `only` computes logits
    only where there is a real target. The padding of `tgt_in` needs no mask: it comes after all
    real tokens, where a causal decoder does not look.
    """
    real = tgt_out != pad_id
    logits = _logits_at(real, model, src, tgt_in, src_mask)
    return label_smoothed_cross_entropy(logits, tgt_out[real], label_smoothing, pad_id)


def _logits_at(real: Tensor, model: nn.Module, *inputs: Tensor | None) -> Tensor:
    """The logits of these positions alone, from any model, also inside what torch wraps it in."""
    inner = model
    for wrapper in ("module", "_orig_mod"):
        inner = getattr(inner, wrapper, inner)
    if "only" in inspect.signature(inner.forward).parameters:
        return model(*inputs, only=real)
    return model(*inputs)[real]
