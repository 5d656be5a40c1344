"""The service that the settings describe, with several models."""

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
