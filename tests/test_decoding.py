"""The reference is exhaustive search over every sequence of a tiny vocabulary."""

import inspect
import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib import corpus, decoding
from transformer_lib.checkpoints import load_model
from transformer_lib.decoding import (
    Recomputing,
    accept_or_redraw,
    beam_search,
    greedy,
    keep_top_k,
    keep_top_p,
    sample,
    speculate,
)
from transformer_lib.lab.chance import distribution
from transformer_lib.lab.tables import Bigrams, TableModel
from transformer_lib.masks import padding_mask
from transformer_lib.models import create_model
from transformer_lib.transformer import make_model

V, BOS, EOS = 5, 1, 2


@pytest.fixture
def model():
    net = make_model(17, V, d_model=12, num_heads=3, d_ff=20, max_len=40)
    # untrained logits are flat: make them differ
    torch.nn.init.normal_(net.generator.weight, std=0.8)
    return net


def source(rows=4):
    src = torch.randint(3, 17, (rows, 7))
    for row, length in zip(range(rows), itertools.cycle((7, 3, 5)), strict=False):
        src[row, length:] = 0
    return src, padding_mask(src, 0)


def log_probability(model, src, src_mask, tokens):
    logits = model.eval()(src, torch.tensor([[BOS, *tokens[:-1]]]), src_mask)
    return logits[0].log_softmax(-1)[range(len(tokens)), list(tokens)].sum().item()


def best_of_all(model, src, src_mask, max_len, penalty):
    finished = [
        s
        for n in range(1, max_len + 1)
        for s in itertools.product(range(EOS, V), repeat=n)  # neither <pad> nor <bos>
        if EOS not in s[:-1]
    ]
    finished = [s for s in finished if s[-1] == EOS or len(s) == max_len]
    score = lambda s: log_probability(model, src, src_mask, s) / ((5 + len(s)) / 6) ** penalty
    return max((score(s), s) for s in finished)


def test_greedy_takes_the_best_next_token_of_the_full_pass(model):
    src, mask = source()
    out = greedy(model, src, mask, max_len=9)
    assert out.shape[1] <= 9
    for row, tokens in enumerate(out.tolist()):
        length = tokens.index(EOS) + 1 if EOS in tokens else 9
        whole = model.eval()(
            src[row : row + 1], torch.tensor([[BOS, *tokens[: length - 1]]]), mask[row : row + 1]
        )
        assert whole[0].argmax(-1).tolist() == tokens[:length]
        assert not any(tokens[length:])


def test_finished_rows_hold_nobody_up_and_are_not_disturbed(model):
    torch.nn.init.normal_(model.decoder.embedding.weight, std=2.0)
    src, mask = source(12)
    together = greedy(model, src, mask, max_len=15)
    lengths = {(row == EOS).nonzero()[0].item() if (row == EOS).any() else 15 for row in together}
    assert len(lengths) > 1, "the test needs rows that end at different steps"
    for row in range(12):
        alone = greedy(model, src[row : row + 1], mask[row : row + 1], max_len=15)[0]
        assert together[row, : len(alone)].tolist() == alone.tolist()


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_of_one_is_greedy(model, penalty):
    src, mask = source(9)
    out, _ = beam_search(model, src, mask, max_len=12, beam_size=1, length_penalty=penalty)
    assert out.tolist() == greedy(model, src, mask, max_len=12).tolist()


@pytest.mark.parametrize("penalty", [0.0, 0.6, 2.0])
def test_a_beam_that_forgets_nothing_equals_exhaustive_search(model, penalty):
    src, mask = source(3)
    out, scores = beam_search(model, src, mask, max_len=4, beam_size=V**4, length_penalty=penalty)
    for row in range(3):
        score, tokens = best_of_all(model, src[row : row + 1], mask[row : row + 1], 4, penalty)
        assert tuple(out[row, : len(tokens)].tolist()) == tokens
        assert scores[row].item() == pytest.approx(score, abs=1e-4)
        assert not out[row, len(tokens) :].any()


