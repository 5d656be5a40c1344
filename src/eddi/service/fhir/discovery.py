"""The published questionnaires as FHIR resources, and the search for them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from eddi.errors import EddiError
from eddi.service.fhir.operation_outcome import ResourceError
from eddi.service.fhir.vocabulary import (
    ADAPTIVE_SEARCH,
    IS_ADAPTIVE,
    VERSION_ALGORITHM,
    VERSION_ALGORITHMS,
)
from eddi.service.interviews.questionnaire import Catalogue, Questionnaire
from eddi.service.web.page_context import questionnaire_title

ID_SHAPE = re.compile(r"[A-Za-z0-9\-.]{1,64}")
CANONICAL = re.compile(r"(?:\S*/)?Questionnaire/(?P<id>[A-Za-z0-9\-.]{1,64})(?:\|(?P<version>\S+))?")
SEMVER = re.compile(r"(?P<number>[1-9][0-9]{0,8})\.0\.0")
ACTIVE = "active"

Resource = dict[str, Any]


class QuestionnaireIdError(EddiError, LookupError):
    """There is no questionnaire with this FHIR ID."""

    status = 404


def resource_id(questionnaire: Questionnaire) -> str:
    """Return the FHIR ID of a questionnaire: its name, or a hash of it if the name is not a valid ID."""
    if ID_SHAPE.fullmatch(questionnaire.name):
        return questionnaire.name
    return f"q-{hashlib.sha256(questionnaire.name.encode()).hexdigest()[:32]}"


def version_text(questionnaire: Questionnaire) -> str:
    """Return the version of a questionnaire in the form that SDC prefers (semantic versioning)."""
    return f"{questionnaire.version}.0.0"


def canonical_url(questionnaire: Questionnaire, base_url: str) -> str:
    """Return the address of a questionnaire, without its version."""
    return f"{base_url}/Questionnaire/{resource_id(questionnaire)}"


def describe_questionnaire(questionnaire: Questionnaire, base_url: str) -> Resource:
    """Return a questionnaire without its questions (profile `sdc-questionnaire-adapt-srch`)."""
    algorithm = {"system": VERSION_ALGORITHMS, "code": "semver"}
    settings = questionnaire.settings
    optional = {
        "date": questionnaire.published_at,
        "description": settings.introduction,
        "language": settings.languages[0],
    }
    return {
        "resourceType": "Questionnaire",
        "id": resource_id(questionnaire),
        "meta": {"profile": [ADAPTIVE_SEARCH]},
        "extension": [
            {"url": IS_ADAPTIVE, "valueUrl": base_url},
            {"url": VERSION_ALGORITHM, "valueCoding": algorithm},
        ],
        "url": canonical_url(questionnaire, base_url),
        "version": version_text(questionnaire),
        "name": computable_name(questionnaire.name),
        "title": questionnaire_title(questionnaire),
        "status": ACTIVE,
        "experimental": False,
        "subjectType": ["Patient"],
        **{name: value for name, value in optional.items() if value},
    }


def computable_name(name: str) -> str:
    """Return a name that programs can use as an identifier (FHIR rule cnl-0)."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    return joined if re.fullmatch(r"[A-Z][A-Za-z0-9_]{1,254}", joined) else f"Questionnaire{joined}"


def find_questionnaire(catalogue: Catalogue, identifier: str) -> Questionnaire:
    """Return the current version of the questionnaire with a FHIR ID.

    Raises:
        QuestionnaireIdError: there is none.
        QuestionnaireClosedError: no new interviews can begin.
    """
    for questionnaire in catalogue.all():
        if resource_id(questionnaire) == identifier:
            return questionnaire
    if not ID_SHAPE.fullmatch(identifier):
        raise _unknown_id(identifier)
    try:
        return catalogue.current(identifier)  # one that is not listed
    except LookupError:
        raise _unknown_id(identifier) from None


