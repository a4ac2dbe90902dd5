import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers.weights.pairwise_weights import (
    Cuts,
    minimise_weights,
    project_on_simplex,
    within,
)

N_TASKS, N_KERNELS = 5, 4
PAIRS = np.triu_indices(N_TASKS, 1)
UNIFORM = np.full((N_TASKS, N_KERNELS), 1 / N_KERNELS)


def problem(seed, rank=2, n_cuts=0, n_kernels=N_KERNELS):
    """Gradients, curvatures of some rank, centres, and cuts."""
    rng = np.random.default_rng(seed)
    g = -rng.uniform(0, 3, (N_TASKS, n_kernels))
    root = rng.standard_normal((N_TASKS, rank, n_kernels))
    center = rng.dirichlet(np.ones(n_kernels), N_TASKS)
    cuts = Cuts(
        -rng.uniform(0, 1, (N_TASKS, n_cuts)),
        3 * rng.standard_normal((N_TASKS, n_cuts, n_kernels)),
    )
    return g, root, center, cuts


def optimum(g, root, center, cuts, lam):
    """Return the minimum and the minimiser by a general solver."""
    # More negative gradients make the cap 1'θ ≤ 1 hold with equality.
    shift, theta = 50.0, cp.Variable(g.shape, nonneg=True)
    value = lam * sum(cp.norm(theta[t] - theta[s]) for t, s in zip(*PAIRS, strict=True))
    for t in range(N_TASKS):
        change = theta[t] - center[t]
        value += (g[t] - shift) @ change
        if len(root[t]):
            value += 0.5 * cp.sum_squares(root[t] @ change)
        planes = zip(cuts.offsets[t], cuts.slopes[t], strict=True)
        heights = [a + b @ change for a, b in planes]
        value += cp.maximum(0, *heights) if heights else 0
    solved = cp.Problem(cp.Minimize(value), [cp.sum(theta, axis=1) <= 1])
    solved.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return solved.value + shift * np.sum(theta.value - center), theta.value


def squares(root):
    return np.einsum("tam,tan->tmn", root, root)


@pytest.mark.parametrize("power", [-10, -4, -2, 0, 2, 10])
@pytest.mark.parametrize(("rank", "n_cuts"), [(0, 0), (2, 0), (2, 3)])
def test_model_equals_the_optimum(power, rank, n_cuts):
    # Without curvature and cuts it is the paper's problem (3).
    g, root, center, cuts = problem(power + 20, rank, n_cuts)
    lam = 2.0**power
    found = minimise_weights(g, squares(root), center, lam, cuts=cuts, tol=1e-10)
    expected, theta = optimum(g, root, center, cuts, lam)
    assert found.gap <= 1e-10
    assert found.objective == pytest.approx(expected, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(found.theta, theta, atol=1e-3)


def test_many_weights_with_cuts_are_found_by_columns():
    g, root, center, cuts = problem(0, 6, n_cuts=3, n_kernels=120)
    center[:] = [0.5, 0.5, *np.zeros(118)]
    weights = minimise_weights(g, squares(root), center, 0.0, cuts=cuts, tol=1e-7)
    expected, _ = optimum(g, root, center, cuts, 0.0)
    assert weights.objective == pytest.approx(expected, abs=1e-5)
    assert weights.gap <= 1e-6
    assert ((weights.theta > 0.0).sum(axis=1) < 60).all()


@pytest.mark.parametrize("lam", [0.0, 1e-3, 0.1, 1e4])
def test_any_start_leads_to_the_same_weights(lam):
    g, root, center, _ = problem(3, rank=4)
    H = squares(root)
    cold = minimise_weights(g, H, center, lam, tol=1e-12)
    at_uniform = g + np.einsum("tmn,tn->tm", H, UNIFORM - center)
    duals = within(10 * cold.edge_duals, lam)
    warm = minimise_weights(
        at_uniform, H, UNIFORM, lam, edge_duals=duals, rho=300.0, tol=1e-12
    )
    np.testing.assert_allclose(warm.theta, cold.theta, atol=1e-5)
    there = g + np.einsum("tmn,tn->tm", H, cold.theta - center)
    again = minimise_weights(
        there, H, cold.theta, lam, edge_duals=cold.edge_duals, tol=1e-11
    )
    np.testing.assert_array_equal(again.theta, cold.theta)


def test_projection_of_ties_ends():
    out = np.empty(6)
    for v in (np.full(6, 1 / 3), np.full(6, 1e16), np.array([0.1] * 3 + [1e17] * 3)):
        project_on_simplex(v, out)
        assert out.min() >= 0.0
