"""The site in a browser: accessible, searchable, light and dark, from the file system."""

import nbformat
import pytest
from test_slides import move_all

from transformer_lib.publish.lessons import NOTEBOOKS, find_lessons

STEMS = [path.stem for path in find_lessons()]
PAGES = ["index", "glossary", "papers", *STEMS]
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
    page.keyboard.type("xyzzy anywhere")
    assert "Nothing holds" in page.inner_text("#found")
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()


def test_chinese_terms_are_found(built, open_page):
    page = visit(built, open_page, "index")
    page.fill("#search", "因果掩码")
    assert "12 · Masks, and the decoder's two lives" in page.inner_text("#found")


def test_a_solution_opens_by_keyboard_and_was_closed(built, open_page):
    page = visit(built, open_page, "03_scoring_functions")
    fold = page.locator("details.folded-solution").first
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


def test_no_code_table_or_output_scrolls_sideways(built, open_page):
    page = open_page(1280, 720, java_script_enabled=False)  # that of the pages
    for stem in STEMS:
        page.goto((built / "site" / f"{stem}.html").as_uri())
        wide = page.evaluate(
            """() => {
              for (const fold of document.querySelectorAll("details")) fold.open = true;
              const boxes = [...document.querySelectorAll("main :is(pre, table)")];
              return boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent);
            }"""
        )
        assert wide == [], stem


def test_a_long_line_is_continued_behind_an_arrow_on_a_telephone(built, open_page):
    page = visit(built, open_page, STEMS[4])
    page.set_viewport_size({"width": 390, "height": 800})
    lines = page.evaluate(
        """() => [...document.querySelectorAll("div.code .line")].filter((line) => line.checkVisibility())
          .map((line) => {
            const range = document.createRange();
            range.selectNodeContents(line);
            const words = [...range.getClientRects()].filter((box) => box.width > 1);
            const below = words.filter((box) => box.top > line.getBoundingClientRect().top + 12);
            const arrows = parseFloat(getComputedStyle(line, "::before").height);
            return [below.length > 0, below.length ? Math.min(...below.map((box) => box.left)) : 0,
                    line.getBoundingClientRect().left, arrows];
          })"""
    )
    wrapped = [line for line in lines if line[0]]
    assert wrapped
    assert len(wrapped) < len(lines)
    assert all(left > edge + 10 and arrows > 10 for _, left, edge, arrows in wrapped)
    assert all(arrows < 1 for below, *_, arrows in lines if not below)


@pytest.mark.parametrize("name", ["index", "13_the_transformer"])
def test_the_header_of_a_telephone_is_one_row_and_hides_no_heading(built, open_page, name):
    page = open_page(390, 800)
    page.goto((built / "site" / f"{name}.html").as_uri())
    page.wait_for_function("document.body.dataset.ready === 'true'")
    assert page.locator("header").bounding_box()["height"] <= 64
    section = page.locator("main section[id], main h2[id]").nth(2)
    page.evaluate("id => { location.hash = id; }", section.get_attribute("id"))
    page.wait_for_timeout(200)
    heading = section.locator("xpath=self::h2 | ./h2").bounding_box()
    assert 56 <= heading["y"] < 400
    page.fill("#search", "softmax")
    found = page.locator("#found").bounding_box()
    assert found["x"] >= 0
    assert 340 <= found["width"] <= 390


def test_a_definition_shows_under_the_pointer_and_for_the_keyboard(built, open_page):
    page = visit(built, open_page, "06_bahdanau_attention")
    term = page.locator("dfn", has_text="bottleneck").first
    told = page.locator(f"[id='{term.get_attribute('aria-describedby')}']")
    assert told.is_hidden()
    term.hover()
    assert "fixed size" in told.inner_text()
    told.hover()
    assert told.is_visible(), "it can be pointed at, to copy it"
    page.keyboard.press("Escape")
    assert told.is_hidden()
    page.mouse.move(5, 300)
    term.focus()
    assert told.is_visible()
    box = told.bounding_box()
    line = term.bounding_box()
    assert line["y"] + line["height"] - 6 <= box["y"] <= line["y"] + 60
    page.set_viewport_size({"width": 390, "height": 800})
    box = told.bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390


def test_a_finger_opens_a_definition_and_closes_it_elsewhere(built, open_page):
    page = open_page(390, 800, has_touch=True, is_mobile=True)
    page.goto((built / "site" / "06_bahdanau_attention.html").as_uri())
    page.wait_for_function("document.body.dataset.ready === 'true'")
    term = page.locator("dfn", has_text="bottleneck").first
    told = page.locator(f"[id='{term.get_attribute('aria-describedby')}']")
    term.tap()
    assert "fixed size" in told.inner_text()
    page.locator("h1").tap()
    assert told.is_hidden()


def test_code_is_copied_as_it_stands_in_the_notebook(built, open_page):
    page = visit(
        built, open_page, "03_scoring_functions", permissions=["clipboard-read", "clipboard-write"]
    )
    code = page.locator("div.code").filter(visible=True).nth(1)
    code.hover()
    code.locator("button.copy").click()
    code.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    notebook = nbformat.read(NOTEBOOKS / "03_scoring_functions.ipynb", as_version=4)
    assert copied in [cell.source.rstrip() for cell in notebook.cells]


@pytest.mark.parametrize("query", ["variance sqrt", "softmax", "frac", "logits", "d_{model}"])
def test_what_a_search_finds_shows_no_tex(built, open_page, query):
    page = visit(built, open_page, "index")
    page.fill("#search", query)
    page.locator("#found a").first.wait_for()
    shown = page.evaluate(
        """() => {
          const copy = document.getElementById("found").cloneNode(true);
          for (const formula of copy.querySelectorAll("mjx-container")) formula.remove();
          return copy.textContent;
        }"""
    )
    assert "$" not in shown
    assert "\\frac" not in shown


def test_on_paper_a_page_is_light_and_whole(built, open_page):
    page = visit(built, open_page, "04_scaled_dot_product", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("header").is_hidden()
    hidden = page.evaluate(
        """() => [...document.querySelectorAll("article :is(pre, img, svg.marks, section p:not(.away))")]
          .filter((part) => !part.checkVisibility({ contentVisibilityAuto: true }))
          .map((part) => part.outerHTML.slice(0, 100))"""
    )
    assert hidden == []


def test_a_link_to_a_folded_figure_opens_what_it_stands_in(built, open_page):
    page = visit(built, open_page, "04_scaled_dot_product")
    figure = page.locator("details figure").first
    assert figure.is_hidden()
    page.evaluate("id => { location.hash = id; }", figure.get_attribute("id"))
    figure.wait_for()
