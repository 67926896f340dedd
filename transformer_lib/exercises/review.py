"""Ten bugs and the properties that catch them, a test for leaks, and a capstone.  Lesson 19."""

import difflib
import functools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product

import torch

from transformer_lib.batching import TokenBatches, encode_pairs, pad, shift_right
from transformer_lib.corpus import EOS_ID, PAD_ID, SentencePair, Vocabulary, tokenize
from transformer_lib.decoding import greedy, with_steps
from transformer_lib.exercises import broken
from transformer_lib.exercises.broken import MODULES, PROPERTIES, Right, numbered_lines
from transformer_lib.exercises.checking.comparing import describe, said
from transformer_lib.exercises.checking.machinery import Exercise, Trial
from transformer_lib.exercises.checking.running import Answer, Calls, Outcome
from transformer_lib.exercises.checking.telling import failure
from transformer_lib.exercises.checking.verdict import Verdict
from transformer_lib.exercises.own.mine import mine
from transformer_lib.losses import loss_on_batch
from transformer_lib.masks import padding_mask
from transformer_lib.schedules import warmup_cosine
from transformer_lib.training import fit
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator


@dataclass
class Examined(Exercise):
    """An exercise with many right answers: `examine(result, *case)` judges one.

    Its only case may hold more than an answer is given. The mistakes are there to test what
    `examine` says. Where `examine` `tells` the answers to whoever reads it, no hand-out has it.
    """

    examine: Callable[..., Verdict] = field(kw_only=True)
    tells: bool = field(default=False, kw_only=True)

    def skeleton(self) -> str:
        """Without gaps it is the empty stub: then the solution is nothing but answers."""
        return super().skeleton() if self.gaps else f"def {self.name}():\n    ..."

    def _drawn(self) -> Sequence[tuple]:
        """Another case at every check: nothing is compared with it."""
        return self.cases()

    def _use(self, answer: Answer) -> Answer:
        given = len(self.parameters)

        def examined(*case):
            result = answer(*case[:given])
            return None if result is None else self.examine(result, *case)

        return examined

    def _heard(self, answer: Answer, cases: Sequence[tuple]) -> Calls:
        """Everything may be called: the answer is not run again to hear what it calls."""
        return Calls()

    def _verdict(self, answer: Answer, got: Sequence[Outcome], cases: Sequence[tuple]) -> Verdict:
        (outcome,), (case,) = got, cases
        given = ", ".join(map(describe, case[: len(self.parameters)]))
        failed = failure(outcome, self._called, given, self.seconds, answer)
        return Verdict("error", failed) if failed else outcome.value


# ------------------------------------------------------------------------------------ find the bugs

NUDGES = {
    "A": "A key that is masked out gets no weight in it, and the keys may stand in any order. Follow its "
    "softmax: which weights does it make add up to one?",
    "B": "Its weights add up, and its masks are right. Look at what the scores are divided by, and ask "
    "how large they should be.",
    "C": "Its weights are right until the mask comes. What do the weights that are left know of those "
    "that were taken away?",
    "D": "With one sentence, or without a mask, all is well. Follow the mask to where batch and heads "
    "become one axis.",
    "E": "Without `is_causal` it is right. Draw its triangle for three words.",
    "F": "Its rows are distributions, and its triangle is right. But which entries of a token are in its "
    "head 0?",
    "G": "A new module is in train(), and there this one does all that it should. What does the mode "
    "decide in it?",
    "H": "In train() it does what it should. Which of its arguments does not depend on the mode?",
    "J": "Given three tensors, its first answer is right. What else does the call do?",
    "K": "Its weights are right. Look at what they weigh.",
}


FAULTY = {  # the lines at fault, as `show_numbered` counts them
    "A": {7},
    "B": {4},
    "C": {5, 6, 7},  # softmax too early, mask too late, or what is left not divided by its sum
    "D": {6},
    "E": {4, 8},  # the triangle is left to this module, or made too large
    "F": {5, 8},  # both ends of the cut
    "G": {5},
    "H": {5, 6, 7},  # one statement on three lines
    "J": {3, 5},  # the query is not copied, or is divided where it stands
    "K": {3},
}


@functools.cache
def catchers(module: str) -> list[str]:
    """The properties that do not hold of that module."""
    return [name for name, holds in PROPERTIES.items() if not holds(MODULES[module]())]


def _examine_culprits(found):
    if not isinstance(found, dict):
        return Verdict(
            "mistake",
            f"`my_culprits()` returned {describe(found)}. Return a dictionary, from a module's name "
            'to its faulty line and a property: `{"A": (7, "…"), "B": (…, "…")}`.',
        )
    if amiss := _keys_amiss(found) or _counted_from_0(found):
        return Verdict("mistake", amiss)
    remarks = [_remark(module, given) for module, given in found.items()]
    caught = remarks.count(None)
    remarks = [remark for remark in remarks if remark]
    if missing := [name for name in MODULES if name not in found]:
        remarks.append(f"Still open: {', '.join(missing)}.")
    if remarks:
        list_mark = "\n- " if len(remarks) > 1 else " "
        return Verdict("mistake", list_mark.join([f"{caught} of ten are caught.", *remarks]))
    several = [name for name in MODULES if len(catchers(name)) > 1]
    return Verdict(
        "passed",
        f"Passed. More than one property catches {', '.join(several)}: any of them was a right "
        "answer. How few properties are enough to catch all ten modules?",
    )


def _keys_amiss(found: dict) -> str:
    """What to say if no key is a module's letter, and all are amiss in one way."""
    if not found or not MODULES.keys().isdisjoint(found):
        return ""
    if all(isinstance(key, type) for key in found):
        return 'Your keys are the classes themselves. Give their letters, in quotes: `"A"`.'
    if all(isinstance(key, str) and key.strip().upper() in MODULES for key in found):
        return 'The modules are called by their capital letters alone: `"A"`.'
    if all(isinstance(key, int) for key in found):
        return (
            "Your keys are numbers. A key is the letter of a module, and the number of its line is the "
            'first of the pair: `{"A": (7, "…")}`.'
        )
    return ""


