"""Servers that are killed, restarted with other options, or share a database."""

import os
import signal
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from .conftest import Invoke
from .server import Server, run_server

N_RESPONDENTS = 6
N_ACKNOWLEDGED = 25  # answers before the server is killed
LOCAL_STORE = "sqlite:///answers.db"


@dataclass
class Respondent:
    """What one respondent knows of their interviews, by interview."""

    acknowledged: dict[str, set[str]] = field(default_factory=dict)  # questions
    steps: dict[str, Any] = field(default_factory=dict)  # the last response
    pending: tuple[str, str, Any] | None = None  # interview, question and answer without a response


def choose_answer(question: dict[str, Any]) -> Any:
    [variable] = question["reveals"]
    return variable["levels"][0] if "levels" in variable else variable.get("low", 60.5)


def question_name(step: dict[str, Any]) -> str | None:
    """The name of the next question; rewards may differ by a rounding error between batches."""
    return step["question"]["name"] if step["question"] else None


def post_answer(client: httpx.Client, key: str, name: str, value: Any) -> Any:
    response = client.post(
        f"/interviews/{key}/answers",
        json={"question": name, "values": value},
        headers={"Idempotency-Key": name.encode().hex()},
    )
    assert response.status_code == 200, response.text
    return response.json()


def answer_questions(address: str, respondent: Respondent, acknowledged: threading.Semaphore) -> None:
    """Hold one interview after the other until the server is gone."""
    with httpx.Client(base_url=address, timeout=30) as client:
        try:
            while True:
                step = client.post("/interviews").json()
                key = step["id"]
                respondent.acknowledged[key] = set()
                while step["question"] is not None:
                    name = step["question"]["name"]
                    respondent.pending = (key, name, choose_answer(step["question"]))
                    step = post_answer(client, *respondent.pending)
                    respondent.acknowledged[key].add(name)
                    respondent.steps[key] = step
                    respondent.pending = None
                    acknowledged.release()
        except httpx.TransportError:
            return


def kill_during_interviews(server: Server) -> list[Respondent]:
    """Kill a server while several respondents answer questions."""
    respondents = [Respondent() for _ in range(N_RESPONDENTS)]
    acknowledged = threading.Semaphore(0)
    threads = [
        threading.Thread(target=answer_questions, args=(server.address, respondent, acknowledged))
        for respondent in respondents
    ]
    for thread in threads:
        thread.start()
    for _ in range(N_ACKNOWLEDGED):
        assert acknowledged.acquire(timeout=60)
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    for thread in threads:
        thread.join()
    n_answers = sum(
        len(names) for respondent in respondents for names in respondent.acknowledged.values()
    )
    assert n_answers >= N_ACKNOWLEDGED
    return respondents


def check_answers(client: httpx.Client, respondents: list[Respondent]) -> None:
    """Every acknowledged answer is stored once; a request without a response may be repeated."""
    for respondent in respondents:
        for key, acknowledged in respondent.acknowledged.items():
            state = client.get(f"/interviews/{key}").json()
            stored = [answer["question"] for answer in state["answers"]]
            assert len(stored) == len(set(stored))
            pending = respondent.pending
            possible = {pending[1]} if pending is not None and pending[0] == key else set()
            assert acknowledged <= set(stored) <= acknowledged | possible
            if set(stored) == acknowledged and key in respondent.steps:
                assert question_name(state) == question_name(respondent.steps[key])
        if respondent.pending is not None:
            key, name, value = respondent.pending
            post_answer(client, key, name, value)
            answers = client.get(f"/interviews/{key}").json()["answers"]
            assert [answer["question"] for answer in answers].count(name) == 1


def count_questions(client: httpx.Client, interview: dict[str, Any]) -> int:
    """Answer the questions of an interview until its end."""
    step, n_asked = interview, 0
    while (question := step["question"]) is not None:
        step = post_answer(client, interview["id"], question["name"], choose_answer(question))
        n_asked += 1
    return n_asked


def check_log(server: Server, respondents: list[Respondent]) -> None:
    """The keys of interviews, which give access to their answers, are not logged."""
    keys = [key for respondent in respondents for key in respondent.acknowledged]
    assert not any(key in server.messages for key in keys)
    assert "Traceback" not in server.messages


