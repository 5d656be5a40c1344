"""Ask every section of a questionnaire its share of the questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.table.evidence import Evidence
from eddi.table.section import MAX_TOTAL_SHARE


@dataclass(frozen=True)
class Balance:
    """Another strategy that chooses among the questions of the section furthest below its share.

    A schema may have the shares, too; see `Section`. Those given here replace them.

    Args:
        inner: chooses the question.
        shares: of sections, by name; questions of other sections have the rest.
    """

    inner: Strategy
    shares: Mapping[str, float] = field(hash=False)

    def __post_init__(self) -> None:
        for name, share in self.shares.items():
            if not 0 < share <= 1:
                raise StrategyError(
                    f"the share of section {name!r} must be above 0 and at most 1, got {share:g}."
                )
        if not 0 < sum(self.shares.values()) <= MAX_TOTAL_SHARE:
            raise StrategyError(
                f"the shares of the sections add up to {sum(self.shares.values()):g}; they must be above 0 "
                "and at most 1."
            )

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        return self.inner.score(model, evidence, target)

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:  # noqa: ARG002  # as every `CostAware`
        return scores
