"""The playground in a browser: it says what the library says, and everybody can use it."""

import pytest
import torch
from test_site import RULES

from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import BOS_ID, EOS_ID, load_corpus
from transformer_lib.decoding import beam_search, greedy
from transformer_lib.publish.playground import MODEL, write_playground
from transformer_lib.translation import Translator

CHOSEN = "encoder.layers.0.self_attn"
ASK = """(sentences) => sentences.map((sentence) => {
  const began = performance.now();
  const source = [...SOURCE.encode(sentence), EOS];
  const ids = greedy(new Transformer(DATA.config, WEIGHTS), source);
  return { source, ids, text: TARGET.decode(ids), milliseconds: performance.now() - began };
})"""
LOGITS = """([source, ids, off]) => {
  const model = new Transformer(DATA.config, WEIGHTS, { off: new Set(off) });
  let state = model.start(source);
  return [BOS, ...ids.slice(0, -1)].map((id) => {
    const next = model.step(id, state);
    state = next.state;
    return [...next.logits];
  });
}"""
SEARCH = """([source, size]) => {
  const [best] = beamSearch(new Transformer(DATA.config, WEIGHTS), source, [], size);
  return { ids: best.ids, score: best.score };
}"""


@pytest.fixture(scope="module")
def shipped():
    return load_model(MODEL)


@pytest.fixture(scope="module")
def home(shipped):
    return Translator(*shipped[:3]).translate(["I'm home."])[0]


@pytest.fixture(scope="module")
def sentences():
    return [pair.source for pair in load_corpus("lessons").test[::3]][:300]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_playground(tmp_path_factory.mktemp("playground"))


@pytest.fixture
def visit(file, open_page):
    def at(address="", width=1280, height=720, **settings):
        page = open_page(width, height, **settings)
        page.goto(f"{file.as_uri()}{address}")
        page.wait_for_function("document.body.dataset.ready === 'true'")
        return page

    return at


def source_ids(shipped, sentence):
    return torch.tensor([[*shipped.source_vocabulary.encode(sentence), EOS_ID]])


def logits(shipped, source, ids):
    with torch.inference_mode():
        return shipped.model.eval()(source, torch.tensor([[BOS_ID, *ids[:-1]]]))[0]


def test_three_hundred_held_out_sentences_are_translated_as_the_library_translates_them(
    visit, shipped, sentences
):
    """Where a word differs, the library's two best must be closer than 1e-4."""
    answers = visit().evaluate(ASK, sentences)
    assert len(answers) == 300
    for sentence, answer in zip(sentences, answers, strict=True):
        source = source_ids(shipped, sentence)
        assert answer["source"] == source[0].tolist()
        expected = greedy(shipped.model, source)[0].tolist()
        if answer["ids"] == expected:
            assert answer["text"] == shipped.target_vocabulary.decode(expected)
        else:
            t = next(
                i for i, (a, b) in enumerate(zip(answer["ids"], expected, strict=False)) if a != b
            )
            best = logits(shipped, source, expected)[t].topk(2).values
            assert best[0] - best[1] < 1e-4, sentence
    times = sorted(answer["milliseconds"] for answer in answers)
    print(f"median of 300 greedy translations: {times[150]:.1f} ms")


def test_logits_of_fifty_agree_and_so_do_beams(visit, shipped, sentences):
    page = visit()
    for sentence in sentences[:50]:
        source = source_ids(shipped, sentence)
        ids = greedy(shipped.model, source)[0].tolist()
        found = torch.tensor(page.evaluate(LOGITS, [source[0].tolist(), ids, []]))
        torch.testing.assert_close(found, logits(shipped, source, ids), atol=1e-3, rtol=0)
        best, score = beam_search(shipped.model, source, beam_size=4)
        answer = page.evaluate(SEARCH, [source[0].tolist(), 4])
        assert answer["score"] == pytest.approx(score.item(), abs=1e-3)
        assert answer["ids"] == best[0].tolist()


