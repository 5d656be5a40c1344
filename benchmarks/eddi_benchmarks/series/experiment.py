"""Policies over time: predictions of a target by the number of measurements per person.

Every policy decides at the same times with the same model. A measurement that it asks for gives what was
recorded near that time; what it does not ask for is not known later either.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eddi
from eddi.evaluate.series.logged_series import LoggedSeries
from eddi.evaluate.series.panel import Panel, choose_panel
from eddi.evaluate.series.series_curves import SeriesCurves
from eddi.evaluate.series.simulate_series import predict_fully, simulate_series
from eddi.interview.risk_control import resolve_rules
from eddi.partial_vae import PartialVAE
from eddi.strategy import Information, Random, Strategy
from eddi.table import formats
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import Series
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data.visits import (
    STATIC,
    read_stays,
    select_persons,
    stay_schema,
    visit_schema,
)
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings
from eddi_benchmarks.series.peers import measure_peer
from eddi_benchmarks.series.report import report_sections

STAYS = (
    "physionet2012",
    "physionet2012-informative",
)  # the second one models when measurements are taken
VISITS = ("pbcseq", "pbcseq-survival")  # the second one predicts survival from each visit
N_SCHEDULE_PERSONS = 200  # training persons over which a static schedule averages


@dataclass(frozen=True)
class Task:
    """A series, split into training and test persons."""

    schema: Schema
    train: Series
    test: Series
    known: tuple[str, ...]

    @property
    def target(self) -> str:
        return self.schema.targets[0]


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001
    """Train one model, and simulate every policy on the test persons."""
    task = load_task(settings)
    model = fit(task, settings)
    logged = LoggedSeries.read(model.fitted(), task.test)
    results = {
        name: describe(curves) for name, curves in simulate_policies(model, task, logged, settings)
    }
    return {
        "target": task.target,
        "n_train": _count_persons(task.train, task.schema),
        "n_test": len(logged.measurements.persons),
        "n_variables": len(task.schema.variables),
        "peer": measure_peer(task.schema, task.train, task.test),
        "policies": results,
    }


def load_task(settings: Settings) -> Task:
    """The dataset of a run, with its persons split at random."""
    known: tuple[str, ...]
    if settings["dataset"] in STAYS:
        series = read_stays(datasets.find(STAYS[0]))
        schema = stay_schema(series, informative=settings["dataset"] == STAYS[1])
        names, known = series.static["RecordID"].to_numpy(), STATIC
    else:
        series = Series(datasets.load(VISITS[0]))
        schema = visit_schema(survival=settings["dataset"] == VISITS[1])
        known = ("trt", "age", "sex")
        names = np.unique(series.measurements["id"].to_numpy())
    order = np.random.default_rng(int(settings["seed"])).permutation(names)
    n_test = min(int(settings["n_test"]), len(order) // 5)
    person = schema.time.person if schema.time else ""
    chosen = order[n_test : n_test + int(settings["max_train"])]
    train, test = (select_persons(series, part, person) for part in (chosen, order[:n_test]))
    return Task(schema, train, test, known)


def fit(task: Task, settings: Settings) -> PartialVAE:
    """The model of all policies."""
    return eddi.PartialVAE(
        schema=task.schema,
        target=task.target,
        random_state=int(settings["seed"]),
        max_steps=int(settings["max_steps"]) or None,
    ).fit(task.train)


def simulate_policies(
    model: PartialVAE, task: Task, logged: LoggedSeries, settings: Settings
) -> Iterator[tuple[str, SeriesCurves]]:
    """The curves of every policy, by name."""
    yield "everything recorded", predict_fully(model, logged, task.target)
    repeated = Panel(tuple(task.schema.time.repeats) if task.schema.time else ())
    for spacing in settings["panels"]:
        limits = [None if (place + 1) % spacing == 0 else 0 for place in range(logged.n_decisions)]
        yield (
            f"panel every {spacing} decisions",
            simulate_series(model, logged, strategy=repeated, max_questions=limits, known=task.known),
        )
    for n in settings["counts"]:
        yield (
            f"ours, {n} per decision",
            simulate_series(model, logged, strategy=Information(), max_questions=n, known=task.known),
        )
        yield (
            f"random, {n} per decision",
            simulate_series(
                model, logged, strategy=Random(int(settings["seed"])), max_questions=n, known=task.known
            ),
        )
    for n in settings["counts"] if isinstance(task.schema.time.decisions, tuple) else ():  # type: ignore[union-attr]
        schedule = learn_schedule(model, task, n)
        yield (
            f"static schedule, {n} per decision",
            simulate_series(model, logged, strategy=schedule, known=task.known),
        )
    for threshold in settings["thresholds"]:
        yield (
            f"ours, above {threshold:g} nats",
            simulate_series(
                model,
                logged,
                strategy=Information(),
                stop=eddi.Stop(reward_below=float(threshold)),
                known=task.known,
            ),
        )


def learn_schedule(model: PartialVAE, task: Task, n_questions: int) -> list[Strategy]:
    """A panel for each decision, chosen greedily on training persons, given the panels before it."""
    fitted = model.fitted()
    logged = LoggedSeries.read(fitted, _first_persons(task, N_SCHEDULE_PERSONS))
    persons, schema = np.arange(len(logged.measurements.persons)), fitted.schema
    taken = np.zeros(len(logged.measurements), dtype=bool)
    rules = resolve_rules(fitted, (task.target,), strategy=Information(), stop=eddi.Stop())
    hidden = schema.positions([task.target])
    schedule: list[Strategy] = []
    for decision in range(logged.n_decisions):
        recorded = logged.find_recorded(decision)
        near = taken.copy()
        near[recorded[recorded >= 0]] = True
        before = logged.rows(persons, decision, taken).hide(hidden)
        truth = logged.rows(persons, decision, near).hide(hidden)
        panel = choose_panel(rules, before, _only_now(logged, before, truth), n_questions)
        schedule.append(panel)
        places = [place for place, v in enumerate(logged.layout.repeated) if v.name in panel.order]
        chosen = recorded[:, places]
        taken[chosen[chosen >= 0]] = True
    return schedule


def _only_now(logged: LoggedSeries, before: Evidence, truth: Evidence) -> Evidence:
    hidden = np.ones(truth.observed.shape, dtype=bool)
    hidden[:, logged.layout.windows[:, 0]] = False
    return before.reveal(truth.hide(hidden))


def _first_persons(task: Task, n: int) -> Series:
    person = task.schema.time.person if task.schema.time else ""
    names = _person_names(task.train, person)[:n]
    return select_persons(task.train, names, person)


def _count_persons(series: Series, schema: Schema) -> int:
    return len(_person_names(series, schema.time.person)) if schema.time else 0


def _person_names(series: Series, person: str) -> NDArray[Any]:
    return np.unique(formats.read(series.measurements)[person].to_numpy())


def describe(curves: SeriesCurves) -> Measurements:
    """The numbers of one policy, at the last decision for a binary target, else over all decisions."""
    common = {
        "measurements": curves.measurements_per_person,
        "unrecorded": curves.unrecorded_share,
    }
    if curves.events is not None:
        measures = {"concordance": curves.concordance(), "integrated_brier": curves.integrated_brier()}
        return {**common, **measures}
    if not curves.is_binary:
        return {**common, "rmse": curves.rmse()}
    by_decision = [curves.auroc(decision) for decision in range(curves.times.shape[1])]
    return {
        **common,
        "auroc": curves.auroc(-1),
        "auprc": curves.auprc(-1),
        "auroc_by_decision": by_decision,
        "measurements_by_decision": curves.n_measured.mean(0).tolist(),
    }


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The dataset of a run."""
    return (STAYS[0] if settings["dataset"] in STAYS else VISITS[0],)


EXPERIMENT = Experiment(run, required_datasets, report_sections)
