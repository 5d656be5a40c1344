"""A small model of the demonstration, which trains in seconds."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from eddi import PartialVAE, demo
from eddi.cli import demo_model

N_ROWS = 400
KEY = "0" * 32  # of the interview in the stored folder
LOGGERS = ("eddi.service", "uvicorn.error", "uvicorn.access")  # that `eddi serve` configures


class DemoRun(NamedTuple):
    """What `demo_model.prepare_model` returned, wrote and printed."""

    model: PartialVAE
    folder: Path
    output: str


@pytest.fixture(autouse=True)
def restored_logs() -> Iterator[None]:
    """A command that runs in this process logs to a stream that is closed after it."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger.handlers, logger.propagate, logger.level, logger.disabled) for logger in loggers]
    yield
    for logger, settings in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate, logger.level, logger.disabled = settings


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of the demonstration has few rows, and training has few steps."""
    shrink_demo(monkeypatch)


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> DemoRun:
    """A small model of the demonstration."""
    folder, out = tmp_path_factory.mktemp("demo") / "a new folder", io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        shrink_demo(patch)
        model = demo_model.prepare_model(folder, Console(file=out, width=100))
    return DemoRun(model, folder, out.getvalue())


def shrink_demo(patch: pytest.MonkeyPatch) -> None:
    table = demo.load_table().slice(0, N_ROWS)
    patch.setattr(demo, "load_table", lambda: table)
    patch.setattr(demo_model, "MAX_STEPS", 20)


@pytest.fixture
def stored_folder(tmp_path: Path, model: PartialVAE) -> Path:
    """A folder with a store, its workshop, and one interview about the stage of a person."""
    from eddi.service.analyst.workshop import Workshop
    from eddi.store.factory import open_store

    store = open_store(f"sqlite:///{tmp_path}/answers.db")
    workshop = Workshop(store, tmp_path / "workshop")
    model.save(tmp_path / "model.eddi")
    digest = workshop.blobs.put(tmp_path / "model.eddi")
    workshop.publisher.publish("people", model=digest, target=["stage"])
    facts = {"questionnaire": "people", "version": 1, "model": digest, "target": ["stage"]}
    store.append(f"interview/{KEY}", "opened", facts, after=0)
    store.close()
    return tmp_path
