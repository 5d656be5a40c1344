"""`make run`: the demonstration's questionnaire at an address, until somebody stops it."""

import re
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from eddi.cli import demo_run

from .conftest import start

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demonstration's model is, hardly trained."""
    made = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_run, "MAX_STEPS", 5)
        demo_run.prepare_model(made, Console(quiet=True))
    return made


def address(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Where it is served, and what was said so far."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r"served at (http://\S+)", line):
            return found[1], said
    raise AssertionError(said)


def test_it_serves_without_a_terminal_until_stopped(folder: Path) -> None:
    with socket.socket() as taken:
        # Where the usual port is taken it moves on, and where it is free we are not to be in the way.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8000))
            taken.listen()
        except OSError:
            pass
        process = start("demo", "--serve", "-o", str(folder), folder=folder)
        try:
            where, said = address(process)
            assert "port 8000 is in use, so another one is used" in said
            assert demo_run.TITLE in httpx.get(where).text
            assert httpx.post(f"{where}/interviews").status_code == 201
            process.send_signal(signal.SIGINT)
            out, rest = process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0
    assert "stopped. All acknowledged answers are saved." in rest
    assert out == ""
    assert "Traceback" not in said + rest
    assert (folder / demo_run.STORE_FILE).stat().st_size > 0


def test_make_run_sets_up_the_web_and_serves_the_demonstration() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "-B", "run"],  # make test would make it say where it is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '-e ".[plots,web]"' in done.stdout
    assert done.stdout.rstrip().endswith("eddi demo --serve")
