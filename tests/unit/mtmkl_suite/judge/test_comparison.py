import itertools
import math

import numpy as np
import pandas as pd
import pytest
from configured import of, paper_of
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtmkl_suite.config.models import Comparison, ComparisonRow, ReadingsTable
from mtmkl_suite.judge.comparison import (
    compare_experiments,
    compare_rankings,
    pairwise_table,
    practical_equivalence,
    ranking_matrix,
    seconds_matrix,
    values_in_pairs,
)
from mtmkl_suite.judge.overlap import Overlap


def pairs(scores, methods, **settings):
    return pairwise_table(scores, "e", "mse", methods=[*methods], **settings)


class TestTables:
    def test_every_pair_with_holm_over_the_table(self, by_methods):
        rng = np.random.default_rng(9)
        values = {m: rng.normal(k, 1, size=8) for k, m in enumerate("abc")}
        frame = pairs(by_methods(*values.values()), ["a", "b", "c", "absent"])
        couples = list(itertools.combinations("abc", 2))
        assert list(zip(frame["first"], frame["second"], strict=True)) == couples
        p = [stats.wilcoxon(values[a], values[b]).pvalue for a, b in couples]
        np.testing.assert_allclose(frame["p_wilcoxon"], p)
        adjusted = multipletests(p, method="holm")[1]
        np.testing.assert_allclose(frame["p_wilcoxon_holm"], adjusted)
        assert frame["can_reject"].all()

    def test_methods_take_part_with_all_their_tasks(self, table):
        rows = [
            {"method": "a", "repeat": r, "n_tasks": t, "value": v}
            for r in range(3)
            for t, v in ((10, 9.0), (200, 1.0 + r))
        ]
        rows += [{"method": "b", "repeat": r, "value": 2.0} for r in range(3)]
        # A point of a path was not chosen.
        walked = {"method": "a", "n_tasks": 200, "setting": '{"gamma": 1}'}
        rows += [walked | {"repeat": r, "value": 99.0} for r in range(3)]
        frame = pairs(table(rows), "ab")
        assert frame.loc[0, "mean_first"] == pytest.approx(2.0)

    # a and b share three repeats, a and c eight.
    def test_holm_is_over_the_tested_pairs(self, by_methods):
        rng = np.random.default_rng(2)
        a, b, c = (rng.normal(k, 1, size=n) for k, n in enumerate((8, 3, 8)))
        frame = pairs(by_methods(a, b, c), "abc").set_index(["first", "second"])
        p = stats.wilcoxon(a, c).pvalue
        assert frame["n"].tolist() == [3, 8, 3]
        assert frame.loc[("a", "c"), "p_wilcoxon_holm"] == pytest.approx(p)
        assert frame["p_wilcoxon_holm"].isna().tolist() == [True, False, True]
        assert frame["can_reject"].tolist() == [False, True, False]

    def test_sizes_that_one_method_lacks_do_not_count_as_shared(self, by_methods):
        few, more = np.random.default_rng(3).normal(size=(2, 2, 6))
        scores = [by_methods(*few, train_size=10), by_methods(more[0], train_size=50)]
        overlaps = {
            ("e", "d", 10): Overlap(1.0, 0.4, 0.6),
            ("e", "d", 50): Overlap(1.0, 0.1, 0.9),
        }
        frame = pairs(pd.concat(scores), "ab", overlaps=overlaps)
        assert frame.loc[0, "rho"] == pytest.approx(0.4)

    def test_a_metric_that_overflows_has_no_difference(self, by_methods):
        scores = by_methods([1.0, math.inf, 3.0], [1.0, 1.0, 1.0])
        frame = pairs(scores, "ab")
        assert frame["n"].tolist() == [2]
        assert frame["mean_difference"].tolist() == [1.0]
        assert pairs(scores, "xy").empty


