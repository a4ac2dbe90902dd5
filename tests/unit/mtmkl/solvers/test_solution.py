import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.solution import Certificate, relative_gap, warn_if_stopped


def certificate(objective, dual_objective, status="converged", floor=0.0):
    history = np.array([objective])
    return Certificate(objective, dual_objective, 7, status, history, floor)


def test_gap_is_relative_to_the_objective_down_to_a_floor():
    assert relative_gap(2.0, 1.5) == 0.25
    assert relative_gap(-2.0, -2.5) == 0.25
    assert relative_gap(1.0, 1.0 + 1e-9) == 0.0
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(1e-20, -1e-10, floor=1e-3) == pytest.approx(1e-7)
    assert certificate(2.0, 1.5, floor=1e-9).duality_gap == 0.25


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("converged", "raise max_iter or tol"),
        ("stopped", "raise max_iter or tol"),
        ("stalled", "rounding is all that is left: .*standardize=True"),
    ],
)
def test_a_gap_that_is_missed_warns_whatever_ended_the_solve(status, remedy):
    with pytest.warns(
        ConvergenceWarning,
        match=rf"this: stopped after 7 sweeps .* gap of 2\.5e-01 \(tol=0\.1.*{remedy}",
    ):
        warn_if_stopped(certificate(2.0, 1.5, status), "this", 0.1, steps="sweeps")


def test_a_reason_that_is_known_takes_the_place_of_the_general_one():
    with pytest.warns(ConvergenceWarning, match=r"tol=0\.1\); C is too large"):
        warn_if_stopped(
            certificate(2.0, 1.5, "stalled"), "this", 0.1, limit="C is too large"
        )


def test_an_objective_of_nan_is_no_success():
    with pytest.warns(ConvergenceWarning, match="gap of nan"):
        warn_if_stopped(certificate(np.nan, np.nan, "stopped"), "this", 0.1)


@pytest.mark.parametrize(
    ("dual_objective", "tol"), [(1.9, 0.1), (np.nan, 0.1), (1.0, 0.0)]
)
def test_silence_where_the_gap_is_reached_unknown_or_not_asked_for(dual_objective, tol):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_stopped(certificate(2.0, dual_objective), "this", tol)
