"""What the package `transformers` computes with random weights, in files: a witness from outside.

    python -m transformer_lib.lab.witness data/witness

`data/README.md` says what stands in each file. The numbers are drawn as multiples of 1/64, which
every processor draws alike.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from transformer_lib.base.optional import needed

NAMES = {  # of a Llama layer and what we call it; the longer ones first
    "self_attn.o_proj": "attention.out_proj",
    "self_attn": "attention",
    "mlp": "feed_forward",
    "input_layernorm": "norm1",
    "post_attention_layernorm": "norm2",
}
SIZES = {
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 24,
    "rms_norm_eps": torch.finfo(torch.float32).eps,  # what nn.RMSNorm takes unless told
}
NO_WORDS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}


class Witness(NamedTuple):
    """Tensors, and in words what they are."""

    tensors: dict[str, Tensor]
    metadata: dict[str, str]


def make() -> dict[str, Witness]:
    """Every witness, by the name of its file."""
    transformers = needed("transformers", "the witness")
    llama = transformers.LlamaModel, transformers.LlamaConfig
    qwen3 = transformers.Qwen3Model, transformers.Qwen3Config
    with torch.random.fork_rng(devices=[]):
        return {
            "llama": _layer(*llama, hidden_size=16, head_dim=4, rope_theta=5000.0),
            "qwen3": _layer(*qwen3, hidden_size=16, head_dim=6, rope_theta=1000000.0),
            **_gpt2(transformers),
        }


def _layer(kind: type[nn.Module], config: type, *, rope_theta: float, **sizes) -> Witness:
    """One layer: its weights under our names, an input, and its output."""
    rope = {"rope_type": "default", "rope_theta": rope_theta}
    sizes = SIZES | sizes
    model = kind(
        config(vocab_size=3, num_hidden_layers=1, rope_parameters=rope, **NO_WORDS, **sizes)
    )
    model.norm = nn.Identity()  # that of the whole model, behind the layers
    _draw(model)
    x = _numbers(2, 5, sizes["hidden_size"])
    with torch.no_grad():
        output = model(inputs_embeds=x).last_hidden_state
    weights = {}
    for name, weight in model.layers[0].state_dict().items():
        theirs = next(prefix for prefix in NAMES if name.startswith(prefix))
        weights[NAMES[theirs] + name.removeprefix(theirs)] = weight
    said = {"layer": type(model.layers[0]).__name__, "rope_theta": rope_theta, **sizes}
    return Witness({**weights, "input": x, "output": output}, _told(said))


def _gpt2(transformers) -> dict[str, Witness]:
    """A whole model in the form of the published files, and in another file what it says."""
    sizes = {"vocab_size": 11, "n_positions": 7, "n_embd": 12, "n_head": 3, "n_layer": 2}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **NO_WORDS)).eval()
    _draw(model)
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 10, 0]])
    with torch.no_grad():
        logits = model(ids).logits
    weights = model.transformer.state_dict()
    for n in range(sizes["n_layer"]):  # masks: the published files hold them, too
        weights[f"h.{n}.attn.bias"] = torch.ones(7, 7).tril()[None, None]
    said = _told({"model": "GPT2LMHeadModel", **sizes})
    return {
        "gpt2": Witness(weights, said),
        "gpt2_logits": Witness({"ids": ids, "logits": logits}, said),
    }


def _draw(model: nn.Module) -> None:
    """Weights that are neither small nor alike."""
    torch.manual_seed(0)
    for name, parameter in model.named_parameters():
        around = 1 if "norm" in name or ".ln_" in name else 0
        parameter.data = around + _numbers(*parameter.shape) / 4


def _numbers(*shape: int) -> Tensor:
    """Normally distributed, in steps of 1/16."""
    return (torch.randn(*shape) * 16).round() / 16


def _told(said: dict) -> dict[str, str]:
    version = needed("transformers", "the witness").__version__
    command = "python -m transformer_lib.lab.witness data/witness"
    said = {**said, "transformers": version, "command": command}
    return {name: str(value) for name, value in said.items()}


def write(folder: str | Path) -> None:
    """Make every witness, and write a file of each into a folder."""
    made = make()
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, (tensors, metadata) in made.items():
        tensors = {key: tensor.contiguous() for key, tensor in tensors.items()}
        save_file(tensors, Path(folder) / f"{name}.safetensors", metadata)


if __name__ == "__main__":
    write(sys.argv[1])
