"""The activity log: who did what in the workshop, and when. It follows from the events of the store.

Events record the name of an API key as their author. Exports and deletions of answers are recorded in the
streams ``activity/<questionnaire>``. The log never contains answers, nor anything else about respondents but
their number. What was erased has neither author nor subject, except for the erasure itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eddi.service.errors import N_
from eddi.service.web.api_keys import COMMAND_LINE, NAME_PATTERN, NO_KEY, SERVER, Keys
from eddi.service.web.languages.current import format_integer, gettext, ngettext
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict

PAGE_SIZE = 50
MAX_PAGES = 10_000
MAX_ATTEMPTS = 8
AUTHORS = {
    "": N_("not known"),
    NO_KEY: N_("an analyst"),
    SERVER: N_("the server"),
    COMMAND_LINE: N_("an operator"),
}

# What an event says that somebody did, by the first part of the name of its stream and its kind.
ACTIONS: Mapping[tuple[str, str], str] = {
    ("table", "uploaded"): N_("uploaded the table"),
    ("table", "corrected"): N_("changed the schema of the table"),
    ("table", FORGOTTEN): N_("deleted a table"),
    ("job", "asked"): N_("started a job on"),
    ("job", "cancelled"): N_("cancelled a job on"),
    ("job", "resumed"): N_("resumed a job on"),
    ("job", FORGOTTEN): N_("deleted a job"),
    ("model", "renamed"): N_("renamed the model"),
    ("model", "deleted"): N_("deleted the model"),
    ("questionnaire", "published"): N_("published a version of"),
    ("questionnaire", "rolled-back"): N_("made another version current of"),
    ("questionnaire", "settings-changed"): N_("changed the settings of"),
    ("questionnaire", "renamed"): N_("renamed"),
    ("questionnaire", "access-changed"): N_("changed who has access to"),
    ("questionnaire", "closed"): N_("closed"),
    ("questionnaire", "reopened"): N_("reopened"),
    ("questionnaire", FORGOTTEN): N_("deleted the questionnaire"),
    ("site", "first-page-chosen"): N_("chose what the server's address shows:"),
    ("invitations", "issued"): N_("issued invitations to"),
    ("learning", "learning-changed"): N_("changed when a model learns from the answers to"),
    ("activity", "exported"): N_("exported answers to"),
    ("activity", "outcomes-recorded"): N_("recorded outcomes of"),
    ("activity", "person-deleted"): N_("deleted the answers of one person to"),
    ("key", "issued"): N_("issued a key to"),
    ("key", "rotated"): N_("replaced the key of"),
    ("key", "revoked"): N_("revoked the key of"),
    ("key", FORGOTTEN): N_("erased a key"),
}
JOBS = {
    "fit": N_("started training on"),
    "evaluate": N_("started an evaluation on"),
    "learn": N_("started learning from the answers to"),
}
ABOUT_QUESTIONNAIRES = ("questionnaire", "invitations", "activity", "learning")


@dataclass(frozen=True)
class Entry:
    """Something that somebody did.

    Args:
        at: ISO 8601.
        by: the author of the event: the name of an API key, or one of `AUTHORS`.
        author: the name of the holder of that key, or who else did it.
        action: what they did; the subject follows.
        subject: what they did it to; empty if it was erased.
        details: numbers and names that add to it.
        address: of the page of the subject; empty if there is none.
        questionnaire: the key of the questionnaire; empty if it was about something else.
    """

    at: str
    by: str
    author: str
    action: str
    subject: str
    details: str = ""
    address: str = ""
    questionnaire: str = ""


class ActivityLog:
    """Who did what in the workshop of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def record(self, questionnaire: str, kind: str, facts: Mapping[str, Any], *, by: str) -> None:
        """Record something that changes nothing, such as an export."""
        stream = f"activity/{questionnaire}"
        for attempt in range(MAX_ATTEMPTS):
            try:
                after = len(self.store.read(stream))
                self.store.append(stream, kind, {**facts, "by": by}, after=after)
                return
            except StoreConflict:
                if attempt == MAX_ATTEMPTS - 1:
                    raise

    def find(self, *, person: str = "", questionnaire: str = "") -> list[Entry]:
        """What a person did, or everybody, with a questionnaire, or with everything; newest first.

        Args:
            person: the author of the events, such as the name of an API key.
            questionnaire: its key or its present name.
        """
        found = [
            entry
            for entry in self._read_all()
            if (not person or entry.by == person)
            and (
                not questionnaire
                or (entry.questionnaire and questionnaire in (entry.questionnaire, entry.subject))
            )
        ]
        return sorted(found, key=lambda entry: entry.at, reverse=True)

    def _read_all(self) -> Iterator[Entry]:
        authors = {by: gettext(text) for by, text in AUTHORS.items()}
        names: dict[str, str] = {}
        keys = Keys(self.store)
        for prefix in dict.fromkeys(prefix for prefix, _ in ACTIONS):
            for stream in self.store.streams(f"{prefix}/"):
                events, key = self.store.read(stream), stream.removeprefix(f"{prefix}/")
                if prefix == "questionnaire" and events[-1].kind != FORGOTTEN:
                    names[key] = _find_name(key, events)
                for event in events:
                    if (action := ACTIONS.get((prefix, event.kind))) is None:
                        continue
                    by = str(event.facts.get("by", ""))
                    if by not in authors:
                        authors[by] = _find_label(keys, by)
                    yield _make_entry(
                        event, _Source(prefix, key, events, names), action, by, authors[by]
                    )


