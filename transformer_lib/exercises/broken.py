"""Attention modules to be tested, and what must hold of any that has no matrices.  Lesson 19.

All are called alike: `attend(query, key, value, mask, is_causal)`. `Right` is right; each of the
ten in `MODULES` runs without an error and has one bug. A property is a question that one can put to
a module without reading it: True where it holds.
"""

import copy
import functools
import inspect
import math
from collections.abc import Callable
from itertools import product

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from transformer_lib.batching import pad
from transformer_lib.masks import causal_mask, masked_softmax, padding_mask

MODULES: dict[str, type[nn.Module]] = {}
PROPERTIES: dict[str, Callable[[nn.Module], bool]] = {}


class Heads(nn.Module):
    """Attention in heads, without matrices: what comes out is made of what goes in.

    The heads must divide the width; all other sizes are free.
    """

    def __init__(self, num_heads=2, dropout=0.1):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout

    def split(self, x):
        """(B, T, C) to (B, H, T, D)."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def join(self, x):
        """(B, H, T, D) to (B, T, C)."""
        return x.transpose(1, 2).flatten(2)

    def visible(self, query, key, mask, is_causal):
        """Who may attend to whom, (B or 1, 1, Tq, Tk), from a mask that broadcasts to it."""
        q_len, k_len = query.size(1), key.size(1)
        visible = torch.ones(1, 1, q_len, k_len, dtype=torch.bool)
        if is_causal:
            visible = visible & causal_mask(q_len, k_len)
        return visible if mask is None else visible & mask


class Right(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        visible = self.visible(query, key, mask, is_causal)
        dropout = self.dropout if self.training else 0.0
        return self.join(scaled_dot_product_attention(q, k, v, visible, dropout))


class A(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        visible = self.visible(query, key, mask, is_causal)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.size(3))
        scores = scores.masked_fill(~visible, float("-inf"))
        weights = scores.softmax(dim=2).nan_to_num()
        return self.join(torch.matmul(weights, v))


class B(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        scores = q @ k.mT / math.sqrt(query.size(-1))
        visible = self.visible(query, key, mask, is_causal)
        return self.join(masked_softmax(scores, visible) @ v)


class C(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        visible = self.visible(query, key, mask, is_causal)
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
        weights = weights.masked_fill(~visible, 0.0)
        return self.join(weights @ v)


class D(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        batch, heads = query.size(0), self.num_heads
        q, k, v = (self.split(x).flatten(0, 1) for x in (query, key, value))  # (B·H, T, D)
        visible = self.visible(query, key, mask, is_causal).expand(batch, -1, -1, -1)
        visible = visible.squeeze(1).repeat(heads, 1, 1)  # (B·H, Tq, Tk)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        context = masked_softmax(scores, visible) @ v
        return self.join(context.unflatten(0, (batch, heads)))


class E(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        visible = self.visible(query, key, mask, is_causal=False)
        if is_causal:
            column = torch.arange(key.size(1))
            row = column[-query.size(1) :, None]
            visible = visible & ~(column > row + 1)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        return self.join(masked_softmax(scores, visible) @ v)


class F(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        batch, _, width = query.shape
        d_head = width // self.num_heads
        q, k, v = (x.reshape(batch, self.num_heads, -1, d_head) for x in (query, key, value))
        visible = self.visible(query, key, mask, is_causal)
        weights = masked_softmax(q @ k.mT / math.sqrt(d_head), visible)
        return (weights @ v).reshape(query.shape)


class G(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        dropout = self.dropout if self.training else 0.0
        visible = self.visible(query, key, mask, is_causal and self.training)
        return self.join(scaled_dot_product_attention(q, k, v, visible, dropout))


class H(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        visible = self.visible(query, key, mask, is_causal)
        return self.join(
            scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=self.dropout)
        )


class J(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(value)
        visible = self.visible(query, key, mask, is_causal)
        q /= math.sqrt(q.size(-1))
        return self.join(masked_softmax(q @ k.mT, visible) @ v)


class K(Heads):
    def forward(self, query, key, value, mask=None, is_causal=False):
        q, k, v = self.split(query), self.split(key), self.split(key)
        visible = self.visible(query, key, mask, is_causal)
        weights = masked_softmax(q @ k.mT / math.sqrt(q.size(-1)), visible)
        return self.join(weights @ v)


def numbered_lines(module: type[nn.Module]) -> list[str]:
    """The lines of a module's source, counted from 1."""
    return [
        f"{n:2}  {line}" for n, line in enumerate(inspect.getsource(module).splitlines(), start=1)
    ]


def show_numbered(*names: str) -> None:
    """Print modules of `MODULES` by their letters, with the numbers of their lines."""
    print(*("\n".join(numbered_lines(MODULES[name])) for name in names), sep="\n\n")


