"""Inject faults and print what happened: ``python -m eddi_benchmarks.faults model-files --count 2500``."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from eddi_benchmarks.faults import fhir_mutations, model_files, service, tables
from eddi_benchmarks.faults.outcomes import Outcomes

Run = Callable[[int, int], Outcomes]
RUNS: dict[str, tuple[Run, int]] = {
    "model-files": (model_files.run, 2500),
    "tables": (tables.run, 400),
    "fhir": (fhir_mutations.run, 1200),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one harness. The exit code is 1 if a fault was not handled."""
    parser = argparse.ArgumentParser(prog="python -m eddi_benchmarks.faults", description=__doc__)
    parser.add_argument("name", choices=[*RUNS, *service.NAMES])
    parser.add_argument("model", type=Path, nargs="?", help="a model, for faults of a server")
    parser.add_argument("--count", type=int, help="number of faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-files", type=int, default=256, help="of the server that is overloaded")
    parser.add_argument("--results", type=Path, help="JSON file to write, for faults of files")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # processes are forked, which threads do not survive
    if options.name in RUNS:
        return _run_files(options)
    if options.model is None:
        parser.error(f"{options.name} needs a model written by `eddi fit`")
    is_handled, text = service.run(
        options.name,
        options.model,
        count=options.count,
        seed=options.seed,
        max_files=options.max_files,
    )
    print(text)
    return 0 if is_handled else 1


def _run_files(options: argparse.Namespace) -> int:
    run, count = RUNS[options.name]
    start = time.monotonic()
    outcomes = run(options.count or count, options.seed)
    print(_report(outcomes, time.monotonic() - start))
    if options.results is not None:
        options.results.write_text(json.dumps(outcomes.to_document(), indent=1), encoding="utf-8")
    return 1 if outcomes.failures else 0


def _report(outcomes: Outcomes, seconds: float) -> str:
    lines = [outcomes.to_markdown(), ""]
    peak = f"; at most {outcomes.peak_megabytes:,.0f} MB more than before a file"
    lines.append(f"{seconds:.0f} s{peak if outcomes.peak_megabytes else ''}.")
    lines += [json.dumps(failure) for failure in outcomes.failures]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