class Scripted(torch.nn.Module):
    """A model whose next-token probabilities are a table: prefix -> probabilities."""

    def __init__(self, table, vocab):
        super().__init__()
        self.table, self.vocab = table, vocab

    def start(self, src, src_mask=None):
        return Prefixes([()] * len(src))

    def step(self, ids, state):
        rows = [(*prefix, i) for prefix, i in zip(state.rows, ids.tolist(), strict=True)]
        spread = [1 / self.vocab] * self.vocab
        logits = torch.tensor([self.table.get(r[1:], spread) for r in rows]).log()
        return logits, Prefixes(rows)


class Prefixes:
    def __init__(self, rows):
        self.rows = rows

    def select(self, rows):
        return Prefixes([self.rows[i] for i in rows.tolist()])


def test_a_finished_hypothesis_that_leaves_the_beam_is_not_forgotten():
    # eos at once has probability 0.25; "3" (0.6) promises more, but splits into pieces below that
    table = {(): [0, 0, 0.25, 0.6, 0.15], (3,): [0, 0, 0, 0.5, 0.5]}
    for pair in ((3, 3), (3, 4)):
        table[pair] = [0.2] * 5
    out, score = beam_search(Scripted(table, 5), torch.zeros(1, 1).long(), max_len=4, beam_size=2)
    assert out.tolist() == [[EOS]]
    assert score.exp().item() == pytest.approx(0.25)


def searched_between_the_end_and_nine_words(now):
    """A beam of two; the sentence ends at once with probability `now`, or after nine words."""
    table = {(3,) * n: [0, 0, 0, 1, 0] for n in range(1, 9)} | {(3,) * 9: [0, 0, 1, 0, 0]}
    table[()] = [0, 0, now, 1 - now, 0]
    scripted, src = Scripted(table, 5), torch.zeros(1, 1).long()
    return beam_search(scripted, src, max_len=10, beam_size=2, length_penalty=1.0)


def test_a_search_does_not_stop_while_a_longer_sentence_can_still_win():
    # the end at once and the start of a long sentence are equally likely; the penalty favours length
    long, _ = searched_between_the_end_and_nine_words(0.5)
    assert long.tolist() == [[3] * 9 + [EOS]]


def test_a_finished_sentence_grows_no_longer_while_it_waits():
    # log 0.6 now against log 0.4 divided by (5 + 10) / 6: the long one wins; had the short one counted
    # the steps it waited, it would
    long, score = searched_between_the_end_and_nine_words(0.6)
    assert long.tolist() == [[3] * 9 + [EOS]]
    assert score.item() == pytest.approx(math.log(0.4) / (15 / 6))


def test_all_searches_have_the_same_defaults_and_the_corpus_ids():
    common = ("bos_id", "eos_id", "pad_id", "max_len")
    defaults = {
        tuple(inspect.signature(search).parameters[name].default for name in common)
        for search in (greedy, sample, beam_search, speculate)
    }
    assert defaults == {(corpus.BOS_ID, corpus.EOS_ID, corpus.PAD_ID, 100)}


def test_the_score_is_the_sum_of_log_probabilities(model):
    src, mask = source()
    out, scores = beam_search(model, src, mask, max_len=8, beam_size=3)
    for row, tokens in enumerate(out.tolist()):
        tokens = tokens[: tokens.index(EOS) + 1] if EOS in tokens else tokens
        expected = log_probability(model, src[row : row + 1], mask[row : row + 1], tokens)
        assert scores[row].item() == pytest.approx(expected, abs=1e-4)


def test_rows_of_a_batch_are_searched_as_if_alone(model):
    src, mask = source(6)
    out, scores = beam_search(model, src, mask, max_len=8, beam_size=3, length_penalty=0.6)
    for row in range(6):
        alone, score = beam_search(
            model,
            src[row : row + 1],
            mask[row : row + 1],
            max_len=8,
            beam_size=3,
            length_penalty=0.6,
        )
        assert out[row, : alone.size(1)].tolist() == alone[0].tolist()
        assert_close(scores[row], score[0])


