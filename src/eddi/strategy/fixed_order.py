"""One order for everybody (SING, the single best ordering)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eddi.errors import SchemaError
from eddi.model.base import Model
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class FixedOrder:
    """The same questions in the same order for every row; questions not named come last.

    Learn an order with `FixedOrder.learn`, or give one by hand.
    """

    order: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", tuple(self.order))
        if len(set(self.order)) < len(self.order):
            raise SchemaError(f"the fixed order names a question twice: {', '.join(self.order)}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:  # noqa: ARG002
        names = [question.name for question in model.schema_.questions]
        for name in self.order:
            if name not in names:
                raise SchemaError(
                    f"the fixed order names {name!r}, which is not a question. "
                    f"Questions are: {', '.join(map(repr, names[:12]))}."
                )
        ranks = {name: len(self.order) - place for place, name in enumerate(self.order)}
        scores = torch.tensor([float(ranks.get(name, 0)) for name in names])
        return scores.expand(len(evidence), len(names))

    @classmethod
    def learn(
        cls,
        model: PartialVAE,
        table: Any,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
    ) -> "FixedOrder":
        """The order in which each question has the highest mean score over the rows of ``table``.

        The paper averages over the test rows themselves; pass training rows for an order that has
        not seen what it is judged on.
        """
        strategy = strategy or Information()
        truth = model.evidence(table)
        schema = model.schema_
        goal = schema.target_names(model.target_ if target is None else target)
        left = [q for q in schema.questions if not set(q.reveals) & set(goal)]
        seen = Evidence.empty(len(truth), truth.n_variables)
        order: list[str] = []
        while left:
            scores = strategy.score(model, seen, goal).mean(0)
            best = max(left, key=lambda q: float(scores[schema.questions.index(q)]))
            order.append(best.name)
            left.remove(best)
            shown = np.zeros(truth.observed.shape, dtype=bool)
            shown[:, schema.positions(best.reveals)] = True
            seen = seen.reveal(truth.hide(~shown))
        return cls(tuple(order))
