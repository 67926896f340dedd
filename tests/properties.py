"""What must hold of a Transformer, whatever is inside it. `test_faults.py` plants faults and looks here.

Each property is a function that raises AssertionError where it does not hold. It builds what it needs
through the library's public names, so that a fault planted in the library is in what it builds.
"""

import math

import torch
import twins
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib import (
    attention,
    batching,
    decoding,
    layers,
    losses,
    masks,
    training,
    transformer,
)

S, V, B, TS, TT = 17, 19, 3, 7, 5
SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_len": 30}
PROPERTIES = []


def holds(function):
    PROPERTIES.append(function)
    return function


def model(**options):
    torch.manual_seed(0)
    config = transformer.TransformerConfig(S, V, **{**SIZES, "dropout": 0.0, **options})
    return transformer.Transformer(config).double().eval()


def sentences():
    generator = torch.Generator().manual_seed(1)
    src, tgt = (torch.randint(3, n, (B, t), generator=generator) for n, t in ((S, TS), (V, TT)))
    for row, (s, t) in enumerate(((7, 5), (4, 2), (3, 4))):
        src[row, s:], tgt[row, t:] = 0, 0
    return src, tgt, masks.padding_mask(src, 0), masks.padding_mask(tgt, 0)


def same(a, b):
    assert_close(a, b, atol=1e-9, rtol=0)


def different(a, b):
    assert (a - b).abs().amax() > 1e-3, "nothing changed"


@holds
def a_query_divides_one_glance_among_the_keys_it_may_see():
    """Rows of weights add up to one over the allowed keys, and are nothing elsewhere."""
    net, (src, tgt, src_mask, tgt_mask) = model(), sentences()
    with attention.record_attention(net) as maps:
        net(src, tgt, src_mask, tgt_mask)
    for name, (weights,) in maps.items():
        allowed = (
            src_mask if "cross" in name or "encoder" in name else tgt_mask & masks.causal_mask(TT)
        )
        assert (weights * ~allowed).abs().sum() == 0
        same(weights.sum(-1), torch.ones_like(weights.sum(-1)))


@holds
def listening_changes_nothing():
    """The weights that are recorded are those that were used."""
    net, (src, tgt, src_mask, tgt_mask) = model(), sentences()
    silent = net(src, tgt, src_mask, tgt_mask)
    with attention.record_attention(net):
        same(net(src, tgt, src_mask, tgt_mask), silent)


@holds
def scores_of_random_vectors_have_variance_one_at_any_width():
    """Otherwise softmax saturates as models grow wider (lesson 04): the largest weight must not depend on d."""
    torch.manual_seed(0)
    largest = [
        attention.attention_weights(torch.randn(400, d), torch.randn(16, d))
        .amax(-1)
        .median()
        .item()
        for d in (16, 1024)
    ]
    assert abs(largest[0] - largest[1]) < 0.05, largest


@holds
def no_word_knows_what_comes_after_it():
    """Later target words change no earlier prediction, neither in train() nor in eval()."""
    net, (src, tgt, src_mask, _) = model(), sentences()
    later = tgt.clone()
    later[:, 3:] = (later[:, 3:] + 1) % V
    for training_mode in (True, False):
        net.train(training_mode)
        same(net(src, tgt, src_mask)[:, :3], net(src, later, src_mask)[:, :3])


@holds
def padding_is_invisible():
    """A sentence fares the same alone and in a batch, whatever fills the rest of its row."""
    net, (src, tgt, src_mask, tgt_mask) = model(), sentences()
    garbage = torch.where(src_mask[:, 0, 0], src, 9)
    together = net(garbage, tgt, src_mask, tgt_mask)
    for row in range(B):
        s, t = src_mask[row].sum(), tgt_mask[row].sum()
        same(net(src[row : row + 1, :s], tgt[row : row + 1, :t])[0], together[row, :t])


