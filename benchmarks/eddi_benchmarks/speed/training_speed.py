"""How fast we train: our loop against the plainest PyTorch loop of the same network and objective.

The plain loop is the textbook: `PlainNetwork` applies h to a [rows, variables, identity] tensor, and
`PlainLoop` draws, masks, and calls zero_grad, backward and step. The two run in turns, in one process,
so that whatever else the machine does meets both alike.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from rich.table import Table
from torch import Tensor, nn

import eddi
from eddi.errors import EddiError
from eddi.model.network.network import Network
from eddi.model.recipe import PAPER, Recipe, SetEncoderName
from eddi.model.training import loop, preparation
from eddi.model.training.objective import Batch, loss
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness import results

ENCODERS: tuple[SetEncoderName, ...] = ("zi", "zi-m", "pn", "pnp")
MAX_SEGMENT_STEPS = 300  # one turn of one loop
SEGMENT_SECONDS = 1.0  # a turn of a large network has fewer steps, but not less than these below
MIN_SEGMENT_STEPS = 5
WARM_UP_STEPS = 5
SAME_LOSS = 1e-4  # relative: float32 sums in another order
CPU = torch.device("cpu")


class UnfairError(EddiError, AssertionError):
    """The two loops do not compute the same loss, so their times must not be compared."""


@dataclass(frozen=True)
class Sizes:
    """A table's and a network's sizes, and the encoders timed on them."""

    name: str
    kind: Kind
    n_rows: int
    n_variables: int
    recipe: Recipe
    encoders: tuple[SetEncoderName, ...]


BOSTON = Sizes("boston", Kind.REAL, 506, 14, PAPER, ENCODERS)
MNIST = Sizes(
    "mnist",
    Kind.BINARY,
    10_000,
    784,
    replace(PAPER, latent=20, identity=20, term=500, hidden=(500, 500, 200)),
    ("zi-m", "pnp"),
)


@dataclass(frozen=True)
class Speed:
    """Steps a second of both loops: medians over the turns, and the median ratio of neighbours."""

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


class PlainNetwork(nn.Module):
    """The Partial VAE as a textbook writes it."""

    def __init__(self, sizes: Sizes, set_encoder: SetEncoderName) -> None:
        super().__init__()
        recipe, n = sizes.recipe, sizes.n_variables
        self.name, self.kind, self.noise = set_encoder, sizes.kind, recipe.noise
        if set_encoder in ("zi", "zi-m"):
            widths = [n if set_encoder == "zi" else 2 * n, *recipe.hidden, 2 * recipe.latent]
        else:
            entered = recipe.identity + (1 if set_encoder == "pn" else 0)
            self.identity = nn.Parameter(torch.randn(n, recipe.identity))
            self.h = nn.Sequential(nn.Linear(entered, recipe.term), nn.ReLU())
            widths = [recipe.term, *recipe.hidden, 2 * recipe.latent]
        self.tail = _stack(widths)
        self.decoder = _stack([recipe.latent, *reversed(recipe.hidden), n])

    def encode(self, seen: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
        if self.name == "zi":
            out = self.tail(seen)
        elif self.name == "zi-m":
            out = self.tail(torch.cat([seen, observed], dim=1))
        else:
            terms = self.h(self._entered(seen)) * observed[:, :, None]  # [rows, variables, term]
            out = self.tail(terms.sum(dim=1))
        mean, log_var = out.chunk(2, dim=-1)
        return mean, log_var

    def _entered(self, seen: Tensor) -> Tensor:
        if self.name == "pnp":
            return self.identity * seen[:, :, None]  # [rows, variables, identity]
        identity = self.identity.expand(len(seen), -1, -1)
        return torch.cat([identity, seen[:, :, None]], dim=2)  # [rows, variables, identity + 1]

    def loss(self, values: Tensor, observed: Tensor, noise: Tensor) -> Tensor:
        """The negative partial bound (Ma et al. 2019, equation 3), a variable."""
        mean, log_var = self.encode(values * observed, observed)
        out = self.decoder(mean + noise * torch.exp(0.5 * log_var))
        fit = (self._log_prob(out, values) * observed).sum(dim=1)
        kl = -0.5 * (1 + log_var - mean**2 - torch.exp(log_var)).sum(dim=1)
        return -(fit - kl).mean() / values.shape[1]

    def _log_prob(self, out: Tensor, values: Tensor) -> Tensor:
        if self.kind is Kind.BINARY:
            return -F.binary_cross_entropy_with_logits(out, values, reduction="none")
        sd = self.noise or 1.0
        return -0.5 * ((values - out) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)

    @torch.no_grad()
    def become(self, network: Network) -> None:
        """Take over the weights of our network."""
        ours, own = network.set_encoder, [*_linears(self.tail), *_linears(self.decoder)]
        if self.name in ("zi", "zi-m"):
            slope, offset = ours.affine()
            weight = slope if self.name == "zi" else torch.cat([slope, offset])
            own[0].weight.copy_(weight.T)
            own[0].bias.copy_(ours.base)
            own = own[1:]
        else:
            self.identity.copy_(ours.identity)
            _linears(self.h)[0].load_state_dict(ours.layer.state_dict())
        for linear, other in zip(
            own, [*_linears(network.tail), *_linears(network.decoder)], strict=True
        ):
            linear.load_state_dict(other.state_dict())


def _stack(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _linears(module: nn.Module) -> list[nn.Linear]:
    return [layer for layer in module.modules() if isinstance(layer, nn.Linear)]


@dataclass(frozen=True)
class PlainLoop:
    """Training as one first writes it."""

    network: PlainNetwork
    rows: Tensor  # [rows, variables]
    recipe: Recipe
    optimiser: torch.optim.Optimizer
    random: torch.Generator

    def __call__(self, n_steps: int) -> None:
        recipe, random = self.recipe, self.random
        for _ in range(n_steps):
            values = self.rows[torch.randint(len(self.rows), (recipe.batch_size,), generator=random)]
            missing = torch.rand((), generator=random) * recipe.max_missing
            observed = (torch.rand(values.shape, generator=random) >= missing).float()
            noise = torch.randn(len(values), recipe.latent, generator=random)
            loss = self.network.loss(values, observed, noise)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()


@dataclass(frozen=True)
class Pair:
    """Both loops over one table, ready to run."""

    ours: Network
    plain: PlainNetwork
    evidence: Evidence
    recipe: Recipe

    @classmethod
    def of(cls, sizes: Sizes, set_encoder: SetEncoderName) -> "Pair":
        """Both networks with the same weights.

        Raises:
            UnfairError: they do not give the same loss.
        """
        numbers = rows_of(sizes)
        schema = eddi.Schema(tuple(_variable(place, sizes.kind) for place in range(numbers.shape[1])))
        coding = Coding.fit(schema, numbers, sizes.recipe.scaling)
        ours = preparation.build(schema, coding, set_encoder, sizes.recipe, seed=0)
        plain = PlainNetwork(sizes, set_encoder)
        plain.become(ours)
        pair = cls(ours, plain, coding.encode(numbers), sizes.recipe)
        pair.check_fair()
        return pair

    def losses(self) -> tuple[Tensor, Tensor]:
        """The loss of one batch with about a third hidden, by our network and by the plain one."""
        random = torch.Generator().manual_seed(0)
        values = torch.from_numpy(self.evidence.values[: self.recipe.batch_size])
        observed = (torch.rand(values.shape, generator=random) >= 0.35).float()
        noise = torch.randn((1, len(values), self.recipe.latent), generator=random)
        batch = Batch(values, torch.ones_like(values), observed, noise)
        ours = loss(self.ours, self.recipe.objective, batch)
        return ours, self.plain.loss(values, observed, noise[0])

    def check_fair(self) -> None:
        ours, plain = (float(loss.detach()) for loss in self.losses())
        if not math.isclose(ours, plain, rel_tol=SAME_LOSS):
            raise UnfairError(
                f"with the same weights and rows our loss is {ours:g} and the plain one {plain:g}; "
                "they must agree before their speeds mean anything."
            )

    def loops(self) -> tuple[Callable[[int], None], Callable[[int], None]]:
        """Both loops as functions of how many steps to run."""
        rows = torch.from_numpy(self.evidence.values)
        optimiser = torch.optim.Adam(self.plain.parameters(), lr=self.recipe.learning_rate)
        random = torch.Generator().manual_seed(0)

        def ours(n_steps: int) -> None:
            recipe = replace(self.recipe, max_steps=n_steps)
            loop.train(self.ours, self.evidence, recipe, seed=0, device=CPU)

        return ours, PlainLoop(self.plain, rows, self.recipe, optimiser, random)


def _variable(place: int, kind: Kind) -> eddi.Variable:
    return eddi.Variable(f"x{place}", kind, levels=(0, 1) if kind is Kind.BINARY else ())


def rows_of(sizes: Sizes) -> NDArray[np.float64]:
    """The dataset's rows where this machine has it, else random ones of the same sizes and kind."""
    try:
        table = datasets.load(sizes.name)
    except datasets.DatasetError:
        drawn = np.random.default_rng(0).random((sizes.n_rows, sizes.n_variables))
        return (drawn > 0.8).astype(np.float64) if sizes.kind is Kind.BINARY else drawn
    columns = table.slice(0, sizes.n_rows).columns[: sizes.n_variables]
    numbers = np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)
    return (numbers > 127).astype(np.float64) if sizes.kind is Kind.BINARY else numbers


