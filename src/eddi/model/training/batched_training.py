"""Several networks trained at once: seeds and folds as one more axis of every tensor.

A step of one small network is a hundred kernels too short to fill a GPU, and launching them is all that
takes time. Networks that are alike take their steps side by side in the same kernels, and on a GPU the
step is captured once and replayed. Each ends where it would have ended alone, up to rounding: rows,
masks and noise are those that `training.train` draws for its seed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from eddi.errors import TrainingError
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.training import loop
from eddi.model.training.calibration import calibrate
from eddi.model.training.checkpoint import Course, Progress
from eddi.model.training.flat_weights import adam_step
from eddi.model.training.loop import STEPS_A_ROUND, learning_rate
from eddi.model.training.objective import Batch, loss
from eddi.table.evidence import Evidence

MAX_NUMBERS = 2**26  # of rows, masks and noise on the device at once: 256 MB
DRAWING_THREADS = 8  # random numbers are drawn on the CPU, as for one network, while the GPU works
WARM_UP_STEPS = 3  # before a capture, which wants all memory to have been asked for once
CPU = torch.device("cpu")

Drawn = tuple[Tensor, ...]  # values, known, observed and noise of some steps, as in `Batch`


@dataclass(frozen=True)
class Run:
    """One network to be trained, on what, and from which seed."""

    network: Network
    evidence: Evidence
    seed: int
    targets: Sequence[int] = ()


def train_together(runs: Sequence[Run], recipe: Recipe, *, device: torch.device) -> list[list[Progress]]:
    """Fit every run's network to its evidence in place; returns how each went.

    Raises:
        TrainingError: the networks differ in more than their weights, or a loss was no number.
    """
    check_alike([run.network for run in runs])
    split = [loop.split(run.evidence, recipe, run.seed) for run in runs]
    rows = [
        loop._Rows(seen, recipe, run.network.latent, run.seed, CPU, run.targets)
        for run, (seen, _) in zip(runs, split, strict=True)
    ]
    weights = StackedWeights([run.network.to(device) for run in runs], recipe)
    exams = [
        loop._Examination(held_out, recipe, run.seed, device, run.targets) if held_out else None
        for run, (_, held_out) in zip(runs, split, strict=True)
    ]
    courses = [Course() for _ in runs]
    began = time.monotonic()
    worth = torch.stack([one.worth for one in rows]).to(device)
    step = _Step(weights, [run.network for run in runs], recipe, worth)
    for losses in _rounds(step, rows, recipe):
        for run, course, exam, kept, mean_loss in zip(
            runs, courses, exams, weights.each(), losses.tolist(), strict=True
        ):
            if course.stale > recipe.patience:
                continue  # this one has ended, and is only carried along
            with kept.averaged():
                score = exam(run.network) if exam else None
            progress = loop._advance(course, kept, recipe, mean_loss, score)  # type: ignore[arg-type]
            course.history.append(replace(progress, seconds=time.monotonic() - began))
        if all(course.stale > recipe.patience for course in courses):
            break
    weights.use_best()
    for run, exam in zip(runs, exams, strict=True):
        if exam:
            calibrate(run.network, exam.for_calibration(), len(exam))
    return [course.history for course in courses]


def check_alike(networks: Sequence[Network]) -> None:
    """Refuse networks that cannot be one: they must have the same parts of the same sizes."""

    def parts(network: Network) -> object:
        kinds = [(form.kind, form.n_levels) for form in network.forms]
        return kinds, network.set_encoder.name, [(n, p.shape) for n, p in network.named_parameters()]

    for place, network in enumerate(networks):
        if parts(network) != parts(networks[0]):
            raise TrainingError(
                f"network {place + 1} of {len(networks)} has other variables or sizes than the first. "
                "Train together only models of one schema, recipe and set encoder."
            )


class StackedWeights:
    """The trainable weights of many networks as one tensor [networks, weights], and Adam over it.

    The networks' own parameters become views into it. What `FlatWeights` does for one is done for each.
    """

    def __init__(self, networks: Sequence[Network], recipe: Recipe) -> None:
        named = [(name, p) for name, p in networks[0].named_parameters() if p.requires_grad]
        named.sort(key=lambda one: one[1].dim() <= 1)  # matrices first
        self._shapes = {name: parameter.shape for name, parameter in named}
        self._n_matrix = sum(parameter.numel() for _, parameter in named if parameter.dim() > 1)
        self.flat = torch.stack([self._adopted(network) for network in networks]).requires_grad_()
        for network, row in zip(networks, self.flat.detach(), strict=True):
            parameters = dict(network.named_parameters())
            for name, part in self._parts(row).items():
                parameters[name].data = part
        self.mean, self.best = self.flat.detach().clone(), self.flat.detach().clone()
        self.moments = (torch.zeros_like(self.best), torch.zeros_like(self.best))
        self.steps = torch.zeros((), device=self.flat.device)
        self._clip, self._decay, self._window = recipe.clip, recipe.weight_decay, recipe.average

    def _adopted(self, network: Network) -> Tensor:
        parameters = dict(network.named_parameters())
        return torch.cat([parameters[name].detach().flatten() for name in self._shapes])

    def _parts(self, flat: Tensor) -> dict[str, Tensor]:
        sizes = [shape.numel() for shape in self._shapes.values()]
        parts = zip(self._shapes.items(), torch.split(flat, sizes, dim=-1), strict=True)
        return {name: part.view(*part.shape[:-1], *shape) for (name, shape), part in parts}

    def named(self) -> dict[str, Tensor]:
        """Every parameter by its name, of all networks [networks, ...]."""
        return self._parts(self.flat)

    def descend(self, losses: Tensor, rate: Tensor) -> None:
        """One step down every network's own loss, as `FlatWeights.descend` takes it."""
        (gradient,) = torch.autograd.grad(losses.sum(), self.flat)
        with torch.no_grad():
            if self._clip is not None:
                norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
                gradient = gradient * (self._clip / (norm + 1e-6)).clamp(max=1.0)
            if self._decay:
                self.flat[:, : self._n_matrix].mul_(1 - rate * self._decay)
            adam_step(self.flat, gradient, self.moments, self.steps, rate)
            if self._window:
                self.mean.lerp_(self.flat, 1 / self._window)

    def each(self) -> list["_Kept"]:
        """The networks one by one, for whoever examines them and keeps the best of each."""
        wanted = self.mean if self._window else self.flat.detach()
        return [_Kept(*one) for one in zip(self.flat.detach(), wanted, self.best, strict=True)]

    def use_best(self) -> None:
        """Go back to the remembered weights."""
        self.flat.detach().copy_(self.best)

    def state(self) -> list[Tensor]:
        """Every tensor that a step changes."""
        return [self.flat.detach(), self.mean, *self.moments, self.steps]


