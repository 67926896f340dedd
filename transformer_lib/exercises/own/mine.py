"""`mine("EncoderLayer")`: the student's own where it is kept, the library's where it is not."""

from typing import Any

import filelock
import pandas as pd
from IPython import get_ipython

from transformer_lib.exercises.own import trained
from transformer_lib.exercises.own.library import Unreadable, exchange, kept, standing
from transformer_lib.exercises.own.parts import PARTS, part_named
from transformer_lib.translation import Translator


class Mine:
    """What a student has built and trained, and how it is given back."""

    def __init__(self):
        self._said: set[tuple[str, int]] = set()

    def __call__(self, name: str | None = None) -> Any:
        """The student's part if it is kept, else the library's; a line says which, once a cell.

        Without a name all parts there are, as a table: what is built where, and whose it is so far.

        In a part that is built of others it is used like a class or function of that name:
        `self.self_attn = mine("MultiHeadAttention")(d_model, num_heads)`. It is looked up when that
        line runs, so a part written later takes its place by itself. Raises ValueError for a name
        that is no part, and in a hand-out for one that only a withheld solution could stand in for.
        """
        if name is None:
            return self._listed()
        part = part_named(name)
        key = part.exercise.partition(".")[2]
        try:
            answer = kept(key)
            if answer is not None:
                self._say(f"{key}: your own {answer.__name__}, from mine.py.")
                return answer
            said = ""
        except Unreadable as error:
            said = f" {error}"
        whose = "the library's" if part.library else "the course's solution, until yours is kept"
        given = self.of_the_library(name)
        self._say(f"{key}: {whose}.{said}")
        return given

    def _listed(self) -> pd.DataFrame:
        try:
            stands = standing()
        except Unreadable as error:
            print(f"{error}.")
            stands = {}
        whose = {key: "yours, but broken" if wrong else "yours" for key, wrong in stands.items()}
        rows = [
            {
                "part": key,
                "what": part.builds,
                "lesson": f"{part.lesson:02}",
                "whose": whose.get(key, "not yet yours"),
            }
            for key, part in PARTS.items()
        ]
        return pd.DataFrame(rows).set_index("part")

    def of_the_library(self, name: str) -> Any:
        """The library's part, or the course's solution where it has none; nothing is said."""
        part = part_named(name)
        return part.counterpart() or part.solution()

    def forget(self, name: str) -> None:
        """Take the student's part out of `mine.py`; from then on the library's is given."""
        key = part_named(name).exercise.partition(".")[2]
        try:
            taken = exchange(key)
        except (Unreadable, OSError, filelock.Timeout) as error:
            print(f"{key} was not taken out of mine.py: {error}.")
            return
        print(f"{key}: moved to mine.old.py." if taken else f"{key} is not in mine.py.")

    def keep_trained(self, translator: Translator) -> None:
        """Keep a trained model in `runs/mine`; a line says so (`own.trained`)."""
        trained.keep_trained(translator)

    def translator(self) -> Translator:
        """A translator with the model of `runs/mine`, or the shipped one (`own.trained`)."""
        return trained.translator()

    def _say(self, sentence: str) -> None:
        """Print it, but a second time only in another cell: a model asks for every layer."""
        shell = get_ipython()
        occasion = (sentence, shell.execution_count if shell else 0)
        if occasion not in self._said:
            self._said.add(occasion)
            print(sentence)


mine = Mine()
