"""Risk-controlled stopping: certificates, the thresholds that follow from them, and the guarantee."""

import copy
import dataclasses
import math
import warnings

import numpy as np
import pytest

import eddi
from eddi import EddiWarning, Interview, Stop
from eddi.errors import StopError, TargetError
from eddi.interview.risk_control import (
    DecisionPaths,
    certify,
    certify_validation_rows,
    resolve_risk,
)
from eddi.model.certificate import THRESHOLDS, CertificateKey
from eddi.strategy import FixedOrder, Information
from eddi.strategy.stopping import AllOf, AnyOf, ConfidenceThreshold, RiskControlledStop

EASY_RISK = 0.9  # any model can guarantee it


@pytest.fixture
def uncertified(model):
    """The model of people, with its own empty certificates."""
    estimator = copy.copy(model)
    estimator.model_ = dataclasses.replace(model.model_, certificates={})
    return estimator


@pytest.fixture
def without_rows(uncertified):
    """The same model as if it was loaded from a file: without validation rows."""
    uncertified.model_ = dataclasses.replace(uncertified.model_, validation_rows=None)
    return uncertified


def resolve_stop(interview):
    """The stopping rule of an interview with its certified threshold."""
    assert isinstance(interview.rules.stop, RiskControlledStop)
    return interview.rules.stop.resolved


def make_paths(n_rows, random, n_steps=6):
    """Interviews of an overconfident model: the confidence grows, and is too high."""
    correct = np.clip(random.uniform(0.4, 0.9, (n_rows, 1)) + 0.1 * np.arange(n_steps), 0, 0.99)
    confidence = np.clip(correct + random.uniform(-0.1, 0.2, (n_rows, n_steps)), 0, 1)
    is_wrong = random.uniform(size=(n_rows, 1)) > correct
    return DecisionPaths(confidence, is_wrong, np.tile(np.arange(n_steps), (n_rows, 1)))


def test_an_interview_ends_at_the_first_prediction_with_sufficient_confidence():
    paths = DecisionPaths(
        confidence=np.array([[0.5, 0.95, 0.6], [0.5, 0.6, 0.7], [-np.inf, 0.9, 0.9]]),
        is_wrong=np.array([[True, True, False], [True, True, False], [True, False, True]]),
        n_asked=np.array([[0, 1, 2], [0, 1, 2], [0, 1, 1]]),
    )
    is_wrong, n_asked = paths.stop_at(0.9)
    assert is_wrong.tolist() == [True, False, False]
    assert n_asked.tolist() == [1, 2, 1]
    is_wrong, n_asked = paths.stop_at(None)
    assert is_wrong.tolist() == [False, False, True]
    assert n_asked.tolist() == [2, 2, 1]
    is_wrong, n_asked = paths.stop_at(0.0)
    # The third interview cannot end while a question that is always asked is open.
    assert n_asked.tolist() == [0, 0, 1]


def test_a_certificate_counts_the_errors_at_every_threshold():
    paths = make_paths(50, np.random.default_rng(0))
    certificate = paths.certificate(("ill",), Information())
    assert certificate.n_rows == 50
    assert certificate.key == CertificateKey.create(("ill",), Information(), None)
    counts = zip(THRESHOLDS, certificate.n_wrong, certificate.n_asked, strict=True)
    for threshold, n_wrong, n_asked in counts:
        steps = [next((k for k in range(5) if row[k] >= threshold), 5) for row in paths.confidence]
        assert n_wrong == sum(row[k] for row, k in zip(paths.is_wrong, steps, strict=True))
        assert n_asked == pytest.approx(np.mean(steps))


def test_the_guarantee_holds_as_often_as_its_confidence_says():
    random = np.random.default_rng(1)
    population = make_paths(100_000, random)
    risk_at = {threshold: population.stop_at(threshold)[0].mean() for threshold in THRESHOLDS}
    n_valid = n_guaranteed = 0
    for _ in range(200):
        sample = population[random.integers(100_000, size=400)]
        threshold = sample.certificate(("ill",), Information()).threshold(0.1, 0.9)
        n_guaranteed += threshold is not None
        n_valid += threshold is None or risk_at[threshold] <= 0.1
    assert n_guaranteed > 190  # otherwise there is nothing to test
    assert n_valid >= 170  # 180 are expected; 170 or fewer occur in one of a hundred such tests
    # An arbitrary threshold would not control the risk.
    assert min(risk_at.values()) < 0.06 < 0.2 < max(risk_at.values())


def test_a_risk_becomes_a_certified_confidence_threshold(uncertified):
    stop = resolve_stop(Interview(uncertified, "stage", stop=Stop(risk=EASY_RISK, after=4)))
    (certificate,) = uncertified.certificates_.values()
    assert stop == Stop(after=4) | ConfidenceThreshold(certificate.threshold(EASY_RISK, 0.95))
    position = uncertified.schema_.position("stage")
    assert certificate.n_rows == uncertified.model_.validation_rows.observed[:, position].sum()


