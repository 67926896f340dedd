"""N = 3 · 5 tokens of width 8; 4 experts of 12 hidden numbers, 2 chosen."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.experts import Experts
from transformer_lib.gpt import GPT, Block, SwiGLU
from transformer_lib.lab.costs import operations
from transformer_lib.positions import RotaryHalves

B, T, C, D_FF, E, K = 3, 5, 8, 12, 4, 2


def build(top_k=K, d_ff=D_FF):
    return Experts(C, d_ff, E, top_k).double()


def tokens(*shape):
    return torch.randn(*(shape or (B, T)), C, dtype=torch.float64)


def close(ours, theirs):
    assert_close(ours, theirs, atol=1e-12, rtol=0)


@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_each_token_gets_the_weighted_sum_of_the_experts_it_likes_best(top_k):
    layer, x = build(top_k), tokens()
    out = layer(x)
    for b in range(B):
        for t in range(T):
            token = x[b, t]
            exponentials = [torch.exp(row @ token).item() for row in layer.router.weight]
            best = sorted(range(E), key=lambda e: -exponentials[e])[:top_k]
            shared = sum(exponentials[e] for e in best)
            close(out[b, t], sum(exponentials[e] / shared * layer.experts[e](token) for e in best))


def test_where_all_are_chosen_it_is_the_sum_that_softmax_weighs():
    layer, x = build(top_k=E), tokens()
    weights = (x @ layer.router.weight.T).softmax(dim=-1)
    outputs = torch.stack([expert(x) for expert in layer.experts], dim=-1)  # (B, T, C, E)
    close(layer(x), (outputs @ weights[..., None]).squeeze(-1))


def test_one_expert_alone_is_a_dense_network():
    layer, x = Experts(C, D_FF, 1, 1).double(), tokens()
    close(layer(x), layer.experts[0](x))


def test_the_weights_of_the_chosen_share_one():
    weights, chosen = build().route(tokens(20))
    assert weights.shape == chosen.shape == (20, K)
    assert weights.min() > 0
    close(weights.sum(dim=-1), torch.ones(20, dtype=torch.float64))
    assert chosen[:, 0].ne(chosen[:, 1]).all()


def test_a_token_is_routed_alone():
    layer, x = build(), tokens()
    close(layer(x[1, 3]), layer(x)[1, 3])
    close(layer(x.flatten(0, 1)), layer(x).flatten(0, 1))
    close(layer(x.flip(0)), layer(x).flip(0))


def test_the_bias_moves_the_choice_and_not_the_weights():
    layer, x = build(), tokens(20)
    probabilities = layer.router(x).softmax(dim=-1)
    layer.bias.copy_(torch.tensor([-2.0, 2, 0, 3]))
    weights, chosen = layer.route(x)
    assert chosen.tolist() == [[3, 1]] * 20
    close(weights, probabilities[:, [3, 1]] / probabilities[:, [3, 1]].sum(dim=-1, keepdim=True))
    layer.bias.copy_(torch.tensor([0.5, 0.5, 0.5, 0.5]))
    close(layer.route(x), build_like(layer).route(x))


def build_like(layer):
    """The same weights without a bias."""
    twin = build()
    twin.load_state_dict({**layer.state_dict(), "bias": torch.zeros(E)})
    return twin


def skewed():
    """A router that likes expert 2 best for nearly every token of a positive mean."""
    layer = build().train()
    nn.init.normal_(layer.router.weight, std=0.2)
    with torch.no_grad():
        layer.router.weight[2] += 0.2
    return layer


def busiest(layer):
    """The largest share of the load of random tokens of mean 1."""
    layer(tokens(400) + 1)
    return (layer.load.max() / layer.load.sum()).item()


def test_balancing_evens_the_load_of_a_skewed_router():
    layer = skewed()
    first = busiest(layer)
    for _ in range(60):
        layer.balance(0.01)
        last = busiest(layer)
    assert first > 0.4, "it was not skewed"
    assert last < 0.35, "an even load is a quarter each, and a step moves it by some hundredths"


def test_a_balancing_step_is_as_large_as_its_rate_and_counts_anew():
    layer = build()
    layer.load.copy_(torch.tensor([5.0, 1, 2, 0]))  # the mean is 2
    layer.balance(0.25)
    assert layer.bias.tolist() == [-0.25, 0.25, 0, 0.25]
    assert layer.load.tolist() == [0] * E
    assert not layer.bias.requires_grad


def test_load_is_counted_in_training_alone():
    layer, x = build(), tokens()
    layer.eval()(x)
    assert layer.load.tolist() == [0] * E
    layer.train()(x)
    layer(x)
    _, chosen = layer.route(x.flatten(0, 1))
    assert layer.load.tolist() == [2 * (chosen == e).sum().item() for e in range(E)]
    assert "load" not in layer.state_dict()
    assert "bias" in layer.state_dict()


@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_it_takes_the_operations_of_a_dense_network_of_the_chosen_size_and_of_the_router(top_k):
    """Three matrices, each a multiplication and an addition a weight and token."""
    x = torch.randn(B, T, C)
    taken = operations(lambda: Experts(C, D_FF, E, top_k)(x))
    assert taken == operations(lambda: SwiGLU(C, top_k * D_FF)(x)) + 2 * B * T * C * E
    assert taken == 2 * B * T * C * (3 * top_k * D_FF + E)


def test_an_expert_that_nobody_chose_learns_nothing_and_the_others_do():
    layer, x = build(), tokens()
    layer.bias[1] = -9
    layer(x).square().sum().backward()
    for number, expert in enumerate(layer.experts):
        for parameter in expert.parameters():
            learns = parameter.grad is not None and parameter.grad.ne(0).any()
            assert learns == (number != 1)
    assert layer.router.weight.grad.ne(0).any()


def test_with_a_single_choice_the_router_learns_nothing():
    """Its share is 1 whatever the router thinks."""
    layer = build(top_k=1)
    layer(tokens()).square().sum().backward()
    assert layer.router.weight.grad.abs().max() < 1e-12


@pytest.mark.parametrize(("top_k", "num_experts"), [(0, 4), (5, 4), (-1, 4), (1, 0)])
def test_a_choice_that_is_none_is_refused_with_both_numbers(top_k, num_experts):
    with pytest.raises(ValueError, match=f"top_k={top_k} of num_experts={num_experts}"):
        Experts(C, D_FF, num_experts, top_k)


def test_it_stands_in_a_block_which_writes_with_a_cache():
    blocks = [Block(C, 4, 2, D_FF, RotaryHalves(2, 30)) for _ in range(2)]
    for block in blocks:
        block.feed_forward = Experts(C, D_FF, E, K)
    model, ids = GPT(17, C, blocks).double().eval(), torch.randint(3, 17, (B, T))
    whole, state = model(ids), model.start(ids[:, :0])
    for t in range(T):
        logits, state = model.step(ids[:, t], state)
        close(logits, whole[:, t])
    assert F.cross_entropy(whole.mT, ids).isfinite()


def test_half_precision_is_kept():
    layer = Experts(C, D_FF, E, K).bfloat16()
    assert layer(tokens().bfloat16()).dtype == torch.bfloat16
