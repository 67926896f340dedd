"""GPT-2 (Radford et al. 2019) from the parts of our encoder, and its published weights. Lesson 18.

A stack of pre-norm layers under a causal mask, with learned positions, and GELU in the place of
ReLU.
"""

import re
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from transformer_lib.layers import EncoderLayer, PositionwiseFeedForward
from transformer_lib.masks import causal_mask
from transformer_lib.positions import LearnedPositions

D_HEAD = 64  # in all four published sizes
PARTS = {  # of a layer, by our names and theirs
    "add_norm1.norm": "ln_1",
    "self_attn.out_proj": "attn.c_proj",
    "add_norm2.norm": "ln_2",
    "feed_forward.up_proj": "mlp.c_fc",
    "feed_forward.down_proj": "mlp.c_proj",
}


class GELUFeedForward(PositionwiseFeedForward):
    """The feed-forward network with GELU for max(0, ·), by GPT-2's formula with tanh."""

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.down_proj(F.gelu(self.up_proj(x), approximate="tanh"))


class GPT2(nn.Module):
    """The logits of every next token. It computes what `transformers`' GPT2LMHeadModel computes.

    The table of embeddings says the next token, too.
    """

    def __init__(
        self, vocab_size: int, max_len: int, d_model: int, num_heads: int, num_layers: int
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, max_len)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, 4 * d_model, dropout=0.0, norm_first=True)
            for _ in range(num_layers)
        )
        for layer in self.layers:
            layer.feed_forward = GELUFeedForward(d_model, 4 * d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        mask = causal_mask(ids.size(1), device=ids.device)
        x = self.positions(self.embedding(ids))
        for layer in self.layers:
            x = layer(x, mask)
        return F.linear(self.norm(x), self.embedding.weight)


def read_gpt2(path: str | Path, num_heads: int | None = None) -> GPT2:
    """The model in a `model.safetensors` of GPT-2's form, in eval() and in the file's dtype.

    The file does not say how many heads there are: one for 64 numbers of width, unless told. Its
    matrices lie (in, out), ours (out, in); those of queries, keys and values lie side by side in
    one. Raises ValueError where the file has another form, so that no tensor is left unread.
    """
    found = _tensors(path)
    if missing := {"wte.weight", "wpe.weight"} - found.keys():
        raise ValueError(f"{path} is no GPT-2: it lacks {' and '.join(sorted(missing))}")
    vocab_size, max_len = len(found["wte.weight"]), len(found["wpe.weight"])
    d_model = found["wte.weight"].size(-1)
    if num_heads is None:
        if d_model % D_HEAD:
            raise ValueError(
                f"{path} is {d_model} wide, which is no multiple of {D_HEAD}: say num_heads="
            )
        num_heads = d_model // D_HEAD
    num_layers = len({name.split(".")[1] for name in found if name.startswith("h.")})
    _must_be(found, _shapes(vocab_size, max_len, d_model, num_layers), path)
    with torch.device("meta"):  # no weights of its own, which would be thrown away
        model = GPT2(vocab_size, max_len, d_model, num_heads, num_layers)
    model.load_state_dict(_ours(found, num_layers), assign=True)
    return model.eval()


def _tensors(path: str | Path) -> dict[str, Tensor]:
    """All that belongs to the model, by GPT-2's names without a prefix.

    Masks are computed, and an output that is the table of embeddings is not read twice.
    """
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder: name the file in it, model.safetensors")
    try:
        found = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path} is no safetensors file, or not a whole one: {error}") from None
    found = {name.removeprefix("transformer."): tensor for name, tensor in found.items()}
    output = found.pop("lm_head.weight", None)
    if output is not None and not torch.equal(output, found.get("wte.weight", output[:0])):
        raise ValueError(
            f"{path} has an lm_head.weight other than wte.weight, where GPT-2 has one table"
        )
    mask = re.compile(r"h\.\d+\.attn\.(masked_)?bias")
    return {name: tensor for name, tensor in found.items() if not mask.fullmatch(name)}


def _shapes(vocab_size: int, max_len: int, d_model: int, num_layers: int) -> dict[str, tuple]:
    """Every tensor of such a model, with its shape."""
    matrices = {
        "attn.c_attn": (d_model, 3 * d_model),
        "attn.c_proj": (d_model, d_model),
        "mlp.c_fc": (d_model, 4 * d_model),
        "mlp.c_proj": (4 * d_model, d_model),
    }
    norms = ["ln_f", *(f"h.{n}.ln_{i}" for n in range(num_layers) for i in (1, 2))]
    shapes = {"wte.weight": (vocab_size, d_model), "wpe.weight": (max_len, d_model)}
    for name in norms:
        shapes |= {f"{name}.weight": (d_model,), f"{name}.bias": (d_model,)}
    for n in range(num_layers):
        for name, shape in matrices.items():
            shapes |= {f"h.{n}.{name}.weight": shape, f"h.{n}.{name}.bias": shape[1:]}
    return shapes


def _must_be(found: dict[str, Tensor], shapes: dict[str, tuple], path: str | Path) -> None:
    if missing := sorted(shapes.keys() - found.keys()):
        raise ValueError(f"{path} lacks {missing[0]}: {len(missing)} missing in all")
    if unknown := sorted(found.keys() - shapes.keys()):
        raise ValueError(
            f"{path} holds {unknown[0]}, which GPT-2 has not: {len(unknown)} such in all"
        )
    for name, shape in shapes.items():
        if found[name].shape != shape:
            raise ValueError(
                f"{path} holds {name} of shape {tuple(found[name].shape)}, where GPT-2 has {shape}"
            )


def _ours(found: dict[str, Tensor], num_layers: int) -> dict[str, Tensor]:
    """The same tensors as our modules have them."""
    ours = {
        "embedding.weight": found["wte.weight"],
        "positions.table": found["wpe.weight"],
        "norm.weight": found["ln_f.weight"],
        "norm.bias": found["ln_f.bias"],
    }
    for n in range(num_layers):
        for kind in ("weight", "bias"):
            for name, theirs in PARTS.items():
                ours[f"layers.{n}.{name}.{kind}"] = _turned(found[f"h.{n}.{theirs}.{kind}"])
            side_by_side = found[f"h.{n}.attn.c_attn.{kind}"].chunk(3, dim=-1)
            for name, third in zip(("q_proj", "k_proj", "v_proj"), side_by_side, strict=True):
                ours[f"layers.{n}.self_attn.{name}.{kind}"] = _turned(third)
    return ours


def _turned(weight: Tensor) -> Tensor:
    """(in, out) as (out, in), in memory of its own; a vector as it is."""
    return weight.t().clone(memory_format=torch.contiguous_format)
