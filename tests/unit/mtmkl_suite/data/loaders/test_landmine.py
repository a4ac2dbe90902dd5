import numpy as np

from mtmkl_suite.data import load


def test_balanced_fields_have_their_mines_and_as_much_clutter(data_mirror):
    whole = load("landmine")
    data, other = (load("landmine_balanced", seed=seed) for seed in (0, 1))
    for t in range(29):
        mines = whole.X[(whole.task == t) & (whole.y > 0)]
        mine = data.task == t
        np.testing.assert_array_equal(data.X[mine & (data.y > 0)], mines)
        assert np.sum(mine & (data.y < 0)) == len(mines)
    assert not np.array_equal(data.X, other.X)
