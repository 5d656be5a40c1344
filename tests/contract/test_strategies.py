"""The strategies of the package fulfil the contract of `eddi.testing`, which detects broken ones."""

import pytest
import torch

from eddi import Interview
from eddi.strategy import Explore, FixedOrder, Information, Lasso, Lookahead, PerCost, Priced, Random
from eddi.testing import ContractError, check_strategy

STRATEGIES = {
    "information": Information(),
    "latent information": Information(reward="latent"),
    "target information": Information(reward="target"),
    "fixed order": FixedOrder(("pain", "age")),
    "random": Random(),
    "per cost": PerCost(Information()),
    "explore": Explore(PerCost(Information()), share=0.5),
    "lookahead": Lookahead(n_candidates=4),
    "priced": Priced(Information(), price=1e-9),
    "lasso": Lasso(("age", "pain")),  # variables of both the model of people and that of `eddi.testing`
}
ANSWERS = {
    "age": 50,
    "visits": 2,
    "smoker": "no",
    "pain": "none",
    "town": "Aber",
    "weight": 70,
    "colour": "blue",
}


@pytest.fixture(params=STRATEGIES.values(), ids=STRATEGIES)
def strategy(request):
    return request.param


def test_a_strategy_fulfils_the_contract(strategy):
    check_strategy(strategy)


def test_scores_are_one_number_per_row_and_question(strategy, model, people):
    fitted = model.fitted()
    evidence = fitted.evidence(people(7, seed=2, missing=0.5))
    scores = strategy.score(fitted, evidence, ("stage", "weight"))
    assert scores.shape == (7, len(fitted.schema.questions))
    if not isinstance(strategy, Lasso | Priced):  # which never ask some questions
        assert torch.isfinite(scores).all()


def test_an_interview_asks_every_question_once(strategy, model):
    remaining = dict(ANSWERS)
    if isinstance(strategy, Lasso):
        remaining = {name: ANSWERS[name] for name in ("age", "pain")}
    interview = Interview(model, "stage", strategy=strategy)
    while (question := interview.ask()) is not None:
        interview.tell(question, remaining.pop(question.name))
    assert remaining == {}


class Broken:
    """A strategy that breaks one rule of the contract."""

    def __init__(self, break_rule):
        self.break_rule = break_rule

    def score(self, model, evidence, target):
        return self.break_rule(Random().score(model, evidence, target), evidence)


def _change_evidence(scores, evidence):
    evidence.values[:] = 1
    return scores


@pytest.mark.parametrize(
    ("break_rule", "message"),
    [
        (lambda scores, _: scores[:, 1:], r"scores must be \[rows, questions\]"),
        (lambda scores, _: scores * torch.nan, "scores must not be NaN"),
        (lambda scores, _: torch.rand_like(scores), "must be the same each time"),
        (_change_evidence, "must not change the evidence"),
        (lambda scores, _: scores if len(scores) else scores[:, :1], "the scores of no rows"),
    ],
)
def test_a_broken_strategy_is_detected(break_rule, message):
    with pytest.raises(ContractError, match=f"the contract is not fulfilled: .*{message}"):
        check_strategy(Broken(break_rule))
