"""Inpainting of digits: which pixels are removed, how they are scored, and what a run stores."""

import math
from dataclasses import replace

import numpy as np
import pytest

from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper.mnist import experiment as mnist
from eddi_benchmarks.paper.mnist.report import NAMES


def test_a_random_70_percent_of_the_pixels_of_each_image_is_removed():
    removed = mnist.random_removal(5, seed=0)
    assert removed.sum(1).tolist() == [549] * 5
    assert (removed[0] != removed[1]).any()


def test_the_upper_60_percent_are_whole_image_rows():
    removed = mnist.region_removal(2).reshape(2, 28, 28)
    assert removed[:, :17].all()
    assert not removed[:, 17:].any()


def test_training_removal_has_one_rate_per_batch():
    shares = mnist.training_removal(300, mnist.RECIPE, seed=0).mean(1)
    batches = shares.reshape(3, 100)
    assert batches.std(1).max() < 0.03
    assert batches.mean(1).std() > 0.05
    assert shares.max() < 0.75


def test_the_bound_is_the_likelihood_of_the_scored_pixels_less_the_kl(model, images):
    truth = model.evidence(images[300:340].to_table())
    removed = mnist.region_removal(40)
    score = mnist.score(model, truth.hide(removed), truth, scored=removed, n_draws=64)
    assert score.elbo_scaled + score.kl == pytest.approx((score.elbo + score.kl) * 784 / 476, rel=1e-5)
    # Jensen: the log of a mean is never below the mean of logs.
    assert score.log_prob >= score.elbo + score.kl
    assert score.standard_error > 0


def test_the_score_of_an_uninformative_decoder_equals_the_closed_form(images, small_recipe):
    model = mnist.fit("zi", images[:20], replace(small_recipe, max_steps=1), seed=0)
    last = model.network_.decoder.layers[-1]
    last.weight.zero_()
    last.bias.zero_()  # every pixel has probability one half, for any z
    truth = model.evidence(images[20:30].to_table())
    removed = mnist.random_removal(10, seed=0)
    score = mnist.score(model, truth.hide(removed), truth, scored=removed, n_draws=4)
    assert score.log_prob == pytest.approx(549 * math.log(0.5), rel=1e-5)
    assert score.elbo == pytest.approx(549 * math.log(0.5) - score.kl, rel=1e-5)
    assert score.elbo_scaled == pytest.approx(784 * math.log(0.5) - score.kl, rel=1e-5)


def test_observed_pixels_have_no_predictive_likelihood(model, images):
    truth = model.evidence(images[300:310].to_table())
    assert mnist.score(model, truth, truth, scored=truth.observed, n_draws=4).log_prob is None


def test_vae_full_learns_from_whole_images_with_the_zi_encoder(images, small_recipe):
    model = mnist.fit("vae-full", images[:20], replace(small_recipe, max_steps=1), seed=0)
    assert model.set_encoder == "zi"
    assert model.recipe_.max_missing == 0


@pytest.mark.parametrize("name", ["vae-full", "pn"])
def test_a_run_measures_scores_and_stores_examples(name, images, small_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(mnist, "load", lambda n, seed: (images[40:], images[:40]))  # noqa: ARG005
    monkeypatch.setattr(mnist, "RECIPE", small_recipe)
    settings = {"model": name, "seed": 0, "n_images": 400, "max_steps": 100, "n_draws": 4}
    measurements = mnist.run(settings, tmp_path / name)
    scores = measurements["scores"]
    assert set(scores) == {"train", "random", "region"}
    assert measurements["n_rows"] == {"train": 360, "test": 40}
    assert (tmp_path / name / "images.npz").stat().st_size < 200_000
    assert (scores["random"] == scores["region"]) == (name == "vae-full")


@pytest.mark.parametrize("quick", [True, False])
def test_the_suite_has_all_settings_of_a_run(quick):
    suite = Suite.load("paper-mnist", quick=quick)
    assert find_experiment(suite.experiment) is mnist.EXPERIMENT
    assert set(suite.runs[0].settings) == {"model", "seed", "n_images", "max_steps", "n_draws"}
    assert {run.settings["model"] for run in suite.runs} == set(NAMES)


def test_a_tenth_of_the_images_which_depends_on_the_seed_is_for_testing():
    try:
        datasets.find("mnist")
    except datasets.DatasetError:
        pytest.skip("this machine does not have the dataset")
    train, test = mnist.load(1000, seed=0)
    assert (len(train), len(test)) == (900, 100)
    assert set(np.unique(test.pixels)) == {0, 1}
    assert len(np.unique(test.digits)) == 10
    assert (mnist.load(1000, seed=1)[1].pixels != test.pixels).any()
