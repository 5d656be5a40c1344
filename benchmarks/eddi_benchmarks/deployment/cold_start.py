"""The cold-start suite: deployments that begin without data.

Respondents arrive one by one, in the random order of a real table. An interview asks a few questions; the
target of each respondent becomes known afterwards. After some numbers of respondents, a model is fitted to
all answers so far. Held-out rows are interviewed with each model, without exploration, to measure it.

The approaches:

- ``ours``: a schema with kinds, levels and ranges, exploration, and models that learn from all answers. The
  first respondents are asked everything, until every question has ``min_answers`` answers.
- ``expert``: as ours, and the schema also states what an expert believes (`expert_beliefs`).
- ``all-50`` and ``all-100``: ask everything of the first 50 or 100 respondents, then train once.
- ``all-300``: ask everything of everybody, then train: a reference point for what 300 respondents can tell.
- ``greedy``: as ours, but never explore.
- ``informed``: as greedy, but a model of the full table chooses the respondents' questions: a reference
  point for good questions without exploration. It is no bound, because exploration also varies the data.
- ``oracle``: a model that is trained on the full table before the first respondent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import eddi
from eddi.interview.risk_control import resolve_rules
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy import Exploration, Explore, Information
from eddi.strategy.base import Strategy
from eddi_benchmarks.data import datasets
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.deployment.expert_beliefs import EXPERT_BELIEFS
from eddi_benchmarks.deployment.report import report_sections
from eddi_benchmarks.harness.experiment import Experiment, ExperimentError
from eddi_benchmarks.harness.run_result import Measurements, Settings, to_json_values

Numbers = NDArray[np.float64]

MAX_TEST_SHARE = 0.25  # of a table


@dataclass(frozen=True)
class Approach:
    """How a deployment learns.

    Args:
        exploration: of its interviews; None for no exploration.
        n_complete: number of first respondents who are asked everything.
        learns: whether models are fitted again after ``n_complete`` respondents.
        is_oracle: whether the model is trained on the full table beforehand.
        is_informed: whether a model of the full table chooses the questions of respondents.
    """

    exploration: Exploration | None = None
    n_complete: int = 0
    learns: bool = True
    is_oracle: bool = False
    is_informed: bool = False

    @classmethod
    def from_settings(cls, settings: Settings) -> "Approach":
        """The approach that the settings name."""
        name = str(settings["approach"])
        if name in ("ours", "expert"):
            names = ("sharpness", "share", "continuation", "min_answers")
            return cls(Exploration(**{key: float(settings[key]) for key in names}))
        if name in ("greedy", "informed"):
            return cls(is_informed=name == "informed")
        if name == "oracle":
            return cls(learns=False, is_oracle=True)
        if name.startswith("all-"):
            return cls(n_complete=int(name.removeprefix("all-")), learns=False)
        raise ExperimentError(f"there is no approach {name!r}.")

    def strategy(self, n_respondents: int, seed: int) -> Strategy:
        """The strategy for the next respondent after this many."""
        if n_respondents < self.n_complete:
            return Explore(Information(), share=0.0, continuation=1.0)
        if self.exploration is None:
            return Information()
        explore = self.exploration.wrap(Information())
        return replace(explore, seed=1_000 * seed + n_respondents)

    def fits_after(self, n_respondents: int) -> bool:
        """Whether a model is fitted after this many respondents."""
        return self.learns or n_respondents == self.n_complete > 0


@dataclass
class Deployment:
    """One simulated deployment: its rows, its settings and the answers so far."""

    stream: pd.DataFrame
    test: pd.DataFrame
    full: pd.DataFrame
    schema: eddi.Schema
    target: str
    settings: Settings
    answers: list[pd.DataFrame] = field(default_factory=list)

    @classmethod
    def from_settings(cls, settings: Settings) -> "Deployment":
        """The rows of a dataset, split by the seed: test rows, and respondents in order."""
        name, seed = str(settings["dataset"]), int(settings["seed"])
        table = problems.read_table(name)
        target = str(table.columns[-1])
        table = table[table[target].notna()].sample(frac=1, random_state=seed, ignore_index=True)
        n_test = min(int(settings["n_test"]), int(MAX_TEST_SHARE * len(table)))
        test, full = table.iloc[:n_test], table.iloc[n_test:]
        full = full.head(int(settings["max_train"]))
        stream = full.head(int(settings["n_respondents"]))
        schema = with_ranges(problems.make_schema(name, table), table)
        if settings["approach"] == "expert":
            schema = EXPERT_BELIEFS[name].add_to(schema)
        return cls(stream, test, full, schema, target, settings)

    def fit(self, table: pd.DataFrame | None) -> eddi.PartialVAE:
        """A model of a table, next to the beliefs; of beliefs alone if there is none."""
        return eddi.PartialVAE(
            self.schema,
            self.target,
            prior_rows=int(self.settings["prior_rows"]),
            max_steps=count_steps(self.settings["steps"], 0 if table is None else len(table)),
            random_state=int(self.settings["seed"]),
            device="cpu",
        ).fit(table)

    def interview(
        self,
        model: eddi.PartialVAE,
        rows: pd.DataFrame,
        strategy: Strategy,
        *,
        chooser: eddi.PartialVAE | None = None,
    ) -> tuple[NDArray[np.bool_], Numbers]:
        """Interview rows; return what was answered [rows, variables], and the errors at the end [rows].

        The questions are chosen by another model, the ``chooser``, if there is one.
        """
        fitted, choosing = model.fitted(), (chooser or model).fitted()
        stop = eddi.Stop(after=int(self.settings["n_questions"]))
        rules = resolve_rules(choosing, (self.target,), strategy=strategy, stop=stop)
        interviews = SimulatedInterviews(rules, choosing.evidence(rows))
        *_, last = interviews.run(interviews.n_steps(None))
        truth = fitted.evidence(rows)
        answered = truth.hide(~last.evidence.observed)
        prediction = fitted.predict_evidence(answered, (self.target,))[self.target]
        place = self.schema.position(self.target)
        true = fitted.coding.decode(truth.values)[:, place]
        return last.evidence.observed, squared_errors(prediction, true)


def count_steps(steps: Sequence[Sequence[int]], n_rows: int) -> int:
    """The number of training steps for a table: of the last entry (rows, steps) with at most its rows."""
    return next(n_steps for least, n_steps in reversed(steps) if n_rows >= least)


def squared_errors(prediction: eddi.Prediction, truth: Numbers) -> Numbers:
    """The squared error of the mean or, with levels, the Brier score [rows]."""
    if prediction.probabilities is None:
        return np.asarray(np.square(prediction.mean - truth))
    n_levels = prediction.probabilities.shape[-1]
    is_true = np.arange(n_levels) == np.rint(truth)[:, None]
    return np.asarray(np.square(prediction.probabilities - is_true).sum(-1))


def with_ranges(schema: eddi.Schema, table: pd.DataFrame) -> eddi.Schema:
    """The schema with the range of each quantity, as an expert states it."""
    for variable in schema.variables:
        if not variable.kind.has_levels and variable.name in table:
            values = pd.to_numeric(table[variable.name], errors="coerce")
            low, high = float(values.min()), float(values.max())
            schema = schema.with_variable(replace(variable, low=low, high=high))
    return schema


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Simulate one deployment."""
    deployment = Deployment.from_settings(settings)
    steps = list(simulate(deployment, Approach.from_settings(settings)))
    unit = float(np.var(deployment.full[deployment.target])) if _is_quantity(deployment) else 1.0
    measurements: Measurements = to_json_values(
        {
            "n_questions": len(deployment.schema.questions) - 1,
            "n_rows": {"full": len(deployment.full), "test": len(deployment.test)},
            "unit": unit,
            "checkpoints": [checkpoint for checkpoint, _, _ in steps],
            "costs": np.concatenate([costs for _, costs, _ in steps]),
            "errors": np.concatenate([errors for _, _, errors in steps]) / unit,
        }
    )
    for checkpoint in measurements["checkpoints"]:
        checkpoint["error"] /= unit
    return measurements


