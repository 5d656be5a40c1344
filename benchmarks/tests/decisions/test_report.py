"""The report on the decisions suite."""

import pytest

from eddi_benchmarks.decisions.report import report_sections


@pytest.mark.slow
def test_the_report_has_areas_tests_and_a_figure_of_each_dataset(results, tmp_path):
    sections = report_sections(results, tmp_path)
    tables = {table.title: table for section in sections for table in section.tables}
    areas = tables["Classes: mean accuracy"]
    assert areas.columns[-1] == "exact, lookahead"
    assert [row[0] for row in areas.rows] == ["xor"]
    ((_, best_column),) = areas.best
    assert "exact" not in areas.columns[best_column]
    tests = tables["Gain in accuracy"]
    assert "against DIME" in tests.columns
    assert tests.rows[-1][0] == "all datasets"
    figures = [figure for section in sections for figure in section.figures]
    assert [figure.path.name for figure in figures] == ["decisions-xor.png"]
    assert figures[0].path.stat().st_size > 10_000


@pytest.mark.slow
def test_a_report_works_with_some_of_the_runs(results, tmp_path):
    assert report_sections([], tmp_path) == []
    assert report_sections(results[2:3], tmp_path)
