"""Exact inference in small Bayesian networks."""

import importlib.util
import math
import sys

import numpy as np
import pytest

from eddi.errors import MissingExtraError
from eddi_benchmarks.data import exact_network
from eddi_benchmarks.data.exact_network import Conditional, ExactNetwork, NetworkError

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


@pytest.fixture(scope="module")
def collider():
    """Two fair coins, and whether they differ: one is informative about the other given the third."""
    levels = dict.fromkeys(("first", "second", "differ"), YES_NO)
    half, differ = np.array([0.5, 0.5]), np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], dtype=float)
    return ExactNetwork.from_conditionals(
        levels,
        [
            Conditional("differ", ("first", "second"), differ),
            Conditional("first", (), half),
            Conditional("second", (), half),
        ],
    )


def test_the_information_of_a_noisy_copy_equals_the_closed_form():
    flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    network = ExactNetwork.from_conditionals(
        {"x": YES_NO, "copy": YES_NO},
        [Conditional("x", (), np.array([0.5, 0.5])), Conditional("copy", ("x",), flip)],
    )
    expected = math.log(2) + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)
    assert network.information(0, {}) == pytest.approx([0, expected], abs=1e-12)
    assert network.posterior(0, {1: 1}) == pytest.approx([0.1, 0.9])


def test_two_causes_are_informative_about_each_other_only_given_their_effect(collider):
    assert collider.information(0, {}) == pytest.approx([0, 0, 0], abs=1e-12)
    assert collider.information(0, {2: 1}) == pytest.approx([0, math.log(2), 0], abs=1e-12)
    assert collider.posterior(0, {1: 0, 2: 1}) == pytest.approx([0, 1])


def test_rows_are_drawn_from_the_joint_distribution(illness):
    rows = illness.draw_rows(40_000, np.random.default_rng(0))
    counts = np.zeros(illness.joint.shape)
    np.add.at(counts, tuple(rows.T), 1)
    assert counts / len(rows) == pytest.approx(illness.joint, abs=0.01)


def test_impossible_observations_are_rejected(collider):
    with pytest.raises(NetworkError, match="have probability 0"):
        collider.information(0, {0: 1, 1: 1, 2: 1})


def test_probabilities_that_do_not_sum_to_one_are_rejected():
    with pytest.raises(NetworkError, match="'x' do not sum to 1"):
        Conditional("x", (), np.array([0.5, 0.6]))


def test_a_variable_without_a_probability_table_is_rejected():
    with pytest.raises(NetworkError, match="each of x, y needs one conditional probability table"):
        ExactNetwork.from_conditionals(
            {"x": YES_NO, "y": YES_NO}, [Conditional("x", (), np.array([0.5, 0.5]))]
        )


def test_the_error_of_an_unknown_network_lists_all():
    with pytest.raises(NetworkError, match=r"no network 'asja'\. Available networks: asia, cancer"):
        exact_network.load_published("asja")


def test_without_pgmpy_the_error_names_the_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    monkeypatch.setitem(sys.modules, "pgmpy.readwrite", None)
    with pytest.raises(MissingExtraError, match=r"eddi-benchmarks\[networks\]"):
        exact_network.load_published("asia")


@pytest.mark.skipif(importlib.util.find_spec("pgmpy") is None, reason="pgmpy is not installed")
class TestPublishedNetworks:
    def test_bif_gives_the_levels_in_order_and_the_joint_distribution(self):
        network = exact_network.from_bif(BIF)
        assert network.levels == {"Rain": YES_NO, "Ground": ("dry", "damp", "wet")}
        joint = [[0.6, 0.1125, 0.0375], [0.025, 0.075, 0.15]]
        assert network.joint == pytest.approx(np.array(joint))

    def test_asia_has_the_probabilities_of_its_authors(self):
        network = exact_network.load_published("asia")
        index = network.names.index
        # Lauritzen and Spiegelhalter (1988): smokers have lung cancer ten times as often.
        assert network.posterior(index("lung"), {index("smoke"): 0})[0] == pytest.approx(0.1)
        assert network.posterior(index("lung"), {index("smoke"): 1})[0] == pytest.approx(0.01)

    def test_sachs_has_eleven_proteins_with_three_levels(self):
        assert exact_network.load_published("sachs").joint.shape == (3,) * 11
