"""Our own strategies keep the contract that `eddi.testing` checks of everybody's."""

import pytest
import torch

from eddi import Interview
from eddi.strategy import FixedOrder, Information, Lasso, Lookahead, PerCost, Priced, Random
from eddi.testing import ContractError, check_strategy

STRATEGIES = [
    Information(),
    FixedOrder(("pain", "age")),
    Random(),
    PerCost(Information()),
    Lookahead(n_candidates=4),
    Priced(Information(), price=1e-9),
    Lasso(("age", "pain")),  # both in the model of people and in that of `eddi.testing`
]


@pytest.fixture(params=STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def strategy(request):
    return request.param


def test_a_strategy_keeps_the_contract(strategy):
    check_strategy(strategy)


def test_scores_are_one_finite_number_a_row_and_question(strategy, model, people):
    evidence = model.evidence(people(7, seed=2, holes=0.5))
    scores = strategy.score(model, evidence, ("stage", "weight"))
    assert scores.shape == (7, len(model.schema_.questions))
    if not isinstance(strategy, Lasso | Priced):  # which never ask some
        assert torch.isfinite(scores).all()


def test_an_interview_can_be_led_to_its_end(strategy, model):
    answers = {"age": 50, "visits": 2, "smoker": "no", "pain": "none", "town": "Aber", "weight": 70}
    answers["colour"] = "blue"
    if isinstance(strategy, Lasso):
        answers = {name: answers[name] for name in ("age", "pain")}
    interview = Interview(model, "stage", strategy=strategy)
    while (question := interview.ask()) is not None:
        interview.tell(question, answers.pop(question.name))
    assert answers == {}


class Broken:
    """A strategy that breaks one promise."""

    def __init__(self, spoil):
        self.spoil = spoil

    def score(self, model, evidence, target):
        return self.spoil(Random().score(model, evidence, target), evidence)


def _meddle(scores, evidence):
    evidence.values[:] = 1
    return scores


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda scores, _: scores[:, 1:], "rows, questions"),
        (lambda scores, _: scores * torch.nan, "NaN"),
        (lambda scores, _: torch.rand_like(scores), "when asked again"),
        (_meddle, "leave the evidence"),
        (lambda scores, _: scores if len(scores) else scores[:, :1], "no rows"),
    ],
)
def test_a_broken_strategy_is_found(spoil, word):
    with pytest.raises(ContractError, match=word):
        check_strategy(Broken(spoil))
