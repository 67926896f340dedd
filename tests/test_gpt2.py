"""GPT-2 against what `transformers` computed: 11 words, 7 positions, width 12, 3 heads, 2 layers."""

import math
import re

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.corpus import DATA
from transformer_lib.gpt2 import GPT2, GELUFeedForward, read_gpt2

FILE = DATA / "witness" / "gpt2.safetensors"
SAID = load_file(DATA / "witness" / "gpt2_logits.safetensors")
IDS, LOGITS = SAID["ids"], SAID["logits"]


@pytest.fixture
def written(tmp_path):
    """Writes the file with its tensors changed, and returns its path."""

    def write(change=lambda tensors: None):
        tensors = load_file(FILE)
        tensors = change(tensors) or tensors
        path = tmp_path / "model.safetensors"
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
        return path

    return write


def same(model):
    with torch.no_grad():
        assert_close(model(IDS), LOGITS, atol=1e-5, rtol=1e-5)


def test_it_says_what_transformers_model_says():
    model = read_gpt2(FILE, num_heads=3)
    same(model)
    assert not model.training
    with torch.no_grad():
        assert_close(model(IDS[:, :4]), LOGITS[:, :4], atol=1e-5, rtol=1e-5)  # causal


def test_it_says_what_the_installed_transformers_says(tmp_path):
    """Of other sizes, as the package saves them today: the width of a head is that of the four."""
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 19, "n_positions": 9, "n_embd": 128, "n_head": 2, "n_layer": 3}
    none = {"bos_token_id": None, "eos_token_id": None}
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **none)).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    theirs.save_pretrained(tmp_path)
    ours, ids = read_gpt2(tmp_path / "model.safetensors"), torch.randint(19, (4, 9))
    with torch.no_grad():
        assert_close(ours(ids), theirs(ids).logits, atol=1e-4, rtol=1e-4)


def test_a_prefix_masks_and_a_tied_output_change_nothing(written):
    def as_saved_with_a_head(tensors):
        masked = {f"h.{n}.attn.masked_bias": torch.tensor(-1e4) for n in range(2)}
        named = {f"transformer.{name}": t for name, t in (tensors | masked).items()}
        return {**named, "lm_head.weight": tensors["wte.weight"].clone()}

    def without_masks(tensors):
        return {name: t for name, t in tensors.items() if not name.endswith(".attn.bias")}

    same(read_gpt2(written(as_saved_with_a_head), 3))
    same(read_gpt2(written(without_masks), 3))


@pytest.mark.parametrize("matrix", ["attn.c_proj", "attn.c_attn", "mlp.c_fc", "mlp.c_proj"])
def test_a_matrix_that_is_not_transposed_is_refused_unless_it_is_square(matrix, written):
    """The square one fits either way: only the logits tell."""

    def turned(tensors):
        tensors[f"h.1.{matrix}.weight"] = tensors[f"h.1.{matrix}.weight"].T

    if matrix == "attn.c_proj":
        model = read_gpt2(written(turned), 3)
        with torch.no_grad():
            assert (model(IDS) - LOGITS).abs().max() > 0.05
    else:
        with pytest.raises(ValueError, match=rf"holds h\.1\.{matrix}\.weight of shape .* where"):
            read_gpt2(written(turned), 3)


def test_every_tensor_of_the_file_is_read(written):
    """Each one, changed, changes the logits; but for the bias of keys, which softmax takes off."""
    for name, tensor in load_file(FILE).items():
        if name.endswith(".attn.bias"):
            continue
        direction = torch.randn(tensor.shape)
        if name.endswith("c_attn.bias"):
            direction[12:24] = 0
        with torch.no_grad():
            moved = read_gpt2(written(lambda t, n=name, d=direction: t.update({n: t[n] + d})), 3)
            assert (moved(IDS) - LOGITS).abs().max() > 1e-3, name
    assert sum(p.numel() for p in moved.parameters()) == sum(
        t.numel() for name, t in load_file(FILE).items() if not name.endswith(".attn.bias")
    )


def without(name):
    return lambda tensors: {key: t for key, t in tensors.items() if key != name}


