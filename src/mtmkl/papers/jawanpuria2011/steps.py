"""Numbers that figures of Jawanpuria and Nath 2011 draw and do not compute themselves.

All on School, on the training examples of the first split of its experiment.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mtmkl.datasets import MultiTaskData, load, make_split
from mtmkl.methods import MKMTFLRegressor
from mtmkl.reporting.context import Context

EXPERIMENT = "school"
SCALING_P, SCALING_C, SCALING_TOL = 6.0, 0.5, 1e-3
N_TASKS: Mapping[str, tuple[int, ...]] = {
    "quick": (10, 60),
    "paper": (10, 20, 30, 40, 50, 60, 80, 100, 139),
}
"""Tasks of Fig. 1a, by tier; the paper goes to 60."""
N_KERNELS: Mapping[str, tuple[int, ...]] = {
    "quick": (10, 100),
    "paper": (10, 50, 100, 200, 300, 400, 500, 600),
}
"""Kernels of Fig. 1b, by tier."""
KERNEL_TASKS = 60
"""Tasks of Fig. 1b."""

_TIMES = 3  # of which the median counts


def scaling(context: Context) -> pd.DataFrame:
    """Return the time of MK-MTFL against the number of tasks and of kernels.

    Against tasks with the paper's seven kernels; against kernels on 60 tasks, with
    Gaussian kernels of widths from 0.01 to 1000, evenly spaced on a logarithmic scale.

    Parameters
    ----------
    context : Context

    Returns
    -------
    DataFrame
        ``axis`` ("tasks" or "kernels"), ``count``, ``seconds`` (median of three fits to
        a relative gap of 1e-3), ``gap`` and ``n_iter``.
    """
    data = training_data(context)
    tier = context.config["tier"]
    rows = []
    for count in N_TASKS[tier]:
        rows.append({"axis": "tasks", "count": count, **_timed(data, count)})
    for count in N_KERNELS[tier]:
        widths = np.geomspace(1e-2, 1e3, count).tolist()
        kernels = [{"name": "gaussian", "width": width} for width in widths]
        timed = _timed(data, KERNEL_TASKS, kernels=kernels)
        rows.append({"axis": "kernels", "count": count, **timed})
    return pd.DataFrame(rows)


def training_data(context: Context) -> MultiTaskData:
    """Return the training examples of the first split of School."""
    config = context.config
    spec = config["experiments"][EXPERIMENT]
    data = load(spec["datasets"]["name"], **spec["datasets"]["options"])
    name = spec["protocol"]
    protocol = {"id": name, **config["protocols"][name]}
    (size,) = protocol["train_sizes"]
    split = make_split(data, protocol, config["seed"], train_size=size, repeat=0)
    return data.subset(split.train)


def first_tasks(data: MultiTaskData, count: int) -> MultiTaskData:
    """Return the examples of the first tasks."""
    return data.select_tasks(np.arange(count))


def _timed(data: MultiTaskData, n_tasks: int, **settings: Any) -> dict[str, Any]:
    part = first_tasks(data, n_tasks)
    method = MKMTFLRegressor(
        SCALING_C,
        SCALING_P,
        standardize_target=True,
        standardize=True,
        tol=SCALING_TOL,
        **settings,
    )
    seconds = sorted(_seconds(method, part))
    return {
        "seconds": seconds[len(seconds) // 2],
        "gap": method.duality_gap_,
        "n_iter": method.n_iter_,
    }


def _seconds(method: Any, data: MultiTaskData) -> Iterator[float]:
    method.fit(data.X, data.y, task=data.task)  # compiles, if nobody has
    for _ in range(_TIMES):
        start = time.perf_counter()
        method.fit(data.X, data.y, task=data.task)
        yield time.perf_counter() - start
