"""Predictions of variables in the units and levels of the table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import TargetError
from eddi.model.survival_curve import SurvivalCurve
from eddi.table.text import format_html_table, format_names
from eddi.table.variable import Kind, Level, Variable

COVERAGE = 0.9
"""Probability that a value lies in `Prediction.interval`."""

MAX_LEVELS_SHOWN = 5  # in the repr of a prediction


@dataclass(frozen=True)
class Prediction:
    """The prediction of one variable for all rows, or for one row (``prediction[3]``).

    Args:
        variable: the predicted variable.
        mean: expected value [rows]. For ordered levels, the expected position; for a category, NaN. For
            survival, the mean time without an event up to the latest event of the training table; ``sd``
            and ``interval`` are those of the same time.
        sd: standard deviation [rows], of positions for ordered levels; NaN for a category.
        interval: the central 90% interval [rows, 2], of positions for ordered levels; NaN for a category.
        probabilities: of the levels [rows, levels]; None for quantities and survival.
        bin_probabilities: of the time bins of a survival variable [rows, bins]; None for others.
        log_hazard_sd: standard deviation of the log hazard of a survival variable [rows]: what other answers
            would still change, and what is not known about effects. None if the model does not know it.
    """

    variable: Variable
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    interval: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None = None
    bin_probabilities: NDArray[np.float64] | None = None
    log_hazard_sd: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        name = self.variable.name
        if self.shape:
            return f"<Prediction of {name!r} ({self.variable.kind}) for {len(self)} rows>"
        if self.variable.survival is not None:
            return f"<Prediction of {name!r}: {self._describe_survival()}>"
        if self.probabilities is not None:
            levels = zip(self.variable.levels, self.probabilities.tolist(), strict=True)
            best = sorted(levels, key=lambda pair: -pair[1])[:MAX_LEVELS_SHOWN]
            text = ", ".join(f"{level}: {probability:.3g}" for level, probability in best)
            more = ", ..." if self.variable.n_levels > len(best) else ""
            return f"<Prediction of {name!r}: {text}{more}>"
        low, high = self.interval.tolist()
        summary = f"mean {self.mean:.4g}, sd {self.sd:.4g}, 90% interval {low:.4g} to {high:.4g}"
        return f"<Prediction of {name!r}: {summary}>"

    def _repr_html_(self) -> str:
        names, cells = self._numbers_by_row() if self.probabilities is None else self._levels_by_row()
        if not self.shape:
            rows: list[tuple[object, ...]] = [(self.variable.name, *cells[0])]
            return format_html_table(repr(self), ("variable", *names), rows)
        rows = [(position, *row) for position, row in enumerate(cells)]
        return format_html_table(repr(self), ("row", *names), rows)

    def _numbers_by_row(self) -> tuple[list[str], list[list[str]]]:
        """Names and texts of the columns that describe a quantity, for each row."""
        means, sds = np.atleast_1d(self.mean).tolist(), np.atleast_1d(self.sd).tolist()
        intervals = self.interval.reshape(-1, 2).tolist()
        cells = [
            [f"{mean:.4g}", f"{sd:.4g}", f"{low:.4g} to {high:.4g}"]
            for mean, sd, (low, high) in zip(means, sds, intervals, strict=True)
        ]
        return ["mean", "sd", "90% interval"], cells

    def _levels_by_row(self) -> tuple[list[str], list[list[str]]]:
        """Names and probabilities of the levels, for each row."""
        by_row = np.atleast_2d(np.asarray(self.probabilities)).tolist()
        cells = [[f"{probability:.1%}" for probability in row] for row in by_row]
        return [str(level) for level in self.variable.levels], cells

    @property
    def value(self) -> Any:
        """The best guess: the mean of a quantity or a survival time, or the most likely level."""
        if self.probabilities is None:
            return self.mean
        best = np.asarray(self.probabilities.argmax(-1))
        return _labels(self.variable.levels)[best]

    @property
    def curve(self) -> SurvivalCurve:
        """The survival curves.

        Raises:
            TargetError: the variable is not a survival variable.
        """
        survival = self.variable.survival
        if survival is None or self.bin_probabilities is None:
            raise TargetError(
                f"{self.variable.name!r} is {self.variable.kind} and has no survival curve. Only survival "
                "variables have one."
            )
        return SurvivalCurve(np.array(survival.edges), self.bin_probabilities, self.log_hazard_sd)

    def risk(self, horizon: float) -> NDArray[np.float64]:
        """The probability of an event up to a time [rows]; for survival variables."""
        return self.curve.risk(horizon)

    @property
    def median(self) -> NDArray[np.float64]:
        """The median time until the event [rows], infinite if it is not reached; for survival variables."""
        return self.curve.median

    def _describe_survival(self) -> str:
        survival = self.variable.survival
        horizons = () if survival is None else survival.shown_horizons
        unit = f" {self.variable.unit}" if self.variable.unit else ""
        risks = ", ".join(f"{self.risk(h):.3g} up to {h:g}{unit}" for h in horizons)
        return f"median {self.median:.4g}{unit}, risk {risks}"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the mean: [rows], or [] for one row."""
        return self.mean.shape

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, rows: Any) -> "Prediction":
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        by_bin = None if self.bin_probabilities is None else self.bin_probabilities[rows]
        hazard_sd = None if self.log_hazard_sd is None else self.log_hazard_sd[rows]
        return replace(
            self,
            mean=self.mean[rows],
            sd=self.sd[rows],
            interval=self.interval[rows],
            probabilities=probabilities,
            bin_probabilities=by_bin,
            log_hazard_sd=hazard_sd,
        )

    def limit_certainty(self, other: "Prediction", rows: NDArray[np.bool_]) -> "Prediction":
        """A copy that is not more certain than ``other`` in these rows.

        A quantity keeps its mean, and a narrower interval gets the width of ``other``. Levels get the
        probabilities of ``other``, and a survival curve is that of ``other``.
        """
        if self.bin_probabilities is not None and other.bin_probabilities is not None:
            return replace(
                self,
                mean=np.where(rows, other.mean, self.mean),
                sd=np.where(rows, other.sd, self.sd),
                interval=np.where(rows[:, None], other.interval, self.interval),
                bin_probabilities=np.where(
                    rows[:, None], other.bin_probabilities, self.bin_probabilities
                ),
            )
        if self.probabilities is not None and other.probabilities is not None:
            is_surer = rows & (self.probabilities.max(-1) > other.probabilities.max(-1))
            return replace(
                self,
                mean=np.where(is_surer, other.mean, self.mean),
                sd=np.where(is_surer, other.sd, self.sd),
                interval=np.where(is_surer[:, None], other.interval, self.interval),
                probabilities=np.where(is_surer[:, None], other.probabilities, self.probabilities),
            )
        width, other_width = (np.diff(p.interval, axis=-1)[..., 0] for p in (self, other))
        is_narrower = rows & (width < other_width)
        shift = self.mean - other.mean
        if self.variable.kind is Kind.COUNT:
            # Whole numbers from 0 up.
            shift = np.maximum(np.rint(shift), -other.interval[:, 0])
        return replace(
            self,
            sd=np.where(rows, np.maximum(self.sd, other.sd), self.sd),
            interval=np.where(is_narrower[:, None], other.interval + shift[:, None], self.interval),
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype, copy=copy)


class Predictions(Mapping[str, Prediction]):
    """Predictions of several variables by name. As an array: their best guesses, one column each."""

    def __init__(self, by_name: dict[str, Prediction]) -> None:
        self._by_name = by_name

    def __repr__(self) -> str:
        return f"<Predictions of {len(self)} variables: {format_names(list(self))}>"

    def __getitem__(self, name: str) -> Prediction:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        columns = [np.asarray(prediction) for prediction in self._by_name.values()]
        if len({column.dtype.kind in "iuf" for column in columns}) > 1:  # keep numbers next to text
            columns = [column.astype(object) for column in columns]
        return np.array(np.stack(columns, axis=-1), dtype=dtype, copy=copy)


def _labels(levels: tuple[Level, ...]) -> NDArray[Any]:
    """Levels as an array; levels of different types keep their type."""
    if len({type(level) for level in levels}) == 1:
        return np.array(levels)
    labels = np.empty(len(levels), dtype=object)
    labels[:] = levels
    return labels
