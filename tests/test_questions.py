"""The right answers of the quiz's later questions, each computed, and the score that is kept."""

import itertools
import json
import math
import os
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from transformer_lib import exercises
from transformer_lib.exercises import answered
from transformer_lib.exercises import quiz as module
from transformer_lib.exercises.questions import LETTERS
from transformer_lib.exercises.quiz import QUESTIONS, answer

BY_NAME = {question.name: question for question in QUESTIONS}


def right(name):
    question = BY_NAME[name]
    return list(question.choices)[LETTERS.index(question.right)]


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


def test_sums_of_rows():
    x = torch.rand(4, 3)
    with pytest.raises(RuntimeError):
        x / x.sum(dim=-1)
    assert "error" in right("sums_of_rows")
    square = torch.rand(3, 3)
    assert not torch.allclose((square / square.sum(dim=-1)).sum(dim=-1), torch.ones(3))


def test_eight_mixtures():
    assert (torch.rand(8, 1, 5) @ torch.rand(8, 5, 3)).shape == (8, 1, 3)
    assert right("eight_mixtures").startswith("(8, 1, 3)")


def test_the_wrong_axis():
    assert_close(torch.randn(2, 3).softmax(dim=0).sum(dim=0), torch.ones(3))
    assert right("the_wrong_axis").startswith("Each column")


def test_out_of_range():
    values = torch.tensor([300.0, 20, 10, 10, 5])
    found = (10 * torch.randn(1000, 5)).softmax(dim=-1) @ values
    assert found.max() <= 300 + 1e-3
    assert right("out_of_range") == "With none."


def test_seven_wide():
    q, k, v = torch.rand(2, 3), torch.rand(5, 3), torch.rand(5, 7)
    assert ((q @ k.T).softmax(dim=-1) @ v).shape == (2, 7)
    assert right("seven_wide").startswith("(2, 7)")


def test_very_hot():
    share = (torch.tensor([6.0, 4, 2, 0, 0]) / 1000).softmax(dim=0)[0]
    assert abs(share - 1 / 5) < 0.001
    assert "⅕" in right("very_hot")


def test_no_width_left():
    x, y = torch.rand(50), torch.randn(50)
    assert_close((-(((3 - x) * 0) ** 2) / 2).softmax(dim=0) @ y, y.mean())
    assert right("no_width_left").startswith("The mean")


def test_far_from_all():
    x = torch.arange(50, dtype=torch.float64) / 10
    shares = (-((25 - x) ** 2) / 2).softmax(dim=0)
    assert round(shares[-1].item(), 2) == 0.87
    assert "last point" in right("far_from_all")


def test_two_and_five():
    q, W, k = torch.rand(2), torch.rand(2, 5), torch.rand(5)
    assert (q @ W @ k).shape == ()
    assert "(2, 5)" in right("two_and_five")


def test_all_hidden():
    assert torch.full((3,), -math.inf).softmax(dim=0).isnan().all()
    assert_close(torch.full((3,), -1e9).softmax(dim=0), torch.full((3,), 1 / 3))
    assert right("all_hidden").startswith("NaN")


def test_whose_width():
    W_q, W_k = torch.randn(2, 64, 16) / 8  # queries and keys with variance 1
    scores = ((torch.randn(20_000, 64) @ W_q) * (torch.randn(20_000, 64) @ W_k)).sum(dim=1)
    assert abs(scores.std() / 4 - 1) < 0.25
    assert right("whose_width").startswith("By 4")


def test_where_it_slopes():
    scores = torch.tensor([0.7, -0.4], dtype=torch.float64)
    slopes = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=0), scores)
    p = scores.softmax(dim=0)[0]
    assert_close(slopes[0, 0], p * (1 - p))
    assert "p(1 − p)" in right("where_it_slopes")


def test_one_word_late():
    target = ["je", "suis", "chez", "moi", "."]
    reads = ["<bos>", *target]
    assert f"`{reads[target.index('chez')]}`" in right("one_word_late")


def test_even_odds():
    loss = F.cross_entropy(torch.zeros(1, 2448), torch.tensor([5])).item()
    assert right("even_odds") == f"{loss:.1f} and {math.exp(loss):.0f}."


def test_no_choice():
    h, hidden = torch.randn(5, 4), torch.randn(5, 3)
    shares = (hidden.tanh() @ torch.zeros(3)).softmax(dim=0)
    assert_close(shares @ h, h.mean(dim=0))
    assert right("no_choice").startswith("The mean")


def test_four_of_five_links():
    gold = {(i, i) for i in range(5)}
    found = {(i, i) for i in range(4)} | {(0, 4)}
    rate = 1 - 2 * len(found & gold) / (len(found) + len(gold))
    assert right("four_of_five_links").startswith(f"{rate:.1f}:")


def test_inside_the_window():
    assert len([i for i in range(20) if 7 - 2 <= i <= 7 + 2]) == 5
    assert right("inside_the_window").startswith("Five")


