"""Requests that are too large are refused, whether they declare their length or not."""

import pytest


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_body_that_is_too_large_is_refused(client, is_streamed):
    content = iter([b"x" * 40_000] * 3) if is_streamed else b"x" * 70_000
    response = client.post("/ask", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert "larger than 65,536 bytes" in response.json()["detail"]
    assert response.headers["content-type"] == "application/problem+json"


def test_tables_and_forms_of_analysts_may_be_larger(client):
    for path in ("/tables", "/analyst/tables", "/analyst/sign-in"):
        response = client.post(path, content=b"x" * 70_000)
        assert response.status_code != 413, path
