"""Compiled steps of the joint support vector dual of adaptive pooling.

For :mod:`mtmkl.solvers.med.med_pooling`, whose notation this is: v = c − K_sβ with the
kernel K_s = k + δ_tu s_t k_t, and one sum of β per task that is kept. The communal
outputs kβ and the tasks' own k_tβ_t are updated apart, so that other switches start
from a gradient that costs N additions. Where the communal kernel is a factor F, F'β is
updated in place of kβ.

Two kinds of steps alternate. A *sweep* solves the violated tasks one after the other by
the pair steps of :mod:`mtmkl.solvers.svm.smo`, which is all there is to do where tasks
are hardly coupled. A *joint step* minimises over the free variables of all tasks by a
Cholesky factor of their kernel, whenever the sweeps have cost as much, and at once
after a change of the switches, which moves all of them and few bounds.
"""

from typing import Any

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, routine, total
from mtmkl.solvers.med.med_pooling_free import (
    Pooled,
    joint_cost,
    joint_step,
    list_free,
    outputs_of_task,
    shared_part,
    write_gradient,
    write_gradients,
    write_outputs,
)
from mtmkl.solvers.svm.smo import (
    DIAGONAL,
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    Dual,
    intercept_at,
    pair_steps,
    rounding_error,
    step_cost,
    workspace,
)
from mtmkl.solvers.svm.task_steps import violation_at
from mtmkl.typing import FloatArray

_FACE_RATIO = 1.0  # multiplications of sweeps for each of a joint step's
_SWEEP = 0.1  # violation that a sweep leaves in a task, relative to the one it finds
_SWEPT = 0.1  # violation of the tasks that are swept, relative to the largest
_PATIENCE = 16  # pair steps per variable between two looks at the rounding errors
_REFRESH = 4  # updates per variable after which outputs are computed afresh
_LEAST_STEPS = 16
_TURNS, _TRIALS = 4, 8  # of switches that move: of all, and of one within
_ROUGH = 0.005  # violation that is left where switches move
_SETTLED = 0.02  # change of log-odds that is

# What a slice of work hands to the next, and to Python.
TASK, CREDIT, JOINT_CREDIT, SHARE, LOOKED, UPDATES, WORK, ALLOWED, VIOLATION = range(9)
N_PROGRESS = 9
# Values at a point.
LINEAR, QUADRATIC, LOSS = range(3)
N_VALUES = 3


def first_progress(tol: float, work: float) -> FloatArray:
    """Return the progress to begin with: a joint step is granted."""
    progress = np.zeros(N_PROGRESS)
    progress[JOINT_CREDIT], progress[SHARE] = FAR, FIRST_SHARE
    progress[WORK], progress[ALLOWED] = work, tol
    return progress


@routine
def _dual_of(data: Pooled, t: int, beta: FloatArray, v: FloatArray) -> Dual:
    """Return the dual of a task, for the present outputs of the others."""
    own = slice(data.offsets[t], data.offsets[t + 1])
    return Dual(data.c[own], data.lo[own], data.hi[own], 0.0, beta[own], v[own])


@compiled
def write_values(
    arrays: tuple[Any, ...],
    s: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    q: FloatArray,
    intercept: FloatArray,
    values: FloatArray,
) -> None:
    """Write q_t, the intercepts, c'β, β'K_sβ and the loss of a point."""
    data, n = Pooled(*arrays), beta.size
    v = np.empty(n)
    write_gradients(data, s, outputs, v)
    values[LINEAR] = dot(data.c, beta)
    values[QUADRATIC] = values[LINEAR] - dot(v, beta)
    for t in range(s.size):
        first, last = data.offsets[t], data.offsets[t + 1]
        intercept[t] = intercept_at(_dual_of(data, t, beta, v))
        q[t] = 0.5 * dot_at(beta, first, outputs, n + first, last - first)
        for i in range(first, last):
            residual = v[i] - intercept[t]
            v[i] = max(data.lo[i] * residual, data.hi[i] * residual)
    values[LOSS] = total(v)


