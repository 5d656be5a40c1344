"""What the decision viewer shows of one step of an interview, as plain facts for its template."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.interview.record import Answer, NoAnswer
from eddi.model.prediction import Prediction
from eddi.service.analyst.decision import Numbers, Trail
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.charts import Chart, Frame, Line, Tick
from eddi.service.interviews import interview_analytics
from eddi.service.web import formatting, wording
from eddi.service.web.answer_form import FormInput
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.variable import Variable

N_SHOWN = 12  # questions whose worth is seen at once; the others unfold
N_LEVELS_SHOWN = 8
BELIEF_HEIGHT = 170.0
MINUS = "\u2212"  # a true one
SMALL_WIDTH, SMALL_HEIGHT = 120.0, 26.0  # of the small picture of what an answer is expected to be

Facts = dict[str, Any]


@dataclass(frozen=True)
class Expected:
    """What an answer is expected to be: a small outline or a column for each level, and the truth."""

    name: str
    outline: str
    columns: tuple[tuple[float, float, float], ...]  # x, width and height of each level's
    truth: float | None
    words: str


@dataclass(frozen=True)
class Worth:
    """One question and what it was worth."""

    text: str
    name: str
    start: float  # of its bar, in percent of the width
    share: float  # its length, likewise
    nats: str
    chosen: bool
    expected: tuple[Expected, ...]

    @property
    def less(self) -> bool:
        """Whether the estimate lies below nothing, which no answer is worth: it is noise."""
        return self.nats.startswith(MINUS)


@dataclass(frozen=True)
class Outline:
    """One belief in a picture of several: its area, its mean, its words."""

    name: str
    style: str
    area: str
    mean: float


@dataclass(frozen=True)
class Beliefs:
    """Several beliefs about one quantity over one axis, and what is true."""

    outlines: tuple[Outline, ...]
    across: tuple[Tick, ...]
    truth: float | None
    height: float
    words: str


@dataclass(frozen=True)
class Chances:
    """One level, and how likely it was to several beliefs."""

    label: str
    true: bool
    shares: tuple[tuple[str, float, str], ...]  # style, percent, words


@dataclass(frozen=True)
class Moved:
    """How a belief about the target moved: a picture and its legend, or bars for levels."""

    picture: Beliefs | None
    bars: tuple[Chances, ...]
    legend: tuple[tuple[str, str], ...]  # style, name


def worths(trail: Trail, step: int) -> list[Worth]:
    """What each question that could be asked was worth, best first."""
    found = trail.worths(step)
    chosen = trail.question(step).name
    ends = _ends(found.values())
    expected, heights = trail.expected(step), trail.densities(trail.seen[[step]])
    schema = trail.model.schema
    return [
        Worth(
            (question := schema.question(name)).text,
            name,
            *_bar(nats, ends),
            nats_words(nats),
            name == chosen,
            tuple(
                _expected(trail, schema[one], expected[one][0], heights)
                for one in question.reveals
                if not trail.seen.observed[step, schema.position(one)]
            ),
        )
        for name, nats in found.items()
    ]


def rivals(
    worths: Mapping[str, float], texts: Mapping[str, str], was: Mapping[str, float]
) -> list[Worth]:
    """What questions would be worth, best first, and beside it what they were."""
    ends = _ends([*worths.values(), *was.values()])
    return [
        Worth(
            texts[name],
            f"was {nats_words(was[name])}" if name in was else "could not be asked",
            *_bar(nats, ends),
            nats_words(nats),
            place == 0,
            (),
        )
        for place, (name, nats) in enumerate(worths.items())
    ]


def nats_words(nats: float) -> str:
    """What a question is worth, to the analyst: an estimate may lie a little below nothing."""
    return f"{round(nats, 3) + 0.0:.3f}".replace("-", MINUS)


def _ends(worths: Collection[float]) -> tuple[float, float]:
    """From where to where bars reach: nothing, and the least and the most that is worth."""
    return min(0.0, *worths, 0.0), max(0.0, *worths, 1e-9)


def _bar(nats: float, ends: tuple[float, float]) -> tuple[float, float]:
    """Where a bar begins and how long it is, in percent."""
    low, high = ends
    return (
        round(100 * (min(nats, 0.0) - low) / (high - low), 2),
        round(100 * abs(nats) / (high - low), 2),
    )


def moved(trail: Trail, beliefs: Sequence[tuple[str, str, Evidence, Prediction]]) -> Moved:
    """Beliefs about the target, each with its style, its name, what was known, and the prediction."""
    legend = tuple((style, name) for style, name, _, _ in beliefs)
    if beliefs[0][3].probabilities is not None:
        return Moved(None, _chances(trail, beliefs), legend)
    position = trail.model.schema.position(trail.target)
    values = trail.grids[:, position]
    heights = [trail.densities(seen)[:, position] for _, _, seen, _ in beliefs]
    tallest = max(float(each.max()) for each in heights)
    frame = Frame(
        (float(values[0]), float(values[-1])), (0.0, 1.08 * tallest), charts.WIDTH, BELIEF_HEIGHT
    )
    outlines = tuple(
        Outline(name, style, charts.shape(values, height, frame), frame.across(float(belief.mean)))
        for (style, name, _, belief), height in zip(beliefs, heights, strict=True)
    )
    inside = [t for t in charts.ticks(*frame.x) if frame.x[0] <= t <= frame.x[1]]
    picture = Beliefs(
        outlines,
        tuple(Tick(frame.across(value), charts.plain(value)) for value in inside),
        None if trail.truth is None else frame.across(trail.truth),
        BELIEF_HEIGHT,
        _picture_words(trail, [(name, belief) for _, name, _, belief in beliefs]),
    )
    return Moved(picture, (), legend)


def course(trail: Trail, step: int) -> Chart:
    """How the belief about the target went over all steps, and where we are."""
    steps = [float(place) for place in range(trail.n_steps + 1)]
    beliefs = trail.beliefs
    variable = beliefs[0].variable
    if beliefs[0].probabilities is not None:
        level = _followed(trail)
        chances = [float(one.probabilities[level]) for one in beliefs if one.probabilities is not None]
        what = f"probability of {formatting.format_level(variable.levels[level])}"
        first, last = (formatting.format_probability(chances[place]) for place in (0, -1))
        words = f"The {what} went from {first} to {last}."
        lines = [Line(what, "eddi", steps, chances)]
        return charts.curves(
            lines, x_title="answers", y_title=what, words=words, floor=0.0, ceiling=1.0, mark=step
        )
    lows, highs = (np.array([float(one.interval[end]) for one in beliefs]) for end in (0, 1))
    means = [float(one.mean) for one in beliefs]
    lines = [Line("estimate, with its 90% range", "eddi", steps, means, list(lows), list(highs))]
    if trail.truth is not None:
        lines.append(Line("truth", "truth", steps, [trail.truth] * len(steps)))
    widths = [charts.plain(float(f"{high - low:.3g}")) for low, high in zip(lows, highs, strict=True)]
    words = f"The 90% range of {trail.target} went from {widths[0]} to {widths[-1]} wide."
    title = f"{trail.target}, {variable.unit}" if variable.unit else trail.target
    return charts.curves(lines, x_title="answers", y_title=title, words=words, mark=step)


def verdict(trail: Trail, step: int) -> list[str]:
    """What the answer at a step did, in sentences."""
    before, after = trail.beliefs[step], trail.beliefs[step + 1]
    worth = trail.worths(step)[trail.question(step).name]
    told = interview_analytics.information(before, after)
    decimals = wording.count_decimals(trail.beliefs)
    return [
        wording.describe_change(before, after, decimals, cause="The answer"),
        f"It was expected to tell {max(0.0, worth):.2f} nats, and moved the belief by {told:.2f}.",
    ]


def truth_words(trail: Trail) -> str:
    """What is true of the target."""
    if trail.truth is None:
        return "not known"
    variable = trail.model.schema[trail.target]
    return _value(variable, trail.truth)


def said(trail: Trail, answer: Answer) -> str:
    """An answer in words."""
    return str(wording.describe_answer(answer, trail.model.schema))


def numbers(trail: Trail, heard: FormInput) -> dict[str, float]:
    """What was heard, in the table's numbers; NaN for what is not known."""
    schema = trail.model.schema
    return {
        name: float("nan") if value is None or isinstance(value, dict) else schema[name].number(value)
        for name, value in heard.values.items()
    }


