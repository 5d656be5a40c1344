"""An operator sees how much is asked, answered and waited for."""

import pytest


@pytest.fixture
def counted(serving):
    """A server of its own, and a function that reads one figure of its metrics."""
    with serving(after=2) as client:

        def figure(name):
            lines = client.get("/metrics").text.splitlines()
            return next(
                (float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " ")), None
            )

        yield client, figure


def test_interviews_answers_rewards_and_waits_are_counted(counted):
    client, figure = counted
    keys = [client.post("/interviews").json()["id"] for _ in range(3)]

    def tell(key, question, values):
        body = {"question": question, "values": values}
        return client.post(
            f"/interviews/{key}/answers", json=body, headers={"Idempotency-Key": question}
        )

    tell(keys[0], "age", 61)
    tell(keys[0], "age", 61)  # a retry is no answer more
    tell(keys[0], "town", None)
    tell(keys[1], "town", {"without": "declined"})
    tell(keys[1], "age", "old")  # refused
    client.delete(f"/interviews/{keys[2]}")
    assert figure('eddi_interviews_total{state="opened"}') == 3
    assert figure('eddi_interviews_total{state="closed"}') == 1
    assert figure('eddi_interviews_total{state="forgotten"}') == 1
    assert figure('eddi_answers_total{kind="value"}') == 1
    assert figure('eddi_answers_total{kind="unknown"}') == 1
    assert figure('eddi_answers_total{kind="declined"}') == 1
    assert figure("eddi_next_question_seconds_count") == 8  # those that were refused waited too
    assert figure("eddi_asked_reward_nats_count") == 5
    assert figure('eddi_requests_total{route="/interviews/{key}/answers",status="422"}') == 1
    assert figure("eddi_batch_interviews_count") > 0


def test_figures_are_as_prometheus_reads_them(client):
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    assert "# HELP eddi_next_question_seconds Time from an answer to the next question." in response.text


def test_drift_and_distance_are_told_without_answers(serving):
    with serving() as client:
        for _ in range(50):
            key = client.post("/interviews").json()["id"]
            body = {"question": "town", "values": "Conwy"}
            assert client.post(f"/interviews/{key}/answers", json=body).status_code == 200
        body = {"question": "age", "values": 61}
        client.post(f"/interviews/{key}/answers", json=body)
        text = client.get("/metrics").text
    [drift] = [line for line in text.splitlines() if line.startswith("eddi_answer_drift{")]
    assert 'variable="town"' in drift
    assert float(drift.rpartition(" ")[2]) > 0.5
    assert "eddi_answer_distance_sd_count 1.0" in text
    told, expected = (
        float(line.rpartition(" ")[2])
        for name in ("told", "expected")
        for line in text.splitlines()
        if line.startswith(f"eddi_answers_{name}_nats_total ")
    )
    assert told > 0
    assert expected > 0
    assert "Conwy" not in text
