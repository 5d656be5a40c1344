"""Exact information of small networks, and how rewards are held against it."""

import importlib.util
import json
import math
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau

from eddi.errors import MissingExtraError
from eddi_benchmarks.data import exact_network
from eddi_benchmarks.data.exact_network import Conditional, ExactNetwork, NetworkError
from eddi_benchmarks.harness.experiment import Outcome, experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.quality import networks

YES_NO = ("no", "yes")
BIF = """network unknown {
}
variable Rain {
  type discrete [ 2 ] { no, yes };
}
variable Ground {
  type discrete [ 3 ] { dry, damp, wet };
}
probability ( Rain ) {
  table 0.75, 0.25;
}
probability ( Ground | Rain ) {
  (no) 0.8, 0.15, 0.05;
  (yes) 0.1, 0.3, 0.6;
}
"""
SETTINGS = {
    "recipe": "default",
    "seed": 0,
    "n_rows": 600,
    "max_steps": 150,
    "n_states": 30,
    "n_draws": 50,
}


@pytest.fixture(scope="module")
def collider():
    """Two fair coins, and whether they differ: each tells of the other only with the third."""
    levels = dict.fromkeys(("first", "second", "differ"), YES_NO)
    half, differ = np.array([0.5, 0.5]), np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], dtype=float)
    return ExactNetwork.of(
        levels,
        [
            Conditional("differ", ("first", "second"), differ),
            Conditional("first", (), half),
            Conditional("second", (), half),
        ],
    )


@pytest.fixture(scope="module")
def illness():
    """One illness behind a sure test, a poor one, a habit, and a coin that has nothing to do with it."""

    def given(parent, if_no, if_yes):
        return (parent,), np.array([[1 - if_no, 1 - if_yes], [if_no, if_yes]])

    levels = dict.fromkeys(("habit", "ill", "sure", "poor", "coin"), YES_NO)
    return ExactNetwork.of(
        levels,
        [
            Conditional("habit", (), np.array([0.5, 0.5])),
            Conditional("ill", *given("habit", 0.2, 0.6)),
            Conditional("sure", *given("ill", 0.05, 0.95)),
            Conditional("poor", *given("ill", 0.4, 0.6)),
            Conditional("coin", (), np.array([0.5, 0.5])),
        ],
    )


def test_a_symmetric_noisy_copy_tells_what_a_hand_computes():
    flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    network = ExactNetwork.of(
        {"x": YES_NO, "copy": YES_NO},
        [Conditional("x", (), np.array([0.5, 0.5])), Conditional("copy", ("x",), flip)],
    )
    by_hand = math.log(2) + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)
    assert network.information(0, {}) == pytest.approx([0, by_hand], abs=1e-12)
    assert network.posterior(0, {1: 1}) == pytest.approx([0.1, 0.9])


def test_two_causes_tell_of_each_other_only_once_their_effect_is_known(collider):
    assert collider.information(0, {}) == pytest.approx([0, 0, 0], abs=1e-12)
    assert collider.information(0, {2: 1}) == pytest.approx([0, math.log(2), 0], abs=1e-12)
    assert collider.posterior(0, {1: 0, 2: 1}) == pytest.approx([0, 1])


def test_rows_come_as_often_as_the_joint_says(illness):
    rows = illness.rows(40_000, np.random.default_rng(0))
    counts = np.zeros(illness.joint.shape)
    np.add.at(counts, tuple(rows.T), 1)
    assert counts / len(rows) == pytest.approx(illness.joint, abs=0.01)


def test_what_cannot_happen_is_refused(collider):
    with pytest.raises(NetworkError, match="cannot happen"):
        collider.information(0, {0: 1, 1: 1, 2: 1})


def test_chances_that_do_not_sum_to_one_are_refused():
    with pytest.raises(NetworkError, match="'x' do not sum to 1"):
        Conditional("x", (), np.array([0.5, 0.6]))


def test_a_variable_without_chances_is_refused():
    with pytest.raises(NetworkError, match="x, y needs one table"):
        ExactNetwork.of({"x": YES_NO, "y": YES_NO}, [Conditional("x", (), np.array([0.5, 0.5]))])


def test_an_unknown_network_is_named_with_those_there_are():
    with pytest.raises(NetworkError, match=r"no network 'asja'\. There are asia, cancer"):
        exact_network.published("asja")


def test_without_pgmpy_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    monkeypatch.setitem(sys.modules, "pgmpy.readwrite", None)
    with pytest.raises(MissingExtraError, match=r"eddi-ml\[networks\]"):
        exact_network.published("asia")


@pytest.mark.skipif(importlib.util.find_spec("pgmpy") is None, reason="pgmpy is not installed")
class TestReading:
    def test_a_text_gives_levels_in_its_order_and_the_joint(self):
        network = exact_network.from_bif(BIF)
        assert network.levels == {"Rain": YES_NO, "Ground": ("dry", "damp", "wet")}
        joint = [[0.6, 0.1125, 0.0375], [0.025, 0.075, 0.15]]
        assert network.joint == pytest.approx(np.array(joint))

    def test_asia_is_that_of_its_authors(self):
        network = exact_network.published("asia")
        place = network.names.index
        # Lauritzen and Spiegelhalter (1988): smokers have lung cancer ten times as often.
        assert network.posterior(place("lung"), {place("smoke"): 0})[0] == pytest.approx(0.1)
        assert network.posterior(place("lung"), {place("smoke"): 1})[0] == pytest.approx(0.01)

    def test_sachs_has_three_levels_of_eleven_proteins(self):
        network = exact_network.published("sachs")
        assert network.joint.shape == (3,) * 11
        assert networks.TARGETS["sachs"] in network.names


