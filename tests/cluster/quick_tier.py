"""The whole quick tier, on this machine and through SLURM: are the results the same?

    make cluster-quick

Writes figures/cluster/quick_tier.csv: digests of each paper's scores (but for seconds),
of the arrays that fits keep, of splits and of statistics, from both runs. Exit status 1
if any two differ, 77 where there is no SLURM to start.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from slurm_here import AS_HERE, MISSING, ROOT, on_loopback

OUT = ROOT / "figures/cluster/quick_tier.csv"
TIME_COLUMNS = ["fit_seconds"]


def command(folder: Path, *options: str) -> list[str]:
    return [
        sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"),
        "--directory", str(folder), "--configfile", str(ROOT / "config/config.yaml"),
        *options,
    ]  # fmt: skip


def run(name: str, folder: Path) -> float:
    """Run the quick tier in a folder, and return the seconds it took."""
    folder.mkdir()
    begin = time.monotonic()
    if name == "SLURM":
        done = on_loopback(*command(folder, *AS_HERE))
    else:
        here = ["--profile", str(ROOT / "profiles/default"), "--cores", "all"]
        done = subprocess.run(
            command(folder, *here), capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
        sys.exit(done.returncode if done.returncode == MISSING else 1)
    return time.monotonic() - begin


def submitted(folder: Path) -> int:
    """Return how many jobs of SLURM a run submitted."""
    log = "".join(path.read_text() for path in (folder / ".snakemake/log").glob("*"))
    return len(set(re.findall(r"submitted with SLURM jobid (\d+)", log)))


def table_digest(path: Path) -> str:
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    table = table.drop(columns=TIME_COLUMNS, errors="ignore")
    if "metric" in table:
        table = table[~table["metric"].isin(TIME_COLUMNS)]
    return digest([table.to_csv(index=False).encode()])


def arrays_digest(folder: Path) -> str:
    """Return the digest of all arrays below a folder, whatever the zip files say."""
    parts = []
    for path in sorted(folder.rglob("*.npz")):
        parts.append(str(path.relative_to(folder)).encode())
        with np.load(path) as arrays:
            for key in sorted(arrays):
                parts += [key.encode(), np.ascontiguousarray(arrays[key]).tobytes()]
    return digest(parts)


def digest(parts: list[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:16]


def digests(folder: Path) -> dict[tuple[str, str], str]:
    """Return the digest of each part of each paper's results."""
    found = {}
    for scores in sorted((folder / "results/quick").glob("*/scores.csv.gz")):
        paper = scores.parent
        found[paper.name, "scores"] = table_digest(scores)
        found[paper.name, "statistics"] = table_digest(paper / "statistics.csv")
        found[paper.name, "splits"] = arrays_digest(paper / "splits")
        found[paper.name, "arrays"] = arrays_digest(paper / "fits")
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folders = {each: Path(name) / each for each in ("SLURM", "local")}
        seconds = {each: run(each, folder) for each, folder in folders.items()}
        here, there = digests(folders["local"]), digests(folders["SLURM"])
        n_jobs = submitted(folders["SLURM"])
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+changes"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    rows = [
        {
            "paper": paper, "part": part, "local": here.get((paper, part), ""),
            "slurm": there.get((paper, part), ""), "commit": commit,
            "date": datetime.now(UTC).date().isoformat(),
        }
        for paper, part in sorted(here.keys() | there.keys())
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    is_equal = bool(rows) and bool((table["local"] == table["slurm"]).all())
    OUT.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(OUT, index=False)
    print(table.to_string(index=False))
    summary = {"equal": is_equal, "jobs of SLURM": n_jobs, "cores": os.cpu_count()}
    print(json.dumps(summary | {f"{k}, s": round(v) for k, v in seconds.items()}))
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
