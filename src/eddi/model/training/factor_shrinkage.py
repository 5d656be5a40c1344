"""How much the correlations of the factor model are shrunk, chosen on rows that it was not fitted to."""

from collections.abc import Sequence

from eddi.model.network.network import FactorFit
from eddi.model.training.validation import Validation

MULTIPLES = (
    0.0,
    0.5,
    1.0,
    2.0,
)  # of the estimated share, which is an average over all pairs of variables


def choose_shrinkage(
    fits: Sequence[FactorFit | None], validations: Sequence[Validation | None]
) -> float:
    """The multiple of the estimated shrinkage with the best predictions of held-out rows.

    All ``fits`` are shrunk by it afterwards. The estimate is for all pairs of variables at once. A target
    that depends strongly on variables that do not depend on each other needs less, so others are tried.
    """
    pairs = [
        (fit, validation)
        for fit, validation in zip(fits, validations, strict=True)
        if fit is not None and validation is not None
    ]
    scores = {multiple: _score(pairs, multiple) for multiple in MULTIPLES if pairs}
    known = {multiple: score for multiple, score in scores.items() if score is not None}
    best = max(known, key=lambda multiple: known[multiple]) if known else 1.0
    for fit in fits:
        if fit is not None:
            fit.shrink(best)
    return best


def _score(pairs: Sequence[tuple[FactorFit, Validation]], multiple: float) -> float | None:
    """The mean score of held-out rows; None if nothing is hidden."""
    scores = []
    for fit, validation in pairs:
        fit.shrink(multiple)
        score = validation.score(fit.network)
        if score is not None:
            scores.append(score)
    return sum(scores) / len(scores) if scores else None
