r"""Alternation between λ and α, MK-MTFL of Jawanpuria and Nath (2011), section 3.

For given γ the f(γ) of :mod:`mtmkl.solvers.weights.mixed_norm` is a maximum over
λ and over the machines' α. The paper takes the best of the one for the other in turn:
machines on Σ_j (γ_j/λ_jt) K_tj, and λ_jt ∝ q_tj^{1/(p̄+1)} by its Lemma 3.1.
"""

from dataclasses import replace

import numpy as np

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelList, KernelTerms
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals
from mtmkl.solvers.weights.mixed_norm import duals_of
from mtmkl.typing import FloatArray, IntArray

_ACCURACY = 1e-8  # of the machines, in units of the targets
_LEAST = 1e-12  # of λ


def regression_problem(
    X: FloatArray, y: FloatArray, task: IntArray, kernels: KernelList, epsilon: float
) -> DualProblem:
    """Return the duals of support vector regression on standardised features."""
    terms = KernelTerms.of(X, kernels, normalize="trace", standardize=True)
    n_tasks = int(task.max()) + 1
    training = TrainingSet(terms, X, task, n_tasks)
    return DualProblem.of(
        y[training.order],
        training.blocks(),
        weight=np.tile(terms.order, (n_tasks, 1)),
        epsilon=epsilon,
    )


def greatest(problem: DualProblem, C: float, p: float, gamma: FloatArray) -> float:
    """Return f(γ), by Newton's method in λ."""
    return duals_of(problem, p, C).solve(gamma, _ACCURACY).dual


def alternate(
    problem: DualProblem, C: float, p: float, gamma: FloatArray, limit: int
) -> FloatArray:
    """Return the value of the machines in each alternation, the first with equal λ."""
    order = p / (p - 2.0)
    shape = problem.n_tasks, problem.n_weights
    own = shape[1] * np.arange(shape[0])[:, None] + problem.weight
    tasks = TaskDuals(replace(problem, weight=own, n_weights=shape[0] * shape[1]), C)
    lam, values = np.ones(shape), []
    for _ in range(limit):
        lam /= np.sum(lam**order, axis=0) ** (1.0 / order)
        inner = tasks.solve((gamma / lam).ravel(), _ACCURACY)
        tasks.renew()
        values.append(inner.dual)
        q = np.maximum(inner.q.reshape(shape), 0.0)
        share = q / np.where(q.max(axis=0) > 0.0, q.max(axis=0), 1.0)
        lam = np.maximum(share ** (1.0 / (order + 1.0)), _LEAST)
    return np.array(values)
