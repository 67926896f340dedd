"""The Transformer on one page: model, gradients, training and translation, in plain Python.

It is the model of "Attention Is All You Need" (Vaswani et al. 2017), only smaller, and without
dropout and label smoothing. Only `math` and `operator` are imported to calculate, with one number or two at a time.
To be read from top to bottom, on a train. What each part is for, the lessons say: 02 gradients,
04 attention, 09 heads, 10 positions, 11 and 12 layers, 13 the model, 14 training, 16 translating.

    python one_page.py                 learn a toy translation, in some minutes
    python one_page.py --updates 10    only begin
"""

import argparse
import itertools
import math
import random
from operator import add, mul

# ------------------------------------------------------------------ matrices that have a gradient

TAPE = []  # for each operation, in their order, how the gradient goes back through it


def turn(rows):
    """The columns as rows."""
    return [list(column) for column in zip(*rows)]


def dots(a, b):
    """Each row of a times each row of b."""
    return [[sum(map(mul, row, other)) for other in b] for row in a]


def entries(operation, a, b):
    """Entry by entry. If b is a single row, it serves all rows of a."""
    return [list(map(operation, *pair)) for pair in zip(a, itertools.cycle(b))]


def zeros(rows):
    return [[0.0] * len(row) for row in rows]


def made(rows, back):
    """A new matrix. Later, back(its gradient) gives what it was made of their part of it."""
    new = Matrix(rows)
    TAPE.append(lambda: back(new.grad))
    return new


class Matrix:
    """Rows of numbers; `grad` says of each of them how fast the loss grows with it."""

    def __init__(self, rows):
        self.rows = rows
        self.grad = zeros(rows)

    def take(self, grad):
        """Gradients add up, over all uses, and over all rows that a single row has served."""
        if len(grad) > len(self.rows):
            grad = [[sum(column) for column in turn(grad)]]
        self.grad = entries(add, self.grad, grad)

    def __matmul__(self, other):
        def back(grad):
            self.take(dots(grad, other.rows))
            other.take(dots(turn(self.rows), turn(grad)))

        return made(dots(self.rows, turn(other.rows)), back)

    @property
    def T(self):
        return made(turn(self.rows), lambda grad: self.take(turn(grad)))

    def __add__(self, other):
        def back(grad):
            self.take(grad)
            other.take(grad)

        return made(entries(add, self.rows, other.rows), back)

    def __mul__(self, other):
        """Entry by entry; it is `@` that is the matrix product."""

        def back(grad):
            self.take(entries(mul, grad, other.rows))
            other.take(entries(mul, grad, self.rows))

        return made(entries(mul, self.rows, other.rows), back)

    def picked(self, ids):
        """The rows of these ids, in this order."""

        def back(grad):
            for i, row in zip(ids, grad):
                self.grad[i] = list(map(add, self.grad[i], row))

        return made([self.rows[i] for i in ids], back)

    def each(self, function, slope):
        """A function of each entry; slope(entry) is how fast it grows there."""

        def back(grad):
            self.take([[g * slope(x) for g, x in zip(*pair)] for pair in zip(grad, self.rows)])

        return made([[function(x) for x in row] for row in self.rows], back)

    def softmax(self, allowed):
        """Each row becomes weights that add up to 1, and are 0 where it is not allowed."""
        tops = [max(itertools.compress(*pair)) for pair in zip(self.rows, allowed)]
        shifts = [[-top if ok else -math.inf for ok in may] for top, may in zip(tops, allowed)]
        powers = (self + Matrix(shifts)).each(math.exp, math.exp)
        ones = Matrix([[1.0] * len(allowed[0])] * len(allowed[0]))
        return powers * (powers @ ones).each(lambda x: 1 / x, lambda x: -1 / x**2)

    def normed(self):
        """Each row less its mean, and divided by its standard deviation."""
        d = len(self.rows[0])
        mean = Matrix([[1 / d] * d] * d)  # times it, every entry becomes the mean of its row
        x = self + self @ mean * Matrix([[-1.0] * d])
        variance = x * x @ mean
        return x * variance.each(lambda v: (v + 1e-5) ** -0.5, lambda v: -0.5 * (v + 1e-5) ** -1.5)


def below(matrices):
    """The matrices one below another."""

    def back(grad):
        rows = iter(grad)
        for matrix in matrices:
            matrix.take(list(itertools.islice(rows, len(matrix.rows))))

    return made([row for matrix in matrices for row in matrix.rows], back)


