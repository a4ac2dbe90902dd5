import itertools

import numpy as np
import pandas as pd
import pytest
from counted_tables import N_TABLES, CountedTable

from mtmkl_suite.statistics import pairs as pair_tests
from mtmkl_suite.statistics.matrix_tests import compare_matrix
from mtmkl_suite.statistics.pairs import bayesian_signed_rank, compare_pair
from mtmkl_suite.statistics.ranks import rank_methods
from mtmkl_suite.statistics.ties import differences, scale_of, without_rounding


def test_fractions_are_compared_as_integers_are(monkeypatch):
    # Sampled, and slow.
    monkeypatch.setattr(pair_tests, "_interval", lambda *_: (np.nan, np.nan))
    monkeypatch.setattr(pair_tests, "_posterior", lambda *_: (np.nan,) * 3)
    n_parted = 0
    for seed in range(N_TABLES):
        table = CountedTable(seed)
        values = table.scores.values
        found = compare_matrix(table.scores)
        ranks = {name: float(rank) for name, rank in table.mean_ranks().items()}
        assert found.methods["mean_rank"].to_dict() == pytest.approx(ranks, rel=1e-14)
        assert found.methods["best"].to_dict() == table.best()
        if found.friedman is not None:
            assert found.friedman.ranks.to_dict() == pytest.approx(ranks, rel=1e-14)
        couples = list(itertools.combinations(found.methods.index, 2))
        adjusted = table.p_holm(couples)
        for couple, row in zip(couples, found.pairs.to_dict("records"), strict=True):
            assert (row["first"], row["second"]) == couple
            counts = tuple(row[name] for name in ("wins", "ties", "losses"))
            assert counts == table.counts(*couple)
            assert row["p_wilcoxon_holm"] == float(adjusted[couple])
            sizes = (values[couple[0]] - values[couple[1]]).abs()
            n_parted += len(set(sizes)) > len(set(map(abs, table.gains(*couple))))
    assert n_parted > N_TABLES


@pytest.mark.parametrize(
    ("numbers", "n_distinct"),
    [
        # 1 − SSE/SST of constant predictions, beside another data set's score.
        ([0.0, 2.220446049250313e-16, 0.5], 2),
        # The nearest fractions of tens of thousands of samples.
        ([25000 / 49999, 25001 / 50000, 0.9], 3),
        # One model has diverged.
        ([0.5, 0.6, -1e23], 3),
        # One by one, neighbours are ties.
        ([0.5, 0.5 + 0.7e-12, 0.5 + 1.4e-12, 1.0], 2),
        # On two sides of a border between numbers of twelve digits.
        ([0.1234567890125, 0.1234567890125 - 2e-17, 0.5], 2),
        ([1e-9 * (0.1 + 0.2 + 0.3), 1e-9 * (0.3 + 0.2 + 0.1), 1e-10], 2),
        ([np.inf, 1e300, 1.0, np.nan, 1.0], 3),
    ],
)
def test_what_is_a_tie(numbers, n_distinct):
    for order in itertools.permutations(numbers):
        row = pd.DataFrame([order])
        assert without_rounding(row).nunique(axis=1)[0] == n_distinct
        ranks = rank_methods(row, higher_better=True)
        assert ranks.nunique(axis=1)[0] == n_distinct
    if len(numbers) == 3:
        scale = scale_of(np.array(numbers))
        found, _ = differences(numbers, numbers[::-1], scale=scale)
        assert (found == 0).tolist() == [False, True, False]
        assert abs(found[0]) == abs(found[2])


def test_each_data_set_has_its_own_unit():
    # Squared errors: of prices, and of a share.
    errors = pd.DataFrame({"a": [1e10, 2e10, 1e-4], "b": [1.5e10, 2e10, 1.01e-4]})
    for scale in (1.0, 1e6):
        scaled = errors * scale
        ranks = rank_methods(scaled, higher_better=False)
        assert ranks.to_numpy().tolist() == [[1, 2], [1.5, 1.5], [1, 2]]
        found = compare_pair(scaled["a"], scaled["b"], higher_better=False)
        assert (found.wins, found.ties) == (2, 1)
    # Scores that are all small are no rounding either.
    few = np.array([1.0, 3.0, 2.0]), np.array([2.0, 1.0, 2.0])
    found = compare_pair(*(1e-14 * each for each in few), higher_better=True)
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)
    # A difference of large scores is as exact as these are.
    gain, _ = differences([1e6 + 0.1, 0.3, 0.3], [1e6, 0.2, 0.20001], scale=1e6)
    assert gain[0] == gain[1] > gain[2] > 0


def test_what_lies_on_the_border_of_the_region_is_split():
    # Of 100 samples: gains of one, the border, as floats on one side of it.
    exact = bayesian_signed_rank(np.ones(6), 1.0)
    for side, counts in ((1, [5, 7, 10, 13, 14, 16]), (-1, [6, 8, 9, 11, 12, 15])):
        first, second = np.array(counts) / 100, np.subtract(counts, 1) / 100
        assert set(np.sign(first - second - 0.01)) == {side}
        gain, rounding = differences(first, second, scale=0.99)
        assert bayesian_signed_rank(gain, 0.01, rounding=rounding) == exact


def test_a_mean_difference_that_cancels_is_zero():
    first = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    found = compare_pair(first, first[[2, 0, 1, 5, 3, 4]], higher_better=True)
    assert (found.mean_difference, found.t, found.p_t) == (0.0, 0.0, 1.0)
