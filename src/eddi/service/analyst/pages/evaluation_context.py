"""The template data of the evaluation page, from an evaluation document (see `models.evaluation`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.reward.units import to_bits
from eddi.service.analyst.models.evaluation import EDDI, FIXED, INFORMATION, RANDOM
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.charts import Chart, Line
from eddi.service.analyst.pages.page_context import Context
from eddi.service.errors import N_
from eddi.service.web.formatting import MINUS, format_level, format_probability
from eddi.service.web.languages.current import (
    current_language,
    format_integer,
    format_percent,
    gettext,
    localize,
)
from eddi.service.web.wording import count_answers

SIGNIFICANCE = 0.05  # p-value below which a difference is called clear
N_STEPS_LISTED = 6  # in the list of questions by step
N_QUESTIONS_LISTED = 3  # per step
PER_COST = "per cost"  # in documents of version 1, whose "eddi" does not consider costs
NAMES = {
    EDDI: "EDDI",
    PER_COST: N_("EDDI, per cost"),
    INFORMATION: N_("EDDI, ignoring costs"),
    FIXED: N_("fixed order"),
    RANDOM: N_("random order"),
}
STYLES = {
    EDDI: "eddi",
    PER_COST: "per-cost",
    INFORMATION: "per-cost",
    FIXED: "fixed",
    RANDOM: "random",
}
CALIBRATION_STYLES = ("random", "fixed", "eddi")  # before any answer, half-way, at the end
METRICS = {
    "rmse": N_("Error (RMSE)"),
    "nll": N_("Negative log-likelihood"),
    "accuracy": N_("Accuracy"),
    "auroc": "AUROC",
    "concordance": N_("Concordance"),
    "brier": N_("Brier score"),
}

WITHOUT_BANDS = ("auroc", "concordance")  # they need all rows at once
HIGHER_IS_BETTER = ("accuracy", *WITHOUT_BANDS)

Document = Mapping[str, Any]


@dataclass(frozen=True)
class RankingItem:
    """The area under one strategy's curve, and its difference from EDDI's, as text."""

    name: str
    style: str
    area: str
    band: str = ""
    difference: str = ""
    difference_band: str = ""
    p_value: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class QuestionShare:
    """A question, and the share of rows that were asked it at a step."""

    name: str
    percent: float
    text: str


def build_context(document: Document, metric: str) -> Context:
    """All template data of an evaluation, for the chosen metric."""
    metrics = _list_metrics(document)
    chosen = metric if metric in metrics else metrics[0]
    names = name_strategies(document)
    return {
        "metric": chosen,
        "metric_name": metric_name(document, chosen),
        "metrics": [(name, gettext(METRICS[name])) for name in metrics],
        "summary": summarise(document),
        "curves": information_chart(document, chosen),
        "table": _table(document, chosen),
        "strategies": list(names.values()),
        "rankings": rankings(document, chosen),
        "is_lower_better": chosen not in HIGHER_IS_BETTER,
        "calibration": calibration_chart(document),
        "calibration_rows": _calibration_rows(document),
        "has_levels": bool(document["levels"]) or bool(document.get("concordance")),
        "costs": None if document["frontier"] is None else _cost_chart(document),
        "choices": _choices(document),
        "n_rows": format_integer(document["n_rows"]),
        "n_given": format_integer(document["n_given"]),
        "seconds": localize(str(document["seconds"])),
    }


def metric_name(document: Document, metric: str) -> str:
    """The name of a metric with its unit."""
    name = gettext(METRICS[metric])
    unit = {"rmse": document["unit"], "nll": gettext("bits")}.get(metric)
    return f"{name}, {unit}" if unit else name


def name_strategies(document: Document) -> dict[str, str]:
    """The names of the strategies that were evaluated, in the order in which they are listed."""
    curves = document["curves"][document["metrics"][0]]
    names = {name: gettext(text) for name, text in NAMES.items() if name in curves}
    if PER_COST in curves:
        names[EDDI] = gettext(NAMES[INFORMATION])
    if document.get("strategy") == "per-cost":
        names[EDDI] = gettext("EDDI, per unit of cost")
    return names


def _list_metrics(document: Document) -> list[str]:
    """The metrics of the page."""
    return [*document["metrics"], *(name for name in WITHOUT_BANDS if document.get(name))]


def get_curves(document: Document, metric: str) -> dict[str, Document]:
    """The curve of each strategy; log-likelihoods are converted from nats to bits."""
    if metric in WITHOUT_BANDS:
        return {name: {"value": values} for name, values in document[metric].items()}
    return {name: convert_unit(metric, band) for name, band in document["curves"][metric].items()}


def convert_unit(metric: str, band: Document) -> Document:
    """Values with their bounds in the unit of the page."""
    if metric != "nll":
        return band
    converted = {
        end: to_bits(band[end]) if isinstance(band[end], float | int) else [*map(to_bits, band[end])]
        for end in ("value", "low", "high")
    }
    return {**band, **converted}


def summarise(document: Document) -> list[str]:
    """The main results in one or two sentences."""
    metric = "accuracy" if document["levels"] else "rmse"
    values = document["curves"][metric][EDDI]["value"]
    sentences = [_describe_improvement(document, metric, values)]
    if (rate := document.get("majority_rate")) is not None:
        share = format_percent(rate)
        sentences.append(
            gettext(
                "Always guessing the most frequent class would be correct for %(share)s.", share=share
            )
        )
    if len(values) > 2 and (sentence := _describe_savings(document, metric)):
        sentences.append(sentence)
    return sentences


def _describe_improvement(document: Document, metric: str, values: Sequence[float]) -> str:
    first, last = (_format_with_unit(document, metric, values[n]) for n in (0, -1))
    values_by_name = {"first": first, "last": last, "number": document["n_steps"]}
    if metric == "accuracy":
        return gettext(
            "Before any question, %(first)s of predictions are correct; after all %(number)s questions, "
            "%(last)s.",
            **values_by_name,
        )
    return gettext(
        "Before any question, the error is %(first)s; after all %(number)s questions, %(last)s.",
        **values_by_name,
    )


def _describe_savings(document: Document, metric: str) -> str:
    """After how many answers a random order is as good as EDDI half-way; empty if not after more."""
    eddi, random = (document["curves"][metric][name]["value"] for name in (EDDI, RANDOM))
    half = max(1, document["n_steps"] // 2)
    sign = -1 if metric == "accuracy" else 1
    reached = [n for n, value in enumerate(random) if sign * value <= sign * eddi[half]]
    if not reached or reached[0] <= half:
        return ""
    value = _format_with_unit(document, metric, eddi[half])
    return gettext(
        "EDDI reaches %(value)s after %(answers)s, a random order after %(number)s.",
        value=value,
        answers=count_answers(half, current_language()),
        number=reached[0],
    )


def information_chart(document: Document, metric: str) -> Chart:
    """The information curves of all strategies, with bands."""
    curves = get_curves(document, metric)
    steps = range(document["n_steps"] + 1)
    return charts.line_chart(
        [
            _line(text, STYLES[name], curves[name], steps)
            for name, text in name_strategies(document).items()
        ],
        x_title=gettext("questions asked"),
        y_title=metric_name(document, metric),
        description=_describe_curves(document, metric),
    )


def rankings(document: Document, metric: str) -> list[RankingItem]:
    """The strategies by the area under their curves, best first."""
    names = name_strategies(document)
    if metric in WITHOUT_BANDS:
        means = {name: float(np.mean(values)) for name, values in document[metric].items()}
        best_first = sorted(names, key=lambda name: -means[name])
        return [
            RankingItem(names[name], STYLES[name], format_metric(metric, means[name]))
            for name in best_first
        ]
    sign = -1 if metric in HIGHER_IS_BETTER else 1
    ranked = sorted(document["standings"][metric], key=lambda item: sign * item["auic"]["value"])
    return [_ranking_item(names[item["name"]], metric, item) for item in ranked]


def _ranking_item(name: str, metric: str, item: Document) -> RankingItem:
    style, difference, auic = STYLES[item["name"]], item["against"], convert_unit(metric, item["auic"])
    value, low, high = (format_metric(metric, auic[end]) for end in ("value", "low", "high"))
    if difference is None:
        return RankingItem(name, style, value, gettext("%(low)s to %(high)s", low=low, high=high))
    converted = convert_unit(metric, difference)
    signed = [_format_signed(metric, converted[end]) for end in ("value", "low", "high")]
    return RankingItem(
        name,
        style,
        value,
        gettext("%(low)s to %(high)s", low=low, high=high),
        difference=signed[0],
        difference_band=gettext("%(low)s to %(high)s", low=signed[1], high=signed[2]),
        p_value=format_p_value(difference["p_value"]),
        verdict=_verdict(metric, difference),
    )


def _verdict(metric: str, difference: Document) -> str:
    if difference["p_value"] >= SIGNIFICANCE:
        return gettext("No clear difference")
    is_better = (difference["value"] < 0) is (metric not in HIGHER_IS_BETTER)
    return gettext("EDDI is better") if is_better else gettext("EDDI is worse")


def format_p_value(p_value: float) -> str:
    """A p-value as text."""
    return localize("p < 0.001") if p_value < 0.001 else localize(f"p = {p_value:.2g}")


def calibration_chart(document: Document) -> Chart:
    """Predicted against observed frequencies after some numbers of answers."""
    levels, results = document["levels"], document["calibration"]
    lines = [
        Line(
            _format_step(result["step"]),
            style,
            result["stated"],
            result["came"],
            result["low"],
            result["high"],
            weights=[n / document["n_rows"] for n in result["n_rows"]] if levels else (),
        )
        for style, result in zip(CALIBRATION_STYLES[-len(results) :], results, strict=True)
    ]
    last = results[-1]
    if not levels:
        return charts.calibration_chart(
            lines,
            x_title=gettext("nominal coverage of intervals"),
            y_title=gettext("observed coverage"),
            description=gettext(
                "At the end, %(share)s of rows were in their 90%% interval.",
                share=format_percent(last["intervals"]["0.9"]),
            ),
        )
    level = gettext("the most likely level")
    if len(levels) == 2:
        level = gettext("“%(level)s”", level=format_level(levels[1], current_language()))
    return charts.calibration_chart(
        lines,
        x_title=gettext("predicted probability of %(level)s", level=level),
        y_title=gettext("observed frequency"),
        description=gettext(
            "At the end, the mean calibration error was %(share)s.", share=format_percent(last["error"])
        ),
    )


def _calibration_rows(document: Document) -> list[tuple[str, list[str]]]:
    return [
        (
            _format_step(result["step"]),
            [format_percent(share) for share in result["intervals"].values()]
            or [format_percent(result["error"], 1)],
        )
        for result in document["calibration"]
    ]


def _cost_chart(document: Document) -> Chart:
    """The main metric against the cost of the questions."""
    metric, costs = document["frontier"]["metric"], document["frontier"]["costs"]
    curves = document["frontier"]["curves"]
    return charts.line_chart(
        [
            _line(text, STYLES[name], convert_unit(metric, curves[name]), costs, is_stepped=True)
            for name, text in name_strategies(document).items()
        ],
        x_title=gettext("cost"),
        y_title=metric_name(document, metric),
        description=gettext(
            "%(metric)s against the total cost, up to %(cost)s.",
            metric=gettext(METRICS[metric]),
            cost=localize(f"{costs[-1]:,.4g}"),
        ),
        has_integer_x=False,
    )


def _choices(document: Document) -> list[list[QuestionShare]]:
    """The most frequent questions at each of the first steps."""
    return [
        [
            QuestionShare(name, round(100 * share, 1), format_probability(share, current_language()))
            for name, share in list(step.items())[:N_QUESTIONS_LISTED]
        ]
        for step in document["choices"][:N_STEPS_LISTED]
    ]


def _table(document: Document, metric: str) -> list[list[str]]:
    """The curves as numbers: one row for each number of questions."""
    curves = get_curves(document, metric)
    return [
        [
            str(step),
            *(format_metric(metric, curves[name]["value"][step]) for name in name_strategies(document)),
        ]
        for step in range(document["n_steps"] + 1)
    ]


def _line(
    name: str, style: str, band: Document, x: Sequence[float], *, is_stepped: bool = False
) -> Line:
    low, high = band.get("low", ()), band.get("high", ())
    return Line(name, style, x, band["value"], low, high, is_stepped)


def _describe_curves(document: Document, metric: str) -> str:
    half = document["n_steps"] // 2
    curves = get_curves(document, metric)
    parts = [
        f"{text} {_format_with_unit(document, metric, curves[name]['value'][half])}"
        for name, text in name_strategies(document).items()
    ]
    return gettext(
        "%(metric)s after %(answers)s: %(values)s.",
        metric=gettext(METRICS[metric]),
        answers=count_answers(half, current_language()),
        values=", ".join(parts),
    )


def _format_with_unit(document: Document, metric: str, value: float) -> str:
    unit = document["unit"] if metric == "rmse" else ""
    return f"{format_metric(metric, value)} {unit}".strip()


def format_metric(metric: str, value: float) -> str:
    """The value of a metric as text."""
    if metric == "accuracy":
        return format_percent(value)
    return localize(f"{value:.3g}").replace("-", MINUS)


def _format_signed(metric: str, value: float) -> str:
    if metric != "accuracy":
        return localize(f"{value:+.3g}").replace("-", MINUS)
    points = localize(f"{100 * value:+.1f}").replace("-", MINUS)
    return gettext("%(points)s points", points=points)


def _format_step(step: int) -> str:
    if step == 0:
        return gettext("before any answer")
    return gettext("after %(answers)s", answers=count_answers(step, current_language()))
