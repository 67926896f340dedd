"""The time of attention, forward and backward, over torch.nn.MultiheadAttention's.

Theirs is asked for no weights, and dropout is 0. Then the memory of the forward pass: with the
fused kernel it grows with n, with the map written out as n².
"""

import torch
from measure import Row, ratios, row
from torch import nn

from transformer_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_lib.lab.costs import peak_bytes

D_MODEL, HEADS = 256, 8


def backward(attend):
    def run():
        attend().sum().backward()

    return run


def measure():
    ours = MultiHeadAttention(D_MODEL, HEADS)
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    for n in (64, 256, 1024):
        x = torch.randn(4, n, D_MODEL)
        yield row(
            f"attention, n = {n}: time over that of nn.MultiheadAttention",
            ratios(
                backward(lambda: ours(x, x, x)),  # noqa: B023  called before the loop goes on
                backward(lambda: theirs(x, x, x, need_weights=False)[0]),  # noqa: B023
                repeats=max(1, 256 // n),
                rounds=9,
            ),
            "at most 1.00" if n == 1024 else "",
        )
    for n in (64, 256, 1024, 4096):
        q, k, v = torch.randn(3, 1, HEADS, n, D_MODEL // HEADS)
        x = torch.randn(1, n, D_MODEL)
        with torch.inference_mode():
            for name, run in {
                "is_causal": lambda: ours(x, x, x, is_causal=True),  # noqa: B023
                "no mask": lambda: ours(x, x, x),  # noqa: B023
                "the map written out": lambda: scaled_dot_product_attention(q, k, v),  # noqa: B023
            }.items():
                mib = peak_bytes(run) / 2**20
                yield Row(f"attention, n = {n}, {name}: peak memory, MiB", mib, mib, mib)
