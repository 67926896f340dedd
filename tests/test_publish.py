"""Slides, site and instructor's edition of two lessons, read as a browser and a student would."""

import ast
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sysconfig
import time
import venv
import zipfile
from collections import defaultdict
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from markupsafe import Markup

from transformer_lib.base.lessons import LESSONS
from transformer_lib.base.report import report_table
from transformer_lib.exercises import exercises
from transformer_lib.exercises.quiz import numbered, recalled
from transformer_lib.publish import __main__ as command
from transformer_lib.publish import (
    enlarged,
    instructor,
    lessons,
    plan,
    render,
    sheets,
    site,
    slides,
    tables,
)
from transformer_lib.publish import glossary as words
from transformer_lib.publish import term as calendar
from transformer_lib.publish.routes import routes

PUBLISH = Path(slides.__file__).parent
PATHS = lessons.find_lessons(["01", "03"])
STEMS = [path.stem for path in PATHS]
STEM = pytest.mark.parametrize("stem", STEMS)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with decks in `slides` and pages in `site`."""
    folder = tmp_path_factory.mktemp("build")
    for path in PATHS:
        slides.write_deck(path, folder / "slides")
    site.write_site(PATHS, folder / "site")
    return folder


@pytest.fixture(scope="module")
def soup(built):
    """Every HTML file that was built, parsed, by its path below `built`."""
    return {
        path.relative_to(built).as_posix(): BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for path in sorted(built.rglob("*.html"))
    }


def cells(stem):
    return nbformat.read(lessons.NOTEBOOKS / f"{stem}.ipynb", as_version=4).cells


def squeezed(text):
    """Letters and digits alone: what is left of a sentence under any mark-up."""
    return re.sub(r"[\W_]+", "", re.sub(r"\$.*?\$", "", text, flags=re.S))


def notes(stem):
    """The instructor's notes, a line each."""
    return [
        line
        for cell in cells(stem)
        if "instructor" in cell.metadata.get("tags", [])
        for line in cell.source.splitlines()[2:-2]
        if len(line) > 40
    ]


def test_what_others_wrote_is_unchanged_and_comes_with_its_licence():
    vendor = PUBLISH / "vendor"
    listed = dict(
        reversed(line.split("  ")) for line in (vendor / "SHA256SUMS").read_text().splitlines()
    )
    found = {p.relative_to(vendor).as_posix() for p in vendor.glob("*/*")}
    assert set(listed) == found
    assert {Path(name).parent / "LICENSE" for name in found} <= set(map(Path, found))
    for name, checksum in listed.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == checksum, name


def test_nothing_is_fetched_from_elsewhere(built, soup):
    for name, page in soup.items():
        for tag in page.select("[src], link[href], [data], [srcset], [poster]"):
            target = tag.get("src") or tag.get("href") or tag.get("data")
            if not target.startswith("data:"):
                assert name.startswith("site/"), f"{name} is one file, but needs {target}"
                assert (built / name).parent.joinpath(target).is_file(), target
    styles = [s.string for page in soup.values() for s in page.select("style")]
    styles += [path.read_text("utf-8") for path in (built / "site/assets").glob("*.css")]
    assert styles
    for style in styles:
        assert "@import" not in style
        assert not re.search(r"url\(\s*['\"]?(?!data:|#)", style)


def test_every_picture_says_what_it_shows(soup):
    pictures = [(n, i) for n, page in soup.items() for i in page.select("img")]
    assert len(pictures) > 10
    for name, picture in pictures:
        assert len(picture.get("alt", "")) > 20, name


def test_every_head_of_a_table_says_something(soup):
    assert "<th></th>" not in render.markdown("| | b |\n|---|---|\n| a | 1 |")
    heads = [head for page in soup.values() for head in page.select("th")]
    assert heads
    assert all(head.get_text(strip=True) for head in heads)


@STEM
def test_every_heading_is_on_a_slide_and_on_the_page(soup, stem):
    wanted = [
        cell.source.splitlines()[0].lstrip("# ")
        for cell in cells(stem)
        if cell.cell_type == "markdown" and cell.source.startswith("#")
    ]
    on_slides = [tag.get_text() for tag in soup[f"slides/{stem}.html"].select("h1, h2")]
    made = ("Going deeper", slides.TODAY)  # what the deck adds: two lists
    on_slides = [text for text in on_slides if text not in made]
    on_page = [
        tag.get_text().removesuffix(" #") for tag in soup[f"site/{stem}.html"].select("h1, h2")
    ]
    assert list(map(squeezed, on_slides)) == list(map(squeezed, wanted))
    assert list(map(squeezed, on_page)) == list(map(squeezed, wanted))


@STEM
def test_the_speaker_reads_the_notes_and_the_class_does_not(soup, stem):
    deck = soup[f"slides/{stem}.html"]
    spoken = squeezed(" ".join(tag.get_text() for tag in deck.select("aside.notes")))
    shown = squeezed(" ".join(tag.get_text() for tag in deck.select(".slide")))
    assert notes(stem)
    for line in notes(stem):
        assert squeezed(line)[:60] in spoken, line
        assert squeezed(line)[:60] not in shown, line


@STEM
def test_a_note_is_read_before_its_section_begins(soup, stem):
    for aside in soup[f"slides/{stem}.html"].select("aside.notes"):
        if "For the instructor" in aside.get_text():
            assert aside.parent.select_one(".slide > h1, .slide > h2"), aside.get_text()[:80]
            assert aside.get_text(strip=True).startswith("For the instructor")


@STEM
def test_the_site_keeps_the_instructors_notes_to_itself(built, soup, stem):
    everything = squeezed(soup[f"site/{stem}.html"].get_text())
    index = squeezed((built / "site/assets/search-index.js").read_text("utf-8"))
    for line in notes(stem):
        assert squeezed(line)[:60] not in everything, line
        assert squeezed(line)[:60] not in index, line


@STEM
def test_the_seconds_of_the_slides_are_the_minutes_of_the_lesson(soup, stem):
    deck = soup[f"slides/{stem}.html"]
    seconds = [int(tag["data-timing"]) for tag in deck.select("section[data-timing]")]
    minutes = int(re.search(r"(\d+) minutes", cells(stem)[0].source)[1])
    assert abs(sum(seconds) - 60 * minutes) <= len(seconds)


@STEM
def test_code_that_only_draws_is_not_on_a_slide(soup, stem):
    listings = squeezed(
        " ".join(tag.get_text() for tag in soup[f"slides/{stem}.html"].select(".code"))
    )
    shown = [c for c in cells(stem) if c.cell_type == "code" and lessons.place(c) != "skip"]
    assert {"hide-input" in c.metadata.get("tags", []) for c in shown} == {True, False}
    for cell in shown:
        first = squeezed(cell.source)[:80]
        drawn = "hide-input" in cell.metadata.get("tags", []) or first.startswith("recall")
        assert (first in listings) != drawn, first


