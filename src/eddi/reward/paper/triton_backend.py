"""The latent reward of many rows on a GPU, in fused kernels.

Plain PyTorch writes every activation of every answer to memory and reads it back. Here one kernel
computes an answer's divergence in registers (`kernels`). It supports models whose variables are all
numbers, the encoders PN and PNP, and a tail with two hidden layers that fits into a multiprocessor.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.network.network import Network
from eddi.reward.candidates import RevealedVariables
from eddi.reward.triton_support import can_run_kernels
from eddi.table.evidence import Evidence

MIN_SIDE = 16  # smallest side of a tensor core's matrix
CHUNK = 64  # hidden units in registers at once
N_CONSTANTS = 2  # units that are always 1; a layer adds its bias, in two parts, through them
MAX_WIDTH, MAX_HIDDEN, MAX_INNER, MAX_LATENT = 64, 2 * CHUNK, 64, 32  # what fits into registers
BLOCK_ROWS = 64  # rows that a group of four warps multiplies at once
LAUNCH_OPTIONS = {"num_warps": 4, "num_stages": 2, "maxnreg": 168}
GROUPS_PER_PROCESSOR = 3  # groups whose registers fit into a multiprocessor
N_PARTS = 8  # programs that may share the draws of one block, so that few rows also fill a GPU
SCAN_ROWS = 1_024  # rows that a program scans at once for open questions
MAX_NUMBERS = 2**27  # in memory at once for a chunk of rows: 512 MB


@dataclass(frozen=True)
class PackedNetwork:
    """A tail and its terms in the kernels' layout: sides are powers of two."""

    slope: Tensor  # [variables, WIDTH]
    offset: Tensor  # [variables, WIDTH]
    first: Tensor  # [2, WIDTH, HIDDEN] in float16: the weights and their remainders
    second: Tensor  # [HIDDEN, INNER] in float16
    last: Tensor  # [INNER, OUT] in float16; mean and log variance of a latent dimension are adjacent
    width: int  # of the code

    @classmethod
    def from_network(cls, network: Network, frozen: FrozenNetwork) -> "PackedNetwork | None":
        """Pack a network; None if the kernels do not support it."""
        encoder, has_splines = frozen.encoder, network.set_encoder.splines is not None
        if network.has_levels or has_splines or not encoder.has_relu or len(frozen.tail) != 2:
            return None
        (weight1, bias1), (weight2, bias2) = frozen.tail
        n_hidden, width = weight1.shape
        sizes = (width + 1, n_hidden + N_CONSTANTS, len(weight2) + N_CONSTANTS, network.latent)
        limits = (MAX_WIDTH, MAX_HIDDEN, MAX_INNER, MAX_LATENT)
        if any(size > limit for size, limit in zip(sizes, limits, strict=True)):
            return None
        padded_width, hidden, inner, latent = map(_pad_side, sizes)
        first = _pad(torch.cat([weight1.T, bias1[None]]), padded_width, hidden)
        first[width, n_hidden : n_hidden + N_CONSTANTS] = 1.0
        second = _pad(_append_bias(weight2, bias2), hidden, inner)
        second[n_hidden, len(weight2) : len(weight2) + N_CONSTANTS] = 1.0
        interleaved = torch.arange(2 * network.latent, device=weight1.device).view(2, -1).T.flatten()
        weight3, bias3 = frozen.posterior_layer
        out = _append_bias(weight3[interleaved], bias3[interleaved, 0])
        n_variables = len(encoder.slope)
        return cls(
            slope=_pad(encoder.slope, n_variables, padded_width),
            offset=_pad(encoder.offset, n_variables, padded_width),
            first=torch.stack([first.half(), _float16_remainder(first)]),
            second=second.half(),
            last=_pad(out, inner, 2 * latent).half(),
            width=width,
        )

    def sizes(self) -> dict[str, int]:
        """The sizes under the names that the kernels give them."""
        hidden, inner = self.second.shape
        return {
            "ROWS": BLOCK_ROWS,
            "WIDTH": self.slope.shape[1],
            "CHUNK": min(hidden, CHUNK),
            "N_CHUNKS": max(1, hidden // CHUNK),
            "INNER": inner,
            "OUT": self.last.shape[1],
        }


@dataclass(frozen=True)
class QuestionTable:
    """The questions that do not reveal a target, and the variables they reveal, on the GPU."""

    places: Tensor  # [questions] among the schema's
    starts: Tensor  # [questions + 1] into variables
    variables: Tensor
    target: Tensor
    target_range: Tensor  # [2] start and end of the target: all of it
    first_target: int
    has_one_target: bool
    is_single: bool  # whether every question reveals one variable

    @classmethod
    def from_model(cls, model: NetworkModel, target: list[int], device: torch.device) -> "QuestionTable":
        """The questions for target variables at these positions; computed once per model."""
        key = ("question_table", tuple(target), device)
        return model.cache.get(key, lambda: cls._compute(model, target, device))

    @classmethod
    def _compute(cls, model: NetworkModel, target: list[int], device: torch.device) -> "QuestionTable":
        revealed = RevealedVariables.from_model(model, target)
        places, counts = torch.unique(torch.from_numpy(revealed.question), return_counts=True)
        starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)]).int()
        return cls(
            places=places.to(device),
            starts=starts.to(device),
            variables=torch.from_numpy(revealed.variable).int().to(device),
            target=torch.tensor(target, dtype=torch.int32, device=device),
            target_range=torch.tensor([0, len(target)], dtype=torch.int32, device=device),
            first_target=target[0],
            has_one_target=len(target) == 1,
            is_single=revealed.is_single,
        )


