"""The attributes that an estimator and its fitted model share."""

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eddi.model.certificate import Certificate, CertificateKey
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.training.checkpoint import Progress
from eddi.model.training.summary import TrainingSummary
from eddi.table.coding import Coding
from eddi.table.schema import Schema


class LearnedModel(Protocol):
    """What the attributes are read from."""

    @property
    def schema(self) -> Schema: ...

    @property
    def target(self) -> tuple[str, ...]: ...

    @property
    def coding(self) -> Coding: ...

    @property
    def recipe(self) -> Recipe: ...

    @property
    def network(self) -> Network: ...

    @property
    def training(self) -> TrainingSummary: ...

    @property
    def certificates(self) -> dict[CertificateKey, Certificate]: ...

    @property
    def ignored_variables(self) -> dict[str, tuple[str, ...]]: ...


class LearnedAttributes(ABC):
    """What was learned, under the names that scikit-learn gives to learned attributes.

    The estimator and the fitted model have the same attributes, so strategies work with either.
    """

    @abstractmethod
    def fitted(self) -> LearnedModel:
        """The fitted model."""

    @property
    def schema_(self) -> Schema:
        """The variables and questions."""
        return self.fitted().schema

    @property
    def target_(self) -> tuple[str, ...]:
        """The declared targets."""
        return self.fitted().target

    @property
    def coding_(self) -> Coding:
        """The map between the table's own units and coded values."""
        return self.fitted().coding

    @property
    def recipe_(self) -> Recipe:
        """The recipe, adapted to the size of the table."""
        return self.fitted().recipe

    @property
    def network_(self) -> Network:
        """The trained network."""
        return self.fitted().network

    @property
    def history_(self) -> list[Progress]:
        """How training went."""
        return self.fitted().training.history

    @property
    def n_rows_(self) -> int:
        """The number of training rows."""
        return self.fitted().training.n_rows

    @property
    def n_answers_(self) -> NDArray[np.float64]:
        """Training rows with a value of each variable and of a target, plus prior rows [variables]."""
        return self.fitted().training.count_answers(len(self.schema_.variables))

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the schema and the coded training table."""
        return self.fitted().training.fingerprint

    @property
    def certificates_(self) -> dict[CertificateKey, Certificate]:
        """Results of `eddi.certify`."""
        return self.fitted().certificates

    @property
    def ignored_variables_(self) -> dict[str, tuple[str, ...]]:
        """Variables that predictions of a target do not use, by target; only small tables have any."""
        return self.fitted().ignored_variables
