"""The Partial VAE as a torch module: set encoder, tail, posterior, decoder and marginal heads.

x_O --set encoder--> code --tail--> features --> q(z | x_O) --draw--> z --decoder--> p(x_d | z)
                                             \\-> marginal heads p(x_d | x_O)   (default recipe only)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.network.factors.factor_analysis import FactorAnalysis, fit_factors
from eddi.model.network.factors.factor_head import FactorHeadBuffers
from eddi.model.network.features import Features
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.heads import Heads, LikelihoodFactory
from eddi.model.network.likelihood import (
    Bernoulli,
    Categorical,
    Count,
    Gaussian,
    Ordinal,
    VariableSpec,
)
from eddi.model.network.marginals import Marginals
from eddi.model.network.mlp import MLP
from eddi.model.network.posterior import Posterior
from eddi.model.network.residual import ResidualTail
from eddi.model.network.set_encoder import SetEncoder
from eddi.model.network.splines import subsampling_step
from eddi.model.recipe import Recipe, SetEncoderName
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

LOG_VAR_RANGE = (-12.0, 8.0)  # keeps exp(log_var) finite whatever the tail outputs


class Network(Heads):
    """q(z | x_O) and p(x | z) for rows of variables with these specs; as `Heads`, those given z."""

    def __init__(
        self, specs: Sequence[VariableSpec], set_encoder: SetEncoderName, recipe: Recipe
    ) -> None:
        super().__init__(specs, decoder_likelihoods(recipe))
        self.latent = recipe.latent
        first, *rest = recipe.hidden
        is_zero_imputing = set_encoder in ("zi", "zi-m")
        width = first if is_zero_imputing else recipe.term
        self.set_encoder = SetEncoder(
            specs,
            set_encoder,
            width=width,
            identity=recipe.identity,
            offset=recipe.offset,
            knots=recipe.knots,
            factors=recipe.factors,
        )
        factors = self.set_encoder.factors
        self.n_factors = 0 if factors is None else factors.n_factors
        inner = rest if is_zero_imputing else recipe.hidden
        # The sigma of appendix C.1 on the sum: the first layer's activation for ZI and ZI-m. It would
        # have no effect for PN and PNP, whose terms are never negative.
        self.code_width, self.n_hidden = width, inner[-1] if inner else width
        widths = [width + 2 * self.n_factors, *inner, 2 * recipe.latent]
        tail = ResidualTail if recipe.tail == "residual" else MLP
        self.tail: ResidualTail | MLP = tail(widths, relu_first=is_zero_imputing)
        self.decoder = MLP([recipe.latent, *reversed(recipe.hidden), self.n_outputs])
        has_marginals = recipe.objective == "direct"
        self.marginals = (
            Marginals(specs, recipe, recipe.hidden[-1] + self.n_factors, n_factors=self.n_factors)
            if has_marginals
            else None
        )
        self.factor_head: FactorHeadBuffers | None = None  # of all variables; built for training

    @property
    def needs_data_init(self) -> bool:
        """Whether knots or atoms must be placed with `init_from_data` before training."""
        return self.set_encoder.splines is not None or self.marginals is not None

    def init_from_data(self, evidence: Evidence) -> None:
        """Place spline knots and atoms at the values of a table."""
        rows = evidence[:: subsampling_step(len(evidence))]
        self.set_encoder.init_from_data(rows)
        if self.marginals is not None:
            self.marginals.init_from_data(rows)

    def fit_factors(
        self, evidence: Evidence, weights: NDArray[np.float32] | None = None
    ) -> "FactorFit | None":
        """Fit base hazards and the precision-weighted factors, if there are any, to training rows.

        ``weights`` [rows] say how many rows each row counts as; 1 if None. The correlations are shrunk by
        the estimated share, which the result can change.

        Unlike knots and atoms they depend on the targets, so validation rows must not be included.
        """
        inputs = self.prepare_factors(evidence, weights)
        if inputs is None:
            return None
        numbers, observed, row_weights = inputs
        analysis = fit_factors(numbers, observed, self.n_factors, weights=row_weights)
        return self.set_factors(analysis, evidence, weights)

    def prepare_factors(
        self, evidence: Evidence, weights: NDArray[np.float32] | None = None
    ) -> tuple[Tensor, Tensor, Tensor] | None:
        """Fit base hazards; returns the arguments of the factor analysis, None without factors."""
        rows, row_weights = _subsample(evidence, weights)
        for heads in (self, self.marginals):
            if heads is not None:
                heads.init_hazards(rows)
        factors = self.set_encoder.factors
        return None if factors is None else factors.analysis_inputs(rows, self.specs, row_weights)

    def set_factors(
        self,
        analysis: FactorAnalysis,
        evidence: Evidence,
        weights: NDArray[np.float32] | None = None,
    ) -> "FactorFit":
        """Start from a factor analysis of the same rows as those of `prepare_factors`."""
        factors = self.set_encoder.factors
        assert factors is not None  # noqa: S101  # there are factors
        factors.centre(analysis)
        if not factors.is_evidence.all():
            # The regression of hazards has its own penalty, and needs factors that the answers determine.
            analysis = replace(analysis, shrinkage=torch.zeros_like(analysis.shrinkage))
        fit = FactorFit(self, *_subsample(evidence, weights), analysis)
        fit.shrink(1.0)
        return fit

    @torch.no_grad()
    def build_factor_head(self) -> None:
        """Prepare the outputs of the factor model for training, with the present factors."""
        factors = self.set_encoder.factors
        if factors is not None and self.marginals is not None:
            head = self.marginals.factor_head(factors.pack(), range(len(self.specs)))
            self.factor_head = None if head is None else FactorHeadBuffers(head)

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """The additive code [rows, width] of coded values and 0/1 observed, both [rows, variables]."""
        return self.set_encoder(values, observed)  # type: ignore[no-any-return]

    def features(self, code: Tensor) -> Features:
        """Hidden features for a code."""
        factors = self.set_encoder.factors
        if factors is None:
            return Features(self.tail.features(code), None)
        posterior = factors.pack().posterior(code[..., self.code_width :])
        inputs = torch.cat([code[..., : self.code_width], posterior.features()], dim=-1)
        return Features(torch.cat([self.tail.features(inputs), posterior.mean], dim=-1), posterior)

    def marginal_outputs(self, features: Features) -> Tensor:
        """Likelihood parameters p(x_d | x_O) of all variables in training [rows, outputs]."""
        assert self.marginals is not None  # noqa: S101  # callers have marginal heads
        outputs: Tensor = self.marginals(features.inputs)
        of_factors, share = self.factor_outputs(features), self.marginals.factor_share
        return outputs if of_factors is None or share is None else outputs + share * of_factors

    def factor_outputs(self, features: Features) -> Tensor | None:
        """Likelihood parameters by the factor model alone [rows, outputs]; None without factors."""
        factors = self.set_encoder.factors
        if self.factor_head is None or features.factors is None or factors is None:
            return None
        return self.factor_head(features.factors, factors.pack())  # type: ignore[no-any-return]

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""
        return self.posterior_from_features(self.features(code).inputs)

    def posterior_from_features(self, inputs: Tensor) -> Posterior:
        """q(z | x_O) from hidden features."""
        hidden = inputs[..., : self.n_hidden] if self.n_factors else inputs
        mean, log_var = F.linear(hidden, *self.tail.output_weights()).chunk(2, dim=-1)
        return Posterior(mean, F.hardtanh(log_var, *LOG_VAR_RANGE))

    def decode(self, z: Tensor) -> Tensor:
        """The likelihoods' parameters [..., outputs] for latent values [..., latent]."""
        return self.decoder(z)  # type: ignore[no-any-return]


