"""Rewards compared with the exact information of small networks."""

import json
import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from eddi_benchmarks.data import exact_network
from eddi_benchmarks.data.exact_network import NetworkError
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.quality import networks
from eddi_benchmarks.quality.networks_report import report_sections

SETTINGS = {
    "recipe": "default",
    "seed": 0,
    "n_rows": 600,
    "max_steps": 150,
    "n_states": 30,
    "n_draws": 50,
}


def test_every_published_network_has_a_target():
    assert set(networks.TARGETS) == set(exact_network.PUBLISHED)


def test_evidence_states_have_open_questions_and_never_observe_the_target(illness):
    states = networks.draw_states(illness, 1, 60, np.random.default_rng(0))
    n_open = [len(state.open_questions) for state in states]
    assert (min(n_open), max(n_open)) == (2, 4)
    for state in states:
        observed = {i: int(level) for i, level in enumerate(state.row) if level == level}
        assert 1 not in observed
        assert set(observed) | set(state.open_questions.tolist()) == {0, 2, 3, 4}
        expected = illness.information(1, observed)[state.open_questions]
        assert state.information == pytest.approx(expected)
        assert np.ptp(state.information) > networks.TIE


def test_a_target_that_no_question_is_informative_about_is_rejected(illness):
    with pytest.raises(NetworkError, match=r"only 0 of 5 evidence states .* 'coin'"):
        networks.draw_states(illness, 4, 5, np.random.default_rng(0))


def test_without_ties_the_rank_correlation_is_kendalls():
    exact, scores = np.array([0.3, 0.1, 0.2, 0.05]), np.array([3.0, 2.0, 1.0, -1.0])
    expected = kendalltau(exact, scores).statistic
    assert networks.rank_correlation(exact, scores) == pytest.approx(expected)
    assert expected == pytest.approx(2 / 3)


def test_the_order_of_equally_good_questions_does_not_matter():
    exact = np.array([0.3, 0.0, 0.0])
    assert networks.rank_correlation(exact, np.array([1.0, 0.5, -0.5])) == 1
    assert networks.rank_correlation(exact, np.array([-1.0, 0.5, -0.5])) == -1


def test_choices_are_measured_by_rank_correlation_hits_and_regret():
    exact = [np.array([0.4, 0.1]), np.array([0.0, 0.2, 0.2])]
    scores = [np.array([1.0, 2.0]), np.array([0.0, 1.0, 3.0])]
    quality = networks.choice_quality(exact, scores)
    assert quality == pytest.approx({"tau": 0, "hit": 0.5, "regret": 0.15})
    expected = {"tau": 0, "hit": (1 / 2 + 2 / 3) / 2, "regret": (0.15 + 0.2 / 3) / 2}
    assert networks.random_choice_quality(exact) == pytest.approx(expected)


def test_the_divergence_of_a_prediction_is_from_the_exact_posterior(illness):
    states = networks.draw_states(illness, 1, 4, np.random.default_rng(0))

    def divergence(predictions):
        return networks.prediction_divergence(illness, 1, states, predictions)["ours"]

    exact = np.stack([state.posterior for state in states])
    assert divergence(exact) == pytest.approx(0, abs=1e-12)
    expected = np.mean(np.log(2) + (exact * np.log(exact)).sum(1))
    assert divergence(np.full((4, 2), 0.5)) == pytest.approx(expected)
    assert math.isfinite(divergence(np.tile([1.0, 0.0], (4, 1))))


@pytest.fixture(scope="module")
def results(illness):
    results = []
    for recipe in ("default", "paper"):
        settings = SETTINGS | {"network": "illness", "recipe": recipe}
        measurements = networks.run_on_network(illness, "ill", settings)
        stored = json.loads(json.dumps(measurements))
        results.append(RunResult(f"illness-{recipe}-0", settings, stored, {}))
    return results


def test_after_short_training_choices_are_better_than_random(results):
    measurements = results[0].measurements
    choices = measurements["choices"]
    assert choices["own"]["tau"] > 0.3
    assert choices["reward"]["regret"] < 0.7 * choices["random"]["regret"]
    assert measurements["kl"]["ours"] < measurements["kl"]["marginal"]


def test_a_run_stores_the_exact_information_and_the_rewards(results):
    measurements = results[0].measurements
    lengths = ([len(row) for row in measurements[key]] for key in ("exact", "rewards"))
    assert len({tuple(of_key) for of_key in lengths}) == 1
    assert len(measurements["exact"]) == measurements["n_states"] == 30


def test_the_report_has_two_tables_and_a_figure(results, tmp_path):
    (section,) = report_sections(results, tmp_path)
    choices, predictions = section.tables
    assert [row[:3] for row in choices.rows] == [("illness", "ill", r) for r in ("default", "paper")]
    quality = results[0].measurements["choices"]
    regrets = [quality[score]["regret"] for score in ("reward", "own", "random")]
    assert choices.rows[0][-3:] == tuple(f"{regret:.4f}" for regret in regrets)
    assert (0, len(choices.columns) - 3 + int(np.argmin(regrets))) in choices.best
    assert {len(row) for row in choices.rows} == {len(choices.columns)}
    assert {len(row) for row in predictions.rows} == {len(predictions.columns)}
    assert section.figures[0].path.stat().st_size > 10_000


def test_a_model_that_treats_levels_as_numbers_has_no_own_information(results, tmp_path):
    measurements = results[0].measurements
    choices = {name: value for name, value in measurements["choices"].items() if name != "own"}
    result = RunResult("one", results[0].settings, measurements | {"choices": choices}, {})
    (section,) = report_sections([result], tmp_path)
    assert section.tables[0].rows[0][5] == "-"


def test_a_report_without_results_is_empty(tmp_path):
    assert report_sections([], tmp_path) == []


def test_the_suite_uses_networks_with_targets():
    for quick in (False, True):
        suite = Suite.load("networks", quick=quick)
        assert {run.settings["network"] for run in suite.runs} <= set(networks.TARGETS)
        assert set(suite.runs[0].settings) == {*SETTINGS, "network"}
    assert len(Suite.load("networks").runs) == 30
