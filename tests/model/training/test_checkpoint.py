"""Checkpoints: an interrupted run resumes and ends with the weights of an uninterrupted one."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.errors import ModelFileError
from eddi.model.recipe import DEFAULT
from eddi.model.training import loop

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32, folds=0)


class InterruptedRunError(Exception):
    """Raised to end a run early."""


pytestmark = pytest.mark.usefixtures("short_rounds")


@pytest.fixture(autouse=True)
def save_every_round(monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_SAVES", -1.0)


def draw_table(seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(80, 1)) + 0.5 * random.normal(size=(80, 4))


def fit(table=None, **settings):
    settings = {"recipe": SMALL, "max_steps": 30, "random_state": 0, **settings}
    return PartialVAE(**settings).fit(draw_table() if table is None else table)


def fit_until(step, path, **settings):
    def interrupt(progress):
        if progress.step >= step:
            raise InterruptedRunError

    with pytest.raises(InterruptedRunError):
        fit(checkpoint=path, on_progress=interrupt, **settings)


def copy_weights(model):
    return {key: value.clone() for key, value in model.network_.state_dict().items()}


def are_equal(first, second):
    return all(torch.equal(first[key], second[key]) for key in first)


@pytest.fixture(scope="module")
def uninterrupted(short_rounds):  # noqa: ARG001  # used for its effect
    """The weights of a run that was not interrupted."""
    return copy_weights(fit())


@pytest.mark.parametrize("step", [10, 20, 30])
def test_a_resumed_run_ends_with_identical_weights(tmp_path, uninterrupted, step):
    fit_until(step, tmp_path / "run")
    resumed = fit(checkpoint=tmp_path / "run")
    assert are_equal(copy_weights(resumed), uninterrupted)
    assert [progress.step for progress in resumed.history_] == [10, 20, 30]


def test_a_resumed_run_does_not_repeat_finished_rounds(tmp_path):
    fit_until(20, tmp_path / "run")
    reported = []
    fit(checkpoint=tmp_path / "run", on_progress=reported.append)
    assert [progress.step for progress in reported] == [20, 30]


def test_a_finished_run_is_not_trained_again(tmp_path, uninterrupted):
    fit(checkpoint=tmp_path / "run")
    reported = []
    again = fit(checkpoint=tmp_path / "run", on_progress=reported.append)
    assert reported == []
    assert are_equal(copy_weights(again), uninterrupted)


def test_a_run_without_a_seed_can_be_resumed(tmp_path):
    fit_until(20, tmp_path / "run", random_state=None)
    resumed = fit(checkpoint=tmp_path / "run", random_state=None)
    assert resumed.history_[-1].step == 30


@pytest.mark.slow
def test_a_run_whose_process_was_killed_can_be_resumed(tmp_path, uninterrupted):
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import conftest, test_checkpoint as t\n"
        "conftest.shorten_rounds(setattr); t.loop.SECONDS_BETWEEN_SAVES = -1.0\n"
        "t.fit(checkpoint=sys.argv[2], on_progress=lambda progress: t.time.sleep(0.2))\n"
    )
    path = tmp_path / "run"
    folder = str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", script, folder, str(path)])
    deadline = time.monotonic() + 60
    while not path.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    resumed = fit(checkpoint=path)
    assert are_equal(copy_weights(resumed), uninterrupted)


@pytest.mark.parametrize(
    "change",
    [
        {"table": draw_table(seed=1)},
        {"max_steps": 60},
        {"set_encoder": "pn"},
        {"target": "x1"},
        {"random_state": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, change):
    fit_until(20, tmp_path / "run")
    with pytest.raises(ModelFileError, match="belongs to another training run: its table, schema, set"):
        fit(checkpoint=tmp_path / "run", **change)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused(tmp_path, share):
    path = tmp_path / "run"
    fit_until(20, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelFileError, match=r"cannot be read.*Delete it to start training again"):
        fit(checkpoint=path)


def test_a_file_that_is_not_a_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"age,risk\n61,0.3\n" * 100)
    with pytest.raises(ModelFileError, match="cannot be read"):
        fit(checkpoint=path)


def test_a_missing_folder_is_refused_before_training(tmp_path):
    reported = []
    with pytest.raises(ModelFileError, match=r"the folder of .* does not exist. Create the folder"):
        fit(checkpoint=tmp_path / "nowhere" / "run", on_progress=reported.append)
    assert reported == []


def test_no_temporary_file_is_left_behind(tmp_path):
    fit(checkpoint=tmp_path / "run", max_steps=10)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
