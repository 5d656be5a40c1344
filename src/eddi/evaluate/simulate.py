"""Simulate interviews with all held-out rows at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EvaluationError, TargetError
from eddi.evaluate.curves import Curves
from eddi.evaluate.step_metrics import StepMetrics, compute_joint_metrics, true_numbers
from eddi.interview.risk_control import resolve_rules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model, ModelSource
from eddi.model.threads import single_thread
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop, StoppingRule
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Unknown
from eddi.table.survival.time_bins import SurvivalTimes

OnProgress = Callable[[int, int], None]

FEW_ROWS = 16  # with so few, threads cost more than they save
MAX_JOINT_ROWS = 1_024  # of several steps whose metrics are computed in one pass


def simulate(
    model: ModelSource,
    table: Any,
    target: str | None = None,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
    max_steps: int | None = None,
    on_progress: OnProgress | None = None,
    unknown: Unknown = "ignore",
) -> Curves:
    """Interview every row of ``table`` and record the prediction of the target after each answer.

    Answers come from the row itself. The rules are those of `Interview`: prerequisites, questions that
    are always asked, budgets and stopping rules. A question without an answer in the row is never asked.
    A row that has stopped keeps its last prediction. The simulation ends when every row has stopped.

    Args:
        model: a fitted model.
        table: held-out rows. Rows whose target is missing are interviewed but do not count in metrics.
        target: the variable to predict; None means the model's own target.
        strategy: chooses the questions; None means that of `Interview`.
        stop: ends an interview; None means once no question is left.
        max_steps: maximum number of questions per row.
        on_progress: called with the number of finished steps and the maximum number of steps.
        unknown: "ignore" treats unknown levels and absent columns as not observed, with one warning;
            "error" raises an error.

    Raises:
        TargetError: there is not exactly one target, or no row of the table has a value of it.
    """
    fitted = model.fitted()
    check_static(fitted)
    name = resolve_target(fitted, target)
    truth = read_truth(fitted, table, name, unknown=unknown)
    return simulate_evidence(
        fitted, truth, name, strategy=strategy, stop=stop, max_steps=max_steps, on_progress=on_progress
    )


def simulate_evidence(
    model: Model,
    truth: Evidence,
    target: str,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
    max_steps: int | None = None,
    on_progress: OnProgress | None = None,
) -> Curves:
    """`simulate` for rows of evidence. The target may be missing from all of them."""
    rules = resolve_rules(model, (target,), strategy=strategy, stop=stop or Stop())
    interviews = SimulatedInterviews(rules, truth)
    n_steps = interviews.n_steps(max_steps)
    metrics, chosen = [], []
    waiting: list[Evidence] = []  # small steps, which are compared with the truth together
    with single_thread(len(truth) <= FEW_ROWS):
        for n_done, step in enumerate(interviews.run(n_steps)):
            waiting.append(step.evidence)
            chosen.append(step.chosen)
            if (len(waiting) + 1) * len(truth) > MAX_JOINT_ROWS:
                metrics += compute_joint_metrics(model, waiting, truth, target)
                waiting = []
            if on_progress:
                on_progress(n_done, n_steps)
        if on_progress and len(chosen) <= n_steps:
            on_progress(n_steps, n_steps)  # every row stopped before the last possible step
        if waiting:
            metrics += compute_joint_metrics(model, waiting, truth, target)
    order = np.array(chosen[:-1], dtype=np.int64).reshape(-1, len(truth)).T  # [rows, steps]
    return build_curves(model, truth, target, metrics, order)


def resolve_target(model: Model, target: str | Sequence[str] | None) -> str:
    """The name of the only target: ``target`` or, if None, the model's own."""
    names = model.schema.target_names(model.target if target is None else target)
    if len(names) != 1:
        raise TargetError(
            f"a simulation has exactly one target, got {', '.join(map(repr, names)) or 'none'}. "
            "Name one with target=."
        )
    return names[0]


def check_static(model: Model) -> None:
    """Raise an `EvaluationError` if the model has `[time]`: its interviews have a history."""
    if model.schema.time is not None:
        raise EvaluationError(
            "this model has [time]: what is known at a decision depends on earlier measurements. Use "
            "eddi.simulate_series with the measurements of held-out persons."
        )


def read_truth(model: Model, table: Any, target: str, *, unknown: Unknown = "ignore") -> Evidence:
    """Read the rows of a table. At least one of them must have a value of the target."""
    truth = model.evidence(table, optional=(target,), unknown=unknown)
    check_target_observed(target, int(truth.observed[:, model.schema.position(target)].sum()))
    return truth


def check_target_observed(target: str, n_observed: int) -> None:
    """Raise a `TargetError` if no row has a value of the target."""
    if n_observed == 0:
        raise TargetError(
            f"no row of the table has a value of {target!r}, so predictions cannot be evaluated. "
            "Give held-out rows with values of the target."
        )


def build_curves(
    model: Model,
    truth: Evidence,
    target: str,
    metrics: list[StepMetrics],
    order: NDArray[np.int64],
) -> Curves:
    """The curves of rows, from the metrics of each step and the questions asked [rows, steps]."""
    schema, position = model.schema, model.schema.position(target)
    variable = schema[target]
    known = np.where(truth.observed[:, position], true_numbers(model, truth, target), np.nan)
    outcome: dict[str, Any] = {"truth": known, "levels": variable.levels}
    if variable.survival is not None:
        times = SurvivalTimes.from_numbers(known, variable.survival.edges)
        outcome = {"truth": times.times, "events": times.events, "survival": variable.survival}
    costs = np.append(schema.costs, 0.0)[order]  # -1 selects the last entry: no question, no cost
    return Curves(
        target=target,
        unit=variable.unit,
        questions=tuple(question.name for question in schema.questions),
        order=order,
        spent=np.concatenate([np.zeros((len(truth), 1)), costs.cumsum(1)], axis=1),
        **outcome,
        **StepMetrics.stack(metrics),
    )
