"""The set encoder and the factors, packed for the kernels that encode rows."""

from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.network.set_encoder import EncoderWeights
from eddi.reward.fused.packed_tail import FACTORS, PackedTail

BLOCK_VARIABLES = 32  # variables of a row that are encoded at once
FACTOR_BLOCK = 16  # variables whose updates are computed at once


@dataclass(frozen=True)
class RowFactors:
    """The factors of some rows, and what an answer to each variable does to them; see `FactorUpdates`."""

    features: Tensor  # [rows, width + K] hidden features, then the means of the factors
    variance: Tensor  # [rows, K]
    covariance: Tensor  # [rows, K, K]
    expected: Tensor  # [rows, variables] mean of each variable's input
    spread: Tensor  # [rows, variables] its variance without noise
    gain: Tensor  # [rows, variables, K]
    variance_after: Tensor  # [rows, variables, K]


@dataclass(frozen=True)
class PackedRows:
    """Tables of terms, and the parameters of the factors."""

    base: Tensor  # [term]
    lines: Tensor  # [segments, 2 * term]
    table: tuple[Tensor, ...]  # first segment, knots, start, unit, and whether levels are segments
    inputs: tuple[Tensor, ...]  # of the factors: unit, mean, whether it is a category, inputs of levels
    loadings: Tensor  # [variables, K]
    weighted_loadings: Tensor  # [variables, K]
    precision: Tensor  # [variables]
    matrices: Tensor  # [variables, K * K] precision matrices
    width: int  # of the hidden features
    has_relu: bool
    has_levels: bool

    @classmethod
    def from_encoder(cls, encoder: EncoderWeights, tail: PackedTail) -> "PackedRows":
        """Pack an encoder in which every variable is one input of the factors."""
        table, packed = encoder.term_table, tail.factors
        factors, ones = packed.factors, torch.ones(len(packed.precision), device=packed.precision.device)
        by_level = torch.zeros_like(ones) if table.by_level is None else table.by_level
        parts = (table.first.int(), table.knots, table.start)
        return cls(
            base=encoder.base,
            lines=table.lines,
            table=(*parts, ones if table.unit is None else table.unit, by_level.int()),
            inputs=(
                factors.unit,
                factors.mean,
                factors.is_category.int(),
                factors.level_inputs[..., 0].contiguous(),
            ),
            loadings=packed.loadings[:, 0].contiguous(),
            weighted_loadings=packed.weighted_loadings[:, 0].contiguous(),
            precision=packed.precision[:, 0].contiguous(),
            matrices=packed.triangles[:, factors.unpack].contiguous(),
            width=tail.norm.shape[1],
            has_relu=table.has_relu,
            has_levels=table.by_level is not None,
        )

    @property
    def n_knots(self) -> int:
        """The number of knots of a variable."""
        return self.table[1].shape[1]

    @property
    def padded_knots(self) -> int:
        """The same, as a power of two."""
        return 1 << max(self.n_knots - 1, 0).bit_length()

    @property
    def max_levels(self) -> int:
        """The largest number of levels of a category."""
        return self.inputs[3].shape[1]

    def encode(self, values: Tensor, visible: Tensor) -> tuple[Tensor, RowFactors]:
        """The additive code [rows, term] without factors, and the factors.

        The hidden features are not written yet.
        """
        from eddi.reward.fused.row_kernels import encode_rows  # Triton is optional

        (n_rows, n_variables), n_factors = values.shape, self.loadings.shape[1]
        code = values.new_empty((n_rows, len(self.base)))
        information = values.new_empty((n_rows, n_factors))
        encode_rows[(n_rows,)](
            values, visible, self.base, self.lines, *self.table, *self.inputs, self.weighted_loadings,
            code, information, n_variables, self.n_knots, n_factors, self.max_levels,
            TERM=len(self.base), FACTORS=FACTORS, KNOTS=self.padded_knots,
            BLOCK=min(BLOCK_VARIABLES, 1 << (n_variables - 1).bit_length()),
            HAS_RELU=self.has_relu, HAS_LEVELS=self.has_levels, num_warps=4,
        )  # fmt: skip
        return code, self._infer(visible @ self.matrices, information)

    def _infer(self, precisions: Tensor, information: Tensor) -> RowFactors:
        from eddi.reward.fused.row_kernels import infer_factors, update_factors  # Triton is optional

        n_rows, (n_variables, n_factors) = len(information), self.loadings.shape
        by_cell = (n_rows, n_variables)
        factors = RowFactors(
            features=information.new_empty((n_rows, self.width + n_factors)),
            variance=torch.empty_like(information),
            covariance=torch.empty_like(precisions).view(n_rows, n_factors, n_factors),
            expected=information.new_empty(by_cell),
            spread=information.new_empty(by_cell),
            gain=information.new_empty((*by_cell, n_factors)),
            variance_after=information.new_empty((*by_cell, n_factors)),
        )
        posterior = (factors.features, factors.variance, factors.covariance)
        infer_factors[(n_rows,)](
            precisions, information, *posterior, n_factors, self.width, factors.features.shape[1],
            FACTORS=FACTORS, num_warps=1,
        )  # fmt: skip
        update_factors[(n_rows, -(-n_variables // FACTOR_BLOCK))](
            *posterior, self.loadings, self.precision,
            factors.expected, factors.spread, factors.gain, factors.variance_after,
            n_variables, n_factors, self.width, factors.features.shape[1],
            FACTORS=FACTORS, BLOCK=FACTOR_BLOCK, num_warps=1,
        )  # fmt: skip
        return factors


def is_power_of_two(number: int) -> bool:
    """Whether a number is a power of two."""
    return number > 0 and number & (number - 1) == 0
