"""Robust multi-task feature learning (Gong, Ye and Zhang 2012)."""

from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import SumOfNormsEstimator


class RobustMultiTaskRegressor(SumOfNormsEstimator, MultiTaskRegressor):
    r"""Select features for all tasks but outliers, which have their own coefficients.

    Minimises over W = P + Q (d × T) and intercepts b

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \lambda_1 \sum_i \|p^i\|
        + \lambda_2 \sum_t \|q_t\|,

    p^i the rows of P, q_t the columns of Q: a row of P is zero or belongs to all tasks,
    a column of Q is zero but for outlier tasks. The paper's loss is divided by Tn, n
    the samples of each of its tasks: its λ₁ and λ₂ are ours over Tn. With λ₂ ≥ √d·λ₁
    all of W is P, with λ₁ ≥ √T·λ₂ it is Q.

    Parameters
    ----------
    lam_1 : float
        λ₁ > 0.
    lam_2 : float
        λ₂ > 0.
    fit_intercept, tol, max_iter
        As for :class:`DirtyModelRegressor`.

    Attributes
    ----------
    shared_coef_, own_coef_ : ndarray of shape (d, T)
        P and Q, with exact zeros. They need not be unique where W is.
    coef_, intercept_, history_ : ndarray
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`DirtyModelRegressor`.

    References
    ----------
    P. Gong, J. Ye and C. Zhang, Robust multi-task feature learning, ACM SIGKDD
    International Conference on Knowledge Discovery and Data Mining, 2012.
    """

    _model = "robust"
