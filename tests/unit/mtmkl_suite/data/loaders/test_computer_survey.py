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
