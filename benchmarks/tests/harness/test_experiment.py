"""Experiments are found by the name that a suite uses."""

import pytest

from eddi_benchmarks.harness.experiment import MODULES, Experiment, ExperimentError, find_experiment
from eddi_benchmarks.harness.suite import Suite, suite_names


@pytest.mark.parametrize("name", MODULES)
def test_every_experiment_can_be_imported(name):
    assert isinstance(find_experiment(name), Experiment)


def test_every_suite_names_an_experiment_that_exists():
    assert {Suite.load(name).experiment for name in suite_names()} == set(MODULES)


def test_the_error_of_an_unknown_experiment_lists_all():
    with pytest.raises(ExperimentError, match=r"no experiment 'usi'\. Available experiments: uci"):
        find_experiment("usi")
