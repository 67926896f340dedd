"""Against a server on the loopback interface: nothing here leaves the machine."""

import gzip
import hashlib
import socket
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from transformer_lib import corpus
from transformer_lib.base import downloads
from transformer_lib.base.downloads import DOWNLOADED, Download, Remote, fetch
from transformer_lib.cli import main


class Handler(BaseHTTPRequestHandler):
    """Serves `files`; of a path below /short/ only the first half, of /wrong/ one bit differs."""

    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        _, kind, name = self.path.split("/")
        self.asked.append(self.path)
        if kind == "absent" or name not in self.files:
            self.send_error(404)
            return
        content = bytearray(self.files[name])
        if kind == "wrong":
            content[len(content) // 2] ^= 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if kind == "short" else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LIB_DATA", str(tmp_path / "kept"))
    monkeypatch.setattr(Handler, "files", {})
    monkeypatch.setattr(Handler, "asked", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def dead():
    """An address where nothing listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def remote(server, *kinds, content=b"hello " * 1000, name="pairs.txt"):
    Handler.files[name] = content
    addresses = tuple(
        kind if kind.startswith("http") else f"{server}/{kind}/{name}" for kind in kinds
    )
    return Remote(name, addresses, f"sha256:{hashlib.sha256(content).hexdigest()}")


def test_a_good_file_is_kept_and_not_asked_for_again(server):
    wanted = remote(server, "good")
    path = fetch(wanted)
    assert path == downloads.directory() / "pairs.txt"
    assert path.read_bytes() == Handler.files["pairs.txt"]
    assert fetch(wanted) == path
    assert len(Handler.asked) == 1


@pytest.mark.parametrize(
    ("kind", "what"),
    [("short", "failed|something else"), ("wrong", "something else"), ("absent", "HTTPError")],
)
def test_what_is_truncated_tampered_or_absent_is_refused_and_not_kept(server, kind, what):
    with pytest.raises(OSError, match=rf"could not download pairs.txt: .*({what})"):
        fetch(remote(server, kind))
    assert not list(downloads.directory().glob("*"))


@pytest.mark.parametrize("first", ["short", "wrong", "absent", "dead"])
def test_when_the_first_address_fails_the_next_one_serves(server, dead, first):
    wanted = remote(server, f"{dead}/pairs.txt" if first == "dead" else first, "good")
    assert fetch(wanted).read_bytes() == Handler.files["pairs.txt"]


def test_without_a_network_the_message_says_what_to_fetch_and_where_to_put_it(server, dead):
    wanted = remote(server, f"{dead}/pairs.txt")
    with pytest.raises(OSError, match="by other means and put it at") as error:
        fetch(wanted)
    place = downloads.directory() / "pairs.txt"
    assert str(place) in str(error.value)
    assert wanted.checksum in str(error.value)
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(Handler.files["pairs.txt"])
    assert fetch(wanted) == place


def test_a_kept_file_that_was_damaged_is_fetched_again(server):
    wanted = remote(server, "good")
    fetch(wanted).write_bytes(b"half")
    assert fetch(wanted).read_bytes() == Handler.files["pairs.txt"]


@pytest.fixture
def tatoeba(server, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("_about.txt", "about")
        archive.writestr("fra.txt", "".join(f"sentence {i}\tphrase {i}\n" for i in range(40)))
    wanted = remote(server, "good", content=(tmp_path / "a.zip").read_bytes(), name="fra-eng.zip")
    known = Download(("en", "fr"), {"all": (wanted,)}, newest=f"{server}/good/fra-eng.zip")
    monkeypatch.setitem(DOWNLOADED, "tatoeba-fra", known)


def test_tatoeba_loads_by_its_name(tatoeba):
    loaded = corpus.load_corpus("tatoeba-fra", max_pairs=30)
    assert loaded.languages == ("en", "fr")
    assert (len(loaded.train), len(loaded.valid), len(loaded.test)) == (22, 4, 4)


def test_multi30k_loads_with_its_own_splits(server, monkeypatch):
    sizes = {"train": 9, "valid": 3, "test": 2}

    def remotes(split, n, languages):
        for side in languages:
            text = "".join(f"{split} {side} {i}\n" for i in range(n))
            name = f"{split}.{side}.gz"
            yield remote(server, "good", content=gzip.compress(text.encode()), name=name)

    for name, languages in (("multi30k-de", ("de", "en")), ("multi30k-fra", ("en", "fr"))):
        files = {split: tuple(remotes(split, n, languages)) for split, n in sizes.items()}
        monkeypatch.setitem(DOWNLOADED, name, Download(languages, files))
    german = corpus.load_corpus("multi30k-de", hold_out=["train de 4"])
    assert german.languages == ("de", "en")
    assert (len(german.train), len(german.valid), len(german.test)) == (8, 3, 3)
    assert german.valid[1] == ("valid de 1", "valid en 1", None)
    assert corpus.load_corpus("multi30k-fra").train[0][:2] == ("train en 0", "train fr 0")


def test_the_command_downloads_and_says_where(tatoeba, capsys):
    assert main(["data", "download", "tatoeba-fra"]) == 0
    assert str(downloads.directory() / "fra-eng.zip") in capsys.readouterr().out
    assert main(["data", "download", "tatoeba-fra", "--newest"]) == 0
    assert "It has no checksum" in capsys.readouterr().out
    assert main(["data", "download", "everyday"]) == 1
    assert main(["data", "download", "multi30k-de", "--newest"]) == 1


def test_multi30k_has_two_files_of_lines_a_split_and_a_checksum_each():
    splits = {"train": "train", "valid": "val", "test": "test_2016_flickr"}
    for name, languages in (("multi30k-de", ("de", "en")), ("multi30k-fra", ("en", "fr"))):
        known = DOWNLOADED[name]
        assert known.languages == languages
        for split, official in splits.items():
            files = [remote.file for remote in known.files[split]]
            assert files == [f"{official}.{side}.gz" for side in languages]
            assert all(len(r.checksum) == len("sha256:") + 64 for r in known.files[split])
            assert all(r.addresses[0].endswith(r.file) for r in known.files[split])
