"""Public health from a questionnaire (the paper's section 4.4): groups of questions, 139 targets.

All laboratory results are one high-dimensional target. A step asks a whole group of questions, and
groups differ in size, so an area is taken over the questions put, not over the steps.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from eddi.errors import TargetError
from eddi.interview.rules import Turns
from eddi.interview.simulated import Rehearsal
from eddi.model.partial_vae import PartialVAE
from eddi.model.recipe import PAPER
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence
from eddi_benchmarks.data import datasets as tables
from eddi_benchmarks.data import nhanes as nhanes_data
from eddi_benchmarks.data.nhanes import Survey
from eddi_benchmarks.harness.experiment import Experiment, Figures, Outcome, Settings
from eddi_benchmarks.paper import authors_code as published
from eddi_benchmarks.paper import comparison as combination
from eddi_benchmarks.paper import health as contest
from eddi_benchmarks.report.content import Section

DATASET = "nhanes_2015_2016"
Numbers = NDArray[np.float64]
RECIPE = replace(PAPER, latent=20, identity=100, term=20, hidden=(100, 50))
METRICS = ("rmse", "draw_rmse", "nll")
ROOTED = ("rmse", "draw_rmse")  # kept as squares until they are averaged
N_POINTS = 41  # of a curve against questions put
THEIRS = contest.theirs(  # the paper's table 5: EDDI, Random, Single best
    {
        "zi": (6.00, 8.45, 6.51),
        "zi-m": (8.06, 8.67, 8.68),
        "pn": (5.28, 5.57, 5.46),
        "pnp": (4.80, 5.30, 5.17),
    }
)


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # keeps no files
    """Train one model on the survey, and put the questionnaire to people it has not seen."""
    return play_survey(nhanes_data.read_survey(tables.verified(DATASET)), settings)


def play_survey(survey: Survey, settings: Settings) -> Figures:
    """The same for any survey."""
    train, test = split(survey, settings)
    began = time.perf_counter()
    model = fit(survey, train, settings)
    fitted = time.perf_counter() - began
    labs = model.target_
    contestants = contest.Contestants.of(model, test, labs, settings)
    seconds, told = {"fit": fitted}, {}
    truth = model.evidence(test)
    for name, strategy in contestants.strategies.items():
        began = time.perf_counter()
        told[name] = followed(model, truth, strategy, int(settings["loss_draws"])).told()
        seconds[name] = time.perf_counter() - began
    seconds["sing"] += contestants.seconds_to_learn
    n_asked = sum(len(question.reveals) for question in model.schema_.explicit_questions)
    return {
        "n_rows": {"train": train.num_rows, "test": test.num_rows},
        "n_variables": {
            "asked": n_asked,
            "groups": len(model.schema_.explicit_questions),
            "labs": len(labs),
        },
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "strategies": told,
    }


def split(survey: Survey, settings: Settings) -> tuple[pa.Table, pa.Table]:
    """People to train on and people to ask, drawn by the seed; who is asked has some lab result."""
    n_train, n_test = int(settings["n_train"]), int(settings["n_test"])
    order = np.random.default_rng(int(settings["seed"])).permutation(survey.table.num_rows)
    valid = [survey.table[name].is_valid().to_numpy() for name in survey.labs]
    tested = np.any(valid, axis=0)[order]
    test = order[tested][:n_test]
    train = order[~np.isin(order, test)][:n_train]
    return survey.table.take(train), survey.table.take(test)


def fit(survey: Survey, train: pa.Table, settings: Settings) -> PartialVAE:
    """The paper's Partial VAE for NHANES, without what no training row knows."""
    never = [name for name in train.column_names if train[name].null_count == train.num_rows]
    schema = survey.schema.without(*never, reason="known of no training row")
    model = PartialVAE(
        schema,
        schema.targets,
        recipe=published.with_term(replace(RECIPE, max_steps=int(settings["max_steps"])), settings),
        set_encoder=str(settings["set_encoder"]),
        random_state=int(settings["seed"]),
        device=str(settings.get("device", "auto")),
    )
    return model.fit(train)


