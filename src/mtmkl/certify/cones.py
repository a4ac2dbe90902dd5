"""Convex problems over cones in NumPy arrays, solved by cvxopt.

Nothing here knows of our solvers. Numbers are double precision, and an interior point
works to about eight digits of the objective in units of one: callers choose units in
which data and optimum are neither very large nor very small.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mtmkl.typing import FloatArray, IntArray

#: Relative and absolute gap, and violation of constraints, that are asked for.
TOL = 1e-9
#: Beyond which a solution that cvxopt calls unknown is none.
WORST_GAP = 1e-4

Smooth = Callable[
    [FloatArray], tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]
]


class RefereeError(ValueError):
    """The interior point has not come near an optimum."""

    def __init__(self, what: object) -> None:
        super().__init__(
            f"cvxopt finds no optimum of this problem: {what}; inputs of unit scale "
            "(standardize, normalize), a smaller C or fewer examples may help"
        )


@dataclass(frozen=True)
class Optimum:
    """The value of a problem.

    Attributes
    ----------
    value : float
    accuracy : float
        Relative distance between the interior point's own two bounds.
    """

    value: float
    accuracy: float

    def shifted(self, scale: float, constant: float) -> "Optimum":
        """Return the optimum of ``scale`` times the objective plus a constant."""
        value = scale * self.value + constant
        spread = self.accuracy * max(abs(self.value), 1.0) * abs(scale)
        return Optimum(value, spread / max(abs(value), 1e-300))


def of_all(optima: Sequence[Optimum]) -> Optimum:
    """Return the optimum of the sum of problems without common variables."""
    value = sum(each.value for each in optima)
    spread = sum(each.accuracy * abs(each.value) for each in optima)
    return Optimum(value, spread / max(abs(value), 1e-300))


@dataclass
class Cones:
    """Constraints h − Gx in a product of cones, over ``n`` variables x."""

    n: int
    _linear: list[Any] = field(default_factory=list)
    _second: list[Any] = field(default_factory=list)
    _semidefinite: list[Any] = field(default_factory=list)

    def nonnegative(self, G: Any, h: ArrayLike) -> None:
        """Ask for h − Gx ≥ 0."""
        self._linear.append((sparse.coo_array(G), np.asarray(h, dtype=float)))

    def second_order(self, G: Any, h: ArrayLike) -> None:
        """Ask for the first entry of h − Gx to be at least the norm of the others."""
        self._second.append((sparse.coo_array(G), np.asarray(h, dtype=float)))

    def semidefinite(self, G: Any, h: ArrayLike) -> None:
        """Ask for h − Gx, as the columns of a symmetric matrix, to be ⪰ 0."""
        self._semidefinite.append((sparse.coo_array(G), np.asarray(h, dtype=float)))

    def box(self, size: int, most: float) -> None:
        """Ask for the first variables to be from 0 to the most."""
        eye = sparse.eye_array(size, self.n)
        self.nonnegative(-eye, np.zeros(size))
        self.nonnegative(eye, np.full(size, most))

    def matrices(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return G, h and the dimensions as cvxopt takes them."""
        from cvxopt import matrix

        rows = [*self._linear, *self._second, *self._semidefinite]
        if not rows:
            return sparse_matrix(sparse.coo_array((0, self.n))), matrix(0.0, (0, 1)), {
                "l": 0, "q": [], "s": [],
            }  # fmt: skip
        dims = {
            "l": sum(h.size for _, h in self._linear),
            "q": [h.size for _, h in self._second],
            "s": [round(h.size**0.5) for _, h in self._semidefinite],
        }
        G = sparse_matrix(sparse.vstack([G for G, _ in rows]).tocoo())
        return G, matrix(np.concatenate([h for _, h in rows])), dims


def require_cvxopt() -> None:
    """Raise ImportError, with the remedy, if cvxopt is not installed."""
    try:
        import cvxopt  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'cvxopt is not installed: optima need pip install "mtmkl[referee]"'
        ) from error


def sparse_matrix(A: Any) -> Any:
    """Return a sparse matrix of SciPy as one of cvxopt."""
    from cvxopt import spmatrix

    A = sparse.coo_array(A)
    A.sum_duplicates()
    rows, columns = A.coords
    return spmatrix(
        A.data.astype(float).tolist(), rows.tolist(), columns.tolist(), A.shape
    )


def minimise_quadratic(
    P: Any,
    q: FloatArray,
    cones: Cones,
    equalities: FloatArray | None = None,
    right: FloatArray | None = None,
) -> tuple[Optimum, FloatArray]:
    """Minimise ½x'Px + q'x over cones.

    Parameters
    ----------
    P : array-like or sparse array of shape (n, n), or None
        Positive semi-definite; None for a linear objective.
    q : ndarray of shape (n,)
    cones : Cones
    equalities : ndarray of shape (m, n), optional
        Rows a with a'x = 0, or what is on the right.
    right : ndarray of shape (m,), optional

    Returns
    -------
    Optimum
    ndarray of shape (n,)

    Raises
    ------
    RefereeError
        If the interior point does not get there.
    """
    from cvxopt import matrix, solvers

    G, h, dims = cones.matrices()
    A, b = _equalities(equalities, cones.n, right)
    c, options = matrix(q), _options()
    try:
        if P is None:
            found = solvers.conelp(c, G, h, dims, A, b, options=options)
        else:
            is_sparse = sparse.issparse(P)
            H = sparse_matrix(P) if is_sparse else matrix(np.ascontiguousarray(P))
            found = solvers.coneqp(H, c, G, h, dims, A, b, options=options)
    except (ArithmeticError, ValueError) as error:
        raise RefereeError(error) from error
    return _optimum(found)


