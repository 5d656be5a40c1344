"""The log describes requests without their content."""

import json

from eddi.service.web.api_keys import Keys, Role


def test_the_log_has_one_line_per_request_and_no_private_content(serving, log):
    with serving() as client:
        key = client.post("/interviews").json()["id"]
        secret = {"Authorization": "Bearer eddi_0123456789ab_secret", "Idempotency-Key": "idem-77"}
        answer = {"question": "town", "values": "Conwy"}
        client.post(f"/interviews/{key}/answers", json=answer, headers={**secret, "X-Request-Id": "r-1"})
        client.post(f"/interviews/{key}/answers", json={"question": "age", "values": "Methuselah"})
        client.get(f"/interviews/{key}?note=Conwy")
        client.get("/Conwy")
        client.head(f"/interviews/{key}")
    text = log.wait_for_lines(6)
    for private in (key, "Conwy", "town", "Methuselah", "eddi_0123", "secret", "idem-77", "127.0.0.1"):
        assert private not in text
    # The last request of an earlier test may be logged late, by its own server.
    lines = [line for line in map(json.loads, text.splitlines()) if line["route"] != "/healthz"]
    assert {"at", "level", "what", "request", "method", "route", "status", "ms"} == set(lines[1])
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/interviews", 201),
        ("POST", "/interviews/{key}/answers", 200),
        ("POST", "/interviews/{key}/answers", 422),
        ("GET", "/interviews/{key}", 200),
        ("GET", "none", 404),
        ("GET", "/interviews/{key}", 200),
    ]
    assert lines[1]["request"] == "r-1"


def test_the_name_of_an_api_key_is_logged_without_its_secret(serving, log):
    with serving(keys="required") as client:
        text = Keys(client.app.state.service.store).issue(Role.OPERATOR, days=1)
        client.get("/metrics", headers={"Authorization": f"Bearer {text}"})
        lines = log.wait_for_lines(1)
    _, name, secret = text.split("_", 2)
    assert f'"key": "{name}"' in lines
    assert secret not in lines
