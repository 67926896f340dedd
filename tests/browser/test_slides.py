"""Every deck in a browser: nothing overflows, charts move, notes and print view work."""

import re

import pytest

from transformer_lib.publish.lessons import find_lessons

READY = "window.Reveal && Reveal.isReady() && !document.body.classList.contains('waiting')"
STEMS = [path.stem for path in find_lessons()]
MEASURE = """() => Reveal.getSlides().map((section, number) => {
  const {h, v} = Reveal.getIndices(section);
  Reveal.slide(h, v, 99);
  const slide = section.querySelector(".slide");
  const frame = section.closest(".slides").getBoundingClientRect();
  const unseen = "svg, mjx-assistive-mml, details:not([open]) > :not(summary)";
  const parts = [...slide.querySelectorAll("*")].filter((part) => !part.closest(unseen));
  const boxes = parts.map((part) => part.getBoundingClientRect()).filter((box) => box.width && box.height);
  const texts = parts.filter((part) => part.innerText?.trim() && !part.closest("mjx-container"));
  return {
    number, heading: slide.querySelector("h1, h2, .running").innerText,
    over: [slide.scrollHeight - slide.clientHeight, slide.scrollWidth - slide.clientWidth],
    outside: boxes.filter((box) => box.bottom > frame.bottom + 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.left < frame.left - 1).length,
    smallest: Math.min(...texts.map((part) => parseFloat(getComputedStyle(part).fontSize))),
    letters: [...slide.querySelectorAll("img")].map((image) => {
      const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (letter) => letter.charCodeAt(0));
      const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml").documentElement;
      const scale = image.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const words = [...svg.querySelectorAll("text[font-size]")];
      const least = Math.min(...words.map((word) => scale * word.getAttribute("font-size")));
      return least - (svg.getAttribute("font-family") ? 20 : 14); // ours, or a plot
    }),
    errors: slide.querySelectorAll("mjx-merror, [data-mjx-error]").length,
    formulas: slide.querySelectorAll("mjx-container").length,
    dollars: (slide.innerText.match(/\\$[^$\\n]+\\$/g) || []).length,
  };
})"""


def deck(built, open_page, stem, query=""):
    page = open_page()
    page.goto(f"{(built / 'slides' / f'{stem}.html').as_uri()}{query}")
    page.wait_for_function(READY)
    return page


@pytest.mark.parametrize("stem", STEMS)
def test_no_slide_overflows_and_all_can_be_read(built, open_page, stem):
    slides = deck(built, open_page, stem).evaluate(MEASURE)
    assert len(slides) > 15
    written = (built / "slides" / f"{stem}.html").read_text("utf-8").split('<aside class="notes">')
    typeset = sum(slide["formulas"] for slide in slides) > 0
    assert typeset == any("$" in part.partition("</aside>")[2] for part in written[:-1])
    for slide in slides:
        assert max(slide["over"]) <= 0, slide
        assert slide["outside"] == 0, slide
        assert slide["smallest"] >= 14, slide
        assert min(slide["letters"], default=0) >= -0.1, slide
        assert slide["errors"] == 0, slide
        assert slide["dollars"] == 0, slide


OPENED = """() => Reveal.getSlides().flatMap((section) => {
  const {h, v} = Reveal.getIndices(section);
  Reveal.slide(h, v, 99);
  const slide = section.querySelector(".slide");
  return [...slide.querySelectorAll("details")].map((choice) => {
    choice.open = true;
    choice.dispatchEvent(new Event("toggle"));
    const over = slide.scrollHeight - slide.clientHeight;
    choice.open = false;
    return [choice.innerText, over];
  });
})"""


def test_an_opened_choice_still_fits_its_slide(built, open_page):
    choices = deck(built, open_page, "19_review").evaluate(OPENED)
    assert len(choices) > 40
    assert [choice for choice, over in choices if over > 0] == []


