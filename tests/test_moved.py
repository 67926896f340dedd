"""A notebook that is older than the library is told what to change."""

import importlib
import re
import subprocess
import sys

import pytest

from transformer_lib.base.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_import_says_in_one_sentence_where_it_leads(old):
    told = (
        rf"transformer_lib\.{re.escape(old)} is now {re.escape(MOVED[old])}, .*copy the first code"
    )
    with pytest.raises(ModuleNotFoundError, match=told):
        importlib.import_module(f"transformer_lib.{old}")
    for new in re.findall(r"[a-z_2]+\.[a-z_2.]+", MOVED[old]):
        importlib.import_module(f"transformer_lib.{new}")


def test_so_does_one_that_takes_a_module_out_of_the_package_or_a_module_below_it():
    for line in (
        "from transformer_lib import drawings",
        "from transformer_lib.drawings.scene import Scene",
        "from transformer_lib.runtime import report, use_threads",
    ):
        with pytest.raises(ModuleNotFoundError, match="is now .*copy the first code cell"):
            exec(line)


def test_what_never_was_is_missed_as_ever():
    with pytest.raises(ModuleNotFoundError, match="No module named 'transformer_lib.attenttion'"):
        importlib.import_module("transformer_lib.attenttion")
    with pytest.raises(ModuleNotFoundError, match="No module named 'runtime'"):
        importlib.import_module("runtime")


def test_the_library_may_be_loaded_twice_and_has_one_signpost():
    program = "import sys, importlib, transformer_lib\nimportlib.reload(transformer_lib)\n"
    program += "print(sum(type(f).__name__ == 'Signpost' for f in sys.meta_path))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"
