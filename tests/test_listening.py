"""Who is heard, under which name, and that nobody goes on listening."""

import copy
import subprocess
import sys
import threading

import pytest
import torch
from torch import nn

from transformer_lib.attention import MultiHeadAttention, record_attention
from transformer_lib.base.listening import Listened, listen
from transformer_lib.base.views import eval_view
from transformer_lib.models import RECURRENT, create_model
from transformer_lib.pooling import KernelRegression
from transformer_lib.scoring import Attention, dot_score
from transformer_lib.transformer import make_model

B, T, C, H = 2, 5, 12, 3
OF_A_TRANSFORMER = {
    "encoder.layers.0.self_attn": ("encoder", 0),
    "encoder.layers.1.self_attn": ("encoder", 1),
    "decoder.layers.0.self_attn": ("decoder", 0),
    "decoder.layers.0.cross_attn": ("cross", 0),
    "decoder.layers.1.self_attn": ("decoder", 1),
    "decoder.layers.1.cross_attn": ("cross", 1),
}
ATTENDING = [kind for kind in RECURRENT if kind != "gru"]


class Deaf(nn.Module):
    """Somebody else's attention, with a `record` of its own."""

    def __init__(self):
        super().__init__()
        self.record = "mine"
        self.inner = MultiHeadAttention(C, H)

    def forward(self, x):
        assert self.record == "mine"
        return self.inner(x, x, x)


def transformer():
    return make_model(7, 6, d_model=C, num_heads=H, d_ff=20, max_len=9)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (transformer(), OF_A_TRANSFORMER),
        (create_model("gru", 7, 6), {}),
        *((create_model(kind, 7, 6), {"decoder.attention": ("cross", 0)}) for kind in ATTENDING),
    ],
    ids=["transformer", "gru", *ATTENDING],
)
def test_attentions_are_heard_under_their_names_and_the_model_says_which_is_which(model, expected):
    with record_attention(model) as maps:
        model(torch.randint(3, 7, (B, T)), torch.randint(3, 6, (B, T)))
    assert list(maps) == list(expected)
    modules = dict(model.named_modules())
    which = model.attentions()
    assert list(which) == list(expected.values())
    assert all(which[kind] is modules[name] for name, kind in expected.items())


def test_weights_come_call_by_call_with_the_axes_of_the_module():
    x = torch.randn(B, T, C)
    parts = nn.ModuleDict({"heads": MultiHeadAttention(C, H), "one": Attention(dot_score)})
    parts["pooling"] = KernelRegression()
    with record_attention(parts) as maps:
        parts["heads"](x[:, :2], x, x)
        parts["one"](x, x, x)
        parts["heads"](x, x, x)
        parts["pooling"](torch.rand(4), torch.rand(4, 6), torch.rand(4, 6))
    shapes = {name: [tuple(w.shape) for w in heard] for name, heard in maps.items()}
    assert shapes == {
        "heads": [(B, H, 2, T), (B, H, T, T)],
        "one": [(B, T, T)],
        "pooling": [(4, 6)],
    }
    assert not any(w.requires_grad for heard in maps.values() for w in heard)


def test_a_module_that_knows_nothing_of_listening_is_left_alone():
    model = nn.Sequential(nn.Linear(C, C), Deaf())
    attributes = [dict(vars(part)) for part in model.modules() if not isinstance(part, Listened)]
    with record_attention(model) as maps:
        model(torch.randn(B, T, C))
    assert list(maps) == ["1.inner"]
    after = [dict(vars(part)) for part in model.modules() if not isinstance(part, Listened)]
    assert after == attributes


@pytest.mark.parametrize("fails", [False, True], ids=["in the end", "after an exception"])
def test_every_module_is_fast_again(fails):
    model = transformer()
    listened = [part for part in model.modules() if isinstance(part, Listened)]
    try:
        with record_attention(model):
            assert all(part.is_heard for part in listened)
            if fails:
                raise KeyError
    except KeyError:
        assert fails
    assert len(listened) == 6
    assert not any(part.is_heard for part in listened)


def test_of_two_listeners_the_inner_one_hears_and_the_outer_one_goes_on_after_it():
    attention, x = MultiHeadAttention(C, H), torch.randn(B, T, C)
    with listen({"outer": attention}) as outer:
        with listen({"inner": attention}) as inner:
            attention(x, x, x)
        assert (len(inner["inner"]), len(outer["outer"])) == (1, 0)
        attention(x, x, x)
    assert (len(inner["inner"]), len(outer["outer"])) == (1, 1)


def test_nobody_is_told_where_nobody_listens():
    module = Listened()
    before = dict(vars(module))
    module.tell(torch.ones(2, 3))
    assert vars(module) == before


def test_a_view_speaks_as_its_module_and_a_copy_with_a_voice_of_its_own():
    attention, x = MultiHeadAttention(C, H), torch.randn(B, T, C)
    with listen({"heard": attention}) as maps:
        copy.deepcopy(attention)(x, x, x)
        assert maps == {"heard": []}
        eval_view(attention)(x, x, x)
    assert len(maps["heard"]) == 1


def test_another_thread_is_not_heard():
    attention, x = MultiHeadAttention(C, H), torch.randn(B, T, C)
    with listen({"heard": attention}) as maps:
        other = threading.Thread(target=attention, args=(x, x, x))
        other.start()
        other.join()
    assert maps == {"heard": []}


COMPILED = """
import torch
from transformer_lib.attention import MultiHeadAttention, record_attention

graphs, model, x = [], MultiHeadAttention(12, 3), torch.randn(2, 5, 12)
compiled = torch.compile(model, backend=lambda graph, _: graphs.append(graph) or graph)
expected = compiled(x, x, x)
assert len(graphs) == 1
with record_attention(model) as maps:
    torch.testing.assert_close(compiled(x, x, x), expected)
assert [weights.shape for weights in maps[""]] == [(2, 3, 5, 5)]
"""


def test_a_compiled_model_is_one_graph_while_nobody_listens_and_can_be_heard():
    """In a process of its own, since the checks of annotations cannot be compiled."""
    subprocess.run([sys.executable, "-c", COMPILED], check=True)
