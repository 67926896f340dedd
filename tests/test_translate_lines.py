"""A file or a pipe through `translate`: batches, order, notes with the numbers of lines."""

import io
import sys
import warnings

import pytest

from transformer_lib.checkpoints import load_model
from transformer_lib.cli import main
from transformer_lib.corpus import DATA, load_corpus
from transformer_lib.run import lines as module
from transformer_lib.run.lines import translate_lines
from transformer_lib.translation import Translator

RUN = DATA / "models" / "lessons"


@pytest.fixture(scope="module")
def translator():
    return Translator(*load_model(RUN)[:3])


def piped(monkeypatch, content: bytes):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.fixture
def batches(monkeypatch):
    """How many sentences each call of the model's translator was given."""
    asked, translate = [], Translator.translate

    def counting(self, texts, **search):
        asked.append(len(texts))
        return translate(self, texts, **search)

    monkeypatch.setattr(Translator, "translate", counting)
    return asked


def test_lines_come_back_in_their_order_whatever_the_batch(translator, monkeypatch, batches):
    known = [pair.source for pair in load_corpus("everyday").train[:50]]
    expected = translator.translate(known)
    assert len(set(expected)) > 5
    monkeypatch.setattr(module, "LINES", 20)
    given = [f"{line}\r\n".encode() for line in known]
    assert list(translate_lines(translator, given)) == expected
    assert batches == [50, 20, 20, 10]


def test_a_pipe_is_answered_before_it_ends(translator, monkeypatch):
    monkeypatch.setattr(module, "LINES", 2)
    read = []

    def endless():
        while True:
            read.append(1)
            yield b"I'm home.\n"

    next(translate_lines(translator, endless()))
    assert len(read) == 2


def test_sentences_of_a_line_are_translated_one_by_one_and_joined(translator):
    one, two = translator.translate(["I'm home.", "He's calm."])
    assert one != two
    given = [b"I'm home. He's calm. I'm home.\n", b"\n", b"  \n", b"He's calm."]
    assert list(translate_lines(translator, given)) == [f"{one} {two} {one}", "", "", two]


def test_a_file_a_sentence_and_a_program_of_yours_cut_alike(translator, tmp_path, capsys):
    text = "I'm home. He's calm. I'm home."
    (tmp_path / "one.txt").write_text(text, encoding="utf-8")
    said = []
    for how in ([text], ["--file", str(tmp_path / "one.txt")]):
        assert main(["translate", "--model", str(RUN), *how]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == f"{translator.translate([text])[0]}\n"


def test_notes_name_lines_and_unknown_words_are_said_once(translator):
    given = [b"Go, zebra.\n", b"\n", b"A qux and a zebra. A zebra!\n", b"no " * 300, b"a b c d e f"]
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        assert len(list(translate_lines(translator, given))) == 5
    cut, unknown = map(str, [note.message for note in notes])
    assert cut.startswith("line 4: cut after 255 of 300 tokens: 'no no")
    assert unknown.startswith(
        "training never showed these words, they are read as <unk>: zebra (lines 1, 3), qux (line 3)"
    )


def test_the_unknown_are_five_and_three_lines_at_most(translator):
    given = [b"xa xb xc xd xe xf xg\n"] * 5
    with pytest.warns(UserWarning, match=r"xa \(lines 1, 2, 3, …\), .* xe \(.*\) and 2 more$"):
        list(translate_lines(translator, given))


def test_empty_lines_and_known_words_are_cause_for_no_note(translator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(translate_lines(translator, [b"\xef\xbb\xbfGo.\n", b"\n"]))[1] == ""


@pytest.mark.parametrize("line", ["café".encode("latin-1"), "Go.".encode("utf-16")])
def test_bytes_that_are_no_text_are_an_error_that_names_the_line(translator, line):
    with pytest.raises(ValueError, match="line 2 is not UTF-8: byte 0x(e9|ff)"):
        list(translate_lines(translator, [b"Go.\n", line]))


def test_a_file_and_standard_input_say_the_same(tmp_path, monkeypatch, capsys):
    content = b"I'm home.\n\nGo. He's calm.\n"
    (tmp_path / "lines.txt").write_bytes(content)
    piped(monkeypatch, content)
    said = []
    for how in ([], ["--file", str(tmp_path / "lines.txt")]):
        assert main(["translate", "--model", str(RUN), "--beam", "2", *how]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == 3


def test_what_cannot_be_read_exits_1(tmp_path, monkeypatch, capsys):
    asked = ["translate", "--model", str(RUN)]
    piped(monkeypatch, b"Go.\ncaf\xe9\n")
    assert main(asked) == 1
    assert "error: line 2 is not UTF-8: byte 0xe9" in capsys.readouterr().err
    missing = str(tmp_path / "missing.txt")
    assert main([*asked, "--file", missing]) == 1
    assert f"error: {missing}: No such file or directory\n" in capsys.readouterr().err
    assert main([*asked, "--file", missing, "Go."]) == 1
    assert "leave out one" in capsys.readouterr().err


def test_a_person_at_a_terminal_is_answered_line_by_line(monkeypatch, capsys):
    answered = []

    class Terminal:
        def isatty(self):
            return True

        def __iter__(self):
            for line in ("I'm home.\n", "Go.\n"):
                yield line
                answered.append(capsys.readouterr().out.count("\n"))

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert main(["translate", "--model", str(RUN)]) == 0
    assert answered == [1, 1]
