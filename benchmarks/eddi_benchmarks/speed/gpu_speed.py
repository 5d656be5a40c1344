"""Speed on a GPU: the fused reward compared with plain PyTorch, and training of many models at once.

All ratios are from one run on one machine. A row-step scores all questions of one row: two passes
through the tail for every question and draw. Plain PyTorch scores all rows at once. Rewards are
compared with those of the same draws in float64.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from rich.table import Table
from scipy.stats import spearmanr
from torch import Tensor

import eddi
from eddi.errors import EddiError
from eddi.model.fitted import FittedModel
from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.network.network import LOG_VAR_RANGE
from eddi.model.recipe import PAPER, Recipe
from eddi.model.training import batched_training, loop, preparation
from eddi.reward.paper.latent_information import latent_information
from eddi.reward.paper.torch_backend import TorchBackend
from eddi.reward.paper.triton_backend import PackedNetwork, QuestionTable, compute_gains
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.report.statistics import Numbers
from eddi_benchmarks.speed import measurement
from eddi_benchmarks.speed.default_gpu import measure_default_model
from eddi_benchmarks.speed.measurement import Measurement
from eddi_benchmarks.speed.training_speed import make_schema

MATRIX_SIZE = 8_192  # of the matrix product that gives the speed of the machine
N_CONSECUTIVE = 10  # executions between two readings of the clock, for steady rates
N_EXACT_ROWS = 512  # compared with float64
MAX_NUMBERS = 2**31  # in a tensor of plain PyTorch
N_MODELS = 32
N_SEPARATE_STEPS = 100  # of each model trained by itself
BOSTON_ROWS, BOSTON_VARIABLES = 455, 14


class NoGpuError(EddiError, RuntimeError):
    """There is no GPU to measure."""


@dataclass(frozen=True)
class RewardCase:
    """The sizes of a reward to measure."""

    name: str
    recipe: Recipe
    groups: tuple[int, ...]  # number of variables that each question reveals
    n_target: int
    n_draws: int
    n_rows: int
    rate_goal: str = ""  # million row-steps per second
    ratio_goal: str = ""  # times plain PyTorch


def _nhanes_groups() -> tuple[int, ...]:
    """73 groups of 665 variables of various sizes, as in the survey."""
    sizes = np.geomspace(1, 40, 73)
    rounded = np.maximum(1, np.round(sizes * 665 / sizes.sum())).astype(int)
    rounded[-1] += 665 - rounded.sum()
    return tuple(rounded.tolist())


BOSTON = RewardCase("boston", PAPER, (1,) * 13, 1, 50, 4_096, rate_goal=">= 5")
NHANES = RewardCase(
    "nhanes",
    replace(PAPER, latent=20, identity=100),
    _nhanes_groups(),
    n_target=139,
    n_draws=10,
    n_rows=2_048,
    ratio_goal=">= 4",
)


def run(folder: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> list[Measurement]:
    """Measure everything; store and return the measurements.

    Raises:
        NoGpuError: torch finds no GPU.
    """
    if not torch.cuda.is_available():
        raise NoGpuError("torch finds no GPU on this machine. Run this on a machine with a GPU.")
    parts = (
        _measure_matrix_products,
        partial(_measure_reward, BOSTON),
        partial(_measure_reward, NHANES),
        _measure_training,
        measure_default_model,
    )
    measurements: list[Measurement] = []
    for part in parts:
        for result in part(quick):
            say(str(result))
            measurements.append(result)
    document = {**measurement.to_document(measurements), "gpu": torch.cuda.get_device_name()}
    write_json(folder / "gpu.json", document)
    return measurements


def as_table(measurements: Sequence[Measurement]) -> Table:
    """The measurements next to their goals."""
    return measurement.as_table(f"On {torch.cuda.get_device_name()} (medians)", measurements)


def _median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The median time of ``work`` among several executions, after one to warm up."""
    work()
    seconds = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(N_CONSECUTIVE):
            work()
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - start) / N_CONSECUTIVE)
    return statistics.median(seconds)