CONTRAST = """() => {
  const light = (color) => {
    const [r, g, b] = color.map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const ground = (part) => {
    for (; part; part = part.parentElement) {
      const color = rgb(getComputedStyle(part).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll(".slide *, .slide-number *")].filter(
    (part) => !part.closest("svg, form") && [...part.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  return texts.map((part) => {
    const [ink, paper] = [rgb(getComputedStyle(part).color).slice(0, 3), ground(part)].map(light);
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    return {ratio, paper, text: part.outerHTML.slice(0, 90)};
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("stem", ["09_multi_head_attention", "17_scaling_up"])
def test_a_deck_is_light_or_dark_as_the_system_says_and_the_key_d_changes_it(
    built, open_page, stem, scheme
):
    page = open_page(color_scheme=scheme)
    page.goto((built / "slides" / f"{stem}.html").as_uri())
    page.wait_for_function(READY)
    papers = []
    for _ in range(2):
        told = page.evaluate(CONTRAST)
        assert len(told) > 100
        assert [text for text in told if text["ratio"] < 4.5] == []
        papers.append(told[0]["paper"])
        page.keyboard.press("d")
    assert (papers[0] > papers[1]) == (scheme == "light")


def test_a_picture_keeps_its_white_ground_in_the_dark(built, open_page):
    page = open_page(color_scheme="dark")
    page.goto((built / "slides" / "09_multi_head_attention.html").as_uri())
    page.wait_for_function(READY)
    grounds = page.evaluate("""async () => Promise.all([...document.images].map(async (image) => {
      const canvas = new OffscreenCanvas(40, 40).getContext("2d");
      canvas.drawImage(image, 0, 0, 40, 40);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    }))""")
    assert len(grounds) > 5
    assert {tuple(ground) for ground in grounds} == {(255, 255, 255, 255)}


SMALL_TABLES = {("13", "Build: the Transformer")}  # too long for 24 pixels
TYPE_OF_TABLES = """() => [...document.querySelectorAll(".slide table")].map((table) => [
  table.closest(".slide").querySelector("h1, h2, .running").textContent.trim(),
  parseFloat(getComputedStyle(table).fontSize),
])"""


@pytest.mark.parametrize("stem", STEMS)
def test_tables_can_be_read_from_the_last_row(built, open_page, stem):
    for heading, size in deck(built, open_page, stem).evaluate(TYPE_OF_TABLES):
        assert size >= (18 if (stem[:2], heading) in SMALL_TABLES else 24), (heading, size)


@pytest.mark.parametrize("stem", STEMS)
def test_every_control_moves_its_chart(built, open_page, stem):
    page = deck(built, open_page, stem)
    move_all(page, ".slide .chart")


SET = """(control, value) => {
  if (control.type === "checkbox" || control.type === "radio") control.click();
  else control.value = value;
  for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, {bubbles: true}));
}"""
CHOICES = """(control) => control.tagName === "SELECT" ? [...control.options].map((o) => o.value)
  : control.type === "range" ? [control.min, control.max] : ["clicked"]"""
GO = """(chart) => {
  const slide = chart.closest(".slides section");
  const {h, v} = slide ? Reveal.getIndices(slide) : {};
  if (slide) Reveal.slide(h, v, 99);
}"""


def moves(chart, control):
    """Whether some value of a control changes the drawing; it is put back where it was."""
    drawings, usual = set(), control.input_value()
    for choice in [*control.evaluate(CHOICES), usual]:
        control.evaluate(SET, choice)
        chart.page.wait_for_timeout(100)
        drawings.add(chart.locator("svg.marks").inner_html())
    return len(drawings) > 1


def move_all(page, selector):
    """Every slider and selector changes the drawing beside it: at once, or once another control is
    set so that it matters.
    """
    for chart in page.locator(selector).all():
        controls = chart.locator("input, select").all()
        if not controls:  # it answers to the pointer instead
            chart.evaluate(GO)
            before = chart.locator("svg.marks").inner_html()
            chart.locator(".mark-rect path[aria-label]").nth(5).hover()
            page.wait_for_timeout(200)
            assert chart.locator("svg.marks").inner_html() != before
        for control in controls:
            if len(control.evaluate(CHOICES)) == 1 or moves(chart, control):
                continue
            others = (
                (o, value) for o in controls if o is not control for value in o.evaluate(CHOICES)
            )
            for other, value in others:
                other.evaluate(SET, value)
                if moves(chart, control):
                    break
            else:
                pytest.fail(f"nothing moves with {control.evaluate('c => c.outerHTML')}")


def test_the_speaker_sees_notes_minutes_and_the_next_slide_from_a_file(built, open_page):
    page = deck(built, open_page, "03_scoring_functions")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    speaker.wait_for_selector(".speaker-controls-notes:not(.hidden)")
    assert "For the instructor · 5 min" in speaker.inner_text(".speaker-controls-notes")
    page.keyboard.press("ArrowRight")
    speaker.wait_for_function(
        "document.querySelector('.speaker-controls-notes').innerText.includes('Gaussian pooling')"
    )
    assert speaker.locator("iframe").count() == 2
    speaker.locator(".pacing").first.wait_for()  # minutes left for this slide, and ahead or behind


def test_a_deck_prints_a_page_a_slide(built, open_page, tmp_path):
    page = deck(built, open_page, "03_scoring_functions", "?print-pdf")
    page.wait_for_selector(".pdf-page")
    count = page.locator(".pdf-page").count()
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    assert count == page.evaluate("Reveal.getSlides().length")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == count
