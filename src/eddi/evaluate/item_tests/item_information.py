"""Information curves of items, and precision by score and by test length."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import TargetError
from eddi.evaluate import figures
from eddi.interview.risk_control import resolve_rules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model, ModelSource
from eddi.model.item_bank import ItemBank, Trait
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence

Numbers = NDArray[np.float64]

RANGE = 3.0  # of the curves, in standard deviations of the population
N_POINTS = 121
WIDTH, HEIGHT = 7.0, 3.2  # of a figure, in inches, and of the part of each trait
MAX_NAMED_ITEMS = 12  # in the legend of a figure


@dataclass(frozen=True)
class Precision:
    """How precise predictions of a quantity are after each question.

    Args:
        sd: root mean square of the predicted standard deviation, the standard error [steps].
        reliability: 1 - mean squared standard error / variance before the first question [steps].
    """

    sd: Numbers
    reliability: Numbers


def item_information(bank: ItemBank, trait: str, *, n_points: int = N_POINTS) -> tuple[Numbers, Numbers]:
    """Reported scores [points], and the Fisher information of each item at them [items, points].

    Information is on the scale of the item parameters. It is 0 for items of other traits.
    """
    described = _find_trait(bank, trait)
    theta = described.mean + described.sd * np.linspace(-RANGE, RANGE, n_points)
    information = [item.fisher_information(theta) * float(item.trait == trait) for item in bank.items]
    return described.report_mean + described.report_sd * theta, np.stack(information)


def trait_precision(
    bank: ItemBank, trait: str, *, n_points: int = N_POINTS
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Scores, information, standard error and reliability of the whole item bank [points] each.

    The information of the population distribution is added to that of the items, as for a posterior. The
    standard error has the unit of the score. Reliability is 1 - variance of the error / variance of the
    population.
    """
    described = _find_trait(bank, trait)
    scores, by_item = item_information(bank, trait, n_points=n_points)
    information = by_item.sum(0)
    variance = 1 / (information + described.sd**-2)
    error = described.report_sd * np.sqrt(variance)
    return scores, information, error, 1 - variance / described.sd**2


def precision_by_length(
    model: ModelSource,
    table: Any,
    target: str,
    *,
    strategy: Strategy | None = None,
    max_steps: int | None = None,
) -> Precision:
    """Standard error and reliability of the target after each question, averaged over rows.

    Answers come from the rows, as in `eddi.simulate`; values of the target are not needed.
    """
    fitted: Model = model.fitted()
    truth = fitted.evidence(table, optional=(target,)).hide(fitted.schema.positions((target,)))
    rules = resolve_rules(fitted, (target,), strategy=strategy, stop=Stop())
    interviews = SimulatedInterviews(rules, truth)
    variances = [
        float((_predicted_sd(fitted, step.evidence, target) ** 2).mean())
        for step in interviews.run(interviews.n_steps(max_steps))
    ]
    variance = np.array(variances)
    return Precision(np.sqrt(variance), 1 - variance / variance[0])


def _predicted_sd(model: Model, evidence: Evidence, target: str) -> Numbers:
    return model.predict_evidence(evidence, (target,))[target].sd


def plot_item_information(
    bank: ItemBank, path: str | PathLike[str] | None = None, *, traits: Sequence[str] | None = None
) -> Any:
    """Plot the information of each item, and the standard error of all of them, by score.

    Returns the figure, and writes it to ``path`` if one is given.
    """
    checked_path = None if path is None else figures.check_path(path)
    names = [trait.name for trait in bank.traits] if traits is None else list(traits)
    figure = figures.figure(WIDTH, HEIGHT * len(names))
    panels = figure.subplots(len(names), 1, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        _plot_trait(axes, bank, name)
    if checked_path is not None:
        figures.save(figure, checked_path)
    return figure


def _plot_trait(axes: Any, bank: ItemBank, name: str) -> None:
    scores, by_item = item_information(bank, name)
    own = [item.trait == name for item in bank.items]
    for item, curve in zip(bank.items, by_item, strict=True):
        if item.trait == name:
            axes.plot(scores, curve, lw=1.2, label=figures.label(item.name))
    axes.set(xlabel=figures.label(name), ylabel="information of an item")
    figures.tidy(axes)
    if sum(own) <= MAX_NAMED_ITEMS:
        axes.legend(fontsize=figures.SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.1, 1))
    error = axes.twinx()
    error.plot(scores, trait_precision(bank, name)[2], color=figures.INK, ls="--")
    error.set(ylabel="standard error (dashed)", ylim=(0, None))
    error.spines[["top"]].set_visible(False)


def _find_trait(bank: ItemBank, name: str) -> Trait:
    for trait in bank.traits:
        if trait.name == name:
            return trait
    names = ", ".join(trait.name for trait in bank.traits)
    raise TargetError(f"the item bank has no trait {name!r}. Traits are: {names}.")
