"""Figures of the decision process."""

import numpy as np
import pytest
import torch

from eddi.strategy import FixedOrder, Information
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.uci import experiment as uci
from eddi_benchmarks.paper.uci.figures import MeanReward


def test_the_mean_reward_gives_the_single_best_order(make_table, settings):
    table = make_table()
    model = uci.fit(table[:100], "y", settings)
    rows, inner = model.evidence(table[100:]), Information(n_draws=10)
    order = FixedOrder.learn(model, table[100:], "y", strategy=inner).order
    names = [question.name for question in model.schema_.questions]
    asked = np.zeros(5, dtype=bool)
    for name in order:
        evidence = rows[:1].hide(~asked[None])
        scores = MeanReward(rows, inner).score(model.fitted(), evidence, ("y",))[0]
        scores[torch.from_numpy(asked)] = -torch.inf
        scores[4] = -torch.inf  # the target
        assert names[int(scores.argmax())] == name
        asked[names.index(name)] = True


@pytest.mark.slow
def test_a_run_with_a_figure_folder_plots_its_decisions_for_the_report(make_table, settings, tmp_path):
    settings = {**settings, "max_steps": 5}
    run_folder, report_folder = tmp_path / "run", tmp_path / "report"
    measurements = uci.run_on_table(make_table(60), settings, figure_folder=run_folder)
    files = list(measurements["pictures"])
    assert sorted(files) == ["choices.png", "eddi.png", "sing.png"]
    assert all((run_folder / name).stat().st_size > 10_000 for name in files)
    result = RunResult("small-pnp-0", settings, measurements, {"seconds": 1.0}, run_folder)
    sections = uci.EXPERIMENT.report_sections([result], report_folder)
    (section,) = [s for s in sections if s.title == "UCI: the decision process on Boston housing"]
    paths = [figure.path for figure in section.figures]
    assert paths == [report_folder / f"decisions-{name}" for name in files]
    assert all(path.is_file() for path in paths)
