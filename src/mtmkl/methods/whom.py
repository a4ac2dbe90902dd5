"""Whom: learning with whom to share features."""

from collections.abc import Sequence
from dataclasses import dataclass

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
class WhomClassifier(RestartedClassifier, MultiTaskClassifier):
    r"""Least-squares classifiers in groups, each of which shares a few features.

    Minimises over W (d × T), an assignment of the tasks to at most G groups, and
    intercepts b

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \lambda \sum_g \|W_g\|_{\mathrm{tr}}^2,

    W_g the columns of group g and ||·||_tr the sum of the singular values, with y = ±1
    and X standardised over the training samples of all tasks together; features that
    are constant there are left out. With one group it is
    :class:`~mtmkl.methods.MultiTaskFeatureLearningRegressor`. For a given assignment
    the problem is convex, and G groups are never worse than fewer. Of up to six tasks
    all partitions into G groups are tried, which gives the minimum; of more tasks
    several random assignments are improved by moving one task, or swapping two, to
    a local minimum.

    Parameters
    ----------
    lam : float
        λ, positive.
    n_groups : int or float
        G; a number or a share, as r of :class:`CMTLClassifier`.
    n_restarts : int
        Random assignments to start from, of which the one that ends at the lowest
        objective is kept. Ignored where all partitions are tried.
    random_state : int or None
        Their seed; None for a different one in each fit.
    tol : float
        Relative duality gap to which the problem of each group is solved.
    max_iter : int
        Maximum number of iterations per group, with a ``ConvergenceWarning``.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        As for :class:`CMTLClassifier`; tasks of one class are treated as there.
    groups_ : ndarray of shape (T,)
        The group of each task, numbered from 0 in order of appearance; −1
        for a task that has no part in the problem.
    objective_ : float
        Value of the problem.
    n_iter_ : int
        Assignments, each better than the last, from the start that was kept.
    history_ : ndarray
        Their objectives.
    restart_histories_ : list of ndarray
        That of every start; a single one where all partitions are tried.

    References
    ----------
    Z. Kang, K. Grauman and F. Sha, Learning with whom to share in multi-task feature
    learning, International Conference on Machine Learning, 2011.
    """

    lam: float = 1.0
    n_groups: int | float = 0.25

    def _local_minima(
        self, tasks: TaskDecomposition, rngs: Sequence[np.random.Generator]
    ) -> list[Solution]:
        from mtmkl.solvers.linear.whom_partitions import solve

        n_groups = number_of_groups(self.n_groups, tasks.n_tasks)
        return solve(tasks, self.lam, n_groups, rngs=rngs, **self._limits)

    def _keep(self, prepared: PreparedTasks, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.groups_ = np.full(self.tasks_.size, -1)
        self.groups_[prepared.taking_part] = solution.extra.get("groups", -1)
