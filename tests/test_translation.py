import copy
import subprocess
import sys
import warnings

import pytest
import torch
from checked import unchecked
from torch.testing import assert_close

from transformer_lib import translation
from transformer_lib.attention import record_attention
from transformer_lib.batching import TokenBatches, encode_pairs, make_batch
from transformer_lib.corpus import EOS_ID, SentencePair, Vocabulary
from transformer_lib.decoding import beam_search
from transformer_lib.training import fit
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

PAIRS = [
    SentencePair(
        "I'm home.", "Je suis chez moi.", frozenset({(0, 0), (1, 1), (2, 2), (2, 3), (3, 4)})
    ),
    SentencePair("Go.", "Va !", frozenset({(0, 0), (1, 1)})),
    SentencePair("I lost.", "J'ai perdu.", frozenset({(0, 0), (1, 1), (1, 2), (2, 3)})),
    SentencePair("He's calm.", "Il est calme.", frozenset({(0, 0), (1, 1), (2, 2), (3, 3)})),
]


@pytest.fixture(scope="module")
def translator():
    torch.manual_seed(0)
    source, target = (
        Vocabulary.build([p[side] for p in PAIRS], language)
        for side, language in enumerate(("en", "fr"))
    )
    model = make_model(
        len(source), len(target), d_model=32, num_heads=4, d_ff=64, dropout=0.0, max_len=12
    )
    batches = TokenBatches(encode_pairs(PAIRS, source.encode, target.encode, 12))
    fit(model, batches, steps=80, learning_rate=3e-3, label_smoothing=0.0)
    return Translator(model, source, target)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_sentences_learned_by_heart_come_back_in_their_order(translator, beam_size):
    sentences = [p.source for p in PAIRS] * 40
    assert translator.translate(sentences, beam_size=beam_size) == [p.target for p in PAIRS] * 40


def test_drawing_coldly_says_what_was_learned_by_heart(translator):
    sentences = [pair.source for pair in PAIRS]
    drawn = translator.translate(sentences, temperature=0.01, top_k=5, top_p=0.9)
    assert drawn == [pair.target for pair in PAIRS]


def test_searching_and_drawing_at_once_is_refused(translator):
    with pytest.raises(ValueError, match="beam_size=2 and temperature"):
        translator.translate([PAIRS[0].source], beam_size=2, temperature=1.0)


def test_one_string_is_no_list_of_sentences(translator):
    with (
        unchecked(),
        pytest.raises(TypeError, match=r'sentences is one string, .* \["I\'m home."\]'),
    ):
        translator.translate("I'm home.")


def test_a_model_that_diverged_translates_nothing_and_says_so(translator):
    broken = copy.deepcopy(translator)
    torch.nn.init.constant_(broken.model.generator.weight, float("nan"))
    for search in ({}, {"beam_size": 3}, {"temperature": 1.0}):
        with pytest.raises(ValueError, match="the best logit of step 1 is nan"):
            broken.translate(["Go."], **search)


def test_maps_are_ordinary_tensors(translator):
    assert not any(map.weights.is_inference() for map in translator.attention_maps("Go."))


def test_an_empty_sentence_stays_empty(translator):
    with pytest.warns(UserWarning, match="an empty sentence"):
        assert translator.translate(["", "Go.", "   "]) == ["", "Va !", ""]
    assert translator.translate([]) == []


def test_a_translation_does_not_depend_on_its_companions(translator):
    """On an untrained model too, whose sentences do not end by themselves."""
    torch.manual_seed(3)
    english, french = translator.source_vocabulary, translator.target_vocabulary
    untrained = Translator(make_model(len(english), len(french), max_len=200), english, french)
    sentences = ["Go.", "I'm home. I'm calm. He's home.", "I lost."]
    for beam_size in (1, 2):
        alone = [untrained.translate([s], beam_size=beam_size)[0] for s in sentences]
        assert untrained.translate(sentences, beam_size=beam_size) == alone


def test_sentences_of_a_text_are_translated_one_by_one_but_measured_whole(translator):
    texts = ["Go. I lost.", "I'm home. He's calm. Go.", "Go."]
    go, lost, home, calm = translator.translate(["Go.", "I lost.", "I'm home.", "He's calm."])
    assert len({go, lost, home, calm}) == 4
    assert translator.translate(texts) == [f"{go} {lost}", f"{home} {calm} {go}", go]
    (whole,) = translator.hypotheses([SentencePair("Go. I lost.", "")])
    assert whole != f"{go} {lost}"


def test_unknown_words_are_named_and_do_not_stop_the_others(translator):
    with pytest.warns(UserWarning, match="read as <unk>: zebra, xyz$"):
        out = translator.translate(["zebra xyz", "Go."])
    assert out[1] == "Va !"
    with pytest.warns(UserWarning, match="read as <unk>: b, c, d, e, f and 2 more$"):
        translator.translate(["b c d e f g h b"])


