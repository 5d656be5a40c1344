"""A seeded part of the mutated model files: all are rejected with a short message, or predict."""

from pathlib import Path
from random import Random

import pytest

from eddi_benchmarks.faults import model_files
from eddi_benchmarks.faults.limited_process import run_limited
from eddi_benchmarks.faults.model_mutations import MUTATIONS
from eddi_benchmarks.faults.outcomes import attempt

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"


@pytest.fixture(scope="module")
def files():
    return [(GOLDEN / f"format-7-{recipe}.eddi").read_bytes() for recipe in ("default", "paper")]


def test_mutated_files_are_handled(files):
    outcomes = model_files.run(25, seed=1, files=files)
    assert outcomes.failures == []
    assert sum(counter.total() for counter in outcomes.counts.values()) == 25
    assert sum(counter["rejected"] for counter in outcomes.counts.values()) > 10


def test_the_original_file_is_used(files, tmp_path):
    path = tmp_path / "m.eddi"
    path.write_bytes(files[0])
    ending = run_limited(lambda: attempt(lambda: model_files._use(path)), model_files.LIMITS)
    assert ending.result == {"outcome": "used"}


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_mutation_is_determined_by_its_seed(files, kind):
    first, second = (MUTATIONS[kind](files[0], Random(5))[1] for _ in range(2))  # noqa: S311
    assert first == second
