"""The workflows are of the form that GitHub reads, and call only commands that the project has."""

import re
import shlex
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOW = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def judged(path):
    """What the schema that comes with check-jsonschema says, without a network."""
    module = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
    ]
    return subprocess.run([*module, path], capture_output=True, text=True, check=False)


def runs(path):
    """The command lines of every step, `${{ … }}` read as `python`."""
    workflow = YAML(typ="safe").load(path)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [re.sub(r"\$\{\{.*?\}\}", "python", step["run"]) for step in steps if "run" in step]


@WORKFLOW
def test_it_keeps_the_schema(path):
    done = judged(path)
    assert done.returncode == 0, done.stdout


def test_a_spoilt_one_does_not(tmp_path):
    spoilt = tmp_path / "test.yml"
    spoilt.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:"))
    assert judged(spoilt).returncode == 1


@WORKFLOW
def test_it_calls_the_projects_own_commands(path):
    targets = re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"))
    assert runs(path)
    for line in runs(path):
        program, *words = shlex.split(line)
        if program == "make":
            assert words[0] in targets
        else:
            assert (program, words[0]) == ("python", "-m")
            assert words[1] in ("venv", "pip", "pytest")
            for word in words[2:]:
                if "/" in word or word.endswith(".txt"):
                    assert (ROOT / word).exists(), word


def test_every_python_from_the_oldest_that_the_project_takes_is_tried():
    linux = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["linux"]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    tried = linux["strategy"]["matrix"]["python"]
    assert tried == [f"3.{minor}" for minor in range(int(oldest.split(".")[1]), 15)]


def test_the_oldest_versions_are_the_lower_bounds_and_are_tried_every_week():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    bounds = [re.match(r"([\w-]+)[>=]=([\d.]+)", requirement).groups() for requirement in asked]
    pins = (ROOT / "tests" / "oldest.txt").read_text().splitlines()[1:]
    assert pins == [f"{name}=={version}" for name, version in bounds]
    weekly = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "weekly.yml")
    tried = weekly["jobs"]["versions"]["strategy"]["matrix"]["include"]
    assert "--constraint tests/oldest.txt" in {kind["constraint"] for kind in tried}
    assert project["requires-python"] == ">=" + min(
        (kind["python"] for kind in tried), key=lambda version: int(version.split(".")[1])
    )