def _measure_matrix_products(quick: bool) -> list[Measurement]:
    name = f"matrix product, {MATRIX_SIZE} x {MATRIX_SIZE}"
    return [
        Measurement(f"{name}, {label}", _matrix_rate(dtype, quick), "TFLOP/s")
        for label, dtype in (("float16", torch.float16), ("float32", torch.float32))
    ]


def _matrix_rate(dtype: torch.dtype, quick: bool) -> float:
    a, b = (torch.randn((MATRIX_SIZE, MATRIX_SIZE), device="cuda").to(dtype) for _ in range(2))
    return 2 * MATRIX_SIZE**3 / _median_seconds(lambda: a @ b, 1 if quick else 3) / 1e12


def fit_case(case: RewardCase) -> tuple[FittedModel, Numbers]:
    """A model of these sizes on random numbers with five latent factors, and the numbers."""
    n_variables = sum(case.groups) + case.n_target
    random = np.random.default_rng(0)
    numbers = random.normal(size=(1_000, 5)) @ random.normal(size=(5, n_variables))
    numbers += 0.5 * random.normal(size=numbers.shape)
    schema = make_schema(n_variables, Kind.REAL)
    start = 0
    for index, size in enumerate(case.groups):
        if size > 1:
            names = schema.names[start : start + size]
            schema = schema.with_question(f"group {index}", reveals=list(names))
        start += size
    model = eddi.PartialVAE(schema, recipe=case.recipe, max_steps=300, random_state=0, device="cuda")
    return model.fit(numbers).fitted(), numbers


@dataclass(frozen=True)
class PlainReward:
    """The reward from drawn values in plain PyTorch, with any precision."""

    tail: list[tuple[Tensor, Tensor]]
    slope: Tensor
    offset: Tensor
    questions: QuestionTable
    reveals: Tensor  # [variables, questions]

    @classmethod
    def from_network(
        cls, network: FrozenNetwork, questions: QuestionTable, dtype: torch.dtype
    ) -> "PlainReward":
        weight, bias = network.posterior_layer
        layers = [*network.tail, (weight, bias[:, 0])]
        tail = [(weight.to(dtype), bias.to(dtype)) for weight, bias in layers]
        slope, offset = network.encoder.slope.to(dtype), network.encoder.offset.to(dtype)
        reveals = torch.zeros((len(slope), len(questions.places)), dtype=dtype, device=slope.device)
        owners = torch.repeat_interleave(questions.starts.diff())
        reveals[questions.variables.long(), owners] = 1.0
        return cls(tail, slope, offset, questions, reveals)

    def __call__(self, code: Tensor, values: Tensor) -> Tensor:
        """Rewards [rows, questions] if all questions are open."""
        code, values = code.to(self.slope.dtype), values.to(self.slope.dtype)
        terms = torch.relu(values[..., None] * self.slope + self.offset)  # [draws, rows, n, width]
        code_with_target = code + terms[:, :, self.questions.target.long()].sum(2)
        if self.questions.is_single:
            answers = terms[:, :, self.questions.variables.long()]
        else:
            answers = torch.einsum("drvw,vq->drqw", terms, self.reveals)
        gain = self._divergence(code.expand_as(code_with_target), answers)
        return (gain - self._divergence(code_with_target, answers)).mean(0)

    def _divergence(self, code: Tensor, answers: Tensor) -> Tensor:
        """KL from the posterior given the code to that given an answer [draws, rows, questions]."""
        mean, log_var = (part[:, :, None] for part in self._posterior(code))
        mean_after, log_var_after = self._posterior(code[:, :, None] + answers)
        ratio = ((mean_after - mean).square() + log_var_after.exp()) * torch.exp(-log_var)
        return 0.5 * (log_var - log_var_after + ratio - 1).sum(-1)

    def _posterior(self, x: Tensor) -> tuple[Tensor, Tensor]:
        for weight, bias in self.tail[:-1]:
            x = torch.relu(F.linear(x, weight, bias))
        mean, log_var = F.linear(x, *self.tail[-1]).chunk(2, dim=-1)
        return mean, log_var.clamp(*LOG_VAR_RANGE)