def _counted_from_0(found: dict) -> str:
    """What to say if most lines stand one too high: `show_numbered` counts from 1."""
    lines = {
        module: given[0]
        for module, given in found.items()
        if module in MODULES and isinstance(given, tuple | list) and len(given) == 2
    }
    whole = {name: n for name, n in lines.items() if isinstance(n, int)}
    early = [name for name, n in whole.items() if n not in FAULTY[name] and n + 1 in FAULTY[name]]
    if len(early) < 5 or 2 * len(early) <= len(found):
        return ""
    return (
        "Did you count the lines from 0? `show_numbered` counts them from 1, the line of `class` "
        "included. Most of your numbers are too small by one."
    )


def _remark(module, given) -> str | None:
    """What to say to one entry; None if the line is at fault and the property catches it."""
    if module not in MODULES:
        near = [name for name in MODULES if str(module).strip().upper().endswith(name)]
        guess = f"Did you mean {near[0]!r}?" if near else f"They are {', '.join(MODULES)}."
        return f"There is no module {module!r}. {guess}"
    if not isinstance(given, tuple | list) or len(given) != 2:
        what = f"“{given[:60]}”" if isinstance(given, str) else describe(given)
        return f"{module}: a pair is wanted, the number of its faulty line and a property; yours is {what}."
    line, named = given
    if isinstance(line, str) and (not isinstance(named, str) or named.strip().isdigit()):
        line, named = named, line
    return _about_the_line(module, line) or _about_the_property(module, named)


def _about_the_line(module: str, line) -> str | None:
    length = len(numbered_lines(MODULES[module]))
    if isinstance(line, bool) or not isinstance(line, int):
        quotes = ", without quotes" if isinstance(line, str) else ""
        return (
            f"{module}: the line is a whole number{quotes}, as `show_numbered` prints it; yours is "
            f"{describe(line)}."
        )
    if not 1 <= line <= length:
        return f"{module} has the lines 1 to {length}, and no line {line}."
    if line not in FAULTY[module]:
        return f"{module}: line {line} may stay as it is. {NUDGES[module]}"
    return None


def _about_the_property(module: str, named) -> str | None:
    if callable(named):
        return f"{module}: give the name of the property, the sentence in quotes, not the function."
    if not isinstance(named, str):
        return f"{module}: one property, a sentence in quotes; yours is {describe(named)}."
    if named not in PROPERTIES:
        near = difflib.get_close_matches(named, PROPERTIES, n=1, cutoff=0.4)
        guess = f"Did you mean “{near[0]}”?" if near else "The names are in `PROPERTIES`."
        return f"{module}: no property is called “{named[:60]}”. {guess}"
    if named not in catchers(module):
        return f"{module}: the line is found, but “{named}” holds of it. What would a user notice?"
    return None


culprits = Examined(
    sections=("19 Break it: ten modules, a bug in each",),
    task="Each of the ten modules in `MODULES` has one bug. Read a module (`show_numbered`) and say which "
    "line is at fault, and which of the properties in `PROPERTIES` fails of the module because of it. "
    'Then put the question to it: `PROPERTIES["…"](MODULES["A"]())` is True where the property holds. '
    "Return a dictionary, from each module's name to a pair: the number of the line, and the name of a "
    'property that does not hold: `{"A": (7, "…"), …}`.',
    cases=lambda: [()],
    hints=(
        "Lay a module beside `Right`, and look for the line that does something else, not for one that "
        "does the same in other words. Which word differs? It decides over an axis, a number, a tensor, or "
        "the mode.",
        "Then ask what a user would notice. Do the weights not add up? Does a key count that is masked out, "
        "or that comes later? Is the answer another one the second time, in a batch, or at another width?",
        "A loop over `PROPERTIES` tells which of them fail, and these say where to look. If the future "
        "counts, look at the line of the triangle; if every answer is another one, at that of the dropout. "
        "Three of the modules are caught by one property alone. The line itself you find by reading.",
    ),
    examine=_examine_culprits,
    tells=True,
)


@culprits.solution
def my_culprits():
    return {
        "A": (7, "each row of weights adds up to 1"),  # softmax over the queries: axis 2 of four
        "B": (4, "scores of random vectors have variance 1 at any width"),  # d_model, not d_head
        "C": (6, "a key that is masked out changes nothing"),  # it still counts in the denominator
        "D": (6, "a sentence fares alone as in a batch"),  # it gets its neighbour's mask
        "E": (8, "no token hears a later one, in train() and in eval()"),  # one word too many
        "F": (5, "permuting keys with their values changes nothing"),  # heads cut across words
        "G": (5, "no token hears a later one, in train() and in eval()"),  # causal in train() alone
        "H": (6, "in eval() the same question gets the same answer"),  # dropout that never rests
        "J": (5, "the inputs are left as they were"),  # q is a view of the query
        "K": (3, "a query that fits one key gets its value"),  # it brings back the key
    }


@culprits.solution
def _():
    lines = {"A": 7, "B": 4, "C": 5, "D": 6, "E": 8, "F": 5, "G": 5, "H": 6, "J": 5, "K": 3}
    fails = lambda name: [question for question, holds in PROPERTIES.items() if not holds(name())]
    return {name: (lines[name], fails(module)[-1]) for name, module in MODULES.items()}


@culprits.mistake(
    "0 of ten are caught."
    + "".join(f"\n- {name}: line 1 may stay as it is. {NUDGES[name]}" for name in MODULES)
)
def _():
    """A loop finds the properties, and no line."""
    fails = lambda name: [question for question, holds in PROPERTIES.items() if not holds(name())]
    return {name: (1, fails(module)[0]) for name, module in MODULES.items()}


