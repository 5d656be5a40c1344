"""A chapter as Markdown that a repository shows as it was meant."""

from eddi_benchmarks.report import markdown
from eddi_benchmarks.report.suite_report import Chapter


def test_tables_keep_their_cells_their_side_and_their_best(chapter, tmp_path):
    lines = markdown.render(chapter, tmp_path).splitlines()
    first = lines.index("| strategy | ours | theirs | p | better |")
    assert lines[first + 1 : first + 4] == [
        "| --- | ---: | ---: | ---: | --- |",
        "| EDDI \\| first | **5.10 ± 0.02** | 5.08 | - | yes |",
        "| RAND | -7.5 | \N{EN DASH} | < 0.001 | \\*no\\* |",
    ]
    assert lines[first - 2] == "**Average rank, `rmse`**"
    assert "*Lower is better, see `auic`.*" in lines


def test_pictures_are_linked_from_where_the_file_lies(chapter, tmp_path):
    text = markdown.render(chapter, tmp_path)
    assert '![Curves of "EDDI" (boston) with `pnp`.](paper-made-up/my%20curve.png)' in text
    assert (tmp_path / "paper-made-up" / "my curve.png").is_file()


def test_the_head_says_what_was_run_where_and_how_long(chapter, tmp_path):
    text = markdown.render(chapter, tmp_path)
    assert text.startswith("# Ranks & <all>\n\nSuite `paper-made-up`: 2 of 3 runs.\n\n- took: ")
    assert "- machine: Linux x86_64, 2 cores\n" in text
    assert "- commit: 0123456789ab with changes\n" in text


def test_a_suite_that_was_not_run_says_how_to(suite, tmp_path):
    text = markdown.render(Chapter(suite, 0, None, ()), tmp_path)
    assert "Not yet run. `eddi bench run paper-made-up` runs it." in text
