"""Steps of the logistic dual, and its derivatives."""

import numpy as np
import pytest

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.svm.logistic_duals import LogisticDuals, logistic_step


def duals(C=2.0, n=20, n_terms=3):
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((n_terms, n, 4))
    grams = np.einsum("mik,mjk->ijm", roots, roots)
    blocks = GramBlocks.of([n], grams=grams.reshape(-1, n_terms))
    y = np.sign(rng.standard_normal(n))
    return LogisticDuals(blocks, y, C, np.random.default_rng(1))


def test_a_step_from_the_bound_does_not_go_back_and_forth():
    # Newton's steps alone go from one flat end of the sigmoid to the other for ever.
    new = logistic_step(0.0, -4.0, 1.0, 20.0)
    assert np.log(new / (20.0 - new)) + new == pytest.approx(4.0)


def test_derivatives_of_the_value():
    state, h = duals(), 3e-3
    w = np.array([0.5, 0.2, 0.9])
    inner = state.solve(w, 1e-14)
    curvature = state.curvature(w)
    for m in range(3):
        step = h * np.eye(3)[m]
        up, down = (state.solve(w + s * step, 1e-14) for s in (1, -1))
        assert (up.dual - down.dual) / (2 * h) == pytest.approx(-inner.q[m], rel=1e-4)
        np.testing.assert_allclose((down.q - up.q) / (2 * h), curvature[m], rtol=1e-3)
