"""B, Ts, Tt = 3, 7, 5; vocabularies 17 and 19; width 12 in 3 heads, 20 hidden, 2 layers."""

import hashlib
from itertools import combinations

import pytest
import torch
import twins
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.positions import POSITIONS, PositionKind, RelativePositions
from transformer_lib.transformer import PRESETS, Transformer, TransformerConfig, make_model

B, TS, TT, S, V = 3, 7, 5, 17, 19
SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_len": 30}
NORM = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
MODE = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])


def build(dtype=torch.float64, **options):
    return Transformer(TransformerConfig(S, V, **{**SIZES, "dropout": 0.0, **options})).to(dtype)


def sentences():
    src, tgt = torch.randint(3, S, (B, TS)), torch.randint(3, V, (B, TT))
    for row, (s, t) in enumerate(((7, 5), (4, 2), (1, 3))):
        src[row, s:], tgt[row, t:] = 0, 0
    return src, tgt, padding_mask(src, 0), padding_mask(tgt, 0)


@NORM
@MODE
def test_equals_torchs_transformer_in_logits_and_gradients(norm_first, training):
    ours = build(norm_first=norm_first).train(training)
    twin = twins.transformer(ours).train(training)
    src, tgt, src_mask, tgt_mask = sentences()
    inputs = [
        side.positions(side.embedding(ids)).detach()
        for side, ids in ((ours.encoder, src), (ours.decoder, tgt))
    ]
    theirs = twin(
        *inputs,
        tgt_mask=~causal_mask(TT),
        src_key_padding_mask=~src_mask[:, 0, 0],
        tgt_key_padding_mask=~tgt_mask[:, 0, 0],
        memory_key_padding_mask=~src_mask[:, 0, 0],
    )
    logits = ours(src, tgt, src_mask, tgt_mask)
    real = tgt_mask[:, 0, 0]
    assert_close(logits[real], ours.generator(theirs)[real], atol=1e-10, rtol=0)

    direction = torch.randn_like(logits[real])
    (logits[real] * direction).sum().backward()
    (ours.generator(theirs)[real] * direction).sum().backward()
    twins.assert_same_gradients(ours, twin, twins.transformer)


@NORM
def test_teacher_forced_logits_are_the_same_in_train_and_eval(norm_first):
    model, (src, tgt, src_mask, _) = build(norm_first=norm_first), sentences()
    assert_close(
        model.train()(src, tgt, src_mask), model.eval()(src, tgt, src_mask), atol=1e-12, rtol=0
    )


@MODE
def test_no_later_target_token_reaches_an_earlier_logit(training):
    model, (src, tgt, src_mask, _) = build().train(training), sentences()
    before = model(src, tgt, src_mask)
    changed = tgt.clone()
    changed[:, 3:] = (changed[:, 3:] + 1) % V
    after = model(src, changed, src_mask)
    assert_close(before[:, :3], after[:, :3], atol=1e-12, rtol=0)
    assert (before[:, 3:] - after[:, 3:]).abs().amax() > 1e-3


@MODE
def test_no_later_target_embedding_gets_a_gradient_from_an_earlier_logit(training):
    model = build().train(training)
    src, tgt = torch.randint(3, S, (1, TS)), torch.tensor([[5, 6, 7, 8, 9]])
    model(src, tgt)[:, 2].square().sum().backward()
    reached = model.decoder.embedding.weight.grad.ne(0).any(dim=1).nonzero().flatten().tolist()
    assert reached == [5, 6, 7]


def test_padding_and_the_other_rows_of_a_batch_are_invisible():
    model, (src, tgt, src_mask, tgt_mask) = build().eval(), sentences()
    together = model(src, tgt, src_mask, tgt_mask)
    for row in range(B):
        s, t = src[row : row + 1, : src_mask[row].sum()], tgt[row : row + 1, : tgt_mask[row].sum()]
        assert_close(model(s, t), together[row : row + 1, : t.size(1)], atol=1e-12, rtol=0)
    garbage_src, garbage_tgt = src.clone(), tgt.clone()
    garbage_src[~src_mask[:, 0, 0]], garbage_tgt[~tgt_mask[:, 0, 0]] = 9, 11
    real = tgt_mask[:, 0, 0]
    assert_close(
        model(garbage_src, garbage_tgt, src_mask, tgt_mask)[real],
        together[real],
        atol=1e-12,
        rtol=0,
    )
    order = torch.tensor([2, 0, 1])
    assert_close(
        model(src[order], tgt[order], src_mask[order]),
        model(src, tgt, src_mask)[order],
        atol=1e-12,
        rtol=0,
    )


