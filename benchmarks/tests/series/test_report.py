"""The report of the suite on series."""

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.series.report import report_sections


def make_result(dataset, measures):
    policies = {
        name: {"measurements": 10.0 * (place + 1), "unrecorded": 0.1, **measures}
        for place, name in enumerate(
            ("everything recorded", "panel every 1 decisions", "ours, 2 per decision")
        )
    }
    settings = {"dataset": dataset, "seed": 0}
    peer = {"name": "a peer", **measures}
    measurements = {"n_train": 100, "n_test": 20, "peer": peer, "policies": policies}
    return RunResult("0", settings, measurements, {})


def test_each_dataset_has_a_table_and_a_figure(tmp_path):
    results = [
        make_result("physionet2012", {"auroc": 0.8, "auprc": 0.5}),
        make_result("pbcseq", {"rmse": 0.4}),
        make_result("pbcseq-survival", {"concordance": 0.8, "integrated_brier": 0.1}),
    ]
    del results[2].measurements["peer"]["integrated_brier"]  # Cox regression has no curve here
    first, second, third = report_sections(results, tmp_path)
    assert first.tables[0].columns[2:4] == ("AUROC", "AUPRC")
    assert second.tables[0].columns[2] == "RMSE"
    assert third.tables[0].columns[2:4] == ("concordance", "integrated Brier score")
    assert third.tables[0].rows[-1][:4] == ("a peer", "", "0.800", "")
    assert all(figure.path.exists() for part in (first, second, third) for figure in part.figures)
