import numpy as np
import pytest
from method_cases import GAUSSIAN, SQUARE, SWITCHED, Case
from model_objectives import assert_outputs, by_task, grams_of, relative_entropy

from mtmkl.kernels.gram import TrainingSet
from mtmkl.methods import med_adaptive_pooling
from mtmkl.methods.med_adaptive_pooling import MEDAdaptivePoolingClassifier


def test_relative_alpha(labelled):
    X, y, task = labelled
    cubic = {"name": "polynomial", "degree": 3}
    on, model = (
        MEDAdaptivePoolingClassifier(kernel=cubic, tol=1e-9, **alpha).fit(X, y, task)
        for alpha in ({"alpha": 0.0}, {"relative_alpha": 0.5})
    )
    own = by_task(on, task)
    q = 0.5 * np.einsum("ti,ij,tj->t", own, 3.6 * (X @ X.T + 1) ** 3, own)
    assert model.alpha_ == pytest.approx(np.expm1(0.5 * q.max()), rel=1e-4)


def test_a_scale_set_after_the_fit_changes_no_prediction(labelled):
    X, y, task = labelled
    model = MEDAdaptivePoolingClassifier().fit(X, y, task)
    expected = model.decision_function(X, task)
    model.set_params(communal_scale=7.0, specialised_scale=0.1)
    np.testing.assert_array_equal(model.decision_function(X, task), expected)


@pytest.mark.parametrize(
    "kernel",
    ["linear", {"name": "linear", "constant": 2.0}, {"name": "gaussian", "width": 0.4}],
    ids=str,
)
def test_many_examples_without_the_communal_matrix(labelled, kernel, monkeypatch):
    X, y, task = labelled
    settings = {"kernel": kernel, "alpha": 5.0, "normalize": "trace", "tol": 1e-8}
    expected = MEDAdaptivePoolingClassifier(**settings).fit(X, y, task)
    few = {"_MANY": 0, "_MANY_OF_OTHERS": 0, "_PIVOTS": 6, "_ENTRIES": 100}
    for limit, value in few.items():
        monkeypatch.setattr(med_adaptive_pooling, limit, value)
    blocks = TrainingSet.blocks

    def of_tasks_alone(training):
        assert training.sizes.size == 4
        return blocks(training)

    monkeypatch.setattr(TrainingSet, "blocks", of_tasks_alone)
    model = MEDAdaptivePoolingClassifier(**settings).fit(X, y, task)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-7)
    np.testing.assert_allclose(
        model.decision_function(X, task), expected.decision_function(X, task), atol=1e-3
    )


def penalty(model, X, task):
    (K,), s = grams_of(model, X, [model.kernel]), model.switches_
    scale = model.specialised_scale or 0.9 * (task.max() + 1)
    communal = model.communal_scale * K @ model.dual_coef_
    own = by_task(model, task)
    specialised = scale * own @ K
    assert_outputs(model, X, task, communal + s[:, None] * specialised)
    energy = model.dual_coef_ @ communal + s @ np.sum(own * specialised, axis=1)
    return relative_entropy(s, model.log_alpha_) + 0.5 * energy


CASES = {
    "MEDAdaptivePoolingClassifier": Case(
        settings={"": {"kernel": SQUARE}},
        penalty=penalty,
        variants=[{}, {"kernel": GAUSSIAN, "normalize": "trace", "standardize": True}],
        grid=SWITCHED,
    )
}
