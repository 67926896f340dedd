"""Exercises whose answer is a class: it gets the reference's weights by name, and runs beside it.

What differs is said in words: weights that do not fit, a known mistake, or the first part that
hears something else than the reference's.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transformer_lib.exercises.checking import relations
from transformer_lib.exercises.checking.comparing import describe, same
from transformer_lib.exercises.checking.machinery import GAP, Exercise, Trial, is_gap, is_stub
from transformer_lib.exercises.checking.running import Answer, Calls, Outcome, as_it_was
from transformer_lib.exercises.checking.telling import difference
from transformer_lib.exercises.checking.verdict import Paper, Verdict, smallness
from transformer_lib.exercises.checking.weights import Misfit, copy_weights, randomised

_USED = ("__init__", "forward")  # by the check
ROUNDING = 1e-4  # two threads may add in another order the second time; dropout changes far more
NO_RATE = "Dropout: yours drops, and this class has no dropout. Take it out."
UNSTEADY = {
    True: "Dropout: yours drops although the rate is 0. Is the rate handed on to every part?",
    False: "Dropout: yours drops in eval() too. `nn.Dropout` knows the mode; `F.dropout` has to be told: "
    "`training=self.training`.",
}
NOTHING = "`{}` gives None. Is the last line of its `forward` a `return`?"
TOO_MANY = "Dropout: `{}` drops, and nothing is to be dropped there. Take it out."
BY_FUNCTION = (
    "Dropout: yours drops although the rate is 0, and no `nn.Dropout` does it. Is there an `F.dropout`{} with a rate "
    "of its own? Hand the rate on to it; or take it out, if `nn.Dropout` drops the same again."
)
BETWEEN = " Between lie the scores, the mask and the softmax."
ANEW = (
    "`nn.{}` is made anew in every call of `forward`: with other random weights each time, which no "
    "optimizer ever finds. Make it once, in `__init__`, and call it in `forward`."
)


class Case(NamedTuple):
    """One use of a class: how it is built, what goes in, and in which mode it runs.

    `about` completes "it is wrong …": with a causal mask. Of a `random` case only whether two runs
    differ counts.
    """

    about: str
    sizes: tuple
    options: dict[str, Any]
    inputs: tuple
    training: bool = False
    random: bool = False


@dataclass
class Seen:
    """What one use gave: the output, the gradients by name, and what each part heard and said."""

    out: Tensor
    gradients: dict[str, Tensor]
    heard: list[tuple[str, list[Tensor], Any]]
    composed: frozenset[str] = frozenset()  # the parts that have parts: nobody listens to them

    def compared(self) -> tuple[Tensor, ...]:
        """What has to be the same in two classes."""
        return (self.out, *self.gradients.values())


@dataclass
class Build(Exercise):
    """An exercise whose answer is a class with the weights of `reference`, a class of the library.

    `twin` gives torch's output for a reference and its inputs, None where torch has none. `newborn`
    says what is wrong with a fresh answer: the numbers it begins with, or how much it drops. A solution
    may use `needs`, what stands above it in its cell. `cures` are patterns of what an error, or what keeps
    the weights away, may say, each with what is said instead, in which `\\1` is a group of the pattern.
    """

    reference: Callable[..., nn.Module] = field(kw_only=True)
    twin: Callable[..., Tensor | None] = field(kw_only=True)
    newborn: Callable[[nn.Module], str | None] = field(default=lambda model: None, kw_only=True)
    needs: tuple[Callable[..., Any], ...] = field(default=(), kw_only=True)
    cures: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    @property
    def right(self) -> Answer:
        """The library's class: a solution may be built on parts of the student's."""
        return self.reference

    def source(self) -> str:
        """The solution as one would type it, with what it needs above it."""
        classes = (*self.needs, self.solutions[0])
        sources = [inspect.getsource(c).rstrip() for c in classes]
        return "\n\n\n".join("\n".join(_undecorated(source)) for source in sources)

    def _judge(self, answer: Any) -> Verdict:
        if not inspect.isclass(answer):
            return Verdict(
                "error",
                f"Give `check` the class itself, `{self.name}`, not an object made from it.",
            )
        if is_untouched(answer):
            return Verdict("empty", "Not attempted yet: the class is still empty.")
        with as_it_was():
            cases = self._drawn()
            verdict = self._verdict(answer, self._given_to(answer, cases), cases)
            if not verdict.passed:
                return verdict
            if called := self._borrowed(answer, cases):
                return Verdict("mistake", f"Right, but it calls {called}: write it yourself here.")
            if fault := self.newborn(answer(*cases[0].sizes, **cases[0].options)):
                return Verdict("mistake", fault)
            return verdict

    def _use(self, answer: Answer) -> Answer:
        return lambda *case: used(answer, self.reference, Case(*case))

    @property
    def _watched(self) -> Sequence[str]:
        return ()

    def _heard(self, answer: Answer, cases: Sequence[Case]) -> Calls:
        calls = super()._heard(answer, cases)
        for name in [name for name in calls.heard if name.endswith(".__init__")]:
            del calls.heard[name]  # what is compared with is made too, and never run
        return calls

    def _verdict(self, answer: Answer, got: Sequence[Outcome], cases: Sequence[Case]) -> Verdict:
        for outcome in got:
            if isinstance(outcome.error, Misfit):
                kind = "mistake" if outcome.error.attempted else "empty"
                return Verdict(kind, self._cure(outcome) or str(outcome.error))
            if is_gap(outcome):
                return Verdict("empty", GAP)
        verdict = super()._verdict(answer, got, cases)
        otherwise = self._torch_says_otherwise(got, cases) if verdict.passed else None
        return otherwise or verdict

    def _misplaced(self, answer: Answer) -> str:
        """What is said to a `forward` in which an argument stands at another one's place."""
        own, right = _arguments(answer), _arguments(self.solutions[0])
        if all(right[i : i + 1] == [name] for i, name in enumerate(own) if name in right):
            return ""
        return (
            f"The arguments of your `forward` stand in other places: it is called as `{self._call}`, and yours is "
            f"written as `forward({', '.join(own)})`."
        )

    def _cure(self, outcome: Outcome) -> str:
        """What is said to an error of this text, "" where nothing is known of it."""
        text = "" if outcome.error is None else str(outcome.error)
        found = ((re.search(pattern, text), cure) for pattern, cure in self.cures)
        return next((match.expand(cure) for match, cure in found if match), "")

    def _said(self, trial: Trial) -> tuple[str, str, int]:
        i = trial.wrong[0]
        told = self._misplaced(trial.answer) or self._cure(trial.got[i])
        return ("mistake", told, i) if told else super()._said(trial)

    def _torch_says_otherwise(
        self, got: Sequence[Outcome], cases: Sequence[Case]
    ) -> Verdict | None:
        for outcome, case in zip(got, cases, strict=True):
            model = randomised(self.reference, case.sizes, case.options).train(case.training)
            torchs = None if case.random else self.twin(model, *case.inputs)
            if torchs is not None and not same(outcome.value.out, torchs, self.tolerance):
                return Verdict("different", f"As the library's, but not as torch's {case.about}.")
        return None

    def _difference(self, trial: Trial) -> str:
        """The first use that goes wrong, and the first part that hears something else there."""
        answer, i = trial.answer, trial.wrong[0]
        outcome, wanted, case = trial.got[i], trial.right[i], trial.cases[i]
        called = f"`{self.name}`"
        given = ", ".join(map(describe, case.inputs))
        if not isinstance(outcome.value, Seen):
            plain = Outcome(wanted.value.out)
            called += f" ({case.about})"
            said = difference(outcome, plain, called, given, self.tolerance, self.seconds, answer)
            own = tuple(f"{kind.__qualname__}.{m}()" for kind in answer.__mro__ for m in _USED)
            is_usage = isinstance(outcome.error, TypeError) and str(outcome.error).startswith(own)
            return said + self._usage if is_usage else said
        if case.random:
            return f"{called} gives the same twice {case.about}. Where is the dropout?"
        if same(outcome.value.out, wanted.value.out, self.tolerance):
            return _of_gradients(outcome.value, wanted.value, self.tolerance)
        ours, theirs = Outcome(outcome.value.out), Outcome(wanted.value.out)
        said = difference(ours, theirs, called, given, self.tolerance, self.seconds)
        return f"{said} {where_they_part(outcome.value, wanted.value, self.tolerance)[0]}"

    def _relation(self, trial: Trial) -> str | None:
        """The output's to the right one; else that of the first part that hears something else."""
        got, right, cases, wrong = trial[1:]
        wrong = [i for i in wrong if not cases[i].random]
        seen = [(got[i].value, right[i].value) for i in wrong]
        if not all(isinstance(ours, Seen) for ours, _ in seen) or not seen:
            return super()._relation(trial._replace(wrong=wrong) if wrong else trial)
        wrong = [
            i
            for i, (a, b) in zip(wrong, seen, strict=True)
            if not same(a.out, b.out, self.tolerance)
        ]
        seen = [(got[i].value, right[i].value) for i in wrong]
        if not seen:  # only gradients differ
            return None
        if found := super()._relation(trial._replace(wrong=wrong)):
            where = where_they_part(*seen[0], self.tolerance)[0]
            is_whole = where in found or found.startswith("This is the right answer")
            return found if is_whole else f"{found} {where}"
        parted = [where_they_part(*both, self.tolerance) for both in seen]
        if any(pair is None for _, pair in parted):
            return None
        found = relations.between([(*pair, ()) for _, pair in parted], self.tolerance)
        return found and f"{parted[0][0]} There {_within(found)}"

    def _value(self, outcome: Outcome) -> Any:
        return outcome.value.out if isinstance(outcome.value, Seen) else outcome.value

    def _with(self, case: Case, values: Sequence[Any]) -> Case:
        return case._replace(inputs=tuple(values[: len(case.inputs)]))

    def _named(self, case: Case) -> list[tuple[str, Any]]:
        return list(zip(_arguments(self.solutions[0]), case.inputs, strict=False))

    def _conditions(self, case: Case) -> list[tuple[str, Any]]:
        modes = {k: v for k, v in case.options.items() if isinstance(v, bool)}
        return [*self._named(case), *modes.items(), ("self.training", case.training)]

    def _steps(self, case: Case) -> dict[str, Any]:
        return {}

    def _paper(self, got: Outcome, wanted: Outcome, case: Case) -> Paper:
        paper = super()._paper(got, wanted, case)
        made = ", ".join(map(_told_apart, case.sizes))
        paper = replace(paper, about=f"`{self.name}({made})`, {case.about}")
        if case.random or not all(isinstance(o.value, Seen) for o in (got, wanted)):
            return paper
        if same(paper.yours, paper.wanted, self.tolerance):
            return replace(paper, how=_of_gradients(got.value, wanted.value, self.tolerance))
        parted = where_they_part(got.value, wanted.value, self.tolerance)[0]
        return replace(paper, how=f"Step by step: {parted[0].lower()}{parted[1:]}")

    def _size(self, case: Case) -> int:
        return smallness(case.inputs)

    def _told(self, case: Case) -> str:
        return ", ".join(describe(x) for x in case.inputs) + f" ({case.about})"

    def _names(self) -> dict[str, Any]:
        """As at hand in the solution, but with the library's parts: they stay as they are."""
        names = dict(super()._names())
        return names | {"mine": names["mine"].of_the_library} if "mine" in names else names

    @property
    def _called(self) -> str:
        return f"`{self.name}`"

    @property
    def _call(self) -> str:
        signature = str(inspect.signature(self.solutions[0].forward))
        return f"forward{signature.replace('(self, ', '(')}"

    @property
    def _usage(self) -> str:
        made = inspect.signature(self.solutions[0])
        return f" It is made as `{self.name}{made}` and called as `{self._call}`."

    def _joins(self, wrong: Any) -> bool:
        return True

    def _joined(self, one: Any, other: Any) -> Answer | None:
        """Also of two classes that do otherwise in different methods."""
        classes = inspect.isclass(one), inspect.isclass(other)
        if not any(classes):
            return super()._joined(one, other)
        if not all(classes) or _methods(one) & _methods(other):
            return None
        if (one, other) not in self._made:
            self._made[one, other] = type("Both", (one, other), {})
        return self._made[one, other]

    def _alike(self, a: Outcome, b: Outcome) -> bool:
        if isinstance(a.value, Seen) and isinstance(b.value, Seen):
            return same(a.value.compared(), b.value.compared(), self.tolerance)
        return a.like(b, self.tolerance)


