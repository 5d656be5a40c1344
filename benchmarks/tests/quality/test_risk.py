"""The benchmark of promises counts rightly."""

import io

import numpy as np
from rich.console import Console

from eddi.interview.risk_control import Courses
from eddi_benchmarks.quality import risk


def courses(n_rows, wrong_share, seed=0):
    """Two steps: before the question half are wrong and the belief unsure; then few are wrong."""
    random = np.random.default_rng(seed)
    wrong = np.stack(
        [random.uniform(size=n_rows) < 0.5, random.uniform(size=n_rows) < wrong_share], axis=1
    )
    sure = np.tile([0.6, 0.99], (n_rows, 1))
    return Courses(sure, wrong, np.tile([0, 1], (n_rows, 1)))


def test_a_risk_that_is_far_below_is_promised_and_kept():
    kept = risk.tried("made up", [courses(600, 0.005), courses(600, 0.005, seed=1)], 20, 0.9)
    assert (kept.n_certified, kept.n_above, kept.n_broken, kept.n_rows) == (20, 0, 0, 300)
    assert kept.wrong < 0.02
    assert (kept.asked, kept.asked_of_all) == (1.0, 1.0)


def test_a_risk_that_is_far_above_is_not_promised():
    kept = risk.tried("made up", [courses(600, 0.2)], 20, 0.9)
    assert (kept.n_certified, kept.n_above, kept.n_broken) == (0, 0, 0)
    assert kept.wrong is None


def test_a_broken_promise_is_counted():
    """A risk just above: whatever luck certifies breaks the promise, and all rows show it."""
    made = courses(600, 0.0)
    made.wrong[:31, 1] = True  # 31 of 600 are more than 5%
    kept = risk.tried("made up", [made], 300, 0.5)
    assert kept.n_broken > 0
    assert kept.n_above == kept.n_certified  # what luck spared one half is in the other


def test_the_table_has_a_line_for_each():
    found = [risk.tried("made up", [courses(200, share)], 5, 0.9) for share in (0.0, 0.5)]
    out = io.StringIO()
    Console(file=out, width=120).print(risk.as_table(found))
    assert out.getvalue().count("made up") == 2
