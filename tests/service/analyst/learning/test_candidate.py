"""A candidate has the schema, target and recipe of the current version."""

from types import SimpleNamespace
from typing import Any

import pytest

from eddi.service.analyst.learning.candidate import LearningConflictError, check_learns


def test_a_model_without_training_does_not_learn() -> None:
    questionnaire: Any = SimpleNamespace(model=object())
    with pytest.raises(LearningConflictError, match="does not learn from interviews"):
        check_learns(questionnaire)


def test_a_trained_model_learns(model: Any) -> None:
    questionnaire: Any = SimpleNamespace(model=model.model_)
    assert check_learns(questionnaire) is model.model_
