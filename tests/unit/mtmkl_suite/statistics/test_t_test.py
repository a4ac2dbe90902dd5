import math

import baycomp
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from mtmkl_suite.statistics.t_test import t_test

SIDES = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}


@pytest.fixture
def values():
    return np.random.default_rng(8).normal(0.3, 1.0, size=10)


@pytest.mark.parametrize("alternative", SIDES)
def test_matches_statsmodels(values, alternative):
    found = t_test(values, scale=1.0, null=0.1, alternative=alternative, level=0.1)
    reference = DescrStatsW(values)
    t, p, _ = reference.ttest_mean(0.1, alternative=SIDES[alternative])
    assert found.estimate == pytest.approx(values.mean())
    assert found.statistic == pytest.approx(t)
    assert found.p == pytest.approx(p)
    assert found.interval == pytest.approx(reference.tconfint_mean(0.1))


# baycomp corrects for ten folds: n_test / n_train is 1 / 9.
@pytest.mark.parametrize("alternative", SIDES)
def test_corrected_test_matches_baycomp(values, alternative):
    found = t_test(values, scale=1.0, alternative=alternative, variance_ratio=1 / 9)
    mean, variance, df = baycomp.CorrelatedTTest.compute_statistics(
        np.zeros(10), values
    )
    reference = stats.t(df, mean, math.sqrt(variance))
    below = reference.cdf(0.0)
    p = {"greater": below, "less": 1 - below, "two-sided": 2 * min(below, 1 - below)}
    assert found.statistic == pytest.approx(mean / math.sqrt(variance))
    assert found.p == pytest.approx(p[alternative])
    assert found.interval == pytest.approx(reference.interval(0.95))


@pytest.mark.parametrize(
    ("null", "alternative", "p"),
    [
        (0.2, "two-sided", 1),
        (0.1, "two-sided", 0),
        (0.1, "greater", 0),
        (0.1, "less", 1),
    ],
)
def test_a_spread_of_rounding_is_none(null, alternative, p):
    units = np.array([0.3 - 0.1, 1.2 - 1.0, 0.2])
    found = t_test(units, scale=1.2, null=null, alternative=alternative)
    assert found.p == p
    assert found.interval == pytest.approx((0.2, 0.2))


@pytest.mark.parametrize("ratio", [0.0, 0.5])
def test_a_mean_that_cancels_but_for_rounding_is_the_null(ratio):
    values = np.array([0.3, -0.1, -0.2])
    assert values.mean() != 0
    found = t_test(values, scale=0.3, variance_ratio=ratio)
    assert (found.estimate, found.statistic, found.p) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("units", "ratio", "words"),
    [
        ([1.0], 0.0, "one unit"),
        ([1.0, math.inf], 0.0, "not every value is finite"),
        ([1.0, 2.0], math.inf, "all units share their samples"),
    ],
)
def test_what_cannot_be_tested_is_said(units, ratio, words):
    found = t_test(np.array(units), scale=1.0, variance_ratio=ratio)
    assert found.why_no_test == words
    assert math.isnan(found.p)
