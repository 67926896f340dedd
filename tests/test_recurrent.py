"""The recurrent models against loops written out by hand, torch.nn and d2l."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus import BOS_ID, EOS_ID, SentencePair
from transformer_lib.decoding import beam_search, greedy
from transformer_lib.lab.d2l_bridge import load_d2l
from transformer_lib.masks import length_mask, padding_mask
from transformer_lib.recurrent import BahdanauSeq2Seq, LuongSeq2Seq, PlainSeq2Seq, RecurrentEncoder
from transformer_lib.recurrent_parts import RecurrentConfig
from transformer_lib.schedules import warmup_cosine
from transformer_lib.scoring import (
    AdditiveScore,
    Attention,
    GeneralScore,
    gaussian_prior,
    scaled_dot_score,
)
from transformer_lib.training import fit
from transformer_lib.transformer import TransformerConfig

SIZES = {"d_model": 6, "d_hidden": 10, "dropout": 0.0, "max_len": 40}
MODELS = {
    "plain": (PlainSeq2Seq, {}),
    "plain, two layers": (PlainSeq2Seq, {"num_layers": 2, "bidirectional": False}),
    "bahdanau": (BahdanauSeq2Seq, {}),
    "bahdanau, two layers": (BahdanauSeq2Seq, {"num_layers": 2}),
    "luong dot": (LuongSeq2Seq, {"score": "dot"}),
    "luong general": (LuongSeq2Seq, {"score": "general"}),
    "luong concat": (LuongSeq2Seq, {"score": "concat"}),
    "luong without feeding": (LuongSeq2Seq, {"input_feeding": False}),
    "luong local-m": (LuongSeq2Seq, {"local": "monotonic", "window": 2}),
    "luong local-p": (LuongSeq2Seq, {"local": "predictive", "window": 2}),
}
EVERY = pytest.mark.parametrize("name", MODELS)
ATTENDING = pytest.mark.parametrize("name", [name for name in MODELS if "plain" not in name])


def build(name, **sizes):
    kind, options = MODELS[name]
    return kind(RecurrentConfig(11, 13, **{**SIZES, **options, **sizes})).eval()


def sentences():
    """Sources of 7, 4 and 5 real tokens, and targets of 6."""
    src = torch.randint(4, 11, (3, 7))
    src[1, 4:] = src[2, 5:] = 0
    return src, padding_mask(src, 0), torch.randint(4, 13, (3, 6))


@EVERY
def test_padding_is_invisible(name):
    model, (src, mask, tgt) = build(name).double(), sentences()
    together = model(src, tgt, mask)
    for row, length in enumerate([7, 4, 5]):
        alone = model(src[row : row + 1, :length], tgt[row : row + 1])
        assert_close(alone[0], together[row])


@EVERY
def test_steps_give_the_logits_of_the_whole_pass(name):
    model, (src, mask, tgt) = build(name).double(), sentences()
    whole, state = model(src, tgt, mask), model.start(src, mask)
    for t in range(tgt.size(1)):
        assert state.position == t
        logits, state = model.step(tgt[:, t], state)
        assert_close(logits, whole[:, t])


@EVERY
def test_no_position_sees_a_later_target(name):
    model, (src, mask, tgt) = build(name), sentences()
    changed = tgt.clone()
    changed[:, 3:] = torch.randint(4, 13, (3, 3))
    assert_close(model(src, tgt, mask)[:, :3], model(src, changed, mask)[:, :3])
    assert not torch.allclose(model(src, tgt, mask)[:, 3:], model(src, changed, mask)[:, 3:])


@EVERY
def test_only_the_asked_positions_are_computed(name):
    model, (src, mask, tgt) = build(name), sentences()
    only = torch.rand(3, 6) > 0.5
    assert_close(model(src, tgt, mask, only=only), model(src, tgt, mask)[only])


@EVERY
def test_a_state_can_be_branched_and_is_never_changed(name):
    model, (src, mask, tgt) = build(name), sentences()
    _, state = model.step(tgt[:, 0], model.start(src, mask))
    first, _ = model.step(tgt[:, 1], state)
    rows = torch.tensor([2, 0, 2])
    branched, _ = model.step(tgt[rows, 1], state.select(rows))
    again, _ = model.step(tgt[:, 1], state)
    assert_close(branched, first[rows])
    assert_close(again, first)


@EVERY
def test_greedy_is_a_beam_of_one(name):
    model, (src, mask, _) = build(name), sentences()
    alone = greedy(model, src, mask, max_len=9)
    beam, _ = beam_search(model, src, mask, max_len=9, beam_size=1)
    assert alone.tolist() == beam.tolist()


@ATTENDING
def test_recorded_weights_are_distributions_over_real_words(name):
    model, (src, mask, tgt) = build(name), sentences()
    quiet = model(src, tgt, mask)
    with record_attention(model) as maps:
        heard = model(src, tgt, mask)
    assert_close(heard, quiet)
    weights = torch.cat(maps["decoder.attention"], dim=1)  # (B, Tq, Tk), one record a step
    assert weights.shape == (3, 6, 7)
    assert weights.masked_select(~mask[:, 0].expand(3, 6, 7)).eq(0).all()
    sums = weights.sum(dim=-1)
    if name == "luong local-m":  # behind the end of the source its window is empty
        steps, ends = torch.arange(6), torch.tensor([7, 4, 5])
        within = steps < ends[:, None] + 2
        assert_close(sums, within.float())
    else:
        assert_close(sums, torch.ones(3, 6))


def test_the_encoder_equals_torchs_gru_on_each_sentence_alone():
    encoder = RecurrentEncoder(RecurrentConfig(11, 13, **SIZES, num_layers=2)).double().eval()
    src, mask, _ = sentences()
    states, last = encoder(src, mask)
    for row, length in enumerate([7, 4, 5]):
        theirs, their_last = encoder.gru(encoder.embedding(src[row : row + 1, :length]))
        assert_close(states[row, :length], theirs[0])
        assert states[row, length:].eq(0).all()
        assert_close(last[1, row], torch.cat([their_last[2, 0], their_last[3, 0]]))


def test_without_attention_is_this_loop():
    """The decoder of Cho et al. 2014 one word at a time: every step reads the encoder's last state,
    in the GRU and again where the word is chosen.
    """
    model, (src, _, tgt) = build("plain").double(), sentences()
    src, tgt = src[:1], tgt[:1]
    d, states = model.decoder, model.encoder(src)[0][0]
    half = states.size(1) // 2
    c = s = torch.cat([states[-1, :half], states[0, half:]])  # each direction where it ended
    logits = []
    for word in tgt[0]:
        e = d.embedding.weight[word] * 6**0.5
        s = d.cells[0](torch.cat([e, c])[None], s[None])[0]
        logits.append(model.generator.weight @ torch.tanh(d.readout(torch.cat([s, c, e]))))
    assert_close(model(src, tgt)[0], torch.stack(logits))


def test_bahdanau_is_this_loop():
    """The equations of Bahdanau et al. 2015 one word at a time, with a GRU cell of torch's."""
    model, (src, _, tgt) = build("bahdanau").double(), sentences()
    src, tgt = src[:1], tgt[:1]
    d, states = model.decoder, model.encoder(src)[0][0]
    half = states.size(1) // 2
    s = torch.cat([states[-1, :half], states[0, half:]])  # each direction where it ended
    logits = []
    for word in tgt[0]:
        e = d.embedding.weight[word] * 6**0.5
        score = d.attention.score
        scores = [
            (score.v_proj.weight @ torch.tanh(score.q_proj.weight @ s + score.k_proj.weight @ h))[0]
            for h in states
        ]
        alpha = torch.stack(scores).softmax(0)
        c = sum(a * h for a, h in zip(alpha, states, strict=True))
        s = d.cells[0](torch.cat([e, c])[None], s[None])[0]
        out = torch.tanh(d.readout(torch.cat([s, c, e])))
        logits.append(model.generator.weight @ out)
    assert_close(model(src, tgt)[0], torch.stack(logits))


