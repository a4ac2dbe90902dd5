"""Machines without a home, a user's name, a folder to write, or letters to print."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from faults.table import ROOT, fault

SEED = 21
NOBODY = 61234
"""A number of a user that no name belongs to."""

COMPARE = ("compare", "wide.csv", "--higher-is-better")
RUN = (
    "run", "--data", "own.csv", "--task", "task", "--target", "y", "--methods",
    "ridge", "--repeats", "2", "--set", "download=never",
)  # fmt: skip
NO_HOME = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": None, "MPLCONFIGDIR": None}
NAMELESS = dict.fromkeys(("HOME", "USER", "LOGNAME", "LNAME", "USERNAME"))
READ_ONLY = (
    "unshare", "--mount", "sh", "-c",
    'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"; exec "$@"', str(ROOT),
)  # fmt: skip

CASES = [
    ("latin-1", COMPARE, {"PYTHONIOENCODING": "latin-1"}, (), 0, "Page: file:"),
    ("no home", COMPARE, NO_HOME, (), 0, "in a temporary folder"),
    ("no such folder", (*RUN, "--results", "/proc/nowhere"), {}, (), 1, "Not a folder"),
    ("a file", (*RUN, "--results", "own.csv"), {}, (), 1, "take another folder"),
    ("no home", RUN, NO_HOME, (), 0, "Report: file:"),
    ("no name", RUN, NO_HOME | NAMELESS, (), 0, "Report: file:"),
    ("read-only", RUN, NO_HOME, READ_ONLY, 0, "Report: file:"),
    ("ASCII", RUN, {"PYTHONIOENCODING": "ascii"}, (), 0, "Report: file:"),
]  # fmt: skip
"""Machines that lack something: command, variables, runner, status and message."""


@fault(
    "Machines that lack something",
    "No home, no name of the user, a read-only installation, a terminal without the "
    "letters, an impossible folder of results: it works, or says so in a line",
    few=2,
    many=len(CASES),
)
def lacking(count, scratch):
    """Compare scores and run data where something is lacking."""
    rng = np.random.default_rng(SEED)
    for trial in range(count):
        what, words, variables, by, status, said = CASES[trial % len(CASES)]
        folder = scratch / f"lacking{trial}"
        folder.mkdir()
        wide = pd.DataFrame(rng.random((6, 3)).round(3), columns=["A", "B–C", "D ≤ E"])
        wide.insert(0, "dataset", ["iris", "wine", "heart", "glass", "yeast", "vowel"])
        wide.to_csv(folder / "wide.csv", index=False)
        own = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x1", "x2", "y"])
        own.assign(task=["a", "b", "c"] * 20).to_csv(folder / "own.csv", index=False)
        given = os.environ | {"PYTHONPATH": str(ROOT / "src")} | variables
        done = subprocess.run(
            [*by, sys.executable, "-m", "mtmkl_suite.cli.main", *words],
            cwd=folder,
            env={name: value for name, value in given.items() if value is not None},
            capture_output=True,
            check=False,
            **(_nobody(folder) if what == "no name" else {}),
        )
        shown = (done.stdout + done.stderr).decode("latin-1")
        if by and "unshare failed" in shown:
            yield ""  # not root
        elif done.returncode != status or "Traceback" in shown:
            yield f"{what}: {shown[-800:]}"
        elif said not in shown or (status and any(folder.glob("results*"))):
            yield f"{what}: not said or half-written: {shown[-800:]}"
        else:
            yield ""


def _nobody(folder: Path) -> dict[str, object]:
    """Return a nameless user for the process, where root may give it one."""
    places = (Path(sys.executable).resolve(), ROOT / "src", folder)
    above = {path for place in places for path in place.parents}
    if os.geteuid() or not all(path.stat().st_mode & 0o001 for path in above):
        return {}
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}
