"""Every convex method against the optimum of an interior-point solver.

A method of the registry that is not in the tables of
:mod:`mtmkl.certify.reference` fails here.
"""

import numpy as np
import pytest
from method_cases import case_of, with_objective
from sklearn.base import clone, is_classifier
from sweeps import sweep
from warned_fits import said_by_fit

from mtmkl.certify.reference import (
    PROBLEMS,
    WITHOUT_OPTIMUM,
    Judgement,
    judge,
    why_not,
)
from mtmkl.certify.solving import Optimum
from mtmkl.methods import REGISTRY
from mtmkl.methods._base.graph import GraphEstimator

SETTINGS = [
    pytest.param(method(**params), id=f"{name}, {label}".rstrip(", "))
    for name, method in sorted(REGISTRY.items())
    if method not in WITHOUT_OPTIMUM
    for label, params in case_of(name).settings.items()
]
VARIANTS = [
    pytest.param(REGISTRY[name](**params), id=f"{name}, variant {number}")
    for name, case in with_objective().items()
    if REGISTRY[name] not in WITHOUT_OPTIMUM
    for number, params in enumerate(case.variants)
    if params
]


def examples(model, scale=1.0):
    """Return features, targets or labels, and tasks, in no order.

    On another scale samples have copies, a feature is constant, a task has one class.
    """
    rng = np.random.default_rng(0)
    if isinstance(model, GraphEstimator):
        X = (rng.standard_normal((24, 4)) > 0.2).astype(float)
        X[:, 3] = np.where(X[:, 3] + X[:, 2] > 1, 1.0, X[:, 0])
        return np.tile(X, (4, 1)), 2 * X.T.ravel() - 1, np.repeat(np.arange(4), 24)
    task = rng.permutation(np.repeat(np.arange(3), 11))
    X = rng.standard_normal((task.size, 4)) + 0.4
    W = rng.standard_normal((4, 1)) + 0.6 * rng.standard_normal((4, 3))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.5 * rng.standard_normal(task.size)
    if is_classifier(model):
        y = np.where(y > np.median(y), 1.0, -1.0)
    if scale != 1.0:
        X[1::2], X[:, -1], y[task == 0] = X[:-1:2], 1.0, 1.0
    return scale * X, y, task


def judged(model, scale=1.0):
    """Fit a model; return the judgement of it, and what convergence warnings say."""
    data = examples(model, scale)
    said = said_by_fit(model, *data)
    return judge(model, *data), said


def test_every_method_has_an_optimum_or_a_reason():
    assert set(PROBLEMS) | set(WITHOUT_OPTIMUM) == set(REGISTRY.values())
    assert set(PROBLEMS).isdisjoint(WITHOUT_OPTIMUM)


@pytest.mark.parametrize("model", [*SETTINGS, *VARIANTS])
def test_the_optimum_lies_between_the_bounds(model):
    found, _ = judged(model)
    assert found.optimum.accuracy <= 1e-6
    assert found.holds
    assert found.difference <= found.gap + 1e-6


@pytest.mark.parametrize("scale", sweep([0.03], [30.0]))
@pytest.mark.parametrize("model", SETTINGS)
def test_it_does_on_other_scales_and_for_copies_and_constants(model, scale):
    assert judged(model, scale)[0].holds


@pytest.mark.parametrize("model", SETTINGS)
def test_a_gap_that_is_missed_is_said(model):
    """After one iteration, for a gap that no arithmetic reaches."""
    limits = {"tol": 1e-18, "max_iter": 1}
    limits = {k: each for k, each in limits.items() if k in model.get_params()}
    found, said = judged(clone(model).set_params(**limits))
    assert found.gap <= limits.get("tol", 1e-12) or "gap of " in said
    assert found.holds


@pytest.mark.parametrize(
    ("objective", "bound", "holds"),
    [
        (1.0, 1.0, True), (1.01, 0.99, True), (1.01, 1.005, False),
        (0.995, 0.99, False), (1.0 - 1e-8, 1.0 - 2e-8, True),
    ],
)  # fmt: skip
def test_bounds_on_one_side_do_not_hold(objective, bound, holds):
    judgement = Judgement(objective, bound, 0.0, Optimum(1.0, 1e-9))
    assert judgement.holds is holds


def test_an_unknown_method_has_no_optimum():
    assert why_not(int).startswith("int: no interior-point formulation")


def test_a_subclass_has_the_optimum_of_its_base():
    class Mine(REGISTRY["IndependentRidgeRegressor"]):
        """Named otherwise."""

    assert judged(Mine())[0].holds
    assert why_not(type("Mine", (REGISTRY["WhomClassifier"],), {})).startswith("Mine: ")


def test_targets_in_their_own_unit():
    X, y, task = examples(REGISTRY["MKMTFLRegressor"]())
    model = REGISTRY["MKMTFLRegressor"](
        C=3.0, p=4.0, standardize_target=True, kernels=["linear"]
    )
    model.fit(X, 40.0 * y + 7.0, task=task)
    assert judge(model, X, 40.0 * y + 7.0, task).holds
