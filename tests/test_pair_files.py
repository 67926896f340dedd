import codecs
import csv
import gzip
import hashlib
import io
import random
import re
import warnings
import zipfile

import pytest

from transformer_lib import corpus
from transformer_lib.base import language_names
from transformer_lib.base.language_names import language_named
from transformer_lib.corpus import load_corpus, load_pairs
from transformer_lib.pair_files import Pair, read_pairs, read_plain


@pytest.fixture
def put(tmp_path):
    def writer(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


def sides(read):
    return [(pair.source, pair.target) for pair in read.pairs]


# ------------------------------------------------------------------------------------- spreadsheets


SHEET = (
    b"\xef\xbb\xbf"
    b"English\tFrench\tnote\r\n"
    b"Go.\tVa !\t\r\n"
    b'"He said: ""Stop."""\t"Il a dit : \xc2\xab Stop. \xc2\xbb"\t1\r\n'
    b'"First line.\nSecond line."\t"Premi\xc3\xa8re ligne.\r\nDeuxi\xc3\xa8me ligne."\t\r\n'
    b"Empty\t\tx\r\n"
    b"\t\t\r\n"
    b"Go.\tVa !\tagain\r\n"
    b"Go.\tPars !\t\r\n"
    b"It's late.\tIl est tard\xc2\xa0!\t\r\n"
    b"Summer\tE\xcc\x81te\xcc\x81\t0-0\r\n"
    b" \tVide\t\r\n"
    b"\r\n"
    b"\r\n"
)


def test_a_spreadsheet_gives_the_pairs_that_its_author_sees(put):
    read = read_pairs(put("sheet.tsv", SHEET))
    assert read.pairs == [
        ("Go.", "Va !", ""),
        ('He said: "Stop."', "Il a dit : « Stop. »", "1"),
        ("First line. Second line.", "Première ligne. Deuxième ligne.", ""),
        ("Go.", "Pars !", ""),
        ("It's late.", "Il est tard\u00a0!", ""),
        ("Summer", "E\u0301te\u0301", "0-0"),
    ]
    assert read.languages == ("en", "fr")
    assert read.note() == (
        "sheet.tsv: 6 pairs; left out: 2 rows with an empty cell (lines 7, 13), "
        "1 duplicate (line 9); row 1 is a header (English, French)"
    )


def test_the_same_spreadsheet_as_csv_is_the_same_corpus(put, tmp_path):
    rows = list(csv.reader(io.StringIO(SHEET.decode("utf-8-sig"), newline=""), delimiter="\t"))
    expected = read_pairs(put("sheet.tsv", SHEET))
    for mark in ",;":
        with (tmp_path / "sheet.csv").open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file, delimiter=mark).writerows(rows)
        read = read_pairs(tmp_path / "sheet.csv")
        assert read.pairs == expected.pairs
        assert read.note() == expected.note().replace("sheet.tsv", "sheet.csv")


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "mark"), [("a.tsv", "\t"), ("a.txt", "\t"), ("a.csv", ","), ("a.csv", ";")]
)
def test_what_pythons_csv_writes_comes_back(name, mark, end, quoting, tmp_path):
    for trial in range(20):
        draw = random.Random(trial)
        letters = "abé日 \u00a0'’\"«»,;" + ("\t" if mark != "\t" else "")

        def sentence(draw=draw, letters=letters):
            """Lines as they stand in a cell."""
            lines = ["".join(draw.choices(letters, k=draw.randint(1, 9))).strip() for _ in "ab"]
            return [f"{n}{line}" for n, line in enumerate(lines[: draw.randint(1, 2)])]

        rows = [
            (*(sentence() for _ in range(2)), [str(n)] if mark == "\t" else ["x, y; z"])
            for n in range(draw.randint(3, 30))
        ]
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=mark, lineterminator=end, quoting=quoting)
            writer.writerows(["\n".join(lines) for lines in row] for row in rows)
        pairs = [tuple(" ".join(lines) for lines in row) for row in rows]
        known = set()
        expected = [p for p in pairs if not (p[:2] in known or known.add(p[:2]))]
        assert read_pairs(tmp_path / name).pairs == expected, trial


def test_the_separator_is_what_cuts_most_evenly(put):
    rows = [f"Yes, {n};Oui {n}" for n in range(19)]
    read = read_pairs(put("a.csv", "\n".join([*rows, "Stop.;Stop !"])))
    assert sides(read)[-2:] == [("Yes, 18", "Oui 18"), ("Stop.", "Stop !")]


