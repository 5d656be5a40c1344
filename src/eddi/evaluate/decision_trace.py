"""The decision process of one row: what each question was worth, and what was believed, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from eddi.errors import EvaluationError, TableError
from eddi.evaluate import figures
from eddi.evaluate.curves import Numbers
from eddi.evaluate.figures import BLUE, FAINT, GREEN, INK, PALE, SMALL, VERMILION
from eddi.evaluate.simulate import the_target
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews, SimulatedStep
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence
from eddi.table.variable import Variable

N_DRAWS = 512  # behind a violin
N_POINTS = 96  # along a violin
NEAREST, FARTHEST = 3.0, 6.0  # standard deviations of the first belief that a panel may show
ROW_HEIGHT, STEP_WIDTH = 0.24, 3.0  # inches


@dataclass(frozen=True)
class Decision:
    """How one question was chosen: what all were worth, and what was believed just before.

    Args:
        rewards: of each question, as the strategy scores it; NaN where it could not be asked.
        chosen: position of the question asked; -1 where the interview had ended.
        draws: of every variable, in standard deviations from the mean of the first belief.
        known: variables whose value had been told.
    """

    rewards: Numbers  # [questions]
    chosen: int
    draws: Numbers  # [draws, variables]
    known: NDArray[np.bool_]  # [variables]


def decisions(
    model: Model,
    row: Any,
    target: str | None = None,
    *,
    strategy: Strategy | None = None,
    n_steps: int = 4,
) -> tuple[list[Decision], Numbers]:
    """The first decisions of an interview with the only row of the table ``row``.

    Also returns the row itself in the draws' units, NaN = not known [variables].
    """
    name = the_target(model, target)
    truth = model.evidence(row, optional=(name,))
    if len(truth) != 1:
        raise TableError(f"a decision process is that of one row, got {len(truth)}. Pick one.")
    rules = InterviewRules(model, (name,), strategy or Information(), Stop())
    interviews = SimulatedInterviews(rules, truth)
    steps = list(interviews.run(interviews.n_steps(n_steps)))
    questions_asked = [step for step in steps if step.chosen[0] >= 0]
    first = _draws(model, Evidence.empty(1, truth.n_variables))
    centre, spread = first.mean(0), np.maximum(first.std(0), 1e-9)
    found = [_decision(model, rules, step, (centre, spread)) for step in questions_asked]
    return found, np.asarray((truth.numbers()[0] - centre) / spread)


def _decision(
    model: Model, rules: InterviewRules, step: SimulatedStep, scale: tuple[Numbers, Numbers]
) -> Decision:
    states = InterviewStates(step.evidence, step.closed, np.zeros(1, dtype=np.int64), np.zeros(1))
    next_steps = NextSteps(rules, states)
    rewards = np.where(next_steps.open[0], next_steps.scores[0], np.nan)
    draws = (_draws(model, step.evidence) - scale[0]) / scale[1]
    return Decision(rewards, int(step.chosen[0]), draws, step.evidence.observed[0])


def _draws(model: Model, seen: Evidence) -> Numbers:
    drawn = model.draw(model.posterior(model.code(seen)), N_DRAWS, seed=0)
    return np.asarray(drawn[:, 0].double().cpu().numpy())  # [draws, variables]


def decision_process(
    model: Model,
    row: Any,
    path: str | PathLike[str],
    *,
    target: str | None = None,
    strategy: Strategy | None = None,
    n_steps: int = 4,
) -> None:
    """Draw the first decisions of an interview with one row, as in the paper's appendix, to ``path``.

    A step is two panels. Bars: what each open question was worth, the one that was asked in another
    colour. Violins: what was believed of all that was not yet known, in standard deviations of the
    belief before the first question; a dot is the truth, and what has been told is a line.

    Args:
        model: what was learned.
        row: a table of one row, which answers for itself.
        path: PNG, SVG or PDF by extension.
        target: what one wants to know; the model's own target where None.
        strategy: who chooses; EDDI where None.
        n_steps: how many decisions to draw.
    """
    where = figures.check_path(path)
    found, truth = decisions(model, row, target, strategy=strategy, n_steps=n_steps)
    if not found:
        raise EvaluationError("nothing could be asked of this row; there is no decision to draw.")
    name = the_target(model, target)
    # Only EDDI's own scores are known to be nats.
    unit = "nats" if isinstance(strategy or Information(), Information) else "score"
    sheet = _Sheet(model, name, truth, found, unit)
    figures.save(sheet.draw(), where)


@dataclass(frozen=True)
class _Sheet:
    model: Model
    target: str
    truth: Numbers  # [variables]
    found: Sequence[Decision]
    unit: str

    @cached_property
    def reach(self) -> float:
        """How far a panel shows to either side: all but the last few draws, and the truth."""
        draws = np.concatenate([each.draws[:, ~each.known] for each in self.found], axis=None)
        farthest = max(float(np.quantile(np.abs(draws), 0.999)), float(np.nanmax(np.abs(self.truth))))
        return float(np.clip(1.05 * farthest, NEAREST, FARTHEST))

    @property
    def shown(self) -> list[int]:
        """Questions that have a row: all that can be asked."""
        questions = self.model.schema.questions
        return [k for k, question in enumerate(questions) if self.target not in question.reveals]

    def draw(self) -> Any:
        n_rows = len(self.shown) + 1  # the target's row is the last, below all others
        figure = figures.figure(1.8 + STEP_WIDTH * len(self.found), 1.3 + ROW_HEIGHT * n_rows)
        panels = figure.subplots(
            1, 2 * len(self.found), sharey=True, squeeze=False, width_ratios=[1, 1.25] * len(self.found)
        )[0]
        best = max(float(np.nanmax(each.rewards, initial=0.0)) for each in self.found)
        for step, decision in enumerate(self.found):
            bars, violins = panels[2 * step], panels[2 * step + 1]
            self._bars(bars, decision, best or 1.0)
            self._violins(violins, decision)
            figures.title(bars, f"Question {step + 1}")
        self._name_rows(panels[0])
        self._legend(figure)
        return figure

    def _name_rows(self, axes: Any) -> None:
        questions = self.model.schema.questions
        names = [figures.label(questions[k].name) for k in self.shown] + [figures.label(self.target)]
        axes.set_yticks(np.arange(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.get_yticklabels()[-1].set(color=GREEN, fontweight="bold")

    def _bars(self, axes: Any, decision: Decision, best: float) -> None:
        figures.tidy(axes, grid="x")
        axes.spines["left"].set_visible(False)
        axes.axvline(0, color=FAINT, lw=0.8)
        axes.axhline(len(self.shown) - 0.5, color=PALE, lw=0.8)
        for place, k in enumerate(self.shown):
            if not np.isnan(decision.rewards[k]):
                colour = VERMILION if k == decision.chosen else BLUE
                axes.barh(place, decision.rewards[k], height=0.72, color=colour)
        lowest = min(float(np.nanmin(each.rewards, initial=0.0)) for each in self.found)
        axes.set_xlim(min(lowest, 0.0) * 1.08, best * 1.08)
        axes.locator_params(axis="x", nbins=3)
        axes.xaxis.set_major_formatter("{x:g}")  # rewards may be small, and zeros take room
        axes.set_xlabel(f"worth ({self.unit})", color=INK, fontsize=SMALL + 0.5)
        axes.tick_params(axis="y", length=0)

    def _violins(self, axes: Any, decision: Decision) -> None:
        figures.tidy(axes, grid="")
        axes.spines["left"].set_visible(False)
        axes.axvline(0, color=PALE, lw=0.8, zorder=0)
        axes.axhline(len(self.shown) - 0.5, color=PALE, lw=0.8)
        schema = self.model.schema
        for place, k in enumerate(self.shown):
            colour = VERMILION if k == decision.chosen else BLUE
            positions = schema.positions(schema.questions[k].reveals)
            for slot, position in enumerate(positions):
                height = 0.84 / len(positions)
                at = place - 0.42 + height * (slot + 0.5)
                self._belief(axes, decision, position, (at, height), colour)
        self._belief(axes, decision, schema.position(self.target), (len(self.shown), 0.84), GREEN)
        axes.set_xlim(-self.reach, self.reach)
        axes.set_xlabel("belief (sd)", color=INK, fontsize=SMALL + 0.5)
        axes.tick_params(axis="y", length=0)

    def _belief(
        self, axes: Any, decision: Decision, position: int, band: tuple[float, float], colour: str
    ) -> None:
        at, height = band
        truth = float(np.clip(self.truth[position], -self.reach, self.reach))
        if decision.known[position]:
            axes.plot([truth, truth], [at - height / 2, at + height / 2], color=FAINT, lw=2)
            return
        variable = self.model.schema.variables[position]
        along, width = _shape(decision.draws[:, position], variable)
        axes.fill_between(
            along, at - width * height / 2, at + width * height / 2, color=colour, alpha=0.45, lw=0
        )
        axes.plot(truth, at, "o", ms=3.2, color=INK, mec="white", mew=0.5)

    def _legend(self, figure: Any) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles = [
            Patch(color=VERMILION, label="asked"),
            Patch(color=BLUE, label="could be asked"),
            Patch(color=GREEN, label="what we want to know"),
            Line2D([], [], color=FAINT, lw=2, label="told"),
            Line2D([], [], color=INK, marker="o", ms=4, lw=0, label="truth"),
        ]
        figure.legend(
            handles=handles, loc="outside upper center", ncols=5, frameon=False, fontsize=SMALL + 1
        )


def _shape(draws: Numbers, variable: Variable) -> tuple[Numbers, Numbers]:
    """The outline of a violin: points along it and its width there, at most 1."""
    if variable.kind.has_levels or np.ptp(draws) < 1e-9:
        return _bars_of_levels(draws)
    along = np.linspace(draws.min(), draws.max(), N_POINTS)
    width = gaussian_kde(draws)(along)
    return along, np.asarray(width / width.max())


def _bars_of_levels(draws: Numbers) -> tuple[Numbers, Numbers]:
    """Levels lie apart, so their violin is a block for each, as wide as the level is likely."""
    values, counts = np.unique(draws, return_counts=True)
    half = 0.42 * (float(np.diff(values).min()) if len(values) > 1 else 0.3)
    half = min(half, 0.15)
    edges = [(v - half, v - half, v + half, v + half) for v in values]
    widths = [(0.0, share, share, 0.0) for share in counts / counts.max()]
    return np.array(edges).ravel(), np.array(widths).ravel()
