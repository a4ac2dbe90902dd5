"""Runs that are killed at any time, and runs on one core or several."""

import shutil
import time

import numpy as np

from faults.runs import Runs, kill
from faults.table import fault

SEED = 16


def killed_and_resumed(way):
    def trials(count, scratch):
        whole = Runs(scratch / "whole", way)
        started = time.monotonic()
        status, shown = whole.finish()
        if status:
            yield f"the run that is not killed fails: {shown[-500:]}"
            return
        length, scores = time.monotonic() - started, whole.scores()
        for trial in range(count):
            share = np.random.default_rng([SEED, trial]).uniform()
            runs = Runs(scratch / f"killed{trial}", way)
            yield _killed(runs, 1.0 + share * max(length - 1.0, 1.0), scores)
            shutil.rmtree(runs.folder)

    return trials


def _killed(runs, seconds, scores):
    # A run that ends before it could be killed is killed earlier.
    while True:
        process = runs.start()
        time.sleep(seconds)
        was_running = process.poll() is None
        kill(process)
        if was_running:
            break
        shutil.rmtree(runs.folder / "results", ignore_errors=True)
        seconds *= 0.8
    at = f"killed after {seconds:.1f} s"
    # A kill seldom falls between making a file and giving it its name: this one does.
    for folder in (runs.run_folder, runs.cache / "00"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tmp00000000.part").write_bytes(b"half")
    if halves := runs.half_files():
        return f"{at}: half files {halves}"
    kept = {path: path.stat().st_mtime_ns for path in runs.cache.rglob("*.npz")}
    status, shown = runs.finish()
    if status:
        return f"{at}: cannot be resumed: {shown[-500:]}"
    if runs.scores() != scores:
        return f"{at}: other scores"
    if halves := runs.half_files():
        return f"{at} and resumed: half files {halves}"
    if unfinished := runs.unfinished():
        return f"{at} and resumed: left behind {unfinished}"
    if any(path.stat().st_mtime_ns != kept[path] for path in kept):
        return f"{at}: a finished cell was computed again"
    return ""


fault(
    "Killed and resumed (mtmkl run)",
    "The process group is killed (SIGKILL) between 1 s and the end and the command "
    "given again: the same scores, nothing half or unfinished is left, no finished "
    "cell computed again",
    few=1,
    many=24,
)(killed_and_resumed("command"))
fault(
    "Killed and resumed (workflow)",
    "The same with Snakemake and its jobs",
    few=0,
    many=6,
)(killed_and_resumed("workflow"))


@fault(
    "One, two and four cores",
    "Scores, splits, kept arrays, statistics and tables on 2 and 4 cores have the "
    "bytes of those on one",
    few=0,
    many=2,
)
def cores(count, scratch):
    """Compare runs on 1, 2 and 4 cores."""
    for trial in range(count):
        found = {}
        for n_cores in (1, 2, 4):
            runs = Runs(scratch / f"cores{trial}-{n_cores}")
            status, shown = runs.finish(n_cores)
            if status:
                yield f"{n_cores} cores: {shown[-500:]}"
                return
            found[n_cores] = {"scores": runs.scores(), **runs.products()}
        for n_cores in (2, 4):
            one, more = found[1], found[n_cores]
            names = [name for name in one if one[name] != more.get(name)]
            yield f"{n_cores} cores: other {names}" if names else ""