@pytest.mark.slow
def test_a_server_that_restarts_after_a_kill_continues_all_interviews(
    fitted: Path, tmp_path: Path, invoke: Invoke
) -> None:
    """The new server has another rule: earlier interviews keep theirs."""
    with run_server(fitted, tmp_path, LOCAL_STORE, "--after", "3") as server:
        earlier = httpx.post(f"{server.address}/interviews").json()
        respondents = kill_during_interviews(server)
    check_log(server, respondents)
    with (
        run_server(fitted, tmp_path, LOCAL_STORE, "--after", "1") as restarted,
        httpx.Client(base_url=restarted.address, timeout=30) as client,
    ):
        check_answers(client, respondents)
        assert count_questions(client, earlier) == 3
        assert count_questions(client, client.post("/interviews").json()) == 1
        assert client.get("/").status_code == 200
        assert restarted.end(signal.SIGTERM) == 0
    check_log(restarted, respondents)
    for message in (
        f"curl -X POST {restarted.address}/interviews",
        "/openapi.json",
        "answers.db. Press Ctrl-C",
        "All acknowledged answers are saved",
    ):
        assert message in restarted.messages
    verified = invoke("store", "verify", LOCAL_STORE)
    assert verified.exit_code == 0, verified.stderr


@pytest.mark.slow
def test_two_servers_on_one_database_agree_and_either_may_be_killed(
    fitted: Path, tmp_path: Path, postgres_url: str, invoke: Invoke
) -> None:
    assert invoke("store", "upgrade", postgres_url).exit_code == 0
    with (
        run_server(fitted, tmp_path, postgres_url) as first,
        run_server(fitted, tmp_path, postgres_url) as second,
        httpx.Client(base_url=first.address, timeout=30) as first_client,
        httpx.Client(base_url=second.address, timeout=30) as second_client,
    ):
        check_agreement([first_client, second_client])
        respondents = kill_during_interviews(first)
        check_answers(second_client, respondents)
        assert second.end(signal.SIGTERM) == 0
    check_log(first, respondents)
    check_log(second, respondents)
    verified = invoke("store", "verify", postgres_url)
    assert verified.exit_code == 0, verified.stderr


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_workers_agree_and_lose_nothing_when_one_is_killed(
    fitted: Path, tmp_path: Path, request: pytest.FixtureRequest, invoke: Invoke, database: str
) -> None:
    """Each connection of a client stays at one worker; new connections reach both."""
    url = LOCAL_STORE if database == "sqlite" else request.getfixturevalue("postgres_url")
    if database == "postgresql":
        assert invoke("store", "upgrade", url).exit_code == 0
    with run_server(fitted, tmp_path, url, "--workers", "2") as server, ExitStack() as stack:
        clients = [
            stack.enter_context(httpx.Client(base_url=server.address, timeout=30)) for _ in range(8)
        ]
        for first, second in zip(clients[::2], clients[1::2], strict=True):
            check_agreement([first, second])
        workers = worker_pids(server)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        with httpx.Client(base_url=server.address, timeout=30) as client:
            interview = client.post("/interviews").json()
            assert count_questions(client, interview) > 0
        assert workers[0] not in wait_for_new_worker(server, killed=workers[0])
        assert server.end(signal.SIGTERM) == 0
    verified = invoke("store", "verify", url)
    assert verified.exit_code == 0, verified.stderr


def wait_for_new_worker(server: Server, *, killed: int) -> list[int]:
    """Return the process numbers of the workers once there are two without the one that was killed."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pids = worker_pids(server)
        if killed not in pids and len(pids) == 2:
            return pids
        time.sleep(0.1)
    raise AssertionError("the killed worker was not replaced")


def worker_pids(server: Server) -> list[int]:
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in children.split()]


def check_agreement(clients: list[httpx.Client]) -> None:
    """Each answer is sent to both servers; they store it once, and give the same next question."""
    keys = [clients[number % 2].post("/interviews").json()["id"] for number in range(4)]
    for turn in range(4):
        for number, key in enumerate(keys):
            states = [client.get(f"/interviews/{key}") for client in clients]
            assert states[0].json() == states[1].json()
            assert states[0].headers["etag"] == states[1].headers["etag"]
            question = states[0].json()["question"]
            if question is not None:
                for client in (clients[(turn + number) % 2], clients[(turn + number + 1) % 2]):
                    post_answer(client, key, question["name"], choose_answer(question))
    for key in keys:
        answers = clients[0].get(f"/interviews/{key}").json()["answers"]
        assert len(answers) == len({answer["question"] for answer in answers}) == 4