@STEM
def test_a_predicted_answer_appears_after_its_question(soup, stem):
    """It is a fragment, or stands on a slide of its own under the question."""
    questions = [c for c in cells(stem) if "**Predict first" in c.source]
    first = soup[f"slides/{stem}.html"].select(".question:not(.asked)")
    assert len(first) == len(questions)
    for question in first:
        after = question.find_next_siblings("div")
        assert all("fragment" in block["class"] for block in after if "output" in block["class"])


@pytest.fixture(scope="module")
def decks():
    """The slides of every lesson, a list a section, by the lesson's name."""
    return {
        path.stem: [slides.slides(section) for section in lessons.read_lesson(path).sections]
        for path in lessons.find_lessons()
    }


def blocks(slide):
    return [block for step in slide.steps for block in step.blocks]


def test_every_slide_has_a_note_for_the_speaker(decks, soup):
    silent = [
        (stem, slide.section.heading)
        for stem, sections in decks.items()
        for section in sections
        for slide in section
        if not any(note.striptags().strip() for note in slide.notes)
    ]
    assert silent == []
    for stem in STEMS:  # with the slide that lists what goes deeper
        for slide in soup[f"slides/{stem}.html"].select(".slide"):
            assert slide.find_next_sibling("aside").get_text(strip=True)


def test_a_question_is_followed_by_its_answer_and_every_answer_stands_under_its_question(decks):
    for stem, sections in decks.items():
        for section in sections:
            for slide, after in zip(section, [*section[1:], None], strict=True):
                if "Predict first" in text_of(
                    slide, -1
                ):  # the answer is on the next slide, under the question
                    assert after, (stem, slide.section.heading)
                    assert blocks(after)[0].html == blocks(slide)[-1].html, after.section.heading


def test_what_is_predicted_and_what_it_shows_stand_under_the_question(decks):
    """Held against the notebooks: no answer of a section without its last question."""
    for path in lessons.find_lessons():
        for section, shown in zip(
            lessons.read_lesson(path).sections, decks[path.stem], strict=True
        ):
            question = ""
            for cell in section.cells:
                if "**Predict first" in cell.source:
                    question = squeezed(render.plain(cell.source.partition("**Predict first")[2]))
                elif "What it shows</summary>" in cell.source and question:
                    answer = slides.FORMULA.sub("", lessons.unfolded(cell.source))
                    first = squeezed(render.plain(answer))[:20]
                    there = [s for s in shown if first in squeezed(text_of(s))]
                    assert there, (path.stem, section.heading, first)
                    assert question[:40] in squeezed(text_of(there[0])), (path.stem, first)


def text_of(slide, start=0):
    return " ".join(block.html.striptags() for block in blocks(slide)[start:])


def test_a_paragraph_that_announces_stands_above_what_it_announces():
    def cell(source, slide_type, make=nbformat.v4.new_markdown_cell):
        return make(source, metadata={"slideshow": {"slide_type": slide_type}})

    first, second = slides.slides(
        lessons.Section(
            "Two slides",
            [
                cell("## Two slides\n\nOne sentence.", "slide"),
                cell("It reads it. It reads it twice.", "notes"),
                cell("It says more.\n\nThe numbers are ours. Now counted:", "notes"),
                cell("1 + 1", "subslide", nbformat.v4.new_code_cell),
            ],
        )
    )
    assert text_of(first) == "One sentence. It reads it. It reads it twice. It says more."
    assert [block.kind for block in blocks(second)] == ["prose", "code"]
    assert [note.striptags() for note in second.notes] == ["The numbers are ours. Now counted:"]
    assert text_of(second).startswith("The numbers are ours. Now counted:")


def test_no_sentence_of_a_slide_is_cut_inside_a_bracket():
    told = " ".join(["Many words (that say little. They go on.) It ends."] + ["More words."] * 30)
    cell = nbformat.v4.new_markdown_cell(told)
    assert "Many words (that say little." not in slides._sentences(cell)
    assert "Many words (that say little. They go on.)" in slides._sentences(cell)


FRAME = pd.DataFrame({"w at 100": [3.95, 12.25], "name": ["a b", "c"]}, ["left out", "kept"])
NUMBERS = pd.DataFrame(
    {"BLEU": ["40.3 ± 1.2", "75.0 ± 0.6"], "AER": ["-", "0.1 ± 0.0"]}, ["a b", "c"]
)
PAIRS = pd.DataFrame({"2 heads": ["≈ 0.96 / ≈ 0.19", "≈ 1.00 / ≈ 0.17"]}, ["added", "turned"])


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        NUMBERS,
        PAIRS,
        FRAME.rename_axis("width"),
        FRAME.head(1),
        FRAME.assign(extra=[True, False]),
    ],
)
def test_a_printed_frame_is_a_table_of_the_same_cells(frame, index):
    printed = frame.to_string(index=index)
    *before, table = tables.split(f"frame.to_string({index=})", f"a line before\n{printed}")
    assert before == ["a line before"]
    assert table.columns == list(frame.columns)
    cells = [[cell.replace("\xa0", " ") for cell in cells] for _, cells in table.rows]
    assert cells == frame.astype(str).to_numpy().tolist()
    assert [name for name, _ in table.rows] == (list(frame.index) if index else [""] * len(frame))
    assert table.corner == (frame.index.name or "" if index else "")


def test_a_reported_table_is_a_table_and_its_bands_stay_text(capsys):
    report_table(pd.DataFrame({"BLEU": [1.25, 20.0]}, ["a", "b"]), {"BLEU": (0, 30)})
    table, bands = tables.split("report_table(frame)", capsys.readouterr().out)
    assert [cells for _, cells in table.rows] == [["≈\xa01.2"], ["≈\xa020.0"]]
    assert bands == "BLEU: expected 0 to 30"


def test_the_last_row_of_a_frame_stays_in_its_table_when_a_blank_line_follows():
    printed = "     one\na      1\nbcd   20 \n\nafter"
    table, after = tables.split('print(frame.to_string(), "\\n")', printed)
    assert table.rows == [("a", ["1"]), ("bcd", ["20"])]
    assert after == "after"


def test_aligned_lines_that_no_frame_printed_stay_text():
    printed = "    one\nbcd   1"
    assert list(tables.split("print(lines)", printed)) == [printed]


def test_no_cell_of_a_table_is_lost(decks):
    """All that the frames of the lessons print stands on their slides, in the same order."""
    found = 0
    for path in lessons.find_lessons():
        for cell in lessons.read_lesson(path).notebook.cells:
            for piece in render.pieces(cell) if cell.cell_type == "code" else ():
                if piece.kind == "text":
                    parts = list(tables.split(cell.source, piece.plain))
                    found += sum(isinstance(part, tables.Table) for part in parts)
                    told = " ".join(
                        p if isinstance(p, str) else p.html().striptags() for p in parts
                    )
                    assert sorted(squeezed(told)) == sorted(squeezed(piece.plain))
    assert found > 50


