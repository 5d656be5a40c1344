"""Stopping with a promise: certificates, what they resolve to, and that the promise is kept."""

import copy
import math
import warnings

import numpy as np
import pytest

import eddi
from eddi import EddiWarning, Interview, Stop
from eddi.errors import StopError, TargetError
from eddi.interview.risk_control import DecisionPaths, certify, certify_own
from eddi.interview.rules import InterviewRules
from eddi.model.certificate import THRESHOLDS
from eddi.strategy import FixedOrder, Information
from eddi.strategy.stopping import AllOf, AnyOf, Sure

EASY = 0.9  # a risk that any model keeps


@pytest.fixture
def own(model):
    """The model of people with certificates of its own, so that tests do not meet in them."""
    other = copy.copy(model)
    other.certificates_ = {}
    return other


@pytest.fixture
def sealed(own):
    """The same as a file gives it: without rows."""
    own.validation_ = None
    return own


def courses(n_rows, random, n_steps=6):
    """Interviews of an overconfident belief: the chance of being right grows, and is overstated."""
    right = np.clip(random.uniform(0.4, 0.9, (n_rows, 1)) + 0.1 * np.arange(n_steps), 0, 0.99)
    sure = np.clip(right + random.uniform(-0.1, 0.2, (n_rows, n_steps)), 0, 1)
    wrong = random.uniform(size=(n_rows, 1)) > right
    return DecisionPaths(sure, wrong, np.tile(np.arange(n_steps), (n_rows, 1)))


def test_an_interview_ends_at_the_first_belief_that_is_sure_enough():
    by_hand = DecisionPaths(
        sure=np.array([[0.5, 0.95, 0.6], [0.5, 0.6, 0.7], [-np.inf, 0.9, 0.9]]),
        wrong=np.array([[True, True, False], [True, True, False], [True, False, True]]),
        n_asked=np.array([[0, 1, 2], [0, 1, 2], [0, 1, 1]]),
    )
    wrong, asked = by_hand.ends(0.9)
    assert wrong.tolist() == [True, False, False]
    assert asked.tolist() == [1, 2, 1]
    wrong, asked = by_hand.ends(None)
    assert wrong.tolist() == [False, False, True]
    assert asked.tolist() == [2, 2, 1]
    wrong, asked = by_hand.ends(0.0)
    assert asked.tolist() == [0, 0, 1]  # the third could not end while a pinned question was open


def test_a_certificate_counts_the_wrong_ends_of_every_threshold():
    played = courses(50, np.random.default_rng(0))
    found = played.certificate(("ill",), Information())
    assert found.n_rows == 50
    assert found.key == (("ill",), repr(Information()), None)
    for least, n_wrong, n_asked in zip(THRESHOLDS, found.n_wrong, found.n_asked, strict=True):
        steps = [next((k for k in range(5) if row[k] >= least), 5) for row in played.sure]
        assert n_wrong == sum(row[k] for row, k in zip(played.wrong, steps, strict=True))
        assert n_asked == pytest.approx(np.mean(steps))


def test_the_promise_is_kept_in_as_many_cases_as_it_says():
    random = np.random.default_rng(1)
    everybody = courses(100_000, random)
    risk_at = {least: everybody.ends(least)[0].mean() for least in THRESHOLDS}
    n_kept = n_promised = 0
    for _ in range(200):
        some = everybody[random.integers(100_000, size=400)]
        least = some.certificate(("ill",), Information()).least(0.1, 0.9)
        n_promised += least is not None
        n_kept += least is None or risk_at[least] <= 0.1
    assert n_promised > 190  # else there was nothing to keep
    assert n_kept >= 170  # 180 are promised; 170 or fewer come once in a hundred such tests
    assert min(risk_at.values()) < 0.06 < 0.2 < max(risk_at.values())  # stopping anywhere would not do


def test_a_risk_becomes_the_sureness_that_keeps_it(own):
    stop = Interview(own, "stage", stop=Stop(risk=EASY, after=4)).turns.stop
    (found,) = own.certificates_.values()
    assert stop == Stop(after=4) | Sure(found.least(EASY, 0.9))
    assert found.n_rows == int(own.validation_.observed[:, own.schema_.position("stage")].sum())


def test_a_risk_is_found_inside_other_rules(own):
    rule = Stop(after=3) & (Stop(budget=9) | Stop(risk=EASY))
    stop = InterviewRules(own, ("stage",), Information(), rule).stop
    (found,) = own.certificates_.values()
    inner = Stop() | Sure(found.least(EASY, 0.9))
    assert stop == AllOf((Stop(after=3), AnyOf((Stop(budget=9), inner))))


def test_an_interview_ends_once_it_is_sure_enough(own, people):
    table = people(60, seed=5)
    certify(own, table, "stage")
    (found,) = own.certificates_.values()
    least = found.least(EASY, 0.9)
    curves = eddi.simulate(own, table, "stage", stop=Stop(risk=EASY))
    judged = ~np.isnan(curves.truth)
    n_asked = (curves.order >= 0).sum(1)
    last = curves.probabilities[:, -1]
    assert ((last.max(-1) >= least) | (n_asked == n_asked.max())).all()
    place = found.thresholds.index(least)
    assert (last.argmax(-1) != curves.truth)[judged].sum() == found.n_wrong[place]
    assert n_asked[judged].mean() == pytest.approx(found.n_asked[place])


