"""What a Transformer layer is made of: feed-forward, layer norm, Add & Norm.  Lesson 11."""

import torch
import torch.nn.functional as F

from transformer_lib.exercises.checking.machinery import Exercise


def _networks():
    torch.manual_seed(10)
    paper = (
        torch.tensor([[1.0, 2.0], [0.0, -1.0]]),
        torch.tensor([[1.0, 0.0, -1.0], [0.0, 2.0, 1.0]]),
        torch.tensor([-2.0, 1.0, 0.0]),
        torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, 2.0]]),
        torch.tensor([1.0, -1.0]),
    )
    drawn = [((1, 2, 4), 3), ((3, 3, 3), 3), ((2, 3, 4), 5), ((5, 6), 3)]
    return [paper, *(_network(*sizes) for sizes in drawn)]


def _network(shape, d_ff):
    width = shape[-1]
    matrices = torch.randn(width, d_ff), torch.randn(d_ff), torch.randn(d_ff, width)
    return torch.randn(shape), *matrices, torch.randn(width)


def _one_output(place, x, W1, b1, W2, b2):
    if len(place) != x.dim() or place[-1] >= len(b2):
        return ""
    hidden = x[place[:-1]] @ W1 + b1
    terms = (f"{h:.3g}·{w:.3g}" for h, w in zip(hidden.relu(), W2[:, place[-1]], strict=True))
    before = ", ".join(f"{h:.3g}" for h in hidden)
    return (
        f"Of this token x W₁ + b₁ is ({before}), and what is negative becomes 0. The entry that is "
        f"marked: {' + '.join(terms)} + {b2[place[-1]]:.3g}."
    )


feed_forward = Exercise(
    sections=("11 One small network for every token",),
    task="The feed-forward network: max(0, x W₁ + b₁) W₂ + b₂ at every position alike. x (…, C), W1 (C, "
    "d_ff), b1 (d_ff,), W2 (d_ff, C), b2 (C,), to (…, C).",
    cases=_networks,
    hints=(
        "First the way up. Each token has its vector in the last axis of x, and `x @ W1 + b1` makes d_ff "
        "entries of it. Whatever axes x has in front are carried along, so nothing has to be reshaped.",
        "Without a bend between them two matrices are one matrix, their product. So what is negative becomes "
        "0 between them: `.clamp(min=0)`, or `torch.relu`, takes the larger of 0 and each entry.",
        "Then the way down: the same as the way up, with `W2` and `b2`, and nothing behind it.",
    ),
    passed="No line of yours asks at which position a token stands, or which tokens stand beside it.",
    without=("FeedForward", "feed_forward", "PositionWiseFFN"),
    gaps=("x @ W1 + b1", "hidden.clamp(min=0)", "kept @ W2 + b2"),
    how=_one_output,
)


@feed_forward.solution
def my_feed_forward(x, W1, b1, W2, b2):
    # The way up: the vector of each token gets d_ff entries. b1 says how much is enough.
    hidden = x @ W1 + b1  # (..., d_ff)
    # What is negative becomes 0. Without this bend the two matrices would be one.
    kept = hidden.clamp(min=0)  # (..., d_ff)
    # The way down: what is left decides how much of each row of W2 is written.
    return kept @ W2 + b2  # (..., C)


@feed_forward.solution
def _(x, W1, b1, W2, b2):
    return F.linear(F.relu(F.linear(x, W1.T, b1)), W2.T, b2)


