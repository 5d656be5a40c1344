"""The provenance of a suite's results: when, where and on which data its runs were executed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from eddi_benchmarks.harness.run_result import RunResult

N_COMMIT_DIGITS = 12  # enough to identify a commit


@dataclass(frozen=True)
class Provenance:
    """The provenance of many runs combined; a list has several entries where runs differ."""

    started: datetime
    finished: datetime
    wall_seconds: float  # during which at least one run was executing
    run_seconds: float  # summed over all runs
    processes: list[int]
    peak_memory_mb: int | None  # of the largest process
    commits: list[str]
    machines: list[str]
    devices: list[str]
    versions: dict[str, list[str]]
    data: dict[str, list[str]]  # SHA-256 by dataset

    @classmethod
    def from_results(cls, results: Sequence[RunResult]) -> "Provenance":
        """Combine the provenance of ``results``, which must not be empty."""
        runs = [result.provenance for result in results]
        spans = sorted(_time_span(run) for run in runs)
        memory = [run["peak_memory_mb"] for run in runs if run.get("peak_memory_mb")]
        return cls(
            started=min(start for start, _ in spans),
            finished=max(end for _, end in spans),
            wall_seconds=_covered_seconds(spans),
            run_seconds=sum(run["seconds"] for run in runs),
            processes=_distinct(run.get("processes") for run in runs),
            peak_memory_mb=max(memory, default=None),
            commits=_distinct(run.get("commit") for run in runs),
            machines=_distinct(run.get("machine") for run in runs),
            devices=_distinct(run.get("device") for run in runs),
            versions=_merge(_installed(run.get("versions", {})) for run in runs),
            data=_merge(run.get("data", {}) for run in runs),
        )

    def describe(self) -> dict[str, str]:
        """Texts for readers by label; what is unknown is left out."""
        n_processes = " or ".join(map(str, self.processes))
        processes = "process" if self.processes == [1] else "processes"
        memory = self.peak_memory_mb
        texts = {
            "duration": f"{format_duration(self.wall_seconds)} with {n_processes} single-threaded "
            f"{processes} ({format_duration(self.run_seconds)} summed over runs)",
            "finished": f"{self.finished:%Y-%m-%d %H:%M} UTC",
            "machine": "; ".join(self.machines),
            "device": "; ".join(self.devices),
            "memory": "" if memory is None else f"at most {memory:,} MB per process",
            "commit": ", ".join(map(short_commit, self.commits)),
            "versions": ", ".join(
                f"{library} {'/'.join(versions)}" for library, versions in self.versions.items()
            ),
        }
        return {label: text for label, text in texts.items() if text}

    def to_document(self) -> dict[str, Any]:
        """The provenance as JSON values."""
        return {
            "began": self.started.isoformat(),
            "ended": self.finished.isoformat(),
            "wall_seconds": round(self.wall_seconds, 1),
            "run_seconds": round(self.run_seconds, 1),
            "processes": self.processes,
            "peak_memory_mb": self.peak_memory_mb,
            "commits": self.commits,
            "machines": self.machines,
            "devices": self.devices,
            "versions": self.versions,
            "data": self.data,
        }


def short_commit(commit: str) -> str:
    """An abbreviated commit hash, marked if the working tree had changes."""
    digits, dirty, _ = commit.partition("-dirty")
    return digits[:N_COMMIT_DIGITS] + (" with changes" if dirty else "")


def format_duration(seconds: float) -> str:
    """A duration for readers: 0.4 s, 12 s, 41 min, 1 h 12 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _installed(versions: dict[str, str | None]) -> dict[str, str]:
    """Libraries with a version; EDDI has none if it runs from a checkout without being installed."""
    return {library: version for library, version in versions.items() if version}


def _time_span(run: dict[str, Any]) -> tuple[datetime, datetime]:
    end = datetime.fromisoformat(run["finished"])
    return end - timedelta(seconds=run["seconds"]), end


def _covered_seconds(spans: Sequence[tuple[datetime, datetime]]) -> float:
    """Seconds covered by at least one of the ``spans``, which are sorted by start."""
    seconds, covered_until = 0.0, spans[0][0]
    for start, end in spans:
        seconds += max(0.0, (end - max(start, covered_until)).total_seconds())
        covered_until = max(covered_until, end)
    return seconds


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))


def _merge(parts: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    merged: dict[str, list[str]] = {}
    for name, value in (item for part in parts for item in part.items()):
        values = merged.setdefault(name, [])
        if value not in values:
            values.append(value)
    return merged