def test_a_certificate_is_made_once(own, monkeypatch):
    Interview(own, "stage", stop=Stop(risk=EASY))
    monkeypatch.setattr(DecisionPaths, "of", None)
    Interview(own, "stage", stop=Stop(risk=0.8))
    with pytest.raises(TypeError):
        Interview(own, "stage", stop=Stop(risk=EASY), strategy=FixedOrder(("age",)))


def test_a_risk_that_cannot_be_promised_is_told_and_ends_nothing(own):
    with pytest.warns(EddiWarning, match="cannot be promised with 95% confidence.* least risk"):
        turns = Interview(own, "stage", stop=Stop(risk=1e-6)).turns
    assert turns.stop == Stop()


def test_a_model_without_rows_says_how_to_certify_it(sealed):
    with pytest.raises(StopError, match=r"eddi.certify\(model, table, target='stage'\)"):
        Interview(sealed, "stage", stop=Stop(risk=0.05))
    with pytest.raises(StopError, match=r"target='age', strategy=..., within=2\)"):
        Interview(sealed, "age", strategy=FixedOrder(("weight",)), stop=Stop(risk=0.05, within=2))


def test_a_model_file_keeps_certificates_and_no_rows(own, people, tmp_path):
    found = certify(own, people(50, seed=3), "stage")
    own.save(tmp_path / "people.eddi")
    loaded = eddi.load(tmp_path / "people.eddi")
    assert loaded.validation_ is None
    assert loaded.certificates_ == {found.key: found}
    assert Interview(loaded, "stage", stop=Stop(risk=EASY)).turns.stop == (
        Stop() | Sure(found.least(EASY, 0.9))
    )


def test_fitting_anew_forgets_what_was_certified(people_schema, people):
    model = eddi.PartialVAE(people_schema, "stage", max_steps=1, random_state=0).fit(people(60, seed=0))
    certify_own(model)
    assert list(model.certificates_) == [(("stage",), repr(Information()), None)]
    assert model.fit(people(60, seed=1)).certificates_ == {}


def test_a_quantity_is_right_within_what_was_said(own, people):
    table = people(60, seed=5)
    near, far = (certify(own, table, "age", within=within) for within in (0.01, 1e6))
    assert near.n_wrong[-1] > 55 - 10
    assert far.n_wrong == (0,) * len(THRESHOLDS)
    assert far.n_asked[0] == 0  # certain from the start
    stop = Interview(own, "age", stop=Stop(risk=0.1, within=1e6)).turns.stop
    assert stop == Stop() | Sure(0.0, 1e6)


def test_a_quantity_needs_to_know_what_is_near(own):
    with pytest.raises(StopError, match="needs within for 'age'"):
        Interview(own, "age", stop=Stop(risk=0.05))
    with pytest.raises(StopError, match="within is for quantities; 'stage'"):
        Interview(own, "stage", stop=Stop(risk=0.05, within=1.0))


def test_several_targets_are_right_together(own, people):
    table = people(80, seed=6, holes=0.0)
    both = certify(own, table, ["stage", "smoker"])
    each = [certify(own, table, name) for name in ("stage", "smoker")]
    assert both.n_wrong[0] >= max(one.n_wrong[0] for one in each)
    assert both.n_wrong[0] <= sum(one.n_wrong[0] for one in each) + 5


def test_rows_without_the_target_cannot_certify(own, people):
    with pytest.raises(TargetError, match="no held-out row has a value of 'stage'"):
        certify(own, people(20, seed=3).drop(columns="stage"), "stage")


def test_what_is_always_asked_comes_first_where_something_is_promised(worded, people_schema, people):
    pinned = worded(people_schema.with_question("colour", always=True))
    pinned.certificates_ = {}
    strategy = FixedOrder(("age", "weight", "colour"))
    interview = Interview(pinned, "stage", strategy=strategy, stop=Stop(risk=EASY))
    assert interview.ask().name == "colour"
    (found,) = pinned.certificates_.values()
    assert min(found.n_asked) >= 0.5  # nobody who has a colour ends without telling it
    curves = eddi.simulate(pinned, people(40, seed=9), "stage", strategy=strategy, stop=Stop(risk=EASY))
    colours = curves.order == curves.questions.index("colour")
    assert (colours.any(1) == colours[:, 0]).all()


def test_the_promise_is_about_interviews_to_their_ends(own, people):
    """Each threshold's count is what a simulation that stops there finds."""
    table = people(40, seed=11)
    found = certify(own, table, "town")
    for place in (0, 30, 45, 60):
        rule = Sure(found.thresholds[place])
        curves = eddi.simulate(own, table, "town", stop=rule)
        judged = ~np.isnan(curves.truth)
        wrong = curves.probabilities[:, -1].argmax(-1) != curves.truth
        assert wrong[judged].sum() == found.n_wrong[place]


def test_a_rule_that_needs_no_promise_is_left_alone(sealed):
    rules = (Stop(), Stop(after=3) | Stop(sd_below=1), Sure(0.9))
    for rule in rules:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert InterviewRules(sealed, ("stage",), Information(), rule).stop == rule
    assert math.isinf(Sure(0.9).budget)
