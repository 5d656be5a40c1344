"""The names that analysts give to models. A model's own name is that of its table."""

from eddi.store.base import Store, StoreConflict

PREFIX = "model/"
MAX_ATTEMPTS = 8


class ModelNames:
    """The names of the models of a store: the last event of the stream ``model/<digest>``."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def rename(self, digest: str, name: str) -> None:
        """Give a model another name."""
        for attempt in range(MAX_ATTEMPTS):
            after = len(self.store.read(f"{PREFIX}{digest}"))
            try:
                self.store.append(f"{PREFIX}{digest}", "renamed", {"name": name}, after=after)
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
