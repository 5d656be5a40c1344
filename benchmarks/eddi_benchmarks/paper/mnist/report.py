"""Report on the runs with handwritten digits, next to table 1 of the paper."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.mnist import figures
from eddi_benchmarks.paper.mnist.examples import Examples
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import NOT_AVAILABLE, format_mean

FULL_VAE = "vae-full"
NAMES = {FULL_VAE: "VAE-full", "zi": "ZI", "zi-m": "ZI-m", "pn": "PN", "pnp": "PNP"}
PARTIAL = ("zi", "zi-m", "pn", "pnp")
TASKS = {
    "train": "train",
    "random": "test, 70% at random",
    "region": "test, upper 60%",
}
TEST_TASKS = ("random", "region")

# Table 1 of the paper.
PAPER: dict[str, dict[str, float]] = {
    "train": {"vae-full": -95.05, "zi": -113.64, "zi-m": -117.29, "pn": -121.43, "pnp": -113.64},
    "random": {"vae-full": -101.46, "zi": -116.01, "zi-m": -118.61, "pn": -122.20, "pnp": -114.01},
    "region": {"vae-full": -101.46, "zi": -130.61, "zi-m": -123.87, "pn": -116.53, "pnp": -113.19},
}
DEFINITION = (
    "The paper evaluates `ELBOs on missing pixels` without a formula. We use its bound with the missing "
    "pixels in place of the observed ones: the mean over q(z | shown) of log p(missing | z), less "
    "KL(q(z | shown) || p(z)). It does not say whether this is scaled to a whole image, as its "
    "comparison with VAE-full (scored on 784 pixels) requires, so both are shown. Nor does it say how "
    "pixels are coded: ours are 1 if at least half white, with a Bernoulli likelihood."
)

Scores = Mapping[tuple[str, str], Sequence[float]]
"""A score for each seed, by task and model."""


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Table 1 in both interpretations, the predictive likelihood, and the figures."""
    elbo, scaled_elbo = _collect_scores(results, "elbo"), _collect_scores(results, "elbo_scaled")
    log_prob = _collect_scores(results, "log_prob")
    pixels = "Observed pixels in training, missing pixels in testing; all 784 pixels for VAE-full."
    tables = (
        _elbo_table(
            elbo,
            title="ELBO of the scored pixels only, nats per image (the paper's wording)",
            note=f"{pixels} {_describe_runs(results)}",
        ),
        _elbo_table(
            scaled_elbo,
            title="ELBO scaled to whole images, nats per image (as for VAE-full)",
            note="The likelihood of the scored pixels times 784 over their number, less the KL.",
        ),
        _log_prob_table(log_prob),
    )
    paragraphs = (
        DEFINITION,
        *_conclusions({"ELBO": elbo, "scaled ELBO": scaled_elbo, "predictive likelihood": log_prob}),
        *_describe_latent_use(results),
        *_describe_seconds(results),
    )
    plots = tuple(_figures(results, folder))
    return [Section("Inpainting of handwritten digits", paragraphs, tables, plots)]


def _collect_scores(results: Sequence[RunResult], score: str) -> Scores:
    collected: dict[tuple[str, str], list[float]] = {}
    for result in results:
        for task, scores in result.measurements["scores"].items():
            if scores[score] is not None:
                collected.setdefault((task, result.settings["model"]), []).append(scores[score])
    return collected


def _mean_scores(scores: Scores, task: str, models: Sequence[str] = tuple(NAMES)) -> dict[str, float]:
    """The mean over seeds of each model that has a score."""
    return {m: float(np.mean(scores[task, m])) for m in models if (task, m) in scores}


def _describe_runs(results: Sequence[RunResult]) -> str:
    if not results:
        return "No run is finished yet."
    settings, n_rows = results[0].settings, results[0].measurements["n_rows"]
    n_seeds = len({result.settings["seed"] for result in results})
    return (
        f"{len(results)} runs, {n_seeds} seed{'s' if n_seeds > 1 else ''}; {n_rows['train']:,} training "
        f"images, {n_rows['test']:,} test images, {settings['max_steps']:,} steps, "
        f"{settings['n_draws']} draws of z per image."
    )


def _elbo_table(scores: Scores, *, title: str, note: str) -> ReportTable:
    """Three rows per task (ours, paper, difference), a column per model; the best encoder is bold."""
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for task, label in TASKS.items():
        ours, paper = _mean_scores(scores, task), PAPER[task]
        difference = {model: ours[model] - paper[model] for model in ours}
        for values in (ours, paper):
            partial = {model: values[model] for model in PARTIAL if model in values}
            row = len(rows) + (values is paper)
            best |= {(row, 2 + list(NAMES).index(model)) for model in _best_models(partial)}
        rows.append((label, "ours", *(format_mean(scores.get((task, m), ()), 2) for m in NAMES)))
        rows.append((label, "paper", *map(_formatter(paper, ".2f"), NAMES)))
        rows.append((label, "difference", *map(_formatter(difference, "+.2f"), NAMES)))
    columns = ("ELBO", "", *NAMES.values())
    return ReportTable(title, columns, tuple(rows), note, frozenset(best))


