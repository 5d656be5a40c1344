"""Take the pictures of pages that the documentation shows: `python docs/screenshots.py`.

It serves the demonstration, with the model of `make run` if there is one. For the analyst's page, it trains a
model on the table of "Getting started". It needs Chromium and the packages of `pip install "eddi-ml[test]"`.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import APIResponse, Page, sync_playwright
from sklearn.datasets import load_diabetes

PICTURES = Path(__file__).with_name("pictures")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SIZE = {"width": 1120, "height": 840}
DEMO = Path(__file__).parents[1] / "demo"  # the folder of `make run`
SECONDS_TO_TRAIN, SECONDS_TO_ANSWER = 1800, 120  # on a busy machine
ANSWERS = {
    "age": "58",
    "told prediabetes": "No",
    "highest weight": "95",
    "weight": "88",
    "waist": "104",
    "told high blood pressure": "Yes",
    "diabetes in the family": "Yes",
    "height": "172",
}
"""What is answered to the questions of the demonstration; "I don't know" to all others."""
COLUMNS = {
    "bmi": "body mass index",
    "bp": "blood pressure",
    "s1": "cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol ratio",
    "s5": "log triglycerides",
    "s6": "glucose",
    "target": "progression",
}


@contextmanager
def serve(*arguments: str, folder: Path) -> Iterator[str]:
    """Run a command that serves pages, and yield their address."""
    log = folder / "server.log"
    with log.open("w", encoding="utf-8") as stderr:
        command = [sys.executable, "-m", "eddi", *arguments]
        environment = {**os.environ, "EDDI_PORT": "0", "EDDI_STORE": "memory:", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, cwd=folder, env=environment, stderr=stderr)  # noqa: S603
    try:
        yield _wait_for_address(process, log)
    finally:
        process.terminate()
        process.wait()


def _wait_for_address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + SECONDS_TO_TRAIN
    while time.monotonic() < deadline and process.poll() is None:
        if match := re.search(r"served at (http://\S+)", log.read_text(encoding="utf-8")):
            return match[1]
        time.sleep(0.2)
    raise RuntimeError(f"The server did not start: {log.read_text(encoding='utf-8')}")


def answer(page: Page, answers: Mapping[str, str]) -> None:
    """Answer the question of a page, and wait for the next page."""
    value = answers.get(page.locator("input[name=question]").get_attribute("value") or "")
    if value is None:
        control = page.locator("button[value=unknown]")
    elif page.locator("button.answer").count():
        control = page.get_by_role("button", name=value, exact=True)
    else:
        control = page.locator("button.next")
        page.locator("form.question .box input").fill(value)
    with page.expect_navigation():
        control.click()


def take_question(page: Page, folder: Path) -> None:
    """The fourth question of the demonstration."""
    with serve("demo", "--serve", "--output", str(DEMO), folder=folder) as address:
        page.goto(address)
        with page.expect_navigation():
            page.get_by_role("button", name="Begin").click()
        for _ in range(3):
            answer(page, ANSWERS)
        page.screenshot(path=PICTURES / "question.png")


def take_decision(page: Page, folder: Path) -> None:
    """The analyst's page about the third decision for a held-out row, with a what-if."""
    table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns=COLUMNS)
    table["sex"] = table["sex"].map({1.0: "female", 2.0: "male"})
    with serve("serve", folder=folder) as address:
        digest = _train(page, address.rstrip("/"), table.to_csv(index=False).encode())
        page.goto(f"{address.rstrip('/')}/analyst/models/{digest}/decisions?row=163")
        page.goto(f"{page.url}?step=2")
        with page.expect_navigation():
            page.locator(".answer-list li", has_text="body mass index").locator("a").click()
        page.locator(".box input").fill("38")
        with page.expect_navigation():
            page.get_by_role("button", name="Show the effect").click()
        page.screenshot(path=PICTURES / "analyst-decision.png", full_page=True)


def _train(page: Page, address: str, csv: bytes) -> str:
    """Upload a table, train on it, and return the digest of the model."""
    file = {"name": "diabetes.csv", "mimeType": "text/csv", "buffer": csv}
    table = _read(page.request.post(f"{address}/tables", multipart={"file": file}))["id"]
    spec = {"kind": "fit", "table": table, "target": ["progression"], "steps": 300}
    job = _read(page.request.post(f"{address}/jobs", data=spec))
    deadline = time.monotonic() + SECONDS_TO_TRAIN
    while not job["model"]:
        if job["state"] == "failed" or time.monotonic() > deadline:
            raise RuntimeError(f"No model was trained: {job['words']}")
        time.sleep(1)
        job = _read(page.request.get(f"{address}/jobs/{job['id']}"))
    return str(job["model"])


def _read(response: APIResponse) -> dict[str, Any]:
    if not response.ok:
        raise RuntimeError(f"{response.url}: {response.text()}")
    return dict(response.json())


def main() -> None:
    """Take all pictures."""
    with sync_playwright() as playwright, TemporaryDirectory() as name:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for take in (take_question, take_decision):
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(1000 * SECONDS_TO_ANSWER)
            take(page, Path(name))
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
