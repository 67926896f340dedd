"""The right answers of the quiz, computed with plain torch where they can be, and their form."""

import copy
import itertools
import math
import re
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib.exercises.quiz.questions import LETTERS, QUESTIONS
from transformer_lib.publish.lessons import find_lessons, read_lesson

BY_NAME = {question.name: question for question in QUESTIONS}
EACH = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
HOME = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1], [0, 0, 0, 1]])  # I'm home.


def right(name):
    """The right choice, as it is written."""
    question = BY_NAME[name]
    return list(question.choices)[LETTERS.index(question.right)]


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


# What is true, computed here and not taken from the library.


def test_a_column():
    target, prediction = torch.arange(4.0), torch.arange(4.0)[:, None]
    gaps = target - prediction
    assert right("a_column").startswith(f"{gaps.abs().sum():.0f}, ")
    assert gaps.numel() == 16
    assert "sixteen" in right("a_column")


def test_a_thousand_more():
    scores = torch.tensor([1.0, 2, 5], dtype=torch.float64).log()
    assert_close(scores.softmax(0), torch.tensor([1.0, 2, 5], dtype=torch.float64) / 8)
    assert_close((scores + 1000).softmax(0), scores.softmax(0))
    assert "same" in right("a_thousand_more")


def test_shuffled_together():
    q, k, v, order = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2), torch.randperm(5)
    outputs = [F.scaled_dot_product_attention(q, *kv) for kv in ((k, v), (k[order], v[order]))]
    assert_close(*outputs)
    assert right("shuffled_together").startswith("Nothing")


def test_four_times_as_wide():
    scores = (torch.randn(20_000, 256) * torch.randn(20_000, 256)).sum(dim=1) / 8
    assert abs(scores.std() - 2) < 0.05
    assert right("four_times_as_wide").startswith("2: ")


def test_more_points_do_not_help_a_fixed_width():
    x, queries = torch.linspace(0, 5, 5001), torch.arange(50) / 10
    curve = [2 * torch.sin(points) + points**0.8 for points in (x, queries)]
    pooled = (-((queries[:, None] - x) ** 2) / 2).softmax(dim=1) @ curve[0]  # no noise at all
    assert (pooled - curve[1]).square().mean() > 0.3
    assert "above 0" in right("more_points")


def test_an_error_of_zero():
    """The training error falls with every larger w, so there is none at which it settles."""
    x, y = torch.rand(50) * 5, torch.randn(50)
    errors = []
    for w in (1, 10, 100, 10_000):
        shares = (-(((x[:, None] - x) * w) ** 2) / 2).softmax(dim=1)
        errors.append((shares @ y - y).square().sum().item())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1
    assert "leave each point out" in right("an_error_of_zero")


def test_padding_of_zeros():
    padded = torch.cat([HOME, torch.zeros(2, 4)])
    alone, crowded = ((HOME[2] @ x.T).softmax(0) @ x for x in (HOME, padded))
    assert (crowded < alone).all()
    assert_close(crowded / alone, (crowded / alone)[:1].expand(4))  # it shrinks, and turns nowhere
    assert right("padding_of_zeros").startswith("It shrinks")


def test_zero_and_stop():
    real = torch.arange(6) < 4
    zeros, fives = (torch.cat([HOME, torch.full((2, 4), n)]) for n in (0.0, 5.0))
    before, after = (((HOME @ x.T).softmax(-1) * real) @ x for x in (zeros, fives))
    assert ((before - after).abs().amax(dim=1) > 1e-6).all()
    assert right("zero_and_stop").startswith("All four")


def test_no_tanh():
    W_q, W_k, w_v, keys = torch.randn(6, 3), torch.randn(6, 2), torch.randn(6), torch.randn(5, 2)
    hidden = (torch.randn(2, 3) @ W_q.T)[:, None] + keys @ W_k.T  # two queries, five keys
    assert_close(*(hidden @ w_v).softmax(-1))
    assert not torch.allclose(*(hidden.tanh() @ w_v).softmax(-1))
    assert right("no_tanh").startswith("Not at all")


def test_why_the_root():
    d = 256
    scores = (torch.randn(4000, d) * torch.randn(4000, d)).sum(dim=1)
    assert abs(scores.std() / math.sqrt(d) - 1) < 0.05
    assert "√d" in right("why_the_root")
    assert ((scores[:16] / d).softmax(0) - 1 / 16).abs().max() < 0.02  # nearly equal shares


def test_mean_and_median():
    d, (v, pull) = 4096, (torch.randn(n, 4, dtype=torch.float64) for n in (16, 1000))
    q, k = (torch.randn(n, d, dtype=torch.float64) for n in (1000, 16))
    lengths = {}
    for scale in (1, d**-0.5):
        loss = ((q.requires_grad_() @ k.T * scale).softmax(-1) @ v * pull).sum()
        lengths[scale] = torch.autograd.grad(loss, q)[0].norm(dim=1)
    assert lengths[1].mean() > lengths[d**-0.5].mean()
    assert lengths[1].median() < 1e-6 < 0.1 < lengths[d**-0.5].median()
    assert "median" in right("mean_and_median")


