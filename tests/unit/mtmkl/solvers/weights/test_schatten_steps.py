"""Spectra where LAPACK gives up; proximal points are seen by the solver's optimum."""

import numpy as np

from mtmkl.solvers.weights.schatten_steps import spectrum


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
