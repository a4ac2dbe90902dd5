"""Digests of what methods find on small problems: ``digests.py [--backwards]``."""

import hashlib
import sys
import warnings

import numpy as np

from mtmkl.methods import REGISTRY
from mtmkl.methods._base.graph import GraphEstimator

N_PROBLEMS = 18


def problem(seed):
    """Return features, labels and tasks, one per feature, as graphs need them."""
    rng = np.random.default_rng(seed)
    n, n_tasks = rng.integers(12, 24), rng.integers(2, 6)
    X = np.tile(rng.normal(size=(n, n_tasks)), (n_tasks, 1))
    score = X @ rng.normal(size=n_tasks) + rng.normal(size=len(X))
    return X, np.where(score > 0, 1.0, -1.0), np.repeat(np.arange(n_tasks), n)


def digest(name, seed):
    """Return a digest of all arrays and numbers of a fitted method."""
    X, y, task = problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = REGISTRY[name]()
        model.fit(X, None if isinstance(model, GraphEstimator) else y, task=task)
    found = hashlib.sha256(np.asarray(model.predict(X, task=task), float).tobytes())
    for _, value in sorted(vars(model).items()):
        if isinstance(value, (np.ndarray, float)) and np.asarray(value).dtype == float:
            found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    names = sorted(REGISTRY, reverse="--backwards" in sys.argv)
    lines = [f"{n} {k} {digest(n, k)}" for n in names for k in range(N_PROBLEMS)]
    print("\n".join(sorted(lines)))
