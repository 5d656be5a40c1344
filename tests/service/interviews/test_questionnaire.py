"""A questionnaire is a model file with a target and a stopping rule."""

import hashlib

import pytest

from eddi import Stop
from eddi.errors import ModelFileError, TargetError
from eddi.service.interviews.questionnaire import (
    FixedCatalogue,
    NothingPublishedError,
    Questionnaire,
    stop_to_document,
)


def test_a_questionnaire_has_the_name_and_the_hash_of_its_file(model_file, questionnaire):
    assert questionnaire.name == "people"
    assert questionnaire.model_sha256 == hashlib.sha256(model_file.read_bytes()).hexdigest()
    assert questionnaire.target == ("stage",)


def test_interviews_follow_the_rules_of_their_questionnaire(model_file):
    short = Questionnaire.load(model_file, ["stage", "weight"], rules={"after": 0})
    assert short.interview().target == ("stage", "weight")
    assert short.interview().ask() is None
    assert short.interview("weight").target == ("weight",)


def test_a_model_without_a_target_needs_one(model_file):
    with pytest.raises(
        TargetError, match=r"was trained without a target\. Give --target, one of: age, visits"
    ):
        Questionnaire.load(model_file)
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        Questionnaire.load(model_file, "mood")


def test_a_file_that_is_not_a_model_is_rejected(tmp_path):
    with pytest.raises(ModelFileError):
        Questionnaire.load(tmp_path / "none.eddi", "stage")


def test_a_stopping_rule_round_trips_through_its_document(questionnaire):
    stop = Stop(after=3, budget=9.5)
    assert stop_to_document(stop) == {"after": 3, "budget": 9.5}
    assert questionnaire.with_stop({"after": 3, "budget": 9.5}).stop == stop
    assert questionnaire.with_stop({}) is questionnaire
    assert stop_to_document(stop | Stop(after=2)) == {}


def test_a_fixed_catalogue_finds_questionnaires_by_name_and_model(questionnaire):
    other = questionnaire.with_version("other", 1)
    catalogue = FixedCatalogue((questionnaire, other))
    assert catalogue.current() is other
    assert catalogue.current("people") is questionnaire
    assert catalogue.find("any", 7, questionnaire.model_sha256) is other
    assert catalogue.find("people", 1, "0" * 64) is None
    assert catalogue.all() == (questionnaire, other)
    with pytest.raises(NothingPublishedError, match="there is no questionnaire 'third'"):
        catalogue.current("third")
    with pytest.raises(NothingPublishedError, match=r"there is no questionnaire\. Publish one"):
        FixedCatalogue(()).current()