feed_forward.edits("""
hidden.clamp(min=0) → hidden
    What reaches W2 has not been cut at 0, and so your two matrices are one matrix. What is negative becomes 0
    between them.
return kept @ W2 + b2 → return (kept @ W2 + b2).clamp(min=0)
    You cut the output at 0 as well. It may be negative: only what is between the two matrices is cut.
hidden.clamp(min=0) → hidden ; return kept @ W2 + b2 → return (kept @ W2 + b2).clamp(min=0)
hidden.clamp(min=0) → hidden ; kept @ W2 → (kept @ W2).clamp(min=0)
    You cut at the end. What is negative becomes 0 between the two matrices, before W2.
x @ W1 → x.clamp(min=0) @ W1
x @ W1 → x.clamp(min=0) @ W1 ; hidden.clamp(min=0) → hidden
    You cut the input at 0. What is negative becomes 0 between the two matrices, and x is read as it is.
x @ W1 + b1 → x @ W1 ; hidden.clamp(min=0) → hidden.clamp(min=0) + b1
    You cut before b1 is added. First the bias, then the cut: b1 says how much is enough.
hidden.clamp(min=0) → hidden.clamp(max=0)
    You keep what is below 0 and cut what is above it. max(0, …) keeps the larger: `.clamp(min=0)`.
hidden.clamp(min=0) → F.gelu(hidden)
hidden.clamp(min=0) → F.silu(hidden)
hidden.clamp(min=0) → F.leaky_relu(hidden)
hidden.clamp(min=0) → hidden.tanh()
hidden.clamp(min=0) → hidden.sigmoid()
    That is another curve than max(0, …). The paper's network, and this one, has a ReLU: what is negative
    becomes 0, and what is positive stays.
hidden.clamp(min=0) → hidden.softmax(dim=-1)
    There is a softmax between your matrices. That makes weights; here what is negative becomes 0, and
    what is positive stays.
hidden.clamp(min=0) → hidden.clamp(0, 1)
    You cut at 1 as well. What is positive stays as it is, however large.
hidden.clamp(min=0) → hidden.abs()
    You take the absolute value: what is negative becomes positive. It has to become 0.
hidden.clamp(min=0) → (hidden > 0).float()
    You keep 1 wherever something is positive. Keep the entry itself: max(0, h) is h there.
hidden.clamp(min=0) → max(0, hidden)
hidden.clamp(min=0) → max(hidden, 0)
    Python's `max` compares two single numbers. For all entries of a tensor it is `.clamp(min=0)`.
hidden.clamp(min=0) → torch.max(0, hidden)
hidden.clamp(min=0) → torch.maximum(0, hidden)
hidden.clamp(min=0) → torch.maximum(hidden, 0)
    `torch.max` and `torch.maximum` compare a tensor with a tensor, and 0 is a number: write
    `.clamp(min=0)`.
hidden.clamp(min=0) → torch.max(hidden, 0)
hidden.clamp(min=0) → hidden.max(0)
    `max(…, 0)` of a tensor looks for the largest along axis 0. The larger of 0 and each entry is
    `.clamp(min=0)`.
 + b1 →
    b1 is missing: it is added before the cut, and says how much is enough.
 + b2 →
    b2 is missing: it is added to the output.
x @ W1 + b1 → x @ (W1 + b1)
kept @ W2 + b2 → kept @ (W2 + b2)
x @ W1 + b1 → x @ (W1 + b1) ; kept @ W2 + b2 → kept @ (W2 + b2)
    You add a bias to its matrix. It is added to the product, once: `x @ W1 + b1`.
return kept @ W2 + b2 → return (x @ W1).relu() + b1 @ W2 + b2
return kept @ W2 + b2 → return kept + b1 @ W2 + b2
return kept @ W2 + b2 → return torch.relu(x @ W1 + b1 @ W2 + b2)
    `@` comes before `+`: yours multiplies b1 alone by W2. Put brackets around all that W2 is to
    multiply.
+ b2 → + b1
+ b1 → + b2
+ b1 → + b2 ; + b2 → + b1
    A bias stands at the wrong place: b1 belongs to the way up, and b2 to the way down.
x @ W1 + b1 → x @ W2 + b2 ; kept @ W2 + b2 → kept @ W1 + b1
    You go through W2 first. W1 and b1 lead up, W2 and b2 lead down.
return kept → return x + kept
    You add x. The network alone is asked for here; the residual comes with Add & Norm.
@ W1 → @ W1.T
@ W2 → @ W2.T
@ W1 → @ W1.T ; @ W2 → @ W2.T
    A matrix is transposed: here they stand as in the formula, `x @ W1`. It is `nn.Linear`, and
    `F.linear`, that keeps its matrix the other way round.
x @ W1 → W1 @ x
kept @ W2 → W2 @ kept
x @ W1 → W1 @ x ; kept @ W2 → W2 @ kept
x @ W1 → W1.T @ x ; kept @ W2 → W2.T @ kept
    You multiply from the left. The vectors of the tokens stand in rows, so it is `x @ W1`.
hidden.clamp(min=0) → hidden.clamp(min=0) ** 2
    You square what is left. What is positive stays as it is.
x @ W1 + b1 → (x @ W1).clamp(min=0) + b1
    You cut twice, before b1 is added and after. First the bias, then the cut, once.
hidden.clamp(min=0) → F.relu6(hidden)
    `relu6` cuts at 6 as well. What is positive stays as it is, however large: `torch.relu`.
hidden.clamp(min=0) → F.elu(hidden)
hidden.clamp(min=0) → F.softplus(hidden)
    That is a soft curve, and below 0 it is not 0. A ReLU makes exactly 0 of what is negative.
hidden.clamp(min=0) → hidden.clamp(min=0)[hidden > 0]
hidden.clamp(min=0) → hidden[hidden > 0]
    `hidden[hidden > 0]` takes the positive entries out, into one long row, and their places are lost. All
    entries stay where they are, and the negative ones become 0: `.clamp(min=0)`.
hidden.clamp(min=0) → hidden.clamp(min=0).amax(dim=-1, keepdim=True)
hidden.clamp(min=0) → hidden.amax(dim=-1, keepdim=True)
    You keep the largest hidden entry alone. `max(0, …)` compares each entry with 0, not with the others.
x @ W1 + b1 → x @ W1 - b1
kept @ W2 + b2 → kept @ W2 - b2
x @ W1 + b1 → x @ W1 - b1 ; kept @ W2 + b2 → kept @ W2 - b2
    You subtract a bias. Both are added.
x @ W1 + b1 → x @ W1 * b1
kept @ W2 + b2 → kept @ W2 * b2
x @ W1 + b1 → x @ W1 * b1 ; kept @ W2 + b2 → kept @ W2 * b2
    You multiply by a bias. A bias is added.
return kept @ W2 + b2 → return F.layer_norm(kept @ W2 + b2, x.shape[-1:])
return kept @ W2 + b2 → return F.layer_norm(x + kept @ W2 + b2, x.shape[-1:])
    There is a norm in yours. The network alone is asked for here; the norm comes with Add & Norm.
return kept @ W2 + b2 → return kept
    What you return are the hidden entries, d_ff for each token. The way down is missing: W2 and b2.
return kept @ W2 + b2 → return hidden
    What you return are the hidden entries, d_ff for each token, as they are before the cut. Cut them at 0; then W2 and
    b2 lead down.
return kept @ W2 + b2 → return (kept.mean(dim=-2, keepdim=True) @ W2 + b2).expand_as(x)
return kept @ W2 + b2 → return (kept.sum(dim=-2, keepdim=True) @ W2 + b2).expand_as(x)
    All tokens get the same output in yours. Each is worked on by itself, with nothing taken over tokens.
return kept @ W2 + b2 → return (kept @ W2 + b2).flatten(0, -2)
x @ W1 → x.flatten(0, -2) @ W1
    You lay all tokens below each other. `@` carries whatever axes stand in front, so leave x as it is.
x @ W1 → x.mean(dim=-2, keepdim=True) @ W1
x @ W1 → x.mean(dim=-2) @ W1
x @ W1 → x[-1] @ W1
    Not every token goes through in yours. Each is worked on by itself, with nothing taken over tokens.
x @ W1 → torch.mm(x, W1)
x @ W1 → torch.mm(x, W1) ; kept @ W2 → torch.mm(kept, W2)
    `torch.mm` takes tables alone. With a batch in front it refuses; `@` carries the axes in front along.
x @ W1 → torch.dot(x, W1)
    `torch.dot` takes two vectors. A matrix is applied with `@`.
x @ W1 → x @ W2.T ; kept @ W2 → kept @ W1.T
    You go up by W2, turned round, and down by W1. W1 leads up and W2 leads down, both as they stand.
x @ W1 → x * W1
kept @ W2 → kept * W2
x @ W1 → x * W1 ; kept @ W2 → kept * W2
    `*` multiplies entry by entry. A matrix is applied with `@`.
""")