def _measure_reward(case: RewardCase, quick: bool) -> list[Measurement]:
    model, numbers = fit_case(case)
    rows = model.evidence(numbers[np.arange(case.n_rows) % len(numbers)])
    half_observed = rows.hide(np.random.default_rng(1).random(rows.observed.shape) < 0.5)
    target = list(range(rows.n_variables - case.n_target, rows.n_variables))
    packed = PackedNetwork.from_network(model.network, model.frozen)
    assert packed is not None  # noqa: S101  # the kernels support these sizes
    questions = QuestionTable.from_model(model, target, torch.device("cuda"))
    repeats = 2 if quick else 5
    with torch.inference_mode():
        # Codes of half-observed rows, so that all rows differ, with all questions open.
        code = model.code(half_observed)
        values = model.draw(model.posterior(code), case.n_draws, seed=0)
        unobserved = torch.ones((case.n_rows, rows.n_variables), device="cuda")
        ours = case.n_rows / _median_seconds(
            lambda: compute_gains(packed, questions, code, values, unobserved), repeats
        )
        plain_reward = PlainReward.from_network(model.frozen, questions, torch.float32)
        plain = case.n_rows / _median_seconds(
            lambda: _in_chunks(plain_reward, code, values), 1 if quick else 3
        )
        sample = (code[:N_EXACT_ROWS], values[:, :N_EXACT_ROWS].contiguous())
        exact_reward = PlainReward.from_network(model.frozen, questions, torch.float64)
        exact = _in_chunks(exact_reward, *sample)
        by_kernel = compute_gains(packed, questions, *sample, unobserved[:N_EXACT_ROWS])
        by_plain = _in_chunks(plain_reward, *sample)
    rate = f"{case.name}: row-steps per second"
    return [
        Measurement(f"{rate}, kernels", ours / 1e6, "million", case.rate_goal),
        Measurement(f"{rate}, plain PyTorch", plain / 1e6, "million"),
        Measurement(f"{case.name}: times plain PyTorch", ours / plain, "", case.ratio_goal),
        *_utilisation(case, packed, ours, _matrix_rate(torch.float16, quick)),
        *_agreement(case, "kernels", by_kernel, exact),
        *_agreement(case, "plain PyTorch in float32", by_plain, exact),
        *_measure_from_evidence(case, model, half_observed, repeats),
    ]


