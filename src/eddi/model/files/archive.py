"""A model as one file: weights, facts and a card a person can read, in a zip. Nothing in it can run.

==================== =====================================================================
manifest.json        format version, and the size and SHA-256 of every other member
model.json           schema, coding, recipe, settings, the training table's fingerprint, certificates
weights.safetensors  the network's weights
CARD.md              what this model is, for people
==================== =====================================================================
"""

import hashlib
import json
import os
import zipfile
import zlib
from dataclasses import asdict
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load as read_weights
from safetensors.torch import save as write_weights

from eddi import __version__
from eddi.errors import EddiError, ModelFileError
from eddi.model.certificate import Certificate
from eddi.model.files.model_card import card
from eddi.model.partial_vae import PartialVAE
from eddi.model.recipe import Recipe
from eddi.model.training.checkpoint import Progress
from eddi.model.training.preparation import find_device
from eddi.table.coding import Coding
from eddi.table.schema import Schema

FORMAT = "eddi-model"
FORMAT_VERSION = 5
MANIFEST = "manifest.json"
MEMBERS = ("model.json", "weights.safetensors", "CARD.md")
MAX_MEMBER_BYTES = 2 * 1024**3  # a Partial VAE of 5,000 variables is far below; a zip bomb is not
MAX_MANIFEST_BYTES = 64 * 1024

# What reading a file that someone made up can run into; all become one error.
_NOT_A_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
_NOT_A_MODEL = (
    *(LookupError, AttributeError, TypeError, ValueError, ArithmeticError, RuntimeError),
    *(SafetensorError, EddiError),
)


def save(model: PartialVAE, path: Path) -> None:
    """Write ``model`` to ``path``, in one piece or not at all."""
    weights = {key: value.cpu().contiguous() for key, value in model.network_.state_dict().items()}
    members = {
        "model.json": json.dumps(_facts(model), indent=1, ensure_ascii=False).encode(),
        "weights.safetensors": write_weights(weights),
        "CARD.md": card(model).encode(),
    }
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "eddi_version": __version__,
        "members": {name: _seal(content) for name, content in members.items()},
    }
    unfinished = path.with_name(path.name + ".unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for name, content in members.items():
            archive.writestr(name, content)
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)


def load(path: str | PathLike[str], *, device: str = "auto") -> PartialVAE:
    """Read a model written by `PartialVAE.save`.

    Raises:
        ModelFileError: the file is absent, damaged, edited, too large, too new, or not a model.
    """
    find_device(device)  # first, for a device that is not there is not the file's fault
    members = _read(Path(path))
    try:
        return _assemble(members, device)
    except _NOT_A_MODEL as error:
        raise ModelFileError(
            f"{str(path)!r} is sealed rightly but does not describe a model: {error}"
        ) from error


def load_once(path: Path) -> PartialVAE:
    """The model at ``path`` as it was last written; a worker that is given it again reads no file."""
    return _kept(path, path.stat().st_mtime_ns) if path.exists() else load(path)


@lru_cache(1)
def _kept(path: Path, _written: int) -> PartialVAE:
    return load(path)


def _facts(model: PartialVAE) -> dict[str, Any]:
    return {
        "schema": model.schema_.to_document(),
        "coding": {
            "shift": model.coding_.shift.tolist(),
            "scale": model.coding_.scale.tolist(),
            "logarithmic": model.coding_.logarithmic.tolist(),
        },
        "recipe": asdict(model.recipe_),
        "set_encoder": model.set_encoder,
        "target": list(model.target_),
        "target_is_one": isinstance(model.target, str),
        "columns": list(model.columns_),
        "named_columns": hasattr(model, "feature_names_in_"),
        "n_rows": model.n_rows_,
        "fingerprint": model.fingerprint_,
        "history": [asdict(progress) for progress in model.history_],
        "certificates": [each.to_document() for each in model.certificates_.values()],
    }


def _assemble(members: dict[str, bytes], device: str) -> PartialVAE:
    facts = json.loads(members["model.json"])
    recipe = Recipe(**{name: _as_tuple(value) for name, value in facts["recipe"].items()})
    coding = Coding(
        np.array(facts["coding"]["shift"], dtype=np.float64),
        np.array(facts["coding"]["scale"], dtype=np.float64),
        np.array(facts["coding"]["logarithmic"], dtype=np.bool_),
    )
    target = tuple(facts["target"])
    model = PartialVAE(
        schema=Schema.from_document(facts["schema"]),
        target=target[0] if facts["target_is_one"] else (target or None),
        recipe=recipe,
        set_encoder=facts["set_encoder"],
        device=device,
    )
    model.restore(coding, target, read_weights(members["weights.safetensors"]))
    model.columns_ = tuple(facts["columns"])
    model.n_features_in_ = len(model.columns_)
    if facts["named_columns"]:
        model.feature_names_in_ = np.array(model.columns_, dtype=object)
    model.n_rows_, model.fingerprint_ = facts["n_rows"], facts["fingerprint"]
    model.history_ = [Progress(**progress) for progress in facts["history"]]
    certificates = map(Certificate.from_document, facts.get("certificates", []))
    model.certificates_ = {each.key: each for each in certificates}
    return model


def _read(path: Path) -> dict[str, bytes]:
    """Every member, checked against the manifest before anything in it is believed."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(path, archive)
            return {name: _member(path, archive, manifest, name) for name in MEMBERS}
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {str(path)!r}.") from None
    except _NOT_A_ZIP as error:
        raise ModelFileError(
            f"{str(path)!r} is not a whole EDDI model file ({error}). "
            "It may be truncated or of another kind; save the model again."
        ) from error


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    foreign = ModelFileError(f"{str(path)!r} is a zip file but not an EDDI model.")
    if MANIFEST not in archive.namelist():
        raise foreign
    if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
        raise ModelFileError(f"the manifest of {str(path)!r} is too large to be one.")
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
    if version < FORMAT_VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format version {version}, of a network that this EDDI {__version__} no "
            "longer builds. Fit the model again."
        )
    return manifest


def _member(path: Path, archive: zipfile.ZipFile, manifest: dict[str, Any], name: str) -> bytes:
    seals = manifest.get("members")
    seal = seals.get(name) if isinstance(seals, dict) else None
    if seal is None or name not in archive.namelist():
        raise ModelFileError(f"{str(path)!r} lacks {name}. Save the model again.")
    if archive.getinfo(name).file_size > MAX_MEMBER_BYTES:
        raise ModelFileError(
            f"{name} in {str(path)!r} unpacks to {archive.getinfo(name).file_size:,} bytes, "
            f"above the limit of {MAX_MEMBER_BYTES:,}. It is not read."
        )
    content = archive.read(name)
    if _seal(content) != seal:
        raise ModelFileError(
            f"{name} in {str(path)!r} is not what was saved: it was damaged or edited. "
            "Get the original file, or save the model again."
        )
    return content


def _seal(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _as_tuple(value: Any) -> Any:
    """What JSON gives back as a list."""
    return tuple(value) if isinstance(value, list) else value
