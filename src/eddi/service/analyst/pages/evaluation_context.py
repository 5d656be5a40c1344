"""What the page of an evaluation shows, from the document that `evaluation.evaluate` wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eddi.service.analyst.evaluation import EDDI, FIXED, PER_COST, RANDOM
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.charts import Chart, Line
from eddi.service.web import formatting

CLEAR = 0.05  # a smaller p-value is called a clear difference
N_STEPS_SHOWN = 6  # of what was asked when
N_ASKED_SHOWN = 3  # questions a step
NAMES = {
    EDDI: "EDDI",
    PER_COST: "EDDI, per cost",
    FIXED: "one fixed order",
    RANDOM: "random order",
}
STYLES = {EDDI: "eddi", PER_COST: "per-cost", FIXED: "fixed", RANDOM: "random"}
CALIBRATION_STYLES = ("random", "fixed", "eddi")  # before any answer, half-way, in the end
METRICS = {
    "rmse": "Error (RMSE)",
    "nll": "Negative log-likelihood",
    "accuracy": "Accuracy",
    "brier": "Brier score",
}

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """How one strategy did, in words."""

    name: str
    style: str
    auic: str
    band: str
    difference: str
    difference_band: str
    p_value: str
    verdict: str


@dataclass(frozen=True)
class Asked:
    """A question asked of some rows at a step."""

    name: str
    percent: float
    words: str


def facts(document: Document, metric: str) -> dict[str, Any]:
    """All that the page shows of an evaluation, by the metric that was chosen."""
    wanted = metric if metric in document["metrics"] else document["metrics"][0]
    frontier = document["frontier"]
    return {
        "metric": wanted,
        "metric_name": metric_name(document, wanted),
        "metrics": [(one, METRICS[one]) for one in document["metrics"]],
        "headline": headline(document),
        "curves": information(document, wanted),
        "table": _figures(document, wanted),
        "strategies": [NAMES[name] for name in _present(document["curves"][wanted])],
        "standings": standings(document, wanted),
        "lower_is_better": wanted != "accuracy",
        "calibration": calibration(document),
        "calibration_rows": _calibration_rows(document),
        "of_levels": bool(document["levels"]),
        "frontier": None if frontier is None else _frontier(document),
        "choices": _choices(document),
        "n_rows": document["n_rows"],
        "n_given": document["n_given"],
        "seconds": document["seconds"],
    }


def metric_name(document: Document, metric: str) -> str:
    """A metric with its unit."""
    if metric == "rmse":
        return f"{METRICS[metric]}, {document['unit']}" if document["unit"] else METRICS[metric]
    return f"{METRICS[metric]}, nats" if metric == "nll" else METRICS[metric]


def headline(document: Document) -> list[str]:
    """What an analyst wants to know first, in sentences."""
    metric = "accuracy" if document["levels"] else "rmse"
    curves = document["curves"][metric]
    ours = curves[EDDI]["value"]
    words = [_progress(document, metric, ours)]
    if len(ours) > 2 and (sentence := _saved(document, metric)):
        words.append(sentence)
    return words


def _progress(document: Document, metric: str, values: Sequence[float]) -> str:
    first, last = (_value(document, metric, values[place]) for place in (0, -1))
    n = document["n_steps"]
    if metric == "accuracy":
        return f"Asked nothing, {first} are guessed rightly; asked all {n} questions, {last}."
    return f"Asked nothing, the error is {first}; asked all {n} questions, {last}."


def _saved(document: Document, metric: str) -> str:
    """How many questions a random order needs for what EDDI has half-way; empty where none are saved."""
    ours, theirs = (document["curves"][metric][name]["value"] for name in (EDDI, RANDOM))
    half = max(1, document["n_steps"] // 2)
    sign = -1 if metric == "accuracy" else 1
    reached = [n for n, value in enumerate(theirs) if sign * value <= sign * ours[half]]
    if not reached or reached[0] <= half:
        return ""
    what = _value(document, metric, ours[half])
    return f"EDDI comes to {what} with {_answers(half)}, a random order with {reached[0]}."


def information(document: Document, metric: str) -> Chart:
    """The information curves of all strategies, with their bands."""
    found = document["curves"][metric]
    lines = [_line(name, found[name], range(document["n_steps"] + 1)) for name in _present(found)]
    return charts.curves(
        lines,
        x_title="questions asked",
        y_title=metric_name(document, metric),
        words=_curve_words(document, metric),
    )


def standings(document: Document, metric: str) -> list[Standing]:
    """Areas under the curves, and EDDI's paired differences, the best area first."""
    sign = -1 if metric == "accuracy" else 1
    found = sorted(document["standings"][metric], key=lambda one: sign * one["auic"]["value"])
    return [_standing(metric, one) for one in found]


