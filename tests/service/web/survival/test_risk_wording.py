"""Survival predictions in words."""

from dataclasses import replace

import numpy as np

from eddi.service.web.survival.risk_wording import describe_risk, describe_risks
from eddi.service.web.wording import describe_prediction


def test_the_risk_at_the_last_horizon_is_the_estimate(predictions):
    risk = round(100 * float(predictions[1].risk(150)))
    assert describe_risk(predictions[1]) == f"{risk}% up to 150"
    assert describe_prediction(predictions[1]).estimate == f"{risk}% up to 150"


def test_there_is_a_sentence_for_each_horizon_and_the_median(predictions):
    sentences = describe_risks(predictions[1])
    assert len(sentences) == 3
    assert sentences[0].startswith("Of 100 people with these answers, about ")
    assert sentences[2].startswith("Half of them have no event up to about ")


def test_a_median_that_is_not_reached_is_said(predictions):
    rare = np.full_like(predictions[1].bin_probabilities, 0.001)
    rare[-1] = 1 - rare[:-1].sum()
    sentences = describe_risks(replace(predictions[1], bin_probabilities=rare))
    assert sentences[-1].startswith("More than half have no event up to ")
