"""A questionnaire in a frame of another site, in a real browser: allowed sites show it, others do not.

All servers use HTTPS, as browsers require: cookies of embedded pages are sent only then. The server of the
questionnaire has another host than the two sites, so that the frame is a third party.
"""

import http.server
import os
import re
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright

from eddi.service.app import build
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.settings import Settings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPENSSL = shutil.which("openssl")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.skipif(OPENSSL is None, reason="OpenSSL is not installed"),
]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for this machine and its key; the browser ignores that nobody signed it."""
    folder = tmp_path_factory.mktemp("certificate")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    names = ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    return certificate, key


@contextmanager
def serve_page(certificate, make_page):
    """A site on a free port whose only page is ``make_page()``; yields its origin."""

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = make_page().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"https://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serve_questionnaire(certificate, model_file, allowed):
    """The questionnaire, which one site may embed; yields its address."""
    app = build(Settings(model=str(model_file), target="stage", store="memory:", rate=0.0))
    settings = replace(QuestionnaireSettings(), embed_on=(allowed,))
    app.state.workshop.publisher.change_settings("people", settings)
    pem, key = map(str, certificate)
    config = uvicorn.Config(app, port=0, log_config=None, ssl_certfile=pem, ssl_keyfile=key)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"https://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/q/people"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def sites(certificate, model_file):
    """The origins of a site that may embed the questionnaire, and of one that may not."""
    address = ""

    def make_page():
        return f'<!doctype html><title>Site</title><iframe src="{address}" width="380" height="800">'

    with (
        serve_page(certificate, make_page) as allowed,
        serve_page(certificate, make_page) as other,
        serve_questionnaire(certificate, model_file, allowed) as served,
    ):
        address = served
        yield allowed, other


@pytest.fixture
def page():
    flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium.new_context(ignore_https_errors=True).new_page()
        chromium.close()


def test_an_allowed_site_shows_the_questionnaire_and_it_can_be_answered(page, sites):
    page.goto(sites[0])
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name=re.compile("Begin")).click()
    expect(frame.get_by_text("Question 1", exact=True)).to_be_visible()
    frame.get_by_role("button", name="Later").click()
    expect(frame.get_by_role("button", name="Later")).to_be_visible()
    frame.get_by_role("link", name="Answers").click()
    expect(frame.get_by_role("heading", level=1)).to_be_visible()


def test_another_site_does_not_show_the_questionnaire(page, sites):
    refusals = []
    page.on("console", lambda message: refusals.append(message.text))
    page.goto(sites[1])
    page.wait_for_timeout(1000)
    assert [frame.url.partition(":")[0] for frame in page.frames[1:]] == ["chrome-error"]
    assert any("frame-ancestors" in text for text in refusals)
