import numpy as np
import pytest

from mtmkl_suite.papers.jawanpuria2011.variants import (
    MKLPlain,
    MKLUnscaled,
    MKLWithoutOffset,
    MKMTFLPlain,
    MKMTFLUnscaled,
    MKMTFLWithoutOffset,
    MKMTSFLPlain,
    MKMTSFLUnscaled,
    MKMTSFLWithoutOffset,
)

PLAIN = [MKLPlain, MKMTFLPlain, MKMTSFLPlain]
LINEAR = {
    "kernels": [{"name": "linear"}], "normalize": None, "epsilon": 0.01, "tol": 1e-3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "n_tasks"),
    [(each, 3) for each in (MKLWithoutOffset, MKMTFLWithoutOffset, *PLAIN)]
    # Many tasks are solved in few directions.
    + [(MKMTSFLWithoutOffset, n) for n in (3, 40)],
)
def test_models_go_through_the_origin_and_fit_what_does(method, n_tasks):
    rng = np.random.default_rng(0)
    n = 20 * n_tasks
    X, task = rng.normal(size=(n, 3)), np.arange(n) % n_tasks
    y = X @ [1.0, -2.0, 0.5] * (1 + 0.5 * (task % 3))
    model = method(1.0, **LINEAR).fit(X, y, task=task)
    np.testing.assert_allclose(model.predict(np.zeros((3, 3)), task=[0, 1, 2]), 0.0)
    np.testing.assert_allclose(model.predict(X, task=task), y, atol=0.3)
    assert model.duality_gap_ <= 1e-3
    # An offset that is wanted is not there.
    off = method(1.0, **LINEAR).fit(X, y + 1.0, task=task)
    np.testing.assert_allclose(off.predict(np.zeros((1, 3)), task=[0]), 0.0)


@pytest.mark.parametrize(
    "method", [MKLUnscaled, MKMTFLUnscaled, MKMTSFLUnscaled, *PLAIN]
)
def test_kernels_stay_as_they_are(method):
    rng = np.random.default_rng(0)
    X, task = 5.0 * rng.normal(size=(30, 2)), np.arange(30) % 2
    fitted = [
        cls(0.01, kernels=[{"name": "linear"}], tol=1e-3, **settings).fit(
            X, X[:, 0], task=task
        )
        for cls, settings in ((method, {}), (method.__base__, {"normalize": None}))
    ]
    assert fitted[0].objective_ == fitted[1].objective_
