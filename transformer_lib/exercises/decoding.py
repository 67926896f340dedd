"""One step of writing: the best token, the best hypotheses, what a step may keep.  Lesson 16."""

import math

import torch
import torch.nn.functional as F

from transformer_lib.exercises.checking.machinery import Exercise


def _steps():
    torch.manual_seed(16)
    logits = torch.randn(5, 7) - 3
    logits[3, 2] = 4.0  # a row that ends now
    wide = torch.randn(6, 4)
    wide[1, 3], wide[2, 3] = 5.0, 5.0
    return [
        (logits, torch.tensor([False, True, False, False, True]), 2, 0),
        (wide, torch.tensor([False, False, True, False, True, False]), 3, 1),
    ]


greedy_step = Exercise(
    task="One step of greedy search for a batch. `logits` (rows, vocab) are the scores of the next token; "
    "`finished` (rows,) says who has already said `eos_id`. Return two tensors (rows,): the next ids, "
    "`pad_id` where a row had finished before, and who has finished now. Leave `finished` as it is.",
    cases=_steps,
    hints=(
        "The largest logit of each row: over which axis? And not its value, but its place.",
        "`logits.argmax(dim=-1)`. Rows that had finished say `pad_id` instead: `masked_fill`.",
        "Who has finished: those who had, or those who say `eos_id` now: `finished | (ids == eos_id)`.",
    ),
    passed="No softmax was needed. Why not?",
)


@greedy_step.solution
def my_greedy_step(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1).masked_fill(finished, pad_id)
    return ids, finished | (ids == eos_id)


@greedy_step.solution
def _(logits, finished, eos_id, pad_id):
    best = logits.log_softmax(dim=-1).max(dim=-1).indices
    ids = torch.where(finished, pad_id, best)
    return ids, torch.logical_or(finished, best == eos_id)


@greedy_step.mistake(
    "Rows that had finished go on talking. What they say must be `pad_id`, whatever their logits."
)
def _(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1)
    return ids, finished | (ids == eos_id)


@greedy_step.mistake(
    "The ids are right. But a row that had finished is open again: finished is who had finished, *or* "
    "who says `eos_id` now."
)
def _(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1).masked_fill(finished, pad_id)
    return ids, ids == eos_id


@greedy_step.mistake(
    "The ids are right. But `finished` is as it was: who says `eos_id` in this step has finished now."
)
def _(logits, finished, eos_id, pad_id):
    return logits.argmax(dim=-1).masked_fill(finished, pad_id), finished


@greedy_step.mistake(
    "Your `argmax` runs over the rows: it names a sentence for every word. Over the last axis it names "
    "a word for every sentence."
)
def _(logits, finished, eos_id, pad_id):
    best = logits.argmax(dim=0)[: len(finished)]
    ids = best.masked_fill(finished[: len(best)], pad_id)
    return ids, finished[: len(best)] | (ids == eos_id)


@greedy_step.mistake("These are the largest logits. The next ids are their *places*: `argmax`.")
def _(logits, finished, eos_id, pad_id):
    best = logits.max(dim=-1)
    return best.values.masked_fill(finished, pad_id), finished | (best.indices == eos_id)


@greedy_step.mistake(
    "Finished rows say `eos_id` again and again. After the first they say `pad_id`."
)
def _(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1).masked_fill(finished, eos_id)
    return ids, finished | (ids == eos_id)


@greedy_step.mistake(
    "You return the ids alone. The next step must know who has finished: return both, ids first."
)
def _(logits, finished, eos_id, pad_id):
    return logits.argmax(dim=-1).masked_fill(finished, pad_id)


@greedy_step.mistake(
    "A row that says `eos_id` now has its `eos_id` painted over. It counts: pad those that had finished "
    "*before*."
)
def _(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1)
    finished = finished | (ids == eos_id)
    return ids.masked_fill(finished, pad_id), finished


@greedy_step.mistake(
    "Both are right, in the wrong order: the next ids first, then who has finished."
)
def _(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1).masked_fill(finished, pad_id)
    return finished | (ids == eos_id), ids


AND = (
    "The ids are right. But `&` asks for both at once: who had finished *and* says `eos_id` now. Either is "
    "enough: `|`."
)


