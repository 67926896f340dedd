"""An exercise's check must know every answer it claims to know, and survive every other."""

import inspect
import math
import time
from collections import Counter
from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pytest
import torch
from checked import unchecked

from transformer_lib import exercises
from transformer_lib.exercises.checking import comparing, running, telling
from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.own import memory
from transformer_lib.masks import causal_mask, masked_softmax, padding_mask

EXERCISES = exercises.exercises()
EACH = pytest.mark.parametrize("name", EXERCISES)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.3)


@pytest.fixture
def said(monkeypatch):
    """What `check` and the others show, as text; the session forgotten afterwards."""
    shown = []
    monkeypatch.setattr(exercises, "display", shown.append)
    monkeypatch.setattr(exercises, "_hinted", Counter())
    monkeypatch.setattr(memory, "_here", memory.Done())
    return shown


def test_every_solution_has_a_name_of_its_own():
    """A stub bears the name of its solution, so a name tells which exercise it is."""
    names = [exercise.name for exercise in EXERCISES.values()]
    assert len(set(names)) == len(names)


@EACH
def test_every_solution_passes(name):
    exercise = EXERCISES[name]
    assert len(exercise.solutions) >= 2, "a second one, written differently, judges the check"
    for answer in exercise.solutions:
        verdict = exercise.judge(answer)
        assert verdict.passed, verdict.message


@EACH
def test_every_mistake_gets_its_own_message(name):
    exercise = EXERCISES[name]
    assert len({message for message, _ in exercise.mistakes}) >= 4
    for message, answer in exercise.mistakes:
        with unchecked():  # as a student's kernel is: what they call says what is wrong
            verdict = exercise.judge(answer)
        assert verdict.kind == "mistake", verdict.message
        assert verdict.message == message
        if type(exercise) is Exercise:
            assert str(verdict.paper).startswith("The smallest of our cases")


@EACH
def test_two_or_three_hints_and_a_task(name):
    exercise = EXERCISES[name]
    assert 2 <= len(exercise.hints) <= 3
    assert exercise.task
    kind, prefix = ("class", "My") if isinstance(exercise, Build) else ("def", "my_")
    assert exercise.name.startswith(prefix)
    assert f"\n{kind} {exercise.name}(" in "\n" + exercise.source()


@EACH
def test_in_some_case_every_axis_has_another_size(name):
    """Axes of one size let a transposed answer pass, so some case has none of one size."""
    exercise = EXERCISES[name]
    assert any(map(_differ_in_size, exercise.cases()))


def _differ_in_size(case):
    masks = isinstance(case, Case)  # those of self-attention are square
    return all(
        len(set(value.shape)) == value.dim()
        for value in (case.inputs if masks else case)
        if isinstance(value, torch.Tensor) and not (masks and value.dtype == torch.bool)
    )


def _raises(*_):
    raise KeyError("no such thing")


def _exits(*_):
    raise SystemExit


def _recurses(*arguments):
    return _recurses(*arguments)


def _changes_its_input(*arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            argument.zero_()
    return torch.zeros(2)


class Unbearable:
    def __eq__(self, other):
        raise RuntimeError("do not compare me")

    __hash__ = None


ODD = {
    "raises": _raises,
    "exits": _exits,
    "recurses": _recurses,
    "none": lambda *_: print(end=""),
    "nan": lambda *_: torch.full((3, 4), torch.nan),
    "nan as a number": lambda *_: float("nan"),
    "another shape": lambda *_: torch.zeros(7, 1, 3),
    "scalar": lambda *_: torch.tensor(0.5),
    "a list": lambda *_: [[0.1, 0.2], [0.3]],
    "a string": lambda *_: "softmax",
    "an array": lambda *_: np.zeros((3, 4)),
    "a module": lambda *_: torch.nn.Linear(2, 3),
    "uncomparable": lambda *_: Unbearable(),
    "integers": lambda *_: torch.zeros(3, 4, dtype=torch.long),
    "changes its input": _changes_its_input,
    "too few parameters": lambda: 1,
}


OF_EACH_KIND = [
    "basics.softmax",  # gives a tensor
    "blocks.count_parameters",  # a number
    "masks.empty_rows",  # several things
    "review.culprits",  # has many right answers
    "review.leaks",  # is given modules
    "builds.MultiHeadAttention",  # is a class
    "model.tie",  # is given a model, and changes it
]


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        *product(OF_EACH_KIND, ODD),
        *zip(EXERCISES, cycle(ODD), strict=False),
    ],
)
def test_no_answer_makes_a_check_raise(name, odd):
    """One `judge` serves all: every odd answer to a few exercises, and one of them to each."""
    verdict = EXERCISES[name].judge(ODD[odd])
    assert not verdict.passed
    assert verdict.attempted
    assert 10 < len(verdict.message) < 600
    assert len(verdict.message.splitlines()) == 1