def test_a_blank_may_stand_before_a_quoted_cell(put):
    read = read_pairs(put("a.csv", '"Yes, sir.", "Oui, monsieur."\nNo., "Non."\n'))
    assert sides(read) == [("Yes, sir.", "Oui, monsieur."), ("No.", "Non.")]


def test_a_table_may_be_packed(put, tmp_path):
    text = "a;b\nc;d\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside.csv", text)
    put("b.csv.gz", gzip.compress(text.encode()))
    for name in ("a.zip", "b.csv.gz"):
        assert sides(read_pairs(tmp_path / name)) == [("a", "b"), ("c", "d")]


# ------------------------------------------------------------------------------------------ Tatoeba

TATOEBA = (
    '"Look," she said.\tElle a dit : « Regarde. »\n'
    '"Hello."\t"Bonjour."\n'
    'He said "no".\tIl a dit "non".\n'
    '"Why?\tPourquoi ?\n'
)


def test_quotation_marks_of_a_file_that_quotes_no_cells_are_text(put):
    pairs = [
        ('"Look," she said.', "Elle a dit : « Regarde. »"),
        ('"Hello."', '"Bonjour."'),
        ('He said "no".', 'Il a dit "non".'),
        ('"Why?', "Pourquoi ?"),
    ]
    read = read_pairs(put("fra.txt", TATOEBA))
    assert sides(read) == pairs
    assert read.note() == ""
    assert [pair[:2] for pair in read_plain(put("fra.txt", TATOEBA))] == pairs


def test_a_quotation_that_would_swallow_a_cell_is_text(put):
    """Read as cells, these are well quoted: one row of two, `Come in.TABEntre.…` and `Vas-y."`."""
    text = '"Come in.\tEntre.\tann\n"Go on."\tVas-y."\tbob\n'
    assert sides(read_pairs(put("a.tsv", text))) == [
        ('"Come in.', "Entre."),
        ('"Go on."', 'Vas-y."'),
    ]
    text = '"Come in.\tEntre.\tann\nGo on."\tVas-y.\tbob\nStay.\tReste.\tann\n'
    assert len(read_pairs(put("a.tsv", text)).pairs) == 3


def test_a_cell_with_a_line_break_in_a_file_that_is_not_well_quoted_is_refused(put):
    text = 'Go.\tVa !\n"Look," he said.\tRegarde.\n"One.\nTwo."\t"Un.\nDeux."\n'
    message = "a.tsv can be read in two ways: line 3 has a .* but line 2 is not quoted"
    with pytest.raises(ValueError, match=message):
        read_pairs(put("a.tsv", text))


def test_files_of_known_form_keep_all_their_pairs(put):
    text = '"Hi."\t"Salut."\t0-0\r\n"Hi."\t"Salut."\t0-0\n\nEnglish\tFrench\n'
    assert read_plain(put("a.tsv", text)) == [
        ('"Hi."', '"Salut."', "0-0"),
        ('"Hi."', '"Salut."', "0-0"),
        ("English", "French", ""),
    ]
    a, b = put("a.en", "x\nx\n"), put("a.fr", "y\ny\n")
    assert read_plain(a, b) == [("x", "y", ""), ("x", "y", "")]


# -------------------------------------------------------------------------------------- what is left


def test_rows_of_another_length_are_named_and_not_guessed(put):
    text = "a\tb\n\nc\nd\te\tf\ng\th\t\ni\tj\n"
    read = read_pairs(put("a.tsv", text))
    assert sides(read) == [("a", "b"), ("g", "h"), ("i", "j")]
    assert read.note() == (
        "a.tsv: 3 pairs; left out: 2 rows with more or fewer cells than 2 (lines 3, 4)"
    )
    rows = [f"one {n},un {n}" for n in range(20)]
    read = read_pairs(put("a.csv", "\n".join([*rows[:10], "Yes, sir,Oui", *rows[10:]])))
    assert len(read.pairs) == 20
    assert read.left_out == {"row{s} with more or fewer cells than 2": [11]}


def test_the_same_sentence_with_another_translation_stays(put):
    read = read_pairs(put("a.tsv", "a\tb\na\tc\na\tb\nd\tb\n a\tb \n"))
    assert sides(read) == [("a", "b"), ("a", "c"), ("d", "b")]
    assert read.note() == "a.tsv: 3 pairs; left out: 2 duplicates (lines 3, 5)"


