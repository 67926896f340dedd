"""What GitHub, Codespaces and Binder read is of their form, and calls commands that the project has."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
README = (ROOT / "README.md").read_text("utf-8")
WORKFLOW = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def judged(path, schema):
    """What the schema that comes with check-jsonschema says, without a network."""
    module = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    return subprocess.run([*module, path], capture_output=True, text=True, check=False)


def runs(path):
    """The command lines of every step, `${{ … }}` read as `python`."""
    workflow = YAML(typ="safe").load(path)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    return [re.sub(r"\$\{\{.*?\}\}", "python", line.replace("\\", "/")) for line in lines]


SCHEMAS = [
    *((path, "github-workflows") for path in WORKFLOWS),
    *((path, "github-issue-forms") for path in FORMS),
    (ROOT / ".github/ISSUE_TEMPLATE/config.yml", "github-issue-config"),
    (ROOT / "CITATION.cff", "citation-file-format"),
]


@pytest.mark.parametrize(("path", "schema"), SCHEMAS, ids=lambda given: getattr(given, "stem", ""))
def test_it_keeps_the_schema(path, schema):
    done = judged(path, schema)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("path", "schema", "key"),
    [
        (*SCHEMAS[0], "runs-on:"),
        (FORMS[0], "github-issue-forms", "body:"),
        (*SCHEMAS[-1], "title:"),
    ],
)
def test_a_spoilt_one_does_not(tmp_path, path, schema, key):
    spoilt = tmp_path / path.name
    spoilt.write_text(path.read_text("utf-8").replace(key, f"x{key}"), encoding="utf-8")
    assert judged(spoilt, schema).returncode == 1


def loaded(name):
    """The jobs of a workflow."""
    return YAML(typ="safe").load(ROOT / ".github" / "workflows" / name)["jobs"]


@WORKFLOW
def test_it_calls_the_projects_own_commands(path):
    targets = re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"))
    assert runs(path)
    for line in runs(path):
        program, *words = shlex.split(line)
        if program == "make":
            assert words[0] in targets
        elif program != "git":  # its lines are run below
            assert program in ("python", "py", ".venv/Scripts/python")
            assert words[0] == "-m"
            assert words[1] in ("venv", "pip", "pytest")
            for word in words[2:]:
                if "/" in word or word.endswith(".txt"):
                    assert (ROOT / word).exists(), word


def test_all_of_make_test_runs_on_three_systems_with_the_oldest_and_the_newest_python():
    matrix = loaded("test.yml")["make"]["strategy"]["matrix"]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert [f">={matrix['python'][0]}", matrix["python"][-1]] == [oldest, "3.14"]


def test_windows_tries_the_lines_that_readme_has_for_powershell():
    told = re.search(r"in PowerShell.*?```\n(.*?)```", README, re.S)[1].splitlines()
    tried = [step["run"] for step in loaded("test.yml")["powershell"]["steps"] if "run" in step]
    assert told[:2] == tried[:2]
    assert all(line.startswith((r"py -m", r".venv\Scripts\python -m")) for line in told)


def test_the_lessons_for_colab_replace_the_branch_hosted_and_nothing_else(tmp_path):
    """The lines of the workflow, with a folder in GitHub's place."""
    (lines,) = [
        s["run"] for s in loaded("site.yml")["hosted"]["steps"] if "git" in s.get("run", "")
    ]
    lines = lines.replace("${{ github.sha }}", "today")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
    subprocess.run(["git", "clone", "-q", origin, checkout], check=True, capture_output=True)
    for file in ("README.md", "build/hosted/00_start_here.ipynb"):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        (checkout / file).write_text(file)
    (checkout / ".gitignore").write_text("build/")
    subprocess.run([*git, "-C", checkout, "add", "."], check=True)
    subprocess.run([*git, "-C", checkout, "commit", "-qm", "one"], check=True)
    subprocess.run(["git", "-C", checkout, "push", "-q", "origin", "HEAD:main"], check=True)
    for _ in range(2):  # the second time the branch is there
        shutil.rmtree(checkout / "build/hosted/.git", ignore_errors=True)
        subprocess.run(["bash", "-ec", lines], cwd=checkout, check=True, capture_output=True)

    def files(branch):
        tree = ["git", "-C", origin, "ls-tree", "-r", "--name-only", branch]
        return subprocess.run(tree, capture_output=True, text=True, check=True).stdout.split()

    assert files("hosted") == ["00_start_here.ipynb"]
    assert files("main") == [".gitignore", "README.md"]


def test_the_dev_container_and_binder_install_what_readme_installs_with_its_cpu_build():
    index = re.search(r"PIP_EXTRA_INDEX_URL=(\S+)", README)[1]
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    assert container["containerEnv"] == {"PIP_EXTRA_INDEX_URL": index}
    assert container["postCreateCommand"] == "make setup"
    assert (ROOT / container["customizations"]["codespaces"]["openFiles"][0]).exists()
    lines = (ROOT / ".binder/requirements.txt").read_text("utf-8").splitlines()[1:]
    assert lines == [f"--extra-index-url {index}", "-r ../requirements.txt"]


def test_the_citation_is_of_the_projects_version_and_title():
    cited = YAML(typ="safe").load(ROOT / "CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["version"] == project["version"]
    assert README.startswith(f"# {cited['title']}\n")


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
