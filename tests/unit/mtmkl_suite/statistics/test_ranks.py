import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtmkl_suite.statistics.ranks import (
    critical_difference,
    friedman,
    holm_against_control,
    rank_methods,
)


@pytest.fixture
def matrix():
    values = np.random.default_rng(4).normal(size=(9, 4))
    return pd.DataFrame(values, columns=list("abcd"))


def test_means_of_the_same_numbers_share_their_rank():
    numbers = [0.1, 0.2, 0.3]
    # From Python 3.12 on sum() adds without these errors.
    means = [(a + b + c) / 3 for a, b, c in itertools.permutations(numbers)]
    assert len(set(means)) > 1
    matrix = pd.DataFrame([[*means, 0.4], [*(1e-9 * each for each in means), 1e-10]])
    for higher, last in ((True, [1.0, 7.0]), (False, [7.0, 1.0])):
        ranks = rank_methods(matrix, higher_better=higher)
        assert ranks[6].tolist() == last
        # The six others have the mean of the six ranks that are left.
        for row, rank in enumerate(last):
            assert set(ranks.iloc[row, :6]) == {(28 - rank) / 6}
    assert rank_methods(pd.DataFrame([[1.0, np.nan]]), higher_better=True).isna()[1][0]


class TestFriedman:
    @pytest.mark.parametrize("seed", range(8))
    def test_ties_match_scipy(self, seed):
        rng = np.random.default_rng(seed)
        values = pd.DataFrame(rng.integers(0, 3, size=(7, 4)).astype(float))
        values.iloc[0] = 1.0  # all tied on one data set
        result = friedman(values, higher_better=True)
        reference = stats.friedmanchisquare(*values.to_numpy().T)
        assert result.chi2 == pytest.approx(reference.statistic)
        assert result.p == pytest.approx(reference.pvalue)
        # Conover (1999), sec. 5.8.
        n, k = values.shape
        f = (n - 1) * reference.statistic / (n * (k - 1) - reference.statistic)
        assert result.f == pytest.approx(f)
        p = stats.f.sf(f, k - 1, (n - 1) * (k - 1))
        assert result.p_iman_davenport == pytest.approx(p)
        assert result.n_blocks == n
        down = friedman(values, higher_better=False)
        np.testing.assert_allclose(down.ranks, k + 1 - result.ranks)

    def test_full_ties_have_p_one(self):
        result = friedman(pd.DataFrame(np.full((5, 3), 0.8)), higher_better=True)
        assert (result.chi2, result.p) == (0.0, 1.0)
        assert (result.f, result.p_iman_davenport) == (0.0, 1.0)
        assert result.ranks.tolist() == [2.0, 2.0, 2.0]

    # By enumeration: how often n random orders of the same ranks agree.
    @pytest.mark.parametrize("row", [[1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 3.0]])
    @pytest.mark.parametrize("n", [2, 3])
    def test_agreement_has_the_p_of_all_orders(self, row, n):
        result = friedman(pd.DataFrame([row] * n), higher_better=True)
        orders = list(itertools.permutations(row))
        drawn = itertools.product(orders, repeat=n)
        p = np.mean([len(set(orders)) == 1 for orders in drawn])
        assert result.f == math.inf
        assert result.p_iman_davenport == pytest.approx(p)

    def test_what_is_no_number_is_refused(self, matrix):
        matrix.index = [f"set {k}" for k in range(9)]
        matrix.loc["set 3", "c"] = math.nan
        with pytest.raises(ValueError, match="c has no value on set 3"):
            friedman(matrix, higher_better=True)

    # Demšar (2006), Table 5 (a): critical values of Nemenyi's test of 2 to 10 methods.
    def test_critical_differences_match_the_literature(self):
        printed = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
        for k, quantile in enumerate(printed, start=2):
            found = critical_difference(k, 20) / math.sqrt(k * (k + 1) / (6 * 20))
            assert found == pytest.approx(quantile, abs=0.001), k

    # With ties, all pairs and Holm's correction over the control's.
    @pytest.mark.parametrize("seed", range(4))
    def test_ties_match_scikit_posthocs(self, seed):
        rng = np.random.default_rng(seed)
        values = pd.DataFrame(rng.integers(0, 4, size=(11, 5)) + np.arange(5.0) / 2)
        values.iloc[0] = 1.0
        values = values.round()
        ranks = friedman(values, higher_better=True).ranks
        found = holm_against_control(ranks, len(values), 0)
        p = scikit_posthocs.posthoc_siegel_friedman(values.to_numpy()).to_numpy()[0, 1:]
        np.testing.assert_allclose(found["p"], p)
        np.testing.assert_allclose(found["p_holm"], multipletests(p, method="holm")[1])
        p = scikit_posthocs.posthoc_nemenyi_friedman(values.to_numpy()).to_numpy()
        difference = critical_difference(5, len(values))
        apart = np.abs(ranks.to_numpy()[:, None] - ranks.to_numpy()) > difference
        np.testing.assert_array_equal(apart, p < 0.05)

    def test_too_few_are_refused(self, matrix):
        with pytest.raises(ValueError, match="at least 2 and 3"):
            friedman(matrix[["a", "b"]], higher_better=True)
