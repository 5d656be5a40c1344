"""Single measurements with a goal, and how they are stored and printed."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from eddi_benchmarks.harness.environment import describe_environment


@dataclass(frozen=True)
class Measurement:
    """One measured number and what it should be."""

    name: str
    value: float
    unit: str
    goal: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.value:.5g} {self.unit}"


def to_document(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """The measurements and their environment as JSON values."""
    return {
        "figures": [
            {"what": m.name, "value": m.value, "unit": m.unit, "wanted": m.goal} for m in measurements
        ],
        "circumstances": describe_environment(),
    }


def as_table(title: str, measurements: Sequence[Measurement]) -> Table:
    """A row for each measurement, next to its goal."""
    table = Table(title=title)
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("unit")
    table.add_column("goal", justify="right")
    for measurement in measurements:
        value = f"{measurement.value:.4g}"
        table.add_row(measurement.name, value, measurement.unit, measurement.goal)
    return table


def median_cpu_seconds(work: Callable[[], object], repeats: int) -> float:
    """The median CPU time of ``work`` in this process, after one execution to warm up."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)
