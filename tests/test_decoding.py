"""The reference is exhaustive search over every sequence of a tiny vocabulary."""

import itertools

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.decoding import beam_search, greedy
from transformer_lib.masks import padding_mask
from transformer_lib.transformer import make_model

V, BOS, EOS = 5, 1, 2


@pytest.fixture
def model():
    net = make_model(17, V, d_model=12, num_heads=3, d_ff=20, max_len=40)
    torch.nn.init.normal_(
        net.generator.weight, std=0.8
    )  # untrained logits are flat: make them differ
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
        for s in itertools.product(range(V), repeat=n)
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


def test_a_search_does_not_stop_while_a_longer_sentence_can_still_win():
    # the end at once and the start of a long sentence are equally likely; the penalty favours length
    table = {(3,) * n: [0, 0, 0, 1, 0] for n in range(1, 9)} | {(3,) * 9: [0, 0, 1, 0, 0]}
    table[()] = [0, 0, 0.5, 0.5, 0]
    scripted, src = Scripted(table, 5), torch.zeros(1, 1).long()
    long, _ = beam_search(scripted, src, max_len=10, beam_size=2, length_penalty=1.0)
    assert long.tolist() == [[3] * 9 + [EOS]]


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


def test_the_model_is_left_in_the_mode_it_was_in(model):
    for training in (True, False):
        model.train(training)
        greedy(model, *source(), max_len=3)
        beam_search(model, *source(), max_len=3, beam_size=2)
        assert model.training == training


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
