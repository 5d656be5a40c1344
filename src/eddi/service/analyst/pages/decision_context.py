"""The template data of the decision viewer: rewards, predictions and texts for one step of an interview."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eddi.interview.effects import information
from eddi.interview.record import Answer, NoAnswer
from eddi.model.prediction import Prediction
from eddi.reward.units import format_bits
from eddi.service.analyst.models.decision_path import DecisionPath, Numbers
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.charts import Chart, Line, Tick
from eddi.service.analyst.pages.page_context import analyst_texts
from eddi.service.web import svg, wording
from eddi.service.web.answer_form import FormInput
from eddi.service.web.change_wording import Cause, describe_change
from eddi.service.web.formatting import (
    MINUS,
    capitalize,
    format_probability,
    format_value,
)
from eddi.service.web.languages.current import current_language, gettext, localize
from eddi.service.web.svg import Axes, Scale
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.variable import Variable

N_REWARDS_SHOWN = 12  # the others are folded away
N_LEVELS_SHOWN = 8
DENSITY_HEIGHT = 170.0
SMALL_WIDTH, SMALL_HEIGHT = 120.0, 26.0  # of the small chart of an expected answer


@dataclass(frozen=True)
class ExpectedAnswer:
    """A small chart of the predicted answer: a density, or one column per level, and the true answer."""

    name: str
    outline: str
    columns: tuple[tuple[float, float, float], ...]  # x, width and height of each level
    truth: float | None
    description: str


@dataclass(frozen=True)
class QuestionReward:
    """The expected information of one question, with its bar."""

    text: str
    name: str
    start: float  # of the bar, in percent of the width
    length: float  # of the bar, likewise
    information: str
    is_chosen: bool
    expected: tuple[ExpectedAnswer, ...] = ()
    note: str = ""

    @property
    def is_negative(self) -> bool:
        """Whether the estimate is below 0, which can only be Monte Carlo noise."""
        return self.information.startswith(MINUS)


@dataclass(frozen=True)
class TargetPrediction:
    """A prediction of the target, for a comparison with others.

    Args:
        style: the suffix of its CSS class.
        name: its name in the legend.
        evidence: what it is based on, one row.
        prediction: the prediction.
    """

    style: str
    name: str
    evidence: Evidence
    prediction: Prediction


@dataclass(frozen=True)
class DensityOutline:
    """One density of a chart."""

    name: str
    style: str
    area: str
    mean: float


@dataclass(frozen=True)
class DensityChart:
    """Several predictive densities of one quantity, and the truth."""

    outlines: tuple[DensityOutline, ...]
    x_ticks: tuple[Tick, ...]
    truth: float | None
    height: float
    description: str


@dataclass(frozen=True)
class LevelBars:
    """One level, and its probability in several predictions."""

    label: str
    is_true: bool
    bars: tuple[tuple[str, float, str], ...]  # style, percent, text


@dataclass(frozen=True)
class PredictionComparison:
    """Several predictions of the target: a chart for a quantity, bars for levels."""

    chart: DensityChart | None
    levels: tuple[LevelBars, ...]
    legend: tuple[tuple[str, str], ...]  # style, name


def list_rewards(path: DecisionPath, step: int) -> list[QuestionReward]:
    """The rewards of all open questions at a step, highest first."""
    rewards = path.rewards(step)
    chosen = path.question(step).name
    scale = _bar_scale(rewards.values())
    predictions, densities = path.predict_variables(step), path.densities(path.evidence[[step]])
    schema, observed = path.model.schema, path.evidence.observed[step]
    items = []
    for name, nats in rewards.items():
        question = schema.question(name)
        expected = tuple(
            _expected_answer(path, schema[variable], predictions[variable][0], densities)
            for variable in question.reveals
            if not observed[schema.position(variable)]
        )
        start, length = _bar(nats, scale)
        items.append(
            QuestionReward(
                question.text, name, start, length, format_information(nats), name == chosen, expected
            )
        )
    return items


def list_what_if_rewards(
    rewards: Mapping[str, float],
    texts: Mapping[str, str],
    actual: Mapping[str, float],
    *,
    chosen: str | None,
) -> list[QuestionReward]:
    """The rewards after a different answer, highest first, each with the actual reward as a note."""
    scale = _bar_scale([*rewards.values(), *actual.values()])
    items = []
    for name, nats in rewards.items():
        note = gettext("could not be asked")
        if name in actual:
            note = gettext("was %(information)s", information=format_information(actual[name]))
        start, length = _bar(nats, scale)
        items.append(
            QuestionReward(
                texts[name], name, start, length, format_information(nats), name == chosen, note=note
            )
        )
    return items


def format_information(nats: float) -> str:
    """A reward in bits as text, without its unit; an estimate may be slightly below 0."""
    return localize(format_bits(nats, n_digits=3).removesuffix(" bits")).replace("-", MINUS)


def _bar_scale(rewards: Collection[float]) -> tuple[float, float]:
    """The range of the bars, which includes 0."""
    return min(0.0, *rewards, 0.0), max(0.0, *rewards, 1e-9)


def _bar(nats: float, scale: tuple[float, float]) -> tuple[float, float]:
    """The start and the length of a bar in percent."""
    low, high = scale
    start = 100 * (min(nats, 0.0) - low) / (high - low)
    return round(start, 2), round(100 * abs(nats) / (high - low), 2)


def compare_predictions(path: DecisionPath, items: Sequence[TargetPrediction]) -> PredictionComparison:
    """Several predictions of the target side by side."""
    legend = tuple((item.style, item.name) for item in items)
    if items[0].prediction.probabilities is not None:
        return PredictionComparison(None, _level_bars(path, items), legend)
    position = path.model.schema.position(path.target)
    values = path.grids[:, position]
    densities = [path.densities(item.evidence)[:, position] for item in items]
    highest = max(float(density.max()) for density in densities)
    x_range = float(values[0]), float(values[-1])
    axes = charts.make_axes(x_range, (0.0, 1.08 * highest), height=DENSITY_HEIGHT)
    outlines = tuple(
        DensityOutline(
            item.name,
            item.style,
            charts.density_area(values, density, axes),
            axes.x(float(item.prediction.mean)),
        )
        for item, density in zip(items, densities, strict=True)
    )
    x_ticks = [value for value in svg.ticks(*x_range) if x_range[0] <= value <= x_range[1]]
    chart = DensityChart(
        outlines,
        tuple(Tick(axes.x(value), svg.format_tick(value, current_language())) for value in x_ticks),
        None if path.truth is None else axes.x(path.truth),
        DENSITY_HEIGHT,
        _describe_predictions(path, items),
    )
    return PredictionComparison(chart, (), legend)


def history_chart(path: DecisionPath, step: int) -> Chart:
    """The prediction of the target over all steps, with the present step marked."""
    steps = [float(n) for n in range(path.n_steps + 1)]
    if path.predictions[0].probabilities is not None:
        return _probability_history(path, steps, step)
    predictions, unit = path.predictions, analyst_texts().unit(path.predictions[0].variable)
    lows, highs = ([float(p.interval[end]) for p in predictions] for end in (0, 1))
    means = [float(prediction.mean) for prediction in predictions]
    lines = [Line(gettext("prediction with 90%% interval"), "eddi", steps, means, lows, highs)]
    if path.truth is not None:
        lines.append(Line(gettext("truth"), "truth", steps, [path.truth] * len(steps)))
    first, last = (
        svg.format_tick(float(f"{highs[n] - lows[n]:.3g}"), current_language()) for n in (0, -1)
    )
    return charts.line_chart(
        lines,
        x_title=gettext("answers"),
        y_title=f"{path.target}, {unit}" if unit else path.target,
        description=gettext(
            "The width of the 90%% interval of %(target)s went from %(first)s to %(last)s.",
            target=path.target,
            first=first,
            last=last,
        ),
        marker=step,
    )


def _probability_history(path: DecisionPath, steps: list[float], step: int) -> Chart:
    level = _tracked_level(path)
    probabilities = [
        float(p.probabilities[level]) for p in path.predictions if p.probabilities is not None
    ]
    variable = path.predictions[0].variable
    label = analyst_texts().level(variable, variable.levels[level])
    first, last = (format_probability(probabilities[n], current_language()) for n in (0, -1))
    title = gettext("probability of %(level)s", level=label)
    return charts.line_chart(
        [Line(title, "eddi", steps, probabilities)],
        x_title=gettext("answers"),
        y_title=title,
        description=gettext(
            "The probability of %(level)s went from %(first)s to %(last)s.",
            level=label,
            first=first,
            last=last,
        ),
        y_min=0.0,
        y_max=1.0,
        marker=step,
    )


def describe_effect(path: DecisionPath, step: int) -> list[str]:
    """What the answer at a step changed, in sentences."""
    before, after = path.predictions[step], path.predictions[step + 1]
    expected = path.rewards(step)[path.question(step).name]
    actual = information(before, after)
    decimals = wording.count_decimals(path.predictions)
    return [
        describe_change(before, after, decimals, cause=Cause.AN_ANSWER, texts=analyst_texts()),
        gettext(
            "The expected information was %(expected)s bits; the answer gave %(actual)s bits.",
            expected=_format_bits(max(0.0, expected)),
            actual=_format_bits(actual),
        ),
    ]


def format_truth(path: DecisionPath) -> str:
    """The true value of the target as text."""
    if path.truth is None:
        return gettext("not known")
    return _format_value(path.model.schema[path.target], path.truth)


def format_answer(path: DecisionPath, answer: Answer) -> str:
    """An answer as text."""
    return str(wording.describe_answer(answer, path.model.schema, analyst_texts()))


def answer_numbers(path: DecisionPath, form_input: FormInput) -> dict[str, float]:
    """The values of a submitted form in the table's own units; NaN for "not known"."""
    schema = path.model.schema
    return {
        name: float("nan")
        if value is None or isinstance(value, dict)
        else schema[name].number(value, confirm=True)
        for name, value in form_input.values.items()
    }