def test_a_text_that_no_sentence_can_be_is_left_out(put):
    long = "word " * 3000
    read = read_pairs(put("a.tsv", f"a\tb\nc\t{long}\n{long}\td\ne\t{'f' * 5000}\n"))
    assert [pair.source for pair in read.pairs] == ["a", "e"]
    assert read.note() == (
        "a.tsv: 2 pairs; left out: 2 rows with a cell of over 5000 characters (lines 2, 3)"
    )


def test_of_many_lines_the_first_are_named(put):
    note = read_pairs(put("a.tsv", "a\tb\n" + "c\t\n" * 45)).note()
    assert note == "a.tsv: 1 pair; left out: 45 rows with an empty cell (lines 2, 3, 4, 5, 6, …)"


def test_a_file_in_which_no_row_is_a_pair_is_refused_with_the_reasons(put):
    text = "English\tFrench\nGo.\t\n"
    message = "a.tsv: 0 pairs; left out: 1 row with an empty .*row 1 is a header .*no pair is left"
    with pytest.raises(ValueError, match=message):
        read_pairs(put("a.tsv", text))


# ------------------------------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("row", "languages"),
    [
        ("English\tFrench", ("en", "fr")),
        ("english \t FRANÇAIS", ("en", "fr")),
        ("Deutsch\tFranc\u0327ais", ("de", "fr")),  # ç in two characters
        ("de\ten", ("de", "en")),
        ("deu\teng", ("de", "en")),
        ("ger\tspa", ("de", "es")),
        ("en-US\tpt_BR", ("en", "pt")),
        ("中文\tEnglish", ("zh", "en")),
        ("source_de\ttarget_en", ("de", "en")),
        ("English sentence\tTiếng Việt", ("en", "vi")),
        ("source\ttarget", None),
        ("src\ttgt", None),
        ("Sentence\tTranslation", None),
        ("Original text\tTranslation", None),
        ("English\ttranslation", None),
    ],
)
def test_a_header_is_seen(row, languages, put):
    read = read_pairs(put("a.tsv", f"\n{row}\nGo.\tVa !\n"))
    assert sides(read) == [("Go.", "Va !")]
    assert read.languages == languages
    first, second = (cell.strip() for cell in row.split("\t"))
    assert read.note() == f"a.tsv: 1 pair; row 2 is a header ({first}, {second})"


@pytest.mark.parametrize(
    "row",
    [
        "Hello.\tBonjour.",
        "German\tDeutsch",  # a word and its translation
        "French\tfrançais",
        "Text\tText",
        "Original\tOriginal",
        "English\tBonjour",
        "Target\tZiel",
        "The English text\tDer englische Text",
        "it is\tes",
        "English German\tFrench",
        "en\t",
    ],
)
def test_a_first_pair_is_no_header(row, put):
    read = read_pairs(put("a.tsv", f"{row}\nGo.\tVa !\n"))
    assert read.header is None
    assert sides(read)[-1] == ("Go.", "Va !")
    assert len(read.pairs) == 1 + (row[-1] != "\t")


def test_only_the_first_row_can_be_a_header(put):
    read = read_pairs(put("a.tsv", "Go.\tVa !\nEnglish\tFrench\n"))
    assert sides(read) == [("Go.", "Va !"), ("English", "French")]


def test_languages_are_called_what_others_call_them():
    babel = pytest.importorskip("babel")
    for code in language_names.NAMES:
        locale = babel.Locale.parse(code)
        for name in (code, locale.get_language_name("en"), locale.get_language_name(code)):
            assert language_named(name) == code, name
    assert language_named("Klingon") is None


# ---------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("text", ["Go.\tVa !\r\nHi.\tSalut !\r\n", "一\t二\n", "une ligne\n"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
def test_utf16_is_called_by_its_name(text, mark, encoding, put):
    path = put("a.txt", mark + text.encode(encoding))
    with pytest.raises(ValueError, match="a.txt is UTF-16 .*: save it as UTF-8, or as “CSV UTF-8”"):
        read_pairs(path)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_alone_says_utf16(mark, put):
    with pytest.raises(ValueError, match="is UTF-16"):
        read_pairs(put("a.txt", mark + "一二".encode("utf-16-le")))


