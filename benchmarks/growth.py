"""Time and memory of every method against tasks, samples, features and kernels.

The methods of ``config/own_data`` with the grid of its quick tier, on drawn data:
around 20 tasks of 30 samples, 10 features and five kernels one size grows. Measured
is the search over the grid in a process forked from a warm one, on one thread, and the
peak of its memory beyond what it had. Sizes end where one takes too long.
"""

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Table, peak_bytes, slope_of

from mtmkl.model_selection.path_search import fits_along
from mtmkl.typing import FloatArray
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.config.models import Method
from mtmkl_suite.config.own_data import TEMPLATE
from mtmkl_suite.documents import config_dir
from mtmkl_suite.evaluation.cells import drawn_points
from mtmkl_suite.methods import resolve

TITLE = "Growth of time and memory, by method"
BASE = {"tasks": 20, "samples": 30, "features": 10, "kernels": 5}
SIZES = {
    "tasks": (5, 10, 20, 40, 80, 160, 320),
    "samples": (15, 30, 60, 120, 240, 480),
    "features": (5, 10, 20, 40, 80, 160, 320),
    "kernels": (1, 2, 5, 10, 20, 40),
}
#: Seconds from which on larger sizes are left out.
SLOW, SLOW_QUICK = 2.0, 0.02
CONTROLS = ("floor", "ceiling")

Search = Callable[[], Any]


def drawn(sizes: Mapping[str, int], is_labels: bool) -> tuple[FloatArray, ...]:
    """Return features, targets and tasks: shared and own parts of each task."""
    rng = np.random.default_rng(0)
    n_tasks, d = sizes["tasks"], sizes["features"]
    task = np.repeat(np.arange(n_tasks), sizes["samples"])
    X = rng.standard_normal((task.size, d))
    W = rng.standard_normal((d, n_tasks)) + rng.standard_normal((d, 1))
    f = np.einsum("nd,dn->n", X, W[:, task]) / np.sqrt(2 * d)
    y = f + 0.5 * rng.standard_normal(task.size)
    return X, np.where(y > 0, 1.0, -1.0) if is_labels else y, task


def search_at(method: Method, sizes: Mapping[str, int], is_labels: bool) -> Search:
    """Return the search of a method over its grid on drawn data."""
    X, y, task = drawn(sizes, is_labels)
    params = dict(method.params)
    if isinstance(params.get("kernels"), list):
        widths = np.geomspace(0.5, 32.0, sizes["kernels"])
        params["kernels"] = [{"name": "gaussian", "width": float(w)} for w in widths]
    estimator = resolve(method.class_name)(**params)
    points = drawn_points(method, method.label, 0)
    return lambda: list(fits_along(estimator, X, y, task, points))


def in_its_own_process(search: Search, n_repeats: int) -> tuple[float, float]:
    """Return the processor seconds and the peak of memory (MB) of a search."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            Path("/proc/self/clear_refs").write_text("5")  # a new peak begins
            before = peak_bytes()
            times = []
            for _ in range(n_repeats):
                begin = time.process_time()
                search()
                times.append(time.process_time() - begin)
            found = [float(np.median(times)), (peak_bytes() - before) / 2**20]
            os.write(writer, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    seconds, megabytes = json.loads(text)
    return seconds, megabytes


def measure(table: Table, *, quick: bool) -> None:
    """Measure all methods."""
    config = load_paper(config_dir() / TEMPLATE, "quick")
    slow = SLOW_QUICK if quick else SLOW
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in config.experiments:
            for entry in config.experiments[name].methods:
                if entry.method not in CONTROLS:
                    method = config.method_of(entry)
                    _along_axes(table, method, name == "labels", slow)


def _along_axes(table: Table, method: Method, is_labels: bool, slow: float) -> None:
    """Add the rows of a method."""
    search_at(method, dict.fromkeys(BASE, 5) | {"samples": 15}, is_labels)()  # compiles
    at_base = in_its_own_process(search_at(method, BASE, is_labels), 3)
    for axis, sizes in SIZES.items():
        if axis == "kernels" and not isinstance(method.params.get("kernels"), list):
            continue
        found: list[tuple[int, float]] = []
        for size in sizes:
            seconds, megabytes = at_base
            if size != BASE[axis]:
                search = search_at(method, {**BASE, axis: size}, is_labels)
                n_repeats = 1 if at_base[0] > 0.3 else 3
                seconds, megabytes = in_its_own_process(search, n_repeats)
            found.append((size, seconds))
            table.add(
                series=f"search over the grid, by {axis}", axis=axis, size=size,
                baseline=method.label, seconds=seconds, peak_mb=max(megabytes, 0.1),
            )  # fmt: skip
            if seconds > slow and size >= BASE[axis]:
                break
        if len(found) > 2:
            table.rows[-1]["slope"] = slope_of(found)
