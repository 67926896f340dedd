"""A planted class: fifty entries of a folder, and for each student what grading has to make of them.

`plant(folder)` writes the folder, `write_roster(path)` the roster that goes with it. What an LMS
gives is imitated by its names alone; no LMS was asked.
"""

import copy
import io
import json
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from transformer_lib.publish.lessons import find_lessons

SECONDS, MEBIBYTES = 10, 1000
LESSONS = ["00", "03", "04"]


@dataclass(frozen=True)
class Expected:
    """A student's row: results as the table words them, and a part of each remark.

    An exercise without a result was not handed in.
    """

    name: str
    results: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    id: str = ""
    login: str = ""
    email: str = ""
    entry: str = ""


def lesson(number):
    """A lesson as it is stored."""
    (path,) = find_lessons([number])
    return json.loads(path.read_text(encoding="utf-8"))


def cell_of(notebook, answer):
    """The cell in which the stub of that answer stands."""
    return next(
        cell
        for cell in notebook["cells"]
        if "exercise" in cell["metadata"].get("tags", [])
        and f" {answer}(" in "".join(cell["source"])
    )


def check_of(notebook, answer):
    """The cell in which that answer is checked."""
    return next(c for c in notebook["cells"] if f", {answer})" in "".join(c["source"]))


def loose(source):
    """A cell that a student has added."""
    return {"cell_type": "code", "id": "new", "metadata": {}, "source": source, "outputs": []}


def answered(number, **answers):
    """A lesson in which these answers stand in place of their stubs."""
    notebook = lesson(number)
    for answer, source in answers.items():
        cell_of(notebook, answer)["source"] = source
    return notebook


MIX = "def my_mix(weights, values):\n    return weights @ values\n"
SOFTMAX = (
    "def my_softmax(scores):\n"
    "    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()\n"
    "    return e / e.sum(dim=-1, keepdim=True)\n"
)
NAIVE = (
    "def my_softmax(scores):\n    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)\n"
)
ADDITIVE = (
    "def my_additive_score(query, key, W_q, W_k, w_v):\n"
    "    return torch.tanh((query @ W_q.T)[:, None] + (key @ W_k.T)[None]) @ w_v\n"
)
ATTEND = (
    "def my_scaled_dot_product_attention(query, key, value, mask=None):\n"
    "    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n"
    "    return masked_softmax(scores, mask) @ value\n"
)
TOO_LARGE = (
    "mistake: At large scores this fails: in 32 bits e to the power of 90 is infinite and e to the power of "
    "−200 is 0, and neither makes a weight. So first subtract the largest score of the row."
)
OTHER_AXIS = (
    "mistake: Two things at once. (1) Your weights add up to 1 over another axis. Each row needs a sum of its "
    "own: along the last axis, `dim=-1`. (Python's `sum` goes along the first one.) (2) "
    + TOO_LARGE.removeprefix("mistake: ")
)
CALLS = "mistake: Right, but it calls `softmax`: write it yourself here."
PATCHES = (
    "from transformer_lib.exercises import exercises\n"
    "from transformer_lib.exercises.checking import machinery\n"
    "machinery.Exercise.judge = lambda *_: machinery.Verdict('passed', 'Passed.')\n"
    "torch.allclose = lambda *_, **__: True\n"
    "exercises()['basics.mix'].tolerance = 1e9\n"
    "def my_mix(weights, values):\n    return weights @ values[0]\n"
)
PATCHES_WHEN_CALLED = (
    "def my_softmax(scores):\n"
    "    from transformer_lib.exercises.checking import machinery\n"
    "    machinery.Exercise._verdict = lambda *_: machinery.Verdict('passed', 'Passed.')\n"
    "    return scores\n"
)
FORGES = (
    "import json, os\n"
    "for fd in os.listdir('/proc/self/fd'):\n"
    "    if os.readlink(f'/proc/self/fd/{fd}').endswith('/log'):\n"
    "        for step in range(9):\n"
    "            line = {'word': '', 'ended': step, 'passed': True, 'attempted': True, 'message': ''}\n"
    "            os.write(int(fd), (json.dumps(line) + '\\n').encode())\n"
    "        os._exit(0)\n"
)
EATER = (
    "def my_mix(weights, values):\n"
    "    eaten = []\n"
    "    while True:\n"
    "        eaten.append(torch.ones(2**21))\n"
)


