"""Training that is killed and taken up again ends where it would have ended."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.errors import ModelFileError
from eddi.model.recipe import DEFAULT
from eddi.model.training import loop

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32)


class PowerCutError(Exception):
    """What ends a run in these tests."""


@pytest.fixture(autouse=True)
def save_every_round(monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_SAVES", -1.0)


def numbers(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(80, 1)) + 0.5 * random.normal(size=(80, 4))


def fit(table=None, **settings):
    settings = {"recipe": SMALL, "max_steps": 500, "random_state": 0, **settings}
    return PartialVAE(**settings).fit(numbers() if table is None else table)


def fit_until(step, path, **settings):
    def cut(progress):
        if progress.step >= step:
            raise PowerCutError

    with pytest.raises(PowerCutError):
        fit(checkpoint=path, on_progress=cut, **settings)


def weights(model):
    return {key: value.clone() for key, value in model.network_.state_dict().items()}


def same(one, two):
    return all(torch.equal(one[key], two[key]) for key in one)


@pytest.fixture(scope="module")
def whole():
    """The weights of a run that nothing interrupted."""
    return weights(fit())


@pytest.mark.parametrize("step", [200, 300, 500])
def test_a_run_cut_short_and_taken_up_again_ends_bit_for_bit_the_same(tmp_path, whole, step):
    fit_until(step, tmp_path / "run")
    resumed = fit(checkpoint=tmp_path / "run")
    assert same(weights(resumed), whole)
    assert [progress.step for progress in resumed.history_] == [100, 200, 300, 400, 500]


def test_a_resumed_run_does_not_repeat_what_was_done(tmp_path):
    fit_until(300, tmp_path / "run")
    told = []
    fit(checkpoint=tmp_path / "run", on_progress=told.append)
    assert [progress.step for progress in told] == [300, 400, 500]


def test_a_finished_run_is_not_trained_again(tmp_path, whole):
    fit(checkpoint=tmp_path / "run")
    told = []
    again = fit(checkpoint=tmp_path / "run", on_progress=told.append)
    assert told == []
    assert same(weights(again), whole)


def test_a_run_without_a_seed_can_be_taken_up_again(tmp_path):
    fit_until(300, tmp_path / "run", random_state=None)
    resumed = fit(checkpoint=tmp_path / "run", random_state=None)
    assert resumed.history_[-1].step == 500


def test_a_process_killed_at_any_moment_leaves_a_run_that_goes_on(tmp_path, whole):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_checkpoint as t\n"
        "t.loop.SECONDS_BETWEEN_SAVES = -1.0\n"
        "t.fit(checkpoint=sys.argv[2], on_progress=lambda progress: t.time.sleep(0.2))\n"
    )
    path = tmp_path / "run"
    here = os.path.dirname(__file__)  # noqa: PTH120
    process = subprocess.Popen([sys.executable, "-c", script, here, str(path)])
    until = time.monotonic() + 60
    while not path.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    resumed = fit(checkpoint=path)
    assert same(weights(resumed), whole)


@pytest.mark.parametrize(
    "change",
    [
        {"table": numbers(seed=1)},
        {"max_steps": 600},
        {"set_encoder": "pn"},
        {"target": "x1"},
        {"random_state": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, change):
    fit_until(200, tmp_path / "run")
    with pytest.raises(ModelFileError, match=r"belongs to another training run: its table, schema, set"):
        fit(checkpoint=tmp_path / "run", **change)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused(tmp_path, share):
    path = tmp_path / "run"
    fit_until(200, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelFileError, match=r"cannot be read.*Delete it to start training anew"):
        fit(checkpoint=path)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"age,risk\n61,0.3\n" * 100)
    with pytest.raises(ModelFileError, match="cannot be read"):
        fit(checkpoint=path)


def test_a_folder_that_does_not_exist_is_refused_before_training(tmp_path):
    told = []
    with pytest.raises(ModelFileError, match=r"in a folder that does not exist. Make the folder"):
        fit(checkpoint=tmp_path / "nowhere" / "run", on_progress=told.append)
    assert told == []


def test_nothing_but_the_checkpoint_is_left_behind(tmp_path):
    fit(checkpoint=tmp_path / "run", max_steps=100)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
