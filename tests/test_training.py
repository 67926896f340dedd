import inspect
import math
import os
import signal
import threading
import time

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib import training
from transformer_lib.batching import Example, TokenBatches, make_batch
from transformer_lib.decoding import greedy
from transformer_lib.losses import label_smoothed_cross_entropy, loss_on_batch
from transformer_lib.schedules import warmup_cosine, warmup_inverse_sqrt
from transformer_lib.training import decay_groups, fit, validation_loss
from transformer_lib.transformer import make_model

V = 11


def model(**options):
    torch.manual_seed(1)
    return make_model(
        V,
        V,
        **{"d_model": 12, "num_heads": 3, "d_ff": 20, "dropout": 0.0, "max_len": 30, **options},
    )


def reversals(n, longest=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = [
        torch.randint(
            4,
            V,
            (int(torch.randint(2, longest + 1, (1,), generator=generator)),),
            generator=generator,
        ).tolist()
        for _ in range(n)
    ]
    return [Example([*row, 2], [*row[::-1], 2]) for row in rows]


# ----------------------------------------------------------------------------------------- the loss


def test_smoothed_loss_is_cross_entropy_against_the_smoothed_distribution():
    logits, targets = torch.randn(6, V, dtype=torch.float64), torch.tensor([4, 5, 10, 3, 3, 7])
    smoothed = torch.full((6, V), 0.3 / (V - 1), dtype=torch.float64)
    smoothed[:, 0] = 0
    smoothed[range(6), targets] += 0.7
    assert_close(
        label_smoothed_cross_entropy(logits, targets, 0.3), F.cross_entropy(logits, smoothed)
    )


def test_padding_gets_no_smoothing_mass():
    logits = torch.randn(3, V)
    shifted = logits.clone()
    shifted[:, 0] = -40.0  # believing that padding is impossible costs nothing
    loss = label_smoothed_cross_entropy(shifted, torch.tensor([4, 5, 6]), 0.2)
    assert loss < label_smoothed_cross_entropy(logits, torch.tensor([4, 5, 6]), 0.2)


def test_the_loss_of_a_batch_is_the_mean_over_its_real_tokens():
    net = model().eval()
    pairs = [
        Example([8, 9, 7, 2], [5, 6, 7, 8, 2]),
        Example([8, 2], [4, 2]),
        Example([5, 6, 2], [9, 9, 2]),
    ]
    one_by_one = [loss_of(net, make_batch([pair])) * len(pair.tgt) for pair in pairs]
    assert_close(loss_of(net, make_batch(pairs)), sum(one_by_one) / 10)


def loss_of(net, batch, **options):
    return loss_on_batch(
        net, batch.src, batch.tgt_in, batch.tgt_out, src_mask=batch.src_mask, **options
    )


def test_more_padding_changes_nothing():
    net, batch = model().eval(), make_batch(reversals(4))
    wider = {
        name: torch.cat([getattr(batch, name), torch.zeros(4, 3, dtype=torch.long)], dim=1)
        for name in ("src", "tgt_in", "tgt_out")
    }
    loss = loss_on_batch(
        net,
        wider["src"],
        wider["tgt_in"],
        wider["tgt_out"],
        src_mask=(wider["src"] != 0)[:, None, None],
    )
    assert_close(loss, loss_of(net, batch))


def test_a_uniform_model_has_the_loss_of_a_uniform_guess():
    net = model().eval()
    nn.init.zeros_(net.generator.weight)
    assert loss_of(net, make_batch(reversals(5))).item() == pytest.approx(math.log(V))


@torch.no_grad()
def by_hand(net, batches):
    """Nats and tokens, word after word, of sentences that stand alone and need no padding."""
    nats, tokens = 0.0, 0
    for batch in batches:
        for src, tgt in zip(batch.src.tolist(), batch.tgt_out.tolist(), strict=True):
            src, tgt = ([i for i in ids if i != 0] for ids in (src, tgt))
            logits = net(torch.tensor([src]), torch.tensor([[1, *tgt[:-1]]]))[0].double()
            for place, word in enumerate(tgt):
                share = logits[place].exp() / logits[place].exp().sum()
                nats, tokens = nats - math.log(share[word]), tokens + 1
    return nats, tokens


def test_the_loss_of_a_batch_and_of_a_validation_set_by_hand():
    net = model().eval()
    nn.init.normal_(net.generator.weight, std=0.5)  # an untrained model says nothing by much
    batches = list(TokenBatches(reversals(17, longest=9), max_tokens=40, seed=2))
    assert len({batch.num_tokens for batch in batches}) > 2
    assert any((batch.tgt_out == 0).any() and (batch.src == 0).any() for batch in batches)
    for batch in batches:
        nats, tokens = by_hand(net, [batch])
        assert loss_of(net, batch).item() == pytest.approx(nats / tokens, rel=1e-5)
    nats, tokens = by_hand(net, batches)
    assert tokens == sum(batch.num_tokens for batch in batches)
    assert validation_loss(net, batches) == pytest.approx(nats / tokens, rel=1e-5)


def test_validation_loss_weighs_every_token_alike_and_restores_the_mode():
    net, pairs = model(dropout=0.5).train(), reversals(30)
    many = validation_loss(net, TokenBatches(pairs, max_tokens=20, shuffle=False))
    assert net.training
    assert many == pytest.approx(validation_loss(net, [make_batch(pairs)]), rel=1e-5)


def test_validation_builds_no_graph():
    net, seen = model(), []
    net.register_forward_hook(lambda *_: seen.append(torch.is_grad_enabled()))
    validation_loss(net, [make_batch(reversals(3))])
    assert seen == [False]


# ------------------------------------------------------------------------------------- the schedule


# ----------------------------------------------------------------------------------------- the loop


def test_a_tiny_transformer_learns_to_reverse_and_decodes_nearly_every_sentence_right():
    net = make_model(V, V, d_model=32, num_heads=4, d_ff=64, dropout=0.0, max_len=30)
    history = fit(
        net,
        TokenBatches(reversals(2000), max_tokens=512),
        steps=700,
        learning_rate=lambda step: warmup_cosine(step, peak=6e-3, warmup=50, steps=700),
        label_smoothing=0.0,
    )
    held_out = reversals(100, seed=9)
    batch = make_batch(held_out)
    out = greedy(net, batch.src, batch.src_mask, max_len=12)
    right = [row[: len(e.tgt)].tolist() == e.tgt for row, e in zip(out, held_out, strict=True)]
    assert sum(right) >= 90
    assert history.frame.loss.iloc[-1] < 0.2
    assert list(history.frame.columns) == [
        "step",
        "epoch",
        "loss",
        "learning_rate",
        "tokens_per_second",
    ]
    assert not net.training


def test_fit_is_the_plain_loop_that_the_paper_describes():
    """Adam with β₂ = 0.98 and ε = 1e-9, labels smoothed by 0.1 (sections 5.3 and 5.4).

    Gradients are cut at 1; the rates are of steps that count from 1.
    """
    batches = list(TokenBatches(reversals(40), max_tokens=60, shuffle=False))
    ours, plain = model().double(), model().double()
    rate = lambda step: 1e-2 / step
    history = fit(ours, batches, steps=len(batches) + 2, learning_rate=rate)

    optimizer = torch.optim.Adam(plain.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses, norms = [], []
    for step, batch in enumerate([*batches, *batches[:2]], start=1):
        real = batch.tgt_out != 0
        logits = plain(batch.src, batch.tgt_in, batch.src_mask)[real]
        smoothed = torch.full_like(logits, 0.1 / (V - 1))
        smoothed[:, 0] = 0
        smoothed[range(len(logits)), batch.tgt_out[real]] += 0.9
        loss = F.cross_entropy(logits, smoothed)
        optimizer.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(plain.parameters(), 1.0))
        optimizer.param_groups[0]["lr"] = rate(step)
        optimizer.step()
        losses.append(loss.item())
    assert min(norms) < 1 < max(norms)
    assert history.frame.loss.tolist() == pytest.approx(losses, rel=1e-9)
    assert history.frame.learning_rate.tolist() == [rate(s) for s in history.frame.step]
    for a, b in zip(ours.parameters(), plain.parameters(), strict=True):
        assert_close(a, b, atol=1e-9, rtol=0)


def test_a_rate_that_nobody_named_is_adams_own():
    ours, named = model(), model()
    fit(ours, [make_batch(reversals(8))], steps=2)
    adams = inspect.signature(torch.optim.Adam).parameters["lr"].default
    fit(named, [make_batch(reversals(8))], steps=2, learning_rate=adams)
    for a, b in zip(ours.parameters(), named.parameters(), strict=True):
        assert torch.equal(a, b)


def test_accumulated_batches_equal_one_large_batch():
    pairs = reversals(30)
    parts = [make_batch(pairs[:4]), make_batch(pairs[4:20]), make_batch(pairs[20:])]
    # in fp32 Adam magnifies the rounding of gradients that are 0
    one, three = model().double(), model().double()
    fit(one, [make_batch(pairs)], steps=3, label_smoothing=0.1)
    fit(three, parts, steps=3, accumulate=3, label_smoothing=0.1)
    for a, b in zip(one.parameters(), three.parameters(), strict=True):
        assert_close(a, b, atol=1e-9, rtol=0)


def test_the_gradient_is_cut_to_the_norm_asked_for(monkeypatch):
    norms = []
    step = torch.optim.AdamW.step

    def measured(self, *args, **kwargs):
        gradients = [p.grad for group in self.param_groups for p in group["params"]]
        norms.append(torch.cat([g.flatten() for g in gradients]).norm().item())
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.AdamW, "step", measured)
    for clip in (1e9, 0.01):
        fit(model(), [make_batch(reversals(8))], steps=1, clip=clip)
    assert norms[0] > 0.1
    assert norms[1] == pytest.approx(0.01, rel=1e-3)


