import re
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest

from mtmkl.solvers.solution import Certificate, warn_if_stopped
from mtmkl_suite.run.fit_warnings import counted_warnings, warnings_of


def stopped(gap, tol=1e-6):
    certificate = Certificate(
        objective=1.0 + gap, dual_objective=1.0, n_iter=100, status="stopped",
        history=np.zeros(1),
    )  # fmt: skip
    warn_if_stopped(certificate, "a norm, gamma=0.1", tol)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "fit.log"


def collected(log, method, *gaps, tol=1e-6):
    with log.open("a") as file, redirect_stdout(file), warnings_of(method):
        for gap in gaps:
            stopped(gap, tol)
    found = re.findall(r"duality gap of (\S*\d)", log.read_text())
    return [float(gap) for gap in found]


def test_solvers_that_stopped_are_counted_by_method_and_tolerance(log):
    gaps = collected(log, "A", 0.5, 0.001, 0.001, 0.25)
    lines = log.read_text().splitlines()
    assert len(lines) == 4
    start = "A: ConvergenceWarning: a norm, gamma=0.1: stopped after 100"
    assert all(line.startswith(start) for line in lines)
    collected(log, "B", 0.001)
    collected(log, "A", 0.001, tol=1e-8)
    assert counted_warnings([log]) == [
        f"A: 4 fits ended above tol=1e-06, worst gap {gaps[0]:.1e}",
        f"B: 1 fit ended above tol=1e-06, worst gap {gaps[1]:.1e}",
        f"A: 1 fit ended above tol=1e-08, worst gap {gaps[1]:.1e}",
    ]
    assert max(gaps) == gaps[0] > gaps[1] > 0


def test_other_warnings_are_told_with_their_text(log):
    with log.open("w") as file, redirect_stdout(file), warnings_of("A"):
        warnings.warn("tol=3 is\n large", RuntimeWarning, stacklevel=1)
        print("repeat 0: no warning")
    assert log.read_text().startswith("A: RuntimeWarning: tol=3 is large\n")
    assert counted_warnings([log, log]) == [
        "A: RuntimeWarning: tol=3 is large (2 times)"
    ]
