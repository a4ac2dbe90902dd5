import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from tiny_workflow import ROOT, TINY, TinyWorkflow

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.documents import read_yaml
from mtmkl_suite.run.targets import Targets


def test_everything_is_there(finished):
    tables = ("statistics", "verdicts", "claims", "claim_settings", "overlaps")
    names = ["scores.csv.gz", "provenance.json", *(f"{name}.csv" for name in tables)]
    names += [f"artefacts/table_1.{kind}" for kind in ("csv", "md", "tex")]
    for name in names:
        assert finished.results(name).stat().st_size > 0
    report = (finished.run_folder / "report.html").read_text()
    assert "Nobody 2000" in report


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
    report = (finished.run_folder / "report.html").read_text()
    assert "school" in report


def test_kept_arrays_are_stored(finished):
    with np.load(finished.results("fits/digits.npz")) as arrays:
        kept = {tuple(name.split("|")[:2]) for name in arrays.files}
    place = "digits/digits[n_per_class=10]"
    assert kept == {(f"{place}/{name}", "coef_") for name in ("ridge", "features")}


def test_nothing_is_left_to_do(finished):
    again = finished.run("--dry-run")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.nightly
def test_the_catalogs_snakefile_plans_the_same_jobs(finished, tmp_path):
    (log,) = finished.folder.glob(".snakemake/log/*.log")
    catalog = str(ROOT / "workflow" / "Snakefile")
    shown = TinyWorkflow(tmp_path).run("--dry-run", "--snakefile", catalog)
    usual, of_catalog = (
        dict(re.findall(r"^(?!total)(\w+) +(\d+)$", text, re.M))
        for text in (log.read_text(), shown.stdout + shown.stderr)
    )
    assert usual.pop("all") == of_catalog.pop("everything") == "1"
    assert usual == of_catalog
    assert "fit" in usual


def wait_for(found, process, what):
    deadline = time.monotonic() + 300
    while not found():
        assert time.monotonic() < deadline, f"no {what}"
        assert process.poll() is None, f"ended without {what}: {process.stderr.read()}"
        time.sleep(0.02)


def test_a_second_run_stops_before_any_work_and_ctrl_c_keeps_the_first(tmp_path):
    workflow = TinyWorkflow(tmp_path)
    process = workflow.start(SLOW_SECONDS="600")
    lock = workflow.run_folder / ".lock"
    wait_for(lambda: lock.exists() and lock.read_text(), process, "lock")
    second = workflow.run()
    assert second.returncode != 0
    assert f"another run (process {process.pid}) is writing" in second.stderr
    assert "Traceback" not in second.stderr
    assert "jobs" not in second.stderr.partition("Planning the jobs")[2]
    wait_for(
        lambda: list(tmp_path.glob("results/cache/*/*.npz")), process, "finished cell"
    )
    os.killpg(process.pid, signal.SIGINT)
    _, shown = process.communicate()
    assert process.returncode != 0
    assert "Finished cells are kept: run the same command to resume." in shown
    assert "Failed" not in shown


def test_a_run_is_a_few_lines(finished):
    first, *progress = finished.done.stderr.splitlines()
    assert first.startswith("Using profiles")
    assert len(progress) <= 12
    assert max(map(len, progress)) <= 80
    assert re.fullmatch(r"(\d+) of \1 jobs", progress[-2])
    assert len(finished.done.stdout.splitlines()) <= 14
    (log,) = finished.folder.glob(".snakemake/log/*.log")
    assert "Finished jobid" in log.read_text()


def test_a_run_ends_with_verdicts_missing_data_and_the_address(finished):
    shown = finished.done.stdout
    assert "Tiny (Nobody, 2000)" in shown
    assert "published numbers:  2 not judged (quick)\n" in shown
    assert "sentences:          1 not judged (quick), 1 no data\n" in shown
    assert "Missing data: school\n" in shown
    assert "mtmkl datasets fetch school\n" in shown
    report = (finished.run_folder / "report.html").as_uri()
    assert shown.splitlines()[-1] == f"Report: {report}"


@pytest.mark.nightly
def test_damaged_files_are_named_once(finished, tmp_path):
    workflow = TinyWorkflow(tmp_path)
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    damaged = {
        "splits/random/digits[n_per_class=10].npz": "fits/digits.npz",
        "splits/given/linear_synthetic[n_irrelevant=0,n_tasks=6].npz": "fits/drawn.npz",
    }
    for name, reader in damaged.items():
        path = workflow.results(name)
        path.write_bytes(path.read_bytes()[:-40])
        workflow.results(reader).unlink()
    done = workflow.run(workflow.target("scores.csv.gz"))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    for name in damaged:
        assert done.stderr.count(f"{name} is damaged") == 1
        workflow.results(name).unlink()
    assert done.stderr.count("Delete it and start the run again") == 2
    again = workflow.run(workflow.target("scores.csv.gz"))
    assert again.returncode == 0, again.stderr
    assert workflow.scores() == finished.scores()


@pytest.mark.nightly
def test_missing_data_can_be_an_error(tmp_path):
    strict = TinyWorkflow(tmp_path, on_missing_data="fail")
    run = "results/quick+tiny+seed=1+on_missing_data=fail"
    done = strict.run(f"{run}/tiny/data/school.json")
    assert done.returncode != 0
    assert done.stderr.count("school_b.mat is missing") == 1
    assert "MTMKL_DATA_MIRROR" in done.stderr
    assert "Traceback" not in done.stderr


def planned(workflow):
    """Return what the Snakefile makes of a configuration first."""
    return Targets(load_run_config(read_yaml(workflow.config)))


@pytest.mark.nightly
def test_a_mirror_on_the_command_line(tmp_path):
    done = TinyWorkflow(tmp_path).run("--dry-run", "--config", "mirror=nowhere")
    assert done.returncode != 0
    assert "key 'mirror': 'nowhere' is not a folder" in done.stderr
    (tmp_path / "there").mkdir()
    done = TinyWorkflow(tmp_path).run("--dry-run", "--config", "mirror=there")
    assert done.returncode == 0, done.stderr


def test_an_unknown_target_lists_the_targets(tmp_path):
    said = planned(TinyWorkflow(tmp_path)).unknown("tiny_table_2")
    assert "unknown target 'tiny_table_2'; did you mean 'tiny_table_1'?" in said
    assert "(known: tiny, tiny_table_1, publish, rejudge, all)" in said


def test_make_lists_its_targets_for_an_unknown_one():
    done = subprocess.run(
        ["make", "qick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "there is no target 'qick'; the targets:\n  make quick" in done.stderr


def test_a_paper_without_artefacts_and_claims(tmp_path):
    paper = tmp_path / "short"
    paper.mkdir()
    shutil.copy(TINY / "experiments.yaml", paper)
    (config,) = planned(TinyWorkflow(tmp_path, papers=[str(paper)])).papers.values()
    assert config.experiments
    assert not config.artefacts
    assert not config.claims


@pytest.mark.nightly
def test_lint_is_clean():
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--lint"], cwd=ROOT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert "Congratulations" in done.stdout + done.stderr, done.stdout + done.stderr
