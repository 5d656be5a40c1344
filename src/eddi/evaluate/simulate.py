"""Play the interview for all held-out rows at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import TargetError
from eddi.evaluate.curves import Curves
from eddi.evaluate.step_metrics import Measured, actual, measure
from eddi.interview.risk_control import resolve_risk
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model, ModelSource
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop, StoppingRule
from eddi.table.evidence import Evidence

OnStep = Callable[[int, int], None]


def simulate(
    model: ModelSource,
    table: Any,
    target: str | None = None,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
    max_steps: int | None = None,
    on_progress: OnStep | None = None,
) -> Curves:
    """Interview every row of ``table``, answering from the row itself, and follow the prediction.

    The rules are those of `Interview`: prerequisites, pinned questions, budgets, stopping rules. A
    question to which the row holds no answer is impossible and never asked. A row that has stopped
    keeps its last prediction; the simulation ends when every row has stopped.

    Args:
        model: what was learned.
        table: held-out rows; rows whose target is missing are interviewed but not judged.
        target: what one wants to know; the model's own target where None.
        strategy: who chooses; EDDI where None.
        stop: when it is enough; where None, when nothing is left to ask.
        max_steps: the most questions a row is asked.
        on_progress: called with the steps done and the most there can be.

    Raises:
        TargetError: there is not one target, or no row of the table knows it.
    """
    fitted = model.fitted()
    name = the_target(fitted, target)
    truth = known_rows(fitted, table, name)
    return follow(
        fitted, truth, name, strategy=strategy, stop=stop, max_steps=max_steps, on_progress=on_progress
    )


def follow(
    model: Model,
    truth: Evidence,
    target: str,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
    max_steps: int | None = None,
    on_progress: OnStep | None = None,
) -> Curves:
    """`simulate` for rows that are evidence already; all of them may lack the target."""
    strategy = strategy or Information()
    rule = resolve_risk(stop or Stop(), model, (target,), strategy)
    interviews = SimulatedInterviews(InterviewRules(model, (target,), strategy, rule), truth)
    n_steps = interviews.n_steps(max_steps)
    measured, order = [], []
    for step, simulated in enumerate(interviews.run(n_steps)):
        measured.append(measure(model, simulated.evidence, truth, target))
        order.append(simulated.chosen)
        if on_progress:
            on_progress(step, n_steps)
    if on_progress and len(order) <= n_steps:
        on_progress(n_steps, n_steps)  # every row stopped before the most it could be asked
    asked = np.array(order[:-1], dtype=np.int64).reshape(-1, len(truth)).T  # [rows, steps]
    return _curves(model, truth, target, measured, asked)


def the_target(model: Model, target: str | None) -> str:
    """The one target to follow: the one named, or the model's own."""
    names = model.schema.target_names(model.target if target is None else target)
    if len(names) != 1:
        raise TargetError(
            f"a simulation follows one target, got {', '.join(map(repr, names)) or 'none'}. "
            "Name one with target=."
        )
    return names[0]


def known_rows(model: Model, table: Any, target: str) -> Evidence:
    """The table's rows, at least one of which knows the target."""
    truth = model.evidence(table, optional=(target,))
    refuse_unjudged(target, int(truth.observed[:, model.schema.position(target)].sum()))
    return truth


def refuse_unjudged(target: str, n_known: int) -> None:
    """Raise the error for rows none of which knows the target."""
    if n_known == 0:
        raise TargetError(
            f"no row of the table has a value of {target!r}, so no prediction could be judged. "
            "Give held-out rows whose target is known."
        )


def _curves(
    model: Model,
    truth: Evidence,
    target: str,
    measured: list[Measured],
    order: NDArray[np.int64],
) -> Curves:
    schema, position = model.schema, model.schema.position(target)
    paid = np.append(schema.costs, 0.0)[order]  # the last, which -1 picks, costs nothing
    spent = np.concatenate([np.zeros((len(truth), 1)), paid.cumsum(1)], axis=1)
    return Curves(
        target=target,
        unit=schema[target].unit,
        levels=schema[target].levels,
        questions=tuple(question.name for question in schema.questions),
        truth=np.where(truth.observed[:, position], actual(model, truth, target), np.nan),
        order=order,
        spent=spent,
        **Measured.stack(measured, axis=1),
    )
