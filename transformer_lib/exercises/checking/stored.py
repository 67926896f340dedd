"""What answers made of the cases of an exercise, in one file of numbers and text.

Tensors stand in the file once each, however many outcomes have them; all else is JSON beside them.
Nothing in it can run. What has no plain value, such as a function, comes back as a `Thing`, which
equals nothing.
"""

import builtins
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import StatisticsError
from typing import Any, NamedTuple

import safetensors
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from transformer_lib.exercises.checking import relations
from transformer_lib.exercises.checking.classes import Build, Case, Seen
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.checking.running import Answer, Outcome, TimeUp, as_it_was
from transformer_lib.exercises.checking.verdict import Place
from transformer_lib.exercises.checking.weights import Misfit

_ERRORS = {kind.__name__: kind for kind in (Misfit, StatisticsError, TimeUp)}
_PLAIN = (bool, int, float, str, type(None))
_CONTAINERS = {kind.__name__: kind for kind in (list, tuple, set, frozenset, torch.Size)}


class Thing:
    """The place of a value that cannot be stored."""


class Wrong(NamedTuple):
    """A known mistake: the sentence that is said to it, and what it made of each case."""

    message: str
    outcomes: Sequence[Outcome]


@dataclass
class Stored:
    """An exercise by what its answers do.

    `cases` is None where an argument is a function or a module; then `inputs` are the tensors in them,
    in order. `right` is None where a class of the library is compared with. `how` has for each case what
    is said of each entry, `steps` what the names of the solution stood for, and `asked` what the right one
    gives for the other arguments that `relations` try: those that are others, by place, and the result.
    """

    cases: list[tuple] | None
    inputs: list[Tensor]
    right: list[Outcome] | None
    mistakes: list[Wrong]
    how: list[dict[Place, str]]
    steps: list[dict[str, Tensor]]
    asked: list[list[tuple[dict[int, Any], Any]]]

    @classmethod
    def of(cls, exercise: Exercise) -> "Stored":
        """Run the solution and every mistake of an exercise, and keep what they did.

        Raises ValueError where the machine is too busy for the solution to end in time.
        """
        with as_it_was(), warnings.catch_warnings(action="ignore"):
            cases = exercise._drawn()
            plain = all(map(is_plain, cases))
            right = _outcomes(exercise, exercise.right, cases)
            if any(isinstance(outcome.error, TimeUp) for outcome in right):
                raise ValueError(
                    f"the solution of {exercise.name} ran out of time, twice: this machine is too busy to store what "
                    "it does. Try again when it is not"
                )
            wrong = [Wrong(said, _outcomes(exercise, it, cases)) for said, it in exercise.mistakes]
            each = list(zip(cases, map(exercise._value, right), strict=True))
            how = [_how(exercise, value, case) for case, value in each]
            steps = [_steps(exercise, case) for case in cases]
            is_live = isinstance(exercise, Build)  # compared with a class of the library
            asked = [[] if is_live else _asked(exercise, value, case) for case, value in each]
        return cls(
            cases=list(cases) if plain else None,
            inputs=[] if plain else tensors_in(list(cases)),
            right=None if is_live else right,
            mistakes=wrong,
            how=how,
            steps=steps,
            asked=asked,
        )

    def write(self, path: Path) -> None:
        """Write all of it to a file."""
        pack = _Packer()
        told = {
            "cases": pack(self.cases),
            "inputs": pack(self.inputs),
            "right": self.right and [pack.outcome(outcome) for outcome in self.right],
            "mistakes": [
                [message, [pack.outcome(outcome) for outcome in outcomes]]
                for message, outcomes in self.mistakes
            ],
            "how": pack(self.how),
            "steps": pack(self.steps),
            "asked": pack(self.asked),
        }
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        save_file(pack.tensors, path, metadata={"check": text})

    @classmethod
    def read(cls, path: Path) -> "Stored":
        """What `write` has written."""
        with safetensors.safe_open(path, "pt") as file:
            unpack = _Unpacker([file.get_tensor(str(i)) for i in range(len(file.keys()))])
            told = json.loads(file.metadata()["check"])
        return cls(
            unpack(told["cases"]),
            unpack(told["inputs"]),
            told["right"] and [unpack.outcome(outcome) for outcome in told["right"]],
            [Wrong(m, [unpack.outcome(o) for o in outcomes]) for m, outcomes in told["mistakes"]],
            unpack(told["how"]),
            unpack(told["steps"]),
            unpack(told["asked"]),
        )


def is_plain(value: Any) -> bool:
    """Whether a value comes back from a file as it was."""
    if isinstance(value, Tensor):
        return type(value) is Tensor and not value.is_complex()
    if type(value) is dict:
        return all(map(is_plain, [*value, *value.values()]))
    if type(value) in (*_CONTAINERS.values(), Case):
        return all(map(is_plain, value))
    return type(value) in _PLAIN


def tensors_in(value: Any) -> list[Tensor]:
    """Every tensor of tuples, lists, dictionaries and modules, in order."""
    if isinstance(value, Tensor):
        return [value.detach()]
    if isinstance(value, nn.Module):
        return tensors_in(value.state_dict())
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [x for item in value for x in tensors_in(item)] if isinstance(value, list | tuple) else []
    )


