"""What other packages need of a model.

`Model` is what interviews, evaluation and the service need; any distribution over rows of a schema can
implement it. `NetworkModel` adds what the rewards of a trained network need. `ExactModel` computes its
rewards itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.cache import Cache
from eddi.model.certificate import Certificate, CertificateKey
from eddi.model.inference.frozen import Encoding, FrozenNetwork
from eddi.model.inference.marginal_predictor import MarginalPredictor
from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.network.network import Network
from eddi.model.network.posterior import Posterior
from eddi.model.prediction import Predictions
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Unknown
from eddi.table.schema import Schema


class ModelSource(Protocol):
    """Anything that has a fitted model: the estimator `PartialVAE`, or the model itself."""

    def fitted(self) -> "Model":
        """The fitted model."""


class Model(ModelSource, Protocol):
    """A model of rows of a schema's variables. `FittedModel` and `ItemBank` implement it."""

    @property
    def schema(self) -> Schema:
        """The variables and questions."""

    @property
    def coding(self) -> Coding:
        """The map between the table's own units and coded values."""

    @property
    def target(self) -> tuple[str, ...]:
        """The declared targets; empty if none was declared."""

    @property
    def n_rows_(self) -> int:
        """The number of rows of data that the model was trained on; 0 for one from beliefs alone."""

    @property
    def n_answers_(self) -> NDArray[np.float64]:
        """Training rows with a value of each variable and of a target, plus prior rows [variables]."""

    @property
    def cache(self) -> Cache:
        """Results that depend on the model alone; freed with it."""

    @property
    def certificates(self) -> dict[CertificateKey, Certificate]:
        """Evidence for risk-controlled stopping; see `interview.risk_control`."""

    @property
    def validation_rows(self) -> Evidence | None:
        """The rows that `fit` held out; None for a model from a file."""

    def evidence(
        self,
        table: Any,
        *,
        optional: Sequence[str] = (),
        hidden: Sequence[str] = (),
        unknown: Unknown = "ignore",
    ) -> Evidence:
        """The rows of a table as evidence.

        Columns in ``optional`` may be absent, and those in ``hidden`` are not read. ``unknown`` says what
        happens to values that the model does not know.
        """

    def predict_evidence(self, evidence: Evidence, names: Sequence[str]) -> Predictions:
        """Predictions of the named variables for each row of evidence."""

    def predictive_distributions(
        self, evidence: Evidence, *, variables: Sequence[int] | None = None
    ) -> Iterator[PredictiveDistribution]:
        """The distributions of at least these variables (positions), for consecutive chunks of rows.

        Of all variables if None; `PredictiveDistribution.positions` says of which.
        """

    def log_prob(self, evidence: Evidence, truth: Evidence) -> NDArray[np.float64]:
        """log p(x_d | x_O) of the true values [rows, variables], in nats of the table's own units."""

    def draw_tables(self, evidence: Evidence, n_draws: int, *, seed: int) -> NDArray[np.float64]:
        """Joint draws in the table's own units [draws, rows, variables]."""

    def best_guesses(self, evidence: Evidence) -> NDArray[np.float64]:
        """The best single value of every cell in the table's own units [rows, variables]."""


class NetworkModel(Model, Protocol):
    """A trained network. The code of evidence is additive: an answer adds its term."""

    @property
    def network(self) -> Network:
        """The trained network."""

    @property
    def frozen(self) -> FrozenNetwork:
        """The network with weights packed for inference."""

    @property
    def marginal_predictor(self) -> MarginalPredictor | None:
        """Marginal predictions without draws of z; None if the recipe does not learn them."""

    def inputs(self, evidence: Evidence) -> tuple[Tensor, Tensor]:
        """What the network sees of the evidence: coded values and 0/1 observed [rows, variables]."""

    def code(self, evidence: Evidence) -> Tensor:
        """The additive code of each row [rows, width]."""

    def find_ignored(self, variables: Sequence[int]) -> tuple[int, ...]:
        """Positions of the variables that no prediction of these variables (positions) uses."""

    def group_by_ignored(self, variables: Sequence[int]) -> list[list[int]]:
        """The variables (positions) in groups whose predictions ignore the same variables."""

    def relevant_evidence(self, evidence: Evidence, variables: Sequence[int]) -> Evidence:
        """What predictions of these variables (positions) use of the evidence."""

    def encode(self, evidence: Evidence) -> Encoding:
        """The output of every layer for each row; that of the last evidence is remembered."""

    def term(self, values: Tensor, variables: Sequence[int] | Tensor) -> Tensor:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""

    def joint_noise(self, n_draws: int, seed: int) -> tuple[Tensor, Tensor]:
        """Random numbers for z [draws, latent] and for variables [draws, variables]; cached."""

    def draw(self, posterior: Posterior, n_draws: int, *, seed: int) -> Tensor:
        """Joint draws of all variables in coded values [draws, ..., variables]."""

    def level_probabilities(
        self, posterior: Posterior, n_draws: int, *, seed: int
    ) -> Mapping[int, Tensor]:
        """Probabilities of the levels behind the same draws [draws, ..., levels], by position.

        Variables without levels are left out.
        """


@runtime_checkable
class ExactModel(Protocol):
    """A model that computes the expected information of answers in closed form. `ItemBank` is one."""

    def mutual_information(self, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Expected information of each question about the target, in nats [rows, questions]."""

    def fisher_information(self, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Fisher information of each question about the target, at its estimate [rows, questions]."""


def is_exact(model: Model) -> TypeGuard[ExactModel]:
    """Whether the model is an `ExactModel`; much faster than `isinstance` with a protocol."""
    return issubclass(type(model), ExactModel)


def require_network(model: Model, purpose: str) -> NetworkModel:
    """The model as one with a network.

    Raises:
        StrategyError: it is an item bank; ``purpose`` needs a network.
    """
    if is_exact(model):
        raise StrategyError(f"{purpose} needs a model that was fitted to a table, not an item bank.")
    return cast("NetworkModel", model)
