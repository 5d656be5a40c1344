"""The catalogue of published questionnaires that interviews use: current and earlier versions.

Models are loaded when they are first needed, and the most recent ones stay in memory. What another server
publishes is visible here within a second.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eddi.service.analyst.data.blob_store import BlobStore
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire, Version
from eddi.service.analyst.models.publishing import Publisher, make_valid_name
from eddi.service.interviews.questionnaire import (
    NothingPublishedError,
    Questionnaire,
    QuestionnaireClosedError,
    stop_to_document,
)
from eddi.service.web.api_keys import NO_KEY, SERVER

MAX_LOADED = 16  # questionnaires in memory; a model takes one or two megabytes
MAX_AGE_S = 1.0  # of the list of published questionnaires, before it is read again


class PublishedCatalogue:
    """The published questionnaires of a store, with models from a blob store.

    Args:
        publisher: the published questionnaires.
        blobs: contains their models.
        default: name of the questionnaire of interviews that do not name one.
        device: where models compute.
    """

    def __init__(
        self, publisher: Publisher, blobs: BlobStore, *, default: str = "", device: str = "auto"
    ) -> None:
        self.publisher, self.blobs, self.default, self.device = publisher, blobs, default, device
        self._loaded: OrderedDict[tuple[str, int], Questionnaire] = OrderedDict()
        self._published: list[PublishedQuestionnaire] = []
        self._first_page: str | None = None
        self._read_at = -math.inf
        self._lock = threading.RLock()
        publisher.on_change = self.refresh

    def publish_at_startup(self, path: Path, questionnaire: Questionnaire) -> None:
        """Publish the model with which the server was started, unless it is the same as last time.

        So a version that an analyst has published since then stays current when the server restarts.
        """
        name, target = make_valid_name(questionnaire.name), questionnaire.target
        rules, strategy = stop_to_document(questionnaire.stop), questionnaire.strategy_name
        model = self.blobs.put(path)
        earlier = [version for version in self._versions(name) if version.by == SERVER]
        last = earlier[-1] if earlier else None
        if last is None or _settings(last) != (model, target, rules, strategy):
            last = self.publisher.publish(
                name,
                model=model,
                target=target,
                rules=rules,
                strategy=strategy,
                by=SERVER,
                settings=questionnaire.settings,
            ).current
        key = self.publisher.get(name).key
        self._loaded[key, last.number] = questionnaire.with_version(name, last.number)
        self.default = key

    def publish(
        self,
        name: str,
        digest: str,
        target: Sequence[str],
        *,
        strategy: str = "",
        rules: Mapping[str, float] | None = None,
        replace_target: bool = True,
        by: str = NO_KEY,
    ) -> PublishedQuestionnaire:
        """Publish a model as the new current version of a questionnaire.

        What its interviews really use is published: the conditions of the schema are among the rules, and
        the default strategy is named.

        Raises:
            PublishingError: the name is not valid.
            TargetChangeError: the questionnaire has another target, and ``replace_target`` is false.
            StopError: a condition is not valid, or a risk cannot be guaranteed.
        """
        path = self.blobs.path(digest)
        questionnaire = Questionnaire.load(
            path, target, strategy=strategy, rules=rules, device=self.device
        )
        questionnaire.interview()  # raises if the rules cannot be followed
        published = self.publisher.publish(
            name,
            model=digest,
            target=questionnaire.target,
            rules=stop_to_document(questionnaire.stop),
            strategy=questionnaire.strategy_name,
            replace_target=replace_target,
            by=by,
            settings=questionnaire.settings,
        )
        number = published.current.number
        with self._lock:
            self._loaded[published.key, number] = questionnaire.with_version(name, number)
        return published

    def refresh(self) -> None:
        """Read the list of published questionnaires again when it is next needed."""
        self._read_at = -math.inf

    def current(self, name: str | None = None) -> Questionnaire:
        """The questionnaire for new interviews; the default one if no name is given.

        Raises:
            QuestionnaireNotFoundError: nothing is published under this name.
            QuestionnaireClosedError: no new interviews can begin.
            NothingPublishedError: nothing is published at all.
        """
        published = self._list_published()
        if name is not None:
            named = next((item for item in published if item.name == name), None)
            chosen = named or self.publisher.get(name)
        else:
            chosen = self._choose(published) or self._find_any_open(published)
        if not chosen.is_open:
            raise QuestionnaireClosedError(f"{chosen.name!r} is closed: no new interviews can begin.")
        return self._load(chosen, chosen.current)

    def first_page(self) -> Questionnaire | None:
        """The questionnaire at the address of the server; None if it lists all.

        It is the one that an analyst chose, then the model with which the server was started, then the
        only one.

        Raises:
            NothingPublishedError: nothing is published at all.
        """
        published = self._list_published()
        chosen = self._choose(published)
        if chosen is None and self._first_page != "" and len(_listed(published)) <= 1:
            chosen = self._find_any_open(_listed(published) or published)
        return None if chosen is None else self._load(chosen, chosen.current)

    def find(self, name: str, version: int, digest: str, /) -> Questionnaire | None:
        """The questionnaire with which an interview began; None if its model is not available.

        A questionnaire with the same model is accepted if its name or version differs.
        """
        if not self.blobs.has(digest):
            return None
        for item in sorted(self._list_published(), key=lambda item: _name_distance(item, name)):
            for candidate in sorted(item.versions, key=lambda other: other.number != version):
                if candidate.model == digest:
                    return self._load(item, candidate)
        return None

    def find_version(self, name: str, version: int, /) -> Questionnaire | None:
        """A version of a questionnaire, also of one that is closed; None if there is none."""
        item = next((item for item in self._list_published() if item.name == name), None)
        found = None if item is None else item.find(version)
        return None if item is None or found is None else self._load(item, found)

    def all(self) -> tuple[Questionnaire, ...]:
        """The current version of every questionnaire that can be answered and is listed."""
        return tuple(self._load(item, item.current) for item in _listed(self._list_published()))

    def load(self, item: PublishedQuestionnaire) -> Questionnaire:
        """The current version of a questionnaire, also of one that is closed."""
        return self._load(item, item.current)

    def read_logo(self, digest: str, /) -> bytes | None:
        """The picture with this digest; None if there is none."""
        return self.blobs.path(digest).read_bytes() if self.blobs.has(digest) else None

    def _choose(self, published: Sequence[PublishedQuestionnaire]) -> PublishedQuestionnaire | None:
        """The questionnaire that was chosen for the address of the server, if it is open."""
        key = self.default if self._first_page is None else self._first_page
        return next((item for item in published if item.key == key and item.is_open), None)

    def _find_any_open(self, published: Sequence[PublishedQuestionnaire]) -> PublishedQuestionnaire:
        for item in published:
            if item.is_open:
                return item
        raise NothingPublishedError(
            "nothing is published here yet. An analyst trains a model and publishes it at /analyst."
        )

    def _list_published(self) -> list[PublishedQuestionnaire]:
        with self._lock:
            if time.monotonic() - self._read_at > MAX_AGE_S:
                self._published = self.publisher.all()
                self._first_page = self.publisher.first_page()
                self._read_at = time.monotonic()
            return self._published

    def _versions(self, name: str) -> tuple[Version, ...]:
        return next((item.versions for item in self.publisher.all() if item.name == name), ())

    def _load(self, item: PublishedQuestionnaire, version: Version) -> Questionnaire:
        """A version of a questionnaire, with its present name and settings."""
        questionnaire = self._load_version(item.key, version)
        return replace(
            questionnaire,
            name=item.name,
            version=version.number,
            key=item.key,
            settings=item.settings,
            owner=item.access.owner,
            published_at=version.published_at,
        )

    def _load_version(self, key: str, version: Version) -> Questionnaire:
        cache_key = (key, version.number)
        with self._lock:
            if cache_key in self._loaded:
                self._loaded.move_to_end(cache_key)
                return self._loaded[cache_key]
        path = self.blobs.path(version.model)  # loaded without the lock: other requests do not wait
        questionnaire = Questionnaire.load(
            path,
            version.target,
            strategy=version.strategy,
            rules=version.rules,
            device=self.device,
        )
        with self._lock:
            while len(self._loaded) >= MAX_LOADED:
                self._loaded.popitem(last=False)
            return self._loaded.setdefault(cache_key, questionnaire)


def _settings(version: Version) -> tuple[str, tuple[str, ...], Mapping[str, float], str]:
    return version.model, version.target, version.rules, version.strategy


def _listed(published: Sequence[PublishedQuestionnaire]) -> list[PublishedQuestionnaire]:
    return [item for item in published if item.is_open and item.settings.is_listed]


def _name_distance(item: PublishedQuestionnaire, name: str) -> int:
    """0 for the questionnaire with this name, 1 for one that had it, and 2 for others."""
    return 0 if item.name == name else 1 if name in item.former_names else 2
