"""False claims of the posterior from all repeats, where no method is better.

    python benchmarks/posterior_calibration.py [--comparisons 300]

Each of ten data sets (five, twenty) has 100, 300 or 1,000 samples. The difference of
two methods is an effect of each sample, of standard deviation 30 (points of accuracy),
around that of the data set, and these are drawn around zero. Ten repeats test on random
25, 40 or 45 % of the samples, as in the comparison of all papers' methods: they are
correlated because they share samples. Prints how many comparisons are decided for
either method, with the correlation known and taken as none.
"""

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from mtmkl.typing import FloatArray
from mtmkl_suite.statistics.hierarchical import CERTAIN, hierarchical_posterior

# Data sets, spread between them, degrees of freedom of their distribution, region.
DESIGNS = (
    (10, 0.0, np.inf, 0.0),
    (10, 0.0, np.inf, 0.5),
    (10, 1.0, np.inf, 0.5),
    (10, 3.0, np.inf, 0.0),
    (10, 3.0, np.inf, 0.5),
    (10, 3.0, 3.0, 0.5),
    (5, 3.0, np.inf, 0.5),
    (20, 3.0, np.inf, 0.5),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=300, help="for each row")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        print("data sets  between  degrees  region  claims  claims if independent")
        for seed, design in enumerate(DESIGNS):
            n_datasets, between, degrees, rope = design
            claims = [
                is_claimed(np.random.default_rng([seed, i]), *design)
                for i in range(arguments.comparisons)
            ]
            known, ignored = np.mean(claims, axis=0)
            print(
                f"{n_datasets:9} {between:8} {degrees:8} {rope:7} {known:7.1%} "
                f"{ignored:22.1%}",
                flush=True,
            )


def is_claimed(
    rng: np.random.Generator,
    n_datasets: int,
    between: float,
    degrees: float,
    rope: float,
) -> tuple[bool, bool]:
    """Tell whether one of two equal methods is called better: known ρ, and ρ = 0."""
    gains, ratios = [], []
    for _ in range(n_datasets):
        size, share = rng.choice([100, 300, 1000]), rng.choice([0.25, 0.4, 0.45])
        # A normal draw over the root of a scaled χ² is one of Student's t.
        heavy = 1.0 if np.isinf(degrees) else np.sqrt(rng.chisquare(degrees) / degrees)
        effects = rng.normal(between * rng.standard_normal() / heavy, 30, size)
        gains.append(_repeats(rng, effects, round(share * size)))
        ratios.append(share / (1 - share))
    found = (
        hierarchical_posterior(gains, each, rope=rope).probabilities[[0, 2]]
        for each in (ratios, [0.0] * n_datasets)
    )
    known, ignored = (bool(probabilities.max() > CERTAIN) for probabilities in found)
    return known, ignored


def _repeats(rng: np.random.Generator, effects: FloatArray, n_test: int) -> FloatArray:
    return np.array([rng.permutation(effects)[:n_test].mean() for _ in range(10)])


if __name__ == "__main__":
    main()
