"""Figures of information curves."""

from matplotlib.image import imread

from eddi_benchmarks.paper.curve_figures import plot_by_dataset, plot_by_encoder


def test_a_figure_has_a_panel_for_each_finished_encoder(comparison_results, tmp_path):
    figure = plot_by_encoder(comparison_results, "rmse", tmp_path / "new" / "a.svg", dataset="a")
    assert figure.path.is_file()
    assert "Mean of 2 repetitions" in figure.caption
    paths = [tmp_path / "one.png", tmp_path / "two.png"]
    plot_by_encoder(comparison_results[::2], "rmse", paths[0], dataset="a")
    plot_by_encoder(comparison_results, "rmse", paths[1], dataset="a")
    width_of_one, width_of_two = (imread(path).shape[1] for path in paths)
    assert width_of_two > 1.5 * width_of_one


def test_a_figure_by_dataset_uses_one_encoder(comparison_results, tmp_path):
    figure = plot_by_dataset(comparison_results[:2], "rmse", tmp_path / "b.png", set_encoder="zi")
    assert figure.path.is_file()
    assert figure.caption.endswith("One repetition.")
