"""Simulated deployments: who is asked what, and what is learned from it."""

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.strategy import Explore, Information
from eddi_benchmarks.deployment.cold_start import Approach, count_steps, squared_errors, with_ranges
from eddi_benchmarks.harness.experiment import ExperimentError, find_experiment
from eddi_benchmarks.harness.suite import Suite

SETTINGS = {"sharpness": 4.0, "share": 0.1, "continuation": 0.8, "min_answers": 60}


def make_approach(name):
    return Approach.from_settings({"approach": name, **SETTINGS})


def test_we_explore_with_another_seed_at_every_moment():
    strategies = [make_approach("ours").strategy(n, seed=2) for n in (0, 50)]
    expected = [
        Explore(Information(), 0.1, 0.8, 4.0, seed=seed, min_answers=60) for seed in (2_000, 2_050)
    ]
    assert strategies == expected


def test_asking_everything_ends_with_the_only_fit():
    approach = make_approach("all-50")
    assert approach.strategy(0, seed=0) == Explore(Information(), share=0.0, continuation=1.0)
    assert approach.strategy(50, seed=0) == Information()
    assert [n for n in range(301) if approach.fits_after(n)] == [50]


def test_the_greedy_approach_learns_but_does_not_explore():
    approach = make_approach("greedy")
    assert approach.strategy(0, seed=0) == Information()
    assert approach.fits_after(10)


def test_a_model_of_the_full_table_chooses_the_questions_of_the_informed_approach():
    approach = make_approach("informed")
    assert approach.is_informed
    assert approach.strategy(0, seed=0) == Information()
    assert approach.fits_after(10)


def test_stated_beliefs_do_not_change_how_interviews_explore():
    assert make_approach("expert") == make_approach("ours")


def test_an_unknown_approach_is_named():
    with pytest.raises(ExperimentError, match="there is no approach 'none'"):
        make_approach("none")


def test_errors_are_squared_errors_or_brier_scores():
    real = eddi.Variable("x", "real")
    quantity = eddi.Prediction(real, np.array([2.0]), np.array([1.0]), np.array([[0.0, 4.0]]), None)
    assert squared_errors(quantity, np.array([5.0])) == pytest.approx([9.0])


def test_more_rows_have_more_training_steps():
    assert [count_steps([(0, 200), (50, 500)], n_rows) for n_rows in (0, 49, 50, 900)] == [
        200,
        200,
        500,
        500,
    ]


def test_ranges_are_those_of_the_table():
    schema = with_ranges(eddi.Schema((eddi.Variable("x", "real"),)), pd.DataFrame({"x": [3, 7]}))
    assert (schema["x"].low, schema["x"].high) == (3, 7)


def test_the_suite_compares_all_approaches_on_the_same_rows():
    suite = Suite.load("cold-start")
    assert find_experiment(suite.experiment).required_datasets(suite.runs[0].settings)
    assert len(suite.runs) == 120  # 8 approaches, 3 tables, 5 seeds
