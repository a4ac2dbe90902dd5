"""The bound of Theorem 1 and the audit of printed tables, Yousefi et al. 2015."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtmkl.kernels.base import CosineNormalized, Gaussian, Kernel, Linear, Polynomial
from mtmkl.typing import FloatArray
from mtmkl_suite.papers.yousefi2015.audit import audit_table
from mtmkl_suite.papers.yousefi2015.rademacher import complexity_draws, theorem_1_bound
from mtmkl_suite.report.context import Context

# Where the panels on Theorem 1 meet, and what they vary.
BASE: Mapping[str, Any] = {"n_tasks": 8, "n": 20, "gamma": 1.0}
VARIED: Mapping[str, Sequence[float]] = {
    "n_tasks": (2, 4, 8, 16, 32),
    "n": (10, 20, 40, 80),
    "gamma": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
}
_N_FEATURES = 4
_N_DRAWS = 12


def complexity(context: Context) -> pd.DataFrame:
    """Return the bound of Theorem 1 and the complexity, by what is varied.

    For the class of eqs. (24)–(25) with R = 1, the paper's ten kernels and standard
    normal features in four dimensions; with the bound that the proof gives when it
    keeps the constraint that it drops.
    """
    grams = _gram_matrices(int(max(VARIED["n_tasks"])), int(max(VARIED["n"])))
    n_kernels = grams.shape[1]
    tables = []
    for name, values in VARIED.items():
        rows = []
        for value in values:
            at = {**BASE, name: value}
            rows.append(
                {"panel": name, "x": value}
                | _complexity(grams, **at)
                | {"bound": theorem_1_bound(n_kernels=n_kernels, **at)}
            )
        tables.append(pd.DataFrame(rows))
        if name == "gamma":
            limit = _complexity(grams, **{**BASE, name: 0.0})
            row = {"panel": name, "x": 0.0, "bound": 0.0} | limit
            tables.append(pd.DataFrame([row]))
    return pd.concat(tables, ignore_index=True)


def audit(context: Context) -> pd.DataFrame:
    """Return printed numbers that do not follow from the printed accuracies."""
    return audit_table(context.published)


def _gram_matrices(n_tasks: int, n: int) -> FloatArray:
    """Return the paper's kernels of normal features, shape (T, M, n, n)."""
    kernels: list[Kernel] = [Linear(), Polynomial(degree=2, constant=1.0)]
    kernels += [Gaussian(width=2.0**k) for k in range(8)]
    inputs = np.random.default_rng(0).normal(size=(n_tasks, n, _N_FEATURES))
    return np.array(
        [[CosineNormalized(kernel)(X, X) for kernel in kernels] for X in inputs]
    )


def _complexity(
    grams: FloatArray, *, n_tasks: int, n: int, gamma: float
) -> dict[str, float]:
    suprema, bounds = complexity_draws(
        grams[:n_tasks, :, :n, :n], gamma, n_draws=_N_DRAWS,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    return {
        "complexity": float(suprema.mean()),
        "interval": 1.96 * float(suprema.std(ddof=1)) / math.sqrt(_N_DRAWS),
        "proof": float(bounds.mean()),
    }
