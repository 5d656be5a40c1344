"""A model of the workshop and its origin: the table, the held-out rows, and the evaluation."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from eddi.errors import EddiError
from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.errors import N_
from eddi.service.web.api_keys import NO_KEY


class ModelNotFoundError(EddiError, LookupError):
    """There is no such model, or it has no evaluation."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = N_("There is no such model")


@dataclass(frozen=True)
class TrainedModel:
    """A model file in the blob store, and where it comes from.

    Args:
        digest: SHA-256 of the model's file, its key in the blob store.
        name: the name of the table it was trained on, or of the questionnaire it was published as.
        target: the target it was trained for.
        table: the table with training and held-out rows, as Parquet; None if it is not available.
        table_name: the name of that table.
        held_out: positions in the table of the rows that training did not use, from 0.
        trained_at: ISO 8601; empty if unknown.
        evaluation: digest of its evaluation document; None if it was not evaluated yet.
    """

    digest: str
    name: str
    target: str
    table: Path | None = None
    table_name: str = ""
    held_out: tuple[int, ...] = ()
    trained_at: str = ""
    evaluation: str | None = None

    @property
    def short_digest(self) -> str:
        """The first characters of the digest, for display."""
        return self.digest[:8]


class TrainedModels(Protocol):
    """A collection of models. `Workshop` implements it."""

    @property
    def blobs(self) -> BlobStore:
        """Contains the model files and evaluation documents."""

    def get_model(self, digest: str) -> TrainedModel:
        """The model with this digest.

        Raises:
            ModelNotFoundError: there is no such model.
        """

    def models(self) -> Sequence[TrainedModel]:
        """All models, newest first."""

    def evaluate(self, digest: str, *, by: str = NO_KEY) -> str:
        """Submit a job that evaluates a model on its held-out rows, and return the job's key."""


def read_evaluation(model: TrainedModel, blobs: BlobStore) -> dict[str, Any] | None:
    """A model's evaluation document (see `models.evaluation`); None if it was not evaluated yet."""
    if model.evaluation is None:
        return None
    document: dict[str, Any] = json.loads(blobs.path(model.evaluation).read_bytes())
    return document
