"""Gibbs sampling of the hierarchical normal regression model of Lenk et al. (1996).

    y_t = X_t w_t + e_t,  e_t ~ N(0, σ²I),  w_t ~ N(μ, Δ),
    μ ~ N(0, vI),  Δ ~ inverse Wishart(ν, S),  σ² ~ inverse gamma(a, b),

where the inverse Wishart density is ∝ |Δ|^{−(ν+d+1)/2} exp(−½ tr SΔ⁻¹), of mean
S/(ν − d − 1), and the inverse gamma density ∝ (σ²)^{−a−1} exp(−b/σ²). Every
conditional is of its prior's family, so each sweep draws all w_t, μ, Δ and σ² in turn.
"""

from dataclasses import dataclass

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Prior:
    """The priors of μ, Δ and σ².

    Attributes
    ----------
    mean_variance : float
        v > 0.
    degrees : float
        ν > d − 1.
    scale : float
        S is this positive number times I.
    noise_shape, noise_rate : float
        a > 0 and b > 0.
    """

    mean_variance: float
    degrees: float
    scale: float
    noise_shape: float
    noise_rate: float


@dataclass(frozen=True)
class Posterior:
    """What the chains have drawn after their burn-in.

    Attributes
    ----------
    coef : ndarray of shape (d, T)
        Posterior means of the w_t, averaged from their conditional means.
    draws : ndarray of shape (n_chains, n_samples, 2d + 1)
        μ, the diagonal of Δ, and σ².
    covariance : ndarray of shape (d, d)
        Posterior mean of Δ.
    """

    coef: FloatArray
    draws: FloatArray
    covariance: FloatArray


def sample_posterior(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    *,
    n_tasks: int,
    prior: Prior,
    n_samples: int,
    n_burn_in: int,
    n_chains: int,
    seed: int,
) -> Posterior:
    """Run several chains from dispersed starting points.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    task : ndarray of shape (n,)
        0 … n_tasks − 1.
    n_tasks : int
    prior : Prior
    n_samples, n_burn_in : int
        Sweeps kept and dropped in each chain.
    n_chains : int
    seed : int
        Each chain has its own stream, derived from it.

    Returns
    -------
    Posterior
    """
    d = X.shape[1]
    gram = np.zeros((n_tasks, d, d))
    moment = np.zeros((n_tasks, d))
    for t in range(n_tasks):
        X_t, y_t = X[task == t], y[task == t]
        gram[t] = X_t.T @ X_t
        moment[t] = X_t.T @ y_t
    square = float(y @ y)
    coef = np.zeros((n_tasks, d))
    covariance = np.zeros((d, d))
    draws = np.empty((n_chains, n_samples, 2 * d + 1))
    streams = np.random.SeedSequence(seed).spawn(n_chains)
    for chain, stream in enumerate(streams):
        rng = np.random.default_rng(stream)
        # Starting points a factor of ten apart in both scales.
        spread = 10.0 ** rng.uniform(-1.0, 1.0, size=2)
        chain_coef, chain_covariance, draws[chain] = _run_chain(
            gram,
            moment,
            square,
            y.size,
            prior.mean_variance,
            prior.degrees,
            prior.scale,
            prior.noise_shape,
            prior.noise_rate,
            spread[0] * np.eye(d),
            spread[1] * max(square / y.size, 1e-12),
            n_samples,
            n_burn_in,
            rng,
        )
        coef += chain_coef / n_chains
        covariance += chain_covariance / n_chains
    return Posterior(coef=coef.T, draws=draws, covariance=covariance)