def used(answer: Answer, reference: Callable[..., nn.Module], case: Case) -> Any:
    """What `answer` gives with the reference's weights; raises Misfit if it cannot have them."""
    weights = _weights(reference, case)
    model = answer(*case.sizes, **case.options)
    has_choices = bool(case.options) or is_dataclass(case.sizes[0])
    has_rate = "dropout" in case.options or is_dataclass(case.sizes[0])
    copy_weights(weights, model, case.about if has_choices else "")
    model.train(case.training)
    leaves = [x.clone().requires_grad_() if _flows(x) else x for x in case.inputs]
    given = [x.clone() if isinstance(x, Tensor) else x for x in leaves]
    with _Listening(model) as heard:
        out = model(*given)
    if not isinstance(out, Tensor):
        return out
    for before, after in zip(leaves, given, strict=True):
        if isinstance(before, Tensor) and not torch.equal(before, after):
            raise Misfit(
                "It changes its input: write `x = x + …`, which makes a new x, not `x += …`."
            )
    varies = not same(out, model(*given), ROUNDING)
    if case.random:
        return Seen(torch.tensor(varies), {}, [])
    if varies:
        if made := _made_anew(model, given):
            raise Misfit(ANEW.format(made))
        if case.training and has_rate:
            raise Misfit(_drops(model, reference(*case.sizes, **case.options), given))
        raise Misfit(UNSTEADY[False] if has_rate else NO_RATE)
    composed = frozenset(name for name, part in model.named_modules() if list(part.children()))
    learned = dict(model.named_parameters(remove_duplicate=False))
    learned |= {f"input {i + 1}": x for i, x in enumerate(leaves) if _flows(x)}
    order = [*(key for key in weights if key in learned), *(k for k in learned if k not in weights)]
    gradients = _gradients(out, {key: learned[key] for key in order})
    return Seen(out.detach(), gradients, heard, composed)


