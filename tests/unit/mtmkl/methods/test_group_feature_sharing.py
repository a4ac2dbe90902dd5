from itertools import combinations

import numpy as np
from method_cases import COSTS, FEW_KERNELS, MIXED, Case
from method_cases import KERNELS as THREE_KERNELS
from model_objectives import forms
from warned_fits import said_by_fit

from mtmkl.methods.group_feature_sharing import GroupFeatureSharingClassifier


def test_ten_kernels_by_default(labelled):
    model = GroupFeatureSharingClassifier()
    assert said_by_fit(model, *labelled) == ""
    assert model.weights_.shape == (4, 10)
    assert model.kernel_names_[0] == "Linear(constant=0.0)"
    assert model.kernel_names_[-1] == "Gaussian(width=128.0, median_factor=None)"
    assert 0 <= model.duality_gap_ <= 1e-4


def penalty(model, X, task):
    theta = model.weights_
    assert (theta >= 0).all()
    pairs = combinations(theta, 2)
    coupling = sum(np.linalg.norm(one - other) for one, other in pairs)
    sizes = np.maximum(theta.sum(axis=1, keepdims=True), 1.0)
    energy = 0.5 * np.sum(sizes * theta * forms(model, X, task, theta))
    return energy + getattr(model, "lam", 0.0) * coupling


ALONE = Case(penalty=penalty, variants=[THREE_KERNELS, MIXED], grid=COSTS)
CASES = {
    "GroupFeatureSharingClassifier": Case(
        settings={"": {}, "kernels": MIXED | {"kernels": FEW_KERNELS}},
        penalty=penalty,
        variants=[THREE_KERNELS, MIXED],
        grid=[
            {"C": C, "lam": lam} for C in (1.0, 1e3, 1e-2) for lam in (0.3, 0.0, 20.0)
        ],
    ),
    "SharedMKLClassifier": ALONE,
    "SingleTaskMKLClassifier": ALONE,
    "SingleTaskMKLRegressor": ALONE,
}
