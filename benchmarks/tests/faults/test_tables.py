"""A seeded part of the hostile tables: all are rejected with a short message, or read."""

from random import Random

import pytest

from eddi.table import formats
from eddi_benchmarks.faults import tables
from eddi_benchmarks.faults.hostile_tables import FORMATS, damage_file, make_valid_files


@pytest.fixture(scope="module")
def files():
    return make_valid_files()


def test_hostile_tables_are_handled():
    outcomes = tables.run(14, seed=3, with_uploads=False)
    assert outcomes.failures == []
    assert sum(counter.total() for counter in outcomes.counts.values()) == 14


def test_hostile_uploads_are_handled():
    outcomes = tables.run(2, seed=4)
    assert outcomes.failures == []
    assert sum(counter.total() for kind, counter in outcomes.counts.items() if "upload" in kind) == 2


@pytest.mark.parametrize("name", FORMATS)
def test_the_files_that_are_damaged_are_valid(files, name, tmp_path):
    path = tmp_path / f"t.{name}"
    path.write_bytes(files[name])
    assert formats.read(path).num_columns == 4


def test_damage_is_determined_by_its_seed(files):
    first, second = (damage_file(files, Random(1)) for _ in range(2))  # noqa: S311
    assert first == second
