"""Discrete Bayesian networks small enough to sum over: rows drawn from them, and exact information.

Their joint is one dense array with an axis for each variable, so every conditional is a slice and a sum.
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

PUBLISHED = ("asia", "cancer", "earthquake", "survey", "sachs")  # those of at most eleven variables
MAX_STATES = 10_000_000  # of a joint: 80 MB
ROUNDING = 1e-3  # how far from 1 the chances of a published table may sum

Numbers = NDArray[np.float64]
Told = Mapping[int, int]
"""What was told: the level's place by the variable's."""


class NetworkError(EddiError, ValueError):
    """A Bayesian network is unknown, not one, or too large to be summed over."""


@dataclass(frozen=True)
class Conditional:
    """How likely each level of a variable is, given the levels of its parents."""

    variable: str
    parents: tuple[str, ...]
    chances: Numbers  # [levels, levels of the first parent, ...]

    def __post_init__(self) -> None:
        if not np.allclose(self.chances.sum(0), 1, atol=ROUNDING):
            raise NetworkError(f"the chances of {self.variable!r} do not sum to 1 for all its parents.")


@dataclass(frozen=True)
class ExactNetwork:
    """The joint distribution of a few variables of levels."""

    levels: Mapping[str, tuple[str, ...]]  # of each variable, in order
    joint: Numbers  # [levels of the first variable, levels of the second, ...]

    @classmethod
    def of(
        cls, levels: Mapping[str, tuple[str, ...]], conditionals: Sequence[Conditional]
    ) -> "ExactNetwork":
        """The product of all conditionals, one of which each variable needs."""
        if {each.variable for each in conditionals} != set(levels):
            raise NetworkError(f"every variable of {', '.join(levels)} needs one table of chances.")
        if (n_states := np.prod([len(names) for names in levels.values()])) > MAX_STATES:
            raise NetworkError(f"a joint of {n_states:.3g} states is more than {MAX_STATES:,}.")
        letter = dict(zip(levels, ascii_letters, strict=False))
        factors = ["".join(letter[name] for name in (c.variable, *c.parents)) for c in conditionals]
        formula = f"{','.join(factors)}->{''.join(letter.values())}"
        joint = np.einsum(formula, *(c.chances for c in conditionals), optimize="greedy")
        return cls(dict(levels), joint / joint.sum())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.levels)

    def rows(self, n_rows: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Rows drawn from the joint, as places of levels [rows, variables]."""
        drawn = random.choice(self.joint.size, size=n_rows, p=self.joint.ravel())
        return np.stack(np.unravel_index(drawn, self.joint.shape), axis=1).astype(np.int64)

    def posterior(self, target: int, told: Told) -> Numbers:
        """p(x_target | told) [levels]."""
        return self._marginal(self._given(told), (target,))

    def information(self, target: int, told: Told) -> Numbers:
        """I(x_target; x_d | told) in nats of each variable d; 0 for the target and what was told."""
        given, nats = self._given(told), np.zeros(self.joint.ndim)
        for variable in range(self.joint.ndim):
            if variable != target and variable not in told:
                nats[variable] = mutual_information(self._marginal(given, (target, variable)))
        return nats

    def _given(self, told: Told) -> Numbers:
        """The joint where all that was told is so; those axes stay, with one level."""
        all_axes = range(self.joint.ndim)
        part = self.joint[
            tuple(slice(told[d], told[d] + 1) if d in told else slice(None) for d in all_axes)
        ]
        if not (total := part.sum()) > 0:
            raise NetworkError("what was told cannot happen in this network.")
        return np.asarray(part / total)

    def _marginal(self, given: Numbers, kept: tuple[int, ...]) -> Numbers:
        return np.asarray(given.sum(axis=tuple(d for d in range(given.ndim) if d not in kept)))


def mutual_information(pair: Numbers) -> float:
    """Nats that two variables tell of each other, from their joint chances [levels, levels]."""
    apart = pair.sum(1, keepdims=True) * pair.sum(0, keepdims=True)
    happens = pair > 0
    nats = (pair[happens] * np.log(pair[happens] / apart[happens])).sum()
    return max(0.0, float(nats))  # rounding may leave a little less than nothing


def divergence(truth: Numbers, belief: Numbers) -> float:
    """KL(truth || belief) in nats, of chances of the same levels."""
    happens = truth > 0
    return float((truth[happens] * np.log(truth[happens] / belief[happens])).sum())


def published(name: str) -> ExactNetwork:
    """One of the small networks of the bnlearn repository, as pgmpy brings them."""
    if name not in PUBLISHED:
        raise NetworkError(f"there is no network {name!r}. There are {', '.join(PUBLISHED)}.")
    _require_pgmpy()
    packed = files("pgmpy").joinpath(f"utils/example_models/{name}.bif.gz").read_bytes()
    return from_bif(gzip.decompress(packed).decode("utf-8"))


def from_bif(text: str) -> ExactNetwork:
    """The network that a text in the Bayesian interchange format describes."""
    _require_pgmpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgmpy is read with a newer pyparsing than it was written for
        from pgmpy.readwrite import BIFReader

        reader = BIFReader(string=text)
        tables = {table.variable: table for table in reader.get_model().get_cpds()}
    levels = {name: tuple(tables[name].state_names[name]) for name in reader.variable_names}
    conditionals = []
    for name, table in tables.items():
        _, *parents = table.variables
        if any(tuple(table.state_names[parent]) != levels[parent] for parent in parents):
            raise NetworkError(
                f"the levels of the parents of {name!r} are in another order than theirs."
            )
        conditionals.append(Conditional(name, tuple(parents), np.asarray(table.values, np.float64)))
    return ExactNetwork.of(levels, conditionals)


def _require_pgmpy() -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pgmpy.readwrite  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "published networks are read by pgmpy. "
            "Install it with `pip install 'eddi-benchmarks[networks]'`."
        ) from None
