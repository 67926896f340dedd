"""What README, CONTRIBUTING, the data sheet and the lessons tell people to type, open and look up."""

import ast
import json
import re
import shlex
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from urllib.parse import urlsplit

import house
import nbformat
import pytest
from torch import nn
from torch.distributed.run import get_args_parser

from transformer_lib import cli
from transformer_lib.corpus import NAMES
from transformer_lib.publish import __main__ as publish
from transformer_lib.publish.lessons import find_lessons
from transformer_lib.publish.routes import routes

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / name
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "AGENTS.md",
        "data/README.md",
        "notebooks/CONTRIBUTING.md",
    )
]
BESIDE = {path.stem: path for path in (ROOT / "transformer_lib/publish/pages").glob("*.md")}
DOCUMENTS = [*PAGES, *BESIDE.values(), *find_lessons()]
DOCUMENT = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix()
)
HOSTS = {
    "aclanthology.org",
    "arxiv.org",
    "blog.eleuther.ai",
    "cdn.openai.com",
    "codespaces.new",
    "colab.research.google.com",
    "classic.d2l.ai",
    "creativecommons.org",
    "cs.utexas.edu",
    "d2l.ai",
    "docs.pytorch.org",
    "doi.org",
    "download.pytorch.org",  # torch's CPU build, which pip is not offered elsewhere
    "github.com",
    "huggingface.co",
    "jalammar.github.io",
    "jmlr.org",
    "jstor.org",
    "kaggle.com",
    "mybinder.org",
    "nvidia.com",
    "proceedings.mlr.press",
    "pytorch.org",
    "transformer-circuits.pub",
    "research.google",
    "tatoeba.org",
    "web.stanford.edu",
}
FENCE = re.compile(r"^```.*?\n(.*?)^```", re.S | re.M)
PLACEHOLDERS = {"NAME": "tatoeba-fra", "FIRST_MACHINE:29500": "localhost:29500"}
LEFT_OUT = {"train": ["--out", "runs/first"]}  # what the reader adds where … stands
ROUTES = routes()
FOLDERS = ("transformer_lib/", "tests/", "data/", "notebooks/")


@cache
def text(path):
    """A document's markdown; of a lesson, that of all its cells."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def prose(path):
    """The text without its listings."""
    return FENCE.sub("", text(path))


def code(path):
    """What stands between backticks in the prose, a line each."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(path))]


def commands(path):
    """The words of every command, of listings and in the prose; a continued line is one command."""
    listed = [line for listing in FENCE.findall(text(path)) for line in joined(listing)]
    for line in [*listed, *code(path)]:
        if re.match(r"(make|torchrun|(\S*[/\\])?(python|jupyter)) ", line):
            words = shlex.split(line.replace("\\", "/"), comments=True)
            words = words[: words.index(">")] if ">" in words else words
            yield [PLACEHOLDERS.get(word, word) for word in words]


def joined(listing):
    return listing.replace("\\\n", " ").splitlines()


def after_module(words):
    """(module, its arguments) of `python -m` and of `torchrun -m`; None for another command."""
    if words[0] == "torchrun":
        parsed = get_args_parser().parse_args(words[1:])
        assert parsed.module
        return parsed.training_script, parsed.training_script_args
    if words[0].endswith("python") and words[1] == "-m":
        return words[2], words[3:]
    return None