@greedy_step.mistake(AND)
def _(logits, finished, eos_id, pad_id):
    ids = logits.argmax(dim=-1).masked_fill(finished, pad_id)
    return ids, finished & (ids == eos_id)


@greedy_step.mistake(AND)
def _(logits, finished, eos_id, pad_id):
    best = logits.argmax(dim=-1)
    return best.masked_fill(finished, pad_id), finished & (best == eos_id)


def _spreads():
    torch.manual_seed(19)
    return [
        (2 * torch.randn(4, 7), 0.5, 3),
        (torch.randn(3, 6) - 2, 2.0, 4),
        (torch.randn(2, 5), 1.0, 1),
    ]


sampling_step = Exercise(
    task="One step of sampling: the shares from which the next token is drawn. `logits` (rows, vocab) are the "
    "scores of the next token. Divide them by `temperature`, keep the `top_k` largest of each row, and return the "
    "shares (rows, vocab) that softmax makes of these; every other token has 0.",
    cases=_spreads,
    hints=(
        "Which token gets a share of 0 from softmax? One whose logit is −∞.",
        "`logits.topk(top_k, dim=-1)` gives `values` and `indices`. The last of the values is the smallest that "
        "stays: all that is below it goes, `masked_fill(..., float('-inf'))`.",
        "`lowest = logits.topk(top_k, dim=-1).values[:, -1:]`, then `logits.masked_fill(logits < lowest, "
        "float('-inf'))`; divide by the temperature, softmax along the last axis.",
    ),
    passed="Now `torch.multinomial(shares, 1)` draws. With `top_k=1` there is nothing left to chance.",
)


@sampling_step.solution
def my_sampling_step(logits, temperature, top_k):
    lowest = logits.topk(top_k, dim=-1).values[:, -1:]  # (rows, 1), the smallest that stays
    logits = logits.masked_fill(logits < lowest, float("-inf"))
    return (logits / temperature).softmax(dim=-1)


@sampling_step.solution
def _(logits, temperature, top_k):
    kept, ids = (logits / temperature).topk(top_k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, ids, kept.softmax(dim=-1))


def _cut(logits, top_k):
    return logits.masked_fill(logits < logits.topk(top_k, dim=-1).values[:, -1:], float("-inf"))


@sampling_step.mistake(
    "No token is cut: all but the `top_k` largest of each row must have a share of 0."
)
def _(logits, temperature, top_k):
    return (logits / temperature).softmax(dim=-1)


@sampling_step.mistake("The temperature is not used: divide the logits by it before the softmax.")
def _(logits, temperature, top_k):
    return _cut(logits, top_k).softmax(dim=-1)


@sampling_step.mistake(
    "You multiply by the temperature. Then cold is hot: a small temperature should sharpen, so divide."
)
def _(logits, temperature, top_k):
    return (_cut(logits, top_k) * temperature).softmax(dim=-1)


@sampling_step.mistake(
    "The temperature divides the shares. They no longer add up to 1, and their order of size is as before: divide "
    "the logits, before the softmax."
)
def _(logits, temperature, top_k):
    return _cut(logits, top_k).softmax(dim=-1) / temperature


CUT_LATE = (
    "What is left of the shares adds up to less than 1: you cut after the softmax. Cut the logits (−∞), or divide "
    "each row by its sum."
)


@sampling_step.mistake(CUT_LATE)
def _(logits, temperature, top_k):
    shares = (logits / temperature).softmax(dim=-1)
    return shares * (_cut(logits, top_k) > float("-inf"))


@sampling_step.mistake(
    "You set the other logits to 0. Softmax gives 0 a share as good as any: e⁰ = 1. Set them to −∞."
)
def _(logits, temperature, top_k):
    cut = _cut(logits, top_k)
    return (cut.masked_fill(cut == float("-inf"), 0.0) / temperature).softmax(dim=-1)


@sampling_step.mistake(
    "Your softmax runs over the rows: a share of each sentence for every word. Over the last axis, the words."
)
def _(logits, temperature, top_k):
    return (_cut(logits, top_k) / temperature).softmax(dim=0).nan_to_num()


@sampling_step.mistake("You keep the smallest logits. The `top_k` *largest* stay.")
def _(logits, temperature, top_k):
    highest = logits.topk(top_k, dim=-1, largest=False).values[:, -1:]
    return (logits.masked_fill(logits > highest, float("-inf")) / temperature).softmax(dim=-1)