@compiled
def _run_chain(
    gram: FloatArray,
    moment: FloatArray,
    square: float,
    n_examples: int,
    mean_variance: float,
    degrees: float,
    scale: float,
    noise_shape: float,
    noise_rate: float,
    covariance: FloatArray,
    noise: float,
    n_samples: int,
    n_burn_in: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    n_tasks, d = moment.shape
    precision = np.ascontiguousarray(np.linalg.inv(covariance))
    mean = np.zeros(d)
    W = np.zeros((n_tasks, d))
    coef_sum = np.zeros((n_tasks, d))
    covariance_sum = np.zeros((d, d))
    draws = np.empty((n_samples, 2 * d + 1))
    for sweep in range(-n_burn_in, n_samples):
        loss = _draw_coefficients(
            gram, moment, square, noise, precision, mean, W, coef_sum, sweep >= 0, rng
        )
        _draw_mean(W, precision, mean_variance, mean, rng)
        covariance, precision = _draw_covariance(W - mean, degrees, scale, rng)
        rate = noise_rate + 0.5 * max(loss, 0.0)
        noise = rate / rng.standard_gamma(noise_shape + 0.5 * n_examples)
        if sweep >= 0:
            covariance_sum += covariance
            for i in range(d):
                draws[sweep, i] = mean[i]
                draws[sweep, d + i] = covariance[i, i]
            draws[sweep, 2 * d] = noise
    return coef_sum / n_samples, covariance_sum / n_samples, draws


@routine
def _draw_coefficients(
    gram: FloatArray,
    moment: FloatArray,
    loss: float,
    noise: float,
    precision: FloatArray,
    mean: FloatArray,
    W: FloatArray,
    coef_sum: FloatArray,
    is_kept: bool,
    rng: np.random.Generator,
) -> float:
    """Draw all w_t into ``W``; return Σ_t ||y_t − X_t w_t||², ``loss`` being ||y||².

    Where the sweep is kept, their conditional means are added to ``coef_sum``.
    """
    n_tasks, d = moment.shape
    system = np.empty((d, d))
    centre = np.empty(d)
    pull = np.dot(precision, mean)
    for t in range(n_tasks):
        for i in range(d):
            centre[i] = moment[t, i] / noise + pull[i]
            for j in range(i + 1):
                system[i, j] = gram[t, i, j] / noise + precision[i, j]
        _draw_normal(system, centre, W[t], rng)
        if is_kept:
            for i in range(d):
                coef_sum[t, i] += centre[i]
        for i in range(d):
            product = 0.0
            for j in range(d):
                product += gram[t, i, j] * W[t, j]
            loss += W[t, i] * (product - 2.0 * moment[t, i])
    return loss


@routine
def _draw_mean(
    W: FloatArray,
    precision: FloatArray,
    mean_variance: float,
    mean: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Draw μ into ``mean``."""
    n_tasks, d = W.shape
    total = np.zeros(d)
    for t in range(n_tasks):
        total += W[t]
    system = n_tasks * precision
    for i in range(d):
        system[i, i] += 1.0 / mean_variance
    _draw_normal(system, np.dot(precision, total), mean, rng)


@routine
def _draw_covariance(
    deviations: FloatArray, degrees: float, scale: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw Δ given the w_t − μ; return it and its inverse.

    Δ⁻¹ = C⁻ᵀ A A' C⁻¹: CC' the inverse Wishart's scale, A Bartlett's factor.
    """
    n_tasks, d = deviations.shape
    spread = np.dot(deviations.T, deviations)
    for i in range(d):
        spread[i, i] += scale
    factor = np.linalg.cholesky(spread)
    bartlett = np.zeros((d, d))
    for i in range(d):
        bartlett[i, i] = np.sqrt(rng.chisquare(degrees + n_tasks - i))
        for j in range(i):
            bartlett[i, j] = rng.standard_normal()
    root = np.dot(factor, np.ascontiguousarray(np.linalg.inv(bartlett)).T)
    inverse_root = np.ascontiguousarray(np.linalg.solve(factor.T, bartlett))
    return np.dot(root, root.T), np.dot(inverse_root, inverse_root.T)


@routine
def _draw_normal(
    precision: FloatArray,
    centre: FloatArray,
    draw: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Draw from N(P⁻¹h, P⁻¹), h in ``centre``, which becomes the mean P⁻¹h.

    The lower triangle of ``precision`` is overwritten by its Cholesky factor. Written
    out, because for so few dimensions library calls cost more than the work.
    """
    d = centre.size
    for i in range(d):
        for j in range(i + 1):
            value = precision[i, j]
            for k in range(j):
                value -= precision[i, k] * precision[j, k]
            if i == j:
                precision[i, i] = np.sqrt(value)
            else:
                precision[i, j] = value / precision[j, j]
    for i in range(d):
        for k in range(i):
            centre[i] -= precision[i, k] * centre[k]
        centre[i] /= precision[i, i]
    for i in range(d):
        draw[i] = rng.standard_normal()
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            centre[i] -= precision[k, i] * centre[k]
            draw[i] -= precision[k, i] * draw[k]
        centre[i] /= precision[i, i]
        draw[i] /= precision[i, i]
    for i in range(d):
        draw[i] += centre[i]
