"""The trained model in `runs/mine`: what is kept and given back, and what is done where it is not."""

import json
import os
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_lib.batching import Example, make_batch
from transformer_lib.checkpoints import save_checkpoint
from transformer_lib.corpus import Vocabulary
from transformer_lib.decoding import Recomputing, beam_search, greedy, with_steps
from transformer_lib.exercises import exercises, mine
from transformer_lib.exercises.own import trained
from transformer_lib.losses import loss_on_batch
from transformer_lib.masks import padding_mask
from transformer_lib.models import create_model
from transformer_lib.training import fit
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

WORDS = Vocabulary(list("abcdefgh"), "en")
SENTENCES = ["a b c", "h g", "c c c c a"]
SOLUTION = exercises()["builds.Transformer"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.delenv("TRANSFORMER_LIB_MINE")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)


@pytest.fixture
def library():
    sizes = {"d_model": 16, "num_heads": 2, "d_ff": 20, "max_len": 30, "dropout": 0.0}
    return make_model(len(WORDS), len(WORDS), **sizes).eval()


@pytest.fixture
def own(library):
    """The course's solution with the library's numbers: what lesson 14 trains."""
    model = SOLUTION.solutions[0](library.config)
    model.load_state_dict(library.state_dict())
    return model.eval()


def keep(model, config):
    mine.keep_trained(Translator(with_steps(model, config), WORDS, WORDS))


def has_own_class(source):
    """As if the student's section of `mine.py` gave this."""
    Path("mine.py").write_text(f"# ---- Transformer: MyTransformer, lesson 13 ----\n{source}\n")


@pytest.fixture
def written():
    has_own_class(SOLUTION.source())


def test_what_is_kept_comes_back_with_the_students_class(own, library, written, capsys):
    keep(own, library.config)
    assert capsys.readouterr().out.startswith("runs/mine: your trained model is kept")
    found = mine.translator()
    assert capsys.readouterr().out == (
        "translator: the model that you trained in lesson 14, of your own class MyTransformer.\n"
    )
    assert type(found.model.model).__module__ == "mine.Transformer"
    assert found.vocabularies[0].tokens([4, 5]) == ["a", "b"]
    expected = Translator(library, WORDS, WORDS)
    assert found.translate(SENTENCES) == expected.translate(SENTENCES)
    assert found.translate(SENTENCES, beam_size=3) == expected.translate(SENTENCES, beam_size=3)


def test_its_maps_are_those_of_the_librarys_model(own, library, written):
    keep(own, library.config)
    found = mine.translator()
    maps = found.attention_maps("a b c", "c b")
    expected = Translator(library, WORDS, WORDS).attention_maps("a b c", "c b")
    assert len(maps) == len(expected) == 2 * 3 * 2
    for one, other in zip(maps, expected, strict=True):
        assert (one.kind, one.layer, one.head) == (other.kind, other.layer, other.head)
        torch.testing.assert_close(one.weights, other.weights)


def test_the_listened_model_holds_the_very_parameters(own, library, written):
    keep(own, library.config)
    model = mine.translator().model
    with torch.no_grad():
        model.model.generator.weight.zero_()
    assert not model._library[0].generator.weight.any()
    assert sum(p.numel() for p in model.parameters()) == sum(
        p.numel() for p in library.parameters()
    )


def test_without_a_class_of_ones_own_the_librarys_takes_the_numbers(library, capsys):
    keep(library, library.config)
    found = mine.translator()
    assert "of the library's class.\n" in capsys.readouterr().out
    torch.testing.assert_close(
        found.model.generator.weight, library.generator.weight, atol=0, rtol=0
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("nn.Linear(", "nn.Linear(("), "does not run"),
        (lambda text: text.replace("self.generator = ", "self.door = "), "generator"),
        (
            lambda text: text.replace(
                "return self.generator(hidden)", "return -self.generator(hidden)"
            ),
            "something else",
        ),
        (lambda text: text.replace("def forward(self, src, tgt_in,", "def forward(self,"), ""),
    ],
)
def test_a_class_that_no_longer_fits_leaves_the_numbers_to_the_librarys(
    own, library, capsys, change, words
):
    keep(own, library.config)
    has_own_class(change(SOLUTION.source()))
    found = mine.translator()
    said = capsys.readouterr().out
    assert "of the library's class, since yours fails: " in said
    assert words in said
    expected = Translator(library, WORDS, WORDS)
    assert found.translate(SENTENCES) == expected.translate(SENTENCES)


def test_off_nothing_is_written_or_read(own, library, monkeypatch, capsys):
    keep(own, library.config)
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "off")
    before = sorted(Path().rglob("*"))
    mine.keep_trained(Translator(with_steps(own, library.config), WORDS, WORDS))
    assert "nothing is kept" in capsys.readouterr().out
    assert sorted(Path().rglob("*")) == before
    found = mine.translator()
    assert capsys.readouterr().out == "translator: the one that comes with the course.\n"
    assert len(found.source_vocabulary) == 1125


def test_with_nothing_kept_it_is_the_shipped_one(capsys):
    assert len(mine.translator().target_vocabulary) == 2448
    assert capsys.readouterr().out == "translator: the one that comes with the course.\n"
    assert not Path("runs").exists()


