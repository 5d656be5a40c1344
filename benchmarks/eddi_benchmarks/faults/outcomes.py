"""What happened to hostile files, counted by kind of file."""

import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eddi.errors import EddiError
from eddi_benchmarks.faults.limited_process import Ending

REJECTED, USED = "rejected", "used"
MAX_MESSAGE_CHARS = 1000
GOOD = (REJECTED, USED)


@dataclass
class Outcomes:
    """Counts of outcomes, and the files that were not handled."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[dict[str, Any]] = field(default_factory=list)
    peak_megabytes: float = 0.0

    def add(self, kind: str, index: int, detail: str, ending: Ending) -> None:
        """Count the outcome of one file."""
        outcome, reason = _classify(ending)
        self.counts[kind][outcome] += 1
        self.peak_megabytes = max(self.peak_megabytes, ending.extra_megabytes)
        if outcome not in GOOD:
            failure = {"kind": kind, "index": index, "detail": detail[:200]}
            self.failures.append({**failure, "outcome": outcome, "reason": reason})

    def to_document(self) -> dict[str, Any]:
        """The outcomes as plain JSON."""
        return {
            "counts": {kind: dict(counter) for kind, counter in sorted(self.counts.items())},
            "failures": self.failures,
            "peak_megabytes": round(self.peak_megabytes),
        }

    def to_markdown(self) -> str:
        """The counts as a table."""
        rows = [
            f"| {kind} | {counter.total():,} | {counter[REJECTED]:,} | {counter[USED]:,} "
            f"| {counter.total() - counter[REJECTED] - counter[USED]:,} |"
            for kind, counter in [*sorted(self.counts.items()), ("**all**", self._total())]
        ]
        return "\n".join(
            ["| kind | files | rejected | used | failures |", "|--|--:|--:|--:|--:|", *rows]
        )

    def _total(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for counter in self.counts.values():
            total.update(counter)
        return total


def attempt(action: Callable[[], bool]) -> dict[str, str]:
    """Describe what an action does: it raises, or returns whether its result is usable."""
    try:
        is_usable = action()
    except EddiError as error:
        message = str(error)
        return {"outcome": REJECTED if len(message) < MAX_MESSAGE_CHARS else "long message"}
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        return {"outcome": f"raised {type(error).__name__}", "reason": f"{place} {str(error)[:200]}"}
    return {"outcome": USED if is_usable else "not finite"}


def _classify(ending: Ending) -> tuple[str, str]:
    if ending.result is None:
        return "process ended", f"status {ending.status}"
    return ending.result["outcome"], ending.result.get("reason", "")
