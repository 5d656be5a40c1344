"""What a strategy is: one verb."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from eddi.model.base import Model
from eddi.table.evidence import Evidence


class Strategy(Protocol):
    """Scores every question for every row; the highest open one is asked next."""

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """How good each question is to ask next [rows, questions]; -inf where it never is."""
