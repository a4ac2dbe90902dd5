import warnings

import numpy as np
import pytest

from mtmkl.kernels.base import from_spec
from mtmkl.kernels.precomputed import ExponentialDistance, Precomputed
from mtmkl.methods import IndependentSVMClassifier


def gram(n=12, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X @ X.T


def rows(numbers):
    return np.asarray(numbers, dtype=float)[:, None]


def test_values_are_looked_up():
    _, K = gram()
    kernel = Precomputed(K).fit(rows([4, 0, 7]))
    np.testing.assert_array_equal(
        kernel(rows([4, 0]), rows([7, 0, 11])), K[np.ix_([4, 0], [7, 0, 11])]
    )
    np.testing.assert_array_equal(kernel.diagonal(rows([3, 3])), K[[3, 3], [3, 3]])


def test_the_scale_of_distances_is_the_mean_of_distinct_training_pairs():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    kernel = ExponentialDistance(D).fit(rows([0, 1, 3, 3, 0]))
    assert kernel.scale == pytest.approx((1 + 3 + 2) / 3)
    np.testing.assert_allclose(kernel(rows([5]), rows([1])), [[np.exp(-4 / 2)]])
    np.testing.assert_array_equal(kernel.diagonal(rows([5, 1])), [1.0, 1.0])


@pytest.mark.parametrize("name", ["precomputed", "exponential_distance"])
def test_a_name_waits_for_the_data(name):
    kernel = from_spec({"name": name, "matrix": "colour"})
    with pytest.raises(ValueError, match="'colour' lacks the matrix itself"):
        kernel.fit(rows([0]))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 4)), r"square, one row per sample, got shape \(3, 4\)"),
        (np.zeros((3, 3), dtype=int), "floating-point entries, got int64"),
    ],
)
def test_a_matrix_of_another_form_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Precomputed(matrix)


def test_what_is_wrong_in_the_training_part_is_named():
    _, K = gram()
    K[2, 5] += 1.0
    Precomputed(K).fit(rows([0, 1, 2]))
    with pytest.raises(ValueError, match="must be symmetric, entries differ by up to"):
        Precomputed(K).fit(rows([2, 5]))
    K[2, 5] = np.nan
    with pytest.raises(ValueError, match=r"matrix\[2, 5\] is nan"):
        Precomputed(K).fit(rows([2, 5]))
    with pytest.raises(ValueError, match="distances, at least 0, got -"):
        ExponentialDistance(-np.ones((3, 3))).fit(rows([0, 1]))


@pytest.mark.parametrize("number", [12, -1, 2.5])
def test_a_row_that_is_not_there_is_named(number):
    with pytest.raises(ValueError, match=rf"X\[1, 0\] is {number:g}, not a row"):
        Precomputed(gram()[1]).fit(rows([0, number]))


def similarity(n=40):
    """Return features, and similarities that are no inner products."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, np.tanh(1.5 * X @ X.T - 1)


def test_a_kernel_that_is_not_positive_semi_definite_is_refused():
    X, S = similarity()
    far = np.abs(np.random.default_rng(1).normal(size=S.shape))
    for kernel, K in (
        (Precomputed(S, "tanh"), S),
        (ExponentialDistance(far + far.T, "far", 1.0), np.exp(-far - far.T)),
    ):
        least = np.linalg.eigvalsh(K)[0]
        with pytest.raises(ValueError, match=rf"{kernel.label}.*{least:.3g}.*'clip'"):
            IndependentSVMClassifier(kernels=[kernel]).fit(
                rows(range(40)), np.sign(X[:, 0])
            )


@pytest.mark.parametrize("kind", ["precomputed", "exponential_distance"])
def test_clipping_is_the_projection_on_the_positive_eigenvectors(kind):
    _, S = similarity()
    K = S if kind == "precomputed" else np.exp(-np.abs(S))
    spec = {"name": kind, "matrix": S if K is S else np.abs(S), "indefinite": "clip"}
    if K is not S:
        spec["scale"] = 1.0
    train, new, every = rows(range(25)), rows(range(25, 40)), rows(range(40))
    with pytest.warns(UserWarning, match="negative eigenvalues are set to 0, which"):
        kernel = from_spec(spec).fit(train)
    values, vectors = np.linalg.eigh(K[:25, :25])
    kept = vectors[:, values > 0]
    nearest = (kept * values[values > 0]) @ kept.T
    np.testing.assert_allclose(kernel(train, train), nearest, atol=1e-9)
    cross = K[25:, :25] @ kept @ kept.T
    np.testing.assert_allclose(kernel(new, train), cross, atol=1e-6)
    whole = kernel(every, every)
    assert np.linalg.eigvalsh(whole)[0] > -1e-9 * np.linalg.norm(whole)
    np.testing.assert_allclose(kernel.diagonal(every), np.diag(whole))


def test_a_shift_adds_to_the_values_of_examples_with_themselves():
    _, S = similarity()
    train, new = rows([3, 0, 7, 9, 0]), rows([7, 30])
    used = np.unique(train).astype(int)
    least = np.linalg.eigvalsh(S[np.ix_(used, used)])[0]
    with pytest.warns(UserWarning, match=rf"{-least:.3g} is added to its diagonal"):
        kernel = Precomputed(S, indefinite="shift").fit(train)
    expected = S[np.ix_([7, 30], [3, 0, 7, 9, 0])]
    expected[0, 2] -= least
    np.testing.assert_allclose(kernel(new, train), expected)
    np.testing.assert_allclose(kernel.diagonal(new), S[[7, 30], [7, 30]] - least)


@pytest.mark.parametrize("indefinite", ["clip", "shift"])
def test_a_changed_kernel_is_certified_and_a_definite_one_is_not_changed(indefinite):
    X, S = similarity()
    y, number = np.sign(X[:, 0]), rows(range(40))
    model = IndependentSVMClassifier(
        kernels=[Precomputed(S, indefinite=indefinite)], tol=1e-8
    )
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(number[:30], y[:30])
    assert model.duality_gap_ < 1e-8
    assert np.mean(model.predict(number[30:]) == y[30:]) > 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = Precomputed(X @ X.T, indefinite=indefinite)
        assert kernel.fit(number) is kernel
    with pytest.raises(ValueError, match="'error', 'clip' or 'shift', got 'flip'"):
        Precomputed(S, indefinite="flip")


@pytest.mark.parametrize("kind", ["matrix", "label", "scale"])
def test_a_grid_tells_kernels_apart(kind):
    X, K = gram(30)
    D = np.abs(X[:, :1] - X[:, 0])
    label = "one for all" if kind == "label" else ""
    kernels = [Precomputed(K, label), Precomputed(gram(30, seed=1)[1], label)]
    if kind == "scale":
        kernels = [ExponentialDistance(D, scale=scale) for scale in (0.1, 10.0)]
    number, y = rows(range(30)), np.sign(X[:, 0])
    grid = [{"kernels": [kernel]} for kernel in kernels]
    found = [
        m.objective_ for m in IndependentSVMClassifier().fit_path(number, y, grid=grid)
    ]
    apart = [
        IndependentSVMClassifier(**point).fit(number, y).objective_ for point in grid
    ]
    np.testing.assert_allclose(found, apart, rtol=1e-5)
    assert found[0] != pytest.approx(found[1], rel=0.1)
