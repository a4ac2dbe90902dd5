import itertools

import numpy as np
import pytest

from mtmkl_suite.papers.argyriou2008.theory import (
    largest_norm,
    mean_norm,
    smallest_norm,
)


def test_norms_match_an_enumeration():
    # All ways to put one entry into each of 6 columns of a matrix with 6 rows.
    by_rows = {}
    for choice in itertools.product(range(6), repeat=6):
        counts = np.bincount(choice, minlength=6)
        by_rows.setdefault(int((counts > 0).sum()), []).append(np.sqrt(counts).sum())
    assert sorted(by_rows) == [1, 2, 3, 4, 5, 6]
    for rows, norms in by_rows.items():
        assert mean_norm(6, rows) == pytest.approx(np.mean(norms))
        assert smallest_norm(6, rows) == pytest.approx(min(norms))
        assert largest_norm(6, rows) == pytest.approx(max(norms))
