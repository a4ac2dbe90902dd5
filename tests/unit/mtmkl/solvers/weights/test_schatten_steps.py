"""Spectra of blocks, and the proximal point of mixed Schatten norms."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers.weights.schatten_steps import (
    decompose,
    largest_values,
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


def blocks(S):
    return [S[:, a:b] for a, b in pairwise(ENDS)]


def test_the_largest_values_are_those_of_the_blocks():
    S = np.random.default_rng(3).normal(size=(T, 10))
    expected = [np.linalg.norm(B, 2) if B.size else 0.0 for B in blocks(S)]
    np.testing.assert_allclose(largest_values(S, ENDS), expected, rtol=1e-12)


def trace_norms(S):
    return np.array([np.linalg.norm(B, "nuc") if B.size else 0.0 for B in blocks(S)])


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
    np.testing.assert_allclose(norms, trace_norms(Z), atol=1e-9)
    assert norm == pytest.approx(np.linalg.norm(norms, q))
    reached = 0.5 * np.sum((Z - S) ** 2) + 0.5 * tau * norm**2
    assert reached == pytest.approx(optimum, rel=1e-5)
    used = norms > 0.0
    expected = tau * norm ** (2 - q) * norms[used] ** (q - 1)
    np.testing.assert_allclose(thresholds[used], expected, rtol=1e-9)


def test_of_nothing_it_is_nothing():
    for q in (1.0, 1.5, 2.0):
        Z, norm, norms, _ = proximal_point(np.zeros((T, 10)), q, 1.0)
        assert norm == 0.0
        assert not norms.any()
        assert not Z.any()


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
