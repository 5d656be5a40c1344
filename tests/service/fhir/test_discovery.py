"""Published questionnaires as resources, and the search for them."""

from dataclasses import replace

import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.questionnaire import Questionnaire as QuestionnaireResource

from eddi.service.fhir.discovery import (
    QuestionnaireIdError,
    Search,
    build_bundle,
    computable_name,
    describe_questionnaire,
    find_questionnaire,
    resolve_canonical,
    resource_id,
)
from eddi.service.fhir.operation_outcome import ResourceError
from eddi.service.interviews.questionnaire import FixedCatalogue
from eddi_benchmarks.service.fhir_rules import check_search_result

BASE = "https://example.org/fhir"


@pytest.fixture
def described(questionnaire):
    dated = replace(questionnaire, published_at="2026-01-01T12:00:00+00:00")
    return describe_questionnaire(dated, BASE)


def test_a_questionnaire_keeps_the_rules_of_the_search_profile(described):
    assert check_search_result(described) == []
    QuestionnaireResource.model_validate(described)


def test_a_questionnaire_names_the_server_that_answers_next_question(described):
    assert described["extension"][0]["valueUrl"] == BASE
    assert (described["url"], described["version"]) == (f"{BASE}/Questionnaire/people", "1.0.0")


@pytest.mark.parametrize("name", ["my_people", "Größe", "a b", "x" * 80])
def test_a_name_that_is_no_fhir_id_gets_a_hash(questionnaire, name):
    odd = replace(questionnaire, name=name)
    assert resource_id(odd).startswith("q-")
    assert find_questionnaire(FixedCatalogue((odd,)), resource_id(odd)) is odd


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("people", "People"),
        ("heart attack 2", "HeartAttack2"),
        ("2024", "Questionnaire2024"),
        ("é", "Questionnaire"),
    ],
)
def test_a_computable_name_is_an_identifier(name, expected):
    assert computable_name(name) == expected


def test_an_unknown_id_is_refused(client):
    catalogue = client.app.state.service.catalogue
    for identifier in ("nobody", "$x", "a" * 65):
        with pytest.raises(QuestionnaireIdError, match="there is no questionnaire"):
            find_questionnaire(catalogue, identifier)


def test_a_form_stays_on_the_version_it_started_with(questionnaire):
    old, new = questionnaire, questionnaire.with_version("people", 2)
    catalogue = FixedCatalogue((old, new))
    assert resolve_canonical(catalogue, f"{BASE}/Questionnaire/people|1.0.0", is_start=False) is old
    assert resolve_canonical(catalogue, f"{BASE}/Questionnaire/people", is_start=True).name == "people"


def test_a_version_that_does_not_exist_is_refused(questionnaire):
    catalogue = FixedCatalogue((questionnaire,))
    for canonical in ("Questionnaire/people|7.0.0", "Questionnaire/people|x", "Patient/1"):
        with pytest.raises(ResourceError, match="is not a current questionnaire"):
            resolve_canonical(catalogue, canonical, is_start=False)


@pytest.mark.parametrize(
    ("criteria", "matches"),
    [
        ({}, True),
        ({"ids": "people"}, True),
        ({"ids": "other,people"}, True),
        ({"ids": "other"}, False),
        ({"url": f"{BASE}/Questionnaire/people"}, True),
        ({"url": "http://other"}, False),
        ({"version": "1.0.0"}, True),
        ({"version": "2.0.0"}, False),
        ({"name": "peo"}, True),
        ({"name": "ople"}, False),
        ({"title": "STA"}, True),
        ({"title_contains": "tag"}, True),
        ({"title_contains": "x"}, False),
        ({"status": "active"}, True),
        ({"status": "draft"}, False),
        ({"experimental": "false"}, True),
        ({"experimental": "true"}, False),
        ({"name": "peo", "status": "draft"}, False),
    ],
)
def test_a_search_compares_all_criteria(described, criteria, matches):
    assert Search(**criteria).matches(described) is matches


def test_a_bundle_has_pages(described):
    found = [{**described, "id": f"q{n}"} for n in range(5)]
    bundle = build_bundle(found, f"{BASE}/Questionnaire", {"status": "active"}, count=2, offset=2)
    assert (bundle["total"], len(bundle["entry"])) == (5, 2)
    links = {link["relation"]: link["url"] for link in bundle["link"]}
    assert links["self"] == f"{BASE}/Questionnaire?status=active"
    assert links["next"] == f"{BASE}/Questionnaire?status=active&_count=2&_offset=4"
    Bundle.model_validate(bundle)


def test_a_bundle_without_results_has_no_empty_list():
    bundle = build_bundle([], BASE, {}, count=10, offset=0)
    assert "entry" not in bundle
    assert bundle["total"] == 0
