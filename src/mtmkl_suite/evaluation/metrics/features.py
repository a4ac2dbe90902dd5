"""How many features a method has learned that matter, and what the first is made of."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures

_SHARE = 0.8


@measures()
def large_rows(outcome: Outcome) -> Iterator[Row]:
    """Yield how many rows of A hold 80 % of the sum of its row norms, largest first."""
    if hasattr(outcome.estimator, "A_"):
        norms = np.sort(np.linalg.norm(outcome.estimator.A_, axis=1))[::-1]
        held = np.cumsum(norms) / norms.sum() if norms.sum() > 0 else np.ones(1)
        yield "large_rows", "all", float(1 + np.argmax(held >= _SHARE))


@measures()
def feature_weights(outcome: Outcome) -> Iterator[Row]:
    """Yield the sizes of the inputs' weights in the most important feature.

    "feature_weight_3" is that of the third input; their squares sum to 1.
    """
    if hasattr(outcome.estimator, "features_"):
        weights = np.abs(np.asarray(outcome.estimator.features_)[:, 0])
        for position, value in enumerate(weights, start=1):
            yield f"feature_weight_{position}", "all", float(value)