PLAN = paper_of({
    "protocols": {"draws": {"kind": "given"}, "splits": {"kind": "random"},
                  "same": {"kind": "first_rows"}},
    "methods": {"a": {"class": "A"}, "b": {"class": "B"},
                "floor": {"class": "TaskMeanControl"}},
    "experiments": {
        name: {
            "protocol": protocol, "mode": mode, "metrics": ["mse", "n_features"],
            "methods": [{"method": "a"}, {"method": "b"}, {"method": "floor"}],
        }
        for name, protocol, mode in (
            ("drawn", "draws", "select"), ("split", "splits", "select"),
            ("surveyed", "same", "select"), ("walked", "draws", "path"),
        )
    },
})  # fmt: skip


class TestPlan:
    def test_units_and_correction_follow_the_protocol(self, table):
        rng = np.random.default_rng(1)
        scores = table(
            [
                {"experiment": e, "method": m, "repeat": r, "task": t,
                 "value": rng.normal()}
                for e in PLAN.experiments
                for m in ("a", "b", "floor")
                for r in range(5)
                for t in ("all", "t1", "t2", "t3", "t4", "t5", "t6")
            ]
        )  # fmt: skip
        frame = compare_experiments(
            PLAN,
            scores,
            overlaps={
                ("drawn", "d", 0): Overlap(0.0, 1 / 3, 2 / 3),
                ("split", "d", 0): Overlap(1.0, 1 / 3, 2 / 3),
                ("surveyed", "d", 0): Overlap(1.0, 1 / 3, 2 / 3, same_roles=True),
            },
            ropes={("split", "mse"): 0.1},
        ).set_index("experiment")
        assert frame.index.tolist() == ["drawn", "split", "surveyed"]
        assert frame["unit"].tolist() == ["repeat", "repeat", "task"]
        assert frame["n"].tolist() == [5, 5, 6]
        assert frame["rho"].isna().tolist() == [True, False, True]
        assert frame.loc["split", "rho"] == pytest.approx(1 / 3)
        assert frame["rope"].tolist() == [0.0, 0.1, 0.0]

    def test_regions_come_from_the_tables(self):
        config = paper_of({
            "artefacts": {
                "f": {"kind": "figure"},
                "t": {"kind": "table", "experiment": "school", "file": "t.csv",
                      "scale": 100, "tolerance": {"absolute": 0.5},
                      "columns": {"EV": {"metric": "explained_variance"}}},
                "s": {"kind": "table", "experiment": "survey", "file": "s.csv",
                      "scale": 1, "tolerance": {"relative": 0.05},
                      "columns": {"RMSE": {"metric": "rmse"}}},
                "o": ReadingsTable(
                    title="o", layout="bounds", experiments=["school"]
                ),
            }
        })  # fmt: skip
        published = {
            "t.csv": pd.DataFrame({"value": [22.7, 23.8]}),
            "s.csv": pd.DataFrame({"value": [1.0, 2.0, 4.0]}),
        }
        assert practical_equivalence(config, published) == {
            ("school", "explained_variance"): pytest.approx(0.005),
            ("survey", "rmse"): pytest.approx(0.1),
        }

    def test_named_pairs_alone_are_compared_by_their_printed_names(self, table):
        experiments = ("one", "two", "three", "four", "five")
        compared = {
            "columns": {"A": ["a", "a2"], "B": "b", "C": "c"}, "scale": 100,
            "pairs": ["A", "C"], "rope": 0.5,
            "rows": {e: {"experiment": e, "metric": "auc"} for e in experiments},
            "blocks": {"all": {}},
        }  # fmt: skip
        layouts = {"t0": "method_pairs", "t1": "method_ranks"}
        artefacts = {
            name: {"layout": layout, "comparison": compared}
            for name, layout in layouts.items()
        }
        config = paper_of({"artefacts": artefacts})
        values = {"a": 0.5, "b": 0.9, "c": 0.6}
        scores = table(
            [
                {
                    "experiment": e, "dataset": e, "metric": "auc", "value": value,
                    "method": "a2" if (e, m) == ("two", "a") else m,
                }
                for e in experiments
                for m, value in values.items()
            ]
        )  # fmt: skip
        ropes = practical_equivalence(config, {})
        assert ropes == {(e, "auc"): 0.005 for e in experiments}
        ropes["two", "auc"] = 0.02
        found = compare_rankings(config, scores, ropes=ropes)
        row = found.set_index("experiment").loc["t0, all"]
        assert (row["first"], row["second"], row["n"]) == ("A", "C", 5)
        assert row["rope"] == 0.02
        assert row["mean_difference"] == pytest.approx(-0.1)
        assert len(found) == 1

    def test_what_has_no_value_at_all_takes_no_part(self):
        gap = math.nan
        matrix = pd.DataFrame(
            {"a": [1.0, 2.0, gap], "b": [1.0, 2.0, 3.0], "c": [gap] * 3, "d": [gap] * 3}
        )
        assert values_in_pairs(matrix, ["a", "b", "c"]).to_dict("list") == {
            "a": [1.0, 2.0], "b": [1.0, 2.0],
        }  # fmt: skip


