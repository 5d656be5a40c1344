"""What `eddi simulate` shows: how wrong the prediction is after each question, and what was asked."""

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.engine import Engine
from eddi.evaluate.curves import Curves
from eddi.evaluate.plots import information_curves
from eddi.evaluate.sharded import StrategyOf, simulate_shards
from eddi.evaluate.streaming_curves import Tally
from eddi.model.files.archive import load
from eddi.strategy import Information, Lookahead, Random
from eddi.table.streaming import open_table

STRATEGIES: dict[str, StrategyOf] = {
    "information": lambda _: Information(),
    "lookahead": lambda seed: Lookahead(seed=seed),
    "random": Random,
}
BAR_WIDTH = 24


def play(
    model: Path,
    table: Path,
    target: str | None,
    strategy: str,
    *,
    steps: int | None,
    plot: Path | None,
    json: bool,
    engine: Engine,
) -> None:
    """Interview every row of ``table``, and print, draw or write what came of it."""
    load(model).schema_.target_names(target)  # a wrong name is told before all work
    with terminal.counting("interviewing") as on_progress:
        curves = simulate_shards(
            model,
            open_table(table),
            target,
            strategy_of=STRATEGIES[strategy],
            max_steps=steps,
            engine=engine,
            on_progress=on_progress,
        )
    if json:
        terminal.put(terminal.as_json(curves.to_document()))
    else:
        out = terminal.console(stderr=False)
        out.print(steps_table(curves))
        out.print(Text(f"AUIC, the mean error over all steps: {curves.auic:.4g}. Lower is better."))
    if plot is not None:
        drawn: dict[str, Any] = {strategy: curves}  # a tally has what a line over steps needs
        information_curves(drawn, plot, target=curves.target, unit=curves.unit)
        terminal.say(f"wrote {plot}")


def steps_table(curves: Curves | Tally) -> Table:
    """One line a step: the error, and what was asked most."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    metrics = {"RMSE": curves.rmse, "NLL": curves.nll}
    if curves.accuracy is not None:
        metrics["accuracy"] = curves.accuracy
    for heading in ("asked", *metrics):
        table.add_column(heading, justify="right")
    table.add_column("RMSE", style="dim")
    table.add_column("asked most")
    worst = max(curves.rmse.max(), 1e-12)
    for step, values in enumerate(zip(*metrics.values(), strict=True)):
        bar = terminal.share_bar(curves.rmse[step] / worst, BAR_WIDTH)
        figures = (f"{value:.4g}" for value in values)
        table.add_row(f"{step}", *figures, bar, Text(_most_asked(curves, step)))
    return table


def _most_asked(curves: Curves | Tally, step: int) -> str:
    """The commonest question of a step, and its share of the rows that were asked anything."""
    if step == 0:
        return ""
    asked = (curves if isinstance(curves, Tally) else Tally.of(curves)).asked[step - 1]
    if not asked.any():
        return "nothing"
    place = int(asked.argmax())
    return f"{curves.questions[place]} ({asked[place] / asked.sum():.0%})"
