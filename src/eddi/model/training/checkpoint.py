"""A training run on disk: written in one piece or not at all, and refused by any other run."""

import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from eddi.errors import ModelFileError
from eddi.model.training.flat_weights import FlatWeights


@dataclass(frozen=True)
class Progress:
    """How training stands after a round of steps."""

    step: int
    max_steps: int
    loss: float  # negative objective, nats a variable
    validation: float | None  # how well hidden entries are foretold: minus CRPS, or log-likelihood
    best: float | None
    seconds: float


@dataclass
class Course:
    """Where a training run stands: all that a checkpoint must remember besides the weights."""

    round: int = 0
    best: float = -math.inf
    stale: int = 0
    history: list[Progress] = field(default_factory=list)

    def improved(self, validation: float | None) -> bool:
        return validation is None or validation > self.best


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is kept, and the fingerprint of the table and settings it belongs to."""

    path: Path
    fingerprint: str

    def save(self, weights: FlatWeights, course: Course) -> None:
        """Write the run's state; a kill leaves either the old file or the new one."""
        facts = {"fingerprint": self.fingerprint, "course": json.dumps(asdict(course))}
        unfinished = self.path.with_name(self.path.name + ".unfinished")
        save_file(weights.state(), unfinished, metadata=facts)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(self.path)

    def restore(self, weights: FlatWeights) -> Course:
        """Put a saved state back into ``weights``; a fresh course where nothing was saved."""
        if not self.path.parent.is_dir():
            raise ModelFileError(
                f"the checkpoint {str(self.path)!r} is to be in a folder that does not exist. "
                "Make the folder, or name another checkpoint."
            )
        if not self.path.exists():
            return Course()
        tensors, facts = self._read()
        if facts.get("fingerprint") != self.fingerprint:
            raise ModelFileError(
                f"the checkpoint {str(self.path)!r} belongs to another training run: its table, "
                "schema, settings or random_state differ. Delete it, or give the same ones."
            )
        for key, tensor in weights.state().items():
            tensor.copy_(tensors[key])
        course = json.loads(facts["course"])
        course["history"] = [Progress(**one) for one in course["history"]]
        return Course(**course)

    def _read(self) -> tuple[dict[str, Tensor], dict[str, str]]:
        try:
            with safe_open(self.path, framework="pt") as file:
                return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ModelFileError(
                f"the checkpoint {str(self.path)!r} cannot be read ({error}). "
                "Delete it to start training anew."
            ) from error
