"""Simulations follow the rules of an interview. Every row answers its own questions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.errors import StopError, TargetError
from eddi.evaluate.simulate import simulate
from eddi.model.fitted import FittedModel
from eddi.partial_vae import PartialVAE
from eddi.strategy import FixedOrder, Information, Random

KINDS = ("age", "visits", "smoker", "pain", "town")


@pytest.fixture(scope="module")
def full(people: Any) -> pd.DataFrame:
    """Rows without missing values."""
    return people(12, seed=7, missing=0.0)


@pytest.fixture(scope="module")
def incomplete(people: Any) -> pd.DataFrame:
    """Rows with missing values, also of the targets."""
    return people(40, seed=8, missing=0.3)


@pytest.fixture(scope="module")
def with_questions(people_schema: Any, model: PartialVAE) -> FittedModel:
    """A model whose questions have costs and a prerequisite; one is always asked, one reveals two."""
    schema = (
        people_schema.with_question("body", reveals=["weight", "visits"], cost=4)
        .with_question("pain", requires={"smoker": "yes"})
        .with_question("colour", always=True, cost=2)
    )
    return replace(model.fitted(), schema=schema, target=("age",))


def interview_row(model: Any, row: pd.Series, target: str, **rules: Any) -> tuple[list[str], list]:
    """The questions that an interview asks a row, and the prediction after each answer."""
    interview = eddi.Interview(model, target, **rules)
    asked, predictions = [], [interview.predict()]
    while (question := interview.ask()) is not None:
        interview.tell(question, *(row[name] for name in question.reveals))
        asked.append(question.name)
        predictions.append(interview.predict())
    return asked, predictions


@pytest.mark.parametrize("target", KINDS)
def test_a_simulated_row_gets_the_questions_and_predictions_of_an_interview(
    model: PartialVAE, full: pd.DataFrame, target: str
) -> None:
    curves = simulate(model, full, target)
    for row in (0, 5):
        asked, predictions = interview_row(model, full.iloc[row], target)
        assert [curves.questions[k] for k in curves.order[row]] == asked
        means = [float(prediction.mean) for prediction in predictions]
        np.testing.assert_allclose(curves.mean[row], means, rtol=1e-5)
        if curves.probabilities is not None:
            probabilities = [prediction.probabilities for prediction in predictions]
            np.testing.assert_allclose(curves.probabilities[row], probabilities, atol=1e-6)


def test_costs_prerequisites_and_required_questions_apply_as_in_an_interview(
    with_questions: FittedModel, full: pd.DataFrame
) -> None:
    stop = eddi.Stop(after=3, budget=7)
    curves = simulate(with_questions, full, stop=stop)
    for row in range(4):
        asked, _ = interview_row(with_questions, full.iloc[row], "age", stop=stop)
        assert [curves.questions[k] for k in curves.order[row] if k >= 0] == asked
    colour, pain = curves.questions.index("colour"), curves.questions.index("pain")
    assert (curves.order == colour).any(1).all()
    is_smoker = (full["smoker"] == "yes").to_numpy()
    assert not (curves.order[~is_smoker] == pain).any()
    costs = np.append(with_questions.schema.costs, 0)
    np.testing.assert_allclose(np.diff(curves.spent, axis=1), costs[curves.order])


def test_a_question_can_reveal_two_variables(with_questions: FittedModel, full: pd.DataFrame) -> None:
    curves = simulate(with_questions, full, strategy=FixedOrder(("body",)), max_steps=1)
    assert curves.order.tolist() == [[curves.questions.index("body")]] * len(full)
    visible = full[["weight", "visits"]].reindex(columns=with_questions.schema.names)
    expected = with_questions.predict_evidence(with_questions.evidence(visible), ["age"])["age"]
    np.testing.assert_allclose(curves.mean[:, 1], expected.mean, rtol=1e-5)


def test_a_question_without_an_answer_in_the_row_is_never_asked(
    model: PartialVAE, incomplete: pd.DataFrame
) -> None:
    curves = simulate(model, incomplete, "age")
    questions = [name for name in model.schema_.names if name != "age"]
    for row, order in enumerate(curves.order):
        asked = [curves.questions[k] for k in order if k >= 0]
        assert sorted(asked) == sorted(n for n in questions if pd.notna(incomplete[n].iloc[row]))
    assert curves.n_asked.tolist() == (curves.order >= 0).sum(1).tolist()


def test_a_question_that_cannot_be_asked_costs_nothing(model: PartialVAE, full: pd.DataFrame) -> None:
    table = full.assign(weight=None, visits=None, pain=None)
    curves = simulate(model, table, "age", stop=eddi.Stop(budget=4))
    assert curves.order.shape == (len(full), 4)
    assert (curves.spent[:, -1] == 4).all()


def test_a_row_that_has_stopped_keeps_its_prediction(
    model: PartialVAE, incomplete: pd.DataFrame
) -> None:
    curves = simulate(model, incomplete, "smoker", stop=eddi.Stop(probability_above=0.8))
    assert len(set(curves.n_asked)) > 1
    for row, n_asked in enumerate(curves.n_asked):
        assert (curves.order[row, :n_asked] >= 0).all()
        assert (curves.order[row, n_asked:] == -1).all()
        assert (curves.mean[row, n_asked:] == curves.mean[row, n_asked]).all()
        assert (curves.spent[row, n_asked:] == n_asked).all()


def test_a_row_that_has_stopped_stays_stopped_even_if_the_rule_changes(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    class StopsOnlyAtTheSecondCall:
        budget = float("inf")
        n_calls = 0

        def reached(self, situation: Any) -> Any:
            self.n_calls += 1
            return (np.arange(len(situation.n_asked)) % 2 == 0) & (self.n_calls == 2)

    curves = simulate(model, full, "age", strategy=Random(), stop=StopsOnlyAtTheSecondCall())
    assert curves.n_asked.tolist() == [1, 7] * 6


def test_a_row_gets_the_same_result_alone_and_in_a_batch(
    model: PartialVAE, incomplete: pd.DataFrame
) -> None:
    batch = simulate(model, incomplete, "age")
    for row in np.flatnonzero(batch.known)[[0, 5, -1]]:
        single = simulate(model, incomplete.iloc[[row]], "age")
        assert batch.order[row, : single.n_steps].tolist() == single.order[0].tolist()
        np.testing.assert_allclose(batch.mean[row, : single.n_steps + 1], single.mean[0], rtol=1e-5)


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("target", KINDS)
def test_the_last_step_is_the_prediction_from_all_values_of_the_row(
    people_model: Any, incomplete: pd.DataFrame, target: str, recipe: str
) -> None:
    model = people_model(recipe=recipe)
    curves = simulate(model, incomplete, target, strategy=Random())
    known = incomplete[target].notna().to_numpy()
    assert curves.known.tolist() == known.tolist()
    prediction = model.predict(incomplete, target)
    np.testing.assert_allclose(curves.mean[:, -1], prediction.mean, rtol=1e-5)
    if curves.covered is not None and curves.rank is not None:
        low, high = prediction.interval.T
        is_inside = (low <= curves.truth) & (curves.truth <= high)
        assert curves.covered[known, -1].tolist() == is_inside[known].tolist()
        assert ((curves.rank > 0) & (curves.rank < 1)).all()
    if curves.probabilities is not None:
        np.testing.assert_allclose(curves.probabilities[:, -1], prediction.probabilities, atol=1e-6)


def test_progress_counts_the_steps(model: PartialVAE, full: pd.DataFrame) -> None:
    calls: list[tuple[int, int]] = []
    simulate(model, full, "age", max_steps=3, on_progress=lambda *call: calls.append(call))
    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_progress_is_complete_when_all_rows_stop_early(model: PartialVAE, full: pd.DataFrame) -> None:
    calls: list[tuple[int, int]] = []
    curves = simulate(
        model, full, "age", stop=eddi.Stop(after=2), on_progress=lambda *call: calls.append(call)
    )
    assert curves.n_steps == 2
    assert calls == [(0, 7), (1, 7), (2, 7), (7, 7)]


def test_without_questions_every_row_has_the_same_prediction(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    curves = simulate(model, full, "age", max_steps=0)
    assert curves.order.shape == (12, 0)
    assert curves.mean.shape == (12, 1)
    assert np.ptp(curves.mean) < 1e-4


def test_rows_without_a_target_value_are_interviewed_but_not_evaluated(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    table = full.assign(age=full["age"].where(full.index % 3 > 0))
    strategy = Information(n_draws=8)
    curves = simulate(model, table, "age", strategy=strategy, max_steps=2)
    evaluated = simulate(model, table[table["age"].notna()], "age", strategy=strategy, max_steps=2)
    assert curves.n_rows == 12
    assert (curves.order >= 0).all()
    np.testing.assert_allclose(curves.rmse, evaluated.rmse, rtol=1e-5)


def test_the_estimator_and_its_fitted_model_give_the_same_curves(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    estimator, fitted = (simulate(m, full, "age", max_steps=2) for m in (model, model.fitted()))
    assert estimator.to_document() == fitted.to_document()


@pytest.mark.parametrize("change", ["drop", "empty"])
def test_a_table_without_values_of_the_target_is_an_error(
    model: PartialVAE, full: pd.DataFrame, change: str
) -> None:
    table = full.drop(columns="age") if change == "drop" else full.assign(age=np.nan)
    with pytest.raises(TargetError, match=r"no row of the table has a value of 'age'.*Give held-out"):
        simulate(model, table, "age")


def test_a_simulation_needs_exactly_one_target(model: PartialVAE, full: pd.DataFrame) -> None:
    with pytest.raises(TargetError, match="exactly one target, got none"):
        simulate(model, full)
    with pytest.raises(TargetError, match="got 'age', 'pain'"):
        simulate(model, full, ("age", "pain"))  # type: ignore[arg-type]
    with pytest.raises(TargetError, match="'wealth' is not a variable"):
        simulate(model, full, "wealth")


def test_a_negative_number_of_steps_is_an_error(model: PartialVAE, full: pd.DataFrame) -> None:
    with pytest.raises(StopError, match="max_steps must be 0 or more"):
        simulate(model, full, "age", max_steps=-1)