@dataclass(frozen=True)
class _Kept:
    """One network's weights: those that walk, those that are wanted of them, and the best."""

    now: Tensor
    wanted: Tensor
    best: Tensor

    @contextmanager
    def averaged(self) -> Iterator[None]:
        walking = self.now.clone()
        self.now.copy_(self.wanted)
        yield
        self.now.copy_(walking)

    def keep_best(self) -> None:
        self.best.copy_(self.wanted)


class _Loss(nn.Module):
    """The loss as a module's call, which is what `functional_call` can give other weights."""

    def __init__(self, network: Network, objective: str) -> None:
        super().__init__()
        self.network, self.objective = network, objective

    def forward(self, *batch: Tensor) -> Tensor:
        return loss(self.network, self.objective, Batch(*batch))


class _Step:
    """Steps of all networks on what was drawn for them; on a GPU captured once, then replayed."""

    def __init__(
        self, weights: StackedWeights, networks: Sequence[Network], recipe: Recipe, worth: Tensor
    ) -> None:
        self.weights, self.worth, self.recipe = weights, worth, recipe
        self.device, self._facts = worth.device, _facts(networks)
        module = _Loss(networks[0], recipe.objective)
        self._losses = vmap(
            lambda own, batch: functional_call(
                module, {f"network.{name}": part for name, part in own.items()}, batch
            )
        )
        self._drawn: Drawn = ()
        self._replay: Callable[[], None] | None = None

    def __call__(self, drawn: Drawn, first: int) -> Tensor:
        """The losses [steps, networks] of the steps from ``first`` on."""
        n = len(drawn[0])
        rates = torch.tensor([learning_rate(self.recipe, first + k) for k in range(n)])
        if self._replay is None:
            self._prepare((*drawn, rates))
        for ours, given in zip(self._drawn, (*drawn, rates), strict=True):
            ours[:n].copy_(given, non_blocking=True)
        self._at.zero_()
        assert self._replay is not None  # noqa: S101  # just prepared
        for _ in range(n):
            self._replay()
        return self._seen[:n].clone()

    def _prepare(self, drawn: Drawn) -> None:
        """Ask for all memory, and capture a step where that can be done."""
        self._drawn = tuple(torch.empty_like(part, device=self.device) for part in drawn)
        for ours, given in zip(self._drawn, drawn, strict=True):
            ours.copy_(given)
        self._at = torch.zeros(1, dtype=torch.long, device=self.device)
        self._seen = torch.empty((len(drawn[0]), len(self.worth)), device=self.device)
        self._replay = self._captured() if self.device.type == "cuda" else self._one

    def _one(self) -> None:
        *batch, rate = (part.index_select(0, self._at)[0] for part in self._drawn)
        losses = self._losses({**self.weights.named(), **self._facts}, (*batch, self.worth))
        self.weights.descend(losses, rate)
        self._seen.index_copy_(0, self._at, losses.detach()[None])
        self._at += 1

    def _captured(self) -> Callable[[], None]:
        before = [part.clone() for part in self.weights.state()]
        beside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(WARM_UP_STEPS):
                self._at.zero_()
                self._one()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._one()
        for part, was in zip(self.weights.state(), before, strict=True):
            part.copy_(was)
        return graph.replay


