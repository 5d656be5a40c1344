"""The settings of a questionnaire: its texts, what respondents see, and who may answer.

A questionnaire is a published model with a target, a strategy, a stopping rule, and these settings. The
model and its schema are fixed when it is trained. The settings belong to the name of the questionnaire,
not to one of its versions: they are stored as an event of its stream, can be edited at any time, and take
effect at once, also in interviews that have already begun. Pages read them through `Texts` alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import Any, ClassVar
from urllib.parse import urlsplit

from eddi.errors import EddiError
from eddi.service.errors import N_
from eddi.table.languages.schema_texts import texts_in_language
from eddi.table.schema import Schema
from eddi.table.section import MAX_TOTAL_SHARE

MAX_LINE = 200  # characters of a title, a name or a label
MAX_TEXT = 5_000  # characters of a paragraph
MAX_ENTRIES = 20_000  # texts by variable, level or question
MAX_SITES = 20  # that may embed the pages
MAX_RESPONDENTS = 10**9
MAX_BEST = 100  # questions of which one is asked at random
MIN_CONTRAST = 4.5  # of white text on the colour, WCAG 2.2 success criterion 1.4.3
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
DIGEST = re.compile(r"[0-9a-f]{64}")
LANGUAGE_CODES = (
    "en",
    "de",
)  # with a catalogue of interface texts in `eddi.service.web.languages.language`
TRANSLATED = (  # the settings that `in_language` replaces
    *("title", "introduction", "consent", "names", "questions", "help", "labels", "safety", "closing"),
)

TextsByName = Mapping[str, str]
TextsByLevel = Mapping[str, Mapping[str, str]]


class QuestionnaireSettingsError(EddiError, ValueError):
    """A setting of a questionnaire is not valid."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = N_("This setting is not valid")


