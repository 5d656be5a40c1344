"""Training speed: our loop compared with a plain PyTorch loop of the same network and objective.

The two loops alternate in one process, so that other programs on the machine affect both equally.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.table import Table
from torch import Tensor

import eddi
from eddi.model.network.network import Network
from eddi.model.recipe import PAPER, Recipe, SetEncoderName
from eddi.model.training import loop, preparation
from eddi.model.training.objective import Batch, loss
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.environment import describe_environment, torch_threads
from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.report.statistics import Numbers
from eddi_benchmarks.speed.plain_network import ComparisonError, PlainNetwork, PlainTraining

ENCODERS: tuple[SetEncoderName, ...] = ("zi", "zi-m", "pn", "pnp")
MAX_SEGMENT_STEPS = 300  # a segment is an uninterrupted part of one loop
MIN_SEGMENT_STEPS = 5
SEGMENT_SECONDS = 1.0  # target duration; segments of large networks have fewer steps
WARM_UP_STEPS = 5
LOSS_TOLERANCE = 1e-4  # relative: float32 sums in another order
HIDDEN_RATE = 0.35  # of the batch with which losses are compared
CPU = torch.device("cpu")

Loop = Callable[[int], None]
"""Runs the given number of training steps."""


@dataclass(frozen=True)
class TrainingCase:
    """The sizes of a table and of a network, and the encoders to time."""

    name: str
    kind: Kind
    n_rows: int
    n_variables: int
    recipe: Recipe
    encoders: tuple[SetEncoderName, ...]


BOSTON = TrainingCase("boston", Kind.REAL, 506, 14, PAPER, ENCODERS)
MNIST = TrainingCase(
    "mnist",
    Kind.BINARY,
    10_000,
    784,
    replace(PAPER, latent=20, identity=20, term=500, hidden=(500, 500, 200)),
    ("zi-m", "pnp"),
)


@dataclass(frozen=True)
class Speed:
    """Steps per second of both loops (medians of segments), and the median ratio of neighbours."""

    sizes: str
    set_encoder: str
    threads: int
    ours: float
    plain: float
    ratio: float


@dataclass(frozen=True)
class Memory:
    """Resident megabytes of this process after few and after many steps of our loop."""

    early_step: int
    early: float
    late_step: int
    late: float


@dataclass(frozen=True)
class NetworkPair:
    """Our network and the plain one on one table."""

    ours: Network
    plain: PlainNetwork
    evidence: Evidence
    recipe: Recipe

    @classmethod
    def from_case(cls, case: TrainingCase, set_encoder: SetEncoderName) -> "NetworkPair":
        """Both networks with equal weights.

        Raises:
            ComparisonError: their losses differ.
        """
        numbers = load_rows(case)
        schema = make_schema(numbers.shape[1], case.kind)
        coding = Coding.fit(schema, numbers, case.recipe.scaling)
        ours = preparation.build_network(schema, coding, set_encoder, case.recipe, seed=0)
        plain = PlainNetwork(case.recipe, set_encoder, kind=case.kind, n_variables=case.n_variables)
        plain.copy_weights(ours)
        pair = cls(ours, plain, coding.encode(numbers), case.recipe)
        pair.check_losses()
        return pair

    def losses(self) -> tuple[Tensor, Tensor]:
        """The loss of one batch with missing values by our network and by the plain one."""
        random = torch.Generator().manual_seed(0)
        values = torch.from_numpy(self.evidence.values[: self.recipe.batch_size])
        observed = (torch.rand(values.shape, generator=random) >= HIDDEN_RATE).float()
        noise = torch.randn((1, len(values), self.recipe.latent), generator=random)
        batch = Batch(values, torch.ones_like(values), observed, noise)
        ours = loss(self.ours, self.recipe.objective, batch)
        return ours, self.plain.loss(values, observed, noise[0])

    def check_losses(self) -> None:
        """Raise ComparisonError if the losses differ."""
        ours, plain = (float(loss.detach()) for loss in self.losses())
        if not math.isclose(ours, plain, rel_tol=LOSS_TOLERANCE):
            raise ComparisonError(
                f"with equal weights and rows our loss is {ours:g} and the plain one {plain:g}. "
                "They must agree before speeds are compared."
            )

    def loops(self) -> tuple[Loop, Loop]:
        """Our training loop and the plain one."""
        rows = torch.from_numpy(self.evidence.values)
        optimiser = torch.optim.Adam(self.plain.parameters(), lr=self.recipe.learning_rate)
        random = torch.Generator().manual_seed(0)

        def train(n_steps: int) -> None:
            recipe = replace(self.recipe, max_steps=n_steps)
            loop.train(self.ours, self.evidence, recipe, seed=0, device=CPU)

        return train, PlainTraining(self.plain, rows, self.recipe, optimiser, random)


def make_schema(n_variables: int, kind: Kind) -> eddi.Schema:
    """A schema of variables x0, x1, ... of one kind."""
    levels = (0, 1) if kind is Kind.BINARY else ()
    return eddi.Schema(tuple(eddi.Variable(f"x{i}", kind, levels=levels) for i in range(n_variables)))


def load_rows(case: TrainingCase) -> Numbers:
    """The rows of the dataset, or random ones of the same sizes and kind if it is not available."""
    try:
        table = datasets.load(case.name)
    except datasets.DatasetError:
        random_rows = np.random.default_rng(0).random((case.n_rows, case.n_variables))
        return (random_rows > 0.8).astype(np.float64) if case.kind is Kind.BINARY else random_rows
    columns = table.slice(0, case.n_rows).columns[: case.n_variables]
    numbers = np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)
    return (numbers > 127).astype(np.float64) if case.kind is Kind.BINARY else numbers


def measure_speed(
    case: TrainingCase, set_encoder: SetEncoderName, *, threads: int, repeats: int
) -> Speed:
    """Measure both loops in alternating segments, ``repeats`` times each."""
    with torch_threads(threads):
        loops = NetworkPair.from_case(case, set_encoder).loops()
        n_steps = [_segment_steps(loop) for loop in loops]
        segments = [
            [n / _seconds(loop, n) for loop, n in zip(loops, n_steps, strict=True)]
            for _ in range(repeats)
        ]
    ours, plain = (statistics.median(speeds) for speeds in zip(*segments, strict=True))
    ratio = statistics.median(fast / slow for fast, slow in segments)
    return Speed(case.name, set_encoder, threads, ours, plain, ratio)


def _segment_steps(loop: Loop) -> int:
    """The number of steps in a segment of this loop; measuring it also warms the loop up."""
    loop(1)
    step_seconds = _seconds(loop, WARM_UP_STEPS) / WARM_UP_STEPS
    return min(MAX_SEGMENT_STEPS, max(MIN_SEGMENT_STEPS, int(SEGMENT_SECONDS / step_seconds)))


def _seconds(loop: Loop, n_steps: int) -> float:
    start = time.perf_counter()
    loop(n_steps)
    return time.perf_counter() - start


def measure_memory(
    case: TrainingCase, set_encoder: SetEncoderName, *, early: int, late: int
) -> Memory | None:
    """Memory after two numbers of training steps; None where the system does not report it."""
    if resident_megabytes() is None:
        return None
    by_step: dict[int, float] = {}
    pair = NetworkPair.from_case(case, set_encoder)
    loop.train(
        pair.ours,
        pair.evidence,
        replace(pair.recipe, max_steps=late),
        seed=0,
        device=CPU,
        on_progress=lambda progress: by_step.update({progress.step: resident_megabytes() or math.nan}),
    )
    return Memory(early, by_step[early], late, by_step[late])


def resident_megabytes() -> float | None:
    """The resident memory of this process, from /proc; None if it is not available."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    kilobytes = next((line.split()[1] for line in lines if line.startswith("VmRSS:")), None)
    return None if kilobytes is None else int(kilobytes) / 1024


