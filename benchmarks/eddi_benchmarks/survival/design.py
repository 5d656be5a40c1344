"""A table of covariates as columns of numbers for peers that need complete rows."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
OUTCOME = ["time", "event"]


@dataclass(frozen=True)
class Split:
    """Training and test rows of a table with the columns ``time`` and ``event``."""

    train: pd.DataFrame
    test: pd.DataFrame

    @classmethod
    def draw(cls, table: pd.DataFrame, *, seed: int, test_share: float, max_train: int) -> "Split":
        """A random split; at most ``max_train`` training rows if that is above 0."""
        order = np.random.default_rng(1000 + seed).permutation(len(table))
        n_test = round(test_share * len(table))
        n_train = len(table) - n_test if max_train <= 0 else min(max_train, len(table) - n_test)
        train, test = table.iloc[order[n_test : n_test + n_train]], table.iloc[order[:n_test]]
        return cls(train.reset_index(drop=True), test.reset_index(drop=True))

    def columns(self) -> dict[str, tuple[Numbers, Numbers]]:
        """Standardised columns of each covariate in training and test rows, indicators for categories.

        Missing numbers are replaced by the median of the training rows; missing categories have no indicator.
        """
        parts = {}
        for name in self.train.columns.drop(OUTCOME):
            both = pd.concat([self.train[name], self.test[name]], ignore_index=True)
            is_number = pd.api.types.is_numeric_dtype(both)
            wide = both.to_frame() if is_number else pd.get_dummies(both, drop_first=True, dtype=float)
            values = wide.to_numpy(dtype=float)
            train, test = values[: len(self.train)], values[len(self.train) :]
            middle = np.nan_to_num(np.nanmedian(train, axis=0))
            train, test = (np.where(np.isnan(part), middle, part) for part in (train, test))
            scale = np.where(train.std(0) > 0, train.std(0), 1.0)
            parts[name] = ((train - train.mean(0)) / scale, (test - train.mean(0)) / scale)
        return parts


def outcome(table: pd.DataFrame) -> tuple[Numbers, Numbers]:
    """Times and events of rows."""
    return table.time.to_numpy(dtype=float), table.event.to_numpy(dtype=float)
