"""Gibbs sampling of the hierarchical normal regression model of Lenk et al. (1996).

    y_t = X_t w_t + e_t,  e_t ~ N(0, σ²I),  w_t ~ N(μ, Δ),
    μ ~ N(0, vI),  Δ ~ inverse Wishart(ν, S),  σ² ~ inverse gamma(a, b),

where the inverse Wishart density is ∝ |Δ|^{−(ν+d+1)/2} exp(−½ tr SΔ⁻¹), of mean
S/(ν − d − 1), and the inverse gamma density ∝ (σ²)^{−a−1} exp(−b/σ²). Every
conditional is of its prior's family, so each sweep draws all w_t, μ, Δ and σ² in turn.
"""

from typing import NamedTuple

import numpy as np

from mtmkl.compiled import compiled, dot_at, routine
from mtmkl.typing import FloatArray, IntArray


class Prior(NamedTuple):
    """The priors of μ, Δ and σ²: v > 0, ν > d − 1, s > 0 with S = sI, a > 0, b > 0."""

    mean_variance: float
    degrees: float
    scale: float
    noise_shape: float
    noise_rate: float


class Posterior(NamedTuple):
    """Draws of the chains after their burn-in."""

    coef: FloatArray  # (d, T), means of the w_t, from their conditional means
    draws: FloatArray  # (n_chains, n_samples, 2d + 1): μ, the diagonal of Δ, and σ²
    covariance: FloatArray  # (d, d), mean of Δ


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
    """Run several chains, side by side, from dispersed starting points.

    Each keeps ``n_samples`` sweeps after the first ``n_burn_in``. The samples are
    X (n, d), with targets (n,) and tasks 0 … n_tasks − 1.
    """
    d = X.shape[1]
    gram = np.zeros((n_tasks, d, d))
    moment = np.zeros((n_tasks, d))
    for t in range(n_tasks):
        X_t, y_t = X[task == t], y[task == t]
        gram[t] = X_t.T @ X_t
        moment[t] = X_t.T @ y_t
    square = float(y @ y)
    rng = np.random.default_rng(seed)
    # Starting points a factor of ten apart in both scales.
    spread = 10.0 ** rng.uniform(-1.0, 1.0, size=(2, n_chains, 1, 1))
    precision = np.eye(d) / spread[0]
    noise = spread[1, :, 0, 0] * max(square / y.size, 1e-12)
    mean = np.zeros((n_chains, d))
    W, centres = np.empty((2, n_chains, n_tasks, d))
    coef = np.zeros((n_tasks, d))
    covariance_sum = np.zeros((d, d))
    draws = np.empty((n_chains, n_samples, 2 * d + 1))
    shape = prior.noise_shape + 0.5 * y.size
    for sweep in range(-n_burn_in, n_samples):
        rng.standard_normal(out=W)
        loss = _draw_coefficients(gram, moment, noise, precision, mean, W, centres)
        mean = _draw_mean(W, precision, prior.mean_variance, rng)
        covariance, precision = _draw_covariance(W - mean[:, None], prior, rng)
        rate = prior.noise_rate + 0.5 * np.maximum(square + loss, 0.0)
        noise = rate / rng.standard_gamma(shape, size=n_chains)
        if sweep >= 0:
            coef += centres.mean(axis=0) / n_samples
            covariance_sum += covariance.mean(axis=0) / n_samples
            draws[:, sweep, :d] = mean
            draws[:, sweep, d:-1] = np.diagonal(covariance, axis1=1, axis2=2)
            draws[:, sweep, -1] = noise
    return Posterior(coef=coef.T, draws=draws, covariance=covariance_sum)