def to_answer(question: Question, form_input: FormInput) -> Answer:
    """The values of a submitted form as an answer."""
    values = {k: v for k, v in form_input.values.items() if v is not None and not isinstance(v, dict)}
    unknown = [name for name in form_input.values if name not in values]
    return Answer(question.name, values, dict.fromkeys(unknown, NoAnswer.UNKNOWN))


def _level_bars(path: DecisionPath, items: Sequence[TargetPrediction]) -> tuple[LevelBars, ...]:
    variable = items[0].prediction.variable
    table = np.array([item.prediction.probabilities for item in items])  # [predictions, levels]
    levels = list(range(variable.n_levels))
    if len(levels) > N_LEVELS_SHOWN:
        levels = sorted(levels, key=lambda level: -float(table[:, level].max()))[:N_LEVELS_SHOWN]
    return tuple(
        LevelBars(
            analyst_texts().level(variable, variable.levels[level]),
            path.truth == level,
            tuple(
                (item.style, round(100 * float(p), 2), format_probability(float(p), current_language()))
                for item, p in zip(items, table[:, level], strict=True)
            ),
        )
        for level in levels
    )


def _tracked_level(path: DecisionPath) -> int:
    """The level whose probability is plotted: the true one, or the one that is finally most likely."""
    if path.truth is not None:
        return int(path.truth)
    final = path.predictions[-1].probabilities
    return 0 if final is None else int(final.argmax())


