"""The exercises of the review: modules with bugs, properties that catch them, a capstone."""

import copy
import inspect
import itertools
import warnings
from itertools import combinations

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.corpus import tokenize
from transformer_lib.exercises import broken, review
from transformer_lib.exercises.broken import MODULES, PROPERTIES, Right
from transformer_lib.masks import padding_mask
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

CATCHES = {  # a column a module
    "": "A B C D E F G H J K",
    "each row of weights adds up to 1": "x . x . . . . x . x",
    "a key that is masked out changes nothing": ". . x x . x . . . .",
    "every value that is not masked out is heard": ". . . x . x . x . x",
    "no token hears a later one, in train() and in eval()": "x . x . x . x . . .",
    "permuting keys with their values changes nothing": ". . . . . x . x . .",
    "a sentence fares alone as in a batch": "x . x x . x . x . .",
    "the inputs are left as they were": ". . . . . . . . x .",
    "scores of random vectors have variance 1 at any width": ". x . . . x . . . x",
    "in eval() the same question gets the same answer": ". . . . . . . x x .",
    "a query that fits one key gets its value": "x . . . . x . x . x",
}


class Ours(nn.Module):
    """The library's attention, its four matrices the identity."""

    def forward(self, query, key, value, mask=None, is_causal=False):
        width = query.size(-1)
        attention = MultiHeadAttention(width, 2, dropout=0.1, bias=False).train(self.training)
        for p in attention.parameters():
            nn.init.eye_(p)
        return attention(query, key, value, mask, is_causal=is_causal)


class Torchs(nn.Module):
    """torch's attention, its four matrices the identity; its masks say who is hidden."""

    def forward(self, query, key, value, mask=None, is_causal=False):
        width, q_len, k_len = query.size(-1), query.size(1), key.size(1)
        attention = nn.MultiheadAttention(width, 2, 0.1, bias=False, batch_first=True)
        attention.train(self.training)
        attention.in_proj_weight.data = torch.eye(width).repeat(3, 1)
        nn.init.eye_(attention.out_proj.weight)
        visible = torch.ones(len(query), 2, q_len, k_len, dtype=torch.bool)
        if is_causal:
            visible = visible.tril()
        if mask is not None:
            visible = visible & mask
        return attention(query, key, value, attn_mask=~visible.flatten(0, 1))[0]


@pytest.mark.parametrize("named", PROPERTIES)
@pytest.mark.parametrize("right", [Right, Ours, Torchs])
def test_every_property_holds_of_right_attention(named, right):
    assert PROPERTIES[named](right())


@pytest.mark.parametrize("named", PROPERTIES)
def test_which_property_catches_which_module(named):
    assert list(CATCHES) == ["", *PROPERTIES]
    assert CATCHES[""].split() == list(MODULES)
    caught = ["." if PROPERTIES[named](module()) else "x" for module in MODULES.values()]
    assert " ".join(caught) == CATCHES[named]


def test_the_matrix_does_not_hang_on_one_seed(monkeypatch):
    seed = torch.manual_seed
    for shift in (10, 20):
        monkeypatch.setattr(torch, "manual_seed", lambda n, shift=shift: seed(n + shift))
        for named in PROPERTIES:
            caught = ["." if PROPERTIES[named](module()) else "x" for module in MODULES.values()]
            assert " ".join(caught) == CATCHES[named], named


def test_every_module_is_caught_by_some_properties_and_not_by_all():
    rows = [row.split() for row in list(CATCHES.values())[1:]]
    caught = [column.count("x") for column in zip(*rows, strict=True)]
    assert min(caught) == 1
    assert max(caught) < len(PROPERTIES)
    assert caught.count(1) == 3  # the last hint says so
    assert all("x" in row and "." in row for row in rows)


def test_four_properties_are_enough():
    """The question that is asked of those who have passed."""
    modules = set(MODULES)
    caught = {named: {m for m in modules if named in review.catchers(m)} for named in PROPERTIES}
    enough = [
        number
        for number in range(1, 11)
        if any(set().union(*some) == modules for some in combinations(caught.values(), number))
    ]
    assert enough[0] == 4


@pytest.mark.parametrize("name", MODULES)
def test_the_bug_is_there_and_raises_nothing(name):
    """In eval() it answers something else than right attention to the same self-attention."""
    words = torch.tensor([[4, 5, 6, 7, 8], [4, 5, 6, 0, 0], [4, 5, 0, 0, 0]])
    x, mask = torch.randn(3, 5, 8), padding_mask(words, 0)
    answers = [m.eval()(x.clone(), x.clone(), x + 1, mask, is_causal=True) for m in two(name)]
    if name == "J":
        answers = [
            module(y, y, y, mask) for module, y in zip(two(name), (x, x.clone()), strict=True)
        ]
    assert answers[0].shape == answers[1].shape
    assert (answers[0] - answers[1]).abs().max() > 1e-2