@sampling_step.mistake(
    "You keep the `top_k` largest of the whole table. Each row keeps `top_k` of its own: `topk(..., dim=-1)`."
)
def _(logits, temperature, top_k):
    lowest = logits.flatten().topk(top_k).values[-1]
    cut = logits.masked_fill(logits < lowest, float("-inf"))
    return (cut / temperature).softmax(dim=-1)


@sampling_step.mistake(
    "The token on the border falls out: `<=` cuts the smallest that should stay. One is left too few: `<`."
)
def _(logits, temperature, top_k):
    lowest = logits.topk(top_k, dim=-1).values[:, -1:]
    return (logits.masked_fill(logits <= lowest, float("-inf")) / temperature).softmax(dim=-1)


@sampling_step.mistake(
    "These are the shares of the `top_k` alone, the largest first. Each belongs in the column of its token, "
    "(rows, vocab), with 0 elsewhere."
)
def _(logits, temperature, top_k):
    return (logits / temperature).topk(top_k, dim=-1).values.softmax(dim=-1)


@sampling_step.mistake(
    "These are logarithms of shares. `multinomial` draws from the shares: softmax, no log."
)
def _(logits, temperature, top_k):
    return (_cut(logits, top_k) / temperature).log_softmax(dim=-1)


@sampling_step.mistake(
    "These are logits, cut and divided. The shares are their softmax along the last axis."
)
def _(logits, temperature, top_k):
    return _cut(logits, top_k) / temperature


@sampling_step.mistake(
    "You return the most probable token. Nothing has been drawn yet: return the shares of all tokens."
)
def _(logits, temperature, top_k):
    return logits.argmax(dim=-1)


def _beams():
    torch.manual_seed(17)
    return [
        (torch.tensor([-1.0, -1.2, -1.5]), torch.randn(3, 7).log_softmax(dim=-1)),
        (torch.tensor([-2.0, -2.1, -2.6, -3.0]), (1.5 * torch.randn(4, 6)).log_softmax(dim=-1)),
        (torch.tensor([0.0, -math.inf, -math.inf]), torch.randn(3, 5).log_softmax(dim=-1)),
    ]


beam_step = Exercise(
    task="One step of beam search for one sentence. `scores` (K,) are the log-probabilities of K "
    "hypotheses, `log_probs` (K, vocab) those of the next token after each. Return the K best "
    "continuations, the best first, as three tensors (K,): which hypothesis each one continues, with "
    "which token, and its new score.",
    cases=_beams,
    hints=(
        "Every hypothesis with every token: a table (K, vocab) of scores. Log-probabilities of one "
        "thing after another are added.",
        "The K best of the *whole* table, not of each row: make it one row, `flatten()`, then `topk`.",
        "A place in the flat table is row · vocab + column. So the row is `place // vocab` and the column "
        "`place % vocab`.",
    ),
    passed="In the last case all but one hypothesis had the score −∞. That is how a search begins.",
)


@beam_step.solution
def my_beam_step(scores, log_probs):
    beams, vocab = log_probs.shape
    total = scores[:, None] + log_probs  # every hypothesis with every token
    best, place = total.flatten().topk(beams)
    return place // vocab, place % vocab, best


@beam_step.solution
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    every = [
        (scores[parent] + log_probs[parent, token], parent, token)
        for parent in range(beams)
        for token in range(vocab)
    ]
    best = sorted(every, key=lambda found: found[0], reverse=True)[:beams]
    new_scores, parents, tokens = zip(*best, strict=True)
    return torch.tensor(parents), torch.tensor(tokens), torch.stack(new_scores)


@beam_step.mistake(
    "You take the best token after each hypothesis. Then all K go on for ever, the weak ones too. The K "
    "best of the whole table: a good hypothesis may have two children, a weak one none."
)
def _(scores, log_probs):
    best, tokens = (scores[:, None] + log_probs).max(dim=-1)
    return torch.arange(len(scores)), tokens, best


