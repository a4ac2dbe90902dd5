import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.data import load
from mtmkl_suite.data.loaders.own import remarks_on
from mtmkl_suite.data.scaling import fitted_inputs, fitted_targets
from mtmkl_suite.errors import TableError

COLUMNS = {"task": "school", "target": "score"}


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    numbers = {"x": rng.random(30), "z": rng.integers(0, 2, size=30)}
    school, passed = np.repeat(["b", "a", "c"], 10), np.tile(["no", "yes"], 15)
    score = {"score": rng.normal(50, 10, size=30), "passed": passed}
    return pd.DataFrame({"school": school, **numbers, **score})


@pytest.fixture
def read(tmp_path):
    def _read(table, **options):
        path = tmp_path / "own.csv"
        table.to_csv(path, index=False)
        return load(str(path), **{**COLUMNS, **options})

    return _read


def test_a_column_makes_tasks_and_another_is_the_target(read, table):
    data = read(table, ignore=["passed"])
    assert data.name == "own.csv"
    assert data.task_names == ("a", "b", "c")
    assert data.feature_names == ("x", "z", "bias")
    np.testing.assert_array_equal(data.X[:, 0], table["x"])
    np.testing.assert_array_equal(data.X[:, 2], 1.0)
    np.testing.assert_array_equal(data.y, table["score"])
    train = np.arange(0, 30, 3)
    y = fitted_targets(data, train).y
    assert y[train].mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(y * data.y[train].std() + data.y[train].mean(), data.y)
    assert [data.task_names[t] for t in data.task[[0, 10, 20]]] == ["b", "a", "c"]
    assert read(table, ignore=["passed"], bias=False).feature_names == ("x", "z")
    own = read(table.rename(columns={"z": "bias"}), ignore=["passed"])
    assert own.feature_names == ("x", "bias", "bias_")


def test_what_was_read_is_told(read, table):
    table.loc[3, "z"] = np.nan
    table["kind"] = ["none", "some", "much"] * 10
    table.loc[table.index[-1], "school"] = "d"
    data = read(table, ignore=["passed"], impute=True, one_hot=True, min_samples=6)
    low, high = table["score"][:-1].min(), table["score"][:-1].max()
    assert data.remarks == (
        "Read own.csv: 29 rows, tasks in school (a, b, c), 3 features (x, z, kind), "
        f"target score (numbers from {low:g} to {high:g}).",
        "Inputs as categories: kind (3 values).",
        "Columns that are ignored: passed.",
        "Small tasks that are left out: d.",
        "To be filled in: 1 of 30 rows lack a value, in z (1); the first is line 5.",
    )


def test_two_values_are_labels_unless_said_otherwise(read, table):
    data = read(table, target="passed", ignore=["score"])
    np.testing.assert_array_equal(data.y, np.where(table["passed"] == "yes", 1, -1))
    ten = read(table.assign(passed=np.tile([10, 9], 15)), target="passed")
    np.testing.assert_array_equal(ten.y, np.tile([1.0, -1.0], 15))
    spelled = np.resize(["1", "0", "1.0", "0e0"], 30)
    same = read(table.assign(passed=spelled), target="passed")
    np.testing.assert_array_equal(same.y, np.resize([1.0, -1.0], 30))
    assert "labels 0 and 1" in same.remarks[0]
    z = np.repeat([-1.0, 1.0], [10, 20])
    numbers = read(table.assign(z=z), target="z", ignore=["passed"], outputs="numbers")
    y = fitted_targets(numbers, np.arange(30)).y
    np.testing.assert_allclose(y, (z - z.mean()) / z.std())
    with pytest.raises(TableError, match="largest task has 8 samples, of which one is"):
        read(table[np.arange(30) % 10 < 8], ignore=["passed"])


def test_arrays(tmp_path, table):
    X = table[["x", "z"]].to_numpy()
    arrays = {"school": table["school"].to_numpy(str), "score": table["score"]}
    np.savez(tmp_path / "own.npz", X=X, **arrays)
    data = load(str(tmp_path / "own.npz"), **COLUMNS, bias=False)
    np.testing.assert_array_equal(data.X, X)
    np.savez(tmp_path / "two.npz", A=X, B=X, **arrays)
    with pytest.raises(match=r"one array of two dimensions, or as 'X'"):
        load(str(tmp_path / "two.npz"), **COLUMNS)


def test_gaps_and_categories_are_fitted_to_training_rows(read, table):
    table["x"] = np.arange(30.0)
    table.loc[[3, 25], "x"] = np.nan
    table["passed"] = ["no", "yes", "?"] * 10
    table.loc[29, "passed"] = "maybe"
    raw = read(table, impute=True, one_hot=True, unit_range=True)
    train = np.arange(20)
    data = fitted_inputs(raw, train)
    x = table["x"].to_numpy() / 19
    x[[3, 25]] = np.median(x[train[train != 3]])
    no = np.isin(table["passed"], ["no", "?"])  # "no" is the first of two as frequent
    np.testing.assert_allclose(data.X[:, 2], x)
    np.testing.assert_array_equal(data.X[:, -1], 1.0)
    np.testing.assert_array_equal(data.X[:, 0], no)
    np.testing.assert_array_equal(data.X[:, 1], table["passed"] == "yes")
    assert data.X[29, :2].sum() == 0  # not in training
    assert fitted_inputs(data, train) is data