def test_every_published_network_has_a_target():
    assert set(networks.TARGETS) == set(exact_network.PUBLISHED)


def test_states_leave_a_choice_and_never_show_the_target(illness):
    states = networks.draw_states(illness, 1, 60, np.random.default_rng(0))
    n_open = [len(state.opened) for state in states]
    assert (min(n_open), max(n_open)) == (2, 4)
    for state in states:
        told = {place: int(level) for place, level in enumerate(state.row) if level == level}
        assert 1 not in told
        assert set(told) | set(state.opened.tolist()) == {0, 2, 3, 4}
        assert state.information == pytest.approx(illness.information(1, told)[state.opened])
        assert np.ptp(state.information) > networks.TOLD_APART


def test_a_target_that_nothing_tells_about_is_refused(illness):
    with pytest.raises(NetworkError, match=r"only 0 of 5 states .* 'coin'"):
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


def test_choices_are_told_by_hits_and_nats_given_away():
    exact = [np.array([0.4, 0.1]), np.array([0.0, 0.2, 0.2])]
    found = networks.choices(exact, [np.array([1.0, 2.0]), np.array([0.0, 1.0, 3.0])])
    assert found == pytest.approx({"tau": 0, "hit": 0.5, "regret": 0.15})
    expected = {"tau": 0, "hit": (1 / 2 + 2 / 3) / 2, "regret": (0.15 + 0.2 / 3) / 2}
    assert networks.random_choices(exact) == pytest.approx(expected)


def test_the_divergence_of_a_prediction_is_from_the_exact_posterior(illness):
    states = networks.draw_states(illness, 1, 4, np.random.default_rng(0))
    exactly = np.stack([state.posterior for state in states])
    assert networks.calibration(illness, 1, states, exactly)["ours"] == pytest.approx(0, abs=1e-12)
    even = networks.calibration(illness, 1, states, np.full((4, 2), 0.5))["ours"]
    assert even == pytest.approx(np.mean(np.log(2) + (exactly * np.log(exactly)).sum(1)))
    assert math.isfinite(networks.calibration(illness, 1, states, np.tile([1.0, 0.0], (4, 1)))["ours"])


@pytest.fixture(scope="module")
def outcomes(illness):
    found = []
    for recipe in ("default", "paper"):
        settings = SETTINGS | {"network": "illness", "recipe": recipe}
        figures = json.loads(json.dumps(networks.play_network(illness, "ill", settings)))
        found.append(Outcome(f"illness-{recipe}-0", settings, figures, {}))
    return found


def test_a_short_run_already_finds_the_sure_test(outcomes):
    figures = outcomes[0].figures
    assert figures["choices"]["own"]["tau"] > 0.3
    assert figures["choices"]["reward"]["regret"] < 0.7 * figures["choices"]["random"]["regret"]
    assert figures["kl"]["ours"] < figures["kl"]["marginal"]


def test_a_run_keeps_what_it_compared(outcomes):
    figures = outcomes[0].figures
    assert [len(row) for row in figures["exact"]] == [len(row) for row in figures["rewards"]]
    assert len(figures["exact"]) == figures["n_states"] == 30


def test_the_page_has_two_tables_and_a_picture(outcomes, tmp_path):
    (section,) = experiment("networks").sections(outcomes, tmp_path)
    choices, predictions = section.grids
    assert [row[:3] for row in choices.rows] == [("illness", "ill", r) for r in ("default", "paper")]
    regrets = [outcomes[0].figures["choices"][who]["regret"] for who in ("reward", "own", "random")]
    assert choices.rows[0][-3:] == tuple(f"{regret:.4f}" for regret in regrets)
    assert (0, len(choices.columns) - 3 + int(np.argmin(regrets))) in choices.best
    assert {len(row) for row in choices.rows} == {len(choices.columns)}
    assert {len(row) for row in predictions.rows} == {len(predictions.columns)}
    assert section.pictures[0].path.stat().st_size > 10_000


def test_a_model_that_takes_levels_for_numbers_has_no_own_information(outcomes, tmp_path):
    figures = outcomes[0].figures
    without = {name: each for name, each in figures["choices"].items() if name != "own"}
    outcome = Outcome("one", outcomes[0].settings, figures | {"choices": without}, {})
    (section,) = experiment("networks").sections([outcome], tmp_path)
    assert section.grids[0].rows[0][5] == "-"


def test_nothing_finished_is_no_page(tmp_path):
    assert experiment("networks").sections([], tmp_path) == []


def test_the_suite_plays_networks_that_have_targets():
    for quick in (False, True):
        suite = Suite.load("networks", quick=quick)
        assert {run.settings["network"] for run in suite.runs} <= set(networks.TARGETS)
        assert set(suite.runs[0].settings) == {*SETTINGS, "network"}
    assert len(Suite.load("networks").runs) == 30
