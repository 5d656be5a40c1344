"""Download a file over HTTPS and keep it only if its size and checksum are as expected."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from eddi.errors import EddiError

OnBytes = Callable[[int, int], None]
"""Called with the number of bytes downloaded and the size of the file."""

SCHEMES = ("https",)
TIMEOUT = 30.0  # seconds without data before a download fails
CHUNK_SIZE = 1 << 16  # bytes


class DownloadError(EddiError, OSError):
    """A file could not be downloaded, or is not the expected one."""


@dataclass(frozen=True)
class Remote:
    """A file on the web: its address, SHA-256 and size."""

    url: str
    sha256: str
    n_bytes: int


def fetch(
    remote: Remote, path: Path, *, on_progress: OnBytes | None = None, schemes: Sequence[str] = SCHEMES
) -> None:
    """Download a file to ``path``, which is written only once the file is complete and verified.

    Args:
        remote: the file.
        path: where to save it; its folder is created.
        on_progress: called while data arrives.
        schemes: allowed URL schemes; tests use a server without encryption.

    Raises:
        DownloadError: the source does not respond, or does not send the expected file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            _download(remote, file, on_progress, schemes)
        Path(unfinished).chmod(0o644)  # temporary files are readable by their owner only
        Path(unfinished).replace(path)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def _download(
    remote: Remote, file: BinaryIO, on_progress: OnBytes | None, schemes: Sequence[str]
) -> None:
    digest, n_bytes = hashlib.sha256(), 0
    try:
        _check_scheme(remote.url, schemes)
        request = Request(remote.url, headers={"User-Agent": "eddi-bench"})  # noqa: S310  # checked above
        with open_url(request, schemes) as source:
            while chunk := source.read(CHUNK_SIZE):
                n_bytes += len(chunk)
                if n_bytes > remote.n_bytes:
                    raise DownloadError(
                        f"{remote.url} sends more than the expected {remote.n_bytes:,} bytes"
                    )
                digest.update(chunk)
                file.write(chunk)
                if on_progress:
                    on_progress(n_bytes, remote.n_bytes)
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise DownloadError(f"{remote.url} does not respond ({error})") from error
    if digest.hexdigest() != remote.sha256:
        raise DownloadError(
            f"{remote.url} is not the expected file: its SHA-256 is {digest.hexdigest()}, "
            f"expected {remote.sha256}"
        )


def open_url(request: Request, schemes: Sequence[str]) -> Any:
    """Open a request, following redirects only to addresses of these schemes."""
    opener: OpenerDirector = build_opener(_Redirects(tuple(schemes)))
    return opener.open(request, timeout=TIMEOUT)


@dataclass
class _Redirects(HTTPRedirectHandler):
    """Follows redirects, but only to allowed schemes."""

    schemes: tuple[str, ...]

    def redirect_request(self, *arguments: Any) -> Request | None:
        _check_scheme(arguments[-1], self.schemes)
        return super().redirect_request(*arguments)


def _check_scheme(url: str, schemes: Sequence[str]) -> None:
    if urlsplit(url).scheme not in schemes:
        raise DownloadError(f"{url} does not start with {' or '.join(schemes)}, so it was not opened")
