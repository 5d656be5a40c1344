"""Report on series: the quality of predictions by the number of measurements per person."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eddi.evaluate import figures
from eddi_benchmarks.harness.run_result import Measurements, RunResult
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import format_mean

TITLES = {
    "physionet2012": "PhysioNet 2012: death in hospital from the first 48 hours",
    "physionet2012-informative": "PhysioNet 2012 with informative measurement times",
    "pbcseq": "pbcseq: the next bilirubin of liver patients",
    "pbcseq-survival": "pbcseq: survival of liver patients from each visit",
}
PARAGRAPHS = (
    "Each person has decision times. At each of them a policy asks for measurements, one by one. A question "
    "gives what was recorded near that time, or cannot be asked; what was not asked for is not known later. "
    "All policies use the same model, which was fitted to the training persons.",
    "A panel takes everything that was recorded near a decision. The static schedule asks everybody for the "
    "same measurements, which were chosen greedily on training persons. Random asks in random order for what "
    "was recorded. Ours asks for what is most informative about the target, a fixed number of measurements "
    "per decision, or as long as the expected information exceeds a threshold, and else waits.",
)
MEASURES = {
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "rmse": "RMSE",
    "concordance": "concordance",
    "integrated_brier": "integrated Brier score",
}


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """A section for each dataset."""
    sections: list[Section] = []
    for name in dict.fromkeys(str(result.settings["dataset"]) for result in results):
        own = [result for result in results if result.settings["dataset"] == name]
        paragraphs = PARAGRAPHS if not sections else ()
        plots = _plot(own, folder, name)
        sections.append(Section(TITLES.get(name, name), paragraphs, (_table(own),), plots))
    return sections


def _collect(results: Sequence[RunResult], policy: str, measure: str) -> list[float]:
    return [result.measurements["policies"][policy][measure] for result in results]


def _measures(results: Sequence[RunResult]) -> list[str]:
    first = results[0].measurements["policies"]["everything recorded"]
    return [measure for measure in MEASURES if measure in first]


def _table(results: Sequence[RunResult]) -> ReportTable:
    measures, rows = _measures(results), []
    for policy in results[0].measurements["policies"]:
        cells = [format_mean(_collect(results, policy, "measurements"), 1)]
        cells += [format_mean(_collect(results, policy, measure), 3) for measure in measures]
        cells.append(f"{np.mean(_collect(results, policy, 'unrecorded')):.0%}")
        rows.append((policy, *cells))
    first = results[0].measurements
    peers = [result.measurements["peer"] for result in results]
    scores = [_format_peer(peers, measure) for measure in measures]
    rows.append((first["peer"]["name"], "", *scores, ""))
    columns = ("policy", "measurements per person", *(MEASURES[m] for m in measures), "not recorded")
    note = (
        f"Means over {len(results)} splits, ± the standard error; {first['n_train']:,} training persons, "
        f"{first['n_test']:,} test persons. Not recorded: how often the first choice of a decision was not "
        "recorded near it, so that another measurement took its place."
    )
    return ReportTable("Predictions by number of measurements", columns, tuple(rows), note)


def _format_peer(peers: Sequence[Measurements], measure: str) -> str:
    return format_mean([peer[measure] for peer in peers], 3) if measure in peers[0] else ""


def _plot(results: Sequence[RunResult], folder: Path, name: str) -> tuple[Figure, ...]:
    measure = _measures(results)[0]
    figure = figures.figure(7.2, 4.4)
    axes = figure.subplots()
    policies = [name for name in results[0].measurements["policies"] if name != "everything recorded"]
    families = dict.fromkeys(_family(name) for name in policies)
    for place, family in enumerate(families):
        own = [name for name in policies if _family(name) == family]
        points = sorted(
            (
                float(np.mean(_collect(results, name, "measurements"))),
                float(np.mean(_collect(results, name, measure))),
            )
            for name in own
        )
        axes.plot(
            *zip(*points, strict=True),
            color=figures.COLOURS[place % len(figures.COLOURS)],
            marker=figures.MARKERS[place % len(figures.MARKERS)],
            ms=4,
            lw=1.4,
            label=family,
        )
    full = float(np.mean(_collect(results, "everything recorded", measure)))
    axes.axhline(full, color="grey", lw=1, ls=":", label="everything recorded")
    axes.set(xlabel="measurements per person", ylabel=MEASURES[measure])
    axes.legend(fontsize=figures.SMALL, frameon=False)
    figures.tidy(axes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figures.save(figure, path)
    return (Figure(path, f"{MEASURES[measure]} by the number of measurements per person"),)


def _family(policy: str) -> str:
    """The name of a policy without its number."""
    if policy.startswith("panel"):
        return "panel"
    return "ours, by threshold" if "above" in policy else policy.split(",")[0]
