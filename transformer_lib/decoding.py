"""From a model that scores next tokens to a sentence, one cached step at a time. Lesson 16.

The ways are greedy search, sampling, beam search, and sampling with guesses that are checked. A
model here is anything with `state = start(src, src_mask)` and `logits, state = step(ids, state)`,
whose states have `select(rows)`. `with_steps` gives them to a model that has neither. To check
several guesses in one pass a model needs `logits, state = steps(ids, state)` besides, and its
states `back(count)`.

No way ever writes <pad> or <bos> inside a sentence, whatever the model thinks of them: their scores
become −inf. Scores that are no numbers raise ValueError.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.views import eval_view
from transformer_lib.masks import Mask

LARGE = 2**18  # weights: a layer of 1 MB and more pays for being laid out once a search


def _reading(search: Callable) -> Callable:
    """`search` in inference mode; what it returns are tensors like any other, also to train on."""

    @functools.wraps(search)
    def searched(*args, **kwargs):
        with torch.inference_mode():
            found = search(*args, **kwargs)
        return _cloned(found) if isinstance(found, Tensor) else tuple(map(_cloned, found))

    return searched


def _cloned(part: Any) -> Any:
    return part.clone() if isinstance(part, Tensor) else part


@_reading
def greedy(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    src_mask: Mask | None = None,
    *,
    tgt_mask: Mask | None = None,
    bos_id: int = 1,
    eos_id: int = 2,
    max_len: int = 100,
    pad_id: int = 0,
) -> Int[Tensor, "batch target"]:
    """The most likely next token, again and again, as ids without bos.

    Each row goes up to and with its eos, then comes `pad_id`. A row without eos after `max_len`
    tokens is cut there. Finished rows leave the batch, so a long sentence does not make the short
    ones pay. `tgt_mask` is that of `model(src, tgt_in, src_mask, tgt_mask)`, over `max_len`
    positions. A view of the model is read, in eval() (`views.eval_view`); the model stays as it is.
    """
    return _write(
        model,
        src,
        _masks(src_mask, tgt_mask),
        lambda logits: logits.argmax(dim=-1),
        bos_id,
        eos_id,
        max_len,
        pad_id,
    )


@_reading
def sample(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    src_mask: Mask | None = None,
    *,
    tgt_mask: Mask | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    bos_id: int = 1,
    eos_id: int = 2,
    max_len: int = 100,
    pad_id: int = 0,
) -> Int[Tensor, "batch target"]:
    """Every next token drawn at random with probability softmax(logits / temperature).

    Where they are given, only the `top_k` most likely tokens are left to draw, and of these the
    nucleus `top_p`. A low temperature comes close to `greedy`, a high one to drawing any token. Ids
    as `greedy` returns them. The same generator state draws the same sentences from the same batch.
    """
    if not temperature > 0:
        raise ValueError(
            f"temperature={temperature} is not above 0: greedy search is its limit at 0"
        )

    def draw(logits: Float[Tensor, "rows vocab"]) -> Int[Tensor, " rows"]:
        return _drawn(_shares(logits.float(), temperature, top_k, top_p), generator)

    masks = _masks(src_mask, tgt_mask)
    return _write(model, src, masks, draw, bos_id, eos_id, max_len, pad_id)


def keep_top_k(logits: Float[Tensor, "*batch vocab"], k: int) -> Float[Tensor, "*batch vocab"]:
    """The k largest logits of each row; the others become −inf, probability 0 (Fan et al. 2018)."""
    if k < 1:
        raise ValueError(f"top_k={k}, but at least 1 token must be left to draw")
    kept, ids = logits.topk(min(k, logits.size(-1)), dim=-1)
    return torch.full_like(logits, float("-inf")).scatter(-1, ids, kept)


def keep_top_p(logits: Float[Tensor, "*batch vocab"], p: float) -> Float[Tensor, "*batch vocab"]:
    """The nucleus of each row: the fewest tokens whose probabilities add up to p or more.

    They are the most likely ones; the others become −inf (Holtzman et al. 2020).
    """
    if not 0 < p <= 1:
        raise ValueError(f"top_p={p} is not a probability above 0 and at most 1")
    if p == 1:
        return logits  # sums of rounded shares may reach 1 before the last token
    probability, ids = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = probability.cumsum(dim=-1) - probability  # of all that are more likely
    outside = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, before >= p)
    return logits.masked_fill(outside, float("-inf"))


class Guesses(NamedTuple):
    """What guessing has cost and brought in a call of `speculate`, in all its rows together."""

    made: int  # by the draft
    accepted: int
    refused: int  # what is guessed behind a refused token is not looked at
    passes: int  # of the model, each over all rows that were still being written


@_reading
def speculate(
    model: nn.Module,
    draft: nn.Module,
    src: Int[Tensor, "batch source"],
    src_mask: Mask | None = None,
    *,
    guesses: int = 4,
    tgt_mask: Mask | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    bos_id: int = 1,
    eos_id: int = 2,
    max_len: int = 100,
    pad_id: int = 0,
) -> tuple[Int[Tensor, "batch target"], Guesses]:
    """As `sample`, or with `temperature=0` as `greedy`, in fewer passes: a draft guesses tokens.

    In each round the draft says the next `guesses` tokens one by one, and one pass of the model
    reads them all. They are kept up to the first that is refused, in the place of which another is
    drawn (`accept_or_redraw`); where none is, the same pass gives one token more. So the tokens
    have the probabilities that the model gives them, whatever the draft: a bad one costs time and
    no word. (Leviathan et al. 2023, Chen et al. 2023)

    A draft is a model with the same target vocabulary. It is used at the same temperature, and
    does not hear of `tgt_mask`. All rows keep as many tokens as the row that keeps the fewest, so
    that they stand at one position. A model without `steps` reads its guesses one after the other.
    """
    if guesses < 1:
        raise ValueError(f"guesses={guesses}, but a draft guesses at least 1 token")
    if not temperature >= 0:
        raise ValueError(f"temperature={temperature} is below 0: at 0 it is greedy search")

    def shares(logits: Float[Tensor, "rows vocab"], t: int) -> Float[Tensor, "rows vocab"]:
        _must_be_numbers(logits, t)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return _shares(logits.index_fill(-1, never, float("-inf")), temperature, top_k, top_p)

    model, draft = _reader(model), _reader(draft)
    sizes = [_vocab_size(one) for one in (model, draft)]
    if None not in sizes:
        _must_fit(*sizes)
    never = _never(src.device, {pad_id, bos_id} - {eos_id})
    state, told = model.start(src, *_masks(src_mask, tgt_mask)), draft.start(src, src_mask)
    out = torch.full((src.size(0), max_len), pad_id, device=src.device)
    rows = torch.arange(src.size(0), device=src.device)  # the sentences still being written
    ids, t = torch.full_like(rows, bos_id), 0
    made = accepted = refused = passes = 0
    while len(rows) and t < max_len:
        # The draft reads `ids`, which the model has not read yet, then what it guesses itself.
        read, q, heard = [ids], [], []
        while len(q) < min(guesses, max_len - 1 - t) and not (read[-1] == eos_id).any():
            logits, told = draft.step(read[-1], told)
            q.append(shares(logits, t + len(q)))
            read.append(_drawn(q[-1], generator))
            heard.append(told)
        logits, after = _read(model, torch.stack(read, dim=1), state)
        made, passes = made + len(q) * len(rows), passes + 1
        for n, guess in enumerate([*read[1:], None]):
            p = shares(logits[:, n], t)
            if guess is None:
                ids, others = _drawn(p, generator), 0
            else:
                _must_fit(p.size(-1), q[n].size(-1))
                ids, others = _judged(p, q[n], guess, generator)
                accepted, refused = accepted + len(rows) - others, refused + others
            out[rows, t], t = ids, t + 1
            if others or (ids == eos_id).any():
                break  # what was guessed behind it is not what stands behind it now
        going = (ids != eos_id).nonzero().squeeze(1)
        if t < max_len and len(going):  # both have read all that is kept, but for its last token
            told = heard[n] if guess is not None else draft.step(read[-1], told)[1]
            state = after(n + 1)
            if len(going) < len(rows):
                state, told = state.select(going), told.select(going)
        rows, ids = rows[going], ids[going]
    return out[:, :t], Guesses(made, accepted, refused, passes)


def accept_or_redraw(
    p: Float[Tensor, "*rows vocab"], q: Float[Tensor, "*rows vocab"], guess: Int[Tensor, "*rows"]
) -> tuple[Float[Tensor, "*rows"], Float[Tensor, "*rows vocab"]]:
    """How a guess drawn from q becomes a token of distribution p.

    First the probability min(1, p/q) with which it is accepted. Then what to draw from in its
    place where it is refused: max(p − q, 0), divided by its sum. A token is then guessed and
    accepted with min(q, p), and what p has above that is what is redrawn: together p.
    """
    of_guess = guess[..., None]
    chance = (p.gather(-1, of_guess) / q.gather(-1, of_guess)).clamp(max=1).squeeze(-1)
    left = (p - q).clamp(min=0)
    total = left.sum(dim=-1, keepdim=True)
    # Where p and q are one but for rounding, nothing may be left; then p is as good.
    return chance, torch.where(total > 0, left / total, p)


@_reading
def beam_search(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    src_mask: Mask | None = None,
    *,
    tgt_mask: Mask | None = None,
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

    model = _reader(model)
    state, never = (
        model.start(src, *_masks(src_mask, tgt_mask)),
        _never(src.device, {pad_id, bos_id} - {eos_id}),
    )
    best = torch.full((src.size(0), max_len), pad_id, device=src.device)
    best_score = torch.full((src.size(0),), float("-inf"), device=src.device)
    best_length = torch.zeros(src.size(0), dtype=torch.long, device=src.device)
    # Of each sentence that is still searched, its beam: one empty hypothesis, soon beam_size.
    rows = torch.arange(src.size(0), device=src.device)
    ids = torch.full((src.size(0), 1), bos_id, device=src.device)
    out = torch.full((src.size(0), 1, max_len), pad_id, device=src.device)
    length = torch.zeros_like(ids)
    log_prob = torch.zeros(ids.shape, device=src.device)
    finished = torch.zeros_like(ids, dtype=torch.bool)

    for t in range(max_len):
        logits, state = model.step(ids.flatten(), state)
        _must_be_numbers(logits, t)
        log_probs = logits.float().log_softmax(dim=-1).index_fill(-1, never, float("-inf"))
        # What is not among the best of its own hypothesis is not among the best of all.
        steps, words = log_probs.topk(min(beam_size, logits.size(-1)))
        steps, words = steps.unflatten(0, ids.shape), words.unflatten(0, ids.shape)  # (N, K, W)
        # A finished one only waits: its next token is pad, for certain.
        steps[finished], words[finished] = float("-inf"), pad_id
        steps[..., 0] = steps[..., 0].masked_fill(finished, 0.0)

        total = log_prob[..., None] + steps
        total_length = length + (~finished).long()
        score = (total / penalty(total_length)[..., None]).flatten(1)  # (N, K·W)
        chosen = score.topk(min(beam_size, score.size(-1)), dim=-1).indices
        parent = chosen // steps.size(-1)
        row = parent + torch.arange(len(ids), device=src.device)[:, None] * ids.size(1)

        ids = words.flatten(1).gather(1, chosen)
        log_prob = total.flatten(1).gather(1, chosen)
        length = total_length.gather(1, parent)
        finished = finished.gather(1, parent) | (ids == eos_id)
        out = out.flatten(0, 1)[row]
        out[..., t] = ids

        # An open hypothesis may be returned only when there is no more room to finish it.
        score = log_prob / penalty(length)
        if t < max_len - 1:
            score = score.masked_fill(~finished, float("-inf"))
        score, beam = score.max(dim=1)
        better = (score > best_score[rows]).nonzero().squeeze(1)
        best_score[rows[better]] = score[better]
        best[rows[better]] = out[better, beam[better]]
        best_length[rows[better]] = length[better, beam[better]]

        reach = (log_prob / penalty(max_len)).masked_fill(finished, float("-inf"))
        going = (reach.amax(dim=1) > best_score[rows]).nonzero().squeeze(1)
        if not len(going):
            break
        state = state.select(row[going].flatten())
        rows, ids, out, length = rows[going], ids[going], out[going], length[going]
        log_prob, finished = log_prob[going], finished[going]

    return best[:, : int(best_length.amax())], best_score


@dataclass(frozen=True)
class Prefix:
    """All that was read so far: what a model without a cache has to read again at each step."""

    src: Int[Tensor, "batch source"]
    src_mask: Mask | None
    ids: Int[Tensor, "batch target"]

    def select(self, rows: Int[Tensor, " rows"]) -> "Prefix":
        """The state of these rows, in this order; a row may come twice."""
        mask = self.src_mask
        if mask is not None and mask.size(0) > 1:
            mask = mask.index_select(0, rows)
        return Prefix(self.src.index_select(0, rows), mask, self.ids.index_select(0, rows))

    def back(self, count: int) -> "Prefix":
        """The state as it was before the last `count` tokens."""
        return Prefix(self.src, self.src_mask, self.ids[:, : self.ids.size(1) - count])


class Recomputing(nn.Module):
    """A model that gives `logits = model(src, tgt_in, src_mask)`, and now takes steps as well.

    At each step it reads source and target from the beginning: right, and slow. `config` is kept
    for whoever asks for `max_len`.
    """

    def __init__(self, model: nn.Module, config: Any = None):
        super().__init__()
        self.model, self.config = model, config
        self.training = model.training

    def forward(
        self,
        src: Int[Tensor, "batch source"],
        tgt_in: Int[Tensor, "batch target"],
        src_mask: Mask | None = None,
    ) -> Float[Tensor, "..."]:
        """Logits (batch, target, vocab)."""
        return self.model(src, tgt_in, src_mask)

    def start(self, src: Int[Tensor, "batch source"], src_mask: Mask | None = None) -> Prefix:
        """Nothing is computed yet."""
        return Prefix(src, src_mask, src[:, :0])

    def step(
        self, ids: Int[Tensor, " batch"], state: Prefix
    ) -> tuple[Float[Tensor, "batch vocab"], Prefix]:
        """The logits behind the last of the ids, and the state that has read it."""
        logits, state = self.steps(ids[:, None], state)
        return logits[:, -1], state

    def steps(
        self, ids: Int[Tensor, "batch new"], state: Prefix
    ) -> tuple[Float[Tensor, "batch new vocab"], Prefix]:
        """The logits behind each of the ids, and the state that has read them."""
        state = Prefix(state.src, state.src_mask, torch.cat((state.ids, ids), dim=1))
        return self(state.src, state.ids, state.src_mask)[:, -ids.size(1) :], state


def with_steps(model: nn.Module, config: Any = None) -> nn.Module:
    """The model itself where it has `start` and `step`, else the model inside a `Recomputing`."""
    return model if hasattr(model, "step") else Recomputing(model, config)


def _never(device: torch.device, ids: set[int]) -> Int[Tensor, " ids"]:
    """The ids that no sentence may hold."""
    return torch.tensor([i for i in ids if i >= 0], dtype=torch.long, device=device)


def _must_be_numbers(logits: Float[Tensor, "rows vocab"], step: int) -> None:
    best = logits.amax(dim=-1)
    if not best.isfinite().all():
        raise ValueError(
            f"the best logit of step {step + 1} is {best[~best.isfinite()][0]}, where it should be a "
            "number: the model's weights are not numbers (a training that diverged?), or nothing "
            "that it may say is left"
        )


def _vocab_size(model: nn.Module) -> int | None:
    """Of the target, where the model says it without being asked for logits."""
    return getattr(getattr(model, "config", None), "tgt_vocab_size", None)


def _must_fit(vocab_size: int, of_draft: int) -> None:
    if vocab_size != of_draft:
        raise ValueError(
            f"the draft has a vocabulary of {of_draft} tokens and the model one of {vocab_size}: a "
            "guess must mean the same to both"
        )


def _shares(
    logits: Float[Tensor, "rows vocab"], temperature: float, top_k: int | None, top_p: float | None
) -> Float[Tensor, "rows vocab"]:
    """The probabilities that are drawn from; at temperature 0 the best token has all."""
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.size(-1)).to(logits.dtype)
    logits = logits / temperature
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return logits.softmax(dim=-1)


def _drawn(
    shares: Float[Tensor, "rows vocab"], generator: torch.Generator | None
) -> Int[Tensor, " rows"]:
    """A token for each row."""
    return torch.multinomial(shares, 1, generator=generator).squeeze(1)


def _judged(
    p: Float[Tensor, "rows vocab"],
    q: Float[Tensor, "rows vocab"],
    guess: Int[Tensor, " rows"],
    generator: torch.Generator | None,
) -> tuple[Int[Tensor, " rows"], int]:
    """The guess of each row, or another token in its place; and in how many rows it is another."""
    chance, redraw = accept_or_redraw(p, q, guess)
    refused = torch.bernoulli(chance, generator=generator).logical_not().nonzero().squeeze(1)
    if not len(refused):
        return guess, 0
    return guess.index_copy(0, refused, _drawn(redraw[refused], generator)), len(refused)


def _read(
    model: nn.Module, ids: Int[Tensor, "rows new"], state: Any
) -> tuple[Float[Tensor, "rows new vocab"], Callable[[int], Any]]:
    """The logits behind each of the ids, in one pass, and the state that has read n of them."""
    if hasattr(model, "steps"):
        logits, end = model.steps(ids, state)
        return logits, lambda n: end.back(ids.size(1) - n)
    found, states = [], [state]
    for column in ids.unbind(dim=1):
        logits, state = model.step(column, states[-1])
        found.append(logits)
        states.append(state)
    return torch.stack(found, dim=1), states.__getitem__


def _masks(src_mask: Mask | None, tgt_mask: Mask | None) -> tuple[Mask | None, ...]:
    """What `start` takes behind the source: the target's mask only where there is one."""
    return (src_mask,) if tgt_mask is None else (src_mask, tgt_mask)


