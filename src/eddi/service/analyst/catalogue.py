"""The questionnaires of a store as the desk wants them: those that are current, and those that were.

Models are loaded when somebody needs them, and some are kept loaded. What another server published is
seen within a second.
"""

import math
import threading
import time
from collections import OrderedDict
from pathlib import Path

from eddi.service.analyst.blob_store import Shelf
from eddi.service.analyst.publishing import Published, Publishing, Version, called
from eddi.service.interviews.questionnaire import NothingPublishedError, Questionnaire, stop_to_document

MAX_LOADED = 16  # questionnaires in memory; a model takes a megabyte or two
FRESH_S = 1.0  # how long what was read of the store is believed


class ShelfCatalogue:
    """What is published in a store, loaded from the shelf.

    Args:
        publishing: what is published.
        shelf: where the models are.
        first: the name that those who name none are meant to want.
    """

    def __init__(self, publishing: Publishing, shelf: Shelf, *, first: str = "") -> None:
        self.publishing, self.shelf, self.first = publishing, shelf, first
        self._loaded: OrderedDict[tuple[str, int], Questionnaire] = OrderedDict()
        self._known: list[Published] = []
        self._read = -math.inf
        self._lock = threading.RLock()

    def serve(self, path: Path, questionnaire: Questionnaire) -> None:
        """Publish what the server was started with, unless that is what it was last started with.

        So a version that an analyst published since stays current when the server starts again.
        """
        name, target = called(questionnaire.name), questionnaire.target
        rules = stop_to_document(questionnaire.stop)
        model = self.shelf.put(path)
        mine = [one for one in self._versions(name) if one.by == "server"]
        if not mine or (mine[-1].model, mine[-1].target, mine[-1].rules) != (model, target, rules):
            published = self.publishing.publish(
                name, model=model, target=target, rules=rules, by="server"
            )
            mine = [published.current]
        number = mine[-1].number
        self._loaded[name, number] = questionnaire.with_version(name, number)
        self.first = name
        self.refresh()

    def refresh(self) -> None:
        """Look into the store at the next question."""
        self._read = -math.inf

    def current(self, name: str | None = None) -> Questionnaire:
        """What new interviews of this name are held by; of the first one where None.

        Raises:
            QuestionnaireNotFoundError: nothing is published under this name.
            NothingPublishedError: nothing is published at all.
        """
        known = self._published()
        if name is not None:
            found = next((one for one in known if one.name == name), None)
            found = found or self.publishing.get(name)
        elif known:
            found = next((one for one in known if one.name == self.first), known[0])
        else:
            raise NothingPublishedError(
                "nothing is published here yet. An analyst trains a model and publishes it at /analyst."
            )
        return self._load(found.name, found.current)

    def find(self, name: str, version: int, seal: str) -> Questionnaire | None:
        """What an interview began with; None where its model is not here."""
        published = sorted(self._published(), key=lambda one: one.name != name)  # its own first
        for one in published:
            for each in sorted(one.versions, key=lambda each: each.number != version):
                if each.model == seal and self.shelf.holds(seal):
                    return self._load(one.name, each)
        return None

    def all(self) -> tuple[Questionnaire, ...]:
        """What is current under each name."""
        return tuple(self._load(one.name, one.current) for one in self._published())

    def _published(self) -> list[Published]:
        with self._lock:
            if time.monotonic() - self._read > FRESH_S:
                self._known = self.publishing.all()
                self._read = time.monotonic()
            return self._known

    def _versions(self, name: str) -> tuple[Version, ...]:
        return next((one.versions for one in self.publishing.all() if one.name == name), ())

    def _load(self, name: str, version: Version) -> Questionnaire:
        which = (name, version.number)
        with self._lock:
            if which in self._loaded:
                self._loaded.move_to_end(which)
                return self._loaded[which]
        path = self.shelf.path(version.model)  # others go on while this one is read
        loaded = Questionnaire.load(path, version.target, stop=version.stop)
        with self._lock:
            while len(self._loaded) >= MAX_LOADED:
                self._loaded.popitem(last=False)
            return self._loaded.setdefault(which, loaded.with_version(*which))
