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
from eddi.service.analyst.pages.page_context import Context, format_duration, format_time
from eddi.service.errors import N_
from eddi.service.web.api_keys import NO_KEY, SERVER
from eddi.service.web.formatting import format_probability
from eddi.service.web.languages.current import (
    current_language,
    format_integer,
    format_percent,
    gettext,
    localize,
    ngettext,
)
from eddi.service.web.texts import Texts
from eddi.service.web.wording import count_answers
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

MIN_ANSWERS = 20  # to one variable, before its distribution is judged
STABLE, UNSTABLE = 0.1, 0.25  # usual limits of the population stability index
AUTHORS = {SERVER: N_("when the server started"), NO_KEY: N_("by an analyst")}


def describe_summary(summary: Summary, *, n_started: int) -> list[tuple[str, str]]:
    """Names and texts of the figures about all interviews."""
    share = summary.n_finished / summary.n_interviews if summary.n_interviews else 0.0
    is_sampled = summary.n_interviews < n_started
    finished = _format_probability(share) if is_sampled else format_integer(summary.n_finished)
    facts = [(gettext("Started"), format_integer(n_started)), (gettext("Finished"), finished)]
    if summary.mean_answers is not None and summary.saved_share is not None:
        facts += [
            (
                gettext("Answers per finished interview"),
                gettext("%(number)s on average", number=localize(f"{summary.mean_answers:.1f}")),
            ),
            (
                gettext("Saved compared with asking everything"),
                gettext(
                    "%(share)s of %(number)s questions",
                    share=_format_probability(summary.saved_share),
                    number=summary.n_questions,
                ),
            ),
        ]
    if summary.saved_cost is not None:
        facts.append((gettext("Saved costs"), _format_probability(summary.saved_cost)))
    if summary.median_minutes is not None:
        facts.append((gettext("Duration, median"), format_duration(60 * summary.median_minutes)))
    return facts


def describe_drop_off(summary: Summary) -> list[str]:
    """How many interviews ended early, by number of answers."""
    return [
        gettext(
            "%(people)s after %(answers)s",
            people=format_integer(n_people),
            answers=count_answers(n_answers, current_language()),
        )
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
        counts = [
            _format(low)
            if high - low == 1
            else gettext("%(low)s to %(high)s", low=_format(low), high=_format(high - 1))
            for low, high in ranges
        ]
        return [*counts, gettext("%(low)s and more", low=_format(edges[-1]))]
    inner = [
        gettext("%(low)s to under %(high)s", low=_format(low), high=_format(high))
        for low, high in pairwise(edges)
    ]
    first = gettext("under %(high)s", high=_format(edges[0]))
    return [first, *inner, gettext("%(low)s and over", low=_format(edges[-1]))]


def _judge(distribution: AnswerDistribution) -> str:
    """Whether the answers are as the model expected."""
    if distribution.n_people < MIN_ANSWERS:
        answers = count_answers(distribution.n_people, current_language())
        return gettext("%(answers)s: too few to judge.", answers=answers)
    if distribution.stability < STABLE:
        return gettext("As expected.")
    if distribution.stability < UNSTABLE:
        return gettext("Somewhat different from what the model expected.")
    return gettext(
        "Clearly different from what the model expected: people may differ from the training data."
    )


def describe_calibration(
    variable: Variable, result: Result | None, *, n_known: int, texts: Texts
) -> Context:
    """Whether the predictions of a target come true."""
    context: Context = {"title": texts.title(variable), "n_known": n_known, "chart": None, "rows": []}
    if result is None:
        known = gettext("No outcome is known yet.")
        if n_known:
            known = ngettext("One outcome is known.", "%(num)s outcomes are known.", n_known)
        limit = gettext("Calibration is shown from %(number)s on.", number=MIN_OUTCOMES)
        return {**context, "sentences": [f"{known} {limit}"]}
    if isinstance(result, IntervalCoverage):
        return {**context, "sentences": _describe_coverage(result, texts)}
    return {
        **context,
        "sentences": _describe_reliability(result),
        "chart": _reliability_chart(result, texts),
        "rows": [
            (_format_probability(predicted), _format_share(share))
            for predicted, share in zip(result.predicted, result.observed, strict=True)
        ],
    }


def _describe_coverage(result: IntervalCoverage, texts: Texts) -> list[str]:
    error = f"{localize(f'{result.mean_error:.3g}')} {texts.unit(result.variable)}".strip()
    if result.is_compatible:
        verdict = gettext("This is compatible with 90%%.")
    elif result.coverage.high < COVERAGE:
        verdict = gettext("This is less than 90%%: the intervals are too narrow.")
    else:
        verdict = gettext("This is more than 90%%: the intervals are too wide.")
    return [
        gettext(
            "The 90%% interval contained the outcome of %(share)s.", share=_format_share(result.coverage)
        ),
        verdict,
        gettext("The mean absolute error was %(error)s.", error=error),
    ]


def _describe_reliability(result: LevelReliability) -> list[str]:
    expected, accuracy = result.expected_accuracy, result.accuracy
    if accuracy.low <= expected <= accuracy.high:
        verdict = gettext("Both agree.")
    elif expected > accuracy.high:
        verdict = gettext("The model is too certain.")
    else:
        verdict = gettext("The model is too cautious.")
    return [
        gettext("The most likely level was right for %(share)s.", share=_format_share(accuracy)),
        gettext("The model expected %(share)s.", share=_format_probability(expected)) + f" {verdict}",
    ]


def _reliability_chart(result: LevelReliability, texts: Texts) -> charts.Chart:
    variable, shares = result.variable, result.observed
    is_binary = variable.n_levels == 2
    level = gettext("the most likely level")
    if is_binary:
        level = gettext("“%(level)s”", level=texts.level(variable, variable.levels[1]))
    line = charts.Line(
        gettext("outcomes"),
        "eddi",
        result.predicted,
        [share.value for share in shares],
        [share.low for share in shares],
        [share.high for share in shares],
        weights=[share.n_rows / max(share.n_rows for share in shares) for share in shares],
    )
    return charts.calibration_chart(
        [line],
        x_title=gettext("predicted probability of %(level)s", level=level),
        y_title=gettext("observed frequency"),
        description=gettext(
            "Predicted probabilities of %(level)s against observed frequencies; the table has the numbers.",
            level=level,
        ),
    )


def _format_share(share: Share) -> str:
    return gettext(
        "%(true)s of %(all)s, %(share)s (95%% interval %(low)s to %(high)s)",
        true=format_integer(share.n_true),
        all=format_integer(share.n_rows),
        share=_format_probability(share.value),
        low=format_percent(share.low),
        high=format_percent(share.high),
    )


def _format(number: float) -> str:
    return localize(f"{number:g}")


def _format_probability(probability: float) -> str:
    return format_probability(probability, current_language())


def describe_changes(
    changes: Sequence[VersionChange], item: PublishedQuestionnaire, label: Callable[[str], str]
) -> list[Context]:
    """The history of versions."""
    return [
        {
            "version": change.version,
            "action": gettext("Version %(number)s published", number=change.version)
            if change.is_published
            else gettext("Version %(number)s made current again", number=change.version),
            "when": format_time(change.at),
            "by": gettext(AUTHORS[change.by])
            if change.by in AUTHORS
            else gettext("by %(author)s", author=label(change.by)),
            "model": change.model,
            "short": change.model[:8],
            "n_interviews": change.n_interviews,
            "n_outcomes": change.n_outcomes,
            "is_current": place == 0 and change.version == item.current.number,
        }
        for place, change in enumerate(changes)
    ]
