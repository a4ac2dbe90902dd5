import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl.config import validate
from mtmkl.evaluation.cells import COLUMNS
from mtmkl.reporting.context import Context
from mtmkl.reporting.layouts import LAYOUTS, build
from mtmkl.reporting.ranking import RANK_COLUMNS, TEST_COLUMNS, mean_ranks
from mtmkl.statistics.comparison import compare_rankings, practical_equivalence

METHODS = {"alone": "Alone", "pooled": "Pooled", "ours": "Our Method"}
DATASETS = {"A": "set_a", "B": "set_b", "Mines": "mines"}
BLOCKS = {"10 %": {"train_size": 10}, "50 %": {"train_size": 50}}
COMPARISON = {
    "control": "Our Method",
    "scale": 100,
    "columns": {label: method for method, label in METHODS.items()},
    "rows": {
        "A": {"experiment": "set_a", "metric": "accuracy"},
        "B": {"experiment": "set_b", "metric": "accuracy"},
        "Mines": {
            "experiment": "mines", "metric": "auc", "blocks": ["50 %"],
            "readings": {"balanced accuracy": "balanced_accuracy"},
            "beside": {"accuracy": "accuracy"},
        },
    },
    "blocks": BLOCKS,
}  # fmt: skip
RANKING = {
    "kind": "table", "layout": "ranking", "title": "Ranked", "file": "table_1.csv",
    "unit": "%", "decimals": 1, "tolerance": {"absolute": 1.0},
    "rank_tolerance": {"absolute": 0.25}, "comparison": COMPARISON,
}  # fmt: skip
TESTS = {
    "kind": "table", "layout": "rank_tests", "title": "Tested", "file": "table_2.csv",
    "tolerances": {
        "test statistic": {"absolute": 0.5}, "p value": {"absolute": 0.05},
        "adjusted α": {"absolute": 0.001}, "methods dominated": {"absolute": 0.5},
    },
    "comparison": COMPARISON,
}  # fmt: skip
# Accuracy in per cent of Alone, Pooled, Our Method; the paper's and ours.
PRINTED = {
    ("A", "10 %"): (80.0, 85.0, 90.0),
    ("B", "10 %"): (70.0, 65.0, 75.0),
    ("A", "50 %"): (90.0, 91.0, 95.0),
    ("B", "50 %"): (80.0, 80.0, 85.0),
    ("Mines", "50 %"): (60.0, 62.0, 66.0),
}
OURS = PRINTED | {("A", "10 %"): (80.5, 88.0, 86.0)}
BALANCED = (50.0, 62.0, 66.0)


def published():
    rows, tests = [], []
    for (name, block), values in PRINTED.items():
        ranks = stats.rankdata(-np.array(values))
        for column, value, rank in zip(METHODS.values(), values, ranks, strict=True):
            is_uncertain = name == "Mines"
            rows.append(
                {
                    "row": f"{name}, {block}", "column": column, "value": value,
                    "sd": math.nan, "n": 20, "rank": rank,
                    "status": "ambiguous" if is_uncertain else "legible",
                    "alternative": value if is_uncertain else math.nan,
                }
            )  # fmt: skip
    blank = {"sd": math.nan, "n": 1, "status": "legible", "alternative": math.nan}
    for block in BLOCKS:
        for column in METHODS.values():
            mine = [
                row["rank"] for row in rows
                if row["row"].endswith(block) and row["column"] == column
            ]  # fmt: skip
            rows.append(
                blank
                | {
                    "row": f"mean rank, {block}", "column": column,
                    "value": np.mean(mine), "rank": math.nan,
                }
            )  # fmt: skip
        for quantity in ("test statistic", "p value", "adjusted α"):
            for column in ("Alone", "Pooled"):
                row = {"row": f"{quantity}, {block}", "column": column, "value": 0.04}
                tests.append(blank | row)
    texts = [
        blank
        | {
            "row": f"Our Method, {block}", "column": "methods dominated",
            "value": count,
        }
        for block, count in (("10 %", 2), ("50 %", 0))
    ]  # fmt: skip
    return {
        "table_1.csv": pd.DataFrame(rows),
        "table_2.csv": pd.DataFrame(tests),
        "texts.csv": pd.DataFrame(texts),
    }


def score_rows(name, block, metric, values):
    return [
        dict.fromkeys(COLUMNS, 0)
        | {
            "experiment": DATASETS[name], "dataset": DATASETS[name], "method": method,
            "metric": metric, "train_size": BLOCKS[block]["train_size"],
            "repeat": repeat, "setting": setting, "task": "all", "params": "",
            "value": (value + spread) / 100,
        }
        for method, value in zip(METHODS, values, strict=True)
        for repeat, spread in enumerate((-0.2, 0.2))
        # A point of a path must not count.
        for setting in ("", '{"C": 1}')
        if not setting or method == "ours"
    ]  # fmt: skip


