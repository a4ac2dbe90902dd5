import numpy as np
import pytest
from bounds import assert_between
from dual_problems import Toy, dual_problem, stacked
from scipy.special import expit

from mtmkl.certify.kernel_problems import kernel_selection
from mtmkl.solvers.med.med_squared import SquaredPath


@pytest.mark.parametrize("kind", ["features", "grams"])
@pytest.mark.parametrize(
    ("C", "log_alpha"), [(1, -np.inf), (1, 0.0), (10, 0.0), (10, 5.0)]
)
def test_against_the_dual(C, log_alpha, kind):
    toy = Toy()
    terms = np.vstack(toy.X) if kind == "features" else stacked(toy.rank_ones)
    targets = [y + 3.0 for y in toy.targets]
    options = {kind: terms, "epsilon": 0.0}
    tasks = dual_problem(np.concatenate(targets), toy.sizes, **options)
    solution = SquaredPath(tasks, tol=1e-10).solve(C, log_alpha)
    grams = [x.T for x in toy.X]
    stated = kernel_selection(targets, grams, C, log_alpha, is_squared=True)
    assert_between(solution.certificate, stated, 1e-10)
    q = stated.var_dict["q"].value
    np.testing.assert_allclose(solution.coef, expit(q - log_alpha), atol=1e-4)


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
