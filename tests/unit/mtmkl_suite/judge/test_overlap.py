import math

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
from mtmkl_suite.statistics.t_test import t_test

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


class TestTypeOneError:
    """The null hypothesis is true: effects have mean zero over all pools."""

    @pytest.mark.parametrize("case", sweep(USUAL, [c for c in CASES if c not in USUAL]))
    def test_corrected_test_keeps_its_level(self, case):
        pool, drawn, n_tested = CASES[case]
        rng = np.random.default_rng(1)
        splits = [
            Overlap(drawn / pool, count / drawn, 1 - count / drawn)
            for count in n_tested
        ]
        c = variance_ratio(splits)
        samples = [
            means_of_tested(rng, pool=pool, drawn=drawn, n_tested=n_tested, repeats=10)
            for _ in range(TRIALS)
        ]
        uncorrected = stats.ttest_1samp(samples, 0, axis=1).pvalue
        corrected = [t_test(each, scale=1.0, variance_ratio=c).p for each in samples]
        assert abs(np.mean(np.array(corrected) < 0.05) - 0.05) <= LARGEST_ERROR
        assert np.mean(uncorrected < 0.05) > 0.05 + 5 * LARGEST_ERROR

    def test_new_data_need_no_correction(self):
        rng = np.random.default_rng(2)
        p = [t_test(rng.normal(size=10), scale=1.0).p for _ in range(TRIALS)]
        assert variance_ratio([Overlap(0.0, 0.5, 0.5)]) == 0
        assert abs(np.mean(np.array(p) < 0.05) - 0.05) <= LARGEST_ERROR


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
    t = stats.ttest_1samp(samples, 0, axis=1).statistic

    def rejected(ratio):
        corrected = np.abs(t) / math.sqrt(1 + 10 * ratio)
        return np.mean(2 * stats.t.sf(corrected, 9) < 0.05)

    assert abs(rejected(c) - 0.05) <= LARGEST_ERROR
    assert rejected(0.0) > 0.25
    # Validation samples are learned from: without them too little is rejected.
    assert rejected(test_share / train_share) < rejected_without_validation


class TestVarianceRatio:
    def test_one_split_is_that_of_nadeau_and_bengio(self):
        assert variance_ratio([Overlap(1.0, 0.25, 0.5)]) == pytest.approx(1 / 3)
        assert variance_ratio([Overlap(1.0, 0.9, 0.1)]) == pytest.approx(9.0)

    def test_covariance_over_what_is_left_of_the_variance(self):
        # Two repeats of one test sample out of four, drawn out of eight: they test
        # the same one with probability 1/8.
        rho = 1 / 8
        c = variance_ratio([Overlap(0.5, 0.25, 0.25)])
        assert c == pytest.approx(rho / (1 - rho))

    def test_the_average_of_splits_has_more_in_common_than_each(self):
        split = Overlap(1.0, 0.5, 0.5)
        assert variance_ratio([split] * 10) == pytest.approx(
            10 * variance_ratio([split])
        )

    def test_several_data_sets_count_as_the_one_that_overlaps_most(self):
        split, new_data = Overlap(1.0, 0.4, 0.6), Overlap(0.0, 0.4, 0.6)
        expected = variance_ratio([split, split])
        assert variance_ratio([split, new_data]) == pytest.approx(expected)

    def test_a_larger_pool_is_less_in_common(self):
        shares = [0.0, 0.1, 0.5, 0.9, 1.0]
        ratios = [variance_ratio([Overlap(share, 0.4, 0.6)]) for share in shares]
        assert ratios[0] == 0
        assert ratios == sorted(set(ratios))

    def test_numbers_of_the_fit_share_what_was_learned_from(self):
        split = Overlap(1.0, 0.2, 0.5)
        assert variance_ratio([split], role="train") == pytest.approx(1.0)
        assert variance_ratio([split], role="learning") == pytest.approx(0.8 / 0.2)

    def test_the_same_roles_tell_nothing_new(self):
        assert math.isinf(variance_ratio([Overlap(1.0, 0.5, 0.5, same_roles=True)]))

    def test_tasks_are_independent_unless_they_have_examples_in_common(self):
        assert variance_ratio([Overlap(1.0, 0.5, 0.5)], unit="task") == 0
        shared = Overlap(0.0, 0.5, 0.5, tasks_share=True)
        assert math.isinf(variance_ratio([shared], unit="task"))
        assert variance_ratio([shared]) == 0


class TestShareOfPool:
    def test_equal_classes(self):
        assert share_of_pool(20, [100, 100, 100]) == pytest.approx(0.2)

    def test_a_small_class_gives_all_it_has(self):
        assert share_of_pool(20, [10]) == 1
        assert share_of_pool(20, [20, 10**9]) == pytest.approx(0.5)

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
