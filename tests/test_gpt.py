"""B, T = 3, 7; width 24 in 4 heads of 6, 2 of keys and values, 20 hidden; 17 words."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention, record_attention
from transformer_lib.decoding import beam_search, greedy, sample, speculate, with_steps
from transformer_lib.gpt import GPT, Block, GroupedAttention, SwiGLU
from transformer_lib.masks import padding_mask
from transformer_lib.positions import RelativePositions, RotaryHalves, RotaryPositions

B, T, C, H, G, D, D_FF, V = 3, 7, 24, 4, 2, 6, 20, 17
QK_NORM = pytest.mark.parametrize("qk_norm", [False, True], ids=["plain", "qk-norm"])


@pytest.fixture(autouse=True)
def _double():
    """Every part is built in double precision, and so are the tables of positions."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def grouped(num_kv_heads=G, positions=None, **options):
    return GroupedAttention(C, H, num_kv_heads, positions or RotaryPositions(D, 30), **options)


def block(positions=None, **options):
    made = Block(C, H, G, D_FF, positions or RotaryPositions(D, 30), **options)
    for name, parameter in made.named_parameters():
        if "norm" in name:
            nn.init.uniform_(parameter, 0.5, 1.5)
    return made


def build(num_layers=2, vocab_size=V, std=0.2, **options):
    model = GPT(vocab_size, C, [block(RotaryHalves(D, 30), **options) for _ in range(num_layers)])
    nn.init.normal_(model.embedding.weight, std=std)
    return model.eval()


def close(ours, theirs):
    assert_close(ours, theirs, atol=1e-11, rtol=0)


# Attention


