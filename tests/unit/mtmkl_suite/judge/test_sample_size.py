import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from mtmkl_suite.judge.sample_size import repeats_needed


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.7, 1.5, 4.0])
def test_independent_repeats_are_planned_as_statsmodels_does(effect):
    n = TTestPower().solve_power(effect_size=effect, power=0.8, alpha=0.05)
    assert repeats_needed(effect * 3, 3.0) == max(2, math.ceil(n))
    assert repeats_needed(-effect * 3, 3.0) == max(2, math.ceil(n))


def test_planned_power_is_reached_by_repeats_that_share_examples():
    mean, c = 0.9, 0.05
    n = repeats_needed(mean, 1.0, c)
    assert repeats_needed(mean, 1.0) < n < math.inf
    rng = np.random.default_rng(0)
    trials = 4000
    common = rng.normal(scale=math.sqrt(c), size=(trials, 1))

    def power(n):
        values = mean + common + rng.normal(size=(trials, n))
        t = values.mean(axis=1) / (values.std(axis=1, ddof=1) * math.sqrt(1 / n + c))
        return np.mean(np.abs(t) > stats.t.ppf(0.975, n - 1))

    error = 3 * math.sqrt(0.8 * 0.2 / trials)
    assert power(n) > 0.8 - error
    assert power(n - 2) < 0.8


def test_no_number_of_repeats_makes_up_for_common_examples():
    # The statistic stays below 0.5 / √0.25 = 1, whatever the number.
    assert math.isinf(repeats_needed(0.5, 1.0, 0.25))
    assert math.isinf(repeats_needed(0.5, 1.0, math.inf))
    assert math.isinf(repeats_needed(0.0, 1.0))


def test_a_difference_without_a_spread():
    assert repeats_needed(1.0, 0.0) == 2
    assert math.isinf(repeats_needed(0.0, 0.0))
