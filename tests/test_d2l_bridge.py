import sys

import torch
from torch.testing import assert_close

from transformer_lib.lab.d2l_bridge import load_d2l
from transformer_lib.masks import length_mask, masked_softmax


def test_d2l_is_the_version_the_lessons_contrast_with():
    import d2l

    load_d2l()
    assert d2l.__version__ == "0.17.0"
    assert load_d2l() is load_d2l()


def test_nothing_pretends_to_be_torchvision_afterwards():
    load_d2l()
    assert "torchvision" not in sys.modules or hasattr(sys.modules["torchvision"], "__version__")


def test_our_masked_softmax_equals_d2ls_and_d2ls_changes_its_input():
    scores, lengths = torch.randn(2, 3, 5), torch.tensor([2, 4])
    given = scores.clone()
    theirs = load_d2l().masked_softmax(given, lengths)
    assert_close(masked_softmax(scores, length_mask(lengths, 5)[:, None]), theirs)
    assert not torch.equal(given, scores)