def test_what_is_switched_off_is_off_as_in_the_library(visit, shipped):
    """A sublayer adds nothing; a head's part of what enters out_proj is zero."""
    sentence = "My sister who saw the dog is tired."
    source = source_ids(shipped, sentence)
    page = visit()
    attention = shipped.model.get_submodule(CHOSEN)
    heads = shipped.model.config.num_heads
    width = shipped.model.config.d_model // heads

    def without_head(_, inputs):
        context = inputs[0].clone()
        context[..., width : 2 * width] = 0
        return (context,)

    cases = {
        CHOSEN: lambda: attention.register_forward_hook(lambda m, i, o: torch.zeros_like(o)),
        f"{CHOSEN}.1": lambda: attention.out_proj.register_forward_pre_hook(without_head),
    }
    for name, hook in cases.items():
        handle = hook()
        try:
            ids = greedy(shipped.model, source)[0].tolist()
            expected = logits(shipped, source, ids)
        finally:
            handle.remove()
        answer = page.evaluate(LOGITS, [source[0].tolist(), ids, [name]])
        torch.testing.assert_close(torch.tensor(answer), expected, atol=1e-3, rtol=0)
        changed = logits(shipped, source, ids)
        assert (changed - expected).abs().max() > 0.05


def test_its_discoveries_show_what_they_say(visit):
    """Verbs and adjectives as the page computes them, whatever the sentence below claims."""
    page = visit()
    said = {}
    for article in page.locator("#discoveries article").all():
        article.locator("input[type=radio]").first.check()
        for row in article.locator("tbody tr").all():
            asked, answer = row.locator("td").all_inner_texts()
            said[asked] = answer
    assert "manquait" in said["She missed our uncle."]
    assert "a raté" in said[f"She missed our uncle., without {CHOSEN}"]
    assert "manquait" in said["She missed our uncle., without encoder.layers.1.self_attn"]
    assert {answer for asked, answer in said.items() if "train" in asked} == {
        "Elle a raté le train."
    }
    for beginning, adjective in {
        "Le chien": "fatigué.",
        "La femme": "fatiguée.",
        "Nous": "fatigué.",
    }.items():
        answer = said[f"My sister is tired., beginning {beginning}"]
        assert answer == f"{beginning} est {adjective}"
    assert said["My brother is tired., beginning La femme"] == "La femme est fatigué."
    assert said["The dogs are tired., beginning La femme"] == "La femme sont fatigués."
    tired = [answer for asked, answer in said.items() if "who saw" in asked]
    assert len(tired) == 9
    assert all(answer.endswith("est fatigué.") for answer in tired)


def test_a_link_restores_its_state(visit):
    page = visit()
    article = page.locator("#discoveries article").first
    article.locator("input[type=radio]").first.check()
    link = article.locator("a").nth(1)
    expected = article.locator("tbody tr").nth(1).locator("td").last.inner_text()
    link.click()
    page.wait_for_function("asked.off.length === 1")
    assert page.inner_text("#translation") == expected
    assert page.input_value("#sentence") == "She missed our uncle."
    again = visit(page.evaluate("location.hash"))
    assert again.inner_text("#translation") == expected
    assert "Notre oncle lui manquait." in again.inner_text("#beside")
    again.click("#everything-on")
    assert again.inner_text("#translation") == "Notre oncle lui manquait."


def test_the_same_seed_draws_the_same_sentence_and_a_cold_draw_is_greedy(visit):
    page = visit("#way=sample&temperature=2&seed=7")
    drawn = page.inner_text("#translation")
    assert visit("#way=sample&temperature=2&seed=7").inner_text("#translation") == drawn
    page.click("#again")
    assert page.inner_text("#translation") != drawn
    page.fill("#temperature", "0.1")
    cold = page.inner_text("#translation")
    page.check("input[value=greedy]")
    assert page.inner_text("#translation") == cold


