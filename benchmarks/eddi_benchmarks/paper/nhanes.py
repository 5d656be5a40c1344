"""Public health from a questionnaire (section 4.4 of the paper): groups of questions, 139 targets.

All laboratory results form one high-dimensional target. A step asks a group of questions, and groups
differ in size, so areas are taken over the number of questions instead of steps.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from scipy.interpolate import PchipInterpolator

from eddi import PartialVAE
from eddi.errors import TargetError
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.recipe import PAPER
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data import nhanes as nhanes_data
from eddi_benchmarks.data.nhanes import Survey
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, RunResult, Settings, to_json_values
from eddi_benchmarks.paper import authors_code, health
from eddi_benchmarks.paper.comparison_tables import rank_table, reference_test_table
from eddi_benchmarks.paper.curve_figures import plot_by_encoder
from eddi_benchmarks.report.content import Section
from eddi_benchmarks.report.statistics import Numbers

DATASET = "nhanes_2015_2016"
RECIPE = replace(PAPER, latent=20, identity=100, term=20, hidden=(100, 50))
METRICS = ("rmse", "draw_rmse", "nll")
SQUARED_METRICS = ("rmse", "draw_rmse")  # kept as squares until they are averaged
N_POINTS = 41  # of a curve against the number of questions
PAPER_RANKS = health.paper_table(  # table 5 of the paper: EDDI, Random, Single best
    {
        "zi": (6.00, 8.45, 6.51),
        "zi-m": (8.06, 8.67, 8.68),
        "pn": (5.28, 5.57, 5.46),
        "pnp": (4.80, 5.30, 5.17),
    }
)


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Train one model on the survey, and interview respondents it has not seen."""
    return run_on_survey(nhanes_data.read_survey(datasets.verify(DATASET)), settings)


def run_on_survey(survey: Survey, settings: Settings) -> Measurements:
    """Run on any survey."""
    train, test = split(survey, settings)
    start = time.perf_counter()
    model = fit(survey, train, settings)
    seconds = {"fit": time.perf_counter() - start}
    strategies = health.HealthStrategies.learn(model, test, model.target_, settings=settings)
    truth = model.evidence(test)
    measured = {}
    for name, strategy in strategies.by_name.items():
        start = time.perf_counter()
        losses = interview_losses(model, truth, strategy, n_draws=int(settings["loss_draws"]))
        measured[name] = losses.to_measurements()
        seconds[name] = time.perf_counter() - start
    seconds["sing"] += strategies.order_seconds
    groups = model.schema_.explicit_questions
    return {
        "n_rows": {"train": train.num_rows, "test": test.num_rows},
        "n_variables": {
            "asked": sum(len(group.reveals) for group in groups),
            "groups": len(groups),
            "labs": len(model.target_),
        },
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "strategies": measured,
    }


def split(survey: Survey, settings: Settings) -> tuple[pa.Table, pa.Table]:
    """Random training and test respondents; those in the test have at least one lab result."""
    n_train, n_test = int(settings["n_train"]), int(settings["n_test"])
    order = np.random.default_rng(int(settings["seed"])).permutation(survey.table.num_rows)
    has_result = [survey.table[name].is_valid().to_numpy() for name in survey.labs]
    has_any_result = np.any(has_result, axis=0)[order]
    test = order[has_any_result][:n_test]
    train = order[~np.isin(order, test)][:n_train]
    return survey.table.take(train), survey.table.take(test)


def fit(survey: Survey, train: pa.Table, settings: Settings) -> PartialVAE:
    """Fit the paper's Partial VAE for NHANES, without variables that no training row has."""
    empty = [name for name in train.column_names if train[name].null_count == train.num_rows]
    schema = survey.schema.without(*empty, reason="not observed in any training row")
    model = PartialVAE(
        schema,
        schema.targets,
        recipe=authors_code.apply_term(replace(RECIPE, max_steps=int(settings["max_steps"])), settings),
        set_encoder=str(settings["set_encoder"]),
        random_state=int(settings["seed"]),
        device=str(settings.get("device", "auto")),
    )
    return model.fit(train)


