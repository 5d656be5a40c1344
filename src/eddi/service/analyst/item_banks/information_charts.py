"""Information of items by score, as charts and tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.item_tests.item_information import item_information, trait_precision
from eddi.model.item_bank import ItemBank
from eddi.service.analyst.pages.charts import HEIGHT, WIDTH, Chart, DrawnLine, Tick, make_axes
from eddi.service.web import svg
from eddi.service.web.languages.current import current_language, gettext, localize

N_POINTS = 61  # of a curve
N_SCORES = 7  # in the table of precision
MAX_TRAITS = 12
MAX_ITEMS = 200  # in a table and a chart, the most informative ones

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class TraitSummary:
    """How precisely the items measure one trait.

    Args:
        name: of the trait.
        n_items: number of its items.
        chart: the information of each item by score.
        precision: score, standard error and reliability if all items are asked, as text.
        items: name, wording, highest information, and the score at which it is highest, as text.
    """

    name: str
    n_items: int
    chart: Chart
    precision: list[tuple[str, str, str]]
    items: list[tuple[str, str, str, str]]


def summarize_traits(bank: ItemBank) -> list[TraitSummary]:
    """Return the precision of each trait."""
    return [_summarize(bank, trait.name) for trait in bank.traits[:MAX_TRAITS]]


def _summarize(bank: ItemBank, trait: str) -> TraitSummary:
    scores, information = item_information(bank, trait, n_points=N_POINTS)
    own = [place for place, item in enumerate(bank.items) if item.trait == trait]
    own.sort(key=lambda place: -float(information[place].max()))
    shown = own[:MAX_ITEMS]
    texts = {question.name: question.text for question in bank.schema.questions}
    items = [
        (
            bank.items[place].name,
            texts.get(bank.items[place].name, ""),
            _format(float(information[place].max())),
            _format(float(scores[information[place].argmax()])),
        )
        for place in shown
    ]
    return TraitSummary(
        trait, len(own), _draw(trait, scores, information[shown]), _precision(bank, trait), items
    )


def _precision(bank: ItemBank, trait: str) -> list[tuple[str, str, str]]:
    scores, _, error, reliability = trait_precision(bank, trait, n_points=N_SCORES)
    return [
        (_format(float(score)), _format(float(width)), localize(f"{share:.2f}"))
        for score, width, share in zip(scores, error, reliability, strict=True)
    ]


def _draw(trait: str, scores: Numbers, information: Numbers) -> Chart:
    language = current_language()
    y_ticks = svg.ticks(0.0, float(information.max(initial=1e-6)))
    axes = make_axes((float(scores[0]), float(scores[-1])), (0.0, y_ticks[-1]))
    x_ticks = [x for x in svg.ticks(*axes.x.domain) if axes.x.domain[0] <= x <= axes.x.domain[1]]
    lines = [
        DrawnLine("", "training", svg.format_points(axes.points(scores, curve)), "", ())
        for curve in information
    ]
    return Chart(
        WIDTH,
        HEIGHT,
        tuple(lines),
        tuple(Tick(axes.x(value), svg.format_tick(value, language)) for value in x_ticks),
        tuple(Tick(axes.y(value), svg.format_tick(value, language)) for value in y_ticks),
        trait,
        gettext("information"),
        gettext(
            "Information of each item about %(trait)s, from a score of %(low)s to %(high)s. The highest "
            "information is %(information)s.",
            trait=trait,
            low=_format(float(scores[0])),
            high=_format(float(scores[-1])),
            information=_format(float(information.max(initial=0.0))),
        ),
    )


def _format(number: float) -> str:
    return localize(f"{number:.3g}")
