"""Model files: weights, metadata and a model card in a zip. Nothing in a file can run.

==================== =====================================================================
manifest.json        format version, and the size and SHA-256 of every other member
model.json           schema, coding, recipe, settings, fingerprint, certificates, quality
weights.safetensors  the network's weights
CARD.md              the model card, for people
==================== =====================================================================

Files of every released format can be read: `migrations` converts them to the present one.
"""

import hashlib
import json
import zipfile
import zlib
from dataclasses import asdict
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as read_weights
from safetensors.torch import save as write_weights

from eddi import __version__
from eddi.durable_file import finish_file, name_unfinished
from eddi.errors import EddiError, ModelFileError
from eddi.model.certificate import Certificate
from eddi.model.files.allocation_limit import AllocationLimit
from eddi.model.files.content_checks import (
    check_coding,
    check_names,
    check_predictions,
    check_recipe,
    check_types,
    check_weights,
    parse_json,
)
from eddi.model.files.migrations import FORMAT_VERSION, OLDEST_VERSION, ModelData, migrate
from eddi.model.files.model_card import model_card
from eddi.model.fitted import FittedModel
from eddi.model.inference.frozen import freeze_weights
from eddi.model.quality import TargetQuality
from eddi.model.recipe import Recipe, check_set_encoder
from eddi.model.training.checkpoint import Progress
from eddi.model.training.preparation import build_network, find_device
from eddi.model.training.summary import TrainingSummary
from eddi.table.coding import Coding
from eddi.table.schema import Schema

FORMAT = "eddi-model"
MANIFEST = "manifest.json"
MEMBERS = ("model.json", "weights.safetensors", "CARD.md")
MAX_MEMBER_BYTES = 2 * 1024**3  # far above a Partial VAE of 5,000 variables, far below a zip bomb
MAX_TEXT_BYTES = 64 * 1024**2  # of model.json and the model card
MAX_MANIFEST_BYTES = 64 * 1024
MAX_MEMBERS = 100
MAX_EXPANSION, MIN_EXPANDED_BYTES = (
    20,
    16 * 1024**2,
)  # weights hardly compress
NUMBERS_PER_WEIGHT, MIN_NUMBERS = 64, 10_000_000  # of the tensors that building a network creates

# What reading an arbitrary file can raise; all become one error.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
_CONTENT_ERRORS = (
    *(LookupError, AttributeError, TypeError, ValueError, ArithmeticError, RuntimeError),
    *(SafetensorError, EddiError),
)


def save(model: FittedModel, path: Path) -> None:
    """Write ``model`` to ``path`` atomically."""
    weights = {key: value.cpu().contiguous() for key, value in model.network.state_dict().items()}
    members = {
        "model.json": json.dumps(_metadata(model), indent=1, ensure_ascii=False).encode(),
        "weights.safetensors": write_weights(weights),
        "CARD.md": model_card(model).encode(),
    }
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "eddi_version": __version__,
        "members": {name: _checksum(content) for name, content in members.items()},
    }
    unfinished = name_unfinished(path)
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for name, content in members.items():
            archive.writestr(name, content)
    finish_file(unfinished, path)


def load(path: str | PathLike[str], *, device: str = "auto") -> FittedModel:
    """Read a model file.

    Raises:
        ModelFileError: the file is missing, damaged, edited, too large, too new, or not a model.
    """
    find_device(device)  # first, since a missing device is not the file's fault
    version, members = _read(Path(path))
    try:
        return _build_model(version, members, device)
    except _CONTENT_ERRORS as error:
        raise ModelFileError(
            f"{str(path)!r} has valid checksums but does not describe a model: {error}"
        ) from error


def load_cached(path: Path) -> FittedModel:
    """The model at ``path``; a worker that is given the same file again does not read it again."""
    return _load_version(path, path.stat().st_mtime_ns) if path.exists() else load(path)


@lru_cache(1)
def _load_version(path: Path, _modified: int) -> FittedModel:
    return load(path)


