"""The lessons keep the rules of their form, and each rule sees what breaks it."""

from functools import cache

import nbformat
import pytest
from edition import RULES, complaints
from rules import answers, drawings, form, names, parts, times, voice
from small_lesson import ALT, SVG, note, ran, small_lesson, told

from transformer_lib.publish import lessons


@cache
def stored(path):
    return nbformat.read(path, as_version=4)


def ruled():
    """Every lesson with each rule."""
    for path in lessons.find_lessons():
        for rule in RULES:
            yield pytest.param(path, rule, id=f"{path.stem}-{rule.__module__}.{rule.__name__}")


@pytest.mark.parametrize(("path", "rule"), list(ruled()))
def test_a_lesson_keeps_the_rule(path, rule):
    assert rule(stored(path)) == []


@pytest.fixture
def lesson():
    """A notebook that keeps every rule, to be spoilt."""
    return small_lesson()


def test_the_small_lesson_keeps_every_rule(lesson):
    nbformat.validate(lesson)
    assert complaints(lesson) == []


def at(lesson, text):
    """The number of the one cell that begins so."""
    (number,) = [i for i, cell in enumerate(lesson.cells) if cell.source.startswith(text)]
    return number


def cell(lesson, text):
    return lesson.cells[at(lesson, text)]


def replace(lesson, old, new):
    """Replaces a text that stands in one cell."""
    (found,) = [cell for cell in lesson.cells if old in cell.source]
    found.source = found.source.replace(old, new)


def before_the_recap(lesson, *cells):
    where = at(lesson, "## What people get wrong")
    lesson.cells[where:where] = cells


def deeper(source, **metadata):
    return ran(source, tags=["deeper"], **metadata)


def test_only_the_first_code_is_set_up(lesson):
    lesson.cells.insert(at(lesson, "## Break it"), ran("x = 1", tags=["setup"]))
    assert form.set_up(lesson) == ["tagged `setup`, and not the first code: 'x = 1'"]


def test_words_are_counted_as_they_stand():
    cells = [told("Of $a + b$ say *so much*: [a paper](https://arxiv.org/abs/1)\n\n| x | y |")]
    assert parts.words(cells) == 14  # Of $a + b$ say *so much*: [a paper](…) | x | y |


