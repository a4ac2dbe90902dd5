import math

import numpy as np
import pandas as pd
import pytest
from ranked_tables import (
    COMPARISON,
    METHODS,
    RANKING,
    TESTS,
    cell_of,
    cells_of,
    context,
)
from scipy import stats

from mtmkl_suite.judge.comparison import compare_rankings, practical_equivalence
from mtmkl_suite.report.artefacts import build
from mtmkl_suite.report.tables.ranking import (
    RANK_COLUMNS,
    TEST_COLUMNS,
    count_dominated,
    mean_ranks,
    rank_tests,
)
from mtmkl_suite.statistics.ranks import friedman


@pytest.fixture(scope="module")
def ranking():
    return build(context(), RANKING)


def test_cells_hold_both_numbers_and_both_ranks(ranking):
    assert tuple(ranking.cells.columns) == RANK_COLUMNS
    cell = cell_of(ranking, "A, 10 %", "Our Method")
    assert cell["published"] == 90.0
    assert cell["reproduced"] == pytest.approx(86.0)
    assert cell["reproduced_sd"] == pytest.approx(0.2 * math.sqrt(2))
    assert cell["n"] == 2  # the points of paths are left out
    assert (cell["published_rank"], cell["reproduced_rank"]) == (1, 2)
    assert cell["verdict"] == "different"
    assert cell["in_paper"]
    assert cell_of(ranking, "A, 10 %", "Alone")["verdict"] == "reproduced"


def test_equal_means_share_their_ranks(ranking):
    tied = [cell_of(ranking, "B, 50 %", c)["reproduced_rank"] for c in METHODS.values()]
    assert tied == [2.5, 2.5, 1]


def test_an_uncertain_metric_gets_the_weaker_verdict_and_is_one_cell(ranking):
    for column, auc, balanced in (("Alone", 60, 50), ("Pooled", 62, 62)):
        cell = cell_of(ranking, "Mines, 50 %", column)
        assert cell["reproduced"] == pytest.approx(auc)
        assert cell["status"] == "ambiguous"
        assert cell["verdict"] == ("different" if auc != balanced else "reproduced")
        assert "Mines (balanced accuracy): |difference|" in cell["rule"]
        assert "weaker of two readings: Mines: |difference|" in cell["rule"]
    printed = ranking.cells[ranking.cells["in_paper"]]
    assert (printed["row"] == "Mines, 50 %").sum() == 3
    assert not printed["row"].str.contains("accuracy").any()
    cells = cells_of(ranking, "50 %", "Mines")
    assert cells[0][2] == "balanced accuracy: 50.0 ± 0.3"
    assert cells[2][3] == "accuracy †: 94.0 ± 0.3"
    assert "ranks are by AUC" in " ".join(ranking.notes)


def test_a_row_takes_part_in_its_blocks_only(ranking):
    assert cells_of(ranking, "10 %", "Mines") == []
    assert not (ranking.cells["row"] == "Mines, 10 %").any()


def test_cells_show_number_spread_and_rank(ranking):
    cells = cells_of(ranking, "10 %", "A")
    assert [lines[0] for lines in cells] == ["80.0 (3)", "85.0 (2)", "90.0 (1)"]
    assert cells[1][1] == "88.0 ± 0.3 (1) ✗"
    assert [lines[1][-1] for lines in cells] == ["✓", "✗", "✗"]
    assert all(len(line) == len(ranking.header) for line in ranking.body)


def test_mean_ranks_are_judged(ranking):
    assert cells_of(ranking, "10 %", "mean rank") == [
        ["2.5", "recomputed: 2.50", "2.50 ✓"],
        ["2.5", "recomputed: 2.50", "2.00 ≈"],
        ["1", "recomputed: 1.00", "1.50 ≈"],
    ]
    assert cell_of(ranking, "mean rank, 10 %", "Alone")["unit"] == "rank"


def test_an_incomplete_block_has_no_mean_ranks_and_says_so():
    partial = context(without=("B",))
    ranking = build(partial, RANKING)
    for name in ("B", "mean rank"):
        cells = cells_of(ranking, "10 %", name)
        assert [lines[-1] for lines in cells] == ["no data"] * 3
    assert cell_of(ranking, "A, 10 %", "Alone")["reproduced_rank"] == 3
    assert cell_of(ranking, "mean rank, 10 %", "Alone")["verdict"] == "no data"


def test_pairs_over_data_sets_follow_the_ranking():
    made_up = context()
    ropes = practical_equivalence(made_up.config, made_up.published)
    assert ropes["set_a", "accuracy"] == ropes["mines", "auc"] == 0.01
    pairs = compare_rankings(made_up.config, made_up.scores, ropes=ropes)
    assert list(pairs["experiment"].unique()) == ["table_1, 10 %", "table_1, 50 %"]
    assert set(pairs["unit"]) == {"data set"}
    assert list(pairs["n"]) == [2] * 3 + [3] * 3
    first = pairs.iloc[0]
    assert (first["first"], first["second"]) == ("alone", "pooled")
    assert first["mean_difference"] == pytest.approx((80.5 - 88 + 70 - 65) / 200)
    assert pairs["rope"].isna().all()  # fewer than five data sets
    assert not pairs["can_reject"].any()
    assert compare_rankings(made_up.config, made_up.scores[:0], ropes=ropes).empty


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


def test_methods_ahead_of_the_control_are_not_dominated():
    values = pd.DataFrame({"a": [0.5] * 20, "worst": 0.1, "best": 0.9})
    over_all = friedman(values, higher_better=True)
    of_best = rank_tests(over_all, "best")
    assert count_dominated(of_best) == 2
    # The smallest p has the smallest level, wherever its method stands.
    assert of_best["adjusted α"].to_dict() == {"a": 0.05, "worst": 0.025}
    of_worst = rank_tests(over_all, "worst")
    assert (of_worst["p_holm"] < 0.05).all()
    assert count_dominated(of_worst) == 0


def test_an_incomplete_block_has_no_tests_and_says_so():
    partial = context(without=("B",))
    assert mean_ranks(partial, COMPARISON, "10 %") is None
    tests = build(partial, TESTS)
    assert set(tests.cells.loc[tests.cells["in_paper"], "verdict"]) == {"no data"}
    assert "No data: not every method has a value on every data set" in tests.notes
