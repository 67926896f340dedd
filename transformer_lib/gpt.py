"""A decoder-only language model, of the blocks that models of today are made of. Lesson 18.

RMSNorm in front of each sublayer, rotary positions, heads that share keys and values, a gated
network, no biases: the form of Llama (Touvron et al. 2023), and with norms on queries and keys that
of Qwen3 (2025). Norm and rotary positions are `nn.RMSNorm` and `positions`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import allowed, attention_weights, for_the_kernel
from transformer_lib.base.listening import Listened
from transformer_lib.layers import KeysValues, Past, rows_of
from transformer_lib.masks import Mask
from transformer_lib.positions import RelativePositions


class SwiGLU(nn.Module):
    """W_down (swish(W_gate x) ⊙ W_up x): a network whose hidden numbers are multiplied by a gate.

    swish(a) = a · sigmoid(a); torch calls it silu. Three matrices, so d_ff is chosen a third
    smaller than for two. (Shazeer 2020; gates: Dauphin et al. 2017)
    """

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class GroupedAttention(Listened):
    """Causal self-attention of H heads of queries that share G heads of keys and values.

    Query head h reads key head h // (H/G). G = H is multi-head attention, G = 1 multi-query
    attention (Shazeer 2019; groups: Ainslie et al. 2023). The cache shrinks by H/G. `positions`
    turns queries and keys. `qk_norm` puts an RMSNorm over each head of both first, so that scores
    depend on its γ and not on how large the projections grow (the idea: Henry et al. 2020; for
    large models: Dehghani et al. 2023).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int,
        positions: RelativePositions,
        *,
        d_head: int | None = None,
        qk_norm: bool = False,
        norm_eps: float | None = None,
    ):
        super().__init__()
        if d_head is None and d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"num_heads={num_heads} is not divisible by num_kv_heads={num_kv_heads}: each head "
                "of keys and values serves equally many heads of queries"
            )
        self.d_head = d_head or d_model // num_heads
        self.q_proj = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.k_proj = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.v_proj = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.out_proj = nn.Linear(num_heads * self.d_head, d_model, bias=False)
        self.q_norm, self.k_norm = (
            nn.RMSNorm(self.d_head, norm_eps) if qk_norm else nn.Identity() for _ in range(2)
        )
        self.positions = positions

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Mask | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        return self.step(x, None, mask)[0]

    def step(
        self,
        x: Float[Tensor, "batch new d_model"],
        past: KeysValues | None,
        mask: Mask | None = None,
    ) -> tuple[Float[Tensor, "batch new d_model"], KeysValues]:
        """What the new tokens gather from `past` and themselves, and `past` grown by them."""
        offset = 0 if past is None else past[0].size(-2)
        q, k, v = map(self._split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        q = self.positions.turn(self.q_norm(q), offset)  # (B, H, new, D)
        k = self.positions.turn(self.k_norm(k), offset)  # (B, G, new, D)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=-2), torch.cat((past[1], v), dim=-2)
        q_len, k_len = q.size(-2), k.size(-2)
        if self.is_heard:
            mask = allowed(mask, True, q_len, k_len, x.device)
            group = q.size(1) // k.size(1)
            weights = attention_weights(q, k.repeat_interleave(group, dim=1), mask)
            self.tell(weights)
            context = weights @ v.repeat_interleave(group, dim=1)  # (B, H, new, D)
        else:
            mask, is_causal = for_the_kernel(mask, None, q_len > 1, q_len, k_len, x.device)
            context = F.scaled_dot_product_attention(
                q, k, v, mask, is_causal=is_causal, enable_gqa=True
            )
        return self.out_proj(context.transpose(1, 2).flatten(2)), (k, v)

    def _split(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch heads time d"]:
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)


class Block(nn.Module):
    """x + attention(RMSNorm(x)), then the same with a gated network.

    It computes what `transformers`' Llama layer computes with the same weights, where `positions`
    are `RotaryHalves` and `norm_eps` is its own (torch's, unless told); with `qk_norm` Qwen3's.
    Another network of one token may stand in the place of `feed_forward` (`experts.Experts`).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int,
        d_ff: int,
        positions: RelativePositions,
        *,
        d_head: int | None = None,
        qk_norm: bool = False,
        norm_eps: float | None = None,
    ):
        super().__init__()
        self.norm1 = nn.RMSNorm(d_model, norm_eps)
        self.attention = GroupedAttention(
            d_model,
            num_heads,
            num_kv_heads,
            positions,
            d_head=d_head,
            qk_norm=qk_norm,
            norm_eps=norm_eps,
        )
        self.norm2 = nn.RMSNorm(d_model, norm_eps)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Mask | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        return self.step(x, None, mask)[0]

    def step(
        self,
        x: Float[Tensor, "batch new d_model"],
        past: KeysValues | None,
        mask: Mask | None = None,
    ) -> tuple[Float[Tensor, "batch new d_model"], KeysValues]:
        """The new tokens alone, and `past` grown by their keys and values; it is left as it was."""
        gathered, past = self.attention.step(self.norm1(x), past, mask)
        x = x + gathered
        return x + self.feed_forward(self.norm2(x)), past


@dataclass(frozen=True)
class GPTState(Past):
    """What `GPT.step` remembers; before the first token `past` is empty."""

    prompt: Int[Tensor, "batch prompt"]  # what the first step reads behind its token

    def select(self, rows: Int[Tensor, " rows"]) -> "GPTState":
        """The state of these rows, in this order."""
        past, prompt = rows_of(self.past, rows), self.prompt.index_select(0, rows)
        return replace(self, past=past, prompt=prompt)


class GPT(nn.Module):
    """Blocks over a table of embeddings, which also says the next token (Press & Wolf 2017).

    `model(ids)` gives the logits of every next token at once, for training. `start` and `step` give
    the same logits one token at a time, so that `decoding` writes with it: what it takes for a
    source is the prompt, which stands behind <bos>. For training alone a block needs no `step`, and
    without a mask no more than `block(x)`.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        blocks: Iterable[nn.Module],
        *,
        norm_eps: float | None = None,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.RMSNorm(d_model, norm_eps)

    def forward(
        self, ids: Int[Tensor, "batch time"], mask: Mask | None = None
    ) -> Float[Tensor, "batch time vocab"]:
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x) if mask is None else block(x, mask)
        return F.linear(self.norm(x), self.embedding.weight)

    def start(self, prompt: Int[Tensor, "batch prompt"], mask: Mask | None = None) -> GPTState:
        """The state before <bos>. The first step reads <bos> and the prompt in one pass: prefill.

        The prompts of a batch are equally long. One without tokens, (batch, 0), asks for nothing.
        """
        if mask is not None and not mask.all():
            raise ValueError("the prompts of a batch are padded: a GPT takes prompts of one length")
        return GPTState(past=(), position=0, prompt=prompt)

    def step(
        self, ids: Int[Tensor, " batch"], state: GPTState
    ) -> tuple[Float[Tensor, "batch vocab"], GPTState]:
        """Logits for the token after `ids` (after <bos>: after the prompt), and the state then."""
        logits, state = self.steps(ids[:, None], state)
        return logits[:, -1], state

    def steps(
        self, ids: Int[Tensor, "batch new"], state: GPTState
    ) -> tuple[Float[Tensor, "batch new vocab"], GPTState]:
        """As many steps in one pass; the first ones read the prompt, too."""
        ids = torch.cat((ids[:, :1], state.prompt, ids[:, 1:]), dim=1)
        x, past = self.embedding(ids), []
        held_by_each = state.past or (None,) * len(self.blocks)
        for block, held in zip(self.blocks, held_by_each, strict=True):
            x, grown = block.step(x, held)
            past.append(grown)
        asked = x[:, state.prompt.size(1) :]  # nobody asks what comes after <bos> but the prompt
        logits = F.linear(self.norm(asked), self.embedding.weight)
        position = state.position + ids.size(1)
        return logits, GPTState(tuple(past), position, state.prompt[:, :0])