def test_divided_by_all():
    p = torch.tensor([1 / 2, 1 / 4, 1 / 2])
    losses = [-p.log().sum() / positions for positions in (3, 4, 8)]
    assert losses == sorted(losses, reverse=True)
    assert right("divided_by_all").startswith("It falls")


def test_thirty_pads():
    embedding, gru = nn.Embedding(10, 8), nn.GRU(8, 6, batch_first=True)
    alone, padded = {}, {}
    for name, ids in (("go", [4, 5]), ("home", [6, 7, 8, 5])):
        for last, pads in ((alone, 0), (padded, 30)):
            last[name] = gru(embedding(torch.tensor([ids + [0] * pads])))[1][0, 0]
    near = (padded["go"] - padded["home"]).norm()
    assert near < 0.01 * (alone["go"] - alone["home"]).norm()
    assert near < 0.01 * min((padded["go"] - alone["go"]).norm(), padded["go"].norm())
    assert right("thirty_pads").startswith("Near that of any other sentence")


def test_two_sentences():
    pairs = [("elle est chez elle ce soir .",) * 2, ("il pleut", "va !")]
    shares = []
    for n in (1, 2, 3, 4):
        matches = runs = 0
        for said, wanted in pairs:
            counts = [
                Counter(zip(*(sentence.split()[i:] for i in range(n)), strict=False))
                for sentence in (said, wanted)
            ]
            matches += (counts[0] & counts[1]).total()
            runs += counts[0].total()
        shares.append((matches, runs))
    assert shares == [(7, 9), (6, 7), (5, 5), (4, 4)]
    bleu = 100 * math.prod(matches / runs for matches, runs in shares) ** (1 / 4)
    assert right("two_sentences").startswith(f"About {round(bleu)}")


def bahdanau_rows(cell, words, states):
    """The weights of each step: the query is the state before it."""
    s, rows = torch.zeros(8), []
    for word in words:
        rows.append((torch.tanh(s + states).sum(-1)).softmax(0))
        s = cell(torch.cat([word, rows[-1] @ states]), s)
    return torch.stack(rows)


def test_the_word_of_step_3():
    words, states, cell = torch.randn(7, 4), torch.randn(5, 8), nn.GRUCell(12, 8)
    other = words.clone()
    other[3] = torch.randn(4)
    moved = (bahdanau_rows(cell, words, states) - bahdanau_rows(cell, other, states)).abs().amax(1)
    rows = moved.gt(0).nonzero().flatten().tolist()
    assert right("the_word_of_step_3").startswith(f"Rows {rows[0]} to {rows[-1]}")
    assert rows == list(range(rows[0], 7))


def test_key_and_value():
    alpha, h, W_v, U = (
        torch.randn(5).softmax(0),
        torch.randn(5, 4),
        torch.randn(4, 4),
        torch.randn(3, 4),
    )
    assert_close(U @ (alpha @ (h @ W_v.T)), (U @ W_v) @ (alpha @ h), atol=1e-5, rtol=1e-4)
    assert right("key_and_value").startswith("Nothing")


def test_the_word_just_written():
    states, words, s, cell = torch.randn(5, 8), torch.randn(2, 4), torch.randn(8), nn.GRUCell(4, 8)
    bahdanau = [(states @ s).softmax(0) for _ in words]  # asks with s_{t−1}
    luong = [(states @ cell(word, s)).softmax(0) for word in words]  # with s_t
    assert torch.equal(*bahdanau)
    assert not torch.allclose(*luong)
    assert "Luong" in right("the_word_just_written")


def test_no_gaussian():
    scores, p_t = torch.randn(9), torch.tensor(3.3, requires_grad=True)
    distance = torch.arange(9) - p_t
    windowed = scores.masked_fill(distance.abs() > 2, -math.inf)
    assert not windowed.softmax(0).requires_grad
    (gradient,) = torch.autograd.grad((windowed - distance**2 / 2).softmax(0)[3], p_t)
    assert gradient != 0
    assert right("no_gaussian").startswith("None")


def test_clear_by_chance():
    clear = [
        max(first) < min(set(range(6)) - set(first)) or min(first) > max(set(range(6)) - set(first))
        for first in itertools.combinations(range(6), 3)
    ]
    assert 21 * sum(clear) / len(clear) == pytest.approx(2.1)
    assert "two, one in ten" in right("clear_by_chance")


def test_dog_bites_man():
    layers = [nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2)]
    vectors, E = [], torch.randn(3, 8)  # dog, bites, man
    for order, dog in (([0, 1, 2], 0), ([2, 1, 0], 2)):
        x = E[order][None]
        for layer in layers:
            x = x + layer(x, x, x)[0]
        vectors.append(x[0, dog])
    assert_close(*vectors)
    assert right("dog_bites_man").startswith("It is the same in both")