def _in_chunks(plain: PlainReward, code: Tensor, values: Tensor) -> Tensor:
    """All rows at once, unless the terms exceed `MAX_NUMBERS`."""
    numbers_per_row = values.shape[0] * values.shape[2] * plain.slope.shape[1]
    n_rows = min(len(code), MAX_NUMBERS // numbers_per_row)
    starts = range(0, len(code), n_rows)
    return torch.cat([plain(code[s : s + n_rows], values[:, s : s + n_rows]) for s in starts])


def _utilisation(
    case: RewardCase, packed: PackedNetwork, rate: float, machine: float
) -> list[Measurement]:
    """Shares of the speed of the matrix product: required operations, and all that are executed."""
    n_passes = 2 * len(case.groups) * case.n_draws
    widths = (case.recipe.term, *case.recipe.hidden, 2 * case.recipe.latent)
    required = sum(2 * n_inputs * n_outputs for n_inputs, n_outputs in pairwise(widths))
    first, later = packed.first[0].numel(), packed.second.numel() + packed.last.numel()
    executed = 2 * (3 * first + 2 * later)  # products of two parts, including padding
    return [
        Measurement(
            f"{case.name}: {label}, share of the float16 matrix product",
            n_passes * operations * rate / 1e12 / machine,
            "",
        )
        for label, operations in (("required products", required), ("executed products", executed))
    ]


def _agreement(
    case: RewardCase, implementation: str, rewards: Tensor, exact: Tensor
) -> list[Measurement]:
    ours, truth = rewards.double().cpu().numpy(), exact.cpu().numpy()
    by_row = [spearmanr(a, b).statistic for a, b in zip(ours, truth, strict=True)]
    has_equal_best = (ours.argmax(1) == truth.argmax(1)).mean()
    correlation = f"{case.name}: rank correlation with float64"
    overall = spearmanr(ours.ravel(), truth.ravel()).statistic
    best = f"{case.name}: rows with the same best question, {implementation}"
    return [
        Measurement(f"{correlation}, {implementation}", overall, "", "> 0.999"),
        Measurement(f"{correlation} within a row, {implementation}", float(np.mean(by_row)), ""),
        Measurement(best, float(has_equal_best), ""),
    ]


def _measure_from_evidence(
    case: RewardCase, model: FittedModel, evidence: Evidence, repeats: int
) -> list[Measurement]:
    """The whole computation from evidence in main memory: code, draws, rewards of open questions."""
    names = model.schema.names[-case.n_target :]
    options = {"n_draws": case.n_draws, "seed": 0}

    def with_kernels() -> Tensor:
        return latent_information(model, evidence, names, **options)

    def without_kernels() -> Tensor:
        positions = model.schema.positions(names)
        return TorchBackend(model).rewards(evidence, positions, **options)

    ours = len(evidence) / _median_seconds(with_kernels, repeats)
    plain = len(evidence) / _median_seconds(without_kernels, 1)
    name = f"{case.name}: rows per second from half-observed evidence to rewards"
    return [
        Measurement(name, ours / 1e6, "million"),
        Measurement(f"{name}, without kernels", plain / 1e6, "million"),
        Measurement(f"{case.name}: times faster", ours / plain, ""),
    ]


def make_training_runs(recipe: Recipe, n_models: int) -> list[batched_training.Run]:
    """Networks of Boston's sizes, each with its own table and seed."""
    random = np.random.default_rng(0)
    schema = make_schema(BOSTON_VARIABLES, Kind.REAL)
    runs = []
    for seed in range(n_models):
        numbers = random.random((BOSTON_ROWS, BOSTON_VARIABLES))
        coding = Coding.fit(schema, numbers, recipe.scaling)
        network = preparation.build_network(schema, coding, "pnp", recipe, seed=seed)
        runs.append(batched_training.Run(network, coding.encode(numbers), seed))
    return runs


def _measure_training(quick: bool) -> list[Measurement]:
    device = torch.device("cuda")
    short = replace(PAPER, max_steps=N_SEPARATE_STEPS)
    n_separate = 4 if quick else N_MODELS
    warm_up = replace(PAPER, max_steps=2)
    batched_training.train_batched(make_training_runs(warm_up, 2), warm_up, device=device)
    runs = make_training_runs(short, n_separate)
    start = time.perf_counter()
    separate_histories = [
        loop.train(run.network, run.evidence, short, seed=run.seed, device=device) for run in runs
    ]
    separate = (time.perf_counter() - start) / n_separate * N_MODELS
    # The times of batched training include making the networks.
    start = time.perf_counter()
    runs = make_training_runs(short, N_MODELS)
    batched_histories = batched_training.train_batched(runs, short, device=device)
    batched = time.perf_counter() - start
    start = time.perf_counter()
    batched_training.train_batched(make_training_runs(PAPER, N_MODELS), PAPER, device=device)
    complete = time.perf_counter() - start
    gap = max(
        abs(a[-1].loss - b[-1].loss) for a, b in zip(separate_histories, batched_histories, strict=False)
    )
    step_ratio = (separate / N_SEPARATE_STEPS) / (complete / PAPER.max_steps)
    name = f"training, {N_MODELS} models"
    steps = f"{N_SEPARATE_STEPS} steps"
    return [
        Measurement(f"{name}, {steps}, one after another", separate, "s"),
        Measurement(f"{name}, {steps}, at once, including graph capture", batched, "s"),
        Measurement("training, times faster", separate / batched, "", ">= 10"),
        Measurement(f"{name}, {PAPER.max_steps} steps, at once", complete, "s"),
        Measurement("training, times faster per step", step_ratio, "", ">= 10"),
        Measurement("training, largest difference of the mean loss of these steps", gap, "nats"),
    ]
