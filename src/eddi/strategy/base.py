"""What a strategy is: one verb, and another for those that look ahead at the first question."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor

from eddi.model.base import Model
from eddi.table.evidence import Evidence


class Strategy(Protocol):
    """Scores every question for every row; the highest open one is asked next."""

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """How good each question is to ask next [rows, questions]; -inf where it never is."""


@runtime_checkable
class Farsighted(Strategy, Protocol):
    """A strategy that chooses the very first question, the same for all who begin, with care."""

    def opening(self, model: Model, target: Sequence[str]) -> Tensor:
        """What to add to the scores of whoever begins, with everything still to ask [questions]."""
