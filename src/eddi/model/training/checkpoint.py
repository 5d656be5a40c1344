"""Checkpoints: the state of a training run on disk, written atomically."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from eddi.durable_file import finish_file, name_unfinished
from eddi.errors import ModelFileError


@dataclass(frozen=True)
class Progress:
    """The progress of training after a round of steps."""

    step: int
    max_steps: int
    loss: float  # negative objective in nats per variable
    validation: float | None  # score of hidden entries of held-out rows
    best: float | None
    seconds: float


@dataclass
class TrainingState:
    """The state of a training run besides its weights."""

    round: int = 0
    best: float = -math.inf
    n_stale: int = 0  # rounds without improvement
    history: list[Progress] = field(default_factory=list)

    def start(self, score: float | None) -> None:
        """Begin with the validation score of the initial weights, if there is one."""
        self.best = self.best if score is None else score

    def is_improvement(self, validation: float | None) -> bool:
        """Whether a validation score is the best so far; always without validation."""
        return validation is None or validation > self.best


class ResumableWeights(Protocol):
    """Weights and the state of their optimiser."""

    def state(self) -> dict[str, Tensor]:
        """Every tensor that a resumed run needs; to restore it, write into them."""


@dataclass(frozen=True)
class Checkpoint:
    """The file of a run, and the fingerprint of its table and settings."""

    path: Path
    fingerprint: str

    def save(self, weights: ResumableWeights, state: TrainingState) -> None:
        """Write the state; after a crash the file is either the old or the new one."""
        metadata = {"fingerprint": self.fingerprint, "course": json.dumps(_to_document(state))}
        unfinished = name_unfinished(self.path)
        save_file(weights.state(), unfinished, metadata=metadata)
        finish_file(unfinished, self.path)

    def restore(self, weights: ResumableWeights) -> TrainingState:
        """Restore a saved state into ``weights``; a new state if there is no file."""
        if not self.path.parent.is_dir():
            raise ModelFileError(
                f"the folder of the checkpoint {str(self.path)!r} does not exist. "
                "Create the folder, or choose another checkpoint."
            )
        if not self.path.exists():
            return TrainingState()
        tensors, metadata = self._read()
        if metadata.get("fingerprint") != self.fingerprint:
            raise ModelFileError(
                f"the checkpoint {str(self.path)!r} belongs to another training run: its table, "
                "schema, settings or random_state differ. Delete it, or use the same ones."
            )
        for key, tensor in weights.state().items():
            tensor.copy_(tensors[key])
        return _from_document(json.loads(metadata["course"]))

    def _read(self) -> tuple[dict[str, Tensor], dict[str, str]]:
        try:
            with safe_open(self.path, framework="pt") as file:
                return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ModelFileError(
                f"the checkpoint {str(self.path)!r} cannot be read ({error}). "
                "Delete it to start training again."
            ) from error


def _to_document(state: TrainingState) -> dict[str, Any]:
    document = asdict(state)
    document["stale"] = document.pop("n_stale")  # the name in files
    return document


def _from_document(document: dict[str, Any]) -> TrainingState:
    history = [Progress(**progress) for progress in document["history"]]
    return TrainingState(document["round"], document["best"], document["stale"], history)
