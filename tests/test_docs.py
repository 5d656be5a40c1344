"""The examples in the documentation work as printed."""

import doctest
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_example_of_batches_runs():
    results = doctest.testfile(str(DOCS / "batches.md"), module_relative=False)
    assert results.attempted > 10
    assert results.failed == 0
