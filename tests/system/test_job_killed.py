"""Training on the server survives a kill of the job and of the server, and ends with the same weights."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from eddi import PartialVAE, Schema
from eddi.partial_vae import load
from eddi.table import formats

from .server import Server, run_server

pytestmark = pytest.mark.slow

N_STEPS = 1300  # takes three seconds, in which the job can be killed twice; checkpoints are 1 s apart
HELD_OUT_SHARE = 0.2  # the server's default
SEED = 7
TIMEOUT_S = 180  # on a busy machine
STORE = "sqlite:///answers.db"


def wait_for(condition: Callable[[], Any]) -> Any:
    """Wait until a condition holds, and return its value."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"the condition did not hold within {TIMEOUT_S} s")


def find_children(server: Server) -> list[int]:
    """The processes that a server started."""
    command = ["ps", "-o", "pid=", "--ppid", f"{server.process.pid}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]


def is_alive(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_training_resumes_after_a_kill_of_the_job_and_after_a_kill_of_the_server(
    fitted: Path, tmp_path: Path, people_csv: str
) -> None:
    with run_server(fitted, tmp_path, STORE) as server, httpx.Client(timeout=60) as client:
        client.base_url = httpx.URL(server.address)
        table = client.post("/tables", files={"file": ("people.csv", people_csv.encode())}).json()
        order = {"kind": "fit", "table": table["id"], "target": ["risk"], "recipe": "paper"}
        job = client.post("/jobs", json={**order, "steps": N_STEPS, "seed": SEED}).json()["id"]

        def last_step() -> int:
            return int(client.get(f"/jobs/{job}").json()["history"][-1]["step"])

        wait_for((tmp_path / "workshop" / "jobs" / job / "checkpoint").exists)
        [process] = find_children(server)
        os.kill(process, signal.SIGKILL)  # the job alone: the server starts it again
        [restarted] = wait_for(lambda: [pid for pid in find_children(server) if pid != process])
        n_before = last_step()
        assert n_before < N_STEPS
        wait_for(lambda: last_step() > n_before)
        interview = client.post("/interviews").json()  # interviews continue during training
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        wait_for(lambda: not is_alive(restarted))  # the job ends with its server

    with run_server(fitted, tmp_path, STORE) as server, httpx.Client(timeout=60) as client:
        client.base_url = httpx.URL(server.address)
        state = client.get(f"/interviews/{interview['id']}").json()
        assert state["question"] == interview["question"]
        finished = wait_for(
            lambda: (found := client.get(f"/jobs/{job}").json())["state"] == "finished" and found
        )
        steps = [progress["step"] for progress in finished["history"]]
        assert steps == list(range(100, N_STEPS + 1, 100))
        model_file = tmp_path / "model.eddi"
        model_file.write_bytes(client.get(f"/models/{finished['model']}/file").content)
        schema = Schema.from_document(client.get(f"/tables/{table['id']}").json()["schema"])

    expected = fit_training_rows(people_csv, schema, tmp_path).network_.state_dict()
    for name, value in load(model_file).network_.state_dict().items():
        assert bool((value == expected[name]).all()), name


def fit_training_rows(people_csv: str, schema: Schema, folder: Path) -> PartialVAE:
    """The model of an uninterrupted run on the rows that the server does not hold out."""
    (folder / "people.csv").write_text(people_csv, encoding="utf-8")
    rows = formats.read(folder / "people.csv")
    order = np.random.default_rng(SEED).permutation(rows.num_rows)
    training = np.sort(order[round(HELD_OUT_SHARE * rows.num_rows) :])
    model = PartialVAE(schema, "risk", recipe="paper", max_steps=N_STEPS, random_state=SEED)
    return model.fit(rows.take(training))
