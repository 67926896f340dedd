"""What a Transformer layer is made of: feed-forward, layer norm, Add & Norm.  Lesson 11."""

import torch
import torch.nn.functional as F

from transformer_lib.exercises.checking.machinery import Exercise


def _networks():
    torch.manual_seed(10)
    wide = (torch.randn(2, 3, 4), torch.randn(4, 7), torch.randn(7), torch.randn(7, 4))
    narrow = (torch.randn(5, 6), torch.randn(6, 3), torch.randn(3), torch.randn(3, 6))
    return [(*wide, torch.randn(4)), (*narrow, torch.randn(6))]


feed_forward = Exercise(
    task="The feed-forward network: max(0, x W₁ + b₁) W₂ + b₂ at every position alike. x (…, C), W1 (C, "
    "d_ff), b1 (d_ff,), W2 (d_ff, C), b2 (C,), to (…, C).",
    cases=_networks,
    hints=(
        "Up: `x @ W1 + b1`, d_ff numbers for every token. Whatever x has in front of its last axis is "
        "carried along.",
        "The cut at 0 stands between the two matrices: `.clamp(min=0)` or `torch.relu`.",
        "Down again: `@ W2 + b2`.",
    ),
    passed="No line of yours asks where a token stands, or who stands beside it.",
)


@feed_forward.solution
def my_feed_forward(x, W1, b1, W2, b2):
    hidden = (x @ W1 + b1).clamp(min=0)
    return hidden @ W2 + b2


@feed_forward.solution
def _(x, W1, b1, W2, b2):
    return F.linear(F.relu(F.linear(x, W1.T, b1)), W2.T, b2)


@feed_forward.mistake("The cut at 0 is missing: so your two matrices are one.")
def _(x, W1, b1, W2, b2):
    return (x @ W1 + b1) @ W2 + b2


@feed_forward.mistake("You cut the output, too. It may be negative: the cut stands in the middle.")
def _(x, W1, b1, W2, b2):
    return ((x @ W1 + b1).clamp(min=0) @ W2 + b2).clamp(min=0)


@feed_forward.mistake("You cut at the end. The cut stands between the two matrices.")
def _(x, W1, b1, W2, b2):
    return ((x @ W1 + b1) @ W2 + b2).clamp(min=0)


@feed_forward.mistake("You cut the input at 0. The cut stands between the two matrices.")
def _(x, W1, b1, W2, b2):
    return (x.clamp(min=0) @ W1 + b1) @ W2 + b2


@feed_forward.mistake(
    "You cut before b1 is added. First the bias, then the cut: it says how much is enough."
)
def _(x, W1, b1, W2, b2):
    return ((x @ W1).clamp(min=0) + b1) @ W2 + b2


@feed_forward.mistake("You keep what is below 0, and cut what is above: max(0, …), not min.")
def _(x, W1, b1, W2, b2):
    return (x @ W1 + b1).clamp(max=0) @ W2 + b2


@feed_forward.mistake("That is a GELU. The paper's network, and this one, has a ReLU: max(0, …).")
def _(x, W1, b1, W2, b2):
    return F.gelu(x @ W1 + b1) @ W2 + b2


@feed_forward.mistake(
    "Python's `max(0, …)` compares two single numbers. For all entries of a tensor it is `.clamp(min=0)`."
)
def _(x, W1, b1, W2, b2):
    return max(0, x @ W1 + b1) @ W2 + b2


@feed_forward.mistake("b1 is missing.")
def _(x, W1, b1, W2, b2):
    return (x @ W1).clamp(min=0) @ W2 + b2


@feed_forward.mistake("b2 is missing.")
def _(x, W1, b1, W2, b2):
    return (x @ W1 + b1).clamp(min=0) @ W2


@feed_forward.mistake("Both biases are missing.")
def _(x, W1, b1, W2, b2):
    return (x @ W1).clamp(min=0) @ W2


@feed_forward.mistake(
    "You add x. The network alone is asked for; the residual comes with Add & Norm."
)
def _(x, W1, b1, W2, b2):
    return x + (x @ W1 + b1).clamp(min=0) @ W2 + b2