@NORM
@pytest.mark.parametrize("positions", POSITIONS)
def test_cached_steps_equal_the_full_pass_at_every_step(norm_first, positions):
    model, (src, tgt, src_mask, _) = (
        build(norm_first=norm_first, positions=positions).eval(),
        sentences(),
    )
    whole = model(src, tgt, src_mask)
    state = model.start(src, src_mask)
    states = [state]
    for t in range(TT):
        logits, state = model.step(tgt[:, t], state)
        assert_close(logits, whole[:, t], atol=1e-10, rtol=0)
        states.append(state)
    again, _ = model.step(tgt[:, 2], states[2])  # a state is a value: an old one still works
    assert_close(again, whole[:, 2], atol=1e-10, rtol=0)


def target_masks():
    """Those of a target of TT positions, by kind; the last hides everything from some queries."""
    any_of = torch.rand(B, SIZES["num_heads"], TT, TT) > 0.4
    any_of[1, :, 2] = False
    return {
        "none": None,
        "padding": padding_mask(sentences()[1], 0),
        "padding of three axes": padding_mask(sentences()[1], 0)[1],
        "window": torch.ones(TT, TT, dtype=torch.bool).triu(-2),
        "keys alone": torch.arange(TT) != 1,
        "arbitrary": any_of,
        "one row for all": any_of[:, :1, :1],
    }


@pytest.mark.parametrize("kind", target_masks())
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi"])
def test_each_step_obeys_its_row_of_the_target_mask(kind, positions):
    model, (src, tgt, src_mask, _) = build(positions=positions).eval(), sentences()
    mask = target_masks()[kind]
    whole = model(src, tgt, src_mask, mask)
    state = model.start(src, src_mask, mask)
    for t in range(TT):
        logits, state = model.step(tgt[:, t], state)
        assert_close(logits, whole[:, t], atol=1e-10, rtol=0)
    if kind != "none":
        assert (whole - model(src, tgt, src_mask)).abs().max() > 1e-3, "the mask changed nothing"


@pytest.mark.parametrize("kind", target_masks())
@pytest.mark.parametrize("positions", POSITIONS)
def test_several_steps_in_one_pass_are_so_many_steps(kind, positions):
    model, (src, tgt, src_mask, _) = build(positions=positions).eval(), sentences()
    mask = target_masks()[kind]
    whole = model(src, tgt, src_mask, mask)
    state = model.start(src, src_mask, mask)
    for begin, end in ((0, 2), (2, 3), (3, TT)):
        logits, state = model.steps(tgt[:, begin:end], state)
        assert_close(logits, whole[:, begin:end], atol=1e-10, rtol=0)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_state_goes_back_as_if_it_had_never_read_on(positions):
    model, (src, tgt, src_mask, _) = build(positions=positions).eval(), sentences()
    whole, wrong = model(src, tgt, src_mask), tgt.flip(1)
    _, once = model.steps(tgt[:, :2], model.start(src, src_mask))
    _, state = model.steps(wrong[:, :3], once)
    assert state.position == 5
    back = state.back(3)
    assert_close((back.position, back.past), (once.position, once.past), atol=1e-12, rtol=0)
    logits, _ = model.steps(tgt[:, 2:], back)
    assert_close(logits, whole[:, 2:], atol=1e-10, rtol=0)
    assert state.position == 5, "the state itself is as it was"
    with pytest.raises(ValueError, match="6 tokens back, but the state has read 5"):
        state.back(6)


def test_steps_in_one_pass_read_the_memory_of_several_beams():
    model, (src, tgt, src_mask, _) = build().eval(), sentences()
    rows = torch.arange(B).repeat_interleave(2)
    state = model.start(src, src_mask).select(rows)
    logits, _ = model.steps(tgt[rows, :3], state)
    assert_close(logits, model(src, tgt, src_mask)[rows, :3], atol=1e-10, rtol=0)


def test_a_state_of_chosen_rows_keeps_their_target_masks():
    model, (src, tgt, src_mask, _) = build().eval(), sentences()
    mask, rows = target_masks()["arbitrary"], torch.tensor([2, 2, 0, 0])
    _, state = model.step(tgt[:, 0], model.start(src, src_mask, mask))
    logits, _ = model.step(tgt[rows, 1], state.select(rows))
    assert_close(logits, model(src, tgt, src_mask, mask)[rows, 1], atol=1e-10, rtol=0)


