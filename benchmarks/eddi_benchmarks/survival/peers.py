"""Peers of scikit-survival: penalised Cox regression, random survival forest, gradient boosting."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi_benchmarks.survival.design import Numbers, Split, outcome

PEERS = ("cox", "forest", "boosting")
PENALTIES = (1e-3, 0.1, 1.0, 10.0, 30.0, 100.0, 300.0)
FOREST_GRID: dict[str, list[Any]] = {"min_samples_leaf": [3, 6, 15, 30], "max_features": ["sqrt", 0.5]}
BOOSTING_GRID: dict[str, list[Any]] = {"max_depth": [1, 2, 3], "n_estimators": [50, 100, 200]}
MANY_ROWS = 3_000  # from which a forest has fewer and coarser trees, for speed
MAX_TUNING_ROWS = 1_000  # of a large table, for the choice of settings; the model has all rows


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


def _build(name: str, n_rows: int, seed: int) -> "_Tuned":
    if name == "cox":
        from sksurv.linear_model import CoxPHSurvivalAnalysis

        return _Tuned(CoxPHSurvivalAnalysis(), {"alpha": list(PENALTIES)}, seed)
    if name == "forest":
        from sksurv.ensemble import RandomSurvivalForest

        is_large = n_rows > MANY_ROWS
        forest = RandomSurvivalForest(n_estimators=100 if is_large else 200, random_state=seed)
        leaves = [15, 30, 60] if is_large else FOREST_GRID["min_samples_leaf"]
        return _Tuned(forest, {**FOREST_GRID, "min_samples_leaf": leaves}, seed)
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    boosting = GradientBoostingSurvivalAnalysis(learning_rate=0.1, subsample=0.5, random_state=seed)
    return _Tuned(boosting, BOOSTING_GRID, seed)


@dataclass(frozen=True)
class _Tuned:
    """A model whose settings are chosen by three-fold cross-validation of the concordance."""

    model: Any
    grid: dict[str, list[Any]]
    seed: int

    def fit(self, columns: Numbers, target: Any) -> Any:
        """The model with the best settings."""
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV, KFold

        rows = np.random.default_rng(self.seed).permutation(len(columns))[:MAX_TUNING_ROWS]
        folds = KFold(3, shuffle=True, random_state=self.seed)
        search = GridSearchCV(self.model, self.grid, cv=folds, error_score=0.5, refit=False)
        search.fit(columns[rows], target[rows])
        return clone(self.model).set_params(**search.best_params_).fit(columns, target)


def _evaluate(functions: Any, grid: Numbers) -> Numbers:
    low, high = functions[0].domain
    return np.stack([function(np.clip(grid, low, high)) for function in functions])
