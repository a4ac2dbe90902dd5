import io
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.solution import Certificate, warn_if_stopped
from mtmkl_suite.cli.main import main
from mtmkl_suite.run.fit_warnings import FitWarning, counted, warnings_to

TINY = Path(__file__).parents[3] / "workflow" / "papers" / "tiny"


def stopped(gap, tol=1e-6):
    certificate = Certificate(
        objective=1.0 + gap,
        dual_objective=1.0,
        n_iter=100,
        status="stopped",
        history=np.zeros(1),
    )
    warn_if_stopped(certificate, "a norm, gamma=0.1", tol)


def collected(*gaps, tol=1e-6):
    log = io.StringIO()
    with warnings_to(log) as found:
        for gap in gaps:
            stopped(gap, tol)
    return found, log.getvalue()


def test_solvers_that_stopped_are_counted_by_method_and_tolerance():
    found, log = collected(0.5, 0.001, 0.001, 0.25)
    assert len(log.splitlines()) == 4
    assert log.count("ConvergenceWarning: a norm, gamma=0.1: stopped after 100") == 4
    other, _ = collected(0.001, tol=1e-8)
    pairs = [*(("A", each) for each in found), *(("B", each) for each in found[1:2])]
    pairs += [("A", each) for each in other]
    worst = max(each.gap for each in found)
    assert counted(pairs) == [
        f"A: 4 fits ended above tol=1e-06, worst gap {worst:.1e}",
        f"B: 1 fit ended above tol=1e-06, worst gap {found[1].gap:.1e}",
        f"A: 1 fit ended above tol=1e-08, worst gap {other[0].gap:.1e}",
    ]
    assert worst == found[0].gap > found[1].gap > 0


def test_other_warnings_are_told_with_their_text():
    log = io.StringIO()
    with warnings_to(log) as found:
        warnings.warn("tol=3 is large", RuntimeWarning, stacklevel=1)
    assert log.getvalue() == "RuntimeWarning: tol=3 is large\n"
    assert counted([("A", found[0]), ("A", found[0])]) == [
        "A: RuntimeWarning: tol=3 is large (2 times)"
    ]


def test_a_solver_that_tells_no_tolerance_is_told_with_its_text():
    warning = FitWarning("ConvergenceWarning", "did not converge")
    assert counted([("A", warning)]) == ["A: ConvergenceWarning: did not converge"]


def test_warnings_elsewhere_are_as_before():
    collected(0.5)
    with pytest.warns(ConvergenceWarning):
        stopped(0.5)


LOOSE = """
import warnings

from mtmkl.methods import resolve
from sklearn.exceptions import ConvergenceWarning


class Loose(resolve("TaskMeanControl")):
    def fit(self, X, y, task=None):
        text = "a norm: stopped after 9 steps at a relative duality gap of 1.4e-03 "
        warnings.warn(text + "(tol=1e-06)", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y, task=task)
"""


@pytest.mark.parametrize("cores", ["1", "2"])
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
    shown = capsys.readouterr().err
    logs = next(results.glob("quick+loose/tiny/logs"))
    (log,) = (path.read_text() for path in logs.rglob("Loose*.log".lower()))
    # One fit in each of the two repeats.
    assert log.count("ConvergenceWarning: a norm") == 2
    assert "mtmkl: Loose: 2 fits ended above tol=1e-06, worst gap 1.4e-03\n" in shown
    assert f"mtmkl: all warnings: {logs}\n" in shown
    assert "stopped after" not in shown
    sys.modules.pop("loose_methods")
