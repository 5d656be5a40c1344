"""What the pages that judge a model must know of how it was made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from eddi.service.analyst.blob_store import Shelf


@dataclass(frozen=True)
class Made:
    """A model on the shelf, and what is known of the job that made it.

    Args:
        seal: SHA-256 of the model's file, by which it lies on the shelf.
        name: what people call it.
        target: what it was made to find out.
        table: the rows it learned from, and those held out, as Parquet; None where nobody kept them.
        table_name: what people call that table.
        held_out: numbers of the table's rows, from 0, that were set aside before fitting.
        when: the moment it was finished, as ISO 8601; empty where nobody knows.
        evaluation: by which its evaluation lies on the shelf; None where there is none yet.
    """

    seal: str
    name: str
    target: str
    table: Path | None = None
    table_name: str = ""
    held_out: tuple[int, ...] = ()
    when: str = ""
    evaluation: str | None = None


class Models(Protocol):
    """What models there are, where they lie, and who judges them."""

    @property
    def shelf(self) -> Shelf:
        """Where models and evaluations lie."""

    def made(self, seal: str) -> Made | None:
        """The model of this seal; None where there is none."""

    def models(self) -> Sequence[Made]:
        """Every model, the newest first."""

    def evaluate(self, seal: str) -> str:
        """Ask for an evaluation on the rows held out; gives the key of the job."""
