import pytest

from transformer_lib.base.sentences import joined, sentences
from transformer_lib.corpus import load_corpus


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("en", "I am home.|Go!|Plan B?|Yes…|Wait...|What?!|Well."),
        ("en", "Mr. Smith met Dr. Jones at St. Paul's.|They left."),
        ("en", "Use cities, e.g. Paris, i.e. large ones.|The U.S. Army came."),
        ("en", "J. K. Rowling wrote it.|So do I.|You too."),
        ("en", "She came at 5 p.m.|He left at 3.50 exactly."),
        ("en", "I am 30.|She is 20.|12 came."),
        ("en", "No. 5 is mine.|No.|I go."),
        ("en", "1. Go home."),
        ("en", "... Go."),
        ("en", "“Go!” said Tom.|“Why?”|'Yes.'|(Nobody moved.)|The end"),
        ("en", "Wait. then go."),
        ("en", "Hello. :)"),
        ("en", "See example.com or v1.2.3 now."),
        ("fr", "Il dit : « Va ! »|Puis il part.|Et toi ?|Élise reste.|Ça va ?"),
        ("fr", "M. Dupont est là.|Mme Martin aussi.|Il y en a.|L'été vient… et passe."),
        ("de", "Am 3. Oktober kam er, z. B. Paris sah er, d.h. Frankreich.|Sie ging."),
        ("de", "Er sagte: »Geh.«|„Gut.“|Ich bin hier."),
        ("zh", "你好。|你好吗？|“好！”|他说。"),
        ("he", "שלום.|מה שלומך?|טוב."),
    ],
)
def test_a_text_is_cut_where_a_person_marked_it(language, marked):
    text = marked.replace("|", "" if language == "zh" else " ")
    assert sentences(text, language) == marked.split("|")


def test_only_languages_that_write_an_ordinals_dot_read_one():
    assert sentences("Er ist 3. Sie geht.", "de") == ["Er ist 3. Sie geht."]
    assert sentences("He is 3. She goes.", "en") == ["He is 3.", "She goes."]


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u00a0"])
def test_white_space_holds_no_sentence(text):
    assert sentences(text) == []


def test_sentences_that_end_in_a_mark_of_full_width_are_joined_without_a_blank():
    said = ["我到家了。", "真的吗？", "Va.", "我到家了。"]
    assert joined(said) == "我到家了。真的吗？Va. 我到家了。"


@pytest.mark.parametrize("side", [0, 1])
def test_nothing_of_a_text_is_lost_and_no_piece_falls_further_apart(side):
    corpus = load_corpus("everyday")
    pairs, language = corpus.train + corpus.valid, corpus.languages[side]
    text = "  ".join(pair[side] for pair in pairs)
    found = sentences(text, language)
    assert "".join(" ".join(found).split()) == "".join(text.split())
    assert [sentences(one, language) for one in found] == [[one] for one in found]
    assert len(found) > 0.95 * len(pairs)
