import numpy as np
import pytest

from mtmkl_suite.data import load


@pytest.fixture(scope="module")
def school(data_mirror):
    return load("school")


def column(data, name):
    return data.X[:, data.feature_names.index(name)]


def test_names_agree_with_the_data(school):
    # A band is ranked by ability, and single-sex schools have pupils of one sex.
    scores = [school.y[column(school, f"VR band {k}") == 1].mean() for k in (1, 2, 3)]
    assert scores[0] > scores[1] > scores[2]
    assert column(school, "female")[column(school, "girls' school") == 1].all()
    assert column(school, "male")[column(school, "boys' school") == 1].mean() > 0.999
    # Share of VR-band-1 pupils found in a school, against the share on record.
    found = [column(school, "VR band 1")[school.task == t].mean() for t in range(139)]
    share = column(school, "% VR band 1")
    record = [share[school.task == t].mean() for t in range(139)]
    assert np.corrcoef(found, record)[0, 1] > 0.8


def test_the_variance_is_that_of_all_rows_of_a_school(school):
    first = school.y[school.task == 0]
    assert school.truth["variance"].shape == (139,)
    assert school.truth["variance"][0] == pytest.approx(first.var())