@pytest.mark.parametrize("feeding", [True, False])
def test_luong_is_this_loop(feeding):
    """Query s_t; h̃ = tanh(W_c [c; s]); input feeding joins h̃ to the next input."""
    model = build("luong general", input_feeding=feeding).double()
    src, _, tgt = sentences()
    src, tgt = src[:1], tgt[:1]
    d, states = model.decoder, model.encoder(src)[0][0]
    half = states.size(1) // 2
    s = torch.cat([states[-1, :half], states[0, half:]])
    fed, logits = torch.zeros_like(s), []
    for word in tgt[0]:
        e = d.embedding.weight[word] * 6**0.5
        s = d.cells[0](torch.cat([e, fed])[None], s[None])[0]
        alpha = torch.stack([s @ d.attention.score.k_proj.weight @ h for h in states]).softmax(0)
        c = sum(a * h for a, h in zip(alpha, states, strict=True))
        combined = torch.tanh(d.combine.weight @ torch.cat([c, s]))
        fed = combined if feeding else fed
        logits.append(model.generator.weight @ d.readout(combined))
    assert_close(model(src, tgt)[0], torch.stack(logits))


def test_local_weights_are_the_papers_renormalised():
    """Luong et al. 2015, eq. 10: align(s) · exp(−(s − p)²/2σ²) inside the window, σ = D/2."""
    model, (src, _, tgt) = build("luong local-p", window=3).double(), sentences()
    d = model.decoder
    with record_attention(model) as maps:
        model(src, tgt[:, :1])
    (weights,) = maps["decoder.attention"]
    state = model.start(src)
    _, after = model.step(tgt[:, 0], state)
    s = after.hidden[-1]
    inner, outer = (linear.weight for linear in (d.locate[0], d.locate[2]))  # eq. 9 has no bias
    p = 6 * torch.sigmoid(
        torch.tanh(s @ inner.T) @ outer[0]
    )  # the last source position is number 6
    align = (s[:, None] @ d.attention.score.k_proj(state.memory).mT)[:, 0].exp()
    distance = torch.arange(7) - p[:, None]
    expected = align * (-(distance**2) / (2 * 1.5**2)).exp() * (distance.abs() <= 3)
    assert_close(weights[:, 0], expected / expected.sum(dim=1, keepdim=True))


