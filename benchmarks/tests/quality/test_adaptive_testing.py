"""The suite on adaptive testing: scores, methods and constraints on simulated people."""

import numpy as np
import pandas as pd
import pytest

from eddi.strategy import Exposure, FisherInformation, Information
from eddi_benchmarks.data.personality import N_LEVELS, SCALES, read_items
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.quality import adaptive_testing
from eddi_benchmarks.quality.adaptive_testing_report import report_sections

SETTINGS = {"seed": 0, "n_steps": 6, "length": 6, "max_rate": 0.35}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A file in the format of psych/bfi, with answers that depend on a trait per scale."""
    random, columns = np.random.default_rng(0), {}
    for items in SCALES.values():
        trait = random.standard_normal(300)
        for item in items:
            answer = np.clip(np.round(3.5 + 1.2 * trait + random.standard_normal(300)), 1, N_LEVELS)
            columns[item.lstrip("-")] = N_LEVELS + 1 - answer if item.startswith("-") else answer
    folder = tmp_path_factory.mktemp("bfi")
    pd.DataFrame(columns).astype(int).to_csv(folder / "data.csv", index=False)
    return read_items(folder).to_pandas()


@pytest.fixture(scope="module")
def bank(people):
    return adaptive_testing.calibrate_bank(people[:200])


def test_a_score_is_the_mean_of_its_keyed_items(people):
    person = people.iloc[0]
    keyed = [N_LEVELS + 1 - person["A1"], *(person[f"A{n}"] for n in range(2, 6))]
    assert person["agreeableness"] == pytest.approx(np.mean(keyed))


def test_a_calibrated_item_bank_predicts_scores_better_with_every_few_items(people, bank):
    measured = adaptive_testing.measure(bank, Information(), None, people[200:], SETTINGS)
    assert measured["correlation"][0] < measured["correlation"][2] < measured["correlation"][5]
    assert measured["correlation"][5] > 0.6


def test_constraints_limit_exposure_and_balance_scales(people, bank):
    methods = adaptive_testing.make_methods(bank, bank, people[:50], {**SETTINGS, "n_order_rows": 20})
    model, strategy, exposure = methods["item bank, exposure limited"]
    assert exposure == Exposure(0.35)
    measured = adaptive_testing.measure(model, strategy, exposure, people[200:], SETTINGS)
    assert measured["per_section"][:2] == [1, 2]
    assert max(measured["exposure"]) < 0.4


def test_the_report_has_correlations_exposure_and_a_figure(people, bank, tmp_path):
    measured = adaptive_testing.measure(bank, FisherInformation(), None, people[200:], SETTINGS)
    result = RunResult(
        "0", SETTINGS, {"n_train": 200, "n_test": 100, "methods": {"Fisher": measured}}, {}
    )
    section = report_sections([result], tmp_path)[0]
    assert section.tables[0].rows[0][0] == "Fisher"
    assert section.figures[0].path.exists()
