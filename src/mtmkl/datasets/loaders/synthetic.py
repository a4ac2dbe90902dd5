"""Generators of synthetic multi-task data, each as its paper describes it.

Variants of one generator with the same seed are paired: the task parameters, the
relevant inputs and the noise come from one random stream, irrelevant inputs from a
second one, column after column.
"""

import zlib
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.options import checked
from mtmkl.documents import Count, NotNegative, words
from mtmkl.typing import FloatArray

N_RELEVANT = 5
"""Inputs that the targets depend on; the others are irrelevant."""

LINEAR_VARIANCES = (1.0, 0.64, 0.49, 0.36, 0.25)
NONLINEAR_VARIANCES = (0.5, 0.25, 0.1, 0.05, 0.15, 0.1, 0.15)

NOISE_SD = 0.1

_AtLeastFive = Annotated[int, Field(ge=5), words("a whole number of at least 5")]


@checked
def linear_synthetic(
    *,
    n_irrelevant: NotNegative = 0,
    n_tasks: Count = 200,
    n_train: Count = 5,
    n_test: Count = 20,
    seed: NotNegative = 0,
) -> MultiTaskData:
    r"""Draw the linear synthetic data of Argyriou et al. (2008), Section 6.1.

    .. math::

        y_{ti} = \langle w_t, x_{ti} \rangle + \vartheta, \qquad
        w_t \sim N(0, \mathrm{Diag}(1, 0.64, 0.49, 0.36, 0.25)) \text{ on the first
        five inputs, 0 on the others}

    with inputs uniform on :math:`[0, 1]^d` and noise of standard deviation 0.1.

    Parameters
    ----------
    n_irrelevant : int
        Inputs without influence, so that d = 5 + n_irrelevant (0 to 10 in the paper).
    n_tasks : int
        T (200 in the paper).
    n_train, n_test : int
        Training and test rows per task (5 and 20 in the paper).
    seed : int
        Not negative. The same seed gives the same tasks, relevant inputs and noise
        whatever ``n_irrelevant`` is.

    Returns
    -------
    MultiTaskData
        Rows sorted by task, a task's training rows first. ``truth`` holds "is_test"
        (n,), "covariance" (d, d), as above and not normalised, "coef" (d, T) and
        "relevant", the numbers of the relevant inputs.

    References
    ----------
    Argyriou, A., Evgeniou, T., & Pontil, M. (2008). Convex multi-task feature
    learning. Machine Learning, 73(3), 243-272.
    """
    relevant_rng, irrelevant_rng = _streams("linear_synthetic", seed)
    n = n_train + n_test
    coef = _normal_coef(relevant_rng, LINEAR_VARIANCES, n_tasks)
    X = relevant_rng.random((n_tasks, n, N_RELEVANT))
    noise = relevant_rng.normal(scale=NOISE_SD, size=(n_tasks, n))
    y = np.einsum("tid,dt->ti", X, coef) + noise

    d = N_RELEVANT + n_irrelevant
    covariance = np.zeros((d, d))
    covariance[np.arange(N_RELEVANT), np.arange(N_RELEVANT)] = LINEAR_VARIANCES
    return MultiTaskData(
        X=_with_irrelevant(X, n_irrelevant, irrelevant_rng),
        y=y.ravel(),
        task=np.repeat(np.arange(n_tasks), n),
        name="linear_synthetic",
        origin="synthetic",
        truth={
            "is_test": np.tile(np.arange(n) >= n_train, n_tasks),
            "covariance": covariance,
            "coef": np.vstack([coef, np.zeros((n_irrelevant, n_tasks))]),
            "relevant": np.arange(N_RELEVANT),
        },
    )


