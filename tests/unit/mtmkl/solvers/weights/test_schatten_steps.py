"""Spectra of blocks, and the proximal point of mixed Schatten norms."""

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers.weights.schatten_steps import (
    decompose,
    shrink,
    spectrum,
    thresholds_of,
)

ENDS = np.array([0, 3, 3, 10])  # a small block, an empty one, one with more than T
T = 4


def proximal_point(S, q, tau):
    """Return Z, N, the trace norms and the thresholds."""
    k = ENDS.size - 1
    values = np.zeros((k, T))
    vectors = np.zeros(int(np.sum(np.minimum(np.diff(ENDS), T) ** 2)))
    decompose(S, ENDS, values, vectors)
    thresholds, norms = np.zeros(k), np.zeros(k)
    norm = thresholds_of(values, q, tau, thresholds, norms)
    Z = np.empty_like(S)
    shrink(S, ENDS, values, vectors, thresholds, Z)
    return Z, norm, norms, thresholds


@pytest.mark.filterwarnings("ignore:pnorm", "ignore:.*inaccurate")
@pytest.mark.parametrize("tau", [0.1, 20.0])
@pytest.mark.parametrize("q", [1.0, 1.01, 1.5, 2.0])
def test_the_proximal_point_is_that_of_a_general_solver(q, tau):
    S = np.random.default_rng(0).normal(size=(T, 10))
    Z, norm, norms, thresholds = proximal_point(S, q, tau)
    X = cp.Variable(S.shape)
    parts = cp.hstack([cp.normNuc(X[:, :3]), cp.normNuc(X[:, 3:])])
    value = 0.5 * cp.sum_squares(X - S) + 0.5 * tau * cp.square(cp.norm(parts, q))
    optimum = cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL")
    blocks = Z[:, :3], np.zeros((1, 1)), Z[:, 3:]
    expected = [np.linalg.norm(B, "nuc") for B in blocks]
    np.testing.assert_allclose(norms, expected, atol=1e-9)
    assert norm == pytest.approx(np.linalg.norm(norms, q))
    reached = 0.5 * np.sum((Z - S) ** 2) + 0.5 * tau * norm**2
    assert reached == pytest.approx(optimum, rel=1e-5)
    used = norms > 0.0
    expected = tau * norm ** (2 - q) * norms[used] ** (q - 1)
    np.testing.assert_allclose(thresholds[used], expected, rtol=1e-9)


def test_spectra_where_lapack_does_not_converge(monkeypatch):
    # As it happened for the squares of duals of School, with a narrow kernel.
    def fails(G):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    root = np.random.default_rng(1).normal(size=(6, 4))
    G = root @ root.T
    expected = np.linalg.eigvalsh(G)
    monkeypatch.setattr(np.linalg, "eigh", fails)
    values, V = spectrum.py_func(G)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose(V * values @ V.T, G, atol=1e-12)