def test_the_choices_of_a_question_of_the_quiz_stand_on_one_slide(decks):
    opening = [
        slide
        for stem, sections in decks.items()
        if stem[:2] > "00"
        for section in sections[:2]
        for slide in section
    ]
    asked = [b for slide in opening for b in blocks(slide) if "<details" in b.html]
    assert len(asked) == 3 * (len(decks) - 1)
    for block in asked:
        assert block.html.count("Right.") == 1
        assert len(block.note.striptags()) > 20


def test_the_speaker_reads_the_right_choice_before_the_wrong_ones():
    said = "<summary>{0}</summary><p><strong>{1}.</strong> Why {0}.</p>"
    choices = [("A", "Wrong"), ("B", "Right"), ("C", "Wrong")]
    told = slides._answers("".join(said.format(*choice) for choice in choices)).striptags()
    assert told == "Right: B Why B.Wrong: A Why A.Wrong: C Why C."


def test_of_a_question_of_the_quiz_the_speaker_reads_what_each_wrong_choice_shows(decks):
    notes = squeezed(
        " ".join(
            note.striptags()
            for sections in decks.values()
            for section in sections
            for slide in section
            for note in slide.notes
        )
    )
    asked = {name for number in lessons_of() for name in recalled(number)}
    for name in asked:
        for _, choice, why in numbered()[name].lettered():
            assert squeezed(choice) in notes, (name, choice)
            assert squeezed(why) in notes, (name, why)


def lessons_of():
    return [path.stem[:2] for path in lessons.find_lessons()][1:]


def every_slide(decks):
    for stem, sections in decks.items():
        for section in sections:
            for slide in section:
                yield stem, slide


WORDS = {"prose", "question", "quiz"}  # the kinds of blocks that are written for people


def test_every_slide_with_code_or_an_output_has_a_sentence_on_it(decks):
    silent = []
    for stem, slide in every_slide(decks):
        found = [(block.kind.split()[0], block.html.striptags()) for block in blocks(slide)]
        told = " ".join(text for kind, text in found if kind in WORDS)
        if {kind for kind, _ in found} - WORDS - {"effort"} and len(re.findall(r"\w+", told)) < 2:
            silent.append((stem, slide.section.heading, found))
    assert silent == []


def test_no_sentence_stands_twice_on_a_slide(decks):
    for stem, slide in every_slide(decks):
        told = [block.html for block in blocks(slide) if block.kind == "prose"]
        assert len(set(told)) == len(told), (stem, slide.section.heading)


def test_no_slide_holds_a_question_or_an_aside_and_nothing_else(decks):
    for stem, slide in every_slide(decks):
        kinds = [block.kind for block in blocks(slide)]
        assert slide.opens or kinds not in (["question"], ["question asked"]), (stem, slide)
        if len(kinds) == 1 and not slide.opens:
            assert not blocks(slide)[0].html.startswith("<blockquote"), (stem, slide.section)


def pictures(decks):
    """Of each picture on a slide: lesson, section, its SVG, and how much it is enlarged."""
    for stem, slide in every_slide(decks):
        for block in blocks(slide):
            if block.kind == "figure":
                width, data = re.search(
                    r'width="(\d+)".*base64,([^"]+)"', block.html, re.S
                ).groups()
                root = ElementTree.fromstring(base64.b64decode(data))
                scale = int(width) / float(root.get("viewBox").split()[2])
                yield stem, slide.section.heading, root, scale


def words_in(root):
    """The words of an SVG as it stores them, but for the powers on an axis, which are in pieces."""
    return [text for text in root.iter(f"{{{enlarged.SVG}}}text") if text.get("font-size")]


def test_every_word_of_a_drawing_is_twenty_pixels_high_on_a_slide_of_720_and_of_a_plot_fourteen(
    decks,
):
    seen = 0
    for stem, heading, root, scale in pictures(decks):
        least = 20 if root.get("font-family") == "sans-serif" else 14
        for text in words_in(root):
            seen += 1
            assert float(text.get("font-size")) * scale > least - 0.1, (stem, heading, text.text)
    assert seen > 10_000


def test_on_a_slide_no_word_of_a_drawing_meets_another_or_leaves_the_picture(decks):
    """By the lengths that the SVG itself prescribes."""
    for stem, heading, root, _ in pictures(decks):
        left, top, width, height = map(float, root.get("viewBox").split())
        taken = []
        for text in words_in(root) if root.get("font-family") == "sans-serif" else ():
            size, x, y = (float(text.get(name)) for name in ("font-size", "x", "y"))
            long = float(text.get("textLength", 0.2 * size))  # a letter alone has none
            x -= {"start": 0, "middle": long / 2, "end": long}[text.get("text-anchor")]
            box = x, y - 0.7 * size, x + long, y + 0.2 * size
            where = stem, heading, text.text
            assert left <= box[0] < box[2] <= left + width, where
            assert top <= box[1] < box[3] <= top + height, where
            for other in taken:
                apart = box[2] <= other[0] or other[2] <= box[0]
                assert apart or box[3] <= other[1] or other[3] <= box[1], where
            taken.append(box)


def test_every_word_of_a_stored_drawing_stands_on_a_slide_of_its_lesson(decks):
    shown = defaultdict(set)
    for stem, _, root, _ in pictures(decks):
        shown[stem] |= {text.text for text in words_in(root) if not text.get("opacity")}
    for path in lessons.find_lessons():
        for cell in lessons.read_lesson(path).notebook.cells:
            if cell.cell_type == "code" and lessons.place(cell) in lessons.SHOWN:
                for output in cell.outputs:
                    drawn = output.get("data", {}).get("image/svg+xml")
                    stored = ElementTree.fromstring(drawn) if drawn else ()
                    for text in stored:
                        if text.tag.endswith("text"):
                            assert text.text in shown[path.stem], (path.stem, text.text)


def test_a_word_that_finds_no_place_stands_on_a_part_of_the_picture():
    """Two columns of words that touch already: 20 pixels high, only half of them fit at once."""
    words = [(x, y, f"word {x} {y}") for x in (100, 1100) for y in range(20, 1000, 14)]
    svg = (
        f'<svg xmlns="{enlarged.SVG}" viewBox="0 0 1200 1000" font-family="sans-serif">'
        '<path d="M0,0H1200V1000H0Z" fill="#ffffff"/>'
        + "".join(f'<text x="{x}" y="{y}" font-size="13">{text}</text>' for x, y, text in words)
        + "</svg>"
    )
    whole, *parts = enlarged.enlarged(svg, (1232, 490), 20)
    assert len(words_in(ElementTree.fromstring(whole.svg))) < len(words)
    found = [w.text for part in parts for w in words_in(ElementTree.fromstring(part.svg))]
    assert sorted(found) == sorted(text for *_, text in words)
    assert all(part.width <= 1232 and part.height <= 490 for part in (whole, *parts))


def drawn(width, height, *elements):
    return (
        f'<svg xmlns="{enlarged.SVG}" viewBox="0 0 {width} {height}" font-family="sans-serif">'
        f'<path d="M0,0H{width}V{height}H0Z" fill="#ffffff"/>{"".join(elements)}</svg>'
    )


