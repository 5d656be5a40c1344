"""The speed benchmark compares two loops that compute the same thing."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi_benchmarks.__main__ import main
from eddi_benchmarks.speed import training_speed
from eddi_benchmarks.speed.training_speed import BOSTON, ENCODERS, MNIST, Pair, UnfairError

SMALL = replace(BOSTON, n_rows=120)
PIXELS = replace(
    MNIST,
    n_rows=120,
    n_variables=30,
    recipe=replace(MNIST.recipe, term=12, hidden=(16, 12, 8), latent=4, identity=5),
)


@pytest.fixture(autouse=True)
def no_datasets(data):
    """Random rows of the same sizes stand in for the datasets."""


@pytest.mark.parametrize("set_encoder", ENCODERS)
@pytest.mark.parametrize("sizes", [SMALL, PIXELS], ids=lambda sizes: sizes.name)
def test_both_networks_give_the_same_loss_and_gradient(sizes, set_encoder):
    pair = Pair.of(sizes, set_encoder)
    ours, plain = pair.losses()
    assert ours.item() == pytest.approx(plain.item(), rel=1e-4)
    ours.backward()
    plain.backward()
    linears = [layer for layer in pair.plain.decoder if isinstance(layer, torch.nn.Linear)]
    for layer, other in zip(pair.ours.decoder.layers, linears, strict=True):
        torch.testing.assert_close(layer.weight.grad, other.weight.grad, rtol=1e-3, atol=1e-5)


def test_networks_that_differ_are_refused():
    pair = Pair.of(SMALL, "pnp")
    with torch.no_grad():
        pair.plain.decoder[-1].bias += 0.1
    with pytest.raises(UnfairError, match="must agree before their speeds mean anything"):
        pair.check_fair()


@pytest.mark.parametrize("place", [0, 1], ids=["ours", "plain"])
def test_both_loops_really_train(place):
    pair = Pair.of(SMALL, "pnp")
    before = [loss.item() for loss in pair.losses()]
    pair.loops()[place](200)
    after = [loss.item() for loss in pair.losses()]
    assert after[place] < 0.8 * before[place]
    assert after[1 - place] == before[1 - place]


def test_both_loops_walk_as_far_in_as_many_steps():
    pair = Pair.of(SMALL, "pnp")
    for loop in pair.loops():
        loop(300)
    ours, plain = (loss.item() for loss in pair.losses())
    assert ours == pytest.approx(plain, abs=0.15)


def test_the_ratio_is_that_of_the_speeds(monkeypatch):
    monkeypatch.setattr(training_speed, "MAX_SEGMENT_STEPS", 20)
    speed = training_speed.measure(PIXELS, "pnp", threads=1, repeats=1)
    assert speed.ratio == pytest.approx(speed.ours / speed.plain)
    assert (speed.sizes, speed.set_encoder, speed.threads) == ("mnist", "pnp", 1)


def test_threads_are_put_back_even_after_an_error():
    def fail():
        with training_speed._threads(2):
            assert torch.get_num_threads() == 2
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert torch.get_num_threads() == 1


def test_a_turn_has_fewer_steps_where_a_step_is_slow(monkeypatch):
    monkeypatch.setattr(training_speed, "_seconds", lambda loop, n: n * loop.step)

    def segment(step):
        def loop(n_steps):
            pass

        loop.step = step
        return training_speed._segment(loop)

    assert [segment(step) for step in (0.0001, 0.02, 3.0)] == [300, 50, 5]


@pytest.mark.skipif(training_speed.resident_megabytes() is None, reason="/proc does not tell memory")
def test_memory_is_read_at_the_two_steps():
    held = training_speed.memory(SMALL, "zi", early=100, late=300)
    assert (held.early_step, held.late_step) == (100, 300)
    assert held.early > 10
    assert math.isfinite(held.late)


def test_rows_stand_in_for_a_dataset_that_is_not_here():
    assert training_speed.rows_of(BOSTON).shape == (506, 14)
    pixels = training_speed.rows_of(PIXELS)
    assert pixels.shape == (120, 30)
    assert set(np.unique(pixels)) == {0, 1}


@pytest.mark.filterwarnings("ignore:.*of the dataset 'mnist':eddi.errors.EddiWarning")
@pytest.mark.usefixtures("mnist")
def test_mnist_is_used_as_black_and_white_where_it_is_here():
    pixels = training_speed.rows_of(MNIST)
    assert pixels.shape == (5, 784)
    assert pixels[0, 127:129].tolist() == [0, 1]


def test_the_command_prints_a_table_and_writes_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(training_speed, "BOSTON", replace(SMALL, encoders=("zi", "pnp")))
    monkeypatch.setattr(training_speed, "MNIST", PIXELS)
    monkeypatch.setattr(training_speed, "MAX_SEGMENT_STEPS", 20)
    assert main(["training-speed", "--quick", "--results", str(tmp_path)]) == 0
    assert "times faster" in capsys.readouterr().out
    content = json.loads((tmp_path / "quick" / "training-speed.json").read_text())
    assert [(one["sizes"], one["set_encoder"]) for one in content["speeds"]] == [
        ("boston", "zi"),
        ("boston", "pnp"),
        ("mnist", "pnp"),
    ]
    assert content["memory"] is None or content["memory"]["late_step"] == 1000