def run(folder: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> list[Speed]:
    """Measure every case, encoder and number of threads; store and return the speeds."""
    cases = [BOSTON, MNIST]
    if quick:
        cases = [replace(BOSTON, encoders=("zi", "pnp")), replace(MNIST, encoders=("pnp",))]
    threads = [1] if quick else sorted({1, torch.get_num_threads()})
    settings = [(case, n, encoder) for case in cases for n in threads for encoder in case.encoders]
    speeds = []
    for case, n_threads, encoder in settings:
        speed = measure_speed(case, encoder, threads=n_threads, repeats=2 if quick else 7)
        say(f"{case.name} {encoder}, {n_threads} threads: {speed.ratio:.2f} times the plain loop")
        speeds.append(speed)
    memory = measure_memory(BOSTON, "pnp", early=500, late=1000 if quick else 3000)
    if memory:
        say(
            f"memory: {memory.early:.1f} MB after {memory.early_step} steps, "
            f"{memory.late:.1f} MB after {memory.late_step}"
        )
    write_json(folder / "training-speed.json", _document(speeds, memory))
    return speeds


def _document(speeds: Sequence[Speed], memory: Memory | None) -> dict[str, Any]:
    return {
        "speeds": [asdict(speed) for speed in speeds],
        "memory": asdict(memory) if memory else None,
        "circumstances": describe_environment(),
    }


def as_table(speeds: Sequence[Speed]) -> Table:
    """Steps per second of both loops, and their ratio."""
    table = Table(title="Training steps per second, batches of 100 (paper's recipe, medians)")
    for name in ("sizes", "encoder"):
        table.add_column(name)
    for name in ("threads", "ours", "plain PyTorch", "times faster"):
        table.add_column(name, justify="right")
    for speed in speeds:
        cells = (f"{speed.ours:.0f}", f"{speed.plain:.3g}", f"{speed.ratio:.2f}")
        table.add_row(speed.sizes, speed.set_encoder, str(speed.threads), *cells)
    return table