def _tokens():
    torch.manual_seed(11)
    paper = (
        torch.tensor([[1.0, 1.0, 4.0], [3.0, 3.0, 3.0]]),
        torch.tensor([2.0, 4.0, 1.0]),
        torch.tensor([0.0, 1.0, 3.0]),
        2.0,
    )
    drawn = [((3, 3), 0.1), ((1, 2, 4), 0.1), ((2, 3, 5), 0.1), ((2, 4, 3), 3.0), ((4, 6), 1e-5)]
    return [paper, *(_drawn_tokens(*one) for one in drawn)]


def _drawn_tokens(shape, eps):
    width = shape[-1]
    return 3 * torch.randn(shape) + 1, torch.rand(width) + 0.5, torch.randn(width), eps


def _one_normed(place, x, gamma, beta, eps):
    if len(place) != x.dim():
        return ""
    token, k = x[place[:-1]], place[-1]
    mean, variance = token.mean(), token.var(correction=0)
    return (
        f"Of this token the mean is {mean:.3g} and the variance {variance:.3g}. The entry that is marked: "
        f"{gamma[k]:.3g} · ({token[k]:.3g} - {mean:.3g}) / √({variance:.3g} + {eps:g}) + {beta[k]:.3g}."
    )


layer_norm = Exercise(
    sections=("11 Layer norm by hand",),
    task="Layer norm: every token's vector minus its mean, over √(variance + eps), then times gamma, "
    "plus beta. The variance is the mean of the squared distances from the mean: it divides by C. x (…, C), "
    "gamma and beta (C,), eps a number, to (…, C). x itself must not change.",
    cases=_tokens,
    hints=(
        "Every token is normed by itself. So it needs one mean and one variance, both over its own "
        "entries, which are the last axis: `x.mean(dim=-1, keepdim=True)`. `keepdim=True` leaves an axis "
        "of length 1 where the entries were; along it the mean is repeated when it meets x.",
        "The variance is the mean of the squared distances, so it divides by C. `x.var` divides by C − 1 "
        "unless it is told `correction=0`, because in statistics it is for a sample.",
        "Divide the distance from the mean by the root of `variance + eps`. eps stands under the root: it "
        "keeps the root above 0 where all entries of a token are equal. Then `* gamma` and `+ beta`.",
    ),
    passed="With eps = 1e-5 a wrong place for it hardly shows; that is why the other cases have a larger "
    "one.",
    without=("layer_norm", "LayerNorm"),
    gaps=(
        "x.mean(dim=-1, keepdim=True)",
        "(distance**2).mean(dim=-1, keepdim=True)",
        "torch.sqrt(variance + eps)",
        "gamma * normed + beta",
    ),
    how=_one_normed,
)


@layer_norm.solution
def my_layer_norm(x, gamma, beta, eps):
    # One mean a token, over its own entries. keepdim leaves an axis on which it lines up with x.
    mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
    distance = x - mean  # (..., C)
    # The variance is the mean of the squared distances: divided by C, not by C - 1.
    variance = (distance**2).mean(dim=-1, keepdim=True)  # (..., 1)
    # Its root is how far an entry is away on average. eps keeps it above 0.
    normed = distance / torch.sqrt(variance + eps)  # (..., C)
    # Each entry gets a size and an offset of its own; these are learned.
    return gamma * normed + beta  # (..., C)


@layer_norm.solution
def _(x, gamma, beta, eps):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(beta, (x - mean) * (variance + eps).rsqrt(), gamma)


