"""The report on MNIST next to table 1 of the paper."""

import pytest

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.mnist import report


def make_result(model, elbo, *, seed=0, folder=None):
    score = {"elbo": elbo, "elbo_scaled": 1.5 * elbo, "kl": 9.0, "standard_error": 0.1}
    score["log_prob"] = None if model == "vae-full" else elbo + 10
    measurements = {
        "n_rows": {"train": 630, "test": 70},
        "seconds": {"fit": 60.0, "score": 20.0},
        "scores": dict.fromkeys(("train", "random", "region"), score),
        "losses": [],
    }
    settings = {"model": model, "seed": seed, "n_images": 700, "max_steps": 300, "n_draws": 4}
    return RunResult(f"{model}-{seed}", settings, measurements, {}, folder)


def test_the_tables_have_ours_the_papers_and_the_difference(tmp_path):
    results = [
        make_result("zi", -110.0),
        make_result("pnp", -100.0),
        make_result("pnp", -104.0, seed=1),
    ]
    (section,) = report.report_sections(results, tmp_path)
    elbo, _, log_prob = section.tables
    rows = {row[:2]: row[2:] for row in elbo.rows}
    assert rows["test, 70% at random", "ours"] == ("-", "-110.00", "-", "-", "-102.00 ± 2.00")
    assert rows["test, 70% at random", "paper"][-1] == "-114.01"
    assert rows["test, 70% at random", "difference"][-1] == "+12.01"
    assert {(3, 6), (4, 6)} <= elbo.best
    assert "3 runs, 2 seeds" in elbo.note
    assert log_prob.rows[0] == ("test, 70% at random", "-100.00", "-", "-", "-92.00 ± 2.00")
    assert log_prob.best == {(0, 4), (1, 4)}


@pytest.mark.parametrize(("best", "text"), [("pnp", "as in the paper"), ("zi", "unlike in the paper")])
def test_the_conclusion_names_the_best_encoder(best, text, tmp_path):
    results = [make_result(name, -100.0 if name == best else -120.0) for name in report.PARTIAL]
    (section,) = report.report_sections(results, tmp_path)
    assert any(text in paragraph for paragraph in section.paragraphs)


def test_a_report_without_results_has_empty_tables(tmp_path):
    (section,) = report.report_sections([], tmp_path)
    assert "No run is finished yet." in section.tables[0].note
    assert section.figures == ()


def test_figures_compare_the_models(examples, tmp_path):
    results = []
    for name in ("vae-full", "pn", "pnp"):
        examples.save(tmp_path / name)
        results.append(make_result(name, -100.0, folder=tmp_path / name))
    (section,) = report.report_sections(results, tmp_path / "figures")
    names = ["mnist-random.png", "mnist-region.png", "mnist-several.png", "mnist-generated.png"]
    assert [figure.path.name for figure in section.figures] == names
    assert all(figure.path.stat().st_size > 1000 for figure in section.figures)
