"""What is exported computes what PyTorch does, and suffices for an interview."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from eddi import Interview, PartialVAE
from eddi.errors import MissingExtraError, ModelFileError
from eddi.model.files import onnx_export
from eddi.model.files.onnx_export import export_onnx, run_part
from eddi.strategy import Information

pytest.importorskip("onnxruntime")
ANSWERS = {"age": 61.0, "visits": 4.0, "smoker": 1.0, "pain": 2.0, "town": 1.0}  # in the table's numbers


@pytest.fixture(scope="module")
def model(people, people_schema):
    """A model of every kind with direct beliefs."""
    return PartialVAE(people_schema, "weight", max_steps=60, random_state=0).fit(people(300, seed=0))


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    where = tmp_path_factory.mktemp("onnx") / "new"
    export_onnx(model, where)
    return where


@pytest.fixture(scope="module")
def facts(folder):
    return json.loads((folder / "interview.json").read_text())


@pytest.fixture(scope="module")
def evidence(model, people_schema):
    row = np.full((1, len(people_schema.variables)), np.nan)
    for name, number in ANSWERS.items():
        row[0, people_schema.position(name)] = number
    return model.coding_.encode(row)


@pytest.fixture(scope="module")
def code(folder, facts, people_schema):
    """The code of the answers, from what was exported alone."""
    coding = {key: np.array(value) for key, value in facts["coding"].items()}
    places = people_schema.positions(list(ANSWERS))
    numbers = np.array(list(ANSWERS.values()))
    warped = np.where(coding["logarithmic"][places], np.log1p(numbers), numbers)
    coded = ((warped - coding["shift"][places]) / coding["scale"][places]).astype(np.float32)
    (terms,) = run_part(folder / "term.onnx", [coded, np.array(places)])
    return (np.array(facts["code_of_nothing"]) + terms.sum(0))[None].astype(np.float32)


def test_the_code_is_the_code_of_nothing_and_the_terms_of_the_answers(model, evidence, code):
    np.testing.assert_allclose(code, model.code(evidence), rtol=1e-5, atol=1e-5)


def test_the_posterior_is_that_of_the_model(model, folder, evidence, code):
    mean, log_var = run_part(folder / "posterior.onnx", [code])
    posterior = model.posterior(model.code(evidence))
    np.testing.assert_allclose(mean, posterior.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(log_var, posterior.log_var, rtol=1e-5, atol=1e-5)


def test_direct_beliefs_are_the_models_predictions(model, folder, facts, evidence, code):
    said = dict(
        zip(facts["parts"]["direct"]["outputs"], run_part(folder / "direct.onnx", [code]), strict=True)
    )
    beliefs = model.predict_evidence(evidence, model.schema_.names)
    weight = model.schema_.position("weight")
    assert said["value_mean"][0, weight] == pytest.approx(beliefs["weight"].mean[0], rel=1e-4)
    assert np.sqrt(said["value_variance"][0, weight]) == pytest.approx(beliefs["weight"].sd[0], rel=1e-4)
    places = facts["chances"]["direct"]["chances_category"]
    colour = said["chances_category"][0, places.index(model.schema_.position("colour"))]
    np.testing.assert_allclose(colour, beliefs["colour"].probabilities[0], rtol=1e-4, atol=1e-5)


def test_the_decoder_says_of_any_number_of_draws_what_the_network_says(model, folder, facts):
    z = torch.randn((7, facts["latent"]), generator=torch.Generator().manual_seed(1))
    mean, variance, *_ = run_part(folder / "decoder.onnx", [z.numpy()])
    expected = model.network_.moments(model.network_.decode(z))
    np.testing.assert_allclose(mean, expected[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(variance, expected[1], rtol=1e-4, atol=1e-4)


def test_the_example_interview_without_eddi_asks_what_eddi_asks(model, folder):
    path = Path(__file__).parents[3] / "examples" / "onnx_interview.py"
    spec = importlib.util.spec_from_file_location("onnx_interview", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    answers = {"smoker": "yes", "visits": 3}
    ours = Interview(model, "weight", strategy=Information(reward="latent", n_draws=400))
    for question, answer in answers.items():
        ours.tell(question, answer)
    theirs = example.ExportedModel(folder)
    rewards = theirs.rewards(answers, "weight", n_draws=400, seed=0)
    expected = ours.rewards()
    assert set(rewards) == set(expected)
    both = np.array([[rewards[name], expected[name]] for name in expected])
    assert np.corrcoef(both.T)[0, 1] > 0.9
    assert max(rewards, key=rewards.get) == ours.ask().name
    mean, sd = theirs.predict(answers, "weight")
    assert mean == pytest.approx(float(ours.predict().mean), abs=0.2 * sd)


def test_an_export_that_computes_something_else_is_refused(model, folder, monkeypatch):
    part = next(iter(onnx_export._parts(model.network_, onnx_export._Example(model.network_, 2))))
    wrong = replace(part, example=(part.example[0] + 1, part.example[1]))
    theirs = run_part(folder / "term.onnx", [each.numpy() for each in part.example])
    monkeypatch.setattr(onnx_export, "run_part", lambda *_: theirs)
    onnx_export._check(part, folder / "term.onnx")
    with pytest.raises(ModelFileError, match=r"terms of 'term.onnx' differs from PyTorch's by"):
        onnx_export._check(wrong, folder / "term.onnx")


def test_without_onnx_the_error_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"eddi-ml\[onnx\]"):
        export_onnx(model, tmp_path)