def imagined(question: Question, heard: FormInput) -> Answer:
    """What was heard as an answer."""
    values = {k: v for k, v in heard.values.items() if v is not None and not isinstance(v, dict)}
    silent = [name for name in heard.values if name not in values]
    return Answer(question.name, values, dict.fromkeys(silent, NoAnswer.UNKNOWN))


def _chances(
    trail: Trail, beliefs: Sequence[tuple[str, str, Evidence, Prediction]]
) -> tuple[Chances, ...]:
    variable = beliefs[0][3].variable
    table = np.array([one.probabilities for _, _, _, one in beliefs])  # [beliefs, levels]
    places = list(range(variable.n_levels))
    if len(places) > N_LEVELS_SHOWN:
        places = sorted(places, key=lambda place: -float(table[:, place].max()))[:N_LEVELS_SHOWN]
    return tuple(
        Chances(
            formatting.format_level(variable.levels[place]),
            trail.truth == place,
            tuple(
                (style, round(100 * float(chance), 2), formatting.format_probability(float(chance)))
                for (style, *_), chance in zip(beliefs, table[:, place], strict=True)
            ),
        )
        for place in places
    )


def _followed(trail: Trail) -> int:
    """The level whose probability is followed: the true one, or the one that came out likeliest."""
    if trail.truth is not None:
        return int(trail.truth)
    last = trail.beliefs[-1].probabilities
    return 0 if last is None else int(last.argmax())