def test_which_noun():
    """Of `it`, animal and street, tired or wide: with one layer the ratio knows three words."""
    W_q, W_k, words = torch.randn(8, 8), torch.randn(8, 8), torch.randn(5, 8)
    ratios = []
    for last in (3, 4):
        x = words[[0, 1, 2, last]]
        alpha = (x[0] @ W_q @ (x @ W_k).T / math.sqrt(8)).softmax(0)
        ratios.append(alpha[1] / alpha[2])
    assert_close(*ratios, rtol=1e-4, atol=0)
    assert "second layer" in right("which_noun")


def test_one_glance():
    """What the best straight guess from one mixture misses of the left gift and of the right."""
    gifts = torch.linalg.qr(torch.randn(500, 6)).Q.T  # each of length 1
    for alpha in [*torch.rand(200, 6), torch.tensor([0.9, 0.1, 0, 0, 0, 0])]:
        glance = F.normalize(alpha @ gifts, dim=0)
        missed = [(gift - (gift @ glance) * glance).square().sum() for gift in gifts[:2]]
        assert sum(missed) > 1 - 1e-5
    assert "1 or more" in right("one_glance")


def test_nothing_to_learn():
    sizes = [sum(p.numel() for p in nn.MultiheadAttention(24, h).parameters()) for h in (1, 8)]
    assert sizes[0] == sizes[1]  # not a matter of size
    x = torch.randn(24, requires_grad=True)
    (nn.Linear(24, 24)(x)[:3].square().sum()).backward()  # what head 0 of eight reads
    assert x.grad.ne(0).all()  # nor of a part of the embedding
    assert "projected" in right("nothing_to_learn")


def test_one_matrix():
    q = torch.randn(50, 4)  # queries are keys
    s = q @ q.T
    at_the_other = s > s.diag()[:, None]  # query i prefers key j to itself
    assert at_the_other.any()
    assert not (at_the_other & at_the_other.T).any()
    assert (s <= (s.diag()[:, None] + s.diag()) / 2 + 1e-5).all()
    assert "mean of the two self-scores" in right("one_matrix")


def test_view_alone():
    x = torch.randn(1, 4, 6, requires_grad=True)
    cut = x.view(1, 2, 4, 3)
    out = F.scaled_dot_product_attention(cut, cut, cut).reshape(1, 4, 6)
    (gradient,) = torch.autograd.grad(out[0, 0].sum(), x)
    heard = gradient[0].abs().amax(dim=1).gt(0).nonzero().flatten().tolist()
    assert right("view_alone").startswith(" and ".join(map(str, heard)))


def test_no_cosines():
    angle = 0.3 * torch.arange(200, dtype=torch.float64)[:, None]
    later = (angle + 0.3 * 7).sin()
    left = {}
    for name, code in (("sine", angle.sin()), ("both", torch.cat([angle.sin(), angle.cos()], 1))):
        left[name] = (later - code @ torch.linalg.lstsq(code, later).solution).norm() / later.norm()
    assert left["both"] < 1e-12 < 0.5 < left["sine"]
    assert "one matrix" in right("no_cosines")


def test_a_bag_backwards():
    digits = F.one_hot(torch.randint(10, (20_000, 12)), 10)
    others = digits.sum(dim=1, keepdim=True) - digits
    assert 1 / 5 < others.amax(dim=-1).float().mean() / 11 < 1 / 3
    assert "one in four" in right("a_bag_backwards")


def weights_of(module):
    return sum(p.numel() for p in module.parameters() if p.dim() > 1)


def test_up_and_down():
    d = 64
    network = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))
    assert weights_of(network) == 8 * weights_of(nn.Linear(d, d))
    assert right("up_and_down").startswith("eight times")


def test_no_bend():
    up, down = nn.Linear(4, 240), nn.Linear(240, 4)
    x, one = torch.randn(9, 4), down.weight @ up.weight
    assert_close(down(up(x)), x @ one.T + down(up.bias), atol=1e-5, rtol=1e-4)
    assert "one matrix" in right("no_bend")


def test_a_longer_neighbour():
    short, longer = torch.randn(1, 3, 4), torch.randn(1, 6, 4)
    together = torch.cat([F.pad(short, (0, 0, 0, 3)), longer])
    norm = nn.BatchNorm1d(4)
    for part, moves in (
        (lambda x: norm(x.mT).mT, True),
        (nn.LayerNorm(4), False),
        (nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)), False),
    ):
        assert torch.allclose(part(short)[0], part(together)[0, :3], atol=1e-5) != moves
    assert "batch norm" in right("a_longer_neighbour")


def test_nothing_written():
    stop = torch.tensor([0.0, 0, 0, 1])
    written = torch.zeros(4)
    post, pre = F.layer_norm(stop + written, (4,)), stop + written
    assert not torch.allclose(post, stop)
    assert torch.equal(pre, stop)
    assert right("nothing_written").startswith("(0, 0, 0, 1) in pre-norm, another")


