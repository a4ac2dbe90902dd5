import math

import numpy as np
import pytest
from ranked_tables import COMPARISON, TESTS, cell_of, context
from scipy import stats

from mtmkl_suite.report.tables.layouts import build
from mtmkl_suite.report.tables.rank_tests import TEST_COLUMNS, mean_ranks


@pytest.fixture(scope="module")
def tests():
    return build(context(), TESTS)


def test_tests_stand_beside_the_recomputed_and_the_printed(tests):
    assert tuple(tests.cells.columns) == TEST_COLUMNS
    scale = math.sqrt(3 * 4 / (6 * 2))
    cell = cell_of(tests, "test statistic, 10 %", "Alone")
    assert cell["published"] == 0.04
    assert cell["recomputed"] == pytest.approx((2.5 - 1) / scale)
    assert cell["reproduced"] == pytest.approx((2.5 - 1.5) / scale)
    p = cell_of(tests, "p value, 10 %", "Alone")["reproduced"]
    assert p == pytest.approx(2 * stats.norm.sf(1 / scale))
    levels = [
        cell_of(tests, "adjusted α, 10 %", c)["reproduced"] for c in ("Alone", "Pooled")
    ]
    assert levels == pytest.approx([0.025, 0.05])
    count = cell_of(tests, "methods dominated, 10 %", "Our Method")
    assert (count["published"], count["reproduced"]) == (2, 0)
    assert count["verdict"] == "different"
    friedman = cell_of(tests, "Friedman χ², 10 %", "reproduced")["reproduced"]
    ranks = np.array([[3, 1, 2], [2, 3, 1]])
    assert friedman == pytest.approx(stats.friedmanchisquare(*ranks.T).statistic)
    assert "Iman–Davenport F" in tests.notes[0]


def test_an_incomplete_block_has_no_mean_ranks_and_says_so():
    partial = context(without=("B",))
    assert mean_ranks(partial, COMPARISON, "10 %") is None
    tests = build(partial, TESTS)
    assert set(tests.cells.loc[tests.cells["in_paper"], "verdict"]) == {"no data"}
    assert "No data: not every method has a value on every data set" in tests.notes