def test_the_output_layer_starts_as_the_transformers_does():
    """Embeddings times √d_model have variance 1 (Vaswani et al. 2017, section 3.4)."""
    model = PlainSeq2Seq(RecurrentConfig(11, 900, d_model=64, d_hidden=10, dropout=0.0))
    assert model._embed(torch.arange(900)).std().item() == pytest.approx(1, abs=0.03)
    assert model.generator.bias is None


def test_dropout_falls_on_embeddings_between_layers_and_before_the_output_layer():
    """Where Zaremba et al. 2014 put it, never on what a state hands on to itself."""
    torch.manual_seed(0)
    model = build("bahdanau, two layers", dropout=0.5).train()
    assert model.encoder.gru.dropout == 0.5
    assert RecurrentEncoder(RecurrentConfig(11, 13, dropout=0.5)).gru.dropout == 0
    fell = {"encoder": [], "decoder": []}
    for side in fell:
        getattr(model, side).dropout.register_forward_hook(
            lambda _, given, __, side=side: fell[side].append(tuple(given[0].shape))
        )
    src, mask, tgt = sentences()
    model(src, tgt, mask)
    assert fell["encoder"] == [(3, 7, 6)]
    assert fell["decoder"] == [(3, 6, 6), *[(3, 10)] * 6, (3, 6, 6)]


def test_a_prior_by_hand():
    expected = -torch.tensor([1.0, 0, 1, 4, 9, 16]) / 2  # σ = 1
    assert_close(gaussian_prior(torch.tensor([1.0, 3.5]), 2, 6)[0, 0], expected)


def test_projecting_the_keys_once_changes_nothing():
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 6), torch.randn(2, 5, 7)
    for score in (AdditiveScore(4, 6, 8), GeneralScore(4, 6)):
        attention = Attention(score)
        assert_close(attention.attend(q, attention.project(k), v), attention(q, k, v))
    k = torch.randn(2, 5, 4)
    attention = Attention(scaled_dot_score)
    assert_close(attention.attend(q, attention.project(k), v), attention(q, k, v))