def _best_models(values: Mapping[str, float]) -> list[str]:
    """The models with the highest value."""
    highest = max(values.values(), default=0.0)
    return [model for model, value in values.items() if value == highest]


def _formatter(values: Mapping[str, float], form: str) -> Callable[[str], str]:
    return lambda model: format(values[model], form) if model in values else NOT_AVAILABLE


def _log_prob_table(scores: Scores) -> ReportTable:
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for task in TEST_TASKS:
        best_models = _best_models(_mean_scores(scores, task, PARTIAL))
        best |= {(len(rows), 1 + PARTIAL.index(model)) for model in best_models}
        cells = (format_mean(scores.get((task, model), ()), 2) for model in PARTIAL)
        rows.append((TASKS[task], *cells))
    return ReportTable(
        "log p(missing pixels | shown pixels), nats per image (not in the paper)",
        ("log probability", *(NAMES[model] for model in PARTIAL)),
        tuple(rows),
        "Log of the mean over draws of z from q(z | shown). A proper scoring rule.",
        frozenset(best),
    )


def _conclusions(scores_by_name: Mapping[str, Scores]) -> tuple[str, ...]:
    """The best encoder by each score, and whether it is the paper's."""
    elbo = scores_by_name["ELBO"]
    texts = []
    for task in TEST_TASKS:
        if not all(_mean_scores(scores, task) for scores in scores_by_name.values()):
            continue
        best = [f"{_describe_best(s, task)} by {name}" for name, s in scores_by_name.items()]
        means = _mean_scores(elbo, task, PARTIAL)
        is_papers = bool(means) and max(means, key=lambda model: means[model]) == "pnp"
        agreement = "as in the paper" if is_papers else "unlike in the paper, where it is PNP"
        label = TASKS[task].capitalize()
        texts.append(f"{label}: the best encoder is {', '.join(best)} ({agreement}).")
    return tuple(texts)


def _describe_best(scores: Scores, task: str) -> str:
    means = _mean_scores(scores, task, PARTIAL)
    order = sorted(means, key=lambda model: -means[model])
    if len(order) < 2:
        return "".join(NAMES[model] for model in order)
    lead = means[order[0]] - means[order[1]]
    return f"{NAMES[order[0]]} ({lead:.2f} nats better than {NAMES[order[1]]})"


def _describe_latent_use(results: Sequence[RunResult]) -> tuple[str, ...]:
    """How much information z holds in each model, which shows how far training got."""
    kl = _mean_scores(_collect_scores(results, "kl"), "train")
    if not kl:
        return ()
    values = ", ".join(f"{NAMES[model]} {nats:.1f}" for model, nats in kl.items())
    return (
        f"Information of q(z | shown) about a training image (KL from the prior, in nats): {values}. "
        "A model with little information is at the start of its training, and its ELBO depends more on "
        "the number of steps than on its encoder.",
    )


def _describe_seconds(results: Sequence[RunResult]) -> tuple[str, ...]:
    if not results:
        return ()
    fit, score = (
        float(np.mean([result.measurements["seconds"][part] for result in results]))
        for part in ("fit", "score")
    )
    return (f"A run takes {fit:.0f} s to train and {score:.0f} s to score on one thread.",)


def _figures(results: Sequence[RunResult], folder: Path) -> list[Figure]:
    """Figures that compare the models of the first seed."""
    first_seed = min((result.settings["seed"] for result in results), default=None)
    folders = {
        result.settings["model"]: result.folder
        for result in results
        if result.settings["seed"] == first_seed and result.folder is not None
    }
    loaded = {model: Examples.load(folders[model]) for model in NAMES if model in folders}
    examples = {NAMES[model]: e for model, e in loaded.items() if e is not None}
    partial = {name: e for name, e in examples.items() if name != NAMES[FULL_VAE]}
    folder.mkdir(parents=True, exist_ok=True)
    plots = _completion_figures(partial, folder) if partial else []
    if examples:
        path = folder / "mnist-generated.png"
        figures.plot_generated(examples, path)
        plots.append(Figure(path, "Images generated from the prior (figure 9)."))
    return plots


def _completion_figures(examples: Mapping[str, Examples], folder: Path) -> list[Figure]:
    random, region, several = (folder / f"mnist-{name}.png" for name in ("random", "region", "several"))
    figures.plot_inpainting(examples, "random", random)
    figures.plot_inpainting(examples, "region", region)
    figures.plot_completions(examples, several)
    return [
        Figure(random, "70% of the pixels removed at random (blue), completed with one draw of z."),
        Figure(region, "The upper 60% removed (blue), completed with one draw of z."),
        Figure(several, "Eight completions of the same lower part by each encoder (figure 2)."),
    ]