# ---------------------------------------------------------------------------------------- the model

SPECIAL = ["<pad>", "<bos>", "<eos>"]
PAD, BOS, EOS = range(3)


def linear(p, name, x):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def attention(p, name, x, memory, allowed, num_heads):
    """Each row of x attends to the rows of memory that it is allowed to."""
    q = linear(p, name + ".q_proj", x).T  # turned, so that a head is a few of its rows
    k = linear(p, name + ".k_proj", memory).T
    v = linear(p, name + ".v_proj", memory).T
    width = len(q.rows) // num_heads
    scale = Matrix([[width**-0.5] * len(memory.rows)])
    heads = []
    for part in (range(h * width, (h + 1) * width) for h in range(num_heads)):
        scores = q.picked(part).T @ k.picked(part) * scale
        heads.append(v.picked(part) @ scores.softmax(allowed).T)
    return linear(p, name + ".out_proj", below(heads).T)


def feed_forward(p, name, x):
    hidden = linear(p, name + ".up_proj", x).each(lambda x: max(x, 0.0), lambda x: float(x > 0))
    return linear(p, name + ".down_proj", hidden)


def add_norm(p, name, x, change):
    return (x + change).normed() * p[name + ".norm.weight"] + p[name + ".norm.bias"]


def embed(p, name, ids):
    """A row for each token, and added to it the clocks of its position."""
    d = len(p[name].rows[0])
    angles = [[t / 10000 ** (2 * (i // 2) / d) for i in range(d)] for t in range(len(ids))]
    clocks = [[(math.sin, math.cos)[i % 2](a) for i, a in enumerate(row)] for row in angles]
    return p[name].picked(ids) * Matrix([[math.sqrt(d)] * d]) + Matrix(clocks)


def encode(p, source, num_layers, num_heads):
    """The memory: a row for each source token. None attends to padding."""
    allowed = [[token != PAD for token in source]] * len(source)
    x = embed(p, "encoder.embedding.weight", source)
    for layer in (f"encoder.layers.{n}" for n in range(num_layers)):
        found = attention(p, layer + ".self_attn", x, x, allowed, num_heads)
        x = add_norm(p, layer + ".add_norm1", x, found)
        x = add_norm(p, layer + ".add_norm2", x, feed_forward(p, layer + ".feed_forward", x))
    return x


def decode(p, target, memory, source, num_layers, num_heads):
    """A row of logits for each target token: which token is next. None attends to later ones."""
    causal = [[key <= query for key in range(len(target))] for query in range(len(target))]
    allowed = [[token != PAD for token in source]] * len(target)
    x = embed(p, "decoder.embedding.weight", target)
    for layer in (f"decoder.layers.{n}" for n in range(num_layers)):
        found = attention(p, layer + ".self_attn", x, x, causal, num_heads)
        x = add_norm(p, layer + ".add_norm1", x, found)
        found = attention(p, layer + ".cross_attn", x, memory, allowed, num_heads)
        x = add_norm(p, layer + ".add_norm2", x, found)
        x = add_norm(p, layer + ".add_norm3", x, feed_forward(p, layer + ".feed_forward", x))
    return x @ p["generator.weight"].T


def translate(p, source, num_layers, num_heads, longest=10):
    """Greedily: the likeliest next token, again and again, until it is the end."""
    memory = encode(p, source, num_layers, num_heads)
    target = [BOS]
    while target[-1] != EOS and len(target) < longest:
        logits = decode(p, target, memory, source, num_layers, num_heads).rows[-1]
        target.append(logits.index(max(logits)))
    TAPE.clear()
    return target


# ------------------------------------------------------------------------------------- the training


def new_parameters(source_words, target_words, d, d_ff, num_layers):
    """All that is learned, by the names that it has in `transformer_lib`."""

    def noise(height, width):
        return Matrix([[random.gauss(0, width**-0.5) for _ in range(width)] for _ in range(height)])

    p = {"encoder.embedding.weight": noise(source_words, d)}
    p["decoder.embedding.weight"] = noise(target_words, d)
    p["generator.weight"] = noise(target_words, d)
    for side, kinds in {"encoder": ["self"], "decoder": ["self", "cross"]}.items():
        for layer in (f"{side}.layers.{n}." for n in range(num_layers)):
            linears = {"feed_forward.up_proj": (d_ff, d), "feed_forward.down_proj": (d, d_ff)}
            for kind, role in itertools.product(kinds, ("q", "k", "v", "out")):
                linears[f"{kind}_attn.{role}_proj"] = (d, d)
            for name, (height, width) in linears.items():
                p[f"{layer}{name}.weight"] = noise(height, width)
                p[f"{layer}{name}.bias"] = Matrix([[0.0] * height])
            for norm in (f"{layer}add_norm{i + 1}.norm" for i in range(len(kinds) + 1)):
                p[norm + ".weight"], p[norm + ".bias"] = Matrix([[1.0] * d]), Matrix([[0.0] * d])
    return p


def loss_and_gradients(p, pairs, *sizes):
    """The mean of −ln(probability of the right token); it leaves the gradient in each matrix."""
    for matrix in p.values():
        matrix.grad = zeros(matrix.rows)
    tokens = sum(token != PAD for _, target in pairs for token in target[1:])
    loss = 0.0
    for source, target in pairs:
        logits = decode(p, target[:-1], encode(p, source, *sizes), source, *sizes)
        chances = logits.softmax([[True] * len(row) for row in logits.rows])
        for row, grad, token in zip(chances.rows, chances.grad, target[1:]):
            if token != PAD:
                loss -= math.log(row[token]) / tokens
                grad[token] = -1 / (row[token] * tokens)
        while TAPE:
            TAPE.pop()()
    return loss


def adam(p, means, squares, update, rate):
    """One update: each number goes against its gradient, by `rate` or less."""
    for name, matrix in p.items():
        for row, grad, mean, square in zip(matrix.rows, matrix.grad, means[name], squares[name]):
            for i, g in enumerate(grad):
                mean[i] += 0.1 * (g - mean[i])
                square[i] += 0.02 * (g * g - square[i])
                spread = math.sqrt(square[i] / (1 - 0.98**update)) + 1e-9
                row[i] -= rate * mean[i] / (1 - 0.9**update) / spread


# ------------------------------------------------------------------------------- a toy translation

NOUNS = {"cat": "le chat", "king": "le roi", "queen": "la reine", "house": "la maison"}
COLOURS = {"green": ("vert", "verte"), "black": ("noir", "noire"), "white": ("blanc", "blanche")}
VERBS = {"sees": "voit", "wants": "veut", "finds": "trouve", "paints": "peint"}


def sentence_pairs():
    """In French the colour stands behind the noun, and agrees with it."""
    things = {f"the {noun}": french for noun, french in NOUNS.items()}
    for (noun, french), (colour, forms) in itertools.product(NOUNS.items(), COLOURS.items()):
        things[f"the {colour} {noun}"] = f"{french} {forms[french.startswith('la')]}"
    parts = itertools.product(things.items(), VERBS.items(), things.items())
    return [[" ".join(words) for words in zip(*part)] for part in parts]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn a toy translation in plain Python.")
    parser.add_argument("--updates", type=int, default=500, help="of 8 sentences each (500)")
    options = parser.parse_args()
    random.seed(0)
    pairs = sentence_pairs()
    random.shuffle(pairs)
    words = [SPECIAL + sorted({*" ".join(side).split()}) for side in zip(*pairs)]

    def ids(side, sentence):
        return [words[side].index(word) for word in sentence.split()]

    data = [(ids(0, english), ids(1, f"<bos> {french} <eos>")) for english, french in pairs]
    sizes = 2, 2  # layers and heads
    p = new_parameters(*map(len, words), d=16, d_ff=32, num_layers=sizes[0])
    means, squares = ({name: zeros(m.rows) for name, m in p.items()} for _ in range(2))
    for update in range(1, options.updates + 1):
        loss = loss_and_gradients(p, random.sample(data[40:], 8), *sizes)
        adam(p, means, squares, update, rate=0.01 * min(1, update / 50))
        if update % 10 == 0:
            print(f"update {update}: loss {loss:.3f}")
    found = [translate(p, source, *sizes) for source, _ in data[:40]]
    for (english, _), target in zip(pairs[:5], found):
        print(f"{english} → {' '.join(words[1][i] for i in target)}")
    right = sum(target == of[1] for target, of in zip(found, data))
    print(f"{right} of {len(found)} sentences that it has never seen are right")
