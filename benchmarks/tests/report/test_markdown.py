"""The report on one suite as Markdown."""

from eddi_benchmarks.report import markdown
from eddi_benchmarks.report.suite_report import SuiteReport


def test_tables_keep_their_cells_alignment_and_best_values(report, tmp_path):
    lines = markdown.render(report, tmp_path).splitlines()
    first = lines.index("| strategy | ours | theirs | p | better |")
    assert lines[first + 1 : first + 4] == [
        "| --- | ---: | ---: | ---: | --- |",
        "| EDDI \\| first | **5.10 ± 0.02** | 5.08 | - | yes |",
        "| RAND | -7.5 | \N{EN DASH} | < 0.001 | \\*no\\* |",
    ]
    assert lines[first - 2] == "**Average rank, `rmse`**"
    assert "*Lower is better, see `auic`.*" in lines


def test_figures_are_linked_relative_to_the_file(report, tmp_path):
    text = markdown.render(report, tmp_path)
    assert '![Curves of "EDDI" (boston) with `pnp`.](paper-example/my%20curve.png)' in text
    assert (tmp_path / "paper-example" / "my curve.png").is_file()


def test_the_head_states_the_suite_its_progress_and_its_provenance(report, tmp_path):
    text = markdown.render(report, tmp_path)
    assert text.startswith("# Ranks & <all>\n\nSuite `paper-example`: 2 of 3 runs.\n\n- duration: ")
    assert "- machine: Linux x86_64, 2 cores\n" in text
    assert "- commit: 0123456789ab with changes\n" in text


def test_a_suite_without_results_states_the_command_that_runs_it(suite, tmp_path):
    text = markdown.render(SuiteReport(suite), tmp_path)
    assert "Not yet run. Run it with `eddi bench run paper-example`." in text
