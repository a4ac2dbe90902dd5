"""Time beside the fits: start-up, and Snakemake's own share.

Start-up, in new processes: what ``import mtmkl`` and an estimator that is made, but not
fitted, add to the import of scikit-learn; and the first fit, on twenty samples, with
compiled code in numba's cache. Snakemake, for each tier: planning every paper's jobs
where nothing is there, and finding that nothing is to be done where all is; and what
one job costs that does nothing, the mean of ten. Processor seconds of the processes;
ratios are to scikit-learn's import, and to Snakemake on one empty rule.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import yaml
from measuring import ROOT, Table

TITLE = "Start-up, and Snakemake's own share"
TIERS = ("quick", "paper")
ESTIMATORS = (
    "IndependentRidgeRegressor",
    "MultiTaskFeatureLearningRegressor",
    "GroupFeatureSharingClassifier",
)
START = """
import json, time
begun = time.process_time()
import sklearn.svm
theirs = time.process_time()
import mtmkl
alone = time.process_time()
from mtmkl.methods import {name}
model = {name}()
made = time.process_time()
import numpy as np
X = np.random.default_rng(0).normal(size=(20, 3))
y, task = np.sign(X[:, 0]), np.arange(20) % 2
data = time.process_time()
model.fit(X, y, task=task)
fitted = time.process_time()
print(json.dumps([theirs - begun, alone - theirs, made - alone, fitted - data]))
"""
STEPS = ("scikit-learn", "import mtmkl", "an estimator", "the first fit")
EMPTY = """
rule all:
    input:
        expand("{{n}}.txt", n=range({n})),


rule one:
    output:
        "{{n}}.txt",
    script:
        "nothing.py"
"""
NOTHING = "from pathlib import Path\nPath(snakemake.output[0]).touch()\n"


def measure(table: Table, *, quick: bool) -> None:
    """Measure all."""
    start_up(table, repeats=1 if quick else 7)
    base = jobs(table, n_jobs=3 if quick else 10)
    papers = sorted(path.name for path in (ROOT / "config" / "papers").iterdir())
    for tier in TIERS[: 1 if quick else 2]:
        for paper in papers[: 1 if quick else None]:
            planning(table, tier, paper, base)
        nothing_to_do(table, tier, base)


def start_up(table: Table, repeats: int) -> None:
    """Time the import of the package, an estimator and a first fit."""
    for name in ESTIMATORS:
        runs = []
        for _ in range(repeats + 1):  # the first fills caches
            done = subprocess.run(
                [sys.executable, "-c", START.format(name=name)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            runs.append(json.loads(done.stdout))
        seconds = [median(step) for step in zip(*runs[1:], strict=True)]
        for step, spent in zip(STEPS, seconds, strict=True):
            table.add(
                series="Start-up", axis="estimator", size=name, baseline=step,
                seconds=spent, ratio=spent / seconds[0], repeats=repeats,
            )  # fmt: skip


def jobs(table: Table, n_jobs: int) -> float:
    """Time jobs that do nothing; return the seconds of Snakemake on an empty rule."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nothing.py").write_text(NOTHING)
        (folder / "Snakefile").write_text(EMPTY.format(n=1))
        command = [*_snakemake(folder / "Snakefile", folder), "--quiet", "all"]
        base, done = processes([*command, "--dry-run"])
        _check(done)
        _add(table, "one empty rule", "planning", base, base)
        one, done = processes(command)
        _check(done)
        (folder / "Snakefile").write_text(EMPTY.format(n=1 + n_jobs))
        more, done = processes(command)
        _check(done)
        _add(table, "one empty rule", "a job", (more - one) / n_jobs, base)
    return base


def planning(table: Table, tier: str, paper: str, base: float) -> None:
    """Time a dry run of a paper where nothing is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
        config = folder / "config.yaml"
        run |= {"tier": tier, "papers": [str(ROOT / "config" / "papers" / paper)]}
        config.write_text(yaml.safe_dump(run))
        spent, done = processes(
            [*_snakemake(ROOT / "Snakefile", folder), "--configfile", str(config),
             "--profile", str(ROOT / "profiles" / "default"), "--dry-run", "--quiet",
             "all"],
        )  # fmt: skip
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        table.leave_out(f"planning of {paper}, {tier} tier: {' '.join(last)[:120]}")
        return
    _add(table, paper, f"planning, {tier} tier", spent, base)


def nothing_to_do(table: Table, tier: str, base: float) -> None:
    """Time a run of what is finished, if there is such a run in results/."""
    if not (ROOT / "results" / tier).is_dir():
        table.leave_out(f"nothing to do, {tier} tier: there is no results/{tier}")
        return
    spent, done = processes(
        [*_snakemake(ROOT / "Snakefile", ROOT), "--config", f"tier={tier}",
         "--profile", str(ROOT / "profiles" / "default"), "--dry-run"],
    )  # fmt: skip
    if "Nothing to be done" not in done.stdout + done.stderr:
        table.leave_out(f"nothing to do, {tier} tier: results/{tier} is not finished")
        return
    _add(table, "all papers", f"nothing to do, {tier} tier", spent, base)


def processes(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Return the processor time of a command and of its children, and what it said."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = os.times()
    spent = after.children_user - before.children_user
    return spent + after.children_system - before.children_system, done


def _snakemake(snakefile: Path, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "snakemake", "--cores", "1",
        "--snakefile", str(snakefile), "--directory", str(folder),
    ]  # fmt: skip


def _check(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise RuntimeError(f"Snakemake failed: {done.stderr}")


def _add(table: Table, size: str, baseline: str, seconds: float, base: float) -> None:
    table.add(
        series="Snakemake", axis="paper", size=size, baseline=baseline, seconds=seconds,
        ratio=seconds / base, repeats=1,
    )  # fmt: skip
