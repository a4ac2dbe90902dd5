"""Support vector machines, one per task."""

from dataclasses import dataclass

from mtmkl.methods._base.estimator import MultiTaskClassifier, MultiTaskRegressor
from mtmkl.methods._base.kernel_machine import SumKernelMachine, TubeRegression


class IndependentSVMClassifier(SumKernelMachine, MultiTaskClassifier):
    r"""Fit a support vector machine to each task on its own, on a sum of kernels.

    Solves for every task, over the models θ_d of the kernels and an intercept b,

    .. math::

        \min \tfrac12 \sum_d \|\theta_d\|^2 + C \sum_i \mathrm{hinge}.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    kernels : kernel, list of kernels, "features" or "precomputed"
        Kernels of :mod:`mtmkl.kernels.base`, their specifications, such as "rbf", or
        functions k(X, Z); the entry "features" stands for one kernel per feature, that
        is for the linear kernel. With "precomputed" X holds kernel values: square at
        fit, (n_test, n_train) in predict, as for :class:`sklearn.svm.SVC`.
    normalize : {"trace", None}
        "trace" divides each kernel by the mean of k(x, x) over the training samples.
    standardize : bool
        Whether features are brought to mean 0 and standard deviation 1 over the
        training samples of all tasks together, before the kernels.
    fit_intercept : bool
        Whether there are intercepts.
    tol : float
        Relative duality gap to reach.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        α_i y_i of the training samples.
    coef_ : ndarray of shape (d, T)
        Weights of the features, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
        The intercepts; zeros without ``fit_intercept``, but for what standardisation
        moves into them.
    objective_, dual_objective_, duality_gap_ : float
        Summed over the tasks.
    n_iter_ : int
        1: one pass over the tasks.

    Notes
    -----
    With intercepts, a task with samples of one class gets the constant decision ±1.
    """


@dataclass(eq=False, repr=False)
class IndependentSVMRegressor(TubeRegression, SumKernelMachine, MultiTaskRegressor):
    r"""Fit support vector regression to each task on its own, on a sum of kernels.

    Solves for every task, over the models θ_d of the kernels and an intercept b, with
    the residuals r,

    .. math::

        \min \tfrac12 \sum_d \|\theta_d\|^2 + C \sum_i \max(|r_i| - \varepsilon, 0).

    Parameters
    ----------
    C : float
        Weight of the losses, positive; the same in every task.
    epsilon : float
        Half the width of the tube, at least 0, in units of the target.
    standardize_target : bool
        Whether C and ε are for targets of standard deviation 1 over the training
        samples of all tasks together. Otherwise they are in the target's own unit, and
        the default C fits little to a target of standard deviation 10: search C then.
    kernels, normalize, standardize, fit_intercept, tol
        As for :class:`IndependentSVMClassifier`.

    Attributes
    ----------
    coef_, intercept_ : ndarray
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`IndependentSVMClassifier`.
    target_scale_ : float
        Standard deviation of the targets if they count as standardised, else 1.
    dual_coef_ : ndarray of shape (n,)
        α_i − α*_i of the training samples.
    """
