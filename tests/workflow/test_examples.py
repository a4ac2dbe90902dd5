"""The examples of the docs run, and show what they say."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn

from mtmkl_suite.data import load

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.mark.nightly
def test_own_method(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MTMKL_")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "own_method.py"), str(tmp_path / "results")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (tmp_path / "results").glob(
        "quick+argyriou2008+digits+own_method.SharedMeanRidge+grid-*"
    )
    assert (run / "report.html").is_file()
    scores = pd.read_csv(run / "argyriou2008" / "scores.csv.gz")
    errors = scores[(scores["metric"] == "misclassified") & (scores["task"] == "all")]
    table = errors.pivot(index="repeat", columns="method", values="value")
    assert table.notna().all(axis=None)
    assert (table["sharedmeanridge"] < table["floor"]).all()
    assert (table["ceiling"] == 0).all()
    printed = done.stdout.splitlines()
    assert any(line.startswith("sharedmeanridge") for line in printed)


def test_start_page_learning_together_pays_off():
    page = (EXAMPLES.parent / "start.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    data, fit, *_, pairs = blocks
    names: dict = {}
    for block in (data, fit, pairs):
        exec(block, names)
    drawn = load("linear_synthetic", n_irrelevant=6, n_tasks=40, seed=1)
    test = drawn.truth["is_test"]
    together, alone = (
        np.mean((drawn.y[test] - model.predict(drawn.X[test], drawn.task[test])) ** 2)
        for model in (names["together"], names["alone"])
    )
    assert together < alone
    assert (names["found"].wins, names["found"].losses) == (0, 6)


def test_grid_search(capsys):
    with sklearn.config_context():
        names = runpy.run_path(str(EXAMPLES / "grid_search.py"), run_name="__main__")
    assert names["best"].duality_gap_ <= 1e-6
    held_out = names["data"].y[names["test"]]
    assert np.mean((held_out - names["predicted"]) ** 2) < held_out.var()
    assert "chosen γ" in capsys.readouterr().out


def test_figure_2(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = runpy.run_path(str(EXAMPLES / "argyriou_figure_2.py"), run_name="figure_2")
    panels = names["curves"]()
    _, distances = panels.values()
    for n_irrelevant in names["N_IRRELEVANT"]:
        few, many = (
            np.mean(distances[f"T = {n}", n_irrelevant]) for n in names["N_TASKS"]
        )
        assert many < few
    monkeypatch.setitem(names["plot"].__globals__, "curves", lambda: panels)
    names["plot"](tmp_path / "new" / "figure_2.svg")
    assert "</svg>" in (tmp_path / "new" / "figure_2.svg").read_text()


def test_task_groups(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = runpy.run_path(str(EXAMPLES / "task_groups.py"), run_name="task_groups")
    _, weights, groups = names["path"]()
    counts = [len(set(labels)) for labels in groups]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == weights.shape[1]
    assert counts[-1] == 1
    for values, labels in zip(weights, groups, strict=True):
        for label in set(labels):
            assert np.ptp(values[labels == label]) < 1e-6
    names["plot"](tmp_path / "new" / "task_groups.svg")
    assert "</svg>" in (tmp_path / "new" / "task_groups.svg").read_text()
