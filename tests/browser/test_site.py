"""The site in a browser: accessible, searchable, light and dark, from the file system."""

import pytest
from test_slides import move_all

from transformer_lib.publish.lessons import find_lessons

STEMS = [path.stem for path in find_lessons()]
PAGES = ["index", "glossary", *STEMS]
DARK = ["index", "glossary", "03_scoring_functions", "12_masks_and_decoder"]
EXAMINED = {"exclude": [["mjx-container svg"], ["svg.marks g"]]}  # thousands of glyphs and marks
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    "rules": {
        "empty-table-header": {"enabled": False}
    },  # it reads no MathML; test_publish.py looks
    "preload": False,  # it would fetch the style sheet
}


def visit(built, open_page, name, **settings):
    page = open_page(1400, 900, **settings)
    page.goto((built / "site" / f"{name}.html").as_uri())
    page.wait_for_function("document.body.dataset.ready === 'true'")
    return page


@pytest.mark.parametrize(
    ("name", "scheme"), [*((name, "light") for name in PAGES), *((name, "dark") for name in DARK)]
)
def test_axe_finds_nothing(built, open_page, name, scheme):
    """Contrast, names, landmarks, headings, tables and keyboard access, folds opened."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(built, open_page, name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.evaluate("scrollable()")
    found = axe.Axe().run(page, context=EXAMINED, options=RULES).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []


@pytest.mark.parametrize("stem", STEMS)
def test_formulas_are_set_and_charts_move(built, open_page, stem):
    page = visit(built, open_page, stem)
    assert page.locator("mjx-container").count() > 0
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert page.locator("div.chart").count() == page.locator("div.chart svg.marks").count()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "it scrolls sideways"
    )
    move_all(page, "div.chart")


def test_the_keyboard_alone_finds_and_opens_a_lesson(built, open_page):
    page = visit(built, open_page, "index")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    page.keyboard.press("/")
    page.keyboard.type("two roads causal")
    first = page.locator("#found a").first
    first.wait_for()
    page.keyboard.press("ArrowDown")
    assert first.evaluate("link => link === document.activeElement")
    assert "solid" in first.evaluate("link => getComputedStyle(link).outlineStyle")
    page.keyboard.press("Enter")
    page.wait_for_url("**/12_masks_and_decoder.html#two-roads-to-a-causal-mask")
    page.keyboard.press("/")
    page.keyboard.type("no such word anywhere")
    assert "Nothing holds" in page.inner_text("#found")
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()


def test_chinese_terms_are_found(built, open_page):
    page = visit(built, open_page, "index")
    page.fill("#search", "因果掩码")
    assert "12 · Masks, and the decoder's two lives" in page.inner_text("#found")


def test_a_solution_opens_by_keyboard_and_was_closed(built, open_page):
    page = visit(built, open_page, "03_scoring_functions")
    fold = page.locator("details.solution").first
    assert fold.locator("pre").is_hidden()
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "def my_additive_score" in fold.locator("pre").inner_text()


def test_dark_follows_the_system_and_the_button_and_is_remembered(built, open_page):
    page = visit(built, open_page, "index", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    light = page.evaluate(ground)
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == light
    lesson = visit(built, open_page, "03_scoring_functions", color_scheme="dark")
    assert lesson.evaluate(ground) == dark
    picture = lesson.locator(".figure img").first
    assert picture.evaluate("i => getComputedStyle(i).backgroundColor") == "rgb(255, 255, 255)"


def test_a_telephone_shows_a_page_without_scrolling_sideways(built, open_page):
    page = open_page(390, 800)
    for name in ("index", "glossary", "03_scoring_functions", "13_the_transformer"):
        page.goto((built / "site" / f"{name}.html").as_uri())
        page.wait_for_function("document.body.dataset.ready === 'true'")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name


def test_previous_and_next_lead_through_all_lessons(built, open_page):
    page = visit(built, open_page, STEMS[0])
    for stem in STEMS[1:]:
        page.click("a[rel=next]")
        page.wait_for_url(f"**/{stem}.html")
    assert page.locator("a[rel=next]").count() == 0
