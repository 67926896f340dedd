"""Tokens a second of greedy decoding, ours with its cache over torch.nn.Transformer's.

Theirs is a loop that runs over the whole prefix again. Then the time of a step when 256 tokens are
there, over that when 32 are. Random weights, no early end; 3+3 layers, d_model 256, 8 heads, d_ff 1024,
vocabulary 8000, source 25. Last, beam search beside greedy decoding, with the shipped model.
"""

import statistics
import time

import torch
from measure import ratios, row
from rivals import TorchTransformer

from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import DATA, load_corpus
from transformer_lib.decoding import greedy
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

VOCAB, SOURCE = 8000, 25
SIZES = {"d_model": 256, "num_heads": 8, "d_ff": 1024, "num_layers": 3}
CASES = [(1, 256, 6), (32, 64, 9.2)]  # batch, steps, the ratio to reach
NEVER = -1  # an end-of-sentence id that no model says


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


def late_over_early(times, width=16):
    early, late = (statistics.median(times[at - width : at + width]) for at in (32, 256))
    return late / early


def measure():
    ours = make_model(VOCAB, VOCAB, **SIZES, max_len=300).eval()
    theirs = TorchTransformer(VOCAB, **SIZES).eval()
    for batch, steps, aim in CASES:
        src = torch.randint(3, VOCAB, (batch, SOURCE))
        slower = ratios(
            lambda: theirs.greedy(src, steps),  # noqa: B023  called before the loop goes on
            lambda: greedy(ours, src, max_len=steps, eos_id=NEVER),  # noqa: B023
            repeats=1,
            rounds=5,
        )
        yield row(
            f"greedy, B = {batch}, {steps} steps: tokens/s over those of re-decoding",
            slower,
            f"at least {aim}",
        )
    src = torch.randint(3, VOCAB, (1, SOURCE))
    yield row(
        "time of a step at 256 tokens over that at 32",
        [late_over_early(step_times(ours, src, 272)) for _ in range(9)],
        "at most 1.25",
    )
    translator = Translator(*load_model(DATA / "models" / "lessons")[:3])
    pairs = load_corpus("everyday").train[:1000]
    slower = ratios(
        lambda: translator.hypotheses(pairs, beam_size=5),
        lambda: translator.hypotheses(pairs),
        repeats=1,
        rounds=5,
    )
    yield row("1,000 sentences, beam 5: time over that of greedy", slower, "at most 4")
