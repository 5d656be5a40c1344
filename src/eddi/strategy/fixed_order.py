"""One order for everybody (SING, the single best ordering)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eddi.errors import SchemaError
from eddi.model.base import Model, ModelSource
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.text import format_names, suggest_name

N_DRAWN_ROWS = 100  # drawn from the model to learn an order without a table


@dataclass(frozen=True)
class FixedOrder:
    """The same questions in the same order for every row; questions that are not named come last.

    Learn an order with `FixedOrder.learn`, or give one by hand.
    """

    order: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", tuple(self.order))
        if len(set(self.order)) < len(self.order):
            raise SchemaError(f"the fixed order names a question twice: {', '.join(self.order)}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:  # noqa: ARG002
        names = [question.name for question in model.schema.questions]
        for name in self.order:
            if name not in names:
                raise SchemaError(
                    f"the fixed order names {name!r}, which is not a question.{suggest_name(name, names)} "
                    f"Questions are: {format_names(names)}."
                )
        ranks = {name: len(self.order) - place for place, name in enumerate(self.order)}
        scores = torch.tensor([float(ranks.get(name, 0)) for name in names])
        return scores.expand(len(evidence), len(names))

    @classmethod
    def learn(
        cls,
        model: ModelSource,
        table: Any = None,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
    ) -> "FixedOrder":
        """The order in which each question has the highest mean score over the rows of ``table``.

        The paper averages over the test rows themselves. Pass training rows, or None for rows drawn from
        the model, for an order that is independent of the test rows.
        """
        fitted, strategy = model.fitted(), strategy or Information()
        schema = fitted.schema
        truth = _draw_rows(fitted) if table is None else fitted.evidence(table)
        names = schema.target_names(fitted.target if target is None else target)
        remaining = [q for q in schema.questions if not set(q.reveals) & set(names)]
        evidence = Evidence.empty(len(truth), truth.n_variables)
        order: list[str] = []
        while remaining:
            scores = strategy.score(fitted, evidence, names).mean(0)
            best = max(remaining, key=lambda q: float(scores[schema.questions.index(q)]))
            order.append(best.name)
            remaining.remove(best)
            revealed = np.zeros(truth.observed.shape, dtype=bool)
            revealed[:, schema.positions(best.reveals)] = True
            evidence = evidence.reveal(truth.hide(~revealed))
        return cls(tuple(order))


def _draw_rows(model: Model) -> Evidence:
    """Complete rows drawn from the model."""
    empty = Evidence.empty(N_DRAWN_ROWS, len(model.schema.variables))
    return model.coding.encode(model.draw_tables(empty, 1, seed=0)[0])
