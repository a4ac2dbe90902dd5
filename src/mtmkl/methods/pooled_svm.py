"""One support vector machine for all tasks."""

from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.kernel_machine import SumKernelMachine


class PooledSVMClassifier(SumKernelMachine, MultiTaskClassifier):
    r"""Fit one support vector machine to the samples of all tasks together.

    Solves, over the models θ_d of the kernels and one intercept,

    .. math::

        \min \tfrac12 \sum_d \|\theta_d\|^2 + C \sum_{t,i} \mathrm{hinge}.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    kernels, normalize, standardize, fit_intercept, tol
        As for :class:`IndependentSVMClassifier`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        α_i y_i of the training samples.
    coef_ : ndarray of shape (d, T)
        Weights of the features, the same in every column, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
        The intercept, T times.
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        1.
    """

    _joined = True