def test_training_keeps_freed_memory(monkeypatch):
    kept = []
    monkeypatch.setattr(training, "keep_freed_memory", lambda: kept.append(True))
    fit(model(), [make_batch(reversals(8))], steps=1)
    assert kept == [True]


def test_matrices_decay_and_vectors_do_not():
    net = model()
    decayed, exempt = decay_groups(net, 0.25)
    assert (decayed["weight_decay"], exempt["weight_decay"]) == (0.25, 0.0)
    names = {parameter: name for name, parameter in net.named_parameters()}
    assert len(names) == len(decayed["params"]) + len(exempt["params"])
    for name in (names[p] for p in decayed["params"]):
        assert "norm" not in name
        assert name.endswith("weight")
    assert all("norm" in name or "bias" in name for name in (names[p] for p in exempt["params"]))
    assert net.decoder.embedding.weight in set(decayed["params"])


def test_a_tied_matrix_decays_once():
    tied = make_model(12, 12, "tiny", d_model=8, num_heads=2, d_ff=16, tie_weights="all")
    groups = decay_groups(tied, 0.1)
    assert sum(p is tied.generator.weight for p in groups[0]["params"]) == 1
    torch.optim.AdamW(groups)  # which refuses a parameter that stands in two groups


def test_weight_decay_takes_its_share_of_the_matrices_beside_adams_step():
    start, plain, decayed = model(), model(), model()
    before = start.state_dict()
    for net, decay in ((plain, 0.0), (decayed, 0.25)):
        net.load_state_dict(before)
        fit(net, [make_batch(reversals(8))], steps=1, learning_rate=0.1, weight_decay=decay)
    for old, a, b in zip(start.parameters(), plain.parameters(), decayed.parameters(), strict=True):
        assert_close(b, a - 0.1 * 0.25 * old * (old.dim() > 1), atol=1e-6, rtol=0)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_trains_to_a_similar_loss(precision):
    pairs = TokenBatches(reversals(300), max_tokens=256)
    full = fit(model(), pairs, steps=60, learning_rate=5e-3).frame.loss.iloc[-10:].mean()
    half = (
        fit(model(), pairs, steps=60, learning_rate=5e-3, precision=precision)
        .frame.loss.iloc[-10:]
        .mean()
    )
    assert half == pytest.approx(full, rel=0.05)


