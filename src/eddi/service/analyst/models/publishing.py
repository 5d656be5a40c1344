"""Published questionnaires: their versions, settings, names and owners.

A questionnaire is the event stream ``questionnaire/<key>``: "published" adds a version, "rolled-back"
makes another version current, "settings-changed" replaces the settings, "renamed" changes the name,
"access-changed" changes who may edit it, and "closed" and "reopened" end and allow new interviews. Each
change is one event, so that it happens completely or not at all, and only if its author has access.
Versions are never removed: an interview stays on the version with which it began. Deleting a
questionnaire forgets its stream.
"""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from eddi.errors import EddiError
from eddi.service.analyst.accounts.access import Access, Permissions
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire, replay
from eddi.service.errors import N_, RespondentError
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.api_keys import NO_KEY, Keys
from eddi.store.base import FORGOTTEN, Store, StoreConflict

NAME_SHAPE = re.compile(r"\w[\w .()-]{0,79}")
PREFIX = "questionnaire/"
SITE = "site/first-page"  # the stream of what the address of the server shows
BUSY = "others are publishing under this name at the same time. Try again."
CHANGED_MEANWHILE = (
    "somebody else changed this questionnaire since the page was loaded. Load it again; your changes were "
    "not saved."
)
MAX_ATTEMPTS = 8  # to publish under a name under which others publish at the same time


class QuestionnaireNotFoundError(RespondentError, LookupError):
    """No questionnaire with this name is published."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = N_("There is no questionnaire of this name")
    explanation: ClassVar[str] = N_(
        "The link may be incomplete, or the questionnaire has another name now."
    )


class PublishingError(EddiError, ValueError):
    """A model cannot be published as requested, or a version does not exist."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = N_("This cannot be published")


class TargetChangeError(PublishingError):
    """A model has another target than the questionnaire under whose name it is published."""

    status: ClassVar[int] = 409
    title: ClassVar[str] = N_("The questionnaire is about something else")


