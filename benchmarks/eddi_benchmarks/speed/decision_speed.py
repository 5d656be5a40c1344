"""Decisions about one person with the default model, compared with their arithmetic.

The arithmetic of a decision are the floating-point operations of its matrix products. Divided by the rate
that one thread reaches for products of the same sizes, it is the least time that a decision can take.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

import eddi
from eddi.model.fitted import FittedModel
from eddi.model.inference.traced import N_CHECKED_CALLS, N_PLAIN_CALLS
from eddi.model.network.atoms import N_ATOMS
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.report.statistics import Numbers
from eddi_benchmarks.speed.measurement import Measurement, median_cpu_seconds
from eddi_benchmarks.speed.training_speed import BOSTON, load_rows, make_schema

N_STEPS = 100  # of training: the answers that are enumerated depend little on the weights
N_PRODUCTS = 50  # per measurement of the rate of a product, which takes microseconds
TARGET = -1  # position of the target


@dataclass(frozen=True)
class Decision:
    """The reward of all questions for one person."""

    model: FittedModel
    row: Evidence

    @property
    def n_open(self) -> int:
        """The number of open questions."""
        return self.row.n_variables - 1 - int(self.row.observed.sum())

    def decide(self) -> None:
        """Compute the rewards; a copy of the evidence, since the encoding of the last one is remembered."""
        evidence = Evidence(self.row.values, self.row.observed)
        Information().score(self.model, evidence, [self.model.schema.names[TARGET]])

    def count_operations(self) -> int:
        """Floating-point operations of the matrix products; only before the decision is traced."""
        with FlopCounterMode(display=False) as counter:
            self.decide()
        return int(counter.get_total_flops())

    def product_rate(self, repeats: int) -> float:
        """Operations per second of a product of the hidden features of all answers with a layer."""
        width = self.model.recipe.hidden[0]
        features, weight = torch.rand(self.n_open * N_ATOMS, width), torch.rand(width, width)

        def multiply() -> None:
            for _ in range(N_PRODUCTS):
                torch.nn.functional.linear(features, weight)

        with torch.inference_mode():
            seconds = median_cpu_seconds(multiply, repeats) / N_PRODUCTS
        return 2 * features.numel() * width / seconds


def fit_default(numbers: Numbers) -> tuple[FittedModel, Evidence]:
    """The default model with real variables after some training steps, and the rows."""
    schema = make_schema(numbers.shape[1], Kind.REAL)
    target = schema.names[TARGET]
    estimator = eddi.PartialVAE(schema, target, max_steps=N_STEPS, random_state=0, device="cpu")
    model = estimator.fit(numbers).fitted()
    return model, model.evidence(numbers)


def measure_decisions(repeats: int) -> list[Measurement]:
    """Decisions with few, half and all but one of Boston's answers, and a simulated interview."""
    numbers = load_rows(BOSTON)
    model, rows = fit_default(numbers)
    n_questions = rows.n_variables - 1
    decisions = [
        Decision(model, _with_answers(rows[:1], n_known))
        for n_known in (1, n_questions // 2, n_questions - 1)
    ]
    n_operations = [decision.count_operations() for decision in decisions]
    for _ in range(N_PLAIN_CALLS + N_CHECKED_CALLS):
        decisions[0].decide()
    measurements = []
    for decision, n in zip(decisions, n_operations, strict=True):
        label = f"default, {n_questions - decision.n_open} of {n_questions} answers"
        floor = n / decision.product_rate(repeats)
        seconds = median_cpu_seconds(decision.decide, 20 * repeats)
        measurements += [
            Measurement(f"one decision, {label}", 1e3 * seconds, "ms", "<= 1"),
            Measurement(f"its arithmetic, {n / 1e6:.1f} MFLOP", 1e3 * floor, "ms"),
            Measurement("times its arithmetic", seconds / floor, "", "<= 1.5"),
        ]
    person = numbers[:1]
    seconds = median_cpu_seconds(lambda: eddi.simulate(model, person), repeats)
    name = f"simulate one person, {n_questions} questions, default"
    return [*measurements, Measurement(name, 1e3 * seconds, "ms", "< 15")]


def _with_answers(row: Evidence, n_known: int) -> Evidence:
    """A row with its first ``n_known`` answers alone."""
    observed = np.zeros_like(row.observed)
    observed[:, :n_known] = True
    return Evidence(row.values, observed)
