"""CoClus: co-clusters of tasks and features."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.linear_classifier import (
    PreparedTasks,
    RestartedClassifier,
    number_of_groups,
)
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution


@dataclass(eq=False, repr=False)
class CoClusClassifier(RestartedClassifier, MultiTaskClassifier):
    r"""Least-squares classifiers that share a mean and a few co-clusters.

    Seeks a local minimum over W = P + Q (d × T) and intercepts b of

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \lambda_1 \|P \Pi\|_F^2
        + \lambda_2 \sum_{i > k} \sigma_i(Q)^2 + 10^{-6} \|P + Q\|_F^2,

    Π = I − 11'/T, σ_i the singular values in decreasing order, with y = ±1 and X
    standardised over the training samples of all tasks together; features that are
    constant there are left out. The first penalty leaves the mean of P free, the second
    the k leading directions of Q; the last term bounds them.

    Given W the best split is known, and with c = λ₁λ₂/(λ₁ + λ₂) the problem is that of
    the one penalty c Σ_{i>k} σ_i(WΠ)²: λ₁ and λ₂ matter through c alone.

    Parameters
    ----------
    lam_1, lam_2 : float
        λ₁, λ₂ > 0.
    n_clusters : int or float
        k; a number or a share, as r of :class:`CMTLClassifier`.
    n_restarts : int
        Starts: the first from independent ridge regressions, the others from random
        directions. The one of the lowest objective is kept.
    random_state : int or None
        Seed of the random starts; None for different ones in each fit.
    tol : float
        Stop when an alternation lowers the objective by at most this share of it (of
        1 % of Σ_t ||y_t||² where the objective is less).
    max_iter : int
        Maximum number of alternations per start; reaching it gives a
        ``ConvergenceWarning``.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        As for :class:`CMTLClassifier`; tasks of one class are treated as there.
    clustered_coef_ : ndarray of shape (d, T)
        The part of ``coef_`` that is Q.
    objective_ : float
        Value of the problem.
    n_iter_ : int
    history_ : ndarray
        Objective after each alternation.
    restart_histories_ : list of ndarray
        That of every start.

    References
    ----------
    L. Xu, A. Huang, J. Chen and E. Chen, Exploiting task-feature co-clusters in
    multi-task learning, AAAI Conference on Artificial Intelligence, 2015.
    """

    lam_1: float = 1.0
    lam_2: float = 1.0
    n_clusters: int | float = 0.25
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 1000

    def _local_minima(
        self, tasks: TaskDecomposition, rngs: Sequence[np.random.Generator]
    ) -> list[Solution]:
        from mtmkl.solvers.linear.co_clusters import solve

        n_clusters = number_of_groups(self.n_clusters, tasks.n_tasks)
        starts = [None, *rngs[1:]]  # the first is that of ridge regressions
        return solve(
            tasks, self.lam_1, self.lam_2, n_clusters, rngs=starts, **self._limits
        )

    def _keep(self, prepared: PreparedTasks, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.clustered_coef_ = prepared.expand(
            solution.extra.get("clustered", solution.coef)
        )