@dataclass(frozen=True)
class QuestionnaireSettings:
    """What the publisher decides about a questionnaire, apart from its model.

    Args:
        title: heading of the start page; it names the target if empty.
        introduction: who asks, and why.
        consent: a text that respondents must agree to before the first question.
        contact: whom to ask about the questionnaire.
        logo: digest of a picture for the header.
        colour: of buttons and links, such as "#0b6b60".
        show_estimate: whether respondents see the estimate while they answer.
        show_result: whether they see it at the end.
        submit_on_choice: whether choosing an option answers the question.
        names: of variables, as respondents read them.
        questions: the texts of questions, by name.
        help: texts below a question or a part of it, by name of the question or variable.
        labels: of levels, by variable and level.
        safety: texts that are shown after an answer, by variable and level. For a quantity, the level is
            a comparison such as ">= 180".
        closing: texts at the end, by level of the first target or comparison; "" is for every result.
        is_listed: whether the first page of the server lists it.
        closes_on: the last day on which interviews can begin (ISO 8601, UTC); empty for no limit.
        max_respondents: how many interviews can begin; 0 for no limit.
        needs_invitation: whether only people with an invitation can begin.
        redirect: the page to go to at the end (https).
        embed_on: sites whose pages may contain the questionnaire, such as "https://example.org".
        languages: codes of the languages that respondents can choose. The texts are in the first one.
        translations: the texts in the other languages: the settings of `TRANSLATED`, by code.
        n_best: ask one of this many best questions at random; 0 for the strategy's own choice.
        max_exposure: maximum share of respondents who are asked the same question; 0 for no limit.
        section_shares: of the questions of an interview, by section; empty for those of the schema.
    """

    title: str = ""
    introduction: str = ""
    consent: str = ""
    contact: str = ""
    logo: str = ""
    colour: str = ""
    show_estimate: bool = True
    show_result: bool = True
    submit_on_choice: bool = True
    names: TextsByName = field(default_factory=dict)
    questions: TextsByName = field(default_factory=dict)
    help: TextsByName = field(default_factory=dict)
    labels: TextsByLevel = field(default_factory=dict)
    safety: TextsByLevel = field(default_factory=dict)
    closing: TextsByName = field(default_factory=dict)
    is_listed: bool = True
    closes_on: str = ""
    max_respondents: int = 0
    needs_invitation: bool = False
    redirect: str = ""
    embed_on: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    translations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    n_best: int = 0
    max_exposure: float = 0.0
    section_shares: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("embed_on", "languages"):
            if isinstance(getattr(self, name), list):  # as in JSON
                object.__setattr__(self, name, tuple(getattr(self, name)))
        _check_types(self)
        for name in ("title", "contact"):
            _check_length(name, getattr(self, name), MAX_LINE)
        for name in ("introduction", "consent"):
            _check_length(name, getattr(self, name), MAX_TEXT)
        _check_texts(self)
        _check_languages(self)
        _check_colour(self.colour)
        if self.logo and not DIGEST.fullmatch(self.logo):
            raise QuestionnaireSettingsError(
                f"logo must be the digest of a file, got {self.logo[:64]!r}."
            )
        _check_date(self.closes_on)
        _check_max_respondents(self.max_respondents)
        if self.redirect:
            check_https_url("the page to go to at the end", self.redirect)
        _check_sites(self.embed_on)
        _check_selection(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "QuestionnaireSettings":
        """Return the settings that `to_document` describes.

        Raises:
            QuestionnaireSettingsError: a key is unknown, or a value is not valid.
        """
        known = {item.name for item in fields(cls)}
        for name in document:
            if name not in known:
                raise QuestionnaireSettingsError(
                    f"there is no setting {str(name)[:40]!r}. Settings are: {', '.join(sorted(known))}."
                )
        return cls(**document)

    @classmethod
    def for_schema(cls, schema: Schema) -> "QuestionnaireSettings":
        """Return the settings of a new questionnaire: the languages of the schema, without texts."""
        codes = dict.fromkeys((schema.language or LANGUAGE_CODES[0], *schema.languages))
        languages = tuple(code for code in codes if code in LANGUAGE_CODES)
        return cls(languages=languages or LANGUAGE_CODES[:1])

    def in_language(self, code: str, schema: Schema | None = None) -> "QuestionnaireSettings":
        """Return the settings with this language first; texts without a translation stay.

        Texts that the schema has in this language are left out, since they are read instead of those in
        the first language.
        """
        if code == self.languages[0]:
            return self
        own = {name: getattr(self, name) for name in TRANSLATED}
        if schema is not None and code in schema.languages:
            own = _leave_out_translated(own, schema, code)
        texts = self.translations.get(code, {})
        merged = own | {name: _merge_texts(own[name], text) for name, text in texts.items()}
        others = tuple(other for other in self.languages if other != code)
        return replace(self, languages=(code, *others), **merged)

    @property
    def selection(self) -> dict[str, Any]:
        """The constraints on the choice of questions that an interview keeps; empty without any."""
        constraints = {"n_best": self.n_best, "shares": dict(self.section_shares)}
        return {name: value for name, value in constraints.items() if value}

    def to_document(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, as plain JSON."""
        default = QuestionnaireSettings()
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        changed = {name: value for name, value in values.items() if value != getattr(default, name)}
        return {name: _to_plain(value) for name, value in changed.items()}


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two colours such as "#0b6b60", from 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def check_https_url(name: str, url: str) -> None:
    """Raise a `QuestionnaireSettingsError` unless ``url`` is a complete https address."""
    _check_length(name, url, MAX_LINE * 5)
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme == "https" and bool(parts.hostname) and parts.username is None
        is_valid = is_valid and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or any(character.isspace() or character in "<>\"'\\" for character in url):
        raise QuestionnaireSettingsError(
            f"{name} must be an address such as https://example.org/thanks, got {url[:100]!r}."
        )


def _check_types(settings: QuestionnaireSettings) -> None:
    defaults = QuestionnaireSettings.__dataclass_fields__
    for name, item in defaults.items():
        value = getattr(settings, name)
        expected = dict if item.default_factory is dict else type(item.default)
        accepted = Mapping if expected is dict else int | float if expected is float else expected
        is_valid = isinstance(value, accepted)
        if not is_valid or (expected in (int, float) and isinstance(value, bool)):
            raise QuestionnaireSettingsError(
                f"the setting {name!r} must be of the type {expected.__name__}, got {value!r:.80}."
            )


def _check_texts(settings: QuestionnaireSettings) -> None:
    by_name = {"names": MAX_LINE, "questions": MAX_TEXT, "help": MAX_TEXT, "closing": MAX_TEXT}
    by_level = {"labels": MAX_LINE, "safety": MAX_TEXT}
    groups = [(name, getattr(settings, name), limit) for name, limit in by_name.items()]
    for name, limit in by_level.items():
        for key, texts in getattr(settings, name).items():
            if not isinstance(texts, Mapping):
                raise QuestionnaireSettingsError(f"{name} of {str(key)[:40]!r} must be texts by level.")
            groups.append((name, texts, limit))
    if sum(len(texts) for _, texts, _ in groups) > MAX_ENTRIES:
        raise QuestionnaireSettingsError(f"there are more than {MAX_ENTRIES:,} texts.")
    for name, texts, limit in groups:
        for key, text in texts.items():
            if not isinstance(key, str) or not isinstance(text, str):
                raise QuestionnaireSettingsError(f"{name} must be texts, got {text!r:.80}.")
            _check_length(f"{name} of {key[:40]!r}", text, limit)


def _check_max_respondents(number: int) -> None:
    if not 0 <= number <= MAX_RESPONDENTS:
        raise QuestionnaireSettingsError(
            f"the maximum number of respondents must be between 0 and {MAX_RESPONDENTS:,}, got {number:,}."
        )


def _check_selection(settings: QuestionnaireSettings) -> None:
    if not 0 <= settings.n_best <= MAX_BEST:
        raise QuestionnaireSettingsError(
            f"the number of best questions must be between 0 and {MAX_BEST}, got {settings.n_best:,}."
        )
    if not 0 <= settings.max_exposure <= 1:
        raise QuestionnaireSettingsError(
            "the maximum share of respondents who are asked the same question must be between 0 and 1, "
            f"got {settings.max_exposure:g}."
        )
    shares = settings.section_shares
    is_valid = all(
        isinstance(name, str) and type(share) in (int, float) and 0 < share <= 1
        for name, share in shares.items()
    )
    if len(shares) > MAX_ENTRIES or not is_valid or sum(shares.values()) > MAX_TOTAL_SHARE:
        raise QuestionnaireSettingsError(
            "the shares of the sections must be numbers above 0 by name, and add up to at most 1, got "
            f"{dict(shares)!r:.80}."
        )


def _check_sites(sites: tuple[str, ...]) -> None:
    if len(sites) > MAX_SITES:
        raise QuestionnaireSettingsError(f"at most {MAX_SITES} sites can embed a questionnaire.")
    for site in sites:
        _check_site(site)


def _check_languages(settings: QuestionnaireSettings) -> None:
    codes = settings.languages
    is_known = all(code in LANGUAGE_CODES for code in codes)
    if not codes or not is_known or len(set(codes)) < len(codes):
        raise QuestionnaireSettingsError(
            f"the languages must be some of {', '.join(LANGUAGE_CODES)}, each at most once, "
            f"got {codes!r:.80}."
        )
    for code, texts in settings.translations.items():
        _check_translation(code, texts)


def _check_translation(code: str, texts: Any) -> None:
    if code not in LANGUAGE_CODES or not isinstance(texts, Mapping):
        raise QuestionnaireSettingsError(
            f"translations must be texts in {', '.join(LANGUAGE_CODES)}, got {code!r:.40}."
        )
    for name in texts:
        if name not in TRANSLATED:
            raise QuestionnaireSettingsError(
                f"{str(name)[:40]!r} cannot be translated. These can be: {', '.join(TRANSLATED)}."
            )
    QuestionnaireSettings(**texts)  # raises an error if a text is not valid


def _leave_out_translated(texts: Mapping[str, Any], schema: Schema, code: str) -> dict[str, Any]:
    """Return texts without those that the schema has in a language."""
    found = texts_in_language(schema, code)
    translated = {
        "names": {name for name, item in found.variables.items() if item.title},
        "labels": {name for name, item in found.variables.items() if item.labels},
        "questions": {name for name, item in found.questions.items() if item.text},
        "help": {name for name, item in found.variables.items() if item.help}
        | {name for name, item in found.questions.items() if item.help},
    }
    return dict(texts) | {
        key: {name: text for name, text in texts[key].items() if name not in names}
        for key, names in translated.items()
    }


def _merge_texts(texts: Any, translated: Any) -> Any:
    """Return texts with those that are translated in place of the others."""
    if not isinstance(texts, Mapping):
        return translated or texts
    missing = {name: text for name, text in texts.items() if name not in translated}
    return missing | {
        name: _merge_texts(texts.get(name, {}) if isinstance(text, Mapping) else texts.get(name), text)
        for name, text in translated.items()
    }


def _check_length(name: str, text: str, limit: int) -> None:
    if len(text) > limit:
        raise QuestionnaireSettingsError(
            f"{name} has {len(text):,} characters; at most {limit:,} are allowed."
        )


def _check_colour(colour: str) -> None:
    if not colour:
        return
    if not COLOUR.fullmatch(colour):
        raise QuestionnaireSettingsError(f"the colour must be such as #0b6b60, got {colour[:40]!r}.")
    ratio = contrast(colour, "#ffffff")
    if ratio < MIN_CONTRAST:
        raise QuestionnaireSettingsError(
            f"white text on {colour} has a contrast of {ratio:.1f} to 1, which many people cannot read. "
            f"Choose a darker colour, with at least {MIN_CONTRAST} to 1."
        )


def _check_date(text: str) -> None:
    try:
        date.fromisoformat(text or "2000-01-01")
    except ValueError:
        raise QuestionnaireSettingsError(
            f"the closing date must be such as 2030-12-31, got {text[:40]!r}."
        ) from None


def _check_site(site: object) -> None:
    if not isinstance(site, str):
        raise QuestionnaireSettingsError(f"a site must be a text, got {site!r:.80}.")
    check_https_url("a site that embeds the questionnaire", site)
    parts = urlsplit(site)
    if parts.path or parts.query or parts.fragment or ";" in site or "," in site or "*" in site:
        raise QuestionnaireSettingsError(
            f"a site is written without a path, such as https://example.org, got {site[:100]!r}."
        )


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _to_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _to_plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
