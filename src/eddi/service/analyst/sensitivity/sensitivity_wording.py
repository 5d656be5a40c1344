"""A sensitivity analysis in words: what would change if the missing values were higher or lower."""

from eddi.evaluate.sensitivity import Sensitivity
from eddi.service.analyst.pages.page_context import Context, analyst_texts, count_rows
from eddi.service.errors import N_
from eddi.service.web.formatting import MINUS
from eddi.service.web.languages.current import format_percent, gettext, localize
from eddi.table.variable import Variable

ASSUMPTIONS = {  # by difference in standard deviations
    -1.0: N_("much lower (by one standard deviation)"),
    -0.5: N_("lower (by half a standard deviation)"),
    0.0: N_("as those of similar people"),
    0.5: N_("higher (by half a standard deviation)"),
    1.0: N_("much higher (by one standard deviation)"),
}
LARGE_POINTS = 0.05  # change of a mean probability that matters
LARGE_SHARE = 0.1  # change of a mean, as a share of the spread of predictions


def describe(
    result: Sensitivity, target: Variable, variable: Variable, *, n_rows: int, n_missing: int
) -> Context:
    """The sentences and the table of the page."""
    texts = analyst_texts()
    has_levels = target.kind.has_levels
    quantity = (
        gettext("probability of “%(level)s”", level=texts.level(target, target.levels[-1]))
        if has_levels
        else gettext("estimate of %(name)s", name=texts.name(target))
    )
    return {
        "count": gettext(
            "%(missing)s of %(rows)s have no value of “%(name)s”.",
            missing=n_missing,
            rows=count_rows(n_rows),
            name=texts.name(variable),
        ),
        "quantity": quantity,
        "verdict": describe_verdict(result, has_levels=has_levels, quantity=quantity),
        "lines": [
            {
                "assumption": gettext(ASSUMPTIONS[float(delta)]),
                "is_assumed": delta == 0,
                "value": "" if variable.kind.has_levels else _format(value, has_levels=False),
                "mean": _format(mean, has_levels=has_levels),
                "change": _format_change(change, has_levels=has_levels),
            }
            for delta, value, mean, change in zip(
                result.deltas.tolist(),
                result.values.tolist(),
                result.mean_predictions.tolist(),
                result.max_changes.tolist(),
                strict=True,
            )
        ],
    }


def describe_verdict(result: Sensitivity, *, has_levels: bool, quantity: str) -> str:
    """Whether the assumption matters for the mean prediction."""
    means = result.mean_predictions
    low, high = float(means.min()), float(means.max())
    spread = float(result.predictions.std())
    is_large = high - low > (LARGE_POINTS if has_levels else LARGE_SHARE * spread)
    values = {
        "quantity": quantity,
        "low": _format(low, has_levels=has_levels),
        "high": _format(high, has_levels=has_levels),
    }
    if is_large:
        return gettext(
            "It matters: on average, the %(quantity)s would be between %(low)s and %(high)s. Ask for the "
            "value in another way, or report this range.",
            **values,
        )
    return gettext(
        "It hardly matters: on average, the %(quantity)s would be between %(low)s and %(high)s.",
        **values,
    )


def _format(number: float, *, has_levels: bool) -> str:
    return format_percent(number) if has_levels else localize(f"{number:.3g}".replace("-", MINUS))


def _format_change(change: float, *, has_levels: bool) -> str:
    if has_levels:
        return gettext("%(number)s points", number=round(100 * change))
    return localize(f"{change:.3g}")
