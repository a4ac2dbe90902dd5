"""How well the similarity of tasks was found."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures

_ROUNDING = 1e-9


@measures(better="larger", truth="similarity")
def similarity_correlation(outcome: Outcome) -> Iterator[Row]:
    """Yield the correlation of learned and true similarities over pairs of tasks.

    Learned similarities are Σ_m θ_m R_m, ``task_similarity_`` of a method. Where all
    pairs are equally similar there is no correlation, and no value.
    """
    learned = getattr(outcome.estimator, "task_similarity_", None)
    if learned is None or "similarity" not in outcome.truth:
        return
    true = np.asarray(outcome.truth["similarity"], dtype=np.float64)
    if np.shape(learned) != true.shape:  # of some of the tasks
        return
    pairs = np.triu_indices(len(true), 1)
    found, wanted = np.asarray(learned)[pairs], true[pairs]
    if min(np.ptp(found) / max(np.abs(learned).max(), 1e-300), np.ptp(wanted)) > (
        _ROUNDING
    ):
        value = float(np.corrcoef(found, wanted)[0, 1])
        yield "similarity_correlation", "all", value
