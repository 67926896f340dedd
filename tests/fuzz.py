"""What must hold of any input, tried on random ones until the time is over: make fuzz SECONDS=600

A trial is a number: the property, and all that it is tried on, is drawn from it. One that fails is
printed with the line that repeats it. `--only` names a property, `--help` lists them all.
"""

import argparse
import itertools
import math
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import sacrebleu
import torch
from torch.testing import assert_close
from tqdm.auto import tqdm

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import twins  # noqa: E402

from transformer_lib import (  # noqa: E402
    attention,
    batching,
    corpus,
    decoding,
    layers,
    losses,
    masks,
    metrics,
    models,
    positions,
    schedules,
    training,
    transformer,
)

PROPERTIES = {}
EXACT = {"atol": 1e-9, "rtol": 1e-9}  # in float64
FIRST = corpus.UNK_ID + 1


def holds(function):
    PROPERTIES[function.__name__] = function
    return function


# ------------------------------------------------------------------------------------ what is drawn


def vectors(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def some_mask(draw, *shape):
    """Any mask that broadcasts to `shape`: of fewer axes, of axes of one, with rows that are empty."""
    axes = draw.randint(1, len(shape))
    shape = [size if draw.random() < 0.7 else 1 for size in shape[len(shape) - axes :]]
    return torch.rand(shape) < draw.choice([0.2, 0.5, 0.9])


def sizes(draw):
    heads = draw.randint(1, 4)
    return {"d_model": heads * draw.choice([2, 4, 6]), "num_heads": heads}


def a_model(draw, words, **options):
    """Any of the models, with random weights that make a difference."""
    name = draw.choice(list(models.MODELS))
    if name != "transformer":
        chosen = {"d_model": draw.randint(3, 9), "d_hidden": 2 * draw.randint(2, 6)}
        chosen |= {"num_layers": draw.randint(1, 2), "window": draw.randint(1, 4)}
    else:
        chosen = sizes(draw) | {"d_ff": draw.randint(3, 20), "num_layers": draw.randint(1, 3)}
        chosen |= {"positions": draw.choice(list(positions.POSITIONS))}
        chosen |= {"norm_first": draw.random() < 0.5}
    model = models.create_model(name, words, words, dropout=0.0, max_len=40, **chosen | options)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=draw.choice([0.3, 0.8]))
    return model.double().eval()


def rows(draw, words, count, longest):
    """Sentences, filled up with <pad>, and how long they are."""
    lengths = [draw.randint(1, longest) for _ in range(count)]
    ids = torch.randint(FIRST, words, (count, max(lengths)))
    for row, length in zip(ids, lengths, strict=True):
        row[length:] = corpus.PAD_ID
    return ids, lengths


# ---------------------------------------------------------------------------------------- attention


@holds
def attention_is_the_formula_heard_or_not(draw):
    """Output and weights by hand, an empty row is zero, and no gradient is NaN."""
    size, b, q_len, k_len = sizes(draw), *(draw.randint(1, 6) for _ in range(3))
    net = attention.MultiHeadAttention(**size, bias=draw.random() < 0.5).double()
    query, key, value = vectors(b, q_len, size["d_model"]), *vectors(2, b, k_len, size["d_model"])
    mask = some_mask(draw, b, size["num_heads"], q_len, k_len)
    split = lambda x: x.unflatten(-1, (size["num_heads"], -1)).transpose(1, 2)
    q, k, v = split(net.q_proj(query)), split(net.k_proj(key)), split(net.v_proj(value))
    scores = (q @ k.mT / math.sqrt(q.size(-1))).exp() * mask
    weights = scores / scores.sum(-1, keepdim=True).clamp(min=1e-300)
    expected = net.out_proj((weights @ v).transpose(1, 2).flatten(2))
    assert_close(net(query, key, value, mask), expected, **EXACT)
    with attention.record_attention(net) as maps, torch.autograd.set_detect_anomaly(True):
        heard = net(query, key, value, mask)
        heard.square().sum().backward()
    assert_close(heard, expected, **EXACT)
    assert_close(maps[""][0], weights.detach(), **EXACT)
    assert all(p.grad.isfinite().all() for p in net.parameters() if p.grad is not None)


