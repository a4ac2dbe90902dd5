"""Support vector machines and box-constrained problems on precomputed matrices.

One problem (`svc`, `svr`, `box_qp`), or many in one compiled call without Python in
the loop (`svc_batch`, `svr_batch`, `box_qp_batch`), all by `mtmkl.solvers.smo`.

The tolerance is the largest violation of the optimality conditions, in the units of
the decision function. What it leaves of the duality gap grows with C: where C times
the number of examples is large, a violation of 1e-3 can be a relative gap above 10 %.
Hence the default of 1e-6, which costs little more than 1e-3, and the certificate that
each answer carries.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers import smo
from mtmkl.solvers.solution import Certificate, FloatArray, Solution

IntArray = NDArray[np.int64]

_ONE_POINT = np.ones(1)
_GRAM_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(frozen=True)
class BatchSolution:
    """Answers to T problems at P points of a path.

    Attributes
    ----------
    coef : ndarray of shape (n_points, sum of sizes)
        The variables of all problems, one problem after the other: signed expansion
        coefficients β of the machines.
    intercept : ndarray of shape (n_points, n_problems)
        Zero without an intercept.
    objective, dual_objective : ndarray of shape (n_points, n_problems)
        As in `Certificate`.
    n_iter : ndarray of int of shape (n_points, n_problems)
    violation : ndarray of shape (n_points, n_problems)
        Largest violation of the optimality conditions.
    converged : ndarray of bool of shape (n_points, n_problems)
    sizes : ndarray of int of shape (n_problems,)
    """

    coef: FloatArray
    intercept: FloatArray
    objective: FloatArray
    dual_objective: FloatArray
    n_iter: IntArray
    violation: FloatArray
    converged: NDArray[np.bool_]
    sizes: IntArray

    @property
    def duality_gap(self) -> FloatArray:
        """Relative gaps, ``max(objective − dual_objective, 0) / |objective|``."""
        gap = np.maximum(self.objective - self.dual_objective, 0.0)
        relative: FloatArray = gap / np.maximum(np.abs(self.objective), 1e-300)
        return relative

    def coef_of(self, problem: int) -> FloatArray:
        """Return the variables of one problem, shape (n_points, size)."""
        ends = np.cumsum(self.sizes)
        return self.coef[:, ends[problem] - self.sizes[problem] : ends[problem]]


def svc(
    K: ArrayLike,
    y: ArrayLike,
    *,
    C: float | ArrayLike = 1.0,
    fit_intercept: bool = True,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
    check_finite: bool = True,
) -> Solution:
    """Train a support vector classifier on its kernel matrix.

    With f = Kβ, minimises ``½ β'Kβ + Σ_i C_i max(0, 1 − y_i (f_i + b))``, by its dual
    ``max Σ_i α_i − ½ β'Kβ`` over 0 ≤ α ≤ C, β_i = y_i α_i, and Σ β_i = 0 if there is
    an intercept b.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric, positive semi-definite up to rounding; float64 or float32 (stored
        so, computed with in float64). C-contiguous matrices are not copied.
    y : array-like of shape (n,)
        ±1. One class alone has the solution β = 0 and its label as intercept.
    C : float or array-like of shape (n,)
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
    check_finite : bool
        Look for entries that are not finite, in one pass over K; without, they give
        meaningless numbers.

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
    y, lower, upper = _labels(y)
    scales = _ONE_POINT
    if _is_scalar(C):
        scales = _one_scale(C)
    else:
        bound = _positive(_vector(C, y.size, "C"), "C")
        lower *= bound
        upper *= bound
    coef, statistics = _solve_one(
        K,
        y,
        lower,
        upper,
        0.0,
        fit_intercept,
        0.0,
        scales,
        start,
        tol,
        max_iter,
        check_finite,
    )
    return _solution(coef, np.abs(coef), statistics, fit_intercept, tol, max_iter)


