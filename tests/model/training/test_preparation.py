"""What happens before the first training step."""

import numpy as np
import pytest
import torch

from eddi.errors import TableError, TrainingError
from eddi.model.recipe import DEFAULT, PAPER
from eddi.model.training.preparation import build, check_known, find_device, fingerprint
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind


def coding(schema, scaling):
    numbers = np.arange(3.0)[:, None] * np.ones(len(schema.variables))
    return Coding.fit(schema, numbers, scaling)


def kinds(network):
    return [spec.kind for spec in network.specs]


def test_the_default_recipe_gives_each_kind_its_own_likelihood(people_schema):
    network = build(people_schema, coding(people_schema, "standard"), "pnp", DEFAULT, seed=0)
    assert kinds(network) == [variable.kind for variable in people_schema.variables]


def test_the_papers_recipe_makes_all_but_binary_a_number(people_schema):
    network = build(people_schema, coding(people_schema, "unit"), "pnp", PAPER, seed=0)
    assert set(kinds(network)) == {Kind.REAL, Kind.BINARY}
    assert network.specs[people_schema.position("pain")].n_levels == 4


def test_the_same_seed_builds_the_same_network(people_schema):
    one, two, other = (
        build(people_schema, coding(people_schema, "standard"), "pnp", DEFAULT, seed=seed)
        for seed in (1, 1, 2)
    )
    first = next(one.decoder.parameters())
    assert torch.equal(first, next(two.decoder.parameters()))
    assert not torch.equal(first, next(other.decoder.parameters()))


def test_building_leaves_the_global_random_numbers_alone(people_schema):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    build(people_schema, coding(people_schema, "standard"), "pnp", DEFAULT, seed=0)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("device", ["quantum", "cuda:99"])
def test_a_device_that_is_not_there_is_refused_with_what_to_use(device):
    with pytest.raises(TrainingError, match=rf"device '{device}' is not to be had.*device=\"cpu\""):
        find_device(device)


def test_auto_finds_a_device():
    assert find_device("auto").type in ("cpu", "cuda")


@pytest.mark.parametrize(("n_rows", "words"), [(0, "no rows"), (1, "one row")])
def test_too_few_rows_are_refused(people_schema, n_rows, words):
    with pytest.raises(TableError, match=f"a table of {words} shows no variation"):
        check_known(people_schema, n_rows, np.full(8, n_rows))


def test_a_variable_that_was_never_observed_is_named(people_schema):
    numbers = np.ones((3, 8))
    numbers[:, 1] = np.nan
    with pytest.raises(
        TableError, match=r"no value of 'visits' was ever observed. Set the variable aside"
    ):
        check_known(people_schema, len(numbers), (~np.isnan(numbers)).sum(0))


def test_a_fingerprint_is_of_every_cell_and_hole_and_of_the_schema(people_schema):
    evidence = Evidence.of(np.ones((3, 8)))
    changed = evidence.values.copy()
    changed[2, 7] = 0
    others = [
        (people_schema, Evidence(changed, evidence.observed)),
        (people_schema, evidence.hide([7])),
        (people_schema.with_question("both", reveals=["age", "town"]), evidence),
    ]
    prints = {fingerprint(people_schema, evidence), *(fingerprint(*other) for other in others)}
    assert len(prints) == 4
    assert fingerprint(people_schema, evidence) == fingerprint(people_schema, evidence[:])
