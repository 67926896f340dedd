"""Where the modules of the second edition stand today, said to whoever imports them.

A student's notebook may be older than the library beside it.
"""

from importlib.abc import MetaPathFinder

MOVED = {
    "runtime": "base.machine (seed_everything, use_threads, pick_device) or base.report (report)",
    "distributed": "base.distributed",
    "downloads": "base.downloads",
    "listening": "base.listening",
    "run.checkpoints": "checkpoints",
    "ladder": "run.ladder",
    "runs": "run.runs",
    "settings": "run.options",
    "commands": "cli.commands",
    "drawings": "show.drawings",
    "explorers": "show.explorers",
    "pictures": "show.pictures",
    "plotting": "show.plotting",
    "costs": "lab.costs",
    "d2l_bridge": "lab.d2l_bridge",
    "launch": "lab.launch",
    "mistakes": "lab.wrong_translations",
    "ngrams": "lab.ngrams",
    "toys": "lab.toys",
    "twins": "lab.twins",
    "exercises.mine": "exercises.own.mine",
    "exercises.parts": "exercises.own.parts",
}


class Signpost(MetaPathFinder):
    """Asked last, when nobody has found a module: it finds none either, but says where to look."""

    def find_spec(self, fullname: str, path=None, target=None) -> None:
        package, _, name = fullname.partition(".")
        old = next((old for old in MOVED if name == old or name.startswith(f"{old}.")), None)
        if package == "transformer_lib" and old:
            raise ModuleNotFoundError(
                f"transformer_lib.{old} is now {MOVED[old]}, in transformer_lib: this notebook is "
                "older than the library, so copy the first code cell of the new lesson over this one"
            )