@pytest.mark.parametrize(
    ("rule", "old", "new", "said"),
    [
        (form.set_up, "import torch\n\ngifts", "def f():\n    pass\n\ngifts", "not: 'def f()"),
        (form.set_up, "import torch\n\ngifts", "for x in [1]:\n    x\ngifts", "not: 'for x"),
        (form.opening, "38 alone", "an hour", "**Time:**"),
        (form.opening, "**Before:**\n[lesson 04](04_scaled_dot_product.ipynb).", "", "**Before:**"),
        (form.opening, "Why one head is not enough, shown on two guests.\n\n", "", "promise"),
        (form.opening, "# 09 · Two heads", "# Two heads", "a title"),
        (form.opening, 'recall("09")', "pass", "a quiz"),
        (form.opening, "## Before we start", "## Before", "## Before we start"),
        (form.opening, "What does it lose when two guests bring a gift each?", "", "the question"),
        (form.road_map, "**1 guests** · 2", "1 guests · 2", "no road map with one step in bold"),
        (form.road_map, "1 guests · **2 equal heads**", "1 guests · **2 heads**", "not drawn: 2 heads"),
        (form.road_map, "1 guests · **2 equal heads**", "**2 equal heads**", "road maps differ"),
        (form.recall, 'recall("09")', 'recall("00")', "three questions"),
        (form.recall, 'recall("09")', 'quiz("09.1", "09.2", "08.1")', "two on earlier"),
        (form.order, "## Break it: equal heads", "## Equal heads", "nothing is broken"),
        (form.order, "## Build: side by side again", "## Exercise: so", "last exercise"),
        (form.order, "*5 min · ●○○*", "5 minutes", "minutes and dots"),
        (form.order, "## On one sheet", "## The end", "should end with"),
        (form.asides, "Half of each gift is", "> **In short.** Half of each gift is", "one of the two"),
        (form.sheet, "$$\\mathrm", "$\\mathrm", "a formula"),
        (form.sheet, "| name | shape |", "| name | size |", "a table of shapes"),
        (form.sheet, "halves = gifts.mean(dim=0)\nprint(1", "\n".join(["gifts"] * 20) + "\nprint(1", "lines of code"),
        (form.sheet, "| term | what it means | 中文 |", "| term | 中文 |", "the terms"),
        (form.sheet, "1. Both halves", "Both halves", "the mistakes"),
        (form.ending, "Why do two heads know more than one?", "Two heads.", "nothing is asked"),
        (form.ending, "A model answer", "Answer", "A model answer"),
        (form.ending, "**Next:**", "Then", "**Next:**"),
        (form.notes, "**Ask.** Who believed it?", "Who believed it?", "should open with"),
        (form.notes, "**Ask.** Who believed it?", "**Goes wrong.** All.", "stands in the text: Goes wrong"),
        (form.deeper_behind, "*3 min · ●●○*", "", "no line such as"),
        (form.deeper_behind, "## Going deeper: a bound, proved", "## A bound", "go together"),
        (form.pointed_to, "(#Going-deeper:-three-guests)", "(#here)", "'Going deeper: three guests'"),
        (form.folds_close, "is **lost**.\n\n</details>", "is **lost**.</details>", "blank line"),
        (times.in_class, "38 minutes", "37 minutes", "the notes have 38 minutes, the header 37"),
        (times.alone, "38 alone", "25 alone", "the header says 25 minutes, the rule 38"),
        (times.sittings, ", in two sittings", "", "1 sittings, the pauses make 2"),
        (times.sittings, "*5 min · ●○○*", "*60 min · ●○○*", "sitting 2 takes 115 minutes"),
        (times.going_deeper, "5 going", "9 going", "the header says 9 minutes, the rule 5"),
        (times.going_deeper, "*3 min", "*4 min", "the sections have 6 minutes, the header 5"),
        (voice.links, "[Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762)", "Vaswani et al. (2017)", "Vaswani"),
    ],
)  # fmt: skip
def test_a_rule_sees_what_breaks_it(lesson, rule, old, new, said):
    replace(lesson, old, new)
    assert any(said in complaint for complaint in rule(lesson)), rule(lesson)


@pytest.mark.parametrize(
    ("rule", "old", "new", "said"),
    [
        (form.order, "## From ids to a batch", "## Exercise: batch", "On one sheet: from text to"),
        (form.road_map, "2 encoder · **3 decoder**", "2 reader · **3 decoder**", "drawn: 2 reader"),
        (
            form.sheet,
            "| term | what it means | 中文 |\n|---|---|---|\n| token",
            "| token",
            "the terms",
        ),
    ],
)
def test_each_part_of_a_lesson_keeps_the_rules(rule, old, new, said):
    """Lesson 05 has a sheet before its first pause, and a second road map behind it."""
    notebook = nbformat.read(lessons.NOTEBOOKS / "05_sequence_to_sequence.ipynb", as_version=4)
    assert rule(notebook) == []
    replace(notebook, old, new)
    assert any(said in complaint for complaint in rule(notebook)), rule(notebook)


def test_the_set_up_is_folded(lesson):
    del cell(lesson, "import torch").metadata["jupyter"]
    assert form.set_up(lesson) == ["the set-up is not folded (source_hidden)"]


def test_what_sums_a_section_up_is_its_last_word(lesson):
    lesson.cells.insert(at(lesson, "> **In short.**") + 1, told("And one more thing."))
    assert form.asides(lesson) == ["**In short** does not close 'Break it: equal heads'"]


def test_a_pause_has_no_note(lesson):
    lesson.cells.insert(at(lesson, "## Pause") + 1, note(1, "**Ask.** Tea?"))
    assert form.notes(lesson) == ["1 notes in 'Pause: half of it'"]


def test_the_picture_stands_before_the_second_section(lesson):
    cell(lesson, "two_heads()").outputs.clear()
    assert form.opening(lesson) == ["it should open with a picture and the question that it raises"]


def test_a_chart_moves_without_a_kernel(lesson):
    cell(lesson, "explorer()").outputs.clear()
    assert form.order(lesson) == ["no chart that moves without a kernel"]