layer_norm.edits("""
(distance**2).mean(dim=-1, keepdim=True) → x.var(dim=-1, keepdim=True)
    Your variance divides by C − 1, as `x.var()` and `x.std()` do unless they are told `correction=0`.
torch.sqrt(variance + eps) → (torch.sqrt(variance) + eps)
    eps is added to the root. It belongs under it: √(variance + eps).
torch.sqrt(variance + eps) → torch.sqrt(variance) + eps
torch.sqrt(variance + eps) → torch.sqrt(variance) ; + beta → + beta + eps
    eps is added to the quotient. It belongs under the root: √(variance + eps).
torch.sqrt(variance + eps) → torch.sqrt(variance + eps**2)
    eps is squared in yours. It is added to the variance as it is.
torch.sqrt(variance + eps) → torch.sqrt(variance)
    eps is not used. Where all entries of a token are equal that is 0 / 0, which is NaN.
torch.sqrt(variance + eps) → torch.sqrt(torch.sqrt(variance) + eps)
    You take the root twice: `std` is the root of the variance already. √(variance + eps), once.
torch.sqrt(variance + eps) → float(variance + eps) ** 0.5
    `math.sqrt` takes the root of one number. Each token has a variance of its own: `torch.sqrt`.
torch.sqrt(variance + eps) → (variance + eps)
    You divide by the variance. Divide by its root.
distance / torch.sqrt(variance + eps) → distance * torch.sqrt(variance + eps)
    You multiply by the root. Divide by it: then the variance becomes 1.
distance / torch.sqrt(variance + eps) → x - mean / torch.sqrt(variance + eps)
return gamma * normed + beta → return x - mean / torch.sqrt(variance + eps) * gamma + beta
return gamma * normed + beta → return gamma * x - mean / torch.sqrt(variance + eps) + beta
    `/` comes before `-`: you divide the mean alone. Put brackets around the difference, `(x - mean)`.
distance / torch.sqrt(variance + eps) → distance
    You take the mean off and do not divide: large vectors stay large.
dim=-1 → dim=-2
dim=-1 → dim=0
    Your mean runs over tokens, so every token hears the others. It runs over the entries of one token,
    the last axis: `dim=-1`.
x.mean(dim=-1 → x.mean(dim=-2 ; (distance**2).mean(dim=-1, keepdim=True) → x.var(dim=-2, keepdim=True)
x.mean(dim=-1 → x.mean(dim=0 ; (distance**2).mean(dim=-1, keepdim=True) → x.var(dim=0, keepdim=True)
    Mean and variance run over tokens in yours, so every token hears the others. They run over the entries of one token,
    the last axis: `dim=-1`. And `x.var` divides by one less than it has, unless it is told `correction=0`.
dim=-1 → dim=1
dim=-1 → dim=(0, 1)
    You count the axis from the front, so what it is depends on how many there are: axis 1 is a token's
    entries in a table, and the tokens with a batch in front. The last axis is always `dim=-1`.
x.mean(dim=-1 → x.mean(dim=1 ; (distance**2).mean(dim=-1, keepdim=True) → x.var(dim=1, keepdim=True)
    You count the axis from the front: axis 1 is a token's entries in a table, and the tokens with a batch in front. The
    last axis is always `dim=-1`. And `x.var` divides by one less than it has, unless it is told `correction=0`.
dim=-1 → dim=tuple(range(x.dim() - 1))
    You take one mean for each of the C features, over all tokens: that is batch norm. Layer norm takes one
    for each token, over its own entries, the last axis.
dim=-1 → dim=(-2, -1)
    You take one mean for a whole sentence, over its tokens and their entries, so every token hears the
    others and the padding. Take the last axis alone.
x.mean(dim=-1, keepdim=True) → x.mean() ; (distance**2).mean(dim=-1, keepdim=True) → (distance**2).mean()
    You take one mean and one variance over all numbers. Every token has its own, over its entries, the last axis:
    `dim=-1, keepdim=True`.
x.mean(dim=-1, keepdim=True) → x.mean() ; (distance**2).mean(dim=-1, keepdim=True) → x.var()
    You take one mean and one variance over all numbers. Every token has its own, over the last axis: `dim=-1,
    keepdim=True`. And `x.var` divides by one less than it has, unless it is told `correction=0`.
x.mean(dim=-1, keepdim=True) → x.mean()
(distance**2).mean(dim=-1, keepdim=True) → (distance**2).mean()
(distance**2).mean(dim=-1, keepdim=True) → x.var(correction=0)
    Mean or variance is taken over all numbers. Both are each token's own: `dim=-1, keepdim=True`.
, keepdim=True →
x.mean(dim=-1, keepdim=True) → x.mean(dim=-1)
(distance**2).mean(dim=-1, keepdim=True) → (distance**2).mean(dim=-1)
(distance**2).mean(dim=-1, keepdim=True) → x.var(dim=-1)
x.mean(dim=-1, keepdim=True) → x.mean(dim=-1) ; (distance**2).mean(dim=-1, keepdim=True) → x.var(dim=-1)
x.mean(dim=-1, keepdim=True) → x.mean(dim=-1) ; (distance**2).mean(dim=-1, keepdim=True) → x.var(-1, correction=0)
(distance**2).mean(dim=-1, keepdim=True) → x.var(dim=-1, correction=0)
    Without `keepdim=True` a mean loses its last axis, and no longer lines up with x: where the sizes
    happen to agree, it meets another token's entries.
x.mean(dim=-1, keepdim=True) → x.mean(-1)[:, None] ; (distance**2).mean(dim=-1, keepdim=True) → x.var(-1)[:, None]
.mean(dim=-1, keepdim=True) → .mean(-1)[:, None]
    `[:, None]` gives the mean an axis in second place: that lines up in a table, and with a batch in front it
    does not. `keepdim=True` leaves the axis where it was.
distance / → x /
    The mean is still there: what you divide is x. Take the mean off first.
distance**2 → x**2
    You average the squares of the entries. The variance is the mean of the squared *distances* from the
    mean.
distance**2 → x**2 ; distance / → x /
    The mean is never taken off: that is RMSNorm, of lesson 18. Layer norm takes the mean off first.
(distance**2).mean(dim=-1, keepdim=True) → (distance**2).sum(dim=-1, keepdim=True)
    You add the squared distances up. The variance is their mean.
distance**2 → distance.abs()
    You average the distances without their signs. The variance averages their squares.
(distance**2).mean(dim=-1, keepdim=True) → distance**2
    You divide each distance by its own square's root. The variance is the *mean* of a token's squared
    distances, one number for all its entries.
x.mean(dim=-1 → x.sum(dim=-1
    You take off the sum of the entries. Take off their mean.
(distance**2).mean( → distance.mean(
    You forgot to square: the distances from a mean add up to 0.
gamma * normed + beta → normed
    gamma and beta are missing.
gamma * normed + beta → normed + beta
    gamma is missing: each entry of the normed vector is multiplied by its own.
gamma * normed + beta → gamma * normed
    beta is missing: it is added at the end.
gamma * normed → gamma @ normed
gamma * normed → normed @ gamma
return gamma * normed + beta → return gamma @ distance / torch.sqrt(variance + eps) + beta
return gamma * normed + beta → return distance @ gamma / torch.sqrt(variance + eps) + beta
    `@` adds up over the entries. Each entry is multiplied by its own gamma: `*`.
gamma * normed + beta → (gamma * x - mean) / torch.sqrt(variance + eps) + beta
    You multiply x by gamma before the mean is taken off. First comes the norm, then gamma.
gamma * normed + beta → (gamma + beta) * normed
gamma * normed + beta → gamma * (normed + beta)
    beta is multiplied as well. First times gamma, then plus beta.
gamma * normed + beta → beta * normed + gamma
    gamma and beta are exchanged: gamma multiplies, beta is added.
distance / torch.sqrt(variance + eps) → distance / (distance.norm(dim=-1, keepdim=True) + eps)
distance / torch.sqrt(variance + eps) → distance / (distance**2).sum(dim=-1, keepdim=True).sqrt()
distance / torch.sqrt(variance + eps) → distance / (x.norm(dim=-1, keepdim=True) + eps)
distance / torch.sqrt(variance + eps) → F.normalize(distance, dim=-1)
    You divide by a length, the root of a *sum* of squares. The variance is the mean of the squared distances, and
    eps is added to it, under the root.
distance / torch.sqrt(variance + eps) → x / (x.norm(dim=-1, keepdim=True) + eps)
distance / torch.sqrt(variance + eps) → F.normalize(x, dim=-1)
    You divide by the length of the token. Take the mean off first, and divide by the root of the variance plus eps.
distance / torch.sqrt(variance + eps) → x.softmax(dim=-1)
    There is a softmax in yours. A norm takes the mean off and divides by a root.
distance / torch.sqrt(variance + eps) → (x - x.amin(-1, True)) / (x.amax(-1, True) - x.amin(-1, True) + eps)
    You bring the entries between 0 and 1, by the smallest and the largest. The norm goes by mean and variance.
(distance**2).mean(dim=-1, keepdim=True) → (x**2).mean(dim=-1, keepdim=True) - mean
    You take the mean off the mean of the squares. If you go this way, it is the *squared* mean:
    `(x**2).mean(…) - mean**2`.
x.mean(dim=-1, keepdim=True) → x.median(dim=-1, keepdim=True).values
    You take off the median, the entry in the middle. Take off the mean.
torch.sqrt(variance + eps) → torch.sqrt(variance * eps)
    You multiply the variance by eps. eps is added to it.
torch.sqrt(variance + eps) → torch.sqrt(variance - eps)
    You subtract eps. It is added, so that the root stays above 0.
return gamma * normed + beta → return (gamma * distance + beta) / torch.sqrt(variance + eps)
    beta is divided by the root as well. First the norm is complete, then times gamma, plus beta.
return gamma * normed + beta → return normed / gamma + beta
    You divide by gamma. It multiplies.
return gamma * normed + beta → return gamma * normed - beta
    You subtract beta. It is added.
(distance**2).mean(dim=-1, keepdim=True) → (distance**2).sum(dim=-1, keepdim=True) / x.size(0)
(distance**2).mean(dim=-1, keepdim=True) → (distance**2).sum(dim=-1, keepdim=True) / len(x)
.mean(dim=-1, keepdim=True) → .sum(dim=-1, keepdim=True) / len(x)
    You divide a sum by `len(x)`, the length of the first axis: that counts tokens or sentences. The entries of a token
    are `x.size(-1)` many.
torch.sqrt(variance + eps) → (mean + eps)
    You divide by the mean. Divide by the root of the variance.
torch.sqrt(variance + eps) → (variance + eps) ** 2
    You square what should have its root taken: `** 0.5`, or `torch.sqrt`.
distance / torch.sqrt(variance + eps) → torch.nn.LayerNorm(x.size(-1))(x)
    You use a layer norm that is made anew, with an eps of its own. Write it from means and a root, with the eps that is
    given.
distance = x - mean → x -= mean ⏎ distance = x
    The caller's x has changed: `-=` writes into it. `x - mean` makes a new tensor.
""")


