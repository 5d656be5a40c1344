"""Questionnaires: a published model with its target, strategy, stopping rule and settings."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, get_args

from eddi.errors import TargetError
from eddi.interview.interview import Interview
from eddi.interview.record import Record
from eddi.model.base import Model
from eddi.model.files.archive import load
from eddi.service.errors import N_, RespondentError
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.names import StrategyName, constrain, make_strategy, name_strategy
from eddi.strategy.stopping import Stop, StoppingRule
from eddi.table.variable import Variable

N_TARGETS_SUGGESTED = 12  # variables named in an error message


class NothingPublishedError(RespondentError, LookupError):
    """There is no questionnaire to start an interview with."""

    status = 409
    page_status = 404
    title = N_("There is nothing to answer here yet")
    explanation = N_(
        "No questionnaire is published. An analyst trains a model from a table and publishes it."
    )


class QuestionnaireClosedError(RespondentError, RuntimeError):
    """No interview can begin: the questionnaire was closed, or its limits are reached."""

    status = 409
    page_status = 410
    title = N_("This questionnaire is closed")
    explanation = N_(
        "No new answers are collected. If you have already begun, your private link still works."
    )


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """A published model with its target, strategy, stopping rule and settings.

    Args:
        name: its public name.
        model: the fitted model.
        model_sha256: SHA-256 of the model file. An interview continues only with the model it started
            with.
        target: the default target of its interviews.
        version: number of the version published under this name.
        strategy: chooses the questions.
        stop: ends the interviews.
        settings: its texts, what respondents see, and who may answer.
        key: identifies it when it is renamed; the name if empty.
        owner: the name of the API key of who owns it; empty if nobody does.
        published_at: when this version was published (ISO 8601); empty if it is not known.
        selection: constraints on the choice of questions, of an interview that has begun; those of the
            settings if None.
    """

    name: str
    model: Model
    model_sha256: str
    target: tuple[str, ...]
    version: int = 1
    strategy: Strategy = field(default_factory=Information)
    stop: StoppingRule = field(default_factory=Stop)
    settings: QuestionnaireSettings = field(default_factory=QuestionnaireSettings)
    key: str = ""
    owner: str = ""
    published_at: str = ""
    selection: Mapping[str, Any] | None = None

    @classmethod
    def load(
        cls,
        path: Path,
        target: str | Sequence[str] | None = None,
        *,
        strategy: str = "",
        rules: Mapping[str, float] | None = None,
    ) -> "Questionnaire":
        """Load a model file as a questionnaire with the name of the file.

        ``strategy`` is the name of a strategy; see `make_strategy`. ``rules`` are conditions of a
        stopping rule (`Stop`), which take precedence over those of the schema.

        Raises:
            ModelFileError: the file does not exist or is not a model.
            TargetError: the target is not a variable of the model, or neither gives a target.
        """
        model = load(path)
        target_names = model.schema.target_names(target or model.target or None)
        if not target_names:
            suggested = ", ".join(model.schema.names[:N_TARGETS_SUGGESTED])
            raise TargetError(
                f"{str(path)!r} was trained without a target. Give --target, one of: {suggested}."
            )
        return cls(
            name=path.stem,
            model=model,
            model_sha256=_hash_file(path),
            target=target_names,
            strategy=make_strategy(strategy, model, target_names),
            stop=Stop.from_document({**model.schema.stop, **(rules or {})}),
            settings=QuestionnaireSettings.for_schema(model.schema),
        )

    @property
    def stream_key(self) -> str:
        """The key that names its streams."""
        return self.key or self.name

    @property
    def constrained_strategy(self) -> Strategy:
        """The strategy with the constraints on the choice of questions.

        Shares of sections that the model does not have are left out.
        """
        document = self.settings.selection if self.selection is None else self.selection
        known = {question.section for question in self.model.schema.questions}
        shares = {name: share for name, share in document.get("shares", {}).items() if name in known}
        return constrain(self.strategy, n_best=document.get("n_best", 0), shares=shares)

    @property
    def strategy_name(self) -> str:
        """The name of the strategy."""
        return name_strategy(self.strategy)

    def with_strategy(self, name: str) -> "Questionnaire":
        """Return a copy with another strategy."""
        if name == self.strategy_name or name not in get_args(StrategyName):
            return self
        return replace(self, strategy=make_strategy(name, self.model, self.target))

    def with_stop(self, document: Mapping[str, float]) -> "Questionnaire":
        """Return a copy with another stopping rule, in the format of `stop_to_document`."""
        if document == stop_to_document(self.stop):
            return self
        return replace(self, stop=Stop.from_document(document))

    def with_selection(self, document: Mapping[str, Any]) -> "Questionnaire":
        """Return a copy with other constraints on the choice of questions."""
        current = self.settings.selection if self.selection is None else self.selection
        return self if document == current else replace(self, selection=document)

    def with_version(self, name: str, version: int) -> "Questionnaire":
        """Return a copy with another name and version."""
        return replace(self, name=name, version=version)

    def in_language(self, code: str) -> "Questionnaire":
        """Return a copy with the texts in one of its languages."""
        return replace(self, settings=self.settings.in_language(code, self.model.schema))

    def interview(
        self, target: str | Sequence[str] | None = None, record: Record | None = None
    ) -> Interview:
        """Return a new interview, or the one that continues ``record``."""
        interview_target = self.target if target is None and record is None else target
        return Interview(
            self.model,
            interview_target,
            strategy=self.constrained_strategy,
            stop=self.stop,
            record=record,
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its interviews predict."""
        return tuple(self.model.schema[name] for name in self.target)


