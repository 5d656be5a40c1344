"""Small pictures as plain geometry, drawn as SVG by the templates: a belief, its history, a share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eddi.model.prediction import Prediction
from eddi.service.web import wording

WIDTH = 320.0  # of every picture, in its own units; the page scales it
STRIP_HEIGHT = 46.0  # of the density above its axis
STEPS_HEIGHT = 96.0
EDGE = 6.0  # left free on both sides
GUTTER = 38.0  # left free beside the steps, for the ends of the scale
MARGIN = 0.25  # of scale on both sides of the widest belief
N_POINTS = 81  # at which a density is drawn
NEAR = 84.0  # two labels closer than this would run into each other
N_LEVELS_DRAWN = 6  # more lines than this are a tangle

Point = tuple[float, float]


@dataclass(frozen=True)
class Label:
    """A few words at a place: where, and which end of them stands there."""

    x: float
    words: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Strip:
    """Belief about a quantity: its density, its 90% interval, its mean, and where it began."""

    outline: str  # points of the density
    inside: str  # points of that part of it which lies in the interval
    low: float
    high: float
    mean: float
    before: tuple[float, float]
    labels: tuple[Label, ...]
    words: str


@dataclass(frozen=True)
class Bar:
    """One level and how likely it is."""

    label: str
    share: float
    words: str
    likeliest: bool


@dataclass(frozen=True)
class Line:
    """A line through the steps of an interview."""

    points: str
    main: bool
    last: Point


@dataclass(frozen=True)
class Steps:
    """How a belief went from answer to answer: a band with its middle, or a line for each level."""

    band: str
    lines: tuple[Line, ...]
    ticks: tuple[float, ...]
    labels: tuple[Label, ...]
    top: str
    bottom: str
    about: str  # what is drawn
    words: str  # what became of it
    warning: str  # that certainty may fall


@dataclass(frozen=True)
class Scale:
    """From values to places across a picture."""

    low: float
    high: float

    @classmethod
    def of(cls, beliefs: Sequence[Prediction]) -> "Scale":
        """A scale that holds all these beliefs about a quantity."""
        low = min(float(one.interval[0]) for one in beliefs)
        high = max(float(one.interval[1]) for one in beliefs)
        margin = MARGIN * max(high - low, 1e-9)
        variable = beliefs[0].variable
        low, high = low - margin, high + margin
        low = low if variable.low is None else max(low, variable.low)
        high = high if variable.high is None else min(high, variable.high)
        return cls(low, max(high, low + 1e-9))

    def x(self, value: float) -> float:
        """Where a value stands, left to right."""
        return round(EDGE + self._share(value) * (WIDTH - 2 * EDGE), 2)

    def y(self, value: float) -> float:
        """Where a value stands, bottom to top."""
        return round(EDGE + (1 - self._share(value)) * (STEPS_HEIGHT - 2 * EDGE), 2)

    def _share(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def strip(
    draws: NDArray[np.float64], now: Prediction, before: Prediction, *, scale: Scale, decimals: int
) -> Strip:
    """The belief about a quantity now, over the interval it had before any answer."""
    low, high = (float(end) for end in now.interval)
    values = np.linspace(scale.low, scale.high, N_POINTS)
    heights = _density(draws, values)
    outline = [(scale.x(v), _height(h)) for v, h in zip(values, heights, strict=True)]
    ends = (low, high)
    edges = [(scale.x(v), _height(float(np.interp(v, values, heights)))) for v in ends]
    within = [edges[0], *(p for p in outline if edges[0][0] < p[0] < edges[1][0]), edges[1]]
    return Strip(
        _points(_grounded(outline)),
        _points(_grounded(within)),
        scale.x(low),
        scale.x(high),
        scale.x(float(now.mean)),
        (scale.x(float(before.interval[0])), scale.x(float(before.interval[1]))),
        _end_labels(
            scale.x(low), scale.x(high), wording.number(low, decimals), wording.number(high, decimals)
        ),
        str(wording.belief(now, decimals)),
    )


def bars(now: Prediction) -> list[Bar]:
    """A bar for each level, in order; where there are many, the likeliest ones."""
    if now.probabilities is None:
        return []
    likeliest = int(now.probabilities.argmax())
    places = list(range(now.variable.n_levels))
    if len(places) > N_LEVELS_DRAWN:
        places = sorted(places, key=lambda place: -float(_chance(now, place)))[:N_LEVELS_DRAWN]
    return [
        Bar(
            wording.level_words(now.variable.levels[place]),
            round(100 * _chance(now, place), 2),
            wording.share(_chance(now, place)),
            place == likeliest,
        )
        for place in places
    ]


def steps(beliefs: Sequence[Prediction], *, decimals: int) -> Steps | None:
    """How sure we were before any answer and after each; nothing to draw before the first."""
    if len(beliefs) < 2:
        return None
    across = [float(x) for x in np.linspace(GUTTER, WIDTH - EDGE, len(beliefs)).round(2)]
    if beliefs[0].probabilities is not None:
        return _level_steps(beliefs, across)
    scale = Scale.of(beliefs)
    lows = [(x, scale.y(float(one.interval[0]))) for x, one in zip(across, beliefs, strict=True)]
    highs = [(x, scale.y(float(one.interval[1]))) for x, one in zip(across, beliefs, strict=True)]
    means = [(x, scale.y(float(one.mean))) for x, one in zip(across, beliefs, strict=True)]
    widths = " to ".join(
        wording.number(wording.spread(one), decimals) for one in (beliefs[0], beliefs[-1])
    )
    return Steps(
        _points([*highs, *reversed(lows)]),
        (Line(_points(means), True, means[-1]),),
        tuple(across),
        _step_labels(across),
        wording.number(scale.high, decimals),
        wording.number(scale.low, decimals),
        f"The {wording.SURE} range, answer by answer.",
        f"The {wording.SURE} range went from {widths} wide over {_answers(len(beliefs) - 1)}.",
        "It may widen as well as narrow.",
    )


def _level_steps(beliefs: Sequence[Prediction], across: Sequence[float]) -> Steps:
    scale = Scale(0.0, 1.0)
    now = beliefs[-1]
    chances = np.array([one.probabilities for one in beliefs], dtype=float)  # [steps, levels]
    likeliest = int(chances[-1].argmax())
    places = range(chances.shape[1]) if chances.shape[1] <= N_LEVELS_DRAWN else [likeliest]
    lines = []
    for place in sorted(places, key=lambda place: place == likeliest):  # the main one on top
        points = [(x, scale.y(float(c))) for x, c in zip(across, chances[:, place], strict=True)]
        lines.append(Line(_points(points), place == likeliest, points[-1]))
    level = wording.level_words(now.variable.levels[likeliest])
    course = " to ".join(wording.share(float(chances[step, likeliest])) for step in (0, -1))
    words = f"The probability of {level} went from {course} over {_answers(len(beliefs) - 1)}."
    about = f"The probability of {level}, answer by answer."
    may = "It may fall as well as rise."
    return Steps("", tuple(lines), tuple(across), _step_labels(across), "100%", "0%", about, words, may)


def _density(draws: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A smooth density of draws, with a peak of 1: kernels a little wider than Silverman's."""
    quartiles = np.quantile(draws, [0.25, 0.75])
    sd = min(float(draws.std()), float(quartiles[1] - quartiles[0]) / 1.34) or float(draws.std())
    width = max(1.2 * sd * len(draws) ** -0.2, float(values[-1] - values[0]) / N_POINTS)
    heights = np.exp(-0.5 * ((values[:, None] - draws) / width) ** 2).mean(1)
    return np.asarray(heights / max(float(heights.max()), 1e-12))