@dataclass(frozen=True)
class _Source:
    """The stream of an event, and the present names of questionnaires by key."""

    prefix: str
    key: str
    events: Sequence[Event]
    names: Mapping[str, str]


def _make_entry(event: Event, source: _Source, action: str, by: str, author: str) -> Entry:
    prefix, key, first = source.prefix, source.key, source.events[0].facts
    is_gone = source.events[-1].kind == FORGOTTEN
    questionnaire = key if prefix in ABOUT_QUESTIONNAIRES else ""
    subject, address = "", ""
    if questionnaire or prefix == "site":
        key = key if questionnaire else str(event.facts.get("questionnaire", ""))
        subject = source.names.get(key, key.partition("~")[0]) or gettext("all questionnaires")
        is_gone = is_gone or key not in source.names
        address = "" if is_gone else f"/analyst/questionnaires/{subject}"
    elif prefix == "table" and not is_gone:
        subject, address = str(first.get("name", "")), f"/analyst/tables/{key}"
    elif prefix == "job" and not is_gone:
        subject, address = str(first["order"].get("name", "")), f"/analyst/jobs/{key}"
        action = JOBS.get(first["kind"], action) if event.kind == "asked" else action
    elif prefix == "model":
        subject, address = key[:8], f"/analyst/models/{key}"
    elif prefix == "key":
        subject = str(first.get("holder") or key)
    details = _describe_details(event)
    return Entry(event.at, by, author, gettext(action), subject, details, address, questionnaire)


def _describe_details(event: Event) -> str:
    facts = event.facts
    if event.kind in ("exported", "outcomes-recorded"):
        n_people = facts.get("people", 0)
        people = ngettext("one person", "%(number)s people", n_people, number=format_integer(n_people))
        return f"{people}, {facts['file']}" if "file" in facts else people
    if event.kind == "issued" and "hashes" in facts:
        return format_integer(len(facts["hashes"]))
    if event.kind == "rolled-back" and "version" in facts:
        return gettext("version %(number)s", number=facts["version"])
    is_renamed = event.kind == "renamed" and "name" in facts
    return gettext("to %(name)s", name=facts["name"]) if is_renamed else ""


def _find_name(key: str, events: Sequence[Event]) -> str:
    """The present name of a questionnaire."""
    renamed = [event.facts["name"] for event in events if event.kind == "renamed" and event.facts]
    return str(renamed[-1]) if renamed else key.partition("~")[0]


def _find_label(keys: Keys, by: str) -> str:
    key = keys.find(by) if NAME_PATTERN.fullmatch(by) else None
    return by if key is None else key.label