def test_the_requested_confidence_determines_the_threshold(uncertified, people):
    certificate = certify(uncertified, people(60, seed=5), "stage")
    thresholds = []
    for confidence in (0.5, 0.999):
        rule = Stop(risk=0.6, confidence=confidence)
        stop = resolve_stop(Interview(uncertified, "stage", stop=rule))
        thresholds.append(certificate.threshold(0.6, confidence))
        assert stop == Stop() | ConfidenceThreshold(thresholds[-1])
    assert thresholds[0] < thresholds[1]


def test_a_risk_inside_a_combined_rule_is_resolved(uncertified):
    rule = Stop(after=3) & (Stop(budget=9) | Stop(risk=EASY_RISK))
    resolved = resolve_risk(rule, uncertified.fitted(), ("stage",), Information())
    assert isinstance(resolved, AllOf)
    after, either = resolved.rules
    assert isinstance(either, AnyOf)
    budget, controlled = either.rules
    assert (after, budget) == (Stop(after=3), Stop(budget=9))
    threshold = controlled.resolved
    (certificate,) = uncertified.certificates_.values()
    assert threshold == Stop() | ConfidenceThreshold(certificate.threshold(EASY_RISK, 0.95))


def test_interviews_end_at_the_certified_threshold(uncertified, people):
    table = people(60, seed=5)
    certificate = certify(uncertified, table, "stage")
    threshold = certificate.threshold(EASY_RISK, 0.95)
    curves = eddi.simulate(uncertified, table, "stage", stop=Stop(risk=EASY_RISK))
    has_truth = ~np.isnan(curves.truth)
    n_asked = (curves.order >= 0).sum(1)
    last = curves.probabilities[:, -1]
    assert ((last.max(-1) >= threshold) | (n_asked == n_asked.max())).all()
    place = certificate.thresholds.index(threshold)
    assert (last.argmax(-1) != curves.truth)[has_truth].sum() == certificate.n_wrong[place]
    assert n_asked[has_truth].mean() == pytest.approx(certificate.n_asked[place])


def test_a_certificate_is_computed_once_for_each_strategy(uncertified, monkeypatch):
    resolve_stop(Interview(uncertified, "stage", stop=Stop(risk=EASY_RISK)))
    monkeypatch.setattr(DecisionPaths, "simulate", None)
    resolve_stop(Interview(uncertified, "stage", stop=Stop(risk=0.8)))
    other = Interview(uncertified, "stage", stop=Stop(risk=EASY_RISK), strategy=FixedOrder(("age",)))
    with pytest.raises(TypeError):
        resolve_stop(other)


def test_a_certificate_is_computed_when_the_first_question_is_asked(uncertified):
    interview = Interview(uncertified, "stage", stop=Stop(risk=EASY_RISK))
    assert uncertified.certificates_ == {}
    interview.ask()
    assert len(uncertified.certificates_) == 1


def test_a_risk_that_cannot_be_guaranteed_gives_a_warning_and_ends_no_interview(uncertified):
    interview = Interview(uncertified, "stage", stop=Stop(risk=1e-6))
    with pytest.warns(EddiWarning, match="cannot be guaranteed with 95% confidence.* smallest risk"):
        assert interview.ask() is not None
    assert resolve_stop(interview) == Stop()


def test_the_error_about_missing_rows_contains_the_call_that_certifies_the_model(without_rows):
    with pytest.raises(StopError, match=r"eddi.certify\(model, table, target='stage'\)"):
        Interview(without_rows, "stage", stop=Stop(risk=0.05))
    with pytest.raises(StopError, match=r"target='age', strategy=..., within=2\)"):
        Interview(without_rows, "age", strategy=FixedOrder(("weight",)), stop=Stop(risk=0.05, within=2))


def test_a_model_file_contains_certificates_and_no_rows(uncertified, people, tmp_path):
    certificate = certify(uncertified, people(50, seed=3), "stage")
    uncertified.save(tmp_path / "people.eddi")
    loaded = eddi.load(tmp_path / "people.eddi")
    assert loaded.model_.validation_rows is None
    assert loaded.certificates_ == {certificate.key: certificate}
    stop = resolve_stop(Interview(loaded, "stage", stop=Stop(risk=EASY_RISK)))
    assert stop == Stop() | ConfidenceThreshold(certificate.threshold(EASY_RISK, 0.95))