def _height(share: float) -> float:
    return round(STRIP_HEIGHT * (1 - share) + 2, 2)


def _grounded(points: Sequence[Point]) -> list[Point]:
    ground = STRIP_HEIGHT + 2
    return [(points[0][0], ground), *points, (points[-1][0], ground)]


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _end_labels(low: float, high: float, *words: str) -> tuple[Label, ...]:
    """Labels beneath the ends of an interval, apart from each other and inside the picture."""
    if high - low >= NEAR:
        return (Label(max(low, 0), words[0], "start"), Label(min(high, WIDTH), words[1], "end"))
    middle = (low + high) / 2
    left, right = max(middle - NEAR / 2, 0), min(middle + NEAR / 2, WIDTH)
    return Label(left, words[0], "start"), Label(right, words[1], "end")


def _step_labels(across: Sequence[float]) -> tuple[Label, ...]:
    """Where it began, and after how many answers it stands."""
    last = len(across) - 1
    return Label(across[0], "start", "start"), Label(across[-1], _answers(last), "end")


def _chance(belief: Prediction, place: int) -> float:
    return 0.0 if belief.probabilities is None else float(belief.probabilities[place])


def _answers(n: int) -> str:
    return "one answer" if n == 1 else f"{n} answers"


def fraction(value: float, low: float, high: float) -> float:
    """The position of a value between ``low`` (0) and ``high`` (1), clipped to this range."""
    return min(1.0, max(0.0, (value - low) / max(high - low, 1e-12)))


def format_points(points: Sequence[Point]) -> str:
    """Points in the syntax of an SVG polyline or polygon."""
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def area_points(tops: Sequence[Point], baseline: float) -> list[Point]:
    """The outline of the area between a line and a horizontal baseline."""
    return [(tops[0][0], baseline), *tops, (tops[-1][0], baseline)]


def band_points(upper: Sequence[Point], lower: Sequence[Point]) -> list[Point]:
    """The outline of the area between two lines."""
    return [*upper, *reversed(lower)]


def step_points(points: Sequence[Point]) -> list[Point]:
    """The points of a step function that keeps each value until the next point."""
    corners = [(after[0], before[1]) for before, after in pairwise(points)]
    pairs = zip(points, corners, strict=False)
    return [point for pair in pairs for point in pair] + list(points[-1:])


def ticks(low: float, high: float, n: int = 5) -> list[float]:
    """About ``n`` round values that cover the range from ``low`` to ``high``."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    raw = max(high - low, 1e-9 * max(1.0, abs(high))) / n
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def format_tick(value: float) -> str:
    """The short label of a value on an axis, with a true minus sign."""
    if abs(value) >= 10_000:
        return f"{value / 1000:,.4g}k".replace("-", "\u2212")
    return f"{value:,.4g}".replace("-", "\u2212")