@pytest.mark.parametrize("num_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("heard", [False, True])
def test_grouped_attention_is_multi_head_attention_whose_keys_and_values_are_repeated(
    num_kv_heads, padded, heard
):
    """That one is held against torch in test_attention.py and test_positions.py."""
    ours, twin = grouped(num_kv_heads), MultiHeadAttention(C, H, bias=False)
    twin.relative = ours.positions
    with torch.no_grad():
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            weight = getattr(ours, name).weight
            if name in ("k_proj", "v_proj"):  # a head of keys stands for H/G heads of queries
                of_heads = weight.unflatten(0, (num_kv_heads, D))
                weight = of_heads.repeat_interleave(H // num_kv_heads, dim=0).flatten(0, 1)
            getattr(twin, name).weight.copy_(weight)
    x = torch.randn(B, T, C)
    mask = padding_mask(torch.tensor([[1] * 7, [0] * 2 + [1] * 5, [1] * 4 + [0] * 3]), 0)
    mask = mask if padded else None
    with record_attention(ours if heard else nn.Module()):
        close(ours(x, mask), twin(x, x, x, mask, is_causal=True))


@QK_NORM
def test_the_weights_that_are_heard_rebuild_the_output(qk_norm):
    layer, x = grouped(qk_norm=qk_norm), torch.randn(B, T, C)
    with record_attention(layer) as maps:
        out = layer(x)
    (weights,) = maps[""]
    assert weights.shape == (B, H, T, T)
    close(weights.sum(dim=-1), torch.ones(B, H, T))
    assert weights.triu(1).eq(0).all()
    values = layer.v_proj(x).unflatten(-1, (G, D))
    heads = [weights[:, h] @ values[:, :, h // 2] for h in range(H)]
    close(torch.cat(heads, dim=-1) @ layer.out_proj.weight.T, out)
    close(layer(x), out)


@pytest.mark.parametrize("factor", [0.01, 3.0, 1000.0])
def test_with_norms_the_size_of_queries_and_keys_changes_nothing(factor):
    x = torch.randn(B, T, C)
    for qk_norm in (True, False):
        layer = grouped(qk_norm=qk_norm)
        before = layer(x)
        with torch.no_grad():
            layer.q_proj.weight *= factor
            layer.k_proj.weight *= 2 * factor
        change = (layer(x) - before).abs().max()
        assert change < 1e-9 if qk_norm else change > 1e-3


def test_with_norms_no_score_is_larger_than_the_root_of_d_head():
    """Of a token and its opposite the scores are √d and -√d: the bound is reached."""
    layer = GroupedAttention(C, 1, 1, RelativePositions(), d_head=D, qk_norm=True)
    with torch.no_grad():
        layer.k_proj.weight.copy_(layer.q_proj.weight)
    token = torch.randn(1, 1, C)
    with record_attention(layer) as maps:
        layer(torch.cat([-token, token], dim=1))
    of_opposite, of_itself = maps[""][0][0, 0, 1]
    assert (of_itself / of_opposite).log().item() == pytest.approx(2 * math.sqrt(D))

    x = torch.randn(B, T, C)
    spans = {}
    for qk_norm in (True, False):
        layer = grouped(qk_norm=qk_norm)
        nn.init.normal_(layer.q_proj.weight, std=5)
        nn.init.normal_(layer.k_proj.weight, std=5)
        with record_attention(layer) as maps:
            layer(x)
        last = maps[""][0][:, :, -1].clamp(min=1e-300).log()  # scores, but for a constant
        spans[qk_norm] = (last.amax(dim=-1) - last.amin(dim=-1)).max().item()
    assert spans[True] <= 2 * math.sqrt(D) < 10 * math.sqrt(D) < spans[False]


@pytest.mark.parametrize(
    ("sizes", "options", "said"),
    [
        ((24, 5, 5), {}, "d_model=24 is not divisible by num_heads=5"),
        ((24, 4, 3), {}, "num_heads=4 is not divisible by num_kv_heads=3"),
        ((24, 4, 8), {}, "num_heads=4 is not divisible by num_kv_heads=8"),
        ((24, 4, 0), {}, "num_heads=4 is not divisible by num_kv_heads=0"),
        ((24, 5, 2), {"d_head": 6}, "num_heads=5 is not divisible by num_kv_heads=2"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_with_both_numbers(sizes, options, said):
    with pytest.raises(ValueError, match=said):
        GroupedAttention(*sizes, RotaryPositions(D, 30), **options)


def test_positions_of_another_width_or_length_are_refused_with_both_numbers():
    x = torch.randn(B, T, C)
    with pytest.raises(ValueError, match="input of width 6 for d_head=8"):
        grouped(positions=RotaryPositions(8, 30))(x)
    with pytest.raises(ValueError, match=r"7 positions .* max_len=5"):
        grouped(positions=RotaryPositions(D, 5))(x)


# The gated network, and the block


def test_a_gated_network_of_two_hidden_numbers_multiplies():
    """swish(a) b + swish(-a) (-b) = a b, since σ(a) + σ(-a) = 1."""
    network = SwiGLU(2, 2)
    with torch.no_grad():
        network.gate_proj.weight.copy_(torch.tensor([[1.0, 0], [-1, 0]]))
        network.up_proj.weight.copy_(torch.tensor([[0.0, 1], [0, -1]]))
        network.down_proj.weight.copy_(torch.tensor([[1.0, 1], [0, 0]]))
    numbers = torch.tensor([[3.0, 7], [5, -2], [0.5, 0.5], [-30, 40]])
    close(network(numbers), torch.tensor([[21.0, 0], [-10, 0], [0.25, 0], [-1200, 0]]))


def test_a_gated_network_is_its_formula_at_each_position_alone():
    network, x = SwiGLU(C, D_FF), torch.randn(B, T, C)
    gate, up, down = (getattr(network, f"{name}_proj").weight for name in ("gate", "up", "down"))
    a = x @ gate.T
    close(network(x), (a / (1 + torch.exp(-a)) * (x @ up.T)) @ down.T)
    close(network(x[1, 4]), network(x)[1, 4])


@QK_NORM
@pytest.mark.parametrize("d_head", [None, 10])
def test_a_block_adds_what_its_sublayers_make_of_normalised_tokens(qk_norm, d_head):
    layer = block(RotaryPositions(d_head or D, 30), qk_norm=qk_norm, d_head=d_head)
    x = torch.randn(B, T, C) + 1  # a mean that LayerNorm would take off

    def normed(y, norm):
        return norm.weight * y / y.square().mean(dim=-1, keepdim=True).sqrt()

    middle = x + layer.attention(normed(x, layer.norm1))
    close(layer(x), middle + layer.feed_forward(normed(middle, layer.norm2)))


def test_every_norm_adds_the_epsilon_that_is_asked_for():
    block = Block(C, 4, 2, 9, RelativePositions(), qk_norm=True, norm_eps=0.25)
    model = GPT(11, C, [block], norm_eps=0.25)
    norms = [part for part in model.modules() if isinstance(part, nn.RMSNorm)]
    assert len(norms) == 5
    for norm in norms:
        x = torch.randn(3, norm.weight.numel(), dtype=norm.weight.dtype)
        assert_close(norm(x), x / (x.square().mean(dim=-1, keepdim=True) + 0.25).sqrt())


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_nothing_comes_from_the_future(training):
    layer, x = block().train(training), torch.randn(B, T, C, requires_grad=True)
    changed = x.detach().clone()
    changed[:, 4:] += 1
    moved = (layer(changed) - layer(x)).abs().amax(dim=-1)
    assert moved[:, :4].max() == 0
    assert moved[:, 4:].min() > 1e-3
    layer(x)[1, 3].sum().backward()
    reached = x.grad.ne(0).any(dim=-1)
    assert reached.tolist() == [[False] * T, [True] * 4 + [False] * 3, [False] * T]


def test_the_rows_of_a_batch_do_not_meet():
    layer, x, order = block(), torch.randn(B, T, C), torch.tensor([2, 0, 1])
    close(layer(x[order]), layer(x)[order])
    close(layer(x[1:2]), layer(x)[1:2])


@pytest.mark.parametrize("kind", [RotaryPositions, RotaryHalves])
def test_to_stand_further_on_changes_nothing_and_to_stand_in_another_order_does(kind):
    class Later(kind):
        def turn(self, x, offset=0):
            return super().turn(x, offset + 11)

    layer, x = block(kind(D, 30)), torch.randn(B, T, C)
    before = layer(x)
    layer.attention.positions = Later(D, 30)
    close(layer(x), before)
    order = torch.tensor([1, 0, 2, 3, 4, 5, 6])
    assert (layer(x[:, order]) - before)[:, 2:].abs().amax(dim=-1).min() > 1e-5


@QK_NORM
def test_a_block_steps_as_it_reads_at_once(qk_norm):
    layer, x = block(qk_norm=qk_norm), torch.randn(B, T, C)
    whole, past = layer(x), None
    for begin, end in ((0, 1), (1, 4), (4, 5), (5, 7)):
        before = past
        out, past = layer.step(x[:, begin:end], past)
        close(out, whole[:, begin:end])
        assert [tuple(t.shape) for t in past] == [(B, G, end, D)] * 2, "the cache has G heads"
        assert before is None or before[0].size(-2) == begin, "a state given away has grown"


# The model


PROMPT = pytest.mark.parametrize("length", [0, 1, 4])


def behind(prompt, tgt_in):
    """<bos>, the prompt, and what is written behind it."""
    return torch.cat([tgt_in[:, :1], prompt, tgt_in[:, 1:]], dim=1)


class Again(nn.Module):
    """The model without its memory: it reads <bos>, prompt and all that is written each time."""

    def __init__(self, gpt):
        super().__init__()
        self.gpt = gpt

    def forward(self, prompt, tgt_in, mask=None):
        return self.gpt(behind(prompt, tgt_in))[:, prompt.size(1) :]


@QK_NORM
@PROMPT
def test_steps_with_a_cache_equal_the_full_pass(length, qk_norm):
    model, prompt = build(qk_norm=qk_norm), torch.randint(3, V, (B, length))
    ids = torch.randint(3, V, (B, T)).index_fill(1, torch.tensor(0), 1)
    whole = Again(model)(prompt, ids)
    states = [model.start(prompt)]
    for t in range(T):
        logits, state = model.step(ids[:, t], states[-1])
        close(logits, whole[:, t])
        assert state.position == length + t + 1
        states.append(state)
    for old in (0, 3):  # a state is a value: an old one still works
        close(model.step(ids[:, old], states[old])[0], whole[:, old])


@PROMPT
def test_several_steps_in_one_pass_are_so_many_steps(length):
    model, prompt = build(), torch.randint(3, V, (B, length))
    ids = torch.randint(3, V, (B, T)).index_fill(1, torch.tensor(0), 1)
    whole, state = Again(model)(prompt, ids), model.start(prompt)
    for begin, end in ((0, 3), (3, 4), (4, T)):
        logits, state = model.steps(ids[:, begin:end], state)
        close(logits, whole[:, begin:end])


@PROMPT
def test_a_state_goes_back_and_is_taken_apart(length):
    model, prompt = build(), torch.randint(3, V, (B, length))
    ids = torch.randint(3, V, (B, T)).index_fill(1, torch.tensor(0), 1)
    whole = Again(model)(prompt, ids)
    _, state = model.steps(torch.cat([ids[:, :3], ids.flip(1)[:, :3]], dim=1), model.start(prompt))
    logits, _ = model.steps(ids[:, 3:], state.back(3))
    close(logits, whole[:, 3:])
    rows = torch.tensor([2, 2, 0, 1])
    logits, _ = model.steps(ids[rows, 3:], state.select(rows).back(3))
    close(logits, whole[rows, 3:])
    logits, _ = model.steps(ids[rows], model.start(prompt).select(rows))
    close(logits, whole[rows])
    said = f"{length + 7} tokens back, but the state has read {length + 6}"
    with pytest.raises(ValueError, match=said):
        state.back(length + 7)


@PROMPT
def test_greedy_writes_the_best_word_of_the_full_pass(length):
    model, prompt = build(), torch.randint(3, V, (12, length))
    written, ids = greedy(model, prompt, max_len=9), torch.ones(12, 1, dtype=torch.long)
    for t in range(written.size(1)):
        logits = model(behind(prompt, ids))[:, -1]
        logits[:, :2] = -math.inf  # <pad> and <bos>
        best = logits.argmax(dim=-1)
        going = ids[:, 1:].ne(2).all(dim=1)
        assert torch.equal(written[going, t], best[going])
        assert written[~going, t].eq(0).all()
        ids = torch.cat([ids, best[:, None]], dim=1)
    if length:
        assert 0 < written.eq(2).any(dim=1).sum() < 12, "some sentences end and some are cut"


@PROMPT
def test_every_way_of_writing_writes_what_the_recomputed_way_writes(length):
    model, prompt = build(), torch.randint(3, V, (6, length))
    again, ends = with_steps(Again(model).eval()), set()
    for seed in range(3):
        drawn = [
            sample(one, prompt, max_len=12, generator=torch.Generator().manual_seed(seed))
            for one in (model, again)
        ]
        assert torch.equal(*drawn)
        ends |= set(drawn[0].ne(0).sum(dim=1).tolist())
    assert len(ends) > 2, "all sentences are equally long: no row ever left the batch"
    for size in (1, 3):
        ours, theirs = (
            beam_search(one, prompt, max_len=12, beam_size=size) for one in (model, again)
        )
        assert torch.equal(ours[0], theirs[0])
        assert_close(ours[1], theirs[1], atol=1e-5, rtol=0)
    wanted = greedy(again, prompt, max_len=12)
    for draft in (model, build(num_layers=1)):
        written, guesses = speculate(model, draft, prompt, temperature=0, max_len=12)
        assert torch.equal(written, wanted)
    assert guesses.accepted < guesses.made, "the other draft is right with everything"


def test_prompts_that_are_padded_are_refused():
    model, prompt = build(), torch.tensor([[5, 6, 7], [5, 6, 0]])
    with pytest.raises(ValueError, match="prompts of a batch are padded: .* of one length"):
        greedy(model, prompt, padding_mask(prompt, 0))
    whole = prompt.clamp(min=3)
    unpadded = greedy(model, whole, padding_mask(whole, 0), max_len=9)
    assert torch.equal(unpadded, greedy(model, whole, max_len=9))


def test_padding_is_invisible_behind_and_in_front():
    model, ids = build(), torch.randint(3, V, (B, T))
    padded = torch.cat([ids[:, :4], torch.zeros(B, 3, dtype=torch.long)], dim=1)
    close(model(padded, padding_mask(padded, 0))[:, :4], model(ids[:, :4]))
    padded = padded.roll(3, dims=1)
    close(model(padded, padding_mask(padded, 0))[:, 3:], model(ids[:, :4]))


def test_without_a_mask_a_block_is_asked_for_its_tokens_alone():
    """As a student's is, who has written `forward(x)`."""
    ids = torch.randint(0, V, (B, T))
    model = GPT(V, C, [nn.Linear(C, C), nn.Identity()])
    x = model.blocks[0](model.embedding(ids))
    close(model(ids), F.rms_norm(x, (C,)) @ model.embedding.weight.T)


@QK_NORM
def test_every_parameter_learns_and_the_table_is_one(qk_norm):
    model, ids = build(qk_norm=qk_norm), torch.randint(3, V, (B, T))
    F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:]).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.ne(0).any(), name
    of_vocabulary = [name for name, p in model.state_dict().items() if V in p.shape]
    assert of_vocabulary == ["embedding.weight"]
    assert model.embedding.weight.grad.ne(0).all(), "as an output every word learns"
    with torch.no_grad():
        before = model(ids)
        model.embedding.weight[1] *= 2  # a word that does not stand in the input
        change = model(ids) / before
    close(change, torch.ones(V).index_fill(0, torch.tensor(1), 2.0).expand(B, T, V))


def test_logits_of_a_fresh_model_have_a_size_of_one():
    """Its table has entries of variance 1/d_model and the last norm makes vectors of size √d_model."""
    logits = GPT(500, C, [Block(C, H, G, D_FF, RotaryHalves(D, 30))])(torch.randint(3, 500, (B, T)))
    assert 0.8 < logits.std().item() < 1.25
