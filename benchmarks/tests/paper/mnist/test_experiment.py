"""Inpainting digits: what is removed, what is scored, and how it is told."""

import math
from dataclasses import replace

import numpy as np
import pytest

from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Outcome, experiment
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.paper.mnist import experiment as mnist
from eddi_benchmarks.paper.mnist.experiment import figures as mnist_pictures
from eddi_benchmarks.paper.mnist.experiment import report as mnist_page

SMALL = replace(mnist.RECIPE, latent=3, identity=4, term=16, hidden=(16, 16, 8), max_steps=100)


@pytest.fixture(scope="module")
def images():
    """Two kinds of image, a bar at the left or at the right, with a little dirt."""
    random = np.random.default_rng(0)
    digits = np.arange(400, dtype=np.uint8) % 2 * 5 + 4  # fours and nines
    pixels = np.zeros((400, 28, 28), dtype=bool)
    pixels[digits == 4, :, 4:10] = True
    pixels[digits == 9, :, 18:24] = True
    pixels ^= random.random(pixels.shape) < 0.02
    return mnist.Images(pixels.reshape(400, -1).astype(np.uint8), digits)


@pytest.fixture(scope="module")
def model(images):
    recipe = replace(SMALL, hidden=(32, 16), learning_rate=5e-3, max_steps=300)
    return mnist.fit("pnp", images[:300], recipe, seed=0)


def test_seventy_in_a_hundred_pixels_of_each_image_are_removed_at_random():
    removed = mnist.random_removal(5, seed=0)
    assert removed.sum(1).tolist() == [549] * 5
    assert (removed[0] != removed[1]).any()


def test_the_upper_sixty_in_a_hundred_are_whole_lines():
    removed = mnist.region_removal(2).reshape(2, 28, 28)
    assert removed[:, :17].all()
    assert not removed[:, 17:].any()


def test_pixels_are_removed_as_in_training_by_one_rate_a_batch():
    shares = mnist.training_removal(300, mnist.RECIPE, seed=0).mean(1)
    batches = shares.reshape(3, 100)
    assert batches.std(1).max() < 0.03
    assert batches.mean(1).std() > 0.05
    assert shares.max() < 0.75


def test_the_bound_is_the_likelihood_of_the_scored_pixels_less_the_kl(model, images):
    truth = model.evidence(images[300:340].table())
    removed = mnist.region_removal(40)
    found = mnist.score(model, truth.hide(removed), truth, removed, 64)
    assert found.elbo_scaled + found.kl == pytest.approx((found.elbo + found.kl) * 784 / 476, rel=1e-5)
    # Jensen: the log of a mean is never below the mean of logs.
    assert found.log_prob >= found.elbo + found.kl
    assert found.standard_error > 0


def test_a_score_by_hand_of_a_decoder_that_knows_nothing(images):
    model = mnist.fit("zi", images[:20], replace(SMALL, max_steps=1), seed=0)
    last = model.network_.decoder.layers[-1]
    last.weight.zero_()
    last.bias.zero_()  # every pixel is a fair coin, whatever z
    truth = model.evidence(images[20:30].table())
    removed = mnist.random_removal(10, seed=0)
    found = mnist.score(model, truth.hide(removed), truth, removed, 4)
    assert found.log_prob == pytest.approx(549 * math.log(0.5), rel=1e-5)
    assert found.elbo == pytest.approx(549 * math.log(0.5) - found.kl, rel=1e-5)
    assert found.elbo_scaled == pytest.approx(784 * math.log(0.5) - found.kl, rel=1e-5)


def test_what_is_shown_is_not_predicted(model, images):
    truth = model.evidence(images[300:310].table())
    assert mnist.score(model, truth, truth, truth.observed, 4).log_prob is None


def test_a_model_that_saw_the_lower_part_completes_the_bar(model, images):
    test = images[300:]
    truth = model.evidence(test.table())
    removals = {"random": mnist.random_removal(100, 0), "region": mnist.region_removal(100)}
    made = mnist_pictures.album(model, truth, test.digits, removals, seed=0)
    filled = made.region_filled.reshape(2, 28, 28) / 255
    assert filled[0, :17, 4:10].mean() > 0.7 > 0.3 > filled[0, :17, 18:24].mean()
    assert filled[1, :17, 18:24].mean() > 0.7 > 0.3 > filled[1, :17, 4:10].mean()
    # What was shown stays as it was.
    kept = made.random == 0
    assert (made.random_filled[kept] == made.truth[kept]).all()
    assert made.several.shape == (2, 8, 784)


def test_vae_full_learns_from_whole_images_with_the_plain_encoder(images):
    model = mnist.fit("vae-full", images[:20], replace(SMALL, max_steps=1), seed=0)
    assert model.set_encoder == "zi"
    assert model.recipe_.max_missing == 0