def test_not_all_that_has_zero_bytes_is_utf16(put, tmp_path):
    assert sides(read_pairs(put("a.tsv", "G\0o.\tVa !\n"))) == [("G\0o.", "Va !")]
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", random.Random(0).randbytes(5000))
    with pytest.raises(ValueError, match="a.xlsx is not UTF-8"):
        read_pairs(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "one\ntwo\n", "a.csv has one column: a row should be source,target or source;"),
        ("a.csv", "a,b\nc\nd, e, f\n", "commas: rows of 1, 2, 3; semicolons: rows of 1)"),
        ("a.csv", '"Hi" he said,Salut\n', "commas: line 1 is not well quoted"),
        ("a.csv", 'a,b\n"c,d\ne,f\n', "commas: line 2 is not well quoted"),
        ("a.csv", "Yes, sir;Oui, monsieur\n", "two ways: commas and semicolons cut it evenly"),
        ("a.csv", ";;\n,\n", "a.csv is empty"),
        ("a.txt", "a;b\nc;d\n", "one column: .* looks like CSV with semicolons: .* end in .csv"),
        ("a.tsv", "Yes, sir.\nNo, sir.\n", "It looks like CSV with commas"),
        ("a.txt", "One, two.\nThree.\n", "Of two files whose lines belong together, give both"),
    ],
)
def test_a_table_that_is_none_is_refused_with_the_way_out(name, text, message, put):
    message = re.escape(message).replace(r"\.\*", ".*")
    with pytest.raises(ValueError, match=message):
        read_pairs(put(name, text))


# ---------------------------------------------------------------------------------------- two files


def test_blank_lines_at_the_end_of_one_of_two_files_are_none(put):
    read = read_pairs(put("a.de", "eins\r\nzwei\r\n\r\n\r\n"), put("a.en", "one\ntwo"))
    assert read.pairs == [Pair("eins", "one"), Pair("zwei", "two")]
    assert read.note() == ""


def test_a_blank_line_of_two_files_has_a_place(put):
    read = read_pairs(put("a.de", "eins\n\n\ndrei\nvier\n"), put("a.en", "one\n\ntwo\nthree\n\n"))
    assert sides(read) == [("eins", "one"), ("drei", "three")]
    assert read.note() == "a.de + a.en: 2 pairs; left out: 2 rows with an empty cell (lines 3, 5)"


def test_two_files_of_other_lengths_do_not_belong_together(put):
    a, b = put("a.de", "eins\nzwei\ndrei\n\n"), put("a.en", "one\ntwo\n")
    with pytest.raises(ValueError, match="a.de has 3 lines, a.en has 2: they do not belong"):
        read_pairs(a, b)


def test_quotation_marks_and_tabs_of_two_files_are_text(put):
    read = read_pairs(put("a.de", '"Ja\teins\n'), put("a.en", '"Yes\n'))
    assert sides(read) == [('"Ja\teins', '"Yes')]


# --------------------------------------------------------------------------------------- as a corpus


def five(mark="\t"):
    return "".join(f"Hallo {n}.{mark}Hello {n}.\n" for n in range(5))


@pytest.mark.parametrize(
    ("name", "header", "given", "languages", "how"),
    [
        ("mine.tsv", "", None, ("en", "fr"), "assumed"),
        ("mine.tsv", "source\ttarget\n", None, ("en", "fr"), "assumed"),
        ("mine.tsv", "German\tEnglish\n", None, ("de", "en"), "from the header"),
        ("de-en.tsv", "", None, ("de", "en"), "from the file names"),
        ("en-de.tsv", "French\tEnglish\n", None, ("en", "de"), "from the file names"),
        ("en-fr.tsv", "English\tFrench\n", "de-en", ("de", "en"), "given"),
    ],
)
def test_a_corpus_says_how_its_languages_were_found(name, header, given, languages, how, put):
    path = put(name, header + five())
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        read = load_corpus(path, languages=given)
    assert (read.languages, read.languages_are) == (languages, how)
    assert [str(note.message) for note in notes] == [
        f"{name}: 5 pairs; row 1 is a header ({', '.join(header.split())})" for _ in header[:1]
    ]
    assert load_corpus("everyday").languages_are == ""