def svr(
    K: ArrayLike,
    y: ArrayLike,
    *,
    C: float | ArrayLike = 1.0,
    epsilon: float = 0.1,
    fit_intercept: bool = True,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
    check_finite: bool = True,
) -> Solution:
    """Train an ε-insensitive support vector regression on its kernel matrix.

    With f = Kβ, minimises ``½ β'Kβ + Σ_i C_i max(0, |y_i − f_i − b| − ε)``, by its
    dual ``max y'β − ε Σ_i |β_i| − ½ β'Kβ`` over |β| ≤ C, and Σ β_i = 0 if there is an
    intercept b. (β = α − α*, the usual pair of multipliers, of which one is zero.)

    Parameters
    ----------
    y : array-like of shape (n,)
        Targets.
    epsilon : float
        ε ≥ 0, in units of y.
    K, C, fit_intercept, start, tol, max_iter, check_finite
        As in `svc`.

    Returns
    -------
    Solution
        As in `svc`, but ``dual`` has shape (2, n): α and α*.

    Raises
    ------
    ValueError
        If shapes disagree or a value is outside its range.
    """
    y = _finite(y, "y")
    _require_tube(epsilon)
    scales = _ONE_POINT
    if _is_scalar(C):
        scales, upper = _one_scale(C), np.ones(y.size)
    else:
        upper = _positive(_vector(C, y.size, "C"), "C")
    coef, statistics = _solve_one(
        K,
        y,
        -upper,
        upper,
        float(epsilon),
        fit_intercept,
        0.0,
        scales,
        start,
        tol,
        max_iter,
        check_finite,
    )
    dual = np.stack([np.maximum(coef, 0.0), np.maximum(-coef, 0.0)])
    return _solution(coef, dual, statistics, fit_intercept, tol, max_iter)


def box_qp(
    hessian: ArrayLike,
    linear: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    l1: float = 0.0,
    signs: ArrayLike | None = None,
    total: float | None = None,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
    check_finite: bool = True,
) -> Solution:
    """Minimise a convex quadratic over a box and at most one equality.

    ``½ x'Qx + p'x + l1·‖x‖₁`` subject to lower ≤ x ≤ upper and, with `total`,
    Σ_i signs_i x_i = total. The Hessian is taken as it is: a step of maximum entropy
    discrimination passes the sum of kernels and rank-one terms (in signed variables
    y_i λ_i it needs no signs).

    Parameters
    ----------
    hessian : array-like of shape (n, n)
        Q, symmetric, positive semi-definite up to rounding.
    linear : array-like of shape (n,)
        p.
    lower, upper : array-like of shape (n,)
        Finite, lower ≤ upper.
    l1 : float
        At least 0.
    signs : array-like of shape (n,), optional
        ±1; all +1 by default.
    total : float, optional
        The right-hand side of the equality; no equality by default.
    start, tol, max_iter, check_finite
        As in `svc`; `start` in x, the tolerance in units of p.

    Returns
    -------
    Solution
        ``coef`` is x, ``intercept`` the multiplier b of the equality (shape (1,), or
        None), with Qx + p + b·signs = 0 wherever x is between its bounds and l1 = 0.

    Raises
    ------
    ValueError
        If shapes disagree, a value is outside its range or no point is feasible.
    """
    linear = _finite(linear, "linear")
    n = linear.size
    lower, upper = _bounds(lower, upper, n)
    flip = None if signs is None else _labels(signs, "signs")[0]
    if flip is not None:
        if flip.size != n:
            raise ValueError(f"signs has {flip.size} entries, linear {n}")
        linear = flip * linear
        lower, upper = (
            np.where(flip > 0.0, lower, -upper),
            np.where(flip > 0.0, upper, -lower),
        )
        hessian = np.asarray(hessian) * np.outer(flip, flip)
        if start is not None:
            start = flip * _vector(start, n, "start")
    _require_tube(l1, "l1")
    equality = total is not None
    target = 0.0 if total is None else float(total)
    _require_feasible(lower, upper, target, equality)
    if start is None and (target != 0.0 or (lower > 0.0).any() or (upper < 0.0).any()):
        start = np.zeros(n)
    coef, statistics = _solve_one(
        hessian,
        -linear,
        lower,
        upper,
        float(l1),
        equality,
        target,
        _ONE_POINT,
        start,
        tol,
        max_iter,
        check_finite,
    )
    # The compiled solver maximises: what it calls the dual objective is −(½x'Qx + …).
    statistics[smo.OBJECTIVE], statistics[smo.DUAL_OBJECTIVE] = (
        -statistics[smo.DUAL_OBJECTIVE],
        -statistics[smo.OBJECTIVE],
    )
    coef = coef if flip is None else flip * coef
    return _solution(coef, coef, statistics, equality, tol, max_iter)


