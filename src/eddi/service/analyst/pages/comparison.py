"""Two models side by side: how they differ, and which finds out more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.evaluate.comparison import signed_rank
from eddi.service.analyst.evaluation import EDDI
from eddi.service.analyst.model_viewer import Exhibit
from eddi.service.analyst.pages import charts, evaluation_context, model_card
from eddi.service.analyst.pages.charts import Chart, Line
from eddi.service.analyst.trained_model import Made
from eddi.table.schema import Schema

CLEAR = evaluation_context.CLEAR
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """One fact of both, and whether it differs."""

    name: str
    a: str
    b: str
    differs: bool


def facts(a: Exhibit, b: Exhibit, judged: tuple[Document | None, Document | None]) -> dict[str, Any]:
    """All that the page shows of two models and their evaluations."""
    first, second = judged
    both = first is not None and second is not None
    return {
        "rows": [
            _fact(name, one, other)
            for (name, one), (_, other) in zip(model_card.figures(a), model_card.figures(b), strict=True)
        ],
        "changes": list(changes(a.model.schema, b.model.schema)),
        "both_judged": both,
        "charts": _charts(first, second) if first and second else [],
        "areas": _areas(first, second) if first and second else [],
        "verdict": _verdict(a.made, b.made, first, second) if first and second else "",
    }


def changes(a: Schema, b: Schema) -> Iterator[str]:
    """How the second schema differs from the first, in sentences."""
    gone = [name for name in a.names if name not in b.names]
    new = [name for name in b.names if name not in a.names]
    if gone:
        yield f"Only A knows {_listed(gone)}."
    if new:
        yield f"Only B knows {_listed(new)}."
    for name in (name for name in a.names if name in b.names):
        one, other = a[name], b[name]
        if one.kind != other.kind:
            yield f"{name} is {one.kind} in A and {other.kind} in B."
        elif model_card.values(one) != model_card.values(other):
            yield f"{name} may be {model_card.values(one)} in A, and {model_card.values(other)} in B."
    yield from _question_changes(a, b)


def _question_changes(a: Schema, b: Schema) -> Iterator[str]:
    ours = {question.name: question for question in a.questions}
    theirs = {question.name: question for question in b.questions}
    for name in (name for name in ours if name in theirs):
        one, other = ours[name], theirs[name]
        if one.text != other.text:
            yield f"{name} is asked as “{one.text}” in A, and as “{other.text}” in B."
        if one.cost != other.cost:
            yield f"{name} costs {one.cost:g} in A and {other.cost:g} in B."
        if set(one.reveals) != set(other.reveals):
            yield f"{name} tells {_listed(one.reveals)} in A, and {_listed(other.reveals)} in B."
        if one.always != other.always:
            yield f"{name} is always asked in {'A' if one.always else 'B'} only."
        if one.requires != other.requires:
            yield f"{name} is asked under other conditions."


def _charts(a: Document, b: Document) -> list[Chart]:
    """EDDI's information curves of both, for every metric both were judged by."""
    if a["target"] != b["target"] or a["unit"] != b["unit"]:
        return []
    shared = [metric for metric in a["metrics"] if metric in b["metrics"]]
    return [
        charts.curves(
            [_line("A", "a", a, metric), _line("B", "b", b, metric)],
            x_title="questions asked",
            y_title=evaluation_context.metric_name(a, metric),
            words=f"{evaluation_context.METRICS[metric]} of both models by questions asked.",
        )
        for metric in shared
    ]


def _line(name: str, style: str, document: Document, metric: str) -> Line:
    found = document["curves"][metric][EDDI]
    steps = range(document["n_steps"] + 1)
    return Line(name, style, steps, found["value"], found["low"], found["high"])


def _areas(a: Document, b: Document) -> list[Fact]:
    """The areas under EDDI's curves, by metric."""
    found = []
    for metric in (metric for metric in a["metrics"] if metric in b["metrics"]):
        name = f"Area: {evaluation_context.metric_name(a, metric)}"
        found.append(_fact(name, _area(a, metric), _area(b, metric)))
    return [*found, _fact("Rows judged by", f"{a['n_rows']:,}", f"{b['n_rows']:,}")]


def _fact(name: str, a: str, b: str) -> Fact:
    return Fact(name, a, b, a != b)


def _area(document: Document, metric: str) -> str:
    ours = next(one for one in document["standings"][metric] if one["name"] == EDDI)["auic"]
    value, low, high = (evaluation_context.figure(metric, ours[end]) for end in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _verdict(a: Made, b: Made, first: Document, second: Document) -> str:
    """Which of two is better, row by row, where both were judged by the same rows."""
    if first["target"] != second["target"]:
        return "They find out different things, so that neither is better."
    if a.table != b.table or a.held_out != b.held_out:
        return (
            "They were judged by different rows, so that a difference between their curves may be one "
            "between the rows. Train both on one table with the same seed to compare them row by row."
        )
    metric = first["metrics"][0]
    areas = [np.array(each["row_areas"][metric], dtype=np.float64) for each in (first, second)]
    differences = (areas[1] - areas[0])[~np.isnan(areas[0] + areas[1])]
    better = float((differences < 0).mean())
    p_value = signed_rank(differences)
    test = f"({evaluation_context.p_words(p_value)}, paired over {len(differences):,} rows)"
    if p_value >= CLEAR:
        return f"Neither is clearly better: B does better on {better:.0%} of the same rows {test}."
    leader = "B" if better > 0.5 else "A"
    share = max(better, 1 - better)
    return f"{leader} is better: it does better on {share:.0%} of the same rows {test}."


def _listed(names: Any) -> str:
    named = list(names)
    return ", ".join(named[:6]) + (f" and {len(named) - 6} more" if len(named) > 6 else "")
