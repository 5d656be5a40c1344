"""What happens before the first training step: checks, the network, the fingerprint."""

from functools import partial

import numpy as np
import pytest
import torch

from eddi.errors import TableError, TrainingError
from eddi.model.recipe import DEFAULT, PAPER
from eddi.model.training import preparation
from eddi.model.training.preparation import (
    build_network,
    check_observed,
    count_answers,
    find_device,
    fingerprint,
)
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.series.time_section import TimeSection
from eddi.table.survival.survival import Survival
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind, Variable


def build(schema, recipe=DEFAULT, seed=0):
    numbers = np.arange(3.0)[:, None] * np.ones(len(schema.variables))
    coding = Coding.fit(schema, numbers, recipe.scaling)
    return build_network(schema, coding, "pnp", recipe, seed=seed)


def kinds(network):
    return [spec.kind for spec in network.specs]


def test_the_default_recipe_has_a_likelihood_for_each_kind(people_schema):
    assert kinds(build(people_schema)) == [variable.kind for variable in people_schema.variables]


def test_the_recipe_of_the_paper_codes_all_but_binary_variables_as_numbers(people_schema):
    network = build(people_schema, PAPER)
    assert set(kinds(network)) == {Kind.REAL, Kind.BINARY}
    assert network.specs[people_schema.position("pain")].n_levels == 4


def test_the_same_seed_builds_the_same_network(people_schema):
    first, again, other = (
        next(build(people_schema, seed=seed).decoder.parameters()) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_building_a_network_does_not_use_the_global_random_generator(people_schema):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    build(people_schema)
    assert torch.equal(torch.rand(3), expected)


def test_answers_count_in_rows_with_a_known_target():
    schema = Schema((Variable("x", Kind.REAL), Variable("y", Kind.REAL), Variable("z", Kind.REAL)))
    numbers = np.array([[1, 2, np.nan], [3, np.nan, 4], [5, 6, 7]])
    assert count_answers(schema, numbers, ["y"]) == (2, 2, 1)
    assert count_answers(schema, numbers, ["y", "z"]) == (3, 2, 2)
    assert count_answers(schema, numbers, []) == (3, 2, 2)


@pytest.mark.parametrize("device", ["quantum", "cuda:99"])
def test_a_device_that_is_not_available_is_refused(device):
    with pytest.raises(TrainingError, match=rf"device '{device}' is not available.*device=\"cpu\""):
        find_device(device)


def test_auto_finds_a_device():
    assert find_device("auto").type in ("cpu", "cuda")


@pytest.mark.parametrize(("n_rows", "description"), [(0, "no rows"), (1, "one row")])
def test_too_few_rows_are_refused(people_schema, n_rows, description):
    with pytest.raises(TableError, match=f"a table with {description} has no variation"):
        check_observed(people_schema, n_rows, np.full(8, n_rows))


def test_a_variable_that_is_never_observed_is_named(people_schema):
    n_observed = np.array([3, 0, 3, 3, 3, 3, 3, 3])
    with pytest.raises(TableError, match=r"'visits' has no observed value. Exclude the variable"):
        check_observed(people_schema, 3, n_observed)


def test_the_fingerprint_depends_on_every_cell_the_missing_values_and_the_schema(people_schema):
    evidence = Evidence.of(np.ones((3, 8)))
    changed = evidence.values.copy()
    changed[2, 7] = 0
    others = [
        (people_schema, Evidence(changed, evidence.observed)),
        (people_schema, evidence.hide([7])),
        (people_schema.with_question("both", reveals=["age", "town"]), evidence),
    ]
    fingerprints = {fingerprint(people_schema, evidence), *(fingerprint(*other) for other in others)}
    assert len(fingerprints) == 4
    assert fingerprint(people_schema, evidence) == fingerprint(people_schema, evidence[:])


def test_warnings_are_about_one_row_of_each_group():
    numbers, groups = np.arange(6.0)[:, None], np.array([5, 5, 2, 2, 2, 9])
    rows = preparation.draw_independent_rows(numbers, groups)
    assert sorted(groups[rows[:, 0].astype(int)]) == [2, 5, 9]
    assert preparation.draw_independent_rows(numbers, None) is numbers


def test_a_window_without_values_is_an_error_about_the_windows():
    time = TimeSection("id", "t", unit="h", windows=(0, 1), repeats={"x": "last"})
    schema = Schema((Variable("x", "real"),)).with_time(time)
    with pytest.raises(
        TableError, match=r"'x 0-1 h ago' has no value at any decision\. Change the windows"
    ):
        check_observed(schema, 5, np.array([5, 5, 0]))


def test_a_static_variable_without_values_is_an_error_about_the_table_of_persons():
    schema = Schema((Variable("age", Kind.REAL), Variable("hr", Kind.REAL)))
    schema = schema.with_time(TimeSection("id", "hour", windows=(1,), repeats={"hr": "last"}))
    counts = np.array([0 if name == "age" else 9 for name in schema.names])
    with pytest.raises(
        TableError, match=r"'age' has no observed value\. Give the table with one row per person"
    ):
        check_observed(schema, 9, counts)


def survival_numbers(schema, n_rows, n_events):
    """Rows with an answer and a survival time, of which the first ones are events."""
    is_event = (np.arange(n_rows) < n_events).astype(float)
    times = SurvivalTimes(np.linspace(1, 9, n_rows), is_event)
    return np.column_stack([np.ones(n_rows), times.to_numbers(schema["death"].survival.edges)])


def test_events_of_a_survival_target_are_counted():
    outcome = Survival("time", "event", edges=(3.0, 6.0, 9.0))
    schema = Schema((Variable("x", Kind.REAL), Variable("death", Kind.SURVIVAL, survival=outcome)))
    numbers = survival_numbers(schema, 20, 6)
    assert preparation.count_target_events(schema, numbers, ("death",)) == 6
    assert preparation.count_target_events(schema, numbers, ("x",)) is None
    numbers[0, 1] = np.nan
    assert preparation.count_target_events(schema, numbers, ("death",)) == 5
    persons = np.arange(20) // 4  # the events are those of two persons
    assert preparation.count_target_events(schema, numbers, ("death",), persons) == 2


def test_a_table_with_few_events_counts_as_few_rows():
    rows = Evidence(np.ones((400, 3), dtype=np.float32), np.ones((400, 3), dtype=bool))
    table = partial(preparation.PreparedTable, None, rows, 400, "")
    assert table().n_complete_rows == 400
    assert table(n_events=90).n_complete_rows == 90
    assert table(n_events=900).n_complete_rows == 400
