import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.errors import TableError
from mtmkl_suite.statistics.score_checks import ScoresError
from mtmkl_suite.statistics.score_tables import read_matrix

NAMES = ["iris", "wine", "heart", "glass", "yeast", "vowel"]


@pytest.fixture
def wide():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.random((6, 3)).round(3), columns=["A", "B", "C"])
    return values.assign(dataset=NAMES)[["dataset", "A", "B", "C"]]


@pytest.fixture
def long(wide):
    rows = [
        (method, name, repeat, value + repeat * offset)
        for offset, method in ((0.01, "A"), (0.02, "B"), (0.03, "C"))
        for name, value in zip(wide["dataset"], wide[method], strict=True)
        for repeat in range(3)
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "repeat", "score"])


@pytest.fixture
def read(tmp_path):
    def _read(table, name="scores.csv", separator=",", index=False, **options):
        path = tmp_path / name
        table.to_csv(path, sep=separator, index=index)
        return read_matrix(path, **{"higher_better": True, **options})

    return _read


def test_wide_and_long_say_the_same(read, wide, long):
    found = read(wide)
    pd.testing.assert_frame_equal(
        found.values, wide.set_index("dataset"), check_names=False
    )
    assert found.remarks == []
    once = read(long[long["repeat"] == 0])
    pd.testing.assert_frame_equal(once.values, found.values, check_names=False)
    assert (once.score, once.higher_better) == ("score", True)


def test_repeats_are_averaged_and_it_is_said(read, wide, long):
    found = read(long)
    np.testing.assert_allclose(
        found.values, wide.set_index("dataset").add([0.01, 0.02, 0.03], axis=1)
    )
    assert "a mean over 3 scores within a data set (repeat)" in found.remarks[0]
    means = pd.DataFrame({name: each.mean() for name, each in found.repeats.items()}).T
    pd.testing.assert_frame_equal(means[list(found.values)], found.values)
    assert {len(each) for each in found.repeats.values()} == {3}
    assert not read(wide).repeats
    constant = read(long.assign(fold=1), repeats=["repeat", "fold"]).remarks
    assert "3 scores within a data set (repeat)" in constant[0]


def test_only_repeats_that_all_methods_have_are_averaged(read, wide, long):
    gone = long[~(long["method"].eq("B") & long["dataset"].eq("iris")
                  & long["repeat"].eq(2))]  # fmt: skip
    found = read(gone)
    expected = wide.set_index("dataset").add([0.01, 0.02, 0.03], axis=1)
    expected.loc["iris"] = (
        wide.set_index("dataset").loc["iris"].add([0.005, 0.01, 0.015])
    )
    np.testing.assert_allclose(found.values, expected)
    assert any("iris: 1 of 3" in remark for remark in found.remarks)


def test_repeats_and_seconds_are_kept(read, wide, long):
    gone = long[~(long["method"].eq("B") & long["dataset"].eq("iris")
                  & long["repeat"].eq(2))]  # fmt: skip
    took = gone["method"].map({"A": 1.0, "B": 2.0, "C": 4.0}) + gone["repeat"]
    found = read(gone.assign(seconds=took))
    # Those that some method lacks as well.
    assert [len(each) for each in found.repeats.values()] == [3] * 6
    assert found.repeats["iris"]["B"].isna().tolist() == [False, False, True]
    for name, table in found.repeats.items():
        np.testing.assert_allclose(table.dropna().mean(), found.values.loc[name])
    assert found.seconds.loc["wine"].tolist() == [2.0, 3.0, 5.0]
    assert found.seconds.loc["iris", "B"] == 2.5
    # A column that is not whole is none, and so is that of a wide table.
    assert read(gone.assign(seconds=took.where(gone["method"] != "A"))).seconds is None
    assert read(wide).seconds is None
    assert read(gone.assign(seconds=0.0)).seconds is None
    assert read(wide).repeats == {}


def test_repeats_without_any_in_common_are_refused(read, long):
    first = long["repeat"].eq(0)
    table = pd.concat([long[first & long["method"].ne("C")],
                       long[~first & long["method"].eq("C")]])  # fmt: skip
    with pytest.raises(ScoresError, match="on iris no repeat has a score of every"):
        read(table)


@pytest.mark.parametrize(
    ("name", "separator"), [("a.tsv", "\t"), ("a.csv", ";"), ("a.csv.gz", ",")]
)
def test_separators_and_compression(read, wide, name, separator):
    assert read(wide, name, separator).values.shape == (6, 3)


