"""A network whose hidden entries are multiplied by a gate. Lesson 18."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import gpt
from transformer_lib.exercises.checking.classes import Build, Case


def _cases():
    torch.manual_seed(18)
    paper = torch.tensor([[[1.0, 0.0, 2.0, -1.0], [0.0, 3.0, 1.0, 1.0]]])
    uses = [
        ("with d_ff=9", (4, 9), paper),
        ("with as many hidden entries as d_model", (4, 4), torch.randn(3, 2, 4)),
        ("with fewer hidden entries than d_model", (7, 5), 2 * torch.randn(2, 3, 7)),
        ("with many hidden entries", (3, 16), 3 * torch.randn(4, 1, 3)),
        ("with all sizes equal", (3, 3), torch.randn(3, 3, 3)),
    ]
    cases = [Case(about, sizes, {}, (x,)) for about, sizes, x in uses]
    return [*cases, Case("in train()", (5, 4), {}, (torch.randn(2, 3, 5),), training=True)]


_SHRUNK = (
    "Sizes: you shrink d_ff in the class. Whoever makes the network chooses it, and has taken off the third already: "
    "`gate_proj` and `up_proj` lead to d_ff entries as it is given."
)
_TURNED = (
    r"\g<0> The class is made as `(d_model, d_ff)` and an `nn.Linear` as (entries in, entries out): `gate_proj` and "
    "`up_proj` lead from d_model to d_ff, `down_proj` back."
)
_CURES = (
    (r"^`(gate|up)_proj\.weight` has the shape \((6|10), 4\)", _SHRUNK),  # of 9, and of 4 · d_model
    (r"^`\w+_proj\.weight` has the shape .*$", _TURNED),
    (
        r"has no attribute '(swish|silu|SiLU)'|'SiLU' and 'Tensor'|'Tensor' and 'SiLU'",
        "Gate: torch's name of swish is `F.silu`, a function of a tensor. `nn.SiLU` is a layer: it is made in "
        "`__init__`, `nn.SiLU()`, and called in `forward`.",
    ),
)
_MEET = (
    "Gate: the two meet entry by entry, as two tensors of one shape: `*`. `@` adds up, and `torch.cat` makes the "
    "hidden entries twice as many."
)
_CURVE = "Gate: in yours another curve stands on `gate_proj(x)`. In SwiGLU it is swish, `F.silu`."

SwiGLU = Build(
    sections=("18 A gate in the network",),
    task="The network of today's blocks: W_down (swish(W_gate x) ⊙ W_up x), where swish(a) = a · sigmoid(a) and ⊙ "
    "multiplies entry by entry. x (batch, tokens, d_model) to the same shape. It is made as `(d_model, d_ff)`. The "
    "parts are `gate_proj` and `up_proj`, each from d_model to d_ff, and `down_proj`, from d_ff back to d_model; none "
    "has a bias.",
    cases=_cases,
    hints=(
        "The network of the paper projects up once, lets the ReLU set entries to 0, and projects down. Here the "
        "tokens are projected up twice: the one result is what is kept, the other says of each entry how much of it "
        "is kept. That other one is the gate.",
        "Swish stands on the gate alone: `F.silu` is torch's name of it, and `a * torch.sigmoid(a)` is the same. What "
        "comes from `up_proj` is multiplied as it is; it may be negative.",
        "Three lines: `F.silu` of what `gate_proj` says of x, times what `up_proj` says of x, entry by entry with "
        "`*`; `down_proj` of that product is what is returned.",
    ),
    passed="Three matrices in place of two: with d_ff a third smaller the network has as many weights as before.",
    without=("SwiGLU",),
    gaps=(
        "F.silu(self.gate_proj(x))",
        "self.up_proj(x)",
        "gate * up",
        "self.down_proj(hidden)",
    ),
    reference=gpt.SwiGLU,
    twin=lambda model, x: None,
    cures=_CURES,
)


@SwiGLU.solution
class MySwiGLU(nn.Module):
    """Two projections up, one of which says how much of the other goes on."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        # Two ways up and one way down; none has a bias.
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        # swish(a) = a · sigmoid(a), on the gate alone.
        gate = F.silu(self.gate_proj(x))  # (batch, tokens, d_ff)
        # What goes through the gate. No curve stands here.
        up = self.up_proj(x)  # (batch, tokens, d_ff)
        # The two meet entry by entry.
        hidden = gate * up  # (batch, tokens, d_ff)
        return self.down_proj(hidden)  # (batch, tokens, d_model)