@culprits.mistake(
    "`my_culprits()` returned a list. Return a dictionary, from a module's name to its faulty line and a "
    'property: `{"A": (7, "…"), "B": (…, "…")}`.'
)
def _():
    return list(my_culprits().items())


@culprits.mistake('Your keys are the classes themselves. Give their letters, in quotes: `"A"`.')
def _():
    return {MODULES[name]: given for name, given in my_culprits().items()}


@culprits.mistake('The modules are called by their capital letters alone: `"A"`.')
def _():
    return {name.lower(): given for name, given in my_culprits().items()}


@culprits.mistake(
    "Your keys are numbers. A key is the letter of a module, and the number of its line is the first of "
    'the pair: `{"A": (7, "…")}`.'
)
def _():
    return {line: (name, named) for name, (line, named) in my_culprits().items()}


@culprits.mistake(
    "Did you count the lines from 0? `show_numbered` counts them from 1, the line of `class` included. "
    "Most of your numbers are too small by one."
)
def _():
    return {name: (line - 1, named) for name, (line, named) in my_culprits().items()}


@culprits.mistake("7 of ten are caught. Still open: E, G, H.")
def _():
    return {module: given for module, given in my_culprits().items() if module not in "EGH"}


@culprits.mistake(
    "9 of ten are caught. A: give the name of the property, the sentence in quotes, not the function."
)
def _():
    return my_culprits() | {"A": (7, broken.rows_add_up)}


@culprits.mistake(
    "9 of ten are caught. C: a pair is wanted, the number of its faulty line and a property; yours is “a "
    "key that is masked out changes nothing”."
)
def _():
    return my_culprits() | {"C": "a key that is masked out changes nothing"}


@culprits.mistake(
    "9 of ten are caught. C: the line is a whole number, as `show_numbered` prints it; yours is None."
)
def _():
    return my_culprits() | {"C": (None, "a key that is masked out changes nothing")}


@culprits.mistake(
    "9 of ten are caught. A: the line is a whole number, without quotes, as `show_numbered` prints it; "
    "yours is '7'."
)
def _():
    return my_culprits() | {"A": ("7", "each row of weights adds up to 1")}


@culprits.mistake("9 of ten are caught. B has the lines 1 to 6, and no line 7.")
def _():
    return my_culprits() | {"B": (7, "scores of random vectors have variance 1 at any width")}


@culprits.mistake("9 of ten are caught. C: one property, a sentence in quotes; yours is a list.")
def _():
    return my_culprits() | {"C": (6, ["a key that is masked out changes nothing"])}


@culprits.mistake(
    "9 of ten are caught. K: no property is called “a query that fits gets its value”. Did you mean "
    "“a query that fits one key gets its value”?"
)
def _():
    return my_culprits() | {"K": (3, "a query that fits gets its value")}


@culprits.mistake(f"9 of ten are caught. D: line 4 may stay as it is. {NUDGES['D']}")
def _():
    return my_culprits() | {"D": (4, "a sentence fares alone as in a batch")}


@culprits.mistake(
    "9 of ten are caught. E: the line is found, but “a key that is masked out changes nothing” holds of it. What would "
    "a user notice?"
)
def _():
    return my_culprits() | {"E": (8, "a key that is masked out changes nothing")}


@culprits.mistake(
    f"8 of ten are caught.\n- G: line 6 may stay as it is. {NUDGES['G']}"
    "\n- J: the line is found, but “a sentence fares alone as in a batch” holds of it. What would a user "
    "notice?"
)
def _():
    return my_culprits() | {
        "G": (6, "no token hears a later one, in train() and in eval()"),
        "J": (5, "a sentence fares alone as in a batch"),
    }


# ------------------------------------------------------------------------------------ a test of leaks


class _CausalInEval(Right):
    def visible(self, query, key, mask, is_causal):
        return super().visible(query, key, mask, is_causal and not self.training)


class _NeverCausal(Right):
    def visible(self, query, key, mask, is_causal):
        return super().visible(query, key, mask, False)


class _Prefix(Right):
    def visible(self, query, key, mask, is_causal):
        visible = super().visible(query, key, mask, is_causal)
        visible[..., :2, :2] = True
        return visible


class _Suffix(Right):
    def visible(self, query, key, mask, is_causal):
        visible = super().visible(query, key, mask, is_causal)
        visible[..., -2:, -2:] = True
        return visible


class _KeysCentred(Right):
    def forward(self, query, key, value, mask=None, is_causal=False):
        key = key - key.mean(dim=1, keepdim=True)
        return super().forward(query, key, value, mask, is_causal)


class _KeysScaled(Right):
    def forward(self, query, key, value, mask=None, is_causal=False):
        key = key / key.std(dim=1, keepdim=True)
        return super().forward(query, key, value, mask, is_causal)


class _ValuesCentred(Right):
    def forward(self, query, key, value, mask=None, is_causal=False):
        value = value - value.mean(dim=1, keepdim=True)
        return super().forward(query, key, value, mask, is_causal)


LEAKS = {
    "is right": Right(),
    "is causal, though it divides its scores by the wrong root": broken.B(),
    "is causal, though it takes its keys for values": broken.K(),
    "subtracts the mean of all keys, which leaves the weights as they are": _KeysCentred(),
    "is not causal at all": _NeverCausal(),
    "lets each token attend to one token too many": broken.E(),
    "is causal in train() alone": broken.G(),
    "is causal in eval() alone": _CausalInEval(),
    "lets the first two tokens attend to each other": _Prefix(),
    "lets the last two tokens attend to each other": _Suffix(),
    "divides the keys by their spread over the whole sentence": _KeysScaled(),
    "subtracts from the values their mean over the whole sentence": _ValuesCentred(),
}


for _what, _module in LEAKS.items():
    _module.__doc__ = f"a module that {_what}"  # so a check shows it