def test_drawn_words_come_as_often_as_their_shares_say(visit):
    page = visit()
    shares, counts = page.evaluate("""() => {
      const model = new Transformer(DATA.config, WEIGHTS);
      const source = [...SOURCE.encode("The tall boy"), EOS];
      const flat = model.step(BOS, model.start(source)).logits.map((x) => x / 2);
      const random = seeded(3);
      const counts = new Array(flat.length).fill(0);
      const told = { start: () => null, step: () => ({ logits: flat, state: null }) };
      for (let i = 0; i < 400; i++) for (const id of sample(told, source, [], 1, random)) counts[id]++;
      return [[...softmax(withoutSpecial(flat))], counts];
    }""")
    drawn = sum(counts)
    for share, count in zip(shares, counts, strict=True):
        spread = (drawn * share * (1 - share)) ** 0.5
        assert abs(count - drawn * share) <= 5 * spread + 3


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "Type a sentence"),
        ("   ", "Type a sentence"),
        ("The dragon sleeps.", "never showed “dragon”"),
        ("<img src=x onerror=alert(1)> & </script>", "never showed"),
        ("the cat " * 400, "Cut after 60 of 800 words"),
        ("猫はどこ？ \U0001f600", "never showed"),
    ],
)
def test_bad_input_gets_words(visit, home, typed, told):
    page = visit()
    page.fill("#sentence", typed)
    assert told in page.inner_text("#words")
    assert page.locator("main img").count() == 0
    page.fill("#sentence", "I'm home.")
    assert page.inner_text("#translation") == home


@pytest.mark.parametrize(
    "address", ["#off=nonsense&stage=none&size=1e9&step=-4&way=x&temperature=NaN", "#%", "#s=%00"]
)
def test_a_broken_address_gives_a_page_that_works(visit, home, address):
    page = visit(address)
    page.fill("#sentence", "I'm home.")
    assert page.inner_text("#translation") == home


def test_an_unknown_french_word_is_left_out_of_the_beginning_and_said(visit):
    page = visit("#s=My+sister+is+tired.")
    page.fill("#beginning", "La zorglub femme")
    assert "no word “zorglub”" in page.inner_text("#words")
    assert page.inner_text("#translation").startswith("La femme")


def test_the_gold_links_stand_on_the_reference(visit):
    pair = next(p for p in load_corpus("lessons").test if p.alignment)
    page = visit()
    page.fill("#sentence", pair.source)
    page.check("input[value=reference]")
    head = page.locator("#panel .head").first
    rows = head.locator("tbody tr").all()
    found = {
        (i, j)
        for j, row in enumerate(rows)
        for i, cell in enumerate(row.locator("td").all())
        if "gold" in cell.get_attribute("class")
    }
    assert found == pair.alignment


def test_the_keyboard_alone_walks_the_drawing_and_switches_a_head_off(visit):
    page = visit()
    page.locator("#drawing [tabindex='0']").focus()
    before = page.inner_text("#panel h3")
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#panel h3") != before
    assert page.evaluate("document.activeElement.dataset.stage === asked.stage")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#panel h3") == before
    switch = page.locator("#panel input[data-off$='.2']")
    switch.focus()
    page.keyboard.press("Space")
    assert "Switched off: decoder.layers.1.cross_attn.2" in page.inner_text("#beside")
    assert page.evaluate("document.activeElement.dataset.off").endswith(".2")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "address",
    ["", "#way=beam", f"#off={CHOSEN}+decoder.layers.1.cross_attn.2", "#stage=softmax", "#s="],
)
def test_axe_finds_nothing(visit, scheme, address):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(address, color_scheme=scheme)
    found = axe.Axe().run(page, options=RULES).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []


def test_a_telephone_shows_it_without_scrolling_sideways(visit):
    page = visit(width=390, height=800)
    for stage in ("decoder.layers.1.cross_attn", "encoder.ids", "softmax", "encoder.norm"):
        page.select_option("#stage", stage)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, stage
    page.locator("#drawing [data-stage='memory']").click()
    assert "memory" in page.inner_text("#panel h3")