@dataclass(frozen=True)
class Followed:
    """How the belief about all targets fared, row by row, as groups of questions were put.

    Errors are in coded units, in which every variable reaches from 0 to 1, averaged over the targets
    that are known of the row; the first two metrics are squared errors.
    """

    put: Numbers  # [rows, steps + 1] questions put so far: the sizes of the groups asked
    losses: dict[str, Numbers]  # by metric [rows, steps + 1]
    weights: Numbers  # [rows] how many targets are known
    n_groups: int
    n_questions: int

    def told(self) -> Figures:
        """Curves by groups asked and by questions put, and each row's area, as plain JSON."""
        steps = np.minimum(np.arange(self.n_groups + 1), self.put.shape[1] - 1)
        at = np.linspace(0, self.n_questions, N_POINTS)
        return {
            "n_asked": combination.plain((np.diff(self.put, axis=1) > 0).sum(1).mean()),
            "curves": {
                name: combination.plain(self._mean(name, each[:, steps])) for name, each in self._all
            },
            "by_size": {
                "at": combination.plain(at),
                **{
                    name: combination.plain(self._mean(name, self._splined(each, at)))
                    for name, each in self._all
                },
            },
            "auic": {name: combination.plain(self._areas(name)) for name in METRICS},
        }

    @cached_property
    def _all(self) -> list[tuple[str, Numbers]]:
        return list(self.losses.items())

    def _mean(self, metric: str, losses: Numbers) -> Numbers:
        """Over rows, every known laboratory value counting alike."""
        mean = np.average(losses, axis=0, weights=self.weights)
        return np.sqrt(np.maximum(mean, 0)) if metric in ROOTED else mean

    def _areas(self, metric: str) -> Numbers:
        losses = np.sqrt(self.losses[metric]) if metric in ROOTED else self.losses[metric]
        return np.array([area(put, loss) for put, loss in zip(self.put, losses, strict=True)])

    def _splined(self, losses: Numbers, at: Numbers) -> Numbers:
        """What each row's spline says after so many questions; its last value beyond its end."""
        curves = [spline(put, loss) for put, loss in zip(self.put, losses, strict=True)]
        return np.array(
            [curve(np.minimum(at, end)) for curve, end in zip(curves, self.put[:, -1], strict=True)]
        )


def spline(put: Numbers, losses: Numbers) -> PchipInterpolator:
    """A smooth curve through a row's losses against questions put.

    The paper says no more than "spline". Groups have from 1 to over 70 questions, and through points so
    uneven a common cubic spline swings far beyond them; this one (Fritsch & Carlson 1980) never does.
    """
    points, first = np.unique(put, return_index=True)  # a row that has stopped stays where it is
    if len(points) == 1:  # nothing could be asked
        points, first = np.array([points[0], points[0] + 1.0]), first.repeat(2)
    return PchipInterpolator(points, losses[first])


def area(put: Numbers, losses: Numbers) -> float:
    """The mean height of a row's curve, every question put having the same weight."""
    end = max(float(put[-1]), 1.0)
    return float(spline(put, losses).integrate(0.0, end)) / end


def followed(model: PartialVAE, truth: Evidence, strategy: Strategy, n_draws: int) -> Followed:
    """Put the questionnaire to every row by one strategy until nothing is left to ask."""
    targets = model.schema_.positions(model.target_)
    known = truth.observed[:, targets]
    if not known.any(1).all():
        raise TargetError("a row without any laboratory result cannot be judged. Leave it out.")
    sizes = np.array([len(question.reveals) for question in model.schema_.questions])
    put, losses = [np.zeros(len(truth))], []
    rehearsal = Rehearsal(Turns(model, model.target_, strategy, Stop()), truth)
    for turn in rehearsal.play(rehearsal.n_steps(None)):
        losses.append(measured(model, turn.seen, truth, n_draws))
        put.append(put[-1] + np.append(sizes, 0)[turn.chosen])  # the last, which -1 picks, has no size
    groups = model.schema_.explicit_questions
    return Followed(
        put=np.stack(put[:-1], axis=1),
        losses={name: np.stack([each[name] for each in losses], axis=1) for name in METRICS},
        weights=known.sum(1).astype(np.float64),
        n_groups=len(groups),
        n_questions=sum(len(group.reveals) for group in groups),
    )


