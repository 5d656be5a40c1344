"""Which language a respondent reads: the chosen one, then one that the browser asks for, then the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from fastapi import Request, Response

from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.web.cookies import set_cookie
from eddi.service.web.languages.language import LANGUAGES

LANGUAGE_COOKIE = "eddi_language"
PARAMETER = "lang"  # of the address, such as /q/heart?lang=de
MAX_PREFERENCES = 20  # languages that are read from a browser's list


@dataclass(frozen=True)
class LanguageLink:
    """A link to a page in another language, or in the same."""

    code: str
    name: str
    address: str
    is_current: bool


def choose_language(request: Request, offered: Sequence[str] = tuple(LANGUAGES)) -> str:
    """Return the code of the language for a request, one of those that are offered."""
    chosen = (request.query_params.get(PARAMETER, ""), request.cookies.get(LANGUAGE_COOKIE, ""))
    preferred = parse_accept_language(request.headers.get("accept-language", ""))
    return next((code for code in (*chosen, *preferred) if code in offered), offered[0])


def translate(request: Request, questionnaire: Questionnaire) -> Questionnaire:
    """Return a questionnaire in the language of a request."""
    code = choose_language(request, questionnaire.settings.languages)
    return questionnaire.in_language(code)


def remember_language(request: Request, response: Response) -> None:
    """Set a cookie with the language that the address names, if it exists."""
    code = request.query_params.get(PARAMETER, "")
    if code in LANGUAGES:
        set_cookie(request, response, LANGUAGE_COOKIE, code)


def switch_links(
    request: Request, offered: Sequence[str], *, current: str, page: str, parameter: str = PARAMETER
) -> list[LanguageLink]:
    """Return a link to the same page for each language; none if there is only one.

    Args:
        request: the request of the page.
        offered: codes of the languages.
        current: the language of the page.
        page: where the links lead if the page is the response to a form, which has no address.
        parameter: of the address that names the language.
    """
    if len(offered) < 2:
        return []
    is_page = request.method in ("GET", "HEAD")
    query = dict(request.query_params) if is_page else {}
    path = quote(request.url.path) if is_page else page
    return [
        LanguageLink(
            code, language.name, f"{path}?{urlencode({**query, parameter: code})}", code == current
        )
        for code, language in LANGUAGES.items()
        if code in offered
    ]


def parse_accept_language(header: str) -> list[str]:
    """Return the codes in an Accept-Language header without their regions, most preferred first."""
    weights: dict[str, float] = {}
    for item in header.split(",")[:MAX_PREFERENCES]:
        tag, _, parameter = item.partition(";")
        weight = _parse_weight(parameter)
        if weight > 0:
            weights.setdefault(tag.strip().lower().partition("-")[0], weight)
    return sorted(weights, key=lambda code: -weights[code])


def _parse_weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