def test_every_kind_of_exercise_is_given_all_odd_answers():
    assert {type(EXERCISES[name]) for name in OF_EACH_KIND} == set(map(type, EXERCISES.values()))


@pytest.mark.parametrize("thing", [None, 3.0, [1, 2], torch.zeros(3, 4), "my_softmax"])
def test_what_is_no_function_is_asked_for_as_one(thing):
    verdict = EXERCISES["basics.softmax"].judge(thing)
    assert not verdict.passed
    assert "the function itself" in verdict.message


@pytest.mark.parametrize(
    ("got", "wanted", "message"),
    [
        (torch.tensor(3.5), torch.tensor(2.25), "3.5; it should be 2.25."),
        (2.25, torch.tensor(2.25), "the Python number 2.25; it should be a tensor, 2.25: a "),
        (
            torch.tensor([[True, True]]),
            torch.tensor([[True, False]]),
            "True at [0, 1]; it should be False. 1 of 2 entries differ.",
        ),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]), "2 at [1]; it should be 4."),
        (torch.ones(2), torch.tensor([1, 1]), "a tensor of floats; integers are wanted."),
    ],
)
def test_a_difference_is_said_in_the_words_of_what_is_compared(got, wanted, message):
    said = telling.difference(
        running.Outcome(got), running.Outcome(wanted), "`f(x)`", "{(0, 1)}", 1e-4
    )
    assert f"returned {message}" in said


def test_right_entries_of_another_kind_are_told_of_two_things_at_once():
    step = EXERCISES["decoding.greedy_step"]

    def floats(*arguments):
        ids, now = step.right(*arguments)
        return ids.float(), now.float()

    message = step.judge(floats).message
    assert "The first is a tensor of floats; integers are wanted." in message


@pytest.mark.parametrize(
    "draw",
    [
        lambda p, q, guess: (float(torch.rand(()) < p[guess] / q[guess]), (p - q).relu()),
        lambda p, q, guess: (float(p[guess] / q[guess]), p.multinomial(1)),
    ],
)
def test_who_draws_is_told_so_although_each_run_draws_the_same(draw):
    message = EXERCISES["decoding.accept_or_redraw"].judge(draw).message
    assert message.startswith("Called again with the same arguments, yours gives something else.")


def test_small_sets_are_shown():
    assert comparing.describe({(2, 1), (0, 0)}) == "{(0, 0), (2, 1)}"


def test_an_endless_loop_is_stopped_and_named(impatient):
    running = []

    def endless(scores):
        while True:
            running.append(time.monotonic())

    verdict = EXERCISES["basics.softmax"].judge(endless)
    assert "still running" in verdict.message
    time.sleep(0.3)
    assert time.monotonic() - running[-1] > 0.2, "the loop went on after the verdict"


def test_an_endless_loop_that_swallows_exceptions_is_stopped_too(impatient):
    def endless(scores):
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue

    assert "still running" in EXERCISES["basics.softmax"].judge(endless).message


def test_an_empty_stub_is_not_an_attempt():
    def empty(scores):
        """Shares."""
        ...

    def to_do(scores):
        raise NotImplementedError

    for stub in (empty, to_do):
        verdict = EXERCISES["basics.softmax"].judge(stub)
        assert (verdict.passed, verdict.attempted) == (False, False)
        assert "Not attempted" in verdict.message


def test_a_forgotten_return_is_an_attempt():
    def forgotten(scores):
        scores.softmax(dim=-1)

    verdict = EXERCISES["basics.softmax"].judge(forgotten)
    assert verdict.attempted
    assert "return" in verdict.message


