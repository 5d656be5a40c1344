"""`eddi export` without a format. The ONNX files are tested with the model."""

from typer.testing import CliRunner

from eddi.cli import app


def test_an_export_needs_a_format(model, tmp_path):
    model.save(tmp_path / "people.eddi")
    arguments = ["export", str(tmp_path / "people.eddi"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "--onnx" in result.stderr