@holds
def every_source_word_can_matter():
    """Each real source word changes the prediction, and so does each earlier target word."""
    net, (src, tgt, _, _) = model(), sentences()
    before = net(src[:1], tgt[:1])
    for t in range(TS):
        changed = src[:1].clone()
        changed[0, t] = (changed[0, t] + 1) % S
        different(net(changed, tgt[:1])[0, -1], before[0, -1])
    for t in range(TT):
        changed = tgt[:1].clone()
        changed[0, t] = (changed[0, t] + 1) % V
        different(net(src[:1], changed)[0, -1], before[0, -1])


@holds
def word_order_matters_and_only_through_positions():
    """The same words in another order are another sentence."""
    net, (src, tgt, _, _) = model(), sentences()
    different(net(src[:1].flip(1), tgt[:1]), net(src[:1], tgt[:1]))


@holds
def writing_word_by_word_equals_reading_all_at_once():
    """Cached steps give the logits of the full pass, at every step, also for rows that were reordered."""
    net, (src, tgt, src_mask, _) = model(), sentences()
    whole, rows = net(src, tgt, src_mask), torch.tensor([2, 0, 1])
    state = net.start(src, src_mask)
    for t in range(TT):
        logits, state = net.step(tgt[:, t], state)
        same(logits, whole[:, t])
        if t == 2:
            src, tgt, whole, state = src[rows], tgt[rows], whole[rows], state.select(rows)


@holds
def it_is_the_transformer_of_torch():
    """Equal to nn.Transformer under copied weights, post-norm and pre-norm."""
    src, tgt, src_mask, _ = sentences()
    for norm_first in (False, True):
        net = model(norm_first=norm_first)
        twin = twins.transformer(net).eval()
        scale = math.sqrt(SIZES["d_model"])
        time, pair = torch.arange(TS)[:, None], torch.arange(0, 12, 2)
        angle = time / 10000 ** (pair / 12)
        code = torch.stack((angle.sin(), angle.cos()), -1).flatten(1).double()
        x = F.embedding(src, net.encoder.embedding.weight) * scale + code
        y = F.embedding(tgt, net.decoder.embedding.weight) * scale + code[:TT]
        hidden = twin(
            x,
            y,
            tgt_mask=torch.ones(TT, TT).triu(1).bool(),
            src_key_padding_mask=~src_mask[:, 0, 0],
            memory_key_padding_mask=~src_mask[:, 0, 0],
        )
        assert_close(net(src, tgt, src_mask), net.generator(hidden), atol=1e-6, rtol=0)


@holds
def evaluation_throws_no_dice():
    """In eval() the same sentence gets the same answer, and dropout in training does not."""
    net, (src, tgt, src_mask, _) = model(dropout=0.5), sentences()
    same(net(src, tgt, src_mask), net(src, tgt, src_mask))
    net.train()
    different(net(src, tgt, src_mask), net(src, tgt, src_mask))


@holds
def a_token_is_normalised_by_itself():
    """Add & Norm of one position does not depend on the others."""
    add_norm = layers.AddNorm(12).double()
    x = torch.randn(B, TT, 12, dtype=torch.float64)
    same(add_norm(x, torch.zeros_like)[:, 2:3], add_norm(x[:, 2:3], torch.zeros_like))


@holds
def what_a_layer_reads_can_pass_it_unchanged():
    """A sublayer that says nothing leaves a pre-norm residual stream as it was."""
    x = torch.randn(B, TT, 12)
    assert torch.equal(layers.AddNorm(12, norm_first=True)(x, torch.zeros_like), x)