class Publisher:
    """The published questionnaires of a store.

    Args:
        store: keeps their events.
        on_change: is called after each change, so that a catalogue reads them again.
    """

    def __init__(self, store: Store, on_change: Callable[[], None] = lambda: None) -> None:
        self.store, self.on_change = store, on_change
        self.permissions = Permissions(Keys(store))

    def all(self) -> list[PublishedQuestionnaire]:
        """All questionnaires, by name; those that were deleted are not among them."""
        keys = (stream.removeprefix(PREFIX) for stream in self.store.streams(PREFIX))
        found = (self._read(key) for key in keys)
        return sorted((item for item in found if item is not None), key=lambda item: item.name)

    def get(self, name: str) -> PublishedQuestionnaire:
        """The questionnaire with this name, or with this former name.

        Raises:
            QuestionnaireNotFoundError: there is none.
        """
        found = self._find(name) if NAME_SHAPE.fullmatch(name) else None
        found = found or next((item for item in self.all() if name in item.former_names), None)
        if found is None:
            raise QuestionnaireNotFoundError(
                f"nothing is published as {name[:80]!r}. The workshop lists what is published."
            )
        return found

    def get_for_editor(self, name: str, by: str) -> PublishedQuestionnaire:
        """The questionnaire with this name, for somebody who may edit it.

        Raises:
            QuestionnaireNotFoundError: there is none.
            AccessDeniedError: it belongs to somebody else.
        """
        item = self.get(name)
        self.permissions.check_edit(item.name, item.access, by)
        return item

    def publish(
        self,
        name: str,
        *,
        model: str,
        target: Sequence[str],
        rules: Mapping[str, float] | None = None,
        strategy: str = "",
        by: str = NO_KEY,
        replace_target: bool = True,
        settings: QuestionnaireSettings | None = None,
    ) -> PublishedQuestionnaire:
        """Publish a model as the new current version of a questionnaire, and open it.

        Who publishes it first owns it. A new questionnaire has these settings.

        Raises:
            PublishingError: the name is not valid.
            TargetChangeError: the questionnaire has another target, and ``replace_target`` is false.
            AccessDeniedError: the questionnaire belongs to somebody else.
        """
        check_name(name)
        facts = {
            "model": model,
            "target": list(target),
            "rules": dict(rules or {}),
            "strategy": strategy,
            "by": by,
        }
        for _ in range(MAX_ATTEMPTS):
            existing = self._find(name)
            if existing is not None:
                self.permissions.check_edit(existing.name, existing.access, by)
            if existing is not None and not replace_target:
                _check_target(existing, tuple(target))
            key = self._unused_key(name) if existing is None else existing.key
            after = 0 if existing is None else existing.n_events
            first = {} if existing or settings is None else {"settings": settings.to_document()}
            try:
                self.store.append(_stream(key), "published", {**facts, **first}, after=after)
            except StoreConflict:
                continue
            self.on_change()
            return self.get(name)
        raise PublishingError(BUSY)

    def roll_back(self, name: str, number: int, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Make another version current.

        Raises:
            PublishingError: there is no such version, or it is current already.
        """
        questionnaire = self.get_for_editor(name, by)
        if questionnaire.find(number) is None:
            raise PublishingError(
                f"{name!r} has no version {number}; it has 1 to {len(questionnaire.versions)}."
            )
        if questionnaire.current.number == number:
            raise PublishingError(f"version {number} of {name!r} is current already.")
        return self._append(name, "rolled-back", {"version": number, "by": by})

    def change_settings(
        self,
        name: str,
        settings: QuestionnaireSettings,
        *,
        after: int | None = None,
        by: str = NO_KEY,
    ) -> PublishedQuestionnaire:
        """Replace the settings of a questionnaire.

        Args:
            name: of the questionnaire.
            settings: the new ones.
            after: `PublishedQuestionnaire.n_events` when they were edited; by default any.
            by: the name of the key of who changes them.

        Raises:
            PublishingError: somebody else changed the questionnaire since then.
        """
        facts = {"settings": settings.to_document(), "by": by}
        return self._append(name, "settings-changed", facts, after=after)

    def close(self, name: str, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Unpublish a questionnaire: no new interviews can begin. Those that have begun can end."""
        return self._append(name, "closed", {"by": by})

    def reopen(self, name: str, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Let interviews begin again."""
        return self._append(name, "reopened", {"by": by})

    def rename(self, name: str, new_name: str, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Give a questionnaire another name. Its former address leads to the new one.

        Raises:
            PublishingError: the name is not valid, or another questionnaire has it.
        """
        check_name(new_name)
        key = self.get_for_editor(name, by).key
        holder = self._find(new_name)
        if holder is not None and holder.key != key:
            raise PublishingError(f"there is already a questionnaire {new_name!r}. Choose another name.")
        return self._append(name, "renamed", {"name": new_name, "by": by})

    def change_access(self, name: str, access: Access, *, by: str = NO_KEY) -> PublishedQuestionnaire:
        """Give a questionnaire to another owner, or change who may edit it.

        Raises:
            AccessDeniedError: somebody else owns it.
            AccessError: the new owner or an editor is not an analyst with a valid key.
        """
        self.permissions.check_holders(access)
        facts = {"owner": access.owner, "editors": list(access.editors), "by": by}
        return self._append(name, "access-changed", facts)

    def delete(self, name: str, *, by: str = NO_KEY) -> None:
        """Delete a questionnaire with its texts. Interviews that have begun can no longer continue.

        Raises:
            AccessDeniedError: somebody else owns it.
        """
        item = self.get(name)
        self.permissions.check_ownership(item.name, item.access, by)
        self.store.forget(_stream(item.key), by=by)
        self.on_change()

    def choose_first_page(self, name: str, *, by: str = NO_KEY) -> None:
        """Show a questionnaire at the address of the server; an empty name lists all of them."""
        key = self.get_for_editor(name, by).key if name else ""
        for _ in range(MAX_ATTEMPTS):
            with suppress(StoreConflict):
                after = len(self.store.read(SITE))
                facts = {"questionnaire": key, "by": by}
                self.store.append(SITE, "first-page-chosen", facts, after=after)
                self.on_change()
                return
        raise PublishingError(BUSY)

    def first_page(self) -> str | None:
        """The key of the questionnaire at the address of the server.

        It is empty if all are listed, and None if nobody has chosen.
        """
        events = self.store.read(SITE)
        return str(events[-1].facts["questionnaire"]) if events else None

    def _append(
        self, name: str, kind: str, facts: Mapping[str, Any], *, after: int | None = None
    ) -> PublishedQuestionnaire:
        key = self.get(name).key
        for _ in range(MAX_ATTEMPTS):
            item = self._read(key) or self.get(name)
            is_for_owners = kind == "access-changed"
            check = self.permissions.check_ownership if is_for_owners else self.permissions.check_edit
            check(item.name, item.access, facts["by"])
            if after is not None and after != item.n_events:
                raise PublishingError(CHANGED_MEANWHILE)
            try:
                self.store.append(_stream(key), kind, facts, after=item.n_events)
            except StoreConflict:
                continue
            self.on_change()
            if (changed := self._read(key)) is not None:
                return changed
        raise PublishingError(BUSY)

    def _find(self, name: str) -> PublishedQuestionnaire | None:
        """The questionnaire that has this name now."""
        found = self._read(name)
        if found is not None and found.name == name:
            return found
        return next((item for item in self.all() if item.name == name), None)

    def _read(self, key: str) -> PublishedQuestionnaire | None:
        """The questionnaire with this key; None if there is none, or it was deleted."""
        events = self.store.read(_stream(key))
        if not events or events[-1].kind == FORGOTTEN:
            return None
        return replay(key, events)

    def _unused_key(self, name: str) -> str:
        """The name, with a number if a questionnaire that was renamed or deleted had it."""
        numbered = (f"{name}~{number}" for number in itertools.count(2))  # a name has no "~"
        candidates = itertools.chain([name], numbered)
        return next(key for key in candidates if not self.store.read(_stream(key)))


def check_name(name: str) -> None:
    """Raise a `PublishingError` if the name cannot be part of an address."""
    if not NAME_SHAPE.fullmatch(name):
        raise PublishingError(
            f"{name[:80]!r} is not a valid name of a questionnaire. Use up to 80 letters, digits, "
            "spaces and the characters . ( ) - _ and begin with a letter or digit."
        )


def make_valid_name(text: str) -> str:
    """A valid questionnaire name as close as possible to a text, such as a file name."""
    name = re.sub(r"[^\w .()-]", "-", text).lstrip(" .()-")[:80].rstrip()
    return name or "questionnaire"


def _check_target(existing: PublishedQuestionnaire, target: tuple[str, ...]) -> None:
    if existing.current.target != target:
        raise TargetChangeError(
            f"{existing.name!r} asks about {', '.join(existing.current.target)}, and this model is about "
            f"{', '.join(target)}. Confirm that its address shall lead to another subject, or choose "
            "another name."
        )


def _stream(key: str) -> str:
    return f"{PREFIX}{key}"