def measure(sizes: Sizes, set_encoder: SetEncoderName, *, threads: int, repeats: int) -> Speed:
    """Steps a second of both loops, run in turns ``repeats`` times."""
    with _threads(threads):
        loops = Pair.of(sizes, set_encoder).loops()
        n_steps = [_segment(loop) for loop in loops]
        turns = [
            [n / _seconds(loop, n) for loop, n in zip(loops, n_steps, strict=True)]
            for _ in range(repeats)
        ]
    ours, plain = (statistics.median(speeds) for speeds in zip(*turns, strict=True))
    ratio = statistics.median(fast / slow for fast, slow in turns)
    return Speed(sizes.name, set_encoder, threads, ours, plain, ratio)


def _segment(loop: Callable[[int], None]) -> int:
    """How many steps make a turn of this loop; the steps that find out also warm it up."""
    loop(1)
    step = _seconds(loop, WARM_UP_STEPS) / WARM_UP_STEPS
    return min(MAX_SEGMENT_STEPS, max(MIN_SEGMENT_STEPS, int(SEGMENT_SECONDS / step)))


def _seconds(loop: Callable[[int], None], n_steps: int) -> float:
    began = time.perf_counter()
    loop(n_steps)
    return time.perf_counter() - began


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def memory(sizes: Sizes, set_encoder: SetEncoderName, *, early: int, late: int) -> Memory | None:
    """Whether memory stays flat while training; None where the system does not tell."""
    if resident_megabytes() is None:
        return None
    seen: dict[int, float] = {}
    pair = Pair.of(sizes, set_encoder)
    loop.train(
        pair.ours,
        pair.evidence,
        replace(pair.recipe, max_steps=late),
        seed=0,
        device=CPU,
        on_progress=lambda progress: seen.update({progress.step: resident_megabytes() or math.nan}),
    )
    return Memory(early, seen[early], late, seen[late])