def test_what_looks_odd_is_remarked(read, table):
    table = table.assign(school="a", passed=1, z=-1e300)
    table.loc[0, "z"] = 0
    two = table.assign(school=np.repeat(["A", "a"], 15))
    assert remarks_on(read(two))[0] == "Tasks differ by case alone: A and a."
    assert remarks_on(read(table)) == [
        "There is one task only: nothing can be shared between tasks.",
        "Values above 1e+100 in z: do they mark gaps?",
    ]


def test_all_problems_are_told_at_once(read, table):
    table["x"] = table["x"].astype(str)
    table.loc[[3, 4], "x"] = ["", "1,5"]
    table.loc[5, "score"] = np.nan
    with pytest.raises(TableError) as refused:
        read(table.iloc[:24])
    told = str(refused.value).splitlines()
    expected = [
        "own.csv has 5 problems:",
        "1 of 24 rows lack a value, in score (1); the first is line 7. Delete",
        "in x (1); the first is line 5. Fill or delete them, fill them in by -",
        "has '1,5' in line 6, and features are numbers: encode it by --one-hot",
        "column 'passed' has 'no' in line 2, and features are numbers",
        "1 of 3 tasks have fewer than 6 samples: c (4)",
    ]
    for line, words in zip(told, expected, strict=True):
        assert words in line


@pytest.mark.parametrize(
    ("name", "target", "how"),
    [
        ("Score", "score", "is named like"),
        ("score.1", "score", "is named like"),
        ("inches", "score", "says the same in each row as"),
        ("sick", "passed", "says the same in each row as"),
    ],
)
def test_copies_of_the_target_are_refused(read, table, name, target, how):
    table[name] = {
        "inches": 3 - table["score"] / 2.54,
        "sick": (table["passed"] == "no") * 2,
    }.get(name, table["z"])
    ignore = ["score" if target == "passed" else "passed"]
    with pytest.raises(TableError, match=f"{name!r} {how} the target '{target}': "):
        read(table, target=target, ignore=ignore)
    read(table, target=target, ignore=[*ignore, name])


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        # in line 5
        ({"x": "2_1"}, {}, "'x' has '2_1' in line 5, .*; '_' is no part of a number"),
        ({"x": "1,5"}, {}, r"',' is no part of a number \(decimal commas need semic"),
        ({"x": "٣"}, {}, "'٣' is no part of a number"),
        ({"x": "1e999"}, {}, "column 'x', line 5: infinite"),
        ({"x": "none"}, {}, r"lack a value, in x \(1, as 'none'\); the first is line"),
        (
            {"school": "NA"}, {},
            r"school \(1, as 'NA'\); .* If 'NA' is a value and no gap, rename it",
        ),
        ({}, {"task": "shool"}, r"unknown column \(task\) 'shool'; did you mean 'scho"),
        ({}, {"ignore": ["y"]}, r"unknown column \(ignored\) 'y' \(known: school, x"),
        ({}, {"task": "score"}, "'score' is both task and target"),
        ({}, {"min_samples": 2}, "wanted at least 6"),
        ({}, {"min_samples": 11}, "no task has 11 samples"),
    ],
)  # fmt: skip
def test_cells_and_options_that_are_refused(read, table, changes, options, words):
    for column, cell in changes.items():
        table[column] = table[column].astype(object)
        table.loc[3, column] = cell
    with pytest.raises(match=words):
        read(table, **{"ignore": ["passed"], **options})


def test_tasks_of_one_class_are_refused(read, table):
    table.loc[table["school"] == "a", "passed"] = "yes"
    labels = {"target": "passed", "ignore": ["score"]}
    with pytest.raises(match="task 'a' has one class only among 10"):
        read(table, **labels)
    for row, count in ((10, 1), (11, 2)):
        table.loc[row, "passed"] = "no"
        with pytest.raises(match=f"task 'a' has {count} of one class"):
            read(table, **labels)
    table.loc[12, "passed"] = "no"
    assert read(table, **labels).n_tasks == 3


def test_a_constant_target_is_refused(read, table):
    with pytest.raises(match="column 'score' has one value: 5"):
        read(table.assign(score=5.0), ignore=["passed"])


MODULE = """
import numpy as np
from mtmkl.datasets import MultiTaskData

def load(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return MultiTaskData(
        X=rng.random((n, 2)), y=rng.random(n), task=np.arange(n) % 2, name="anything"
    )

def table():
    return np.eye(2)
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    (tmp_path / "own_functions.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("functions")
def test_a_function_with_options():
    assert load("own_functions:load", n=12).X.shape == (12, 2)
    with pytest.raises(ValueError, match=r"option 'm' \(known: n, seed, inputs, t"):
        load("own_functions:load", m=1)
    scaled = load("own_functions:load", inputs="unit_range")
    np.testing.assert_array_equal(scaled.X.max(axis=0), 1.0)


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own_functions:nope", "has no function nope"),
        ("no_module_here:load", "must be in a folder on PYTHONPATH"),
        ("own_functions:table", "returned ndarray, wanted a mtmkl.datasets"),
    ],
)
def test_functions_that_are_refused(name, words):
    with pytest.raises(ValueError, match=words):
        load(name)
