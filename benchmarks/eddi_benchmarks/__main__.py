"""Run benchmarks that are not suites: imputation, speed, growth, risk control, and bounds of errors."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console

from eddi.errors import EddiError
from eddi_benchmarks.data import datasets
from eddi_benchmarks.decisions import mixtures
from eddi_benchmarks.quality import imputation, risk
from eddi_benchmarks.speed import gpu_speed, growth, reward_speed, training_speed

NAMES = ("imputation", "training-speed", "reward-speed", "growth", "gpu", "risk", "mixtures")
DEFAULT_NAMES = NAMES[:3]  # the others take long, need a GPU, or measure no speed
QUICK_DATASETS = ("yacht", "boston", "energy")
QUICK_STEPS = 500  # of our training: enough to see that everything works, too few to compare
FILE_WIDTH = 130  # columns of a table written to a file or a pipe


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named in ``arguments`` and return the exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    folder = options.results / "quick" if options.quick else options.results
    if options.quick:
        torch.set_num_threads(1)  # several threads wait for each other on a busy machine
    try:
        for name in [options.name] if options.name else DEFAULT_NAMES:
            console.print(_run(name, options, folder))
    except EddiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _run(name: str, options: argparse.Namespace, folder: Path) -> object:
    """Run one benchmark and return its table."""
    quick = options.quick
    match name:
        case "imputation":
            return _run_imputation(options, folder)
        case "training-speed":
            return training_speed.as_table(training_speed.run(folder, quick=quick))
        case "reward-speed":
            return reward_speed.as_table(reward_speed.run(folder, quick=quick))
        case "growth":
            return growth.as_table(growth.run(folder, quick=quick))
        case "gpu":
            return gpu_speed.as_table(gpu_speed.run(folder, quick=quick))
        case "mixtures":
            names = options.sets or (QUICK_DATASETS[:1] if quick else datasets.UCI)
            return mixtures.as_table(mixtures.run(folder, names=names, quick=quick))
        case _:
            return risk.as_table(risk.run(folder, names=options.sets or risk.DATASETS, quick=quick))


def _run_imputation(options: argparse.Namespace, folder: Path) -> object:
    names = options.sets or (QUICK_DATASETS if options.quick else datasets.UCI)
    for name in names:
        datasets.find(name)  # fail now rather than after an hour
    methods = imputation.methods(forest=options.forest, max_steps=QUICK_STEPS if options.quick else None)
    seeds = range(1 if options.quick else imputation.N_SEEDS)
    return imputation.as_table(imputation.run(names, seeds, methods, folder / "imputation"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eddi_benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES, help=f"default: {', '.join(DEFAULT_NAMES)}")
    parser.add_argument(
        "--quick", action="store_true", help="check in two minutes that everything works"
    )
    parser.add_argument(
        "--sets", nargs="+", metavar="SET", help=f"datasets, of {', '.join(datasets.UCI)}"
    )
    parser.add_argument(
        "--forest",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="include imputation by random forests, which takes minutes on kin8nm",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder for JSON files")
    return parser


if __name__ == "__main__":
    sys.exit(main())
