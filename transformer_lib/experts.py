"""Many networks of which each token uses a few: more parameters, as many operations. Lesson 18.

Shazeer et al. 2017; every token its best two of eight: Mixtral (Jiang et al. 2024).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.gpt import SwiGLU


class Experts(nn.Module):
    """A mixture of experts: the `top_k` networks that a router chooses for each token, weighted.

    The router gives each expert a probability; the chosen ones share 1 in proportion, so with a
    `top_k` of 1 it gets no gradient. Experts that are chosen too rarely learn too little, so
    `balance` moves a bias that takes part in the choice and not in the weights (Wang et al. 2024;
    DeepSeek-V3).
    """

    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int):
        super().__init__()
        if not 1 <= top_k <= num_experts:
            raise ValueError(f"top_k={top_k} of num_experts={num_experts}: choose 1 to all of them")
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))
        self.top_k = top_k
        self.register_buffer("bias", torch.zeros(num_experts))
        self.register_buffer("load", torch.zeros(num_experts), persistent=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        tokens = x.reshape(-1, x.size(-1))  # (N, C)
        weights, chosen = self.route(tokens)  # (N, k)
        if self.training:
            self.load += chosen.flatten().bincount(minlength=len(self.experts))
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            row, rank = (chosen == number).nonzero(as_tuple=True)  # the tokens that chose it
            out.index_add_(0, row, weights[row, rank, None] * expert(tokens[row]))
        return out.view_as(x)

    def route(
        self, x: Float[Tensor, "tokens d_model"]
    ) -> tuple[Float[Tensor, "tokens {self.top_k}"], Int[Tensor, "tokens {self.top_k}"]]:
        """The weights of the chosen experts, and which they are."""
        probabilities = self.router(x).softmax(dim=-1)  # (N, E)
        chosen = (probabilities + self.bias).topk(self.top_k, dim=-1).indices
        weights = probabilities.gather(-1, chosen)
        return weights / weights.sum(dim=-1, keepdim=True), chosen

    @torch.no_grad()
    def balance(self, rate: float = 0.001) -> None:
        """Make the experts that were chosen too often since the last call a little less likely.

        To be called after each update.
        """
        self.bias += rate * (self.load.mean() - self.load).sign()
        self.load.zero_()
