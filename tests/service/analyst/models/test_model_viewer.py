"""Models loaded for viewing, with their held-out rows."""

from dataclasses import replace

import pytest

from eddi.service.analyst.models import model_viewer
from eddi.service.analyst.models.model_viewer import ModelViewer, RowNotFoundError
from eddi.service.analyst.models.trained_model import ModelNotFoundError


@pytest.fixture
def viewer(gallery):
    return ModelViewer(gallery)


def test_a_model_is_loaded_with_its_held_out_rows(viewer, gallery):
    loaded = viewer.load(gallery.digests["age"])
    assert loaded.origin.held_out == tuple(range(5, 25))
    assert loaded.rows.num_rows == 20
    assert loaded.rows["name"][0].as_py() == "person 5"
    assert loaded.model.schema.question("smoker").text == "Do you smoke?"


def test_a_model_is_loaded_once_until_others_displace_it(viewer, gallery, monkeypatch):
    monkeypatch.setattr(model_viewer, "MAX_LOADED", 2)
    first = viewer.load(gallery.digests["age"])
    assert viewer.load(gallery.digests["age"]).model is first.model
    for name in ("stage", "new"):
        viewer.load(gallery.digests[name])
    assert viewer.load(gallery.digests["age"]).model is not first.model


def test_decision_paths_are_cached(viewer, gallery):
    loaded = viewer.load(gallery.digests["age"])
    assert viewer.decision_path(loaded, 7) is viewer.decision_path(loaded, 7)
    assert viewer.decision_path(loaded, 7).target == "age"


def test_only_held_out_rows_have_a_decision_path(viewer, gallery):
    loaded = viewer.load(gallery.digests["age"])
    with pytest.raises(RowNotFoundError, match="row 3 was not held out"):
        viewer.decision_path(loaded, 2)


def test_an_unknown_model_is_refused(viewer):
    with pytest.raises(ModelNotFoundError, match="there is no model 'abc'"):
        viewer.load("abc")


def test_a_model_without_an_evaluation_has_no_document(viewer, gallery):
    assert viewer.evaluation(gallery.get_model(gallery.digests["new"])) is None
    assert viewer.evaluation(gallery.get_model(gallery.digests["age"]))["target"] == "age"


def test_the_rows_of_a_deleted_table_are_not_kept_in_memory(viewer, gallery, monkeypatch):
    digest = gallery.digests["age"]
    viewer.decision_path(viewer.load(digest), 7)
    origin = replace(gallery.get_model(digest), table=None)
    monkeypatch.setattr(gallery, "get_model", lambda _: origin)
    with pytest.raises(RowNotFoundError, match="no longer available"):
        viewer.decision_path(viewer.load(digest), 7)
    assert viewer._loaded[digest][1] is None
    assert not viewer._paths
