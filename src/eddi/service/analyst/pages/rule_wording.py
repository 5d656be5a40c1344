"""When interviews end and in which order questions are asked, in words."""

from eddi.reward.units import to_bits
from eddi.service.errors import N_
from eddi.service.web.languages.current import format_percent, gettext, localize, ngettext
from eddi.strategy.stopping import Stop

DEFAULT_ORDER = N_("most informative question, per unit of cost if costs differ")
ORDERS = {  # by the name of the strategy
    "information": N_("most informative question"),
    "per-cost": N_("most information per unit of cost"),
    "lookahead": N_("most informative two questions"),
    "randomesque": N_("one of the five best questions, at random"),
    "random": N_("random order"),
    "fixed": N_("the same order for everybody"),
}
CONDITIONS = {
    "probability_above": N_("when a level is %(number)s likely"),
    "interval_below": N_("when the 90%% interval is narrower than %(number)s"),
    "sd_below": N_("when the standard deviation is below %(number)s"),
    "reward_below": N_("when no question has an expected information of %(number)s bits"),
    "risk": N_("when the expected error rate is at most %(number)s"),
    "risk_below": N_("when the risk at the horizon is at most %(number)s"),
    "risk_above": N_("when the risk at the horizon is at least %(number)s"),
}


def describe_stop(stop: Stop) -> str:
    """Return when interviews end, in a few words."""
    given = stop.to_document()
    ends = []
    if stop.after is not None:
        ends.append(ngettext("after one answer", "after %(num)s answers", stop.after))
    ends += [
        gettext(text, number=_format_limit(name, given[name]))
        for name, text in CONDITIONS.items()
        if name in given
    ]
    parts = [gettext("stops %(conditions)s", conditions=gettext(" or ").join(ends))] if ends else []
    if "budget" in given:
        cost = localize(f"{stop.budget:g}")
        parts.append(gettext("questions cost at most %(cost)s in total", cost=cost))
    return "; ".join(parts) or gettext("asks all questions")


def describe_order(strategy: str) -> str:
    """Return in which order a strategy asks."""
    return gettext(ORDERS.get(strategy, DEFAULT_ORDER))


def _format_limit(name: str, value: float) -> str:
    if name in ("probability_above", "risk_below", "risk_above"):
        return format_percent(value)
    if name == "reward_below":
        return localize(f"{to_bits(value):.3g}")
    return localize(f"{value:g}")
