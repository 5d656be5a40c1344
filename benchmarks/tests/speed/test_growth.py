"""Growth of cost is fitted by a power law, and stored with its figure."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from eddi_benchmarks.speed import growth
from eddi_benchmarks.speed.growth import Growth

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("power", [0.0, 1.0, 1.7, -1.0])
def test_the_exponent_is_the_power_of_the_size(power):
    sizes = [10.0, 20.0, 40.0, 80.0]
    growth_of_rows = Growth("rows", "seconds", sizes, [3.0 * size**power for size in sizes])
    assert growth_of_rows.exponent == pytest.approx(power, abs=1e-9)


def test_the_fixed_cost_of_small_sizes_does_not_affect_the_exponent():
    sizes = [1.0, 2.0, 4.0, 1_000.0, 2_000.0, 4_000.0]
    growth_of_rows = Growth("rows", "seconds", sizes, [max(100.0, size) for size in sizes])
    assert growth_of_rows.exponent == pytest.approx(1.0)


def test_two_sizes_are_enough_for_an_exponent():
    assert Growth("workers", "seconds", [1.0, 2.0], [8.0, 4.0]).exponent == pytest.approx(-1.0)


def test_all_measurements_are_stored_and_plotted(tmp_path, monkeypatch):
    growths = [
        Growth("rows", "s", [1.0, 2.0], [1.0, 2.0]),
        Growth("draws", "s", [1.0, 2.0], [1.0, 1.1]),
    ]
    monkeypatch.setattr(growth, "_measure_all", lambda _: iter(growths))
    assert growth.run(tmp_path, quick=True) == growths
    stored = json.loads((tmp_path / "growth.json").read_text())
    assert [entry["exponent"] for entry in stored["growth"]] == [g.exponent for g in growths]
    assert stored["circumstances"]["machine"]
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert growth.as_table(growths).row_count == 2


def test_random_rows_are_written_in_row_groups(tmp_path):
    growth.write_rows(tmp_path / "rows.parquet", 250, 3, group_size=100)
    file = pq.ParquetFile(tmp_path / "rows.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(3)] == [100, 100, 50]
    assert np.isfinite(file.read().to_pandas()).all().all()


def test_seconds_are_positive():
    assert growth._min_seconds(growth._score_draws(2)) > 0
