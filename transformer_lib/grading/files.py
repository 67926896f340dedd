"""What a folder holds, file by file: a zip counts as a folder, and is not written to disk.

A zip's members are read where they lie, up to a size that is counted as they come out, whatever the
zip says of itself. So no path in it leads anywhere, and a zip bomb ends at the limit.
"""

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NoReturn

LARGEST = 64  # MiB of a file
_IN_ALL = 256  # MiB of all that is read of one zip, and of the zips in it
_MOST = 2000  # files in a zip
_DEPTH = 3  # zips in a zip
_NOISE = ("desktop.ini", "thumbs.db")
_MIB = 2**20


class Unusable(ValueError):
    """Why something that was handed in cannot be used, in words for the teacher."""


@dataclass(frozen=True)
class File:
    """A file, and how to read it: `read` raises Unusable. A zip that cannot be opened is one, too.

    `path` leads to it from the class's folder, through zips as well. `time` is that of the last
    change as far as it is known, in seconds.
    """

    path: PurePosixPath
    read: Callable[[], bytes]
    time: float = 0.0

    @property
    def told(self) -> str:
        """What it is called in its entry, or where the entry is the file itself."""
        return "/".join(self.path.parts[1:] or self.path.parts)


def entries(folder: Path) -> dict[str, list[File]]:
    """The files of each entry of a folder, an entry without files included.

    What systems leave behind is none: hidden files, `__MACOSX`, checkpoints.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder: give the one that holds what was handed in")
    return {
        path.name: list(_below(path, PurePosixPath(path.name)))
        for path in sorted(folder.iterdir())
        if not _is_noise(path.name)
    }


def _is_noise(name: str) -> bool:
    return name.startswith((".", "__", "~$")) or name.lower() in _NOISE


def _below(path: Path, told: PurePosixPath) -> Iterator[File]:
    if path.is_symlink():  # it may lead to anything of the teacher's
        yield File(told, partial(_refuse, "it is a link, and links are not followed"))
    elif path.is_dir():
        try:
            inside = sorted(path.iterdir())
        except OSError as error:
            yield File(told, partial(_refuse, f"it cannot be opened ({error.strerror})"))
            return
        for inner in inside:
            if not _is_noise(inner.name):
                yield from _below(inner, told / inner.name)
    else:
        file = File(told, partial(_content, path), path.stat().st_mtime)
        yield from _Zips().opened(file) if _is_zip(told) else [file]


def _is_zip(path: PurePosixPath) -> bool:
    return path.suffix.lower() == ".zip"


def _refuse(why: str) -> NoReturn:
    raise Unusable(why)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _limited(file.read)
    except OSError as error:
        raise Unusable(f"it cannot be read ({error.strerror})") from None


def _limited(read: Callable[[int], bytes]) -> bytes:
    content = read(LARGEST * _MIB + 1)
    if len(content) > LARGEST * _MIB:
        raise Unusable(f"it has more than {LARGEST} MiB, and is read up to that")
    return content


class _Zips:
    """A zip and the zips in it, which may be read up to one limit together."""

    def __init__(self):
        self.left = _IN_ALL * _MIB

    def opened(self, file: File, depth: int = 1) -> Iterator[File]:
        """The files in a zip; the zip itself where it cannot be opened."""
        try:
            if depth > _DEPTH:
                raise Unusable(f"it is a zip in {_DEPTH} others, and is not opened")
            archive = _archive(file.read())
        except Unusable as error:
            yield File(file.path, partial(_refuse, str(error)))
            return
        for member in sorted(archive.infolist(), key=lambda info: info.filename):
            name = PurePosixPath(member.filename.replace("\\", "/"))
            noise = any(_is_noise(part) for part in name.parts if part != "..")
            if member.is_dir() or noise or not name.parts:
                continue
            if ".." in name.parts or name.is_absolute() or ":" in name.parts[0]:
                why = f"a path leads out of it ({name}), which is not read"
                yield File(file.path, partial(_refuse, why))
                continue
            inner = File(file.path / name, partial(self.member, archive, member), _time(member))
            yield from self.opened(inner, depth + 1) if _is_zip(name) else [inner]

    def member(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
        """What stands in a member, counted as it comes out."""
        if member.flag_bits & 1:
            raise Unusable("a password is needed to open it")
        if self.left <= 0:
            raise Unusable(f"its zip holds more than {_IN_ALL} MiB, and is read up to that")
        try:
            with archive.open(member) as file:
                content = _limited(file.read)
        except Unusable:
            self.left -= LARGEST * _MIB
            raise
        except Exception as error:  # each way of packing has errors of its own
            raise Unusable(f"it cannot be unpacked ({type(error).__name__}: {error})") from None
        self.left -= len(content)
        return content


def _archive(content: bytes) -> zipfile.ZipFile:
    if not content:
        raise Unusable("the file is empty")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception:  # a broken one may break the reader in many ways
        raise Unusable("it is no zip file, or a broken one") from None
    if len(archive.infolist()) > _MOST:
        raise Unusable(f"it holds {len(archive.infolist())} files, and is read up to {_MOST}")
    return archive


def _time(member: zipfile.ZipInfo) -> float:
    try:
        return datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError, OSError):  # zips without a date have month 0
        return 0.0
