"""Does ``Stop(risk=...)`` keep its promise? Resplit held-out rows many times, and count.

Half of a set trains a few models; the other half is interviewed to the end once for each. Then, many
times over, some of those rows certify how sure is sure enough, and others are judged by it. Nothing is
trained anew for that, as nothing is when a model is certified. Rows are taken in two ways:

- a resplit: half certify, the other half are judged, as anybody would try it out. The promise is about
  all interviews there could be, though, and those judged are few: their share of wrong ones may be above
  the risk by chance, the more so as the luckier half is the one that certified.
- a draw: the rows are all the interviews there are. Half as many are drawn from them, each as likely to
  come again, to certify, and whether the promise is kept by all rows is then known without chance. It
  may be broken in a tenth of the draws where the confidence is 90%.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from rich.table import Table
from sklearn.model_selection import train_test_split

import eddi
from eddi.interview.risk_control import Courses
from eddi.strategy import Information
from eddi_benchmarks.data import datasets
from eddi_benchmarks.decisions import problem
from eddi_benchmarks.harness import results

SETS = ("breast_cancer", "ckd", "phq9_nhanes")
RISK = 0.05
CONFIDENCES = (0.9, 0.95)
N_MODELS = 2  # a set, each trained on another half
N_RESPLITS = 100
STEPS = 800  # of training; a model need not be good for a promise to hold
MOST_ROWS = 1_000  # of a half: more would take long and show the same


@dataclass(frozen=True)
class Kept:
    """How the promise went on one set, over all resplits.

    Args:
        n_certified: resplits in which some sureness was found to keep the risk; the rest promise none.
        n_above: of these, how many had a larger share than the risk wrong among the rows judged.
        n_broken: draws after which the promise did not hold.
        wrong: share of wrong decisions of the rows judged, where certified, on average.
        wrong_of_all: share of wrong decisions with every question asked.
        asked: questions a row judged was asked, where certified, on average.
        asked_of_all: questions there are for a row, on average.
    """

    dataset: str
    confidence: float
    n_rows: int  # that certify
    n_resplits: int
    n_certified: int
    n_above: int
    n_broken: int
    wrong: float | None
    wrong_of_all: float
    asked: float | None
    asked_of_all: float


def run(folder: Path, *, sets: Sequence[str] = SETS, quick: bool = False) -> list[Kept]:
    """Count how often the promise is kept, and keep the figures in ``folder``."""
    n_models, n_resplits = (1, 20) if quick else (N_MODELS, N_RESPLITS)
    for file in (file for name in sets for file in problem.files(name)):
        datasets.find(file)  # say at once what is missing, not after half an hour
    facts = {"risk": RISK, "models": n_models, "steps": STEPS, "circumstances": results.circumstances()}
    found: list[Kept] = []
    for name in sets:
        found += _set(name, n_models, n_resplits, quick=quick)
        results.write(folder / "risk.json", {**facts, "kept": [asdict(each) for each in found]})
    return found


def _set(name: str, n_models: int, n_resplits: int, *, quick: bool) -> Iterator[Kept]:
    most = 200 if quick else MOST_ROWS
    played = [_courses(name, seed, most) for seed in range(n_models)]
    for confidence in CONFIDENCES:
        yield tried(name, played, n_resplits, confidence)


def _courses(name: str, seed: int, most: int) -> Courses:
    """The interviews of the half that a model did not see."""
    given = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole = problem.read(name)
        target = str(whole.columns[-1])
        train, rest = train_test_split(whole, test_size=0.5, random_state=seed, stratify=whole[target])
        schema = problem.described(name, whole)
        model = eddi.PartialVAE(schema, target, max_steps=STEPS, random_state=seed).fit(train.head(most))
        truth = model.evidence(rest.head(most))
        return Courses.of(model, truth, (target,), Information())
    finally:
        torch.set_num_threads(given)


def tried(name: str, played: Sequence[Courses], n_resplits: int, confidence: float) -> Kept:
    """Certify on half of the rows and judge the other half, so many times."""
    judged, drawn = [], []
    for number in range(n_resplits):
        courses = played[number % len(played)]
        random = np.random.default_rng(number)
        order = random.permutation(len(courses.sure))
        half = len(order) // 2
        judged.append(_judged(courses[order[:half]], courses[order[half:]], confidence))
        drawn.append(_judged(courses[random.integers(len(order), size=half)], courses, confidence))
    wrong, asked = np.array([each for each in judged if each is not None]).reshape(-1, 2).T
    all_wrong, all_asked = zip(*(courses.ends(None) for courses in played), strict=True)
    return Kept(
        dataset=name,
        confidence=confidence,
        n_rows=len(played[0].sure) // 2,
        n_resplits=n_resplits,
        n_certified=len(wrong),
        n_above=int((wrong > RISK).sum()),
        n_broken=sum(each is not None and each[0] > RISK for each in drawn),
        wrong=float(wrong.mean()) if len(wrong) else None,
        wrong_of_all=float(np.concatenate(all_wrong).mean()),
        asked=float(asked.mean()) if len(asked) else None,
        asked_of_all=float(np.concatenate(all_asked).mean()),
    )


def _judged(certifying: Courses, others: Courses, confidence: float) -> tuple[float, float] | None:
    """Share of the others that end wrongly, and how much they are asked; None without a promise."""
    least = certifying.certificate((), Information()).least(RISK, confidence)
    if least is None:
        return None
    wrong, asked = others.ends(least)
    return float(wrong.mean()), float(asked.mean())


def as_table(found: Sequence[Kept]) -> Table:
    """One line a set and confidence."""
    table = Table(title=f"Stop(risk={RISK}): is the promise kept?", box=None, padding=(0, 2, 0, 0))
    for heading in (
        "set",
        "confidence",
        "rows",
        "promised",
        "above",
        "broken",
        "wrong",
        "of all",
        "asked",
        "of all",
    ):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    for kept in found:
        table.add_row(
            kept.dataset,
            f"{kept.confidence:.0%}",
            str(kept.n_rows),
            f"{kept.n_certified} of {kept.n_resplits}",
            str(kept.n_above),
            str(kept.n_broken),
            "-" if kept.wrong is None else f"{kept.wrong:.1%}",
            f"{kept.wrong_of_all:.1%}",
            "-" if kept.asked is None else f"{kept.asked:.1f}",
            f"{kept.asked_of_all:.1f}",
        )
    return table
