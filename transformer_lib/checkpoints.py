"""Models and training runs on disk, in files that cannot run code. Lesson 17.

Tensors are kept as safetensors, the rest as JSON. A run's directory holds one folder a checkpoint:

    step-000500/  model.safetensors        the weights
                  checkpoint.json          model class, configuration, vocabularies, step, metrics
                  training.safetensors     with training.json all that `fit` needs to go on:
                                           optimizer, random states, history
                  SHA256SUMS               of the files above, tested before they are read

A checkpoint is written under another name and renamed when it is whole, so a folder of that name is
complete.
"""

import hashlib
import json
import os
import shutil
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from safetensors.torch import load_model as load_weights
from safetensors.torch import save_model as save_weights
from torch import Tensor, nn

from transformer_lib.corpus import Subwords, Vocabulary, vocabulary_from_json
from transformer_lib.models import describe_model, restore_model

AnyVocabulary = Vocabulary | Subwords


class LoadedModel(NamedTuple):
    """A model in eval(), its vocabularies, and what was written beside it.

    `info` holds step, metrics, and what its maker added.
    """

    model: nn.Module
    source_vocabulary: AnyVocabulary
    target_vocabulary: AnyVocabulary
    info: dict


def save_checkpoint(
    directory: str | Path,
    model: nn.Module,
    vocabularies: tuple[AnyVocabulary, AnyVocabulary],
    *,
    metrics: dict | None = None,
    info: dict | None = None,
    snapshot: dict | None = None,
    step: int = 0,
    keep: int = 2,
) -> Path:
    """Write `directory`/step-N, N being the snapshot's step (`step` without one), and return it.

    Of the older checkpoints the newest stay, `keep` in all, and so does the one with the lowest
    `metrics["validation_loss"]`. A full disk raises OSError and leaves them all as they were.
    """
    step = snapshot["step"] if snapshot else step
    final = Path(directory) / f"step-{step:06d}"
    partial = final.with_name(f".{final.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        save_weights(model, str(partial / "model.safetensors"))
        content = {
            **describe_model(model),
            "step": step,
            "metrics": metrics or {},
            "info": info or {},
            "vocabularies": [vocabulary.to_json() for vocabulary in vocabularies],
        }
        _write_json(partial / "checkpoint.json", content)
        if snapshot:
            tensors: dict[str, Tensor] = {}
            rest = _pack(
                {name: value for name, value in snapshot.items() if name != "model"}, tensors
            )
            save_file(tensors, partial / "training.safetensors")
            _write_json(partial / "training.json", rest)
        sums = "".join(f"{_sha256(path)}  {path.name}\n" for path in sorted(partial.iterdir()))
        (partial / "SHA256SUMS").write_text(sums)
        for path in [*partial.iterdir(), partial]:
            _to_disk(path)
        replaced = final.with_name(f".{final.name}.replaced")
        if final.exists():
            final.rename(replaced)
        partial.rename(final)
        _to_disk(final.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    for leftover in final.parent.glob(".step-*"):  # of this write and of runs that were killed
        shutil.rmtree(leftover)
    _remove_old(final.parent, keep)
    return final


def load_model(directory: str | Path, device: torch.device | str = "cpu") -> LoadedModel:
    """The model in `directory`, a checkpoint's folder or a run's.

    Of a run's checkpoints the one with the best validation loss is taken. A damaged one is passed
    over with a warning. Raises FileNotFoundError where there is none, ValueError where none is
    whole.
    """
    folder, content = _first_whole(sorted(_checkpoints(directory), key=_loss_then_age), directory)
    loaded = _loaded(folder, content)
    return loaded._replace(model=loaded.model.to(device))


def load_run(directory: str | Path) -> tuple[LoadedModel, dict]:
    """The newest checkpoint in `directory` that is whole: its model and its snapshot.

    With that, `fit(..., resume=snapshot)` goes on.
    """
    folders = [folder for folder in _checkpoints(directory) if (folder / "training.json").exists()]
    folder, content = _first_whole(folders[::-1], directory)
    loaded = _loaded(folder, content)
    rest = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    snapshot = _unpack(rest, load_file(folder / "training.safetensors"))
    return loaded, {**snapshot, "model": loaded.model.state_dict()}


def _loaded(folder: Path, content: dict) -> LoadedModel:
    model = restore_model(content["model"], content["config"])
    load_weights(model, str(folder / "model.safetensors"))
    vocabularies = [vocabulary_from_json(data) for data in content["vocabularies"]]
    info = {"step": content["step"], "metrics": content["metrics"], **content["info"]}
    return LoadedModel(model.eval(), *vocabularies, info)


def _checkpoints(directory: str | Path) -> list[Path]:
    directory = Path(directory)
    if (directory / "checkpoint.json").exists():
        return [directory]
    return sorted(directory.glob("step-*"), key=lambda folder: int(folder.name[5:]))


def _loss_then_age(folder: Path) -> tuple[float, int]:
    """Sorts by validation loss, the best first, and the newest first where none is known.

    The unreadable stand before them all, so that they are spoken of.
    """
    try:
        content = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        return content["metrics"].get("validation_loss", float("inf")), -content["step"]
    except (OSError, ValueError, KeyError):
        return float("-inf"), 0


def _first_whole(folders: list[Path], directory: str | Path) -> tuple[Path, dict]:
    if not folders:
        raise FileNotFoundError(
            f"no checkpoint in {str(directory)!r}: expected folders named step-000100 and the like"
        )
    for folder in folders:
        damage = _damage(folder)
        if not damage:
            return folder, json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        warnings.warn(f"passing over {folder}: {damage}", stacklevel=3)
    raise ValueError(
        f"no whole checkpoint in {str(directory)!r}: {folders[0].name}: {_damage(folders[0])}"
    )


def _damage(folder: Path) -> str | None:
    """What is wrong with a checkpoint, in words, or None."""
    try:
        sums = dict(
            reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines()
        )
    except (OSError, ValueError):
        return "its SHA256SUMS is missing or unreadable"
    present = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    for name in sorted({"model.safetensors", "checkpoint.json"} | present | sums.keys()):
        if name not in sums:
            return f"SHA256SUMS does not list {name}"
        if not (folder / name).is_file():
            return f"{name} is missing"
        if (found := _sha256(folder / name)) != sums[name]:
            return f"{name} was truncated or changed: SHA-256 {found[:12]}…, expected {sums[name][:12]}…"
    return None


def _remove_old(directory: Path, keep: int) -> None:
    folders = _checkpoints(directory)
    readable = [folder for folder in folders if _loss_then_age(folder)[0] > float("-inf")]
    best = min(readable, key=_loss_then_age)
    for folder in folders[:-keep]:
        if folder != best:
            shutil.rmtree(folder)


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """`value` as JSON, its tensors moved to `tensors`.

    Dictionaries become lists of pairs, since their keys may be numbers.
    """
    if isinstance(value, Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().cpu().contiguous()
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[key, _pack(item, tensors)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_pack(item, tensors) for item in value]}
    return value


def _unpack(value: Any, tensors: dict[str, Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _unpack(item, tensors) for key, item in content}
    return [_unpack(item, tensors) for item in content]


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _to_disk(path: Path) -> None:
    """Have the system write `path` out.

    Else a power cut after the rename could leave an empty file behind.
    """
    if os.name == "nt" and path.is_dir():
        return  # Windows does not open directories
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