def test_white_columns():
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 6, 8)
    pads = torch.tensor([[False, False, False, True, True, True]])
    other = torch.cat([x[:, :3], torch.randn(1, 3, 8)], dim=1)
    outputs = [attention(y, y, y, key_padding_mask=pads)[0][0] for y in (x, other)]
    moved = (outputs[0] - outputs[1]).abs().amax(dim=1) > 1e-6
    assert moved.tolist() == pads[0].tolist()  # only rows that nobody reads
    assert torch.full((3,), -math.inf).softmax(0).isnan().all()
    assert "empty" in right("white_columns")


def test_a_score_of_zero():
    share = torch.tensor([1.0, 2, 0]).softmax(0)[2]
    assert right("a_score_of_zero").startswith(f"{share:.2f}:")


def test_our_mask_at_torch():
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 4, 8)
    _, weights = attention(x, x, x, attn_mask=torch.ones(4, 4).tril() == 1)
    assert weights[0, 0].gt(0).tolist() == [False, True, True, True]
    assert right("our_mask_at_torch").startswith("To all later tokens")


def test_whose_memory():
    model = nn.Transformer(8, 2, 3, 3, 16, dropout=0, batch_first=True)
    read = []
    for layer in model.decoder.layers:
        layer.multihead_attn.register_forward_pre_hook(lambda _, given: read.extend(given[1:3]))
    src, tgt = torch.randn(1, 5, 8), torch.randn(1, 3, 8)
    model(src, tgt)
    memory = model.encoder(src)
    assert len(read) == 6  # keys and values of three layers
    for tensor in read:
        assert_close(tensor, memory)
    assert right("whose_memory") == "The output of encoder layer 2."


def test_equal_twins():
    attention, x = nn.MultiheadAttention(8, 2, bias=False, batch_first=True), torch.randn(3, 5, 8)
    with torch.no_grad():
        for rows in attention.in_proj_weight.chunk(3):
            rows[4:] = rows[:4]
        attention.out_proj.weight[:, 4:] = attention.out_proj.weight[:, :4]
    attention(x, x, x)[0].square().sum().backward()
    for rows in attention.in_proj_weight.grad.chunk(3):
        assert_close(rows[4:], rows[:4])
    below, above = (nn.TransformerEncoderLayer(8, 2, 16, 0, batch_first=True) for _ in range(2))
    above.load_state_dict(below.state_dict())
    above(below(x)).square()[..., :3].sum().backward()
    assert not torch.allclose(below.linear1.weight.grad, above.linear1.weight.grad)
    assert right("equal_twins").startswith("The layers")


def test_few_parameters():
    class Model(nn.Module):
        def __init__(self, keep):
            super().__init__()
            self.embedding, self.layers = nn.Embedding(9, 4), keep([nn.Linear(4, 4)])

    assert [name for name, _ in Model(list).named_parameters()] == ["embedding.weight"]
    assert len(list(Model(nn.ModuleList).parameters())) == 3
    assert "Python list" in right("few_parameters")


def test_the_first_loss():
    wanted, stream = torch.randint(12, (500,)), F.layer_norm(torch.randn(500, 128), (128,))
    assert round(math.log(12), 1) == 2.5
    unsure, sure = (F.cross_entropy(stream @ (s * torch.randn(128, 12)), wanted) for s in (0.02, 1))
    assert unsure < 2.7 < 12 < sure
    assert "too large" in right("the_first_loss")


def test_the_first_step():
    theta = nn.Parameter(torch.zeros(3))
    adam = torch.optim.Adam([theta], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    theta.grad = torch.tensor([0.001, -1.0, 1000.0])
    adam.step()
    assert_close(theta.detach(), torch.tensor([-0.01, 0.01, -0.01]), atol=1e-6, rtol=0)
    assert right("the_first_step").startswith("0.01 each")


def test_too_short():
    """The reference stays behind with a length penalty, too."""
    penalised = [log_p / ((5 + n) / 6) for log_p, n in ((-6.65, 4), (-25.92, 18))]
    assert [round(score, 1) for score in penalised] == [-4.4, -6.8]
    why = next(w for c, w in BY_NAME["too_short"].choices.items() if "penalty" in c)
    assert "−4.4 and −6.8" in why
    assert right("too_short").startswith("The model")


def test_half_the_temperature():
    p = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05])
    share = (p.log() / 0.5).softmax(0)[0]
    assert right("half_the_temperature").startswith(f"{share:.2f}:")


def test_two_means():
    losses = [torch.full((9,), 1.0), torch.full((3,), 5.0)]  # of each token
    plain = sum(part.mean() for part in losses) / 2
    weighed = sum(part.mean() * 2 * len(part) / 12 for part in losses) / 2
    assert (torch.cat(losses).mean(), plain, weighed) == (2, 3, 2)
    assert 1 / len(losses[1]) == pytest.approx(3 / len(losses[0]))  # what one token counts
    assert "three times" in right("two_means")


