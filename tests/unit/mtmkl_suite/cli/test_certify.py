import sys

import numpy as np
import pytest

from mtmkl.certify import certificates, cones
from mtmkl.certify.sample import draw
from mtmkl.datasets.container import MultiTaskData
from mtmkl.methods import MEDKernelSelection
from mtmkl_suite.cli.main import main

DIGITS = ["certify", "--dataset", "digits_pairs", "--options", '{"n_classes": 4}']
SMALL = ["--tasks", "2", "--examples", "8"]


def test_the_optimum_and_the_bounds_are_printed(capsys):
    pytest.importorskip("cvxopt")
    params = ["--params", '{"C": 0.1, "alpha": 3}']
    assert main([*DIGITS, "--method", "MEDKernelSelection", *params, *SMALL]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("MEDKernelSelection on digits_pairs: 2 tasks, 16 exa")
    values = {line[:21].strip(): line[21:].split()[0] for line in printed[1:-1]}
    upper, lower = float(values["objective"]), float(values["dual bound"])
    assert lower <= float(values["interior point"]) * (1 + 1e-7)
    assert float(values["interior point"]) <= upper * (1 + 1e-7)
    assert printed[-1] == "The optimum lies between the bounds."


def test_a_wrong_bound_ends_with_status_1(capsys, monkeypatch):
    pytest.importorskip("cvxopt")
    fit = MEDKernelSelection.fit

    def flattered(self, X, y, task=None):
        fit(self, X, y, task)
        self.objective_ *= 0.99
        return self

    monkeypatch.setattr(MEDKernelSelection, "fit", flattered)
    assert main([*DIGITS, "--method", "MEDKernelSelection", *SMALL]) == 1
    assert "does not lie between the bounds" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "why"), certificates.WITHOUT_OPTIMUM.items())
def test_a_method_without_optimum_says_why_in_a_line(capsys, name, why):
    assert main([*DIGITS, "--method", name]) == 2
    assert capsys.readouterr().err == f"mtmkl: {name}: {why}\n"


def test_a_referee_that_gives_up_says_so(capsys, monkeypatch):
    pytest.importorskip("cvxopt")
    monkeypatch.setattr(cones, "WORST_GAP", -1.0)
    monkeypatch.setattr(cones, "TOL", 1e-30)
    assert main([*DIGITS, "--method", "SharedMKL", *SMALL]) == 1
    said = capsys.readouterr().err
    assert said.startswith("mtmkl: cvxopt finds no optimum of this problem: ")
    assert "fewer examples may help" in said


def test_the_remedy_where_cvxopt_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxopt", None)
    assert main([*DIGITS, "--method", "SharedMKL"]) == 1
    assert 'pip install "mtmkl[referee]"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "SharedMKL", "--params", '{"c": 1}'], "no parameter 'c'; it has"),
        (["--method", "Shared"], "unknown method 'Shared'"),
        (["--method", "SharedMKL", "--params", '{"C": -1}'], "C must be positive"),
        (["--method", "SharedMKL", "--options", '{"classes": 4}'], "unknown option"),
    ],
)
def test_what_is_refused(capsys, options, words):
    pytest.importorskip("cvxopt")
    assert main([*DIGITS, *options]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--params", "C=1", "not JSON"),
        ("--params", "[1]", "not a JSON object"),
        ("--examples", "0", "0 is not a positive number"),
    ],
)
def test_options_are_read_before_any_work(capsys, option, value, words):
    with pytest.raises(SystemExit):
        main([*DIGITS, "--method", "SharedMKL", option, value])
    assert words in capsys.readouterr().err


def data(y, sizes=(6, 8, 7), d=2, **more):
    task = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).standard_normal((task.size, d))
    return MultiTaskData(X=X, y=y, task=task, name="toy", **more)


def test_a_sample_has_both_classes_and_few_examples():
    labels = np.where(np.arange(21) % 5 == 0, 1.0, -1.0)
    for seed in range(5):
        sample = draw(
            data(labels), n_tasks=2, n_examples=4, seed=seed, is_classifier=True
        )
        assert sample.n_tasks == 2
        for t in range(2):
            own = sample.y[sample.task == t]
            assert 2 <= own.size <= 4
            assert set(own) == {-1.0, 1.0}


def test_rows_keep_their_targets_and_tasks():
    numbers = np.arange(21.0)
    full = data(numbers)
    sample = draw(full, n_tasks=2, n_examples=3, seed=1, is_classifier=False)
    rows = sample.y.astype(int)
    np.testing.assert_array_equal(sample.X, full.X[rows])
    assert len(set(full.task[rows])) == 2
    np.testing.assert_array_equal(
        np.unique(full.task[rows], return_inverse=True)[1], sample.task
    )


@pytest.mark.parametrize(
    ("y", "words"),
    [(np.arange(21.0), "are numbers"), (np.ones(21), "examples of one class")],
)
def test_targets_that_do_not_suit(y, words):
    with pytest.raises(ValueError, match=words):
        draw(data(y), n_tasks=3, n_examples=4, seed=0, is_classifier=True)


def test_nodes_have_the_same_samples():
    samples = (np.random.default_rng(0).standard_normal((30, 5)) > 0).astype(float)
    graph = MultiTaskData(
        X=np.tile(samples, (5, 1)),
        y=2.0 * samples.T.ravel() - 1.0,
        task=np.repeat(np.arange(5), 30),
        name="graph",
    )
    sample = draw(
        graph, n_tasks=3, n_examples=10, seed=0, is_classifier=False, is_graph=True
    )
    assert sample.X.shape == (30, 3)
    np.testing.assert_array_equal(sample.X[:10], sample.X[20:])
    np.testing.assert_array_equal(sample.y[10:20], 2.0 * sample.X[:10, 1] - 1.0)
    with pytest.raises(ValueError, match="one task per column"):
        draw(
            data(np.ones(21)),
            n_tasks=3, n_examples=4, seed=0, is_classifier=False, is_graph=True,
        )  # fmt: skip
