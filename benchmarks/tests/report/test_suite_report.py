"""The report on one suite: its progress, and its numbers as JSON."""

import json
from dataclasses import replace

from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.report.suite_report import SuiteReport


def test_progress_is_the_number_of_finished_runs(report, suite):
    assert report.progress == "2 of 3 runs"
    assert replace(report, n_finished=3).progress == "3 runs"
    quick = replace(report, suite=replace(suite, quick=True), n_finished=3)
    assert quick.progress == "3 runs, quick size"


def test_the_document_holds_the_numbers_and_their_provenance(report):
    document = json.loads(json.dumps(report.to_document()))
    assert document["suite"] == "paper-example"
    assert document["runs"] == {"finished": 2, "all": 3}
    assert document["circumstances"]["data"] == {"boston": ["ab" * 32]}
    (table,) = document["grids"]
    assert table["section"] == "Ranks"
    assert table["rows"][0][:3] == ["EDDI | first", "5.10 ± 0.02", "5.08"]
    assert table["best"] == [[0, 1]]


def test_a_report_without_figures_leaves_no_folder(suite, results, tmp_path):
    experiment = Experiment(lambda *_: {}, lambda _: (), lambda *_: [])
    SuiteReport.from_results(suite, results, experiment, tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
