import re

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.errors import TableError
from mtmkl_suite.statistics.score_checks import ScoresError
from mtmkl_suite.statistics.score_tables import read_matrix

NAMES = ["iris", "wine", "heart", "glass", "yeast", "vowel"]


WIDE = pd.DataFrame(
    np.random.default_rng(0).random((6, 3)).round(3), columns=["A", "B", "C"]
)
WIDE.insert(0, "dataset", NAMES)
MORE = np.array([0.01, 0.02, 0.03])  # of each method, in every repeat
LONG = pd.DataFrame(
    [
        (method, name, repeat, value + repeat * more)
        for more, method in zip(MORE, "ABC", strict=True)
        for name, value in zip(NAMES, WIDE[method], strict=True)
        for repeat in range(3)
    ],
    columns=["method", "dataset", "repeat", "score"],
)
# Accuracies on three data sets, and errors on three.
MIXED = LONG[LONG["repeat"] == 0].drop(columns="repeat")
MIXED["metric"] = np.where(MIXED["dataset"].isin(NAMES[:3]), "accuracy", "rmse")


@pytest.fixture
def read(tmp_path):
    def _read(table, name="scores.csv", index=False, **options):
        path = tmp_path / name
        table.to_csv(path, index=index)
        return read_matrix(path, **{"higher_better": True, **options})

    return _read


def changed(table, row, column, value):
    made = table.astype({column: object})
    made.loc[row, column] = value
    return made


def with_row(name):
    made = WIDE.copy()
    made.loc[6] = [name, 0.5, 0.6, 0.7]
    return made


def named(score, table=LONG):
    """Return scores of another name."""
    return table.rename(columns={"score": score})


def of_metrics(names):
    """Return scores whose methods or data sets are called like metrics."""
    return WIDE.rename(columns=names).replace({"dataset": names})


def test_wide_and_long_say_the_same(read):
    found = read(WIDE)
    expected = WIDE.set_index("dataset")
    pd.testing.assert_frame_equal(found.values, expected, check_names=False)
    assert found.remarks == []
    once = read(LONG[LONG["repeat"] == 0])
    pd.testing.assert_frame_equal(once.values, found.values, check_names=False)
    assert (once.score, once.higher_better) == ("score", True)


def test_repeats_are_averaged_and_it_is_said(read):
    found = read(LONG)
    np.testing.assert_allclose(found.values, WIDE.set_index("dataset") + MORE)
    assert "a mean over 3 scores within a data set (repeat)" in found.remarks[0]
    means = pd.DataFrame({name: each.mean() for name, each in found.repeats.items()}).T
    pd.testing.assert_frame_equal(means[list(found.values)], found.values)
    assert {len(each) for each in found.repeats.values()} == {3}
    assert not read(WIDE).repeats
    constant = read(LONG.assign(fold=1), repeats=["repeat", "fold"]).remarks
    assert "3 scores within a data set (repeat)" in constant[0]


# B lacks its last repeat on iris.
GONE = LONG.drop(LONG.query("method == 'B' and dataset == 'iris'").index[2])


def test_only_repeats_that_all_methods_have_are_averaged(read):
    found = read(GONE)
    mean_repeat = np.where(WIDE["dataset"] == "iris", 0.5, 1.0)[:, None]
    expected = WIDE.set_index("dataset") + mean_repeat * MORE
    np.testing.assert_allclose(found.values, expected)
    assert any("iris: 1 of 3" in remark for remark in found.remarks)


def test_repeats_and_seconds_are_kept(read):
    took = GONE["method"].map({"A": 1.0, "B": 2.0, "C": 4.0}) + GONE["repeat"]
    found = read(GONE.assign(seconds=took))
    # Those that some method lacks as well.
    assert [len(each) for each in found.repeats.values()] == [3] * 6
    assert found.repeats["iris"]["B"].isna().tolist() == [False, False, True]
    for name, table in found.repeats.items():
        np.testing.assert_allclose(table.dropna().mean(), found.values.loc[name])
    assert found.seconds.loc["wine"].tolist() == [2.0, 3.0, 5.0]
    assert found.seconds.loc["iris", "B"] == 2.5
    # A column that is not whole is none, and so is that of a wide table.
    assert read(GONE.assign(seconds=took.where(GONE["method"] != "A"))).seconds is None
    assert read(WIDE).seconds is None
    assert read(GONE.assign(seconds=0.0)).seconds is None


def test_a_first_column_without_a_name(read):
    """Row numbers, or else the data sets."""
    numbered = read(WIDE, index=True)
    unnamed = read(WIDE.set_index("dataset").rename_axis(None), index=True)
    for found, words in (
        (numbered, "Left out: first column, row numbers"),
        (unnamed, "The first column, without a name, is taken for dataset."),
    ):
        assert list(found.values.index) == NAMES
        assert list(found.values) == ["A", "B", "C"]
        assert words in found.remarks[0]


