"""Simulations: every row is interviewed by the rules of an interview, and answers for itself."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.errors import StopError, TargetError
from eddi.evaluate.simulate import simulate
from eddi.partial_vae import PartialVAE
from eddi.strategy import FixedOrder, Information, Random

KINDS = ("age", "visits", "smoker", "pain", "town")


@pytest.fixture(scope="module")
def full(people: Any) -> pd.DataFrame:
    """Rows without holes."""
    return people(12, seed=7, holes=0.0)


@pytest.fixture(scope="module")
def holey(people: Any) -> pd.DataFrame:
    return people(40, seed=8, holes=0.3)


@pytest.fixture(scope="module")
def with_questions(people_schema: Any, people: Any) -> PartialVAE:
    """A model whose questions have costs, a prerequisite, a pinned one, and one that reveals two."""
    schema = (
        people_schema.with_question("body", reveals=["weight", "visits"], cost=4)
        .with_question("pain", requires={"smoker": "yes"})
        .with_question("colour", always=True, cost=2)
    )
    return PartialVAE(schema, "age", max_steps=100, random_state=0).fit(people(200, seed=0))


def interviewed(model: PartialVAE, row: pd.Series, target: str, **rules: Any) -> tuple[list[str], list]:
    """The questions an interview asks a row that answers for itself, and the belief after each."""
    interview = eddi.Interview(model, target, **rules)
    asked, beliefs = [], [interview.predict()]
    while (question := interview.ask()) is not None:
        interview.tell(question, *(row[name] for name in question.reveals))
        asked.append(question.name)
        beliefs.append(interview.predict())
    return asked, beliefs


@pytest.mark.parametrize("target", KINDS)
def test_one_row_is_interviewed_as_an_interview_would(
    model: PartialVAE, full: pd.DataFrame, target: str
) -> None:
    curves = simulate(model, full, target)
    for row in (0, 5):
        asked, beliefs = interviewed(model, full.iloc[row], target)
        assert [curves.questions[place] for place in curves.order[row]] == asked
        means = [float(belief.mean) for belief in beliefs]
        np.testing.assert_allclose(curves.mean[row], means, rtol=1e-5)
        if curves.probabilities is not None:
            chances = [belief.probabilities for belief in beliefs]
            np.testing.assert_allclose(curves.probabilities[row], chances, atol=1e-6)


def test_costs_prerequisites_and_pinned_questions_hold_as_in_an_interview(
    with_questions: PartialVAE, full: pd.DataFrame
) -> None:
    stop = eddi.Stop(after=3, budget=7)
    curves = simulate(with_questions, full, stop=stop)
    for row in range(4):
        asked, _ = interviewed(with_questions, full.iloc[row], "age", stop=stop)
        assert [curves.questions[place] for place in curves.order[row] if place >= 0] == asked
    colour, pain = curves.questions.index("colour"), curves.questions.index("pain")
    assert (curves.order == colour).any(1).all()
    smokes = (full["smoker"] == "yes").to_numpy()
    assert not (curves.order[~smokes] == pain).any()
    costs = np.append(with_questions.schema_.costs, 0)
    np.testing.assert_allclose(np.diff(curves.spent, axis=1), costs[curves.order])


def test_a_question_that_reveals_two_shows_both(with_questions: PartialVAE, full: pd.DataFrame) -> None:
    curves = simulate(with_questions, full, strategy=FixedOrder(("body",)), max_steps=1)
    assert curves.order.tolist() == [[curves.questions.index("body")]] * len(full)
    hidden = full.assign(**dict.fromkeys(["smoker", "pain", "town", "colour", "stage"], None))
    expected = with_questions.predict(hidden.drop(columns="age"), "age")
    np.testing.assert_allclose(curves.mean[:, 1], expected.mean, rtol=1e-5)


def test_a_question_without_an_answer_is_never_asked(model: PartialVAE, holey: pd.DataFrame) -> None:
    curves = simulate(model, holey, "age")
    for row, places in enumerate(curves.order):
        asked = [curves.questions[place] for place in places if place >= 0]
        has = [name for name in model.schema_.names if name != "age" and pd.notna(holey[name].iloc[row])]
        assert sorted(asked) == sorted(has)
    assert curves.n_asked.tolist() == (curves.order >= 0).sum(1).tolist()


def test_what_cannot_be_asked_costs_nothing(model: PartialVAE, full: pd.DataFrame) -> None:
    poor = full.assign(weight=None, visits=None, pain=None)
    curves = simulate(model, poor, "age", stop=eddi.Stop(budget=4))
    assert curves.order.shape == (len(full), 4)
    assert (curves.spent[:, -1] == 4).all()


def test_a_row_that_has_stopped_keeps_its_belief(model: PartialVAE, holey: pd.DataFrame) -> None:
    curves = simulate(model, holey, "smoker", stop=eddi.Stop(probability_above=0.8))
    assert len(set(curves.n_asked)) > 1
    for row, n_asked in enumerate(curves.n_asked):
        assert (curves.order[row, :n_asked] >= 0).all()
        assert (curves.order[row, n_asked:] == -1).all()
        assert (curves.mean[row, n_asked:] == curves.mean[row, n_asked]).all()
        assert (curves.spent[row, n_asked:] == n_asked).all()


def test_a_row_that_has_stopped_is_not_asked_again_whatever_a_rule_says_later(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    class Fickle:
        budget = float("inf")
        n_calls = 0

        def reached(self, situation: Any) -> Any:
            self.n_calls += 1
            return (np.arange(len(situation.n_asked)) % 2 == 0) & (self.n_calls == 2)

    curves = simulate(model, full, "age", strategy=Random(), stop=Fickle())
    assert curves.n_asked.tolist() == [1, 7] * 6


def test_a_row_fares_the_same_alone_and_in_company(model: PartialVAE, holey: pd.DataFrame) -> None:
    together = simulate(model, holey, "age")
    for row in np.flatnonzero(together.known)[[0, 5, -1]]:
        alone = simulate(model, holey.iloc[[row]], "age")
        n_steps = alone.n_steps
        assert together.order[row, :n_steps].tolist() == alone.order[0].tolist()
        np.testing.assert_allclose(together.mean[row, : n_steps + 1], alone.mean[0], rtol=1e-5)


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("target", KINDS)
def test_the_end_of_the_curve_is_the_model_given_all_the_row_shows(
    people_model: Any, holey: pd.DataFrame, target: str, recipe: str
) -> None:
    model = people_model(recipe=recipe)
    curves = simulate(model, holey, target, strategy=Random())
    known = holey[target].notna().to_numpy()
    assert curves.known.tolist() == known.tolist()
    belief = model.predict(holey, target)
    np.testing.assert_allclose(curves.mean[:, -1], belief.mean, rtol=1e-5)
    if curves.covered is not None and curves.rank is not None:
        low, high = belief.interval.T
        inside = (low <= curves.truth) & (curves.truth <= high)
        assert curves.covered[known, -1].tolist() == inside[known].tolist()
        assert ((curves.rank > 0) & (curves.rank < 1)).all()
    truth = model.evidence(holey)
    position = model.schema_.position(target)
    levels_as_numbers = recipe == "paper" and target in ("pain", "town")
    if not levels_as_numbers:
        log_prob = model.log_prob(truth.hide([position]), truth)[known, position]
        np.testing.assert_allclose(curves.log_prob[known, -1], log_prob, atol=1e-5)
    elif curves.probabilities is not None:
        level = curves.truth[known].astype(int)
        chance = curves.probabilities[known, -1][np.arange(len(level)), level]
        np.testing.assert_allclose(curves.log_prob[known, -1], np.log(chance), atol=1e-5)


@pytest.mark.parametrize("target", ["age", "smoker", "pain"])
def test_errors_of_draws_are_those_of_the_mean_and_their_spread(
    model: PartialVAE, full: pd.DataFrame, target: str
) -> None:
    curves = simulate(model, full, target, max_steps=0)
    belief = next(model.beliefs(model.evidence(full).hide(list(range(8)))))
    means = belief.network.moments(belief.outputs)[0][..., model.schema_.position(target)].numpy()
    expected = means.var(0) + (means.mean(0) - curves.truth) ** 2
    np.testing.assert_allclose(curves.draw_squares[:, 0], expected, rtol=1e-4)
    assert (curves.draw_rmse >= curves.rmse).all()


def test_errors_of_draws_of_a_category_are_distances_of_its_chances(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    curves = simulate(model, full, "town", max_steps=0)
    position = model.schema_.position("town")
    belief = next(model.beliefs(model.evidence(full).hide(list(range(8)))))
    head = next(h for h in belief.network.heads() if position in h.variables.tolist())
    place = head.variables.tolist().index(position)
    with torch.no_grad():
        each = head.likelihood.probabilities(belief.outputs[..., head.outputs])[:, :, place, :3].numpy()
    true = np.eye(3)[curves.truth.astype(int)]
    np.testing.assert_allclose(
        curves.draw_squares[:, 0], ((each - true) ** 2).sum(-1).mean(0) / 2, rtol=1e-5
    )


def test_a_rank_is_the_share_of_the_belief_below_the_truth(
    people_model: Any, full: pd.DataFrame
) -> None:
    model = people_model(recipe="paper")  # whose intervals run from 5% to 95% of the belief
    low, high = model.predict(full, "age").interval.T
    for edge, share in ((low, 0.05), (high, 0.95)):
        curves = simulate(model, full.assign(age=edge), "age", strategy=Random())
        assert curves.rank is not None
        np.testing.assert_allclose(curves.rank[:, -1], share, atol=1e-4)


def test_a_rank_among_counts_halves_what_lies_on_the_truth(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    none, one = (simulate(model, full.assign(visits=n), "visits", max_steps=0) for n in (0, 1))
    assert none.rank is not None
    assert one.rank is not None
    np.testing.assert_allclose(none.rank, np.exp(none.log_prob) / 2, rtol=1e-5)
    np.testing.assert_allclose(one.rank, np.exp(none.log_prob) + np.exp(one.log_prob) / 2, rtol=1e-5)


def test_progress_counts_the_steps_and_ends_even_when_all_stop_early(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    said: list[tuple[int, int]] = []
    simulate(model, full, "age", max_steps=3, on_progress=lambda *at: said.append(at))
    assert said == [(0, 3), (1, 3), (2, 3), (3, 3)]
    said.clear()
    curves = simulate(
        model, full, "age", stop=eddi.Stop(after=2), on_progress=lambda *at: said.append(at)
    )
    assert curves.n_steps == 2
    assert said == [(0, 7), (1, 7), (2, 7), (7, 7)]


def test_nothing_asked_is_the_belief_about_anybody(model: PartialVAE, full: pd.DataFrame) -> None:
    curves = simulate(model, full, "age", max_steps=0)
    assert curves.order.shape == (12, 0)
    assert curves.mean.shape == (12, 1)
    assert np.ptp(curves.mean) < 1e-4


def test_rows_without_the_target_are_interviewed_but_not_judged(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    some = full.assign(age=full["age"].where(full.index % 3 > 0))
    curves = simulate(model, some, "age", strategy=Information(n_draws=8), max_steps=2)
    judged = simulate(
        model, some[some["age"].notna()], "age", strategy=Information(n_draws=8), max_steps=2
    )
    assert curves.n_rows == 12
    assert (curves.order >= 0).all()
    np.testing.assert_allclose(curves.rmse, judged.rmse, rtol=1e-5)


@pytest.mark.parametrize("change", ["drop", "empty"])
def test_a_table_that_does_not_know_the_target_is_refused(
    model: PartialVAE, full: pd.DataFrame, change: str
) -> None:
    table = full.drop(columns="age") if change == "drop" else full.assign(age=np.nan)
    with pytest.raises(TargetError, match=r"no row of the table has a value of 'age'.*held-out rows"):
        simulate(model, table, "age")


def test_there_must_be_one_target(model: PartialVAE, full: pd.DataFrame) -> None:
    with pytest.raises(TargetError, match="follows one target, got none"):
        simulate(model, full)
    with pytest.raises(TargetError, match="got 'age', 'pain'"):
        simulate(model, full, ("age", "pain"))  # type: ignore[arg-type]
    with pytest.raises(TargetError, match="'wealth' is not a variable"):
        simulate(model, full, "wealth")
    with pytest.raises(StopError, match="max_steps must be 0 or more"):
        simulate(model, full, "age", max_steps=-1)