@dataclass
class _TestOfLeaks(Exercise):
    """Its cases are modules, and it says which of them is judged wrongly.

    True or False tells little: a mistake is known only by what it says of all modules.
    """

    def _agreeing(self, got, other, cases, wrong) -> tuple[int, bool]:
        return super()._agreeing(got, other, cases, range(len(cases)))

    def _joins(self, wrong) -> bool:
        return False

    def _difference(self, trial: Trial) -> str:
        i = trial.wrong[0]
        outcome, wanted, (module,) = trial.got[i], trial.right[i].value, trial.cases[i]
        if failed := failure(outcome, self._called, module.__doc__, self.seconds, trial.answer):
            return failed
        if not isinstance(outcome.value, bool):
            return f"{self._called} returned {describe(outcome.value)}. Return True or False."
        return f"Of {module.__doc__}, yours says {outcome.value}; it should say {wanted}."


leaks = _TestOfLeaks(
    sections=("12 Break it: a mask that sleeps in eval()",),
    task="A property test of your own: True if no output depends on a later key or value, False if any "
    "does. `attend(query, key, value, is_causal=True)` is an attention module as in `MODULES`, with two "
    "heads; tensors are (batch, time, width), of an even width. It must judge rightly in train(), where a "
    "module may use dropout, and in eval(); at every position; and whatever else is wrong with the module "
    "(but none overwrites what it is given).",
    cases=lambda: [(module,) for module in LEAKS.values()],
    hints=(
        "Ask twice. Between the two, keys and values change from some position on. Which rows of the "
        "answer may differ then, and which must not?",
        "Two loops around it: over train() and eval(), `attend.train(mode)`, and over every position at "
        "which the change may begin. Dropout must fall on the same weights both times: "
        "`torch.manual_seed(0)` before each call.",
        "`torch.allclose(before[:, :t], after[:, :t], atol=1e-5)` compares the rows before position t and "
        "forgives the last digits. If one such pair differs, return False; after both loops, return True.",
    ),
    passed="Put it to the ten modules of the first exercise. It finds C, E and G. If it "
    "finds J as well, which leaks nothing: what did the first call do to your `x`? And A it finds only "
    "if you change later queries, too. Why?",
    gaps=(
        "torch.cat([x[:, :t], torch.randn(2, 6 - t, 8)], dim=1)",
        "attend(x, later, later, is_causal=True)",
    ),
)


@leaks.solution
def my_property(attend):
    x = torch.randn(2, 6, 8)  # (batch, time, width)
    for training in (True, False):
        attend.train(training)
        for t in range(1, 6):
            # From position t on keys and values are others; what comes before stays.
            later = torch.cat([x[:, :t], torch.randn(2, 6 - t, 8)], dim=1)  # (batch, time, width)
            torch.manual_seed(0)  # before both calls: dropout must fall on the same weights
            before = attend(x, x, x, is_causal=True)  # (batch, time, width)
            torch.manual_seed(0)
            after = attend(x, later, later, is_causal=True)  # (batch, time, width)
            # Rows from t on may differ. Those before it may not.
            if not torch.allclose(before[:, :t], after[:, :t], atol=1e-5):
                return False
    return True


@leaks.solution
def _(attend):
    query, key, value = (torch.randn(1, 7, 4, requires_grad=True) for _ in range(3))
    for training, row in product((True, False), range(6)):
        answer = attend.train(training)(query, key, value, is_causal=True)[0, row]
        gradients = torch.autograd.grad(
            answer @ torch.randn(4), (key, value), materialize_grads=True
        )
        if any((gradient[0, row + 1 :].abs() > 1e-5).any() for gradient in gradients):
            return False
    return True


leaks.edits("""
range(1, 6) → [5]
range(1, 6) → [3]
range(1, 6) → [1]
before[:, :t], after[:, :t] → before[:, :1], after[:, :1]
    Your change begins at one position only, or you compare one row only, and so you miss a module that leaks
    elsewhere. One lets the first two tokens attend to each other, one the last two. Try every position, from
    1 to the last, and compare all rows before it.
before[:, :t], after[:, :t] → before, after
[:, :t], after[:, :t] → [:, : t + 1], after[:, : t + 1]
torch.cat([x[:, :t], torch.randn(2, 6 - t, 8)], dim=1) → torch.randn(2, 6, 8)
, is_causal=True →
    Yours says False of every module, the right one among them. Do you compare more than the rows before the
    change? Does the change reach keys before it? Or is `is_causal=True` missing in the call?
attend(x, later, later → attend(x, x, x
    Yours says True of every module, also of one that is not causal at all. What it compares never differs:
    does the change reach the keys and values of the second call?
(True, False) → (True,)
    Yours never looks in eval(), and so misses a module that is causal in train() alone. A new module is in
    train(): `attend.eval()`, and ask again.
(True, False) → (False,)
    Yours looks in eval() alone, and misses a module that is causal only there. It would learn from what it
    may not know: ask in train(), too.
(True, False) → (False,) ; range(1, 6) → [5]
(True, False) → (False,) ; range(1, 6) → [3]
(True, False) → (True,) ; range(1, 6) → [5]
(True, False) → (True,) ; range(1, 6) → [3]
    You ask in one mode only, and your change begins at one position only. A module may leak in the other mode,
    or at another position: two loops, over both modes and over every position.
torch.manual_seed(0) →
    A right module is accused: in train() dropout falls on other weights at each call. Set the same seed
    before both calls.
torch.allclose(before[:, :t], after[:, :t], atol=1e-5) → torch.equal(before[:, :t], after[:, :t])
    Your comparison is too strict. One of the modules is causal, but rounds otherwise when later keys change.
    Change them by numbers of size 1, and allow for 1e-5: `torch.allclose(a, b, atol=1e-5)`.
attend(x, later, later → attend(x, later, x
    You change the keys alone. One module leaks through its values: it subtracts their mean over the whole
    sentence.
attend(x, later, later → attend(x, x, later
    You change the values alone. One module leaks through its keys: it divides them by their spread over the
    whole sentence.
before[:, :t], after[:, :t] → before[:, : t - 1], after[:, : t - 1]
    You leave out the row just before the change. A module may leak into that one row only: compare all rows
    before the change, `[:, :t]`.
if not torch → return torch ; : ⏎ return False →
    Yours returns in the first round of the loop, and the others never run. False may be returned at once;
    True only after both loops.
if not torch → if torch ; return False → return True ; return True → return False
    Yours says True as soon as one pair agrees. One pair that differs is enough for False; True comes only
    after both loops.
return False → return True ; return True → return False
    It is turned round: True says that the property *holds*, that nothing leaks.
return False → return torch.tensor(False) ; return True → return torch.tensor(True)
    It judges rightly, but returns a tensor. A test says True or False: `bool(…)` makes one of it.
""")


