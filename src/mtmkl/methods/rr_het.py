"""RR-Het: ridge regression for heterogeneous tasks around a learned mean."""

from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import FeatureLearner, SquaredNormEstimator
from mtmkl.typing import FloatArray


class RRHetRegressor(FeatureLearner, SquaredNormEstimator, MultiTaskRegressor):
    r"""Learn features for the tasks' deviations from their mean, which is free.

    Solves

    .. math::

        \min_{W, w_0, D} \sum_t \|y_t - X_t w_t\|^2 + \gamma \sum_t
        \langle w_t - w_0, D^+ (w_t - w_0) \rangle, \quad
        D \succeq 0, \; \mathrm{tr}\, D \le 1.

    At the optimum w_0 is the mean of the w_t, and the problem in W alone is
    Σ_t ||y_t − X_t w_t||² + γ ||WΠ||²_tr with Π = I − 11'/T. As γ → ∞ all w_t become
    w_0, the least-squares fit to the pooled data.

    Parameters
    ----------
    gamma : float
        γ > 0.
    fit_intercept, tol, max_iter
        As for :class:`MultiTaskFeatureLearningRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
    mean_ : ndarray of shape (d,)
        w_0.
    intercept_ : ndarray of shape (T,)
    norm_ : float
        ||WΠ||_tr.
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem, a lower bound on the minimum, and their relative
        difference: relative to at least 1e-9 Σ_t ||y_t||² (of y_t centred, with an
        intercept), as the minimum is 0 where w_0 alone fits all targets.
    n_iter_ : int
        1 where w_0 alone fits all targets.
    history_ : ndarray
        Objective at each check of the certificate.

    References
    ----------
    T. Evgeniou, M. Pontil and O. Toubia, A convex optimization approach to modeling
    consumer heterogeneity in conjoint estimation, Marketing Science 26(6), 2007.
    """

    _penalty = "deviations"

    @property
    def mean_(self) -> FloatArray:
        """w_0."""
        mean: FloatArray = self.coef_.mean(axis=1)
        return mean

    @property
    def _learned(self) -> FloatArray:
        return self.coef_ - self.mean_[:, None]
