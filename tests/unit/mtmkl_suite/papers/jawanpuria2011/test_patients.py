"""MK-MTFL on the patients of the paper."""

import numpy as np
import pytest

from mtmkl.methods import MKMTFLRegressor
from mtmkl_suite.data import load, make_split


@pytest.mark.nightly
@pytest.mark.parametrize(("p", "C"), [(6.0, 500.0), (8.67, 0.5)])
def test_gaps_close_on_kernels_of_single_features(data_mirror, p, C):
    # Correlated features, and an objective with kinks: steps become tiny long before
    # the gap does.
    data = load("parkinsons_telemonitoring")
    protocol = {"kind": "per_task", "train_sizes": [15], "repeats": 1, "folds": 3}
    split = make_split(
        data, {"id": "fifteen", **protocol}, 20081, train_size=15, repeat=0
    )
    train = data.subset(split.train)
    kernels = [{"name": "linear", "feature": "each"}]
    kernels += [
        {"name": "gaussian", "width": float(width), "feature": "each"}
        for width in np.geomspace(1e-2, 1e3, 6)
    ]
    scales = {"standardize": True, "standardize_target": True}
    method = MKMTFLRegressor(C, p, kernels=kernels, epsilon=0.1, **scales)
    method.fit(train.X, train.y, train.task)
    assert method.duality_gap_ <= method.tol