@routine
def _violation(data: Pooled, t: int, beta: FloatArray, v: FloatArray) -> float:
    """Return the largest violation of the conditions of a task."""
    dual = _dual_of(data, t, beta, v)
    equality = dual.v.size > 0  # no literal, which Numba would compile for once more
    violation, _ = violation_at(dual, equality)
    return violation


@routine
def _sweep_task(
    data: Pooled,
    t: int,
    s: float,
    tol: float,
    most: int,
    beta: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
    credit: float,
    shared: FloatArray,
) -> tuple[int, float, int]:
    """Solve one task's dual for the present outputs of the others, in place.

    With a factor, `shared` is updated and not the outputs of the others.

    Returns the pair steps done, their credit (`pair_steps`), and how many β changed.
    """
    first, last = data.offsets[t], data.offsets[t + 1]
    n, entry = last - first, data.entries[t]
    K = np.empty((n, n))
    work, index = workspace(n)
    c, start = np.empty(n), np.empty(n)
    for a in range(n):
        c[a], start[a] = v[first + a], beta[first + a]
    for a in range(n):
        k = entry + a * n
        row, within, own = K[a], data.within[k : k + n], data.own[k : k + n]
        for b in range(n):
            row[b] = within[b] + s * own[b]
        work[DIAGONAL, a] = row[a]
        if start[a] != 0.0:
            add_scaled(c, start[a], row)
    dual = _dual_of(data, t, beta, v)
    dual = Dual(c, dual.lo, dual.hi, 0.0, dual.beta, dual.v)
    done, _, credit = pair_steps(K, dual, work, index, tol, most, credit)
    changed = 0
    for a in range(n):
        change = beta[first + a] - start[a]
        if change == 0.0:
            continue
        changed += 1
        k = entry + a * n
        add_scaled(outputs[1, first:last], change, data.own[k : k + n])
        row = data.communal[first + a]
        if data.is_factor:
            add_scaled(outputs[0, first:last], change, data.within[k : k + n])
            add_scaled(shared, change, row)
        else:
            add_scaled(outputs[0], change, row)
    return done, credit, changed


@compiled
def solve_joint(
    arrays: tuple[Any, ...],
    s: FloatArray,
    tol: float,
    diagonal: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    progress: FloatArray,
    slice_left: float,
) -> bool:
    """Solve for switches s from the present β until no condition is violated by more.

    Or until the rest is rounding, or no work is left: `progress` has the violation and
    what is allowed.

    Returns False after a slice of work: call again with the same arrays.
    """
    data, n = Pooled(*arrays), beta.size
    v, violations = np.empty(n), np.empty(s.size)
    while True:
        shared = shared_part(data, beta)
        progress[VIOLATION] = 0.0
        for t in range(s.size):
            if data.is_factor:
                outputs_of_task(data, t, beta, shared, outputs[0])
            write_gradient(data, t, s[t], outputs, v)
            violations[t] = _violation(data, t, beta, v)
            progress[VIOLATION] = max(progress[VIOLATION], violations[t])
        is_done = progress[VIOLATION] <= progress[ALLOWED] or progress[WORK] <= 0.0
        if is_done and progress[UPDATES] <= _REFRESH * n:
            return True
        is_long = not is_done and progress[LOOKED] > _PATIENCE * n
        if is_long:
            error = progress[SHARE] * rounding_error(diagonal, data.c, beta)
            progress[SHARE] = min(2.0 * progress[SHARE], LAST_SHARE)
            progress[ALLOWED] = max(tol, error)
            progress[LOOKED] = 0.0
        if is_done or is_long:
            if progress[UPDATES] > 0.0:
                write_outputs(data, beta, outputs)
                progress[UPDATES] = 0.0
            continue
        if slice_left <= 0.0:
            return False

        index, starts, n_tasks = list_free(data, beta)
        m = index.size
        rank = data.communal.shape[1]
        cost = joint_cost(m, n_tasks, n, data.is_factor, rank)
        if m > n_tasks and progress[JOINT_CREDIT] > _FACE_RATIO * cost:
            pays = joint_step(data, s, index, starts, n_tasks, beta, outputs, v)
            progress[JOINT_CREDIT] = 0.0 if pays else -FAR
            progress[UPDATES] = 0.0
            progress[LOOKED] += m
            progress[WORK] -= cost
            slice_left -= cost
            continue
        if progress[JOINT_CREDIT] >= FAR:
            progress[JOINT_CREDIT] = 0.0
        is_moved = False
        for t in range(int(progress[TASK]), s.size):
            if violations[t] <= max(progress[ALLOWED], _SWEPT * progress[VIOLATION]):
                continue
            size = data.offsets[t + 1] - data.offsets[t]
            if data.is_factor:
                outputs_of_task(data, t, beta, shared, outputs[0])
            write_gradient(data, t, s[t], outputs, v)
            affordable = min(slice_left, progress[WORK]) / step_cost(size)
            most = max(int(affordable), _LEAST_STEPS)
            enough = max(0.5 * progress[ALLOWED], _SWEEP * violations[t])
            done, credit, changed = _sweep_task(
                data, t, s[t], enough, most, beta, outputs, v, progress[CREDIT], shared
            )
            is_moved = is_moved or changed > 0
            spent = done * step_cost(size) + 2.0 * size * size
            spent += changed * data.communal.shape[1]
            progress[JOINT_CREDIT] += spent
            progress[LOOKED] += done
            progress[UPDATES] += changed
            progress[WORK] -= spent
            slice_left -= spent
            progress[CREDIT] = credit if done == most else 0.0
            if slice_left <= 0.0:
                progress[TASK] = t
                return False
        progress[TASK] = 0.0
        if not is_moved:
            # Rounding is all that is left of what is asked for.
            progress[LOOKED] += _PATIENCE * n + 1.0


