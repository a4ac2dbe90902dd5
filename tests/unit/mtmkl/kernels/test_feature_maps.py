"""Features of linear kernels; both solvers of multi-task MKL agree on them."""

import numpy as np
from scipy.sparse import csr_array

from mtmkl.kernels.base import Linear
from mtmkl.kernels.feature_maps import feature_map


def test_the_inputs_are_not_copied_where_they_are_the_features():
    for inputs in (np.eye(3), csr_array(np.eye(3))):
        assert feature_map(Linear(), inputs) is inputs
