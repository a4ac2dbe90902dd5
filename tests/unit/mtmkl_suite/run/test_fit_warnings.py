import re
import sys
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
import yaml
from sweeps import sweep
from tiny_workflow import TINY

from mtmkl.solvers.solution import Certificate, warn_if_stopped
from mtmkl_suite.cli.main import main
from mtmkl_suite.run.fit_warnings import counted_warnings, warnings_of


def stopped(gap, tol=1e-6):
    certificate = Certificate(
        objective=1.0 + gap,
        dual_objective=1.0,
        n_iter=100,
        status="stopped",
        history=np.zeros(1),
    )
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


LOOSE = """
import warnings

from mtmkl_suite.methods import resolve
from sklearn.exceptions import ConvergenceWarning
from sweeps import sweep
from sweeps import sweep


class Loose(resolve("TaskMeanControl")):
    def fit(self, X, y, task=None):
        text = "a norm: stopped after 9 steps at a relative duality gap of 1.4e-03 "
        warnings.warn(text + "(tol=1e-06)", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y, task=task)
"""


@pytest.mark.parametrize("cores", sweep(["2"], nightly=["1"]))
def test_a_run_shows_one_line_and_its_log_has_all(tmp_path, capsys, monkeypatch, cores):
    (tmp_path / "loose_methods.py").write_text(LOOSE)
    monkeypatch.syspath_prepend(tmp_path)
    config = yaml.safe_load((TINY / "experiments.yaml").read_text())
    digits = config["experiments"]["digits"] | {"methods": [{"method": "loose"}]}
    loose = {"label": "Loose", "class": "loose_methods:Loose", "selection": "none"}
    config |= {"experiments": {"digits": digits}, "methods": {"loose": loose}}
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "experiments.yaml").write_text(yaml.safe_dump(config))
    results = tmp_path / "results"
    run = ["run", "--paper", str(tmp_path / "loose"), "--results", str(results)]
    assert main([*run, "--cores", cores]) == 0
    shown = capsys.readouterr().out
    logs = next(results.glob("quick+loose/logs"))
    log = (logs / "tiny/fits/digits.log").read_text()
    # One fit in each of the two repeats.
    assert log.count("Loose: ConvergenceWarning: a norm") == 2
    assert "Loose: 2 fits ended above tol=1e-06, worst gap 1.4e-03\n" in shown
    assert f"All warnings: {logs}\n" in shown
    assert "stopped after" not in shown
    sys.modules.pop("loose_methods")