def _around():
    torch.manual_seed(12)

    def square(y):
        """squares every entry."""
        return y * y

    def centre(y):
        """takes the mean of its row off every entry."""
        return y - y.mean(dim=-1, keepdim=True)

    small = torch.tensor([[1.0, 3.0], [2.0, 6.0]])
    cases = [(small, square, centre)]
    for shape in ((3, 3), (1, 2, 4), (2, 3, 5)):
        cases.append((torch.randn(shape) + 1, *_functions(shape[-1])))
    cases.append((torch.randn(2, 3), Once(), centre))
    return [(*case, norm_first) for case in cases for norm_first in (False, True)]


class Once:
    """doubles every entry, and may be called once."""

    called = False

    def __call__(self, y):
        if self.called:
            raise RuntimeError("the sublayer is called a second time")
        self.called = True
        return 2 * y


def _functions(width):
    mix, scale = torch.randn(width, width), torch.rand(width) + 0.5

    def sublayer(y):
        """multiplies by a matrix, takes the tanh and adds 0.5."""
        return torch.tanh(y @ mix) + 0.5

    def norm(y):
        """a layer norm with a gamma of its own."""
        return F.layer_norm(y, (width,), scale)

    return sublayer, norm


add_norm = Exercise(
    sections=("11 Add & Norm, in two ways",),
    task="Add & Norm around any sublayer. Post-norm: the norm of x plus the sublayer's answer. "
    "Pre-norm (`norm_first`): x plus the sublayer's answer to the norm of x. `sublayer` and `norm` are "
    "functions of one tensor, `norm_first` is True or False. x (…, C) to (…, C).",
    cases=_around,
    hints=(
        "Both ways add x to what the sublayer answers: that is the residual. They differ in where the norm "
        "stands: behind the sum, or before the sublayer. `sublayer` and `norm` are functions, so they are "
        "called: `sublayer(x)`.",
        "Pre-norm: only the sublayer reads the norm of x. What is added to its answer is x as it came, so "
        "that what the first layer is given runs past all norms, to the last layer.",
        "Post-norm, from the inside outwards: the sublayer reads x, x is added to its answer, and the norm "
        "is taken of that sum.",
    ),
    passed="In pre-norm the way from x to the result meets no norm at all.",
    without=("AddNorm",),
    gaps=("sublayer(norm(x))", "x + answer", "sublayer(x)"),
)


