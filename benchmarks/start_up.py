"""Time what ``import mtmkl`` and a first estimator add to scikit-learn's own start.

In each of several new processes ``sklearn.svm`` is imported, then the package and one
estimator, which is made but not fitted. Times are processor times, because other work
on the machine hardly counts there; medians over the processes are printed. The ratio is
the start of both to that of scikit-learn alone. "the first fit" is on twenty examples,
with compiled code in numba's cache: it loads numba where the method is compiled.

    python benchmarks/start_up.py [--processes 7]
"""

import argparse
import json
import subprocess
import sys
from statistics import median

ESTIMATORS = ("IndependentRidge", "MultiTaskFeatureLearning", "GroupFeatureSharing")
START = """
import json, time
begun = time.process_time()
import sklearn.svm
sklearn_loaded = time.process_time()
import mtmkl
from mtmkl.methods import {name}
model = {name}()
made = time.process_time()
import numpy as np
X = np.random.default_rng(0).normal(size=(20, 3))
y, task = np.sign(X[:, 0]), np.arange(20) % 2
data_made = time.process_time()
model.fit(X, y, task=task)
fitted = time.process_time()
print(json.dumps([sklearn_loaded - begun, made - sklearn_loaded, fitted - data_made]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=7)
    arguments = parser.parse_args()
    print("Medians over processes, processor seconds")
    for name in ESTIMATORS:
        _start(name)  # compiled code and files are in their caches from here on
        runs = [_start(name) for _ in range(arguments.processes)]
        theirs, ours, fit = map(median, zip(*runs, strict=True))
        print(
            f"   {name:<26} scikit-learn {theirs:.3f}, beyond it {ours:.3f} "
            f"(×{(theirs + ours) / theirs:.3f}), the first fit {fit:.3f}"
        )


def _start(name: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", START.format(name=name)],
        capture_output=True,
        text=True,
        check=True,
    )
    times: list[float] = json.loads(done.stdout)
    return times


if __name__ == "__main__":
    main()