@feed_forward.mistake(
    "The matrices are turned round: here they stand as in the formula, `x @ W1`. It is `nn.Linear` that "
    "keeps its own transposed."
)
def _(x, W1, b1, W2, b2):
    return (x @ W1.T + b1).clamp(min=0) @ W2.T + b2


def _tokens():
    torch.manual_seed(11)
    return [
        (3 * torch.randn(2, 3, 5) + 1, torch.rand(5) + 0.5, torch.randn(5), 0.1),
        (torch.randn(4, 6), torch.rand(6) + 0.5, torch.randn(6), 1e-5),
    ]


layer_norm = Exercise(
    task="Layer norm: every token's vector minus its mean, over √(variance + eps), then times gamma, "
    "plus beta. x (…, C), gamma and beta (C,), to (…, C).",
    cases=_tokens,
    hints=(
        "One mean and one variance a token: both over the last axis, with `keepdim=True`.",
        "The variance divides by the number of features, C, not by C − 1: `correction=0`.",
        "`(x - mean) / torch.sqrt(variance + eps)`, then `* gamma + beta`.",
    ),
    passed="With eps = 1e-5 a wrong place for it hardly shows; that is why one case has eps = 0.1.",
)


@layer_norm.solution
def my_layer_norm(x, gamma, beta, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@layer_norm.solution
def _(x, gamma, beta, eps):
    return F.layer_norm(x, (x.size(-1),), gamma, beta, eps)


@layer_norm.mistake(
    "Your variance divides by C − 1, as `x.var()` does unless it is told `correction=0`."
)
def _(x, gamma, beta, eps):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@layer_norm.mistake("eps is added to the root. It belongs inside: √(variance + eps).")
def _(x, gamma, beta, eps):
    mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True, correction=0)
    return gamma * (x - mean) / (std + eps) + beta


@layer_norm.mistake(
    "Two slips at once: your variance divides by C − 1 (`correction=0` helps), and eps is added to "
    "the root in place of the variance."
)
def _(x, gamma, beta, eps):
    mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


@layer_norm.mistake("You divide by the variance. Divide by its root.")
def _(x, gamma, beta, eps):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
    return gamma * (x - mean) / (variance + eps) + beta


