"""Whether people still answer as those did whom the model learned from.

What it learned is what it believes of somebody who has said nothing; the last answers to each variable
are compared with that by the population stability index, the sum over bins of (p - q) log(p / q). Below
0.1 nothing has changed, above 0.25 something has. Questions that only some people are asked have a
figure above nought from the start: watch how it changes.

Only bins are kept, never answers, and nothing is told of a variable before fifty people have answered.
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
from eddi.model.fitted import FittedModel
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind, Variable

N_QUANTILES = 40  # of what is believed of a quantity
N_BINS = 10  # of a quantity, each as likely as the others
WINDOW = 500  # last answers that are compared
LEAST = 50  # answers before anything is told: fewer would tell of chance, and of persons
MAX_WATCHED = 16  # questionnaires
LABELS = ("questionnaire", "version", "variable")


@dataclass(frozen=True)
class Learned:
    """How one variable was distributed where the model learned: bins, and their shares."""

    edges: tuple[float, ...] | None  # between the bins of a quantity; None where levels are the bins
    shares: NDArray[np.float64]  # [bins]
    mean: float
    sd: float

    @classmethod
    def of_levels(cls, chances: NDArray[np.float64]) -> "Learned":
        """From the chances of levels [levels]."""
        places = np.arange(len(chances))
        mean = float(places @ chances)
        return cls(None, chances, mean, _least(float((places - mean) ** 2 @ chances) ** 0.5))

    @classmethod
    def of_numbers(cls, numbers: NDArray[np.float64]) -> "Learned":
        """From numbers that are all as likely as each other."""
        inner = np.linspace(0, 1, N_BINS + 1)[1:-1]
        edges = np.unique(np.quantile(numbers, inner))
        counts = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=len(edges) + 1)
        shares = counts / counts.sum()
        return cls(tuple(edges.tolist()), shares, float(numbers.mean()), _least(float(numbers.std())))

    def bin(self, number: float) -> int:
        """Which bin a number of the table falls into."""
        return int(number) if self.edges is None else bisect_right(self.edges, number)


class Drift(Collector):
    """Watches answers, and tells Prometheus how far they are from what was learned."""

    def __init__(self) -> None:
        self._watched: OrderedDict[tuple[str, int], _Watched] = OrderedDict()
        self._lock = threading.Lock()

    def heard(self, questionnaire: Questionnaire, answer: Answer) -> list[float]:
        """Note an answer; gives how far its quantities are from the mean, in standard deviations."""
        with self._lock:
            return self._of(questionnaire).heard(answer)

    def describe(self) -> list[Metric]:
        """Nothing: the figures are worked out when they are asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The figures of every variable that enough people have answered."""
        drift = GaugeMetricFamily(
            "eddi_answer_drift",
            "How far the last answers are from what was learned: population stability index.",
            labels=LABELS,
        )
        behind = GaugeMetricFamily(
            "eddi_answer_drift_answers", "How many answers that figure is of.", labels=LABELS
        )
        with self._lock:
            for (name, version), watched in self._watched.items():
                for variable, (figure, n_answers) in watched.figures().items():
                    labels = (name, f"{version}", variable)
                    drift.add_metric(labels, figure)
                    behind.add_metric(labels, n_answers)
        yield from (drift, behind)

    def _of(self, questionnaire: Questionnaire) -> "_Watched":
        which = (questionnaire.name, questionnaire.version)
        if which not in self._watched:
            self._watched[which] = _Watched(questionnaire.model)
        self._watched.move_to_end(which)
        while len(self._watched) > MAX_WATCHED:
            self._watched.popitem(last=False)
        return self._watched[which]


class _Watched:
    """The answers to one questionnaire, by bin."""

    def __init__(self, model: FittedModel) -> None:
        self.schema, self.learned = model.schema, learned(model)
        self.bins: dict[str, deque[int]] = {}

    def heard(self, answer: Answer) -> list[float]:
        distances = []
        for name, value in answer.values.items():
            number, learned = self.schema[name].number(value), self.learned[name]
            self.bins.setdefault(name, deque(maxlen=WINDOW)).append(learned.bin(number))
            if not self.schema[name].kind.has_levels:
                distances.append(abs(number - learned.mean) / learned.sd)
        return distances

    def figures(self) -> dict[str, tuple[float, int]]:
        """The index of each variable, and of how many answers."""
        return {
            name: (stability(np.bincount(bins, minlength=len(shares)), shares), len(bins))
            for name, bins in self.bins.items()
            if len(bins) >= LEAST
            for shares in [self.learned[name].shares]
        }


def learned(model: FittedModel) -> dict[str, Learned]:
    """How every variable is believed to be distributed before any answer."""
    variables = model.schema.variables
    nothing = Evidence.empty(N_QUANTILES, len(variables))
    levels = (torch.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    parts, start = [], 0
    for belief in model.predictive_distributions(nothing):
        stop = start + belief.outputs.shape[1]
        wanted = levels[start:stop, None].expand(-1, len(variables)).to(belief.outputs.device)
        parts.append(belief.quantile(wanted, list(range(len(variables)))).cpu().numpy())
        start = stop
    numbers = model.coding.decode(np.concatenate(parts))  # [quantiles, variables]
    believed = model.predict_evidence(nothing[:1], model.schema.names)
    return {
        variable.name: _learned(variable, column, believed[variable.name].probabilities)
        for variable, column in zip(variables, numbers.T, strict=True)
    }


def _learned(
    variable: Variable, column: NDArray[np.float64], chances: NDArray[np.float64] | None
) -> Learned:
    if variable.kind.has_levels and chances is not None:
        return Learned.of_levels(chances[0])
    return Learned.of_numbers(np.rint(column) if variable.kind is Kind.COUNT else column)


def _least(sd: float) -> float:
    return max(sd, 1e-12)  # what never varied is far from everything else


def stability(counts: NDArray[np.int64], shares: NDArray[np.float64]) -> float:
    """The population stability index of counts [bins] against the shares that were learned [bins].

    Half an answer more in every bin keeps an empty one from counting as infinitely surprising.
    """
    n_bins, n_answers = len(shares), counts.sum()
    now = (counts + 0.5) / (n_answers + 0.5 * n_bins)
    then = (shares * n_answers + 0.5) / (n_answers + 0.5 * n_bins)
    return float(((now - then) * np.log(now / then)).sum())
