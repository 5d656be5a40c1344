"""The service that the settings describe, with several models."""

import pytest

from eddi.errors import TrainingError
from eddi.service.open_service import open_service
from eddi.service.settings import Settings


def test_every_model_is_a_questionnaire_and_the_last_is_the_default(model_file, tmp_path):
    other = tmp_path / "others.eddi"
    other.write_bytes(model_file.read_bytes())
    settings = Settings(store="memory:", target="stage")
    service, workshop = open_service(settings, [model_file, other])
    try:
        assert [item.name for item in service.catalogue.all()] == ["others", "people"]
        assert service.catalogue.current().name == "others"
    finally:
        service.close()
        workshop.close()


def test_a_device_that_is_not_available_is_an_error(model_file):
    with pytest.raises(TrainingError, match="device 'nowhere' is not available"):
        open_service(Settings(store="memory:", target="stage", device="nowhere"), [model_file])


def test_models_of_the_catalogue_compute_on_the_device_of_the_settings(model_file):
    service, workshop = open_service(
        Settings(store="memory:", target="stage", device="cpu"), [model_file]
    )
    try:
        assert service.catalogue.device == "cpu"
        assert service.catalogue.current().model.frozen.device.type == "cpu"
    finally:
        service.close()
        workshop.close()
