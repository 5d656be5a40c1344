"""Plot the decisions of an interview with one row, as in the paper's appendix."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from eddi.errors import EvaluationError
from eddi.evaluate import figures
from eddi.evaluate.curves import Numbers
from eddi.evaluate.decision_trace import Decision, trace_decisions
from eddi.evaluate.figures import BLUE, FAINT, GREEN, INK, PALE, SMALL, VERMILION
from eddi.evaluate.simulate import resolve_target
from eddi.model.base import ModelSource
from eddi.reward.units import BITS_PER_NAT
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.schema import Schema
from eddi.table.variable import Variable

N_POINTS = 96  # points of a violin's outline
MIN_X_LIMIT, MAX_X_LIMIT = 3.0, 6.0  # standard deviations shown on either side of a violin panel
ROW_HEIGHT, STEP_WIDTH = 0.24, 3.0  # inches
BAR_HEIGHT, VIOLIN_HEIGHT = 0.72, 0.84  # share of a row
MAX_LEVEL_WIDTH = 0.15  # half the width of a level's block, in standard deviations


def decision_process(
    model: ModelSource,
    row: Any,
    path: str | PathLike[str],
    *,
    target: str | None = None,
    strategy: Strategy | None = None,
    n_steps: int = 4,
) -> None:
    """Plot the first decisions of an interview with one row to ``path``.

    Each step has two panels. Bars show the score of every open question; the question asked has another
    colour. Violins show the predictions of all unobserved variables, in standard deviations of the
    prediction before the first question. A dot is the truth and a line an observed value.

    Args:
        model: a fitted model.
        row: a table with a single row, which answers the questions.
        path: a file name that ends in .png, .svg or .pdf.
        target: the variable to predict; None means the model's own target.
        strategy: chooses the questions; None means EDDI (`Information`).
        n_steps: maximum number of decisions.
    """
    checked_path = figures.check_path(path)
    fitted = model.fitted()
    name = resolve_target(fitted, target)
    decisions, truth = trace_decisions(fitted, row, name, strategy=strategy, n_steps=n_steps)
    if not decisions:
        raise EvaluationError(
            "no question can be asked of this row, so there is no decision to plot. "
            "Select a row with a value other than the target."
        )
    # Only the scores of `Information` are known to be in nats; they are shown in bits.
    is_information = strategy is None or isinstance(strategy, Information)
    score_label = "information (bits)" if is_information else "score"
    if is_information:
        decisions = [
            replace(decision, rewards=decision.rewards * BITS_PER_NAT) for decision in decisions
        ]
    plot = _DecisionPlot(fitted.schema, name, truth, decisions, score_label)
    figures.save(plot.draw(), checked_path)


@dataclass(frozen=True)
class _DecisionPlot:
    schema: Schema
    target: str
    truth: Numbers  # [variables]
    decisions: Sequence[Decision]
    score_label: str

    @cached_property
    def x_limit(self) -> float:
        """Half the range of a violin panel: nearly all draws, and the truth."""
        draws = np.concatenate([d.draws[:, ~d.observed] for d in self.decisions], axis=None)
        largest = max(float(np.quantile(np.abs(draws), 0.999)), float(np.nanmax(np.abs(self.truth))))
        return float(np.clip(1.05 * largest, MIN_X_LIMIT, MAX_X_LIMIT))

    @cached_property
    def score_limits(self) -> tuple[float, float]:
        """The range of all bar panels."""
        highest = max(float(np.nanmax(d.rewards, initial=0.0)) for d in self.decisions)
        lowest = min(float(np.nanmin(d.rewards, initial=0.0)) for d in self.decisions)
        return min(lowest, 0.0) * 1.08, (highest or 1.0) * 1.08

    @cached_property
    def questions(self) -> list[int]:
        """Positions of the questions that have a row: all but those that reveal the target."""
        return [k for k, q in enumerate(self.schema.questions) if self.target not in q.reveals]

    def draw(self) -> Any:
        n_steps, n_rows = len(self.decisions), len(self.questions) + 1  # the target's row is the last
        figure = figures.figure(1.8 + STEP_WIDTH * n_steps, 1.3 + ROW_HEIGHT * n_rows)
        panels = figure.subplots(
            1, 2 * n_steps, sharey=True, squeeze=False, width_ratios=[1, 1.25] * n_steps
        )[0]
        for step, decision in enumerate(self.decisions):
            bars, violins = panels[2 * step], panels[2 * step + 1]
            self._draw_bars(bars, decision)
            self._draw_violins(violins, decision)
            figures.title(bars, f"Question {step + 1}")
        self._label_rows(panels[0])
        self._draw_legend(figure)
        return figure

    def _label_rows(self, axes: Any) -> None:
        names = [self.schema.questions[k].name for k in self.questions] + [self.target]
        axes.set_yticks(np.arange(len(names)), [figures.label(name) for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.get_yticklabels()[-1].set(color=GREEN, fontweight="bold")

    def _draw_bars(self, axes: Any, decision: Decision) -> None:
        figures.tidy(axes, grid="x")
        self._separate_target(axes)
        axes.axvline(0, color=FAINT, lw=0.8)
        for row, k in enumerate(self.questions):
            if not np.isnan(decision.rewards[k]):
                colour = VERMILION if k == decision.chosen else BLUE
                axes.barh(row, decision.rewards[k], height=BAR_HEIGHT, color=colour)
        axes.set_xlim(*self.score_limits)
        axes.locator_params(axis="x", nbins=3)
        axes.xaxis.set_major_formatter("{x:g}")  # short tick labels for small rewards
        axes.set_xlabel(self.score_label, color=INK, fontsize=SMALL + 0.5)

    def _draw_violins(self, axes: Any, decision: Decision) -> None:
        figures.tidy(axes, grid="")
        self._separate_target(axes)
        axes.axvline(0, color=PALE, lw=0.8, zorder=0)
        for row, k in enumerate(self.questions):
            colour = VERMILION if k == decision.chosen else BLUE
            positions = self.schema.positions(self.schema.questions[k].reveals)
            height = VIOLIN_HEIGHT / len(positions)
            for slot, position in enumerate(positions):
                y = row - VIOLIN_HEIGHT / 2 + height * (slot + 0.5)
                self._draw_variable(axes, decision, position, y=y, height=height, colour=colour)
        target, y = self.schema.position(self.target), len(self.questions)
        self._draw_variable(axes, decision, target, y=y, height=VIOLIN_HEIGHT, colour=GREEN)
        axes.set_xlim(-self.x_limit, self.x_limit)
        axes.set_xlabel("prediction (sd)", color=INK, fontsize=SMALL + 0.5)

    def _separate_target(self, axes: Any) -> None:
        axes.spines["left"].set_visible(False)
        axes.axhline(len(self.questions) - 0.5, color=PALE, lw=0.8)
        axes.tick_params(axis="y", length=0)

    def _draw_variable(
        self, axes: Any, decision: Decision, position: int, *, y: float, height: float, colour: str
    ) -> None:
        """Draw an observed value as a line, or a prediction as a violin with the truth as a dot."""
        truth = float(np.clip(self.truth[position], -self.x_limit, self.x_limit))
        if decision.observed[position]:
            axes.plot([truth, truth], [y - height / 2, y + height / 2], color=FAINT, lw=2)
            return
        x, width = _violin_outline(decision.draws[:, position], self.schema.variables[position])
        half = width * height / 2
        axes.fill_between(x, y - half, y + half, color=colour, alpha=0.45, lw=0)
        axes.plot(truth, y, "o", ms=3.2, color=INK, mec="white", mew=0.5)

    def _draw_legend(self, figure: Any) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles = [
            Patch(color=VERMILION, label="asked"),
            Patch(color=BLUE, label="not asked"),
            Patch(color=GREEN, label="target"),
            Line2D([], [], color=FAINT, lw=2, label="observed"),
            Line2D([], [], color=INK, marker="o", ms=4, lw=0, label="truth"),
        ]
        figure.legend(
            handles=handles, loc="outside upper center", ncols=5, frameon=False, fontsize=SMALL + 1
        )


def _violin_outline(draws: Numbers, variable: Variable) -> tuple[Numbers, Numbers]:
    """Points along a violin and its width there, at most 1."""
    if variable.kind.has_levels or np.ptp(draws) < 1e-9:
        return _level_blocks(draws)
    x = np.linspace(draws.min(), draws.max(), N_POINTS)
    density = gaussian_kde(draws)(x)
    return x, np.asarray(density / density.max())


def _level_blocks(draws: Numbers) -> tuple[Numbers, Numbers]:
    """One block per level, as wide as the level is probable."""
    values, counts = np.unique(draws, return_counts=True)
    gap = float(np.diff(values).min()) if len(values) > 1 else 0.3
    half = min(0.42 * gap, MAX_LEVEL_WIDTH)
    corners = [(value - half, value - half, value + half, value + half) for value in values]
    widths = [(0.0, share, share, 0.0) for share in counts / counts.max()]
    return np.array(corners).ravel(), np.array(widths).ravel()
