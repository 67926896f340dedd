"""Scaled dot-product attention, many heads of it, and a way to listen to the weights.

Vaswani et al. 2017, section 3.2.
"""

import math
from contextlib import AbstractContextManager

import torch
import torch.nn.functional as F
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from transformer_lib.base.listening import Listened, Weights, listen
from transformer_lib.masks import Mask, boolean, causal_mask, masked_softmax
from transformer_lib.positions import RelativePositions


def attention_weights(
    query: Float[Tensor, "*batch query width"],
    key: Float[Tensor, "*batch key width"],
    mask: Mask | None = None,
    *,
    bias: Float[Tensor, "*#batch #query #key"] | None = None,
) -> Float[Tensor, "*batch query key"]:
    """softmax(q kᵀ / √d): every row a distribution over the keys that `mask` allows. Lesson 04.

    `bias` is added to the scores (lesson 10).
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return masked_softmax(scores if bias is None else scores + bias, mask)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch query width"],
    key: Float[Tensor, "*batch key width"],
    value: Float[Tensor, "*batch key value_width"],
    mask: Mask | None = None,
    *,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch query value_width"]:
    """Each query's average of the values, weighted by `attention_weights`.

    This is the formula as written, for reading. `dropout` is a probability and always applies, as
    in `F.scaled_dot_product_attention`: pass 0 outside training.
    """
    return F.dropout(attention_weights(query, key, mask), dropout) @ value


class MultiHeadAttention(Listened):
    """H attentions side by side, each on its own d_model/H wide projection. Lesson 09.

    A last projection joins them. Equal to `nn.MultiheadAttention(batch_first=True)` under copied
    weights: its `in_proj_weight` is our `q_proj`, `k_proj` and `v_proj` stacked. Note that torch's
    boolean masks mean the opposite of ours. `dropout` falls on the attention weights; it is not in
    the paper, hence 0. `relative` knows the positions of queries and keys (`RelativePositions`);
    the queries count as the last of the keys.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        relative: RelativePositions | None = None,
    ):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.relative = relative

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
        mask: Mask | None = None,
        *,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch query d_model"]:
        """What each query gathers from the values.

        `mask` broadcasts to (batch, heads, query, key), True = may attend; `is_causal` adds the
        causal mask, in train() and in eval() alike.
        """
        return self.attend(query, *self.keys_values(key, value), mask, is_causal=is_causal)

    def keys_values(
        self,
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
        *,
        offset: int = 0,
    ) -> tuple[Float[Tensor, "batch heads key d_head"], Float[Tensor, "batch heads key d_head"]]:
        """The projected keys and values, split into heads: what a decoder may keep.

        Kept, they need not be computed again. `offset` is how many keys came before.
        """
        if key.size(1) != value.size(1):
            raise ValueError(f"{key.size(1)} keys, but {value.size(1)} values: each key needs one")
        k, v = self._split(self.k_proj, key), self._split(self.v_proj, value)
        return k if self.relative is None else self.relative.turn(k, offset), v

    def attend(
        self,
        query: Float[Tensor, "batch query d_model"],
        k: Float[Tensor, "batch heads key d_head"],
        v: Float[Tensor, "batch heads key d_head"],
        mask: Mask | None = None,
        *,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch query d_model"]:
        """`forward` from keys and values that are already projected."""
        q = self._split(self.q_proj, query)  # (B, H, Tq, D)
        q_len, k_len = q.size(-2), k.size(-2)
        if mask is not None and not _broadcasts(boolean(mask).shape, (*q.shape[:-1], k_len)):
            raise ValueError(
                f"mask of shape {tuple(mask.shape)} for weights of shape {(*q.shape[:-1], k_len)} "
                "(batch, heads, query, key)"
            )
        mask = None if mask is None else torch.atleast_2d(mask)  # the kernel takes no fewer axes
        bias = None
        if self.relative is not None:
            q = self.relative.turn(q, k_len - q_len)
            bias = self.relative.bias(q, k_len)
        dropout = self.dropout if self.training else 0.0
        if self.is_heard:
            mask = allowed(mask, is_causal, q_len, k_len, q.device)
            weights = attention_weights(q, k, mask, bias=bias)  # (B, H, Tq, Tk)
            self.tell(weights)
            context = F.dropout(weights, dropout) @ v
        else:
            mask, is_causal = for_the_kernel(mask, bias, is_causal, q_len, k_len, q.device)
            context = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)
        return self.out_proj(context.transpose(1, 2).flatten(2))  # (B, Tq, C)

    def _split(
        self, project: nn.Linear, x: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch heads time d_head"]:
        if x.size(-1) != project.in_features:
            raise ValueError(f"input of width {x.size(-1)} for d_model={project.in_features}")
        return project(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(size in (1, wanted) for size, wanted in pairs)


def allowed(
    mask: Mask | None, is_causal: bool, q_len: int, k_len: int, device: torch.device
) -> Mask | None:
    """The one mask that says it all: the one given, the causal one, or both. None hides nothing."""
    if not is_causal:
        return mask
    causal = causal_mask(q_len, k_len, device)
    return causal if mask is None else mask & causal


def for_the_kernel(
    mask: Mask | None,
    bias: Float[Tensor, "*#batch #query #key"] | None,
    is_causal: bool,
    q_len: int,
    k_len: int,
    device: torch.device,
) -> tuple[Shaped[Tensor, "..."] | None, bool]:
    """What the fused kernel takes for mask, bias and causality: a mask, or `is_causal`, not both.

    Its own `is_causal` aligns the first query with the first key, so it serves where they are as
    many. A bias makes the mask one of numbers, -inf where nothing may be seen.
    """
    if is_causal and mask is None and bias is None and q_len == k_len:
        return None, True
    mask = allowed(mask, is_causal, q_len, k_len, device)
    if bias is not None:
        return bias if mask is None else bias.masked_fill(~mask, float("-inf")), False
    return mask, False


def record_attention(model: nn.Module) -> AbstractContextManager[dict[str, list[Weights]]]:
    """Listen to every attention of a model inside the block, each under its name in the model.

        with record_attention(model) as maps:
            model(src, tgt_in)
        maps["decoder.layers.1.cross_attn"][-1]     # (batch, heads, query, key), before dropout

    Each call of a module that this thread makes is an item of its list. Outputs are those of the
    fast path. On leaving, also by an exception, every module is fast again.
    """
    parts = model.named_modules()
    return listen({name: part for name, part in parts if isinstance(part, Listened)})
