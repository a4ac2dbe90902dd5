"""Scaling of inputs, an option of every data set."""

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.sparse import is_sparse

UNIT_RANGE: Final = "unit_range"
"""Every feature from 0 to 1 over the examples of the set, or of the draw."""


def scaled_inputs(data: MultiTaskData, inputs: Literal["unit_range"]) -> MultiTaskData:
    """Return data with their inputs scaled.

    Parameters
    ----------
    data : MultiTaskData
    inputs : {"unit_range"}
        Every feature becomes (x − min) / (max − min), 0 if it is constant. Least and
        largest values are those of all examples, whatever their role will be; no label
        is used.

    Raises
    ------
    ValueError
        If ``inputs`` is something else, or the inputs are sparse.
    """
    if inputs != UNIT_RANGE:
        raise ValueError(f"inputs is {inputs!r}, wanted {UNIT_RANGE!r}")
    if is_sparse(data.X):
        raise ValueError(
            f"{data.name!r} has sparse inputs, which inputs: {UNIT_RANGE} would fill"
        )
    least, span = data.X.min(axis=0), np.ptp(data.X, axis=0)
    return replace(data, X=(data.X - least) / np.where(span > 0, span, 1.0))