def context(without=(), tier="paper"):
    rows = []
    for (name, block), values in OURS.items():
        if name in without:
            continue
        metric = COMPARISON["rows"][name]["metric"]
        rows += score_rows(name, block, metric, values)
        if name == "Mines":
            rows += score_rows(name, block, "balanced_accuracy", BALANCED)
            rows += score_rows(name, block, "accuracy", (93.0, 93.0, 94.0))
    methods = {
        method: {"label": label, "class": "X"} for method, label in METHODS.items()
    }
    return Context(
        config={
            "tier": tier,
            "methods": methods,
            "experiments": {
                name: {
                    "datasets": {"name": name},
                    "methods": [{"method": method} for method in METHODS],
                }
                for name in DATASETS.values()
            },
            "artefacts": {"table_1": RANKING, "table_2": TESTS},
        },
        scores=pd.DataFrame(rows, columns=list(COLUMNS)),
        arrays={},
        data_info={
            name: {"id": name, "status": "ok", "origin": "original"}
            for name in DATASETS.values()
        },
        published=published(),
    )


@pytest.fixture(scope="module")
def ranking():
    return build(context(), RANKING)


@pytest.fixture(scope="module")
def tests():
    return build(context(), TESTS)


def cell_of(table, row, column):
    return table.cells.set_index(["row", "column"]).loc[row, column]


def lines_of(table, block, name):
    """Return the lines of a row by their kind."""
    found, inside = {}, False
    for line in table.body():
        if line[0]:
            inside = (line[0], line[1]) == (block, name)
        if inside:
            found[line[2]] = list(line[3:])
    return found


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
    lines = lines_of(ranking, "50 %", "Mines")
    assert lines["ours, balanced accuracy"][0] == "50.0 ± 0.3"
    assert lines["ours, accuracy †"][2] == "94.0 ± 0.3"
    assert "ranks are by auc" in " ".join(ranking.notes())


def test_a_row_takes_part_in_its_blocks_only(ranking):
    assert lines_of(ranking, "10 %", "Mines") == {}
    assert not (ranking.cells["row"] == "Mines, 10 %").any()


def test_lines_show_number_spread_and_rank(ranking):
    lines = lines_of(ranking, "10 %", "A")
    assert lines["published"] == ["80.0 (3)", "85.0 (2)", "90.0 (1)"]
    assert lines["ours"][1] == "88.0 ± 0.3 (1)"
    assert lines["verdict"] == ["reproduced", "different", "different"]
    assert all(len(line) == len(ranking.header()) for line in ranking.body())


def test_mean_ranks_are_judged(ranking):
    lines = lines_of(ranking, "10 %", "mean rank")
    assert lines["published"] == ["2.5", "2.5", "1"]
    assert lines["of the published accuracies"] == ["2.50", "2.50", "1.00"]
    assert lines["ours"] == ["2.50", "2.00", "1.50"]
    assert lines["verdict"] == ["reproduced", "close", "close"]
    assert cell_of(ranking, "mean rank, 10 %", "Alone")["unit"] == "rank"


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
    assert "Iman–Davenport F" in tests.notes()[0]


def test_an_incomplete_block_has_no_mean_ranks_and_says_so():
    partial = context(without=("B",))
    assert mean_ranks(partial, COMPARISON, "10 %") is None
    ranking = build(partial, RANKING)
    assert lines_of(ranking, "10 %", "B")["ours"] == ["no data"] * 3
    assert lines_of(ranking, "10 %", "mean rank")["ours"] == ["no data"] * 3
    assert cell_of(ranking, "A, 10 %", "Alone")["reproduced_rank"] == 3
    assert cell_of(ranking, "mean rank, 10 %", "Alone")["verdict"] == "no data"
    tests = build(partial, TESTS)
    assert set(tests.cells.loc[tests.cells["in_paper"], "verdict"]) == {"no data"}
    assert "No data: not every method has a value on every data set" in tests.notes()


@pytest.mark.parametrize("artefact", [RANKING, TESTS])
def test_the_quick_tier_shows_both_numbers_without_a_verdict(artefact):
    table = build(context(tier="quick"), artefact)
    full = build(context(), artefact)
    printed = table.cells[table.cells["in_paper"]]
    assert set(printed["verdict"]) == {"not judged (quick)"}
    assert not printed["rule"].str.contains("readings").any()
    pd.testing.assert_frame_equal(
        table.cells.drop(columns=["verdict", "rule"]),
        full.cells.drop(columns=["verdict", "rule"]),
    )
    assert [line for line in full.body() if line[2] != "verdict"] == list(table.body())
    notes = " ".join(table.notes())
    assert "Not judged (quick): repeats, grid or data are reduced" in notes
    assert "tol" not in notes
    assert "weaker" not in notes
    assert notes.count("what the printed number measures is uncertain") == (
        artefact is RANKING
    )


@pytest.mark.parametrize("artefact", [RANKING, TESTS])
def test_files_in_every_format(artefact):
    table = build(context(), artefact)
    assert "| published | " in table.markdown()
    assert table.latex().count(r"\\") == len(table.body()) + 1


def test_a_number_that_is_not_printed_is_an_error():
    missing = context()
    cut = missing.published["table_1.csv"].iloc[1:]
    broken = Context(
        config=missing.config, scores=missing.scores, arrays={}, data_info={},
        published={**missing.published, "table_1.csv": cut},
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"no row 'A, 10 %', 'Alone'"):
        build(broken, RANKING)


def test_layouts_are_those_of_the_schema():
    document = {"artefacts": {"table_1": RANKING, "table_2": TESTS}}
    validate(document, "artefacts", source="here")
    assert set(LAYOUTS) == {"cells", "ranking", "rank_tests"}


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
