"""Curves with given errors, for tests without a model, and figures for tests of plots."""

import numpy as np
import pytest

from eddi.evaluate import figures
from eddi.evaluate.curves import Curves


@pytest.fixture(scope="session")
def curves_with_errors():
    """Build curves whose predictions have these errors [rows, steps + 1]."""

    def build(errors: object, truth: object = None) -> Curves:
        error = np.asarray(errors, dtype=float)
        n_rows, n_points = error.shape
        true = np.zeros(n_rows) if truth is None else np.asarray(truth, dtype=float)
        return Curves(
            target="risk",
            questions=("a", "b", "c"),
            truth=true,
            mean=error + true[:, None],
            draw_squares=error**2,
            log_prob=-np.abs(error),
            order=np.zeros((n_rows, n_points - 1), dtype=np.int64),
            spent=np.tile(np.arange(n_points, dtype=float), (n_rows, 1)),
        )

    return build


@pytest.fixture
def saved_figures(monkeypatch):
    """The figures that plots save, in memory instead of in files."""
    saved = []
    monkeypatch.setattr(figures, "save", lambda figure, _path: saved.append(figure))
    return saved
