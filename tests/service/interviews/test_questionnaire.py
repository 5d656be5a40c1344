"""A questionnaire is a model's file with a target and rules."""

import hashlib

import pytest

from eddi import Stop
from eddi.errors import ModelFileError, TargetError
from eddi.service.interviews.questionnaire import Questionnaire


def test_it_goes_by_the_name_and_the_seal_of_its_file(model_file, questionnaire):
    assert questionnaire.name == "people"
    assert questionnaire.seal == hashlib.sha256(model_file.read_bytes()).hexdigest()
    assert questionnaire.target == ("stage",)


def test_its_interviews_keep_its_rules(model_file):
    short = Questionnaire.load(model_file, ["stage", "weight"], stop=Stop(after=0))
    assert short.interview().target == ("stage", "weight")
    assert short.interview().ask() is None
    assert short.interview("weight").target == ("weight",)


def test_a_model_without_a_target_needs_one(model_file):
    with pytest.raises(TargetError, match=r"no target of its own\. Give --target, one of: age, visits"):
        Questionnaire.load(model_file)
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        Questionnaire.load(model_file, "mood")


def test_a_file_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(ModelFileError):
        Questionnaire.load(tmp_path / "none.eddi", "stage")
