"""What every strategy promises: one finite score a question and row, the same when asked again."""

import pytest
import torch

from eddi import Interview
from eddi.strategy import FixedOrder, Information, PerCost, Random

STRATEGIES = [Information(), FixedOrder(("pain", "age")), Random(), PerCost(Information())]


@pytest.fixture(params=STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def strategy(request):
    return request.param


def test_scores_are_one_finite_number_a_row_and_question(strategy, model, people):
    evidence = model.evidence(people(7, seed=2, holes=0.5))
    scores = strategy.score(model, evidence, ("stage", "weight"))
    assert scores.shape == (7, len(model.schema_.questions))
    assert torch.isfinite(scores).all()
    assert torch.equal(strategy.score(model, evidence, ("stage", "weight")), scores)


def test_scoring_leaves_the_evidence_alone(strategy, model, people):
    evidence = model.evidence(people(3, seed=2))
    values = evidence.values.copy()
    strategy.score(model, evidence, ("stage",))
    assert (evidence.values == values).all()


def test_no_rows_are_no_scores(strategy, model, people):
    nobody = model.evidence(people(3, seed=2))[:0]
    assert strategy.score(model, nobody, ("stage",)).shape == (0, len(model.schema_.questions))


def test_an_interview_can_be_led_to_its_end(strategy, model):
    answers = {"age": 50, "visits": 2, "smoker": "no", "pain": "none", "town": "Aber", "weight": 70}
    answers["colour"] = "blue"
    interview = Interview(model, "stage", strategy=strategy)
    while (question := interview.ask()) is not None:
        interview.tell(question, answers.pop(question.name))
    assert answers == {}