WAYS = {  # a file, its header, the languages that are meant, and how they were found
    "a header and an option": (
        "mine.tsv",
        "German\tEnglish\n",
        ("en", "de"),
        "given; the header says",
    ),
    "names and an option": ("de-en.tsv", "", ("en", "de"), "given; the file names say"),
    "names and a header": (
        "en-de.tsv",
        "German\tEnglish\n",
        None,
        "from the file names; the header says",
    ),
    "another script": ("zh-en.tsv", "", ("en", "zh-Hant"), "given; the file names say"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:.*is a header")
def test_columns_that_stand_the_other_way_round_are_exchanged_and_it_is_said(way, put):
    name, header, given, how = WAYS[way]
    path = put(name, header + five().replace(".\n", ".\t0-1\n"))
    read = load_corpus(path, languages=given)
    says = "zh → en" if "zh" in name else "de → en"
    assert read.languages_are == f"{how} {says}, so the columns are exchanged"
    assert read.languages == (given or ("en", "de"))
    pairs = read.train + read.valid + read.test
    assert {pair[:2] for pair in pairs} == {(f"Hello {n}.", f"Hallo {n}.") for n in range(5)}
    assert {pair.alignment for pair in pairs} == {frozenset({(1, 0)})}
    with pytest.warns(UserWarning, match=f"^{name}: the .* {says}, so the columns are exchanged"):
        assert sorted(load_pairs(path, read.languages)) == sorted(pairs)


def test_two_files_in_the_other_order_are_exchanged_and_files_of_valid_too(put):
    files = [put("a.de", "eins\nzwei\n"), put("a.en", "one\ntwo\n")]
    valid = put("v.tsv", "English\tGerman\nthree\tdrei\n")
    with pytest.warns(UserWarning, match="header"):
        read = load_corpus(files, languages="en-de", valid=valid)
    assert [pair[:2] for pair in read.train] == [("one", "eins"), ("two", "zwei")]
    assert [pair[:2] for pair in read.valid] == [("three", "drei")]


def test_a_header_of_other_languages_exchanges_nothing(put):
    path = put("mine.tsv", "French\tEnglish\n" + five())
    with pytest.warns(UserWarning, match="header"):
        assert load_corpus(path, languages="de-en").languages_are == "given"


def test_a_header_names_any_language_that_is_known(put):
    path = put("mine.tsv", "English\tSpanish\n" + five())
    with pytest.warns(UserWarning, match="header"):
        read = load_corpus(path)
    assert (read.languages, read.languages_are) == (("en", "es"), "from the header")


@pytest.mark.parametrize(
    ("name", "languages"),
    [("en-zh.tsv", ("en", "zh")), ("spa-eng.tsv", ("en", "es")), ("fra.tsv", ("en", "fr"))],
)
def test_a_file_s_name_spells_any_language_that_is_known(name, languages, put):
    assert load_corpus(put(name, five())).languages == languages


@pytest.mark.parametrize("name", ["everyday", "tatoeba-fra"])
def test_a_corpus_with_a_name_is_read_as_it_stands(name, put, monkeypatch):
    text = '"Go."\t"Va !"\n"Go."\t"Va !"\nEnglish\tFrench\n1\tun\n2\tdeux\n'
    path = put("everyday.tsv", text)
    put("SHA256SUMS", f"{hashlib.sha256(text.encode()).hexdigest()}  everyday.tsv\n")
    monkeypatch.setattr(corpus, "DATA", path.parent)
    monkeypatch.setattr(corpus, "fetch", lambda remote: path)
    with warnings.catch_warnings(action="error"):
        read = load_corpus(name)
    pairs = {pair[:2] for pair in read.train + read.valid + read.test}
    assert pairs == {('"Go."', '"Va !"'), ("English", "French"), ("1", "un"), ("2", "deux")}


def test_a_header_may_name_the_languages_of_two_files(put):
    files = [put("a.txt", "German\n1\n2\n3\n"), put("b.txt", "English\n1\n2\n3\n")]
    with pytest.warns(UserWarning, match="row 1 is a header"):
        assert load_corpus(files).languages == ("de", "en")


def test_languages_that_nothing_says_are_asked_for_in_both_ways(put):
    files = [put("a.txt", "x\n"), put("b.txt", "y\n")]
    with pytest.raises(
        ValueError, match='say them, --languages de-en .in Python languages="de-en"'
    ):
        load_corpus(files)
    assert load_corpus([put("a.txt", "1\n2\n3\n")] * 2, languages="de-en").languages == ("de", "en")


def test_the_files_to_validate_on_have_notes_of_their_own(put):
    train, valid = put("train.csv", five(";")), put("valid.csv", "German;English\nJa.;Yes.\n")
    with pytest.warns(UserWarning, match=r"valid.csv: 1 pair; row 1 is a header"):
        read = load_corpus(train, valid=valid, languages="de-en")
    assert (len(read.train), read.valid[0][:2]) == (5, ("Ja.", "Yes."))
