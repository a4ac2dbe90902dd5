r"""Quadratic programs on the simplex, by active sets.

    min  g'δ + ½ δ'Hδ,   δ = x − c,   x ≥ 0, 1'x = 1,

with H positive semi-definite. The variables that are free solve the equations of the
optimum; where that makes one negative, the step ends at the first zero, which is no
longer free; at the optimum of the free ones that of the least partial derivative is
freed. Optima of few positive entries take a few dozen small systems, whatever the
number of variables.
"""

import numpy as np
from numba import njit

from mtmkl.typing import FloatArray

_RIDGE = 1e-12


@njit(cache=True, nogil=True)
def minimise_on_simplex(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    tol: float,
    max_iter: int,
    x: FloatArray,
) -> tuple[float, float, int]:
    """Minimise from x, in place, until the gap is at most tol.

    Parameters
    ----------
    g : ndarray of shape (n,)
        Gradient at ``center``.
    H : ndarray of shape (n, n)
    center : ndarray of shape (n,)
    tol : float
        Absolute gap g(x)'x − min g(x), g(x) the gradient at x.
    max_iter : int
        Limit on systems.
    x : ndarray of shape (n,)
        In the simplex.

    Returns
    -------
    objective, gap : float
    n_iter : int
    """
    n = x.size
    ridge = 1e-300
    for m in range(n):
        ridge = max(ridge, _RIDGE * H[m, m])
    linear = g - np.dot(H, center)
    is_free = x > 0.0
    n_iter = 0
    while True:
        gradient = linear + np.dot(H, x)
        least = np.argmin(gradient)
        gap = np.dot(gradient, x) - gradient[least]
        if gap <= tol or n_iter >= max_iter:
            break
        is_free[least] = True
        # To the optimum of the free variables, past those that become zero.
        while n_iter < max_iter:
            n_iter += 1
            free = np.flatnonzero(is_free)
            k = free.size
            A = np.zeros((k + 1, k + 1))
            right = np.zeros(k + 1)
            for a in range(k):
                for b in range(k):
                    A[a, b] = H[free[a], free[b]]
                A[a, a] += ridge
                A[a, k] = 1.0
                A[k, a] = 1.0
                right[a] = ridge * x[free[a]] - linear[free[a]]
            right[k] = 1.0
            target = np.linalg.solve(A, right)
            step, first = 1.0, -1
            for a in range(k):
                old = x[free[a]]
                if target[a] < 0.0 and old < step * (old - target[a]):
                    step, first = old / (old - target[a]), a
            for a in range(k):
                i = free[a]
                x[i] = max(x[i] + step * (target[a] - x[i]), 0.0)
            if first < 0:
                break
            x[free[first]] = 0.0
            is_free[free[first]] = False
        x /= x.sum()
        gradient = linear + np.dot(H, x)
        if np.dot(gradient, x) - gradient.min() >= gap and n_iter > 2 * n:
            # Rounding is all that is left.
            break
    change = x - center
    gradient = linear + np.dot(H, x)
    objective = np.dot(g, change) + 0.5 * np.dot(change, np.dot(H, change))
    return objective, np.dot(gradient, x) - gradient.min(), n_iter
