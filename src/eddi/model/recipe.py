"""How a Partial VAE is built and trained: sizes, scaling, masks and objective in one place."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from eddi.errors import SchemaError
from eddi.table.coding import Scaling

SetEncoderName = Literal["zi", "zi-m", "pn", "pnp", "precision"]


@dataclass(frozen=True)
class Recipe:
    """Every choice of network and training, as plain facts.

    Args:
        scaling: how values are coded; "unit" also makes every variable but a binary one a number
            with a Gaussian likelihood, as in the paper.
        latent: size of z.
        identity: size of a variable's learned embedding (PN and PNP).
        offset: size of a variable's own part in its term's offset (PNP); 0 in the paper, whose term then
            says the same of all variables at x = 0; 1 in its authors' code.
        knots: of the curve each quantity has beside its line (PN and PNP), fewer in a small table; 0 for
            none, as in the paper.
        term: size of one variable's term in the code (PN and PNP).
        factors: number of precision-weighted factors (set encoder "precision").
        hidden: widths between the code and q(z | x_O); the decoder has them reversed. The first is
            the size of the code of ZI and ZI-m, whose first layer is their set encoder.
        tail: what is between: "plain" layers, or "residual" blocks, one for each width.
        noise: the Gaussian's sd in coded units, or None to learn one for each variable.
        noise_floor: no learned sd falls below this, in coded units, so that no density explodes.
        objective: "observed" is the paper's partial bound; "direct" also scores what is hidden, by
            beliefs that come straight from the tail, not through z.
        draws: latent draws a row and step that the objective takes.
        max_missing: hidden share of a training batch is uniform on [0, max_missing].
        rate_per: one missing rate for each "batch" (the paper) or each "row".
        weigh: whether an entry counts for those like it that are not known (`selection`), where the
            objective scores what is hidden.
        schedule: "constant" learning rate, or a "cycle" that warms up and falls to nothing.
        max_steps, batch_size, learning_rate, weight_decay: the optimiser's settings.
        passes: over a table that training makes, at least and at most, though that take more steps or
            fewer than max_steps; None takes those.
        clip: largest norm of a gradient; None lets it be.
        average: steps over which weights are averaged (exponentially) for use; 0 takes the last.
        validation: share of rows kept for early stopping; 0 trains for exactly max_steps.
        patience: evaluations without improvement before training stops.
    """

    scaling: Scaling
    latent: int
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
    patience: int

    def __post_init__(self) -> None:
        if self.tail == "residual" and len(set(self.hidden)) > 1:
            raise SchemaError(f"the blocks of a residual tail are equally wide, got {self.hidden}.")
        if self.draws < 1:
            raise SchemaError(f"draws must be at least 1, got {self.draws}.")


PAPER = Recipe(
    scaling="unit",
    latent=10,
    identity=10,
    offset=0,
    knots=0,
    term=20,
    factors=24,
    hidden=(100, 50),
    tail="plain",
    noise=0.1 * 2**0.5,  # the paper names no value; this is the one its experiments were run with
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
    patience=0,
)
"""Ma et al. (2019), the UCI column of its settings."""

DEFAULT = Recipe(
    scaling="standard",
    latent=16,
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
    patience=20,
)
"""The best decisions on validation rows we have found."""

LONGEST = 4  # times as many steps are made for a large table at most
SHORTEST = 8  # times fewer for a small one
ROWS_A_KNOT = 24  # with fewer a curve follows single rows


def for_rows(recipe: Recipe, n_rows: int) -> Recipe:
    """The recipe for a table of so many rows: longer for large ones, stiffer curves for small ones."""
    return replace(
        recipe, max_steps=_steps(recipe, n_rows), knots=min(recipe.knots, n_rows // ROWS_A_KNOT)
    )


def _steps(recipe: Recipe, n_rows: int) -> int:
    if recipe.passes is None:
        return recipe.max_steps
    fewest, most = (passes * n_rows // recipe.batch_size for passes in recipe.passes)
    fewest = min(fewest, LONGEST * recipe.max_steps)
    return max(fewest, min(recipe.max_steps, max(most, recipe.max_steps // SHORTEST)))


_NAMED: dict[str, Recipe] = {"default": DEFAULT, "paper": PAPER}


def resolve(recipe: str | Recipe) -> Recipe:
    """The recipe of that name, or the recipe itself."""
    if isinstance(recipe, Recipe):
        return recipe
    if recipe not in _NAMED:
        raise SchemaError(
            f"recipe must be one of {', '.join(map(repr, _NAMED))} or an eddi Recipe, got {recipe!r}."
        )
    return _NAMED[recipe]


def check_set_encoder(name: str) -> SetEncoderName:
    """``name`` if it is one of the four set encoders."""
    if name not in get_args(SetEncoderName):
        raise SchemaError(
            f"set_encoder must be one of {', '.join(map(repr, get_args(SetEncoderName)))}, got {name!r}."
        )
    return name  # type: ignore[return-value]
