"""Survival predictions in words."""

import math

from eddi.model.prediction import Prediction
from eddi.service.web.formatting import format_probability, format_value
from eddi.service.web.texts import PLAIN, Texts


def describe_risk(prediction: Prediction, texts: Texts = PLAIN) -> str:
    """Return the risk up to the last horizon, such as "23% up to 365 days"."""
    survival, language = prediction.variable.survival, texts.language
    horizon = prediction.curve.horizon if survival is None else survival.shown_horizons[-1]
    return language.gettext(
        "%(risk)s up to %(time)s",
        risk=format_probability(float(prediction.risk(horizon)), language),
        time=_format_time(horizon, prediction, texts),
    )


def describe_risks(prediction: Prediction, texts: Texts = PLAIN) -> list[str]:
    """Return the probability of no event up to each horizon, and the median, as sentences."""
    survival, language = prediction.variable.survival, texts.language
    horizons = () if survival is None else survival.shown_horizons
    sentences = [
        language.gettext(
            "Of 100 people with these answers, about %(count)s have no event up to %(time)s.",
            count=round(100 * float(prediction.curve.at(horizon))),
            time=_format_time(horizon, prediction, texts),
        )
        for horizon in horizons
    ]
    median = float(prediction.median)
    if not math.isfinite(median):
        end = _format_time(prediction.curve.horizon, prediction, texts)
        text = language.gettext("More than half have no event up to %(time)s.", time=end)
    else:
        middle = _format_time(float(f"{median:.2g}"), prediction, texts)
        text = language.gettext("Half of them have no event up to about %(time)s.", time=middle)
    return [*sentences, text]


def _format_time(time: float, prediction: Prediction, texts: Texts) -> str:
    return f"{format_value(time, texts.language)} {texts.unit(prediction.variable)}".strip()