def test_a_word_that_is_large_enough_keeps_its_size():
    svg = drawn(400, 200, '<text x="20" y="90" font-size="40">word</text>')
    (whole,) = enlarged.enlarged(svg, (1232, 490), 20)
    (word,) = words_in(ElementTree.fromstring(whole.svg))
    assert float(word.get("font-size")) == 40


def test_a_word_that_would_grow_across_a_line_is_shown_on_a_part():
    line = '<path d="M100,104L300,104" stroke="#000000"/>'
    words = [f'<text x="{x}" y="100" font-size="13">word</text>' for x in (100, 1000)]
    whole, *parts = enlarged.enlarged(drawn(1200, 480, line, *words), (1232, 490), 20)
    assert [word.get("x") for word in words_in(ElementTree.fromstring(whole.svg))] == ["1000.00"]
    found = [w.get("x") for part in parts for w in words_in(ElementTree.fromstring(part.svg))]
    assert found == ["100.00", "1000.00"]


def lesson_of(*sources, tags=()):
    """A lesson of sections of one cell."""
    made = [nbformat.v4.new_markdown_cell(text, metadata={"tags": [*tags]}) for text in sources]
    sections = [lessons.Section(f"Section {n}", [cell]) for n, cell in enumerate(made)]
    return lessons.Lesson(Path("00_x.ipynb"), nbformat.v4.new_notebook(cells=made), sections)


def test_of_many_sections_the_first_the_middle_and_the_last_are_said_again():
    lesson = lesson_of(*(f"> **In short.** It is {n}. More of {n}." for n in range(7)))
    (block,) = blocks(slides.today(lesson))
    assert re.findall(r"It is \d|More", block.html) == ["It is 0", "It is 3", "It is 6"]


def test_the_last_slide_of_the_core_says_three_sentences_of_the_lesson_and_none_of_ours():
    for path in lessons.find_lessons():
        lesson = lessons.read_lesson(path)
        (block,) = blocks(slides.today(lesson))
        items = re.findall("<li>(.*?)</li>", block.html, re.S)
        told = squeezed(" ".join(render.plain(text) for s in lesson.core for _, text in s.asides))
        assert 2 <= len(items) <= 3
        for item in items:
            assert squeezed(Markup(item).striptags()) in told


def test_the_clock_on_the_slides_runs_from_the_first_minute_to_the_last(soup):
    for stem in STEMS:
        said = [tag.get_text() for tag in soup[f"slides/{stem}.html"].select(".minute")]
        minutes = [int(text.split()[1]) for text in said]
        whole = lessons.read_lesson(lessons.NOTEBOOKS / f"{stem}.ipynb").minutes
        assert minutes == sorted(minutes)
        assert minutes[0] == 0
        assert whole - 10 < minutes[-1] <= whole
        assert {text.split()[3] for text in said} == {str(whole)}


def test_a_figure_is_vectors(decks):
    sections = [section for stem in decks for section in decks[stem]]
    shown = [block for section in sections for slide in section for block in blocks(slide)]
    figures = [block for block in shown if block.kind == "figure"]
    assert len(figures) > 80
    for figure in figures:
        assert 'src="data:image/svg+xml;base64,' in figure.html


def test_a_long_listing_is_continued_on_the_next_slide():
    lines = [f"line {number}" for number in range(60)]
    cell = nbformat.v4.new_code_cell(
        "...",
        metadata={"slideshow": {"slide_type": "fragment"}},
        outputs=[nbformat.v4.new_output("stream", text="\n".join(lines))],
    )
    found = slides.slides(lessons.Section("Sixty lines", [cell]))
    texts = [
        [block.html.striptags() for step in slide.steps for block in step.blocks] for slide in found
    ]
    assert len(found) >= 3
    assert " ".join(" ".join(slide) for slide in texts).split()[-1] == "59"
    for slide in found:
        for step in slide.steps:
            for block in step.blocks:
                assert block.lines <= slides.LONGEST


@STEM
def test_solutions_are_there_and_folded(soup, stem):
    page = soup[f"site/{stem}.html"]
    names = [
        found
        for cell in cells(stem)
        if "check" in cell.metadata.get("tags", [])
        for found in re.findall(r'check\("([a-z_.]+)"', cell.source)
    ]
    folded = page.select("details.folded-solution")
    assert [squeezed(f.pre.get_text()) for f in folded] == [
        squeezed(exercises()[name].source()) for name in names
    ]
    assert not any(fold.has_attr("open") for fold in page.select("article details"))
    hints = [hint for name in names for hint in exercises()[name].hints]
    assert len(page.select("details.folded-hint")) == len(hints)


@STEM
def test_the_answer_to_a_prediction_is_folded_on_the_page(soup, stem):
    predicted = [c for c in cells(stem) if c.metadata.get("jupyter", {}).get("outputs_hidden")]
    shown = [c for c in predicted if "check" not in c.metadata.get("tags", []) and c.outputs]
    folds = [f for f in soup[f"site/{stem}.html"].select("details") if "See what" in f.get_text()]
    assert shown
    assert len(folds) >= len(shown)


def test_pages_and_sections_that_are_linked_exist(built, soup):
    elsewhere = {path.stem for path in lessons.find_lessons()} - set(STEMS)  # not built here
    for name, page in soup.items():
        for link in page.select("a[href]") if name.startswith("site/") else ():
            target, _, anchor = link["href"].partition("#")
            if not target.startswith("http") and Path(target).stem not in elsewhere:
                there = f"site/{target}" if target else name
                assert (built / there).is_file(), f"{name}: {link['href']}"
                assert not anchor or soup[there].find(id=anchor), f"{name}: {link['href']}"


def test_the_search_knows_every_key_term_and_every_section(built, soup):
    source = (built / "site/assets/search-index.js").read_text("utf-8")
    index = json.loads(re.fullmatch(r"const SEARCH_INDEX = (.*);", source, re.S)[1])
    sections = [
        f"{stem}.html#{tag['id']}"
        for stem in STEMS
        for tag in soup[f"site/{stem}.html"].select("article > section")
    ]
    terms = [
        f"glossary.html#{tag['id']}"
        for tag in soup["site/glossary.html"].select(".glossary > [id]")
    ]
    assert len(terms) > 10
    assert [entry["url"] for entry in index] == terms + sections
    (entry,) = [e for e in index if "two-of-them-padding" in e["url"]]
    assert "boolean" in entry["text"]
    assert all(entry["text"].count("$") % 2 == 0 for entry in index)


def test_the_glossary_has_every_term_and_leads_to_its_lesson(soup):
    rows = {
        row.dt.get_text(): (row.select("dt")[1].get_text(), [a["href"] for a in row.select("a")])
        for row in soup["site/glossary.html"].select(".glossary > div")
    }
    listed = 0
    for path in PATHS:
        lesson = lessons.read_lesson(path)
        assert lesson.terms
        for section in lesson.sections:
            for english, _, chinese in section.terms:
                assert squeezed(rows[render.plain(english)][0]) == squeezed(chinese)
                assert f"{lesson.page}#{section.slug}" in rows[render.plain(english)][1]
                listed += 1
    assert len(rows) <= listed