@leaks.mistake(
    "You compare with a right module. Then each that is wrong in another way is called a leak. Compare "
    "the module with itself, before and after a change of later keys and values."
)
def _(attend):
    x, attend = torch.randn(2, 6, 8), attend.eval()
    right = Right().eval()(x, x, x, is_causal=True)
    return torch.allclose(attend(x, x, x, is_causal=True), right, atol=1e-5)


# ------------------------------------------------------------------------------------------ capstone

HELD_OUT = 100
_SYLLABLES = [consonant + vowel for consonant in "bdflmnrstv" for vowel in "aeiou"]


def invented_language(
    seed: int, train: int = 2000
) -> tuple[list[SentencePair], list[SentencePair]]:
    """Sentence pairs between two languages that did not exist before, with gold alignment.

    The first list is for training, the second is held out. The seed draws the words, which ending a
    noun asks of its adjective, and in which order subject, verb and object are said, one order for
    statements and another for questions.
    """
    rng = random.Random(seed)
    every_word = list(map("".join, product(_SYLLABLES, _SYLLABLES)))
    words, meanings = rng.sample(every_word, 22), rng.sample(every_word, 22)
    meaning = dict(zip(words, meanings, strict=True))
    nouns, adjectives, verbs = words[:10], words[10:16], words[16:]
    endings = rng.sample("lnrst", 2)
    ending = {noun: endings[i % 2] for i, noun in enumerate(nouns)}
    orders = dict(zip(".?", rng.sample(list(permutations(range(3))), 2), strict=True))

    def noun_phrase() -> list[str]:
        noun = [rng.choice(nouns)]
        return [rng.choice(adjectives), *noun] if rng.random() < 0.5 else noun

    found = {}
    while len(found) < train + HELD_OUT:
        mark, source, parts = rng.choice(".?"), [], []
        for phrase in (noun_phrase(), [rng.choice(verbs)], noun_phrase()):
            places = range(len(source), len(source) + len(phrase))
            meant = [meaning[w] + (ending[phrase[-1]] if w in adjectives else "") for w in phrase]
            parts.append(list(zip(places, meant, strict=True))[::-1])  # the noun first
            source += phrase
        links, target = zip(*(word for part in orders[mark] for word in parts[part]), strict=True)
        texts = (" ".join(side).capitalize() + mark for side in (source, target))
        links = frozenset((i, j) for j, i in enumerate([*links, len(source)]))
        pair = SentencePair(*texts, links)
        found[pair.source] = pair
    pairs = list(found.values())
    return pairs[:train], pairs[train:]


class _Unheard(Exception):
    """What the returned function did instead of translating."""


def _translated(
    translate: Answer, pairs: Sequence[SentencePair]
) -> list[tuple[list[str], list[str]]]:
    """(said, wanted) for each pair, as tokens."""
    both = []
    for pair in pairs:
        try:
            answer = translate(pair.source)
        except Exception as error:
            raise _Unheard(f"Your function, given {pair.source!r}, raised {said(error)}") from error
        if not isinstance(answer, str):
            raise _Unheard(
                f"Your function, given {pair.source!r}, returned {describe(answer)}; a target is one "
                "string. (`translate` takes and gives a list: `translate([source])[0]`.)"
            )
        both.append((tokenize(answer, "en"), tokenize(pair.target, "en")))
    return both


def _right(both: Sequence[tuple[list[str], list[str]]]) -> float:
    return sum(answer == wanted for answer, wanted in both) / len(both)


def _examine_capstone(translate, pairs, held_out):
    if not callable(translate):
        return Verdict(
            "mistake",
            f"`my_capstone(pairs)` returned {describe(translate)}. Return a function, from a source to "
            "its target: `lambda source: translator.translate([source])[0]`.",
        )
    if isinstance(getattr(translate, "__self__", None), Translator):
        return Verdict("mistake", LISTS)
    try:
        both = _translated(translate, held_out[:20])
        if _right(both) > 0:
            both += _translated(translate, held_out[20:])
        if _right(both) >= 0.95:
            return Verdict(
                "passed",
                f"Passed: {_right(both):.0%} of {len(both)} held-out sentences, in a language nobody has "
                "spoken before. What would it do with a sentence of two verbs? Ask it.",
            )
        known = _right(_translated(translate, pairs[:20]))
        deaf = lambda: _hears_no_order(translate, held_out[:20])
        sources = [pair.source for pair in held_out]
        return Verdict("mistake", _diagnosis(both, known, deaf, sources))
    except _Unheard as unheard:
        return Verdict("mistake", str(unheard))


def _hears_no_order(translate: Answer, pairs: Sequence[SentencePair]) -> bool:
    """Whether turning a source's words round leaves its translation as it was, nearly always.

    So it is with an encoder without positions, trained or not. Rounding may change a word.
    """
    turned = []
    for pair, (answer, _) in zip(pairs, _translated(translate, pairs), strict=True):
        *words, mark = tokenize(pair.source, "en")
        turned.append(SentencePair(" ".join(words[::-1]) + mark, " ".join(answer)))
    return _right(_translated(translate, turned)) >= 0.9


