"""Fixtures for MNIST: small artificial images and a model of them."""

from dataclasses import replace

import numpy as np
import pytest

from eddi_benchmarks.paper.mnist import experiment as mnist
from eddi_benchmarks.paper.mnist.examples import Examples

SMALL = replace(mnist.RECIPE, latent=3, identity=4, term=16, hidden=(16, 16, 8), max_steps=100)


@pytest.fixture(scope="session")
def small_recipe():
    return SMALL


@pytest.fixture(scope="session")
def images():
    """Noisy images of two kinds: a bar on the left (4) or on the right (9)."""
    random = np.random.default_rng(0)
    digits = np.arange(400, dtype=np.uint8) % 2 * 5 + 4  # fours and nines
    pixels = np.zeros((400, 28, 28), dtype=bool)
    pixels[digits == 4, :, 4:10] = True
    pixels[digits == 9, :, 18:24] = True
    pixels ^= random.random(pixels.shape) < 0.02
    return mnist.Images(pixels.reshape(400, -1).astype(np.uint8), digits)


@pytest.fixture(scope="session")
def model(images):
    recipe = replace(SMALL, hidden=(32, 16), learning_rate=5e-3, max_steps=300)
    return mnist.fit("pnp", images[:300], recipe, seed=0)


@pytest.fixture(scope="session")
def examples(model, images):
    """Examples of the images 300 to 399."""
    test = images[300:]
    removals = {"random": mnist.random_removal(100, 0), "region": mnist.region_removal(100)}
    truth = model.evidence(test.to_table())
    return Examples.from_model(model, truth, test.digits, removals=removals, seed=0)
