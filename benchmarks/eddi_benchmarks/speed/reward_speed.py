"""Speed and accuracy of the information reward.

The plain implementation does what the published code does: for every open question and every draw it
runs the network on all observed values. From the same draws, both implementations must give the same
rewards; otherwise the benchmark does not compare them. Everything runs on one thread and is measured in
CPU time of this process, so that other programs on the machine hardly matter.
"""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from rich.table import Table
from torch import Tensor

import eddi
from eddi.model.base import NetworkModel
from eddi.model.cache import Cache
from eddi.model.fitted import FittedModel
from eddi.model.network.posterior import Posterior
from eddi.reward.paper.latent_information import latent_information
from eddi.reward.paper.torch_backend import TorchBackend
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.harness.environment import torch_threads
from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.report.statistics import Numbers
from eddi_benchmarks.speed import measurement
from eddi_benchmarks.speed.decision_speed import measure_decisions
from eddi_benchmarks.speed.measurement import Measurement, median_cpu_seconds
from eddi_benchmarks.speed.plain_network import ComparisonError, PlainNetwork
from eddi_benchmarks.speed.training_speed import BOSTON, CPU, load_rows, make_schema

N_DRAWS = 50
REWARD_TOLERANCE = 1e-3  # nats: float32 in another order, for large divergences
MATRIX_SIZE = 1024  # of the matrix product that gives the speed of the machine
N_PEOPLE = 10_000  # of a table that must fit into memory
N_ERROR_SEEDS = 40  # sets of draws to estimate the standard error from


