"""File formats, labels and the optional matplotlib."""

import sys

import pytest

from eddi.errors import EvaluationError, MissingExtraError
from eddi.evaluate import figures

FIRST_BYTES = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_a_figure_is_saved_in_the_format_of_its_extension(tmp_path, suffix):
    path = figures.check_path(tmp_path / f"figure{suffix}")
    figure = figures.figure(2, 1)
    figure.subplots().plot([0, 1])
    figures.save(figure, path)
    assert path.read_bytes().startswith(FIRST_BYTES[suffix.lower()])


@pytest.mark.parametrize(("name", "problem"), [("a.jpg", "ends in '.jpg'"), ("a", "has no extension")])
def test_other_formats_are_an_error(name, problem):
    with pytest.raises(EvaluationError, match=rf"PNG, SVG or PDF, but '{name}' {problem}.*ends in .png"):
        figures.check_path(name)


def test_no_global_figure_is_opened():
    figures.figure(2, 1)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install eddi-ml\[plots\]"):
        figures.figure(2, 1)


def test_a_long_label_is_shortened_in_the_middle():
    label = figures.label("the mean radius of the nucleus, in micrometres (worst)")
    assert len(label) <= figures.MAX_LABEL_LENGTH
    assert label.startswith("the mean radius")
    assert label.endswith("s (worst)")


def test_a_short_label_stays_as_it_is():
    assert figures.label("short") == "short"


def test_special_characters_of_matplotlib_are_escaped():
    assert figures.label("a $b$\n c") == r"a \$b\$ c"
    assert not figures.label("_hidden").startswith("_")