def weights(folder):
    return next(folder.rglob("model.safetensors"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda f: weights(f).write_bytes(weights(f).read_bytes()[:-9]), "truncated or changed"),
        (lambda f: weights(f).unlink(), "is missing"),
        (lambda f: next(f.rglob("SHA256SUMS")).unlink(), "SHA256SUMS"),
        (lambda f: next(f.rglob("checkpoint.json")).write_text("{"), "changed"),
        (lambda f: next(f.glob("step-*")).rename(f / "old"), "no checkpoint"),
    ],
)
def test_damage_is_said_and_the_shipped_one_comes(own, library, capsys, damage, words):
    keep(own, library.config)
    damage(Path("runs/mine"))
    found = mine.translator()
    said = capsys.readouterr().out
    assert said.count("\n") == 2
    assert words in said
    assert said.splitlines()[1].startswith(
        "translator: the one that comes with the course. What stands in runs/mine cannot be used: "
    )
    assert len(found.source_vocabulary) == 1125


def test_another_kind_of_model_is_said(capsys):
    save_checkpoint(trained.trained_path(), create_model("gru", 12, 12, d_hidden=8), (WORDS, WORDS))
    assert len(mine.translator().source_vocabulary) == 1125
    assert "it holds a PlainSeq2Seq, not a Transformer" in capsys.readouterr().out


def test_a_file_in_the_folders_place_is_said(own, library, capsys):
    Path("runs").write_text("notes")
    keep(own, library.config)
    assert "runs/mine: not kept" in capsys.readouterr().out
    assert Path("runs").read_text() == "notes"
    assert len(mine.translator().source_vocabulary) == 1125


def test_a_full_disk_keeps_the_old_model(own, library, monkeypatch, capsys):
    keep(own, library.config)
    before = weights(Path("runs/mine")).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with torch.no_grad():
        own.generator.weight.add_(1)
    keep(own, library.config)
    assert "not kept, [Errno 28] No space left on device" in capsys.readouterr().out
    assert weights(Path("runs/mine")).read_bytes() == before
    assert json.loads(next(Path("runs/mine").rglob("checkpoint.json")).read_text())["step"] == 0


def test_a_later_training_takes_the_place_of_the_earlier(own, library):
    keep(own, library.config)
    with torch.no_grad():
        own.generator.weight.fill_(0.5)
    keep(own, library.config)
    assert (mine.translator().model.generator.weight == 0.5).all()
    assert len(list(Path("runs/mine").glob("step-*"))) == 1


def test_a_model_without_its_sizes_is_said(own, capsys):
    keep(own, None)
    assert "with_steps(model, config)" in capsys.readouterr().out


# ------------------------------------------------------------- models without steps, without `only`


def ids():
    src = torch.randint(4, 12, (3, 6))
    src[1, 4:] = 0
    return src, padding_mask(src, 0)


def test_steps_are_given_to_those_who_have_none(own, library):
    assert with_steps(library) is library
    assert isinstance(with_steps(own), Recomputing)


def test_wrapping_a_model_leaves_its_parts_in_their_modes(own):
    own.train()
    frozen = next(own.children()).eval()
    assert with_steps(own).training
    assert not frozen.training


def test_recomputing_says_what_the_cache_says(own, library):
    src, mask = ids()
    said = greedy(with_steps(own), src, mask, max_len=9)
    assert torch.equal(said, greedy(library, src, mask, max_len=9))
    search = {"max_len": 7, "beam_size": 3, "length_penalty": 0.6}
    best, score = beam_search(with_steps(own), src, mask, **search)
    expected, expected_score = beam_search(library, src, mask, **search)
    assert torch.equal(best, expected)
    torch.testing.assert_close(score, expected_score, atol=1e-5, rtol=0)


def test_a_prefix_selects_rows(own):
    src, mask = ids()
    state = with_steps(own).start(src, mask)
    _, state = with_steps(own).step(torch.tensor([1, 1, 1]), state)
    two = state.select(torch.tensor([2, 1]))
    assert torch.equal(two.src, src[[2, 1]])
    assert torch.equal(two.src_mask, mask[[2, 1]])
    assert two.ids.shape == (2, 1)
    shared = with_steps(own).start(src, mask[:1]).select(torch.tensor([2, 1]))
    assert shared.src_mask.size(0) == 1


def examples():
    rows = [[4, 5, 6, 2], [7, 8, 2], [9, 10, 11, 4, 2]]
    return [make_batch([Example(row, row) for row in rows])]


def test_a_model_without_only_has_the_same_loss_and_gradients(own, library):
    (batch,) = examples()
    losses = []
    for model in (own, library):
        asked = model, batch.src, batch.tgt_in, batch.tgt_out
        losses.append(loss_on_batch(*asked, src_mask=batch.src_mask, label_smoothing=0.1))
        losses[-1].backward()
    torch.testing.assert_close(losses[0], losses[1])
    names = dict(library.named_parameters())
    for name, parameter in own.named_parameters():
        torch.testing.assert_close(parameter.grad, names[name].grad, atol=1e-6, rtol=1e-4)


def test_fit_trains_the_students_model_as_the_librarys(own, library):
    theirs = fit(library, examples(), steps=5, progress=False).frame.loss.tolist()
    ours = fit(own, examples(), steps=5, progress=False).frame.loss.tolist()
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert isinstance(own, nn.Module)
    assert not own.training


@pytest.mark.parametrize("training", [True, False])
def test_recomputing_is_and_leaves_its_model_in_the_mode_that_it_had(own, training):
    wrapped = Recomputing(own.train(training))
    greedy(wrapped, torch.tensor([[4, 5, 2]]), max_len=3)
    assert wrapped.training == own.training == training
