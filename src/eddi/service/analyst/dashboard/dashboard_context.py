"""The template data of the dashboard."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from eddi.model.prediction import COVERAGE
from eddi.service.analyst.dashboard.answer_distributions import AnswerDistribution
from eddi.service.analyst.dashboard.interview_summary import Summary
from eddi.service.analyst.dashboard.outcome_calibration import (
    MIN_OUTCOMES,
    IntervalCoverage,
    LevelReliability,
    Result,
    Share,
)
from eddi.service.analyst.dashboard.version_history import VersionChange
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.page_context import Context, format_count, format_duration, format_time
from eddi.service.web.api_keys import NO_KEY, SERVER
from eddi.service.web.formatting import format_percent, format_probability
from eddi.service.web.texts import Texts
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

MIN_ANSWERS = 20  # to one variable, before its distribution is judged
STABLE, UNSTABLE = 0.1, 0.25  # usual limits of the population stability index
AUTHORS = {SERVER: "when the server started", NO_KEY: "by an analyst"}


def describe_summary(summary: Summary, *, n_started: int) -> list[tuple[str, str]]:
    """Names and texts of the figures about all interviews."""
    share = summary.n_finished / summary.n_interviews if summary.n_interviews else 0.0
    is_sampled = summary.n_interviews < n_started
    finished = format_probability(share) if is_sampled else f"{summary.n_finished:,}"
    facts = [("Started", f"{n_started:,}"), ("Finished", finished)]
    if summary.mean_answers is not None and summary.saved_share is not None:
        facts += [
            ("Answers per finished interview", f"{summary.mean_answers:.1f} on average"),
            (
                "Saved compared with asking everything",
                f"{format_probability(summary.saved_share)} of {summary.n_questions} questions",
            ),
        ]
    if summary.saved_cost is not None:
        facts.append(("Saved costs", format_probability(summary.saved_cost)))
    if summary.median_minutes is not None:
        facts.append(("Duration, median", format_duration(60 * summary.median_minutes)))
    return facts


def describe_drop_off(summary: Summary) -> list[str]:
    """How many interviews ended early, by number of answers."""
    return [
        f"{n_people:,} after {format_count(n_answers, 'answer')}"
        for n_answers, n_people in summary.drop_off.items()
    ]


def describe_questions(
    summary: Summary,
    distributions: Mapping[str, Sequence[AnswerDistribution]],
    schema: Schema,
    texts: Texts,
) -> list[Context]:
    """How people answered each question, with the distributions of their answers."""
    titles = {question.name: texts.question(question) for question in schema.questions}
    return [
        {
            "title": titles.get(item.name, item.name),
            "n_answered": item.n_answered,
            "n_unknown": item.n_unknown,
            "n_declined": item.n_declined,
            "n_last": item.n_last,
            "time": "" if item.median_seconds is None else format_duration(item.median_seconds),
            "distributions": [
                _describe_distribution(distribution, texts)
                for distribution in distributions.get(item.name, ())
            ],
        }
        for item in summary.questions
    ]


def _describe_distribution(distribution: AnswerDistribution, texts: Texts) -> Context:
    variable = distribution.variable
    return {
        "title": texts.title(variable),
        "n_people": distribution.n_people,
        "verdict": _judge(distribution),
        "bins": [
            {
                "label": label,
                "observed": format_percent(observed),
                "expected": format_percent(expected),
                "observed_width": round(100 * observed, 1),
                "expected_width": round(100 * expected, 1),
            }
            for label, observed, expected in zip(
                _label_bins(distribution, texts),
                distribution.observed.tolist(),
                distribution.expected.tolist(),
                strict=True,
            )
        ],
    }


def _label_bins(distribution: AnswerDistribution, texts: Texts) -> list[str]:
    variable, edges = distribution.variable, distribution.edges
    if not edges:
        return [texts.level(variable, level) for level in variable.levels]
    if variable.kind is Kind.COUNT:
        ranges = pairwise([0.0, *edges])
        counts = [f"{low:g}" if high - low == 1 else f"{low:g} to {high - 1:g}" for low, high in ranges]
        return [*counts, f"{edges[-1]:g} and more"]
    inner = [f"{low:g} to under {high:g}" for low, high in pairwise(edges)]
    return [f"under {edges[0]:g}", *inner, f"{edges[-1]:g} and over"]


def _judge(distribution: AnswerDistribution) -> str:
    """Whether the answers are as the model expected."""
    if distribution.n_people < MIN_ANSWERS:
        return f"{format_count(distribution.n_people, 'answer')}: too few to judge."
    if distribution.stability < STABLE:
        return "As expected."
    if distribution.stability < UNSTABLE:
        return "Somewhat different from what the model expected."
    return "Clearly different from what the model expected: people may differ from the training data."


def describe_calibration(
    variable: Variable, result: Result | None, *, n_known: int, texts: Texts
) -> Context:
    """Whether the predictions of a target come true."""
    context: Context = {"title": texts.title(variable), "n_known": n_known, "chart": None, "rows": []}
    if result is None:
        known = (
            "No outcome is known yet" if n_known == 0 else f"Known: {format_count(n_known, 'outcome')}"
        )
        return {**context, "sentences": [f"{known}. Calibration is shown from {MIN_OUTCOMES} on."]}
    if isinstance(result, IntervalCoverage):
        return {**context, "sentences": _describe_coverage(result)}
    return {
        **context,
        "sentences": _describe_reliability(result),
        "chart": _reliability_chart(result, texts),
        "rows": [
            (format_probability(predicted), _format_share(share))
            for predicted, share in zip(result.predicted, result.observed, strict=True)
        ],
    }


def _describe_coverage(result: IntervalCoverage) -> list[str]:
    unit = f" {result.variable.unit}" if result.variable.unit else ""
    if result.is_compatible:
        verdict = "This is compatible with 90%."
    elif result.coverage.high < COVERAGE:
        verdict = "This is less than 90%: the intervals are too narrow."
    else:
        verdict = "This is more than 90%: the intervals are too wide."
    return [
        f"The 90% interval contained the outcome of {_format_share(result.coverage)}.",
        verdict,
        f"The mean absolute error was {result.mean_error:.3g}{unit}.",
    ]


def _describe_reliability(result: LevelReliability) -> list[str]:
    expected, accuracy = result.expected_accuracy, result.accuracy
    if accuracy.low <= expected <= accuracy.high:
        verdict = "Both agree."
    elif expected > accuracy.high:
        verdict = "The model is too certain."
    else:
        verdict = "The model is too cautious."
    return [
        f"The most likely level was right for {_format_share(accuracy)}.",
        f"The model expected {format_probability(expected)}. {verdict}",
    ]


def _reliability_chart(result: LevelReliability, texts: Texts) -> charts.Chart:
    variable, shares = result.variable, result.observed
    is_binary = variable.n_levels == 2
    level = f"“{texts.level(variable, variable.levels[1])}”" if is_binary else "the most likely level"
    line = charts.Line(
        "outcomes",
        "eddi",
        result.predicted,
        [share.value for share in shares],
        [share.low for share in shares],
        [share.high for share in shares],
        weights=[share.n_rows / max(share.n_rows for share in shares) for share in shares],
    )
    return charts.calibration_chart(
        [line],
        x_title=f"predicted probability of {level}",
        y_title="observed frequency",
        description=f"Predicted probabilities of {level} against observed frequencies; the table has the "
        "numbers.",
    )


def _format_share(share: Share) -> str:
    interval = f"95% interval {format_percent(share.low)} to {format_percent(share.high)}"
    return f"{share.n_true:,} of {share.n_rows:,}, {format_probability(share.value)} ({interval})"


def describe_changes(
    changes: Sequence[VersionChange], item: PublishedQuestionnaire, label: Callable[[str], str]
) -> list[Context]:
    """The history of versions."""
    return [
        {
            "version": change.version,
            "action": "published" if change.is_published else "made current again",
            "when": format_time(change.at),
            "by": AUTHORS.get(change.by) or f"by {label(change.by)}",
            "model": change.model,
            "short": change.model[:8],
            "n_interviews": change.n_interviews,
            "n_outcomes": change.n_outcomes,
            "is_current": place == 0 and change.version == item.current.number,
        }
        for place, change in enumerate(changes)
    ]
