"""A dataset as a decision problem: training and held-out rows, questions and a target."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, train_test_split

import eddi
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data.synthetic import MIXTURES, SYN, GaussianMixture, draw_syn_rows
from eddi_benchmarks.harness.experiment import ExperimentError
from eddi_benchmarks.harness.run_result import Settings

FROM_SCIKIT_LEARN = ("breast_cancer", "digits")
REAL_TARGET_TEST_SHARE, CLASS_TEST_SHARE = 0.1, 0.2
MAX_ARTIFICIAL_ROWS = {"xor": 4_000, "context": 4_000}  # training rows of easy mixtures
MAX_QUESTIONS = {"cube": 10, "cube_nm": 10}  # if fewer than in the settings
HEART_COSTS = {
    **dict.fromkeys(("age", "sex", "cp", "trestbps"), 1.0),
    **{"chol": 7.27, "fbs": 5.20, "restecg": 15.50, "thalach": 102.90, "exang": 87.30},
    **{"oldpeak": 87.30, "slope": 87.30, "ca": 100.90, "thal": 102.90},
}
"""In Canadian dollars: the fees of Ontario's health insurance in 1992, from Turney (1995)."""
COSTS = {"heart_cleveland": HEART_COSTS}
VARIES_IN_GROUP = {"concrete": ("age",), "wine_red": ()}
"""Columns, besides the target, that differ within a group of rows: a mixture of concrete was measured at
several ages, and some wines are listed several times."""


@dataclass(frozen=True)
class Problem:
    """Rows to learn from, rows to interview, and the target."""

    train: pd.DataFrame
    test: pd.DataFrame
    schema: eddi.Schema
    target: str
    n_steps: int  # maximum number of questions per row
    unit: float = 1.0  # of errors of a real-valued target: its range in all training rows of the split
    mixture: GaussianMixture | None = None  # that the rows were drawn from, if known

    @property
    def is_class(self) -> bool:
        return self.schema[self.target].kind.has_levels

    @property
    def has_costs(self) -> bool:
        return len(set(self.schema.costs)) > 1


def required_datasets(name: str) -> tuple[str, ...]:
    """The dataset of a problem; none if it is artificial or comes with scikit-learn."""
    return () if name in {*MIXTURES, *SYN, *FROM_SCIKIT_LEARN} else (name,)


def load_problem(settings: Settings) -> Problem:
    """The problem of these settings, split by their seed."""
    name, seed = str(settings["dataset"]), int(settings["seed"])
    is_real = name in datasets.UCI
    max_train = int(settings["max_train"])
    if name in MIXTURES or name in SYN:
        n_train = min(max_train, MAX_ARTIFICIAL_ROWS.get(name, max_train))
        train, test = draw_artificial_rows(name, n_train, settings)
    else:
        table = read_table(name)
        groups = find_groups(name, table) if settings.get("keep_groups") else None
        train, test = split(table, seed, is_real=is_real, groups=groups)
    unit = float(np.ptp(train.iloc[:, -1])) if is_real else 1.0  # the same for every `max_train`
    if len(train) > max_train:
        train = train.sample(max_train, random_state=seed)
    schema = make_schema(name, pd.concat([train, test]))
    max_test = int(settings["max_test" if is_real else "max_test_classes"])
    max_questions = MAX_QUESTIONS.get(name, int(settings["max_questions"]))
    return Problem(
        train,
        test.head(max_test),
        schema,
        target=str(train.columns[-1]),
        n_steps=min(max_questions, len(schema.questions) - 1),
        unit=unit,
        mixture=MIXTURES[name]() if name in MIXTURES else None,
    )


def read_table(name: str) -> pd.DataFrame:
    """A real dataset, its target last."""
    if name not in FROM_SCIKIT_LEARN:
        table: pd.DataFrame = datasets.load(name).to_pandas()
        return table
    from sklearn.datasets import load_breast_cancer, load_digits

    load: Any = {"breast_cancer": load_breast_cancer, "digits": load_digits}[name]
    frame: pd.DataFrame = load(as_frame=True).frame
    return frame


def find_groups(name: str, table: pd.DataFrame) -> "pd.Series[int]":
    """The number of the group of each row: rows that describe the same thing.

    Raises:
        ExperimentError: the rows of this dataset have no groups.
    """
    if name not in VARIES_IN_GROUP:
        known = ", ".join(VARIES_IN_GROUP)
        raise ExperimentError(f"{name} has no groups of rows. Datasets with groups are {known}.")
    keys = [column for column in table.columns[:-1] if column not in VARIES_IN_GROUP[name]]
    return table.groupby(keys, sort=False).ngroup()


def split(
    table: pd.DataFrame, seed: int, *, is_real: bool, groups: "pd.Series[int] | None" = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and held-out rows; stratified unless the target is real-valued.

    With groups, all rows of a group are on the same side.
    """
    test_share = REAL_TARGET_TEST_SHARE if is_real else CLASS_TEST_SHARE
    if groups is not None:
        splitter = GroupShuffleSplit(1, test_size=test_share, random_state=seed)
        train_places, test_places = next(splitter.split(table, groups=groups))
        test = table.iloc[test_places].sample(frac=1, random_state=seed)
        return table.iloc[train_places], test
    classes = None if is_real else table.iloc[:, -1]
    train, test = train_test_split(table, test_size=test_share, random_state=seed, stratify=classes)
    return train, test


def draw_artificial_rows(
    name: str, n_train: int, settings: Settings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows of an artificial table, which depend on the seed."""
    random = np.random.default_rng([int(settings["seed"]), 7])
    n_rows = n_train + int(settings["max_test_classes"])
    if name in MIXTURES:
        table = MIXTURES[name]().draw_rows(n_rows, random)
    else:
        table = draw_syn_rows(name, n_rows, random)
    return table.iloc[:n_train], table.iloc[n_train:]


def make_schema(name: str, table: pd.DataFrame) -> eddi.Schema:
    """The inferred schema with the target, groups and costs of the problem."""
    target = str(table.columns[-1])
    schema = eddi.Schema.infer(table, targets=[target])
    schema = schema.with_variable(target_variable(table[target], is_real=name in datasets.UCI))
    if name in MIXTURES:
        for question, reveals in MIXTURES[name]().groups.items():
            schema = schema.with_question(question, reveals=reveals)
    for question, cost in COSTS.get(name, {}).items():
        schema = schema.with_question(question, cost=cost)
    return schema


def target_variable(column: "pd.Series[Any]", *, is_real: bool) -> eddi.Variable:
    """A real variable, or one whose levels are the values of the column."""
    if is_real:
        return eddi.Variable(str(column.name), Kind.REAL)
    levels = tuple(sorted(column.unique().tolist()))
    kind = Kind.BINARY if len(levels) == 2 else Kind.CATEGORY
    return eddi.Variable(str(column.name), kind, levels=levels)
