"""Adaptive pooling by maximum entropy discrimination."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms, Normalization
from mtmkl.methods._base.checks import check_positive, checks, one_of, optional
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.kernel_machine import keep_certificate
from mtmkl.methods._base.switched import SwitchedEstimator
from mtmkl.typing import FloatArray, IntArray, Spec


@dataclass(eq=False, repr=False)
class MEDAdaptivePooling(MultiTaskClassifier, SwitchedEstimator):
    r"""A communal classifier, and one per task that is switched on where it pays.

    Solves, to a relative duality gap, the dual of Jebara (2011), section 8,

    .. math::

        \max_\lambda \sum \lambda - \tfrac12 \sum_{m,n,t,\tau} \lambda_{mt}
        \lambda_{n\tau} y_{mt} y_{n\tau} k(x_{mt}, x_{n\tau}) - \sum_m
        \log\bigl(\alpha + e^{q_m}\bigr) + M \log(\alpha + 1), \quad
        q_m = \tfrac12 \sum_{t,\tau} \lambda_{mt} \lambda_{m\tau} y_{mt} y_{m\tau}
        k_m(x_{mt}, x_{m\tau}),

    with 0 ≤ λ ≤ C and Σ_t y_mt λ_mt = 0 for each task m. Communal and specialised
    kernels are multiples of one kernel. With α = 0 every switch is on: one joint
    support vector machine with the kernel k + δ_mn k_m and an offset per task. With
    log α far above every q_m all are off: the pooled machine on k with an offset per
    task.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    alpha, relative_alpha
        As for :class:`MEDKernelSelection`, with the q_m above.
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

    _checks = checks(
        communal_scale=check_positive,
        specialised_scale=optional(check_positive),
        normalize=one_of("trace", None),
    )

    _: KW_ONLY
    kernel: Kernel | Spec = "linear"
    communal_scale: float = 0.1
    specialised_scale: float | None = None
    normalize: Normalization = None
    standardize: bool = False

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> tuple[TrainingSet, IntArray, float, Any]:
        from mtmkl.solvers.med.med_pooling import PoolingPath

        terms = KernelTerms.of(
            X,
            [from_spec(self.kernel)],
            normalize=self.normalize,
            standardize=self.standardize,
        )
        order = np.argsort(task, kind="stable")
        sizes = np.bincount(task)
        training = TrainingSet(terms, X[order], task[order], sizes.size, joined=True)
        gram = training.blocks().grams.reshape(order.size, order.size)
        own_scale = self.specialised_scale
        if own_scale is None:
            own_scale = 0.9 * sizes.size
        ends = np.cumsum(sizes)
        path = PoolingPath(
            self.communal_scale * gram,
            [
                own_scale * gram[end - n : end, end - n : end]
                for n, end in zip(sizes, ends, strict=True)
            ],
            y[order],
            tol=self.tol,
            max_iter=self.max_iter,
        )
        return training, order, own_scale, path

    def _follow(self, prepared: tuple[Any, ...], previous: None) -> None:
        self._training, order, self._own_scale, path = prepared
        solution = self._solve(path)
        assert solution.dual is not None
        assert solution.intercept is not None
        self.switches_ = solution.coef
        self.dual_coef_ = np.empty(order.size)
        self.dual_coef_[order] = solution.dual
        self.intercept_ = solution.intercept
        keep_certificate(self, solution)
        self._beta = solution.dual

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        terms = self._training.terms
        gram = terms.grams(terms.inputs(X), self._training.X)[:, 0]
        is_own = task[:, None] == self._training.task[None, :]
        communal = self.communal_scale * (gram @ self._beta)
        specialised = self._own_scale * ((gram * is_own) @ self._beta)
        scores: FloatArray = (
            communal + self.switches_[task] * specialised + self.intercept_[task]
        )
        return scores