LISTS = (
    "You return `translate` itself, which takes and gives lists. A function from one string to another is "
    "wanted: `lambda source: translator.translate([source])[0]`."
)
UNKNOWN_WORDS = (
    "It says `<unk>` again and again. So the words of the target have no ids: was the vocabulary of the "
    "target built from the targets, `pair.target`?"
)
FIRST_LANGUAGE = (
    "It answers with words of the first language. Its ids are read with the vocabulary of the source: "
    "`Translator` takes the source's vocabulary first, and then the target's."
)
ECHO = (
    "It says one word again and again. A model that repeats what it read last has learned to copy: was "
    "the target shifted, so that `tgt_in` begins with `<bos>` and lags one token behind `tgt_out`? (A model "
    "that was not trained may repeat itself, too.)"
)
CONSTANT = "It says the same sentence whatever it is asked. Does the source reach the model?"
MEMORISED = (
    "It knows the pairs by heart and fails on new sentences. There are tens of thousands of sentences in "
    "this language, too many for a list: the model has to learn the words and the rules."
)
ENDLESS = (
    "It begins rightly and does not stop. Did the targets end in `<eos>` in training, and is what follows "
    "`<eos>` cut off in the answer?"
)
UNTRAINED = (
    "Hardly a word is right. So speaks a model that was not trained, or hardly: does the translator get "
    "the model that `fit` got? Are its ids read with another vocabulary than they were written with? Or is "
    "the learning rate far too high?"
)
ONE_MARK = (
    "Sentences that end in one mark are right, those that end in the other are not. The mark decides the "
    "order: does the end of the source reach the model?"
)
ENDINGS = (
    "Only endings are wrong. The ending of an adjective depends on the noun beside it. It nearly has it: "
    "train a little longer."
)
DEAF_TO_ORDER = (
    "Turn the words of a sentence round, and it says the same as before. So it cannot know which "
    "adjective belongs to which noun, and who acts on whom: does the encoder know positions?"
)
ORDER = (
    "The words are right, their order is not. It depends on the mark at the end of the source: does the "
    "mark reach the model? If it does, train longer."
)


def _diagnosis(
    both: Sequence[tuple[list[str], list[str]]],
    known: float,
    deaf: Callable[[], bool],
    sources: Sequence[str],
) -> str:
    """What the wrong answers have in common."""
    wrong = [(answer, wanted) for answer, wanted in both if answer != wanted]
    by_mark = [
        _right(some) for mark in ".?" if (some := [pair for pair in both if pair[1][-1] == mark])
    ]

    def share(symptom):
        return sum(symptom(answer, wanted) for answer, wanted in wrong) / len(wrong)

    def overlap(answer, wanted):
        return (Counter(answer) & Counter(wanted)).total() / max(len(answer), len(wanted))

    words_of = lambda texts: {word for text in texts for word in text if len(word) > 1}
    target_words = words_of(wanted for _, wanted in both)
    source_words = words_of(tokenize(source, "en") for source in sources) - target_words
    spoken = words_of(answer for answer, _ in wrong)
    if share(lambda answer, _: any("unk" in word for word in answer)) > 0.9:
        return UNKNOWN_WORDS
    if spoken and spoken <= source_words:
        return FIRST_LANGUAGE
    if share(lambda answer, wanted: len(set(answer)) == 1 and len(answer) > len(wanted)) > 0.9:
        return ECHO
    if known >= 0.95 and _right(both) < 0.5:
        return MEMORISED
    if wrong[0][0] and all(answer == wrong[0][0] for answer, _ in wrong):
        return CONSTANT
    if share(lambda answer, wanted: answer[: len(wanted)] == wanted) > 0.5:
        return ENDLESS
    if not _right(both) and share(overlap) < 0.35:
        return UNTRAINED
    if deaf():
        return DEAF_TO_ORDER
    if max(by_mark) >= 0.9 and min(by_mark) <= 0.3:
        return ONE_MARK
    if share(lambda answer, wanted: [w[:4] for w in answer] == [w[:4] for w in wanted]) > 0.5:
        return ENDINGS
    if share(lambda answer, wanted: sorted(answer) == sorted(wanted)) > 0.5:
        return ORDER
    source, (answer, wanted) = next(
        (source, pair) for source, pair in zip(sources, both, strict=False) if pair[0] != pair[1]
    )
    return (
        f"{_right(both):.0%} of {len(both)} held-out sentences are right; it takes 95%. {source!r} became "
        f"{' '.join(answer)!r}, not {' '.join(wanted)!r}. Train longer, or with a higher rate? "
        "Or are the embeddings of your class drawn too large (`nn.Embedding` draws them with variance 1)? Then "
        "copy the parameters of `make_model`, as the lesson says."
    )


capstone = Examined(
    sections=(
        "14 The loop in ten lines",
        "15 Train it",
    ),
    task="`pairs` are 2000 sentences of a language that nobody has spoken before, drawn for this check, "
    "each with its translation into a second one: `pair.source` and `pair.target`, two strings. Train a "
    'model on them, `mine("Transformer")` or another, and return a function that takes a source, a string, '
    "and gives its target, a string. It is asked 100 sentences that are not among the pairs; 95 must be "
    "right to the word and the mark. Training and answers together may take two minutes.",
    cases=lambda: [invented_language(int(torch.randint(2**31, ())))],
    hints=(
        "Lessons 14 and 15 in small: a vocabulary for each side, examples, a model, `fit`, a `Translator`. "
        "Every word stands in `pairs` many times. Try it on `invented_language(0)`, which gives pairs to "
        "train on and pairs to test.",
        "`encode_pairs` makes ids of the pairs and `TokenBatches` batches of the ids. One layer of width 64 "
        "is enough, without dropout. If your class draws its embeddings as `nn.Embedding` does, they are too "
        "large and it stays behind. `begin = make_model(…)` has parameters of the right size; build yours from "
        "the same `begin.config`, then let it copy them: `model.load_state_dict(begin.state_dict())`.",
        "`fit` for 300 steps with `warmup_cosine`, peak 6e-3 and warm-up 50; nothing is ambiguous in this "
        "language, so `label_smoothing=0.0`. A class of your own has no `step`: `with_steps(model, "
        "begin.config)` computes everything anew for each token, and a `Translator` can ask it. The "
        "translator takes and gives lists; return a function that packs one sentence in and out.",
    ),
    gaps=(
        'Vocabulary.build((pair.target for pair in pairs), "en")',
        "encode_pairs(pairs, source.encode, target.encode, max_len=20)",
        "make_model(len(source), len(target), **sizes)",
        "begin.state_dict()",
        "with_steps(model, begin.config)",
    ),
    seconds=120.0,
    examine=_examine_capstone,
)


