"""Which questions are open: budgets, questions that are always asked, and prerequisites."""

from dataclasses import replace

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Schema, Stop
from eddi.interview.rules import InterviewRules
from eddi.strategy import FixedOrder, Information, Random
from eddi.table.evidence import Evidence
from eddi.table.question import Question

ORDER = ("age", "visits", "smoker", "pain", "town", "weight", "colour")
VALUES = {
    **{"age": 61, "visits": 3, "smoker": "yes", "pain": "mild", "town": "Bala", "weight": 80},
    "colour": "red",
}


def ask_all(model, *, stop=None, order=ORDER, values=VALUES):
    """The questions of an interview with a fixed order, as far as the rules allow it."""
    interview = Interview(model, "stage", strategy=FixedOrder(order), stop=stop)
    names = []
    while (question := interview.ask()) is not None:
        names.append(question.name)
        interview.tell(question, values[question.name])
    return names


@pytest.fixture(scope="session")
def with_costs(people_schema):
    """Builds the schema of people with other costs: `with_costs(age=5)`."""

    def build(schema: Schema = people_schema, **costs: float) -> Schema:
        for name, cost in costs.items():
            schema = schema.with_question(name, cost=cost)
        return schema

    return build


def test_rounding_does_not_reduce_a_budget(with_schema, with_costs):
    schema = with_costs(**dict.fromkeys(ORDER, 0.1))
    assert ask_all(with_schema(schema), stop=Stop(budget=0.3)) == list(ORDER[:3])


def test_a_question_that_is_too_expensive_is_skipped_for_a_cheaper_one(with_schema, with_costs):
    schema = with_costs(age=5, visits=2, smoker=9)
    names = ask_all(with_schema(schema), stop=Stop(budget=8))
    assert names == ["age", "visits", "pain"]


def test_no_question_is_asked_if_the_budget_covers_none(with_schema, with_costs):
    assert ask_all(with_schema(with_costs(**dict.fromkeys(ORDER, 5))), stop=Stop(budget=4)) == []


def test_a_question_without_an_answer_still_costs(with_schema, with_costs):
    values = {**VALUES, "age": UNKNOWN, "visits": DECLINED}
    schema = with_costs(**dict.fromkeys(ORDER, 2))
    assert ask_all(with_schema(schema), stop=Stop(budget=6), values=values) == [
        "age",
        "visits",
        "smoker",
    ]


def test_questions_marked_always_are_asked_after_the_stopping_rule_ends_the_interview(
    with_schema, people_schema
):
    schema = people_schema.with_question("colour", always=True).with_question("town", always=True)
    assert ask_all(with_schema(schema), stop=Stop(after=2)) == ["age", "visits", "town", "colour"]


def test_questions_marked_always_are_asked_in_order_if_no_rule_ends_the_interview(
    with_schema, people_schema
):
    assert ask_all(with_schema(people_schema.with_question("pain", always=True))) == list(ORDER)


def test_the_cost_of_questions_marked_always_is_reserved(with_schema, with_costs):
    schema = with_costs(**dict.fromkeys(ORDER, 2)).with_question("colour", always=True, cost=3)
    assert ask_all(with_schema(schema), stop=Stop(budget=6)) == ["age", "colour"]


def test_questions_marked_always_may_exceed_the_budget(with_schema, with_costs):
    schema = with_costs(age=1).with_question("colour", always=True, cost=50)
    assert ask_all(with_schema(schema), stop=Stop(budget=2)) == ["colour"]


def test_questions_marked_always_are_not_asked_again_once_declined(with_schema, people_schema):
    model = with_schema(people_schema.with_question("colour", always=True))
    interview = Interview(model, "stage", stop=Stop(after=0))
    assert interview.ask().name == "colour"
    interview.tell("colour", DECLINED)
    assert interview.ask() is None


