"""Operators see how much is asked, answered and waited for."""

import pytest

from eddi.service.interviews.batch_release import MIN_INTERVIEWS

ANSWER_METRICS = ("eddi_answers", "eddi_asked_reward", "eddi_answer_distance", "eddi_answer_drift")


@pytest.fixture
def metered(serving):
    """A new server, and a function that reads one value of its metrics."""
    with serving(after=2) as client:

        def read_metric(name):
            lines = client.get("/metrics").text.splitlines()
            values = [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " ")]
            return values[0] if values else None

        yield client, read_metric


def test_interviews_answers_rewards_and_durations_are_counted(metered):
    client, read_metric = metered
    keys = [client.post("/interviews").json()["id"] for _ in range(3)]

    def answer(key, question, values):
        body = {"question": question, "values": values}
        return client.post(
            f"/interviews/{key}/answers", json=body, headers={"Idempotency-Key": question}
        )

    answer(keys[0], "age", 61)
    answer(keys[0], "age", 61)  # a repeated request is not counted
    answer(keys[0], "town", None)
    answer(keys[0], "pain", "mild")
    answer(keys[1], "town", {"without": "declined"})
    answer(keys[1], "age", "old")  # invalid
    client.delete(f"/interviews/{keys[2]}")
    for _ in range(MIN_INTERVIEWS - 3):
        client.post("/interviews")
    assert read_metric('eddi_interviews_total{state="opened"}') == MIN_INTERVIEWS
    assert read_metric('eddi_interviews_total{state="closed"}') == 1
    assert read_metric('eddi_interviews_total{state="forgotten"}') == 1
    opened = 'eddi_questionnaire_interviews_total{questionnaire="people",state="opened"}'
    assert read_metric(opened) == MIN_INTERVIEWS
    assert read_metric('eddi_answers_total{kind="value"}') == 2
    assert read_metric('eddi_answers_total{kind="unknown"}') == 1
    assert read_metric('eddi_answers_total{kind="declined"}') == 1
    n_requests = MIN_INTERVIEWS + 6  # including the refused ones
    assert read_metric("eddi_next_question_seconds_count") == n_requests
    assert read_metric("eddi_asked_reward_nats_count") == MIN_INTERVIEWS + 3
    assert read_metric('eddi_requests_total{route="/interviews/{key}/answers",status="422"}') == 1
    assert read_metric("eddi_batch_interviews_count") > 0


def test_a_single_answer_does_not_change_the_metrics_of_answers(serving):
    with serving() as client:

        def read_metrics():
            lines = client.get("/metrics").text.splitlines()
            return [line for line in lines if line.startswith(ANSWER_METRICS)]

        keys = [client.post("/interviews").json()["id"] for _ in range(MIN_INTERVIEWS)]
        before = read_metrics()
        for key in keys:
            assert read_metrics() == before
            body = {"question": "age", "values": 61}
            client.post(f"/interviews/{key}/answers", json=body)
        assert read_metrics() != before


def test_metrics_have_the_format_of_prometheus(client):
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    assert "# HELP eddi_next_question_seconds Time from an answer to the next question." in response.text


def test_drift_distance_and_information_are_reported_without_answers(serving):
    with serving() as client:
        for _ in range(50):
            key = client.post("/interviews").json()["id"]
            body = {"question": "town", "values": "Conwy"}
            assert client.post(f"/interviews/{key}/answers", json=body).status_code == 200
        for _ in range(2 * MIN_INTERVIEWS):
            key = client.post("/interviews").json()["id"]
            body = {"question": "age", "values": 61}
            client.post(f"/interviews/{key}/answers", json=body)
        text = client.get("/metrics").text
    [drift] = [line for line in text.splitlines() if line.startswith("eddi_answer_drift{")]
    assert 'variable="town"' in drift
    assert float(drift.rpartition(" ")[2]) > 0.5
    [distances] = [
        line for line in text.splitlines() if line.startswith("eddi_answer_distance_sd_count")
    ]
    assert MIN_INTERVIEWS <= float(distances.rpartition(" ")[2]) < 2 * MIN_INTERVIEWS
    actual, expected = (
        float(line.rpartition(" ")[2])
        for name in ("told", "expected")
        for line in text.splitlines()
        if line.startswith(f"eddi_answers_{name}_nats_total ")
    )
    assert actual > 0
    assert expected > 0
    assert "Conwy" not in text