def test_the_keys_are_projected_once_a_sentence():
    model, (src, mask, tgt) = build("bahdanau"), sentences()
    calls = []
    model.decoder.attention.score.k_proj.register_forward_hook(lambda *_: calls.append(1))
    model(src, tgt, mask)
    assert len(calls) == 1


def test_the_context_equals_d2ls_on_copied_weights():
    theirs = load_d2l().AdditiveAttention(key_size=10, query_size=10, num_hiddens=5, dropout=0.0)
    model, (src, mask, _) = build("bahdanau"), sentences()
    ours = model.decoder.attention
    state = model.start(src, mask)
    query = state.hidden[-1][:, None]
    theirs(query, state.memory, state.memory, torch.tensor([7, 4, 5]))
    theirs.W_q.load_state_dict(ours.score.q_proj.state_dict())
    theirs.W_k.load_state_dict(ours.score.k_proj.state_dict())
    theirs.w_v.load_state_dict(ours.score.v_proj.state_dict())
    assert_close(
        ours.attend(
            query, state.keys, state.memory, length_mask(torch.tensor([7, 4, 5]), 7)[:, None]
        ),
        theirs(query, state.memory, state.memory, torch.tensor([7, 4, 5])),
    )


def test_unless_told_otherwise_it_feeds_its_input_and_drops_as_the_transformer_does():
    config = RecurrentConfig(11, 13)
    assert config.input_feeding
    assert config.dropout == TransformerConfig(11, 13).dropout


def test_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="d_hidden=7 is odd"):
        RecurrentConfig(11, 13, d_hidden=7)
    with pytest.raises(ValueError, match="score='cosine' is none of dot, general, concat"):
        RecurrentConfig(11, 13, score="cosine")
    with pytest.raises(ValueError, match="window=0"):
        RecurrentConfig(11, 13, window=0)


def copied(model, length, steps=250):
    """The share of random sequences of `length` digits that the model copies after `steps`."""
    digits = [
        SentencePair(text, text, None)
        for text in (
            " ".join(map(str, row)) for row in torch.randint(4, 12, (2100, length)).tolist()
        )
    ]
    examples = encode_pairs(
        digits, lambda s: list(map(int, s.split())), lambda s: list(map(int, s.split())), 64
    )
    batches = TokenBatches(examples[:2000], max_tokens=64 * (length + 1))
    fit(
        model,
        batches,
        steps=steps,
        learning_rate=lambda step: warmup_cosine(step, peak=1e-2, warmup=40, steps=steps),
    )
    src = torch.tensor([e.src for e in examples[2000:]])
    out = greedy(model.eval(), src, bos_id=BOS_ID, eos_id=EOS_ID, max_len=length + 1)
    return (out[:, : length + 1] == src[:, : out.size(1)]).all(dim=1).float().mean().item()


def fresh(kind, **options):
    torch.manual_seed(0)
    return kind(
        RecurrentConfig(12, 12, d_model=32, d_hidden=32, dropout=0.0, max_len=64, **options)
    )


def test_without_attention_a_long_copy_often_fails():
    assert copied(fresh(PlainSeq2Seq), 8) < 0.75


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (BahdanauSeq2Seq, {}),
        (LuongSeq2Seq, {"score": "dot"}),
        (LuongSeq2Seq, {"score": "general"}),
        (LuongSeq2Seq, {"score": "concat"}),
        (LuongSeq2Seq, {"score": "general", "input_feeding": False}),
        (LuongSeq2Seq, {"local": "monotonic", "window": 3}),
        (LuongSeq2Seq, {"local": "predictive", "window": 3}),
    ],
)
def test_with_attention_the_same_copy_succeeds(kind, options):
    assert copied(fresh(kind, **options), 8) > 0.9


def test_a_gradient_reaches_every_parameter():
    for name in MODELS:
        model, (src, mask, tgt) = build(name), sentences()
        model(src, tgt, mask).square().sum().backward()
        silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
        assert silent == [], name
        assert isinstance(model.encoder.gru, nn.GRU)