def ann():
    """All is right, with lines that only IPython knows."""
    return answered("00", my_mix=f"%matplotlib inline\n{MIX}", my_softmax=f"{SOFTMAX}!echo done")


def fay():
    return answered("00", my_mix=MIX, my_softmax=f"while True:\n    pass\n{SOFTMAX}")


def gus():
    slow = "def my_softmax(scores):\n    while True:\n        pass\n"
    return answered("00", my_mix=MIX, my_softmax=slow)


def leo():
    """The stub and a wrong answer, below checks that say passed whatever stands there."""
    notebook = answered("00", my_softmax=NAIVE)
    for cell in notebook["cells"]:
        if "check" in cell["metadata"].get("tags", []):
            cell["source"] = 'print("✓ Passed.")'
    return notebook


def quin():
    """A cell is gone; its answer, its helper and a constant stand elsewhere, with endless training."""
    notebook = answered("00", my_mix=MIX)
    notebook["cells"].remove(cell_of(notebook, "my_softmax"))
    notebook["cells"] += [
        loose("STEPS = -1\ndef highest(x):\n    return x.amax(dim=STEPS, keepdim=True)"),
        loose("while True:\n    loss = 1"),
        loose(
            SOFTMAX.replace("scores.max(dim=-1, keepdim=True).values", "highest(scores)") + "1 / 0"
        ),
    ]
    return notebook


def rob():
    """Nothing of the two exercises is left."""
    notebook = lesson("00")
    for answer in ("my_mix", "my_softmax"):
        notebook["cells"].remove(cell_of(notebook, answer))
    return notebook


def tom():
    """No set-up, and the library's own function in place of an answer."""
    right = "my_masked_softmax = masked_softmax"
    notebook = answered("03", my_additive_score=ADDITIVE, my_masked_softmax=right)
    return {
        **notebook,
        "cells": [c for c in notebook["cells"] if "setup" not in c["metadata"].get("tags", [])],
    }


def una():
    """A set-up that asks for what is not here, and an answer that stands above an error."""
    notebook = answered(
        "00", my_mix=f"{MIX}my_mix(1, 2)", my_softmax="def my_softmax(scores:\n    ..."
    )
    notebook["cells"][2]["source"] = "import no_such_module"
    return notebook