@holds
def attention_is_torchs(draw):
    """`nn.MultiheadAttention` under copied weights, where every row sees something."""
    size, b, q_len, k_len = sizes(draw), *(draw.randint(1, 6) for _ in range(3))
    net = attention.MultiHeadAttention(**size).double().eval()
    query, memory = vectors(b, q_len, size["d_model"]), vectors(b, k_len, size["d_model"])
    mask = torch.rand(b, k_len) < 0.5
    mask[:, draw.randrange(k_len)] = True
    twin = twins.attention(net).eval()
    expected, _ = twin(query, memory, memory, key_padding_mask=~mask)
    assert_close(net(query, memory, memory, mask[:, None, None]), expected, **EXACT)


@holds
def layers_are_torchs(draw):
    size, b, s, t = sizes(draw), *(draw.randint(1, 6) for _ in range(3))
    size |= {"d_ff": draw.randint(2, 20), "dropout": 0.0, "norm_first": draw.random() < 0.5}
    x, y = vectors(b, s, size["d_model"]), vectors(b, t, size["d_model"])
    hidden = torch.rand(b, s) < 0.4
    hidden[:, 0] = False
    encoder, decoder = layers.EncoderLayer(**size).double(), layers.DecoderLayer(**size).double()
    mask = ~hidden[:, None, None]
    expected = twins.encoder_layer(encoder)(x, src_key_padding_mask=hidden)
    assert_close(encoder(x, mask), expected, **EXACT)
    expected = twins.decoder_layer(decoder)(
        y, x, tgt_mask=torch.ones(t, t).triu(1).bool(), memory_key_padding_mask=hidden
    )
    assert_close(decoder(y, x, None, mask), expected, **EXACT)


@holds
def places_do_not_hang_on_how_a_sequence_is_cut(draw):
    """Whole, and in chunks with an offset: codes that are added, and those inside attention."""
    size, t = sizes(draw), draw.randint(2, 12)
    cut, x = draw.randint(1, t - 1), vectors(2, t, size["d_model"])
    for kind in (positions.SinusoidalPositions, positions.LearnedPositions):
        code = kind(size["d_model"], 20).double()
        assert_close(torch.cat([code(x[:, :cut]), code(x[:, cut:], offset=cut)], 1), code(x))
    for kind in ("rotary", "alibi", "none"):
        relative = positions.POSITIONS[kind].relative(size["d_model"], size["num_heads"], 20)
        net = attention.MultiHeadAttention(**size, relative=relative).double()
        mask = some_mask(draw, 2, size["num_heads"], t, t)
        while mask.dim() < 4:
            mask = mask[None]
        late = mask[..., cut:, :] if mask.size(-2) > 1 else mask
        whole, kept = net(x, x, x, mask, is_causal=True), net.keys_values(x, x)
        assert_close(net.attend(x[:, cut:], *kept, late, is_causal=True), whole[:, cut:], **EXACT)


# ------------------------------------------------------------------------------------------- models


@holds
def a_step_is_a_row_of_the_whole(draw):
    """Under any mask of the target, and after rows were chosen, doubled and put in another order."""
    words = draw.randint(6, 15)
    net = a_model(draw, words)
    src, _ = rows(draw, words, draw.randint(1, 4), 6)
    tgt = torch.randint(FIRST, words, (len(src), draw.randint(1, 7)))
    src_mask, masked = masks.padding_mask(src, corpus.PAD_ID), {}
    if isinstance(net, transformer.Transformer) and draw.random() < 0.7:
        shape = (len(src), net.config.num_heads, tgt.size(1), tgt.size(1))
        masked["tgt_mask"] = some_mask(draw, *shape)
    whole, state = net(src, tgt, src_mask, **masked), net.start(src, src_mask, **masked)
    turn = draw.randrange(tgt.size(1))
    for t in range(tgt.size(1)):
        logits, state = net.step(tgt[:, t], state)
        assert_close(logits, whole[:, t], **EXACT)
        if t == turn:
            chosen = torch.randint(len(src), (draw.randint(1, 5),))
            tgt, whole, state = tgt[chosen], whole[chosen], state.select(chosen)


