"""Few false claims of the posterior from all repeats, in a small simulation."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def calibration(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import posterior_calibration

    yield posterior_calibration
    sys.modules.pop("posterior_calibration", None)


@pytest.mark.nightly
def test_false_claims_are_no_more_than_5_percent(calibration):
    n = 60
    claims = [
        calibration.is_claimed(np.random.default_rng(i), 8, 3.0, np.inf, 0.5)
        for i in range(n)
    ]
    for count in np.sum(claims, axis=0):
        assert stats.binomtest(count, n, 0.05, alternative="greater").pvalue > 0.05