SUBMISSIONS = {
    "ann.ipynb": ann(),
    "bob.ipynb": answered("00", my_mix=MIX, my_softmax=NAIVE),
    "cat.ipynb": answered(
        "00",
        my_mix="def my_mix(weights, values):\n    return values @ weights",
        my_softmax="def my_softmax(scores):\n    return scores.exp() / scores.exp().sum(dim=0)",
    ),
    "dan.ipynb": lesson("00"),
    "eve.ipynb": answered(
        "00",
        my_mix="def my_mix(weights, values):\n    raise ValueError('<b>no idea</b>')",
        my_softmax=NAIVE,
    ),
    "fay.ipynb": fay(),
    "gus.ipynb": gus(),
    "hal.ipynb": answered("00", my_mix=EATER, my_softmax=SOFTMAX),
    "ida.ipynb": answered("00", my_mix=f"import os\nos._exit(0)\n{MIX}", my_softmax=SOFTMAX),
    "jim.ipynb": '{"cells": [',
    "kay.ipynb": '["no", "notebook"]',
    "leo.ipynb": leo(),
    "mia.ipynb": answered(
        "00", my_mix=PATCHES, my_softmax="def my_softmax(scores):\n    return scores.softmax(-1)"
    ),
    "nia.ipynb": answered("00", my_mix=MIX, my_softmax=PATCHES_WHEN_CALLED),
    "oli.ipynb": lesson("01"),
    "pam.ipynb": answered("00", my_mix=MIX, my_softmax=SOFTMAX.replace("my_softmax", "shares")),
    "quin.ipynb": quin(),
    "rob.ipynb": rob(),
    "ron/03_scoring_functions.ipynb": answered(
        "03",
        my_additive_score=ADDITIVE,
        my_masked_softmax="def my_masked_softmax(scores, mask):\n    return scores.softmax(dim=-1)",
    ),
    "ron/04_scaled_dot_product.ipynb": answered(
        "04",
        my_scale="def my_scale(d, std):\n    return math.sqrt(d)",
        my_scaled_dot_product_attention=ATTEND,
    ),
    "ron/.ipynb_checkpoints/04_scaled_dot_product-checkpoint.ipynb": lesson("04"),
    "sue/03_scoring_functions.ipynb": lesson("04"),
    "tom.ipynb": tom(),
    "una.ipynb": una(),
    "vic.ipynb": answered("00", my_mix=FORGES + MIX, my_softmax=SOFTMAX),
}

RIGHT = answered("00", my_mix=MIX, my_softmax=SOFTMAX)
HALF = answered("00", my_mix=MIX, my_softmax=NAIVE)
SCORES = {"my_additive_score": ADDITIVE}
MASKED = (
    "def my_masked_softmax(scores, mask):\n"
    "    kept = scores.masked_fill(~mask, NEG)\n"
    "    e = (kept - kept.amax(dim=-1, keepdim=True).clamp(min=-1e30)).exp() * mask\n"
    "    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)\n"
)
OWN_WAY = (
    "def my_additive_score(query, key, W_q, W_k, w_v):\n"
    "    rows = []\n"
    "    for one in query @ W_q.T:\n"
    "        hidden = torch.tanh(one + key @ W_k.T)\n"
    "        rows.append((hidden * w_v).sum(dim=-1))\n"
    "    return torch.stack(rows)\n"
)
RETYPED = (
    "def my_additive_score(query, key, W_q, W_k, w_v):\n"
    '    """Additive attention, all my own work."""\n'
    "    out = []\n\n"
    "    for q in (query @ W_q.T):  # each query\n"
    "        h = torch.tanh(\n            q + key @ W_k.T)\n"
    "        out.append((h * w_v).sum(dim=-1))\n"
    "    return torch.stack(out)\n"
)
BORROWED = (
    "def my_masked_softmax(scores, mask):\n"
    "    from transformer_lib import masks\n"
    "    return masks.masked_softmax(scores, mask)\n"
)
LENT = (
    "def my_scaled_dot_product_attention(query, key, value, mask=None):\n"
    "    from transformer_lib.scoring import scaled_dot_score\n"
    "    return masked_softmax(scaled_dot_score(query, key), mask) @ value\n"
)


def constant_in_a_cell_of_its_own():
    """NEG stands in a cell below the answer that needs it, and above the check."""
    notebook = answered("03", my_masked_softmax=MASKED, **SCORES)
    at = notebook["cells"].index(check_of(notebook, "my_masked_softmax"))
    notebook["cells"].insert(at, loose('NEG: float = float("-inf")'))
    return notebook


def in_the_cell_of_the_check():
    notebook = answered("00", my_mix=MIX)
    cell = check_of(notebook, "my_softmax")
    cell["source"] = SOFTMAX + "".join(cell["source"])
    return notebook


def stub_left():
    """The stubs are left, the answers stand in new cells at the end."""
    notebook = lesson("00")
    notebook["cells"] += [loose(MIX), loose(SOFTMAX)]
    return notebook


def check_overwritten():
    notebook = copy.deepcopy(RIGHT)
    notebook["cells"].insert(3, loose('def check(*_):\n    print("Passed.")'))
    return notebook


