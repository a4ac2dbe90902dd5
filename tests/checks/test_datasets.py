"""Properties of every registered data set that has a loader."""

import numpy as np
import pytest
from sklearn.utils.sparsefuncs import min_max_axis

from mtmkl.sparse import is_sparse, same_inputs
from mtmkl_suite.data import default_registry, load, make_splits

REGISTRY = default_registry()
OF_IMAGES = ("flowers17", "caltech101")  # their distances take minutes to compute
NAMES = [
    pytest.param(name, marks=[pytest.mark.nightly] * (name in OF_IMAGES))
    for name in REGISTRY
    if REGISTRY[name].loader is not None and not REGISTRY[name].own_files
]

KNOWN_SHAPES = {
    "school": (15362, 27, 139), "computer_survey": (3600, 14, 180),
    "dermatology": (2196, 34, 6), "digits": (17970, 62, 10),
    "digits_pairs": (2700, 61, 45), "wall_following": (2400, 24, 6),
    "statlog_vehicle": (2388, 18, 6), "segmentation": (8400, 19, 21),
    "pendigits": (18000, 16, 45), "mnist": (18000, 784, 45),
    "ocr_letters": (3189, 128, 8), "tss_bacteria": (56438, 26628, 13),
    "linear_synthetic": (5000, 5, 200), "nonlinear_synthetic": (8000, 5, 200),
    "toy_tree": (71040, 100, 32), "sarcos": (14000, 21, 7),
    "parkinsons_telemonitoring": (11750, 19, 84), "flowers17": (23120, 1, 17),
    "caltech101": (312120, 1, 102),
}  # fmt: skip

# Pixels of the margin, in the draw of images that the defaults give; of others, one.
MOST_CONSTANT_FEATURES = {"mnist": 784 // 4, "digits_pairs": 61 // 10}


# All tests of one data set run one after another: it is loaded once.
@pytest.fixture(scope="module", params=NAMES)
def data(request):
    if REGISTRY.locate(request.param) is None:
        pytest.skip(f"data set {request.param!r} is neither in a mirror nor cached")
    return load(request.param, download=False)


def protocol_of(data):
    """The protocol that the marks of the data call for."""
    protocol = {"id": "check", "repeats": 2, "folds": 3}
    if "is_validation" in data.truth:
        return {"id": "check", "repeats": 2, "kind": "given_roles"}
    if "is_test" in data.truth:
        return protocol | {"kind": "given"}
    if "train_1" in data.truth:
        return protocol | {"kind": "published"}
    if "test_block" in data.truth:
        return protocol | {"kind": "first_rows"}
    half = np.unique(data.sample).size // 2
    return protocol | {"kind": "random", "train_samples": half}


def test_shape(data):
    n, d = data.X.shape
    if data.name in KNOWN_SHAPES:
        assert (n, d, data.n_tasks) == KNOWN_SHAPES[data.name]
    assert data.task_sizes.min() >= 2
    assert data.task_sizes.sum() == n
    assert data.origin == REGISTRY[data.name].origin


def test_values(data):
    assert np.isfinite(data.X.data if is_sparse(data.X) else data.X).all()
    assert np.isfinite(data.y).all()
    for task in range(data.n_tasks):
        assert np.ptp(data.y[data.rows_of(task)]) > 0
    least, most = (
        min_max_axis(data.X, axis=0)
        if is_sparse(data.X)
        else (data.X.min(axis=0), data.X.max(axis=0))
    )
    n_constant = int((least == most).sum())
    assert n_constant <= MOST_CONSTANT_FEATURES.get(data.name, 1)


def test_outputs_and_truth_are_as_registered(data):
    entry = REGISTRY[data.name]
    is_labelled = set(np.unique(data.y)) == {-1.0, 1.0}
    assert entry.outputs == ("labels" if is_labelled else "numbers")
    assert set(entry.truth) <= set(data.truth)


def test_loading_again_gives_the_same(data):
    again = load(data.name, download=False)
    assert again.digest() == data.digest()
    assert again.task_names == data.task_names
    assert again.feature_names == data.feature_names


def test_an_example_has_the_same_inputs_in_every_task(data):
    _, first, example = np.unique(data.sample, return_index=True, return_inverse=True)
    assert same_inputs(data.X, data.X[first[example]])
    pairs = np.column_stack([data.sample, data.task])
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_splits(data):
    protocol = protocol_of(data)
    splits = make_splits(data, protocol, 0)
    assert len(splits) == 2
    n = len(data.y)
    for split in splits.values():
        roles = np.concatenate([split.train, split.validation, split.test])
        assert np.unique(roles).size == roles.size
        if protocol["kind"] == "first_rows":
            # Rows beyond the first, outside the test block, are left out.
            assert split.train.size + split.test.size == 12 * data.n_tasks
        elif "test_1" not in data.truth:
            assert np.array_equal(np.sort(roles), np.arange(n))
        assert (
            np.intersect1d(data.sample[split.train], data.sample[split.test]).size == 0
        )
        if "folds" not in protocol:
            np.testing.assert_array_equal(split.fold, 0)
            continue
        assert set(split.fold) == {0, 1, 2}
        # Tasks that share some of their samples cannot all be even to the last row.
        n_shares = set(np.unique(data.sample, return_counts=True)[1])
        spread = 1 if n_shares <= {1, data.n_tasks} else 2
        for task in range(data.n_tasks):
            folds = split.fold[data.task[split.train] == task]
            assert folds.size >= 2
            assert np.ptp(np.bincount(folds, minlength=3)) <= spread
        assert np.array_equal(np.sort(split.task_order), np.arange(data.n_tasks))
