"""Compiled steps of the joint support vector dual of adaptive pooling.

For :mod:`mtmkl.solvers.med.med_pooling`, whose notation this is: v = c − K_sβ with the
kernel K_s = k + δ_tu s_t k_t, and one sum of β per task that is kept. The communal
outputs kβ and the tasks' own k_tβ_t are updated apart, so that other switches start
from a gradient that costs N additions. Where the communal kernel is a factor F
(`within` has its matrices within tasks), F'β is updated in place of kβ.

Two kinds of steps alternate. A *sweep* solves the violated tasks one after the other by
the pair steps of :mod:`mtmkl.solvers.svm.smo`, which is all there is to do where tasks
are hardly coupled. A *joint step* minimises over the free variables of all tasks by a
Cholesky factor of their kernel, whenever the sweeps have cost as much, and at once
after a change of the switches, which moves all of them and few bounds. The factor is
kept for the second derivatives.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.med.med_pooling_free import (
    FREE,
    TASKS,
    is_split,
    joint_cost,
    joint_step,
    list_free,
    write_gradient,
    write_gradient_of_task,
    write_outputs,
)
from mtmkl.solvers.med.med_pooling_split import (
    add_row,
    split_cost,
    write_communal,
    write_communal_of_task,
)
from mtmkl.solvers.svm.smo import (
    DIAGONAL,
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    intercept_at,
    pair_steps,
    rounding_error,
    step_cost,
    workspace,
)
from mtmkl.solvers.svm.task_steps import violation_at
from mtmkl.typing import FloatArray, IntArray

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


@compiled
def write_values(
    offsets: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    q: FloatArray,
    intercept: FloatArray,
    values: FloatArray,
) -> None:
    """Write q_t, the intercepts, c'β, β'K_sβ and the loss of a point."""
    v = np.empty(beta.size)
    write_gradient(offsets, c, s, outputs, v)
    linear, quadratic, loss = 0.0, 0.0, 0.0
    for t in range(s.size):
        first, last = offsets[t], offsets[t + 1]
        b = intercept_at(
            v[first:last], beta[first:last], lo[first:last], hi[first:last], 0.0
        )
        total = 0.0
        for i in range(first, last):
            total += beta[i] * outputs[1, i]
            linear += c[i] * beta[i]
            quadratic += (c[i] - v[i]) * beta[i]
            residual = v[i] - b
            loss += max(lo[i] * residual, hi[i] * residual)
        q[t] = 0.5 * total
        intercept[t] = b
    values[LINEAR], values[QUADRATIC], values[LOSS] = linear, quadratic, loss


@routine
def _sweep_task(
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    first: int,
    last: int,
    entry: int,
    lo: FloatArray,
    hi: FloatArray,
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
    n = last - first
    K = np.empty((n, n))
    c = v[first:last].copy()
    start = beta[first:last].copy()
    for a in range(n):
        row, here = K[a], slice(entry + a * n, entry + (a + 1) * n)
        source = within[here] if within.size > 0 else communal[first + a, first:last]
        part = own[here]
        for b in range(n):
            row[b] = source[b] + s * part[b]
        if start[a] != 0.0:
            add_row(row, start[a], c)
    work, index = workspace(n)
    for a in range(n):
        work[DIAGONAL, a] = K[a, a]
    done, _, credit = pair_steps(
        K,
        c,
        lo[first:last],
        hi[first:last],
        0.0,
        beta[first:last],
        v[first:last],
        work,
        index,
        tol,
        most,
        credit,
    )
    changed = 0
    for a in range(n):
        change = beta[first + a] - start[a]
        if change != 0.0:
            changed += 1
            here = slice(entry + a * n, entry + (a + 1) * n)
            if within.size > 0:
                add_row(within[here], change, outputs[0, first:last])
                add_row(communal[first + a], change, shared)
            else:
                add_row(communal[first + a], change, outputs[0])
            add_row(own[here], change, outputs[1, first:last])
    return done, credit, changed


@compiled
def solve_joint(
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    tol: float,
    diagonal: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    factor: FloatArray,
    index: IntArray,
    column: IntArray,
    size: IntArray,
    factor_s: FloatArray,
    progress: FloatArray,
) -> bool:
    """Solve for switches s from the present β until no condition is violated by more.

    Or until the rest is rounding, or no work is left: `progress` has the violation and
    what is allowed. `factor` is the last one, of the free variables in `index`, for the
    switches `factor_s`.

    Returns False after a slice of work: call again with the same arrays.
    """
    n, n_tasks = beta.size, s.size
    slice_left = SLICE
    v, violations = np.empty(n), np.empty(n_tasks)
    is_factor, shared = within.size > 0, np.empty(0)
    while True:
        if is_factor:
            shared = write_communal(
                communal, within, offsets, entries, beta, outputs[0]
            )
        write_gradient(offsets, c, s, outputs, v)
        worst = 0.0
        for t in range(n_tasks):
            first, last = offsets[t], offsets[t + 1]
            violations[t], _ = violation_at(
                v[first:last],
                beta[first:last],
                lo[first:last],
                hi[first:last],
                0.0,
                True,
            )
            worst = max(worst, violations[t])
        progress[VIOLATION] = worst
        allowed = progress[ALLOWED]
        if worst <= allowed or progress[WORK] <= 0.0:
            if progress[UPDATES] <= _REFRESH * n:
                return True
            write_outputs(communal, within, own, offsets, entries, beta, outputs)
            progress[UPDATES] = 0.0
            continue
        if progress[LOOKED] > _PATIENCE * n:
            error = progress[SHARE] * rounding_error(diagonal, c, beta)
            progress[SHARE] = min(2.0 * progress[SHARE], LAST_SHARE)
            progress[ALLOWED] = max(tol, error)
            progress[LOOKED] = 0.0
            if progress[UPDATES] > 0.0:
                write_outputs(communal, within, own, offsets, entries, beta, outputs)
                progress[UPDATES] = 0.0
            continue
        if slice_left <= 0.0:
            return False

        m, with_free = list_free(offsets, lo, hi, beta, index, column)
        size[FREE], size[TASKS] = m, with_free
        split = is_split(communal, within, m, with_free)
        if split:
            cost = 2.0 * split_cost(m, with_free, communal.shape[1])
        else:
            cost = joint_cost(n, m, with_free)
        if m > with_free and progress[JOINT_CREDIT] > _FACE_RATIO * cost:
            factor_s[:] = s
            paid = joint_step(
                communal,
                within,
                own,
                offsets,
                entries,
                c,
                lo,
                hi,
                s,
                beta,
                outputs,
                v,
                factor,
                index,
                column,
                size,
                split,
            )
            progress[JOINT_CREDIT] = 0.0 if paid else -FAR
            progress[UPDATES] = 0.0
            progress[LOOKED] += m
            progress[WORK] -= cost
            slice_left -= cost
            continue
        size[FREE] = 0
        if progress[JOINT_CREDIT] >= FAR:
            progress[JOINT_CREDIT] = 0.0
        is_moved = False
        for t in range(int(progress[TASK]), n_tasks):
            if violations[t] <= max(allowed, _SWEPT * worst):
                continue
            first, last = offsets[t], offsets[t + 1]
            if is_factor:
                write_communal_of_task(
                    communal, within, first, last, entries[t], beta, shared, outputs[0]
                )
            write_gradient_of_task(first, last, c, s[t], outputs, v)
            affordable = min(slice_left, progress[WORK]) / step_cost(last - first)
            most = max(int(affordable), _LEAST_STEPS)
            done, credit, changed = _sweep_task(
                communal,
                within,
                own,
                first,
                last,
                entries[t],
                lo,
                hi,
                s[t],
                max(0.5 * allowed, _SWEEP * violations[t]),
                most,
                beta,
                outputs,
                v,
                progress[CREDIT],
                shared,
            )
            is_moved = is_moved or changed > 0
            spent = done * step_cost(last - first) + changed * communal.shape[1]
            spent += 2.0 * (last - first) ** 2
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
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
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
    n, n_tasks = beta.size, log_odds.size
    v = np.empty(n)
    is_factor, shared = within.size > 0, np.empty(0)
    if is_factor:
        shared = write_communal(communal, within, offsets, entries, beta, outputs[0])
    work_left = SLICE
    for _ in range(_TURNS):
        is_settled = True
        for t in range(n_tasks):
            first, last = offsets[t], offsets[t + 1]
            lowest, highest = -FAR, FAR
            if is_factor:
                write_communal_of_task(
                    communal, within, first, last, entries[t], beta, shared, outputs[0]
                )
            for _ in range(_TRIALS):
                s = 1.0 / (1.0 + np.exp(-log_odds[t]))
                write_gradient_of_task(first, last, c, s, outputs, v)
                violation, _ = violation_at(
                    v[first:last],
                    beta[first:last],
                    lo[first:last],
                    hi[first:last],
                    0.0,
                    True,
                )
                if violation > _ROUGH:
                    most = max(int(work_left / step_cost(last - first)), _LEAST_STEPS)
                    done, _, changed = _sweep_task(
                        communal,
                        within,
                        own,
                        first,
                        last,
                        entries[t],
                        lo,
                        hi,
                        s,
                        max(_ROUGH, _SWEEP * violation),
                        most,
                        beta,
                        outputs,
                        v,
                        0.0,
                        shared,
                    )
                    spent = done * step_cost(last - first)
                    work_left -= spent + changed * communal.shape[1]
                q, free = 0.0, 0.0
                for i in range(first, last):
                    part = 0.5 * beta[i] * outputs[1, i]
                    q += part
                    if lo[i] < beta[i] < hi[i]:
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
