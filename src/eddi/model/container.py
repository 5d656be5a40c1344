"""Containers of model files: a zip of members with a manifest. Nothing in a file can run.

The manifest names the format, its version, and the size and SHA-256 of every other member. Checksums are
verified before any content is used.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddi import __version__
from eddi.durable_file import finish_file, name_unfinished
from eddi.errors import ModelFileError

MANIFEST = "manifest.json"
MAX_MEMBER_BYTES = 2 * 1024**3  # far above a Partial VAE of 5,000 variables, far below a zip bomb
MAX_TEXT_BYTES = 64 * 1024**2  # of members that are text
MAX_MANIFEST_BYTES = 64 * 1024
MAX_MEMBERS = 100
MAX_EXPANSION, MIN_EXPANDED_BYTES = (
    20,
    16 * 1024**2,
)  # weights hardly compress

# What reading an arbitrary file can raise; all become one error.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)


@dataclass(frozen=True)
class Format:
    """A format of model files: its name, the versions that can be read, and the names of the members."""

    name: str
    oldest: int
    newest: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class Content:
    """What a model file contains."""

    format: Format
    version: int
    members: Mapping[str, bytes]


def write(path: Path, file_format: Format, members: Mapping[str, bytes]) -> None:
    """Write a model file atomically, in the newest version of its format."""
    manifest = {
        "format": file_format.name,
        "format_version": file_format.newest,
        "eddi_version": __version__,
        "members": {name: _checksum(content) for name, content in members.items()},
    }
    unfinished = name_unfinished(path)
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for name, content in members.items():
            archive.writestr(name, content)
    finish_file(unfinished, path)


def read(path: Path, formats: Sequence[Format]) -> Content:
    """Read a model file of one of these formats.

    Raises:
        ModelFileError: the file is missing, damaged, edited, too large, too new, or not a model.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, path.stat().st_size)
            manifest, file_format = _manifest(path, archive, formats)
            names = file_format.members
            members = {name: _member(path, archive, manifest, name) for name in names}
            return Content(file_format, manifest["format_version"], members)
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {str(path)!r}.") from None
    except _ZIP_ERRORS as error:
        raise ModelFileError(
            f"{str(path)!r} is not a complete EDDI model file ({error}). "
            "It may be truncated or of another type; save the model again."
        ) from error


def _check_members(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Raise an error for a zip file that no version of EDDI wrote."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise zipfile.BadZipFile(f"it has {len(members):,} members")
    names = {member.filename for member in members}
    if len(names) < len(members):
        raise zipfile.BadZipFile("it has two members of the same name")
    methods = {member.compress_type for member in members}
    if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise zipfile.BadZipFile("it is compressed with an unknown method")
    if any(member.header_offset + member.compress_size > n_bytes for member in members):
        raise zipfile.BadZipFile("it is shorter than its members")


def _manifest(
    path: Path, archive: zipfile.ZipFile, formats: Sequence[Format]
) -> tuple[dict[str, Any], Format]:
    foreign = ModelFileError(f"{str(path)!r} is a zip file but not an EDDI model.")
    if MANIFEST not in archive.namelist():
        raise foreign
    if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
        raise ModelFileError(f"the manifest of {str(path)!r} is too large.")
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except ValueError:
        raise foreign from None
    found = {known.name: known for known in formats}
    name = manifest.get("format") if isinstance(manifest, dict) else None
    if not isinstance(name, str) or name not in found:
        raise foreign
    _check_version(path, manifest, found[name])
    return manifest, found[name]


def _check_version(path: Path, manifest: dict[str, Any], file_format: Format) -> None:
    version, oldest, newest = manifest.get("format_version"), file_format.oldest, file_format.newest
    if not isinstance(version, int) or version > newest:
        raise ModelFileError(
            f"{str(path)!r} has format version {version}, written by EDDI "
            f"{manifest.get('eddi_version')}; this EDDI {__version__} reads up to version "
            f"{newest}. Upgrade with `pip install -U eddi-ml`."
        )
    if version < oldest:
        raise ModelFileError(
            f"{str(path)!r} has format version {version}, which was never released; this EDDI "
            f"{__version__} reads versions {oldest} to {newest}. Fit the model again."
        )


def _member(path: Path, archive: zipfile.ZipFile, manifest: dict[str, Any], name: str) -> bytes:
    checksums = manifest.get("members")
    checksum = checksums.get(name) if isinstance(checksums, dict) else None
    if checksum is None or name not in archive.namelist():
        raise ModelFileError(f"{str(path)!r} has no {name}. Save the model again.")
    member = archive.getinfo(name)
    limit = _find_max_bytes(member)
    if member.file_size > limit:
        raise ModelFileError(
            f"{name} in {str(path)!r} unpacks to {member.file_size:,} bytes, above the limit of "
            f"{limit:,}. It was not read."
        )
    content = archive.read(name)
    if _checksum(content) != checksum:
        raise ModelFileError(
            f"{name} in {str(path)!r} does not match its checksum: it was damaged or edited. "
            "Get the original file, or save the model again."
        )
    return content


def _find_max_bytes(member: zipfile.ZipInfo) -> int:
    """Return how large a member may be, given its compressed size."""
    largest = MAX_MEMBER_BYTES if member.filename.endswith(".safetensors") else MAX_TEXT_BYTES
    return min(largest, max(MIN_EXPANDED_BYTES, MAX_EXPANSION * member.compress_size))


def _checksum(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
