"""Side computations behind docs/papers/argyriou2008.md, apart from the experiments.

Run from a checkout with the real data at hand (see the README):

    .venv/bin/python docs/papers/argyriou2008_evidence.py
"""

import numpy as np

from mtmkl.datasets import load, make_splits
from mtmkl.methods import AggregateRidge, IndependentRidge, MultiTaskFeatureLearning

SEED = 20081


def variance_readings() -> None:
    """School: the same predictions under three readings of "total variance"."""
    data = load("school", download=False)
    protocol = {"id": "published", "kind": "published", "repeats": 10, "folds": 15}
    every = range(data.n_tasks)
    values: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for split in make_splits(data, protocol, SEED).values():
        train, test = data.subset(split.train), data.subset(split.test)
        for name, method in (
            ("independent", IndependentRidge(1.0)),
            ("aggregate", AggregateRidge(1.0)),
        ):
            method.fit(train.X, train.y, train.task)
            error = (test.y - method.predict(test.X, test.task)) ** 2
            mse = np.array([error[test.task == t].mean() for t in every])
            of_test = np.array([test.y[test.task == t].var() for t in every])
            of_all = np.array([data.y[data.task == t].var() for t in every])
            pooled = np.full(data.n_tasks, data.y.var())
            for reading, variance in (
                ("test rows of a school", of_test),
                ("all rows of a school", of_all),
                ("all rows of all schools", pooled),
            ):
                sizes = test.task_sizes
                row = (
                    1 - sizes @ mse / (sizes @ variance),
                    (1 - mse / variance).std(ddof=1),
                )
                values.setdefault((name, reading), []).append(row)
    print("School, gamma = 1, ten splits: explained variance, its sd over schools (%)")
    for (name, reading), rows in values.items():
        mean, sd = 100 * np.mean(rows, axis=0)
        print(f"  {name:12} variance of {reading:24} {mean:5.1f} {sd:5.1f}")


def row_norms() -> None:
    """Linear synthetic data: what the norms of the rows of A estimate."""
    print("Linear synthetic data, 6 irrelevant variables, 200 tasks: first row norms")
    for gamma in (1e-3, 1e-2, 3e-2, 1e-1):
        norms = []
        for seed in range(10):
            data = load("linear_synthetic", n_irrelevant=6, seed=seed)
            train = data.subset(~data.truth["is_test"])
            fitted = MultiTaskFeatureLearning(gamma).fit(train.X, train.y, train.task)
            row = np.linalg.norm(fitted.A_, axis=1)
            norms.append((row / row.sum())[:5])
        print(f"  gamma {gamma:g}: {np.round(np.mean(norms, axis=0), 2)}")
    covariance = np.array([1, 0.64, 0.49, 0.36, 0.25])
    print(f"  Cov scaled to trace 1:      {np.round(covariance / covariance.sum(), 2)}")
    root = np.sqrt(covariance)
    print(f"  Cov^(1/2) scaled to trace 1: {np.round(root / root.sum(), 2)}")


if __name__ == "__main__":
    variance_readings()
    row_norms()
