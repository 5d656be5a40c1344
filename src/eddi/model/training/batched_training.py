"""Batched training: several networks (seeds or folds) as one more axis of every tensor.

A step of one small network is a hundred kernels too short to fill a GPU, and launching them takes all the
time. Networks of the same shape take their steps in the same kernels; on a GPU the step is captured once
and replayed. Each network ends with the weights it would have alone, up to rounding: its rows, masks and
noise are those that `loop.train` draws for its seed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from eddi.errors import TrainingError
from eddi.model.network.network import FactorFit, Network
from eddi.model.recipe import Recipe
from eddi.model.training.batched.batched_factors import fit_factors_batched
from eddi.model.training.batched.batched_validation import BatchedValidation
from eddi.model.training.batches import ROUND_STEPS, BatchSampler
from eddi.model.training.calibration import calibrate_batched
from eddi.model.training.captured.captured_step import StepQueue, capture
from eddi.model.training.checkpoint import Progress, TrainingState
from eddi.model.training.flat_weights import adam_step
from eddi.model.training.level_regressions import HeldOutRows, TrainingRows, add_regressions
from eddi.model.training.loop import advance, learning_rate
from eddi.model.training.objective import Batch, loss
from eddi.model.training.streaming import first_window
from eddi.model.training.validation import Validation, choose_shrinkage, split_validation
from eddi.table.evidence import Evidence

MAX_NUMBERS = 2**26  # of rows, masks and noise on the device at once: 256 MB
N_THREADS = 8  # random numbers are drawn on the CPU while the GPU computes
CPU = torch.device("cpu")

Draws = tuple[Tensor, ...]  # values, weights, observed and noise of some steps, as in `Batch`


@dataclass(frozen=True)
class Run:
    """One network to train, with its rows and seed."""

    network: Network
    evidence: Evidence
    seed: int
    targets: Sequence[int] = ()


def train_batched(runs: Sequence[Run], recipe: Recipe, *, device: torch.device) -> list[list[Progress]]:
    """Fit every run's network to its evidence in place, and return the progress of each.

    Raises:
        TrainingError: the networks differ in more than their weights, or a loss is not finite.
    """
    check_compatible([run.network for run in runs])
    samplers, validations = [], []
    splits = [split_validation(run.evidence, recipe, run.seed) for run in runs]
    tables = [first_window(training_rows) for training_rows, _ in splits]
    fits = fit_factors_batched([run.network for run in runs], tables, device)
    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(partial(_choose_shrinkage, recipe), runs, fits, (rows for _, rows in splits)))
    for run, (training_rows, validation_rows) in zip(runs, splits, strict=True):
        samplers.append(
            BatchSampler(
                training_rows,
                recipe,
                n_latent=run.network.latent,
                seed=run.seed,
                device=CPU,
                targets=run.targets,
            )
        )
        validations.append(
            Validation.if_any(validation_rows, recipe, seed=run.seed, device=device, targets=run.targets)
        )
    weights = StackedWeights([run.network.to(device) for run in runs], recipe)
    states = [TrainingState() for _ in runs]
    started_at = time.monotonic()
    loss_weights = torch.stack([sampler.loss_weights for sampler in samplers]).to(device)
    step = BatchedStep(weights, [run.network for run in runs], recipe, loss_weights)
    batched = BatchedValidation.if_possible(runs[0].network, validations)
    first_scores = _score(runs, validations, weights, step, batched)
    for state, first_score in zip(states, first_scores, strict=True):
        state.start(first_score)  # the initial weights are a candidate, too
    for losses in train_rounds(step, samplers, recipe):
        scores = _score(runs, validations, weights, step, batched)
        for state, own, mean_loss, score in zip(
            states, weights.by_network(), losses.tolist(), scores, strict=True
        ):
            if state.n_stale > recipe.patience:
                continue  # this network has stopped; its further steps are ignored
            progress = advance(state, own, recipe, mean_loss, score)
            state.history.append(replace(progress, seconds=time.monotonic() - started_at))
        if all(state.n_stale > recipe.patience for state in states):
            break
    weights.use_best()
    _calibrate(runs, tables, validations)
    return [state.history for state in states]


def _choose_shrinkage(
    recipe: Recipe, run: Run, fit: FactorFit | None, validation_rows: Evidence | None
) -> None:
    make_validation = partial(Validation.if_any, validation_rows, recipe, seed=run.seed)
    choose_shrinkage([fit], [make_validation(device=CPU, targets=run.targets)])


def _score(
    runs: Sequence[Run],
    validations: Sequence[Validation | None],
    weights: "StackedWeights",
    step: "BatchedStep",
    batched: BatchedValidation | None,
) -> Sequence[float | None]:
    """The validation score of every network with its candidate weights."""
    if batched is not None:
        return batched.scores({**weights.candidates_by_name(), **step.buffers})
    scores = []
    for run, validation, own in zip(runs, validations, weights.by_network(), strict=True):
        with own.averaged():
            scores.append(validation.score(run.network) if validation else None)
    return scores


def _calibrate(
    runs: Sequence[Run], tables: Sequence[Evidence], validations: Sequence[Validation | None]
) -> None:
    """Calibrate all networks that have held-out rows; their predictions are computed by several threads."""
    used = [
        (run, HeldOutRows(run.network, TrainingRows(rows), v.calibration_batch(), len(v)))
        for run, rows, v in zip(runs, tables, validations, strict=True)
        if v and run.network.marginals is not None
    ]
    if not used:
        return
    with ThreadPoolExecutor(N_THREADS) as pool:
        data = list(pool.map(lambda pair: pair[1].predict(), used))
    models = [run.network.marginals for run, _ in used if run.network.marginals is not None]
    all_outputs = calibrate_batched(models, data)
    for (run, held_out), own, outputs in zip(used, data, all_outputs, strict=True):
        add_regressions(
            run.network,
            held_out.training_rows,
            held_out=[held_out],
            data=own,
            outputs=outputs[: len(own.values)],
            targets=run.targets,
        )


def check_compatible(networks: Sequence[Network]) -> None:
    """Raise `TrainingError` unless all networks have the same parts of the same sizes."""

    def shape(network: Network) -> object:
        kinds = [(spec.kind, spec.n_levels) for spec in network.specs]
        return kinds, network.set_encoder.name, [(n, p.shape) for n, p in network.named_parameters()]

    for place, network in enumerate(networks):
        if shape(network) != shape(networks[0]):
            raise TrainingError(
                f"network {place + 1} of {len(networks)} has other variables or sizes than the first. "
                "Batched training needs models of one schema, recipe and set encoder."
            )


class StackedWeights:
    """The trainable weights of many networks as one tensor [networks, weights], with Adam.

    The networks' parameters become views of it. It does for each network what `FlatWeights` does for one.
    """

    def __init__(self, networks: Sequence[Network], recipe: Recipe) -> None:
        named = [(name, p) for name, p in networks[0].named_parameters() if p.requires_grad]
        named.sort(key=lambda item: item[1].dim() <= 1)  # matrices first
        self._shapes = {name: parameter.shape for name, parameter in named}
        self._n_matrix = sum(parameter.numel() for _, parameter in named if parameter.dim() > 1)
        self.flat = torch.stack([self._flatten(network) for network in networks]).requires_grad_()
        for network, row in zip(networks, self.flat.detach(), strict=True):
            parameters = dict(network.named_parameters())
            for name, part in self._unflatten(row).items():
                parameters[name].data = part
        self.mean, self.best = self.flat.detach().clone(), self.flat.detach().clone()
        self.moments = (torch.zeros_like(self.best), torch.zeros_like(self.best))
        self.steps = torch.zeros((), device=self.flat.device)
        self._clip, self._decay, self._average_steps = recipe.clip, recipe.weight_decay, recipe.average

    def _flatten(self, network: Network) -> Tensor:
        parameters = dict(network.named_parameters())
        return torch.cat([parameters[name].detach().flatten() for name in self._shapes])

    def _unflatten(self, flat: Tensor) -> dict[str, Tensor]:
        sizes = [shape.numel() for shape in self._shapes.values()]
        parts = zip(self._shapes.items(), torch.split(flat, sizes, dim=-1), strict=True)
        return {name: part.view(*part.shape[:-1], *shape) for (name, shape), part in parts}

    def by_name(self) -> dict[str, Tensor]:
        """Every parameter of all networks [networks, ...], by name."""
        return self._unflatten(self.flat)

    def candidates_by_name(self) -> dict[str, Tensor]:
        """The same for the weights that validation scores."""
        return self._unflatten(self.mean if self._average_steps else self.flat.detach())

    def step(self, losses: Tensor, rate: Tensor) -> None:
        """One step of AdamW for every network's own loss; see `FlatWeights.step`."""
        (gradient,) = torch.autograd.grad(losses.sum(), self.flat)
        with torch.no_grad():
            if self._clip is not None:
                norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
                gradient = gradient * (self._clip / (norm + 1e-6)).clamp(max=1.0)
            if self._decay:
                self.flat[:, : self._n_matrix].mul_(1 - rate * self._decay)
            adam_step(self.flat, gradient, self.moments, self.steps, rate)
            if self._average_steps:
                self.mean.lerp_(self.flat, 1 / self._average_steps)

    def by_network(self) -> list["_NetworkWeights"]:
        """The weights of each network, for validation."""
        candidate = self.mean if self._average_steps else self.flat.detach()
        rows = zip(self.flat.detach(), candidate, self.best, strict=True)
        return [_NetworkWeights(*row) for row in rows]

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Use the average of the last weights inside this context, if the recipe has one."""
        saved = self.flat.detach().clone()
        if self._average_steps:
            self.flat.detach().copy_(self.mean)
        yield
        self.flat.detach().copy_(saved)

    def store_best(self) -> None:
        """Remember the present weights of all networks, or their average."""
        self.best.copy_(self.mean if self._average_steps else self.flat.detach())

    def use_best(self) -> None:
        """Restore the remembered weights."""
        self.flat.detach().copy_(self.best)

    def state(self) -> dict[str, Tensor]:
        """Every tensor that a resumed run needs; to restore it, write into them."""
        first, second = self.moments
        return {
            "weights": self.flat.detach(),
            "mean": self.mean,
            "best": self.best,
            "first_moment": first,
            "second_moment": second,
            "steps": self.steps,
        }


@dataclass(frozen=True)
class _NetworkWeights:
    """The weights of one network: the current ones, the candidate for use, and the best so far."""

    current: Tensor
    candidate: Tensor
    best: Tensor

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Use the candidate weights inside this context."""
        saved = self.current.clone()
        self.current.copy_(self.candidate)
        yield
        self.current.copy_(saved)

    def store_best(self) -> None:
        """Remember the candidate weights."""
        self.best.copy_(self.candidate)


