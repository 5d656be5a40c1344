"""A blob store: immutable files, each named by the SHA-256 of its content."""

import hashlib
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from eddi.durable_file import create_private_folder, finish_file, open_private_file
from eddi.errors import EddiError
from eddi.service.errors import N_

DIGEST = re.compile(r"[0-9a-f]{64}")
CHUNK_BYTES = 1 << 20


class BlobNotFoundError(EddiError, LookupError):
    """The blob store has no file with this digest."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = N_("There is no such file")
    problem_type: ClassVar[str] = "notonshelf"  # clients rely on the name of an earlier version


class BlobStore:
    """A folder with tables, models and evaluations. Servers that share a database share the folder, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes | Path) -> str:
        """Store bytes, or a copy of a file, and return their digest. The data is on disk afterwards."""
        create_private_folder(self.folder)
        unfinished = self.folder / f"{secrets.token_hex(8)}.unfinished"
        sha256 = hashlib.sha256()
        with open_private_file(unfinished) as file:
            for chunk in _read_chunks(content):
                sha256.update(chunk)
                file.write(chunk)
        digest = sha256.hexdigest()
        finish_file(unfinished, self.folder / digest)  # a file with this name has the same content
        return digest

    def path(self, digest: str) -> Path:
        """The file with this digest.

        Raises:
            BlobNotFoundError: there is no such file.
        """
        if not self.has(digest):
            raise BlobNotFoundError(
                f"the workshop has no file with the SHA-256 {digest[:64]!r}. It may have been deleted."
            )
        return self.folder / digest

    def has(self, digest: str) -> bool:
        """Whether there is a file with this digest."""
        return DIGEST.fullmatch(digest) is not None and (self.folder / digest).is_file()

    def delete(self, digest: str) -> None:
        """Delete the file with this digest, if there is one."""
        if self.has(digest):
            (self.folder / digest).unlink(missing_ok=True)


def _read_chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
