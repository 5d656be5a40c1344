"""Peers of scikit-survival: penalised Cox regression, random survival forest, gradient boosting."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eddi_benchmarks.survival.design import Numbers, Split, outcome

PEERS = ("cox", "forest", "boosting")
PENALTIES = (1e-3, 0.1, 1.0, 10.0, 30.0, 100.0, 300.0)
MANY_ROWS = 3_000  # from which a forest has fewer and coarser trees, for speed


def fit_peer(name: str, split: Split, *, seed: int) -> tuple[Numbers, Callable[[Numbers], Numbers]]:
    """Scores of the test rows, high for early events, and their survival at times [rows, times]."""
    from sksurv.util import Surv

    columns = split.columns().values()
    train, test = (np.concatenate([pair[side] for pair in columns], axis=1) for side in (0, 1))
    times, events = outcome(split.train)
    target = Surv.from_arrays(events == 1, times)
    model = _build(name, len(train), seed).fit(train, target)
    functions = model.predict_survival_function(test)
    return model.predict(test), lambda grid: _evaluate(functions, grid)


def _build(name: str, n_rows: int, seed: int) -> Any:
    if name == "cox":
        return _build_cox(seed)
    if name == "forest":
        from sksurv.ensemble import RandomSurvivalForest

        is_large = n_rows > MANY_ROWS
        return RandomSurvivalForest(
            n_estimators=100 if is_large else 300,
            min_samples_leaf=30 if is_large else 15,
            max_features="sqrt",
            random_state=seed,
        )
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    return GradientBoostingSurvivalAnalysis(
        n_estimators=100, learning_rate=0.1, max_depth=3, subsample=0.5, random_state=seed
    )


def _build_cox(seed: int) -> Any:
    """A ridge penalty that is chosen by cross-validation."""
    from sklearn.model_selection import GridSearchCV, KFold
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    folds = KFold(5, shuffle=True, random_state=seed)
    grid = {"alpha": list(PENALTIES)}
    return _Fitted(GridSearchCV(CoxPHSurvivalAnalysis(), grid, cv=folds, error_score=0.5))


class _Fitted:
    """A search whose best model makes the predictions."""

    def __init__(self, search: Any) -> None:
        self.search = search

    def fit(self, columns: Numbers, target: Any) -> Any:
        """The best model."""
        return self.search.fit(columns, target).best_estimator_


def _evaluate(functions: Any, grid: Numbers) -> Numbers:
    low, high = functions[0].domain
    return np.stack([function(np.clip(grid, low, high)) for function in functions])
