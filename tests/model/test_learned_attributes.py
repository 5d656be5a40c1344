"""Learned attributes: the estimator and its fitted model have the same ones."""

import pytest

from eddi.model.learned_attributes import LearnedAttributes

NAMES = sorted(name for name in vars(LearnedAttributes) if name.endswith("_") and name[0] != "_")


@pytest.mark.parametrize("name", NAMES)
def test_the_estimator_and_the_fitted_model_have_the_same_attribute(model, name):
    ours, theirs = getattr(model, name), getattr(model.fitted(), name)
    assert ours is theirs or (ours == theirs).all()


def test_there_is_an_attribute_for_everything_that_was_learned():
    assert {"schema_", "network_", "history_", "n_answers_", "ignored_variables_"} <= set(NAMES)
