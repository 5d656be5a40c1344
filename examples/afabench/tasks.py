"""Tables of AFABench: CUBE and CUBE-NM, drawn afresh, and three real ones, prepared as it does.

AFABench's features are complete numbers: levels are numbered in alphabetical order, missing values are
replaced by the mean, and every feature is scaled to mean 0 and standard deviation 1. Each instance of a
table splits its rows 60 : 20 : 20 into training, validation and test rows. We leave the validation rows
alone: EDDI takes its own from the training rows.
"""

import random
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from eddi_benchmarks.data import datasets
from eddi_benchmarks.data.synthetic import TARGET, cube, cube_nm

NOISE = 0.3  # standard deviation of informative features: AFABench's configuration of 2026
N_TEST = 1_000  # test rows of an artificial table; AFABench has 200
SEEDS = (42, 43, 44, 45, 46)  # of AFABench's instances
TRAIN_SHARE, VALIDATION_SHARE = 0.6, 0.2


@dataclass(frozen=True)
class Task:
    """Training and test rows of one instance of a table."""

    train_features: np.ndarray  # [rows, features]
    train_labels: np.ndarray  # [rows]
    test_features: np.ndarray
    test_labels: np.ndarray
    budgets: tuple[int, ...]  # numbers of selections after which AFABench evaluates
    has_f1: bool = False  # whether AFABench reports the macro F1 score instead of the accuracy
    groups: dict[str, tuple[int, ...]] | None = None  # features by grouped selection


def draw_mixture(mixture, budgets, n_train, seed):
    """A task with rows of a mixture."""
    table = mixture.draw_rows(n_train + N_TEST, np.random.default_rng([seed, n_train]))
    features, labels = table.drop(columns=TARGET).to_numpy(), table[TARGET].to_numpy()
    groups = {
        name: tuple(mixture.names.index(variable) for variable in variables)
        for name, variables in mixture.groups.items()
    }
    return Task(
        features[:n_train],
        labels[:n_train],
        features[n_train:],
        labels[n_train:],
        budgets,
        groups=groups,
    )


def split_table(read, budgets, has_f1, seed):
    """A task with the rows of a real table, whose target is the last column."""
    table = read()
    features = standardise(table.iloc[:, :-1])
    labels = table.iloc[:, -1].to_numpy().astype(np.int64)
    order = list(range(len(table)))
    random.Random(seed).shuffle(order)  # noqa: S311  # AFABench's own split
    n_train = int(TRAIN_SHARE * len(order))
    test_start = n_train + int(VALIDATION_SHARE * len(order))
    train, test = order[:n_train], order[test_start:]
    return Task(features[train], labels[train], features[test], labels[test], budgets, has_f1)


def standardise(columns):
    """Numbers without missing values, each column with mean 0 and standard deviation 1."""
    numbers = columns.apply(number_levels).astype(np.float64)
    numbers = numbers.fillna(numbers.mean())
    scale = numbers.std(ddof=0).replace(0, 1.0)
    return ((numbers - numbers.mean()) / scale).to_numpy().astype(np.float32)


def number_levels(column):
    """Text as the position of its level in alphabetical order; numbers as they are."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    codes = column.astype("category").cat.codes
    return codes.where(codes >= 0)


def read_ckd():
    table = pd.read_csv(datasets.find("ckd") / "ckd.csv")
    return table.assign(**{"class": (table["class"] == "ckd").astype(int)})


def read_bank():
    table = pd.read_csv(datasets.find("bank_marketing") / "bank_full.csv.gz")
    return table.assign(y=(table["y"] == "yes").astype(int))


def read_physionet():
    table = pd.read_csv(datasets.find("physionet2012") / "stays_mean.csv.gz")
    return table.drop(columns=["RecordID", "set"])


TASKS = {
    "cube-600": partial(draw_mixture, cube(NOISE), (3, 5, 10), 600),
    "cube-nm-600": partial(draw_mixture, cube_nm(5, NOISE), (3, 5, 7, 10, 14), 600),
    "cube-nm-2000": partial(draw_mixture, cube_nm(5, NOISE), (3, 5, 7, 10, 14), 2_000),
    "ckd": partial(split_table, read_ckd, (2, 4, 7), False),
    "bank_marketing": partial(split_table, read_bank, (2, 4, 7), True),
    "physionet": partial(split_table, read_physionet, (5, 10, 15), True),
}
"""For each table, a function from a seed to a task."""