@layer_norm.mistake(
    "Your mean runs over the words of a sentence, so every token hears the others. Take the last axis."
)
def _(x, gamma, beta, eps):
    mean, variance = x.mean(dim=-2, keepdim=True), x.var(dim=-2, keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@layer_norm.mistake(
    "You take one mean for each feature, over all tokens: that is batch norm. Layer norm takes one for "
    "each token, over its features, the last axis."
)
def _(x, gamma, beta, eps):
    tokens = tuple(range(x.dim() - 1))
    mean, variance = x.mean(tokens, keepdim=True), x.var(tokens, keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@layer_norm.mistake(
    "You take one mean for a whole sentence, over time and features, so every token hears the others "
    "and the padding. Take the last axis alone."
)
def _(x, gamma, beta, eps):
    mean, variance = x.mean((-2, -1), keepdim=True), x.var((-2, -1), keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@layer_norm.mistake("eps is not used: your result is the same whatever it is.")
def _(x, gamma, beta, eps):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance) + beta


@layer_norm.mistake(
    "You take one mean over all numbers. Every token has a mean of its own: the last axis alone."
)
def _(x, gamma, beta, eps):
    return gamma * (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) + beta


@layer_norm.mistake("The mean is still there. Take it off before you divide.")
def _(x, gamma, beta, eps):
    return gamma * x / torch.sqrt(x.var(dim=-1, keepdim=True, correction=0) + eps) + beta


@layer_norm.mistake("gamma and beta are missing.")
def _(x, gamma, beta, eps):
    return F.layer_norm(x, (x.size(-1),), eps=eps)


@layer_norm.mistake("beta is multiplied with gamma too. First times gamma, then plus beta.")
def _(x, gamma, beta, eps):
    return gamma * (F.layer_norm(x, (x.size(-1),), eps=eps) + beta)


@layer_norm.mistake(
    "Without `keepdim=True` the mean loses its last axis, and does not line up with x any more."
)
def _(x, gamma, beta, eps):
    return gamma * (x - x.mean(dim=-1)) / torch.sqrt(x.var(dim=-1, correction=0) + eps) + beta


def _around():
    torch.manual_seed(12)
    mix, scale = torch.randn(5, 5), torch.rand(5) + 0.5
    x = torch.randn(2, 3, 5) + 1

    def sublayer(y):
        return torch.tanh(y @ mix) + 0.5

    def norm(y):
        return F.layer_norm(y, (5,), scale)

    return [(x, sublayer, norm, False), (2 * x, sublayer, norm, True)]


add_norm = Exercise(
    task="Add & Norm around any sublayer. Post-norm: the norm of x plus the sublayer's answer. "
    "Pre-norm (`norm_first`): x plus the sublayer's answer to the norm of x. `sublayer` and `norm` "
    "are functions.",
    cases=_around,
    hints=(
        "Post: add, then norm. Pre: norm, then the sublayer, then add.",
        "What is added in pre-norm is x as it came, not its norm.",
        "`norm(x + sublayer(x))`, and if `norm_first`: `x + sublayer(norm(x))`.",
    ),
    passed="In pre-norm the road from x to the result meets no norm at all.",
)


@add_norm.solution
def my_add_norm(x, sublayer, norm, norm_first):
    if norm_first:
        return x + sublayer(norm(x))
    return norm(x + sublayer(x))


@add_norm.solution
def _(x, sublayer, norm, norm_first):
    before, after = (norm, torch.nn.Identity()) if norm_first else (torch.nn.Identity(), norm)
    answer = sublayer(before(x))
    return after(answer + x)


@add_norm.mistake("This is post-norm, whatever `norm_first` says.")
def _(x, sublayer, norm, norm_first):
    return norm(x + sublayer(x))


@add_norm.mistake("This is pre-norm, whatever `norm_first` says.")
def _(x, sublayer, norm, norm_first):
    return x + sublayer(norm(x))


@add_norm.mistake("The two are the wrong way round: `norm_first` means pre-norm.")
def _(x, sublayer, norm, norm_first):
    return norm(x + sublayer(x)) if norm_first else x + sublayer(norm(x))


@add_norm.mistake("The residual is missing: x itself must be added.")
def _(x, sublayer, norm, norm_first):
    return sublayer(norm(x)) if norm_first else norm(sublayer(x))


@add_norm.mistake(
    "In pre-norm the skip is missing: x itself must be added to the sublayer's answer."
)
def _(x, sublayer, norm, norm_first):
    return sublayer(norm(x)) if norm_first else norm(x + sublayer(x))


@add_norm.mistake("In post-norm the skip is missing: the norm takes x plus the sublayer's answer.")
def _(x, sublayer, norm, norm_first):
    return x + sublayer(norm(x)) if norm_first else norm(sublayer(x))


@add_norm.mistake("In pre-norm you add the norm of x. The skip takes x as it came.")
def _(x, sublayer, norm, norm_first):
    y = norm(x) if norm_first else x
    return y + sublayer(y) if norm_first else norm(y + sublayer(y))


@add_norm.mistake("In post-norm the norm comes last: it takes the sum, not the answer alone.")
def _(x, sublayer, norm, norm_first):
    return x + sublayer(norm(x)) if norm_first else x + norm(sublayer(x))


_FORGETS_THE_SUM = (
    "In post-norm you add the answer to the normed x, so nothing norms the sum. First add, then norm: "
    "the norm takes x plus the answer."
)


@add_norm.mistake(_FORGETS_THE_SUM)
def _(x, sublayer, norm, norm_first):
    return x + sublayer(norm(x)) if norm_first else norm(x) + sublayer(x)


@add_norm.mistake(f"The same, whatever `norm_first` says. {_FORGETS_THE_SUM}")
def _(x, sublayer, norm, norm_first):
    return norm(x) + sublayer(x)


@add_norm.mistake(
    "You norm the answer too, on its own. What is normed is x, and only before the sublayer."
)
def _(x, sublayer, norm, norm_first):
    return x + norm(sublayer(norm(x))) if norm_first else norm(x + sublayer(x))


@add_norm.mistake("In pre-norm you norm twice: nothing follows the sum.")
def _(x, sublayer, norm, norm_first):
    return norm(x + sublayer(norm(x))) if norm_first else norm(x + sublayer(x))


@add_norm.mistake("The norm is missing.")
def _(x, sublayer, norm, norm_first):
    return x + sublayer(x)


@add_norm.mistake(
    "You add x before the sublayer. It is added to the answer, after the sublayer has run."
)
def _(x, sublayer, norm, norm_first):
    return sublayer(x + norm(x)) if norm_first else norm(sublayer(x + x))


count_parameters = Exercise(
    task="How many parameters has an encoder layer? Four projections, a feed-forward network and two "
    "layer norms, all with their biases, from `d_model` and `d_ff`. A whole number.",
    cases=lambda: [(6, 10), (512, 2048), (5, 3)],
    hints=(
        "A map from a to b numbers has a · b weights and b biases.",
        "Attention: four maps from d_model to d_model. Feed-forward: one up, one down.",
        "A layer norm has gamma and beta, d_model numbers each, and there are two of them.",
    ),
    passed="The number of heads is not in it: heads share out d_model, they do not add to it.",
    tolerance=0.5,
)


@count_parameters.solution
def my_count(d_model, d_ff):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return attention + feed_forward + norms


@count_parameters.solution
def _(d_model, d_ff):
    layer = torch.nn.TransformerEncoderLayer(d_model, 1, d_ff)
    return sum(p.numel() for p in layer.parameters())


# Several slips give one number. A message must be true for each of them.
_NO_BIASES = (
    "Short by exactly 5 · d_model + d_ff: the biases of all six maps, or both layer norms and the "
    "biases of the network. Every map from a to b has b biases."
)


@count_parameters.mistake(_NO_BIASES)
def _(d_model, d_ff):
    return 4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model


@count_parameters.mistake(_NO_BIASES)
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 2 * d_model * d_ff


_FOUR = (
    "Short by exactly 4 · d_model: either the two layer norms, with gamma and beta each, or the four "
    "biases of the attention."
)


@count_parameters.mistake(_FOUR)
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model


@count_parameters.mistake(_FOUR)
def _(d_model, d_ff):
    return 4 * d_model**2 + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model


_TWO = (
    "Short by exactly 2 · d_model: one of the two layer norms, or in each of them gamma or beta. One "
    "norm follows the attention, one the feed-forward network, and each has both."
)


@count_parameters.mistake(_TWO)
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + 3 * d_model


@count_parameters.mistake(
    "Short by exactly d_model + d_ff, as many as the network has biases: d_ff on the way up and "
    "d_model on the way down."
)
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + 4 * d_model


@count_parameters.mistake("Short by exactly d_ff: the bias of the way up, from d_model to d_ff.")
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + 5 * d_model


@count_parameters.mistake(
    "Short by exactly d_model: one bias, of the way down or of one of the four projections, or one "
    "gamma or beta."
)
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + 4 * d_model


@count_parameters.mistake(
    "These are the matrices alone. The biases and the two layer norms are missing."
)
def _(d_model, d_ff):
    return 4 * d_model**2 + 2 * d_model * d_ff


@count_parameters.mistake(
    "One projection is missing. After q, k and v a fourth joins the heads: `out_proj`."
)
def _(d_model, d_ff):
    return 3 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + 5 * d_model


@count_parameters.mistake("The way down is missing: the network goes up to d_ff and back.")
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + d_model * d_ff + d_ff + 4 * d_model


@count_parameters.mistake("You took d_ff = 4 · d_model. That is usual, but here d_ff is given.")
def _(d_model, d_ff):
    return 12 * d_model**2 + 13 * d_model


@count_parameters.mistake("The feed-forward network is missing: in a usual layer the larger part.")
def _(d_model, d_ff):
    return 4 * (d_model**2 + d_model) + 4 * d_model


@count_parameters.mistake("The attention is missing: four maps from d_model to d_model.")
def _(d_model, d_ff):
    return 2 * d_model * d_ff + d_ff + 5 * d_model
