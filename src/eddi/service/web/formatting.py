"""Formats numbers, probabilities and values for people to read."""

from eddi.reward.units import format_bits, to_bits
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.table.variable import Level

MINUS = "\u2212"  # the typographic minus sign


def format_number(value: float, decimals: int, language: Language = ENGLISH) -> str:
    """Return a number with this many decimals."""
    rounded = round(value, decimals) + 0.0  # adding 0.0 avoids "-0"
    return f"{rounded:.{decimals}f}".replace("-", MINUS).replace(".", language.decimal)


def format_signed(value: float, decimals: int, language: Language = ENGLISH) -> str:
    """Return a number with its sign; "0" if it rounds to zero."""
    rounded = round(value, decimals)
    text = f"{rounded:+.{decimals}f}" if rounded else "0"
    return text.replace("-", MINUS).replace(".", language.decimal)


def format_percent(share: float, language: Language = ENGLISH) -> str:
    """Return a share as a whole number of percent."""
    return language.gettext("%(number)s%%", number=f"{100 * share:.0f}")


def format_probability(probability: float, language: Language = ENGLISH) -> str:
    """Return a probability in percent; only exact certainty is shown as 0% or 100%."""
    if 0 < probability < 0.01:
        return language.gettext("under 1%%")
    if 0.99 < probability < 1:
        return language.gettext("over 99%%")
    return format_percent(probability, language)


def format_information(nats: float) -> str:
    """Return an amount of information in bits; an estimate slightly below zero is shown as zero."""
    n_digits = 2 if to_bits(nats) >= 1 else 3  # the answers to a long questionnaire each tell little
    return format_bits(max(0.0, nats), n_digits=n_digits)


def format_value(value: Level, language: Language = ENGLISH) -> str:
    """Return a value as a person would type it."""
    if isinstance(value, float):
        return f"{value:.10g}".replace(".", language.decimal)
    return str(value)


def format_level(level: Level, language: Language = ENGLISH) -> str:
    """Return a level as the label of an option."""
    if isinstance(level, bool):
        return language.gettext("Yes") if level else language.gettext("No")
    return capitalize(format_value(level, language))


def capitalize(text: str) -> str:
    """Return the text with a capital first letter; the rest stays, unlike in `str.capitalize`."""
    return text[:1].upper() + text[1:]


def format_bytes(n_bytes: int) -> str:
    """Return a size in MB, or in kB if it is smaller than one MB."""
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 1_000_000 else f"{n_bytes / 1e3:,.0f} kB"
