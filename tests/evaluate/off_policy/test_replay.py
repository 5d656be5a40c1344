"""Replays ask what the rules ask, and end where the log has no answer."""

from dataclasses import replace

import numpy as np

from eddi.evaluate.off_policy.replay import replay
from eddi.strategy.stopping import Stop


def test_the_rules_that_led_the_interviews_have_all_answers(log_people, rules):
    logged = log_people(12, seed=0, share=0.0)
    replayed = replay(rules, logged)
    assert replayed.is_complete.all()
    np.testing.assert_array_equal(replayed.asked, logged.order)
    np.testing.assert_allclose(replayed.final_weights, 1)
    assert replayed.n_effective == 12


def test_a_replay_ends_where_the_log_has_no_answer(log_people, rules):
    logged = log_people(12, seed=0, share=0.0)
    replayed = replay(replace(rules, stop=Stop(after=5)), logged)
    assert not replayed.is_complete.any()
    assert replayed.n_effective == 0
