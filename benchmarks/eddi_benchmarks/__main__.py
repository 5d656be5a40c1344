"""`python -m eddi_benchmarks`: prove our claims on this machine."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console

from eddi.errors import EddiError
from eddi_benchmarks.data import datasets
from eddi_benchmarks.quality import imputation, risk
from eddi_benchmarks.speed import gpu_speed, growth, reward_speed, training_speed

QUICK_SETS = ("yacht", "boston", "energy")
QUICK_STEPS = 500  # of our training; enough to see that all runs, too few to judge by
FILE_WIDTH = 130  # columns of a table that goes into a file or a pipe


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named; returns the exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    folder = options.results / "quick" if options.quick else options.results
    if options.quick:
        torch.set_num_threads(1)  # several wait for each other where the machine is busy
    try:
        if options.name in (None, "imputation"):
            _imputation(options, folder, console)
        if options.name in (None, "training-speed"):
            console.print(training_speed.as_table(training_speed.run(folder, quick=options.quick)))
        if options.name in (None, "reward-speed"):
            console.print(reward_speed.as_table(reward_speed.run(folder, quick=options.quick)))
        if options.name == "growth":  # takes minutes, and says nothing about a single speed
            console.print(growth.as_table(growth.run(folder, quick=options.quick)))
        if options.name == "gpu":  # which not every machine has
            console.print(gpu_speed.as_table(gpu_speed.run(folder, quick=options.quick)))
        if options.name == "risk":
            sets = options.sets or risk.SETS
            console.print(risk.as_table(risk.run(folder, sets=sets, quick=options.quick)))
    except EddiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _imputation(options: argparse.Namespace, folder: Path, console: Console) -> None:
    sets = options.sets or (QUICK_SETS if options.quick else datasets.UCI)
    for name in sets:
        datasets.find(name)  # say at once what is missing, not after an hour
    compared = imputation.methods(
        forest=options.forest, max_steps=QUICK_STEPS if options.quick else None
    )
    seeds = range(1 if options.quick else imputation.N_SEEDS)
    console.print(imputation.as_table(imputation.run(sets, seeds, compared, folder / "imputation")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eddi_benchmarks", description=__doc__)
    parser.add_argument(
        "name",
        nargs="?",
        choices=["imputation", "training-speed", "reward-speed", "growth", "gpu", "risk"],
        help="default: all",
    )
    parser.add_argument("--quick", action="store_true", help="see in two minutes that all runs")
    parser.add_argument("--sets", nargs="+", metavar="SET", help=f"of {', '.join(datasets.UCI)}")
    parser.add_argument(
        "--forest",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="include imputation by forests, which takes minutes on kin8nm",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder for JSON files")
    return parser


if __name__ == "__main__":
    sys.exit(main())
