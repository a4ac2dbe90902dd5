"""The Gram solver against general solvers and the feature-space solver; its limits."""

import numpy as np
import pytest
from mt_mkl_problems import (
    KERNELS,
    LOSSES,
    assert_optimal,
    matrices,
    on_one_map,
    problem,
    problem_1,
)

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.weights.mt_mkl_gram import GramPath


def path(grams, y, *, tol=1e-9, **options):
    layout = np.stack(grams, axis=-1).reshape(-1, len(grams))
    blocks = GramBlocks.of([y.size], grams=layout)
    rng = np.random.default_rng(0)
    return GramPath(blocks, y, tol=tol, max_iter=5000, rng=rng, **options)


def solve(grams, y, *, C, **options):
    return path(grams, y, **options).solve(C)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("p", "C"), [(1, 0.1), (1, 10.0), (1.5, 1.0), (2, 1.0), (3, 10.0), (np.inf, 1.0)]
)
def test_optimum_of_four_task_kernels(p, C, loss):
    X, y, task = problem()
    terms = on_one_map(KERNELS)
    solution = solve(matrices([X], task, terms), y, C=C, p=p, loss=loss)
    stated = problem_1([X], y, task, terms, C, p, loss)
    assert_optimal(solution.certificate, solution.coef, stated)


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_one_intercept_for_all_tasks(p):
    X, y, task = problem(seed=2)
    X, terms = X + 1.0, on_one_map(KERNELS[1:])
    grams = matrices([X], task, terms)
    solution = solve(grams, y, C=0.3, p=p, fit_intercept=True)
    stated = problem_1([X], y, task, terms, 0.3, p, fit_intercept=True)
    assert_optimal(solution.certificate, solution.coef, stated)
    assert abs(solution.dual.sum()) < 1e-9
    assert solution.intercept[0] != 0.0
    outputs = np.tensordot(solution.coef, grams, axes=1) @ solution.dual
    loss = np.maximum(1 - y * (outputs + solution.intercept[0]), 0).sum()
    value = 0.5 * solution.dual @ outputs + 0.3 * loss
    assert solution.certificate.objective == pytest.approx(value, rel=1e-12)


def test_a_kernel_of_zeros_gets_no_weight():
    X, y, task = problem()
    grams = [*matrices([X], task, on_one_map(KERNELS[:2])), np.zeros((y.size, y.size))]
    for p in (1, 2):
        solution = solve(grams, y, C=1.0, p=p)
        fewer = solve(grams[:2], y, C=1.0, p=p)
        assert solution.coef[2] == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(solution.coef[:2], fewer.coef, atol=1e-5)


def test_nothing_but_kernels_of_zeros():
    y = np.array([1.0, -1.0, 1.0])
    for loss, value in (("hinge", 1.0), ("logistic", np.log(2))):
        solution = solve([np.zeros((3, 3))], y, C=2.0, p=2, loss=loss)
        assert solution.certificate.objective == pytest.approx(6.0 * value)
        assert solution.certificate.status == "converged"


def test_labels_that_cancel_out_over_the_tasks():
    """Two tasks with the same samples and opposite labels: pooled, all is rounding."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 4))
    y = np.where(rng.random(9) < 0.5, -1.0, 1.0)
    task = np.repeat([0, 1], 9)
    K = np.tile(X @ X.T, (2, 2))
    same = (task[:, None] == task).astype(float)
    y = np.concatenate([y, -y])
    along = path([same * K, K], y, p=2.0, fit_intercept=True, tol=1e-4)
    for C in 2.0 ** np.arange(-10, 6):
        solution = along.solve(C)
        assert solution.certificate.duality_gap <= 1e-4
        assert (solution.coef > 0.0).all()
