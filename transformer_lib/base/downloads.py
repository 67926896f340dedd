"""Real corpora from the net: fetched once, checked, kept for the next time. Lesson 17.

What arrives must have the checksum that stands here.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pooch


@dataclass(frozen=True)
class Remote:
    """A file on the net: its name, where it may be had, and its checksum.

    The addresses stand in the order to try; the checksum reads `algorithm:digest`.
    """

    file: str
    addresses: tuple[str, ...]
    checksum: str


@dataclass(frozen=True)
class Download:
    """A corpus on the net: its languages, and for each split one file of pairs or two of lines.

    One that has no splits of its own has its files under "all"; `newest` is where a version without
    a checksum may be had, if anywhere.
    """

    languages: tuple[str, str]
    files: dict[str, tuple[Remote, ...]]
    newest: str = ""


_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
_SHA256 = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
}


def _multi30k(source: str, target: str) -> Download:
    def remote(split: str, language: str) -> Remote:
        file = f"{split}.{language}.gz"
        return Remote(file, (_MULTI30K + file,), f"sha256:{_SHA256[file]}")

    splits = {"train": "train", "valid": "val", "test": "test_2016_flickr"}
    languages = (source, target)
    files = {ours: tuple(remote(name, side) for side in languages) for ours, name in splits.items()}
    return Download(languages, files)


DOWNLOADED = {
    "tatoeba-fra": Download(
        ("en", "fr"),
        {
            "all": (
                Remote(
                    "fra-eng.zip",
                    ("http://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip",),
                    "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5",
                ),
            )
        },
        newest="http://www.manythings.org/anki/fra-eng.zip",
    ),
    "multi30k-de": _multi30k("de", "en"),
    "multi30k-fra": _multi30k("en", "fr"),
}


def directory() -> Path:
    """Where downloads are kept: the variable TRANSFORMER_LIB_DATA, else the user's cache folder."""
    return Path(os.environ.get("TRANSFORMER_LIB_DATA") or pooch.os_cache("transformer_lib"))


def fetch(remote: Remote, *, show_progress: bool = False) -> Path:
    """The file on this disk, downloaded if it is not there yet or is not what it must be.

    Raises OSError when no address gives the right file; the message says what each one did, and where
    to put the file if you get it in another way. What is wrong is never kept.
    """
    path = directory() / remote.file
    reasons = []
    for address in remote.addresses:
        try:
            return Path(_retrieve(address, remote.checksum, path, show_progress))
        except ValueError:
            reasons.append(f"{address} sent something else (its checksum differs)")
        except OSError as error:
            reasons.append(f"{address} failed ({type(error).__name__})")
    raise OSError(
        f"could not download {remote.file}: {'; '.join(reasons)}. Fetch it by other means and put it at "
        f"{path} ({remote.checksum}), or load your own copy by its path"
    )


def fetch_unchecked(address: str, file: str, *, show_progress: bool = False) -> Path:
    """The file as it is today at an address that promises no checksum.

    Nothing leads here but a user's own wish.
    """
    return Path(_retrieve(address, None, directory() / file, show_progress))


def _retrieve(address: str, known_hash: str | None, path: Path, show_progress: bool) -> str:
    downloader = pooch.HTTPDownloader(progressbar=show_progress, timeout=20)
    pooch.get_logger().setLevel("ERROR")
    return pooch.retrieve(
        address, known_hash, fname=path.name, path=path.parent, downloader=downloader
    )
