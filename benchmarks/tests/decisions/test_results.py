"""Results by method and dataset."""

import pytest

from eddi_benchmarks.decisions.results import DecisionResults


def test_areas_of_classes_are_means_over_the_steps_after_the_first_question(results):
    classes = DecisionResults.select(results, is_class=True)
    curve = results[0].measurements["methods"]["exact"]["curves"]["accuracy"]
    assert classes.areas("xor", "exact")[0] == pytest.approx(sum(curve[1:]) / 8)


def test_gains_are_positive_if_the_first_method_is_better(results):
    classes = DecisionResults.select(results, is_class=True)
    gains = classes.gains("xor", "exact", "random")
    assert len(gains) == 2
    assert gains.min() > 0
    p, n_wins, n_datasets = classes.compare("exact", "random")
    assert (n_wins, n_datasets) == (1, 1)
    assert 0 < p <= 1


def test_exact_inference_is_not_among_the_best_methods(results):
    best = DecisionResults.select(results, is_class=True).best_methods("xor")
    assert best <= {"ours", "random", "static", "paper", "gdfs", "dime", "ours-ahead"}
