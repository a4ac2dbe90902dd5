"""One support vector machine for all tasks."""

from mtmkl.methods.independent_svm import IndependentSVM


class PooledSVM(IndependentSVM):
    r"""Fit one support vector machine to the examples of all tasks together.

    Minimises ½ Σ_d ||θ_d||² + C Σ hinge over the models θ_d of the kernels and one
    offset.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    kernels : list of kernels, mappings or "features"
        Kernels of :mod:`mtmkl.kernels.base` or their specifications; the entry
        "features" stands for one kernel per feature, that is for the linear kernel.
    normalize : {"trace", None}
        "trace" divides each kernel by the mean of k(x, x) over the training examples.
    standardize : bool
        Whether inputs are brought to mean 0 and standard deviation 1 over the training
        examples of all tasks together, before the kernels.
    fit_intercept : bool
        Whether there is an offset.
    tol : float
        Relative duality gap to reach.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        α_i y_i of the training examples.
    coef_ : ndarray of shape (d, T)
        Weights of the inputs, the same in every column, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
        The offset, T times.
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        1.
    """

    _joined = True
