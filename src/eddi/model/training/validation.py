"""Validation: the split, the score of hidden entries of held-out rows, and what is chosen by it."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import torch
from torch import Tensor

from eddi.model.network.heads import log_mean_exp
from eddi.model.network.network import FactorFit, Network
from eddi.model.network.quasi_random import standard_normal
from eddi.model.recipe import Recipe, is_cross_validated
from eddi.model.training.batches import draw_visible, mix_seed
from eddi.model.training.objective import Batch
from eddi.model.training.question_weights import SubsetLookup
from eddi.model.training.streaming import StreamedEvidence
from eddi.table.evidence import Evidence

MIN_VALIDATION_ROWS = 5  # fewer cannot tell when to stop
SMALL_SHARE = 0.2  # of rows that are held out by their content, at least
MAX_VALIDATION_ROWS = 500  # more cost time and tell no more
CALIBRATION_ROWS = 4_000  # held-out rows, repeated with many different masks
CALIBRATION_CELLS = 250_000  # limit of these rows: every cell is evaluated a hundred times
CPU = torch.device("cpu")
SHRINKAGE_MULTIPLES = (
    0.0,
    0.5,
    1.0,
    2.0,
)  # of the estimated share, which is an average over all pairs of variables
N_DRAWS = 128  # fewer understate a prediction that is wide in z and narrow in x


def count_validation_rows(n_rows: int, recipe: Recipe) -> int:
    """The number of rows that are held out for early stopping; 0 with cross-validation."""
    if is_cross_validated(recipe, n_rows):
        return 0
    n = min(int(n_rows * recipe.validation), MAX_VALIDATION_ROWS)
    return n if n >= MIN_VALIDATION_ROWS else 0


def split_validation(
    evidence: Evidence | StreamedEvidence, recipe: Recipe, seed: int
) -> tuple[Evidence | StreamedEvidence, Evidence | None]:
    """Training rows and held-out rows. Of held-out groups, as many random rows are kept as
    there are groups."""
    if isinstance(evidence, StreamedEvidence):
        return evidence, evidence.validation() if evidence.held_out else None
    n_groups = evidence.n_groups
    n = count_validation_rows(n_groups, recipe)
    if n == 0 or is_cross_validated(recipe, evidence.n_complete_rows):
        return evidence, None
    random = torch.Generator().manual_seed(mix_seed(seed, -1))
    order = torch.randperm(n_groups, generator=random).numpy()
    held_out = evidence.select_groups(order[:n]).draw_from_groups(np.random.default_rng(seed))
    return evidence.select_groups(order[n:]), held_out


def split_by_content(evidence: Evidence, recipe: Recipe) -> tuple[Evidence, Evidence | None]:
    """Training rows and held-out rows, chosen by a hash of each row or, if there are groups, by their number.

    A row stays where it was when the table grows, so a model that starts from the weights of an earlier
    one has not seen the rows that it is validated with. Numbers of groups are hashes, too.
    """
    n = min(int(evidence.n_groups * max(recipe.validation, SMALL_SHARE)), MAX_VALIDATION_ROWS)
    if n < MIN_VALIDATION_ROWS:
        return evidence, None
    if evidence.groups is None:
        hashes = [hash_row(values, observed) for values, observed in zip(*_bytes(evidence), strict=True)]
        order = np.argsort(np.array(hashes, dtype=np.uint64), kind="stable")
    else:
        order = np.arange(evidence.n_groups)
    held_out = evidence.select_groups(np.sort(order[:n])).draw_from_groups(np.random.default_rng(0))
    return evidence.select_groups(np.sort(order[n:])), held_out


def hash_row(values: bytes, observed: bytes) -> int:
    """A number that depends on the content of a row alone."""
    return int.from_bytes(blake2b(values + observed, digest_size=8).digest(), "big")


def _bytes(evidence: Evidence) -> tuple[list[bytes], list[bytes]]:
    return [row.tobytes() for row in evidence.values], [row.tobytes() for row in evidence.observed]


class Validation:
    """The score of hidden entries of held-out rows, always the same entries.

    With marginal heads only the declared targets are scored: the network may overfit them while the
    other variables still improve.
    """

    def __init__(
        self,
        evidence: Evidence,
        recipe: Recipe,
        *,
        seed: int,
        device: torch.device,
        targets: Sequence[int],
    ) -> None:
        self._evidence, self._recipe, self._seed = evidence, recipe, seed
        self._device, self._targets = device, list(targets) if recipe.objective == "direct" else []
        self.batch = self._mask_rows(MAX_VALIDATION_ROWS)

    @classmethod
    def if_any(
        cls,
        rows: Evidence | None,
        recipe: Recipe,
        *,
        seed: int,
        device: torch.device,
        targets: Sequence[int],
    ) -> "Validation | None":
        """The validation with held-out rows; None if there are none."""
        return None if rows is None else cls(rows, recipe, seed=seed, device=device, targets=targets)

    def __len__(self) -> int:
        return len(self._evidence)

    def _mask_rows(self, n: int) -> Batch:
        """The held-out rows with parts of them hidden, repeated to about ``n`` rows."""
        random = torch.Generator().manual_seed(mix_seed(self._seed, -2))
        n_masks = max(1, n // len(self._evidence))
        weights = torch.from_numpy(self._evidence.observed).float().repeat(n_masks, 1)
        visible = draw_visible((1, *weights.shape), self._recipe, random)[0]
        noise = standard_normal(N_DRAWS, self._recipe.latent, seed=0)[:, None]
        loss_weights = torch.ones(self._evidence.n_variables)
        if self._targets:
            visible[:, self._targets] = 0  # a declared target is never observed in use
            loss_weights = torch.zeros_like(loss_weights)
            loss_weights[self._targets] = 1
        values, visible = torch.from_numpy(self._evidence.values).repeat(n_masks, 1), weights * visible
        lookup = SubsetLookup.from_evidence(self._evidence, CPU) if self._recipe.weigh else None
        if lookup is not None:
            rows = torch.arange(len(self._evidence)).repeat(n_masks)
            weights = weights * lookup.weights(rows, visible)
        tensors = (values, weights, visible, noise, loss_weights)
        return Batch(*(tensor.to(self._device) for tensor in tensors))

    def calibration_batch(self, *, share: float = 1.0) -> Batch:
        """The held-out rows for calibration, with more masks if that is affordable.

        These rows are a ``share`` of all rows that the calibration uses.
        """
        affordable = min(CALIBRATION_ROWS, CALIBRATION_CELLS // self._evidence.n_variables)
        return self._mask_rows(int(share * max(affordable, MAX_VALIDATION_ROWS)))

    @torch.no_grad()
    def score(self, network: Network) -> float | None:
        """The mean score of hidden entries; None if nothing is hidden."""
        hidden = self.batch.hidden_weights * self.batch.loss_weights
        if not hidden.any():  # possible with few rows
            return None
        return float((entry_scores(network, self.batch) * hidden).sum() / hidden.sum())


def entry_scores(network: Network, batch: Batch) -> Tensor:
    """The score of every entry [rows, variables]: log-likelihood, minus CRPS, or minus Brier score."""
    code = network.code(batch.visible_values, batch.observed)
    if network.marginals is not None:
        outputs = network.marginal_outputs(network.features(code))
        return network.marginals.validation_score(outputs, batch.values)
    z = network.posterior(code).draw(batch.noise)
    return log_mean_exp(network.log_prob(network.decode(z), batch.values))


def choose_shrinkage(
    fits: Sequence[FactorFit | None], validations: Sequence[Validation | None]
) -> float:
    """The multiple of the estimated shrinkage with the best predictions of held-out rows.

    All ``fits`` are shrunk by it afterwards. The estimate is for all pairs of variables at once. A target
    that depends strongly on variables that do not depend on each other needs less, so others are tried.
    """
    if not any(fit is not None and fit.analysis.shrinkage.any() for fit in fits):
        return 1.0  # all shrinkage is 0, so that every multiple gives the same factors
    pairs = [
        (fit, validation)
        for fit, validation in zip(fits, validations, strict=True)
        if fit is not None and validation is not None
    ]
    scores = {multiple: _mean_score(pairs, multiple) for multiple in SHRINKAGE_MULTIPLES if pairs}
    known = {multiple: score for multiple, score in scores.items() if score is not None}
    best = max(known, key=lambda multiple: known[multiple]) if known else 1.0
    for fit in fits:
        if fit is not None:
            fit.shrink(best)
    return best


def _mean_score(pairs: Sequence[tuple[FactorFit, Validation]], multiple: float) -> float | None:
    """The mean score of held-out rows; None if nothing is hidden."""
    scores = []
    for fit, validation in pairs:
        fit.shrink(multiple)
        score = validation.score(fit.network)
        if score is not None:
            scores.append(score)
    return sum(scores) / len(scores) if scores else None
