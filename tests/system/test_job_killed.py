"""A server killed while it trains goes on when it starts again, and ends with the same bits."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from eddi import PartialVAE, Schema
from eddi.partial_vae import load
from eddi.service.analyst.jobs.job_worker import choose_held_out
from eddi.table import formats

from .test_serve_killed import LOCAL, Server, served

STEPS = 2000  # some seconds, in which a checkpoint is written and the job killed twice
SEED = 7
SECONDS_TO_TRAIN = 180  # on a busy machine


def until(reached: Callable[[], Any]) -> Any:
    end = time.monotonic() + SECONDS_TO_TRAIN
    while time.monotonic() < end:
        if found := reached():
            return found
        time.sleep(0.05)
    raise AssertionError("it took too long")


def children(server: Server) -> list[int]:
    """The processes that a server started."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", f"{server.process.pid}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [int(word) for word in listed.stdout.split()]


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that ended but was not waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_training_goes_on_after_a_kill_of_the_server_and_of_the_job(
    fitted: Path, tmp_path: Path, people_csv: str
) -> None:
    with served(fitted, tmp_path, LOCAL) as server, httpx.Client(timeout=60) as client:
        client.base_url = httpx.URL(server.address)
        brought = client.post("/tables", files={"file": ("people.csv", people_csv.encode())}).json()
        asked = {"kind": "fit", "table": brought["id"], "target": ["risk"], "recipe": "paper"}
        job = client.post("/jobs", json={**asked, "steps": STEPS, "seed": SEED}).json()["id"]
        place = tmp_path / "workshop" / "jobs" / job
        until((place / "checkpoint").exists)
        [process] = children(server)
        os.kill(process, signal.SIGKILL)  # the job alone: the server takes it up again
        [again] = until(lambda: [one for one in children(server) if one != process])
        n_before = client.get(f"/jobs/{job}").json()["history"][-1]["step"]
        until(lambda: client.get(f"/jobs/{job}").json()["history"][-1]["step"] > n_before)
        turn = client.post("/interviews").json()  # people are interviewed meanwhile
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        until(lambda: not is_alive(again))  # no process is left behind
    assert n_before < STEPS

    with served(fitted, tmp_path, LOCAL) as server, httpx.Client(timeout=60) as client:
        client.base_url = httpx.URL(server.address)
        assert client.get(f"/interviews/{turn['id']}").json()["question"] == turn["question"]
        state = until(lambda: (one := client.get(f"/jobs/{job}").json())["state"] == "finished" and one)
        assert [one["step"] for one in state["history"]] == list(range(100, STEPS + 1, 100))
        file = tmp_path / "model.eddi"
        file.write_bytes(client.get(f"/models/{state['model']}/file").content)
        [judging] = [one["id"] for one in client.get("/jobs").json() if one["kind"] == "evaluate"]
        client.delete(f"/jobs/{judging}")
        schema = Schema.from_document(client.get(f"/tables/{brought['id']}").json()["schema"])

    (tmp_path / "people.csv").write_text(people_csv, encoding="utf-8")
    rows = formats.read(tmp_path / "people.csv")
    kept = np.setdiff1d(np.arange(rows.num_rows), choose_held_out(rows.num_rows, 0.2, seed=SEED))
    alone = PartialVAE(schema, "risk", recipe="paper", max_steps=STEPS, random_state=SEED)
    expected = alone.fit(rows.take(kept)).network_.state_dict()
    for name, value in load(file).network_.state_dict().items():
        assert bool((value == expected[name]).all()), name