def test_a_right_result_from_a_changed_input_does_not_pass():
    def in_place(scores):
        scores -= scores.max(dim=-1, keepdim=True).values
        return scores.softmax(dim=-1)

    assert "changed its input `scores`" in EXERCISES["basics.softmax"].judge(in_place).message


def precedence(position, d_model):
    angles = (position / 10000**2 * i / d_model for i in range((d_model + 1) // 2))
    return torch.tensor([f(a) for a in angles for f in (math.sin, math.cos)][:d_model])


def ends_with_a_cosine(position, d_model):
    code = EXERCISES["positions.sinusoids_for_one"].right(position, d_model)
    if d_model % 2:
        code[-1] = math.cos(position / 10000 ** ((d_model - 1) / d_model))
    return code


def all_alike(x, W1, b1, W2, b2):
    return ((x @ W1 + b1).relu().mean(-2, keepdim=True) @ W2 + b2).expand_as(x)


def entries_added_up(x, gamma, beta, eps):
    variance = x.var(-1, keepdim=True, correction=0)
    return gamma @ (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + eps) + beta


def batch_norm_of_samples(x, gamma, beta, eps):
    return gamma * (x - x.mean(0, True)) / torch.sqrt(x.var(0, keepdim=True) + eps) + beta


def both_ways(x, sublayer, norm, norm_first):
    pre, post = x + sublayer(norm(x)), norm(x + sublayer(x))
    return pre if norm_first else post


def added_as_a_tensor(x, sublayer, norm, norm_first):
    return x + norm(sublayer) if norm_first else norm(x + sublayer)


def twice_the_answer(x, sublayer, norm, norm_first):
    answer = sublayer(norm(x)) if norm_first else sublayer(x)
    return answer + answer if norm_first else norm(answer + answer)


def overwritten(x, attend, think, norm):
    x = attend(x)
    x = norm(x + x)
    return norm(x + think(x))


def norms_a_function(x, attend, think, norm):
    y = x + norm(attend)(x)
    return y + norm(think)(y)


def pads_hear_pads(ids, pad_id):
    keys = (ids != pad_id)[:, None, None, :]
    return causal_mask(ids.size(1)) & (keys | ~keys.mT)


def pads_hear_all(ids, pad_id):
    keys = (ids != pad_id)[:, None, None, :]
    return (causal_mask(ids.size(1)) & keys) | ~keys.mT


def closes_rows(ids, pad_id):
    return causal_mask(ids.size(1)) & (ids != pad_id)[:, :, None]


def triangle_of_padding(ids, pad_id):
    return padding_mask(ids, pad_id).tril()


def opens_padding(ids, pad_id):
    return (ids == pad_id)[:, None, None, :] | causal_mask(ids.size(1))


def not_for_tilde(ids, pad_id):
    pads = ids == pad_id
    return causal_mask(ids.size(1)) & (not pads)


def without_return(scores, mask, upstream):
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask, 0.0)
    torch.autograd.grad(weights, scores, upstream)


def rows(make):
    """A student's weights, with their gradient."""

    def my_empty_rows(scores, mask, upstream):
        weights = make(scores, mask)
        return weights, torch.autograd.grad(weights, scores, upstream)[0]

    return my_empty_rows


def divided(kept, by=0.0):
    return kept / (kept.sum(-1, keepdim=True) + by)


def closed_where_open(scores, mask):
    return scores.masked_fill(~mask & mask.any(-1, keepdim=True), -math.inf).softmax(-1)


def pre_norm_with_memory(x, memory, attend_back, attend_across, think, norm):
    x = x + attend_back(norm(x))
    x = x + attend_across(norm(x), norm(memory))
    return x + think(norm(x))


def tied(how=lambda rows, root: rows * root, count=lambda ps, model: sum(p.numel() for p in ps)):
    def answer(model, ids):
        model.generator.weight = model.embedding.weight
        rows = how(model.embedding(ids), math.sqrt(model.embedding.embedding_dim))
        return model.generator(rows), count(list(model.parameters()), model)

    return answer


def adds_positions(model, ids):
    model.generator.weight = model.embedding.weight
    x = model.embedding(ids) * math.sqrt(model.embedding.embedding_dim)
    x = x + model.positions
    return model.generator(x), sum(p.numel() for p in model.parameters())


def whole(encode=None, decode=None, first=False):
    """The warm-up of the Transformer, with another way through one of its stacks."""

    def answer(src, tgt_in, E, W, P, encoder, decoder):
        d = E.shape[1]
        x = start = math.sqrt(d) * E[src] + P[: len(src)]
        for layer in encoder:
            x = layer(x)
        memory = start if first else encode(encoder, start) if encode else x
        y = math.sqrt(d) * W[tgt_in] + P[: len(tgt_in)]
        if decode:
            return decode(decoder, y, memory) @ W.T
        for layer in decoder:
            y = layer(y, memory)
        return y @ W.T

    return answer


def all_read_themselves(decoder, y, memory):
    for layer in decoder:
        y = layer(y, y)
    return y


def cross_first(x, memory, self_attention, cross_attention, feed_forward, norms):
    y = norms[1](x + cross_attention(x, memory, memory))
    z = norms[0](y + self_attention(y, y, y))
    return norms[2](z + feed_forward(z))


def hides(marked, swapped, order=(0, 1), others=lambda others: others):
    """A student's `hide`, of two functions of (chosen, dice), written one after the other."""

    def answer(ids, chosen, dice, given):
        reads = ids.clone()
        written = (
            (marked(chosen, dice), torch.full_like(ids, 3)),
            (swapped(chosen, dice), others(given)),
        )
        for where, what in (written[i] for i in order):
            reads[where] = what[where]
        return reads, torch.where(chosen, ids, 0)

    return answer


def below(chosen, dice):
    return chosen & (dice < 0.8)


def between(chosen, dice):
    return chosen & (dice >= 0.8) & (dice < 0.9)


def drawn(make):
    """Draws its own dice, as `make` does."""
    return hides(lambda c, dice: below(c, make(dice)), lambda c, dice: between(c, make(dice)))


def in_a_dictionary(ids, chosen, dice, others):
    reads, says = EXERCISES["sequences.hide"].right(ids, chosen, dice, others)
    return {"reads": reads, "says": says}


def seeded(dice):
    return torch.rand(dice.shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("sequences.hide", hides(below, lambda c, d: c & (d < 0.9)), "If you wrote the mark first"),
        (
            "sequences.hide",
            hides(lambda c, d: c & (d > 0.8), lambda c, d: c & (d > 0.9)),
            "The mark stands above 0.8.",
        ),
        (
            "sequences.hide",
            hides(lambda c, d: c & (d > 0.8), between),
            "The mark stands above 0.8.",
        ),
        ("sequences.hide", hides(between, below), "The two intervals are exchanged"),
        ("sequences.hide", hides(lambda c, d: c & d < 0.8, between), "Put each comparison into"),
        ("sequences.hide", drawn(torch.rand_like), "You draw numbers of your own."),
        ("sequences.hide", drawn(seeded), "You draw numbers of your own."),
        (
            "sequences.hide",
            hides(below, between, others=lambda given: torch.randint_like(given, 100, 200)),
            "You draw numbers of your own.",
        ),
        ("sequences.hide", in_a_dictionary, "a dict; it should be a tuple (`return a, b`)"),
        ("masks.causal_and_padding", pads_hear_pads, "These rows follow the same rule"),
        ("masks.causal_and_padding", pads_hear_all, "These rows follow the same rule"),
        ("masks.causal_and_padding", closes_rows, "its T are queries, so you mask out rows"),
        ("masks.causal_and_padding", triangle_of_padding, "a padding mask has one row"),
        ("masks.causal_and_padding", opens_padding, "In yours `|` opens what `ids == pad_id` says"),
        (
            "masks.causal_and_padding",
            not_for_tilde,
            "(not pads)`. `and`, `or`, `not` and `if` want",
        ),
        ("masks.empty_rows", without_return, "Is its last line a `return`?"),
        ("masks.empty_rows", rows(closed_where_open), "as if there were no mask. Its weights"),
        (
            "masks.empty_rows",
            rows(lambda s, mask: divided(s.softmax(-1) * mask).nan_to_num()),
            "yours leaves nothing of these",
        ),
        (
            "masks.empty_rows",
            rows(lambda s, mask: divided(s.softmax(-1) * mask, 1e-9)),
            "yours leaves nothing of these",
        ),
        (
            "masks.empty_rows",
            rows(lambda s, mask: divided((s - s.max()).exp() * mask, 1e-9)),
            "yours leaves nothing of these",
        ),
        (
            "masks.empty_rows",
            rows(lambda s, mask: divided(s.exp() * mask, 1e-9)),
            "`exp` of a large score is ∞",
        ),
        (
            "masks.empty_rows",
            rows(lambda s, mask: (s - 1000 * ~mask).softmax(-1) * mask),
            "a score of 1500 is still the largest",
        ),
        (
            "masks.empty_rows",
            rows(lambda s, mask: (s + ~mask * -math.inf).softmax(-1).nan_to_num()),
            "−∞ times a mask spoils",
        ),
        (
            "masks.empty_rows",
            rows(lambda s, mask: s.masked_fill(~mask, math.inf).softmax(-1).nan_to_num()),
            "A division by zero, or infinity minus infinity?",
        ),
        (
            "model.tie",
            tied(lambda x, root: x * root / root),
            "or do you divide by it on the way out",
        ),
        ("model.tie", adds_positions, "You add `positions`. They are not wanted"),
        ("model.tie", tied(count=lambda ps, m: m.embedding.weight.numel()), "the table alone"),
        ("model.tie", tied(count=lambda ps, m: sum({p.numel() for p in ps})), "You add up a set"),
        ("model.wire_decoder", cross_first, "Cross-attention comes first in yours, and with it"),
        ("builds.transformer_for_one", whole(first=True), "the memory is x behind the loop"),
        ("builds.transformer_for_one", whole(lambda e, x: e(x)), "a list cannot be called"),
        ("builds.transformer_for_one", whole(lambda e, x: e[0](x)), "only the first layer works"),
        ("builds.transformer_for_one", whole(lambda e, x: e[-1](x)), "The last layer of your"),
        (
            "builds.transformer_for_one",
            whole(decode=lambda d, y, m: d[0](y, m)),
            "Of your decoder only the first layer works",
        ),
        ("builds.transformer_for_one", whole(decode=all_read_themselves), "never reads the memory"),
        ("positions.sinusoids_for_one", precedence, "All your angles are about 0"),
        ("positions.sinusoids_for_one", ends_with_a_cosine, "your last entry is a cosine"),
        ("blocks.feed_forward", all_alike, "All tokens get the same output in yours."),
        ("blocks.feed_forward", lambda x, W, b, *_: (x @ W + b).relu(), "the hidden entries"),
        ("blocks.layer_norm", entries_added_up, "`@` adds up over the entries."),
        ("blocks.layer_norm", batch_norm_of_samples, "And `x.var` divides by one less"),
        ("blocks.add_norm", both_ways, "the sublayer runs twice in yours"),
        ("blocks.add_norm", added_as_a_tensor, "a function cannot be added"),
        ("blocks.add_norm", twice_the_answer, "In both orders you put the answer"),
        ("builds.encoder_layer_for_one", overwritten, "in the place of what it reads"),
        ("builds.encoder_layer_for_one", norms_a_function, "You norm a sublayer"),
    ],
)
def test_natural_mistakes_in_their_natural_spelling(name, answer, said):
    """Not as the exercise writes them down: as they are made."""
    message = EXERCISES[name].judge(answer).message
    assert said in message
    assert "Two things" not in message


