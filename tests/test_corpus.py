import gzip
import json
import re
import unicodedata
import warnings
import zipfile
from functools import partial

import pytest
from checked import unchecked

from transformer_lib import corpus
from transformer_lib.corpus import (
    EOS_ID,
    PAD_ID,
    SPLITS,
    UNK_ID,
    ByteSubwords,
    SentencePair,
    Subwords,
    Vocabulary,
    detokenize,
    load_corpus,
    tokenize,
    vocabulary_from_json,
)

BYTES = ByteSubwords.build(["我在家。", "猫喜欢鱼。"] * 9, "zh", 300)


@pytest.mark.parametrize(
    ("text", "language", "tokens"),
    [
        ("I'm home.", "en", ["i", "'m", "home", "."]),
        ("Don't, John's!", "en", ["don", "'t", ",", "john", "'s", "!"]),
        ("J'ai perdu.", "fr", ["j'", "ai", "perdu", "."]),
        ("Qu'est-ce que c'est ?", "fr", ["qu'", "est-ce", "que", "c'", "est", "?"]),
        ("Ça, l\u2019œuf à 3 €", "fr", ["ça", ",", "l'", "œuf", "à", "3", "€"]),
        ("Zwei Männer stehen.", "de", ["zwei", "männer", "stehen", "."]),
        ("", "en", []),
        (
            "Pi is 3.14, 1,000 at 10:30.",
            "en",
            ["pi", "is", "3.14", ",", "1,000", "at", "10:30", "."],
        ),
        ("3,50 kosten 1.000", "de", ["3,50", "kosten", "1.000"]),
        ("He said 'Come'.", "en", ["he", "said", "'", "come", "'", "."]),
    ],
)
def test_tokens(text, language, tokens):
    assert tokenize(text, language) == tokens


def test_what_is_no_code_of_a_language_is_refused():
    for wrong in ("English", "", "e", "en_US"):
        with pytest.raises(ValueError, match="is no code of a language, such as en, de or zh"):
            tokenize("hello", wrong)


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("es", "¿Dónde está Ana? ¡Aquí!", ["¿", "Dónde", "está", "Ana", "?", "¡", "Aquí", "!"]),
        ("it", "L'amica dell'uomo.", ["L", "'", "amica", "dell", "'", "uomo", "."]),
        ("ru", "Я дома, Анна.", ["Я", "дома", ",", "Анна", "."]),
        ("zh", "我在家。", ["我", "在", "家", "。"]),
        ("ja", "iPhoneを3台買う", ["iPhone", "を", "3", "台", "買", "う"]),
        ("de", "Das Haus, Herr Müller!", ["Das", "Haus", ",", "Herr", "Müller", "!"]),
    ],
)
def test_any_language_keeps_its_capitals_and_comes_back(language, text, tokens):
    assert tokenize(text, language, lower=False) == tokens
    assert detokenize(tokens, language, capital=False) == text
    assert tokenize(text, language) == [token.lower() for token in tokens]


@pytest.mark.parametrize("kind", [Vocabulary, Subwords, ByteSubwords])
def test_a_vocabulary_keeps_capitals_if_it_is_told_to_and_is_stored_so(kind):
    sentences = ["Der Mann sieht das Haus.", "der mann"] * 3
    sizes = {Vocabulary: {}, Subwords: {"size": 60}, ByteSubwords: {"size": 300}}[kind]
    kept, lowered = (kind.build(sentences, "de", lower=lower, **sizes) for lower in (False, True))
    assert kept.decode(kept.encode(sentences[0])) == sentences[0]
    assert kept.encode("Der Mann") != kept.encode("der mann")
    assert lowered.encode("Der Mann") == lowered.encode("der mann")
    assert kept.rewritten("das Haus") == "das Haus"
    for vocabulary in (kept, lowered):
        again = vocabulary_from_json(json.loads(json.dumps(vocabulary.to_json())))
        assert again.encode(sentences[0]) == vocabulary.encode(sentences[0])
        assert again.decode(again.encode(sentences[0])) == vocabulary.decode(
            vocabulary.encode(sentences[0])
        )


