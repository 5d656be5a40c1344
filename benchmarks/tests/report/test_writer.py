"""The files of a report, written from a results folder."""

import json

import pytest

from eddi_benchmarks.harness.run_result import RunResult, write_result
from eddi_benchmarks.harness.suite import SELF_TEST, Suite, suite_names
from eddi_benchmarks.report.writer import write_report


def store_self_test(results_folder, make_result, *, quick):
    """Store results of the self-test without running it."""
    suite = Suite.load(SELF_TEST, quick=quick)
    for run in suite.runs:
        provenance = make_result(0).provenance
        measurements = {"rmse": {"EDDI": [3.0, 1.0], "RAND": [3.0, 2.0]}}
        result = RunResult(run.name, run.settings, measurements, provenance)
        write_result(suite.folder(results_folder), result)


def test_a_report_is_a_page_and_for_each_suite_a_text_a_summary_and_figures(tmp_path, make_result):
    store_self_test(tmp_path, make_result, quick=False)
    output = tmp_path / "deep" / "report"
    files, not_run = write_report(tmp_path, output)
    assert files == [output / "report.html", output / "self-test.md", output / "self-test.json"]
    assert sorted(path.name for path in output.iterdir()) == [
        *("report.html", "self-test", "self-test.json", "self-test.md")
    ]
    assert (output / "self-test" / "curves.png").is_file()
    assert "](self-test/curves.png)" in (output / "self-test.md").read_text()
    summary = json.loads((output / "self-test.json").read_text())
    assert summary["grids"][0]["rows"][0] == ["ZI", "EDDI", "2", "3.0", "1.0", "-2.0"]
    assert not_run == [name for name in suite_names() if name != SELF_TEST]


@pytest.mark.parametrize("has_full_size", [False, True])
def test_the_quick_size_is_reported_only_if_the_full_size_was_not_run(
    tmp_path, make_result, has_full_size
):
    store_self_test(tmp_path, make_result, quick=True)
    if has_full_size:
        store_self_test(tmp_path, make_result, quick=False)
    write_report(tmp_path, tmp_path / "report")
    summary = json.loads((tmp_path / "report" / "self-test.json").read_text())
    assert summary["quick"] is not has_full_size


def test_a_report_without_results_says_that_nothing_was_run(tmp_path):
    files, _ = write_report(tmp_path, tmp_path / "report")
    assert files == [tmp_path / "report" / "report.html"]
    assert "Nothing has been run yet." in files[0].read_text()
