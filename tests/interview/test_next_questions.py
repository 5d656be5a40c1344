"""The next question of many rows at once, for programs that keep the answers themselves."""

import numpy as np
import pytest

import eddi
from eddi import Interview, Stop, next_questions
from eddi.errors import SchemaError, StopError, TableError, TargetError
from eddi.interview.risk_control import resolve_rules
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy import FixedOrder, Random
from eddi.table.evidence import Evidence

N_ROWS = 12
TARGETS = ("age", "visits", "smoker", "pain", "town")  # one of each kind


@pytest.fixture(scope="module")
def table(people):
    """People of whom some values are known; the first has not been asked anything."""
    table = people(N_ROWS, seed=3, missing=0.5)
    table.loc[0, table.columns[1:]] = None
    return table


@pytest.fixture(scope="module")
def arrays(table):
    """The values of the table and the mask of those that are observed, as arrays."""
    return table.to_numpy(dtype=object), table.notna().to_numpy()


def interview_row(model, row, target, **settings):
    """An interview that was told the values of a row."""
    interview = Interview(model, target, **settings)
    for name, value in row.dropna().items():
        if name in model.schema_.names and name != target:
            interview.tell(name, value)
    return interview


def assert_as_in_interviews(result, interviews):
    for row, interview in enumerate(interviews):
        step = interview.next_step()
        assert result.question[row] == (None if step.question is None else step.question.name)
        rewards = dict(zip(result.questions, result.rewards[row], strict=True))
        open_rewards = {name: reward for name, reward in rewards.items() if not np.isnan(reward)}
        assert open_rewards == pytest.approx(dict(step.rewards), abs=1e-6)
        for name, prediction in step.predictions.items():
            np.testing.assert_allclose(
                result.predictions[name][row].mean, prediction.mean, rtol=1e-5, equal_nan=True
            )


@pytest.mark.parametrize("target", TARGETS)
def test_each_row_gets_the_question_of_its_interview(model, table, target):
    result = next_questions(model, table, target=target)
    interviews = [interview_row(model, row, target) for _, row in table.iterrows()]
    assert_as_in_interviews(result, interviews)
    assert len(result) == N_ROWS
    assert target not in result.question


def test_the_paper_recipe_chooses_as_in_interviews(people_model, table):
    model = people_model(recipe="paper")
    result = next_questions(model, table, target="stage")
    interviews = [interview_row(model, row, "stage") for _, row in table.iterrows()]
    assert result.question == tuple(interview.ask().name for interview in interviews)


@pytest.mark.parametrize("strategy", [Random(seed=1), FixedOrder(("pain", "age", "town"))])
def test_a_strategy_and_a_stopping_rule_hold_as_in_interviews(model, table, strategy):
    stop = Stop(after=3)
    result = next_questions(model, table, target="stage", strategy=strategy, stop=stop)
    interviews = [
        interview_row(model, row, "stage", strategy=strategy, stop=stop) for _, row in table.iterrows()
    ]
    n_known = table.drop(columns=["name", "stage"]).notna().sum(axis=1).to_numpy()
    assert np.array_equal(result.index < 0, n_known >= 3)
    if not isinstance(strategy, Random):  # whose scores depend on a row's place in the batch
        assert_as_in_interviews(result, interviews)


def test_index_is_the_position_of_the_question(model, table):
    result = next_questions(model, table, target="stage")
    assert result.questions == tuple(question.name for question in model.schema_.questions)
    assert [result.questions[place] for place in result.index] == list(result.question)
    best = np.nanargmax(result.rewards[1:], axis=1)  # before the first answer there is a lookahead
    assert np.array_equal(best, result.index[1:])
    assert repr(result).startswith(f"NextQuestions({result.question[0]}, ")


@pytest.mark.parametrize("has_group", [False, True])
def test_each_step_is_that_of_a_simulation(model, body_model, people, has_group):
    model = body_model if has_group else model
    truth = model.evidence(people(N_ROWS, seed=4, missing=0.3))
    rules = resolve_rules(model.fitted(), ("stage",), stop=Stop(after=4))
    simulation = SimulatedInterviews(rules, truth)
    n_steps = 0
    for step in simulation.run(simulation.n_steps(None)):
        result = next_questions(
            model, step.evidence, target="stage", closed=step.closed, stop=Stop(after=4)
        )
        is_asked = step.chosen >= 0
        assert np.array_equal(result.index[is_asked], step.chosen[is_asked])
        n_steps += 1
    assert n_steps == 5
    assert (result.index == -1).all()


def test_arrays_with_a_mask_are_the_same_as_a_table(model, table, arrays):
    expected = next_questions(model, table, target="stage")
    values, observed = arrays
    for rows in ((values, observed), (values[:, :-1], observed[:, :-1])):  # with and without the target
        result = next_questions(model, rows, target="stage")
        assert result.question == expected.question
        np.testing.assert_array_equal(result.rewards, expected.rewards)


def test_values_that_are_not_observed_have_no_effect(model, people, arrays):
    values, observed = arrays
    other = np.where(observed, values, people(N_ROWS, seed=9, missing=0).to_numpy(dtype=object))
    expected = next_questions(model, (values, observed), target="stage")
    result = next_questions(model, (other, observed), target="stage")
    np.testing.assert_array_equal(result.rewards, expected.rewards)


def test_numbers_with_a_mask_are_read_in_the_order_of_the_fit():
    random = np.random.default_rng(0)
    values = random.normal(size=(80, 3))
    values[:, 2] = values[:, 0] > 0
    model = eddi.PartialVAE(target="x2", max_steps=30, random_state=0).fit(values)
    observed = np.array([[True, False], [False, True], [True, True], [False, False]])
    result = next_questions(model, (np.where(observed, values[:4, :2], 0.0), observed))
    assert result.question[:3] == ("x1", "x0", None)
    expected = model.predict(values[:4])
    assert expected.probabilities[2] == pytest.approx(result.predictions["x2"].probabilities[2])