def test_sixteen_layers():
    heard, layers = {0}, 0
    while 32 not in heard:
        heard, layers = {i + step for i in heard for step in range(3)}, layers + 1
    assert right("sixteen_layers").startswith(f"{layers},")


def test_when_the_map_wins():
    d = 512
    first = next(n for n in itertools.count(1) if 2 * n**2 * d >= 4 * n * d**2)
    assert f"n = {first} " in right("when_the_map_wins")


def test_an_eighth_each():
    sizes = {sum(p.numel() for p in nn.MultiheadAttention(512, h).parameters()) for h in (1, 8)}
    assert len(sizes) == 1
    assert right("an_eighth_each") == "As many as before."


def test_default_weights():
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 2, 8)
    each = attention(x, x, x, average_attn_weights=False)[1]  # (1, heads, 2, 2)
    assert_close(attention(x, x, x)[1], each.mean(dim=1))
    assert "mean" in right("default_weights")


def test_what_rotary_lacks():
    """The mirror image stands at another distance from each place; three back at one."""
    assert len({(11 - t) - t for t in range(12)}) == 12
    assert len({(t - 3) - t for t in range(12)}) == 1
    assert "backwards" in right("what_rotary_lacks")


def test_a_quarter_turn():
    angle = 3 * math.pi / 2
    pair = round(math.sin(angle)), round(math.cos(angle))
    assert pair == (-1, 0)
    assert right("a_quarter_turn").startswith("(−1, 0)")


def test_twice_the_token():
    rows = torch.tensor([[1.0, 2, 3, 4], [12, 14, 16, 18]])
    assert_close(*F.layer_norm(rows, (4,), eps=0.0))
    assert right("twice_the_token").startswith("The same")


def test_both_masks():
    open_cells = torch.ones(5, 5).tril().bool() & (torch.arange(5) < 3)
    assert right("both_masks").startswith(f"{open_cells.sum()},")
    assert "1, 2, 3, 3, 3" in right("both_masks")
    assert open_cells.sum(dim=1).tolist() == [1, 2, 3, 3, 3]


def test_one_who_asks():
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    target, memory = torch.randn(1, 6, 8), torch.randn(1, 5, 8)
    changed = target.clone()
    changed[:, 2] += 1
    moved = attention(changed, memory, memory)[0] - attention(target, memory, memory)[0]
    assert (moved.abs().amax(dim=-1)[0] > 1e-6).nonzero().flatten().tolist() == [2]
    assert right("one_who_asks") == "Row 2 alone."


def test_numbers_of_a_layer():
    layer = nn.TransformerDecoderLayer(16, 2, dim_feedforward=64)
    matrices = sum(p.numel() for p in layer.parameters() if p.dim() == 2)
    assert right("numbers_of_a_layer").startswith(f"{matrices // 16**2}:")


def test_softmax_of_softmax():
    share = torch.tensor([1.0, 0.0]).softmax(dim=0)[0].item()
    assert right("softmax_of_softmax").startswith(f"{share:.2f}:")
    assert round(-math.log(share), 2) == 0.31


def test_the_least_it_pays():
    q = torch.full((12,), 0.1 / 12)
    q[3] += 0.9
    logits = torch.randn(1000, 12)
    paid = -(q * torch.cat([logits, q.log()[None]]).log_softmax(dim=-1)).sum(dim=-1)
    assert paid.argmin() == 1000  # who says the smoothed target itself
    assert paid.min() > 0.3
    assert right("the_least_it_pays").startswith("More than 0")


def test_half_a_sentence():
    bleu = 100 * math.exp(1 - 10 / 5)
    assert right("half_a_sentence").startswith(f"{bleu:.0f}:")


def test_the_second_way():
    first, second = {"me": 0.6, "je": 0.4}, {"me": 0.4, "je": 0.9}
    greedy = max(first, key=first.get)
    beam = max(first, key=lambda word: first[word] * second[word])
    found = f"Greedy *{greedy} …*, 0.24; the beam *{beam} …*, {first[beam] * second[beam]:.2f}."
    assert right("the_second_way") == found


def test_hundred_words():
    assert right("hundred_words") == f"{sum(range(1, 101))} and 100."


# Of the earlier ones, those that `test_quiz.py` leaves open and a computation can settle.


def test_a_thicker_book():
    query, keys = torch.tensor([0.0, 2, 0]), torch.tensor([[0.0, 3, 0], [0, 2, 0], [0, 1, 0]])
    shares = [(query @ keys.T).softmax(dim=0) for _ in (300, 3000)]  # no value enters
    assert_close(*shares)
    assert right("a_thicker_book").startswith("It stays")


def test_wrong_in_company():
    """A causal mask alone: padding behind moves what an encoder says, and only in company."""
    x, q = torch.randn(3, 8), torch.randn(1, 8)
    padded = torch.cat([x, torch.randn(4, 8)])
    alone, together = (F.scaled_dot_product_attention(q, keys, keys) for keys in (x, padded))
    assert (alone - together).abs().max() > 0.01
    masked = F.scaled_dot_product_attention(q, padded, padded, torch.arange(7)[None] < 3)
    assert_close(alone, masked)
    assert right("wrong_in_company") == "The padding mask."


