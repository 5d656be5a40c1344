"""Information is computed in nats and shown in bits."""

import math

import pytest

from eddi.reward.units import format_bits, to_bits


def test_the_answer_to_an_even_question_is_one_bit():
    assert to_bits(math.log(2)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("nats", "text"),
    [(math.log(2), "1.00 bits"), (0.25, "0.36 bits"), (-1e-9, "0.00 bits"), (-0.01, "-0.01 bits")],
)
def test_information_is_formatted_in_bits(nats, text):
    assert format_bits(nats) == text


def test_the_number_of_digits_can_be_chosen():
    assert format_bits(0.25, n_digits=3) == "0.361 bits"
