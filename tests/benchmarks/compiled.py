"""What torch.compile costs and gains where a small model trains: CPU seconds of sixty updates.

As shapes come in training, and with all updates on one batch. Those of the C++ compiler count too.
`python tests/benchmarks/compiled.py data/compiled.json` stores what lesson 17 reads.
"""

import json
import os
import sys
from itertools import islice
from pathlib import Path

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # what is written is written anew
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # by children of this very process

import torch

from transformer_lib.base.machine import seed_everything, use_threads
from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus import MAX_LEN, load_corpus
from transformer_lib.losses import loss_on_batch
from transformer_lib.transformer import make_model

UPDATES = 60


def seconds(batches, vocabularies, compiled):
    """CPU time of each update; if `compiled`, the first shape writes kernels, the second those of all."""
    torch.compiler.reset()
    seed_everything(0)
    sizes = {"num_layers": 2, "d_model": 64, "num_heads": 4, "d_ff": 256, "dropout": 0.0}
    model = make_model(*vocabularies, norm_first=True, tie_weights="target", **sizes)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    runs, taken = (torch.compile(model) if compiled else model), []
    for b in batches:
        began = sum(os.times()[:4])
        optimizer.zero_grad()
        loss_on_batch(runs, b.src, b.tgt_in, b.tgt_out, src_mask=b.src_mask).backward()
        optimizer.step()
        taken.append(sum(os.times()[:4]) - began)
    return taken


def measured():
    """Rows: which batches, compiled or not, all updates together, and the last of them."""
    use_threads(1)
    corpus = load_corpus("lessons")
    english, french = corpus.vocabularies()
    examples = encode_pairs(corpus.train, english.encode, french.encode, MAX_LEN)
    as_they_come = list(islice(TokenBatches(examples, 1024), UPDATES))
    kinds = {"as they come": as_they_come, "one batch": as_they_come[:1] * UPDATES}
    for name, batches in kinds.items():
        shapes = {(*b.src.shape, b.tgt_in.size(1)) for b in batches}
        for compiled in (False, True):
            taken = seconds(batches, (len(english), len(french)), compiled)
            last = sum(taken[-20:]) / 20  # os.times() counts hundredths
            yield {
                "batches": name,
                "shapes": len(shapes),
                "compiled": compiled,
                "cpu_seconds": round(sum(taken), 1),
                "last_ms": round(1000 * last, 1),
            }


if __name__ == "__main__":
    found = {"torch": torch.__version__, "updates": UPDATES, "rows": list(measured())}
    text = json.dumps(found, indent=1) + "\n"
    Path(sys.argv[1]).write_text(text, encoding="utf-8") if sys.argv[1:] else print(text, end="")
