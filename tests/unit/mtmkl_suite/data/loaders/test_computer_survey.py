import re

import numpy as np
import pytest
from scipy.io import loadmat

from mtmkl_suite.data.loaders.computer_survey import load_computer_survey
from mtmkl_suite.data.splits import make_splits


@pytest.fixture(scope="module")
def files(data_mirror):
    return {"lenk_data.mat": data_mirror / "computer_survey" / "lenk_data.mat"}


@pytest.fixture(scope="module")
def survey(files):
    return load_computer_survey(files)


def test_known_facts(survey):
    assert survey.X.shape == (3600, 14)
    assert survey.task_sizes.tolist() == [20] * 180
    assert (survey.X[:, 0] == 1).all()
    assert set(np.unique(survey.X[:, 1:])) == {-1.0, 1.0}
    assert (survey.y.min(), survey.y.max()) == (0, 10)


def test_everybody_rates_the_same_twenty_computers(survey):
    computers = np.unique(survey.X[survey.rows_of(0)], axis=0)
    assert len(computers) == 20
    for task in range(1, survey.n_tasks):
        rated = np.unique(survey.X[survey.rows_of(task)], axis=0)
        assert np.array_equal(rated, computers)


def test_rows_are_in_the_order_of_the_file(survey, files):
    stored = loadmat(files["lenk_data.mat"])
    for person in (0, 1, 179):
        rows = survey.rows_of(person)
        table = np.column_stack([survey.X, survey.y])[rows]
        assert np.array_equal(
            table[:16], stored["Traindata"][16 * person : 16 * (person + 1)]
        )
        assert np.array_equal(
            table[16:], stored["Testdata"][4 * person : 4 * (person + 1)]
        )


def test_ratings_agree_with_the_full_survey(survey, data_mirror):
    # 190 persons rated the computers of the design matrix; 180 of them are here.
    folder = data_mirror / "computer_survey"
    left_out = [14, 19, 42, 52, 69, 95, 111, 122, 138, 152]
    text = (folder / "DesignMatrix.txt").read_text()
    numbers = re.findall(r"-?\d+", text[text.index("c(") : text.index(".DIM")])
    design = np.array(numbers, dtype=float).reshape(20, 14)[:, 1:]
    ratings = np.loadtxt(folder / "LikeBuy.txt", skiprows=1, usecols=range(20))
    assert ratings.shape == (190, 20)
    ratings = np.delete(ratings, left_out, axis=0)
    for task in range(survey.n_tasks):
        found = {
            tuple(row[1:] > 0): rating
            for row, rating in zip(
                survey.X[survey.rows_of(task)],
                survey.y[survey.rows_of(task)],
                strict=True,
            )
        }
        expected = dict(
            zip((tuple(row > 0) for row in design), ratings[task], strict=True)
        )
        assert found == expected


def test_first_eight_rows_give_the_known_independent_error(survey):
    # Known independently: least squares of minimum norm, 3.82.
    protocol = {"id": "c", "kind": "first_rows", "repeats": 1, "folds": 5}
    split = make_splits(survey, protocol, 0)[8, 0]
    assert split.train.size == 180 * 8
    assert split.test.size == 180 * 4
    errors = []
    for task in range(survey.n_tasks):
        train = split.train[survey.task[split.train] == task]
        test = split.test[survey.task[split.test] == task]
        coef = np.linalg.lstsq(survey.X[train], survey.y[train], rcond=None)[0]
        residual = survey.y[test] - survey.X[test] @ coef
        errors.append(np.sqrt(np.mean(residual**2)))
    assert round(float(np.mean(errors)), 2) == 3.82
