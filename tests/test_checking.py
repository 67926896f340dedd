"""What a check says where no mistake is known: relations, the student's own line, the case for paper.

Every relation is made here by hand, from a right answer that the tests know, and must be said; where it
holds in one case and not in another it must not.
"""

import linecache
import math

import pytest
import torch

from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking import errors, relations, running
from transformer_lib.exercises.checking.edits import Edit, edited, made, parse
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.checking.verdict import KINDS, Paper, Verdict

TOLERANCE = 1e-4
X = torch.tensor([[0.7, -1.2, 2.5], [0.3, 1.9, -0.4]])
Y = torch.tensor([[1.1, 0.2], [-0.8, 2.2], [0.5, 3.0]])
WEIGHTS = torch.tensor([[0.5, 1.5, -1.0], [2.0, 0.0, 0.25]]).softmax(-1)


def between(make, *wanted, named=()):
    return relations.between([(make(w), w, named) for w in wanted], TOLERANCE)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda w: w.T, "transposed: the last axis but one stands where the last"),
        (lambda w: -w, "minus the right answer"),
        (lambda w: 1 - w, "1 minus the right answer"),
        (lambda w: 2 * w, "multiplied by 2"),
        (lambda w: w / 10, "multiplied by 1/10"),
        (lambda w: w + 1, "1 more than it should be"),
        (lambda w: w.flip(0), "opposite order along axis 0"),
        (lambda w: w.flip(1), "opposite order along axis 1"),
        (lambda w: w[None], "axis of length 1 too many, axis 0"),
        (lambda w: w[..., None], "`[:, :, 0]`"),
        (lambda w: w.flatten(), "`reshape`"),
        (lambda w: w.sum(1), "You have summed over axis 1"),
        (lambda w: w.mean(0), "You have averaged over axis 0"),
        (lambda w: torch.cat([w, w[:1]]), "1 too many behind"),
        (lambda w: w[:-1], "1 too few at the end"),
        (lambda w: w.relu(), "a `relu` too many"),
        (lambda w: w.tanh(), "a `tanh` too many"),
        (lambda w: w.exp(), "an `exp` too many"),
        (lambda w: w * w, "a square too many"),
        (lambda w: torch.zeros_like(w), "0 everywhere"),
        (lambda w: w[:1].expand_as(w), "In yours all rows are the same: it is the first"),
        (lambda w: w.clone().fill_diagonal_(9.0), "on the diagonal"),
        (lambda w: w.triu(1) + w.tril() * 3, "multiplied by 3|below|diagonal|None"),
        (lambda w: w.round().long(), "None"),
        (lambda w: w * math.nan, "None"),
        (lambda w: w.tolist(), "`torch.stack`"),
    ],
)
def test_a_relation_is_said_where_it_holds_in_every_case(make, said):
    found = str(between(make, X, Y))
    assert any(part in found for part in said.split("|")), found


def test_a_relation_that_one_case_refutes_is_not_said():
    pairs = [(2 * X, X, ()), (3 * Y, Y, ())]
    assert relations.between(pairs, TOLERANCE) is None
    assert "multiplied by 2" in relations.between(pairs[:1], TOLERANCE)


def test_the_right_columns_in_another_order():
    found = relations.between([(X[:, [0, 2, 1]], X, ())], TOLERANCE)
    assert (
        found == "The right numbers, but along axis 1, the last axis, they stand in another order."
    )


def test_a_factor_is_said_by_the_size_that_it_is_in_every_case():
    named = lambda d: [("query", torch.zeros(5, d)), ("key", torch.zeros(7, d))]
    pairs = [(X / math.sqrt(d), X, named(d)) for d in (4, 9)]
    assert relations.between(pairs, TOLERANCE) == (
        "Yours is the right answer divided by the root of the length of axis 1 of `query`."
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda w: w * 3, "each is still to be divided by its sum"),
        (lambda w: w.log() + 5, "the softmax is still missing"),
        (lambda w: w.softmax(-1), "One softmax too many"),
        (lambda w: (w.log() + 5).softmax(0), "add up to 1 along axis 0"),
    ],
)
def test_rows_that_should_add_up_to_one(make, said):
    pairs = [(make(w), w, ()) for w in (WEIGHTS, WEIGHTS.flip(1) ** 1)]
    assert said in relations.between(pairs, TOLERANCE)