@holds
def padding_is_invisible(draw):
    """A sentence has the same logits alone and in a batch, whatever fills its row."""
    words = draw.randint(6, 15)
    net = a_model(draw, words)
    src, lengths = rows(draw, words, draw.randint(2, 4), 7)
    tgt = torch.randint(FIRST, words, (len(src), draw.randint(1, 5)))
    mask = masks.padding_mask(src, corpus.PAD_ID)
    filled = torch.where(mask[:, 0, 0], src, torch.randint(FIRST, words, src.shape))
    together = net(filled, tgt, mask)
    for row, length in enumerate(lengths):
        alone = net(src[row : row + 1, :length], tgt[row : row + 1])
        assert_close(together[row], alone[0], **EXACT)


@holds
def nothing_leaks_from_the_future(draw):
    words = draw.randint(6, 15)
    net = a_model(draw, words).train(draw.random() < 0.5)
    src, tgt = torch.randint(FIRST, words, (2, 4)), torch.randint(FIRST, words, (2, 6))
    cut, later = draw.randint(1, 5), tgt.clone()
    later[:, cut:] = torch.randint(FIRST, words, (2, 6 - cut))
    assert_close(net(src, later)[:, :cut], net(src, tgt)[:, :cut], **EXACT)


# ----------------------------------------------------------------------------------------- decoding


def scored(net, src, mask, sentence, penalty):
    tgt_in = torch.tensor([[corpus.BOS_ID, *sentence[:-1]]])
    shares = net(src, tgt_in, mask)[0].float().log_softmax(-1)
    total = shares[range(len(sentence)), list(sentence)].sum().item()
    return total / ((5 + len(sentence)) / 6) ** penalty


@holds
def a_beam_as_wide_as_the_tree_finds_the_best_of_all_sentences(draw):
    words, max_len, penalty = FIRST + draw.randint(1, 2), draw.randint(1, 3), draw.uniform(0, 3)
    net = a_model(draw, words)
    src, _ = rows(draw, words, 2, 4)
    mask = masks.padding_mask(src, corpus.PAD_ID)
    sayable = range(corpus.EOS_ID, words)
    sentences = [
        said
        for n in range(1, max_len + 1)
        for said in itertools.product(sayable, repeat=n)
        if corpus.EOS_ID not in said[:-1] and (said[-1] == corpus.EOS_ID or n == max_len)
    ]
    with torch.no_grad():
        best, score = decoding.beam_search(
            net, src, mask, max_len=max_len, beam_size=len(sentences), length_penalty=penalty
        )
        for row in range(len(src)):
            one = src[row : row + 1], mask[row : row + 1]
            highest = max(scored(net, *one, said, penalty) for said in sentences)
            assert_close(score[row].item(), highest, atol=1e-4, rtol=1e-4)
            said = [i for i in best[row].tolist() if i != corpus.PAD_ID]
            assert_close(scored(net, *one, said, penalty), highest, atol=1e-4, rtol=1e-4)


@holds
def a_sentence_is_decoded_as_if_alone_and_a_beam_of_one_is_greedy(draw):
    words, max_len = draw.randint(6, 15), draw.randint(1, 8)
    net = a_model(draw, words)
    src, lengths = rows(draw, words, draw.randint(2, 4), 6)
    mask = masks.padding_mask(src, corpus.PAD_ID)
    out = decoding.greedy(net, src, mask, max_len=max_len)
    single, _ = decoding.beam_search(net, src, mask, max_len=max_len, beam_size=1)
    assert single.tolist() == out.tolist()
    assert not set(out.flatten().tolist()) & {corpus.BOS_ID}
    for row, length in enumerate(lengths):
        alone = decoding.greedy(net, src[row : row + 1, :length], max_len=max_len)
        assert out[row, : alone.size(1)].tolist() == alone[0].tolist()
        assert not out[row, alone.size(1) :].any()


