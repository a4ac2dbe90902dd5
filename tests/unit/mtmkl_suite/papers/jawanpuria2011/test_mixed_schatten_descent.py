"""Mirror descent and alternate minimisation for mixed Schatten norms."""

import numpy as np
import pytest
from schatten_problems import dual, primal, toy
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.weights.mixed_schatten import MixedSchattenPath
from mtmkl_suite.papers.jawanpuria2011.mixed_schatten_descent import (
    AlternatingMKMTSFL,
    MirrorDescentMKMTSFL,
    SchattenAlternation,
    SchattenDescent,
    traces_of,
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("q", [1.0, 1.01, 1.5, 1.99])
def test_traces_are_those_of_a_general_solver(q, seed):
    """Problem (4.5) of the paper, over Σ_j ρ_j^q̄ ≤ 1."""
    L = 3.0 * np.random.default_rng(seed).normal(size=4) + 3.0
    rho = traces_of(L, q)
    order = q / (2 - q)
    assert np.sum(rho**order) == pytest.approx(1.0)

    def cost(r):
        return np.sum(r * (np.log(r) - L - 1.0))

    norm = {"type": "ineq", "fun": lambda r: 1.0 - np.sum(r**order)}
    found = minimize(
        cost, np.full(4, 0.2), constraints=[norm], bounds=[(1e-12, None)] * 4,
        options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    assert cost(rho) == pytest.approx(found.fun, abs=1e-6)


@pytest.mark.parametrize("epsilon", [None, 0.1])
@pytest.mark.parametrize("q", [1.0, 1.5, 2.0])
def test_mirror_descent_meets_the_optimum(q, epsilon):
    _, _, problem = toy(q, epsilon)
    best = MixedSchattenPath(problem, tol=1e-5).solve(0.3).certificate
    solution = SchattenDescent(problem, tol=3e-3).solve(0.3)
    certificate = solution.certificate
    assert certificate.duality_gap <= 3e-3
    assert certificate.objective == pytest.approx(best.objective, rel=3e-3)
    assert certificate.dual_objective <= best.objective * (1 + 1e-9)
    assert best.dual_objective <= certificate.objective * (1 + 1e-9)
    history = certificate.history
    assert (np.diff(history) <= 1e-3 * history[0]).all()
    assert (np.diff(solution.extra["seconds"]) > 0.0).all()


@pytest.mark.parametrize("solver", [SchattenDescent, SchattenAlternation])
def test_objective_and_bound_are_those_of_the_printed_problems(solver):
    _, _, problem = toy(1.5, 0.1, n_kernels=2)
    solution = solver(problem, tol=0.1).solve(0.3)
    certificate = solution.certificate
    # The machines pay for their Q at least what the norms of their models are.
    assert primal(problem, solution, 0.3) <= certificate.objective * (1 + 1e-9)
    assert certificate.dual_objective == pytest.approx(dual(problem, solution.dual))
    assert certificate.duality_gap <= 0.1


def test_alternate_minimisation_descends_to_the_optimum():
    """One linear kernel: its features are fewer than the tasks."""
    _, _, problem = toy(2.0, 0.1, n_kernels=1)
    best = MixedSchattenPath(problem, tol=1e-6).solve(1.0).certificate
    solution = SchattenAlternation(problem, tol=2e-2, max_iter=1000).solve(1.0)
    certificate = solution.certificate
    assert certificate.objective == pytest.approx(best.objective, rel=1e-2)
    assert best.dual_objective <= certificate.objective * (1 + 1e-9)
    history = certificate.history
    assert (np.diff(history) <= 1e-3 * history[0]).all()


def test_alternate_minimisation_finds_lost_directions_again():
    """The perturbation stays where it is while the gap is larger than it leaves."""
    rng = np.random.default_rng(37)
    task = np.repeat(np.arange(3), 17)
    X = rng.standard_normal((task.size, 9))
    W = rng.standard_normal((9, 1)) @ rng.standard_normal((1, 3))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.3 * rng.standard_normal(task.size)
    method = AlternatingMKMTSFL(1.0, 1.5, kernels=[{"name": "linear"}], tol=1e-4)
    gaps = []
    for limit in (300, 3000):
        with pytest.warns(ConvergenceWarning, match=f"stopped after {limit} iter"):
            fitted = method.set_params(max_iter=limit).fit(X, y, task=task)
        gaps.append(fitted.duality_gap_)
    assert gaps[1] < 0.5 * gaps[0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", [AlternatingMKMTSFL, MirrorDescentMKMTSFL])
def test_inputs_of_zeros(method):
    task, y = np.repeat([0, 1], 5), np.arange(10.0)
    fitted = method(kernels=[{"name": "linear"}]).fit(np.zeros((10, 2)), y, task=task)
    np.testing.assert_allclose(fitted.predict(np.zeros((2, 2)), [0, 1]), [2.0, 7.0])