@pytest.mark.parametrize(
    "name", ["engines", "names", "one_page", "real_text", "several_gpus", "speed", "where_it_runs"]
)
def test_what_readme_has_no_room_for_has_a_page(soup, name):
    page = soup[f"site/{name}.html"]
    assert page.select_one("main h1").text
    assert soup["site/index.html"].select_one(f'a[href="{name}.html"]').text == page.h1.text
    assert all(image["src"].startswith("data:image/svg+xml") for image in page.select("main img"))


def test_the_transformer_on_one_page_is_shown_whole_and_can_be_taken_home(built, soup):
    text = site.ONE_PAGE.read_text("utf-8")
    assert text.strip() in soup["site/one_page.html"].select_one("main").text
    assert soup["site/one_page.html"].select_one('a[href="one_page.py"]')
    for file in ("one_page.py", "downloads/one_page.py"):
        assert (built / "site" / file).read_text("utf-8") == text
    with zipfile.ZipFile(built / "site" / "downloads" / "all_lessons.zip") as archive:
        assert "lessons/one_page.py" in archive.namelist()


def test_every_paper_that_a_lesson_links_to_stands_once_among_the_papers(soup):
    listed = {
        item.a.get_text(): [link["href"] for link in item.span.select("a")]
        for item in soup["site/papers.html"].select(".papers li")
    }
    named = 0
    for stem in STEMS:
        for link in soup[f"site/{stem}.html"].select("article a[href^=https]"):
            if "/issues/" in link["href"]:
                continue
            if year := re.fullmatch(r"([A-Z].*?),?\s\(?(\d{4})\)?", link.get_text(), re.S):
                authors = " ".join(year[1].split()).replace(" and ", " & ").removesuffix("'s")
                name = f"{authors} ({year[2]})"
                assert f"{stem}.html" in listed[name], name
                named += 1
    assert named >= len(listed) > 5


@STEM
def test_a_key_term_leads_to_its_entry_and_the_entry_back(soup, stem):
    lesson = lessons.read_lesson(lessons.NOTEBOOKS / f"{stem}.ipynb")
    assert lesson.terms
    for section in filter(lambda section: section.terms, lesson.sections):
        found = soup[f"site/{stem}.html"].select(f"#{section.slug} tbody tr")
        rows = [row for row in found if row.a and row.a["href"].startswith("glossary.html#")]
        assert len(rows) == len(section.terms)
        for row in rows:
            page, _, anchor = row.a["href"].partition("#")
            entry = soup[f"site/{page}"].find(id=anchor)
            assert row.a.get_text() == row.td.get_text() == entry.dt.get_text()
            assert f"{stem}.html#{section.slug}" in [a["href"] for a in entry.select("a")]
    assert not soup[f"slides/{stem}.html"].select("a[href^=glossary]")


def test_a_term_of_two_lessons_is_one_entry_whatever_its_parentheses_say():
    listed = []
    for english in ("causal mask", "Causal (look-ahead) mask"):
        table = f"{lessons.GLOSSARY}\n|---|---|---|\n| {english} | Never a later one. | 因果掩码 |"
        cells = [nbformat.v4.new_markdown_cell(text) for text in ("## The terms", table)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        listed.append(lessons.Lesson(Path(english), notebook, lessons.cut(notebook)))
    (entry,) = words.glossary(listed)
    assert (entry.english, entry.slug) == ("causal mask", "causal-mask")
    assert entry.lessons == tuple(listed)
    assert [entry.anchor(lesson) for lesson in listed] == ["the-terms"] * 2


def test_a_lesson_in_two_parts_has_two_sheets_that_can_be_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "BROWSERS", ())  # no PDF
    sheets.write_sheets([lessons.NOTEBOOKS / "05_sequence_to_sequence.ipynb"], tmp_path)
    page = BeautifulSoup((tmp_path / "sheet_05.html").read_text(), "html.parser")
    found = page.select(".sheet")
    assert len(found) == len({sheet["id"] for sheet in found}) == 2
    assert found[0].h1.get_text().endswith(": from text to loss")
    assert "tgt_in" in found[0].get_text()
    assert "tgt_in" not in found[1].get_text()


def test_a_term_has_the_same_chinese_name_in_all_lessons():
    found = defaultdict(lambda: defaultdict(list))
    for path in lessons.find_lessons():
        for english, _, chinese in lessons.read_lesson(path).terms:
            found[words.term_slug(english)][re.sub("（.*?）", "", chinese)].append(path.stem[:2])
    assert {term: dict(names) for term, names in found.items() if len(names) > 1} == {}


def test_every_key_term_has_one_definition_and_none_is_left_over():
    """A sentence or two of at most 25 words."""
    listed = words.glossary([lessons.read_lesson(path) for path in lessons.find_lessons()])
    assert sorted(words.forms()) == [term.slug for term in listed]
    for term in listed:
        said = render.plain(term.meaning)
        assert said.endswith("."), term.english
        assert len(said.split()) <= 25, term.english


@pytest.fixture
def mark():
    """Marks three terms in a section called here."""
    meant = {"causal mask": "Never a later one.", "padding mask": "No pad as a key.", "padding": ""}
    listed = [words.Term(name, meaning, "", ()) for name, meaning in meant.items()]
    return words.Marker(listed, "here")


def test_a_term_is_marked_where_a_section_first_mentions_it(mark):
    marked = BeautifulSoup(mark("<p>Causal masks, a causal mask.</p>"), "html.parser")
    assert [dfn.get_text() for dfn in marked.select("dfn")] == ["Causal masks"]
    told = marked.find(id=marked.dfn["aria-describedby"])
    assert told["role"] == "tooltip"
    assert "Never a later one" in told.get_text()
    assert marked.dfn["tabindex"] == "0"
    assert "dfn" not in mark("<p>The causal mask again.</p>")


def test_the_longest_term_is_marked_and_only_in_running_text(mark):
    unmarked = (
        "<h2>padding</h2><code>padding</code> <a href='x'>padding</a> $padding$ $$padding$$ "
        "unpadding padding-free <img alt='padding'><table><tr><td>padding</td></tr></table>"
    )
    assert mark(unmarked) == unmarked
    marked = BeautifulSoup(mark("The padding mask hides padding."), "html.parser")
    assert [dfn.get_text() for dfn in marked.select("dfn")] == ["padding mask", "padding"]


@STEM
def test_what_is_marked_is_a_term_of_this_lesson_or_an_earlier_one(soup, stem):
    known = {
        words.term_slug(english)
        for path in lessons.find_lessons()
        if path.stem <= stem
        for english, *_ in lessons.read_lesson(path).terms
    }
    page = soup[f"site/{stem}.html"]
    assert page.select("dfn")
    for section in page.select("article > section"):
        names = [dfn["aria-describedby"] for dfn in section.select("dfn")]
        assert len(names) == len(set(names))
        assert {name.removeprefix(f"{section['id']}-") for name in names} <= known
        assert all(section.find(id=name, role="tooltip") for name in names)