def _weights(reference: Callable[..., nn.Module], case: Case) -> dict[str, Tensor]:
    """The weights of a reference of this size; drawn once."""
    key = reference, repr(case.sizes), repr(case.options)
    if key not in _DRAWN:
        _DRAWN[key] = randomised(reference, case.sizes, case.options).state_dict()
    return _DRAWN[key]


_DRAWN: dict[tuple, dict[str, Tensor]] = {}


def _made_anew(model: nn.Module, given: Sequence[Any]) -> str:
    """The layer of torch that one call of the model makes, "" if it makes none."""
    with Calls() as calls:
        model(*given)
    made = (name.removesuffix(".__init__") for name in calls.heard if name.endswith(".__init__"))
    return next((name for name in made if name != "Module" and hasattr(nn, name)), "")


def _drops(model: nn.Module, right: nn.Module, given: Sequence[Any]) -> str:
    """What is said to dropout at a rate of 0: whether it has a place there, and in which part."""
    dropouts = [name for name, part in right.named_modules() if isinstance(part, nn.Dropout)]
    has_one = {name.rpartition(".")[0] for name in dropouts} | {""}
    name = next(iter(dropping(model, *given)), "")
    is_part = isinstance(model.get_submodule(name), nn.Dropout)
    owner = name.rpartition(".")[0] if is_part else name
    if owner not in has_one and owner in dict(right.named_modules()):
        return TOO_MANY.format(name)
    if not is_part:
        return BY_FUNCTION.format(f" in `{name}`, or in what it calls," if name else "")
    return UNSTEADY[True]


