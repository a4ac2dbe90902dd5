import sys

import pytest

from mtmkl.certify import reference
from mtmkl.methods import MEDKernelSelectionClassifier
from mtmkl_suite.cli.main import main

DIGITS = ["certify", "--dataset", "digits_pairs", "--options", '{"n_classes": 4}']
MED = "MEDKernelSelectionClassifier"
SMALL = ["--tasks", "2", "--samples", "8"]


def test_the_optimum_and_the_bounds_are_printed(capsys):
    params = ["--params", '{"C": 0.1, "alpha": 3}']
    assert main([*DIGITS, "--method", MED, *params, *SMALL]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"{MED} on digits_pairs: 2 tasks, 16 samples")
    values = {line[:21].strip(): line[21:].split()[0] for line in printed[1:-1]}
    upper, lower = float(values["objective"]), float(values["dual bound"])
    assert lower <= float(values["interior point"]) * (1 + 1e-7)
    assert float(values["interior point"]) <= upper * (1 + 1e-7)
    assert printed[-1] == "The optimum lies between the bounds."


def test_a_wrong_bound_ends_with_status_1(capsys, monkeypatch):
    fit = MEDKernelSelectionClassifier.fit

    def flattered(self, X, y, task=None):
        fit(self, X, y, task)
        self.objective_ *= 0.99
        return self

    monkeypatch.setattr(MEDKernelSelectionClassifier, "fit", flattered)
    assert main([*DIGITS, "--method", MED, *SMALL]) == 1
    assert "does not lie between the bounds" in capsys.readouterr().err


@pytest.mark.parametrize(("method", "why"), reference.WITHOUT_OPTIMUM.items())
def test_a_method_without_optimum_says_why_in_a_line(capsys, method, why):
    name = method.__name__
    assert main([*DIGITS, "--method", name]) == 2
    assert capsys.readouterr().err == f"mtmkl: {name}: {why}\n"


@pytest.mark.parametrize("package", ["cvxopt", "cvxpy"])
def test_the_remedy_where_the_extra_is_missing(package, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    loaded = ("mtmkl.certify", "mtmkl_suite.cli.certify")
    for name in [n for n in sys.modules if n.startswith(loaded)]:
        monkeypatch.delitem(sys.modules, name)
    assert main([*DIGITS, "--method", "SharedMKLClassifier"]) == 1
    assert 'pip install "mtmkl[reference]"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "unknown method 'Shared'"),
        ('MKLClassifier --params {"c":1}', "Invalid parameter 'c' for estimator"),
        ('MKLClassifier --params {"C":-1}', "C must be positive"),
        ('MKLClassifier --options {"classes":4}', "unknown option"),
    ],
)
def test_what_is_refused(capsys, options, words):
    assert main([*DIGITS, "--method", *f"Shared{options}".split()]) == 1
    assert words in capsys.readouterr().err
