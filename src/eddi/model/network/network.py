"""The torch module: code, posterior, decoder and, where the recipe has them, direct beliefs."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.model.network.atoms import Atoms
from eddi.model.network.heads import Heads, Maker
from eddi.model.network.heteroscedastic import FreeCount, FreeGaussian
from eddi.model.network.likelihood import (
    Bernoulli,
    Categorical,
    Count,
    Form,
    Gaussian,
    LevelLikelihood,
    Ordinal,
)
from eddi.model.network.mlp import Perceptron
from eddi.model.network.posterior import Posterior
from eddi.model.network.residual import Residual
from eddi.model.network.set_encoder import SetEncoder
from eddi.model.network.splines import some_rows
from eddi.model.prediction import COVERAGE
from eddi.model.recipe import Recipe, SetEncoderName
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

N_GROUPS = 5  # of beliefs, by how broad they are, for which calibration counts apart
LOG_VAR_RANGE = (-12.0, 8.0)  # keeps exp(log_var) a number whatever the tail says


class Network(Heads):
    """q(z | x_O) and p(x | z) for rows of variables of these forms; its heads are those given z."""

    def __init__(self, forms: Sequence[Form], set_encoder: SetEncoderName, recipe: Recipe) -> None:
        super().__init__(forms, _given_z(recipe))
        self.latent = recipe.latent
        first, *rest = recipe.hidden
        free = set_encoder in ("zi", "zi-m")
        width = first if free else recipe.term
        self.set_encoder = SetEncoder(
            forms,
            set_encoder,
            width=width,
            identity=recipe.identity,
            offset=recipe.offset,
            knots=recipe.knots,
        )
        inner = rest if free else recipe.hidden
        # The sigma of appendix C.1 on the sum: the first layer's activation for ZI and ZI-m. It would
        # change nothing for PN and PNP, whose terms are never negative.
        widths = [width, *inner, 2 * recipe.latent]
        kind = Residual if recipe.tail == "residual" else Perceptron
        self.tail: Residual | Perceptron = kind(widths, relu_first=free)
        self.decoder = Perceptron([recipe.latent, *reversed(recipe.hidden), self.n_outputs])
        direct = recipe.objective == "direct"
        self.marginals = Marginals(forms, recipe, recipe.hidden[-1]) if direct else None

    @property
    def stands(self) -> bool:
        """Whether anything of it has its place where the values of a table are."""
        return self.set_encoder.splines is not None or self.marginals is not None

    def stand(self, evidence: Evidence) -> None:
        """Put knots and atoms where the values of a table are."""
        some = some_rows(evidence)
        self.set_encoder.stand(some)
        if self.marginals is not None:
            self.marginals.stand(some)

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """The additive code [rows, width] of coded values and 0/1 observed, both [rows, variables]."""
        return self.set_encoder(values, observed)  # type: ignore[no-any-return]

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""
        return self.posterior_of(self.hidden(code))

    def hidden(self, code: Tensor) -> Tensor:
        """What the tail makes of a code before it says anything [..., last hidden width]."""
        return self.tail.hidden(code)

    def posterior_of(self, hidden: Tensor) -> Posterior:
        """q(z | x_O) from what the tail made of the code."""
        mean, log_var = F.linear(hidden, *self.tail.belief()).chunk(2, dim=-1)
        return Posterior(mean, F.hardtanh(log_var, *LOG_VAR_RANGE))

    def decode(self, z: Tensor) -> Tensor:
        """The likelihoods' parameters [..., outputs] behind latent values [..., latent]."""
        return self.decoder(z)  # type: ignore[no-any-return]


