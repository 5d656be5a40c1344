"""Ask only what a sparse linear regression keeps (LASSO), a baseline that knows whole rows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import SchemaError, TableError, TargetError
from eddi.model.base import Model
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.random import Random
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

FOLDS = 5  # of the cross-validation that chooses the penalty
N_PENALTIES = 10  # tried for a target of levels, each of which takes a fit a fold
MAX_ROUNDS = 10_000  # of coordinate descent, far beyond what scaled columns need
MAX_SWEEPS = 200  # over all rows, of the logistic regression

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Lasso:
    """The variables an L1 regression of the target keeps, in an order random per row; no others.

    Questions that reveal none of them score minus infinity: they are never asked, and the interview ends
    before them. The regression (Tibshirani 1996) needs rows that are wholly known, as EDDI does not.
    This is the paper's LASSO baseline. Learn one with `Lasso.learn`, or name the variables by hand.
    """

    variables: tuple[str, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(self.variables))

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        for name in self.variables:
            if name not in model.schema_.names:
                raise SchemaError(f"the LASSO keeps {name!r}, which is not a variable of this model.")
        kept = [
            bool(set(question.reveals) & set(self.variables)) for question in model.schema_.questions
        ]
        order = Random(self.seed).score(model, evidence, target)  # [rows, questions]
        return order.masked_fill(~torch.tensor(kept, dtype=torch.bool), -torch.inf)

    @classmethod
    def learn(
        cls, model: PartialVAE, table: Any, target: str | Sequence[str] | None = None, *, seed: int = 0
    ) -> "Lasso":
        """The variables that an L1 regression on the rows of ``table`` keeps.

        Columns are coded as the model codes them and scaled to one spread. Holes are filled with the
        model's best guess; rows whose target is not known are left out. The penalty is the one with the
        least cross-validated loss. A target of levels is regressed by a logistic regression.
        """
        schema = model.schema_
        goal = schema.target_names(model.target_ if target is None else target)
        if len(goal) != 1:
            raise TargetError(
                f"a LASSO regresses one target, got {', '.join(map(repr, goal)) or 'none'}. "
                "Name one with target=."
            )
        position = schema.position(goal[0])
        known = model.evidence(table).observed[:, position]
        values = model.evidence(model.transform(table)).values[known].astype(np.float64)
        others = [place for place in range(len(schema.variables)) if place != position]
        parts = [_columns(values[:, place], schema.variables[place].kind) for place in others]
        owner = np.repeat(others, [part.shape[1] for part in parts])  # whose column each is
        has_levels = schema[goal[0]].kind.has_levels
        weights = _weights(np.hstack(parts), values[:, position], has_levels=has_levels, seed=seed)
        kept = sorted({int(place) for place in owner[weights > 0]})
        return cls(tuple(schema.names[place] for place in kept), seed)


def _columns(values: Numbers, kind: Kind) -> Numbers:
    """A variable as a regression sees it: one column, or one a level where levels have no order."""
    if kind is not Kind.CATEGORY:
        return values[:, None]
    return np.asarray(values[:, None] == np.unique(values), dtype=np.float64)


def _weights(columns: Numbers, answers: Numbers, *, has_levels: bool, seed: int) -> Numbers:
    """The size of each column's coefficient [columns]; 0 where the penalty has removed it."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    common = _common(answers) if has_levels else np.ones(len(answers), dtype=bool)
    if common.sum() < FOLDS:
        raise TableError(
            f"a LASSO needs at least {FOLDS} rows whose target is known, got {common.sum()}."
        )
    columns, answers = columns[common], answers[common]
    if len(np.unique(answers)) == 1:  # nothing to explain, so nothing is kept
        return np.zeros(columns.shape[1])
    regression = _logistic(seed) if has_levels else _linear(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of penalties far too weak to be chosen
        fitted = make_pipeline(StandardScaler(), regression).fit(columns, _labels(answers, has_levels))
    return np.asarray(np.abs(np.atleast_2d(fitted[-1].coef_)).max(0))


def _common(answers: Numbers) -> NDArray[np.bool_]:
    """Rows whose level is frequent enough to be in every fold."""
    _, level, counts = np.unique(answers, return_inverse=True, return_counts=True)
    return np.asarray(counts[level] >= FOLDS)


def _labels(answers: Numbers, has_levels: bool) -> NDArray[Any]:
    return np.unique(answers, return_inverse=True)[1] if has_levels else answers


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    return LassoCV(cv=KFold(FOLDS, shuffle=True, random_state=seed), max_iter=MAX_ROUNDS)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import StratifiedKFold

    # scikit-learn 1.8 took the penalty's name away; its share of L1 says the same.
    renamed = "use_legacy_attributes" in LogisticRegressionCV().get_params()
    l1 = {"l1_ratios": (1.0,), "use_legacy_attributes": False} if renamed else {"penalty": "l1"}
    return LogisticRegressionCV(
        Cs=N_PENALTIES,
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=seed),
        solver="saga",
        scoring="neg_log_loss",
        max_iter=MAX_SWEEPS,
        random_state=seed,
        **l1,
    )
