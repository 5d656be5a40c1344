"""Conclusions of the health experiments follow the numbers."""

import numpy as np

from eddi_benchmarks.paper import health
from eddi_benchmarks.paper.comparison import ENCODERS

PAPER = health.paper_table(dict.fromkeys(ENCODERS, (1.0, 2.0, 3.0)))


def make_results(make_result, best):
    """Results in which EDDI is better than the others, most of all with the encoder ``best``."""
    rows = np.linspace(1, 2, 30)
    return [
        make_result(
            "a",
            encoder,
            0,
            {
                "eddi": (rows - 0.1 - 0.5 * (encoder == best)).tolist(),
                "rand": rows.tolist(),
                "sing": rows.tolist(),
            },
        )
        for encoder in ENCODERS
    ]


def test_the_papers_table_is_mapped_by_strategy_and_encoder():
    assert PAPER["eddi", "zi"] == 1.0
    assert PAPER["sing", "pn"] == 3.0


def test_the_conclusion_states_the_best_combination_and_the_comparison_with_random(make_result):
    text = health.conclusion(make_results(make_result, "pnp"), "rmse", PAPER)
    assert "As in the paper, EDDI with PNP has the best average rank of 12 combinations." in text
    assert "for ZI, ZI-m, PNP, PN: for every encoder." in text
    text = health.conclusion(make_results(make_result, "zi"), "rmse", PAPER)
    assert "Unlike in the paper, EDDI with ZI has the best average rank (1.00)" in text
    assert "EDDI with PNP is number 2 of 12" in text
