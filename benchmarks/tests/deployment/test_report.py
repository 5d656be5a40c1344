"""The report on deployments: errors at the same cumulative cost."""

import pytest

from eddi_benchmarks.deployment.report import report_sections


def test_the_report_compares_with_the_full_table(tmp_path, results):
    pytest.importorskip("matplotlib")
    (section,) = report_sections(results, tmp_path)
    assert section.tables[0].rows[0][2:] == ("+0.0%", "+0.0% to +0.0%", "yes")
    assert section.figures[0].path.exists()


def test_more_than_a_tenth_above_the_full_table_is_not_within_it(tmp_path, results, make_result):
    pytest.importorskip("matplotlib")
    oracles = [make_result("oracle", seed, [0.4, 0.4, 0.4 + 0.04 * seed], 2.0) for seed in (0, 1)]
    worse = [result for result in results if result.settings["approach"] != "oracle"] + oracles
    row = report_sections(worse, tmp_path)[0].tables[0].rows[0]
    assert row[2] == "+19.2%"  # the geometric mean of 1.25 and 0.5 / 0.44
    assert row[4] == "no"


def test_complete_rows_are_a_reference_point_and_not_to_be_beaten(tmp_path, results, make_result):
    pytest.importorskip("matplotlib")
    complete = [make_result("all-300", seed, [1.0, 1.0, 0.6], 10.0) for seed in (0, 1)]
    tables = report_sections(results + complete, tmp_path)[0].tables
    name = "ask everything of all 300, then train once"
    assert ("wine_red", name, "+20.0%", "+20.0% to +20.0%", "no") in tables[0].rows
    assert name not in [row[2] for row in tables[1].rows]


def test_the_report_counts_the_costs_at_which_ours_is_better(tmp_path, results):
    pytest.importorskip("matplotlib")
    table = report_sections(results, tmp_path)[0].tables[1]
    row = table.rows[0]
    assert row[:3] == ("wine_red", "ours: exploration, learning", "learning without exploration")
    # greedy has a model from cost 20 of 40 on, ours at cost 40 only
    assert row[3:6] == ("1 of 21", "20 of 21", "0 of 21")
    assert row[7] == "1.111"  # 1 / 0.9
    assert row[-1] == "no"


def test_the_questions_of_the_full_table_are_compared_with_no_exploration(
    tmp_path, results, make_result
):
    pytest.importorskip("matplotlib")
    informed = [make_result("informed", seed, [1.0, 0.45, 0.45], 2.0) for seed in (0, 1)]
    table = report_sections(results + informed, tmp_path)[0].tables[1]
    rows = [row for row in table.rows if row[1] == "learning, with the full table's questions"]
    assert [row[0] for row in rows] == ["wine_red", "all"]
    assert {row[2] for row in rows} == {"learning without exploration"}
    assert rows[0][-1] == "yes"


def test_the_report_compares_at_each_cost(tmp_path, results):
    pytest.importorskip("matplotlib")
    table = report_sections(results, tmp_path)[0].tables[4]
    assert table.columns[-1] == "100%"
    assert table.rows[0][-1].startswith("0.63 (")


def test_without_results_there_is_no_report(tmp_path):
    assert report_sections([], tmp_path) == []