@capstone.solution
def my_capstone(pairs):
    torch.manual_seed(0)
    # A vocabulary for each side: one id means two words, one in each language.
    source = Vocabulary.build((pair.source for pair in pairs), "en")
    target = Vocabulary.build((pair.target for pair in pairs), "en")
    # Ids, each sentence ended by <eos>. The batches pad them and shift the target for `tgt_in`.
    examples = encode_pairs(pairs, source.encode, target.encode, max_len=20)
    batches = TokenBatches(examples, 512)
    # The library's model begins with parameters of a good size; your class takes them over.
    sizes = {"num_layers": 1, "d_model": 64, "d_ff": 128, "dropout": 0.0, "max_len": 20}
    begin = make_model(len(source), len(target), **sizes)
    model = mine("Transformer")(begin.config)
    model.load_state_dict(begin.state_dict())
    # A high rate, reached slowly. Nothing is ambiguous here, so no smoothing.
    rate = lambda step: warmup_cosine(step, peak=6e-3, warmup=50, steps=300)
    fit(model, batches, steps=300, learning_rate=rate, label_smoothing=0.0)
    # To write token by token a translator needs `step`, which your class has not: `with_steps`.
    speaker = with_steps(model, begin.config)
    translator = Translator(speaker, source, target)
    return lambda sentence: translator.translate([sentence])[0]