class _Loss(nn.Module):
    """The loss as a module, since `functional_call` replaces the weights of a module."""

    def __init__(self, network: Network, objective: str) -> None:
        super().__init__()
        self.network, self.objective = network, objective

    def forward(self, *batch: Tensor) -> Tensor:
        return loss(self.network, self.objective, Batch(*batch))


class BatchedStep:
    """Steps of all networks on drawn batches; on a GPU captured once, then replayed."""

    def __init__(
        self,
        weights: StackedWeights,
        networks: Sequence[Network],
        recipe: Recipe,
        loss_weights: Tensor,
    ) -> None:
        self.weights, self.loss_weights, self.recipe = weights, loss_weights, recipe
        self.device, self.buffers = loss_weights.device, _differing_buffers(networks)
        module = _Loss(networks[0], recipe.objective)
        self._losses = vmap(
            lambda own, batch: functional_call(
                module, {f"network.{name}": part for name, part in own.items()}, batch
            )
        )
        self._queue: StepQueue | None = None
        self._run: Callable[[], None] = self._take_step

    def __call__(self, draws: Draws, first: int) -> Tensor:
        """The losses [steps, networks] of the steps from ``first`` on."""
        n = len(draws[0])
        parts = (*draws, torch.tensor([learning_rate(self.recipe, first + k) for k in range(n)]))
        if self._queue is None:
            self._queue = StepQueue.for_steps(parts, self.device, len(self.loss_weights))
            is_captured = self.device.type == "cuda"
            self._run = (
                capture(self._take_step, self.weights.state()) if is_captured else self._take_step
            )
        self._queue.fill(parts)
        for _ in range(n):
            self._run()
        return self._queue.losses[:n].clone()

    def _take_step(self) -> None:
        assert self._queue is not None  # noqa: S101  # filled before
        *batch, rate = self._queue.take()
        own = {**self.weights.by_name(), **self.buffers}
        losses = self._losses(own, (*batch, self.loss_weights))
        self.weights.step(losses, rate)
        self._queue.finish(losses)


