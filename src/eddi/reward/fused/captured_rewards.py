"""The default reward of many rows on a GPU: a graph that is captured once and replayed.

A reward is a dozen kernels (`FusedRewards`), or for some models two hundred small ones and a large one
(`DenseRewards`). Launching them one by one takes longer than computing them. The number of rows of a graph
is a power of two, and smaller batches are padded with rows without open questions.
"""

import logging
from dataclasses import dataclass, field
from threading import Lock

import torch
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.model.inference.device_copy import copy_to
from eddi.reward.candidates import RevealedVariables
from eddi.reward.fused.dense_rewards import DenseRewards
from eddi.reward.fused.fused_rewards import FusedRewards
from eddi.reward.fused.packed_tail import SHARED_MEMORY, PackedTail
from eddi.reward.triton_support import can_run_kernels
from eddi.table.evidence import Evidence

logger = logging.getLogger(__name__)

MIN_ROWS = 16  # of a graph
MAX_ANSWERS = 2**19  # of a graph of `DenseRewards`, candidates or not: 1 GB of memory
MAX_FUSED_ANSWERS = 2**21  # of a graph of `FusedRewards`, which needs less memory for each
WARM_UP_RUNS = 2  # before a capture, so that kernels are compiled and caches are filled


@dataclass(frozen=True)
class _CapturedRun:
    """A graph with the tensors that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    values: Tensor  # [rows, variables]
    visible: Tensor  # [rows, variables]
    observed: Tensor  # [rows, variables]
    rewards: Tensor  # [rows, questions]

    @classmethod
    def capture(
        cls, compute: DenseRewards | FusedRewards, n_rows: int, n_variables: int
    ) -> "_CapturedRun":
        values = torch.zeros((n_rows, n_variables), device=compute.frozen.device)
        visible = torch.zeros_like(values)
        observed = torch.zeros_like(values, dtype=torch.bool)
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP_RUNS):
                compute(values, visible, observed)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            rewards = compute(values, visible, observed)
        return cls(graph, values, visible, observed, rewards)

    def __call__(self, values: Tensor, visible: Tensor, observed: Tensor) -> Tensor:
        n_rows = len(values)
        self.values[:n_rows].copy_(values)
        self.visible[:n_rows].copy_(visible)
        self.observed[:n_rows].copy_(observed)
        self.observed[n_rows:].fill_(True)  # rows without open questions
        self.graph.replay()
        return self.rewards[:n_rows].clone()


@dataclass(frozen=True)
class CapturedRewards:
    """The rewards of a model about one target."""

    compute: DenseRewards | FusedRewards
    n_variables: int
    _runs: dict[int, _CapturedRun | None] = field(default_factory=dict)  # None if it failed
    _lock: Lock = field(default_factory=Lock)  # threads share the tensors of a graph

    @classmethod
    def from_model(
        cls, model: NetworkModel, target: list[int], *, n_points: int
    ) -> "CapturedRewards | None":
        """The rewards of a model; None if its sizes or the machine are not supported."""
        predictor, device = model.marginal_predictor, model.frozen.device
        revealed = RevealedVariables.from_model(model, target)
        if (
            predictor is None
            or not revealed.is_single
            or not can_run_kernels(device, shared_memory=SHARED_MEMORY)
        ):
            return None
        tail = PackedTail.from_network(model.frozen, predictor.target_head(target))
        if tail is None:
            return None
        sizes = {"n_points": n_points, "n_questions": len(model.schema.questions)}
        fused = FusedRewards.from_predictor(predictor, target, tail, revealed, **sizes)
        compute = fused or DenseRewards.from_predictor(predictor, target, tail, revealed, **sizes)
        return cls(compute, len(model.schema.variables))

    def __call__(self, model: NetworkModel, evidence: Evidence) -> Tensor | None:
        """The rewards [rows, questions] of evidence; None if they cannot be captured."""
        max_rows = self._max_rows
        tensors = (*model.inputs(evidence), copy_to(evidence.observed, self.compute.frozen.device))
        parts = zip(*(torch.split(tensor, max_rows) for tensor in tensors), strict=True)
        with self._lock, torch.inference_mode():
            rewards = [run(*part) for part in parts if (run := self._run(len(part[0]))) is not None]
        return torch.cat(rewards) if sum(map(len, rewards)) == len(evidence) else None

    @property
    def _max_rows(self) -> int:
        """The largest power of two with at most as many answers as a graph may have."""
        max_answers = MAX_FUSED_ANSWERS if isinstance(self.compute, FusedRewards) else MAX_ANSWERS
        affordable = max_answers // max(1, len(self.compute.columns.place))
        return max(MIN_ROWS, 1 << (affordable.bit_length() - 1) if affordable else 1)

    def _run(self, n_rows: int) -> _CapturedRun | None:
        n_rows = max(MIN_ROWS, 1 << (n_rows - 1).bit_length())
        if n_rows not in self._runs:
            self._runs[n_rows] = self._capture(n_rows)
        return self._runs[n_rows]

    def _capture(self, n_rows: int) -> _CapturedRun | None:
        try:
            return _CapturedRun.capture(self.compute, n_rows, self.n_variables)
        except RuntimeError as error:
            logger.warning(
                "rewards are computed in plain PyTorch, since no graph is possible: %s", error
            )
            return None
