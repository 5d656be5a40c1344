"""What a GPU brings: the fused reward against plain PyTorch, and many models trained at once.

All ratios are of one run on one machine. A row-step is one row's scoring of all questions: for every
question and draw two passes through the tail. Plain PyTorch does all rows at once, as one first writes
it. Rewards are compared with those of the same draws in float64.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from rich.table import Table
from scipy.stats import spearmanr
from torch import Tensor

import eddi
from eddi.errors import EddiError
from eddi.model.inference.frozen import Settled
from eddi.model.network.network import LOG_VAR_RANGE
from eddi.model.recipe import PAPER, Recipe
from eddi.model.training import batched_training, loop, preparation
from eddi.reward.paper import fused, latent_information
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.harness import results
from eddi_benchmarks.speed import training_speed
from eddi_benchmarks.speed.reward_speed import Figure

MATRIX = 8_192  # side of the matrices whose product tells the machine's rate
IN_A_ROW = 10  # batches before a clock is read: rates are those of steady work
EXACT_ROWS = 512  # compared with float64
N_MODELS = 32
ALONE_STEPS = 100  # of each model, one after another


class NoGpuError(EddiError, RuntimeError):
    """There is no GPU to measure."""


@dataclass(frozen=True)
class Case:
    """Sizes of a reward to measure."""

    name: str
    recipe: Recipe
    groups: tuple[int, ...]  # the number of variables each question shows
    n_target: int
    n_draws: int
    n_rows: int
    wanted: str  # times plain PyTorch


def _nhanes_groups() -> tuple[int, ...]:
    """73 groups of 665 variables, some small and some large, as a survey's files are."""
    sizes = np.geomspace(1, 40, 73)
    whole = np.maximum(1, np.round(sizes * 665 / sizes.sum())).astype(int)
    whole[-1] += 665 - whole.sum()
    return tuple(whole.tolist())


BOSTON = Case("boston", PAPER, (1,) * 13, 1, 50, 4_096, "")
NHANES = Case(
    "nhanes", replace(PAPER, latent=20, identity=100), _nhanes_groups(), 139, 10, 2_048, ">= 4"
)