@compiled
def _draw_coefficients(
    gram: FloatArray,
    moment: FloatArray,
    noise: FloatArray,
    precision: FloatArray,
    mean: FloatArray,
    W: FloatArray,
    centres: FloatArray,
) -> FloatArray:
    """Turn standard normal ``W`` (C, T, d) into the w_t of each chain.

    Returns Σ_t (||y_t − X_t w_t||² − ||y_t||²), of shape (C,), and writes the
    conditional means into ``centres``.
    """
    n_chains, n_tasks, d = W.shape
    system = np.empty((d, d))
    pull = np.empty(d)
    losses = np.zeros(n_chains)
    for c in range(n_chains):
        for i in range(d):
            pull[i] = dot_at(precision, (c * d + i) * d, mean, c * d, d)
        for t in range(n_tasks):
            w, centre = W[c, t], centres[c, t]
            for i in range(d):
                centre[i] = moment[t, i] / noise[c] + pull[i]
                for j in range(i, d):
                    system[i, j] = gram[t, i, j] / noise[c] + precision[c, i, j]
            _draw_normal(system, centre, w)
            for i in range(d):
                product = dot_at(gram, (t * d + i) * d, w, 0, d)
                losses[c] += w[i] * (product - 2.0 * moment[t, i])
    return losses


def _draw_mean(
    W: FloatArray,
    precision: FloatArray,
    mean_variance: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Return draws of μ, of shape (C, d)."""
    n_chains, n_tasks, d = W.shape
    system = n_tasks * precision + np.eye(d) / mean_variance
    centre = precision @ W.sum(axis=1)[:, :, None]
    root = np.linalg.inv(np.linalg.cholesky(system))
    noise = rng.standard_normal((n_chains, d, 1))
    drawn: FloatArray = root.transpose(0, 2, 1) @ (root @ centre + noise)
    return drawn[:, :, 0]


def _draw_covariance(
    deviations: FloatArray, prior: Prior, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw Δ given the w_t − μ, (C, T, d); return it and its inverse.

    Δ⁻¹ = C⁻ᵀ A A' C⁻¹: CC' the inverse Wishart's scale, A Bartlett's factor.
    """
    n_chains, n_tasks, d = deviations.shape
    spread = deviations.transpose(0, 2, 1) @ deviations + prior.scale * np.eye(d)
    factor = np.linalg.cholesky(spread)
    bartlett = np.tril(rng.standard_normal((n_chains, d, d)), -1)
    degrees = prior.degrees + n_tasks - np.arange(d)
    diagonal = np.sqrt(rng.chisquare(degrees, size=(n_chains, d)))
    bartlett[:, np.arange(d), np.arange(d)] = diagonal
    root = factor @ np.linalg.inv(bartlett).transpose(0, 2, 1)
    inverse_root = np.linalg.solve(factor.transpose(0, 2, 1), bartlett)
    covariance: FloatArray = root @ root.transpose(0, 2, 1)
    return covariance, inverse_root @ inverse_root.transpose(0, 2, 1)


@routine
def _draw_normal(precision: FloatArray, centre: FloatArray, draw: FloatArray) -> None:
    """Turn a standard normal draw into one from N(P⁻¹h, P⁻¹), and h into P⁻¹h.

    The upper triangle of ``precision`` is overwritten by its Cholesky factor. Written
    out, because for so few dimensions library calls cost more than the work.
    """
    d = centre.size
    for k in range(d):
        root = np.sqrt(precision[k, k])
        for j in range(k, d):
            precision[k, j] /= root
        centre[k] /= precision[k, k]
        for i in range(k + 1, d):
            factor = precision[k, i]
            centre[i] -= factor * centre[k]
            for j in range(i, d):
                precision[i, j] -= factor * precision[k, j]
    for k in range(d - 1, -1, -1):
        first = k * d + k + 1
        centre[k] -= dot_at(precision, first, centre, k + 1, d - k - 1)
        draw[k] -= dot_at(precision, first, draw, k + 1, d - k - 1)
        centre[k] /= precision[k, k]
        draw[k] /= precision[k, k]
    for i in range(d):
        draw[i] += centre[i]
