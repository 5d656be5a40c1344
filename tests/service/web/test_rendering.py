"""Pages are rendered with escaping and without caching; static files are cached for ever."""

import pytest
from jinja2 import UndefinedError

from eddi.service.web.rendering import Renderer


@pytest.fixture
def renderer():
    return Renderer()


def render_text(renderer, text, **context):
    return renderer.environments["en"].from_string(text).render(context)


def test_text_is_escaped(renderer):
    assert render_text(renderer, "{{ name }}", name="<script>") == "&lt;script&gt;"


def test_a_missing_value_of_a_template_is_an_error(renderer):
    with pytest.raises(UndefinedError):
        render_text(renderer, "{{ absent }}")


def test_the_address_of_a_static_file_changes_with_its_content(renderer):
    name, file = next(iter(renderer.static_files.items()))
    assert renderer.static_url(name) == f"/static/{name}?{file.digest}"
    response = renderer.serve_static(name)
    assert response.body == file.content
    assert "immutable" in response.headers["cache-control"]


def test_an_unknown_static_file_is_not_found(renderer):
    assert renderer.serve_static("../settings.py").status_code == 404
