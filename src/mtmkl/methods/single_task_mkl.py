"""Multiple kernel learning, one task at a time."""

from dataclasses import dataclass

from mtmkl.methods._base.estimator import MultiTaskClassifier, MultiTaskRegressor
from mtmkl.methods._base.kernel_machine import TubeRegression, WeightedKernelMachine


class SingleTaskMKLClassifier(WeightedKernelMachine, MultiTaskClassifier):
    r"""Fit a support vector machine with learned kernel weights to each task alone.

    Solves for every task, over the model w_t of the kernel Σ_m θ_tm k_m and its
    intercept,

    .. math::

        \min_{\theta_t, w_t, b_t} \tfrac12 \|w_t\|^2 + C \sum_i \mathrm{hinge},
        \quad \theta_t \ge 0, \; \mathbf{1}'\theta_t \le 1:

    :class:`GroupFeatureSharingClassifier` with λ = 0.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    kernels, normalize, standardize, max_iter
        As for :class:`GroupFeatureSharingClassifier`.
    tol : float
        Relative duality gap to reach, of the sum over the tasks; positive.

    Attributes
    ----------
    weights_ : ndarray of shape (T, M)
        θ, each row of sum 1.
    kernel_names_ : tuple of str of length M
    objective_, dual_objective_, duality_gap_ : float
        Summed over the tasks.
    dual_coef_, coef_, intercept_, history_ : ndarray
    n_iter_ : int
        As for :class:`GroupFeatureSharingClassifier`; tasks of one class are treated
        as there.

    References
    ----------
    G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui, M. I. Jordan,
    Learning the kernel matrix with semidefinite programming, Journal of Machine
    Learning Research 5, 2004.
    """


@dataclass(eq=False, repr=False)
class SingleTaskMKLRegressor(TubeRegression, WeightedKernelMachine, MultiTaskRegressor):
    r"""Fit support vector regression with learned kernel weights to each task alone.

    Solves for every task, over the model w_t of the kernel Σ_m θ_tm k_m and its
    intercept, with the residuals r,

    .. math::

        \min_{\theta_t, w_t, b_t} \tfrac12 \|w_t\|^2 + C \sum_i
        \max(|r_i| - \varepsilon, 0),
        \quad \theta_t \ge 0, \; \mathbf{1}'\theta_t \le 1.

    Parameters
    ----------
    C, epsilon, standardize_target
        As for :class:`IndependentSVMRegressor`.
    kernels, normalize, standardize, tol, max_iter
        As for :class:`SingleTaskMKLClassifier`.

    Attributes
    ----------
    weights_, coef_, intercept_, history_ : ndarray
    kernel_names_ : tuple of str of length M
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`SingleTaskMKLClassifier`.
    target_scale_ : float
        As for :class:`IndependentSVMRegressor`.
    dual_coef_ : ndarray of shape (n,)
        α_i − α*_i of the training samples, of the model; ``dual_objective_`` may be
        the value of others.
    """
