"""Growth is told as the power it follows, and kept with its picture."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from eddi_benchmarks.speed import growth
from eddi_benchmarks.speed.growth import Growth


@pytest.mark.parametrize("power", [0.0, 1.0, 1.7, -1.0])
def test_the_exponent_is_the_power_of_the_size(power):
    sizes = [10.0, 20.0, 40.0, 80.0]
    found = Growth("rows", "seconds", sizes, [3.0 * size**power for size in sizes])
    assert found.exponent == pytest.approx(power, abs=1e-9)


def test_what_a_small_size_costs_at_least_does_not_hide_the_growth():
    sizes = [1.0, 2.0, 4.0, 1_000.0, 2_000.0, 4_000.0]
    found = Growth("rows", "seconds", sizes, [max(100.0, size) for size in sizes])
    assert found.exponent == pytest.approx(1.0)


def test_two_sizes_suffice():
    assert Growth("workers", "seconds", [1.0, 2.0], [8.0, 4.0]).exponent == pytest.approx(-1.0)


def test_everything_measured_is_kept_and_drawn(tmp_path, monkeypatch):
    made = [Growth("rows", "s", [1.0, 2.0], [1.0, 2.0]), Growth("draws", "s", [1.0, 2.0], [1.0, 1.1])]
    monkeypatch.setattr(growth, "_measured", lambda _: iter(made))
    assert growth.run(tmp_path, quick=True) == made
    kept = json.loads((tmp_path / "growth.json").read_text())
    assert [each["exponent"] for each in kept["growth"]] == [each.exponent for each in made]
    assert kept["circumstances"]["machine"]
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert growth.as_table(made).row_count == 2


def test_made_up_rows_are_written_a_row_group_at_a_time(tmp_path):
    growth.write_rows(tmp_path / "rows.parquet", 250, 3, at_once=100)
    file = pq.ParquetFile(tmp_path / "rows.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(3)] == [100, 100, 50]
    assert np.isfinite(file.read().to_pandas()).all().all()


def test_seconds_are_measured_on_a_small_scale():
    assert growth._least_seconds(growth._reward_draws(2)) > 0
