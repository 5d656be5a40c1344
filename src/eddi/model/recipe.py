"""Recipes: all settings of the network and its training. The default one, and that of the paper."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from eddi.errors import SchemaError
from eddi.table.coding import Scaling

SetEncoderName = Literal["zi", "zi-m", "pn", "pnp", "precision"]


@dataclass(frozen=True)
class Recipe:
    """All settings of a network and its training.

    Args:
        scaling: how values are coded. With "unit", every variable except a binary one is a number with a
            Gaussian likelihood, as in the paper.
        latent: size of z.
        set_encoder: the set encoder that is used unless another one is given.
        identity: size of a variable's learned embedding (PN and PNP).
        offset: size of a second embedding, from which a variable's offset is computed (PNP). It is 0 in
            the paper, where all variables have the same term at x = 0, and 1 in the authors' code.
        knots: maximum number of knots of the spline that each quantity has in addition to its linear
            term (PN and PNP); small tables have fewer. 0 for no splines, as in the paper.
        term: size of a variable's term in the code (PN and PNP).
        factors: maximum number of precision-weighted factors (set encoder "precision").
        hidden: widths of the layers between the code and q(z | x_O); the decoder has them in reverse
            order. With ZI and ZI-m, whose set encoder is the first layer, the first width is that of
            the code.
        tail: the layers between the code and q(z | x_O): "plain", or "residual" blocks, one per width.
        noise: standard deviation of the Gaussian likelihood in coded units; None to learn it for each
            variable.
        noise_floor: lower bound of learned standard deviations in coded units, so that densities stay
            finite.
        objective: "observed" is the partial bound of the paper. "direct" also scores hidden entries, with
            marginal predictions that do not depend on z.
        draws: number of draws of z per row and step.
        max_missing: the missing rate of training rows is uniform on [0, max_missing].
        rate_per: whether a missing rate is drawn for each "batch" (as in the paper) or each "row".
        weigh: whether entries are weighted by their inverse propensity; see `training.missingness`.
        schedule: a "constant" learning rate, or a "cycle" that warms up and falls to zero.
        max_steps: number of training steps.
        passes: minimum and maximum number of passes over the table, which adapt max_steps to its size;
            None for exactly max_steps.
        batch_size: rows per step.
        learning_rate: of Adam; the highest one of a cycle.
        weight_decay: of AdamW.
        clip: maximum norm of a gradient; None for no clipping.
        average: the weights in use are an exponential average over about this many steps; 0 for the
            last weights.
        validation: share of rows held out for early stopping; 0 for none.
        folds: number of cross-validation folds for tables too small to hold rows out; 0 for none.
        patience: number of validations without improvement after which training stops.
    """

    scaling: Scaling
    latent: int
    set_encoder: SetEncoderName
    identity: int
    offset: int
    knots: int
    term: int
    factors: int
    hidden: tuple[int, ...]
    tail: Literal["plain", "residual"]
    noise: float | None
    noise_floor: float
    objective: Literal["observed", "direct"]
    draws: int
    max_missing: float
    rate_per: Literal["batch", "row"]
    weigh: bool
    schedule: Literal["constant", "cycle"]
    max_steps: int
    passes: tuple[int, int] | None
    batch_size: int
    learning_rate: float
    weight_decay: float
    clip: float | None
    average: int
    validation: float
    folds: int
    patience: int

    def __post_init__(self) -> None:
        if self.tail == "residual" and len(set(self.hidden)) > 1:
            raise SchemaError(
                f"all layers of a residual tail must have the same width, got hidden={self.hidden}."
            )
        if self.draws < 1:
            raise SchemaError(f"draws must be at least 1, got {self.draws}.")


PAPER = Recipe(
    scaling="unit",
    latent=10,
    set_encoder="pnp",
    identity=10,
    offset=0,
    knots=0,
    term=20,
    factors=24,
    hidden=(100, 50),
    tail="plain",
    noise=0.1 * 2**0.5,  # not given in the paper; this is the value of its experiments
    noise_floor=0.0,
    objective="observed",
    draws=1,
    max_missing=0.7,
    rate_per="batch",
    weigh=False,
    schedule="constant",
    max_steps=3000,
    passes=None,
    batch_size=100,
    learning_rate=1e-3,
    weight_decay=0.0,
    clip=None,
    average=0,
    validation=0.0,
    folds=0,
    patience=0,
)
"""Ma et al. (2019), with the settings of its UCI experiments."""

DEFAULT = Recipe(
    scaling="standard",
    latent=16,
    set_encoder="precision",
    identity=64,
    offset=64,
    knots=32,
    term=128,
    factors=24,
    hidden=(192, 192),
    tail="residual",
    noise=None,
    noise_floor=0.02,
    objective="direct",
    draws=1,
    max_missing=1.0,
    rate_per="row",
    weigh=True,
    schedule="cycle",
    max_steps=4000,
    passes=(50, 1000),
    batch_size=128,
    learning_rate=2e-3,
    weight_decay=0.1,
    clip=1.0,
    average=300,
    validation=0.1,
    folds=5,
    patience=20,
)
"""The recipe with the best decisions on validation rows that we have found."""

MAX_STEPS_FACTOR = 4  # training on a large table takes at most this many times max_steps
MIN_STEPS_DIVISOR = 4  # training on a small table takes at least max_steps divided by this
NO_TARGET_FACTOR = 2  # times the steps if no target is declared, since all variables are targets then
MIN_HOLD_OUT_ROWS = 300  # complete rows; tables with less are cross-validated
SMALL_TERM, SMALL_HIDDEN, SMALL_BATCH = 64, 96, 64  # sizes for cross-validated tables
# Rounds without improvement after which cross-validation stops. Its scores are averages over folds and
# over steps, and so smooth that they did not improve again after more than two worse rounds: on 242 rows
# of boston, yacht, energy and the Cleveland heart table, and on 13 rows.
SMALL_PATIENCE = 6
ROWS_PER_KNOT = 24  # with fewer rows per knot, a spline fits single rows


def adapt_to_rows(
    recipe: Recipe, n_rows: int, *, n_complete: int | None = None, has_target: bool = True
) -> Recipe:
    """The recipe for a table of ``n_rows`` rows, with as many values as ``n_complete`` complete rows.

    Large tables and those without a declared target have more steps, small ones fewer knots. Tables that
    are too small to hold rows out are cross-validated, with a narrower network and smaller batches, which
    are as good and faster.
    """
    knots, n_steps = min(recipe.knots, n_rows // ROWS_PER_KNOT), _count_steps(recipe, n_rows)
    adapted = replace(recipe, max_steps=n_steps, knots=knots)
    n_complete = n_rows if n_complete is None else n_complete
    if not has_target and recipe.passes is not None and n_complete >= MIN_HOLD_OUT_ROWS:
        return replace(adapted, max_steps=NO_TARGET_FACTOR * n_steps)
    if not is_cross_validated(recipe, n_complete):
        return adapted
    return replace(
        adapted,
        term=min(recipe.term, SMALL_TERM),
        hidden=tuple(min(width, SMALL_HIDDEN) for width in recipe.hidden),
        batch_size=min(recipe.batch_size, SMALL_BATCH),
        patience=min(recipe.patience, SMALL_PATIENCE),
    )


def is_cross_validated(recipe: Recipe, n_complete: int) -> bool:
    """Whether a table is cross-validated, because it is too small to hold rows out.

    It counts as many rows as there would be if they were complete: an interview with half of the answers
    tells half as much.
    """
    return recipe.folds > 0 and n_complete < MIN_HOLD_OUT_ROWS


def _count_steps(recipe: Recipe, n_rows: int) -> int:
    if recipe.passes is None:
        return recipe.max_steps
    min_steps, max_steps = (n_passes * n_rows // recipe.batch_size for n_passes in recipe.passes)
    min_steps = min(min_steps, MAX_STEPS_FACTOR * recipe.max_steps)
    max_steps = max(max_steps, recipe.max_steps // MIN_STEPS_DIVISOR)
    return max(min_steps, min(recipe.max_steps, max_steps))


_RECIPES: dict[str, Recipe] = {"default": DEFAULT, "paper": PAPER}


def resolve(recipe: str | Recipe) -> Recipe:
    """Return the recipe of this name, or the recipe itself."""
    if isinstance(recipe, Recipe):
        return recipe
    if recipe not in _RECIPES:
        raise SchemaError(
            f"recipe must be one of {', '.join(map(repr, _RECIPES))} or a Recipe, got {recipe!r}."
        )
    return _RECIPES[recipe]


def check_set_encoder(name: str) -> SetEncoderName:
    """Return ``name`` if it is the name of a set encoder."""
    if name not in get_args(SetEncoderName):
        raise SchemaError(
            f"set_encoder must be one of {', '.join(map(repr, get_args(SetEncoderName)))}, got {name!r}."
        )
    return name  # type: ignore[return-value]