def two(name):
    return MODULES[name]().eval(), Right().eval()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_fits_a_slide_and_says_nothing_of_its_bug(name):
    source = inspect.getsource(MODULES[name])
    assert 6 <= len(source.splitlines()) <= 15
    assert '"""' not in source
    assert all("(B·H" in line for line in source.splitlines() if "#" in line)


def test_a_property_leaves_module_and_random_numbers_alone():
    module, state = Right(), torch.get_rng_state()
    for holds in PROPERTIES.values():
        holds(module)
    assert module.training
    assert torch.equal(torch.get_rng_state(), state)


# ------------------------------------------------------------------------------------ find the bugs


def said_of(**changes):
    found = review.my_culprits() | changes
    return review.culprits.judge(lambda: found).message


def test_any_property_that_catches_is_right():
    for name in MODULES:
        for line, named in itertools.product(review.FAULTY[name], review.catchers(name)):
            assert said_of(**{name: (line, named)}).startswith("Passed.")
            assert said_of(**{name: (named, line)}).startswith("Passed.")  # as people turn it round
    assert "A, C, D, F, H, J, K" in said_of()


MENDED = {  # what each faulty line should have been; of F both ends of the cut
    "A": {7: "        weights = scores.softmax(dim=3).nan_to_num()"},
    "B": {4: "        scores = q @ k.mT / math.sqrt(q.size(-1))"},
    "C": {
        5: "        weights = masked_softmax(q @ k.mT / math.sqrt(q.size(-1)), visible)",
    },
    "D": {6: "        visible = visible.squeeze(1).repeat_interleave(heads, dim=0)"},
    "E": {8: "            visible = visible & ~(column > row)"},
    "F": {
        5: "        q, k, v = self.split(query), self.split(key), self.split(value)",
        8: "        return self.join(weights @ v)",
    },
    "G": {5: "        visible = self.visible(query, key, mask, is_causal)"},
    "H": {
        6: "            scaled_dot_product_attention(q, k, v, visible, self.training * self.dropout)"
    },
    "J": {5: "        q = q / math.sqrt(q.size(-1))"},
    "K": {3: "        q, k, v = self.split(query), self.split(key), self.split(value)"},
}


def mended(name, changed):
    """The module with other lines in place of some."""
    lines = inspect.getsource(MODULES[name]).splitlines()
    for number, line in changed.items():
        lines[number - 1] = line
    names = dict(vars(broken))
    exec(compile("\n".join(lines), name, "exec"), names)
    return names[name]


@pytest.mark.parametrize("name", MODULES)
def test_with_the_faulty_line_mended_every_property_holds(name):
    assert set(MENDED[name]) <= review.FAULTY[name]
    assert all(holds(mended(name, MENDED[name])()) for holds in PROPERTIES.values())


@pytest.mark.parametrize(
    ("name", "number", "line"),
    [
        ("C", 7, "        return self.join(weights / weights.sum(-1, keepdim=True) @ v)"),
        ("E", 4, "        visible = self.visible(query, key, mask, is_causal)"),
        ("J", 3, "        q, k, v = self.split(query.clone()), self.split(key), self.split(value)"),
    ],
)
def test_where_another_line_may_be_mended_instead_it_is_accepted(name, number, line):
    assert all(holds(mended(name, {number: line})()) for holds in PROPERTIES.values())
    assert {number, *MENDED[name]} <= review.FAULTY[name]


def test_but_for_one_fault_a_broken_module_answers_a_cached_query_rightly():
    """Its last token asked alone, with all keys: the one fault mended, it is as all at once."""
    x = torch.randn(1, 6, 12)
    for name, changed in MENDED.items():
        attend = mended(name, changed)().eval()
        together, alone = attend(x, x, x, is_causal=True), attend(x[:, -1:], x, x, is_causal=True)
        assert torch.allclose(together[:, -1:], alone, atol=1e-5), name


def test_a_loop_over_the_names_finds_no_line():
    """Properties can be found without reading; every line but the faulty ones is refused."""
    for name, module in MODULES.items():
        named = review.catchers(name)[0]
        for line in range(1, len(broken.numbered_lines(module)) + 1):
            passed = said_of(**{name: (line, named)}).startswith("Passed.")
            assert passed == (line in review.FAULTY[name])


def test_modules_are_shown_with_the_numbers_of_their_lines(capsys):
    broken.show_numbered("A", "K")
    shown = capsys.readouterr().out
    assert " 7          weights = scores.softmax(dim=2).nan_to_num()" in shown
    assert "\n\n 1  class K(Heads):\n" in shown


