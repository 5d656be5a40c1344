"""Mutated model files: each is rejected with a short message, or loads and predicts finite values."""

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

import eddi
from eddi.model.base import Model
from eddi.model.files.archive import load
from eddi.table.evidence import Evidence
from eddi_benchmarks.faults.limited_process import Limits, run_limited
from eddi_benchmarks.faults.model_mutations import MUTATIONS
from eddi_benchmarks.faults.outcomes import Outcomes, attempt

N_ROWS = 160  # of the training table
N_TRIAL_ROWS = 8
LIMITS = Limits()


def run(count: int, seed: int, *, files: Sequence[bytes] | None = None) -> Outcomes:
    """Load ``count`` mutated files. ``files`` are the originals; None trains two small models."""
    outcomes = Outcomes()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.eddi"
        originals = list(files) if files is not None else train_models(Path(folder))
        kinds = list(MUTATIONS)
        use = partial(attempt, partial(_use, path))
        for index in range(count):
            random = Random(f"model-files {seed} {index}")  # noqa: S311  # reproducible, not secret
            kind = kinds[index % len(kinds)]
            content, detail = MUTATIONS[kind](random.choice(originals), random)
            path.write_bytes(content)
            outcomes.add(kind, index, detail, run_limited(use, LIMITS))
    return outcomes


def train_models(folder: Path) -> list[bytes]:
    """Return the files of two small models, of the default recipe and of the paper's."""
    random = np.random.default_rng(0)
    score = random.normal(size=N_ROWS)
    table = {
        "age": (50 + 10 * random.normal(size=N_ROWS)).round(1).tolist(),
        "visits": random.poisson(3, N_ROWS).tolist(),
        "smoker": np.where(random.random(N_ROWS) < 0.4, "yes", "no").tolist(),
        "region": random.choice(["north", "south", "west"], N_ROWS).tolist(),
        "pain": random.choice(["none", "mild", "severe"], N_ROWS).tolist(),
        "ill": np.where(score + random.normal(size=N_ROWS) > 0, "yes", "no").tolist(),
        "score": score.round(2).tolist(),
    }
    contents = []
    for recipe in ("default", "paper"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = eddi.PartialVAE(target="ill", recipe=recipe, max_steps=20, random_state=0).fit(table)
            model.save(folder / "model.eddi")
        contents.append((folder / "model.eddi").read_bytes())
    return contents


def _use(path: Path) -> bool:
    """Load a file, predict from random evidence and choose a question. Whether all numbers are finite."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = load(path, device="cpu")
        is_finite = _predicts_finite_values(model)
        target = model.target or model.schema.names[-1:]
        eddi.Interview(model, target).ask()
    return is_finite


def _predicts_finite_values(model: Model) -> bool:
    random = np.random.default_rng(0)
    variables = model.schema.variables
    highest = np.array([v.n_levels - 1 if v.kind.has_levels else 0 for v in variables])
    numbers = model.coding.decode(random.uniform(-2, 2, (N_TRIAL_ROWS, len(variables))))
    levels = np.floor(random.random(numbers.shape) * (highest + 1))
    numbers = np.where(highest > 0, levels, numbers)
    numbers[random.random(numbers.shape) < 0.5] = np.nan
    evidence: Evidence = model.coding.encode(numbers)
    for prediction in model.predict_evidence(evidence, model.schema.names).values():
        parts = [prediction.probabilities]
        if prediction.probabilities is None:
            parts = [prediction.mean, prediction.sd, prediction.interval]
        if not all(part is not None and np.isfinite(part).all() for part in parts):
            return False
    return True
