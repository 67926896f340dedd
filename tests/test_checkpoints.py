import json
import os
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from transformer_lib import checkpoints
from transformer_lib.checkpoints import load_model, load_run, save_checkpoint
from transformer_lib.corpus import Subwords, Vocabulary
from transformer_lib.transformer import make_model

WORDS = (Vocabulary(["i", "am", "home"], "en"), Vocabulary(["je", "suis"], "fr"))


def model(seed=0, **options):
    torch.manual_seed(seed)
    return make_model(7, 6, d_model=12, num_heads=3, d_ff=20, **options)


def snapshot(net, step):
    return {
        "model": net.state_dict(),
        "optimizer": {
            "state": {0: {"exp_avg": torch.randn(3, 2), "step": torch.tensor(4.0)}},
            "param_groups": [{"lr": 0.1}],
        },
        "random": {"cpu": torch.get_rng_state()},
        "step": step,
        "history": {"steps": [{"step": 1, "loss": 2.5}], "evaluations": []},
    }


def save(directory, step, loss=None, net=None):
    net = net or model(step)
    metrics = {} if loss is None else {"validation_loss": loss}
    return save_checkpoint(directory, net, WORDS, metrics=metrics, snapshot=snapshot(net, step))


def steps(directory):
    return sorted(int(path.name[5:]) for path in directory.glob("step-*"))


@pytest.mark.parametrize("tie", ["none", "target"])
def test_a_model_comes_back_as_it_went(tmp_path, tie):
    net = model(tie_weights=tie, dropout=0.3)
    save_checkpoint(tmp_path, net, WORDS, info={"corpus": "everyday"}, metrics={"bleu": 12.5})
    back = load_model(tmp_path)
    assert back.model.config == net.config
    assert not back.model.training
    assert (back.model.generator.weight is back.model.decoder.embedding.weight) == (tie == "target")
    src, tgt = torch.randint(3, 7, (2, 5)), torch.randint(3, 6, (2, 4))
    assert_close(back.model(src, tgt), net.eval()(src, tgt))
    assert back.source_vocabulary.encode("I am home") == [4, 5, 6]
    assert back.info == {"step": 0, "metrics": {"bleu": 12.5}, "corpus": "everyday"}


def test_subword_vocabularies_travel_with_the_model(tmp_path):
    pieces = Subwords.build(["the lower the newer"] * 3, "en", size=30)
    net = make_model(len(pieces), len(pieces), d_model=12, num_heads=3, d_ff=20)
    save_checkpoint(tmp_path, net, (pieces, pieces))
    assert load_model(tmp_path).target_vocabulary.encode("the newer") == pieces.encode("the newer")


def test_nothing_on_disk_is_pickled(tmp_path):
    folder = save(tmp_path, 5)
    assert sorted(path.name for path in folder.iterdir()) == [
        "SHA256SUMS",
        "checkpoint.json",
        "model.safetensors",
        "training.json",
        "training.safetensors",
    ]
    for path in folder.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    for path in folder.glob("*.safetensors"):
        header = int.from_bytes(path.read_bytes()[:8], "little")
        json.loads(path.read_bytes()[8 : 8 + header])


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_files_are_for_whom_the_umask_says(umask, tmp_path):
    before = os.umask(umask)
    try:
        save_checkpoint(tmp_path, model(), WORDS, snapshot=snapshot(model(), 3))
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.glob("*/*")}
    assert modes == {0o666 & ~umask}


def test_a_training_state_comes_back_with_its_numbers_keys_and_tensors(tmp_path):
    net = model()
    before = snapshot(net, 5)
    save_checkpoint(tmp_path, net, WORDS, snapshot=before)
    _, after = load_run(tmp_path)
    assert after["step"] == 5
    assert after["history"] == before["history"]
    assert after["optimizer"]["param_groups"] == [{"lr": 0.1}]
    assert_close(after["optimizer"]["state"][0], before["optimizer"]["state"][0])
    assert torch.equal(after["random"]["cpu"], before["random"]["cpu"])
    assert_close(after["model"], net.state_dict())


def test_the_newest_two_and_the_best_are_kept_the_best_translates_the_newest_resumes(tmp_path):
    for step, loss in ((1, 3.0), (2, 1.0), (3, 2.0), (4, 2.5), (5, 2.6)):
        save(tmp_path, step, loss)
    assert steps(tmp_path) == [2, 4, 5]
    assert load_model(tmp_path).info["step"] == 2
    assert load_run(tmp_path)[1]["step"] == 5
    assert load_model(tmp_path / "step-000004").info["step"] == 4


