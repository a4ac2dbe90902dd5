"""The data and the fits of a run, in processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl_suite.run import fits, pipeline
from mtmkl_suite.run.fit_warnings import FitWarning, counted, warnings_to
from mtmkl_suite.run.grouping import data_groups, fit_groups
from mtmkl_suite.run.layout import PaperFolder
from mtmkl_suite.run.plan import FitJob, fit_jobs

if TYPE_CHECKING:
    import pandas as pd

_Fitted = tuple[fits.Fits, list[FitWarning]]


def prepare(
    config: Mapping[str, Any], run: Mapping[str, Any], folder: PaperFolder
) -> None:
    """Write what is known of the data of a paper, and their splits."""
    datasets = [each for group in data_groups(config) for each in group]
    pipeline.prepare_data(
        pipeline.data_needs(config, datasets),
        folder,
        seed=run["seed"],
        download=run["download"],
        on_missing=run["on_missing_data"],
    )


def fit_all(
    config: Mapping[str, Any],
    run: Mapping[str, Any],
    folder: PaperFolder,
    cores: int,
    cells: Path,
) -> list[str]:
    """Run all fits, each in any process, and write them by the groups of the plan."""
    from mtmkl_suite.run.progress import ProgressLine

    jobs = list(fit_jobs(config))
    fits.warm_compiled_code(fits.classes_of(config, jobs))
    fit = partial(_fit_one, config, run, folder, cells)
    done: dict[str, fits.Fits] = {}
    warned: list[tuple[str, FitWarning]] = []
    later = [job for job in jobs if fits.needs_first_chunk(config, job)]
    first = [job for job in jobs if job not in later]
    with ProgressLine(len(jobs), "fits") as line:
        for batch in (first, later):
            calls = [(job, fits.first_chunk(config, job, done)) for job in batch]
            for result, found in _results(fit, calls, cores):
                done[result.plan.stem] = result
                label = config["methods"][result.plan.method]["label"]
                warned += [(label, each) for each in found]
                line.update(len(done))
    for group in fit_groups(config):
        fits.write_fits(group, [done[job.stem] for job in group.jobs], folder)
    return counted(warned)


def _results(
    fit: Callable[..., _Fitted], calls: Sequence[tuple[Any, ...]], cores: int
) -> Iterator[_Fitted]:
    """Yield what calls return, in the order in which they end."""
    if cores == 1:
        yield from (fit(*arguments) for arguments in calls)
        return
    with ProcessPoolExecutor(cores, initializer=_end_with_parent) as pool:
        running = [pool.submit(fit, *arguments) for arguments in calls]
        try:
            for finished in as_completed(running):
                yield finished.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """Let a worker process end at Ctrl-C, and when the process that feeds it ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _fit_one(
    config: Mapping[str, Any],
    run: Mapping[str, Any],
    folder: PaperFolder,
    cells: Path,
    job: FitJob,
    chosen: "pd.DataFrame | None",
) -> _Fitted:
    protocol = config["experiments"][job.experiment]["protocol"]
    log = folder.log(job.stem)
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("w", encoding="utf-8", buffering=1) as lines,
        warnings_to(lines) as warned,
    ):
        result = fits.run_fit(
            config,
            job,
            seed=run["seed"],
            splits=folder.splits(protocol, job.dataset),
            cache=cells,
            chosen=chosen,
            progress=lambda line: print(line, file=lines),
        )
    return result, warned
