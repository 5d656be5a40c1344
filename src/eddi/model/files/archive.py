"""Model files: weights, metadata and a model card in a zip. Nothing in a file can run.

==================== =====================================================================
manifest.json        format version, and the size and SHA-256 of every other member
model.json           schema, coding, recipe, settings, fingerprint, certificates, quality
weights.safetensors  the network's weights
CARD.md              the model card, for people
==================== =====================================================================

Files of every released format can be read: `migrations` converts them to the present one.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as read_weights
from safetensors.torch import save as write_weights

from eddi.errors import EddiError, ModelFileError
from eddi.model import container
from eddi.model.certificate import Certificate
from eddi.model.container import Format
from eddi.model.files.allocation_limit import AllocationLimit
from eddi.model.files.content_checks import (
    check_coding,
    check_counts,
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
from eddi.model.item_bank.bank_file import ITEM_BANK_FORMAT, parse_item_bank
from eddi.model.item_bank.item_bank import ItemBank
from eddi.model.quality import TargetQuality
from eddi.model.recipe import Recipe, check_set_encoder
from eddi.model.training.checkpoint import Progress
from eddi.model.training.preparation import build_network, find_device
from eddi.model.training.summary import TrainingSummary
from eddi.table.coding import Coding
from eddi.table.schema import Schema

NETWORK_FORMAT = Format(
    "eddi-model", OLDEST_VERSION, FORMAT_VERSION, ("model.json", "weights.safetensors", "CARD.md")
)
NUMBERS_PER_WEIGHT, MIN_NUMBERS = 64, 10_000_000  # of the tensors that building a network creates

# What reading an arbitrary content can raise; all become one error.
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
    container.write(path, NETWORK_FORMAT, members)


def load(path: str | PathLike[str], *, device: str = "auto") -> FittedModel | ItemBank:
    """Read a model file: a trained network or an item bank.

    Raises:
        ModelFileError: the file is missing, damaged, edited, too large, too new, or not a model.
    """
    find_device(device)  # first, since a missing device is not the file's fault
    content = container.read(Path(path), (NETWORK_FORMAT, ITEM_BANK_FORMAT))
    try:
        if content.format is ITEM_BANK_FORMAT:
            return parse_item_bank(content)
        return _build_model(content.version, content.members, device)
    except _CONTENT_ERRORS as error:
        raise ModelFileError(
            f"{str(path)!r} has valid checksums but does not describe a model: {error}"
        ) from error


def load_network(path: str | PathLike[str], *, device: str = "auto") -> FittedModel:
    """Read the file of a trained network.

    Raises:
        ModelFileError: as `load`, or if the file is an item bank.
    """
    model = load(path, device=device)
    if not isinstance(model, FittedModel):
        raise ModelFileError(
            f"{str(path)!r} is an item bank, which has no network and was not trained on rows. "
            "Use a model that was fitted to a table."
        )
    return model


def load_cached_network(path: Path) -> FittedModel:
    """`load_network`, cached like `load_cached`."""
    model = load_cached(path)
    return model if isinstance(model, FittedModel) else load_network(path)


def load_cached(path: Path) -> FittedModel | ItemBank:
    """The model at ``path``; a worker that is given the same file again does not read it again."""
    return _load_version(path, path.stat().st_mtime_ns) if path.exists() else load(path)


@lru_cache(1)
def _load_version(path: Path, _modified: int) -> FittedModel | ItemBank:
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
        "n_answers": list(training.n_answers),
        "fingerprint": training.fingerprint,
        "history": [asdict(progress) for progress in training.history],
        "warnings": list(training.warnings),
        "certificates": [certificate.to_document() for certificate in model.certificates.values()],
        "quality": [quality.to_document() for quality in model.quality.values()],
        "ignored_variables": {name: list(others) for name, others in model.ignored_variables.items()},
    }


def _build_model(version: int, members: Mapping[str, bytes], device: str) -> FittedModel:
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
            n_answers=tuple(metadata.get("n_answers", ())),
        ),
        certificates={certificate.key: certificate for certificate in certificates},
        quality={measured.target: measured for measured in quality},
        ignored_variables={
            name: _parse_names(others) for name, others in metadata["ignored_variables"].items()
        },
    )
    _check_model(model)
    return model


def _check_model(model: FittedModel) -> None:
    training = model.training
    for part in (training, *training.history, *model.certificates.values(), *model.quality.values()):
        check_types(part)
    check_counts(model)
    check_names(model)
    check_predictions(model)


def _parse_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("ignored_variables must have a list of names for each target.")
    return tuple(value)


def _as_tuple(value: Any) -> Any:
    """A tuple for a list, which is what JSON makes of a tuple."""
    return tuple(value) if isinstance(value, list) else value
