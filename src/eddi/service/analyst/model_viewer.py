"""Models to be looked at: loaded from the shelf with the rows that were held out from them."""

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from eddi.errors import EddiError
from eddi.model.files.archive import load
from eddi.model.fitted import FittedModel
from eddi.service.analyst.decision import Trail
from eddi.service.analyst.tables import read_rows
from eddi.service.analyst.trained_model import Made, Models
from eddi.service.analyst.workshop import ModelNotFoundError

MAX_LOADED = 4  # models that are kept with their held-out rows
MAX_TRAILS = 32  # interviews that are kept, for whoever goes to and fro in them


class RowNotFoundError(EddiError, LookupError):
    """The model has no such held-out row."""

    status = 404
    title = "There is no such row"


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A model, how it was made, and the rows it never saw.

    Args:
        rows: the held-out rows, in the order of ``made.held_out``; None where nobody kept the table.
    """

    made: Made
    model: FittedModel
    rows: pa.Table | None


class Exhibits:
    """Loads what is looked at, and keeps the last few."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self._loaded: OrderedDict[str, tuple[FittedModel, pa.Table | None]] = OrderedDict()
        self._trails: OrderedDict[tuple[str, int], Trail] = OrderedDict()
        self._lock = threading.Lock()

    def made(self, seal: str) -> Made:
        """What is known of a model without loading it.

        Raises:
            ModelNotFoundError: there is none of this seal.
        """
        made = self.models.made(seal)
        if made is None:
            raise ModelNotFoundError(f"there is no model {seal[:64]!r}. The workshop lists them.")
        return made

    def get(self, seal: str) -> Exhibit:
        """A model with its held-out rows.

        Raises:
            ModelNotFoundError: there is none of this seal.
        """
        made = self.made(seal)
        with self._lock:
            kept = self._loaded.get(seal)
        if kept is None:  # others go on while this one is read
            kept = load(self.models.shelf.path(seal)), _held_out(made)
            self._keep(self._loaded, seal, kept, MAX_LOADED)
        return Exhibit(made, *kept)

    def evaluation(self, made: Made) -> dict[str, Any] | None:
        """What `evaluation.evaluate` found; None where nobody looked yet."""
        if made.evaluation is None:
            return None
        found: dict[str, Any] = json.loads(self.models.shelf.path(made.evaluation).read_bytes())
        return found

    def trail(self, exhibit: Exhibit, number: int) -> Trail:
        """The interview with a held-out row, by its number in the table, from 0.

        Raises:
            RowNotFoundError: this row was not held out, or nobody kept the table.
        """
        made = exhibit.made
        if exhibit.rows is None:
            raise RowNotFoundError("nobody kept the rows held out from this model: none can be shown.")
        if number not in made.held_out:
            raise RowNotFoundError(
                f"row {number + 1} was not held out from this model. Only rows it never saw are shown."
            )
        which = (made.seal, number)
        with self._lock:
            trail = self._trails.get(which)
        if trail is None:
            row = exhibit.rows.slice(made.held_out.index(number), 1)
            trail = Trail.of(exhibit.model, row, made.target)
            self._keep(self._trails, which, trail, MAX_TRAILS)
        return trail

    def _keep(self, kept: OrderedDict[Any, Any], key: object, what: object, most: int) -> None:
        with self._lock:
            kept[key] = what
            while len(kept) > most:
                kept.popitem(last=False)


def about(made: Made, tab: str) -> dict[str, Any]:
    """What every page about one model shows around itself."""
    return {
        "here": "home",
        "tab": tab,
        "seal": made.seal,
        "short": made.seal[:8],
        "model_name": made.name,
        "target": made.target,
        "has_rows": made.table is not None and bool(made.held_out),
        "judged_already": made.evaluation is not None,
    }


def _held_out(made: Made) -> pa.Table | None:
    if made.table is None or not made.held_out:
        return None
    return read_rows(made.table).take(list(made.held_out))
