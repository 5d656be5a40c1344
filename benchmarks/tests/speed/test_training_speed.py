"""The training benchmark compares two loops that compute the same."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi_benchmarks.__main__ import main
from eddi_benchmarks.speed import training_speed
from eddi_benchmarks.speed.plain_network import ComparisonError
from eddi_benchmarks.speed.training_speed import BOSTON, ENCODERS, MNIST, NetworkPair

pytestmark = pytest.mark.slow

SMALL = replace(BOSTON, n_rows=120)
PIXELS = replace(
    MNIST,
    n_rows=120,
    n_variables=30,
    recipe=replace(MNIST.recipe, term=12, hidden=(16, 12, 8), latent=4, identity=5),
)


@pytest.fixture(autouse=True)
def no_datasets(data):
    """Without datasets, random rows of the same sizes are used."""


@pytest.mark.parametrize("set_encoder", ENCODERS)
@pytest.mark.parametrize("case", [SMALL, PIXELS], ids=lambda case: case.name)
def test_both_networks_give_the_same_loss_and_gradient(case, set_encoder):
    pair = NetworkPair.from_case(case, set_encoder)
    ours, plain = pair.losses()
    assert ours.item() == pytest.approx(plain.item(), rel=1e-4)
    ours.backward()
    plain.backward()
    linears = [layer for layer in pair.plain.decoder if isinstance(layer, torch.nn.Linear)]
    for layer, other in zip(pair.ours.decoder.layers, linears, strict=True):
        torch.testing.assert_close(layer.weight.grad, other.weight.grad, rtol=1e-3, atol=1e-5)


def test_networks_that_differ_are_not_compared():
    pair = NetworkPair.from_case(SMALL, "pnp")
    with torch.no_grad():
        pair.plain.decoder[-1].bias += 0.1
    with pytest.raises(ComparisonError, match="must agree before speeds are compared"):
        pair.check_losses()


@pytest.mark.parametrize("index", [0, 1], ids=["ours", "plain"])
def test_both_loops_reduce_the_loss(index):
    pair = NetworkPair.from_case(SMALL, "pnp")
    before = [loss.item() for loss in pair.losses()]
    pair.loops()[index](200)
    after = [loss.item() for loss in pair.losses()]
    assert after[index] < 0.8 * before[index]
    assert after[1 - index] == before[1 - index]


def test_both_loops_reach_the_same_loss_in_the_same_number_of_steps():
    pair = NetworkPair.from_case(SMALL, "pnp")
    for loop in pair.loops():
        loop(300)
    ours, plain = (loss.item() for loss in pair.losses())
    assert ours == pytest.approx(plain, abs=0.15)


def test_the_ratio_is_that_of_the_speeds(monkeypatch):
    monkeypatch.setattr(training_speed, "MAX_SEGMENT_STEPS", 20)
    speed = training_speed.measure_speed(PIXELS, "pnp", threads=1, repeats=1)
    assert speed.ratio == pytest.approx(speed.ours / speed.plain)
    assert (speed.sizes, speed.set_encoder, speed.threads) == ("mnist", "pnp", 1)


def test_a_segment_has_fewer_steps_if_steps_are_slow(monkeypatch):
    monkeypatch.setattr(training_speed, "_seconds", lambda loop, n: n * loop.step)

    def n_steps_of(step):
        def loop(n_steps):
            pass

        loop.step = step
        return training_speed._segment_steps(loop)

    assert [n_steps_of(step) for step in (0.0001, 0.02, 3.0)] == [300, 50, 5]


@pytest.mark.skipif(training_speed.resident_megabytes() is None, reason="/proc is not available")
def test_memory_is_measured_at_two_steps():
    memory = training_speed.measure_memory(SMALL, "zi", early=100, late=300)
    assert (memory.early_step, memory.late_step) == (100, 300)
    assert memory.early > 10
    assert math.isfinite(memory.late)


def test_random_rows_replace_a_missing_dataset():
    assert training_speed.load_rows(BOSTON).shape == (506, 14)
    pixels = training_speed.load_rows(PIXELS)
    assert pixels.shape == (120, 30)
    assert set(np.unique(pixels)) == {0, 1}


@pytest.mark.filterwarnings("ignore:.*of the dataset 'mnist':eddi.errors.EddiWarning")
@pytest.mark.usefixtures("mnist")
def test_the_pixels_of_mnist_become_binary():
    pixels = training_speed.load_rows(MNIST)
    assert pixels.shape == (5, 784)
    assert pixels[0, 127:129].tolist() == [0, 1]


def test_the_command_prints_a_table_and_stores_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(training_speed, "BOSTON", replace(SMALL, encoders=("zi", "pnp")))
    monkeypatch.setattr(training_speed, "MNIST", PIXELS)
    monkeypatch.setattr(training_speed, "MAX_SEGMENT_STEPS", 20)
    assert main(["training-speed", "--quick", "--results", str(tmp_path)]) == 0
    assert "times faster" in capsys.readouterr().out
    content = json.loads((tmp_path / "quick" / "training-speed.json").read_text())
    assert [(speed["sizes"], speed["set_encoder"]) for speed in content["speeds"]] == [
        ("boston", "zi"),
        ("boston", "pnp"),
        ("mnist", "pnp"),
    ]
    assert content["memory"] is None or content["memory"]["late_step"] == 1000
