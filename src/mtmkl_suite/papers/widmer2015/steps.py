"""Time and memory of solvers, for a figure on Widmer et al. 2015."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mtmkl_suite.report.context import Context

SIZES: Mapping[str, Mapping[str, Sequence[int]]] = {
    "quick": {"features": (300,), "gram": (), "liblinear": ()},
    "paper": {
        "features": (1000, 3000, 10_000, 30_000, 100_000, 1_000_000),
        # Three Gram matrices of 10,000 samples are beyond the bound on their size.
        "gram": (1000, 3000),
        # Written out, the map of 100,000 samples takes 12 GB.
        "liblinear": (1000, 3000, 10_000, 30_000),
    },
}
"""Numbers of samples by tier and solver."""


def solver_seconds(context: Context) -> pd.DataFrame:
    """Return time and memory of solvers, each in a process of its own."""
    sizes = SIZES[context.config.tier]
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
    module = "mtmkl_suite.papers.widmer2015.solver_trial"
    command = [sys.executable, "-P", "-m", module, json.dumps(trial)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{module} {json.dumps(trial)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