def test_a_frame_too_large_for_a_slide_comes_in_parts_that_fit_and_loses_nothing():
    frame = pd.DataFrame({f"column {n}": range(n, n + 7) for n in range(9)})
    (table,) = tables.split("report_table(", frame.to_string())
    parts = list(table.portions(5, width=40))
    cells = {
        (name, column, cell)
        for part in parts
        for name, row in part.rows
        for column, cell in zip(part.columns, row, strict=True)
    }
    assert cells == {(str(i), name, str(frame[name][i])) for i in frame.index for name in frame}
    assert {len(part.rows) for part in parts} == {5, 2}
    assert {len(part.columns) for part in parts} == {3}
    (one_wide_column,) = table.portions(9, width=500)
    assert one_wide_column == table


@STEM
def test_frames_are_tables_on_the_page_too_and_no_number_is_lost(soup, stem):
    found = squeezed(soup[f"site/{stem}.html"].get_text())
    framed = 0
    for cell in cells(stem):
        if cell.cell_type != "code" or {"check", "instructor"} & set(lessons.tags(cell)):
            continue
        for piece in filter(lambda piece: piece.kind == "text", render.pieces(cell)):
            for part in tables.split(cell.source, piece.plain):
                framed += isinstance(part, tables.Table)
                values = [part] if isinstance(part, str) else [v for _, r in part.rows for v in r]
                assert all(squeezed(value) in found for value in values)
    assert framed == len(soup[f"site/{stem}.html"].select(".frame"))


def test_the_glossary_has_a_way_to_each_letter(soup):
    page = soup["site/glossary.html"]
    letters = [link["href"].removeprefix("#letter-") for link in page.select(".letters a")]
    assert letters == sorted({term["id"][0].upper() for term in page.select(".glossary > [id]")})
    for letter in letters:
        terms = page.select_one(f"#letter-{letter}").find_next_sibling("dl").select("div")
        assert {term["id"][0].upper() for term in terms} == {letter}


@STEM
def test_figures_are_numbered_through_and_can_be_linked_to(soup, stem):
    shown = [
        output.data
        for cell in cells(stem)
        if cell.cell_type == "code" and "check" not in cell.metadata.get("tags", [])
        for output in cell.outputs
        if "data" in output
    ]
    pictures = [
        data
        for data in shown
        if render.SVG in data or render.VEGALITE in data or "<img" in data.get("text/html", "")
    ]
    figures = soup[f"site/{stem}.html"].select("article figure")
    assert len(figures) == len(pictures) > 3
    for number, figure in enumerate(figures, start=1):
        assert figure["id"] == f"figure-{stem[:2]}-{number}"
        link = figure.figcaption.a
        assert link.get_text() == f"Figure {stem[:2]}.{number}"
        assert link["href"] == f"#{figure['id']}"


def test_a_caption_is_the_title_that_an_alt_text_begins_with():
    titles = {
        "One desk, three glances. Strongest key of each query: no task to cup 0.83.": "One desk, three glances",
        "Loss while training: loss (nats per token) against update.": "Loss while training",
        "Hi! With which probability is each word drawn?: salut 0.40": "Hi!",
        "d = 32: place 0 to 39 by dimension 0 to 31, from -1.00 to 1.00.": None,
    }
    found = {alt: site.CAPTION.match(alt) for alt in titles}
    assert {alt: title and title[1] for alt, title in found.items()} == titles


def test_every_page_describes_itself(soup):
    pages = {name: page for name, page in soup.items() if name.startswith("site/")}
    told = [page.select_one("meta[name=description]")["content"] for page in pages.values()]
    assert len(set(told)) == len(pages)
    assert all(20 < len(text) < 250 and "$" not in text for text in told)
    for page in pages.values():
        assert page.select_one("meta[property='og:title']")["content"] == page.title.get_text()
        assert page.select_one("link[rel=icon]")["href"].startswith("data:image/svg+xml,%3Csvg")


def test_the_picture_of_a_preview_is_as_large_as_previews_are(built, soup):
    (name,) = {
        page.select_one("meta[property='og:image']")["content"]
        for path, page in soup.items()
        if path.startswith("site/")
    }
    picture = (built / "site" / name).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (1200, 630)


def test_the_home_page_leads_to_every_lesson_in_the_order_of_its_stages(soup):
    table = soup["site/index.html"].select_one(".stages")
    assert [a["href"] for a in table.select("tbody a")] == [f"{stem}.html" for stem in STEMS]
    minutes = [int(row.td.get_text()) for row in table.select(".stage")]
    said = [lessons.read_lesson(path).minutes for path in PATHS]
    assert sum(minutes) == sum(said)
    assert soup["site/index.html"].select("div.chart")


def test_links_to_a_repository_appear_where_one_is_named(tmp_path, monkeypatch, soup):
    assert not any(page.find("a", string=re.compile("^Source")) for page in soup.values())
    assert not any(page.select("a[href*=colab]") for page in soup.values())
    monkeypatch.setattr(site, "write_takeaway", lambda paths, directory: directory / "a.whl")
    monkeypatch.setenv("REPOSITORY_URL", "https://github.com/somebody/course/")
    monkeypatch.setenv("SITE_URL", "https://somebody.github.io/course/")
    site.write_site(PATHS[:1], tmp_path)
    page = BeautifulSoup((tmp_path / f"{STEMS[0]}.html").read_text("utf-8"), "html.parser")
    assert page.header.find(string="Source").parent["href"] == "https://github.com/somebody/course"
    source = page.find(string="Source of this lesson").parent["href"]
    assert source == f"https://github.com/somebody/course/blob/main/notebooks/{STEMS[0]}.ipynb"
    colab = "https://colab.research.google.com/github/somebody/course/blob/hosted/"
    assert page.find(string="Colab").parent["href"] == f"{colab}{STEMS[0]}.ipynb"
    where = BeautifulSoup((tmp_path / "where_it_runs.html").read_text("utf-8"), "html.parser")
    assert where.select_one(f'table a[href="{colab}00_start_here.ipynb"]').text == "Colab"
    picture = page.select_one("meta[property='og:image']")["content"]
    assert picture == "https://somebody.github.io/course/assets/social.png"


def test_a_notebook_to_take_home_is_the_lesson_behind_one_more_cell(built):
    folder = built / "site/downloads"
    for stem in STEMS:
        taken = nbformat.read(folder / f"{stem}.ipynb", as_version=4)
        nbformat.validate(taken)
        title, first, *rest = taken.cells
        assert [title, *rest] == cells(stem)
        assert first.source.startswith("# @title Set-up")  # what Colab's form view shows
        assert (first.metadata.cellView, first.metadata.tags) == ("form", ["hosted"])
    (wheel,) = folder.glob("*.whl")
    inside = zipfile.ZipFile(folder / "all_lessons.zip").namelist()
    assert sorted(inside) == sorted(
        f"lessons/{name}"
        for name in [wheel.name, "one_page.py", *(f"{stem}.ipynb" for stem in STEMS)]
    )


