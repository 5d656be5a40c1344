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
from eddi.service.analyst.pages.page_context import KINDS, Context, count_rows
from eddi.service.web.languages.current import format_integer, format_percent, gettext, localize
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
        yield gettext("Only in A: %(names)s.", names=_list_names(only_a))
    if only_b:
        yield gettext("Only in B: %(names)s.", names=_list_names(only_b))
    for name in (name for name in a.names if name in b.names):
        values_a, values_b = (model_card.describe_values(schema[name]) for schema in (a, b))
        if a[name].kind != b[name].kind:
            kinds = {side: gettext(KINDS[schema[name].kind]) for side, schema in (("a", a), ("b", b))}
            yield gettext("%(name)s is “%(a)s” in A and “%(b)s” in B.", name=name, **kinds)
        elif values_a != values_b:
            yield gettext(
                "Values of %(name)s: %(a)s in A, %(b)s in B.", name=name, a=values_a, b=values_b
            )
    yield from _describe_question_changes(a, b)


def _describe_question_changes(a: Schema, b: Schema) -> Iterator[str]:
    questions_b = {question.name: question for question in b.questions}
    for in_a in (question for question in a.questions if question.name in questions_b):
        name, in_b = in_a.name, questions_b[in_a.name]
        if in_a.text != in_b.text:
            texts = {"a": in_a.text, "b": in_b.text}
            yield gettext("%(name)s is asked as “%(a)s” in A and as “%(b)s” in B.", name=name, **texts)
        if in_a.cost != in_b.cost:
            costs = {"a": localize(f"{in_a.cost:g}"), "b": localize(f"{in_b.cost:g}")}
            yield gettext("%(name)s costs %(a)s in A and %(b)s in B.", name=name, **costs)
        if set(in_a.reveals) != set(in_b.reveals):
            names = {"a": _list_names(in_a.reveals), "b": _list_names(in_b.reveals)}
            yield gettext("%(name)s reveals %(a)s in A and %(b)s in B.", name=name, **names)
        if in_a.always != in_b.always:
            model = "A" if in_a.always else "B"
            yield gettext("%(name)s is always asked in %(model)s only.", name=name, model=model)
        if in_a.requires != in_b.requires:
            yield gettext("%(name)s is asked under different conditions.", name=name)


def _charts(a: Document, b: Document) -> list[Chart]:
    """EDDI's information curves for both models, one chart per common metric."""
    if a["target"] != b["target"] or a["unit"] != b["unit"]:
        return []
    return [
        charts.line_chart(
            [_line("A", "a", a, metric), _line("B", "b", b, metric)],
            x_title=gettext("questions asked"),
            y_title=evaluation_context.metric_name(a, metric),
            description=gettext(
                "%(metric)s of both models by questions asked.",
                metric=gettext(evaluation_context.METRICS[metric]),
            ),
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
            gettext("Area: %(metric)s", metric=evaluation_context.metric_name(a, metric)),
            _format_area(a, metric),
            _format_area(b, metric),
        )
        for metric in _common_metrics(a, b)
    ]
    return [
        *areas,
        ComparedFact(
            gettext("Rows evaluated"), format_integer(a["n_rows"]), format_integer(b["n_rows"])
        ),
    ]


def _common_metrics(a: Document, b: Document) -> list[str]:
    return [metric for metric in a["metrics"] if metric in b["metrics"]]


def _format_area(document: Document, metric: str) -> str:
    area = next(item for item in document["standings"][metric] if item["name"] == EDDI)["auic"]
    area = evaluation_context.convert_unit(metric, area)
    value, low, high = (format_metric(metric, area[end]) for end in ("value", "low", "high"))
    return f"{value} ({gettext('%(low)s to %(high)s', low=low, high=high)})"


def _verdict(a: TrainedModel, b: TrainedModel, first: Document, second: Document) -> str:
    """Which model is better, by a paired test if both were evaluated on the same rows."""
    if first["target"] != second["target"]:
        return gettext("The models have different targets and cannot be ranked.")
    if a.table != b.table or a.held_out != b.held_out:
        return gettext(
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
    facts = {
        "share": format_percent(max(share_b, 1 - share_b)),
        "p_value": evaluation_context.format_p_value(p_value),
        "rows": count_rows(len(differences)),
    }
    if p_value >= SIGNIFICANCE:
        return gettext(
            "No clear difference: B is better on %(share)s of the same rows (%(p_value)s, paired over "
            "%(rows)s).",
            **{**facts, "share": format_percent(share_b)},
        )
    return gettext(
        "%(model)s is better: it is better on %(share)s of the same rows (%(p_value)s, paired over "
        "%(rows)s).",
        model="B" if share_b > 0.5 else "A",
        **facts,
    )


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - N_NAMES_LISTED
    listed = ", ".join(names[:N_NAMES_LISTED])
    return gettext("%(names)s and %(number)s more", names=listed, number=more) if more > 0 else listed
