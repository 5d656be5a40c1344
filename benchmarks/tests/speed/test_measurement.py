"""Measurements are stored and printed with their goals."""

from eddi_benchmarks.speed.measurement import (
    Measurement,
    as_table,
    median_cpu_seconds,
    to_document,
)

MEASUREMENTS = [Measurement("one step", 1.23456789, "ms", "< 2"), Measurement("ratio", 3.0, "")]


def test_the_document_has_the_keys_of_earlier_results():
    document = to_document(MEASUREMENTS)
    assert document["figures"][0] == {
        "what": "one step",
        "value": 1.23456789,
        "unit": "ms",
        "wanted": "< 2",
    }
    assert document["circumstances"]["machine"]


def test_a_table_shows_values_next_to_goals():
    table = as_table("Speed", MEASUREMENTS)
    cells = [list(column.cells) for column in table.columns]
    assert cells == [["one step", "ratio"], ["1.235", "3"], ["ms", ""], ["< 2", ""]]


def test_the_first_execution_is_not_measured():
    calls = []
    assert median_cpu_seconds(lambda: calls.append(1), 3) >= 0
    assert len(calls) == 4