def minimise_smooth(
    functions: Smooth,
    start: FloatArray,
    cones: Cones,
    equalities: FloatArray | None = None,
    *,
    linear: FloatArray | None = None,
) -> tuple[Optimum, FloatArray]:
    """Minimise a convex function over cones and, perhaps, convex constraints.

    Parameters
    ----------
    functions : callable
        Of x, raising FloatingPointError outside of the domain: values (k,), gradients
        (k, n), and a function that returns Σ_k z_k ∇²f_k for weights z (k,).
    start : ndarray of shape (n,)
        In the domain.
    cones : Cones
    equalities : ndarray of shape (m, n), optional
        Rows a with a'x = 0.
    linear : ndarray of shape (n,), optional
        The objective; the functions are then constraints f_k ≤ 0. Otherwise the first
        function is the objective.

    Returns
    -------
    Optimum
    ndarray of shape (n,)

    Raises
    ------
    RefereeError
        If the interior point does not get there.
    """
    from cvxopt import matrix, solvers

    G, h, dims = cones.matrices()
    A, b = _equalities(equalities, cones.n)
    n_constraints = functions(start)[0].size - (linear is None)

    def evaluate(x: Any = None, z: Any = None) -> Any:
        if x is None:
            return n_constraints, matrix(start)
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                values, gradients, curvature = functions(np.array(x).ravel())
        except FloatingPointError:
            return None
        # cvxopt keeps what it is given: copies.
        out = matrix(values), matrix(np.array(gradients))
        if z is None:
            return out
        return *out, matrix(np.array(curvature(np.array(z).ravel())))

    try:
        if linear is None:
            found = solvers.cp(evaluate, G, h, dims, A, b, options=_options())
        else:
            found = solvers.cpl(
                matrix(linear), evaluate, G, h, dims, A, b, options=_options()
            )
    except (ArithmeticError, ValueError) as error:
        raise RefereeError(error) from error
    return _optimum(found)


def root(K: FloatArray, tol: float = 1e-13) -> FloatArray:
    """Return R with RR' = K, without the directions of eigenvalue 0."""
    values, vectors = np.linalg.eigh(K)
    keep = values > tol * max(values[-1], 0.0)
    out: FloatArray = vectors[:, keep] * np.sqrt(values[keep])
    return out


def in_span(X: FloatArray) -> FloatArray:
    """Return the rows in as many orthonormal coordinates as they can span."""
    return X if X.shape[1] <= X.shape[0] else np.linalg.qr(X.T)[1].T


def spectral_cone(
    X: FloatArray,
    task: IntArray,
    n_tasks: int,
    dual_map: sparse.csr_array,
    n: int,
    bound: int,
) -> sparse.coo_array:
    """Return G of the cone ||Σ_i β_i x_i e_t(i)'||_op ≤ u, β = map·v, u = x[bound].

    The matrix is [[uI, B], [B', uI]], of size d + T, by columns.
    """
    n_rows, d = X.shape
    side = d + n_tasks
    columns = np.repeat(np.arange(n_rows), d)
    row, col = np.tile(np.arange(d), n_rows), d + np.repeat(task, d)
    entries = sparse.coo_array(
        (
            np.concatenate([-X.ravel(), -X.ravel()]),
            (
                np.concatenate([row + side * col, col + side * row]),
                np.concatenate([columns, columns]),
            ),
        ),
        shape=(side**2, n_rows),
    )
    of_v = sparse.coo_array(sparse.csr_array(entries) @ dual_map)
    diagonal = np.arange(side) * (side + 1)
    return sparse.coo_array(
        (
            np.concatenate([of_v.data, np.full(side, -1.0)]),
            (
                np.concatenate([of_v.coords[0], diagonal]),
                np.concatenate([of_v.coords[1], np.full(side, bound)]),
            ),
        ),
        shape=(side**2, n),
    )


def _options() -> dict[str, Any]:
    return {
        "show_progress": False, "abstol": TOL, "reltol": TOL, "feastol": TOL,
        "maxiters": 200, "refinement": 2,
    }  # fmt: skip


def _equalities(
    rows: FloatArray | None, n: int, right: FloatArray | None = None
) -> tuple[Any, Any]:
    """Return the equalities as cvxopt takes them: of full rank."""
    from cvxopt import matrix

    if rows is None or not len(rows):
        return matrix(0.0, (0, n)), matrix(0.0, (0, 1))
    U, sizes, Vt = np.linalg.svd(rows, full_matrices=False)
    kept = sizes > 1e-12 * sizes[0]
    values = np.zeros(len(rows)) if right is None else right
    b = (U.T @ values)[kept] / sizes[kept]
    return matrix(np.ascontiguousarray(Vt[kept])), matrix(b)


def _optimum(found: dict[str, Any]) -> tuple[Optimum, FloatArray]:
    if found["x"] is None or found["primal objective"] is None:
        raise RefereeError(f"its status is {found['status']!r}")
    value, bound = found["primal objective"], found["dual objective"]
    if bound is None:  # without inequalities there is a system of equations
        bound = value
    accuracy = abs(value - bound) / max(abs(value), 1e-300)
    if found["status"] != "optimal" and not accuracy <= WORST_GAP:
        raise RefereeError(f"it stopped at a relative gap of {accuracy:.1e}")
    return Optimum(float(value), float(accuracy)), np.array(found["x"]).ravel()
