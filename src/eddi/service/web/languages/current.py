"""The language of the present request, for the analyst's pages.

Their texts are composed by many small functions, so the language is a context variable, as in most web
frameworks, and not an argument of each of them. It is English outside of a request.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from eddi.service.web.languages.language import ENGLISH, Language

_LANGUAGE: ContextVar[Language] = ContextVar("language", default=ENGLISH)


@contextmanager
def use_language(language: Language) -> Iterator[None]:
    """Use a language until the end of the block, in this task and in the threads that it waits for."""
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def current_language() -> Language:
    """Return the language of the present request."""
    return _LANGUAGE.get()


def gettext(message: str, /, **values: object) -> str:
    """Return the translation of an English text; see `Language.gettext`."""
    return current_language().gettext(message, **values)


def ngettext(singular: str, plural: str, n: int, /, **values: object) -> str:
    """Return the translation of a text for ``n`` things; see `Language.ngettext`."""
    return current_language().ngettext(singular, plural, n, **values)


def localize(number: str) -> str:
    """Return a number such as "1,234.5" as it is written in the language."""
    return current_language().localize(number)


def format_integer(number: int) -> str:
    """Return a whole number with separators of thousands."""
    return localize(f"{number:,}")


def format_percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent."""
    return gettext("%(number)s%%", number=localize(f"{100 * share:.{decimals}f}"))
