"""The time of one training step, ours over torch.nn.Transformer's and over d2l 0.17's.

Dropout 0.1 everywhere, on attention weights too, since theirs have it there. Adam, ours fused. Their
logits are computed at every position, ours at real ones.
"""

import torch
import torch.nn.functional as F
from bahdanau_step import batch
from measure import ratios, row
from rivals import D2lTransformer, TorchTransformer

from transformer_lib.batching import shift_right
from transformer_lib.losses import loss_on_batch
from transformer_lib.masks import padding_mask
from transformer_lib.transformer import make_model

SIZES = {  # model, then batch, length, vocabulary, and the ratio to torch's that we aim at
    "small": ({"num_layers": 2, "d_model": 32, "num_heads": 4, "d_ff": 64}, 64, 10, 200, 0.85),
    "mid": ({"num_layers": 3, "d_model": 256, "num_heads": 8, "d_ff": 1024}, 64, 25, 8000, 0.80),
    "base": ({"num_layers": 6, "d_model": 512, "num_heads": 8, "d_ff": 2048}, 16, 32, 10000, 0.75),
}


def stepper(model, loss, **adam):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, **adam)

    def step():
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def steps(sizes, rows, length, vocab_size):
    """Three training steps on the same batch: ours, torch's, d2l's."""
    src, tgt, (src_lengths, tgt_lengths) = batch(rows, length, vocab_size)
    tgt_in, mask = shift_right(tgt), padding_mask(src, 0)
    ours = make_model(vocab_size, vocab_size, "base", attention_dropout=0.1, max_len=64, **sizes)
    torchs, d2ls = TorchTransformer(vocab_size, **sizes), D2lTransformer(vocab_size, **sizes)
    torch.set_num_threads(1)  # importing d2l may have changed it

    def torchs_loss():
        logits = torchs(src, tgt_in, src == 0)
        return F.cross_entropy(logits.flatten(0, 1), tgt.flatten(), ignore_index=0)

    def d2ls_loss():
        return d2ls.loss(d2ls(src, tgt_in, src_lengths), tgt, tgt_lengths).sum()

    return (
        stepper(ours, lambda: loss_on_batch(ours, src, tgt_in, tgt, src_mask=mask), fused=True),
        stepper(torchs, torchs_loss),
        stepper(d2ls, d2ls_loss),
    )


def measure():
    for name, (*arguments, aim) in SIZES.items():
        ours, torchs, d2ls = steps(*arguments)
        rounds = {"repeats": 20, "rounds": 11} if name == "small" else {"repeats": 1, "rounds": 7}
        what = f"training step, {name}: time over that of"
        yield row(
            f"{what} torch.nn.Transformer", ratios(ours, torchs, **rounds), f"at most {aim:.2f}"
        )
        yield row(f"{what} d2l 0.17", ratios(ours, d2ls, **rounds))
