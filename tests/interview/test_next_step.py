"""The next step of a batch of interviews, which interviews, simulations and the service share."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

import eddi
from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.interview.next_step import InterviewStates, NextStep, NextSteps, best_question
from eddi.interview.rules import InterviewRules
from eddi.model.prediction import Prediction
from eddi.strategy import FixedOrder, Information, Lasso, Randomesque
from eddi.strategy.stopping import ConfidenceThreshold
from eddi.table.evidence import Evidence
from eddi.table.variable import Variable

N_ROWS = 12
ORDER = ("age", "visits", "smoker", "pain", "town", "weight", "colour")


@dataclass(frozen=True)
class InformationWithGain:
    """Scores like `Information`; one question has a large lookahead gain, which rises with the answers."""

    place: int = 6

    def score(self, model, evidence, target):
        return Information().score(model, evidence, target)

    def looks_ahead(self, model, target):  # noqa: ARG002  # a strategy's signature
        return True

    def lookahead_gain(self, model, evidence, target):  # noqa: ARG002  # a strategy's signature
        gain = torch.zeros((len(evidence), len(model.schema.questions)))
        gain[:, self.place] = 10.0 + torch.from_numpy(evidence.observed.sum(1))
        return gain


@dataclass(frozen=True)
class ConstantScores:
    """Gives every row the same scores."""

    scores: tuple[float, ...]

    def score(self, model, evidence, target):  # noqa: ARG002  # a strategy's signature
        return torch.tensor([self.scores] * len(evidence))


@dataclass(frozen=True)
class UnusedInformation(Information):
    """Fails if it is asked for scores."""

    def score(self, model, evidence, target):  # noqa: ARG002  # a strategy's signature
        pytest.fail("not needed")


@pytest.fixture(scope="module")
def always_model(with_schema, people_schema):
    """The model of people, with a question that is always asked, costs, and a prerequisite."""
    schema = people_schema.with_question("town", always=True, cost=2)
    return with_schema(schema.with_question("weight", requires={"smoker": "yes"}, cost=3))


def build_rules(model, *, strategy=None, stop=None):
    return InterviewRules(model.fitted(), ("stage",), strategy or Information(), stop or Stop())


def make_states(model, people, *, has_deferred=False, n_without_answers=3):
    """Interviews in different states; the first ones have no answer yet."""
    random = np.random.default_rng(0)
    evidence = model.evidence(people(N_ROWS, seed=2, missing=0.6))
    hidden = np.zeros((N_ROWS, 8), dtype=bool)
    hidden[:n_without_answers] = True
    hidden[:, model.schema_.position("stage")] = True
    evidence = evidence.hide(hidden)
    closed = random.random((N_ROWS, 8)) < 0.2
    closed[:2] = False
    n_asked = evidence.observed.sum(1) + (closed & ~evidence.observed).sum(1)
    deferred = random.random((N_ROWS, 8)) < 0.5
    deferred[-1] = True
    return InterviewStates(
        evidence=evidence,
        closed=closed,
        n_asked=n_asked,
        spent=n_asked.astype(np.float64),
        deferred=deferred if has_deferred else None,
    )


def select_row(states, row):
    deferred = None if states.deferred is None else states.deferred[[row]]
    return InterviewStates(
        states.evidence[[row]],
        states.closed[[row]],
        states.n_asked[[row]],
        states.spent[[row]],
        deferred,
    )


def assert_same_step(first, second):
    assert first.question == second.question
    assert list(first.predictions) == list(second.predictions)
    for name, prediction in first.predictions.items():
        np.testing.assert_allclose(
            prediction.probabilities, second.predictions[name].probabilities, atol=1e-5
        )
    assert first.rewards == pytest.approx(second.rewards, rel=1e-3, abs=1e-4)
    assert set(first.ranking) == set(second.ranking)
    assert first.lookahead_gains == pytest.approx(second.lookahead_gains)


@pytest.mark.parametrize("has_deferred", [False, True])
@pytest.mark.parametrize("name", ["model", "always_model"])
@pytest.mark.parametrize(
    "strategy", [Information(), Information("latent"), InformationWithGain(), FixedOrder(ORDER)]
)
@pytest.mark.parametrize(
    "stop", [Stop(), Stop(probability_above=0.7, budget=6), ConfidenceThreshold(0.7)]
)
def test_a_row_has_the_same_step_alone_and_in_a_batch(
    request, people, name, strategy, stop, has_deferred
):
    model = request.getfixturevalue(name)
    rules = build_rules(model, strategy=strategy, stop=stop)
    states = make_states(model, people, has_deferred=has_deferred)
    in_batch = NextSteps(rules, states)
    assert len(in_batch) == N_ROWS
    for row in range(N_ROWS):
        alone = NextSteps(rules, select_row(states, row))
        assert_same_step(in_batch[row], alone[0])


def test_a_step_of_a_batch_is_the_step_of_an_interview(always_model):
    """One batch of interviews with different answers, as the service builds it."""
    answers = (
        {},
        {"age": 61.5},
        {"smoker": "yes", "pain": "mild"},
        {"smoker": "no", "town": DECLINED, "age": UNKNOWN},
    )
    interviews = [Interview(always_model, "stage", stop=Stop(budget=7)) for _ in answers]
    for interview, given in zip(interviews, answers, strict=True):
        for name, value in given.items():
            interview.tell(name, value)
    states = InterviewStates.concatenate([interview.state() for interview in interviews])
    steps = NextSteps(interviews[0].rules, states)
    for row, interview in enumerate(interviews):
        assert_same_step(steps[row], interview.next_step())
        assert steps[row].question == interview.ask()


def test_a_deferred_question_is_asked_only_if_no_other_is_left(model):
    rules = build_rules(model, strategy=FixedOrder(ORDER))
    empty = Interview(model, "stage").state()
    deferred = np.zeros((3, 8), dtype=bool)
    deferred[1, :2] = True
    deferred[2] = True
    states = InterviewStates(
        evidence=Evidence.empty(3, 8),
        closed=np.repeat(empty.closed, 3, axis=0),
        n_asked=np.zeros(3, dtype=np.int64),
        spent=np.zeros(3),
        deferred=deferred,
    )
    steps = NextSteps(rules, states)
    assert [steps[row].question.name for row in range(3)] == ["age", "smoker", "age"]
    assert steps[0].ranking == steps[1].ranking == steps[2].ranking == ORDER


def test_a_deferred_question_is_asked_before_the_interview_ends(model):
    interview = Interview(model, "stage", stop=Stop(after=1))
    interview.tell("age", 61)
    assert interview.ask() is None
    assert interview.next_step(deferred={"pain"}).question.name == "pain"
    interview.tell("pain", DECLINED)
    assert interview.next_step(deferred={"pain"}).question is None


def test_a_deferred_question_does_not_exceed_the_budget(with_schema, people_schema):
    model = with_schema(people_schema.with_question("pain", cost=3))
    interview = Interview(model, "stage", stop=Stop(budget=3))
    interview.tell("age", 61)
    interview.tell("town", "Bala")
    interview.tell("weight", 80)
    assert interview.next_step(deferred={"pain"}).question is None


def test_questions_without_a_value_do_not_count_as_answers(model):
    interview = Interview(model, "stage", stop=Stop(after=1))
    interview.tell("age", UNKNOWN)
    interview.tell("town", DECLINED)
    assert interview.ask() is not None
    interview.tell("pain", "mild")
    assert interview.ask() is None


def test_a_question_marked_always_is_asked_last_of_all_if_it_is_deferred(with_schema, people_schema):
    model = with_schema(people_schema.with_question("town", always=True))
    interview = Interview(model, "stage", strategy=FixedOrder(ORDER), stop=Stop(after=1))
    assert interview.next_step(deferred={"town"}).question.name == "age"
    interview.tell("age", 61)
    assert interview.next_step(deferred={"town"}).question.name == "town"


def test_questions_marked_always_are_asked_after_the_stopping_rule_is_reached(always_model):
    interview = Interview(always_model, "stage", strategy=FixedOrder(ORDER), stop=Stop(after=0))
    assert interview.ask().name == "town"
    interview.tell("town", "Bala")
    assert interview.ask() is None


def test_the_gain_does_not_count_if_a_question_was_declined(model):
    rules = build_rules(model, strategy=InformationWithGain())
    interviews = [Interview(model, "stage") for _ in range(3)]
    interviews[1].tell("age", DECLINED)
    interviews[2].tell("age", 61)
    states = InterviewStates.concatenate([interview.state() for interview in interviews])
    steps = NextSteps(rules, states)
    for row, gain in ((0, 10.0), (2, 11.0)):
        assert steps[row].question.name == "colour"
        assert steps[row].lookahead_gains == {"colour": gain}
    assert steps[1].question.name == steps[1].ranking[0] != "colour"
    assert steps[1].lookahead_gains == {}


def test_the_gain_is_computed_once_for_a_step(model):
    calls = []

    class Counting(InformationWithGain):
        def lookahead_gain(self, model, evidence, target):
            calls.append(len(evidence))
            return super().lookahead_gain(model, evidence, target)

    Interview(model, "stage", strategy=Counting()).next_step()
    assert calls == [1]


def test_the_gain_does_not_count_if_a_question_is_deferred(model):
    interview = Interview(model, "stage", strategy=InformationWithGain())
    assert interview.next_step().question.name == "colour"
    step = interview.next_step(deferred={"visits"})
    assert step.question.name == next(name for name in step.ranking if name != "visits") != "colour"


def test_rewards_and_ranking_exclude_the_gain(model):
    with_gain = Interview(model, "stage", strategy=InformationWithGain()).next_step()
    without = Interview(model, "stage", strategy=Information("target")).next_step()
    assert with_gain.rewards == without.rewards
    assert with_gain.ranking == without.ranking
    assert with_gain.question != without.question


def test_rewards_are_in_nats_and_the_ranking_follows_the_strategy(model):
    step = Interview(model, "stage", strategy=FixedOrder(ORDER)).next_step()
    assert step.ranking == ORDER
    assert step.rewards == Interview(model, "stage").next_step().rewards
    assert list(step.rewards.values()) == sorted(step.rewards.values(), reverse=True)


def test_a_question_with_a_score_of_minus_infinity_is_not_asked(model):
    interview = Interview(model, "stage", strategy=Lasso(("visits",)))
    assert interview.ask().name == "visits"
    interview.tell("visits", 3)
    assert interview.ask() is None


def test_a_question_marked_always_is_asked_even_if_its_score_is_minus_infinity(
    with_schema, people_schema
):
    model = with_schema(people_schema.with_question("age", cost=2).with_question("town", always=True))
    interview = Interview(model, "stage", strategy=Lasso(("visits",)))
    assert interview.ask().name == "visits"
    interview.tell("visits", 3)
    assert interview.ask().name == "town"
    interview.tell("town", "Bala")
    assert interview.ask() is None


def test_a_score_that_is_not_a_number_counts_as_zero(model):
    scores = ConstantScores((np.nan, -1.0, *[-2.0] * 6))
    steps = NextSteps(build_rules(model, strategy=scores), Interview(model, "stage").state())
    assert steps.scores[0, 0] == 0
    assert steps[0].question.name == "age"


def test_choosing_a_question_computes_predictions_only_if_the_stopping_rule_needs_them(
    model, monkeypatch
):
    state = Interview(model, "stage").state()
    calls = []
    monkeypatch.setattr(
        type(model.model_),
        "predict_evidence",
        lambda *_: calls.append("predict") or {"stage": _prediction([0.5, 0.5])},
    )
    assert NextSteps(build_rules(model, stop=Stop(after=3)), state).chosen[0] >= 0
    assert calls == []
    assert NextSteps(build_rules(model, stop=Stop(probability_above=0.9)), state).chosen[0] >= 0
    assert calls == ["predict"]


def test_concatenated_states_have_the_rows_of_all_of_them(model, people):
    states = make_states(model, people)
    parts = [select_row(states, row) for row in range(N_ROWS)]
    joined = InterviewStates.concatenate(parts)
    assert (joined.evidence.values == states.evidence.values).all()
    assert (joined.evidence.observed == states.evidence.observed).all()
    for name in ("closed", "n_asked", "spent"):
        assert (getattr(joined, name) == getattr(states, name)).all()
    assert InterviewStates.concatenate(parts[:1]) is parts[0]


def _prediction(probabilities):
    variable = Variable("ill", "binary", ("no", "yes"))
    return Prediction(
        variable, np.float64(0), np.float64(0), np.zeros(2), np.array(probabilities, dtype=float)
    )


def test_a_step_is_finite_if_all_its_numbers_are():
    step = NextStep(None, {"ill": _prediction([0.2, 0.8])}, {"age": 0.1}, ("age",), {})
    assert step.is_finite()
    assert not replace(step, rewards={"age": np.inf}).is_finite()
    assert not replace(step, predictions={"ill": _prediction([np.nan, 1])}).is_finite()


def place_of(model, name):
    return [question.name for question in model.schema_.questions].index(name)


def leave_open(model, *names):
    """Two interviews in which only these questions of the first one are open."""
    closed = np.ones((2, 8), dtype=bool)
    closed[0, [place_of(model, name) for name in names]] = False
    return InterviewStates(Evidence.empty(2, 8), closed, np.array([7, 8]), np.zeros(2))


def test_the_only_open_question_is_asked_without_scores(model):
    states, place = leave_open(model, "age"), place_of(model, "age")
    for stop in (Stop(), Stop(budget=100)):
        rules = build_rules(model, strategy=UnusedInformation(), stop=stop)
        assert NextSteps(rules, states).chosen.tolist() == [place, -1]


@pytest.mark.parametrize("stop", [Stop(reward_below=1e9), Stop(after=7), Stop() | Stop(after=7)])
def test_a_condition_ends_an_interview_before_its_only_open_question(model, stop):
    rules = build_rules(model, stop=stop)
    assert NextSteps(rules, leave_open(model, "age")).chosen.tolist() == [-1, -1]


def test_a_question_that_a_strategy_never_asks_is_not_asked_as_the_last_one(model):
    rules = build_rules(model, strategy=ConstantScores((-np.inf,) * 8))
    assert NextSteps(rules, leave_open(model, "age")).chosen.tolist() == [-1, -1]


def test_the_best_askable_question_is_chosen():
    scores = np.array([[1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [0.0, -1.0, -2.0]])
    askable = np.array([[True, False, True], [False, False, False], [False, True, True]])
    assert best_question(scores, askable).tolist() == [2, -1, 1]
    never = np.full((1, 3), -np.inf)
    assert best_question(never, np.array([[False, False, True]])).tolist() == [2]


@pytest.mark.parametrize("stop", [Stop(), Stop(probability_above=0.7), Stop(budget=8)])
@pytest.mark.parametrize("strategy", [Information(), InformationWithGain(), FixedOrder(ORDER)])
def test_an_interview_and_a_simulation_ask_the_same_questions(always_model, people, strategy, stop):
    """Rows are complete, because a simulation knows which questions a row cannot answer."""
    table = people(8, seed=6, missing=0.0)
    curves = eddi.simulate(always_model, table, "stage", strategy=strategy, stop=stop)
    for row in range(len(table)):
        interview = Interview(always_model, "stage", strategy=strategy, stop=stop)
        asked = []
        while (question := interview.ask()) is not None:
            asked.append(question.name)
            interview.tell(question, table[question.name].iloc[row])
        simulated = [curves.questions[place] for place in curves.order[row] if place >= 0]
        assert simulated == asked


@pytest.fixture
def withhold(model):
    """States of one interview without answers, with some questions withheld."""

    def make(rules, *names):
        questions = model.schema_.questions
        mask = np.array([[question.name in names for question in questions]])
        return replace(InterviewStates.empty(rules, 1), withheld=mask)

    return make


def test_a_question_that_is_withheld_is_asked_only_if_no_other_one_is_left(model, withhold):
    rules = build_rules(model, strategy=FixedOrder(ORDER))
    names = [question.name for question in model.schema_.questions]
    assert names[NextSteps(rules, withhold(rules, "age", "visits")).chosen[0]] == "smoker"
    assert names[NextSteps(rules, withhold(rules, *names)).chosen[0]] == "age"


def test_a_question_that_is_always_asked_is_never_withheld(always_model, withhold):
    rules = build_rules(always_model, strategy=FixedOrder(("town",)))
    states = withhold(rules, *(question.name for question in always_model.schema_.questions))
    assert always_model.schema_.questions[NextSteps(rules, states).chosen[0]].name == "town"


def test_a_question_that_is_withheld_is_not_asked_at_random(model, withhold):
    rules = build_rules(model, strategy=Randomesque(FixedOrder(ORDER), k=2))
    states = replace(withhold(rules, "age"), uniform=np.array([0.3]))
    assert NextSteps(rules, states)[0].propensities == {"visits": 0.5, "smoker": 0.5}


def test_a_batch_may_contain_interviews_with_and_without_withheld_questions(model, withhold):
    rules = build_rules(model, strategy=FixedOrder(ORDER))
    states = [InterviewStates.empty(rules, 1), withhold(rules, "age")]
    steps = NextSteps(rules, InterviewStates.concatenate(states))
    assert [steps[row].question.name for row in range(2)] == ["age", "visits"]
