"""The comparison of two models: how they differ, and which one is better."""

import copy
from dataclasses import replace

import pytest

from eddi.service.analyst.models.model_viewer import ModelViewer
from eddi.service.analyst.pages import comparison


@pytest.fixture(scope="module")
def pair(gallery):
    """Two loaded models, and their evaluations."""
    viewer = ModelViewer(gallery)
    models = [viewer.load(gallery.digests[name]) for name in ("age", "twin")]
    return models, tuple(viewer.evaluation(loaded.origin) for loaded in models)


def test_differences_between_questions_are_described(model):
    a = model.schema_.with_question("pain", text="Does it hurt?")
    b = a.without("town").with_question("pain", text="How strong is the pain?", cost=3.0, always=True)
    b = b.with_question("body", reveals=["weight", "visits"])
    assert list(comparison.describe_changes(a, b)) == [
        "Only in A: town.",
        "pain is asked as “Does it hurt?” in A and as “How strong is the pain?” in B.",
        "pain costs 1 in A and 3 in B.",
        "pain is always asked in B only.",
    ]
    assert list(comparison.describe_changes(a, a)) == []


def test_different_bounds_are_described(pair):
    (a, b), _ = pair
    changes = list(comparison.describe_changes(a.model.schema, b.model.schema))
    assert "Values of visits: 0 or more in A, 0 to 500 in B." in changes
    assert "pain costs 1 in A and 2 in B." in changes


def test_there_is_no_clear_difference_between_twins(pair):
    (a, b), evaluations = pair
    context = comparison.build_context(a, b, evaluations)
    assert context["verdict"].startswith("No clear difference")
    assert len(context["charts"]) == 2
    assert [line.name for line in context["charts"][0].lines] == ["B", "A"]
    differing = {fact.name for fact in context["facts"] if fact.differs}
    assert "Variables" not in differing


def test_a_model_with_a_smaller_error_on_every_row_is_better(pair):
    (a, b), (first, second) = pair
    better = copy.deepcopy(second)
    n_rows = sum(area is not None for area in first["row_areas"]["rmse"])
    better["row_areas"]["rmse"] = [None if x is None else x / 2 for x in first["row_areas"]["rmse"]]
    verdict = comparison.build_context(a, b, (first, better))["verdict"]
    assert verdict.startswith("B is better: it is better on 100% of the same rows (p < 0.001")
    assert f"paired over {n_rows} rows" in verdict
    assert comparison.build_context(a, b, (better, first))["verdict"].startswith("A is better")


def test_models_with_different_rows_or_targets_are_not_ranked(pair):
    (a, b), (first, second) = pair
    elsewhere = replace(b, origin=replace(b.origin, held_out=(1, 2)))
    verdict = comparison.build_context(a, elsewhere, (first, second))["verdict"]
    assert "evaluated on different rows" in verdict
    other = {**second, "target": "stage"}
    context = comparison.build_context(a, b, (first, other))
    assert "different targets" in context["verdict"]
    assert context["charts"] == []


def test_without_evaluations_there_is_no_verdict(pair):
    (a, b), (first, _) = pair
    context = comparison.build_context(a, b, (first, None))
    assert not context["are_both_evaluated"]
    assert (context["charts"], context["verdict"]) == ([], "")
