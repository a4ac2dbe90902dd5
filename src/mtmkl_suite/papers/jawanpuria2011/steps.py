"""Times and objectives behind the figures of Jawanpuria and Nath 2011.

All on School. Its splits are drawn as in its experiment, from the seed 0. Where School
is missing the tables have no rows.
"""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from mtmkl.datasets import MultiTaskData
from mtmkl.methods import MKMTFLRegressor, MKMTSFLRegressor
from mtmkl.methods.mkmtfl import SEVEN_KERNELS
from mtmkl_suite.data import load, make_split
from mtmkl_suite.papers.jawanpuria2011 import alternation as lambda_and_alpha
from mtmkl_suite.papers.jawanpuria2011.mixed_norm_descent import MirrorDescentMKMTFL
from mtmkl_suite.papers.jawanpuria2011.mixed_schatten_descent import (
    AlternatingMKMTSFL,
    MirrorDescentMKMTSFL,
)
from mtmkl_suite.report.context import Context

EXPERIMENT = "school"
STANDARDIZED: Mapping[str, Any] = {"standardize_target": True, "standardize": True}

SCALING_P, SCALING_C, SCALING_TOL = 6.0, 0.5, 1e-3
SCALING_SOLVERS = {"newton": MKMTFLRegressor, "mirror_descent": MirrorDescentMKMTFL}
N_TASKS: Mapping[str, Sequence[int]] = {
    "quick": (10, 60),
    "paper": (10, 20, 30, 40, 50, 60, 80, 100, 139),
}
"""Tasks of Fig. 1a, by tier; the paper goes to 60."""
N_KERNELS: Mapping[str, Sequence[int]] = {
    "quick": (10, 30),
    "paper": (10, 50, 100, 200, 400, 600),
}
"""Kernels of Fig. 1b, by tier."""
KERNEL_TASKS = 60
"""Tasks of Fig. 1b."""
N_SPLITS: Mapping[str, int] = {"quick": 1, "paper": 5}
"""Splits over which times are compared, by tier."""

CONVERGENCE_SOLVERS = {
    "mirror_descent": MirrorDescentMKMTSFL,
    "alternating": AlternatingMKMTSFL,
}
CONVERGENCE_TASKS = (20, 139)
"""Of Fig. 1c and 1d."""
CONVERGENCE_C = 5.0
"""Of Fig. 1c and 1d; the paper does not say which."""
SPEED_C: Mapping[str, Sequence[float]] = {"quick": (5.0,), "paper": (0.5, 5.0, 50.0)}
N_FITS: Mapping[str, int] = {"quick": 1, "paper": 3}
"""Fits whose median time counts, by tier."""
LIMIT: Mapping[str, int] = {"quick": 30, "paper": 100}
"""Iterations of mirror descent and of alternate minimisation at most."""
LEVELS = (0.01, 0.001)
"""Shares of the least objective by which one near it is above it."""

ALTERNATION_P = (6.0, 8.67)
USED_P = (2.0, 6.0, 8.67)
USED_FEATURES: Mapping[str, int | None] = {"quick": 4, "paper": None}
"""School's first features, by tier: more than 32 kernels take long to compile."""
ALTERNATIONS = 100
"""At most."""
PRINTED_ALTERNATIONS = 5
"""The upper end of what the paper needs."""

_USED = 1e-6  # of γ, whose sum is 1
_HISTORY_TOL, _OPTIMUM_TOL = 1e-4, 1e-5


def scaling(context: Context) -> pd.DataFrame:
    """Return the time of MK-MTFL against the number of tasks and of kernels.

    Against tasks with the paper's seven kernels; against kernels on 60 tasks, with
    Gaussian kernels of widths from 0.01 to 1000. Seconds are of the processor.
    """
    tier = context.config.tier
    cases: list[tuple[str, int, int, dict[str, Any]]]
    cases = [("tasks", count, count, {}) for count in N_TASKS[tier]]
    for count in N_KERNELS[tier]:
        widths = np.geomspace(1e-2, 1e3, count).tolist()
        kernels = [{"name": "gaussian", "width": width} for width in widths]
        cases.append(("kernels", count, KERNEL_TASKS, {"kernels": kernels}))
    rows = []
    for repeat, data in _splits(context, N_SPLITS[tier]):
        for solver, (axis, count, n_tasks, settings) in product(SCALING_SOLVERS, cases):
            where = {"axis": axis, "solver": solver, "repeat": repeat, "count": count}
            timed = _timed(_first_tasks(data, n_tasks), solver, tier, **settings)
            rows.append(where | timed)
    columns = ["axis", "solver", "repeat", "count", "seconds", "gap", "n_iter"]
    return pd.DataFrame(rows, columns=columns)


