import numpy as np
import pytest

from mtmkl_suite.papers.jawanpuria2011 import variants

PLAIN = [variants.MKLPlain, variants.MKMTFLPlain, variants.MKMTSFLPlain]
UNSCALED = [variants.MKLUnscaled, variants.MKMTFLUnscaled, variants.MKMTSFLUnscaled]
LINEAR = {
    "kernels": [{"name": "linear"}], "normalize": None, "epsilon": 0.01, "tol": 1e-3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "n_tasks"),
    [
        (variants.MKLWithoutOffset, 3),
        (variants.MKMTFLWithoutOffset, 3),
        (variants.MKMTSFLWithoutOffset, 3),
        (variants.MKMTSFLWithoutOffset, 40),  # solved in few directions
        *((each, 3) for each in PLAIN),
    ],
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


@pytest.mark.parametrize("method", [*UNSCALED, *PLAIN])
def test_kernels_stay_as_they_are(method):
    rng = np.random.default_rng(0)
    X, task = 5.0 * rng.normal(size=(30, 2)), np.arange(30) % 2
    linear = {"kernels": [{"name": "linear"}], "tol": 1e-3}
    both = method(0.01, **linear), method.__base__(0.01, normalize=None, **linear)
    first, second = (each.fit(X, X[:, 0], task=task).objective_ for each in both)
    assert first == second