def _write(
    model: nn.Module,
    src: Int[Tensor, "batch source"],
    masks: tuple[Mask | None, ...],
    choose: Callable[[Float[Tensor, "rows vocab"]], Int[Tensor, " rows"]],
    bos_id: int,
    eos_id: int,
    max_len: int,
    pad_id: int,
) -> Int[Tensor, "batch target"]:
    """One sentence a row, token by token, each chosen from the logits of its step."""
    model = _reader(model)
    state, never = model.start(src, *masks), _never(src.device, {pad_id, bos_id} - {eos_id})
    out = torch.full((src.size(0), max_len), pad_id, device=src.device)
    rows = torch.arange(src.size(0), device=src.device)  # the sentences still being written
    ids = torch.full_like(rows, bos_id)
    for t in range(max_len):
        logits, state = model.step(ids, state)
        _must_be_numbers(logits, t)
        ids = choose(logits.index_fill(-1, never, float("-inf")))
        out[rows, t] = ids
        going = (ids != eos_id).nonzero().squeeze(1)
        if len(going) < len(rows):
            rows, ids, state = rows[going], ids[going], state.select(going)
        if not len(rows):
            return out[:, : t + 1]
    return out


def _reader(model: nn.Module) -> nn.Module:
    """A view of the model in eval(), whose large and wide matrices are laid out for steps.

    A step has few rows. A wide layer that fits no cache, that of the vocabulary above all, takes a
    single row several times faster where its weights lie in memory input by input, not output by
    output. A tied embedding keeps the model's own: it looks up outputs.
    """
    view = eval_view(model)
    for layer in view.modules():
        if type(layer) is nn.Linear and layer.out_features > layer.in_features:
            weight = layer._parameters.get(
                "weight"
            )  # None where a hook or a parametrization makes it
            if weight is not None and weight.numel() >= LARGE:
                layer._parameters["weight"] = weight.t().contiguous().t()
    return view
