"""A file is downloaded completely and with the right size and checksum, or not at all."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from eddi.errors import EddiError
from eddi_benchmarks.data import datasets, download, uci
from eddi_benchmarks.data.download import DownloadError, Remote, fetch, open_url

CONTENT = b"0.5\t1\t2.0\n1.5\t3\t4.0\n" * 9_000  # more than one chunk


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/file")
            self.end_headers()
        elif self.path == "/file":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(CONTENT)
        else:
            self.send_error(404)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    """A local server without encryption."""
    monkeypatch.setattr(download, "open_url", open_url)  # replaces the fixture that keeps tests offline
    local_server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    local_server.requests = []
    thread = threading.Thread(target=local_server.serve_forever, daemon=True)
    thread.start()
    yield local_server
    local_server.shutdown()
    local_server.server_close()
    thread.join()


def remote(server, path="/file", content=CONTENT, n_bytes=None):
    url = f"http://127.0.0.1:{server.server_port}{path}"
    return Remote(url, hashlib.sha256(content).hexdigest(), n_bytes or len(content))


def test_a_file_is_saved_and_progress_is_reported(server, tmp_path):
    progress = []
    path = tmp_path / "new" / "file.txt"
    fetch(remote(server), path, schemes=("http",), on_progress=lambda *call: progress.append(call))
    assert path.read_bytes() == CONTENT
    assert progress[-1] == (len(CONTENT), len(CONTENT))
    assert len(progress) > 1
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"content": b"another"}, "sends more than the expected 7 bytes"),
        ({"content": b"another", "n_bytes": 1 << 30}, "is not the expected file"),
        ({"path": "/none"}, "does not respond.*404"),
        ({"path": "/moved"}, "ftp://127.0.0.1/file does not start with http"),
    ],
)
def test_a_wrong_file_is_rejected_and_leaves_the_old_one(server, tmp_path, change, message):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old content")
    with pytest.raises(DownloadError, match=message):
        fetch(remote(server, **change), path, schemes=("http",))
    assert path.read_bytes() == b"old content"
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"]


def test_an_address_without_encryption_is_not_opened(server, tmp_path):
    with pytest.raises(EddiError, match="does not start with https, so it was not opened"):
        fetch(remote(server), tmp_path / "file.txt")
    assert server.requests == []


@pytest.mark.usefixtures("server")
def test_the_error_names_a_server_that_does_not_respond(tmp_path):
    unreachable = Remote("http://127.0.0.1:1/file", "0" * 64, 1)
    with pytest.raises(DownloadError, match=r"http://127.0.0.1:1/file does not respond"):
        fetch(unreachable, tmp_path / "file.txt", schemes=("http",))


@pytest.fixture
def downloadable(server, monkeypatch):
    """A dataset named yacht with three columns, which only the server has."""

    def fetch_unencrypted(*arguments, **settings):
        fetch(*arguments, schemes=("http",), **settings)

    entry = uci._uci_table("somewhere", "0" * 64, download=remote(server), columns="length width crew")
    monkeypatch.setitem(datasets.DATASETS, "yacht", entry)
    monkeypatch.setattr(datasets, "fetch", fetch_unencrypted)
    return server


def test_a_missing_dataset_is_downloaded_into_the_cache_once(downloadable, data):
    folder = datasets.find("yacht")
    assert folder == data.parent / "cache" / "eddi" / "yacht"
    lines = (folder / "data.csv").read_text().splitlines()
    assert lines[:3] == ["length,width,crew", "0.5,1,2", "1.5,3,4"]
    datasets.find("yacht")
    assert downloadable.requests == ["/file"]


def test_a_dataset_on_this_machine_is_not_downloaded(downloadable, data):
    (data / "yacht").mkdir()
    (data / "yacht" / "data.csv").write_text("a\n1\n")
    assert datasets.find("yacht") == data / "yacht"
    assert downloadable.requests == []


def test_without_a_network_the_error_states_the_failed_download_and_the_source(data):
    with pytest.raises(EddiError) as caught:
        datasets.find("wine_red")
    message = str(caught.value)
    assert "The download failed: https://raw.githubusercontent.com/" in message
    assert "number 186 of the UCI Machine Learning Repository" in message
    assert "licence CC BY 4.0" in message
    assert not (data.parent / "cache" / "eddi" / "wine_red" / "data.csv").exists()


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_every_dataset_has_a_licence_and_is_downloaded_over_https(name):
    dataset = datasets.DATASETS[name]
    assert len(dataset.licence) > 10
    for file in dataset.downloads.values():
        assert file.url.startswith("https://")
        assert len(file.sha256) == 64
