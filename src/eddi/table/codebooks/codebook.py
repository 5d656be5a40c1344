"""What codebooks of all formats have in common: entries with texts, choices, ranges and conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from eddi.errors import EddiError
from eddi.table.codebooks.condition import Condition

MAX_ENTRIES = 20_000
MAX_CHOICES = 2_000  # of one entry
MAX_TEXT = 5_000  # characters of a text; a questionnaire allows no more


class CodebookError(EddiError, ValueError):
    """A codebook cannot be read."""

    status = 422
    title = "This codebook cannot be used"


class EntryType(StrEnum):
    """The answers that an entry of a codebook takes."""

    CHOICE = "one of several choices"
    CHOICES = "any of several choices"
    INTEGER = "a whole number"
    DECIMAL = "a number"
    TEXT = "text"
    OTHER = "something else"


@dataclass(frozen=True)
class Choice:
    """A code and what it means.

    Args:
        code: as it is stored.
        label: as respondents read it.
        translations: the label in other languages, by language.
    """

    code: str
    label: str
    translations: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Translation:
    """The texts of an entry in another language."""

    text: str = ""
    help: str = ""


@dataclass(frozen=True)
class Entry:
    """What a codebook says about one variable.

    Args:
        name: of the variable, usually a column of the table.
        type: the answers that it takes.
        text: the question.
        help: what is said below the question.
        choices: the codes, in the order of the codebook.
        is_ordered: whether the choices are in ascending order.
        low: the smallest number.
        high: the largest number.
        unit: of the number.
        section: the heading that it belongs to.
        identifier: why it identifies a person; empty if it does not.
        reason: why it is not modelled; empty if it is.
        is_hidden: whether respondents never see it.
        condition: when it is asked; None if always.
        option_columns: the column of each code, if every choice of several has one.
        separator: between the codes in a cell, if a cell lists the choices.
        missing: codes for missing values.
        translations: the texts in other languages, by language.
    """

    name: str
    type: EntryType
    text: str = ""
    help: str = ""
    choices: tuple[Choice, ...] = ()
    is_ordered: bool = False
    low: float | None = None
    high: float | None = None
    unit: str = ""
    section: str = ""
    identifier: str = ""
    reason: str = ""
    is_hidden: bool = False
    condition: Condition | None = None
    option_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    separator: str = " "
    missing: tuple[str, ...] = ()
    translations: Mapping[str, Translation] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Loss:
    """Something in a codebook that a schema cannot represent.

    Args:
        name: the entry; empty for the whole codebook.
        reason: what it is, and what happens instead.
    """

    name: str
    reason: str


@dataclass(frozen=True)
class Codebook:
    """The entries of a codebook.

    Args:
        format: its name, such as "REDCap data dictionary".
        entries: in order.
        losses: what cannot be represented.
        own_columns: pattern of columns that the program itself adds to a table; empty if none.
        language: of the texts; empty if the codebook does not say.
    """

    format: str
    entries: tuple[Entry, ...]
    losses: tuple[Loss, ...] = ()
    own_columns: str = ""
    language: str = ""

    def __post_init__(self) -> None:
        check_count("entries", len(self.entries), MAX_ENTRIES)
        if not self.entries:
            raise CodebookError(
                f"the {self.format} describes no variables. Check that it is the right file."
            )


def check_count(what: str, count: int, limit: int) -> None:
    """Raise an error if a codebook has too many parts."""
    if count > limit:
        raise CodebookError(f"the codebook has {count:,} {what}; at most {limit:,} are read.")


def count_losses(counts: Mapping[str, Sequence[str]]) -> list[Loss]:
    """Return one loss for each property that some entries have, with their number.

    Args:
        counts: the names of the entries, by what is lost.
    """
    losses = []
    for what, names in counts.items():
        listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        if names:
            losses.append(Loss("", f"{what} ({len(names)}: {listed})"))
    return losses