COUNT = EXERCISES["blocks.count_parameters"]


def built(d_model, d_ff):
    layer = torch.nn.TransformerEncoderLayer(d_model, 1, d_ff)
    return sum(p.numel() for p in layer.parameters())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda d, h: COUNT.right(d, h) - 3 * d - h, "Short by exactly 3 · d_model + d_ff."),
        (lambda d, h: COUNT.right(d, h) - 8 * d, "Short by exactly 8 · d_model. The four"),
        (lambda d, h: 4 * d * (d + 1), "That is the attention alone."),
        (lambda d, h: 2 * d * h + d + h, "That is the feed-forward network alone."),
        (lambda d, h: d * (4 * d + 9 + (2 * d + 1) * (h / d)), "Right, but 49.0 is a float"),
        (built, "Right, but it calls `TransformerEncoderLayer`"),
    ],
)
def test_a_count_is_told_by_what_is_true_of_every_sum_that_gives_it(answer, said):
    verdict = COUNT.judge(answer)
    assert not verdict.passed
    assert verdict.message.startswith(said)
    assert "Two things" not in verdict.message


def test_the_count_is_torchs():
    assert [built(*case) for case in COUNT.cases()] == [COUNT.right(*c) for c in COUNT.cases()]


def test_an_unknown_mistake_is_located():
    def nearly(scores):
        shares = scores.softmax(dim=-1)
        return torch.where(shares == shares.max(), 0.0, shares)

    message = EXERCISES["basics.softmax"].judge(nearly).message
    assert "it should be" in message
    assert "entries differ" in message