def resolve_canonical(catalogue: Catalogue, canonical: str, *, is_start: bool) -> Questionnaire:
    """Return the questionnaire that a canonical address names.

    Interviews stay on the version they started with. The host is not compared, because a server can have
    several names.

    Args:
        catalogue: the questionnaires.
        canonical: an address such as "https://example.org/fhir/Questionnaire/people|3.0.0".
        is_start: whether an interview begins, which is possible with the current version only.

    Raises:
        ResourceError: it is not the address of a questionnaire, or there is no such version.
        QuestionnaireIdError: there is no such questionnaire.
    """
    match = CANONICAL.fullmatch(canonical)
    if match is None:
        raise _unknown_version(canonical)
    number = _parse_version(match["version"], canonical)
    if not is_start and number is not None:
        names = {resource_id(listed): listed.name for listed in catalogue.all()}
        earlier = catalogue.find_version(names.get(match["id"], match["id"]), number)
        if earlier is not None:
            return earlier
    current = find_questionnaire(catalogue, match["id"])
    if number not in (None, current.version):
        raise _unknown_version(canonical)
    return current


def _parse_version(text: str | None, canonical: str) -> int | None:
    if text is None:
        return None
    match = SEMVER.fullmatch(text)
    if match is None:
        raise _unknown_version(canonical)
    return int(match["number"])


def _unknown_version(canonical: str) -> ResourceError:
    return ResourceError(
        f"{canonical[:200]!r} is not a current questionnaire of this server. GET /fhir/Questionnaire "
        "lists those that can be answered.",
        code="not-found",
        expression="QuestionnaireResponse.contained.derivedFrom",
    )


def _unknown_id(identifier: str) -> QuestionnaireIdError:
    return QuestionnaireIdError(
        f"there is no questionnaire {identifier[:80]!r}. GET /fhir/Questionnaire lists all."
    )


@dataclass(frozen=True)
class Search:
    """A search for questionnaires. Empty criteria match all; values are separated by commas.

    Args:
        ids: FHIR IDs.
        url: canonical addresses.
        version: versions.
        name: beginnings of computable names, in any case.
        title: beginnings of titles, in any case.
        title_contains: parts of titles, in any case.
        status: states of publication.
        experimental: "true" or "false".
    """

    ids: str = ""
    url: str = ""
    version: str = ""
    name: str = ""
    title: str = ""
    title_contains: str = ""
    status: str = ""
    experimental: str = ""

    def matches(self, resource: Mapping[str, Any]) -> bool:
        """Whether a questionnaire meets all criteria."""
        name, title = str(resource["name"]).casefold(), str(resource["title"]).casefold()
        experimental = str(resource["experimental"]).lower()
        return all(
            (
                _is_any(self.ids, lambda value: value == resource["id"]),
                _is_any(self.url, lambda value: value == resource["url"]),
                _is_any(self.version, lambda value: value == resource["version"]),
                _is_any(self.name, lambda value: name.startswith(value.casefold())),
                _is_any(self.title, lambda value: title.startswith(value.casefold())),
                _is_any(self.title_contains, lambda value: value.casefold() in title),
                _is_any(self.status, lambda value: value.rpartition("|")[2] == resource["status"]),
                _is_any(self.experimental, lambda value: value.rpartition("|")[2] == experimental),
            )
        )


def _is_any(values: str, is_match: Any) -> bool:
    return not values or any(is_match(value) for value in values.split(","))


def build_bundle(
    found: Sequence[Resource], address: str, query: Mapping[str, str], *, count: int, offset: int
) -> Resource:
    """Return a page of search results.

    Args:
        found: all questionnaires that match.
        address: of the search, without its parameters.
        query: the parameters.
        count: the maximum number of results on a page.
        offset: the number of results on earlier pages.
    """
    page = found[offset : offset + count]
    links = {"self": dict(query)}
    if count and offset + count < len(found):
        links["next"] = {**query, "_count": f"{count}", "_offset": f"{offset + count}"}
    bundle: Resource = {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": len(found),
        "link": [
            {"relation": relation, "url": f"{address}?{urlencode(parameters)}".rstrip("?")}
            for relation, parameters in links.items()
        ],
    }
    if page:  # FHIR has no empty lists
        bundle["entry"] = [
            {"fullUrl": resource["url"], "resource": resource, "search": {"mode": "match"}}
            for resource in page
        ]
    return bundle
