"""Plan, slides, page and instructor's notebook of a small lesson of the second edition."""

import base64
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from old_lesson import old_lesson
from small_lesson import ALT, SVG

from transformer_lib.publish import instructor, lessons, plan, render, site, slides

STEM = "09_old"


@pytest.fixture
def path(tmp_path):
    """The lesson as a file."""
    nbformat.write(old_lesson(), tmp_path / f"{STEM}.ipynb")
    return tmp_path / f"{STEM}.ipynb"


@pytest.fixture
def deck(path, tmp_path):
    return parsed(slides.write_deck(path, tmp_path / "slides"))


@pytest.fixture
def page(path, tmp_path):
    return parsed(site.write_site([path], tmp_path / "site").parent / f"{STEM}.html")


def parsed(file):
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def test_the_minutes_of_a_section_are_those_of_its_note(path):
    lesson = lessons.read_lesson(path)
    assert [section.minutes for section in lesson.sections] == [4, 9, 6, 4, 8, 1, 2, 0, 0]
    assert lesson.minutes == 34
    assert [(s.effort.minutes, s.effort.dots) for s in lesson.deeper] == [(3, "●●○"), (2, "●●●")]


def test_the_class_of_45_minutes_has_the_core_and_that_of_90_the_exercises_too(path):
    planned = plan.plan(lessons.read_lesson(path))
    assert [section.heading.split(":")[0] for section in planned.skipped[45]] == [
        "Exercise",
        "Build",
    ]
    assert planned.skipped[90] == []
    assert (planned.spare(45), planned.spare(90)) == (45 - 22, 90 - 34)


def test_the_plan_tells_what_the_notes_say_where_they_say_it(path, tmp_path):
    planned = plan.plan(lessons.read_lesson(path)).told
    assert planned["Goes wrong"] == {
        "Two guests": "They add both halves.",
        "Exercise: into heads": "A transpose is forgotten.",
        "Build: side by side again": "The heads come out mixed.",
    }
    assert planned["Skip if late"]["Two guests"] == "The drawing."
    assert planned["Model answer"] == {"What you now know": "Two unknowns need two equations."}
    told = parsed(plan.write_plan([path], tmp_path)).main.get_text()
    assert "a bound, proved (3 min, ●●○); three guests (2 min, ●●●)" in told
    assert "first edition" not in told
    for part in plan.TITLES.values():
        assert part in told


def test_what_goes_deeper_is_behind_the_last_slide(deck):
    headings = [tag.get_text() for tag in deck.select(".slide h1, .slide h2")]
    apart = headings.index("Going deeper")
    assert headings[apart - 1] == "What you now know"
    assert headings[apart + 1 :] == ["Going deeper: a bound, proved", "Going deeper: three guests"]
    assert [len(headings), headings.count("Going deeper")] == [10, 1]


def test_links_to_a_section_lead_to_its_slides_and_to_its_place_on_the_page(deck, page):
    for link in deck.select('.slide a[href^="#/"], .notes a[href^="#/"]'):
        assert deck.find(id=link["href"][2:]), link
    assert len(deck.select('.slide a[href^="#/"]')) == 2
    (link,) = [a for a in page.select("article a") if a.get_text() == "proved below"]
    assert page.find(id=link["href"][1:]).h2.get_text().startswith("Going deeper: a bound, proved")


def test_what_goes_deeper_takes_no_time_of_the_class(deck):
    seconds = [int(tag["data-timing"]) for tag in deck.select("section[data-timing]")]
    assert abs(sum(seconds) - 60 * 34) <= len(seconds)
    assert seconds[-3:] == [0, 0, 0]


def test_what_goes_deeper_is_folded_on_the_page_with_its_minutes_in_sight(page):
    folds = page.select("section > details.deeper")
    assert [fold.summary.h2.get_text().split(" #")[0] for fold in folds] == [
        "Going deeper: a bound, proved",
        "Going deeper: three guests",
    ]
    assert not any(fold.has_attr("open") for fold in folds)
    assert "3 minutes, ●●○" in " ".join(folds[0].summary.get_text().split())
    assert "3 min" not in folds[0].get_text().replace(folds[0].summary.get_text(), "")
    assert "bound = 1 - gifts.mean()" in folds[0].get_text()


def test_of_a_prediction_nothing_stands_in_clear_on_the_page(page):
    folds = page.select("article details")
    (read,) = [fold for fold in folds if fold.summary.get_text() == "What it shows"]
    assert "Half of each gift is <strong>lost</strong>." in str(read)
    for fold in folds:
        fold.decompose()
    shown = page.article.get_text()
    assert "How much does one glance lose" in shown
    for told in ("0.50", "glance = gifts", "0.5", "Half of each gift"):
        assert told not in shown, told


def test_of_a_prediction_the_slide_shows_the_question_first(deck):
    (question,) = deck.select(".question:not(.asked)")
    after = question.find_next_siblings("div")
    assert [block["class"] for block in after] == [["output", "fragment"], ["prose", "fragment"]]
    assert "Half of each gift is lost." in after[1].get_text()


@pytest.mark.parametrize("edition", ["deck", "page"])
def test_a_drawing_is_a_picture_with_its_words_that_needs_no_network(edition, request):
    (picture,) = request.getfixturevalue(edition).select(".figure img")
    assert (picture["alt"], picture["width"], picture["height"]) == (ALT, "320", "120")
    kind, _, data = picture["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == SVG


def test_a_drawing_without_a_size_is_refused():
    with pytest.raises(ValueError, match="needs a viewBox"):
        render.drawing("<svg><path/></svg>", ALT)


def test_the_instructor_reads_all_of_it_and_what_goes_deeper_is_marked(path, tmp_path):
    written = instructor.write_notebook(path, tmp_path / "instructor", execute=False)
    filled = nbformat.read(written, as_version=4)
    nbformat.validate(filled)
    for cell in filled.cells:
        assert "<details>" not in cell.source
        assert not cell.metadata.get("jp-MarkdownHeadingCollapsed")
        assert not cell.metadata.get("jupyter", {}).get("outputs_hidden")
    marked = [cell.source for cell in filled.cells if "**Behind the core.**" in cell.source]
    assert [re.match(r"## (Going deeper: .*)", source)[1] for source in marked] == [
        "Going deeper: a bound, proved",
        "Going deeper: three guests",
    ]
    solved = [cell.source for cell in filled.cells if "exercise" in cell.metadata.get("tags", [])]
    assert [source.split("(")[0] for source in solved] == ["def my_split", "def my_join"]
    assert not any("..." in source for source in solved)
