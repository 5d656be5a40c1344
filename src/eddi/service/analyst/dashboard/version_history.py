"""The history of versions: which one was current from when, who decided, and how many people it asked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from eddi.service.analyst.questionnaires.collected_answers import InterviewEntry
from eddi.store.base import Event


@dataclass(frozen=True)
class VersionChange:
    """A version became current.

    Args:
        version: its number.
        model: digest of its model.
        is_published: whether it is new; otherwise an earlier version became current again.
        at: ISO 8601.
        by: who decided: the author of the event.
        n_interviews: that began with the version, in total.
        n_outcomes: interviews among them with an outcome.
    """

    version: int
    model: str
    is_published: bool
    at: str
    by: str
    n_interviews: int
    n_outcomes: int


def list_changes(events: Sequence[Event], entries: Sequence[InterviewEntry]) -> list[VersionChange]:
    """Return the changes of the current version, newest first.

    Args:
        events: of the questionnaire.
        entries: its interviews.
    """
    n_interviews = Counter(entry.version for entry in entries)
    n_outcomes = Counter(entry.version for entry in entries if entry.has_outcome)
    models: list[str] = []
    changes = []
    for event in events:
        if event.kind == "published":
            models.append(str(event.facts["model"]))
        elif event.kind != "rolled-back":
            continue
        is_published = event.kind == "published"
        version = len(models) if is_published else int(event.facts["version"])
        changes.append(
            VersionChange(
                version,
                models[version - 1],
                is_published,
                event.at,
                str(event.facts["by"]),
                n_interviews[version],
                n_outcomes[version],
            )
        )
    return changes[::-1]