def resident_megabytes() -> float | None:
    """Memory this process holds now, where /proc tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    kilobytes = next((line.split()[1] for line in lines if line.startswith("VmRSS:")), None)
    return None if kilobytes is None else int(kilobytes) / 1024


def run(folder: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> list[Speed]:
    """Every size, encoder and number of threads; written to ``folder`` and returned."""
    everything = [BOSTON, MNIST]
    if quick:
        everything = [replace(BOSTON, encoders=("zi", "pnp")), replace(MNIST, encoders=("pnp",))]
    threads = [1] if quick else sorted({1, torch.get_num_threads()})
    cases = [(sizes, name, n) for sizes in everything for n in threads for name in sizes.encoders]
    speeds = []
    for sizes, name, n in cases:
        speed = measure(sizes, name, threads=n, repeats=2 if quick else 7)
        say(f"{sizes.name} {name}, {n} threads: {speed.ratio:.2f} times the plain loop")
        speeds.append(speed)
    held = memory(BOSTON, "pnp", early=500, late=1000 if quick else 3000)
    if held:
        say(
            f"memory: {held.early:.1f} MB after {held.early_step} steps, "
            f"{held.late:.1f} MB after {held.late_step}"
        )
    results.write(folder / "training-speed.json", _document(speeds, held))
    return speeds


def _document(speeds: Sequence[Speed], held: Memory | None) -> dict[str, Any]:
    return {
        "speeds": [asdict(speed) for speed in speeds],
        "memory": asdict(held) if held else None,
        "circumstances": results.circumstances(),
    }


def as_table(speeds: Sequence[Speed]) -> Table:
    """Steps a second of both loops, and how many times faster ours is."""
    table = Table(title="Training steps a second, batches of 100 (paper's recipe, medians)")
    for name in ("sizes", "encoder"):
        table.add_column(name)
    for name in ("threads", "ours", "plain PyTorch", "times faster"):
        table.add_column(name, justify="right")
    for speed in speeds:
        numbers = (f"{speed.ours:.0f}", f"{speed.plain:.3g}", f"{speed.ratio:.2f}")
        table.add_row(speed.sizes, speed.set_encoder, str(speed.threads), *numbers)
    return table
