"""Inpainting handwritten digits: the paper's section 4.1, its table 1 and its pictures.

Pixels are 1 where they are at least half white, and Bernoulli. A tenth of all images, drawn by the seed,
is for testing. What is scored is told by `Score`; the paper does not say whether its numbers are of the
missing pixels alone or scaled up to an image, so both are kept.
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
from eddi.model.inference.predictive import standard_normal
from eddi.model.recipe import PAPER, Recipe
from eddi.model.training.objective import mean_exp
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Experiment, Figures, Settings
from eddi_benchmarks.paper import authors_code as published
from eddi_benchmarks.paper.mnist import figures as mnist_pictures
from eddi_benchmarks.paper.mnist import report as mnist_page

SIDE = 28
N_PIXELS = SIDE * SIDE
WHITE = 128  # of 255: from here on a pixel is 1
TEST_SHARE = 0.1
RANDOM_REMOVED = 0.7  # share of each image's pixels, chosen at random
REGION_REMOVED = 0.6  # share of the lines, from the top
N_TRAIN_SCORED = 7000  # training images the train ELBO is taken on: as many as are tested
CHUNK_CELLS = 2_000_000  # numbers in flight at once when scoring: 8 MB a tensor

# Appendix D.1 of the paper.
RECIPE = replace(PAPER, latent=20, identity=20, term=500, hidden=(500, 500, 200))

Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Score:
    """What a model says of pixels S of images of which it was shown pixels O; nats an image, means.

    Args:
        elbo: E_q(z|x_O)[log p(x_S | z)] - KL(q(z|x_O) || p(z)): the paper's partial bound with the
            pixels S in the place of the observed ones.
        elbo_scaled: the same with its first term times 784 / |S|, so that it is of a whole image.
        kl: its second term.
        log_prob: log p(x_S | x_O), the log of the mean over draws of z from q(z|x_O) of p(x_S | z);
            the only one of these that a model cannot better by being less sure. None where S = O.
        standard_error: of ``elbo`` over the images.
    """

    elbo: float
    elbo_scaled: float
    kl: float
    log_prob: float | None
    standard_error: float


@dataclass(frozen=True)
class Images:
    """Binary images and the digits they show."""

    pixels: NDArray[np.uint8]  # [images, pixels], 0 or 1
    digits: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.digits)

    def __getitem__(self, chosen: Any) -> "Images":
        return Images(self.pixels[chosen], self.digits[chosen])

    def table(self) -> pa.Table:
        columns = np.ascontiguousarray(self.pixels.T)
        return pa.table([pa.array(column) for column in columns], names=_names(len(columns)))


def load(n_images: int, seed: int) -> tuple[Images, Images]:
    """``n_images`` of all 70,000 in an order the seed gives: those to learn from, and the test tenth."""
    table = datasets.load("mnist")
    *pixels, digits = (column.to_numpy() for column in table.columns)
    order = np.random.default_rng(seed).permutation(table.num_rows)[:n_images]
    images = Images((np.column_stack(pixels) >= WHITE).astype(np.uint8), digits)[order]
    n_test = round(len(images) * TEST_SHARE)
    return images[n_test:], images[:n_test]


def _names(n_pixels: int) -> list[str]:
    return [f"pixel_{place}" for place in range(n_pixels)]


def schema(n_pixels: int = N_PIXELS) -> eddi.Schema:
    """Every pixel a binary variable."""
    return eddi.Schema(
        tuple(eddi.Variable(name, Kind.BINARY, levels=(0, 1)) for name in _names(n_pixels))
    )


def fit(model: str, images: Images, recipe: Recipe, *, seed: int) -> eddi.PartialVAE:
    """The paper's network; VAE-full is the ordinary one, from which nothing is hidden."""
    whole = model == "vae-full"
    return eddi.PartialVAE(
        schema(images.pixels.shape[1]),
        recipe=replace(recipe, max_missing=0.0) if whole else recipe,
        set_encoder="zi" if whole else model,
        random_state=seed,
    ).fit(images.table())


def random_removal(n_images: int, seed: int) -> Bits:
    """True where a pixel is removed: 70% of each image's, at random."""
    random = np.random.default_rng([seed, 70])
    rank = random.random((n_images, N_PIXELS)).argsort(axis=1).argsort(axis=1)
    return np.asarray(rank < round(RANDOM_REMOVED * N_PIXELS))


def region_removal(n_images: int) -> Bits:
    """True where a pixel is removed: the upper 60% of the image, as whole lines."""
    top = np.arange(N_PIXELS) < round(REGION_REMOVED * SIDE) * SIDE
    return np.tile(top, (n_images, 1))