@add_norm.solution
def my_add_norm(x, sublayer, norm, norm_first):
    if norm_first:
        # Pre-norm: only the sublayer reads the norm of x.
        answer = sublayer(norm(x))  # (..., C)
        # x itself goes past the norm and the sublayer, as it came.
        return x + answer  # (..., C)
    # Post-norm: the sublayer reads x as it came.
    answer = sublayer(x)  # (..., C)
    # The norm comes last, of the sum.
    return norm(x + answer)  # (..., C)


@add_norm.solution
def _(x, sublayer, norm, norm_first):
    before, after = (norm, torch.nn.Identity()) if norm_first else (torch.nn.Identity(), norm)
    return after(sublayer(before(x)) + x)


add_norm.edits("""
if norm_first → if False
    This is post-norm, whatever `norm_first` says. Where it is True the norm comes before the sublayer.
if norm_first → if True
    This is pre-norm, whatever `norm_first` says. Where it is False the norm comes last.
if norm_first → if not norm_first
    The two are the wrong way round: `norm_first` means pre-norm.
x + answer → answer
    The residual is missing: x itself must be added to the sublayer's answer.
return x + answer → return answer
    In pre-norm the residual is missing: x itself must be added to the sublayer's answer.
norm(x + answer) → norm(answer)
    In post-norm the residual is missing: the norm takes x plus the sublayer's answer.
return x + answer → return norm(x) + answer
    In pre-norm what you carry past the sublayer is norm(x). Carry x as it came: only the sublayer reads its norm.
norm(x + answer) → x + norm(answer)
    In post-norm you norm what the sublayer says, alone. The norm comes last: it takes the sum.
norm(x + answer) → norm(x) + answer
    In post-norm you add the answer to the normed x, so nothing norms the sum. First add, then norm.
norm(x + answer) → norm(x + norm(answer))
norm(x + answer) → norm(norm(x) + answer)
    In post-norm you norm one of the two before they are added. The norm is taken once, of the sum.
norm(x + answer) → norm(x) + norm(answer)
    In post-norm you norm both and then add. First add, then norm the sum, once.
answer = sublayer(x) → answer = sublayer(norm(x))
    In post-norm the sublayer reads x as it came. Yours reads its norm; the norm comes once, at the end.
sublayer(norm(x)) → norm(sublayer(norm(x)))
    In pre-norm you norm the answer too. What is normed is x, and only before the sublayer.
sublayer(norm(x)) → norm(sublayer(x))
    In pre-norm you norm what the sublayer answers. Norm what it reads: `sublayer(norm(x))`.
return x + answer → return norm(x + answer)
    In pre-norm you norm twice: nothing follows the sum.
return x + answer → return norm(norm(x) + answer)
    In pre-norm you put the norm in the place of x, and norm the sum as well. x itself is added to the
    answer, and nothing follows the sum.
sublayer(norm(x)) → sublayer(x) ; norm(x + answer) → x + answer
    The norm is missing.
sublayer(norm(x)) → sublayer(x)
sublayer(norm(x)) → sublayer(x) ; return x + answer → return norm(x) + answer
    In pre-norm the sublayer has to read the norm of x. Yours reads x as it came.
norm(x + answer) → x + answer
    In post-norm the norm is missing: it is taken of the sum.
sublayer(norm(x)) → sublayer(x + norm(x)) - x ; sublayer(x) → sublayer(x + x) - x
    You add x before the sublayer. It is added to the answer, after the sublayer has run.
x + answer → x * answer
    You multiply x by the answer. The residual is a sum.
x + answer → x + x + answer
    x is added twice.
x + answer → (x + answer) / 2
    You take the mean of x and the answer. The residual is their sum, and is not halved.
answer = sublayer(x) → x = answer = sublayer(x) ; answer = sublayer(norm(x)) → x = answer = sublayer(norm(x))
    In both orders you put the answer in the place of x, and then add it to itself. x as it came is what is added.
answer = sublayer(x) → x = answer = sublayer(x)
    In post-norm you put the answer in the place of x, and then add it to itself. x as it came is what is added.
answer = sublayer(norm(x)) → x = answer = sublayer(norm(x))
    In pre-norm you put the answer in the place of x, and then add it to itself. x as it came is what is added.
x + answer → x - answer
    You subtract the answer. The residual is a sum.
x + answer → torch.cat([x, answer], dim=-1)
    You lay x and the answer end to end. They are added, entry by entry.
sublayer(norm(x)) → sublayer(sublayer(norm(x))) ; sublayer(x) → sublayer(sublayer(x))
    The sublayer runs twice in yours, one after the other. It runs once.
if norm_first → both = norm(x + sublayer(x)), x + sublayer(norm(x)) ⏎ if norm_first
    Right, but the sublayer runs twice in yours, for one answer. Call it once: ask for `norm_first` first.
return norm(x + answer) → return norm(x, answer)
    `norm` takes one tensor, the sum: `norm(x + …)`.
sublayer(norm(x)) → norm(sublayer)(x)
    You norm the sublayer, and it is a function. It is called with the norm of x: `sublayer(norm(x))`.
return x + answer → return x + norm(x) + answer
    In pre-norm you add x and its norm. x alone is added to the answer.
return x + answer → return norm(x) + norm(answer) ; return norm(x + answer) → return norm(x) + norm(answer)
    You norm x and the answer, each by itself, and then add. Post-norm is the norm of the sum, and pre-norm adds x as it
    came.
sublayer(x) → sublayer(norm(x)) ; norm(x + answer) → norm(x) + answer ; return x + answer → return norm(x) + answer
    x is normed at once in yours, whatever `norm_first` says, and its norm is what you add. Only in pre-norm does the
    sublayer read a norm, and what is added is x as it came.
return x + answer → return x + answer, norm(x + sublayer(x))
    You return both. `norm_first` says which of the two is asked for.
return x + answer → x = x + answer
    In pre-norm yours goes on into post-norm: it needs a `return` of its own, or an `else`.
answer = sublayer(x) → answer = sublayer(norm(x + x)) ; return norm(x + answer) → return answer
    In post-norm the sublayer comes last in yours. It reads x first; then comes the sum, and then the norm.
sublayer(norm(x)) → norm(x) ; sublayer(x) → x
    The sublayer is never called in yours.
sublayer(norm(x)) → sublayer ; sublayer(x) → sublayer
sublayer(norm(x)) → norm(sublayer) ; sublayer(x) → sublayer
    `sublayer` is a function, and a function cannot be added to a tensor: call it, `sublayer(…)`.
sublayer(norm(x)) → sublayer(norm)
    `norm` is a function: call it, `norm(x)`, and hand on what it gives.
norm(x) → F.layer_norm(x, x.shape[-1:]) ; norm(x + answer) → F.layer_norm(x + answer, x.shape[-1:])
    You norm with a layer norm of your own. `norm` is given, with what it has learned: call it.
return x + answer → x += answer ⏎ return x
return x + answer → x += answer ⏎ return x ; norm(x + answer) → norm(x.add_(answer))
norm(x + answer) → norm(x.add_(answer))
    The caller's x has changed: `+=` writes into it. `x = x + …` makes a new tensor.
""")


