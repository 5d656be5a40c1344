"""Messages of the library in the language of a page.

The library and the processes of jobs write English, and jobs store their errors as text. A page therefore
recognises a message by its template (`message_templates`), and formats the translation of the template with
the values that it found. A message without a template stays English.
"""

import re

from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.current import current_language
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.service.web.languages.message_templates import TEMPLATES

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
MIN_INNER_CHARS = 10  # of a value that may be a message itself, such as a reason
MAX_CHARS = 2000  # of a message that is recognised


def translate_message(text: str, language: Language | None = None) -> str:
    """Return a message of the library in a language, by default that of the present request."""
    language = language or current_language()
    if language == ENGLISH or len(text) > MAX_CHARS:
        return text
    for template, pattern in PATTERNS:
        if found := pattern.fullmatch(text):
            values = {
                name: translate_message(value, language) if len(value) >= MIN_INNER_CHARS else value
                for name, value in found.groupdict().items()
            }
            return language.gettext(template, **values)
    return text


def describe_error(error: Exception) -> str:
    """Return the message of an error as a sentence in the language of the present request."""
    return capitalize(translate_message(str(error)))


def _compile(template: str) -> re.Pattern[str]:
    parts = PLACEHOLDER.split(template)  # texts at even positions, names at odd ones
    pattern = "".join(
        f"(?P<{part}>.+?)" if place % 2 else re.escape(part.replace("%%", "%"))
        for place, part in enumerate(parts)
    )
    return re.compile(pattern, re.DOTALL)


PATTERNS = tuple(
    (template, _compile(template))
    for template in sorted(TEMPLATES, key=lambda template: -len(PLACEHOLDER.sub("", template)))
)
"""All templates with a pattern; those with more text come first, since they are more specific."""