def dropping(model: nn.Module, *given: Any) -> list[str]:
    """The parts that say two things to one input, in order of their answers; the innermost alone.

    Each is called again on what it has heard, so that what drops before it does not matter.
    """
    found, asked_again = [], []

    def hear(part, inputs, options, out, name):
        if asked_again or any(f"{inner}.".startswith(f"{name}.") for inner in found):
            return
        asked_again.append(name)
        again = part.forward(*inputs, **options)
        asked_again.clear()
        if not same(out, again, ROUNDING):
            found.append(name)

    parts = [(name, part) for name, part in model.named_modules() if name]
    hooks = [
        part.register_forward_hook(partial(hear, name=name), with_kwargs=True)
        for name, part in parts
    ]
    try:
        model(*given)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _gradients(out: Tensor, of: dict[str, Tensor]) -> dict[str, Tensor]:
    """The gradient of one fixed sum of the outputs; 0 where none flows."""
    if not out.requires_grad:
        return {name: torch.zeros_like(x) for name, x in of.items()}
    weights = torch.linspace(-1, 1, out.numel()).view(out.shape)
    found = torch.autograd.grad((out * weights).sum(), list(of.values()), allow_unused=True)
    pairs = zip(of.items(), found, strict=True)
    return {name: torch.zeros_like(x) if g is None else g for (name, x), g in pairs}


