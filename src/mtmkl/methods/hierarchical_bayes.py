"""The hierarchical Bayes model of Lenk, DeSarbo, Green and Young (1996)."""

import warnings
from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mtmkl.checks import check_count, check_number, check_positive, checks, count_from
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.solvers.bayes.chain_diagnostics import effective_sample_size, split_r_hat
from mtmkl.typing import FloatArray, IntArray

# The largest of the usual limits of r_hat_: short runs of chains that mix stay below.
_DISAGREE = 1.2


def _check_random_state(name: str, value: object) -> None:
    if value is not None and not isinstance(value, np.random.RandomState):
        count_from(0)(name, value)


@dataclass(eq=False, repr=False)
class HierarchicalBayesRegressor(MultiTaskRegressor):
    r"""Regressions whose coefficients are drawn from one normal distribution.

    The model is

    .. math::

        y_t = X_t w_t + e_t, \quad e_t \sim N(0, \sigma^2 I), \quad
        w_t \sim N(\mu, \Delta), \quad \mu \sim N(0, v I), \quad
        \Delta \sim \mathrm{IW}(\nu, s I), \quad \sigma^2 \sim \mathrm{IG}(a, b),

    with an inverse Wishart and an inverse gamma distribution.

    It is sampled by Gibbs sweeps in several chains from dispersed starting points, and
    predicts with the posterior mean of w_t.

    Parameters
    ----------
    n_samples : int
        Sweeps kept in each chain, at least 4.
    n_burn_in : int
        Sweeps dropped before.
    n_chains : int
    prior_mean_variance : float
        v > 0, in squared units of the coefficients.
    prior_degrees : float, optional
        ν > d − 1; the default d + 2 is the least whole number for which Δ has a mean.
    prior_scale : float
        s > 0; at the default ν, sI is the mean of Δ.
    prior_noise_shape, prior_noise_rate : float
        a > 0 and b > 0.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        Posterior means of the w_t.
    mean_ : ndarray of shape (d,)
        Posterior mean of μ.
    covariance_ : ndarray of shape (d, d)
        Posterior mean of Δ.
    noise_variance_ : float
        Posterior mean of σ².
    r_hat_ : ndarray of shape (2d + 1,)
        Split potential scale reduction of μ, the diagonal of Δ, and σ²: near 1 where
        the chains agree; above 1.2 there is a ``ConvergenceWarning``.
    effective_sample_size_ : ndarray of shape (2d + 1,)
        Effective number of independent draws of the same.
    n_iter_ : int
        Sweeps of each chain.

    References
    ----------
    P. J. Lenk, W. S. DeSarbo, P. E. Green and M. R. Young, Hierarchical Bayes conjoint
    analysis: recovery of partworth heterogeneity from reduced experimental designs,
    Marketing Science 15(2), 173–191, 1996.
    """

    _checks = checks(
        n_samples=count_from(4),
        n_burn_in=count_from(0),
        n_chains=check_count,
        prior_mean_variance=check_positive,
        prior_scale=check_positive,
        prior_noise_shape=check_positive,
        prior_noise_rate=check_positive,
        random_state=_check_random_state,
    )

    _: KW_ONLY
    n_samples: int = 1000
    n_burn_in: int = 500
    n_chains: int = 4
    prior_mean_variance: float = 100.0
    prior_degrees: float | None = None
    prior_scale: float = 1.0
    prior_noise_shape: float = 1.0
    prior_noise_rate: float = 1.0
    random_state: int | np.random.RandomState | None = 0

    def _check_params(self) -> None:
        super()._check_params()
        if self.prior_degrees is not None:
            check_number("prior_degrees", self.prior_degrees)
            if self.prior_degrees <= self.n_features_in_ - 1:
                raise ValueError(
                    f"prior_degrees must exceed {self.n_features_in_ - 1}, one less "
                    f"than the number of features, got {self.prior_degrees!r}"
                )

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        from mtmkl.solvers.bayes.hierarchical_gibbs import Prior, sample_posterior

        d = X.shape[1]
        prior = Prior(
            mean_variance=self.prior_mean_variance,
            degrees=d + 2.0 if self.prior_degrees is None else self.prior_degrees,
            scale=self.prior_scale,
            noise_shape=self.prior_noise_shape,
            noise_rate=self.prior_noise_rate,
        )
        posterior = sample_posterior(
            X,
            y,
            task,
            n_tasks=self.tasks_.size,
            prior=prior,
            n_samples=self.n_samples,
            n_burn_in=self.n_burn_in,
            n_chains=self.n_chains,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )
        averages = posterior.draws.mean(axis=(0, 1))
        self.coef_ = posterior.coef
        self.covariance_ = posterior.covariance
        self.mean_ = averages[:d]
        self.noise_variance_ = float(averages[-1])
        self.r_hat_ = split_r_hat(posterior.draws)
        self.effective_sample_size_ = effective_sample_size(posterior.draws)
        self.n_iter_ = self.n_burn_in + self.n_samples
        largest = self.r_hat_.max()
        if not largest <= _DISAGREE:
            warnings.warn(
                f"hierarchical Bayes: chains disagree after {self.n_iter_} sweeps, "
                f"r_hat_ is up to {largest:.3g} (1 is agreement, {_DISAGREE:g} the "
                "limit), and its means depend on where they started: raise n_burn_in "
                f"({self.n_burn_in}) and n_samples ({self.n_samples})",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        values: FloatArray = np.einsum("ij,ji->i", X, self.coef_[:, task])
        return values
