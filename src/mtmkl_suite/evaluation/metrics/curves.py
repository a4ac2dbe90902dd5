"""Curves, as their values at fixed points."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures

FALSE_POSITIVE_RATES = (
    0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
)  # fmt: skip


@measures(labels=True)
def roc(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the ROC curve, at fixed false positive rates.

    "true_positive_rate_0.1" is the share of positive examples above the threshold that
    a tenth of the negative ones exceed; between two thresholds the curve is a straight
    line. Tasks without both labels are left out.
    """
    from sklearn.metrics import roc_curve

    curves = []
    for t in range(len(outcome.task_names)):
        mine = outcome.task == t
        if np.unique(outcome.y[mine]).size < 2:
            continue
        false, true, _ = roc_curve(
            outcome.y[mine], outcome.ranking[mine], drop_intermediate=False
        )
        curves.append(np.interp(FALSE_POSITIVE_RATES, false, true))
    if curves:
        mean = np.mean(curves, axis=0)
        for rate, value in zip(FALSE_POSITIVE_RATES, mean, strict=True):
            yield f"true_positive_rate_{rate:g}", "all", float(value)