def test_snapshots_come_at_every_multiple_and_at_the_end():
    kept = []
    fit(model(), [make_batch(reversals(8))], steps=7, save=kept.append, save_every=3)
    assert [snapshot["step"] for snapshot in kept] == [3, 6, 7]


def test_speed_is_real_target_tokens_a_second(monkeypatch):
    ticks = iter(range(0, 100, 4))
    monkeypatch.setattr(training.time, "perf_counter", lambda: next(ticks))
    batch = make_batch(reversals(8))
    history = fit(model(), [batch], steps=2)
    assert history.frame.tokens_per_second.tolist() == [int((batch.tgt_out != 0).sum()) / 4] * 2


@pytest.mark.parametrize(("stop", "accumulate"), [(1, 1), (7, 3), (12, 1)])
def test_a_run_that_stopped_goes_on_as_if_it_had_not(stop, accumulate):
    data = lambda: TokenBatches(reversals(60), max_tokens=128, seed=4)
    rate = lambda step: warmup_inverse_sqrt(step, peak=5e-3, warmup=5)
    torch.manual_seed(5)
    net = model(dropout=0.3)
    whole = fit(net, data(), steps=20, learning_rate=rate, accumulate=accumulate)

    kept = []
    torch.manual_seed(5)
    first = model(dropout=0.3)
    fit(first, data(), steps=stop, learning_rate=rate, accumulate=accumulate, save=kept.append)
    torch.manual_seed(77)
    second = model(dropout=0.3)
    resumed = fit(
        second, data(), steps=20, learning_rate=rate, accumulate=accumulate, resume=kept[-1]
    )
    assert resumed.frame.loss.tolist() == whole.frame.loss.tolist()
    assert all(
        torch.equal(a, b) for a, b in zip(net.parameters(), second.parameters(), strict=True)
    )


