"""A support vector classifier on its kernel matrix, by :mod:`mtmkl.solvers.svm.smo`.

The tolerance is the largest violation of the optimality conditions, in the units of
the decision function. What it leaves of the duality gap grows with C: where C times
the number of examples is large, a violation of 1e-3 can be a relative gap above 10 %.
Hence the default of 1e-6, which costs little more than 1e-3, and the certificate that
each answer carries. Many tasks at once, along paths and to a duality gap, are solved
by :mod:`mtmkl.solvers.svm.task_duals`.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.solvers.svm import smo
from mtmkl.typing import FloatArray

_GRAM_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


def svc(
    K: ArrayLike,
    y: ArrayLike,
    *,
    C: float = 1.0,
    fit_intercept: bool = True,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
) -> Solution:
    """Train a support vector classifier on its kernel matrix.

    With f = Kβ, minimises ``½ β'Kβ + C Σ_i max(0, 1 − y_i (f_i + b))``, by its dual
    ``max Σ_i α_i − ½ β'Kβ`` over 0 ≤ α ≤ C, β_i = y_i α_i, and Σ β_i = 0 if there is
    an intercept b.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric, positive semi-definite up to rounding; float64 or float32 (stored
        so, computed with in float64). C-contiguous matrices are not copied.
    y : array-like of shape (n,)
        ±1. One class alone has the solution β = 0 and its label as intercept.
    C : float
        Positive; finite.
    fit_intercept : bool
    start : array-like of shape (n,), optional
        Signed coefficients β to begin at, as of a neighbouring problem; made feasible
        first.
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Most steps. Beyond, and where rounding errors are larger than `tol`, a
        `ConvergenceWarning` and the status "stopped".

    Returns
    -------
    Solution
        ``coef`` is β, so that the decision is ``K(x, ·) @ coef + intercept``;
        ``dual`` is α; ``intercept`` has shape (1,) or is None; ``extra["violation"]``.

    Raises
    ------
    ValueError
        If shapes disagree or a value is outside its range.
    """
    labels, lower, upper = _labels(y)
    matrix = _gram(K)
    n = labels.size
    if matrix.shape != (n, n):
        raise ValueError(f"the matrix has shape {matrix.shape}, the vector {(n,)}")
    if n == 0:
        raise ValueError("there is no example")
    if not 0.0 < C < np.inf:
        raise ValueError(f"C must be positive and finite, got {C!r}")
    if not tol > 0.0:
        raise ValueError(f"tol must be positive, got {tol!r}")
    if max_iter < 0:
        raise ValueError(f"max_iter must be at least 0, got {max_iter!r}")
    begin = labels if start is None else _start(start, n)
    beta, statistics = np.empty(n), np.empty(smo.N_STATISTICS)
    status = smo.FINISHED
    while True:
        status = smo.solve_box(
            matrix,
            labels,
            lower,
            upper,
            bool(fit_intercept),
            float(C),
            begin,
            start is not None,
            float(tol),
            int(max_iter),
            beta,
            statistics,
            status,
        )
        if status != smo.UNFINISHED:
            break
        # Back in Python, an interrupt is seen.
    if status == smo.NOT_FINITE:
        raise ValueError("the kernel matrix has entries that are not finite")
    return _solution(beta, statistics, fit_intercept, tol, max_iter)


def _solution(
    beta: FloatArray,
    statistics: FloatArray,
    equality: bool,
    tol: float,
    max_iter: int,
) -> Solution:
    intercept, objective, dual_objective, n_iter, violation, error = statistics.tolist()
    # A violation of tol is one but for rounding: what ended early has converged,
    # unless its tolerance had to be raised to the rounding errors.
    is_done = violation <= tol or (n_iter < max_iter and error <= tol)
    solution = Solution(
        coef=beta,
        certificate=Certificate(
            objective=objective,
            dual_objective=dual_objective,
            n_iter=int(n_iter),
            status="converged" if is_done else "stopped",
            history=np.array([objective]),
        ),
        dual=np.abs(beta),
        intercept=np.array([intercept]) if equality else None,
        extra={"violation": violation},
    )
    if not is_done:
        cause = f"; max_iter={max_iter} came first" if n_iter >= max_iter else ""
        if error > tol:
            cause += (
                f"; rounding errors of {error:.1g} in the decision function are above "
                "tol, for the kernel values times the multipliers are that large: "
                "standardise the inputs (standardize=True) or normalise the kernel, or "
                "lower C"
            )
        warnings.warn(
            f"a support vector machine stopped before tol={tol:g}, after {n_iter:g} "
            f"steps at a violation of {violation:.3g} and a duality gap of "
            f"{solution.certificate.duality_gap:.3g}{cause}",
            ConvergenceWarning,
            stacklevel=3,
        )
    return solution


def _gram(K: ArrayLike) -> NDArray[Any]:
    """Return a square C-contiguous float64 or float32 matrix, copied if need be."""
    matrix = np.asarray(K)
    if matrix.dtype not in _GRAM_DTYPES:
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix must be square, got shape {matrix.shape}")
    if matrix.shape[0] >= smo.MAX_VARIABLES:
        raise ValueError(
            f"at most {smo.MAX_VARIABLES - 1} variables, got {matrix.shape[0]}"
        )
    if not matrix.flags.writeable:  # a type of its own, which numba would compile for
        matrix = matrix.copy()
    return np.ascontiguousarray(matrix)


def _start(values: ArrayLike, size: int) -> FloatArray:
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (size,):
        raise ValueError(f"start has shape {vector.shape}, expected {(size,)}")
    if not np.isfinite(vector).all():
        raise ValueError("start has entries that are not finite")
    return vector


def _labels(y: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ±1 labels and the ends of the boxes [0, 1] or [−1, 0] of each."""
    labels = np.array(y, dtype=np.float64)
    if labels.ndim != 1:
        raise ValueError(f"y must be a vector, got shape {labels.shape}")
    lower, upper = np.empty(labels.size), np.empty(labels.size)
    if smo.label_box(labels, lower, upper):
        wrong = labels[np.abs(labels) != 1.0][0]
        raise ValueError(f"y must be +1 or -1, got {wrong!r}")
    return labels, lower, upper
