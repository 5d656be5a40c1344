"""The metrics of several workers add up, also after some of them have ended."""

import json
import os

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from eddi.service.server.worker_metrics import WorkerMetrics, keep_counters, worker_file


class Registry:
    """The metrics of one worker."""

    def __init__(self):
        self.registry = CollectorRegistry()
        self.answers = Counter("answers", "Answers.", ["kind"], registry=self.registry)
        self.seconds = Histogram("seconds", "Time.", buckets=(1, 2), registry=self.registry)
        self.memory = Gauge("memory", "Memory.", registry=self.registry)
        self.max_fds = Gauge("process_max_fds", "Files.", registry=self.registry)
        labels = ["variable"]
        self.drift = Gauge("eddi_answer_drift", "Drift.", labels, registry=self.registry)
        self.weight = Gauge("eddi_answer_drift_answers", "Answers.", labels, registry=self.registry)


def observe(metrics, *, n_answers, seconds, memory, drift):
    metrics.answers.labels("value").inc(n_answers)
    metrics.seconds.observe(seconds)
    metrics.memory.set(memory)
    metrics.max_fds.set(1000)
    metrics.drift.labels("age").set(drift)
    metrics.weight.labels("age").set(n_answers)


@pytest.fixture
def workers(tmp_path):
    """This worker, and the file of another one."""
    this, other = Registry(), Registry()
    observe(this, n_answers=100, seconds=0.5, memory=7, drift=0.1)
    observe(other, n_answers=300, seconds=1.5, memory=8, drift=0.3)
    WorkerMetrics(other.registry, tmp_path).write()
    worker_file(tmp_path, os.getpid()).replace(worker_file(tmp_path, 1))
    return WorkerMetrics(this.registry, tmp_path)


def read(workers):
    reported = CollectorRegistry()
    reported.register(workers)
    lines = generate_latest(reported).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}


def test_counters_histograms_and_gauges_are_added(workers):
    metrics = read(workers)
    assert metrics['answers_total{kind="value"}'] == 400
    assert metrics['seconds_bucket{le="1.0"}'] == 1
    assert metrics['seconds_bucket{le="2.0"}'] == 2
    assert metrics["seconds_sum"] == 2
    assert metrics["memory"] == 15
    assert metrics["process_max_fds"] == 1000


def test_the_drift_is_averaged_with_the_number_of_answers(workers):
    metrics = read(workers)
    assert metrics['eddi_answer_drift{variable="age"}'] == pytest.approx(0.25)
    assert metrics['eddi_answer_drift_answers{variable="age"}'] == 400


def test_a_worker_that_has_ended_keeps_its_counters_but_not_its_gauges(workers, tmp_path):
    keep_counters(tmp_path, 1)
    keep_counters(tmp_path, 2)  # it never wrote a file
    metrics = read(workers)
    assert metrics['answers_total{kind="value"}'] == 400
    assert metrics["memory"] == 7
    assert metrics['eddi_answer_drift{variable="age"}'] == pytest.approx(0.1)
    assert not worker_file(tmp_path, 1).exists()


def test_a_worker_that_ends_during_a_report_is_counted_once(workers, tmp_path):
    content = worker_file(tmp_path, 1).read_text()
    keep_counters(tmp_path, 1)
    worker_file(tmp_path, 1).write_text(content)
    assert read(workers)['answers_total{kind="value"}'] == 400


def test_files_contain_plain_json(workers, tmp_path):
    workers.write()
    document = json.loads(worker_file(tmp_path, os.getpid()).read_text())
    assert {family["name"] for family in document["families"]} >= {"answers", "seconds", "memory"}
