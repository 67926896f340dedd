"""The fuzz in short, and that it finds what is planted."""

import re

import fuzz
import pytest
import torch

from transformer_lib import attention, batching, corpus, decoding, losses, training, transformer

TRIALS = 400


@pytest.mark.parametrize("tenth", range(10))
def test_every_property_holds_of_random_inputs(tenth):
    for number in range(tenth, TRIALS, 10):
        fuzz.trial(number)


def test_every_property_is_tried():
    tried = {fuzz.random.Random(number).choice(list(fuzz.PROPERTIES)) for number in range(TRIALS)}
    assert tried == set(fuzz.PROPERTIES)


def off_by_one(mask, position, count, right=transformer.mask_row):
    return right(mask, max(0, position - 1), count)


def unmasked(scores, mask=None):
    return scores.softmax(dim=-1)


def with_pad(logits, targets, smoothing, pad_id=0):
    return torch.nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing)


FAULTS = {
    "a_step_is_a_row_of_the_whole": (transformer, "mask_row", off_by_one),
    "attention_is_the_formula_heard_or_not": (attention, "masked_softmax", unmasked),
    "the_loss_is_torchs_against_smoothed_targets": (
        losses,
        "label_smoothed_cross_entropy",
        with_pad,
    ),
    "a_sentence_is_decoded_as_if_alone_and_a_beam_of_one_is_greedy": (
        decoding,
        "_never",
        lambda device, ids: torch.tensor([corpus.EOS_ID]),
    ),
    "batches_hold_every_sentence_once_and_no_more_than_they_may": (
        batching,
        "shift_right",
        lambda tgt_out: tgt_out,
    ),
    "tokens_survive_being_written_out": (
        corpus,
        "detokenize",
        lambda tokens, language: "".join(tokens),
    ),
    "a_run_that_was_stopped_anywhere_goes_on_bit_for_bit": (
        training.torch,
        "set_rng_state",
        lambda state: None,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_its_trial_can_be_repeated(name, monkeypatch, capsys):
    where, what, wrong = FAULTS[name]
    with monkeypatch.context() as patch:
        patch.setattr(where, what, wrong)
        assert fuzz.main(["--trials", "60", "--seed", "0", "--only", name]) == 1
        said = capsys.readouterr()
        (number, *_) = re.findall(rf"--repeat (\d+) --only {name}", said.out + said.err)
        with pytest.raises((AssertionError, ValueError)):
            fuzz.main(["--repeat", number, "--only", name])
    assert fuzz.main(["--repeat", number, "--only", name]) == 0
