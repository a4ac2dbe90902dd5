"""The Gibbs sampler against conditionals and posteriors in closed form."""

import numpy as np
import pytest

from mtmkl.solvers.bayes.hierarchical_gibbs import (
    Prior,
    _draw_coefficients,
    sample_posterior,
)


def _fixed(mean_variance, covariance, noise):
    """Return a prior so strong that Δ and σ² are known."""
    return Prior(mean_variance, 1e9, 1e9 * covariance, 1e9, 1e9 * noise)


def _sampled(*samples, **options):
    length = {"n_samples": 8_000, "n_burn_in": 200, "n_chains": 2}
    return sample_posterior(*samples, **length, **options)


def test_draws_have_the_stated_mean_and_covariance():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 5))
    n, noise, mean = 40_000, np.array([0.5]), np.array([[1.0, -2.0, 0.5]])
    gram, moment = np.tile(root @ root.T, (n, 1, 1)), np.tile([2.0, 1.0, 0.0], (n, 1))
    precision = 2.0 * np.eye(3)[None]
    W, centres = rng.standard_normal((1, n, 3)), np.empty((1, n, 3))
    losses = _draw_coefficients(gram, moment, noise, precision, mean, W, centres)
    covariance = np.linalg.inv(gram[0] / 0.5 + precision[0])
    expected = covariance @ (moment[0] / 0.5 + precision[0] @ mean[0])
    np.testing.assert_allclose(centres[0], np.tile(expected, (n, 1)), rtol=1e-10)
    error = np.sqrt(np.diag(covariance) / n)
    assert np.all(np.abs(W[0].mean(axis=0) - expected) < 5 * error)
    np.testing.assert_allclose(np.cov(W[0].T), covariance, atol=0.02)
    loss = np.einsum("ti,tij,tj->", W[0], gram, W[0]) - 2.0 * np.sum(moment * W[0])
    np.testing.assert_allclose(losses, loss)


def test_known_scales_give_the_posterior_of_the_mean(make_problem):
    """With Δ and σ² known, y_t ~ N(X_t μ, σ²I + X_t Δ X_t') gives μ in closed form."""
    X, y, task = make_problem(12, 3, [2, 5])
    noise, scale, mean_variance = 0.4, 0.8, 2.0
    prior = _fixed(mean_variance, scale, noise)
    posterior = _sampled(X, y, task, n_tasks=12, prior=prior, seed=2)
    precision = np.eye(3) / mean_variance
    h = np.zeros(3)
    for t in range(12):
        X_t, y_t = X[task == t], y[task == t]
        marginal = np.linalg.inv(noise * np.eye(len(y_t)) + scale * X_t @ X_t.T)
        precision += X_t.T @ marginal @ X_t
        h += X_t.T @ marginal @ y_t
    covariance = np.linalg.inv(precision)
    mean = covariance @ h
    draws = posterior.draws[:, :, :3].reshape(-1, 3)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.01)
    for t in range(12):
        X_t, y_t = X[task == t], y[task == t]
        given = np.linalg.inv(X_t.T @ X_t / noise + np.eye(3) / scale)
        expected = given @ (X_t.T @ y_t / noise + mean / scale)
        np.testing.assert_allclose(posterior.coef[:, t], expected, atol=0.02)


def test_prior_of_the_covariance_without_data():
    """With no samples Δ is drawn from its prior, of mean S/(ν − d − 1)."""
    nothing = np.zeros((1, 2)), np.zeros(1), np.zeros(1, np.intp)
    prior = Prior(1.0, 12.0, 3.0, 5.0, 8.0)
    posterior = _sampled(*nothing, n_tasks=1, prior=prior, seed=5)
    np.testing.assert_allclose(posterior.covariance, np.eye(2) / 3, atol=0.02)
    # One target of 0 that no coefficient explains adds ½ to the shape: b/(a + ½ − 1).
    assert posterior.draws[:, :, -1].mean() == pytest.approx(8 / 4.5, rel=0.03)
