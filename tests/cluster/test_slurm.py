"""The workflow through SLURM, on a cluster of this machine alone (loopback.sh)."""

import importlib.util
import subprocess
from pathlib import Path

import pytest
from tiny_workflow import ROOT, TinyWorkflow

MISSING = 77  # exit status of loopback.sh where packages or rights are missing
AS_HERE = [
    "--workflow-profile", str(ROOT / "profiles/slurm"),
    "--jobs", "4", "--latency-wait", "5",
    "--slurm-no-account", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "2",
    "--seconds-between-status-checks", "2",
]  # fmt: skip

# Runs the command, and cancels the first job with fits as soon as it runs.
CANCEL_ONE = """
"$@" & run=$!
while kill -0 $run 2>/dev/null; do
    job=$(squeue --noheader --states=RUNNING --format="%i %k" | grep fit | head -n 1)
    if [ -n "$job" ]; then sleep 3; scancel --verbose "${job%% *}"; break; fi
    sleep 0.2
done
wait $run
"""


def on_loopback(*command, **options):
    """Run a command on the cluster, and return what came of it."""
    return subprocess.run(
        [str(Path(__file__).with_name("loopback.sh")), *command],
        capture_output=True, text=True, check=False, **options,
    )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Skip where there is no SLURM to start."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("snakemake-executor-plugin-slurm is not installed: make cluster")
    done = on_loopback("true")
    if done.returncode == MISSING:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def local_scores(tmp_path_factory):
    workflow = TinyWorkflow(tmp_path_factory.mktemp("local"))
    done = workflow.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return workflow.scores()


def submitted(workflow, *before):
    done = on_loopback(*before, *workflow.command(*AS_HERE), env=workflow.environment())
    assert done.returncode == 0, done.stdout + done.stderr
    logs = sorted((workflow.folder / ".snakemake/log").glob("*.log"))
    return logs[-1].read_text()


def test_jobs_go_through_the_cluster_and_give_the_same_scores(local_scores, tmp_path):
    workflow = TinyWorkflow(tmp_path)
    log = submitted(workflow)
    assert "has been submitted with SLURM jobid" in log
    assert workflow.scores() == local_scores


def test_a_cancelled_job_is_submitted_again(local_scores, tmp_path):
    workflow = TinyWorkflow(tmp_path)
    log = submitted(workflow, "sh", "-c", CANCEL_ONE, "sh")
    assert "Trying to restart" in log
    assert workflow.scores() == local_scores
