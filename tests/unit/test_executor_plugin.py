"""How the jobs of the workflow are started."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from snakemake_executor_plugin_mtmkl import (
    _run_script,
    _wait_for,
    _without_main,
    start_importing,
)

TINY = Path(__file__).parents[1] / "workflow" / "papers" / "tiny"

JOB = """
import json, os, sys
modules = [name for name in ("numba", "pandas") if name in sys.modules]
threads = os.environ["OMP_NUM_THREADS"], os.environ["NUMBA_NUM_THREADS"]
said = [modules, threads, os.environ.get("SAID_LATER"), snakemake.rule]
open(snakemake.output[0], "w").write(json.dumps(said))
sys.exit(snakemake.params["status"])
"""

UNGUARDED = """
from mtmkl_suite.run.workflow import run_workflow
print("started")
done = run_workflow(papers=[{paper!r}], experiments=["drawn"])
print("status", done.status)
"""


@pytest.mark.parametrize("status", [0, 3])
def test_a_job_is_forked_from_a_process_that_has_imported(
    tmp_path, monkeypatch, status
):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    context = start_importing()
    assert os.environ["OMP_NUM_THREADS"] == "4"
    monkeypatch.setenv("SAID_LATER", "yes")
    script, output = tmp_path / "job.py", tmp_path / "out.json"
    script.write_text(JOB)
    given = SimpleNamespace(rule="fit", output=[str(output)], params={"status": status})
    process = context.Process(
        target=_run_script, args=(script, given, os.environ | {"OMP_NUM_THREADS": "1"})
    )
    with _without_main():
        process.start()
    process.join()
    assert process.exitcode == status
    modules, threads, later, rule = json.loads(output.read_text())
    assert modules == ["numba", "pandas"]
    assert (threads[0], later, rule) == ("1", "yes", "fit")
    # It has ended before anybody measures it.
    seconds = tmp_path / "seconds.tsv"
    with pytest.raises(subprocess.CalledProcessError) if status else nullcontext():
        _wait_for(process, "fit", str(seconds))
    assert seconds.is_file() == (status == 0)


@pytest.mark.nightly
def test_a_script_that_starts_a_run_is_not_started_by_its_jobs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.format(paper=str(TINY)))
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TINY.parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1], lines.count("started")) == ("started", "status 0", 1)
