"""Contract suites: does your strategy, stopping rule or likelihood keep the promises ours keep?

A plug-in is an object you pass. In a test of your own, hand it to the check of its kind:

    from eddi.testing import check_strategy

    def test_my_strategy_keeps_the_contract():
        check_strategy(MyStrategy())
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

import eddi
from eddi.errors import EddiError
from eddi.model.likelihood import LevelLikelihood, Likelihood
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Situation, StoppingRule
from eddi.table.evidence import Evidence

TARGET = ("risk",)
N_ROWS = 7
ROUNDING = 1e-5


class ContractError(EddiError, AssertionError):
    """A plug-in does not keep what its kind promises."""


def check_strategy(strategy: Strategy, model: eddi.PartialVAE | None = None) -> None:
    """One score a row and question, the same when asked again, and an interview that ends.

    Args:
        strategy: yours.
        model: what to score with; a small one of mixed kinds, with the target "risk", where None.

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    model, target = (model, model.target_) if model else (_model(), TARGET)
    evidence = _some_rows(model)
    before = evidence.values.copy()
    scores = strategy.score(model, evidence, target)
    n_questions = len(model.schema_.questions)
    _promise(
        scores.shape == (N_ROWS, n_questions),
        f"scores must be [rows, questions] = ({N_ROWS}, {n_questions}), got {tuple(scores.shape)}",
    )
    _promise(not torch.isnan(scores).any(), "a score must be a number; -inf means never, NaN nothing")
    again = strategy.score(model, evidence, target)
    _promise(torch.equal(scores, again), "the same rows must score the same when asked again")
    _promise(bool((evidence.values == before).all()), "scoring must leave the evidence as it was")
    nobody = strategy.score(model, evidence[:0], target)
    _promise(nobody.shape == (0, n_questions), "no rows must give scores of shape (0, questions)")
    _check_it_ends(strategy, model, target)


def _check_it_ends(strategy: Strategy, model: eddi.PartialVAE, target: Sequence[str]) -> None:
    interview = eddi.Interview(model, target, strategy=strategy)
    n_questions = len(model.schema_.questions)
    asked: list[str] = []
    while (question := interview.ask()) is not None and len(asked) <= n_questions:
        _promise(question.name not in asked, f"{question.name!r} was asked twice")
        asked.append(question.name)
        interview.tell(question, eddi.UNKNOWN)
    _promise(len(asked) <= n_questions, "an interview must end when all was asked")


def check_stopping_rule(rule: StoppingRule) -> None:
    """One truth a row, from how interviews stand, and a budget above 0.

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    model = _model()
    evidence = _some_rows(model)
    situation = Situation(
        n_asked=evidence.observed.sum(1),
        best=np.linspace(0.0, 1.0, N_ROWS),
        believe=lambda: model.predict_evidence(evidence, TARGET),
    )
    reached = np.asarray(rule.reached(situation))
    _promise(reached.shape == (N_ROWS,), f"reached must be [rows] = ({N_ROWS},), got {reached.shape}")
    _promise(reached.dtype == np.bool_, f"reached must be true or false, got {reached.dtype}")
    _promise(rule.budget > 0, f"the budget must be above 0, got {rule.budget}")


def check_likelihood(likelihood: Likelihood, n_variables: int) -> None:
    """Its four verbs tell of one and the same distribution, for any outputs of the decoder.

    Args:
        likelihood: yours, for a group of ``n_variables`` variables.
        n_variables: how many variables it serves.

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    random = torch.Generator().manual_seed(0)
    outputs = torch.randn((64, likelihood.n_outputs), generator=random)
    level = torch.rand((64, n_variables), generator=random).clamp(0.02, 0.98)
    drawn = likelihood.quantile(outputs, level)
    shape = tuple(level.shape)
    _promise(tuple(drawn.shape) == shape, f"quantile must give [..., variables] = {shape}")
    log_prob = likelihood.log_prob(outputs, drawn)
    _promise(tuple(log_prob.shape) == shape, f"log_prob must give [..., variables] = {shape}")
    _promise(torch.isfinite(log_prob).all(), "what was drawn must be possible: log_prob is not finite")
    reached = likelihood.cdf(outputs, drawn)
    _promise(
        bool((reached >= level - ROUNDING).all()),
        "the cdf at a quantile must reach its level: quantile is the cdf's inverse",
    )
    mean, variance = likelihood.moments(outputs)
    _promise(torch.isfinite(mean).all() and bool((variance >= 0).all()), "moments must be numbers")
    if isinstance(likelihood, LevelLikelihood):
        total = likelihood.probabilities(outputs).sum(-1)
        _promise(torch.allclose(total, torch.ones(shape), atol=1e-4), "probabilities must sum to 1")


def _promise(kept: bool | Tensor, what: str) -> None:
    if not kept:
        raise ContractError(f"the contract is broken: {what}.")


@cache
def _model() -> eddi.PartialVAE:
    """A small model of variables of every kind; the same one for whoever asks again."""
    random = np.random.default_rng(0)
    lean = random.normal(size=(120, 6))
    lean += lean[:, :1]
    table = {
        "age": 50 + 10 * lean[:, 1],
        "visits": np.floor(np.exp(lean[:, 2])),
        "smoker": np.where(lean[:, 3] > 0, "yes", "no"),
        "pain": np.digitize(lean[:, 4], [-1, 0, 1]),
        "town": np.array(["Aber", "Bala", "Caer"])[np.digitize(lean[:, 5], [-0.5, 0.5])],
        "risk": lean[:, 0],
    }
    return eddi.PartialVAE(target="risk", max_steps=50, random_state=0, device="cpu").fit(table)


def _some_rows(model: eddi.PartialVAE) -> Evidence:
    """Rows drawn from the model itself, of which half is hidden, the target among it."""
    n_variables = len(model.schema_.variables)
    nothing = Evidence.nothing(N_ROWS, n_variables)
    rows = model.coding_.encode(model.draw_tables(nothing, 1, seed=0)[0])
    hidden = np.random.default_rng(1).random((N_ROWS, n_variables)) < 0.5
    hidden[:, model.schema_.positions(model.target_)] = True
    return rows.hide(hidden)
