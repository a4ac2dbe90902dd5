import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sweeps import sweep

from mtmkl_suite.judge.overlap import (
    Overlap,
    role_behind,
    share_of_pool,
    variance_ratio,
)
from mtmkl_suite.metrics import METRICS

TRIALS = 1000
LARGEST_ERROR = 3 * math.sqrt(0.05 * 0.95 / TRIALS)


def means_of_tested(rng, *, pool, drawn, n_tested, repeats):
    """The values of repeats, where all that counts is which samples are tested.

    Every repeat draws ``drawn`` of the samples, and tests the first of several
    permutations of them.
    """
    effects = np.tile(rng.normal(size=pool), (repeats, 1))
    mine = rng.permuted(effects, axis=1)[:, :drawn]
    tested = [rng.permuted(mine, axis=1)[:, :count].mean(axis=1) for count in n_tested]
    return np.mean(tested, axis=0)


CASES = {
    "splits of one data set": (40, 40, [18]),
    "small training parts": (40, 40, [36]),
    "three splits of one data set": (40, 40, [18, 16, 10]),
    "draws from a pool": (60, 40, [18]),
    "draws from a pool, three splits each": (60, 40, [18, 16, 10]),
}
USUAL = ["three splits of one data set"]


def rejected(samples, ratio):
    """The share of samples of ten repeats that the test with this c rejects."""
    t = stats.ttest_1samp(samples, 0, axis=1).statistic / math.sqrt(1 + 10 * ratio)
    return np.mean(2 * stats.t.sf(np.abs(t), 9) < 0.05)


# The null hypothesis is true: effects have mean zero over all pools.
@pytest.mark.parametrize("case", sweep(USUAL, [c for c in CASES if c not in USUAL]))
def test_corrected_test_keeps_its_level(case):
    pool, drawn, n_tested = CASES[case]
    rng = np.random.default_rng(1)
    splits = [
        Overlap(drawn / pool, count / drawn, 1 - count / drawn) for count in n_tested
    ]
    samples = [
        means_of_tested(rng, pool=pool, drawn=drawn, n_tested=n_tested, repeats=10)
        for _ in range(TRIALS)
    ]
    assert abs(rejected(samples, variance_ratio(splits)) - 0.05) <= LARGEST_ERROR
    assert rejected(samples, 0.0) > 0.05 + 5 * LARGEST_ERROR


def gains_of_symmetric_learners(rng, *, train_share, n=200, repeats=10):
    """Differences of two regressions, of y on its first and on its second input.

    Over all populations they are equally good. Every repeat trains both anew; of the
    samples that are not for training, one half is for validation, the other for
    testing.
    """
    X = rng.normal(size=(n, 2))
    y = X.sum(axis=1) + rng.normal(size=n)
    n_train = round(train_share * n)
    n_test = (n - n_train) // 2
    order = rng.permuted(np.tile(np.arange(n), (repeats, 1)), axis=1)
    train, test = order[:, :n_train], order[:, -n_test:]
    slopes = (X[train] * y[train, None]).sum(axis=1) / (X[train] ** 2).sum(axis=1)
    errors = ((y[test, None] - X[test] * slopes[:, None]) ** 2).mean(axis=1)
    return errors[:, 0] - errors[:, 1]


@pytest.mark.parametrize(
    ("train_share", "rejected_without_validation"), [(0.1, 0.005), (0.5, 0.04)]
)
def test_level_with_learners_that_are_trained_anew(
    train_share, rejected_without_validation
):
    rng = np.random.default_rng(3)
    samples = [
        gains_of_symmetric_learners(rng, train_share=train_share) for _ in range(TRIALS)
    ]
    test_share = (1 - train_share) / 2
    c = variance_ratio([Overlap(1.0, test_share, train_share)])
    assert abs(rejected(samples, c) - 0.05) <= LARGEST_ERROR
    assert rejected(samples, 0.0) > 0.25
    # Validation samples are learned from: without them too little is rejected.
    without = rejected(samples, test_share / train_share)
    assert without < rejected_without_validation


NEW_DATA, HALVES = Overlap(0.0, 0.4, 0.6), Overlap(1.0, 0.5, 0.5)


@pytest.mark.parametrize(
    ("splits", "settings", "c"),
    [
        # One split is that of Nadeau and Bengio.
        ([Overlap(1.0, 0.25, 0.5)], {}, 1 / 3),
        ([Overlap(1.0, 0.9, 0.1)], {}, 9.0),
        # Two repeats of one test sample out of four, drawn out of eight: they test the
        # same one with probability ρ = 1/8, and c = ρ / (1 - ρ).
        ([Overlap(0.5, 0.25, 0.25)], {}, 1 / 7),
        # The average of splits has more in common than each.
        ([HALVES] * 10, {}, 10.0),
        # Several data sets count as the one that overlaps most.
        ([Overlap(1.0, 0.4, 0.6), NEW_DATA], {}, 2 * 0.4 / 0.6),
        ([NEW_DATA], {}, 0.0),
        # Numbers of the fit share what was learned from.
        ([Overlap(1.0, 0.2, 0.5)], {"role": "train"}, 1.0),
        ([Overlap(1.0, 0.2, 0.5)], {"role": "learning"}, 0.8 / 0.2),
        # The same roles tell nothing new.
        ([replace(HALVES, same_roles=True)], {}, math.inf),
        # Tasks are independent unless they have samples in common.
        ([HALVES], {"unit": "task"}, 0.0),
        ([replace(NEW_DATA, tasks_share=True)], {"unit": "task"}, math.inf),
        ([replace(NEW_DATA, tasks_share=True)], {}, 0.0),
    ],
)
def test_variance_ratio(splits, settings, c):
    assert variance_ratio(splits, **settings) == pytest.approx(c)


class TestShareOfPool:
    @pytest.mark.parametrize(
        ("sizes", "share"),
        # A small class gives all that it has.
        [([100, 100, 100], 0.2), ([10], 1), ([20, 10**9], 0.5)],
    )
    def test_classes(self, sizes, share):
        assert share_of_pool(20, sizes) == pytest.approx(share)

    def test_chance_that_an_example_is_drawn_again(self):
        rng = np.random.default_rng(0)
        pool = np.repeat([0, 1], [30, 60])
        again = []
        for _ in range(400):
            first, second = (
                np.concatenate(
                    [rng.permutation(np.flatnonzero(pool == c))[:20] for c in (0, 1)]
                )
                for _ in range(2)
            )
            again.append(np.isin(first, second).mean())
        assert np.mean(again) == pytest.approx(share_of_pool(20, [30, 60]), abs=0.01)


def test_which_examples_a_metric_depends_on():
    roles = {name: role_behind(name, is_chosen=False) for name in METRICS}
    of_the_fit = {name for name, role in roles.items() if role == "train"}
    assert of_the_fit == {
        "n_groups", "n_features", "covariance_distance", "row_norms", "edge_auc",
        "similarity_correlation", "large_rows", "feature_weights",
    }  # fmt: skip
    assert set(roles.values()) == {"train", "test"}
    assert role_behind("row_norm_top5", is_chosen=True) == "learning"
    assert role_behind("fit_seconds", is_chosen=False) == "train"
    assert role_behind("auc", is_chosen=True) == "test"
