"""The decisions suite: a run is one trained model on one split, and every method that uses it.

- ``ours``: the default Partial VAE with its own strategy, lookahead, a random order, and one fixed order
  learned on training rows; for a Gaussian mixture also exact inference on the same rows.
- ``paper``: the network, training and reward of the paper (EDDI-PNP).
- ``gdfs``, ``dime``: later publications.
- ``trees``, ``extra_trees``, ``linear``: boosted trees, extremely randomised trees and shrunk linear models,
  refitted for each prefix of a fixed order.

No method asks a row a question that it has no answer to. A row without open questions keeps its last
prediction. All methods train on the same rows, which include their validation rows.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import eddi
from eddi import PartialVAE, strategy
from eddi.evaluate.curves import Curves, Numbers
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.rules import InterviewRules
from eddi.strategy.base import Strategy
from eddi_benchmarks.baselines.masked import TrainingSettings
from eddi_benchmarks.data.synthetic import GaussianMixture
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.decisions.exact import ExactInterviewer
from eddi_benchmarks.decisions.fixed_order_baseline import LEARNERS, FixedOrderBaseline
from eddi_benchmarks.decisions.problem import Problem, load_problem
from eddi_benchmarks.decisions.report import report_sections
from eddi_benchmarks.decisions.trained_baseline import TrainedBaseline
from eddi_benchmarks.harness.experiment import Experiment, ExperimentError
from eddi_benchmarks.harness.run_result import Measurements, Settings, to_json_values

REAL_METRICS = ("rmse", "nll", "coverage")
CLASS_METRICS = ("accuracy", "nll", "brier", "calibration_error")
MAX_ORDER_ROWS = 100  # training rows to learn the fixed order from
MAX_ORDER_CELLS = 2_000  # rows times questions, because the cost is quadratic in the questions
N_COSTS = 25  # points of a curve against cost
N_TIMED = 15  # decisions, of which the median is reported


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Train one model on one split, and interview the held-out rows."""
    return run_on_problem(load_problem(settings), settings)


def run_on_problem(problem: Problem, settings: Settings) -> Measurements:
    """Run on any problem.

    Raises:
        ExperimentError: the settings name an unknown model.
    """
    model = str(settings["model"])
    if model not in RUN_FUNCTIONS:
        raise ExperimentError(f"there is no model {model!r}. Use one of {', '.join(RUN_FUNCTIONS)}.")
    seconds, methods = RUN_FUNCTIONS[model](problem, settings)
    if model == "ours" and problem.mixture is not None:
        methods |= _run_exact(problem, problem.mixture)
    return {
        "n_rows": {"train": len(problem.train), "test": len(problem.test)},
        "n_questions": len(problem.schema.questions) - 1,
        "n_steps": problem.n_steps,
        "is_class": problem.is_class,
        "seconds": to_json_values(seconds),
        "methods": methods,
    }


def _measurements(curves: Curves, problem: Problem) -> Measurements:
    """The curves of a method, extended to the maximum number of questions by the last value."""
    padding = (0, problem.n_steps - curves.n_steps)
    by_step = {
        name: np.pad(_in_units(name, getattr(curves, name), problem.unit), padding, mode="edge")
        for name in (CLASS_METRICS if problem.is_class else REAL_METRICS)
    }
    measurements: Measurements = {"curves": to_json_values(by_step)}
    if problem.has_costs:
        spent = np.linspace(0, problem.schema.costs[_askable(problem)].sum(), N_COSTS)
        by_cost = curves.by_cost(spent)
        curve = np.asarray(by_cost.accuracy if problem.is_class else by_cost.rmse) / problem.unit
        measurements["by_cost"] = to_json_values({"spent": spent, "curve": curve})
    return measurements


def _in_units(name: str, curve: Numbers, unit: float) -> Numbers:
    """A curve with errors and densities in units of the target's range."""
    if name == "rmse":
        return np.asarray(curve) / unit
    return np.asarray(curve) - np.log(unit) if name == "nll" else np.asarray(curve)


def _askable(problem: Problem) -> list[int]:
    """Indices of the questions that do not reveal the target."""
    questions = enumerate(problem.schema.questions)
    return [index for index, question in questions if problem.target not in question.reveals]


def _run_eddi(problem: Problem, settings: Settings) -> tuple[float, Measurements]:
    start = time.perf_counter()
    model = fit(problem, settings)
    seconds = time.perf_counter() - start
    methods: Measurements = {}
    for name, method in _strategies(model, problem, settings).items():
        curves = eddi.simulate(
            model, problem.test, problem.target, strategy=method, max_steps=problem.n_steps
        )
        milliseconds = to_json_values(decision_milliseconds(model, problem, method))
        methods[name] = {**_measurements(curves, problem), "ms": milliseconds}
    return seconds, methods


