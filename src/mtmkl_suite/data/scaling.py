"""Inputs and targets scaled, options of every data set, or fitted to training rows."""

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.sparse import is_sparse
from mtmkl.typing import IntArray

UNIT_RANGE: Final = "unit_range"
"""Every feature from 0 to 1 over the samples of the set, or of the draw."""

GAPS: Final = "gaps"
"""Name in ``truth``: 1 where a feature is missing, of the shape of ``X``."""

CATEGORIES: Final = "categories"
"""Name in ``truth``: the columns of ``X`` that number categories."""

NUMBERS: Final = "numbers"
"""Name in ``truth``: the columns of ``X`` to be scaled from 0 to 1."""

STANDARDISED: Final = "standardised"
"""Name in ``truth``: targets are to have mean 0 and spread 1 over all tasks."""

WITHIN_TASKS: Final = "within_tasks"
"""Targets of mean 0 and spread 1 within each task; and the name in ``truth``."""


def scaled_inputs(data: MultiTaskData, inputs: Literal["unit_range"]) -> MultiTaskData:
    """Return data whose features are (x − min) / (max − min), 0 if constant.

    Least and largest values are those of all samples, whatever their role will be; no
    label is used.
    """
    if is_sparse(data.X):
        raise ValueError(
            f"{data.name!r} has sparse features, which inputs: {UNIT_RANGE} would fill"
        )
    least, span = data.X.min(axis=0), np.ptp(data.X, axis=0)
    return replace(data, X=(data.X - least) / np.where(span > 0, span, 1.0))


def scaled_targets(
    data: MultiTaskData, targets: Literal["within_tasks"]
) -> MultiTaskData:
    """Return data marked so that :func:`fitted_targets` scales their targets."""
    return replace(data, truth={**data.truth, WITHIN_TASKS: np.ones(1, dtype=np.int8)})


def fitted_targets(data: MultiTaskData, train: IntArray) -> MultiTaskData:
    """Return data with targets in other units, if they are marked.

    The mean and the spread of the training rows, of each task or of all, become 0 and
    1; targets without spread there are only centred. Test rows are in the same units.
    """
    marks = {WITHIN_TASKS, STANDARDISED} & set(data.truth)
    if not marks:
        return data
    truth = {name: each for name, each in data.truth.items() if name not in marks}
    group = data.task if WITHIN_TASKS in marks else np.zeros_like(data.task)
    y = data.y.copy()
    for number in np.unique(group):
        own = data.y[train[group[train] == number]]
        rows = group == number
        y[rows] = (data.y[rows] - own.mean()) / (own.std() or 1.0)
    return replace(data, y=y, truth=truth)


def fitted_inputs(data: MultiTaskData, train: IntArray) -> MultiTaskData:
    """Return data of numbers, filled in and scaled by what their training rows have.

    Missing numbers become the median of the column, missing categories the most
    frequent one; every category is a feature that is 1 for its samples (scikit-learn's
    ``SimpleImputer`` and ``OneHotEncoder``). One that no training row has is 0 in all.
    Training rows range from 0 to 1 in each of the :data:`NUMBERS`; others may exceed
    that.

    Data without marks are returned as they are.
    """
    if GAPS not in data.truth:
        return data
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    truth = dict(data.truth)
    X = np.where(truth.pop(GAPS), np.nan, data.X)
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    transformer = make_column_transformer(
        (categories, truth.pop(CATEGORIES)),
        (make_pipeline(filled, MinMaxScaler()), truth.pop(NUMBERS, [])),
        remainder=filled,
    )
    X = transformer.fit(X[train]).transform(X)
    return replace(data, X=X, truth=truth, feature_names=())