def test_what_was_read_is_told(read):
    found = read(changed(LONG, 3, "method", "A\u00a0"), "long.csv")
    assert found.read == (
        "Read long.csv: 54 rows, 3 methods (A, B, C), 6 data sets (iris, wine, heart, "
        "glass, yeast and 1 more), 3 repeats, score: higher is better."
    )
    assert found.remarks[0] == r"Taken as one value of method: 'A', 'A\xa0'."


def test_columns_can_be_named(read):
    names = {"method": "who", "dataset": "where", "score": "how_good"}
    renamed = LONG.rename(columns={**names, "repeat": "time"})
    found = read(renamed, **names, repeats=["time"])
    pd.testing.assert_frame_equal(found.values, read(LONG).values)
    for kind in ("dataset", "score"):
        others = {k: v for k, v in names.items() if k != kind}
        with pytest.raises(ScoresError, match=f"by --{kind}-column"):
            read(renamed, **others, repeats=["time"])


@pytest.mark.parametrize(("name", "better"), [("AUC", True), ("rmse", False)])
def test_the_direction_is_that_of_a_known_name(read, name, better):
    found = read(named(name), score=name, higher_better=None)
    assert found.higher_better is better


def test_what_lacks_scores_may_be_left_out(read):
    lacking = changed(WIDE, 1, "B", np.nan)
    fewer = read(lacking, drop_incomplete="datasets")
    assert "wine" not in fewer.values.index
    assert "Left out for missing scores: wine." in fewer.remarks
    assert list(read(lacking, drop_incomplete="methods").values) == ["A", "C"]