class Catalogue(Protocol):
    """The questionnaires of a server, including earlier versions that interviews still use."""

    def current(self, name: str | None = None) -> Questionnaire:
        """Return the questionnaire for new interviews: the one with this name, or the default."""

    def first_page(self) -> Questionnaire | None:
        """Return the questionnaire at the address of the server; None if it lists all."""

    def find(self, name: str, version: int, model_sha256: str, /) -> Questionnaire | None:
        """Return the version that an interview started with; None if its model is not available."""

    def find_version(self, name: str, version: int, /) -> Questionnaire | None:
        """Return a version of the questionnaire with this name; None if there is none."""

    def all(self) -> tuple[Questionnaire, ...]:
        """Return the current version of every questionnaire that can be answered."""

    def read_logo(self, digest: str, /) -> bytes | None:
        """Return the picture with this digest; None if there is none."""


@dataclass(frozen=True)
class FixedCatalogue:
    """A catalogue that never changes. New interviews use its last questionnaire."""

    questionnaires: tuple[Questionnaire, ...]

    def current(self, name: str | None = None) -> Questionnaire:
        """Return the last questionnaire, or the last with this name."""
        for questionnaire in reversed(self.questionnaires):
            if name in (None, questionnaire.name):
                return questionnaire
        missing = "no questionnaire" if name is None else f"no questionnaire {name!r}"
        raise NothingPublishedError(f"there is {missing}. Publish one first.")

    def find(self, name: str, version: int, model_sha256: str, /) -> Questionnaire | None:  # noqa: ARG002
        """Return the last questionnaire with this model."""
        for questionnaire in reversed(self.questionnaires):
            if questionnaire.model_sha256 == model_sha256:
                return questionnaire
        return None

    def find_version(self, name: str, version: int, /) -> Questionnaire | None:
        """Return the last questionnaire with this name and version."""
        for questionnaire in reversed(self.questionnaires):
            if (questionnaire.name, questionnaire.version) == (name, version):
                return questionnaire
        return None

    def all(self) -> tuple[Questionnaire, ...]:
        """Return all questionnaires."""
        return self.questionnaires

    def first_page(self) -> Questionnaire | None:
        """Return the last questionnaire."""
        return self.current()

    def read_logo(self, digest: str, /) -> bytes | None:  # noqa: ARG002
        """Return None: a catalogue that never changes has no pictures."""
        return None


def stop_to_document(stop: StoppingRule) -> dict[str, float]:
    """Return the criteria of a stopping rule as plain JSON; empty for a rule other than `Stop`."""
    return stop.to_document() if isinstance(stop, Stop) else {}


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
