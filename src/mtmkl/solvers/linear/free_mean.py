"""A part of the coefficients that all tasks share, beside their penalised deviations.

With W = Z + m1', Z1 = 0, and r·T·||m||², r ≥ 0, the step in W is one in its deviations
and m together, because a mean that only followed the tasks step by step would be slow.
"""

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dpotrs

from mtmkl.solvers.linear.task_admm import pull_back, relaxed_step
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.typing import FloatArray


class FreeMean:
    """The steps in m, shape (d,), and dual points that agree with it."""

    def __init__(self, tasks: TaskDecomposition, ridge: float) -> None:
        self.tasks = tasks
        self.ridge = ridge * tasks.n_tasks
        self.step = 0.0

    def best(self, Z: FloatArray) -> FloatArray:
        """Return the m with which Z, of shape (T, d), has the least loss and ridge."""
        values, vectors = self.tasks.pooled_spectrum
        squares = self.tasks.singular**2
        along = vectors.T @ self._sum(
            Z, self.tasks.singular * self.tasks.target, squares
        )
        mean: FloatArray = vectors @ (along / (values + self.ridge))
        return mean

    def joint(self, base: FloatArray, step: float) -> FloatArray:
        """Return the m of the joint step from ``base``, (T, d)."""
        if step != self.step:
            self._factorise(step)
        pull = self._sum(base, self.aims, self.slopes)
        mean: FloatArray = dpotrs(self.factor, pull)[0]
        return mean

    def relaxed_step(
        self, Z: FloatArray, L: FloatArray, step: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Take the joint step; return V, of the mean 0, and as ``task_admm`` does."""
        mean = self.joint(Z + L / step, step)
        V, pull, residual = relaxed_step(*self.tasks.arrays, Z, L, mean, step)
        V -= V.sum(axis=0) / len(V)
        return V, pull, residual

    def _factorise(self, step: float) -> None:
        """Prepare the linear system for a ρ, the same at every point."""
        tasks, squares = self.tasks, self.tasks.singular**2
        # Loss left once the deviations have taken their part.
        weights = step / (2.0 * squares + step)
        self.aims = weights * tasks.singular * tasks.target
        self.slopes = weights * squares
        rows = np.sqrt(self.slopes)[:, None] * tasks.right
        system = rows.T @ rows
        # Beside the ridge, enough for rounding: the bound makes good what m misses.
        least = 1e-13 * np.trace(system) + 1e-300
        system[np.diag_indices_from(system)] += self.ridge + least
        self.factor, self.step = cholesky(system), step

    def _sum(self, Z: FloatArray, aims: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return Σ_t V_t'(a_t − b_t∘V_t z_t)."""
        data = self.tasks.arrays[:3]
        return pull_back(*data, Z[None], aims[None], slopes)[0].sum(axis=0)

    def agreeing(
        self, a: FloatArray, mean: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the dual point nearest to ``a`` with Σ_t X_t'a_t = 2rTm, and X_t'a_t.

        The dual points are reduced; the X_t'a_t have shape (T, d).
        """
        tasks = self.tasks
        values, vectors = tasks.pooled_spectrum
        missing = 2.0 * self.ridge * mean - (tasks.singular * a) @ tasks.right
        change = vectors @ ((vectors.T @ missing) / values)
        a = a + tasks.singular * (tasks.right @ change)
        return a, tasks.adjoint(a)