def test_zebra_and_giraffe():
    from transformer_lib.corpus import UNK_ID, Vocabulary

    vocabulary = Vocabulary.build(["I'm a dog."], "en")
    zebra, giraffe = (vocabulary.encode(f"I'm a {animal}.") for animal in ("zebra", "giraffe"))
    assert zebra == giraffe
    assert UNK_ID in zebra
    assert right("zebra_and_giraffe").startswith("In nothing")


def test_saved_twice():
    """What leaving out the logits of padding saves, per padded position, is the share of these."""
    text = BY_NAME["saved_twice"].text
    saved, before, after = (int(share) for share in re.findall(r"(\d+) %", text))
    assert right("saved_twice").startswith(f"About {saved * after / before:.0f} %")


def test_san_francisco():
    """Behind how many different words does each stand?"""
    text = ["san", "francisco"] * 1000 + ["a", "b"]
    before = {word: set() for word in text}
    for one, other in itertools.pairwise(text):
        before[other].add(one)
    assert len(before["francisco"]) == len(before["b"]) == 1
    assert right("san_francisco").startswith("About as likely as a word that")


def test_no_triangle():
    """Without the triangle the place that must say a word hears that word."""
    words = torch.randn(5, 8, requires_grad=True)
    for mask, heard in ((None, True), (torch.ones(5, 5).tril().bool(), False)):
        said = F.scaled_dot_product_attention(words, words, words, mask)
        (gradient,) = torch.autograd.grad(said[2].sum(), words)
        assert bool((gradient[3].abs() > 0).any()) == heard
    assert "nonsense when it writes" in right("no_triangle")


def test_asked_of_a_hundred():
    assert f"BERT for about {0.15 * 100:.0f}" in right("asked_of_a_hundred")


# ------------------------------------------------------------------------------------ the score


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """What is displayed, while answers are kept in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "on")
    shown = []
    monkeypatch.setattr(module, "display", shown.append)
    return shown


def test_an_answer_says_why_and_is_kept(kept):
    answer("00.1", "A")
    answer("00.1", "c")  # as people write it
    answer("00.2", "B")
    said = [repr(verdict) for verdict in kept]
    assert [text.split()[:2] for text in said] == [
        ["✗", "Wrong."],
        ["✓", "Right."],
        ["✓", "Right."],
    ]
    assert "You pair the first with the first" in said[0]
    assert "Lesson 00" not in said[0]
    assert "Lesson 00" in said[1]
    assert module.score() == (
        f"Quiz: 2 of {len(QUESTIONS)} questions answered, 2 rightly, 1 of them at the first try."
    )
    assert json.loads(answered.score_path().read_text())["a_column"] == ["A", "C"]


def test_nothing_answered_yet(kept):
    assert module.score() == f"Quiz: none of {len(QUESTIONS)} questions answered yet."


@pytest.mark.parametrize("wrong", [("31.1", "A"), (4, "A"), ("00.1", "Z"), ("00.1", None)])
def test_what_is_no_question_or_no_choice_is_said(kept, wrong):
    answer(*wrong)
    assert "no " in kept[0].data
    assert not answered.score_path().exists()


@pytest.mark.parametrize("damage", ["{", "[1, 2]", '{"a_column": "A"}', '{"a_column": 3}', "\0"])
def test_a_damaged_file_gives_words_and_is_left_alone(kept, damage):
    answered.score_path().write_text(damage)
    assert "cannot be read" in module.score()
    answer("00.1", "C")
    assert repr(kept[0]).startswith("✓ Right.")
    assert "Not kept: your answers in .mine.quiz.json cannot be read" in kept[1].data
    assert answered.score_path().read_text() == damage


def test_a_folder_that_cannot_be_written_is_said(kept, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    answer("00.1", "C")
    assert "Not kept: no space left." in kept[1].data


def test_a_write_that_is_cut_off_leaves_the_old_file(kept, monkeypatch):
    answer("00.1", "C")
    before = answered.score_path().read_text()
    monkeypatch.setattr(json, "dump", lambda *_, **__: 1 / 0)
    answer("00.2", "C")
    assert answered.score_path().read_text() == before


def test_off_nothing_is_kept_and_nothing_read(kept, monkeypatch):
    answer("00.1", "C")
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "off")
    answer("00.2", "B")
    assert "none of" in module.score()
    assert list(json.loads(answered.score_path().read_text())) == ["a_column"]
    assert [repr(verdict)[0] for verdict in kept] == ["✓", "✓"]


def test_a_question_that_is_gone_does_not_count(kept):
    answered.score_path().write_text('{"gone": ["A", "B"]}')
    assert "none of" in module.score()


def test_progress_shows_the_score(kept, monkeypatch):
    answer("00.1", "C")
    shown = []
    monkeypatch.setattr(exercises, "display", shown.append)
    exercises.progress()
    assert shown[0].data.endswith(module.score())
    assert "Quiz: 1 of" in shown[0].data
