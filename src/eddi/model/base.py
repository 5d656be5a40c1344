"""What everything after this room needs of a model."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from torch import Tensor

from eddi.model.inference.marginal_predictor import Direct
from eddi.model.inference.single_row import Alone
from eddi.model.network.posterior import Posterior
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema


class Model(Protocol):
    """A fitted belief about rows of a schema's variables, in five verbs.

    The code of evidence is additive: hearing an answer adds its term.
    """

    @property
    def schema_(self) -> Schema:
        """What the data is."""

    @property
    def alone_(self) -> Alone | None:
        """A cheaper way to ask about one row at a time, where the model has one."""

    @property
    def direct_(self) -> Direct | None:
        """Beliefs that need no draws, where the model has them."""

    def code(self, evidence: Evidence) -> Tensor:
        """The additive code of each row [rows, width]."""

    def term(self, values: Tensor, variables: Sequence[int] | Tensor) -> Tensor:
        """What coded answers [..., n] to n variables add to the code [..., n, width]."""

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""

    def draw(self, posterior: Posterior, n_draws: int, *, seed: int) -> Tensor:
        """Joint coded values of all variables, noise and all [draws, ..., variables]."""

    def chances(self, posterior: Posterior, n_draws: int, *, seed: int) -> Mapping[int, Tensor]:
        """How likely each level is behind the same draws, for variables of levels by position.

        Each is [draws, ..., levels]; a coded level is its place. Variables not named are only drawn.
        """
