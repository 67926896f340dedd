"""How an exercise is written down, and how an answer to it is judged: by what it does.

An exercise lists the mistakes people make as functions that make them, or as edits of its solution. An
answer that behaves like one of them in every case in which it goes wrong gets that mistake's sentence;
so a new diagnosis is a new wrong answer, and nothing else. Where none fits, what relation the answer has
to the right one is said (`relations`), and always the smallest case in which it fails is shown.
"""

import dis
import inspect
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from transformer_lib.base.report import progress_bar
from transformer_lib.exercises.checking import relations, running
from transformer_lib.exercises.checking.comparing import describe, said
from transformer_lib.exercises.checking.edits import Edit, edited, made, parse
from transformer_lib.exercises.checking.running import (
    Answer,
    Calls,
    Outcome,
    TimeUp,
    as_it_was,
    run,
)
from transformer_lib.exercises.checking.telling import difference
from transformer_lib.exercises.checking.verdict import (
    Paper,
    Verdict,
    first_difference,
    smallness,
)

_AT_ONCE = 100  # pairs of mistakes that are run in one thread
_RANDOM = {  # torch's functions, by their names
    *("rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm"),
    *("bernoulli", "bernoulli_", "multinomial", "uniform_", "random_", "normal_"),
}
GAP = "Not attempted yet: a `...` of the skeleton is still open."


@dataclass
class Known:
    """What every check of an exercise needs again: the cases, and what others made of them."""

    cases: Sequence[tuple] | None = None
    outcomes: dict[tuple[Answer, int], Outcome] = field(default_factory=dict)
    source: str = ""


class Trial(NamedTuple):
    """An answer, what it and the right one made of the cases, and which of these went wrong."""

    answer: Answer
    got: Sequence[Outcome]
    right: Sequence[Outcome]
    cases: Sequence[tuple]
    wrong: Sequence[int]


