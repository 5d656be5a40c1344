"""The exported parts compute what PyTorch computes, and suffice for an interview."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import Interview, PartialVAE, Schema, Variable
from eddi.errors import MissingExtraError, ModelFileError
from eddi.model.files import onnx_export
from eddi.model.files.onnx_export import export_onnx, run_part
from eddi.model.recipe import DEFAULT
from eddi.strategy import Information

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.slow
SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=16, folds=3)
ANSWERS = {"age": 61.0, "visits": 4.0, "smoker": 1.0, "pain": 2.0, "town": 1.0}  # in the table's numbers


@pytest.fixture(scope="module")
def fitted(model):
    return model.fitted()


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx") / "new"
    export_onnx(model, folder)
    return folder


@pytest.fixture(scope="module")
def metadata(folder):
    return json.loads((folder / "interview.json").read_text())


@pytest.fixture(scope="module")
def survival_folder(survival_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx-survival")
    export_onnx(survival_model, folder)
    return folder


@pytest.fixture(scope="module")
def evidence(fitted):
    row = np.full((1, len(fitted.schema.variables)), np.nan)
    for name, number in ANSWERS.items():
        row[0, fitted.schema.position(name)] = number
    return fitted.coding.encode(row)


@pytest.fixture(scope="module")
def code(folder, metadata, people_schema):
    """The code of the answers, computed from the exported files alone."""
    coding = {key: np.array(value) for key, value in metadata["coding"].items()}
    places = people_schema.positions(list(ANSWERS))
    numbers = np.array(list(ANSWERS.values()))
    scaled = np.where(coding["logarithmic"][places], np.log1p(numbers), numbers)
    coded = ((scaled - coding["shift"][places]) / coding["scale"][places]).astype(np.float32)
    (terms,) = run_part(folder / "term.onnx", [coded, np.array(places)])
    return (np.array(metadata["code_of_nothing"]) + terms.sum(0))[None].astype(np.float32)


def test_the_code_is_that_of_an_empty_row_plus_the_terms_of_the_answers(fitted, evidence, code):
    np.testing.assert_allclose(code, fitted.code(evidence), rtol=1e-5, atol=1e-5)


def test_the_exported_posterior_is_that_of_the_model(fitted, folder, evidence, code):
    mean, log_var = run_part(folder / "posterior.onnx", [code])
    posterior = fitted.posterior(fitted.code(evidence))
    np.testing.assert_allclose(mean, posterior.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(log_var, posterior.log_var, rtol=1e-5, atol=1e-5)


def test_the_exported_marginal_heads_make_the_predictions_of_the_model(
    fitted, folder, metadata, evidence, code
):
    names = metadata["parts"]["direct"]["outputs"]
    outputs = dict(zip(names, run_part(folder / "direct.onnx", [code]), strict=True))
    predictions = fitted.predict_evidence(evidence, fitted.schema.names)
    weight = fitted.schema.position("weight")
    sd = np.sqrt(outputs["value_variance"][0, weight])
    assert outputs["value_mean"][0, weight] == pytest.approx(predictions["weight"].mean[0], rel=1e-4)
    assert sd == pytest.approx(predictions["weight"].sd[0], rel=1e-4)
    places = metadata["chances"]["direct"]["chances_category"]
    colour = outputs["chances_category"][0, places.index(fitted.schema.position("colour"))]
    np.testing.assert_allclose(colour, predictions["colour"].probabilities[0], rtol=1e-4, atol=1e-5)


def test_the_exported_decoder_takes_any_number_of_draws(fitted, folder, metadata):
    z = torch.randn((7, metadata["latent"]), generator=torch.Generator().manual_seed(1))
    mean, variance, *_ = run_part(folder / "decoder.onnx", [z.numpy()])
    expected = fitted.network.moments(fitted.network.decode(z))
    np.testing.assert_allclose(mean, expected[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(variance, expected[1], rtol=1e-4, atol=1e-4)


def load_example():
    """The module `examples/onnx_interview.py`."""
    path = Path(__file__).parents[3] / "examples" / "onnx_interview.py"
    spec = importlib.util.spec_from_file_location("onnx_interview", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def test_the_exported_curve_of_a_survival_target_is_that_of_the_model(survival_model, survival_folder):
    answers = {"age": 70, "stage": "III"}
    interview = Interview(survival_model, "death")
    for question, answer in answers.items():
        interview.tell(question, answer)
    times, survival = load_example().ExportedModel(survival_folder).survival(answers, "death")
    np.testing.assert_allclose(survival, interview.predict().curve.at(times), atol=1e-5)


def test_the_example_asks_about_a_survival_target_as_the_model_does(survival_model, survival_folder):
    exported = load_example().ExportedModel(survival_folder)
    for answers in ({}, {"stage": "III"}):
        interview = Interview(survival_model, "death")
        for question, answer in answers.items():
            interview.tell(question, answer)
        rewards, expected = exported.rewards(answers, "death", n_draws=400), interview.rewards()
        assert set(rewards) == set(expected)
        for name, reward in expected.items():
            assert rewards[name] == pytest.approx(reward, abs=0.02 + 0.3 * reward)


def test_the_example_interview_without_eddi_asks_the_same_question(model, folder):
    example = load_example()
    answers = {"smoker": "yes", "visits": 3}
    interview = Interview(model, "weight", strategy=Information(reward="latent", n_draws=400))
    for question, answer in answers.items():
        interview.tell(question, answer)
    exported = example.ExportedModel(folder)
    rewards = exported.rewards(answers, "weight", n_draws=400, seed=0)
    expected = interview.rewards()
    assert set(rewards) == set(expected)
    pairs = np.array([[rewards[name], expected[name]] for name in expected])
    assert np.corrcoef(pairs.T)[0, 1] > 0.9
    assert max(rewards, key=rewards.get) == interview.ask().name
    mean, sd = exported.predict(answers, "weight")
    assert mean == pytest.approx(float(interview.predict().mean), abs=0.2 * sd)


def test_an_export_with_other_results_is_refused(model, folder, monkeypatch):
    part = next(iter(onnx_export._parts(model.network_, onnx_export._Example(model.network_, 2))))
    exported = run_part(folder / "term.onnx", [tensor.numpy() for tensor in part.example])
    monkeypatch.setattr(onnx_export, "run_part", lambda *_: exported)
    onnx_export._check(part, folder / "term.onnx")
    other = replace(part, example=(part.example[0] + 1, part.example[1]))
    with pytest.raises(ModelFileError, match=r"terms of 'term.onnx' differs from PyTorch's by"):
        onnx_export._check(other, folder / "term.onnx")


def test_without_onnx_the_error_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"eddi-ml\[onnx\]"):
        export_onnx(model, tmp_path)


def test_a_regression_on_the_factors_is_exported(tmp_path):
    """A model of few rows has no splines, and all its variables have outputs in closed form."""
    random = np.random.default_rng(0)
    items = random.integers(0, 3, size=(60, 4))
    table = pd.DataFrame(items, columns=list("abcd")).assign(ill=items.sum(1) > 5)
    levels = tuple("012")
    questions = [Variable(name, "ordinal", levels=levels) for name in "abcd"]
    schema = Schema(variables=(*questions, Variable("ill", "binary", levels=("no", "yes"))))
    table = table.astype(str).replace({"True": "yes", "False": "no"})
    model = PartialVAE(
        schema=schema, target="ill", recipe=SMALL, max_steps=100, random_state=0, device="cpu"
    ).fit(table)
    fitted = model.fitted()
    assert fitted.network.marginals.level_regressions.mixing_weight.any()
    export_onnx(model, tmp_path / "new")
    evidence = fitted.evidence(table.head(5).drop(columns="ill"), optional=["ill"])
    _, _, *probabilities = run_part(tmp_path / "new/direct.onnx", [fitted.code(evidence).numpy()])
    expected = fitted.predict_evidence(evidence, ("ill",))["ill"].probabilities
    binary = next(part for part in probabilities if part.shape[-1] == 2)
    np.testing.assert_allclose(binary[:, 0], expected, rtol=1e-4, atol=1e-5)
