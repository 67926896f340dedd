"""Whole Transformers made of other libraries' parts, as their users would write them."""

import math

import torch
from torch import nn

from transformer_lib.lab.d2l_bridge import load_d2l


class TorchTransformer(nn.Module):
    """torch.nn.Transformer between embeddings, learned positions and an output layer."""

    def __init__(self, vocab_size, *, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.source = nn.Embedding(vocab_size, d_model)
        self.target = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(512, d_model)
        self.dropout = nn.Dropout(dropout)
        self.body = nn.Transformer(
            d_model, num_heads, num_layers, num_layers, d_ff, dropout, batch_first=True
        )
        self.generator = nn.Linear(d_model, vocab_size, bias=False)

    def embed(self, embedding, ids):
        positions = self.positions.weight[: ids.size(1)]
        return self.dropout(embedding(ids) * math.sqrt(self.d_model) + positions)

    def forward(self, src, tgt_in, padding):
        """Logits (batch, target, vocab); `padding` is True at the source's padding."""
        causal = nn.Transformer.generate_square_subsequent_mask(tgt_in.size(1))
        hidden = self.body(
            self.embed(self.source, src),
            self.embed(self.target, tgt_in),
            tgt_mask=causal,
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.generator(hidden)

    @torch.inference_mode()
    def greedy(self, src, steps):
        """The encoder once, the decoder over the whole prefix at every step.

        Logits are those of the last position alone.
        """
        memory = self.body.encoder(self.embed(self.source, src))
        ids = torch.ones(len(src), 1, dtype=torch.long)
        for t in range(1, steps + 1):
            causal = nn.Transformer.generate_square_subsequent_mask(t)
            hidden = self.body.decoder(
                self.embed(self.target, ids), memory, tgt_mask=causal, tgt_is_causal=True
            )
            ids = torch.cat([ids, self.generator(hidden[:, -1]).argmax(-1, keepdim=True)], dim=1)
        return ids[:, 1:]


class D2lDecoderBlock(nn.Module):
    """The decoder block of d2l's book, from the parts of its package."""

    def __init__(self, d2l, width, num_heads, d_ff, dropout):
        super().__init__()
        sizes = (width, width, width, width, num_heads, dropout)
        self.attention1, self.attention2 = (d2l.MultiHeadAttention(*sizes) for _ in range(2))
        self.norms = nn.ModuleList(d2l.AddNorm([width], dropout) for _ in range(3))
        self.ffn = d2l.PositionWiseFFN(width, d_ff, width)

    def forward(self, x, memory, lengths, seen):
        x = self.norms[0](x, self.attention1(x, x, x, seen))
        x = self.norms[1](x, self.attention2(x, memory, memory, lengths))
        return self.norms[2](x, self.ffn(x))


class D2lTransformer(nn.Module):
    """d2l 0.17's encoder and the decoder of its book."""

    def __init__(self, vocab_size, *, d_model, num_heads, d_ff, num_layers, dropout=0.1):
        super().__init__()
        d2l = load_d2l()
        width = (d_model,) * 4
        self.d_model = d_model
        self.encoder = d2l.TransformerEncoder(
            vocab_size, *width, [d_model], d_model, d_ff, num_heads, num_layers, dropout
        )
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = d2l.PositionalEncoding(d_model, dropout)
        self.blocks = nn.ModuleList(
            D2lDecoderBlock(d2l, d_model, num_heads, d_ff, dropout) for _ in range(num_layers)
        )
        self.dense = nn.Linear(d_model, vocab_size)
        self.loss = d2l.MaskedSoftmaxCELoss()

    def forward(self, src, tgt_in, lengths):
        memory = self.encoder(src, lengths)
        x = self.positions(self.embedding(tgt_in) * math.sqrt(self.d_model))
        seen = torch.arange(1, tgt_in.size(1) + 1).repeat(len(src), 1)
        for block in self.blocks:
            x = block(x, memory, lengths, seen)
        return self.dense(x)
