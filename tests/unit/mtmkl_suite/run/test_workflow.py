"""Runs that are refused, where results go, and how runs end."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import yaml
from interrupts import allow_interrupts
from sweeps import sweep
from tiny_workflow import TINY

from mtmkl_suite.cli.main import main
from mtmkl_suite.files import read_table
from mtmkl_suite.run import locks, workflow
from mtmkl_suite.run.workflow import run_workflow


def run(folder, **settings):
    place = {"papers": [str(TINY)], "results": str(folder / "results")}
    return run_workflow(**place, **settings)


def test_a_run_holds_its_folder_while_it_downloads(tmp_path, monkeypatch):
    def download(names):
        (lock,) = (tmp_path / "results").glob("*/.lock")
        assert lock.read_text() == str(os.getpid())
        assert locks._held
        raise TimeoutError

    monkeypatch.setattr(workflow, "fetch_small", download)
    with pytest.raises(TimeoutError):
        run(tmp_path)
    assert not locks._held


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--artefact", "table_9"], "unknown artefact 'table_9'; did you mean 'table_"),
        (["--artefact", "table_1", "--experiment", "digits"], "leave out --experiment"),
        (["--artefact", "table_1", "--against", "published"], "leave out --artefact"),
    ],
)
def test_an_artefact_that_cannot_be_made(tmp_path, capsys, words, message):
    command = ["run", "--paper", str(TINY), "--results", str(tmp_path / "results")]
    assert main([*command, *words]) == 1
    assert message in capsys.readouterr().err
    assert main(["run", "--data", "x.csv", "--artefact", "table_1"]) == 1
    assert "--artefact is for --paper" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder with a finished run of a part of the paper, beside a whole one."""
    folder = tmp_path_factory.mktemp("drawn")
    for name in ("quick", "quick+tiny"):
        (folder / "results" / name).mkdir(parents=True)
        (folder / "results" / name / "report.html").write_text("whole")
    done = run(folder, experiments=["drawn"])
    assert done.report == folder / "results/quick+tiny+drawn/report.html"
    return folder


def scores_of(folder):
    return read_table(folder / "results/quick+tiny+drawn/tiny/scores.csv.gz")


def test_a_partial_run_leaves_the_whole_one_alone(drawn):
    assert set(scores_of(drawn)["experiment"]) == {"drawn"}
    for name in ("quick", "quick+tiny"):
        assert (drawn / "results" / name / "report.html").read_text() == "whole"


def test_what_a_killed_run_left_goes_where_nothing_is_to_be_done(drawn):
    places = (drawn / "results/quick+tiny+drawn", drawn / "results/cache")
    left = [folder / "tmp00000000.part" for folder in places]
    for path in left:
        path.write_bytes(b"half")
        os.utime(path, (0, 0))
    handler = signal.getsignal(signal.SIGTERM)
    run(drawn, experiments=["drawn"])
    assert not any(path.exists() for path in left)
    assert signal.getsignal(signal.SIGTERM) is handler


