"""Certificates beside the optima that an interior-point solver finds."""

import pytest

from mtmkl.certify.solving import find_optimum


def assert_between(certificate, stated, gap=1e-8):
    """Assert that the optimum of a stated problem lies between the bounds.

    It is found to 1e-6, or to the gap if that is more; the bounds hold to 1e-7.
    """
    optimum = find_optimum(stated).value
    assert certificate.status == "converged"
    assert certificate.duality_gap <= gap
    assert certificate.objective == pytest.approx(optimum, rel=max(gap, 1e-6))
    assert certificate.dual_objective <= optimum * (1 + 1e-7)
    assert optimum <= certificate.objective * (1 + 1e-7)
