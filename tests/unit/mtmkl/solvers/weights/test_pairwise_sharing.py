import numpy as np
import pytest
from bounds import assert_between
from dual_problems import dual_problem
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import group_sharing
from mtmkl.kernels.base import CosineNormalized, Gaussian, Linear, Polynomial
from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

KERNELS = (CosineNormalized(Linear()), Gaussian(0.7), CosineNormalized(Polynomial(2)))
SIZES = (10, 12, 14, 11)


def machines(seed=0, sizes=SIZES):
    """Return labels and Gram matrices (n, n, M) of tasks that differ in kind."""
    rng = np.random.default_rng(seed)
    labels, grams = [], []
    for t, n in enumerate(sizes):
        X = rng.standard_normal((n, 3))
        z = X[:, 0] + 0.3 * rng.standard_normal(n)
        if t % 2:
            z = np.sin(3 * X[:, 1]) + 0.3 * rng.standard_normal(n)
        labels.append(np.where(z > np.median(z), 1.0, -1.0))
        grams.append(np.stack([kernel(X, X) for kernel in KERNELS], axis=-1))
    return labels, grams


def stated(labels, grams, C, lam):
    matrices = [list(np.moveaxis(K, -1, 0)) for K in grams]
    return group_sharing(labels, matrices, C, lam)


def tasks_of(labels, grams):
    """Return tasks with weights of their own."""
    shape = len(labels), grams[0].shape[-1]
    return dual_problem(
        np.concatenate(labels),
        [len(y) for y in labels],
        grams=np.concatenate([K.reshape(-1, shape[1]) for K in grams]),
        weight=np.arange(np.prod(shape)).reshape(shape),
    )


def solve(labels, grams, C, lam):
    return PairwiseSharingPath(tasks_of(labels, grams), tol=1e-8).solve(C, lam)


@pytest.mark.parametrize("lam", [0.0, 0.01, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_equals_the_optimum_of_a_general_solver(C, lam):
    data = machines()
    solution, problem = solve(*data, C, lam), stated(*data, C, lam)
    assert_between(solution.certificate, problem)
    assert solution.certificate.history[-1] == solution.certificate.objective
    theta = problem.var_dict["theta"].value
    np.testing.assert_allclose(solution.coef, theta, atol=1e-3)


def test_groups_are_the_kinds_of_tasks():
    # Tasks of a kind are copies but for single samples; kinds differ in the kernel.
    labels, grams = machines(5, sizes=(30, 30))
    members = [0, 1, 0, 1, 1]
    keep = [np.delete(np.arange(30), i) for i in range(5)]
    labels = [labels[k][rows] for k, rows in zip(members, keep, strict=True)]
    grams = [
        grams[k][np.ix_(rows, rows)] for k, rows in zip(members, keep, strict=True)
    ]
    apart, solution, alike = (
        solve(labels, grams, 5.0, lam).extra["groups"] for lam in (0.0, 1.0, 100.0)
    )
    assert solution.tolist() == members
    assert apart[0] != apart[2]
    assert alike.tolist() == [0] * 5


def test_a_search_that_gets_no_further_ends_and_names_the_scales():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X.sum(axis=1) + rng.normal(size=60) > 0.0, 1.0, -1.0)
    X[:, 0] *= 1e7
    tasks = dual_problem(y, [30, 30], features=X, weight=np.arange(6).reshape(2, 3))
    with pytest.warns(ConvergenceWarning, match="standardize=True") as caught:
        solution = PairwiseSharingPath(tasks, max_iter=500).solve(1.0, 1.0)
    assert f"{np.square(X).max():.1g}" in str(caught[0].message)
    assert "max_iter" not in str(caught[0].message)
    assert solution.certificate.status == "stalled"
    assert solution.certificate.n_iter < 100