def test_twice_as_long():
    """The products of the formula, which a fused kernel makes as well; and the rows it keeps."""
    products, kept = [], []
    for n in (256, 512):
        q, k, v = torch.randn(3, 1, 1, n, 16)
        with FlopCounterMode(display=False) as count:
            (q @ k.mT).softmax(-1) @ v
        products.append(count.get_total_flops())
        kept.append(F.scaled_dot_product_attention(q, k, v, is_causal=True).nbytes)
    assert products[1] == 4 * products[0]
    assert kept[1] == 2 * kept[0]
    assert right("twice_as_long") == "Memory twice, multiplications four times."


def test_small_updates():
    weight = torch.tensor(1.0, dtype=torch.bfloat16)
    for _ in range(1000):
        weight = weight + torch.tensor(1 / 256, dtype=torch.bfloat16)
    assert right("small_updates").startswith(f"{weight:g}:")


def test_what_is_left():
    decoder = nn.TransformerDecoderLayer(8, 2, 16, 0, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoderLayer(8, 2, 16, 0, batch_first=True, norm_first=True)
    for parameter in decoder.multihead_attn.out_proj.parameters():
        nn.init.zeros_(parameter)
    same = ("self_attn", "norm1", "linear1", "linear2")
    for part, theirs in {**dict(zip(same, same, strict=True)), "norm2": "norm3"}.items():
        encoder.get_submodule(part).load_state_dict(decoder.get_submodule(theirs).state_dict())
    x, triangle = torch.randn(2, 5, 8), torch.ones(5, 5).triu(1) == 1
    assert_close(decoder(x, torch.randn(2, 3, 8), triangle), encoder(x, triangle))
    assert right("what_is_left").startswith("Encoder layers")


def test_five_more():
    x, norm = torch.randn(3, 8), nn.LayerNorm(8)
    assert_close(norm(x + 5), norm(x), atol=1e-4, rtol=1e-4)
    assert (F.rms_norm(x + 5, (8,)) - 1).abs().max() < (F.rms_norm(x, (8,)) - 1).abs().max()
    assert right("five_more").startswith("Layer norm")


def test_sums_of_rows():
    x = torch.rand(4, 3)
    with pytest.raises(RuntimeError):
        x / x.sum(dim=-1)
    assert "error" in right("sums_of_rows")
    square = torch.rand(3, 3)
    assert not torch.allclose((square / square.sum(dim=-1)).sum(dim=-1), torch.ones(3))


def test_eight_mixtures():
    assert (torch.rand(8, 1, 5) @ torch.rand(8, 5, 3)).shape == (8, 1, 3)
    assert right("eight_mixtures").startswith("(8, 1, 3)")


def test_the_wrong_axis():
    assert_close(torch.randn(2, 3).softmax(dim=0).sum(dim=0), torch.ones(3))
    assert right("the_wrong_axis").startswith("Each column")


def test_out_of_range():
    values = torch.tensor([300.0, 20, 10, 10, 5])
    found = (10 * torch.randn(1000, 5)).softmax(dim=-1) @ values
    assert found.max() <= 300 + 1e-3
    assert right("out_of_range") == "With none."


def test_seven_wide():
    q, k, v = torch.rand(2, 3), torch.rand(5, 3), torch.rand(5, 7)
    assert ((q @ k.T).softmax(dim=-1) @ v).shape == (2, 7)
    assert right("seven_wide").startswith("(2, 7)")


def test_very_hot():
    share = (torch.tensor([6.0, 4, 2, 0, 0]) / 1000).softmax(dim=0)[0]
    assert abs(share - 1 / 5) < 0.001
    assert "⅕" in right("very_hot")


def test_no_width_left():
    x, y = torch.rand(50), torch.randn(50)
    assert_close((-(((3 - x) * 0) ** 2) / 2).softmax(dim=0) @ y, y.mean())
    assert right("no_width_left").startswith("The mean")


def test_far_from_all():
    x = torch.arange(50, dtype=torch.float64) / 10
    shares = (-((25 - x) ** 2) / 2).softmax(dim=0)
    assert round(shares[-1].item(), 2) == 0.87
    assert "last point" in right("far_from_all")


def test_two_and_five():
    q, W, k = torch.rand(2), torch.rand(2, 5), torch.rand(5)
    assert (q @ W @ k).shape == ()
    assert "(2, 5)" in right("two_and_five")


def test_all_hidden():
    assert torch.full((3,), -math.inf).softmax(dim=0).isnan().all()
    assert_close(torch.full((3,), -1e9).softmax(dim=0), torch.full((3,), 1 / 3))
    assert right("all_hidden").startswith("NaN")


def test_whose_width():
    W_q, W_k = torch.randn(2, 64, 16) / 8  # queries and keys with variance 1
    scores = ((torch.randn(20_000, 64) @ W_q) * (torch.randn(20_000, 64) @ W_k)).sum(dim=1)
    assert abs(scores.std() / 4 - 1) < 0.25
    assert right("whose_width").startswith("By 4")


def test_where_it_slopes():
    scores = torch.tensor([0.7, -0.4], dtype=torch.float64)
    slopes = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=0), scores)
    p = scores.softmax(dim=0)[0]
    assert_close(slopes[0, 0], p * (1 - p))
    assert "p(1 − p)" in right("where_it_slopes")