def test_a_sentence_longer_than_the_model_is_cut_and_said_so(translator):
    with pytest.warns(UserWarning, match=r"cut after 11 of 40 tokens: 'home home"):
        assert isinstance(translator.translate(["home " * 40])[0], str)


def test_a_translation_is_no_longer_than_the_model_reads(translator):
    english, french = translator.source_vocabulary, translator.target_vocabulary
    model = make_model(len(english), len(french), max_len=8)
    said, step = [], model.step

    def never_ends(*given):
        said.append(1)
        logits, state = step(*given)
        return torch.zeros_like(logits).index_fill(-1, torch.tensor([EOS_ID]), -1.0), state

    model.step = never_ends
    Translator(model, english, french).translate(["Go."])
    assert len(said) == 8


def test_the_length_penalty_reaches_the_search(translator, monkeypatch):
    given = []

    def search(*args, **options):
        given.append((options["beam_size"], options["length_penalty"]))
        return beam_search(*args, **options)

    monkeypatch.setattr(translation, "beam_search", search)
    translator.translate(["Go."], beam_size=3, length_penalty=0.7)
    assert given == [(3, 0.7)]


def test_maps_are_those_of_evaluation_and_the_mode_stays(translator):
    english, french = translator.source_vocabulary, translator.target_vocabulary
    model = make_model(len(english), len(french), d_model=12, num_heads=3, d_ff=20, dropout=0.5)
    shaky = Translator(model.train(), english, french)
    first, second = (shaky.attention_maps("I'm home.", "Je suis chez moi.") for _ in range(2))
    assert model.training
    for a, b in zip(first, second, strict=True):
        assert torch.equal(a.weights, b.weights)


def test_scores_of_a_perfect_translator(translator):
    scores = translator.evaluate(PAIRS)
    assert scores["pairs"] == 4
    assert scores["bleu"] == pytest.approx(100)
    assert scores["exact_match"] == 1
    assert "tok:13a" in scores["signature"]


def test_evaluating_is_silent_about_unknown_words(translator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translator.evaluate([SentencePair("zebra", "zèbre")])


def test_attention_maps_carry_the_tokens_of_their_axes(translator):
    maps = translator.attention_maps("I'm home.")
    assert len(maps) == 3 * 2 * 4
    first = {m.kind: m for m in reversed(maps)}
    assert first["cross"].queries == ["je", "suis", "chez", "moi", ".", "<eos>"]
    assert first["cross"].keys == ["i", "'m", "home", ".", "<eos>"]
    assert first["decoder"].keys == ["<bos>", "je", "suis", "chez", "moi", "."]
    for m in maps:
        assert m.weights.shape == (len(m.queries), len(m.keys))
        assert_close(m.weights.sum(1), torch.ones(len(m.queries)))
    assert first["decoder"].weights.triu(1).eq(0).all()


def test_a_map_is_that_of_the_attention_it_names(translator):
    pair = PAIRS[0]
    batch = make_batch([translator._example(pair)])
    with record_attention(translator.model) as heard, torch.inference_mode():
        translator.model(batch.src, batch.tgt_in, batch.src_mask)
    names = {"encoder": "encoder.layers.{}.self_attn"}
    names |= {"decoder": "decoder.layers.{}.self_attn", "cross": "decoder.layers.{}.cross_attn"}
    for m in translator.attention_maps(pair.source, pair.target):
        assert_close(m.weights, heard[names[m.kind].format(m.layer)][0][0, m.head])


def test_a_translation_loads_no_charts():
    program = "import sys, transformer_lib.translation; assert 'altair' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_error_rate_of_every_head_is_that_of_its_strongest_links(translator):
    rates = translator.alignment_error_rates(PAIRS)
    assert set(rates) == {(layer, head) for layer in range(2) for head in range(4)}
    for head, rate in rates.items():
        hits = links = 0
        for pair in PAIRS:
            maps = translator.attention_maps(*pair[:2])
            (weights,) = [m.weights for m in maps if (m.kind, m.layer, m.head) == ("cross", *head)]
            strongest = weights[:-1, :-1].argmax(1).tolist()
            hits += sum((i, j) in pair.alignment for j, i in enumerate(strongest))
            links += len(strongest) + len(pair.alignment)
        assert rate == pytest.approx(1 - 2 * hits / links)


def test_words_without_a_gold_link_are_left_out(translator):
    pair = SentencePair("I'm home.", "Je suis chez moi.", frozenset({(3, 4)}))
    assert set(translator.alignment_error_rates([pair]).values()) <= {0.0, 1.0}


def test_without_gold_alignments_there_is_no_error_rate(translator):
    with pytest.raises(ValueError, match="gold alignment"):
        translator.alignment_error_rates([SentencePair("Go.", "Va !")])