WRONG = [
    (without("wte.weight"), "is no GPT-2: it lacks wte.weight"),
    (without("wpe.weight"), "is no GPT-2: it lacks wpe.weight"),
    (without("h.1.ln_2.bias"), "lacks h.1.ln_2.bias: 1 missing in all"),
    (without("ln_f.weight"), "lacks ln_f.weight: 1 missing in all"),
    (
        lambda t: {n: v for n, v in t.items() if not n.startswith("h.0.")},
        "lacks h.0.attn.c_attn.bias: 12 missing in all",
    ),
    (
        lambda t: t.update({"h.1.crossattention.q_attn.weight": torch.zeros(12, 12)}),
        "holds h.1.crossattention.q_attn.weight, which GPT-2 has not: 1 such in all",
    ),
    (
        lambda t: t.update({"h.0.attn.bias_of_distances": torch.zeros(7)}),
        "holds h.0.attn.bias_of_distances, which GPT-2 has not: 1 such in all",
    ),
    (
        lambda t: t.update({"h.0.mlp.c_fc.bias": torch.zeros(40)}),
        "holds h.0.mlp.c_fc.bias of shape (40,), where GPT-2 has (48,)",
    ),
    (
        lambda t: t.update({"wpe.weight": torch.zeros(7, 10)}),
        "holds wpe.weight of shape (7, 10), where GPT-2 has (7, 12)",
    ),
    (
        lambda t: t.update({"lm_head.weight": t["wte.weight"] + 1}),
        "has an lm_head.weight other than wte.weight",
    ),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_file_of_another_form_is_refused_with_its_name(change, said, written):
    with pytest.raises(ValueError, match=re.escape(f"model.safetensors {said}")):
        read_gpt2(written(change), 3)


def test_heads_that_the_file_does_not_say_are_asked_for(written):
    with pytest.raises(ValueError, match="is 12 wide, which is no multiple of 64: say num_heads="):
        read_gpt2(FILE)
    with pytest.raises(ValueError, match="d_model=12 is not divisible by num_heads=5"):
        read_gpt2(FILE, num_heads=5)


def test_what_is_no_such_file_is_told(tmp_path):
    broken, whole = tmp_path / "model.safetensors", FILE.read_bytes()
    for content in (b"", b"PK\x03\x04 a pickle of torch", whole[:100], whole[:-1]):
        broken.write_bytes(content)
        with pytest.raises(ValueError, match=r"model\.safetensors is no safetensors file, or not"):
            read_gpt2(broken, 3)
    with pytest.raises(ValueError, match="is a folder: name the file in it, model.safetensors"):
        read_gpt2(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing.safetensors"):
        read_gpt2(tmp_path / "missing.safetensors")


def test_the_network_bends_by_the_formula_of_the_paper():
    """Hendrycks & Gimpel 2016: 0.5 a (1 + tanh(√(2/π) (a + 0.044715 a³)))."""
    network = GELUFeedForward(1, 1)
    torch.nn.init.ones_(network.up_proj.weight)
    torch.nn.init.ones_(network.down_proj.weight)
    torch.nn.init.zeros_(network.up_proj.bias)
    torch.nn.init.zeros_(network.down_proj.bias)
    for a in (-2.0, -0.5, 0.0, 1.0, 3.0):
        wanted = 0.5 * a * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
        assert network(torch.tensor([[a]])).item() == pytest.approx(wanted, abs=1e-6)


def test_its_parts_are_those_of_the_lessons(written):
    model = read_gpt2(FILE, 3)
    with record_attention(model) as maps, torch.no_grad():
        model(IDS)
    assert {name: len(heard) for name, heard in maps.items()} == {
        "layers.0.self_attn": 1,
        "layers.1.self_attn": 1,
    }
    assert maps["layers.0.self_attn"][0].shape == (2, 3, 7, 7)
    with pytest.raises(ValueError, match=r"8 positions .* max_len=7"):
        model(torch.zeros(1, 8, dtype=torch.long))


def test_what_was_read_can_be_trained_and_keeps_the_precision_of_the_file(written):
    half = written(lambda tensors: {name: t.bfloat16() for name, t in tensors.items()})
    assert {p.dtype for p in read_gpt2(half, 3).parameters()} == {torch.bfloat16}
    model = read_gpt2(FILE, 3)
    model(IDS).logsumexp(dim=-1).sum().backward()
    assert all(p.grad is not None and p.is_leaf for p in model.parameters())
    assert not any(p.is_meta for p in model.parameters())
    storages = [p.untyped_storage().data_ptr() for p in model.parameters()]
    assert len(set(storages)) == len(storages), "two parameters share memory"
    fresh = GPT2(11, 7, 12, 3, 2)
    fresh.load_state_dict(model.state_dict())
    same(fresh)
