"""Runs the jobs of the workflow in processes forked from one that has imported already.

A new interpreter takes longer to import NumPy, scikit-learn, Numba and pandas than most
jobs take to run. Snakemake finds executor plugins by the name of their package; the
profile chooses this one, and ``--executor local`` starts an interpreter for each job.
"""

import multiprocessing
import os
import runpy
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CalledProcessError
from types import ModuleType
from typing import Any

from snakemake.benchmark import BenchmarkRecord, benchmarked, write_benchmark_records
from snakemake.exceptions import WorkflowError
from snakemake.executors.local import Executor as LocalExecutor
from snakemake.executors.local import common_settings
from snakemake.iocontainers import Snakemake

from mtmkl_suite.arithmetic import pinned

__all__ = ["Executor", "common_settings"]

_IMPORTED = [
    __name__,
    "matplotlib.pyplot",
    "numba",
    "sklearn.model_selection",
    "mtmkl_suite.run.fits",
    "mtmkl_suite.report.artefacts",
    "mtmkl_suite.report.pages.report",
]


def start_importing() -> ForkServerContext:
    """Start the process from which jobs are forked, while the jobs are being planned.

    Its libraries compute as those of a job that has an interpreter of its own.
    """
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    before = dict(os.environ)
    os.environ.update(pinned() | before)
    try:
        forkserver.ensure_running()
    finally:
        _set_environment(before)
    return context


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


class Executor(LocalExecutor):
    """Snakemake's own executor, but for the way in which scripts are started."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._context = start_importing()

    def run_single_job(self, job: Any) -> "Future[None]":
        """Run a script in a forked process, anything else as usual."""
        if not job.rule.script or self.workflow.deployment_settings.deployment_method:
            return super().run_single_job(job)
        folder = job.rule.basedir.get_path_or_uri(secret_free=True)
        script = Path(folder, job.rule.script).resolve()
        rule, *given, log, benchmark, _ = self.job_args_and_prepare(job)[:10]
        given = Snakemake(*given, log, {}, rule.name, None, script.parent)
        process = self._context.Process(
            target=_run_script, args=(script, given, pinned() | os.environ)
        )
        with _without_main():
            process.start()
        return self.pool.submit(_wait_for, process, rule.name, benchmark)


def _wait_for(process: BaseProcess, name: str, benchmark: str | None) -> None:
    record = BenchmarkRecord(running_time=0.0)
    # A short job may end before a busy machine comes to measure it.
    with suppress(Exception), benchmarked(process.pid if benchmark else False, record):
        process.join()
    process.join()
    if process.exitcode:
        raise CalledProcessError(process.exitcode, name)
    if benchmark:
        try:
            write_benchmark_records([record], benchmark, False)
        except OSError as error:  # of which Snakemake would show a traceback
            raise WorkflowError(f"cannot write {benchmark}: {error}") from None


def _run_script(
    script: Path, snakemake: Snakemake, environment: Mapping[str, str]
) -> None:
    _set_environment(environment)
    sys.path.append(str(script.parent))
    runpy.run_path(str(script), {"snakemake": snakemake}, run_name="__main__")


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep the new process from importing the script that was started here.

    Snakemake's own would start another run, and so may one that calls ``run_paper``.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
