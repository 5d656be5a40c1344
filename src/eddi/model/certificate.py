"""Certificates: how often decisions were wrong that were made at a given confidence.

Learn then test (Angelopoulos et al. 2021, "Learn then Test: Calibrating Predictive Algorithms to Achieve
Risk Control"): rows that training did not see are interviewed to the end. For each threshold of a fixed
grid, the certificate counts the rows whose decision would have been wrong, had the interview ended at the
first prediction of that confidence. From the highest threshold downwards, the hypothesis "more than
``risk`` of all interviews would be wrong" is tested with the binomial distribution, up to the first
threshold at which it cannot be rejected. All thresholds before it are safe simultaneously, with the
requested confidence (fixed-sequence testing).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, betaincinv

N_THRESHOLDS = 61
MIN_ERROR = 1e-4  # of the highest threshold; float32 predictions are no finer
THRESHOLDS = tuple((1 - np.geomspace(MIN_ERROR, 1.0, N_THRESHOLDS)).tolist())
"""From the most cautious threshold to 0, at which an interview ends before the first question."""

StrategySettings = Mapping[str, Any]  # {"type": class name, field: value, ...}


@dataclass(frozen=True)
class CertificateKey:
    """What a certificate is valid for."""

    target: tuple[str, ...]
    strategy: tuple[tuple[str, Any], ...]  # the strategy's settings, sorted by name
    within: float | None

    @classmethod
    def create(cls, target: tuple[str, ...], strategy: object, within: float | None) -> "CertificateKey":
        """The key for a target, a strategy (an object) and a tolerance."""
        return cls(target, _hashable(describe_strategy(strategy)), within)


def describe_strategy(strategy: object) -> dict[str, Any]:
    """A strategy's class name and settings as plain JSON, nested strategies included."""
    if is_dataclass(strategy):
        settings = {field.name: getattr(strategy, field.name) for field in fields(strategy)}
    else:
        settings = dict(strategy.__dict__) if hasattr(strategy, "__dict__") else {}
    return {"type": type(strategy).__name__} | {k: _plain(v) for k, v in settings.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return describe_strategy(value) if hasattr(value, "score") else repr(value)


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((key, _hashable(item)) for key, item in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Certificate:
    """Error counts on rows that training did not see. It contains no row.

    Args:
        target: the targets of the interviews.
        strategy: the settings of the strategy; see `describe_strategy`.
        within: maximum error of a correct decision about a quantity; None for levels.
        n_rows: number of rows.
        thresholds: predicted probabilities of a correct decision at which interviews end, falling.
        n_wrong: number of rows with a wrong decision at each threshold.
        n_asked: mean number of questions at each threshold.
    """

    target: tuple[str, ...]
    strategy: StrategySettings
    within: float | None
    n_rows: int
    thresholds: tuple[float, ...]
    n_wrong: tuple[int, ...]
    n_asked: tuple[float, ...]

    def __post_init__(self) -> None:
        if not len(self.thresholds) == len(self.n_wrong) == len(self.n_asked) > 0:
            raise ValueError("a certificate needs one count per threshold.")
        if not np.all(np.diff(self.thresholds) < 0):
            raise ValueError("the thresholds of a certificate must fall.")
        if not all(0 <= wrong <= self.n_rows for wrong in self.n_wrong):
            raise ValueError("a certificate cannot count more wrong decisions than rows.")

    @property
    def key(self) -> CertificateKey:
        """What this certificate is valid for."""
        return CertificateKey(self.target, _hashable(self.strategy), self.within)

    def threshold(self, risk: float, confidence: float) -> float | None:
        """The lowest threshold that guarantees the risk; None if no threshold does."""
        p_value = bdtr(self.n_wrong, self.n_rows, risk)  # of so few errors, if the risk were higher
        failed = np.flatnonzero(~(p_value <= 1 - confidence))
        n_safe = failed[0] if len(failed) else len(self.thresholds)
        return self.thresholds[n_safe - 1] if n_safe else None

    def smallest_risk(self, confidence: float) -> float:
        """The smallest risk that can be guaranteed: an upper bound at the highest threshold."""
        n_wrong = self.n_wrong[0]
        if n_wrong == self.n_rows:
            return 1.0
        return float(betaincinv(n_wrong + 1, self.n_rows - n_wrong, confidence))

    def to_document(self) -> dict[str, Any]:
        """The certificate as plain JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Certificate":
        """The certificate that `to_document` described."""
        tuples = {
            name: tuple(value) for name, value in document.items() if isinstance(value, list | tuple)
        }
        return cls(**{**document, **tuples})
