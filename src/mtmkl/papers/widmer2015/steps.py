"""Numbers that figures of Widmer et al. 2015 draw and do not compute themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtmkl.datasets.toy_tree import toy_tree
from mtmkl.reporting.context import Context


def true_similarity(context: Context) -> pd.DataFrame:
    """Return the scalar products of the tasks of one draw of the tree.

    Parameters
    ----------
    context : Context
        Not used: this step needs no fits.

    Returns
    -------
    DataFrame
        ``task``, ``other`` (from 1) and ``similarity``; beside it ``expected``, its
        mean over draws of the flips, d (1 − 2 m/d)^path with m flips of d entries along
        each of the edges between the two.
    """
    dims, flips = 100, 5
    data = toy_tree(dims=dims, flips=flips, n_train=1, n_validation=1, n_test=1, seed=0)
    S = data.truth["similarity"]
    parents = data.truth["parents"].tolist()
    t, s = (index.ravel() for index in np.indices(S.shape))
    path = [_path_length(parents, a, b) for a, b in np.ndindex(S.shape)]
    return pd.DataFrame(
        {
            "task": t + 1,
            "other": s + 1,
            "similarity": S.ravel(),
            "expected": dims * (1 - 2 * flips / dims) ** np.array(path),
        }
    )


def _path_length(parents: Sequence[int], one: int, other: int) -> int:
    """Return the number of edges between two leaves at the same depth."""
    steps = 0
    while one != other:
        one, other = parents[one], parents[other]
        steps += 2
    return steps


SIZES: Mapping[str, Mapping[str, Sequence[int]]] = {
    "quick": {"features": (300,), "gram": (300,), "liblinear": ()},
    "paper": {
        "features": (1000, 3000, 10_000, 30_000, 100_000, 1_000_000),
        # Three Gram matrices of 10,000 examples are beyond the bound on their size.
        "gram": (1000, 3000),
        # Written out, the map of 100,000 examples takes 12 GB.
        "liblinear": (1000, 3000, 10_000, 30_000),
    },
}
"""Numbers of examples by tier and solver."""


def solver_seconds(context: Context) -> pd.DataFrame:
    """Return time and memory of solvers against the number of examples.

    Each trial has a process of its own, see
    :mod:`mtmkl.papers.widmer2015.solver_trial`.

    Parameters
    ----------
    context : Context
        Only its tier is used: this step needs no fits.

    Returns
    -------
    DataFrame
        ``solver, n, seconds, expanding, objective, n_iter, data, peak``, one row per
        trial.
    """
    sizes = SIZES[context.config["tier"]]
    rows = []
    for n in sorted(set().union(*sizes.values())):
        trial: dict[str, Any] = {"n": n}
        for solver in ("features", "gram", "liblinear"):
            if n not in sizes[solver]:
                continue
            found = _trial({"solver": solver, **trial})
            if solver == "features":
                trial |= {"theta": found["theta"], "goal": found["objective"]}
            rows.append({"solver": solver, "n": n, **found})
    return pd.DataFrame(rows).drop(columns="theta")


def _trial(trial: Mapping[str, Any]) -> dict[str, Any]:
    import json
    import subprocess
    import sys

    module = "mtmkl.papers.widmer2015.solver_trial"
    command = [sys.executable, "-P", "-m", module, json.dumps(trial)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{module} {json.dumps(trial)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
