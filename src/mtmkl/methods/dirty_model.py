"""The dirty model (Jalali, Ravikumar, Sanghavi and Ruan 2010)."""

from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import SumOfNormsEstimator


class DirtyModelRegressor(SumOfNormsEstimator, MultiTaskRegressor):
    r"""Select features for all tasks, and beside them some for single tasks.

    Minimises over W = P + Q (d × T) and intercepts b

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \lambda_1 \sum_i \max_t |p_{it}|
        + \lambda_2 \sum_{i,t} |q_{it}|.

    A row of P is zero or belongs to all tasks; Q is sparse entry by entry. The paper's
    loss is over 2n, n the samples of each of its tasks: its λ_b is λ₁/2n, and its λ_s
    λ₂/2n. With λ₂ ≥ λ₁ all of W is P, with λ₁ ≥ Tλ₂ it is Q: the lasso of each task.

    Parameters
    ----------
    lam_1 : float
        λ₁ > 0.
    lam_2 : float
        λ₂ > 0.
    fit_intercept : bool
        Whether each task has an unpenalised intercept.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Maximum number of iterations; reaching it gives a ``ConvergenceWarning``.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        W.
    shared_coef_, own_coef_ : ndarray of shape (d, T)
        P and Q, with exact zeros. They need not be unique where W is.
    intercept_ : ndarray of shape (T,)
        b; zeros without intercepts.
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem, a lower bound on the minimum, and their distance relative
        to the first.
    n_iter_ : int
        1 where W = 0.
    history_ : ndarray
        Best objective so far at each check of the certificate.

    References
    ----------
    A. Jalali, P. Ravikumar, S. Sanghavi and C. Ruan, A dirty model for multi-task
    learning, Advances in Neural Information Processing Systems 23, 2010.
    """

    _model = "dirty"
