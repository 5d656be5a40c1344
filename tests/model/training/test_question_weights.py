"""Weights of interviews in training."""

import numpy as np
import pytest
import torch

from eddi.errors import TableError
from eddi.model.recipe import DEFAULT
from eddi.model.training.batches import BatchSampler
from eddi.model.training.missingness import weigh_entries
from eddi.model.training.question_weights import (
    InterviewEvidence,
    QuestionWeights,
    SubsetLookup,
    attach_weights,
)
from eddi.model.training.validation import Validation
from eddi.table.evidence import Evidence

CPU = torch.device("cpu")
EVIDENCE = Evidence.of([[0.5, 1.0, 2.0], [0.5, np.nan, 2.0]])
WEIGHTS = QuestionWeights(
    # Of row 0: no question, the first one, the second one, both. Of row 1: one question.
    np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 5.0, 1.0, 1.0]], dtype=np.float32),
    np.array([[1, 2, 0], [1, 0, 0]]),  # the last variable is the target, which is not asked
    np.array([True, True]),
)


def build_lookup(evidence=EVIDENCE, n_extra=0):
    return SubsetLookup.from_evidence(attach_weights(evidence, WEIGHTS), CPU, n_extra=n_extra)


def test_an_entry_has_the_weight_of_its_question_and_the_visible_ones():
    visible = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    weights = build_lookup().weights(torch.zeros(4, dtype=torch.int64), visible)
    assert weights.tolist() == [[2, 3, 1], [2, 4, 2], [4, 3, 3], [4, 4, 4]]


def test_rows_that_are_no_interviews_have_weight_one():
    rows, visible = torch.tensor([1, 2]), torch.ones(2, 3)
    weights = build_lookup(n_extra=1).weights(rows, visible)
    assert weights.tolist() == [[5, 5, 5], [1, 1, 1]]


def test_variables_of_one_question_share_its_bit():
    weights = QuestionWeights(
        np.array([[1.0, 7.0]], dtype=np.float32), np.array([[1, 1, 0]]), np.array([True])
    )
    evidence = attach_weights(EVIDENCE[:1], weights)
    lookup = SubsetLookup.from_evidence(evidence, CPU)
    assert lookup is not None
    both = lookup.weights(torch.tensor([0]), torch.tensor([[1.0, 1.0, 0.0]]))
    assert both.tolist() == [[7, 7, 7]]


def test_selected_rows_keep_their_weights():
    chosen = attach_weights(EVIDENCE, WEIGHTS)[np.array([1])]
    assert isinstance(chosen, InterviewEvidence)
    assert chosen.question_weights.by_subset.tolist() == [[1, 5, 1, 1]]


def test_weights_of_other_rows_are_refused():
    with pytest.raises(
        TableError, match="question_weights has 2 rows of 3 variables, but the table has 1"
    ):
        attach_weights(EVIDENCE[:1], WEIGHTS)


def test_tables_without_interviews_need_no_lookup():
    assert attach_weights(EVIDENCE, None) is EVIDENCE
    assert SubsetLookup.from_evidence(EVIDENCE, CPU) is None


def test_different_weights_have_different_digests():
    other = QuestionWeights(WEIGHTS.by_subset * 2, WEIGHTS.bits, WEIGHTS.is_known)
    assert WEIGHTS.digest() == WEIGHTS[:].digest() != other.digest()


def test_propensities_are_estimated_for_tables_and_known_for_interviews():
    random = np.random.default_rng(0)
    first = random.normal(size=400)
    second = np.where(random.random(400) < np.where(first > 0, 0.9, 0.3), first, np.nan)
    evidence = Evidence.of(np.stack([first, second], axis=1))
    unknown = QuestionWeights.unknown(400, 2)
    known = QuestionWeights(unknown.by_subset, unknown.bits, np.ones(400, dtype=bool))
    joined = attach_weights(
        Evidence.of(np.concatenate([evidence.numbers()] * 2)),
        QuestionWeights.concatenate([unknown, known]),
    )
    weights = weigh_entries(joined)
    np.testing.assert_array_equal(weights[:400], weigh_entries(evidence))
    assert weights[:400, 1].max() > 1.3
    np.testing.assert_array_equal(weights[400:], evidence.observed)


def test_batches_are_weighted_by_what_is_visible():
    sampler = BatchSampler(
        attach_weights(EVIDENCE, WEIGHTS), DEFAULT, n_latent=2, seed=0, device=CPU, targets=(2,)
    )
    batch = next(sampler.batches(0, 1))
    is_first = batch.weights[:, 1] > 0
    nothing_visible = batch.observed.sum(1) == 0
    hidden = batch.hidden_weights[is_first & nothing_visible]
    assert len(hidden)
    assert (hidden == torch.tensor([2.0, 3.0, 1.0])).all()
    assert batch.weights[~is_first & (batch.observed[:, 0] == 1), 2].unique().tolist() == [5.0]


def test_held_out_interviews_are_weighted_like_those_of_training():
    validation = Validation(attach_weights(EVIDENCE, WEIGHTS), DEFAULT, seed=0, device=CPU, targets=(2,))
    batch = validation.batch
    assert set(batch.hidden_weights[:, 2].unique().tolist()) == {1.0, 2.0, 3.0, 4.0, 5.0}
