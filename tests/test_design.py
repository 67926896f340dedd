"""The rules of the house that a machine can check."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import checked
import house
import pytest
import tables
import torch
from jaxtyping import TypeCheckError

REPOSITORY = Path(__file__).parent.parent
LIBRARY = REPOSITORY / "transformer_lib"
MODULES = [module for module in house.MODULES if not module.endswith("__main__")]
WRITTEN = sorted(LIBRARY.rglob("*.py"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.mark.parametrize("module", house.MODULES)
def test_a_module_imports_only_from_lower_floors_and_from_its_own_folder(module):
    own = house.room(module)
    up = [
        other
        for other in house.imports(module)
        if house.room(other) != own and house.HEIGHT[house.room(other)] >= house.HEIGHT[own]
    ]
    assert up == []


def test_no_modules_import_each_other_in_a_ring():
    assert house.circle() == []


def test_a_ring_is_found(monkeypatch):
    ring = {"masks": {"attention"}, "attention": {"layers"}, "layers": {"masks", "corpus"}}
    monkeypatch.setattr(house, "imports", lambda module: ring.get(module, set()))
    assert sorted(house.circle()) == ["attention", "layers", "masks"]


@pytest.mark.parametrize("name", tables.PAGES)
def test_a_page_shows_the_code_and_the_lessons_as_they_are(name):
    page = (REPOSITORY / name).read_text(encoding="utf-8")
    assert tables.PAGES[name](page) == page, "make tables"


def test_training_and_decoding_know_no_model():
    known = house.imports("training") | house.imports("decoding")
    assert not {"layers", "transformer", "recurrent"} & known


def test_each_module_can_be_imported_first_and_prints_nothing():
    program = """
import importlib, sys
for module in sys.argv[1:]:
    for name in [name for name in sys.modules if name.startswith("transformer_lib")]:
        del sys.modules[name]
    importlib.import_module(f"transformer_lib.{module}")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, *MODULES], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_importing_changes_nothing_for_others():
    """Neither Altair's renderer, nor the environment, warnings, threads or matplotlib's settings."""
    program = """
import importlib, os, sys, warnings
import altair, bleach, matplotlib, torch  # they may set what they like

def state():
    return {
        "renderer": altair.renderers.active,
        "environment": dict(os.environ),
        "warnings": list(map(str, warnings.filters)),
        "shown by": warnings.showwarning.__module__,
        "threads": torch.get_num_threads(),
        "tf32": torch.backends.cudnn.allow_tf32,
        "figures": dict(matplotlib.rcParams),
    }

before = state()
for module in sys.argv[1:]:
    importlib.import_module(f"transformer_lib.{module}")
print({name: value for name, value in state().items() if value != before[name]})
"""
    done = subprocess.run(
        [sys.executable, "-c", program, *MODULES], capture_output=True, text=True, check=True
    )
    assert done.stdout == "{}\n"


def public(module):
    loaded = importlib.import_module(f"transformer_lib.{module}")
    for name, thing in vars(loaded).items():
        if (
            not name.startswith("_")
            and getattr(thing, "__module__", "") == loaded.__name__
            and callable(thing)
        ):
            yield name, thing


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_says_what_it_is(module):
    from transformer_lib.exercises import exercises

    silent = {name for name, thing in public(module) if not inspect.getdoc(thing)}
    solutions = {exercise.name for exercise in exercises().values()}
    assert silent <= solutions, "what a solution does, the task of its exercise says"


@pytest.mark.parametrize("module", MODULES)
def test_tensors_in_public_signatures_carry_their_shapes(module):
    bare = []
    for name, thing in public(module):
        if inspect.isclass(thing):
            functions = [
                f
                for n, f in vars(thing).items()
                if inspect.isfunction(f) and (n == "forward" or not n.startswith("_"))
            ]
        else:
            functions = [thing]
        for function in functions:
            hints = inspect.signature(function).parameters.values()
            if any(hint.annotation is torch.Tensor for hint in hints):
                bare.append(f"{name}.{function.__name__}")
    assert bare == []


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_the_first_line_of_a_docstring_is_whole(path):
    """Editors, indexes and help() show that line alone."""
    source = path.read_text(encoding="utf-8")
    broken = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            text = node.body[0].value
            first, line = text.value.split("\n")[0], source.split("\n")[text.lineno - 1]
            if not first.endswith((".", ":", "?")) or len(line) > 100:
                broken.append(f"{path.name}:{text.lineno}: {first}")
    assert broken == [], "it ends with . or : or ? within 100 columns, the rest below it"


def test_shapes_are_checked_at_run_time():
    from transformer_lib.attention import MultiHeadAttention, attention_weights
    from transformer_lib.masks import padding_mask

    with pytest.raises(TypeCheckError):
        attention_weights(torch.randn(2, 5, 4), torch.randn(2, 7, 3))
    with pytest.raises(TypeCheckError):
        padding_mask(torch.randn(2, 5), 0)
    with pytest.raises(TypeCheckError):
        MultiHeadAttention(12, 3)(
            torch.randn(2, 5, 12), torch.randn(2, 7, 12), torch.randn(2, 6, 12)
        )


def test_of_a_test_the_first_calls_are_checked():
    from transformer_lib.masks import padding_mask

    wrong, right = torch.randn(2, 5), torch.ones(2, 5, dtype=torch.long)
    for _ in range(checked.CHECKS):
        padding_mask(right, 0)
    padding_mask(wrong, 0)


def test_the_next_test_is_checked_again():
    from transformer_lib.masks import padding_mask

    wrong = torch.randn(2, 5)
    with pytest.raises(TypeCheckError):
        padding_mask(wrong, 0)
    with checked.unchecked():
        padding_mask(wrong, 0)
    with pytest.raises(TypeCheckError):
        padding_mask(wrong, 0)


def test_no_module_names_a_device_or_loads_a_pickle():
    for path in LIBRARY.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert ".cuda()" not in text, path
        assert "torch.load(" not in text, path
        assert "pickle" not in text, path
