"""`make run`: the questionnaire of the demo is served until somebody stops it."""

import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from eddi import demo
from eddi.cli import demo_model

from .conftest import start
from .server import Server

ROOT = Path(__file__).parents[2]
DEFAULT_PORT = 8000


def test_the_demo_is_served_until_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = demo.load_table().slice(0, 400)
    monkeypatch.setattr(demo, "load_table", lambda: table)
    monkeypatch.setattr(demo_model, "MAX_STEPS", 5)
    demo_model.prepare_model(tmp_path, Console(quiet=True))
    with socket.socket() as occupied:
        # The server selects another port if the default one is in use, by this test or by anybody.
        occupied.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            occupied.bind(("127.0.0.1", DEFAULT_PORT))
            occupied.listen()
        except OSError:
            pass
        server = Server(start("demo", "--serve", "-o", tmp_path, folder=tmp_path))
        try:
            start_page = httpx.get(server.address, timeout=60).text
            assert demo_model.TITLE in start_page
            assert start_page.count("not medical advice") == 1
            interview = httpx.post(f"{server.address}/interviews", timeout=60)
            assert interview.status_code == 201
            texts = {question.text for question in demo.load_schema().questions}
            assert interview.json()["question"]["text"] in texts
        finally:
            code = server.end(signal.SIGINT)
    assert code == 0
    assert server.output == ""
    assert f"port {DEFAULT_PORT} is in use, so another one is used" in server.messages
    assert "stopped. All acknowledged answers are saved." in server.messages
    assert "Traceback" not in server.messages
    assert (tmp_path / demo_model.STORE_FILE).stat().st_size > 0


def test_make_run_installs_the_web_extra_and_serves_the_demo() -> None:
    printed = subprocess.run(
        ["make", "--no-print-directory", "-n", "-B", "run"],  # `make test` would print the directory
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '-e ".[plots,web]"' in printed.stdout
    assert printed.stdout.rstrip().endswith("eddi demo --serve")


@pytest.mark.slow
def test_the_demo_is_trained_in_less_than_two_minutes_and_tells_people_apart(tmp_path: Path) -> None:
    started_at = time.process_time()  # other programs do not count
    model = demo_model.prepare_model(tmp_path, Console(quiet=True))
    assert time.process_time() - started_at < 120
    _, held_out = demo.split_table(demo.load_table())
    quality = model.measure_quality(held_out)["blood sugar"]
    assert quality.metrics["auroc"] > 0.77
    assert quality.n_enough <= 12
    assert quality.n_questions == 30