def test_a_gradient_or_double_precision_does_not_matter():
    def graph(scores):
        e = torch.nn.Parameter(scores.double())
        return (e - e.logsumexp(dim=-1, keepdim=True)).exp()

    assert EXERCISES["basics.softmax"].judge(graph).passed


@pytest.mark.parametrize(
    "call",
    [
        lambda scores: torch.softmax(scores, -1),
        lambda scores: scores.softmax(-1),
        lambda scores: torch.nn.functional.softmax(scores, dim=-1),
        lambda scores: torch.nn.Softmax(dim=-1)(scores),
        lambda scores: torch.special.softmax(scores, -1),
        lambda scores: scores.log_softmax(-1).exp(),
        lambda scores: masked_softmax(scores[None], None)[0],
    ],
)
def test_what_should_be_written_by_hand_does_not_pass_by_a_call(call):
    verdict = EXERCISES["basics.softmax"].judge(call)
    assert not verdict.passed
    assert verdict.message.startswith("Right, but it calls `")
    assert verdict.message.endswith(": write it yourself here.")
    assert "softmax" in verdict.message.lower()


@pytest.mark.parametrize(
    ("largest", "named"),
    [
        (lambda scores: scores.max(dim=-1).values, "`keepdim=True`"),
        (lambda scores: scores.amax(dim=-1), "`keepdim=True`"),
        (lambda scores: scores.max(dim=-1), "`.values`"),
        (lambda scores: scores.max(-1, keepdim=True), "`.values`"),
    ],
)
@pytest.mark.parametrize("keepdim", [True, False])
def test_what_newcomers_forget_after_max_is_named(largest, named, keepdim):
    def answer(scores):
        e = torch.exp(scores - largest(scores))
        return e / torch.sum(e, -1, keepdim=keepdim)

    assert named in EXERCISES["basics.softmax"].judge(answer).message


