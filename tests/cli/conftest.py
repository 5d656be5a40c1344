"""A small model of the demonstration, which trains in seconds."""

import io
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from eddi import PartialVAE, demo
from eddi.cli import demo_model

N_ROWS = 400


class DemoRun(NamedTuple):
    """What `demo_model.prepare_model` returned, wrote and printed."""

    model: PartialVAE
    folder: Path
    output: str


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
