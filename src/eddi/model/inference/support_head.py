"""Everything that the enumeration of answers needs of the output layers, from one matrix product."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.features import Features
from eddi.model.network.marginals import Marginals
from eddi.model.network.mlp import Weights


@dataclass(frozen=True)
class SupportOutputs:
    """Outputs for the hidden features of some rows."""

    by_output: Tensor  # [rows, outputs] likelihood parameters of all variables
    atom_logits: Tensor  # [rows, quantities, atoms]; no quantities if there are none


@dataclass(frozen=True)
class SupportHead:
    """The marginal heads of all variables and the atoms of all quantities as one layer."""

    head: VariableHead  # of all variables
    weights: Weights  # outputs of the head, then logits of the atoms
    atoms_shape: tuple[int, int]  # quantities and atoms

    @classmethod
    def from_marginals(cls, marginals: Marginals, frozen: FrozenNetwork) -> "SupportHead":
        """The joint layer of all output layers."""
        head = VariableHead.from_marginals(marginals, frozen, range(len(marginals.specs)))
        if marginals.atoms is None:
            return cls(head, head.weights, (0, 0))
        atoms = marginals.atoms
        bias = atoms.layer.bias + atoms.padding_logits().flatten()
        weight = torch.cat([head.weights[0], atoms.layer.weight])
        weights = weight, torch.cat([head.weights[1], bias])
        n_quantities, n_atoms = atoms.values.shape
        return cls(head, weights, (n_quantities, n_atoms))

    def __call__(self, features: Features) -> SupportOutputs:
        """The outputs for hidden features."""
        n_outputs = len(self.head.rows)
        joint = F.linear(features.inputs, *self.weights)
        outputs = self.head.add_factors(joint[..., :n_outputs], features.factors)
        logits = joint[..., n_outputs:].view(*joint.shape[:-1], *self.atoms_shape)
        return SupportOutputs(outputs, logits)
