"""What the third edition's form becomes: plan, slides, page, sheet and the instructor's notebook."""

import nbformat
import pytest
from bs4 import BeautifulSoup
from small_lesson import SVG, small_lesson

from transformer_lib.publish import instructor, lessons, plan, sheets, site, slides
from transformer_lib.publish.__main__ import main

STEM = "09_small"


@pytest.fixture
def path(tmp_path):
    """The small lesson as a file."""
    nbformat.write(small_lesson(), tmp_path / f"{STEM}.ipynb")
    return tmp_path / f"{STEM}.ipynb"


@pytest.fixture
def built(path, tmp_path, monkeypatch):
    """Its site, printed by nobody."""
    monkeypatch.setattr(sheets, "BROWSERS", ())
    return site.write_site([path], tmp_path / "site").parent


@pytest.fixture
def page(built):
    return parsed(built / f"{STEM}.html")


@pytest.fixture
def deck(path, tmp_path):
    return parsed(slides.write_deck(path, tmp_path / "slides"))


def parsed(file):
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def test_what_goes_wrong_and_the_model_answer_come_from_the_text(path):
    told = plan.plan(lessons.read_lesson(path)).told
    assert told["Goes wrong"] == {
        "Two guests": "If you add both halves, you get a whole gift again, and it belongs to nobody. "
        "Each half has its own guest."
    }
    assert told["Model answer"] == {"Explain it to a friend": "Two unknowns need two equations."}
    assert told["Skip if late"]["Two guests"] == "The drawing."


def test_a_pause_takes_no_minute_of_the_class(path):
    lesson = lessons.read_lesson(path)
    assert [(s.heading, s.minutes) for s in lesson.core if s.heading.startswith(lessons.PAUSE)] == [
        ("Pause: half of it", 0)
    ]
    assert lesson.minutes == 38


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


def test_lessons_without_a_sheet_are_named(tmp_path, capsys):
    assert main(["sheets", "19", "--out", str(tmp_path)]) == 1
    assert "None of these lessons closes with a sheet yet: 19_review" in capsys.readouterr().err


def test_the_instructor_reads_the_model_answer_unfolded(path, tmp_path):
    written = instructor.write_notebook(path, tmp_path / "instructor", execute=False)
    filled = nbformat.read(written, as_version=4)
    assert any("**A model answer**" in c.source or "Two unknowns" in c.source for c in filled.cells)
    assert not any("<details>" in cell.source for cell in filled.cells)
