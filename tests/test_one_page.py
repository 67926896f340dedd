"""The Transformer on one page against the library's, in float64, and its first updates."""

import ast
import importlib.util
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.decoding import greedy
from transformer_lib.masks import padding_mask
from transformer_lib.transformer import Transformer, TransformerConfig

PAGE = Path(__file__).parent.parent / "notebooks" / "one_page.py"
SOURCE_WORDS, TARGET_WORDS, D, D_FF, LAYERS, HEADS = 9, 11, 12, 20, 2, 3
SIZES = LAYERS, HEADS


@pytest.fixture(autouse=True)
def doubles():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("one_page", PAGE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def parameters(page):
    random.seed(1)
    p = page.new_parameters(SOURCE_WORDS, TARGET_WORDS, D, D_FF, LAYERS)
    for name, matrix in p.items():
        if "norm" in name or "bias" in name:  # as they begin they would hide a missing one
            matrix.rows = [[x + random.gauss(0, 0.3) for x in row] for row in matrix.rows]
    return p


@pytest.fixture
def model(parameters):
    """The library's model with the same numbers."""
    config = TransformerConfig(SOURCE_WORDS, TARGET_WORDS, D, HEADS, D_FF, LAYERS, dropout=0.0)
    model = Transformer(config).eval()
    theirs = model.state_dict()
    assert theirs.keys() == parameters.keys()
    model.load_state_dict(
        {name: torch.tensor(parameters[name].rows).view_as(theirs[name]) for name in theirs}
    )
    return model


def batch(page):
    """Two pairs of different lengths; the shorter one is padded on both sides."""
    sources = [[3, 8, 5, 4, 7], [6, 3, 4, page.PAD, page.PAD]]
    targets = [[page.BOS, 10, 3, 7, 4, 9, page.EOS], [page.BOS, 5, 6, page.EOS, *[page.PAD] * 3]]
    return list(zip(sources, targets, strict=True))


def test_logits_are_those_of_the_library_with_padding_and_with_the_future_hidden(
    page, parameters, model
):
    source, target = (torch.tensor(side) for side in zip(*batch(page), strict=True))
    with torch.no_grad():
        theirs = model(source, target, padding_mask(source, page.PAD))
    for (source, target), expected in zip(batch(page), theirs, strict=True):
        memory = page.encode(parameters, source, *SIZES)
        ours = page.decode(parameters, target, memory, source, *SIZES)
        assert_close(torch.tensor(ours.rows), expected, rtol=0, atol=1e-9)
    page.TAPE.clear()


def test_every_gradient_is_that_of_the_library(page, parameters, model):
    loss = page.loss_and_gradients(parameters, batch(page), *SIZES)
    source, target = (torch.tensor(side) for side in zip(*batch(page), strict=True))
    logits = model(source, target[:, :-1], padding_mask(source, page.PAD))
    theirs = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=page.PAD
    )
    theirs.backward()
    assert loss == pytest.approx(theirs.item(), abs=1e-9)
    for name, parameter in model.named_parameters():
        ours = torch.tensor(parameters[name].grad).view_as(parameter)
        assert_close(
            ours, parameter.grad, rtol=0, atol=1e-9, msg=lambda m, name=name: f"{name} {m}"
        )
    assert not page.TAPE


def test_adam_moves_as_torch_s(page, parameters, model):
    rates = (0.01, 0.02, 0.005)
    means, squares = ({n: page.zeros(m.rows) for n, m in parameters.items()} for _ in range(2))
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for update, rate in enumerate(rates, start=1):
        page.loss_and_gradients(parameters, batch(page), *SIZES)
        for name, parameter in model.named_parameters():
            grad = torch.tensor(parameters[name].grad)
            parameter.grad = grad.view_as(parameter)
        page.adam(parameters, means, squares, update, rate)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    for name, parameter in model.named_parameters():
        ours = torch.tensor(parameters[name].rows).view_as(parameter)
        assert_close(ours, parameter.detach(), rtol=0, atol=1e-7)


def test_it_translates_greedily_as_the_library_does(page, parameters, model):
    source = torch.tensor([source for source, _ in batch(page)])
    mask = padding_mask(source, page.PAD)
    theirs = greedy(model, source, mask, bos_id=page.BOS, eos_id=page.EOS, max_len=7).tolist()
    for row, ids in zip(source.tolist(), theirs, strict=True):
        ours = page.translate(parameters, row, *SIZES, longest=8)[1:]
        assert ours == ids[: len(ours)]
        assert not any(ids[len(ours) :]), "what follows is padding"


def test_twenty_updates_lower_the_loss_and_what_it_translates_is_shown():
    done = subprocess.run(
        [sys.executable, PAGE, "--updates", "20"], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    first, second = map(float, re.findall(r"loss (\d\.\d+)", done.stdout))
    assert second < first
    assert done.stdout.count(" → <bos> ") == 5
    assert "of 40 sentences that it has never seen are right" in done.stdout


def test_it_fits_on_a_page_and_imports_nothing_that_calculates_for_it():
    text = PAGE.read_text(encoding="utf-8")
    tree, told = ast.parse(text), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
            node
        ):
            told |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = [
        line
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#") and number not in told
    ]
    assert len(lines) <= 200
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"argparse", "itertools", "math", "operator", "random"}
