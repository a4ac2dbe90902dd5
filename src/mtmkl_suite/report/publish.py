"""Published record in ``figures/``: copied from a run or judged anew."""

import filecmp
import math
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl_suite.config.load import read_measured
from mtmkl_suite.config.models import Paper, Run, StepTable
from mtmkl_suite.files import read_json, write_json, write_table
from mtmkl_suite.judge.comparison import joined
from mtmkl_suite.judge.sample import read_scores, seconds_of_cells
from mtmkl_suite.report.artefacts import (
    drawn,
    printed,
    write_figure_files,
    write_table_files,
)
from mtmkl_suite.report.context import Context, recorded_context
from mtmkl_suite.report.pages.gallery import write_galleries
from mtmkl_suite.report.quoted import write_quoted_numbers
from mtmkl_suite.report.record import (
    VERDICT_COLUMNS,
    claims_tables,
    statistics_table,
    write_claims,
)
from mtmkl_suite.run.folders import (
    DERIVED_DIGITS,
    PublishedFolder,
    RunFolder,
    published_results,
)
from mtmkl_suite.run.provenance import check_settings, of_the_code


def publish(
    configs: Sequence[Paper], run: RunFolder, figures: Path, *, tier: str
) -> None:
    """Copy artefacts and record of each paper to ``figures/<id>``.

    What a repeat of each method took is added to ``seconds.csv`` in the paper's
    configuration, where the plan of jobs finds it. The memory that jobs took replaces
    what ``memory.csv`` there says of them.
    """
    if tier != "paper":
        raise ValueError(
            f"only the paper tier is published, not {tier!r}: add --config tier=paper"
        )
    copies = {
        source: target
        for config in configs
        for source, target in _published_files(config, run, figures)
    }
    for source in copies:
        if not source.is_file():
            raise FileNotFoundError(f"{source} has not been made")
    for source, target in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for config in configs:
        folder = run.paper(config.paper.id)
        memory = largest_memory(folder.benchmarks())
        _add_memory(config.published.with_name("memory.csv"), memory)
        if config.readings is None:
            seconds = config.published.with_name("seconds.csv")
            _add_seconds(seconds, read_scores(folder.scores))
    write_galleries(configs, figures)
    write_quoted_numbers(figures.parent)


def _published_files(
    config: Paper, run: RunFolder, figures: Path
) -> Iterator[tuple[Path, Path]]:
    """Yield files to copy, and where to.

    Of readings these are the artefacts, and under other names what they follow from:
    the record is that of the main protocol.
    """
    folder, theirs = run.paper(config.paper.id), published_results(config, figures)
    for path, target in zip(folder.record(), theirs.record(), strict=True):
        if config.readings is None or target.name != path.name:
            yield path, target
    for path in folder.artefact_files(config.artefacts):
        yield path, theirs.path / path.name