ROWS = {
    "One": {"experiment": "one", "metric": "auc"},
    "Two": {"experiment": "two", "metric": "auc", "blocks": ["late"]},
}
RANKED = of(Comparison, {
    "columns": {"A": "a", "B": "b"}, "rows": ROWS, "scale": 100,
    "blocks": {"early": {"train_size": 1}, "late": {"train_size": 2}},
})  # fmt: skip


class TestRankings:
    @pytest.fixture
    def scores(self, table):
        return table(
            [
                {
                    "experiment": e, "dataset": e, "method": m, "metric": "auc",
                    "train_size": size, "repeat": r, "value": (k + r + size) / 10,
                }
                for e in ("one", "two")
                for k, m in enumerate("ab")
                for size in (1, 2)
                for r in (0, 1)
            ]
        )  # fmt: skip

    def test_rows_columns_and_blocks_are_the_plans(self, scores):
        early = ranking_matrix(scores, RANKED, "early")
        assert early.index.tolist() == ["One"]
        assert early.loc["One"].tolist() == pytest.approx([15.0, 25.0])
        late = ranking_matrix(scores, RANKED, "late")
        assert late.index.tolist() == ["One", "Two"]
        assert late["B"].tolist() == pytest.approx([35.0, 35.0])

    def test_means_of_the_same_scores_are_equal(self, by_methods):
        columns = {"experiment": "one", "metric": "auc", "train_size": 1}
        scores = by_methods((0.1, 0.7, 0.3), (0.3, 0.7, 0.1), **columns)
        early = ranking_matrix(scores, RANKED, "early")
        assert early["A"].tolist() == early["B"].tolist()

    def test_what_was_not_run_is_missing(self, scores):
        kept = scores[(scores["experiment"] != "two") | (scores["method"] != "b")]
        late = ranking_matrix(kept, RANKED, "late")
        assert late.isna().to_numpy().tolist() == [[False, False], [False, True]]
        assert ranking_matrix(scores[:0], RANKED, "late").isna().to_numpy().all()

    def test_rows_must_be_data_sets_and_larger_values_better(self, scores):
        with pytest.raises(ValueError, match="variants of s"):
            ranking_matrix(scores.assign(dataset="s[k=1]"), RANKED, "late")
        row = of(ComparisonRow, {"experiment": "one", "metric": "mse"})
        ranked = RANKED.model_copy(update={"rows": {"One": row}})
        with pytest.raises(ValueError, match="a smaller mse is better"):
            ranking_matrix(scores, ranked, "early")

    def test_a_column_may_have_a_method_for_each_experiment(self, scores):
        of_each = scores["experiment"].map({"one": "a", "two": "b"})
        kept = scores[scores["method"] == of_each]
        columns = {"C": "c", "Either": ["a", "b"]}
        ranked = RANKED.model_copy(update={"columns": columns})
        late = ranking_matrix(kept, ranked, "late")
        assert late["Either"].tolist() == pytest.approx([25.0, 35.0])
        assert late["C"].isna().all()

    def test_seconds_are_means_over_the_same_fits(self, scores):
        scores["fit_seconds"] = scores["train_size"] * 10.0 + scores["repeat"]
        # A point of a path was not chosen.
        walked = scores.assign(setting='{"C": 1}', fit_seconds=99.0)
        late = seconds_matrix(pd.concat([scores, walked]), RANKED, "late")
        assert late.to_numpy().tolist() == [[20.5, 20.5], [20.5, 20.5]]
