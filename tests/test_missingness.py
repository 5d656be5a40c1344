"""Models of the reason why values are missing, on simulated people whose truth is known.

A high income is seldom told. The risk is the income plus noise of half its spread.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.errors import TrainingError
from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.model.recipe import DEFAULT

NOISE = 0.5
RECIPE = replace(DEFAULT, max_steps=600, passes=None, term=16, hidden=(32, 32), batch_size=64)
SCHEMA = eddi.Schema.from_toml(
    """
targets = ["risk"]
[variables]
income = { kind = "real" }
age = { kind = "real" }
risk = { kind = "real" }
"""
)


def draw_people(n_rows: int, seed: int, *, depends: bool) -> Any:
    """People who do not tell their income: those with a high one, or as many at random."""
    random = np.random.default_rng(seed)
    income = random.normal(size=n_rows)
    risk = income + NOISE * random.normal(size=n_rows)
    is_told = random.random(n_rows) < (np.where(income > 0.5, 0.1, 0.95) if depends else 0.69)
    age = random.normal(size=n_rows)
    return pd.DataFrame({"income": np.where(is_told, income, np.nan), "age": age, "risk": risk})


def fit(missingness: Any, table: Any, **settings: Any) -> Any:
    return eddi.PartialVAE(
        SCHEMA,
        "risk",
        recipe=settings.pop("recipe", RECIPE),
        missingness=missingness,
        random_state=0,
        device="cpu",
    ).fit(table)


@pytest.fixture(scope="module")
def modelled() -> Any:
    """A small model with an indicator."""
    return fit("model", draw_people(400, 1, depends=True), recipe=replace(RECIPE, max_steps=1))


def test_incomplete_variables_have_indicators(modelled: Any) -> None:
    assert modelled.schema_.names == ("income", "age", "risk", "income answered")


def test_a_refusal_is_an_observation(modelled: Any) -> None:
    interview = eddi.Interview(modelled, target="risk")
    interview.tell("income", eddi.DECLINED)
    assert interview.evidence().numbers()[0, 3] == 0
    assert list(interview.rewards()) == ["age"]


def test_an_answer_tells_that_there_is_a_value(modelled: Any) -> None:
    interview = eddi.Interview(modelled, target="risk")
    interview.tell("income", 0.3)
    assert interview.evidence().numbers()[0, 3] == 1


def test_logged_interviews_have_indicators_of_what_was_asked(modelled: Any) -> None:
    refused, asked_age = eddi.Interview(modelled, target="risk"), eddi.Interview(modelled, target="risk")
    refused.tell("income", eddi.DECLINED)
    asked_age.tell("age", 1.0)
    records = [refused.record, asked_age.record]
    logged = LoggedInterviews.from_records(modelled.schema_, records, [{}, {}], [[0.5], [0.5]])
    np.testing.assert_array_equal(logged.numbers[:, 3], [0, np.nan])


def test_imputed_tables_have_the_columns_of_the_table(modelled: Any) -> None:
    table = draw_people(20, 2, depends=True)
    assert list(modelled.transform(table).columns) == ["income", "age", "risk"]


def test_a_saved_model_keeps_its_indicators(modelled: Any, tmp_path: Any) -> None:
    modelled.save(tmp_path / "model.eddi")
    assert eddi.load(tmp_path / "model.eddi").schema_ == modelled.schema_


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TrainingError, match="missingness must be one of 'ignore', 'model', got 'guess'"):
        fit("guess", draw_people(20, 1, depends=True))


def error_without_income(missingness: Any, *, depends: bool) -> float:
    """The root mean squared error of the risk of people who did not tell their income."""
    model = fit(missingness, draw_people(2_000, 3, depends=depends))
    test = draw_people(2_000, 4, depends=depends)
    test = test[test["income"].isna()]
    return float(np.sqrt(np.mean((model.predict(test).mean - test["risk"]) ** 2)))


@pytest.mark.slow
def test_modelling_helps_if_the_reason_is_the_value() -> None:
    best = error_of_the_truth()
    ignored = error_without_income("ignore", depends=True)
    modelled = error_without_income("model", depends=True)
    assert modelled < 1.05 * best
    assert ignored > 1.3 * best


@pytest.mark.slow
def test_modelling_does_not_help_if_values_are_missing_at_random() -> None:
    ignored = error_without_income("ignore", depends=False)
    modelled = error_without_income("model", depends=False)
    assert modelled == pytest.approx(ignored, rel=0.03)


def error_of_the_truth() -> float:
    """The error of the best prediction: the standard deviation of the risk of those who do not tell."""
    people = draw_people(400_000, 5, depends=True)
    return float(people.loc[people["income"].isna(), "risk"].std())