def convergence(context: Context) -> pd.DataFrame:
    """Return the objective of MK-MTSFL with one kernel after each iteration.

    With one kernel, which is linear, it is MTSFL, whatever q. Iteration 0 is the start,
    equal weights; ``excess`` is the share by which the objective is above the least
    one.
    """
    columns = ["n_tasks", "solver", "iteration", "objective", "seconds", "excess"]
    found = _histories(context, 1, [CONVERGENCE_C])
    tables = [history.assign(**where)[columns] for where, history in found]
    if not tables:
        return pd.DataFrame(columns=columns)
    return pd.concat(tables, ignore_index=True)


def convergence_speed(context: Context) -> pd.DataFrame:
    """Return when the objective of MK-MTSFL with one kernel comes near its least.

    Iterations and seconds are those until the objective is above the least one by at
    most the ``level``, or until the limit of iterations if that is not ``reached``.
    """
    tier = context.config.tier
    found = _histories(context, N_SPLITS[tier], SPEED_C[tier])
    rows = [
        where | _reached(history, level) for where, history in found for level in LEVELS
    ]
    columns = [
        "n_tasks", "C", "repeat", "solver", "level", "iterations", "seconds", "reached",
        "seconds_of_one",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def alternation(context: Context) -> pd.DataFrame:
    """Return how often λ and α alternate until f(γ) of MK-MTFL is nearly reached.

    With the paper's seven kernels, from equal λ; γ are all equal, or those of the
    solution. Rows "printed" have what the paper says.
    """
    tier = context.config.tier
    rows = []
    for repeat, data in _splits(context, N_SPLITS[tier]):
        spread = float(data.y.std())
        problem = lambda_and_alpha.regression_problem(
            data.X, data.y, data.task, SEVEN_KERNELS, 0.1 * spread
        )
        equal = np.full(problem.n_weights, 1.0 / problem.n_weights)
        for p, C in product(ALTERNATION_P, SPEED_C[tier]):
            weights = {"equal": equal, "solution": _fitted(data, C, p).gamma_}
            for name, gamma in weights.items():
                at = problem, C * spread, p, gamma
                best = lambda_and_alpha.greatest(*at)
                values = lambda_and_alpha.alternate(*at, ALTERNATIONS)
                where = {"p": p, "C": C, "repeat": repeat, "gamma": name}
                for level in LEVELS:
                    near = np.flatnonzero(values >= best * (1.0 - level))
                    count = int(near[0]) + 1 if near.size else ALTERNATIONS
                    counts = {"alternation": count, "printed": PRINTED_ALTERNATIONS}
                    rows += [
                        {"of": of, **where, "level": level, "iterations": iterations}
                        for of, iterations in counts.items()
                    ]
    columns = ["of", "p", "C", "repeat", "gamma", "level", "iterations"]
    return pd.DataFrame(rows, columns=columns)


def kernels_used(context: Context) -> pd.DataFrame:
    """Return how many kernels have a weight in MK-MTFL, of seven for each feature."""
    tier = context.config.tier
    kernels = [{**kernel, "feature": "each"} for kernel in SEVEN_KERNELS]
    rows = []
    for repeat, split in _splits(context, N_SPLITS[tier]):
        X = split.X[:, : USED_FEATURES[tier]]
        data = replace(split, X=X, feature_names=())
        for p, C in product(USED_P, SPEED_C[tier]):
            gamma = _fitted(data, C, p, kernels=kernels).gamma_
            counts = {"used": int(np.sum(gamma > _USED)), "half": gamma.size / 2}
            where = {"p": p, "C": C, "repeat": repeat}
            rows += [{"of": k, **where, "kernels": n} for k, n in counts.items()]
    return pd.DataFrame(rows, columns=["of", "p", "C", "repeat", "kernels"])


def _fitted(
    data: MultiTaskData, C: float, p: float, **settings: Any
) -> MKMTFLRegressor:
    method = MKMTFLRegressor(C, p, **STANDARDIZED, **settings)
    return method.fit(data.X, data.y, task=data.task)


def _reached(history: pd.DataFrame, level: float) -> dict[str, Any]:
    """Return when an objective is near its least; the last entry if it never is."""
    near = np.flatnonzero(history["excess"] <= level)
    at = history.iloc[near[0] if near.size else -1]
    return {
        "level": level,
        "iterations": int(at["iteration"]),
        "seconds": at["seconds"],
        "reached": bool(near.size),
        "seconds_of_one": at["seconds"] / max(int(at["iteration"]), 1),
    }


def _splits(context: Context, most: int) -> Iterator[tuple[int, MultiTaskData]]:
    """Yield the first splits of School and their training samples.

    A run may have fewer than are wanted.
    """
    found = [context.data_info.get(d, {}) for d in context.datasets(EXPERIMENT)]
    if any(info.get("status") == "missing" for info in found):
        return
    config = context.config
    spec = config.experiments[EXPERIMENT]
    data = load(spec.datasets.name, **spec.datasets.options)
    protocol = config.protocols[spec.protocol].named(spec.protocol)
    (size,) = protocol.sizes
    for repeat in range(min(most, config.n_repeats(EXPERIMENT))):
        split = make_split(data, protocol, 0, train_size=size, repeat=repeat)
        yield repeat, data.subset(split.train)


def _first_tasks(data: MultiTaskData, count: int) -> MultiTaskData:
    return data.select_tasks(np.arange(count))


def _timed(
    data: MultiTaskData, solver: str, tier: str, **settings: Any
) -> dict[str, Any]:
    method = SCALING_SOLVERS[solver](
        SCALING_C, SCALING_P, tol=SCALING_TOL, **STANDARDIZED, **settings
    )
    seconds = []
    for _ in range(N_FITS[tier]):
        start = time.process_time()
        method.fit(data.X, data.y, task=data.task)
        seconds.append(time.process_time() - start)
    return {
        "seconds": float(np.median(seconds)),
        "gap": method.duality_gap_,
        "n_iter": method.n_iter_,
    }


def _histories(
    context: Context, n_splits: int, costs: Sequence[float]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield what each iteration of both solvers reaches, and where that is."""
    tier = context.config.tier
    for repeat, data in _splits(context, n_splits):
        for count, C in product(CONVERGENCE_TASKS, costs):
            part = _first_tasks(data, count)
            settings = {"kernels": [{"name": "linear"}], **STANDARDIZED}
            best = MKMTSFLRegressor(C, 1.0, tol=_OPTIMUM_TOL, **settings)
            least = float(best.fit(part.X, part.y, task=part.task).objective_)
            for solver in CONVERGENCE_SOLVERS:
                where = {"n_tasks": count, "C": C, "repeat": repeat, "solver": solver}
                yield where, _history(part, C, solver, tier, least)


def _history(
    data: MultiTaskData, C: float, solver: str, tier: str, least: float
) -> pd.DataFrame:
    """Return what each iteration reaches, and its time."""
    method = CONVERGENCE_SOLVERS[solver](
        C,
        1.0,
        kernels=[{"name": "linear"}],
        tol=_HISTORY_TOL,
        max_iter=LIMIT[tier],
        **STANDARDIZED,
    )
    seconds = []
    with warnings.catch_warnings():
        # Alternate minimisation is slow to certify what it reaches.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(N_FITS[tier]):
            method.fit(data.X, data.y, task=data.task)
            seconds.append(method.seconds_)
    objective = method.history_
    return pd.DataFrame(
        {
            "iteration": np.arange(objective.size),
            "objective": objective,
            "seconds": np.median(seconds, axis=0),
            "excess": objective / least - 1.0,
        }
    )