count_parameters = Exercise(
    sections=("11 Going deeper: where are the parameters?", "13 Count it on paper"),
    task="How many parameters has an encoder layer? Four projections, a feed-forward network and two "
    "layer norms, all with their biases, from `d_model` and `d_ff`. A whole number, by arithmetic.",
    cases=lambda: [(2, 3), (4, 4), (6, 10), (512, 2048), (5, 3)],
    hints=(
        "A map from a entries to b has a matrix of a · b weights and a bias for each of the b outputs.",
        "Attention has four maps from d_model to d_model: for queries, keys, values, and the one that "
        "joins the heads. The network has one map up, from d_model to d_ff, and one down again.",
        "A layer norm has gamma and beta, d_model entries each, and there are two norms: one behind the "
        "attention and one behind the network.",
    ),
    passed="The number of heads is not in it: heads divide d_model among themselves, they do not add to it.",
    without=("Layer", "Linear", "numel", "parameters"),
    pairs=False,
    gaps=(
        "4 * (d_model * d_model + d_model)",
        "d_model * d_ff + d_ff",
        "d_ff * d_model + d_model",
        "2 * (d_model + d_model)",
    ),
)


@count_parameters.solution
def my_count(d_model, d_ff):
    # A map from a entries to b has a · b weights and b biases. Attention has four, all square.
    attention = 4 * (d_model * d_model + d_model)
    # The network: one map up, and one down again.
    up = d_model * d_ff + d_ff
    down = d_ff * d_model + d_model
    # Two norms, each with a gamma and a beta for every entry.
    norms = 2 * (d_model + d_model)
    return attention + up + down + norms


