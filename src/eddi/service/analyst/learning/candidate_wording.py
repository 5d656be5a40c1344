"""A candidate and its comparison with the current version, in words."""

import math
from collections.abc import Mapping
from typing import Any

from eddi.evaluate.off_policy.estimates import MIN_EFFECTIVE
from eddi.service.analyst.learning.learning import Candidate
from eddi.service.analyst.pages.page_context import Context, count_rows, format_time
from eddi.service.web.formatting import MINUS
from eddi.service.web.languages.current import format_integer, gettext, localize

Estimate = Mapping[str, Any]


def describe_candidate(candidate: Candidate, *, is_current: bool) -> Context:
    """The data of a candidate's card."""
    result = candidate.job.result
    return {
        "digest": candidate.digest,
        "short": candidate.digest[:8],
        "when": format_time(candidate.job.ended_at),
        "rows": gettext(
            "%(rows)s, %(interviews)s of them interviews",
            rows=count_rows(result["rows"]),
            interviews=format_integer(result["interviews"]),
        ),
        "verdict": describe_verdict(candidate.comparison),
        "figures": list_figures(candidate.comparison),
        "is_better": bool(candidate.comparison and candidate.comparison["is_better"]),
        "version": candidate.version,
        "published_as": candidate.published_as,
        "is_current": is_current,
    }


def describe_verdict(comparison: Mapping[str, Any] | None) -> str:
    """Whether a candidate is better than the version that it was compared with."""
    if comparison is None:
        return gettext(
            "It cannot be compared yet: no held-out interview has an outcome. Record outcomes, and learn "
            "again."
        )
    if comparison["is_better"]:
        return gettext("It is better: its error is smaller with a confidence of 95%%.")
    if comparison["candidate"]["n_effective"] < MIN_EFFECTIVE:
        return gettext(
            "It is not known whether it is better: too few interviews contain what it would have asked. "
            "Random questions (exploration in the schema) make the comparison possible."
        )
    low = comparison["error_difference"]["low"]
    if low is not None and low > 0:
        return gettext("It is worse: its error is larger with a confidence of 95%%.")
    return gettext(
        "No clear difference: it may be better or worse. More interviews with an outcome will tell."
    )


def list_figures(comparison: Mapping[str, Any] | None) -> list[tuple[str, str, str, str]]:
    """Error and cost of the candidate, of the version, and their difference, with 95% intervals."""
    if comparison is None:
        return []
    new, old = comparison["candidate"], comparison["current"]
    return [
        (
            gettext("Error at the end (negative log-likelihood)"),
            format_estimate(new["error"]),
            format_estimate(old["error"]),
            format_estimate(comparison["error_difference"], has_sign=True),
        ),
        (
            gettext("Cost of an interview"),
            format_estimate(new["cost"]),
            format_estimate(old["cost"]),
            format_estimate(comparison["cost_difference"], has_sign=True),
        ),
        (
            gettext("Effective interviews"),
            _format_number(new["n_effective"]),
            _format_number(old["n_effective"]),
            "",
        ),
    ]


def format_estimate(estimate: Estimate, *, has_sign: bool = False) -> str:
    """A value with its interval."""
    value, low, high = (
        _format_number(estimate[name], has_sign=has_sign) for name in ("value", "low", "high")
    )
    return gettext("%(value)s (%(low)s to %(high)s)", value=value, low=low, high=high)


def _format_number(number: float | None, *, has_sign: bool = False) -> str:
    if number is None or not math.isfinite(number):
        return gettext("not known")
    text = f"{number:+.3g}" if has_sign else f"{number:.3g}"
    return localize(text.replace("-", MINUS))
