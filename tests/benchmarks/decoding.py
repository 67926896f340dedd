"""Tokens a second of greedy decoding, ours with its cache relative to a loop that runs
torch.nn.Transformer over the whole prefix again: python tests/benchmarks/decoding.py

One thread, CPU time, random weights, no early end, both models in one process, in turn; the median
of the ratios counts. 3+3 layers, d_model 256, 8 heads, d_ff 1024, vocabulary 8000, source 25. The
last line is the time of a step when 256 tokens are there, relative to when 32 are.
"""

import math
import statistics
import time

import torch
from torch import nn

from transformer_lib.decoding import greedy
from transformer_lib.transformer import make_model

VOCAB, D_MODEL, HEADS, D_FF, LAYERS, SOURCE = 8000, 256, 8, 1024, 3, 25
CASES = [(1, 256, 5), (32, 64, 8)]  # batch, steps, the ratio to reach
NEVER = -1  # an end-of-sentence id that no model says


class TheirTransformer(nn.Module):
    """torch.nn.Transformer between embeddings, learned positions and an output layer."""

    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(VOCAB, D_MODEL), nn.Embedding(VOCAB, D_MODEL)
        self.positions = nn.Embedding(512, D_MODEL)
        self.body = nn.Transformer(D_MODEL, HEADS, LAYERS, LAYERS, D_FF, batch_first=True)
        self.generator = nn.Linear(D_MODEL, VOCAB, bias=False)

    def embed(self, embedding, ids):
        return embedding(ids) * math.sqrt(D_MODEL) + self.positions.weight[: ids.size(1)]

    @torch.inference_mode()
    def greedy(self, src, steps):
        """The encoder once, the decoder over the whole prefix at every step, logits of the last
        position alone.
        """
        memory = self.body.encoder(self.embed(self.source, src))
        ids = torch.ones(len(src), 1, dtype=torch.long)
        for t in range(1, steps + 1):
            hidden = self.body.decoder(
                self.embed(self.target, ids),
                memory,
                tgt_mask=nn.Transformer.generate_square_subsequent_mask(t),
                tgt_is_causal=True,
            )
            ids = torch.cat([ids, self.generator(hidden[:, -1]).argmax(-1, keepdim=True)], dim=1)
        return ids[:, 1:]


def seconds(run):
    began = time.process_time()
    run()
    return time.process_time() - began


@torch.inference_mode()
def step_times(model, src, steps):
    """CPU seconds of every step of one sentence."""
    state, ids, times = model.start(src), torch.ones(len(src), dtype=torch.long), []
    for _ in range(steps):
        began = time.process_time()
        logits, state = model.step(ids, state)
        ids = logits.argmax(dim=-1)
        times.append(time.process_time() - began)
    return times


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ours = make_model(VOCAB, VOCAB, "small").eval()
    theirs = TheirTransformer().eval()
    for batch, steps, goal in CASES:
        src = torch.randint(3, VOCAB, (batch, SOURCE))
        ratios = [
            seconds(lambda: theirs.greedy(src, steps))  # noqa: B023 (called at once)
            / seconds(lambda: greedy(ours, src, max_len=steps, eos_id=NEVER))  # noqa: B023
            for _ in range(5)
        ]
        print(
            f"B = {batch}, {steps} steps: {statistics.median(ratios):.1f} times the tokens/s of "
            f"re-decoding (from {min(ratios):.1f} to {max(ratios):.1f}; aim: at least {goal})"
        )
    src = torch.randint(3, VOCAB, (1, SOURCE))
    runs = [step_times(ours, src, 272) for _ in range(9)]
    early, late = (
        statistics.median(t for run in runs for t in run[at - 16 : at + 16]) for at in (32, 256)
    )
    print(f"a step at 256 tokens takes {late / early:.2f} of one at 32 (aim: at most 1.25)")


if __name__ == "__main__":
    main()