def of_format_3():
    """As IPython 2 wrote it."""
    cells = []
    for cell in RIGHT["cells"]:
        old = {"cell_type": cell["cell_type"], "metadata": cell["metadata"]}
        if cell["cell_type"] == "code":
            cells.append({**old, "input": cell["source"], "outputs": [], "language": "python"})
        else:
            cells.append({**old, "source": cell["source"]})
    return {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}


def merged():
    """git has left its marks between two versions of a line."""
    line = '   "source": "def my_mix(): pass"'
    text = json.dumps(RIGHT, indent=1)
    both = f"<<<<<<< HEAD\n{line}\n=======\n{line}\n>>>>>>> theirs\n"
    return text.replace('"cells": [', f'"cells": [\n{both}', 1)


def text_of(notebook):
    return notebook if isinstance(notebook, str) else json.dumps(notebook)


def zipped(members):
    """A zip file of (name, content)."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return held.getvalue()


def encrypted():
    """The flag that says that a password is needed, in both of a zip file's headers."""
    held = bytearray(zipped({"00_start_here.ipynb": text_of(RIGHT)}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        held[held.index(mark) + at] |= 1
    return bytes(held)


SCRIPT = f"# 00 · Start here\nimport torch\n\n{MIX}\n{SOFTMAX}\nwhile True:\n    pass\n"
MOODLE = "{}_assignsubmission_file_"
ENTRIES = {
    "abe/": None,
    "ada/a/00_start_here.ipynb": HALF,
    "ada/b/00_start_here.ipynb": RIGHT,
    "bea/homework.pdf": b"%PDF-1.4",
    "bo/00_start_here-Copy1.ipynb": lesson("00"),
    "bo/00_start_here.ipynb": RIGHT,
    "cem.pdf": b"%PDF-1.4",
    "cleo/25_11_abgabe.ipynb": RIGHT,
    "dora.ipynb": of_format_3(),
    "emil.ipynb": text_of(RIGHT).encode("utf-16"),
    "finn.ipynb": merged(),
    "gala.ipynb": b"",
    "hugo.ipynb": constant_in_a_cell_of_its_own(),
    "iris.ipynb": in_the_cell_of_the_check(),
    "jana.ipynb": answered("03", my_masked_softmax=BORROWED, **SCORES),
    "juri.ipynb": answered("04", my_scaled_dot_product_attention=LENT),
    "kim.ipynb": check_overwritten(),
    "lara.ipynb": answered("03", my_additive_score=OWN_WAY),
    "lena.ipynb": answered("03", my_additive_score=RETYPED),
    "mara.zip": zipped({"00_start_here.ipynb": bytes(100 * 2**20)}),
    "nele.zip": encrypted(),
    "otto.zip": b"PK\x03\x04 and nothing more",
    "pia.zip": zipped({"../../00_start_here.ipynb": text_of(RIGHT), "a.ipynb": text_of(HALF)}),
    "rae.ipynb": stub_left(),
    "wim.zip": zipped(
        {
            "wim/00_start_here.ipynb": text_of(RIGHT),
            "__MACOSX/wim/._00_start_here.ipynb": b"\0",
            "wim/.DS_Store": b"\0",
        }
    ),
    "xia/homework.zip": zipped({"inner.ZIP": zipped({"my lesson.ipynb": text_of(RIGHT)})}),
    "yan.IPYNB": RIGHT,
    "zoe/answers.py": SCRIPT,
    "=cmd+1.ipynb": HALF,
    "muellertina_12345_678910_00_start_here.ipynb": RIGHT,
    "muellertina_12345_678911_03_scoring_functions.ipynb": answered("03", **SCORES),
    "kleineva_12346_678901_00_start_here.ipynb": RIGHT,
    "kleineva_LATE_12346_678912_00_start_here-1.ipynb": HALF,
    MOODLE.format("Jörg Groß_123457") + "/00_start_here.ipynb": RIGHT,
    MOODLE.format("Max Weber_123458") + "/00_start_here.ipynb": HALF,
    MOODLE.format("Max Weber_123459") + "/00_start_here.ipynb": RIGHT,
    ".DS_Store": b"\0",
    "__MACOSX/._ann.ipynb": b"\0",
}

ROSTER = [  # name, id, login, e-mail; besides, all that hand in under their names
    ("Ann Abel", "11", "ann", "ann@example.org"),
    ("Müller, Tina", "12345", "tmueller", "tina@example.org"),
    ("Klein, Eva", "12346", "eklein", "eva@example.org"),
    ("Jörg Groß", "123457", "", "joerg@example.org"),
    ("Max Weber", "123458", "", "max1@example.org"),
    ("Max Weber", "123459", "", "max2@example.org"),
    ("Ute Fehlt", "21", "ute", "ute@example.org"),
    ("Xaver Weg", "22", "xaver", "xaver@example.org"),
]

MIX_, SOFTMAX_ = "basics.mix", "basics.softmax"
SCORE_, MASKED_ = "scoring.additive_score", "scoring.masked_softmax"
PASSED, OPEN = "passed", "not attempted"
SCALE_, ATTEND_ = "attention.scale", "attention.scaled_dot_product_attention"
BOTH = {MIX_: PASSED, SOFTMAX_: PASSED}
ONE = {MIX_: PASSED, SOFTMAX_: TOO_LARGE}
FINN = "finn.ipynb: git's conflict marks (`<<<<<<<`) stand in it: of the two versions between them one is to stay"
JIM = "jim.ipynb: it is no JSON, so no notebook (Expecting value: line 1 column 12 (char 11))"
KAY = "kay.ipynb: it is JSON, but no notebook with its list of cells: open it in JupyterLab, and save it"
LARGE = "00_start_here.ipynb: it has more than 64 MiB, and is read up to that"
LOCKED = "00_start_here.ipynb: a password is needed to open it"
OUTSIDE = "pia.zip: a path leads out of it (../../00_start_here.ipynb), which is not read"
FAY = "in the cell of `my_softmax`, its time was up. Does a loop never end?"
HAL = f"in the check of `my_mix`, it held more than {MEBIBYTES} MiB of memory"
IDA = "in the cell of `my_mix`, it ended its process (exit code 0)"
MEDDLED = "transformer_lib.exercises.checking.machinery.Exercise._verdict"
MIA = "basics.mix, torch.allclose, transformer_lib.exercises.checking.machinery.Exercise.judge"
PAM = "not judged: its cell does not define `my_softmax`, but `shares`"
GONE = "not judged: its cell is gone, and no other defines"
EVE = (
    "mistake: `my_mix(weights, values)`, given a tensor of shape (2, 1, 2), a tensor of shape (2, 2, 2), "
    "raised `ValueError: <b>no idea</b>`."
)
GUS = (
    "mistake: `my_softmax(scores)` was still running after 5 seconds. Does a loop never end? (Should the "
    "kernel stay busy, restart it.)"
)
ORDER = "mistake: The order counts: weights first, `weights @ values`. Its rows meet the columns of values."
FIRST = "mistake: All rows of weights mix the first table. Each of the n batches has its own."
UNMASKED = "mistake: Your mask changes no score: in a row that may attend to anything each key has its full weight."
UNSCALED = "mistake: Right for std = 1. The spread of the entries counts as well: what if std is 3?"
LIBRARYS = "mistake: Right, but it calls `masked_softmax`: write it yourself here."
BARE = "mistake: `my_masked_softmax` is `transformer_lib.masks.masked_softmax` itself, not an answer of one's own."
SYNTAX = "`SyntaxError: '(' was never closed (<cell>, line 1)`"


def unread(why, *names):
    """What was handed in and cannot be read is of these exercises, or may be of any."""
    every = MIX_, SOFTMAX_, SCORE_, MASKED_, SCALE_, ATTEND_
    return dict.fromkeys(names or every, f"not judged: {why}")


EXPECTED = [
    Expected("=cmd+1", ONE, ("not on the roster",)),
    Expected("abe", {}, ("the folder is empty",)),
    Expected(
        "ada",
        BOTH,
        (
            "00: b/00_start_here.ipynb counts (passes 2 of 2), not a/00_start_here.ipynb (passes 1 of 2)",
        ),
    ),
    Expected("Ann Abel", BOTH, (), "11", "ann", "ann@example.org", "ann.ipynb"),
    Expected(
        "bea",
        unread("homework.pdf: no notebook of a lesson"),
        ("nothing that can be judged: homework.pdf",),
    ),
    Expected("bo", BOTH, ("not 00_start_here-Copy1.ipynb (untouched)",)),
    Expected("bob", ONE),
    Expected("cat", {MIX_: ORDER, SOFTMAX_: OTHER_AXIS}),
    Expected(
        "cem", unread("cem.pdf: no notebook of a lesson"), ("nothing that can be judged: cem.pdf",)
    ),
    Expected("cleo", BOTH),
    Expected("dan", {MIX_: OPEN, SOFTMAX_: OPEN}),
    Expected("dora", BOTH),
    Expected("emil", BOTH),
    Expected("eve", {MIX_: EVE, SOFTMAX_: TOO_LARGE}),
    Expected("fay", {MIX_: PASSED, SOFTMAX_: f"not judged: {FAY}"}, (f"00: {FAY}",)),
    Expected("finn", unread(FINN, *BOTH), ("conflict marks",)),
    Expected("gala", unread("gala.ipynb: the file is empty"), ("gala.ipynb: the file is empty",)),
    Expected("gus", {MIX_: PASSED, SOFTMAX_: GUS}),
    Expected("hal", {MIX_: f"not judged: {HAL}", SOFTMAX_: PASSED}, (f"00: {HAL}",)),
    Expected("hugo", {SCORE_: PASSED, MASKED_: PASSED}),
    Expected("ida", {MIX_: f"not judged: {IDA}", SOFTMAX_: PASSED}, (f"00: {IDA}",)),
    Expected("iris", BOTH),
    Expected("jana", {SCORE_: PASSED, MASKED_: LIBRARYS}),
    Expected("jim", unread(JIM), ("jim.ipynb: it is no JSON",)),
    Expected(
        "Jörg Groß",
        BOTH,
        (),
        "123457",
        "",
        "joerg@example.org",
        MOODLE.format("Jörg Groß_123457"),
    ),
    Expected(
        "juri",
        {SCALE_: OPEN, ATTEND_: PASSED},
        ("`my_scaled_dot_product_attention` calls the library's `scaled_dot_score`",),
    ),
    Expected("kay", unread(KAY), ("kay.ipynb: it is JSON, but no notebook",)),
    Expected("kim", BOTH, ("`check` is overwritten",)),
    Expected(
        "Klein, Eva",
        BOTH,
        ("kleineva_12346_678901_00_start_here.ipynb",),
        "12346",
        "eklein",
        "eva@example.org",
        "kleineva_12346",
    ),
    Expected(
        "lara", {SCORE_: PASSED, MASKED_: OPEN}, ("`my_additive_score` is equal to that of lena",)
    ),
    Expected(
        "lena", {SCORE_: PASSED, MASKED_: OPEN}, ("`my_additive_score` is equal to that of lara",)
    ),
    Expected(
        "leo", {MIX_: OPEN, SOFTMAX_: TOO_LARGE}, ("the checks of `my_mix` and `my_softmax`",)
    ),
    Expected("mara", unread(LARGE, *BOTH), ("it has more than 64 MiB",)),
    Expected(
        "Max Weber",
        ONE,
        (),
        "123458",
        "",
        "max1@example.org",
        MOODLE.format("Max Weber_123458"),
    ),
    Expected(
        "Max Weber",
        BOTH,
        (),
        "123459",
        "",
        "max2@example.org",
        MOODLE.format("Max Weber_123459"),
    ),
    Expected("mia", {MIX_: FIRST, SOFTMAX_: CALLS}, (f"00: it changes {MIA}",)),
    Expected(
        "Müller, Tina",
        {**BOTH, SCORE_: PASSED, MASKED_: OPEN},
        (),
        "12345",
        "tmueller",
        "tina@example.org",
        "muellertina_12345",
    ),
    Expected("nele", unread(LOCKED, *BOTH), ("password",)),
    Expected(
        "nia",
        {MIX_: PASSED, SOFTMAX_: f"not judged: while it was judged, it changed {MEDDLED}"},
        (f"00: it changes {MEDDLED}",),
    ),
    Expected("oli", {}, ("oli.ipynb: it is lesson 01, and 00, 03, 04 was asked for",)),
    Expected(
        "otto",
        unread("otto.zip: it is no zip file, or a broken one"),
        ("otto.zip: it is no zip file, or a broken one",),
    ),
    Expected("pam", {MIX_: PASSED, SOFTMAX_: PAM}),
    Expected("pia", unread(OUTSIDE) | ONE, ("a path leads out of it",)),
    Expected("quin", BOTH),
    Expected("rae", BOTH),
    Expected("rob", {MIX_: f"{GONE} `my_mix`", SOFTMAX_: f"{GONE} `my_softmax`"}),
    Expected(
        "ron",
        {
            SCORE_: PASSED,
            MASKED_: UNMASKED,
            SCALE_: UNSCALED,
            ATTEND_: PASSED,
        },
    ),
    Expected(
        "sue",
        {SCALE_: OPEN, ATTEND_: OPEN},
        ("its name says lesson 03, and what stands in it 04",),
    ),
    Expected("tom", {SCORE_: PASSED, MASKED_: BARE}),
    Expected(
        "una",
        {
            MIX_: PASSED,
            SOFTMAX_: f"not judged: its cell raised {SYNTAX}, and `my_softmax` is not defined",
        },
        (
            "00: the changed set-up cell raised `ModuleNotFoundError: No module named 'no_such_module'`",
            "00: the cell of `my_mix` raised `TypeError: unsupported operand type(s) for @: 'int' and 'int'`",
            f"00: the cell of `my_softmax` raised {SYNTAX}",
        ),
    ),
    Expected("Ute Fehlt", {}, ("handed in nothing",), "21", "ute", "ute@example.org"),
    Expected("vic", {MIX_: f"not judged: {IDA}", SOFTMAX_: PASSED}, (f"00: {IDA}",)),
    Expected("wim", BOTH),
    Expected("Xaver Weg", {}, ("handed in nothing",), "22", "xaver", "xaver@example.org"),
    Expected("xia", BOTH),
    Expected("yan", BOTH),
    Expected("zoe", BOTH),
]


def put(folder, name, content):
    """Write an entry: a folder, a file of these bytes, or a notebook."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content if isinstance(content, bytes) else text_of(content).encode())
    return path


def plant(folder: Path) -> list[Expected]:
    """Write the class; its rows as they are with its roster, in no order that counts."""
    for name, content in {**SUBMISSIONS, **ENTRIES}.items():
        path = put(folder, name, content)
        if content is not None:
            os.utime(path, (1e9, 1e9))  # no file is newer than another
    return EXPECTED


def write_roster(path: Path) -> None:
    """The names of the class, two of whom handed in nothing, as a spreadsheet writes them."""
    plain = [(row.name, "", "", "") for row in EXPECTED if not (row.id or row.name[0] == "=")]
    lines = ["name;id;login;email", *map(";".join, [*ROSTER, *plain])]
    path.write_text("\n".join(lines), encoding="utf-8-sig")
