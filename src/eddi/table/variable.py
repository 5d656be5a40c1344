"""One modelled column: its name, its kind, and the values it may take."""

import math
from dataclasses import dataclass
from enum import StrEnum

from eddi.errors import AnswerError, SchemaError

Level = str | int | float | bool


class Kind(StrEnum):
    """What sort of value a variable takes; the kind chooses its likelihood."""

    REAL = "real"
    COUNT = "count"
    BINARY = "binary"
    ORDINAL = "ordinal"
    CATEGORY = "category"

    @property
    def has_levels(self) -> bool:
        """Whether values are one of a few named levels rather than a quantity."""
        return self in (Kind.BINARY, Kind.ORDINAL, Kind.CATEGORY)


@dataclass(frozen=True)
class Variable:
    """One modelled column.

    Inside the package a value is always a number: the quantity itself for real and count, the
    position in ``levels`` for the others (so a binary variable is 0 or 1).
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    low: float | None = None
    high: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _kind(self.name, self.kind))
        object.__setattr__(self, "levels", tuple(self.levels))
        if self.kind.has_levels:
            self._check_levels()
        elif self.levels:
            raise SchemaError(
                f"{self.name!r} is {self.kind} and cannot have levels {list(self.levels)}. "
                "Remove them, or make it ordinal or category."
            )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise SchemaError(f"{self.name!r} has low {self.low:g} above high {self.high:g}. Swap them.")

    def _check_levels(self) -> None:
        if len({str(level) for level in self.levels}) < len(self.levels):
            raise SchemaError(f"{self.name!r} names a level twice: {list(self.levels)}.")
        if self.kind is Kind.BINARY and len(self.levels) != 2:
            raise SchemaError(
                f"{self.name!r} is binary and needs exactly two levels, got {list(self.levels)}. "
                "Write the 'no' level first, or make it category."
            )
        if len(self.levels) < 2:
            raise SchemaError(
                f"{self.name!r} is {self.kind} and needs at least two levels, got {list(self.levels)}."
            )

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    def number(self, raw: object) -> float:
        """The number that stands for one answer given by a person or a program.

        Raises:
            AnswerError: the answer is not one this variable can take.
        """
        return self._level_number(raw) if self.kind.has_levels else self._quantity(raw)

    def answer(self, number: float) -> Level:
        """What a person would call ``number``: the inverse of `number`."""
        if self.kind.has_levels:
            return self.levels[round(number)]
        return round(number) if self.kind is Kind.COUNT else float(number)

    def _level_number(self, raw: object) -> float:
        position = level_position(self.levels, raw)
        if position is None:
            raise AnswerError(
                f"{self.name!r} must be one of {', '.join(map(str, self.levels))}, got {raw!r}."
            )
        return float(position)

    def _quantity(self, raw: object) -> float:
        try:
            value = float(raw.strip() if isinstance(raw, str) else raw)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise AnswerError(
                f"{self.name!r} must be a number, got {raw!r}. "
                "Use eddi.UNKNOWN or eddi.DECLINED when there is none."
            )
        if self.kind is Kind.COUNT and (value < 0 or value != int(value)):
            raise AnswerError(f"{self.name!r} must be a whole number from 0 up, got {value:g}.")
        self._check_range(value)
        return value

    def _check_range(self, value: float) -> None:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not low <= value <= high:
            raise AnswerError(
                f"{self.name!r} must be between {low:g} and {high:g}, got {value:g}. "
                "Widen the range in the schema if this is a real value."
            )


def level_position(levels: tuple[Level, ...], raw: object) -> int | None:
    """Where ``raw`` stands among ``levels``, however it was typed: True, 1, 1.0 and "1" are one."""
    spellings = [str(level) for level in levels]
    if str(raw).strip() in spellings:  # first to the letter, so "01" and "1" can both be levels
        return spellings.index(str(raw).strip())
    keys = [_spelling(level) for level in levels]
    return keys.index(_spelling(raw)) if _spelling(raw) in keys else None


def _spelling(level: object) -> str:
    text = str(level).strip()
    try:
        return f"{float(text) + 0.0:.15g}"  # plus nought, for -0.0 is 0
    except ValueError:
        return {"true": "1", "false": "0"}.get(text.lower(), text.lower())


def _kind(name: str, kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise SchemaError(f"{name!r} has kind {kind!r}; it must be one of {', '.join(Kind)}.") from None
