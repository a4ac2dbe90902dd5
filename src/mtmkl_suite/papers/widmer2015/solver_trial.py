"""Time and memory of one solver on one number of samples, in a process of its own.

``python -m mtmkl_suite.papers.widmer2015.solver_trial '{"solver": "features", "n":
1000}'`` prints the result as JSON. A process has one peak of memory, so each trial
needs its own; times are of the processor, so that other work on the machine hardly
counts.

========== ==========================================================================
solver     what is solved, with ℓ_2 norm, C = 1 and the hinge loss
========== ==========================================================================
features   all tasks, to a relative gap of 1e-3, by Algorithm 2
gram       the same on Gram matrices
liblinear  ``LinearSVC`` on the map of all terms written out, at weights ``theta`` that
           are given (an easier problem), with the loosest tolerance by which it reaches
           the objective ``goal``
========== ==========================================================================
"""

import json
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from mtmkl.typing import FloatArray
from mtmkl_suite.papers.widmer2015.strings import TASK_KERNELS, draw_strings, expanded

C, P, TOL = 1.0, 2.0, 1e-3
_TOLERANCES = 0.5 ** np.arange(0, 22)
_WARM_UP = 100


def run(trial: Mapping[str, Any]) -> dict[str, Any]:
    """Return time and memory of a trial.

    In MB (2^20 bytes) ``data`` is the size of the features, ``peak`` the most memory
    for these and the solver. ``expanding`` is the time to write the map out.
    """
    solve = {"features": _features, "gram": _gram, "liblinear": _liblinear}[
        trial["solver"]
    ]
    solve(_WARM_UP, *draw_strings(_WARM_UP), {"theta": [0.6, 0.6, 0.6], "goal": np.inf})
    before = peak_bytes()
    X, y, task = draw_strings(trial["n"])
    found = solve(trial["n"], X, y, task, trial)
    data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return found | {"data": data / 2**20, "peak": (peak_bytes() - before) / 2**20}


def _features(n: int, X: csr_matrix, y: FloatArray, task: Any, trial: Any) -> dict:
    from mtmkl.solvers.weights import mt_mkl_features

    begin = time.process_time()
    solution = mt_mkl_features.solve(
        [X],
        y,
        task,
        [(0, kernel) for kernel in TASK_KERNELS],
        C=C,
        p=P,
        rng=np.random.default_rng(0),
        tol=TOL,
    )
    return {
        "seconds": time.process_time() - begin,
        "expanding": 0.0,
        "objective": solution.certificate.objective,
        "theta": solution.extra["theta"].tolist(),
        "n_iter": solution.certificate.n_iter,
    }


def _gram(n: int, X: csr_matrix, y: FloatArray, task: Any, trial: Any) -> dict:
    from mtmkl.methods import MultiTaskMKLClassifier

    terms = [("linear", kernel) for kernel in TASK_KERNELS]
    model = MultiTaskMKLClassifier(
        terms, C=C, p=P, fit_intercept=False, tol=TOL, solver="gram"
    )
    begin = time.process_time()
    model.fit(X, y, task)
    return {
        "seconds": time.process_time() - begin,
        "expanding": 0.0,
        "objective": float(model.objective_),
        "theta": model.weights_.tolist(),
        "n_iter": int(model.n_iter_),
    }


def _liblinear(n: int, X: csr_matrix, y: FloatArray, task: Any, trial: Any) -> dict:
    from sklearn.svm import LinearSVC

    begin = time.process_time()
    Z = expanded(X, task, np.array(trial["theta"]))
    expanding = time.process_time() - begin
    for tol in _TOLERANCES:
        machine = LinearSVC(
            dual=True, loss="hinge", fit_intercept=False, C=C, tol=tol, max_iter=1000
        )
        begin = time.process_time()
        machine.fit(Z, y)
        seconds = time.process_time() - begin
        w = machine.coef_[0]
        reached = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (Z @ w)).sum()
        if reached <= trial["goal"]:
            break
    return {
        "seconds": seconds,
        "expanding": expanding,
        "objective": float(reached),
        "theta": list(trial["theta"]),
        "n_iter": int(machine.n_iter_),
    }


def peak_bytes() -> int:
    """Return the most bytes that this process has had in memory."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux, whose getrusage counts the parent's memory too
        line = next(x for x in status.read_text().splitlines() if "VmHWM" in x)
        return 1024 * int(line.split()[1])
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def main(argument: str) -> None:
    """Run a trial and print what it gives."""
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")  # of fits that are too loose
    with threadpool_limits(1):
        found = run(json.loads(argument))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
