"""Certificates: thresholds by fixed-sequence testing, keys, and JSON documents."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from eddi.model.certificate import THRESHOLDS, Certificate, CertificateKey, describe_strategy
from eddi.strategy import FixedOrder, Information, PerCost

GRID = (0.99, 0.9, 0.8, 0.5)
STRATEGY = {"type": "Information", "reward": None, "n_draws": 50, "seed": 0}


def certify(*n_wrong, n_rows=100, thresholds=GRID):
    """A certificate with these numbers of wrong decisions."""
    n_asked = tuple(map(float, range(len(n_wrong), 0, -1)))
    return Certificate(("ill",), STRATEGY, None, n_rows, thresholds, n_wrong, n_asked)


def binomial_cdf(n_wrong, n_rows, risk):
    """P(Bin(n, risk) <= n_wrong), term by term."""
    return sum(math.comb(n_rows, k) * risk**k * (1 - risk) ** (n_rows - k) for k in range(n_wrong + 1))


def lowest_threshold(certificate, risk, confidence):
    """The lowest safe threshold, tested one by one from the highest."""
    safe = None
    for threshold, n_wrong in zip(certificate.thresholds, certificate.n_wrong, strict=True):
        if binomial_cdf(n_wrong, certificate.n_rows, risk) > 1 - confidence:
            return safe
        safe = threshold
    return safe


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_threshold_is_found_by_binomial_tests_from_the_highest(risk, confidence):
    random = np.random.default_rng(0)
    for n_rows in (20, 60, 300):
        n_wrong = np.sort(random.binomial(n_rows, random.uniform(0, 2 * risk), size=4))
        certificate = certify(*n_wrong.tolist(), n_rows=n_rows)
        expected = lowest_threshold(certificate, risk, confidence)
        assert certificate.threshold(risk, confidence) == expected


def test_one_error_in_a_hundred_rows_guarantees_five_percent_and_two_errors_do_not():
    assert certify(1, 1, 2, 2).threshold(0.05, 0.9) == 0.9
    assert certify(1, 1, 1, 1).threshold(0.05, 0.9) == 0.5
    assert certify(2, 2, 2, 2).threshold(0.05, 0.9) is None


def test_thresholds_below_the_first_failed_test_are_not_considered():
    assert certify(1, 5, 0, 0).threshold(0.05, 0.9) == 0.99
    assert certify(5, 0, 0, 0).threshold(0.05, 0.9) is None


def test_45_rows_without_errors_guarantee_five_percent_and_44_do_not():
    assert certify(0, n_rows=45, thresholds=(0.9,)).threshold(0.05, 0.9) == 0.9
    assert certify(0, n_rows=44, thresholds=(0.9,)).threshold(0.05, 0.9) is None


@pytest.mark.parametrize("n_wrong", [0, 3, 99])
def test_the_smallest_risk_is_the_smallest_one_with_a_threshold(n_wrong):
    certificate = certify(n_wrong, thresholds=(0.9,))
    smallest = certificate.smallest_risk(0.9)
    assert certificate.threshold(smallest + 1e-6, 0.9) == 0.9
    assert certificate.threshold(smallest - 1e-6, 0.9) is None


def test_no_risk_can_be_guaranteed_if_all_decisions_are_wrong():
    assert certify(100, thresholds=(0.9,)).smallest_risk(0.9) == 1.0


def test_the_grid_of_thresholds_falls_from_nearly_certain_to_zero():
    assert 0.999 < THRESHOLDS[0] < 1
    assert THRESHOLDS[-1] == 0.0
    assert (np.diff(THRESHOLDS) < 0).all()


def test_a_certificate_can_be_written_as_json_and_read_again():
    certificate = certify(1, 1, 2, 2)
    again = Certificate.from_document(json.loads(json.dumps(certificate.to_document())))
    assert again == certificate
    assert again.key == certificate.key


def test_the_key_of_a_certificate_is_that_of_its_target_strategy_and_tolerance():
    key = CertificateKey.create(("ill",), Information(), None)
    assert certify(1, 1, 2, 2).key == key
    others = [
        CertificateKey.create(("well",), Information(), None),
        CertificateKey.create(("ill",), Information(seed=1), None),
        CertificateKey.create(("ill",), PerCost(Information()), None),
        CertificateKey.create(("ill",), Information(), 0.5),
    ]
    assert len({key, *others}) == 5


def test_a_strategy_is_described_by_its_class_and_settings():
    assert describe_strategy(Information()) == STRATEGY
    assert describe_strategy(PerCost(Information())) == {"type": "PerCost", "inner": STRATEGY}
    assert describe_strategy(FixedOrder(("a", "b"))) == {"type": "FixedOrder", "order": ["a", "b"]}


def test_a_strategy_that_is_not_a_dataclass_is_described_by_its_attributes():
    class Alphabetical:
        def __init__(self, descending):
            self.descending = descending

    assert describe_strategy(Alphabetical(True)) == {"type": "Alphabetical", "descending": True}
    keys = {CertificateKey.create(("ill",), Alphabetical(value), None) for value in (True, False, True)}
    assert len(keys) == 2


def test_nested_settings_are_part_of_the_key():
    @dataclass(frozen=True)
    class Vote:
        members: tuple

    first, second = (Vote((Information(), Information(seed=seed))) for seed in (1, 2))
    keys = {CertificateKey.create(("ill",), strategy, None) for strategy in (first, second)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"n_wrong": (1, 2)}, "one count per threshold"),
        ({"thresholds": (0.5, 0.8, 0.9, 0.99)}, "must fall"),
        ({"n_wrong": (1, 1, 2, 101)}, "more wrong decisions than rows"),
    ],
)
def test_a_contradictory_certificate_is_refused(entries, message):
    with pytest.raises(ValueError, match=message):
        Certificate.from_document({**certify(1, 1, 2, 2).to_document(), **entries})


def test_a_strategy_with_any_settings_can_be_described():
    class Custom:
        def __init__(self):
            self.weights = {"age": np.array([1.0, 2.0])}
            self.names = ("age",)

    described = describe_strategy(Custom())
    assert described == {"type": "Custom", "weights": {"age": "array([1., 2.])"}, "names": ["age"]}
    assert hash(CertificateKey.create(("risk",), Custom(), None))
