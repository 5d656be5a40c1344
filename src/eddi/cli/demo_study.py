"""The data of `eddi demo`: a study of 442 people with diabetes.

The table comes with scikit-learn. Efron, Hastie, Johnstone and Tibshirani (2004) published it in "Least
angle regression": ten measurements of each person, and a score of how far the disease had progressed
one year later.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

TARGET = "progression"
HELD_OUT_SHARE = 0.2  # of the rows
MISSING_SHARE = 0.1  # of the training cells that are emptied

Columns = dict[str, NDArray[np.float64]]


class Measurement(NamedTuple):
    """A measurement of the study and the question that asks for it."""

    name: str
    unit: str
    text: str
    cost: float


# Interview questions are cheap, a scale and a blood pressure cuff cost more, and blood tests need a
# laboratory.
MEASUREMENTS = (
    Measurement("age", "years", "How old are you?", 1),
    Measurement("sex", "", "What is your sex? (coded 1 or 2)", 1),
    Measurement("body mass index", "kg/m²", "What is your body mass index?", 2),
    Measurement("blood pressure", "mmHg", "What is your mean blood pressure?", 3),
    Measurement("total cholesterol", "mg/dl", "Blood test: total cholesterol?", 10),
    Measurement("LDL", "mg/dl", "Blood test: LDL cholesterol?", 10),
    Measurement("HDL", "mg/dl", "Blood test: HDL cholesterol?", 10),
    Measurement("cholesterol ratio", "", "Blood test: cholesterol over HDL?", 10),
    Measurement("log triglycerides", "", "Blood test: log of triglycerides?", 10),
    Measurement("blood sugar", "mg/dl", "Blood test: blood sugar?", 10),
)


def load_study() -> Columns:
    """Return the columns of the study."""
    study = load_diabetes(scaled=False)
    columns = {measurement.name: study.data[:, index] for index, measurement in enumerate(MEASUREMENTS)}
    return {**columns, TARGET: study.target}


def build_schema() -> Schema:
    """Return the schema of the study."""
    variables = [_build_variable(measurement) for measurement in MEASUREMENTS]
    questions = [
        Question(measurement.name, (measurement.name,), measurement.text, measurement.cost)
        for measurement in MEASUREMENTS
    ]
    target = Variable(TARGET, Kind.REAL, low=0)
    return Schema((*variables, target), tuple(questions), targets=(TARGET,))


def _build_variable(measurement: Measurement) -> Variable:
    if measurement.name == "sex":
        return Variable(measurement.name, Kind.BINARY, (1, 2))
    return Variable(measurement.name, Kind.REAL, low=0, unit=measurement.unit)


def split_rows(columns: Columns, seed: int) -> tuple[Columns, Columns]:
    """Return training rows, with some measurements removed at random, and complete held-out rows."""
    random = np.random.default_rng(seed)
    n_rows = len(columns[TARGET])
    order = random.permutation(n_rows)
    n_held_out = round(n_rows * HELD_OUT_SHARE)
    held_out = {name: column[order[:n_held_out]] for name, column in columns.items()}
    training = {name: column[order[n_held_out:]].copy() for name, column in columns.items()}
    for measurement in MEASUREMENTS:
        is_missing = random.random(n_rows - n_held_out) < MISSING_SHARE
        training[measurement.name][is_missing] = np.nan
    return training, held_out
