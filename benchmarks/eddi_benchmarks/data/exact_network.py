"""Discrete Bayesian networks small enough for exact inference.

The joint distribution is one dense array with an axis for each variable, so every conditional is a slice
and a sum.
"""

import gzip
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EddiError, MissingExtraError

PUBLISHED = ("asia", "cancer", "earthquake", "survey", "sachs")  # those with at most eleven variables
MAX_STATES = 10_000_000  # of a joint distribution: 80 MB
SUM_TOLERANCE = 1e-3  # the probabilities in published tables are rounded

Numbers = NDArray[np.float64]
Observed = Mapping[int, int]
"""Index of the observed level by index of the variable."""


class NetworkError(EddiError, ValueError):
    """A Bayesian network is unknown, inconsistent, or too large for exact inference."""


@dataclass(frozen=True)
class Conditional:
    """The conditional probability table of a variable given its parents."""

    variable: str
    parents: tuple[str, ...]
    probabilities: Numbers  # [levels, levels of the first parent, ...]

    def __post_init__(self) -> None:
        if not np.allclose(self.probabilities.sum(0), 1, atol=SUM_TOLERANCE):
            raise NetworkError(
                f"the probabilities of {self.variable!r} do not sum to 1 for all levels of its parents."
            )


@dataclass(frozen=True)
class ExactNetwork:
    """The joint distribution of a few discrete variables."""

    levels: Mapping[str, tuple[str, ...]]  # by variable, in order
    joint: Numbers  # [levels of the first variable, levels of the second, ...]

    @classmethod
    def from_conditionals(
        cls, levels: Mapping[str, tuple[str, ...]], conditionals: Sequence[Conditional]
    ) -> "ExactNetwork":
        """The product of the conditional probability tables, one for each variable."""
        if {table.variable for table in conditionals} != set(levels):
            raise NetworkError(f"each of {', '.join(levels)} needs one conditional probability table.")
        if (n_states := np.prod([len(names) for names in levels.values()])) > MAX_STATES:
            raise NetworkError(
                f"the joint distribution has {n_states:.3g} states; at most {MAX_STATES:,} are allowed."
            )
        letter = dict(zip(levels, ascii_letters, strict=False))
        factors = ["".join(letter[name] for name in (c.variable, *c.parents)) for c in conditionals]
        formula = f"{','.join(factors)}->{''.join(letter.values())}"
        joint = np.einsum(formula, *(c.probabilities for c in conditionals), optimize="greedy")
        return cls(dict(levels), joint / joint.sum())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.levels)

    def draw_rows(self, n_rows: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Random rows as indices of levels [rows, variables]."""
        states = random.choice(self.joint.size, size=n_rows, p=self.joint.ravel())
        return np.stack(np.unravel_index(states, self.joint.shape), axis=1).astype(np.int64)

    def posterior(self, target: int, observed: Observed) -> Numbers:
        """p(x_target | observed) [levels]."""
        return _marginal(self._condition(observed), (target,))

    def information(self, target: int, observed: Observed) -> Numbers:
        """I(x_target; x_d | observed) in nats for each variable d.

        It is 0 for the target and observed variables.
        """
        conditional, nats = self._condition(observed), np.zeros(self.joint.ndim)
        for variable in range(self.joint.ndim):
            if variable != target and variable not in observed:
                nats[variable] = mutual_information(_marginal(conditional, (target, variable)))
        return nats

    def _condition(self, observed: Observed) -> Numbers:
        """The joint distribution given the observed levels; observed axes are kept with size 1."""
        index = tuple(
            slice(observed[d], observed[d] + 1) if d in observed else slice(None)
            for d in range(self.joint.ndim)
        )
        part = self.joint[index]
        if not (total := part.sum()) > 0:
            raise NetworkError("the observed levels have probability 0 in this network.")
        return np.asarray(part / total)


def _marginal(joint: Numbers, axes: tuple[int, ...]) -> Numbers:
    return np.asarray(joint.sum(axis=tuple(d for d in range(joint.ndim) if d not in axes)))


def mutual_information(joint: Numbers) -> float:
    """The mutual information of two variables in nats, from their joint probabilities."""
    independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    possible = joint > 0
    nats = (joint[possible] * np.log(joint[possible] / independent[possible])).sum()
    return max(0.0, float(nats))  # rounding can give a tiny negative number


def kl_divergence(truth: Numbers, prediction: Numbers) -> float:
    """KL(truth || prediction) in nats, from the probabilities of levels."""
    possible = truth > 0
    return float((truth[possible] * np.log(truth[possible] / prediction[possible])).sum())


def load_published(name: str) -> ExactNetwork:
    """Load one of the small networks of the bnlearn repository, which pgmpy contains.

    Raises:
        NetworkError: there is no such network.
        MissingExtraError: pgmpy is not installed.
    """
    if name not in PUBLISHED:
        raise NetworkError(f"there is no network {name!r}. Available networks: {', '.join(PUBLISHED)}.")
    _require_pgmpy()
    packed = files("pgmpy").joinpath(f"utils/example_models/{name}.bif.gz").read_bytes()
    return from_bif(gzip.decompress(packed).decode("utf-8"))


def from_bif(text: str) -> ExactNetwork:
    """Read a network in the Bayesian interchange format (BIF)."""
    _require_pgmpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgmpy was written for an older pyparsing
        from pgmpy.readwrite import BIFReader

        reader = BIFReader(string=text)
        tables = {table.variable: table for table in reader.get_model().get_cpds()}
    levels = {name: tuple(tables[name].state_names[name]) for name in reader.variable_names}
    conditionals = []
    for name, table in tables.items():
        _, *parents = table.variables
        if any(tuple(table.state_names[parent]) != levels[parent] for parent in parents):
            raise NetworkError(f"the table of {name!r} has the levels of its parents in another order.")
        conditionals.append(Conditional(name, tuple(parents), np.asarray(table.values, np.float64)))
    return ExactNetwork.from_conditionals(levels, conditionals)


def _require_pgmpy() -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pgmpy.readwrite  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "published networks need pgmpy. Install it with `pip install 'eddi-benchmarks[networks]'`."
        ) from None
