import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.pooling import (
    KernelRegression,
    average_pooling,
    boxcar,
    epanechnikov,
    gaussian,
    kernel_weights,
    leave_one_out,
    nadaraya_watson,
    triangular,
)

KERNELS = pytest.mark.parametrize("kernel", [gaussian, boxcar, triangular, epanechnikov])


@KERNELS
def test_a_kernel_is_a_density_symmetric_and_highest_at_0(kernel):
    u = torch.linspace(-8, 8, 160_001, dtype=torch.float64)
    assert_close(torch.trapezoid(kernel(u), u).item(), 1.0, atol=1e-4, rtol=0)
    assert_close(kernel(u), kernel(-u))
    assert_close(kernel(u).max(), kernel(torch.zeros((), dtype=torch.float64)))
    assert (kernel(u) >= 0).all()


def test_three_kernels_end_at_distance_1_and_the_gaussian_does_not():
    far = torch.tensor([1.01, 3.0])
    for kernel in (boxcar, triangular, epanechnikov):
        assert kernel(far).tolist() == [0, 0]
        assert kernel(far / 4).min() > 0
    assert gaussian(far).min() > 0


def test_two_keys_at_distances_0_and_1_by_hand():
    weights = kernel_weights(torch.tensor([2.0]), torch.tensor([2.0, 3.0]), width=0.5)
    e = math.exp(-2)  # u = 2
    assert_close(weights, torch.tensor([[1 / (1 + e), e / (1 + e)]]))
    pooled = nadaraya_watson(
        torch.tensor([0.0]), torch.tensor([0.5, -0.25]), torch.tensor([4.0, 8.0]), triangular
    )
    assert_close(pooled, torch.tensor([(0.5 * 4 + 0.75 * 8) / 1.25]))


@KERNELS
def test_weights_are_shares_and_a_constant_stays(kernel):
    queries, keys = torch.linspace(0, 1, 5), torch.linspace(-0.2, 1.1, 7)
    assert_close(kernel_weights(queries, keys, kernel).sum(dim=1), torch.ones(5))
    assert_close(
        nadaraya_watson(queries, keys, torch.full((7,), 3.0), kernel), torch.full((5,), 3.0)
    )


@KERNELS
def test_moving_queries_and_keys_together_changes_nothing(kernel):
    queries, keys = torch.rand(5).double(), torch.rand(7).double()
    moved = kernel_weights(queries + 40, keys + 40, kernel, width=0.8)
    assert_close(moved, kernel_weights(queries, keys, kernel, width=0.8))


def test_a_neighbour_at_the_very_edge_counts_for_the_boxcar_alone():
    edge = torch.tensor([1.0])
    assert [k(edge).item() for k in (boxcar, triangular, epanechnikov)] == [0.5, 0, 0]


def test_out_of_reach_the_gradient_is_0_and_not_nan():
    keys = torch.tensor([0.0, 1.0], requires_grad=True)
    kernel_weights(torch.tensor([0.5, 50.0]), keys)[:, 0].sum().backward()
    assert keys.grad.isfinite().all()


def test_no_key_in_reach_gives_0_and_not_nan():
    assert kernel_weights(torch.tensor([9.0]), torch.tensor([0.0, 1.0]), boxcar).tolist() == [
        [0, 0]
    ]


def test_the_width_can_be_learned_its_slope_is_that_of_a_small_move():
    queries, keys, values = torch.rand(4).double(), torch.rand(6).double(), torch.randn(6).double()

    def summed(width):
        return nadaraya_watson(queries, keys, values, width=width).square().sum()

    width = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    summed(width).backward()
    assert_close(width.grad, (summed(width + 1e-5) - summed(width - 1e-5)).detach() / 2e-5)


@pytest.mark.parametrize("width", [0.0, -1.0])
def test_a_width_must_be_positive(width):
    with pytest.raises(ValueError, match=f"width={width} is not positive"):
        kernel_weights(torch.rand(2), torch.rand(3), width=width)


def test_a_very_wide_kernel_is_average_pooling():
    queries, keys, values = torch.rand(4), torch.rand(6), torch.randn(6)
    wide = nadaraya_watson(queries, keys, values, width=1e4)
    assert_close(wide, average_pooling(queries, values))
    assert_close(wide, values.mean().repeat(4))


def test_learned_pooling_is_gaussian_pooling_of_width_one_over_w():
    queries, keys, values = torch.rand(4), torch.rand(6), torch.randn(6)
    learned = KernelRegression(w=2.5)(queries, keys.expand(4, 6), values.expand(4, 6))
    assert_close(learned, nadaraya_watson(queries, keys, values, width=1 / 2.5))


def test_learned_pooling_far_from_every_key_takes_the_nearest():
    """Where the kernel itself underflows to 0/0."""
    far, keys, values = torch.tensor([1e3]), torch.tensor([[0.0, 1.0]]), torch.tensor([[5.0, 7.0]])
    assert_close(KernelRegression(w=3.0)(far, keys, values), torch.tensor([7.0]))


def test_the_gradient_of_w_is_that_of_finite_differences():
    torch.manual_seed(0)
    x, y = torch.rand(6).double() * 5, torch.randn(6).double()
    model = KernelRegression().double()

    def loss(w):
        model.w.data.fill_(w)
        return (model(x, leave_one_out(x), leave_one_out(y)) - y).square().sum()

    loss(1.3).backward()
    assert_close(model.w.grad, (loss(1.3 + 1e-5) - loss(1.3 - 1e-5)).detach() / 2e-5)


def test_weights_are_heard_without_changing_the_result():
    model = KernelRegression(w=1.5)
    queries, keys, values = torch.rand(4), torch.rand(4, 6), torch.randn(4, 6)
    quiet = model(queries, keys, values)
    with record_attention(model) as maps:
        heard = model(queries, keys, values)
    assert_close(heard, quiet)
    (weights,) = maps[""]
    assert weights.shape == (4, 6)
    assert_close((weights * values).sum(dim=1), quiet)


def test_row_i_leaves_out_point_i():
    assert leave_one_out(torch.tensor([1.0, 5.0, 7.0])).tolist() == [[5, 7], [1, 7], [1, 5]]


def test_a_point_left_out_does_not_pull_its_own_prediction():
    x, y = torch.rand(6), torch.randn(6, requires_grad=True)
    pooled = KernelRegression()(x, leave_one_out(x), leave_one_out(y))
    for i in range(6):
        (gradient,) = torch.autograd.grad(pooled[i], y, retain_graph=True)
        assert gradient[i] == 0
        assert gradient.ne(0).sum() == 5
