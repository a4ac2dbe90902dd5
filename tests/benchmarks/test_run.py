"""Every benchmark runs, at its smallest size."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(folder, *words, mirror=None):
    environment = {k: v for k, v in os.environ.items() if k != "MTMKL_DATA_MIRROR"}
    environment["XDG_CACHE_HOME"] = str(folder / "cache")  # nor data downloaded before
    if mirror:
        environment["MTMKL_DATA_MIRROR"] = mirror
    done = subprocess.run(
        [
            sys.executable, str(ROOT / "benchmarks" / "run.py"), *words, "--quick",
            "--output", str(folder / "out"),
        ],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )  # fmt: skip
    return done


def series_of(folder, name):
    with (folder / "out" / f"{name}.csv").open(encoding="utf-8") as file:
        return {row["series"] for row in csv.DictReader(file)}


@pytest.mark.nightly
def test_without_data_series_are_left_out_by_name(tmp_path):
    done = run(tmp_path, "methods")
    assert done.returncode == 0, done.stderr
    assert series_of(tmp_path, "methods") == {
        "Graph structure (Jebara 2011), drawn", "Multi-task MKL (Widmer 2015), drawn",
    }  # fmt: skip
    for name in ("Trace norm (Argyriou 2008), School", "Group sharing (Yousefi 2015)"):
        assert f"left out: {name}" in done.stdout
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "these are no measurements" in page
    assert "School: no data" in page


@pytest.mark.skipif(
    "MTMKL_DATA_MIRROR" not in os.environ, reason="no mirror of the data sets"
)
@pytest.mark.nightly
def test_methods_with_data(tmp_path):
    done = run(tmp_path, "methods", mirror=os.environ["MTMKL_DATA_MIRROR"])
    assert done.returncode == 0, done.stderr
    assert len(series_of(tmp_path, "methods")) == 11
    assert "fails at" not in done.stdout
    assert "no data" not in done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "n_series", "said"),
    [
        (["heart", "--only", "2^0"], 3, "baseline=LIBSVM"),
        (["users", "--only", "shared samples"], 1, "baseline=scikit-learn"),
        (["growth"], 4, "MK-MTSFL regression"),
    ],
)
def test_others_need_no_data(tmp_path, words, n_series, said):
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert len(series_of(tmp_path, words[0])) == n_series
    assert said in done.stdout
    assert "not reached" not in done.stdout


def test_ratios_that_fell_by_a_third_are_named(tmp_path, benchmark):
    benchmarks = benchmark("run")
    places = [("x", "tasks", "5", "SVC"), ("x", "tasks", "5", "ours, grid")]
    for folder, ratio in (("old", 9.0), ("new", 5.9)):
        (tmp_path / folder).mkdir()
        rows = [",".join([*place, str(ratio)]).replace("ours, grid", '"ours, grid"')
                for place in places]  # fmt: skip
        text = "\n".join(["series,axis,size,baseline,ratio", *rows])
        (tmp_path / folder / "heart.csv").write_text(text)
    found = benchmarks.fallen("heart", tmp_path / "new", tmp_path / "old")
    assert found == ["heart, x, tasks, 5, SVC: 9 times, now 5.9"]
    assert benchmarks.fallen("heart", tmp_path / "old", tmp_path / "new") == []
