"""The template data of the comparison of two models, A and B."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.evaluate.comparison import signed_rank
from eddi.service.analyst.models.evaluation import EDDI
from eddi.service.analyst.models.model_viewer import LoadedModel
from eddi.service.analyst.models.trained_model import TrainedModel
from eddi.service.analyst.pages import charts, evaluation_context, model_card
from eddi.service.analyst.pages.charts import Chart, Line
from eddi.service.analyst.pages.evaluation_context import SIGNIFICANCE, format_metric
from eddi.service.analyst.pages.page_context import Context
from eddi.table.schema import Schema

N_NAMES_LISTED = 6

Document = Mapping[str, Any]


@dataclass(frozen=True)
class ComparedFact:
    """A property of both models."""

    name: str
    a: str
    b: str

    @property
    def differs(self) -> bool:
        """Whether the models differ in it."""
        return self.a != self.b


def build_context(
    a: LoadedModel, b: LoadedModel, evaluations: tuple[Document | None, Document | None]
) -> Context:
    """All template data of two models and their evaluations."""
    facts = zip(model_card.summarise(a), model_card.summarise(b), strict=True)
    context: Context = {
        "facts": [ComparedFact(name, of_a, of_b) for (name, of_a), (_, of_b) in facts],
        "changes": list(describe_changes(a.model.schema, b.model.schema)),
        "are_both_evaluated": False,
        "charts": [],
        "areas": [],
        "verdict": "",
    }
    first, second = evaluations
    if first is None or second is None:
        return context
    return context | {
        "are_both_evaluated": True,
        "charts": _charts(first, second),
        "areas": _areas(first, second),
        "verdict": _verdict(a.origin, b.origin, first, second),
    }


def describe_changes(a: Schema, b: Schema) -> Iterator[str]:
    """The differences between two schemas, in sentences."""
    only_a = [name for name in a.names if name not in b.names]
    only_b = [name for name in b.names if name not in a.names]
    if only_a:
        yield f"Only in A: {_list_names(only_a)}."
    if only_b:
        yield f"Only in B: {_list_names(only_b)}."
    for name in (name for name in a.names if name in b.names):
        values_a, values_b = (model_card.describe_values(schema[name]) for schema in (a, b))
        if a[name].kind != b[name].kind:
            yield f"{name} is {a[name].kind} in A and {b[name].kind} in B."
        elif values_a != values_b:
            yield f"Values of {name}: {values_a} in A, {values_b} in B."
    yield from _describe_question_changes(a, b)


def _describe_question_changes(a: Schema, b: Schema) -> Iterator[str]:
    questions_b = {question.name: question for question in b.questions}
    for in_a in (question for question in a.questions if question.name in questions_b):
        name, in_b = in_a.name, questions_b[in_a.name]
        if in_a.text != in_b.text:
            yield f"{name} is asked as “{in_a.text}” in A and as “{in_b.text}” in B."
        if in_a.cost != in_b.cost:
            yield f"{name} costs {in_a.cost:g} in A and {in_b.cost:g} in B."
        if set(in_a.reveals) != set(in_b.reveals):
            yield f"{name} reveals {_list_names(in_a.reveals)} in A and {_list_names(in_b.reveals)} in B."
        if in_a.always != in_b.always:
            yield f"{name} is always asked in {'A' if in_a.always else 'B'} only."
        if in_a.requires != in_b.requires:
            yield f"{name} is asked under different conditions."


def _charts(a: Document, b: Document) -> list[Chart]:
    """EDDI's information curves for both models, one chart per common metric."""
    if a["target"] != b["target"] or a["unit"] != b["unit"]:
        return []
    return [
        charts.line_chart(
            [_line("A", "a", a, metric), _line("B", "b", b, metric)],
            x_title="questions asked",
            y_title=evaluation_context.metric_name(a, metric),
            description=f"{evaluation_context.METRICS[metric]} of both models by questions asked.",
        )
        for metric in _common_metrics(a, b)
    ]


def _line(name: str, style: str, document: Document, metric: str) -> Line:
    band = evaluation_context.get_curves(document, metric)[EDDI]
    steps = range(document["n_steps"] + 1)
    return Line(name, style, steps, band["value"], band["low"], band["high"])


def _areas(a: Document, b: Document) -> list[ComparedFact]:
    """The area under EDDI's curve for each common metric, and the number of rows."""
    areas = [
        ComparedFact(
            f"Area: {evaluation_context.metric_name(a, metric)}",
            _format_area(a, metric),
            _format_area(b, metric),
        )
        for metric in _common_metrics(a, b)
    ]
    return [*areas, ComparedFact("Rows evaluated", f"{a['n_rows']:,}", f"{b['n_rows']:,}")]


def _common_metrics(a: Document, b: Document) -> list[str]:
    return [metric for metric in a["metrics"] if metric in b["metrics"]]


def _format_area(document: Document, metric: str) -> str:
    area = next(item for item in document["standings"][metric] if item["name"] == EDDI)["auic"]
    area = evaluation_context.convert_unit(metric, area)
    value, low, high = (format_metric(metric, area[end]) for end in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _verdict(a: TrainedModel, b: TrainedModel, first: Document, second: Document) -> str:
    """Which model is better, by a paired test if both were evaluated on the same rows."""
    if first["target"] != second["target"]:
        return "The models have different targets and cannot be ranked."
    if a.table != b.table or a.held_out != b.held_out:
        return (
            "The models were evaluated on different rows, so a difference between their curves may come "
            "from the rows. To compare them row by row, train both on one table with the same seed."
        )
    metric = first["metrics"][0]
    areas_a, areas_b = (
        np.array(document["row_areas"][metric], dtype=np.float64) for document in (first, second)
    )
    differences = (areas_b - areas_a)[~np.isnan(areas_a + areas_b)]
    share_b = float((differences < 0).mean())
    p_value = signed_rank(differences)
    test = f"({evaluation_context.format_p_value(p_value)}, paired over {len(differences):,} rows)"
    if p_value >= SIGNIFICANCE:
        return f"No clear difference: B is better on {share_b:.0%} of the same rows {test}."
    better = "B" if share_b > 0.5 else "A"
    share = max(share_b, 1 - share_b)
    return f"{better} is better: it is better on {share:.0%} of the same rows {test}."


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - N_NAMES_LISTED
    return ", ".join(names[:N_NAMES_LISTED]) + (f" and {more} more" if more > 0 else "")
