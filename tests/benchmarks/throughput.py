"""Real target tokens a second of training: batches of similar length over random ones.

The sentences are of unequal length, and the random batches have as many padded positions. The
corpus is `lessons`, the model tiny.
"""

from itertools import cycle, islice

import torch
from measure import cpu_seconds, row

from transformer_lib.batching import TokenBatches, encode_pairs, make_batch
from transformer_lib.corpus import load_corpus
from transformer_lib.losses import loss_on_batch
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


def measure():
    corpus = load_corpus("lessons")
    english, french = corpus.vocabularies()
    examples = encode_pairs(corpus.train, english.encode, french.encode, 256)
    model = make_model(len(english), len(french), "tiny", tie_weights="target")
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    kinds = [
        cycle(TokenBatches(examples, MAX_TOKENS)),
        cycle(islice(at_random(examples, MAX_TOKENS), 100)),
    ]

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
