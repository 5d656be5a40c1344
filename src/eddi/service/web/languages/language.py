"""The languages of the pages: catalogues of texts, and formats of numbers and dates."""

import gettext
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import as_file, files

from eddi.service.errors import N_
from eddi.service.interviews.questionnaire_settings import LANGUAGE_CODES

PACKAGE = "eddi.service.web"
DOMAIN = "eddi"
MONTHS = (
    *(N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June")),
    *(N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December")),
)


@dataclass(frozen=True)
class Language:
    """A language of the pages.

    Args:
        code: of the language (BCP 47), for the attribute ``lang`` of a page.
        name: of the language, in the language itself.
        decimal: the decimal separator.
        catalogue: the translations of the English texts.
    """

    code: str = "en"
    name: str = "English"
    decimal: str = "."
    catalogue: gettext.NullTranslations = field(default_factory=gettext.NullTranslations, compare=False)

    def gettext(self, message: str, /, **values: object) -> str:
        """Return the translation of an English text, with ``%(name)s`` replaced by a value.

        A percent sign is written "%%", as in the templates.
        """
        return self.catalogue.gettext(message) % values

    def ngettext(self, singular: str, plural: str, n: int, /, **values: object) -> str:
        """Return the translation of a text for ``n`` things; ``%(num)s`` is their number."""
        return self.catalogue.ngettext(singular, plural, n) % {"num": n, **values}

    def localize(self, number: str) -> str:
        """Return a number in English notation, such as "1,234.5", as it is written in this language."""
        if self.decimal == ".":
            return number
        return number.translate(str.maketrans(",.", f".{self.decimal}"))

    def format_date(self, day: date) -> str:
        """Return a date such as "16 November 2026"."""
        month = self.gettext(MONTHS[day.month - 1])
        return self.gettext("%(day)s %(month)s %(year)s", day=day.day, month=month, year=day.year)


def load_language(code: str, name: str, decimal: str) -> Language:
    """Return a language with the catalogue of this package."""
    folder = files(PACKAGE).joinpath("locale")
    with as_file(folder) as path:
        return Language(code, name, decimal, gettext.translation(DOMAIN, path, [code]))


ENGLISH = Language()
LANGUAGES: Mapping[str, Language] = {
    "en": ENGLISH,  # the language of the texts in the code
    "de": load_language("de", "Deutsch", ","),
}
assert tuple(LANGUAGES) == LANGUAGE_CODES  # noqa: S101  # settings accept the languages that exist