class Marginals(Heads):
    """p(x_d | x_O) of every variable straight from the tail, without the detour through z.

    What is asked of a model most often is one variable given some others. Learned directly it is sharper
    than a mixture over z, and it takes one pass instead of a hundred draws. z remains for what must be
    drawn jointly.
    """

    quantities: Tensor  # positions of the variables without levels, which have atoms
    edges: Tensor  # [groups - 1, variables] spreads that part beliefs into groups, narrow ones first
    outside: Tensor  # [groups, variables] what a 90% interval leaves out on either side

    def __init__(self, forms: Sequence[Form], recipe: Recipe, width: int) -> None:
        super().__init__(forms, _given_seen(recipe.noise_floor))
        self.layer = nn.Linear(width, self.n_outputs)
        self.floor = recipe.noise_floor
        quantities = [place for place, form in enumerate(forms) if not form.kind.has_levels]
        self.register_buffer("quantities", torch.tensor(quantities), persistent=False)
        self.atoms = Atoms(len(quantities), width) if quantities else None
        self.register_buffer("edges", torch.full((N_GROUPS - 1, len(forms)), torch.inf))
        self.register_buffer("outside", torch.full((N_GROUPS, len(forms)), (1 - COVERAGE) / 2))

    def forward(self, hidden: Tensor) -> Tensor:
        """The likelihoods' parameters [..., outputs] for what the tail made of a code."""
        return self.layer(hidden)  # type: ignore[no-any-return]

    def stand(self, evidence: Evidence) -> None:
        """Put atoms where the values of a table are."""
        if self.atoms is not None:
            quantities = self.quantities.cpu().numpy()
            self.atoms.stand(evidence.values[:, quantities], evidence.observed[:, quantities])

    def answer_score(self, hidden: Tensor, values: Tensor, wanted: Tensor) -> Tensor:
        """The log chances of the atoms that values [rows, variables] fall to, as much as each is wanted.

        Atoms learn from what the tail makes of a code, but do not teach it.
        """
        if self.atoms is None:
            return wanted.new_zeros(())
        values, wanted = (each.index_select(1, self.quantities) for each in (values, wanted))
        return (self.atoms.fit_score(hidden.detach(), values) * wanted).sum()

    def spread(self, outputs: Tensor) -> Tensor:
        """How broad the belief about each quantity is [..., variables], in coded units; 0 for levels."""
        found = outputs.new_zeros((*outputs.shape[:-1], len(self.forms)))
        for head in self.heads():
            if not isinstance(head.likelihood, LevelLikelihood):
                part = outputs[..., head.outputs]
                found[..., head.variables] = head.likelihood.place_and_spread(part)[1]  # type: ignore[attr-defined]
        return found

    def left_out(self, outputs: Tensor) -> Tensor:
        """As calibrated, among beliefs as broad."""
        return self.outside.gather(0, group_of(self.spread(outputs[0]), self.edges))

    def alone(self, variables: Sequence[int]) -> Heads:
        """The same likelihoods, as calibrated, for some variables."""
        some = Heads([self.forms[variable] for variable in variables], _given_seen(self.floor))
        for head, (kind, likelihood) in zip(some.heads(), some.likelihoods.items(), strict=True):
            if hasattr(likelihood, "dial"):
                places = self._places([variables[each] for each in head.variables.tolist()])
                likelihood.dial = self.likelihoods[kind].dial[:, places]  # type: ignore[index]
        return some

    def rows_of(self, variables: Sequence[int]) -> list[int]:
        """The outputs that speak of these variables of one kind, in the order their likelihood has."""
        head = next(h for h in self.heads() if variables[0] in h.variables.tolist())
        rows = head.likelihood.rows_of(self._places(variables))  # type: ignore[attr-defined]
        return [head.outputs.start + row for row in rows]

    def _places(self, variables: Sequence[int]) -> list[int]:
        """Where variables of one kind stand in their head."""
        head = next(h for h in self.heads() if variables[0] in h.variables.tolist())
        return [head.variables.tolist().index(variable) for variable in variables]


def group_of(spread: Tensor, edges: Tensor) -> Tensor:
    """Which group beliefs so broad [rows, variables] belong to, the narrowest being 0."""
    return (spread > edges[:, None]).sum(0)


def _given_z(recipe: Recipe) -> dict[Kind, Maker]:
    floor = recipe.noise_floor
    return {
        Kind.REAL: lambda group: Gaussian(group, noise=recipe.noise, floor=floor),
        Kind.COUNT: lambda group: Count(group, floor=floor),
        Kind.BINARY: Bernoulli,
        Kind.ORDINAL: Ordinal,
        Kind.CATEGORY: Categorical,
    }


def _given_seen(floor: float) -> dict[Kind, Maker]:
    """What is told straight from what is seen tells its spread too; see `free_spread`."""
    return {
        Kind.REAL: lambda group: FreeGaussian(group, floor=floor),
        Kind.COUNT: lambda group: FreeCount(group, floor=floor),
        Kind.BINARY: Bernoulli,
        Kind.ORDINAL: Categorical,
        Kind.CATEGORY: Categorical,
    }