def test_a_step_behind_the_last_row_of_its_mask_is_refused_with_both_numbers():
    model, (src, tgt, src_mask, _) = build().eval(), sentences()
    state = model.start(src, src_mask, torch.ones(2, 2, dtype=torch.bool))
    for t in range(2):
        _, state = model.step(tgt[:, t], state)
    with pytest.raises(ValueError, match="position 2, but the target's mask has 2 queries"):
        model.step(tgt[:, 2], state)


# Of state dicts drawn before initialisation went by the kind of a module: a hash of what comes
# from `uniform_`, and a sum of what comes from `normal_`, the last bits of which hang on the kernel.
DRAWN = [
    ("tiny", 0, {}, "5fa1e94bfd13349f", -9.3086),
    ("tiny", 1, {"tie_weights": "target"}, "91c8adf7703db364", 12.3039),
    ("tiny", 2, {"positions": "learned"}, "f21a56e46e022421", -21.0404),
    ("small", 0, {}, "103ee3e474a9442a", -5.779),
    ("small", 5, {"positions": "rotary", "tie_weights": "all"}, "de7c7f10342e7780", -16.3223),
    ("base", 0, {"num_layers": 1}, "c944b97ffb9a1883", -19.417),
    ("big", 3, {"num_layers": 1, "positions": "alibi"}, "35ace9f18c2f0ddb", 12.6357),
]


@pytest.mark.parametrize(("preset", "seed", "options", "uniform", "normal"), DRAWN)
def test_a_preset_and_a_seed_draw_the_weights_that_lessons_were_stored_with(
    preset, seed, options, uniform, normal
):
    torch.manual_seed(seed)
    model, found, total = make_model(31, 31, preset, **options), hashlib.sha256(), 0.0
    tied = model.generator.weight is model.decoder.embedding.weight
    for name, p in model.state_dict().items():
        if "embedding" in name or "table" in name or (tied and name == "generator.weight"):
            weights = torch.linspace(1, 2, p.numel(), dtype=torch.float64)
            total += (p.double().flatten() * weights).sum().item()
        else:
            found.update(name.encode() + p.numpy().tobytes())
    assert total == pytest.approx(normal, abs=1e-3)
    if torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512"):  # the baseline rounds apart
        assert found.hexdigest()[:16] == uniform


def test_a_bias_of_any_name_keeps_the_start_that_its_module_gave_it(monkeypatch):
    class Buckets(RelativePositions):
        def __init__(self):
            super().__init__()
            self.buckets = torch.nn.Parameter(torch.zeros(3, 5))

    kind = PositionKind(relative=lambda d_model, num_heads, max_len: Buckets())
    monkeypatch.setitem(POSITIONS, "buckets", kind)
    model = build(positions="buckets")
    assert not model.encoder.layers[0].self_attn.relative.buckets.any()


def test_an_order_blind_encoder_permutes_with_its_input_and_no_other_does():
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    src = torch.randint(3, S, (B, TS))
    for positions in POSITIONS:
        encoder = build(positions=positions).eval().encoder
        moved = (encoder(src[:, order]) - encoder(src)[:, order]).abs().max()
        assert (moved < 1e-12) == (positions == "none"), positions


@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_relative_positions_know_distances_and_nothing_else_of_where(positions):
    """A layer that hears ten more tokens before the sentence, all of them masked, answers as before;
    moving a token within the sentence does change the answer.
    """
    layer = build(positions=positions).eval().encoder.layers[0]
    x = torch.randn(1, TS, 12, dtype=torch.float64)
    later = torch.cat([torch.randn(1, 10, 12, dtype=torch.float64), x], dim=1)
    mask = torch.arange(10 + TS) >= 10
    assert_close(layer(later, mask)[:, 10:], layer(x), atol=1e-5, rtol=0)  # a float32 table
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    assert (layer(x[:, order]) - layer(x)[:, order]).abs().max() > 1e-3


@pytest.mark.parametrize("positions", POSITIONS)
def test_positions_act_in_self_attention_alone_and_learned_ones_alone_are_stored(positions):
    model = build(positions=positions)
    for layer in model.decoder.layers:
        assert layer.cross_attn.relative is None
        assert (layer.self_attn.relative is None) == (positions not in ("rotary", "alibi"))
    learned = ["decoder.positions.table", "encoder.positions.table"]
    more = set(model.state_dict()) - set(build(positions="none").state_dict())
    assert sorted(more) == (learned if positions == "learned" else [])