def svc_batch(
    grams: ArrayLike | Sequence[ArrayLike],
    y: ArrayLike | Sequence[ArrayLike],
    *,
    sizes: ArrayLike | None = None,
    C: float | ArrayLike = 1.0,
    weights: ArrayLike | None = None,
    fit_intercept: bool = True,
    warm: bool = True,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
    check_finite: bool = True,
) -> BatchSolution:
    """Train support vector classifiers for many kernel matrices along a path of C.

    Parameters
    ----------
    grams : array-like or sequence of array-like
        The T kernel matrices: a list of square matrices of any sizes, or an array of
        shape (T, n, n), or one flat array of all of them, row by row, with `sizes`.
        An array of either kind is not copied.
    y : array-like or sequence of array-like
        ±1, a list of vectors, or all labels of all problems one after the other; of
        shape (n,) with matrices of shape (T, n, n) they serve all problems.
    sizes : array-like of int of shape (T,), optional
        Numbers of examples, for flat `grams`. A problem may have none.
    C : float or array-like of shape (P,)
        Positive; a path, followed in the order given (quickest: increasing).
    weights : array-like of shape (sum of sizes,), optional
        Positive; example i has the bound C·weights_i.
    warm : bool
        Begin each point of the path at the last one's solution.
    start : array-like of shape (sum of sizes,), optional
        Signed coefficients to begin the path at.
    fit_intercept, tol, max_iter, check_finite
        As in `svc`; `max_iter` for each solve.

    Returns
    -------
    BatchSolution
        With P points.

    Raises
    ------
    ValueError
        If shapes disagree or a value is outside its range.
    """
    flat, counts = _flat_grams(grams, sizes)
    labels, lower, upper = _labels(_flat_vector(y, counts, "y"))
    if weights is not None:
        bound = _positive(_vector(weights, labels.size, "weights"), "weights")
        lower *= bound
        upper *= bound
    return _solve_batch(
        flat,
        counts,
        labels,
        lower,
        upper,
        0.0,
        fit_intercept,
        _path(C),
        warm,
        start,
        tol,
        max_iter,
        check_finite,
    )


def svr_batch(
    grams: ArrayLike | Sequence[ArrayLike],
    y: ArrayLike | Sequence[ArrayLike],
    *,
    sizes: ArrayLike | None = None,
    C: float | ArrayLike = 1.0,
    epsilon: float = 0.1,
    weights: ArrayLike | None = None,
    fit_intercept: bool = True,
    warm: bool = True,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
    check_finite: bool = True,
) -> BatchSolution:
    """Train ε-insensitive regressions for many kernel matrices along a path of C.

    Parameters
    ----------
    epsilon : float
        As in `svr`.
    grams, y, sizes, C, weights, fit_intercept, warm, start, tol, max_iter, check_finite
        As in `svc_batch`, with targets for labels.

    Returns
    -------
    BatchSolution

    Raises
    ------
    ValueError
        If shapes disagree or a value is outside its range.
    """
    flat, counts = _flat_grams(grams, sizes)
    targets = _finite(_flat_vector(y, counts, "y"), "y")
    _require_tube(epsilon)
    bound = np.ones(targets.size)
    if weights is not None:
        bound = _positive(_vector(weights, targets.size, "weights"), "weights")
    return _solve_batch(
        flat,
        counts,
        targets,
        -bound,
        bound,
        float(epsilon),
        fit_intercept,
        _path(C),
        warm,
        start,
        tol,
        max_iter,
        check_finite,
    )


