"""Algorithms 1 and 2 of Yousefi et al. (2015) as printed, on small seeded problems."""

from itertools import combinations

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian
from mtmkl.solvers.linear.penalties import pairwise_norms
from mtmkl.solvers.svm.task_duals import TaskDuals
from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath
from mtmkl.solvers.weights.pairwise_weights import minimise_weights

from .test_pairwise_sharing import tasks_of

N_TASKS, N_KERNELS = 4, 3
PAIRS = np.array(list(combinations(range(N_TASKS), 2)))
POWERS = (-10, -2, 0, 10)


def machines(n=12):
    """Return labels and Gram matrices (n, n, M) of four tasks on three Gaussians."""
    rng = np.random.default_rng(3)
    labels, grams = [], []
    for t in range(N_TASKS):
        X = rng.standard_normal((n, 2))
        z = np.sin((1 + t) * X[:, 0]) + 0.3 * rng.standard_normal(n)
        labels.append(np.where(z > np.median(z), 1.0, -1.0))
        grams.append(np.stack([Gaussian(w)(X, X) for w in (0.2, 1.0, 5.0)], axis=-1))
    return labels, grams


def shrink(a, kappa):
    """Return (13), the soft thresholding of vectors, here rows."""
    norms = np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-300)
    return np.maximum(1 - kappa / norms, 0) * a


def as_printed(q, lam, n_iter, rho=1.0):
    """Return the iterates of Algorithm 2, line by line."""
    theta = np.full(q.shape, 1 / N_KERNELS)
    z, v, beta = theta.copy(), np.zeros_like(q), np.zeros_like(q)
    u = np.zeros((*PAIRS.shape, N_KERNELS))
    iterates = []
    for _ in range(n_iter):
        pairs = (theta[PAIRS] + u).reshape(len(PAIRS), -1)
        s = shrink(pairs, lam / rho).reshape(u.shape)
        total = z + v - q / rho
        np.add.at(total, PAIRS, s + u)
        theta = total / (N_TASKS - 1)
        y = 0.5 * np.maximum(theta + v - beta, 0)
        z = y + beta - (y + beta).mean(axis=1, keepdims=True) + 1 / N_KERNELS
        beta = beta + y - z
        u = u + s - theta[PAIRS]
        v = v + z - theta
        iterates.append(theta)
    return iterates


def corrected(q, lam, n_iter, rho=1.0):
    """Return the last iterate of Algorithm 2 with its five corrections."""
    theta = np.full(q.shape, 1 / N_KERNELS)
    z, v = theta.copy(), np.zeros_like(q)
    u = np.zeros((*PAIRS.shape, N_KERNELS))
    for _ in range(n_iter):
        s = theta[PAIRS] - u
        # Of a pair the mean is kept and the difference is shrunk.
        difference = s[:, 0] - s[:, 1]
        move = 0.5 * (difference - shrink(difference, 2 * lam / rho))
        s += np.stack([-move, move], axis=1)
        total = z + v - q / rho
        np.add.at(total, PAIRS, s + u)
        theta = total / N_TASKS
        z = np.array([on_capped_simplex(row) for row in theta - v])
        u = u + s - theta[PAIRS]
        v = v + z - theta
    return z


def on_capped_simplex(x):
    """Return the projection on x ≥ 0, 1'x ≤ 1."""
    positive = np.maximum(x, 0)
    if positive.sum() <= 1:
        return positive
    falling = np.sort(x)[::-1]
    thresholds = (np.cumsum(falling) - 1) / np.arange(1, len(x) + 1)
    return np.maximum(x - thresholds[falling > thresholds][-1], 0)


@pytest.fixture(scope="module")
def q():
    return -np.random.default_rng(0).uniform(0.5, 3.0, (N_TASKS, N_KERNELS))


def exact(q, lam):
    """Return the θ step, problem (3)."""
    uniform = np.full(q.shape, 1 / N_KERNELS)
    nothing = np.zeros((N_TASKS, N_KERNELS, N_KERNELS))
    return minimise_weights(q, nothing, uniform, lam, tol=1e-11)


def test_algorithm_2_as_printed_diverges(q):
    for power in POWERS:
        sizes = [np.abs(theta).max() for theta in as_printed(q, 2.0**power, 120)]
        assert sizes[-1] > 1e6, power
        assert sizes[-1] > sizes[-20] > sizes[-40], power


def test_algorithm_2_corrected_is_the_theta_step(q):
    for lam in 2.0 ** np.array(POWERS[1::2]):
        theta, found = corrected(q, lam, 2500), exact(q, lam)
        value = np.sum(q * theta) + lam * pairwise_norms(theta)
        expected = found.objective + np.sum(q) / N_KERNELS
        assert value == pytest.approx(expected, rel=1e-6), lam
        np.testing.assert_allclose(theta, found.theta, atol=1e-5)


def test_algorithm_1_cycles():
    tasks, C, lam = tasks_of(*machines()), 10.0, 0.1
    theta = np.full((N_TASKS, N_KERNELS), 1 / N_KERNELS)
    values, points = [], []
    for _ in range(60):
        inner = TaskDuals(tasks, C).solve(theta.ravel(), 1e-10)
        values.append(inner.primal + lam * pairwise_norms(theta))
        points.append(theta)
        theta = exact(-inner.q.reshape(theta.shape), lam).theta
    solution = PairwiseSharingPath(tasks, tol=1e-9).solve(C, lam)
    best = solution.certificate.objective
    # The last half visits the same few points again and again, none of them optimal.
    for late, point in enumerate(points[-10:], start=50):
        assert any(
            np.abs(point - points[late - period]).max() < 1e-6
            for period in range(2, 25)
        )
    assert min(values[30:]) > best * 1.005
    assert max(np.diff(values[30:])) > 0.01 * best