def _subsample(
    evidence: Evidence, weights: NDArray[np.float32] | None
) -> tuple[Evidence, NDArray[np.float32]]:
    """Evenly spaced rows that are enough for factors, with their weights."""
    step = subsampling_step(len(evidence))
    rows = evidence[::step]
    return rows, np.ones(len(rows), dtype=np.float32) if weights is None else weights[::step]


@dataclass(frozen=True)
class FactorFit:
    """A network with the factor analysis of its training rows, whose shrinkage can be changed."""

    network: Network
    rows: Evidence
    weights: NDArray[np.float32]  # [rows]
    analysis: FactorAnalysis

    @torch.no_grad()
    def shrink(self, multiple: float) -> None:
        """Shrink the correlations by a multiple of the estimated share, before any training."""
        factors, marginals = self.network.set_encoder.factors, self.network.marginals
        assert factors is not None  # noqa: S101  # they were analysed
        factors.use(self.analysis.shrink(multiple))
        if marginals is not None:
            marginals.init_from_factors(factors, self.rows, self.weights)
            self.network.build_factor_head()


def decoder_likelihoods(recipe: Recipe) -> dict[Kind, LikelihoodFactory]:
    """The likelihood p(x_d | z) of each kind."""
    floor = recipe.noise_floor
    return {
        Kind.REAL: lambda specs: Gaussian(specs, noise=recipe.noise, floor=floor),
        Kind.COUNT: lambda specs: Count(specs, floor=floor),
        Kind.BINARY: Bernoulli,
        Kind.ORDINAL: Ordinal,
        Kind.CATEGORY: Categorical,
        Kind.SURVIVAL: DiscreteHazard,
    }
