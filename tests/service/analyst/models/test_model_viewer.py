"""Models to be looked at, with their held-out rows."""

import pytest

from eddi.service.analyst import model_viewer
from eddi.service.analyst.model_viewer import Exhibits, RowNotFoundError
from eddi.service.analyst.workshop import ModelNotFoundError


@pytest.fixture
def shown(gallery):
    return Exhibits(gallery)


def test_a_model_comes_with_the_rows_it_never_saw(shown, gallery):
    exhibit = shown.get(gallery.seals["age"])
    assert exhibit.made.held_out == tuple(range(5, 25))
    assert exhibit.rows.num_rows == 20
    assert exhibit.rows["name"][0].as_py() == "person 5"
    assert exhibit.model.schema_.question("smoker").text == "Do you smoke?"


def test_a_model_is_loaded_once_and_the_oldest_makes_room(shown, gallery, monkeypatch):
    monkeypatch.setattr(model_viewer, "MAX_LOADED", 2)
    first = shown.get(gallery.seals["age"])
    assert shown.get(gallery.seals["age"]).model is first.model
    for name in ("stage", "new"):
        shown.get(gallery.seals[name])
    assert shown.get(gallery.seals["age"]).model is not first.model


def test_an_interview_is_kept_for_whoever_goes_to_and_fro(shown, gallery):
    exhibit = shown.get(gallery.seals["age"])
    assert shown.trail(exhibit, 7) is shown.trail(exhibit, 7)
    assert shown.trail(exhibit, 7).target == "age"


def test_only_rows_that_were_held_out_are_shown(shown, gallery):
    exhibit = shown.get(gallery.seals["age"])
    with pytest.raises(RowNotFoundError, match="row 3 was not held out"):
        shown.trail(exhibit, 2)


def test_an_unknown_model_is_named(shown):
    with pytest.raises(ModelNotFoundError, match="there is no model 'abc'"):
        shown.get("abc")


def test_an_evaluation_is_there_or_not(shown, gallery):
    assert shown.evaluation(shown.made(gallery.seals["new"])) is None
    assert shown.evaluation(shown.made(gallery.seals["age"]))["target"] == "age"
