"""SLURM on this machine alone, by loopback.sh, and Snakemake's options for it."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MISSING = 77  # exit status of loopback.sh where packages or rights are missing
AS_HERE = [
    "--workflow-profile", str(ROOT / "profiles/slurm"),
    "--jobs", "4", "--latency-wait", "5",
    "--slurm-no-account", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "2",
    "--seconds-between-status-checks", "2",
]  # fmt: skip


def on_loopback(*command, **options):
    """Run a command on the cluster, and return what came of it."""
    return subprocess.run(
        [str(HERE / "loopback.sh"), *command],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
