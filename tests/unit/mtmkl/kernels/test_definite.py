import numpy as np
import pytest
from scipy.stats import ortho_group

from mtmkl.kernels import definite
from mtmkl.kernels.definite import check_definite, check_symmetric

N = 40


def matrix(least, size=1.0, rank=3):
    """Return a matrix with the eigenvalues 3, 2, 1, 0 and the least, times a size."""
    values = np.r_[np.arange(rank, 0, -1.0), np.zeros(N - rank - 1), least]
    vectors = ortho_group.rvs(N, random_state=0)
    K = size * (vectors * values) @ vectors.T
    return 0.5 * (K + K.T)


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e100])
@pytest.mark.parametrize("least", [0.0, 1e-3, -1e-12])
def test_rounding_of_a_matrix_without_full_rank_is_allowed(least, size):
    check_definite(matrix(least, size), "k")
    check_definite(np.zeros((N, N)), "k")


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e100])
@pytest.mark.parametrize("least", [-1e-8, -1e-3, -2.0])
def test_a_negative_eigenvalue_is_named(least, size):
    with pytest.raises(ValueError, match=r"kernel k on 40 .*least eigenvalue") as error:
        check_definite(matrix(least, size), "k")
    named = float(str(error.value).split("least eigenvalue is ")[1].split(",")[0])
    assert named == pytest.approx(least * size, rel=1e-2)


@pytest.mark.parametrize(("dtype", "least"), [(np.float32, -1e-3), (np.float16, -0.5)])
def test_rounding_is_that_of_the_type_of_the_matrix(dtype, least):
    rounded = matrix(0.0).astype(dtype).astype(np.float64)
    assert np.linalg.eigvalsh(rounded)[0] < -1e-8
    check_definite(rounded, "k", dtype)
    with pytest.raises(ValueError, match="least eigenvalue"):
        check_definite(rounded, "k")
    with pytest.raises(ValueError, match="least eigenvalue"):
        check_definite(matrix(least).astype(dtype).astype(np.float64), "k", dtype)


def test_a_matrix_is_factorised_once_and_again_after_a_change(monkeypatch):
    calls = []
    monkeypatch.setattr(definite, "_passed", {})
    original = definite.dpotrf
    monkeypatch.setattr(
        definite, "dpotrf", lambda *a, **k: calls.append(1) or original(*a, **k)
    )
    K = matrix(0.5)
    for _ in range(3):
        check_definite(K, "k")
    assert len(calls) == 1
    K[3, 3] = -1.0
    with pytest.raises(ValueError, match="least eigenvalue"):
        check_definite(K, "k")


def test_a_matrix_that_is_not_symmetric_is_named():
    K = matrix(1.0)
    K[0, 1] += 1e-9
    check_symmetric(K, "the matrix")
    K[0, 1] += 1e-3
    with pytest.raises(ValueError, match=r"the matrix must be symmetric.*by up to 0\."):
        check_symmetric(K, "the matrix")
