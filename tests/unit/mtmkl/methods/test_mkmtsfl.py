"""MK-MTSFL as estimators."""

import numpy as np
import pytest
from method_cases import FEW_KERNELS, MIXED, Case
from method_cases import KERNELS as THREE_KERNELS
from model_objectives import root

from mtmkl.kernels import gram
from mtmkl.methods import MKMTSFLClassifier, MKMTSFLRegressor, mkmtsfl

KERNELS = ["linear", *({"name": "gaussian", "width": w} for w in (1.0, 4.0))]


def test_what_the_cut_discards_is_said(related):
    X = related[0]
    fine, coarse = (
        MKMTSFLRegressor(kernels=KERNELS, basis_tol=tol).fit(*related)
        for tol in (1e-9, 1e-1)
    )
    assert (coarse.basis_dimensions_ <= fine.basis_dimensions_).all()
    assert (fine.discarded_trace_ <= 1e-6).all()
    square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    values = np.linalg.eigvalsh(np.exp(-square / 2))
    cut = values[values <= 0.1 * values[-1]].sum() / values.sum()
    # The factorisation leaves a hundredth of the cut.
    assert coarse.discarded_trace_[1] == pytest.approx(cut, abs=1e-3)
    assert coarse.objective_ >= fine.objective_ * (1 - 1e-4)


def test_coordinates_beyond_memory_are_refused(related, monkeypatch):
    monkeypatch.setattr(mkmtsfl, "MAX_BYTES", 5000)
    with pytest.raises(gram.GramMemoryError, match="56 samples in 2 of 3 kernels"):
        MKMTSFLRegressor(kernels=KERNELS).fit(*related)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"q": 0.9}, "q must be from 1 to 2, got 0.9"),
        ({"q": 2.5}, "q must be from 1 to 2, got 2.5"),
        ({"basis_tol": 1.0}, "basis_tol must be at least 0 and below 1, got 1.0"),
    ],
)
def test_bad_parameters_are_refused(related, params, said):
    with pytest.raises(ValueError, match=said):
        MKMTSFLRegressor(**params).fit(*related)


def test_one_class_costs_nothing():
    X = np.random.default_rng(0).standard_normal((11, 1))
    method = MKMTSFLClassifier(C=1.0)
    method.fit(X, np.ones(11), np.zeros(11, dtype=int))
    assert method.objective_ == pytest.approx(0.0, abs=1e-9)
    assert method.duality_gap_ <= method.tol


def penalty(model, X, task):
    coordinates, norms = model._coordinates, []
    scales = coordinates.terms.scale
    for basis, values, scale in zip(
        coordinates.bases, model._coef, scales, strict=True
    ):
        if values is None:
            norms.append(0.0)
            continue
        if basis is not None:
            values = root(basis).T @ values
        norms.append(np.linalg.norm(values, "nuc") / np.sqrt(scale))
    return 0.5 * np.linalg.norm(norms, model.q) ** 2


SETTINGS = {
    "": {"kernels": FEW_KERNELS},
    "few": {"kernels": FEW_KERNELS, "q": 1.0, "standardize": True},
}
GRID = [{"C": C, "q": q} for C in (1.0, 1e2, 1e-3) for q in (1.5, 1.0, 1.99, 2.0)]
CASES = {
    "MKMTSFLClassifier": Case(
        settings=SETTINGS, penalty=penalty, variants=[THREE_KERNELS, MIXED], grid=GRID
    ),
    "MKMTSFLRegressor": Case(
        settings=SETTINGS,
        penalty=penalty,
        variants=[THREE_KERNELS, MIXED | {"standardize_target": True}],
        grid=GRID,
    ),
}