class _Listening:
    """Hears every part without parts of its own, in the order in which they answer.

    A part that answers None raises Misfit.
    """

    def __init__(self, model: nn.Module):
        self.model, self.hooks = model, []

    def __enter__(self) -> list[tuple[str, list[Tensor], Any]]:
        heard = []
        for name, part in self.model.named_modules():
            plain = not list(part.children()) and not isinstance(part, nn.Dropout | nn.Identity)

            def hear(part, inputs, out, name=name, kept=plain):
                if out is None and name:
                    raise Misfit(NOTHING.format(name))
                said = out.detach() if _is(out) else out
                if kept:
                    heard.append((name, [x.detach() for x in inputs if _is(x)], said))

            self.hooks.append(part.register_forward_hook(hear))
        return heard

    def __exit__(self, *error) -> None:
        for hook in self.hooks:
            hook.remove()


def where_they_part(
    ours: Seen, theirs: Seen, tolerance: float
) -> tuple[str, tuple[Tensor, Tensor] | None]:
    """The first of the reference's parts that in ours hears or says something else, and what."""
    calls: dict[str, list] = {}
    for name, inputs, out in ours.heard:
        calls.setdefault(name, []).append((inputs, out))
    right, before = [], ""
    asked = [heard for heard in theirs.heard if heard[0] not in ours.composed]
    if idle := next((name for name, *_ in asked if name not in calls), ""):
        return f"`{idle}` is never called.", None
    for name, inputs, out in asked:
        if not calls[name]:
            return f"`{name}` is called too seldom.", None
        own_inputs, own_out = calls[name].pop(0)
        if not same(own_inputs, inputs, tolerance):
            pair = (own_inputs[0], inputs[0]) if len(own_inputs) == len(inputs) == 1 else None
            between = BETWEEN if right and name.endswith("out_proj") else ""
            return f"{before}What goes into `{name}` is wrong.{between}", pair
        if not same(own_out, out, tolerance):
            return (
                f"{before}What goes into `{name}` is right, what comes out is not.",
                (own_out, out),
            )
        right.append(f"`{name}`")
        before = (
            f"All is right up to `{name}`. " if len(right) > 3 else f"Right: {', '.join(right)}. "
        )
    return f"{before}What happens after that is not.", (ours.out, theirs.out)


def _within(found: str) -> str:
    """A relation within a sentence."""
    found = f"yours is right, {found[7:]}" if found.startswith("Right, ") else found
    return found[0].lower() + found[1:]


def is_untouched(answer: type) -> bool:
    """Whether neither a class nor a student's class below it has a method that does anything."""
    written = (kind for kind in answer.__mro__ if kind is not object and not _is_torchs(kind))
    return all(is_stub(f) for kind in written for f in vars(kind).values() if inspect.isfunction(f))


def _is_torchs(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "torch"


def _of_gradients(ours: Seen, theirs: Seen, tolerance: float) -> str:
    name = next(
        name
        for name, gradient in theirs.gradients.items()
        if not same(ours.gradients.get(name), gradient, tolerance)
    )
    lost = not ours.gradients[name].any() and theirs.gradients[name].any()
    how = "No gradient comes to" if lost else "Another gradient than the library's comes to"
    return (
        f"The output is right. {how} `{name}`: is something detached, copied, computed under "
        "`no_grad()`, or shared that should not be?"
    )


def _told_apart(size: Any) -> str:
    """A size, or of a configuration the sizes that are not the usual ones."""
    if not is_dataclass(size):
        return repr(size)
    usual = {f.name: f.default for f in fields(size)}
    own = (
        f"{name}={getattr(size, name)!r}" for name, x in usual.items() if getattr(size, name) != x
    )
    return f"{type(size).__name__}({', '.join(own)})"


def _methods(of: type) -> set[str]:
    """The names of the functions that it defines itself."""
    return {name for name, thing in vars(of).items() if inspect.isfunction(thing)}


def _arguments(of: type) -> list[str]:
    """What its `forward` is given, by name."""
    return list(inspect.signature(of.forward).parameters)[1:]


def _undecorated(source: str) -> list[str]:
    return [line for line in source.splitlines() if not line.startswith("@")]


def _is(x: Any) -> bool:
    return isinstance(x, Tensor)


def _flows(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()
