"""Where the project is on the net: one setting, from which all links to it are made.

`[tool.attention-lessons] repository` in pyproject.toml is empty until there is a public address.
In a workflow the environment's REPOSITORY_URL says it, so that a fork's pages point to the fork.
"""

import os
import re
import tomllib

from transformer_lib.publish.lessons import NOTEBOOKS

SETTINGS = NOTEBOOKS.parent / "pyproject.toml"


def repository() -> str:
    """The address, https://github.com/OWNER/NAME, or "" while there is none.

    Raises ValueError for an address of another form.
    """
    stored = tomllib.loads(SETTINGS.read_text("utf-8"))["tool"] if SETTINGS.exists() else {}
    said = os.environ.get("REPOSITORY_URL") or stored.get("attention-lessons", {}).get("repository")
    address = (said or "").rstrip("/")
    if address and not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", address):
        raise ValueError(
            f"the repository is {address!r}, and what is opened from it needs an address like "
            "https://github.com/OWNER/NAME: see [tool.attention-lessons] in pyproject.toml"
        )
    return address


def places(lesson: str) -> dict[str, str]:
    """Where a lesson (its file's stem) opens by one click; nothing while there is no repository."""
    if not (address := repository()):
        return {}
    name = address.removeprefix("https://github.com/")
    return {
        "Colab": f"https://colab.research.google.com/github/{name}/blob/hosted/{lesson}.ipynb",
        "Kaggle": f"https://kaggle.com/kernels/welcome?src={address}/blob/hosted/{lesson}.ipynb",
        "Codespaces": f"https://codespaces.new/{name}",
        "Binder": f"https://mybinder.org/v2/gh/{name}/main?urlpath=lab/tree/notebooks/{lesson}.ipynb",
    }


def linked(page: str, lesson: str = "00_start_here") -> str:
    """A page whose table of places links to each; without a repository it links to none."""
    for place in ("Colab", "Kaggle", "Codespaces", "Binder"):
        address = places(lesson).get(place)
        name = f"[{place}]({address})" if address else place
        page = re.sub(rf"(?m)^\| \[?{place}(\]\([^)]*\))? \|", f"| {name} |", page)
    return page
