"""Computations for docs/papers/argyriou2008.md that are not part of the experiments.

Run from a clone, with the real data available (see the README):

    .venv/bin/python docs/papers/argyriou2008_evidence.py
"""

import itertools

import numpy as np

from mtmkl.methods import MultiTaskFeatureLearningRegressor
from mtmkl_suite.data import load, make_splits

SEED = 20081


def school_weights() -> None:
    """School: weights of the first feature, and times the inputs' deviations."""
    data = load("school", download=False)
    protocol = {"id": "published", "kind": "published", "repeats": 1, "folds": 15}
    (split,) = make_splits(data, protocol, SEED).values()
    train = data.subset(split.train)
    fitted = MultiTaskFeatureLearningRegressor(1.0, fit_intercept=False)
    weights = fitted.fit(train.X, train.y, train.task).features_[:, 0]
    print("School, gamma = 1, first split: weight in the first feature, times sd")
    scaled = np.abs(weights) * train.X.std(axis=0)
    for k in np.argsort(-scaled)[:8]:
        print(f"  {data.feature_names[k]:20} {weights[k]:6.2f} {scaled[k]:6.2f}")


def row_norms() -> None:
    """Linear synthetic data: what the norms of the rows of A estimate."""
    print("Linear synthetic data, 6 irrelevant variables, 200 tasks: first row norms")
    for gamma in (1e-3, 1e-2, 3e-2, 1e-1):
        norms = []
        for seed in range(10):
            data = load("linear_synthetic", n_irrelevant=6, seed=seed)
            train = data.subset(~data.truth["is_test"])
            fitted = MultiTaskFeatureLearningRegressor(gamma, fit_intercept=False)
            fitted.fit(train.X, train.y, train.task)
            row = np.linalg.norm(fitted.A_, axis=1)
            norms.append((row / row.sum())[:5])
        print(f"  gamma {gamma:g}: {np.round(np.mean(norms, axis=0), 2)}")
    covariance = np.array([1, 0.64, 0.49, 0.36, 0.25])
    print(f"  Cov scaled to trace 1:      {np.round(covariance / covariance.sum(), 2)}")
    root = np.sqrt(covariance)
    print(f"  Cov^(1/2) scaled to trace 1: {np.round(root / root.sum(), 2)}")


def label_codings() -> None:
    """Dermatology: wrong pairs of MTL-FEAT with labels ±1, and 0/1 cut at one half."""
    data = load("dermatology", download=False)
    protocol = {"kind": "random", "train_samples": 200, "repeats": 10, "folds": 5}
    print("Dermatology, ten splits: wrong pairs of MTL-FEAT (linear)")
    codings = (("-1 and +1", 0.0), ("0 and 1, cut at 1/2", 0.5))
    # The first set of splits is the one of Table 3.
    sets = ("dermatology_random", "ten others")
    for (name, offset), key in itertools.product(codings, sets):
        splits = make_splits(data, {"id": key, **protocol}, SEED).values()
        counts = []
        for gamma in (1e-6, 1e-1, 1.0, 10.0):
            wrong = []
            for split in splits:
                train, test = data.subset(split.train), data.subset(split.test)
                target = train.y if offset == 0 else (train.y + 1) / 2
                fitted = MultiTaskFeatureLearningRegressor(gamma, fit_intercept=False)
                fitted.fit(train.X, target, train.task)
                positive = fitted.predict(test.X, test.task) >= offset
                wrong.append(np.sum(positive != (test.y > 0)))
            counts.append(f"{np.mean(wrong):.1f} ± {np.std(wrong, ddof=1):.1f}")
        print(f"  labels {name:20} {key:18} gamma 1e-6, 0.1, 1, 10: {counts}")


if __name__ == "__main__":
    school_weights()
    row_norms()
    label_codings()
