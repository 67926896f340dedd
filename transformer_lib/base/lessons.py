"""The one row that a lesson has beside its notebook: its place, its recall, its routes.

Its minutes stand in the notebook, and are read from there.
"""

from typing import NamedTuple


class Lesson(NamedTuple):
    """What is known of a lesson without opening it.

    `able` says what one can do after it, for README's route; `label` and `told` stand in its box on
    the route's drawing. `opening` are the questions that `recall` asks: two on earlier lessons, one
    on this or another earlier one. `day` and `gpt` are its parts on the two shorter routes:
    (minutes in class, what of it), () where all of it is taken, None where it is left out.
    """

    stage: str
    able: str
    label: str
    told: str
    opening: tuple[str, ...]
    day: tuple[int, str] | tuple[()] | None = None
    gpt: tuple[int, str] | tuple[()] | None = ()


ATTENTION, RECURRENT = "What attention is", "Before the Transformer"
TRANSFORMER, DOING = "The Transformer", "What it can do"

LESSONS = {
    "00": Lesson(
        ATTENTION,
        "read shapes, multiply batches of matrices, turn scores into weights",
        "start here",
        "shapes, softmax",
        ("00.1", "00.2"),
        day=(19, "shapes, products of matrices, softmax"),
    ),
    "01": Lesson(
        ATTENTION,
        "say what query, key and value are",
        "cues",
        "query, key, value",
        ("00.1", "00.2", "01.2"),
        day=(19, "a wish in numbers; query, key and value"),
    ),
    "02": Lesson(
        ATTENTION,
        "predict by weighted averages, and learn their width",
        "pooling",
        "what is near counts",
        ("00.1", "01.1", "02.2"),
        day=(20, "pooling by hand, as a softmax, and one step downhill"),
        gpt=(37, "pooling as a softmax, its width learned"),
    ),
    "03": Lesson(
        ATTENTION,
        "score a key for a query, and leave padding out",
        "scores",
        "who matches whom",
        ("01.2", "02.2", "03.2"),
        day=(18, "from the distance to the dot score, and the masked softmax"),
    ),
    "04": Lesson(
        ATTENTION,
        "say why scores are divided by √d, and measure it",
        "√d",
        "the whole formula",
        ("01.1", "03.1", "04.1"),
        day=(35, "the root and its proof, the formula, nn.Module, the gradient"),
    ),
    "05": Lesson(
        RECURRENT,
        "translate without attention, and see where that ends",
        "sequences",
        "all in one vector",
        ("02.2", "04.2", "05.3"),
        day=(22, "part one: words, batches, shift, loss"),
        gpt=(41, "part one: words, batches, shift, loss"),
    ),
    "06": Lesson(
        RECURRENT,
        "let a decoder look back at every word",
        "Bahdanau",
        "look back, then step",
        ("01.2", "05.1", "06.1"),
        gpt=None,
    ),
    "07": Lesson(
        RECURRENT,
        "compare scores, windows and budgets fairly",
        "Luong",
        "step, then look back",
        ("03.2", "06.3", "07.3"),
        gpt=None,
    ),
    "08": Lesson(
        TRANSFORMER,
        "let a sentence look at itself, and count what it costs",
        "self-attention",
        "words ask words",
        ("03.1", "04.1", "08.1"),
        day=(32, "who “it” means, roles, order, ways and costs"),
    ),
    "09": Lesson(
        TRANSFORMER,
        "say what one head cannot do; write multi-head attention whole",
        "heads",
        "several heads at once",
        ("04.2", "08.2", "09.4"),
        day=(36, "one row, two heads, from projection to projection"),
    ),
    "10": Lesson(
        TRANSFORMER,
        "give words their positions, by clocks that are added or by turns",
        "positions",
        "who stands where",
        ("04.1", "09.1", "10.3"),
        day=(28, "clocks, why two hands each, added to the words"),
    ),
    "11": Lesson(
        TRANSFORMER,
        "explain feed-forward, residuals and norms, and break them",
        "encoder layer",
        "add, norm, compute",
        ("05.3", "10.4", "11.4"),
        day=(30, "the parts of a block, and Add & Norm"),
    ),
    "12": Lesson(
        TRANSFORMER,
        "train in parallel what predicts step by step",
        "decoder layer",
        "masks, two lives",
        ("05.1", "11.3", "12.1"),
        day=(33, "two reasons for masks, the memory, one layer, two lives"),
    ),
    "13": Lesson(
        TRANSFORMER,
        "see the whole model, count its parameters, write it, prove it equals torch's",
        "the Transformer",
        "you build it whole",
        ("11.3", "12.2", "13.1"),
        day=(51, "the whole machine, its ends and doors, stacks, which memory, torch's"),
        gpt=None,
    ),
    "14": Lesson(
        DOING,
        "train the model that you wrote, and predict what each missing part breaks",
        "training",
        "how it learns",
        ("06.1", "13.3", "14.4"),
    ),
    "15": Lesson(
        DOING,
        "train a translator, place it fairly, sort its mistakes, question its heads",
        "translation",
        "how good is it?",
        ("05.3", "14.1", "15.1"),
        day=(17, "a trained translator, shown: BLEU, held out, a map, a sentence of yours"),
        gpt=None,
    ),
    "16": Lesson(
        DOING,
        "make sentences of probabilities: greedily, by chance, by beam; and prove the cache",
        "decoding",
        "choosing the words",
        ("12.1", "15.3", "16.1"),
        gpt=(
            47,
            "greedy, sampling, the cache, what a step waits for; then “Write with a cache” of 18",
        ),
    ),
    "17": Lesson(
        DOING,
        "make an update cheaper and count what is saved, share it between processes, predict what a large "
        "run costs and how large its model should be",
        "scaling up",
        "larger and faster",
        ("05.1", "14.3", "17.1"),
        gpt=(28, "four changes that make an update cheaper, and what a large run costs"),
    ),
    "18": Lesson(
        DOING,
        "turn the layers into a GPT, build the block of today's models, read a model card",
        "after the paper",
        "a GPT of our layers",
        ("11.4", "12.1", "18.1"),
        gpt=(79, "your GPT, and today's block"),
    ),
    "19": Lesson(
        DOING,
        "find the faulty line that a property test catches; train a translator of your own parts",
        "review",
        "find the bug",
        ("02.1", "09.1", "16.1"),
        gpt=(25, "the four questions, and what you still know"),
    ),
}
