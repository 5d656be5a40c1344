"""The example that makes EDDI a method of AFABench."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import eddi

FOLDER = Path(__file__).parents[2] / "examples" / "afabench"


pytestmark = pytest.mark.slow  # a model is fitted


@pytest.fixture(scope="module")
def example():
    """The modules of the example, which import each other by name."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in ("eddi_method", "tasks", "evaluate")}
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    features = random.normal(size=(200, 4)).astype(np.float32)
    return features, (features[:, 1] + 0.5 * features[:, 3] > 0).astype(int)


@pytest.fixture(scope="module")
def method(example, rows):
    features, labels = rows
    table = {f"x{i}": column for i, column in enumerate(features.T)} | {"y": labels}
    schema = eddi.Schema.infer(table, targets=["y"]).with_question("pair", reveals=["x0", "x1"])
    model = eddi.PartialVAE(schema, "y", max_steps=200, random_state=0, device="cpu").fit(table)
    return example["eddi_method"].EddiMethod(model)


def mask_features(rows, observed):
    features = torch.tensor(rows[0][: len(observed)])
    mask = torch.tensor(observed, dtype=torch.bool)
    return features * mask, mask


def test_a_selection_is_a_question_counted_from_1(method, rows):
    assert len(method.selections) == 3  # the pair, x2, x3
    masked, mask = mask_features(rows, [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    action = method.act(masked, mask)
    assert action.shape == (4, 1)
    assert action[:, 0].tolist() == [1, 3, 3, 0]


def test_selections_that_were_made_are_not_repeated(method, rows):
    masked, mask = mask_features(rows, np.zeros((2, 4)))
    selected = torch.tensor([[True, False, False], [True, True, True]])
    assert method.act(masked, mask, selected)[:, 0].tolist() == [3, 0]


def test_a_soft_budget_stops_where_no_feature_is_informative(method, rows):
    masked, mask = mask_features(rows, [[0, 0, 0, 0], [1, 1, 0, 1]])
    method.set_cost_param(0.05)
    assert method.act(masked, mask)[:, 0].tolist() == [1, 0]
    method.set_cost_param(None)
    assert method.act(masked, mask)[:, 0].tolist() == [1, 2]


def test_predictions_are_probabilities_of_the_classes(method, rows):
    masked, mask = mask_features(rows, np.ones((100, 4)))
    probabilities = method.predict(masked, mask)
    assert probabilities.shape == (100, 2)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(100))
    assert (probabilities.argmax(1).numpy() == rows[1][:100]).mean() > 0.85


def test_class_weights_move_predictions_towards_the_rare_class(example, method, rows):
    masked, mask = mask_features(rows, np.zeros((1, 4)))
    weighted = example["eddi_method"].EddiMethod(method.model, class_weights=[1, 9])
    assert method.predict(masked, mask)[0, 1] < 0.6
    assert weighted.predict(masked, mask)[0, 1] > 0.8


def test_a_method_is_saved_and_loaded(example, method, rows, tmp_path):
    weighted = example["eddi_method"].EddiMethod(method.model, class_weights=[1, 2], min_reward=0.01)
    weighted.save(tmp_path)
    loaded = example["eddi_method"].EddiMethod.load(tmp_path, torch.device("cpu"))
    masked, mask = mask_features(rows, np.eye(4))
    torch.testing.assert_close(loaded.predict(masked, mask), weighted.predict(masked, mask))
    assert loaded.cost_param == 0.01
    assert loaded.has_builtin_classifier
    assert loaded.to("cpu").device == torch.device("cpu")


def test_evaluation_follows_the_selections(example, method, rows):
    revealed = torch.tensor(method.model.schema_.reveals_mask[method.selections][:, :-1])
    classes, first = example["evaluate"].predict_steps(method, torch.tensor(rows[0]), revealed, 3)
    assert classes.shape == (4, 200)
    assert (first == 1).all()
    accuracy = (classes == rows[1]).mean(1)
    assert accuracy[3] > accuracy[1] > accuracy[0]


def test_a_random_order_selects_every_feature_once(example, method, rows):
    order = example["evaluate"].RandomOrder(method)
    revealed = torch.tensor(method.model.schema_.reveals_mask[method.selections][:, :-1])
    classes, _ = example["evaluate"].predict_steps(order, torch.tensor(rows[0]), revealed, 4)
    expected = method.predict(*mask_features(rows, np.ones((200, 4)))).argmax(1).numpy()
    assert np.array_equal(classes[3], expected)
    assert np.array_equal(classes[4], expected)  # nothing is left to select


def test_artificial_tasks_have_the_groups_of_the_benchmark(example):
    task = example["tasks"].TASKS["cube-nm-600"](seed=1)
    assert task.train_features.shape == (600, 55)
    assert task.groups == {"context": (0, 1, 2, 3, 4)}
    other = example["tasks"].TASKS["cube-nm-600"](seed=2)
    assert not np.array_equal(task.train_features, other.train_features)


def test_real_tables_are_complete_and_standardised(example):
    import pandas as pd

    table = pd.DataFrame({"town": ["b", "a", None, "b"], "age": [1.0, 2.0, np.nan, 6.0], "k": 3})
    numbers = example["tasks"].standardise(table)
    assert numbers[:, 0] == pytest.approx([0.816, -1.633, 0.0, 0.816], abs=1e-3)
    np.testing.assert_allclose(numbers.mean(0), 0, atol=1e-6)
    assert (numbers[:, 2] == 0).all()
