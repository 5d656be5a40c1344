"""Published questionnaires and their versions.

A questionnaire is the event stream ``questionnaire/<name>``: "published" adds a version, "rolled-back"
makes another version current. Versions are never removed: an interview stays on the version with which it
began.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from eddi.errors import EddiError
from eddi.service.errors import RespondentError
from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import Event, Store, StoreConflict
from eddi.strategy.stopping import Stop

NAME_SHAPE = re.compile(r"\w[\w .()-]{0,79}")
MAX_ATTEMPTS = 8  # to publish under a name under which others publish at the same time


class QuestionnaireNotFoundError(RespondentError, LookupError):
    """No questionnaire with this name is published."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = "There is no questionnaire of this name"
    explanation: ClassVar[str] = "The link may be incomplete, or the questionnaire has another name now."


class PublishingError(EddiError, ValueError):
    """A model cannot be published as requested, or a version does not exist."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = "This cannot be published"


@dataclass(frozen=True)
class Version:
    """One version of a questionnaire.

    Args:
        number: counts the versions of a questionnaire from 1.
        model: digest of the model's file.
        target: the targets of its interviews.
        rules: the criteria of the stopping rule; see `eddi.Stop`.
        by: who published it: the name of an API key, "analyst" on a server that needs no keys, or "server"
            for the model with which the server was started.
        published_at: ISO 8601.
        strategy: the name of the strategy; empty for the default one.
    """

    number: int
    model: str
    target: tuple[str, ...]
    rules: Mapping[str, float] = field(default_factory=dict)
    by: str = NO_KEY
    published_at: str = ""
    strategy: str = "information"

    @property
    def stop(self) -> Stop:
        """The stopping rule of its interviews."""
        return Stop.from_document(self.rules)


@dataclass(frozen=True)
class PublishedQuestionnaire:
    """All versions of a questionnaire, and the current one, which new interviews use."""

    name: str
    versions: tuple[Version, ...]
    current: Version

    def find(self, number: int) -> Version | None:
        """The version with this number; None if there is none."""
        return self.versions[number - 1] if 1 <= number <= len(self.versions) else None


class Publisher:
    """The published questionnaires of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def all(self) -> list[PublishedQuestionnaire]:
        """All questionnaires, by name."""
        prefix = "questionnaire/"
        return [self.get(stream.removeprefix(prefix)) for stream in self.store.streams(prefix)]

    def get(self, name: str) -> PublishedQuestionnaire:
        """The questionnaire with this name.

        Raises:
            QuestionnaireNotFoundError: there is none.
        """
        events = self.store.read(_stream(name)) if NAME_SHAPE.fullmatch(name) else []
        if not events:
            raise QuestionnaireNotFoundError(
                f"nothing is published as {name[:80]!r}. `GET /questionnaires` lists what is published."
            )
        return _replay(name, events)

    def publish(
        self,
        name: str,
        *,
        model: str,
        target: Sequence[str],
        rules: Mapping[str, float] | None = None,
        strategy: str = "",
        by: str = NO_KEY,
    ) -> PublishedQuestionnaire:
        """Publish a model as the new current version of a questionnaire.

        Raises:
            PublishingError: the name is not valid.
        """
        if not NAME_SHAPE.fullmatch(name):
            raise PublishingError(
                f"{name[:80]!r} is not a valid name of a questionnaire. Use up to 80 letters, digits, "
                "spaces and the characters . ( ) - _ and begin with a letter or digit."
            )
        facts = {
            "model": model,
            "target": list(target),
            "rules": dict(rules or {}),
            "strategy": strategy,
            "by": by,
        }
        return self._append(name, "published", facts)

    def roll_back(self, name: str, number: int, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Make another version current.

        Raises:
            PublishingError: there is no such version, or it is current already.
        """
        questionnaire = self.get(name)
        if questionnaire.find(number) is None:
            raise PublishingError(
                f"{name!r} has no version {number}; it has 1 to {len(questionnaire.versions)}."
            )
        if questionnaire.current.number == number:
            raise PublishingError(f"version {number} of {name!r} is current already.")
        return self._append(name, "rolled-back", {"version": number, "by": by})

    def _append(self, name: str, kind: str, facts: Mapping[str, Any]) -> PublishedQuestionnaire:
        for _ in range(MAX_ATTEMPTS):
            after = len(self.store.read(_stream(name)))
            try:
                self.store.append(_stream(name), kind, facts, after=after)
            except StoreConflict:
                continue
            return self.get(name)
        raise PublishingError("others are publishing under this name at the same time. Try again.")


def make_valid_name(text: str) -> str:
    """A valid questionnaire name as close as possible to a text, such as a file name."""
    name = re.sub(r"[^\w .()-]", "-", text).lstrip(" .()-")[:80].rstrip()
    return name or "questionnaire"


def _replay(name: str, events: Sequence[Event]) -> PublishedQuestionnaire:
    versions: list[Version] = []
    current = 1
    for event in events:
        facts = event.facts
        if event.kind == "published":
            current = len(versions) + 1
            version = Version(
                current,
                facts["model"],
                tuple(facts["target"]),
                facts["rules"],
                facts["by"],
                event.at,
                facts.get("strategy", "information"),  # before strategies could be chosen
            )
            versions.append(version)
        else:
            current = facts["version"]
    return PublishedQuestionnaire(name, tuple(versions), versions[current - 1])


def _stream(name: str) -> str:
    return f"questionnaire/{name}"
