"""GDFS and DIME on a problem: training and interviews.

Missing values are replaced by the mean and masked. Neither paper defines a predictive distribution for a
real-valued target. Here it is normal, with the standard deviation of the errors on validation rows after
the same number of answers.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from eddi.evaluate.curves import Curves, Numbers
from eddi_benchmarks.baselines import training
from eddi_benchmarks.baselines.dime import Dime
from eddi_benchmarks.baselines.gdfs import Gdfs
from eddi_benchmarks.baselines.masked import (
    Rows,
    ScoreFunction,
    TrainingSettings,
    simulate_interviews,
)
from eddi_benchmarks.decisions.baseline_curves import make_curves
from eddi_benchmarks.decisions.problem import Problem
from eddi_benchmarks.decisions.table_encoder import TableEncoder

VALIDATION_SHARE = 0.15  # of the training rows
MAX_VALIDATION_ROWS = 1_000
METHODS: Mapping[str, Callable[..., Gdfs | Dime]] = {"gdfs": Gdfs.untrained, "dime": Dime.untrained}


@dataclass(frozen=True)
class TrainedBaseline:
    """A trained GDFS or DIME model that interviews the held-out rows of its problem."""

    encoder: TableEncoder
    model: Gdfs | Dime
    error_sd: Numbers  # [steps + 1] of a real-valued target on validation rows, standardised
    seconds: float  # of training

    @classmethod
    def fit(
        cls, method: str, problem: Problem, *, seed: int, settings: TrainingSettings
    ) -> "TrainedBaseline":
        """Train on a part of the training rows; the others choose dropout and the length of training."""
        start = time.perf_counter()
        encoder = TableEncoder.from_problem(problem)
        order = np.random.default_rng([seed, 11]).permutation(len(problem.train))
        n_valid = min(MAX_VALIDATION_ROWS, math.ceil(VALIDATION_SHARE * len(order)))
        rows = encoder.encode(encoder.evidence(problem.train))
        valid, train = (rows[torch.from_numpy(part)] for part in (order[:n_valid], order[n_valid:]))
        model = training.fit(
            METHODS[method],
            train,
            valid,
            layout=encoder.layout,
            n_steps=problem.n_steps,
            seed=seed,
            settings=settings,
        )
        error_sd = np.zeros(0) if problem.is_class else _error_sd(model, valid, problem.n_steps)
        return cls(encoder, model, error_sd, time.perf_counter() - start)

    def interview(self, *, per_cost: bool = False) -> Curves:
        """Interview the held-out rows."""
        problem = self.encoder.problem
        evidence = self.encoder.evidence(problem.test)
        rows = self.encoder.encode(evidence)
        score = self.score_function(per_cost=per_cost)
        masks, asked = simulate_interviews(rows, score, problem.n_steps)
        with torch.no_grad():
            outputs = [self.model.predictor(rows.columns, mask) for mask in masks]
        return make_curves(
            self.encoder,
            evidence,
            asked=asked.T.numpy(),
            outputs=torch.stack(outputs, dim=1).double().numpy(),
            error_sd=self.error_sd,
        )

    def score_function(self, *, per_cost: bool = False) -> ScoreFunction:
        """The scores of the method, or these per unit of cost."""
        if not per_cost:
            return self.model.scores
        costs = torch.from_numpy(self.encoder.problem.schema.costs[self.encoder.questions]).float()
        return lambda columns, mask: self.model.scores(columns, mask) / costs

    @torch.no_grad()
    def decision_milliseconds(self, n_repeats: int = 30) -> float:
        """The median time of one decision for one row with half of its answers."""
        row = self.encoder.encode(self.encoder.evidence(self.encoder.problem.test.head(1)))
        mask = row.empty_mask
        mask[:, : mask.shape[1] // 2] = 1.0
        seconds = []
        for _ in range(n_repeats):
            start = time.perf_counter()
            self.model.scores(row.columns, mask).argmax()
            seconds.append(time.perf_counter() - start)
        return 1e3 * float(np.median(seconds))


@torch.no_grad()
def _error_sd(model: Gdfs | Dime, valid: Rows, n_steps: int) -> Numbers:
    """The root mean squared error on validation rows after each number of answers."""
    masks, _ = simulate_interviews(valid, model.scores, n_steps)
    squares = [
        (model.predictor(valid.columns, mask)[:, 0] - valid.truth).square().mean() for mask in masks
    ]
    return np.asarray(torch.stack(squares).double().sqrt().numpy())