def test_a_new_kind_of_position_is_a_line_of_the_table(monkeypatch):
    class OneBefore(RelativePositions):
        def bias(self, q, k_len):
            query, key = torch.arange(k_len - q.size(2), k_len)[:, None], torch.arange(k_len)
            return (20.0 * (key == query - 1)).expand(1, q.size(1), -1, -1).to(q.dtype)

    kind = PositionKind(relative=lambda d_model, num_heads, max_len: OneBefore())
    monkeypatch.setitem(POSITIONS, "one before", kind)
    model, (src, tgt, _, _) = build(positions="one before").eval(), sentences()
    state = model.start(src)
    with record_attention(model) as maps:
        whole = model(src, tgt)
    before = maps["decoder.layers.1.self_attn"][0].diagonal(-1, dim1=-2, dim2=-1)
    assert_close(before, torch.ones_like(before), atol=1e-3, rtol=0)
    for t in range(TT):
        logits, state = model.step(tgt[:, t], state)
        assert_close(logits, whole[:, t], atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    ("chosen", "memories"),
    [
        ([[2, 0, 2, 1]], 4),  # each by itself
        ([[0, 0, 1, 1, 2, 2]], 3),  # beams
        ([[2, 2, 0, 0]], 2),  # beams of sentences in another order
        ([[0, 0, 0, 1]], 4),  # not as many beams each
        (
            [[0, 0, 0, 1, 1, 1, 2, 2, 2], [2, 0, 0, 4, 3, 5, 8, 7, 6]],
            3,
        ),  # reordered among themselves
        ([[0, 0, 1, 1, 2, 2], [1, 0, 5, 5]], 2),  # a sentence is done
        ([[0, 0, 1, 1, 2, 2], [0, 2, 1, 3]], 4),  # beams apart
    ],
)
def test_a_state_of_chosen_rows_goes_on_like_a_batch_of_those_rows(chosen, memories):
    model, (src, tgt, src_mask, _) = build().eval(), sentences()
    before, (_, state) = torch.arange(B), model.step(tgt[:, 0], model.start(src, src_mask))
    for rows in map(torch.tensor, chosen):
        before, state = before[rows], state.select(rows)
    assert [len(k) for k, _ in state.memory] == [memories] * 2
    logits, after = model.step(tgt[before, 1], state)
    assert_close(logits, model(src, tgt, src_mask)[before, 1], atol=1e-10, rtol=0)
    assert_close(model.step(tgt[before, 2], after)[0], model(src, tgt, src_mask)[before, 2])


def test_logits_of_chosen_positions_only():
    model, (src, tgt, src_mask, tgt_mask) = build().eval(), sentences()
    real = tgt_mask[:, 0, 0]
    assert_close(model(src, tgt, src_mask, only=real), model(src, tgt, src_mask)[real])


def test_every_decoder_layer_reads_the_output_of_the_last_encoder_layer():
    model, (src, tgt, src_mask, _) = build(norm_first=True).eval(), sentences()
    seen = []
    for layer in model.decoder.layers:
        layer.cross_attn.register_forward_pre_hook(lambda _, args: seen.append(args[1]))
    model(src, tgt, src_mask)
    assert len(seen) == 2
    for memory in seen:
        assert_close(memory, model.encoder(src, src_mask))


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_sentence_of_nothing_but_padding_harms_nobody(heard, dtype, device):
    model, (src, tgt, _, _) = build(dtype).to(device), sentences()
    src[1] = 0
    src, tgt = src.to(device), tgt.to(device)
    with record_attention(model) if heard else torch.enable_grad():
        logits = model(src, tgt, padding_mask(src, 0), padding_mask(tgt, 0))
    logits.float().square().mean().backward()
    assert logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters())


def test_without_dropout_training_is_deterministic_and_every_parameter_learns():
    model, (src, tgt, src_mask, _) = make_model(S, V, dropout=0).train(), sentences()
    first = model(src, tgt, src_mask)
    assert torch.equal(first, model(src, tgt, src_mask))
    first.square().sum().backward()
    idle = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    # a key bias adds the same to every score of a row: softmax does not see it, up to rounding
    assert [name for name in idle if "k_proj.bias" not in name] == []


