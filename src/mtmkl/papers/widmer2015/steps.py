"""Numbers that figures of Widmer et al. 2015 draw and do not compute themselves."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mtmkl.datasets.toy_tree import toy_tree
from mtmkl.reporting.context import Context


def true_similarity(context: Context) -> pd.DataFrame:
    """Return the scalar products of the tasks of one draw of the tree.

    Parameters
    ----------
    context : Context
        Not used: this step needs no fits.

    Returns
    -------
    DataFrame
        ``task``, ``other`` (from 1) and ``similarity``; beside it ``expected``, its
        mean over draws of the flips, d (1 − 2 m/d)^path with m flips of d entries along
        each of the edges between the two.
    """
    dims, flips = 100, 5
    data = toy_tree(dims=dims, flips=flips, n_train=1, n_validation=1, n_test=1, seed=0)
    S = data.truth["similarity"]
    parents = data.truth["parents"].tolist()
    t, s = (index.ravel() for index in np.indices(S.shape))
    path = [_path_length(parents, a, b) for a, b in np.ndindex(S.shape)]
    return pd.DataFrame(
        {
            "task": t + 1,
            "other": s + 1,
            "similarity": S.ravel(),
            "expected": dims * (1 - 2 * flips / dims) ** np.array(path),
        }
    )


def _path_length(parents: Sequence[int], one: int, other: int) -> int:
    """Return the number of edges between two leaves at the same depth."""
    steps = 0
    while one != other:
        one, other = parents[one], parents[other]
        steps += 2
    return steps
