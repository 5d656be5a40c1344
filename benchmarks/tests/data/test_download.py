"""A file comes from its source whole, of the right size and with the right checksum, or not at all."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from eddi.errors import EddiError
from eddi_benchmarks.data import datasets, download
from eddi_benchmarks.data.download import DownloadError, Remote, fetch, open_url

CONTENT = b"0.5\t1\t2.0\n1.5\t3\t4.0\n" * 9_000  # more than one piece


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
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
    """A source without encryption on this machine."""
    monkeypatch.setattr(download, "open_url", open_url)  # the real one, in place of the offline one
    here = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here.asked = []
    thread = threading.Thread(target=here.serve_forever, daemon=True)
    thread.start()
    yield here
    here.shutdown()
    here.server_close()
    thread.join()


def remote(server, path="/file", content=CONTENT, n_bytes=None):
    url = f"http://127.0.0.1:{server.server_port}{path}"
    return Remote(url, hashlib.sha256(content).hexdigest(), n_bytes or len(content))


def test_a_file_is_put_in_place_and_its_bytes_are_told(server, tmp_path):
    told = []
    path = tmp_path / "new" / "file.txt"
    fetch(remote(server), path, schemes=("http",), on_progress=lambda *both: told.append(both))
    assert path.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert len(told) > 1
    assert [each.name for each in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"content": b"another"}, "sends more than the 7 bytes"),
        ({"content": b"another", "n_bytes": 1 << 30}, "is not the file we mean"),
        ({"path": "/none"}, "does not answer.*404"),
        ({"path": "/moved"}, "ftp://127.0.0.1/file does not begin with http"),
    ],
)
def test_what_is_not_the_file_is_refused_and_leaves_nothing(server, tmp_path, change, words):
    path = tmp_path / "file.txt"
    path.write_bytes(b"as it was")
    with pytest.raises(DownloadError, match=words):
        fetch(remote(server, **change), path, schemes=("http",))
    assert path.read_bytes() == b"as it was"
    assert [each.name for each in tmp_path.iterdir()] == ["file.txt"]


def test_an_address_without_encryption_is_not_even_opened(server, tmp_path):
    with pytest.raises(EddiError, match="does not begin with https, so it was not opened"):
        fetch(remote(server), tmp_path / "file.txt")
    assert server.asked == []


@pytest.mark.usefixtures("server")
def test_a_silent_source_is_named(tmp_path):
    gone = Remote("http://127.0.0.1:1/file", "0" * 64, 1)
    with pytest.raises(DownloadError, match=r"http://127.0.0.1:1/file does not answer"):
        fetch(gone, tmp_path / "file.txt", schemes=("http",))


@pytest.fixture
def downloadable(server, monkeypatch):
    """The name of yacht for a table of two inputs that only the server has."""

    def fetch_here(*arguments, **settings):
        fetch(*arguments, schemes=("http",), **settings)

    entry = datasets._uci("somewhere", "0" * 64, remote=remote(server), columns="length width crew")
    monkeypatch.setitem(datasets.DATASETS, "yacht", entry)
    monkeypatch.setattr(datasets, "fetch", fetch_here)
    return server


def test_a_dataset_that_is_nowhere_is_downloaded_into_the_cache_once(downloadable, data):
    folder = datasets.find("yacht")
    assert folder == data.parent / "cache" / "eddi" / "yacht"
    lines = (folder / "data.csv").read_text().splitlines()
    assert lines[:3] == ["length,width,crew", "0.5,1,2", "1.5,3,4"]
    datasets.find("yacht")
    assert downloadable.asked == ["/file"]


def test_a_dataset_that_is_here_is_not_asked_for(downloadable, data):
    (data / "yacht").mkdir()
    (data / "yacht" / "data.csv").write_text("a\n1\n")
    assert datasets.find("yacht") == data / "yacht"
    assert downloadable.asked == []


def test_without_a_network_the_error_says_what_was_tried_and_what_to_get(data):
    with pytest.raises(EddiError) as caught:
        datasets.find("wine_red")
    message = str(caught.value)
    assert "It could not be downloaded: https://raw.githubusercontent.com/" in message
    assert "number 186 of the UCI Machine Learning Repository" in message
    assert "licence CC BY 4.0" in message
    assert not (data.parent / "cache" / "eddi" / "wine_red" / "data.csv").exists()


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_every_dataset_has_a_licence_and_only_encrypted_sources(name):
    dataset = datasets.DATASETS[name]
    assert len(dataset.licence) > 10
    for each in dataset.remotes.values():
        assert each.url.startswith("https://")
        assert len(each.sha256) == 64
