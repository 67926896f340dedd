"""Kinds of mistake: each rule on a translation that a reader would sort so."""

import pytest

from transformer_lib.lab.wrong_translations import KINDS, kind_of_mistake, stems

STATION = "Notre sœur est allée à la gare."
SAID = {
    "Notre sœur est allée à la gare.": "right",
    "notre sœur est allée à la gare .": "right",
    "Notre sœur est est allée à la gare.": "repetition",
    "Notre sœur est allée est allée à la gare.": "repetition",
    "Notre sœur est allé à la gare.": "ending or form",
    "Notre sœur à la gare est allée.": "order",
    "Notre sœur est allée.": "dropped word",
    "Notre sœur est allée hier à la gare.": "added word",
    "Notre sœur est allée à la plage.": "wrong word",
    "Notre frère est parti à la plage.": "several",
    "": "dropped word",
}


@pytest.mark.parametrize(("said", "kind"), SAID.items())
def test_a_translation_is_of_the_kind_that_a_reader_calls_it(said, kind):
    assert kind_of_mistake(said, STATION) == kind


def test_every_kind_is_named():
    assert set(SAID.values()) == set(KINDS)


def test_a_word_and_its_forms_have_one_stem():
    assert stems("mange") == stems("mangera")
    assert stems("Elles sont allées au grand parc.") == stems("Elle est allé à le grande parcs.")
    assert stems("L'ami du roi") == stems("la amie de le roi")


def test_letters_are_no_language():
    """What the lesson says of the rules: they also join what does not belong together, and part what does."""
    assert stems("table") == stems("tableau")
    assert stems("est") != stems("était")


def test_what_the_reference_repeats_as_well_is_no_repetition():
    assert kind_of_mistake("Nous nous sommes levé.", "Nous nous sommes levés.") == "ending or form"
    assert kind_of_mistake("Nous nous nous lavons.", "Nous lavons.") == "repetition"


def test_one_and_several_of_a_thing_are_one_word():
    assert kind_of_mistake("J'ai un livre.", "J'ai des livres.") == "ending or form"
