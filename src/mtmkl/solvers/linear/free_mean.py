"""A part of the coefficients that all tasks share, beside their penalised deviations.

With W = Z + m1', Z1 = 0, and r·T·||m||², r ≥ 0, the step in W is one in its deviations
and m together, because a mean that only followed the tasks step by step would be slow.
"""

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot
from mtmkl.solvers.linear.task_admm import pull_back, relaxed_step
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, TaskRows
from mtmkl.typing import FloatArray

# (A⁻¹, a, b) of a mean A⁻¹ Σ_t V_t'(a_t − b_t∘V_t z_t), with a of shape (1, n_rows).
System = tuple[FloatArray, FloatArray, FloatArray]
NO_SYSTEM: System = np.zeros((0, 0)), np.zeros((1, 0)), np.zeros(0)


class FreeMean:
    """The steps in m, shape (d,), and dual points that agree with it."""

    def __init__(self, tasks: TaskDecomposition, ridge: float) -> None:
        self.tasks = tasks
        self.ridge = ridge * tasks.n_tasks
        self.step, self._system = 0.0, NO_SYSTEM
        self._loss = (tasks.singular * tasks.target)[None], tasks.singular**2

    def best(self, Z: FloatArray) -> FloatArray:
        """Return the m with which Z, of shape (T, d), has the least loss and ridge."""
        values, vectors = self.tasks.pooled_spectrum
        pulls, _ = pull_back(self.tasks.arrays, Z[None], *self._loss)
        along = vectors.T @ pulls[0].sum(axis=0)
        mean: FloatArray = vectors @ (along / (values + self.ridge))
        return mean

    def system(self, step: float) -> System:
        """Return the linear system of the joint step for a ρ, the same at every point.

        Its loss is what is left once the deviations have taken their part.
        """
        if step == self.step:
            return self._system
        right, (aims, slopes) = self.tasks.right, self._loss
        weights = step / (2.0 * slopes + step)
        aims, slopes = weights * aims, weights * slopes
        # NumPy sees that the product is symmetric, and computes half of it.
        rows = np.sqrt(slopes)[:, None] * right
        system = rows.T @ rows
        # Beside the ridge, enough for rounding: the bound makes good what m misses.
        least = 1e-13 * np.trace(system) + 1e-300
        system.flat[:: system.shape[0] + 1] += self.ridge + least
        inverse = np.asarray(np.linalg.inv(system), np.float64)
        self.step, self._system = step, (inverse, aims, slopes)
        return self._system

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
        return a, tasks.back(tasks.singular * a)


@compiled
def joint_step(
    data: TaskRows, system: System, Z: FloatArray, L: FloatArray, step: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Take the joint step; return V, of the mean 0, and as ``relaxed_step`` does."""
    inverse, aims, slopes = system
    n_tasks, d = Z.shape
    base, mean, pooled = np.empty((1, n_tasks, d)), np.zeros(d), np.zeros(d)
    for t in range(n_tasks):
        for i in range(d):
            base[0, t, i] = Z[t, i] + L[t, i] / step
    pulls, _ = pull_back(data, base, aims, slopes)
    for t in range(n_tasks):
        add_scaled(pooled, 1.0, pulls[0, t])
    for i in range(d):
        mean[i] = dot(inverse[i], pooled)
    V, pull, residual = relaxed_step(data, Z, L, mean, step)
    mean[:] = 0.0
    for t in range(n_tasks):
        add_scaled(mean, 1.0 / n_tasks, V[t])
    for t in range(n_tasks):
        add_scaled(V[t], -1.0, mean)
    return V, pull, residual