@pytest.mark.parametrize("name", MODULES)
def test_a_wrong_entry_gets_its_nudge_and_not_the_answer(name):
    wrong = next(named for named in PROPERTIES if named not in review.catchers(name))
    line = min(review.FAULTY[name])
    message = said_of(**{name: (line, wrong)})
    assert message.startswith("9 of ten are caught.")
    assert f"{name}: the line is found, but “{wrong}” holds of it." in message
    assert not any(named in message for named in review.catchers(name))
    message = said_of(**{name: (2, review.catchers(name)[0])})
    assert f"{name}: line 2 may stay as it is. {review.NUDGES[name]}" in message
    assert str(line) not in message.replace("line 2", "").replace("9 of ten", "")


def test_names_that_are_not_there():
    assert "There is no module 'a'. Did you mean 'A'?" in said_of(a=(7, "each row"))
    assert "There is no module 'I'. They are A, B" in said_of(I=(7, "each row"))
    assert "Did you mean “a key that is masked out changes nothing”?" in said_of(
        C=(6, "hidden keys change nothing")
    )
    assert "The names are in `PROPERTIES`." in said_of(C=(6, "xyz"))
    for odd in (
        7,
        "a key that is masked out changes nothing",
        (6,),
        (True, "xyz"),
        (6.0, "xyz"),
        ("x", "y"),
    ):
        assert "C: " in said_of(C=odd)
    assert "C has the lines 1 to 7, and no line 99." in said_of(C=(99, "xyz"))
    for pair in (("7", "a hidden key"), ("a hidden key", "7")):
        assert (
            "a whole number, without quotes, as `show_numbered` prints it; yours is '7'."
            in said_of(C=pair)
        )


def test_the_skeleton_of_an_exercise_that_is_all_answers_is_empty():
    assert review.culprits.skeleton() == "def my_culprits():\n    ..."
    assert "examples = ..." in review.capstone.skeleton()


def test_nothing_is_found_yet():
    message = review.culprits.judge(lambda: {}).message
    assert message == "0 of ten are caught. Still open: A, B, C, D, E, F, G, H, J, K."


# ------------------------------------------------------------------------------------ a test of leaks


def test_the_students_property_finds_three_of_the_ten_but_not_a():
    """What is said to those who have passed.

    J does not count: it changes the input of the second call.
    """
    found = {name for name, module in MODULES.items() if not review.my_property(module())}
    assert found - {"J"} == {"C", "E", "G"}
    assert "no token hears a later one, in train() and in eval()" in review.catchers("A")


@pytest.mark.parametrize("what", review.LEAKS)
def test_the_property_of_the_first_exercise_judges_the_modules_of_the_second(what):
    module = review.LEAKS[what]
    no_future = PROPERTIES["no token hears a later one, in train() and in eval()"]
    assert no_future(module) == review.leaks.solutions[1](copy.deepcopy(module))


def test_a_module_that_is_judged_wrongly_is_named():
    spared = lambda attend: review.my_property(attend) or "Never" in type(attend).__name__
    accused = lambda attend: review.my_property(attend) and type(attend).__name__ != "K"
    assert (
        "Of a module that is not causal at all, yours says True"
        in review.leaks.judge(spared).message
    )
    message = review.leaks.judge(accused).message
    assert "takes its keys for values, yours says False; it should say True" in message
    assert "a module that is right, raised" in review.leaks.judge(lambda attend: attend(1)).message
    assert "Return True or False" in review.leaks.judge(lambda attend: 1.0).message


def test_guesses_are_known_for_what_they_are():
    assert "False of every module" in review.leaks.judge(lambda attend: False).message
    assert "True of every module" in review.leaks.judge(lambda attend: True).message


# ------------------------------------------------------------------------------------------ capstone

TRAIN, HELD_OUT = review.invented_language(3)
TARGETS = {pair.source: pair.target for pair in HELD_OUT}


def diagnosed(say):
    """What is said of a translator that makes `say(target, source)` of the right answer."""
    known = TARGETS | {pair.source: pair.target for pair in TRAIN}
    verdict = review.capstone.examine(lambda s: say(known.get(s, s), s), TRAIN, HELD_OUT)
    return verdict.message


def test_a_language_is_drawn_from_its_seed():
    assert review.invented_language(3) == (TRAIN, HELD_OUT)
    assert review.invented_language(4)[0][0] != TRAIN[0]
    assert (len(TRAIN), len(HELD_OUT)) == (2000, 100)
    assert not {pair.source for pair in TRAIN} & set(TARGETS)


@pytest.mark.parametrize("seed", range(5))
def test_held_out_sentences_hold_no_new_word(seed):
    train, held_out = review.invented_language(seed)
    for side in (0, 1):
        known, asked = (
            {w for p in pairs for w in tokenize(p[side], "en")} for pairs in (train, held_out)
        )
        assert asked <= known


