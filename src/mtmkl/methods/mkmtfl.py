"""Multiple kernel multi-task feature learning (Jawanpuria and Nath 2011)."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from mtmkl.checks import at_least, checks, one_of
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelList, Normalization
from mtmkl.methods._base.estimator import MultiTaskClassifier, MultiTaskRegressor
from mtmkl.methods._base.kernel_machine import KernelMachine, TubeRegression
from mtmkl.solvers.solution import Solution

#: The linear and six Gaussian kernels of Jawanpuria and Nath (2011).
SEVEN_KERNELS: tuple[Mapping[str, Any], ...] = (
    {"name": "linear"},
    *({"name": "gaussian", "width": 10.0**power} for power in range(-2, 4)),
)


@dataclass(eq=False, repr=False)
class _MixedNormMachine(KernelMachine):
    """Mixin of machines with a p-norm over tasks and a sum over kernels."""

    p: float = 2.0
    _: KW_ONLY
    kernels: KernelList = SEVEN_KERNELS
    normalize: Normalization = "trace"
    tol: float = 1e-4
    max_iter: int = 500

    _checks = checks(normalize=one_of("cosine", "trace", None), p=at_least(2))

    def _path(self, problem: Any) -> Any:
        from mtmkl.solvers.weights.mixed_norm import MixedNormPath

        return MixedNormPath(problem, float(self.p), **self._limits)

    def _keep(self, training: TrainingSet, solution: Solution) -> None:
        super()._keep(training, solution)
        self.weights_ = self._weights
        self.gamma_ = solution.extra["gamma"]
        self.lam_ = solution.extra["lam"]


class MKMTFLClassifier(_MixedNormMachine, MultiTaskClassifier):
    r"""Support vector machines of many tasks on few kernels, with own weights.

    Solves, to a relative duality gap, the problem MK-MTFL of Jawanpuria and Nath
    (2011), section 3, over models w_tj of task t in kernel j and intercepts b_t,

    .. math::

        \min \tfrac12 \Bigl(\sum_j \bigl(\sum_t \|w_{tj}\|^p\bigr)^{1/p}\Bigr)^2
        + C \sum_{t,i} \mathrm{hinge}, \qquad p \ge 2,

    as the minimum over γ ≥ 0 with 1'γ ≤ 1 of the same with
    ½ Σ_j (Σ_t ||w_tj||^p)^{2/p} / γ_j. Task t has the kernel Σ_j (γ_j/λ_jt) k_j, with
    λ_jt = (||w_tj|| / ||w_·j||_p)^{p−2}. With p = 2 every λ is 1
    (:class:`SharedMKLClassifier`); the larger p, the more tasks differ.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    p : float
        The norm over the tasks, at least 2 and finite.
    kernels : kernel, list of kernels, "features" or "precomputed"
        Kernels of :mod:`mtmkl.kernels.base` or their specifications; the entry
        "features" stands for one kernel per feature. By default the linear and six
        Gaussian kernels of widths 0.01 to 1000.
    normalize : {"trace", "cosine", None}
        "trace" divides each kernel by the mean of k(x, x) over the training samples;
        "cosine" takes k(x, z) / sqrt(k(x, x) k(z, z)).
    standardize
        As for :class:`IndependentSVMClassifier`.
    tol : float
        Relative duality gap to reach, positive.
    max_iter : int
        Limit on visited γ.

    Attributes
    ----------
    gamma_ : ndarray of shape (k,)
        γ, of sum 1.
    lam_ : ndarray of shape (T, k)
        λ_jt.
    weights_ : ndarray of shape (T, k)
        γ_j/λ_jt: w_tj is weights_[t, j] Σ_i a_i φ_j(x_i) over the samples of task t,
        with a = ``dual_coef_``. These are factors, not shares: 0 where γ_j is 0, and
        without bound where the models of a task are small beside those of others, as
        λ_jt is the (p − 2)th power of that ratio (1e14 has been met at p = 40). The sum
        that they multiply is as small. ``gamma_`` says which kernels are used.
    kernel_names_ : tuple of str of length k
    dual_coef_ : ndarray of shape (n,)
        y_i α_i of the training samples, of the model. Their dual value need not be
        ``dual_objective_``: that is the best lower bound met, which other γ and their
        duals may have given.
    coef_ : ndarray of shape (d, T)
        Weights of the features, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem in γ, w and b at the solution, a lower bound on its
        minimum (the value of feasible dual variables), and their relative difference.
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Visited γ.

    Notes
    -----
    A task with samples of one class gets the constant decision ±1.

    References
    ----------
    P. Jawanpuria, J. S. Nath, Multi-task multiple kernel learning, SIAM International
    Conference on Data Mining, 2011.
    """


@dataclass(eq=False, repr=False)
class MKMTFLRegressor(TubeRegression, _MixedNormMachine, MultiTaskRegressor):
    r"""Support vector regression of many tasks on few kernels, with own weights.

    The problem of :class:`MKMTFLClassifier` with the ε-insensitive loss
    max(|r| − ε, 0).

    Parameters
    ----------
    C, epsilon, standardize_target
        As for :class:`IndependentSVMRegressor`.
    p, kernels, normalize, standardize, tol, max_iter
        As for :class:`MKMTFLClassifier`.

    Attributes
    ----------
    gamma_, lam_, weights_, kernel_names_, coef_, intercept_, history_ : ndarray
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`MKMTFLClassifier`.
    target_scale_ : float
    dual_coef_ : ndarray of shape (n,)
        As for :class:`SingleTaskMKLRegressor`.
    """
