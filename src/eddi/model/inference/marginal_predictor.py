"""Marginal predictions p(x_d | x_O) of a frozen network: answer probabilities and target heads."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from eddi.model.cache import Cache
from eddi.model.inference.answer_support import AnswerSupport
from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.inference.support_head import SupportHead
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.atoms import N_ATOMS
from eddi.model.network.features import Features
from eddi.model.network.marginals import Marginals
from eddi.model.network.network import Network


@dataclass(frozen=True, eq=False)
class MarginalPredictor:
    """The marginal heads of a frozen network."""

    marginals: Marginals
    frozen: FrozenNetwork
    _cache: Cache = field(default_factory=Cache, repr=False)

    @classmethod
    def from_network(cls, network: Network, frozen: FrozenNetwork) -> "MarginalPredictor | None":
        """The predictor of a network; None if it has no marginal heads."""
        return None if network.marginals is None else cls(network.marginals, frozen)

    def target_head(self, target: Sequence[int]) -> VariableHead:
        """The heads of these variables (positions) alone."""
        key = tuple(target)
        return self._cache.get(
            ("target_head", key), lambda: VariableHead.from_marginals(self.marginals, self.frozen, key)
        )

    @property
    def support_head(self) -> SupportHead:
        """The heads of all variables and the atoms of quantities as one layer."""
        return self._cache.get(
            "support_head", lambda: SupportHead.from_marginals(self.marginals, self.frozen)
        )

    def distribution(
        self, features: Features, variables: Sequence[int] | None = None
    ) -> PredictiveDistribution:
        """The distributions of some variables (positions) or all, for the hidden features of rows."""
        chosen = tuple(range(len(self.marginals.specs)) if variables is None else variables)
        head = self.target_head(chosen)
        outputs = head(features) if variables is None else head.predict(features)
        mass = self.marginals.calibrated_tail_mass(head.heads.predictive_scale(outputs), chosen)
        sds = head.log_hazard_sd(features)
        return PredictiveDistribution(head.heads, outputs[None], mass, chosen, sds)

    def answer_support(self, n_points: int = N_ATOMS) -> AnswerSupport:
        """The possible answers to every variable, at most ``n_points`` for a quantity."""
        return self._cache.get(
            ("answer_support", n_points),
            lambda: AnswerSupport.from_marginals(
                self.marginals, self.frozen, n_points, head=self.support_head
            ),
        )
