import numpy as np
import pytest
from dual_problems import dual_problem
from scipy.special import expit

from mtmkl.certify.kernel_problems import kernel_selection
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.med.med_squared import SquaredPath


def toy(seed=0, sizes=(7, 10, 5)):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, 3)) for n in sizes]
    y = [2 * x[:, 0] - x[:, 1] + 3 + 0.3 * rng.normal(size=len(x)) for x in X]
    return X, y


def tasks_of(X, y, *, grams=False):
    kwargs = {"features": np.vstack(X)}
    if grams:
        stacks = [np.einsum("id,jd->ijd", x, x).reshape(-1, 3) for x in X]
        kwargs = {"grams": np.concatenate(stacks)}
    return dual_problem(np.concatenate(y), [len(x) for x in X], epsilon=0.0, **kwargs)


@pytest.mark.parametrize("grams", [False, True])
@pytest.mark.parametrize(("C", "alpha"), [(1, 0), (1, 1), (10, 1), (10, 100)])
def test_against_the_dual(C, alpha, grams):
    X, y = toy()
    log_alpha = np.log(alpha) if alpha > 0 else -np.inf
    problem = kernel_selection(y, [x.T for x in X], C, log_alpha, is_squared=True)
    value, q = find_optimum(problem).value, problem.var_dict["q"].value
    solution = SquaredPath(tasks_of(X, y, grams=grams), tol=1e-10).solve(C, log_alpha)
    assert solution.certificate.duality_gap <= 1e-10
    assert solution.certificate.objective == pytest.approx(value, rel=1e-6)
    switches = np.ones(3) if alpha == 0 else expit(q - np.log(alpha))
    np.testing.assert_allclose(solution.coef, switches, atol=1e-4)


def test_kernels_so_large_that_the_ridge_is_lost_in_their_rounding():
    x = 1e4 * np.random.default_rng(0).standard_normal((11, 1))
    y = x[:, 0] / 1e4
    gram = (x @ x.T + 1.0) ** 2
    tasks = dual_problem(y, [11], epsilon=0.0, grams=gram.reshape(-1, 1))
    solution = SquaredPath(tasks).solve(1.0, 0.0)
    # Of all quadratics one passes through the points at next to no penalty.
    outputs = gram @ solution.dual * solution.coef[0] + solution.intercept[0]
    assert np.isfinite(solution.certificate.objective)
    np.testing.assert_allclose(outputs, y, atol=1e-3)
