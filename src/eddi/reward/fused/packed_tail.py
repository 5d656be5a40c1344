"""The tail (the layers after the first one) and the target's head, packed for the kernel of rewards.

The sizes of the default recipe are supported: hidden layers of 192 or 96 units, and at most 32 factors.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.inference.frozen import Encoding, FrozenNetwork
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.factors.factor_model import FactorMoments, PackedFactors
from eddi.model.network.residual import FrozenResidual
from eddi.model.network.term_table import TermTable

N_CHUNKS = 3  # of a hidden layer
CHUNKS = (32, 64)  # their supported widths
FACTORS = 32  # factors, with padding
MAX_OUTPUTS = 64  # of the target; a layer with more outputs is a matrix product of its own
BLOCK_ANSWERS = 64  # answers that a program takes through the tail
N_WARPS = 4  # of such a program; two programs share a multiprocessor
ROW_BLOCK, ROW_WARPS = 64, 4  # the same for rows, of which there are few
N_STAGES = 2  # buffers of weights on their way from memory
SHARED_MEMORY = 200_000  # bytes that these buffers need
# Products of float16 parts in the first layer, and in the inner and outer layers of a block.
FIRST_PRODUCTS, INNER_PRODUCTS, OUTER_PRODUCTS = 2, 1, 2
INNER_UNITS = 64  # of a block that are computed at once, at most a chunk
# Where PyTorch encodes the rows in float32, the tail has to be as exact.
DENSE_PRODUCTS = {"FIRST_PRODUCTS": 3, "INNER_PRODUCTS": 3, "OUTER_PRODUCTS": 3}
DENSE_OPTIONS = {**DENSE_PRODUCTS, "ROWS": 128, "num_warps": 8}


@dataclass(frozen=True)
class PackedTail:
    """Weights in the kernel's layout: [inputs, outputs] in float16, and then their remainders."""

    table: TermTable
    factors: PackedFactors
    term_weight: Tensor  # [2, term, width]
    factor_weight: Tensor  # [2, 2 * FACTORS, width] of the means, then of the variances
    inner: Tensor  # [blocks, 2, width, width]
    inner_bias: Tensor  # [blocks, width]
    outer: Tensor  # [blocks, 2, width, width]
    outer_bias: Tensor  # [blocks, width]
    norm: Tensor  # [2, width] scale and shift of the last norm
    head: Tensor  # [outputs, width + FACTORS] in float32
    head_bias: Tensor  # [outputs]

    @classmethod
    def from_network(cls, frozen: FrozenNetwork, head: VariableHead) -> "PackedTail | None":
        """Pack the tail of a network and a head; None if the kernel does not support them."""
        residual, factors, weight = frozen.residual, frozen.factors, head.weights[0]
        if residual is None or factors is None or not _is_supported(residual, factors, len(weight)):
            return None
        n_factors, width = factors.factors.n_factors, len(residual.first[0])
        padding = FACTORS - n_factors
        means, variances = torch.split(residual.factor_weight.T, n_factors)
        (inner, inner_bias), (outer, outer_bias) = (
            (torch.stack([_split(w.T) for w, _ in layers]), torch.stack([b for _, b in layers]))
            for layers in zip(*residual.blocks, strict=True)
        )
        return cls(
            table=frozen.encoder.term_table,
            factors=factors,
            term_weight=_split(residual.first[0].T),
            factor_weight=_split(
                F.pad(torch.stack([means, variances]), (0, 0, 0, padding)).flatten(0, 1)
            ),
            inner=inner,
            inner_bias=inner_bias,
            outer=outer,
            outer_bias=outer_bias,
            norm=torch.stack(residual.norm),
            head=F.pad(weight[:, : width + n_factors], (0, padding)).contiguous(),
            head_bias=head.weights[1].contiguous(),
        )

    @property
    def layers(self) -> tuple[Tensor, ...]:
        """The weights after those of the terms, in the order of the kernels' arguments."""
        blocks = (self.inner, self.inner_bias, self.outer, self.outer_bias)
        return (self.factor_weight, *blocks, self.norm, self.head, self.head_bias)

    @property
    def answer_options(self) -> dict[str, int]:
        """Sizes and launch options of a kernel that takes answers through the tail."""
        chunk = self.norm.shape[1] // N_CHUNKS
        return {
            "FACTORS": FACTORS,
            "CHUNK": chunk,
            "INNER": min(chunk, INNER_UNITS),
            "STAGES": N_STAGES,
            "FIRST_PRODUCTS": FIRST_PRODUCTS,
            "INNER_PRODUCTS": INNER_PRODUCTS,
            "OUTER_PRODUCTS": OUTER_PRODUCTS,
            "ROWS": BLOCK_ANSWERS,
            "num_warps": N_WARPS,
        }

    @property
    def row_options(self) -> dict[str, int]:
        """The same for rows."""
        return {**self.answer_options, "ROWS": ROW_BLOCK, "num_warps": ROW_WARPS}

    @property
    def dense_options(self) -> dict[str, int]:
        """The same for answers of rows that PyTorch encodes."""
        return {**self.answer_options, **DENSE_OPTIONS}

    def outputs(
        self, encoding: Encoding, values: Tensor, variables: Tensor, is_candidate: Tensor
    ) -> tuple[Tensor, FactorMoments]:
        """Outputs of the head without those of the factors, and the factors, after candidate answers.

        Args:
            encoding: of the rows.
            values: coded answers [rows, columns].
            variables: of each column [columns].
            is_candidate: [rows, columns].

        Returns:
            Outputs [rows * columns, outputs] and factors [rows * columns], arbitrary where an answer is no
            candidate.
        """
        from eddi.reward.fused.kernels import target_outputs  # Triton is optional

        assert encoding.factors is not None  # noqa: S101  # the tail is packed with factors
        n_rows, n_columns = values.shape
        n_variables, n_factors = len(self.table.first), encoding.factors.mean.shape[-1]
        updates = self.factors.updates(encoding.factors)
        segments, distances = self.table.locate(values, variables)
        inputs = self.factors.factors.inputs(values, variables)
        answers, n_answers = list_candidates(is_candidate)
        outputs = values.new_empty((n_rows * n_columns, len(self.head)))
        means = values.new_empty((n_rows * n_columns, n_factors))
        width = self.norm.shape[1]
        options = self.dense_options
        target_outputs[(-(-is_candidate.numel() // options["ROWS"]),)](
            answers, n_answers, variables.int(), segments.int().contiguous(), distances.contiguous(),
            inputs.contiguous(),
            encoding.first_layer.view(-1, width), encoding.factors.mean.contiguous(),
            updates.expected.contiguous(), updates.gain.contiguous(), updates.variance.contiguous(),
            self.table.lines, self.term_weight, self.factor_weight, self.inner, self.inner_bias,
            self.outer, self.outer_bias, self.norm, self.head, self.head_bias, outputs, means,
            n_columns, n_variables, len(self.inner), n_factors, len(self.head),
            N_INPUTS=inputs.shape[-1], TERM=self.term_weight.shape[1],
            HAS_RELU=self.table.has_relu, **options,
        )  # fmt: skip
        rows = torch.arange(n_rows, device=values.device)
        cells = (rows[:, None] * n_variables + variables).flatten()
        return outputs, FactorMoments(means, updates, cells)


def list_candidates(is_candidate: Tensor) -> tuple[Tensor, Tensor]:
    """Positions of the candidates, in order and then arbitrary, and their number [1].

    Unlike `Tensor.nonzero`, this does not wait for the GPU.
    """
    flat = is_candidate.flatten()
    count = flat.cumsum(0)
    position = torch.arange(len(flat), dtype=torch.int32, device=flat.device)
    answers = position.new_zeros(len(flat) + 1)  # the last entry takes those that are no candidates
    answers.scatter_(0, torch.where(flat, count - 1, len(flat)), position)
    return answers, count[-1:].int()


def _is_supported(residual: FrozenResidual, factors: PackedFactors, n_outputs: int) -> bool:
    width, term = residual.first[0].shape
    chunk = width // N_CHUNKS
    return (
        not residual.relu_first
        and chunk in CHUNKS
        and width == N_CHUNKS * chunk
        and term % chunk == 0
        and factors.factors.n_factors <= FACTORS
        and n_outputs <= MAX_OUTPUTS
    )


def _split(weight: Tensor) -> Tensor:
    """A matrix as float16 numbers and their remainders [2, ...]."""
    high = weight.half()
    return torch.stack([high, (weight - high).half()]).contiguous()