def _expected(trail: Trail, variable: Variable, belief: Prediction, heights: Numbers) -> Expected:
    place = trail.model.schema.position(variable.name)
    number = float(trail.row[place])
    known = not np.isnan(number)
    about = wording.describe_prediction(belief, wording.count_decimals([belief]))
    words = f"{about}" + (f" It was {_value(variable, number)}." if known else "")
    if belief.probabilities is not None:
        wide = SMALL_WIDTH / variable.n_levels
        columns = tuple(
            (round(n * wide, 2), round(0.8 * wide, 2), round(SMALL_HEIGHT * float(chance), 2))
            for n, chance in enumerate(belief.probabilities)
        )
        at = round((number + 0.4) * wide, 2) if known else None
        return Expected(variable.name, "", columns, at, words)
    values, density = trail.grids[:, place], heights[:, place]
    span = max(float(values[-1] - values[0]), 1e-12)
    tall = max(float(density.max()), 1e-12)
    tops = [
        (round(SMALL_WIDTH * float(v - values[0]) / span, 2), round(SMALL_HEIGHT * (1 - h / tall), 2))
        for v, h in zip(values[::2], density[::2].tolist(), strict=True)
    ]
    outline = charts.points([(0.0, SMALL_HEIGHT), *tops, (SMALL_WIDTH, SMALL_HEIGHT)])
    at = round(SMALL_WIDTH * (number - float(values[0])) / span, 2) if known else None
    return Expected(variable.name, outline, (), at, words)


def _picture_words(trail: Trail, beliefs: Sequence[tuple[str, Prediction]]) -> str:
    decimals = wording.count_decimals([belief for _, belief in beliefs])
    parts = [
        f"{formatting.capitalize(name)}: {wording.describe_prediction(belief, decimals)}"
        for name, belief in beliefs
    ]
    return " ".join(parts) + f" The truth: {truth_words(trail)}."


def _value(variable: Variable, number: float) -> str:
    answer = variable.answer(number)
    if variable.kind.has_levels:
        return formatting.format_level(answer)
    return f"{formatting.format_value(answer).replace('-', MINUS)} {variable.unit}".strip()