def test_a_resumed_run_has_the_settings_of_the_checkpoint_it_goes_on_from(tmp_path):
    for step, loss in ((1, 1.0), (2, 3.0)):
        save_checkpoint(
            tmp_path,
            model(step),
            WORDS,
            metrics={"validation_loss": loss},
            info={"settings": step},
            snapshot=snapshot(model(step), step),
        )
    loaded, state = load_run(tmp_path)
    assert loaded.info["settings"] == state["step"] == 2
    assert load_model(tmp_path).info["settings"] == 1


def test_everything_is_on_the_disk_before_a_checkpoint_gets_its_name(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(checkpoints, "_to_disk", lambda path: written.append(path.name))
    rename = Path.rename
    monkeypatch.setattr(
        Path, "rename", lambda self, to: written.append("renamed") or rename(self, to)
    )
    folder = save(tmp_path, 5)
    before = written[: written.index("renamed")]
    assert {path.name for path in folder.iterdir()} <= set(before)
    assert written[-1] == tmp_path.name


def test_the_weights_are_written_once(tmp_path):
    folder = save(tmp_path, 5)
    names = [name for name, _ in json.loads((folder / "training.json").read_text())["dict"]]
    assert set(names) == snapshot(model(), 5).keys() - {"model"}


def test_steps_are_ordered_as_numbers(tmp_path):
    for step in (999_999, 1_000_000):
        save(tmp_path, step)
    assert load_run(tmp_path)[1]["step"] == 1_000_000


def test_what_a_killed_write_left_behind_is_cleared_away_and_what_it_was_to_replace_comes_back(
    tmp_path,
):
    save(tmp_path, 8)
    save(tmp_path, 8)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000008"]
    (tmp_path / "step-000008").rename(tmp_path / ".step-000008.0123abcd.replaced")
    (tmp_path / ".step-000008.0123abcd.partial").mkdir()
    (tmp_path / ".step-notes").mkdir()
    checkpoints.remove_unfinished(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"step-000008", ".step-notes"}
    assert load_model(tmp_path).info["step"] == 8


def test_two_writers_of_one_step_leave_one_whole_checkpoint(tmp_path, monkeypatch):
    write = checkpoints.save_file

    def another_writes_meanwhile(*args):
        monkeypatch.setattr(checkpoints, "save_file", write)
        save(tmp_path, 8, net=model(1))
        write(*args)

    monkeypatch.setattr(checkpoints, "save_file", another_writes_meanwhile)
    save(tmp_path, 8, net=model(2))
    assert [path.name for path in tmp_path.iterdir()] == ["step-000008"]
    (found, *_), (wanted, *_) = load_model(tmp_path).model.parameters(), model(2).parameters()
    assert torch.equal(found, wanted)


def leave_foreign_things(folder):
    """What file managers, JupyterLab and people leave beside files."""
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "checkpoint-checkpoint.json").write_text("{}")
    for name in (".DS_Store", "Thumbs.db", "notes.txt", "checkpoint (copy).json"):
        (folder / name).write_bytes(b"x")