def _standing(metric: str, one: Document) -> Standing:
    area, against = one["auic"], one["against"]
    shown = [figure(metric, area[end]) for end in ("value", "low", "high")]
    common = (NAMES[one["name"]], STYLES[one["name"]], shown[0], f"{shown[1]} to {shown[2]}")
    if against is None:
        return Standing(*common, "", "", "", "")
    difference = [_signed(metric, against[end]) for end in ("value", "low", "high")]
    return Standing(
        *common,
        difference[0],
        f"{difference[1]} to {difference[2]}",
        p_words(against["p_value"]),
        _verdict(metric, against),
    )


def _verdict(metric: str, against: Document) -> str:
    if against["p_value"] >= CLEAR:
        return "no clear difference"
    better = (against["value"] < 0) is (metric != "accuracy")
    return "EDDI is better" if better else "EDDI is worse"


def p_words(p_value: float) -> str:
    """A p-value as people write it."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def calibration(document: Document) -> Chart:
    """What was stated against what came true, after some numbers of answers."""
    levels, found = document["levels"], document["calibration"]
    styles = CALIBRATION_STYLES[-len(found) :]
    lines = [
        Line(
            _after(one["step"]),
            style,
            one["stated"],
            one["came"],
            one["low"],
            one["high"],
            weights=[n / document["n_rows"] for n in one["n_rows"]] if levels else (),
        )
        for style, one in zip(styles, found, strict=True)
    ]
    last = found[-1]
    if not levels:
        share = last["intervals"]["0.9"]
        words = f"In the end {share:.0%} of rows lay in their 90% interval."
        return charts.square(
            lines, x_title="intervals that should hold it", y_title="intervals that do", words=words
        )
    what = f"“{formatting.format_level(levels[1])}”" if len(levels) == 2 else "the likeliest level"
    words = f"In the end stated certainty was {last['error']:.0%} off on average."
    title = f"stated probability of {what}"
    return charts.square(lines, x_title=title, y_title="how often it came true", words=words)


def _calibration_rows(document: Document) -> list[tuple[str, list[str]]]:
    return [
        (
            _after(one["step"]),
            [f"{share:.0%}" for share in one["intervals"].values()] or [f"{one['error']:.1%}"],
        )
        for one in document["calibration"]
    ]


def _frontier(document: Document) -> Chart:
    found, costs = document["frontier"], document["frontier"]["costs"]
    lines = [
        _line(name, found["curves"][name], costs, stepped=True) for name in _present(found["curves"])
    ]
    return charts.curves(
        lines,
        x_title="cost spent",
        y_title=metric_name(document, found["metric"]),
        words=f"{METRICS[found['metric']]} against cost, up to {costs[-1]:,.4g} in all.",
        whole=False,
    )


def _choices(document: Document) -> list[list[Asked]]:
    """What was asked when: for each of the first steps, the commonest questions."""
    return [
        [
            Asked(name, round(100 * share, 1), formatting.format_probability(share))
            for name, share in list(step.items())[:N_ASKED_SHOWN]
        ]
        for step in document["choices"][:N_STEPS_SHOWN]
    ]


def _figures(document: Document, metric: str) -> list[list[str]]:
    """The curves as figures: a row for each number of questions."""
    found = document["curves"][metric]
    return [
        [str(step), *(figure(metric, found[name]["value"][step]) for name in _present(found))]
        for step in range(document["n_steps"] + 1)
    ]


def _line(name: str, band: Document, x: Sequence[float], *, stepped: bool = False) -> Line:
    return Line(NAMES[name], STYLES[name], x, band["value"], band["low"], band["high"], stepped)


def _present(found: Document) -> list[str]:
    """The strategies that were tried, ours first, random last."""
    return [name for name in NAMES if name in found]


def _curve_words(document: Document, metric: str) -> str:
    half = document["n_steps"] // 2
    parts = [
        f"{NAMES[name]} {_value(document, metric, document['curves'][metric][name]['value'][half])}"
        for name in _present(document["curves"][metric])
    ]
    return f"{METRICS[metric]} after {_answers(half)}: {', '.join(parts)}."


def _value(document: Document, metric: str, value: float) -> str:
    unit = document["unit"] if metric == "rmse" else ""
    return f"{figure(metric, value)} {unit}".strip()


def figure(metric: str, value: float) -> str:
    """A metric's value in as many digits as are worth reading."""
    if metric == "accuracy":
        return f"{value:.0%}"
    return f"{value:.3g}".replace("-", "\u2212")


def _signed(metric: str, value: float) -> str:
    words = f"{100 * value:+.1f} points" if metric == "accuracy" else f"{value:+.3g}"
    return words.replace("-", "\u2212")


def _after(step: int) -> str:
    return "before any answer" if step == 0 else f"after {_answers(step)}"


def _answers(n: int) -> str:
    return "one answer" if n == 1 else f"{n} answers"
