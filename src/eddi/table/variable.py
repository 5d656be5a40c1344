"""A variable: one modelled column with its name, kind and possible values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from eddi.errors import AnswerError, OutOfRangeError, SchemaError
from eddi.table.cells.levels import Level as Level
from eddi.table.cells.levels import level_position as level_position
from eddi.table.cells.missing import has_code
from eddi.table.cells.multi_select import OptionSource
from eddi.table.cells.number_format import NumberFormat, parse_number
from eddi.table.languages.translations import VariableTexts, check_languages, given_texts
from eddi.table.survival.survival import Survival
from eddi.table.text import format_list, suggest_name


class Kind(StrEnum):
    """The kind of values that a variable takes. It determines the likelihood."""

    REAL = "real"
    COUNT = "count"
    BINARY = "binary"
    ORDINAL = "ordinal"
    CATEGORY = "category"
    SURVIVAL = "survival"

    @property
    def has_levels(self) -> bool:
        """Whether a value is one of a few named levels rather than a quantity or a time."""
        return self in (Kind.BINARY, Kind.ORDINAL, Kind.CATEGORY)

    @property
    def is_discrete(self) -> bool:
        """Whether a number stands for a position: that of a level, or of a time bin."""
        return self.has_levels or self is Kind.SURVIVAL


KindName = Literal["real", "count", "binary", "ordinal", "category", "survival"]


@dataclass(frozen=True)
class Variable:
    """One modelled column of a table.

    Inside the package, a value is always a number: the quantity itself for the kinds real and count,
    and the position in ``levels`` for the other kinds. A binary variable is therefore 0 or 1. For survival,
    it is the bin of the event; `survival.time_bins` describes the number of a censored time.

    Args:
        name: the name of the column.
        kind: real, count, binary, ordinal, category or survival.
        levels: the possible values of a binary, ordinal or category variable. For binary, the level
            that means "no" comes first; for ordinal, the levels are in ascending order.
        low: the smallest answer that is accepted without confirmation, if there is a limit.
        high: the largest answer that is accepted without confirmation, if there is a limit.
        unit: unit of measurement, shown to respondents.
        format: how the column writes its numbers; None for plain numbers such as 1234.5.
        missing: codes that mean "missing", such as -99 or "unknown".
        declined: codes that mean "declined to answer", such as "refused".
        source: the option that the variable stands for, if the cells of its column list several.
        title: how respondents read its name, such as "Blood pressure" for "trestbps".
        labels: how respondents read its levels, in the same order, such as "Male" for 1.
        help: a text below its field.
        translations: its texts in other languages, by code, such as "de".
        indicates: the variable of which it tells whether it has a value; empty for other variables.
        survival: the columns and time bins of a survival variable.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    low: float | None = None
    high: float | None = None
    unit: str = ""
    format: NumberFormat | None = None
    missing: tuple[Level, ...] = ()
    declined: tuple[Level, ...] = ()
    source: OptionSource | None = None
    title: str = ""
    labels: tuple[str, ...] = ()
    help: str = ""
    translations: Mapping[str, VariableTexts] = field(default_factory=dict, hash=False)
    indicates: str = ""
    survival: Survival | None = None

    if TYPE_CHECKING:  # what `__post_init__` converts

        def __init__(
            self,
            name: str,
            kind: Kind | KindName,
            levels: Sequence[Level] = (),
            low: float | None = None,
            high: float | None = None,
            unit: str = "",
            format: NumberFormat | None = None,
            missing: Sequence[Level] = (),
            declined: Sequence[Level] = (),
            source: OptionSource | None = None,
            title: str = "",
            labels: Sequence[str] = (),
            help: str = "",
            translations: Mapping[str, VariableTexts] = ...,
            indicates: str = "",
            survival: Survival | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _parse_kind(self.name, self.kind))
        for name in ("levels", "missing", "declined", "labels"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_columns()
        self._check_codes()
        self._check_labels()
        if self.kind.has_levels:
            self._check_levels()
        elif self.levels:
            raise SchemaError(
                f"{self.name!r} is {self.kind} and cannot have levels {list(self.levels)}. "
                "Remove them, or make it ordinal or category."
            )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise SchemaError(f"{self.name!r} has low {self.low:g} above high {self.high:g}. Swap them.")

    def _check_columns(self) -> None:
        if (self.kind is Kind.SURVIVAL) != (self.survival is not None):
            raise SchemaError(
                f"{self.name!r} is {self.kind}; a survival variable, and no other, has columns of a time and "
                'an event. Write for example { kind = "survival", time = "days", event = "died" }.'
            )

    def _check_levels(self) -> None:
        if len({str(level) for level in self.levels}) < len(self.levels):
            raise SchemaError(f"{self.name!r} lists a level twice: {list(self.levels)}.")
        if self.kind is Kind.BINARY and len(self.levels) != 2:
            raise SchemaError(
                f"{self.name!r} is binary and needs exactly two levels, got {list(self.levels)}. "
                "Write the 'no' level first, or make it category."
            )
        if len(self.levels) < 2:
            raise SchemaError(
                f"{self.name!r} is {self.kind} and needs at least two levels, got {list(self.levels)}."
            )

    def _check_labels(self) -> None:
        check_languages(repr(self.name), self.translations)
        labels = {code: texts.labels for code, texts in self.translations.items()}
        for code, texts in {"": self.labels, **labels}.items():
            if texts and len(texts) != len(self.levels):
                language = f" in {code!r}" if code else ""
                raise SchemaError(
                    f"{self.name!r} has {len(self.levels)} levels and {len(texts)} labels{language}. "
                    "Give one label for each level, in the same order."
                )

    def in_language(self, code: str) -> "Variable":
        """Return a copy with the texts in a language; those without a translation stay."""
        texts = self.translations.get(code)
        if texts is None:
            return self
        defaults = self.labels or tuple(map(str, self.levels))
        labels = tuple(label or default for label, default in zip(texts.labels, defaults, strict=False))
        return replace(self, **{**given_texts(texts), "labels": labels or self.labels})

    def _check_codes(self) -> None:
        for code in (*self.missing, *self.declined):
            if has_code(self.levels, code):
                raise SchemaError(
                    f"{self.name!r} lists {code!r} both as a level and as a code for a missing value. "
                    "Remove it from the levels."
                )
        if self.format is not None and self.kind.has_levels:
            raise SchemaError(
                f"{self.name!r} is {self.kind} and cannot have a number format. Remove it."
            )

    @property
    def n_levels(self) -> int:
        """The number of levels, or of time bins."""
        return len(self.levels) if self.survival is None else self.survival.n_bins

    @property
    def column(self) -> str:
        """The column of a table that holds the values; for survival, that of the time."""
        if self.survival is not None:
            return self.survival.time
        return self.name if self.source is None else self.source.column

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of a table that the values are read from."""
        return (self.column,) if self.survival is None else self.survival.columns

    @property
    def codes(self) -> tuple[Level, ...]:
        """All codes that stand for no value."""
        return (*self.missing, *self.declined)

    def with_codes(self, missing: tuple[Level, ...], declined: tuple[Level, ...]) -> "Variable":
        """Return a copy with its own codes, then those of the whole table."""
        if not (missing or declined):
            return self
        own_missing = tuple(code for code in self.missing if not has_code(missing, code))
        own_declined = tuple(code for code in self.declined if not has_code(declined, code))
        table_missing = tuple(code for code in missing if not has_code(own_declined, code))
        table_declined = tuple(code for code in declined if not has_code(own_missing, code))
        return replace(
            self,
            missing=(*own_missing, *table_missing),
            declined=(*own_declined, *table_declined),
        )

    def describe_values(self) -> str:
        """Return the possible values in words: the levels, or the range and unit."""
        if self.survival is not None:
            return (
                f"time {self.survival.time!r} {self.unit}".strip() + f", event {self.survival.event!r}"
            )
        if self.kind.has_levels:
            return format_list(self.levels)
        if self.low is None:
            numbers = "any number" if self.high is None else f"up to {self.high:g}"
        else:
            numbers = f"{self.low:g} and up" if self.high is None else f"{self.low:g} to {self.high:g}"
        return f"{numbers} {self.unit}".strip()

    def number(self, raw: object, *, confirm: bool = False) -> float:
        """Return an answer, as given by a person or a program, as a number.

        Args:
            raw: the answer.
            confirm: whether a value outside the range is known to be correct.

        Raises:
            AnswerError: the variable cannot take this value.
            OutOfRangeError: the value is outside the range and not confirmed.
        """
        if self.kind is Kind.SURVIVAL:
            raise AnswerError(
                f"{self.name!r} is a survival variable, which is predicted and never asked. Give answers to "
                "other questions."
            )
        if self.kind.has_levels:
            return self._parse_level(raw)
        value = self._parse_quantity(raw)
        if not (confirm or self.low_or_infinite <= value <= self.high_or_infinite):
            raise self.out_of_range(value, self.low_or_infinite, self.high_or_infinite)
        return value

    @property
    def low_or_infinite(self) -> float:
        """The lower end of the range; minus infinity if there is none."""
        return -math.inf if self.low is None else self.low

    @property
    def high_or_infinite(self) -> float:
        """The upper end of the range; infinity if there is none."""
        return math.inf if self.high is None else self.high

    def out_of_range(self, value: float, low: float, high: float) -> OutOfRangeError:
        """Return the error for a value outside a range."""
        return OutOfRangeError(
            f"{self.name!r} should be {describe_range(low, high)}, got {value:g}. "
            'If the value is correct, give it again with confirm=True ("confirm": true in JSON).',
            {self.name: (low, high)},
        )

    def answer(self, number: float) -> Level:
        """Return the answer that a number stands for: the inverse of `number`."""
        if self.kind.has_levels:
            return self.levels[round(number)]
        return round(number) if self.kind is Kind.COUNT else float(number)

    def _parse_level(self, raw: object) -> float:
        position = level_position(self.levels, raw)
        if position is None:
            raise AnswerError(
                f"{self.name!r} must be one of {', '.join(map(str, self.levels))}, got {raw!r}."
                + suggest_name(str(raw), [str(level) for level in self.levels])
            )
        return float(position)

    def _parse_quantity(self, raw: object) -> float:
        value = parse_number(raw, self.format)
        if not math.isfinite(value):
            raise AnswerError(
                f"{self.name!r} must be a number, got {raw!r}. "
                "Use eddi.UNKNOWN or eddi.DECLINED if there is no answer."
            )
        if self.kind is Kind.COUNT and (value < 0 or value != int(value)):
            raise AnswerError(f"{self.name!r} must be a whole number from 0 up, got {value:g}.")
        return value


def describe_range(low: float, high: float) -> str:
    """Return a range in words, such as "between 18 and 90" or "at most 90"."""
    if math.isinf(low):
        return f"at most {high:g}"
    return f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"


def _parse_kind(name: str, kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise SchemaError(f"{name!r} has kind {kind!r}; it must be one of {', '.join(Kind)}.") from None
