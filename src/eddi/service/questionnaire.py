"""What is published: a model, what it is asked for, who chooses, and when it is enough."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eddi.errors import TargetError
from eddi.interview.interview import Interview
from eddi.interview.record import Record
from eddi.interview.turn import Turns
from eddi.model.archive import load
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop, StoppingRule

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """A published model with its target, strategy and stopping rule.

    Args:
        name: what it is called.
        model: what was learned.
        seal: the SHA-256 of the model's file; interviews go on only with the model they began with.
        target: what interviews want to know unless they say otherwise.
        version: counts what was published under this name.
    """

    name: str
    model: PartialVAE
    seal: str
    target: tuple[str, ...]
    version: int = 1
    strategy: Strategy = field(default_factory=Information)
    stop: StoppingRule = field(default_factory=Stop)

    @classmethod
    def load(
        cls,
        path: Path,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
        stop: StoppingRule | None = None,
    ) -> "Questionnaire":
        """The questionnaire of a model file, called by the file's name.

        Raises:
            ModelFileError: there is no such model.
            TargetError: the target is not in the model, or there is none.
        """
        model = load(path)
        names = model.schema_.target_names(target or model.target_ or None)
        if not names:
            known = ", ".join(model.schema_.names[:12])
            raise TargetError(f"{str(path)!r} has no target of its own. Give --target, one of: {known}.")
        return cls(path.stem, model, _seal(path), names, 1, strategy or Information(), stop or Stop())

    def interview(
        self, target: str | Sequence[str] | None = None, record: Record | None = None
    ) -> Interview:
        """An interview by the rules of this questionnaire, new or gone on with."""
        wanted = self.target if target is None and record is None else target
        return Interview(self.model, wanted, strategy=self.strategy, stop=self.stop, record=record)

    def turns(self, target: tuple[str, ...]) -> Turns:
        """The rules by which interviews about ``target`` go on."""
        return Turns(self.model, target, self.strategy, self.stop)


def _seal(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