def test_right_but_where_a_mask_says():
    mask = torch.tensor([[True, True, False], [False, False, False]])
    hidden = torch.where(mask, X, 7.0)
    assert relations.between([(hidden, X, [("mask", mask)])], TOLERANCE) == (
        "Right wherever `mask` is True; wrong where it is False."
    )
    last = X.clone()
    last[1] = math.nan
    assert "the rows in which `mask` allows nothing" in relations.between(
        [(last, X, [("mask", mask)])], TOLERANCE
    )


@pytest.mark.parametrize(
    ("got", "wanted", "said"),
    [
        (
            (X, Y + 1),
            (X, Y),
            "The first of the 2 things that you return is right. Of the second: Every",
        ),
        ((X, X), (X, Y), "You return it twice|The second is not"),
        ((Y, X), (X, Y), "in the other order"),
        (X, (X, Y), "the first of the 2 things"),
        ([X, Y], (X, Y), "Right, but in a list: a tuple is wanted"),
        ((X, Y), X, "Only the first of the 2 things that you return is wanted"),
        ([1, 2, 3], [3, 2, 1], "in the opposite order"),
        ([3, 1, 2], [1, 2, 3], "in another order"),
        ([2, 3, 4], [1, 2, 3], "Each is 1 more than it should be"),
        ([1, 2], [1, 2, 3], "the last is missing"),
        ({(2, 1)}, {(1, 2)}, "the wrong way round"),
        ({1}, {1, 2}, "something is missing"),
        (0.25, 0.75, "1 minus the right answer"),
        (600 / math.log(2), 600.0, "in bits"),
        (4.0, 0.25, "numerator and denominator"),
        (math.log(0.3), 0.3, "the logarithm of the right answer"),
        (
            torch.tensor([[1, 2, 3]]),
            torch.tensor([[1.0, 2, 3]]),
            "they are integers; floats are wanted",
        ),
    ],
)
def test_relations_of_other_things_than_tensors(got, wanted, said):
    found = relations.between([(got, wanted, ())], TOLERANCE)
    assert any(part in found for part in said.split("|")), found


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (lambda d, h: -2 * d - h, "Short by exactly 2 · d + h."),
        (lambda d, h: d * d + 3 * d, "Too many by exactly d · d + 3 · d."),
        (lambda d, h: d - h, "Yours is the right answer + d − h."),
        (lambda d, h: d**3, "None"),
        (lambda d, h: 0.5 * d, "None"),
    ],
)
def test_a_whole_number_that_is_off_is_told_by_its_sizes(by, said):
    sizes = [(2, 3), (4, 4), (6, 10), (512, 2048), (5, 3)]
    pairs = [(100 * d * h + by(d, h), 100 * d * h, [("d", d), ("h", h)]) for d, h in sizes]
    assert str(relations.between(pairs, TOLERANCE)) == said
    assert relations.between(pairs[:3], TOLERANCE) != "Short by exactly 2 · d + h."


def test_a_float_where_a_whole_number_is_wanted():
    exercise = Exercise(task="", cases=lambda: [(2,), (6,)], hints=())
    exercise.solution(lambda n: n // 2)
    verdict = exercise.judge(lambda n: n / 2)
    assert verdict.kind == "mistake"
    assert verdict.message.startswith("Right, but 1.0 is a float, and a whole number is wanted")


def test_right_but_for_a_row():
    wrong = Y.clone()
    wrong[0] = 9.0
    assert between(lambda w: wrong, Y).startswith("Right, but for the first row")


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ((0,), "Right, but for `[0]` of what you return."),
        ((slice(None), -1), "Right, but for the last row."),
        ((slice(0, 2),), "Only `[-1]` of what you return is right."),
    ],
)
def test_of_a_batch_what_is_wrong_is_said_by_its_index(at, said):
    wanted = torch.arange(36.0).view(3, 3, 4)
    wrong = wanted.clone()
    wrong[at] += torch.rand(wrong[at].shape) + 1
    assert between(lambda w: wrong, wanted) == said


