"""Adaptive pooling by maximum entropy discrimination."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from mtmkl.checks import check_positive, checks, one_of, optional
from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.basis import pivoted_cholesky
from mtmkl.kernels.feature_maps import feature_map, has_feature_map
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms, Normalization, check_kernel
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.switched import SwitchedEstimator
from mtmkl.typing import FloatArray, IntArray, Spec

# From so many samples on a factor stands for the communal Gram matrix: the features
# of a linear kernel, if they are no more than a share of the samples, and of other
# kernels a Cholesky factor of a bounded number of pivots.
_MANY, _FEATURE_SHARE = 1000, 1 / 8
_MANY_OF_OTHERS, _PIVOTS, _PIVOT_TOL = 3000, 256, 1e-8
_ENTRIES = 1 << 22  # kernel values at a time, of those that are not kept: 32 MB


@dataclass(eq=False, repr=False)
class MEDAdaptivePoolingClassifier(SwitchedEstimator, MultiTaskClassifier):
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
    support vector machine with the kernel k + δ_mn k_m and an intercept per task. With
    log α far above every q_m all are off: the pooled machine on k with an intercept per
    task.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    alpha, relative_alpha
        As for :class:`MEDKernelSelectionClassifier`, with the q_m above.
    kernel : Kernel, mapping or str
        A kernel of :mod:`mtmkl.kernels.base` or its specification.
    communal_scale : float
        The communal kernel in units of ``kernel``, positive.
    specialised_scale : float, optional
        The specialised kernels in units of ``kernel``, positive; by default 9/10 times
        the number of tasks, as in the paper.
    normalize, standardize
        As for :class:`IndependentSVMClassifier`.
    tol, max_iter
        As for :class:`MEDKernelSelectionClassifier`.

    Attributes
    ----------
    switches_ : ndarray of shape (T,)
        Expected switches of the specialised classifiers, in [1/(1 + α), 1].
    alpha_, log_alpha_ : float
        α and log α; α may be infinite by overflow, log α is not.
    dual_coef_ : ndarray of shape (n,)
        λ_i y_i of the training samples.
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Switches visited by Newton's method.

    Notes
    -----
    The Gram matrix of all samples is built for up to 1,000 of them, and for up to
    3,000 if the kernel is not linear or there are more features than an eighth of the
    samples. Of more samples memory grows in proportion to their number, and the
    certificate is still that of the whole problem. Should a narrow kernel with
    communal and specialised scales of one size not be solved so, the matrix is built
    after all, as long as it has at most 2 GiB.

    References
    ----------
    T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
    Learning Research 12, 2011.
    """

    _checks = checks(
        kernel=check_kernel,
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
        self, X: FloatArray, y: FloatArray, task: IntArray
    ) -> tuple[TrainingSet, IntArray, tuple[float, float], Any]:
        from mtmkl.solvers.med.med_pooling import PoolingPath

        terms = KernelTerms.of(
            X,
            [from_spec(self.kernel)],
            normalize=self.normalize,
            standardize=self.standardize,
        )
        sizes = np.bincount(task)
        training = TrainingSet(terms, X, task, sizes.size)
        order, own_scale = training.order, self.specialised_scale
        if own_scale is None:
            own_scale = 0.9 * sizes.size
        joined = TrainingSet(terms, X[order], task[order], sizes.size, joined=True)
        communal = _Communal(joined, self.communal_scale)
        factor, is_all = communal.factor()
        if factor is None:
            gram = joined.blocks().grams.reshape(y.size, y.size)
            rows = [training.rows(t) for t in range(sizes.size)]
            blocks = [gram[own, own].copy() for own in rows]
            gram *= self.communal_scale
            shared: dict[str, Any] = {"communal": gram}
        else:
            grams = training.blocks()
            blocks = [
                grams.grams[grams.pairs(t)].reshape(n, n) for t, n in enumerate(sizes)
            ]
            shared = {
                "communal": factor,
                "within": [self.communal_scale * block for block in blocks],
                "whole": None if is_all else communal,
            }
        scales = self.communal_scale, own_scale
        path = PoolingPath(
            specialised=[own_scale * block for block in blocks],
            c=y[order],
            **self._limits,
            **shared,
        )
        return training, order, scales, path

    def _follow(self, prepared: tuple[Any, ...], previous: None) -> None:
        self._training, order, self._scales, path = prepared
        solution = self._solve(path)
        self.switches_ = solution.coef
        self.dual_coef_ = np.empty(order.size)
        self.dual_coef_[order] = solution.dual
        self.intercept_ = solution.intercept
        self._keep_certificate(solution)
        self._beta = solution.dual

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        training, terms = self._training, self._training.terms
        Z, beta, (communal, own_scale) = terms.inputs(X), self._beta, self._scales
        scores = communal * _products(terms, Z, training.X, beta)
        for t in np.unique(task):
            rows, own = task == t, training.rows(t)
            specialised = _products(terms, Z[rows], training.X[own], beta[own])
            scores[rows] += self.switches_[t] * own_scale * specialised
        return scores + self.intercept_[task]


@dataclass(frozen=True)
class _Communal:
    """The communal Gram matrix of samples sorted by task."""

    joined: TrainingSet
    scale: float

    def matrix(self) -> FloatArray:
        """Return it whole. Raises GramMemoryError if that is too much."""
        gram, n = self.joined.blocks().grams, self.joined.task.size
        gram *= self.scale
        return gram.reshape(n, n)

    def product(self, beta: FloatArray) -> FloatArray:
        """Return its product with β, without building it."""
        X, used = self.joined.X, np.flatnonzero(beta)
        return self.scale * _products(self.joined.terms, X, X[used], beta[used])

    def factor(self) -> tuple[FloatArray | None, bool]:
        """Return a factor of it, or None for few samples, and whether nothing lacks.

        The features of a linear kernel, if they are few, or a bounded number of columns
        of a Cholesky factor.
        """
        terms, X = self.joined.terms, self.joined.X
        kernel, n = terms.kernels[0], X.shape[0]
        assert kernel is not None
        scale = self.scale * float(terms.scale[0])
        if n > _MANY and has_feature_map(kernel) and X.shape[1] <= _FEATURE_SHARE * n:
            return feature_map(kernel, X, scale), True
        if n <= _MANY_OF_OTHERS or terms.unproven():  # which the matrix may refute
            return None, False
        _, L, _, _ = pivoted_cholesky(
            kernel, X, kernel.diagonal(X), _PIVOT_TOL, _PIVOTS
        )
        return np.sqrt(scale) * L, False


def _products(
    terms: KernelTerms, X: FloatArray, Z: FloatArray, beta: FloatArray
) -> FloatArray:
    """Return Σ_j β_j k(x_i, z_j) for all i, some rows at a time."""
    out = np.zeros(X.shape[0])
    if not beta.any():
        return out
    step = max(_ENTRIES // beta.size, 1)
    for i in range(0, X.shape[0], step):
        out[i : i + step] = terms.grams(X[i : i + step], Z)[:, 0] @ beta
    return out