def test_a_section_of_the_core_has_one_note_and_a_deeper_one_none(lesson):
    del lesson.cells[at(lesson, "Why do two heads") + 2]
    lesson.cells.insert(at(lesson, "## Pause"), note(1, "**Ask.** Again?"))
    lesson.cells.append(note(1, "**Ask.** At home?"))
    lesson.cells[-1].metadata.tags.append("deeper")
    assert [said.split(" in ")[0] for said in form.notes(lesson)] == [
        "2 notes",
        "0 notes",
        "1 notes",
    ]


def test_nothing_of_the_core_stands_behind_what_goes_deeper(lesson):
    lesson.cells.append(told("One more word."))
    assert form.deeper_behind(lesson)[0].startswith("something of the core")


def test_a_deeper_section_is_folded_when_the_notebook_opens(lesson):
    del cell(lesson, "## Going deeper: a bound").metadata["jp-MarkdownHeadingCollapsed"]
    assert form.deeper_behind(lesson) == [
        "not folded in JupyterLab: 'Going deeper: a bound, proved'"
    ]


# Answers


@pytest.mark.parametrize("key", ["source_hidden", "outputs_hidden"])
def test_code_and_output_of_an_answer_are_both_folded(lesson, key):
    del cell(lesson, "# what one head").metadata.jupyter[key]
    assert "should both be folded" in answers.out_of_sight(lesson)[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# what one head loses", "# it loses 0.5", "a comment without numbers"),
        ("# what one head loses\n", "", "a comment without numbers"),
        ("mixture = gifts", "assert 1\nmixture = gifts", "an assert or a band"),
        ("mixture = gifts", "lessons.report('lost', 0.5, 0.4, 0.6)\nmixture = gifts", "a band"),
        ("<details><summary>What it shows</summary>\n\nHalf", "Half", "not folded (<details>)"),
    ],
)
def test_no_answer_stands_in_clear(lesson, old, new, said):
    replace(lesson, old, new)
    (complaint,) = answers.out_of_sight(lesson)
    assert said in complaint


def test_the_code_of_an_answer_is_not_on_the_slide(lesson):
    cell(lesson, "# what one head").metadata.tags = []
    assert "on the slide" in answers.out_of_sight(lesson)[0]


def test_the_checks_of_an_answer_are_folded_too(lesson):
    cell(lesson, "# the same by the formula").metadata.jupyter = {}
    assert "should both be folded" in answers.out_of_sight(lesson)[0]


# Names


@pytest.mark.parametrize(
    "source",
    [
        "print(bound)",
        "def again():\n    return bound + 1",
        "print([bound * i for i in range(3)])",
        "bound = bound + 1",
        "for i in range(3):\n    x = bound * i",
    ],
)
def test_a_deeper_section_takes_no_name_from_another(lesson, source):
    lesson.cells.append(deeper(source))
    (said,) = names.stand_alone(lesson)
    assert said.endswith("takes 'bound' from 'Going deeper: a bound, proved'")


@pytest.mark.parametrize(
    "source",
    [
        "bound = 3\nprint(bound)",
        "for bound in range(3):\n    print(bound)",
        "def f(bound):\n    return bound",
        "print([bound for bound in range(3)])",
        "print(gifts, torch.ones(2), three)",
    ],
)
def test_its_own_names_and_the_cores_it_may_use(lesson, source):
    lesson.cells.append(deeper(source))
    assert names.stand_alone(lesson) == []


@pytest.mark.parametrize(
    "source",
    [
        "gifts = 1",
        "import numpy as gifts",
        "def gifts():\n    pass",
        "gifts[0] = 1",
        "gifts.grad = None",
        "gifts.data[0].x = 2",
        "gifts += 1",
        "del gifts.grad",
        "gifts.mul_(2)",
        "gifts.data[0].zero_()",
        "with torch.no_grad():\n    gifts[0] = 1",
        "def spoil():\n    gifts[0] = 1",
        "for gifts in range(3):\n    pass",
    ],
)
def test_a_deeper_section_changes_nothing_of_the_core(lesson, source):
    lesson.cells.append(deeper(source))
    (said, *more) = names.leave_the_core_alone(lesson)
    assert "'gifts' of the core is" in said
    assert len(more) <= 1