@dataclass(frozen=True)
class InterviewLosses:
    """The loss of predicting all targets, by row and step.

    Errors are in coded units, in which every variable ranges from 0 to 1, and averaged over the observed
    targets of a row. The metrics in `SQUARED_METRICS` are squared errors.
    """

    n_asked: Numbers  # [rows, steps + 1] questions asked so far: the total size of the groups
    losses: dict[str, Numbers]  # by metric [rows, steps + 1]
    n_targets: Numbers  # [rows] observed targets
    n_groups: int
    n_questions: int

    def to_measurements(self) -> Measurements:
        """Curves by the number of groups and of questions, and the area of each row."""
        steps = np.minimum(np.arange(self.n_groups + 1), self.n_asked.shape[1] - 1)
        points = np.linspace(0, self.n_questions, N_POINTS)
        by_group = {name: self._mean(name, loss[:, steps]) for name, loss in self.losses.items()}
        by_size = {
            name: self._mean(name, self._interpolate(loss, points)) for name, loss in self.losses.items()
        }
        measurements: Measurements = to_json_values(
            {
                "n_asked": (np.diff(self.n_asked, axis=1) > 0).sum(1).mean(),
                "curves": by_group,
                "by_size": {"at": points, **by_size},
                "auic": {name: self._areas(name) for name in METRICS},
            }
        )
        return measurements

    def _mean(self, metric: str, losses: Numbers) -> Numbers:
        """The mean over rows, with the same weight for every laboratory result."""
        mean = np.average(losses, axis=0, weights=self.n_targets)
        return np.sqrt(np.maximum(mean, 0)) if metric in SQUARED_METRICS else mean

    def _areas(self, metric: str) -> Numbers:
        losses = self.losses[metric]
        losses = np.sqrt(losses) if metric in SQUARED_METRICS else losses
        return np.array([mean_loss(n, loss) for n, loss in zip(self.n_asked, losses, strict=True)])

    def _interpolate(self, losses: Numbers, points: Numbers) -> Numbers:
        """The loss of each row after these numbers of questions [rows, points]."""
        return np.array(
            [
                loss_spline(n, loss)(np.minimum(points, n[-1]))
                for n, loss in zip(self.n_asked, losses, strict=True)
            ]
        )


def loss_spline(n_asked: Numbers, losses: Numbers) -> PchipInterpolator:
    """A smooth curve through the losses of a row against the number of questions.

    The paper only says "spline". Groups have from 1 to more than 70 questions, and an ordinary cubic
    spline overshoots far between points at such distances; this one (Fritsch & Carlson 1980) never does.
    """
    points, first = np.unique(n_asked, return_index=True)  # an ended interview repeats its last point
    if len(points) == 1:  # nothing could be asked
        points, first = np.array([points[0], points[0] + 1.0]), first.repeat(2)
    return PchipInterpolator(points, losses[first])


def mean_loss(n_asked: Numbers, losses: Numbers) -> float:
    """The mean height of a row's curve, with the same weight for every question."""
    end = max(float(n_asked[-1]), 1.0)
    return float(loss_spline(n_asked, losses).integrate(0.0, end)) / end


def interview_losses(
    model: PartialVAE, truth: Evidence, strategy: Strategy, *, n_draws: int
) -> InterviewLosses:
    """Interview every row with one strategy until nothing is left to ask.

    Raises:
        TargetError: a row has no laboratory result.
    """
    observed_targets = truth.observed[:, model.schema_.positions(model.target_)]
    if not observed_targets.any(1).all():
        raise TargetError("a row without a laboratory result cannot be evaluated. Leave it out.")
    sizes = np.array([len(question.reveals) for question in model.schema_.questions])
    n_asked, losses = [np.zeros(len(truth))], []
    rules = InterviewRules(model.fitted(), model.target_, strategy, Stop())
    interviews = SimulatedInterviews(rules, truth)
    for step in interviews.run(interviews.n_steps(None)):
        losses.append(target_losses(model, step.evidence, truth, n_draws=n_draws))
        # Index -1, no question, selects the appended size 0.
        n_asked.append(n_asked[-1] + np.append(sizes, 0)[step.chosen])
    groups = model.schema_.explicit_questions
    return InterviewLosses(
        n_asked=np.stack(n_asked[:-1], axis=1),
        losses={name: np.stack([loss[name] for loss in losses], axis=1) for name in METRICS},
        n_targets=observed_targets.sum(1).astype(np.float64),
        n_groups=len(groups),
        n_questions=sum(len(group.reveals) for group in groups),
    )


