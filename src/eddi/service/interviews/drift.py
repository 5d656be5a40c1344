"""Drift of answers: whether respondents still answer like the rows the model was trained on.

For each variable, the last answers are compared with the model's prediction without any answers. The
measure is the population stability index, the sum over bins of (p - q) log(p / q). By convention, below
0.1 nothing has changed, and above 0.25 something has. For questions that only some respondents are
asked, the index is above zero from the start; watch how it changes.

Only bin numbers are kept, never answers. A variable is reported once fifty respondents have answered, and
changes only with every ten further answers, so that no single answer can be seen.
"""

import threading
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from eddi.interview.record import Answer
from eddi.model.base import Model
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind, Variable

N_QUANTILES = 40  # of the predictive distribution of a quantity
N_BINS = 10  # of a quantity, with equal probabilities
WINDOW = 500  # last answers that are compared
MIN_ANSWERS = 50  # with fewer, the index would reflect chance and individual respondents
ANSWERS_PER_RELEASE = 10  # that change the index together
MAX_QUESTIONNAIRES = 16  # monitored at once
MIN_SD = 1e-12  # avoids division by zero for a variable that never varied
LABELS = ("questionnaire", "version", "variable")

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class ReferenceDistribution:
    """The distribution of one variable according to the model, in bins.

    Args:
        edges: between the bins of a quantity; None if the bins are levels.
        probabilities: of the bins [bins].
        mean: of the variable.
        sd: of the variable.
    """

    edges: tuple[float, ...] | None
    probabilities: Numbers
    mean: float
    sd: float

    @classmethod
    def from_probabilities(cls, probabilities: Numbers) -> "ReferenceDistribution":
        """Build the distribution from the probabilities of levels [levels]."""
        levels = np.arange(len(probabilities))
        mean = float(levels @ probabilities)
        sd = float((levels - mean) ** 2 @ probabilities) ** 0.5
        return cls(None, probabilities, mean, max(sd, MIN_SD))

    @classmethod
    def from_quantiles(cls, quantiles: Numbers) -> "ReferenceDistribution":
        """Build the distribution from evenly spaced quantiles of a quantity."""
        inner_edges = np.linspace(0, 1, N_BINS + 1)[1:-1]
        edges = np.unique(np.quantile(quantiles, inner_edges))
        bins = np.searchsorted(edges, quantiles, side="right")
        counts = np.bincount(bins, minlength=len(edges) + 1)
        sd = max(float(quantiles.std()), MIN_SD)
        return cls(tuple(edges.tolist()), counts / counts.sum(), float(quantiles.mean()), sd)

    def bin(self, number: float) -> int:
        """Return the bin of a number in the table's units."""
        return int(number) if self.edges is None else bisect_right(self.edges, number)


class Drift(Collector):
    """Monitors answers and reports their drift to Prometheus."""

    def __init__(self) -> None:
        self._monitors: OrderedDict[tuple[str, int], _Monitor] = OrderedDict()
        self._lock = threading.Lock()

    def observe(self, questionnaire: Questionnaire, answer: Answer) -> list[float]:
        """Record an answer, and return the distance of its quantities from their mean.

        The distances are in standard deviations.
        """
        with self._lock:
            return self._monitor(questionnaire).observe(answer)

    def describe(self) -> list[Metric]:
        """Return nothing: the metrics are computed on demand."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all variables with enough answers."""
        drift = GaugeMetricFamily(
            "eddi_answer_drift",
            "Population stability index of the last answers against the training data.",
            labels=LABELS,
        )
        n_answers = GaugeMetricFamily(
            "eddi_answer_drift_answers", "Number of answers behind eddi_answer_drift.", labels=LABELS
        )
        with self._lock:
            for (name, version), monitor in self._monitors.items():
                for variable, (index, count) in monitor.stability_indices().items():
                    labels = (name, f"{version}", variable)
                    drift.add_metric(labels, index)
                    n_answers.add_metric(labels, count)
        yield from (drift, n_answers)

    def _monitor(self, questionnaire: Questionnaire) -> "_Monitor":
        cache_key = (questionnaire.name, questionnaire.version)
        if cache_key not in self._monitors:
            self._monitors[cache_key] = _Monitor(questionnaire.model)
        self._monitors.move_to_end(cache_key)
        while len(self._monitors) > MAX_QUESTIONNAIRES:
            self._monitors.popitem(last=False)
        return self._monitors[cache_key]


class _Monitor:
    """The last answers to one version of a questionnaire, as bin numbers."""

    def __init__(self, model: Model) -> None:
        self.schema, self.reference = model.schema, reference_distributions(model)
        self.bins: dict[str, deque[int]] = {}
        self.pending: dict[str, list[int]] = {}  # bins that are not reported yet

    def observe(self, answer: Answer) -> list[float]:
        distances = []
        for name, value in answer.values.items():
            number, reference = self.schema[name].number(value, confirm=True), self.reference[name]
            self._add(name, reference.bin(number))
            if not self.schema[name].kind.has_levels:
                distances.append(abs(number - reference.mean) / reference.sd)
        return distances

    def _add(self, name: str, number: int) -> None:
        pending = self.pending.setdefault(name, [])
        pending.append(number)
        if len(pending) >= ANSWERS_PER_RELEASE:
            self.bins.setdefault(name, deque(maxlen=WINDOW)).extend(pending)
            pending.clear()

    def stability_indices(self) -> dict[str, tuple[float, int]]:
        """Return the index of each variable, and the number of answers behind it."""
        indices = {}
        for name, bins in self.bins.items():
            if len(bins) >= MIN_ANSWERS:
                probabilities = self.reference[name].probabilities
                counts = np.bincount(bins, minlength=len(probabilities))
                indices[name] = (stability_index(counts, probabilities), len(bins))
        return indices


def reference_distributions(model: Model) -> dict[str, ReferenceDistribution]:
    """Return the model's distribution of every variable before any answer."""
    variables = model.schema.variables
    empty = Evidence.empty(N_QUANTILES, len(variables))
    levels = (torch.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    parts, start = [], 0
    for distribution in model.predictive_distributions(empty):
        stop = start + distribution.outputs.shape[1]
        chunk = levels[start:stop, None].expand(-1, len(variables)).to(distribution.outputs.device)
        parts.append(distribution.quantile(chunk, list(range(len(variables)))).cpu().numpy())
        start = stop
    quantiles = model.coding.decode(np.concatenate(parts))  # [quantiles, variables]
    predictions = model.predict_evidence(empty[:1], model.schema.names)
    return {
        variable.name: _reference(variable, column, predictions[variable.name].probabilities)
        for variable, column in zip(variables, quantiles.T, strict=True)
    }


def _reference(
    variable: Variable, quantiles: Numbers, probabilities: Numbers | None
) -> ReferenceDistribution:
    if variable.kind.has_levels and probabilities is not None:
        return ReferenceDistribution.from_probabilities(probabilities[0])
    is_count = variable.kind is Kind.COUNT
    return ReferenceDistribution.from_quantiles(np.rint(quantiles) if is_count else quantiles)


def stability_index(counts: NDArray[np.int64], probabilities: Numbers) -> float:
    """Return the population stability index of counts [bins] against reference probabilities [bins].

    Half an answer is added to every bin, so that an empty bin does not make the index infinite.
    """
    n_bins, n_answers = len(probabilities), counts.sum()
    total = n_answers + 0.5 * n_bins
    observed = (counts + 0.5) / total
    expected = (probabilities * n_answers + 0.5) / total
    return float(((observed - expected) * np.log(observed / expected)).sum())
