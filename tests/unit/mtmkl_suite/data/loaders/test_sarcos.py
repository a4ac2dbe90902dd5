from mtmkl_suite.data import load


def test_content_is_that_of_the_published_record(data_mirror):
    data = load("sarcos", n_per_task=300, seed=4)
    assert data.task_sizes.tolist() == [300] * 7
    assert data.digest() == "4c6f03da0290278a"
