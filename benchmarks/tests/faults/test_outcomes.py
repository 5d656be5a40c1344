"""Outcomes are counted by kind of file, and files that were not handled are listed."""

from eddi.errors import EddiError, TableError
from eddi_benchmarks.faults.limited_process import Ending
from eddi_benchmarks.faults.outcomes import Outcomes, attempt


def fail(error):
    raise error


def test_a_short_error_of_eddi_is_a_rejection():
    assert attempt(lambda: fail(TableError("no"))) == {"outcome": "rejected"}


def test_a_long_message_is_a_failure():
    error = EddiError("no")
    error.args = ("x" * 1000,)
    assert attempt(lambda: fail(error)) == {"outcome": "long message"}


def test_another_exception_is_a_failure_with_its_place():
    found = attempt(lambda: fail(KeyError("x")))
    assert found["outcome"] == "raised KeyError"
    assert found["reason"].startswith("test_outcomes.py:")


def test_numbers_that_are_not_finite_are_a_failure():
    assert attempt(lambda: True) == {"outcome": "used"}
    assert attempt(lambda: False) == {"outcome": "not finite"}


def test_counts_are_a_table():
    outcomes = Outcomes()
    outcomes.add("bytes", 0, "flip", Ending({"outcome": "rejected"}, 0, 5.0))
    outcomes.add("bytes", 1, "flip", Ending(None, 9, 7.0))
    assert outcomes.to_markdown().splitlines()[2:] == [
        "| bytes | 2 | 1 | 0 | 1 |",
        "| **all** | 2 | 1 | 0 | 1 |",
    ]
    document = outcomes.to_document()
    assert document["peak_megabytes"] == 7
    assert document["failures"][0] == {
        "kind": "bytes",
        "index": 1,
        "detail": "flip",
        "outcome": "process ended",
        "reason": "status 9",
    }
