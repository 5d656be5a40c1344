"""Example images of a model."""

import numpy as np

from eddi_benchmarks.paper.mnist.examples import Examples


def test_the_model_completes_the_bar_from_the_lower_part(examples):
    filled = examples.region_filled.reshape(2, 28, 28) / 255
    assert filled[0, :17, 4:10].mean() > 0.7 > 0.3 > filled[0, :17, 18:24].mean()
    assert filled[1, :17, 18:24].mean() > 0.7 > 0.3 > filled[1, :17, 4:10].mean()
    assert examples.completions.shape == (2, 8, 784)


def test_observed_pixels_are_unchanged(examples):
    observed = examples.random == 0
    assert (examples.random_filled[observed] == examples.truth[observed]).all()


def test_examples_are_loaded_as_they_were_saved(examples, tmp_path):
    assert Examples.load(tmp_path) is None
    examples.save(tmp_path)
    loaded = Examples.load(tmp_path)
    assert np.array_equal(loaded.completions, examples.completions)
    with np.load(tmp_path / "images.npz") as arrays:
        assert "several" in arrays  # the name in earlier results