def test_a_vocabulary_that_was_stored_before_capitals_could_be_kept_lowers_them():
    old = {"kind": "words", "language": "de", "words": ["haus"]}
    assert vocabulary_from_json(old).encode("Haus") == [4]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "我在家。",
        "🙂 zoo\n猫",
        "naïve café",
        "<eos> <pad> ▁",
        "\tأين أنت؟ ",
        "".join(map(chr, range(1, 600))),
    ],
)
def test_bytes_know_every_text_and_give_it_back(text):
    text = unicodedata.normalize("NFC", text)
    ids = BYTES.encode(text)
    assert BYTES.decode(ids) == text
    assert BYTES.unknown(text) == []
    assert min(ids, default=4) >= 4, "what looks like a special token is text"


def test_bytes_have_no_room_below_256_pieces_and_learn_what_is_frequent():
    with pytest.raises(ValueError, match="size=200, but 4 special pieces and 256 bytes are 260"):
        ByteSubwords.build(["我在家。"], "zh", 200)
    assert BYTES.tokens(BYTES.encode("我在家。")) == ["我在家", "。"]
    source, target = ByteSubwords.build_joint([("I am home.", "我在家。")], ("en", "zh"), 300)
    assert source.encode("home") == target.encode("home")


def test_writing_tokens_out_undoes_tokenising_for_every_sentence_of_the_corpus():
    everyday = load_corpus("everyday")
    for pair in everyday.train + everyday.valid + everyday.test:
        for text, language in zip(pair, everyday.languages, strict=False):
            assert detokenize(tokenize(text, language), language).lower() == text.lower()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", 'He said: "come at 10:30", and left.'),
        ("en", "He said: 'come, it's 5 o'clock.'"),
        ("en", "'Come,' she said, 'and see the boys' ball.'"),
        ("en", "Get 'em, the dogs' owners aren't here (it's 3.14%)."),
        ("en", "“Is it 1,000?” she asked."),
        ("fr", 'Il a dit : "viens à 10:30", et l\'a payé 3,14.'),
        ("fr", "« Quoi ? » dit-il (aujourd'hui)."),
        ("de", "Es kostet 3,50 und 1.000, wie geht's um 10:30?"),
        ("de", "„Komm“, sagte er, „wie geht's?“"),
    ],
)
def test_numbers_times_and_quotes_survive(language, text):
    assert detokenize(tokenize(text, language), language).lower() == text.lower()


def test_one_string_where_strings_are_meant_is_refused():
    for read in (
        lambda: Vocabulary.build("a cat", "en"),
        lambda: Vocabulary("cat", "en"),
        lambda: Subwords.build("a cat", "en"),
        lambda: detokenize("a cat", "en"),
        lambda: load_corpus("everyday", hold_out="I'm home."),
    ):
        with (
            unchecked(),
            pytest.raises(TypeError, match=r" is one string, not a list of strings: write \["),
        ):
            read()


@pytest.mark.parametrize("build", [Vocabulary.build, partial(Subwords.build, size=30)])
def test_an_id_that_stands_for_no_token_is_refused(build):
    vocabulary = build(["the cat sat"] * 3, "en")
    for number in (-100, -1, len(vocabulary), 10**12):
        for read in (vocabulary.tokens, vocabulary.decode):
            with pytest.raises(IndexError, match=f"id {number} stands for no token: .* 0 to"):
                read([4, number])


def test_pieces_are_no_more_than_asked_for_or_it_says_how_many_it_takes():
    sentences = ["the quick brown fox jumps over the lazy dog"]
    for size in (10, 30):
        with pytest.raises(ValueError, match=f"size={size}, but 4 special .* are 31"):
            Subwords.build(sentences, "en", size=size)
    assert len(Subwords.build(sentences, "en", size=31)) == 31
    assert len(Subwords.build(sentences, "en", size=40)) <= 40
    with pytest.raises(ValueError, match="size=8, but"):
        Subwords.build_joint([("ab cd", "ef")], ("en", "fr"), size=8)


