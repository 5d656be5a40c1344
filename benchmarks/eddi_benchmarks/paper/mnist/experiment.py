"""Inpainting of handwritten digits: section 4.1 of the paper, its table 1 and its figures.

A pixel is 1 if it is at least half white, with a Bernoulli likelihood. A tenth of all images, which
depends on the seed, is for testing. `Score` defines what is measured. The paper does not say whether its
numbers refer to the missing pixels only or are scaled up to an image, so both are stored.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

import eddi
from eddi.model.network.heads import log_mean_exp
from eddi.model.network.quasi_random import standard_normal
from eddi.model.recipe import PAPER, Recipe
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings, to_json_values
from eddi_benchmarks.paper import authors_code
from eddi_benchmarks.paper.mnist.examples import Examples
from eddi_benchmarks.paper.mnist.report import FULL_VAE, report_sections

SIDE = 28
N_PIXELS = SIDE * SIDE
WHITE_THRESHOLD = 128  # of 255: a pixel is 1 from here on
TEST_SHARE = 0.1
RANDOM_SHARE = 0.7  # of pixels removed at random from each image
REGION_SHARE = 0.6  # of image rows removed from the top
N_TRAIN_SCORED = 7000  # training images for the training ELBO: as many as test images
BATCH_CELLS = 2_000_000  # numbers in a tensor when scoring: 8 MB

# Appendix D.1 of the paper.
RECIPE = replace(PAPER, latent=20, identity=20, term=500, hidden=(500, 500, 200))

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Score:
    """Mean scores, in nats per image, of predicting pixels S given pixels O.

    Args:
        elbo: E_q(z|x_O)[log p(x_S | z)] - KL(q(z|x_O) || p(z)): the paper's partial bound with the
            pixels S in place of the observed ones.
        elbo_scaled: the same with its first term times 784 / |S|, so that it refers to a whole image.
        kl: its second term. log_prob: log p(x_S | x_O), the log of the mean over draws of z from
        q(z|x_O) of p(x_S | z). It is
            the only one of these that a model cannot improve by being less certain. None if S = O.
        standard_error: of ``elbo`` over the images.
    """

    elbo: float
    elbo_scaled: float
    kl: float
    log_prob: float | None
    standard_error: float


@dataclass(frozen=True)
class Images:
    """Binary images and their digits."""

    pixels: NDArray[np.uint8]  # [images, pixels], 0 or 1
    digits: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.digits)

    def __getitem__(self, index: Any) -> "Images":
        return Images(self.pixels[index], self.digits[index])

    def to_table(self) -> pa.Table:
        columns = np.ascontiguousarray(self.pixels.T)
        return pa.table([pa.array(column) for column in columns], names=_pixel_names(len(columns)))


def load(n_images: int, seed: int) -> tuple[Images, Images]:
    """A random selection of ``n_images`` of the 70,000: training images and a tenth for testing."""
    table = datasets.load("mnist")
    *pixels, digits = (column.to_numpy() for column in table.columns)
    order = np.random.default_rng(seed).permutation(table.num_rows)[:n_images]
    binary = (np.column_stack(pixels) >= WHITE_THRESHOLD).astype(np.uint8)
    images = Images(binary, digits)[order]
    n_test = round(len(images) * TEST_SHARE)
    return images[n_test:], images[:n_test]


def _pixel_names(n_pixels: int) -> list[str]:
    return [f"pixel_{i}" for i in range(n_pixels)]


def schema(n_pixels: int = N_PIXELS) -> eddi.Schema:
    """A schema with every pixel as a binary variable."""
    variables = (eddi.Variable(name, Kind.BINARY, levels=(0, 1)) for name in _pixel_names(n_pixels))
    return eddi.Schema(tuple(variables))


def fit(model: str, images: Images, recipe: Recipe, *, seed: int) -> eddi.PartialVAE:
    """Fit the paper's network; VAE-full is the ordinary VAE, trained without missing values."""
    is_full = model == FULL_VAE
    return eddi.PartialVAE(
        schema(images.pixels.shape[1]),
        recipe=replace(recipe, max_missing=0.0) if is_full else recipe,
        set_encoder="zi" if is_full else model,
        random_state=seed,
    ).fit(images.to_table())


def random_removal(n_images: int, seed: int) -> Mask:
    """A mask that removes a random 70% of the pixels of each image."""
    random = np.random.default_rng([seed, 70])
    position = random.random((n_images, N_PIXELS)).argsort(axis=1).argsort(axis=1)
    return np.asarray(position < round(RANDOM_SHARE * N_PIXELS))


def region_removal(n_images: int) -> Mask:
    """A mask that removes the upper 60% of each image, as whole image rows."""
    top = np.arange(N_PIXELS) < round(REGION_SHARE * SIDE) * SIDE
    return np.tile(top, (n_images, 1))


