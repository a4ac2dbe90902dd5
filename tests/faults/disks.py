"""A full disk, and folders that cannot be written."""

import shutil
import subprocess
from contextlib import contextmanager

import numpy as np

from faults.runs import Runs
from faults.table import SkippedError, fault

SEED = 18
AMPLE = "size=256m"


@contextmanager
def disk(folder, options):
    """Mount a disk of memory at a folder, for root where that is allowed."""
    folder.mkdir(parents=True)
    mount("-t", "tmpfs", "-o", options, "tmpfs", folder)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def mount(*arguments):
    command = ["mount", *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise SkippedError("there is no mount command") from error
    if done.returncode:
        raise SkippedError(f"mounting is refused ({done.stderr.strip()})")


def full(way):
    def trials(count, scratch):
        whole = Runs(scratch / "whole", way)
        whole.finish()
        scores = whole.scores()
        need = sum(
            -(-path.stat().st_size // 4096) * 4
            for path in whole.folder.rglob("*")
            if path.is_file()
        )
        for trial in range(count):
            share = np.random.default_rng([SEED, trial]).uniform(0.05, 0.9)
            size = max(int(share * need), 8)
            folder = scratch / f"full{trial}"
            with disk(folder, f"size={size}k"):
                yield _full(Runs(folder, way), scores, f"{size} of {need} KiB")

    return trials


def _full(runs, scores, at):
    status, shown = runs.finish()
    if status == 0:
        return f"{at}: no error"
    if "No space left on device" not in shown or "Traceback" in shown:
        return f"{at}: {shown[-800:]}"
    if halves := runs.half_files():
        return f"{at}: half files {halves}"
    mount("-o", f"remount,{AMPLE}", runs.folder)
    status, shown = runs.finish()
    if status:
        return f"{at}: no recovery: {shown[-500:]}"
    return "" if runs.scores() == scores else f"{at}: other scores"


fault(
    "Full disk (mtmkl run)",
    "A run on a disk that holds 5 % to 90 % of what it writes: an error that says so, "
    "no half file, and the same scores once there is room",
    few=1,
    many=6,
)(full("command"))
fault(
    "Full disk (workflow)",
    "The same with Snakemake, whose own files are on that disk, too",
    few=0,
    many=6,
)(full("workflow"))


@fault(
    "Folders that cannot be written",
    "An empty folder, a finished run, the cache: refused with the name of the folder, "
    "nothing changed, and the run succeeds once it can write",
    few=1,
    many=3,
)
def read_only(count, scratch):
    """Try a folder that is empty, one with a finished run, and a cache."""
    for trial in range(count):
        folder = scratch / f"read-only{trial}"
        what = ("an empty folder", "a finished run", "the cache")[trial % 3]
        with disk(folder, AMPLE):
            runs, scores = Runs(folder), None
            if what != "an empty folder":
                runs.finish()
                scores = runs.scores()
            if what == "the cache":
                for path in runs.cache.rglob("*.npz"):
                    path.unlink()
                shutil.rmtree(runs.run_folder / "tiny")  # or there is nothing to do
                mount("--bind", runs.cache, runs.cache)
                mount("-o", "remount,bind,ro", runs.cache)
            else:
                mount("-o", "remount,ro", folder)
            yield _refused(runs, what)
            if what == "the cache":
                subprocess.run(["umount", str(runs.cache)], check=False)
            else:
                mount("-o", "remount,rw", folder)
            status, shown = runs.finish()
            if not status and scores not in (None, runs.scores()):
                status, shown = 1, "scores have changed"
            yield f"{what}, writable again: {shown[-500:]}" if status else ""


def _refused(runs, what):
    status, shown = runs.finish()
    if status == 0 or "Read-only file system" not in shown or "Traceback" in shown:
        return f"{what}: {shown[-800:]}"
    return ""
