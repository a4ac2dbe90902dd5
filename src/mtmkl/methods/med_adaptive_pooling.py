"""Adaptive pooling by maximum entropy discrimination."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.terms import KernelTerms, Normalization, check_kernel
from mtmkl.methods._kernel_machine import keep_certificate
from mtmkl.methods._switched import check_alpha, log_alpha_of, position_on_path
from mtmkl.methods.base import (
    PathEstimator,
    check_choice,
    check_count,
    check_flag,
    check_positive,
)
from mtmkl.methods.base_classifier import MultiTaskClassifier

if TYPE_CHECKING:
    from typing import Self

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class MEDAdaptivePooling(MultiTaskClassifier, PathEstimator):
    r"""A communal classifier, and one a task that is switched on where it pays.

    Solves, to a relative duality gap, the dual of Jebara (2011), section 8,

    .. math::

        \max_\lambda \sum \lambda - \tfrac12 \sum_{m,n,t,\tau} \lambda_{mt}
        \lambda_{n\tau} y_{mt} y_{n\tau} k(x_{mt}, x_{n\tau}) - \sum_m
        \log\bigl(\alpha + e^{q_m}\bigr) + M \log(\alpha + 1), \quad
        q_m = \tfrac12 \sum_{t,\tau} \lambda_{mt} \lambda_{m\tau} y_{mt} y_{m\tau}
        k_m(x_{mt}, x_{m\tau}),

    with 0 ≤ λ ≤ C and Σ_t y_mt λ_mt = 0 for each task m. Communal and specialised
    kernels are multiples of one kernel. With α = 0 every switch is on: one joint
    support vector machine with the kernel k + δ_mn k_m and an offset a task. With
    log α far above every q_m all are off: the pooled machine on k with an offset a
    task.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    alpha : float
        α ≥ 0: the prior probability of a switch is 1/(1 + α).
    relative_alpha : float, optional
        Instead of ``alpha``: log(1 + α) as a multiple, at least 0, of the largest q_m
        at α = 0 with the same C.
    kernel : Kernel, mapping or str
        A kernel of :mod:`mtmkl.kernels.base` or its specification.
    communal_scale : float
        The communal kernel in units of ``kernel``, positive.
    specialised_scale : float, optional
        The specialised kernels in units of ``kernel``, positive; by default 9/10 times
        the number of tasks, as in the paper.
    normalize : {"trace", None}
        "trace" divides the kernel by the mean of k(x, x) over the training examples.
    standardize : bool
        Whether inputs are brought to mean 0 and standard deviation 1 over the training
        examples of all tasks together, before the kernel.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Limit on Newton steps.

    Attributes
    ----------
    switches_ : ndarray of shape (T,)
        Expected switches of the specialised classifiers, in [1/(1 + α), 1].
    alpha_, log_alpha_ : float
        α and log α; α may be infinite by overflow, log α is not.
    dual_coef_ : ndarray of shape (n,)
        λ_i y_i of the training examples.
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Switches visited by Newton's method.

    References
    ----------
    T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
    Learning Research 12, 2011.
    """

    def __init__(
        self,
        C: float = 1.0,
        alpha: float = 1.0,
        *,
        relative_alpha: float | None = None,
        kernel: Kernel | Mapping[str, Any] | str = "linear",
        communal_scale: float = 0.1,
        specialised_scale: float | None = None,
        normalize: Normalization = None,
        standardize: bool = False,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.alpha = alpha
        self.relative_alpha = relative_alpha
        self.kernel = kernel
        self.communal_scale = communal_scale
        self.specialised_scale = specialised_scale
        self.normalize = normalize
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_alpha(self)
        check_kernel("kernel", self.kernel)
        check_positive("communal_scale", self.communal_scale)
        if self.specialised_scale is not None:
            check_positive("specialised_scale", self.specialised_scale)
        check_choice("normalize", self.normalize, ("trace", None))
        check_flag("standardize", self.standardize)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def _group_key(self) -> str:
        along = ("C", "alpha", "relative_alpha")
        params = self.get_params(deep=False)
        return repr([(name, params[name]) for name in params if name not in along])

    def _fit_group(
        self, group: "Sequence[Self]", X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        from mtmkl.solvers.med_pooling import PoolingPath

        first = group[0]
        n_tasks = first.tasks_.size
        own_scale = first.specialised_scale
        if own_scale is None:
            own_scale = 0.9 * n_tasks
        terms = KernelTerms.of(
            X,
            [from_spec(first.kernel)],
            normalize=first.normalize,
            standardize=first.standardize,
        )
        order = np.argsort(task, kind="stable")
        Z, task = terms.inputs(X)[order], task[order]
        gram = terms.grams(Z, Z)[:, 0]
        path = PoolingPath(
            first.communal_scale * gram,
            [own_scale * gram[np.ix_(rows, rows)] for rows in _rows(task, n_tasks)],
            y[order],
            tol=first.tol,
            max_iter=first.max_iter,
        )
        for estimator in sorted(group, key=position_on_path):
            log_alpha = log_alpha_of(estimator, path)
            solution = path.solve(estimator.C, log_alpha)
            assert solution.dual is not None
            assert solution.intercept is not None
            estimator.switches_ = solution.coef
            estimator.log_alpha_ = log_alpha
            with np.errstate(over="ignore"):
                estimator.alpha_ = float(np.exp(log_alpha))
            estimator.dual_coef_ = np.empty(order.size)
            estimator.dual_coef_[order] = solution.dual
            estimator.intercept_ = solution.intercept
            keep_certificate(estimator, solution)
            estimator._terms, estimator._Z, estimator._task = terms, Z, task
            estimator._beta, estimator._own_scale = solution.dual, own_scale

    def _decide(self, X: FloatArray, task: IntArray) -> FloatArray:
        gram = self._terms.grams(self._terms.inputs(X), self._Z)[:, 0]
        is_own = task[:, None] == self._task[None, :]
        communal = self.communal_scale * (gram @ self._beta)
        specialised = self._own_scale * ((gram * is_own) @ self._beta)
        scores: FloatArray = (
            communal + self.switches_[task] * specialised + self.intercept_[task]
        )
        return scores


def _rows(task: IntArray, n_tasks: int) -> list[IntArray]:
    return [np.flatnonzero(task == t) for t in range(n_tasks)]