def _differing_buffers(networks: Sequence[Network]) -> dict[str, Tensor]:
    """Buffers that depend on a network's table, such as the scale of a count [networks, ...]."""
    by_name = zip(*(network.named_buffers() for network in networks), strict=True)
    stacked = {named[0][0]: torch.stack([buffer for _, buffer in named]) for named in by_name}
    return {name: parts for name, parts in stacked.items() if (parts != parts[:1]).any()}


def train_rounds(
    step: BatchedStep, samplers: Sequence[BatchSampler], recipe: Recipe, *, first: int = 0
) -> Iterator[Tensor]:
    """Train all networks from step ``first`` on; yields the mean loss [networks] of every round."""
    n_numbers = sum(part[0].numel() for part in _draw_steps(samplers[0].batches(0, 1), 1))
    block_steps = max(1, min(ROUND_STEPS, MAX_NUMBERS // (n_numbers * len(samplers))))
    with ThreadPoolExecutor(N_THREADS) as pool:
        blocks = _submit_blocks(pool, samplers, recipe, block_steps, first)
        pending = [*islice(blocks, 1)]
        losses: list[Tensor] = []
        while pending:
            start, futures = pending.pop()
            parts = zip(*[future.result() for future in futures], strict=True)
            # The next block is drawn while the device computes; not earlier, since a sampler draws its
            # blocks one after another.
            pending.extend(islice(blocks, 1))
            losses.append(step(tuple(torch.stack(part, dim=1) for part in parts), start))
            n_done = start + len(losses[-1])
            if n_done % ROUND_STEPS == 0 or n_done == recipe.max_steps:
                yield torch.cat(losses).mean(0)
                losses = []


def _submit_blocks(
    pool: ThreadPoolExecutor,
    samplers: Sequence[BatchSampler],
    recipe: Recipe,
    block_steps: int,
    first: int,
) -> Iterator[tuple[int, list["Future[Draws]"]]]:
    """For each block of steps: its first step, and the future draws of every network."""
    for round_start in range(first, recipe.max_steps, ROUND_STEPS):
        last = min(round_start + ROUND_STEPS, recipe.max_steps)
        batches = [sampler.batches(round_start, last) for sampler in samplers]
        for start in range(round_start, last, block_steps):
            n = min(block_steps, last - start)
            yield start, [pool.submit(_draw_steps, own, n) for own in batches]


def _draw_steps(batches: Iterator[Batch], n: int) -> Draws:
    """The next ``n`` batches of one network [steps, ...]."""
    drawn = list(islice(batches, n))
    parts = zip(*((b.values, b.weights, b.observed, b.noise) for b in drawn), strict=True)
    return tuple(torch.stack(part) for part in parts)
