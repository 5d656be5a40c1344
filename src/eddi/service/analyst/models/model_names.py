"""The names that analysts give to models. A model's own name is that of its table."""

from collections.abc import Mapping

from eddi.service.web.api_keys import NO_KEY
from eddi.store.base import Store, StoreConflict

PREFIX = "model/"
MAX_ATTEMPTS = 8


class ModelNames:
    """The names of the models of a store: events "renamed" of the streams ``model/<digest>``."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def rename(self, digest: str, name: str, *, by: str = NO_KEY) -> None:
        """Give a model another name."""
        self._append(digest, "renamed", {"name": name, "by": by})

    def record_deletion(self, digest: str, *, by: str = NO_KEY) -> None:
        """Record who deleted a model. The name that it was given is no longer used."""
        self._append(digest, "deleted", {"by": by})

    def _append(self, digest: str, kind: str, facts: Mapping[str, str]) -> None:
        for attempt in range(MAX_ATTEMPTS):
            after = len(self.store.read(f"{PREFIX}{digest}"))
            try:
                self.store.append(f"{PREFIX}{digest}", kind, facts, after=after)
                return
            except StoreConflict:
                if attempt == MAX_ATTEMPTS - 1:
                    raise

    def all(self) -> dict[str, str]:
        """The names that were given, by digest."""
        names = {}
        for stream in self.store.streams(PREFIX):
            events = self.store.read(stream)
            names[stream.removeprefix(PREFIX)] = str(events[-1].facts.get("name", ""))
        return names
