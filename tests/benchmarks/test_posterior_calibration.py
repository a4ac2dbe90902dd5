"""Few false claims of the posterior from all repeats, in a small simulation."""

import numpy as np
import pytest
from scipy import stats


@pytest.mark.nightly
def test_false_claims_are_no_more_than_5_percent(benchmark):
    calibration, n = benchmark("posterior_calibration"), 60
    claims = [
        calibration.is_claimed(np.random.default_rng(i), 8, 3.0, np.inf, 0.5)
        for i in range(n)
    ]
    for count in np.sum(claims, axis=0):
        assert stats.binomtest(count, n, 0.05, alternative="greater").pvalue > 0.05