def test_a_first_column_without_a_name(read, wide):
    """Row numbers, or else the data sets."""
    numbered = read(wide, index=True)
    named = read(wide.set_index("dataset").rename_axis(None), index=True)
    for found, words in (
        (numbered, "Left out: first column, row numbers"),
        (named, "The first column, without a name, is taken for dataset."),
    ):
        assert list(found.values.index) == NAMES
        assert list(found.values) == ["A", "B", "C"]
        assert words in found.remarks[0]


def test_what_was_read_is_told(read, long):
    long.loc[3, "method"] = "A\u00a0"
    found = read(long, "long.csv")
    assert found.read == (
        "Read long.csv: 54 rows, 3 methods (A, B, C), 6 data sets (iris, wine, heart, "
        "glass, yeast and 1 more), 3 repeats, score: higher is better."
    )
    assert found.remarks[0] == r"Taken as one value of method: 'A', 'A\xa0'."


def test_columns_can_be_named(read, long):
    renamed = long.rename(
        columns={"method": "who", "dataset": "where", "score": "how_good",
                 "repeat": "time"}
    )  # fmt: skip
    names = {"method": "who", "dataset": "where", "score": "how_good"}
    found = read(renamed, **names, repeats=["time"])
    pd.testing.assert_frame_equal(found.values, read(long).values)
    for kind in ("dataset", "score"):
        others = {k: v for k, v in names.items() if k != kind}
        with pytest.raises(ScoresError, match=f"by --{kind}-column"):
            read(renamed, **others, repeats=["time"])


def test_conditions_choose_rows(read, long):
    table = pd.concat([long.assign(metric=m) for m in ("accuracy", "mse")])
    with pytest.raises(ScoresError, match=r"choose by --where metric=accuracy"):
        read(table)
    found = read(table, where={"metric": ["mse"]}, higher_better=None)
    assert (found.score, found.higher_better) == ("mse", False)
    with pytest.raises(ScoresError, match="column 'metric' has no value 'auc'"):
        read(table, where={"metric": ["auc"]})
    with pytest.raises(ScoresError, match="there is no column 'size'"):
        read(table, where={"size": ["1"]})


class TestDirection:
    def test_it_must_be_known(self, read, wide):
        with pytest.raises(ScoresError, match="add --higher-is-better or --lower"):
            read(wide, higher_better=None)

    @pytest.mark.parametrize(("name", "better"), [("AUC", True), ("rmse", False)])
    def test_it_is_that_of_a_known_name(self, read, long, name, better):
        table = long.rename(columns={"score": name})
        assert read(table, score=name, higher_better=None).higher_better is better


class TestVoidTests:
    def test_missing_cells(self, read, wide):
        wide.loc[1, "B"] = np.nan
        with pytest.raises(ScoresError, match="1 of 18 scores are missing: B on wine"):
            read(wide)
        fewer = read(wide, higher_better=True, drop_incomplete="datasets")
        assert "wine" not in fewer.values.index
        assert "Left out for missing scores: wine." in fewer.remarks
        narrower = read(wide, higher_better=True, drop_incomplete="methods")
        assert list(narrower.values) == ["A", "C"]

    def test_duplicates(self, read, wide, long):
        twice = pd.concat([long, long.iloc[[4]]])
        with pytest.raises(ScoresError, match="2 scores of A on wine, repeat 1: lines"):
            read(twice)
        with pytest.raises(ScoresError, match="repeats need a column that numbers"):
            read(long.drop(columns="repeat").assign(score=0.5))
        again = pd.concat([wide, wide.iloc[[0]]])
        with pytest.raises(ScoresError, match="A on iris: lines 2, 8"):
            read(again)

    @pytest.mark.parametrize(
        "names",
        [
            ["school 1", "school 2", "iris", "wine", "heart", "glass"],
            ["pen (10 %)", "pen (20 %)", "iris", "wine", "heart", "glass"],
            ["toy[n=5]", "toy[n=9]", "iris", "wine", "heart", "glass"],
            ["School 1", "school 2", "iris", "wine", "heart", "glass"],
        ],
    )
    def test_parts_taken_for_data_sets(self, read, wide, names):
        wide["dataset"] = names
        with pytest.raises(ScoresError, match="not independent, and every test"):
            read(wide)
        found = read(wide, higher_better=True, independent=True)
        assert len(found.values) == 6

    def test_rows_without_names(self, read, wide):
        with pytest.raises(ScoresError, match=r"Name .* datasets by --dataset-column"):
            read(wide[["A", "B", "C"]])

    def test_too_few(self, read, wide):
        with pytest.raises(ScoresError, match=r"1 data set \(iris\)"):
            read(wide.iloc[:1])
        with pytest.raises(ScoresError, match=r"1 method \(A\)"):
            read(wide[["dataset", "A"]])
        few = read(wide.iloc[:4])
        assert "4 data sets are too few" in few.remarks[0]

    def test_constant_and_equal_columns_are_remarked(self, read, wide):
        wide["B"] = 0.5
        wide["D"] = wide["A"]
        wide.loc[5, ["A", "B", "C", "D"]] = 0.5
        remarks = read(wide).remarks
        assert any(each.startswith("B has the same score on every") for each in remarks)
        assert any("A and D have equal scores" in each for each in remarks)
        assert any("All methods are equal on vowel" in each for each in remarks)


