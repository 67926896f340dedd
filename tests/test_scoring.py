import math

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.lab.d2l_bridge import load_d2l
from transformer_lib.masks import causal_mask, length_mask
from transformer_lib.scoring import AdditiveScore, Attention, dot_score, scaled_dot_score


def test_dot_scores_by_hand():
    query, key = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0], [0.0, 4.0], [1.0, 1.0]])
    assert dot_score(query, key).tolist() == [[1, 8, 3]]
    assert_close(scaled_dot_score(query, key), torch.tensor([[1, 8, 3]]) / math.sqrt(2))


def test_an_additive_score_by_hand():
    score = AdditiveScore(query_size=1, key_size=2, d_hidden=2)
    score.q_proj.weight.data = torch.tensor([[1.0], [0.0]])
    score.k_proj.weight.data = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    score.v_proj.weight.data = torch.tensor([[3.0, -1.0]])
    got = score(torch.tensor([[0.5]]), torch.tensor([[0.25, 0.5], [0.0, -0.5]]))
    expected = [[3 * math.tanh(1.0) - math.tanh(0.5), 3 * math.tanh(0.0) - math.tanh(0.0)]]
    assert_close(got, torch.tensor(expected))


def test_an_additive_score_is_a_network_on_query_and_key_joined():
    score = AdditiveScore(query_size=4, key_size=2, d_hidden=6).double()
    query, key = torch.randn(3, 4).double(), torch.randn(5, 2).double()
    joined = torch.cat([score.q_proj.weight, score.k_proj.weight], dim=1)  # W [q; k]
    for i, q in enumerate(query):
        for j, k in enumerate(key):
            alone = score.v_proj.weight @ torch.tanh(joined @ torch.cat([q, k]))
            assert_close(score(query, key)[i, j], alone[0])


def test_scores_go_through_any_leading_axes():
    query, key = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4)
    for score in (dot_score, scaled_dot_score, AdditiveScore(4, 4, 6)):
        assert_close(score(query, key)[1, 2], score(query[1, 2], key[1, 2]))
        assert score(query, key).shape == (2, 3, 5, 7)


def test_a_wrong_width_is_named():
    with pytest.raises(ValueError, match="query of width 3 for query_size=4"):
        AdditiveScore(4, 2, 6)(torch.randn(5, 3), torch.randn(7, 2))
    with pytest.raises(ValueError, match="key of width 4 for key_size=2"):
        AdditiveScore(4, 2, 6)(torch.randn(5, 4), torch.randn(7, 4))


def test_attention_with_the_scaled_dot_equals_torchs():
    q, k, v = torch.randn(2, 5, 4), torch.randn(2, 7, 4), torch.randn(2, 7, 3)
    mask = length_mask(torch.tensor([4, 7]), 7)[:, None] & causal_mask(5, 7)
    ours = Attention(scaled_dot_score)(q, k, v, mask)
    assert_close(ours, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


def test_additive_attention_equals_d2ls_on_copied_weights():
    theirs = load_d2l().AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1)
    ours = Attention(AdditiveScore(20, 2, 8), dropout=0.1)
    q, k, v = torch.randn(2, 1, 20), torch.randn(2, 10, 2), torch.randn(2, 10, 4)
    lengths = torch.tensor([2, 6])
    theirs.eval()(q, k, v, lengths)  # its layers are lazy in some versions
    ours.score.q_proj.load_state_dict(theirs.W_q.state_dict())
    ours.score.k_proj.load_state_dict(theirs.W_k.state_dict())
    ours.score.v_proj.load_state_dict(theirs.w_v.state_dict())
    mask = length_mask(lengths, 10)[:, None]
    assert_close(ours.eval()(q, k, v, mask), theirs(q, k, v, lengths))


def test_dot_product_attention_equals_d2ls():
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 10, 4), torch.randn(2, 10, 5)
    lengths = torch.tensor([2, 6])
    theirs = load_d2l().DotProductAttention(dropout=0.5).eval()(q, k, v, lengths)
    mask = length_mask(lengths, 10)[:, None]
    assert_close(Attention(scaled_dot_score, dropout=0.5).eval()(q, k, v, mask), theirs)


def test_equal_keys_give_the_average_of_the_values_in_sight():
    """d2l's demonstration, whose result is known beforehand."""
    q, k = torch.randn(2, 1, 20), torch.ones(2, 10, 2)
    v = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    mask = length_mask(torch.tensor([2, 6]), 10)[:, None]
    out = Attention(AdditiveScore(20, 2, 8))(q, k, v, mask)
    assert_close(out, torch.tensor([[[2.0, 3, 4, 5]], [[10.0, 11, 12, 13]]]))


def test_hidden_values_do_not_matter_and_get_no_gradient():
    attention = Attention(AdditiveScore(4, 2, 6))
    q, k = torch.randn(2, 3, 4), torch.randn(2, 5, 2)
    v = torch.randn(2, 5, 7, requires_grad=True)
    mask = length_mask(torch.tensor([2, 4]), 5)[:, None]
    out = attention(q, k, v, mask)
    out.square().sum().backward()
    assert v.grad[0, 2:].eq(0).all()
    assert v.grad[1, 4:].eq(0).all()
    assert v.grad[0, :2].ne(0).all()


def test_recorded_weights_are_those_before_dropout():
    attention = Attention(scaled_dot_score, dropout=0.5).train()
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    with record_attention(attention) as maps:
        attention(q, k, v)
    (weights,) = maps[""]
    assert_close(weights, (q @ k.mT / 2).softmax(dim=-1))


def test_dropout_acts_in_training_only():
    attention = Attention(dot_score, dropout=0.5)
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 7)
    assert_close(attention.eval()(q, k, v), attention(q, k, v))
    assert not torch.equal(attention.train()(q, k, v), attention(q, k, v))
