"""Bytes that never change, each under the SHA-256 of its content: tables, models, evaluations."""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from eddi.errors import EddiError

SEAL = re.compile(r"[0-9a-f]{64}")
CHUNK_BYTES = 1 << 20


class NotOnShelfError(EddiError, LookupError):
    """There is nothing under this seal."""

    status = 404
    title = "There is no such file"


class Shelf:
    """A folder of files called by their seals. Servers that share a store share it too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes | Path) -> str:
        """Keep some bytes, or a copy of a file; gives their seal. Then they are on disk."""
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / f"{secrets.token_hex(8)}.unfinished"
        digest = hashlib.sha256()
        with unfinished.open("wb") as file:
            for chunk in _chunks(content):
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        seal = digest.hexdigest()
        unfinished.replace(self.folder / seal)  # the same content, if it is there already
        return seal

    def path(self, seal: str) -> Path:
        """The file of this seal.

        Raises:
            NotOnShelfError: there is none.
        """
        if not self.holds(seal):
            raise NotOnShelfError(f"there is nothing under the seal {seal[:64]!r}. Check it.")
        return self.folder / seal

    def holds(self, seal: str) -> bool:
        """Whether there is a file of this seal."""
        return SEAL.fullmatch(seal) is not None and (self.folder / seal).is_file()


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
