"""Pooling with weights that depend on distance: attention before it had that name. Lesson 02.

Nadaraya 1964, Watson 1964.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lib.base.listening import Listened

Kernel = Callable[[Tensor], Tensor]


def gaussian(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """exp(−u²/2)/√2π: near keys count most, far ones a little. Its pooling is a softmax."""
    return torch.exp(-u.square() / 2) / math.sqrt(2 * math.pi)


def boxcar(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """½ up to distance 1, 0 beyond: the average of the neighbours."""
    return 0.5 * (u.abs() <= 1).to(u.dtype)


def triangular(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 − |u| up to distance 1, 0 beyond."""
    return (1 - u.abs()).clamp(min=0)


def epanechnikov(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """¾(1 − u²) up to distance 1, 0 beyond."""
    return 0.75 * (1 - u.square()).clamp(min=0)


def average_pooling(
    queries: Float[Tensor, " query"], values: Float[Tensor, " key"]
) -> Float[Tensor, " query"]:
    """The mean of the values, whatever the query: the pooling that looks at nothing."""
    return values.mean().expand(len(queries))


def kernel_weights(
    queries: Float[Tensor, " query"],
    keys: Float[Tensor, " key"],
    kernel: Kernel = gaussian,
    *,
    width: float | Float[Tensor, ""] = 1.0,
) -> Float[Tensor, "query key"]:
    """K((x − xᵢ)/h) over its sum: every row a distribution over the keys.

    A row is all 0 where no key lies within the kernel's reach. With the Gaussian kernel the far
    tail is 0 over 0 in floating point: `KernelRegression` takes the softmax of −(x − xᵢ)²/2h²
    instead, which is the same and never underflows. The width may be a tensor, and be learned.
    """
    if not width > 0:
        raise ValueError(f"width={width} is not positive: a kernel needs some reach")
    raw = kernel((queries[:, None] - keys) / width)
    total = raw.sum(dim=1, keepdim=True)
    return raw / total.where(total > 0, 1.0)


def nadaraya_watson(
    queries: Float[Tensor, " query"],
    keys: Float[Tensor, " key"],
    values: Float[Tensor, " key"],
    kernel: Kernel = gaussian,
    *,
    width: float | Float[Tensor, ""] = 1.0,
) -> Float[Tensor, " query"]:
    """f(x) = Σᵢ K((x − xᵢ)/h) yᵢ / Σⱼ K((x − xⱼ)/h): the values averaged, near keys first."""
    return kernel_weights(queries, keys, kernel, width=width) @ values


class KernelRegression(Listened):
    """Nadaraya-Watson pooling with a Gaussian kernel whose sharpness w is learned.

    The weights are softmax(−((x − xᵢ) w)²/2), so w is one over the width. Each query brings its own
    keys, so that a training point can be left out of its own average (`leave_one_out`); otherwise
    the best w is infinite. `record_attention` hears its weights.
    """

    def __init__(self, w: float = 1.0):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(w))

    def forward(
        self,
        queries: Float[Tensor, " query"],
        keys: Float[Tensor, "query key"],
        values: Float[Tensor, "query key"],
    ) -> Float[Tensor, " query"]:
        weights = (-((queries[:, None] - keys) * self.w).square() / 2).softmax(dim=1)
        self.tell(weights)
        return torch.einsum("qk,qk->q", weights, values)


def leave_one_out(points: Float[Tensor, " n"]) -> Float[Tensor, "n n-1"]:
    """Row i holds all points but the i-th, in their order."""
    n = len(points)
    return points.expand(n, n)[~torch.eye(n, dtype=torch.bool, device=points.device)].view(n, n - 1)