@pytest.mark.parametrize("batched", [False, True], ids=["one mask", "a mask a sentence"])
def test_searches_obey_the_mask_of_the_target_that_the_full_pass_obeys(model, batched):
    src, mask = source()
    window = torch.ones(9, 9, dtype=torch.bool).triu(-1)[None, None]
    if batched:
        window = window.repeat(4, 3, 1, 1) & (torch.rand(4, 3, 9, 9) > 0.3)
    out = greedy(model, src, mask, tgt_mask=window, max_len=9, eos_id=-1)
    tgt_in = torch.cat([torch.full((4, 1), BOS), out[:, :-1]], dim=1)
    best = lambda *masks: model.eval()(src, tgt_in, *masks)[..., EOS:].argmax(-1) + EOS
    assert torch.equal(best(mask, window), out)
    assert not torch.equal(best(mask), out), "the mask changed nothing"
    one, _ = beam_search(model, src, mask, tgt_mask=window, max_len=9, beam_size=1, eos_id=-1)
    assert torch.equal(one, out)
    assert torch.equal(
        sample(model, src, mask, tgt_mask=window, max_len=9, eos_id=-1, top_k=1), out
    )
    best, score = beam_search(model, src, mask, tgt_mask=window, max_len=9, beam_size=3, eos_id=-1)
    tgt_in = torch.cat([torch.full((4, 1), BOS), best[:, :-1]], dim=1)
    with torch.no_grad():
        shares = model(src, tgt_in, mask, window).log_softmax(-1)
    assert_close(shares.gather(-1, best[..., None]).sum(dim=(1, 2)), score, atol=1e-4, rtol=0)


def test_dropout_does_not_disturb_decoding():
    model = make_model(17, V, d_model=12, num_heads=3, d_ff=20, dropout=0.5).train()
    src, mask = source()
    assert (
        greedy(model, src, mask, max_len=9).tolist() == greedy(model, src, mask, max_len=9).tolist()
    )


def test_a_beam_that_cannot_be_is_refused(model):
    with pytest.raises(ValueError, match="beam_size=0"):
        beam_search(model, *source(), beam_size=0)
    with pytest.raises(ValueError, match="length_penalty=-1"):
        beam_search(model, *source(), length_penalty=-1.0)


TABLE = {(): [0, 0, 0.1, 0.6, 0.3], (3,): [0, 0, 1, 0, 0], (4,): [0, 0, 1, 0, 0]}


def first_tokens(draws=4000, **how):
    """How often each token of the five comes first, when `TABLE` is sampled."""
    generator = torch.Generator().manual_seed(0)
    src = torch.zeros(draws, 1).long()
    out = sample(Scripted(TABLE, 5), src, max_len=3, generator=generator, **how)
    return out[:, 0].bincount(minlength=5) / draws


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [0, 0, 0.1, 0.6, 0.3]),
        ({"temperature": 0.5}, [0, 0, 0.01 / 0.46, 0.36 / 0.46, 0.09 / 0.46]),  # p², normalised
        ({"top_k": 2}, [0, 0, 0, 2 / 3, 1 / 3]),
        ({"top_k": 9}, [0, 0, 0.1, 0.6, 0.3]),
        ({"top_p": 0.59}, [0, 0, 0, 1, 0]),
        ({"top_p": 0.61}, [0, 0, 0, 2 / 3, 1 / 3]),
        ({"top_p": 1.0}, [0, 0, 0.1, 0.6, 0.3]),
        ({"temperature": 0.5, "top_p": 0.8}, [0, 0, 0, 0.8, 0.2]),  # cut after the temperature
    ],
)
def test_tokens_are_drawn_as_often_as_the_probabilities_say(how, expected):
    assert_close(first_tokens(**how), torch.tensor(expected, dtype=torch.float), atol=0.03, rtol=0)


def test_a_drawn_sentence_ends_with_its_eos_and_then_is_padding():
    out = sample(Scripted(TABLE, 5), torch.zeros(200, 1).long(), max_len=6)
    assert {tuple(row) for row in out.tolist()} == {(2, 0), (3, 2), (4, 2)}


