"""How well a graph was found."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures
from mtmkl_suite.evaluation.metrics.ranking import area_under_curve


@measures(better="larger", truth="adjacency")
def edge_auc(outcome: Outcome) -> Iterator[Row]:
    """Yield the area under the ROC curve of the edges ranked by their scores."""
    if hasattr(outcome.estimator, "edge_scores_") and "adjacency" in outcome.truth:
        adjacency = np.asarray(outcome.truth["adjacency"])
        pairs = np.triu_indices(len(adjacency), 1)
        label = np.where(adjacency[pairs] > 0, 1.0, -1.0)
        scores = np.asarray(outcome.estimator.edge_scores_)[pairs]
        yield "edge_auc", "all", area_under_curve(label, scores)
