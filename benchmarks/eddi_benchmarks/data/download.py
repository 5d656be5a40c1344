"""Files from their public sources: encrypted, no larger than said, in place only if they are ours."""

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
"""Called with the bytes that have come and the bytes there are."""

SCHEMES = ("https",)
PATIENCE = 30.0  # seconds without a byte before a source counts as silent
PIECE = 1 << 16  # bytes read at once


class DownloadError(EddiError, OSError):
    """A file could not be had from its source, or is not the one we mean."""


@dataclass(frozen=True)
class Remote:
    """Where a file lies, how large it is, and its SHA-256."""

    url: str
    sha256: str
    n_bytes: int


def fetch(
    remote: Remote, path: Path, *, on_progress: OnBytes | None = None, schemes: Sequence[str] = SCHEMES
) -> None:
    """Put the file at ``path``; nothing lies there before it is whole and its checksum is right.

    Args:
        remote: the file.
        path: where to put it; its folder is made.
        on_progress: told the bytes as they come.
        schemes: what an address may begin with; tests have a server without encryption.

    Raises:
        DownloadError: the source is silent, or what it sends is not the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            _copy(remote, file, on_progress, schemes)
        Path(unfinished).chmod(0o644)  # temporary files are the owner's alone
        Path(unfinished).replace(path)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def _copy(remote: Remote, file: BinaryIO, on_progress: OnBytes | None, schemes: Sequence[str]) -> None:
    digest, n_bytes = hashlib.sha256(), 0
    try:
        _require(remote.url, schemes)
        request = Request(remote.url, headers={"User-Agent": "eddi-bench"})  # noqa: S310  # checked above
        with open_url(request, schemes) as source:
            while piece := source.read(PIECE):
                n_bytes += len(piece)
                if n_bytes > remote.n_bytes:
                    raise DownloadError(
                        f"{remote.url} sends more than the {remote.n_bytes:,} bytes it should have"
                    )
                digest.update(piece)
                file.write(piece)
                if on_progress:
                    on_progress(n_bytes, remote.n_bytes)
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise DownloadError(f"{remote.url} does not answer ({error})") from error
    if digest.hexdigest() != remote.sha256:
        raise DownloadError(
            f"{remote.url} is not the file we mean: its SHA-256 is {digest.hexdigest()}, "
            f"expected {remote.sha256}"
        )


def open_url(request: Request, schemes: Sequence[str]) -> Any:
    """The answer to a request, led only to addresses of these schemes."""
    opener: OpenerDirector = build_opener(_Redirects(tuple(schemes)))
    return opener.open(request, timeout=PATIENCE)


@dataclass
class _Redirects(HTTPRedirectHandler):
    """Follows a source that points elsewhere, but never out of the encrypted web."""

    schemes: tuple[str, ...]

    def redirect_request(self, *arguments: Any) -> Request | None:
        _require(arguments[-1], self.schemes)
        return super().redirect_request(*arguments)


def _require(url: str, schemes: Sequence[str]) -> None:
    if urlsplit(url).scheme not in schemes:
        raise DownloadError(f"{url} does not begin with {' or '.join(schemes)}, so it was not opened")
