"""Speed of the default model on a GPU: rewards, simulation, training and small batches.

Plain PyTorch is the reference that a CPU uses (`RewardContext`), on the GPU. Rewards are compared with
those in float64. Times include everything from evidence in main memory to rewards on the GPU.
"""

import argparse
import copy
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

import eddi
from eddi.evaluate.simulate import simulate_evidence
from eddi.model.fitted import FittedModel
from eddi.model.recipe import DEFAULT, Recipe
from eddi.model.training import batched_training, loop, preparation
from eddi.reward.mutual_information import mutual_information
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.harness.environment import torch_threads
from eddi_benchmarks.report.statistics import Numbers
from eddi_benchmarks.speed.measurement import Measurement, to_document
from eddi_benchmarks.speed.training_speed import make_schema

SIZES = ((13, 4_096), (64, 1_024), (256, 256))  # questions and rows
N_TABLE_ROWS, N_FACTORS, NOISE = 1_000, 5, 0.5  # of the random numbers
N_EXACT_ROWS = 512  # compared with float64
N_CONSECUTIVE = 20  # batches between two readings of the clock
N_SIMULATED = 100_000
N_TRAINING_ROWS, N_STEPS, N_MODELS = 455, 1_000, 32
SMALL_BATCHES = (1, 4, 16, 64, 256)


def measure_default_model(quick: bool) -> list[Measurement]:
    """All measurements of the default model."""
    measurements: list[Measurement] = []
    for n_questions, n_rows in SIZES:
        measurements += measure_reward(n_questions, n_rows, 1 if quick else 5)
        measurements += measure_small_batches(n_questions)
    return [*measurements, *measure_simulation(), *measure_training()]


def make_numbers(n_rows: int, n_variables: int, seed: int = 0) -> Numbers:
    """Random numbers with a few latent factors."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n_rows, N_FACTORS)) @ random.normal(size=(N_FACTORS, n_variables))
    return np.asarray(numbers + NOISE * random.normal(size=numbers.shape))


def fit_default(n_questions: int, device: str) -> FittedModel:
    """The default model of random numbers after 100 training steps."""
    schema = make_schema(n_questions + 1, Kind.REAL)
    estimator = eddi.PartialVAE(schema, schema.names[-1], max_steps=100, random_state=0, device=device)
    return estimator.fit(make_numbers(N_TABLE_ROWS, n_questions + 1)).fitted()


def make_half_known(model: FittedModel, n_rows: int) -> Evidence:
    """Rows in which half of the answers are known, and the target is not."""
    numbers = make_numbers(N_TABLE_ROWS, len(model.schema.variables))
    rows = model.evidence(numbers[np.arange(n_rows) % N_TABLE_ROWS])
    hidden = np.random.default_rng(1).random(rows.observed.shape) < 0.5
    hidden[:, -1] = True
    return rows.hide(hidden)


def compute_plain(model: FittedModel, evidence: Evidence) -> Tensor:
    """The rewards in plain PyTorch."""
    with torch.inference_mode():
        context = RewardContext.from_evidence(model, evidence, [evidence.n_variables - 1])
        return context.rewards(EnumerationSettings())


def compute_exact(model: FittedModel, evidence: Evidence) -> Tensor:
    """The rewards in float64."""
    exact = replace(model, network=copy.deepcopy(model.network).double())
    values, visible = model.inputs(evidence)
    with torch.inference_mode():
        encoding = exact.frozen.encode(exact.frozen.encoder.code(values.double(), visible.double()))
        predictor = exact.marginal_predictor
        assert predictor is not None  # noqa: S101  # the default recipe has marginal predictions
        target = [evidence.n_variables - 1]
        head = predictor.target_head(target)
        context = RewardContext(exact, predictor, evidence.observed, target, head, encoding)
        return context.rewards(EnumerationSettings())


def median_seconds(
    work: Callable[[], object], n_repeats: int, n_consecutive: int = N_CONSECUTIVE
) -> float:
    """The median time of ``work`` among several executions, after one to warm up."""
    work()
    seconds = []
    for _ in range(n_repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(n_consecutive):
            work()
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - start) / n_consecutive)
    return float(np.median(seconds))


def _rewards_of_copies(model: FittedModel, evidence: Evidence) -> Callable[[], Tensor]:
    """The rewards of another copy of the evidence each time, so that no encoding is remembered."""
    copies = [evidence[np.arange(len(evidence))] for _ in range(2)]
    target = [model.schema.names[-1]]

    def compute() -> Tensor:
        copies.reverse()
        return mutual_information(model, copies[0], target, n_draws=1, seed=0)

    return compute


def measure_reward(n_questions: int, n_rows: int, n_repeats: int) -> list[Measurement]:
    model = fit_default(n_questions, "cuda")
    evidence = make_half_known(model, n_rows)
    compute = _rewards_of_copies(model, evidence)
    seconds = median_seconds(compute, n_repeats)
    copies = [evidence[np.arange(n_rows)] for _ in range(2)]

    def plain() -> Tensor:
        copies.reverse()
        return compute_plain(model, copies[0])

    plain_seconds = median_seconds(plain, min(n_repeats, 3), 3)
    part = evidence[np.arange(min(n_rows, N_EXACT_ROWS))]
    exact = compute_exact(model, part).cpu().numpy()
    ours = compute()[: len(part)].double().cpu().numpy()
    rate = f"default, {n_questions} questions, {n_rows} rows: million row-steps/s"
    is_first = n_questions == SIZES[0][0]
    return [
        Measurement(rate, n_rows / seconds / 1e6, "", ">= 3" if is_first else ""),
        Measurement(f"{rate}, plain PyTorch", n_rows / plain_seconds / 1e6, ""),
        Measurement("times plain PyTorch", plain_seconds / seconds, "", "" if is_first else ">= 10"),
        Measurement(
            "rank correlation with float64",
            spearmanr(ours.ravel(), exact.ravel()).statistic,
            "",
            "> 0.9999",
        ),
        Measurement("same best question", (ours.argmax(1) == exact.argmax(1)).mean(), "", ">= 0.999"),
    ]


def measure_small_batches(n_questions: int) -> list[Measurement]:
    """When a GPU pays off in a service: the time of a decision of a few people at once."""
    measurements = []
    on_gpu = fit_default(n_questions, "cuda")
    on_cpu = replace(on_gpu, network=copy.deepcopy(on_gpu.network).cpu())
    for n_rows in SMALL_BATCHES:
        for model, label in ((on_gpu, "GPU"), (on_cpu, "one CPU thread")):
            compute = _rewards_of_copies(model, make_half_known(model, n_rows))
            with torch_threads(1):
                seconds = median_seconds(lambda run=compute: run().cpu(), 3, 5)  # type: ignore[misc]
            name = f"default, {n_questions} questions: decision of {n_rows} people, {label}"
            measurements.append(Measurement(name, 1e3 * seconds, "ms"))
    return measurements


def measure_simulation() -> list[Measurement]:
    model = fit_default(13, "cuda")
    numbers = make_numbers(N_TABLE_ROWS, 14)[np.arange(N_SIMULATED) % N_TABLE_ROWS]
    truth, target = model.evidence(numbers), model.schema.names[-1]
    simulate_evidence(model, truth[:10_000], target)
    start = time.perf_counter()
    simulate_evidence(model, truth, target)
    seconds = time.perf_counter() - start
    return [Measurement(f"simulate {N_SIMULATED} rows, 13 questions", seconds, "s", "< 5")]


def make_default_runs(recipe: Recipe, n_models: int) -> list[batched_training.Run]:
    """Networks of Boston's sizes, each with its own table and seed."""
    schema = make_schema(14, Kind.REAL)
    runs = []
    for seed in range(n_models):
        numbers = make_numbers(N_TRAINING_ROWS, 14, seed)
        coding = Coding.fit(schema, numbers, recipe.scaling)
        rows = coding.encode(numbers)
        network = preparation.build_network(schema, coding, "precision", recipe, seed=seed, rows=rows)
        runs.append(batched_training.Run(network, rows, seed, (13,)))
    return runs