@torch.no_grad()
def measured(model: PartialVAE, seen: Evidence, truth: Evidence, n_draws: int) -> dict[str, Numbers]:
    """Each row's losses, the mean over its known targets, from one pass for all of them [rows]."""
    targets = model.schema_.positions(model.target_)
    shift, scale = model.coding_.shift[targets], model.coding_.scale[targets]
    parts: list[dict[str, Numbers]] = []
    start = 0
    for belief in model.beliefs(seen, n_draws):
        rows = slice(start, start := start + belief.outputs.shape[1])
        true, known = truth.values[rows][:, targets], truth.observed[rows][:, targets]
        means = belief.network.moments(belief.outputs)[0].double().cpu().numpy()[..., targets]
        errors = (means - shift) / scale - true  # [draws, rows, targets]
        values = torch.from_numpy(truth.values[rows]).to(belief.outputs.device)
        log_prob = belief.log_prob(values).double().cpu().numpy()[:, targets]
        losses = (np.square(errors.mean(0)), np.square(errors).mean(0), -log_prob)
        parts.append(
            {
                name: np.average(loss, axis=1, weights=known)
                for name, loss in zip(METRICS, losses, strict=True)
            }
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """The one survey."""
    return (DATASET,)


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """The paper's table beside ours, tests, and curves against questions put and groups asked."""
    if not outcomes:
        return []
    title = "Average rank of AUIC (error of all laboratory results)"
    grids = (
        combination.rank_grid(
            outcomes, "draw_rmse", theirs=THEIRS, title=f"{title}, of posterior draws"
        ),
        combination.rank_grid(outcomes, "rmse", theirs=THEIRS, title=f"{title}, of the mean prediction"),
        combination.test_grid(outcomes, "draw_rmse", title="Is the difference more than chance?"),
    )
    pictures = tuple(
        combination.curve_picture(by_size(outcomes), metric, folder / f"nhanes-{metric}.png")
        for metric in ("draw_rmse", "nll")
    )
    words = (
        *_about(outcomes),
        contest.verdict(outcomes, "draw_rmse", THEIRS),
        contest.fit_time(outcomes),
    )
    return [Section("Public health from a questionnaire: NHANES 2015-2016", words, grids, pictures)]


def by_size(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The same outcomes with a point a question put, where others have one a group asked."""
    least = min(each.figures["n_variables"]["asked"] for each in outcomes)
    grid = np.arange(least + 1)

    def curves(told: Figures) -> Figures:
        at = told["by_size"]["at"]
        return {name: np.interp(grid, at, told["by_size"][name]).tolist() for name in METRICS}

    def again(outcome: Outcome) -> Outcome:
        told = outcome.figures["strategies"].items()
        smoothed = {name: {**each, "curves": curves(each)} for name, each in told}
        return replace(outcome, figures={**outcome.figures, "strategies": smoothed})

    return [again(outcome) for outcome in outcomes]


def _about(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    rows, variables = outcomes[0].figures["n_rows"], outcomes[0].figures["n_variables"]
    return (
        f"{variables['asked']} questionnaire variables in {variables['groups']} groups, "
        f"{variables['labs']} laboratory results as one target; {rows['train']:,} people to train on "
        f"and {rows['test']:,} to ask, drawn anew for each repetition. The paper names 665 variables, "
        "73 groups and 139 results and does not say which. Ours are the tables published by spring "
        "2018, less a survey weight, two columns of cigarette brands and a column that stands in two "
        "files: 665 and 139, of which those that no training row knows fall out. A group is what one "
        "file asks of the same people. Refused and don't know are missing values; so is, as everywhere "
        "in NHANES, what a person was never asked, and a group to which a person has no answer is not "
        "put.",
        "People are asked whole groups, so areas are taken over the questions put (the size of the "
        "groups asked), along a spline through each person's steps that does not overshoot. An error is "
        "that of all laboratory results known of a person, each scaled to [0, 1] by the training rows.",
        *published.said(outcomes[0].settings),
    )


EXPERIMENT = Experiment(play, datasets, sections)