def test_a_run_scores_and_keeps_its_pictures(images, tmp_path, monkeypatch):
    monkeypatch.setattr(mnist, "load", lambda n, seed: (images[40:], images[:40]))  # noqa: ARG005
    monkeypatch.setattr(mnist, "RECIPE", SMALL)
    for name in ("vae-full", "pn"):
        settings = {"model": name, "seed": 0, "n_images": 400, "max_steps": 100, "n_draws": 4}
        figures = mnist.play(settings, tmp_path / name)
        assert set(figures["scores"]) == {"train", "random", "region"}
        assert figures["n_rows"] == {"train": 360, "test": 40}
        assert (tmp_path / name / "images.npz").stat().st_size < 200_000
        same = figures["scores"]["random"] == figures["scores"]["region"]
        assert same == (name == "vae-full")


def outcome(model, elbo, *, seed=0, folder=None):
    score = {"elbo": elbo, "elbo_scaled": 1.5 * elbo, "kl": 9.0, "standard_error": 0.1}
    score["log_prob"] = None if model == "vae-full" else elbo + 10
    figures = {
        "n_rows": {"train": 630, "test": 70},
        "seconds": {"fit": 60.0, "score": 20.0},
        "scores": dict.fromkeys(("train", "random", "region"), score),
        "losses": [],
    }
    settings = {"model": model, "seed": seed, "n_images": 700, "max_steps": 300, "n_draws": 4}
    return Outcome(f"{model}-{seed}", settings, figures, {}, folder)


def test_the_table_has_ours_theirs_and_the_difference(tmp_path):
    outcomes = [outcome("zi", -110.0), outcome("pnp", -100.0), outcome("pnp", -104.0, seed=1)]
    (section,) = mnist_page.sections(outcomes, tmp_path)
    rows = {row[:2]: row[2:] for row in section.grids[0].rows}
    assert rows["test, 70% at random", "ours"] == ("-", "-110.00", "-", "-", "-102.00 ± 2.00")
    assert rows["test, 70% at random", "theirs"][-1] == "-114.01"
    assert rows["test, 70% at random", "difference"][-1] == "+12.01"
    assert {(3, 6), (4, 6)} <= section.grids[0].best
    assert "3 runs, 2 seeds" in section.grids[0].note
    assert section.grids[2].rows[0] == ("test, 70% at random", "-100.00", "-", "-", "-92.00 ± 2.00")
    assert section.grids[2].best == {(0, 4), (1, 4)}


@pytest.mark.parametrize(("best", "words"), [("pnp", "as in the paper"), ("zi", "unlike the paper")])
def test_the_words_say_who_is_best(best, words, tmp_path):
    outcomes = [outcome(name, -100.0 if name == best else -120.0) for name in mnist_page.PARTIAL]
    (section,) = mnist_page.sections(outcomes, tmp_path)
    assert any(words in paragraph for paragraph in section.words)


def test_no_finished_run_makes_a_page_all_the_same(tmp_path):
    (section,) = mnist_page.sections([], tmp_path)
    assert "No run is finished yet." in section.grids[0].note
    assert section.pictures == ()


def test_pictures_are_made_across_models(model, images, tmp_path):
    truth = model.evidence(images[300:].table())
    removals = {"random": mnist.random_removal(100, 0), "region": mnist.region_removal(100)}
    made = mnist_pictures.album(model, truth, images[300:].digits, removals, seed=0)
    outcomes = []
    for name in ("vae-full", "pn", "pnp"):
        made.save(tmp_path / name)
        outcomes.append(outcome(name, -100.0, folder=tmp_path / name))
    (section,) = mnist_page.sections(outcomes, tmp_path / "pictures")
    names = ["mnist-random.png", "mnist-region.png", "mnist-several.png", "mnist-generated.png"]
    assert [picture.path.name for picture in section.pictures] == names
    assert all(picture.path.stat().st_size > 1000 for picture in section.pictures)


@pytest.mark.parametrize("quick", [True, False])
def test_the_suite_has_all_that_a_run_needs(quick):
    suite = Suite.load("paper-mnist", quick=quick)
    assert experiment(suite.experiment) is mnist.EXPERIMENT
    settings = suite.runs[0].settings
    assert set(settings) == {"model", "seed", "n_images", "max_steps", "n_draws"}
    assert {run.settings["model"] for run in suite.runs} == set(mnist_page.NAMES)


def test_a_tenth_of_the_images_is_for_testing_and_the_seed_chooses_it():
    try:
        datasets.find("mnist")
    except datasets.DatasetError:
        pytest.skip("this machine does not have the dataset")
    train, test = mnist.load(1000, seed=0)
    assert (len(train), len(test)) == (900, 100)
    assert set(np.unique(test.pixels)) == {0, 1}
    assert len(np.unique(test.digits)) == 10
    assert (mnist.load(1000, seed=1)[1].pixels != test.pixels).any()