@beam_step.mistake(
    "You take the best token after each hypothesis, and sort. The K best of the whole table: a good "
    "hypothesis may have two children, a weak one none."
)
def _(scores, log_probs):
    best, tokens = (scores[:, None] + log_probs).max(dim=-1)
    best, parents = best.sort(descending=True)
    return parents, tokens[parents], best


@beam_step.mistake(
    "You take the best token after each hypothesis, and add its score. The K best of the whole table: a "
    "good hypothesis may have two children, a weak one none."
)
def _(scores, log_probs):
    best, tokens = log_probs.max(dim=-1)
    return torch.arange(len(scores)), tokens, scores + best


@beam_step.mistake(
    "The past is forgotten: `log_probs` is of the next token alone. Add the score of the hypothesis that "
    "it continues, before you choose."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = log_probs.flatten().topk(beams)
    return place // vocab, place % vocab, best


@beam_step.mistake(
    "You add the scores after the choice. The choice itself must be made by the sum: a strong hypothesis "
    "may go on with a weak token."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = log_probs.flatten().topk(beams)
    return place // vocab, place % vocab, scores[place // vocab] + best


@beam_step.mistake("Probabilities are multiplied. Their logarithms are added.")
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] * log_probs).flatten().topk(beams)
    return place // vocab, place % vocab, best


@beam_step.mistake(
    "Hypotheses and tokens are exchanged: place = hypothesis · vocab + token, so `//` gives the "
    "hypothesis and `%` the token."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams)
    return place % vocab, place // vocab, best


@beam_step.mistake(
    "You divide by K, the number of hypotheses. A row of the table is as long as the vocabulary."
)
def _(scores, log_probs):
    beams, _ = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams)
    return place // beams, place % beams, best


@beam_step.mistake(
    "These tokens are places in the flat table. Take them apart: the token is `place % vocab`."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams)
    return place // vocab, place, best


@beam_step.mistake("These are the K worst. The larger the log-probability, the better.")
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams, largest=False)
    return place // vocab, place % vocab, best


@beam_step.mistake(
    "The choice is right. But the scores are probabilities now: leave them logarithms."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams)
    return place // vocab, place % vocab, best.exp()


@beam_step.mistake(
    "All three are right, in the order in which `topk` gives them. Asked for: which hypothesis, which "
    "token, and then the score."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams)
    return best, place // vocab, place % vocab


@beam_step.mistake(
    "With `/` you get broken numbers of hypotheses. The row is the whole part: `place // vocab`."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores[:, None] + log_probs).flatten().topk(beams)
    return place / vocab, place % vocab, best


@beam_step.mistake(
    "`scores + log_probs` lines up the K scores with the tokens, and their numbers differ. Each score "
    "belongs to a row: make it a column first, `scores[:, None]`."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores + log_probs).flatten().topk(beams)
    return place // vocab, place % vocab, best


@beam_step.mistake(
    "You add probabilities: one thing *and then* another is a product. Their logarithms are added, so "
    "leave out the `exp`."
)
def _(scores, log_probs):
    beams, vocab = log_probs.shape
    best, place = (scores.exp()[:, None] + log_probs.exp()).flatten().topk(beams)
    return place // vocab, place % vocab, best


def _cached():
    torch.manual_seed(18)
    new = [torch.randn(2, 3, 1, 4) for _ in range(3)]
    past = [torch.randn(2, 3, 5, 4) for _ in range(2)]
    first = [torch.randn(3, 2, 1, 5) for _ in range(3)]
    return [(*new, *past), (*first, *(torch.zeros(3, 2, 0, 5) for _ in range(2)))]


cache_step = Exercise(
    task="One step of self-attention with a cache. `q`, `k`, `v` (batch, heads, 1, d_head) are the "
    "projections of the newest token, `past_k` and `past_v` (batch, heads, time, d_head) those of the "
    "tokens before; at the first step time is 0. Return three tensors: what the newest token gathers "
    "from all tokens, itself among them, (batch, heads, 1, d_head), and the keys and values for the next "
    "step. Leave the past as it is.",
    cases=_cached,
    hints=(
        "First the cache grows by one: the newest key behind the earlier ones, along the axis of time.",
        "`torch.cat([past_k, k], dim=2)`, and the same for the values. Then one query meets all keys.",
        "`(q @ keys.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ values`. No mask: whom would it hide?",
    ),
    passed="One query, and no mask: what is in the cache is the past, and there is no future.",
)


