"""What is published: a model, what it is asked for, who chooses, and when it is enough."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Protocol

from eddi.errors import EddiError, TargetError
from eddi.interview.interview import Interview
from eddi.interview.record import Record
from eddi.interview.risk_control import resolve_risk
from eddi.interview.rules import InterviewRules
from eddi.model.files.archive import load
from eddi.model.fitted import FittedModel
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop, StoppingRule

CHUNK_BYTES = 1 << 20


class NothingPublishedError(EddiError, LookupError):
    """There is no questionnaire to begin an interview with."""


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
    model: FittedModel
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
        names = model.schema.target_names(target or model.target or None)
        if not names:
            known = ", ".join(model.schema.names[:12])
            raise TargetError(f"{str(path)!r} has no target of its own. Give --target, one of: {known}.")
        return cls(path.stem, model, _seal(path), names, 1, strategy or Information(), stop or Stop())

    def ruled(self, rules: Mapping[str, float]) -> "Questionnaire":
        """The same, with interviews ended by these rules, as `rules_of` told them."""
        return self if rules == rules_of(self.stop) else replace(self, stop=Stop(**rules))  # type: ignore[arg-type]

    def published_as(self, name: str, version: int) -> "Questionnaire":
        """The same as this version of a name."""
        return replace(self, name=name, version=version)

    def interview(
        self, target: str | Sequence[str] | None = None, record: Record | None = None
    ) -> Interview:
        """An interview by the rules of this questionnaire, new or gone on with."""
        wanted = self.target if target is None and record is None else target
        return Interview(self.model, wanted, strategy=self.strategy, stop=self.stop, record=record)

    def rules(self, target: tuple[str, ...]) -> InterviewRules:
        """The rules of interviews about ``target``."""
        stop = resolve_risk(self.stop, self.model, target, self.strategy)
        return InterviewRules(self.model, target, self.strategy, stop)


class Catalogue(Protocol):
    """What is served, and what was: interviews stay on what they began with."""

    def current(self, name: str | None = None) -> Questionnaire:
        """What new interviews are held by: the questionnaire of this name, the first where None."""

    def find(self, name: str, version: int, seal: str) -> Questionnaire | None:
        """What an interview began with; None where its model is not here."""

    def all(self) -> tuple[Questionnaire, ...]:
        """What can be answered now."""


@dataclass(frozen=True)
class Fixed:
    """A catalogue that never changes; new interviews take the last."""

    questionnaires: tuple[Questionnaire, ...]

    def current(self, name: str | None = None) -> Questionnaire:
        """The last questionnaire, or the last of this name."""
        for one in reversed(self.questionnaires):
            if name in (None, one.name):
                return one
        raise NothingPublishedError(f"there is no questionnaire {name or 'at all'!r} here.")

    def find(self, name: str, version: int, seal: str) -> Questionnaire | None:  # noqa: ARG002
        """The last questionnaire of this model."""
        return next((one for one in reversed(self.questionnaires) if one.seal == seal), None)

    def all(self) -> tuple[Questionnaire, ...]:
        """All of them."""
        return self.questionnaires


def rules_of(stop: StoppingRule) -> dict[str, float]:
    """What a stopping rule says, as plain JSON; nothing for a rule of another kind than `Stop`."""
    if not isinstance(stop, Stop):
        return {}
    values = {each.name: (getattr(stop, each.name), each.default) for each in fields(stop)}
    return {name: value for name, (value, default) in values.items() if value != default}


def _seal(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