def test_a_question_is_asked_after_its_prerequisite_is_met(with_schema, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes"})
    assert ask_all(with_schema(schema)) == [
        "visits",
        "smoker",
        "age",
        "pain",
        "town",
        "weight",
        "colour",
    ]


@pytest.mark.parametrize("answer", ["no", UNKNOWN, DECLINED])
def test_a_question_is_never_asked_if_its_prerequisite_is_not_met(with_schema, people_schema, answer):
    schema = people_schema.with_question("age", requires={"smoker": "yes"}, always=True)
    names = ask_all(with_schema(schema), values={**VALUES, "smoker": answer})
    assert names == ["visits", "smoker", "pain", "town", "weight", "colour"]


def test_prerequisites_may_have_prerequisites(with_schema, people_schema):
    schema = people_schema.with_question("age", requires={"pain": ("mild", "strong")})
    schema = schema.with_question("pain", requires={"smoker": "yes"})
    model = with_schema(schema)
    assert ask_all(model)[:4] == ["visits", "smoker", "pain", "age"]
    assert "age" not in ask_all(model, values={**VALUES, "pain": "none"})
    names = ask_all(model, values={**VALUES, "smoker": "no"})
    assert not {"pain", "age"} & set(names)


@pytest.mark.parametrize(
    ("requires", "is_asked"),
    [
        ("visits > 2", True),
        ("visits >= 3", True),
        ("visits > 3", False),
        ("weight >= 80", True),
        ("weight > 80", False),
        ("weight = 80", True),
        (["weight > 70", "weight < 75"], False),
        ("pain > none", True),
        ("pain > mild", False),
        ("town was answered", True),
    ],
)
def test_a_prerequisite_may_be_a_comparison(with_schema, people_schema, requires, is_asked):
    model = with_schema(people_schema.with_question("age", requires=requires))
    assert ("age" in ask_all(model)) == is_asked


@pytest.mark.parametrize("answer", [UNKNOWN, DECLINED])
def test_a_question_without_a_value_was_not_answered(with_schema, people_schema, answer):
    model = with_schema(people_schema.with_question("age", requires="town was answered"))
    assert "age" not in ask_all(model, values={**VALUES, "town": answer})


def test_all_prerequisites_must_be_met(with_schema, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes", "town": ("Aber", "Bala")})
    assert ask_all(with_schema(schema))[:4] == ["visits", "smoker", "pain", "town"]
    assert "age" not in ask_all(with_schema(schema), values={**VALUES, "town": "Conwy"})


def test_undoing_an_answer_closes_the_questions_that_require_it(with_schema, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes"})
    interview = Interview(with_schema(schema), "stage")
    interview.tell("smoker", "yes")
    assert "age" in interview.rewards()
    interview.undo()
    assert "age" not in interview.rewards()


def test_an_answer_may_be_volunteered_before_its_prerequisite_is_met(with_schema, people_schema):
    schema = people_schema.with_question("age", requires={"smoker": "yes"})
    interview = Interview(with_schema(schema), "stage")
    interview.tell("age", 61)
    assert interview.record.answered_variables() == {"age"}


def test_questions_marked_never_are_not_asked_but_may_be_answered(with_schema, people_schema):
    model = with_schema(mark_never(people_schema, "age", "town"))
    assert ask_all(model) == [name for name in ORDER if name not in ("age", "town")]
    interview = Interview(model, "stage", strategy=FixedOrder(ORDER))
    interview.tell("age", 61)
    assert interview.record.answers[0].question == "age"


def mark_never(schema: Schema, *names: str) -> Schema:
    questions = tuple(Question(name, (name,), never=True) for name in names)
    return replace(schema, explicit_questions=questions)


def build_rules(model, *, strategy=None, stop=None):
    return InterviewRules(model.fitted(), ("stage",), strategy or Information(), stop or Stop())


def test_open_questions_do_not_depend_on_the_other_rows(with_schema, with_costs, people):
    schema = with_costs(age=5, pain=2).with_question("town", always=True)
    schema = schema.with_question("weight", requires={"smoker": "yes"})
    model = with_schema(schema)
    rules = build_rules(model, stop=Stop(budget=6))
    evidence = model.evidence(people(12, seed=2, missing=0.6))
    random = np.random.default_rng(0)
    closed, spent = random.random((12, 8)) < 0.2, random.uniform(0, 6, 12)
    in_batch = rules.open_questions(evidence, closed, spent)
    assert 0 < in_batch.mean() < 1
    for row in range(12):
        alone = rules.open_questions(evidence[[row]], closed[[row]], spent[[row]])
        assert (alone[0] == in_batch[row]).all()


def test_questions_without_prerequisites_that_do_not_reveal_the_target_are_unconditional(
    with_schema, people_schema
):
    schema = mark_never(people_schema, "town").with_question("age", requires={"smoker": "yes"})
    rules = build_rules(with_schema(schema))
    names = np.array([question.name for question in rules.model.schema.questions])
    assert set(names[~rules.askable]) == {"stage", "town"}
    assert set(names[~rules.unconditional]) == {"stage", "town", "age"}


@pytest.mark.parametrize(
    ("rules", "looks_ahead"),
    [
        ({}, True),
        ({"stop": Stop(after=1)}, False),
        ({"strategy": Random()}, False),
    ],
)
def test_lookahead_needs_a_strategy_with_lookahead_and_two_questions(
    model, rules, looks_ahead, monkeypatch
):
    monkeypatch.setattr(Information, "looks_ahead", lambda *_: True)
    assert (build_rules(model, **rules).lookahead_strategy is not None) == looks_ahead


def test_the_last_question_of_an_interview_is_chosen_without_lookahead(model):
    n_asked, nothing = np.array([0, 1, 2, 1]), Evidence.empty(4, 8)
    rules = build_rules(model, stop=Stop(after=3, budget=3))  # every question costs 1
    askable = np.tile(rules.unconditional, (4, 1))
    spent = np.array([0.0, 1.0, 1.0, 2.0])
    assert rules.allows_every_pair(nothing, askable, n_asked=n_asked, spent=spent).tolist() == [
        *(True, True),  # two questions are left
        *(False, False),  # no further question, no budget
    ]
    askable[1, np.flatnonzero(rules.unconditional)[0]] = False
    assert not rules.allows_every_pair(nothing, askable, n_asked=n_asked, spent=spent)[1]


def test_the_budget_of_a_pair_is_that_of_questions_that_are_left(with_schema, people_schema):
    schema = people_schema.with_question("age", cost=10)
    rules = build_rules(with_schema(schema), stop=Stop(budget=12))  # the others cost 1
    observed = np.zeros((2, 8), dtype=bool)
    observed[1, schema.position("age")] = True
    evidence = Evidence(np.zeros((2, 8), dtype=np.float32), observed)
    left = rules.unconditional & ~rules.find_asked(evidence)
    none = np.zeros(2, dtype=int)
    for spent, allowed in (([0.0, 10.0], [True, True]), ([2.0, 10.5], [False, False])):
        pairs = rules.allows_every_pair(evidence, left, n_asked=none, spent=np.array(spent))
        assert pairs.tolist() == allowed


def test_the_budget_of_a_pair_reserves_what_is_always_asked_once(with_schema, people_schema):
    rules = build_rules(
        with_schema(people_schema.with_question("age", cost=10, always=True)), stop=Stop(budget=12)
    )
    nothing, none = Evidence.empty(2, 8), np.zeros(2, dtype=int)
    left = np.tile(rules.unconditional, (2, 1))
    pairs = rules.allows_every_pair(nothing, left, n_asked=none, spent=np.array([0.0, 1.0]))
    assert pairs.tolist() == [True, False]


def test_a_question_of_which_a_part_is_known_counts_as_left_until_it_is_asked(
    with_schema, people_schema
):
    schema = people_schema.with_question("body", reveals=["age", "weight"])
    rules = build_rules(with_schema(schema))
    observed = np.zeros((1, 8), dtype=bool)
    observed[0, schema.position("age")] = True
    evidence = Evidence(np.zeros((1, 8), dtype=np.float32), observed)
    asked, left = rules.find_asked(evidence), rules.unconditional[None]
    assert asked.sum() == 1
    state = {"n_asked": np.ones(1, dtype=int), "spent": np.zeros(1)}
    assert rules.allows_every_pair(evidence, left, **state)[0]
    assert not rules.allows_every_pair(evidence, left & ~asked, **state)[0]


def test_an_empty_batch_has_no_open_questions(model):
    open_ = build_rules(model).open_questions(
        Evidence.empty(0, 8), np.zeros((0, 8), dtype=bool), np.zeros(0)
    )
    assert open_.shape == (0, 8)
