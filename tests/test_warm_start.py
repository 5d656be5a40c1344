"""A fit that starts from the weights of an earlier one."""

from dataclasses import replace

import numpy as np
import pytest

import eddi
from eddi.errors import TrainingError
from eddi.model.recipe import DEFAULT
from eddi.model.training.validation import split_by_content
from eddi.table.evidence import Evidence

SHORT = replace(DEFAULT, max_steps=300, passes=None, term=16, hidden=(32, 32))


def make_rows(n_rows, seed=0):
    return Evidence.of(np.random.default_rng(seed).normal(size=(n_rows, 3)))


def test_rows_stay_held_out_when_the_table_grows():
    rows = make_rows(1_000)
    _, before = split_by_content(rows[:500], DEFAULT)
    training, after = split_by_content(rows, DEFAULT)
    assert len(before) == 100
    assert len(after) == 200
    seen = {row.tobytes() for row in training.values}
    n_moved = sum(row.tobytes() in seen for row in before.values)
    assert n_moved <= 15  # the share of held-out rows is exact, so a few change sides


def test_few_rows_are_not_held_out():
    assert split_by_content(make_rows(20), DEFAULT)[1] is None


def test_a_warm_start_from_a_cross_validated_model_holds_rows_out(people, people_schema):
    tiny = replace(SHORT, term=8, hidden=(8, 8))
    model = eddi.PartialVAE(
        people_schema, target="stage", recipe=tiny, max_steps=2, random_state=0, device="cpu"
    ).fit(people(60, seed=1))
    assert model.fitted().folds
    model.set_params(warm_start=True).fit(people(80, seed=1))
    assert not model.fitted().folds
    assert model.fitted().validation_rows is not None


@pytest.mark.slow
def test_a_warm_start_keeps_the_coding_and_takes_fewer_steps(people, people_schema):
    model = eddi.PartialVAE(
        people_schema, target="stage", recipe=SHORT, warm_start=True, random_state=0, device="cpu"
    ).fit(people(60, seed=1))
    before = model.fitted()
    model.fit(people(80, seed=1))
    assert before.history_[-1].max_steps == 300
    assert model.history_[-1].max_steps == 200
    assert (model.coding_.scale == before.coding.scale).all()
    assert (model.coding_.high >= before.coding.high).all()
    assert model.n_rows_ == 80


def test_a_warm_start_may_have_wider_ranges(people, people_schema):
    model = eddi.PartialVAE(people_schema, warm_start=True, max_steps=1, random_state=0)
    model.fit(people(30, seed=1))
    wider = people_schema.with_variable(replace(people_schema["age"], low=-10.0, high=500.0))
    model.set_params(schema=wider).fit(people(30, seed=1))
    assert model.schema_["age"].high == 500.0


def test_a_warm_start_needs_the_same_variables(people, people_schema):
    model = eddi.PartialVAE(people_schema, warm_start=True, max_steps=1, random_state=0)
    model.fit(people(30, seed=1))
    model.set_params(schema=people_schema.without("age"))
    with pytest.raises(TrainingError, match="warm_start needs the variables of the previous fit"):
        model.fit(people(30, seed=1))


@pytest.mark.slow
def test_a_warm_start_is_as_good_as_a_new_fit_on_more_rows(people):
    test = people(500, seed=9, missing=0.0)
    warm = eddi.PartialVAE(target="weight", warm_start=True, random_state=0, device="cpu")
    first = warm.fit(people(300, seed=1)).score(test)
    warm.fit(people(900, seed=1))
    new = eddi.PartialVAE(target="weight", random_state=0, device="cpu").fit(people(900, seed=1))
    assert warm.score(test) > first - 0.02
    assert warm.score(test) > new.score(test) - 0.05
    assert warm.history_[-1].seconds < new.history_[-1].seconds / 2
