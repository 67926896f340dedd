"""The one table of the parts that the student builds, from softmax to the Transformer.

A part's name is that of its exercise, behind the dot: `check("builds.EncoderLayer", ...)` judges
what `mine("EncoderLayer")` gives.
"""

import difflib
import importlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Part(NamedTuple):
    """What is built in which lesson, how it is called, and what the library has in its place.

    `signature` is that of the function, or of `__init__` and `forward`. `attributes` are the names
    that weights are copied by; they are those of the library's class. `library` is where its
    counterpart of the same signature stands, "" if there is none. `warms_up` says whether an exercise
    stands in front that does the same for one example.
    """

    lesson: int
    builds: str
    exercise: str
    signature: str
    minutes: int
    library: str = ""
    attributes: tuple[str, ...] = ()
    warms_up: bool = True

    @property
    def warm_up(self) -> str:
        """The exercise that does the same for one example, without a batch; "" if there is none."""
        if not self.warms_up:
            return ""
        module, _, name = self.exercise.partition(".")
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        return f"{module}.{words}_for_one"

    def counterpart(self) -> Callable[..., Any] | None:
        """The library's own, or None."""
        if not self.library:
            return None
        module, _, name = self.library.rpartition(".")
        return getattr(importlib.import_module(f"transformer_lib.{module}"), name)

    def solution(self) -> Callable[..., Any]:
        """The first solution of its exercise; raises ValueError in a hand-out without it."""
        module, _, name = self.exercise.partition(".")
        try:
            content = importlib.import_module(f"transformer_lib.exercises.{module}")
        except ModuleNotFoundError:
            content = None
        exercise = getattr(content, name, None)
        if exercise is None or exercise.withheld:
            raise ValueError(
                f"{name}: the library has no such part, and this hand-out withholds the course's solution. Pass "
                f'`check("{self.exercise}", …)` of lesson {self.lesson:02} here, and `mine("{name}")` gives yours'
            )
        return exercise.solutions[0]


_ATTENTION = ("q_proj", "k_proj", "v_proj", "out_proj")
_BLOCK = ("self_attn", "add_norm1", "feed_forward", "add_norm2")
_LAYER = "(d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False)"

_ROWS = (
    Part(0, "softmax", "basics.softmax", "(scores)", 10),
    Part(1, "the soft look-up", "cues.look_up", "(query, keys, values, temperature)", 10),
    Part(
        2,
        "Nadaraya-Watson pooling",
        "pooling.nadaraya_watson",
        "(queries, keys, values)",
        10,
        "pooling.nadaraya_watson",
    ),
    Part(3, "the additive score", "scoring.additive_score", "(query, key, W_q, W_k, w_v)", 10),
    Part(
        3,
        "the masked softmax",
        "scoring.masked_softmax",
        "(scores, mask)",
        10,
        "masks.masked_softmax",
    ),
    Part(
        4,
        "scaled dot-product attention",
        "attention.scaled_dot_product_attention",
        "(query, key, value, mask=None)",
        10,
        "attention.scaled_dot_product_attention",
    ),
    Part(5, "a GRU decoder step", "steps.gru_step", "(x, state, context, cell, readout)", 10),
    Part(
        6,
        "the Bahdanau step",
        "steps.bahdanau_step",
        "(x, state, h, cell, readout, W_q, W_k, w_v)",
        10,
    ),
    Part(7, "Luong's step", "steps.luong_step", "(x, state, fed, h, cell, W, W_c)", 10),
    Part(8, "one-head self-attention", "self_attention.one_head", "(X, W_q, W_k, W_v)", 10),
    Part(
        9,
        "multi-head attention",
        "builds.MultiHeadAttention",
        "(d_model, num_heads) · forward(query, key, value, mask=None)",
        20,
        "attention.MultiHeadAttention",
        _ATTENTION,
    ),
    Part(
        10,
        "sinusoidal positions",
        "positions.sinusoids",
        "(max_len, d_model)",
        10,
        "positions.sinusoid_table",
    ),
    Part(
        11,
        "the encoder layer",
        "builds.EncoderLayer",
        f"{_LAYER} · forward(x, mask=None)",
        20,
        "layers.EncoderLayer",
        _BLOCK,
    ),
    Part(
        12,
        "the decoder layer",
        "builds.DecoderLayer",
        f"{_LAYER} · forward(x, memory, tgt_mask=None, memory_mask=None)",
        20,
        "layers.DecoderLayer",
        ("self_attn", "add_norm1", "cross_attn", "add_norm2", "feed_forward", "add_norm3"),
    ),
    Part(
        13,
        "the Transformer",
        "builds.Transformer",
        "(config) · forward(src, tgt_in, src_mask=None, tgt_mask=None)",
        40,
        "transformer.Transformer",
        ("encoder", "decoder", "generator"),
    ),
    Part(14, "the warm-up schedule", "training.warmup", "(step, d_model, warmup)", 10),
    Part(15, "BLEU by hand", "metrics.bleu", "(candidate, reference)", 10),
    Part(16, "a greedy step", "decoding.greedy_step", "(logits, finished, eos_id, pad_id)", 10),
    Part(16, "a sampling step", "decoding.sampling_step", "(logits, temperature, top_k)", 10),
    Part(16, "a beam step", "decoding.beam_step", "(scores, log_probs)", 10),
    Part(17, "batches by length", "scaling.bucket_batches", "(lengths, max_tokens)", 10),
    Part(
        18,
        "a network with a gate",
        "builds.SwiGLU",
        "(d_model, d_ff) · forward(x)",
        5,
        "gpt.SwiGLU",
        ("gate_proj", "up_proj", "down_proj"),
        warms_up=False,
    ),
    Part(
        18,
        "attention with shared keys and values",
        "builds.GroupedAttention",
        "(d_model, num_heads, num_kv_heads, positions, *, qk_norm=False) · forward(x)",
        20,
        "gpt.GroupedAttention",
        (*_ATTENTION, "q_norm", "k_norm"),
        warms_up=False,
    ),
    Part(
        18,
        "the block of today's models",
        "builds.Block",
        "(d_model, num_heads, num_kv_heads, d_ff, positions, *, qk_norm=False) · forward(x)",
        10,
        "gpt.Block",
        ("norm1", "attention", "norm2", "feed_forward"),
    ),
    Part(19, "a translator of an invented language", "review.capstone", "(pairs)", 40),
)
PARTS = {part.exercise.partition(".")[2]: part for part in _ROWS}
WARM_UPS = {part.warm_up for part in _ROWS if part.warms_up}
BY_EXERCISE = {part.exercise: name for name, part in PARTS.items()}


def built_in() -> dict[str, str]:
    """What is built last in which lesson, by its number: `{"00": "softmax", …}`."""
    return {f"{part.lesson:02}": name for name, part in PARTS.items()}


def part_named(name: Any) -> Part:
    """The part of that name, also `builds.EncoderLayer` for `EncoderLayer`.

    Raises ValueError with the names that come near.
    """
    key = name.rpartition(".")[2] if isinstance(name, str) else name
    if isinstance(key, str) and key in PARTS:
        return PARTS[key]
    near = difflib.get_close_matches(str(key), PARTS, n=2, cutoff=0.5) or PARTS
    raise ValueError(f"there is no part {name!r} to build. Did you mean {', '.join(near)}?")
