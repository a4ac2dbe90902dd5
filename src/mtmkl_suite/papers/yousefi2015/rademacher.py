"""Rademacher complexity of multiple-kernel classes whose tasks have similar weights.

The class of Yousefi et al. (2015), eqs. (24)–(25): task t has a function of norm at
most √R in the space of the kernel Σ_m θ_tm k_m, with the weights in

    Ω'' = {θ_t ≥ 0, Σ_m θ_tm ≤ 1 for all t, Σ_{t<s} ||θ_t − θ_s||² ≤ γ²}.

For signs σ the supremum over the functions is known, and with u_tm = σ_t'K_tm σ_t what
is left is a concave problem in the weights,

    √R / (nT) · max_{θ ∈ Ω''} Σ_t √(θ_t'u_t),

whose mean over σ is the empirical complexity (eq. 35).
"""

import math
from typing import Any

import numpy as np

from mtmkl.typing import FloatArray


def sum_of_roots(n_tasks: int, n_kernels: int, gamma: float) -> tuple[Any, Any, Any]:
    """State max Σ_t √(θ_t'u_t) over Ω'' of the module: the problem, its u and its θ."""
    import cvxpy as cp

    u = cp.Parameter((n_tasks, n_kernels), nonneg=True)
    theta = cp.Variable((n_tasks, n_kernels), nonneg=True)
    rules = [cp.sum(theta, axis=1) <= 1]
    if gamma == 0:
        rules.append(theta[1:] == theta[:-1])
    else:
        # Over all pairs ||θ_t − θ_s||² sums to T times the deviations from the mean.
        mean = cp.Variable((1, n_kernels))
        deviations = theta - np.ones((n_tasks, 1)) @ mean
        rules.append(math.sqrt(n_tasks) * cp.norm(deviations, "fro") <= gamma)
    roots = cp.sqrt(cp.sum(cp.multiply(u, theta), axis=1))
    return cp.Problem(cp.Maximize(cp.sum(roots)), rules), u, theta


def complexity_draws(
    grams: FloatArray,
    gamma: float,
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draw signs, and return for R = 1 the supremum that each gives and a bound on it.

    The means over draws are Monte Carlo estimates of the class's empirical Rademacher
    complexity and of the bound that the proof of Theorem 1 reaches when it keeps the
    constraint Σ_m θ_tm ≤ 1,

        √(1/T) / n · √(T max_m ū_m + γ √((a − b/T) / T)),

    with ū the mean of u over tasks, a − b/T the squared deviations from it. The printed
    proof has the second term alone.
    """
    n_tasks, n_kernels, n, _ = grams.shape
    suprema, bounds = np.empty(n_draws), np.empty(n_draws)
    problem, terms, _ = sum_of_roots(n_tasks, n_kernels, gamma)
    for draw in range(n_draws):
        signs = rng.choice([-1.0, 1.0], size=(n_tasks, n))
        u = np.einsum("ti,tmij,tj->tm", signs, grams, signs, optimize=True).clip(0.0)
        scale = float(u.max())  # of what is solved, whatever the size of the kernels
        terms.value = u / scale
        roots = math.sqrt(scale) * problem.solve(solver="CLARABEL")
        suprema[draw] = roots / (n * n_tasks)
        mean = u.mean(axis=0)
        deviation = math.sqrt(float(np.square(u - mean).sum()) / n_tasks)
        total = n_tasks * float(mean.max()) + gamma * deviation
        bounds[draw] = math.sqrt(1 / n_tasks * total) / n
    return suprema, bounds


def theorem_1_bound(*, n_tasks: int, n_kernels: int, n: int, gamma: float) -> float:
    """Return the printed bound on the complexity, √(√3 γ R M / (nT)) (eq. 27), R = 1.

    It is no bound: it tends to 0 where the complexity does not (γ → 0, T → ∞).
    """
    return math.sqrt(math.sqrt(3) * gamma * n_kernels / (n * n_tasks))