@dataclass
class Exercise:
    """A task with its cases, hints, solutions, and the answers that people give instead.

    The cases are what an answer is judged by. `cases()` makes the arguments of each call, the first of
    them so small that one can work it on paper. The hints go from why to how. `gaps` are the expressions
    of the solution that the skeleton leaves open, `sections` the headings to go back to. `how(place,
    *case)` says in one line of arithmetic how an entry of the right answer comes about. `name` is the
    solution's, and the stub's in the lesson. `seconds` is how long an answer may take, `SECONDS` if None.
    `without` are words, such as softmax: no function of torch, of d2l or of this library whose name has
    one of them may be called. `draws` is what is said to an answer that draws numbers at random, where
    nothing is to be drawn. `pairs` says whether two mistakes at once are looked for; where all add up
    to one number, many a two give it.
    """

    withheld: ClassVar[bool] = False  # whether a hand-out leaves its solutions out

    task: str
    cases: Callable[[], Sequence[tuple]]
    hints: Sequence[str]
    passed: str = ""  # what to think about next, once it is right
    tolerance: float = 1e-4
    seconds: float | None = None
    without: tuple[str, ...] = ()
    draws: str = ""
    gaps: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()  # to go back to: "03 What is left of the distance?"
    how: Callable[..., str] | None = None
    pairs: bool = True
    solutions: list[Answer] = field(default_factory=list)
    _mistakes: list[tuple[str, Answer | Edit]] = field(default_factory=list)
    _made: dict[tuple[Edit, ...], Answer | None] = field(default_factory=dict, repr=False)
    _known: Known = field(default_factory=Known, init=False, repr=False)

    def solution(self, answer: Answer) -> Answer:
        """File a solution; the one that students are shown comes first.

        A second one, written differently, proves that the check judges what an answer does.
        """
        self.solutions.append(answer)
        return answer

    def mistake(self, message: str) -> Callable[[Answer], Answer]:
        """An answer that people give, and what a good teacher says to it."""

        def add(answer: Answer) -> Answer:
            self._mistakes.append((message, answer))
            return answer

        return add

    def edits(self, text: str) -> None:
        """Answers that people give, as edits of the solution (`checking.edits`)."""
        self._mistakes += parse(text)

    @property
    def mistakes(self) -> list[tuple[str, Answer]]:
        """Every wrong answer, and what is said to it."""
        return [(message, self._answer(wrong)) for message, wrong in self._mistakes]

    @property
    def name(self) -> str:
        return self.solutions[0].__name__

    @property
    def right(self) -> Answer:
        """What an answer is compared with."""
        return self.solutions[0]

    @property
    def parameters(self) -> list[str]:
        return list(inspect.signature(self.solutions[0]).parameters)

    def source(self) -> str:
        """The solution as one would type it: without the line that files it here."""
        lines = textwrap.dedent(inspect.getsource(self.solutions[0])).splitlines()
        return "\n".join(line for line in lines if not line.startswith("@"))

    def skeleton(self) -> str:
        """The solution with a `...` for each of its gaps; its comments and its shapes are left."""
        lines = []
        for line in self.source().splitlines():
            code, mark, comment = line.partition("# ")
            for gap in self.gaps:
                code = code.replace(gap, "...")
            lines.append(code + mark + comment)
        return "\n".join(lines)

    @property
    def told(self) -> dict[str, Any]:
        """What a tutor may know: all but the code of solutions and of wrong answers."""
        return {
            "called": self._called.strip("`"),
            "task": self.task,
            "hints": list(self.hints),
            "mistakes": list(dict.fromkeys(message for message, _ in self._mistakes)),
            "sections": list(self.sections),
        }

    def judge(self, answer: Any) -> Verdict:
        """Passed, not attempted, or what is wrong with it, whatever the answer does."""
        try:
            return self._judge(answer)
        except Exception as error:  # an answer may return anything, also what cannot be compared
            return Verdict("error", f"This could not be judged: {said(error)}")

    def _judge(self, answer: Any) -> Verdict:
        if not callable(answer):
            return Verdict(
                "error", f"Give `check` the function itself, `{self.name}`, not what it returned."
            )
        if is_stub(answer):
            return Verdict("empty", "Not attempted yet: the function is still empty.")
        if has_open_gap(answer):
            return Verdict("empty", GAP)
        with as_it_was():
            cases = self._drawn()
            got = self._given_to(answer, cases)
            if all(_by_hand(outcome.error, answer) for outcome in got):
                return Verdict("empty", "Not attempted yet: it raises NotImplementedError.")
            if any(map(is_gap, got)):
                return Verdict("empty", GAP)
            verdict = self._verdict(answer, got, cases)
            failed = verdict.kind == "error" and not _times_up(got)
            if (verdict.passed or failed) and (called := self._borrowed(answer, cases)):
                start = "Right, but it" if verdict.passed else "It"
                told = f"{start} calls {called}: write it yourself here."
                return replace(verdict, kind="mistake", message=told)
            if verdict.passed and (whole := self._should_be_whole(got, cases)):
                return Verdict("mistake", whole)
            return verdict

    def _should_be_whole(self, got: Sequence[Outcome], cases: Sequence[tuple]) -> str:
        """What is said to a float where every right answer is an int; "" to others."""
        right = [outcome.value for outcome in self._outcomes(self.right, cases)]
        floats = [outcome.value for outcome in got if isinstance(outcome.value, float)]
        if not floats or any(type(value) is not int for value in right):
            return ""
        return (
            f"Right, but {float(floats[0])} is a float, and a whole number is wanted: `/` gives floats, `//` "
            "integers."
        )

    def _borrowed(self, answer: Answer, cases: Sequence[tuple]) -> str:
        """What the answer calls although it should write it; "" if nothing."""
        heard, own = self._heard(answer, cases).heard, _codes(answer)
        solutions = set().union(*map(_codes, self.solutions))
        if answer not in self.solutions and solutions.intersection(heard.values()):
            return "the course's solution"
        names = (
            name for name, code in heard.items() if not (code in own or _is_of_the_course(code))
        )
        found = (name for name in names if any(word in name for word in self.without))
        plain = (name.removesuffix(".forward").removesuffix(".__init__") for name in found)
        return next((f"`{name}`" for name in plain), "")

    def heard(self, answer: Answer) -> dict[str, Any]:
        """The functions of torch and of libraries that an answer calls, with their code."""
        with as_it_was():
            return self._heard(answer, self._drawn()).heard

    def _heard(self, answer: Answer, cases: Sequence[tuple]) -> Calls:
        """Which functions of torch and of the libraries the answer calls."""
        calls, use = Calls(), self._use(answer)

        def listened(*given):
            with calls:
                return use(*given)

        run(listened, cases, (), self.seconds)
        return calls

    def _use(self, answer: Answer) -> Answer:
        """What is called with the arguments of a case."""
        return answer

    @property
    def _watched(self) -> Sequence[str]:
        """The arguments that a call has to leave as they are."""
        return self.parameters

    def _run(self, answer: Answer, cases: Sequence[tuple]) -> list[Outcome]:
        return run(self._use(answer), cases, self._watched, self.seconds)

    def _run_each(self, answers: Sequence[Answer], case: tuple) -> list[Outcome]:
        """What several answers make of one case."""
        each = [(answer, *case) for answer in answers]
        use = lambda answer, *given: self._use(answer)(*given)
        return run(use, each, ("", *self._watched), self.seconds)

    def _verdict(self, answer: Answer, got: Sequence[Outcome], cases: Sequence[tuple]) -> Verdict:
        right = list(self._outcomes(self.right, cases))
        wrong = [i for i in range(len(cases)) if not self._alike(got[i], right[i])]
        if not wrong:
            return Verdict("passed", " ".join(["Passed.", self.passed]).rstrip())
        wrong.sort(key=lambda i: (self._only_changed(got[i], right[i]), i and self._size(cases[i])))
        kind, message, i = self._said(Trial(answer, got, right, cases, wrong))
        return Verdict(kind, message, self._paper(got[i], right[i], cases[i]))

    def _said(self, trial: Trial) -> tuple[str, str, int]:
        """The kind of what is wrong, the sentences, and the case that shows it."""
        _, got, right, cases, wrong = trial
        if late := [i for i in wrong if _times_up([got[i]])]:  # and so would every further call
            return "error", self._difference(trial._replace(wrong=late)), late[0]
        if self.draws and not _RANDOM.isdisjoint(self._heard(trial.answer, cases).heard):
            return "mistake", self.draws, wrong[0]
        if found := self._known_mistake(got, cases, wrong):
            return "mistake", *found
        if all(got[i].value is None and got[i].error is None for i in wrong):
            return "mistake", self._difference(trial), wrong[0]
        if all(self._only_changed(got[i], right[i]) for i in wrong):
            return "different", self._difference(trial), wrong[0]
        with warnings.catch_warnings(action="ignore"):  # other inputs than were meant
            message = self._relation(trial)
        if message or (message := self._mistake_turned(got, cases, wrong)):
            return "relation", message, wrong[0]
        kind = "error" if got[wrong[0]].error is not None else "different"
        return kind, self._difference(trial), wrong[0]

    def _known_mistake(
        self, got: Sequence[Outcome], cases: Sequence[tuple], wrong: Sequence[int]
    ) -> tuple[str, int] | None:
        """What is said to the mistake, or the two, that an answer makes, and a case that shows it.

        A mistake that is made in some cases only, as in one mode, is known by those that fail. Two at once
        are known by numbers: many things raise the same error.
        """
        in_part = []
        self._made_of([answer for _, answer in self.mistakes], cases, wrong[0])
        for message, mistake in self._mistakes:
            agreed, by_numbers = self._agreeing(got, self._answer(mistake), cases, wrong)
            if agreed == len(cases):
                return message, wrong[0]
            if agreed and by_numbers:
                in_part.append((agreed, message))
        has_numbers = any(got[i].value is not None for i in wrong)
        pairs = self._pairs(got, cases) if self.pairs and has_numbers else iter(())
        while some := list(islice(pairs, _AT_ONCE)):
            self._made_of([both for _, both, _ in some], cases, wrong[0])
            for message, both, shown_in in some:
                agreed, by_numbers = self._agreeing(got, both, cases, wrong)
                if agreed == len(cases) and by_numbers:
                    return message, next((i for i in wrong if i in shown_in), wrong[0])
        if in_part:
            message = max(in_part, key=lambda found: found[0])[1]
            return f"{message} (It shows in {len(wrong)} of the {len(cases)} cases.)", wrong[0]
        return None

    def _mistake_turned(
        self, got: Sequence[Outcome], cases: Sequence[tuple], wrong: Sequence[int]
    ) -> str | None:
        """A mistake, and the same numbers at other places or with another sign besides."""
        for message, mistake in self.mistakes:
            theirs = list(self._outcomes(mistake, cases, wrong))
            both = [*theirs, *(got[i] for i in wrong)]
            if any(outcome.error is not None or outcome.value is None for outcome in both):
                continue
            pairs = [
                (self._value(got[i]), self._value(outcome), self._named(cases[i]))
                for i, outcome in zip(wrong, theirs, strict=True)
            ]
            if found := relations.turned(pairs, self.tolerance):
                then = found[0].lower() + found[1:]
                return f"Two things at once. (1) {message} (2) Once that is mended: {then}"
        return None

    def _agreeing(
        self, got: Sequence[Outcome], other: Answer, cases: Sequence[tuple], wrong: Sequence[int]
    ) -> tuple[int, bool]:
        """In how many cases two answers do the same, and whether numbers are among what they share.

        (0, False) unless they do so in all cases that are wrong. Two that both fail are alike whatever
        the errors say, if somewhere else the two give the same numbers: one mistake fails differently
        in another's attention.
        """
        agreed, exactly, by_numbers = 0, True, False
        for i in [*wrong, *(i for i in range(len(cases)) if i not in wrong)]:
            (outcome,) = self._outcomes(other, cases, [i])
            alike, both_fail = self._alike(got[i], outcome), _both_fail(got[i], outcome)
            if i in wrong and not (alike or both_fail):
                return 0, False
            agreed += alike or both_fail
            if i in wrong:
                exactly &= alike
                by_numbers |= alike and not both_fail and not _has_nan(self._value(outcome))
        return (agreed, by_numbers) if exactly or by_numbers else (0, False)

    def _pairs(
        self, got: Sequence[Outcome], cases: Sequence[tuple]
    ) -> Iterator[tuple[str, Answer, set[int]]]:
        """Answers that make two of the mistakes and may be this one.

        Where one of the two changes nothing, the answer should do as the other does; in one case the
        two may meet and do otherwise, and such pairs come last. With each comes where both change
        something.
        """
        right = list(self._outcomes(self.right, cases))
        joining = [self._answer(w) for _, w in self._mistakes if self._joins(w)]
        for i in progress_bar(range(len(cases)), desc="the first time: known mistakes", delay=1):
            self._made_of(joining, cases, i)
        single = [
            (message, wrong, self._where(right, wrong, cases), self._where(got, wrong, cases))
            for message, wrong in self._mistakes
            if self._joins(wrong)
        ]
        simplest_first = sorted(combinations(single, 2), key=lambda pair: _changed(*pair))
        for allowed in (0, 1):
            for (one, a, idle, ours), (two, b, other_idle, other_ours) in simplest_first:
                against = (idle - other_ours) | (other_idle - ours)
                may_be = one != two and len(against) == allowed
                if may_be and (both := self._joined(a, b)):
                    effective = set(range(len(cases))) - idle - other_idle
                    yield f"Two things at once. (1) {one} (2) {two}", both, effective

    def _where(
        self, outcomes: Sequence[Outcome], wrong: Answer | Edit, cases: Sequence[tuple]
    ) -> set[int]:
        """In which cases a mistake does as these outcomes do."""
        theirs = self._outcomes(self._answer(wrong), cases)
        both = enumerate(zip(outcomes, theirs, strict=True))
        return {i for i, (a, b) in both if self._alike(a, b) or _both_fail(a, b)}

    def _joins(self, wrong: Answer | Edit) -> bool:
        """Whether it can be made together with another one."""
        return isinstance(wrong, Edit)

    def _joined(self, one: Any, other: Any) -> Answer | None:
        """The answer that makes both, None where the two touch the same place."""
        return self._edited(one, other)

    def _answer(self, wrong: Answer | Edit) -> Answer:
        return self._edited(wrong) if isinstance(wrong, Edit) else wrong

    def _edited(self, *edits: Edit) -> Answer | None:
        """The solution after these edits, None where they meet or make no Python together."""
        if edits not in self._made:
            try:
                if not self._known.source:
                    self._known.source = self.source()
                source = edited(self._known.source, *edits)
                self._made[edits] = source and made(source, self.name, self._names())
            except SyntaxError:
                if len(edits) == 1:
                    raise
                self._made[edits] = None
        return self._made[edits]

    def _names(self) -> Mapping[str, Any]:
        """What an edited solution has at hand."""
        return vars(sys.modules[self.solutions[0].__module__])

    def _relation(self, trial: Trial) -> str | None:
        """What the answer is to the right one in every case that goes wrong, in one sentence."""
        answer, got, right, cases, wrong = trial
        named = [self._named(cases[i]) for i in wrong]
        own, theirs = (
            [self._called_again(of, cases[i]) for i in wrong] for of in (answer, self.right)
        )
        if not any(self._gave_none(o) for i in wrong for o in (got[i], right[i])):
            values = [(self._value(got[i]), self._value(right[i])) for i in wrong]
            pairs = [(*both, case) for both, case in zip(values, named, strict=True)]
            steps = [(*both, self._steps(cases[i])) for both, i in zip(values, wrong, strict=True)]
            if self._changes(trial):
                return (
                    "Called again with the same arguments, yours gives something else. Is something drawn at "
                    "random, or kept from call to call?"
                )
            found = (
                relations.on_the_way(steps, self.tolerance)
                or relations.between(pairs, self.tolerance)
                or relations.by_trying(pairs, own, theirs, self.tolerance)
                or relations.of_inputs(pairs, theirs, self.tolerance)
                or relations.unused(pairs, own, theirs, self.tolerance, list(self._passing(trial)))
            )
            if found:
                return found
        failing = zip([self._conditions(cases[i]) for i in wrong], own, theirs, strict=True)
        passing = [self._conditions(case) for i, case in enumerate(cases) if i not in wrong]
        found = relations.of_cases(list(failing), passing, self.tolerance)
        return found and f"{found} {self._difference(trial)}"

    def _changes(self, trial: Trial) -> bool:
        """Whether an answer gives something else when it is called with the same once more."""
        answer, got, _, cases, wrong = trial
        some = [cases[i] for i in wrong]
        again = self._run(answer, some * 2)[len(some) :]  # the first round draws as `got` has drawn
        both = [(got[i], outcome) for i, outcome in zip(wrong, again, strict=True)]
        return any(
            not (b.error is not None or callable(b.value) or self._alike(a, b)) for a, b in both
        )

    def _passing(self, trial: Trial) -> Iterator[tuple[tuple, Callable, Callable]]:
        """Of each case that is right: both results with the arguments, and both once more."""
        answer, got, right, cases, wrong = trial
        for i in (i for i in range(len(cases)) if i not in wrong):
            pair = self._value(got[i]), self._value(right[i]), self._named(cases[i])
            yield pair, *(self._called_again(of, cases[i]) for of in (answer, self.right))

    def _only_changed(self, got: Outcome, right: Outcome) -> bool:
        """Whether the result is right, and only an argument is not what it was."""
        return self._alike(got, replace(right, changed=got.changed))

    def _gave_none(self, outcome: Outcome) -> bool:
        """Whether there is no value to be compared, or it is right but for what it has changed."""
        return outcome.error is not None or outcome.value is None or bool(outcome.changed)

    def _called_again(self, of: Answer, case: tuple) -> Callable[[Sequence[Any]], Any]:
        """What `of` makes of a case with other arguments; raises ValueError where it fails."""

        def again(values: Sequence[Any]) -> Any:
            (outcome,) = self._run(of, [self._with(case, values)])
            if outcome.error is not None:
                raise ValueError(said(outcome.error))
            return self._value(outcome)

        return again

    def _difference(self, trial: Trial) -> str:
        """What went another way in the first case that is wrong."""
        i = trial.wrong[0]
        told = self._told(trial.cases[i])
        called, limits = self._called, (self.tolerance, self.seconds)
        return difference(trial.got[i], trial.right[i], called, told, *limits, trial.answer)

    def _value(self, outcome: Outcome) -> Any:
        """What is compared of an outcome."""
        return outcome.value

    def _with(self, case: tuple, values: Sequence[Any]) -> tuple:
        """A case with other arguments, in the order of `_named`."""
        return tuple(values)

    def _conditions(self, case: tuple) -> list[tuple[str, Any]]:
        """All that a case may be told apart by."""
        return self._named(case)

    def _named(self, case: tuple) -> list[tuple[str, Any]]:
        """The arguments of a case with their names."""
        return list(zip(self.parameters, case, strict=False))

    def _steps(self, case: tuple) -> dict[str, Any]:
        """What the names in the solution stood for when it returned, but for the arguments."""
        found = running.locals_of(self.right, case)
        steps = {name: x for name, x in found.items() if isinstance(x, Tensor)}
        return {name: x for name, x in steps.items() if name not in self.parameters}

    def _paper(self, got: Outcome, wanted: Outcome, case: tuple) -> Paper:
        """The case as one would work it by hand."""
        yours = self._value(got) if got.error is None else _Said(said(got.error))
        right = self._value(wanted) if wanted.error is None else _Said(said(wanted.error))
        place = first_difference(yours, right, self.tolerance)
        how = self.how(place, *case) if self.how and place is not None else ""
        after = [(f"{name} after the call", value) for name, value in got.left]
        return Paper([*self._named(case), *after], yours, right, place=place, how=how)

    def _size(self, case: tuple) -> int:
        return smallness(case)

    def _drawn(self) -> Sequence[tuple]:
        """The cases, drawn at the first check: so what `_outcomes` has found holds in the next."""
        if self._known.cases is None:
            torch.manual_seed(0)
            self._known.cases = self.cases()
        return self._known.cases

    def _given_to(self, answer: Answer, cases: Sequence[tuple]) -> list[Outcome]:
        """What the answer makes of the cases; what it is compared with runs as if it had not."""
        with as_it_was():
            return self._run(answer, cases)

    def _outcomes(
        self, known: Answer, cases: Sequence[tuple], which: Iterable[int] | None = None
    ) -> Iterator[Outcome]:
        """What a solution or a mistake makes of one case after the other; each is run once."""
        for i in range(len(cases)) if which is None else which:
            yield self._made_of([known], cases, i)[0]

    def _made_of(self, known: Sequence[Answer], cases: Sequence[tuple], i: int) -> list[Outcome]:
        """What all these make of one case, in one thread: a new one costs torch milliseconds."""
        new = [answer for answer in known if (answer, i) not in self._known.outcomes]
        with warnings.catch_warnings(action="ignore"):
            outcomes = dict(zip(new, self._run_each(new, cases[i]), strict=True)) if new else {}
            for answer, outcome in outcomes.items():
                if isinstance(outcome.error, TimeUp) and len(new) > 1:  # its own, or of one before
                    (outcomes[answer],) = self._run_each([answer], cases[i])
        for answer, outcome in outcomes.items():
            if not isinstance(outcome.error, TimeUp):  # of a busy machine
                self._known.outcomes[answer, i] = outcome
        return [outcomes.get(a) or self._known.outcomes[a, i] for a in known]

    def _told(self, case: tuple) -> str:
        """The arguments in few words, with their names where they are many."""
        words = list(map(describe, case))
        if len(words) > 3:
            words = [f"{name} {word}" for name, word in zip(self.parameters, words, strict=True)]
        return ", ".join(words)

    @property
    def _called(self) -> str:
        return f"`{self.name}({', '.join(self.parameters)})`"

    def _alike(self, a: Outcome, b: Outcome) -> bool:
        return a.like(b, self.tolerance)