def test_in_an_empty_environment_the_first_cell_installs_the_library(built, tmp_path):
    """What the library depends on is lent by this environment, since there is no network."""
    zipfile.ZipFile(built / "site/downloads/all_lessons.zip").extractall(tmp_path)
    empty = venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt")
    empty.create(tmp_path / "empty")
    python = empty.ensure_directories(tmp_path / "empty").env_exe
    lent = tmp_path / "lent"
    lent.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match("(__editable__.*)?(transformer_lib|attention_lessons)|pip", path.name):
            (lent / path.name).symlink_to(path)
    (site_packages,) = tmp_path.glob("empty/**/site-packages")
    (site_packages / "lent.pth").write_text(str(lent))
    for old in site_packages.glob("setuptools*"):  # Python 3.11 begins with one that torch refuses
        shutil.rmtree(old)
    cell = nbformat.read(tmp_path / f"lessons/{STEMS[0]}.ipynb", as_version=4).cells[1]
    seen = "import transformer_lib\nfrom transformer_lib.corpus import DATA\nprint(transformer_lib.__file__, DATA)"
    (tmp_path / "lessons/first.ipy").write_text(f"{cell.source}\n{seen}\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PIP_TARGET")}
    done = subprocess.run(
        [python, "-m", "IPython", "first.ipy"],
        cwd=tmp_path / "lessons",
        env=environment | {"PIP_NO_INDEX": "1", "IPYTHONDIR": str(tmp_path / "ipython")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count(str(site_packages)) == 2, done.stdout
    assert "Installed: attention-lessons" in done.stdout
    assert "No other package has changed" in done.stdout


@STEM
def test_the_instructors_notebook_is_solved_and_unfolded(stem):
    stored = nbformat.read(lessons.NOTEBOOKS / f"{stem}.ipynb", as_version=4)
    filled = instructor.solved(stored)
    nbformat.validate(filled)
    assert len(filled.cells) == len(stored.cells)
    for cell, before in zip(filled.cells, stored.cells, strict=True):
        assert "<details>" not in cell.source
        assert not cell.metadata.get("jupyter", {}).get("outputs_hidden")
        if "exercise" in cell.metadata.get("tags", []):
            (function,) = ast.parse(cell.source).body
            (stub,) = ast.parse(before.source).body
            assert function.name == stub.name
            assert ast.unparse(function.body[-1]) != "..."
    told = squeezed(" ".join(cell.source for cell in filled.cells))
    for line in notes(stem):
        assert squeezed(line) in told


@pytest.fixture
def edition_of(tmp_path, monkeypatch):
    """Writes the instructor's edition of a notebook whose one cell gives this verdict.

    Before it, the cell shows a progress bar.
    """
    monkeypatch.setattr(instructor, "solved", lambda notebook: notebook)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)

    def write(verdict):
        source = (
            "from transformer_lib.base.report import progress_bar\n"
            "list(progress_bar(range(3)))\n"
            f"type('Verdict', (), {{'__repr__': lambda self: {verdict!r}}})()"
        )
        cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["check"]})
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "00_one.ipynb")
        return instructor.write_notebook(tmp_path / "00_one.ipynb", tmp_path / "out")

    return write


def test_a_check_that_fails_stops_the_edition(edition_of, tmp_path):
    with pytest.raises(ValueError, match="says ✗ not yet"):
        edition_of("✗ not yet")
    assert not (tmp_path / "out" / "00_one.ipynb").exists()


def test_of_a_check_that_passes_the_verdict_is_stored_and_no_progress_bar(edition_of):
    (cell,) = nbformat.read(edition_of("✓ right"), as_version=4).cells
    assert [output.data["text/plain"] for output in cell.outputs] == ["✓ right"]


MEETING = """import pathlib, time
pathlib.Path("{mine}").touch()
until = time.monotonic() + 60
while not pathlib.Path("{other}").exists() and time.monotonic() < until:
    time.sleep(0.1)
pathlib.Path("{other}").exists()"""


def test_two_lessons_are_executed_at_once(tmp_path, monkeypatch, capsys):
    """Each waits for the other: alone neither would get further."""
    paths = []
    for mine, other in (("a", "b"), ("b", "a")):
        cell = nbformat.v4.new_code_cell(MEETING.format(mine=mine, other=other))
        paths.append(tmp_path / f"0{len(paths)}_{mine}.ipynb")
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), paths[-1])
    monkeypatch.setattr(command, "find_lessons", lambda names: paths)
    monkeypatch.setattr(command, "write_plan", lambda paths, directory: directory / "plan.html")
    assert command.main(["instructor", "--out", str(tmp_path / "out")]) == 0
    for path in paths:
        (cell,) = nbformat.read(tmp_path / "out" / path.name, as_version=4).cells
        assert cell.outputs[-1].data["text/plain"] == "True"


def test_a_lesson_that_fails_stops_those_that_wait(tmp_path, monkeypatch, capsys):
    def write(path, **_):
        written.append(path.stem)
        if path.stem == "00_a":
            raise ValueError("says ✗ not yet")
        time.sleep(0.5)

    written, paths = [], [tmp_path / f"{number:02}_a.ipynb" for number in range(20)]
    for path in paths:
        nbformat.write(nbformat.v4.new_notebook(), path)
    monkeypatch.setattr(command, "find_lessons", lambda names: paths)
    monkeypatch.setattr(command, "write_notebook", write)
    assert command.main(["instructor", "--out", str(tmp_path / "out")]) == 1
    assert "not yet" in capsys.readouterr().err
    assert len(written) < 5