def start(*arguments, results):
    return subprocess.Popen(
        [sys.executable, "-m", "mtmkl_suite.cli.main", "run", f"--paper={TINY}",
         f"--results={results}", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=allow_interrupts,
    )  # fmt: skip


def wait_for_cells(process, results):
    deadline = time.monotonic() + 300
    while not list(results.glob("cache/*/*.npz")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


@pytest.mark.nightly
@pytest.mark.parametrize("cores", [1, 2])
def test_ctrl_c_says_that_finished_cells_are_kept(tmp_path, cores):
    results = tmp_path / "results"
    process = start(f"--cores={cores}", results=results)
    wait_for_cells(process, results)
    os.killpg(process.pid, signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130
    (last,) = [line for line in shown.splitlines() if line.startswith("Stopped: ")]
    assert last.endswith("Finished cells are kept: run the same command to resume.")
    assert "Failed" not in shown
    assert "Traceback" not in shown


BROKEN = """
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning


class Base(BaseEstimator):
    def fit(self, X, y, task=None):
        return self

    def predict(self, X, task=None):
        return np.zeros(len(X))


class Loose(Base):
    def fit(self, X, y, task=None):
        text = "a norm: stopped after 9 steps at a relative duality gap of 1.4e-03 "
        warnings.warn(text + "(tol=1e-06)", ConvergenceWarning, stacklevel=2)
        return self


class Raises(Base):
    def fit(self, X, y, task=None):
        # Outside of the code, whose fingerprint stays the same.
        if Path(__file__).with_name("unlucky").exists():
            raise RuntimeError("no luck")
        return self


class NeedsArgument(Base):
    def __init__(self, k):
        self.k = k


class NoParameters:
    fit, predict = Base.fit, Base.predict


class Strings(Base):
    def predict(self, X, task=None):
        return np.array(["one"] * len(X))


class NotFinite(Base):
    def predict(self, X, task=None):
        return np.full(len(X), np.nan)
"""

REASONS = {
    "Raises": "RuntimeError: no luck",
    "NeedsArgument": "missing 1 required positional argument: 'k'; give it under",
    "NoParameters": "has no get_params: derive it from sklearn.base.BaseEstimator",
    "Strings": "predict returned values of type str, such as ['one']",
    "NotFinite": "predict returned values that are not finite for",
}


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Write a paper with five methods that fail, one that warns, and a good one."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "broken_methods.py").write_text(BROKEN)
    (tmp_path / "code" / "unlucky").touch()
    monkeypatch.syspath_prepend(tmp_path / "code")
    config = yaml.safe_load((TINY / "experiments.yaml").read_text())
    names = ("Loose", *REASONS)
    methods = [{"method": name} for name in ("floor", *names)]
    digits = config["experiments"]["digits"] | {"methods": methods}
    config["experiments"] = {"digits": digits}
    config["methods"] |= {
        name: {"label": name, "class": f"broken_methods:{name}", "selection": "none"}
        for name in names
    }
    artefacts = yaml.safe_load((TINY / "artefacts.yaml").read_text())["artefacts"]
    shown = {name: {"method": name} for name in ("floor", *REASONS)}
    table = artefacts["table_1"] | {"rows": {}, "extra_rows": shown}
    artefacts = {"artefacts": {"table_1": table}}
    paper = tmp_path / "papers" / "tiny"
    paper.mkdir(parents=True)
    (paper / "experiments.yaml").write_text(yaml.safe_dump(config))
    (paper / "artefacts.yaml").write_text(yaml.safe_dump(artefacts))
    shutil.copytree(TINY / "published", paper / "published")
    return paper


@pytest.mark.parametrize("cores", sweep(["2"], nightly=["1"]))
def test_a_method_that_fails_leaves_the_others_and_is_tried_again(
    broken, tmp_path, capsys, cores
):
    results = tmp_path / "results"
    command = ["run", "--paper", str(broken), "--results", str(results)]
    assert main([*command, "--cores", cores]) == 1
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    for name, reason in REASONS.items():
        (line,) = [line for line in lines if repr(name) in line]
        start, _, end = line.strip().partition(" on digits[n_per_class=10] ")
        assert start == f"experiment 'digits': method {name!r}"
        assert end.startswith("(repeat 0, train size 60 samples, 10 tasks): ")
        assert reason in end
    assert "floor" not in printed.err
    base = results / "quick+tiny" / "tiny"
    scores = pd.read_csv(base / "scores.csv.gz")
    assert set(scores.loc[scores["method"] == "floor", "metric"]) == {"misclassified"}
    failed = scores[~scores["method"].isin(["floor", "Loose"])]
    assert sorted(failed["method"]) == sorted(REASONS)
    assert set(failed["metric"]) == {"failed"}
    log = base.parent / "logs/tiny/fits/digits.log"
    assert 'raise RuntimeError("no luck")' in log.read_text()
    # A warning of each fit is in the log, one line for all of them on the screen.
    assert log.read_text().count("Loose: ConvergenceWarning: a norm") == 2
    shown = printed.out
    assert "Loose: ConvergenceWarning (2 times)\n" in shown
    assert f"All warnings: {base.parent / 'logs'}\n" in shown
    assert "stopped after" not in shown
    assert "Tracebacks: results/quick+tiny/logs" in printed.err
    report = (results / "quick+tiny" / "report" / "paper-tiny.html").read_text()
    assert "RuntimeError: no luck" in report
    (tmp_path / "code" / "unlucky").unlink()
    assert main([*command, "--cores", cores]) == 1
    assert "no luck" not in capsys.readouterr().err
    scores = pd.read_csv(base / "scores.csv.gz")
    assert set(scores.loc[scores["method"] == "Raises", "metric"]) == {"misclassified"}


def test_an_experiment_without_its_data_says_what_brings_them(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "cache"))
    command = ["run", "--paper", str(TINY), "--results", str(tmp_path / "results")]
    assert main([*command, "--experiment", "absent"]) == 1
    lines = capsys.readouterr().err.splitlines()
    (line,) = [line for line in lines if line.startswith("mtmkl")]
    assert line.startswith("mtmkl: data set 'school' is not available")
    assert "run `mtmkl datasets fetch school`" in line
