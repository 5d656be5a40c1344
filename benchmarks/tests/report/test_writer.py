"""The files of a report, from a results folder."""

import json

import pytest

from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.harness.suite import SELF_TEST, Suite, names, write_outcome
from eddi_benchmarks.report.writer import write


def finish(results, make_outcome, *, quick):
    """Pretend that the rehearsal was run."""
    suite = Suite.load(SELF_TEST, quick=quick)
    for run in suite.runs:
        facts = make_outcome(0).circumstances
        figures = {"rmse": {"EDDI": [3.0, 1.0], "RAND": [3.0, 2.0]}}
        write_outcome(suite.folder(results), Outcome(run.name, run.settings, figures, facts))


def test_a_report_is_a_page_and_a_text_a_summary_and_pictures_for_each_suite(tmp_path, make_outcome):
    finish(tmp_path, make_outcome, quick=False)
    output = tmp_path / "deep" / "report"
    files, not_run = write(tmp_path, output)
    assert files == [output / "report.html", output / "self-test.md", output / "self-test.json"]
    assert sorted(path.name for path in output.iterdir()) == [
        *("report.html", "self-test", "self-test.json", "self-test.md")
    ]
    assert (output / "self-test" / "curves.png").is_file()
    assert "](self-test/curves.png)" in (output / "self-test.md").read_text()
    summary = json.loads((output / "self-test.json").read_text())
    assert summary["grids"][0]["rows"][0] == ["ZI", "EDDI", "2", "3.0", "1.0", "-2.0"]
    assert not_run == [name for name in names() if name != SELF_TEST]


@pytest.mark.parametrize("both", [False, True])
def test_a_quick_look_is_shown_only_where_nothing_else_was_run(tmp_path, make_outcome, both):
    finish(tmp_path, make_outcome, quick=True)
    if both:
        finish(tmp_path, make_outcome, quick=False)
    write(tmp_path, tmp_path / "report")
    summary = json.loads((tmp_path / "report" / "self-test.json").read_text())
    assert summary["quick"] is not both


def test_where_nothing_was_run_the_page_says_so(tmp_path):
    files, _ = write(tmp_path, tmp_path / "report")
    assert files == [tmp_path / "report" / "report.html"]
    assert "Nothing has been run yet." in files[0].read_text()
