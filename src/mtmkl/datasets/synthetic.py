"""Generators of synthetic multi-task data, each as its paper describes it.

Variants of one generator with the same seed are paired: the task parameters, the
relevant features and the noise come from one random stream, irrelevant features from a
second one, column after column.
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, validate_params

from mtmkl.datasets.container import MultiTaskData
from mtmkl.typing import FloatArray

N_RELEVANT = 5
"""Inputs that the targets depend on; the others are irrelevant."""

LINEAR_VARIANCES = (1.0, 0.64, 0.49, 0.36, 0.25)
NONLINEAR_VARIANCES = (0.5, 0.25, 0.1, 0.05, 0.15, 0.1, 0.15)

NOISE_SD = 0.1

NOT_NEGATIVE = [Interval(Integral, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
SHARED = {"n_train": COUNT, "n_test": COUNT, "seed": NOT_NEGATIVE}
"""Constraints on parameters of all generators."""

validated = partial(validate_params, prefer_skip_nested_validation=True)


@validated({**SHARED, "n_irrelevant": NOT_NEGATIVE, "n_tasks": COUNT})
def linear_synthetic(
    *,
    n_irrelevant: int = 0,
    n_tasks: int = 200,
    n_train: int = 5,
    n_test: int = 20,
    seed: int = 0,
) -> MultiTaskData:
    r"""Draw the linear synthetic data of Argyriou et al. (2008), Section 6.1.

    .. math::

        y_{ti} = \langle w_t, x_{ti} \rangle + \vartheta, \qquad
        w_t \sim N(0, \mathrm{Diag}(1, 0.64, 0.49, 0.36, 0.25)) \text{ on the first
        five features, 0 on the others}

    with features uniform on :math:`[0, 1]^d` and noise of standard deviation 0.1.

    Parameters
    ----------
    n_irrelevant : int
        Inputs without influence, so that d = 5 + n_irrelevant (0 to 10 in the paper).
    n_tasks : int
        T (200 in the paper).
    n_train, n_test : int
        Training and test rows per task (5 and 20 in the paper).
    seed : int
        Not negative. The same seed gives the same tasks, relevant features and noise
        whatever ``n_irrelevant`` is.

    Returns
    -------
    MultiTaskData
        Rows sorted by task, a task's training rows first. ``truth`` holds "is_test"
        (n,), "covariance" (d, d), as above and not normalised, "coef" (d, T) and
        "relevant", the numbers of the relevant features.
    """
    data = _drawn(
        "linear_synthetic",
        LINEAR_VARIANCES,
        lambda X: X,
        counts=(n_irrelevant, n_tasks, n_train, n_test),
        seed=seed,
    )
    d = N_RELEVANT + n_irrelevant
    covariance, coef = np.zeros((d, d)), np.zeros((d, n_tasks))
    covariance[:N_RELEVANT, :N_RELEVANT] = data.truth["covariance"]
    coef[:N_RELEVANT] = data.truth["coef"]
    return replace(data, truth={**data.truth, "covariance": covariance, "coef": coef})


@validated(
    {
        **SHARED,
        "n_variables": [Interval(Integral, N_RELEVANT, None, closed="left")],
        "n_tasks": COUNT,
    }
)
def nonlinear_synthetic(
    *,
    n_variables: int = 5,
    n_tasks: int = 200,
    n_train: int = 20,
    n_test: int = 20,
    seed: int = 0,
) -> MultiTaskData:
    r"""Draw the nonlinear synthetic data of Argyriou et al. (2008), Section 6.1.

    .. math::

        y_{ti} = \langle w_t, \varphi(x_{ti}) \rangle + \vartheta, \qquad
        \varphi(x) = (x_1^2, x_4^2, x_1 x_2, x_3 x_5, x_2, x_4, 1), \qquad
        w_t \sim N(0, \mathrm{Diag}(0.5, 0.25, 0.1, 0.05, 0.15, 0.1, 0.15))

    with features uniform on :math:`[0, 1]^d` and noise of standard deviation 0.1.

    Parameters
    ----------
    n_variables : int
        d, at least 5 (5 to 10 in the paper); those after the fifth have no influence.
    n_tasks, n_train, n_test, seed : int
        As for :func:`linear_synthetic` (200 tasks of 20 and 20 rows in the paper).

    Returns
    -------
    MultiTaskData
        Rows sorted by task, a task's training rows first. ``truth`` holds "is_test"
        (n,); "covariance" (7, 7) and "coef" (7, T) in the coordinates of φ; and
        "relevant", the numbers of the relevant features.
    """
    return _drawn(
        "nonlinear_synthetic",
        NONLINEAR_VARIANCES,
        nonlinear_features,
        counts=(n_variables - N_RELEVANT, n_tasks, n_train, n_test),
        seed=seed,
    )


def nonlinear_features(X: ArrayLike) -> FloatArray:
    """Return φ(x) of :func:`nonlinear_synthetic`, (..., 7), for (..., d) features."""
    x1, x2, x3, x4, x5 = np.moveaxis(np.asarray(X, dtype=np.float64), -1, 0)[:5]
    return np.stack([x1**2, x4**2, x1 * x2, x3 * x5, x2, x4, np.ones_like(x1)], -1)


def _drawn(
    name: str,
    variances: tuple[float, ...],
    features: Callable[[FloatArray], FloatArray],
    *,
    counts: tuple[int, int, int, int],
    seed: int,
) -> MultiTaskData:
    """Draw tasks that are linear in functions of the relevant features.

    ``counts`` are those of irrelevant features, tasks, and rows for training and
    testing.
    """
    n_irrelevant, n_tasks, n_train, n_test = counts
    root = np.random.SeedSequence([zlib.crc32(name.encode()), seed])
    rng, irrelevant = (np.random.default_rng(child) for child in root.spawn(2))
    n = n_train + n_test
    draws = rng.standard_normal((n_tasks, len(variances)))
    coef = (draws * np.sqrt(variances)).T
    X = rng.random((n_tasks, n, N_RELEVANT))
    noise = rng.normal(scale=NOISE_SD, size=(n_tasks, n))
    y = np.einsum("tim,mt->ti", features(X), coef) + noise
    extra = [irrelevant.random((n_tasks, n, 1)) for _ in range(n_irrelevant)]
    return MultiTaskData(
        X=np.concatenate([X, *extra], axis=2).reshape(n_tasks * n, -1),
        y=y.ravel(),
        task=np.repeat(np.arange(n_tasks), n),
        name=name,
        origin="synthetic",
        truth={
            "is_test": np.tile(np.arange(n) >= n_train, n_tasks),
            "covariance": np.diag(variances),
            "coef": coef,
            "relevant": np.arange(N_RELEVANT),
        },
    )