def test_foreign_things_in_a_run_change_nothing(tmp_path):
    newest = save(tmp_path, 2, loss=0.5)
    for folder in (newest, tmp_path):
        leave_foreign_things(folder)
    shutil.copytree(newest, tmp_path / "step-000002-backup")
    shutil.copytree(newest, tmp_path / "step-000002 copy")
    shutil.copytree(newest, tmp_path / "Kopie von step-000002")
    (tmp_path / "step-notes.txt").write_text("the rate was too high")
    (tmp_path / "step-000009").write_text("a file")
    before = {path.name for path in tmp_path.iterdir()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(tmp_path).info["step"] == load_model(newest).info["step"] == 2
        assert load_run(tmp_path)[1]["step"] == 2
        for step in (3, 4, 5):
            save(tmp_path, step, loss=0.6)
        assert load_model(tmp_path).info["step"] == 2
        assert load_run(tmp_path)[1]["step"] == 5
    names = {path.name for path in tmp_path.iterdir()}
    assert names == before | {"step-000004", "step-000005"}


@pytest.mark.parametrize("content", ["", "[]", '{"metrics": 3, "step": 1}', "\udcff"])
def test_what_cannot_be_read_stays_where_it_is_and_takes_no_others_place(tmp_path, content):
    strange = tmp_path / "step-999999"
    strange.mkdir()
    (strange / "checkpoint.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    for step in (1, 2, 3):
        save(tmp_path, step)
    assert steps(tmp_path) == [2, 3, 999_999]
    with pytest.warns(UserWarning, match="passing over .*step-999999"):
        assert load_model(tmp_path).info["step"] == 3


def test_a_file_that_the_checksums_do_not_list_is_not_read(tmp_path):
    folder = save_checkpoint(tmp_path, model(), WORDS, step=3)
    for name in ("training.json", "training.safetensors"):
        shutil.copy(save(tmp_path / "other", 3) / name, folder)
    with (
        pytest.warns(UserWarning, match="passing over"),
        pytest.raises(ValueError, match="step-000003: SHA256SUMS does not list training.json"),
    ):
        load_run(tmp_path)


def test_a_checkpoint_that_its_run_removes_meanwhile_is_looked_past_in_silence(
    tmp_path, monkeypatch
):
    judge, first = checkpoints._damage, save(tmp_path, 1, loss=0.1)

    def removed_meanwhile(folder, files):
        if folder == first and first.exists():
            shutil.rmtree(first)
            save(tmp_path, 2, loss=0.05)
        return judge(folder, files)

    monkeypatch.setattr(checkpoints, "_damage", removed_meanwhile)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(tmp_path).info["step"] == 2


def test_a_loss_that_is_no_number_is_never_the_best(tmp_path):
    for step, loss in ((100, 0.5), (400, float("nan")), (500, 0.1), (600, float("inf"))):
        save(tmp_path, step, loss)
    assert load_model(tmp_path).info["step"] == 500
    assert steps(tmp_path) == [500, 600]
    only = tmp_path / "only"
    save(only, 7, float("nan"))
    assert load_model(only).info["step"] == 7


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_model_comes_back_in_its_dtype(tmp_path, dtype):
    net = model(tie_weights="target").to(dtype)
    save_checkpoint(tmp_path, net, WORDS)
    back = load_model(tmp_path).model
    for mine, other in zip(back.parameters(), net.parameters(), strict=True):
        assert mine.dtype == dtype
        assert torch.equal(mine, other)


def test_weights_of_two_dtypes_are_refused_by_name(tmp_path):
    net = model()
    net.generator.to(torch.bfloat16)
    folder = save_checkpoint(tmp_path, net, WORDS)
    with pytest.raises(ValueError, match="step-000000 cannot be loaded.* of BF16 and F32, where"):
        load_model(folder)


def test_what_this_version_does_not_know_is_named_with_its_folder(tmp_path):
    folder = save_checkpoint(tmp_path, model(), WORDS)
    path = folder / "checkpoint.json"
    path.write_text(path.read_text().replace('"transformer"', '"mamba"'))
    sums = folder / "SHA256SUMS"
    kept = [line for line in sums.read_text().splitlines() if "checkpoint.json" not in line]
    sums.write_text("\n".join([*kept, f"{checkpoints._sha256(path)}  checkpoint.json"]))
    with pytest.raises(ValueError, match="step-000000 cannot be loaded: KeyError.*mamba"):
        load_model(tmp_path)


def test_without_a_validation_loss_the_newest_is_taken(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, step)
    assert load_model(tmp_path).info["step"] == 3


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def tamper(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "harm", [truncate, tamper, lambda path: path.unlink()], ids=["truncated", "tampered", "missing"]
)
@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "training.safetensors", "checkpoint.json", "training.json", "SHA256SUMS"],
)
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(tmp_path, harm, name):
    save(tmp_path, 1)
    harm(save(tmp_path, 2) / name)
    with pytest.warns(UserWarning, match=r"passing over .*step-000002"):
        assert load_model(tmp_path).info["step"] == 1


def test_when_no_checkpoint_is_whole_the_message_names_the_file(tmp_path):
    truncate(save(tmp_path, 3) / "model.safetensors")
    with (
        pytest.warns(UserWarning, match="passing over"),
        pytest.raises(ValueError, match="step-000003: model.safetensors was truncated or changed"),
    ):
        load_model(tmp_path)


def test_an_empty_directory_says_what_was_expected(tmp_path):
    with pytest.raises(FileNotFoundError, match="step-000100 and the like"):
        load_model(tmp_path)


def test_a_full_disk_loses_nothing_that_was_saved(tmp_path, monkeypatch):
    save(tmp_path, 1)

    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "save_file", no_space)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000001"]
    assert load_model(tmp_path).info["step"] == 1