def test_every_target_word_is_linked_to_the_word_it_means():
    meanings = {}
    for pair in TRAIN:
        source, target = tokenize(pair.source, "en"), tokenize(pair.target, "en")
        assert sorted(i for i, _ in pair.alignment) == list(range(len(source)))
        assert sorted(j for _, j in pair.alignment) == list(range(len(target)))
        for i, j in pair.alignment:
            meanings.setdefault(source[i], set()).add(target[j])
    assert sorted(map(len, meanings.values())) == [1] * 18 + [2] * 6  # six adjectives, two endings
    orders = {
        mark: {
            tuple(j for _, j in sorted(pair.alignment))
            for pair in TRAIN
            if len(tokenize(pair.source, "en")) == 4 and pair.source.endswith(mark)
        }
        for mark in ".?"
    }
    assert all(len(order) == 1 for order in orders.values())
    assert orders["."] != orders["?"]


def test_a_check_draws_the_language_from_the_sessions_random_numbers():
    torch.manual_seed(1)
    ((one, _),) = review.capstone.cases()
    ((other, _),) = review.capstone.cases()
    torch.manual_seed(1)
    ((again, _),) = review.capstone.cases()
    assert one == again != other


def test_the_right_translator_passes_whatever_its_capitals():
    assert diagnosed(lambda target, source: target).startswith("Passed: 100% of 100")
    assert diagnosed(lambda target, source: target.lower()).startswith("Passed: 100% of 100")


def wrong_in_one_mark(target, source):
    return target if source.endswith(".") else " ".join(target[:-1].split()[::-1]) + "?"


def another_ending(target, source):
    return " ".join(word[:4] + "k" if word[4:5].isalpha() else word for word in target.split())


@pytest.mark.parametrize(
    ("message", "say"),
    [
        (review.ECHO, lambda target, source: " ".join([target.split()[0]] * 20)),
        (review.CONSTANT, lambda target, source: TRAIN[0].target),
        (review.MEMORISED, lambda target, source: TRAIN[0].target if source in TARGETS else target),
        (review.ENDLESS, lambda target, source: f"{target} {target}"),
        (review.FIRST_LANGUAGE, lambda target, source: source),
        (review.UNKNOWN_WORDS, lambda target, source: "<unk> <unk>" + source[-1]),
        (review.UNTRAINED, lambda target, source: source[-2::-1] + source[-1]),
        (review.UNTRAINED, lambda target, source: ""),
        (review.ONE_MARK, wrong_in_one_mark),
        (review.ENDINGS, another_ending),
        (review.ORDER, lambda target, source: " ".join(target[:-1].split()[::-1]) + target[-1]),
    ],
)
def test_a_symptom_is_known(message, say):
    assert diagnosed(say) == message


def test_an_encoder_without_positions_is_deaf_to_order_trained_or_not():
    translator = review._newborn(TRAIN, positions="none")
    say = lambda source: translator.translate([source])[0]
    assert review._hears_no_order(say, HELD_OUT[:20])
    assert not review._hears_no_order(lambda source: source, HELD_OUT[:20])


def test_what_has_no_name_is_shown():
    nearly = lambda target, source: target if source < "M" else target.split()[0]
    message = diagnosed(nearly)
    assert "% of 100 held-out sentences are right; it takes 95%" in message
    assert "became" in message
    assert len(message) < 400


def test_a_function_that_does_not_translate():
    assert "raised `KeyError: 'x'`" in diagnosed(lambda target, source: {}["x"])
    assert "returned a list; a target is one string" in diagnosed(lambda target, source: [target])


@pytest.mark.parametrize(
    "sizes", [{}, {"tie_weights": "target"}, {"num_layers": 1}, {"norm_first": False}]
)
def test_untrained_models_of_all_kinds(sizes):
    vocabularies = [review.Vocabulary.build((p[side] for p in TRAIN), "en") for side in (0, 1)]
    model = make_model(*map(len, vocabularies), max_len=12, **sizes)
    translator = Translator(model, *vocabularies)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = diagnosed(lambda target, source: translator.translate([source])[0])
    assert message in (review.UNTRAINED, review.ECHO)


def test_a_capstone_may_take_longer_than_other_answers(monkeypatch):
    monkeypatch.setattr(review.capstone, "seconds", 0.2)

    def endless(pairs):
        while True:
            pass

    assert "still running after 0.2 seconds" in review.capstone.judge(endless).message


def test_mistakes_of_the_capstone_leave_random_numbers_alone():
    state = torch.get_rng_state()
    review.capstone.judge(review.capstone.mistakes[0][1])
    assert_close(torch.get_rng_state(), state)
