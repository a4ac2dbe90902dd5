"""Products of rows with a vector and back, against those of numpy."""

from itertools import pairwise

import numpy as np
import pytest

from mtmkl.solvers.linear.row_products import (
    pull_back,
    pull_back_sets,
    pull_back_tasks,
)


@pytest.mark.parametrize("n_rows", [0, 1, 3, 4, 7, 8, 21])
@pytest.mark.parametrize("n_features", [1, 5, 64])
def test_pull_back_is_two_products(n_rows, n_features):
    rng = np.random.default_rng([n_rows, n_features])
    rows = rng.standard_normal((n_rows, n_features))
    point, aims = rng.standard_normal(n_features), rng.standard_normal(n_rows)
    slopes = rng.random(n_rows)
    fit, pull = np.full(n_rows, np.nan), np.full(n_features, np.nan)
    pull_back(rows, point, aims, slopes, fit, pull)
    np.testing.assert_allclose(fit, rows @ point, rtol=1e-12, atol=1e-13)
    expected = (aims - slopes * (rows @ point)) @ rows
    np.testing.assert_allclose(pull, expected, rtol=1e-12, atol=1e-13)


def test_each_task_has_its_own_rows():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 5, 5, 14])
    right, points = rng.standard_normal((14, 3)), rng.standard_normal((3, 3))
    aims, slopes = rng.standard_normal(14), rng.random(14)
    pull, fit = pull_back_tasks(right, offsets, points, aims, slopes)
    for t, (lo, hi) in enumerate(pairwise(offsets)):
        own = right[lo:hi]
        np.testing.assert_allclose(fit[lo:hi], own @ points[t], atol=1e-13)
        expected = (aims[lo:hi] - slopes[lo:hi] * (own @ points[t])) @ own
        np.testing.assert_allclose(pull[t], expected, atol=1e-13)


def test_sets_of_points_are_each_that_of_one():
    rng = np.random.default_rng(1)
    offsets = np.array([0, 5, 5, 14])
    right, slopes = rng.standard_normal((14, 3)), rng.random(14)
    points, aims = rng.standard_normal((2, 3, 3)), rng.standard_normal((2, 14))
    pulls = pull_back_sets(right, offsets, points, aims, slopes)
    for pull, *own in zip(pulls, points, aims, strict=True):
        alone, _ = pull_back_tasks(right, offsets, *own, slopes)
        np.testing.assert_array_equal(pull, alone)
