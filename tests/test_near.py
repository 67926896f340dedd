"""The tests that `make near` chooses are those of the change and of what stands on it."""

from pathlib import Path

import near
import pytest

LIBRARY, TESTS = near.LIBRARY, near.TESTS


def names(*files):
    return [path.stem for path in near.near(list(files))]


def test_a_line_in_attention_asks_attention_layers_and_transformer():
    found = names(LIBRARY / "attention.py")
    assert found[0] == "test_attention"
    assert {"test_layers", "test_transformer"} <= set(found)
    assert "test_translation" not in found, "what is far takes more than a minute"


def test_a_changed_test_is_run_and_so_is_the_test_of_a_folder():
    assert names(TESTS / "test_wheel.py", TESTS / "bands.py") == ["test_wheel"]
    assert names(LIBRARY / "grading" / "judge.py") == ["test_grading"]
    assert names(LIBRARY.parent / "README.md") == []


def test_who_names_no_file_gets_those_changed_and_a_file_that_is_none_is_named(monkeypatch):
    monkeypatch.setattr(near, "changed", list)
    with pytest.raises(SystemExit, match="nothing of transformer_lib or tests has changed"):
        near.main([])
    with pytest.raises(SystemExit, match=r"no file .*attenttion\.py"):
        near.main([str(Path("transformer_lib/attenttion.py"))])
