"""The order of the middleware: refused requests have an ID and headers, are counted, and cost no rate."""

import time

from eddi.service.web.middleware.security_headers import HEADERS


def test_a_refused_request_has_an_id_and_headers_and_is_counted(serving):
    with serving() as client:
        refused = client.get("/", headers={"Host": "evil.example", "X-Request-Id": "r-1"})
        assert refused.status_code == 421
        assert refused.headers["x-request-id"] == "r-1"
        assert refused.json()["instance"] == "urn:eddi:request:r-1"
        assert all(name in refused.headers for name in HEADERS)
        deadline = time.monotonic() + 10  # a request is counted after its response is sent
        while 'status="421"' not in client.get("/metrics").text and time.monotonic() < deadline:
            time.sleep(0.01)
        assert 'eddi_requests_total{route="none",status="421"} 1.0' in client.get("/metrics").text


def test_requests_that_other_checks_refuse_do_not_count_towards_the_rate_limit(serving):
    with serving(rate=0.01, burst=1) as client:
        for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.post("/ask", json={}, headers=headers).status_code in (403, 421)
        assert client.post("/ask", json={}).status_code == 200
        assert client.post("/ask", json={}).status_code == 429