def test_every_epoch_has_its_own_order_and_trains_whatever_evaluation_did():
    orders, modes = [], []

    class Watched(TokenBatches):
        def __iter__(self):
            for batch in super().__iter__():
                orders.append(batch.src[:, 0].tolist())
                yield batch

    batches, net = Watched(reversals(40), max_tokens=64), model()
    net.encoder.register_forward_pre_hook(lambda *_: modes.append(net.training))
    n = len(batches)
    fit(net, batches, steps=2 * n, evaluate=lambda m: m.eval() and {}, evaluate_every=1)
    assert orders[:n] != orders[n : 2 * n]
    assert all(modes)


def test_ctrl_c_during_the_last_evaluation_loses_nothing():
    kept = []

    def interrupted(_):
        os.kill(os.getpid(), signal.SIGINT)
        return {}

    with pytest.raises(KeyboardInterrupt, match="stopped after step 3 of 3, saved"):
        fit(model(), [make_batch(reversals(8))], steps=3, evaluate=interrupted, save=kept.append)
    assert kept[0]["step"] == 3


@pytest.fixture
def _ctrl_c_is_heard():
    """A shell lets what it starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_is_heard")
def test_a_second_ctrl_c_acts_at_once():
    came = []

    def impatient(_):
        for event in ("held back", "acted late"):
            signal.raise_signal(signal.SIGINT)
            for _ in range(5):  # Python hears of a signal between two rounds of a loop
                time.sleep(0.001)
            came.append(event)
        return {}

    with pytest.raises(KeyboardInterrupt):
        fit(model(), [make_batch(reversals(8))], steps=9, evaluate=impatient, evaluate_every=1)
    assert came == ["held back"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_evaluations_are_kept_and_made_at_the_end_too():
    seen = []
    history = fit(
        model(),
        [make_batch(reversals(8))],
        steps=5,
        evaluate=lambda net: {"training": net.training, "n": seen.append(1) or len(seen)},
        evaluate_every=2,
    )
    assert history.evaluation_frame.step.tolist() == [2, 4, 5]
    assert history.evaluation_frame.n.tolist() == [1, 2, 3]


def test_ctrl_c_waits_for_the_step_saves_and_says_where_it_stopped():
    kept = []
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt, match=r"stopped after step \d+ of 100000, saved"):
        fit(model(), [make_batch(reversals(8))], steps=100_000, save=kept.append)
    assert len(kept) == 1
    assert kept[0]["step"] == kept[0]["epoch"] + kept[0]["in_epoch"] > 0


def test_the_clock_ends_a_run():
    began = time.monotonic()
    history = fit(model(), [make_batch(reversals(8))], steps=100_000, minutes=0.5 / 60)
    assert time.monotonic() - began < 5
    assert 0 < len(history.frame) < 100_000


def test_a_loss_that_is_not_a_number_stops_the_run_in_words():
    net = model()
    nn.init.constant_(net.generator.weight, float("inf"))
    with pytest.raises(ValueError, match="the loss is nan at step 1, learning rate 0.001"):
        fit(net, [make_batch(reversals(8))], steps=3)


def test_no_batches_are_refused():
    with pytest.raises(ValueError, match="epoch 0 has no batch"):
        fit(model(), [], steps=3)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_of_half_precision_logits_is_computed_in_full(smoothing):
    logits, targets = torch.randn(6, 500).bfloat16(), torch.randint(1, 500, (6,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = label_smoothed_cross_entropy(logits, targets, smoothing)
    assert loss.dtype == torch.float32
    assert_close(loss, label_smoothed_cross_entropy(logits.float(), targets, smoothing))


def test_a_validation_loss_that_is_not_a_number_stops_the_run_in_words_and_is_not_kept():
    net, saved = model(), []
    with pytest.raises(ValueError, match="validation_loss is nan at the evaluation after step 2, "):
        fit(
            net,
            [make_batch(reversals(8))],
            steps=5,
            evaluate=lambda _: {"bleu": 3.0, "validation_loss": float("nan")},
            evaluate_every=2,
            save=saved.append,
            save_every=2,
        )
    assert not saved


def modes(net):
    return {name: part.training for name, part in net.named_modules()}


def test_what_was_frozen_stays_so_while_the_rest_trains():
    net, seen = model(dropout=0.5).train(), []
    net.encoder.eval()
    before = modes(net)
    net.register_forward_pre_hook(lambda *_: seen.append(modes(net)))
    fit(net, [make_batch(reversals(8))], steps=3, evaluate=lambda net: net.eval() and {})
    assert seen == [before] * 3
    assert not any(modes(net).values())


@pytest.mark.parametrize("frozen", [True, False])
def test_a_run_that_breaks_leaves_every_part_in_the_mode_it_was_in(frozen):
    net = model().eval() if frozen else model().train()
    net.decoder.layers[0].eval()
    before = modes(net)

    def breaks(_):
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        fit(net, [make_batch(reversals(8))], steps=3, save=breaks, save_every=1)
    assert modes(net) == before


def test_a_model_that_comes_in_eval_is_trained_in_train():
    net, seen = model(dropout=0.5).eval(), []
    net.register_forward_pre_hook(lambda *_: seen.append(all(modes(net).values())))
    fit(net, [make_batch(reversals(8))], steps=2)
    assert seen == [True, True]


def test_smoothing_takes_a_model_that_rules_padding_out():
    logits, targets = torch.randn(6, V, dtype=torch.float64), torch.randint(3, V, (6,))
    logits[:, 0] = float("-inf")
    logits.requires_grad_()
    smooth = torch.full((6, V - 1), 0.2 / (V - 1), dtype=torch.float64)
    smooth[range(6), targets - 1] += 0.8
    expected = F.cross_entropy(logits[:, 1:], smooth)
    loss = label_smoothed_cross_entropy(logits, targets, 0.2)
    assert_close(loss, expected)
    loss.backward()
    assert logits.grad.isfinite().all()


def test_each_process_drops_out_what_is_its_own(monkeypatch):
    """Else two processes would train on one pattern of dropout; the first one keeps the seed's."""

    def dropped(number):
        monkeypatch.setattr(training, "rank", lambda: number)
        net, seen = model(dropout=0.5), []
        torch.manual_seed(7)
        net.encoder.positions.dropout.register_forward_hook(lambda *_: seen.append(_[2] == 0))
        fit(net, [make_batch(reversals(8))], steps=1)
        return seen[0]

    first, second, third = map(dropped, (0, 1, 2))
    assert torch.equal(first, dropped(0))
    assert not torch.equal(first, second)
    assert not torch.equal(second, third)
