"""Score per unit of cost."""

from dataclasses import replace

import numpy as np
import torch

from eddi.strategy import Information, PerCost

TARGET = ("stage",)


def test_scores_are_divided_by_the_cost_of_the_question(fitted, no_answers):
    best = Information().score(fitted, no_answers(1), TARGET)[0].argmax()
    name = fitted.schema.questions[best].name
    expensive = replace(fitted, schema=fitted.schema.with_question(name, cost=100))
    scores = Information().score(expensive, no_answers(), TARGET)
    per_cost = PerCost(Information()).score(expensive, no_answers(), TARGET)
    costs = torch.tensor([100.0 if q.name == name else 1.0 for q in expensive.schema.questions])
    np.testing.assert_allclose(per_cost, scores / costs, rtol=1e-6)
    assert per_cost[0].argmax() != scores[0].argmax()
