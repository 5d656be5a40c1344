"""Rows drawn from prior beliefs, so that a model can start without data.

A row draws its own strengths of the relations, and its own middle and spread of each quantity. A model
that is fitted to many such rows therefore is uncertain where the beliefs are. The relations are those of
a Gaussian copula: correlated normal numbers, whose ranks become the ranks of the values.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from eddi.errors import SchemaError
from eddi.table.beliefs.statements import Belief
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

Numbers = NDArray[np.float64]

# The range of the correlation behind each strength. Cohen (1988) calls 0.1 small, 0.3 medium, 0.5 large.
CORRELATIONS = {"weak": (0.0, 0.3), "moderate": (0.2, 0.5), "strong": (0.4, 0.8)}
MIN_EIGENVALUE = 0.05  # of a correlation matrix; contradictory relations are weakened until it has this
MATRIX_CELLS = (
    4_000_000  # numbers of all correlation matrices; rows share some of them if they are large
)
RANGE_IN_SPREADS = 4.0  # if only the range of a quantity is known
MIDDLE_ERROR, SPREAD_ERROR = 0.3, 0.2  # of stated values: in spreads, and on the log scale
MIN_RANK = 1e-6  # keeps quantiles finite


def draw_prior_rows(
    schema: Schema, n_rows: int, *, seed: int, numbers: Numbers | None = None
) -> Numbers:
    """Draw rows from the beliefs of a schema, in the units of the table [rows, variables].

    Quantities that the schema does not describe have the observed values of ``numbers``, a table with NaN
    where nothing is observed [table rows, variables].

    Raises:
        SchemaError: nothing is known about the values of a quantity.
    """
    random = np.random.default_rng([seed, len(schema.variables)])
    normal = random.standard_normal((n_rows, len(schema.variables)))
    if related := find_related(schema):
        normal[:, related] = _correlate(schema, related, normal[:, related], random)
    ranks = ndtr(normal).clip(MIN_RANK, 1 - MIN_RANK)
    beliefs = {belief.variable: belief for belief in schema.beliefs}
    columns = []
    for place, variable in enumerate(schema.variables):
        belief = beliefs.get(variable.name, Belief(variable.name))
        observed = np.zeros(0) if numbers is None else numbers[~np.isnan(numbers[:, place]), place]
        if len(observed) and not (variable.kind.has_levels or _is_described(variable, belief)):
            columns.append(np.sort(observed)[(ranks[:, place] * len(observed)).astype(int)])
        else:
            columns.append(_values(variable, belief, ranks[:, place], random))
    return np.stack(columns, axis=1)


def find_related(schema: Schema) -> list[int]:
    """The positions of variables with a relation."""
    names = {name for relation in schema.relations for name in (relation.of, relation.to)}
    return sorted(map(schema.position, names))


def _correlate(
    schema: Schema, related: list[int], normal: Numbers, random: np.random.Generator
) -> Numbers:
    """Give independent normal numbers [rows, related] the correlations of the relations."""
    n_rows, n_related = normal.shape
    n_matrices = int(np.clip(MATRIX_CELLS // n_related**2, 1, n_rows))
    correlations = np.zeros((n_matrices, n_related, n_related))
    places = {position: place for place, position in enumerate(related)}
    for relation in schema.relations:
        sign = 1 if relation.effect == "raises" else -1
        drawn = sign * random.uniform(*CORRELATIONS[relation.strength], n_matrices)
        of, to = places[schema.position(relation.of)], places[schema.position(relation.to)]
        correlations[:, of, to] = correlations[:, to, of] = drawn
    lowest = np.linalg.eigvalsh(correlations)[:, 0]
    weakening = np.minimum(1, (1 - MIN_EIGENVALUE) / np.maximum(-lowest, MIN_EIGENVALUE))
    matrices = np.eye(n_related) + weakening[:, None, None] * correlations
    factors = np.linalg.cholesky(matrices)[np.arange(n_rows) % n_matrices]
    return np.asarray(np.einsum("rij,rj->ri", factors, normal))


def _values(variable: Variable, belief: Belief, ranks: Numbers, random: np.random.Generator) -> Numbers:
    """The values of a variable at these ranks in (0, 1) [rows]."""
    if variable.kind.has_levels:
        shares = np.array(belief.shares or [1 / variable.n_levels] * variable.n_levels)
        return np.searchsorted(shares.cumsum()[:-1] / shares.sum(), ranks, side="right").astype(float)
    middle, spread = _describe_quantity(variable, belief)
    if not _is_described(variable, belief):
        raise SchemaError(
            f"nothing is known about the values of {variable.name!r}. Give low and high in [variables], or "
            "typical and spread in [beliefs]."
        )
    low, n_rows = _lowest(variable), len(ranks)
    middles = middle + MIDDLE_ERROR * spread * random.standard_normal(n_rows)
    spreads = spread * np.exp(SPREAD_ERROR * random.standard_normal(n_rows))
    lowest, highest = (ndtr((end - middles) / spreads) for end in (low, variable.high_or_infinite))
    levels = (lowest + ranks * (highest - lowest)).clip(MIN_RANK, 1 - MIN_RANK)
    values = np.clip(middles + spreads * ndtri(levels), low, variable.high_or_infinite)
    return np.asarray(values.round() if variable.kind is Kind.COUNT else values)


def _describe_quantity(variable: Variable, belief: Belief) -> tuple[float, float]:
    """The middle and the spread of a quantity, as stated or from its range; not finite if unknown."""
    low = _lowest(variable)
    width = variable.high_or_infinite - low
    middle = low + width / 2 if belief.typical is None else belief.typical
    spread = width / RANGE_IN_SPREADS if belief.spread is None else belief.spread
    return middle, max(spread, float(np.finfo(np.float32).tiny))


def _is_described(variable: Variable, belief: Belief) -> bool:
    return bool(np.isfinite(_describe_quantity(variable, belief)).all())


def _lowest(variable: Variable) -> float:
    low = variable.low_or_infinite
    return max(0.0, low) if variable.kind is Kind.COUNT else low
