"""The datasets as problems of decisions: training and held-out rows, what is asked, what is wanted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import eddi
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets, synthetic
from eddi_benchmarks.data.synthetic import SYN, WORLDS, World
from eddi_benchmarks.harness.experiment import Settings

FROM_SCIKIT_LEARN = ("breast_cancer", "digits")
TEST_SHARE = {"quantity": 0.1, "class": 0.2}
N_MADE_UP = {
    "xor": 4_000,
    "context": 4_000,
}  # training rows of easy worlds; the settings' most, elsewhere
MOST_QUESTIONS = {"cube": 10, "cube_nm": 10}  # fewer than the settings' most
HEART_COSTS = {
    **dict.fromkeys(("age", "sex", "cp", "trestbps"), 1.0),
    **{"chol": 7.27, "fbs": 5.20, "restecg": 15.50, "thalach": 102.90, "exang": 87.30},
    **{"oldpeak": 87.30, "slope": 87.30, "ca": 100.90, "thal": 102.90},
}
"""Canadian dollars, the fees of Ontario's health insurance in 1992, as Turney (1995) has them."""
COSTS = {"heart_cleveland": HEART_COSTS}


@dataclass(frozen=True)
class Problem:
    """What to learn from, whom to ask, and what one wants to know."""

    train: pd.DataFrame
    test: pd.DataFrame
    schema: eddi.Schema
    target: str
    n_steps: int  # the most questions a row is asked
    world: World | None = None  # behind a made-up table, where the exact belief is known

    @property
    def is_class(self) -> bool:
        return self.schema[self.target].kind.has_levels

    @property
    def has_costs(self) -> bool:
        return len(set(self.schema.costs)) > 1

    @property
    def unit(self) -> float:
        """What errors are told in: the range of a quantity in the training rows."""
        return 1.0 if self.is_class else float(np.ptp(self.train[self.target]))


def files(name: str) -> tuple[str, ...]:
    """The dataset of `bench.datasets` behind a problem; none for those that are made or bundled."""
    made = {*WORLDS, *SYN, *FROM_SCIKIT_LEARN}
    return () if name in made else (name,)


def load(settings: Settings) -> Problem:
    """The problem of these settings, split by their seed."""
    name, seed = str(settings["dataset"]), int(settings["seed"])
    most = int(settings["max_train"])
    if name in WORLDS or name in SYN:
        train, test = made_up(name, min(most, N_MADE_UP.get(name, most)), settings)
    else:
        train, test = split(read(name), seed, is_quantity=name in datasets.UCI)
    if len(train) > most:
        train = train.sample(most, random_state=seed)
    schema = described(name, pd.concat([train, test]))
    target = str(train.columns[-1])
    n_test = int(settings["max_test" if name in datasets.UCI else "max_test_classes"])
    n_steps = min(MOST_QUESTIONS.get(name, int(settings["max_questions"])), len(schema.questions) - 1)
    world = WORLDS[name]() if name in WORLDS else None
    return Problem(train, test.head(n_test), schema, target, n_steps, world)


def read(name: str) -> pd.DataFrame:
    """A real dataset, its target last."""
    if name not in FROM_SCIKIT_LEARN:
        table: pd.DataFrame = datasets.load(name).to_pandas()
        return table
    from sklearn.datasets import load_breast_cancer, load_digits

    load: Any = {"breast_cancer": load_breast_cancer, "digits": load_digits}[name]
    frame: pd.DataFrame = load(as_frame=True).frame
    return frame


def split(whole: pd.DataFrame, seed: int, *, is_quantity: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and held-out rows; classes have their share in both."""
    share = TEST_SHARE["quantity" if is_quantity else "class"]
    classes = None if is_quantity else whole.iloc[:, -1]
    train, test = train_test_split(whole, test_size=share, random_state=seed, stratify=classes)
    return train, test


def made_up(name: str, n_train: int, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows drawn anew by each seed."""
    random = np.random.default_rng([int(settings["seed"]), 7])
    n_rows = n_train + int(settings["max_test_classes"])
    if name in WORLDS:
        whole = WORLDS[name]().rows(n_rows, random)
    else:
        whole = synthetic.syn_rows(name, n_rows, random)
    return whole.iloc[:n_train], whole.iloc[n_train:]


def described(name: str, whole: pd.DataFrame) -> eddi.Schema:
    """The schema as inferred, with the target as the problem has it, its groups and its costs."""
    target = str(whole.columns[-1])
    schema = eddi.Schema.infer(whole, targets=[target])
    schema = schema.with_variable(target_variable(whole[target], is_quantity=name in datasets.UCI))
    if name in WORLDS:
        for question, reveals in WORLDS[name]().groups.items():
            schema = schema.with_question(question, reveals=reveals)
    for question, cost in COSTS.get(name, {}).items():
        schema = schema.with_question(question, cost=cost)
    return schema


def target_variable(column: "pd.Series[Any]", *, is_quantity: bool) -> eddi.Variable:
    """A number, or one of the classes there are."""
    if is_quantity:
        return eddi.Variable(str(column.name), Kind.REAL)
    levels = tuple(sorted(column.unique().tolist()))
    kind = Kind.BINARY if len(levels) == 2 else Kind.CATEGORY
    return eddi.Variable(str(column.name), kind, levels=levels)
