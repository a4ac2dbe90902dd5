"""Multiple kernel learning with one combination of kernels for all tasks."""

from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.kernel_machine import WeightedKernelMachine


class SharedMKLClassifier(WeightedKernelMachine, MultiTaskClassifier):
    r"""Fit a support vector machine to each task, on kernel weights that all share.

    Solves, over the models w_t of one kernel Σ_m θ_m k_m and their intercepts,

    .. math::

        \min_{\theta, w, b} \sum_t \Bigl(\tfrac12 \|w_t\|^2 + C \sum_i
        \mathrm{hinge}\Bigr), \quad \theta \ge 0, \; \mathbf{1}'\theta \le 1:

    :class:`GroupFeatureSharingClassifier` from some λ on.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    kernels, normalize, standardize, tol, max_iter
        As for :class:`GroupFeatureSharingClassifier`.

    Attributes
    ----------
    weights_ : ndarray of shape (T, M)
        θ in every row, of sum 1.
    kernel_names_ : tuple of str of length M
    dual_coef_, coef_, intercept_, history_ : ndarray
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`GroupFeatureSharingClassifier`; tasks of one class are treated
        as there.

    References
    ----------
    N. Yousefi, M. Georgiopoulos, G. C. Anagnostopoulos, Multi-task learning with
    group-specific feature space sharing, ECML PKDD 2015.
    """

    _own_weights = False
