"""What an operator watches, in the words of Prometheus. Counts and times only; never an answer."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from eddi.interview.record import Answer

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
NATS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
ROWS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counters and histograms of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.next_question = self._histogram(
            "next_question_seconds", "Time from an answer to the next question.", SECONDS
        )
        self.reward = self._histogram(
            "asked_reward_nats", "What the questions asked were expected to tell.", NATS
        )
        self.batch_size = self._histogram("batch_interviews", "Interviews worked out at once.", ROWS)
        self.interviews = self._counter("interviews", "Interviews opened, closed, forgotten.", "state")
        self.answers = self._counter("answers", "Answers: value, unknown or declined.", "kind")
        self.requests = self._counter("requests", "Requests by route and status.", "route", "status")
        self.errors = self._counter("errors", "Requests that failed through our own fault.", "route")
        for state in ("opened", "closed", "forgotten"):
            self.interviews.labels(state)
        for kind in ("value", "unknown", "declined"):
            self.answers.labels(kind)

    def answered(self, answer: Answer) -> None:
        """Count an answer by its kind: a value, or why there is none."""
        reasons = {str(why) for why in answer.without.values()}
        self.answers.labels("value" if answer.values else next(iter(sorted(reasons)))).inc()

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"eddi_{name}", words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(f"eddi_{name}", words, buckets=buckets, registry=self.registry)