@cache_step.solution
def my_cache_step(q, k, v, past_k, past_v):
    keys = torch.cat([past_k, k], dim=2)  # (batch, heads, time + 1, d_head)
    values = torch.cat([past_v, v], dim=2)
    scores = q @ keys.mT / math.sqrt(q.size(-1))  # (batch, heads, 1, time + 1)
    return scores.softmax(dim=-1) @ values, keys, values


@cache_step.solution
def _(q, k, v, past_k, past_v):
    keys, values = torch.cat((past_k, k), dim=-2), torch.cat((past_v, v), dim=-2)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


def _grown(k, v, past_k, past_v):
    return torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)


@cache_step.mistake(
    "The newest token does not see itself: append its key and value first, then attend."
)
def _(q, k, v, past_k, past_v):
    return F.scaled_dot_product_attention(q, past_k, past_v), *_grown(k, v, past_k, past_v)


@cache_step.mistake(
    "The result is right, but you return the past as it was: the next step would not know this token. "
    "Return the grown keys and values."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return F.scaled_dot_product_attention(q, keys, values), past_k, past_v


@cache_step.mistake(
    "With `is_causal=True` torch lines up the *first* query with the first key: your newest token sees "
    "nothing but the first one. So does a mask of `tril` with one row. One query with its past needs no "
    "mask."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return F.scaled_dot_product_attention(q, keys, values, is_causal=True), keys, values


@cache_step.mistake(
    "The newest stands in front. The result does not notice, attention sees no order; but the cache is "
    "a sequence: append behind."
)
def _(q, k, v, past_k, past_v):
    keys, values = torch.cat([k, past_k], dim=2), torch.cat([v, past_v], dim=2)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


@cache_step.mistake("The scores are not divided by √d_head.")
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return (q @ keys.mT).softmax(dim=-1) @ values, keys, values


@cache_step.mistake(
    "Your softmax runs over the queries. There is one, so each key gets a weight of 1. Over the keys: the "
    "last axis."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return (q @ keys.mT / math.sqrt(q.size(-1))).softmax(dim=-2) @ values, keys, values


@cache_step.mistake(
    "You divide by the root of the number of keys. It is the root of the width of a key, d_head."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return (q @ keys.mT / math.sqrt(keys.size(2))).softmax(dim=-1) @ values, keys, values


@cache_step.mistake(
    "The newest token sees itself alone. It asks all keys, those of the past and its own."
)
def _(q, k, v, past_k, past_v):
    return v, *_grown(k, v, past_k, past_v)


@cache_step.mistake(
    "You return the context alone. The next step needs the grown keys and values, too."
)
def _(q, k, v, past_k, past_v):
    return F.scaled_dot_product_attention(q, *_grown(k, v, past_k, past_v))


@cache_step.mistake(
    "The result is right, but you return the newest key and value alone: the next step would know no "
    "other word. Return the grown keys and values."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return F.scaled_dot_product_attention(q, keys, values), k, v


@cache_step.mistake(
    "All three are right, in the wrong order: after the context come the keys, then the values."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return F.scaled_dot_product_attention(q, keys, values), values, keys


@cache_step.mistake(
    "You append the newest *value* to the earlier *keys*. There are two caches: `past_k` grows by `k`, "
    "`past_v` by `v`."
)
def _(q, k, v, past_k, past_v):
    keys, values = torch.cat([past_k, k], dim=2), torch.cat([past_k, v], dim=2)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


@cache_step.mistake(
    "Keys and values are exchanged: the query is compared with the keys, and what it gathers is values."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return F.scaled_dot_product_attention(q, values, keys), keys, values


@cache_step.mistake(
    "`q @ keys` does not fit: both end in d_head. To get a score for each key, turn the keys: "
    "`q @ keys.mT`."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return (q @ keys / math.sqrt(q.size(-1))).softmax(dim=-1) @ values, keys, values


@cache_step.mistake(
    "All is right but the wrapping: return three tensors side by side, `context, keys, values`, no pair "
    "within a pair."
)
def _(q, k, v, past_k, past_v):
    keys, values = _grown(k, v, past_k, past_v)
    return F.scaled_dot_product_attention(q, keys, values), (keys, values)