def box_qp_batch(
    hessians: ArrayLike | Sequence[ArrayLike],
    linear: ArrayLike | Sequence[ArrayLike],
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    l1: float = 0.0,
    equality: bool = True,
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1_000_000,
    check_finite: bool = True,
) -> BatchSolution:
    """Solve many problems `box_qp`, with the total 0 or without the equality.

    Parameters
    ----------
    hessians, linear, sizes
        As `grams` and `y` in `svc_batch`.
    lower, upper : array-like of shape (sum of sizes,)
        Finite, lower ≤ 0 ≤ upper.
    equality : bool
        Hold the sum of each problem's variables at zero.
    l1, start, tol, max_iter, check_finite
        As in `box_qp`.

    Returns
    -------
    BatchSolution
        With one point; ``intercept`` holds the multipliers of the equalities.

    Raises
    ------
    ValueError
        If shapes disagree or a value is outside its range.
    """
    flat, counts = _flat_grams(hessians, sizes)
    vector = _finite(_flat_vector(linear, counts, "linear"), "linear")
    lower, upper = _bounds(lower, upper, vector.size)
    if (lower > 0.0).any() or (upper < 0.0).any():
        raise ValueError("a batch needs boxes that contain zero")
    _require_tube(l1, "l1")
    solved = _solve_batch(
        flat,
        counts,
        -vector,
        lower,
        upper,
        float(l1),
        equality,
        _ONE_POINT,
        True,
        start,
        tol,
        max_iter,
        check_finite,
    )
    return BatchSolution(
        coef=solved.coef,
        intercept=solved.intercept,
        objective=-solved.dual_objective,
        dual_objective=-solved.objective,
        n_iter=solved.n_iter,
        violation=solved.violation,
        converged=solved.converged,
        sizes=solved.sizes,
    )