@torch.no_grad()
def target_losses(
    model: PartialVAE, observed: Evidence, truth: Evidence, *, n_draws: int
) -> dict[str, Numbers]:
    """The losses of each row given ``observed``, averaged over its observed targets [rows]."""
    targets = model.schema_.positions(model.target_)
    shift, scale = model.coding_.shift[targets], model.coding_.scale[targets]
    batches: list[dict[str, Numbers]] = []
    start = 0
    for chunk in model.fitted().predictive_distributions(observed, n_draws=n_draws):
        rows = slice(start, start := start + chunk.n_rows)
        true_values, weights = truth.values[rows][:, targets], truth.observed[rows][:, targets]
        means = chunk.heads.moments(chunk.outputs)[0].double().cpu().numpy()[..., targets]
        errors = (means - shift) / scale - true_values  # [draws, rows, targets]
        values = torch.from_numpy(truth.values[rows]).to(chunk.outputs.device)
        log_prob = chunk.log_prob(values).double().cpu().numpy()[:, targets]
        losses = (np.square(errors.mean(0)), np.square(errors).mean(0), -log_prob)
        batches.append(
            {
                name: np.average(loss, axis=1, weights=weights)
                for name, loss in zip(METRICS, losses, strict=True)
            }
        )
    return {name: np.concatenate([batch[name] for batch in batches]) for name in METRICS}


def required_datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """The survey."""
    return (DATASET,)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Ranks next to the paper's, tests, and curves against the number of questions."""
    if not results:
        return []
    title = "Average rank of AUIC (error of all laboratory results)"
    tables = (
        rank_table(results, "draw_rmse", paper=PAPER_RANKS, title=f"{title}, posterior draws"),
        rank_table(results, "rmse", paper=PAPER_RANKS, title=f"{title}, mean prediction"),
        reference_test_table(results, "draw_rmse", title="Is the difference significant?"),
    )
    figures = tuple(
        plot_by_encoder(with_curves_by_question(results), metric, folder / f"nhanes-{metric}.png")
        for metric in ("draw_rmse", "nll")
    )
    paragraphs = (
        *_describe_runs(results),
        health.conclusion(results, "draw_rmse", PAPER_RANKS),
        health.describe_seconds(results),
    )
    title = "Public health from a questionnaire: NHANES 2015-2016"
    return [Section(title, paragraphs, tables, figures)]


def with_curves_by_question(results: Sequence[RunResult]) -> list[RunResult]:
    """The results with curves against the number of questions instead of groups."""
    n_questions = min(result.measurements["n_variables"]["asked"] for result in results)
    points = np.arange(n_questions + 1)

    def by_question(measurements: Measurements) -> Measurements:
        by_size = measurements["by_size"]
        curves = {name: np.interp(points, by_size["at"], by_size[name]).tolist() for name in METRICS}
        return {**measurements, "curves": curves}

    def convert(result: RunResult) -> RunResult:
        strategies = {
            name: by_question(measurements)
            for name, measurements in result.measurements["strategies"].items()
        }
        return replace(result, measurements={**result.measurements, "strategies": strategies})

    return [convert(result) for result in results]


def _describe_runs(results: Sequence[RunResult]) -> tuple[str, ...]:
    n_rows, n_variables = (results[0].measurements[key] for key in ("n_rows", "n_variables"))
    return (
        f"{n_variables['asked']} questionnaire variables in {n_variables['groups']} groups, "
        f"{n_variables['labs']} laboratory results as one target; {n_rows['train']:,} respondents for "
        f"training and {n_rows['test']:,} for testing, drawn again in each repetition. The paper "
        "reports 665 variables, 73 groups and 139 results without listing them. We use the tables "
        "published by spring 2018 without a survey weight, two columns of cigarette brands and a "
        "duplicate column: 665 and 139, of which those that no training row has are left out. A group "
        "is what one file asks of the same people. `Refused` and `don't know` are missing "
        "values, and so are questions that a respondent was not asked. A group is not asked of a "
        "respondent who has no answer to it.",
        "A step asks a whole group, so areas are taken over the number of questions (the size of the "
        "groups), along a spline through each respondent's steps that does not overshoot. The error is "
        "over all laboratory results observed for a respondent, each scaled to [0, 1] by the training "
        "rows.",
        *authors_code.describe_changes(results[0].settings),
    )


EXPERIMENT = Experiment(run, required_datasets, report_sections)
