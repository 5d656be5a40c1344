"""Metrics of several worker processes as one.

Each worker writes its metrics to a file of its own. The worker that is asked for metrics adds those of the
others. What a worker counted is kept after it has ended, so that counters never decrease.
"""

import json
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

ENDED_FILE = "ended.json"  # the counters of workers that have ended
MAX_ENDED = 100  # process numbers that are remembered
GAUGE_RULES: dict[str, Callable[[float, float], float]] = {  # other samples are added
    "process_start_time_seconds": min,
    "process_max_fds": max,
}
WEIGHTED = {"eddi_answer_drift": "eddi_answer_drift_answers"}  # gauges that are averaged with weights

Labels = tuple[tuple[str, str], ...]


@dataclass
class Family:
    """The samples of one metric, by name and labels."""

    name: str
    documentation: str
    kind: str
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)

    @classmethod
    def from_metric(cls, metric: Metric) -> "Family":
        """Return the present samples of a metric."""
        samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): float(sample.value)
            for sample in metric.samples
        }
        return cls(metric.name, metric.documentation, metric.type, samples)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Family":
        """Build the family from the output of `to_document`."""
        samples = {
            (name, tuple((key, text) for key, text in labels)): float(value)
            for name, labels, value in document["samples"]
        }
        return cls(document["name"], document["documentation"], document["kind"], samples)

    def to_document(self) -> dict[str, Any]:
        """Return the family as plain JSON."""
        samples = [(name, labels, value) for (name, labels), value in self.samples.items()]
        fields = {"name": self.name, "documentation": self.documentation, "kind": self.kind}
        return {**fields, "samples": samples}

    def to_metric(self) -> Metric:
        """Return the family for Prometheus."""
        metric = Metric(self.name, self.documentation, self.kind)
        for (name, labels), value in self.samples.items():
            metric.add_sample(name, dict(labels), value)
        return metric

    def add(self, other: "Family") -> None:
        """Add the samples of another worker."""
        for key, value in other.samples.items():
            rule = min if key[0].endswith("_created") else GAUGE_RULES.get(self.name, operator.add)
            self.samples[key] = rule(self.samples[key], value) if key in self.samples else value


Families = dict[str, Family]


def merge(snapshots: Iterable[Families]) -> Families:
    """Return the metrics of several workers as those of one."""
    merged: Families = {}
    for families in snapshots:
        families = _multiply_weighted(families, power=1)
        for name, family in families.items():
            target = merged.setdefault(name, Family(name, family.documentation, family.kind))
            target.add(family)
    return _multiply_weighted(merged, power=-1)


def _multiply_weighted(families: Families, *, power: int) -> Families:
    """Multiply weighted gauges by their weights, or divide them (``power`` -1)."""
    changed = dict(families)
    for name, weight_name in WEIGHTED.items():
        if name in families and weight_name in families:
            family, weights = families[name], families[weight_name].samples
            samples = {
                key: value * weights[weight_name, key[1]] ** power
                for key, value in family.samples.items()
            }
            changed[name] = Family(name, family.documentation, family.kind, samples)
    return changed


class WorkerMetrics(Collector):
    """The metrics of this worker and of all others, for Prometheus.

    Args:
        registry: the metrics of this worker.
        folder: where all workers write theirs.
    """

    def __init__(self, registry: CollectorRegistry, folder: Path) -> None:
        self.registry, self.folder = registry, folder

    def write(self) -> None:
        """Write the metrics of this worker for the others."""
        families = [family.to_document() for family in self._own().values()]
        _write(worker_file(self.folder, os.getpid()), {"families": families})

    def describe(self) -> list[Metric]:
        """Return nothing: the metrics are read on demand."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all workers."""
        others = {
            pid: read_families(path)
            for path in self.folder.glob("worker-*.json")
            if (pid := int(path.stem.removeprefix("worker-"))) != os.getpid()
        }
        ended = _read(self.folder / ENDED_FILE)  # after the others: it says which of them have ended
        running = [families for pid, families in others.items() if pid not in ended.get("pids", [])]
        snapshots = [self._own(), _families(ended), *running]
        yield from (family.to_metric() for family in merge(snapshots).values())

    def _own(self) -> Families:
        return {metric.name: Family.from_metric(metric) for metric in self.registry.collect()}


def keep_counters(folder: Path, pid: int) -> None:
    """Keep what a worker counted that has ended, and delete its file."""
    ended, path = _read(folder / ENDED_FILE), worker_file(folder, pid)
    counters = {name: family for name, family in read_families(path).items() if family.kind != "gauge"}
    families = merge([_families(ended), counters])
    document = {
        "pids": [*ended.get("pids", []), pid][-MAX_ENDED:],
        "families": [family.to_document() for family in families.values()],
    }
    _write(folder / ENDED_FILE, document)
    path.unlink(missing_ok=True)


def worker_file(folder: Path, pid: int) -> Path:
    """Return the file with the metrics of a worker."""
    return folder / f"worker-{pid}.json"


def read_families(path: Path) -> Families:
    """Return the metrics in a file; none if it does not exist."""
    return _families(_read(path))


def _families(document: Mapping[str, Any]) -> Families:
    families = (Family.from_document(item) for item in document.get("families", []))
    return {family.name: family for family in families}


def _read(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return document


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Replace a file. It need not survive a power failure."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(document), encoding="utf-8")
    new.replace(path)