def _metadata(model: FittedModel) -> dict[str, Any]:
    training = model.training
    return {
        "schema": model.schema.to_document(),
        "coding": model.coding.to_document(),
        "recipe": asdict(model.recipe),
        "set_encoder": model.set_encoder,
        "target": list(model.target),
        "target_is_one": training.has_single_target,
        "columns": list(training.columns),
        "named_columns": training.has_column_names,
        "n_rows": training.n_rows,
        "n_prior_rows": training.n_prior_rows,
        "fingerprint": training.fingerprint,
        "history": [asdict(progress) for progress in training.history],
        "warnings": list(training.warnings),
        "certificates": [certificate.to_document() for certificate in model.certificates.values()],
        "quality": [quality.to_document() for quality in model.quality.values()],
    }


def _build_model(version: int, members: dict[str, bytes], device: str) -> FittedModel:
    stored = ModelData(parse_json(members["model.json"]), read_weights(members["weights.safetensors"]))
    data = migrate(stored, version)
    metadata = data.metadata
    recipe = Recipe(**{name: _as_tuple(value) for name, value in metadata["recipe"].items()})
    check_recipe(recipe)
    schema = Schema.from_document(metadata["schema"])
    coding = Coding.from_document(metadata["coding"], schema)
    check_coding(coding, schema)
    set_encoder = check_set_encoder(metadata["set_encoder"])
    n_weights = sum(tensor.numel() for tensor in data.weights.values())
    with AllocationLimit(NUMBERS_PER_WEIGHT * n_weights + MIN_NUMBERS):
        network = build_network(schema, coding, set_encoder, recipe, seed=0)
    check_weights(data.weights, network)
    network.load_state_dict(data.weights)
    freeze_weights(network.to(find_device(device)))
    target = schema.target_names(tuple(metadata["target"]))
    if metadata["target_is_one"] and len(target) != 1:
        raise ValueError(f"a single target was declared, but the file names {len(target)}.")
    certificates = map(Certificate.from_document, metadata.get("certificates", []))
    quality = map(TargetQuality.from_document, metadata.get("quality", []))
    model = FittedModel(
        schema=schema,
        coding=coding,
        recipe=recipe,
        set_encoder=set_encoder,
        target=target,
        network=network,
        training=TrainingSummary(
            columns=tuple(metadata["columns"]),
            n_rows=metadata["n_rows"],
            fingerprint=metadata["fingerprint"],
            history=[Progress(**progress) for progress in metadata["history"]],
            has_column_names=metadata["named_columns"],
            has_single_target=metadata["target_is_one"],
            warnings=tuple(metadata.get("warnings", ())),
            n_prior_rows=metadata.get("n_prior_rows", 0),
        ),
        certificates={certificate.key: certificate for certificate in certificates},
        quality={measured.target: measured for measured in quality},
    )
    _check_model(model)
    return model


def _check_model(model: FittedModel) -> None:
    training = model.training
    for part in (training, *training.history, *model.certificates.values(), *model.quality.values()):
        check_types(part)
    check_names(model)
    check_predictions(model)


def _read(path: Path) -> tuple[int, dict[str, bytes]]:
    """The format version and every member; checksums are verified before any content is used."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, path.stat().st_size)
            manifest = _manifest(path, archive)
            members = {name: _member(path, archive, manifest, name) for name in MEMBERS}
            return manifest["format_version"], members
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


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    foreign = ModelFileError(f"{str(path)!r} is a zip file but not an EDDI model.")
    if MANIFEST not in archive.namelist():
        raise foreign
    if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
        raise ModelFileError(f"the manifest of {str(path)!r} is too large.")
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except ValueError:
        raise foreign from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise foreign
    version = manifest.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format version {version}, written by EDDI "
            f"{manifest.get('eddi_version')}; this EDDI {__version__} reads up to version "
            f"{FORMAT_VERSION}. Upgrade with `pip install -U eddi-ml`."
        )
    if version < OLDEST_VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format version {version}, which was never released; this EDDI "
            f"{__version__} reads versions {OLDEST_VERSION} to {FORMAT_VERSION}. Fit the model again."
        )
    return manifest


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


def _as_tuple(value: Any) -> Any:
    """A tuple for a list, which is what JSON makes of a tuple."""
    return tuple(value) if isinstance(value, list) else value
