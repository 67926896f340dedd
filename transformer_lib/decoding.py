"""From a model that scores next tokens to a sentence: greedy and beam search, one cached step at a
time. Lesson 16.

A model here is anything with `state = start(src, src_mask)` and `logits, state = step(ids, state)`,
whose states have `select(rows)`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Mask


@torch.inference_mode()
def greedy(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    src_mask: Mask | None = None,
    *,
    bos_id: int = 1,
    eos_id: int = 2,
    max_len: int = 100,
    pad_id: int = 0,
) -> Int[Tensor, "batch target"]:
    """The most likely next token, again and again: ids without bos, each row up to and with its
    eos, then `pad_id`.

    A row without eos after `max_len` tokens is cut there. Finished rows leave the batch, so a long
    sentence does not make the short ones pay. Runs in eval() and puts the model back.
    """
    with _eval(model):
        state = model.start(src, src_mask)
        out = torch.full((src.size(0), max_len), pad_id, device=src.device)
        rows = torch.arange(src.size(0), device=src.device)  # the sentences still being written
        ids = torch.full_like(rows, bos_id)
        for t in range(max_len):
            logits, state = model.step(ids, state)
            ids = logits.argmax(dim=-1)
            out[rows, t] = ids
            going = (ids != eos_id).nonzero().squeeze(1)
            if len(going) < len(rows):
                rows, ids, state = rows[going], ids[going], state.select(going)
            if not len(rows):
                return out[:, : t + 1]
        return out


@torch.inference_mode()
def beam_search(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    src_mask: Mask | None = None,
    *,
    bos_id: int = 1,
    eos_id: int = 2,
    max_len: int = 100,
    beam_size: int = 4,
    length_penalty: float = 0.0,
    pad_id: int = 0,
) -> tuple[Int[Tensor, "batch target"], Float[Tensor, " batch"]]:
    """The best of `beam_size` hypotheses that are kept at every step, and its score.

    Score: the sum of log-probabilities, divided by ((5 + length) / 6) ** length_penalty (Wu et al.
    2016, eq. 14), length counting eos. A finished hypothesis keeps its place in the beam until
    better ones push it out; the best finished one is remembered even then, and a sentence is done
    when no open hypothesis can still beat it. A beam of one is greedy search.
    """
    if beam_size < 1:
        raise ValueError(f"beam_size={beam_size}, but a beam holds at least 1 hypothesis")
    if length_penalty < 0:
        raise ValueError(
            f"length_penalty={length_penalty} is negative: 0 favours short sentences, more favours longer ones"
        )

    def penalty(length: Tensor | int) -> Tensor:
        return ((5 + torch.as_tensor(length, device=src.device)) / 6) ** length_penalty

    with _eval(model):
        batch = src.size(0)
        beams = torch.arange(batch, device=src.device).repeat_interleave(beam_size)
        state = model.start(src, src_mask).select(beams)
        row = torch.arange(batch, device=src.device)
        first = row[:, None] * beam_size  # where a sentence's beams begin among the model's rows
        ids = torch.full((batch, beam_size), bos_id, device=src.device)
        out = torch.full((batch, beam_size, max_len), pad_id, device=src.device)
        length = torch.zeros(batch, beam_size, dtype=torch.long, device=src.device)
        finished = torch.zeros(batch, beam_size, dtype=torch.bool, device=src.device)
        # All beams start alike: only the first may be continued.
        log_prob = torch.full((batch, beam_size), float("-inf"), device=src.device)
        log_prob[:, 0] = 0.0
        best_score = torch.full((batch,), float("-inf"), device=src.device)
        best = torch.full((batch, max_len), pad_id, device=src.device)
        best_length = torch.zeros(batch, dtype=torch.long, device=src.device)

        for t in range(max_len):
            logits, state = model.step(ids.flatten(), state)
            steps = logits.float().log_softmax(dim=-1).unflatten(0, (batch, beam_size))  # (B, K, V)
            steps = steps.masked_fill(finished[..., None], float("-inf"))
            # A finished one only waits.
            steps[..., pad_id] = steps[..., pad_id].masked_fill(finished, 0.0)
            vocab = steps.size(-1)

            total = log_prob[..., None] + steps
            total_length = length + (~finished).long()
            score = (total / penalty(total_length)[..., None]).flatten(1)  # (B, K·V)
            chosen = score.topk(beam_size, dim=-1).indices
            parent, ids = chosen // vocab, chosen % vocab

            log_prob = total.flatten(1).gather(1, chosen)
            length = total_length.gather(1, parent)
            was_finished = finished.gather(1, parent)
            finished = was_finished | (ids == eos_id)
            out = out.gather(1, parent[..., None].expand_as(out))
            out[..., t] = ids.masked_fill(was_finished, pad_id)
            state = state.select((first + parent).flatten())

            # An open hypothesis may be returned only when there is no more room to finish it.
            score = log_prob / penalty(length)
            if t < max_len - 1:
                score = score.masked_fill(~finished, float("-inf"))
            score, beam = score.max(dim=1)
            better = score > best_score
            best_score = torch.where(better, score, best_score)
            best = torch.where(better[:, None], out[row, beam], best)
            best_length = torch.where(better, length[row, beam], best_length)
            reach = (log_prob / penalty(max_len)).masked_fill(finished, float("-inf"))
            if (best_score >= reach.amax(dim=1)).all():
                break

        return best[:, : int(best_length.amax())], best_score


@contextmanager
def _eval(model: nn.Module) -> Iterator[None]:
    """A block in which the model is in eval(); afterwards it is as it was."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
