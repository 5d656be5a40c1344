"""Fixed panels: the same measurements for everybody, as in routine care."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eddi.interview.rules import InterviewRules
from eddi.model.base import Model
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class Panel:
    """Asks the named questions in this order, and no other."""

    order: tuple[str, ...]

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:  # noqa: ARG002
        ranks = {name: float(len(self.order) - place) for place, name in enumerate(self.order)}
        scores = [ranks.get(question.name, -np.inf) for question in model.schema.questions]
        return torch.tensor(scores).expand(len(evidence), len(scores))


def choose_panel(rules: InterviewRules, evidence: Evidence, truth: Evidence, n_questions: int) -> Panel:
    """The best panel of a size: each question has the highest mean score, given those before it.

    Args:
        rules: of the interviews; their strategy gives the scores.
        evidence: training rows before the panel.
        truth: the same rows with everything that can be measured.
        n_questions: size of the panel.
    """
    schema = rules.model.schema
    order: list[str] = []
    is_left = rules.askable.copy()
    while len(order) < n_questions and is_left.any():
        scores = rules.strategy.score(rules.model, evidence, rules.target).mean(0).double().numpy()
        best = int(np.where(is_left, scores, -np.inf).argmax())
        is_left[best] = False
        order.append(schema.questions[best].name)
        hidden = np.ones(truth.observed.shape, dtype=bool)
        hidden[:, schema.reveals_mask[best]] = False
        evidence = evidence.reveal(truth.hide(hidden))
    return Panel(tuple(order))
