"""What a strategy is: one method that scores questions."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor

from eddi.model.base import Model
from eddi.table.evidence import Evidence


class Strategy(Protocol):
    """Scores every question for every row; the open question with the highest score is asked next."""

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """The score of each question [rows, questions]; -inf for a question that is never asked."""


@runtime_checkable
class CostAware(Strategy, Protocol):
    """A strategy that adjusts the scores of another one to the costs of the questions."""

    @property
    def inner(self) -> Strategy:
        """The other strategy."""

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:
        """The scores of the other strategy [rows, questions], adjusted to the costs [questions]."""


@runtime_checkable
class LookaheadStrategy(Strategy, Protocol):
    """A strategy that looks one question further."""

    def looks_ahead(self, model: Model, target: Sequence[str]) -> bool:
        """Whether any question may have a lookahead gain; if not, no gain is computed."""

    def lookahead_gain(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """What to add to the scores if all unanswered questions are open [rows, questions]."""
