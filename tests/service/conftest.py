"""Real servers on free ports, each in a thread, for one small model of people."""

import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from eddi.service.analyst.data.upload import UploadReader
from eddi.service.analyst.data.upload_worker import ROWS
from eddi.service.app import build
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.server.web_server import WebServer, connection_limits
from eddi.service.settings import Settings

TARGET = "stage"


@pytest.fixture(scope="session")
def model_file(tmp_path_factory, model):
    """The file of the model of people."""
    path = tmp_path_factory.mktemp("served") / "people.eddi"
    model.save(path)
    return path


@pytest.fixture(scope="session")
def questionnaire(model_file):
    """The questionnaire about the stage of people."""
    return Questionnaire.load(model_file, TARGET)


@contextmanager
def run_server(settings):
    """Run a real server in a thread, and yield a client for it with the application as ``client.app``."""
    app = build(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server = WebServer(app, settings, limits=connection_limits(settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            client.app = app
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def serving(model_file):
    """Serves the questionnaire while a block runs: `with serving(rate=1) as client`."""

    def serve(**settings):
        defaults = {"model": str(model_file), "target": TARGET, "store": "memory:", "rate": 0.0}
        return run_server(Settings(**{**defaults, **settings}))

    return serve


@pytest.fixture(scope="session")
def client(serving):
    """The client of a server that many tests share."""
    with serving() as shared:
        yield shared


@pytest.fixture(autouse=True, scope="session")
def repeated_uploads():
    """The process that reads uploads runs once for the same file and limits: it takes half a second."""
    read, kept = UploadReader._run, {}

    def run(self, folder, file, name):
        key = (file.read_bytes(), file.suffix, self.limits)
        if key not in kept:
            result = read(self, folder, file, name)
            kept[key] = result, (folder / ROWS).read_bytes() if (folder / ROWS).exists() else None
        result, rows = kept[key]
        if rows is not None:
            (folder / ROWS).write_bytes(rows)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UploadReader, "_run", run)
        yield