@dataclass(frozen=True)
class TritonBackend:
    """The reward of a model in fused kernels."""

    model: NetworkModel
    packed: PackedNetwork

    @classmethod
    def from_model(cls, model: NetworkModel) -> "TritonBackend | None":
        """Pack a model; None if the kernels do not support it or its device."""
        if not can_run_kernels(model.frozen.device):
            return None
        packed = PackedNetwork.from_network(model.network, model.frozen)
        return None if packed is None else cls(model, packed)

    def rewards(
        self, evidence: Evidence, target: list[int], *, n_draws: int, seed: int
    ) -> Tensor | None:
        """The rewards [rows, questions]; None if an activation was too large for float16."""
        model, packed, n_variables = self.model, self.packed, evidence.n_variables
        device = packed.slope.device
        questions = QuestionTable.from_model(model, target, device)
        rewards = torch.zeros((len(evidence), len(model.schema.questions)), device=device)
        n_terms = (1 if questions.is_single else len(questions.places)) + 1
        n_columns = n_variables + n_terms * packed.slope.shape[1] + packed.last.shape[1]
        n_rows = max(1, MAX_NUMBERS // ((n_draws + 1) * n_columns))
        for start in range(0, len(evidence) if len(questions.places) else 0, n_rows):
            chunk = evidence[start : start + n_rows]
            with torch.inference_mode():
                code = model.code(chunk)
                values = model.draw(model.posterior(code), n_draws, seed=seed)
                unobserved = 1.0 - torch.from_numpy(chunk.observed).to(device, torch.float32)
                gains = compute_gains(packed, questions, code, values, unobserved)
                rewards[start : start + n_rows, questions.places] = gains
        return rewards if bool(rewards.isfinite().all()) else None


def compute_gains(
    packed: PackedNetwork,
    questions: QuestionTable,
    code: Tensor,
    values: Tensor,
    unobserved: Tensor,
) -> Tensor:
    """The rewards of the questions [rows, questions].

    Args:
        packed: the network.
        questions: the questions and the target.
        code: of the evidence [rows, width].
        values: joint draws [draws, rows, variables].
        unobserved: 1 where a variable is unobserved [rows, variables].
    """
    from eddi.reward.paper import kernels

    n_draws, n_rows, n_variables = values.shape
    sizes, n_questions = packed.sizes(), len(questions.places)
    n_programs, n_blocks = _count_programs(code.device), -(-n_rows // BLOCK_ROWS)
    lines, layers = (packed.slope, packed.offset), (packed.first, packed.second, packed.last)
    codes = code.new_empty((n_draws + 1, n_rows, sizes["WIDTH"]))
    posteriors = code.new_empty((n_draws + 1, n_rows, sizes["OUT"]))
    n_each = -(-(n_draws + 1) * n_blocks // n_programs)
    target_terms = values
    if not questions.has_one_target:
        target_terms = _sum_terms(packed, questions.target_range, questions.target, values, unobserved)
    kernels.encode_targets[(n_blocks, -(-(n_draws + 1) // n_each))](
        *(values, target_terms, *lines, questions.target, *layers, code, codes, posteriors),
        *(n_rows, n_draws + 1, n_variables, packed.width, n_each),
        **sizes, SINGLE=questions.has_one_target, **LAUNCH_OPTIONS,
    )  # fmt: skip
    order, n_open = _find_open_rows(questions, unobserved)
    terms = values
    if not questions.is_single:
        terms = _sum_terms(packed, questions.starts, questions.variables, values, unobserved)
    rewards = code.new_zeros((N_PARTS, n_questions, n_rows))
    kernels.compute_gains[(n_programs,)](
        *(values, terms, *lines, questions.variables, order, n_open, *layers),
        *(codes, posteriors, rewards),
        *(n_rows, n_questions, n_draws, n_variables, -(-n_draws // (N_PARTS - 1))),
        **sizes, SINGLE=questions.is_single, QUESTIONS=_pad_side(n_questions), **LAUNCH_OPTIONS,
    )  # fmt: skip
    return rewards.sum(0).T


def _sum_terms(
    packed: PackedNetwork, starts: Tensor, variables: Tensor, values: Tensor, unobserved: Tensor
) -> Tensor:
    """The summed terms of several drawn variables [draws, questions, rows, WIDTH]."""
    from eddi.reward.paper import kernels

    n_draws, n_rows, n_variables = values.shape
    width, n_questions = packed.slope.shape[1], len(starts) - 1
    terms = values.new_empty((n_draws, n_questions, n_rows, width))
    kernels.sum_terms[(-(-n_rows // BLOCK_ROWS), n_questions, n_draws)](
        *(values, unobserved, packed.slope, packed.offset, starts, variables, terms),
        *(n_rows, n_variables),
        ROWS=BLOCK_ROWS, WIDTH=width,
    )  # fmt: skip
    return terms


def _find_open_rows(questions: QuestionTable, unobserved: Tensor) -> tuple[Tensor, Tensor]:
    """For each question the rows it is open for, in front [questions, rows], and their number."""
    from eddi.reward.paper import kernels

    n_rows, n_variables = unobserved.shape
    n_questions = len(questions.places)
    # A row whose target is fully observed has no open question.
    if questions.has_one_target:
        target_unobserved = unobserved[:, questions.first_target :]
    else:
        target_unobserved = unobserved[:, questions.target].amax(1)
    order = torch.empty((n_questions, n_rows), dtype=torch.int32, device=unobserved.device)
    n_open = torch.empty(n_questions, dtype=torch.int32, device=unobserved.device)
    kernels.find_open_rows[(n_questions,)](
        *(unobserved, target_unobserved, questions.starts, questions.variables, order, n_open),
        *(n_rows, n_variables, target_unobserved.stride(0)),
        BATCH=SCAN_ROWS,
    )
    return order, n_open


def _count_programs(device: torch.device) -> int:
    if device.type != "cuda":
        return GROUPS_PER_PROCESSOR  # Triton's interpreter, which runs them one after another
    n_processors = torch.cuda.get_device_properties(device).multi_processor_count
    return int(GROUPS_PER_PROCESSOR * n_processors)


def _pad_side(n: int) -> int:
    """The next power of two that a tensor core supports."""
    return max(MIN_SIDE, 1 << (n - 1).bit_length())


def _pad(matrix: Tensor, n_rows: int, n_columns: int) -> Tensor:
    """The matrix, padded with zeros."""
    padded = matrix.new_zeros((n_rows, n_columns))
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded


def _float16_remainder(numbers: Tensor) -> Tensor:
    """The rounding error of float16, in float16."""
    return (numbers - numbers.half().float()).half()


def _append_bias(weight: Tensor, bias: Tensor) -> Tensor:
    """Weights [in, out] with two more rows: the bias and its remainder."""
    return torch.cat([weight.T, bias[None], _float16_remainder(bias)[None].float()])