@compiled
def move_switches(
    arrays: tuple[Any, ...],
    log_alpha: float,
    beta: FloatArray,
    outputs: FloatArray,
    log_odds: FloatArray,
) -> None:
    """Improve log-odds u and β in turns, a task at a time, in place.

    Given the others' outputs, q_t(u_t) − log α − u_t falls in u_t. Its root is sought
    by Newton's method within a bracket, as if multipliers at a bound stayed there and
    the free ones were inverse to s_t.
    """
    data = Pooled(*arrays)
    v, shared = np.empty(beta.size), shared_part(data, beta)
    work_left = SLICE
    for _ in range(_TURNS):
        is_settled = True
        for t in range(log_odds.size):
            n = data.offsets[t + 1] - data.offsets[t]
            lowest, highest = -FAR, FAR
            if data.is_factor:
                outputs_of_task(data, t, beta, shared, outputs[0])
            for _ in range(_TRIALS):
                s = 1.0 / (1.0 + np.exp(-log_odds[t]))
                write_gradient(data, t, s, outputs, v)
                violation = _violation(data, t, beta, v)
                if violation > _ROUGH:
                    most = max(int(work_left / step_cost(n)), _LEAST_STEPS)
                    tol = max(_ROUGH, _SWEEP * violation)
                    done, _, changed = _sweep_task(
                        data, t, s, tol, most, beta, outputs, v, 0.0, shared
                    )
                    work_left -= done * step_cost(n) + changed * data.communal.shape[1]
                q, free = 0.0, 0.0
                for i in range(data.offsets[t], data.offsets[t + 1]):
                    part = 0.5 * beta[i] * outputs[1, i]
                    q += part
                    if data.lo[i] < beta[i] < data.hi[i]:
                        free += part
                residual = q - log_alpha - log_odds[t]
                step = residual / (1.0 + 2.0 * max(free, 0.0) * (1.0 - s))
                if abs(step) < _SETTLED:
                    break
                is_settled = False
                if residual > 0.0:
                    lowest = log_odds[t]
                else:
                    highest = log_odds[t]
                moved = log_odds[t] + step
                if moved <= lowest or moved >= highest:
                    moved = 0.5 * (lowest + highest)
                log_odds[t] = moved
            if work_left <= 0.0:
                return
        if is_settled:
            return
