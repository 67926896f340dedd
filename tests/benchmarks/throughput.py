"""Real target tokens a second of training, on sentences of unequal length.

Batches of similar length over random ones with as many padded positions, in the same loop; then
`fit` with the first kind beside a plain loop around torch.nn.Transformer with the second. The
corpus is `lessons`, the models tiny, dropout 0.1 (theirs on attention weights, too).
"""

from itertools import cycle, islice

import torch
import torch.nn.functional as F
from measure import cpu_seconds, row
from rivals import TorchTransformer

from transformer_lib.batching import TokenBatches, encode_pairs, make_batch
from transformer_lib.corpus import load_corpus
from transformer_lib.losses import loss_on_batch
from transformer_lib.training import fit
from transformer_lib.transformer import make_model

MAX_TOKENS, AT_ONCE = 2048, 6


def at_random(examples, max_tokens):
    """Batches in a random order of sentences, each filled up to as many padded positions."""
    group = []
    for i in torch.randperm(len(examples)).tolist():
        longest = max(max(len(e.src), len(e.tgt)) for e in [*group, examples[i]])
        if longest * (len(group) + 1) > max_tokens:
            yield make_batch(group)
            group = []
        group.append(examples[i])


def plain_loop(batches, vocab_size):
    """Seconds a real token of training as torch's user would write it, six batches at a time."""
    sizes = {"d_model": 128, "num_heads": 4, "d_ff": 512, "num_layers": 2}
    model = TorchTransformer(vocab_size, **sizes)
    optimizer = torch.optim.Adam(model.parameters())

    def seconds():
        some = list(islice(batches, AT_ONCE))

        def train():
            for b in some:
                optimizer.zero_grad()
                logits = model(b.src, b.tgt_in, b.src == 0)
                F.cross_entropy(
                    logits.flatten(0, 1), b.tgt_out.flatten(), ignore_index=0
                ).backward()
                optimizer.step()

        return cpu_seconds(train) / sum(b.num_tokens for b in some)

    return seconds


def measure():
    corpus = load_corpus("lessons")
    english, french = corpus.vocabularies()
    examples = encode_pairs(corpus.train, english.encode, french.encode, 256)
    model = make_model(len(english), len(french), "tiny", tie_weights="target")
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    similar = cycle(TokenBatches(examples, MAX_TOKENS))
    mixed = cycle(islice(at_random(examples, MAX_TOKENS), 100))
    kinds = similar, mixed

    def tokens_per_second(batches):
        some = list(islice(batches, AT_ONCE))

        def train():
            for b in some:
                optimizer.zero_grad()
                loss_on_batch(model, b.src, b.tgt_in, b.tgt_out, src_mask=b.src_mask).backward()
                optimizer.step()

        return sum(b.num_tokens for b in some) / cpu_seconds(train)

    [tokens_per_second(batches) for batches in kinds]
    found = [[tokens_per_second(batches) for batches in kinds] for _ in range(9)]
    yield row(
        "batches of similar length: real tokens/s over those of random batches",
        [ours / theirs for ours, theirs in found],
        "at least 1.4",
    )

    theirs = plain_loop(mixed, max(len(english), len(french)))

    def by_fit():
        some = list(islice(similar, AT_ONCE))
        seconds = cpu_seconds(lambda: fit(model, some, steps=len(some), progress=False))
        return seconds / sum(b.num_tokens for b in some)

    by_fit(), theirs()
    yield row(
        "fit, by length: time a real token over torch.nn.Transformer's, at random",
        [by_fit() / theirs() for _ in range(9)],
        "at most 0.55",
    )