# ----------------------------------------------------------------------------------------- training


@holds
def the_loss_is_torchs_against_smoothed_targets(draw):
    words, tokens, smoothing = draw.randint(3, 30), draw.randint(1, 9), draw.choice([0.0, 0.1, 0.7])
    pad = draw.randrange(words)
    logits = 3 * vectors(tokens, words)
    targets = torch.tensor(
        [draw.choice([i for i in range(words) if i != pad]) for _ in range(tokens)]
    )
    if draw.random() < 0.3:
        logits[:, pad] = -math.inf
    kept = [i for i in range(words) if i != pad]
    smooth = torch.full((tokens, words), smoothing / (words - 1), dtype=torch.float64)
    smooth[range(tokens), targets] += 1 - smoothing
    whole = logits.log_softmax(-1)[:, kept]
    expected = -(smooth[:, kept] * whole).sum(-1).mean()
    logits.requires_grad_()
    loss = losses.label_smoothed_cross_entropy(logits, targets, smoothing, pad)
    assert_close(loss, expected, **EXACT)
    loss.backward()
    assert logits.grad.isfinite().all()


def examples(draw, words, count, longest=9):
    ids = lambda: [draw.randrange(FIRST, words) for _ in range(draw.randint(1, longest))]
    return [
        batching.Example([*ids(), corpus.EOS_ID], [*ids(), corpus.EOS_ID]) for _ in range(count)
    ]


@holds
def batches_hold_every_sentence_once_and_no_more_than_they_may(draw):
    given, limit = examples(draw, 20, draw.randint(1, 40)), draw.randint(10, 80)
    batches = batching.TokenBatches(
        given, limit, shuffle=draw.random() < 0.7, seed=draw.random() > 0.5
    )
    batches.set_epoch(draw.randint(0, 3))
    found, real = Counter(), 0
    for batch in batches:
        assert max(batch.src.numel(), batch.tgt_out.numel()) <= limit
        assert batch.num_tokens == (batch.tgt_out != corpus.PAD_ID).sum()
        assert torch.equal(batch.src_mask[:, 0, 0], batch.src != corpus.PAD_ID)
        assert torch.equal(batch.tgt_in[:, 1:], batch.tgt_out[:, :-1])
        real += batch.num_tokens
        strip = lambda row: tuple(i for i in row.tolist() if i != corpus.PAD_ID)
        found.update(zip(map(strip, batch.src), map(strip, batch.tgt_out), strict=True))
    assert found == Counter((tuple(e.src), tuple(e.tgt)) for e in given)
    assert real == sum(len(e.tgt) for e in given)


@holds
def schedules_rise_to_their_peak_and_fall(draw):
    peak, warmup, steps = draw.uniform(1e-5, 1), draw.randint(1, 50), draw.randint(60, 200)
    for rate in (
        lambda step: schedules.warmup_inverse_sqrt(step, peak=peak, warmup=warmup),
        lambda step: schedules.warmup_cosine(step, peak=peak, warmup=warmup, steps=steps),
    ):
        rates = [rate(step) for step in range(1, steps + 1)]
        assert math.isclose(max(rates), rates[warmup - 1])
        assert math.isclose(rates[warmup - 1], peak)
        assert rates[:warmup] == sorted(rates[:warmup])
        assert rates[warmup - 1 :] == sorted(rates[warmup - 1 :], reverse=True)


@holds
def a_run_that_was_stopped_anywhere_goes_on_bit_for_bit(draw):
    steps = draw.randint(2, 6)
    stop, given = draw.randint(1, steps - 1), examples(draw, 12, 12, longest=4)
    new = lambda: transformer.make_model(
        12, 12, d_model=8, num_heads=2, d_ff=8, num_layers=1, dropout=draw_dropout, max_len=20
    )
    draw_dropout, seed, accumulate = draw.choice([0.0, 0.3]), draw.randrange(99), draw.randint(1, 2)
    batches = lambda: batching.TokenBatches(given, 24, seed=seed)
    how = {"accumulate": accumulate, "progress": False}
    torch.manual_seed(seed)
    whole, saved = new(), []
    torch.manual_seed(seed + 1)
    training.fit(whole, batches(), steps=steps, **how)
    torch.manual_seed(seed)
    cut = new()
    torch.manual_seed(seed + 1)
    training.fit(cut, batches(), steps=stop, save=saved.append, **how)
    torch.manual_seed(seed + 2)
    resumed = new()
    training.fit(resumed, batches(), steps=steps, resume=saved[-1], **how)
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(a, b)