@capstone.solution
def _(pairs):
    torch.manual_seed(1)
    sides = [[tokenize(pair[side], "en") for pair in pairs] for side in (0, 1)]
    words = sorted({word for side in sides for sentence in side for word in sentence})
    number = {word: i for i, word in enumerate(words, start=EOS_ID + 1)}
    src, tgt = (pad([[*map(number.get, s), EOS_ID] for s in side]) for side in sides)
    sizes = {"num_layers": 1, "d_model": 48, "d_ff": 96, "dropout": 0.0, "positions": "rotary"}
    model = make_model(len(number) + 3, len(number) + 3, **sizes)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
    for rows in (torch.randint(len(src), (64,)) for _ in range(300)):
        mask = padding_mask(src[rows], PAD_ID)
        loss = loss_on_batch(model, src[rows], shift_right(tgt[rows]), tgt[rows], src_mask=mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def translate(source):
        ids = torch.tensor([[*(number[word] for word in tokenize(source, "en")), EOS_ID]])
        out = greedy(model, ids, max_len=20)[0].tolist()
        return " ".join(words[i - EOS_ID - 1] for i in out if i > EOS_ID)

    return translate


def _newborn(pairs, **sizes):
    vocabularies = [Vocabulary.build((pair[side] for pair in pairs), "en") for side in (0, 1)]
    sizes = {"num_layers": 1, "d_model": 64, "d_ff": 128, "dropout": 0.0, "max_len": 20, **sizes}
    return Translator(make_model(*map(len, vocabularies), **sizes), *vocabularies)


def _learned(pairs, steps, change=lambda batch: batch, **sizes):
    """A translator from changed batches."""
    torch.manual_seed(0)
    translator = _newborn(pairs, **sizes)
    encoders = (translator.source_vocabulary.encode, translator.target_vocabulary.encode)
    batches = list(map(change, TokenBatches(encode_pairs(pairs, *encoders, max_len=20), 512)))
    fit(translator.model, batches, steps=steps, learning_rate=4e-3, progress=False)
    return lambda source: translator.translate([source])[0]


@capstone.mistake(UNTRAINED)
def _(pairs):
    torch.manual_seed(0)
    translator = _newborn(pairs)
    return lambda source: translator.translate([source])[0]


@capstone.mistake(UNKNOWN_WORDS)
def _(pairs):
    return lambda source: "<unk> " * len(source.split()) + source[-1]


@capstone.mistake(FIRST_LANGUAGE)
def _(pairs):
    return lambda source: source


@capstone.mistake(LISTS)
def _(pairs):
    return _newborn(pairs).translate


@capstone.mistake(MEMORISED)
def _(pairs):
    known = {pair.source: pair.target for pair in pairs}
    return lambda source: known.get(source, pairs[0].target)


@capstone.mistake(CONSTANT)
def _(pairs):
    ((most_frequent, _),) = Counter(pair.target for pair in pairs).most_common(1)
    return lambda source: most_frequent


@capstone.mistake(ECHO)
def _(pairs):
    return _learned(pairs, 40, lambda batch: replace(batch, tgt_in=batch.tgt_out))


@capstone.mistake(DEAF_TO_ORDER)
def _(pairs):
    return _learned(pairs, 200, positions="none")


@capstone.mistake(
    "`my_capstone(pairs)` returned a Translator. Return a function, from a source to its target: "
    "`lambda source: translator.translate([source])[0]`."
)
def _(pairs):
    return _newborn(pairs)


class _Words(Vocabulary):
    """A small vocabulary that a check can show with its ids."""

    def __repr__(self) -> str:
        return ", ".join(f"{token} {i}" for i, token in enumerate(self.tokens(range(len(self)))))

    def __deepcopy__(self, memo):
        return self


_Words.__name__ = "Vocabulary"


def _single_pairs():
    source, target = _Words([".", "bu", "da"], "en"), _Words(["ti", ".", "lo", "mo"], "en")
    small, one = _Words(["no"], "en"), _Words(["ja", "no"], "en")
    return [
        (SentencePair("Bu da.", "Lo mo ti."), source, target, 1, 2),
        (SentencePair("Da.", "Ti."), source, target, 1, 2),
        (SentencePair("Bu bu da.", "Mo."), source, target, 1, 2),
        (SentencePair("No", "Ja"), small, one, 1, 2),
    ]


capstone_for_one = Exercise(
    sections=(
        "14 The loop in ten lines",
        "15 Train it",
    ),
    task="One pair as a model is fed it. `pair.source` and `pair.target` are strings, `source` and `target` "
    "vocabularies: `source.encode(text)` gives the ids of a text as a list, without `<bos>` and `<eos>`. "
    "Return three lists of ids, as a tuple: `src`, the source and then `<eos>`; `tgt_in`, what the decoder "
    "reads: `<bos>`, then the target; `tgt_out`, what it must say: the target, then `<eos>`. `bos_id` and "
    "`eos_id` are the ids of these two.",
    cases=_single_pairs,
    hints=(
        "Each side has a vocabulary of its own: the same id means one word in the first and another in the "
        "second.",
        "A list with one more at its end is `[*ids, eos_id]`, one with one more in front `[bos_id, *ids]`. "
        "`tgt_in` and `tgt_out` are equally long: at each step the decoder reads a token and must say the "
        "next.",
    ),
    passed="`encode_pairs` appends `<eos>` to the ids of 2000 pairs, and `TokenBatches` pads and shifts them. "
    "At which step does the model learn to say `<eos>`?",
    gaps=("[*source.encode(pair.source), eos_id]", "[bos_id, *ids]", "[*ids, eos_id]"),
)


@capstone_for_one.solution
def my_capstone_for_one(pair, source, target, bos_id, eos_id):
    # The encoder reads the whole sentence, and that it ends.
    src = [*source.encode(pair.source), eos_id]  # (source + 1)
    ids = target.encode(pair.target)  # (target)
    # At each step the decoder reads a token and must say the next: the first from <bos>, the last is <eos>.
    tgt_in = [bos_id, *ids]  # (target + 1)
    tgt_out = [*ids, eos_id]  # (target + 1)
    return src, tgt_in, tgt_out


@capstone_for_one.solution
def _(pair, source, target, bos_id, eos_id):
    (example,) = encode_pairs([pair], source.encode, target.encode, max_len=20)
    tgt_in = shift_right(torch.tensor([example.tgt]))[0].tolist()
    return example.src, tgt_in, example.tgt


capstone_for_one.edits("""
[bos_id, *ids] → [*ids, eos_id]
    `tgt_in` is not shifted: the decoder would read the token that it must say, and learn to copy. It begins
    with `<bos>` and lags one token behind.
[bos_id, *ids] → [bos_id, *ids, eos_id]
    `tgt_in` is one token too long: after `<eos>` there is nothing left to say, so it is not read.
[bos_id, *ids] → ids
    `tgt_in` does not begin with `<bos>`. From what should the decoder say its first word?
[bos_id, *ids] → [bos_id, *ids[:-1]]
    The last word is missing from `tgt_in`. From it the decoder must say `<eos>`: only `<eos>` itself is not
    read.
[*ids, eos_id] → ids
    `tgt_out` does not end in `<eos>`: the model would never learn to stop.
[*ids, eos_id] → [bos_id, *ids, eos_id]
    Your `tgt_out` begins with `<bos>`. The decoder reads it and never says it.
[*source.encode(pair.source), eos_id] → source.encode(pair.source)
    `src` does not end in `<eos>`. The encoder reads it too: it tells where the source ends.
[*source.encode → [bos_id, *source.encode
    Your `src` begins with `<bos>`. Only the decoder needs something to begin from.
[*source.encode(pair.source), eos_id] → source.encode(pair.source) ; [*ids, eos_id] → ids
    `<eos>` is missing from `src` and from `tgt_out`: both end in it.
src, tgt_in, tgt_out → src, tgt_out, tgt_in
    `tgt_in` and `tgt_out` are exchanged: the first begins with `<bos>`, the second ends in `<eos>`.
target.encode → source.encode
    You encode the target with the vocabulary of the source. Each side has its own.
*source.encode → *target.encode
    You encode the source with the vocabulary of the target. Each side has its own.
*source.encode → *target.encode ; = target.encode → = source.encode
    The two vocabularies are exchanged.
pair.target → pair.source
    You encode the source twice. `tgt_in` and `tgt_out` are made of `pair.target`.
bos_id, *ids → eos_id, *ids
bos_id, *ids → 0, *ids
    `tgt_in` begins with another special token. It begins with `<bos>`, `bos_id`.
[bos_id, *ids] → ids ; [*ids, eos_id] → [*ids[1:], eos_id]
    `<bos>` is missing, so nothing asks for the first word. Of `[bos_id, *ids, eos_id]` all but the last is
    `tgt_in`, and all but the first is `tgt_out`.
[*source.encode(pair.source), eos_id] → source.encode(pair.source).append(eos_id)
[*ids, eos_id] → ids.append(eos_id)
[*source.encode(pair.source), eos_id] → source.encode(pair.source).append(eos_id) ; [*ids, eos_id] → ids.append(eos_id)
    `append` changes its list and returns None. `[*ids, eos_id]` is a new list with one more at its end.
return src, tgt_in, tgt_out → return tuple(map(torch.tensor, (src, tgt_in, tgt_out)))
    You return tensors. Lists are wanted here; tensors come when rows are padded to one length.
return src, tgt_in, tgt_out → return src, tgt_out
    You return two lists. Three are wanted: src, tgt_in and tgt_out.
*source.encode(pair.source) → *tokenize(pair.source, "en") ; target.encode(pair.target) → tokenize(pair.target, "en")
    These are words. A model reads ids: `source.encode(text)` gives them.
""")
