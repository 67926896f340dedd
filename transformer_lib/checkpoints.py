"""Models and training runs on disk, in files that cannot run code. Lesson 17.

Tensors are kept as safetensors, the rest as JSON. A run's directory holds one folder a checkpoint:

    step-000500/  model.safetensors        the weights
                  checkpoint.json          model class, configuration, vocabularies, step, metrics
                  training.safetensors     with training.json all that `fit` needs to go on:
                                           optimizer, random states, history
                  SHA256SUMS               of the files above, tested before they are read

A checkpoint is written under another name and renamed when it is whole, so a folder of that name is
complete. Whatever else lies in a run's directory, or beside the files that SHA256SUMS lists, is
somebody else's: it is neither read nor removed.
"""

import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from safetensors.torch import load_model as load_weights
from safetensors.torch import save_model as save_weights
from torch import Tensor, nn

from transformer_lib.corpus import AnyVocabulary, vocabulary_from_json
from transformer_lib.models import describe_model, restore_model

Loaded = TypeVar("Loaded")
OF_MODEL = ("checkpoint.json", "model.safetensors")
OF_TRAINING = ("training.json", "training.safetensors")
DTYPES = {  # of weights, by the names that safetensors gives them
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
}


class LoadedModel(NamedTuple):
    """A model in eval(), its vocabularies, and what was written beside it.

    `info` holds step, metrics, and what its maker added.
    """

    model: nn.Module
    source_vocabulary: AnyVocabulary
    target_vocabulary: AnyVocabulary
    info: dict

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of the two."""
        return self.source_vocabulary.language, self.target_vocabulary.language


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
    # Names of its own: two programs that save the same step do not write into each other's folder.
    partial = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.partial")
    replaced = partial.with_suffix(".replaced")
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
        for path in partial.iterdir():  # safetensors gives its files to the owner alone
            shutil.copymode(partial / "checkpoint.json", path)
        for path in [*partial.iterdir(), partial]:
            _to_disk(path)
        if final.exists():
            final.rename(replaced)
        partial.rename(final)
        _to_disk(final.parent)
    finally:
        if replaced.exists() and not final.exists():
            replaced.rename(final)
        for folder in (partial, replaced):
            shutil.rmtree(folder, ignore_errors=True)
    _remove_old(final.parent, keep)
    return final


def load_model(directory: str | Path, device: torch.device | str = "cpu") -> LoadedModel:
    """The model in `directory`, a checkpoint's folder or a run's, in the dtype it was saved in.

    Of a run's checkpoints the one with the best validation loss is taken. A damaged one is passed
    over with a warning. Raises FileNotFoundError where there is none, ValueError where none is
    whole.
    """
    loaded = _first_whole(directory, _best_first, _load, OF_MODEL)
    return loaded._replace(model=loaded.model.to(device))


def load_run(directory: str | Path) -> tuple[LoadedModel, dict]:
    """The newest checkpoint in `directory` that is whole: its model and its snapshot.

    With that, `fit(..., resume=snapshot)` goes on.
    """

    def newest_first(folders: list[Path]) -> list[Path]:
        return [folder for folder in folders[::-1] if (folder / "training.json").exists()]

    def load(folder: Path) -> tuple[LoadedModel, dict]:
        loaded = _load(folder)
        rest = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        snapshot = _unpack(rest, load_file(folder / "training.safetensors"))
        return loaded, {**snapshot, "model": loaded.model.state_dict()}

    return _first_whole(directory, newest_first, load, (*OF_MODEL, *OF_TRAINING))


def checkpoints_in(directory: str | Path) -> list[Path]:
    """The checkpoints of a run, the oldest first.

    They are the folders whose names are exactly `step-` and digits.
    """
    entries = Path(directory).iterdir() if Path(directory).is_dir() else ()
    named = ((re.fullmatch(r"step-(\d+)", path.name), path) for path in entries)
    found = [(int(match[1]), path) for match, path in named if match and path.is_dir()]
    return [path for _, path in sorted(found)]


def remove_unfinished(directory: Path) -> None:
    """Remove what killed runs have left in the middle of writing a checkpoint.

    One that was to be replaced comes back. Nobody may be writing into `directory` meanwhile.
    """
    for path in directory.glob(".step-*"):
        if match := re.fullmatch(r"\.(step-\d+)(\.\w+)?\.(partial|replaced|removed)", path.name):
            final = path.with_name(match[1])
            if match[3] == "replaced" and not final.exists():
                path.rename(final)
            shutil.rmtree(path, ignore_errors=True)


def _load(folder: Path) -> LoadedModel:
    content = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
    weights = folder / "model.safetensors"
    model = restore_model(content["model"], content["config"]).to(_dtype(weights))
    load_weights(model, str(weights))
    vocabularies = [vocabulary_from_json(data) for data in content["vocabularies"]]
    info = {"step": content["step"], "metrics": content["metrics"], **content["info"]}
    return LoadedModel(model.eval(), *vocabularies, info)


def _dtype(weights: Path) -> torch.dtype:
    """The one dtype of all tensors in a file."""
    with safe_open(weights, framework="pt") as file:
        found = sorted({file.get_slice(name).get_dtype() for name in file.keys()})  # noqa: SIM118
    if len(found) != 1 or found[0] not in DTYPES:
        raise ValueError(
            f"{weights.name} holds weights of {' and '.join(found)}, "
            f"where all should be of one of {', '.join(DTYPES)}"
        )
    return DTYPES[found[0]]


def _best_first(folders: list[Path]) -> list[Path]:
    return sorted(folders, key=_loss_then_age)


def _loss_then_age(folder: Path) -> tuple[float, int]:
    """Sorts by validation loss, the best first, and the newest first where none is known.

    A loss that is not finite is none. The unreadable stand before them all, so that they are spoken
    of.
    """
    try:
        content = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        loss, step = content["metrics"].get("validation_loss", math.inf), content["step"]
        return (loss if math.isfinite(loss) else math.inf), -step
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return -math.inf, 0


def _first_whole(
    directory: str | Path,
    order: Callable[[list[Path]], list[Path]],
    load: Callable[[Path], Loaded],
    files: tuple[str, ...],
) -> Loaded:
    """What `load` makes of the first checkpoint in this order that is whole and has these files."""
    alone = (Path(directory) / "checkpoint.json").exists()
    damages = {}
    for folder in order([Path(directory)] if alone else checkpoints_in(directory)):
        damages[folder] = _damage(folder, files)
        if not damages[folder]:
            try:
                return load(folder)
            except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
                if folder.exists():
                    raise ValueError(f"{folder} cannot be loaded: {error!r}") from error
        if not folder.exists():  # its run goes on, and by now keeps others
            return _first_whole(directory, order, load, files)
        warnings.warn(f"passing over {folder}: {damages[folder]}", stacklevel=3)
    if not damages:
        if not Path(directory).is_dir():
            raise FileNotFoundError(f"there is no folder {str(directory)!r}")
        if (Path(directory) / "translate.py").exists():
            raise FileNotFoundError(
                f"{str(directory)!r} is an export for another engine: run its translate.py"
            )
        raise FileNotFoundError(
            f"no checkpoint in {str(directory)!r}: expected folders named step-000100 and the like"
        )
    folder, damage = next(iter(damages.items()))
    raise ValueError(f"no whole checkpoint in {str(directory)!r}: {folder.name}: {damage}")


def _damage(folder: Path, files: tuple[str, ...]) -> str:
    """What is wrong with a checkpoint, in words; no word where it is whole."""
    try:
        sums = dict(
            reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines()
        )
    except (OSError, ValueError):
        return "its SHA256SUMS is missing or unreadable"
    try:
        ours = (name for name in (*OF_MODEL, *OF_TRAINING) if (folder / name).exists())
        for name in sorted({*files, *sums, *ours}):
            if name not in sums:
                return f"SHA256SUMS does not list {name}"
            if not (folder / name).is_file():
                return f"{name} is missing"
            if (found := _sha256(folder / name)) != sums[name]:
                return f"{name} was truncated or changed: SHA-256 {found[:12]}…, expected {sums[name][:12]}…"
    except OSError as error:
        return f"it cannot be read ({error})"
    return ""


def _remove_old(directory: Path, keep: int) -> None:
    """Remove all but the newest and the best; what cannot be read is not ours to judge."""
    ages = {folder: _loss_then_age(folder) for folder in checkpoints_in(directory)}
    readable = [folder for folder, (loss, _) in ages.items() if loss > -math.inf]
    best = min(readable, key=ages.get, default=None)
    for folder in readable[:-keep]:
        if folder != best:
            # Renamed first: whoever reads it meanwhile finds all of it, or nothing.
            gone = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.removed")
            with contextlib.suppress(OSError):
                folder.rename(gone)
                shutil.rmtree(gone)


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