def _expected_answer(
    path: DecisionPath, variable: Variable, prediction: Prediction, densities: Numbers
) -> ExpectedAnswer:
    position = path.model.schema.position(variable.name)
    truth = float(path.row[position])
    is_observed = not np.isnan(truth)
    decimals = wording.count_decimals([prediction])
    description = str(wording.describe_prediction(prediction, decimals, analyst_texts()))
    if is_observed:
        answer = _format_value(variable, truth)
        description += " " + gettext("The answer was %(answer)s.", answer=answer)
    if prediction.probabilities is not None:
        width = SMALL_WIDTH / variable.n_levels
        columns = tuple(
            (round(n * width, 2), round(0.8 * width, 2), round(SMALL_HEIGHT * float(p), 2))
            for n, p in enumerate(prediction.probabilities)
        )
        marker = round((truth + 0.4) * width, 2) if is_observed else None
        return ExpectedAnswer(variable.name, "", columns, marker, description)
    values, density = path.grids[:, position], densities[:, position]
    x = Scale((float(values[0]), float(values[-1])), (0.0, SMALL_WIDTH))
    outline = _small_outline(values[::2], density[::2], x)
    marker = x(truth) if is_observed else None
    return ExpectedAnswer(variable.name, outline, (), marker, description)


def _small_outline(values: Numbers, density: Numbers, x: Scale) -> str:
    y = Scale((0.0, max(float(density.max()), 1e-12)), (SMALL_HEIGHT, 0.0))
    tops = Axes(x, y).points(values, density)
    # From corner to corner, even if the grid has a single value.
    return svg.format_points([(0.0, SMALL_HEIGHT), *tops, (SMALL_WIDTH, SMALL_HEIGHT)])


def _describe_predictions(path: DecisionPath, items: Sequence[TargetPrediction]) -> str:
    texts, decimals = analyst_texts(), wording.count_decimals([item.prediction for item in items])
    parts = [
        f"{capitalize(item.name)}: {wording.describe_prediction(item.prediction, decimals, texts)}"
        for item in items
    ]
    return " ".join([*parts, gettext("The truth: %(truth)s.", truth=format_truth(path))])


def _format_value(variable: Variable, number: float) -> str:
    answer, texts = variable.answer(number), analyst_texts()
    if variable.kind.has_levels:
        return texts.level(variable, answer)
    text = format_value(answer, texts.language).replace("-", MINUS)
    return f"{text} {texts.unit(variable)}".strip()


def _format_bits(nats: float) -> str:
    return localize(format_bits(nats).removesuffix(" bits"))