def test_the_target_is_ignored_if_it_is_observed(model, table):
    known, unknown = table.assign(stage="late"), table.assign(stage=None)
    result, expected = (next_questions(model, rows, target="stage") for rows in (known, unknown))
    np.testing.assert_array_equal(result.rewards, expected.rewards)
    probabilities = result.predictions["stage"].probabilities
    assert probabilities.max() < 1
    np.testing.assert_array_equal(probabilities, expected.predictions["stage"].probabilities)


def test_closed_questions_are_not_asked_of_any_row(model, table):
    first = next_questions(model, table, target="stage").question[0]
    for closed in (first, [first], [model.schema_.question(first)], np.array([first])):
        result = next_questions(model, table, target="stage", closed=closed)
        assert first not in result.question
        assert np.isnan(result.rewards[:, result.questions.index(first)]).all()


def test_questions_can_be_closed_by_row(model, table):
    rows = table.iloc[[0, 0, 0]]
    expected = next_questions(model, rows, target="stage", closed=[])
    closed = np.zeros((3, len(expected.questions)), dtype=bool)
    closed[1, expected.index[1]] = True
    closed[2] = True
    result = next_questions(model, rows, target="stage", closed=closed)
    assert result.question[0] == expected.question[0]
    assert result.question[1] not in (None, expected.question[1])
    assert result.question[2] is None
    assert result.index[2] == -1


def test_a_question_may_reveal_several_variables(body_model, table):
    rows = table.assign(age=[50.0, None] * (N_ROWS // 2), weight=None)
    result = next_questions(body_model, rows, target="stage")
    place = result.questions.index("body")
    assert not np.isnan(result.rewards[:, place]).any()  # half of the answer is known: it is still open
    closed = np.zeros((N_ROWS, len(result.questions)), dtype=bool)
    closed[:, place] = True
    n_known = rows.drop(columns=["name", "stage", "age", "weight"]).notna().sum(axis=1).to_numpy()
    is_over = (
        next_questions(body_model, rows, target="stage", closed=closed, stop=Stop(after=1)).index < 0
    )
    # A closed question with an answer was asked, and counts; without an answer it does not.
    assert np.array_equal(is_over, (n_known > 0) | rows["age"].notna().to_numpy())


def test_a_budget_counts_the_costs_of_answered_questions(body_model, people):
    rows = people(2, seed=5, missing=0)
    rows = rows.assign(visits=None, smoker=None, pain=None, town=None, colour=None)
    rows[["age", "weight"]] = rows[["age", "weight"]].mask([[False] * 2, [True] * 2])
    result = next_questions(body_model, rows, target="stage", stop=Stop(budget=3.5))
    assert result.question[0] is None  # the body cost 3
    assert result.question[1] is not None


def test_no_rows_have_no_questions(model, table):
    result = next_questions(model, table.iloc[:0], target="stage")
    assert result.question == ()
    assert result.rewards.shape == (0, 8)


def test_several_targets_have_a_prediction_each(model, table):
    result = next_questions(model, table, target=["stage", "pain"])
    assert set(result.predictions) == {"stage", "pain"}
    assert not {"stage", "pain"} & set(result.question)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v, o: (v, o.astype(int)), "'observed' must hold booleans, got int64"),
        (lambda v, o: (v, o[:3]), r"must have the shape \(12, 9\), got \(3, 9\)"),
        (lambda v, o: (v[0], o[0]), r"shape \[rows, columns\], got an array of shape \(9,\)"),
        (lambda v, o: (v[:, :4], o[:, :4]), "4 columns; .* 9 columns, or 8 without 'stage'"),
        (lambda v, o: (v, np.ones_like(o)), "row 0, column 1 is marked as observed, but it is nan"),
        (lambda v, o: (v, o, o), "got a tuple of 3"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(model, arrays, change, message):
    with pytest.raises(TableError, match=message):
        next_questions(model, change(*arrays), target="stage")


def test_evidence_that_does_not_fit_is_refused(model):
    with pytest.raises(TableError, match="3 variables, but the model has 8"):
        next_questions(model, Evidence.empty(2, 3), target="stage")
    evidence = Evidence(np.full((1, 8), np.nan, np.float32), np.eye(1, 8, 2, dtype=bool))
    with pytest.raises(TableError, match="row 0, column 2 is marked as observed"):
        next_questions(model, evidence, target="stage")


@pytest.mark.parametrize(
    ("closed", "error", "message"),
    [
        ("height", SchemaError, r"no question 'height'\. Did you mean 'weight'\? Questions are: 'age'"),
        (np.zeros((N_ROWS, 8)), TableError, "'closed' must hold booleans, got float64"),
        (np.zeros((3, 8), dtype=bool), TableError, r"must have the shape \(12, 8\), got \(3, 8\)"),
    ],
)
def test_closed_questions_that_do_not_fit_are_refused(model, table, closed, error, message):
    with pytest.raises(error, match=message):
        next_questions(model, table, target="stage", closed=closed)


def test_a_target_is_needed(model, table):
    with pytest.raises(TargetError, match="needs a target"):
        next_questions(model, table)
    with pytest.raises(TargetError, match="'height' is"):
        next_questions(model, table, target="height")
    with pytest.raises(StopError):
        next_questions(model, table, target="age", stop=Stop(risk=0.1))  # a quantity needs within