def test_ids_are_not_computed_with():
    ids = torch.tensor([[3, 1, 2]])
    assert "minus" not in str(between(lambda w: -w, ids))


# ------------------------------------------------------------------------ relations to the inputs


def weighed():
    """weights @ values, plus half a bias: an exercise with nothing known of its mistakes."""
    torch.manual_seed(3)
    sizes = ((1, 2, 3, 2), (2, 4, 3, 5), (3, 3, 3, 3))
    cases = [
        (torch.rand(b, q, k), torch.rand(b, k, d), torch.rand(b, q, d)) for b, q, k, d in sizes
    ]
    exercise = Exercise(task="", cases=lambda: cases, hints=())

    @exercise.solution
    def my_weighed(weights, values, bias):
        mixed = weights @ values
        return mixed + bias / 2

    return exercise


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (
            lambda weights, values, bias: weights @ values,
            "relation",
            "`mixed`, a step on the way",
        ),
        (
            lambda weights, values, bias: weights.flip(2) @ values + bias / 2,
            "relation",
            "`weights` in the opposite order along axis 2|`values` in the opposite order along axis 1",
        ),
        (lambda weights, values, bias: weights @ values - bias / 2, "relation", "minus `bias`"),
        (
            lambda weights, values, bias: (weights.clone().fill_(0.5)) @ values + bias.sin() / 2,
            "relation",
            "`weights` plays no part in yours",
        ),
        (
            lambda weights, values, bias: (weights[:1] @ values) + bias / 2,
            "relation",
            "only where axis 0 of `weights` has length 1",
        ),
        (
            lambda weights, values, bias: (weights @ values).squeeze() + bias / 2,
            "passed|relation",
            "",
        ),
        (lambda weights, values, bias: weights @ values + bias.tanh(), "different", "it should be"),
        (lambda weights, values, bias: values @ weights + bias / 2, "error", "raised"),
    ],
)
def test_what_is_done_otherwise_is_found_out_by_trying(answer, kind, said):
    verdict = weighed().judge(answer)
    assert verdict.kind in kind.split("|"), verdict
    assert any(part in verdict.message for part in said.split("|")), verdict
    assert verdict.passed or str(verdict.paper).count("\n") > 4


def test_what_averages_with_weights_that_do_not_add_up_is_told_by_trying():
    cases = [(torch.rand(n), torch.rand(n)) for n in (2, 4)]
    exercise = Exercise(task="", cases=lambda: cases, hints=())
    exercise.solution(lambda scores, values: scores.softmax(0) @ values)
    verdict = exercise.judge(lambda scores, values: scores.sigmoid() @ values)
    assert verdict.kind == "relation"
    assert "With `values` 1 everywhere, yours is not 1" in verdict.message


def test_a_batch_whose_rows_meet_is_told_by_trying():
    exercise = weighed()
    verdict = exercise.judge(
        lambda weights, values, bias: weights @ (2 * values - values.mean(0)) + bias / 2
    )
    assert "when the others change" in verdict.message


@pytest.mark.parametrize("right_in_one", [True, False])
def test_what_plays_a_part_where_yours_is_right_is_not_said_to_play_none(right_in_one):
    exercise = Exercise(task="", cases=lambda: [(X, 2 * X), (Y, 3 * Y)], hints=())
    exercise.solution(lambda x, bias: x + bias)
    answer = lambda x, bias: x + bias if right_in_one and len(x) == 3 else x.sin()
    said = "`bias` plays no part in yours" in exercise.judge(answer).message
    assert said != right_in_one


def test_an_answer_right_for_a_batch_of_one_alone_is_not_said_to_be_so_by_chance():
    """It is right in the one case of a batch of one, but for another reason."""
    verdict = weighed().judge(lambda weights, values, bias: (weights @ values + bias / 2)[:, :2])
    assert "has length 1" not in verdict.message