def test_one_word_late():
    target = ["je", "suis", "chez", "moi", "."]
    reads = ["<bos>", *target]
    assert f"`{reads[target.index('chez')]}`" in right("one_word_late")


def test_even_odds():
    loss = F.cross_entropy(torch.zeros(1, 2448), torch.tensor([5])).item()
    assert right("even_odds") == f"{loss:.1f} and {math.exp(loss):.0f}."


def test_no_choice():
    h, hidden = torch.randn(5, 4), torch.randn(5, 3)
    shares = (hidden.tanh() @ torch.zeros(3)).softmax(dim=0)
    assert_close(shares @ h, h.mean(dim=0))
    assert right("no_choice").startswith("The mean")


def test_four_of_five_links():
    gold = {(i, i) for i in range(5)}
    found = {(i, i) for i in range(4)} | {(0, 4)}
    rate = 1 - 2 * len(found & gold) / (len(found) + len(gold))
    assert right("four_of_five_links").startswith(f"{rate:.1f}:")


def test_inside_the_window():
    assert len([i for i in range(20) if 7 - 2 <= i <= 7 + 2]) == 5
    assert right("inside_the_window").startswith("Five")


def test_sixteen_layers():
    heard, layers = {0}, 0
    while 32 not in heard:
        heard, layers = {i + step for i in heard for step in range(3)}, layers + 1
    assert right("sixteen_layers").startswith(f"{layers},")


def test_when_the_map_wins():
    d = 512
    cheaper = max(n for n in range(1, 5000) if 2 * n**2 * d <= 4 * n * d**2)
    assert f"above {cheaper}," in right("when_the_map_wins")


def test_an_eighth_each():
    sizes = {sum(p.numel() for p in nn.MultiheadAttention(512, h).parameters()) for h in (1, 8)}
    assert len(sizes) == 1
    assert right("an_eighth_each") == "As many as before."


def test_default_weights():
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 2, 8)
    each = attention(x, x, x, average_attn_weights=False)[1]  # (1, heads, 2, 2)
    assert_close(attention(x, x, x)[1], each.mean(dim=1))
    assert "mean" in right("default_weights")


def test_what_rotary_lacks():
    """The mirror image stands at another distance from each place; three back at one."""
    assert len({(11 - t) - t for t in range(12)}) == 12
    assert len({(t - 3) - t for t in range(12)}) == 1
    assert "backwards" in right("what_rotary_lacks")


def test_one_causal_layer():
    """By torch's own attention: at position 0 and 1 another vector than was there before."""
    torch.manual_seed(0)
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 6, 8)
    later = torch.ones(6, 6).triu(1).bool()  # torch: True = masked out
    before, after = (
        attention(t, t, t, attn_mask=later)[0][0] for t in (x, x[:, [1, 0, 2, 3, 4, 5]])
    )
    moved = (before - after).abs().amax(dim=-1) > 1e-5
    assert moved.tolist() == [True, True, False, False, False, False]
    assert right("one_causal_layer").startswith("Those at positions 0 and 1")


def test_a_quarter_turn():
    angle = 3 * math.pi / 2
    pair = round(math.sin(angle)), round(math.cos(angle))
    assert pair == (-1, 0)
    assert right("a_quarter_turn").startswith("(−1, 0)")


def test_twice_the_token():
    rows = torch.tensor([[1.0, 2, 3, 4], [12, 14, 16, 18]])
    assert_close(*F.layer_norm(rows, (4,), eps=0.0))
    assert right("twice_the_token").startswith("The same")


def test_both_masks():
    open_cells = torch.ones(5, 5).tril().bool() & (torch.arange(5) < 3)
    assert right("both_masks").startswith(f"{open_cells.sum()},")
    assert "1, 2, 3, 3, 3" in right("both_masks")
    assert open_cells.sum(dim=1).tolist() == [1, 2, 3, 3, 3]


def test_one_who_asks():
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    target, memory = torch.randn(1, 6, 8), torch.randn(1, 5, 8)
    changed = target.clone()
    changed[:, 2] += 1
    moved = attention(changed, memory, memory)[0] - attention(target, memory, memory)[0]
    assert (moved.abs().amax(dim=-1)[0] > 1e-6).nonzero().flatten().tolist() == [2]
    assert right("one_who_asks") == "Row 2 alone."


def test_numbers_of_a_layer():
    layer = nn.TransformerDecoderLayer(16, 2, dim_feedforward=64)
    matrices = sum(p.numel() for p in layer.parameters() if p.dim() == 2)
    assert right("numbers_of_a_layer").startswith(f"{matrices // 16**2}:")


def test_softmax_of_softmax():
    share = torch.tensor([1.0, 0.0]).softmax(dim=0)[0].item()
    assert right("softmax_of_softmax").startswith(f"{share:.2f}:")
    assert round(-math.log(share), 2) == 0.31