def _solve_one(
    K: ArrayLike,
    c: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    equality: bool,
    total: float,
    scales: FloatArray,
    start: ArrayLike | None,
    tol: float,
    max_iter: int,
    check_finite: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return β and its statistics."""
    n = c.size
    matrix = _gram(K)
    if matrix.shape != (n, n):
        raise ValueError(f"the matrix has shape {matrix.shape}, the vector {(n,)}")
    if n == 0:
        raise ValueError("there is no example")
    coef, statistics = _run(
        matrix.reshape(-1),
        np.array([n]),
        c,
        lower,
        upper,
        kink,
        equality,
        total,
        scales,
        start,
        True,
        tol,
        max_iter,
        check_finite,
    )
    return coef[0], statistics[0, 0]


def _solve_batch(
    flat: NDArray[Any],
    sizes: IntArray,
    c: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    equality: bool,
    scales: FloatArray,
    warm: bool,
    start: ArrayLike | None,
    tol: float,
    max_iter: int,
    check_finite: bool,
) -> BatchSolution:
    coef, statistics = _run(
        flat,
        sizes,
        c,
        lower,
        upper,
        kink,
        equality,
        0.0,
        scales,
        start,
        warm,
        tol,
        max_iter,
        check_finite,
    )
    converged = _converged(statistics, tol, max_iter)
    if not converged.all():
        _warn_of_stopped(statistics, ~converged, tol, max_iter)
    return BatchSolution(
        coef=coef,
        intercept=statistics[:, :, smo.INTERCEPT],
        objective=statistics[:, :, smo.OBJECTIVE],
        dual_objective=statistics[:, :, smo.DUAL_OBJECTIVE],
        n_iter=statistics[:, :, smo.N_ITER].astype(np.int64),
        violation=statistics[:, :, smo.VIOLATION],
        converged=converged,
        sizes=sizes,
    )


def _run(
    flat: NDArray[Any],
    sizes: IntArray,
    c: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    equality: bool,
    total: float,
    scales: FloatArray,
    start: ArrayLike | None,
    warm: bool,
    tol: float,
    max_iter: int,
    check_finite: bool,
) -> tuple[FloatArray, FloatArray]:
    """Check what all forms share, call the compiled solver, warn."""
    if not tol > 0.0:
        raise ValueError(f"tol must be positive, got {tol!r}")
    if max_iter < 0:
        raise ValueError(f"max_iter must be at least 0, got {max_iter!r}")
    begin = c if start is None else _vector(start, c.size, "start")
    coef = np.empty((scales.size, c.size))
    statistics = np.empty((scales.size, sizes.size, smo.N_STATISTICS))
    if not flat.flags.writeable:  # a type of its own, which numba would compile for
        flat = flat.copy()
    status = smo.FINISHED
    while True:
        status = smo.solve_paths(
            flat,
            sizes,
            c,
            lower,
            upper,
            kink,
            bool(equality),
            total,
            scales,
            begin,
            start is not None,
            bool(warm),
            float(tol),
            int(max_iter),
            bool(check_finite),
            coef,
            statistics,
            status,
        )
        if status < 0:
            break
        # Unfinished, but back in Python, where an interrupt is seen.
    if status == smo.NOT_FINITE:
        raise ValueError("the kernel matrix has entries that are not finite")
    return coef, statistics


def _converged(statistics: FloatArray, tol: float, max_iter: int) -> NDArray[np.bool_]:
    # A violation of tol is one but for rounding: what ended early has converged,
    # unless its tolerance had to be raised to the rounding errors.
    converged: NDArray[np.bool_] = (statistics[..., smo.VIOLATION] <= tol) | (
        (statistics[..., smo.N_ITER] < max_iter)
        & (statistics[..., smo.TOLERANCE] <= tol)
    )
    return converged


def _warn_of_stopped(
    statistics: FloatArray, stopped: NDArray[np.bool_], tol: float, max_iter: int
) -> None:
    violation = np.where(stopped, statistics[..., smo.VIOLATION], 0.0)
    worst = statistics.reshape(-1, smo.N_STATISTICS)[violation.argmax()]
    gap = worst[smo.OBJECTIVE] - worst[smo.DUAL_OBJECTIVE]
    error, n_iter = float(worst[smo.TOLERANCE]), int(worst[smo.N_ITER])
    cause = f"; max_iter={max_iter} came first" if n_iter >= max_iter else ""
    if error > tol:
        cause += (
            f"; rounding errors of {error:.1g} in the decision function are above tol, "
            "for the kernel values times the multipliers are that large: standardise "
            "the inputs (standardize=True) or normalise the kernel, or lower C"
        )
    warnings.warn(
        f"{int(stopped.sum())} of {stopped.size} problems stopped before "
        f"tol={tol:g}; the worst after {n_iter} steps at a violation of "
        f"{worst[smo.VIOLATION]:.3g} and a duality gap of "
        f"{gap / max(abs(worst[smo.OBJECTIVE]), 1e-300):.3g}{cause}",
        ConvergenceWarning,
        stacklevel=4,
    )


def _solution(
    coef: FloatArray,
    dual: FloatArray,
    statistics: FloatArray,
    equality: bool,
    tol: float,
    max_iter: int,
) -> Solution:
    _, objective, dual_objective, n_iter, violation, error = statistics.tolist()
    # As in _converged.
    done = violation <= tol or (n_iter < max_iter and error <= tol)
    if not done:
        _warn_of_stopped(statistics, np.array([True]), tol, max_iter)
    return Solution(
        coef=coef,
        certificate=Certificate(
            objective=objective,
            dual_objective=dual_objective,
            n_iter=int(n_iter),
            status="converged" if done else "stopped",
            history=statistics[smo.OBJECTIVE : smo.OBJECTIVE + 1],
        ),
        dual=dual,
        intercept=statistics[smo.INTERCEPT : smo.INTERCEPT + 1] if equality else None,
        extra={"violation": violation},
    )


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
    return np.ascontiguousarray(matrix)


def _flat_grams(
    grams: ArrayLike | Sequence[ArrayLike], sizes: ArrayLike | None
) -> tuple[NDArray[Any], IntArray]:
    """Return all matrices one after the other, and their sizes."""
    if isinstance(grams, np.ndarray) and grams.ndim == 1:
        if sizes is None:
            raise ValueError("flat matrices need their sizes")
        counts = np.array(sizes, dtype=np.int64).reshape(-1)
        if (counts < 0).any() or (counts >= smo.MAX_VARIABLES).any():
            raise ValueError(f"sizes must be in 0..{smo.MAX_VARIABLES - 1}")
        if int((counts**2).sum()) != grams.size:
            raise ValueError(
                f"{grams.size} entries are not the matrices of sizes {counts.tolist()}"
            )
        flat = grams if grams.dtype in _GRAM_DTYPES else grams.astype(np.float64)
        return np.ascontiguousarray(flat), counts
    if sizes is not None:
        raise ValueError("sizes go with flat matrices only")
    if isinstance(grams, np.ndarray) and grams.ndim == 3:
        if grams.shape[1] != grams.shape[2] or grams.shape[1] >= smo.MAX_VARIABLES:
            raise ValueError(
                f"the matrices must be square, of less than {smo.MAX_VARIABLES} rows, "
                f"got shape {grams.shape}"
            )
        flat = grams if grams.dtype in _GRAM_DTYPES else grams.astype(np.float64)
        return (
            np.ascontiguousarray(flat).reshape(-1),
            np.full(grams.shape[0], grams.shape[1], dtype=np.int64),
        )
    if isinstance(grams, np.ndarray):
        raise ValueError(
            f"matrices must be a list, (T, n, n) or flat, got shape {grams.shape}"
        )
    matrices = [_gram(matrix) for matrix in grams]  # type: ignore[union-attr]
    counts = np.array([matrix.shape[0] for matrix in matrices], dtype=np.int64)
    if not matrices:
        return np.empty(0), counts
    return np.concatenate([matrix.reshape(-1) for matrix in matrices]), counts


def _flat_vector(
    values: ArrayLike | Sequence[ArrayLike], sizes: IntArray, name: str
) -> FloatArray:
    """Return one vector of all problems' entries."""
    n_total = int(sizes.sum())
    if isinstance(values, np.ndarray):
        flat = values.astype(np.float64)
        if flat.ndim == 1 and sizes.size > 1 and (sizes == flat.size).all():
            flat = np.tile(flat, sizes.size)
    else:
        parts = [np.asarray(part, dtype=np.float64) for part in values]  # type: ignore[union-attr]
        if parts and parts[0].ndim == 0:
            return _flat_vector(np.array(parts), sizes, name)
        for part, size in zip(parts, sizes, strict=True):
            if part.shape != (size,):
                raise ValueError(
                    f"{name} of a problem of {size} examples has shape {part.shape}"
                )
        flat = np.concatenate(parts) if parts else np.empty(0)
    if flat.shape != (n_total,):
        raise ValueError(f"{name} has shape {flat.shape}, expected {(n_total,)}")
    return flat


def _vector(values: ArrayLike, size: int, name: str) -> FloatArray:
    vector = _finite(values, name)
    if vector.size != size:
        raise ValueError(f"{name} has {vector.size} entries, expected {size}")
    return vector


def _finite(values: ArrayLike, name: str) -> FloatArray:
    vector = np.array(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} has entries that are not finite")
    return vector


def _positive(values: FloatArray, name: str) -> FloatArray:
    if not (values > 0.0).all():
        raise ValueError(f"{name} must be positive, got {values.min()!r}")
    return values


def _labels(y: ArrayLike, name: str = "y") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ±1 labels and the ends of the boxes [0, 1] or [−1, 0] of each."""
    labels = np.array(y, dtype=np.float64)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {labels.shape}")
    lower, upper = np.empty(labels.size), np.empty(labels.size)
    if smo.label_box(labels, lower, upper):
        wrong = labels[np.abs(labels) != 1.0][0]
        raise ValueError(f"{name} must be +1 or -1, got {wrong!r}")
    return labels, lower, upper


def _is_scalar(value: object) -> bool:
    return isinstance(value, (float, int)) or np.ndim(value) == 0  # type: ignore[arg-type]


def _one_scale(C: Any) -> FloatArray:
    if not 0.0 < C < np.inf:
        raise ValueError(f"C must be positive and finite, got {C!r}")
    return np.array([C], dtype=np.float64)


def _path(C: float | ArrayLike) -> FloatArray:
    scales = np.array(C, dtype=np.float64, ndmin=1)
    values = scales.tolist()
    if scales.ndim != 1 or not values or not all(0.0 < c < np.inf for c in values):
        raise ValueError(f"C must be positive and finite, got {C!r}")
    return scales


def _bounds(
    lower: ArrayLike, upper: ArrayLike, size: int
) -> tuple[FloatArray, FloatArray]:
    low, high = _vector(lower, size, "lower"), _vector(upper, size, "upper")
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise ValueError(f"lower[{i}] = {low[i]!r} exceeds upper[{i}] = {high[i]!r}")
    return low, high


def _require_tube(value: float, name: str = "epsilon") -> None:
    if not (value >= 0.0 and np.isfinite(value)):
        raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")


def _require_feasible(
    lower: FloatArray, upper: FloatArray, total: float, equality: bool
) -> None:
    if equality and not (lower.sum() <= total <= upper.sum()):
        raise ValueError(
            f"no point of the box has the total {total!r}: its sums are in "
            f"[{lower.sum()!r}, {upper.sum()!r}]"
        )