def test_what_is_right_except_where_an_argument_is_not_given():
    """And the exception is called one."""
    cases = [(X, None), (X, torch.tensor([[True], [False]])), (Y, Y > 1)]
    exercise = Exercise(task="", cases=lambda: cases, hints=())
    exercise.solution(lambda x, mask: x**2 + 1 if mask is None else x * mask)
    verdict = exercise.judge(lambda x, mask: x.sin() + x.cos() if mask is None else x * mask)
    assert verdict.message.startswith("It is right, except where `mask` is not given.")


def test_what_is_no_average_of_an_argument_is_told_by_its_name():
    exercise = Exercise(task="", cases=lambda: [(X,), (Y,)], hints=())
    exercise.solution(lambda x: x.mean(0))
    message = exercise.judge(lambda x: x.sin().mean(0) + x.cos().amax(0)).message
    assert "or it is not `x` itself that you average." in message


def test_a_batch_of_one_that_is_squeezed_away():
    exercise = Exercise(task="", cases=lambda: [(X[:1],), (X,), (Y,)], hints=())
    exercise.solution(lambda x: x * 2)
    verdict = exercise.judge(lambda x: (x * 2).squeeze())
    assert verdict.kind == "relation"
    assert "axis of length 1 is missing, axis 0" in verdict.message


# ------------------------------------------------------------------------------------ edits and pairs

SOLUTION = """\
def f(x):
    y = x + 1  # one more
    return y * 2
"""


def test_an_edit_says_what_becomes_of_which_text():
    found = list(
        parse("x + 1 → x\nx + 1 → x - 1\n    No\n    step.\n\ny * 2 → y ; + 1 → + 2\n    Two.")
    )
    assert [sentence for sentence, _ in found] == ["No step.", "No step.", "Two."]
    assert found[2][1] == Edit((("y * 2", "y"), ("+ 1", "+ 2")))
    assert made(edited(SOLUTION, found[2][1]), "f", {})(5) == 7
    assert made(edited(SOLUTION, found[0][1], Edit((("* 2", "* 3"),))), "f", {})(5) == 15


def test_an_edit_may_span_lines_and_take_text_out():
    ((_, edit),) = parse("# one more ⏎ return y * 2 → ⏎ y = -y ⏎ return y\n    Minus.")
    assert made(edited(SOLUTION, edit), "f", {})(5) == -6
    ((_, out),) = parse(" * 2 →\n    Once.")
    assert made(edited(SOLUTION, out), "f", {})(5) == 6


def test_two_edits_of_one_place_are_no_pair():
    one, other = Edit((("x + 1", "x"),)), Edit((("+ 1", "+ 2"),))
    assert edited(SOLUTION, one, other) is None


def test_an_edit_whose_text_is_not_there_is_refused():
    with pytest.raises(ValueError, match="has no 'z'"):
        edited(SOLUTION, Edit((("z", "x"),)))
    with pytest.raises(ValueError, match="touch the same place"):
        edited(SOLUTION, Edit((("x + 1", "x"), ("+ 1", ""))))


def test_two_mistakes_at_once_are_both_told():
    def both(scores, mask):
        kept = scores.masked_fill(mask, float("-inf"))
        return torch.softmax(kept, -2).masked_fill(~mask, 0)

    message = exercises()["scoring.masked_softmax"].judge(both).message
    assert message.startswith("Two things at once. (1) Your mask is the wrong way round")
    assert "over the queries" in message


def test_two_mistakes_are_not_seen_in_an_error_that_they_would_raise():
    def one_axis_too_far(x, X, W_q, W_k, W_v):
        return ((X @ W_k) @ (x @ W_q) / W_q.size(1) ** 0.5).softmax(dim=1) @ (X @ W_v)

    message = exercises()["self_attention.one_head_for_one"].judge(one_axis_too_far).message
    assert "Two things" not in message
    assert "a vector has axis 0 alone" in message


def test_the_courses_own_solution_called_inside_is_told_and_does_not_pass():
    exercise = exercises()["cues.entropy"]
    solved = exercise.solutions[0]
    verdict = exercise.judge(lambda weights: solved(weights))
    assert verdict.kind == "mistake"
    assert "it calls the course's solution: write it yourself" in verdict.message