def run(folder: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> list[Figure]:
    """Every figure; written to ``folder`` and returned.

    Raises:
        NoGpuError: torch sees no GPU.
    """
    if not torch.cuda.is_available():
        raise NoGpuError("torch sees no GPU here to measure. Run this where there is one.")
    figures: list[Figure] = []
    for part in (_ceiling, partial(_reward, BOSTON), partial(_reward, NHANES), _training):
        for figure in (found := part(quick)):
            say(f"{figure.what}: {figure.value:.6g} {figure.unit}")
        figures += found
    gpu = torch.cuda.get_device_name()
    document = {"figures": [asdict(one) for one in figures], "circumstances": results.circumstances()}
    results.write(folder / "gpu.json", {**document, "gpu": gpu})
    return figures


def _seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The median time of one ``work`` among several in a row, after one to warm up."""
    work()
    taken = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(IN_A_ROW):
            work()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - began) / IN_A_ROW)
    return statistics.median(taken)


def _ceiling(quick: bool) -> list[Figure]:
    return [
        Figure(f"matrix product, {MATRIX} x {MATRIX}, {name}", _matrix_rate(kind, quick), "TFLOP/s")
        for name, kind in (("float16", torch.float16), ("float32", torch.float32))
    ]


def _matrix_rate(kind: torch.dtype, quick: bool) -> float:
    a, b = (torch.randn((MATRIX, MATRIX), device="cuda").to(kind) for _ in range(2))
    return 2 * MATRIX**3 / _seconds(lambda: a @ b, 1 if quick else 3) / 1e12


def fitted(case: Case) -> tuple[eddi.PartialVAE, NDArray[np.float64]]:
    """A model of these sizes on made-up numbers that lean on five hidden ones, and the numbers."""
    n = sum(case.groups) + case.n_target
    random = np.random.default_rng(0)
    numbers = random.normal(size=(1_000, 5)) @ random.normal(size=(5, n))
    numbers += 0.5 * random.normal(size=numbers.shape)
    schema = eddi.Schema(tuple(training_speed._variable(place, Kind.REAL) for place in range(n)))
    first = 0
    for place, size in enumerate(case.groups):
        if size > 1:
            names = schema.names[first : first + size]
            schema = schema.with_question(f"group {place}", reveals=list(names))
        first += size
    model = eddi.PartialVAE(schema, recipe=case.recipe, max_steps=300, random_state=0, device="cuda")
    return model.fit(numbers), numbers


@dataclass(frozen=True)
class PlainReward:
    """The reward from drawn values in plain PyTorch, at any precision."""

    tail: list[tuple[Tensor, Tensor]]
    slope: Tensor
    offset: Tensor
    asked: fused.Asked

    @classmethod
    def of(cls, settled: Settled, asked: fused.Asked, kind: torch.dtype) -> "PlainReward":
        layers = [*settled.tail, (settled.belief[0], settled.belief[1][:, 0])]
        tail = [(weight.to(kind), bias.to(kind)) for weight, bias in layers]
        return cls(tail, settled.lines.slope.to(kind), settled.lines.offset.to(kind), asked)

    def __call__(self, code: Tensor, values: Tensor) -> Tensor:
        """Rewards [rows, questions] of rows that have told nothing of their questions."""
        code, values = code.to(self.slope.dtype), values.to(self.slope.dtype)
        terms = torch.relu(values[..., None] * self.slope + self.offset)  # [draws, rows, n, width]
        told = code + terms[:, :, self.asked.target].sum(2)
        if self.asked.single:
            heard = terms[:, :, self.asked.variables]
        else:
            heard = torch.einsum("drvw,vq->drqw", terms, self.asked.shows.to(terms.dtype))
        return (self._nats(code.expand_as(told), heard) - self._nats(told, heard)).mean(0)

    def _nats(self, known: Tensor, heard: Tensor) -> Tensor:
        mean, log_var = (part[:, :, None] for part in self._posterior(known))
        after_mean, after = self._posterior(known[:, :, None] + heard)
        spread = ((after_mean - mean).square() + after.exp()) * torch.exp(-log_var)
        return 0.5 * (log_var - after + spread - 1).sum(-1)

    def _posterior(self, x: Tensor) -> tuple[Tensor, Tensor]:
        for weight, bias in self.tail[:-1]:
            x = torch.relu(F.linear(x, weight, bias))
        mean, log_var = F.linear(x, *self.tail[-1]).chunk(2, dim=-1)
        return mean, log_var.clamp(*LOG_VAR_RANGE)


def _reward(case: Case, quick: bool) -> list[Figure]:
    model, numbers = fitted(case)
    rows = model.evidence(numbers[np.arange(case.n_rows) % len(numbers)])
    seen = rows.hide(np.random.default_rng(1).random(rows.observed.shape) < 0.5)
    target = list(range(rows.n_variables - case.n_target, rows.n_variables))
    pack = fused.packed(model)
    assert pack is not None  # noqa: S101  # the sizes are among those that the kernels serve
    asked = fused.Asked.of(model, target, torch.device("cuda"))
    repeats = 2 if quick else 5
    with torch.inference_mode():
        # Codes of half-told rows, so that no two rows are alike, with all questions open.
        code = model.code(seen)
        values = model.draw(model.posterior(code), case.n_draws, seed=0)
        unseen = torch.ones((case.n_rows, rows.n_variables), device="cuda")
        ours = case.n_rows / _seconds(lambda: fused.gains(pack, asked, code, values, unseen), repeats)
        plain = PlainReward.of(model.settled_, asked, torch.float32)
        eager = case.n_rows / _seconds(lambda: _in_chunks(plain, code, values), 1 if quick else 3)
        some = (code[:EXACT_ROWS], values[:, :EXACT_ROWS].contiguous())
        exact = _in_chunks(PlainReward.of(model.settled_, asked, torch.float64), *some)
        by_kernel = fused.gains(pack, asked, *some, unseen[:EXACT_ROWS])
    figures = [
        Figure(f"{case.name}: row-steps a second, kernels", ours / 1e6, "million", _at_least(case)),
        Figure(f"{case.name}: row-steps a second, plain PyTorch", eager / 1e6, "million"),
        Figure(f"{case.name}: times plain PyTorch", ours / eager, "", case.wanted),
        *_shares(case, pack, ours, _matrix_rate(torch.float16, quick)),
        *_agreement(case, "kernels", by_kernel, exact),
        *_agreement(case, "plain PyTorch in float32", _in_chunks(plain, *some), exact),
    ]
    return figures + _whole(case, model, seen, repeats)


def _at_least(case: Case) -> str:
    return ">= 5" if case is BOSTON else ""


def _in_chunks(plain: PlainReward, code: Tensor, values: Tensor) -> Tensor:
    """All at once, but for terms of more than two billion numbers."""
    a_row = values.shape[0] * values.shape[2] * plain.slope.shape[1]
    rows = min(len(code), 2**31 // a_row)
    starts = range(0, len(code), rows)
    return torch.cat([plain(code[s : s + rows], values[:, s : s + rows]) for s in starts])


def _shares(case: Case, pack: fused.Packed, rate: float, ceiling: float) -> list[Figure]:
    """Of the measured matrix product: what the tail needs, and what is multiplied for it."""
    passes = 2 * len(case.groups) * case.n_draws
    hidden, latent_size = case.recipe.hidden, case.recipe.latent
    widths = (case.recipe.term, *hidden, 2 * latent_size)
    needed = sum(2 * a * b for a, b in pairwise(widths))
    first, onward = pack.first[0].numel(), pack.second.numel() + pack.last.numel()
    done = 2 * (3 * first + 2 * onward)  # products of two parts, with the padding
    return [
        Figure(
            f"{case.name}: {name}, share of the float16 matrix product",
            passes * flop * rate / 1e12 / ceiling,
            "",
        )
        for name, flop in (("the tail's own products", needed), ("all products taken", done))
    ]


def _agreement(case: Case, who: str, rewards: Tensor, exact: Tensor) -> list[Figure]:
    ours, truth = rewards.double().cpu().numpy(), exact.cpu().numpy()
    by_row = [spearmanr(a, b).statistic for a, b in zip(ours, truth, strict=True)]
    same = (ours.argmax(1) == truth.argmax(1)).mean()
    return [
        Figure(
            f"{case.name}: rank correlation with float64, {who}",
            spearmanr(ours.ravel(), truth.ravel()).statistic,
            "",
            "> 0.999",
        ),
        Figure(f"{case.name}: the same within a row, on average, {who}", float(np.mean(by_row)), ""),
        Figure(f"{case.name}: rows whose best question is the same, {who}", float(same), ""),
    ]


def _whole(case: Case, model: eddi.PartialVAE, seen: Evidence, repeats: int) -> list[Figure]:
    """The whole way from evidence in main memory: code, draws, rewards of the questions still open."""
    names = model.schema_.names[-case.n_target :]
    asked = {"n_draws": case.n_draws, "seed": 0}

    def by_kernel() -> Tensor:
        return latent_information.information(model, seen, names, **asked)

    def eagerly() -> Tensor:
        return latent_information.eagerly(model, seen, model.schema_.positions(names), **asked)

    ours, eager = (len(seen) / _seconds(work, n) for work, n in ((by_kernel, repeats), (eagerly, 1)))
    return [
        Figure(f"{case.name}: rows a second from evidence to rewards, half told", ours / 1e6, "million"),
        Figure(f"{case.name}: the same without the kernels", eager / 1e6, "million"),
        Figure(f"{case.name}: times faster", ours / eager, ""),
    ]


def runs(recipe: Recipe, n: int) -> list[batched_training.Run]:
    """Networks of Boston's sizes, each with its own table and seed."""
    random = np.random.default_rng(0)
    schema = eddi.Schema(tuple(training_speed._variable(place, Kind.REAL) for place in range(14)))
    made = []
    for seed in range(n):
        numbers = random.random((455, 14))
        coding = Coding.fit(schema, numbers, recipe.scaling)
        network = preparation.build(schema, coding, "pnp", recipe, seed=seed)
        made.append(batched_training.Run(network, coding.encode(numbers), seed))
    return made


def _training(quick: bool) -> list[Figure]:
    device = torch.device("cuda")
    few = replace(PAPER, max_steps=ALONE_STEPS)
    n_alone = 4 if quick else N_MODELS
    batched_training.train_together(
        runs(replace(few, max_steps=2), 2), replace(few, max_steps=2), device=device
    )
    one_by_one = runs(few, n_alone)
    began = time.perf_counter()
    alone = [
        loop.train(one.network, one.evidence, few, seed=one.seed, device=device) for one in one_by_one
    ]
    apart = (time.perf_counter() - began) / n_alone * N_MODELS
    began = time.perf_counter()
    at_once = batched_training.train_together(runs(few, N_MODELS), few, device=device)
    joint = time.perf_counter() - began
    began = time.perf_counter()
    batched_training.train_together(runs(PAPER, N_MODELS), PAPER, device=device)
    whole = time.perf_counter() - began
    gap = max(abs(a[-1].loss - b[-1].loss) for a, b in zip(alone, at_once, strict=False))
    by_step = (apart / ALONE_STEPS) / (whole / PAPER.max_steps)
    what = f"{N_MODELS} models, {ALONE_STEPS} steps"
    return [
        Figure(f"training, {what}, one after another", apart, "s"),
        Figure(f"training, {what}, at once, capture and all", joint, "s"),
        Figure("training, times faster", apart / joint, "", ">= 10"),
        Figure(f"training, {N_MODELS} models, {PAPER.max_steps} steps, at once", whole, "s"),
        Figure("training, times faster a step", by_step, "", ">= 10"),
        Figure("training, largest gap of the mean loss of those steps", gap, "nats"),
    ]


def as_table(figures: Sequence[Figure]) -> Table:
    """What was measured, beside what we want."""
    table = Table(title=f"On {torch.cuda.get_device_name()} (medians)")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("unit")
    table.add_column("wanted", justify="right")
    for figure in figures:
        table.add_row(figure.what, f"{figure.value:.4g}", figure.unit, figure.wanted)
    return table
