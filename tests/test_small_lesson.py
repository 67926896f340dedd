"""What a lesson's form becomes: plan, slides, page, sheet and the instructor's notebook."""

import base64
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from small_lesson import ALT, ROAD, SVG, small_lesson

from transformer_lib.publish import instructor, lessons, plan, render, sheets, site, slides

STEM = "09_small"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The small lesson as a file."""
    path = tmp_path_factory.mktemp("lesson") / f"{STEM}.ipynb"
    nbformat.write(small_lesson(), path)
    return path


@pytest.fixture(scope="module")
def built(path):
    """Its site, printed by nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheets, "BROWSERS", ())
        return site.write_site([path], path.parent / "site").parent


@pytest.fixture
def page(built):
    return parsed(built / f"{STEM}.html")


@pytest.fixture
def deck(path, tmp_path):
    return parsed(slides.write_deck(path, tmp_path / "slides"))


def parsed(file):
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def test_the_minutes_of_a_section_are_those_of_its_note_and_a_pause_has_none(path):
    lesson = lessons.read_lesson(path)
    assert [section.minutes for section in lesson.sections] == [2, 4, 9, 0, 6, 4, 8, 1, 2, 2, 0, 0]
    assert lesson.sections[3].heading == "Pause: half of it"
    assert lesson.minutes == 38
    assert [(s.effort.minutes, s.effort.dots) for s in lesson.deeper] == [(3, "●●○"), (2, "●●●")]


def test_the_class_of_45_minutes_has_the_core_and_that_of_90_the_exercises_too(path):
    planned = plan.plan(lessons.read_lesson(path))
    assert [section.heading.split(":")[0] for section in planned.skipped[45]] == [
        "Exercise",
        "Build",
    ]
    assert planned.skipped[90] == []
    assert (planned.spare(45), planned.spare(90)) == (45 - 26, 90 - 38)


def test_what_goes_wrong_and_the_model_answer_come_from_the_text(path, tmp_path):
    told = plan.plan(lessons.read_lesson(path)).told
    assert told["In a hall"] == {}
    assert told["Goes wrong"] == {
        "Two guests": "If you add both halves, you get a whole gift again, and it belongs to nobody. "
        "Each half has its own guest."
    }
    assert told["Model answer"] == {"Explain it to a friend": "Two unknowns need two equations."}
    assert told["Skip if late"] == {
        "Two guests": "The drawing.",
        "Build: side by side again": "All of it.",
    }
    page = parsed(plan.write_plan([path], tmp_path)).main.get_text()
    assert "a bound, proved (3 min, ●●○); three guests (2 min, ●●●)" in page
    for part, title in plan.TITLES.items():
        assert (title in page) == bool(told[part]), part


def test_what_goes_deeper_is_behind_the_last_slide(deck):
    headings = [tag.get_text() for tag in deck.select(".slide h1, .slide h2")]
    apart = headings.index("Going deeper")
    assert headings[apart - 2 : apart] == ["Explain it to a friend", "Today in three sentences"]
    assert headings[apart + 1 :] == ["Going deeper: a bound, proved", "Going deeper: three guests"]
    assert [len(headings), headings.count("Going deeper")] == [14, 1]


def test_what_goes_deeper_takes_no_time_of_the_class(deck):
    seconds = [int(tag["data-timing"]) for tag in deck.select("section[data-timing]")]
    assert abs(sum(seconds) - 60 * 38) <= len(seconds)
    assert seconds[-3:] == [0, 0, 0]


def test_links_to_a_section_lead_to_its_slides_and_to_its_place_on_the_page(deck, page):
    for link in deck.select('.slide a[href^="#/"], .notes a[href^="#/"]'):
        assert deck.find(id=link["href"][2:]), link
    assert [a.get_text() for a in deck.select('.slide a[href^="#/"]')] == [
        "proved below",
        "three guests",
        "a bound, proved",  # on the slide that lists what goes deeper
        "three guests",
    ]
    (link,) = [a for a in page.select("article a") if a.get_text() == "proved below"]
    assert page.find(id=link["href"][1:]).h2.get_text().startswith("Going deeper: a bound, proved")


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
    shown = page.find(id="two-guests").get_text()
    assert "How much does one head lose" in shown
    for told in ("0.50", "mixture = gifts", "0.5", "Half of each gift"):
        assert told not in shown, told


def test_of_a_prediction_the_slide_shows_the_question_first(deck):
    (question,) = deck.select(".question:not(.asked)")
    after = question.find_next_siblings("div")[:2]
    assert [block["class"] for block in after] == [["output", "fragment"], ["prose", "fragment"]]
    assert "Half of each gift is lost." in after[1].get_text()