def test_the_vocabulary_is_specials_then_words_by_frequency():
    words = Vocabulary.build(["b a", "b c", "A b"], "en")
    assert words.tokens(range(len(words))) == ["<pad>", "<bos>", "<eos>", "<unk>", "b", "a", "c"]
    assert words.encode("C zebra b") == [6, UNK_ID, 4]
    assert words.unknown("C zebra b") == ["zebra"]
    assert words.decode([1, 6, 5, EOS_ID, 4]) == "C a"
    assert len(Vocabulary.build(["b a", "b c"], "en", min_count=2)) == 5


def test_a_word_that_stands_twice_in_a_vocabulary_is_refused():
    with pytest.raises(ValueError, match="twice: a"):
        Vocabulary(["a", "b", "a"], "en")


def test_subwords_read_words_they_never_saw_and_write_them_back():
    text = ["the lower the newer", "the lowest newest lower", "wide wider widest new"] * 4
    pieces = Subwords.build(text, "en", size=60)
    assert pieces.tokens(range(4)) == list(corpus.SPECIAL)
    # it never saw a full stop
    assert pieces.decode(pieces.encode("the newest widest.")) == "The newest widest <unk>"
    assert pieces.unknown("the newest .") == ["."]
    assert (
        pieces.decode([*pieces.encode("lowest"), EOS_ID, *pieces.encode("wide"), PAD_ID])
        == "Lowest"
    )


def test_joint_pieces_cut_both_languages_alike():
    pairs = [SentencePair("The animal is important.", "L'animal est important.")] * 5
    english, french = Subwords.build_joint(pairs, ("en", "fr"), size=60)
    assert len(english) == len(french)
    assert english.encode("important animal") == french.encode("important animal")
    assert french.decode(french.encode("l'animal")) == "L'animal"


@pytest.mark.parametrize("build", [Vocabulary.build, Subwords.build])
def test_vocabularies_survive_json(build):
    import json

    text = ["j'ai faim .", "il a faim !"]
    before = build(text, "fr")
    after = vocabulary_from_json(json.loads(json.dumps(before.to_json())))
    assert after.encode("j'ai zut !") == before.encode("j'ai zut !")
    assert len(after) == len(before)
    assert after.language == "fr"


# ------------------------------------------------------------------------------- the shipped corpus


@pytest.fixture(scope="module")
def everyday():
    return load_corpus("everyday")


def test_the_everyday_corpus_is_large_short_and_holds_the_four_sentences(everyday):
    pairs = everyday.train + everyday.valid + everyday.test
    assert len(pairs) >= 1000
    words = [len(re.findall(r"[\w'-]+", source)) for source, _, _ in pairs]
    assert min(words) == 1
    assert 10 < max(words) <= 15
    four = {
        "Go.": "Va !",
        "I lost.": "J'ai perdu.",
        "He's calm.": "Il est calme.",
        "I'm home.": "Je suis chez moi.",
    }
    assert four.items() <= {source: target for source, target, _ in pairs}.items()


def test_everyday_french_is_written_as_french_is(everyday):
    vowel = "aeiouhâàéèêëîïôœùûy"
    for source, target, _ in everyday.train + everyday.valid + everyday.test:
        assert target[-1] == source[-1] or source == "Go.", target
        assert not re.search(r"[^ ][!?:;]", target), f"a space belongs before the mark: {target}"
        assert not re.search(rf"\b([jldnmtsc]|qu)'(?![{vowel}])", target, re.I), (
            f"an apostrophe before a consonant: {target}"
        )
        assert not re.search(
            rf"(?<![-\w])(je|ne|de|que|me|te|se) (?!oui|onze)[{vowel[:-2]}]", target, re.I
        ), f"no elision: {target}"
        assert not re.search(r"\b(de le|de les|à le|à les) (?!\w+(er|ir|re)\b)", target, re.I), (
            f"no contraction: {target}"
        )


def test_no_sentence_stands_on_two_sides_of_a_split(everyday):
    sides = [
        {tuple(tokenize(p.source, "en")) for p in side}
        for side in (everyday.train, everyday.valid, everyday.test)
    ]
    assert not sides[0] & sides[1]
    assert not sides[0] & sides[2]
    assert not sides[1] & sides[2]
    assert len(sides[1]) == len(sides[2]) == 144