def test_how_long_a_lesson_took_is_what_its_cells_say(tmp_path):
    def ran(start, end):
        times = {"iopub.execute_input": start, "shell.execute_reply": end}
        times = {name: f"2026-01-01T00:{at}Z" for name, at in times.items()}
        return nbformat.v4.new_code_cell("1", metadata={"execution": times})

    cells = [
        ran("00:01.500000", "00:03.000000"),
        ran("00:59.000000", "01:02.000000"),
        nbformat.v4.new_code_cell("2"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "00_a.ipynb")
    assert instructor.stored_seconds(tmp_path / "00_a.ipynb") == 4.5


def test_the_plan_tells_every_sentence_of_the_notes(tmp_path):
    written = plan.write_plan(PATHS, tmp_path)
    told = squeezed(BeautifulSoup(written.read_text("utf-8"), "html.parser").main.get_text())
    for path in PATHS:
        lesson = lessons.read_lesson(path)
        planned = plan.plan(lesson)
        assert planned.told["Ask"]
        assert planned.told["Goes wrong"]
        for section in lesson.core:
            for note in section.notes:
                for part in lessons.MARK.split(note.text)[::2]:
                    assert squeezed(part) in told, part


def test_every_misbelief_of_the_plan_is_refuted_by_a_cell_below_it():
    for path in lessons.find_lessons():
        lesson = lessons.read_lesson(path)
        (section,) = [s for s in lesson.core if s.heading == "What people get wrong"]
        told = plan.plan(lesson).misbeliefs
        assert told
        for text in told:
            (start,) = [n for n, c in enumerate(section.cells) if f"**“{text}”" in c.source]
            after = section.cells[start + 1 :]
            kinds = [c.cell_type for c in after]
            assert kinds[0] == "code" or kinds[1] == "code", (path.stem, text)
        assert sum(c.source.count("**“") for c in section.cells) == len(told), path.stem


def test_what_is_done_in_groups_has_its_way_in_a_hall():
    for path in lessons.find_lessons():
        for section in lessons.read_lesson(path).core:
            for note in section.notes:
                asked = note.parts.get("Ask", "")
                if re.search(r"students?\b|\bgroups?\b|[Hh]and out|scissors", asked):
                    assert "In a hall" in note.parts or section.exercises, (path.stem, asked)


@pytest.fixture(scope="module")
def sessions():
    return calendar.term([lessons.read_lesson(path) for path in lessons.find_lessons()])


def test_the_sessions_hear_every_section_once_and_in_order_and_last_ninety_minutes_at_most(
    sessions,
):
    heard = [section.heading for s in sessions for part in s.parts for section in part.sections]
    wanted = [
        section.heading
        for path in lessons.find_lessons()
        for section in lessons.read_lesson(path).core
        if not section.exercises and not section.heading.startswith(lessons.PAUSE)
    ]
    assert heard == wanted
    assert all(session.minutes <= 90 for session in sessions)
    whole = sum(lessons.read_lesson(path).minutes for path in lessons.find_lessons())
    given = [task for session in sessions for task in session.homework]
    left = sum(task.section.minutes for task in given)
    assert sum(session.minutes for session in sessions) + left == whole


def test_every_exercise_is_done_in_class_or_at_home_and_every_question_is_asked(sessions):
    done = [
        name
        for session in sessions
        for task in session.in_class + session.homework
        for name in task.section.exercises
    ]
    assert sorted(done) == sorted(
        name
        for path in lessons.find_lessons()
        for section in lessons.read_lesson(path).core
        for name in section.exercises
    )
    asked = [name for s in sessions for _, names in s.questions for name in names]
    assert set(asked) == set(numbered())
    for session in sessions:
        minutes = [minute for minute, _ in session.questions]
        assert minutes == sorted(minutes)
        assert minutes[-1] <= session.minutes


def test_a_session_opens_what_it_begins_asks_all_once_and_gives_what_was_heard(sessions):
    for session in sessions:
        lengths = [part.minutes for part in session.parts]
        lengths += [task.section.minutes for task in session.in_class]
        starts = [0, *accumulate(lengths)]
        assert [minute for minute, _ in session.clock] == starts[:-1]
        begun = zip(starts, session.parts, strict=False)
        first = [(minute, part.lesson.number) for minute, part in begun if part.first]
        opening = [(minute, list(LESSONS[number].opening)) for minute, number in first]
        ended = {part.lesson.number for part in session.parts if part.last}
        questions = list(session.questions)
        assert questions[: len(opening)] == opening
        assert all(minute == session.minutes for minute, _ in questions[len(opening) :])
        closing = {name for _, names in questions[len(opening) :] for name in names}
        assert not closing & {name for _, names in opening for name in names}
        assert {task.lesson.number for task in session.in_class + session.homework} <= ended
    names = [part.name for session in sessions for part in session.parts]
    assert len(set(names)) == len(names)


def test_a_check_is_worth_the_dots_of_its_exercise_and_a_warm_up_one_point(sessions):
    """Lesson 09: split and join with two dots each; a warm-up, and a class with two dots."""
    tasks = [t for s in sessions for t in s.in_class + s.homework if t.lesson.number == "09"]
    assert [(task.points, task.alone) for task in tasks] == [(2 + 2, 16), (1 + 2, 32)]


def test_two_lessons_that_take_ninety_minutes_together_are_one_session():
    def taking(minutes):
        head = f"<details><summary>For the instructor · {minutes} min</summary>"
        return lesson_of(f"{head}\n\nSay it.\n\n</details>", tags=["instructor"])

    assert len(calendar.term([taking(45), taking(45)])) == 1
    assert len(calendar.term([taking(45), taking(46)])) == 2


def test_the_plan_has_a_row_for_each_session(tmp_path):
    written = plan.write_plan(PATHS, tmp_path)
    rows = BeautifulSoup(written.read_text("utf-8"), "html.parser").select("#term tbody tr")
    assert len(rows) == 1  # 42 minutes of lesson 01 and 45 of lesson 03
    told = rows[0].get_text(" ")
    assert "1 session of 90 minutes hears all" in written.read_text("utf-8")
    assert "typeset: true" in written.read_text("utf-8"), "nothing else sets its formulas"
    for said in ("42: 03 · Scoring functions", "01.1", "03.5", "Build: the masked softmax"):
        assert said in told


def test_the_plan_lists_the_routes_with_their_minutes(tmp_path):
    written = plan.write_plan(PATHS, tmp_path)
    page = BeautifulSoup(written.read_text("utf-8"), "html.parser")
    tables = page.select("#routes table")
    assert len(tables) == len(routes())
    for table, route in zip(tables, routes(), strict=True):
        minutes = [int(row.td.get_text()) for row in table.select("tbody tr")]
        assert minutes == [stop.minutes for stop in route.stops]
        assert str(sum(minutes)) in table.find_previous("summary").get_text()
    named = [row.th.get_text() for row in tables[0].select("tbody tr")]
    assert named[1] == lessons.read_lesson(PATHS[0]).title  # one that the plan has


def test_one_deck_is_one_and_two_are_decks(monkeypatch, capsys):
    monkeypatch.setattr(command, "write_deck", lambda path, directory: directory / path.name)
    for lesson, said in ((["03"], "1 deck: "), (["03", "04"], "2 decks in ")):
        assert command.main(["slides", *lesson]) == 0
        assert capsys.readouterr().out.startswith(said)


def test_a_lesson_that_does_not_exist_is_named_and_the_others_offered(capsys):
    assert command.main(["slides", "77"]) == 1
    assert "'77'" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        command.main(["handouts"])
    assert stop.value.code == 2


def test_in_the_calendar_a_warm_up_is_worth_one_point_and_its_build_a_point_a_dot():
    lesson = lessons.read_lesson(lessons.NOTEBOOKS / "17_scaling_up.ipynb")
    (build,) = [s for s in lesson.core if s.heading.startswith("Build: batches by length")]
    assert (build.effort.dots, len(build.exercises)) == ("●●○", 2)
    assert calendar.Task(lesson, build).points == 1 + 2