@pytest.mark.parametrize(
    "name",
    [
        "MultiHeadAttention",
        "EncoderLayer",
        "DecoderLayer",
        "Transformer",
        "SwiGLU",
        "GroupedAttention",
        "Block",
    ],
)
def test_the_librarys_class_inherited_is_told_and_does_not_pass(name):
    exercise = exercises()[f"builds.{name}"]
    verdict = exercise.judge(type("Mine", (exercise.reference,), {}))
    assert verdict.kind == "mistake"
    assert verdict.message.startswith("Right, but it calls `")
    assert verdict.message.endswith("`: write it yourself here.")


def test_a_mistake_made_in_some_cases_only_is_known_by_those_that_fail():
    exercise = weighed()
    exercise.edits("bias / 2 → bias\n    Half of the bias is enough.")
    verdict = exercise.judge(
        lambda weights, values, bias: weights @ values + (bias / 2 if len(bias) == 1 else bias)
    )
    assert verdict.kind == "mistake"
    assert verdict.message.startswith("Half of the bias is enough. (It shows in 2 of the 3 cases")


# -------------------------------------------------------------------------------- the student's own line


def cell(source, name="<cell of a student>"):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"torch": torch}
    exec(compile(source, name, "exec"), names)
    return names["answer"]


def told(body, *given):
    answer = cell(f"def answer(a, b):\n    {body}\n")
    try:
        answer(*given)
    except Exception as error:
        return errors.told(error, answer)


STATE, MEMORY = torch.rand(2, 4), torch.rand(2, 5, 4)


@pytest.mark.parametrize(
    ("body", "given", "said"),
    [
        (
            "return a + b",
            (STATE, MEMORY),
            "There `a` is (2, 4) and `b` is (2, 5, 4). `a` has no axis for the 5 of `b`: `[:, None]` gives",
        ),
        (
            "return torch.tanh(a[:, :2] + b[:, :2])",
            (torch.rand(3, 4), torch.rand(6, 4)),
            "Each of the 3 rows of `a[:, :2]` is to meet each of the 6 of `b[:, :2]`",
        ),
        ("return a @ b", (torch.rand(3, 4), torch.rand(6, 4)), "`b.T`"),
        ("return torch.matmul(a, b)", (torch.rand(3, 4), torch.rand(6, 4)), "`b.T`"),
        ("return a @ b", (torch.rand(4, 3), torch.rand(4, 6)), "`a.T`"),
        ("return a.softmax(dim=1)", (torch.rand(3), None), "a vector has axis 0 alone"),
        ("return torch.cat([a, b])", (STATE, MEMORY), "`a` is (2, 4) and `b` is (2, 5, 4)"),
        ("return a.transpose(0, 1).view(-1)", (STATE, None), "`reshape`"),
        ("return (a > 0.5 & b < 1)", (STATE, STATE), "brackets"),
        ("return a @ (1 * b)", (torch.rand(3), torch.rand(2, 3)), "Entry by entry it is `*`."),
        (
            "return torch.stack([a, b])",
            (0.5, 1.5),
            "Of a list of numbers `torch.tensor` makes one.",
        ),
        ("return torch.sin(a)", (0.5, None), "For one number there is `math`"),
        ("return a(b)", (True, STATE), "or was another name meant?"),
        ("return a if a > 0 else b", (STATE, STATE), "one truth value"),
        ("return c", (STATE, STATE), "`NameError: name 'c' is not defined`"),
        ("return torch.nn.Linear(2, 2)(a)", (STATE, None), "torch.nn.Linear(2, 2)(a)"),
        (
            "import json; return json.loads(a and b)",
            (None, STATE),
            "It was raised in `loads`, called in your line",
        ),
    ],
)
def test_an_error_is_told_by_the_line_and_the_shapes_that_met_there(body, given, said):
    text = told(body, *given)
    assert said in text, text
    assert f"in your line `{body}`" in text


@pytest.mark.parametrize("body", ["return a @ b.T", "return (2 * a) @ b", "return a @ b[:2]"])
def test_a_transpose_is_offered_of_names_alone(body):
    """What is turned or cut already was meant so."""
    text = told(body, torch.rand(2, 4), torch.rand(2, 3) if "." in body else torch.rand(6, 4))
    assert "meets a column of" in text
    assert "has columns of" not in text
    assert "has rows of" not in text