def simulate(
    deployment: Deployment, approach: Approach
) -> Iterator[tuple[dict[str, Any], Numbers, Numbers]]:
    """Every model with its error on the test rows, and the costs and errors of its respondents."""
    model = deployment.fit(deployment.full if approach.is_oracle else None)
    full_model = deployment.fit(deployment.full) if approach.is_informed else None
    moments = [int(n) for n in deployment.settings["moments"]]
    n_respondents, cost = 0, 0.0
    while True:
        _, test_errors = deployment.interview(model, deployment.test, Information())
        checkpoint = {"respondents": n_respondents, "cost": cost, "error": float(test_errors.mean())}
        following = [n for n in (*moments, approach.n_complete) if n > n_respondents]
        stop = min([*following, len(deployment.stream)])
        batch = deployment.stream.iloc[n_respondents:stop]
        if batch.empty:
            yield checkpoint, np.zeros(0), np.zeros(0)
            return
        strategy = approach.strategy(n_respondents, int(deployment.settings["seed"]))
        observed, errors = deployment.interview(model, batch, strategy, chooser=full_model)
        costs = observed.sum(1).astype(np.float64)
        yield checkpoint, costs, errors
        deployment.answers.append(hide_answers(batch, observed, deployment))
        n_respondents, cost = stop, cost + float(costs.sum())
        if approach.fits_after(n_respondents):
            model = deployment.fit(pd.concat(deployment.answers))


def hide_answers(
    rows: pd.DataFrame, observed: NDArray[np.bool_], deployment: Deployment
) -> pd.DataFrame:
    """The rows with the answers that were given, and with the target."""
    names = [name for name in deployment.schema.names if name != deployment.target]
    table = rows[[*names, deployment.target]].copy()
    for name in names:
        is_observed = observed[:, deployment.schema.position(name)]
        table[name] = table[name].where(is_observed)
    return table


def _is_quantity(deployment: Deployment) -> bool:
    return not deployment.schema[deployment.target].kind.has_levels


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The dataset of a run."""
    return (str(settings["dataset"]),) if settings["dataset"] in datasets.DATASETS else ()


EXPERIMENT = Experiment(run, required_datasets, report_sections)