@pytest.mark.parametrize(
    "source",
    [
        "mine = gifts.clone()\nmine[0] = 1",
        "def f(gifts):\n    gifts[0] = 1",
        "print([gifts for gifts in range(2)])",
        "print(gifts.__class__)",
    ],
)
def test_copies_and_local_names_are_free(lesson, source):
    lesson.cells.append(deeper(source))
    assert names.leave_the_core_alone(lesson) == []


def test_what_the_core_only_loops_over_is_free(lesson):
    before_the_recap(lesson, ran("for row in gifts:\n    print(row)"))
    assert names.leave_the_core_alone(lesson) == []
    before_the_recap(lesson, ran("row = gifts[0]"))
    assert names.leave_the_core_alone(lesson) == ["'row' of the core is bound again"]


# Times


def test_the_class_hears_the_core_in_45_minutes_and_the_exercises_in_90(lesson):
    replace(lesson, "For the instructor · 9 min", "For the instructor · 33 min")
    assert times.in_class(lesson)[1:] == ["50 minutes without the exercises, at most 45"]
    replace(lesson, "# 09 ·", "# 13 ·")  # two sessions
    assert times.in_class(lesson)[1:] == []


def test_the_rule_for_a_lone_reader():
    """170 words, 12 lines, 6 folded, a prediction, a recall and its line, an exercise of five
    minutes: 2 + 4 + 1 + 2 + 5⅓ + 8.
    """
    cells = [told("## A\n\n" + "word " * 164), told("**Predict first.** Which one?")]
    cells += [ran("x = 1\n\n" * 12), ran("x = 1\n" * 6, jupyter={"source_hidden": True})]
    cells += [ran('recall("09")'), told("## Exercise: b\n\n*5 min · ●○○*"), told("word " * 500)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert times.by_rule(lessons.cut(notebook)) == pytest.approx(22 + 1 / 3)


# Voice


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("One often reads that heads split the embedding.", False),
        ("It is often said that heads split the embedding.", False),
        ("Many people think so.", False),
        ("A well-known series draws it so.", False),
        ("Many people think so, as in [the book](https://d2l.ai/x).", True),
        ("One often reads it, for instance in Alammar (2018).", True),
        ("Many books, such as d2l 0.17, have it.", True),
        ("Many heads think so.", True),
        ("See [the book](https://d2l.ai/x). Many people think so.", False),
    ],
)
def test_who_is_refuted_is_named(lesson, sentence, named):
    lesson.cells.append(told(sentence))
    assert (voice.sources(lesson) == []) == named


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("Ba et al. (2016) norm each token.", False),
        ("As was shown (Ba et al., 2016).", False),
        ("Györfi and Krzyżak (2002) prove it.", False),
        (
            "[Ba et al. (2016)](https://arxiv.org/abs/1) norm each token, say Ba et al. (2016).",
            True,
        ),
        ("Ba et al. ([2016](https://arxiv.org/abs/1)) norm each token.", True),
        ("Ba et al. (2016), and later [Ba et al. (2016)](https://arxiv.org/abs/1).", False),
        ("In class (2016 of us) nothing is cited.", True),
    ],
)
def test_a_paper_is_linked_at_its_first_mention(text, linked):
    notebook = nbformat.v4.new_notebook(cells=[told(text)])
    assert (voice.links(notebook) == []) == linked


# Drawings


def test_a_drawing_with_alt_text_that_asks_nobody_is_fine():
    assert drawings.faults({"image/svg+xml": SVG, "text/plain": ALT}) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<path", "<script>alert(1)</script><path"),
        ("<path", '<path onclick="alert(1)"'),
        ("<path", '<image href="https://example.org/a.png"/><path'),
        ("<path", "<style>@import 'a.css'</style><path"),
        ("<path", '<path fill="url(https://example.org/a)"'),
        ("<path", "<foreignObject></foreignObject><path"),
        ("viewBox", "box"),
    ],
)
def test_a_drawing_that_does_more_is_seen(old, new):
    assert drawings.faults({"image/svg+xml": SVG.replace(old, new, 1), "text/plain": ALT})


@pytest.mark.parametrize("told", ["", "A box.", "<IPython.core.display.SVG object>"])
def test_a_drawing_needs_its_words(told):
    assert drawings.faults({"image/svg+xml": SVG, "text/plain": told})