def test_shapes_are_told_once_and_a_wrong_call_speaks_of_no_index():
    assert "There `a` is (2, 4). " in told("return torch.mv(a, a)", STATE, None) + " "
    text = told("return torch.nn.functional.layer_norm(a, b)", STATE, STATE)
    assert "An index" not in text


def test_a_call_with_the_wrong_arguments_needs_no_axis():
    text = told("return torch.relu(a, b)", STATE, MEMORY)
    assert "There `a` is (2, 4) and `b` is (2, 5, 4)." in text
    assert "`[:, None]`" not in text


def test_what_fails_within_a_function_that_is_called_has_no_cure_in_the_line():
    text = told("import json; return json.loads(a)", None, None)
    assert "'NoneType'" in text or "NoneType" in text
    assert "is not None" not in text


def test_a_given_function_is_called_by_its_argument():
    def centre(y):
        return y - y.mean()

    (outcome,) = running.run(lambda x, norm: norm(x, x), [(X, centre)], ("x", "norm"))
    assert str(outcome.error) == "norm() takes 1 positional argument but 2 were given"


def test_a_function_that_is_returned_is_called_one():
    answer = lambda x, sublayer, norm, norm_first: lambda: norm(x)
    message = exercises()["blocks.add_norm"].judge(answer).message
    assert "returned a function; it should be a tensor of shape (2, 2)" in message
    assert "drawn at random" not in message


def test_what_should_be_written_is_asked_for_where_the_call_fails_too():
    def wrongly_called(x, gamma, beta, eps):
        return torch.nn.functional.layer_norm(x, gamma, beta, eps)

    verdict = exercises()["blocks.layer_norm"].judge(wrongly_called)
    assert (verdict.kind, verdict.passed) == ("mistake", False)
    assert verdict.message == "It calls `layer_norm`: write it yourself here."


def test_a_long_error_ends_with_a_whole_word():
    text = errors.told(ValueError("several words " * 20), None)
    assert text.endswith("several words …`.")


def test_an_error_that_cannot_be_placed_is_told_all_the_same():
    assert errors.told(KeyError("x"), None) == "`KeyError: 'x'`."


# --------------------------------------------------------------------------------------- paper, kinds


def test_the_case_for_paper_shows_what_went_in_and_where_the_two_part():
    paper = Paper([("x", X), ("n", 3)], X + torch.eye(2, 3), X, place=(0, 0), how="By hand: 0.7.")
    text = str(paper)
    assert "x (2, 3)" in text
    assert "n = 3" in text
    assert text.count("▸") == 2
    assert "▸1.70◂" in text
    assert "▸0.70◂" in text
    assert text.endswith("By hand: 0.7.")


def test_as_many_digits_as_it_takes_to_see_the_difference():
    text = str(Paper([], torch.tensor([0.70001]), torch.tensor([0.70012]), place=(0,)))
    assert "▸0.7000◂" in text
    assert "▸0.7001◂" in text


def test_a_verdict_is_text_markdown_and_data():
    verdict = Verdict("different", "Not so.", Paper([("x", 1)], 2, 3))
    assert verdict._repr_markdown_().startswith("**✗** Not so.\n\n```text\nThe smallest")
    assert verdict.data["kind"] == "different"
    assert "wanted = 3" in verdict.data["case"]
    assert (verdict.passed, verdict.attempted) == (False, True)
    assert not Verdict("empty", "").attempted
    assert set(KINDS) == {"passed", "empty", "mistake", "relation", "different", "error"}


@pytest.mark.parametrize("name", exercises())
def test_the_first_case_is_small_enough_for_paper(name):
    exercise = exercises()[name]
    if name in ("review.culprits", "review.capstone"):  # judged by an examiner, not by cases
        return
    first = exercise.cases()[0]
    for value in getattr(first, "inputs", first):
        if isinstance(value, torch.Tensor):
            assert value.numel() <= 24, f"{tuple(value.shape)}"
