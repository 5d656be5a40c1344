"""The check of the guarantee counts correctly."""

import io

import numpy as np
from rich.console import Console

from eddi.interview.risk_control import DecisionPaths
from eddi_benchmarks.quality import risk


def make_interviews(n_rows, error_rate, seed=0):
    """Interviews of one question: half are wrong before it, few after it."""
    random = np.random.default_rng(seed)
    wrong = np.stack(
        [random.uniform(size=n_rows) < 0.5, random.uniform(size=n_rows) < error_rate], axis=1
    )
    confidence = np.tile([0.6, 0.99], (n_rows, 1))
    return DecisionPaths(confidence, wrong, np.tile([0, 1], (n_rows, 1)))


def check(interviews, n_resplits=20, confidence=0.9):
    return risk.check_guarantee("example", interviews, n_resplits=n_resplits, confidence=confidence)


def test_an_error_rate_far_below_the_risk_is_certified_and_the_guarantee_holds():
    result = check([make_interviews(600, 0.005), make_interviews(600, 0.005, seed=1)])
    assert (result.n_certified, result.n_above, result.n_broken, result.n_rows) == (20, 0, 0, 300)
    assert result.wrong < 0.02
    assert (result.asked, result.asked_of_all) == (1.0, 1.0)


def test_an_error_rate_far_above_the_risk_is_not_certified():
    result = check([make_interviews(600, 0.2)])
    assert (result.n_certified, result.n_above, result.n_broken) == (0, 0, 0)
    assert result.wrong is None


def test_violations_of_the_guarantee_are_counted():
    """If the error rate is slightly above the risk, every certification by chance is a violation."""
    interviews = make_interviews(600, 0.0)
    interviews.is_wrong[:31, 1] = True  # 31 of 600 are more than 5%
    result = check([interviews], n_resplits=300, confidence=0.5)
    assert result.n_broken > 0
    assert result.n_above == result.n_certified  # a half with few errors leaves more to the other


def test_the_table_has_a_row_for_each_check():
    checks = [check([make_interviews(200, rate)], n_resplits=5) for rate in (0.0, 0.5)]
    out = io.StringIO()
    Console(file=out, width=140).print(risk.as_table(checks))
    assert out.getvalue().count("example") == 2
