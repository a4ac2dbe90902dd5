"""The samples and notebooks of the docs run, and show what they say."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOKS = sorted(DOCS.glob("notebooks/*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_what_they_show(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert len(cells) <= 40
    for cell in code:
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "svg")
    run = runpy.run_path(str(DOCS / "run_notebook.py"))["run"]
    return lambda name: run(DOCS / f"notebooks/{name}.ipynb", tmp_path)


def test_data_frames(run, tmp_path):
    names = run("data_frames")
    rows = names["X_test"]
    np.testing.assert_array_equal(
        names["loaded"].predict(rows),
        names["search"].predict(rows, task=rows["school"]),
    )
    together = names["search"].score(rows, names["y_test"], task=rows["school"])
    assert together > names["score"] + 0.05
    assert names["left_out"].best_score_ > 0.3
    assert (names["ours"].predict(names["inputs"])).shape == names["targets"].shape
    page = (tmp_path / "data_frames.myst").read_text(encoding="utf-8")
    assert "```text\nR² 0." in page
    assert "school 00" in page


def test_figure_3(run, tmp_path):
    counts = run("argyriou_figure_3")["counts"]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (11, 1)
    page = (tmp_path / "argyriou_figure_3.myst").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[Figure 3 of .*\]\((.*)\)", page)
    assert len(pictures) == 2
    for name in pictures:
        assert "</svg>" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.nightly
def test_own_method(tmp_path):
    for folder in ("examples", "notebooks"):
        shutil.copytree(DOCS / folder, tmp_path / "docs" / folder)
    notebook = tmp_path / "docs/notebooks/own_method.ipynb"
    done = subprocess.run(
        [sys.executable, str(DOCS / "run_notebook.py"), str(notebook), str(tmp_path)],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("MTMKL_")},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (tmp_path / "results").glob("paper+comparison+on_digits+own_method.*")
    assert (run / "report.html").is_file()
    scores = pd.read_csv(run / "comparison" / "scores.csv.gz")
    areas = scores[(scores["metric"] == "auc") & (scores["task"] == "all")]
    means = areas.groupby("method")["value"].mean()
    assert means["floor"] + 0.3 < means["sharedmeanridge"] < 1.0
    assert means.size > 20


def test_task_groups(run, tmp_path):
    names = run("task_groups")
    counts = names["counts"]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (names["weights"].shape[1], 1)
    for fit in names["fits"]:
        for label in set(fit.groups_):
            assert np.ptp(fit.weights_[fit.groups_ == label, 0]) < 1e-6
    assert "</svg>" in (tmp_path / "task_groups_0.svg").read_text(encoding="utf-8")
