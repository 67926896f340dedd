import pytest
import torch

from transformer_lib.base.machine import seed_everything
from transformer_lib.corpus import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer_lib.lab.toys import TASKS, VOCABULARY_SIZE, practise, share_right, toy_examples
from transformer_lib.models import create_model


@pytest.mark.parametrize("task", TASKS)
def test_a_row_becomes_what_the_task_makes_of_it(task):
    made = {"copy": lambda row: row, "reverse": lambda row: row[-1::-1], "sort": sorted}[task]
    for row, answer in toy_examples(task, 50, seed=0, lengths=(3, 8)):
        assert 3 <= len(row) - 1 <= 8
        assert (row[-1], answer[-1]) == (EOS_ID, EOS_ID)
        assert answer[:-1] == made(row[:-1])


def test_every_symbol_and_length_comes_and_no_special_one():
    rows = [row[:-1] for row, _ in toy_examples("copy", 400, seed=0, lengths=(3, 5))]
    assert {len(row) for row in rows} == {3, 4, 5}
    symbols = set(range(VOCABULARY_SIZE)) - {PAD_ID, BOS_ID, EOS_ID, UNK_ID}
    assert {symbol for row in rows for symbol in row} == symbols
    assert len(symbols) == 8


def test_the_seed_alone_decides():
    first = toy_examples("sort", 9, seed=1)
    torch.rand(3)
    assert toy_examples("sort", 9, seed=1) == first != toy_examples("sort", 9, seed=2)


def test_an_unknown_task_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no toy task 'shuffle'; there are copy, reverse, sort"):
        toy_examples("shuffle", 9, seed=0)


def test_what_is_right_is_counted_place_by_place():
    rows = toy_examples("copy", 6, seed=0, lengths=(4, 4))

    class Half(torch.nn.Module):  # says the first place right, the third in half of the rows
        def forward(self, src, tgt_in, src_mask):
            said = src.clone()
            said[:, [1, 3, 4]] = 0
            said[3:, 2] = 0
            return torch.nn.functional.one_hot(said, VOCABULARY_SIZE).float()

    model = Half()
    assert share_right(model, rows).tolist() == [1, 0, 0.5, 0, 0]
    assert model.training


def test_practice_reads_every_row_once_and_teaches():
    seed_everything(0)
    size = VOCABULARY_SIZE
    model = create_model("gru", size, size, d_model=16, d_hidden=16, dropout=0.0)
    before = share_right(model, toy_examples("copy", 100, seed=9, lengths=(2, 2))).mean()
    history = practise(model, toy_examples("copy", 1000, seed=0, lengths=(2, 2)), rows=16)
    assert len(history.frame) == 63  # the last of 8 rows
    after = share_right(model, toy_examples("copy", 100, seed=9, lengths=(2, 2))).mean()
    assert after > before + 0.3
