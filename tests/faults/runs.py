"""Runs of a small paper in a folder of its own, as a user would start them."""

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
from tiny_workflow import TINY, TinyWorkflow

from mtmkl_suite.files import DamagedFileError, read_json, read_table

PATIENCE = 1200
"""Seconds after which a run counts as one that never ends; machines may be busy."""


class Runs(TinyWorkflow):
    """The tiny paper in a folder, run by ``mtmkl run`` or Snakemake (workflow)."""

    def __init__(self, folder: Path, way: str = "command") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder)
        self.way, self.cache = way, folder / "results" / "cache"

    def command(self, *arguments, cores=2):
        if self.way == "workflow":
            return super().command(*arguments, cores=cores)
        return [
            sys.executable, "-m", "mtmkl_suite.cli.main", "run", "--paper", str(TINY),
            "--cores", str(cores), "--set", "seed=1",
        ]  # fmt: skip

    def finish(self, cores=2):
        """Run to the end; return (status, everything that was shown)."""
        process = self.start(cores=cores)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            kill(process)
            return -1, "it never ended"
        return process.returncode, out + err

    def products(self):
        """Return the digest of what has no times in it, by path."""
        folder = self.run_folder / "tiny"
        names = [
            "statistics.csv", "verdicts.csv", "claims.csv", "claim_settings.csv",
            "overlaps.csv",
        ]  # fmt: skip
        found = [folder / name for name in names]
        found += sorted(folder.glob("artefacts/*.csv"))
        found += sorted(folder.glob("splits/**/*.npz"))
        found += sorted(folder.glob("fits/*.npz"))
        return {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in found
        }

    def half_files(self):
        """Return the files below ``results`` that cannot be read as what they are."""
        return [
            str(path.relative_to(self.folder))
            for path in sorted(self.folder.glob("results/**/*"))
            if path.is_file() and not _is_whole(path)
        ]

    def unfinished(self):
        """Return the files that a process was writing when it was killed."""
        found = sorted(self.folder.glob("results/**/*.part"))
        return [str(path.relative_to(self.folder)) for path in found]

    def logs(self):
        """Return what is in the logs of all jobs."""
        return "".join(
            path.read_text() for path in self.run_folder.glob("logs/**/*.log")
        )


def kill(process):
    """Kill a process group, and wait for its end."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _is_whole(path):
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                for name in stored.files:
                    stored[name]
        elif path.suffix == ".gz":
            gzip.decompress(path.read_bytes())
        elif path.suffix == ".csv":
            read_table(path, keep_default_na=False)
        elif path.suffix == ".json":
            read_json(path)
        elif path.suffix == ".html":
            return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    except (OSError, EOFError, ValueError, DamagedFileError, json.JSONDecodeError):
        return False
    # What a killed run was writing is none: the next run deletes it.
    return True