def training_removal(n_images: int, recipe: Recipe, seed: int) -> Mask:
    """A mask as in training: a missing rate for each batch, uniform up to 70%."""
    random = np.random.default_rng([seed, 35])
    batch = np.arange(n_images) // recipe.batch_size
    rates = random.uniform(0, recipe.max_missing, n_images)[batch]
    return random.random((n_images, N_PIXELS)) < rates[:, None]


@torch.no_grad()
def score(
    model: eddi.PartialVAE, observed: Evidence, truth: Evidence, *, scored: Mask, n_draws: int
) -> Score:
    """Score the prediction of the ``scored`` pixels of ``truth``, at least one per image."""
    batches = list(_score_batches(model, observed, truth, scored=scored, n_draws=n_draws))
    fit_term, log_prob, kl = (np.concatenate(column) for column in zip(*batches, strict=True))
    elbo = fit_term - kl
    elbo_scaled = fit_term * (scored.shape[1] / scored.sum(axis=1)) - kl
    is_prediction = not (observed.observed & scored).any()
    return Score(
        elbo=float(elbo.mean()),
        elbo_scaled=float(elbo_scaled.mean()),
        kl=float(kl.mean()),
        log_prob=float(log_prob.mean()) if is_prediction else None,
        standard_error=float(elbo.std(ddof=1) / np.sqrt(len(elbo))),
    )


def _score_batches(
    model: eddi.PartialVAE, observed: Evidence, truth: Evidence, *, scored: Mask, n_draws: int
) -> Iterator[tuple[NDArray[np.float64], ...]]:
    """E_q[log p(x_S | z)], log E_q[p(x_S | z)] and KL of each image, batch by batch."""
    fitted, network = model.fitted(), model.network_
    device = next(network.parameters()).device
    noise = standard_normal(n_draws, network.latent, seed=0).to(device)[:, None]
    batch_size = max(1, BATCH_CELLS // (n_draws * network.n_outputs))
    for start in range(0, len(observed), batch_size):
        batch = slice(start, start + batch_size)
        posterior = fitted.posterior(fitted.code(observed[batch]))
        values = torch.from_numpy(truth.values[batch]).to(device)
        weights = torch.from_numpy(scored[batch]).to(device, torch.float32)
        log_prob = network.log_prob(network.decode(posterior.draw(noise)), values)
        by_draw = (log_prob * weights).sum(-1)  # [draws, images]
        terms = by_draw.mean(0), log_mean_exp(by_draw), posterior.kl_from_prior()
        yield tuple(term.double().cpu().numpy() for term in terms)


def run(settings: Settings, folder: Path) -> Measurements:
    """Train one model and score it on missing pixels; examples are stored in ``folder``."""
    seed, n_draws = int(settings["seed"]), int(settings["n_draws"])
    recipe = authors_code.apply_term(replace(RECIPE, max_steps=int(settings["max_steps"])), settings)
    train, test = load(int(settings["n_images"]), seed)
    start = time.perf_counter()
    model = fit(str(settings["model"]), train, recipe, seed=seed)
    fitted = time.perf_counter()
    truth = model.evidence(test.to_table())
    removals = {"random": random_removal(len(test), seed), "region": region_removal(len(test))}
    train_truth = model.evidence(train[:N_TRAIN_SCORED].to_table())
    train_mask = ~training_removal(len(train_truth), recipe, seed)
    if settings["model"] == FULL_VAE:  # the ideal: it observes whole images and is scored on them
        everything, everything_train = np.ones_like(truth.observed), np.ones_like(train_mask)
        test_score = score(model, truth, truth, scored=everything, n_draws=n_draws)
        scores = {
            "train": score(model, train_truth, train_truth, scored=everything_train, n_draws=n_draws),
            **dict.fromkeys(removals, test_score),
        }
    else:
        observed = train_truth.hide(~train_mask)
        scores = {"train": score(model, observed, train_truth, scored=train_mask, n_draws=n_draws)}
        for name, removed in removals.items():
            observed = truth.hide(removed)
            scores[name] = score(model, observed, truth, scored=removed, n_draws=n_draws)
    Examples.from_model(model, truth, test.digits, removals=removals, seed=seed).save(folder)
    return {
        "n_rows": {"train": len(train), "test": len(test)},
        "seconds": {"fit": fitted - start, "score": time.perf_counter() - fitted},
        "scores": {name: to_json_values(asdict(value)) for name, value in scores.items()},
        "losses": [round(progress.loss * N_PIXELS, 3) for progress in model.history_],
    }


EXPERIMENT = Experiment(run, lambda _: ("mnist",), report_sections)
