"""What one must know to believe a suite's numbers: when, where, on what data, and how long it took."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from eddi_benchmarks.harness.experiment import Outcome

SHORT_COMMIT = 12  # letters of a commit's name that tell it from all others


@dataclass(frozen=True)
class Facts:
    """The circumstances of many runs, put together; lists hold more than one entry where runs differ."""

    began: datetime
    ended: datetime
    wall_seconds: float  # in which at least one run was under way
    run_seconds: float  # of all runs together
    processes: list[int]
    peak_memory_mb: int | None  # of the largest process
    commits: list[str]
    machines: list[str]
    devices: list[str]
    versions: dict[str, list[str]]
    data: dict[str, list[str]]  # SHA-256 by dataset

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> "Facts":
        """The facts of ``outcomes``, of which there must be one at least."""
        all_of = [outcome.circumstances for outcome in outcomes]
        spans = sorted(_span(each) for each in all_of)
        memory = [each["peak_memory_mb"] for each in all_of if each.get("peak_memory_mb")]
        return cls(
            began=min(began for began, _ in spans),
            ended=max(ended for _, ended in spans),
            wall_seconds=_covered(spans),
            run_seconds=sum(each["seconds"] for each in all_of),
            processes=_different(each.get("processes") for each in all_of),
            peak_memory_mb=max(memory, default=None),
            commits=_different(each.get("commit") for each in all_of),
            machines=_different(each.get("machine") for each in all_of),
            devices=_different(each.get("device") for each in all_of),
            versions=_merged(_known(each.get("versions", {})) for each in all_of),
            data=_merged(each.get("data", {}) for each in all_of),
        )

    def words(self) -> dict[str, str]:
        """The facts as a person reads them, by what to call them."""
        processes = " and ".join(map(str, self.processes))
        said = {
            "took": f"{duration(self.wall_seconds)} with {processes} "
            f"{'process' if self.processes == [1] else 'processes'} of one thread each "
            f"({duration(self.run_seconds)} of work)",
            "finished": f"{self.ended:%Y-%m-%d %H:%M} UTC",
            "machine": "; ".join(self.machines),
            "device": "; ".join(self.devices),
            "memory": ""
            if self.peak_memory_mb is None
            else f"{self.peak_memory_mb:,} MB a process at most",
            "commit": ", ".join(map(short_commit, self.commits)),
            "versions": ", ".join(f"{name} {'/'.join(each)}" for name, each in self.versions.items()),
        }
        return {name: words for name, words in said.items() if words}

    def to_document(self) -> dict[str, Any]:
        """The facts as plain JSON."""
        return {
            "began": self.began.isoformat(),
            "ended": self.ended.isoformat(),
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
    """A commit as people write it, with a word where files differed from it."""
    name, dirty, _ = commit.partition("-dirty")
    return name[:SHORT_COMMIT] + (" with changes" if dirty else "")


def duration(seconds: float) -> str:
    """A length of time as people say it: 0.4 s, 12 s, 41 min, 1 h 12 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _known(versions: dict[str, str | None]) -> dict[str, str]:
    """Libraries whose version was known; a checkout that was not installed has none of its own."""
    return {name: version for name, version in versions.items() if version}


def _span(circumstances: dict[str, Any]) -> tuple[datetime, datetime]:
    ended = datetime.fromisoformat(circumstances["finished"])
    return ended - timedelta(seconds=circumstances["seconds"]), ended


def _covered(spans: Sequence[tuple[datetime, datetime]]) -> float:
    """Seconds that at least one of the ``spans``, sorted by their beginning, covers."""
    seconds, until = 0.0, spans[0][0]
    for began, ended in spans:
        seconds += max(0.0, (ended - max(began, until)).total_seconds())
        until = max(until, ended)
    return seconds


def _different(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))


def _merged(parts: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    merged: dict[str, list[str]] = {}
    for name, value in (item for part in parts for item in part.items()):
        known = merged.setdefault(name, [])
        if value not in known:
            known.append(value)
    return merged