@count_parameters.solution
def _(d_model, d_ff):
    maps = [(d_model, d_model)] * 4 + [(d_model, d_ff), (d_ff, d_model)]
    return sum((a + 1) * b for a, b in maps) + 2 * 2 * d_model


# Several slips give one number: a sentence must be true of each of them.
count_parameters.edits("""
d_model * d_model + d_model → d_model * d_model ; * d_ff + d_ff → * d_ff ; d_ff * d_model + d_model → d_ff * d_model
* d_ff + d_ff → * d_ff ; d_ff * d_model + d_model → d_ff * d_model ; + norms →
    Short by exactly 5 · d_model + d_ff: either the biases of all six maps, or both layer norms and the biases of
    the network. Every map from a to b has b biases.
4 * (d_model * d_model + d_model) → 4 * d_model * d_model
+ norms →
    Short by exactly 4 · d_model: either the two layer norms, with gamma and beta each, or the four biases
    of the attention.
4 * (d_model * d_model + d_model) → 4 * d_model * d_model ; + norms →
    Short by exactly 8 · d_model. The four biases of the attention are one half of that, and the two layer norms, with
    gamma and beta each, the other.
2 * (d_model + d_model) → 2 * d_model
    Short by exactly 2 · d_model: either one of the two layer norms, or gamma or beta in both, or two biases of the
    attention. One norm belongs to the attention, one to the network, and each has gamma and beta.
* d_ff + d_ff → * d_ff ; d_ff * d_model + d_model → d_ff * d_model
    Short by exactly d_model + d_ff, as many as the network has biases: d_ff on the way up and d_model on
    the way down.
* d_ff + d_ff → * d_ff
    Short by exactly d_ff: the bias of the way up, from d_model to d_ff.
d_ff * d_model + d_model → d_ff * d_model + d_ff
* d_ff + d_ff → * d_ff + d_model
    The network's two biases are not equally long. A bias has an entry for each output: d_ff on the way
    up, d_model on the way down.
4 * (d_model * d_model + d_model) → 4 * (d_model * d_model + 1)
2 * (d_model + d_model) → 2 * (1 + 1)
2 * (d_model + d_model) → 2
    You count a bias, or a gamma, as one number. Each has an entry for every output: d_model of them.
2 * (d_model + d_model) → 2 * (d_model + d_ff)
    One of your norms is d_ff wide. Both stand on the way past the sublayers, where all is d_model wide.
4 * (d_model → 8 * (d_model
    You count the attention twice. An encoder layer has one; it is the decoder's that has two.
d_ff * d_model + d_model → d_ff * d_model
4 * (d_model * d_model + d_model) → 4 * d_model * d_model + 3 * d_model
    Short by exactly d_model: either one bias, of the way down or of one of the four projections, or one gamma or
    beta.
4 * (d_model * d_model + d_model) → 4 * d_model * d_model + d_model
    Short by exactly 3 · d_model: three biases of the attention, perhaps, where each of the four projections has one;
    or one layer norm and one bias.
attention + up + down + norms → 4 * d_model * d_model + 2 * d_model * d_ff
    These are the matrices alone. The biases and the two layer norms are missing.
4 * (d_model → 3 * (d_model
    One projection is missing. After q, k and v a fourth joins the heads: `out_proj`.
4 * (d_model → (d_model
    That is one projection. Attention has four: for queries, keys and values, and `out_proj`.
+ up + down → + up
    The way down is missing: the network goes up to d_ff and back.
+ up + down → + down
    The way up is missing: the network goes from d_model up to d_ff and back.
2 * (d_model + d_model) → 3 * (d_model + d_model)
    Too many by exactly 2 · d_model: one layer norm. An encoder layer has two; it is the decoder's that
    has three.
attention + up + down + norms → 12 * d_model * d_model + 13 * d_model
attention + up + down + norms → 12 * d_model * d_model
    You took d_ff = 4 · d_model. That is usual, but here d_ff is given.
+ up + down →
    The feed-forward network is missing: in a usual layer the larger part.
return attention + → return
    The attention is missing: four maps from d_model to d_model.
+ up + down + norms →
    That is the attention alone. The feed-forward network and the two layer norms are missing.
attention + up + down + norms → up + down
    That is the feed-forward network alone. The attention and the two layer norms are missing.
""")
