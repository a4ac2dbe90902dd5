import re

import numpy as np
import pytest
from scipy.io import loadmat

from mtmkl_suite.data.loaders.computer_survey import load_computer_survey


@pytest.fixture(scope="module")
def files(data_mirror):
    return {"lenk_data.mat": data_mirror / "computer_survey" / "lenk_data.mat"}


@pytest.fixture(scope="module")
def survey(files):
    return load_computer_survey(files)


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