def test_two_natural_mistakes_of_the_decoder_layer_are_both_told():
    message = EXERCISES["builds.decoder_layer_for_one"].judge(pre_norm_with_memory).message
    assert message.startswith("Two things at once. (1) You norm the memory.")
    assert "(2) That is pre-norm" in message


def test_the_word_before_the_dot_may_be_left_out(said, capsys):
    exercises.skeleton("decoder_layer_for_one")
    assert capsys.readouterr().out.startswith("def my_decoder_layer_for_one(")
    assert not said


def test_a_misspelt_exercise_is_guessed(said):
    exercises.check("scoring.masked_sofmax", None)
    assert "'scoring.masked_softmax'" in said[0].data


def test_the_name_comes_first(said):
    exercises.check(lambda scores: scores)
    exercises.hint([1, 2])
    assert all("The name of the exercise comes first" in shown.data for shown in said)
    assert len(said) == 2


def test_hints_come_one_by_one_and_the_last_stays(said):
    hints = EXERCISES["scoring.masked_softmax"].hints
    for _ in range(len(hints) + 1):
        exercises.hint("scoring.masked_softmax")
    for shown, wanted in zip(said, [*hints, hints[-1]], strict=True):
        assert wanted in shown.data
    assert "the last" in said[-1].data
    assert "the last" not in said[0].data