def test_the_least_it_pays():
    q = torch.full((12,), 0.1 / 12)
    q[3] += 0.9
    logits = torch.randn(1000, 12)
    paid = -(q * torch.cat([logits, q.log()[None]]).log_softmax(dim=-1)).sum(dim=-1)
    assert paid.argmin() == 1000  # who says the smoothed target itself
    assert paid.min() > 0.3
    assert right("the_least_it_pays").startswith("More than 0")


def test_half_a_sentence():
    bleu = 100 * math.exp(1 - 10 / 5)
    assert right("half_a_sentence").startswith(f"{bleu:.0f}:")


def test_the_second_way():
    first, second = {"me": 0.6, "je": 0.4}, {"me": 0.4, "je": 0.9}
    greedy = max(first, key=first.get)
    beam = max(first, key=lambda word: first[word] * second[word])
    found = f"Greedy *{greedy} …*, 0.24; the beam *{beam} …*, {first[beam] * second[beam]:.2f}."
    assert right("the_second_way") == found


def test_hundred_words():
    assert right("hundred_words") == f"{sum(range(1, 101))} and 100."


# Of the earlier ones, those that `test_quiz.py` leaves open and a computation can settle.


def test_a_thicker_book():
    query, keys = torch.tensor([0.0, 2, 0]), torch.tensor([[0.0, 3, 0], [0, 2, 0], [0, 1, 0]])
    shares = [(query @ keys.T).softmax(dim=0) for _ in (300, 3000)]  # no value enters
    assert_close(*shares)
    assert right("a_thicker_book").startswith("It stays")


def test_wrong_in_company():
    """A causal mask alone: padding behind moves what an encoder says, and only in company."""
    x, q = torch.randn(3, 8), torch.randn(1, 8)
    padded = torch.cat([x, torch.randn(4, 8)])
    alone, together = (F.scaled_dot_product_attention(q, keys, keys) for keys in (x, padded))
    assert (alone - together).abs().max() > 0.01
    masked = F.scaled_dot_product_attention(q, padded, padded, torch.arange(7)[None] < 3)
    assert_close(alone, masked)
    assert right("wrong_in_company") == "The padding mask."


def test_zebra_and_giraffe():
    from transformer_lib.corpus import UNK_ID, Vocabulary

    vocabulary = Vocabulary.build(["I'm a dog."], "en")
    zebra, giraffe = (vocabulary.encode(f"I'm a {animal}.") for animal in ("zebra", "giraffe"))
    assert zebra == giraffe
    assert UNK_ID in zebra
    assert right("zebra_and_giraffe").startswith("In nothing")


def test_saved_twice():
    """What leaving out the logits of padding saves, per padded position, is the share of these."""
    text = BY_NAME["saved_twice"].text
    saved, before, after = (int(share) for share in re.findall(r"(\d+) %", text))
    assert right("saved_twice").startswith(f"About {saved * after / before:.0f} %")


def test_shared_keys():
    """torch's own kernel for grouped heads agrees with 32 rows of weights for a query."""
    q, k, v = torch.randn(1, 32, 1, 4), torch.randn(1, 8, 5, 4), torch.randn(1, 8, 5, 4)
    weights = (q @ k.repeat_interleave(4, dim=1).mT / 2).softmax(dim=-1)
    heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    assert_close(weights @ v.repeat_interleave(4, dim=1), heads)
    assert right("shared_keys").startswith(f"{weights.flatten(0, 2).size(0)}: ")


def test_no_triangle():
    """Without the triangle the place that must say a word hears that word."""
    words = torch.randn(5, 8, requires_grad=True)
    for mask, heard in ((None, True), (torch.ones(5, 5).tril().bool(), False)):
        said = F.scaled_dot_product_attention(words, words, words, mask)
        (gradient,) = torch.autograd.grad(said[2].sum(), words)
        assert bool((gradient[3].abs() > 0).any()) == heard
    assert "nonsense when it writes" in right("no_triangle")


def test_asked_of_a_hundred():
    assert f"BERT for about {0.15 * 100:.0f}" in right("asked_of_a_hundred")


def test_three_active():
    """Tokens of one text need every expert, though each of them needs two of eight."""
    chosen = (torch.randn(50, 4) @ torch.randn(4, 8)).topk(2, dim=-1).indices
    assert len(chosen[0].unique()) == 2
    assert len(chosen.unique()) == 8
    assert right("three_active").startswith(f"{30.5 * 2:.0f} billion bytes")


# On what the third edition has added.


def test_no_gradient_at_all():
    parameter = nn.Parameter(torch.tensor([2.0]))
    parameter.grad = torch.zeros(1)
    torch.optim.AdamW([parameter], lr=0.01, weight_decay=0.1).step()
    assert right("no_gradient_at_all").startswith(f"{parameter.item():.3f}:")


def test_a_guess_refused():
    accepted = 0.4 / 0.8
    assert right("a_guess_refused").startswith("½")
    assert (accepted, 0.8 * accepted) == (0.5, 0.4)