def _facts(networks: Sequence[Network]) -> dict[str, Tensor]:
    """What networks know of their own table, such as the scale of a count [networks, ...]."""
    by_name = zip(*(network.named_buffers() for network in networks), strict=True)
    stacked = {same[0][0]: torch.stack([buffer for _, buffer in same]) for same in by_name}
    return {name: parts for name, parts in stacked.items() if (parts != parts[:1]).any()}


def _rounds(step: _Step, rows: Sequence[loop._Rows], recipe: Recipe) -> Iterator[Tensor]:
    """The mean loss [networks] of every round of steps."""
    numbers = sum(part[0].numel() for part in _drawn(rows[0].batches(0, 1), 1))
    at_once = max(1, min(STEPS_A_ROUND, MAX_NUMBERS // (numbers * len(rows))))
    with ThreadPoolExecutor(DRAWING_THREADS) as pool:
        ahead = _ahead(pool, rows, recipe, at_once)
        waiting = [*islice(ahead, 1)]
        losses: list[Tensor] = []
        while waiting:
            first, futures = waiting.pop()
            parts = zip(*[future.result() for future in futures], strict=True)
            # Drawn while the device is at work; not before, for each network has one source of rows.
            waiting.extend(islice(ahead, 1))
            losses.append(step(tuple(torch.stack(part, dim=1) for part in parts), first))
            done = first + len(losses[-1])
            if done % STEPS_A_ROUND == 0 or done == recipe.max_steps:
                yield torch.cat(losses).mean(0)
                losses = []


def _ahead(
    pool: ThreadPoolExecutor, rows: Sequence[loop._Rows], recipe: Recipe, at_once: int
) -> Iterator[tuple[int, list["Future[Drawn]"]]]:
    """What is to be drawn, for some steps after the other: the first step, and one promise a network."""
    for first in range(0, recipe.max_steps, STEPS_A_ROUND):
        last = min(first + STEPS_A_ROUND, recipe.max_steps)
        batches = [one.batches(first, last) for one in rows]
        for start in range(first, last, at_once):
            n = min(at_once, last - start)
            yield start, [pool.submit(_drawn, some, n) for some in batches]


def _drawn(batches: Iterator[Batch], n: int) -> Drawn:
    """The next ``n`` batches of one network [steps, ...]."""
    some = list(islice(batches, n))
    parts = zip(*((b.values, b.known, b.observed, b.noise) for b in some), strict=True)
    return tuple(torch.stack(part) for part in parts)