@SwiGLU.solution
class _ByHand(MySwiGLU):
    def forward(self, x):
        a, b = x @ self.gate_proj.weight.T, x @ self.up_proj.weight.T
        return torch.einsum("btf,df->btd", a * b / (1 + (-a).exp()), self.down_proj.weight)


SwiGLU.edits(f"""
F.silu(self.gate_proj(x)) → self.gate_proj(x) ; = self.up_proj(x) → = F.silu(self.up_proj(x))
    Gate: swish stands on the wrong one of the two in yours. It is for `gate_proj(x)`; what `up_proj` says is
    multiplied as it is.
= self.up_proj(x) → = F.relu(self.up_proj(x))
= self.up_proj(x) → = F.gelu(self.up_proj(x))
= self.up_proj(x) → = torch.tanh(self.up_proj(x))
= self.up_proj(x) → = torch.sigmoid(self.up_proj(x))
    Up: a curve stands on `up_proj(x)` in yours. The gate alone has one; what `up_proj` says may be negative.
F.silu(self.gate_proj(x)) → self.gate_proj(F.silu(x))
    Gate: swish stands on x in yours, before `gate_proj`. It is for what comes from `gate_proj`.
F.silu(self.gate_proj(x)) → F.silu(F.silu(self.gate_proj(x)))
    Gate: swish stands there twice in yours. Once is enough.
F.silu(self.gate_proj(x)) → (self.gate_proj(x) > 0).float()
    Gate: yours is open or shut. Swish is a curve, so that a gradient comes to `gate_proj`: `F.silu`.
= self.up_proj(x) → = F.silu(self.up_proj(x))
    Gate: swish stands on both in yours. It is for `gate_proj(x)` alone; what `up_proj` says may be negative.
F.silu(self.gate_proj(x)) → self.gate_proj(x) ; gate * up → F.silu(gate * up)
gate * up → F.silu(gate * up)
    Gate: swish stands on the product in yours. It is for `gate_proj(x)` alone, before the two are multiplied.
F.silu(self.gate_proj(x)) → F.silu(self.gate_proj(x)) * self.gate_proj(x)
    Gate: you multiply by `gate_proj(x)` once more. `F.silu(a)` is a · sigmoid(a) already.
F.silu( → torch.sigmoid(
    Gate: yours is GLU, with a sigmoid alone. swish(a) is a · sigmoid(a): `F.silu`.
F.silu( → F.relu(
    Gate: yours is ReGLU, with a ReLU. In SwiGLU swish stands there: `F.silu`.
F.silu( → F.gelu(
F.silu(self.gate_proj(x)) → F.gelu(self.gate_proj(x), approximate="tanh")
    Gate: yours is GEGLU, with a GELU. In SwiGLU swish stands there: `F.silu`.
F.silu( → torch.tanh(
F.silu( → F.softplus(
F.silu( → F.mish(
F.silu( → F.hardswish(
F.silu( → F.logsigmoid(
F.silu( → F.elu(
F.silu( → F.leaky_relu(
F.silu( → torch.exp(
F.silu( → torch.sin(
F.silu(self.gate_proj(x)) → self.gate_proj(x) * torch.sigmoid(1.702 * self.gate_proj(x))
F.silu(self.gate_proj(x)) → self.gate_proj(x) * torch.tanh(self.gate_proj(x))
    {_CURVE}
F.silu(self.gate_proj(x)) → self.gate_proj(x).softmax(dim=-1)
F.silu(self.gate_proj(x)) → self.gate_proj(x).softmax(dim=1)
    Gate: a softmax stands on the gate in yours, so its entries compete. In SwiGLU each is a gate by itself: `F.silu`.
F.silu(self.gate_proj(x)) → self.gate_proj(x)
    Gate: there is no swish on it in yours: `F.silu(self.gate_proj(x))`.
F.silu(self.gate_proj(x)) → self.gate_proj(x) ; gate * up → gate * torch.sigmoid(up)
    Gate: in yours `up_proj` has the sigmoid, and `gate_proj` none. swish(a) = a · sigmoid(a) has one a,
    `gate_proj(x)`.
F.silu(self.gate_proj(x)) → self.gate_proj(x) ; gate * up → gate * torch.sigmoid(up) * up
    Gate: swish stands on the wrong one of the two in yours. It is for `gate_proj(x)`; what `up_proj` says is
    multiplied as it is.
F.silu(self.gate_proj(x)) → F.silu(-self.gate_proj(x))
F.silu(self.gate_proj(x)) → self.gate_proj(x) / (1 + self.gate_proj(x).exp())
F.silu(self.gate_proj(x)) → self.gate_proj(x) * (1 - torch.sigmoid(self.gate_proj(x)))
    Gate: a sign is the wrong one in yours. sigmoid(a) is 1 / (1 + e^−a), which is near 1 where a is large.
gate * up → gate + up
    Gate: yours is added. A gate multiplies, `*`: where it is 0, nothing goes on.
gate * up → gate * up + up
    Gate: you add what `up_proj` says once more. The product alone goes on.
gate * up → gate @ up
gate * up → gate @ up.mT
gate * up → torch.cat((gate, up), dim=-1)
    {_MEET}
gate * up → gate
    Gate: in yours `up_proj` is left out. What the gate says is multiplied by it.
gate * up → up
    Gate: in yours it is left out: `gate_proj` is never used.
gate * up → F.silu(up)
    Gate: in yours `gate_proj` is never used: yours is a network of two matrices with swish between them.
= self.up_proj(x) → = x
    Up: in yours the gate multiplies x itself. It multiplies `up_proj(x)`, which has d_ff entries.
= self.up_proj(x) → = self.gate_proj(x)
self.gate_proj(x) → self.up_proj(x)
    Up: one matrix serves both in yours. The gate is made with `gate_proj`, what it multiplies with `up_proj`.
= self.up_proj(x) → = self.up_proj(gate)
self.gate_proj(x) → self.gate_proj(self.up_proj(x))
    Up: in yours one of the two reads what the other says. Both read x.
self.down_proj(hidden) → F.silu(self.down_proj(hidden))
self.down_proj(hidden) → F.relu(self.down_proj(hidden))
    Down: in yours a curve stands behind `down_proj`. What the network says may be negative.
self.down_proj(hidden) → hidden
    Down: `down_proj` is missing: it leads back from d_ff to d_model entries.
gate * up → up ; self.down_proj(hidden) → gate * self.down_proj(hidden)
self.down_proj(hidden) → self.down_proj(gate) * self.down_proj(up)
self.down_proj(hidden) → F.silu(self.down_proj(self.gate_proj(x))) * self.down_proj(up)
    Down: in yours the gate comes behind `down_proj`. The two meet while they have d_ff entries, and their product goes
    down.
self.down_proj(hidden) → x + self.down_proj(hidden)
    Residual: yours adds x. The block around the network does that.
gate = F. → x = F.rms_norm(x, x.shape[-1:]) ⏎ gate = F.
    Norm: yours norms x. The block around the network does that.
d_model, d_ff, bias=False → d_model, 2 * d_ff // 3, bias=False ; d_ff, d_model → 2 * d_ff // 3, d_model
d_model, d_ff, bias=False → d_model, 8 * d_model // 3, bias=False ; d_ff, d_model → 8 * d_model // 3, d_model
    {_SHRUNK}
""")
