"""``mtmkl run`` and its function: a configuration, and the workflow that runs it."""

import filecmp
import io
import os
import signal
import tempfile
import threading
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.config.models import Run
from mtmkl_suite.config.overlay import of_paper, of_run, settings_of
from mtmkl_suite.data.fetch.small import fetch_small
from mtmkl_suite.data.loaders.own import is_file
from mtmkl_suite.documents import config_dir, read_yaml
from mtmkl_suite.errors import ConfigError, ResultsInUseError
from mtmkl_suite.files import make_folder, write_text
from mtmkl_suite.run import pipeline
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.locks import hold_results, release_results
from mtmkl_suite.run.process import provide_folders
from mtmkl_suite.run.targets import Targets


@dataclass(frozen=True)
class Finished:
    """Results of a run, and what it could not make."""

    status: int
    """0; 1 if anything failed, 130 if it was interrupted."""
    report: Path
    missing: list[str]
    """A line for each data set that is missing, with the command that fetches it."""


def run_workflow(*, cores: int = 1, **settings: Any) -> Finished:
    """Run the workflow with other values of keys of ``config/config.yaml``.

    Called again, it resumes where it left off. Snakemake keeps what it knows of a run
    in ``.snakemake``, beside the folder of all results.
    """
    provide_folders()
    from snakemake_executor_plugin_mtmkl import start_importing

    start_importing()
    run, top = _configuration(**settings)
    files = Targets(run)
    folder = RunFolder(top.parent / files.results.path)
    written = folder.path / "config.yaml"
    _refuse_results_of_others(run, written)
    # Another run there, or a disk that cannot be written, is said here in one line.
    hold_results(folder)
    try:
        make_folder(top.parent / ".snakemake")
        tempfile.TemporaryFile(dir=top.parent / ".snakemake").close()
        if run.download == "small":
            variants = [v for paper in files.papers.values() for v in paper.variants]
            fetch_small({variant.name for variant in variants})
        text = yaml.safe_dump(run.model_dump(), sort_keys=False, allow_unicode=True)
        if not written.is_file() or written.read_text(encoding="utf-8") != text:
            write_text(written, text)
    finally:
        release_results()  # Snakemake holds it next
    status = _run_snakemake(written, top.parent, cores)
    missing: dict[str, str] = {}
    for name, paper in files.papers.items():
        missing |= pipeline.missing_data(paper, folder.paper(name))
    return Finished(status, folder.report, list(missing.values()))


def _configuration(**settings: Any) -> tuple[Run, Path]:
    """Return the run's configuration, good in any folder, and that of all results."""
    of_file = read_yaml(config_dir() / "config.yaml")
    texts = settings.get("settings", ())
    run = load_run_config({**of_file, **settings, **of_run(settings_of(texts))})
    top = Path(os.path.realpath(run.results))  # resolve() fails at circular links
    found: dict[str, Any] = {
        "results": top.name,
        "settings": [text for text in texts if of_paper(settings_of([text]))],
        "papers": [
            str(Path(paper).resolve()) if Path(paper).is_dir() else paper
            for paper in run.papers
        ],
    }
    if run.data and is_file(run.data.source):
        source = {"source": str(Path(run.data.source).resolve())}
        found["data"] = run.data.model_copy(update=source)
    if run.mirror is not None:
        found["mirror"] = str(Path(run.mirror).resolve())
    return run.model_copy(update=found), top


def _refuse_results_of_others(run: Run, written: Path) -> None:
    """Refuse to replace the results of another file of the same name."""
    if not (run.data and is_file(run.data.source) and written.is_file()):
        return
    with suppress(ConfigError, OSError, AttributeError, TypeError):  # damaged
        before = read_yaml(written)["data"]["source"]
        if is_file(before) and not filecmp.cmp(before, run.data.source, shallow=False):
            raise ResultsInUseError(
                f"{written.parent} has the results of {before}: rename the file, or "
                "give this one a folder of its own by --results"
            )


def _run_snakemake(configuration: Path, folder: Path, cores: int) -> int:
    from snakemake.cli import args_to_api, parse_args

    from snakemake_logger_plugin_mtmkl import was_stopped

    here = config_dir().parent  # in a wheel or in a checkout
    words = [
        "--snakefile", here / "Snakefile", "--configfile", configuration,
        "--directory", folder, "--cores", cores,
        "--profile", here / "profiles/default", "--workflow-profile", "none",
    ]  # fmt: skip
    # That a profile was found is no news here.
    with redirect_stderr(io.StringIO()):
        parser, arguments = parse_args(list(map(str, words)))
    of_caller = signal.getsignal(signal.SIGTERM)
    try:
        is_done = args_to_api(arguments, parser)
    except SystemExit as refusal:
        raise ResultsInUseError(str(refusal)) from None
    finally:
        release_results()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, of_caller)  # Snakemake leaves its own
    return 130 if was_stopped() else int(not is_done)