def fit(problem: Problem, settings: Settings) -> PartialVAE:
    """Fit the default or the paper's model on all training rows, which include validation rows."""
    is_paper = settings["model"] == "paper"
    n_steps = int(settings["paper_steps" if is_paper else "our_steps"])
    model = PartialVAE(
        problem.schema,
        problem.target,
        max_steps=n_steps or None,  # 0 means the steps of the recipe
        random_state=int(settings["seed"]),
        device=str(settings.get("device", "auto")),
    )
    if is_paper:
        model.set_params(recipe="paper", set_encoder="pnp")
    return model.fit(problem.train)


def _strategies(model: PartialVAE, problem: Problem, settings: Settings) -> Mapping[str, Strategy]:
    seed = int(settings["seed"])
    if settings["model"] == "paper":
        n_draws = int(settings["n_draws"])
        return {"paper": strategy.Information(reward="latent", n_draws=n_draws, seed=seed)}
    information = strategy.Information()
    strategies: dict[str, Strategy] = {"ours": information}
    if settings["own_order_only"]:
        return strategies
    n_questions = len(problem.schema.questions)
    n_order_rows = min(MAX_ORDER_ROWS, MAX_ORDER_CELLS // n_questions, len(problem.train))
    order_rows = problem.train.sample(n_order_rows, random_state=seed)
    strategies |= {
        "random": strategy.Random(seed),
        "static": strategy.FixedOrder.learn(model, order_rows, problem.target, strategy=information),
    }
    # The cost of lookahead is quadratic in the number of questions.
    if n_questions - 1 <= int(settings["most_ahead"]) or problem.mixture is not None:
        strategies["ours-ahead"] = strategy.Lookahead()
    if problem.has_costs:
        strategies["ours-cost"] = strategy.PerCost(information)
    return strategies


def decision_milliseconds(model: PartialVAE, problem: Problem, method: Strategy) -> float:
    """The median time of one decision for one row with every other variable observed."""
    rules = InterviewRules(model.fitted(), (problem.target,), method, eddi.Stop())
    truth = model.evidence(problem.test.head(1))
    hidden = np.zeros(truth.n_variables, dtype=bool)
    hidden[1::2] = True
    hidden[problem.schema.position(problem.target)] = True
    evidence = truth.hide(np.flatnonzero(hidden))
    closed = np.zeros((1, len(problem.schema.questions)), dtype=bool)
    states = InterviewStates(evidence, closed, evidence.observed.sum(1), np.zeros(1))
    seconds = []
    for _ in range(N_TIMED):
        start = time.perf_counter()
        _ = NextSteps(rules, states).chosen  # computed on first access
        seconds.append(time.perf_counter() - start)
    return 1e3 * float(np.median(seconds))


def _run_network_baseline(problem: Problem, settings: Settings) -> tuple[float, Measurements]:
    name = str(settings["model"])
    training = TrainingSettings(max_steps=int(settings["peer_steps"]))
    baseline = TrainedBaseline.fit(name, problem, seed=int(settings["seed"]), settings=training)
    methods = {
        name: {
            **_measurements(baseline.interview(), problem),
            "ms": to_json_values(baseline.decision_milliseconds()),
            "dropout": baseline.model.predictor.dropout,
        }
    }
    if problem.has_costs and name == "dime":  # the paper of DIME divides by cost, that of GDFS does not
        methods["dime-cost"] = _measurements(baseline.interview(per_cost=True), problem)
    return baseline.seconds, methods


def _run_fixed_order_baseline(problem: Problem, settings: Settings) -> tuple[float, Measurements]:
    name = str(settings["model"])
    baseline = FixedOrderBaseline.fit(name, problem, seed=int(settings["seed"]))
    return baseline.seconds, {name: _measurements(baseline.interview(), problem)}


RUN_FUNCTIONS: Mapping[str, Callable[[Problem, Settings], tuple[float, Measurements]]] = {
    **dict.fromkeys(("ours", "paper"), _run_eddi),
    **dict.fromkeys(("gdfs", "dime"), _run_network_baseline),
    **dict.fromkeys(LEARNERS, _run_fixed_order_baseline),
}
"""By model; each returns the seconds of training and what was measured of each method."""


def _run_exact(problem: Problem, mixture: GaussianMixture) -> Measurements:
    interviewer = ExactInterviewer(mixture)
    rows = problem.test[list(mixture.names)].to_numpy(np.float64)
    classes = problem.test[problem.target].to_numpy(np.int64)
    methods = {}
    for name, lookahead in (("exact-greedy", False), ("exact", True)):
        curves = interviewer.interview(rows, classes, problem.n_steps, lookahead=lookahead)
        methods[name] = _measurements(curves, problem)
    return methods


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The dataset of a run; none if it is artificial or comes with scikit-learn."""
    return problems.required_datasets(str(settings["dataset"]))


EXPERIMENT = Experiment(run, required_datasets, report_sections)
