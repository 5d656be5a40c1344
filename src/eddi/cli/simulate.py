"""`eddi simulate`: interview every row of a held-out table and evaluate the predictions."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.options import (
    EngineOption,
    InterviewOptions,
    Json,
    ModelPath,
    TablePath,
    UnknownOption,
    UnknownRule,
    Workers,
    with_interview_options,
)
from eddi.engine import Engine, EngineName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eddi.evaluate.simulation_report import AnyCurves

BAR_WIDTH = 24

MaxSteps = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="Maximum questions per row. Default: all.")
]
PlotPath = Annotated[
    Path | None, typer.Option(help="Plot the information curves to a .png, .svg or .pdf file.")
]
Baselines = Annotated[bool, typer.Option(help="Compare with a random order and one fixed order.")]


@with_interview_options
def simulate(
    model: ModelPath,
    table: TablePath,
    *,
    options: InterviewOptions,
    steps: MaxSteps = None,
    plot: PlotPath = None,
    baselines: Baselines = True,
    json: Json = False,
    unknown: UnknownOption = UnknownRule.IGNORE,
    engine: EngineOption = EngineName.THIS,
    workers: Workers = None,
) -> None:
    """Interview every row of a held-out table and show how the prediction of the target improves.

    A random order and one fixed order are simulated, too, for comparison.

    For example: eddi simulate people.eddi held_out.csv --target risk --plot curve.png
    """
    if plot is not None:
        check_writable(plot)
    from eddi.evaluate.plots import information_curves
    from eddi.evaluate.sharded_simulation import simulate_shards
    from eddi.evaluate.simulate import resolve_target
    from eddi.evaluate.simulation_report import BASELINES, main_metric, report_document
    from eddi.model.files.archive import load
    from eddi.strategy.names import make_strategy, name_strategy, reseed, summarize_strategy
    from eddi.table.streaming import open_table

    fitted = load(model)
    target = resolve_target(fitted, options.targets)  # rejects an unknown target before the simulation
    chosen, stop = options.build_strategy(fitted), options.build_stop(fitted)
    others = [name for name in BASELINES if name != name_strategy(chosen)] if baselines else []
    strategies = {name_strategy(chosen): chosen} | {
        name: make_strategy(name, fitted, (target,)) for name in others
    }
    simulated = {}
    for name, strategy in strategies.items():
        with terminal.show_progress(f"interviewing ({name})") as on_progress:
            simulated[name] = simulate_shards(
                model,
                open_table(table),
                target,
                make_strategy=partial(reseed, strategy),
                stop=stop,
                max_steps=steps,
                engine=Engine(engine, workers),
                on_progress=on_progress,
                unknown=unknown.value,
            )
    terminal.print_message(f"strategy: {summarize_strategy(chosen)}; {stop.summarize()}")
    if json:
        terminal.print_data(terminal.to_json({**report_document(simulated), "stop": stop.to_document()}))
    else:
        _print_report(simulated)
    if plot is not None:
        information_curves(simulated, plot, metric=main_metric(simulated[name_strategy(chosen)]))
        terminal.print_message(f"wrote {plot}")


def _print_report(simulated: "Mapping[str, AnyCurves]") -> None:
    from eddi.evaluate.simulation_report import METRIC_NAMES, main_metric, majority_rate

    curves = next(iter(simulated.values()))
    out = terminal.open_console(stderr=False)
    out.print(build_steps_table(curves))
    if (rate := majority_rate(curves)) is not None:
        out.print(Text(f"Always guessing the most frequent class: accuracy {rate:.4g}."))
    out.print(
        Text(f"\nAUIC, the mean {METRIC_NAMES[main_metric(curves)]} over all steps (lower is better):")
    )
    out.print(_build_comparison_table(simulated))


def _build_comparison_table(simulated: "Mapping[str, AnyCurves]") -> Table:
    """Return a table with one line per strategy: the area, and its difference from the first."""
    from eddi.evaluate.simulation_report import compare_with_baselines

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    results = compare_with_baselines(simulated)
    for heading in ("strategy", "mean", "difference", "95% interval", "p"):
        table.add_column(heading, justify="left" if heading == "strategy" else "right")
    for result in results:
        cells = ["", "", ""]
        if (difference := result.difference) is not None:
            interval = f"{difference.low:.3g} to {difference.high:.3g}"
            cells = [f"{difference.value:.3g}", interval, f"{difference.p_value:.2g}"]
        table.add_row(Text(result.name), f"{result.area:.4g}", *cells)
    return table


def build_steps_table(curves: "AnyCurves") -> Table:
    """Return a table with one line per step: the metrics and the most frequent question."""
    from eddi.evaluate.simulation_report import METRIC_NAMES, list_metrics, main_metric

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    metrics, errors = list_metrics(curves), curves.metric(main_metric(curves))
    for heading in ("asked", *(METRIC_NAMES[metric] for metric in metrics)):
        table.add_column(heading, justify="right")
    table.add_column(METRIC_NAMES[main_metric(curves)], style="dim")
    table.add_column("most frequent question")
    worst = max(errors.max(), 1e-12)
    for step, values in enumerate(zip(*metrics.values(), strict=True)):
        bar = terminal.draw_share(errors[step] / worst, BAR_WIDTH)
        numbers = (f"{value:.4g}" for value in values)
        table.add_row(f"{step}", *numbers, bar, Text(_most_frequent_question(curves, step)))
    return table


def _most_frequent_question(curves: "AnyCurves", step: int) -> str:
    """Return the most frequent question of a step and its share among the rows asked."""
    if step == 0:
        return ""
    counts = curves.asked[step - 1]
    if not counts.any():
        return "none"
    index = int(counts.argmax())
    return f"{curves.questions[index]} ({counts[index] / counts.sum():.0%})"
