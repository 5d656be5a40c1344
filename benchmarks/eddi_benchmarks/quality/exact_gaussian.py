"""Exact inference for `GaussianClasses`: posteriors, the information of questions, greedy interviews.

Given a class, the answers are jointly normal. Given observed answers as well, an open answer is normal
with a mean that depends on the class and a variance that does not. So its distribution is a mixture of
normals, and its information about the class is an integral over one number.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi_benchmarks.data.synthetic import GaussianClasses
from eddi_benchmarks.report.statistics import Numbers

N_NODES = 48  # of the Gauss-Hermite quadrature over an answer
MIN_VARIANCE = 1e-12  # of an answer that is not observed

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ExactClassifier:
    """The posterior of the class given any answers, and the information of the others."""

    classes: GaussianClasses

    def log_posterior(self, rows: Numbers, observed: Mask) -> Numbers:
        """log p(class | observed answers) [rows, classes].

        Args:
            rows: all answers [rows, variables].
            observed: which of them are observed [rows, variables], or [variables] for all rows.
        """
        residual, precision = self._observed_parts(rows, observed)
        square = np.einsum("rki,rij,rkj->rk", residual, precision, residual)
        log_density = -0.5 * square  # up to the determinant, which does not depend on the class
        return np.asarray(log_density - np.logaddexp.reduce(log_density, axis=1, keepdims=True))

    def information(self, rows: Numbers, observed: Mask) -> Numbers:
        """I(class; answer | observed answers) in nats [rows, variables]; 0 if it is observed."""
        covariance = self.classes.covariance
        residual, precision = self._observed_parts(rows, observed)
        gain = covariance @ precision  # [rows, variables, variables]
        mean = self.classes.mean + np.einsum("rij,rkj->rki", gain, residual)  # of each answer
        variance = np.diag(covariance) - np.einsum("rij,ji->ri", gain, covariance)
        standardised = mean / np.sqrt(np.maximum(variance, MIN_VARIANCE))[:, None]
        nats = self._mixture_information(self.log_posterior(rows, observed), standardised)
        return np.where(observed, 0.0, nats)

    def greedy_order(self, rows: Numbers) -> NDArray[np.int64]:
        """The questions that each row is asked if the most informative one is next [rows, steps]."""
        observed = np.zeros(rows.shape, dtype=bool)
        order = []
        for _ in range(rows.shape[1]):
            information = np.where(observed, -np.inf, self.information(rows, observed))
            order.append(information.argmax(1))
            observed[np.arange(len(rows)), order[-1]] = True
        return np.stack(order, axis=1)

    def _observed_parts(self, rows: Numbers, observed: Mask) -> tuple[Numbers, Numbers]:
        """Residuals [rows, classes, variables] and precision [rows, variables, variables].

        Both are 0 for variables that are not observed.
        """
        is_observed = np.broadcast_to(observed, rows.shape)
        both = is_observed[:, :, None] & is_observed[:, None]
        identity = np.eye(rows.shape[1])
        precision = np.where(both, np.linalg.inv(np.where(both, self.classes.covariance, identity)), 0.0)
        residual = np.where(is_observed[:, None], rows[:, None] - self.classes.mean, 0.0)
        return residual, precision

    def _mixture_information(self, log_weight: Numbers, mean: Numbers) -> Numbers:
        """Information of a draw from a mixture of unit normals about its component [rows, variables].

        Args:
            log_weight: of the components [rows, classes].
            mean: of the components [rows, classes, variables].
        """
        nodes, node_weight = self._quadrature
        information = np.zeros((len(mean), mean.shape[2]))
        for component in range(mean.shape[1]):
            distance = mean[:, component, None] - mean  # [rows, classes, variables]
            # log p(answer | other) - log p(answer | component), at the nodes of the component
            log_ratio = -distance[..., None] * nodes - 0.5 * np.square(distance)[..., None]
            log_mixture = np.logaddexp.reduce(log_weight[:, :, None, None] + log_ratio, axis=1)
            information -= np.exp(log_weight[:, component, None]) * (log_mixture @ node_weight)
        return np.maximum(information, 0.0)  # rounding can give a tiny negative number

    @cached_property
    def _quadrature(self) -> tuple[Numbers, Numbers]:
        """Nodes and weights for expectations of a standard normal."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
        return nodes, weights / weights.sum()
