"""Independent ridge regressions, one per task, in closed form."""

import numpy as np

from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution, certified
from mtmkl.typing import FloatArray


def solve_ridge(tasks: TaskDecomposition, gamma: float | FloatArray) -> Solution:
    """Minimise Σ_t (||y_t − X_t w_t||² + γ_t ||w_t||²).

    Parameters
    ----------
    tasks : TaskDecomposition
        The data, shared between all γ.
    gamma : float or ndarray of shape (T,)
        γ_t > 0, one for all tasks or one per task.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T); ``dual`` of shape (n,), a_t = 2(y_t − X_t w_t), whose
        value is Σ_t (y_t'a_t − ¼||a_t||² − ||X_t'a_t||²/(4γ_t)).
    """
    gammas = np.broadcast_to(np.asarray(gamma, dtype=float), (tasks.n_tasks,))
    ridge, singular, target = gammas[tasks.owner], tasks.singular, tasks.target
    # w_t = Σ_j s_j c_j / (s_j² + γ_t) v_j: the v_j are orthonormal within a task.
    along = singular * target / (singular**2 + ridge)
    # Of c_j − s_j·along_j, without its cancellation where s_j² is far above γ_t.
    residual = ridge * target / (singular**2 + ridge)
    objective = tasks.constant + residual @ residual + (ridge * along) @ along
    dual = 2.0 * residual
    bound = tasks.constant + target @ dual - dual @ dual / 4
    bound -= np.sum((singular * dual) ** 2 / (4 * ridge))
    return Solution(
        coef=tasks.back(along).T,
        certificate=certified([float(objective)], float(bound), 1, "converged"),
        dual=tasks.expand(dual),
    )