def test_a_solution_is_shown_after_a_try(said, capsys):
    exercises.solution("attention.scale")
    assert "Try it first" in said[0].data
    exercises.check("attention.scale", lambda d, std: d)
    exercises.solution("attention.scale")
    assert capsys.readouterr().out.startswith("def my_scale(d, std):")
    exercises.solution("cues.entropy", force=True)
    assert "xlogy" in capsys.readouterr().out


def test_progress_remembers_what_was_done(said):
    exercises.check("attention.scale", lambda d, std: d)
    exercises.check("cues.entropy", EXERCISES["cues.entropy"].solutions[1])
    exercises.check("basics.mix", lambda weights, values: None)
    exercises.progress()
    states = said[-1].data.set_index("exercise").state
    assert states["cues.entropy"] == "✓ passed"
    assert states["attention.scale"] == "✗ tried 1 ×"
    assert states["basics.mix"] == "○ open"
    assert said[-2].data.startswith(f"1 of {len(EXERCISES)}")


def test_the_shown_solution_runs_by_itself():
    """Nothing in it may come from a module that a lesson does not import."""
    for name, exercise in EXERCISES.items():
        if isinstance(exercise, Build):
            continue  # tests/test_mine.py: kept with the header alone
        used = set(exercise.solutions[0].__code__.co_names) | set(
            inspect.getclosurevars(exercise.solutions[0]).globals
        )
        assert not {n for n in used if n.startswith("_")}, name


def test_a_check_leaves_random_numbers_and_types_alone():
    def careless(scores):
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(5)
        return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()

    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    assert EXERCISES["basics.softmax"].judge(careless).passed
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_default_dtype() == torch.float32


def exercise_of_scores(solution):
    """Of the same cases as softmax, with no mistakes; nothing is known to it yet."""
    scores = EXERCISES["basics.softmax"]
    return replace(scores, without=(), solutions=[solution], _mistakes=[], _made={})


def test_no_answer_spoils_what_later_ones_are_compared_with():
    """Neither by its seed and type, nor by writing into its argument, nor by what held outside."""

    def solution(scores):
        return scores * torch.zeros(1).element_size() + (torch.initial_seed() == 5)

    def spoils(scores):
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(5)
        return scores.zero_()

    exercise = exercise_of_scores(solution)
    torch.set_default_dtype(torch.float64)
    try:
        assert not exercise.judge(spoils).passed
    finally:
        torch.set_default_dtype(torch.float32)
    assert exercise.judge(lambda scores: scores * 4).passed


def test_what_an_answer_is_compared_with_runs_once():
    calls = []

    def solution(scores):
        calls.append(scores)
        return scores.softmax(dim=-1)

    exercise = exercise_of_scores(solution)
    for _ in range(2):
        assert exercise.judge(lambda scores: scores.softmax(dim=-1)).passed
        assert len(calls) == len(exercise.cases())


def test_a_number_may_come_as_a_tensor_or_from_numpy():
    scale = EXERCISES["attention.scale"]
    assert scale.judge(lambda d, std: torch.tensor(float(std**2 * d**0.5))).passed
    assert scale.judge(lambda d, std: np.float64(std**2 * d**0.5)).passed
    assert not scale.judge(lambda d, std: torch.full((1,), std**2 * d**0.5)).passed


def test_torchs_own_not_implemented_is_an_attempt():
    verdict = EXERCISES["basics.softmax"].judge(lambda scores: torch.nn.Module()(scores))
    assert verdict.attempted
    assert "NotImplementedError" in verdict.message


def test_a_wrong_result_is_spoken_of_before_a_changed_input():
    def both(scores, mask):
        scores[~mask] = float("-inf")
        return scores.softmax(dim=-1)  # NaN where a row may see nothing

    assert "NaN" in EXERCISES["scoring.masked_softmax"].judge(both).message


@pytest.mark.parametrize("pair", [(1.0 + 1j, 1.0), (torch.ones(2) * 1j, torch.ones(2))])
def test_complex_numbers_are_not_real_ones(pair):
    assert not comparing.same(*pair, 1e-4)


def test_infinity_is_what_it_is():
    assert comparing.same(-math.inf, -math.inf, 1e-4)
    assert not comparing.same(-math.inf, math.inf, 1e-4)