def _train_alone(recipe: Recipe, device: str) -> tuple[float, float]:
    """Seconds, and the mean loss of the first steps."""
    (run,) = make_default_runs(recipe, 1)
    start = time.perf_counter()
    history = loop.train(
        run.network,
        run.evidence,
        recipe,
        seed=run.seed,
        device=torch.device(device),
        targets=run.targets,
    )
    torch.cuda.synchronize()
    return time.perf_counter() - start, history[0].loss


def train_batched(recipe: Recipe) -> tuple[float, list[float]]:
    """Seconds for many models at once, and the mean loss of the first steps of each."""
    runs = make_default_runs(recipe, N_MODELS)
    start = time.perf_counter()
    histories = batched_training.train_batched(runs, recipe, device=torch.device("cuda"))
    torch.cuda.synchronize()
    return time.perf_counter() - start, [history[0].loss for history in histories]


def measure_training() -> list[Measurement]:
    """The time of training one model and many."""
    recipe = replace(DEFAULT, max_steps=N_STEPS, patience=N_STEPS)
    _train_alone(replace(recipe, max_steps=2), "cuda")  # to warm up
    gpu_seconds, gpu_loss = _train_alone(recipe, "cuda")
    with torch_threads(1):
        cpu_seconds, cpu_loss = _train_alone(recipe, "cpu")
    batched_seconds, batched_losses = train_batched(recipe)
    name = f"default training, {N_STEPS} steps"
    return [
        Measurement(f"{name}, GPU", gpu_seconds, "s"),
        Measurement(f"{name}, one CPU thread", cpu_seconds, "s"),
        Measurement("times faster than one CPU thread", cpu_seconds / gpu_seconds, "", ">= 5"),
        Measurement("difference of the mean loss of 100 steps", abs(gpu_loss - cpu_loss), "nats"),
        Measurement(f"{name}, GPU, {N_MODELS} models at once", batched_seconds, "s"),
        Measurement(
            "times faster than one after another on one CPU thread",
            N_MODELS * cpu_seconds / batched_seconds,
            "",
            ">= 50",
        ),
        Measurement(
            "times faster than one after another on the GPU",
            N_MODELS * gpu_seconds / batched_seconds,
            "",
        ),
        Measurement(
            "difference of the mean loss of 100 steps, alone and at once",
            abs(batched_losses[0] - gpu_loss),
            "nats",
        ),
    ]


PARTS: dict[str, Callable[[], list[Measurement]]] = {
    "reward": lambda: [m for size in SIZES for m in measure_reward(*size, 3)],
    "small": lambda: [m for n_questions, _ in SIZES for m in measure_small_batches(n_questions)],
    "simulation": measure_simulation,
    "training": measure_training,
    "batched": lambda: [
        Measurement(
            f"{N_MODELS} models at once",
            train_batched(replace(DEFAULT, max_steps=N_STEPS, patience=N_STEPS))[0],
            "s",
        )
    ],
}


def main() -> None:
    """Print the measurements of the named parts, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=sorted(PARTS))
    parser.add_argument("--output", type=Path, default=Path("default-gpu.json"))
    options = parser.parse_args()
    measurements: list[Measurement] = []
    for part in options.parts:
        for measurement in PARTS[part]():
            print(measurement, measurement.goal, flush=True)
            measurements.append(measurement)
        options.output.write_text(json.dumps(to_document(measurements), indent=1))


if __name__ == "__main__":
    main()
