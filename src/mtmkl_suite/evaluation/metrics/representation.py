"""What a method has learned about features common to the tasks."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures()
def n_features(outcome: Outcome) -> Iterator[Row]:
    """Yield the number of features learned, the rank of D."""
    if hasattr(outcome.estimator, "n_features_"):
        yield "n_features", "all", float(outcome.estimator.n_features_)


@measures(better="smaller", truth="covariance")
def covariance_distance(outcome: Outcome) -> Iterator[Row]:
    """Yield the Frobenius distance of D from the true covariance scaled to trace 1.

    Taken on the principal submatrix of the relevant variables, as in Fig. 2 of
    Argyriou et al.
    """
    if hasattr(outcome.estimator, "D_") and "covariance" in outcome.truth:
        relevant = np.asarray(outcome.truth["relevant"], dtype=int)
        block = np.ix_(relevant, relevant)
        covariance = np.asarray(outcome.truth["covariance"])[block]
        learned = np.asarray(outcome.estimator.D_)[block]
        distance = np.linalg.norm(learned - covariance / np.trace(covariance))
        yield "covariance_distance", "all", float(distance)


@measures()
def row_norms(outcome: Outcome) -> Iterator[Row]:
    """Yield the norms of the rows of A, falling and scaled to sum 1, and the top 5.

    These are the eigenvalues of D by Theorem 1 of Argyriou et al.
    """
    if hasattr(outcome.estimator, "A_"):
        norms = np.sort(np.linalg.norm(outcome.estimator.A_, axis=1))[::-1]
        norms = norms / norms.sum() if norms.sum() > 0 else norms
        for position, value in enumerate(norms, start=1):
            yield f"row_norm_{position}", "all", float(value)
        yield "row_norm_top5", "all", float(norms[:5].sum())
