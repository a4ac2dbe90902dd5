"""What ``run_paper`` refuses, where its results go, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mtmkl.cli import main
from mtmkl.config import ConfigError
from mtmkl.files import read_table
from mtmkl.runner import run_paper

TINY = Path(__file__).parents[1] / "workflow/papers/tiny.yaml"


@pytest.mark.parametrize(
    ("paper", "experiment", "tier", "message"),
    [
        ("yousefi2015", "vehicle", "quick", "only in tier paper: add --tier paper"),
        ("yousefi2015", "nope", "quick", "'nope' is unknown; known: robot, digits"),
        ("yousefi2015", "nope", "paper", "'nope' is unknown; known: robot, vehicle"),
    ],
)
def test_an_experiment_that_is_not_there(tmp_path, paper, experiment, tier, message):
    with pytest.raises(ConfigError, match=message):
        run_paper(paper, tier=tier, experiments=["robot", experiment], results=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("methods", [[], ["mtl_feat_linear", "floor"]])
def test_a_grid_is_for_a_method_that_has_none(tmp_path, methods):
    with pytest.raises(ConfigError, match="--grid needs --method package"):
        run_paper(
            "argyriou2008",
            experiments=["digits"],
            methods=methods,
            grid={"gamma": [1.0]},
            results=tmp_path,
        )
    assert not any(tmp_path.iterdir())


def test_a_partial_run_leaves_the_whole_one_alone(tmp_path):
    for name in ("quick", "quick+tiny"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.html").write_text("whole")
    report = run_paper(TINY, experiments=["drawn"], results=tmp_path)
    assert report == tmp_path / "quick+tiny+drawn" / "report.html"
    scores = read_table(report.parent / "tiny" / "scores.csv.gz")
    assert set(scores["experiment"]) == {"drawn"}
    assert (tmp_path / "quick/report.html").read_text() == "whole"
    assert (tmp_path / "quick+tiny/report.html").read_text() == "whole"


def run(*arguments, results):
    return subprocess.Popen(
        [sys.executable, "-m", "mtmkl.cli", "run", f"--paper={TINY}",
         f"--results={results}", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip


def wait_for_cells(process, results):
    deadline = time.monotonic() + 300
    while not list(results.glob("cache/*/*.npz")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


@pytest.mark.parametrize("cores", [1, 2])
def test_ctrl_c_says_that_finished_cells_are_kept(tmp_path, cores):
    process = run(f"--cores={cores}", results=tmp_path)
    wait_for_cells(process, tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130
    assert shown.splitlines()[-1] == (
        "mtmkl: stopped: finished cells are kept, the same command goes on from there"
    )
    assert "Traceback" not in shown


def test_a_living_run_is_left_alone_and_a_killed_one_leaves_nothing(tmp_path, capsys):
    process = run("--cores=2", results=tmp_path)
    wait_for_cells(process, tmp_path)
    process.send_signal(signal.SIGSTOP)
    assert main(["run", f"--paper={TINY}", f"--results={tmp_path}"]) == 1
    refusal = capsys.readouterr().err
    assert f"mtmkl: another run (process {process.pid}) is writing" in refusal
    process.kill()
    # The pipes close when the last worker has ended.
    process.communicate(timeout=60)
    assert main(["run", f"--paper={TINY}", f"--results={tmp_path}"]) == 0


def test_a_damaged_cell_is_computed_again(tmp_path):
    report = run_paper(TINY, experiments=["drawn"], results=tmp_path)
    scores = read_table(report.parent / "tiny" / "scores.csv.gz")
    for path in tmp_path.glob("cache/*/*.npz"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run_paper(TINY, experiments=["drawn"], results=tmp_path)
    again = read_table(report.parent / "tiny" / "scores.csv.gz")
    assert again.drop(columns="fit_seconds").equals(scores.drop(columns="fit_seconds"))
