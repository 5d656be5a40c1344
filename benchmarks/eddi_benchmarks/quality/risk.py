"""Check the guarantee of ``Stop(risk=...)`` by splitting held-out rows many times.

Half of a dataset trains a few models; the other half is interviewed to the end once for each model.
Then, many times, some of those rows certify a confidence threshold and others are evaluated with it. No
model is trained for this, as none is when a model is certified. The rows are selected in two ways:

- a resplit: one half certifies and the other half is evaluated, as a user would try it. The guarantee is
  about the population, however, and the evaluated rows are few: their error rate may exceed the risk by
  chance, all the more because the half with fewer errors is the one that certifies.
- a draw: the rows are taken as the population. Half as many are drawn from it with replacement to
  certify, and the guarantee is then checked exactly on all rows. At 90% confidence it may be violated in
  10% of the draws.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table
from sklearn.model_selection import train_test_split

import eddi
from eddi.interview.risk_control import DecisionPaths
from eddi.strategy import Information
from eddi_benchmarks.data import datasets
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.harness.environment import describe_environment, torch_threads
from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.report.statistics import NOT_AVAILABLE

DATASETS = ("breast_cancer", "ckd", "phq9_nhanes")
RISK = 0.05
CONFIDENCES = (0.9, 0.95)
N_MODELS = 2  # per dataset, each trained on a different half
N_RESPLITS = 100
N_TRAINING_STEPS = 800  # the guarantee does not need a good model
MAX_ROWS = 1_000  # of a half


@dataclass(frozen=True)
class GuaranteeCheck:
    """The check of the guarantee on one dataset, over all resplits and draws.

    The fields are those of the JSON file.

    Args:
        n_rows: rows that certify.
        n_certified: resplits in which a threshold was certified; the others guarantee nothing.
        n_above: of these, resplits whose evaluated rows exceed the risk.
        n_broken: draws after which the guarantee did not hold.
        wrong: mean error rate of evaluated rows, if certified.
        wrong_of_all: error rate when every question is asked.
        asked: mean number of questions of evaluated rows, if certified.
        asked_of_all: mean number of questions that a row can be asked.
    """

    dataset: str
    confidence: float
    n_rows: int
    n_resplits: int
    n_certified: int
    n_above: int
    n_broken: int
    wrong: float | None
    wrong_of_all: float
    asked: float | None
    asked_of_all: float


def run(folder: Path, *, names: Sequence[str] = DATASETS, quick: bool = False) -> list[GuaranteeCheck]:
    """Check the guarantee on these datasets, and store the results in ``folder``."""
    n_models, n_resplits = (1, 20) if quick else (N_MODELS, N_RESPLITS)
    for name in names:
        for dataset in problems.required_datasets(name):
            datasets.find(dataset)  # fail now rather than after half an hour
    document = {
        "risk": RISK,
        "models": n_models,
        "steps": N_TRAINING_STEPS,
        "circumstances": describe_environment(),
    }
    checks: list[GuaranteeCheck] = []
    for name in names:
        checks += _check_dataset(name, n_models, n_resplits, max_rows=200 if quick else MAX_ROWS)
        write_json(folder / "risk.json", {**document, "kept": [asdict(check) for check in checks]})
    return checks


def _check_dataset(
    name: str, n_models: int, n_resplits: int, *, max_rows: int
) -> Iterator[GuaranteeCheck]:
    interviews = [_interview_held_out(name, seed, max_rows) for seed in range(n_models)]
    for confidence in CONFIDENCES:
        yield check_guarantee(name, interviews, n_resplits=n_resplits, confidence=confidence)


def _interview_held_out(name: str, seed: int, max_rows: int) -> DecisionPaths:
    """Interview the half of a dataset that the model was not trained on."""
    table = problems.read_table(name)
    target = str(table.columns[-1])
    train, held_out = train_test_split(table, test_size=0.5, random_state=seed, stratify=table[target])
    schema = problems.make_schema(name, table)
    with torch_threads(1):
        model = eddi.PartialVAE(schema, target, max_steps=N_TRAINING_STEPS, random_state=seed)
        model.fit(train.head(max_rows))
        truth = model.evidence(held_out.head(max_rows))
        return DecisionPaths.simulate(model.fitted(), truth, (target,), Information())


def check_guarantee(
    name: str, interviews: Sequence[DecisionPaths], *, n_resplits: int, confidence: float
) -> GuaranteeCheck:
    """Certify on half of the rows and evaluate the guarantee, ``n_resplits`` times."""
    resplits, draws = [], []
    for seed in range(n_resplits):
        rows = interviews[seed % len(interviews)]
        random = np.random.default_rng(seed)
        order = random.permutation(len(rows.confidence))
        half = len(order) // 2
        resplits.append(_evaluate(rows[order[:half]], rows[order[half:]], confidence))
        drawn = random.integers(len(order), size=half)
        draws.append(_evaluate(rows[drawn], rows, confidence))
    certified = np.array([result for result in resplits if result is not None]).reshape(-1, 2)
    error_rates, n_asked = certified.T
    all_wrong, all_asked = zip(*(rows.stop_at(None) for rows in interviews), strict=True)
    return GuaranteeCheck(
        dataset=name,
        confidence=confidence,
        n_rows=len(interviews[0].confidence) // 2,
        n_resplits=n_resplits,
        n_certified=len(certified),
        n_above=int((error_rates > RISK).sum()),
        n_broken=sum(result is not None and result[0] > RISK for result in draws),
        wrong=float(error_rates.mean()) if len(certified) else None,
        wrong_of_all=float(np.concatenate(all_wrong).mean()),
        asked=float(n_asked.mean()) if len(certified) else None,
        asked_of_all=float(np.concatenate(all_asked).mean()),
    )


def _evaluate(
    certifying: DecisionPaths, evaluated: DecisionPaths, confidence: float
) -> tuple[float, float] | None:
    """Error rate and mean number of questions of the evaluated rows; None if nothing is certified."""
    threshold = certifying.certificate((), Information()).threshold(RISK, confidence)
    if threshold is None:
        return None
    wrong, n_asked = evaluated.stop_at(threshold)
    return float(wrong.mean()), float(n_asked.mean())


def as_table(checks: Sequence[GuaranteeCheck]) -> Table:
    """A row per dataset and confidence."""
    title = f"Stop(risk={RISK}): does the guarantee hold?"
    table = Table(title=title, box=None, padding=(0, 2, 0, 0))
    headings = (
        *("dataset", "confidence", "rows", "certified", "above risk", "violated"),
        *("error rate", "with all questions", "questions", "of"),
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "dataset" else "right")
    for check in checks:
        table.add_row(
            check.dataset,
            f"{check.confidence:.0%}",
            str(check.n_rows),
            f"{check.n_certified} of {check.n_resplits}",
            str(check.n_above),
            str(check.n_broken),
            NOT_AVAILABLE if check.wrong is None else f"{check.wrong:.1%}",
            f"{check.wrong_of_all:.1%}",
            NOT_AVAILABLE if check.asked is None else f"{check.asked:.1f}",
            f"{check.asked_of_all:.1f}",
        )
    return table
