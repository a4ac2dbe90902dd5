import numpy as np
import pytest
from dual_problems import Toy, dual_problem, solve_med, stacked
from sklearn.exceptions import ConvergenceWarning

from mtmkl.methods import MEDKernelSelectionClassifier
from mtmkl.solvers.med.switches import switch_cost
from mtmkl_suite.papers.jebara2011.med_sqp import MEDByAlgorithm1, SqpPath


def solve_sqp(tasks, C, log_alpha, **options):
    return SqpPath(tasks, **options).solve(C, log_alpha)


def toy(seed=0, epsilon=None):
    data = Toy(sizes=(9, 12, 7), seed=seed)
    targets = data.y if epsilon is None else data.targets
    blocks = {"features": np.vstack(data.X), "grams": stacked(data.gaussians)}
    return dual_problem(np.concatenate(targets), data.sizes, epsilon=epsilon, **blocks)


@pytest.mark.parametrize("epsilon", [None, 0.2])
@pytest.mark.parametrize("log_alpha", [-np.inf, 0.0, 4.0])
def test_same_optimum_as_newton(log_alpha, epsilon):
    tasks = toy(epsilon=epsilon)
    expected = solve_med(tasks, 3.0, log_alpha, tol=1e-8)
    optimum = expected.certificate.dual_objective
    found = solve_sqp(tasks, 3.0, log_alpha, tol=1e-7, accuracy=1e-8)
    assert found.certificate.status == "converged"
    assert found.certificate.dual_objective == pytest.approx(optimum, rel=1e-6)
    np.testing.assert_allclose(found.coef, expected.coef, atol=2e-3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("log_alpha", [0.0, 5.0, 14.0])
def test_dual_never_falls(log_alpha, seed):
    tasks = toy(seed=seed)
    solution = solve_sqp(tasks, 10.0, log_alpha, tol=1e-8)
    steps = np.diff(solution.extra["dual_history"])
    assert np.all(steps >= -1e-12 * solution.certificate.objective)


def test_simultaneous_steps_can_lower_the_dual():
    # The bound couples the tasks, here all alike: only one block may move by it.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=8))
    y[:2] = 1.0, -1.0
    tasks = dual_problem(np.tile(y, 5), [8] * 5, features=0.3 * np.tile(X, (5, 1)))
    at = {"C": 10.0, "log_alpha": np.log(1e6), "tol": 1e-8, "max_iter": 60}
    with pytest.warns(ConvergenceWarning, match="stopped after 60 sweeps"):
        solution = solve_sqp(tasks, **at, simultaneous=True)
    falls = np.diff(solution.extra["dual_history"]) < -0.1
    assert falls.sum() >= 10
    refreshed = solve_sqp(tasks, **at)
    assert refreshed.certificate.status == "converged"
    assert np.all(np.diff(refreshed.extra["dual_history"]) >= -1e-9)


def test_certificate_is_the_value_at_the_returned_point():
    tasks = toy()
    solution = solve_sqp(tasks, 2.0, 2.0, tol=1e-6)
    beta = solution.dual
    q = np.zeros(tasks.n_weights)
    for t in range(tasks.n_tasks):
        rows = slice(tasks.offsets[t], tasks.offsets[t + 1])
        n = rows.stop - rows.start
        b, X = beta[rows], tasks.blocks.features[rows]
        K = tasks.blocks.grams[tasks.blocks.pairs(t)].reshape(n, n, 4)
        assert abs(b.sum()) < 1e-10
        assert np.all((b * tasks.c[rows] >= 0) & (b * tasks.c[rows] <= 2.0))
        q[:3] += 0.5 * (X.T @ b) ** 2
        q[3:] += 0.5 * np.einsum("i,ijg,j->g", b, K, b)
    np.testing.assert_allclose(solution.extra["q"], q, rtol=1e-9)
    expected = tasks.c @ beta - switch_cost(q, 2.0)
    assert solution.certificate.dual_objective == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore:Algorithm 1")
@pytest.mark.parametrize("change_tol", [1e-1, 1e-3])
def test_stopping_rule_of_the_paper(change_tol):
    at = {"C": 5.0, "log_alpha": 5.0, "tol": 0.0}
    solution = solve_sqp(toy(), **at, change_tol=change_tol)
    assert solution.extra["stopped_by"] == "change"
    n = solution.certificate.n_iter
    betas = [solve_sqp(toy(), **at, max_iter=m + 1).dual for m in range(n)]
    np.testing.assert_array_equal(betas[-1], solution.dual)
    sizes = np.linalg.norm(betas[1:], axis=1)
    changes = np.linalg.norm(np.diff(betas, axis=0), axis=1) / sizes
    assert changes[-1] <= change_tol < changes[:-1].min()


def test_terms_of_one_task_may_not_share_a_switch():
    shared = {"weight": [[0, 0, 1, 1]], "n_weights": 2}
    tasks = dual_problem([1, -1, 1, -1], [4], features=np.eye(4), **shared)
    with pytest.raises(ValueError, match="two terms of task 0 share a switch"):
        solve_sqp(tasks, 1.0, 0.0)


@pytest.mark.parametrize("C", [1e4, 1e8])
def test_a_sweep_that_changes_nothing_is_no_success(C):
    """At its first accuracy a quadratic program may be solved, and the gap wide."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = np.sign(X @ rng.standard_normal(5) + 0.5 * rng.standard_normal(60))
    tasks = dual_problem(y, [20, 20, 20], features=X)
    certificate = solve_sqp(tasks, C, 0.0, tol=1e-6).certificate
    assert certificate.status == "converged"
    assert certificate.duality_gap <= 1e-6
    expected = solve_med(tasks, C, 0.0, tol=1e-6).certificate
    assert certificate.objective >= expected.dual_objective * (1 - 1e-9)
    assert certificate.dual_objective <= expected.objective * (1 + 1e-9)


@pytest.mark.parametrize("switches", ["shared", "per_task"])
def test_the_estimator_has_nearly_the_optimum_of_newtons_method(switches):
    data = Toy(sizes=(9, 12, 7))
    X, y = np.concatenate(data.X), np.concatenate(data.y)
    task = np.repeat(np.arange(3), (9, 12, 7))
    newton = MEDKernelSelectionClassifier(alpha=30.0, switches=switches).fit(X, y, task)
    with pytest.warns(ConvergenceWarning, match="lower change_tol or raise tol"):
        printed = MEDByAlgorithm1(alpha=30.0, switches=switches).fit(X, y, task)
    assert printed.dual_objective_ == pytest.approx(newton.dual_objective_, rel=1e-3)
    assert printed.n_iter_ > newton.n_iter_
