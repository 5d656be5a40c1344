"""Open questions as pairs of a row and a question."""

import gc
import weakref

import numpy as np
import pytest
import torch

from eddi import Schema, Variable
from eddi.reward import candidates as pairs_module
from eddi.reward.candidates import Pairs

SCHEMA = Schema(tuple(Variable(name, "real") for name in "abcd")).with_question("ab", reveals=["a", "b"])
"""Questions: ab, c, d."""


def opened(observed, target=(), n_levels=None, schema=SCHEMA):
    return Pairs.open(schema, np.array(observed, bool), list(target), n_levels or {})


def listed(pairs):
    return list(zip(pairs.rows.tolist(), pairs.questions.tolist(), strict=True))


def test_every_question_that_shows_something_new_is_open():
    found = opened([[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], target=[3])
    assert listed(found[0]) == [(0, 0), (0, 1), (1, 1), (2, 0)]


def test_only_what_is_unseen_of_a_question_has_a_cell():
    pairs = opened([[1, 0, 1, 0], [0, 0, 1, 0]], target=[3])[0]
    assert pairs.cells.tolist() == [1, 4, 5]
    assert pairs.variables.tolist() == [1, 0, 1]
    assert pairs.owner.tolist() == [0, 1, 1]


@pytest.mark.parametrize("target", [[0], [1], [0, 1]])
def test_a_question_that_touches_the_target_is_closed(target):
    assert listed(opened([[0, 0, 0, 0]], target)[0]) == [(0, 1), (0, 2)]


def test_a_row_whose_target_is_known_has_nothing_open():
    assert listed(opened([[0, 0, 0, 1], [0, 0, 1, 0]], target=[3])[0]) == [(1, 0)]
    assert listed(opened([[0, 0, 1, 1], [0, 0, 1, 0]], target=[2, 3])[0]) == [(1, 0)]


def test_without_a_target_nothing_is_open():
    assert len(opened([[0, 0, 0, 0]])[0]) == 0


def test_no_rows_have_no_pairs():
    assert len(opened(np.zeros((0, 4)), target=[3])[0]) == 0


def test_pairs_are_sorted_by_the_levels_of_their_only_variable():
    found = opened([[0, 0, 0, 0], [1, 0, 0, 0]], target=[3], n_levels={0: 2, 1: 2, 2: 5})
    assert {n: listed(pairs) for n, pairs in found.items()} == {
        0: [(0, 0)],  # two variables at once are drawn together
        2: [(1, 0)],  # only b is left of ab
        5: [(0, 1), (1, 1)],
    }


def test_the_parts_of_a_split_are_the_whole():
    pairs = opened(np.zeros((3, 4)), target=[3])[0]
    parts = [pairs.rows[some].tolist() for some in pairs.split(4)]
    assert parts == [[0, 0, 1, 1], [2, 2]]


def test_cells_are_summed_for_each_pair():
    pairs = opened([[0, 0, 0, 0]], target=[3])[0]
    by_cell = torch.tensor([[[1.0], [2.0], [4.0]]])  # a, b, c
    assert pairs.sum(by_cell).tolist() == [[[3.0], [4.0]]]


def test_a_single_cell_a_pair_needs_no_sum():
    pairs = opened([[1, 0, 0, 0]], target=[3])[0]
    by_cell = torch.rand(5, 2, 3)
    assert pairs.sum(by_cell) is by_cell


def test_schemas_of_the_same_names_are_not_confused():
    other = Schema(tuple(Variable(name, "real") for name in "abcd")).with_question("ab", reveals=["a"])
    assert opened([[0, 0, 0, 0]], target=[3])[0].questions.tolist() == [0, 1]
    assert opened([[0, 0, 0, 0]], target=[3], schema=other)[0].questions.tolist() == [0, 1, 2]


def test_few_schemas_are_kept_alive():
    schema = Schema((Variable("a", "real"), Variable("b", "real")))
    gone = weakref.ref(schema)
    opened([[0, 0]], target=[1], schema=schema)
    del schema
    for place in range(pairs_module.MAX_KEPT):
        other = Schema((Variable("a", "real"), Variable(f"b{place}", "real")))
        opened([[0, 0]], target=[1], schema=other)
    gc.collect()
    assert gone() is None
