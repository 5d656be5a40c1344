"""Ask the item with the highest Fisher information at the present estimate, as adaptive tests do."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model, is_exact
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class FisherInformation:
    """The classical rule of computerised adaptive testing (Lord 1980), for item banks.

    The score of an item is its Fisher information at the posterior mean of its trait. `Information` takes
    the uncertainty of the trait into account, which matters for the first items.
    """

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        if not is_exact(model):
            raise StrategyError("FisherInformation is for item banks; use Information for other models.")
        return model.fisher_information(evidence, target)
