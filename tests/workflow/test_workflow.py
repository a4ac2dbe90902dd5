import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from tiny_workflow import ROOT, TIME_COLUMNS, TinyWorkflow


def test_everything_is_there(finished):
    for name in (
        "scores.csv.gz",
        "statistics.csv",
        "verdicts.csv",
        "claims.csv",
        "provenance.json",
        "artefacts/table_1.csv",
        "artefacts/table_1.md",
        "artefacts/table_1.tex",
    ):
        assert finished.results(name).stat().st_size > 0
    report = (finished.folder / "results/quick/report.html").read_text()
    assert "Tiny" in report


def test_controls_are_floor_and_ceiling(finished):
    scores = pd.read_csv(finished.results("scores.csv.gz"))
    whole = scores[(scores["experiment"] == "digits") & (scores["task"] == "all")]
    errors = whole.groupby("method")["value"].mean()
    assert errors["ceiling"] == 0
    assert errors["ceiling"] < errors["features"] < errors["floor"]


def test_missing_data_are_a_named_gap(finished):
    claims = pd.read_csv(finished.results("claims.csv")).set_index("id")
    assert claims.loc["absent_is_named", "verdict"] == "no data"
    assert claims.loc["ceiling_is_better", "verdict"] == "not judged (quick)"
    report = (finished.folder / "results/quick/report.html").read_text()
    assert "school" in report


def test_kept_arrays_are_stored(finished):
    path = finished.results("fits/digits/digits[n_per_class=10]/features.0.npz")
    with np.load(path) as arrays:
        assert {n.split("|")[0] for n in arrays.files} == {"coef_"}


def test_nothing_is_left_to_do(finished):
    again = finished.run("--dry-run")
    assert "Nothing to be done" in again.stdout + again.stderr


def test_one_core_gives_the_same_scores(finished, tmp_path):
    alone = TinyWorkflow(tmp_path)
    done = alone.run(str(alone.results("scores.csv.gz").relative_to(tmp_path)), cores=1)
    assert done.returncode == 0, done.stderr
    assert alone.scores() == finished.scores()


def test_killed_and_started_again_gives_the_same_scores(finished, tmp_path):
    killed = TinyWorkflow(tmp_path)
    target = str(killed.results("scores.csv.gz").relative_to(tmp_path))
    process = subprocess.Popen(
        killed.command(target),
        env=killed.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("results/cache/*/*.npz")):
        assert time.monotonic() < deadline, "no cell was finished"
        assert process.poll() is None, "ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not killed.results("scores.csv.gz").exists()
    assert killed.run("--unlock").returncode == 0
    resumed = killed.run(target)
    assert resumed.returncode == 0, resumed.stderr
    assert killed.scores() == finished.scores()


def test_a_job_for_each_method_gives_the_same_scores_as_one_for_all(finished, tmp_path):
    # The second chunk holds what the first has chosen.
    name = "fits/digits/digits[n_per_class=10]/slow.1.csv.gz"
    alone = TinyWorkflow(tmp_path, tier="paper")
    done = alone.run(f"results/paper/tiny/{name}")
    assert done.returncode == 0, done.stderr
    folder = (tmp_path / "results/paper/tiny" / name).parent
    names = sorted(path.name for path in folder.glob("*.csv.gz"))
    assert names == ["slow.0.csv.gz", "slow.1.csv.gz"]
    separate = pd.concat([pd.read_csv(folder / each) for each in names])
    shared = pd.read_csv(finished.results(name.replace("slow.1", "slow.0")))
    pd.testing.assert_frame_equal(
        separate.drop(columns=TIME_COLUMNS).reset_index(drop=True),
        shared.drop(columns=TIME_COLUMNS),
    )


def test_missing_data_can_be_an_error(tmp_path):
    strict = TinyWorkflow(tmp_path, on_missing_data="fail")
    done = strict.run("results/quick/tiny/data/school.json")
    assert done.returncode != 0
    assert "school" in done.stderr
    assert "MTMKL_DATA_MIRROR" in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tier": "huge"}, "'tier'"),
        ({"papers": ["nobody1999"]}, "'nobody1999'"),
        ({"miror": None}, "unknown key 'miror'; did you mean 'mirror'? (known: tier"),
    ],
)
def test_wrong_configuration_is_named_before_any_work(tmp_path, change, message):
    wrong = TinyWorkflow(tmp_path, **change)
    done = wrong.run("--dry-run")
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_key_that_comes_twice_in_the_run_configuration(tmp_path):
    workflow = TinyWorkflow(tmp_path)
    with workflow.config.open("a") as file:
        file.write("seed: 2\n")
    done = workflow.run("--dry-run")
    assert done.returncode != 0
    assert "the key 'seed' is already in line" in done.stderr


def test_a_mirror_on_the_command_line(tmp_path):
    done = TinyWorkflow(tmp_path).run("--dry-run", "--config", "mirror=nowhere")
    assert done.returncode != 0
    assert "key 'mirror': 'nowhere' is not a folder" in done.stderr
    (tmp_path / "there").mkdir()
    done = TinyWorkflow(tmp_path).run("--dry-run", "--config", "mirror=there")
    assert done.returncode == 0, done.stderr


def test_an_unknown_target_lists_the_targets(tmp_path):
    done = TinyWorkflow(tmp_path).run("tiny_table_2")
    assert done.returncode != 0
    assert "unknown target 'tiny_table_2'; did you mean 'tiny_table_1'?" in done.stderr
    assert "(known: tiny, tiny_table_1, publish, all)" in done.stderr
    assert not (tmp_path / "results").exists()


def test_make_lists_its_targets_for_an_unknown_one():
    done = subprocess.run(
        ["make", "qick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "there is no target 'qick'; the targets:\n  make quick" in done.stderr


def test_a_paper_without_artefacts_and_claims(tmp_path):
    paper = tmp_path / "short"
    paper.mkdir()
    shutil.copy(ROOT / "tests/workflow/papers/tiny/experiments.yaml", paper)
    done = TinyWorkflow(tmp_path, papers=[str(paper)]).run("--dry-run")
    assert done.returncode == 0, done.stderr


def test_unknown_method_is_named(tmp_path):
    text = (ROOT / "tests/workflow/papers/tiny/experiments.yaml").read_text()
    paper = tmp_path / "wrong"
    paper.mkdir()
    (paper / "experiments.yaml").write_text(
        text.replace("class: IndependentRidge", "class: IndependantRidge")
    )
    done = TinyWorkflow(tmp_path, papers=[str(paper)]).run("--dry-run")
    assert done.returncode != 0
    assert "IndependantRidge" in done.stderr


def test_lint_is_clean():
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--lint"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Congratulations" in done.stdout + done.stderr, done.stdout + done.stderr
