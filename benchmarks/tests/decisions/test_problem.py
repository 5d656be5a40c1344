"""A dataset becomes a problem with a split, a schema and a target."""

import numpy as np
import pandas as pd
import pytest

from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.harness.experiment import ExperimentError

SETTINGS = {"seed": 0, "max_train": 400, "max_test": 3, "max_test_classes": 40, "max_questions": 20}
NOT_OURS = "ignore:.*is not the file of the published results"


def load(name, **changes):
    return problems.load_problem({**SETTINGS, "dataset": name, **changes})


@pytest.mark.usefixtures("yacht")
@pytest.mark.filterwarnings(NOT_OURS)
def test_the_unit_of_a_real_target_is_its_range_in_the_training_rows():
    problem = load("yacht")
    assert (len(problem.train), len(problem.test)) == (36, 3)  # a tenth of 40, at most three
    assert problem.schema["crew"].kind is Kind.REAL
    assert problem.unit == np.ptp(problem.train["crew"])
    assert not problem.is_class
    assert problem.n_steps == 2


@pytest.mark.usefixtures("yacht")
@pytest.mark.filterwarnings(NOT_OURS)
def test_a_smaller_training_set_is_part_of_a_larger_one_with_the_same_test_rows_and_unit():
    small, large = (load("yacht", max_train=n) for n in (8, 20))
    assert len(small.train) == 8
    assert set(small.train.index) < set(large.train.index)
    assert small.test.equals(large.test)
    assert small.unit == large.unit


@pytest.mark.usefixtures("yacht")
@pytest.mark.filterwarnings(NOT_OURS)
def test_the_split_depends_on_the_seed_only():
    first, repeated, other = (load("yacht", seed=seed).train for seed in (0, 0, 1))
    assert first.equals(repeated)
    assert not first.index.equals(other.index)


def test_splits_are_stratified_by_class():
    problem = load("breast_cancer", max_train=1000, max_test_classes=200)
    shares = [part["target"].mean() for part in (problem.train, problem.test)]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)
    assert len(problem.test) == 114
    assert problem.schema["target"].kind is Kind.BINARY
    assert problem.n_steps == 20


def test_the_ten_digits_are_ten_levels():
    problem = load("digits")
    assert problem.schema["target"].levels == tuple(range(10))
    assert len(problem.train) == 400


def test_the_context_of_a_mixture_is_one_question():
    problem = load("cube_nm")
    assert problem.schema.question("context").reveals == ("x0", "x1", "x2", "x3", "x4")
    assert len(problem.schema.questions) == 52  # 51 and that of the target
    assert problem.n_steps == 10
    assert problem.mixture is not None


def test_artificial_tables_and_those_of_scikit_learn_need_no_dataset():
    assert problems.required_datasets("boston") == ("boston",)
    assert all(problems.required_datasets(name) == () for name in ("digits", "syn1", "xor"))
    class_tables = {
        "spam",
        "ckd",
        "heart_cleveland",
        "bank_marketing",
        "diabetes_symptoms",
        "phq9_nhanes",
    }
    assert class_tables <= set(datasets.DATASETS)


def test_the_questions_about_the_heart_have_costs(data):
    folder = data / "heart_cleveland"
    folder.mkdir()
    names = list(problems.HEART_COSTS)
    random = np.random.default_rng(0)
    lines = [
        ",".join(f"{value:.3f}" for value in random.normal(size=len(names))) + f",{row % 2}"
        for row in range(40)
    ]
    (folder / "heart_cleveland.csv").write_text("\n".join([",".join([*names, "num"]), *lines]) + "\n")
    with pytest.warns(match="is not the file of the published results"):
        problem = load("heart_cleveland")
    assert problem.has_costs
    assert problem.schema.question("thal").cost == 102.9


def mixtures():
    """Thirty mixtures, each of which was measured at two ages and one of them twice."""
    mixture = np.repeat(np.arange(30.0), 3)
    age = np.tile([7.0, 28.0, 28.0], 30)
    return pd.DataFrame({"water": mixture, "age": age, "strength": mixture + age + np.arange(90) / 90})


def test_rows_of_a_group_are_on_the_same_side_of_a_split():
    table = mixtures()
    groups = problems.find_groups("concrete", table)
    assert groups.nunique() == 30
    train, test = problems.split(table, seed=0, is_real=True, groups=groups)
    assert (len(train), len(test)) == (81, 9)
    assert not set(train["water"]) & set(test["water"])
    assert test.equals(problems.split(table, seed=0, is_real=True, groups=groups)[1])
    assert set(problems.split(table, seed=0, is_real=True)[1]["water"]) & set(train["water"])


def test_equal_wines_are_a_group_and_other_tables_have_none():
    table = pd.DataFrame({"alcohol": [9.0, 9.0, 11.0], "pH": [3.0, 3.0, 3.0], "quality": [5, 6, 5]})
    assert problems.find_groups("wine_red", table).tolist() == [0, 0, 1]
    with pytest.raises(ExperimentError, match="yacht has no groups of rows"):
        problems.find_groups("yacht", table)