def test_sixteen_at_once():
    """A matrix is fetched once, however many tokens are multiplied with it."""
    with FlopCounterMode(display=False) as one:
        torch.randn(1, 8) @ torch.randn(8, 4)
    with FlopCounterMode(display=False) as sixteen:
        torch.randn(16, 8) @ torch.randn(8, 4)
    assert sixteen.get_total_flops() == 16 * one.get_total_flops()
    assert "same bytes" in right("sixteen_at_once")


def test_fewer_bytes():
    """Of four changes one makes fewer keys."""
    kept = {heads: nn.Linear(64, heads * 16)(torch.randn(1, 64)).numel() for heads in (4, 1)}
    assert kept[1] < kept[4]
    assert "share keys" in right("fewer_bytes")


def test_eight_for_two():
    network = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
    eight = nn.ModuleList(copy.deepcopy(network) for _ in range(8))
    count = lambda module: sum(parameter.numel() for parameter in module.parameters())
    with FlopCounterMode(display=False) as one:
        network(torch.randn(1, 8))
    with FlopCounterMode(display=False) as two:
        for expert in eight[:2]:
            expert(torch.randn(1, 8))
    assert count(eight) == 8 * count(network)
    assert two.get_total_flops() == 2 * one.get_total_flops()
    assert right("eight_for_two") == "Parameters eight times, operations twice."


def test_a_long_text():
    """In the products of a layer's matrices, and those of its scores and averages, for a token."""
    d, n = 4096, 24_576
    text = BY_NAME["a_long_text"].text.replace(",", "")
    assert f"width {d} reads texts of {n}" in text
    of_parameters = 2 * 12 * d**2  # forward: two operations for each of 4d² and 8d²
    of_attention = 2 * n * d + 2 * n * d  # a query with n keys, n weights with the values
    assert 1 + of_attention / of_parameters == 2
    assert "twice" in right("a_long_text")


def test_ten_times_the_money():
    """Operations are six for each parameter and token, and both grow alike."""
    assert round(math.sqrt(10)) == 3
    assert right("ten_times_the_money") == "Both, each about three times."


# Form.


def test_every_lesson_is_asked_about():
    count = Counter(question.lesson for question in QUESTIONS)
    assert sorted(count) == [f"{lesson:02}" for lesson in range(19)]  # 19 asks
    assert min(count.values()) >= 4
    assert [question.lesson for question in QUESTIONS] == sorted(count.elements())
    assert len(BY_NAME) == len(QUESTIONS) >= 90


@EACH
def test_every_choice_says_something_of_its_own(question):
    choices, whys = list(question.choices), list(question.choices.values())
    assert 3 <= len(choices) <= len(LETTERS)
    assert question.right in LETTERS[: len(choices)]
    assert all(len(why) > 30 for why in whys)
    for text in (question.text, *choices, *whys):
        assert text == text.strip()
        assert text.count("`") % 2 == 0
        assert "$" not in text  # no LaTeX: nothing typesets it in an HTML output


def test_no_explanation_twice():
    whys = Counter(why for question in QUESTIONS for why in question.choices.values())
    assert whys.most_common(1)[0][1] == 1


# Who knows nothing and takes one choice at random gets 1/3 of a question with three choices and 1/4
# of one with four. Over the bank that is a sum of independent draws, with this mean and deviation; a
# rule that needs no knowledge should do no better, and none should do so badly that its contrary pays.


def by_chance(questions):
    """What guessing gets of these questions: its mean, and two standard deviations."""
    odds = [1 / len(question.choices) for question in questions]
    return sum(odds), 2 * math.sqrt(sum(p * (1 - p) for p in odds))


def by_length(wanted):
    """What the rule gets that takes the longest choice (or shortest), of several one at random."""
    points = 0
    for question in QUESTIONS:
        lengths = [len(choice) for choice in question.choices]
        if len(right(question.name)) == wanted(lengths):
            points += 1 / lengths.count(wanted(lengths))
    return points


def test_the_longest_choice_is_right_no_more_often_than_by_chance():
    mean, spread = by_chance(QUESTIONS)
    assert mean - spread <= by_length(max) <= mean


def test_the_shortest_choice_tells_nothing_either():
    mean, spread = by_chance(QUESTIONS)
    assert abs(by_length(min) - mean) <= spread


@pytest.mark.parametrize("choices", [3, 4])
def test_no_letter_is_right_much_more_often_than_another(choices):
    """Each kind apart: among all of them together D would look rare, since half have no D."""
    asked = [question for question in QUESTIONS if len(question.choices) == choices]
    mean, spread = by_chance(asked)
    count = Counter(question.right for question in asked)
    assert set(count) == set(LETTERS[:choices])
    assert all(abs(times - mean) <= spread for times in count.values())


@EACH
def test_the_core_of_its_lesson_shows_it(question):
    (path,) = find_lessons([question.lesson])
    headings = [section.heading.replace("*", "") for section in read_lesson(path).core]
    assert question.shown in headings
