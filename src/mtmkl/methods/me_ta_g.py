"""MeTaG: groups of tasks on several levels."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from mtmkl.checks import check_count, check_positive, checks
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.linear_classifier import LinearTaskClassifier
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution


@dataclass(eq=False, repr=False)
class MeTaGClassifier(LinearTaskClassifier, MultiTaskClassifier):
    r"""Least-squares classifiers whose tasks form groups on several levels.

    Minimises over W = W_1 + … + W_H (d × T) and intercepts b

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \sum_h \lambda_h \sum_{i < j}
        \|w_{h,i} - w_{h,j}\|_2 + 10^{-6} \sum_h T \|\bar w_h\|^2, \quad
        \lambda_h = \lambda / \phi^{h-1},

    w̄_h the mean of the tasks on level h, with y = ±1 and X standardised over the
    training samples of all tasks together; features that are constant there are left
    out. The last term makes the level means unique, which the norms leave free.

    The levels differ in their weights alone, and a sum of norms of differences obeys
    the triangle inequality: at the optimum only the level with the smallest weight λ_H
    deviates from its mean, and the levels' means are equal: W_h = w̄1'/H for h < H.
    λ and φ matter through λ_H = λ/φ^{H−1}.

    Parameters
    ----------
    lam : float
        λ > 0.
    phi : float
        φ > 1.
    n_levels : int
        H, at least 1, with φ^{H−1} at most 1e150.
    tol, max_iter
        As for :class:`CMTLClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        Σ_h W_h: weights of the features in their original units.
    n_iter_ : int
        1 where all tasks are equal.
    intercept_, history_ : ndarray
    objective_, dual_objective_, duality_gap_ : float
        As for :class:`CMTLClassifier`; tasks of one class are treated as there.

    References
    ----------
    L. Han and Y. Zhang, Learning multi-level task groups in multi-task learning, AAAI
    Conference on Artificial Intelligence, 2015.
    """

    _checks = checks(phi=check_positive, n_levels=check_count)

    lam: float = 1.0
    phi: float = 2.0
    _: KW_ONLY
    n_levels: int = 3

    def _check_params(self) -> None:
        super()._check_params()
        if self.phi <= 1:
            raise ValueError(f"phi must be more than 1, got {self.phi!r}")
        if (self.n_levels - 1) * np.log10(self.phi) > 150:
            raise ValueError(
                "phi ** (n_levels - 1) must be at most 1e150, got "
                f"phi={self.phi!r}, n_levels={self.n_levels!r}"
            )

    def _position(self) -> tuple[float, ...]:
        return (-self.lam / self.phi ** (self.n_levels - 1),)

    def _minimise(self, tasks: TaskDecomposition, start: Any) -> Solution:
        from mtmkl.solvers.linear.pairwise_fusion import solve

        return solve(
            tasks, self.lam, self.phi, self.n_levels, start=start, **self._limits
        )