def test_a_cold_sample_is_greedy_and_so_is_one_of_a_single_token(model):
    src, mask = source()
    best = greedy(model, src, mask, max_len=9).tolist()
    assert sample(model, src, mask, max_len=9, temperature=1e-3).tolist() == best
    assert sample(model, src, mask, max_len=9, top_k=1).tolist() == best


def test_the_same_generator_draws_the_same_sentences(model):
    src, mask = source()
    draws = [
        sample(model, src, mask, max_len=9, generator=torch.Generator().manual_seed(seed)).tolist()
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_of_equal_logits_exactly_k_are_kept():
    assert keep_top_k(torch.zeros(3, 7), 2).isfinite().sum(dim=-1).tolist() == [2, 2, 2]


def test_the_nucleus_is_the_smallest_set_that_reaches_p():
    logits = torch.randn(6, 50)
    probability = logits.softmax(-1)
    kept = keep_top_p(logits, 0.7).isfinite()
    assert (probability * kept).sum(-1).ge(0.7).all()
    least = probability.masked_fill(~kept, 1.0).amin(-1)
    assert ((probability * kept).sum(-1) - least < 0.7).all()
    assert (probability.masked_fill(kept, 0.0).amax(-1) <= least).all()
    assert keep_top_p(torch.zeros(3, 4), 0.5).isfinite().sum(-1).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"temperature": 0.0}, "temperature=0"),
        ({"temperature": float("nan")}, "temperature=nan"),
        ({"top_k": 0}, "top_k=0"),
        ({"top_p": 0.0}, "top_p=0"),
        ({"top_p": 1.5}, "top_p=1.5"),
    ],
)
def test_a_draw_that_cannot_be_is_refused(model, how, message):
    with pytest.raises(ValueError, match=message):
        sample(model, *source(), **how)


ON_PAPER = {
    (): {"a": 0.6, "b": 0.4},
    ("a",): {"b": 0.5, "c": 0.5 - 1e-3, "<eos>": 1e-3},
}


def table_model():
    return TableModel(lambda said: ON_PAPER.get(said, {"<eos>": 1.0}))


def test_a_table_says_all_its_sentences_the_most_probable_first():
    model = table_model()
    assert model.words == ["<pad>", "<bos>", "<eos>", "<unk>", "a", "b", "c"]
    assert list(model.beginnings())[:4] == [("a",), ("a", "b"), ("a", "b", "<eos>"), ("a", "c")]
    assert model.sentences() == pytest.approx(
        {
            ("b", "<eos>"): 0.4,
            ("a", "b", "<eos>"): 0.3,
            ("a", "c", "<eos>"): 0.2994,
            ("a", "<eos>"): 0.0006,
        }
    )
    assert next(iter(model.sentences())) == ("b", "<eos>")


def test_a_table_writes_what_one_finds_on_paper():
    model = table_model()
    src = torch.zeros(2, 1, dtype=torch.long)
    assert [model.read(row) for row in greedy(model, src)] == [("a", "b", "<eos>")] * 2
    best, score = beam_search(model, src, beam_size=3)
    assert model.read(best[0]) == ("b", "<eos>")
    assert score[1].item() == pytest.approx(math.log(0.4), abs=1e-6)
    drawn = sample(model, src[:1].expand(400, 1), generator=torch.Generator().manual_seed(0))
    assert {model.read(row) for row in drawn} <= set(model.sentences())
    assert (drawn[:, 0] == 4).float().mean().item() == pytest.approx(0.6, abs=0.1)


def test_all_of_the_nucleus_is_everything():
    logits = torch.randn(20, 50_000, generator=torch.Generator().manual_seed(0))
    assert torch.equal(keep_top_p(logits, 1), logits)


def test_a_table_is_asked_only_for_what_can_be_said():
    table = {(): {"a": 0.5, "b": 0.5}, ("a",): {"<eos>": 1.0}, ("b",): {"<eos>": 1.0}}
    model = TableModel(table.__getitem__)
    found, score = beam_search(model, torch.zeros(1, 1, dtype=torch.long), beam_size=3)
    assert model.read(found[0]) in {("a", "<eos>"), ("b", "<eos>")}
    assert score.item() == pytest.approx(math.log(0.5))


