"""Tables of ranks and paired tests."""

import numpy as np

from eddi_benchmarks.paper.comparison import ENCODERS
from eddi_benchmarks.paper.comparison_tables import (
    rank_table,
    reference_test_table,
    strategy_test_table,
)

PAPER = {("eddi", "zi"): 1.25, ("rand", "zi"): 2.0, ("eddi", "pn"): 3.0, ("rand", "pn"): 4.0}
ROWS = np.linspace(1, 2, 40)


def areas_with_saving(saving=0.0):
    """Areas of three strategies; those of EDDI are smaller by ``saving``."""
    return {"eddi": (ROWS - saving).tolist(), "rand": ROWS.tolist(), "sing": ROWS.tolist()}


def test_the_rank_table_shows_ours_the_papers_and_the_difference(comparison_results):
    table = rank_table(comparison_results, "rmse", paper=PAPER, title="Ranks")
    assert table.columns == ("", "", "ZI", "PN")
    assert table.rows[0] == ("EDDI", "ours", "1.25 ± 0.25", "2.12 ± 0.62")
    assert table.rows[1] == ("", "paper", "1.25", "3.00")
    assert table.rows[2] == ("", "difference", "+0.00", "-0.88")
    assert table.best == {(0, 2), (1, 2)}
    assert "4 test rows (datasets: 1, repetitions: 2)." in table.note


def test_without_numbers_in_the_paper_the_rank_table_shows_only_ours(comparison_results):
    table = rank_table(comparison_results, "rmse", paper=dict.fromkeys(PAPER), title="Ranks")
    assert [row[:2] for row in table.rows] == [("EDDI", "ours"), ("Random", "ours")]


def test_a_split_counts_only_when_all_its_encoders_are_finished(comparison_results):
    table = rank_table(comparison_results[:3], "rmse", paper=PAPER, title="Ranks")
    assert table.rows[0] == ("EDDI", "ours", "1.50", "1.50")
    assert "1 of 2 splits are finished so far" in table.note


def test_without_a_finished_split_the_cells_are_empty(comparison_results):
    rank_comparison = rank_table(comparison_results[:1], "rmse", paper=PAPER, title="Ranks")
    assert rank_comparison.rows[0] == ("EDDI", "ours", "-", "-")
    tests = reference_test_table(comparison_results[:1], "rmse", title="Tests")
    assert {cell for row in tests.rows for cell in row[2:]} == {"-"}


def test_significant_wins_are_bold_and_the_reference_itself_is_left_out(make_result):
    results = [
        make_result("a", encoder, 0, areas_with_saving(0.1 * (encoder == "pnp"))) for encoder in ENCODERS
    ]
    paper = {("eddi", "zi"): "< 1e-48"}
    table = reference_test_table(results, "rmse", paper=paper, title="Tests")
    by_label = {(row[0], row[1]): row[2:] for row in table.rows}
    assert by_label["EDDI-PNP against EDDI", "p over rows"][2] == "-"
    assert float(by_label["EDDI-PNP against EDDI", "p over rows"][0]) < 1e-6
    assert table.rows[2] == ("", "saving", "+0.1000", "+0.1000", "-", "+0.1000")
    assert table.rows[3] == ("", "p in the paper", "< 1e-48", "-", "-", "-")
    assert {(2, 2), (2, 3), (2, 5)} <= table.best
    assert by_label["EDDI against Random, same encoder", "p over rows"][0] == "1.000"
    assert by_label["EDDI against Random, same encoder", "p over rows"][2] != "1.000"


def test_a_loss_is_never_bold(make_result):
    results = [make_result("a", encoder, 0, areas_with_saving(-0.1)) for encoder in ENCODERS]
    table = strategy_test_table(results, "rmse", strategies=("eddi", "rand"), title="Pairs")
    assert table.rows[2] == ("", "saving", *["-0.1000"] * 4)
    assert table.best == frozenset()