MODULES |= {module.__name__: module for module in (A, B, C, D, E, F, G, H, J, K)}


def holds(sentence):
    """File a check under what it says.

    It is put to a copy of the module, in eval(), from a seed.
    """

    def add(check):
        @functools.wraps(check)
        @torch.no_grad()
        def asked(attend):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                return bool(check(copy.deepcopy(attend).eval()))

        asked.__doc__ = sentence
        PROPERTIES[sentence] = asked
        return asked

    return add


def ask(attend, *tensors, mask=None, is_causal=False):
    """What the module answers to copies of the tensors, always with the same dice."""
    torch.manual_seed(1)
    return attend(*(x.clone() for x in tensors), mask, is_causal=is_causal)


def alike(a, b):
    """Whether two tensors are equal up to rounding."""
    return torch.allclose(a, b, rtol=0, atol=1e-5)


def padded():
    """Three sentences of 5, 3 and 2 words in one batch, 12 wide, and the mask of their words."""
    words = pad([[1] * 5, [1] * 3, [1] * 2])
    return torch.randn(*words.shape, 12), padding_mask(words, 0)


@holds("each row of weights adds up to 1")
def rows_add_up(attend):
    x, mask = padded()
    value = torch.ones(3, 5, 12)  # a mean of ones is one
    free, masked = (ask(attend, x, x, value, mask=m) for m in (None, mask))
    return alike(free, value) and alike(masked, value)


@holds("a key that is masked out changes nothing")
def hidden_keys(attend):
    (x, mask), query = padded(), torch.randn(3, 4, 12)
    hidden = ~mask[:, 0, 0, :, None]  # (B, Tk, 1)
    other = x + hidden * torch.randn_like(x)
    return alike(ask(attend, query, x, x, mask=mask), ask(attend, query, other, other, mask=mask))


@holds("every value that is not masked out is heard")
def values_in_sight(attend):
    (x, mask), query = padded(), torch.randn(3, 4, 12)
    before = ask(attend, query, x, x, mask=mask)
    for at in range(5):
        other = x.clone()
        other[:, at] += 1
        heard = (ask(attend, query, x, other, mask=mask) - before).abs() > 1e-4  # in every head
        if not heard[mask[:, 0, 0, at]].all():
            return False
    return True


@holds("no token hears a later one, in train() and in eval()")
def no_future(attend):
    x = torch.randn(2, 7, 12)
    for training, time in product((True, False), range(1, 7)):
        attend.train(training)
        later = x.clone()
        later[:, time:] = torch.randn(2, 7 - time, 12)
        before, after = (ask(attend, y, y, y, is_causal=True) for y in (x, later))
        if not alike(before[:, :time], after[:, :time]):
            return False
    return True


@holds("permuting keys with their values changes nothing")
def order_of_the_keys(attend):
    query, key, value = torch.randn(2, 4, 12), torch.randn(2, 7, 12), torch.randn(2, 7, 12)
    order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    before, after = (
        ask(attend, query, k, v) for k, v in ((key, value), (key[:, order], value[:, order]))
    )
    return alike(before, after)


@holds("a sentence fares alone as in a batch")
def alone(attend):
    x, mask = padded()
    together = ask(attend, x, x, x, mask=mask)
    for row, length in enumerate((5, 3, 2)):
        sentence = x[row : row + 1, :length]
        if not alike(ask(attend, sentence, sentence, sentence)[0], together[row, :length]):
            return False
    return True


@holds("the inputs are left as they were")
def inputs_as_they_were(attend):
    x, mask = padded()
    given = [torch.randn(3, 4, 12), x, torch.randn_like(x), mask]
    kept = [tensor.clone() for tensor in given]
    attend(*given)
    return all(map(torch.equal, given, kept))


@holds("scores of random vectors have variance 1 at any width")
def variance_of_scores(attend):
    for width in (32, 512):
        query, key = torch.randn(1, 64, width), torch.randn(1, 12, width)
        one_each = torch.eye(12, width // 2).repeat(1, 2)[None]  # the answer is the weights
        weights = ask(attend, query, key, one_each).unflatten(-1, (2, -1))[..., :12]
        gaps = weights.log().diff(dim=-1)  # of one score to the next
        if (weights < 0).any() or not 0.8 < gaps[gaps.isfinite()].var() / 2 < 1.25:
            return False
    return True


@holds("in eval() the same question gets the same answer")
def same_answer(attend):
    x = torch.randn(2, 7, 12)
    return alike(attend(x, x, x), attend(x, x, x))


@holds("a query that fits one key gets its value")
def looked_up(attend):
    key = 20 * torch.eye(6).repeat(1, 2)[None]  # six keys, each fits itself alone, in both heads
    value, wanted = torch.randn(1, 6, 12), [2, 0, 5, 2]
    return alike(ask(attend, key[:, wanted], key, value), value[:, wanted])
