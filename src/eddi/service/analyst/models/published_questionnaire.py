"""A published questionnaire: the state that the events of its stream lead to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eddi.service.analyst.accounts.access import Access
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import Event
from eddi.strategy.stopping import Stop


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
    """A questionnaire with all its versions.

    Args:
        key: identifies it; its first name, with a number if that was taken.
        name: its present name.
        versions: all that were published.
        current: the version that new interviews use.
        settings: its texts, what respondents see, and who may answer.
        is_open: whether new interviews can begin.
        former_names: the names that it had before.
        access: who owns it, and who may edit it.
        n_events: how many changes led to this state.
    """

    key: str
    name: str
    versions: tuple[Version, ...]
    current: Version
    settings: QuestionnaireSettings = field(default_factory=QuestionnaireSettings)
    is_open: bool = True
    former_names: tuple[str, ...] = ()
    n_events: int = 0
    access: Access = field(default_factory=Access)

    def find(self, number: int) -> Version | None:
        """The version with this number; None if there is none."""
        return self.versions[number - 1] if 1 <= number <= len(self.versions) else None


def replay(key: str, events: Sequence[Event]) -> PublishedQuestionnaire:
    """The questionnaire that its events lead to."""
    versions: list[Version] = []
    current, name, former_names = 1, key.partition("~")[0], []
    is_open, settings = True, QuestionnaireSettings()
    access = Access.of_author(str(events[0].facts["by"]))
    for event in events:
        facts = event.facts
        if event.kind == "published":
            versions.append(_read_version(len(versions) + 1, event))
            current, is_open = len(versions), True
            if "settings" in facts:
                settings = QuestionnaireSettings.from_document(facts["settings"])
        elif event.kind == "rolled-back":
            current = facts["version"]
        elif event.kind == "settings-changed":
            settings = QuestionnaireSettings.from_document(facts["settings"])
        elif event.kind == "renamed":
            former_names.append(name)
            name = facts["name"]
        elif event.kind == "access-changed":
            access = Access(facts["owner"], tuple(facts["editors"]))
        elif event.kind in ("closed", "reopened"):
            is_open = event.kind == "reopened"
    return PublishedQuestionnaire(
        key,
        name,
        tuple(versions),
        versions[current - 1],
        settings,
        is_open,
        tuple(former for former in former_names if former != name),
        len(events),
        access,
    )


def _read_version(number: int, event: Event) -> Version:
    facts = event.facts
    return Version(
        number,
        facts["model"],
        tuple(facts["target"]),
        facts["rules"],
        facts["by"],
        event.at,
        facts.get("strategy", "information"),  # before strategies could be chosen
    )