def test_lessons_holds_out_one_sentence_that_train_has_with_another_mark():
    lessons = load_corpus("lessons")
    bare = {split: [p.source.rstrip(".!?") for p in getattr(lessons, split)] for split in SPLITS}
    held_out = [sentence for split in SPLITS[1:] for sentence in bare[split]]
    assert set(bare["train"]) & set(held_out) == {"Wait for me"}  # data/README.md says so


def test_the_vocabulary_comes_from_train_only(everyday):
    source, _ = everyday.vocabularies()
    assert set(source.words) == {
        word for pair in everyday.train for word in tokenize(pair.source, "en")
    }
    assert any(source.unknown(pair.source) for pair in everyday.test)


def test_a_changed_corpus_file_is_refused(tmp_path, monkeypatch):
    for name in ("everyday.tsv", "SHA256SUMS"):
        (tmp_path / name).write_bytes((corpus.DATA / name).read_bytes())
    with (tmp_path / "everyday.tsv").open("a") as file:
        file.write("One more.\tEncore un.\n")
    monkeypatch.setattr(corpus, "DATA", tmp_path)
    with pytest.raises(ValueError, match="everyday.tsv was changed: its SHA-256"):
        load_corpus("everyday")


# ----------------------------------------------------------------------------------- files of users


def lines(n):
    return "".join(f"sentence number {i}\tphrase {i}\tCC-BY\n" for i in range(n))


def write(path, content):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("_about.txt", "about")
            archive.writestr("fra.txt", content)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(content.encode()))
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", ["fra.txt", "pairs.tsv", "fra-eng.zip"])
def test_tab_separated_pairs(tmp_path, name):
    read = load_corpus(write(tmp_path / name, lines(40)))
    assert (len(read.train), len(read.valid), len(read.test)) == (32, 4, 4)
    assert SentencePair("sentence number 7", "phrase 7") in read.train + read.valid + read.test
    assert read.languages == ("en", "fr")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_two_files_whose_lines_belong_together(tmp_path, suffix):
    german = write(tmp_path / f"train.de{suffix}", "".join(f"Satz {i}\n" for i in range(20)))
    english = write(tmp_path / f"train.en{suffix}", "".join(f"sentence {i}\n" for i in range(20)))
    read = load_corpus([german, english])
    assert read.languages == ("de", "en")
    assert all(p.source.split()[1] == p.target.split()[1] for p in read.train)
    write(english, "one\n")
    with pytest.raises(ValueError, match="20 lines, train.en.* has 1"):
        load_corpus([german, english])


def test_the_split_is_by_source_sentence_and_does_not_depend_on_how_many_are_drawn(tmp_path):
    text = lines(100) + "".join(f"Sentence number {i}.\tune autre {i}\t\n" for i in range(100))
    path = write(tmp_path / "fra.txt", text.replace("number 3\t", "number 3 .\t"))
    full, few = load_corpus(path), load_corpus(path, max_pairs=60)
    assert len(few.train) + len(few.valid) + len(few.test) == 60
    assert few.test == full.test
    assert few.train == full.train[: len(few.train)]
    assert load_corpus(path, seed=1).test != full.test
    with pytest.raises(ValueError, match="none is left to train on: .* max_pairs=20"):
        load_corpus(path, max_pairs=20)


def test_sentences_held_out_by_name_are_never_trained_on(tmp_path):
    path = write(tmp_path / "fra.txt", lines(50))
    chosen = load_corpus(path).train[0].source
    read = load_corpus(path, hold_out=[chosen.upper()])
    assert chosen in [p.source for p in read.test]
    assert chosen not in [p.source for p in read.train + read.valid]


def test_only_short_sentences(tmp_path):
    path = write(
        tmp_path / "fra.txt",
        "I'm here now.\tici\nfar too many words here\tnon\na b c\toui\nd e\tsi\n",
    )
    kept = load_corpus(path, max_words=3)
    assert sorted(p.target for p in kept.train + kept.valid + kept.test) == ["ici", "oui", "si"]


def test_a_line_that_is_no_pair_is_skipped_and_named(tmp_path):
    path = write(
        tmp_path / "fra.txt", "Go.\tVa !\nno tab here\nRun!\tCours !\n\t\nalone\t\nHi.\tSalut !\r\n"
    )
    with pytest.warns(
        UserWarning, match=r"fra.txt: 3 pairs; left out: .* \(line 2\), 1 .* \(line 5\)"
    ):
        read = load_corpus(path)
    assert sorted(p.target for p in read.train + read.valid + read.test) == [
        "Cours !",
        "Salut !",
        "Va !",
    ]