def slugs(path):
    """The anchors that GitHub gives to the headings of a page, and JupyterLab to those of a lesson."""
    headings = re.findall(r"(?m)^#+ +(.+?) *$", prose(path))
    if path.suffix == ".ipynb":
        return [re.sub("[*`]", "", heading).replace(" ", "-") for heading in headings]
    found = []
    for heading in headings:
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[*`]", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return found


@DOCUMENT
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\((?!https?:)([^)]*)\)", re.sub(r"`[^`]*`", "", prose(path))):
        target, _, anchor = link.partition("#")
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), link
        assert not anchor or anchor in slugs(there), link


@DOCUMENT
def test_addresses_on_the_net_are_well_formed_and_of_hosts_that_last(path):
    for address in re.findall(r"\w+://[^\s)>\]`]+", text(path)):
        parts = urlsplit(address)
        assert parts.scheme == "https", address
        assert parts.hostname.removeprefix("www.") in HOSTS, address


@DOCUMENT
def test_every_make_target_and_variable_exists(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"(?m)^([a-z-]+):", makefile)
    for _, *words in (words for words in commands(path) if words[0] == "make"):
        for word in words:
            variable, is_variable, value = word.partition("=")
            if is_variable:
                assert f"$({variable})" in makefile, word
            else:
                assert word in targets, word
            if variable in ("LESSON", "LESSONS"):
                assert find_lessons([value])


@DOCUMENT
def test_the_parsers_accept_every_command(path):
    parsers = {"transformer_lib": cli.parser, "transformer_lib.publish": publish._parser}
    for words in commands(path):
        module, arguments = after_module(words) or (None, [])
        if module in parsers:
            if "…" in arguments:
                arguments = [a for a in arguments if a != "…"] + LEFT_OUT[arguments[0]]
            try:
                parsers[module]().parse_args(arguments)
            except SystemExit:
                pytest.fail(f"not accepted: {shlex.join(words)}")


@DOCUMENT
def test_every_file_and_folder_that_is_named_exists(path):
    """Paths from the project's root or from the document, and the names of the library's files."""
    named = {word for words in commands(path) for word in words} | set(code(path))
    known = {file.name for file in (ROOT / "transformer_lib").rglob("*.py")}
    for name in named:
        if re.search(r"\s", name):
            continue
        if name.startswith(FOLDERS) or re.fullmatch(
            r"[\w/]+\.(py|ipynb|json|md|toml|tsv|txt)", name
        ):
            elsewhere = Path(name).name in known and "/" not in name
            beside = [*path.parent.glob(f"{name}*"), *path.parent.glob(f"*/{name}")]
            assert (ROOT / name).exists() or beside or elsewhere, name


def test_nobody_is_told_to_fetch_the_library_from_the_package_index():
    """One of its names is somebody else's there, and the other was never published."""
    wrong = re.compile(r"pip install\b.*\b(transformer[-_]lib|attention[-_]lessons)\b")
    told = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    told = [path for path in told if path.suffix in {".py", ".ipynb", ".md", ".j2", ".js", ".txt"}]
    beside = [path for path in ROOT.glob("[!.]*.*") if path.is_file()]
    for path in [*told, *beside, *(ROOT / ".github").rglob("*.yml")]:
        assert not wrong.search(path.read_text(encoding="utf-8")), path


def test_the_first_commands_of_the_readme_do_what_they_say(tmp_path, monkeypatch, capsys):
    """As they stand there, with two steps."""
    monkeypatch.chdir(tmp_path)
    section = text(PAGES[0]).partition("## To use it")[2]
    lines = joined(FENCE.search(section)[1])
    assert [line.split()[3] for line in lines] == ["train", "translate", "evaluate"]
    for line in lines:
        module, arguments = after_module(shlex.split(re.sub(r"--steps \d+", "--steps 2", line)))
        assert module == "transformer_lib"
        assert cli.main(arguments) == 0
    _translation, title, *scores = capsys.readouterr().out.splitlines()
    assert title.startswith("everyday, test split")
    assert any("held-out: BLEU" in line for line in scores)
    assert [folder.name for folder in (tmp_path / "runs/first").glob("[!.]*")] == ["step-000002"]


def test_what_a_command_reads_is_there():
    """A corpus comes with the project or is downloaded, a model was trained by a line above."""
    trained = set()
    for words in chain.from_iterable(map(commands, [PAGES[0], *BESIDE.values()])):
        options = dict(pairwise(words))
        assert options.get("--corpus", "lessons") in NAMES
        assert "--model" not in options or options["--model"] in trained
        trained.add(options.get("--out"))
    assert "runs/base" in trained


def test_the_routes_are_those_of_the_plan_and_add_up():
    """A column each: each part's minutes are those of the lessons below it, the last row's those of all."""
    section = text(PAGES[0]).partition("## The route")[2].partition("\n## ")[0]
    head, _, *rows = [
        [cell.strip(" *") for cell in row.strip("|").split("|")]
        for row in re.findall(r"(?m)^\|.*\|$", section)
    ]
    names, columns = head[2:], [dict(zip(ROUTES, row[2:], strict=True)) for row in rows]
    assert names == [route.name[0].lower() + route.name[1:] for route in ROUTES]
    for route in ROUTES:
        minutes = {stop.lesson: stop.minutes for stop in route.stops}
        said, added = [], []
        for (first, *_), row in zip(rows, columns, strict=True):
            if lesson := re.match(r"\[(\d\d) ", first):
                assert row[route] == str(minutes.get(lesson[1], "")), (route.name, first)
                added[-1] += minutes.pop(lesson[1], 0)
            else:
                said.append(int(row[route]))
                added.append(0)
        assert not minutes
        assert said == [*added[:-1], route.minutes]


def test_the_figures_of_real_text_are_those_that_are_stored():
    """Scores, sizes and settings of the runs on real text; the hours of all lessons."""
    said = " ".join(text(BESIDE["real_text"]).split())
    captions, runs, tatoeba = (
        json.loads((ROOT / "data" / f"{name}.json").read_text())
        for name in ("multi30k", "multi30k_seeds", "tatoeba")
    )
    recipes = {
        name: (ROOT / "data/recipes" / f"{name}.txt").read_text()
        for name in ("multi30k-de", "multi30k-fra", "tatoeba-fra")
    }
    german, second, third, french = (f"{run['bleu']:.1f}" for run in runs)
    assert [(run["recipe"], run["seed"]) for run in runs] == [
        *(("multi30k-de", seed) for seed in range(3)),
        ("multi30k-fra", 0),
    ]
    score, of = captions["held_out"], f"{captions['parameters'] / 1e6:.1f} million parameters"
    assert captions["split"] == "valid"
    assert f"{score['bleu']:.1f}" == german
    minutes = f"{runs[0]['cpu_minutes']:.0f} minutes"
    pairs = f"{score['pairs']:,} pairs of `val`"
    assert f"{minutes} of one processor core and {of} give {german} BLEU on the {pairs}" in said
    assert f"{second} and {third} with other seeds" in said
    assert f"English into French by the same recipe: {french}" in said
    head = f"{german} BLEU on val after {minutes} of one CPU core ({of})."
    assert recipes["multi30k-de"].splitlines()[0].endswith(head)
    assert f" {french} BLEU on val." in recipes["multi30k-fra"].splitlines()[0]
    of_both = [recipes[name].partition(" --tokens ")[2] for name in ("multi30k-de", "multi30k-fra")]
    assert of_both[0] == of_both[1] != ""
    assert f"give about {tatoeba['held_out']['bleu']:.0f} BLEU on held-out sentences" in said
    assert "Fifteen minutes of two CPU cores" in recipes["tatoeba-fra"]
    assert "fifteen minutes of two cores give" in said
    assert "Twenty thousand pairs of at most ten English words" in said
    assert "--max-pairs 20000 --max-words 10 " in recipes["tatoeba-fra"]
    for run in (captions["held_out"], *runs, tatoeba["held_out"]):
        assert "nrefs:1|case:lc" in run["signature"]
    assert f"All lessons, about {ROUTES[0].minutes / 60:.0f} hours" in text(PAGES[0])


def test_the_chart_of_speed_shows_the_figures_that_are_stored():
    """Ours of bench.json, the others' of rivals.json, all with torch.nn.Transformer at 1."""
    bench, rivals = (
        json.loads((ROOT / f"data/{name}.json").read_text()) for name in ("bench", "rivals")
    )
    drawn = re.findall(
        r"<text[^>]*>([^<]*)</text>", (ROOT / "notebooks/images/speed.svg").read_text("utf-8")
    )
    ours = {row["what"]: row["median"] for row in bench["rows"]}
    tables = [table for table in rivals.values() if isinstance(table, dict)]
    training, *decoding = tables
    wanted = [1.0, ours["training step, mid: time over that of torch.nn.Transformer"]]
    assert min(training.values()) > wanted[-1], "the page says that ours takes the least"
    wanted += training.values()
    for table, work in zip(decoding, ("B = 1, 256 steps", "B = 32, 64 steps"), strict=True):
        wanted.append(ours[f"greedy, {work}: tokens/s over those of re-decoding"])
        faster = [name for name, x in table.items() if x / table[rivals["torch"]] > wanted[-1]]
        assert faster == ["CTranslate2, fp32"], "as the page says"
        wanted += [x / table[rivals["torch"]] for x in table.values()]
    labels = [f"{x:.2f} ×" if x < 2 else f"{x:.1f} ×" for x in wanted]
    assert sorted(labels) == sorted(label for label in drawn if label.endswith("×"))
    assert {"transformer_lib", *(name for table in tables for name in table)} < set(drawn)
    torch = ".".join(bench["versions"]["torch"].split(".")[:2])
    assert f"torch {torch} with {bench['kernels']})" in text(BESIDE["speed"])


def names(*files):
    """Everything that these modules define: functions, classes, parameters, attributes."""
    found = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    found.add(name)
                case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
    return found


def test_the_names_in_the_table_exist_here_and_in_torch():
    parts = (nn.functional, nn.modules.activation, nn.modules.transformer)
    defined = {
        "here": names(*(ROOT / "transformer_lib").glob("*.py")),
        "torch.nn": names(*(Path(part.__file__) for part in parts)),
    }
    head, _, *rows = re.findall(r"(?m)^\|.*", text(BESIDE["names"]))
    columns = [title.strip() for title in head.strip("| ").split("|")]
    assert set(defined) < set(columns)
    assert len(rows) > 10
    for row in rows:
        for column, cell in zip(columns, row[1:].split("|"), strict=False):
            for span in re.findall(r"`([^`]+)`", cell) if column in defined else ():
                for name in re.findall(r"[A-Za-z_][\w.]*", span):
                    assert name.split(".")[-1] in defined[column], f"{column}: {name}"


def rows_of_changes():
    """(what is to be changed, [what to open]) of CONTRIBUTING's table."""
    section = text(PAGES[1]).partition("## Where to change what")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| (?!to add)([^|-][^|]*) \| (.*) \|$", section)
    return [(change, re.findall(r"`(?!make )([^`]+)`", where)) for change, where in rows]


@pytest.mark.parametrize(("change", "where"), rows_of_changes())
def test_what_is_to_be_opened_is_there(change, where):
    assert where, change
    opened = []
    for name in where:
        here = [
            ROOT / name,
            ROOT / "transformer_lib" / name,
            *(path.parent / name for path in opened),
        ]
        here += [path / name for path in opened if path.is_dir()]
        found = [path for path in here if path.exists()]
        if found:
            opened.append(found[0])
        else:
            assert not re.search(r"[/]|\.\w+$", name) or re.match(r"[A-Z]\w+\.\w+$", name), name
            known = "".join(path.read_text(encoding="utf-8") for path in opened if path.is_file())
            assert re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", known), name


def test_every_file_at_the_top_and_every_folder_has_its_row():
    named = {
        name.split("/")[0].removesuffix(".py") for _, where in rows_of_changes() for name in where
    }
    assert set(chain.from_iterable(house.FLOORS)) - {"__main__"} <= named
