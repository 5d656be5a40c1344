"""A server that is killed in mid-answer has kept every answer it acknowledged, and none twice."""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from .conftest import Eddi, start

N_PEOPLE = 6
N_BEFORE_KILL = 25  # acknowledged answers
LOCAL = "sqlite:///answers.db"


class Server:
    """`eddi serve` in a process of its own."""

    def __init__(self, model: Path, folder: Path, store: str, *words: str) -> None:
        words = ("--store", store, "--port", "0", *words)
        self.process = start("serve", model, *words, folder=folder)
        self.talk = ""
        self.address = self._address()
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    def _address(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.talk += line
            if found := re.search(r"served at (http://\S+)", line):
                return found[1]
        raise AssertionError(self.talk)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.talk += line

    def end(self, sent: int) -> int:
        self.process.send_signal(sent)
        code = self.process.wait(30)
        self._reader.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code


@contextmanager
def served(model: Path, folder: Path, store: str, *words: str) -> Iterator[Server]:
    server = Server(model, folder, store, *words)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


@dataclass
class Person:
    """What one respondent saw of their interviews."""

    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)  # by interview, then question
    waiting: tuple[str, str, Any] | None = None  # interview, question and answer under way
    turns: dict[str, Any] = field(default_factory=dict)  # the last turn of each interview


def said(question: dict[str, Any]) -> Any:
    [variable] = question["reveals"]
    return variable["levels"][0] if "levels" in variable else variable.get("low", 60.5)


def name_of(question: dict[str, Any] | None) -> str | None:
    return question["name"] if question else None  # rewards differ by rounding in another batch


def hold_interviews(address: str, person: Person, heard: threading.Semaphore) -> None:
    """Answer one question after the other until the server is gone."""
    with httpx.Client(base_url=address, timeout=30) as client:
        try:
            while True:
                turn = client.post("/interviews").json()
                key = turn["id"]
                person.acknowledged[key] = {}
                while turn["question"] is not None:
                    name = turn["question"]["name"]
                    person.waiting = (key, name, said(turn["question"]))
                    turn = tell(client, *person.waiting)
                    person.acknowledged[key][name] = True
                    person.turns[key] = turn
                    person.waiting = None
                    heard.release()
        except httpx.TransportError:
            return


def tell(client: httpx.Client, key: str, name: str, value: Any) -> Any:
    response = client.post(
        f"/interviews/{key}/answers",
        json={"question": name, "values": value},
        headers={"Idempotency-Key": name.encode().hex()},
    )
    assert response.status_code == 200, response.text
    return response.json()


def test_a_killed_server_has_kept_every_acknowledged_answer_once(
    fitted: Path, tmp_path: Path, store_url: str, eddi: Eddi
) -> None:
    people = [Person() for _ in range(N_PEOPLE)]
    heard = threading.Semaphore(0)
    with served(fitted, tmp_path, store_url) as server:
        threads = [
            threading.Thread(target=hold_interviews, args=(server.address, person, heard))
            for person in people
        ]
        for thread in threads:
            thread.start()
        for _ in range(N_BEFORE_KILL):
            assert heard.acquire(timeout=60)
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        for thread in threads:
            thread.join()
    assert sum(len(told) for person in people for told in person.acknowledged.values()) >= N_BEFORE_KILL

    with (
        served(fitted, tmp_path, store_url) as again,
        httpx.Client(base_url=again.address, timeout=30) as client,
    ):
        for person in people:
            for key, told in person.acknowledged.items():
                state = client.get(f"/interviews/{key}").json()
                kept = [answer["question"] for answer in state["answers"]]
                under_way = {person.waiting[1]} if person.waiting and person.waiting[0] == key else set()
                assert len(kept) == len(set(kept))
                assert set(told) <= set(kept) <= set(told) | under_way
                if set(kept) == set(told) and key in person.turns:
                    assert name_of(state["question"]) == name_of(person.turns[key]["question"])
            if person.waiting is not None:  # the retry of what was never acknowledged
                key, name, value = person.waiting
                tell(client, key, name, value)
                answers = client.get(f"/interviews/{key}").json()["answers"]
                assert [answer["question"] for answer in answers].count(name) == 1
        assert again.end(signal.SIGTERM) == 0
    assert "All acknowledged answers are saved" in again.talk
    for person in people:
        assert not any(key in server.talk + again.talk for key in person.acknowledged)
    verified = eddi("store", "verify", store_url)
    assert verified.returncode == 0, verified.stderr


def test_two_servers_on_one_database_give_the_same_next_question(
    fitted: Path, tmp_path: Path, postgres_url: str, eddi: Eddi
) -> None:
    """Each answer goes to the other server; both then say the same, and neither takes it twice."""
    assert eddi("store", "upgrade", postgres_url).returncode == 0
    with served(fitted, tmp_path, postgres_url) as one, served(fitted, tmp_path, postgres_url) as other:
        addresses = (one.address, other.address)
        clients = [httpx.Client(base_url=address, timeout=30) for address in addresses]
        keys = [clients[number % 2].post("/interviews").json()["id"] for number in range(4)]
        for turn in range(4):
            for number, key in enumerate(keys):
                here, there = (client.get(f"/interviews/{key}") for client in clients)
                assert here.json() == there.json()
                assert here.headers["etag"] == there.headers["etag"]
                question = here.json()["question"]
                if question is not None:
                    tell(clients[(turn + number) % 2], key, question["name"], said(question))
                    tell(clients[(turn + number + 1) % 2], key, question["name"], said(question))
        for key in keys:
            answers = clients[0].get(f"/interviews/{key}").json()["answers"]
            assert len(answers) == len({answer["question"] for answer in answers}) == 4
        for client in clients:
            client.close()


def test_an_interview_goes_on_as_it_began_when_the_server_starts_with_other_rules(
    fitted: Path, tmp_path: Path
) -> None:
    with served(fitted, tmp_path, LOCAL, "--after", "1") as server:
        turn = httpx.post(f"{server.address}/interviews").json()
        assert server.end(signal.SIGTERM) == 0
    with (
        served(fitted, tmp_path, LOCAL, "--after", "3") as server,
        httpx.Client(base_url=server.address) as client,
    ):
        assert tell(client, turn["id"], turn["question"]["name"], None)["question"] is None
        new = client.post("/interviews").json()
        assert tell(client, new["id"], new["question"]["name"], None)["question"] is not None


def test_the_address_and_what_to_try_are_printed_and_ctrl_c_is_no_error(
    fitted: Path, tmp_path: Path
) -> None:
    with served(fitted, tmp_path, LOCAL, "--after", "1") as server:
        turn = httpx.post(f"{server.address}/interviews").json()
        body = {"question": turn["question"]["name"], "values": None}
        done = httpx.post(f"{server.address}/interviews/{turn['id']}/answers", json=body).json()
        assert done["question"] is None
        assert httpx.get(server.address).status_code == 200
        assert server.end(signal.SIGINT) == 0
    for words in (
        f"curl -X POST {server.address}/interviews",
        "/openapi.json",
        "answers.db. Press Ctrl-C",
    ):
        assert words in server.talk
    assert "Traceback" not in server.talk