@pytest.mark.parametrize("where", ["dropout", "attention_dropout", "cross_attention_dropout"])
def test_each_dropout_acts_in_training_and_only_there(where):
    model, (src, tgt, src_mask, _) = build(**{where: 0.5}), sentences()
    model.train()
    assert not torch.equal(model(src, tgt, src_mask), model(src, tgt, src_mask))
    model.eval()
    assert torch.equal(model(src, tgt, src_mask), model(src, tgt, src_mask))


def test_cross_attention_may_have_a_dropout_of_its_own():
    def of_decoder(**options):
        return {
            (layer.self_attn.dropout, layer.cross_attn.dropout)
            for layer in build(**options).decoder.layers
        }

    assert of_decoder(attention_dropout=0.2) == {(0.2, 0.2)}
    assert of_decoder(attention_dropout=0.2, cross_attention_dropout=0.0) == {(0.2, 0.0)}
    model, (src, _, src_mask, _) = build(cross_attention_dropout=0.5).train(), sentences()
    assert torch.equal(model.encoder(src, src_mask), model.encoder(src, src_mask))


def test_no_two_layers_start_equal():
    """Neither matrices nor biases; only the norms all start as 1 and 0."""
    model = make_model(S, V, "small")
    for stack in (model.encoder.layers, model.decoder.layers):
        layers = [dict(layer.named_parameters()) for layer in stack]
        learned = [name for name in layers[0] if ".norm." not in name]
        assert any(name.endswith(".bias") for name in learned)
        for one, other in combinations(layers, 2):
            for name in learned:
                assert not torch.equal(one[name], other[name]), name


@pytest.mark.parametrize(("tie", "matrices"), [("none", 3), ("target", 2), ("all", 1)])
def test_tied_matrices_are_one_and_the_same(tie, matrices):
    model = Transformer(TransformerConfig(V, V, **SIZES, tie_weights=tie))
    assert (
        len(
            {
                id(m.weight)
                for m in (model.encoder.embedding, model.decoder.embedding, model.generator)
            }
        )
        == matrices
    )


def test_tying_different_vocabularies_is_refused_with_both_sizes():
    with pytest.raises(ValueError, match="17.*19"):
        make_model(S, V, tie_weights="all")


def test_embeddings_enter_with_size_one_a_component():
    model = make_model(1000, 1000, "small")
    assert model.encoder.embedding(torch.arange(1000)[None]).std().item() == pytest.approx(
        1, abs=0.02
    )


def test_the_base_model_has_the_parameters_that_arithmetic_gives():
    def count(**options):
        with torch.device("meta"):
            model = make_model(37000, 37000, "base", **options)
        embeddings = {
            id(m.weight): m.weight.numel()
            for m in (model.encoder.embedding, model.decoder.embedding, model.generator)
        }
        total = sum(p.numel() for p in model.parameters())
        return total, total - sum(embeddings.values())

    assert count()[1] == 44_138_496
    assert count(norm_first=True)[1] == 44_140_544
    assert count(tie_weights="all")[0] == 44_138_496 + 37000 * 512


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_the_sizes_of_the_design(preset):
    expected = {
        "tiny": (2, 128, 4, 512),
        "small": (3, 256, 8, 1024),
        "base": (6, 512, 8, 2048),
        "big": (6, 1024, 16, 4096),
    }
    with torch.device("meta"):
        config = make_model(S, V, preset).config
    assert (config.num_layers, config.d_model, config.num_heads, config.d_ff) == expected[preset]
    assert config.norm_first == (preset in ("tiny", "small"))


def test_wrong_names_and_sizes_are_refused_in_words():
    with pytest.raises(ValueError, match=r"preset='huge' .* tiny, small, base, big"):
        make_model(S, V, "huge")
    with pytest.raises(
        ValueError, match="positions='spiral' is none of sinusoidal, .* alibi, none"
    ):
        make_model(S, V, positions="spiral")
    with pytest.raises(ValueError, match="31 positions .* max_len=30"):
        build()(torch.zeros(1, 31, dtype=torch.long), torch.zeros(1, 2, dtype=torch.long))


def test_a_token_moves_as_a_plain_module_does(device):
    model, (src, tgt, src_mask, _) = build(torch.float32).to(device), sentences()
    assert model(src.to(device), tgt.to(device), src_mask.to(device)).device.type == device.type