@holds
def the_loss_is_a_mean_over_real_words():
    """A batch costs what its sentences cost alone, weighted by their length; padding costs nothing."""
    net = model()
    pairs = [batching.Example([8, 9, 2], [5, 6, 7, 8, 2]), batching.Example([8, 2], [4, 2])]

    def cost(pairs, smoothing):
        batch = batching.make_batch(pairs)
        return losses.loss_on_batch(
            net,
            batch.src,
            batch.tgt_in,
            batch.tgt_out,
            src_mask=batch.src_mask,
            label_smoothing=smoothing,
        )

    for smoothing in (0.0, 0.1):
        alone = sum(cost([pair], smoothing) * len(pair.tgt) for pair in pairs) / 7
        same(cost(pairs, smoothing), alone)


@holds
def nothing_is_gained_by_believing_in_padding():
    """The loss falls as the logit of <pad> falls: no target, smoothed or not, ever is <pad>."""
    logits = torch.randn(6, V)
    less = logits.clone()
    less[:, 0] -= 30
    targets = torch.randint(3, V, (6,))
    for smoothing in (0.0, 0.2):
        cost = [losses.label_smoothed_cross_entropy(x, targets, smoothing) for x in (logits, less)]
        assert cost[1] < cost[0]


@holds
def the_loss_is_least_where_the_prediction_is_the_target_distribution():
    """At (1 − ε)·(the word) + ε·(the other words' share, none for <pad>) the gradient vanishes."""
    targets = torch.randint(3, V, (6,))
    truth = torch.full((6, V), 0.2 / (V - 1))
    truth[:, 0] = 1e-9
    truth[range(6), targets] += 0.8
    logits = truth.log().requires_grad_()
    losses.label_smoothed_cross_entropy(logits, targets, 0.2).backward()
    assert logits.grad.abs().max() < 1e-6


@holds
def chance_cannot_be_predicted():
    """Trained on random words, the loss on new ones stays at the entropy: the answer is not in the question."""
    torch.manual_seed(0)
    net = transformer.make_model(
        S, V, d_model=24, num_heads=2, d_ff=32, num_layers=1, dropout=0.0, max_len=30
    )

    def random_batch():
        return batching.make_batch(
            [batching.Example([3], torch.randint(3, V, (6,)).tolist()) for _ in range(64)]
        )

    training.fit(
        net, [random_batch() for _ in range(60)], steps=60, learning_rate=1e-2, label_smoothing=0.0
    )
    assert (
        training.validation_loss(net, [random_batch() for _ in range(5)]) > math.log(V - 3) - 0.05
    )


@holds
def many_small_batches_equal_one_large_batch():
    """Accumulated gradients are those of all the words together."""
    torch.manual_seed(2)
    words = lambda n: torch.randint(3, S, (n,)).tolist()
    pairs = [batching.Example(words(n), words(n)) for n in (2, 9, 3, 8, 4)]
    one, two = model(), model()
    training.fit(one, [batching.make_batch(pairs)], steps=2)
    training.fit(
        two, [batching.make_batch(pairs[:1]), batching.make_batch(pairs[1:])], steps=2, accumulate=2
    )
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        same(a, b)


@holds
def a_search_returns_what_the_model_scores():
    """The score of beam search is the log-probability of the sentence it returns; one beam is greedy."""
    net, (src, _, src_mask, _) = model(), sentences()
    torch.nn.init.normal_(net.decoder.embedding.weight, std=2.0)
    out, score = decoding.beam_search(net, src, src_mask, max_len=6, beam_size=3)
    for row, tokens in enumerate(out.tolist()):
        tokens = tokens[: tokens.index(2) + 1] if 2 in tokens else tokens
        logits = net(src[row : row + 1], torch.tensor([[1, *tokens[:-1]]]), src_mask[row : row + 1])
        truth = logits[0].log_softmax(-1)[range(len(tokens)), tokens].sum()
        assert_close(score[row], truth.float(), check_dtype=False, atol=1e-4, rtol=0)
    single, _ = decoding.beam_search(net, src, src_mask, max_len=6, beam_size=1)
    assert single.tolist() == decoding.greedy(net, src, src_mask, max_len=6).tolist()