def _mixed(wide):
    """A long table of accuracies on three data sets, and of errors on three."""
    long = wide.melt("dataset", var_name="method", value_name="score")
    return long.assign(
        metric=np.where(long["dataset"].isin(NAMES[:3]), "accuracy", "rmse")
    )


class TestMetrics:
    @pytest.mark.parametrize("column", ["metric", "Measure", "kind"])
    def test_one_metric_is_compared(self, read, wide, column):
        table = _mixed(wide).rename(columns={"metric": column})
        with pytest.raises(ScoresError, match=f"by --where {column}=accuracy"):
            read(table, repeats=[column])
        found = read(table, where={column: ["rmse"]}, higher_better=None)
        assert (found.score, found.higher_better) == ("rmse", False)
        assert sorted(found.values.index) == sorted(NAMES[3:])

    def test_a_wide_table_names_its_metric(self, read, wide):
        found = read(wide.assign(metric="AUC"), higher_better=None)
        assert (found.score, list(found.values)) == ("AUC", ["A", "B", "C"])
        with pytest.raises(ScoresError, match="by --where metric=AUC"):
            read(wide.assign(metric=["AUC", "mse"] * 3))

    def test_column_and_metric_must_agree(self, read, wide):
        table = _mixed(wide).rename(columns={"score": "accuracy"})
        with pytest.raises(ScoresError, match="'metric' says 'rmse', and the scores"):
            read(table.assign(metric="rmse"), score="accuracy")
        # Nor is every column of that name one of metrics.
        distances = table.assign(metric=["cosine", "manhattan"] * 9)
        assert read(distances, score="accuracy").score == "accuracy"

    @pytest.mark.parametrize(
        ("names", "words"),
        [
            ({"A": "accuracy", "B": "RMSE", "C": "log loss"}, "stand for methods"),
            ({"A": "svm_acc", "B": "svm_rmse"}, "svm_acc, svm_rmse seem"),
            ({"iris": "F1", "wine": "AUC"}, "stand for data sets"),
            ({"iris": "iris (acc)", "wine": "school (rmse)"}, "school .rmse. seem"),
        ],
    )
    def test_metrics_are_no_methods_and_no_data_sets(self, read, wide, names, words):
        table = wide.rename(columns=names).replace({"dataset": names})
        with pytest.raises(ScoresError, match=words):
            read(table)

    @pytest.mark.parametrize(
        ("score", "asked_for"),
        [
            ("rmse", True), ("RMSE (test)", True), ("valLogLoss", True),
            ("1-auc", True), ("accuracy", False), ("R²", False),
            ("neg_mean_squared_error", False),
        ],
    )  # fmt: skip
    def test_a_flag_against_the_name(self, read, long, score, asked_for):
        table = long.rename(columns={"score": score})
        found = read(table, score=score, higher_better=asked_for)
        assert found.higher_better is asked_for
        assert f"as asked for, but {score!r} names a score" in found.remarks[0]
        of_name = read(table, score=score, higher_better=not asked_for)
        assert not any("asked for" in remark for remark in of_name.remarks)


class TestUnits:
    @pytest.mark.parametrize("which", ["data sets", "method", "cell", "repeats"])
    def test_percent_beside_fractions(self, read, long, which):
        is_percent = {
            "data sets": long["dataset"].isin(NAMES[:2]),
            "method": long["method"].eq("A"),
            "cell": long.index == 4,
            "repeats": long["repeat"].eq(1),
        }[which]
        mixed = long.assign(
            score=(0.2 + long["score"] / 2) * np.where(is_percent, 100, 1)
        )
        assert any("Percent beside fractions" in r for r in read(mixed).remarks)
        table = mixed.rename(columns={"score": "accuracy"})
        with pytest.raises(ScoresError, match="percent beside fractions"):
            read(table, score="accuracy")

    def test_small_percentages_are_percentages(self, read, wide):
        errors = wide.set_index("dataset").mul(10).round(1).reset_index()
        score = "error rate (%)"
        assert read(errors, score=score, higher_better=False).remarks == []

    @pytest.mark.parametrize(
        ("score", "value"),
        [
            ("accuracy", 1.2), ("Accuracy", 120), ("auc", -0.1), ("f1", -1),
            ("rmse", -999), ("mcc", -1.5), ("test_accuracy", 1.01),
        ],
    )  # fmt: skip
    def test_no_score_can_have_such_a_value(self, read, long, score, value):
        table = long.rename(columns={"score": score})
        table.loc[7, score] = value
        with pytest.raises(ScoresError, match=f"line 9: the {score} of A on heart is"):
            read(table, score=score)

    @pytest.mark.parametrize(
        ("score", "value"), [("r2", -4.0), ("accuracy", 1 + 1e-12), ("neg_mse", -9.0)]
    )
    def test_these_can_be(self, read, wide, score, value):
        wide.loc[3, "B"] = value
        assert read(wide, score=score).remarks == []


