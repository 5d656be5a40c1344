"""What an operator watches, in the words of Prometheus. Counts and times only; never an answer.

While people are as those the model learned from, answers tell about as much as they were expected to:
`eddi_answers_told_nats_total` and `eddi_answers_expected_nats_total` grow at a steady ratio.
`eddi_answer_drift` (see `drift`) says which variable is answered otherwise.
"""

from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from eddi.interview.next_step import NextStep
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.drift import Drift
from eddi.service.interviews.questionnaire import Questionnaire

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
NATS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
DEVIATIONS = (0.5, 1, 2, 3, 5, 10)
ROWS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counters and histograms of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # memory, open files and processor time, on Linux
        self.next_question = self._histogram(
            "next_question_seconds", "Time from an answer to the next question.", SECONDS
        )
        self.reward = self._histogram(
            "asked_reward_nats", "What the questions asked were expected to tell.", NATS
        )
        self.distance = self._histogram(
            "answer_distance_sd",
            "How far quantities answered are from the mean that was learned, in standard deviations.",
            DEVIATIONS,
        )
        self.expected_nats = self._counter(
            "answers_expected_nats", "What answers with a value were expected to tell about the target."
        )
        self.told_nats = self._counter(
            "answers_told_nats", "What the same answers did tell: how far they moved the belief."
        )
        self.drift = Drift()
        self.registry.register(self.drift)
        self.batch_size = self._histogram("batch_interviews", "Interviews worked out at once.", ROWS)
        self.interviews = self._counter("interviews", "Interviews opened, closed, forgotten.", "state")
        self.answers = self._counter("answers", "Answers: value, unknown or declined.", "kind")
        self.requests = self._counter("requests", "Requests by route and status.", "route", "status")
        self.errors = self._counter("errors", "Requests that failed through our own fault.", "route")
        for state in ("opened", "closed", "forgotten"):
            self.interviews.labels(state)
        for kind in ("value", "unknown", "declined"):
            self.answers.labels(kind)

    def answered(
        self,
        questionnaire: Questionnaire,
        answer: Answer,
        *,
        before: NextStep | None,
        after: Mapping[str, Prediction],
    ) -> None:
        """Count an answer by its kind, see whether it is usual, and what it told about the target.

        Args:
            questionnaire: what it is an answer to.
            answer: a value, or why there is none.
            before: where the interview stood before it, if that is known.
            after: what is believed since.
        """
        reasons = {str(why) for why in answer.without.values()}
        self.answers.labels("value" if answer.values else next(iter(sorted(reasons)))).inc()
        for distance in self.drift.heard(questionnaire, answer):
            self.distance.observe(distance)
        if before is not None and answer.values and answer.question in before.rewards:
            told = sum(
                interview_analytics.information(belief, after[name])
                for name, belief in before.predictions.items()
            )
            self.expected_nats.inc(max(0.0, before.rewards[answer.question]))
            self.told_nats.inc(max(0.0, told))

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"eddi_{name}", words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(f"eddi_{name}", words, buckets=buckets, registry=self.registry)
