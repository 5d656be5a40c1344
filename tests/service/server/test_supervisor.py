"""The supervisor keeps its workers running. The workers are real processes that start quickly."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="workers share a socket on POSIX only")

WORKER = '''
"""A worker without a model: it answers with its process number, or ends at once if a file says so."""
import argparse, os, pathlib, select, signal, socket, sys, threading
HEAD = b"\\r\\n".join([b"HTTP/1.1 200 OK", b"Content-Length: %d", b"Connection: close", b"\\r\\n"])
parser = argparse.ArgumentParser()
for name in ("--listener", "--ready", "--lifeline"):
    parser.add_argument(name, type=int)
parser.add_argument("--folder")
parser.add_argument("--runs-jobs", action="store_true")
options = parser.parse_args()
if pathlib.Path("broken").exists():
    sys.exit(3)
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
threading.Thread(target=lambda: (os.read(options.lifeline, 1), os._exit(0)), daemon=True).start()
listener = socket.socket(fileno=options.listener)
os.write(options.ready, b"1")
body = f"{os.getpid()} {options.runs_jobs} {os.environ['EDDI_SECRET']}".encode()
listener.setblocking(False)
while True:
    select.select([listener], [], [])
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # an accepted request is answered
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        pass  # the other worker accepted it
    else:
        connection.recv(10_000)
        connection.sendall(HEAD % len(body) + body)
        connection.close()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
'''
SUPERVISOR = """
import socket, sys
from eddi.service.server import supervisor
from eddi.service.settings import Settings
supervisor.WORKER = "quick_worker"
supervisor.MAX_DELAY_S = 0.5
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
supervisor.Supervisor(Settings(workers=2, port=port), listener).run(lambda: print(port, flush=True))
"""


class Running:
    """A supervisor in its own process, with two workers."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "quick_worker.py").write_text(WORKER, encoding="utf-8")
        path = os.pathsep.join([str(folder), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = f"http://127.0.0.1:{self.process.stdout.readline().strip()}"

    def ask(self):
        """Return the process number, whether it runs jobs, and the secret of a worker that answers."""
        pid, runs_jobs, secret = httpx.get(self.address, timeout=10).text.split()
        return int(pid), runs_jobs, secret

    def workers(self, n_workers=2, without=()):
        """Return the process numbers of the workers, once there are so many."""
        deadline, found = time.monotonic() + 20, set()
        while len(found) < n_workers and time.monotonic() < deadline:
            found |= {self.ask()[0]} - set(without)
        assert len(found) == n_workers
        return found

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A supervisor that several tests share."""
    supervised = Running(tmp_path_factory.mktemp("workers"))
    yield supervised
    supervised.end()


@pytest.fixture
def new(tmp_path):
    """A supervisor that a test may stop."""
    supervised = Running(tmp_path)
    yield supervised
    supervised.end()


def has_ended(pid):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_workers_share_a_secret_and_one_of_them_runs_jobs(running):
    running.workers()
    answers = {running.ask() for _ in range(40)}
    assert len({secret for _, _, secret in answers}) == 1
    assert sorted(runs_jobs for _, runs_jobs, _ in answers) == ["False", "True"]


def test_a_killed_worker_is_replaced_and_the_other_serves(running):
    killed, other = running.workers()
    os.kill(killed, signal.SIGKILL)
    with suppress(httpx.TransportError):  # the killed worker may just have accepted the connection
        running.ask()
    assert running.ask()[0] == other
    assert other in running.workers(without=[killed])


def test_sigterm_stops_all_workers(new):
    workers = new.workers()
    new.process.send_signal(signal.SIGTERM)
    assert new.process.wait(10) == 0
    assert all(has_ended(pid) for pid in workers)


def test_workers_end_with_a_supervisor_that_is_killed(new):
    workers = new.workers()
    new.process.kill()
    assert all(has_ended(pid) for pid in workers)


def test_sighup_replaces_all_workers_while_requests_are_served(running):
    old = running.workers()
    running.process.send_signal(signal.SIGHUP)
    new = running.workers(without=old)
    assert old.isdisjoint(new)
    assert all(has_ended(pid) for pid in old)


def test_a_worker_stays_if_its_replacement_does_not_start(running):
    old = running.workers()
    (running.folder / "broken").touch()
    running.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert running.workers() == old
    (running.folder / "broken").unlink()


def test_a_server_whose_first_worker_fails_ends(tmp_path):
    (tmp_path / "broken").touch()
    failed = Running(tmp_path)
    _, messages = failed.process.communicate(timeout=20)
    assert failed.process.returncode != 0
    assert "the server did not start" in messages


def test_a_socket_that_no_worker_serves_keeps_its_connections(running):
    """A request that arrives while all workers are gone is answered by the next one."""
    workers = running.workers()
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    assert all(has_ended(pid) for pid in workers)
    host, port = running.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=15) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
