"""Our block and GPT-2 against what `transformers` computed: 2 rows of 5 tokens of width 16."""

import sys

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch.testing import assert_close

from transformer_lib.corpus import DATA
from transformer_lib.gpt import Block
from transformer_lib.lab import witness
from transformer_lib.positions import RotaryHalves, RotaryPositions

FILES = sorted(path.stem for path in (DATA / "witness").glob("*.safetensors"))
LAYER = pytest.mark.parametrize("name", ["llama", "qwen3"])


def stored(name):
    """The tensors of a file, and its metadata."""
    path = DATA / "witness" / f"{name}.safetensors"
    with safe_open(path, framework="pt") as file:
        return load_file(path), file.metadata()


def block(name, kind, weights, said, **options):
    d_model, d_head, d_ff = (
        int(said[size]) for size in ("hidden_size", "head_dim", "intermediate_size")
    )
    heads = int(said["num_attention_heads"]), int(said["num_key_value_heads"])
    positions = kind(d_head, 9, base=float(said["rope_theta"]))
    options = {"d_head": d_head, "qk_norm": name == "qwen3"} | options
    layer = Block(d_model, *heads, d_ff, positions, **options)
    layer.load_state_dict(weights)
    return layer


@LAYER
def test_our_block_computes_what_transformers_layer_computes(name):
    weights, said = stored(name)
    x, output = weights.pop("input"), weights.pop("output")
    layer = block(name, RotaryHalves, weights, said)
    assert_close(layer(x), output, atol=1e-5, rtol=1e-5)
    first, past = layer.step(x[:, :3], None)
    rest, _ = layer.step(x[:, 3:], past)
    assert_close(torch.cat([first, rest], dim=1), output, atol=1e-5, rtol=1e-5)


@LAYER
def test_its_weights_fit_the_rotary_positions_of_neighbours_and_mean_nothing_there(name):
    weights, said = stored(name)
    x, output = weights.pop("input"), weights.pop("output")
    wrong = block(name, RotaryPositions, weights, said)(x)
    assert_close(wrong[:, 0], output[:, 0], atol=1e-5, rtol=1e-5)  # position 0 is not turned
    assert (wrong - output)[:, 1:].abs().amax() > 1e-2
    base = {**said, "rope_theta": "10000"}
    assert (block(name, RotaryHalves, weights, base)(x) - output).abs().max() > 1e-3


def test_the_two_witnesses_differ_in_the_norms_of_queries_and_keys_and_in_the_width_of_heads():
    of_llama, of_qwen3 = (set(stored(name)[0]) for name in ("llama", "qwen3"))
    assert of_qwen3 - of_llama == {"attention.q_norm.weight", "attention.k_norm.weight"}
    assert stored("llama")[0]["attention.out_proj.weight"].shape == (16, 4 * 4)
    assert stored("qwen3")[0]["attention.out_proj.weight"].shape == (16, 4 * 6)


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_made_it(name):
    said = stored(name)[1]
    assert said["transformers"][0] == "5"
    assert said["command"] == "python -m transformer_lib.lab.witness data/witness"


def test_the_files_come_out_again(tmp_path):
    pytest.importorskip("transformers")
    witness.write(tmp_path / "new")
    assert sorted(path.stem for path in (tmp_path / "new").iterdir()) == FILES
    for name in FILES:
        assert_close(load_file(tmp_path / "new" / f"{name}.safetensors"), stored(name)[0])


def test_without_the_package_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    said = (
        r"the witness needs transformers: pip install '\.\[transformers\]' in the project's folder"
    )
    with pytest.raises(ImportError, match=said):
        witness.write(tmp_path / "new")
    assert not (tmp_path / "new").exists()