def test_fitting_again_discards_certificates(people_schema, people):
    model = eddi.PartialVAE(people_schema, "stage", max_steps=1, random_state=0)
    certify_validation_rows(model.fit(people(300, seed=0)).fitted())
    assert list(model.certificates_) == [CertificateKey.create(("stage",), Information(), None)]
    assert model.fit(people(60, seed=1)).certificates_ == {}


def test_validation_rows_do_not_replace_an_existing_certificate(people_model, people):
    fitted = people_model(target="stage").fitted()
    model = dataclasses.replace(fitted, certificates={})
    certificate = certify(model, people(50, seed=3))
    certify_validation_rows(model)
    assert model.certificates == {certificate.key: certificate}


@pytest.mark.parametrize("target", [(), ("age",)])
def test_validation_rows_certify_only_a_declared_target_with_levels(uncertified, target):
    model = dataclasses.replace(uncertified.model_, target=target)
    certify_validation_rows(model)
    assert model.certificates == {}


def test_a_decision_about_a_quantity_is_correct_within_the_tolerance(uncertified, people):
    table = people(60, seed=5)
    near, far = (certify(uncertified, table, "age", within=within) for within in (0.01, 1e6))
    assert near.n_wrong[-1] > 55 - 10
    assert far.n_wrong == (0,) * len(THRESHOLDS)
    assert far.n_asked[0] == 0  # certain before the first question
    stop = resolve_stop(Interview(uncertified, "age", stop=Stop(risk=0.1, within=1e6)))
    assert stop == Stop() | ConfidenceThreshold(0.0, 1e6)


def test_a_tolerance_is_required_for_a_quantity_and_refused_for_levels(uncertified):
    with pytest.raises(StopError, match="risk needs within for 'age', which is real"):
        Interview(uncertified, "age", stop=Stop(risk=0.05))
    with pytest.raises(StopError, match="risk needs within for 'age'"):
        Interview(uncertified, ("stage", "age"), stop=Stop(after=3) | Stop(risk=0.05))
    with pytest.raises(StopError, match="within is for quantities; 'stage' has levels"):
        Interview(uncertified, "stage", stop=Stop(risk=0.05, within=1.0))


def test_a_decision_about_several_targets_is_wrong_if_any_of_them_is(uncertified, people):
    table = people(80, seed=6, missing=0.0)
    both = certify(uncertified, table, ["stage", "smoker"])
    single = [certify(uncertified, table, name) for name in ("stage", "smoker")]
    assert both.n_wrong[0] >= max(certificate.n_wrong[0] for certificate in single)
    assert both.n_wrong[0] <= sum(certificate.n_wrong[0] for certificate in single) + 5


def test_rows_without_a_target_value_cannot_certify(uncertified, people):
    with pytest.raises(TargetError, match="no held-out row has a value of 'stage'"):
        certify(uncertified, people(20, seed=3).drop(columns="stage"), "stage")


def test_a_certificate_needs_a_target(uncertified, people):
    with pytest.raises(TargetError, match="a certificate needs a target"):
        certify(uncertified, people(20, seed=3))


def test_questions_marked_always_come_first_under_risk_control(with_schema, people_schema, people):
    model = with_schema(people_schema.with_question("colour", always=True))
    model.model_ = dataclasses.replace(model.model_, certificates={})
    strategy, stop = FixedOrder(("age", "weight", "colour")), Stop(risk=EASY_RISK)
    assert Interview(model, "stage", strategy=strategy, stop=stop).ask().name == "colour"
    (certificate,) = model.certificates_.values()
    assert min(certificate.n_asked) >= 0.5  # every row with a colour is asked for it
    curves = eddi.simulate(model, people(40, seed=9), "stage", strategy=strategy, stop=stop)
    is_colour = curves.order == curves.questions.index("colour")
    assert is_colour.any()
    assert (is_colour.any(1) == is_colour[:, 0]).all()


def test_the_counts_of_a_certificate_are_those_of_simulations_that_stop_at_its_thresholds(
    uncertified, people
):
    table = people(40, seed=11)
    certificate = certify(uncertified, table, "town")
    for place in (0, 30, 45, 60):
        stop = ConfidenceThreshold(certificate.thresholds[place])
        curves = eddi.simulate(uncertified, table, "town", stop=stop)
        has_truth = ~np.isnan(curves.truth)
        is_wrong = curves.probabilities[:, -1].argmax(-1) != curves.truth
        assert is_wrong[has_truth].sum() == certificate.n_wrong[place]


def test_a_rule_without_a_risk_does_not_change(without_rows):
    rules = (Stop(), Stop(after=3) | Stop(sd_below=1), ConfidenceThreshold(0.9))
    for rule in rules:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert resolve_risk(rule, without_rows.fitted(), ("stage",), Information()) == rule
    assert math.isinf(ConfidenceThreshold(0.9).budget)
