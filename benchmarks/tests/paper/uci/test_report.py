"""The report on UCI next to the paper."""

import numpy as np
import pytest

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.uci import report


@pytest.mark.slow
def test_the_sections_show_everything_the_paper_shows(results, tmp_path):
    sections = report.report_sections(results, tmp_path)
    rank_comparison = sections[0].tables[0]
    assert rank_comparison.columns == ("", "", "ZI", "ZI-m", "PNP", "PN")
    assert rank_comparison.rows[1] == ("", "paper", "5.72", "5.54", "5.08", "5.25")
    assert rank_comparison.rows[7] == ("", "paper", "8.68", "5.50", "5.20", "5.28")
    ours = [[float(cell.split()[0]) for cell in row[2:]] for row in rank_comparison.rows[::3]]
    assert np.sum(ours) == pytest.approx(78, abs=0.07)  # the sum of 1 to 12
    lasso = next(section for section in sections if "LASSO" in section.title)
    assert lasso.tables[0].rows[1] == ("", "paper", "4.66", "4.53", "4.14", "4.24")
    p_values = ("", "p in the paper", "< 1e-4", "< 1e-6", "< 1e-24", "< 1e-19")
    assert lasso.tables[1].rows[-1] == p_values
    paths = [figure.path for section in sections for figure in section.figures]
    assert len(paths) == 8
    assert all(path.is_file() and tmp_path in path.parents for path in paths)


def shift_areas(result, shift_of):
    """The result with the areas of each strategy shifted."""
    strategies = {
        name: {**m, "auic": {"draw_rmse": [row + shift_of(name) for row in m["auic"]["draw_rmse"]]}}
        for name, m in result.measurements["strategies"].items()
    }
    return RunResult(result.run, result.settings, {"strategies": strategies}, {})


def test_the_conclusion_follows_the_numbers(results):
    better = [
        shift_areas(r, lambda s, r=r: -9 - (r.settings["set_encoder"] == "pnp") if s == "eddi" else 0)
        for r in results
    ]
    text = report.conclusion(better)
    assert (
        "EDDI-PNP has the best average rank of the twelve, 1.00 (in the paper: first with 5.08)" in text
    )
    assert "Compared with Random, EDDI is better with ZI (+" in text
    worse = [shift_areas(r, lambda s: 9 if s == "eddi" else 0) for r in results]
    text = report.conclusion(worse)
    assert "EDDI-PNP does not have the best average rank of the twelve: it is number" in text
    assert "Compared with Random, EDDI is worse with ZI (-" in text


def test_a_report_works_with_some_of_the_runs(results, tmp_path):
    assert report.report_sections([], tmp_path) == []
    sections = report.report_sections(results[:3], tmp_path)
    assert "nothing can be ranked" in sections[0].paragraphs[1]
    assert sections[0].tables[0].rows[0][2] == "-"