# --------------------------------------------------------------------------------------------- text


LETTERS = (
    "aabcdeeilmnostéèçœäöüßÀÉZ019  ' - . , : ! ? ; ( ) [ ] \" “ ” „ « » % … ’ € & / 😀 你 ﬁ \t"
)


@holds
def tokens_survive_being_written_out(draw):
    """What `detokenize` writes has the same tokens; an apostrophe may change the word it is with."""
    language = draw.choice(["en", "fr", "de"])
    text = "".join(draw.choice(LETTERS) for _ in range(draw.randint(0, 40)))
    tokens = corpus.tokenize(text, language)
    again = corpus.tokenize(corpus.detokenize(tokens, language), language)
    seen = "".join if "'" in "".join(tokens) else list
    assert seen(again) == seen(tokens), (text, tokens, again)
    vocabulary = corpus.Vocabulary.build([text], language)
    assert vocabulary.tokens(vocabulary.encode(text)) == tokens
    assert not vocabulary.unknown(text)


@holds
def bleu_is_sacrebleus(draw):
    words = ["the", "cat", "sat", "3.14", "on", "A", "mat", ".", "«"]
    text = lambda: " ".join(draw.choice(words) for _ in range(draw.randint(1, 12)))
    count = draw.randint(1, 6)
    ours, theirs = ([text() for _ in range(count)] for _ in range(2))
    expected = sacrebleu.corpus_bleu(ours, [theirs], lowercase=True).score
    assert math.isclose(metrics.corpus_bleu(ours, theirs).score, expected)


# ---------------------------------------------------------------------------------------- the trials


def trial(number: int, only: str | None = None) -> str:
    """Try one property on what is drawn from this number, and return its name."""
    draw = random.Random(number)
    name = draw.choice(list(PROPERTIES))
    torch.manual_seed(number)
    PROPERTIES[only or name](draw)
    return only or name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="properties: " + ", ".join(PROPERTIES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seconds", type=float, default=600, help="how long to try")
    add("--trials", type=int, help="how often at most")
    add("--seed", type=int, help="the first trial's number; by default another every second")
    add("--repeat", type=int, metavar="TRIAL", help="repeat the trial of this number alone")
    add("--only", choices=PROPERTIES, metavar="PROPERTY", help="try this property alone")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if args.repeat is not None:
        print(trial(args.repeat, args.only), "holds")
        return 0
    first = int(time.time()) * 1_000_000 if args.seed is None else args.seed
    end, tried, failed = time.monotonic() + args.seconds, Counter(), Counter()
    with tqdm(unit="trial", disable=not sys.stderr.isatty()) as bar:
        for number in itertools.islice(itertools.count(first), args.trials):
            if time.monotonic() > end:
                break
            try:
                tried[trial(number, args.only)] += 1
            except Exception as error:  # whatever it is, the trial failed
                where = traceback.extract_tb(error.__traceback__)
                name = next(frame.name for frame in where if frame.name in PROPERTIES)
                failed[name] += 1
                again = f"python tests/fuzz.py --repeat {number}" + (
                    f" --only {name}" if args.only else ""
                )
                tqdm.write(f"{name}: {type(error).__name__}: {str(error)[:400]}\n  {again}")
            bar.update()
    for name in PROPERTIES:
        if tried[name] or failed[name]:
            print(f"{tried[name] + failed[name]:>8} trials, {failed[name]} failed: {name}")
    print(f"{tried.total() + failed.total():>8} trials from {first} on, {failed.total()} failed")
    return int(failed.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
