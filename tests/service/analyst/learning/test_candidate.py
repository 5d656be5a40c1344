"""A candidate has the schema, target and recipe of the current version."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from eddi.estimator_input import DEFAULT_PRIOR_ROWS
from eddi.model.training.question_weights import QuestionWeights
from eddi.service.analyst.learning.candidate import (
    LearningConflictError,
    check_learns,
    fit_candidate,
)


def test_a_model_without_training_does_not_learn() -> None:
    questionnaire: Any = SimpleNamespace(model=object())
    with pytest.raises(LearningConflictError, match="does not learn from interviews"):
        check_learns(questionnaire)


def test_a_trained_model_learns(model: Any) -> None:
    questionnaire: Any = SimpleNamespace(model=model.model_)
    assert check_learns(questionnaire) is model.model_


def test_rows_with_independent_values_shrink_relations_even_without_stated_beliefs(
    model: Any, people: Any, people_schema: Any, tmp_path: Path
) -> None:
    assert not people_schema.beliefs
    n_variables = len(people_schema.variables)
    data: Any = SimpleNamespace(
        rows=pa.Table.from_pandas(people(20, seed=3)),
        question_weights=QuestionWeights.unknown(20, n_variables),
    )
    questionnaire: Any = SimpleNamespace(model=model.model_, target=("stage",))
    candidate = fit_candidate(questionnaire, data, checkpoint=tmp_path / "state", steps=1)
    assert candidate.fitted().training.n_prior_rows == DEFAULT_PRIOR_ROWS
