"""The playground's page is whole by itself; tests/browser/test_playground.py asks what it computes."""

import base64
import json
from dataclasses import replace

import pytest
import torch
from bs4 import BeautifulSoup
from safetensors.torch import load

from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import load_corpus
from transformer_lib.publish import __main__ as command
from transformer_lib.publish import playground
from transformer_lib.transformer import make_model


@pytest.fixture(scope="module")
def shipped():
    return load_model(playground.MODEL)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playground")
    assert command.main(["playground", "--out", str(folder)]) == 0
    return (folder / "playground.html").read_text("utf-8")


@pytest.fixture(scope="module")
def soup(page):
    return BeautifulSoup(page, "html.parser")


@pytest.fixture(scope="module")
def data(soup):
    return json.loads(soup.select_one("#data").string)


def test_it_is_one_small_page_that_asks_nobody(page, soup):
    assert len(page.encode()) < 6e6
    assert soup.select("img, iframe, script[src]") == []
    assert all(link["href"].startswith("data:") for link in soup.select("link"))
    assert "@import" not in page
    assert "fetch(" not in page
    assert all(not a["href"].startswith("http") for a in soup.select("a[href]"))


def test_its_weights_are_the_shipped_ones_to_the_bit(data, shipped):
    stored = load(base64.b64decode(data["weights"]))
    tied = {"generator.weight", "decoder.embedding.weight"}
    parameters = shipped.model.state_dict()
    assert set(parameters) - set(stored) <= tied
    assert all(torch.equal(stored[name], parameters[name]) for name in stored)


def test_its_words_are_those_of_the_vocabularies(data, shipped):
    for words, vocabulary in zip(data["vocabularies"], shipped[1:3], strict=True):
        assert words["words"] == vocabulary.tokens(range(4, len(vocabulary)))


def test_every_sublayer_of_the_model_is_drawn(data, shipped):
    drawn = {part["name"] for part in data["scene"]["parts"]}
    for name, _ in shipped.model.named_modules():
        if name.endswith(("attn", "feed_forward", "norm", "embedding", "positions", "generator")):
            assert name in drawn


def test_it_knows_the_held_out_sentences_with_their_links_and_none_of_train(data):
    corpus = load_corpus("lessons")
    known = {(split, source, target): links for split, source, target, links in data["known"]}
    for split in ("valid", "test"):
        for pair in getattr(corpus, split):
            links = known.pop((split, pair.source, pair.target))
            found = {tuple(map(int, link.split("-"))) for link in links.split()}
            assert found == (pair.alignment or set())
    assert known == {}


def test_its_numbers_are_the_models(soup, shipped):
    lead = soup.select_one(".lead").text
    assert f"{sum(p.numel() for p in shipped.model.parameters()):,} parameters" in lead
    assert f"{len(load_corpus('lessons').train):,} short sentences" in lead


def test_a_model_that_the_page_cannot_compute_is_refused(shipped):
    model = make_model(9, 11, "base", d_model=8, num_heads=2, d_ff=12, num_layers=1)
    with pytest.raises(ValueError, match="norm_first=False"):
        playground.page_data(model, shipped[1:3], replace(load_corpus("everyday"), test=[]))
