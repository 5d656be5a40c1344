"""A complete FHIR interview with `eddi serve`, each step checked against the rules of the profiles."""

from pathlib import Path

import httpx
import pytest
from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse

from eddi_benchmarks.service.fhir_client import Resource, answer_item, fill
from eddi_benchmarks.service.fhir_rules import check_response, check_search_result

from .server import run_server


def answer(item: Resource) -> Resource:
    """Answer an item; quantities are those of a tall person."""
    value = {"Größe": 181.5, "体重": 78.0}.get(item["linkId"])
    answers = [{"valueDecimal": value}]
    return answer_item(item) if value is None else {"linkId": item["linkId"], "answer": answers}


@pytest.mark.slow
def test_a_form_is_found_filled_and_completed(fitted: Path, tmp_path: Path) -> None:
    with (
        run_server(fitted, tmp_path, "memory:") as server,
        httpx.Client(base_url=server.address, timeout=30) as client,
    ):
        [entry] = client.get("/fhir/Questionnaire").json()["entry"]
        assert check_search_result(entry["resource"]) == []
        responses = fill(client, entry["resource"]["url"], answer=answer)
    assert [check_response(response) for response in responses] == [[]] * len(responses)
    for response in responses:
        QuestionnaireResponse.model_validate(response)
    assert [response["status"] for response in responses] == ["in-progress"] * 4 + ["completed"]