def seconds_per_repeat(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the seconds that a repeat of each method took on each data set."""
    keys = ["experiment", "dataset", "method"]
    of_repeats = seconds_of_cells(scores).groupby([*keys, "repeat"], sort=False).sum()
    mean = of_repeats.groupby(keys, sort=False).mean()
    return mean.map(lambda seconds: float(f"{seconds:.3g}")).reset_index(name="seconds")


def _add_seconds(path: Path, scores: pd.DataFrame) -> None:
    """Add what was not measured before; the rest stays, and with it the plan."""
    keys = ["experiment", "dataset", "method"]
    tables = [seconds_per_repeat(scores)]
    if path.is_file():
        tables.insert(0, pd.read_csv(path))
    write_table(path, pd.concat(tables).drop_duplicates(keys))


def largest_memory(benchmarks: Mapping[str, list[dict[str, str]]]) -> dict[str, float]:
    """Return the megabytes that jobs took, the largest of each experiment."""
    largest: dict[str, float] = defaultdict(float)
    for name, rows in benchmarks.items():
        job = name.split("/")[0]
        for text in [row.get("max_rss") or "" for row in rows]:
            if text[:1].isdigit():  # "-" or "NA": the job ended before it was looked at
                largest[job] = max(largest[job], math.ceil(float(text)))
    return largest


def _add_memory(path: Path, measured: dict[str, float]) -> None:
    memory = read_measured(path, "job", "megabytes") | measured
    if memory:
        table = pd.DataFrame(sorted(memory.items()), columns=["job", "megabytes"])
        write_table(path, table.astype({"megabytes": int}))


class NotPublishedError(Exception):
    """Arrays or numbers of a step were asked for, which only a run of the paper has."""


def rejudge(
    configs: Sequence[Paper], figures: Path, *, settings: Run, cores: int = 1
) -> None:
    """Write what follows from the published scores of papers anew; no data are read.

    These are the tables, the figures that show nothing but scores, ``verdicts.csv``,
    ``claims.csv``, ``claim_settings.csv``, ``statistics.csv`` and the galleries. Scores
    and overlaps stay, and figures and claims on arrays of fits or on the numbers of a
    step. Readings have scores of their own, and tables and figures alone follow.
    If anything changed, ``provenance.json`` gets ``judged``: the code and the
    configuration of what was computed from the scores. All else in it is of them.
    """
    mains = [config for config in configs if config.readings is None]
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder)
        parts = [(_judge_artefacts, config) for config in configs]
        parts += [(_judge_record, config) for config in mains]
        # Another start would run the script of the job again.
        with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as pool:
            # The comparison is last of the papers, and takes longest.
            where = (figures, staged, settings)
            found = [pool.submit(f, config, *where) for f, config in parts[::-1]]
        for each in found:
            each.result()
        # Nothing is written before all has been judged.
        for config in mains:
            _note_changes(config, staged / config.paper.id, figures / config.paper.id)
        shutil.copytree(staged, figures, dirs_exist_ok=True)
    write_galleries(configs, figures)
    write_quoted_numbers(figures.parent)


def _note_changes(config: Paper, staged: Path, published: Path) -> None:
    """Say in the provenance what judged the record, if files of it have changed."""
    files = [path.name for path in staged.iterdir()]
    if filecmp.cmpfiles(staged, published, files, shallow=False)[0] != files:
        provenance = read_json(PublishedFolder(published).provenance)
        provenance |= {"judged": of_the_code(config)}
        write_json(PublishedFolder(staged).provenance, provenance)


def _judge_artefacts(config: Paper, figures: Path, staged: Path, settings: Run) -> None:
    """Write tables, figures of scores, and of main protocols the verdicts."""
    context = _published_context(config, figures, settings)
    made = PublishedFolder(staged / config.paper.id)
    verdicts = []
    for name, artefact in config.artefacts.items():
        if isinstance(artefact, StepTable):
            continue
        table, of_artefact = printed(context, name)
        verdicts.append(of_artefact)
        if table is not None:
            write_table_files(made, name, table, config.paper)
            continue
        # A figure of what is not published stays as it is.
        with suppress(NotPublishedError):
            write_figure_files(made, name, *drawn(name, _of_scores(context)))
    if config.readings is None:
        of_all = joined(verdicts, VERDICT_COLUMNS)
        write_table(made.verdicts, of_all, digits=DERIVED_DIGITS)


def _judge_record(config: Paper, figures: Path, staged: Path, settings: Run) -> None:
    """Write claims and statistics."""
    context = _published_context(config, figures, settings)
    made = PublishedFolder(staged / config.paper.id)
    claims = claims_tables(context, PublishedFolder(figures / config.paper.id))
    statistics = statistics_table(context, seed=settings.seed)
    write_claims(made, *claims)
    write_table(made.statistics, statistics, digits=DERIVED_DIGITS)


def _published_context(config: Paper, figures: Path, settings: Run) -> Context:
    provenance = read_json(published_results(config, figures).provenance)
    check_settings(provenance, tier=settings.tier, seed=settings.seed)
    return recorded_context(config, figures)


def _of_scores(context: Context) -> Context:
    """Return a context that refuses what is not published, and says nothing of gaps."""
    return replace(context, arrays=_NotPublished().__missing__, steps=_NotPublished())


class _NotPublished(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise NotPublishedError(key)
