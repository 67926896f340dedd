"""The time of one Bahdanau training step, ours over d2l 0.17's.

Each has Adam, ours fused, as `fit` has it.

d2l keeps the attention decoder in its book, not in its package; here it is put together from the
package's parts, as the book describes it: keys projected at every step, logits at every position.
"""

import torch
from measure import ratios, row
from torch import nn

from transformer_lib.batching import shift_right
from transformer_lib.lab.d2l_bridge import load_d2l
from transformer_lib.losses import loss_on_batch
from transformer_lib.masks import padding_mask
from transformer_lib.recurrent import BahdanauSeq2Seq
from transformer_lib.recurrent_parts import RecurrentConfig

SIZES = {  # embedding and hidden width, batch, length, vocabulary, the ratio to reach
    "small": (32, 64, 10, 200, 0.86),
    "mid": (256, 64, 25, 8000, 0.79),
}
LAYERS, DROPOUT = 2, 0.1


class TheirDecoder(nn.Module):
    """d2l's parts: additive attention, a GRU, a linear layer over all states.

    The last state attends to the encoder's outputs; context and embedding go into the GRU.
    """

    def __init__(self, d2l, vocab_size, width):
        super().__init__()
        self.attention = d2l.AdditiveAttention(width, width, width, DROPOUT)
        self.embedding = nn.Embedding(vocab_size, width)
        self.rnn = nn.GRU(2 * width, width, LAYERS, dropout=DROPOUT)
        self.dense = nn.Linear(width, vocab_size)

    def forward(self, tgt_in, encoded, lengths):
        outputs, hidden = encoded
        outputs = outputs.permute(1, 0, 2)
        states = []
        for x in self.embedding(tgt_in).permute(1, 0, 2):
            context = self.attention(hidden[-1][:, None], outputs, outputs, lengths)
            joined = torch.cat([context, x[:, None]], dim=-1)
            out, hidden = self.rnn(joined.permute(1, 0, 2), hidden)
            states.append(out)
        return self.dense(torch.cat(states)).permute(1, 0, 2)


def batch(size, length, vocab_size):
    """Source and target ids of lengths uniform between half and all of `length`."""
    lengths = torch.randint(length // 2, length + 1, (2, size))
    lengths[:, 0] = length
    ids = torch.randint(4, vocab_size, (2, size, length))
    ids[torch.arange(length) >= lengths[..., None]] = 0
    return ids[0], ids[1], lengths


def steps(width, size, length, vocab_size):
    """The two training steps, ours and theirs, on the same batch."""
    d2l = load_d2l()
    src, tgt, (src_lengths, tgt_lengths) = batch(size, length, vocab_size)
    tgt_in, src_mask = shift_right(tgt), padding_mask(src, 0)

    config = RecurrentConfig(
        vocab_size,
        vocab_size,
        d_model=width,
        d_hidden=width,
        num_layers=LAYERS,
        bidirectional=False,
        dropout=DROPOUT,
    )
    ours = BahdanauSeq2Seq(config)
    encoder = d2l.Seq2SeqEncoder(vocab_size, width, width, LAYERS, DROPOUT)
    decoder = TheirDecoder(d2l, vocab_size, width)
    theirs, their_loss = nn.ModuleList([encoder, decoder]), d2l.MaskedSoftmaxCELoss()

    def our_loss():
        return loss_on_batch(ours, src, tgt_in, tgt, src_mask=src_mask)

    def the_loss_of_d2l():
        logits = decoder(tgt_in, encoder(src), src_lengths)
        return their_loss(logits, tgt, tgt_lengths).sum()

    def stepper(model, loss, **adam):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **adam)

        def step():
            optimizer.zero_grad()
            loss().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

        return step

    return stepper(ours, our_loss, fused=True), stepper(theirs, the_loss_of_d2l)


def measure():
    for name, (width, size, length, vocab_size, aim) in SIZES.items():
        ours, theirs = steps(width, size, length, vocab_size)
        torch.set_num_threads(1)  # importing d2l may have changed it
        rounds = {"repeats": 4, "rounds": 60} if name == "small" else {"repeats": 2, "rounds": 9}
        yield row(
            f"Bahdanau training step, {name}: time over that of d2l 0.17",
            ratios(ours, theirs, **rounds),
            f"at most {aim}",
        )