def test_alignments_are_read_where_a_third_column_holds_them(tmp_path):
    path = write(tmp_path / "fra.txt", "I won.\tJ'ai gagné.\t0-0 1-1 1-2 2-3\n" + lines(2))
    read = load_corpus(path)
    found = {p.source: p.alignment for p in read.train + read.valid + read.test}
    assert found["I won."] == {(0, 0), (1, 1), (1, 2), (2, 3)}
    assert found["sentence number 1"] is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("fra.txt", b"", "fra.txt is empty"),
        ("fra.txt", b"one column\nonly\n", "has one column"),
        (
            "fra.txt",
            "Go.\tVa !\nHe\tIl a \xe9t\xe9\n".encode("latin-1"),
            "not UTF-8: byte 0xe9 on line 2. Save it as UTF-8 and load it again: "
            "iconv -f LATIN1 -t UTF-8 fra.txt > utf8-fra.txt ",
        ),
        ("fra.txt", b"\t\n \t \n", "is empty"),
        ("fra.zip", b"PK not a zip", "damaged or not a .zip"),
        ("fra.gz", gzip.compress(lines(50).encode(), mtime=0)[:60], "damaged or not a .gz"),
    ],
    ids=["empty", "one column", "not UTF-8", "blank", "no zip", "truncated gz"],
)
def test_files_that_cannot_be_read_are_refused_in_words(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)):
        load_corpus(tmp_path / name)


def test_a_name_that_is_no_corpus_and_no_file():
    with pytest.raises(FileNotFoundError, match=r"'everynight'.*everyday"):
        load_corpus("everynight")


def test_a_file_that_is_called_like_a_corpus_is_read_as_a_file(tmp_path):
    (tmp_path / "grammar").write_text("Go.\tVa !\nStop.\tArrête.\nRun.\tCours.\n", encoding="utf-8")
    with warnings.catch_warnings(action="error"):
        assert len(load_corpus(tmp_path / "grammar").train) == 1


def test_slips_in_names_are_answered_with_what_was_meant(tmp_path):
    (tmp_path / "train.de").write_text("x\n")
    with pytest.raises(FileNotFoundError, match=r"Did you mean .*/train\.de\?"):
        load_corpus([tmp_path / "tra1n.de", tmp_path / "train.en"])
    with pytest.raises(FileNotFoundError, match=r"Did you mean everyday\?"):
        load_corpus("every-day")
    with pytest.raises(FileNotFoundError, match="nor a file$"):
        load_corpus(tmp_path / "nowhere" / "qqq.tsv")
    with pytest.raises(ValueError, match="did you mean de-en?"):
        load_corpus(tmp_path / "train.de", languages="deutsch-english")


def test_two_files_must_say_their_languages(tmp_path):
    a, b = write(tmp_path / "a.txt", "x\n"), write(tmp_path / "b.txt", "y\n")
    with pytest.raises(ValueError, match="say them, --languages de-en"):
        load_corpus([a, b])
    assert load_corpus([a, b], languages=("de", "fr")).languages == ("de", "fr")


def test_files_of_ones_own_to_validate_on(tmp_path):
    for name, text in {
        "train.tsv": "Go.\tVa !\nHi.\tSalut !\nI won.\tJ'ai gagné.\n",
        "valid.tsv": "I lost.\tJ'ai perdu.\nHi.\tBonjour.\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    corpus = load_corpus(tmp_path / "train.tsv", valid=tmp_path / "valid.tsv")
    assert [pair.target for pair in corpus.train] == ["Va !", "J'ai gagné."]
    assert [pair.target for pair in corpus.valid] == ["J'ai perdu.", "Bonjour."]
    assert corpus.test == []
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_corpus(tmp_path / "train.tsv", valid=tmp_path / "nowhere.tsv")
    with pytest.raises(ValueError, match="everyday has a valid split of its own"):
        load_corpus("everyday", valid=tmp_path / "valid.tsv")
