"""Metrics for operators, in the format of Prometheus: counts and durations, never an answer.

While respondents resemble the training data, answers give about as much information as expected:
`eddi_answers_told_nats_total` and `eddi_answers_expected_nats_total` grow at a steady ratio.
`eddi_answer_drift` (see `drift`) shows which variable is answered differently.

What depends on the content of answers is released in batches of several interviews (see `batch_release`),
so these metrics lag a little behind.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from eddi.interview.effects import information
from eddi.interview.next_step import NextStep
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.interviews.batch_release import BatchRelease
from eddi.service.interviews.drift import Drift
from eddi.service.interviews.questionnaire import Questionnaire

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
NATS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
STANDARD_DEVIATIONS = (0.5, 1, 2, 3, 5, 10)
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counters and histograms of one process.

    Attributes:
        collector: what is reported; by default the metrics of this process alone.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.collector: Collector = self.registry
        ProcessCollector(registry=self.registry)  # memory, open files and processor time, on Linux
        self.drift = Drift()
        self._release = BatchRelease()
        self.registry.register(self.drift)
        self._create_interview_metrics()
        self.batch_size = self._histogram("batch_interviews", "Interviews per batch.", BATCH_SIZES)
        self.requests = self._counter("requests", "Requests by route and status.", "route", "status")
        self.errors = self._counter("errors", "Requests that failed with a server error.", "route")
        self.shed = self._counter("shed_requests", "Requests refused because the server was busy.")

    def _create_interview_metrics(self) -> None:
        self.next_question = self._histogram(
            "next_question_seconds", "Time from an answer to the next question.", SECONDS
        )
        self._reward = self._histogram(
            "asked_reward_nats", "Expected information of the questions that were asked.", NATS
        )
        self._distance = self._histogram(
            "answer_distance_sd",
            "Distance of answered quantities from their mean in training, in standard deviations.",
            STANDARD_DEVIATIONS,
        )
        self._expected_nats = self._counter(
            "answers_expected_nats", "Expected information about the target of answers with a value."
        )
        self._actual_nats = self._counter(
            "answers_told_nats", "Actual information of the same answers: change of the prediction."
        )
        self.interviews = self._counter("interviews", "Interviews opened, closed, forgotten.", "state")
        self._by_questionnaire = self._counter(
            "questionnaire_interviews",
            "Interviews opened and closed, by questionnaire.",
            *("questionnaire", "state"),
        )
        self._answers = self._counter("answers", "Answers: value, unknown or declined.", "kind")
        for state in ("opened", "closed", "forgotten"):
            self.interviews.labels(state)
        for kind in ("value", "unknown", "declined"):
            self._answers.labels(kind)

    def count_interview(self, questionnaire: str, state: str) -> None:
        """Count an interview that was opened or closed, in total and for its questionnaire."""
        self.interviews.labels(state).inc()
        self._by_questionnaire.labels(questionnaire, state).inc()

    def observe_reward(self, interview: str, nats: float) -> None:
        """Observe the expected information of the next question, which depends on the answers so far."""
        self._release.add(interview, partial(self._reward.observe, nats))

    def observe_answer(
        self,
        questionnaire: Questionnaire,
        answer: Answer,
        *,
        before: NextStep | None,
        after: Mapping[str, Prediction],
        interview: str,
    ) -> None:
        """Count an answer, its drift and its information about the target.

        Args:
            questionnaire: the questionnaire it belongs to.
            answer: a value, or the reason why there is none.
            before: the step before the answer, if it is known.
            after: the predictions after the answer.
            interview: the key of the interview.
        """
        reasons = sorted(str(reason) for reason in answer.without.values())
        kind = "value" if answer.values else reasons[0]
        self._release.add(interview, self._answers.labels(kind).inc)
        for distance in self.drift.observe(questionnaire, answer):
            self._release.add(interview, partial(self._distance.observe, distance))
        if before is not None and answer.values and answer.question in before.rewards:
            nats = sum(
                information(prediction, after[name]) for name, prediction in before.predictions.items()
            )
            expected = max(0.0, before.rewards[answer.question])
            self._release.add(interview, partial(self._expected_nats.inc, expected))
            self._release.add(interview, partial(self._actual_nats.inc, max(0.0, nats)))

    def to_prometheus(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        reported = CollectorRegistry()
        reported.register(self.collector)
        return generate_latest(reported)

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"eddi_{name}", help_text, labels, registry=self.registry)

    def _histogram(self, name: str, help_text: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(f"eddi_{name}", help_text, buckets=buckets, registry=self.registry)
