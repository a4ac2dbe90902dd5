"""Multi-task learning with group-specific feature space sharing."""

from dataclasses import dataclass
from typing import ClassVar

from mtmkl.checks import check_not_negative, checks, one_of
from mtmkl.kernels.gram import TrainingSet
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.kernel_machine import WeightedKernelMachine
from mtmkl.solvers.solution import Solution


@dataclass(eq=False, repr=False)
class GroupFeatureSharingClassifier(WeightedKernelMachine, MultiTaskClassifier):
    r"""Support vector machines of many tasks with coupled kernel weights.

    Solves, to a relative duality gap, the convex problem (2) of Yousefi et al. (2015)

    .. math::

        \min_{\theta, w, b} \sum_t \Bigl(\tfrac12 \|w_t\|^2 + C \sum_i
        \bigl[1 - y_t^i (\langle w_t, \varphi_t(x_t^i) \rangle + b_t)\bigr]_+\Bigr)
        + \lambda \sum_{t<s} \|\theta_t - \theta_s\|_2,
        \quad \theta_t \ge 0, \; \mathbf{1}'\theta_t \le 1,

    where φ_t belongs to the kernel Σ_m θ_tm k_m of task t. With λ = 0 each task learns
    its own weights (:class:`SingleTaskMKLClassifier`); from some λ on all tasks have
    the same (:class:`SharedMKLClassifier`); in between, pairs of equal weights make
    groups of tasks that share a feature space.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    lam : float
        λ, at least 0.
    kernels : kernel, list of kernels, "features" or "precomputed"
        Kernels of :mod:`mtmkl.kernels.base` or their specifications, by default the ten
        of the paper: linear, polynomial of degree 2 and Gaussians of the widths 2⁰ to
        2⁷. The entry "features" stands for one kernel per feature; "precomputed"
        needs ``normalize`` None or "trace".
    normalize : {"cosine", "trace", None}
        "cosine" takes k(x, z) / sqrt(k(x, x) k(z, z)), as the paper does; "trace"
        divides each kernel by the mean of k(x, x) over the training samples.
    standardize
        As for :class:`IndependentSVMClassifier`.
    tol : float
        Relative duality gap to reach, positive.
    max_iter : int
        Limit on Newton steps.

    Attributes
    ----------
    weights_ : ndarray of shape (T, M)
        θ, each row of sum 1.
    groups_ : ndarray of shape (T,)
        Labels 0, 1, … of the tasks with equal weights, in order of appearance.
    kernel_names_ : tuple of str of length M
    dual_coef_ : ndarray of shape (n,)
        y_i α_i of the training samples, of the model. Their dual value need not be
        ``dual_objective_``: that is the best lower bound met, which other weights and
        their duals may have given.
    coef_ : ndarray of shape (d, T)
        Weights of the features, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem at the solution, a lower bound on its minimum (the value of
        feasible dual variables), and their relative difference.
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Weights visited: one more than Newton steps.

    Notes
    -----
    A task with samples of one class gets the constant decision ±1. Its weights remain
    in the penalty, where they may take any value between those of the others: it has a
    label in ``groups_``, and may couple the others.

    The linear methods of the paper's comparison always standardise, and so do its
    experiments here: compare with ``standardize=True``.

    References
    ----------
    N. Yousefi, M. Georgiopoulos, G. C. Anagnostopoulos, Multi-task learning with
    group-specific feature space sharing, ECML PKDD 2015.
    """

    along: ClassVar[tuple[str, ...]] = ("C", "lam")
    _checks = checks(lam=check_not_negative, normalize=one_of("cosine", "trace", None))

    lam: float = 1.0

    def _keep(self, training: TrainingSet, solution: Solution) -> None:
        super()._keep(training, solution)
        self.groups_ = solution.extra["groups"]
