"""The analysis is put into words: whether the assumption matters, and a table."""

import numpy as np
import pytest

from eddi.evaluate.sensitivity import DELTAS, Sensitivity
from eddi.service.analyst.sensitivity.sensitivity_wording import describe
from eddi.table.variable import Variable

SMOKER = Variable("smoker", "binary", levels=("no", "yes"))
AGE, WEIGHT = Variable("age", "real", low=0, high=120), Variable("weight", "real", low=0, high=300)


def make(slope: float) -> Sensitivity:
    """Two rows whose predictions grow with the assumed difference."""
    deltas = np.array(DELTAS)
    predictions = np.array([0.3, 0.5]) + slope * deltas[:, None]
    return Sensitivity("age", "smoker", deltas, 40 + 10 * deltas, predictions)


@pytest.mark.parametrize(
    ("slope", "expected"),
    [
        (0.1, "It matters: on average, the probability of “Yes” would be between 30% and 50%."),
        (0.01, "It hardly matters: on average, the probability of “Yes” would be between 39% and 41%."),
    ],
)
def test_the_verdict_states_the_range(slope: float, expected: str) -> None:
    context = describe(make(slope), SMOKER, AGE, n_rows=60, n_missing=2)
    assert context["verdict"].startswith(expected)
    assert context["count"] == "2 of 60 rows have no value of “age”."


def test_each_assumption_has_a_line() -> None:
    lines = describe(make(0.1), SMOKER, AGE, n_rows=60, n_missing=2)["lines"]
    assert [line["mean"] for line in lines] == ["30%", "35%", "40%", "45%", "50%"]
    assert [line["value"] for line in lines] == ["30", "35", "40", "45", "50"]
    assert lines[-1]["change"] == "10 points"
    assert [line["is_assumed"] for line in lines] == [False, False, True, False, False]


def test_a_quantity_is_estimated_in_its_unit() -> None:
    context = describe(make(5.0), WEIGHT, SMOKER, n_rows=60, n_missing=2)
    assert context["quantity"] == "estimate of weight"
    assert [line["value"] for line in context["lines"]] == [""] * 5
    assert context["lines"][-1]["mean"] == "5.4"
