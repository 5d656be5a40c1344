"""Models loaded for viewing, together with their held-out rows."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from eddi.errors import EddiError
from eddi.model.files.archive import load_network
from eddi.model.fitted import FittedModel
from eddi.service.analyst.data.tables import read_rows
from eddi.service.analyst.models.decision_path import DecisionPath
from eddi.service.analyst.models.trained_model import TrainedModel, TrainedModels, read_evaluation

MAX_LOADED = 4  # models in memory, with their held-out rows
MAX_PATHS = 32  # decision paths in memory, for users who step back and forth


class RowNotFoundError(EddiError, LookupError):
    """The model has no such held-out row."""

    status: ClassVar[int] = 404
    title: ClassVar[str] = "There is no such row"


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model in memory.

    Args:
        origin: the model's file and where it comes from.
        model: the fitted model.
        rows: the held-out rows, in the order of ``origin.held_out``; None if the table is not available.
    """

    origin: TrainedModel
    model: FittedModel
    rows: pa.Table | None


class ModelViewer:
    """Loads models and decision paths, and caches the most recent ones."""

    def __init__(self, models: TrainedModels) -> None:
        self.models = models
        self._loaded: OrderedDict[str, tuple[FittedModel, pa.Table | None]] = OrderedDict()
        self._paths: OrderedDict[tuple[str, int], DecisionPath] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, digest: str) -> LoadedModel:
        """A model with its held-out rows.

        Raises:
            ModelNotFoundError: there is no such model.
        """
        origin = self.models.get_model(digest)
        with self._lock:
            loaded = self._loaded.get(digest)
        if loaded is None:  # loaded without the lock, so that other requests do not wait
            loaded = load_network(self.models.blobs.path(digest)), _read_held_out(origin)
            self._cache(self._loaded, digest, loaded, max_size=MAX_LOADED)
        if origin.table is None:  # it was deleted
            self._drop_rows(digest, loaded[0])
            return LoadedModel(origin, loaded[0], None)
        return LoadedModel(origin, *loaded)

    def _drop_rows(self, digest: str, model: FittedModel) -> None:
        with self._lock:
            self._loaded[digest] = (model, None)
            for key in [key for key in self._paths if key[0] == digest]:
                del self._paths[key]

    def evaluation(self, model: TrainedModel) -> dict[str, Any] | None:
        """A model's evaluation document; None if it was not evaluated yet."""
        return read_evaluation(model, self.models.blobs)

    def decision_path(self, loaded: LoadedModel, row: int) -> DecisionPath:
        """The interview with a held-out row, given by its position in the table, from 0.

        Raises:
            RowNotFoundError: the row was not held out, or the table is not available.
        """
        origin = loaded.origin
        if loaded.rows is None:
            raise RowNotFoundError("the held-out rows of this model are no longer available.")
        if row not in origin.held_out:
            raise RowNotFoundError(
                f"row {row + 1} was not held out from this model. Only held-out rows can be shown."
            )
        key = (origin.digest, row)
        with self._lock:
            path = self._paths.get(key)
        if path is None:
            table = loaded.rows.slice(origin.held_out.index(row), 1)
            path = DecisionPath.from_row(loaded.model, table, origin.target)
            self._cache(self._paths, key, path, max_size=MAX_PATHS)
        return path

    def _cache(self, cache: OrderedDict[Any, Any], key: object, value: object, *, max_size: int) -> None:
        with self._lock:
            cache[key] = value
            while len(cache) > max_size:
                cache.popitem(last=False)


def _read_held_out(model: TrainedModel) -> pa.Table | None:
    if model.table is None or not model.held_out:
        return None
    return read_rows(model.table).take(list(model.held_out))