def _outcomes(exercise: Exercise, answer: Answer, cases: Sequence[tuple]) -> list[Outcome]:
    """What an answer makes of the cases; what ran out of time runs once more."""
    outcomes = list(exercise._outcomes(answer, cases))
    late = any(isinstance(outcome.error, TimeUp) for outcome in outcomes)
    return list(exercise._outcomes(answer, cases)) if late else outcomes


def _how(exercise: Exercise, right: Any, case: tuple) -> dict[Place, str]:
    """What is said of each entry of the right answer, where something is."""
    if exercise.how is None:
        return {}
    return {p: text for p in _places(right) if (text := exercise.how(p, *case))}


def _places(value: Any) -> Iterator[Place]:
    """The index of every entry of a tensor, and in a tuple with the tensor's in front."""
    if isinstance(value, Tensor):
        yield from product(*map(range, value.shape))
    elif isinstance(value, tuple):
        yield from ((i, *place) for i, item in enumerate(value) for place in _places(item))


def _steps(exercise: Exercise, case: tuple) -> dict[str, Tensor]:
    """What the names of the solution stood for, {} where it raises."""
    with suppress(Exception):
        return exercise._steps(case)
    return {}


def _asked(exercise: Exercise, wanted: Any, case: tuple) -> list[tuple[dict[int, Any], Any]]:
    """What the right answer gives for the other arguments that are tried of a case."""
    named, again = exercise._named(case), exercise._called_again(exercise.right, case)
    heard: dict[tuple, tuple[Sequence[Any], Any]] = {}

    def right(values: Sequence[Any]) -> Any:
        key = tuple(map(id, values))
        if any(isinstance(x, Tensor) and not x.is_leaf for x in values):
            raise ValueError(
                "a result of other tensors cannot be copied, and an answer gets copies"
            )
        if key not in heard:
            heard[key] = values, again(values)
        return heard[key][1]

    pair, tolerance = (wanted, wanted, named), exercise.tolerance
    relations.by_trying([pair], [right], [right], tolerance)
    relations.of_inputs([pair], [right], tolerance)
    relations.unused([pair], [right], [right], tolerance)
    relations.of_cases([(exercise._conditions(case), right, right)], [()], tolerance)
    others = lambda values: {i: x for i, x in enumerate(values) if x is not named[i][1]}
    return [(others(values), result) for values, result in heard.values()]


def _is_leaf(tensor: Tensor) -> bool:
    """Whether gradients are asked of it."""
    return tensor.requires_grad and tensor.is_leaf


class _Packer:
    """Makes JSON of values, and keeps their tensors."""

    def __init__(self):
        self.tensors: dict[str, Tensor] = {}
        self._known: dict[tuple, int] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Tensor) and not value.is_complex():
            return {"leaf" if _is_leaf(value) else "tensor": self._number(value)}
        if isinstance(value, Case):
            return {"case": [self(item) for item in value]}
        if isinstance(value, Seen):
            return {"seen": [self(value.out), self(value.gradients)]}
        if isinstance(value, dict):
            return {"dict": [[self(key), self(item)] for key, item in value.items()]}
        if type(value) in _CONTAINERS.values():
            return {type(value).__name__: [self(item) for item in value]}
        if type(value).__module__ == "torch.return_types":
            return {"torch": [type(value).__name__, [self(item) for item in value]]}
        return value if type(value) in _PLAIN else {"thing": None}

    def outcome(self, outcome: Outcome) -> Any:
        packed = {"value": self(outcome.value)} if outcome.error is None else {}
        if outcome.error is not None:
            packed["error"] = [type(outcome.error).__name__, self(outcome.error.args)]
        return packed | ({"changed": outcome.changed} if outcome.changed else {})

    def _number(self, tensor: Tensor) -> int:
        tensor = tensor.detach().cpu().contiguous().clone()
        key = tensor.dtype, tuple(tensor.shape), tensor.numpy().tobytes()
        if key not in self._known:
            self._known[key] = len(self._known)
            self.tensors[str(self._known[key])] = tensor
        return self._known[key]


class _Unpacker:
    """Makes values of what `_Packer` has made."""

    def __init__(self, tensors: Sequence[Tensor]):
        self.tensors = tensors

    def __call__(self, packed: Any) -> Any:
        if not isinstance(packed, dict):
            return packed
        ((kind, inner),) = packed.items()
        if kind == "tensor":
            return self.tensors[inner]
        if kind == "leaf":
            return self.tensors[inner].clone().requires_grad_()
        if kind == "case":
            return Case(*map(self, inner))
        if kind == "seen":
            return Seen(*map(self, inner), [])
        if kind == "dict":
            return {self(key): self(item) for key, item in inner}
        if kind == "torch":
            return getattr(torch.return_types, inner[0])([self(item) for item in inner[1]])
        return _CONTAINERS[kind](map(self, inner)) if kind in _CONTAINERS else Thing()

    def outcome(self, packed: dict[str, Any]) -> Outcome:
        changed = tuple(packed.get("changed", ()))
        if "error" not in packed:
            return Outcome(self(packed["value"]), changed=changed)
        name, args = packed["error"]
        kind = _ERRORS.get(name) or getattr(builtins, name, Exception)
        return Outcome(error=kind(*self(args)), changed=changed)