class _Said(str):
    """An error in the place of a value."""

    def __repr__(self) -> str:
        return f"raised {self.strip('`')}"


def _times_up(outcomes: Iterable[Outcome]) -> bool:
    return any(isinstance(outcome.error, TimeUp) for outcome in outcomes)


def _both_fail(a: Outcome, b: Outcome) -> bool:
    return a.error is not None and b.error is not None


def _changed(*mistakes: tuple) -> int:
    """How much of the solution two mistakes change, in characters; nothing of one written out."""
    edits = (wrong for _, wrong, *_ in mistakes if isinstance(wrong, Edit))
    return sum(len(old) + len(new) for edit in edits for old, new in edit.changes)


def _has_nan(value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return any(isinstance(x, Tensor) and bool(x.isnan().any()) for x in values)


def _codes(answer: Answer) -> set:
    """The code of a function, or of all methods of a class that are its own."""
    inner = vars(answer).values() if inspect.isclass(answer) else [answer]
    return {inspect.unwrap(f).__code__ for f in inner if inspect.isfunction(f)}


def _is_of_the_course(code: Any) -> bool:
    """Whether it stands among the exercises: a solution's helper is no part of the library."""
    return code is not None and code.co_filename.startswith(str(Path(__file__).parents[1]))


def _by_hand(error: BaseException | None, answer: Answer) -> bool:
    """Whether the answer itself says `raise NotImplementedError`; torch raises it as well."""
    if not isinstance(error, NotImplementedError):
        return False
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_code is getattr(answer, "__code__", None) and not str(error)


def is_gap(outcome: Outcome) -> bool:
    """Whether a `...` of the skeleton was still in the way."""
    refused = isinstance(outcome.error, TypeError | AttributeError)
    return outcome.value is ... or (refused and "ellipsis" in str(outcome.error))


def has_open_gap(answer: Answer) -> bool:
    """Whether a `...` stands where a value should: an argument, an operand, or an index."""
    steps = list(dis.get_instructions(answer)) if hasattr(answer, "__code__") else []
    loads = [
        i for i, step in enumerate(steps) if step.opname == "LOAD_CONST" and step.argval is ...
    ]
    uses = ("BINARY_SUBSCR", "STORE_FAST", "BINARY_OP", "COMPARE_OP", "PRECALL", "CALL", "KW_NAMES")
    return any(steps[i + 1].opname in uses for i in loads)


def is_stub(answer: Answer) -> bool:
    """Whether the function's body does nothing at all."""
    if not hasattr(answer, "__code__"):
        return False
    steps = list(dis.get_instructions(answer))
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    returned = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    return {step.opname for step in steps} <= nothing and returned == [None]
