"""The report of the survival suite."""

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.survival.report import report_sections


def result(method, seed, harrell, **more):
    """A finished run; a higher concordance comes with lower errors."""
    figures = {
        "harrell": harrell,
        "uno": harrell,
        "integrated_brier": 1 - harrell,
        "calibration_error": 1 - harrell,
        **more,
    }
    return RunResult(
        f"{method}-{seed}", {"dataset": "veteran", "method": method, "seed": seed}, figures, {}
    )


def test_the_best_method_has_rank_one(tmp_path):
    results = [result("ours", seed, 0.7) for seed in (0, 1)] + [
        result("cox", seed, 0.6) for seed in (0, 1)
    ]
    (section,) = report_sections(results, tmp_path)
    ranks = section.tables[0]
    assert ranks.rows[0] == ("ours", "1.00", "1.00", "1.00", "1.00")
    assert ranks.best == {(0, 1), (0, 2), (0, 3), (0, 4)}


def test_a_split_with_missing_methods_is_left_out(tmp_path):
    results = [result("ours", 0, 0.7), result("cox", 0, 0.6), result("ours", 1, 0.1)]
    (section,) = report_sections(results, tmp_path)
    assert "1 dataset splits" in section.tables[0].note


def test_interviews_have_areas(tmp_path):
    curves = {"ours": {"concordance": [0.5, 0.7, 0.9]}, "random order": {"concordance": [0.5, 0.5, 0.9]}}
    _, section = report_sections([result("ours", 0, 0.7, interviews=curves)], tmp_path)
    assert section.tables[0].rows[0][:3] == ("veteran", "0.700", "0.633")


def test_without_results_there_is_no_report(tmp_path):
    assert report_sections([], tmp_path) == []


def test_splits_in_which_ours_is_better_are_counted(tmp_path):
    results = [result("ours", seed, 0.7) for seed in (0, 1, 2)]
    results += [result("cox", seed, harrell) for seed, harrell in enumerate((0.6, 0.7, 0.8))]
    (section,) = report_sections(results, tmp_path)
    assert section.tables[1].rows == (("penalised Cox", "1.5", "1.5", "1.5", "1.5"),)
