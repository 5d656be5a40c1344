"""Candidate questions as pairs of a row and an open question."""

import gc
import weakref
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from eddi import Schema, Variable
from eddi.model.cache import Cache
from eddi.reward.candidates import CandidateCells, CandidatePairs, RevealedVariables

SCHEMA = Schema(tuple(Variable(name, "real") for name in "abcd")).with_question("ab", reveals=["a", "b"])
"""Questions: ab, c, d."""


@dataclass
class SchemaModel:
    """A model of which only the schema and the cache are used."""

    schema: Schema = SCHEMA
    cache: Cache = field(default_factory=Cache)

    def find_ignored(self, _variables):
        return ()


def candidate_pairs(observed, target=(), n_levels=None, model=None):
    mask = np.array(observed, bool)
    return CandidatePairs.by_n_levels(model or SchemaModel(), mask, list(target), n_levels or {})


def rows_and_questions(pairs):
    return list(zip(pairs.rows.tolist(), pairs.questions.tolist(), strict=True))


def test_every_question_that_would_reveal_something_new_is_open():
    groups = candidate_pairs([[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], target=[3])
    assert rows_and_questions(groups[0]) == [(0, 0), (0, 1), (1, 1), (2, 0)]


def test_only_the_unobserved_variables_of_a_question_have_a_cell():
    pairs = candidate_pairs([[1, 0, 1, 0], [0, 0, 1, 0]], target=[3])[0]
    assert pairs.cells.tolist() == [1, 4, 5]
    assert pairs.variables.tolist() == [1, 0, 1]
    assert pairs.owner.tolist() == [0, 1, 1]


@pytest.mark.parametrize("target", [[0], [1], [0, 1]])
def test_a_question_that_reveals_a_target_is_not_a_candidate(target):
    assert rows_and_questions(candidate_pairs([[0, 0, 0, 0]], target)[0]) == [(0, 1), (0, 2)]


def test_a_row_whose_target_is_observed_has_no_open_question():
    one_target = candidate_pairs([[0, 0, 0, 1], [0, 0, 1, 0]], target=[3])
    two_targets = candidate_pairs([[0, 0, 1, 1], [0, 0, 1, 0]], target=[2, 3])
    assert rows_and_questions(one_target[0]) == [(1, 0)]
    assert rows_and_questions(two_targets[0]) == [(1, 0)]


def test_without_a_target_no_question_is_open():
    assert len(candidate_pairs([[0, 0, 0, 0]])[0]) == 0


def test_an_empty_batch_has_no_pairs():
    assert len(candidate_pairs(np.zeros((0, 4)), target=[3])[0]) == 0


def test_pairs_are_grouped_by_the_number_of_levels_of_their_only_variable():
    groups = candidate_pairs([[0, 0, 0, 0], [1, 0, 0, 0]], target=[3], n_levels={0: 2, 1: 2, 2: 5})
    assert {n: rows_and_questions(pairs) for n, pairs in groups.items()} == {
        0: [(0, 0)],  # two variables at once are drawn jointly
        2: [(1, 0)],  # question ab would reveal only b
        5: [(0, 1), (1, 1)],
    }


def test_a_question_with_one_unobserved_variable_reveals_only_that():
    observed = np.array([[0, 0, 0, 0], [1, 0, 0, 0]], bool)
    revealed = RevealedVariables.from_model(SchemaModel(), [3])
    is_open = revealed.find_open(observed, [3])
    is_only = revealed.find_only(is_open)
    single, several = (CandidateCells.from_mask(revealed, m, 4) for m in (is_only, is_open & ~is_only))
    assert list(zip(single.row, single.variable, strict=True)) == [(0, 2), (1, 1), (1, 2)]
    assert list(zip(several.row, several.variable, strict=True)) == [(0, 0), (0, 1)]


def test_batches_of_pairs_together_contain_every_pair():
    pairs = candidate_pairs(np.zeros((3, 4)), target=[3])[0]
    batches = [pairs.rows[batch].tolist() for batch in pairs.batches(4)]
    assert batches == [[0, 0, 1, 1], [2, 2]]


def test_cells_are_summed_for_each_pair():
    pairs = candidate_pairs([[0, 0, 0, 0]], target=[3])[0]
    by_cell = torch.tensor([[[1.0], [2.0], [4.0]]])  # a, b, c
    assert pairs.sum_cells(by_cell).tolist() == [[[3.0], [4.0]]]


def test_pairs_of_one_cell_each_need_no_sum():
    pairs = candidate_pairs([[1, 0, 0, 0]], target=[3])[0]
    by_cell = torch.rand(5, 2, 3)
    assert pairs.sum_cells(by_cell) is by_cell


def test_models_with_the_same_variables_but_other_questions_are_not_confused():
    variables = tuple(Variable(name, "real") for name in "abcd")
    other = SchemaModel(Schema(variables).with_question("ab", reveals=["a"]))
    assert candidate_pairs([[0, 0, 0, 0]], target=[3])[0].questions.tolist() == [0, 1]
    assert candidate_pairs([[0, 0, 0, 0]], target=[3], model=other)[0].questions.tolist() == [0, 1, 2]


def test_revealed_variables_are_computed_once_for_each_model_and_target():
    model = SchemaModel()
    first = RevealedVariables.from_model(model, [3])
    assert RevealedVariables.from_model(model, [3]) is first
    assert RevealedVariables.from_model(model, [2]) is not first
    assert RevealedVariables.from_model(SchemaModel(), [3]) is not first


def test_cached_revealed_variables_are_freed_with_their_model():
    model = SchemaModel()
    candidate_pairs([[0, 0, 0, 0]], target=[3], model=model)
    cached = weakref.ref(RevealedVariables.from_model(model, [3]))
    assert cached() is not None
    del model
    gc.collect()
    assert cached() is None