class StepByStep(torch.nn.Module):
    """A model without its `steps`: what is done to its `step` is done to all that it says."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def start(self, src, src_mask=None):
        return self.model.start(src, src_mask)

    def step(self, ids, state):
        return self.model.step(ids, state)


def some_bigrams():
    return Bigrams(torch.randint(EOS, V, (30, 6)).tolist(), V)


WAYS = {
    "greedy": greedy,
    "sample": sample,
    "beam": lambda *args, **kwargs: beam_search(*args, **kwargs)[0],
    "guesses": lambda model, *args, **kwargs: speculate(
        StepByStep(model), some_bigrams(), *args, **kwargs
    )[0],
}


@pytest.mark.parametrize("search", WAYS.values(), ids=WAYS)
def test_padding_and_beginnings_are_never_written_inside_a_sentence(model, search):
    """Though the model thinks of nothing else."""
    step = model.step

    def prefers(ids, state):
        logits, state = step(ids, state)
        logits[:, [0, BOS]] += 50
        return logits, state

    model.step = prefers
    out = search(model, *source(), max_len=9)
    for row in out.tolist():
        said = row[: row.index(EOS) + 1] if EOS in row else row
        assert min(said) >= EOS
        assert set(row[len(said) :]) <= {0}


@pytest.mark.parametrize("search", WAYS.values(), ids=WAYS)
def test_an_end_that_is_also_the_padding_can_be_written(model, search):
    torch.nn.init.zeros_(model.generator.weight)
    step = model.step
    model.step = lambda ids, state: (step(ids, state)[0] + 30 * torch.eye(V)[EOS], state)
    assert search(model, *source(), pad_id=EOS, max_len=9).tolist() == [[EOS]] * 4


@pytest.mark.parametrize("search", [WAYS[name] for name in ("greedy", "sample", "beam")])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_are_no_numbers_end_a_search_in_words(model, search, value):
    step, steps = model.step, itertools.count(1)

    def breaks(ids, state):
        logits, state = step(ids, state)
        return (
            torch.full_like(logits, value) if next(steps) == 3 else logits - 30 * torch.eye(V)[EOS]
        ), state

    model.step = breaks
    with pytest.raises(
        ValueError, match=f"the best logit of step 3 is {value}, where it should be"
    ):
        search(model, *source(), max_len=9)


@pytest.mark.parametrize("search", WAYS.values(), ids=WAYS)
def test_what_was_written_can_be_trained_on(model, search):
    src, mask = source()
    ids = search(model, src, mask, max_len=6)
    model(src, ids, mask).sum().backward()
    assert not ids.is_inference()
    assert model.generator.weight.grad.abs().sum() > 0


def paper():
    """A tree with four places where the next word is open."""
    table = {
        (): {"a": 0.6, "b": 0.4},
        ("a",): {"c": 0.5, "d": 0.45, "e": 0.05},
        ("a", "c"): {"d": 0.7, "<eos>": 0.3},
        ("b",): {"d": 0.1, "e": 0.9},
    }
    return TableModel(lambda said: table.get(said, {"<eos>": 1.0})).double()


def drafts():
    """For `paper`: it itself, one that knows the words but not how often, and two that count."""
    model = paper()
    alike = lambda said: dict.fromkeys(after := model.next_words(said), 1 / len(after))
    ids = [[model.words.index(word) for word in said] for said in model.sentences()]
    return {
        "itself": model,
        "alike": TableModel(alike).double(),
        "bigrams": Bigrams(ids, len(model.words)),
        "what cannot be said": Bigrams([*ids, [5, 4, EOS], [6, EOS]], len(model.words)),
    }


NOTHING = torch.zeros(1, 1, dtype=torch.long)


def largest_gap(found, wanted):
    return max(abs(found.get(said, 0) - wanted.get(said, 0)) for said in found | wanted)


def written_with(draft, **how):
    """The distribution of what `paper` writes with this draft."""
    model = paper()
    return distribution(lambda: model.read(speculate(model, draft, NOTHING, **how)[0][0]))


@pytest.mark.parametrize("guesses", [1, 3])
@pytest.mark.parametrize("name", drafts())
def test_whatever_the_draft_each_sentence_keeps_its_probability(name, guesses):
    found = written_with(drafts()[name], guesses=guesses)
    assert largest_gap(found, paper().sentences()) < 1e-12


def test_a_batch_does_not_change_what_each_row_says():
    table = {(): {"a": 0.7, "b": 0.3}, ("a",): {"b": 0.2, "<eos>": 0.8}}
    model = TableModel(lambda said: table.get(said, {"<eos>": 1.0})).double()
    alike = TableModel(lambda said: dict.fromkeys(table.get(said, {"<eos>"}), 1 / 2)).double()
    alone, both = model.sentences(), NOTHING.expand(2, 1)
    found = distribution(
        lambda: tuple(map(model.read, speculate(model, alike, both, guesses=2)[0]))
    )
    wanted = {(a, b): alone[a] * alone[b] for a, b in itertools.product(alone, repeat=2)}
    assert largest_gap(found, wanted) < 1e-12


def test_sentences_that_are_cut_keep_the_probability_of_their_beginning():
    found = written_with(drafts()["alike"], guesses=3, max_len=2)
    wanted = {}
    for said, p in paper().sentences().items():
        wanted[said[:2]] = wanted.get(said[:2], 0) + p
    assert largest_gap(found, wanted) < 1e-12


@pytest.mark.parametrize(
    ("how", "kept"),
    [
        ({"temperature": 0.5}, lambda p: p**2),
        ({"temperature": 2.0}, lambda p: p**0.5),
        ({"top_k": 1}, lambda p: p * (p >= 0.5)),
        ({"top_p": 0.85}, lambda p: p * (p != 0.05) * (p != 0.1)),
    ],
)
def test_tokens_are_drawn_from_what_sample_draws_from(how, kept):
    def next_words(said):
        left = {w: kept(p) for w, p in paper().next_words(said).items() if kept(p)}
        return {word: p / sum(left.values()) for word, p in left.items()}

    found = written_with(drafts()["alike"], guesses=2, **how)
    assert largest_gap(found, TableModel(next_words).sentences()) < 1e-12


def plainly(chance=lambda p, q: (p / q).clamp(max=1), redraw=lambda p, q: (p - q).clamp(min=0)):
    """The rule with one of its two parts replaced, for one guess a row."""

    def rule(p, q, guess):
        left = redraw(p, q)
        at = guess[:, None]
        return chance(p.gather(1, at), q.gather(1, at))[:, 0], left / left.sum(dim=1, keepdim=True)

    return rule


WRONG_RULES = {
    "q over p": plainly(chance=lambda p, q: (q / p).clamp(max=1)),
    "p alone": plainly(chance=lambda p, q: p),
    "never where q is larger": plainly(chance=lambda p, q: (p >= q).double()),
    "redrawn from p": plainly(redraw=lambda p, q: p),
    "redrawn from q": plainly(redraw=lambda p, q: q),
    "what differs, whichever way": plainly(redraw=lambda p, q: (p - q).abs()),
}


@pytest.mark.parametrize("rule", WRONG_RULES.values(), ids=WRONG_RULES)
def test_with_a_wrong_rule_sentences_change_their_probability(rule, monkeypatch):
    monkeypatch.setattr(decoding, "accept_or_redraw", plainly())
    assert largest_gap(written_with(drafts()["alike"], guesses=2), paper().sentences()) < 1e-12
    monkeypatch.setattr(decoding, "accept_or_redraw", rule)
    assert largest_gap(written_with(drafts()["alike"], guesses=2), paper().sentences()) > 0.01


def test_a_guess_is_judged_as_on_paper():
    p, q = torch.tensor([0.5, 0.2, 0.3]), torch.tensor([0.1, 0.8, 0.1])
    for guess, chance in enumerate([1, 1 / 4, 1]):
        found, redraw = accept_or_redraw(p, q, torch.tensor(guess))
        assert_close(found, torch.tensor(float(chance)))
        assert_close(redraw, torch.tensor([2 / 3, 0, 1 / 3]))


def test_guessed_or_redrawn_together_are_the_models_distribution():
    p, q = (2 * torch.randn(2, 6, 50, dtype=torch.float64)).softmax(-1)
    every = torch.arange(50).expand(6, 50)
    chance, redraw = accept_or_redraw(
        p[:, None].expand(6, 50, 50), q[:, None].expand(6, 50, 50), every
    )
    accepted = q * chance
    refused = 1 - accepted.sum(dim=1, keepdim=True)
    assert_close(accepted + refused * redraw[:, 0], p, atol=1e-14, rtol=0)


def test_of_two_distributions_that_are_one_every_guess_is_accepted():
    p = torch.randn(3, 7).softmax(-1)
    chance, redraw = accept_or_redraw(p, p.clone(), torch.tensor([0, 3, 6]))
    assert_close((chance, redraw), (torch.ones(3), p))


W = 9  # a vocabulary with which these untrained models write sentences of different lengths


def talker(noise=0.0):
    """An untrained model in double precision; with some noise on its weights, a draft for it."""
    torch.manual_seed(2)
    net = make_model(17, W, d_model=12, num_heads=3, d_ff=20, max_len=40).double()
    torch.nn.init.normal_(net.decoder.embedding.weight, std=2.0)
    torch.nn.init.normal_(net.generator.weight, std=0.8)
    torch.nn.init.normal_(net.encoder.embedding.weight, std=2.0)
    for parameter in net.parameters():
        parameter.data += noise * torch.randn_like(parameter)
    torch.manual_seed(0)
    return net


@pytest.mark.parametrize("guesses", [1, 4])
@pytest.mark.parametrize(
    ("kind", "of"),
    [
        *(("cached", of) for of in ("a near one", "itself", "bigrams", "recurrent")),
        ("recomputing", "a near one"),
        ("recurrent", "a near one"),
    ],
)
def test_without_chance_it_is_greedy_search_in_fewer_passes(kind, of, guesses):
    model = talker()
    draft = {
        "a near one": talker(0.05),
        "itself": model,
        "bigrams": Bigrams(torch.randint(EOS, W, (30, 6)).tolist(), W),
        "recurrent": create_model("gru", 17, W, d_hidden=8, d_model=8).double(),
    }[of]
    model = {
        "cached": model,
        "recomputing": Recomputing(model),
        "recurrent": create_model("luong-general", 17, W, d_hidden=8, d_model=8).double(),
    }[kind]
    src, mask = source(8)
    best = greedy(model, src, mask, max_len=15)
    out, counted = speculate(model, draft, src, mask, guesses=guesses, temperature=0, max_len=15)
    assert torch.equal(out, best)
    assert counted.accepted + counted.refused <= counted.made
    if of == "itself":
        assert not counted.refused
        assert counted.passes <= best.size(1)
    for row in range(4):  # the lengths that they keep differ
        alone, counted = speculate(
            model,
            draft,
            src[row : row + 1],
            mask[row : row + 1],
            guesses=guesses,
            temperature=0,
            max_len=15,
        )
        assert torch.equal(alone[0], best[row, : alone.size(1)])
        assert counted.passes <= (best[row] != 0).sum()
        if of == "itself":
            assert counted.passes == math.ceil(alone.size(1) / (guesses + 1))


def test_rows_of_one_batch_keep_different_numbers_of_guesses():
    model, draft, (src, mask) = talker(), talker(0.05), source(8)
    alone = [
        speculate(model, draft, src[r : r + 1], mask[r : r + 1], temperature=0, max_len=15)[1]
        for r in range(8)
    ]
    kept = {(counted.accepted, counted.refused) for counted in alone}
    assert len(kept) > 3, "the tests of batches need such rows"
    assert sum(counted.refused for counted in alone) > 5


def test_the_shipped_translator_writes_its_greedy_translations_with_guesses():
    model, english, french, _ = load_model(corpus.DATA / "models" / "lessons")
    pairs = corpus.load_corpus("everyday")
    said = [[*french.encode(pair.target), EOS] for pair in pairs.train]
    model, draft = model.double(), Bigrams(said, len(french))
    found = []
    for pair in pairs.test[:8]:
        src = torch.tensor([[*english.encode(pair.source), EOS]])
        out, counted = speculate(model, draft, src, guesses=3, temperature=0)
        assert torch.equal(out, greedy(model, src))
        found.append((out.numel(), counted.accepted, counted.passes))
    tokens, accepted, passes = map(sum, zip(*found, strict=True))
    assert tokens - accepted <= passes < tokens


@pytest.mark.parametrize("batched", [False, True], ids=["one mask", "a mask a sentence"])
def test_guesses_are_checked_under_the_mask_of_the_target(batched):
    model, draft, (src, mask) = talker(), talker(0.05), source()
    window = torch.ones(9, 9, dtype=torch.bool).triu(-1)[None, None]
    if batched:
        window = window.repeat(4, 3, 1, 1) & (torch.rand(4, 3, 9, 9) > 0.3)
    how = {"tgt_mask": window, "max_len": 9, "eos_id": -1}
    out, _ = speculate(model, draft, src, mask, temperature=0, **how)
    assert torch.equal(out, greedy(model, src, mask, **how))
    assert not torch.equal(out, greedy(model, src, mask, max_len=9, eos_id=-1))


def test_the_longest_sentence_that_the_model_holds_can_be_guessed_to_its_end():
    model, (src, mask) = talker(), source(2)
    how = {"max_len": 40, "eos_id": -1}
    out, _ = speculate(model, model, src, mask, guesses=6, temperature=0, **how)
    assert torch.equal(out, greedy(model, src, mask, **how))


def test_the_same_generator_guesses_the_same_sentences(model):
    draft, seeds = some_bigrams(), (torch.Generator().manual_seed(seed) for seed in (1, 1, 2))
    draws = [
        speculate(model, draft, *source(), max_len=9, generator=seed)[0].tolist() for seed in seeds
    ]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_are_no_numbers_end_it_in_words_whoever_made_them(model, value):
    broken = make_model(17, V, d_model=12, num_heads=3, d_ff=20)
    broken.steps = lambda ids, state: (torch.full((len(ids), ids.size(1), V), value), state)
    broken.step = lambda ids, state: (torch.full((len(ids), V), value), state)
    for pair in ((broken, model), (model, broken)):
        with pytest.raises(ValueError, match=f"the best logit of step 1 is {value}, where it"):
            speculate(*pair, *source(), max_len=9)


@pytest.mark.parametrize("size", [V - 1, V + 1, V + 90])
def test_a_draft_of_another_vocabulary_is_refused_with_both_sizes(model, size):
    told = f"the draft has a vocabulary of {size} tokens and the model one of {V}: a guess"
    with pytest.raises(ValueError, match=told):
        speculate(model, make_model(17, size, d_model=12, num_heads=3, d_ff=20), *source())
    if size < V:
        with pytest.raises(ValueError, match=told):
            speculate(model, Bigrams([[3, EOS]], size), *source())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"guesses": 0}, "guesses=0, but a draft guesses at least 1"),
        ({"temperature": -1.0}, "temperature=-1.0 is below 0"),
        ({"temperature": float("nan")}, "temperature=nan"),
        ({"top_k": 0}, "top_k=0"),
        ({"top_p": 1.5}, "top_p=1.5"),
    ],
)
def test_guessing_that_cannot_be_is_refused(model, how, message):
    with pytest.raises(ValueError, match=message):
        speculate(model, model, *source(), **how)


def test_bigrams_are_counted_shares():
    model = Bigrams([[4, 5, EOS], [4, 4, EOS], [4, EOS]], 7)
    logits, state = model.step(torch.tensor([BOS, 4, 5, 6]), model.start(NOTHING))
    wanted = [
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0.5, 0, 0.25, 0.25, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [1 / 7] * 7,
    ]
    assert_close(logits.exp(), torch.tensor(wanted, dtype=torch.float64))
    assert state.select(torch.tensor([1, 1])) is state