BOTH = pd.concat([LONG.assign(metric=name) for name in ("accuracy", "mse")])
APART = LONG[LONG["repeat"].eq(0) != LONG["method"].eq("C")]
TWICE, AGAIN = LONG.iloc[[*range(54), 4]], WIDE.iloc[[*range(6), 0]]
UNNUMBERED = LONG.drop(columns="repeat").assign(score=0.5)
NO_METHODS = "n", "N_samples", "year", "seed", "std", "p-value", "A_std", "A (SD)"
NO_DATASETS = "mean", "Avg. rank", "Total", "average accuracy", "OVERALL", "p-value"
NO_VALUES = {
    "accuracy": 1.2, "Accuracy": 120, "auc": -0.1, "f1": -1, "rmse": -999,
    "mcc": -1.5, "test_accuracy": 1.01,
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        # too little
        (WIDE[["A", "B", "C"]], {}, r"Name .* datasets by --dataset-column"),
        (WIDE.iloc[:1], {}, r"1 data set \(iris\)"),
        (WIDE[["dataset", "A"]], {}, r"1 method \(A\)"),
        (WIDE, {"higher_better": None}, "add --higher-is-better or --lower"),
        (changed(WIDE, 1, "B", np.nan), {}, "1 of 18 scores are missing: B on wine"),
        (changed(LONG, 2, "dataset", " "), {}, "line 4 has no dataset: fill in what"),
        (APART, {}, "on iris no repeat has a score of every"),
        # too much
        (TWICE, {}, "2 scores of A on wine, repeat 1: lines"),
        (UNNUMBERED, {}, "repeats need a column that numbers"),
        (LONG.assign(fold=LONG["repeat"]).drop(columns="repeat"), {},
         "They differ in fold: choose by --where fold=VALUE, or average over it"),
        (AGAIN, {}, "A on iris: lines 2, 8"),
        (with_row("Iris"), {}, r"by a number or spelling alone \(iris, Iris\)"),
        (with_row("ir-is"), {}, r"by a number or spelling alone \(iris, ir-is\)"),
        # several metrics
        (BOTH, {}, r"choose by --where metric=accuracy"),
        (BOTH, {"where": {"metric": ["auc"]}}, "column 'metric' has no value 'auc'"),
        (BOTH, {"where": {"size": ["1"]}}, "there is no column 'size'"),
        (WIDE.assign(metric=["AUC", "mse"] * 3), {}, "by --where metric=AUC"),
        (
            named("accuracy", MIXED).assign(metric="rmse"), {"score": "accuracy"},
            "'metric' says 'rmse', and the scores",
        ),
        (of_metrics({"A": "RMSE", "B": "log loss"}), {}, "stand for methods"),
        (of_metrics({"A": "svm_acc", "B": "svm_rmse"}), {}, "svm_acc and svm_rmse "),
        (of_metrics({"iris": "F1", "wine": "AUC"}), {}, "stand for data sets"),
        (
            of_metrics({"iris": "iris (acc)", "wine": "school (rmse)"}), {},
            "school .rmse. seem",
        ),
        # what is no data set and no score
        *(
            (WIDE.assign(**{k: 0.5}), {}, f"'{re.escape(k)}' is not a method by its")
            for k in NO_METHODS
        ),
        *((with_row(k), {}, f"'{k}' is not a data set by its") for k in NO_DATASETS),
        *(
            (
                named(k, changed(LONG, 7, "score", value)), {"score": k},
                f"line 9: the {k} of A on heart is",
            )
            for k, value in NO_VALUES.items()
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(read, table, options, message):
    with pytest.raises(ScoresError, match=message):
        read(table, **options)


@pytest.mark.parametrize(
    ("score", "value"), [("r2", -4.0), ("accuracy", 1 + 1e-12), ("neg_mse", -9.0)]
)
def test_these_can_be_scores(read, score, value):
    assert read(changed(WIDE, 3, "B", value), score=score).remarks == []


@pytest.mark.parametrize(
    "names",
    [("school 1", "school 2"), ("pen (10 %)", "pen (20 %)"), ("toy[n=5]", "toy[n=9]"),
     ("School 1", "school 2")],
)  # fmt: skip
def test_parts_taken_for_data_sets(read, names):
    parts = WIDE.assign(dataset=[*names, *NAMES[:4]])
    with pytest.raises(ScoresError, match="not independent, and every test"):
        read(parts)
    assert len(read(parts, independent=True).values) == 6


def test_few_constant_and_equal_ones_are_remarked(read):
    assert "4 data sets are too few" in read(WIDE.iloc[:4]).remarks[0]
    table = WIDE.assign(B=0.5, D=WIDE["A"])
    table.loc[5, ["A", "B", "C", "D"]] = 0.5
    remarks = read(table).remarks
    assert any(each.startswith("B has the same score on every") for each in remarks)
    assert any("A and D have equal scores" in each for each in remarks)
    assert any("All methods are equal on vowel" in each for each in remarks)


@pytest.mark.parametrize("column", ["metric", "Measure", "kind"])
def test_one_metric_is_compared(read, column):
    table = MIXED.rename(columns={"metric": column})
    with pytest.raises(ScoresError, match=f"by --where {column}=accuracy"):
        read(table, repeats=[column])
    found = read(table, where={column: ["rmse"]}, higher_better=None)
    assert (found.score, found.higher_better) == ("rmse", False)
    assert sorted(found.values.index) == sorted(NAMES[3:])


def test_a_wide_table_names_its_metric(read):
    found = read(WIDE.assign(metric="AUC"), higher_better=None)
    assert (found.score, list(found.values)) == ("AUC", ["A", "B", "C"])


def test_not_every_column_of_that_name_is_one_of_metrics(read):
    distances = MIXED.assign(metric=["cosine", "manhattan"] * 9)
    found = read(named("accuracy", distances), score="accuracy")
    assert found.score == "accuracy"


@pytest.mark.parametrize(
    ("score", "asked_for"),
    [
        ("rmse", True), ("RMSE (test)", True), ("valLogLoss", True),
        ("1-auc", True), ("accuracy", False), ("R²", False),
        ("neg_mean_squared_error", False),
    ],
)  # fmt: skip
def test_a_flag_against_the_name(read, score, asked_for):
    found = read(named(score), score=score, higher_better=asked_for)
    assert found.higher_better is asked_for
    assert f"as asked for, but {score!r} names a score" in found.remarks[0]
    of_name = read(named(score), score=score, higher_better=not asked_for)
    assert not any("asked for" in remark for remark in of_name.remarks)


@pytest.mark.parametrize(
    "is_percent",
    [
        LONG["dataset"].isin(NAMES[:2]), LONG["method"].eq("A"), LONG.index == 4,
        LONG["repeat"].eq(1),
    ],
)  # fmt: skip
def test_percent_beside_fractions(read, is_percent):
    scores = (0.2 + LONG["score"] / 2) * np.where(is_percent, 100, 1)
    mixed = LONG.assign(score=scores)
    assert any("Percent beside fractions" in r for r in read(mixed).remarks)
    with pytest.raises(ScoresError, match="percent beside fractions"):
        read(named("accuracy", mixed), score="accuracy")


def test_small_percentages_are_percentages(read):
    errors = WIDE.set_index("dataset").mul(10).round(1).reset_index()
    assert read(errors, score="error rate (%)", higher_better=False).remarks == []


def test_means_among_repeats(read):
    table = LONG.astype({"repeat": str}).replace({"repeat": {"2": "mean"}})
    with pytest.raises(ScoresError, match="by --where repeat=mean"):
        read(table)
    assert read(table, where={"repeat": ["mean"]}).values.shape == (6, 3)


def test_a_second_column_of_one_name_is_remarked(read):
    (remark,) = read(WIDE.assign(**{"A.1": WIDE["A"] + 0.01})).remarks
    assert remark.startswith("A and A.1 are ranked as different methods")


@pytest.mark.parametrize(
    ("cell", "sign"),
    [("0.9 ± 0.1", "±"), ("91%", "%"), ("2_1", "_"), ("0,9", ","), ("１", "１"),
     ("inf", ""), ("abc", "")],
)  # fmt: skip
def test_text_names_the_line(read, cell, sign):
    message = f"line 4: the score of C is '{cell}'"
    with pytest.raises(ScoresError, match=message) as refused:
        read(changed(WIDE, slice(2, None), "C", cell))
    assert ("is no part of a number" in str(refused.value)) is bool(sign)
    assert repr(sign) in str(refused.value) or not sign


def test_no_file(tmp_path):
    with pytest.raises(TableError, match="does not exist"):
        read_matrix(tmp_path / "nope.csv")
