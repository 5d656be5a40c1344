"""What is published under which name, and what was before.

A questionnaire is the stream ``questionnaire/<name>``: "published" adds a version, "rolled-back" makes
an earlier one current again. Nothing is taken away: interviews stay on the version they began with.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eddi.errors import EddiError
from eddi.service.errors import RespondentError
from eddi.store.base import Event, Store, StoreConflict
from eddi.strategy.stopping import Stop

NAME_SHAPE = re.compile(r"\w[\w .()-]{0,79}")
ATTEMPTS = 8  # at publishing what others keep publishing before


class QuestionnaireNotFoundError(RespondentError, LookupError):
    """Nothing is published under this name."""

    status = 404
    title = "There is no questionnaire of this name"
    explanation = "The link may be incomplete, or the questionnaire has another name now."


class PublishingError(EddiError, ValueError):
    """This cannot be published, or not under this name."""

    status = 422
    title = "This cannot be published"


@dataclass(frozen=True)
class Version:
    """One version of a questionnaire: which model, asked for what, and when it is enough.

    Args:
        number: counts what was published under its name, from 1.
        model: the seal of the model's file.
        target: what interviews want to know.
        rules: of the stopping rule; those that are left out do not apply.
        by: who published it: "analyst", or "server" for what it was started with.
    """

    number: int
    model: str
    target: tuple[str, ...]
    rules: Mapping[str, float] = field(default_factory=dict)
    by: str = "analyst"
    at: str = ""

    @property
    def stop(self) -> Stop:
        """When its interviews end."""
        return Stop(**self.rules)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Published:
    """All versions of one questionnaire, and which of them new interviews take."""

    name: str
    versions: tuple[Version, ...]
    current: Version
    version: int  # of the stream

    def find(self, number: int) -> Version | None:
        """The version of this number."""
        return self.versions[number - 1] if 1 <= number <= len(self.versions) else None


class Publishing:
    """The questionnaires of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def all(self) -> list[Published]:
        """Every questionnaire by name."""
        names = (
            stream.removeprefix("questionnaire/") for stream in self.store.streams("questionnaire/")
        )
        return [self.get(name) for name in names]

    def get(self, name: str) -> Published:
        """What is published under a name.

        Raises:
            QuestionnaireNotFoundError: nothing is.
        """
        events = self.store.read(_stream(name)) if NAME_SHAPE.fullmatch(name) else []
        if not events:
            raise QuestionnaireNotFoundError(
                f"nothing is published as {name[:80]!r}. `GET /questionnaires` lists what is."
            )
        return _replayed(name, events)

    def publish(
        self,
        name: str,
        *,
        model: str,
        target: Sequence[str],
        rules: Mapping[str, float] | None = None,
        by: str = "analyst",
    ) -> Published:
        """Make a model what new interviews of this name are held by.

        Raises:
            PublishingError: nothing can be called so.
        """
        if not NAME_SHAPE.fullmatch(name):
            raise PublishingError(
                f"a questionnaire cannot be called {name[:80]!r}. Use up to 80 letters, digits, spaces, "
                "and the signs . ( ) - _; begin with a letter or digit."
            )
        facts = {"model": model, "target": list(target), "rules": dict(rules or {}), "by": by}
        return self._append(name, "published", facts)

    def roll_back(self, name: str, number: int) -> Published:
        """Make an earlier (or later) version current again.

        Raises:
            PublishingError: there is no such version, or it is current.
        """
        published = self.get(name)
        if published.find(number) is None:
            raise PublishingError(
                f"{name!r} has no version {number}; it has 1 to {len(published.versions)}."
            )
        if published.current.number == number:
            raise PublishingError(f"version {number} of {name!r} is current already.")
        return self._append(name, "rolled-back", {"version": number})

    def _append(self, name: str, kind: str, facts: Mapping[str, Any]) -> Published:
        for _ in range(ATTEMPTS):
            after = len(self.store.read(_stream(name)))
            try:
                self.store.append(_stream(name), kind, facts, after=after)
            except StoreConflict:
                continue
            return self.get(name)
        raise PublishingError("others publish under this name at the same moment. Try again.")


def called(words: str) -> str:
    """A name as close to these words as can be, such as a file's."""
    plain = re.sub(r"[^\w .()-]", "-", words).lstrip(" .()-")[:80].rstrip()
    return plain or "questionnaire"


def _replayed(name: str, events: Sequence[Event]) -> Published:
    versions: list[Version] = []
    current = 1
    for event in events:
        facts = event.facts
        if event.kind == "published":
            current = len(versions) + 1
            target, rules = tuple(facts["target"]), facts["rules"]
            versions.append(Version(current, facts["model"], target, rules, facts["by"], event.at))
        else:
            current = facts["version"]
    return Published(name, tuple(versions), versions[current - 1], len(events))


def _stream(name: str) -> str:
    return f"questionnaire/{name}"
