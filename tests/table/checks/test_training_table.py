"""Warnings about few rows, rare classes, leakage and duplicates, and none without a reason."""

import numpy as np

from eddi.table.checks.training_table import find_training_warnings
from eddi.table.schema import Schema
from eddi.table.variable import Variable

SCHEMA = Schema(
    (
        Variable("x", "real"),
        Variable("z", "real"),
        Variable("ill", "binary", ("no", "yes")),
        Variable("copy", "binary", (0, 1)),
    )
)


def draw_numbers(n_rows=200, seed=0):
    """Rows without a problem, except that the last column is missing [rows, variables]."""
    random = np.random.default_rng(seed)
    x, z, noise = random.normal(size=(3, n_rows))
    return np.stack([x, z, x + noise > 0, np.full(n_rows, np.nan)], axis=1)


def find(numbers, target="ill", **settings):
    """The warnings as (column, kind) by message."""
    warnings = find_training_warnings(SCHEMA, numbers, [target], **settings)
    return {warning.message: (warning.column, warning.kind) for warning in warnings}


def test_a_good_table_has_no_warnings():
    assert find(draw_numbers()) == {}


def test_a_target_that_is_a_threshold_of_a_variable_is_a_leak():
    numbers = draw_numbers()
    numbers[:, 2] = numbers[:, 0] > 1.3
    ((message, found),) = find(numbers).items()
    assert found == ("x", "leak")
    assert message.startswith("Explains 100% of 'ill' on its own. If it is only known afterwards")


def test_a_copy_of_the_target_is_named_as_one():
    numbers = draw_numbers()
    numbers[:, 3] = numbers[:, 2]
    assert find(numbers) == {"Holds the same values as 'ill'. Leave it out.": ("copy", "leak")}


def test_rare_classes_are_reported_with_their_number_of_rows():
    numbers = draw_numbers()
    numbers[:, 2] = np.arange(200) < 4
    ((message, found),) = find(numbers).items()
    assert found == ("ill", "classes")
    assert "fewer than 10 rows: yes (4)" in message


def test_few_rows_are_reported():
    assert find(draw_numbers(60)) == {
        "The table has only 60 rows. Expect wide intervals.": (None, "rows")
    }
    assert find(draw_numbers(60), n_rows=5000) == {}


def test_repeated_rows_are_reported_unless_they_may_be_equal_by_chance():
    numbers = draw_numbers()
    numbers[50:60] = numbers[:10]
    ((message, found),) = find(numbers).items()
    assert found == (None, "rows")
    assert message.startswith("10 of 200 rows repeat another row exactly")
    numbers[:, :2] = np.nan
    assert find(numbers) == {}
