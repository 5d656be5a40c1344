"""Ask only about the variables that a sparse linear regression selects (LASSO), a baseline."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import SchemaError, TableError, TargetError
from eddi.model.base import Model, ModelSource
from eddi.strategy.random import Random
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

N_FOLDS = 5  # of the cross-validation that chooses the penalty
N_PENALTIES = 10  # tried for a target with levels; each takes one fit per fold
MAX_ITERATIONS = 10_000  # of coordinate descent, far beyond what scaled columns need
MAX_LOGISTIC_ITERATIONS = 200  # of the logistic regression

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Lasso:
    """Ask about the variables that an L1 regression of the target selects, in random order.

    All other questions score minus infinity: they are never asked. The regression (Tibshirani 1996) needs
    complete rows, unlike EDDI. This is the paper's LASSO baseline. Learn one with `Lasso.learn`, or name
    the variables by hand.
    """

    variables: tuple[str, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(self.variables))

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        for name in self.variables:
            if name not in model.schema.names:
                raise SchemaError(f"the LASSO names {name!r}, which is not a variable of this model.")
        is_selected = [
            bool(set(question.reveals) & set(self.variables)) for question in model.schema.questions
        ]
        order = Random(self.seed).score(model, evidence, target)  # [rows, questions]
        return order.masked_fill(~torch.tensor(is_selected, dtype=torch.bool), -torch.inf)

    @classmethod
    def learn(
        cls, model: ModelSource, table: Any, target: str | Sequence[str] | None = None, *, seed: int = 0
    ) -> "Lasso":
        """The variables that an L1 regression on the rows of ``table`` selects.

        Columns are coded as the model codes them and scaled to unit variance. Missing values are filled
        with the model's best guess; rows without a target value are left out. The penalty minimises the
        cross-validated loss. A target with levels uses a logistic regression.
        """
        fitted = model.fitted()
        schema = fitted.schema
        names = schema.target_names(fitted.target if target is None else target)
        if len(names) != 1:
            raise TargetError(
                f"a LASSO regresses one target, got {', '.join(map(repr, names)) or 'none'}. "
                "Name one with target=."
            )
        position = schema.position(names[0])
        evidence = fitted.evidence(table)
        guesses = fitted.coding.encode(fitted.best_guesses(evidence)).values
        filled = np.where(evidence.observed, evidence.values, guesses)
        values = filled[evidence.observed[:, position]].astype(np.float64)
        others = [place for place in range(len(schema.variables)) if place != position]
        parts = [_columns(values[:, place], schema.variables[place].kind) for place in others]
        owner = np.repeat(others, [part.shape[1] for part in parts])  # the variable of each column
        has_levels = schema[names[0]].kind.has_levels
        weights = _weights(np.hstack(parts), values[:, position], has_levels=has_levels, seed=seed)
        selected = sorted({int(place) for place in owner[weights > 0]})
        return cls(tuple(schema.names[place] for place in selected), seed)


def _columns(values: Numbers, kind: Kind) -> Numbers:
    """A variable as regression columns: one column, or one per level of a category."""
    if kind is not Kind.CATEGORY:
        return values[:, None]
    return np.asarray(values[:, None] == np.unique(values), dtype=np.float64)


def _weights(columns: Numbers, answers: Numbers, *, has_levels: bool, seed: int) -> Numbers:
    """Absolute coefficient of each column [columns]; 0 if the penalty removed it."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    common = _common(answers) if has_levels else np.ones(len(answers), dtype=bool)
    if common.sum() < N_FOLDS:
        raise TableError(
            f"a LASSO needs at least {N_FOLDS} rows with a target value, got {common.sum()}."
        )
    columns, answers = columns[common], answers[common]
    if len(np.unique(answers)) == 1:  # nothing to explain, so no variable is selected
        return np.zeros(columns.shape[1])
    regression = _logistic(seed) if has_levels else _linear(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # for penalties far too weak to be chosen
        fitted = make_pipeline(StandardScaler(), regression).fit(columns, _labels(answers, has_levels))
    return np.asarray(np.abs(np.atleast_2d(fitted[-1].coef_)).max(0))


def _common(answers: Numbers) -> NDArray[np.bool_]:
    """Rows whose level is frequent enough to appear in every fold."""
    _, level, counts = np.unique(answers, return_inverse=True, return_counts=True)
    return np.asarray(counts[level] >= N_FOLDS)


def _labels(answers: Numbers, has_levels: bool) -> NDArray[Any]:
    return np.unique(answers, return_inverse=True)[1] if has_levels else answers


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    return LassoCV(cv=KFold(N_FOLDS, shuffle=True, random_state=seed), max_iter=MAX_ITERATIONS)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import StratifiedKFold

    # scikit-learn 1.8 replaced the penalty's name by the share of L1.
    renamed = "use_legacy_attributes" in LogisticRegressionCV().get_params()
    l1 = {"l1_ratios": (1.0,), "use_legacy_attributes": False} if renamed else {"penalty": "l1"}
    return LogisticRegressionCV(
        Cs=N_PENALTIES,
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed),
        solver="saga",
        scoring="neg_log_loss",
        max_iter=MAX_LOGISTIC_ITERATIONS,
        random_state=seed,
        **l1,
    )
