"""Read an item bank from a table with one item per row: parameters, texts and options."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import pyarrow as pa

from eddi.errors import TableError
from eddi.model.item_bank.item import MAX_ITEMS, Item
from eddi.model.item_bank.item_bank import ItemBank
from eddi.model.item_bank.trait import Trait
from eddi.table import formats
from eddi.table.cells.number_format import parse_number
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.text import format_names
from eddi.table.variable import Kind, Variable

SEPARATOR = "|"  # of options and levels
NAMES: dict[str, tuple[str, ...]] = {
    "item": ("item", "name", "id"),
    "text": ("text", "stem", "wording"),
    "discrimination": ("a", "discrimination", "slope"),
    "trait": ("trait", "domain", "scale"),
    "section": ("section", "content area"),
    "options": ("options", "labels"),
    "levels": ("levels", "scores"),
}
_THRESHOLD = re.compile(r"(?:c?b|threshold)[ _]?(\d*)")


def read(path: str | PathLike[str], *, trait: Trait | None = None) -> ItemBank:
    """Read an item bank from a CSV, TSV, Excel or Parquet file.

    ============= ==========================================================================
    item          name of the item
    a             discrimination
    b1, b2, ...   thresholds, rising; empty where an item has fewer (``b`` for two levels)
    text          wording of the question (optional)
    options       names of the levels, separated by ``|``, lowest first (optional)
    levels        values of the levels, separated by ``|``, lowest first; 1, 2, ... or, for two
                  levels, 0 and 1 if absent
    trait         the trait that the item measures; one trait for all if absent
    section       section of the questionnaire (optional)
    ============= ==========================================================================

    Args:
        path: of the table.
        trait: population and reported scale of the traits; T-scores if None. Its name is that of the
            trait if the table has no such column.

    Raises:
        TableError: a column is missing, or a value is not valid.
        SchemaError: the parameters of an item are not valid.
    """
    return build_item_bank(formats.read(path), trait)


def build_item_bank(table: pa.Table, trait: Trait | None = None) -> ItemBank:
    """The item bank of a table with these columns; see `read`.

    Raises:
        TableError: a column is missing, or a value is not valid.
        SchemaError: the parameters of an item are not valid.
    """
    if not 1 <= table.num_rows <= MAX_ITEMS:
        raise TableError(
            f"the table has {table.num_rows:,} rows; an item bank has 1 to {MAX_ITEMS:,} items."
        )
    columns = _find_columns(table.column_names)
    thresholds = _find_thresholds(table.column_names)
    rows = [
        _ItemRow(number, cells, columns, thresholds) for number, cells in enumerate(table.to_pylist(), 1)
    ]
    return _build(rows, trait or Trait())


def has_item_columns(names: Sequence[str]) -> bool:
    """Whether a table has the columns of an item bank."""
    try:
        return bool(_find_columns(names) and _find_thresholds(names))
    except TableError:
        return False


def _build(rows: Sequence["_ItemRow"], default: Trait) -> ItemBank:
    names = list(dict.fromkeys(row.text("trait") or default.name for row in rows))
    traits = tuple(replace(default, name=name) for name in names)
    scores = tuple(Variable(trait.name, Kind.REAL, unit=trait.unit) for trait in traits)
    questions = [row.question() for row in rows]
    hidden = [Question(name, (name,), never=True) for name in names]
    schema = Schema((*(row.variable() for row in rows), *scores), (*questions, *hidden), tuple(names))
    return ItemBank(schema, tuple(row.item(default.name) for row in rows), traits, tuple(names))


def _find_columns(names: Sequence[str]) -> dict[str, str]:
    """The column of each part that is present."""
    by_lower = {name.strip().lower(): name for name in names}
    found = {
        part: by_lower[alias]
        for part, aliases in NAMES.items()
        for alias in reversed(aliases)
        if alias in by_lower
    }
    for part, example in (("item", "item"), ("discrimination", "a")):
        if part not in found:
            raise TableError(
                f"the item bank has no column {example!r}. Columns are: {format_names(list(names))}."
            )
    return found


def _find_thresholds(names: Sequence[str]) -> list[str]:
    """The columns of thresholds, in order."""
    matches = [(match, name) for name in names if (match := _THRESHOLD.fullmatch(name.strip().lower()))]
    if not matches:
        raise TableError(
            f"the item bank has no column of thresholds, such as 'b1'. Columns are: "
            f"{format_names(list(names))}."
        )
    return [name for match, name in sorted(matches, key=lambda pair: int(pair[0][1] or 0))]


class _ItemRow:
    """One row of the table."""

    def __init__(
        self,
        number: int,
        cells: Mapping[str, Any],
        columns: Mapping[str, str],
        thresholds: Sequence[str],
    ) -> None:
        self.number, self.cells, self.columns = number, cells, columns
        self.threshold_columns = thresholds
        self.name = self.text("item")
        if not self.name:
            raise TableError(f"row {number} of the item bank has no name.")

    def text(self, part: str) -> str:
        """The text in the column of a part; empty if there is none."""
        cell = self.cells.get(self.columns.get(part, ""))
        return "" if cell is None else str(cell).strip()

    def item(self, default_trait: str) -> Item:
        """The parameters."""
        a = self._number(self.columns["discrimination"])
        return Item(
            self.name, math.nan if a is None else a, self._thresholds(), self._trait(default_trait)
        )

    def variable(self) -> Variable:
        """The variable: its levels, lowest first."""
        n_levels = len(self._thresholds()) + 1
        labels, levels = self._list("options"), self._list("levels")
        for part, values in (("options", labels), ("levels", levels)):
            if values and len(values) != n_levels:
                raise TableError(
                    f"item {self.name!r} has {len(values)} {part} and {n_levels - 1} thresholds, which "
                    f"makes {n_levels} levels. Separate {part} by {SEPARATOR!r}."
                )
        first = 0 if n_levels == 2 else 1
        numbers = tuple(map(str, range(first, first + n_levels)))
        kind = Kind.BINARY if n_levels == 2 else Kind.ORDINAL
        return Variable(self.name, kind, tuple(levels or numbers), labels=labels)

    def question(self) -> Question:
        """The question."""
        return Question(self.name, (self.name,), self.text("text"), section=self.text("section"))

    def _trait(self, default: str) -> str:
        return self.text("trait") or default

    def _thresholds(self) -> tuple[float, ...]:
        values = [self._number(name) for name in self.threshold_columns]
        given = [value for value in values if value is not None]
        if values[: len(given)] != given:
            raise TableError(f"item {self.name!r} has a threshold after an empty one.")
        return tuple(given)

    def _number(self, column: str) -> float | None:
        """The number in a column; None if the cell is empty."""
        cell = self.cells[column]
        if cell is None or str(cell).strip() == "" or (isinstance(cell, float) and math.isnan(cell)):
            return None
        number = parse_number(cell)
        if not math.isfinite(number):
            raise TableError(f"{column} of item {self.name!r} must be a number, got {cell!r}.")
        return number

    def _list(self, part: str) -> tuple[str, ...]:
        text = self.text(part)
        return tuple(value.strip() for value in text.split(SEPARATOR)) if text else ()