def training_removal(n_images: int, recipe: Recipe, seed: int) -> Bits:
    """True where a pixel is removed as in training: a rate for each batch, uniform up to 70%."""
    random = np.random.default_rng([seed, 35])
    batch = np.arange(n_images) // recipe.batch_size
    rates = random.uniform(0, recipe.max_missing, n_images)[batch]
    return random.random((n_images, N_PIXELS)) < rates[:, None]


@torch.no_grad()
def score(model: eddi.PartialVAE, shown: Evidence, truth: Evidence, scored: Bits, n_draws: int) -> Score:
    """How well ``shown`` tells the pixels of ``truth`` that are ``scored``: one or more an image."""
    parts = list(_parts(model, shown, truth, scored, n_draws))
    pixels, predictive, kl = (np.concatenate(column) for column in zip(*parts, strict=True))
    n_scored = scored.sum(axis=1)
    elbo, whole = pixels - kl, pixels * (scored.shape[1] / n_scored) - kl
    unseen = not (shown.observed & scored).any()
    return Score(
        elbo=float(elbo.mean()),
        elbo_scaled=float(whole.mean()),
        kl=float(kl.mean()),
        log_prob=float(predictive.mean()) if unseen else None,
        standard_error=float(elbo.std(ddof=1) / np.sqrt(len(elbo))),
    )


def _parts(
    model: eddi.PartialVAE, shown: Evidence, truth: Evidence, scored: Bits, n_draws: int
) -> Iterator[tuple[NDArray[np.float64], ...]]:
    """E_q[log p(x_S | z)], log E_q[p(x_S | z)] and KL of each image, some images after the others."""
    network = model.network_
    device = next(network.parameters()).device
    noise = standard_normal(n_draws, network.latent, seed=0).to(device)[:, None]
    step = max(1, CHUNK_CELLS // (n_draws * network.n_outputs))
    for start in range(0, len(shown), step):
        some = slice(start, start + step)
        posterior = model.posterior(model.code(shown[some]))
        values = torch.from_numpy(truth.values[some]).to(device)
        wanted = torch.from_numpy(scored[some]).to(device, torch.float32)
        log_prob = network.log_prob(network.decode(posterior.draw(noise)), values)
        of_draw = (log_prob * wanted).sum(-1)  # [draws, images]
        found = of_draw.mean(0), mean_exp(of_draw), posterior.kl_from_prior()
        yield tuple(part.double().cpu().numpy() for part in found)


def play(settings: Settings, folder: Path) -> Figures:
    """Train one model and score it on missing pixels; small pictures go to ``folder``."""
    seed, n_draws = int(settings["seed"]), int(settings["n_draws"])
    recipe = published.with_term(replace(RECIPE, max_steps=int(settings["max_steps"])), settings)
    train, test = load(int(settings["n_images"]), seed)
    began = time.perf_counter()
    model = fit(str(settings["model"]), train, recipe, seed=seed)
    fitted = time.perf_counter()
    truth = model.evidence(test.table())
    removals = {"random": random_removal(len(test), seed), "region": region_removal(len(test))}
    train_truth = model.evidence(train[:N_TRAIN_SCORED].table())
    kept = ~training_removal(len(train_truth), recipe, seed)
    if settings["model"] == "vae-full":  # the ideal: it sees whole images, and is scored on them
        whole = np.ones_like(truth.observed)
        scores = {"train": score(model, train_truth, train_truth, np.ones_like(kept), n_draws)}
        scores |= dict.fromkeys(removals, score(model, truth, truth, whole, n_draws))
    else:
        scores = {"train": score(model, train_truth.hide(~kept), train_truth, kept, n_draws)}
        for name, removed in removals.items():
            scores[name] = score(model, truth.hide(removed), truth, removed, n_draws)
    mnist_pictures.album(model, truth, test.digits, removals, seed=seed).save(folder)
    return {
        "n_rows": {"train": len(train), "test": len(test)},
        "seconds": {"fit": fitted - began, "score": time.perf_counter() - fitted},
        "scores": {name: _rounded(found) for name, found in scores.items()},
        "losses": [round(progress.loss * N_PIXELS, 3) for progress in model.history_],
    }


def _rounded(found: Score) -> dict[str, float | None]:
    return {name: None if x is None else float(f"{x:.6g}") for name, x in asdict(found).items()}


EXPERIMENT = Experiment(play, lambda _: ("mnist",), mnist_page.sections)