@pytest.mark.parametrize("edition", ["deck", "page"])
def test_a_drawing_is_a_picture_with_its_words_that_needs_no_network(edition, request):
    pictures = request.getfixturevalue(edition).select(".figure img")
    assert [picture["alt"] for picture in pictures] == [ALT, ROAD]
    for picture in pictures:
        width, height = int(picture["width"]), int(picture["height"])
        assert width * 120 == height * 320
        assert (width == 320) == (edition == "page")  # a slide gives it the room that it has
        kind, _, data = picture["src"].partition(",")
        assert kind == "data:image/svg+xml;base64"
        drawn = base64.b64decode(data).decode()
        words = re.compile(r">([^<]+)</text>")
        assert words.findall(drawn) == words.findall(SVG) == ["head 0", "head 1"]
        assert (drawn == SVG) == (edition == "page")  # on a slide its words are larger


def test_a_drawing_without_a_size_is_refused():
    with pytest.raises(ValueError, match="needs a viewBox"):
        render.drawing("<svg><path/></svg>", ALT)


@pytest.mark.parametrize("edition", ["page", "deck"])
def test_the_blocks_and_the_road_map_can_be_told_by_a_style(edition, request):
    soup = request.getfixturevalue(edition)
    assert "belongs to nobody" in " ".join(soup.select_one("blockquote.careful").get_text().split())
    assert soup.select_one("blockquote.in-short").strong.get_text() == "In short."
    roads = [" ".join(road.get_text().split()) for road in soup.select("p.road")]
    assert set(roads) == {"Road map: 1 guests · 2 equal heads"}
    assert {road.strong.get_text() for road in soup.select("p.road")} == {
        "1 guests",
        "2 equal heads",
    }


def test_a_warning_stands_on_a_slide_whole(deck):
    for quote in deck.select("blockquote"):
        if not quote.find_parent("aside"):
            assert quote.find_parent(class_="slide")
    shown = [q.get_text() for q in deck.select(".slide blockquote")]
    assert [text.split(".")[0].strip() for text in shown] == ["Careful", "In short"]


def test_the_model_answer_is_folded_on_the_page_and_read_by_the_speaker(page, deck):
    (fold,) = [f for f in page.select("details") if f.summary.get_text() == "A model answer"]
    assert not fold.has_attr("open")
    assert "Two unknowns" in fold.get_text()
    assert "Two unknowns" in " ".join(note.get_text() for note in deck.select("aside.notes"))


def test_the_glossary_takes_a_definition_from_the_lessons_own_table(built):
    entry = parsed(built / "glossary.html").find(id="head")
    assert "One of several attentions side by side." in entry.dd.get_text()
    assert entry.dd.a["href"] == f"{STEM}.html#on-one-sheet"


def test_each_figure_can_be_taken_as_a_file(built, page):
    figures = page.select("figure")
    assert len(figures) == 3
    for figure in figures:
        links = [link["href"] for link in figure.select(".files a")]
        assert links == [f"figures/{figure['id']}.svg", f"figures/{figure['id']}.png"]
        assert (built / links[0]).read_text("utf-8").startswith("<svg")
        assert (built / links[1]).read_bytes().startswith(b"\x89PNG")
    assert (built / "figures" / f"{figures[0]['id']}.svg").read_text("utf-8") == SVG


def test_a_sheet_has_what_the_lesson_closes_with_and_the_booklet_every_sheet(built, page):
    assert page.select_one(".away a[href='sheet_09.html']")
    assert parsed(built / "index.html").select_one("a[href='booklet.html']")
    for name in ("sheet_09", "booklet"):
        (sheet,) = parsed(built / f"{name}.html").select(".sheet")
        assert sheet.h1.get_text() == "09 · Two heads"
        assert not sheet.select("h2"), "its heading stands above it"
        text = sheet.get_text()
        for said in (
            r"\mathrm{lost}",
            "(2, 2)",
            "halves = gifts.mean",
            "注意力头",
            "Both halves are",
        ):
            assert said in text, said
        assert "Ask." not in text
        assert [
            tag["href"] for tag in parsed(built / f"{name}.html").select("link[rel=stylesheet]")
        ] == ["assets/sheets.css"]
    assert (built / "assets/sheets.css").is_file()


def test_the_instructor_reads_all_of_it_and_what_goes_deeper_is_marked(path, tmp_path):
    written = instructor.write_notebook(path, tmp_path / "instructor", execute=False)
    filled = nbformat.read(written, as_version=4)
    nbformat.validate(filled)
    assert any("**A model answer**" in c.source or "Two unknowns" in c.source for c in filled.cells)
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