@checked
def nonlinear_synthetic(
    *,
    n_variables: _AtLeastFive = 5,
    n_tasks: Count = 200,
    n_train: Count = 20,
    n_test: Count = 20,
    seed: NotNegative = 0,
) -> MultiTaskData:
    r"""Draw the nonlinear synthetic data of Argyriou et al. (2008), Section 6.1.

    .. math::

        y_{ti} = \langle w_t, \varphi(x_{ti}) \rangle + \vartheta, \qquad
        \varphi(x) = (x_1^2, x_4^2, x_1 x_2, x_3 x_5, x_2, x_4, 1), \qquad
        w_t \sim N(0, \mathrm{Diag}(0.5, 0.25, 0.1, 0.05, 0.15, 0.1, 0.15))

    with inputs uniform on :math:`[0, 1]^d` and noise of standard deviation 0.1.

    Parameters
    ----------
    n_variables : int
        d, at least 5 (5 to 10 in the paper); those after the fifth have no influence.
    n_tasks : int
        T (200 in the paper).
    n_train, n_test : int
        Training and test rows per task (20 and 20 in the paper).
    seed : int
        Not negative. The same seed gives the same tasks, relevant inputs and noise
        whatever ``n_variables`` is.

    Returns
    -------
    MultiTaskData
        Rows sorted by task, a task's training rows first. ``truth`` holds "is_test"
        (n,); "covariance" (7, 7) and "coef" (7, T) in the coordinates of φ; and
        "relevant", the numbers of the relevant inputs.

    References
    ----------
    Argyriou, A., Evgeniou, T., & Pontil, M. (2008). Convex multi-task feature
    learning. Machine Learning, 73(3), 243-272.
    """
    n_irrelevant = n_variables - N_RELEVANT
    relevant_rng, irrelevant_rng = _streams("nonlinear_synthetic", seed)
    n = n_train + n_test
    coef = _normal_coef(relevant_rng, NONLINEAR_VARIANCES, n_tasks)
    X = relevant_rng.random((n_tasks, n, N_RELEVANT))
    noise = relevant_rng.normal(scale=NOISE_SD, size=(n_tasks, n))
    y = np.einsum("tim,mt->ti", nonlinear_features(X), coef) + noise
    return MultiTaskData(
        X=_with_irrelevant(X, n_irrelevant, irrelevant_rng),
        y=y.ravel(),
        task=np.repeat(np.arange(n_tasks), n),
        name="nonlinear_synthetic",
        origin="synthetic",
        truth={
            "is_test": np.tile(np.arange(n) >= n_train, n_tasks),
            "covariance": np.diag(NONLINEAR_VARIANCES),
            "coef": coef,
            "relevant": np.arange(N_RELEVANT),
        },
    )


def nonlinear_features(X: ArrayLike) -> FloatArray:
    r"""Map inputs to the features behind ``nonlinear_synthetic``.

    .. math::

        \varphi(x) = (x_1^2, x_4^2, x_1 x_2, x_3 x_5, x_2, x_4, 1)

    Parameters
    ----------
    X : array-like of shape (..., d)
        At least five inputs.

    Returns
    -------
    ndarray of shape (..., 7)
    """
    x1, x2, x3, x4, x5 = np.moveaxis(np.asarray(X, dtype=np.float64), -1, 0)[:5]
    return np.stack([x1**2, x4**2, x1 * x2, x3 * x5, x2, x4, np.ones_like(x1)], -1)


def _streams(name: str, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the streams of the relevant and the irrelevant part."""
    root = np.random.SeedSequence([zlib.crc32(name.encode()), seed])
    relevant, irrelevant = root.spawn(2)
    return np.random.default_rng(relevant), np.random.default_rng(irrelevant)


def _normal_coef(
    rng: np.random.Generator, variances: tuple[float, ...], n_tasks: int
) -> FloatArray:
    """Return independent N(0, Diag(variances)) columns, one per task."""
    draws = rng.standard_normal((n_tasks, len(variances)))
    return (draws * np.sqrt(variances)).T


def _with_irrelevant(
    X: FloatArray, n_irrelevant: int, rng: np.random.Generator
) -> FloatArray:
    """Return (T n, d) inputs: the relevant ones, then uniform ones."""
    n_tasks, n, _ = X.shape
    extra = [rng.random((n_tasks, n, 1)) for _ in range(n_irrelevant)]
    return np.concatenate([X, *extra], axis=2).reshape(n_tasks * n, -1)