def run(folder: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> list[Measurement]:
    """Measure everything; store and return the measurements."""
    repeats = 3 if quick else 15
    parts = (
        measure_decisions,
        _measure_interview,
        _measure_throughput,
        _measure_growth,
        _measure_many_questions,
        _measure_standard_errors,
    )
    measurements: list[Measurement] = []
    with torch_threads(1):
        for part in parts:
            for result in part(repeats):
                say(str(result))
                measurements.append(result)
    write_json(folder / "reward-speed.json", measurement.to_document(measurements))
    return measurements


def as_table(measurements: Sequence[Measurement]) -> Table:
    """The measurements next to their goals."""
    title = "The information reward (one thread, CPU time, medians)"
    return measurement.as_table(title, measurements)


def fit_boston() -> tuple[FittedModel, Evidence]:
    """The paper's network on a table of Boston's sizes, and its rows."""
    return fit_numbers(load_rows(BOSTON))


def fit_numbers(numbers: Numbers) -> tuple[FittedModel, Evidence]:
    """The paper's network with real variables after a few training steps, and the rows."""
    schema = make_schema(numbers.shape[1], Kind.REAL)
    estimator = eddi.PartialVAE(schema, recipe="paper", max_steps=20, random_state=0, device="cpu")
    model = estimator.fit(numbers).fitted()
    return model, model.evidence(numbers)


def _random_rows(n_rows: int, n_variables: int) -> Numbers:
    return np.random.default_rng(0).random((n_rows, n_variables))


def interview(score: Callable[[Evidence], Tensor], row: Evidence, target: int) -> list[int]:
    """Ask one person everything, the best question first; returns the order."""
    observed, order = np.zeros_like(row.observed), []
    for _ in range(row.n_variables - 1):
        rewards = score(Evidence(row.values, observed))[0].numpy()
        closed = observed[0].copy()
        closed[target] = True
        order.append(int(np.where(closed, -np.inf, rewards).argmax()))
        observed[0, order[-1]] = True
    return order


@dataclass(frozen=True)
class PlainReward:
    """The reward by running the whole network for every question and draw."""

    model: FittedModel
    network: PlainNetwork

    @classmethod
    def from_model(cls, model: FittedModel) -> "PlainReward":
        n_variables = len(model.schema.variables)
        network = PlainNetwork(BOSTON.recipe, "pnp", kind=BOSTON.kind, n_variables=n_variables)
        network.copy_weights(model.network)
        return cls(model, network)

    @torch.no_grad()
    def score(self, evidence: Evidence, target: int, *, n_draws: int, seed: int) -> Tensor:
        """The reward of each variable for one row [1, variables]."""
        values = torch.from_numpy(evidence.values)
        observed = torch.from_numpy(evidence.observed).float()
        posterior = Posterior(*self.network.encode(values, observed))
        draws = self.model.draw(posterior, n_draws, seed=seed)[:, 0]  # [draws, variables]
        rewards = torch.zeros(1, values.shape[1])
        for question in range(values.shape[1]):
            if question != target and not evidence.observed[0, question]:
                gains = [self._gain(values, observed, draw, question, target) for draw in draws]
                rewards[0, question] = torch.stack(gains).mean()
        return rewards

    def _gain(
        self, values: Tensor, observed: Tensor, draw: Tensor, question: int, target: int
    ) -> Tensor:
        def posterior_given(*drawn: int) -> Posterior:
            positions = list(drawn)
            new_values, new_observed = values.clone(), observed.clone()
            new_values[0, positions], new_observed[0, positions] = draw[positions], 1.0
            return Posterior(*self.network.encode(new_values, new_observed))

        gain = posterior_given(question).kl(posterior_given())
        # The information about everything except the target.
        other_gain = posterior_given(question, target).kl(posterior_given(target))
        return (gain - other_gain)[0]


def check_rewards(ours: Tensor, plain: Tensor) -> None:
    """Raise ComparisonError if the rewards of two implementations differ."""
    gap = float((ours - plain).abs().max())
    if gap > REWARD_TOLERANCE:
        raise ComparisonError(
            f"from the same draws the rewards differ by {gap:g} nats. "
            "They must agree before speeds are compared."
        )


def _measure_interview(repeats: int) -> list[Measurement]:
    model, rows = fit_boston()
    target = rows.n_variables - 1
    name = model.schema.names[target]
    plain, row = PlainReward.from_model(model), rows[:1]
    unobserved = row.hide(np.ones_like(row.observed))
    check_rewards(
        latent_information(model, unobserved, [name], n_draws=N_DRAWS, seed=0),
        plain.score(unobserved, target, n_draws=N_DRAWS, seed=0),
    )
    strategy = Information(n_draws=N_DRAWS)

    def score_ours(evidence: Evidence) -> Tensor:
        return strategy.score(model, evidence, [name])

    def score_plain(evidence: Evidence) -> Tensor:
        return plain.score(evidence, target, n_draws=N_DRAWS, seed=0)

    ours = median_cpu_seconds(lambda: interview(score_ours, row, target), 3 * repeats)
    start = time.process_time()
    interview(score_plain, row, target)
    plain_seconds = time.process_time() - start
    return [
        Measurement("one interview of 13 questions, ours", 1e3 * ours, "ms", "4"),
        Measurement("the same, one network pass per question and draw", 1e3 * plain_seconds, "ms"),
        Measurement("times faster", plain_seconds / ours, "", ">= 300"),
    ]


def _measure_throughput(repeats: int) -> list[Measurement]:
    """Floating-point operations per second, compared with a matrix product."""
    model, rows = fit_boston()
    matrix = torch.rand(MATRIX_SIZE, MATRIX_SIZE)
    seconds = median_cpu_seconds(lambda: matrix @ matrix, repeats)
    machine = 2 * MATRIX_SIZE**3 / seconds / 1e9
    name = f"matrix product, {MATRIX_SIZE} x {MATRIX_SIZE}"
    measurements = [Measurement(name, machine, "GFLOP/s")]
    for n_rows, goal in ((64, ">= 0.333"), (1, ">= 0.167")):
        unobserved = rows[:n_rows].hide(np.ones((n_rows, rows.n_variables), bool))
        seconds = median_cpu_seconds(lambda e=unobserved: _reward(model, e), 3 * repeats)  # type: ignore[misc]
        n_passes = n_rows * (rows.n_variables - 1) * 2 * N_DRAWS
        rate = n_passes * _operations_per_pass(model) / seconds / 1e9
        share = f"share of the matrix product, {n_rows} rows"
        measurements.append(Measurement(f"reward, {n_rows} rows", rate, "GFLOP/s"))
        measurements.append(Measurement(share, rate / machine, "", goal))
    return measurements


def _operations_per_pass(model: FittedModel) -> int:
    """Floating-point operations of one pass through the matrices of the tail."""
    return sum(2 * weight.numel() for weight in model.network.tail.parameters() if weight.dim() == 2)


def _reward(
    model: NetworkModel, evidence: Evidence, *, n_target: int = 1, n_draws: int = N_DRAWS
) -> Tensor:
    target = model.schema.names[-n_target:]
    return latent_information(model, evidence, target, n_draws=n_draws, seed=0)


def _measure_growth(repeats: int) -> list[Measurement]:
    """How time grows when a size is multiplied by four, and the cost of answers already given."""
    model, _ = fit_numbers(_random_rows(100, 53))
    wide, _ = fit_numbers(_random_rows(100, 209))

    def seconds(model: NetworkModel, n_rows: int, n_draws: int, n_observed: int = 0) -> float:
        n_variables = len(model.schema.variables)
        observed = np.zeros((n_rows, n_variables), bool)
        observed[:, :n_observed] = True
        evidence = Evidence(np.full((n_rows, n_variables), 0.5, np.float32), observed)
        return median_cpu_seconds(lambda: _reward(model, evidence, n_draws=n_draws), repeats)

    base = seconds(model, 16, N_DRAWS)
    answered = seconds(wide, 16, N_DRAWS, n_observed=156)  # leaves 52 questions, as in the base
    return [
        Measurement("4 times the rows take", seconds(model, 64, N_DRAWS) / base, "times", "4"),
        Measurement("4 times the questions take", seconds(wide, 16, N_DRAWS) / base, "times", "4"),
        Measurement("4 times the draws take", seconds(model, 16, 4 * N_DRAWS) / base, "times", "4"),
        Measurement("156 answers already given take", answered / base, "times", "1"),
    ]


def _measure_many_questions(repeats: int) -> list[Measurement]:
    n_rows = 10 * repeats
    model, rows = fit_numbers(_random_rows(max(n_rows, 30), 840))
    unobserved = rows.hide(np.ones_like(rows.observed))
    step = median_cpu_seconds(lambda: _reward(model, unobserved[:1], n_target=140), repeats)
    before = _peak_megabytes()
    start = time.process_time()
    _reward(model, unobserved[:n_rows], n_target=140)
    row_seconds = (time.process_time() - start) / n_rows
    added_megabytes = _peak_megabytes() - before
    return [
        Measurement("a step of 700 questions, 140 target variables", 1e3 * step, "ms", "< 50"),
        Measurement(
            f"{N_PEOPLE} rows of these, extrapolated from {n_rows}",
            N_PEOPLE * row_seconds / 60,
            "minutes",
        ),
        Measurement(f"peak memory added by {n_rows} rows", added_megabytes, "MB"),
        Measurement("peak memory of the process", _peak_megabytes(), "MB"),
    ]


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class PlainDraws:
    """A model with ordinary random numbers, in which all answers are drawn."""

    model: FittedModel
    cache: Cache = field(default_factory=Cache)

    @property
    def schema(self) -> eddi.Schema:
        return self.model.schema

    def find_ignored(self, variables: Sequence[int]) -> tuple[int, ...]:
        return self.model.find_ignored(variables)

    def code(self, evidence: Evidence) -> Tensor:
        return self.model.code(evidence)

    def term(self, values: Tensor, variables: Sequence[int] | Tensor) -> Tensor:
        return self.model.term(values, variables)

    def posterior(self, code: Tensor) -> Posterior:
        return self.model.posterior(code)

    def draw(self, posterior: Posterior, n_draws: int, *, seed: int) -> Tensor:
        network, random = self.model.network, torch.Generator().manual_seed(seed)
        z = posterior.draw(torch.randn((n_draws, 1, network.latent), generator=random))
        level = torch.rand((n_draws, 1, len(network.specs)), generator=random).clamp(1e-6, 1 - 1e-6)
        return network.quantile(network.decode(z), level.expand(-1, z.shape[1], -1))

    def level_probabilities(
        self,
        posterior: Posterior,  # noqa: ARG002
        n_draws: int,  # noqa: ARG002
        *,
        seed: int,  # noqa: ARG002
    ) -> dict[int, Tensor]:
        return {}


def _measure_standard_errors(repeats: int) -> list[Measurement]:
    """Standard errors with 50 draws, and the number of plain draws with the same error."""
    estimator = eddi.PartialVAE(max_steps=100 * repeats, random_state=0, device=str(CPU))
    model = estimator.fit(mixed_table(500)).fitted()
    measurements = []
    for target in ("real1", "yes1"):
        plain_errors, our_errors = (_standard_errors(m, target) for m in (PlainDraws(model), model))
        for kind in ("real", "yes", "level"):
            questions = [
                index
                for index, question in enumerate(model.schema.questions)
                if question.name.startswith(kind) and question.name != target
            ]
            plain, ours = (
                float(errors[questions].square().mean().sqrt()) for errors in (plain_errors, our_errors)
            )
            label = f"{kind} answer, target {target}"
            n_plain = N_DRAWS * (plain / ours) ** 2
            measurements.append(Measurement(f"standard error, {label}", 1e3 * ours, "millinats"))
            measurements.append(Measurement(f"plain draws with the same error, {label}", n_plain, ""))
    return measurements


def _standard_errors(model: Any, target: str) -> Tensor:
    """The standard deviation of each reward over the seeds of its draws [questions]."""
    evidence = Evidence.empty(1, len(model.schema.variables))
    positions = model.schema.positions([target])
    rewards = [
        TorchBackend(model).rewards(evidence, positions, n_draws=N_DRAWS, seed=seed)[0]
        for seed in range(N_ERROR_SEEDS)
    ]
    return torch.stack(rewards).std(0)


def mixed_table(n_rows: int) -> pd.DataFrame:
    """Numbers, yes-or-no answers and levels that depend on two latent factors."""
    random = np.random.default_rng(0)
    factors = random.normal(size=(n_rows, 2))
    values = factors @ random.normal(size=(2, 9)) + random.normal(size=(n_rows, 9))
    levels = np.array(["low", "middle", "high", "top"])
    columns: dict[str, Any] = {f"real{i}": values[:, i] for i in range(3)}
    columns |= {f"yes{i}": np.where(values[:, 3 + i] > 0, "yes", "no") for i in range(3)}
    columns |= {f"level{i}": levels[np.digitize(values[:, 6 + i], [-1, 0, 1])] for i in range(3)}
    return pd.DataFrame(columns)
