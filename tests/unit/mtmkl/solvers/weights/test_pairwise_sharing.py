import warnings

import numpy as np
import pytest
from dual_problems import dual_problem
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import group_sharing
from mtmkl.certify.solving import find_optimum
from mtmkl.kernels.base import CosineNormalized, Gaussian, Linear, Polynomial
from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

KERNELS = (CosineNormalized(Linear()), Gaussian(0.7), CosineNormalized(Polynomial(2)))
SIZES = (10, 12, 14, 11)


def machines(seed=0, sizes=SIZES, kernels=KERNELS, classes=None):
    """Return labels and Gram matrices (n, n, M) of tasks that differ in kind."""
    rng = np.random.default_rng(seed)
    labels, grams = [], []
    for t, n in enumerate(sizes):
        X = rng.standard_normal((n, 3))
        z = X[:, 0] + 0.3 * rng.standard_normal(n)
        if t % 2:
            z = np.sin(3 * X[:, 1]) + 0.3 * rng.standard_normal(n)
        y = np.where(z > np.median(z), 1.0, -1.0)
        labels.append(y)
        grams.append(np.stack([kernel(X, X) for kernel in kernels], axis=-1))
    return labels, grams


def as_lists(grams):
    return [list(np.moveaxis(K, -1, 0)) for K in grams]


def block_of(labels, grams, block=None):
    n_kernels = grams[0].shape[-1]
    first = np.arange(len(labels)) if block is None else np.asarray(block)
    return dual_problem(
        np.concatenate(labels),
        [len(y) for y in labels],
        grams=np.concatenate([K.reshape(-1, n_kernels) for K in grams]),
        weight=first[:, None] * n_kernels + np.arange(n_kernels),
    )


def solve(tasks, C, lam, *, tol=1e-8, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return PairwiseSharingPath(tasks, tol=tol, **kwargs).solve(C, lam)


@pytest.mark.parametrize("lam", [0.0, 0.01, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_equals_the_optimum_of_a_general_solver(C, lam):
    labels, grams = machines()
    solution = solve(block_of(labels, grams), C, lam)
    problem = group_sharing(labels, as_lists(grams), C, lam)
    expected = find_optimum(problem).value
    assert solution.certificate.objective == pytest.approx(expected, rel=1e-6)
    assert solution.certificate.dual_objective <= expected * (1 + 1e-8)
    assert solution.certificate.duality_gap <= 1e-8
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
    tasks = block_of(labels, grams)
    solution = solve(tasks, 5.0, 1.0)
    assert solution.extra["groups"].tolist() == members
    apart = solve(tasks, 5.0, 0.0).extra["groups"]
    assert apart[0] != apart[2]
    assert solve(tasks, 5.0, 100.0).extra["groups"].tolist() == [0] * 5


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_kinks_at_kernels_of_low_rank(lam):
    # Three kernels of rank one alone leave the duals undetermined, and V bends sharply
    # where the weight of the Gaussian kernel is 0.
    rng = np.random.default_rng(0)
    labels, grams = [], []
    for n in (9, 12, 15):
        X = rng.standard_normal((n, 3))
        z = X @ [1.0, 0.5, 2.0] + 0.5 * rng.standard_normal(n)
        labels.append(np.where(z > np.median(z), 1.0, -1.0))
        parts = [np.outer(X[:, d], X[:, d]) for d in range(3)]
        grams.append(np.stack([*parts, Gaussian(1.0)(X, X)], axis=-1))
    solution = solve(block_of(labels, grams), 1.0, lam)
    expected = find_optimum(group_sharing(labels, as_lists(grams), 1.0, lam)).value
    assert solution.certificate.duality_gap <= 1e-8
    assert solution.certificate.objective == pytest.approx(expected, rel=1e-6)


def test_task_of_one_class_follows_the_others():
    labels, grams = machines(9)
    labels[2] = np.ones(len(labels[2]))
    solution = solve(block_of(labels, grams), 2.0, 0.4)
    first = SIZES[0] + SIZES[1]
    assert not solution.dual[first : first + SIZES[2]].any()
    assert solution.intercept[2] == 1.0
    expected = find_optimum(group_sharing(labels, as_lists(grams), 2.0, 0.4)).value
    assert solution.certificate.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("n", "d", "n_tasks", "scale"),
    [
        (60, 3, 2, 1e7),
        # Searched for longer before it ends.
        pytest.param(120, 5, 3, 1e6, marks=pytest.mark.nightly),
    ],
)
def test_a_search_that_gets_no_further_ends_and_names_the_scales(n, d, n_tasks, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X.sum(axis=1) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    X[:, 0] *= scale
    weight = np.arange(n_tasks * d).reshape(n_tasks, d)
    tasks = dual_problem(y, [n // n_tasks] * n_tasks, features=X, weight=weight)
    with pytest.warns(ConvergenceWarning, match="standardize=True") as caught:
        solution = PairwiseSharingPath(tasks, max_iter=500).solve(1.0, 1.0)
    assert f"{np.square(X).max():.1g}" in str(caught[0].message)
    assert "max_iter" not in str(caught[0].message)
    assert solution.certificate.status == "stalled"
    assert solution.certificate.n_iter < 100
