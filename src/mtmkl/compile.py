"""Compile all solvers at once: ``python -m mtmkl.compile``.

Without it, the first fit of a method compiles what the method needs.
"""

import argparse
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from mtmkl.compiled.cache import SUFFIX, cache_folder, keep_quiet, used_files
from mtmkl.methods import REGISTRY
from mtmkl.methods._base.graph import GraphEstimator

_FIRST = (
    "IndependentSVMClassifier",
    "MultiTaskFeatureLearningRegressor",
    "HierarchicalBayesRegressor",
    "CMTLClassifier",
)
"""Methods that share few routines, for processes that begin at the same time."""

_GAUSSIAN = {"name": "gaussian", "width": 1.0}
_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "IndependentSVMClassifier": [{"kernels": ["features"]}, {"kernels": [_GAUSSIAN]}],
    "MKMTFLRegressor": [{"p": 6.0, "kernels": ["linear", _GAUSSIAN]}],
    "MultiTaskMKLClassifier": [
        {
            "terms": [{"kernel": "linear", "task_kernel": "single_task"}],
            "fit_intercept": False,
        }
    ],
}
"""Parameters with which a method calls other routines than by default."""

_KEPT_SECONDS = 30 * 86400.0
"""Age from which a file is taken as one of older sources: fits of real data may call
routines that the fits here do not."""


def compile_all(processes: int | None = None) -> int:
    """Compile the solvers of all methods; delete what sources left a month ago.

    Returns the number of compiled functions on disk, where as many processes compile
    at the same time, by default one per core. Raises OSError if no folder can be
    written in which they would be kept.
    """
    folder = cache_folder()
    if folder is None:
        raise OSError("no folder for compiled code can be written: set NUMBA_CACHE_DIR")
    names = sorted(REGISTRY, key=lambda name: (name not in _FIRST, name))
    used: set[Path] = set()
    context, count = get_context("spawn"), processes or os.cpu_count()
    with ProcessPoolExecutor(count, context, keep_quiet) as pool:
        for each in as_completed([pool.submit(_compile, name) for name in names]):
            used |= each.result()
    oldest = time.time() - _KEPT_SECONDS
    for path in set(folder.glob(f"*{SUFFIX}")) - used:
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()
    return len(used)


def _compile(name: str) -> set[Path]:
    """Fit a method to a few samples, in every way that calls other routines."""
    rng = np.random.default_rng(0)
    # Methods that find graphs need tasks with the same samples and a feature for each;
    # with six tasks Whom would try all partitions.
    X, task = np.tile(rng.normal(size=(12, 7)), (7, 1)), np.repeat(np.arange(7), 12)
    y = np.where(rng.random(84) < 0.5, -1.0, 1.0)
    if issubclass(REGISTRY[name], GraphEstimator):
        y = X[np.arange(84), task]
    for params in ({}, *_VARIANTS.get(name, [])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            REGISTRY[name](**params).fit(X, y, task=task)
    return used_files()


def main() -> None:
    """Compile, and tell how many functions there are."""
    name = "python -m mtmkl.compile"
    parser = argparse.ArgumentParser(prog=name, description=__doc__)
    parser.add_argument("--processes", type=int, help="default: one per core")
    given = parser.parse_args()
    start = time.perf_counter()
    print("Compiling the solvers of all methods: up to a minute", flush=True)
    try:
        n = compile_all(given.processes)
    except OSError as error:
        sys.exit(f"{name}: {error}")
    seconds = time.perf_counter() - start
    print(f"{n} compiled functions in {cache_folder()}: {seconds:.0f} s")


if __name__ == "__main__":
    main()