class TestSummaries:
    @pytest.mark.parametrize(
        "name", ["mean", "Avg. rank", "Total", "average accuracy", "OVERALL", "p-value"]
    )
    def test_rows_of_means_are_no_data_sets(self, read, wide, name):
        wide.loc[6] = [name, 0.5, 0.6, 0.7]
        with pytest.raises(ScoresError, match=f"'{name}' is not a data set by its"):
            read(wide)

    def test_means_among_repeats(self, read, long):
        table = long.astype({"repeat": str}).replace({"repeat": {"2": "mean"}})
        with pytest.raises(ScoresError, match="by --where repeat=mean"):
            read(table)
        assert read(table, where={"repeat": ["mean"]}).values.shape == (6, 3)


class TestColumns:
    @pytest.mark.parametrize(
        "name",
        ["n", "N_samples", "#instances", "year", "seed", "openml_id", "std", "p-value"],
    )
    def test_a_name_of_something_else_is_refused(self, read, wide, name):
        with pytest.raises(ScoresError, match=f"{name!r} is not a method by its name"):
            read(wide.assign(**{name: 0.5}))

    @pytest.mark.parametrize("name", ["A_std", "sd A", "A ±"])
    def test_spreads(self, read, wide, name):
        with pytest.raises(ScoresError, match="is the spread of 'A' by its name"):
            read(wide.assign(**{name: wide["A"] / 20}))
        # No spread is half as large as all that it belongs to.
        for values in (wide["B"] + 0.01, wide["A"] * 0.7):
            (remark,) = read(wide.assign(**{name: values})).remarks
            assert remark.startswith(f"{name} is ranked as a method")

    def test_a_column_of_the_best(self, read, wide):
        (remark,) = read(wide.assign(best=wide["A"] + 0.01)).remarks
        assert remark.startswith("best is ranked as a method")

    @pytest.mark.parametrize("name", ["a", "A_", "A.1"])
    def test_a_method_that_is_there_twice(self, read, wide, long, name):
        (remark,) = read(wide.assign(**{name: wide["A"] + 0.01})).remarks
        assert remark.endswith("are ranked as different methods: are they the same?")
        is_other = long["method"].eq("A") & long["dataset"].isin(NAMES[:2])
        table = long.assign(method=long["method"].where(~is_other, name))
        with pytest.raises(ScoresError, match="none has scores where another has"):
            read(table)

    def test_a_data_set_that_is_there_twice(self, read, wide):
        wide.loc[6] = ["Iris", 0.5, 0.6, 0.7]
        with pytest.raises(ScoresError, match="'iris' and 'Iris' differ by spaces"):
            read(wide, independent=True)


class TestBadCells:
    @pytest.mark.parametrize(
        ("cell", "sign"),
        [("0.9 ± 0.1", "±"), ("91%", "%"), ("2_1", "_"), ("0,9", ","), ("１", "１"),
         ("inf", ""), ("abc", "")],
    )  # fmt: skip
    def test_text_names_the_line(self, read, wide, cell, sign):
        table = wide.astype(object)
        table.loc[2:, "C"] = cell
        with pytest.raises(
            ScoresError, match=f"line 4: the score of C is '{cell}'"
        ) as refused:
            read(table)
        assert ("is no part of a number" in str(refused.value)) is bool(sign)
        assert repr(sign) in str(refused.value) or not sign

    def test_names(self, read, wide, long):
        with pytest.raises(TableError, match="columns 2 and 3 are both named 'A'"):
            read(wide.rename(columns={"B": "A "}))
        long.loc[2, "dataset"] = " "
        with pytest.raises(ScoresError, match="line 4 has no dataset: fill in what"):
            read(long)

    def test_no_file_and_no_rows(self, read, wide, tmp_path):
        with pytest.raises(TableError, match="does not exist"):
            read_matrix(tmp_path / "nope.csv")
        with pytest.raises(TableError, match="has no rows"):
            read(wide.iloc[:0])
        (tmp_path / "empty.csv").write_text("")
        with pytest.raises(TableError, match="not a table"):
            read_matrix(tmp_path / "empty.csv")
